// SPDX-License-Identifier: Apache-2.0
//! An HTTP/1.1 client for GET and HEAD. It opens one connection per request, limits its request
//! rate, and contacts only hosts that the user named.

use super::tls::{TlsClient, TlsObservation, is_timeout};
use crate::date::now;
use lab_load::IpFamily;
use lab_load::response::{MAX_HEAD, ResponseReader};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};
use url::Url;

/// The timeout of a connection attempt.
const CONNECT: Duration = Duration::from_secs(5);
/// The timeout of an exchange (a request and its response).
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of body bytes that are read.
pub const MAX_BODY: usize = 4 << 20;
/// The duration above which an exchange is slow.
const SLOW_EXCHANGE: Duration = Duration::from_secs(1);
/// The maximum total excess time of slow exchanges. Beyond this time, the client sends no more
/// requests.
const SLOW: Duration = Duration::from_secs(30);

/// The methods that an audit uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET, with the body.
    Get,
    /// HEAD, without the body.
    Head,
}

/// Sends requests to servers.
pub struct Client {
    hosts: Vec<String>,
    pause: Duration,
    last_request: Option<Instant>,
    /// The total time by which exchanges exceeded [`SLOW_EXCHANGE`].
    excess: Duration,
    tls: TlsClient,
    /// The address that accepted the last connection.
    reachable: Option<IpAddr>,
    /// The number of requests made.
    pub requests: usize,
}

/// The response to a request.
#[derive(Clone, Debug, Default)]
pub struct PageResponse {
    /// The status code.
    pub status: u16,
    /// The HTTP version, such as `1.1`. Empty if unknown.
    pub version: String,
    /// The fields in order, with names in lowercase.
    pub fields: Vec<(String, String)>,
    /// The size of the head in bytes.
    pub head_bytes: usize,
    /// The body as received, up to the size limit.
    pub body: Vec<u8>,
    /// True if the response was recorded by a browser, which already decoded the body.
    pub is_decoded: bool,
    /// True if the file in which a browser recorded the response contains no header fields.
    /// `fields` then contains only the fields whose values are elsewhere in the file.
    pub lacks_fields: bool,
    /// The time at which the response was received, in seconds since 1970, or `None` if unknown.
    pub received_s: Option<f64>,
    /// True if a header field continues over multiple lines (obs-fold).
    pub is_folded: bool,
    /// True if the body was longer than the limit or did not end in time.
    pub is_truncated: bool,
    /// The reason the body is incomplete, although it is shorter than the limit.
    pub incomplete: Option<String>,
    /// True if the file in which a browser recorded the response contains no body, or only a part of it.
    pub lacks_body: bool,
    /// The TLS observations.
    pub tls: Option<TlsObservation>,
    /// The address family of the connection, or `None` if unknown.
    pub family: Option<IpFamily>,
    /// For a response that begins like HTTP/1.1, the reason it is invalid, or `None` if it is
    /// valid. An invalid response has no fields.
    pub malformed: Option<String>,
}

/// The reason no response could be read.
enum ReadFailure {
    /// The response begins like HTTP/1.1 but is invalid.
    Malformed(String),
    /// There is no response.
    None(String),
}

impl PageResponse {
    /// Returns the target of a redirect, resolved relative to the requested URL.
    ///
    /// A response is a redirect if it has a redirect status and a Location with http or https.
    pub fn redirect_target(&self, url: &Url) -> Option<Url> {
        let to = self.field("location").and_then(|to| url.join(to).ok());
        let to = to.filter(|to| matches!(to.scheme(), "http" | "https"));
        to.filter(|_| matches!(self.status, 301 | 302 | 303 | 307 | 308))
    }

    /// Returns the value of a header field, or the first value if the field occurs multiple times.
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(n, _)| n == name);
        field.map(|(_, value)| value.as_str())
    }

    /// Returns the values of all header fields with the given name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Client {
    /// Creates a client for the given hosts, with at most `rate` requests per second.
    ///
    /// # Errors
    ///
    /// Returns an error if TLS cannot be set up.
    pub fn new(hosts: Vec<String>, rate: f64) -> Result<Client, String> {
        Ok(Client {
            hosts,
            pause: Duration::from_secs_f64(1.0 / rate.clamp(0.1, 1000.0)),
            last_request: None,
            excess: Duration::ZERO,
            tls: TlsClient::new()?,
            reachable: None,
            requests: 0,
        })
    }

    /// Returns true if the client may send requests to a URL, because the user named its host.
    pub fn may_ask(&self, url: &Url) -> bool {
        let named = |host: &str| self.hosts.iter().any(|h| h.eq_ignore_ascii_case(host));
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(named)
    }

    /// Returns true if the client sends no more requests because the responses were too slow.
    pub fn is_too_slow(&self) -> bool {
        self.excess >= SLOW
    }

    /// Sends one request. `fields` are additional header fields, each with its CRLF.
    ///
    /// # Errors
    ///
    /// Returns a message if there is no valid response.
    pub fn request(
        &mut self,
        method: Method,
        url: &Url,
        fields: &str,
    ) -> Result<PageResponse, String> {
        let mut response = self.request_any(method, url, fields)?;
        match response.malformed.take() {
            None => Ok(response),
            Some(reason) => Err(format!("the response is not HTTP/1.1: {reason}")),
        }
    }

    /// Sends one request like [`Client::request`], but also returns responses that are not valid
    /// HTTP/1.1.
    ///
    /// # Errors
    ///
    /// Returns a message if there is no response.
    pub fn request_any(
        &mut self,
        method: Method,
        url: &Url,
        fields: &str,
    ) -> Result<PageResponse, String> {
        if !self.may_ask(url) {
            return Err("the audit sends requests only to the host of its URL".into());
        }
        if self.is_too_slow() {
            return Err("not requested, because responses were too slow".into());
        }
        if let Some(last) = self.last_request {
            std::thread::sleep(self.pause.saturating_sub(last.elapsed()));
        }
        let began = Instant::now();
        self.last_request = Some(began);
        self.requests += 1;
        let response = self.exchange(method, url, &request_text(method, url, fields));
        self.excess += began.elapsed().saturating_sub(SLOW_EXCHANGE);
        response
    }

    /// Returns the addresses of a URL's host.
    ///
    /// The address that accepted the last connection comes first, because other addresses may be
    /// unreachable.
    ///
    /// # Errors
    ///
    /// Returns an error if the lookup fails.
    pub fn addresses(&self, url: &Url) -> io::Result<Vec<SocketAddr>> {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap_or(80);
        let mut addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
        addresses.sort_by_key(|address| Some(address.ip()) != self.reachable);
        Ok(addresses)
    }

    fn connect(&mut self, url: &Url, deadline: Instant) -> io::Result<(IpFamily, TcpStream)> {
        let (address, stream) = connect(&self.addresses(url)?, deadline)?;
        stream.set_write_timeout(Some(CONNECT))?;
        // Each read times out early, so that the loop can check the deadline of the whole exchange.
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        self.reachable = Some(address.ip());
        Ok((IpFamily::from_address(&address), stream))
    }

    fn exchange(
        &mut self,
        method: Method,
        url: &Url,
        request: &str,
    ) -> Result<PageResponse, String> {
        let deadline = Instant::now() + TIMEOUT;
        let (family, tcp) = self
            .connect(url, deadline)
            .map_err(|e| format!("no connection: {e}"))?;
        let (response, tls) = if url.scheme() == "https" {
            let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
            let mut stream = self.tls.begin(host, tcp, deadline)?;
            let handshake = stream.handshake();
            handshake.map_err(|e| format!("the TLS handshake failed: {e}"))?;
            let response = exchange(&mut stream, request, method, deadline);
            (response, stream.observation())
        } else {
            (exchange(&mut &tcp, request, method, deadline), None)
        };
        let response = match response {
            Ok(response) => response,
            Err(ReadFailure::None(reason)) => return Err(reason),
            Err(ReadFailure::Malformed(reason)) => PageResponse {
                malformed: Some(reason),
                ..PageResponse::default()
            },
        };
        Ok(PageResponse {
            received_s: Some(now()),
            tls,
            family: Some(family),
            ..response
        })
    }
}

/// Connects to the first address that accepts a connection. After the deadline, no further address is tried.
pub fn connect(addresses: &[SocketAddr], deadline: Instant) -> io::Result<(SocketAddr, TcpStream)> {
    let mut reason = io::Error::other("the host has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, CONNECT) {
            Ok(stream) => return Ok((*address, stream)),
            Err(e) => reason = e,
        }
        if Instant::now() > deadline {
            break;
        }
    }
    Err(reason)
}

fn request_text(method: Method, url: &Url, fields: &str) -> String {
    let word = match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
    };
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    format!(
        "{word} {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: benchlab-audit/{}\r\nAccept: */*\r\n\
         Accept-Encoding: gzip, br, zstd\r\n{fields}Connection: close\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn exchange(
    stream: &mut (impl Read + Write),
    request: &str,
    method: Method,
    deadline: Instant,
) -> Result<PageResponse, ReadFailure> {
    let sent = stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.flush());
    sent.map_err(|e| ReadFailure::None(format!("the request could not be sent: {e}")))?;
    let (mut reader, mut response, mut head) =
        (ResponseReader::new(), PageResponse::default(), Vec::new());
    let mut buffer = vec![0; 16 * 1024];
    loop {
        if Instant::now() > deadline {
            return ended_early(head, response, "the response did not end within 10 s");
        }
        let n = match stream.read(&mut buffer) {
            Ok(n) => n,
            Err(e) if is_timeout(&e) => continue,
            // Some servers close a TLS connection without a close_notify alert.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => 0,
            Err(e) => return ended_early(head, response, &e.to_string()),
        };
        if n == 0 {
            return match reader.end() {
                Ok(Some(_)) => finish_response(head, response),
                Ok(None) => ended_early(
                    head,
                    response,
                    "the connection was closed before the end of the response",
                ),
                Err(malformed) => ended_early(head, response, malformed.0),
            };
        }
        if head.len() < 2 * MAX_HEAD && response.body.is_empty() {
            head.extend_from_slice(&buffer[..n]);
        }
        let body = &mut response.body;
        let read = reader.read(&buffer[..n], method == Method::Head, |piece| {
            let left = MAX_BODY.saturating_sub(body.len());
            body.extend_from_slice(&piece[..piece.len().min(left)]);
        });
        match read {
            Err(e) if head.starts_with(b"HTTP/1.") => {
                return Err(ReadFailure::Malformed(e.to_string()));
            }
            Err(e) => {
                return Err(ReadFailure::None(format!(
                    "the response is not HTTP/1.1: {e}"
                )));
            }
            Ok((_, Some(_))) => return finish_response(head, response),
            Ok(_) if response.body.len() >= MAX_BODY => {
                response.is_truncated = true;
                return finish_response(head, response);
            }
            Ok(_) => {}
        }
    }
}

/// Returns the response of an exchange that ended early, if its head is complete. The body may be
/// incomplete.
fn ended_early(
    head: Vec<u8>,
    mut response: PageResponse,
    reason: &str,
) -> Result<PageResponse, ReadFailure> {
    response.is_truncated = true;
    response.incomplete = Some(reason.to_owned());
    finish_response(head, response).map_err(|_| ReadFailure::None(reason.to_owned()))
}

fn finish_response(head: Vec<u8>, mut response: PageResponse) -> Result<PageResponse, ReadFailure> {
    let max_fields = head.iter().filter(|byte| **byte == b'\n').count();
    let mut begin = 0;
    loop {
        let mut fields = vec![httparse::EMPTY_HEADER; max_fields];
        let mut parsed = httparse::Response::new(&mut fields);
        let mut parser = httparse::ParserConfig::default();
        parser.allow_obsolete_multiline_headers_in_responses(true);
        let used = match parser.parse_response(&mut parsed, &head[begin..]) {
            Ok(httparse::Status::Complete(used)) => used,
            Ok(httparse::Status::Partial) => {
                return Err(ReadFailure::None(
                    "the head of the response is incomplete".into(),
                ));
            }
            Err(e) => return Err(ReadFailure::Malformed(e.to_string())),
        };
        response.status = parsed.code.unwrap_or(0);
        if response.status < 200 {
            begin += used;
            continue;
        }
        response.version = parsed.version.map_or(String::new(), |n| format!("1.{n}"));
        response.head_bytes = used;
        let is_folded = |field: &httparse::Header| field.value.contains(&b'\n');
        response.is_folded = parsed.headers.iter().any(is_folded);
        // A user agent replaces each fold with a space (RFC 9112, section 5.2).
        let field = |field: &httparse::Header| {
            let value = String::from_utf8_lossy(field.value);
            let lines: Vec<&str> = value.lines().map(str::trim).collect();
            (field.name.to_ascii_lowercase(), lines.join(" "))
        };
        response.fields = parsed.headers.iter().map(field).collect();
        return Ok(response);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The requests of a job. They are validated and rendered before the load starts. Their weights
//! determine how often each request is sent.

use crate::error::{JobError, quoted};
use crate::target::LoadUrl;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue};
use http::uri::{Authority, Scheme};
use http::{Method, Uri};
use lab_model::{PlannedHeader, PlannedRequest};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::fmt;
use std::sync::Arc;

/// The maximum length of the order in which requests are sent, before it repeats. The length is the
/// sum of all weights divided by their greatest common divisor.
const MAX_ORDER: u64 = 1_000_000;

/// The value of the `User-Agent` header.
const USER_AGENT: &str = concat!("benchlab/", env!("CARGO_PKG_VERSION"));

/// A request, including its secrets.
#[derive(Clone, Debug)]
pub struct Request {
    /// The URL to which the request is sent.
    pub link: LoadUrl,
    /// The method, such as `GET`.
    pub method: Method,
    /// The headers, in the order in which they are sent. They replace the generator's own
    /// `User-Agent`, `Accept`, `Host` and `Authorization`.
    pub headers: Vec<Header>,
    /// The body. Empty if the request has no body.
    pub body: Bytes,
    /// The relative frequency of the request, at least 1.
    pub weight: u32,
}

impl Request {
    /// Creates a GET request without headers or body.
    pub fn new(link: LoadUrl) -> Request {
        Request {
            link,
            method: Method::GET,
            headers: Vec::new(),
            body: Bytes::new(),
            weight: 1,
        }
    }

    /// Adds headers that are common to all requests. A header of the request itself replaces a
    /// common header of the same name.
    pub fn add_common(&mut self, headers: &[Header]) {
        let count = self.headers.len();
        for header in headers {
            let mut own_headers = self.headers[..count].iter();
            if own_headers.all(|own_header| own_header.name != header.name) {
                self.headers.push(header.clone());
            }
        }
    }

    fn header(&self, name: &HeaderName) -> Option<&Header> {
        self.headers.iter().find(|header| header.name == *name)
    }
}

/// Parses a method, such as `PATCH`.
///
/// # Errors
/// Returns an error if the text is not a token (RFC 9110, 9.1), or if it is `CONNECT`, which
/// requests a tunnel.
pub fn method(text: &str) -> Result<Method, JobError> {
    match Method::from_bytes(text.as_bytes()) {
        Ok(Method::CONNECT) => Err(JobError::new(
            "CONNECT requests a tunnel, which benchlab cannot load; use another method",
        )),
        Ok(method) => Ok(method),
        Err(_) => Err(JobError::new(format!(
            "{} is not a valid method; expected a word such as GET, POST or PURGE",
            quoted(text)
        ))),
    }
}

/// A header of a request. Its value may be a secret and is never shown.
#[derive(Clone)]
pub struct Header {
    /// The name in its original spelling. Some servers violate the standard and distinguish case.
    spelling: String,
    name: HeaderName,
    value: HeaderValue,
}

impl Header {
    /// Parses `Name: value`.
    ///
    /// # Errors
    /// Returns an error if the text has no colon or contains a character that is invalid in a
    /// header (RFC 9110, 5.5). Also returns an error for headers that determine where a request
    /// ends or whether its connection is reused, because only the generator may send them.
    pub fn parse(line: &str) -> Result<Header, JobError> {
        let (spelling, value) = line.split_once(':').ok_or_else(|| {
            JobError::new(format!(
                "the header {} has no colon: write `Name: value`",
                quoted(line)
            ))
        })?;
        let name = HeaderName::from_bytes(spelling.as_bytes()).map_err(|_| {
            JobError::new(format!("{} is not a valid header name", quoted(spelling)))
        })?;
        let value = HeaderValue::from_bytes(value.trim_matches([' ', '\t']).as_bytes());
        let value = value.map_err(|_| {
            let words = "has a control character in its value, such as the end of a line";
            JobError::new(format!("the header {} {words}", quoted(spelling)))
        })?;
        if let Some(instead) = reserved(&name, &value) {
            return Err(JobError::new(format!(
                "the header {} cannot be set: {instead}",
                quoted(spelling)
            )));
        }
        Ok(Header {
            spelling: spelling.to_owned(),
            name,
            value,
        })
    }

    /// Returns the header as a run file stores it.
    pub fn planned(&self) -> PlannedHeader {
        PlannedHeader::new(
            &self.spelling,
            &String::from_utf8_lossy(self.value.as_bytes()),
        )
    }

    /// Returns true if the header is named `name`, ignoring case.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.spelling.eq_ignore_ascii_case(name)
    }

    /// Returns the header as a line that [`Header::parse`] accepts.
    pub(crate) fn line(&self) -> String {
        let value = String::from_utf8_lossy(self.value.as_bytes());
        format!("{}: {value}", self.spelling)
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: …", self.spelling)
    }
}

fn reserved(name: &HeaderName, value: &HeaderValue) -> Option<&'static str> {
    match name.as_str() {
        "content-length" => Some("benchlab computes it from the body"),
        "transfer-encoding" | "trailer" => Some("bodies are sent unchanged, with Content-Length"),
        "connection" | "keep-alive" | "proxy-connection" => {
            Some("`--no-keep-alive` opens a connection for every request")
        }
        "upgrade" | "http2-settings" => Some("use `--http2` for HTTP/2"),
        "te" if value != "trailers" => Some("only `TE: trailers` is supported"),
        "host" if Authority::try_from(value.as_bytes()).is_err() => {
            Some("expected a host name, with or without a port")
        }
        _ => None,
    }
}

/// The requests of a job, in the order in which they are sent. Cheap to clone.
#[derive(Clone)]
pub struct Requests {
    shared: Arc<SharedRequests>,
}

struct SharedRequests {
    rendered: Vec<RenderedRequest>,
    order: Vec<u32>,
    planned: Vec<PlannedRequest>,
}

/// A request in the form in which it is sent.
pub struct RenderedRequest {
    /// The head and body for HTTP/1.1 (RFC 9112).
    pub bytes: Bytes,
    /// True for a HEAD request, whose response has no body regardless of its headers.
    pub head: bool,
    /// The head for HTTP/2 (RFC 9113).
    pub parts: http::Request<()>,
    /// The body for HTTP/2. It shares the memory of `bytes`.
    pub body: Bytes,
}

impl Requests {
    /// Validates and renders the requests, and determines their order.
    ///
    /// # Errors
    /// Returns an error if the list is empty, a weight is 0, or the weights require more than a million requests.
    pub fn new(list: &[Request], keep_alive: bool, seed: u64) -> Result<Requests, JobError> {
        if list.is_empty() {
            return Err(JobError::new("there is no request to send"));
        }
        let weights: Vec<u32> = list.iter().map(|request| request.weight).collect();
        let order = order(&weights, seed)?;
        let rendered = list.iter().map(|request| render(request, keep_alive));
        let shared = SharedRequests {
            rendered: rendered.collect::<Result<_, _>>()?,
            order,
            planned: planned(list),
        };
        Ok(Requests {
            shared: Arc::new(shared),
        })
    }

    /// Returns the request at a position of the order, counted from 0. The order repeats after its
    /// last request.
    pub fn get(&self, position: usize) -> &RenderedRequest {
        let SharedRequests {
            rendered, order, ..
        } = &*self.shared;
        &rendered[order[position % order.len()] as usize]
    }

    /// Returns the length of the order, at least 1.
    pub fn period(&self) -> usize {
        self.shared.order.len()
    }

    /// Returns the requests as a run file stores them, without secrets.
    pub fn planned(&self) -> &[PlannedRequest] {
        &self.shared.planned
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Requests")
            .field(&self.shared.planned)
            .finish()
    }
}

/// Returns the total length of the headers and bodies that the user specified, in bytes.
pub fn content_bytes(requests: &[Request]) -> u64 {
    let headers = requests.iter().flat_map(|request| &request.headers);
    let headers: usize = headers.map(|header| header.line().len()).sum();
    let bodies: usize = requests.iter().map(|request| request.body.len()).sum();
    (headers + bodies) as u64
}

/// Returns the requests as a run file stores them. Requests that differ only in headers and body are merged.
pub(crate) fn planned(list: &[Request]) -> Vec<PlannedRequest> {
    let mut planned_requests: Vec<PlannedRequest> = Vec::new();
    let mut indexes = std::collections::HashMap::new();
    for request in list {
        let (method, url) = (request.method.to_string(), request.link.to_string());
        let user = request.link.authorization.clone();
        let index = *indexes
            .entry((method.clone(), url.clone(), user))
            .or_insert(planned_requests.len());
        match planned_requests.get_mut(index) {
            Some(same) => same.weight = same.weight.saturating_add(request.weight),
            None => planned_requests.push(PlannedRequest {
                method,
                url,
                weight: request.weight,
                has_user: request.link.authorization.is_some(),
            }),
        }
    }
    planned_requests
}

/// Returns the order of requests, as indexes. A request of weight w occurs w times at equal
/// distances. Its first position is random and depends on the seed.
fn order(weights: &[u32], seed: u64) -> Result<Vec<u32>, JobError> {
    if weights.contains(&0) {
        return Err(JobError::new(
            "a weight is 0; expected whole numbers of 1 or more",
        ));
    }
    let divisor = weights.iter().copied().fold(0, gcd);
    let turns = || weights.iter().map(|weight| weight / divisor);
    let length: u64 = turns().map(u64::from).sum();
    if length > MAX_ORDER {
        return Err(JobError::new(format!(
            "the weights add up to {length}, but the maximum is {MAX_ORDER}; use smaller weights"
        )));
    }
    let mut random = SmallRng::seed_from_u64(seed);
    let mut order: Vec<(f64, u32)> = Vec::with_capacity(length as usize);
    for (number, turns) in (0..).zip(turns()) {
        let phase: f64 = random.random();
        order.extend((0..turns).map(|turn| ((f64::from(turn) + phase) / f64::from(turns), number)));
    }
    order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    Ok(order.into_iter().map(|(_, number)| number).collect())
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn render(request: &Request, keep_alive: bool) -> Result<RenderedRequest, JobError> {
    let fields = fields(request)?;
    let authority = request.link.origin.authority();
    let host_header = request.header(&HOST).map(|header| header.value.as_bytes());
    let host = host_header.unwrap_or(authority.as_bytes());
    let mut bytes = format!(
        "{} {} HTTP/1.1\r\nHost: ",
        request.method,
        request.link.path()
    )
    .into_bytes();
    bytes.extend_from_slice(host);
    bytes.extend_from_slice(b"\r\n");
    let close = (!keep_alive).then(|| ("Connection", HeaderValue::from_static("close")));
    let all = fields
        .iter()
        .map(|field| (field.spelling.as_str(), field.value.clone()));
    for (name, value) in all.chain(close) {
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    let head = bytes.len();
    bytes.extend_from_slice(&request.body);
    let bytes = Bytes::from(bytes);
    Ok(RenderedRequest {
        head: request.method == Method::HEAD,
        parts: parts(request, &fields, host),
        body: bytes.slice(head..),
        bytes,
    })
}

/// Returns the header fields that do not depend on the version of HTTP: all except `Host` and
/// `Connection`.
fn fields(request: &Request) -> Result<Vec<Header>, JobError> {
    let mut fields = Vec::new();
    for line in [&format!("User-Agent: {USER_AGENT}"), "Accept: */*"] {
        let default = Header::parse(line)?;
        if request.header(&default.name).is_none() {
            fields.push(default);
        }
    }
    let authorization = request.link.authorization.as_ref();
    if let (Some(value), None) = (authorization, request.header(&AUTHORIZATION)) {
        fields.push(Header::parse(&format!("Authorization: {value}"))?);
    }
    let other_headers = request.headers.iter().filter(|header| header.name != HOST);
    fields.extend(other_headers.cloned());
    // RFC 9110, 8.6: a request without a body sends a length of 0 if its method usually has a body.
    let with_body = [Method::POST, Method::PUT, Method::PATCH].contains(&request.method);
    if with_body || !request.body.is_empty() {
        fields.push(Header {
            spelling: "Content-Length".to_owned(),
            name: CONTENT_LENGTH,
            value: request.body.len().into(),
        });
    }
    Ok(fields)
}

fn parts(request: &Request, fields: &[Header], host: &[u8]) -> http::Request<()> {
    let mut uri = http::uri::Parts::default();
    let uses_tls = request.link.origin.uses_tls();
    uri.scheme = Some(if uses_tls {
        Scheme::HTTPS
    } else {
        Scheme::HTTP
    });
    uri.authority = Some(Authority::try_from(host).expect("links and headers were checked"));
    uri.path_and_query = Some(request.link.path.clone());
    let mut parts = http::Request::new(());
    *parts.method_mut() = request.method.clone();
    *parts.uri_mut() = Uri::from_parts(uri).expect("all parts are there");
    *parts.version_mut() = http::Version::HTTP_2;
    for field in fields {
        let (name, value) = (field.name.clone(), field.value.clone());
        parts.headers_mut().append(name, value);
    }
    parts
}

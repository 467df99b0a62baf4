// SPDX-License-Identifier: Apache-2.0
//! A simple HTTP client that is independent of the load generator.
//!
//! It sends requests as raw bytes, reads responses, and records a transcript.

use crate::host::interrupt;
use lab_load::Tls;
use lab_model::plural;
use rustls::{ClientConnection, StreamOwned};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The maximum time to wait for more bytes of a response. On a busy machine, a server may not run for
/// seconds.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum size of a head, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// The maximum size of a body, in bytes.
const MAX_BODY: usize = 16 << 20;

/// The maximum number of headers of a response.
const MAX_HEADERS: usize = 100;

/// The maximum number of bytes of a message that the transcript shows.
const SHOWN: usize = 200;
/// The maximum number of lines in the transcript.
const LINES: usize = 12;

/// A connection and its transcript.
pub struct ProofConnection {
    stream: ProofStream,
    received: Vec<u8>,
    /// The last lines. `> ` marks sent data and `< ` received data.
    transcript: VecDeque<String>,
}

/// A plain or TLS stream.
enum ProofStream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Read for ProofStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            ProofStream::Plain(stream) => stream.read(buffer),
            ProofStream::Tls(stream) => match stream.read(buffer) {
                // The connection ended without TLS's closing message.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                read => read,
            },
        }
    }
}

impl Write for ProofStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            ProofStream::Plain(stream) => stream.write(bytes),
            ProofStream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            ProofStream::Plain(stream) => stream.flush(),
            ProofStream::Tls(stream) => stream.flush(),
        }
    }
}

/// A server's response, with its body fully read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProofResponse {
    /// The status code, such as 200.
    pub status: u16,
    /// Headers with lowercase names.
    pub headers: Vec<(String, String)>,
    /// The body without chunk framing.
    pub body: Vec<u8>,
}

impl ProofResponse {
    /// Returns the value of a header. If there are multiple headers with this name, returns the first.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let header = headers.find(|(key, _)| key == name);
        header.map(|(_, value)| value.as_str())
    }

    fn has_word(&self, name: &str, word: &str) -> bool {
        let words = |value: &str| {
            value
                .split(',')
                .any(|w| w.trim().eq_ignore_ascii_case(word))
        };
        let mut headers = self.headers.iter();
        headers.any(|(key, value)| key == name && words(value))
    }

    /// Returns true if the server announces that it will close the connection.
    pub fn closes(&self) -> bool {
        self.has_word("connection", "close")
    }
}

impl ProofConnection {
    /// Connects to a server.
    pub fn open(address: SocketAddr, tls: Option<&Tls>) -> Result<ProofConnection, String> {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT);
        let open = || -> io::Result<ProofStream> {
            let stream = stream?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TIMEOUT))?;
            stream.set_write_timeout(Some(TIMEOUT))?;
            let Some(tls) = tls else {
                return Ok(ProofStream::Plain(stream));
            };
            let session = ClientConnection::new(tls.config.clone(), tls.name.clone());
            let session = session.map_err(io::Error::other)?;
            Ok(ProofStream::Tls(Box::new(StreamOwned::new(
                session, stream,
            ))))
        };
        Ok(ProofConnection {
            stream: open().map_err(|e| format!("cannot connect to {address}: {e}"))?,
            received: Vec::new(),
            transcript: VecDeque::new(),
        })
    }

    /// Returns the last lines of the exchange.
    pub fn transcript(self) -> Vec<String> {
        self.transcript.into()
    }

    /// Sends bytes as one piece.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.note("> ", bytes);
        let sent = self
            .stream
            .write_all(bytes)
            .and_then(|()| self.stream.flush());
        sent.map_err(|e| format!("cannot send a request: {e}"))
    }

    /// Sends bytes one by one, with a pause after each.
    pub fn send_split(&mut self, bytes: &[u8], pause: Duration) -> Result<(), String> {
        self.note("> (a byte at a time) ", bytes);
        for byte in bytes {
            let sent = self
                .stream
                .write_all(&[*byte])
                .and_then(|()| self.stream.flush());
            sent.map_err(|e| format!("cannot send a byte of a request: {e}"))?;
            std::thread::sleep(pause);
        }
        Ok(())
    }

    /// Reads the next response. `head` is true for a response to HEAD, which has no body regardless
    /// of its headers.
    pub fn read_response(&mut self, head: bool) -> Result<ProofResponse, String> {
        if interrupt::requested() {
            return Err("benchlab was stopped".into());
        }
        let parsed = self.read(head);
        match &parsed {
            Ok(parsed) => {
                let line = format!("< {} {:?}", parsed.status, parsed.headers);
                self.keep(line);
                self.note("< ", &parsed.body);
            }
            Err(_) => {
                let rest = std::mem::take(&mut self.received);
                self.note("< ", &rest);
            }
        }
        parsed
    }

    /// Returns true if the server now closes the connection without sending more data.
    pub fn ends(&mut self) -> bool {
        self.received.is_empty() && matches!(self.fill(), Ok(0))
    }

    fn read(&mut self, head: bool) -> Result<ProofResponse, String> {
        let mut parsed = self.head()?;
        if head || parsed.status == 204 || parsed.status == 304 {
            return Ok(parsed);
        }
        parsed.body = match (
            parsed.header("content-length"),
            parsed.has_word("transfer-encoding", "chunked"),
        ) {
            (Some(_), true) => {
                return Err("a response has both Content-Length and Transfer-Encoding".into());
            }
            (Some(length), false) => {
                let length = length.parse().ok().filter(|&n| n <= MAX_BODY);
                let length =
                    length.ok_or("a response's Content-Length is not a number or is too large")?;
                self.take(length)?
            }
            (None, true) => self.chunks()?,
            (None, false) => {
                return Err("a response has neither Content-Length nor chunked encoding".into());
            }
        };
        Ok(parsed)
    }

    fn head(&mut self) -> Result<ProofResponse, String> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            match response.parse(&self.received) {
                Ok(httparse::Status::Complete(length)) => {
                    let parsed = proof_response(&response);
                    self.received.drain(..length);
                    // 100 Continue and similar statuses precede the actual response (RFC 9110, 15.2).
                    match parsed.status {
                        100..=199 => continue,
                        _ => return Ok(parsed),
                    }
                }
                Ok(httparse::Status::Partial) if self.received.len() < MAX_HEAD => {
                    if self.fill()? == 0 {
                        return Err("the connection ended before a response was complete".into());
                    }
                }
                Ok(httparse::Status::Partial) => {
                    return Err("the head of a response is too long".into());
                }
                Err(e) => return Err(format!("a response is not HTTP/1.1: {e}")),
            }
        }
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, String> {
        while self.received.len() < length {
            if self.fill()? == 0 {
                return Err("the connection ended in the middle of a body".into());
            }
        }
        Ok(self.received.drain(..length).collect())
    }

    /// Reads a chunked body (RFC 9112, 7.1) and discards its trailers.
    fn chunks(&mut self) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let size = line.split(';').next().unwrap_or("").trim();
            let size = usize::from_str_radix(size, 16)
                .ok()
                .filter(|&n| n <= MAX_BODY);
            let size = size.ok_or_else(|| format!("`{line}` is not a chunk size"))?;
            if size == 0 {
                while !self.line()?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.take(size)?);
            if body.len() > MAX_BODY || !self.line()?.is_empty() {
                return Err(
                    "a chunk is longer than its stated size, or the body is too long".into(),
                );
            }
        }
    }

    fn line(&mut self) -> Result<String, String> {
        loop {
            if let Some(end) = self.received.windows(2).position(|w| w == b"\r\n") {
                let line = self.take(end + 2)?;
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            if self.received.len() > MAX_HEAD || self.fill()? == 0 {
                return Err("a line of a chunked body is incomplete or too long".into());
            }
        }
    }

    fn fill(&mut self) -> Result<usize, String> {
        let deadline = Instant::now() + TIMEOUT;
        let mut buffer = [0; 65_536];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(length) => {
                    self.received.extend(&buffer[..length]);
                    return Ok(length);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted && Instant::now() < deadline => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    return Err(format!("no response within {} s", TIMEOUT.as_secs()));
                }
                Err(e) => return Err(format!("cannot read a response: {e}")),
            }
        }
    }

    fn note(&mut self, mark: &str, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let shown = &bytes[..bytes.len().min(SHOWN)];
        let rest = match bytes.len() - shown.len() {
            0 => String::new(),
            rest => format!("… and {}", plural(rest as u64, "more byte")),
        };
        let text = String::from_utf8_lossy(shown).escape_debug().to_string();
        self.keep(format!("{mark}{text}{rest}"));
    }

    fn keep(&mut self, line: String) {
        if self.transcript.len() == LINES {
            self.transcript.pop_front();
        }
        self.transcript.push_back(line);
    }
}

fn proof_response(response: &httparse::Response) -> ProofResponse {
    let headers = response.headers.iter().map(|header| {
        let value = String::from_utf8_lossy(header.value);
        (header.name.to_ascii_lowercase(), value.trim().to_owned())
    });
    ProofResponse {
        status: response.code.unwrap_or(0),
        headers: headers.collect(),
        body: Vec::new(),
    }
}

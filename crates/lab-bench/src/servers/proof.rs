// SPDX-License-Identifier: Apache-2.0
//! Verifies the responses of a server before any measurement.
//!
//! Sends every request that the server must support: in one piece, byte by byte, and in groups.

use super::files::ServedFiles;
use super::proof_connection::{ProofConnection, ProofResponse};
use super::sockets;
use flate2::read::GzDecoder;
use lab_load::Tls;
use lab_model::{Example, Plan, RequiredBody, Serving};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

/// The pause after each byte of a request that is sent byte by byte.
const BETWEEN_BYTES: Duration = Duration::from_micros(200);

/// The maximum difference between the server's clock and benchlab's on the same machine.
///
/// `Date` has a resolution of one second, and servers update it about once a second, on a busy machine
/// less often.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(10);

/// The time within which `Date` must advance.
const DATE_ADVANCE: Duration = Duration::from_secs(10);

/// The maximum number of bytes compared in a decompressed body.
const MAX_PLAIN: u64 = 64 << 20;

/// The maximum time for which the kernel may still count closed connections.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The result of a successful verification.
#[derive(Debug, Default)]
pub struct Proven {
    /// The requests of the load, and the bodies of their responses.
    pub bodies: Vec<(Example, Vec<u8>)>,
    /// The time from connecting to the end of the first response, in ns.
    pub first_ns: u64,
    /// The number of correct responses.
    pub responses: u32,
}

impl Proven {
    /// Returns the body of the response to a request of the load. The body is empty if the request
    /// was not sent.
    pub fn body(&self, example: &Example) -> &[u8] {
        let mut bodies = self.bodies.iter();
        let response = bodies.find(|(request, _)| request == example);
        response.map_or(&[], |(_, body)| body)
    }

    /// Returns the first request to which the two servers respond differently, among the requests
    /// without a required response.
    pub fn first_difference<'a>(&'a self, other: &Proven) -> Option<&'a Example> {
        let mut bodies = self.bodies.iter();
        let differs = |(example, body): &&(Example, Vec<u8>)| {
            example.answer == RequiredBody::Any && plain(other.body(example)) != plain(body)
        };
        bodies.find(differs).map(|(example, _)| example)
    }
}

/// Decompresses a body if it is compressed, because servers may compress differently.
fn plain(body: &[u8]) -> Cow<'_, [u8]> {
    const GZIP: [u8; 2] = [0x1F, 0x8B];
    let mut text = Vec::new();
    let read = |text: &mut Vec<u8>| GzDecoder::new(body).take(MAX_PLAIN).read_to_end(text);
    if body.starts_with(&GZIP) && read(&mut text).is_ok() {
        text.into()
    } else {
        body.into()
    }
}

/// An explanation of why the verification failed, and the transcript of the last connection.
#[derive(Debug)]
pub struct FailedProof {
    /// A description of the problem.
    pub reason: String,
    /// The lines of the last connection.
    pub transcript: Vec<String>,
}

/// Verifies a server by sending every request in every form.
pub fn prove(
    address: SocketAddr,
    tls: Option<&Tls>,
    plan: &Plan,
    serving: &Serving,
    files: &ServedFiles,
) -> Result<Proven, Box<FailedProof>> {
    let mut prover = Prover {
        address,
        tls,
        loaded: plan.loaded_examples(),
        all_examples: plan.all_examples(),
        max_connections: plan.max_connections(),
        serving,
        files,
        proven: Proven::default(),
        transcript: Vec::new(),
    };
    match prover.prove_all() {
        Ok(()) => Ok(prover.proven),
        Err(reason) => Err(Box::new(FailedProof {
            reason,
            transcript: prover.transcript,
        })),
    }
}

struct Prover<'a> {
    address: SocketAddr,
    tls: Option<&'a Tls>,
    /// The requests of the load.
    loaded: Vec<Example>,
    all_examples: Vec<Example>,
    /// The maximum number of concurrent connections.
    max_connections: usize,
    serving: &'a Serving,
    files: &'a ServedFiles,
    proven: Proven,
    transcript: Vec<String>,
}

type Checked = Result<(), String>;

impl Prover<'_> {
    fn prove_all(&mut self) -> Checked {
        let began = Instant::now();
        let first_date = self.first()?;
        self.over_one_connection(Self::examples)?;
        self.over_one_connection(Self::heads)?;
        self.over_one_connection(Self::unsupported_requests)?;
        self.over_one_connection(Self::split)?;
        self.over_one_connection(Self::pipelined)?;
        self.over_one_connection(Self::closing)?;
        self.many_connections()?;
        self.advancing(began, first_date)
    }

    /// Sends the very first request and measures the time to its response.
    fn first(&mut self) -> Result<SystemTime, String> {
        let began = Instant::now();
        let example = self.loaded.first().ok_or("no case has a request")?.clone();
        let mut date = None;
        self.over_one_connection(|prover, connection| {
            let response = prover.exchange(connection, &example)?;
            prover.proven.first_ns = began.elapsed().as_nanos() as u64;
            date = Some(self::date(&response)?);
            Ok(())
        })?;
        Ok(date.expect("the date was read, or an error was returned"))
    }

    fn over_one_connection(
        &mut self,
        check: impl FnOnce(&mut Self, &mut ProofConnection) -> Checked,
    ) -> Checked {
        let mut connection = ProofConnection::open(self.address, self.tls)?;
        let checked = check(self, &mut connection);
        if checked.is_err() {
            self.transcript = connection.transcript();
        }
        checked
    }

    /// Sends the examples of all cases over one connection.
    fn examples(&mut self, connection: &mut ProofConnection) -> Checked {
        for example in self.all_examples.clone() {
            let response = self.exchange(connection, &example)?;
            if self.loaded.contains(&example) {
                self.proven.bodies.push((example, response.body));
            }
        }
        Ok(())
    }

    /// Checks that HEAD returns the headers of GET without a body, so that the next response is
    /// complete.
    fn heads(&mut self, connection: &mut ProofConnection) -> Checked {
        let gets = self.loaded.clone().into_iter();
        for example in gets.filter(|e| e.method == "GET" && e.headers.is_empty()) {
            let path = &example.path;
            connection.send(&rendered("HEAD", path, None, false))?;
            let head = connection.read_response(true)?;
            self.stays_open(&head, &format!("HEAD {path}"))?;
            self.reconnect_after_error(connection, &head)?;
            let get_response = self.exchange(connection, &example)?;
            if head.status != get_response.status {
                return Err(format!(
                    "HEAD {path}: status {}, but {} for GET",
                    head.status, get_response.status
                ));
            }
            for name in ["content-type", "content-length"] {
                let [head, get_response] =
                    [&head, &get_response].map(|response| response.header(name));
                if head != get_response && !(name == "content-length" && head.is_none()) {
                    let [head, get_response] = [head, get_response].map(|value| {
                        value.map_or("missing".to_owned(), |value| format!("`{value}`"))
                    });
                    return Err(format!(
                        "{name} is {head} in the response to HEAD {path}, but {get_response} in the response to GET"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Requests a missing path, and paths with methods that they do not support.
    fn unsupported_requests(&mut self, connection: &mut ProofConnection) -> Checked {
        let missing = &self.serving.missing;
        connection.send(&rendered("GET", missing, None, false))?;
        let response = connection.read_response(false)?;
        expect_status(&response, 404, &format!("GET {missing}"))?;
        self.reconnect_after_error(connection, &response)?;
        let loaded = self.loaded.clone();
        for example in loaded {
            let request = format!("DELETE {}", example.path);
            connection.send(&rendered("DELETE", &example.path, None, false))?;
            let response = connection.read_response(false)?;
            expect_status(&response, 405, &request)?;
            let allowed = response.header("allow").unwrap_or("");
            if !allowed
                .split(',')
                .any(|method| method.trim() == example.method)
            {
                return Err(format!(
                    "{request}: `Allow` is `{allowed}`, which lacks {} (RFC 9110, 15.5.6)",
                    example.method
                ));
            }
            self.reconnect_after_error(connection, &response)?;
        }
        Ok(())
    }

    /// Sends a request in small pieces, because networks may split requests anywhere.
    fn split(&mut self, connection: &mut ProofConnection) -> Checked {
        let loaded = self.loaded.clone();
        for example in loaded {
            connection.send_split(&render(&example, false), BETWEEN_BYTES)?;
            let response = connection.read_response(false)?;
            self.check_response(&example, &response, "sent a byte at a time")?;
        }
        Ok(())
    }

    /// Checks that the server responds in order to multiple requests that arrive together.
    fn pipelined(&mut self, connection: &mut ProofConnection) -> Checked {
        let loaded = self.loaded.clone();
        let twice = || loaded.iter().chain(&loaded);
        let requests: Vec<u8> = twice().flat_map(|example| render(example, false)).collect();
        connection.send(&requests)?;
        for example in twice() {
            let response = connection.read_response(false)?;
            self.check_response(example, &response, "pipelined")?;
        }
        Ok(())
    }

    /// Checks that the server closes the connection after the response if the client asks for this.
    fn closing(&mut self, connection: &mut ProofConnection) -> Checked {
        let example = self.loaded.first().expect("there is a case").clone();
        connection.send(&render(&example, true))?;
        let response = connection.read_response(false)?;
        self.check_content(&example, &response, "with Connection: close")?;
        if connection.ends() {
            Ok(())
        } else {
            Err("the connection stays open after `Connection: close`".into())
        }
    }

    /// Checks that many concurrent connections stay open, according to the kernel's count.
    fn many_connections(&mut self) -> Checked {
        let example = self.loaded.first().expect("there is a case").clone();
        let count = self.max_connections;
        lab_load::allow_files(count as u64).map_err(|e| e.to_string())?;
        let mut connections = Vec::new();
        for _ in 0..count {
            connections.push(ProofConnection::open(self.address, self.tls)?);
        }
        for _ in 0..2 {
            for i in 0..connections.len() {
                if let Err(reason) = self.exchange(&mut connections[i], &example) {
                    self.transcript = connections.swap_remove(i).transcript();
                    return Err(format!("one of {count} open connections: {reason}"));
                }
            }
        }
        // Connections of earlier checks may still be closing.
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        while let Some(established) =
            sockets::established(self.address).filter(|&established| established != count)
        {
            if Instant::now() > deadline {
                return Err(format!(
                    "{count} connections were opened and used twice, but the server has {established} open"
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Checks that `Date` advances within [`DATE_ADVANCE`].
    fn advancing(&mut self, began: Instant, first: SystemTime) -> Checked {
        let example = self.loaded.first().expect("there is a case").clone();
        self.over_one_connection(|prover, connection| {
            loop {
                let response = prover.exchange(connection, &example)?;
                if date(&response)? > first {
                    return Ok(());
                }
                if began.elapsed() > DATE_ADVANCE {
                    return Err("`Date` does not advance".into());
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }

    /// Sends a request and checks the response.
    ///
    /// The server must keep the connection open, unless the response is an error. In that case, the
    /// connection is reopened.
    fn exchange(
        &mut self,
        connection: &mut ProofConnection,
        example: &Example,
    ) -> Result<ProofResponse, String> {
        connection.send(&render(example, false))?;
        let response = connection.read_response(false)?;
        self.check_response(example, &response, "")?;
        self.reconnect_after_error(connection, &response)?;
        Ok(response)
    }

    /// Reopens the connection if the server closed it with an error response, which is allowed.
    fn reconnect_after_error(
        &mut self,
        connection: &mut ProofConnection,
        response: &ProofResponse,
    ) -> Checked {
        if response.status >= 400 && response.closes() {
            *connection = ProofConnection::open(self.address, self.tls)?;
        }
        Ok(())
    }

    fn check_response(
        &mut self,
        example: &Example,
        response: &ProofResponse,
        manner: &str,
    ) -> Checked {
        self.check_content(example, response, manner)?;
        self.stays_open(response, &request_line(example, manner))
    }

    fn stays_open(&mut self, response: &ProofResponse, request: &str) -> Checked {
        if response.closes() && response.status < 400 {
            Err(format!(
                "{request}: the server closes the connection without being asked to"
            ))
        } else {
            Ok(())
        }
    }

    /// Checks the status, headers and body.
    fn check_content(
        &mut self,
        example: &Example,
        response: &ProofResponse,
        manner: &str,
    ) -> Checked {
        let request = request_line(example, manner);
        expect_status(response, example.status, &request)?;
        let date = date(response).map_err(|reason| format!("{request}: {reason}"))?;
        let now = SystemTime::now();
        let difference = now
            .duration_since(date)
            .or_else(|_| date.duration_since(now));
        if difference.is_ok_and(|difference| difference > MAX_CLOCK_DIFFERENCE) {
            return Err(format!(
                "{request}: `Date` differs from this machine's time"
            ));
        }
        let expected = match example.answer {
            RequiredBody::Any => None,
            RequiredBody::Text(_) | RequiredBody::Json(_) => Some("application/json"),
            RequiredBody::File(_) => Some("application/octet-stream"),
        };
        let content_type = response.header("content-type").unwrap_or("");
        let content_type = content_type.split(';').next().unwrap_or("").trim();
        if expected.is_some_and(|expected| !content_type.eq_ignore_ascii_case(expected)) {
            let expected = expected.unwrap_or_default();
            return Err(format!(
                "{request}: Content-Type is `{content_type}` instead of `{expected}`"
            ));
        }
        self.check_body(example, response)
            .map_err(|reason| format!("{request}: {reason}"))?;
        self.proven.responses += 1;
        Ok(())
    }

    fn check_body(&self, example: &Example, response: &ProofResponse) -> Checked {
        let body = &response.body;
        match &example.answer {
            RequiredBody::Any => Ok(()),
            RequiredBody::Text(text) if body == text.as_bytes() => Ok(()),
            RequiredBody::Text(_) => Err("the body is not the expected text".into()),
            RequiredBody::File(name) if body == self.files.content(name) => Ok(()),
            RequiredBody::File(name) => Err(format!("the body is not the file {name}")),
            RequiredBody::Json(json) => same_json(json, body, example.body.as_deref()),
        }
    }
}

fn same_json(expected: &str, body: &[u8], sent: Option<&str>) -> Checked {
    let found: Value = serde_json::from_slice(body).map_err(|e| format!("not JSON: {e}"))?;
    let expected: Value = serde_json::from_str(expected).map_err(|e| e.to_string())?;
    if !same_value(&expected, &found) {
        return Err("the JSON value differs from the expected one".into());
    }
    if sent.is_some_and(|sent| sent.as_bytes() == body) {
        Err("the body is identical to the request's body, so the server did not parse it".into())
    } else {
        Ok(())
    }
}

/// Returns true if two values are equal. 12.5 equals 1.25e1, and 2 equals 2.0.
fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let others: HashMap<_, _> = b.iter().collect();
            let same = |(key, value): (&String, &Value)| {
                others
                    .get(key)
                    .is_some_and(|other| same_value(value, other))
            };
            a.len() == b.len() && a.iter().all(same)
        }
        (a, b) => a == b,
    }
}

fn request_line(example: &Example, manner: &str) -> String {
    match manner {
        "" => format!("{} {}", example.method, example.path),
        manner => format!("{} {}, {manner}", example.method, example.path),
    }
}

fn expect_status(response: &ProofResponse, expected: u16, request: &str) -> Checked {
    if response.status == expected {
        Ok(())
    } else {
        Err(format!(
            "{request}: status {} instead of {expected}",
            response.status
        ))
    }
}

fn date(response: &ProofResponse) -> Result<SystemTime, String> {
    let date = response
        .header("date")
        .ok_or("the response has no `Date`")?;
    httpdate::parse_http_date(date)
        .map_err(|_| format!("`Date: {date}` is not a valid date (RFC 9110, 5.6.7)"))
}

fn render(example: &Example, closes: bool) -> Vec<u8> {
    let Example {
        method, path, body, ..
    } = example;
    let plain = rendered(method, path, body.as_deref(), closes);
    // Additional headers come after the request line.
    let first = path.len() + method.len() + " HTTP/1.1 \r\n".len();
    let further: String = example.headers.iter().map(|h| format!("{h}\r\n")).collect();
    [&plain[..first], further.as_bytes(), &plain[first..]].concat()
}

fn rendered(method: &str, path: &str, body: Option<&str>, closes: bool) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n");
    if closes {
        text += "Connection: close\r\n";
    }
    if let Some(body) = body {
        text += &format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        );
    }
    (text + "\r\n" + body.unwrap_or("")).into_bytes()
}

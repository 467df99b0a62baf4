// SPDX-License-Identifier: Apache-2.0
//! The proof that a server does the work: before it is measured it is asked everything that it must be
//! able to answer, in all the ways in which a request may arrive.

use super::files::ServedFiles;
use super::proof_connection::{ProofConnection, Response};
use super::sockets::established;
use flate2::read::GzDecoder;
use lab_load::Tls;
use lab_model::{Content, Example, Plan, Serving};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

/// Between two bytes of a request that is sent in pieces.
const BETWEEN_BYTES: Duration = Duration::from_micros(200);

/// A server's clock may differ so much from the lab's, which is that of the same machine: `Date` has whole
/// seconds, and servers renew it about once in a second.
const CLOCK: Duration = Duration::from_secs(3);

/// Within this time `Date` must have advanced.
const SECOND: Duration = Duration::from_millis(2_500);

/// A body that was compressed is compared so far.
const MOST_PLAIN: u64 = 64 << 20;

/// Within this time connections that were closed are gone.
const SETTLING: Duration = Duration::from_secs(2);

/// What a proof yields.
#[derive(Debug, Default)]
pub struct Proven {
    /// What load is put on with, and the bytes of the answer.
    pub bodies: Vec<(Example, Vec<u8>)>,
    /// From connecting to the end of the very first answer.
    pub first_ns: u64,
    /// Answers that were as they must be.
    pub answers: u32,
}

impl Proven {
    /// What was answered to a request that load is put on with; nothing, if it was not asked.
    pub fn body(&self, example: &Example) -> &[u8] {
        let mut bodies = self.bodies.iter();
        let found = bodies.find(|(asked, _)| asked == example);
        found.map_or(&[], |(_, body)| body)
    }

    /// A request whose answer nothing is said of, and that another server answered otherwise.
    pub fn first_difference<'a>(&'a self, other: &Proven) -> Option<&'a Example> {
        let mut bodies = self.bodies.iter();
        let differs = |(example, body): &&(Example, Vec<u8>)| {
            example.answer == Content::Any && plain(other.body(example)) != plain(body)
        };
        bodies.find(differs).map(|(example, _)| example)
    }
}

/// A body without the compression that a header asked for: that is each server's own.
fn plain(body: &[u8]) -> Cow<'_, [u8]> {
    const GZIP: [u8; 2] = [0x1F, 0x8B];
    let mut text = Vec::new();
    let read = |text: &mut Vec<u8>| GzDecoder::new(body).take(MOST_PLAIN).read_to_end(text);
    if body.starts_with(&GZIP) && read(&mut text).is_ok() {
        text.into()
    } else {
        body.into()
    }
}

/// What is not as it must be, and what was said.
#[derive(Debug)]
pub struct FailedProof {
    /// In a sentence.
    pub why: String,
    /// The last connection's.
    pub transcript: Vec<String>,
}

/// Asks a server everything.
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
        all: plan.all_examples(),
        together: plan.most_connections(),
        serving,
        files,
        proven: Proven::default(),
        transcript: Vec::new(),
    };
    match prover.prove_all() {
        Ok(()) => Ok(prover.proven),
        Err(why) => Err(Box::new(FailedProof {
            why,
            transcript: prover.transcript,
        })),
    }
}

struct Prover<'a> {
    address: SocketAddr,
    tls: Option<&'a Tls>,
    /// What load is put on with.
    loaded: Vec<Example>,
    all: Vec<Example>,
    /// Connections that are open at once.
    together: usize,
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
        self.over_one_connection(Self::refusals)?;
        self.over_one_connection(Self::split)?;
        self.over_one_connection(Self::pipelined)?;
        self.over_one_connection(Self::closing)?;
        self.together()?;
        self.advancing(began, first_date)
    }

    /// The very first request, timed.
    fn first(&mut self) -> Result<SystemTime, String> {
        let began = Instant::now();
        let example = self.loaded.first().ok_or("there is no case")?.clone();
        let mut date = None;
        self.over_one_connection(|prover, connection| {
            let answer = prover.exchange(connection, &example)?;
            prover.proven.first_ns = began.elapsed().as_nanos() as u64;
            date = Some(self::date(&answer)?);
            Ok(())
        })?;
        Ok(date.expect("it was read, or there was an error"))
    }

    fn over_one_connection(
        &mut self,
        what: impl FnOnce(&mut Self, &mut ProofConnection) -> Checked,
    ) -> Checked {
        let mut connection = ProofConnection::open(self.address, self.tls)?;
        let checked = what(self, &mut connection);
        if checked.is_err() {
            self.transcript = connection.transcript();
        }
        checked
    }

    /// Every example of every case, one after the other over one connection.
    fn examples(&mut self, connection: &mut ProofConnection) -> Checked {
        for example in self.all.clone() {
            let answer = self.exchange(connection, &example)?;
            if self.loaded.contains(&example) {
                self.proven.bodies.push((example, answer.body));
            }
        }
        Ok(())
    }

    /// HEAD says what GET says, and sends no body: the next answer on the connection is whole.
    fn heads(&mut self, connection: &mut ProofConnection) -> Checked {
        let gets = self.loaded.clone().into_iter();
        for example in gets.filter(|e| e.method == "GET" && e.headers.is_empty()) {
            let path = &example.path;
            connection.send(&rendered("HEAD", path, None, false))?;
            let head = connection.answer(true)?;
            self.stays_open(&head, &format!("HEAD {path}"))?;
            self.anew_if_refused(connection, &head)?;
            let got = self.exchange(connection, &example)?;
            if head.status != got.status {
                return Err(format!(
                    "HEAD {path}: status {}, and GET {}",
                    head.status, got.status
                ));
            }
            for name in ["content-type", "content-length"] {
                let [head, got] = [&head, &got].map(|answer| answer.header(name));
                if head != got && !(name == "content-length" && head.is_none()) {
                    return Err(format!(
                        "HEAD {path}: {name} is {head:?}, and of GET {got:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// A path that is not there, and methods that paths do not have.
    fn refusals(&mut self, connection: &mut ProofConnection) -> Checked {
        let missing = &self.serving.missing;
        connection.send(&rendered("GET", missing, None, false))?;
        let answer = connection.answer(false)?;
        expect_status(&answer, 404, &format!("GET {missing}"))?;
        self.anew_if_refused(connection, &answer)?;
        let loaded = self.loaded.clone();
        for example in loaded {
            let asked = format!("DELETE {}", example.path);
            connection.send(&rendered("DELETE", &example.path, None, false))?;
            let answer = connection.answer(false)?;
            expect_status(&answer, 405, &asked)?;
            let allowed = answer.header("allow").unwrap_or("");
            if !allowed
                .split(',')
                .any(|method| method.trim() == example.method)
            {
                return Err(format!(
                    "{asked}: `Allow` is `{allowed}`, which has no {} (RFC 9110, 15.5.6)",
                    example.method
                ));
            }
            self.anew_if_refused(connection, &answer)?;
        }
        Ok(())
    }

    /// A request arrives in whatever pieces the network makes of it.
    fn split(&mut self, connection: &mut ProofConnection) -> Checked {
        let loaded = self.loaded.clone();
        for example in loaded {
            connection.send_split(&render(&example, false), BETWEEN_BYTES)?;
            let answer = connection.answer(false)?;
            self.right(&example, &answer, "sent a byte at a time")?;
        }
        Ok(())
    }

    /// Several requests in one piece are answered in their order.
    fn pipelined(&mut self, connection: &mut ProofConnection) -> Checked {
        let loaded = self.loaded.clone();
        let twice = || loaded.iter().chain(&loaded);
        let all: Vec<u8> = twice().flat_map(|example| render(example, false)).collect();
        connection.send(&all)?;
        for example in twice() {
            let answer = connection.answer(false)?;
            self.right(example, &answer, "pipelined")?;
        }
        Ok(())
    }

    /// Whoever asks for the end of the connection gets it, after the answer.
    fn closing(&mut self, connection: &mut ProofConnection) -> Checked {
        let example = self.loaded.first().expect("there is a case").clone();
        connection.send(&render(&example, true))?;
        let answer = connection.answer(false)?;
        self.fitting(&example, &answer, "with Connection: close")?;
        if connection.ends() {
            Ok(())
        } else {
            Err("after `Connection: close` the connection stays open".into())
        }
    }

    /// Many connections at once, each of which the kernel says the server has, and which all are kept.
    fn together(&mut self) -> Checked {
        let example = self.loaded.first().expect("there is a case").clone();
        let together = self.together;
        lab_load::allow_files(together as u64).map_err(|e| e.to_string())?;
        let mut connections = Vec::new();
        for _ in 0..together {
            connections.push(ProofConnection::open(self.address, self.tls)?);
        }
        for _ in 0..2 {
            for i in 0..connections.len() {
                if let Err(why) = self.exchange(&mut connections[i], &example) {
                    self.transcript = connections.swap_remove(i).transcript();
                    return Err(format!("one of {together} open connections: {why}"));
                }
            }
        }
        // Those of before may still be about to end.
        let deadline = Instant::now() + SETTLING;
        while let Some(seen) = established(self.address).filter(|&seen| seen != together) {
            if Instant::now() > deadline {
                return Err(format!(
                    "of {together} connections that are open and were used twice, the server has {seen}"
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// `Date` is another one a second later.
    fn advancing(&mut self, began: Instant, first: SystemTime) -> Checked {
        let example = self.loaded.first().expect("there is a case").clone();
        self.over_one_connection(|prover, connection| {
            loop {
                let answer = prover.exchange(connection, &example)?;
                if date(&answer)? > first {
                    return Ok(());
                }
                if began.elapsed() > SECOND {
                    return Err("`Date` does not advance".into());
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }

    /// One request and its answer, after which the connection must be kept, or after a refusal begun anew.
    fn exchange(
        &mut self,
        connection: &mut ProofConnection,
        example: &Example,
    ) -> Result<Response, String> {
        connection.send(&render(example, false))?;
        let answer = connection.answer(false)?;
        self.right(example, &answer, "")?;
        self.anew_if_refused(connection, &answer)?;
        Ok(answer)
    }

    /// A server may close the connection with a refusal.
    fn anew_if_refused(&mut self, connection: &mut ProofConnection, answer: &Response) -> Checked {
        if answer.status >= 400 && answer.closes() {
            *connection = ProofConnection::open(self.address, self.tls)?;
        }
        Ok(())
    }

    fn right(&mut self, example: &Example, answer: &Response, how: &str) -> Checked {
        self.fitting(example, answer, how)?;
        self.stays_open(answer, &request_line(example, how))
    }

    fn stays_open(&mut self, answer: &Response, asked: &str) -> Checked {
        if answer.closes() && answer.status < 400 {
            Err(format!(
                "{asked}: the server closes the connection, which nobody asked it to"
            ))
        } else {
            Ok(())
        }
    }

    /// Status, body and header are what they must be.
    fn fitting(&mut self, example: &Example, answer: &Response, how: &str) -> Checked {
        let asked = request_line(example, how);
        expect_status(answer, example.status, &asked)?;
        let date = date(answer).map_err(|why| format!("{asked}: {why}"))?;
        let now = SystemTime::now();
        let off = now
            .duration_since(date)
            .or_else(|_| date.duration_since(now));
        if off.is_ok_and(|off| off > CLOCK) {
            return Err(format!("{asked}: `Date` is not the time of this machine"));
        }
        let wanted = match example.answer {
            Content::Any => None,
            Content::Text(_) | Content::Json(_) => Some("application/json"),
            Content::File(_) => Some("application/octet-stream"),
        };
        let sent = answer.header("content-type").unwrap_or("");
        let sent = sent.split(';').next().unwrap_or("").trim();
        if wanted.is_some_and(|wanted| !sent.eq_ignore_ascii_case(wanted)) {
            let wanted = wanted.unwrap_or_default();
            return Err(format!(
                "{asked}: Content-Type is `{sent}` in place of `{wanted}`"
            ));
        }
        self.body(example, answer)
            .map_err(|why| format!("{asked}: {why}"))?;
        self.proven.answers += 1;
        Ok(())
    }

    fn body(&self, example: &Example, answer: &Response) -> Checked {
        let body = &answer.body;
        match &example.answer {
            Content::Any => Ok(()),
            Content::Text(text) if body == text.as_bytes() => Ok(()),
            Content::Text(_) => Err("the body is not, byte for byte, what it must be".into()),
            Content::File(name) if body == self.files.content(name) => Ok(()),
            Content::File(name) => Err(format!("the body is not the file {name}")),
            Content::Json(json) => same_json(json, body, example.body.as_deref()),
        }
    }
}

fn same_json(wanted: &str, body: &[u8], sent: Option<&str>) -> Checked {
    let found: Value = serde_json::from_slice(body).map_err(|e| format!("not JSON: {e}"))?;
    let wanted: Value = serde_json::from_str(wanted).map_err(|e| e.to_string())?;
    if !same_value(&wanted, &found) {
        return Err("the JSON is not of the value that it must be".into());
    }
    if sent.is_some_and(|sent| sent.as_bytes() == body) {
        Err("the body is, byte for byte, what was sent: it was not parsed".into())
    } else {
        Ok(())
    }
}

/// Of the same value: 12.5 and 1.25e1 are, 2 and 2.0 too.
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

fn request_line(example: &Example, how: &str) -> String {
    match how {
        "" => format!("{} {}", example.method, example.path),
        how => format!("{} {}, {how}", example.method, example.path),
    }
}

fn expect_status(answer: &Response, wanted: u16, asked: &str) -> Checked {
    if answer.status == wanted {
        Ok(())
    } else {
        Err(format!(
            "{asked}: status {} in place of {wanted}",
            answer.status
        ))
    }
}

fn date(answer: &Response) -> Result<SystemTime, String> {
    let date = answer.header("date").ok_or("the answer has no `Date`")?;
    httpdate::parse_http_date(date)
        .map_err(|_| format!("`Date: {date}` is no date (RFC 9110, 5.6.7)"))
}

fn render(example: &Example, closing: bool) -> Vec<u8> {
    let Example {
        method, path, body, ..
    } = example;
    let plain = rendered(method, path, body.as_deref(), closing);
    // Further headers stand behind the first line.
    let first = path.len() + method.len() + " HTTP/1.1 \r\n".len();
    let further: String = example.headers.iter().map(|h| format!("{h}\r\n")).collect();
    [&plain[..first], further.as_bytes(), &plain[first..]].concat()
}

fn rendered(method: &str, path: &str, body: Option<&str>, closing: bool) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n");
    if closing {
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

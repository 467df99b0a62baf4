// SPDX-License-Identifier: Apache-2.0
//! The subject, driven as the lab does it and asked over real connections.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{self, Child, ChildStdin, ChildStdout, Command, Stdio};

const ORDER: &str = include_str!("../../order.json");
const GREETING: &[u8] = br#"{"greeting":"Hello World!"}"#;

/// The program with the case open; it must end well.
struct Subject {
    process: Child,
    commands: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
    address: String,
    files: PathBuf,
}

impl Subject {
    fn start(name: &str) -> Self {
        let files = env::temp_dir().join(format!("rest-{name}-{}", process::id()));
        fs::create_dir_all(&files).unwrap();
        fs::write(files.join("64k.bin"), content()).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_rest-subject"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = process.stdin.take().unwrap();
        let replies = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut subject = Self {
            process,
            commands,
            replies,
            address: String::new(),
            files,
        };
        let hello = subject.replies.next().unwrap().unwrap();
        assert!(hello.contains(" subject=rust "), "{hello}");
        assert!(hello.contains(" library=axum%200."), "{hello}");
        subject.open();
        subject
    }

    fn open(&mut self) {
        let files = self.files.display();
        let opened = self.ask(&format!("open case=serve workers=8 seed=7 files={files}"));
        let rest = opened.strip_prefix("@lab opened url=http://");
        let (address, settings) = rest.and_then(|rest| rest.split_once(' ')).expect(&opened);
        let loops = settings.strip_prefix("workers=0 loops=").expect(&opened);
        assert!(loops.parse::<usize>().unwrap() > 0);
        self.address = address.to_owned();
    }

    fn ask(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        self.replies.next().unwrap().unwrap()
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    fn request(&self, method: &str, target: &str, body: &str) -> Answer {
        let mut connection = self.connect();
        let request = request(method, target, body);
        connection.write_all(request.as_bytes()).unwrap();
        Answer::read(&mut BufReader::new(connection), method == "HEAD")
    }

    fn quit(mut self) {
        writeln!(self.commands, "quit").unwrap();
        assert!(self.process.wait().unwrap().success());
        fs::remove_dir_all(self.files).unwrap();
    }
}

fn content() -> Vec<u8> {
    (0..65_536_u32).map(|n| ((n * n) >> 7) as u8).collect()
}

fn request(method: &str, target: &str, body: &str) -> String {
    let kind = match body {
        "" => "",
        _ => "Content-Type: application/json\r\n",
    };
    let length = body.len();
    format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\n{kind}Content-Length: {length}\r\n\r\n{body}"
    )
}

struct Answer {
    status: u16,
    fields: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Answer {
    /// Reads an answer whose length is told.
    fn read(input: &mut impl BufRead, head: bool) -> Self {
        let mut lines = input.by_ref().lines().map(Result::unwrap);
        let status = lines.next().unwrap()[9..12].parse().unwrap();
        let fields: BTreeMap<String, String> = lines
            .take_while(|line| !line.is_empty())
            .map(|line| {
                let (name, value) = line.split_once(": ").unwrap();
                (name.to_owned(), value.to_owned())
            })
            .collect();
        let length = match fields.get("content-length") {
            Some(length) if !head => length.parse().unwrap(),
            _ => 0,
        };
        let mut body = vec![0; length];
        input.read_exact(&mut body).unwrap();
        Self {
            status,
            fields,
            body,
        }
    }

    fn json(&self) -> Value {
        assert_eq!(self.status, 200);
        assert_eq!(self.fields["content-type"], "application/json");
        assert!(self.fields.contains_key("date"));
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[test]
fn answers() {
    let subject = Subject::start("answers");
    assert_eq!(subject.request("GET", "/api", "").body, GREETING);
    let name = "a".repeat(32);
    for (target, value) in [
        ("/api", json!({"greeting": "Hello World!"})),
        (
            "/api/built?number=0",
            json!({"greeting": "Hello World!", "number": 0}),
        ),
        (
            "/api/built?number=999999",
            json!({"greeting": "Hello World!", "number": 999_999}),
        ),
        (
            "/api/hello/O'Neil%20%22X%22",
            json!({"greeting": "Hello O'Neil \"X\"!"}),
        ),
        (
            &format!("/api/hello/{name}"),
            json!({"greeting": format!("Hello {name}!")}),
        ),
    ] {
        assert_eq!(subject.request("GET", target, "").json(), value, "{target}");
    }
    let order: Value = serde_json::from_str(ORDER).unwrap();
    let longest = format!("{ORDER}{}", " ".repeat(65_536 - ORDER.len()));
    for sent in [ORDER, &longest] {
        assert_eq!(subject.request("POST", "/api/echo", sent).json(), order);
    }
    let file = subject.request("GET", "/files/64k.bin", "");
    assert_eq!(file.fields["content-type"], "application/octet-stream");
    assert!(file.body == content());
    subject.quit();
}

#[test]
fn refuses() {
    let subject = Subject::start("refuses");
    let long = format!("/api/hello/{}", "a".repeat(33));
    for (status, target) in [
        (400, "/api/built"),
        (400, "/api/built?number="),
        (400, "/api/built?number=-1"),
        (400, "/api/built?number=1000000"),
        (400, &long),
        (400, "/api/hello/%C3%A9"),
        (400, "/api/hello/a%2Fb"),
        (400, "/api/hello/%ff"),
        (404, "/"),
        (404, "/api/"),
        (404, "/api/hello/"),
        (404, "/api/hello/a/b"),
        (404, "/files/nothing"),
        (404, "/files/../Cargo.toml"),
        (404, "/files/..%2F..%2Fetc%2Fpasswd"),
    ] {
        let answer = subject.request("GET", target, "");
        assert_eq!(answer.status, status, "{target}");
    }
    let longer = format!("{ORDER}{}", " ".repeat(65_537 - ORDER.len()));
    for (status, body) in [
        (400, "{"),
        (400, "[1, 2"),
        (400, "{}"),
        (400, &format!("{ORDER}x")),
        (413, &longer),
    ] {
        let answer = subject.request("POST", "/api/echo", body);
        assert_eq!(answer.status, status, "{body:.20}");
    }
    subject.quit();
}

#[test]
fn knows_methods() {
    let subject = Subject::start("methods");
    for target in [
        "/api",
        "/api/built?number=1",
        "/api/hello/x",
        "/files/64k.bin",
    ] {
        let mut head = subject.request("HEAD", target, "");
        let mut got = subject.request("GET", target, "");
        head.fields.remove("date");
        got.fields.remove("date");
        assert_eq!((head.status, head.fields), (200, got.fields), "{target}");
        let refused = subject.request("DELETE", target, "");
        assert_eq!(
            (refused.status, &*refused.fields["allow"]),
            (405, "GET,HEAD")
        );
    }
    let refused = subject.request("GET", "/api/echo", "");
    assert_eq!((refused.status, &*refused.fields["allow"]), (405, "POST"));
    subject.quit();
}

#[test]
fn reads_pieces_and_pipelines() {
    let subject = Subject::start("pieces");
    let mut connection = subject.connect();
    connection.set_nodelay(true).unwrap();
    let one = request("GET", "/api", "");
    for byte in one.bytes() {
        connection.write_all(&[byte]).unwrap();
    }
    connection.write_all(one.repeat(2).as_bytes()).unwrap();
    let mut input = BufReader::new(connection);
    for _ in 0..3 {
        assert_eq!(Answer::read(&mut input, false).body, GREETING);
    }
    subject.quit();
}

#[test]
fn may_open_as_many_files_as_the_system_allows() {
    let subject = Subject::start("limit");
    let limits = format!("/proc/{}/limits", subject.process.id());
    let limits = fs::read_to_string(limits).unwrap();
    let files = limits.lines().find(|l| l.starts_with("Max open files"));
    let files: Vec<&str> = files.unwrap().split_whitespace().collect();
    let (soft, hard) = (files[3], files[4]);
    assert_eq!(soft, hard);
    subject.quit();
}

#[test]
fn closes_and_opens_again() {
    let mut subject = Subject::start("closes");
    for command in ["verify", "run operations=1"] {
        let reply = subject.ask(command);
        assert!(reply.starts_with("@lab error code=unsupported "), "{reply}");
    }
    let mut idle = subject.connect();
    assert_eq!(subject.ask("close"), "@lab closed");
    // One that was not accepted yet is reset.
    assert!(matches!(idle.read(&mut [0]), Ok(0) | Err(_)));
    assert!(TcpStream::connect(&subject.address).is_err());
    let usage = subject.ask("open case=serve workers=8 seed=7");
    assert!(usage.starts_with("@lab error code=usage "), "{usage}");
    let failed = subject.ask("open case=serve workers=8 seed=7 files=/none");
    assert!(failed.starts_with("@lab error code=failed "), "{failed}");
    subject.open();
    assert_eq!(subject.request("GET", "/api", "").body, GREETING);
    subject.quit();
}

// SPDX-License-Identifier: Apache-2.0
//! Tests rendered requests. An independent parser reads them as specified, and user input cannot
//! inject additional requests.

use lab_load::{Header, LoadUrl, Request, Requests, method};
use std::collections::HashMap;

fn request_to(url: &str) -> Request {
    Request::new(LoadUrl::parse(url).unwrap())
}

fn with(headers: &[&str]) -> Request {
    Request {
        headers: headers.iter().map(|h| Header::parse(h).unwrap()).collect(),
        ..request_to("http://127.0.0.1:8080/x")
    }
}

struct Read {
    line: (String, String, u8),
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Read {
    fn all(&self, name: &str) -> Vec<&str> {
        let same = self
            .headers
            .iter()
            .filter(|(n, _)| n.eq_ignore_ascii_case(name));
        same.map(|(_, value)| value.as_str()).collect()
    }
}

fn read(request: Request, keep_alive: bool) -> Read {
    let requests = Requests::new(&[request], keep_alive, 1).unwrap();
    let bytes = &requests.get(0).bytes;
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let head = parsed.parse(bytes).unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Read {
        line: (
            parsed.method.unwrap().to_owned(),
            parsed.path.unwrap().to_owned(),
            parsed.version.unwrap(),
        ),
        headers: parsed
            .headers
            .iter()
            .map(|h| (h.name.to_owned(), text(h.value)))
            .collect(),
        body: bytes[head..].to_vec(),
    }
}

#[test]
fn a_plain_request_is_minimal() {
    let read = read(request_to("http://127.0.0.1:8080/a?b=c"), true);
    assert_eq!(read.line, ("GET".to_owned(), "/a?b=c".to_owned(), 1));
    let agent = format!("benchlab/{}", env!("CARGO_PKG_VERSION"));
    let pairs = [
        ("Host", "127.0.0.1:8080"),
        ("User-Agent", &agent),
        ("Accept", "*/*"),
    ];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(read.headers, pairs);
    assert!(read.body.is_empty());
}

#[test]
fn bodies_have_their_length() {
    let post = |body: &'static [u8]| Request {
        method: method("POST").unwrap(),
        body: body.into(),
        ..request_to("http://127.0.0.1/")
    };
    let full = read(post(b"a\r\n\r\nb"), true);
    assert_eq!(full.all("content-length"), ["6"]);
    assert_eq!(full.body, b"a\r\n\r\nb");
    assert_eq!(read(post(b""), true).all("content-length"), ["0"]);
    assert!(
        read(request_to("http://127.0.0.1/"), true)
            .all("content-length")
            .is_empty()
    );
}

#[test]
fn a_connection_per_request_is_announced() {
    assert_eq!(
        read(request_to("http://127.0.0.1/"), false).all("connection"),
        ["close"]
    );
    assert!(
        read(request_to("http://127.0.0.1/"), true)
            .all("connection")
            .is_empty()
    );
}

#[test]
fn the_users_headers_replace_the_default_headers() {
    let read = read(
        with(&[
            "user-agent: me",
            "ACCEPT:text/html",
            "host: shop.test:81",
            "X-a:  b c\t",
            "X-a: d",
        ]),
        true,
    );
    assert_eq!(read.all("user-agent"), ["me"]);
    assert_eq!(read.all("accept"), ["text/html"]);
    assert_eq!(read.all("host"), ["shop.test:81"]);
    assert_eq!(read.all("x-a"), ["b c", "d"]);
    assert!(
        read.headers.iter().any(|(name, _)| name == "ACCEPT"),
        "a header keeps its spelling"
    );
}

#[test]
fn a_requests_own_headers_go_before_common_ones() {
    let mut request = with(&["X-a: own", "x-B: 1", "X-b: 2"]);
    let common = ["x-a: all", "X-c: 1", "X-c: 2"].map(|h| Header::parse(h).unwrap());
    request.add_common(&common);
    let read = read(request, true);
    assert_eq!(read.all("x-a"), ["own"]);
    assert_eq!(read.all("x-b"), ["1", "2"]);
    assert_eq!(read.all("x-c"), ["1", "2"]);
}

#[test]
fn the_urls_user_is_authorized() {
    let url = "http://Aladdin:open%20sesame@127.0.0.1/";
    let basic = read(request_to(url), true);
    // RFC 7617, section 2.
    assert_eq!(
        basic.all("authorization"),
        ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]
    );
    let with_own_header = Request {
        headers: vec![Header::parse("Authorization: Bearer t").unwrap()],
        ..request_to(url)
    };
    assert_eq!(
        read(with_own_header, true).all("authorization"),
        ["Bearer t"]
    );
}

#[test]
fn header_injection_is_rejected() {
    for wrong in [
        "X: a\r\nY: b",
        "X: a\nb",
        "X: a\0",
        "X y: a",
        "X\r: a",
        ": a",
        "X",
        "",
        "Ü: a",
        "X: a\u{7f}",
        "Content-Length: 3",
        "content-length: 0",
        "Transfer-Encoding: chunked",
        "Connection: close",
        "Keep-Alive: 5",
        "Upgrade: h2c",
        "TE: gzip",
        "Host: a b",
        "Host: a/b",
        "Host:",
        "Trailer: X",
    ] {
        assert!(Header::parse(wrong).is_err(), "{wrong:?}");
    }
    for wrong in ["", "GE T", "GET\r\n", "G\0T", "GET/", "CONNECT"] {
        assert!(method(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(method("PURGE").unwrap().as_str(), "PURGE");
    assert!(Header::parse("TE: trailers").is_ok());
}

#[test]
fn secrets_are_not_shown() {
    let request = Request {
        headers: vec![Header::parse("X-Key: secret").unwrap()],
        ..request_to("http://me:secret@127.0.0.1/")
    };
    let requests = Requests::new(std::slice::from_ref(&request), true, 1).unwrap();
    let printed = format!("{request:?} {requests:?} {:?}", requests.planned());
    assert!(!printed.contains("secret"), "{printed}");
    assert_eq!(requests.planned()[0].url, "http://127.0.0.1/");
    let error = Header::parse("Authorization: secret\0")
        .unwrap_err()
        .to_string();
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn both_versions_of_http_send_the_same_request() {
    let request = Request {
        method: method("PUT").unwrap(),
        body: "body".into(),
        ..with(&["X-a: 1", "x-A: 2", "Host: shop.test"])
    };
    let requests = Requests::new(std::slice::from_ref(&request), false, 1).unwrap();
    let rendered = requests.get(0);
    let parts = &rendered.parts;
    assert_eq!(
        (parts.method().as_str(), &rendered.body[..]),
        ("PUT", &b"body"[..])
    );
    assert_eq!(parts.uri().to_string(), "http://shop.test/x");
    assert!(!parts.headers().contains_key("host") && !parts.headers().contains_key("connection"));
    let one = read(request, false);
    for (name, value) in &one.headers {
        if !["Host", "Connection"].contains(&name.as_str()) {
            let two = parts.headers().get_all(name.to_lowercase());
            assert!(two.iter().any(|v| v == value), "{name}");
        }
    }
    assert_eq!(parts.headers().len(), one.headers.len() - 2);
}

#[test]
fn only_responses_to_head_have_no_body() {
    for name in ["GET", "HEAD", "POST", "OPTIONS", "head"] {
        let request = Request {
            method: method(name).unwrap(),
            ..request_to("http://127.0.0.1/")
        };
        let requests = Requests::new(&[request], true, 1).unwrap();
        assert_eq!(requests.get(0).head, name == "HEAD", "{name}");
    }
}

/// Every character that a URL may contain arrives unchanged in both versions of HTTP.
#[test]
fn any_path_is_rendered() {
    for code in (0x20..0x7f).chain([0xe9, 0x20ac, 0x1f600]) {
        let c = char::from_u32(code).unwrap();
        if c == '#' {
            continue;
        }
        for url in [
            format!("http://127.0.0.1/a{c}b"),
            format!("http://127.0.0.1/?a{c}b"),
        ] {
            let path = LoadUrl::parse(&url).unwrap().path().to_owned();
            let requests = Requests::new(&[request_to(&url)], true, 1).unwrap();
            assert_eq!(
                requests
                    .get(0)
                    .parts
                    .uri()
                    .path_and_query()
                    .unwrap()
                    .as_str(),
                path
            );
            assert_eq!(read(request_to(&url), true).line.1, path);
        }
    }
}

#[test]
fn each_has_its_share_evenly_spread() {
    let weights = [3, 1, 6, 1];
    let list: Vec<Request> = weights
        .iter()
        .enumerate()
        .map(|(i, weight)| Request {
            weight: *weight,
            ..request_to(&format!("http://127.0.0.1/{i}"))
        })
        .collect();
    let path = |requests: &Requests, i| requests.get(i).parts.uri().path().to_owned();
    for seed in 0..50 {
        let requests = Requests::new(&list, true, seed).unwrap();
        assert_eq!(requests.period(), 11);
        let mut counts: HashMap<String, u32> = HashMap::new();
        for i in 0..1100 {
            *counts.entry(path(&requests, i)).or_default() += 1;
        }
        for (i, weight) in weights.iter().enumerate() {
            assert_eq!(counts[&format!("/{i}")], 100 * weight);
        }
        // Any half of the order contains half of the occurrences of the request with weight 6, give or take one.
        for start in 0..11 {
            let half = (start..start + 6)
                .filter(|i| path(&requests, *i) == "/2")
                .count();
            assert!((2..=5).contains(&half), "{half}");
        }
        let again = Requests::new(&list, true, seed).unwrap();
        assert!(
            (0..11).all(|i| path(&requests, i) == path(&again, i)),
            "the seed determines the order"
        );
    }
}

#[test]
fn weights_are_shortened_and_limited() {
    let list = |a, b| {
        [
            Request {
                weight: a,
                ..request_to("http://h/1")
            },
            Request {
                weight: b,
                ..request_to("http://h/2")
            },
        ]
    };
    let requests = Requests::new(&list(4_000_000_000, 2_000_000_000), true, 1).unwrap();
    assert_eq!(requests.period(), 3);
    assert!(Requests::new(&list(1_000_000, 1), true, 1).is_err());
    assert!(Requests::new(&list(0, 1), true, 1).is_err());
    assert!(Requests::new(&[], true, 1).is_err());
    let same = [
        request_to("http://h/1"),
        request_to("http://h/1"),
        request_to("http://h/2"),
    ];
    let requests = Requests::new(&same, true, 1).unwrap();
    let planned: Vec<(&str, u32)> = requests
        .planned()
        .iter()
        .map(|a| (a.url.as_str(), a.weight))
        .collect();
    assert_eq!(planned, [("http://h/1", 2), ("http://h/2", 1)]);
}

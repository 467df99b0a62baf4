// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for responses to the load generator, and for the syntax of requests and expected
//! responses.

use lab_load::content_coding::ContentCoding;
use lab_load::response::{ResponseEnd, ResponseReader};
use lab_load::{Expect, Header, IpFamily, JsonValue, LoadUrl, Statuses, method, read_requests};
use tempfile::TempDir;

/// Parses responses on one connection. The first byte selects whether the responses answer HEAD
/// requests, and the length of the pieces in which they arrive.
pub fn http_response(bytes: &[u8]) {
    let Some((first, stream)) = bytes.split_first() else {
        return;
    };
    let to_head = first & 1 == 1;
    let length = usize::from(first >> 1) + 1;
    let whole = read_responses(stream, stream.len().max(1), to_head);
    let pieces = read_responses(stream, length, to_head);
    assert_eq!(
        whole, pieces,
        "the result differs for pieces of {length} bytes"
    );
    assert!(
        to_head || whole.bodies.len() <= stream.len(),
        "the bodies have more bytes than were received"
    );
}

/// The responses read from a connection.
#[derive(Debug, Default, PartialEq)]
struct Connection {
    /// The complete responses, with the number of bytes in their bodies.
    responses: Vec<(ResponseEnd, usize)>,
    /// All bodies concatenated, up to the first malformed response.
    bodies: Vec<u8>,
    is_malformed: bool,
}

fn read_responses(stream: &[u8], length: usize, to_head: bool) -> Connection {
    let mut reader = ResponseReader::new();
    let mut connection = Connection::default();
    let mut begin = 0;
    for piece in stream.chunks(length) {
        let mut rest = piece;
        while !rest.is_empty() {
            let body = |part: &[u8]| connection.bodies.extend(part);
            let Ok((used, end)) = reader.read(rest, to_head, body) else {
                connection.is_malformed = true;
                return connection;
            };
            assert!(
                end.is_some() || used == rest.len(),
                "the reader left bytes before the end of a response"
            );
            if let Some(end) = end {
                assert!(!to_head || connection.bodies.is_empty(), "a body to HEAD");
                let length = connection.bodies.len() - begin;
                connection.responses.push((end, length));
                begin = connection.bodies.len();
            }
            rest = &rest[used..];
        }
    }
    match reader.end() {
        Ok(Some(end)) => {
            let length = connection.bodies.len() - begin;
            connection.responses.push((end, length));
        }
        Ok(None) => {}
        Err(_) => connection.is_malformed = true,
    }
    connection
}

/// Decodes a body. The first byte selects the content coding, and the second byte selects the
/// limit.
pub fn content_coding(bytes: &[u8]) {
    let [first, second, body @ ..] = bytes else {
        return;
    };
    let coding = match first % 5 {
        0 => ContentCoding::Gzip,
        1 => ContentCoding::Deflate,
        2 => ContentCoding::Brotli,
        3 => ContentCoding::Zstd,
        _ => ContentCoding::Identity,
    };
    let limit = u64::from(*second) << 4;
    let Some(limited) = coding.decode(body, limit) else {
        panic!("{coding:?} is unknown");
    };
    assert!(
        limited.bytes.len() as u64 <= limit,
        "a decoded body exceeds the limit"
    );
    if let Some(more) = coding.decode(body, 1 << 20) {
        assert!(more.bytes.starts_with(&limited.bytes), "different bytes");
        assert!(
            !limited.is_complete || (more.is_complete && more.bytes == limited.bytes),
            "a body is complete, but decodes further with a higher limit"
        );
    }
}

/// Parses a file of requests and checks that the result can be displayed.
pub fn request_file(bytes: &[u8]) {
    thread_local!(static FOLDER: TempDir = TempDir::new().expect("a folder"));
    // Such bodies would be read from other files.
    if bytes.contains(&b'@') || bytes.contains(&b'<') {
        return;
    }
    let base = LoadUrl::parse("http://127.0.0.1:8080/").expect("a URL");
    let requests = FOLDER.with(|folder| {
        let file = folder.path().join("requests.http");
        std::fs::write(&file, bytes).expect("a file");
        read_requests(&file, Some(&base))
    });
    match requests {
        Ok(requests) => {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!(requests.len() <= lines, "more requests than lines");
            let bodies: usize = requests.iter().map(|request| request.body.len()).sum();
            assert!(bodies <= bytes.len(), "the bodies are longer than the file");
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Parses arguments of `load`: a URL, a header, statuses and a JSON value. Checks that a value does
/// not change when it is displayed and parsed again.
pub fn load_argument(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(url) = LoadUrl::parse(text) {
        let again = LoadUrl::parse(&url.to_string()).expect("a displayed URL is valid");
        assert_eq!(again.to_string(), url.to_string());
        assert!(
            !url.path().contains(char::is_whitespace),
            "{:?}",
            url.path()
        );
    }
    if let Ok(statuses) = Statuses::parse(text) {
        let shown = statuses.to_string().replace(" or ", ",");
        assert_eq!(Statuses::parse(&shown).ok(), Some(statuses), "{shown}");
    }
    // Errors must be displayable, too.
    let _ = Header::parse(text).map_err(|error| error.to_string());
    let _ = IpFamily::parse(text);
    let _ = method(text).map_err(|error| error.to_string());
    if let Ok(value) = JsonValue::parse(text) {
        drop(value.to_string());
    }
}

/// Checks a body against an expected JSON value. The first line of the input contains the path and
/// the value.
pub fn expected_json(bytes: &[u8]) {
    let (expected, body) = crate::split_line(bytes);
    let Some(value) = std::str::from_utf8(expected)
        .ok()
        .and_then(|text| JsonValue::parse(text).ok())
    else {
        return;
    };
    let expect = Expect::new(Statuses::default(), None, vec![value]);
    // Errors must be displayable.
    let _ = expect.body(ContentCoding::Identity, body);
}

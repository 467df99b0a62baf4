// SPDX-License-Identifier: Apache-2.0
//! Tests that responses are parsed correctly, no matter how they are split into pieces.

use lab_load::content_coding::ContentCoding;
use lab_load::response::*;

/// Returns the responses in a stream that arrives in pieces of `piece` bytes, each with its body.
fn read(stream: &[u8], piece: usize) -> Result<Vec<(ResponseEnd, Vec<u8>)>, Malformed> {
    let (mut reader, mut responses, mut body) = (ResponseReader::new(), Vec::new(), Vec::new());
    for mut bytes in stream.chunks(piece) {
        while !bytes.is_empty() {
            let (used, response) = reader.read(bytes, false, |b| body.extend_from_slice(b))?;
            bytes = &bytes[used..];
            responses.extend(response.map(|a| (a, std::mem::take(&mut body))));
        }
    }
    responses.extend(reader.end()?.map(|a| (a, std::mem::take(&mut body))));
    Ok(responses)
}

/// Asserts that the bodies are as expected for every size of the pieces.
#[track_caller]
fn assert_bodies(stream: &str, bodies: &[&str]) {
    for piece in 1..=stream.len() {
        let responses = read(stream.as_bytes(), piece).unwrap();
        let actual: Vec<_> = responses.iter().map(|(_, body)| &body[..]).collect();
        let expected: Vec<_> = bodies.iter().map(|body| body.as_bytes()).collect();
        assert_eq!(actual, expected, "{piece}");
    }
}

#[track_caller]
fn assert_malformed(stream: &str) {
    for piece in 1..=stream.len() {
        let responses = read(stream.as_bytes(), piece);
        assert!(responses.is_err(), "{stream:?} {piece}: {responses:?}");
    }
}

#[test]
fn a_body_ends_with_the_empty_line_after_its_last_chunk() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    for end in [
        "0\r\n",
        "0\r\n\r",
        "0\r\nA",
        "0\r\nA: b",
        "0\r\nA: b\r",
        "0\r\nA: b\r\n",
    ] {
        assert_malformed(&[chunked, end].concat());
    }
    // The server may have been interrupted.
    for cut in ["", "0", "0\r", "2\r\na"] {
        assert_bodies(&[chunked, cut].concat(), &[]);
    }
}

#[test]
fn bodies_end_as_their_headers_specify() {
    let length = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
    assert_bodies(&[length, length].concat(), &["abc", "abc"]);
    assert_bodies("HTTP/1.1 200 \nContent-Length: 3\n\nabc", &["abc"]);
    assert_bodies("HTTP/1.1 204 No Content\r\n\r\n", &[""]);
    assert_bodies("HTTP/1.1 200\r\nconnection: close\r\n\r\nabc", &["abc"]);
    assert_bodies(
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3, 3\r\n\r\nabc",
        &["abc"],
    );
    assert_bodies(
        &["HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", length].concat(),
        &["abc"],
    );
    // RFC 9112, section 7.1, with extensions and trailers.
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n\
                   4;a=\"b\"\r\nWiki\r\n0005\r\npedia\r\n0\r\nExpires: never\r\nA:\r\n\r\n";
    assert_bodies(&[chunked, length].concat(), &["Wikipedia", "abc"]);
}

#[test]
fn a_truncated_response_does_not_count() {
    let streams = [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n",
    ];
    for stream in streams {
        for end in 0..stream.len() {
            let responses = read(&stream.as_bytes()[..end], stream.len());
            assert_eq!(responses.unwrap_or_default(), [], "{end}");
        }
    }
}

#[test]
fn a_field_can_span_lines() {
    let folded =
        "HTTP/1.1 200 OK\r\nX-Long: a;\r\n  b;\r\n\tc\r\nContent-Length:\r\n  \r\n 3\r\n\r\nabc";
    assert_bodies(&[folded, folded].concat(), &["abc", "abc"]);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip,\n\tchunked\r\n\r\n\
                   3\r\nabc\r\n0\r\nX-Sum: 1,\r\n  2\r\n\r\n";
    assert_bodies(&[chunked, folded].concat(), &["abc", "abc"]);
    let closes = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x,\r\n close\r\n\r\n";
    assert!(!read(closes.as_bytes(), 5).unwrap()[0].0.keep_alive);
    // A fold counts as a space: it does not join digits, and it does not admit control characters.
    assert_malformed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n");
    assert_malformed("HTTP/1.1 200 OK\r\nX: 1\r\n \0\r\n\r\n");
    assert_malformed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n X: 1\r\n\r\n");
}

#[test]
fn the_content_coding_is_reported() {
    let coding = |fields: &str| {
        let stream = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
        read(stream.as_bytes(), 9).unwrap()[0].0.coding
    };
    assert_eq!(coding(""), ContentCoding::Identity);
    assert_eq!(coding("content-encoding: GZIP\r\n"), ContentCoding::Gzip);
    assert_eq!(
        coding("Content-Encoding: gzip, br\r\n"),
        ContentCoding::Unknown
    );
    let twice = "Content-Encoding: gzip\r\nContent-Encoding: br\r\n";
    assert_eq!(coding(twice), ContentCoding::Unknown);
}

#[test]
fn connections_close_as_the_headers_specify() {
    let stays = |version: &str, connection: &str| {
        let stream = format!("HTTP/{version} 200 OK\r\n{connection}Content-Length: 0\r\n\r\n");
        read(stream.as_bytes(), 7).unwrap()[0].0.keep_alive
    };
    assert!(stays("1.1", ""));
    assert!(!stays("1.1", "Connection: x, Close\r\n"));
    assert!(!stays("1.0", ""));
    assert!(stays("1.0", "connection: Keep-Alive\r\n"));
}

#[test]
fn a_response_to_head_has_no_body() {
    let mut reader = ResponseReader::new();
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n";
    let (used, response) = reader.read(head, true, |_| panic!("a body")).unwrap();
    assert_eq!((used, response.map(|a| a.status)), (head.len(), Some(200)));
}

#[test]
fn bytes_that_are_not_http_are_malformed() {
    for head in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nspace : x\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: \0\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: b\rc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        assert_malformed(head);
    }
    for body in [
        "x",
        "\r\n",
        "-1\r\n",
        "3\nabc",
        "3 \0\r\n",
        "3\r\nabcd",
        "3\r\nabc\n",
        "0\r\n\n",
        "0\r\n:\r\n",
        "3 x\r\n",
        "3 3\r\n",
        "0\r\nno colon\r\n",
        "0\r\nHTTP/1.1 200 OK\r\n",
        "ffffffffffffffff\r\n",
        "0\r\nA: b\n\r\n",
    ] {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_malformed(&[head, body].concat());
    }
}

#[test]
fn endless_responses_are_not_stored() {
    let long = "a: b\r\n".repeat(MAX_HEAD / 6 + 10);
    let head = format!("HTTP/1.1 200 OK\r\n{long}");
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let trailers = format!("{chunks}0\r\n{long}");
    let short = "a:\r\n".repeat(MAX_HEAD / 4 + 10);
    let short = format!("{chunks}0\r\n{short}");
    let extension = format!("{chunks}3;{}", "x".repeat(4097));
    for stream in [head, trailers, short, extension] {
        for piece in [1000, 65_536, stream.len()] {
            assert!(read(stream.as_bytes(), piece).is_err(), "{piece}");
        }
    }
}

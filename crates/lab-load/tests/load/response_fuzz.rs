// SPDX-License-Identifier: Apache-2.0
//! Compares the response parser with another parser (httparse). Both parse damaged responses in
//! pieces of any size.
//!
//! `LOAD_FUZZ=1000000 cargo test --release -p lab-load --test load response_fuzz` tests more
//! responses.

use lab_load::response::ResponseReader;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Responses of real servers, each recorded on one connection.
const RECORDED: [&str; 12] = [
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Fri, 21 Nov 2025 19:15:21 GMT\r\nContent-Type: text/html\r\n\
     Content-Length: 13\r\nConnection: keep-alive\r\nETag: \"6737f2f1-d\"\r\nAccept-Ranges: bytes\r\n\r\nHello, world!",
    "HTTP/1.1 200 OK\r\nDate: Fri, 21 Nov 2025 19:15:21 GMT\r\nServer: Apache/2.4.62 (Debian)\r\n\
     Vary: Accept-Encoding\r\nKeep-Alive: timeout=5, max=100\r\nConnection: Keep-Alive\r\n\
     Transfer-Encoding: chunked\r\nContent-Type: text/html; charset=UTF-8\r\n\r\n\
     a\r\n<p>Hello, \r\n9\r\nworld</p>\r\n0\r\n\r\n",
    "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n\
     Date: Fri, 21 Nov 2025 19:15:21 GMT\r\nContent-Length: 19\r\n\r\n404 page not found\n",
    "HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6 Python/3.11.2\r\nDate: Fri, 21 Nov 2025 19:15:21 GMT\r\n\
     Content-type: text/plain\r\n\r\nuntil the end",
    "HTTP/1.1 204 No Content\r\nDate: Fri, 21 Nov 2025 19:15:21 GMT\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nETag: \"6737f2f1-d\"\r\nContent-Length: 13\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nLocation: /7\r\ncontent-length: 2\r\n\r\n{}",
    "HTTP/1.1 200 OK\r\nTrailer: Expires\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\
     4;name=\"value\"\r\nWiki\r\n007\r\npedia i\r\nB\r\nn \r\nchunks.\r\n0\r\nExpires: never\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 4\n\nabcd",
    "HTTP/1.1 200 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\nContent-Length: 5\r\nRetry-After: 1\r\n\r\nlater",
    "HTTP/1.1 200 OK\r\nX-Device: a=none;b=;\r\n    width=;mobile=false\r\nContent-Length:\r\n\t4\r\n\r\nfold",
];

/// Byte sequences that cause errors when they occur in unexpected positions.
const DAMAGING_BYTES: [&str; 22] = [
    "\r\n",
    "\n",
    "\r",
    "\0",
    ":",
    " ",
    ";",
    "0",
    "-1",
    "fffffffffffffff",
    "99999999999999999999",
    "0\r\n\r\n",
    "5\r\nhello\r\n",
    "x\r\n",
    "Content-Length: 3\r\n",
    "Content-Length: 5, 6\r\n",
    "Content-Length: +4\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "Connection: close\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
];

/// Returns the number of damaged streams to test.
fn cases() -> usize {
    let count = std::env::var("LOAD_FUZZ").ok();
    count.map_or(20_000, |n| n.parse().expect("LOAD_FUZZ is a number"))
}

/// A complete response: its status, its body, and the position in the stream where it ended.
type Complete = (u16, Vec<u8>, usize);

/// The result of parsing a stream: the complete responses, and true if the bytes after them are
/// invalid.
#[derive(Debug, PartialEq)]
struct Outcome {
    complete: Vec<Complete>,
    malformed: bool,
}

/// Parses a stream with benchlab's parser. `pieces` returns the length of each piece. The
/// connection ends with the stream.
fn read(stream: &[u8], to_head: bool, mut pieces: impl FnMut() -> usize) -> Outcome {
    let (mut reader, mut complete, mut body) = (ResponseReader::new(), Vec::new(), Vec::new());
    let mut at = 0;
    while at < stream.len() {
        let end = stream.len().min(at + pieces());
        while at < end {
            let read = reader.read(&stream[at..end], to_head, |b| body.extend_from_slice(b));
            let Ok((used, response)) = read else {
                return Outcome {
                    complete,
                    malformed: true,
                };
            };
            assert!(used > 0 && used <= end - at, "{used} of {}", end - at);
            assert!(response.is_some() || used == end - at);
            at += used;
            if let Some(response) = response {
                complete.push((response.status, std::mem::take(&mut body), at));
            }
        }
    }
    if let Ok(Some(response)) = reader.end() {
        complete.push((response.status, body, at));
    }
    Outcome {
        complete,
        malformed: false,
    }
}

/// Parses a stream in one piece, and asserts that parsing it in smaller pieces has the same result.
fn read_in_all_ways(stream: &[u8], to_head: bool, dice: &mut SmallRng) -> Outcome {
    let in_one_piece = read(stream, to_head, || usize::MAX / 2);
    let bytes = read(stream, to_head, || 1);
    assert_eq!(in_one_piece, bytes, "{}", stream.escape_ascii());
    let at_random = read(stream, to_head, || dice.random_range(1..40));
    assert_eq!(in_one_piece, at_random, "{}", stream.escape_ascii());
    in_one_piece
}

/// Returns the responses that the other parser finds in a stream, up to the first incomplete or invalid response.
fn reference_responses(stream: &[u8], to_head: bool) -> Vec<Complete> {
    let (mut complete, mut at) = (Vec::new(), 0);
    while at < stream.len() {
        let Some((status, body, length)) = reference_response(&stream[at..], to_head) else {
            break;
        };
        at += length;
        if status >= 200 {
            complete.push((status, body, at));
        }
    }
    complete
}

/// Parses the response at the start of a stream, which may be an interim response. Returns it with
/// its length.
fn reference_response(stream: &[u8], to_head: bool) -> Option<Complete> {
    let mut fields = [httparse::EMPTY_HEADER; 256];
    let mut head = httparse::Response::new(&mut fields);
    // httparse skips empty lines before a response; benchlab rejects them.
    let length = match folding_parser().parse_response(&mut head, stream) {
        Ok(httparse::Status::Complete(length)) if stream.starts_with(b"HTTP") => length,
        _ => return None,
    };
    let (status, rest) = (head.code?, &stream[length..]);
    if to_head || status < 200 || status == 204 || status == 304 {
        return (status != 101).then_some((status, vec![], length));
    }
    let values = |name: &str| {
        let of_name = head
            .headers
            .iter()
            .filter(|f| f.name.eq_ignore_ascii_case(name));
        let all: Vec<_> = of_name.map(|f| unfolded(f.value)).collect();
        (!all.is_empty()).then(|| all.join(",").trim().to_ascii_lowercase())
    };
    let (body, used) = match (values("transfer-encoding"), values("content-length")) {
        (Some(_), Some(_)) => return None,
        (Some(_), None) if head.version == Some(0) => return None,
        (Some(codings), None) if codings.rsplit(',').next()?.trim() == "chunked" => {
            reference_chunks(rest)?
        }
        (None, Some(sizes)) => {
            let sizes: Result<Vec<usize>, _> = sizes.split(',').map(|n| n.trim().parse()).collect();
            let sizes = sizes.ok()?;
            let one = sizes.iter().all(|n| *n == sizes[0]);
            (one.then(|| rest.get(..sizes[0]))??.to_vec(), sizes[0])
        }
        (_, None) => (rest.to_vec(), rest.len()),
    };
    Some((status, body, length + used))
}

/// Returns a parser that accepts folded fields (RFC 9112, section 5.2).
fn folding_parser() -> httparse::ParserConfig {
    let mut parser = httparse::ParserConfig::default();
    parser.allow_obsolete_multiline_headers_in_responses(true);
    parser
}

fn unfolded(value: &[u8]) -> String {
    let value = String::from_utf8_lossy(value);
    let lines: Vec<&str> = value.lines().map(str::trim).collect();
    lines.join(" ")
}

/// Parses a chunked body. Returns the body and its length in the stream, including trailers.
fn reference_chunks(stream: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let (line, size) = match httparse::parse_chunk_size(&stream[at..]) {
            Ok(httparse::Status::Complete(found)) => found,
            _ => return None,
        };
        at += line;
        if size == 0 {
            // Trailers have the same syntax as header fields.
            let begin = b"HTTP/1.1 200 OK\r\n";
            let trailers = [begin, &stream[at..]].concat();
            let mut fields = [httparse::EMPTY_HEADER; 256];
            let mut head = httparse::Response::new(&mut fields);
            return match folding_parser().parse_response(&mut head, &trailers) {
                Ok(httparse::Status::Complete(used)) => Some((body, at + used - begin.len())),
                _ => None,
            };
        }
        let end = at.checked_add(usize::try_from(size).ok()?)?;
        body.extend_from_slice(stream.get(at..end)?);
        at = stream.get(end..)?.starts_with(b"\r\n").then_some(end + 2)?;
    }
}

/// Damages a stream in a randomly chosen way.
fn damage(stream: &mut Vec<u8>, dice: &mut SmallRng) {
    let at = dice.random_range(0..=stream.len());
    let end = (at + dice.random_range(1..12)).min(stream.len());
    match dice.random_range(0..9) {
        0 => stream.truncate(at),
        1 => drop(stream.drain(at..end)),
        2 => {
            let again = stream[at..end].to_vec();
            stream.splice(end..end, again);
        }
        3 => stream[at..end].reverse(),
        4 => stream[at..end].iter_mut().for_each(|b| *b = dice.random()),
        5 => stream[at..end]
            .iter_mut()
            .for_each(|b| *b ^= 1 << dice.random_range(0..8)),
        6 => {
            // Mixes two responses, like a server that forgets a lock.
            let other = RECORDED[dice.random_range(0..RECORDED.len())].as_bytes();
            let from = dice.random_range(0..other.len());
            stream.splice(at..at, other[from..].iter().copied());
        }
        _ => {
            let trouble = DAMAGING_BYTES[dice.random_range(0..DAMAGING_BYTES.len())];
            stream.splice(at..at, trouble.bytes());
        }
    }
}

fn recorded(dice: &mut SmallRng) -> Vec<u8> {
    let count = dice.random_range(1..4);
    let each = (0..count).map(|_| RECORDED[dice.random_range(0..RECORDED.len())]);
    each.collect::<String>().into_bytes()
}

/// If benchlab parses a complete response, the other parser finds the same status, body and end, no
/// matter how the stream is divided into pieces. The converse need not hold, because benchlab may
/// reject responses that the other parser accepts.
#[test]
fn a_damaged_response_is_never_one_served() {
    let mut dice = SmallRng::seed_from_u64(5);
    let (mut damaged, mut served) = (0, 0);
    for _ in 0..cases() {
        let mut stream = recorded(&mut dice);
        for _ in 0..dice.random_range(1..4) {
            damage(&mut stream, &mut dice);
        }
        let to_head = dice.random_bool(0.05);
        let outcome = read_in_all_ways(&stream, to_head, &mut dice);
        let reference = reference_responses(&stream, to_head);
        for (n, response) in outcome.complete.iter().enumerate() {
            let stream = stream.escape_ascii();
            assert_eq!(Some(response), reference.get(n), "response {n} of {stream}");
        }
        served += outcome.complete.len();
        damaged += usize::from(outcome.malformed);
    }
    // Otherwise there is too little or too much damage for a meaningful test.
    assert!(damaged > cases() / 10, "{damaged} malformed");
    assert!(served > cases() / 10, "{served} served");
}

/// Both parsers agree on undamaged responses of real servers.
#[test]
fn responses_are_parsed_in_pieces_of_any_size() {
    let mut dice = SmallRng::seed_from_u64(6);
    for _ in 0..cases() / 10 {
        let stream = recorded(&mut dice);
        let outcome = read_in_all_ways(&stream, false, &mut dice);
        assert!(!outcome.malformed, "{}", stream.escape_ascii());
        assert_eq!(outcome.complete, reference_responses(&stream, false));
    }
}

/// A truncated response is never complete, no matter where the connection ends.
#[test]
fn a_truncated_response_is_never_complete() {
    for stream in RECORDED.map(str::as_bytes) {
        let uncut = read(stream, false, || usize::MAX / 2);
        // A response without a length ends with the connection (RFC 9112, section 6.3).
        if stream.starts_with(b"HTTP/1.0") {
            continue;
        }
        assert_eq!(uncut.complete.len(), 1, "{}", stream.escape_ascii());
        for end in 0..stream.len() {
            for piece in [1, 7, stream.len()] {
                let cut = read(&stream[..end], false, || piece);
                assert_eq!(cut.complete, [], "{}", stream[..end].escape_ascii());
            }
        }
    }
}

/// Random bytes are never a response.
#[test]
fn random_bytes_do_not_panic() {
    let mut dice = SmallRng::seed_from_u64(7);
    for _ in 0..cases() / 10 {
        let mut stream = vec![0; dice.random_range(0..300)];
        dice.fill(&mut stream[..]);
        if dice.random() {
            stream.splice(
                ..0,
                *b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            );
        }
        assert_eq!(read_in_all_ways(&stream, false, &mut dice).complete, []);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Paths -> routes: `/users/123` is `/users/{id}`. What a segment looks like is decided here; what only the whole log can
//! tell, in [`crate::learn`].

/// Segments of a route; deeper ones are one.
const DEEPEST: usize = 12;
/// Bytes of a name.
pub const LONGEST: usize = 200;

/// The path of a target: without scheme, host, query, and parameters such as `;jsessionid=`.
#[inline]
pub fn path(target: &[u8]) -> &[u8] {
    let end = memchr::memchr3(b'?', b';', b'#', target).unwrap_or(target.len());
    let path = &target[..end];
    if path.first() == Some(&b'/') {
        return path;
    }
    match memchr::memmem::find(path, b"://") {
        Some(at) => {
            let rest = &path[at + 3..];
            memchr::memchr(b'/', rest).map_or(b"/", |slash| &rest[slash..])
        }
        None => path,
    }
}

/// A path with its variable segments named, of printable characters alone.
pub fn fold(path: &[u8]) -> String {
    if path.first() != Some(&b'/') {
        return match path {
            b"" | b"-" => "(no path)".into(),
            b"*" => "*".into(),
            _ => "(not a path)".into(),
        };
    }
    let mut name = String::with_capacity(path.len());
    let mut segments = path[1..].split(|b| *b == b'/');
    for segment in segments.by_ref().take(DEEPEST) {
        name.push('/');
        name.push_str(&folded(segment));
    }
    if segments.next().is_some() {
        name.push_str("/…");
    }
    cut(name)
}

/// A name of at most [`LONGEST`] bytes.
pub fn cut(mut name: String) -> String {
    if name.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| name.is_char_boundary(*at));
        name.truncate(end.unwrap_or(0));
        name.push('…');
    }
    name
}

/// Text of printable characters alone.
pub fn printable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.chars()
        .map(|c| if is_plain(c) { c } else { '\u{fffd}' })
        .collect()
}

/// Neither a control character nor one that turns the direction of writing.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn folded(segment: &[u8]) -> String {
    if let Some(kind) = kind(segment) {
        return kind.into();
    }
    // Parts of a segment: `app.3f2a91bc.js`, `invoice-2041.pdf`.
    let is_edge = |b: &u8| matches!(b, b'.' | b'-' | b'_' | b',' | b'~' | b':' | b'@');
    if !segment.iter().any(|b| b.is_ascii_digit()) {
        return printable(segment);
    }
    let mut name = String::new();
    let mut rest = segment;
    loop {
        let end = rest.iter().position(is_edge).unwrap_or(rest.len());
        match kind(&rest[..end]) {
            Some(kind) => name.push_str(kind),
            None => name.push_str(&printable(&rest[..end])),
        }
        let Some(edge) = rest.get(end) else {
            return name;
        };
        name.push(char::from(*edge));
        rest = &rest[end + 1..];
    }
}

/// What a segment or a part of one is, if it is a variable by its looks.
fn kind(word: &[u8]) -> Option<&'static str> {
    let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let n = word.len();
    if digits == n {
        return Some("{id}");
    }
    let is_hex = |word: &[u8]| word.iter().all(u8::is_ascii_hexdigit);
    if n == 36 && [8, 13, 18, 23].iter().all(|at| word[*at] == b'-') {
        let without: Vec<u8> = word.iter().copied().filter(|b| *b != b'-').collect();
        if is_hex(&without) {
            return Some("{uuid}");
        }
    }
    if is_date(word) {
        return Some("{date}");
    }
    if n >= 8 && digits >= 2 && is_hex(word) {
        return Some("{hash}");
    }
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'=' | b'%' | b'+');
    if n >= 20 && digits >= 3 && word.iter().all(is_token) {
        return Some("{token}");
    }
    let decimal = |b: &u8| b.is_ascii_digit() || matches!(b, b',' | b'.' | b'-' | b'+');
    (digits * 2 > n && word.iter().all(decimal)).then_some("{id}")
}

/// `2026-05-01`.
fn is_date(word: &[u8]) -> bool {
    let is_digit = |at: &usize| word[*at].is_ascii_digit();
    word.len() == 10
        && word[4] == b'-'
        && word[7] == b'-'
        && [0, 1, 2, 3, 5, 6, 8, 9].iter().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_vary_have_names() {
        for (path, route) in [
            ("/", "/"),
            ("/users/123", "/users/{id}"),
            ("/users/123/orders/9", "/users/{id}/orders/{id}"),
            ("/o/6f1ed002-ab56-4c7e-8a1f-2f0d3b6f0c11/x", "/o/{uuid}/x"),
            ("/static/app.3f2a91bc.js", "/static/app.{hash}.js"),
            ("/day/2026-05-01", "/day/{date}"),
            ("/map/52.51,13.37", "/map/{id}"),
            ("/v2/search", "/v2/search"),
            ("/deadbeef", "/deadbeef"),
            ("/invoice-2041.pdf", "/invoice-{id}.pdf"),
            ("/a//b", "/a//b"),
        ] {
            assert_eq!(fold(path.as_bytes()), route);
        }
        assert_eq!(path(b"/a/b;jsessionid=1?x=/y"), b"/a/b");
        assert_eq!(path(b"http://h:80/a?b"), b"/a");
        assert_eq!(fold(b"\x16\x03\x01"), "(not a path)");
        assert!(!fold(b"/\x1b[31mred").contains('\x1b'));
        assert!(fold(&[b'/'; 10_000]).len() < 300);
        assert!(fold("/ä".repeat(500).as_bytes()).len() < 300);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Tests expected responses. No unexpected response is accepted.

use lab_load::content_coding::ContentCoding;
use lab_load::{Expect, JsonValue, Statuses};

fn json(words: &[&str]) -> Expect {
    let values = words.iter().map(|w| JsonValue::parse(w).unwrap());
    Expect::new(Statuses::default(), None, values.collect())
}

fn fits(expect: &Expect, body: &[u8]) -> bool {
    expect.body(ContentCoding::Identity, body).is_ok()
}

/// Bodies are decoded before they are compared, because a request header may ask for a content
/// coding.
#[test]
fn a_body_is_decoded_before_it_is_compared() {
    let plain = br#"{"ok":true,"list":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}"#;
    let mut gzip = Vec::new();
    let encoder = flate2::read::GzEncoder::new(&plain[..], flate2::Compression::best());
    std::io::Read::read_to_end(&mut { encoder }, &mut gzip).unwrap();
    let exact = Expect::new(Statuses::default(), Some(plain.to_vec()), Vec::new());
    for expect in [&exact, &json(&["ok=true", "list.2=1"])] {
        assert_eq!(expect.body(ContentCoding::Gzip, &gzip), Ok(()));
        assert!(
            !fits(expect, &gzip),
            "the body does not match while it is encoded"
        );
        let cut = expect.body(ContentCoding::Gzip, &gzip[..20]).unwrap_err();
        assert!(cut.contains("that is not in the Content-Encoding"), "{cut}");
        let unknown = expect.body(ContentCoding::Unknown, &gzip).unwrap_err();
        assert!(unknown.contains("cannot decode"), "{unknown}");
    }
    let other = json(&["ok=false"])
        .body(ContentCoding::Gzip, &gzip)
        .unwrap_err();
    assert!(other.contains("an unexpected body of"), "{other}");
    // Encoding may make a tiny body longer.
    let tiny = Expect::new(Statuses::default(), Some(b"x".to_vec()), Vec::new());
    let mut gzip = Vec::new();
    let encoder = flate2::read::GzEncoder::new(&b"x"[..], flate2::Compression::none());
    std::io::Read::read_to_end(&mut { encoder }, &mut gzip).unwrap();
    assert_eq!(tiny.body(ContentCoding::Gzip, &gzip), Ok(()));
}

#[test]
fn statuses_are_codes_and_classes() {
    let usual = Expect::default();
    for status in 0..=999 {
        assert_eq!(
            usual.status(status),
            (200..400).contains(&status),
            "{status}"
        );
    }
    assert_eq!(usual.body_capacity(), 0);
    assert_eq!(usual.words(), ["status 2xx or 3xx"]);
    let some = Statuses::parse("404, 200,5xx,503,200").unwrap();
    assert_eq!(some.to_string(), "200, 404 or 5xx");
    let some = Expect::new(some, None, Vec::new());
    for status in 0..=999 {
        let expected = status == 200 || status == 404 || (500..600).contains(&status);
        assert_eq!(some.status(status), expected, "{status}");
    }
    for wrong in [
        "", "200,", "100", "1xx", "6xx", "656xx", "600", "20x", "-200", "2xxx", "x",
    ] {
        assert!(Statuses::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_body_is_compared_byte_by_byte() {
    let expect = Expect::new(Statuses::default(), Some(b"OK\n".to_vec()), Vec::new());
    assert!(fits(&expect, b"OK\n"));
    for wrong in [&b"OK"[..], b"", b"OK\n\n", b"ok\n", b"OK\0"] {
        assert!(!fits(&expect, wrong));
    }
    assert!(expect.body_capacity() > 4);
    assert_eq!(expect.words(), ["status 2xx or 3xx", r#"body "OK\n""#]);
    assert!(fits(
        &Expect::new(Statuses::default(), Some(Vec::new()), Vec::new()),
        b""
    ));
}

#[test]
fn values_are_found_in_json() {
    let body = br#"{"a":{"b":[{"c":12},{"c":"12"}]},"x.y":1.0,"e=f":null,"":true,"s":"text","o":{"k":[1,2.0]}}"#;
    for right in [
        "a.b.0.c=12",
        "a.b.0.c=12.0",
        "a.b.1.c=\"12\"",
        "x\\.y=1",
        "e\\=f=null",
        "s=text",
        "s=\"text\"",
        "o={\"k\":[1.0,2]}",
        "a.b.1={\"c\":\"12\"}",
        "o.k.1=2",
    ] {
        assert!(fits(&json(&[right]), body), "{right}");
    }
    for wrong in [
        "a.b.1.c=12",
        "a.b.2.c=12",
        "a.b.c=12",
        "a.b.-1.c=12",
        "s=",
        "s=tex",
        "x.y=1",
        "none=null",
        "a.b.0=12",
        "o={\"k\":[1]}",
        "=1",
    ] {
        assert!(!fits(&json(&[wrong]), body), "{wrong}");
    }
    assert!(
        !fits(&json(&["s=text", "o.k.1=3"]), body),
        "all values must match"
    );
    assert!(
        fits(&json(&["=[1,2]"]), b" [1, 2]\n"),
        "an empty path means the whole document"
    );
    assert!(
        fits(&json(&["id=007"]), br#"{"id":"007"}"#),
        "a value that is not JSON is a string"
    );
    assert!(JsonValue::parse("a.b").is_err());
    assert_eq!(json(&["a.x\\.y=z"]).words()[1], r#"JSON a.x\.y = "z""#);
}

#[test]
fn large_numbers_are_not_mixed_up() {
    assert!(fits(
        &json(&["n=9007199254740993"]),
        br#"{"n":9007199254740993}"#
    ));
    assert!(!fits(
        &json(&["n=9007199254740993"]),
        br#"{"n":9007199254740992}"#
    ));
}

#[test]
fn what_is_not_json_is_wrong() {
    let expect = json(&["a=1"]);
    let deep = vec![b'['; 1_000_000];
    for wrong in [
        &b""[..],
        b"{",
        b"{\"a\":1",
        b"{\"a\":1}x",
        b"\xff",
        b"{\"a\":1}\0",
        &deep,
    ] {
        assert!(!fits(&expect, wrong));
    }
    let mut long = vec![b' '; expect.body_capacity() - 1];
    assert_eq!(long.len(), 16 << 20);
    long[..7].copy_from_slice(b"{\"a\":1}");
    assert!(fits(&expect, &long));
    long.push(b' ');
    assert!(
        !fits(&expect, &long),
        "a body beyond the size limit does not match"
    );
}

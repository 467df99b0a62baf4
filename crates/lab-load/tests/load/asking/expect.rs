// SPDX-License-Identifier: Apache-2.0
//! A wrong answer is never taken for a right one.

use lab_load::{Expect, JsonValue, Statuses};

fn json(words: &[&str]) -> Expect {
    let values = words.iter().map(|w| JsonValue::parse(w).unwrap());
    Expect::new(Statuses::default(), None, values.collect())
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
        "", "200,", "100", "1xx", "6xx", "600", "20x", "-200", "2xxx", "x",
    ] {
        assert!(Statuses::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_body_is_compared_byte_by_byte() {
    let expect = Expect::new(Statuses::default(), Some(b"OK\n".to_vec()), Vec::new());
    assert!(expect.body(b"OK\n"));
    for wrong in [&b"OK"[..], b"", b"OK\n\n", b"ok\n", b"OK\0"] {
        assert!(!expect.body(wrong));
    }
    assert_eq!(expect.body_capacity(), 4);
    assert_eq!(expect.words(), ["status 2xx or 3xx", r#"body "OK\n""#]);
    assert!(Expect::new(Statuses::default(), Some(Vec::new()), Vec::new()).body(b""));
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
        assert!(json(&[right]).body(body), "{right}");
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
        assert!(!json(&[wrong]).body(body), "{wrong}");
    }
    assert!(!json(&["s=text", "o.k.1=3"]).body(body), "all must hold");
    assert!(json(&["=[1,2]"]).body(b" [1, 2]\n"), "the whole document");
    assert!(
        json(&["id=007"]).body(br#"{"id":"007"}"#),
        "what is not JSON is a string"
    );
    assert!(JsonValue::parse("a.b").is_err());
    assert_eq!(json(&["a.x\\.y=z"]).words()[1], r#"JSON a.x\.y = "z""#);
}

#[test]
fn large_numbers_are_not_mixed_up() {
    assert!(json(&["n=9007199254740993"]).body(br#"{"n":9007199254740993}"#));
    assert!(!json(&["n=9007199254740993"]).body(br#"{"n":9007199254740992}"#));
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
        assert!(!expect.body(wrong));
    }
    let mut long = vec![b' '; expect.body_capacity() - 1];
    assert_eq!(long.len(), 16 << 20);
    long[..7].copy_from_slice(b"{\"a\":1}");
    assert!(expect.body(&long));
    long.push(b' ');
    assert!(!expect.body(&long), "longer than is looked into");
}

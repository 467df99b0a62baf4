// SPDX-License-Identifier: Apache-2.0
//! Tests that URLs are parsed according to the standards, and that passwords are never shown.

use lab_load::{IpFamily, LoadGuard, LoadUrl, Origin};
use std::net::TcpListener;

fn link(url: &str) -> LoadUrl {
    LoadUrl::parse(url).unwrap()
}

#[test]
fn hosts_and_paths_have_the_form_of_a_request() {
    let cases = [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "/"),
        ("http://127.0.0.1:80/a", "127.0.0.1", "/a"),
        ("https://localhost/a?b=c d#part", "localhost", "/a?b=c%20d"),
        ("https://localhost:80/", "localhost:80", "/"),
        ("http://[::1]:8080/x", "[::1]:8080", "/x"),
        ("http://[0:0:0:0:0:0:0:1]/x", "[::1]", "/x"),
        ("HTTP://LocalHost:81/é", "localhost:81", "/%C3%A9"),
        (
            "http://bücher.example/?q=1",
            "xn--bcher-kva.example",
            "/?q=1",
        ),
    ];
    for (url, authority, path) in cases {
        let link = link(url);
        assert_eq!(link.origin.authority(), authority, "{url}");
        assert_eq!(link.path(), path, "{url}");
    }
    assert_eq!(link("http://[::1]:8080/x").origin.host(), "::1");
}

#[test]
fn invalid_urls_are_errors_with_advice() {
    let cases = [
        (
            "localhost:8080/x",
            "did you mean `http://localhost:8080/x`?",
        ),
        ("//localhost/", "did you mean `http://localhost/`?"),
        (
            "ftp://localhost/",
            "unsupported scheme `ftp` in `ftp://localhost/`",
        ),
        ("http://", "empty host"),
        ("http://localhost:99999/", "invalid port"),
        ("http://localhost/a\r\nX: y", "control character"),
        ("http://localhost/a\0", "control character"),
        ("http://12}/", "invalid uri character"),
        ("http://[fe80::1%25eth0]/", "has the zone `eth0`"),
        ("", "is not a URL"),
    ];
    for (url, words) in cases {
        let error = LoadUrl::parse(url).unwrap_err().to_string();
        assert!(error.contains(words), "{url}: {error}");
    }
}

#[test]
fn user_and_password_are_sent_and_never_shown() {
    let link = link("http://me:s%40cret@localhost:1/x");
    let printed = format!("{link} {link:?} {}", link.origin);
    assert!(
        !printed.contains("cret") && !printed.contains("me:"),
        "{printed}"
    );
    assert_eq!(link.to_string(), "http://localhost:1/x");
    for wrong in [
        "http://me:secret@localhost:x/",
        "me:secret@localhost",
        "ftp://me:secret@localhost",
        "http://me:sec/secret@localhost:1/\n",
        "me:se://secret@localhost",
        "http://me:secret@",
    ] {
        let error = LoadUrl::parse(wrong).unwrap_err().to_string();
        assert!(!error.contains("sec"), "{error}");
    }
}

#[test]
fn requests_of_a_file_go_to_one_server() {
    let shared = |urls: &[&str]| {
        let links: Vec<LoadUrl> = urls.iter().map(|url| link(url)).collect();
        Origin::shared(&links)
    };
    let origin = shared(&["http://a.test/1", "http://A.test:80/2"]).unwrap();
    assert_eq!(origin.to_string(), "http://a.test");
    let error = shared(&["http://a.test/1", "https://a.test/"])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("http://a.test/1 and https://a.test/ are on different servers"),
        "{error}"
    );
    assert!(shared(&["http://a.test", "http://a.test:81"]).is_err());
    assert!(shared(&[]).is_err());
}

#[test]
fn a_path_never_leads_to_another_server() {
    let base = link("http://me:pw@127.0.0.1:8080/start");
    for path in ["//evil.test/x", "/\\evil.test", "/@evil.test/"] {
        assert_eq!(base.with_path(path).unwrap().origin, base.origin, "{path}");
    }
    assert!(base.with_path("evil.test/").is_err());
    assert!(base.with_path("@evil.test/").is_err());
}

#[test]
fn families_are_chosen() {
    assert_eq!(IpFamily::parse("4").unwrap(), [IpFamily::V4]);
    assert_eq!(
        IpFamily::parse("6,4").unwrap(),
        [IpFamily::V6, IpFamily::V4]
    );
    for wrong in ["", "5", "4,4", "4,6,4", "v4"] {
        assert!(IpFamily::parse(wrong).is_err(), "{wrong}");
    }
    let guard = LoadGuard::new(None).unwrap();
    let origin = link("http://127.0.0.1:9/").origin;
    let address = origin.address(Some(IpFamily::V4), &guard).unwrap();
    assert_eq!(address.to_string(), "127.0.0.1:9");
    let error = origin
        .address(Some(IpFamily::V6), &guard)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("127.0.0.1 has no IPv6 address, only 127.0.0.1"),
        "{error}"
    );
}

#[test]
fn the_first_listening_address_is_used() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let guard = LoadGuard::new(None).unwrap();
    let origin = link(&format!("http://localhost:{port}/")).origin;
    assert_eq!(
        origin.address(None, &guard).unwrap(),
        server.local_addr().unwrap()
    );
    let error = link("http://no-such-host.invalid/")
        .origin
        .address(None, &guard);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("`no-such-host.invalid` was not found")
    );
}

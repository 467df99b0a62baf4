// SPDX-License-Identifier: Apache-2.0
//! Tests the audit of a site on local servers, with a good and a bad case for each rule, and with
//! malicious servers.

use crate::closed_port::closed_port;
use base64::prelude::{BASE64_STANDARD as BASE64, Engine};
use lab_audit::cookies::input::Collector;
use lab_audit::site::client::{Client, Method};
use lab_audit::site::{self, SiteOptions, Url};
use lab_audit::{AuditObject, Value, judge, rule};
use lab_host::namespace::Namespace;
use lab_model::audit::{Audit, State};
use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, CString, c_char};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Responses by path. Other paths get 404.
type Pages = HashMap<&'static str, Vec<u8>>;

/// The request lines that a server received.
type RequestLog = Arc<Mutex<Vec<String>>>;

/// Serves pages until the process exits, and returns the port.
fn serve(pages: Pages) -> u16 {
    serve_at("127.0.0.1:0", pages).0
}

/// Serves pages at an address, and returns the port and a log of requests.
fn serve_at(address: &str, pages: Pages) -> (u16, RequestLog) {
    let listener = TcpListener::bind(address).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (pages, requests) = (Arc::new(pages), RequestLog::default());
    let log = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (pages, log) = (pages.clone(), log.clone());
            thread::spawn(move || respond(stream, &pages, &log));
        }
    });
    (port, requests)
}

fn respond(mut stream: std::net::TcpStream, pages: &Pages, requests: &RequestLog) {
    let mut request = Vec::new();
    let mut room = [0; 4096];
    while !request.windows(4).any(|w| w == b"\r\n\r\n") {
        match stream.read(&mut room) {
            Ok(n @ 1..) => request.extend_from_slice(&room[..n]),
            _ => return,
        }
    }
    let request = String::from_utf8_lossy(&request).to_lowercase();
    let line = request.lines().next().unwrap_or_default();
    requests.lock().expect("a log").push(line.to_owned());
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let missing = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n\r\nnone".to_vec();
    let response = pages.get(path).unwrap_or(&missing);
    let again =
        request.contains("if-none-match") && !response.windows(9).any(|w| w == b"x-again: ");
    if again {
        let _ = stream.write_all(b"HTTP/1.1 304 Not Modified\r\n\r\n");
    } else if method == "head" {
        let end = response
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .map_or(response.len(), |at| at + 4);
        let head = &response[..end];
        let other = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n";
        let refuses = head.windows(8).any(|w| w == b"x-head: ");
        let _ = stream.write_all(if refuses { other } else { head });
    } else if response.ends_with(b"ENDLESS") {
        let _ = stream.write_all(&response[..response.len() - 7]);
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    } else {
        let _ = stream.write_all(response);
    }
}

fn page(fields: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn page_of_bytes(fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(text, flate2::Compression::default());
    encoder.read_to_end(&mut packed).expect("memory");
    packed
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

/// A style sheet that ends after 3 of 500 bytes.
fn cut_short() -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{CSS}Content-Length: 500\r\n\r\na{{}}").into_bytes()
}

const WELL: &str = "Server: s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\n\
                    X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-cache\r\nETag: \"1\"\r\n\
                    Permissions-Policy: camera=()\r\nCross-Origin-Opener-Policy: same-origin\r\n";
const CSS: &str =
    "Content-Type: text/css; charset=utf-8\r\nCache-Control: max-age=31536000\r\nETag: \"2\"\r\n";
const PACKED: &str = "Content-Type: text/javascript; charset=utf-8\r\nCache-Control: max-age=31536000\r\nETag: \"3\"\r\n\
                      Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n";
const HTML: &str = "<link rel=stylesheet href=/s.12345678.css><script src=/j.12345678.js></script>";

fn good() -> Pages {
    Pages::from([
        ("/", page(WELL, HTML)),
        ("/s.12345678.css", page(CSS, "a{}")),
        ("/j.12345678.js", page_of_bytes(PACKED, &gzip(b"packed"))),
    ])
}

fn inspect_pages(pages: Pages, ajp_port: u16) -> Result<Audit, String> {
    inspect_url(&format!("http://127.0.0.1:{}/", serve(pages)), ajp_port)
}

const OPTIONS: SiteOptions = SiteOptions {
    rate: 1000.0,
    resources: 50,
    ajp_port: 0,
};

fn inspect_url(url: &str, ajp_port: u16) -> Result<Audit, String> {
    let url = Url::parse(url).expect("a URL");
    let options = SiteOptions {
        ajp_port,
        ..OPTIONS
    };
    let site = site::inspect(&url, &options, &mut |_| {})?;
    Ok(site::audit(&url, &site, &site::rules().expect("rules")))
}

fn audit(pages: Pages) -> Audit {
    inspect_pages(pages, closed_port()).expect("an audit")
}

fn states(audit: &Audit, rule: &str) -> Vec<State> {
    audit
        .findings
        .iter()
        .filter(|f| f.rule == rule)
        .map(|f| f.state)
        .collect()
}

/// Returns the rules with bad findings.
fn bad(audit: &Audit) -> Vec<&str> {
    let bad = audit.findings.iter().filter(|f| f.state == State::Bad);
    bad.map(|f| f.rule.as_str()).collect()
}

/// Rules about TLS, names and ports, which are tested below and on real servers (tests/audit).
const ELSEWHERE: [&str; 10] = [
    "server-old-tls",
    "server-https",
    "server-tls13",
    "server-certificate",
    "server-certificate-left",
    "server-http2",
    "server-hsts",
    "server-ipv4",
    "server-ipv6",
    "server-ajp",
];

#[test]
fn a_good_site_is_good_and_each_rule_detects_its_problem() {
    let well = audit(good());
    let wrong: Vec<_> = well
        .findings
        .iter()
        .filter(|f| matches!(f.state, State::Bad | State::Advice))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let rules = rule::built_in("site", &site::CLASSES).expect("rules");
    for rule in rules.iter().filter(|r| !ELSEWHERE.contains(&r.id.as_str())) {
        let states = states(&well, &rule.id);
        assert!(states.contains(&State::Good), "{}: {states:?}", rule.id);
    }
    let text = "word ".repeat(1000);
    let css = |fields: &str, body: &str| ("/s.12345678.css", page(fields, body));
    let home = |fields: &str| ("/", page(fields, HTML));
    type StateCase<'a> = (&'a str, State, (&'static str, Vec<u8>));
    let cases: Vec<StateCase> = vec![
        ("resource-compression", State::Bad, css(CSS, &text)),
        (
            "resource-vary",
            State::Bad,
            css(&format!("{CSS}Content-Encoding: br\r\n"), "packed"),
        ),
        (
            "resource-cache",
            State::Advice,
            css("Content-Type: text/css; charset=utf-8\r\n", "a{}"),
        ),
        (
            "resource-cache",
            State::Advice,
            home(&WELL.replace("Cache-Control: no-cache\r\n", "")),
        ),
        (
            "resource-versioned",
            State::Bad,
            css(&CSS.replace("31536000", "60"), "a{}"),
        ),
        (
            "resource-revalidation",
            State::Bad,
            css(&format!("{CSS}x-again: 200\r\n"), "a{}"),
        ),
        (
            "resource-revalidation",
            State::Advice,
            css(
                "Content-Type: text/css; charset=utf-8\r\nCache-Control: max-age=31536000\r\n",
                "a{}",
            ),
        ),
        ("resource-type", State::Bad, css("ETag: \"2\"\r\n", "a{}")),
        (
            "resource-charset",
            State::Advice,
            css(&CSS.replace("; charset=utf-8", ""), "a{}"),
        ),
        (
            "resource-there",
            State::Bad,
            ("/", page(WELL, "<img src=/nowhere.png>")),
        ),
        (
            "resource-there",
            State::Advice,
            ("/s.12345678.css", redirect("/j.12345678.js")),
        ),
        (
            "resource-complete",
            State::Bad,
            ("/s.12345678.css", cut_short()),
        ),
        (
            "resource-readable",
            State::Bad,
            css(&format!("{CSS}X-Evil: \x1b[31m\r\n"), "a{}"),
        ),
        (
            "resource-readable",
            State::Advice,
            css(&format!("{CSS}X-Long: a;\r\n  b\r\n"), "a{}"),
        ),
        (
            "server-elsewhere",
            State::Advice,
            ("/", redirect("http://127.0.0.2:1/")),
        ),
        (
            "resource-cookies",
            State::Bad,
            css(&format!("{CSS}Set-Cookie: a=1\r\n"), "a{}"),
        ),
        (
            "server-version",
            State::Advice,
            home(&WELL.replace("Server: s", "Server: Apache/2.4.62 (Debian)")),
        ),
        (
            "server-made-with",
            State::Bad,
            home(&format!("{WELL}X-Powered-By: PHP/8.2\r\n")),
        ),
        (
            "server-exposed",
            State::Bad,
            ("/.git/config", page("", "[core]\n\tbare = false\n")),
        ),
        (
            "server-exposed",
            State::Bad,
            (
                "/web-inf/web.xml",
                page("Content-Type: application/xml\r\n", "<web-app/>"),
            ),
        ),
        (
            "server-csp",
            State::Advice,
            home(&WELL.replace("Content-Security-Policy", "X-Old-Policy")),
        ),
        (
            "server-csp",
            State::Advice,
            home(&WELL.replace("default-src 'self'", "script-src 'unsafe-inline'")),
        ),
        (
            "server-permissions",
            State::Advice,
            home(&WELL.replace("Permissions-Policy", "X-Permissions")),
        ),
        (
            "server-isolated",
            State::Advice,
            home(&WELL.replace("Cross-Origin-Opener-Policy", "X-Opener")),
        ),
        (
            "server-integrity",
            State::Advice,
            (
                "/",
                page(WELL, "<script src=https://other.invalid/x.js></script>"),
            ),
        ),
        (
            "server-framed",
            State::Advice,
            home(&WELL.replace("; frame-ancestors 'none'", "")),
        ),
        (
            "server-nosniff",
            State::Advice,
            home(&WELL.replace("nosniff", "sniff")),
        ),
        (
            "server-referrer",
            State::Advice,
            home(&WELL.replace("Referrer-Policy", "X-Referrer")),
        ),
        ("server-redirects", State::Bad, ("/", redirect("/"))),
        (
            "server-head",
            State::Bad,
            home(&format!("{WELL}x-head: no\r\n")),
        ),
        (
            "server-complete",
            State::Bad,
            (
                "/",
                format!("HTTP/1.1 200 OK\r\n{WELL}Content-Length: 99\r\n\r\n{HTML}").into_bytes(),
            ),
        ),
    ];
    let mut tested: BTreeSet<(&str, State)> = BTreeSet::new();
    for (rule, state, (path, response)) in cases {
        let mut pages = good();
        pages.insert(path, response);
        let report = audit(pages);
        assert!(
            states(&report, rule).contains(&state),
            "{rule}: {:?}",
            states(&report, rule)
        );
        tested.insert((rule, state));
    }
    tested.extend(TWO_REDIRECTS);
    for rule in rules.iter().filter(|r| !ELSEWHERE.contains(&r.id.as_str())) {
        for case in &rule.cases {
            let tested = tested.contains(&(rule.id.as_str(), case.state));
            assert!(tested, "{} {:?}", rule.id, case.state);
        }
    }
}

/// The states that `redirects_are_counted_and_end` expects.
const TWO_REDIRECTS: [(&str, State); 1] = [("server-redirects", State::Advice)];

#[test]
fn redirects_are_counted_and_end() {
    let mut pages = good();
    pages.insert("/", redirect("/a"));
    pages.insert("/a", redirect("/b"));
    pages.insert("/b", page(WELL, HTML));
    let two = audit(pages);
    assert_eq!(states(&two, "server-redirects"), [State::Advice]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for (n, mut stream) in listener.incoming().flatten().enumerate() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&redirect(&format!("/{n}")));
        }
    });
    let url = format!("http://127.0.0.1:{port}/");
    let endless = inspect_url(&url, closed_port()).expect("an audit");
    assert_eq!(bad(&endless), ["server-redirects"]);
    let nothing = audit(Pages::from([("/", redirect("javascript:alert(1)"))]));
    assert_eq!(bad(&nothing), ["resource-there"]);
    let circle = audit(Pages::from([("/", redirect("/"))]));
    assert_eq!(bad(&circle), ["server-redirects"]);
}

/// Returns the text of a rule's first finding in a state.
fn seen(audit: &Audit, rule: &str, state: State) -> String {
    let mut findings = audit.findings.iter();
    let finding = findings.find(|f| f.rule == rule && f.state == state);
    finding.map_or(String::new(), |f| f.seen.clone())
}

#[test]
fn a_file_that_ends_early_is_incomplete() {
    let mut pages = good();
    pages.insert("/s.12345678.css", cut_short());
    let report = audit(pages);
    let text = seen(&report, "resource-complete", State::Bad);
    assert!(
        text.contains("ended after 3 of 500 bytes: the connection was closed"),
        "{text}"
    );
    assert_eq!(bad(&report), ["resource-complete"]);
}

/// The finding about a missing file explains the response's status.
#[test]
fn a_status_without_a_file_is_explained() {
    let empty = "Content-Length: 0\r\n\r\n";
    for (head, state, text) in [
        (
            "302 Found\r\n",
            State::Bad,
            "without a Location that browsers can follow",
        ),
        (
            "302 Found\r\nLocation: http://[bad\r\n",
            State::Bad,
            "without a Location",
        ),
        (
            "301 Moved\r\nLocation: /s.12345678.css#top\r\n",
            State::Bad,
            "to its own URL",
        ),
        (
            "304 Not Modified\r\n",
            State::Bad,
            "the request has no condition",
        ),
        ("404 Not Found\r\n", State::Bad, "is 404."),
        ("403 Forbidden\r\n", State::Advice, "the server refused"),
        ("500 Error\r\n", State::Bad, "the server failed"),
    ] {
        let mut pages = good();
        let response = format!("HTTP/1.1 {head}{empty}").into_bytes();
        pages.insert("/s.12345678.css", response);
        let shown = seen(&audit(pages), "resource-there", state);
        assert!(shown.contains(text), "{head}: {shown}");
    }
}

/// The audit reads 4 MiB of a file; the rest is known from its Content-Length.
#[test]
fn the_size_of_a_long_file_is_its_declared_size() {
    let head = format!("HTTP/1.1 200 OK\r\n{CSS}Content-Length: 5000000\r\n\r\n");
    let mut pages = good();
    pages.insert(
        "/s.12345678.css",
        [head.as_bytes(), &[b'x'; 5_000_000]].concat(),
    );
    let report = audit(pages);
    let text = seen(&report, "resource-compression", State::Bad);
    // 5,000,000 / 1,048,576
    assert!(
        text.ends_with("was sent uncompressed, with 4.77 MiB."),
        "{text}"
    );
    assert!(!states(&report, "resource-complete").contains(&State::Bad));
}

/// Tests the rules that need a host name, a default port or a certificate on artificial values.
#[test]
fn rules_about_tls_and_names_have_a_good_case_and_another_case() {
    use State::{Advice, Bad, Good};
    let (yes, no) = (Value::Flag(true), Value::Flag(false));
    let days = |days: f64| Value::ns(days * 86_400e9);
    let word = |text: &str| Value::word(text);
    let fine = "no problem";
    let reached_is =
        |reached: &Value| vec![("ipv6_address", yes.clone()), ("ipv6", reached.clone())];
    let v4 = |reached: &Value| vec![("ipv4_address", yes.clone()), ("ipv4", reached.clone())];
    let one = |name: &'static str, value: &Value| vec![(name, value.clone())];
    type StateCase<'a> = (&'a str, Vec<(&'static str, Value)>, State);
    let cases: Vec<StateCase> = vec![
        ("server-old-tls", one("old_tls", &word("none")), Good),
        ("server-old-tls", one("old_tls", &word("1.0, 1.1")), Bad),
        ("server-https", one("to_https", &yes), Good),
        ("server-https", one("to_https", &no), Bad),
        ("server-tls13", one("tls13", &yes), Good),
        ("server-tls13", one("tls13", &no), Bad),
        ("server-certificate", one("certificate", &word(fine)), Good),
        (
            "server-certificate",
            one("certificate", &word("it ended")),
            Bad,
        ),
        (
            "server-certificate-left",
            one("certificate_left", &days(60.0)),
            Good,
        ),
        (
            "server-certificate-left",
            one("certificate_left", &days(14.0)),
            Advice,
        ),
        (
            "server-certificate-left",
            one("certificate_left", &days(-1.0)),
            Bad,
        ),
        ("server-http2", one("http2", &yes), Good),
        ("server-http2", one("http2", &no), Advice),
        ("server-hsts", one("hsts", &days(365.0)), Good),
        ("server-hsts", one("hsts", &days(0.0)), Advice),
        ("server-ipv4", v4(&yes), Good),
        ("server-ipv4", v4(&no), Bad),
        ("server-ipv4", one("ipv4_address", &no), Advice),
        ("server-ipv6", reached_is(&yes), Good),
        ("server-ipv6", reached_is(&no), Bad),
        ("server-ipv6", one("ipv6_address", &no), Advice),
        ("server-ajp", one("ajp", &no), Good),
        ("server-ajp", one("ajp", &yes), Bad),
    ];
    let rules = site::rules().expect("rules");
    for (rule, values, expected) in &cases {
        let mut object = AuditObject::new("server", "a.example");
        values
            .iter()
            .for_each(|(name, value)| object.set(name, value.clone()));
        let findings = judge(&rules, &[object], &site::CLASSES);
        let finding = findings
            .iter()
            .find(|f| f.rule == *rule)
            .expect("a finding");
        assert_eq!(finding.state, *expected, "{rule}");
    }
    for rule in rules.iter().filter(|r| ELSEWHERE.contains(&r.id.as_str())) {
        for state in rule.cases.iter().map(|case| case.state).chain([Good]) {
            let tested = cases.iter().any(|(id, _, s)| *id == rule.id && *s == state);
            assert!(tested, "{} {state:?}", rule.id);
        }
    }
}

/// In the test's own network namespace the default ports are free, so the page is served over plain
/// HTTP and never over TLS.
#[test]
fn plain_http_that_leads_nowhere_is_bad() {
    let space = match Namespace::new() {
        Ok(space) => space,
        Err(reason) => return crate::print_skipped(&reason),
    };
    let result = space.run_inside(|| {
        let _server = serve_at("127.0.0.1:80", good());
        inspect_url("http://127.0.0.1/", closed_port())
    });
    let report = result.expect("a namespace").expect("an audit");
    assert_eq!(states(&report, "server-https"), [State::Bad]);
}

/// Runs a closure in a network namespace in which `a.example` has the given addresses.
fn with_hosts<T: Send>(addresses: [&str; 2], work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let mut hosts = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
    for address in addresses {
        writeln!(hosts, "{address} a.example").map_err(|e| e.to_string())?;
    }
    Namespace::new()?.run_inside(|| {
        bind_mount(hosts.path(), c"/etc/hosts")?;
        Ok(work())
    })?
}

/// Mounts a file at another path, for this thread only.
fn bind_mount(file: &Path, path: &CStr) -> Result<(), String> {
    let file = CString::new(file.as_os_str().as_bytes()).expect("a path");
    let mount = |source: *const c_char, path: &CStr, flags: libc::c_ulong| {
        // SAFETY: all pointers are strings that end with NUL, or null where the kernel ignores them (mount(2)).
        unsafe { libc::mount(source, path.as_ptr(), ptr::null(), flags, ptr::null()) }
    };
    // SAFETY: the call changes only this thread's view.
    let is_unshared = unsafe { libc::unshare(libc::CLONE_FS | libc::CLONE_NEWNS) } == 0
        && mount(ptr::null(), c"/", libc::MS_REC | libc::MS_PRIVATE) == 0
        && mount(file.as_ptr(), path, libc::MS_BIND) == 0;
    is_unshared
        .then_some(())
        .ok_or_else(|| format!("a mount takes root: {}", std::io::Error::last_os_error()))
}

/// If one of two families is unreachable, the audit reports that, and its later requests try the
/// other family first.
#[test]
fn an_unreachable_family_is_bad_and_is_tried_last() {
    for (alive, other, expected) in [
        ("127.0.0.1", "::1", [State::Good, State::Bad]),
        ("::1", "127.0.0.1", [State::Bad, State::Good]),
    ] {
        let result = with_hosts([alive, other], || {
            let address = SocketAddr::new(alive.parse().expect("an address"), 0);
            let (port, requests) = serve_at(&address.to_string(), good());
            let url = Url::parse(&format!("http://a.example:{port}/")).expect("a URL");
            let mut client = Client::new(vec!["a.example".into()], 1000.0).expect("a client");
            client.request(Method::Get, &url, "").expect("an answer");
            let first = client.addresses(&url).expect("addresses")[0];
            let audit = inspect_url(url.as_str(), closed_port()).expect("an audit");
            assert!(!requests.lock().expect("a log").is_empty());
            (first.ip().to_string(), audit)
        });
        let (first, audit) = match result {
            Ok(result) => result,
            Err(reason) => return crate::print_skipped(&reason),
        };
        assert_eq!(first, alive);
        let families = ["server-ipv4", "server-ipv6"].map(|rule| states(&audit, rule)[0]);
        assert_eq!(families, expected);
    }
}

/// The server closes its port after sending the page. The address family over which the page was
/// loaded still counts as reachable.
#[test]
fn the_family_of_the_page_is_reached() {
    let result = with_hosts(["127.0.0.1", "::1"], || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            drop(listener);
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&page(WELL, "alone"));
        });
        inspect_url(&format!("http://a.example:{port}/"), closed_port()).expect("an audit")
    });
    match result {
        Ok(audit) => {
            let families = ["server-ipv4", "server-ipv6"].map(|rule| states(&audit, rule)[0]);
            assert_eq!(families, [State::Good, State::Bad]);
        }
        Err(reason) => crate::print_skipped(&reason),
    }
}

/// A site audit judges cookies like `audit cookies`.
#[test]
fn a_site_s_cookies_are_audited_too() {
    let mut pages = good();
    pages.insert(
        "/",
        page(&format!("{WELL}Set-Cookie: sid=77; Path=/\r\n"), HTML),
    );
    let report = audit(pages);
    for (rule, state) in [
        ("cookie-secure", State::Bad),
        ("cookie-http-only", State::Bad),
        ("cookie-same-site", State::Advice),
        ("cookie-static", State::Advice),
        ("cookie-wide", State::Good),
    ] {
        assert_eq!(states(&report, rule), [state], "{rule}");
    }
    let titles: Vec<&str> = report.tables.iter().map(|t| t.title.as_str()).collect();
    assert!(titles.contains(&"Cookie bytes in a request, by owner") && titles.contains(&"Cookies"));
    // A cookie that a redirect sets counts, too.
    let mut pages = good();
    pages.insert("/home", page(WELL, HTML));
    let to = "HTTP/1.1 302 Found\r\nLocation: /home\r\nSet-Cookie: sid=1; Path=/\r\nContent-Length: 0\r\n\r\n";
    pages.insert("/", to.into());
    assert_eq!(states(&audit(pages), "cookie-secure"), [State::Bad]);
    let none = audit(good());
    assert_eq!(states(&none, "cookie-secure"), [State::NotApplicable]);
    assert!(none.tables.iter().all(|table| table.title != "Cookies"));
}

/// An audit changes no data, and sends no requests to hosts that the user did not name.
#[test]
fn an_audit_only_reads_and_only_contacts_the_named_host() {
    let (other, asked_of_other) = serve_at("127.0.0.2:0", good());
    let html = format!(
        "<form method=post action=/buy></form><script src=/j.12345678.js></script>\
         <img src=http://127.0.0.2:{other}/i.png><script src=//other.invalid/x.js></script>"
    );
    let mut pages = good();
    pages.insert("/", page(WELL, &html));
    let (port, requests) = serve_at("127.0.0.1:0", pages);
    let report =
        inspect_url(&format!("http://127.0.0.1:{port}/"), closed_port()).expect("an audit");
    let others = report
        .tables
        .iter()
        .find(|t| t.title == "On other hosts, not contacted");
    assert_eq!(others.expect("a table").rows.len(), 2);
    let requests = requests.lock().expect("a log");
    let reads = |line: &String| line.starts_with("get ") || line.starts_with("head ");
    assert!(
        requests.len() > 10 && requests.iter().all(reads),
        "{requests:?}"
    );
    assert!(
        requests.iter().all(|line| !line.contains("/buy")),
        "{requests:?}"
    );
    assert!(asked_of_other.lock().expect("a log").is_empty());
}

/// At four requests per second, the fourth request starts 0.75 s after the first, even if all
/// responses are fast.
#[test]
fn requests_are_at_least_as_far_apart_as_the_rate_says() {
    let (port, requests) = serve_at("127.0.0.1:0", good());
    let mut client = Client::new(vec!["127.0.0.1".into()], 4.0).expect("a client");
    let url = Url::parse(&format!("http://127.0.0.1:{port}/")).expect("a URL");
    let began = Instant::now();
    for _ in 0..4 {
        client.request(Method::Get, &url, "").expect("an answer");
    }
    assert!(began.elapsed() >= Duration::from_millis(750));
    assert_eq!(requests.lock().expect("a log").len(), 4);
}

#[test]
fn an_open_ajp_port_is_found_by_its_response() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut ping = [0; 5];
        stream.read_exact(&mut ping).expect("a ping");
        stream.write_all(&[0x41, 0x42, 0, 1, 9]).expect("a pong");
    });
    assert_eq!(
        states(
            &inspect_pages(good(), port).expect("an audit"),
            "server-ajp"
        ),
        [State::Bad]
    );
    // Another server on that port is not AJP.
    assert_eq!(
        states(
            &inspect_pages(good(), serve(good())).expect("an audit"),
            "server-ajp"
        ),
        [State::Good]
    );
}

/// Each address of a name is tried, not only the first.
#[test]
fn ajp_is_found_at_each_address_of_a_name() {
    let loopbacks = ["127.0.0.1", "::1"];
    let states = with_hosts(loopbacks, || {
        let (port, _) = serve_at("127.0.0.1:0", good());
        loopbacks.map(|address| {
            let listener = TcpListener::bind((address, 0)).expect("a port");
            let ajp = listener.local_addr().expect("an address").port();
            thread::spawn(move || {
                for mut stream in listener.incoming().flatten() {
                    let _ = stream.read_exact(&mut [0; 5]);
                    let _ = stream.write_all(&[0x41, 0x42, 0, 1, 9]);
                }
            });
            let url = format!("http://a.example:{port}/");
            states(&inspect_url(&url, ajp).expect("an audit"), "server-ajp")
        })
    });
    match states {
        Ok(states) => assert_eq!(states.concat(), [State::Bad; 2]),
        Err(reason) => crate::print_skipped(&reason),
    }
}

/// A panic inside a network namespace makes the test fail, rather than skipping it.
#[test]
fn a_panic_inside_a_namespace_is_propagated() {
    let space = match Namespace::new() {
        Ok(space) => space,
        Err(reason) => return crate::print_skipped(&reason),
    };
    let panics = || -> Result<(), String> { space.run_inside(|| panic!("as wanted")) };
    let panic = std::panic::catch_unwind(panics).expect_err("a panic");
    assert_eq!(panic.downcast_ref(), Some(&"as wanted"));
}

/// An audit of cookies loads the page and each of its files once, and sends no other requests.
#[test]
fn cookies_take_the_page_and_its_files() {
    let mut pages = good();
    pages.insert("/", redirect("/home"));
    let cookie = format!("{WELL}Set-Cookie: sid=77; Path=/\r\n");
    pages.insert("/home", page(&cookie, HTML));
    let (port, requests) = serve_at("127.0.0.1:0", pages);
    let url = Url::parse(&format!("http://127.0.0.1:{port}/")).expect("a URL");
    let site = site::load(&url, &OPTIONS, &mut |_| {}).expect("a site");
    let requests = requests.lock().expect("a log").clone();
    let paths = ["/", "/home", "/s.12345678.css", "/j.12345678.js"];
    assert_eq!(requests, paths.map(|path| format!("get {path} http/1.1")));
    let mut collector = Collector::new().expect("random numbers");
    site::cookies(&site, &mut collector);
    let observation = collector.done();
    assert_eq!(
        (observation.cookies.len(), observation.requests.len()),
        (1, 3)
    );
    // If there is no cookie or no page, the audit reports that.
    let none = audit(good());
    assert_eq!(states(&none, "input-read"), [State::NotApplicable]);
    let port = serve(only(&redirect("http://www.other.invalid/")));
    let url = Url::parse(&format!("http://127.0.0.1:{port}/")).expect("a URL");
    let mut collector = Collector::new().expect("random numbers");
    let site = site::load(&url, &OPTIONS, &mut |_| {}).expect("a site");
    site::cookies(&site, &mut collector);
    let gaps = collector.done().gaps.join(" ");
    assert!(
        gaps.contains("benchlab audit cookies http://www.other.invalid/"),
        "{gaps}"
    );
}

#[test]
fn skipped_files_are_counted() {
    let images: String = (0..10_000).map(|i| format!("<img src={i}.png>")).collect();
    let report = audit(only(&page(WELL, &images)));
    let notes: Vec<&str> = report.facts.iter().map(|(_, text)| text.as_str()).collect();
    let expected = "9950 resources beyond the limit of --resources: not requested.";
    assert!(notes.contains(&expected), "{notes:?}");
}

/// Queries are not stored, because they may contain the user's session.
#[test]
fn query_values_are_not_stored() {
    let secret = "s3cr3t";
    let html = format!(
        "<img src=/i.png?token={secret}><script src=//other.invalid/x.js?{secret}></script>"
    );
    let mut pages = good();
    pages.insert("/?token=s3cr3t", redirect("/home?sid=s3cr3t#s3cr3t"));
    pages.insert("/home?sid=s3cr3t", page(WELL, &html));
    let port = serve(pages);
    let url = format!("http://me:{secret}@127.0.0.1:{port}/?token={secret}");
    let report = inspect_url(&url, closed_port()).expect("an audit");
    let json = serde_json::to_string(&report).expect("JSON");
    assert!(
        json.contains("/i.png?token=…") && !json.contains(secret),
        "{json}"
    );
    let entry = |url: &str| {
        format!(
            r#"{{"request":{{"url":"{url}?t={secret}"}},"response":{{"status":200,"headers":[]}}}}"#
        )
    };
    let entries = ["http://a.example/", "http://b.example/i.png"].map(entry);
    let har = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
    let (url, site) = site::of_har(&har).expect("a site");
    let report = site::audit(&url, &site, &site::rules().expect("rules"));
    let json = serde_json::to_string(&report).expect("JSON");
    assert!(
        json.contains("/i.png?t=…") && !json.contains(secret),
        "{json}"
    );
}

/// HTML can only add restrictions to a policy. If the HTML cannot be read, only "restricts scripts"
/// is certain.
#[test]
fn a_policy_is_unknown_where_the_page_could_restrict_scripts() {
    let cases = [
        ("script-src 'self'", State::Good),
        ("script-src 'unsafe-inline'", State::Unknown),
        ("frame-ancestors 'none'", State::Unknown),
    ];
    for (policy, expected) in cases {
        let fields = format!(
            "Content-Type: text/html\r\nContent-Encoding: compress\r\nContent-Security-Policy: {policy}\r\n"
        );
        let report = audit(only(&page(&fields, HTML)));
        assert_eq!(states(&report, "server-csp"), [expected], "{policy}");
    }
}

/// A page in any requested encoding is decoded. A page in another encoding is unknown. A HAR
/// contains decoded pages.
#[test]
fn an_encoded_page_is_read() {
    const HTML: &[u8] =
        b"<link rel=stylesheet href=/s.12345678.css><script src=//b.invalid/j.js></script>";
    const BROTLI: &str =
        "G08A4EV1Q+na7HAMOAGKCUxhAw7YQw0k44F08JDF8AfB6OojMYKf76JgHtn6mLjSLmxFHryPaLBQumgF";
    let brotli = BASE64.decode(BROTLI).expect("base64");
    let zstd = zstd::encode_all(HTML, 3).expect("zstd");
    let mut wide = zstd::Encoder::new(Vec::new(), 3).expect("zstd");
    wide.window_log(24).expect("a window of 16 MiB");
    wide.write_all(HTML).expect("zstd");
    let wide = wide.finish().expect("zstd");
    for (encoding, body, expected) in [
        ("br", &brotli[..], State::Advice),
        ("zstd", &zstd, State::Advice),
        ("zstd", &wide, State::Unknown),
        ("GZIP", b"no gzip", State::Unknown),
        ("br", b"\xffno brotli", State::Unknown),
        ("compress", HTML, State::Unknown),
    ] {
        let fields = WELL.replace("Server: s", &format!("Content-Encoding: {encoding}"));
        let mut response = page(&fields, &"x".repeat(body.len()));
        response.truncate(response.len() - body.len());
        response.extend_from_slice(body);
        let mut pages = good();
        pages.insert("/", response);
        let report = audit(pages);
        assert_eq!(
            states(&report, "server-integrity"),
            [expected],
            "{encoding}"
        );
        let notes = format!("{:?}", report.facts);
        assert_eq!(
            expected == State::Unknown,
            notes.contains("The files that the page loads are unknown"),
            "{notes}"
        );
    }
    let text = String::from_utf8_lossy(HTML).replace('"', "'");
    let headers =
        r#"[{"name":"Content-Type","value":"text/html"},{"name":"Content-Encoding","value":"br"}]"#;
    let har = format!(
        r#"{{"log":{{"entries":[{{"request":{{"url":"http://a.example/"}},"response":{{"status":200,"headers":{headers},"content":{{"text":"{text}"}}}}}}]}}}}"#
    );
    let (url, site) = site::of_har(&har).expect("a site");
    let report = site::audit(&url, &site, &site::rules().expect("rules"));
    assert_eq!(states(&report, "server-integrity"), [State::Advice]);
}

/// Only registered content codings compress a body (RFC 9110, 8.4.1).
#[test]
fn words_that_are_no_coding_do_not_compress() {
    let text = "a{color:red}\n".repeat(500);
    let report_of = |encoding: &str, media: &str, body: &[u8]| {
        let fields = format!(
            "Content-Type: {media}\r\nCache-Control: max-age=31536000\r\nContent-Encoding: {encoding}\r\n"
        );
        let mut pages = good();
        pages.insert("/s.12345678.css", page_of_bytes(&fields, body));
        audit(pages)
    };
    for encoding in ["identity", "none", "utf-8", "", "aws-chunked", "7bit"] {
        let report = report_of(encoding, "text/css", text.as_bytes());
        assert!(
            states(&report, "resource-compression").contains(&State::Bad),
            "{encoding}"
        );
        assert!(
            !states(&report, "resource-vary").contains(&State::Bad),
            "{encoding}"
        );
    }
    let twice = gzip(&gzip(text.as_bytes()));
    for (encoding, body) in [
        ("gzip", gzip(text.as_bytes())),
        ("X-GZIP", gzip(text.as_bytes())),
        ("gzip, gzip", twice),
        ("gzip, identity", gzip(text.as_bytes())),
        ("zstd", zstd::encode_all(text.as_bytes(), 3).expect("zstd")),
    ] {
        let report = report_of(encoding, "text/css", &body);
        let bad = bad(&report);
        assert_eq!(bad, ["resource-vary"], "{encoding}");
    }
    // Bodies that do not have the format of their coding.
    let cut = &gzip(text.as_bytes())[..30];
    for (encoding, body) in [
        ("gzip", text.as_bytes()),
        ("zstd", text.as_bytes()),
        ("gzip", cut),
    ] {
        let report = report_of(encoding, "text/css", body);
        assert!(bad(&report).contains(&"resource-readable"), "{encoding}");
    }
    for media in [
        "application/x-javascript",
        "application/rss+xml",
        "application/problem+json",
        "TEXT/CSS",
    ] {
        let report = report_of("", media, text.as_bytes());
        assert!(bad(&report).contains(&"resource-compression"), "{media}");
    }
}

/// A header field is judged by what browsers make of its values.
#[test]
fn security_fields_are_judged_by_their_values() {
    let report_of = |from: &str, to: &str| audit(only(&page(&WELL.replace(from, to), HTML)));
    let csp = "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'";
    for (rule, from, to, expected) in [
        (
            "server-isolated",
            "same-origin",
            "unsafe-none",
            State::Advice,
        ),
        (
            "server-isolated",
            "same-origin",
            "same-origin-allow-popups",
            State::Good,
        ),
        (
            "server-referrer",
            "no-referrer",
            "unsafe-url",
            State::Advice,
        ),
        (
            "server-referrer",
            "no-referrer",
            "x, strict-origin",
            State::Good,
        ),
        (
            "server-framed",
            csp,
            "X-Frame-Options: ALLOWALL",
            State::Advice,
        ),
        (
            "server-framed",
            csp,
            "X-Frame-Options: sameorigin",
            State::Good,
        ),
        (
            "server-framed",
            csp,
            "Content-Security-Policy: default-src 'self'\r\nContent-Security-Policy: frame-ancestors 'none'",
            State::Good,
        ),
        (
            "server-framed",
            csp,
            "Content-Security-Policy: default-src 'self', frame-ancestors 'none'",
            State::Good,
        ),
        (
            "server-csp",
            csp,
            "Content-Security-Policy: frame-ancestors 'none', script-src 'self'",
            State::Good,
        ),
        (
            "server-csp",
            csp,
            "Content-Security-Policy: default-src 'self'; script-src-elem 'self' 'unsafe-inline'",
            State::Advice,
        ),
        ("server-nosniff", "nosniff", "nosniff, nosniff", State::Good),
        ("server-nosniff", "nosniff", "sniff, nosniff", State::Advice),
        ("server-permissions", "camera=()", "camera=*", State::Advice),
    ] {
        assert_eq!(
            states(&report_of(from, to), rule),
            [expected],
            "{rule} {to}"
        );
    }
}

/// The byte order mark or the media type determines the encoding of a page.
#[test]
fn a_page_in_utf_16_or_with_a_type_in_capitals_is_read() {
    const HTML: &str = "<script src=\"https://b.invalid/j.js\"></script>";
    let utf16 = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("{mark}{HTML}")
            .encode_utf16()
            .flat_map(bytes)
            .collect()
    };
    for (media, body) in [
        (
            "text/html; charset=utf-16",
            utf16("\u{feff}", u16::to_le_bytes),
        ),
        ("text/html", utf16("\u{feff}", u16::to_be_bytes)),
        (
            "text/html; charset=\"UTF-16BE\"",
            utf16("", u16::to_be_bytes),
        ),
        ("text/html; charset=utf-16le", utf16("", u16::to_le_bytes)),
        ("TEXT/HTML", HTML.into()),
        ("Application/XHTML+XML", HTML.into()),
    ] {
        let fields = WELL.replace("text/html; charset=utf-8", media);
        let report = audit(only(&page_of_bytes(&fields, &body)));
        assert_eq!(
            states(&report, "server-integrity"),
            [State::Advice],
            "{media}"
        );
    }
}

/// A recipient adds the time of receipt to a response without Date (RFC 9110, 6.6.1).
#[test]
fn expires_without_a_date_is_a_lifetime() {
    let mut pages = good();
    let fields =
        "Content-Type: text/css; charset=utf-8\r\nExpires: Thu, 31 Dec 2099 23:55:55 GMT\r\n";
    pages.insert("/s.12345678.css", page(fields, "a{}"));
    let report = audit(pages);
    assert!(!states(&report, "resource-cache").contains(&State::Advice));
}

#[test]
fn a_soft_404_exposes_nothing() {
    let mut pages = good();
    for path in ["/.git/config", "/.env", "/backup.zip", "/web-inf/web.xml"] {
        pages.insert(
            path,
            page("Content-Type: text/html\r\n", "<h1>Sorry = not found</h1>"),
        );
    }
    assert_eq!(states(&audit(pages), "server-exposed"), [State::Good]);
}

/// The content of an exposed file is in the decoded body.
#[test]
fn exposed_files_are_recognized_in_compressed_responses() {
    let html = "Content-Type: text/html\r\n";
    let packed = |fields: &str, coding: &str, body: &[u8]| {
        page_of_bytes(&format!("{fields}Content-Encoding: {coding}\r\n"), body)
    };
    let exposed = |path: &'static str, response: Vec<u8>| {
        let mut pages = good();
        pages.insert(path, response);
        states(&audit(pages), "server-exposed")
    };
    let status = "<title>Apache Status</title><h1>Apache Server Status for localhost</h1>";
    let zstd = zstd::encode_all(status.as_bytes(), 3).expect("memory");
    let gzipped = packed(html, "gzip", &gzip(status.as_bytes()));
    assert_eq!(exposed("/server-status", gzipped), [State::Bad]);
    let response = packed(html, "zstd", &zstd);
    assert_eq!(exposed("/server-status", response), [State::Bad]);
    // The beginning of a longer body, which the Range of the request cuts off.
    let noise: String = (0..4000_u32).map(|n| format!("{:x} ", n * n)).collect();
    let mut cut = gzip(format!("{status}{noise}").as_bytes());
    cut.truncate(2048);
    let response = packed(html, "gzip", &cut);
    assert_eq!(exposed("/server-status", response), [State::Bad]);
    // A compressed page can contain `=`, here in the time of its header, and no `<`.
    let mut page = gzip(b"<html></html>");
    page[4..8].fill(b'=');
    assert_eq!(exposed("/.env", packed(html, "gzip", &page)), [State::Good]);
    for (coding, body) in [("gzip", &b"KEY=value"[..]), ("compress", b"KEY=value")] {
        let response = packed("Content-Type: text/plain\r\n", coding, body);
        assert_eq!(exposed("/.env", response), [State::Unknown], "{coding}");
    }
}

#[test]
fn missing_responses_are_unknown() {
    let mut pages = good();
    for path in ["/.env", "/s.12345678.css"] {
        pages.insert(path, Vec::new());
    }
    let report = audit(pages);
    assert_eq!(states(&report, "server-exposed"), [State::Unknown]);
    assert!(states(&report, "resource-there").contains(&State::Unknown));
    // A server that asks to wait does not reveal whether it has the file.
    let mut pages = good();
    let wait = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n";
    pages.insert("/.env", wait.to_vec());
    assert_eq!(states(&audit(pages), "server-exposed"), [State::Unknown]);
}

fn only(response: &[u8]) -> Pages {
    Pages::from([("/", response.to_vec())])
}

/// If a response cannot be read, its values are unknown, and the other requests are still sent.
#[test]
fn an_invalid_response_is_a_finding() {
    let many = format!(
        "HTTP/1.1 200 OK\r\n{}\r\n",
        "Set-Cookie: a=1\r\n".repeat(10_000)
    );
    for (response, reason) in [
        (
            "HTTP/1.1 200 OK\r\nX-Evil: \x1b[31mred\r\n\r\n",
            "control character",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "Content-Length",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "is not a number",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno",
            "chunk",
        ),
        (many.as_str(), "64 KiB"),
    ] {
        let report = audit(only(response.as_bytes()));
        assert_eq!(bad(&report), ["resource-readable"], "{response:.60}");
        let unreadable = report
            .findings
            .iter()
            .find(|f| f.rule == "resource-readable");
        assert!(
            unreadable.is_some_and(|f| f.seen.contains(reason)),
            "{unreadable:?}"
        );
        for rule in [
            "server-csp",
            "server-version",
            "server-head",
            "server-complete",
        ] {
            assert_eq!(states(&report, rule), [State::Unknown], "{rule}");
        }
        assert_eq!(states(&report, "server-exposed"), [State::Good]);
        assert_eq!(states(&report, "resource-there"), [State::NotApplicable]);
    }
    // More than a thousand fields are many but can be read.
    let many = format!(
        "HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n",
        "X: y\r\n".repeat(2_000)
    );
    let report = audit(only(many.as_bytes()));
    assert_eq!(states(&report, "resource-readable"), [State::Good]);
}

/// The server's responses begin immediately and never end.
#[test]
fn a_server_that_sends_slowly_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"1\"\r\n\r\n";
                let _ = stream.write_all(head.as_bytes());
                while stream.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(100));
                }
            });
        }
    });
    let began = Instant::now();
    let report =
        inspect_url(&format!("http://127.0.0.1:{port}/"), closed_port()).expect("an audit");
    assert!(
        began.elapsed() < Duration::from_secs(300),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(states(&report, "server-complete"), [State::Bad]);
    assert_eq!(states(&report, "server-exposed"), [State::Unknown]);
    assert!(report.facts.iter().any(|(_, text)| text.contains("slow")));
}

#[test]
fn malicious_servers_cause_error_messages() {
    let refused = |response: &[u8]| {
        inspect_pages(only(response), closed_port())
            .err()
            .unwrap_or_default()
    };
    assert!(refused(b"SSH-2.0-OpenSSH\r\n").contains("not HTTP/1.1"));
    assert!(!refused(b"").is_empty());
    // A page that does not end is examined as far as it was received.
    let began = Instant::now();
    let endless = audit(only(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<img src=/a.png>ENDLESS",
    ));
    assert_eq!(states(&endless, "server-complete"), [State::Bad]);
    assert!(began.elapsed() < Duration::from_secs(300));
    // The report contains no raw bytes from a server: Latin-1, other bytes, control characters in file names.
    let report = audit(only(b"HTTP/1.1 200 OK\r\nServer: \xff\xfe\r\nContent-Type: text/html\r\n\r\n<img src='/\x1b[31m.png'><img src=\"/\xc2\x9b.png\">"));
    let json = serde_json::to_string(&report).expect("JSON");
    assert!(
        !json.contains('\u{1b}') && !json.contains('\u{9b}'),
        "{json}"
    );
}

#[test]
fn a_redirect_to_another_host_is_shown_and_not_followed() {
    let (other, requests) = serve_at("127.0.0.2:0", good());
    let to = format!(
        "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.2:{other}/\r\nContent-Length: 0\r\n\r\n"
    );
    let elsewhere = audit(Pages::from([("/", to.into_bytes())]));
    assert_eq!(bad(&elsewhere), Vec::<&str>::new());
    let finding_of = |rule: &str| elsewhere.findings.iter().find(|f| f.rule == rule);
    let finding = finding_of("server-elsewhere").expect("a finding");
    assert!(
        finding.seen.contains(&format!("http://127.0.0.2:{other}/")),
        "{finding:?}"
    );
    let command = format!("benchlab audit site http://127.0.0.2:{other}/");
    assert_eq!(finding.fixes[0].lines, [command]);
    // Rules about pages do not apply to a redirect.
    for rule in [
        "resource-there",
        "server-csp",
        "server-nosniff",
        "server-complete",
    ] {
        assert_eq!(states(&elsewhere, rule), [State::NotApplicable], "{rule}");
    }
    assert_eq!(states(&elsewhere, "server-exposed"), [State::Good]);
    assert!(requests.lock().expect("a log").is_empty());
}

#[test]
fn a_har_is_audited_without_requests() {
    let har = r#"{"log":{"entries":[
        {"request":{"url":"http://a.example/"},"response":{"status":200,"bodySize":-1,"headers":[{"name":"Content-Type","value":"text/html"},
         {"name":"ETag","value":"1"}],"content":{"size":6000,"text":"TEXT"}}},
        {"request":{"url":"http://b.example/x.js"},"response":{"status":200,"headers":[],"content":{}}},
        {"request":{"url":"http://a.example/blocked"},"response":{"status":0}}, {}, 7]}}"#;
    let (url, site) = site::of_har(&har.replace("TEXT", &"word ".repeat(1200))).expect("a site");
    let report = site::audit(&url, &site, &site::rules().expect("rules"));
    assert_eq!(
        states(&report, "resource-compression"),
        [State::Bad, State::NotApplicable]
    );
    assert_eq!(states(&report, "server-version"), [State::Good]);
    assert_eq!(states(&report, "server-csp"), [State::Advice]);
    assert_eq!(states(&report, "server-exposed"), [State::NotApplicable]);
    assert_eq!(states(&report, "server-http2"), [State::NotApplicable]);
    let blocked = State::NotApplicable;
    assert_eq!(
        states(&report, "resource-revalidation"),
        [State::Unknown, blocked]
    );
    // Two of the HAR's entries are invalid.
    assert_eq!(states(&report, "input-read"), [State::Unknown]);
    let rows = |title: &str| {
        let table = report.tables.iter().find(|t| t.title == title);
        table.expect("a table").rows.len()
    };
    assert_eq!(rows("Resources"), 1);
    assert_eq!(rows("On other hosts, not contacted"), 1);
    for (text, reason) in [
        ("{", "invalid JSON"),
        ("{}", "not a HAR file"),
        (r#"{"log":{"entries":[]}}"#, "no response"),
    ] {
        assert!(
            site::of_har(text).err().is_some_and(|e| e.contains(reason)),
            "{text}"
        );
    }
}

#[test]
fn the_server_of_a_har_is_that_behind_its_redirects() {
    let har = r#"{"log":{"entries":[
        {"request":{"url":"http://a.example/"},"response":{"status":301,"headers":[{"name":"Location","value":"https://a.example/"}],"content":{}}},
        {"request":{"url":"https://a.example/"},"serverIPAddress":"2001:db8::7","response":{"status":200,"httpVersion":"h2","headers":[
         {"name":"Server","value":"Apache/2.4.62"},{"name":"X-Powered-By","value":"PHP/8.2"},{"name":"Content-Type","value":"text/html"}],"content":{}}}]}}"#;
    let audited = |text: &str| {
        let (url, site) = site::of_har(text).expect("a site");
        site::audit(&url, &site, &site::rules().expect("rules"))
    };
    let report = audited(har);
    for (rule, state) in [
        ("server-version", State::Advice),
        ("server-made-with", State::Bad),
        ("server-http2", State::Good),
        ("server-ipv4", State::NotApplicable),
        ("server-ipv6", State::Good),
        ("server-https", State::Good),
        ("server-redirects", State::Good),
        ("server-tls13", State::NotApplicable),
        ("server-head", State::NotApplicable),
    ] {
        assert_eq!(states(&report, rule), [state], "{rule}");
    }
    // The page may be on a different host than the first URL.
    let elsewhere = har.replace("https://a.example/", "https://www.a.example/");
    let report = audited(&elsewhere);
    assert_eq!(states(&report, "server-elsewhere"), [State::Good]);
    assert_eq!(states(&report, "resource-there"), [State::Good]);
    // A file without fields says nothing about the server.
    let bare = audited(
        r#"{"log":{"entries":[{"request":{"url":"http://a.example/"},"response":{"status":200}}]}}"#,
    );
    assert_eq!(states(&bare, "server-csp"), [State::NotApplicable]);
}

/// Starts OpenSSL's TLS server on a free port with the given options, or returns `None` if OpenSSL is not installed.
fn openssl(words: &[&str]) -> Option<(tempfile::TempDir, std::process::Child, u16)> {
    let folder = tempfile::TempDir::new().expect("a folder");
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new("openssl");
        command.args(words).current_dir(folder.path());
        command
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null()).spawn()
    };
    let generator = run(&[
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "90",
        "-subj",
        "/CN=localhost",
        "-keyout",
        "key",
        "-out",
        "cert",
    ]);
    generator.ok()?.wait().expect("a certificate");
    let port = closed_port();
    let accept = port.to_string();
    let served = run(&[
        &[
            "s_server", "-quiet", "-www", "-key", "key", "-cert", "cert", "-accept", &accept,
        ],
        words,
    ]
    .concat());
    let served = served.expect("a server");
    let limit = Instant::now() + Duration::from_secs(120);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < limit, "no server");
        thread::sleep(Duration::from_millis(20));
    }
    Some((folder, served, port))
}

#[test]
fn old_tls_versions_are_detected() {
    const OLD: [&str; 2] = ["-cipher", "DEFAULT@SECLEVEL=0"];
    for (words, expected) in [
        (&OLD[..], State::Bad),
        (&["-no_tls1", "-no_tls1_1"], State::Good),
    ] {
        let Some((_folder, mut server, port)) = openssl(words) else {
            return println!("skipped: there is no openssl");
        };
        let url = Url::parse(&format!("https://127.0.0.1:{port}/")).expect("a URL");
        let options = SiteOptions {
            rate: 1000.0,
            resources: 0,
            ajp_port: closed_port(),
        };
        let site = site::inspect(&url, &options, &mut |_| {});
        server.kill().expect("an end");
        server.wait().expect("an end");
        let report = site::audit(&url, &site.expect("a site"), &site::rules().expect("rules"));
        assert_eq!(states(&report, "server-old-tls"), [expected]);
        let certificate = report
            .findings
            .iter()
            .find(|f| f.rule == "server-certificate");
        assert!(
            certificate.is_some_and(|f| f.seen.contains("self-signed")),
            "{certificate:?}"
        );
    }
}

#[derive(Debug)]
struct Fixed(Arc<rustls::sign::CertifiedKey>);

impl rustls::server::ResolvesServerCert for Fixed {
    fn resolve(&self, _: rustls::server::ClientHello) -> Option<Arc<rustls::sign::CertifiedKey>> {
        Some(self.0.clone())
    }
}

/// Serves TLS with the given bytes as certificates, and returns the port.
///
/// `speak` receives each connection before its handshake.
fn serve_certificate(
    key: &std::path::Path,
    certificates: &[Vec<u8>],
    speak: impl Fn(&mut rustls::ServerConnection, &mut std::net::TcpStream) + Send + 'static,
) -> u16 {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let key = PrivateKeyDer::from_pem_file(key).expect("a key");
    let key = rustls::crypto::ring::sign::any_supported_type(&key).expect("a key");
    let chain = certificates.iter().cloned().map(CertificateDer::from);
    let fixed = Fixed(Arc::new(rustls::sign::CertifiedKey::new(
        chain.collect(),
        key,
    )));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(fixed));
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut tls = rustls::ServerConnection::new(config.clone()).expect("a connection");
            speak(&mut tls, &mut stream);
        }
    });
    port
}

/// A handshake may take longer than the timeout of one socket read.
#[test]
fn the_audit_waits_for_a_slow_handshake() {
    let Some((folder, mut server, _)) = openssl(&["-no_tls1"]) else {
        return println!("skipped: there is no openssl");
    };
    server.kill().expect("an end");
    server.wait().expect("an end");
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    let good = CertificateDer::from_pem_file(folder.path().join("cert")).expect("a certificate");
    let certificates = [good.to_vec()];
    let port = serve_certificate(&folder.path().join("key"), &certificates, |tls, stream| {
        thread::sleep(Duration::from_millis(700));
        let mut stream = rustls::Stream::new(tls, stream);
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(&page(WELL, "slow"));
        let _ = stream.flush();
    });
    let url = format!("https://127.0.0.1:{port}/");
    let report = inspect_url(&url, closed_port()).expect("an audit");
    assert_eq!(states(&report, "server-tls13"), [State::Good]);
    assert_eq!(states(&report, "resource-there"), [State::Good]);
}

#[test]
fn malformed_certificates_cause_error_messages() {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    let Some((folder, mut server, _)) = openssl(&["-no_tls1"]) else {
        return println!("skipped: there is no openssl");
    };
    server.kill().expect("an end");
    server.wait().expect("an end");
    let good = CertificateDer::from_pem_file(folder.path().join("cert")).expect("a certificate");
    let mut long_name = good.to_vec();
    let at = long_name
        .windows(9)
        .position(|w| w == b"localhost")
        .expect("the name");
    long_name[at..at + 9].copy_from_slice(b"\x1b[31mred\x07");
    let cases: [Vec<Vec<u8>>; 5] = [
        vec![b"no certificate \x1b[31m".to_vec()],
        vec![good[..good.len() / 2].to_vec()],
        vec![vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff]],
        vec![vec![0x30; 60_000]],
        vec![long_name],
    ];
    for certificates in cases {
        let port = serve_certificate(&folder.path().join("key"), &certificates, |tls, stream| {
            let _ = tls.complete_io(stream);
        });
        let url = Url::parse(&format!("https://127.0.0.1:{port}/")).expect("a URL");
        let options = SiteOptions {
            rate: 1000.0,
            resources: 0,
            ajp_port: closed_port(),
        };
        let began = Instant::now();
        let message = match site::inspect(&url, &options, &mut |_| {}) {
            Err(reason) => reason,
            Ok(site) => {
                let report = site::audit(&url, &site, &site::rules().expect("rules"));
                assert!(!states(&report, "server-certificate").contains(&State::Good));
                serde_json::to_string(&report).expect("JSON")
            }
        };
        assert!(began.elapsed() < Duration::from_secs(300));
        assert!(
            !message.is_empty() && !message.contains(char::is_control),
            "{message:?}"
        );
    }
}

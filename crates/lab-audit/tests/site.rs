// SPDX-License-Identifier: Apache-2.0
//! The audit of a site on servers of the test's own: each rule in a good and a bad case, and servers of bad will.

use lab_audit::site::{self, Options, Url};
use lab_model::audit::{Audit, State};
use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Answers by path; a path that is not there is answered with 404. `{name}` of a request's field is put in.
type Pages = HashMap<&'static str, Vec<u8>>;

/// Serves until the test ends. Its port.
fn serve(pages: Pages) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let pages = Arc::new(pages);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let pages = pages.clone();
            thread::spawn(move || answer(stream, &pages));
        }
    });
    port
}

fn answer(mut stream: std::net::TcpStream, pages: &Pages) {
    let mut request = Vec::new();
    let mut room = [0; 4096];
    while !request.windows(4).any(|w| w == b"\r\n\r\n") {
        match stream.read(&mut room) {
            Ok(n @ 1..) => request.extend_from_slice(&room[..n]),
            _ => return,
        }
    }
    let request = String::from_utf8_lossy(&request).to_lowercase();
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let missing = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n\r\nnone".to_vec();
    let found = pages.get(path).unwrap_or(&missing);
    let again = request.contains("if-none-match") && !found.windows(9).any(|w| w == b"x-again: ");
    if again {
        let _ = stream.write_all(b"HTTP/1.1 304 Not Modified\r\n\r\n");
    } else if method == "head" {
        let end = found
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .map_or(found.len(), |at| at + 4);
        let head = &found[..end];
        let other = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n";
        let refuses = head.windows(8).any(|w| w == b"x-head: ");
        let _ = stream.write_all(if refuses { other } else { head });
    } else if found.ends_with(b"ENDLESS") {
        let _ = stream.write_all(&found[..found.len() - 7]);
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    } else {
        let _ = stream.write_all(found);
    }
}

fn page(fields: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

const WELL: &str = "Server: s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\n\
                    X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-cache\r\nETag: \"1\"\r\n";
const CSS: &str =
    "Content-Type: text/css; charset=utf-8\r\nCache-Control: max-age=31536000\r\nETag: \"2\"\r\n";
const HTML: &str = "<link rel=stylesheet href=/s.12345678.css>";

fn good() -> Pages {
    Pages::from([
        ("/", page(WELL, HTML)),
        ("/s.12345678.css", page(CSS, "a{}")),
    ])
}

fn look_at(pages: Pages, ajp_port: u16) -> Result<Audit, String> {
    let url = Url::parse(&format!("http://127.0.0.1:{}/", serve(pages))).expect("a URL");
    let options = Options {
        rate: 1000.0,
        resources: 50,
        ajp_port,
    };
    let seen = site::look(&url, &options, &mut |_| {})?;
    Ok(site::audit(&url, &seen, &site::rules().expect("rules")))
}

/// A port that nobody listens at.
fn closed() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address")
        .port()
}

fn audit(pages: Pages) -> Audit {
    look_at(pages, closed()).expect("an audit")
}

fn states(audit: &Audit, rule: &str) -> Vec<State> {
    audit
        .findings
        .iter()
        .filter(|f| f.rule == rule)
        .map(|f| f.state)
        .collect()
}

/// Rules about TLS and names: tested on real servers (tests/audit).
const ELSEWHERE: [&str; 9] = [
    "server-old-tls",
    "server-https",
    "server-tls13",
    "server-certificate",
    "server-certificate-left",
    "server-http2",
    "server-hsts",
    "server-ipv6",
    "server-ajp",
];

#[test]
fn a_good_site_is_good_and_each_rule_finds_what_is_not() {
    let well = audit(good());
    let wrong: Vec<_> = well
        .findings
        .iter()
        .filter(|f| matches!(f.state, State::Bad | State::Advice))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let text = "word ".repeat(1000);
    let css = |fields: &str, body: &str| ("/s.12345678.css", page(fields, body));
    let home = |fields: &str| ("/", page(fields, HTML));
    type Case<'a> = (&'a str, State, (&'static str, Vec<u8>));
    let cases: Vec<Case> = vec![
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
        (
            "server-redirects",
            State::Bad,
            (
                "/",
                b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_vec(),
            ),
        ),
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
    let mut tested: BTreeSet<&str> = ELSEWHERE.into();
    for (rule, state, (path, answer)) in cases {
        let mut pages = good();
        pages.insert(path, answer);
        let found = audit(pages);
        assert!(
            states(&found, rule).contains(&state),
            "{rule}: {:?}",
            states(&found, rule)
        );
        tested.insert(rule);
    }
    let rules = site::rules().expect("rules");
    let untested: Vec<&str> = rules
        .iter()
        .map(|r| r.id.as_str())
        .filter(|id| !tested.contains(id))
        .collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn an_open_port_of_ajp_is_found_by_its_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut ping = [0; 5];
        stream.read_exact(&mut ping).expect("a ping");
        stream.write_all(&[0x41, 0x42, 0, 1, 9]).expect("a pong");
    });
    assert_eq!(
        states(&look_at(good(), port).expect("an audit"), "server-ajp"),
        [State::Bad]
    );
    // Something else that listens there is no AJP.
    assert_eq!(
        states(
            &look_at(good(), serve(good())).expect("an audit"),
            "server-ajp"
        ),
        [State::Good]
    );
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

#[test]
fn servers_of_bad_will_end_in_words() {
    let only = |answer: &[u8]| Pages::from([("/", answer.to_vec())]);
    let refused = |answer: &[u8]| look_at(only(answer), closed()).err().unwrap_or_default();
    assert!(refused(b"SSH-2.0-OpenSSH\r\n").contains("not HTTP/1.1"));
    assert!(
        refused(b"HTTP/1.1 200 OK\r\nX-Evil: \x1b[31mred\r\n\r\n").contains("control character")
    );
    assert!(
        refused(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")
            .contains("Content-Length")
    );
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n", "X: y\r\n".repeat(20_000));
    assert!(refused(many.as_bytes()).contains("64 KiB"));
    assert!(!refused(b"").is_empty());
    // A page that does not end is looked at as far as it came.
    let began = Instant::now();
    let endless = audit(only(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<img src=/a.png>ENDLESS",
    ));
    assert_eq!(states(&endless, "server-complete"), [State::Bad]);
    assert!(began.elapsed() < Duration::from_secs(60));
    // Nothing that a server sent is raw in what is told: Latin-1, bytes above, tabs in names of files.
    let odd = audit(only(b"HTTP/1.1 200 OK\r\nServer: \xff\xfe\r\nContent-Type: text/html\r\n\r\n<img src='/\x1b[31m.png'><img src=\"/\xc2\x9b.png\">"));
    let told = serde_json::to_string(&odd).expect("JSON");
    assert!(
        !told.contains('\u{1b}') && !told.contains('\u{9b}'),
        "{told}"
    );
}

#[test]
fn only_the_named_host_is_asked() {
    let page = page(
        "Content-Type: text/html\r\n",
        "<img src=http://127.0.0.2:1/i.png><script src=//other.invalid/x.js></script>",
    );
    let found = audit(Pages::from([("/", page)]));
    assert_eq!(found.tables[1].rows.len(), 2);
    let elsewhere = audit(Pages::from([(
        "/",
        b"HTTP/1.1 301 Moved\r\nLocation: http://other.invalid/\r\nContent-Length: 0\r\n\r\n"
            .to_vec(),
    )]));
    assert!(
        elsewhere
            .facts
            .iter()
            .any(|(_, text)| text.contains("not named"))
    );
}

#[test]
fn a_har_is_audited_without_asking() {
    let har = r#"{"log":{"entries":[
        {"request":{"url":"http://a.example/"},"response":{"status":200,"bodySize":-1,"headers":[{"name":"Content-Type","value":"text/html"}],
         "content":{"size":6000,"text":"TEXT"}}},
        {"request":{"url":"http://b.example/x.js"},"response":{"status":200,"headers":[],"content":{}}},
        {"request":{"url":"http://a.example/blocked"},"response":{"status":0}}, {}, 7]}}"#;
    let (url, seen) = site::of_har(&har.replace("TEXT", &"word ".repeat(1200))).expect("a site");
    let found = site::audit(&url, &seen, &site::rules().expect("rules"));
    assert_eq!(states(&found, "resource-compression"), [State::Bad]);
    assert_eq!(states(&found, "server-version"), [State::Good]);
    assert_eq!(states(&found, "server-csp"), [State::Advice]);
    assert_eq!(states(&found, "server-exposed"), [State::NotApplicable]);
    assert_eq!(states(&found, "server-http2"), [State::NotApplicable]);
    assert_eq!(
        (found.tables[0].rows.len(), found.tables[1].rows.len()),
        (1, 1)
    );
    for (text, why) in [
        ("{", "not JSON"),
        ("{}", "no HAR"),
        (r#"{"log":{"entries":[]}}"#, "no answer"),
    ] {
        assert!(
            site::of_har(text).err().is_some_and(|e| e.contains(why)),
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
        let (url, seen) = site::of_har(text).expect("a site");
        site::audit(&url, &seen, &site::rules().expect("rules"))
    };
    let found = audited(har);
    for (rule, state) in [
        ("server-version", State::Advice),
        ("server-made-with", State::Bad),
        ("server-http2", State::Good),
        ("server-ipv6", State::Good),
        ("server-https", State::Good),
        ("server-redirects", State::Good),
        ("server-tls13", State::NotApplicable),
        ("server-head", State::NotApplicable),
    ] {
        assert_eq!(states(&found, rule), [state], "{rule}");
    }
    // A file without fields says nothing of the server.
    let bare = audited(
        r#"{"log":{"entries":[{"request":{"url":"http://a.example/"},"response":{"status":200}}]}}"#,
    );
    assert_eq!(states(&bare, "server-csp"), [State::NotApplicable]);
}

/// A server of TLS on a port of the test's own, by OpenSSL with these words; `None`: there is no OpenSSL.
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
    let made = run(&[
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
    made.ok()?.wait().expect("a certificate");
    let port = closed();
    let accept = port.to_string();
    let served = run(&[
        &[
            "s_server", "-quiet", "-www", "-key", "key", "-cert", "cert", "-accept", &accept,
        ],
        words,
    ]
    .concat());
    let served = served.expect("a server");
    let limit = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < limit, "no server");
        thread::sleep(Duration::from_millis(20));
    }
    Some((folder, served, port))
}

#[test]
fn versions_of_tls_before_1_2_are_found_on_a_server_that_speaks_them() {
    const OLD: [&str; 2] = ["-cipher", "DEFAULT@SECLEVEL=0"];
    for (words, wanted) in [
        (&OLD[..], State::Bad),
        (&["-no_tls1", "-no_tls1_1"], State::Good),
    ] {
        let Some((_folder, mut server, port)) = openssl(words) else {
            return println!("left out: there is no openssl");
        };
        let url = Url::parse(&format!("https://127.0.0.1:{port}/")).expect("a URL");
        let options = Options {
            rate: 1000.0,
            resources: 0,
            ajp_port: closed(),
        };
        let seen = site::look(&url, &options, &mut |_| {});
        server.kill().expect("an end");
        server.wait().expect("an end");
        let found = site::audit(&url, &seen.expect("a site"), &site::rules().expect("rules"));
        assert_eq!(states(&found, "server-old-tls"), [wanted]);
    }
}

#[derive(Debug)]
struct Fixed(Arc<rustls::sign::CertifiedKey>);

impl rustls::server::ResolvesServerCert for Fixed {
    fn resolve(&self, _: rustls::server::ClientHello) -> Option<Arc<rustls::sign::CertifiedKey>> {
        Some(self.0.clone())
    }
}

/// A server of TLS whose certificates are these bytes. Its port.
fn certified(key: &std::path::Path, certificates: &[Vec<u8>]) -> u16 {
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
            let _ = tls.complete_io(&mut stream);
        }
    });
    port
}

#[test]
fn malformed_certificates_end_in_words() {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    let Some((folder, mut server, _)) = openssl(&["-no_tls1"]) else {
        return println!("left out: there is no openssl");
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
        let port = certified(&folder.path().join("key"), &certificates);
        let url = Url::parse(&format!("https://127.0.0.1:{port}/")).expect("a URL");
        let options = Options {
            rate: 1000.0,
            resources: 0,
            ajp_port: closed(),
        };
        let began = Instant::now();
        let told = match site::look(&url, &options, &mut |_| {}) {
            Err(why) => why,
            Ok(seen) => {
                let found = site::audit(&url, &seen, &site::rules().expect("rules"));
                assert!(!states(&found, "server-certificate").contains(&State::Good));
                serde_json::to_string(&found).expect("JSON")
            }
        };
        assert!(began.elapsed() < Duration::from_secs(60));
        assert!(
            !told.is_empty() && !told.contains(char::is_control),
            "{told:?}"
        );
    }
}

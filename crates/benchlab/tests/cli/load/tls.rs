// SPDX-License-Identifier: Apache-2.0
//! TLS and HTTP/2 on the command line: accepted certificates and negotiated protocols.

#[path = "../../../../lab-load/tests/load/authority/mod.rs"]
mod authority;
#[path = "../../../../lab-load/tests/load/http2_server/mod.rs"]
mod http2_server;
#[path = "../../../../lab-load/tests/load/servers/mod.rs"]
mod servers;

use super::{TestDirectory, sums};
use authority::Authority;
use http2_server::OK;
use lab_model::Protocol;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Responds to every request over TLS with `hello` and counts the requests.
fn secure(config: Arc<ServerConfig>) -> (servers::Server, Arc<AtomicU64>) {
    let requests = Arc::new(AtomicU64::new(0));
    let counter = requests.clone();
    let server = servers::Server::raw(move |stream| {
        let session = ServerConnection::new(config.clone()).unwrap();
        let mut tls = StreamOwned::new(session, stream.try_clone().unwrap());
        let mut buffer = [0; 1000];
        while let Ok(n) = tls.read(&mut buffer)
            && n > 0
            && tls
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                .is_ok()
        {
            counter.fetch_add(1, SeqCst);
        }
    });
    (server, requests)
}

#[test]
fn a_server_is_trusted_through_its_authority_or_without_verification() {
    let authority = Authority::new();
    let (server, requests) = secure(authority.server("127.0.0.1", &[b"http/1.1"]));
    let url = format!("https://{}/", server.address);
    let (ca_file, other) = (authority.file(), Authority::new());
    let (ca_file, other_file) = (ca_file.to_str().unwrap(), other.file());
    for trust in [&["--ca", ca_file][..], &["--insecure"]] {
        let directory = TestDirectory::new();
        directory
            .load(&[&url], &[trust, &["--expect-body", "hello"]].concat())
            .expect(0);
        let run = directory.0.load();
        let (served, errors) = sums(&run);
        assert!(served > 0 && errors.is_empty(), "{errors:?}");
        let plan = run.plan().unwrap().clone();
        let load = plan.load().unwrap();
        assert_eq!(load.protocol, Protocol::Http1);
        assert_eq!(load.requests[0][0].url, url);
    }
    // benchlab does not load a server whose certificate it rejects.
    let before = requests.load(SeqCst);
    assert!(before > 0);
    for trust in [&[][..], &["--ca", other_file.to_str().unwrap()]] {
        let directory = TestDirectory::new();
        directory.load(&[&url], trust).expect(1).says(&[
            "does not respond: the TLS connection failed: ",
            "certificate",
        ]);
        assert_eq!(directory.0.files().len(), 0, "nothing was measured");
    }
    assert_eq!(requests.load(SeqCst), before);
    TestDirectory::new()
        .load(&[&url], &["--ca", "/none.pem"])
        .expect(2)
        .says(&["/none.pem"]);
}

#[test]
fn http2_works_with_and_without_tls() {
    let authority = Authority::new();
    let ca = authority.file();
    let config = authority.server("127.0.0.1", &[b"h2"]);
    let secure = http2_server::Server::with_tls(Some(config), |_| OK);
    let plain = http2_server::Server::new(|_| OK);
    for (server, scheme) in [(&secure, "https"), (&plain, "http")] {
        for rate in [&[][..], &["--rate", "200"]] {
            let directory = TestDirectory::new();
            let before = server.requests();
            let url = format!("{scheme}://{}/", server.address);
            let options = [
                "--http2",
                "--ca",
                ca.to_str().unwrap(),
                "--expect-body",
                "hello",
            ];
            let outcome = directory.load(&[&url], &[&options[..], rate].concat());
            outcome.expect(0);
            let page = std::fs::read_to_string(directory.0.file().with_extension("html")).unwrap();
            assert!(page.contains("HTTP/2"), "{page}");
            let run = directory.0.load();
            let (served, errors) = sums(&run);
            assert_eq!(errors, []);
            assert_eq!(server.requests() - before, served + 1);
            assert_eq!(
                run.plan().unwrap().clone().load().unwrap().protocol,
                Protocol::Http2
            );
        }
    }
}

#[test]
fn a_server_that_does_not_negotiate_http2_is_reported() {
    let authority = Authority::new();
    let (server, _) = secure(authority.server("127.0.0.1", &[b"http/1.1"]));
    let (url, ca) = (format!("https://{}/", server.address), authority.file());
    let directory = TestDirectory::new();
    let outcome = directory.load(&[&url], &["--http2", "--ca", ca.to_str().unwrap()]);
    outcome
        .expect(1)
        .says(&["does not respond: the TLS connection failed: "]);
    // A server that supports none of the client's protocols may abort the handshake itself.
    let says = |text: &str| outcome.stderr.contains(text);
    assert!(says("ALPN") || says("NoApplicationProtocol"), "{outcome:?}");
}

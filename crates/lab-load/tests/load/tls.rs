// SPDX-License-Identifier: Apache-2.0
//! Tests load over HTTP/1.1 with TLS: on reused and new connections, and on servers with invalid
//! certificates.

use crate::authority::{Authority, serve};
use crate::loading;
use crate::servers::Server;
use lab_load::{LoadJob, LoadUrl, SliceRecord, TLS_FAILURE, Tls, Trust};
use lab_model::{Arrivals, ErrorKind, LoadCount, Protocol};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::sync::Arc;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n";

/// Starts a server that responds with 20,000 bytes, more than a TLS record can hold.
fn server(config: Arc<ServerConfig>) -> Server {
    Server::raw(move |stream| {
        let session = ServerConnection::new(config.clone()).unwrap();
        let mut tls = StreamOwned::new(session, stream.try_clone().unwrap());
        let response = [ANSWER, &[b'x'; 20_000]].concat();
        let mut room = [0; 1000];
        while let Ok(n) = tls.read(&mut room)
            && n > 0
            && tls.write_all(&response).is_ok()
        {}
        tls.conn.send_close_notify();
        let _ = tls.flush();
    })
}

fn load(
    server: &Server,
    host: &str,
    trust: Trust,
    keep_alive: bool,
    arrivals: Arrivals,
) -> SliceRecord {
    let url = format!("https://{host}:{}/", server.address.port());
    let origin = LoadUrl::parse(&url).unwrap().origin;
    let job = LoadJob {
        tls: Some(Tls::new(&origin, Protocol::Http1, &trust).unwrap()),
        arrivals,
        ..loading::job(&url, keep_alive, |request| request)
    };
    loading::load(job, 300)
}

#[test]
fn requests_are_served_over_tls() {
    let authority = Authority::new();
    let server = server(authority.server("127.0.0.1", &[b"http/1.1"]));
    for (keep_alive, arrivals) in [
        (true, Arrivals::Closed),
        (false, Arrivals::Closed),
        (true, loading::open_loop(100.0)),
    ] {
        let trust = Trust::File(authority.file());
        let record = load(&server, "127.0.0.1", trust, keep_alive, arrivals);
        assert!(record.served >= 4, "{keep_alive} {}", record.served);
        assert_eq!(record.errors, [0; 7], "{keep_alive} {:?}", record.words);
        assert_eq!(
            record.counts[LoadCount::ReceivedBytes],
            record.served * (ANSWER.len() as u64 + 20_000)
        );
    }
}

#[test]
fn a_server_with_the_wrong_identity_gets_no_request() {
    let authority = Authority::new();
    let server = server(authority.server("localhost", &[]));
    let refused = |trust: Trust| {
        let record = load(&server, "127.0.0.1", trust, true, Arrivals::Closed);
        let kind = ErrorKind::Connect as usize;
        assert!(
            record.served == 0 && record.errors[kind] > 0,
            "{:?}",
            record.errors
        );
        record.words[kind].clone().unwrap()
    };
    let words = refused(Trust::File(authority.file()));
    assert!(
        words.contains("it is for localhost, not for 127.0.0.1; use a name"),
        "{words}"
    );
    let words = refused(Trust::File(Authority::new().file()));
    assert!(
        words.contains("it is not signed by a trusted authority"),
        "{words}"
    );
    assert!(words.contains("--ca FILE"), "{words}");
    let record = load(&server, "127.0.0.1", Trust::Anybody, true, Arrivals::Closed);
    assert!(record.served > 0);
}

/// Creates a server with a self-signed certificate, and a directory that contains it as `cert.pem`.
fn self_signed(params: CertificateParams) -> (Arc<ServerConfig>, tempfile::TempDir) {
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cert.pem"), certificate.pem()).unwrap();
    (serve(certificate.into(), &key, &[]), folder)
}

/// Returns the error message for a server with a self-signed certificate, or `None` if the
/// certificate is accepted.
fn refusal(params: CertificateParams, is_trusted: bool) -> Option<String> {
    let (config, folder) = self_signed(params);
    let server = server(config);
    let other = Authority::new();
    let file = match is_trusted {
        true => folder.path().join("cert.pem"),
        false => other.file(),
    };
    let record = load(
        &server,
        "127.0.0.1",
        Trust::File(file),
        true,
        Arrivals::Closed,
    );
    let words = record.words[ErrorKind::Connect as usize].clone();
    assert_eq!(record.served > 0, words.is_none(), "{words:?}");
    words
}

/// Tests certificates like those that `openssl req -x509` creates, with and without CA:TRUE. curl
/// accepts them with `--cacert`.
#[test]
fn a_self_signed_certificate_is_its_own_authority() {
    let params = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        CertificateParams::new(names).unwrap()
    };
    let authority = |mut params: CertificateParams| {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
    };
    for params in [
        params(&["127.0.0.1"]),
        authority(params(&["localhost", "127.0.0.1"])),
    ] {
        assert_eq!(refusal(params.clone(), true), None);
        let words = refusal(params, false).unwrap();
        assert!(
            words.starts_with(TLS_FAILURE) && words.contains("self-signed"),
            "{words}"
        );
        assert!(words.contains("--ca FILE"), "{words}");
    }
    let mut old = authority(params(&["127.0.0.1"]));
    (old.not_before, old.not_after) = (date_time_ymd(2019, 1, 1), date_time_ymd(2020, 2, 3));
    let words = refusal(old, true).unwrap();
    assert!(words.contains("it expired on 2020-02-03"), "{words}");
    let mut future = authority(params(&["127.0.0.1"]));
    (future.not_before, future.not_after) = (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1));
    let words = refusal(future, true).unwrap();
    assert!(
        words.contains("it is not valid before 2090-01-01"),
        "{words}"
    );
    let words = refusal(authority(params(&["shop.test"])), true).unwrap();
    assert!(
        words.contains("it is for shop.test, not for 127.0.0.1"),
        "{words}"
    );
    let words = refusal(authority(params(&[])), true).unwrap();
    assert!(words.contains("it contains no host name"), "{words}");
}

#[test]
fn a_server_without_tls_is_named_as_such() {
    let plain = Server::raw(|stream| {
        let _ = stream.read(&mut [0; 1000]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let record = load(&plain, "127.0.0.1", Trust::Anybody, true, Arrivals::Closed);
    let words = record.words[ErrorKind::Connect as usize].clone().unwrap();
    assert!(words.contains("is not TLS"), "{words}");
}

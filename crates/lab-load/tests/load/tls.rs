// SPDX-License-Identifier: Apache-2.0
//! Load over HTTP/1.1 and TLS: over connections that are kept and over new ones, and on servers that are
//! not who they should be.

use crate::authority::Authority;
use crate::loading;
use crate::servers::Server;
use lab_load::{LoadJob, LoadUrl, SliceRecord, Tls, Trust};
use lab_model::{Arrivals, ErrorKind, Protocol};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::sync::Arc;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n";

/// Answers every request with 20,000 bytes, more than a record of TLS holds.
fn server(config: Arc<ServerConfig>) -> Server {
    Server::raw(move |stream| {
        let session = ServerConnection::new(config.clone()).unwrap();
        let mut tls = StreamOwned::new(session, stream.try_clone().unwrap());
        let answer = [ANSWER, &[b'x'; 20_000]].concat();
        let mut room = [0; 1000];
        while let Ok(n) = tls.read(&mut room)
            && n > 0
            && tls.write_all(&answer).is_ok()
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
        assert!(record.served >= 10, "{keep_alive} {}", record.served);
        assert_eq!(record.errors, [0; 7], "{keep_alive} {:?}", record.words);
        assert_eq!(
            record.received_bytes,
            record.served * (ANSWER.len() as u64 + 20_000)
        );
    }
}

#[test]
fn a_server_that_is_not_who_it_should_be_is_not_asked() {
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
    assert!(words.contains("not valid for name"), "{words}");
    let words = refused(Trust::File(Authority::new().file()));
    assert!(words.contains("certificate"), "{words}");
    let record = load(&server, "127.0.0.1", Trust::Anybody, true, Arrivals::Closed);
    assert!(record.served > 0);
}

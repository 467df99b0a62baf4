// SPDX-License-Identifier: Apache-2.0
//! Tests load over HTTP/2 on servers that respond correctly, incorrectly or not at all. As with
//! HTTP/1.1, every offered request is served or counted as an error.

use crate::authority::Authority;
use crate::http2_server::{Act, OK, Server};
use crate::loading::{
    self, assert_fails, body, closed_address, load, load_again, load_much, open_loop,
};
use lab_load::{Engine, Header, LoadJob, LoadUrl, Request, SliceRecord, Tls, Trust, method};
use lab_model::{ErrorKind, LoadCount, Protocol};
use std::net::SocketAddr;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

fn job(address: SocketAddr) -> LoadJob {
    job_with(address, true, |request| request)
}

fn job_with(address: SocketAddr, keep_alive: bool, change: impl Fn(Request) -> Request) -> LoadJob {
    LoadJob {
        protocol: Protocol::Http2,
        ..loading::job(&format!("http://{address}/"), keep_alive, change)
    }
}

#[test]
fn all_requests_to_a_good_server_are_served() {
    let server = Server::new(|_| OK);
    let record = load_much(
        LoadJob {
            expect: body(b"hello"),
            ..job(server.address)
        },
        300,
    );
    assert!(record.served > 8, "{}", record.served);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);
    // The connections were opened before the load.
    assert_eq!(
        (record.counts[LoadCount::Connects], server.connections()),
        (4, 4)
    );
    assert_eq!(server.requests(), record.offered);
    assert!(record.counts[LoadCount::ReceivedBytes] > record.served * 5);
    assert!(record.cpu_ns > 0 && record.response.max() >= record.service.max());
}

#[test]
fn connections_are_shared_among_threads() {
    let server = Server::new(|_| OK);
    let record = load(
        LoadJob {
            connections: 5,
            threads: 2,
            ..job(server.address)
        },
        200,
    );
    assert_eq!((record.errors, server.connections()), ([0; 7], 5));
    assert_eq!(server.requests(), record.offered);
}

#[test]
fn streams_are_concurrent() {
    let server = Server::new(|_| Act::Later);
    let record = load_much(
        LoadJob {
            connections: 1,
            pipeline: 8,
            ..job(server.address)
        },
        200,
    );
    assert_eq!((record.errors, server.connections()), ([0; 7], 1));
    assert_eq!(server.counts.max_concurrent.load(SeqCst), 8);
}

/// Load over HTTP/2 waits for responses that are in flight at its end. `engine.rs` has the same
/// test for HTTP/1.1.
#[test]
fn a_backlog_served_after_the_end_is_reported() {
    let server = Server::new(|_| Act::Later);
    let job = LoadJob {
        connections: 1,
        arrivals: open_loop(10_000.0),
        ..job(server.address)
    };
    let record = load(job, 50);
    assert_eq!((record.offered, record.served), (500, 500));
    // Five hundred responses, one after another, take at least 500 ms.
    assert!(record.drain_ns >= 440_000_000, "{}", record.drain_ns);
}

#[test]
fn requests_and_responses_are_complete() {
    let large: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
    let server = Server::new(|_| Act::Echo);
    let post = |request| Request {
        method: method("POST").unwrap(),
        body: large.clone().into(),
        headers: vec![Header::parse("X-a: b").unwrap()],
        ..request
    };
    let echoed = LoadJob {
        expect: body(&large),
        pipeline: 3,
        ..job_with(server.address, true, post)
    };
    let record = load(echoed, 300);
    assert!(record.served > 0);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);

    let server = Server::new(|_| Act::Trailers);
    let record = load(
        LoadJob {
            expect: body(b"hello"),
            ..job(server.address)
        },
        100,
    );
    assert!(record.served > 0);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);

    let server = Server::new(|_| OK);
    let head = |request| Request {
        method: method("HEAD").unwrap(),
        ..request
    };
    let record = load(job_with(server.address, true, head), 100);
    assert!(record.served > 0);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);
}

#[test]
fn an_open_loop_sends_due_requests() {
    let server = Server::new(|_| OK);
    let record = load(
        LoadJob {
            arrivals: open_loop(1000.0),
            ..job(server.address)
        },
        500,
    );
    assert_eq!(record.offered, 500);
    assert_eq!(
        (record.served, record.send_delay.len()),
        (500, 500),
        "{:?}",
        record.words
    );
    assert_eq!(server.requests(), 500);
}

#[test]
fn response_time_counts_from_when_a_request_was_due() {
    // There is one stream, each response takes a millisecond, and two requests become due in that time.
    let server = Server::new(|_| Act::Later);
    let slow = LoadJob {
        arrivals: open_loop(2000.0),
        connections: 1,
        ..job(server.address)
    };
    let record = load(slow, 300);
    assert_eq!(record.offered, 600);
    let (response, service) = (record.response.max(), record.service.value_at_quantile(0.5));
    assert!(response > 20 * service, "{response} {service}");
}

#[test]
fn requests_that_are_not_sent_in_time_are_errors() {
    let server = Server::new(|_| Act::Silence);
    let job = LoadJob {
        arrivals: open_loop(100.0),
        timeout: Duration::from_millis(150),
        connections: 1,
        ..job(server.address)
    };
    let record = load(job, 1000);
    assert_eq!((record.offered, record.served), (100, 0));
    let of = |kind: ErrorKind| record.errors[kind as usize];
    assert!(
        of(ErrorKind::Timeout) > 0 && of(ErrorKind::Unfinished) > 20,
        "{:?}",
        record.errors
    );
}

#[test]
fn an_announced_end_of_a_connection_loses_no_request() {
    for pipeline in [1, 4] {
        let server = Server::new(|number| if number % 5 == 4 { Act::Goodbye } else { OK });
        let record = load_much(
            LoadJob {
                pipeline,
                ..job(server.address)
            },
            300,
        );
        assert!(record.served > 20 && server.connections() > 8);
        assert_eq!(record.errors, [0; 7], "{pipeline} {:?}", record.words);
    }
}

#[test]
fn without_keep_alive_every_request_opens_a_connection() {
    let server = Server::new(|_| OK);
    let record = load_much(job_with(server.address, false, |request| request), 200);
    assert!(record.served > 10);
    assert_eq!(
        (record.errors, record.counts[LoadCount::Connects]),
        ([0; 7], record.served),
        "{:?}",
        record.words
    );
    assert_eq!(server.connections(), record.served);
}

#[test]
fn each_failure_has_its_kind() {
    let cases = [
        (Act::Reset, ErrorKind::Reset, ""),
        (Act::Close, ErrorKind::Reset, ""),
        (Act::Respond(500, b"hello"), ErrorKind::Status, "status 500"),
        (
            Act::Respond(200, b"hell"),
            ErrorKind::Body,
            "an unexpected body of 4 bytes",
        ),
        (
            Act::Respond(200, b"hello!"),
            ErrorKind::Body,
            "an unexpected body of 6 bytes",
        ),
    ];
    for (act, kind, words) in cases {
        let server = Server::new(move |_| act);
        let failing = LoadJob {
            expect: body(b"hello"),
            ..job(server.address)
        };
        assert_fails(&load(failing, 100), kind, words);
    }
}

#[test]
fn a_request_that_takes_too_long_has_failed() {
    let server = Server::new(|_| Act::Silence);
    let job = LoadJob {
        timeout: Duration::from_millis(50),
        ..job(server.address)
    };
    let record = load(job, 1000);
    let of = |kind: ErrorKind| record.errors[kind as usize];
    assert!(of(ErrorKind::Timeout) > 0, "{:?}", record.errors);
    // The load may end before the last requests time out.
    let others = of(ErrorKind::Timeout) + of(ErrorKind::Unfinished);
    assert_eq!((record.served, record.offered), (0, others));
    // Only the streams of these requests are reset; the connections stay open.
    assert_eq!(
        (record.counts[LoadCount::Connects], server.connections()),
        (4, 4)
    );
}

#[test]
fn nobody_listens() {
    let address = closed_address();
    assert_fails(&load(job(address), 200), ErrorKind::Connect, "refused");
    let record = load(
        LoadJob {
            arrivals: open_loop(200.0),
            ..job(address)
        },
        200,
    );
    assert_eq!(record.offered, 40);
    assert_fails(&record, ErrorKind::Connect, "refused");
}

#[test]
fn a_server_of_another_protocol_is_noticed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            use std::io::{Read, Write};
            let _ = stream.read(&mut [0; 1000]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    for keep_alive in [true, false] {
        let job = job_with(address, keep_alive, |request| request);
        assert_fails(&load(job, 100), ErrorKind::Malformed, "");
    }
}

#[test]
fn a_connection_that_ended_meanwhile_is_opened_anew() {
    let server = Server::new(|_| Act::Idle);
    let mut engine = Engine::start(job(server.address)).unwrap();
    for loads in 0..2 {
        let record = load_again(&mut engine, 50);
        assert!(record.served > 0);
        assert_eq!(record.errors, [0; 7], "{:?}", record.words);
        assert!(server.connections() > 4 * loads);
        let deadline = Instant::now() + Duration::from_secs(60);
        while server.counts.ended.load(SeqCst) < server.connections() {
            assert!(
                Instant::now() < deadline,
                "the server closes idle connections"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_connection_carries_any_amount() {
    // Each body is larger than the flow-control window of the generator.
    let large: &[u8] = Box::leak(vec![7; 20 << 20].into());
    let server = Server::new(|_| Act::Respond(200, large));
    let mut engine = Engine::start(LoadJob {
        connections: 1,
        ..job(server.address)
    })
    .unwrap();
    let mut received = 0;
    while received < 50 << 20 {
        let record = load_again(&mut engine, 100);
        assert_eq!(record.errors, [0; 7], "{:?}", record.words);
        received += record.counts[LoadCount::ReceivedBytes];
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_load_that_is_stopped_ends_at_once() {
    let server = Server::new(|_| Act::Silence);
    let mut engine = Engine::start(job(server.address)).unwrap();
    let begin = Instant::now();
    let (length, slice) = (Duration::from_secs(60), Duration::from_millis(50));
    let mut all = SliceRecord::new();
    let each = &mut |record: &SliceRecord| {
        all.add(record);
        all.offered < 4
    };
    engine.load(length, slice, each).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(30));
    assert_eq!(
        (all.offered, all.errors[ErrorKind::Unfinished as usize]),
        (4, 4)
    );
}

#[test]
fn http2_is_used_over_tls_if_the_server_agrees() {
    let authority = Authority::new();
    let connect = |protocols: &[&[u8]]| {
        let server = Server::with_tls(Some(authority.server("127.0.0.1", protocols)), |_| OK);
        let origin = LoadUrl::parse(&format!("https://{}/", server.address))
            .unwrap()
            .origin;
        let tls = Tls::new(&origin, Protocol::Http2, &Trust::File(authority.file())).unwrap();
        load_much(
            LoadJob {
                tls: Some(tls),
                expect: body(b"hello"),
                ..job(server.address)
            },
            200,
        )
    };
    let record = connect(&[b"h2"]);
    assert!(record.served > 10);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);
    assert_fails(&connect(&[b"http/1.1"]), ErrorKind::Connect, "");
    assert_fails(&connect(&[]), ErrorKind::Connect, "does not support HTTP/2");
}

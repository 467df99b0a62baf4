// SPDX-License-Identifier: Apache-2.0
//! Tests load on servers that respond correctly, incorrectly or not at all. Every offered request
//! is served or counted as an error.

use crate::loading::{
    self, assert_adds_up, assert_fails, body, closed_address, load, load_much, open_loop,
};
use crate::servers::{Server, respond, respond_and_close, sent_in_pieces};
use lab_load::{
    Engine, Expect, JsonValue, LoadJob, LoadUrl, Request, Requests, SliceRecord, Statuses,
};
use lab_model::{ErrorKind, LoadCount, PointId, SubjectId};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn job(address: SocketAddr) -> LoadJob {
    job_with(address, true, |request| request)
}

fn job_with(
    address: SocketAddr,
    keep_alive: bool,
    request: impl Fn(Request) -> Request,
) -> LoadJob {
    loading::job(&format!("http://{address}/"), keep_alive, request)
}

#[test]
fn all_requests_to_a_good_server_are_served() {
    let server = Server::responding(OK);
    let record = load_much(job(server.address), 300);
    assert!(record.served > 8, "{}", record.served);
    assert_eq!(record.errors, [0; 7]);
    assert_eq!(
        record.counts[LoadCount::ReceivedBytes],
        record.served * OK.len() as u64
    );
    assert_eq!(
        (record.counts[LoadCount::Connects], server.connections()),
        (4, 4)
    );
    assert_eq!(server.requests(), record.offered);
    assert!(record.cpu_ns > 0 && record.response.max() >= record.service.max());
}

#[test]
fn connections_are_shared_among_threads() {
    let server = Server::responding(OK);
    let job = LoadJob {
        connections: 5,
        threads: 2,
        ..job(server.address)
    };
    let record = load(job, 200);
    assert_eq!((record.errors, server.connections()), ([0; 7], 5));
    assert_eq!(server.requests(), record.offered);
}

#[test]
fn responses_are_read_in_pieces_of_any_size() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x\r\nlo\r\n0\r\nA: b\r\n\r\n";
    for bytes in [OK, chunked] {
        let server = Server::new(move |stream, _| sent_in_pieces(stream, bytes));
        let job = LoadJob {
            expect: body(b"hello"),
            ..job(server.address)
        };
        let record = load(job, 100);
        assert!(record.served > 0);
        assert_eq!(record.errors, [0; 7]);
    }
}

#[test]
fn multiple_requests_are_in_flight_on_a_connection() {
    let server = Server::responding(OK);
    let job = LoadJob {
        pipeline: 8,
        ..job(server.address)
    };
    let record = load_much(job, 200);
    assert_eq!((record.errors, server.requests()), ([0; 7], record.served));
    assert!(server.max_concurrent() > 4 && server.max_concurrent() <= 8);
}

#[test]
fn without_keep_alive_every_request_opens_a_connection() {
    let server = Server::responding(OK);
    let record = load_much(job_with(server.address, false, |request| request), 1_000);
    assert!(record.served > 10);
    assert_eq!(
        (record.errors, record.counts[LoadCount::Connects]),
        ([0; 7], record.served)
    );
    assert_eq!(server.connections(), record.served);
}

/// The stored part of a body is longer than the expected body, so that a longer body is detected.
#[test]
fn a_body_that_only_begins_as_expected_is_wrong() {
    let server = Server::responding(OK);
    let job = LoadJob {
        expect: body(b"hell"),
        ..job(server.address)
    };
    assert_fails(&load(job, 100), ErrorKind::Body, "5 bytes");
}

#[test]
fn a_body_may_end_with_its_connection() {
    let server =
        Server::new(|stream, _| respond_and_close(stream, b"HTTP/1.0 200 OK\r\n\r\nhello"));
    let job = LoadJob {
        expect: body(b"hello"),
        ..job(server.address)
    };
    let record = load_much(job, 500);
    assert!(record.served > 4 && record.counts[LoadCount::Connects] >= record.served);
    assert_eq!(record.errors, [0; 7]);
}

#[test]
fn an_announced_end_of_a_connection_loses_no_request() {
    let closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let open = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    for pipeline in [1, 4] {
        let server = Server::new(move |stream, number| match number % 3 {
            2 => respond_and_close(stream, closing),
            _ => respond(stream, open),
        });
        let job = LoadJob {
            pipeline,
            ..job(server.address)
        };
        let record = load_much(job, 200);
        assert!(record.served > 20);
        assert_eq!(record.errors, [0; 7], "{pipeline} {:?}", record.words);
    }
}

/// The requests behind a response that ends with its connection are sent again (RFC 9112, section
/// 9.3.2).
#[test]
fn a_body_that_ends_with_its_connection_loses_no_pipelined_request() {
    let server = Server::raw(|stream| {
        let mut room = [0; 65_536];
        if stream.read(&mut room).is_ok_and(|n| n > 0) {
            respond(stream, b"HTTP/1.1 200 OK\r\n\r\nhello");
            // Closing the connection before it has read all requests would reset it.
            stream.shutdown(Shutdown::Write).unwrap();
            while stream.read(&mut room).is_ok_and(|n| n > 0) {}
        }
    });
    let job = LoadJob {
        pipeline: 4,
        expect: body(b"hello"),
        ..job(server.address)
    };
    let record = load_much(job, 200);
    assert!(record.served > 20);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);
}

/// There are more connections than events that a generator's thread handles at once.
#[test]
fn connections_closed_between_loads_are_opened_again() {
    const CONNECTIONS: usize = 300;
    let (closes, opened, closed) =
        <(Arc<AtomicBool>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let (is_over, count) = (closes.clone(), closed.clone());
    let server = Server::raw(move |stream| {
        if opened.fetch_add(1, SeqCst) < CONNECTIONS {
            while !is_over.load(SeqCst) {
                sleep(Duration::from_millis(5));
            }
            stream.shutdown(Shutdown::Both).unwrap();
            count.fetch_add(1, SeqCst);
            return;
        }
        let mut room = [0; 4096];
        while stream.read(&mut room).is_ok_and(|n| n > 0) && respond(stream, OK) {}
    });
    let job = LoadJob {
        connections: CONNECTIONS,
        ..job(server.address)
    };
    let mut engine = Engine::start(job).unwrap();
    closes.store(true, SeqCst);
    while closed.load(SeqCst) < CONNECTIONS {
        sleep(Duration::from_millis(5));
    }
    let record = loading::load_again(&mut engine, 100);
    assert!(record.served > 0);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);
}

/// Each block, and each thread, starts at another request of a mix, so that short loads send all of
/// its requests. Servers that are loaded in the same block get the same requests.
#[test]
fn short_loads_send_all_requests_of_a_mix() {
    const REQUESTS: usize = 64;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let received = lines.clone();
    let server = Server::raw(move |stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while reader.read_line(&mut head).is_ok_and(|n| n > 0) {
            if head.ends_with("\r\n\r\n") {
                let line = head.lines().next().unwrap().to_owned();
                received.lock().unwrap().push(line);
                respond(stream, OK);
                head.clear();
            }
        }
    });
    let urls = (0..REQUESTS).map(|i| format!("http://{}/{i}", server.address));
    let urls = urls.map(|url| Request::new(LoadUrl::parse(&url).unwrap()));
    let job = LoadJob {
        requests: Arc::new(Requests::new(&urls.collect::<Vec<_>>(), true, 1).unwrap()),
        arrivals: open_loop(80.0),
        connections: 1,
        ..job(server.address)
    };
    // Eight requests are due in 100 ms.
    let sent = |job: LoadJob| {
        assert_eq!(load(job, 100).served, 8);
        std::mem::take(&mut *lines.lock().unwrap())
    };
    let in_block = |block| sent(job.clone().of_block(block));
    let first = in_block(0);
    assert_eq!(first, in_block(0));
    let all: HashSet<String> = (0..12).flat_map(in_block).collect();
    assert!(all.len() > REQUESTS / 2, "{all:?}");
    let by_threads: HashSet<String> = sent(LoadJob {
        connections: 2,
        threads: 2,
        ..job.clone()
    })
    .into_iter()
    .collect();
    assert_eq!(by_threads.len(), 8);
}

#[test]
fn nobody_listens() {
    let address = closed_address();
    assert_fails(&load(job(address), 200), ErrorKind::Connect, "refused");
    let job = LoadJob {
        arrivals: open_loop(200.0),
        ..job(address)
    };
    let record = load(job, 200);
    assert_fails(&record, ErrorKind::Connect, "refused");
    assert_eq!(record.offered, 40);
}

#[test]
fn connections_that_close_early_are_resets() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello";
    for bytes in [&b""[..], &cut[..12], cut] {
        let server = Server::new(move |stream, _| respond_and_close(stream, bytes));
        assert_fails(&load(job(server.address), 100), ErrorKind::Reset, "");
    }
}

#[test]
fn what_is_not_http_is_malformed() {
    let garbage: [&[u8]; 5] = [
        b"220 mail ESMTP\r\n",
        b"\0\0\0\0",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        // The body is longer than its Content-Length.
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz",
    ];
    for bytes in garbage {
        let server = Server::new(move |stream, _| respond(stream, bytes));
        assert_fails(&load(job(server.address), 100), ErrorKind::Malformed, "");
    }
}

#[test]
fn wrong_statuses_and_bodies_are_never_served() {
    let server = Server::responding(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    assert_fails(&load(job(server.address), 100), ErrorKind::Status, "503");
    let json = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\": 17}";
    let server = Server::responding(json);
    let expect = |text: &str| {
        let value = JsonValue::parse(text).unwrap();
        let expect = Expect::new(Statuses::default(), None, vec![value]);
        LoadJob {
            expect: Arc::new(expect),
            ..job(server.address)
        }
    };
    assert_eq!(load(expect("a=17"), 100).errors, [0; 7]);
    assert_fails(&load(expect("a=18"), 100), ErrorKind::Body, "9 bytes");
}

#[test]
fn missing_responses_are_timeouts() {
    let server = Server::new(|stream, _| {
        sleep(Duration::from_secs(60));
        respond(stream, OK)
    });
    let closed = LoadJob {
        timeout: Duration::from_millis(200),
        ..job(server.address)
    };
    let open = LoadJob {
        arrivals: open_loop(100.0),
        ..closed.clone()
    };
    // On a busy machine, the load may end before the last requests time out.
    let of_kinds = |record: &SliceRecord| {
        [ErrorKind::Timeout, ErrorKind::Unfinished].map(|k| record.errors[k as usize])
    };
    let record = load(closed, 1000);
    let [timeouts, unfinished] = of_kinds(&record);
    assert!(
        timeouts > 0 && timeouts + unfinished == record.offered,
        "{:?}",
        record.errors
    );
    let message = record.words[ErrorKind::Timeout as usize].as_deref();
    assert!(message.unwrap().contains("in time"), "{message:?}");
    // More requests are due than can time out on four connections.
    let record = load(open, 1000);
    assert_eq!((record.served, record.offered), (0, 100));
    let [timeouts, unfinished] = of_kinds(&record);
    assert!(
        timeouts > 0 && unfinished > 0 && timeouts + unfinished == 100,
        "{:?}",
        record.errors
    );
}

/// A load waits for responses that are in flight at its end.
#[test]
fn the_load_waits_for_late_responses() {
    let server = Server::new(|stream, _| {
        sleep(Duration::from_millis(300));
        respond(stream, OK)
    });
    let record = load(job(server.address), 100);
    assert_eq!((record.served, record.errors), (record.offered, [0; 7]));
    assert!(record.response.min() >= 299_000_000);
}

#[test]
fn errors_of_a_dying_server_are_counted_by_kind() {
    let server = Server::responding(OK);
    let mut engine = Engine::start(job(server.address)).unwrap();
    let (mut server, mut all) = (Some(server), SliceRecord::new());
    let mut ended_without_response = false;
    let each = &mut |record: &SliceRecord| {
        all.add(record);
        if record.served > 0 {
            server = None;
        }
        // Responses that the server has sent may be read after its death.
        ended_without_response =
            record.served == 0 && record.errors[ErrorKind::Connect as usize] > 0;
        !ended_without_response
    };
    let slice = Duration::from_millis(50);
    engine.load(Duration::from_secs(60), slice, each).unwrap();
    assert_adds_up(&all);
    assert!(all.served > 0 && server.is_none());
    assert!(
        all.errors[ErrorKind::Connect as usize] > 0,
        "{:?}",
        all.errors
    );
}

/// In an open loop, requests that become due while the server is stalled have to wait. Their
/// response times start when they became due.
#[test]
fn an_open_loop_counts_from_when_requests_are_due() {
    let first = OnceLock::new();
    let server = Server::new(move |stream, _| {
        let stall = Duration::from_millis(200)..Duration::from_millis(600);
        let elapsed = first.get_or_init(Instant::now).elapsed();
        if stall.contains(&elapsed) {
            sleep(stall.end - elapsed);
        }
        respond(stream, OK)
    });
    let job = LoadJob {
        arrivals: open_loop(1000.0),
        threads: 2,
        ..job(server.address)
    };
    let record = load(job, 1000);
    assert_eq!((record.offered, record.served), (1000, 1000));
    assert_eq!(record.send_delay.len(), 1000);
    // 400 requests are due during the stall. A busy machine makes more of them late.
    let late = record.response.len() - record.response.count_between(0, 20_000_000);
    assert!(late >= 370, "{late}");
    let served_late = record.service.len() - record.service.count_between(0, 20_000_000);
    // One request per connection, and a few more on a busy machine.
    assert!(served_late < late / 4, "{served_late} of {late}");
}

/// Requests that are waiting at the end of a load are still served. The time for this is reported
/// separately and is not part of the load's length.
#[test]
fn a_backlog_served_after_the_end_is_reported() {
    let server = Server::new(|stream, _| {
        sleep(Duration::from_millis(20));
        respond(stream, OK)
    });
    let job = LoadJob {
        connections: 1,
        arrivals: open_loop(200.0),
        ..job(server.address)
    };
    let record = load(job, 100);
    assert_eq!((record.offered, record.served), (20, 20));
    // Twenty responses take at least 400 ms, even on a fast machine.
    assert!(record.drain_ns >= 290_000_000, "{}", record.drain_ns);
    let slice = record.slice(PointId(0), SubjectId(0), 0);
    assert_eq!(slice.drain_ns, record.drain_ns);
    let usual = slice.service.median().unwrap();
    assert_eq!(
        slice.served_in_ns(),
        slice.wall_ns + slice.drain_ns - usual,
        "the last service time is not a backlog"
    );
}

#[test]
fn slices_follow_each_other_and_loads_too() {
    let server = Server::responding(OK);
    let mut engine = Engine::start(LoadJob {
        arrivals: open_loop(2000.0),
        threads: 2,
        ..job(server.address)
    })
    .unwrap();
    for _ in 0..3 {
        let mut slices = Vec::new();
        let each = &mut |record: &SliceRecord| {
            slices.push((record.wall_ns, record.offered));
            true
        };
        let (length, slice) = (Duration::from_millis(250), Duration::from_millis(100));
        engine.load(length, slice, each).unwrap();
        let walls: Vec<u64> = slices.iter().map(|(wall, _)| wall / 1_000_000).collect();
        assert_eq!(walls, [100, 100, 50]);
        assert_eq!(slices.iter().map(|(_, offered)| offered).sum::<u64>(), 500);
    }
    assert_eq!(server.connections(), 4);
}

#[test]
fn a_load_can_be_stopped() {
    let server = Server::responding(OK);
    let mut engine = Engine::start(job(server.address)).unwrap();
    let (mut all, mut slices) = (SliceRecord::new(), 0);
    let each = &mut |record: &SliceRecord| {
        all.add(record);
        slices += 1;
        slices < 2
    };
    let slice = Duration::from_millis(50);
    engine.load(Duration::from_secs(60), slice, each).unwrap();
    assert_adds_up(&all);
    // A load of 60 s has 1,200 slices.
    assert!((2..600).contains(&slices), "{slices}");
}

#[test]
fn too_many_connections_are_rejected_with_advice() {
    let job = LoadJob {
        connections: 100_000_000,
        ..job("127.0.0.1:9".parse().unwrap())
    };
    let error = Engine::start(job).err().unwrap().to_string();
    assert!(error.contains("ulimit -n 100000064"), "{error}");
}

/// A server that reads slowly receives requests that are larger than the socket buffer, in parts.
#[test]
fn large_requests_are_sent_in_parts() {
    let server = Server::raw(|stream| {
        let mut request = vec![0; 65_536];
        let mut received = 0;
        while let Ok(n) = stream.read(&mut request)
            && n > 0
        {
            received += n;
            if request[..n].ends_with(b"!") {
                assert!(received > 3_000_000);
                received = 0;
                stream.write_all(OK).unwrap();
            }
        }
    });
    let mut body = vec![b'x'; 3_000_000];
    body.push(b'!');
    let job = job_with(server.address, true, |request| Request {
        method: http::Method::POST,
        body: body.clone().into(),
        ..request
    });
    let record = load(job, 200);
    assert!(record.served > 0);
    assert_eq!(record.errors, [0; 7], "{:?}", record.words);
}

// SPDX-License-Identifier: Apache-2.0
//! Builds and runs jobs for tests, and checks the merged records.

use crate::closed_port::closed_port;
use lab_load::{
    Engine, Expect, LoadGuard, LoadJob, LoadUrl, Request, Requests, SliceRecord, Statuses,
};
use lab_model::{Arrivals, ErrorKind, Protocol, Stage};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Creates a closed loop over four connections. `change` modifies the request for `url`.
pub fn job(url: &str, keep_alive: bool, change: impl Fn(Request) -> Request) -> LoadJob {
    let link = LoadUrl::parse(url).unwrap();
    let address = link.origin.address(None, &LoadGuard::default()).unwrap();
    let requests = Requests::new(&[change(Request::new(link))], keep_alive, 1).unwrap();
    LoadJob {
        address,
        tls: None,
        requests: Arc::new(requests),
        expect: Arc::new(Expect::default()),
        connections: 4,
        threads: 1,
        protocol: Protocol::Http1,
        keep_alive,
        pipeline: 1,
        arrivals: Arrivals::Closed,
        tick_ns: 200_000,
        timeout: Duration::from_secs(60),
        seed: 1,
    }
}

pub fn open_loop(rate: f64) -> Arrivals {
    let stage = Stage {
        from: rate,
        to: rate,
        length_ns: 1_000_000_000,
    };
    Arrivals::Open {
        poisson: false,
        stages: vec![stage],
    }
}

/// Returns an expected response whose body is `text`.
pub fn body(text: &[u8]) -> Arc<Expect> {
    let body = Some(text.to_vec());
    Arc::new(Expect::new(Statuses::default(), body, vec![]))
}

/// Runs a load in slices of 50 ms, and returns the merged record.
///
/// A closed loop sends at least one request for each connection of [`job`].
#[track_caller]
pub fn load(job: LoadJob, ms: u64) -> SliceRecord {
    load_at_least(job, ms, 4)
}

/// Runs a load in slices of 50 ms. A closed loop is repeated until it has sent 40 requests.
#[track_caller]
pub fn load_much(job: LoadJob, ms: u64) -> SliceRecord {
    load_at_least(job, ms, 40)
}

/// Runs a load. On a busy machine, the thread of a closed loop may not run during the load. Therefore, a
/// closed loop is repeated until it has sent enough requests.
#[track_caller]
fn load_at_least(job: LoadJob, ms: u64, requests: u64) -> SliceRecord {
    let is_closed = job.arrivals == Arrivals::Closed;
    let mut engine = Engine::start(job).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut all = load_again(&mut engine, ms);
    while is_closed && all.offered < requests && Instant::now() < deadline {
        all.add(&load_again(&mut engine, ms));
    }
    all
}

/// Returns an address of this machine at which nothing listens.
pub fn closed_address() -> SocketAddr {
    ([127, 0, 0, 1], closed_port()).into()
}

#[track_caller]
pub fn load_again(engine: &mut Engine, ms: u64) -> SliceRecord {
    let mut all = SliceRecord::new();
    let slice = Duration::from_millis(50);
    let each = &mut |record: &SliceRecord| {
        all.add(record);
        true
    };
    engine.load(Duration::from_millis(ms), slice, each).unwrap();
    assert_adds_up(&all);
    all
}

#[track_caller]
pub fn assert_adds_up(record: &SliceRecord) {
    let errors: u64 = record.errors.iter().sum();
    let ended = record.served + errors;
    assert_eq!(record.offered, ended, "{:?}", record.errors);
    assert_eq!(record.response.len(), record.served);
    assert_eq!(record.service.len(), record.served);
}

/// Asserts that all requests fail with the same error.
#[track_caller]
pub fn assert_fails(record: &SliceRecord, kind: ErrorKind, words: &str) {
    let (of_kind, errors) = (record.errors[kind as usize], &record.errors);
    assert!(of_kind > 0, "{errors:?} {:?}", record.words);
    assert_eq!(errors.iter().sum::<u64>(), of_kind, "{errors:?}");
    assert_eq!(record.served, 0);
    let message = record.words[kind as usize].as_deref().unwrap();
    assert!(message.contains(words), "{message}");
}

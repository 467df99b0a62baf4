// SPDX-License-Identifier: Apache-2.0
//! Loads for tests: a job that is changed as a test needs it, and all that happened when it was carried out.

use lab_load::{
    Engine, Expect, LoadGuard, LoadJob, LoadUrl, Request, Requests, SliceRecord, Statuses,
};
use lab_model::{Arrivals, ErrorKind, Protocol, Stage};
use std::sync::Arc;
use std::time::Duration;

/// A closed loop over four kept connections with what is made of a request for `url`.
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
        timeout: Duration::from_secs(5),
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

/// Wants this body.
pub fn body(text: &[u8]) -> Arc<Expect> {
    let body = Some(text.to_vec());
    Arc::new(Expect::new(Statuses::default(), body, vec![]))
}

/// A load of some milliseconds in slices of 50 ms, all of them together.
#[track_caller]
pub fn load(job: LoadJob, ms: u64) -> SliceRecord {
    load_again(&mut Engine::start(job).unwrap(), ms)
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

/// All requests fail, in one way.
#[track_caller]
pub fn assert_fails(record: &SliceRecord, kind: ErrorKind, words: &str) {
    let (of_kind, errors) = (record.errors[kind as usize], &record.errors);
    assert!(of_kind > 0, "{errors:?} {:?}", record.words);
    assert_eq!(errors.iter().sum::<u64>(), of_kind, "{errors:?}");
    assert_eq!(record.served, 0);
    let message = record.words[kind as usize].as_deref().unwrap();
    assert!(message.contains(words), "{message}");
}

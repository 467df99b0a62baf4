// SPDX-License-Identifier: Apache-2.0
//! Kills a server while a subject makes calls, starts it again, and sees when and how they come back.

use super::proxy::Proxy;
use crate::drawn::drawn;
use crate::process::{Answer, Process};
use crate::server::Server;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Between two looks at what passes the proxy.
const PAUSE: Duration = Duration::from_millis(1);

/// The load on a server that returned is that of this time, or until the batch ends.
const AFTER: Duration = Duration::from_secs(1);

/// In less there is no load to speak of.
const LEAST: Duration = Duration::from_millis(50);

/// Outages of one visit.
pub struct Outages {
    lasting: Duration,
    seed: u64,
    made: Cell<u64>,
}

/// How calls came back after an outage; `None`: the batch was over before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recovery {
    /// From the moment when the server answers again to the first COMMIT, ns.
    pub back_ns: Option<f64>,
    /// Requests in the second after it, as a multiple of those in a second before the outage.
    pub load: Option<f64>,
}

impl Recovery {
    /// In the order of [`lab_model::Metric::OUTAGE`]; not a number where it is not known.
    pub fn values(self) -> [f64; 2] {
        [self.back_ns, self.load].map(|value| value.unwrap_or(f64::NAN))
    }
}

impl Outages {
    /// Each of such a length.
    pub fn new(seconds: f64, seed: u64) -> Outages {
        Outages {
            lasting: Duration::from_secs_f64(seconds),
            seed,
            made: Cell::new(0),
        }
    }

    /// Makes one in a batch that lasts about `turn` without it, between its first and its last quarter.
    pub fn make(
        &self,
        server: &Server,
        proxy: &Proxy,
        process: &mut Process,
        turn: Duration,
    ) -> Answer<Recovery> {
        let began = Instant::now();
        let requests = proxy.requests();
        let number = self.made.replace(self.made.get() + 1);
        let part = drawn(self.seed, &[number]) as f64 / u64::MAX as f64;
        if process.replies_within(turn.mul_f64(0.25 + part / 2.0))? {
            return Ok(Recovery::default());
        }
        let before = rate(proxy.requests() - requests, began);
        server.kill()?;
        let is_over = process.replies_within(self.lasting)?;
        server.start_again()?;
        match is_over {
            true => Ok(Recovery::default()),
            false => seen(proxy, process, before),
        }
    }
}

/// What reaches a server that has just returned, until the subject replies.
fn seen(proxy: &Proxy, process: &mut Process, before: f64) -> Answer<Recovery> {
    let returned = Instant::now();
    let (commits, requests) = (proxy.commits(), proxy.requests());
    let mut recovery = Recovery::default();
    loop {
        let replied = process.replies_within(PAUSE)?;
        if recovery.back_ns.is_none() && proxy.commits() > commits {
            recovery.back_ns = Some(returned.elapsed().as_nanos() as f64);
        }
        let is_long = returned.elapsed() >= AFTER;
        let is_enough = is_long || (replied && returned.elapsed() >= LEAST);
        if is_enough && recovery.load.is_none() {
            recovery.load = Some(rate(proxy.requests() - requests, returned) / before);
        }
        if replied || (is_long && recovery.back_ns.is_some()) {
            return Ok(recovery);
        }
    }
}

/// In a second.
fn rate(count: u64, since: Instant) -> f64 {
    count as f64 / since.elapsed().as_secs_f64()
}

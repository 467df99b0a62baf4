// SPDX-License-Identifier: Apache-2.0
//! Takes away what calls need while a subject makes them, brings it back, and sees when and how they come back.

use crate::drawn::drawn;
use crate::process::{Answer, Process};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Between two looks at what passes the proxy.
const PAUSE: Duration = Duration::from_millis(1);

/// The load on a server that returned is that of this time, or until the batch ends.
const AFTER: Duration = Duration::from_secs(1);

/// In less there is no load to speak of.
const LEAST: Duration = Duration::from_millis(50);

/// What calls need, and can be away.
pub trait Needed {
    /// From now on it is away.
    fn take_away(&self) -> Answer<()>;

    /// It is there again.
    fn bring_back(&self) -> Answer<()>;

    /// Transactions that were seen to be committed, or about to be.
    fn commits(&self) -> Answer<u64>;

    /// Requests that were seen, where they can be.
    fn requests(&self) -> Option<u64>;
}

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
        needed: &dyn Needed,
        process: &mut Process,
        turn: Duration,
    ) -> Answer<Recovery> {
        let began = Instant::now();
        let requests = needed.requests();
        let number = self.made.replace(self.made.get() + 1);
        let part = drawn(self.seed, &[number]) as f64 / u64::MAX as f64;
        if process.replies_within(turn.mul_f64(0.25 + part / 2.0))? {
            return Ok(Recovery::default());
        }
        let before = rate(needed, requests, began);
        needed.take_away()?;
        let is_over = process.replies_within(self.lasting)?;
        needed.bring_back()?;
        match is_over {
            true => Ok(Recovery::default()),
            false => seen(needed, process, before),
        }
    }
}

/// What becomes of calls once that is back which they need, until the subject replies.
fn seen(needed: &dyn Needed, process: &mut Process, before: Option<f64>) -> Answer<Recovery> {
    let returned = Instant::now();
    let (commits, requests) = (needed.commits()?, needed.requests());
    let mut recovery = Recovery::default();
    loop {
        let replied = process.replies_within(PAUSE)?;
        if recovery.back_ns.is_none() && needed.commits()? > commits {
            recovery.back_ns = Some(returned.elapsed().as_nanos() as f64);
        }
        let is_long = returned.elapsed() >= AFTER;
        let is_enough = is_long || (replied && returned.elapsed() >= LEAST);
        if is_enough && recovery.load.is_none() {
            let after = rate(needed, requests, returned);
            recovery.load = after.zip(before).map(|(after, before)| after / before);
        }
        if replied || (is_long && recovery.back_ns.is_some()) {
            return Ok(recovery);
        }
    }
}

/// Requests in a second, since there were so many.
fn rate(needed: &dyn Needed, before: Option<u64>, since: Instant) -> Option<f64> {
    let more = needed.requests()? - before?;
    Some(more as f64 / since.elapsed().as_secs_f64())
}

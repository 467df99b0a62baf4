// SPDX-License-Identifier: Apache-2.0
//! Takes away what calls need while a subject makes them, brings it back, and observes how calls recover.

use crate::fault::SubjectResult;
use crate::process::SubjectProcess;
use crate::random::random;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Between two readings of what passes the proxy.
const PAUSE: Duration = Duration::from_millis(1);

/// How long calls are watched after an outage, unless the batch ends before.
const WATCH_TIME: Duration = Duration::from_secs(10);

/// Load is counted over windows of this length.
const WINDOW: Duration = Duration::from_secs(1);

/// A shorter window says nothing about load.
const MIN_WINDOW: Duration = Duration::from_millis(50);

/// Something that calls need and that can be unavailable.
pub trait Dependency {
    /// Makes it unavailable.
    fn take_away(&self) -> SubjectResult<()>;

    /// Makes it available again.
    fn bring_back(&self) -> SubjectResult<()>;

    /// Transactions that were committed, or whose COMMIT was sent.
    fn commits(&self) -> SubjectResult<u64>;

    /// Requests that were sent, where they can be counted.
    fn requests(&self) -> Option<u64>;
}

/// Outages of one visit.
pub struct Outages {
    duration: Duration,
    seed: u64,
    count: Cell<u64>,
}

/// How calls came back after an outage; `None`: the batch was over before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recovery {
    /// From the moment when the server answers again to the first COMMIT, ns.
    pub back_ns: Option<f64>,
    /// Requests in the busiest second since then, as a multiple of those in a second before the outage.
    pub load: Option<f64>,
}

impl Recovery {
    /// In the order of [`lab_model::Metric::OUTAGE`]; NaN where it is not known.
    pub fn values(self) -> [f64; 2] {
        [self.back_ns, self.load].map(|value| value.unwrap_or(f64::NAN))
    }
}

impl Outages {
    /// Outages of this length, s.
    pub fn new(seconds: f64, seed: u64) -> Outages {
        Outages {
            duration: Duration::from_secs_f64(seconds),
            seed,
            count: Cell::new(0),
        }
    }

    /// Makes one in a batch that lasts about `turn` without it, between the batch's first and last quarter. A batch at
    /// a fixed rate of calls lasts no longer for the outage; the outage ends in it if it is the shorter of the two.
    pub fn make(
        &self,
        dependency: &dyn Dependency,
        process: &mut SubjectProcess,
        turn: Duration,
    ) -> SubjectResult<Recovery> {
        let began = Instant::now();
        let requests = dependency.requests();
        let number = self.count.replace(self.count.get() + 1);
        let part = random(self.seed, &[number]) as f64 / u64::MAX as f64;
        let free = turn.checked_sub(self.duration).unwrap_or(turn);
        if process.replies_within(free.mul_f64(0.25 + part / 2.0))? {
            return Ok(Recovery::default());
        }
        let before = rate(requests, dependency.requests(), began.elapsed());
        dependency.take_away()?;
        let is_over = process.replies_within(self.duration)?;
        dependency.bring_back()?;
        if is_over {
            Ok(Recovery::default())
        } else {
            watch_recovery(dependency, process, before)
        }
    }
}

/// Watches calls after the dependency was brought back, until the subject replies.
fn watch_recovery(
    dependency: &dyn Dependency,
    process: &mut SubjectProcess,
    before: Option<f64>,
) -> SubjectResult<Recovery> {
    let restored_at = Instant::now();
    let commits = dependency.commits()?;
    let mut busiest = Busiest::since(restored_at, dependency.requests());
    let mut back_ns = None;
    loop {
        let replied = process.replies_within(PAUSE)?;
        if back_ns.is_none() && dependency.commits()? > commits {
            back_ns = Some(restored_at.elapsed().as_nanos() as f64);
        }
        busiest.sample(Instant::now(), dependency.requests(), replied);
        if replied || (restored_at.elapsed() >= WATCH_TIME && back_ns.is_some()) {
            let load = busiest.rate.zip(before);
            let load = load.map(|(after, before)| after / before);
            return Ok(Recovery { back_ns, load });
        }
    }
}

/// The busiest of some seconds.
struct Busiest {
    /// When the current second began, and how many requests there were until then.
    began: Instant,
    requests: Option<u64>,
    /// Requests in a second.
    rate: Option<f64>,
}

impl Busiest {
    fn since(began: Instant, requests: Option<u64>) -> Busiest {
        Busiest {
            began,
            requests,
            rate: None,
        }
    }

    /// Counts a window that is over; in the last sample also a part of one, if none was complete.
    fn sample(&mut self, now: Instant, requests: Option<u64>, is_last: bool) {
        let passed = now - self.began;
        let is_part = is_last && self.rate.is_none() && passed >= MIN_WINDOW;
        if passed >= WINDOW || is_part {
            let rate = rate(self.requests, requests, passed);
            *self = Busiest {
                rate: self.rate.into_iter().chain(rate).reduce(f64::max),
                ..Busiest::since(now, requests)
            };
        }
    }
}

/// Requests in a second, of two counts that so much time lies between.
fn rate(before: Option<u64>, after: Option<u64>, time: Duration) -> Option<f64> {
    Some((after? - before?) as f64 / time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate after samples of (milliseconds, requests).
    fn busiest(looks: &[(u64, u64)]) -> Option<f64> {
        let began = Instant::now();
        let mut busiest = Busiest::since(began, Some(1_000));
        for (number, (ms, requests)) in looks.iter().enumerate() {
            let now = began + Duration::from_millis(*ms);
            busiest.sample(now, Some(1_000 + requests), number + 1 == looks.len());
        }
        busiest.rate
    }

    #[test]
    fn load_is_that_of_the_busiest_second() {
        let looks = [(500, 900), (1_000, 1_000), (2_000, 1_400), (3_000, 2_900)];
        assert_eq!(busiest(&looks), Some(1_500.0));
        assert_eq!(
            busiest(&[(1_000, 1_000), (1_600, 9_000)]),
            Some(1_000.0),
            "a part counts only if there is nothing else"
        );
        assert_eq!(busiest(&[(200, 90), (500, 100)]), Some(200.0));
        assert_eq!(busiest(&[(20, 90)]), None, "too short");
    }
}

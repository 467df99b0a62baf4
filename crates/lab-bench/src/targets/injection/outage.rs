// SPDX-License-Identifier: Apache-2.0
//! Makes a dependency of calls unavailable during a batch, makes it available again, and observes how the calls
//! recover.

use crate::host::random::random;
use crate::subject::fault::SubjectResult;
use crate::subject::process::SubjectProcess;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The interval between two readings of the proxy's counters.
const PAUSE: Duration = Duration::from_millis(1);

/// The maximum time to observe calls after an outage. The observation ends earlier if the batch
/// ends earlier.
const WATCH_TIME: Duration = Duration::from_secs(10);

/// The length of the time windows in which requests are counted.
const WINDOW: Duration = Duration::from_secs(1);

/// The minimum length of a window that yields a meaningful rate.
const MIN_WINDOW: Duration = Duration::from_millis(50);

/// A dependency of calls that can be unavailable.
pub trait Dependency {
    /// Makes the dependency unavailable.
    fn take_away(&self) -> SubjectResult<()>;

    /// Makes the dependency available again. Returns the time when it became available.
    fn bring_back(&self) -> SubjectResult<Instant>;

    /// Returns the first transaction since the dependency was taken down, if there is one.
    fn first_commit(&self) -> SubjectResult<Option<FirstCommit>>;

    /// Returns the number of requests sent, if they can be counted.
    fn requests(&self) -> Option<u64>;
}

/// The first transaction committed after an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstCommit {
    /// The time of the commit, or the time when the COMMIT was sent.
    pub at: Instant,
    /// The first response on the same connection, if it can be observed.
    pub answer: Option<FirstAnswer>,
}

/// A server's first response on a connection.
///
/// A client may receive a response before benchlab notices that the server is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstAnswer {
    /// The time of the response.
    pub at: Instant,
    /// The number of requests sent before the response, on all connections.
    pub requests: u64,
}

/// The outages of one visit.
pub struct Outages {
    duration: Duration,
    seed: u64,
    count: Cell<u64>,
}

/// The recovery of calls from an outage. Values are `None` if the batch ended too early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recovery {
    /// The time from the server's first response, to benchlab or to the subject, until the first
    /// COMMIT, in ns.
    pub back_ns: Option<f64>,
    /// The requests in the busiest second after the outage, divided by the requests in a second before it.
    pub load: Option<f64>,
}

impl FirstCommit {
    /// Returns the response that a client received before benchlab noticed that the server was back.
    fn earlier_answer(&self, restored_at: Instant) -> Option<FirstAnswer> {
        self.answer.filter(|answer| answer.at < restored_at)
    }

    /// Returns the time from the server's first response, to benchlab or to a client, until the commit, in ns.
    fn back_ns(&self, restored_at: Instant) -> f64 {
        let earlier = self.earlier_answer(restored_at);
        let answered_at = earlier.map_or(restored_at, |answer| answer.at);
        (self.at - answered_at).as_nanos() as f64
    }
}

impl Recovery {
    /// Returns the values in the order of [`lab_model::Metric::OUTAGE`]. Unknown values are NaN.
    pub fn values(self) -> [f64; 2] {
        [self.back_ns, self.load].map(|value| value.unwrap_or(f64::NAN))
    }
}

impl Outages {
    /// Creates outages with this duration in seconds.
    pub fn new(seconds: f64, seed: u64) -> Outages {
        Outages {
            duration: Duration::from_secs_f64(seconds),
            seed,
            count: Cell::new(0),
        }
    }

    /// Causes an outage during a batch that takes about `turn` without an outage.
    ///
    /// The outage starts in the middle half of the time that remains without it. It does not extend a batch at a fixed
    /// rate of calls, so it ends within the batch if it is shorter than the batch.
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
        let restored_at = dependency.bring_back()?;
        if is_over {
            Ok(Recovery::default())
        } else {
            watch_recovery(dependency, process, before, restored_at)
        }
    }
}

/// Observes calls from the end of the outage until the subject replies.
///
/// On a busy machine the subject may resume work before benchlab notices that the dependency is back.
fn watch_recovery(
    dependency: &dyn Dependency,
    process: &mut SubjectProcess,
    before: Option<f64>,
    restored_at: Instant,
) -> SubjectResult<Recovery> {
    let mut first_commit = dependency.first_commit()?;
    let earlier = first_commit.and_then(|commit| commit.earlier_answer(restored_at));
    let mut busiest = match earlier {
        Some(answer) => Busiest::since(answer.at, Some(answer.requests)),
        None => Busiest::since(restored_at, dependency.requests()),
    };
    loop {
        let replied = process.replies_within(PAUSE)?;
        if first_commit.is_none() {
            first_commit = dependency.first_commit()?;
        }
        busiest.sample(Instant::now(), dependency.requests(), replied);
        if replied || (restored_at.elapsed() >= WATCH_TIME && first_commit.is_some()) {
            let load = busiest.rate.zip(before);
            let load = load.map(|(after, before)| after / before);
            return Ok(Recovery {
                back_ns: first_commit.map(|commit| commit.back_ns(restored_at)),
                load,
            });
        }
    }
}

/// Finds the highest request rate in a window.
struct Busiest {
    /// The start of the current window, and the number of requests before it.
    began: Instant,
    requests: Option<u64>,
    /// The maximum rate so far in requests per second.
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

    /// Counts a completed window. The last sample counts the current window even if it is
    /// incomplete, unless there is a complete one.
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

/// Returns the rate in requests per second between two counts.
fn rate(before: Option<u64>, after: Option<u64>, time: Duration) -> Option<f64> {
    Some((after? - before?) as f64 / time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_from_the_first_answer_to_anybody() {
        let restored_at = Instant::now();
        let ms = |ms| Duration::from_millis(ms);
        let commit = |at, answered_at| FirstCommit {
            at,
            answer: Some(FirstAnswer {
                at: answered_at,
                requests: 7,
            }),
        };
        let later = commit(restored_at + ms(50), restored_at + ms(40));
        assert_eq!(later.back_ns(restored_at), 50e6);
        assert_eq!(later.earlier_answer(restored_at), None);
        // The client received its response before benchlab did.
        let earlier = commit(restored_at - ms(10), restored_at - ms(25));
        assert_eq!(earlier.back_ns(restored_at), 15e6);
        assert_eq!(earlier.earlier_answer(restored_at), earlier.answer);
    }

    /// Returns the highest rate for samples of the time in ms and the number of requests.
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

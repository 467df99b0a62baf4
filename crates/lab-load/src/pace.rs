// SPDX-License-Identifier: Apache-2.0
//! The times at which the requests of an open loop are due.

use lab_model::Stage;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// The times at which the requests of one thread are due, in order. Schedules with equal arguments
/// are equal.
#[derive(Clone, Debug)]
pub struct ArrivalSchedule {
    profile: RateProfile,
    steps: Steps,
    /// The position of the next request: the expected number of requests of all threads that are
    /// due before it.
    at: f64,
}

/// The distance between consecutive requests of one thread, as a number of positions in the common
/// sequence of all threads' requests.
#[derive(Clone, Debug)]
enum Steps {
    Even(f64),
    /// Exponentially distributed distances with the given mean.
    Exponential(f64, Box<SmallRng>),
}

impl ArrivalSchedule {
    /// Creates the schedule of the thread with index `thread`, out of `threads` threads. The index
    /// starts at 0. Requests are divided evenly among the threads.
    pub fn new(
        stages: &[Stage],
        poisson: bool,
        thread: usize,
        threads: usize,
        seed: u64,
    ) -> ArrivalSchedule {
        let mean = threads as f64;
        let (steps, at) = if poisson {
            let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ thread as u64;
            let random = Box::new(SmallRng::seed_from_u64(seed));
            (Steps::Exponential(mean, random), 0.0)
        } else {
            (Steps::Even(mean), thread as f64 - mean)
        };
        let mut schedule = ArrivalSchedule {
            profile: RateProfile::new(stages),
            steps,
            at,
        };
        schedule.advance();
        schedule
    }

    /// Returns the time at which the next request is due, in ns since the start, or `None` if the
    /// rate is 0.
    pub fn due_ns(&self) -> Option<u64> {
        self.profile.when_ns(self.at)
    }

    /// Moves to the next request.
    pub fn advance(&mut self) {
        self.at += match &mut self.steps {
            Steps::Even(step) => *step,
            // `1 - u` is never 0.
            Steps::Exponential(mean, random) => -*mean * (1.0 - random.random::<f64>()).ln(),
        };
    }
}

/// Converts a number of requests to the time at which that many requests are due.
///
/// If time is rescaled to the expected number of events, a process with a varying rate becomes a
/// process with rate 1 (time-rescaling theorem; Brown et al., *The Time-Rescaling Theorem and Its
/// Application to Neural Spike Train Data Analysis*, 2002, section 2.1).
#[derive(Clone, Debug)]
struct RateProfile {
    stages: Vec<Stage>,
    /// The total number of requests of all stages.
    requests: f64,
    /// The total length of all stages, in ns.
    length_ns: f64,
}

impl RateProfile {
    fn new(stages: &[Stage]) -> RateProfile {
        RateProfile {
            stages: stages.to_vec(),
            requests: stages.iter().map(requests).sum(),
            length_ns: stages.iter().map(|s| s.length_ns as f64).sum(),
        }
    }

    /// Returns the time at which `number` requests are due, in ns. After the last stage, the first
    /// stage starts again.
    fn when_ns(&self, number: f64) -> Option<u64> {
        if self.requests <= 0.0 {
            return None;
        }
        let rounds = (number / self.requests).floor();
        let mut left = number - rounds * self.requests;
        let mut ns = rounds * self.length_ns;
        for stage in &self.stages {
            let in_stage = requests(stage);
            if left < in_stage {
                ns += within_ns(stage, left);
                break;
            }
            left -= in_stage;
            ns += stage.length_ns as f64;
        }
        Some(ns as u64)
    }
}

fn seconds(stage: &Stage) -> f64 {
    stage.length_ns as f64 / 1e9
}

/// Returns the number of requests in a stage: the area under its rate.
fn requests(stage: &Stage) -> f64 {
    (stage.from + stage.to) / 2.0 * seconds(stage)
}

/// Returns the time within a stage at which `number` requests are due, in ns.
///
/// Solves `from t + (to - from) / (2 length) t² = number` in a form that does not lose precision if
/// the rate hardly changes.
fn within_ns(stage: &Stage, number: f64) -> f64 {
    let slope = (stage.to - stage.from) / seconds(stage);
    let root = (stage.from * stage.from + 2.0 * slope * number)
        .max(0.0)
        .sqrt();
    match stage.from + root {
        0.0 => 0.0,
        sum => 2.0 * number / sum * 1e9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(from: f64, to: f64, seconds: f64) -> Stage {
        Stage {
            from,
            to,
            length_ns: (seconds * 1e9) as u64,
        }
    }

    /// Returns the due times of all threads before `end_s`, in ascending order.
    fn due(stages: &[Stage], poisson: bool, threads: usize, end_s: f64) -> Vec<u64> {
        let mut all = Vec::new();
        for thread in 0..threads {
            let mut schedule = ArrivalSchedule::new(stages, poisson, thread, threads, 7);
            while let Some(due) = schedule.due_ns().filter(|&due| (due as f64) < end_s * 1e9) {
                all.push(due);
                schedule.advance();
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn a_constant_rate_is_even_over_all_threads() {
        for threads in [1, 3] {
            let due = due(&[stage(1000.0, 1000.0, 1.0)], false, threads, 2.5);
            let even: Vec<u64> = (0..2500).map(|k| k * 1_000_000).collect();
            let greatest_distance = due.iter().zip(&even).map(|(a, b)| a.abs_diff(*b)).max();
            assert_eq!((due.len(), greatest_distance.unwrap() <= 1), (2500, true));
        }
    }

    /// Checks a rate that increases from 0 to 1000 per second in 5 s: request k is due at √(k /
    /// 100) s.
    #[test]
    fn a_ramp_is_the_inverse_of_its_area() {
        let due = due(
            &[stage(0.0, 1000.0, 5.0), stage(1000.0, 1000.0, 1.0)],
            false,
            1,
            6.0,
        );
        assert_eq!(due.len(), 3500);
        for (k, &ns) in due.iter().enumerate().take(2500) {
            assert!(
                (ns as f64 / 1e9 - (k as f64 / 100.0).sqrt()).abs() < 1e-8,
                "{k}"
            );
        }
        assert_eq!((due[3499] as f64 / 1e6).round(), 5999.0);
    }

    /// Checks two properties of a Poisson process. The variance of the number of arrivals equals
    /// its mean. The gaps are exponentially distributed: half of them are shorter than ln 2 times
    /// the mean.
    #[test]
    fn poisson_arrivals_are_exponentially_apart() {
        for threads in [1, 4] {
            let due = due(&[stage(1000.0, 1000.0, 1.0)], true, threads, 100.0);
            assert!((due.len() as f64 - 100_000.0).abs() < 4.0 * 100_000f64.sqrt());
            let short = due
                .windows(2)
                .filter(|w| ((w[1] - w[0]) as f64) < 693_147.0);
            let part = short.count() as f64 / due.len() as f64;
            assert!((part - 0.5).abs() < 0.01, "{part}");
        }
    }

    #[test]
    fn a_rate_of_0_is_never_due() {
        assert_eq!(
            ArrivalSchedule::new(&[stage(0.0, 0.0, 1.0)], false, 0, 1, 1).due_ns(),
            None
        );
        assert_eq!(ArrivalSchedule::new(&[], true, 0, 1, 1).due_ns(), None);
    }
}

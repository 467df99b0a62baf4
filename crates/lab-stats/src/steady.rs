// SPDX-License-Identifier: Apache-2.0
//! The steady level of a server, as measured by a long pilot, and the age at which the server
//! reached this level.
//!
//! A shared machine changes its speed while a server warms up. The cost of a request is therefore
//! divided by the cost of a baseline request that was measured immediately afterwards. Change
//! points ([`warmup::change_points`]) find where the last level of the pilot began. A server whose
//! cost still decreases at that level is not steady yet.
//!
//! If rounds scatter, a small decrease has no visible change point, and the first rounds of the last
//! level still cost too much. A process therefore counts as warm only in the second half of that
//! level ([`warm_age`]).

use crate::{order, warmup};
use lab_model::{Age, Batch, Pilot, WarmUp};

/// The penalty of each change point, as a multiple of ln(rounds) times the variance of the noise.
const PENALTY: f64 = 6.0;
/// The minimum number of rounds at one level.
const MIN_STRETCH: usize = 4;
/// The minimum number of rounds at one level for a steady server. These rounds must also contain at
/// least a third of all requests.
const MIN_STEADY_ROUNDS: usize = 10;
const STEADY_FRACTION: f64 = 1.0 / 3.0;
/// The minimum number of pairs of turns with the baseline from which the level of a subject that
/// works in batches is determined.
pub const MIN_PAIRS: usize = 4;
/// The maximum difference between the logarithms of two levels that count as the same level.
const SAME_LEVEL: f64 = 0.03;
/// The minimum scale of noise, in logarithms.
const MIN_NOISE: f64 = 0.002;
/// The maximum decrease of a steady server's cost, in logarithms, while the number of its requests
/// doubles.
///
/// Code that is compiled late makes some servers cheaper for minutes, by about a tenth per
/// doubling. The rounds must rule out such a decrease, because too few rounds would not show it.
const MAX_FALL_PER_DOUBLING: f64 = 0.04;
/// A pilot is checked each time that its number of rounds has grown by this factor. A check after
/// each round would find a steady level by chance sooner or later.
const CHECKS_GROWTH: f64 = 1.2;
/// The maximum standard error of a process's level, in natural logarithms. The level must be known
/// this precisely before it is compared with the pilot's level.
const ERROR_OF_LAST: f64 = 0.05;
/// The minimum number of rounds at the end of a process from which its level is determined.
const MIN_LAST_ROUNDS: usize = 6;
/// The maximum number of rounds at the end of a process from which its level is determined.
const MAX_LAST_ROUNDS: usize = 40;

/// The level of a server at the end of its pilot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// The CPU time of a request, in ns.
    pub cost_ns: f64,
    /// The cost as a multiple of the baseline's cost at the same speed of the machine. `None` means
    /// that the baseline was not loaded.
    pub ratio: Option<f64>,
    /// The standard error of the logarithm of the level.
    pub error: f64,
    /// The standard deviation of the logarithm of a round's level.
    pub noise: f64,
    /// The index of the first round at the level.
    pub from: usize,
    /// The age of the server when it reached the level.
    pub age: Age,
    /// True if the server stayed at the level for long enough and its cost no longer decreased.
    pub reached: bool,
}

impl Steady {
    /// Returns the number of rounds at the end of another process that show whether the process is
    /// at this level.
    pub fn last_rounds(&self) -> usize {
        let rounds = std::f64::consts::FRAC_PI_2 * (self.noise / ERROR_OF_LAST).powi(2);
        (rounds.ceil() as usize).clamp(MIN_LAST_ROUNDS, MAX_LAST_ROUNDS)
    }
}

/// Returns the number of rounds after which a pilot that has `rounds` rounds is checked next.
pub fn next_check(rounds: usize) -> usize {
    let next = (rounds as f64 * CHECKS_GROWTH).ceil() as usize;
    next.max(MIN_STEADY_ROUNDS)
}

/// Returns the level at the end of a pilot, or `None` if the pilot has no rounds or its subject is
/// not a server.
pub fn steady(pilot: &Pilot) -> Option<Steady> {
    steady_rounds(&pilot.batches, &pilot.ages)
}

/// Returns the age at which a process is warm, given the steady level of its pilot.
///
/// The rounds at the level are split at the middle of the range of their request counts on a
/// logarithmic scale, as in the check that the cost no longer decreases. A process is warm once it
/// has reached the age at which the second half begins.
pub fn warm_age(pilot: &Pilot, level: &Steady) -> Age {
    let ages = pilot.ages.get(level.from..).unwrap_or_default();
    let served: Vec<u64> = ages.iter().map(|age| age.requests).collect();
    let middle = middle(&log2(&served));
    ages.get(middle).copied().unwrap_or(level.age)
}

/// Returns the level of a subject that works in batches, or `None` if the pilot has too few turns
/// with the baseline.
///
/// The level is the time of an operation in the last turns of the pilot, in which the subject
/// alternates with the baseline. The level was reached if the batches before these turns were
/// steady.
pub fn steady_batches(pilot: &Pilot) -> Option<Steady> {
    let turns = pilot.ages.len();
    let first = pilot.batches.len().checked_sub(turns)?;
    if turns < MIN_PAIRS || !has_baseline(&pilot.ages) {
        return None;
    }
    let turns = pilot.batches[first..].iter().zip(&pilot.ages);
    let logs = turns.map(|(batch, age)| {
        let own = cost(batch.wall_ns, batch.operations);
        (own / cost(age.baseline_cpu_ns, age.baseline_requests)).ln()
    });
    let logs: Vec<f64> = logs.collect();
    let stretch = &logs[level_start(&logs)..];
    let noise = order::scatter_of_steps(&logs).max(MIN_NOISE);
    let costs = pilot.batches[first..].iter();
    let costs = costs.map(|b| cost(b.wall_ns, b.operations));
    let own = &pilot.batches[..first];
    let from = match pilot.class {
        WarmUp::Flat => 0,
        WarmUp::NoSteadyState | WarmUp::CutShort => own.len(),
        WarmUp::Warming | WarmUp::Slowing => own.len().min(1 + first_steady(pilot, own)),
    };
    let before = || own[..from].iter();
    Some(Steady {
        cost_ns: median(costs.collect())?,
        ratio: Some(order::median(stretch)?.exp()),
        error: level_error(stretch, noise),
        noise,
        from,
        age: Age {
            requests: before().map(|b| b.operations).sum(),
            wall_ns: before().map(|b| b.wall_ns).sum(),
            ..Age::default()
        },
        reached: !matches!(pilot.class, WarmUp::NoSteadyState | WarmUp::CutShort),
    })
}

/// Returns the index of the first steady batch of a pilot. The very first operation does not count.
///
/// `own` contains the batches before the turns with the baseline. If the batches of the blocks are
/// long, the pilot uses shorter batches. Only the last batch in `own` is then as long as the
/// batches of the blocks.
fn first_steady(pilot: &Pilot, own: &[Batch]) -> usize {
    let times: Vec<f64> = own.iter().map(|b| b.wall_ns as f64).collect();
    let [median, last] = [order::median(&times), times.last().copied()].map(|ns| ns.unwrap_or(1.0));
    let batches = (last / median.max(1.0)).round().max(1.0);
    (f64::from(pilot.warmup_batches) * batches) as usize
}

/// Returns the level at the end of the rounds `batches`, or `None` if there are no rounds.
///
/// `ages` contains the age of the server after each round.
pub fn steady_rounds(batches: &[Batch], ages: &[Age]) -> Option<Steady> {
    let rounds = batches.len().min(ages.len());
    let (batches, ages) = (&batches[..rounds], &ages[..rounds]);
    let last = ages.last()?;
    let logs = log_levels(batches, ages);
    let from = level_start(&logs);
    let stretch = &logs[from..];
    let noise = order::scatter_of_steps(stretch).max(MIN_NOISE);
    let age = match from {
        0 => Age::default(),
        from => ages[from - 1],
    };
    let requests = (last.requests - age.requests) as f64;
    let is_long =
        stretch.len() >= MIN_STEADY_ROUNDS && requests >= STEADY_FRACTION * last.requests as f64;
    let cost = median(stretch_costs(&batches[from..]))?;
    let served: Vec<u64> = ages[from..].iter().map(|age| age.requests).collect();
    Some(Steady {
        cost_ns: cost,
        ratio: has_baseline(ages).then(|| median(stretch.to_vec()).map_or(1.0, f64::exp)),
        error: level_error(stretch, noise),
        noise,
        from,
        age,
        reached: is_long && !may_still_fall(stretch, &served, noise),
    })
}

/// Returns the logarithm of the cost of a request in each round, relative to the baseline's cost if
/// it is known.
pub fn log_levels(batches: &[Batch], ages: &[Age]) -> Vec<f64> {
    let divided = has_baseline(ages);
    let levels = batches.iter().zip(ages).map(|(batch, age)| {
        let own = cost(batch.cpu_ns, batch.operations);
        let baseline = cost(age.baseline_cpu_ns, age.baseline_requests);
        if divided {
            (own / baseline).ln()
        } else {
            own.ln()
        }
    });
    levels.collect()
}

/// Returns the mean CPU time of the first `requests` requests in ns, or `None` if the pilot had
/// fewer requests.
pub fn cost_of_first(pilot: &Pilot, requests: u64) -> Option<f64> {
    if requests <= 1 {
        return (pilot.cold_ns > 0).then_some(pilot.cold_ns as f64);
    }
    let end = pilot.ages.iter().position(|age| age.requests >= requests)?;
    let (before, after) = match end {
        0 => (Age::default(), pilot.ages[0]),
        end => (pilot.ages[end - 1], pilot.ages[end]),
    };
    let span = (after.requests - before.requests).max(1) as f64;
    let part = (requests - before.requests) as f64 / span;
    let cpu_ns = before.cpu_ns as f64 + part * (after.cpu_ns - before.cpu_ns) as f64;
    Some(cpu_ns / requests as f64)
}

/// Returns the standard error of the median of the rounds `stretch`.
fn level_error(stretch: &[f64], noise: f64) -> f64 {
    noise * (std::f64::consts::FRAC_PI_2 / stretch.len().max(1) as f64).sqrt()
}

fn has_baseline(ages: &[Age]) -> bool {
    ages.iter().all(|age| age.baseline_requests > 0)
}

fn cost(cpu_ns: u64, requests: u64) -> f64 {
    cpu_ns.max(1) as f64 / requests.max(1) as f64
}

fn stretch_costs(batches: &[Batch]) -> Vec<f64> {
    let costs = batches.iter().map(|b| cost(b.cpu_ns, b.operations));
    costs.collect()
}

fn median(values: Vec<f64>) -> Option<f64> {
    order::median(&values)
}

/// Returns the index of the first round of the last level.
///
/// Earlier segments at the same level are included.
fn level_start(logs: &[f64]) -> usize {
    if logs.len() < 2 * MIN_STRETCH {
        return 0;
    }
    let noise = order::scatter_of_steps(logs).max(MIN_NOISE);
    let changes = warmup::change_points(logs, PENALTY * noise * noise, MIN_STRETCH);
    let mut from = changes.last().copied().unwrap_or(0);
    for &start in changes.iter().rev().skip(1).chain(&[0]) {
        if start >= from {
            continue;
        }
        let [before, after] =
            [&logs[start..from], &logs[from..]].map(|s| order::median(s).unwrap_or(0.0));
        if (before - after).abs() > SAME_LEVEL {
            break;
        }
        from = start;
    }
    from
}

/// Returns true unless the rounds show that the cost decreases by less than
/// [`MAX_FALL_PER_DOUBLING`].
///
/// `served` contains the number of requests after each round. The rounds are split at the middle of
/// the range of these numbers on a logarithmic scale, and the medians of the two halves are
/// compared. The decrease is taken to be one standard error larger than estimated.
fn may_still_fall(stretch: &[f64], served: &[u64], noise: f64) -> bool {
    if stretch.len() < 2 * MIN_STRETCH {
        return true;
    }
    let doublings = log2(served);
    let split = middle(&doublings);
    let split = split.clamp(MIN_STRETCH, stretch.len() - MIN_STRETCH);
    let (early, late) = stretch.split_at(split);
    let (from, to) = doublings.split_at(split);
    let error = level_error(early, noise).hypot(level_error(late, noise));
    let [early, late, from, to] =
        [early, late, from, to].map(|part| order::median(part).unwrap_or(0.0));
    early - late + error > MAX_FALL_PER_DOUBLING * (to - from)
}

fn log2(served: &[u64]) -> Vec<f64> {
    served.iter().map(|&n| (n.max(1) as f64).log2()).collect()
}

/// Returns the index of the first value that is at or above the midpoint of the range.
///
/// `doublings` must be in ascending order.
fn middle(doublings: &[f64]) -> usize {
    let ends = doublings.first().zip(doublings.last());
    let middle = ends.map_or(0.0, |(first, last)| 0.5 * (first + last));
    doublings.partition_point(|&d| d < middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::SplitMix64;
    use lab_model::{PointId, SubjectId};
    use std::f64::consts::TAU;

    /// Returns the rounds of a server whose request costs `cost(n)` after n requests, on a machine
    /// whose speed varies.
    fn rounds(count: usize, cost: impl Fn(f64) -> f64) -> (Vec<Batch>, Vec<Age>) {
        let mut random = SplitMix64::new(7);
        let mut uniform = move || random.next() as f64 / u64::MAX as f64;
        let (mut batches, mut ages, mut age) = (Vec::new(), Vec::new(), Age::default());
        for _ in 0..count {
            let speed = 1.0 + 0.5 * uniform();
            let noise = |u: f64| 0.97 + 0.06 * u;
            let own_ns = cost(age.requests as f64) * speed * noise(uniform());
            let requests = (50e6 / own_ns) as u64;
            let baseline_ns = 6_000.0 * speed * noise(uniform());
            age.requests += requests;
            age.cpu_ns += 50_000_000;
            age.wall_ns += 60_000_000;
            age.baseline_requests = 1000;
            age.baseline_cpu_ns = (1000.0 * baseline_ns) as u64;
            ages.push(age);
            batches.push(Batch {
                operations: requests,
                wall_ns: 50_000_000,
                cpu_ns: 50_000_000,
                server_cpu_ns: None,
            });
        }
        (batches, ages)
    }

    #[test]
    fn a_server_that_gets_cheaper_is_steady_where_it_stops() {
        let (batches, ages) = rounds(120, |n| if n < 40_000.0 { 60_000.0 } else { 20_000.0 });
        let found = steady_rounds(&batches, &ages).unwrap();
        assert!(found.reached, "{found:?}");
        assert!((35_000..50_000).contains(&found.age.requests), "{found:?}");
        assert!(
            (found.ratio.unwrap() / (20.0 / 6.0) - 1.0).abs() < 0.05,
            "{found:?}"
        );
    }

    #[test]
    fn a_server_that_still_gets_cheaper_is_not_steady() {
        let (batches, ages) = rounds(120, |n| 15_000.0 + 60_000.0 / (1.0 + n / 40_000.0));
        let found = steady_rounds(&batches, &ages).unwrap();
        assert!(!found.reached, "{found:?}");
        let (batches, ages) = rounds(8, |_| 6_000.0);
        assert!(!steady_rounds(&batches, &ages).unwrap().reached);
    }

    /// A server whose cost decreases with each doubling of its requests is not steady. RESTEasy on
    /// Undertow behaves in this way for some minutes.
    #[test]
    fn a_server_that_gets_cheaper_with_each_doubling_is_not_steady() {
        for count in [40, 80, 160, 320] {
            let (batches, ages) = rounds(count, |n| 20_000.0 * (1.0 + n / 10_000.0).powf(-0.15));
            let found = steady_rounds(&batches, &ages).unwrap();
            assert!(!found.reached, "{count} rounds: {found:?}");
        }
    }

    #[test]
    fn a_server_that_never_changes_is_steady_from_the_first_request() {
        let (batches, ages) = rounds(40, |_| 6_000.0);
        let found = steady_rounds(&batches, &ages).unwrap();
        assert!(found.reached && found.age.requests == 0, "{found:?}");
    }

    /// A pilot that found a steady level.
    struct SteadyPilot {
        ratio: f64,
        /// The true cost per request at the age at which the level was reached.
        at_level: f64,
        /// The true cost per request after the process has warmed up.
        warm: f64,
    }

    /// Simulates 60 pilots whose rounds scatter by `scatter`. Returns the pilots that find a steady
    /// level within 300 rounds.
    fn steady_pilots(scatter: f64, cost: impl Fn(f64) -> f64) -> Vec<SteadyPilot> {
        let one = |seed| steady_pilot(seed, scatter, &cost);
        (1..=60).filter_map(one).collect()
    }

    fn steady_pilot(seed: u64, scatter: f64, cost: &impl Fn(f64) -> f64) -> Option<SteadyPilot> {
        let mut random = SplitMix64::new(seed);
        let mut uniform = || (random.next() as f64 + 0.5) / (u64::MAX as f64 + 1.0);
        let (mut batches, mut ages, mut age) = (Vec::new(), Vec::new(), Age::default());
        let mut check = next_check(0);
        for round in 1..=300 {
            let normal = (-2.0 * uniform().ln()).sqrt() * (TAU * uniform()).cos();
            let own_ns = 40_000.0 * cost(age.requests as f64) * (scatter * normal).exp();
            let operations = (80e6 / own_ns) as u64;
            age.requests += operations;
            (age.baseline_requests, age.baseline_cpu_ns) = (1000, 40_000_000);
            ages.push(age);
            batches.push(Batch {
                operations,
                wall_ns: 80_000_000,
                cpu_ns: (own_ns * operations as f64) as u64,
                server_cpu_ns: None,
            });
            if round < check {
                continue;
            }
            check = next_check(round);
            let level = steady_rounds(&batches, &ages).unwrap();
            // A pilot continues for a quarter of its time or for 100,000 requests.
            if level.reached && (age.requests >= 100_000 || round >= 75) {
                let warm = warm_age(&pilot(batches, ages), &level);
                return Some(SteadyPilot {
                    ratio: level.ratio.unwrap(),
                    at_level: cost(level.age.requests as f64),
                    warm: cost(warm.requests as f64),
                });
            }
        }
        None
    }

    fn pilot(batches: Vec<Batch>, ages: Vec<Age>) -> Pilot {
        Pilot {
            subject: SubjectId(0),
            point: PointId(0),
            operations: 1,
            warmup_batches: 1,
            class: WarmUp::Flat,
            cold_ns: 900_000,
            batches,
            ages,
        }
    }

    /// Returns the cost of a request after `requests` requests, relative to the cost of a warm
    /// server. The server becomes warm late: after 90,000 requests, its cost is still a tenth too
    /// high.
    fn late(requests: f64) -> f64 {
        1.0 + 0.6 * (-requests / 50_000.0).exp() + 3.0 * (-requests / 8_000.0).exp()
    }

    /// A pilot is checked many times, and each check can find a steady level by chance. This must
    /// happen in only a few pilots.
    #[test]
    fn noise_rarely_makes_a_server_steady_too_early() {
        assert_eq!(steady_pilots(0.1, |_| 1.0).len(), 60);
        // RESTEasy again: it gets cheaper by a tenth with each doubling.
        let found = steady_pilots(0.1, |n| 4.0 * (1.0 + n / 10_000.0).powf(-0.15));
        assert!(found.len() <= 20, "{}", found.len());
        let found = steady_pilots(0.1, late);
        let too_high = found.iter().filter(|pilot| pilot.ratio > 1.12).count();
        assert!(
            found.len() >= 25 && too_high <= 2,
            "{} {too_high}",
            found.len()
        );
    }

    /// If rounds scatter by a fifth, a pilot does not see the last tenth of the decrease.
    #[test]
    fn a_warm_process_is_at_the_level_although_rounds_scatter() {
        for scatter in [0.05, 0.1, 0.2] {
            let found = steady_pilots(scatter, late);
            let mean = |cost: fn(&SteadyPilot) -> f64| {
                found.iter().map(cost).sum::<f64>() / found.len() as f64
            };
            let [at_level, warm] = [mean(|pilot| pilot.at_level), mean(|pilot| pilot.warm)];
            assert!(found.len() >= 10, "{scatter}: {}", found.len());
            assert!(
                warm < 1.05 && warm < at_level,
                "{scatter}: {at_level} {warm}"
            );
        }
    }

    #[test]
    fn noisy_rounds_need_more_of_them() {
        let (batches, ages) = rounds(40, |_| 6_000.0);
        let level = steady_rounds(&batches, &ages).unwrap();
        let with_noise = |noise| Steady { noise, ..level }.last_rounds();
        assert_eq!([0.01, 0.15, 1.0].map(with_noise), [6, 15, 40]);
    }

    #[test]
    fn the_first_requests_cost_their_mean() {
        let (batches, ages) = rounds(100, |_| 10_000.0);
        let pilot = pilot(batches, ages);
        assert_eq!(cost_of_first(&pilot, 1), Some(900_000.0));
        let last = pilot.ages.last().unwrap();
        let all = cost_of_first(&pilot, last.requests).unwrap();
        assert!((all - last.cpu_ns as f64 / last.requests as f64).abs() < 1.0);
        assert_eq!(cost_of_first(&pilot, last.requests + 1), None);
    }
}

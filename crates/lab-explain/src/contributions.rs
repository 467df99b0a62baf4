// SPDX-License-Identifier: Apache-2.0
//! Splits the difference in time between two subjects into estimated contributions and an
//! unexplained rest.
//!
//! Waiting is measured as the wall time minus the CPU time. Each system call counts with the cost
//! of the cheapest system call on this host, and each page fault with the cost of the cheapest page
//! fault. Their contributions are therefore lower bounds. Each instruction counts with the mean
//! time of an instruction in the baseline. The rest, such as the cost of cache misses, is
//! unexplained.

use crate::differences::MIN_EVENTS;
use crate::figures::{differ, figure, median};
use lab_model::{Counted, Metric, Plan, PointId, UnitCosts};

/// The minimum contribution to report, as a fraction of the difference in time.
const MIN_FRACTION: f64 = 0.05;

/// The maximum fraction by which estimates may exceed a difference. Larger estimates do not explain
/// the difference.
const MAX_EXCESS: f64 = 0.1;

/// The minimum ratio between the cache misses of two subjects at which the misses are reported next
/// to an unexplained rest.
const MIN_MISSES_RATIO: f64 = 1.5;

/// A difference in time between a subject and the baseline at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeDifference {
    /// The point at which both subjects were counted.
    pub point: PointId,
    /// The names of the subject and of the baseline.
    pub subjects: [String; 2],
    /// The metric: wall time, or CPU time for servers and for subjects that do not wait.
    pub metric: Metric,
    /// The time per operation of the subject and of the baseline, in ns.
    pub times: [f64; 2],
    /// The contributions in the direction of the difference, largest first.
    pub parts: Vec<Contribution>,
    /// The difference minus all estimated contributions, in ns.
    pub unexplained_ns: f64,
    /// True if the contributions do not include instructions, because they were not counted.
    pub instructions_missing: bool,
    /// The cache misses, if they differ much: the metric, and the values of the subject and of the
    /// baseline.
    pub misses: Option<(Metric, [f64; 2])>,
}

/// A contribution to a difference in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// The kind of cost, with its counts.
    pub source: Source,
    /// The estimated time in ns, with the sign of the difference.
    pub ns: f64,
}

/// The source of a contribution. Counts are per operation, of the subject and of the baseline in
/// this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Time spent waiting rather than computing. Contains the number of round trips of the subject
    /// and of the baseline, if known.
    Waiting(Option<[f64; 2]>),
    /// The number of system calls.
    SystemCalls([f64; 2]),
    /// Page faults that do not read from a disk.
    PageFaults([f64; 2]),
    /// Instructions, with the library that accounts for most of the difference.
    Instructions([f64; 2], Option<String>),
}

impl TimeDifference {
    /// Returns the subject's time minus the baseline's, in ns.
    pub fn total_ns(&self) -> f64 {
        self.times[0] - self.times[1]
    }

    /// Returns the absolute value of the natural logarithm of the two times' ratio.
    pub fn distance(&self) -> f64 {
        (self.times[0] / self.times[1]).ln().abs()
    }
}

/// Returns the differences in time between all subjects and the baseline at a point.
///
/// If the baseline was not counted, the first subject replaces it. A difference is omitted if the
/// estimates exceed it, which happens on a disturbed host.
pub fn time_differences(
    plan: &Plan,
    point: PointId,
    counted: &[&Counted],
    costs: Option<UnitCosts>,
) -> Vec<TimeDifference> {
    let baseline = plan.baseline_for(plan.points[point].target);
    let base = counted.iter().find(|c| c.subject == baseline);
    let Some(base) = base.or(counted.first()) else {
        return Vec::new();
    };
    let others = counted.iter().filter(|c| c.subject != base.subject);
    others
        .filter_map(|other| time_difference(plan, [other, base], costs))
        .collect()
}

fn time_difference(
    plan: &Plan,
    both: [&Counted; 2],
    costs: Option<UnitCosts>,
) -> Option<TimeDifference> {
    let values = |metric: &Metric| {
        let [a, b] = both.map(|counted| figure(counted, metric));
        Some([a?, b?].map(median))
    };
    let is_timed = |metric: &&Metric| {
        let [a, b] = both.map(|counted| figure(counted, metric));
        a.zip(b)
            .is_some_and(|(a, b)| differ(a, b) && median(a) > 0.0 && median(b) > 0.0)
    };
    // If a subject does not wait, its wall time exceeds its CPU time only because other programs
    // ran.
    let waits = [Metric::ROUND_TRIPS, Metric::VOLUNTARY_SWITCHES];
    let waits = waits.iter().filter_map(&values).flatten();
    let has_wall = waits.fold(0.0, f64::max) >= MIN_EVENTS
        && both.iter().all(|c| figure(c, &Metric::MEAN_WALL).is_some());
    let metric = match has_wall {
        true => Metric::MEAN_WALL,
        false => Metric::MEAN_CPU,
    };
    Some(&metric).filter(is_timed)?;
    let times = values(&metric)?;
    let total = times[0] - times[1];
    let cpu = values(&Metric::MEAN_CPU);
    let mut parts = Vec::new();
    let mut add = |source: Source, ns: f64| parts.push(Contribution { source, ns });
    if let Some(cpu) = cpu.filter(|_| has_wall) {
        // A process with multiple threads may use more CPU time than wall time.
        let waits = [0, 1].map(|i| (times[i] - cpu[i]).max(0.0));
        add(
            Source::Waiting(values(&Metric::ROUND_TRIPS)),
            waits[0] - waits[1],
        );
    }
    let mut kernel_of_base = 0.0;
    if let Some(costs) = costs {
        let charged = [
            (
                &Metric::SYSTEM_CALLS,
                costs.system_call_ns,
                Source::SystemCalls as fn(_) -> _,
            ),
            (
                &Metric::MINOR_FAULTS,
                costs.page_fault_ns,
                Source::PageFaults,
            ),
        ];
        for (metric, each_ns, source) in charged {
            if let Some(counts) = values(metric) {
                kernel_of_base += counts[1] * each_ns;
                add(source(counts), (counts[0] - counts[1]) * each_ns);
            }
        }
    }
    let instructions = values(&Metric::INSTRUCTIONS).or(values(&Metric::SIMULATED_INSTRUCTIONS));
    if let (Some(counts), Some(cpu)) = (instructions, cpu)
        && counts[1] > 0.0
    {
        let each_ns = (cpu[1] - kernel_of_base).max(0.0) / counts[1];
        let library = library(both, counts[0] - counts[1]);
        let ns = (counts[0] - counts[1]) * each_ns;
        add(Source::Instructions(counts, library), ns);
    }
    let unexplained_ns = total - parts.iter().map(|part| part.ns).sum::<f64>();
    if unexplained_ns / total < -MAX_EXCESS {
        return None;
    }
    parts.retain(|part| part.ns / total >= MIN_FRACTION);
    parts.sort_by(|a, b| b.ns.abs().total_cmp(&a.ns.abs()));
    let misses = [
        Metric::CACHE_MISSES,
        Metric::SIMULATED_LL_MISSES,
        Metric::SIMULATED_D1_MISSES,
    ];
    let misses = misses.into_iter().find_map(|metric| {
        let [own, base] = values(&metric)?;
        let ratio = own.max(base) / own.min(base).max(f64::MIN_POSITIVE);
        let is_in_direction = (own - base).signum() == total.signum();
        (own.max(base) >= 1.0 && is_in_direction && ratio >= MIN_MISSES_RATIO)
            .then_some((metric, [own, base]))
    });
    Some(TimeDifference {
        point: both[0].point,
        subjects: both.map(|counted| plan.subjects[counted.subject].name.clone()),
        metric,
        times,
        parts,
        unexplained_ns,
        instructions_missing: instructions.is_none(),
        misses,
    })
}

/// Returns the library with the largest difference in instructions in the direction of `total`.
fn library([other, base]: [&Counted; 2], total: f64) -> Option<String> {
    let cost = |counted: &Counted, name: &str| {
        let mut libraries = counted.libraries.iter();
        libraries
            .find(|(n, _)| n == name)
            .map_or(0.0, |(_, cost)| *cost)
    };
    let names = other.libraries.iter().chain(&base.libraries);
    let names = names.map(|(name, _)| name.as_str());
    let differences = names.map(|name| (name, cost(other, name) - cost(base, name)));
    let max = differences.max_by(|a, b| (a.1 / total).total_cmp(&(b.1 / total)))?;
    (max.1 / total >= MIN_FRACTION).then(|| max.0.to_owned())
}

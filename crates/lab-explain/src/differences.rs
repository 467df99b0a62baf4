// SPDX-License-Identifier: Apache-2.0
//! Differences between subjects and their baseline, as data.

use crate::figures::{differ, figure, median};
use lab_model::{Counted, CountedFigure, Metric, Plan, PointId};

/// Smaller differences, in events per operation, are left out.
pub const MIN_EVENTS: f64 = 0.05;

/// A smaller fraction of the greater figure is not a difference of a program's own.
const MIN_FRACTION: f64 = 0.02;

/// Metrics whose differences are listed, the one that tends to cost most first: a round trip waits for
/// another process, a switch for the scheduler; a system call and a fault are a way into the kernel. The
/// program's own costs follow.
pub const RANKS: [Metric; 17] = [
    Metric::ROUND_TRIPS,
    Metric::VOLUNTARY_SWITCHES,
    Metric::FUTEX_WAITS,
    Metric::SYSTEM_CALLS,
    Metric::MINOR_FAULTS,
    Metric::MAJOR_FAULTS,
    Metric::SENT_BYTES,
    Metric::RECEIVED_BYTES,
    Metric::ALLOCATIONS,
    Metric::ALLOCATED_BYTES,
    Metric::CACHE_MISSES,
    Metric::SIMULATED_LL_MISSES,
    Metric::SIMULATED_D1_MISSES,
    Metric::INSTRUCTIONS,
    Metric::SIMULATED_INSTRUCTIONS,
    Metric::BRANCH_MISSES,
    Metric::CYCLES,
];

/// How many of [`RANKS`], from the first on, are requests to the system; the rest is the program's own.
const SYSTEM_RANKS: usize = 8;

/// A function is named if at least this fraction of a difference lies in it.
const MIN_FUNCTION_FRACTION: f64 = 0.3;

/// A metric in which a subject differs from the baseline at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The point.
    pub point: PointId,
    /// The metric.
    pub metric: Metric,
    /// The names of the subject and of the baseline.
    pub subjects: [String; 2],
    /// The median of each.
    pub values: [f64; 2],
    /// Where the difference comes from, if that is known.
    pub cause: Option<Cause>,
}

/// The origin of a difference.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// Most of the difference in instructions is in one function or library.
    Function {
        /// Its name.
        name: String,
        /// Its instructions per operation, in the subject and in the baseline.
        values: [f64; 2],
    },
    /// Both make the same requests to the system, so the difference is in the programs' own work.
    OwnWork(Vec<SettingDifference>),
}

/// A setting in which a subject differs from the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingDifference {
    /// Its name.
    pub name: String,
    /// Its value in the subject and in the baseline.
    pub values: [String; 2],
}

impl Difference {
    fn new(
        plan: &Plan,
        metric: Metric,
        [other, base]: [&Counted; 2],
        values: [f64; 2],
    ) -> Difference {
        Difference {
            point: other.point,
            metric,
            subjects: [other, base].map(|c| plan.subjects[c.subject].name.clone()),
            values,
            cause: None,
        }
    }

    /// The position among [`RANKS`]; CPU time, which is the programs' own, comes with the first of their own costs.
    fn rank(&self) -> usize {
        let rank = RANKS.iter().position(|metric| *metric == self.metric);
        rank.unwrap_or(SYSTEM_RANKS)
    }

    /// The absolute difference.
    fn size(&self) -> f64 {
        (self.values[0] - self.values[1]).abs()
    }
}

/// The differences of all subjects from the baseline, or from the first of them, at a point; what tends to cost most
/// first. `counted`: the counts at this point.
pub fn differences(plan: &Plan, point: PointId, counted: &[&Counted]) -> Vec<Difference> {
    let baseline = plan.baseline_on(plan.points[point].target);
    let base = counted.iter().find(|c| c.subject == baseline);
    let Some(base) = base.or(counted.first()) else {
        return Vec::new();
    };
    let others = counted.iter().filter(|c| c.subject != base.subject);
    let mut all: Vec<Difference> = others
        .flat_map(|other| subject_differences(plan, other, base))
        .collect();
    sort(&mut all);
    all
}

/// Sorts by the metric's rank, then the greatest difference first.
pub fn sort(differences: &mut [Difference]) {
    differences.sort_by(|a, b| {
        let by_rank = a.rank().cmp(&b.rank());
        by_rank.then(b.size().total_cmp(&a.size()))
    });
}

fn subject_differences(plan: &Plan, other: &Counted, base: &Counted) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (rank, metric) in RANKS.iter().enumerate() {
        let Some(values) = differing_medians(metric, other, base) else {
            continue;
        };
        let mut difference = Difference::new(plan, metric.clone(), [other, base], values);
        let fraction = difference.size() / values[0].abs().max(values[1].abs());
        if difference.size() >= MIN_EVENTS && (rank < SYSTEM_RANKS || fraction >= MIN_FRACTION) {
            if *metric == Metric::SIMULATED_INSTRUCTIONS {
                difference.cause = main_function(other, base);
            }
            differences.push(difference);
        }
    }
    let same_requests = differences.iter().all(|d| d.rank() >= SYSTEM_RANKS);
    differences.extend(own_difference(plan, other, base).filter(|_| same_requests));
    differences
}

/// The medians of a metric, if both subjects have it and their ranges do not overlap.
fn differing_medians(metric: &Metric, other: &Counted, base: &Counted) -> Option<[f64; 2]> {
    let figures: [&CountedFigure; 2] = [figure(other, metric)?, figure(base, metric)?];
    differ(figures[0], figures[1]).then(|| figures.map(median))
}

/// The function with most of a difference in instructions, or the library if the function has no symbol.
fn main_function(other: &Counted, base: &Counted) -> Option<Cause> {
    let total = median(figure(other, &Metric::SIMULATED_INSTRUCTIONS)?)
        - median(figure(base, &Metric::SIMULATED_INSTRUCTIONS)?);
    let lists = [
        (&other.functions, &base.functions),
        (&other.libraries, &base.libraries),
    ];
    lists.into_iter().find_map(|(others, bases)| {
        let (name, values) = greatest_difference(others, bases, total)?;
        let is_most = (values[0] - values[1]).abs() >= MIN_FUNCTION_FRACTION * total.abs();
        (is_symbol(name) && is_most).then(|| Cause::Function {
            name: name.into(),
            values,
        })
    })
}

/// The name whose costs differ most in the direction in which the totals do.
fn greatest_difference<'c>(
    other: &'c [(String, f64)],
    base: &'c [(String, f64)],
    total: f64,
) -> Option<(&'c str, [f64; 2])> {
    let cost_of = |costs: &[(String, f64)], name: &str| {
        let cost = costs.iter().find(|(other, _)| other == name);
        cost.map_or(0.0, |(_, cost)| *cost)
    };
    let names = other.iter().chain(base).map(|(name, _)| name.as_str());
    let costs = names.map(|name| (name, [cost_of(other, name), cost_of(base, name)]));
    let same_direction = costs.filter(|(_, [a, b])| (a - b).signum() == total.signum());
    same_direction.max_by(|(_, a), (_, b)| (a[0] - a[1]).abs().total_cmp(&(b[0] - b[1]).abs()))
}

/// False for an address, which stands for a function without a symbol.
fn is_symbol(name: &str) -> bool {
    !name.starts_with("0x") && !name.starts_with("???")
}

/// The difference in CPU time of subjects that make the same requests to the system.
fn own_difference(plan: &Plan, other: &Counted, base: &Counted) -> Option<Difference> {
    let values = differing_medians(&Metric::MEAN_CPU, other, base)?;
    figure(other, &Metric::SYSTEM_CALLS)?;
    figure(base, &Metric::SYSTEM_CALLS)?;
    Some(Difference {
        cause: Some(Cause::OwnWork(setting_differences(other, base))),
        ..Difference::new(plan, Metric::MEAN_CPU, [other, base], values)
    })
}

/// Settings that both have with different values.
fn setting_differences(other: &Counted, base: &Counted) -> Vec<SettingDifference> {
    let theirs = |key: &String| base.settings.iter().find(|(other, _)| other == key);
    let pairs = other.settings.iter().filter_map(|(key, mine)| {
        let (_, theirs) = theirs(key)?;
        (mine != theirs).then(|| SettingDifference {
            name: key.clone(),
            values: [mine.clone(), theirs.clone()],
        })
    });
    pairs.collect()
}

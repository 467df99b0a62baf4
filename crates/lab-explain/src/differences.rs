// SPDX-License-Identifier: Apache-2.0
//! Differences between subjects and their baseline, as data for the report.

use crate::figures::{differ, figure, median};
use lab_model::{Counted, CountedValue, Metric, Plan, PointId};

/// The minimum difference to report, in events per operation.
pub const MIN_EVENTS: f64 = 0.05;

/// The minimum difference in a program's own costs to report, as a fraction of the larger value.
const MIN_FRACTION: f64 = 0.02;

/// The metrics whose differences are listed, from the highest to the lowest typical cost.
///
/// A round trip waits for another process, and a context switch waits for the scheduler. A system
/// call and a page fault enter the kernel. The program's own costs come last.
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

/// The number of metrics at the start of [`RANKS`] that count requests to the operating system. The
/// other metrics are the program's own costs.
const SYSTEM_RANKS: usize = 8;

/// The minimum fraction of a difference that a function must explain to be named as its cause.
const MIN_FUNCTION_FRACTION: f64 = 0.3;

/// A metric that differs between a subject and the baseline at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The point at which both subjects were counted.
    pub point: PointId,
    /// The metric that differs.
    pub metric: Metric,
    /// The names of the subject and of the baseline.
    pub subjects: [String; 2],
    /// The median values of the subject and of the baseline.
    pub values: [f64; 2],
    /// The cause of the difference, if known.
    pub cause: Option<Cause>,
}

/// The likely cause of a difference, according to the counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// One function or library accounts for much of the difference in instructions.
    Function {
        /// The name of the function or library.
        name: String,
        /// Instructions per operation of the subject and of the baseline.
        values: [f64; 2],
    },
    /// Both subjects make the same requests to the operating system, so the programs themselves
    /// must cause the difference.
    OwnWork {
        /// The program's own costs that differ: instructions, then misses.
        counts: Vec<OwnCount>,
        /// The settings that differ.
        settings: Vec<SettingDifference>,
    },
}

/// A count of a program's own events that differs between a subject and the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCount {
    /// The metric: instructions, or a kind of cache misses.
    pub metric: Metric,
    /// The values per operation of the subject and of the baseline.
    pub values: [f64; 2],
}

/// A setting that differs between a subject and the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingDifference {
    /// The setting's name.
    pub name: String,
    /// The values for the subject and the baseline.
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

    /// Returns the index of the metric in [`RANKS`]. CPU time has the same rank as the first of the
    /// program's own costs.
    fn rank(&self) -> usize {
        let rank = RANKS.iter().position(|metric| *metric == self.metric);
        rank.unwrap_or(SYSTEM_RANKS)
    }

    /// Returns the absolute value of the difference.
    fn size(&self) -> f64 {
        (self.values[0] - self.values[1]).abs()
    }
}

/// Returns the differences between all subjects and the baseline at a point, sorted by typical cost.
///
/// If the baseline was not counted, the first subject replaces it. `counted` contains the counts at
/// `point`.
pub fn differences(plan: &Plan, point: PointId, counted: &[&Counted]) -> Vec<Difference> {
    let baseline = plan.baseline_for(plan.points[point].target);
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

/// Sorts by the metric's rank, then by the size of the difference, largest first.
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

/// Returns the medians of a metric if both subjects have values and their ranges do not overlap.
fn differing_medians(metric: &Metric, other: &Counted, base: &Counted) -> Option<[f64; 2]> {
    let figures: [&CountedValue; 2] = [figure(other, metric)?, figure(base, metric)?];
    differ(figures[0], figures[1]).then(|| figures.map(median))
}

/// Returns the function that accounts for much of a difference in instructions, or the library if
/// the function has no symbol.
fn main_function(other: &Counted, base: &Counted) -> Option<Cause> {
    let total = median(figure(other, &Metric::SIMULATED_INSTRUCTIONS)?)
        - median(figure(base, &Metric::SIMULATED_INSTRUCTIONS)?);
    let lists = [
        (&other.functions, &base.functions),
        (&other.libraries, &base.libraries),
    ];
    lists.into_iter().find_map(|(others, bases)| {
        let (name, values) = largest_difference(others, bases, total)?;
        let is_most = (values[0] - values[1]).abs() >= MIN_FUNCTION_FRACTION * total.abs();
        (is_symbol(name) && is_most).then(|| Cause::Function {
            name: name.into(),
            values,
        })
    })
}

/// Returns the name with the largest cost difference in the direction of `total`.
fn largest_difference<'c>(
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

/// Returns true unless a name is an address or question marks, which stand for a function without a
/// symbol.
fn is_symbol(name: &str) -> bool {
    !name.starts_with("0x") && !name.starts_with("???")
}

/// Returns the difference in CPU time between two subjects that make the same requests to the operating system.
fn own_difference(plan: &Plan, other: &Counted, base: &Counted) -> Option<Difference> {
    let values = differing_medians(&Metric::MEAN_CPU, other, base)?;
    figure(other, &Metric::SYSTEM_CALLS)?;
    figure(base, &Metric::SYSTEM_CALLS)?;
    Some(Difference {
        cause: Some(Cause::OwnWork {
            counts: own_counts(other, base),
            settings: setting_differences(other, base),
        }),
        ..Difference::new(plan, Metric::MEAN_CPU, [other, base], values)
    })
}

/// The program's own costs that a sentence about causes can name. The second metric of each pair is
/// used if the first metric shows no difference, for example because it was not counted.
const OWN_COUNTS: [[Metric; 2]; 2] = [
    [Metric::INSTRUCTIONS, Metric::SIMULATED_INSTRUCTIONS],
    [Metric::CACHE_MISSES, Metric::SIMULATED_D1_MISSES],
];

/// Returns the counts of instructions and of cache misses that differ.
fn own_counts(other: &Counted, base: &Counted) -> Vec<OwnCount> {
    let count = |metrics: &[Metric; 2]| {
        metrics.iter().find_map(|metric| {
            let values = differing_medians(metric, other, base)?;
            let max = values[0].max(values[1]);
            let is_large = max >= 1.0 && (values[0] - values[1]).abs() >= MIN_FRACTION * max;
            is_large.then(|| OwnCount {
                metric: metric.clone(),
                values,
            })
        })
    };
    OWN_COUNTS.iter().filter_map(count).collect()
}

/// Returns the settings that both subjects have with different values.
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

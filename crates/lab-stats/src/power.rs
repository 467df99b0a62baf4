// SPDX-License-Identifier: Apache-2.0
//! The cost of a run: the number of blocks that finds a difference of some size, estimated from a short
//! pilot's scatter.
//!
//! Runs are simulated with normal scatter and judged by the run's own flips, with the alpha that its interim
//! analyses leave and with as many comparisons as it makes. The dependence between these is that of the
//! pilot, as far as its blocks show it.

use crate::chi_square;
use crate::few_blocks::Deviation;
use crate::results::compare::ComparisonSource;
use crate::results::judge::Basis;
use crate::results::{batches, calls};
use crate::sign_flip::{self, MergedValues};
use crate::simulated::Simulated;
use crate::table::{BatchTable, sound_plan};
use lab_model::{Interval, Metric, Plan, Run, TargetKind, parts};

/// The true differences that a forecast is made for, as parts of 1.
pub const DIFFERENCES: [f64; 4] = [0.01, 0.02, 0.05, 0.1];

/// The parts of all runs that are to find a difference.
pub const POWERS: [f64; 2] = [0.8, 0.95];

/// The level of the interval of the pilot's scatter.
pub const LEVEL: f64 = 0.8;

/// Greater numbers of blocks are not reported.
const MAX_BLOCKS: f64 = 10_000.0;

/// A forecast of how many blocks a run needs.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Complete blocks of the pilot.
    pub blocks: u32,
    /// Time of a block with as many redone as in the pilot, s. The time before the first block is not in it.
    pub block_s: f64,
    /// Time before the first block, s.
    pub start_s: f64,
    /// All that is compared at points; what takes the most blocks first.
    pub places: Vec<PlannedComparison>,
}

/// A subject against the baseline at a point.
#[derive(Clone, Debug)]
pub struct PlannedComparison {
    /// The target, if there is more than one.
    pub target: Option<TargetKind>,
    /// The subject's name.
    pub subject: String,
    /// The point's label.
    pub point: String,
    /// The metric.
    pub metric: Metric,
    /// The standard deviation of the logarithms of a block's ratio; its interval has [`LEVEL`].
    pub scatter: Interval,
    /// For each of [`DIFFERENCES`], then for each of [`POWERS`].
    pub differences: Vec<[BlocksNeeded; POWERS.len()]>,
    /// To find two equal ones equivalent, for each of [`POWERS`].
    pub equivalent: [BlocksNeeded; POWERS.len()],
}

/// Numbers of blocks with which a difference is found; `None`: more than 10,000, or no number of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlocksNeeded {
    /// Blocks to find that the ratio is not 1.
    pub there: Blocks,
    /// Blocks to find that the difference exceeds the margin; empty where it does not.
    pub beyond: Blocks,
}

/// Blocks by the estimate of the scatter, and by the bounds of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blocks {
    /// By the estimate of the scatter.
    pub estimate: Option<u32>,
    /// By the lower bound of the scatter.
    pub low: Option<u32>,
    /// By the upper bound of the scatter.
    pub high: Option<u32>,
}

impl Forecast {
    /// The time of a run of `blocks` blocks, s.
    pub fn seconds(&self, blocks: u32) -> f64 {
        self.start_s + self.block_s * f64::from(blocks)
    }
}

/// The forecast for a run of `plan`, from a `pilot` with at least two blocks. `None` where no batches or
/// commands are compared.
pub fn forecast(pilot: &Run, plan: &Plan) -> Option<Forecast> {
    let blocks = pilot.complete_blocks().count() as u32;
    if blocks < 2 || plan.load().is_some() {
        return None;
    }
    let all: f64 = pilot
        .blocks
        .iter()
        .map(|b| b.duration_ns as f64 / 1e9)
        .sum();
    let start_s = pilot.blocks.first()?.started_unix_s - pilot.started_unix_s;
    let parts = parts(pilot);
    let share = 1.0 / parts.len().max(1) as f64;
    let places = parts.iter().flat_map(|part| {
        let kind = part.kind.filter(|_| parts.len() > 1);
        let mut places = of_part(&part.run, plan, share).unwrap_or_default();
        places.iter_mut().for_each(|place| place.target = kind);
        places
    });
    let mut places: Vec<PlannedComparison> = places.collect();
    places.sort_by(|a, b| b.scatter.estimate.total_cmp(&a.scatter.estimate));
    (!places.is_empty()).then_some(Forecast {
        blocks,
        block_s: all / f64::from(blocks),
        start_s: start_s.max(0.0),
        places,
    })
}

fn of_part(run: &Run, whole_plan: &Plan, share: f64) -> Option<Vec<PlannedComparison>> {
    let plan = sound_plan(run)?;
    let basis = Basis::new(run, plan, plan.measure.alpha);
    let (table, observed) = (BatchTable::new(run, plan), calls::observed(run));
    let family = batches::family(&basis, &table, &observed);
    let values: Vec<Option<MergedValues>> = family
        .members
        .iter()
        .map(|logs| MergedValues::new(&logs.by_block, u32::MAX))
        .collect();
    let deviations = sign_flip::deviations(&family.members, &values);
    let simulated = Simulated::as_planned_and_counted(&family.members, whole_plan, share);
    let place = |pending: &crate::results::compare::PendingComparison| {
        let ComparisonSource::Member(member) = pending.ratio else {
            return None;
        };
        let key = &pending.comparison.key;
        let scatter = scatter(&values[member].as_ref()?.values, &deviations[member])?;
        let (differences, equivalent) = needs(&simulated, &scatter, whole_plan.measure.margin);
        Some(PlannedComparison {
            target: None,
            subject: plan.subjects[key.subject].name.clone(),
            point: key.point.map_or(String::new(), |point| plan.label(point)),
            metric: key.metric.clone(),
            scatter,
            differences,
            equivalent,
        })
    };
    Some(family.pending.iter().filter_map(place).collect())
}

/// The scatter of a comparison's blocks, estimated with the help of the other comparisons; `None` for fewer
/// than two blocks.
fn scatter(values: &[f64], deviation: &Deviation) -> Option<Interval> {
    if values.len() < 2 {
        return None;
    }
    let (variance, freedom) = deviation.moments(values);
    let estimate = variance.sqrt();
    let bound = |tail| estimate * (freedom / chi_square::quantile(freedom, tail)).sqrt();
    let tail = (1.0 - LEVEL) / 2.0;
    Some(Interval {
        estimate,
        low: bound(1.0 - tail),
        high: bound(tail),
        level: LEVEL,
    })
}

type Needs = (
    Vec<[BlocksNeeded; POWERS.len()]>,
    [BlocksNeeded; POWERS.len()],
);

fn needs([planned, counted]: &[Simulated; 2], scatter: &Interval, margin: f64) -> Needs {
    let blocks = |simulated: &Simulated, distance: f64, power: f64| {
        let of = |scatter: f64| simulated.blocks(distance / scatter.max(1e-9), power, MAX_BLOCKS);
        Blocks {
            estimate: of(scatter.estimate),
            low: of(scatter.low),
            high: of(scatter.high),
        }
    };
    let beyond = |difference: f64| (1.0 + difference).ln() - (1.0 + margin).ln();
    let differences = DIFFERENCES.map(|difference| {
        POWERS.map(|power| BlocksNeeded {
            // A run with interim analyses may end before it finds a difference within the margin, which is
            // equivalent.
            there: if beyond(difference) < -1e-9 {
                blocks(counted, (1.0 + difference).ln(), power)
            } else {
                blocks(planned, (1.0 + difference).ln(), power)
            },
            beyond: match beyond(difference) {
                far if far > 1e-9 => blocks(planned, far, power),
                _ => Blocks::default(),
            },
        })
    });
    // Both ends of the interval lie within the margin.
    let equivalent = POWERS.map(|power| BlocksNeeded {
        there: blocks(planned, (1.0 + margin).ln(), 0.5 * (1.0 + power)),
        beyond: Blocks::default(),
    });
    (differences.into(), equivalent)
}

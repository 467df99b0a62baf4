// SPDX-License-Identifier: Apache-2.0
//! Forecasts the number of blocks needed to detect a difference, from the spread of a short pilot.
//!
//! Runs are simulated with normally distributed blocks, and analyzed with sign flips like a real
//! run. The simulations use the number of comparisons of the real run and the alpha that its
//! interim analyses leave. The dependence between comparisons is estimated from the pilot.

use crate::analysis::{Exclusion, ExclusionKind, ExclusionReason};
use crate::chi_square;
use crate::few_blocks::Deviation;
use crate::kind::kind_of;
use crate::results::compare::ComparisonSource;
use crate::results::judge::Basis;
use crate::results::{batches, calls};
use crate::sign_flip::{self, MergedValues};
use crate::simulated::Simulated;
use crate::table::{BatchTable, sound_plan};
use lab_model::{Interval, Metric, Plan, Run, TargetKind, parts};

/// The true differences for which forecasts are made, as fractions.
pub const DIFFERENCES: [f64; 4] = [0.01, 0.02, 0.05, 0.1];

/// The probabilities with which a difference is to be detected.
pub const POWERS: [f64; 2] = [0.8, 0.95];

/// The confidence level of the interval for the pilot's spread.
pub const LEVEL: f64 = 0.8;

/// The maximum number of blocks that is reported.
const MAX_BLOCKS: f64 = 10_000.0;

/// A forecast of the number of blocks that a run needs.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// The number of complete blocks of the pilot.
    pub blocks: u32,
    /// The time per block in s, including redone blocks, which are assumed to be as frequent as in
    /// the pilot. It does not include the time before the first block.
    pub block_s: f64,
    /// The time before the first block, in s.
    pub start_s: f64,
    /// The comparisons at all points, ordered from the most to the fewest blocks needed.
    pub comparisons: Vec<PlannedComparison>,
    /// The subjects whose spread may include a warm-up, each with a reason. A run with these
    /// samples does not compare such a subject, but its spread can be estimated.
    pub unsteady: Vec<NamedReason>,
}

/// A subject that a run with the pilot's samples would exclude, and the reason for the exclusion.
#[derive(Clone, Debug)]
pub struct NamedReason {
    /// The subject's name.
    pub subject: String,
    /// The reason for the exclusion.
    pub reason: ExclusionReason,
}

/// A condition that prevents a forecast.
#[derive(Clone, Debug)]
pub enum NoForecast {
    /// The run measures load, for which there are no forecasts.
    Load,
    /// The pilot has fewer than two complete blocks.
    TooFewBlocks(u32),
    /// The pilot compared nothing, because these subjects were excluded.
    NothingCompared(Vec<NamedReason>),
}

/// A subject compared with the baseline at a point.
#[derive(Clone, Debug)]
pub struct PlannedComparison {
    /// The target, if there is more than one.
    pub target: Option<TargetKind>,
    /// The subject's name.
    pub subject: String,
    /// The point's label.
    pub point: String,
    /// The metric in which the subject is compared.
    pub metric: Metric,
    /// The standard deviation of the logarithm of a block's ratio. Its interval is at [`LEVEL`].
    pub scatter: Interval,
    /// The numbers of blocks needed, by [`DIFFERENCES`], then by [`POWERS`].
    pub differences: Vec<[BlocksNeeded; POWERS.len()]>,
    /// The numbers of blocks needed to show that two equal subjects are equivalent, for each of
    /// [`POWERS`].
    pub equivalent: [BlocksNeeded; POWERS.len()],
}

/// The numbers of blocks needed to detect a difference.
///
/// `None` means that even 10,000 blocks would not suffice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlocksNeeded {
    /// The number of blocks needed to show that the ratio is not 1.
    pub different: Blocks,
    /// The number of blocks needed to show that the difference exceeds the margin. Empty if the
    /// true difference does not exceed the margin.
    pub beyond: Blocks,
}

/// The numbers of blocks needed for the estimated spread and for the bounds of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blocks {
    /// The number of blocks for the estimated spread.
    pub estimate: Option<u32>,
    /// The number of blocks for the lower bound of the spread.
    pub low: Option<u32>,
    /// The number of blocks for the upper bound of the spread.
    pub high: Option<u32>,
}

impl Forecast {
    /// Returns the expected duration of a run with `blocks` blocks, in s.
    pub fn seconds(&self, blocks: u32) -> f64 {
        self.start_s + self.block_s * f64::from(blocks)
    }
}

/// Forecasts a run of `plan` from a `pilot` with at least two blocks.
///
/// A subject that may not have reached its steady state is included, and listed in
/// [`Forecast::unsteady`].
pub fn forecast(pilot: &Run, plan: &Plan) -> Result<Forecast, NoForecast> {
    if !kind_of(plan).can_forecast() {
        return Err(NoForecast::Load);
    }
    let blocks = pilot.complete_blocks().count() as u32;
    if blocks < 2 && pilot.failures.is_empty() {
        return Err(NoForecast::TooFewBlocks(blocks));
    }
    let all: f64 = pilot
        .blocks
        .iter()
        .map(|b| b.duration_ns as f64 / 1e9)
        .sum();
    let first = pilot.blocks.first();
    let start_s = first.map_or(0.0, |first| first.started_unix_s - pilot.started_unix_s);
    let parts = parts(pilot);
    let alpha_fraction = 1.0 / parts.len().max(1) as f64;
    let (mut comparisons, mut unsteady, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
    for part in &parts {
        let Some(part_plan) = sound_plan(&part.run) else {
            continue;
        };
        let target = part.kind.filter(|_| parts.len() > 1);
        let mut basis = Basis::new(&part.run, part_plan, part_plan.measure.alpha);
        let is_unsteady = |exclusion: &Exclusion| exclusion.kind() == ExclusionKind::NotSteady;
        let named = |exclusion: &Exclusion| NamedReason {
            subject: part_plan.subjects[exclusion.subject].name.clone(),
            reason: exclusion.reason.clone(),
        };
        let (warming, others): (Vec<Exclusion>, Vec<Exclusion>) =
            basis.exclusions.into_iter().partition(is_unsteady);
        unsteady.extend(warming.iter().map(named));
        excluded.extend(others.iter().map(named));
        basis.exclusions = others;
        comparisons.extend(planned(&basis, target, plan, alpha_fraction));
    }
    if comparisons.is_empty() {
        return Err(NoForecast::NothingCompared(excluded));
    }
    comparisons.sort_by(|a, b| b.scatter.estimate.total_cmp(&a.scatter.estimate));
    Ok(Forecast {
        blocks,
        block_s: all / f64::from(blocks),
        start_s: start_s.max(0.0),
        comparisons,
        unsteady,
    })
}

/// Forecasts the comparisons on one target of a pilot.
fn planned(
    basis: &Basis,
    target: Option<TargetKind>,
    whole_plan: &Plan,
    alpha_fraction: f64,
) -> Vec<PlannedComparison> {
    let (run, plan) = (basis.run, basis.plan);
    let (table, observed) = (BatchTable::new(run, plan), calls::observed(run));
    let family = batches::family(basis, &table, &observed);
    let values: Vec<Option<MergedValues>> = family
        .members
        .iter()
        .map(|logs| MergedValues::new(&logs.by_block, u32::MAX))
        .collect();
    let deviations = sign_flip::deviations(&family.members, &values);
    let simulated = Simulated::as_planned_and_counted(&family.members, whole_plan, alpha_fraction);
    let planned_comparison = |pending: &crate::results::compare::PendingComparison| {
        let ComparisonSource::Member(member) = pending.ratio else {
            return None;
        };
        let key = &pending.comparison.key;
        let scatter = scatter(&values[member].as_ref()?.values, &deviations[member])?;
        let (differences, equivalent) = needs(&simulated, &scatter, whole_plan.measure.margin);
        Some(PlannedComparison {
            target,
            subject: plan.subjects[key.subject].name.clone(),
            point: key.point.map_or(String::new(), |point| plan.label(point)),
            metric: key.metric.clone(),
            scatter,
            differences,
            equivalent,
        })
    };
    family
        .pending
        .iter()
        .filter_map(planned_comparison)
        .collect()
}

/// Estimates the spread of a comparison's blocks, with the help of other comparisons.
///
/// Returns `None` for fewer than two blocks.
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
            // A run with interim analyses may stop because a difference within the margin counts as
            // equivalent, before the difference itself is detected.
            different: if beyond(difference) < -1e-9 {
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
    // Both ends of the interval must lie within the margin.
    let equivalent = POWERS.map(|power| BlocksNeeded {
        different: blocks(planned, (1.0 + margin).ln(), 0.5 * (1.0 + power)),
        beyond: Blocks::default(),
    });
    (differences.into(), equivalent)
}

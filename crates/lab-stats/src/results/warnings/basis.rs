// SPDX-License-Identifier: Apache-2.0
//! The data from which warnings are derived, and warnings that apply to multiple kinds of runs.

use crate::family;
use crate::forecast::TimeBudget;
use crate::kind::kind_of;
use crate::load::quantiles;
use crate::load::visits::per_10_000;
use crate::results::compare::Pair;
use crate::results::judge::Basis;
use crate::results::warning::{CellName, FailedAt, Replicate, TailWithoutInterval, Unfinished};
use crate::results::{Cell, Control, ServerAge, Warning, WarningFact};
use lab_model::{
    BlockState, ErrorKind, Failure, Metric, Plan, PointId, RESPONSE_TIMES, Run, SubjectId,
};
use std::collections::BTreeSet;

/// The data from which warnings are derived.
pub(in crate::results) struct WarningBasis<'e> {
    pub basis: &'e Basis<'e>,
    /// The cells by point, then subject.
    pub cells: &'e [Cell],
    pub controls: &'e [Control],
    pub pairs: &'e [Pair],
    pub depending: &'e [Depending],
    /// Failed requests by kind.
    pub errors: &'e [(SubjectId, PointId, ErrorKind, u64)],
    /// The ages of servers.
    pub ages: &'e [ServerAge],
}

/// The dependence between the blocks of a subject at a point.
pub(in crate::results) struct Depending {
    pub subject: SubjectId,
    pub point: PointId,
    /// True if the blocks depend on each other by more than chance explains.
    pub dependent: bool,
    /// True if the blocks depend on each other but are too few to be merged.
    pub unresolved: bool,
}

/// Returns the comparison with the fewest values among the comparisons that have too few values.
pub(super) fn shortest_comparison<'p>(
    pairs: impl IntoIterator<Item = &'p Pair>,
) -> Option<&'p Pair> {
    let short = pairs.into_iter().filter(|pair| pair.ratio.assumed);
    short.min_by_key(|pair| pair.ratio.values)
}

/// Returns a warning if the run did not finish.
pub(super) fn interrupted(run: &Run, plan: &Plan) -> Option<Warning> {
    Some(Warning::new(WarningFact::Interrupted {
        run: run.name.clone(),
        state: Unfinished::new(run)?,
        can_resume: plan.can_resume(),
    }))
}

/// Returns the fact that a comparison has too few replicates, for the comparison with the fewest
/// replicates.
///
/// `time` estimates the duration of a run with a number of replicates.
pub(super) fn shortfall(
    run: &Run,
    plan: &Plan,
    pair: &Pair,
    time: impl FnOnce(u32) -> Option<TimeBudget>,
) -> WarningFact {
    let needed = pair.ratio.needed;
    WarningFact::TooFewBlocks {
        replicates: pair.ratio.values,
        needed,
        unit: Replicate::new(run, plan),
        time: time(needed),
    }
}

/// Returns a warning about percentiles without an interval, with the number of blocks that they
/// need.
///
/// `time` estimates the duration of a run with a number of blocks.
pub(super) fn tails(
    cells: &[Cell],
    time: impl FnOnce(u32) -> Option<TimeBudget>,
) -> Option<Warning> {
    let without = |metric: &Metric| {
        let of_metric = cells.iter().filter(|c| c.key.metric == *metric);
        let mut intervals = of_metric.filter_map(|c| Some((c.blocks, c.value.interval()?.level)));
        intervals.find(|(blocks, level)| *blocks > 1 && *level == 0.0)
    };
    let found: Vec<(&Metric, u32)> = RESPONSE_TIMES
        .iter()
        .filter_map(|m| Some((m, without(m)?.0)))
        .collect();
    let blocks = found.first()?.1;
    let percentiles = found.into_iter().map(|(metric, _)| {
        let part = per_10_000(metric).filter(|part| *part <= 9900);
        TailWithoutInterval {
            percentile: metric.title.to_string(),
            needed: part.map(quantiles::blocks_needed),
        }
    });
    let percentiles: Vec<TailWithoutInterval> = percentiles.collect();
    let needed = percentiles.iter().map(|tail| {
        let needed = tail.needed;
        needed.unwrap_or_else(|| quantiles::blocks_needed(9999))
    });
    let needed = needed.max().filter(|needed| *needed > blocks);
    Some(Warning::new(WarningFact::TailsUnknown {
        time: needed.and_then(time),
        percentiles,
        blocks,
        seen: quantiles::MIN_CARRIERS as u32,
    }))
}

/// Returns the warning that a run without comparisons has too few replicates for intervals of its
/// values.
pub(super) fn level_not_reached(
    run: &Run,
    plan: &Plan,
    nothing_compared: bool,
    time: impl FnOnce(u32) -> Option<TimeBudget>,
) -> Option<WarningFact> {
    let needed = family::blocks_needed(plan.measure.alpha, 1)?;
    let replicates = run.replicate_count();
    let few = nothing_compared && replicates > 0 && replicates < needed as usize;
    few.then(|| WarningFact::LevelNotReached {
        replicates,
        needed,
        unit: Replicate::new(run, plan),
        level: 1.0 - plan.measure.alpha,
        time: time(needed),
    })
}

/// Returns a warning for each cleanup that failed.
pub(super) fn cleanups(run: &Run, plan: &Plan) -> Vec<Warning> {
    let failed = run.failures.iter().filter(|f| !f.spoils_values());
    let warning = |failure: &Failure| {
        Some(Warning::new(WarningFact::CleanupFailed {
            subject: plan.subjects.get(failure.subject)?.name.clone(),
            message: failure.message.clone(),
        }))
    };
    failed.filter_map(warning).collect()
}

pub(super) fn failed(run: &Run, plan: &Plan) -> Vec<Warning> {
    let failing: BTreeSet<SubjectId> = run.spoiling_failures().map(|f| f.subject).collect();
    let planned = failing
        .into_iter()
        .filter_map(|subject| Some((subject, plan.subjects.get(subject)?)));
    planned
        .map(|(subject, planned_subject)| {
            let failures = || run.spoiling_failures().filter(|f| f.subject == subject);
            let points: BTreeSet<PointId> = failures().filter_map(|f| f.point).collect();
            let at = match failures().any(|f| f.point.is_none()) {
                _ if kind_of(plan).has_obvious_point(plan) => FailedAt::OnlyPoint,
                true => FailedAt::Everywhere,
                false => FailedAt::Points(points.into_iter().map(|p| label(plan, p)).collect()),
            };
            let fact = WarningFact::SubjectFailed {
                subject: planned_subject.name.clone(),
                at,
                message: failures()
                    .next()
                    .map_or(String::new(), |f| f.message.clone()),
            };
            Warning::with_cells(fact, failures().map(|f| (subject, f.point)))
        })
        .collect()
}

pub(super) fn unfit(run: &Run) -> Vec<Warning> {
    let findings = run.host.findings.iter().filter(|finding| finding.unfit);
    findings
        .map(|finding| {
            Warning::new(WarningFact::UnfitHost {
                what: finding.what.clone(),
                advice: finding.advice.clone(),
            })
        })
        .collect()
}

pub(super) fn disturbances(run: &Run) -> Option<Warning> {
    let most = |part: fn(&lab_model::Disturbance) -> f64| {
        let parts = run.blocks.iter().map(|block| part(&block.disturbance));
        parts.fold(0.0, f64::max)
    };
    let disturbed = run
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Disturbed);
    let blocks = disturbed.count();
    (blocks > 0).then(|| {
        Warning::new(WarningFact::BlocksRedone {
            blocks,
            stolen: most(|d| d.steal),
            foreign: most(|d| d.foreign),
        })
    })
}

pub(super) fn cells<'p>(
    pairs: impl IntoIterator<Item = &'p Pair>,
) -> impl Iterator<Item = (SubjectId, Option<PointId>)> {
    pairs
        .into_iter()
        .map(|pair| (pair.comparison.key.subject, pair.comparison.key.point))
}

/// Returns the names of a comparison's subject and point.
pub(super) fn cell_of_pair(plan: &Plan, pair: &Pair) -> CellName {
    let key = &pair.comparison.key;
    CellName {
        subject: Some(plan.subjects[key.subject].name.clone()),
        point: key
            .point
            .and_then(|point| label_unless_obvious(plan, point)),
    }
}

pub(super) fn label_unless_obvious(plan: &Plan, point: PointId) -> Option<String> {
    (!kind_of(plan).has_obvious_point(plan)).then(|| label(plan, point))
}

/// Returns the name of a point for a warning that names the target separately.
pub(super) fn label(plan: &Plan, point: PointId) -> String {
    if plan.points.has_id(point) {
        plan.point_name(point)
    } else {
        format!("point {point}")
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Computes results from observations of arbitrary metrics.
//!
//! The results contain values, comparisons, controls, means over points, effects of factors and
//! warnings. This is sufficient for any kind of run in which each block yields one number for a
//! subject at a point.

use super::compare::{Compared, ComparisonFamily, Question};
use super::completed::completed;
use super::judge::Basis;
use super::levels::{BlockSummary, Blocks, Levels};
use super::means::{MeanScope, effects, overall};
use super::parts::{self, PartNumbers};
use super::{Key, Results};
use crate::exclusions::failed;
use crate::sign_flip::Logs;
use crate::spending;
use crate::table::sound_plan;
use lab_model::{CaseId, Direction, Metric, Plan, PointId, Run, SubjectId};
use std::collections::HashMap;

/// The value of a metric in a block.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The subject, point and metric. If the point is `None`, the observation applies to the
    /// subject in the whole block, like its start-up time.
    pub key: Key,
    /// The index of the block among the run's complete blocks in chronological order, from 0.
    pub block: usize,
    /// The value in the metric's unit. It must be finite.
    pub value: f64,
}

/// Returns the results of a run whose blocks yielded `observations`.
///
/// Multiple observations of one key in a block are averaged. Values are medians over blocks with
/// exact intervals.
///
/// Metrics with a direction are compared with the target's baseline at each point, provided that
/// all values are above 0. The intervals are simultaneous over subjects and metrics. For metrics
/// where more is better, the ratio is the baseline's value divided by the subject's, so that a
/// ratio below 1 is always better.
///
/// Observations of subjects, points or blocks that are not in the run are ignored.
pub fn observed(run: &Run, observations: &[Observation]) -> Results {
    let of = |part: &Run, id_map: &PartNumbers, alpha_fraction: f64| {
        let in_part = |o: &Observation| Some((id_map.key_in_part(&o.key)?, o.block, o.value));
        of_part(
            part,
            alpha_fraction,
            observations.iter().filter_map(in_part),
        )
    };
    parts::combine(run, |_, part, id_map, alpha_fraction| {
        of(part, id_map, alpha_fraction)
    })
}

/// Returns the values read in a run's turns, from complete blocks.
pub fn readings(run: &Run) -> Vec<Observation> {
    let blocks = run.complete_blocks().enumerate();
    let all = blocks.flat_map(|(i, block)| block.readings.iter().map(move |r| (i, r)));
    let counted = all.filter_map(|(block, reading)| {
        let metric = run.metrics.iter().find(|m| m.id == reading.metric)?;
        Some(Observation {
            key: super::levels::key(reading.subject, Some(reading.point), metric),
            block,
            value: reading.value,
        })
    });
    counted.collect()
}

/// The observed values of a run on one target.
pub(crate) struct Observed {
    /// The metrics in the order of their first observation.
    pub metrics: Vec<Metric>,
    values: HashMap<Key, Blocks>,
}

impl Observed {
    /// Collects the observations `all` of a run with `blocks` blocks.
    pub fn new(blocks: usize, all: impl Iterator<Item = (Key, usize, f64)>) -> Observed {
        let mut metrics: Vec<Metric> = Vec::new();
        let mut sums: HashMap<Key, Vec<(f64, f64)>> = HashMap::new();
        for (key, block, value) in all.filter(|(_, block, _)| *block < blocks) {
            if !metrics.contains(&key.metric) {
                metrics.push(key.metric.clone());
            }
            let sums = sums.entry(key).or_insert_with(|| vec![(0.0, 0.0); blocks]);
            sums[block].0 += value;
            sums[block].1 += 1.0;
        }
        let means = |(key, sums): (Key, Vec<(f64, f64)>)| {
            let is_total = Metric::EFFECTS.contains(&key.metric);
            let mean = |(sum, count): (f64, f64)| {
                (count > 0.0).then(|| if is_total { sum } else { sum / count })
            };
            (key, sums.into_iter().map(mean).collect())
        };
        Observed {
            metrics,
            values: sums.into_iter().map(means).collect(),
        }
    }

    /// Returns the values of a subject in a metric at a point, by block.
    pub fn by_block(
        &self,
        subject: SubjectId,
        point: Option<PointId>,
        metric: &Metric,
    ) -> &[Option<f64>] {
        let key = super::levels::key(subject, point, metric);
        self.values.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Returns the logarithm of a subject's value divided by the baseline's, by block. For metrics
    /// where more is better, the quotient is inverted, so a logarithm below 0 is better.
    ///
    /// The result is empty if any value is 0 or less, which has no logarithm.
    pub fn logs(
        &self,
        plan: &Plan,
        subject: SubjectId,
        point: Option<PointId>,
        metric: &Metric,
    ) -> Blocks {
        let [subject_values, baseline_values] =
            [subject, plan.baseline].map(|s| self.by_block(s, point, metric));
        let values = subject_values.iter().chain(baseline_values).flatten();
        if !values.into_iter().all(|value| *value > 0.0) {
            return Blocks::new();
        }
        let sign = match metric.better {
            Direction::More => -1.0,
            Direction::Less | Direction::Neither => 1.0,
        };
        let blocks = subject_values.iter().zip(baseline_values);
        blocks
            .map(|(subject_values, baseline_values)| {
                Some(sign * ((*subject_values)? / (*baseline_values)?).ln())
            })
            .collect()
    }
}

fn of_part(
    run: &Run,
    alpha_fraction: f64,
    observations: impl Iterator<Item = (Key, usize, f64)>,
) -> Results {
    let Some(plan) = sound_plan(run) else {
        return Results::default();
    };
    let observed = Observed::new(run.complete_blocks().count(), observations);
    let basis = Basis::new(run, plan, alpha_fraction * spending::alpha(run, plan));
    let verdicts = observed.metrics.iter();
    let verdicts = verdicts.filter(|metric| metric.better != Direction::Neither);
    let verdicts: Vec<Metric> = verdicts.cloned().collect();
    let compared = compared(&basis, &observed, &verdicts);
    let mut results = Results {
        controls: compared.controls,
        overall: compared.overall,
        rankings: compared.rankings,
        cells: levels(&basis, &observed).cells,
        ..Results::default()
    };
    for metric in &verdicts {
        let values = |subject, point| observed.by_block(subject, Some(point), metric).to_vec();
        results.effects.extend(effects(&basis, metric, values));
    }
    completed(basis, compared.pairs, results)
}

/// Returns the comparisons at every point, over the whole run, and over multiple points.
fn compared(basis: &Basis, observed: &Observed, metrics: &[Metric]) -> Compared {
    let mut family = ComparisonFamily::new(basis);
    let plan = basis.plan;
    for point in plan.points.ids().map(Some).chain([None]) {
        let question = Question {
            point,
            judged: metrics,
            ranked: metrics,
        };
        family.compare_at(&question, |subject, metric| {
            Logs::of_subject(subject, observed.logs(plan, subject, point, metric))
        });
    }
    for metric in metrics {
        let logs = |subject, point| observed.logs(plan, subject, Some(point), metric);
        for scope in scopes(plan, metric) {
            overall(&mut family, &scope, logs);
        }
    }
    family.judge()
}

fn levels(basis: &Basis, observed: &Observed) -> Levels {
    let mut levels = Levels {
        alpha: basis.plan.measure.alpha,
        seed: basis.plan.seed,
        cells: Vec::new(),
    };
    let points = basis.plan.points.ids().map(Some);
    for point in points.chain([None]) {
        for subject in basis.plan.subjects.ids() {
            if point.is_some_and(|point| failed(basis.run, subject, point)) {
                continue;
            }
            for metric in &observed.metrics {
                let key = super::levels::key(subject, point, metric);
                let blocks = observed.by_block(subject, point, metric);
                levels.add(key, BlockSummary::Median, blocks);
            }
        }
    }
    levels
}

/// Returns the points of each case and, if there is more than one case, all points.
fn scopes(plan: &Plan, metric: &Metric) -> Vec<MeanScope> {
    let all_cases = (plan.cases.len() > 1).then_some(None);
    let cases = plan.cases.ids().map(Some).chain(all_cases);
    let scope = |case: Option<CaseId>| MeanScope {
        metric: metric.clone(),
        case,
        keep_alive: None,
        points: plan
            .points
            .ids()
            .filter(|&point| case.is_none_or(|case| plan.points[point].case == case))
            .collect(),
        with_control: true,
    };
    cases.map(scope).collect()
}

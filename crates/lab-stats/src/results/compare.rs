// SPDX-License-Identifier: Apache-2.0
//! Every subject against the baseline at a point, in each metric, and the control.

use super::judge::{Basis, Judged, NoiseFloor, judge};
use super::{Comparison, Control, Key};
use crate::ratio::{Level, Ratio, ratio};
use lab_model::{Metric, PointId, SubjectId};

/// In which metrics subjects are compared at a point.
pub(crate) struct Question<'m> {
    /// `None`: over the whole run.
    pub point: Option<PointId>,
    /// Each has a verdict. Their intervals hold together over subjects and metrics.
    pub judged: &'m [Metric],
    /// Each has a ratio alone, at the same level, beside the first that is judged.
    pub beside: &'m [Metric],
}

/// What was compared.
#[derive(Default)]
pub(crate) struct Compared {
    /// By point, then subject, then metric.
    pub pairs: Vec<Pair>,
    /// By point, then metric.
    pub controls: Vec<Control>,
}

/// A comparison and what it rests on.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub comparison: Comparison,
    pub ratio: Ratio,
    pub level: Level,
}

impl Compared {
    /// Adds what is compared at a point. `logs`: the logarithm of subject / baseline for each block that has
    /// both; none where a subject cannot be compared.
    pub fn add(
        &mut self,
        basis: &Basis,
        question: &Question,
        logs: impl Fn(SubjectId, &Metric) -> Vec<f64>,
    ) {
        let point = question.point;
        let logs = |subject, metric: &Metric| {
            if basis.compares(subject, point) {
                logs(subject, metric)
            } else {
                Vec::new()
            }
        };
        let (floors, judged) = judge(basis, question.judged, logs);
        for one in judged.chunk_by(|a, b| a.subject == b.subject) {
            self.pairs.extend(one.iter().map(|j| pair(basis, point, j)));
            for metric in question.beside {
                let first = one.first();
                let found =
                    first.and_then(|j| Some((j, ratio(&logs(j.subject, metric), j.level)?)));
                self.pairs.extend(found.map(|(first, ratio)| {
                    let comparison = comparison(basis, point, (first.subject, metric), &ratio);
                    Pair {
                        comparison: Comparison {
                            margin: first.margin,
                            ..comparison
                        },
                        ratio,
                        level: first.level,
                    }
                }));
            }
        }
        match point {
            Some(point) => self.controls.extend(controls(point, floors)),
            None => self.pairs.extend(of_control(basis, floors)),
        }
    }
}

fn controls(point: PointId, floors: Vec<(Metric, NoiseFloor)>) -> impl Iterator<Item = Control> {
    floors.into_iter().map(move |(metric, floor)| Control {
        point,
        metric,
        ratio: floor.ratio.interval,
        met: floor.met,
        margin: floor.margin,
    })
}

/// Over the whole run the control is shown among the others.
fn of_control(basis: &Basis, floors: Vec<(Metric, NoiseFloor)>) -> Vec<Pair> {
    let Some(control) = basis.plan.control() else {
        return Vec::new();
    };
    let pair = |(metric, floor): (Metric, NoiseFloor)| Pair {
        comparison: Comparison {
            p: Some(floor.ratio.p),
            verdict: Some(floor.verdict(basis.plan.measure.margin)),
            margin: floor.margin,
            ..comparison(basis, None, (control, &metric), &floor.ratio)
        },
        ratio: floor.ratio,
        level: floor.level,
    };
    floors.into_iter().map(pair).collect()
}

fn pair(basis: &Basis, point: Option<PointId>, judged: &Judged) -> Pair {
    let place = (judged.subject, &judged.metric);
    Pair {
        comparison: Comparison {
            p: Some(judged.p),
            verdict: Some(judged.verdict),
            margin: judged.margin,
            ..comparison(basis, point, place, &judged.ratio)
        },
        ratio: judged.ratio,
        level: judged.level,
    }
}

/// Without a verdict.
fn comparison(
    basis: &Basis,
    point: Option<PointId>,
    (subject, metric): (SubjectId, &Metric),
    ratio: &Ratio,
) -> Comparison {
    Comparison {
        key: Key {
            subject,
            point,
            metric: metric.clone(),
        },
        baseline: basis.plan.baseline,
        blocks: ratio.values,
        ratio: ratio.interval,
        p: None,
        verdict: None,
        disagrees: false,
        margin: basis.plan.measure.margin,
        merged: ratio.width > 1,
    }
}

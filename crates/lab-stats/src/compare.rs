// SPDX-License-Identifier: Apache-2.0
//! Every subject against the baseline at every point, and the control that shows the run's noise.

use crate::analysis::{Comparison, Control, Refusal, Verdict};
use crate::family;
use crate::ratio::{Level, Ratio, ratio};
use crate::refusals::refused;
use crate::table::{Table, Time};
use crate::verdict::{Ahead, ahead, verdict};
use lab_model::{Plan, PointId, SubjectId};

/// All comparisons of a run.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// By point, then subject.
    pub pairs: Vec<Pair>,
    /// By point.
    pub controls: Vec<Control>,
}

/// A comparison and what its typical ratio rests on.
#[derive(Clone, Debug)]
pub struct Pair {
    /// What reports show.
    pub comparison: Comparison,
    /// The typical ratio.
    pub typical: Ratio,
    /// How sure it was asked to be.
    pub level: Level,
}

/// Compares the subjects that are not refused with the baseline, at a level of `1 - alpha` for all
/// that are compared at one point together. The control's own level is that of the plan.
pub fn compare(plan: &Plan, table: &Table, refusals: &[Refusal], alpha: f64) -> Compared {
    let mut compared = Compared::default();
    for point in 0..plan.points.len() {
        let control = control(plan, table, refusals, point);
        let margin = control
            .as_ref()
            .map_or(plan.measure.margin, |control| control.margin);
        compared.controls.extend(control);
        compared
            .pairs
            .extend(compare_at(plan, table, refusals, point, alpha, margin));
    }
    compared
}

/// The subjects that are compared with the baseline at a point, before refusals.
pub fn candidates(plan: &Plan) -> impl Iterator<Item = SubjectId> {
    plan.compared().filter(|&s| s != plan.baseline)
}

fn control(plan: &Plan, table: &Table, refusals: &[Refusal], point: PointId) -> Option<Control> {
    let subject = plan
        .control()
        .filter(|&subject| !refused(refusals, subject, point))?;
    let logs = table.log_ratios(subject, plan.baseline, point, Time::Typical);
    let floor = noise_floor(&present(logs), plan)?;
    Some(Control {
        point,
        ratio: floor.ratio.interval,
        met: floor.met,
        margin: floor.margin,
    })
}

/// What a second copy of the baseline says of a run's noise.
pub(crate) struct NoiseFloor {
    /// Its ratio, individually at the plan's level; the truth is 1.
    pub ratio: Ratio,
    /// How sure it was asked to be.
    pub level: Level,
    /// The interval contains 1, or the blocks are too few to say.
    pub met: bool,
    /// The plan's margin, or the interval's far end where that is not met.
    pub margin: f64,
}

impl NoiseFloor {
    /// What the control's ratio supports with a margin; the truth is that the two are equivalent.
    pub fn verdict(&self, margin: f64) -> Verdict {
        verdict(&self.ratio, self.level, margin)
    }
}

/// What the logarithms of the control's ratios say, by block. `None` without any.
pub(crate) fn noise_floor(logs: &[f64], plan: &Plan) -> Option<NoiseFloor> {
    let level = Level {
        alpha: plan.measure.alpha,
        family: 1,
    };
    let ratio = ratio(logs, level)?;
    let interval = ratio.interval;
    // With too few blocks for the level an interval that excludes 1 says nothing yet.
    let met = !ratio.sufficient || (interval.low <= 1.0 && interval.high >= 1.0);
    let bound = (interval.high - 1.0).max(1.0 - interval.low);
    let margin = match met {
        true => plan.measure.margin,
        false => plan.measure.margin.max(bound),
    };
    Some(NoiseFloor {
        ratio,
        level,
        met,
        margin,
    })
}

fn compare_at(
    plan: &Plan,
    table: &Table,
    refusals: &[Refusal],
    point: PointId,
    alpha: f64,
    margin: f64,
) -> Vec<Pair> {
    let logs = |subject, time| present(table.log_ratios(subject, plan.baseline, point, time));
    let subjects: Vec<SubjectId> = candidates(plan)
        .filter(|&subject| !refused(refusals, subject, point))
        .filter(|&subject| !logs(subject, Time::Typical).is_empty())
        .collect();
    let level = Level {
        alpha,
        family: subjects.len(),
    };
    let mut pairs: Vec<Pair> = subjects
        .into_iter()
        .filter_map(|subject| pair(subject, point, level, margin, |time| logs(subject, time)))
        .collect();
    let p: Vec<f64> = pairs.iter().map(|pair| pair.typical.p).collect();
    pairs
        .iter_mut()
        .zip(family::holm(&p))
        .for_each(|(pair, p)| pair.comparison.p = p);
    pairs
}

fn pair(
    subject: SubjectId,
    point: PointId,
    level: Level,
    margin: f64,
    logs: impl Fn(Time) -> Vec<f64>,
) -> Option<Pair> {
    let typical = ratio(&logs(Time::Typical), level)?;
    let whole = ratio(&logs(Time::Whole), level).unwrap_or(typical);
    let cpu = ratio(&logs(Time::Cpu), level).unwrap_or(typical);
    let decision = verdict(&typical, level, margin);
    let comparison = Comparison {
        subject,
        point,
        blocks: typical.values,
        ratio: typical.interval,
        p: typical.p,
        verdict: decision,
        whole_ratio: whole.interval,
        cpu_ratio: cpu.interval,
        disagree: disagree(&decision, &verdict(&whole, level, margin)),
        merged: typical.width > 1,
    };
    Some(Pair {
        comparison,
        typical,
        level,
    })
}

/// They name different winners, or one names a winner and the other finds them equivalent.
fn disagree(typical: &Verdict, whole: &Verdict) -> bool {
    let (typical, whole) = (ahead(typical), ahead(whole));
    typical != whole && typical != Ahead::Unknown && whole != Ahead::Unknown
}

fn present(logs: Vec<Option<f64>>) -> Vec<f64> {
    logs.into_iter().flatten().collect()
}

// SPDX-License-Identifier: Apache-2.0
//! Subjects that are faster than every reference, and possible reasons.

use super::basis::{WarningBasis, label, label_unless_obvious};
use crate::analysis::Verdict;
use crate::kind::kind_of;
use crate::results::compare::Pair;
use crate::results::warning::{
    CellName, CheaperSubject, ReferenceBeaten, SettingDiffers, SettingOf,
};
use crate::results::{Comparison, Warning, WarningFact};
use crate::settings;
use lab_model::{Metric, Plan, PointId, SubjectId};
use std::collections::{BTreeMap, BTreeSet};

/// The minimum fraction of a difference in time that a lower CPU time must account for to explain
/// the difference.
const EXPLAINING_FRACTION: f64 = 0.5;

/// Returns a warning about points at which a subject is faster than every reference. No reference
/// then shows what the machine can do.
pub(super) fn reference_beaten(evidence: &WarningBasis, pairs: &[&Pair]) -> Option<Warning> {
    let plan = evidence.basis.plan;
    let times = pairs.iter().map(|pair| &pair.comparison);
    let times: Vec<&Comparison> = times.filter(|c| c.key.metric == Metric::WALL).collect();
    let ahead = times.iter().copied().filter(|c| {
        let is_faster =
            c.verdict == Some(Verdict::Faster) && !plan.subjects[c.key.subject].reference;
        is_faster && plan.subjects[c.baseline].reference && !another_holds(plan, &times, c)
    });
    let ahead: Vec<&Comparison> = ahead.collect();
    let reference = ahead.first()?.baseline;
    let points: BTreeSet<PointId> = ahead.iter().filter_map(|c| c.key.point).collect();
    let points = points
        .iter()
        .filter(|_| !kind_of(plan).has_obvious_point(plan));
    let subjects: BTreeSet<SubjectId> = ahead.iter().map(|c| c.key.subject).collect();
    let fact = WarningFact::ReferenceBeaten(ReferenceBeaten {
        reference: name(plan, reference),
        faster: subjects.iter().map(|&s| name(plan, s)).collect(),
        points: points.map(|&point| label(plan, point)).collect(),
        settings: differing(evidence, &ahead),
        cheaper: cheaper_subjects(evidence, &ahead),
        explain: command(plan, &ahead),
    });
    let cells = ahead.iter().map(|c| (c.key.subject, c.key.point));
    Some(Warning::with_cells(fact, cells))
}

fn name(plan: &Plan, subject: SubjectId) -> String {
    plan.subjects[subject].name.clone()
}

/// Returns true if another reference may be as fast as the subject of `ahead`, according to the
/// bounds of their intervals.
fn another_holds(plan: &Plan, times: &[&Comparison], ahead: &Comparison) -> bool {
    let others = times.iter().filter(|c| {
        let subject = &plan.subjects[c.key.subject];
        c.key.point == ahead.key.point && subject.reference && subject.control_of.is_none()
    });
    let mut bounds = others.map(|other| ahead.ratio.high / other.ratio.low);
    bounds.any(|highest| highest >= 1.0 - ahead.margin)
}

/// Returns, for each subject at each point, the first condition of the experiment in which the
/// subject differs from the reference.
fn differing(evidence: &WarningBasis, ahead: &[&Comparison]) -> Vec<SettingDiffers> {
    let (run, plan) = (evidence.basis.run, evidence.basis.plan);
    let is_ahead = |subject, point| {
        let mut all = ahead.iter();
        all.any(|c| (c.key.subject, c.key.point) == (subject, Some(point)))
    };
    let mut handled = BTreeSet::new();
    let mut subjects_of: BTreeMap<(String, String), BTreeSet<SettingOf>> = BTreeMap::new();
    for difference in settings::differences(plan, &run.settings, &plan.proof.conditions) {
        let cell = (difference.subject, difference.point);
        let (Some(value), Some(base)) = (difference.value, difference.baseline) else {
            continue;
        };
        if is_ahead(cell.0, cell.1) && handled.insert(cell) {
            let others = subjects_of.entry((difference.key, base)).or_default();
            others.insert(SettingOf {
                value: Some(value),
                subject: name(plan, cell.0),
            });
        }
    }
    let reference = name(plan, ahead[0].baseline);
    let differs = |((key, base), others): ((String, String), BTreeSet<SettingOf>)| SettingDiffers {
        key,
        baseline: SettingOf {
            value: Some(base),
            subject: reference.clone(),
        },
        others: others.into_iter().collect(),
    };
    subjects_of.into_iter().map(differs).collect()
}

/// Returns the subjects that work on a server and are ahead mostly because they need less CPU time.
/// The values of each subject are from the point at which it is furthest ahead.
fn cheaper_subjects(evidence: &WarningBasis, ahead: &[&Comparison]) -> Vec<CheaperSubject> {
    let plan = evidence.basis.plan;
    let mut furthest: BTreeMap<SubjectId, &Comparison> = BTreeMap::new();
    for &comparison in ahead.iter().filter(|c| spares_cpu(evidence, c)) {
        let furthest_of_subject = furthest.entry(comparison.key.subject).or_insert(comparison);
        if comparison.ratio.estimate < furthest_of_subject.ratio.estimate {
            *furthest_of_subject = comparison;
        }
    }
    let cheaper = |(subject, c): (SubjectId, &Comparison)| {
        let cpu = |subject| value(evidence, (subject, c.key.point), &Metric::MEAN_CPU);
        let point = c.key.point.and_then(|p| label_unless_obvious(plan, p));
        CheaperSubject {
            place: CellName {
                subject: Some(name(plan, subject)),
                point,
            },
            cpu_ns: cpu(subject),
            reference: name(plan, c.baseline),
            reference_cpu_ns: cpu(c.baseline),
        }
    };
    furthest.into_iter().map(cheaper).collect()
}

fn spares_cpu(evidence: &WarningBasis, c: &Comparison) -> bool {
    let spared = |metric: &Metric| {
        let [base, own] = [c.baseline, c.key.subject]
            .map(|subject| value(evidence, (subject, c.key.point), metric));
        base - own
    };
    let on_server = value(evidence, (c.baseline, c.key.point), &Metric::SERVER_CPU) > 0.0;
    let (wall, cpu) = (spared(&Metric::MEAN_WALL), spared(&Metric::MEAN_CPU));
    on_server && wall > 0.0 && cpu >= EXPLAINING_FRACTION * wall
}

/// Returns the value of a subject at a point in the metric's unit, or 0 if the value is unknown.
fn value(
    evidence: &WarningBasis,
    (subject, point): (SubjectId, Option<PointId>),
    metric: &Metric,
) -> f64 {
    let mut cells = evidence.cells.iter();
    let cell =
        cells.find(|c| (c.key.subject, c.key.point) == (subject, point) && c.key.metric == *metric);
    cell.map_or(0.0, |cell| cell.value.value())
}

/// Returns the command that counts the events of the subjects that are ahead and of the reference.
fn command(plan: &Plan, ahead: &[&Comparison]) -> String {
    let points: BTreeSet<PointId> = ahead.iter().filter_map(|c| c.key.point).collect();
    let targets: BTreeSet<&str> = points
        .iter()
        .filter_map(|&p| Some(plan.targets.get(plan.points[p].target)?.kind.name()))
        .collect();
    let cases: BTreeSet<&str> = points.iter().map(|&p| plan.case(p).name.as_str()).collect();
    let ids = ahead.iter().flat_map(|c| [c.baseline, c.key.subject]);
    let ids: BTreeSet<SubjectId> = ids.collect();
    let subjects: BTreeSet<&str> = ids
        .iter()
        .map(|&s| plan.subjects[s].name.as_str())
        .collect();
    let mut words = vec![format!("benchlab explain {}", plan.experiment)];
    for (option, values) in [
        ("targets", targets),
        ("cases", cases),
        ("subjects", subjects),
    ] {
        if !values.is_empty() {
            let values: Vec<&str> = values.into_iter().collect();
            words.push(format!("--{option} {}", values.join(",")));
        }
    }
    words.join(" ")
}

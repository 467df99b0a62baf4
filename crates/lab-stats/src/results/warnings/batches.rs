// SPDX-License-Identifier: Apache-2.0
//! Warnings about the times of batches and of whole commands.

use super::basis::{
    WarningBasis, cell_of_pair, cells, cleanups, disturbances, failed, interrupted, label,
    label_unless_obvious, level_not_reached, shortest_comparison, shortfall, unfit,
};
use super::reference::reference_beaten;
use crate::kind::kind_of;
use crate::results::compare::Pair;
use crate::results::warning::{
    CellName, ChangingSubject, CopiesDiffer, CopyDiffers, SettingDiffers, SettingOf,
};
use crate::results::{Cell, Control, Warning, WarningFact};
use crate::{exclusions, forecast, settings};
use lab_model::{Metric, Plan, PointId, Run, SubjectId, WarmUp};
use std::collections::{BTreeMap, BTreeSet};

/// A command is short if its run takes less than this multiple of the time to start a process.
///
/// The comparison then mostly measures the operating system instead of the command.
const SHORT_RUN_STARTS: f64 = 10.0;

/// Returns all warnings about a run, most serious first.
pub(in crate::results) fn of_batches(evidence: &WarningBasis) -> Vec<Warning> {
    let (run, plan) = (evidence.basis.run, evidence.basis.plan);
    let judged = evidence.pairs.iter();
    let judged = judged.filter(|pair| pair.comparison.verdict.is_some());
    let pairs: Vec<&Pair> = judged.collect();
    let mut all: Vec<Warning> = interrupted(run, plan).into_iter().collect();
    all.extend(failed(run, plan));
    all.extend(cleanups(run, plan));
    all.extend(unfit(run));
    all.extend(few_blocks(run, plan, &pairs));
    all.extend(noise_floor(plan, evidence.controls));
    all.extend(reference_beaten(evidence, &pairs));
    all.extend(short(plan, evidence.cells));
    all.extend(conditions(run, plan));
    all.extend(dependent(plan, &pairs));
    all.extend(no_steady_state(run, plan));
    all.extend(disturbances(run));
    all
}

fn few_blocks(run: &Run, plan: &Plan, pairs: &[&Pair]) -> Option<Warning> {
    // More time gives a run more blocks, but no more builds.
    let states_time = kind_of(plan).states_time_for_blocks() && plan.builds() == 1;
    let time = |blocks| match states_time {
        true => forecast::time_for(run, blocks),
        false => None,
    };
    let fact = match shortest_comparison(pairs.iter().copied()) {
        None => level_not_reached(run, plan, pairs.is_empty(), time)?,
        Some(pair) => shortfall(run, plan, pair, time),
    };
    Some(Warning::new(fact))
}

/// Returns warnings about commands whose start-up is a considerable fraction of their time.
fn short(plan: &Plan, cells: &[Cell]) -> Vec<Warning> {
    let found = plan
        .compared()
        .filter_map(|subject| short_run(plan, cells, subject));
    found.collect()
}

/// Returns a warning about the shortest run of a command among the points at which the command is
/// short.
fn short_run(plan: &Plan, cells: &[Cell], subject: SubjectId) -> Option<Warning> {
    let shell = plan.subjects[subject].command.as_ref()?.shell;
    let with_shell = plan.start_cost(true).filter(|_| shell);
    let start = with_shell.or(plan.start_cost(false))?;
    let walls = || {
        let walls = cells.iter().filter(|c| c.key.metric == Metric::WALL);
        walls.filter_map(|c| Some((c, c.value.interval()?)))
    };
    let cost_at = |point: Option<PointId>| {
        let starts = || walls().filter(|(c, _)| c.key.subject == start);
        let at_point = starts().find(|(c, _)| c.key.point == point);
        Some(at_point.or_else(|| starts().next())?.1)
    };
    let of_subject = walls().filter(|(c, _)| c.key.subject == subject);
    let shorts = of_subject.filter_map(|(cell, time)| {
        let cost = cost_at(cell.key.point)?;
        let short = time.estimate < SHORT_RUN_STARTS * cost.estimate;
        let have_intervals = time.level > 0.0 && cost.level > 0.0;
        (short && have_intervals).then_some((cell.key.point?, time, cost))
    });
    let (point, time, cost) = shorts.min_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate))?;
    let fact = WarningFact::ShortRun {
        place: CellName {
            subject: Some(plan.subjects[subject].name.clone()),
            point: label_unless_obvious(plan, point),
        },
        run: *time,
        start: *cost,
        shell: with_shell.is_some(),
    };
    Some(Warning::with_cells(fact, [(subject, Some(point))]))
}

fn noise_floor(plan: &Plan, controls: &[Control]) -> Option<Warning> {
    let by_chance = (controls.len() as f64 * plan.measure.alpha).ceil();
    copies_differ(plan, controls, by_chance)
}

/// Returns a warning about controls whose interval excludes 1.
///
/// `by_chance` is the number of these controls expected by chance.
pub(super) fn copies_differ(plan: &Plan, controls: &[Control], by_chance: f64) -> Option<Warning> {
    let unmet = || controls.iter().filter(|control| !control.met);
    let at = unmet().map(|control| CopyDiffers {
        metric: control.metric.clone(),
        point: label(plan, control.point),
        margin: control.margin,
    });
    let at: Vec<CopyDiffers> = at.collect();
    let cells = unmet().map(|c| (plan.baseline, Some(c.point)));
    (!at.is_empty()).then(|| {
        let fact = WarningFact::CopiesDiffer(CopiesDiffer {
            baseline: plan.subjects[plan.baseline].name.clone(),
            at,
            controls: controls.len(),
            by_chance,
            margin: plan.measure.margin,
            one_point: kind_of(plan).has_obvious_point(plan),
        });
        Warning::with_cells(fact, cells)
    })
}

fn conditions(run: &Run, plan: &Plan) -> Vec<Warning> {
    let baseline = plan.baseline;
    let setting = |value: Option<String>, subject: SubjectId| SettingOf {
        value,
        subject: plan.subjects[subject].name.clone(),
    };
    type Others = (BTreeSet<SettingOf>, Vec<(SubjectId, Option<PointId>)>);
    let mut by_key: BTreeMap<(String, SettingOf), Others> = BTreeMap::new();
    for difference in settings::differences(plan, &run.settings, &plan.proof.conditions) {
        let failed = |subject| exclusions::failed(run, subject, difference.point);
        if !failed(difference.subject) && !failed(baseline) {
            let key = (difference.key, setting(difference.baseline, baseline));
            let (others, cells) = by_key.entry(key).or_default();
            others.insert(setting(difference.value, difference.subject));
            cells.push((difference.subject, Some(difference.point)));
        }
    }
    let warning = |((key, baseline), (others, cells)): ((String, SettingOf), Others)| {
        let fact = WarningFact::ConditionDiffers(SettingDiffers {
            key,
            baseline,
            others: others.into_iter().collect(),
        });
        Warning::with_cells(fact, cells)
    };
    by_key.into_iter().map(warning).collect()
}

fn dependent(plan: &Plan, pairs: &[&Pair]) -> Vec<Warning> {
    let warning = |merged: bool, is_selected: fn(&Pair) -> bool| {
        let selected = || pairs.iter().copied().filter(|pair| is_selected(pair));
        let at: Vec<CellName> = selected().map(|pair| cell_of_pair(plan, pair)).collect();
        (!at.is_empty()).then(|| {
            let fact = WarningFact::BlocksDepend {
                at,
                comparisons: Some(pairs.len()),
                merged,
            };
            Warning::with_cells(fact, cells(selected()))
        })
    };
    let merged = warning(true, |pair| pair.ratio.dependent && !pair.ratio.unresolved);
    let unresolved = warning(false, |pair| pair.ratio.unresolved);
    merged.into_iter().chain(unresolved).collect()
}

/// Returns warnings about subjects without a steady state.
///
/// Programs that run as a fresh process each time are skipped.
fn no_steady_state(run: &Run, plan: &Plan) -> Vec<Warning> {
    if kind_of(plan).has_fresh_processes() {
        return Vec::new();
    }
    // Points by subject and by whether the run had no time for its pilots.
    let mut by_subject: BTreeMap<(SubjectId, bool), Vec<PointId>> = BTreeMap::new();
    for pilot in run
        .pilots
        .iter()
        .filter(|pilot| matches!(pilot.class, WarmUp::NoSteadyState | WarmUp::CutShort))
    {
        if plan.subjects.has_id(pilot.subject) && plan.points.has_id(pilot.point) {
            by_subject
                .entry((pilot.subject, pilot.class == WarmUp::CutShort))
                .or_default()
                .push(pilot.point);
        }
    }
    let warning = |((subject, cut_short), points): ((SubjectId, bool), Vec<PointId>)| {
        let changing = ChangingSubject {
            name: plan.subjects[subject].name.clone(),
            at: points.iter().map(|&point| label(plan, point)).collect(),
        };
        let fact = WarningFact::NoSteadyState {
            subjects: vec![changing],
            cut_short,
        };
        Warning::with_cells(fact, points.iter().map(|&point| (subject, Some(point))))
    };
    by_subject.into_iter().map(warning).collect()
}

// SPDX-License-Identifier: Apache-2.0
//! What a reader of the times of batches and of whole commands must know.

use super::reference::reference_beaten;
use super::{
    WarningBasis, alone, disturbances, failed, fewest, label, list, one_place, percent, places,
    shortfall, unfit,
};
use crate::results::compare::Pair;
use crate::results::{Cell, Control, Warning, WarningKind};
use crate::{family, forecast, refusals, settings, stopping};
use lab_model::{Interval, Metric, Plan, PointId, Run, SubjectId, WarmUp};
use std::collections::{BTreeMap, BTreeSet};

/// A command's run is short if it takes less than this many starts of a process: what is compared is
/// then in good part the system's work, not the command's.
const SHORT_RUN_STARTS: f64 = 10.0;

/// All warnings about a run, the gravest first.
pub(in crate::results) fn of_batches(evidence: &WarningBasis) -> Vec<Warning> {
    let (run, plan) = (evidence.basis.run, evidence.basis.plan);
    let judged = evidence.pairs.iter();
    let judged = judged.filter(|pair| pair.comparison.verdict.is_some());
    let pairs: Vec<&Pair> = judged.collect();
    let mut all: Vec<Warning> = interrupted(run).into_iter().collect();
    all.extend(failed(run, plan));
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

fn interrupted(run: &Run) -> Option<Warning> {
    let state = stopping::unfinished(run)?;
    let text = format!(
        "The run {state}: what it has is shown. `benchlab resume {}` goes on.",
        run.name
    );
    Some(Warning::new(WarningKind::Interrupted, text))
}

fn few_blocks(run: &Run, plan: &Plan, pairs: &[&Pair]) -> Option<Warning> {
    let (shortage, needed) = match fewest(pairs.iter().copied()) {
        None => {
            let needed = family::blocks_needed(plan.measure.alpha, 1)?;
            (alone(run, plan, pairs.is_empty())?, needed)
        }
        Some(pair) => (shortfall(run, pair), pair.ratio.needed),
    };
    let text = format!("{shortage}. {}.", more_time(run, plan, needed));
    Some(Warning::new(WarningKind::FewBlocks, text))
}

/// What to do about too few blocks.
fn more_time(run: &Run, plan: &Plan, blocks: u32) -> String {
    let time = plan.commands();
    match time.and_then(|_| forecast::time_for(run, blocks)) {
        Some(time) => format!("Give it more time: --for {}", time.option()),
        None => "Give the run more time".to_string(),
    }
}

/// Commands of whose runs the start is a good part.
fn short(plan: &Plan, cells: &[Cell]) -> Vec<Warning> {
    let found = plan
        .compared()
        .filter_map(|subject| short_run(plan, cells, subject));
    found.collect()
}

/// Of the points at which a command is short, that with the shortest run.
fn short_run(plan: &Plan, cells: &[Cell], subject: SubjectId) -> Option<Warning> {
    let shell = plan.subjects[subject].command.as_ref()?.shell;
    let with_shell = plan.start_cost(true).filter(|_| shell);
    let start = with_shell.or(plan.start_cost(false))?;
    let walls = || {
        let walls = cells.iter().filter(|c| c.key.metric == Metric::WALL);
        walls.filter_map(|c| Some((c, c.value.interval()?)))
    };
    let overhead = if with_shell.is_some() {
        "starting a shell"
    } else {
        "starting a process"
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
    let at = if one_place(plan) {
        String::new()
    } else {
        format!(" at {}", label(plan, point))
    };
    let text = format!(
        "{}{at} takes {} ms, of which {overhead} is {} ms: let it do more work in one run.",
        plan.subjects[subject].name,
        milliseconds(time),
        milliseconds(cost),
    );
    let place = (subject, Some(point));
    Some(Warning::about(WarningKind::Short, text, [place]))
}

/// `0.91 (0.88 to 0.95)`.
fn milliseconds(time: &Interval) -> String {
    let ms = |ns: f64| format!("{:.2}", ns / 1e6);
    format!(
        "{} ({} to {})",
        ms(time.estimate),
        ms(time.low),
        ms(time.high)
    )
}

fn noise_floor(plan: &Plan, controls: &[Control]) -> Option<Warning> {
    let unmet: Vec<_> = controls.iter().filter(|control| !control.met).collect();
    let points: BTreeSet<PointId> = unmet.iter().map(|control| control.point).collect();
    let margin = unmet.iter().map(|c| c.margin).fold(0.0, f64::max);
    let name = &plan.subjects[plan.baseline].name;
    let margin = percent(margin);
    let points = list(points.into_iter().map(|point| label(plan, point)));
    let text = if one_place(plan) {
        format!(
            "Two copies of {name} differ: the machine was not quiet enough. Only differences beyond {margin} count. \
             Measure again when it is quiet."
        )
    } else {
        format!(
            "Two copies of {name} differ at {points}: only differences beyond {margin} count there. With {} points, \
             {} such can be expected by chance alone.",
            controls.len(),
            (controls.len() as f64 * plan.measure.alpha).ceil(),
        )
    };
    let places = unmet.iter().map(|c| (plan.baseline, Some(c.point)));
    (!unmet.is_empty()).then(|| Warning::about(WarningKind::NoiseFloor, text, places))
}

fn conditions(run: &Run, plan: &Plan) -> Vec<Warning> {
    let mut by_key: BTreeMap<String, (BTreeSet<String>, Vec<_>)> = BTreeMap::new();
    for difference in settings::differences(plan, &run.settings, &plan.proof.conditions) {
        let failed = |subject| refusals::failed(run, subject, difference.point);
        if !failed(difference.subject) && !failed(plan.baseline) {
            let value = difference.value.as_deref().unwrap_or("not reported");
            let deviation = format!("{} in {}", value, plan.subjects[difference.subject].name);
            let baseline = difference.baseline.as_deref().unwrap_or("not reported");
            let key = format!(
                "{} is {baseline} in {}",
                difference.key, plan.subjects[plan.baseline].name
            );
            let (all, places) = by_key.entry(key).or_default();
            all.insert(deviation);
            places.push((difference.subject, Some(difference.point)));
        }
    }
    let warning = |(key, (deviations, places)): (String, (BTreeSet<String>, Vec<_>))| {
        let text = format!(
            "{key}, but {}: part of a difference may come from that.",
            list(deviations)
        );
        Warning::about(WarningKind::Versions, text, places)
    };
    by_key.into_iter().map(warning).collect()
}

fn dependent(plan: &Plan, pairs: &[&Pair]) -> Vec<Warning> {
    let select = |is_selected: fn(&Pair) -> bool| -> Vec<&Pair> {
        pairs
            .iter()
            .copied()
            .filter(|pair| is_selected(pair))
            .collect()
    };
    let named = |pairs: &[&Pair]| list(pairs.iter().map(|pair| at(plan, pair)));
    let merged = select(|pair| pair.ratio.dependent && !pair.ratio.unresolved);
    let unmerged = select(|pair| pair.ratio.unresolved);
    let mut warnings = Vec::new();
    let mut warn = |text, pairs: &[&Pair]| {
        warnings.push(Warning::about(
            WarningKind::Dependent,
            text,
            places(pairs.iter().copied()),
        ))
    };
    if !merged.is_empty() {
        let text = format!(
            "Neighbouring blocks depend on each other for {}: they were merged, and fewer count.",
            named(&merged),
        );
        warn(text, &merged);
    }
    if !unmerged.is_empty() {
        let text = format!(
            "Neighbouring blocks depend on each other for {}, and there are too few to merge them: \
             the intervals may be too narrow, and no winner is named. Give the run more time.",
            named(&unmerged),
        );
        warn(text, &unmerged);
    }
    warnings
}

/// Of whole commands every run is a fresh process, which is all that a pilot could tell.
fn no_steady_state(run: &Run, plan: &Plan) -> Vec<Warning> {
    if plan.commands().is_some() {
        return Vec::new();
    }
    // By subject, and whether the run had no time for its pilots.
    let mut by_subject: BTreeMap<(SubjectId, bool), Vec<PointId>> = BTreeMap::new();
    for pilot in run
        .pilots
        .iter()
        .filter(|pilot| matches!(pilot.class, WarmUp::NoSteadyState | WarmUp::CutShort))
    {
        if pilot.subject < plan.subjects.len() && pilot.point < plan.points.len() {
            by_subject
                .entry((pilot.subject, pilot.class == WarmUp::CutShort))
                .or_default()
                .push(pilot.point);
        }
    }
    let warning = |((subject, is_cut_short), points): ((SubjectId, bool), Vec<PointId>)| {
        let name = &plan.subjects[subject].name;
        let places = list(points.iter().map(|&point| label(plan, point)));
        let text = if is_cut_short {
            format!(
                "The time of this run was too short to see whether {name} was steady at {places}: its figures hold for a \
                 process that is hardly warmed up. Give the run more time, or fewer points."
            )
        } else {
            format!(
                "{name} was still changing at the end of the pilot at {places}: its figures hold for a process of that age."
            )
        };
        let places = points.iter().map(|&point| (subject, Some(point)));
        Warning::about(WarningKind::NoSteadyState, text, places)
    };
    by_subject.into_iter().map(warning).collect()
}

fn at(plan: &Plan, pair: &Pair) -> String {
    let key = &pair.comparison.key;
    let name = &plan.subjects[key.subject].name;
    match key.point {
        Some(point) if !one_place(plan) => format!("{name} at {}", label(plan, point)),
        _ => name.clone(),
    }
}

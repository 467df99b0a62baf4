// SPDX-License-Identifier: Apache-2.0
//! What a reader of the figures must know, in sentences.

use crate::analysis::{Cell, Interval, Warning};
use crate::compare::{Compared, Pair};
use crate::{family, forecast, refusals, settings};
use lab_model::{Ending, Plan, PointId, Run, SubjectId, WarmUp};
use std::collections::{BTreeMap, BTreeSet};

/// A command's run is short if it takes less than this many starts of a process: what is compared is
/// then in good part the system's work, not the command's.
const SHORT: f64 = 10.0;

/// All warnings about a run, the gravest first. `disturbed`: blocks that were redone.
pub fn warnings(
    run: &Run,
    plan: &Plan,
    compared: &Compared,
    cells: &[Cell],
    disturbed: u32,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind: &str, texts: Vec<String>| {
        warnings.extend(texts.into_iter().map(|text| Warning {
            kind: kind.to_string(),
            text,
        }));
    };
    warn("interrupted", interrupted(run));
    warn("failed", failed(run, plan));
    warn("host", unfit(run));
    warn(
        "few-blocks",
        few_blocks(run, plan, compared).into_iter().collect(),
    );
    warn(
        "noise-floor",
        noise_floor(plan, compared).into_iter().collect(),
    );
    warn("short", short(plan, cells));
    warn("versions", conditions(run, plan));
    warn("disagree", disagree(plan, compared).into_iter().collect());
    warn("dependent", dependent(plan, compared));
    warn("no-steady-state", no_steady_state(run, plan));
    warn("disturbed", disturbances(run, disturbed));
    warnings
}

fn interrupted(run: &Run) -> Vec<String> {
    let how = match run.ending {
        Some(Ending::Interrupted) => "was stopped by hand",
        None => "has not ended",
        Some(_) => return Vec::new(),
    };
    vec![format!(
        "The run {how}: what it has is shown. `benchlab resume {}` goes on.",
        run.name
    )]
}

pub(crate) fn failed(run: &Run, plan: &Plan) -> Vec<String> {
    let failing: BTreeSet<SubjectId> = run.failures.iter().map(|f| f.subject).collect();
    let known = failing
        .into_iter()
        .filter_map(|subject| Some((subject, plan.subjects.get(subject)?)));
    known
        .map(|(subject, named)| {
            let failures = || run.failures.iter().filter(|f| f.subject == subject);
            let first = failures()
                .next()
                .map_or(String::new(), |f| f.message.clone());
            let everywhere = failures().any(|f| f.point.is_none());
            let points: BTreeSet<PointId> = failures().filter_map(|f| f.point).collect();
            let name = &named.name;
            if one_place(plan) {
                return format!("{name} failed and is not compared: {first}");
            }
            let at = match points.len() {
                _ if everywhere => "everywhere".to_string(),
                1 => format!("at {}", list(points.into_iter().map(|p| label(plan, p)))),
                n => format!("at {n} points"),
            };
            format!("{name} failed {at} and is not compared there: {first}")
        })
        .collect()
}

pub(crate) fn unfit(run: &Run) -> Vec<String> {
    let findings = run.host.findings.iter().filter(|finding| finding.unfit);
    findings
        .map(|f| format!("{}: {}.", f.what, f.advice))
        .collect()
}

fn few_blocks(run: &Run, plan: &Plan, compared: &Compared) -> Option<String> {
    let blocks = run.complete_blocks().count();
    let short = |pair: &&Pair| !pair.typical.sufficient;
    let worst = compared.pairs.iter().filter(short).min_by(|a, b| {
        a.comparison
            .ratio
            .level
            .total_cmp(&b.comparison.ratio.level)
    });
    let Some(pair) = worst else {
        let needed = family::blocks_needed(plan.measure.alpha, 1)?;
        let few = compared.pairs.is_empty() && blocks > 0 && blocks < needed as usize;
        return few.then(|| format!(
            "Intervals at {} need {needed} blocks, and there are {blocks}: each says what level it \
             has. {}.",
            percent(1.0 - plan.measure.alpha),
            more_time(run, plan, needed),
        ));
    };
    let needed = family::blocks_needed(pair.level.alpha, pair.level.family)?;
    let together = match pair.level.family {
        1 => "An interval".to_string(),
        n => format!("{n} intervals that hold together"),
    };
    Some(format!(
        "{together} at {} need{} {needed} blocks, and there are {}: what is shown holds at {}, and \
         no winner is named. {}{}.",
        percent(1.0 - pair.level.alpha),
        if pair.level.family == 1 { "s" } else { "" },
        pair.comparison.blocks,
        percent(pair.comparison.ratio.level),
        more_time(run, plan, needed),
        match pair.level.family {
            1 => String::new(),
            _ => format!(", or compare fewer {}", subjects(plan)),
        },
    ))
}

/// What to do about too few blocks.
fn more_time(run: &Run, plan: &Plan, blocks: u32) -> String {
    let time = plan.commands.as_ref();
    match time.and_then(|_| forecast::time_for(run, blocks)) {
        Some(time) => format!("Give it more time: --for {time}"),
        None => "Give the run more time".to_string(),
    }
}

/// Commands of whose runs the start is a good part.
fn short(plan: &Plan, cells: &[Cell]) -> Vec<String> {
    let found = plan
        .compared()
        .filter_map(|subject| short_run(plan, cells, subject));
    found.collect()
}

/// Of the points at which a command is short, that with the shortest run.
fn short_run(plan: &Plan, cells: &[Cell], subject: SubjectId) -> Option<String> {
    let shell = plan.subjects[subject].command.as_ref()?.shell;
    let with_shell = plan.start_cost(true).filter(|_| shell);
    let start = with_shell.or(plan.start_cost(false))?;
    let what = if with_shell.is_some() {
        "starting a shell"
    } else {
        "starting a process"
    };
    let cost_at = |point: PointId| {
        let here = cells
            .iter()
            .find(|c| (c.subject, c.point) == (start, point));
        here.or_else(|| cells.iter().find(|c| c.subject == start))
    };
    let mine = cells.iter().filter(|c| c.subject == subject);
    let shorts = mine.filter_map(|cell| {
        let cost = cost_at(cell.point)?;
        let short = cell.wall_ns.estimate < SHORT * cost.wall_ns.estimate;
        let known = cell.wall_ns.level > 0.0 && cost.wall_ns.level > 0.0;
        (short && known).then_some((cell, cost))
    });
    let shortest = |(a, _): &(&Cell, &Cell), (b, _): &(&Cell, &Cell)| {
        a.wall_ns.estimate.total_cmp(&b.wall_ns.estimate)
    };
    let (cell, cost) = shorts.min_by(shortest)?;
    let at = match one_place(plan) {
        true => String::new(),
        false => format!(" at {}", label(plan, cell.point)),
    };
    Some(format!(
        "{}{at} takes {} ms, of which {what} is {} ms: let it do more work in one run.",
        plan.subjects[subject].name,
        milliseconds(&cell.wall_ns),
        milliseconds(&cost.wall_ns),
    ))
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

fn subjects(plan: &Plan) -> &'static str {
    match plan.commands {
        Some(_) => "commands",
        None => "subjects",
    }
}

/// Whole commands without parameters: where something is goes without saying.
fn one_place(plan: &Plan) -> bool {
    plan.commands.is_some() && plan.points.len() == 1
}

fn noise_floor(plan: &Plan, compared: &Compared) -> Option<String> {
    let unmet: Vec<_> = compared
        .controls
        .iter()
        .filter(|control| !control.met)
        .collect();
    let margin = unmet.iter().map(|c| c.margin).fold(0.0, f64::max);
    let name = &plan.subjects[plan.baseline].name;
    let margin = percent(margin);
    let points = list(unmet.iter().map(|control| label(plan, control.point)));
    (!unmet.is_empty()).then(|| match one_place(plan) {
        true => format!(
            "Two copies of {name} differ: the noise floor was not met, and the margin is raised to \
             {margin}. Measure again when the machine is quiet."
        ),
        false => format!(
            "Two copies of {name} differ at {points}: the noise floor was not met, and the margin is \
             raised there, up to {margin}. With {} points, {} such by chance alone would be no \
             surprise.",
            compared.controls.len(),
            (compared.controls.len() as f64 * plan.measure.alpha).ceil(),
        ),
    })
}

fn conditions(run: &Run, plan: &Plan) -> Vec<String> {
    let mut by_key: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for difference in settings::differences(plan, &run.settings, &plan.proof.conditions) {
        let failed = |subject| refusals::failed(run, subject, difference.point);
        if !failed(difference.subject) && !failed(plan.baseline) {
            let value = difference.value.as_deref().unwrap_or("not reported");
            let said = format!("{} in {}", value, plan.subjects[difference.subject].name);
            let baseline = difference.baseline.as_deref().unwrap_or("not reported");
            let key = format!(
                "{} is {baseline} in {}",
                difference.key, plan.subjects[plan.baseline].name
            );
            by_key.entry(key).or_default().insert(said);
        }
    }
    let sentence = |(key, said): (String, BTreeSet<String>)| {
        format!(
            "{key}, but {}: part of a difference may come from that.",
            list(said)
        )
    };
    by_key.into_iter().map(sentence).collect()
}

fn disagree(plan: &Plan, compared: &Compared) -> Option<String> {
    let pairs: Vec<_> = compared
        .pairs
        .iter()
        .filter(|pair| pair.comparison.disagree)
        .collect();
    let which = list(pairs.iter().map(|pair| at(plan, pair)));
    (!pairs.is_empty()).then(|| match plan.commands {
        Some(_) => format!(
            "Typical and whole time do not name the same winner for {which}: some runs take much \
             longer than most. Look at the distribution, and compare both columns."
        ),
        None => format!(
            "Typical and whole time do not name the same winner for {which}: pauses (collector, \
             cache, disk) cost more than the typical operation shows. Compare both columns."
        ),
    })
}

fn dependent(plan: &Plan, compared: &Compared) -> Vec<String> {
    let pairs = |which: fn(&Pair) -> bool| -> Vec<String> {
        compared
            .pairs
            .iter()
            .filter(|pair| which(pair))
            .map(|pair| at(plan, pair))
            .collect()
    };
    let merged = pairs(|pair| pair.typical.dependent && !pair.typical.unresolved);
    let unmerged = pairs(|pair| pair.typical.unresolved);
    let mut texts = Vec::new();
    if !merged.is_empty() {
        texts.push(format!(
            "Neighbouring blocks depend on each other for {}: they were merged, and fewer count.",
            list(merged),
        ));
    }
    if !unmerged.is_empty() {
        texts.push(format!(
            "Neighbouring blocks depend on each other for {}, and there are too few to merge them: \
             the intervals may be too narrow, and no winner is named. Give the run more time.",
            list(unmerged),
        ));
    }
    texts
}

/// Of whole commands every run is a fresh process, which is all that a pilot could tell.
fn no_steady_state(run: &Run, plan: &Plan) -> Vec<String> {
    if plan.commands.is_some() {
        return Vec::new();
    }
    let mut by_subject: BTreeMap<SubjectId, Vec<String>> = BTreeMap::new();
    for pilot in run
        .pilots
        .iter()
        .filter(|pilot| pilot.class == WarmUp::NoSteadyState)
    {
        if pilot.subject < plan.subjects.len() && pilot.point < plan.points.len() {
            by_subject
                .entry(pilot.subject)
                .or_default()
                .push(label(plan, pilot.point));
        }
    }
    let sentence = |(subject, points): (SubjectId, Vec<String>)| {
        format!(
            "{} was still changing at the end of the pilot at {}: its figures hold for a process \
             of that age.",
            plan.subjects[subject].name,
            list(points),
        )
    };
    by_subject.into_iter().map(sentence).collect()
}

pub(crate) fn disturbances(run: &Run, disturbed: u32) -> Vec<String> {
    let most = |part: fn(&lab_model::Disturbance) -> f64| {
        let parts = run.blocks.iter().map(|block| part(&block.disturbance));
        percent(parts.fold(0.0, f64::max))
    };
    match disturbed {
        0 => Vec::new(),
        n => vec![format!(
            "{n} block{} redone because the host disturbed {}: up to {} of the cores' time was \
             stolen, and {} went to other programs. Let nothing else run meanwhile.",
            if n == 1 { " was" } else { "s were" },
            if n == 1 { "it" } else { "them" },
            most(|d| d.steal),
            most(|d| d.foreign),
        )],
    }
}

fn at(plan: &Plan, pair: &Pair) -> String {
    let name = &plan.subjects[pair.comparison.subject].name;
    match one_place(plan) {
        true => name.clone(),
        false => format!("{name} at {}", label(plan, pair.comparison.point)),
    }
}

fn label(plan: &Plan, point: PointId) -> String {
    if point < plan.points.len() {
        plan.label(point)
    } else {
        format!("point {point}")
    }
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> String {
    let mut items: Vec<String> = items.into_iter().collect();
    if items.len() > 4 {
        let more = items.len() - 3;
        items.truncate(3);
        items.push(format!("{more} more"));
    }
    match items.pop() {
        Some(last) if !items.is_empty() => format!("{} and {last}", items.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// `95 %`, `99.38 %`.
pub(crate) fn percent(part: f64) -> String {
    let text = format!("{:.2}", 100.0 * part);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

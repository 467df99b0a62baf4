// SPDX-License-Identifier: Apache-2.0
//! `--dry-run`: prints what a plan measures and for how long, without running anything.

use crate::directories::run_files;
use crate::exit::Exit;
use crate::output::{hanging_indent, say, widest};
use crate::own_sql;
use lab_document::{clean, say};
use lab_model::{Measure, OnInconclusive, Plan, Subject, SubjectId, Work};
use lab_store::{Heading, RunProgress};
use std::path::Path;

/// A line of the output: its heading and its text.
type Line = (String, String);

/// Prints what a plan measures. `more` contains additional lines, and `runs` is the directory of
/// run files.
pub fn print(plan: &Plan, more: Vec<Line>, runs: &Path) -> Result<(), Exit> {
    let time = time(plan, runs);
    let subjects = compared_subjects(plan);
    let points = say::count(plan.points.len(), "point");
    say!(
        "{}\n",
        hanging_indent(
            "",
            &format!(
                "This measures {} at {points}, {}. Nothing was run.",
                say::count(subjects.len(), noun(plan)),
                time.duration_text
            )
        )
    );
    let mut lines: Vec<Line> = Vec::new();
    for &id in &subjects {
        lines.extend(subject_lines(plan, id));
    }
    if plan.points.len() > 1 {
        lines.extend(point_lines(plan));
    }
    let has_control = plan.subjects.iter().any(|s| s.control_of.is_some());
    if has_control {
        let text = "a second copy of the baseline, to show the noise of the run";
        lines.push(("control".into(), text.into()));
    }
    lines.push(("blocks".into(), time.blocks));
    lines.extend(more);
    if !plan.measure.fail_if.is_empty() {
        let conditions = plan.measure.fail_if.join("; ");
        let inconclusive = match plan.measure.on_inconclusive {
            OnInconclusive::Pass => "passes",
            OnInconclusive::Warn => "is a warning",
            OnInconclusive::Fail => "fails",
        };
        let text = format!("fails if {conditions}; an inconclusive gate {inconclusive}");
        lines.push(("gate".into(), text));
    }
    lines.push((
        "saved in".into(),
        format!("{}/<time>-{}.lab", runs.display(), own_sql::run_name(plan)),
    ));
    let width = widest(lines.iter().map(|(lead, _)| lead.as_str())).min(24);
    for (lead, text) in &lines {
        say!("{}", hanging_indent(&format!("{lead:<width$}  "), text));
    }
    Ok(())
}

fn noun(plan: &Plan) -> &'static str {
    match plan.work {
        _ if plan.compares_revisions() => "revision",
        Work::Commands(_) => "command",
        Work::Load(_) | Work::Servers(_) => "server",
        Work::Batches => "subject",
    }
}

/// Returns the subjects to show, starting with the baseline.
fn compared_subjects(plan: &Plan) -> Vec<SubjectId> {
    let is_shown = |s: &Subject| !s.overhead && s.control_of.is_none();
    let ids = plan.subjects.ids();
    let mut ids: Vec<SubjectId> = ids.filter(|&s| is_shown(&plan.subjects[s])).collect();
    ids.sort_by_key(|&s| s != plan.baseline);
    ids
}

/// Lists the points, with one line for each target.
fn point_lines(plan: &Plan) -> Vec<Line> {
    let points = plan.points.enumerated();
    let named = points.map(|(id, point)| (point.target, plan.point_name(id)));
    let by_target = say::grouped(named);
    let lines = by_target.into_iter().map(|(target, names)| {
        let heading = match plan.target_named(target) {
            Some(kind) => format!("points on {}", kind.name()),
            None => "points".into(),
        };
        (heading, names.join("; "))
    });
    lines.collect()
}

fn subject_lines(plan: &Plan, id: SubjectId) -> Vec<Line> {
    let subject = &plan.subjects[id];
    let role = match id == plan.baseline && compared_subjects(plan).len() > 1 {
        true => "the baseline",
        false => "",
    };
    let joined = |texts: &[&str]| {
        let texts = texts.iter().filter(|text| !text.is_empty()).copied();
        texts.collect::<Vec<&str>>().join(", ")
    };
    let name = clean(&plan.subject_label(id));
    let Some(command) = &subject.command else {
        let about = [subject.language.as_str(), subject.driver.as_str(), role];
        return vec![(name, joined(&about))];
    };
    let words = |program: &[String]| {
        let words = shlex::try_join(program.iter().map(String::as_str));
        words.unwrap_or_else(|_| program.join(" "))
    };
    let commit = command.revision.as_deref().map(|id| {
        let short = id.get(..10).unwrap_or(id);
        format!(" in commit {short}")
    });
    let line = command.line.clone() + &commit.unwrap_or_default();
    let mut lines = vec![(name, joined(&[&line, role]))];
    let hooks = [
        ("set-up", &command.setup),
        ("before each run", &command.prepare),
        ("clean-up", &command.cleanup),
    ];
    for (stage, program) in hooks {
        let program = program.as_ref().map(|program| words(program));
        lines.extend(program.map(|program| (format!("  {stage}"), program)));
    }
    lines
}

/// The duration of a plan, in words.
struct PlanTime {
    /// The time that the plan takes, for the first line.
    duration_text: String,
    /// The number of blocks, and when the run stops early.
    blocks: String,
}

fn time(plan: &Plan, runs: &Path) -> PlanTime {
    let measure = &plan.measure;
    let max_blocks = say::count(measure.max_blocks as usize, "block");
    if let Work::Load(_) = plan.work {
        // A block visits each server at each point; with multiple servers, twice, in mirrored order.
        let servers = compared_subjects(plan).len() as u64;
        let visits = if servers > 1 { 2 } else { 1 };
        let loaded_ns = measure.turn_ns * visits * u64::from(measure.max_blocks);
        let total_ns = loaded_ns * servers * plan.points.len() as u64;
        return PlanTime {
            duration_text: format!("for {} of load in total", duration(total_ns)),
            blocks: format!(
                "{max_blocks}: {} of load on each server at each point",
                duration(loaded_ns)
            ),
        };
    }
    let stops = match measure.interim_analyses.is_empty() {
        true => "regardless of the results",
        false => "fewer if the result is clear earlier",
    };
    let length = measure.block_ns.map(|ns| {
        let length = duration(ns);
        format!(", each about {length} long, or longer if a single pass takes longer")
    });
    let blocks = format!(
        "at most {max_blocks}{}; {stops}",
        length.unwrap_or_default()
    );
    match measure.budget_ns {
        Some(ns) => PlanTime {
            duration_text: format!("for at most {}{}", duration(ns), budget_note(measure)),
            blocks,
        },
        None => PlanTime {
            duration_text: estimate_without_budget(plan, runs),
            blocks,
        },
    }
}

/// Describes the time that is not part of the budget, such as the pilot.
fn budget_note(measure: &Measure) -> &'static str {
    match measure.at_least_level {
        true => " after set-up and a pilot, unless the blocks that an interval needs take longer",
        false => " after set-up and a pilot",
    }
}

/// Estimates the time of a plan without a budget, based on the latest run of the same experiment.
fn estimate_without_budget(plan: &Plan, runs: &Path) -> String {
    let blocks = plan.measure.max_blocks;
    let earlier = run_files(runs).into_iter().rev().find_map(|path| {
        let heading = Heading::read(&path).ok()?;
        let is_same = heading.experiment.as_deref() == Some(plan.experiment.as_str());
        let progress = is_same.then(|| RunProgress::read(&path).ok()).flatten()?;
        (progress.blocks > 0).then(|| progress.blocks_ns / u64::from(progress.blocks))
    });
    let max_blocks = say::count(blocks as usize, "block");
    match earlier {
        Some(ns) => format!(
            "for about {}: {max_blocks} of about {}, estimated from the last run of {}",
            duration(ns * u64::from(blocks)),
            say::time(ns),
            clean(&plan.experiment)
        ),
        None => {
            format!(
                "for {max_blocks} of unknown length; --plan measures a pilot and forecasts the time"
            )
        }
    }
}

/// Formats a duration for people: `500 ms`, `8 s`, `12 min`, `1 h 40 min`.
pub fn duration(ns: u64) -> String {
    match ns {
        ..1_000_000_000 => format!("{} ms", ns.div_ceil(1_000_000)),
        _ => whole_seconds(ns.div_ceil(1_000_000_000)),
    }
}

/// Formats a number of seconds for people: `8 s`, `12 min`, `1 h 40 min`.
pub fn whole_seconds(seconds: u64) -> String {
    match seconds {
        s @ ..120 => format!("{s} s"),
        s @ ..7200 => format!("{} min", s.div_ceil(60)),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

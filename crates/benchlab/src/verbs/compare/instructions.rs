// SPDX-License-Identifier: Apache-2.0
//! `compare --gate --gate-on instructions`: counts the commands' instructions with Valgrind, and
//! judges the range of the counts over builds, or over environments of different sizes.

use crate::exit::Exit;
use crate::measuring;
use crate::under_valgrind::{check_no_shell, check_no_wrapper, ensure_valgrind, run_valgrind};
use lab_bench::layout_variables;
use lab_document::{Gate, Quantity};
use lab_model::{Command, Decision, Plan, PointId, Relation, StoredGate, Subject, SubjectId, Unit};
use lab_plan::filled;
use lab_profile::{
    CountRange, Ending, Layouts, Profiled, Tool, ValgrindRun, read_instructions, wording,
};
use lab_stats::gate::GateCondition;
use lab_store::RunWriter;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of environments of different sizes in which the instructions of a command with a
/// single build are counted.
const ENVIRONMENTS: usize = 5;

/// A command at a point, in one build and environment.
struct Layout {
    subject: SubjectId,
    point: PointId,
    program: Vec<String>,
    folder: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// Returns true if a gate of the plan judges instructions.
fn is_requested(plan: &Plan) -> bool {
    let commands = plan.commands();
    commands.is_some_and(|commands| commands.gate_on_instructions)
}

/// Checks the options and commands before anything is measured. Does nothing for a plan without a
/// gate on instructions.
///
/// # Errors
/// Returns an error if Valgrind is missing, or if it cannot count the commands the way they are
/// measured.
pub fn check(plan: &Plan) -> Result<(), Exit> {
    if !is_requested(plan) {
        return Ok(());
    }
    let has_hook = |hook: fn(&Command) -> bool| {
        let mut commands = plan.subjects.iter().filter_map(|s| s.command.as_ref());
        commands.any(hook)
    };
    let option = match () {
        () if has_hook(|command| command.prepare.is_some()) => Some("--prepare"),
        () if has_hook(|command| command.cleanup.is_some()) => Some("--cleanup"),
        () if plan.commands().is_some_and(|c| c.input.is_some()) => Some("--input"),
        () => None,
    };
    if let Some(option) = option {
        return Err(Exit::invalid(format!(
            "--gate-on instructions cannot be combined with {option}, because the additional run under Valgrind does \
             not support {option}: use --gate-on cpu"
        )));
    }
    check_no_shell(&commands(plan))?;
    ensure_valgrind(false)
}

fn commands(plan: &Plan) -> Vec<&Subject> {
    let ids = plan.compared();
    ids.map(|id| &plan.subjects[id]).collect()
}

/// Counts the instructions of all commands, judges the gate, and adds the decisions to the run
/// file. Does nothing for a plan without a gate on instructions.
///
/// The measurement must have built the commands, and their directories must still exist.
pub fn judge(plan: &Plan, run: &Path) -> Result<(), Exit> {
    if !is_requested(plan) {
        return Ok(());
    }
    let current = std::env::current_dir().map_err(Exit::invalid)?;
    let counted_over = match plan.builds() {
        builds @ 2.. => Layouts::Builds(builds),
        _ => Layouts::Environments(ENVIRONMENTS),
    };
    let folder_of = |s: &Subject, build: usize| {
        let command = s.command.as_ref();
        let folder = command.and_then(|c| c.builds.get(build).or(c.folder.as_ref()));
        folder.map_or_else(|| current.clone(), PathBuf::from)
    };
    let commands = commands(plan);
    let folders: Vec<PathBuf> = commands.iter().map(|s| folder_of(s, 0)).collect();
    check_no_wrapper(&commands, &folders)?;
    let mut layouts = Vec::new();
    for (subject, point) in plan
        .compared()
        .flat_map(|s| plan.points.ids().map(move |p| (s, p)))
    {
        let params = &plan.points[point].params;
        let words = plan.subjects[subject].program.iter();
        let program: Vec<String> = words.map(|word| filled(word, params)).collect();
        layouts.extend((0..counted_over.count()).map(|start| {
            let build = match counted_over {
                Layouts::Builds(_) => start,
                Layouts::Environments(_) => 0,
            };
            Layout {
                subject,
                point,
                program: program.clone(),
                folder: folder_of(&plan.subjects[subject], build),
                variables: layout_variables(plan, subject, build, start as u64),
            }
        }));
    }
    let programs = layouts.iter().map(|layout| Profiled {
        program: &layout.program,
        folder: &layout.folder,
        variables: &layout.variables,
    });
    let programs: Vec<Profiled> = programs.collect();
    let requested = (0..layouts.len()).map(|layout| (Tool::Instructions, layout));
    let requested: Vec<(Tool, usize)> = requested.collect();
    let scratch = measuring::scratch(None)?;
    let time_limit = Duration::from_nanos(plan.measure.time_limit_ns);
    let runs = run_valgrind(&programs, scratch.folder(), &requested, time_limit)?;
    let counted = |subject, point| {
        let is_meant = |run: &&ValgrindRun| {
            let layout = &layouts[run.command];
            (layout.subject, layout.point) == (subject, point)
        };
        let runs: Vec<&ValgrindRun> = runs.iter().filter(is_meant).collect();
        counted(plan, &runs, &plan.subject_label(subject))
    };
    let mut gates = Vec::new();
    let baseline = plan.baseline;
    for point in plan.points.ids() {
        let before = counted(baseline, point)?;
        for subject in plan.compared().filter(|&subject| subject != baseline) {
            let after = counted(subject, point)?;
            if after.ending != before.ending {
                let reason = wording::statuses_differ(&after.ending, &before.ending);
                let name = plan.subject_label(subject);
                return Err(Exit::failed(wording::counting_failed(&name, &reason)));
            }
            let ranges = [before.range, after.range];
            gates.push(gate(plan, (subject, point), ranges, counted_over));
        }
    }
    if gates.is_empty() {
        let text = "there is no other command to compare with";
        gates.push(Gate::new(
            &condition(plan),
            "",
            Decision::Inconclusive,
            text,
        ));
    }
    let gates = gates
        .into_iter()
        .map(|gate| gate.with_inconclusive(plan.measure.on_inconclusive));
    let kept: Vec<StoredGate> = gates.map(|gate| gate.to_stored()).collect();
    Ok(RunWriter::add_gates(run, &kept)?)
}

/// The instructions of a command at a point.
struct Counted {
    range: CountRange,
    /// The way in which the command ended in all layouts.
    ending: Ending,
}

/// Returns the lowest and the highest instruction count of a command at a point.
///
/// # Errors
/// Returns an error if a run was not counted completely, if it ended with an exit status that the
/// measurement does not accept, or if not all runs ended in the same way.
fn counted(plan: &Plan, runs: &[&ValgrindRun], name: &str) -> Result<Counted, Exit> {
    let failed = |reason: &str| Exit::failed(wording::counting_failed(name, reason));
    let mut counts = Vec::new();
    for run in runs {
        let count = read_instructions(run).map_err(|reason| failed(&reason))?;
        if !is_accepted(plan, &run.ending()) {
            return Err(failed(&wording::failed_under_valgrind(&run.ending())));
        }
        counts.push(count);
    }
    let first = runs.first().map(|run| run.ending());
    let (Some(ending), Some(range)) = (first, CountRange::from_counts(counts)) else {
        return Err(failed(wording::NO_INSTRUCTIONS));
    };
    match runs.iter().find(|run| run.ending() != ending) {
        Some(other) => Err(failed(&wording::statuses_vary(&ending, &other.ending()))),
        None => Ok(Counted { range, ending }),
    }
}

/// Returns true if the measurement counts a run with this exit status.
fn is_accepted(plan: &Plan, ending: &Ending) -> bool {
    let Ending::Exited(status) = ending else {
        return false;
    };
    match plan.commands() {
        Some(commands) => commands.accepts(*status),
        None => *status == 0,
    }
}

fn condition(plan: &Plan) -> String {
    GateCondition::text_of_change("instructions", plan.measure.margin)
}

fn gate(
    plan: &Plan,
    (subject, point): (SubjectId, PointId),
    [before, after]: [CountRange; 2],
    layouts: Layouts,
) -> Gate {
    let margin = plan.measure.margin;
    let decision = after.judge(before, Relation::Above, margin);
    let (name, baseline) = (
        plan.subject_label(subject),
        plan.subject_label(plan.baseline),
    );
    let name = match plan.points.len() {
        1 => name,
        _ => format!("{name} at {}", plan.point_name(point)),
    };
    let statement = wording::instructions(&name, &baseline, before, after, layouts);
    let ratio = 1.0 + after.change_from(before).estimate;
    Gate::new(&condition(plan), &name, decision, &statement)
        .with_value(Quantity::exact(ratio, Unit::Ratio))
        .with_limit(1.0 + margin, Unit::Ratio)
}

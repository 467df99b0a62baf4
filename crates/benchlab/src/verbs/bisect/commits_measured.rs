// SPDX-License-Identifier: Apache-2.0
//! Checks out, builds and measures the commits that a bisection selects.

use crate::exit::Exit;
use crate::measuring;
use crate::progress::Follower;
use crate::verbs::compare::BLOCK;
use lab_bench::{
    BenchError, CommandWorkload, Commit, Ended, Fault, LocalExecutor, Scratch, Session,
    StartRequest, Starter, WorktreeError, Worktrees, commit_stat, fingerprint, interrupt,
    parent_count, unix_seconds,
};
use lab_bisect::{
    Bisection, BisectionFile, BisectionRequest, BisectionStep, CommandText, ConfirmedRatio,
    EndsResult, NextMeasurement, ProbeResult, SkippedCommit, StepConfirmation,
};
use lab_model::{Commands, Ending, Failure, Interval, Measure, Plan, Run, SubjectId};
use lab_plan::{CommandWords, Comparison, GivenCommand};
use lab_stats::bisection::{
    self, ANALYSES, Ends, FoundChange, HalfChange, MAX_BLOCKS, ProbeValues, Segment,
    latest_analysis, probe_values,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum number of lines to keep from the end of a failed build's output.
const LAST_LINES: usize = 10;
/// The maximum number of bytes to read from the end of a failed build's output.
const LAST_BYTES: usize = 4096;

/// The commits of a bisection, and the worktrees of the commits that have been built.
pub struct CommitBench {
    bisection: Bisection,
    file: BisectionFile,
    worktrees: Worktrees,
    /// The directory in which the command runs, for each commit that has been built.
    built: BTreeMap<usize, PathBuf>,
}

/// The result of measuring neighboring commits of a range.
struct Measured {
    values: ProbeValues,
    /// The number of blocks at the last planned analysis. Later blocks are not analyzed.
    blocks: usize,
}

/// The reason for not measuring commits.
enum Unmeasured {
    /// One of the commits cannot be measured.
    Commit(SkippedCommit),
    /// The bisection cannot continue.
    Exit(Exit),
}

impl From<Exit> for Unmeasured {
    fn from(exit: Exit) -> Unmeasured {
        Unmeasured::Exit(exit)
    }
}

impl CommitBench {
    /// Prepares the worktrees of a new or resumed bisection.
    pub fn new(bisection: Bisection, file: BisectionFile) -> Result<CommitBench, Exit> {
        let folder = Path::new(&bisection.request.folder);
        Ok(CommitBench {
            worktrees: Worktrees::on_demand(folder)?,
            bisection,
            file,
            built: BTreeMap::new(),
        })
    }

    /// Removes the worktrees and returns the bisection with all results.
    pub fn finish(self) -> Bisection {
        self.bisection
    }

    /// Measures until the bisection is complete. Each result is saved before the next measurement.
    ///
    /// # Errors
    /// Returns an error if the user stopped the bisection, or if an end of the range cannot be
    /// measured.
    pub fn measure_all(&mut self) -> Result<(), Exit> {
        loop {
            let next = self.bisection.next();
            let step = match next {
                NextMeasurement::Done => return Ok(()),
                NextMeasurement::Ends { alpha } => self.compare_ends(alpha)?,
                NextMeasurement::Probe {
                    segment,
                    at,
                    alpha,
                    min_change,
                } => self.probe(segment, at, (alpha, min_change))?,
                NextMeasurement::Confirm(found) => self.confirm(found)?,
            };
            report_step(&self.bisection, &step);
            self.bisection.steps.push(step);
            self.file.save(&self.bisection)?;
            self.release_unneeded();
        }
    }

    fn compare_ends(&mut self, alpha: f64) -> Result<BisectionStep, Exit> {
        let commits = [0, self.bisection.commits.len() - 1];
        let margin = self.bisection.request.margin;
        let judge = |values: &ProbeValues| bisection::judge_ends(&values.first, alpha, margin);
        let is_decided =
            |values: &ProbeValues| judge(values).is_some_and(|(ends, _)| ends != Ends::Open);
        note("comparing both ends");
        let measured = match self.measure("ends", &commits, alpha, &is_decided) {
            Ok(measured) => measured,
            Err(Unmeasured::Exit(exit)) => return Err(exit),
            Err(Unmeasured::Commit(skipped)) => return Err(self.end_fails(&skipped)),
        };
        let (judgment, log_ratio) = judge(&measured.values).ok_or_else(no_blocks)?;
        Ok(BisectionStep::Ends(EndsResult {
            blocks: measured.blocks as u32,
            judgment,
            log_ratio,
        }))
    }

    /// Returns the error for an end of the range that cannot be measured.
    fn end_fails(&self, skipped: &SkippedCommit) -> Exit {
        let name = if skipped.commit == 0 { "good" } else { "bad" };
        let commit = &self.bisection.commits[skipped.commit].short;
        Exit::failed(format!(
            "cannot measure the {name} commit {commit}: {}; choose another {name} commit",
            skipped.message
        ))
    }

    fn probe(
        &mut self,
        segment: Segment,
        at: usize,
        (alpha, min_change): (f64, f64),
    ) -> Result<BisectionStep, Exit> {
        let search = self.bisection.search();
        let left = search.map_or(1, |search| search.probes_left().max(1));
        let commit = &self.bisection.commits[at];
        note(&format!(
            "measuring {} ({}): {} in the range, at most {left} left to measure",
            commit.short,
            commit.subject,
            lab_document::say::count(segment.high - segment.low, "commit")
        ));
        let label = format!("probe-{}", commit.short);
        let judge = |v: &ProbeValues| bisection::judge(&v.first, &v.second, alpha, min_change);
        let is_decided = |v: &ProbeValues| judge(v).is_some_and(|j| j.is_decided());
        let commits = [segment.low, at, segment.high];
        let measured = match self.measure(&label, &commits, alpha, &is_decided) {
            Ok(measured) => measured,
            Err(Unmeasured::Exit(exit)) => return Err(exit),
            Err(Unmeasured::Commit(skipped)) if skipped.commit == at => {
                return Ok(BisectionStep::Skipped(skipped));
            }
            Err(Unmeasured::Commit(skipped)) => {
                let commit = &self.bisection.commits[skipped.commit].short;
                return Err(Exit::failed(format!(
                    "{commit} was measured before, but cannot be measured again: {}",
                    skipped.message
                )));
            }
        };
        Ok(BisectionStep::Probe(ProbeResult {
            low: segment.low,
            high: segment.high,
            at,
            blocks: measured.blocks as u32,
            judgment: judge(&measured.values).ok_or_else(no_blocks)?,
        }))
    }

    /// Measures a change again, using only the commits before and after it.
    fn confirm(&mut self, found: FoundChange) -> Result<BisectionStep, Exit> {
        let changes = self.bisection.search().map_or(1, |s| s.found().len());
        let (alpha, margin) = (self.bisection.request.alpha, self.bisection.request.margin);
        let alpha = alpha / changes.max(1) as f64;
        let ends = self.bisection.ends();
        let total = ends.map_or(margin, |ends| ends.log_ratio.estimate);
        let min_change = bisection::min_change(total, margin);
        let (folder, id) = {
            let commit = &self.bisection.commits[found.high];
            note(&format!("measuring the change in {} again", commit.short));
            (
                PathBuf::from(&self.bisection.request.folder),
                commit.id.clone(),
            )
        };
        let label = format!("confirm-{}", self.bisection.commits[found.high].short);
        let judge = |v: &ProbeValues| bisection::judge_again(&v.first, alpha, min_change);
        let is_decided =
            |v: &ProbeValues| judge(v).is_some_and(|(change, _)| change != HalfChange::Open);
        let measured = match self.measure(&label, &[found.low, found.high], alpha, &is_decided) {
            Ok(measured) => Some(measured),
            Err(Unmeasured::Exit(exit)) => return Err(exit),
            Err(Unmeasured::Commit(_)) => None,
        };
        let judged = match &measured {
            Some(measured) => Some(judge(&measured.values).ok_or_else(no_blocks)?),
            None => None,
        };
        let is_one = found.high == found.low + 1;
        Ok(BisectionStep::Confirmed(StepConfirmation {
            low: found.low,
            high: found.high,
            blocks: measured.as_ref().map_or(0, |m| m.blocks as u32),
            change: judged.map(|(change, _)| change),
            ratio: judged.map(|(_, log)| ConfirmedRatio {
                estimate: log.estimate.exp(),
                low: log.low.exp(),
                high: log.high.exp(),
                level: Interval::confidence_level(alpha),
            }),
            stat: if is_one {
                commit_stat(&folder, &id)
            } else {
                Vec::new()
            },
            parents: parent_count(&folder, &id),
        }))
    }

    /// Measures neighboring commits of a range in turns until the comparison is conclusive.
    ///
    /// Includes the blocks of an earlier measurement with the same label, even if that measurement
    /// was stopped or killed.
    fn measure(
        &mut self,
        label: &str,
        commits: &[usize],
        alpha: f64,
        is_decided: &dyn Fn(&ProbeValues) -> bool,
    ) -> Result<Measured, Unmeasured> {
        for &commit in commits {
            self.build(commit)?;
        }
        let metric = self.bisection.request.metric;
        let subjects: Vec<SubjectId> = (0..commits.len()).map(SubjectId::from_index).collect();
        let (earlier, path) = self.earlier(label, &subjects)?;
        let plan = self.plan_of(commits, alpha)?;
        let values = |run: &Run| {
            let mut values = probe_values(run, &subjects, metric);
            values.first.splice(0..0, earlier.first.iter().copied());
            values.second.splice(0..0, earlier.second.iter().copied());
            values
        };
        let stop = |run: &Run| {
            if run.failures.iter().any(|f| subjects.contains(&f.subject)) {
                return Some(Ending::Failed);
            }
            let blocks = earlier.first.len() + run.complete_blocks().count();
            let is_due = ANALYSES.contains(&(blocks as u32));
            if is_due && is_decided(&truncate_to_last_analysis(values(run))) {
                return Some(Ending::Decided);
            }
            (blocks >= MAX_BLOCKS as usize).then_some(Ending::Blocks)
        };
        self.run(&plan, &path, &stop)?;
        let run = lab_store::load(&path).map_err(Exit::from)?;
        if let Some(failure) = run.failures.iter().find(|f| subjects.contains(&f.subject)) {
            return Err(Unmeasured::Commit(to_skipped_commit(
                commits[failure.subject.index()],
                failure,
            )));
        }
        let values = truncate_to_last_analysis(values(&run));
        Ok(Measured {
            blocks: values.first.len(),
            values,
        })
    }

    /// Measures a plan into a new run file at `path` until `stop` returns an ending.
    fn run(
        &self,
        plan: &Plan,
        path: &Path,
        stop: &dyn Fn(&Run) -> Option<Ending>,
    ) -> Result<(), Exit> {
        let writer = lab_store::RunWriter::create(path, env!("CARGO_PKG_VERSION"), unix_seconds())?;
        let host = lab_audit::host::inspect(measuring::CORES);
        writer.host(&measuring::with_commit(
            host,
            Path::new(&self.bisection.request.folder),
        ))?;
        writer.plan(plan)?;
        for subject in plan.subjects.iter().filter(|s| !s.overhead) {
            writer.hash(&subject.name, &fingerprint(subject))?;
        }
        let run = writer.load()?;
        let commands = plan
            .commands()
            .expect("the plan of a bisection contains commands");
        let workload = CommandWorkload::new(plan, commands, &run, measuring::scratch(None)?)?;
        let executor = LocalExecutor::new(plan, Box::new(workload));
        // A measurement usually ends long before its time limit, so no time left is shown.
        let mut shown = plan.clone();
        shown.measure.budget_ns = None;
        let mut follower = Follower::new(&shown, 0);
        let session = Session::with_executor(plan, writer, run, Box::new(executor))
            .with_stop_rule(Box::new(stop));
        let ending: Result<Ending, BenchError> = session.measure(&mut |step| follower.step(step));
        follower.end();
        match ending? {
            Ending::Interrupted => Err(stopped_error()),
            _ => Ok(()),
        }
    }

    /// Returns the values in earlier run files with a label, and the path of the next run file.
    fn earlier(&self, label: &str, subjects: &[SubjectId]) -> Result<(ProbeValues, PathBuf), Exit> {
        let mut values = ProbeValues::default();
        for number in 1.. {
            let path = self.file.folder().join(format!("{label}-{number}.lab"));
            if !path.exists() {
                return Ok((values, path));
            }
            // A run that was killed before its plan was stored has no values.
            let Ok(run) = lab_store::load(&path) else {
                continue;
            };
            let found = probe_values(&run, subjects, self.bisection.request.metric);
            values.first.extend(found.first);
            values.second.extend(found.second);
        }
        unreachable!("the range is infinite")
    }

    fn plan_of(&self, commits: &[usize], alpha: f64) -> Result<Plan, Exit> {
        let request = &self.bisection.request;
        let described: Vec<(&str, String, &str)> = commits
            .iter()
            .map(|&at| {
                let commit = &self.bisection.commits[at];
                let folder = self.built[&at].display().to_string();
                (commit.short.as_str(), folder, commit.id.as_str())
            })
            .collect();
        let given: Vec<(&str, &str, Option<&str>)> = described
            .iter()
            .map(|(name, folder, id)| (*name, folder.as_str(), Some(*id)))
            .collect();
        let mut plan = plan(request, Some(request.name.clone()), &given)?;
        plan.measure.alpha = alpha;
        // Each commit was built once, before it was measured.
        for subject in &mut plan.subjects {
            if let Some(command) = &mut subject.command {
                command.setup = None;
            }
        }
        Ok(plan)
    }

    /// Checks out a commit and builds it, unless it is already built.
    fn build(&mut self, at: usize) -> Result<(), Unmeasured> {
        if self.built.contains_key(&at) {
            return Ok(());
        }
        let request = &self.bisection.request;
        let commit = &self.bisection.commits[at];
        let fails = |kind: &str, message: String| {
            Unmeasured::Commit(SkippedCommit {
                commit: at,
                kind: kind.into(),
                message,
            })
        };
        let checked_out = Commit {
            id: commit.id.clone(),
            short: commit.short.clone(),
            subject: commit.subject.clone(),
        };
        let folder = self
            .worktrees
            .add_commit(Path::new(&request.folder), &checked_out);
        let folder = match folder {
            Ok(folder) => folder,
            Err(e @ (WorktreeError::NoFolder(..) | WorktreeError::Refused(..))) => {
                return Err(fails("checkout", e.to_string()));
            }
            Err(e) => return Err(Exit::from(e).into()),
        };
        if let Some(program) = setup(request)? {
            note(&format!("building {} ({})", commit.short, commit.subject));
            let time_limit = Duration::from_nanos(request.time_limit_ns);
            if let Err(message) = run_once(&program, &folder, None, time_limit)? {
                self.worktrees.release(&folder);
                return Err(fails("setup", message));
            }
        }
        self.built.insert(at, folder);
        Ok(())
    }

    /// Removes the worktrees of commits that no later measurement needs.
    fn release_unneeded(&mut self) {
        let needed = match (self.bisection.search(), self.bisection.ends()) {
            (Some(search), _) => search.needed(),
            (None, _) => return,
        };
        let unneeded: Vec<usize> = self
            .built
            .keys()
            .copied()
            .filter(|at| !needed.contains(at))
            .collect();
        for at in unneeded {
            if let Some(folder) = self.built.remove(&at) {
                self.worktrees.release(&folder);
            }
        }
    }
}

/// Drops the values after the last planned analysis.
fn truncate_to_last_analysis(mut values: ProbeValues) -> ProbeValues {
    let blocks = latest_analysis(values.first.len() as u32) as usize;
    values.first.truncate(blocks);
    values.second.truncate(blocks);
    values
}

fn to_skipped_commit(commit: usize, failure: &Failure) -> SkippedCommit {
    SkippedCommit {
        commit,
        kind: failure.kind.clone(),
        message: failure.message.clone(),
    }
}

fn stopped_error() -> Exit {
    Exit::interrupted("stopped")
}

fn no_blocks() -> Exit {
    Exit::failed("too few blocks were measured: increase the time limit with --for")
}

fn note(text: &str) {
    eprintln!("benchlab: {}", lab_document::clean(text));
}

/// Reports the commit if a step skipped it.
fn report_step(bisection: &Bisection, step: &BisectionStep) {
    if let BisectionStep::Skipped(skipped) = step {
        let commit = &bisection.commits[skipped.commit].short;
        let line = skipped.message.lines().next().unwrap_or_default();
        note(&format!("skipping {commit}: {line}"));
    }
}

/// Returns the words of `--setup`.
pub fn setup(request: &BisectionRequest) -> Result<Option<Vec<String>>, Exit> {
    let plan = plan(request, Some("setup".into()), &[("A", "/", None)])?;
    let command = plan.subjects.into_iter().next().and_then(|s| s.command);
    Ok(command.and_then(|command| command.setup))
}

/// Builds the plan that measures the command in the given directories. `folders` contains the name,
/// path and commit of each.
pub fn plan(
    request: &BisectionRequest,
    name: Option<String>,
    folders: &[(&str, &str, Option<&str>)],
) -> Result<Plan, Exit> {
    let words = match &request.command {
        CommandText::Line(line) => CommandWords::Line(line.clone()),
        CommandText::Words(words) => CommandWords::List(words.clone()),
    };
    let commands = folders.iter().map(|(name, folder, id)| GivenCommand {
        words: words.clone(),
        name: Some((*name).to_owned()),
        folder: PathBuf::from(folder),
        revision: id.map(str::to_owned),
        builds: Vec::new(),
    });
    let comparison = Comparison {
        name,
        commands: commands.collect(),
        setup: request.setup.clone().into_iter().collect(),
        prepare: request.prepare.clone().into_iter().collect(),
        cleanup: request.cleanup.clone().into_iter().collect(),
        how: Commands {
            input: request.input.clone(),
            ..Commands::default()
        },
        measure: Measure {
            pairs: 40,
            block_ns: Some(BLOCK.as_nanos() as u64),
            budget_ns: Some(request.budget_ns),
            max_blocks: MAX_BLOCKS,
            interim_analyses: ANALYSES.to_vec(),
            alpha: request.alpha,
            margin: request.margin,
            redo: request.redo,
            time_limit_ns: request.time_limit_ns,
            ..Measure::default()
        },
        seed: request.seed,
        ..Comparison::default()
    };
    Ok(comparison.plan()?)
}

/// Runs a program once, outside of any measurement. `input` is the file for standard input.
///
/// Returns the program's resource usage or, if it failed, a description with the last lines of its
/// output.
pub fn run_once(
    program: &[String],
    folder: &Path,
    input: Option<&Path>,
    time_limit: Duration,
) -> Result<Result<Ended, String>, Exit> {
    let scratch = Scratch::new(None).map_err(Exit::failed)?;
    let log = scratch.folder().join("output");
    let mut starter = Starter::new().map_err(Exit::failed)?;
    let order = StartRequest {
        program: program.to_vec(),
        folder: folder.to_path_buf(),
        input: input.map(Path::to_path_buf),
        errors: Some(log.clone()),
        cores: lab_host::allowed_cores().map_err(Exit::failed)?,
        time_limit,
        ..StartRequest::default()
    };
    let ended = match starter.run(&order) {
        Ok(ended) => ended,
        Err(Fault::Interrupted) => return Err(stopped_error()),
        Err(Fault::Failed(_, message) | Fault::ServerLost(message)) => return Ok(Err(message)),
    };
    if interrupt::requested() {
        return Err(stopped_error());
    }
    if !ended.timed_out && ended.code() == 0 {
        return Ok(Ok(ended));
    }
    let text = std::fs::read(&log).unwrap_or_default();
    let last = String::from_utf8_lossy(&text[text.len().saturating_sub(LAST_BYTES)..]).into_owned();
    let lines: Vec<&str> = last.lines().collect();
    let lines = &lines[lines.len().saturating_sub(LAST_LINES)..];
    let line = program.join(" ");
    let message = if ended.timed_out {
        format!(
            "`{line}` did not finish within {} s (--time-limit)",
            time_limit.as_secs_f64()
        )
    } else {
        format!("`{line}` ended with {}", ended.status)
    };
    Ok(Err([&[message.as_str()], lines].concat().join("\n")))
}

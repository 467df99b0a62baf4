// SPDX-License-Identifier: Apache-2.0
//! Predicts how many measurements a bisection needs and how long it takes.

use super::commits_measured::{plan, run_once, setup};
use crate::dry_run::whole_seconds;
use crate::exit::Exit;
use crate::output::write_stdout;
use crate::verbs::compare::BLOCK;
use lab_bench::{Commit, Worktrees};
use lab_bisect::Bisection;
use lab_document::say;
use lab_model::SubjectId;
use lab_stats::bisection::{ANALYSES, MAX_BLOCKS, max_probes};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The number of processes in a block that runs three commits twice, the second time in reverse
/// order.
const PROCESSES: f64 = 6.0;

/// Builds and runs the good commit once, as a measurement would, and prints the prediction.
pub fn forecast(bisection: &Bisection) -> Result<ExitCode, Exit> {
    let request = &bisection.request;
    let good = &bisection.commits[0];
    let folder = Path::new(&request.folder);
    let mut worktrees = Worktrees::on_demand(folder)?;
    let commit = Commit {
        id: good.id.clone(),
        short: good.short.clone(),
        subject: good.subject.clone(),
    };
    let began = Instant::now();
    let folder = worktrees.add_commit(folder, &commit)?;
    let limit = Duration::from_nanos(request.time_limit_ns);
    let once = |program: &[String], input| match run_once(program, &folder, input, limit)? {
        Ok(ended) => Ok(ended),
        Err(message) => Err(Exit::failed(format!(
            "the good commit {} cannot be measured; choose another one: {message}",
            good.short
        ))),
    };
    if let Some(program) = setup(request)? {
        once(&program, None)?;
    }
    let build_s = began.elapsed().as_secs_f64();
    let plan = plan(request, None, &[("A", "/", None)])?;
    let subject = &plan.subjects[SubjectId(0)];
    let command = subject.command.as_ref();
    if let Some(prepare) = command.and_then(|command| command.prepare.as_ref()) {
        once(prepare, None)?;
    }
    let ended = once(&subject.program, request.input.as_deref().map(Path::new));
    if let Some(cleanup) = command.and_then(|command| command.cleanup.as_ref()) {
        once(cleanup, None)?;
    }
    let ended = ended?;
    let run_s = ended.wall_ns as f64 / 1e9;
    drop(worktrees);

    let commits = bisection.commits.len() - 1;
    let probes = max_probes(commits);
    // The comparison of both ends, all probes, and the confirmation of a change.
    let measurements = f64::from(probes) + 2.0;
    let builds = f64::from(probes) + 2.0;
    let block_s = BLOCK.as_secs_f64().max(PROCESSES * run_s);
    let budget_s = request.budget_ns as f64 / 1e9;
    let min_s = f64::from(ANALYSES[0]) * block_s;
    let max_s = (f64::from(MAX_BLOCKS) * block_s).min(budget_s).max(min_s);
    let duration = |seconds: f64| whole_seconds(seconds.ceil() as u64);
    let text = format!(
        "At most {} measurements find one change among {}. They take {} if the change is large, \
         and up to {} if it is small.\n\n\
         commits to measure   {} between {} and {}\n\
         other measurements   both ends first, and the change again\n\
         builds               {builds}, each about {}\n\
         a run                {}\n\
         a measurement        {} to {}; it ends as soon as the result is clear\n\n\
         Each further change, and each commit that does not build, needs more measurements.\n",
        measurements,
        say::count(commits, "commit"),
        duration(builds * build_s + measurements * min_s),
        duration(builds * build_s + measurements * max_s),
        probes,
        request.good,
        request.bad,
        duration(build_s),
        say::time(ended.wall_ns),
        duration(min_s),
        duration(max_s),
    );
    write_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

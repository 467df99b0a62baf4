// SPDX-License-Identifier: Apache-2.0
//! Steps that all measuring commands have in common: checking the host, creating directories,
//! showing progress, reporting the result.

use crate::exit::{self, Exit};
use crate::progress::Follower;
use crate::verbs::report;
use lab_audit::host;
use lab_bench::{BenchError, Executor, Scratch, Session, commit_of, unix_seconds};
use lab_model::{Ending, Host, Plan, Run};
use lab_store::RunWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One minus the confidence level of all intervals.
pub const ALPHA: f64 = 0.05;

/// Returns the numbers of blocks after which a run has an interim analysis and may stop.
///
/// The list is empty if the user specified the number of blocks.
pub fn analysis_blocks(blocks: Option<u32>) -> Vec<u32> {
    match blocks {
        Some(_) => Vec::new(),
        None => vec![10, 20, 40, 80],
    }
}

/// Returns the given seed, or a new one derived from the time. It is below 2^53, because JSON
/// parsers preserve larger integers only approximately.
pub fn seed(given: Option<u64>) -> u64 {
    given.unwrap_or((unix_seconds() * 1000.0) as u64 % (1 << 53))
}

/// Measures the remaining blocks of a run.
///
/// # Errors
/// Returns an error if the run was interrupted, or if a server or all agents were lost. The message
/// contains the command that continues the run.
pub fn measure<'a>(
    plan: &'a Plan,
    writer: RunWriter,
    run: Run,
    executor: Box<dyn Executor + 'a>,
) -> Result<Ending, Exit> {
    let path = writer.path().to_path_buf();
    let mut follower = Follower::new(plan, run.complete_blocks().count() as u32);
    let session = Session::with_executor(plan, writer, run, executor);
    let ending = session.measure(&mut |step| follower.step(step));
    follower.end();
    let ending = ending.map_err(|error| match error {
        BenchError::ServerLost(reason) | BenchError::AgentsLost(reason) => {
            let message = format!(
                "{reason}\nthe results so far are saved: continue with `benchlab resume {}`",
                path.display()
            );
            Exit::failed(message)
        }
        error => error.into(),
    });
    match ending? {
        Ending::Interrupted => {
            report::print_result_so_far(&path)?;
            let next = if plan.compares_revisions() {
                "show the results so far with `benchlab report"
            } else {
                "continue with `benchlab resume"
            };
            let message = format!("stopped; {next} {}`", path.display());
            Err(Exit::interrupted(message))
        }
        ending => Ok(ending),
    }
}

/// Returns the exit code for the way in which a run ended, or an error if nothing is left to
/// compare.
pub fn exit_code(ending: Ending) -> Result<ExitCode, Exit> {
    match ending {
        Ending::Failed => Err(Exit::failed(
            "nothing is left to compare: the report shows the failures",
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Creates a directory for temporary files of a run.
pub fn scratch(parent: Option<&Path>) -> Result<Scratch, Exit> {
    Scratch::new(parent).map_err(|e| {
        let directory = parent.map_or("the directory for databases".into(), |p| {
            p.display().to_string()
        });
        Exit::invalid(format!("{directory}: {e}"))
    })
}

/// The number of cores that a measurement needs: one for the subject, and one for benchlab and the subject's other
/// processes.
pub const CORES: usize = 2;

/// Inspects the host, reports conditions that make it unfit for measuring on `cores` cores, and
/// returns the facts about the host.
///
/// # Errors
/// Returns an error if the host is unfit and `strict` is set.
pub fn fit_host(strict: bool, cores: usize) -> Result<Host, Exit> {
    let host = host::inspect(cores);
    report_unfit("the host", &host, strict)?;
    Ok(host)
}

/// Reports conditions that make a host unfit for measuring.
///
/// # Errors
/// Returns an error if the host is unfit and `strict` is set.
pub fn report_unfit(name: &str, host: &Host, strict: bool) -> Result<(), Exit> {
    let unfit: Vec<_> = host.findings.iter().filter(|f| f.unfit).collect();
    for finding in &unfit {
        eprintln!(
            "benchlab: {name} is unfit for measuring: {}; {}",
            finding.what, finding.advice
        );
    }
    if strict && !unfit.is_empty() {
        Err(Exit::new(exit::UNFIT, "not measured, because of --strict"))
    } else {
        Ok(())
    }
}

/// Adds the commit of the measured directory to the host, if the directory is in a repository.
pub fn with_commit(mut host: Host, folder: &Path) -> Host {
    let commit = commit_of(folder).map(|commit| (Host::COMMIT.into(), commit));
    host.facts.extend(commit);
    host
}

/// Returns the path of a new run file, `<time>-<name>.lab`, and creates its directory.
///
/// A number is appended if a run started in the same second.
pub fn new_file(folder: &Path, experiment: &str) -> Result<PathBuf, Exit> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Exit::invalid(format!("{}: {e}", folder.display())))?;
    let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let name = |n: u32| match n {
        0 => format!("{time}-{experiment}.lab"),
        n => format!("{time}-{experiment}-{n}.lab"),
    };
    let mut paths = (0..).map(|n| folder.join(name(n)));
    Ok(paths.find(|p| !p.exists()).expect("the range is infinite"))
}

// SPDX-License-Identifier: Apache-2.0
//! The frame of every measuring verb: checks the host, makes folders, shows progress, reports how the run
//! ended.

use crate::exit::{self, Exit};
use crate::progress::Follower;
use crate::verbs::report;
use lab_audit::host;
use lab_bench::{BenchError, Executor, Scratch, Session, commit_of, unix_seconds};
use lab_model::{Ending, Host, Plan, Run};
use lab_store::RunWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// 1 - the level of all intervals.
pub const ALPHA: f64 = 0.05;

/// Numbers of blocks at which a run makes an interim analysis and may stop; empty if the user fixed the
/// number of blocks.
pub fn looks(blocks: Option<u32>) -> Vec<u32> {
    match blocks {
        Some(_) => Vec::new(),
        None => vec![10, 20, 40, 80],
    }
}

/// The given seed, or a new one below 2^53, the largest integer that JSON parsers keep exactly.
pub fn seed(given: Option<u64>) -> u64 {
    given.unwrap_or((unix_seconds() * 1000.0) as u64 % (1 << 53))
}

/// Measures the missing part of a run. Errors: the run was interrupted, or a server or all agents were lost;
/// the message says how to go on.
pub fn measure<'a>(
    plan: &'a Plan,
    writer: RunWriter,
    run: Run,
    executor: Box<dyn Executor + 'a>,
) -> Result<Ending, Exit> {
    let path = writer.path().to_path_buf();
    let mut follower = Follower::new(plan, run.complete_blocks().count() as u32);
    let session = Session::by(plan, writer, run, executor);
    let ending = session.measure(&mut |step| follower.step(step));
    follower.end();
    let ending = ending.map_err(|error| match error {
        BenchError::ServerLost(reason) | BenchError::AgentsLost(reason) => {
            let message = format!(
                "{reason}\nwhat was measured is kept: go on with `benchlab resume {}`",
                path.display()
            );
            Exit::failed(message)
        }
        error => error.into(),
    });
    match ending? {
        Ending::Interrupted => {
            report::answer_so_far(&path)?;
            let next = if plan.of_revisions() {
                "see what was measured with `benchlab report"
            } else {
                "go on with `benchlab resume"
            };
            let message = format!("stopped; {next} {}`", path.display());
            Err(Exit::interrupted(message))
        }
        ending => Ok(ending),
    }
}

/// The exit code of a run that ended so.
pub fn exit_code(ending: Ending) -> Result<ExitCode, Exit> {
    match ending {
        Ending::Failed => Err(Exit::failed(
            "nothing was left to compare: the report says what failed",
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// A folder for temporary files of a run.
pub fn scratch(parent: Option<&Path>) -> Result<Scratch, Exit> {
    Scratch::new(parent).map_err(|e| {
        let place = parent.map_or("the folder for databases".into(), |p| {
            p.display().to_string()
        });
        Exit::wrong(format!("{place}: {e}"))
    })
}

/// Cores that a measurement needs: one for the subject, one for its other processes and benchlab.
pub const CORES: usize = 2;

/// The host, after reporting why it may be unfit for a measurement on `cores` cores. Error: it is unfit, and
/// `strict` is set.
pub fn fit_host(strict: bool, cores: usize) -> Result<Host, Exit> {
    let host = host::inspect(cores);
    report_unfit("the host", &host, strict)?;
    Ok(host)
}

/// Reports what makes a host unfit. Error: it is unfit, and `strict`.
pub fn report_unfit(name: &str, host: &Host, strict: bool) -> Result<(), Exit> {
    let unfit: Vec<_> = host.findings.iter().filter(|f| f.unfit).collect();
    for finding in &unfit {
        eprintln!(
            "benchlab: {name} is not fit: {}; {}",
            finding.what, finding.advice
        );
    }
    if strict && !unfit.is_empty() {
        Err(Exit::new(exit::UNFIT, "not measured, because of --strict"))
    } else {
        Ok(())
    }
}

/// The host with the commit of the folder that is measured, if it is in a repository.
pub fn with_commit(mut host: Host, folder: &Path) -> Host {
    let commit = commit_of(folder).map(|commit| (Host::COMMIT.into(), commit));
    host.facts.extend(commit);
    host
}

/// The path of a new run file, `<time>-<name>.lab` in a folder, which is made; a run of the same second gets a number.
pub fn new_file(folder: &Path, experiment: &str) -> Result<PathBuf, Exit> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Exit::wrong(format!("{}: {e}", folder.display())))?;
    let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let name = |n: u32| match n {
        0 => format!("{time}-{experiment}.lab"),
        n => format!("{time}-{experiment}-{n}.lab"),
    };
    let mut paths = (0..).map(|n| folder.join(name(n)));
    Ok(paths.find(|p| !p.exists()).expect("numbers do not end"))
}

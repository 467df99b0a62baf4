// SPDX-License-Identifier: Apache-2.0
//! `benchlab bisect`: finds the commits that changed a command's time.

mod commits_measured;
mod dry_run;

use crate::cli::{BisectArgs, Cli};
use crate::exit::{self, Exit};
use crate::exports::exports_of_measurement;
use crate::measuring;
use crate::verbs::{report, runs_folder};
use commits_measured::CommitBench;
use lab_bench::{commit_range, interrupt, unix_seconds};
use lab_bisect::{
    Bisection, BisectionCommit, BisectionFile, BisectionRequest, CommandText, NextMeasurement,
};
use lab_document::Format;
use lab_model::Host;
use lab_stats::bisection::BisectedMetric;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Finds the commits that changed a command's time, between a good commit and a bad commit.
pub fn bisect(cli: &Cli, args: &BisectArgs) -> Result<ExitCode, Exit> {
    let exports = exports_of_measurement(&args.export)?;
    let mut request = request(args)?;
    interrupt::watch().map_err(Exit::failed)?;
    let range = commit_range(Path::new(&request.folder), &args.good, &args.bad)?;
    let commits = range.commits.into_iter().map(|commit| BisectionCommit {
        id: commit.id,
        short: commit.short,
        subject: commit.subject,
    });
    let commits: Vec<BisectionCommit> = commits.collect();
    // HEAD and branches move, so the report names commits.
    request.good = revision_label(&args.good, &commits[0]);
    request.bad = revision_label(&args.bad, &commits[commits.len() - 1]);
    if request.metric == BisectedMetric::Instructions
        && let Some(reason) = lab_bench::hardware_counters()
    {
        return Err(Exit::invalid(format!(
            "--metric instructions: {reason}; --metric cpu needs no counters"
        )));
    }
    let mut bisection = Bisection {
        request,
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_s: unix_seconds(),
        host: String::new(),
        commits,
        steps: Vec::new(),
    };
    if args.dry_run {
        return dry_run::forecast(&bisection);
    }
    let host = measuring::fit_host(args.measuring.strict, measuring::CORES)?;
    bisection.host = describe_host(&host);
    let runs = runs_folder(cli, args.measuring.runs.as_deref())?;
    let file = new_folder(&runs, &bisection.request.name)?;
    file.save(&bisection)?;
    run_bisection(bisection, &file, &exports)
}

/// Continues a bisection.
///
/// # Errors
/// Returns an error if nothing is left to measure, or if the stored state is invalid.
pub fn resume(file: &BisectionFile, budget: Option<Duration>) -> Result<ExitCode, Exit> {
    let mut bisection = file.load()?;
    if bisection.next() == NextMeasurement::Done {
        let path = file.folder().display();
        if !bisection.is_inconclusive() {
            return Err(Exit::invalid(format!(
                "{path} is complete; `benchlab report {path}` shows it"
            )));
        }
        if budget.is_none() {
            return Err(Exit::invalid(format!(
                "{path} has reached its time limit; increase it with --for, such as --for 30m"
            )));
        }
    }
    if let Some(budget) = budget {
        bisection.reopen();
        bisection.request.budget_ns = budget.as_nanos() as u64;
        file.save(&bisection)?;
    }
    interrupt::watch().map_err(Exit::failed)?;
    run_bisection(bisection, file, &[])
}

/// Takes the remaining measurements and reports the result.
fn run_bisection(
    bisection: Bisection,
    file: &BisectionFile,
    exports: &[(&Path, Format)],
) -> Result<ExitCode, Exit> {
    let path = file.folder().display().to_string();
    let mut bench = CommitBench::new(bisection, file.clone())?;
    let outcome = bench.measure_all();
    let bisection = bench.finish();
    let document = lab_bisect::document(&bisection, &path);
    match outcome {
        Ok(()) => {
            let shown = report::show(&document, &file.folder().with_extension("html"));
            report::export_after(shown, &document, exports)?;
            Ok(if bisection.is_inconclusive() {
                ExitCode::from(exit::INCONCLUSIVE)
            } else {
                ExitCode::SUCCESS
            })
        }
        Err(exit) if exit.code == exit::INTERRUPTED => {
            report::print_result(&document)?;
            Err(Exit::interrupted(format!(
                "stopped; continue with `benchlab resume {path}`"
            )))
        }
        Err(exit) => Err(exit),
    }
}

/// Returns the name that the user wrote for a commit, or its hash if the name depends on HEAD.
fn revision_label(written: &str, commit: &BisectionCommit) -> String {
    if crate::verbs::compare::is_relative(written) {
        commit.short.clone()
    } else {
        lab_document::clean(written)
    }
}

fn request(args: &BisectArgs) -> Result<BisectionRequest, Exit> {
    let folder = std::env::current_dir().map_err(Exit::invalid)?;
    let command = match (&args.command, args.words.as_slice()) {
        (Some(line), []) => CommandText::Line(line.clone()),
        (None, words @ [_, ..]) => CommandText::Words(words.to_vec()),
        _ => {
            return Err(Exit::invalid(
                "there is nothing to measure; specify a command, such as `benchlab bisect --good v1.4 --bad HEAD --setup \
                 make -- ./prog x`",
            ));
        }
    };
    let folder = folder.to_str().ok_or_else(|| {
        Exit::invalid(format!(
            "{}: the path of this directory must be valid UTF-8",
            folder.display()
        ))
    })?;
    let mut request = BisectionRequest {
        name: String::new(),
        folder: folder.to_owned(),
        good: args.good.clone(),
        bad: args.bad.clone(),
        command,
        setup: args.setup.clone(),
        prepare: args.prepare.clone(),
        cleanup: args.cleanup.clone(),
        input: args
            .input
            .as_deref()
            .map(crate::verbs::compare::input)
            .transpose()?,
        metric: args.metric.into(),
        margin: args.margin,
        alpha: measuring::ALPHA,
        budget_ns: args.budget.as_nanos() as u64,
        time_limit_ns: args.time_limit.as_nanos() as u64,
        redo: args.measuring.redo,
        seed: measuring::seed(args.measuring.seed),
    };
    // Checks the commands, and names the program, before anything is built.
    let plan = commits_measured::plan(&request, args.title.clone(), &[("A", "/", None)])?;
    request.name = plan.experiment;
    Ok(request)
}

/// Creates the directory of a new bisection.
fn new_folder(runs: &Path, name: &str) -> Result<BisectionFile, Exit> {
    let run_file = measuring::new_file(runs, name)?;
    let paths = (0..).map(|n: u32| match n {
        0 => run_file.with_extension("bisect"),
        n => run_file.with_extension(format!("{n}.bisect")),
    });
    let mut paths = paths.filter(|path: &PathBuf| !path.exists());
    let path = paths.next().expect("the range is infinite");
    Ok(BisectionFile::create(&path)?)
}

/// Describes the machine in a few words.
fn describe_host(host: &Host) -> String {
    let facts = ["cpu", "kernel"].iter().filter_map(|name| host.fact(name));
    facts.collect::<Vec<_>>().join(", ")
}

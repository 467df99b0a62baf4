// SPDX-License-Identifier: Apache-2.0
//! The entry point: dispatches the command and sets the exit code.

mod any_run;
mod cli;
mod completion;
mod directories;
mod dry_run;
mod exit;
mod exports;
mod fixtures;
mod gate;
mod github;
mod hosts;
mod measuring;
mod named;
mod option_values;
mod options;
mod other_tools;
mod output;
mod own_sql;
mod prepared;
mod progress;
mod ready;
mod services;
mod under_valgrind;
mod verbs;
mod working_directories;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;
use cli::{Cli, Verb};
use exit::Exit;
use lab_document::clean;
use std::process::ExitCode;

/// Environment variables that benchlab and its libraries read.
const VARIABLES: [&str; 14] = [
    completion::VARIABLE,
    "BENCHLAB_PROJECT",
    lab_bench::RECORDS_VARIABLE,
    "BENCHLAB_SSH",
    "BENCHLAB_KUBECTL",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "GITHUB_STEP_SUMMARY",
    "HOME",
    "NO_COLOR",
    "SLURM_JOB_ID",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

fn main() -> ExitCode {
    unset_empty_variables();
    CompleteEnv::with_factory(Cli::command)
        .var(completion::VARIABLE)
        .complete();
    let cli = parse_arguments();
    for message in lab_bench::undo_abandoned() {
        eprintln!("benchlab: {}", clean(&message));
    }
    match named::resolve(cli).and_then(|cli| run_command(&cli)) {
        Ok(code) => code,
        Err(Exit { code, message }) => {
            if !message.is_empty() {
                eprintln!("benchlab: {message}");
            }
            ExitCode::from(code)
        }
    }
}

/// Runs the command and returns the exit code.
fn run_command(cli: &Cli) -> Result<ExitCode, Exit> {
    match &cli.verb {
        Verb::Run(args) => verbs::run::run(cli, args),
        Verb::Compare(args) => verbs::compare::compare(cli, args),
        Verb::Bisect(args) => verbs::bisect::bisect(cli, args),
        Verb::Diff(args) => verbs::diff::diff(args),
        Verb::Load(args) => verbs::load::load(cli, args),
        Verb::Profile(args) => verbs::profile::profile(cli, args),
        Verb::Explain(args) => verbs::explain::explain(cli, args),
        Verb::Logs(args) => verbs::logs::logs(cli, args),
        Verb::Audit(args) => verbs::audit::audit(cli, args),
        Verb::New(args) => verbs::new::new(cli, args),
        Verb::Build(args) => verbs::build::build(cli, args),
        Verb::Resume(args) => verbs::resume::resume(cli, args),
        Verb::Report(args) => verbs::report::report(args),
        Verb::History(args) => verbs::history::history(cli, args),
        Verb::Serve(args) => verbs::serve::serve(cli, args),
        Verb::Ci(args) => verbs::ci::ci(cli, args),
        Verb::Init(args) => verbs::init::init(args),
        Verb::Import(args) => verbs::import::import(cli, args),
        Verb::List(args) => verbs::list::list(cli, args),
        Verb::Doctor(args) => verbs::doctor::doctor(cli, args),
        Verb::Completions(args) => verbs::generate::completions(args),
        Verb::Man(args) => verbs::generate::man(args),
        Verb::Manifest => verbs::kubernetes::manifest(),
        Verb::Agent(args) => verbs::agent::agent(cli, args),
        Verb::KubernetesJob(args) => verbs::kubernetes::job(args),
    }
}

/// Parses the command line, or exits. Nagios reads exit code 2 as CRITICAL, so a check with a wrong option exits with
/// 3, UNKNOWN.
fn parse_arguments() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        match other_tools::instead(&error) {
            Some(instead) => eprintln!("benchlab: {instead}"),
            None => drop(error.print()),
        }
        let is_check = std::env::args_os().any(|argument| argument == "--nagios");
        std::process::exit(if is_check && error.use_stderr() {
            3
        } else {
            error.exit_code()
        })
    })
}

/// Unsets variables that are set but empty, such as `VARIABLE=` in a script or a CI file, so that
/// they count as unset.
fn unset_empty_variables() {
    for name in VARIABLES {
        if std::env::var_os(name).is_some_and(|value| value.is_empty()) {
            // SAFETY: no other thread is running yet that could read the environment at the same time.
            unsafe { std::env::remove_var(name) };
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare`: commands, revisions or two servers in turns, or two runs side by side.

mod commands;
mod exports;
mod gate;
mod revisions;
mod runs;
mod urls;

pub use commands::{carry_out, measure, planned, recorded, sweeps};
pub use exports::exports;
pub use revisions::checked_out;
pub use urls::urls;

use crate::cli::{Cli, Color, CompareArgs};
use crate::exit::Exit;
use lab_report::Format;
use std::path::Path;
use std::process::ExitCode;

/// Compares what was given.
pub fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    match &args.commands[..] {
        [first, second] if is_run(first) && is_run(second) => {
            let why = "two run files are compared as they were measured";
            let mut of_load = of_load(args);
            of_load.retain(|(option, _)| *option != AB_TABLE);
            refuse(&[of_all(args), of_commands(args), of_load], "commands", why)?;
            let paths = [first, second].map(Path::new);
            runs::runs(paths, &args.shown, &args.export, args.sending.ab_table)
        }
        [first, second] if is_url(first) && is_url(second) => {
            let why = "load is put on two URLs in turns for as long as --for says";
            refuse(&[of_commands(args)], "commands", why)?;
            refuse(&[of_runs(args)], "two run files", MEASURED)?;
            urls(cli, args, None)
        }
        words if words.iter().any(|word| is_url(word)) => Err(Exit::wrong(
            "two URLs are compared with each other, and with nothing else; `benchlab load URL…` puts load on \
             one server",
        )),
        _ => {
            refuse(&[of_load(args)], "two URLs", "commands are run, not loaded")?;
            refuse(&[of_runs(args)], "two run files", MEASURED)?;
            if args.rev.is_empty() && args.builds.is_some() {
                Err(Exit::wrong(
                    "--builds is for revisions: give them with --rev",
                ))
            } else if args.rev.is_empty() {
                commands::commands(cli, args)
            } else {
                revisions::revisions(cli, args)
            }
        }
    }
}

const AB_TABLE: &str = "--ab-table";

/// Why what is measured now is not shown in another form.
const MEASURED: &str =
    "the run is kept, and `benchlab report` shows it in every form; --export writes one too";

type GivenOptions = Vec<(&'static str, bool)>;

/// Options of commands and of load.
fn of_all(args: &CompareArgs) -> GivenOptions {
    vec![
        ("--name", !args.name.is_empty()),
        ("--sweep", !args.sweep.is_empty()),
        ("--for", args.budget.is_some()),
        ("--gate", args.gate),
    ]
}

fn of_commands(args: &CompareArgs) -> GivenOptions {
    vec![
        ("--rev", !args.rev.is_empty()),
        ("--baseline", args.baseline.is_some()),
        ("--setup", !args.setup.is_empty()),
        ("--prepare", !args.prepare.is_empty()),
        ("--cleanup", !args.cleanup.is_empty()),
        ("--input", args.input.is_some()),
        ("--same-output", args.same_output),
        ("--ignore-failure", args.ignore_failure),
        ("--cores", args.cores.is_some()),
        ("--precision", args.precision.is_some()),
        ("--blocks", args.blocks.is_some()),
        ("--pairs", args.pairs.is_some()),
        ("--control", args.control),
        ("--plan", args.plan.is_some()),
        ("--builds", args.builds.is_some()),
        ("--explain", args.explain),
    ]
}

fn of_load(args: &CompareArgs) -> GivenOptions {
    let sent = &args.sending;
    vec![
        ("--connections", args.connections.is_some()),
        ("--server-pid", !args.server_pid.is_empty()),
        ("--rate", sent.rate.is_some()),
        ("--stages", !sent.stages.is_empty()),
        ("--even", sent.even),
        (AB_TABLE, sent.ab_table),
        ("--threads", sent.threads.is_some()),
        ("--no-keep-alive", sent.no_keep_alive),
        ("--pipeline", sent.pipeline.is_some()),
        ("--http2", sent.http2),
        ("--family", sent.family.is_some()),
        ("--method", sent.method.is_some()),
        ("--header", !sent.header.is_empty()),
        ("--body", sent.body.is_some()),
        ("--body-file", sent.body_file.is_some()),
        ("--requests", sent.requests.is_some()),
        ("--expect-status", sent.expect_status.is_some()),
        ("--expect-body", sent.expect_body.is_some()),
        ("--expect-json", !sent.expect_json.is_empty()),
        ("--timeout", sent.timeout.is_some()),
        ("--ca", sent.ca.is_some()),
        ("--insecure", sent.insecure),
        ("--i-may-load", sent.i_may_load.is_some()),
        ("--hlog", sent.hlog.is_some()),
        ("--on", sent.on.on.is_some()),
    ]
}

fn of_runs(args: &CompareArgs) -> GivenOptions {
    let shown = &args.shown;
    vec![
        ("--format", shown.format != Format::Terminal),
        ("--output", shown.output.is_some()),
        ("--full", shown.full),
        ("--color", shown.color != Color::Auto),
    ]
}

/// Error: an option was given that is for something else.
fn refuse(options: &[GivenOptions], of: &str, why: &str) -> Result<(), Exit> {
    match options.iter().flatten().find(|(_, given)| *given) {
        Some((option, _)) => Err(Exit::wrong(format!("{option} is for {of}: {why}"))),
        None => Ok(()),
    }
}

/// A URL of http or https, and not a command that holds one.
fn is_url(word: &str) -> bool {
    let begins = |scheme: &str| {
        word.get(..scheme.len())
            .is_some_and(|w| w.eq_ignore_ascii_case(scheme))
    };
    (begins("http://") || begins("https://")) && !word.contains(char::is_whitespace)
}

/// A run file's name, not a command such as `cat a.lab`.
fn is_run(word: &str) -> bool {
    word.ends_with(".lab") && (!word.contains(char::is_whitespace) || Path::new(word).is_file())
}

// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare`: commands, revisions or two servers in turns, or two runs side by side.

mod commands;
mod exports;
mod gate;
mod revisions;
mod runs;
mod urls;

pub use commands::{carry_out, measure, new_run_file, plan, sweeps};
pub use exports::exports;
pub use revisions::check_out;
pub use urls::urls;

use crate::cli::{Cli, Color, CompareArgs};
use crate::exit::Exit;
use lab_document::format;
use std::path::Path;
use std::process::ExitCode;

/// Compares what was given.
pub fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    match &args.commands[..] {
        [first, second] if is_run(first) && is_run(second) => {
            let reason = "two run files are compared as they were measured";
            let measuring = [
                measuring_options(args),
                command_options(args),
                load_options(args),
            ];
            refuse(&measuring, "commands", reason)?;
            let paths = [first, second].map(Path::new);
            runs::runs(paths, &args.display, &args.export)
        }
        [first, second] if is_url(first) && is_url(second) => {
            let reason = "load is put on two URLs in turns for as long as --for says";
            refuse(&[command_options(args)], "commands", reason)?;
            refuse(&[run_options(args)], "two run files", MEASURED)?;
            urls(cli, args, None)
        }
        words if words.iter().any(|word| is_url(word)) => Err(Exit::wrong(
            "two URLs are compared with each other, and with nothing else; `benchlab load URL…` puts load on \
             one server",
        )),
        _ => {
            refuse(
                &[load_options(args)],
                "two URLs",
                "commands are run, not loaded",
            )?;
            refuse(&[run_options(args)], "two run files", MEASURED)?;
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

/// Why a measurement takes no options for showing run files.
const MEASURED: &str =
    "the run is kept, and `benchlab report` shows it in every form; --export writes one too";

/// Options, and whether each was given.
type GivenOptions = Vec<(&'static str, bool)>;

/// Options for commands and for load.
fn measuring_options(args: &CompareArgs) -> GivenOptions {
    vec![
        ("--name", !args.name.is_empty()),
        ("--sweep", !args.sweep.is_empty()),
        ("--for", args.budget.is_some()),
        ("--gate", args.gate),
    ]
}

fn command_options(args: &CompareArgs) -> GivenOptions {
    vec![
        ("--rev", !args.rev.is_empty()),
        ("--baseline", args.baseline.is_some()),
        ("--setup", !args.setup.is_empty()),
        ("--prepare", !args.prepare.is_empty()),
        ("--cleanup", !args.cleanup.is_empty()),
        ("--input", args.input.is_some()),
        ("--same-output", args.same_output),
        ("--ignore-failure", args.ignore_failure.is_some()),
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

fn load_options(args: &CompareArgs) -> GivenOptions {
    let sending = &args.sending;
    vec![
        ("--connections", args.connections.is_some()),
        ("--server-pid", !args.server_pid.is_empty()),
        ("--rate", sending.rate.is_some()),
        ("--stages", !sending.stages.is_empty()),
        ("--even", sending.even),
        ("--threads", sending.threads.is_some()),
        ("--no-keep-alive", sending.no_keep_alive),
        ("--pipeline", sending.pipeline.is_some()),
        ("--http2", sending.http2),
        ("--family", sending.family.is_some()),
        ("--method", sending.method.is_some()),
        ("--header", !sending.header.is_empty()),
        ("--body", sending.body.is_some()),
        ("--body-file", sending.body_file.is_some()),
        ("--requests", sending.requests.is_some()),
        ("--expect-status", sending.expect_status.is_some()),
        ("--expect-body", sending.expect_body.is_some()),
        ("--expect-json", !sending.expect_json.is_empty()),
        ("--timeout", sending.timeout.is_some()),
        ("--ca", sending.ca.is_some()),
        ("--insecure", sending.insecure),
        ("--i-may-load", sending.i_may_load.is_some()),
        ("--hlog", sending.hlog.is_some()),
        ("--on", sending.agents.on.is_some()),
    ]
}

fn run_options(args: &CompareArgs) -> GivenOptions {
    let display = &args.display;
    vec![
        ("--format", display.format != format::terminal::FORMAT),
        ("--output", display.output.is_some()),
        ("--full", display.full),
        ("--color", display.color != Color::Auto),
    ]
}

/// Error: one of these options was given, which is for `of` only.
fn refuse(options: &[GivenOptions], of: &str, reason: &str) -> Result<(), Exit> {
    match options.iter().flatten().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Exit::wrong(format!("{option} is for {of}: {reason}"))),
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

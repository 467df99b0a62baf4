// SPDX-License-Identifier: Apache-2.0
//! `benchlab profile`: reads Valgrind's files, or creates them first, writes one report, and judges gates.

mod commands;

use crate::cli::{Cli, ProfileArgs};
use crate::exit::Exit;
use crate::gate;
use crate::verbs::report::deliver_document;
use lab_bench::unix_seconds;
use lab_document::Gate;
use lab_profile::report::{ProfileReport, document};
use lab_profile::{ProfileFiles, ProfiledPrograms, Sources, wording};
use std::path::Path;
use std::process::ExitCode;

/// Profiles programs, reports the results, and judges the gates.
pub fn profile(cli: &Cli, args: &ProfileArgs) -> Result<ExitCode, Exit> {
    let document = match (args.commands.len(), args.words.len()) {
        (0, 0) if args.rev.is_empty() => {
            let programs = read_files(args)?;
            let mut document = document(&ProfileReport {
                programs: &programs,
                measured: None,
                made_unix_s: unix_seconds(),
                file: None,
            });
            document.add_gates(gates(args, &programs));
            document
        }
        (1.., 1..) => return Err(Exit::invalid(wording::COMMANDS_AND_WORDS)),
        _ => commands::profile_commands(cli, args)?,
    };
    deliver_document(&document, &args.display)?;
    Ok(gate::exit_code_displayed(&document, &args.display))
}

/// Judges the conditions of `--fail-if`, and applies `--inconclusive`.
fn gates(args: &ProfileArgs, programs: &ProfiledPrograms) -> Vec<Gate> {
    let gates = lab_profile::report::gates(&args.fail_if, programs).into_iter();
    let gates = gates.map(|gate| gate.with_inconclusive(args.inconclusive.on));
    gates.collect()
}

/// Returns the names of one or two programs.
fn names(args: &ProfileArgs, programs: usize) -> Vec<String> {
    let named = |i: usize| args.name.get(i).or(args.rev.get(i)).cloned();
    let names = wording::default_names(programs).iter().enumerate();
    let name = |(i, default_value): (usize, &&str)| named(i).unwrap_or((*default_value).into());
    names.map(name).collect()
}

/// Reads files that Valgrind's tools wrote.
///
/// # Errors
/// Returns an error if there are no files, or if a file cannot be read.
fn read_files(args: &ProfileArgs) -> Result<ProfiledPrograms, Exit> {
    let files = ProfileFiles {
        massif: args.massif.clone(),
        cachegrind: args.cachegrind.clone(),
        callgrind: args.callgrind.clone(),
        dhat: args.dhat.clone(),
    };
    let profiles = files.read().map_err(Exit::invalid)?;
    let sources = profiles
        .iter()
        .map(|profile| Sources::read(profile, Path::new("")));
    Ok(ProfiledPrograms {
        names: names(args, profiles.len()),
        sources: sources.collect(),
        profiles,
        ..ProfiledPrograms::default()
    })
}

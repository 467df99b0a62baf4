// SPDX-License-Identifier: Apache-2.0
//! `benchlab profile`: Valgrind's files read, or made first; one report; gates.

mod commands;

use crate::cli::{Cli, ProfileArgs};
use crate::exit::{self, Exit};
use crate::verbs::report::deliver_document;
use lab_bench::unix_seconds;
use lab_document::{Document, Finding};
use lab_profile::report::{ProfileReport, document};
use lab_profile::{GateResult, Profile, Sources};
use lab_valgrind::{
    CallgrindReader, CostProfile, ProfileError, read_cachegrind, read_dhat, read_massif,
};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::ExitCode;

/// The longest source file that is shown, in bytes.
const MAX_SOURCE: u64 = 16 << 20;

/// Profiles of one program or two, with facts and warnings for the report.
#[derive(Default)]
struct Profiled {
    profiles: Vec<Profile>,
    sources: Vec<Sources>,
    facts: Vec<(String, String)>,
    warnings: Vec<Finding>,
    measured: Option<Document>,
}

/// Profiles, reports, judges.
pub fn profile(cli: &Cli, args: &ProfileArgs) -> Result<ExitCode, Exit> {
    let profiled = match (args.commands.len(), args.words.len()) {
        (0, 0) if args.rev.is_empty() => read_files(args)?,
        (1.., 1..) => {
            let reason = "give either one command after --, or commands before it";
            return Err(Exit::wrong(reason));
        }
        _ => commands::profile_commands(cli, args)?,
    };
    let names = names(args, profiled.profiles.len());
    let report = ProfileReport {
        profiles: names.into_iter().zip(&profiled.profiles).collect(),
        sources: profiled.sources,
        facts: profiled.facts,
        warnings: profiled.warnings,
        measured: profiled.measured,
        made_unix_s: unix_seconds(),
    };
    let document = document(&report);
    deliver_document(&document, &args.display)?;
    Ok(judge(args, &profiled.profiles))
}

/// The names of one program or two.
fn names(args: &ProfileArgs, programs: usize) -> Vec<String> {
    let usual: &[&str] = match programs {
        1 => &["program"],
        _ => &["before", "after"],
    };
    let names = usual.iter().enumerate();
    let named = |i: usize| args.name.get(i).or(args.rev.get(i)).cloned();
    let name = |(i, usual): (usize, &&str)| named(i).unwrap_or((*usual).into());
    names.map(name).collect()
}

/// The exit code by `--fail-if`, after printing which conditions hold or are inconclusive.
fn judge(args: &ProfileArgs, profiles: &[Profile]) -> ExitCode {
    let verdicts = args
        .fail_if
        .iter()
        .map(|condition| condition.judge(&profiles[0], profiles.get(1)));
    let (mut has_failed, mut is_open) = (false, false);
    for verdict in verdicts {
        match verdict {
            GateResult::Passed => {}
            GateResult::Failed(text) => {
                has_failed = true;
                eprintln!("benchlab: --fail-if holds: {text}");
            }
            GateResult::Undecided(text) => {
                is_open = true;
                eprintln!("benchlab: --fail-if is not decided: {text}");
            }
        }
    }
    match (has_failed, is_open) {
        (true, _) => ExitCode::from(exit::REGRESSION),
        (false, true) => ExitCode::from(exit::UNDECIDED),
        (false, false) => ExitCode::SUCCESS,
    }
}

/// Reads files that Valgrind's tools wrote. Errors: there are none, or one cannot be read.
fn read_files(args: &ProfileArgs) -> Result<Profiled, Exit> {
    let counts = [
        args.massif.len(),
        args.cachegrind.len(),
        args.callgrind.len(),
        args.dhat.len(),
    ];
    let most = counts.into_iter().max().unwrap_or(0);
    if most == 0 {
        return Err(Exit::wrong(
            "there is nothing to profile; give a command, such as `benchlab profile -- ./prog x`, or files, such as \
             --massif massif.out.1",
        ));
    }
    if counts.iter().any(|count| *count != 0 && *count != most) {
        return Err(Exit::wrong(
            "there are two files of one tool and one of another: give two of each tool",
        ));
    }
    let profile = |i: usize| {
        Ok(Profile {
            heaps: Vec::new(),
            massif: args
                .massif
                .get(i)
                .map(|path| read(path, read_massif))
                .transpose()?,
            cachegrind: args
                .cachegrind
                .get(i)
                .map(|path| read(path, read_cachegrind))
                .transpose()?,
            callgrind: args
                .callgrind
                .get(i)
                .map(|paths| callgrind(paths.split(',')))
                .transpose()?,
            dhat: args
                .dhat
                .get(i)
                .map(|path| read(path, read_dhat))
                .transpose()?,
        })
    };
    let profiles = (0..most).map(profile).collect::<Result<Vec<_>, Exit>>()?;
    let sources = profiles
        .iter()
        .map(|profile| sources(profile, Path::new("")));
    Ok(Profiled {
        sources: sources.collect(),
        profiles,
        ..Profiled::default()
    })
}

/// The source files that a profile names and that exist; their names are relative to a folder.
fn sources(profile: &Profile, folder: &Path) -> Sources {
    Sources::of(profile, |name| {
        let file = File::open(folder.join(name)).ok()?;
        let is_file = file
            .metadata()
            .is_ok_and(|m| m.is_file() && m.len() <= MAX_SOURCE);
        let mut bytes = Vec::new();
        file.take(MAX_SOURCE)
            .read_to_end(&mut bytes)
            .ok()
            .filter(|_| is_file)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    })
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(BufReader<File>) -> Result<T, ProfileError>,
) -> Result<T, Exit> {
    let file = File::open(path).map_err(ProfileError::from);
    let read = file.and_then(|file| parse(BufReader::with_capacity(1 << 16, file)));
    read.map_err(|reason| Exit::wrong(format!("{}: {reason}", path.display())))
}

/// The files of one program's parts and threads.
fn callgrind<'p>(paths: impl Iterator<Item = &'p str>) -> Result<CostProfile, Exit> {
    let mut reader = CallgrindReader::default();
    for path in paths {
        read(Path::new(path), |file| reader.add(file))?;
    }
    reader.done().map_err(Exit::wrong)
}

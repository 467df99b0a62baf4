// SPDX-License-Identifier: Apache-2.0
//! Resolves entries of `benchlab.toml`: replaces the name of an entry with its options.

use crate::cli::{AuditVerb, Cli, Verb};
use crate::directories;
use crate::exit::Exit;
use crate::exports;
use clap::{CommandFactory, FromArgMatches};
use lab_config::{ConfigFile, FILE, OptionList};
use lab_document::clean;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Reads `benchlab.toml` in the current directory or the nearest parent directory that has one, or
/// else in the user's configuration directory.
///
/// # Errors
/// Returns an error with the position if the file is invalid.
pub fn config() -> Result<Option<ConfigFile>, Exit> {
    let folder = std::env::current_dir().map_err(Exit::invalid)?;
    let user = directories::config();
    Ok(ConfigFile::find(&folder, user.as_deref())?)
}

/// Replaces the name of an entry on the command line with the entry's options. Options on the
/// command line come last, so they take precedence.
///
/// The directory of the file becomes the current directory. Output paths are made absolute before
/// that.
///
/// # Errors
/// Returns an error if the file or the entry's options are invalid.
pub fn resolve(cli: Cli) -> Result<Cli, Exit> {
    let Some(name) = entry_name(&cli) else {
        return Ok(cli);
    };
    let Some(file) = config()? else {
        return match &cli.verb {
            Verb::Audit(_) => Err(unknown_audit(&name, None)),
            _ => Ok(cli),
        };
    };
    let config = &file.config;
    let entry = match &cli.verb {
        Verb::Compare(_) => config
            .compare
            .get(&name)
            .map(|e| (vec!["compare"], e.options(&name))),
        Verb::Load(_) => config
            .load
            .get(&name)
            .map(|e| (vec!["load"], e.options(&name))),
        Verb::Logs(_) => config.logs.get(&name).map(|e| (vec!["logs"], e.options())),
        Verb::Audit(_) => match config.audit.get(&name) {
            Some(entry) => Some((vec!["audit", entry.kind.name()], entry.options())),
            None => return Err(unknown_audit(&name, Some(&file))),
        },
        _ => None,
    };
    let Some((verbs, options)) = entry else {
        return Ok(cli);
    };
    let written: Vec<OsString> = std::env::args_os().collect();
    let mut cli = with_options(&written, &name, &verbs, &options).map_err(|reason| {
        Exit::invalid(format!(
            "{}: {}: {reason}",
            file.path.display(),
            clean(&name)
        ))
    })?;
    enter(&mut cli, file.folder())?;
    Ok(cli)
}

/// Parses the options of an entry without other arguments, for `benchlab ci`.
///
/// # Errors
/// Returns a message if an option is invalid.
pub fn parse(verbs: &[&str], options: &OptionList) -> Result<Cli, String> {
    parse_words(verbs, options.0.iter().map(OsString::from))
}

/// Changes the current directory to `folder`. Makes output paths absolute first, so that they still
/// refer to the same files.
pub fn enter(cli: &mut Cli, folder: &Path) -> Result<(), Exit> {
    let current = std::env::current_dir().map_err(Exit::invalid)?;
    let absolute = |path: &mut PathBuf| *path = current.join(&*path);
    let (exports, others): (&mut [PathBuf], Vec<&mut Option<PathBuf>>) = match &mut cli.verb {
        Verb::Compare(args) => (&mut args.export, vec![&mut args.measuring.runs]),
        Verb::Load(args) => {
            let others = vec![&mut args.measuring.runs, &mut args.hlog];
            (&mut args.export, others)
        }
        Verb::Logs(args) => {
            let others = vec![&mut args.display.output, &mut args.runs, &mut args.parquet];
            (&mut [], others)
        }
        Verb::Audit(args) => match args.auditing_mut() {
            Some(auditing) => {
                let others = vec![&mut auditing.display.output, &mut auditing.runs];
                (&mut [], others)
            }
            None => (&mut [], Vec::new()),
        },
        _ => (&mut [], Vec::new()),
    };
    for export in exports {
        *export = exports::make_absolute(export, &current);
    }
    others.into_iter().flatten().for_each(absolute);
    if let Some(project) = &mut cli.project {
        absolute(project);
    }
    std::env::set_current_dir(folder)
        .map_err(|e| Exit::invalid(format!("{}: {e}", folder.display())))
}

/// Returns the argument that may be the name of an entry: the only argument, or the first argument
/// after `audit`.
fn entry_name(cli: &Cli) -> Option<String> {
    let only = |words: &[String]| match words {
        [word] => Some(word.clone()),
        _ => None,
    };
    match &cli.verb {
        Verb::Compare(args) if args.words.is_empty() && args.rev.is_empty() => only(&args.commands),
        Verb::Load(args) => only(&args.urls),
        Verb::Logs(args) => only(&args.logs),
        Verb::Audit(args) => match &args.verb {
            AuditVerb::Named(words) => words.first().cloned(),
            _ => None,
        },
        _ => None,
    }
}

fn unknown_audit(name: &str, file: Option<&ConfigFile>) -> Exit {
    let own = file.into_iter().flat_map(|file| file.config.audit.keys());
    let known = ["host", "cookies", "site", "net", "values"].into_iter();
    let known: Vec<&str> = known.chain(own.map(String::as_str)).collect();
    let hint = lab_plan::nearest(name, known.iter().copied());
    let hint = hint.map_or(String::new(), |word| format!("; did you mean `{word}`?"));
    Exit::invalid(format!(
        "unknown audit `{}`: expected {}, or an entry of {FILE}{hint}",
        clean(name),
        known.join(", ")
    ))
}

/// Replaces one argument, the name of an entry, with the entry's options.
fn with_options(
    written: &[OsString],
    name: &str,
    verbs: &[&str],
    options: &OptionList,
) -> Result<Cli, String> {
    let begin = written
        .iter()
        .position(|word| *word == *verbs[0])
        .unwrap_or(0)
        + 1;
    let is_own_word = options.0.iter().any(|word| word == name);
    let mut error = None;
    for at in (begin..written.len()).filter(|&at| *written[at] == *name) {
        let mut words: Vec<OsString> = options.0.iter().map(OsString::from).collect();
        words.extend(
            written[begin..]
                .iter()
                .enumerate()
                .filter(|(i, _)| begin + i != at)
                .map(|(_, word)| word.clone()),
        );
        let mut all: Vec<OsString> = written[1..begin - 1].to_vec();
        all.extend(verbs.iter().map(OsString::from));
        match parse_words(&[], all.into_iter().chain(words)) {
            // The same word may also be the value of an option, which must not be replaced.
            Ok(cli) if entry_name(&cli).as_deref() == Some(name) && !is_own_word => {}
            Ok(cli) => return Ok(cli),
            Err(reason) => error = Some(reason),
        }
    }
    Err(error.unwrap_or_else(|| {
        "the entry's options cannot be combined with those on the command line".into()
    }))
}

fn parse_words(verbs: &[&str], words: impl Iterator<Item = OsString>) -> Result<Cli, String> {
    let mut command = Cli::command();
    for verb in ["compare", "load", "logs"] {
        command = command.mut_subcommand(verb, |verb| verb.args_override_self(true));
    }
    command = command.mut_subcommand("audit", |audit| {
        audit.mut_subcommands(|kind| kind.args_override_self(true))
    });
    let all = ["benchlab"].iter().chain(verbs).map(OsString::from);
    let matches = command
        .try_get_matches_from(all.chain(words))
        .map_err(first_paragraph)?;
    Cli::from_arg_matches(&matches).map_err(first_paragraph)
}

/// Returns the first paragraph of the command-line parser's error message.
fn first_paragraph(error: clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first
        .trim_start_matches("error: ")
        .trim()
        .replace("\n", " ")
}

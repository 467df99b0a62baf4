// SPDX-License-Identifier: Apache-2.0
//! `benchlab ci`: measures the entries of benchlab.toml that are marked for CI, compares a change
//! with its base, and judges the gates.

use crate::cli::{CiArgs, Cli, Verb};
use crate::exit::{self, Exit};
use crate::exports::{exports_of_measurement, make_absolute};
use crate::verbs::report::{deliver_document, export};
use crate::verbs::{audit, compare, load, logs};
use crate::{gate, named};
use lab_bench::{Commit, interrupt, merge_base, unix_seconds};
use lab_config::base_from_environment;
use lab_config::{Base, BaseSource, Compare, Config, ConfigFile, FILE, OptionList};
use lab_document::{Document, clean, format, say};
use lab_kinds::ci::{CiPart, document};
use std::path::PathBuf;
use std::process::ExitCode;

/// An entry that is measured or judged, with its command.
struct Entry {
    name: String,
    verbs: Vec<&'static str>,
    options: OptionList,
    /// True if the entry compares the base with the head.
    is_change: bool,
}

/// Measures and judges the entries, one after the other. If an entry fails, the other entries are
/// still measured.
pub fn ci(cli: &Cli, args: &CiArgs) -> Result<ExitCode, Exit> {
    let file = named::config()?.ok_or_else(|| {
        Exit::invalid(format!(
            "there is no {FILE} in this directory or its parent directories: `benchlab init` writes one"
        ))
    })?;
    let current = std::env::current_dir().map_err(Exit::invalid)?;
    let files = args.export.iter();
    let files: Vec<PathBuf> = files.map(|file| make_absolute(file, &current)).collect();
    let exports = exports_of_measurement(&files)?;
    let mut display = args.display.clone();
    display.output = display.output.map(|path| current.join(path));
    let runs = args.runs.as_ref().map(|path| current.join(path));
    std::env::set_current_dir(file.folder())
        .map_err(|e| Exit::invalid(format!("{}: {e}", file.folder().display())))?;
    check_names(&file, &args.names)?;
    let selection = Selection(&args.names);
    let mut compared = file.config.compare.iter();
    let has_change = compared.any(|(n, e)| selection.includes(n, e.ci) && is_change(e));
    let base = match has_change {
        true => Some(base(args, &file.config)?),
        false => None,
    };
    let entries = entries(&file.config, &selection, base.as_ref());
    if args.dry_run {
        return dry_run(&entries);
    }
    interrupt::watch().map_err(Exit::failed)?;
    // The screen shows each entry; other formats get one document at the end.
    let on_screen = display.format == format::terminal::FORMAT && display.output.is_none();
    let mut parts = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let against = base.as_ref().filter(|_| entry.is_change);
        let against = against.map_or(String::new(), |base| {
            format!(": the working tree against {}", format_commit(base))
        });
        let (name, of) = (clean(&entry.name), entries.len());
        eprintln!("benchlab: {name} ({} of {of}){against}", number + 1);
        let result = match measure(cli, entry, runs.as_deref(), !on_screen) {
            Err(error) if error.code == exit::INTERRUPTED => return Err(error),
            Err(error) => {
                eprintln!("benchlab: {name}: {}", error.message);
                Err(error.message)
            }
            Ok(document) => Ok(document),
        };
        parts.push(CiPart {
            name: entry.name.clone(),
            result,
        });
    }
    let commit_text = base.as_ref().map(format_commit);
    let made = format!("{} UTC", say::minute(unix_seconds()));
    let document = document(&parts, commit_text.as_deref(), made);
    if on_screen {
        // The entries' own screens are above.
        let short = Document {
            sections: Vec::new(),
            ..document.clone()
        };
        if entries.len() > 1 {
            deliver_document(&short, &display)?;
        }
    } else {
        deliver_document(&document, &display)?;
    }
    export(&document, &exports)?;
    let exit_code = gate::exit_code_displayed(&document, &display);
    match parts.iter().any(|part| part.result.is_err()) {
        true => Ok(ExitCode::from(exit::FAILED)),
        false => Ok(exit_code),
    }
}

/// The entries to measure: those with one of the names or, without names, those marked for CI.
struct Selection<'a>(&'a [String]);

impl Selection<'_> {
    fn includes(&self, name: &str, is_marked: bool) -> bool {
        match self.0 {
            [] => is_marked,
            _ => self.position(name).is_some(),
        }
    }

    /// Returns the position of a name among the names.
    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|given| given == name)
    }
}

/// Returns true if an entry compares the base with the head.
fn is_change(entry: &Compare) -> bool {
    entry.commands().len() == 1
}

/// Checks that there is an entry to measure.
///
/// # Errors
/// Returns an error if a name is unknown or, without names, if no entry is marked for CI.
fn check_names(file: &ConfigFile, names: &[String]) -> Result<(), Exit> {
    let config = &file.config;
    let all: Vec<(&String, bool)> = (config.compare.iter().map(|(n, e)| (n, e.ci)))
        .chain(config.load.iter().map(|(n, e)| (n, e.ci)))
        .chain(config.logs.iter().map(|(n, e)| (n, e.ci)))
        .chain(config.audit.iter().map(|(n, e)| (n, e.ci)))
        .collect();
    for name in names {
        if !all.iter().any(|(known, _)| *known == name) {
            let known = || all.iter().map(|(known, _)| known.as_str());
            let hint = lab_plan::nearest(name, known());
            let hint = hint.map_or(String::new(), |word| format!("; did you mean `{word}`?"));
            return Err(Exit::invalid(format!(
                "{} has no entry `{}`: its entries are {}{hint}",
                file.path.display(),
                clean(name),
                known().collect::<Vec<_>>().join(", ")
            )));
        }
    }
    if names.is_empty() && !all.iter().any(|(_, ci)| *ci) {
        return Err(Exit::invalid(format!(
            "no entry in {} is marked for CI: add `ci = true` to one, or name one on the command \
            line",
            file.path.display()
        )));
    }
    Ok(())
}

/// Returns the selected entries in the order of the names or, without names, of the sections.
fn entries(config: &Config, selection: &Selection, base: Option<&Commit>) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |name: &String, verbs: &[&'static str], options, is_change| {
        entries.push(Entry {
            name: name.clone(),
            verbs: verbs.to_vec(),
            options,
            is_change,
        });
    };
    for (name, entry) in &config.compare {
        if selection.includes(name, entry.ci) {
            let is_change = is_change(entry);
            let base = base.filter(|_| is_change).map(|base| base.id.as_str());
            add(name, &["compare"], entry.ci_options(name, base), is_change);
        }
    }
    for (name, entry) in &config.load {
        if selection.includes(name, entry.ci) {
            add(name, &["load"], entry.options(name), false);
        }
    }
    for (name, entry) in &config.logs {
        if selection.includes(name, entry.ci) {
            add(name, &["logs"], entry.options(), false);
        }
    }
    for (name, entry) in &config.audit {
        if selection.includes(name, entry.ci) {
            let verbs = ["audit", entry.kind.name()];
            add(name, &verbs, entry.options(), false);
        }
    }
    entries.sort_by_key(|entry| selection.position(&entry.name));
    entries
}

/// Returns the commit that the change is compared with.
fn base(args: &CiArgs, config: &Config) -> Result<Commit, Exit> {
    let named = |name: &str, source| Base {
        name: name.to_owned(),
        is_commit: false,
        source,
    };
    let given = args
        .base
        .as_deref()
        .map(|name| named(name, BaseSource::Option));
    let found = given
        .or_else(|| base_from_environment(|name| std::env::var(name).ok()))
        .or_else(|| Some(named(&config.ci.base.as_ref()?.0, BaseSource::File)));
    let base = found.ok_or_else(|| {
        Exit::invalid(format!(
            "the base of the change is unknown, because the CI service does not name a branch: \
            specify one with --base, or with `base` in [ci] of {FILE}"
        ))
    })?;
    let folder = std::env::current_dir().map_err(Exit::invalid)?;
    merge_base(&folder, &base.candidates()).map_err(Exit::invalid)
}

/// Formats a commit: `1a2b3c4 Parse numbers in place`.
fn format_commit(commit: &Commit) -> String {
    format!("{} {}", commit.short, commit.subject)
}

/// Prints the commands that would be run.
fn dry_run(entries: &[Entry]) -> Result<ExitCode, Exit> {
    for entry in entries {
        let verbs = entry.verbs.iter().map(|verb| (*verb).to_owned());
        let words: Vec<String> = verbs.chain(entry.options.0.iter().cloned()).collect();
        let words = shlex::try_join(words.iter().map(String::as_str)).map_err(Exit::invalid)?;
        crate::output::say!("benchlab {}", clean(&words));
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures or judges an entry, and returns its report.
fn measure(
    cli: &Cli,
    entry: &Entry,
    runs: Option<&std::path::Path>,
    is_quiet: bool,
) -> Result<Document, Exit> {
    let mut parsed = named::parse(&entry.verbs, &entry.options).map_err(Exit::invalid)?;
    let runs = runs.map(Into::into);
    match &mut parsed.verb {
        Verb::Compare(args) => {
            args.quiet = is_quiet;
            args.measuring.runs = runs;
            let document = compare::run_comparison(cli, args)?;
            document.ok_or_else(|| Exit::failed("nothing was measured"))
        }
        Verb::Load(args) => {
            args.quiet = is_quiet;
            args.measuring.runs = runs;
            load::run_new_load(cli, args)
        }
        Verb::Logs(args) => {
            args.quiet = is_quiet;
            args.runs = runs;
            let (document, failed) = logs::read_and_report(cli, args)?;
            match failed {
                0 => Ok(document),
                code => Err(Exit::new(code, "a file could not be written")),
            }
        }
        Verb::Audit(args) => {
            if let Some(auditing) = args.auditing_mut() {
                auditing.quiet = is_quiet;
                auditing.runs = runs;
            }
            audit::run_audit(cli, args)
        }
        _ => Err(Exit::invalid(
            "`benchlab ci` runs only entries of compare, load, logs and audit",
        )),
    }
}

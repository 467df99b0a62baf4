// SPDX-License-Identifier: Apache-2.0
//! `benchlab ci`: measures the entries of benchlab.toml that are marked for CI, compares a change
//! with its base, and judges the gates.

use crate::cli::{CiArgs, Cli, Verb};
use crate::exit::{self, Exit};
use crate::exports::{exports_of_measurement, make_absolute};
use crate::verbs::report::{deliver_document, export_after};
use crate::verbs::{audit, compare, load, logs};
use crate::{gate, named};
use lab_bench::{Commit, Head, interrupt, merge_base, unix_seconds};
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
    /// The change that the entry measures. `None` if it does not compare a base with a head.
    change: Option<Change>,
}

/// A change: a head and its base.
#[derive(Clone)]
struct Change {
    head: Head,
    base: Commit,
}

impl Change {
    /// Describes the change: `the working tree against 1a2b3c4 Parse numbers in place`.
    fn text(&self) -> String {
        let head = match self.head {
            Head::WorkingTree => "the working tree",
            Head::Commit => "HEAD",
        };
        format!("{head} against {}", format_commit(&self.base))
    }
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
    let entries = entries(args, &file.config, &selection)?;
    if args.dry_run {
        return dry_run(&entries);
    }
    interrupt::watch().map_err(Exit::failed)?;
    // The screen shows each entry; other formats get one document at the end.
    let on_screen = display.format == format::terminal::FORMAT && display.output.is_none();
    let mut parts = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let change = entry.change.as_ref();
        let change = change.map_or(String::new(), |change| format!(": {}", change.text()));
        let (name, of) = (clean(&entry.name), entries.len());
        eprintln!("benchlab: {name} ({} of {of}){change}", number + 1);
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
    let changes = entries.iter().filter_map(|entry| entry.change.as_ref());
    let mut bases: Vec<String> = changes.map(|change| format_commit(&change.base)).collect();
    bases.sort();
    bases.dedup();
    let bases = (!bases.is_empty()).then(|| say::list(&bases));
    let made = format!("{} UTC", say::minute(unix_seconds()));
    let document = document(&parts, bases.as_deref(), made);
    let shown = if !on_screen {
        deliver_document(&document, &display)
    } else if entries.len() > 1 {
        // The entries' own screens are above.
        let short = Document {
            sections: Vec::new(),
            ..document.clone()
        };
        deliver_document(&short, &display)
    } else {
        Ok(())
    };
    export_after(shown, &document, &exports)?;
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

/// Returns the head of the change that an entry measures, or `None` if the entry compares multiple
/// commands.
fn head(entry: &Compare) -> Option<Head> {
    let head = match entry.measures_commit() {
        true => Head::Commit,
        false => Head::WorkingTree,
    };
    (entry.commands().len() == 1).then_some(head)
}

/// The changes that entries measure. The base of each kind of head is searched for once.
struct Changes<'a> {
    args: &'a CiArgs,
    config: &'a Config,
    found: Vec<Change>,
}

impl Changes<'_> {
    /// Returns the change with a head.
    ///
    /// # Errors
    /// Returns an error if its base is unknown.
    fn find(&mut self, head: Head) -> Result<Change, Exit> {
        if let Some(known) = self.found.iter().find(|change| change.head == head) {
            return Ok(known.clone());
        }
        let base = base(self.args, self.config, head)?;
        let change = Change { head, base };
        self.found.push(change.clone());
        Ok(change)
    }
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
///
/// # Errors
/// Returns an error if the base of an entry is unknown.
fn entries(args: &CiArgs, config: &Config, selection: &Selection) -> Result<Vec<Entry>, Exit> {
    let mut changes = Changes {
        args,
        config,
        found: Vec::new(),
    };
    let mut entries = Vec::new();
    let mut add = |name: &String, verbs: &[&'static str], options, change| {
        entries.push(Entry {
            name: name.clone(),
            verbs: verbs.to_vec(),
            options,
            change,
        });
    };
    for (name, entry) in &config.compare {
        if selection.includes(name, entry.ci) {
            let change = head(entry).map(|head| changes.find(head)).transpose()?;
            let base = change.as_ref().map(|change| change.base.id.as_str());
            let options = entry.ci_options(name, base);
            add(name, &["compare"], options, change);
        }
    }
    for (name, entry) in &config.load {
        if selection.includes(name, entry.ci) {
            add(name, &["load"], entry.options(name), None);
        }
    }
    for (name, entry) in &config.logs {
        if selection.includes(name, entry.ci) {
            add(name, &["logs"], entry.options(), None);
        }
    }
    for (name, entry) in &config.audit {
        if selection.includes(name, entry.ci) {
            let verbs = ["audit", entry.kind.name()];
            add(name, &verbs, entry.options(), None);
        }
    }
    entries.sort_by_key(|entry| selection.position(&entry.name));
    Ok(entries)
}

/// Returns the commit that a head is compared with.
fn base(args: &CiArgs, config: &Config, head: Head) -> Result<Commit, Exit> {
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
    merge_base(&folder, &base.candidates(), head).map_err(Exit::invalid)
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

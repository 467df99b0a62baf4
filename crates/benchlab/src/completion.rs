// SPDX-License-Identifier: Apache-2.0
//! Shell completion of names: experiments, subjects, cases, runs, and the entries of
//! `benchlab.toml`.

use crate::directories::{self, run_files};
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use lab_config::{Config, ConfigFile};
use lab_document::clean;
use lab_plan::{Experiment, Project};
use lab_store::Heading;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The environment variable that a shell's completion script sets to request candidates.
pub const VARIABLE: &str = "BENCHLAB_COMPLETE";

/// The maximum number of run files to read. benchlab reads the newest files.
const MAX_RUNS: usize = 200;

/// Returns the experiments of the project, with their questions.
pub fn experiments() -> Vec<CompletionCandidate> {
    let Some(project) = project() else {
        return Vec::new();
    };
    let described = |name: &String| {
        let experiment = Experiment::read(&project, name).ok();
        candidate(name, experiment.map(|experiment| experiment.question))
    };
    project.experiments().iter().filter_map(described).collect()
}

/// Returns the experiments of the project, followed by run files.
pub fn experiments_and_runs(current: &OsStr) -> Vec<CompletionCandidate> {
    matching_then(experiments(), runs(current), current)
}

/// Returns the subjects and the selections of the experiment on the command line, or of all experiments.
pub fn subjects() -> Vec<CompletionCandidate> {
    let mut all = Vec::new();
    for experiment in named_experiments() {
        for subject in &experiment.subjects {
            let help = format!("{}, {}", subject.model.language, subject.model.driver);
            all.extend(candidate(&subject.model.name, Some(help)));
        }
        for (selection, members) in &experiment.selections {
            all.extend(candidate(selection, Some(members.join(", "))));
        }
    }
    distinct(all)
}

/// Returns the cases of the experiment on the command line, or of all experiments.
pub fn cases() -> Vec<CompletionCandidate> {
    let mut all = Vec::new();
    for experiment in named_experiments() {
        for case in &experiment.cases {
            all.extend(candidate(&case.name, Some(case.work.clone())));
        }
    }
    distinct(all)
}

/// Returns the run files of the project, newest first, followed by other files.
pub fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let here = std::env::current_dir().unwrap_or_default();
    let relative = |path: PathBuf| {
        path.strip_prefix(&here)
            .map_or(path.clone(), Path::to_owned)
    };
    let paths = latest_runs().into_iter().map(relative);
    let known = paths.filter_map(|path| candidate(path.to_str()?, None));
    matching_then(
        known.collect(),
        PathCompleter::any().complete(current),
        current,
    )
}

/// Returns the names of the runs in the project, for `benchlab history`.
pub fn histories() -> Vec<CompletionCandidate> {
    let headings = latest_runs().into_iter();
    let headings = headings.filter_map(|path| Heading::read(&path).ok());
    let named = headings.filter_map(|heading| candidate(&heading.experiment?, Some(heading.title)));
    distinct(named.collect())
}

/// Returns the comparisons of `benchlab.toml`, and paths of programs.
pub fn comparisons(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = entries(|config| config.compare.keys().cloned().collect());
    matching_then(names, PathCompleter::any().complete(current), current)
}

/// Returns the loads of `benchlab.toml`.
pub fn loads() -> Vec<CompletionCandidate> {
    entries(|config| config.load.keys().cloned().collect())
}

/// Returns the entries of `benchlab.toml` for `benchlab logs`, and files.
pub fn logs(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = entries(|config| config.logs.keys().cloned().collect());
    matching_then(names, PathCompleter::any().complete(current), current)
}

/// Returns the audits of `benchlab.toml`.
pub fn audits() -> Vec<CompletionCandidate> {
    entries(|config| config.audit.keys().cloned().collect())
}

/// Returns all entries of `benchlab.toml` that `benchlab ci` can measure or judge.
pub fn ci_entries() -> Vec<CompletionCandidate> {
    entries(|config| {
        let names = config.compare.keys().chain(config.load.keys());
        let names = names.chain(config.logs.keys()).chain(config.audit.keys());
        names.cloned().collect()
    })
}

/// Returns the classes of objects that audit rules can test, such as `disk`.
pub fn classes() -> Vec<CompletionCandidate> {
    let classes = lab_audit::user_rules::all_classes();
    let names = classes.iter().map(|class| class.name);
    names.filter_map(|name| candidate(name, None)).collect()
}

/// Creates a candidate, or returns `None` for a name that would need quoting in a shell.
///
/// Bash inserts candidates unquoted, so an entry of `benchlab.toml` named `$(…)` could run a
/// command.
fn candidate(name: &str, help: Option<String>) -> Option<CompletionCandidate> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.:/+,@=%".contains(c);
    let is_plain = !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain);
    let help = help.filter(|text| !text.is_empty());
    let help = help.map(|text| clean(&text).into());
    is_plain.then(|| CompletionCandidate::new(name).help(help))
}

/// Returns the candidates in `names` that start with the current word, followed by `others`,
/// without duplicates.
fn matching_then(
    names: Vec<CompletionCandidate>,
    others: Vec<CompletionCandidate>,
    current: &OsStr,
) -> Vec<CompletionCandidate> {
    let current = current.as_encoded_bytes();
    let continues = |candidate: &CompletionCandidate| {
        candidate
            .get_value()
            .as_encoded_bytes()
            .starts_with(current)
    };
    distinct(names.into_iter().filter(continues).chain(others).collect())
}

fn distinct(candidates: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let mut seen: Vec<OsString> = Vec::new();
    let mut kept = candidates;
    kept.retain(|candidate| {
        let is_new = !seen.iter().any(|known| known == candidate.get_value());
        seen.push(candidate.get_value().to_owned());
        is_new
    });
    kept
}

fn entries(names: impl FnOnce(&Config) -> Vec<String>) -> Vec<CompletionCandidate> {
    // An invalid file provides no names. The commands report the error in it.
    let folder = std::env::current_dir().unwrap_or_default();
    let file = ConfigFile::find(&folder, directories::config().as_deref());
    let file = file.ok().flatten();
    let names = file.map_or(Vec::new(), |file| names(&file.config));
    names
        .iter()
        .filter_map(|name| candidate(name, None))
        .collect()
}

/// Returns the words of the command line that the shell completes, without `benchlab`.
fn words() -> Vec<String> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2);
    words.filter_map(|word| word.into_string().ok()).collect()
}

/// Returns the value of an option on the command line that the shell completes.
fn option(name: &str) -> Option<String> {
    let words = words();
    let at = words.iter().position(|word| word == name);
    let next = at.and_then(|at| words.get(at + 1).cloned());
    let joined = words.iter().find_map(|word| {
        let value = word.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.to_owned())
    });
    next.or(joined)
}

fn project() -> Option<Project> {
    let named = option("--project").map(PathBuf::from);
    let named = named.or_else(|| std::env::var_os("BENCHLAB_PROJECT").map(PathBuf::from));
    Project::find(&named.or_else(|| std::env::current_dir().ok())?).ok()
}

/// Returns the experiment that a word of the command line names, or all experiments.
fn named_experiments() -> Vec<Experiment> {
    let Some(project) = project() else {
        return Vec::new();
    };
    let words = words();
    let all = project.experiments();
    let named = all.iter().find(|name| words.contains(name));
    let names = named.map_or_else(|| all.clone(), |name| vec![name.clone()]);
    let read = |name: &String| Experiment::read(&project, name).ok();
    names.iter().filter_map(read).collect()
}

/// Returns the newest run files, newest first.
fn latest_runs() -> Vec<PathBuf> {
    let folder = option("--runs").map(PathBuf::from);
    let folder = folder.or_else(|| Some(project()?.folder().join("runs")));
    let folder = folder.or_else(|| Some(directories::data()?.join("runs")));
    let mut paths = folder.map_or(Vec::new(), |folder| run_files(&folder));
    paths.reverse();
    paths.truncate(MAX_RUNS);
    paths
}

// SPDX-License-Identifier: Apache-2.0
//! An experiment on one screen: what its cases do, which values they take, who takes part.

use super::{missing, parameters, role, selections};
use crate::exit::Exit;
use crate::output::{SCREEN, hanging_indent, say, widest};
use lab_plan::{Experiment, Subject, Toolchains};
use std::collections::BTreeSet;

/// Behind a text that goes on.
const MORE: &str = " …";

pub fn show(experiment: &Experiment, toolchains: &Toolchains) -> Result<(), Exit> {
    say!("cases");
    let width = widest(experiment.cases.iter().map(|case| &*case.name));
    for case in &experiment.cases {
        say!(
            "{}",
            line(&format!("  {:<width$}  ", case.name), &case.work)
        );
    }
    values(experiment)?;
    subjects(experiment)?;
    lacking(experiment, toolchains)?;
    selections(experiment)
}

/// What begins a text, if it is longer than a line.
fn line(lead: &str, text: &str) -> String {
    let whole = hanging_indent(lead, text);
    let Some((first, _)) = whole.split_once('\n') else {
        return whole;
    };
    let fits = first.chars().count() + MORE.chars().count() <= SCREEN;
    let shown = if fits {
        first
    } else {
        first.rsplit_once(' ').map_or(first, |(words, _)| words)
    };
    format!("{shown}{MORE}")
}

/// Values that several cases take are there once.
fn values(experiment: &Experiment) -> Result<(), Exit> {
    let mut all: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for case in &experiment.cases {
        for (name, values) in parameters(case) {
            match all.iter_mut().find(|(n, v, _)| *n == name && *v == values) {
                Some((.., cases)) => cases.push(&case.name),
                None => all.push((name, values, vec![&case.name])),
            }
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    say!("values, for --set");
    let width = widest(all.iter().map(|(name, ..)| *name));
    for (name, values, cases) in &all {
        let of = match cases.len() {
            n if n == experiment.cases.len() => String::new(),
            _ => format!(" ({})", cases.join(", ")),
        };
        let text = format!("{values}{of}");
        say!("{}", hanging_indent(&format!("  {name:<width$}  "), &text));
    }
    Ok(())
}

/// By language; with the targets of those that are not on all.
fn subjects(experiment: &Experiment) -> Result<(), Exit> {
    let targets: Vec<&str> = experiment.targets.iter().map(|t| t.kind.title()).collect();
    match targets.as_slice() {
        [] => say!("\nsubjects"),
        all => say!("\nsubjects, on {}", all.join(", ")),
    }
    let mut languages: Vec<&str> = Vec::new();
    for subject in &experiment.subjects {
        if !languages.contains(&&*subject.model.language) {
            languages.push(&subject.model.language);
        }
    }
    let width = widest(languages.iter().copied());
    for language in languages {
        let of = |s: &&Subject| s.model.language == language;
        let mut told: Vec<String> = Vec::new();
        for subject in experiment.subjects.iter().filter(of) {
            let text = told_of(experiment, subject, &targets);
            if !told.contains(&text) {
                told.push(text);
            }
        }
        let lead = format!("  {language:<width$}  ");
        say!("{}", hanging_indent(&lead, &told.join(", ")));
    }
    Ok(())
}

/// Its name, what it is besides, and where it is, if not everywhere.
fn told_of(experiment: &Experiment, subject: &Subject, targets: &[&str]) -> String {
    let all = experiment.subjects.iter();
    let same = all.filter(|s| s.model.name == subject.model.name);
    let there = same.filter_map(|s| targets.get(s.model.target).copied());
    let there: Vec<&str> = there.collect();
    let places = (there.len() < targets.len()).then(|| there.join(", "));
    let notes: Vec<String> = role(experiment, subject)
        .map(str::to_owned)
        .into_iter()
        .chain(places)
        .collect();
    match notes.as_slice() {
        [] => subject.model.name.clone(),
        notes => format!("{} ({})", subject.model.name, notes.join("; ")),
    }
}

/// What is not here, once, and who needs it.
fn lacking(experiment: &Experiment, toolchains: &Toolchains) -> Result<(), Exit> {
    let mut titles: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for subject in &experiment.subjects {
        for toolchain in missing(toolchains, subject) {
            let name = &*subject.model.name;
            match titles
                .iter_mut()
                .find(|(title, _)| *title == toolchain.title)
            {
                Some((_, names)) => {
                    names.insert(name);
                }
                None => titles.push((&toolchain.title, BTreeSet::from([name]))),
            }
        }
    }
    for (title, names) in titles {
        let names: Vec<&str> = names.into_iter().collect();
        let text = format!("{title}, for {}", names.join(", "));
        say!("{}", hanging_indent("missing: ", &text));
    }
    Ok(())
}

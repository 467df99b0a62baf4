// SPDX-License-Identifier: Apache-2.0
//! Shows an experiment on one screen: its cases, their parameters, and its subjects.

use super::{ON_REQUEST, missing_toolchains, parameters, role, selections};
use crate::exit::Exit;
use crate::output::{SCREEN, hanging_indent, say, widest};
use lab_plan::{Experiment, Subject, Toolchains};
use std::collections::BTreeSet;

/// The mark at the end of a truncated text.
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
    print_missing_toolchains(experiment, toolchains)?;
    selections(experiment)
}

/// Formats a lead and the text that follows it on one line, truncated with ` …` if the line is too long.
fn line(lead: &str, text: &str) -> String {
    let wrapped = hanging_indent(lead, text);
    let Some((first, _)) = wrapped.split_once('\n') else {
        return wrapped;
    };
    let fits = first.chars().count() + MORE.chars().count() <= SCREEN;
    let beginning = if fits {
        first
    } else {
        first.rsplit_once(' ').map_or(first, |(words, _)| words)
    };
    format!("{beginning}{MORE}")
}

/// Prints the values of each parameter. Cases with the same values are listed together.
fn values(experiment: &Experiment) -> Result<(), Exit> {
    let mut all: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for case in &experiment.cases {
        for (name, values) in parameters(case) {
            let values = values.join(", ");
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

/// Prints the subjects by language. Subjects that only run if requested come last. A subject that
/// does not run on all targets is shown with its targets.
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
        let is_in_language = |s: &&Subject| s.model.language == language;
        let (mut default_subjects, mut on_request) = (Vec::new(), Vec::new());
        for subject in experiment.subjects.iter().filter(is_in_language) {
            let names = match role(experiment, subject) {
                Some(ON_REQUEST) => &mut on_request,
                _ => &mut default_subjects,
            };
            let text = description(experiment, subject, &targets);
            if !names.contains(&text) {
                names.push(text);
            }
        }
        let mut parts = vec![default_subjects.join(", ")];
        if !on_request.is_empty() {
            parts.push(format!("{ON_REQUEST}: {}", on_request.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        let lead = format!("  {language:<width$}  ");
        say!("{}", hanging_indent(&lead, &parts.join("; ")));
    }
    Ok(())
}

/// Describes a subject: its name, its role, and its targets if it does not run on all targets.
fn description(experiment: &Experiment, subject: &Subject, targets: &[&str]) -> String {
    let all = experiment.subjects.iter();
    let same = all.filter(|s| s.model.name == subject.model.name);
    let own_targets = same.filter_map(|s| targets.get(s.model.target.index()).copied());
    let own_targets: Vec<&str> = own_targets.collect();
    let own_targets = (own_targets.len() < targets.len()).then(|| own_targets.join(", "));
    let notes: Vec<String> = role(experiment, subject)
        .filter(|role| *role != ON_REQUEST)
        .map(str::to_owned)
        .into_iter()
        .chain(own_targets)
        .collect();
    match notes.as_slice() {
        [] => subject.model.name.clone(),
        notes => format!("{} ({})", subject.model.name, notes.join("; ")),
    }
}

/// Prints each missing toolchain with the subjects that need it.
fn print_missing_toolchains(experiment: &Experiment, toolchains: &Toolchains) -> Result<(), Exit> {
    let mut titles: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for subject in &experiment.subjects {
        for toolchain in missing_toolchains(toolchains, subject) {
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

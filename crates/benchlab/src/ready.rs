// SPDX-License-Identifier: Apache-2.0
//! Subjects installed for, built, and complained about.

use crate::exit::{self, Exit};
use crate::progress::Building;
use lab_bench::{Builder, Unready, install, interrupt};
use lab_model::TargetKind;
use lab_plan::{Experiment, Project, Subject, Toolchain, Toolchains};
use std::collections::BTreeSet;

/// Makes subjects ready: of each, in their order, the SHA-256 of what it was made from, or why it cannot run. The reader
/// has servers of their own of the `external` kinds.
pub fn ready(
    project: &Project,
    experiment: &Experiment,
    subjects: &[&Subject],
    install_missing: bool,
    external: &[TargetKind],
) -> Result<Vec<Result<String, Unready>>, Exit> {
    let toolchains = Toolchains::read(project)?;
    let builder = Builder::new(project, experiment, &toolchains, external);
    let lacking = builder.lacking(subjects);
    if install_missing && !lacking.is_empty() {
        install(&lacking).map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
    }
    let building = Building::new(builder.builds(subjects));
    let outcomes = builder.ready(subjects, &|step| building.step(step));
    building.end();
    if interrupt::requested() {
        return Err(Exit::new(
            exit::INTERRUPTED,
            "stopped before anything was measured",
        ));
    }
    let labels = subjects.iter().map(|subject| experiment.label(subject));
    let failed = labels.zip(&outcomes);
    let failed = failed.filter_map(|(label, outcome)| Some((label, outcome.as_ref().err()?)));
    complain(&failed.collect::<Vec<_>>(), &experiment.name);
    Ok(outcomes)
}

/// Says why subjects cannot run; what is missing is said once, with the one command that brings it.
fn complain(failed: &[(String, &Unready)], experiment: &str) {
    let (broken, lacking): (Vec<_>, Vec<_>) =
        failed.iter().partition(|(_, why)| why.lacks.is_empty());
    let mut told = Vec::new();
    for (label, unready) in broken {
        // A control and its original, or a subject in several folders, are one program.
        if told.contains(&(label, &unready.message)) {
            continue;
        }
        told.push((label, &unready.message));
        eprintln!("benchlab: {label} cannot run: {}", unready.message);
        unready.log.iter().for_each(|line| eprintln!("  {line}"));
    }
    for (labels, lacks) in alike(&lacking) {
        let titles: Vec<String> = lacks.iter().map(title).collect();
        eprintln!(
            "benchlab: {} cannot run: not here: {}",
            labels.join(", "),
            titles.join(", ")
        );
    }
    let lacks = lacking.iter().flat_map(|(_, why)| &why.lacks);
    let packages: BTreeSet<&str> = lacks.flat_map(|t| &t.debian).map(|p| &**p).collect();
    if !packages.is_empty() {
        let packages: Vec<&str> = packages.into_iter().collect();
        eprintln!(
            "benchlab: `benchlab run {experiment} --install` installs what is missing, or `apt-get install {}`",
            packages.join(" ")
        );
    }
}

/// What is missing, with what to do where no package brings it.
fn title(toolchain: &Toolchain) -> String {
    match &toolchain.advice {
        Some(advice) => format!("{} ({advice})", toolchain.title),
        None => toolchain.title.clone(),
    }
}

/// The labels of those that lack the same, in the order in which that first occurs.
fn alike<'f>(lacking: &[&'f (String, &Unready)]) -> Vec<(Vec<&'f str>, &'f [Toolchain])> {
    let mut groups: Vec<(Vec<&str>, &[Toolchain])> = Vec::new();
    for (label, why) in lacking {
        match groups.iter_mut().find(|(_, lacks)| *lacks == why.lacks) {
            Some((labels, _)) if labels.contains(&&**label) => {}
            Some((labels, _)) => labels.push(label),
            None => groups.push((vec![label], &why.lacks)),
        }
    }
    groups
}

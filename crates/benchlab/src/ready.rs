// SPDX-License-Identifier: Apache-2.0
//! Builds subjects, installs missing packages on request, and reports subjects that cannot run.

use crate::exit::Exit;
use crate::progress::Building;
use lab_bench::{Builder, Unready, install, interrupt};
use lab_model::TargetKind;
use lab_plan::{Experiment, Project, Subject, Toolchain, Toolchains};
use std::collections::BTreeSet;

/// Builds subjects or fixtures.
///
/// Returns the SHA-256 of each program's sources, or the reason the program cannot run, in the
/// given order. Services of the `external` kinds run on the user's own servers and need no local
/// installation.
pub fn build_programs(
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
        install(&lacking).map_err(Exit::failed)?;
    }
    let building = Building::new(builder.builds(subjects));
    let outcomes = builder.build_all(subjects, &|step| building.step(step));
    building.end();
    if interrupt::requested() {
        return Err(Exit::interrupted("stopped before anything was measured"));
    }
    let labels = subjects.iter().map(|subject| experiment.label(subject));
    let failed = labels.zip(&outcomes);
    let failed = failed.filter_map(|(label, outcome)| Some((label, outcome.as_ref().err()?)));
    report_unready(&failed.collect::<Vec<_>>(), &experiment.name);
    Ok(outcomes)
}

/// Prints why subjects cannot run, and lists each missing toolchain once with the command that installs it.
fn report_unready(failed: &[(String, &Unready)], experiment: &str) {
    let (broken, lacking): (Vec<_>, Vec<_>) = failed
        .iter()
        .partition(|(_, unready)| unready.lacks.is_empty());
    let mut reported = Vec::new();
    for (label, unready) in broken {
        // A control and its original, or a subject in multiple directories, share a program.
        if reported.contains(&(label, &unready.message)) {
            continue;
        }
        reported.push((label, &unready.message));
        eprintln!("benchlab: {label} cannot run: {}", unready.message);
        unready.log.iter().for_each(|line| eprintln!("  {line}"));
    }
    for (labels, lacks) in group_by_missing(&lacking) {
        let titles: Vec<String> = lacks.iter().map(title).collect();
        eprintln!(
            "benchlab: {} cannot run; missing: {}",
            labels.join(", "),
            titles.join(", ")
        );
    }
    let lacks = lacking.iter().flat_map(|(_, unready)| &unready.lacks);
    let packages: BTreeSet<&str> = lacks.flat_map(|t| &t.debian).map(|p| &**p).collect();
    if !packages.is_empty() {
        let packages: Vec<&str> = packages.into_iter().collect();
        eprintln!(
            "benchlab: to install what is missing, run `benchlab run {experiment} --install` or `apt-get install {}`",
            packages.join(" ")
        );
    }
}

/// Returns the title of a toolchain and, if the toolchain has advice, the advice.
fn title(toolchain: &Toolchain) -> String {
    match &toolchain.advice {
        Some(advice) => format!("{} ({advice})", toolchain.title),
        None => toolchain.title.clone(),
    }
}

/// Groups the labels of subjects by missing toolchain, in the order of first occurrence.
fn group_by_missing<'f>(
    lacking: &[&'f (String, &Unready)],
) -> Vec<(Vec<&'f str>, &'f [Toolchain])> {
    let mut groups: Vec<(Vec<&str>, &[Toolchain])> = Vec::new();
    for (label, unready) in lacking {
        match groups.iter_mut().find(|(_, lacks)| *lacks == unready.lacks) {
            Some((labels, _)) if labels.contains(&&**label) => {}
            Some((labels, _)) => labels.push(label),
            None => groups.push((vec![label], &unready.lacks)),
        }
    }
    groups
}

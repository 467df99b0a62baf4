// SPDX-License-Identifier: Apache-2.0
//! Differences between two runs other than their results: host, benchlab version, programs,
//! settings, method and completion.
//!
//! Seeds are not listed, because they always differ.

use super::facts::{Differing, Facts, seconds, unequal};
use super::side::{RunSide, Sides};
use crate::kind::kind_of;
use lab_model::{BlockState, Ending, Host, Plan, Run, Service, Subject, SubjectId};
use std::collections::{BTreeMap, BTreeSet};

/// Combines the differences on each target with the differences that do not depend on the target.
///
/// The order is: host and benchlab version, targets, method, completion.
pub(crate) fn differing(first: &Run, second: &Run, on_targets: Vec<Differing>) -> Vec<Differing> {
    let mut found = host(first, second);
    let lab = |run: &Run| vec![("benchlab version".to_string(), run.benchlab_version.clone())];
    found.extend(unequal(lab(first), lab(second)));
    found.extend(on_targets);
    found.extend(measuring(first, second));
    found.extend(unequal(course(first), course(second)));
    found
}

/// Returns the differences on one target: programs, services and settings.
pub(crate) fn on_target(sides: &Sides) -> Vec<Differing> {
    let [first, second] = &sides.0;
    let mut found = unequal(programs(first, second), programs(second, first));
    found.extend(unequal(services(first.run), services(second.run)));
    found.extend(settings(sides));
    found.extend(plans(sides));
    found
}

/// Returns differences between the machines or their operating systems.
pub(crate) fn host(first: &Run, second: &Run) -> Vec<Differing> {
    // The commit is also a fact of the host. It is ignored because programs are compared by their
    // hashes.
    let facts = |run: &Run| {
        let facts = run.host.shown_facts();
        facts
            .filter(|(name, _)| name != Host::COMMIT)
            .cloned()
            .collect()
    };
    unequal(facts(first), facts(second))
}

/// Returns differences between the settings that subjects read back.
///
/// Subjects with the same difference are listed together.
pub(crate) fn settings(sides: &Sides) -> Vec<Differing> {
    let [first, second] = sides.0.each_ref().map(|side| settings_of(side.run));
    let common = first.keys().filter(|key| second.contains_key(*key));
    let mut subjects_of: BTreeMap<Differing, Vec<String>> = BTreeMap::new();
    for key in common {
        for difference in unequal(first[key].clone(), second[key].clone()) {
            let label = sides.0[0].subject_label(key);
            subjects_of.entry(difference).or_default().push(label);
        }
    }
    let with_subjects = |(difference, labels): (Differing, Vec<String>)| Differing {
        what: format!("{} of {}", difference.what, labels.join(", ")),
        ..difference
    };
    subjects_of.into_iter().map(with_subjects).collect()
}

/// Returns differences between the database's query plans for the statements of the user's
/// workloads.
pub(crate) fn plans(sides: &Sides) -> Vec<Differing> {
    let [first, second] = sides.0.each_ref().map(|side| side.plan);
    let of_first = explained(first);
    let mut of_second = explained(second);
    of_second.retain(|(name, _)| of_first.iter().any(|(other, _)| other == name));
    let is_common = |(name, _): &(String, String)| of_second.iter().any(|(other, _)| other == name);
    unequal(
        of_first
            .iter()
            .filter(|fact| is_common(fact))
            .cloned()
            .collect(),
        of_second.clone(),
    )
}

/// Returns the database's query plan of each statement, keyed by the point and the statement's
/// number.
fn explained(plan: &Plan) -> Facts {
    let mut facts = Facts::new();
    for (id, point) in plan.points.enumerated() {
        let statements = point.sql.iter().flat_map(|work| &work.statements);
        for (number, statement) in (1..).zip(statements) {
            let of = point
                .sql
                .as_ref()
                .is_some_and(|work| work.statements.len() > 1);
            let number = if of {
                format!(", statement {number}")
            } else {
                String::new()
            };
            let lines: Vec<&str> = statement
                .explanation
                .iter()
                .map(|line| line.trim())
                .collect();
            facts.push((
                format!("plan of {}{number}", plan.label(id)),
                lines.join(" / "),
            ));
        }
    }
    facts
}

/// Returns differences in how the runs were measured.
pub(crate) fn measuring(first: &Run, second: &Run) -> Vec<Differing> {
    let facts = |run: &Run| run.plan().map_or(Facts::new(), measure);
    unequal(facts(first), facts(second))
}

/// Returns facts about the programs of the subjects that both runs have.
fn programs(side: &RunSide, other: &RunSide) -> Facts {
    let names = subjects(other.run).iter().map(|s| s.name.as_str());
    let names: BTreeSet<&str> = names.collect();
    let mut facts = Facts::new();
    let common = subjects(side.run).iter();
    for subject in common.filter(|s| names.contains(s.name.as_str())) {
        let label = side.subject_label(&subject.name);
        let mut add = |name: &str, value: Option<String>| {
            facts.extend(value.map(|value| (format!("{name} of {label}"), value)));
        };
        let hash = side.hash(&subject.name);
        let command = subject.command.as_ref();
        add("program", hash.map(|hash| hash.chars().take(12).collect()));
        add("command", command.map(|c| c.line.clone()));
        add("revision", command.and_then(|c| c.revision.clone()));
        add("directory", command.and_then(|c| c.folder.clone()));
        add("driver", filled(&subject.driver));
        add("statements", filled(&subject.statements));
        add("arguments", arguments(subject));
    }
    facts
}

/// Returns facts about the database servers that the subjects used.
fn services(run: &Run) -> Facts {
    let title = |service: &Service| {
        let target = run.plan()?.targets.get(service.target)?;
        Some(target.kind.title())
    };
    let facts = run.services.iter().flat_map(|service| {
        let server = title(service).unwrap_or("the server");
        let facts = service.facts.iter();
        facts.map(move |(name, value)| (format!("{name} of {server}"), value.clone()))
    });
    facts.collect()
}

fn subjects(run: &Run) -> &[Subject] {
    run.plan().map_or(&[], |plan| plan.subjects.as_ref())
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

/// Returns the arguments of a program that implements the protocol.
///
/// Returns `None` for a command, whose arguments are part of its command line.
fn arguments(subject: &Subject) -> Option<String> {
    let has_arguments = subject.command.is_none() && !subject.program.is_empty();
    has_arguments.then(|| subject.program.join(" "))
}

/// Returns the settings by subject and key, with the distinct values that they have at all points.
fn settings_of(run: &Run) -> BTreeMap<&str, Facts> {
    let mut values: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for setting in &run.settings {
        if let Some(name) = name_of(run, setting.subject) {
            let of_subject = values.entry(name).or_default();
            let of_key = of_subject.entry(&setting.key).or_default();
            of_key.insert(&setting.value);
        }
    }
    let joined = |values: BTreeSet<&str>| values.into_iter().collect::<Vec<_>>().join(" | ");
    let facts = |keys: BTreeMap<&str, BTreeSet<&str>>| -> Facts {
        let fact = |(key, values): (&str, _)| (key.to_string(), joined(values));
        keys.into_iter().map(fact).collect()
    };
    values
        .into_iter()
        .map(|(name, keys)| (name, facts(keys)))
        .collect()
}

fn name_of(run: &Run, subject: SubjectId) -> Option<&str> {
    run.plan()?.subjects.get(subject).map(|s| s.name.as_str())
}

fn measure(plan: &Plan) -> Facts {
    let m = &plan.measure;
    let limit = |ns: Option<u64>| ns.map_or("none".to_string(), seconds);
    let percent = |part: f64| format!("{} %", (part * 1e6).round() / 1e4);
    let interim_analyses: Vec<String> = m.interim_analyses.iter().map(u32::to_string).collect();
    let mut facts: Facts = [
        ("pairs of passes", m.pairs.to_string()),
        ("turn length", seconds(m.turn_ns)),
        ("block length", limit(m.block_ns)),
        ("measuring time", limit(m.budget_ns)),
        ("maximum blocks", m.max_blocks.to_string()),
        ("disturbed blocks redone", format!("up to {} times", m.redo)),
        ("interim analyses after blocks", interim_analyses.join(", ")),
        ("level", percent(1.0 - m.alpha)),
        ("margin", percent(m.margin)),
        (
            "requested precision",
            m.precision.map_or("none".into(), percent),
        ),
        ("time limit", seconds(m.time_limit_ns)),
        ("maximum warm-up batches", m.max_warmup.to_string()),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into();
    // The address of the only server may differ.
    if !kind_of(plan).is_named_by_address() || plan.subjects.len() > 1 {
        let name = plan.subjects.get(plan.baseline).map(|s| s.name.clone());
        facts.push(("baseline".into(), name.unwrap_or_default()));
    }
    facts.extend(kind_of(plan).method_facts());
    let workload = plan.workload.iter();
    facts.extend(workload.map(|w| {
        (
            "workload (SHA-256)".into(),
            w.sha256.chars().take(12).collect(),
        )
    }));
    facts
}

/// Returns facts about how much of a run was completed and why the run ended.
fn course(run: &Run) -> Facts {
    let disturbed = run
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Disturbed);
    let mut facts = vec![
        (
            "complete blocks".to_string(),
            run.complete_blocks().count().to_string(),
        ),
        (
            "number of redone blocks".to_string(),
            disturbed.count().to_string(),
        ),
        ("end".to_string(), ending(run.ending).to_string()),
    ];
    let name = |subject: SubjectId| {
        let plan = run.plan()?;
        plan.subjects
            .has_id(subject)
            .then(|| plan.subject_label(subject))
    };
    let failed: BTreeSet<String> = run
        .failures
        .iter()
        .filter_map(|f| name(f.subject))
        .collect();
    let failed: Vec<String> = failed.into_iter().collect();
    let failed = if failed.is_empty() {
        "none".into()
    } else {
        failed.join(", ")
    };
    facts.push(("failed subjects".to_string(), failed));
    facts
}

fn ending(ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::Decided) => "all comparisons resolved",
        Some(Ending::Precise) => "precise enough",
        Some(Ending::Budget) => "time budget used up",
        Some(Ending::Blocks) => "all blocks done",
        Some(Ending::Failed) => "nothing left to compare",
        Some(Ending::Interrupted) => "stopped by the user",
        None => "not finished",
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The method, host and time of a run: the last sections of every report.

use super::measured::Measured;
use super::scope::Scope;
use crate::wording;
use lab_document::say::{self, count};
use lab_document::{Document, Finding, Item, Section, Tone};
use lab_model::{Ending, Run};
use std::collections::BTreeSet;

/// Creates a document with the properties common to all: title, question, date and source.
pub fn heading(measured: &Measured) -> Document {
    let Measured { run, plan, .. } = measured;
    Document {
        title: if plan.title.is_empty() {
            run.name.clone()
        } else {
            plan.title.clone()
        },
        question: plan.question.clone(),
        // The most important facts come first, since a long line is cut off at its end.
        made: format!(
            "{} UTC, {}{}",
            say::minute(run.started_unix_s),
            count(measured.results.blocks as usize, "block"),
            hardware(run).map_or(String::new(), |hardware| format!(", {hardware}"))
        ),
        benchlab_version: run.benchlab_version.clone(),
        source: format!("All samples are in {}.", measured.file),
        kept: true,
        ..Document::default()
    }
}

/// Formats the start of a run and its hardware, such as `2026-11-21 09:15 UTC on AMD EPYC 7B13`, or `on 6 hosts`.
pub fn date_and_hardware(run: &Run) -> String {
    let hardware = hardware(run).map_or(String::new(), |hardware| format!(" {hardware}"));
    format!("{} UTC{hardware}", say::minute(run.started_unix_s))
}

/// Formats the hardware, such as `on AMD EPYC 7B13` or `on 6 hosts`.
fn hardware(run: &Run) -> Option<String> {
    let hosts = measuring_hosts(run);
    if hosts > 0 {
        return Some(format!("on {}", count(hosts, "host")));
    }
    let cpu = run.host.fact("cpu")?;
    Some(format!("on {cpu}"))
}

/// Builds the section on the method: the sentences of the run's kind, then the sentences that apply
/// to all kinds.
pub fn section(measured: &Measured, sentences: Vec<String>) -> Section {
    let mut section = Section::folded("How it was measured");
    sentences.into_iter().for_each(|text| section.text(text));
    section.text(ratios(measured));
    section.text(pilots(measured.run));
    section.text(redone(measured));
    section.text(benchlab_cost(measured.run));
    section.text(format!(
        "{} The seed was {}.",
        ending(measured.run),
        measured.plan.seed
    ));
    section
}

/// Explains ratios and their intervals. Empty if the run has no ratios.
fn ratios(measured: &Measured) -> String {
    if measured.results.comparisons.is_empty() {
        return String::new();
    }
    let replicates = wording::replicate_nouns(measured.replicate());
    format!(
        "Ratios are Hodges-Lehmann estimates over {replicates}. The intervals of all ratios with a verdict are \
         simultaneous at a confidence level of {}, from sign flips of whole {replicates}; those of ratios of means \
         are individual. Ratios within 1 ± {} count as equivalent.",
        say::percent(measured.results.level),
        say::percent(measured.results.margin),
    )
}

/// Describes the time that the pilots took. Empty if the run had no pilots.
fn pilots(run: &Run) -> String {
    let Some(pilots_ns) = run.pilots_ns.filter(|_| !run.pilots.is_empty()) else {
        return String::new();
    };
    let took = format!("The pilots took {}", say::time(pilots_ns));
    let blocks_ns: u64 = run.blocks.iter().map(|b| b.duration_ns).sum();
    if blocks_ns == 0 || !run.agents.is_empty() {
        return format!("{took}.");
    }
    let fraction = pilots_ns as f64 / (pilots_ns + blocks_ns) as f64;
    format!("{took}, {} of the run time.", say::percent(fraction))
}

fn redone(measured: &Measured) -> String {
    match measured.results.disturbed_blocks as usize {
        0 => String::new(),
        1 => "1 block was redone because the host disturbed it.".into(),
        n => format!(
            "{} were redone because the host disturbed them.",
            count(n, "block")
        ),
    }
}

fn benchlab_cost(run: &Run) -> String {
    run.lab_cost.map_or(String::new(), |(cpu_ns, bytes)| {
        format!(
            "benchlab itself used {} of CPU time and at most {} of memory (single measurements).",
            say::time(cpu_ns),
            say::reading(bytes as f64, &lab_model::Unit::Bytes),
        )
    })
}

/// Formats the number of mirrored pairs in blocks as a range, or the planned number if there are no blocks.
pub fn mirrored_pairs(scope: &Scope, pairs: &BTreeSet<usize>) -> String {
    match (pairs.first(), pairs.last()) {
        (Some(min), Some(max)) if min < max => format!("{min} to {max} mirrored pairs"),
        (only, _) => count(
            *only.unwrap_or(&(scope.plan.measure.pairs as usize)),
            "mirrored pair",
        ),
    }
}

/// Describes in a sentence why a run ended.
pub fn ending(run: &Run) -> &'static str {
    match run.ending {
        Some(Ending::Decided) => "The run ended when every comparison was conclusive.",
        Some(Ending::Precise) => "The run ended when every interval was as narrow as requested.",
        Some(Ending::Budget) => "The run ended when its time was used up.",
        Some(Ending::Blocks) => "The run ended after the requested number of blocks.",
        Some(Ending::Failed) => "The run ended because nothing was left to compare.",
        Some(Ending::Interrupted) => "The run was interrupted; `benchlab resume` continues it.",
        None => "The run has not ended; `benchlab resume` continues it.",
    }
}

/// Builds the section on the machine and on the conditions that would disturb a measurement on it.
pub fn host(run: &Run) -> Section {
    let facts: Vec<_> = run.host.shown_facts().cloned().collect();
    if measuring_hosts(run) > 0 || !run.is_loaded_here() {
        let mut section = Section::folded("The coordinator");
        section.push(Item::Facts(facts));
        section.text("Nothing was measured on this machine, so it does not affect the results.");
        return section;
    }
    let mut section = Section::folded("The host");
    if !facts.is_empty() {
        section.push(Item::Facts(facts));
    }
    let findings = &run.host.findings;
    if findings.is_empty() {
        section.text("Nothing was found on the host that would disturb a measurement.");
    } else if findings.iter().all(|f| !f.unfit) {
        section.text("The host is fit for measurements, with these caveats:");
    } else {
        section.text("The host is not fit for reliable measurements.");
    }
    for finding in findings {
        section.push(Finding::new(
            "",
            format!("{}: {}.", finding.what, finding.advice),
            if finding.unfit {
                Tone::Alarm
            } else {
                Tone::Inconclusive
            },
        ));
    }
    section
}

/// Returns the number of hosts that measured blocks, or 0 if this machine measured all of them.
fn measuring_hosts(run: &Run) -> usize {
    let hosts = lab_stats::hosts::hosts(run).into_iter();
    hosts.filter(|host| host.blocks > 0).count()
}

// SPDX-License-Identifier: Apache-2.0
//! Failures, exclusions from the comparison, and warnings.

use super::measured::Measured;
use crate::wording;
use lab_document::say::{self, count, list};
use lab_document::{Finding, Item, Section, Tone};
use lab_model::Failure;
use lab_stats::analysis::{Exclusion, ExclusionKind};
use lab_stats::results::{WarningFact, WarningKind};

/// Builds the section on failures and exclusions, each reason once.
pub fn failures(measured: &Measured) -> Section {
    let mut section = Section::new("Failures and exclusions");
    for failure in &measured.run.failures {
        section.items.extend(failure_items(measured, failure));
    }
    let exclusions = measured.exclusions();
    let exclusions = say::grouped(exclusions.map(|r| ((r.subject, &r.reason), r.point)));
    let each = exclusions.into_iter().map(|((subject, reason), points)| {
        let at = match points.as_slice() {
            _ if reason.names_points() => String::new(),
            [one] => measured.location(*one),
            many => format!(" at {}", count(many.len(), "point")),
        };
        ((reason, at), measured.label(subject))
    });
    for ((reason, at), names) in say::grouped(each) {
        let text = wording::excluded(&names, &at, reason);
        // The answer itself explains subjects that were not steady.
        let tone = match reason.kind() {
            ExclusionKind::NotSteady => Tone::Inconclusive,
            _ => Tone::Alarm,
        };
        section.push(Finding::new("not compared", text, tone).with_data(reason));
    }
    section
}

/// Describes a failure in a sentence, followed by the rest of its message and its log.
fn failure_items(measured: &Measured, failure: &Failure) -> Vec<Item> {
    let block = failure.block;
    let block = block.map_or(String::new(), |block| format!(", block {block}"));
    let at = measured.location(failure.point);
    let mut lines = failure.message.lines();
    let first = lines.next().unwrap_or_default();
    let finding = Finding::new(
        measured.label(failure.subject),
        format!("It failed{at}{block} ({}): {first}", failure.kind),
        Tone::Alarm,
    );
    let log: Vec<String> = lines
        .map(String::from)
        .chain(failure.log.iter().cloned())
        .collect();
    let log = (!log.is_empty()).then_some(Item::Log(log));
    std::iter::once(finding.into()).chain(log).collect()
}

/// Builds the section on warnings. Each text is listed once, with its targets unless it applies to all.
pub fn warnings(measured: &Measured) -> Section {
    let mut section = Section::new("Warnings");
    let all = measured.results.warnings.iter();
    let with_targets = all
        .filter(|w| w.kind() != WarningKind::Failed)
        .map(|warning| {
            let target = warning.target.and_then(|t| measured.plan.targets.get(t));
            let target = target.filter(|_| measured.has_targets());
            let text = wording::warning(&warning.fact);
            (
                (warning.kind(), text),
                (&warning.fact, target.map(|t| t.kind.title())),
            )
        });
    for ((_, text), about) in say::grouped(with_targets) {
        let names: Vec<&str> = about.iter().filter_map(|(_, target)| *target).collect();
        let location = match names.len() {
            0 => String::new(),
            n if n == measured.plan.targets.len() => String::new(),
            _ => format!("{}: ", list(&names)),
        };
        let fact = about.first().map(|(fact, _)| *fact);
        section.items.extend(fact.map(|fact| {
            let finding = finding(fact, format!("{location}{text}"));
            Item::Finding(if is_omission(measured, fact) {
                finding.with_tone(Tone::Inconclusive)
            } else {
                finding
            })
        }));
    }
    section
}

/// Returns true if a warning is about servers whose omission the answer already explains.
pub fn is_omission(measured: &Measured, fact: &WarningFact) -> bool {
    let unsteady = |r: &Exclusion| r.kind() == ExclusionKind::NotSteady;
    matches!(fact, WarningFact::NotSteady { .. }) && measured.exclusions().any(unsteady)
}

/// Returns true if the results would be misleading without this warning.
pub fn is_grave(fact: &WarningFact) -> bool {
    use WarningKind as W;
    matches!(
        fact.kind(),
        W::NotSteady | W::Agents | W::Errors | W::Saturated | W::Late | W::Overloaded
    )
}

/// Returns true if a warning should change the user's next step. The first screen shows such
/// warnings.
///
/// All other warnings only explain results.
fn asks_for_action(fact: &WarningFact) -> bool {
    use WarningKind as W;
    is_grave(fact)
        || matches!(
            fact.kind(),
            W::Interrupted | W::Host | W::SharedCores | W::Starved | W::FewBlocks | W::Short
        )
}

/// Converts a warning to a finding.
pub fn warning(fact: &WarningFact) -> Finding {
    finding(fact, wording::warning(fact))
}

fn finding(fact: &WarningFact, text: String) -> Finding {
    let tone = if asks_for_action(fact) {
        Tone::Alarm
    } else {
        Tone::Inconclusive
    };
    let label = fact.kind().name().replace('-', " ");
    Finding::new(label, text, tone).with_data(fact)
}

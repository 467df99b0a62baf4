// SPDX-License-Identifier: Apache-2.0
//! Sources of bias that a run can reveal, and that could be mistaken for a difference between
//! subjects.

use super::cell::NONE;
use super::scope::Scope;
use super::table;
use lab_document::say;
use lab_document::{Cell, Quantity, Section, Table, Tone};
use lab_model::{SubjectId, Unit};
use lab_stats::results::{Bias, BiasKind};

/// Builds the section on bias, with a row per subject.
pub fn section(scopes: &[Scope]) -> Section {
    let mut section = Section::folded("Checks for bias");
    for scope in scopes.iter().filter(|scope| !biases(scope).is_empty()) {
        section.text(biases_above_margin(scope));
        section.table(target_table(scope));
    }
    section
}

/// Returns the bias checks of a target's subjects.
fn biases<'a>(scope: &Scope<'a>) -> Vec<&'a Bias> {
    let compared = scope.compared();
    let all = scope.results.biases.iter();
    all.filter(|bias| compared.contains(&bias.subject))
        .collect()
}

/// Describes the biases that exceed the margin.
fn biases_above_margin(scope: &Scope) -> String {
    let biases = biases(scope).into_iter();
    let out = biases.filter(|bias| bias.stands_out);
    let parts = say::grouped(out.map(|b| (meaning(b.kind), scope.name(b.subject))));
    let sentences = parts
        .into_iter()
        .map(|(meaning, names)| format!("{meaning}: {}.", say::list(&names)));
    say::paragraph(sentences).unwrap_or_else(|| "Nothing exceeds the margin.".into())
}

/// Describes the meaning of a bias that exceeds the margin.
fn meaning(kind: BiasKind) -> &'static str {
    match kind {
        BiasKind::CarryOver => {
            "A preceding turn of the same subject changes the time by more than the margin"
        }
        BiasKind::Drift => "The time changes by more than the margin within a block",
        BiasKind::Core(_) => "The cores differ by more than the margin",
        BiasKind::Redone => "Including the redone turns changes the cost by more than the margin",
        BiasKind::Helpers => "Helper threads work on other cores",
    }
}

fn target_table(scope: &Scope) -> Table {
    let biases = biases(scope);
    let kinds = say::distinct(biases.iter().map(|bias| bias.kind));
    let columns: Vec<_> = kinds.into_iter().map(|kind| (kind, title(kind))).collect();
    let sides = (&*table::subjects(scope, &scope.compared()), &*columns);
    let subject = scope.words.subject;
    let cell = |subject: SubjectId, kind: BiasKind| -> Cell {
        let mut biases = biases.iter();
        let bias = biases.find(|b| (b.subject, b.kind) == (subject, kind));
        bias.map_or(NONE.into(), |bias| {
            let tone = if bias.stands_out {
                Tone::Inconclusive
            } else {
                Tone::Plain
            };
            let cell = Cell::from(Quantity::ratio(&bias.ratio)).with_tone(tone);
            match kind {
                BiasKind::Redone => cell.with_note(redone(scope, subject)),
                _ => cell,
            }
        })
    };
    let mut table = table::matrix(scope.title(), subject, sides, &Unit::Ratio, cell);
    table.caption = "Ratios; 1 means no bias. After its own turn: time in turns that follow a turn of the same \
                     subject / time in the turn before. Second half: time in the second half of a block's turns / \
                     first half. On a core: the baseline's time there / on the other cores; for other subjects, \
                     their ratio to the baseline. With redone turns: cost of a request including turns that were \
                     repeated because other processes disturbed them / without these. CPU / wall: above 1, helper \
                     threads work on other cores. Intervals are individual."
        .into();
    table
}

/// Formats the number of a subject's repeated turns.
fn redone(scope: &Scope, subject: SubjectId) -> String {
    let slices = scope.run.complete_blocks().flat_map(|b| &b.redone_slices);
    say::count(slices.filter(|s| s.subject == subject).count(), "turn")
}

fn title(kind: BiasKind) -> String {
    match kind {
        BiasKind::CarryOver => "after its own turn".into(),
        BiasKind::Drift => "second half".into(),
        BiasKind::Core(core) => format!("on core {core}"),
        BiasKind::Redone => "with redone turns".into(),
        BiasKind::Helpers => "CPU / wall".into(),
    }
}

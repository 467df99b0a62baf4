// SPDX-License-Identifier: Apache-2.0
//! The history of audits of one kind, with one row per audit: the number of findings in each state
//! over time.

use super::summary::{AuditSummary, COUNTED};
use crate::wording;
use lab_document::say;
use lab_document::{Answer, Column, Document, Finding, Quantity, Row, Section, Table, Tone};
use lab_model::audit::State;
use lab_model::{Direction, Metric, Unit};

/// Builds the history of audits of one kind. `audits` starts with the oldest.
pub fn document(name: &str, audits: &[AuditSummary]) -> Document {
    let mut document = Document {
        title: wording::history_title(name, audits.len()),
        question: wording::HISTORY_QUESTION.into(),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer: answer(audits),
        source: wording::HISTORY_SOURCE.into(),
        rows: audits.iter().flat_map(rows).collect(),
        ..Document::default()
    };
    document.section(Section::from_table(wording::AUDITS, table(audits)));
    document
}

/// Describes the bad findings of the latest audit, and the findings that are new or fixed since the
/// previous audit.
fn answer(audits: &[AuditSummary]) -> Answer {
    let Some(last) = audits.last() else {
        return Answer::default();
    };
    let mut findings = vec![finding(wording::BAD_NOW, &last.bad, Tone::Plain)];
    let before = audits
        .iter()
        .rev()
        .skip(1)
        .find(|audit| audit.targets == last.targets);
    if let Some(before) = before {
        // Rules that the other audit did not check are neither new nor fixed.
        let only = |audit: &AuditSummary, other: &AuditSummary| -> Vec<String> {
            let new = |rule: &&String| !other.bad.contains(rule) && other.applied.contains(rule);
            audit.bad.iter().filter(new).cloned().collect()
        };
        let (worse, mended) = (only(last, before), only(before, last));
        findings.push(finding(wording::NEW, &worse, Tone::Worse));
        findings.push(finding(wording::FIXED, &mended, Tone::Better));
    }
    Answer {
        findings,
        ..Answer::default()
    }
}

fn finding(label: &str, rules: &[String], tone: Tone) -> Finding {
    let tone = if rules.is_empty() { Tone::Plain } else { tone };
    Finding::new(label, wording::rules(rules), tone)
}

fn unit() -> Unit {
    Unit::Count("findings".into())
}

fn table(audits: &[AuditSummary]) -> Table {
    let words = wording::AUDITS_COLUMNS.map(Column::from);
    let counts = COUNTED.map(|state| Column::with_unit(state.name(), unit()));
    let mut table =
        Table::new("", words.into_iter().chain(counts)).with_caption(wording::AUDITS_CAPTION);
    for audit in audits {
        let mut row = vec![
            say::minute(audit.started_unix_s).into(),
            audit.targets.as_str().into(),
        ];
        row.extend(
            audit
                .counts
                .map(|n| Quantity::exact(n as f64, unit()).into()),
        );
        table.row(row);
    }
    table
}

fn rows(audit: &AuditSummary) -> Vec<Row> {
    let row = |(state, n): (State, usize)| {
        let metric = Metric::new("findings", "findings", unit(), Direction::Neither);
        Row {
            case: state.name().into(),
            value: Some(Quantity::exact(n as f64, unit())),
            note: say::minute(audit.started_unix_s),
            ..Row::new(&audit.run, &audit.targets, metric)
        }
    };
    COUNTED.into_iter().zip(audit.counts).map(row).collect()
}

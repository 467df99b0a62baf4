// SPDX-License-Identifier: Apache-2.0
//! Many audits of one kind, a row for each: how many findings were bad from time to time.

use super::summary::{AuditSummary, COUNTED};
use lab_document::say::{self, count};
use lab_document::{Answer, Column, Document, Finding, Quantity, Row, Section, Table, Tone};
use lab_model::audit::State;
use lab_model::{Direction, Metric, Unit};

/// The audits of one kind, the oldest first.
pub fn document(name: &str, audits: &[AuditSummary]) -> Document {
    let mut document = Document {
        title: format!("History of {name}: {}", count(audits.len(), "audit")),
        question: "How many findings were bad from audit to audit?".into(),
        lab_version: env!("CARGO_PKG_VERSION").into(),
        answer: answer(audits),
        source:
            "The runs' files hold every finding; `benchlab diff` shows what changed between two."
                .into(),
        rows: audits.iter().flat_map(rows).collect(),
        ..Document::default()
    };
    document.section(Section::of_table("Audits", table(audits)));
    document
}

/// What is bad in the latest, and what became so or was mended since the one before it.
fn answer(audits: &[AuditSummary]) -> Answer {
    let Some(last) = audits.last() else {
        return Answer::default();
    };
    let listed = |rules: &[String]| {
        if rules.is_empty() {
            "nothing".to_owned()
        } else {
            say::list(rules)
        }
    };
    let mut findings = vec![finding("Bad now", listed(&last.bad), Tone::Plain)];
    let before = audits
        .iter()
        .rev()
        .skip(1)
        .find(|audit| audit.targets == last.targets);
    if let Some(before) = before {
        // What the other audit did not look at is neither new nor mended.
        let only = |audit: &AuditSummary, other: &AuditSummary| -> Vec<String> {
            let new = |rule: &&String| !other.bad.contains(rule) && other.applied.contains(rule);
            audit.bad.iter().filter(new).cloned().collect()
        };
        let (worse, mended) = (only(last, before), only(before, last));
        findings.push(finding(
            "New since the audit before",
            listed(&worse),
            Tone::Worse,
        ));
        findings.push(finding("Mended since then", listed(&mended), Tone::Better));
    }
    Answer {
        findings,
        ..Answer::default()
    }
}

fn finding(label: &str, text: String, tone: Tone) -> Finding {
    let tone = if text == "nothing" { Tone::Plain } else { tone };
    Finding::new(label, format!("{text}."), tone)
}

fn unit() -> Unit {
    Unit::Count("findings".into())
}

fn table(audits: &[AuditSummary]) -> Table {
    let words = ["began (UTC)", "of"].map(Column::from);
    let counts = COUNTED.map(|state| Column::of(state.name(), unit()));
    let mut table = Table::new("", words.into_iter().chain(counts))
        .captioned("Findings of each audit, by what they say.");
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

// SPDX-License-Identifier: Apache-2.0
//! The values of an audit as rows, tables and charts.

use lab_document::{Axis, BarRow, Bars, Cell, Chart, Drawing, Quantity, Row, Scale, Table};
use lab_model::Unit;
use lab_model::audit::{Audit, AuditFinding, EvidenceBars, EvidenceTable, EvidenceValue};
use lab_model::{Direction, Metric};

/// Returns the rows of all findings.
pub fn rows(audit: &Audit, run: &str) -> Vec<Row> {
    let findings = audit.findings.iter();
    findings
        .flat_map(|finding| finding_rows(audit, run, finding))
        .collect()
}

/// Returns one row for the state of a finding, and one row for each number on which the finding is
/// based.
pub(super) fn finding_rows(audit: &Audit, run: &str, finding: &AuditFinding) -> Vec<Row> {
    let state = row(audit, run, finding);
    let numbers = finding.evidence.iter().filter_map(|evidence| {
        let EvidenceValue::Number(value, unit) = &evidence.value else {
            return None;
        };
        let metric = Metric {
            id: evidence.name.clone().into(),
            title: evidence.name.replace('_', " ").into(),
            unit: unit.clone(),
            better: Direction::Neither,
        };
        Some(Row {
            metric,
            value: Some(Quantity::exact(*value, unit.clone())),
            note: String::new(),
            ..state.clone()
        })
    });
    std::iter::once(state.clone()).chain(numbers).collect()
}

/// Converts a table of evidence to a table of the document.
pub fn table(evidence: &EvidenceTable) -> Table {
    let mut table = Table::new("", evidence.columns.iter().cloned());
    table.caption = evidence.caption.clone();
    for row in &evidence.rows {
        table.row(row.iter().map(cell).collect());
    }
    table
}

/// Converts a value to a cell.
pub fn cell(value: &EvidenceValue) -> Cell {
    match value {
        EvidenceValue::Number(number, unit) => Quantity::exact(*number, unit.clone()).into(),
        EvidenceValue::Word(word) => word.as_str().into(),
        EvidenceValue::Nothing => "–".into(),
    }
}

/// Converts bars of evidence to a bar chart with one color.
pub fn chart(bars: &EvidenceBars) -> Chart {
    let row = |(name, length): &(String, f64)| {
        BarRow::new(name, 0, Quantity::exact(*length, bars.unit.clone()))
    };
    Chart {
        id: "audit".into(),
        title: bars.title.clone(),
        caption: bars.caption.clone(),
        drawing: Drawing::Bars(Bars::whole(
            Axis::new(bars.axis.clone(), bars.unit.clone(), Scale::Linear),
            bars.rows.iter().map(row),
        )),
    }
}

pub(super) fn seen_and_cost(finding: &AuditFinding) -> String {
    format!("{} {}", finding.seen, finding.cost)
        .trim()
        .to_owned()
}

/// Returns the machine-readable row for a finding.
pub(super) fn row(audit: &Audit, run: &str, finding: &AuditFinding) -> Row {
    let metric = lab_model::Metric::new(
        "state",
        "state",
        Unit::Count("findings".into()),
        lab_model::Direction::Neither,
    );
    Row {
        target: audit.kind.name().into(),
        case: finding.rule.clone(),
        verdict: finding.state.name().replace(' ', "-"),
        note: seen_and_cost(finding),
        ..Row::new(run, &finding.place, metric)
    }
}

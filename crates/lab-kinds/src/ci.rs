// SPDX-License-Identifier: Apache-2.0
//! The document about all entries that `benchlab ci` measured and judged.

use lab_document::{Answer, Cell, Document, Finding, Gate, Row, Section, Table, Tone, say};
use lab_model::{Decision, GateEffect, Metric};

/// An entry of `benchlab.toml` that was measured or judged, or that failed.
#[derive(Clone, Debug)]
pub struct CiPart {
    /// The entry's name.
    pub name: String,
    /// The entry's report, or a message that explains why the entry failed.
    pub result: Result<Document, String>,
}

impl CiPart {
    fn gates(&self) -> &[Gate] {
        match &self.result {
            Ok(document) => &document.gates,
            Err(_) => &[],
        }
    }

    /// Returns the worst decision of the entry's gates, or `None` if the entry has no gates.
    fn decision(&self) -> Option<Decision> {
        self.gates().iter().map(|gate| gate.decision).max()
    }

    fn effect(&self) -> Option<GateEffect> {
        let effects = self.gates().iter().map(|gate| gate.effect);
        self.result.as_ref().ok()?;
        Some(effects.max().unwrap_or(GateEffect::Pass))
    }
}

/// Builds the document about all entries: the number of entries that passed, a table of the values
/// before and after, all gates, and each entry's own report.
pub fn document(parts: &[CiPart], base: Option<&str>, made: String) -> Document {
    let mut document = Document {
        title: "Continuous integration".into(),
        question: match base {
            Some(base) => format!("Is the head slower than its base, {base}?"),
            None => "Does everything pass its gates?".into(),
        },
        made,
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer: Answer {
            headline: headline(parts),
            table: Some(table(parts)).filter(|table| !table.rows.is_empty()),
            ..Answer::default()
        },
        source: "All samples are in the run files.".into(),
        ..Document::default()
    };
    let failed = parts.iter().filter_map(|part| {
        let reason = part.result.as_ref().err()?;
        let label = part.name.clone();
        Some(Finding::new(label, reason.clone(), Tone::Alarm))
    });
    document.answer.findings.extend(failed);
    for part in parts {
        let Ok(own) = &part.result else { continue };
        let gates = own.gates.iter().map(|gate| Gate {
            name: format!("{}: {}", part.name, gate.name),
            ..gate.clone()
        });
        document.gates.extend(gates);
        document.rows.extend(own.rows.iter().map(|row| Row {
            case: match (parts.len(), row.case.as_str()) {
                (1, case) => case.into(),
                (_, "") => part.name.clone(),
                (_, case) => format!("{}: {case}", part.name),
            },
            ..row.clone()
        }));
        document.issues.extend(own.issues.iter().cloned());
        document.section(section(&part.name, own));
    }
    document
}

/// Formats the number of entries that passed, and the names of the entries that did not pass.
fn headline(parts: &[CiPart]) -> String {
    let named = |is_meant: &dyn Fn(&CiPart) -> bool| -> Vec<&str> {
        let meant = parts.iter().filter(|part| is_meant(part));
        meant.map(|part| part.name.as_str()).collect()
    };
    let groups = [
        (
            named(&|part| part.decision() == Some(Decision::Failed)),
            "failed",
        ),
        (named(&|part| part.result.is_err()), "could not be measured"),
        (
            named(&|part| part.decision() == Some(Decision::Inconclusive)),
            "inconclusive",
        ),
    ];
    let others: Vec<String> = groups
        .iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, word)| format!("{word}: {}", say::list(names)))
        .collect();
    let passed = parts.iter().filter(|part| {
        let is_open = matches!(
            part.decision(),
            Some(Decision::Failed | Decision::Inconclusive)
        );
        part.effect().is_some() && !is_open
    });
    let passed = passed.count();
    match others.is_empty() {
        true => format!(
            "All {} passed.",
            say::count(parts.len(), "entry").replace("entrys", "entries")
        ),
        false => format!("{passed} of {} passed; {}.", parts.len(), others.join("; ")),
    }
}

/// Builds the table of comparisons: the value before, the value after, the ratio, the verdict.
fn table(parts: &[CiPart]) -> Table {
    let columns = [
        "entry", "metric", "base", "head", "ratio", "verdict", "gate",
    ];
    let mut table = Table::new("", columns);
    for part in parts {
        let Ok(document) = &part.result else { continue };
        let gate = part.decision().map_or("", Decision::name);
        for row in document.rows.iter().filter(|row| is_compared(row)) {
            let base = document.rows.iter().find(|other| {
                other.role == "baseline"
                    && (&other.case, &other.params, &other.target, &other.metric)
                        == (&row.case, &row.params, &row.target, &row.metric)
            });
            let params = row.params.iter().map(say::parameter);
            let params: Vec<String> = params.collect();
            let name = match params.as_slice() {
                [] => part.name.clone(),
                params => format!("{} at {}", part.name, params.join(" ")),
            };
            let verdict = row.verdict.replace('-', " ");
            let tone = match row.verdict.as_str() {
                "slower" => Tone::Worse,
                "faster" => Tone::Better,
                "inconclusive" => Tone::Inconclusive,
                _ => Tone::Plain,
            };
            table.row(vec![
                name.into(),
                row.metric.title.to_string().into(),
                base.and_then(|base| base.value.clone()).into(),
                row.value.clone().into(),
                row.ratio.clone().into(),
                Cell::from(verdict).with_tone(tone),
                gate.into(),
            ]);
        }
    }
    table
}

/// Returns true for a value that has a verdict relative to the baseline.
fn is_compared(row: &Row) -> bool {
    let is_own = row.role.is_empty() && !row.case.is_empty();
    is_own
        && !row.is_gate()
        && row.ratio.is_some()
        && (row.metric == Metric::WALL || !row.verdict.is_empty())
}

/// Builds the section with an entry's own report.
fn section(name: &str, own: &Document) -> Section {
    let mut section = Section::folded(name);
    let (headline, findings) = own.answer.split();
    section.text(headline);
    if let Some(table) = own.answer.table.clone() {
        section.table(table);
    }
    section.chart(own.answer.chart.clone());
    findings
        .into_iter()
        .for_each(|finding| section.push(finding));
    for text in [&own.answer.undecided, &own.answer.omitted] {
        section.text(text.clone().unwrap_or_default());
    }
    own.sections
        .iter()
        .cloned()
        .for_each(|inner| section.section(inner));
    section
}

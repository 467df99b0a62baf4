// SPDX-License-Identifier: Apache-2.0
//! Two audits of one kind: which findings changed their state, and which figures moved.

use super::{evidence, question, tone};
use crate::document::{Answer, Cell, Document, Finding as Sentence, Row, Section, Table, Tone};
use crate::kind::say;
use lab_model::Run;
use lab_model::audit::{Audit, EvidenceValue, Finding, State};

/// What a report on two audits is made from.
pub struct ChangedReport<'a> {
    /// The runs that hold them, the earlier first.
    pub runs: [&'a Run; 2],
    /// The audits.
    pub audits: [&'a Audit; 2],
    /// Where the files are.
    pub files: [&'a str; 2],
}

/// A rule and a thing in both.
struct Pair<'a> {
    before: Option<&'a Finding>,
    after: Option<&'a Finding>,
}

impl Pair<'_> {
    fn any(&self) -> &Finding {
        let any = self.after.or(self.before);
        any.expect("a pair has one of both")
    }

    fn states(&self) -> [Option<State>; 2] {
        [self.before, self.after].map(|finding| finding.map(|f| f.state))
    }

    /// Whether it became better, worse or only different.
    fn tone(&self) -> Tone {
        let rank = |state: Option<State>| match state {
            Some(State::Bad) => 2,
            Some(State::Advice) => 1,
            _ => 0,
        };
        let [before, after] = self.states();
        let seen = before != Some(State::Unknown) && after != Some(State::Unknown);
        match rank(after).cmp(&rank(before)) {
            _ if !seen => Tone::Undecided,
            std::cmp::Ordering::Less => Tone::Better,
            std::cmp::Ordering::Greater => Tone::Worse,
            std::cmp::Ordering::Equal => Tone::Plain,
        }
    }
}

/// What changed from the first audit to the second.
pub fn document(report: &ChangedReport) -> Document {
    let [before, after] = report.audits;
    let pairs = pairs(before, after);
    let changed: Vec<&Pair> = pairs
        .iter()
        .filter(|p| p.states()[0] != p.states()[1])
        .collect();
    let minutes = report.runs.map(|run| say::minute(run.started_unix_s));
    let mut document = Document {
        title: format!("Two audits: {}", question(after.kind)),
        question: "What changed from the first audit to the second?".into(),
        made: format!("{} and {} UTC", minutes[0], minutes[1]),
        lab_version: report.runs[1].lab_version.clone(),
        answer: answer(report, &changed),
        source: format!("{} hold all findings.", say::list(&report.files)),
        rows: rows(report),
        ..Document::default()
    };
    let mut states = Section::new("Findings that changed");
    states.table(states_table(&changed));
    document.section(states);
    let mut figures = Section::new("Figures that changed");
    figures.table(figures_table(&pairs));
    document.section(figures);
    document
}

/// By rule and thing, in the order of the second.
fn pairs<'a>(before: &'a Audit, after: &'a Audit) -> Vec<Pair<'a>> {
    let same = |a: &Finding, b: &Finding| a.rule == b.rule && a.place == b.place;
    let known = |finding: &'a Finding, of: &'a Audit| of.findings.iter().find(|f| same(f, finding));
    let mut pairs: Vec<Pair> = after
        .findings
        .iter()
        .map(|finding| Pair {
            before: known(finding, before),
            after: Some(finding),
        })
        .collect();
    let gone = before
        .findings
        .iter()
        .filter(|finding| known(finding, after).is_none());
    pairs.extend(gone.map(|finding| Pair {
        before: Some(finding),
        after: None,
    }));
    pairs
}

fn answer(report: &ChangedReport, changed: &[&Pair]) -> Answer {
    let [before, after] = report.audits;
    let counts = |state: State| {
        format!(
            "{} to {} {}",
            before.count(state),
            after.count(state),
            state.name()
        )
    };
    let mut findings = vec![Sentence {
        label: "Findings".into(),
        text: format!(
            "from {} and from {}.",
            counts(State::Bad),
            counts(State::Advice)
        ),
        tone: Tone::Plain,
    }];
    if before.targets != after.targets {
        findings.push(Sentence {
            label: "Not the same".into(),
            text: format!(
                "{} was audited first, then {}.",
                before.targets.join(", "),
                after.targets.join(", ")
            ),
            tone: Tone::Undecided,
        });
    }
    for (wanted, label) in [(Tone::Worse, "Worse"), (Tone::Better, "Better")] {
        let of: Vec<&&Pair> = changed
            .iter()
            .filter(|pair| pair.tone() == wanted)
            .collect();
        let told = of.iter().take(4).map(|pair| {
            let finding = pair.any();
            format!("{} ({}): {}", finding.rule, finding.place, finding.seen)
        });
        let told: Vec<String> = told.collect();
        if !told.is_empty() {
            findings.push(Sentence {
                label: format!("{label}, {}", of.len()),
                text: told.join(" "),
                tone: wanted,
            });
        }
    }
    if changed.is_empty() {
        findings.push(super::plain("No finding changed its state."));
    }
    let unseen = changed
        .iter()
        .filter(|pair| pair.tone() == Tone::Undecided)
        .count();
    Answer {
        chart: None,
        findings,
        undecided: (unseen > 0).then(|| {
            format!(
                "{} could be seen in one of both only.",
                say::count(unseen, "finding")
            )
        }),
    }
}

fn states_table(changed: &[&Pair]) -> Table {
    let mut table = Table::new("", ["rule", "of", "before", "after", "seen after"])
        .captioned("Findings whose state changed.");
    for pair in changed {
        let finding = pair.any();
        let [before, after] = pair.states();
        let cell = |state: Option<State>| match state {
            Some(state) => Cell::from(state.name()).toned(tone(state)),
            None => Cell::from("not there"),
        };
        let seen = pair.after.map_or("–", |f| f.seen.as_str());
        table.row(vec![
            finding.rule.as_str().into(),
            finding.place.as_str().into(),
            cell(before),
            cell(after),
            seen.into(),
        ]);
    }
    table
}

fn figures_table(pairs: &[Pair]) -> Table {
    let mut table = Table::new("", ["figure", "of", "before", "after"])
        .captioned("Figures that both audits have.");
    let mut told: Vec<(&str, &str)> = Vec::new();
    for pair in pairs {
        let (Some(before), Some(after)) = (pair.before, pair.after) else {
            continue;
        };
        for now in &after.evidence {
            let then = before.evidence.iter().find(|e| e.name == now.name);
            let Some(then) = then.filter(|then| then.value != now.value) else {
                continue;
            };
            // Several rules look at one figure.
            if told.contains(&(now.name.as_str(), after.place.as_str())) {
                continue;
            }
            told.push((&now.name, &after.place));
            table.row(vec![
                now.name.replace('_', " ").into(),
                after.place.as_str().into(),
                value(&then.value),
                value(&now.value),
            ]);
        }
    }
    table
}

fn value(value: &EvidenceValue) -> Cell {
    evidence::cell(value)
}

fn rows(report: &ChangedReport) -> Vec<Row> {
    let sides = report.audits.iter().zip(report.runs);
    sides
        .flat_map(|(audit, run)| evidence::rows(audit, &run.name))
        .collect()
}

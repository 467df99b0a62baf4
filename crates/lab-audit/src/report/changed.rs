// SPDX-License-Identifier: Apache-2.0
//! The report on two audits of the same kind: findings whose state changed, values that changed,
//! and findings that are in only one audit.

use super::document::tone;
use super::evidence;
use crate::gate::WorseCondition;
use crate::wording;
use lab_document::say;
use lab_document::{Answer, Cell, Document, Finding, Gate, Row, Section, Table, Tone};
use lab_model::Run;
use lab_model::audit::{Audit, AuditFinding, State};
use std::collections::HashMap;

/// The input of the report on two audits.
pub struct ChangedReport<'a> {
    /// The runs that contain the audits, earlier run first.
    pub runs: [&'a Run; 2],
    /// The audits, in the order of the runs.
    pub audits: [&'a Audit; 2],
    /// The paths of the run files.
    pub files: [&'a str; 2],
}

/// The maximum number of names in a sentence.
const MAX_NAMED: usize = 4;

/// The findings of both audits for the same rule and object.
struct JudgedInBoth<'a> {
    before: &'a AuditFinding,
    after: &'a AuditFinding,
    /// The position of the object among the objects with the same name.
    namesake: usize,
}

/// Pairs of findings that are in both audits, and the findings that are in only one audit.
struct ComparedAudits<'a> {
    pairs: Vec<JudgedInBoth<'a>>,
    alone: [Vec<&'a AuditFinding>; 2],
}

impl JudgedInBoth<'_> {
    fn states(&self) -> [State; 2] {
        [self.before.state, self.after.state]
    }

    /// Returns the tone for an improvement, a deterioration, no change or an unknown change.
    fn tone(&self) -> Tone {
        let rank = |state: State| match state {
            State::Bad => 2,
            State::Advice => 1,
            _ => 0,
        };
        let [before, after] = self.states();
        let are_known = before.is_seen() && after.is_seen();
        match rank(after).cmp(&rank(before)) {
            _ if !are_known => Tone::Inconclusive,
            std::cmp::Ordering::Less => Tone::Better,
            std::cmp::Ordering::Greater => Tone::Worse,
            std::cmp::Ordering::Equal => Tone::Plain,
        }
    }
}

/// Builds the document about the changes from the first audit to the second.
pub fn document(report: &ChangedReport) -> Document {
    let [before, after] = report.audits;
    let compared = compare(before, after);
    let pairs = compared.pairs.iter();
    let changed: Vec<&JudgedInBoth> = pairs.filter(|p| p.before.state != p.after.state).collect();
    let mut document = Document {
        title: wording::changed_title(after.kind),
        question: wording::CHANGED_QUESTION.into(),
        made: wording::changed_made(report.runs.map(|run| run.started_unix_s)),
        benchlab_version: report.runs[1].benchlab_version.clone(),
        answer: answer(report, &changed, &compared.alone),
        source: wording::changed_source(report.files),
        rows: rows(report, &compared.alone),
        ..Document::default()
    };
    let sections = [
        (wording::CHANGED, states_table(&changed)),
        (wording::ALONE, alone_table(&compared.alone)),
        (wording::FIGURES, figures_table(&compared.pairs)),
    ];
    for (title, table) in sections {
        document.section(Section::from_table(title, table));
    }
    document
}

/// Judges conditions on the findings that are worse in the second audit. Bad findings that only the
/// second audit has count, too.
pub fn gates(report: &ChangedReport, conditions: &[WorseCondition]) -> Vec<Gate> {
    let [before, after] = report.audits;
    let compared = compare(before, after);
    let pairs = compared.pairs.iter();
    let worse =
        pairs.filter(|pair| after.waiver(pair.after).is_none() && pair.tone() == Tone::Worse);
    let new = compared.alone[1]
        .iter()
        .filter(|f| after.is_open(f, State::Bad));
    let worse: Vec<&AuditFinding> = worse.map(|p| p.after).chain(new.copied()).collect();
    conditions
        .iter()
        .map(|condition| condition.judge(&worse))
        .collect()
}

/// Pairs findings by rule and object, in the order of the second audit.
fn compare<'a>(before: &'a Audit, after: &'a Audit) -> ComparedAudits<'a> {
    let [first, second] = [before, after].map(|audit| objects(audit, [before, after]));
    let find = |all: &[ObjectFinding<'a>], judged: &ObjectFinding| {
        let mut all = all.iter();
        all.find(|other| other.is_same_object(judged))
            .map(|other| other.finding)
    };
    let pair = |judged: &ObjectFinding<'a>| {
        Some(JudgedInBoth {
            before: find(&first, judged)?,
            after: judged.finding,
            namesake: judged.namesake,
        })
    };
    let only = |all: &[ObjectFinding<'a>], other: &[ObjectFinding<'a>]| -> Vec<&'a AuditFinding> {
        let alone = all.iter().filter(|judged| find(other, judged).is_none());
        alone.map(|judged| judged.finding).collect()
    };
    ComparedAudits {
        pairs: second.iter().filter_map(pair).collect(),
        alone: [only(&first, &second), only(&second, &first)],
    }
}

/// A finding about an object.
///
/// Different objects can have the same name, because the names of URLs are shortened and do not
/// contain values.
struct ObjectFinding<'a> {
    /// The name of the object. It is empty if the finding covers the whole audit.
    object: &'a str,
    /// The position of the object among the objects with the same name, for the same rule.
    namesake: usize,
    finding: &'a AuditFinding,
}

impl ObjectFinding<'_> {
    /// Returns true if a finding of the other audit is for the same rule and object.
    fn is_same_object(&self, other: &ObjectFinding) -> bool {
        self.finding.rule == other.finding.rule
            && self.object == other.object
            && self.namesake == other.namesake
    }
}

/// Returns an audit's findings about objects.
///
/// If a rule has a finding about multiple objects in either audit, only its first finding in the
/// worst state is returned, because the lists of names may differ between the audits.
fn objects<'a>(audit: &'a Audit, audits: [&Audit; 2]) -> Vec<ObjectFinding<'a>> {
    let together = |rule: &str| {
        let mut all = audits.iter().flat_map(|audit| &audit.findings);
        all.any(|f| f.rule == rule && is_list(f))
    };
    let worst = |finding: &AuditFinding| {
        let same = audit.findings.iter().filter(|f| f.rule == finding.rule);
        let worst = same.min_by_key(|f| f.state);
        worst.is_some_and(|worst| std::ptr::eq(worst, finding))
    };
    let object = |finding: &'a AuditFinding| {
        let object = finding.place.as_str();
        let nothing = finding.state == State::NotApplicable && object.is_empty();
        match (nothing, together(&finding.rule)) {
            (true, _) => None,
            (_, true) => worst(finding).then_some(""),
            (_, false) if audit.targets == [object] => Some(""),
            (_, false) => Some(object),
        }
    };
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let number = |finding: &'a AuditFinding| {
        let object = object(finding)?;
        let count = counts.entry((&finding.rule, object)).or_default();
        let namesake = *count;
        *count += 1;
        Some(ObjectFinding {
            object,
            namesake,
            finding,
        })
    };
    audit.findings.iter().filter_map(number).collect()
}

/// Returns true if a finding is about multiple objects.
fn is_list(finding: &AuditFinding) -> bool {
    let mut evidence = finding.evidence.iter();
    // Files of earlier versions call the objects `things`.
    evidence.any(|evidence| ["objects", "things"].contains(&evidence.name.as_str()))
}

fn answer(
    report: &ChangedReport,
    changed: &[&JudgedInBoth],
    alone: &[Vec<&AuditFinding>; 2],
) -> Answer {
    let mut findings = vec![counts(report.audits)];
    findings.extend(other_targets(report.audits));
    for (tone, label) in [
        (Tone::Worse, wording::WORSE),
        (Tone::Better, wording::BETTER),
    ] {
        let chosen = changed.iter().filter(|pair| pair.tone() == tone);
        let chosen: Vec<&AuditFinding> = chosen.map(|pair| pair.after).collect();
        let shown = chosen.iter().take(MAX_NAMED);
        let text = say::paragraph(shown.map(|finding| wording::changed_finding(finding)));
        let label = wording::counted_label(label, chosen.len());
        findings.extend(text.map(|text| Finding::new(label, text, tone)));
    }
    if changed.is_empty() {
        findings.push(Finding::plain(wording::NO_CHANGE));
    }
    findings.extend(in_one(alone));
    let unseen = changed
        .iter()
        .filter(|pair| pair.tone() == Tone::Inconclusive)
        .count();
    Answer {
        chart: None,
        findings,
        undecided: (unseen > 0).then(|| wording::seen_in_one(unseen)),
        ..Answer::default()
    }
}

fn counts([before, after]: [&Audit; 2]) -> Finding {
    let counts = [State::Bad, State::Advice];
    let counts = counts.map(|state| (state, [before.count(state), after.count(state)]));
    Finding::new(wording::FINDINGS, wording::counts(counts), Tone::Plain)
}

fn other_targets([before, after]: [&Audit; 2]) -> Option<Finding> {
    (before.targets != after.targets).then(|| {
        let text = wording::other_targets([&before.targets, &after.targets]);
        Finding::new(wording::OTHER_TARGETS, text, Tone::Inconclusive)
    })
}

/// Describes the findings about objects that only one audit checked.
fn in_one(alone: &[Vec<&AuditFinding>; 2]) -> Option<Finding> {
    let named = |(side, findings): (&str, &Vec<&AuditFinding>)| {
        let names = say::distinct(findings.iter().map(|f| f.place.as_str()));
        let (shown, more) = names.split_at(names.len().min(MAX_NAMED));
        (!names.is_empty()).then(|| wording::only_in(side, shown, more.len()))
    };
    let sides = wording::SIDES.into_iter().zip(alone);
    let sides: Vec<String> = sides.filter_map(named).collect();
    let all = alone.iter().map(Vec::len).sum::<usize>();
    let text = wording::in_one_only(&sides);
    let label = wording::counted_label(wording::ALONE, all);
    (all > 0).then(|| Finding::new(label, text, Tone::Inconclusive))
}

fn states_table(changed: &[&JudgedInBoth]) -> Table {
    let mut table = Table::new("", wording::CHANGED_COLUMNS).with_caption(wording::CHANGED_CAPTION);
    for pair in changed {
        let cell = |state: State| Cell::from(state.name()).with_tone(tone(state));
        let [before, after] = pair.states().map(cell);
        table.row(vec![
            pair.after.rule.as_str().into(),
            pair.after.place.as_str().into(),
            before,
            after,
            pair.after.seen.as_str().into(),
        ]);
    }
    table
}

fn alone_table(alone: &[Vec<&AuditFinding>; 2]) -> Table {
    let mut table = Table::new("", wording::ALONE_COLUMNS).with_caption(wording::ALONE_CAPTION);
    for (side, findings) in wording::SIDES.into_iter().zip(alone) {
        for finding in findings {
            table.row(vec![
                side.into(),
                finding.rule.as_str().into(),
                finding.place.as_str().into(),
                Cell::from(finding.state.name()).with_tone(tone(finding.state)),
                finding.seen.as_str().into(),
            ]);
        }
    }
    table
}

fn figures_table(pairs: &[JudgedInBoth]) -> Table {
    let mut table = Table::new("", wording::FIGURES_COLUMNS).with_caption(wording::FIGURES_CAPTION);
    let mut listed: Vec<(&str, &str, usize)> = Vec::new();
    for JudgedInBoth {
        before,
        after,
        namesake,
    } in pairs
    {
        for now in &after.evidence {
            let then = before.evidence.iter().find(|e| e.name == now.name);
            let Some(then) = then.filter(|then| then.value != now.value) else {
                continue;
            };
            // Multiple rules can use the same value.
            let value = (now.name.as_str(), after.place.as_str(), *namesake);
            if listed.contains(&value) {
                continue;
            }
            listed.push(value);
            table.row(vec![
                now.name.replace('_', " ").into(),
                after.place.as_str().into(),
                evidence::cell(&then.value),
                evidence::cell(&now.value),
            ]);
        }
    }
    table
}

/// Returns the rows of both audits.
///
/// Rows about objects that only one audit checked have the parameter `looked-at`.
fn rows(report: &ChangedReport, alone: &[Vec<&AuditFinding>; 2]) -> Vec<Row> {
    let sides = report.audits.iter().zip(report.runs).zip(alone);
    let marked_rows = |((audit, run), alone): ((&&Audit, &Run), &Vec<&AuditFinding>)| {
        let finding_rows = |finding: &AuditFinding| {
            let in_one = alone.iter().any(|f| std::ptr::eq(*f, finding));
            let params = in_one.then(|| ("looked-at".to_owned(), "in-one-only".to_owned()));
            let params: Vec<(String, String)> = params.into_iter().collect();
            let rows = evidence::finding_rows(audit, &run.name, finding).into_iter();
            let marked = rows.map(move |row| Row {
                params: params.clone(),
                ..row
            });
            marked.collect::<Vec<Row>>()
        };
        let rows = audit.findings.iter().flat_map(finding_rows);
        rows.collect::<Vec<Row>>()
    };
    sides.flat_map(marked_rows).collect()
}

// SPDX-License-Identifier: Apache-2.0
//! The document of an audit.

use super::evidence::{self, seen_and_cost};
use crate::wording;
use lab_document::format::text::clean;
use lab_document::say;
use lab_document::{
    Answer, Document, Finding, Issue, Item, Location, Section, Severity, Table, Tone,
};
use lab_model::audit::{Audit, AuditFinding, Fix, State, Waiver};
use serde_json::Value as Json;

/// The input of the report on an audit.
pub struct AuditReport<'a> {
    /// The audit that the report is about.
    pub audit: &'a Audit,
    /// The run's name. May be empty.
    pub run: &'a str,
    /// The start time of the audit, in seconds since 1970.
    pub made_unix_s: f64,
    /// The version of benchlab that made the audit.
    pub benchlab_version: &'a str,
    /// The run file, or `None` if the audit was not saved.
    pub file: Option<&'a str>,
}

/// Sanitizes all texts of an audit, because they may come from servers and files.
///
/// Sanitized texts cannot move a terminal's cursor or change the writing direction in any output
/// format.
///
/// # Errors
///
/// Returns an error if a number is not finite.
pub fn harmless(audit: &Audit) -> serde_json::Result<Audit> {
    fn harmless(json: &mut Json) {
        match json {
            Json::String(text) => *text = clean(text),
            Json::Array(all) => all.iter_mut().for_each(harmless),
            Json::Object(all) => all.values_mut().for_each(harmless),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    let mut json = serde_json::to_value(audit)?;
    harmless(&mut json);
    serde_json::from_value(json)
}

/// Builds the document of an audit.
pub fn document(report: &AuditReport) -> Document {
    let audit = report.audit;
    let mut document = Document {
        title: wording::title(audit.kind, &audit.targets),
        question: wording::question(audit.kind).into(),
        made: wording::made(report.made_unix_s),
        benchlab_version: report.benchlab_version.into(),
        answer: answer(audit),
        source: report
            .file
            .map_or(wording::NOT_KEPT.into(), wording::kept_in),
        kept: report.file.is_some(),
        rows: evidence::rows(audit, report.run),
        issues: issues(audit),
        ..Document::default()
    };
    document.section(waiver_notes(audit));
    document.section(findings(wording::BAD, audit, State::Bad));
    document.section(findings(wording::ADVICE, audit, State::Advice));
    document.section(Section::from_table(
        wording::UNCHECKED,
        finding_table(audit, State::Unknown, wording::WHY),
    ));
    document.section(Section::from_table(
        wording::ACCEPTED,
        accepted_table(audit),
    ));
    for table in &audit.tables {
        document.section(Section::from_table(&table.title, evidence::table(table)));
    }
    document.section(others(wording::GOOD, audit, State::Good, wording::OBSERVED));
    document.section(others(
        wording::NOT_APPLICABLE,
        audit,
        State::NotApplicable,
        wording::WHY,
    ));
    let mut about = Section::folded(wording::ABOUT);
    if !audit.facts.is_empty() {
        about.push(Item::Facts(audit.facts.clone()));
    }
    document.section(about);
    document
}

/// Returns the problems and the advice, for formats that list problems.
fn issues(audit: &Audit) -> Vec<Issue> {
    let issue = |finding: &&AuditFinding| {
        let severity = match finding.state {
            State::Bad => Severity::Warning,
            State::Advice => Severity::Notice,
            State::Unknown | State::Good | State::NotApplicable => return None,
        };
        let fix = to_do(&finding.fixes);
        let parts = [&finding.seen, &finding.cost, &fix].map(String::as_str);
        let parts: Vec<&str> = parts.into_iter().filter(|text| !text.is_empty()).collect();
        Some(Issue {
            rule: finding.rule.clone(),
            title: finding.title.clone(),
            text: parts.join(" "),
            severity,
            object: finding.place.clone(),
            location: location(&finding.place),
            source: finding.source.clone(),
            waived: audit.waiver(finding).map(wording::accepted_until),
        })
    };
    audit.findings.iter().filter_map(|f| issue(&f)).collect()
}

/// Parses a location such as `/etc/nginx/nginx.conf:12` into a file and a line.
fn location(object: &str) -> Option<Location> {
    let (file, line) = object.rsplit_once(':')?;
    let line = line.parse().ok().filter(|line| *line > 0);
    (file.contains('/') && line.is_some()).then(|| Location {
        file: file.to_owned(),
        line,
    })
}

/// Returns the first screen: the number of findings in each state, and every rule that needs attention.
fn answer(audit: &Audit) -> Answer {
    if audit.count(State::NotApplicable) == audit.findings.len()
        && audit.accepted().next().is_none()
    {
        let reasons = say::distinct(audit.findings.iter().map(|f| f.seen.as_str()));
        return Answer {
            findings: vec![Finding::plain(reasons.join(" "))],
            undecided: unknown_findings(audit),
            ..Answer::default()
        };
    }
    let rules = say::grouped(worst(audit).into_iter().map(|f| (f.rule.as_str(), f)));
    Answer {
        headline: wording::summary(|state| audit.count(state), audit.accepted().count()),
        chart: audit.chart.as_ref().map(evidence::chart),
        findings: rules
            .iter()
            .map(|(_, same)| sentence(audit, same))
            .collect(),
        undecided: unknown_findings(audit),
        ..Answer::default()
    }
}

/// Returns the bad findings followed by the advice, each ordered by importance.
fn worst(audit: &Audit) -> Vec<&AuditFinding> {
    let is_problem =
        |f: &&AuditFinding| audit.is_open(f, State::Bad) || audit.is_open(f, State::Advice);
    let mut worst: Vec<&AuditFinding> = audit.findings.iter().filter(is_problem).collect();
    worst.sort_by(|a, b| a.state.cmp(&b.state).then(b.weight.cmp(&a.weight)));
    worst
}

/// Describes the findings of a rule by the worst finding: its label, observation, cost and fix.
fn sentence(audit: &Audit, same: &[&AuditFinding]) -> Finding {
    let first = same[0];
    let same = same.iter().filter(|f| f.state == first.state);
    let more = same.count() - 1;
    let parts = [first.seen.clone(), first.cost.clone(), to_do(&first.fixes)];
    let parts: Vec<String> = parts.into_iter().filter(|text| !text.is_empty()).collect();
    // If all findings are about the same object, the audit's title already names it.
    let is_known = first.seen.contains(&first.place) || audit.targets == [first.place.as_str()];
    let label = wording::label(first, is_known, more);
    Finding::new(label, parts.join(" "), tone(first.state))
}

/// Returns the first command or configuration line of each fix. If there are fixes for multiple
/// kinds of servers, names these servers instead of showing their lines.
///
/// The text is empty if the fixes contain only advice in words.
fn to_do(fixes: &[Fix]) -> String {
    let (for_all, servers): (Vec<&Fix>, Vec<&Fix>) = fixes.iter().partition(|f| f.of.is_empty());
    let mut commands: Vec<String> = for_all.into_iter().map(first_line).collect();
    commands.push(match servers.as_slice() {
        [] => String::new(),
        [one] => first_line(one),
        all => {
            let names: Vec<&str> = all.iter().map(|fix| fix.of.as_str()).collect();
            wording::lines_for(&names)
        }
    });
    commands.retain(|text| !text.is_empty());
    commands.join(" ")
}

fn first_line(fix: &Fix) -> String {
    let mut lines = fix.lines.iter().map(|line| line.trim());
    let line = lines.find(|line| !line.starts_with('#'));
    line.map_or(String::new(), |line| wording::to_do(&fix.of, line))
}

pub(super) fn tone(state: State) -> Tone {
    match state {
        State::Bad => Tone::Worse,
        State::Good => Tone::Better,
        State::Unknown => Tone::Inconclusive,
        State::Advice | State::NotApplicable => Tone::Plain,
    }
}

/// The maximum number of reasons for unchecked rules on the first screen. The details show all of
/// them.
const MAX_REASONS: usize = 3;

/// Lists the rules that could not be checked. Includes the reasons if there are few.
fn unknown_findings(audit: &Audit) -> Option<String> {
    let unknown = audit
        .findings
        .iter()
        .filter(|f| audit.is_open(f, State::Unknown));
    let reasons = say::grouped(unknown.map(|f| (f.seen.as_str(), f.rule.as_str())));
    if reasons.len() > MAX_REASONS {
        let rules = reasons.into_iter().flat_map(|(_, rules)| rules);
        return Some(wording::many_unknown(&say::distinct(rules)));
    }
    say::paragraph(reasons.into_iter().map(|(reason, mut rules)| {
        rules.dedup();
        wording::unknown(&rules, reason)
    }))
}

/// Builds the section on all findings in a state, with their costs and fixes.
fn findings(title: &str, audit: &Audit, state: State) -> Section {
    let mut section = Section::new(title);
    let ranked = worst(audit).into_iter().filter(|f| f.state == state);
    // If multiple objects violate a rule, the objects share one section with all fixes.
    for (_, same) in say::grouped(ranked.map(|f| (f.rule.as_str(), f))) {
        section.section(rule_section(&same));
    }
    section
}

/// Builds the section on the findings of one rule.
fn rule_section(same: &[&AuditFinding]) -> Section {
    let first = same[0];
    let mut section = Section::new(first.title.clone());
    for finding in same {
        section.push(Finding::new(
            finding.place.clone(),
            seen_and_cost(finding),
            tone(finding.state),
        ));
    }
    section.text(wording::why(&first.why));
    let fixes = say::grouped(
        same.iter()
            .flat_map(|f| &f.fixes)
            .map(|fix| (fix.of.as_str(), fix)),
    );
    for (of, fixes) in fixes {
        if !of.is_empty() {
            section.text(wording::for_server(of));
        }
        let lines = fixes.iter().flat_map(|fix| &fix.lines).cloned();
        section.push(Item::Log(say::distinct(lines)));
    }
    let mut facts = vec![(wording::RULE.to_owned(), first.rule.clone())];
    let see = Some(&first.see).filter(|see| !see.is_empty());
    facts.extend(see.map(|see| (wording::HOW_TO_CHECK.to_owned(), see.clone())));
    facts.push((wording::SOURCE.to_owned(), first.source.clone()));
    section.push(Item::Facts(facts));
    section
}

/// Builds the section on expired waivers and on waivers that cover no finding.
fn waiver_notes(audit: &Audit) -> Section {
    let mut section = Section::new(wording::WAIVERS);
    let covers = |waiver: &Waiver| audit.findings.iter().any(|finding| waiver.covers(finding));
    for waiver in &audit.expired_waivers {
        let text = wording::expired(waiver);
        section.push(Finding::new("", text, Tone::Alarm));
    }
    for waiver in audit.waivers.iter().filter(|waiver| !covers(waiver)) {
        let text = wording::covers_nothing(waiver);
        section.push(Finding::new("", text, Tone::Alarm));
    }
    section
}

/// Builds the table of the findings that are accepted under a waiver.
fn accepted_table(audit: &Audit) -> Table {
    let columns = [
        wording::RULE,
        wording::OBJECT,
        wording::OBSERVED,
        wording::REASON,
        wording::UNTIL,
    ];
    let mut table = Table::new("", columns).with_caption(wording::ACCEPTED_CAPTION);
    for (finding, waiver) in audit.accepted() {
        let observed = format!("{}: {}", finding.state.name(), finding.seen);
        let cells = [
            finding.rule.clone(),
            finding.place.clone(),
            observed,
            waiver.reason.clone(),
            waiver.until.clone(),
        ];
        table.row(cells.into_iter().map(Into::into).collect());
    }
    table
}

fn others(title: &str, audit: &Audit, state: State, last: &str) -> Section {
    let mut section = Section::folded(title);
    section.table(finding_table(audit, state, last));
    section
}

fn finding_table(audit: &Audit, state: State, last: &str) -> Table {
    let mut table = Table::new("", [wording::RULE, wording::OBJECT, last])
        .with_caption(wording::FINDINGS_CAPTION);
    for finding in audit.findings.iter().filter(|f| audit.is_open(f, state)) {
        let object = if finding.place.is_empty() {
            wording::NO_PLACE.into()
        } else {
            finding.place.clone()
        };
        let cells = [finding.title.clone(), object, finding.seen.clone()];
        table.row(cells.into_iter().map(Into::into).collect());
    }
    table
}

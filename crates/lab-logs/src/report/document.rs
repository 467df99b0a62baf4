// SPDX-License-Identifier: Apache-2.0
//! The document of an analysis of logs.

use super::input::{
    Analyses, Capacity, FIGURES, LogsReport, figure, kind_name, made, shown, stated_assumptions,
};
use super::{changed, pages, when, within};
use crate::analysis::capacity::headroom;
use crate::analysis::changes::changes;
use crate::analysis::pareto::ranking;
use crate::analysis::week::spikes;
use crate::analysis::{self, gate};
use crate::finding::{CapacityProblem, LogsFinding};
use crate::format::is_log_format;
use crate::wording;
use lab_document::say;
use lab_document::{Answer, Document, Item, Row, Section};
use lab_model::{Counts, LineCounts, LogAnalysis, LogAssumption, LogPage, PageKind, Run, Unit};
use lab_stats::results::results;
use std::time::Duration;

/// Builds the document of a run of logs.
pub fn document(report: &LogsReport) -> Document {
    let LogsReport { run, analysis, .. } = report;
    let log = Analyses {
        analysis,
        pages: ranking(analysis, PageKind::Page),
        queries: ranking(analysis, PageKind::Query),
        spikes: spikes(analysis),
        changes: changes(analysis),
        capacity: report.capacity,
    };
    let mut document = Document {
        title: format!("Logs: {}", sources(analysis)),
        question: wording::QUESTIONS[0].into(),
        made: made(run),
        benchlab_version: run.benchlab_version.clone(),
        answer: answer(&log),
        source: wording::source(report.file),
        kept: report.file.is_some(),
        rows: rows(run, analysis),
        ..Document::default()
    };
    let sections = [
        warnings(analysis),
        pages::section(log.pages.as_ref(), "Pages"),
        pages::section(log.queries.as_ref(), "Queries"),
        within::section(analysis),
        when::section(&log),
        changed::section(&log),
        headroom_section(&log),
        pages::others(analysis),
        reading(run, &log),
    ];
    sections
        .into_iter()
        .for_each(|section| document.section(section));
    document
}

/// Returns the names of the logs: `access.log and 6 others`.
fn sources(analysis: &LogAnalysis) -> String {
    let names = analysis.sources.iter().map(|source| source.name.as_str());
    wording::sources(&names.collect::<Vec<_>>())
}

fn answer(log: &Analyses) -> Answer {
    let first = log.pages.as_ref().or(log.queries.as_ref());
    let malformed = malformed(log.analysis);
    let Some(ranking) = first else {
        let omitted = advice(log.analysis).map(|finding| wording::sentence(&finding));
        return Answer {
            headline: wording::sentence(&LogsFinding::NoRequests),
            findings: malformed.iter().map(shown).collect(),
            omitted: say::paragraph(omitted),
            ..Answer::default()
        };
    };
    // Facts that the headline depends on follow directly after the headline.
    let mut findings: Vec<LogsFinding> = assumed(log.analysis).collect();
    let is_notable = |lines: &LineCounts| analysis::is_notable(lines.malformed, lines.all);
    findings.extend(malformed.filter(|_| is_notable(&log.analysis.lines)));
    let first_facts = findings.len();
    if log.pages.is_some() {
        findings.extend(log.queries.as_ref().map(pages::smallest_set));
    }
    findings.extend(within::finding(log.analysis));
    findings.extend(log.capacity.map(Capacity::finding));
    findings.extend(changed::finding(log));
    findings.extend(when::finding(log));
    findings.extend(when::busiest(log));
    findings.extend(pages::orders_finding(ranking));
    findings.truncate(Answer::MAX_FINDINGS + first_facts);
    let too_short = match log.analysis.hours.is_empty() {
        true => LogsFinding::NoTimes,
        false => LogsFinding::TooShort,
    };
    let too_short = ranking.interval.is_none().then_some(too_short);
    let open = too_short.into_iter().chain(when::too_few_weeks(log));
    // A load run measures pages, not the statements of a database.
    let no_capacity =
        (log.capacity.is_none() && log.pages.is_some()).then_some(LogsFinding::NoCapacity);
    let omitted = advice(log.analysis)
        .chain(without_status(log.analysis))
        .chain(within::not_joined(log.analysis))
        .chain(no_capacity);
    Answer {
        headline: wording::sentence(&pages::smallest_set(ranking)),
        table: pages::answer_table(ranking),
        chart: pages::chart(ranking),
        findings: findings.iter().map(shown).collect(),
        undecided: say::paragraph(open.map(|finding| wording::sentence(&finding))),
        omitted: say::paragraph(omitted.map(|finding| wording::sentence(&finding))),
        ..Answer::default()
    }
}

/// Returns the assumptions about the logs.
fn assumed(analysis: &LogAnalysis) -> impl Iterator<Item = LogsFinding> {
    let finding = |assumption: &LogAssumption| LogsFinding::Assumed {
        assumption: assumption.clone(),
        log: None,
    };
    stated_assumptions(analysis).into_iter().map(finding)
}

fn advice(analysis: &LogAnalysis) -> impl Iterator<Item = LogsFinding> {
    let all = analysis.advice.iter().cloned();
    all.map(|advice| LogsFinding::Advice { advice })
}

/// Returns a finding on lines that could not be parsed, if there are any.
fn malformed(analysis: &LogAnalysis) -> Option<LogsFinding> {
    let (lines, of) = (analysis.lines.malformed, analysis.lines.all);
    (lines > 0).then_some(LogsFinding::Malformed { lines, of })
}

/// Returns a finding on requests without a status, or on statements of which it is unknown whether
/// they failed, if there are many.
fn without_status(analysis: &LogAnalysis) -> Option<LogsFinding> {
    let all = gate::together(analysis);
    let (unknown, of) = (all.without_status, all.requests);
    let finding = match all.kind {
        PageKind::Query => LogsFinding::WithoutOutcome {
            statements: unknown,
            of,
        },
        _ => LogsFinding::WithoutStatus {
            requests: unknown,
            of,
        },
    };
    analysis::is_notable(unknown, of).then_some(finding)
}

/// Returns a finding on requests without a duration, if there are only a few. If there are many, an
/// assumption reports them.
fn without_duration(analysis: &LogAnalysis) -> Option<LogsFinding> {
    let all = gate::together(analysis);
    let (missing, of) = gate::untimed(&all);
    let is_such = missing > 0 && all.timed > 0 && !analysis::is_notable(missing, of);
    let finding = match all.kind {
        PageKind::Query => LogsFinding::UntimedStatements {
            statements: missing,
            of,
        },
        _ => LogsFinding::WithoutDuration {
            requests: missing,
            of,
        },
    };
    is_such.then_some(finding)
}

/// Returns a finding if all durations are whole seconds.
fn whole_seconds(analysis: &LogAnalysis) -> Option<LogsFinding> {
    const S: u64 = 1_000_000_000;
    let all = gate::together(analysis);
    let is_whole = |ns: u64| ns.is_multiple_of(S);
    // A value stands for its bucket.
    let near_whole = |ns: u64| {
        let whole = (ns + S / 2) / S * S;
        whole.abs_diff(ns) as f64 <= whole as f64 * analysis.error
    };
    let is_coarse = analysis.resolution_ns.is_some_and(|ns| ns >= S);
    let are_whole = is_whole(all.total_ns)
        && is_whole(all.max_ns)
        && all.times.0.iter().all(|(ns, _)| near_whole(*ns));
    let zeros = all.times.0.iter().filter(|(ns, _)| *ns == 0);
    let zeros: u64 = zeros.map(|(_, count)| count).sum();
    if !is_coarse || all.timed == 0 || !are_whole {
        return None;
    }
    let (mut pages, mut sources) = (analysis.pages.iter(), analysis.sources.iter());
    if pages.all(|page| page.kind == PageKind::Query) {
        return Some(LogsFinding::WholeSecondsOfStatements);
    }
    Some(LogsFinding::WholeSeconds {
        are_mostly_zero: zeros > all.timed / 2,
        is_log_format: sources.any(|source| is_log_format(&source.format)),
    })
}

fn warnings(analysis: &LogAnalysis) -> Section {
    let lines = analysis.lines;
    let too_long = LogsFinding::TooLong {
        lines: lines.too_long,
        of: lines.all,
    };
    let jumps = LogsFinding::ClockJumps {
        times: analysis.clock_jumps,
    };
    let mut pages = analysis.pages.iter();
    let has_long = pages.any(|page| page.max_ns > Counts::MAX_NS);
    let is_sum_capped = gate::together(analysis).is_total_capped();
    let found = [
        malformed(analysis),
        (lines.too_long > 0).then_some(too_long),
        (lines.cut_off > 0).then_some(LogsFinding::CutOff),
        (analysis.clock_jumps > 0).then_some(jumps),
        without_status(analysis),
        without_duration(analysis),
        whole_seconds(analysis),
        has_long.then_some(LogsFinding::LongDurations { is_sum_capped }),
    ];
    let mut section = Section::new("Warnings");
    let warnings = found.into_iter().flatten().chain(advice(analysis));
    let warnings = warnings.chain(within::not_joined(analysis));
    warnings
        .chain(assumed(analysis))
        .for_each(|warning| section.push(shown(&warning)));
    section
}

impl Capacity {
    /// Compares the peak of a log with a run of `benchlab load`, whose file is called `file`.
    ///
    /// Returns an error that names the missing data.
    pub fn new(
        analysis: &LogAnalysis,
        load: &Run,
        file: &str,
        limit: Duration,
    ) -> Result<Capacity, CapacityProblem> {
        if load.plan().and_then(|plan| plan.load()).is_none() {
            return Err(CapacityProblem::NotALoad);
        }
        let limit_ns = limit.as_nanos() as f64;
        Ok(Capacity {
            headroom: headroom(analysis, &results(load), limit_ns)?,
            file: file.into(),
            limit_ns,
        })
    }

    fn finding(&self) -> LogsFinding {
        LogsFinding::Headroom {
            used: self.headroom.used,
            times: self.headroom.times,
            is_lower_bound: !self.headroom.is_known,
            limit_ns: self.limit_ns,
        }
    }
}

fn headroom_section(log: &Analyses) -> Section {
    let mut section = Section::new("Headroom");
    let Some(capacity) = log.capacity else {
        return section;
    };
    let headroom = &capacity.headroom;
    section.push(shown(&capacity.finding()));
    let rate = Unit::PerSecond("requests".into());
    let mut facts = vec![(
        "busiest minute".into(),
        say::reading(headroom.busiest_minute, &rate),
    )];
    if let Some(second) = headroom.busiest_second {
        facts.push(("busiest second".into(), say::reading(second, &rate)));
    }
    facts.extend([
        (
            "capacity".into(),
            say::figure(&headroom.capacity, &rate, headroom.capacity.level),
        ),
        (
            "p99 at the capacity".into(),
            say::time(headroom.p99_ns as u64),
        ),
        ("load run".into(), capacity.file.clone()),
    ]);
    section.push(Item::Facts(facts));
    let assumptions = wording::headroom_assumptions(headroom.is_known);
    section.push(Item::List(assumptions.map(String::from).into()));
    section
}

/// Builds the section on how the log was read.
fn reading(run: &Run, log: &Analyses) -> Section {
    let analysis = log.analysis;
    let mut section = Section::folded("How the log was read");
    let mut facts: Vec<(String, String)> = Vec::new();
    for source in &analysis.sources {
        let lines = say::count(source.lines as usize, "line");
        facts.push((source.name.clone(), format!("{}, {lines}", source.format)));
    }
    if let Some((first, last)) = analysis::span(analysis) {
        facts.push(("from".into(), format!("{} UTC", say::minute(first as f64))));
        facts.push(("to".into(), format!("{} UTC", say::minute(last as f64))));
    }
    let count = |n: u64| say::reading(n as f64, &Unit::Count("".into()));
    facts.push((
        "requests and statements".into(),
        count(analysis.lines.entries),
    ));
    facts.push(("other lines".into(), count(analysis.lines.other)));
    facts.push(("malformed lines".into(), count(analysis.lines.malformed)));
    if analysis.merged_pages > 0 {
        facts.push(("merged pages".into(), count(analysis.merged_pages)));
    }
    section.push(Item::Facts(facts));
    section.text(wording::reading_method(
        analysis.error,
        whole_seconds(analysis).is_some(),
    ));
    if let Some(ranking) = log.pages.as_ref().or(log.queries.as_ref()) {
        section.text(pages::interval_method(ranking));
    }
    section.section(host(run));
    section
}

/// Builds the section on the machine that read the logs.
fn host(run: &Run) -> Section {
    let mut section = Section::folded("The host");
    let facts: Vec<_> = run.host.shown_facts().cloned().collect();
    if !facts.is_empty() {
        section.push(Item::Facts(facts));
    }
    section
}

fn rows(run: &Run, analysis: &LogAnalysis) -> Vec<Row> {
    let mut rows = Vec::new();
    let all = |kind: PageKind| -> u64 {
        analysis
            .pages
            .iter()
            .filter(|p| p.kind == kind)
            .map(|p| p.total_ns)
            .sum()
    };
    let totals = PageKind::ALL.map(|kind| (kind, all(kind)));
    let together = LogPage {
        name: "(all)".into(),
        ..gate::together(analysis)
    };
    for page in std::iter::once(&together).chain(&analysis.pages) {
        let total = totals
            .iter()
            .find(|(kind, _)| *kind == page.kind)
            .map_or(0, |(_, ns)| *ns);
        for metric in &FIGURES {
            if let Some(value) = figure(page, metric, analysis.error, total) {
                rows.push(Row {
                    case: kind_name(page.kind).into(),
                    value: Some(value),
                    ..Row::new(&run.name, &page.name, metric.clone())
                });
            }
        }
    }
    rows
}

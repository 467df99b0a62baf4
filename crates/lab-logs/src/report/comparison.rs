// SPDX-License-Identifier: Apache-2.0
//! The report that compares two runs of logs: the time of each page in both runs, and the change in
//! that time.

use super::input::{kind_name, made, shown, stated_assumptions, time};
use crate::analysis::between::{BetweenLogs, CommonPage, MIN_DAYS_PER_LOG, match_pages};
use crate::finding::{ComparedLog, LogsFinding};
use crate::wording;
use lab_document::say;
use lab_document::{
    Answer, Cell, Chart, Column, Document, Drawing, Finding, Forest, ForestRow, Item, Quantity,
    Row, Scale, Section, Table, Tone,
};
use lab_model::{Interval, LogAnalysis, LogAssumption, LogPage, Metric, Run, Unit};

/// The maximum number of pages in the chart.
const CHARTED: usize = 12;
/// The maximum number of rows in a table.
const ROWS: usize = 40;

/// The input of a report on two runs of logs.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonReport<'a> {
    /// The runs that read the logs, earlier run first.
    pub runs: [&'a Run; 2],
    /// The analyses of the logs.
    pub analyses: [&'a LogAnalysis; 2],
    /// The displayed names of the run files.
    pub files: [&'a str; 2],
}

/// Builds the document on two runs of logs.
pub fn document(report: &ComparisonReport) -> Document {
    let ComparisonReport {
        runs,
        analyses,
        files,
    } = report;
    let logs = match_pages(analyses[0], analyses[1]);
    let known: Vec<(&CommonPage, &Interval)> = logs
        .both
        .iter()
        .filter_map(|b| Some((b, b.ratio.as_ref()?)))
        .collect();
    let assumed = assumed(analyses);
    let mut document = Document {
        title: "Two logs".into(),
        question: wording::QUESTIONS[1].into(),
        made: format!("{} and {}", made(runs[0]), made(runs[1])),
        benchlab_version: runs[1].benchlab_version.clone(),
        answer: answer(&known, &assumed),
        source: format!("{} contain every count.", say::list(files)),
        rows: rows(&runs[1].name, &known),
        ..Document::default()
    };
    let mut warnings = Section::new("Warnings");
    warnings.items.extend(assumed.into_iter().map(Item::from));
    document.section(warnings);
    document.section(Section::from_table("Page by page", table(&logs)));
    let mut alone = Section::new("Only in one log");
    for (which, pages) in ["first", "second"].into_iter().zip(&logs.alone) {
        alone.table(one_log_table(which, pages));
    }
    document.section(alone);
    let mut method = Section::folded("How it was computed");
    method.text(wording::comparison_method());
    document.section(method);
    document
}

/// Returns the assumptions about the logs, each once.
fn assumed(analyses: &[&LogAnalysis; 2]) -> Vec<Finding> {
    let [first, second] = analyses.map(stated_assumptions);
    let finding = |log: ComparedLog, assumption: &LogAssumption| {
        shown(&LogsFinding::Assumed {
            assumption: assumption.clone(),
            log: Some(log),
        })
    };
    let of_first = first.iter().map(|a| {
        let log = if second.contains(a) {
            ComparedLog::Both
        } else {
            ComparedLog::First
        };
        finding(log, a)
    });
    let of_second = second.iter().filter(|a| !first.contains(a));
    let of_second = of_second.map(|a| finding(ComparedLog::Second, a));
    of_first.chain(of_second).collect()
}

/// Returns the tone of a change. A change whose interval has no level is inconclusive.
fn tone(ratio: &Interval) -> Tone {
    match ratio {
        r if r.level > 0.0 && r.high < 1.0 => Tone::Better,
        r if r.level > 0.0 && r.low > 1.0 => Tone::Worse,
        _ => Tone::Inconclusive,
    }
}

/// Charts the known changes of the pages that take the most time.
fn chart(known: &[(&CommonPage, &Interval)]) -> Option<Chart> {
    let row = |(page, ratio): &(&CommonPage, &Interval)| {
        ForestRow::new(&page.pages[0].name, Quantity::ratio(ratio), tone(ratio))
    };
    let rows: Vec<ForestRow> = known.iter().take(CHARTED).map(row).collect();
    (!rows.is_empty()).then(|| Chart {
        id: "changes".into(),
        title: "Typical duration, second / first".into(),
        caption: wording::COMPARISON_CHART.into(),
        drawing: Drawing::Forest(Forest::from_ratios("second / first", Scale::Log, rows)),
    })
}

/// Builds the answer, which begins with `assumed`, the assumptions on which the changes depend.
fn answer(known: &[(&CommonPage, &Interval)], assumed: &[Finding]) -> Answer {
    let mut certain: Vec<&(&CommonPage, &Interval)> = known
        .iter()
        .filter(|(_, r)| tone(r) != Tone::Inconclusive)
        .collect();
    let gain = |page: &CommonPage, ratio: &Interval| {
        page.fractions[0].max(page.fractions[1]) * ratio.estimate.ln().abs()
    };
    certain.sort_by(|a, b| gain(b.0, b.1).total_cmp(&gain(a.0, a.1)));
    let changed = |(page, ratio): &&(&CommonPage, &Interval)| {
        let finding = LogsFinding::PageChanged {
            page: page.pages[0].name.clone(),
            ratio: **ratio,
            shares: page.fractions,
        };
        shown(&finding).with_tone(tone(ratio))
    };
    let mut findings = assumed.to_vec();
    findings.extend(certain.iter().take(3).map(changed));
    if certain.is_empty() && !known.is_empty() {
        findings.push(shown(&LogsFinding::NoneChanged { pages: known.len() }));
    }
    let nothing = || {
        wording::sentence(&LogsFinding::NoCommonDays {
            needed: MIN_DAYS_PER_LOG,
        })
    };
    Answer {
        chart: chart(known),
        findings,
        undecided: known.is_empty().then(nothing),
        ..Answer::default()
    }
}

fn table(logs: &BetweenLogs) -> Table {
    let columns = [
        Column::from("page"),
        Column::with_unit("mean, first", Unit::Nanoseconds),
        Column::with_unit("mean, second", Unit::Nanoseconds),
        Column::with_unit("second / first", Unit::Ratio),
        Column::with_unit("share, first", Unit::Share),
        Column::with_unit("share, second", Unit::Share),
    ];
    let mut table = Table::new("", columns);
    table.caption = wording::COMPARISON_TABLE.into();
    for page in logs.both.iter().take(ROWS) {
        let ratio = page
            .ratio
            .as_ref()
            .map(|r| Cell::from(Quantity::ratio(r)).with_tone(tone(r)));
        table.row(vec![
            page.pages[0].name.as_str().into(),
            time(page.pages[0].mean_ns()),
            time(page.pages[1].mean_ns()),
            ratio.unwrap_or_default(),
            Quantity::exact(page.fractions[0], Unit::Share).into(),
            Quantity::exact(page.fractions[1], Unit::Share).into(),
        ]);
    }
    table.without_empty_columns()
}

fn one_log_table(which: &str, pages: &[&LogPage]) -> Table {
    let columns = [
        Column::from("page"),
        "kind".into(),
        Column::with_unit("requests", Unit::Count("requests".into())),
        Column::with_unit("mean", Unit::Nanoseconds),
    ];
    let mut table =
        Table::new(format!("Only in the {which} log"), columns).with_caption(wording::ALONE_TABLE);
    for page in pages.iter().take(ROWS / 2) {
        table.row(vec![
            page.name.as_str().into(),
            kind_name(page.kind).into(),
            Quantity::count(page.requests, "requests").into(),
            time(page.mean_ns()),
        ]);
    }
    table
}

fn rows(run: &str, known: &[(&CommonPage, &Interval)]) -> Vec<Row> {
    let row = |(page, ratio): &(&CommonPage, &Interval)| Row {
        case: kind_name(page.pages[0].kind).into(),
        ratio: Some(Quantity::ratio(ratio)),
        ..Row::new(run, &page.pages[0].name, Metric::P50)
    };
    known.iter().map(row).collect()
}

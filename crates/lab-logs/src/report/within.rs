// SPDX-License-Identifier: Apache-2.0
//! Queries within pages, of logs that share ids: how often a request of a page runs them, and which are run for each of
//! many rows.

use super::pages::shortened;
use super::time;
use lab_document::say;
use lab_document::{Cell, Column, Finding, Quantity, Section, Table, Tone};
use lab_model::{JoinCoverage, LogAnalysis, QueryWithin, Unit};

/// A query that a request runs so often is run in a loop.
const MIN_LOOP: f64 = 10.0;
/// Rows of the table.
const ROWS: usize = 40;

/// Executions in a request of the page, on average.
fn per_request(within: &QueryWithin) -> f64 {
    within.executions as f64 / within.requests.max(1) as f64
}

/// The part of the requests' time that the query takes; `None`: it is not known.
fn share(within: &QueryWithin) -> Option<f64> {
    let is_known = within.page_ns > 0 && within.total_ns > 0;
    is_known.then(|| within.total_ns as f64 / within.page_ns as f64)
}

/// The query that is run in a loop and takes most time.
pub fn finding(analysis: &LogAnalysis) -> Option<Finding> {
    let looped = analysis
        .within
        .iter()
        .filter(|within| per_request(within) >= MIN_LOOP);
    let most = looped.max_by_key(|within| (within.total_ns, within.executions))?;
    let share = share(most).map_or(String::new(), |share| {
        format!(
            ", {} of its time",
            say::percent((share * 100.0).round() / 100.0)
        )
    });
    let sample = sample(analysis).map_or(String::new(), |sample| format!(", {sample}"));
    let text = format!(
        "{} runs `{}` {:.0} times per request{share}{sample}.",
        shortened(&most.page),
        shortened(&most.query),
        per_request(most),
    );
    Some(Finding::new("N+1", text, Tone::Alarm))
}

/// How many ids were looked at; `None`: all.
fn sample(analysis: &LogAnalysis) -> Option<String> {
    let one_in = analysis.coverage.one_in;
    (one_in > 1).then(|| format!("joined from a sample of 1 in {one_in} request ids"))
}

/// What is not joined although it has an id that both logs have, a sentence each.
pub fn left_out(analysis: &LogAnalysis) -> Vec<String> {
    let JoinCoverage {
        outside,
        shared,
        crowded,
        ..
    } = analysis.coverage;
    let outside_text = || {
        format!(
            "Not joined: {} that ran before or after the request with the same id. A connection can keep the id of an earlier \
             request; if most are missing, the clocks or zones of the logs differ.",
            say::count(outside as usize, "statement"),
        )
    };
    let shared_text = || {
        format!(
            "Not joined: {} whose id another request has, too, so that nobody knows which of them ran the statements with it.",
            say::count(shared as usize, "request"),
        )
    };
    let crowded_text = || {
        format!(
            "Not joined: {} with more than 10,000 different statements and seconds.",
            say::count(crowded as usize, "request id"),
        )
    };
    let outside = (outside > 0).then(outside_text);
    outside
        .into_iter()
        .chain((shared > 0).then(shared_text))
        .chain((crowded > 0).then(crowded_text))
        .collect()
}

/// The queries of each page, those that take most first.
pub fn section(analysis: &LogAnalysis) -> Section {
    let mut section = Section::new("Queries within pages");
    let columns = vec![
        "page".into(),
        "query".into(),
        Column::of("requests", Unit::Count("requests".into())),
        Column::from("per request"),
        Column::of("total", Unit::Nanoseconds),
        Column::of("share", Unit::Share),
    ];
    let mut table = Table::new("", columns);
    let sample = sample(analysis).map_or(String::new(), |sample| format!(", {sample}"));
    table.caption = format!(
        "Requests and statements that have the same id in their logs{sample}. Share: the part of these requests' time."
    );
    for within in analysis.within.iter().take(ROWS) {
        table.row(vec![
            within.page.as_str().into(),
            within.query.as_str().into(),
            Quantity::count(within.requests, "requests").into(),
            format!("{:.1}", per_request(within)).into(),
            time((within.total_ns > 0).then_some(within.total_ns as f64)),
            share(within).map_or(Cell::default(), |share| {
                Quantity::exact(share, Unit::Share).into()
            }),
        ]);
    }
    section.table(table.without_empty_columns());
    section.items.extend(finding(analysis).map(Into::into));
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_joins_cover_is_said() {
        let within = QueryWithin {
            page: "/orders".into(),
            query: "SELECT ?".into(),
            requests: 10,
            executions: 520,
            ..QueryWithin::default()
        };
        let mut analysis = LogAnalysis {
            within: vec![within],
            ..LogAnalysis::default()
        };
        let text = |analysis: &LogAnalysis| finding(analysis).expect("a finding").text;
        assert_eq!(
            text(&analysis),
            "/orders runs `SELECT ?` 52 times per request."
        );
        assert_eq!(left_out(&analysis), [] as [String; 0]);
        analysis.coverage = JoinCoverage {
            one_in: 8,
            outside: 1,
            shared: 3,
            crowded: 2,
        };
        assert_eq!(
            text(&analysis),
            "/orders runs `SELECT ?` 52 times per request, joined from a sample of 1 in 8 request ids."
        );
        let sentences = left_out(&analysis);
        assert!(sentences[0].starts_with("Not joined: 1 statement that ran before or after"));
        assert!(sentences[1].starts_with("Not joined: 3 requests whose id another request has"));
        assert!(sentences[2].starts_with("Not joined: 2 request ids with more than 10,000"));
    }
}

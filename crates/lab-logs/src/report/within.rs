// SPDX-License-Identifier: Apache-2.0
//! The report's section on queries within pages, for logs that share IDs.
//!
//! The section shows how often a request of a page runs each query, and which queries run in a loop
//! over many rows.

use super::input::{shown, time};
use crate::finding::LogsFinding;
use crate::query;
use crate::wording;
use lab_document::{Cell, Column, Quantity, Section, Table};
use lab_model::{JoinCoverage, LogAnalysis, QueryWithin, Unit};
use std::collections::HashMap;

/// The minimum number of executions per request that suggests a loop.
const MIN_LOOP: f64 = 10.0;
/// The maximum number of rows in the table.
const ROWS: usize = 40;

/// Returns the average number of executions per request of the page.
fn per_request(within: &QueryWithin) -> f64 {
    within.executions as f64 / within.requests.max(1) as f64
}

/// Returns the fraction of the requests' time that the query takes, or `None` if unknown.
fn time_fraction(within: &QueryWithin) -> Option<f64> {
    let is_known = within.page_ns > 0 && within.total_ns > 0;
    is_known.then(|| within.total_ns as f64 / within.page_ns as f64)
}

/// Returns the queries within pages. The time of a phase of the extended protocol is added to the
/// time of its statement.
fn with_phases(analysis: &LogAnalysis) -> Vec<QueryWithin> {
    let mut all: Vec<QueryWithin> = Vec::new();
    let mut known: HashMap<(&str, String), usize> = HashMap::new();
    let is_phase = |within: &&QueryWithin| !query::split_phase(&within.query).0.is_empty();
    let (phases, statements): (Vec<_>, Vec<_>) = analysis.within.iter().partition(is_phase);
    for within in statements.into_iter().chain(phases) {
        let (phase, statement) = query::split_phase(&within.query);
        let index = *known
            .entry((within.page.as_str(), query::key(statement)))
            .or_insert(all.len());
        match all.get_mut(index) {
            Some(same) if !phase.is_empty() => {
                same.total_ns = same.total_ns.saturating_add(within.total_ns);
            }
            _ => all.push(QueryWithin {
                query: statement.into(),
                ..within.clone()
            }),
        }
    }
    all
}

/// Returns the finding on the query that takes the most time among the queries that run in a loop.
pub fn finding(analysis: &LogAnalysis) -> Option<LogsFinding> {
    let all = with_phases(analysis);
    let looped = all.iter().filter(|within| per_request(within) >= MIN_LOOP);
    let most = looped.max_by_key(|within| (within.total_ns, within.executions))?;
    Some(LogsFinding::RepeatedQuery {
        page: most.page.clone(),
        query: most.query.clone(),
        per_request: per_request(most),
        share: time_fraction(most),
        one_in: analysis.coverage.one_in,
    })
}

/// Returns findings on statements and requests that were not joined, although statements and
/// requests have IDs.
pub fn not_joined(analysis: &LogAnalysis) -> Vec<LogsFinding> {
    let JoinCoverage {
        outside: statements,
        shared: requests,
        crowded: ids,
        unmatched,
        ..
    } = analysis.coverage;
    let outside = (statements > 0).then_some(LogsFinding::StatementsOutside { statements });
    let shared = (requests > 0).then_some(LogsFinding::SharedIds { requests });
    let crowded = (ids > 0).then_some(LogsFinding::CrowdedIds { ids });
    let unmatched = (unmatched > 0).then_some(LogsFinding::UnmatchedIds {
        statements: unmatched,
    });
    [outside, shared, crowded, unmatched]
        .into_iter()
        .flatten()
        .collect()
}

/// Builds the section on each page's queries, sorted by time.
pub fn section(analysis: &LogAnalysis) -> Section {
    let mut section = Section::new("Queries within pages");
    let columns = vec![
        "page".into(),
        "query".into(),
        Column::with_unit("requests", Unit::Count("requests".into())),
        Column::from("per request"),
        Column::with_unit("total", Unit::Nanoseconds),
        Column::with_unit("share", Unit::Share),
    ];
    let mut table = Table::new("", columns);
    table.caption = wording::within_table(analysis.coverage.one_in);
    for within in analysis.within.iter().take(ROWS) {
        table.row(vec![
            within.page.as_str().into(),
            within.query.as_str().into(),
            Quantity::count(within.requests, "requests").into(),
            format!("{:.1}", per_request(within)).into(),
            time((within.total_ns > 0).then_some(within.total_ns as f64)),
            time_fraction(within).map_or(Cell::default(), |share| {
                Quantity::exact(share, Unit::Share).into()
            }),
        ]);
    }
    section.table(table.without_empty_columns());
    section
        .items
        .extend(finding(analysis).map(|f| shown(&f).into()));
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Dialect;

    #[test]
    fn the_coverage_of_joins_is_reported() {
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
        let text = |analysis: &LogAnalysis| wording::sentence(&finding(analysis).expect("one"));
        assert_eq!(
            text(&analysis),
            "/orders runs `SELECT ?` 52 times per request."
        );
        assert_eq!(not_joined(&analysis), []);
        analysis.coverage = JoinCoverage {
            one_in: 8,
            outside: 1,
            shared: 3,
            crowded: 2,
            unmatched: 0,
        };
        assert_eq!(
            text(&analysis),
            "/orders runs `SELECT ?` 52 times per request (in a sample of 1 in 8 request IDs)."
        );
        assert_eq!(
            not_joined(&analysis),
            [
                LogsFinding::StatementsOutside { statements: 1 },
                LogsFinding::SharedIds { requests: 3 },
                LogsFinding::CrowdedIds { ids: 2 },
            ]
        );
    }

    #[test]
    fn phases_of_a_statement_are_named_by_the_statement() {
        let within = |query: &str, total_ns| QueryWithin {
            page: "/orders".into(),
            query: query.into(),
            requests: 10,
            executions: 520,
            total_ns,
            page_ns: 1_000,
        };
        let long = format!(
            "select {} from t where id=$1",
            vec!["column"; 40].join(", ")
        );
        for statement in ["SELECT 1", &long] {
            let name = |phase: &str| {
                query::fold(
                    format!("{phase}{statement}").as_bytes(),
                    Dialect::Postgresql,
                )
            };
            let all = vec![
                within(&name("parse: "), 100),
                within(&name("bind: "), 200),
                within(&name(""), 200),
            ];
            for within in [all.clone(), all[..2].to_vec()] {
                let found = finding(&LogAnalysis {
                    within: within.clone(),
                    ..LogAnalysis::default()
                });
                let time = 0.3 + 0.2 * (within.len() - 2) as f64;
                let Some(LogsFinding::RepeatedQuery { query, share, .. }) = found else {
                    panic!("{found:?}");
                };
                assert_eq!(query::key(&query), query::key(&name("")));
                assert_eq!(share, Some(time));
            }
        }
    }
}

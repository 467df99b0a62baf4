// SPDX-License-Identifier: Apache-2.0
//! How the ratios of an experiment or a comparison came out from run to run.

use super::{count, encoded, minute, page, values};
use crate::app::App;
use crate::library::{Entry, Library};
use crate::problem::Problem;
use axum::extract::{Path, RawQuery, State};
use axum::response::Html;
use lab_report::kind::history::document;
use lab_report::{RunSummary, clean, format::html::body};
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// Runs in a history, unless another number is asked for.
const RUNS: usize = 30;

/// What there are histories of.
pub async fn names(State(app): State<App>) -> Result<Html<String>, Problem> {
    app.blocking(|library| {
        let mut names: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for entry in library.entries() {
            if let Some((name, began)) = named(&entry) {
                names.entry(name).or_default().push(began);
            }
        }
        let content = html! {
            header { h1 { "History" } p class="about" { "How ratios came out from run to run" } }
            main {
                @if names.is_empty() { p { "There are no runs yet." } }
                ul class="runs" {
                    @for (name, began) in &names {
                        li { div {
                            h2 { a href={ "/history/" (encoded(name)) } { (clean(name)) } }
                            p class="about" { (count(began.len(), "run")) " · the last on " (minute(began[0])) }
                        } }
                    }
                }
            }
        };
        Ok(page("History", &html! {}, content))
    })
    .await
}

/// One of them, of all subjects or of those that are asked for.
pub async fn history(
    State(app): State<App>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let query = query.unwrap_or_default();
    let wanted: Vec<String> = values(&query, "subject")
        .into_iter()
        .filter(|s| !s.is_empty())
        .collect();
    let last = values(&query, "last").first().and_then(|n| n.parse().ok());
    let last = last.unwrap_or(RUNS).clamp(1, 1000);
    app.blocking(move |library| {
        let runs = pasts(library, &name, last)?;
        let document = document(&name, &runs, &wanted);
        let report = body(&document).map_err(|e| Problem::broken(e.to_string()))?;
        let actions = choice(&runs, &wanted, last);
        Ok(page(&document.title, &actions, PreEscaped(report)))
    })
    .await
}

/// The latest runs of a name that can be read, the oldest of them first.
fn pasts(library: &Library, name: &str, last: usize) -> Result<Vec<RunSummary>, Problem> {
    let entries = library.entries().into_iter();
    let entries: Vec<Entry> = entries
        .filter(|e| named(e).is_some_and(|(known, _)| known == name))
        .collect();
    if entries.is_empty() {
        return Err(Problem::missing(format!(
            "there are no runs of `{name}` here"
        )));
    }
    let past = |entry: &Entry| library.past(&entry.name).ok().flatten();
    let mut runs: Vec<RunSummary> = entries
        .iter()
        .filter_map(past)
        .take(last)
        .map(|past| (*past).clone())
        .collect();
    runs.reverse();
    Ok(runs)
}

fn named(entry: &Entry) -> Option<(String, f64)> {
    let heading = entry.heading.as_ref().ok()?;
    Some((heading.experiment.clone()?, heading.started_unix_s))
}

/// Which subjects, and how many runs.
fn choice(runs: &[RunSummary], wanted: &[String], last: usize) -> Markup {
    let mut subjects: Vec<&str> = runs.iter().flat_map(RunSummary::subjects).collect();
    subjects.sort_unstable();
    subjects.dedup();
    html! {
        form class="actions" method="get" {
            @if subjects.len() > 1 {
                label for="app-subject" { "Subject" }
                select id="app-subject" name="subject" {
                    option value="" { "all" }
                    @for subject in subjects {
                        option value=(subject) selected[wanted.iter().any(|w| w == subject)] { (clean(subject)) }
                    }
                }
            }
            label for="app-last" { "Latest runs" }
            input id="app-last" type="number" name="last" min="1" max="1000" value=(last);
            button { "Show" }
        }
    }
}

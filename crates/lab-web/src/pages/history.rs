// SPDX-License-Identifier: Apache-2.0
//! Shows how the ratios of an experiment or a comparison changed from run to run.

use super::{count, minute, page, percent_encode, values};
use crate::app::App;
use crate::library::{RunEntry, RunLibrary};
use crate::problem::Problem;
use axum::extract::{Path, RawQuery, State};
use axum::response::Html;
use lab_document::{clean, format::html::body};
use lab_kinds::{RunSummary, history as document};
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// The default number of runs in a history.
const RUNS: usize = 30;

/// Lists the names that have a history.
pub async fn names(State(app): State<App>) -> Result<Html<String>, Problem> {
    app.blocking(|library| {
        let mut names: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for entry in library.entries() {
            if let Some((name, began)) = name_and_start(&entry) {
                names.entry(name).or_default().push(began);
            }
        }
        let content = html! {
            header { h1 { "History" } p class="about" { "Ratios from run to run" } }
            main {
                @if names.is_empty() { p { "There are no runs yet." } }
                ul class="runs" {
                    @for (name, began) in &names {
                        li { div {
                            h2 { a href={ "/history/" (percent_encode(name)) } { (clean(name)) } }
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

/// Shows the history of all runs with one name. The query can limit the history to some subjects.
pub async fn history(
    State(app): State<App>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let query = query.unwrap_or_default();
    let chosen_subjects: Vec<String> = values(&query, "subject")
        .into_iter()
        .filter(|s| !s.is_empty())
        .collect();
    let last = values(&query, "last").first().and_then(|n| n.parse().ok());
    let last = last.unwrap_or(RUNS).clamp(1, 1000);
    app.blocking(move |library| {
        let runs = latest_runs(library, &name, last)?;
        let document = document(&name, &runs, &chosen_subjects, &[]);
        let report = body(&document).map_err(|e| Problem::broken(e.to_string()))?;
        let actions = choice_form(&runs, &chosen_subjects, last);
        Ok(page(&document.title, &actions, PreEscaped(report)))
    })
    .await
}

/// Returns the latest readable runs with the name `name`, oldest first. The result contains at most
/// `last` runs.
fn latest_runs(library: &RunLibrary, name: &str, last: usize) -> Result<Vec<RunSummary>, Problem> {
    let entries = library.entries().into_iter();
    let entries: Vec<RunEntry> = entries
        .filter(|e| name_and_start(e).is_some_and(|(experiment, _)| experiment == name))
        .collect();
    if entries.is_empty() {
        return Err(Problem::missing(format!(
            "there are no runs of `{name}` here"
        )));
    }
    let run_summary = |entry: &RunEntry| library.run_summary(&entry.name).ok().flatten();
    let mut runs: Vec<RunSummary> = entries
        .iter()
        .filter_map(run_summary)
        .take(last)
        .map(|run_summary| (*run_summary).clone())
        .collect();
    runs.reverse();
    Ok(runs)
}

fn name_and_start(entry: &RunEntry) -> Option<(String, f64)> {
    let heading = entry.heading.as_ref().ok()?;
    Some((heading.experiment.clone()?, heading.started_unix_s))
}

/// Renders a form to choose subjects and the number of runs.
fn choice_form(runs: &[RunSummary], chosen_subjects: &[String], last: usize) -> Markup {
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
                        option value=(subject) selected[chosen_subjects.iter().any(|w| w == subject)] { (clean(subject)) }
                    }
                }
            }
            label for="app-last" { "Latest runs" }
            input id="app-last" type="number" name="last" min="1" max="1000" value=(last);
            button { "Show" }
        }
    }
}

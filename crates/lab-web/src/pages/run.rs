// SPDX-License-Identifier: Apache-2.0
//! Shows the report of a run, with the actions that are available for it.

use super::export::formats;
use super::live::live_page;
use super::runs::title;
use super::{minute, page, percent_encode, run_path};
use crate::app::App;
use crate::library::{RunEntry, RunLibrary, RunState};
use crate::problem::Problem;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Html;
use lab_document::Document;
use lab_document::format::html::body;
use maud::{Markup, PreEscaped, html};

/// The maximum number of other runs of the same experiment that are offered for a comparison.
const OFFERED: usize = 100;

/// Serves the page of a run with its report.
pub async fn report(
    State(app): State<App>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<Html<String>, Problem> {
    let may_delete = app.guard.token_of(&headers).is_some();
    app.blocking(move |library| {
        let entry = library.find(&run)?;
        if entry.heading.is_err() && entry.state == RunState::Measured {
            let begun =
                html! { header { h1 { (title(&entry)) } } main { p { "The run has just started." } } };
            return Ok(page(&run, &html! {}, live_page(&entry, begun)));
        }
        if let (Err(reason), true) = (&entry.heading, may_delete) {
            let content =
                html! { header { h1 { (title(&entry)) } } main { p role="alert" { (reason) } } };
            return Ok(page(&run, &delete(&run), content));
        }
        let document = library.document(&run)?;
        let actions = actions(library, &entry, &document, may_delete);
        let report = PreEscaped(body(&document).map_err(|e| Problem::broken(e.to_string()))?);
        let content = match entry.state {
            RunState::Measured => live_page(&entry, report),
            _ => report,
        };
        Ok(page(&title(&entry), &actions, content))
    })
    .await
}

fn actions(
    library: &RunLibrary,
    entry: &RunEntry,
    document: &Document,
    may_delete: bool,
) -> Markup {
    let Some(heading) = entry.heading.as_ref().ok() else {
        return html! {};
    };
    let is_same_experiment = |other: &RunEntry| {
        let other_heading = other.heading.as_ref().ok();
        other.name != entry.name
            && other_heading.is_some_and(|h| h.experiment == heading.experiment)
    };
    let others: Vec<RunEntry> = match heading.experiment {
        Some(_) => library
            .entries()
            .into_iter()
            .filter(is_same_experiment)
            .take(OFFERED)
            .collect(),
        None => Vec::new(),
    };
    html! {
        div class="actions" {
            @if let Some(name) = &heading.experiment {
                a href={ "/history/" (percent_encode(name)) } { "History of " (lab_document::clean(name)) }
            }
            @if !others.is_empty() { (compare(entry, &others)) }
            (export(&entry.name, document))
            @if may_delete { (delete(&entry.name)) }
        }
    }
}

fn compare(entry: &RunEntry, others: &[RunEntry]) -> Markup {
    html! {
        form action="/diff" method="get" {
            input type="hidden" name="run" value=(entry.name);
            label for="app-other" { "Compare with" }
            select id="app-other" name="run" {
                @for other in others { option value=(other.name) { (option_label(other)) } }
            }
            button { "Compare" }
        }
    }
}

fn option_label(entry: &RunEntry) -> String {
    let began = entry.heading.as_ref().map_or(0.0, |h| h.started_unix_s);
    format!("{} ({})", minute(began), lab_document::clean(&entry.name))
}

fn export(run: &str, document: &Document) -> Markup {
    html! {
        details class="menu" {
            summary { "Export" }
            ul {
                @for format in formats().filter(|format| format.suits(document)) {
                    li { a href=(run_path(run, &format!("/export/{}", format.name))) download { (format.title) } }
                }
                li { a href=(run_path(run, "/file")) download { "The run file, with every sample" } }
            }
        }
    }
}

fn delete(run: &str) -> Markup {
    html! { a href={ "/delete?run=" (percent_encode(run)) } { "Delete…" } }
}

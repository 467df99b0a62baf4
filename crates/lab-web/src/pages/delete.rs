// SPDX-License-Identifier: Apache-2.0
//! Deletes runs after a confirmation, for users who have the token.

use super::runs::title;
use super::{count, page, values};
use crate::app::App;
use crate::guard::TOKEN;
use crate::problem::Problem;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{Html, Redirect};
use lab_document::clean;
use maud::html;

/// The maximum number of runs that one request can delete.
const MAX_RUNS: usize = 500;

/// Asks for confirmation before deleting runs.
pub async fn ask(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Html<String>, Problem> {
    let token = app
        .guard
        .token_of(&headers)
        .ok_or_else(no_token)?
        .to_owned();
    let runs = chosen_runs(&query.unwrap_or_default())?;
    app.blocking(move |library| {
        let entries: Vec<_> = runs.iter().map(|run| library.find(run)).collect::<Result<_, _>>()?;
        let content = html! {
            header { h1 { "Delete " (count(entries.len(), "run")) "?" } }
            main {
                p { "Every sample of " (if entries.len() == 1 { "it" } else { "them" }) " will be lost. This cannot be undone." }
                ul { @for entry in &entries { li { strong { (title(entry)) } " " span class="note" { (clean(&entry.name)) ".lab" } } } }
                form action="/delete" method="post" class="actions" {
                    input type="hidden" name=(TOKEN) value=(token);
                    @for entry in &entries { input type="hidden" name="run" value=(entry.name); }
                    button class="danger" { "Delete" }
                    a href="/" { "Keep" }
                }
            }
        };
        Ok(page("Delete", &html! {}, content))
    })
    .await
}

/// Deletes runs.
///
/// The form must also contain the token, because a browser sends the cookie even if another site
/// caused the request.
pub async fn delete(
    State(app): State<App>,
    headers: HeaderMap,
    form: String,
) -> Result<Redirect, Problem> {
    let token = values(&form, TOKEN);
    let has_form_token = token.first().is_some_and(|token| app.guard.is_token(token));
    if app.guard.token_of(&headers).is_none() || !has_form_token {
        return Err(no_token());
    }
    let runs = chosen_runs(&form)?;
    app.blocking(move |library| runs.iter().try_for_each(|run| library.delete(run)))
        .await?;
    Ok(Redirect::to("/"))
}

fn chosen_runs(query: &str) -> Result<Vec<String>, Problem> {
    let mut runs = values(query, "run");
    runs.sort();
    runs.dedup();
    match runs.len() {
        0 => Err(Problem::wrong("no run is selected: go back and select one")),
        1..=MAX_RUNS => Ok(runs),
        _ => Err(Problem::wrong(format!(
            "at most {MAX_RUNS} runs can be deleted in one request"
        ))),
    }
}

fn no_token() -> Problem {
    Problem::forbidden(
        "to delete runs, open the address with the token that `benchlab serve` printed",
    )
}

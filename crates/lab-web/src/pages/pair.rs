// SPDX-License-Identifier: Apache-2.0
//! Compares two runs. The page shows the same document as `benchlab diff A.lab B.lab`.

use super::{page, percent_encode, run_path, values};
use crate::app::App;
use crate::problem::Problem;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use lab_document::{clean, format::html::body};
use maud::{PreEscaped, html};

/// Compares two runs, the later run with the earlier one.
///
/// With `order=given`, compares the second run of the query with the first.
pub async fn diff(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let query = query.unwrap_or_default();
    let runs = values(&query, "run");
    let keeps_order = values(&query, "order").iter().any(|order| order == "given");
    let Ok([a, b]) = <[String; 2]>::try_from(runs) else {
        return Err(Problem::wrong(
            "a comparison needs two runs: go back and choose two",
        ));
    };
    app.blocking(move |library| {
        let mut entries = [library.find(&a)?, library.find(&b)?];
        if !keeps_order {
            let began =
                |e: &crate::library::RunEntry| e.heading.as_ref().map_or(0.0, |h| h.started_unix_s);
            entries.sort_by(|a, b| began(a).total_cmp(&began(b)));
        }
        let [first, second] = entries.map(|entry| entry.name);
        let document = library.compare([&first, &second])?;
        let other_way = format!(
            "/diff?order=given&run={}&run={}",
            percent_encode(&second),
            percent_encode(&first)
        );
        let actions = html! {
            div class="actions" {
                a href=(run_path(&first, "")) { "First: " (clean(&first)) }
                a href=(run_path(&second, "")) { "Second: " (clean(&second)) }
                a href=(other_way) { "Swap the runs" }
            }
        };
        let report = body(&document).map_err(|e| Problem::broken(e.to_string()))?;
        Ok(page(&document.title, &actions, PreEscaped(report)))
    })
    .await
}

// SPDX-License-Identifier: Apache-2.0
//! Pages that list all bisections with their results, or show one bisection.

use super::{bisection_path, count, minute, page};
use crate::app::App;
use crate::library::RunLibrary;
use crate::problem::Problem;
use axum::extract::{Path, State};
use axum::response::Html;
use lab_bisect::BisectionFile;
use lab_document::{Document, clean, format::html::body};
use maud::{Markup, PreEscaped, html};

/// Lists the bisections, latest first.
pub async fn list(State(app): State<App>) -> Result<Html<String>, Problem> {
    app.blocking(|library| {
        let names = library.bisections();
        let about = match names.len() {
            0 => "There are no bisections yet.".to_owned(),
            n => format!("{}, the latest first.", count(n, "bisection")),
        };
        let content = html! {
            header { h1 { "Bisections" } p class="about" { "Commits that changed a command's time" } }
            main {
                p role="status" { (about) }
                @if names.is_empty() {
                    p { "Each search of `benchlab bisect` appears here: for example "
                        code { "benchlab bisect --good v1.4 --bad HEAD --setup make -- ./prog" } "." }
                }
                ul class="runs" { @for name in &names { (row(library, name)) } }
            }
        };
        Ok(page("Bisections", &html! {}, content))
    })
    .await
}

fn row(library: &RunLibrary, name: &str) -> Markup {
    let loaded = library
        .bisection(name)
        .and_then(|file| document(&file, name));
    html! {
        li { div {
            @match loaded {
                Ok((started, document)) => {
                    h2 { a href=(bisection_path(name)) { (clean(&document.title)) } }
                    p class="about" { (clean(name)) " · " (minute(started)) }
                    p class="finding" { (clean(&document.answer.split().0)) }
                }
                Err(problem) => {
                    h2 { (clean(name)) }
                    p class="finding alarm" { (clean(problem.reason())) }
                }
            }
        } }
    }
}

/// Shows a bisection.
pub async fn show(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Html<String>, Problem> {
    app.blocking(move |library| {
        let (_, document) = document(&library.bisection(&name)?, &name)?;
        let report = PreEscaped(body(&document).map_err(|e| Problem::broken(e.to_string()))?);
        Ok(page(&document.title, &html! {}, report))
    })
    .await
}

/// Returns the start time and the report of a bisection.
fn document(file: &BisectionFile, name: &str) -> Result<(f64, Document), Problem> {
    let bisection = file.load().map_err(|e| Problem::broken(e.to_string()))?;
    let document = lab_bisect::document(&bisection, name);
    Ok((bisection.started_unix_s, document))
}

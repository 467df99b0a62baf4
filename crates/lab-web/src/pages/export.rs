// SPDX-License-Identifier: Apache-2.0
//! Downloads of a run, either as a report in a chosen format or as the run file itself.

use crate::app::App;
use crate::problem::Problem;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use lab_document::{FORMATS, Format, Rendered, Terminal, chart::file_name};
use tokio_util::io::ReaderStream;

/// Returns the formats that consist of one file, in the order of the menu. GitHub's summary is not
/// offered, because it is the same as Markdown.
pub fn formats() -> impl Iterator<Item = Format> {
    let has_file = |format: &Format| !format.is_folder && format.name != "github";
    FORMATS.into_iter().filter(has_file)
}

/// Serves the report of a run in the requested format.
pub async fn export(
    State(app): State<App>,
    Path((run, format)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let format = formats().find(|known| known.name == format);
    let format = format.ok_or_else(|| Problem::missing("there is no such format"))?;
    let name = format!("{}.{}", file_name(&run), format.extension);
    let bytes = app
        .blocking(move |library| {
            let full = Terminal {
                full: true,
                ..Terminal::default()
            };
            let document = library.document(&run)?;
            let rendered = format.render(&document, full).map_err(|e| {
                if format.suits(&document) {
                    Problem::broken(e.to_string())
                } else {
                    Problem::missing(e.to_string())
                }
            });
            match rendered? {
                Rendered::Text(text) => Ok(text.into_bytes()),
                Rendered::Bytes(bytes) => Ok(bytes),
                Rendered::Annotated { summary, .. } => Ok(summary.into_bytes()),
                Rendered::Files(_) => Err(Problem::missing(
                    "a report in that format consists of multiple files and cannot be downloaded",
                )),
            }
        })
        .await?;
    Ok((as_file(&name), bytes).into_response())
}

/// Serves the run file.
pub async fn file(State(app): State<App>, Path(run): Path<String>) -> Result<Response, Problem> {
    let name = format!("{}.lab", file_name(&run));
    let path = app
        .blocking(move |library| {
            if library.is_measured(&run)? {
                return Err(Problem::busy(
                    "the run is being measured: download its file when it has ended",
                ));
            }
            // Reading the progress verifies that it is a run file, and moves the content of
            // SQLite's log into the file.
            library.progress(&run)?;
            library.path(&run)
        })
        .await?;
    let broken = |e: std::io::Error| Problem::broken(e.to_string());
    let file = tokio::fs::File::open(&path).await.map_err(broken)?;
    let length = file.metadata().await.map_err(broken)?.len();
    let body = Body::from_stream(ReaderStream::new(file));
    Ok((as_file(&name), [(CONTENT_LENGTH, length)], body).into_response())
}

/// Returns the headers of a download, which browsers never show as a page.
///
/// `name` consists of letters, digits, `-` and one `.`.
fn as_file(name: &str) -> [(axum::http::HeaderName, String); 2] {
    [
        (CONTENT_TYPE, "application/octet-stream".into()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ]
}

// SPDX-License-Identifier: Apache-2.0
//! A run as a file to keep or to send: a report in some format, or the run file itself.

use crate::app::App;
use crate::problem::Problem;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use lab_document::{FORMATS, Format, Rendered, Terminal, chart::file_name};
use tokio_util::io::ReaderStream;

/// The formats that are one file, in the order in which they are offered.
pub fn formats() -> impl Iterator<Item = Format> {
    FORMATS.into_iter().filter(|format| !format.is_folder)
}

/// A report in a format.
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
            match format
                .render(&document, full)
                .map_err(|e| Problem::broken(e.to_string()))?
            {
                Rendered::Text(text) => Ok(text.into_bytes()),
                Rendered::Bytes(bytes) => Ok(bytes),
                Rendered::Files(_) => Err(Problem::missing("that format is several files")),
            }
        })
        .await?;
    Ok((as_file(&name), bytes).into_response())
}

/// The run file.
pub async fn file(State(app): State<App>, Path(run): Path<String>) -> Result<Response, Problem> {
    let name = format!("{}.lab", file_name(&run));
    let path = app
        .blocking(move |library| {
            if library.is_measured(&run)? {
                return Err(Problem::busy(
                    "it is being measured: its file is whole when it has ended",
                ));
            }
            // Reading it checks that it is a run file, and moves what SQLite's log holds into the file.
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

/// Headers of a download, which browsers never show as a page. `name`: letters, digits, `-` and one `.`.
fn as_file(name: &str) -> [(axum::http::HeaderName, String); 2] {
    [
        (CONTENT_TYPE, "application/octet-stream".into()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ]
}

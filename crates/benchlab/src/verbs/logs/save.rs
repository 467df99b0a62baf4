// SPDX-License-Identifier: Apache-2.0
//! Writes the run file of a log analysis and the page next to it. A file that could not be written
//! completely is removed.

use crate::cli::{Cli, LogsArgs};
use crate::exit::Exit;
use crate::measuring;
use crate::verbs::report::{render, write};
use crate::verbs::runs_folder;
use lab_document::{Document, Terminal, format};
use lab_model::{LogAnalysis, Run};
use lab_store::{RunWriter, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the run file.
///
/// # Errors
/// Returns an error if the disk is full or the directory is missing.
pub fn save(
    cli: &Cli,
    args: &LogsArgs,
    run: &Run,
    analysis: &LogAnalysis,
) -> Result<PathBuf, Exit> {
    let path = measuring::new_file(&runs_folder(cli, args.runs.as_deref())?, "logs")?;
    let filled = fill(&path, run, analysis).map_err(|e| match e {
        StoreError::Full(path) => StoreError::NoRoom(path),
        e => e,
    });
    if filled.is_err() {
        remove(&path);
    }
    filled?;
    Ok(path)
}

fn fill(path: &Path, run: &Run, analysis: &LogAnalysis) -> Result<(), StoreError> {
    let writer = RunWriter::create(path, &run.benchlab_version, run.started_unix_s)?;
    writer.host(&run.host)?;
    writer.logs(analysis)?;
    writer.gates(&run.gates)?;
    writer.finish(None, None)
}

/// Removes a file, and the files that SQLite creates next to an unfinished file.
fn remove(path: &Path) {
    for ending in ["lab", "lab-wal", "lab-shm", "lab-journal"] {
        let _ = fs::remove_file(path.with_extension(ending));
    }
}

/// Writes the page and returns its path.
///
/// # Errors
/// Returns an error if the disk is full.
pub fn page(document: &Document, run: &Path) -> Result<PathBuf, Exit> {
    let page = run.with_extension("html");
    let written = write(
        render(document, format::html::FORMAT, Terminal::default())?,
        &page,
    );
    if written.is_err() {
        let _ = fs::remove_file(&page);
    }
    written.map(|()| page)
}

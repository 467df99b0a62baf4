// SPDX-License-Identifier: Apache-2.0
//! Loads a run from a run file or from a file that another tool wrote.

use crate::exit::Exit;
use lab_import::{ImportedFile, Limits, read};
use lab_model::{Content, Run};
use lab_store::is_run_file;
use std::collections::HashMap;
use std::path::Path;

/// Converts an imported file to a run that is not saved.
pub fn to_run(path: &Path, file: &ImportedFile) -> Run {
    Run {
        name: path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned(),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_s: file.measured_unix_s,
        content: Content::Imported(file.imports.clone()),
        ..Run::default()
    }
}

/// Loads a run file, or a file that another tool wrote.
///
/// # Errors
/// Returns an error if the file cannot be read or its format is unknown.
pub fn load_any(path: &Path) -> Result<Run, Exit> {
    if is_run_file(path) || !path.exists() || path.extension().is_some_and(|e| e == "lab") {
        return Ok(lab_store::load(path)?);
    }
    let file = read(path, None, &Limits::default()).map_err(Exit::invalid)?;
    Ok(to_run(path, &file))
}

/// Returns the SHA-256 of each subject's sources from a run file. The map is empty for a file that
/// another tool wrote.
///
/// # Errors
/// Returns an error if a run file cannot be read.
pub fn hashes_of_any(path: &Path) -> Result<HashMap<String, String>, Exit> {
    if is_run_file(path) {
        Ok(lab_store::recorded_hashes(path)?)
    } else {
        Ok(HashMap::new())
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Determines the format of `--export` from the file name.

use crate::exit::Exit;
use lab_document::{FORMATS, Format};
use std::path::{Path, PathBuf};

/// Returns the files to write, each with its format.
///
/// # Errors
/// Returns an error if a name does not determine a format.
pub fn exports(files: &[PathBuf]) -> Result<Vec<(&Path, Format)>, Exit> {
    files
        .iter()
        .map(|file| Ok((file.as_path(), format(file)?)))
        .collect()
}

fn format(file: &Path) -> Result<Format, Exit> {
    let is_folder = file.is_dir() || file.as_os_str().as_encoded_bytes().ends_with(b"/");
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    let mut formats = FORMATS.into_iter();
    let format = if is_folder {
        formats.find(|format| format.is_folder)
    } else {
        formats.find(|format| !format.is_folder && format.extension == extension)
    };
    format.ok_or_else(|| {
        let plots = FORMATS.iter().any(|format| format.extension == extension);
        let reason = if plots {
            "there are multiple plots: specify a directory, such as plots/".into()
        } else {
            let files = FORMATS.iter().filter(|format| !format.is_folder);
            let extensions: Vec<String> = files
                .map(|format| format!(".{}", format.extension))
                .collect();
            format!(
                "expected a file name with one of the extensions {}, or a directory for plots",
                extensions.join(", ")
            )
        };
        Exit::wrong(format!("--export {}: {reason}", file.display()))
    })
}

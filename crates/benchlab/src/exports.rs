// SPDX-License-Identifier: Apache-2.0
//! `--export`: which form a file's name asks for.

use crate::exit::Exit;
use lab_document::{FORMATS, Format};
use std::path::{Path, PathBuf};

/// Files to write, each with its form. Error: a name says none.
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
            "there are several plots: name a folder, such as plots/".into()
        } else {
            let files = FORMATS.iter().filter(|format| !format.is_folder);
            let extensions: Vec<String> = files
                .map(|format| format!(".{}", format.extension))
                .collect();
            format!(
                "expected a name that ends with {}, or a folder for plots",
                extensions.join(", ")
            )
        };
        Exit::wrong(format!("--export {}: {reason}", file.display()))
    })
}

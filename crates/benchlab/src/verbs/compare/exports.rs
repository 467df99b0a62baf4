// SPDX-License-Identifier: Apache-2.0
//! `--export`: which form a file's name asks for.

use crate::exit::Exit;
use lab_report::Format;
use std::path::{Path, PathBuf};

/// Files to write, each with its form. Error: a name says none.
pub fn exports(files: &[PathBuf]) -> Result<Vec<(&Path, Format)>, Exit> {
    files
        .iter()
        .map(|file| Ok((file.as_path(), format(file)?)))
        .collect()
}

fn format(file: &Path) -> Result<Format, Exit> {
    let folder = file.is_dir() || file.as_os_str().as_encoded_bytes().ends_with(b"/");
    if folder {
        return Ok(Format::Svg);
    }
    let ending = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    let has_ending = |f: &Format| f.extension() == ending && *f != Format::Svg;
    Format::ALL.into_iter().find(has_ending).ok_or_else(|| {
        let reason = match ending {
            "svg" => "there are several plots: name a folder, such as plots/",
            _ => "a name is wanted that ends with .txt, .md, .csv, .json, .xml, .xlsx or .html, or a folder for plots",
        };
        Exit::wrong(format!("--export {}: {reason}", file.display()))
    })
}

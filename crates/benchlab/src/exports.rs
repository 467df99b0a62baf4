// SPDX-License-Identifier: Apache-2.0
//! Determines the format of `--export` from the file name, or from a prefix such as `json:`.

use crate::exit::Exit;
use lab_document::format::{folded, speedscope};
use lab_document::{FORMATS, Format};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the files to write, each with its format.
///
/// The format comes from the prefix in `FORMAT:PATH`, or else from the file name's extension.
///
/// # Errors
/// Returns an error if neither determines the format, or if the directory of a file does not exist.
pub fn exports(files: &[PathBuf]) -> Result<Vec<(&Path, Format)>, Exit> {
    files.iter().map(|file| export(file)).collect()
}

fn export(file: &Path) -> Result<(&Path, Format), Exit> {
    let (path, format) = path_and_format(file)?;
    // A format with multiple files creates its directory.
    let folder = path.parent().filter(|_| !format.is_folder);
    match folder.filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(Exit::invalid(format!(
            "--export {}: there is no directory {}",
            file.display(),
            folder.display()
        ))),
        None => Ok((path, format)),
    }
}

/// Returns the files to write about a measurement that records no call stacks, each with its format.
///
/// # Errors
/// Returns an error like [`exports`], or if a format shows only call stacks.
pub fn exports_of_measurement(files: &[PathBuf]) -> Result<Vec<(&Path, Format)>, Exit> {
    let exports = exports(files)?;
    let stacks = [folded::FORMAT, speedscope::FORMAT];
    match exports.iter().find(|(_, format)| stacks.contains(format)) {
        Some((file, _)) => Err(Exit::invalid(format!(
            "--export {}: the report will have no flame graph; `benchlab profile` creates reports \
             that have one",
            file.display()
        ))),
        None => Ok(exports),
    }
}

fn path_and_format(file: &Path) -> Result<(&Path, Format), Exit> {
    match split_format_prefix(file) {
        Some((format, path)) if path.as_os_str().is_empty() => Err(Exit::invalid(format!(
            "--export {}: expected a path after `{}:`",
            file.display(),
            format.name
        ))),
        Some((format, path)) => Ok((path, format)),
        None => Ok((file, format(file)?)),
    }
}

/// Makes the path of an export absolute, so that it does not depend on the current directory. Keeps
/// the `FORMAT:` prefix.
pub fn make_absolute(file: &Path, current: &Path) -> PathBuf {
    match split_format_prefix(file) {
        Some((format, path)) if !path.as_os_str().is_empty() => {
            let mut name = OsString::from(format.name);
            name.push(":");
            name.push(current.join(path));
            name.into()
        }
        Some(_) => file.to_path_buf(),
        None => current.join(file),
    }
}

/// Splits `FORMAT:PATH`. If a file name starts with such a prefix, users write `./FORMAT:…`.
fn split_format_prefix(file: &Path) -> Option<(Format, &Path)> {
    let bytes = file.as_os_str().as_bytes();
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let mut formats = FORMATS.into_iter();
    let format = formats.find(|format| format.name.as_bytes() == &bytes[..colon])?;
    Some((format, Path::new(OsStr::from_bytes(&bytes[colon + 1..]))))
}

fn format(file: &Path) -> Result<Format, Exit> {
    let is_folder = file.is_dir() || file.as_os_str().as_encoded_bytes().ends_with(b"/");
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let ends = |format: &Format| {
        let stem = name.strip_suffix(format.extension);
        stem.is_some_and(|stem| stem.len() > 1 && stem.ends_with('.'))
    };
    let formats = FORMATS.into_iter();
    let format = if is_folder {
        formats.clone().find(|format| format.is_folder)
    } else {
        // `x.trace.json` is a trace. If formats have the same extension, the first one is used.
        let mut fitting: Vec<Format> = formats.filter(|f| !f.is_folder && ends(f)).collect();
        fitting.sort_by_key(|format| std::cmp::Reverse(format.extension.len()));
        fitting.first().copied()
    };
    format.ok_or_else(|| {
        let plots = FORMATS.iter().any(|format| format.is_folder && ends(format));
        let reason = if plots {
            "there are multiple plots: specify a directory, such as plots/".into()
        } else {
            let files = FORMATS.iter().filter(|format| !format.is_folder);
            let mut extensions: Vec<&str> = Vec::new();
            for format in files {
                if !extensions.contains(&format.extension) {
                    extensions.push(format.extension);
                }
            }
            format!(
                "expected a file name with one of the extensions .{}, a directory for plots, or FORMAT:PATH",
                extensions.join(", .")
            )
        };
        Exit::invalid(format!("--export {}: {reason}", file.display()))
    })
}

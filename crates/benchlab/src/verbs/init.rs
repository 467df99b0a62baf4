// SPDX-License-Identifier: Apache-2.0
//! `benchlab init`: writes a commented benchlab.toml with commands for the project's build tool.

use crate::cli::InitArgs;
use crate::exit::Exit;
use crate::output::{say, write_stdout};
use lab_config::{FILE, detect, schema, template};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// Writes the file, or prints its schema.
///
/// # Errors
/// Returns an error if the file already exists.
pub fn init(args: &InitArgs) -> Result<ExitCode, Exit> {
    if args.schema {
        let json = serde_json::to_string_pretty(&schema()).map_err(Exit::failed)? + "\n";
        write_stdout(json.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Exit::invalid(format!(
            "{}: no such directory",
            folder.display()
        )));
    }
    let path = folder.join(FILE);
    let found = detect(folder);
    let text = template(&found);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => Exit::invalid(format!(
                "{} already exists and is not overwritten: edit it, or rename it first",
                path.display()
            )),
            _ => Exit::failed(format!("{}: {e}", path.display())),
        })?;
    file.write_all(text.as_bytes())
        .map_err(|e| Exit::failed(format!("{}: {e}", path.display())))?;
    match found.first() {
        Some(first) => say!(
            "created {} with the command `{}` for {}. Check its commands, then run `benchlab compare {}`",
            path.display(),
            first.command,
            first.tool,
            first.name
        ),
        None => say!(
            "created {} with examples only, because no build tool was recognized: fill in a command, then run `benchlab compare NAME`",
            path.display()
        ),
    }
    Ok(ExitCode::SUCCESS)
}

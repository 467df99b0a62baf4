// SPDX-License-Identifier: Apache-2.0
//! `benchlab import`: creates run files from files that other tools wrote.

use crate::any_run::to_run;
use crate::cli::{Cli, DisplayArgs, ImportArgs};
use crate::exit::Exit;
use crate::verbs::report::deliver_document;
use crate::verbs::runs_folder;
use lab_document::say;
use lab_import::{ImportError, ImportedFile, Limits, read, read_joined};
use lab_kinds::ChangeGates;
use lab_model::Run;
use lab_report::Report;
use lab_stats::between::Recorded;
use lab_store::RunWriter;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The version of benchlab that is recorded in imported runs.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Imports files and shows their content. For two files, shows the changes from the first to the
/// second.
///
/// All files are read before the first run file is created.
pub fn import(cli: &Cli, args: &ImportArgs) -> Result<ExitCode, Exit> {
    let limits = Limits::default();
    let first = args.files[0].as_path();
    let files = if args.join {
        let file = read_joined(&args.files, args.from, &limits).map_err(Exit::invalid)?;
        vec![(first, file)]
    } else {
        let files = args.files.iter();
        let files = files.map(|path| Ok((path.as_path(), read(path, args.from, &limits)?)));
        let files: Result<Vec<_>, ImportError> = files.collect();
        files.map_err(Exit::invalid)?
    };
    let in_unit = |(path, file): (_, ImportedFile)| match args.duration_unit {
        Some(unit_ns) => Ok((path, file.in_unit(unit_ns).map_err(Exit::invalid)?)),
        None => Ok((path, file)),
    };
    let files = files.into_iter().map(in_unit);
    let files = files.collect::<Result<Vec<(&Path, ImportedFile)>, Exit>>()?;
    if files.len() > 1 && args.output.is_some() {
        return Err(Exit::invalid(
            "--output takes one file: import the files one by one, or use --join",
        ));
    }
    let mut runs = Vec::new();
    for (path, file) in &files {
        let output = match &args.output {
            Some(output) => output.clone(),
            None => new_run_path(cli, path)?,
        };
        store(&output, file, args.name.as_deref())?;
        runs.push((output, to_run(path, file)));
    }
    let display = DisplayArgs {
        format: args.format,
        output: None,
        full: args.full,
        color: args.color,
    };
    show(&display, &runs)?;
    for (path, run) in &runs {
        let subjects = run.imports().len();
        let values: usize = run
            .imports()
            .iter()
            .map(|i| i.series.len() + i.times.len())
            .sum();
        eprintln!(
            "benchlab: imported {values} series of {} into {}",
            say::count(subjects, "subject"),
            path.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows one run, the changes between two runs, or each of many runs.
fn show(display: &DisplayArgs, runs: &[(PathBuf, Run)]) -> Result<(), Exit> {
    if let [(first, before), (second, after)] = runs {
        let hashes = HashMap::new();
        let recorded = [before, after].map(|run| Recorded {
            run,
            hashes: &hashes,
        });
        let files = [first, second].map(|path| path.display().to_string());
        // Files of different tools have nothing in common, so they are shown one by one.
        if let Ok(document) =
            lab_kinds::compare(recorded, [&files[0], &files[1]], ChangeGates::default())
        {
            return deliver_document(&document, display);
        }
    }
    for (path, run) in runs {
        let file = path.display().to_string();
        let document = lab_kinds::document(&Report::new(run, &file));
        deliver_document(&document, display)?;
    }
    Ok(())
}

/// Writes the content of an imported file to a new run file. Without `name`, the tool's name is the
/// name of the run.
fn store(output: &Path, file: &ImportedFile, name: Option<&str>) -> Result<(), Exit> {
    let writer = RunWriter::create(output, VERSION, file.measured_unix_s)?;
    file.imports.iter().try_for_each(|i| writer.import(i))?;
    // Values of benchlab's XML are shown next to other values; they have no history.
    let tool = file.imports.iter().map(|import| import.tool.as_str());
    let tool = tool.into_iter().find(|tool| !tool.is_empty());
    if let Some(name) = name.or(tool) {
        writer.import_name(name)?;
    }
    writer.finish(None, None)?;
    Ok(())
}

/// Returns the path of a new run file next to the other runs, named after the imported file.
fn new_run_path(cli: &Cli, imported: &Path) -> Result<PathBuf, Exit> {
    let runs = runs_folder(cli, None)?;
    std::fs::create_dir_all(&runs)
        .map_err(|e| Exit::invalid(format!("{}: {e}", runs.display())))?;
    let stem = imported.file_stem().map(OsString::from);
    let stem = stem.unwrap_or_else(|| OsString::from("imported"));
    let name = |n: u32| {
        let mut name = stem.clone();
        if n > 1 {
            name.push(format!("-{n}"));
        }
        name.push(".lab");
        runs.join(name)
    };
    let free = (1..10_000).map(name).find(|path| !path.exists());
    free.ok_or_else(|| {
        Exit::invalid(format!(
            "{}, and all numbered names after it, already exist: use --output FILE",
            name(1).display()
        ))
    })
}

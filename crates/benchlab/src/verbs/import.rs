// SPDX-License-Identifier: Apache-2.0
//! `benchlab import`: creates a run file from values that another tool exported.

use crate::cli::{Cli, ImportArgs};
use crate::exit::Exit;
use crate::output::say;
use crate::verbs::runs_folder;
use lab_bench::unix_seconds;
use lab_document::{ImportLimits, import_xml};
use lab_store::RunWriter;
use std::io::Read;
use std::process::ExitCode;

/// Creates a run file from an XML file.
pub fn import(cli: &Cli, args: &ImportArgs) -> Result<ExitCode, Exit> {
    let source = args.file.display();
    let limits = ImportLimits::default();
    let mut text = Vec::new();
    std::fs::File::open(&args.file)
        .and_then(|f| f.take(limits.bytes as u64 + 1).read_to_end(&mut text))
        .map_err(|e| Exit::wrong(format!("{source}: {e}")))?;
    let imports = import_xml(&text, &limits).map_err(|e| Exit::wrong(format!("{source}: {e}")))?;
    let output = match &args.output {
        Some(path) => path.clone(),
        None => {
            let runs = runs_folder(cli, None)?;
            std::fs::create_dir_all(&runs)
                .map_err(|e| Exit::wrong(format!("{}: {e}", runs.display())))?;
            runs.join(
                args.file
                    .with_extension("lab")
                    .file_name()
                    .unwrap_or_default(),
            )
        }
    };
    let writer = RunWriter::create(&output, env!("CARGO_PKG_VERSION"), unix_seconds())?;
    imports.iter().try_for_each(|i| writer.import(i))?;
    writer.finish(None, None)?;
    let times: usize = imports.iter().map(|i| i.times.len()).sum();
    say!(
        "{}: {} benchmarks with {times} times",
        output.display(),
        imports.len()
    );
    Ok(ExitCode::SUCCESS)
}

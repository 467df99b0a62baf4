// SPDX-License-Identifier: Apache-2.0
//! `benchlab diff`: shows the differences between two runs.

use crate::any_run::{hashes_of_any, load_any};
use crate::cli::DiffArgs;
use crate::exit::Exit;
use crate::exports::exports;
use crate::gate;
use crate::verbs::report::{deliver_document, export_after};
use lab_kinds::ChangeGates;
use lab_stats::between::Recorded;
use std::process::ExitCode;

/// Shows and exports the differences between two run files.
///
/// # Errors
/// Returns an error, and writes nothing, if a file cannot be read, the runs cannot be compared, or
/// a condition is invalid.
pub fn diff(args: &DiffArgs) -> Result<ExitCode, Exit> {
    let exports = exports(&args.export)?;
    let paths = [args.first.as_path(), args.second.as_path()];
    let [a, b] = [load_any(paths[0])?, load_any(paths[1])?];
    let hashes = [hashes_of_any(paths[0])?, hashes_of_any(paths[1])?];
    let runs = [(&a, &hashes[0]), (&b, &hashes[1])].map(|(run, hashes)| Recorded { run, hashes });
    let files = paths.map(|path| path.display().to_string());
    let gates = ChangeGates {
        gate: args.gate,
        fail_if: &args.fail_if,
        on_inconclusive: args.inconclusive.on,
    };
    let document =
        lab_kinds::compare(runs, [&files[0], &files[1]], gates).map_err(Exit::invalid)?;
    let shown = deliver_document(&document, &args.display);
    export_after(shown, &document, &exports)?;
    Ok(gate::exit_code_displayed(&document, &args.display))
}

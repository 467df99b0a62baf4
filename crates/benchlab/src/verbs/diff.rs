// SPDX-License-Identifier: Apache-2.0
//! `benchlab diff`: what changed from one run to another.

use crate::cli::DiffArgs;
use crate::exit::{self, Exit};
use crate::exports::exports;
use crate::verbs::report::{deliver_document, export};
use lab_document::Document;
use lab_model::{Run, Watched};
use lab_report::kind::audit::ChangedReport;
use lab_report::{BetweenReport, kind};
use lab_stats::between::{Recorded, between};
use lab_watch::analysis::between::{SlowerPages, slower_pages};
use std::path::Path;
use std::process::ExitCode;

/// Shows what changed between the runs in two files, and exports it. Errors: a file cannot be read, or the runs cannot be
/// compared; then nothing is written. Or a gate is crossed, or cannot be judged.
pub fn diff(args: &DiffArgs) -> Result<ExitCode, Exit> {
    let exports = exports(&args.export)?;
    let paths = [args.first.as_path(), args.second.as_path()];
    let [a, b] = [lab_store::load(paths[0])?, lab_store::load(paths[1])?];
    let logs = a.watched.as_ref().zip(b.watched.as_ref());
    if args.gate && logs.is_none() {
        return Err(Exit::wrong("--gate is for two runs of `benchlab watch`"));
    }
    let document = document([&a, &b], paths)?;
    export(&document, &exports)?;
    deliver_document(&document, &args.display)?;
    match logs.filter(|_| args.gate) {
        Some((before, after)) => judge(before, after),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Errors: a page takes longer in the second log, or that is not known.
fn judge(before: &Watched, after: &Watched) -> Result<ExitCode, Exit> {
    match slower_pages(before, after) {
        SlowerPages::Known(slower) if slower.is_empty() => Ok(ExitCode::SUCCESS),
        SlowerPages::Known(slower) => {
            let text = format!("--gate: slower in the second log: {}", slower.join(", "));
            Err(Exit::new(exit::REGRESSION, text))
        }
        SlowerPages::Unknown(reason) => {
            Err(Exit::new(exit::UNDECIDED, format!("--gate: {reason}")))
        }
    }
}

fn document([a, b]: [&Run; 2], paths: [&Path; 2]) -> Result<Document, Exit> {
    if a.audit.is_some() || b.audit.is_some() {
        return audits([a, b], paths);
    }
    let names = paths.map(|path| path.display().to_string());
    let files = [&*names[0], &*names[1]];
    match [&a.watched, &b.watched] {
        [Some(before), Some(after)] => Ok(kind::watch::between([a, b], [before, after], files)),
        [None, None] => between_runs([a, b], paths, files),
        _ => Err(Exit::wrong(
            "one of the runs is of `benchlab watch`, the other is not",
        )),
    }
}

/// The document of two runs of measurements.
fn between_runs(runs: [&Run; 2], paths: [&Path; 2], files: [&str; 2]) -> Result<Document, Exit> {
    let hashes = [
        lab_store::recorded_hashes(paths[0])?,
        lab_store::recorded_hashes(paths[1])?,
    ];
    let [first, second] = [0, 1].map(|i| Recorded {
        run: runs[i],
        hashes: &hashes[i],
    });
    let changes = between(first, second).map_err(Exit::wrong)?;
    Ok(kind::between(&BetweenReport {
        between: &changes,
        runs,
        files,
    }))
}

/// The document of two audits. Errors: one run is no audit, or they are of different kinds.
fn audits(runs: [&Run; 2], paths: [&Path; 2]) -> Result<Document, Exit> {
    let [Some(before), Some(after)] = runs.map(|run| run.audit.as_ref()) else {
        return Err(Exit::wrong(
            "one of them is an audit and the other is not: an audit is compared with an audit",
        ));
    };
    if before.kind != after.kind {
        return Err(Exit::wrong(format!(
            "the first is an audit of {}, the second of {}: audits of one kind are compared",
            before.kind.name(),
            after.kind.name()
        )));
    }
    let files = paths.map(|path| path.display().to_string());
    Ok(kind::audit::changed(&ChangedReport {
        runs,
        audits: [before, after],
        files: [&files[0], &files[1]],
    }))
}

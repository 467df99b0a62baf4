// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit host`: audits a machine, or a copy of its files.

use super::args::HostArgs;
use super::{finish, rules};
use crate::cli::Cli;
use crate::exit::Exit;
use crate::progress::progress;
use crate::verbs::{run_files, runs_folder};
use lab_audit::Extra;
use lab_audit::Root;
use lab_audit::host::{self, AuditedMachine, CLASSES};
use lab_audit::hot::{self, HotTarget, WatchedFolders};
use lab_audit::storage::{self, ROUNDS, SCRATCH, StorageTarget};
use lab_audit::wording;
use lab_bench::{interrupt, unix_seconds};
use lab_document::Document;
use std::path::PathBuf;
use std::time::Duration;

/// The maximum number of runs to search for a load, newest first.
const NEWEST: usize = 100;

/// Audits a machine.
pub fn host(cli: &Cli, args: &HostArgs) -> Result<Document, Exit> {
    let began = unix_seconds();
    let rules = rules(host::rules(), &CLASSES, &args.auditing)?;
    let machine = match &args.root {
        None => with_load(cli, args, AuditedMachine::live()),
        Some(folder) if folder.join("proc").is_dir() => {
            AuditedMachine::copy(Root::copy(folder)).map_err(Exit::invalid)?
        }
        Some(folder) => {
            let option = format!("--root {}", folder.display());
            let reason = wording::unusable(&option, wording::ROOT_WITHOUT_PROC);
            return Err(Exit::invalid(reason));
        }
    };
    let mut extras = Vec::new();
    if !args.measure.is_empty() {
        extras.push(measure_disks(&args.measure)?);
    }
    if let Some(length) = args.watch {
        extras.push(watch_folders(args, length, &machine)?);
    }
    let audit = host::audit(&machine, &rules, extras);
    finish(cli, &args.auditing, &audit, began)
}

/// Finds the newest load among the runs, and adds its rate of new connections to the data about the
/// machine.
fn with_load(cli: &Cli, args: &HostArgs, mut machine: AuditedMachine) -> AuditedMachine {
    let folder = runs_folder(cli, args.auditing.runs.as_deref());
    let runs = folder.map_or(Vec::new(), |folder| run_files(&folder));
    let newest = runs.iter().rev().take(NEWEST);
    let loads = newest.filter_map(|path| lab_store::connects_per_s(path).ok().flatten());
    machine.watched.load_connects = loads.into_iter().next();
    machine
}

/// Measures the speed of disks.
fn measure_disks(paths: &[PathBuf]) -> Result<Extra, Exit> {
    let bar = progress();
    bar.set_message(wording::WRITING_SCRATCH);
    let targets: Result<Vec<StorageTarget>, String> = paths
        .iter()
        .map(|path| StorageTarget::open(path, SCRATCH))
        .collect();
    let targets = targets.map_err(|reason| Exit::invalid(format!("--measure {reason}")))?;
    let measured = storage::measure(targets, ROUNDS, &mut |done| {
        bar.set_message(wording::measuring_disks(done, ROUNDS));
        bar.tick();
    });
    bar.finish_and_clear();
    let measured = measured.map_err(|reason| Exit::failed(format!("--measure {reason}")))?;
    Ok(storage::extra(&measured))
}

/// Records which directories are in use, plans where to move them, and writes a script that moves
/// them.
fn watch_folders(
    args: &HostArgs,
    length: Duration,
    machine: &AuditedMachine,
) -> Result<Extra, Exit> {
    let under = args.under.canonicalize();
    let under =
        under.map_err(|e| Exit::invalid(format!("--under {}: {e}", args.under.display())))?;
    let fast = args.fast.as_deref().map(HotTarget::new).transpose();
    let fast = fast.map_err(|reason| Exit::invalid(format!("--fast {reason}")))?;
    let scope = WatchedFolders::new(&under, host::mounts(machine));
    interrupt::watch().map_err(Exit::failed)?;
    let bar = progress();
    let usage = hot::watch(&scope, length, &mut |elapsed| {
        let [elapsed, all] = [elapsed, length].map(|time| time.as_secs());
        bar.set_message(wording::watching_files(elapsed, all));
        bar.tick();
        interrupt::requested()
    });
    bar.finish_and_clear();
    let (extra, script) = hot::extra(&usage, fast.as_ref(), host::available(machine));
    if let Some(path) = &args.script {
        match script {
            Ok(script) => {
                let error = |e| Exit::failed(format!("{}: {e}", path.display()));
                std::fs::write(path, script).map_err(error)?;
                eprintln!("benchlab: {}", wording::script_written(path));
            }
            Err(reason) => eprintln!("benchlab: {}", wording::no_script(&reason)),
        }
    }
    Ok(extra)
}

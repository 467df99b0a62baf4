// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit host`: a machine, or a copy of its files.

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
use lab_bench::{interrupt, unix_seconds};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Number of runs that are searched for a load.
const NEWEST: usize = 100;

/// Audits a machine.
pub fn host(cli: &Cli, args: &HostArgs) -> Result<ExitCode, Exit> {
    let began = unix_seconds();
    let rules = rules(host::rules(), &CLASSES, &args.auditing)?;
    let machine = match &args.root {
        None => with_load(cli, args, AuditedMachine::live()),
        Some(folder) if folder.join("proc").is_dir() => {
            AuditedMachine::copy(Root::copy(folder)).map_err(Exit::wrong)?
        }
        Some(folder) => {
            let folder = folder.display();
            let reason =
                "there is no proc/ in it; copy /proc, /sys and /etc of the machine into it";
            return Err(Exit::wrong(format!("--root {folder}: {reason}")));
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

/// The machine, with the rate of new connections of the newest load among the runs.
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
    bar.set_message("a scratch file is written");
    let targets: Result<Vec<StorageTarget>, String> = paths
        .iter()
        .map(|path| StorageTarget::open(path, SCRATCH))
        .collect();
    let targets = targets.map_err(|reason| Exit::wrong(format!("--measure {reason}")))?;
    let measured = storage::measure(targets, ROUNDS, &mut |done| {
        bar.set_message(format!("disks are measured: {done} of {ROUNDS} rounds"));
        bar.tick();
    });
    bar.finish_and_clear();
    let measured = measured.map_err(|reason| Exit::failed(format!("--measure {reason}")))?;
    Ok(storage::extra(&measured))
}

/// Watches which folders are in use, plans where they should lie, and writes the script that moves them.
fn watch_folders(
    args: &HostArgs,
    length: Duration,
    machine: &AuditedMachine,
) -> Result<Extra, Exit> {
    let under = args.under.canonicalize();
    let under = under.map_err(|e| Exit::wrong(format!("--under {}: {e}", args.under.display())))?;
    let fast = args.fast.as_deref().map(HotTarget::of).transpose();
    let fast = fast.map_err(|reason| Exit::wrong(format!("--fast {reason}")))?;
    let scope = WatchedFolders::new(&under, host::mounts(machine));
    interrupt::watch().map_err(Exit::failed)?;
    let bar = progress();
    let usage = hot::watch(&scope, length, &mut |elapsed| {
        let [elapsed, all] = [elapsed, length].map(|time| time.as_secs());
        bar.set_message(format!(
            "files are watched: {elapsed} of {all} s; Ctrl-C ends it"
        ));
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
                let path = path.display();
                eprintln!("benchlab: the script is in {path}; `sh {path}` says what it would do");
            }
            Err(reason) => eprintln!("benchlab: there is no script: {reason}"),
        }
    }
    Ok(extra)
}

// SPDX-License-Identifier: Apache-2.0
//! Runs commands under Valgrind: the checks before the runs, and the progress display.

use crate::exit::Exit;
use crate::progress::progress;
use lab_bench::{Wrapper, in_path, install, interrupt};
use lab_model::Subject;
use lab_plan::Toolchain;
use lab_profile::{Profiled, Tool, ValgrindRun, valgrind, wording};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Rejects commands that only start another program, because Valgrind would profile the wrapper.
pub fn check_no_wrapper(commands: &[&Subject], folders: &[PathBuf]) -> Result<(), Exit> {
    let mut programs = commands.iter().zip(folders);
    match programs.find_map(|(s, folder)| Wrapper::find(&s.program, folder)) {
        Some(wrapper) => Err(Exit::invalid(format!(
            "{wrapper}; profile that program instead"
        ))),
        None => Ok(()),
    }
}

/// Rejects commands that need a shell, because Valgrind would profile the shell.
pub fn check_no_shell(commands: &[&Subject]) -> Result<(), Exit> {
    let has_shell = |s: &&Subject| s.command.as_ref().is_some_and(|c| c.shell);
    if commands.iter().any(has_shell) {
        return Err(Exit::invalid(wording::SHELL));
    }
    Ok(())
}

/// Runs programs under Valgrind's tools and shows progress on standard error. `requested` contains
/// each run's tool and the index of its program.
///
/// # Errors
/// Returns an error if a tool cannot be started, or after Ctrl-C.
pub fn run_valgrind(
    programs: &[Profiled],
    folder: &Path,
    requested: &[(Tool, usize)],
    time_limit: Duration,
) -> Result<Vec<ValgrindRun>, Exit> {
    let bar = progress();
    let mut last_step = String::new();
    let runs = valgrind(programs, folder, requested, time_limit, &mut |step| {
        let text = wording::step(step.done, step.total, &step.running);
        if bar.is_hidden() && text != last_step {
            eprintln!("benchlab: {}", text.trim_end());
            last_step.clone_from(&text);
        }
        bar.set_message(format!("{text}  {} s", step.elapsed.as_secs()));
        bar.tick();
        !interrupt::requested()
    });
    bar.finish_and_clear();
    let runs = runs.map_err(|e| Exit::failed(wording::valgrind_failed(&e)))?;
    let stopped = || Exit::interrupted(wording::STOPPED);
    runs.ok_or_else(stopped)
}

/// Installs Valgrind if it is missing.
///
/// # Errors
/// Returns an error if Valgrind is missing and `--install` was not given.
pub fn ensure_valgrind(install_missing: bool) -> Result<(), Exit> {
    if in_path("valgrind").is_some() {
        return Ok(());
    }
    if !install_missing {
        return Err(Exit::invalid(wording::NOT_INSTALLED));
    }
    let toolchain = Toolchain {
        title: "Valgrind".into(),
        programs: vec!["valgrind".into()],
        debian: vec!["valgrind".into(), "libc6-dbg".into()],
        ..Toolchain::default()
    };
    install(&[&toolchain]).map_err(Exit::failed)
}

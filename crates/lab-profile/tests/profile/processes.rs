// SPDX-License-Identifier: Apache-2.0
//! Tests runs under Valgrind: child processes, programs that do not run to their end, and directories
//! with earlier files.

use lab_profile::{
    Children, Ending, Profiled, ProgramRuns, RunWarning, Tool, ValgrindRun, read_counts,
    read_instructions, valgrind,
};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(300);

/// Runs a shell script under a tool. Its output files are in `folder`.
fn run_in(folder: &Path, tool: Tool, script: &str) -> ValgrindRun {
    let words = ["/bin/sh", "-c", script].map(String::from);
    let program = Profiled {
        program: &words,
        folder,
        variables: &[],
    };
    let runs = valgrind(&[program], folder, &[(tool, 0)], LIMIT, &mut |_| true);
    let mut runs = runs.expect("valgrind").expect("a run");
    runs.pop().expect("a run")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn instructions_of_child_processes_are_counted() {
    let folder = folder();
    let count = |script: &str| {
        let run = run_in(folder.path(), Tool::Instructions, script);
        read_instructions(&run).expect("instructions")
    };
    let short = count("seq 10000 >/dev/null; exit 0");
    let long = count("seq 90000 >/dev/null; exit 0");
    assert!(long > 2 * short, "{short} {long}");
    // Programs in a pipeline and repeated runs of one program are separate processes.
    let one = count("seq 30000 >/dev/null; exit 0");
    let three = count("for i in 1 2 3; do seq 30000 | cat >/dev/null; done; exit 0");
    assert!(three > 2 * one, "{one} {three}");
}

#[test]
fn counts_of_a_part_of_the_work_are_rejected() {
    let folder = folder();
    let rejected = |script: &str| {
        let run = run_in(folder.path(), Tool::Instructions, script);
        assert!(run.file.is_some(), "{script}");
        read_instructions(&run).expect_err(script)
    };
    let reason = rejected("kill -ILL $$");
    assert!(
        reason.contains("ended by SIGILL under Valgrind"),
        "{reason}"
    );
    let reason = rejected("sh -c 'kill -SEGV $$'; exit 0");
    assert!(
        reason.contains("a process was ended by SIGSEGV"),
        "{reason}"
    );
    // Valgrind cannot handle SIGKILL.
    let reason = rejected(
        "sh -c 'echo >started; while :; do :; done' & while [ ! -s started ]; do :; done; kill -KILL $!; exit 0",
    );
    assert!(
        reason.contains("a child process wrote no counts"),
        "{reason}"
    );
    // A subshell inherits the counts of the shell.
    let reason = rejected("(exit 0); exit 0");
    assert!(reason.contains("executed no program"), "{reason}");
    // A program may end its child processes.
    let run = run_in(
        folder.path(),
        Tool::Instructions,
        "sh -c 'kill -TERM $$'; exit 0",
    );
    assert!(read_instructions(&run).is_ok());
}

#[test]
fn child_processes_are_detected_if_they_are_not_profiled() {
    let folder = folder();
    let children = |script: &str| {
        let run = run_in(folder.path(), Tool::Cachegrind, script);
        assert_eq!(read_counts(&run).is_ok(), run.children == Children::None);
        run.children
    };
    assert_eq!(children("exit 0"), Children::None);
    assert_eq!(children("(exit 0); exit 0"), Children::Forked(1));
    // The files of the earlier run are not the files of child processes.
    assert_eq!(children("exit 0"), Children::None);
    if std::env::var_os("DEBUGINFOD_URLS").is_none() {
        assert_eq!(children("seq 9 >/dev/null; exit 0"), Children::Uncounted);
    }
}

#[test]
fn a_profile_of_a_part_of_a_program_has_no_totals() {
    let folder = folder();
    let read = |script: &str| {
        let run = run_in(folder.path(), Tool::Cachegrind, script);
        ProgramRuns::read(&[run], &["program".into()]).expect("a profile")
    };
    let whole = read("exit 3");
    assert!(whole.profiles[0].whole_figure("Ir").is_some());
    assert_eq!(whole.profiles[0].exit_status("Ir"), Some(3));
    let crashed = read("kill -ABRT $$");
    assert!(crashed.profiles[0].figure("Ir").is_some());
    assert_eq!(crashed.profiles[0].whole_figure("Ir"), None);
    let signal = RunWarning::Signal {
        command: 0,
        ending: Ending::Signaled(Some("SIGABRT")),
    };
    assert!(crashed.warnings.contains(&signal), "{:?}", crashed.warnings);
    let parent = read("(exit 0); exit 0");
    assert_eq!(parent.profiles[0].whole_figure("Ir"), None);
    let children = RunWarning::Children { command: 0 };
    assert!(parent.warnings.contains(&children), "{:?}", parent.warnings);
}

// SPDX-License-Identifier: Apache-2.0
//! Everyday use of the command line: options of other tools, failing commands, names in the
//! history, and shallow clones in CI.

use crate::project::{BENCHLAB, NOOP, Outcome, Project, outcome, rows, subject};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Runs benchlab in an empty directory that belongs to no project.
fn outside(folder: &Path, args: &[&str]) -> Outcome {
    let mut command = Command::new(BENCHLAB);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command.env_remove("BENCHLAB_PROJECT");
    command.env("HOME", folder).env_remove("XDG_DATA_HOME");
    outcome(command.output().expect("benchlab starts"))
}

/// Options for two short blocks without repetitions.
const SHORT: [&str; 9] = [
    "compare", "--blocks", "2", "--pairs", "1", "--redo", "0", "--runs", "runs",
];

fn compare(folder: &Path, args: &[&str]) -> Outcome {
    outside(folder, &[&SHORT[..], args].concat())
}

/// Returns the names of the run files without their timestamps and extensions.
fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder.join("runs")).into_iter().flatten();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let names = names.filter_map(|name| name.strip_suffix(".lab").map(str::to_owned));
    let mut names: Vec<String> = names
        .map(|name| name.splitn(3, '-').nth(2).unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn options_of_other_tools_lead_to_benchlabs_options() {
    let folder = TempDir::new().unwrap();
    let url = "http://127.0.0.1:1/";
    let compare = [
        ("--runs=3", "--blocks 3"),
        ("--warmup=3", "leave it out"),
        ("-w", "leave it out"),
        ("-r", "--for 30s"),
        ("-m", "--for 30s"),
        ("-N", "leave it out"),
        ("-d", "--for 30s"),
        ("-t", "--cores"),
        ("--export-json", "--export FILE"),
    ];
    for (option, instead) in compare {
        let refused = outside(folder.path(), &["compare", option, "true", "true"]);
        refused.expect(2).says(&[instead]);
        assert!(!refused.stderr.contains("unexpected argument"), "{option}");
    }
    let load = [
        (&["-d", "10s"][..], "--for 10s"),
        (&["-t", "2"], "--threads 2"),
        (&["-n", "100"], "--for 10s"),
        (&["-z", "10s"], "--for 10s"),
        (&["-R", "100"], "--rate 1000"),
        (&["-k"], "leave it out"),
        (&["--latency"], "leave it out"),
    ];
    for (options, instead) in load {
        let args = [&["load"], options, &[url]].concat();
        outside(folder.path(), &args).expect(2).says(&[instead]);
    }
    // No other tool has this option, so clap's own message is shown.
    outside(folder.path(), &["compare", "--nonsense", "true"])
        .expect(2)
        .says(&["unexpected argument '--nonsense'"]);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "no file was created"
    );
}

#[test]
fn a_directory_may_have_a_number_as_its_name() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("3")).unwrap();
    let args = [
        "compare", "--blocks", "1", "--pairs", "1", "--runs=3", "true",
    ];
    outside(folder.path(), &args).expect(0);
    assert!(fs::read_dir(folder.path().join("3")).unwrap().count() > 0);
}

#[test]
fn the_last_lines_of_a_failed_command_are_printed() {
    let folder = TempDir::new().unwrap();
    let failing = "sh -c 'echo first >&2; echo the reason >&2; exit 3'";
    let failed = compare(folder.path(), &[failing, "true"]);
    failed
        .expect(1)
        .says(&["A failed at run: exit: ", "benchlab:   | the reason\n"])
        .shows(&[
            "No result: A failed: the command ended with exit status: 3",
            "first | the reason",
        ]);
    let first = failed.stdout.lines().next().unwrap();
    assert!(first.starts_with("No result: A failed"), "{first}");
    for text in ["process start", "shell start"] {
        assert!(!failed.stdout.contains(text), "{text} is not a subject");
    }
}

#[test]
fn a_history_is_named_after_the_program() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("slow.sh"), "exit 0\n").unwrap();
    compare(folder.path(), &["sh ./slow.sh", "true"]).expect(0);
    compare(folder.path(), &["true", "sh ./slow.sh"]).expect(0);
    assert_eq!(names(folder.path()), ["slow", "true"]);
}

#[test]
fn points_carry_the_name_of_their_sweep() {
    let folder = TempDir::new().unwrap();
    let sweep = ["--sweep", "limit=1,2", "sleep 0.00{limit}", "sleep 0.001"];
    compare(folder.path(), &sweep)
        .expect(0)
        .shows(&["limit=1 ", "limit=2 "]);
}

#[test]
fn no_line_breaks_within_a_date() {
    let folder = TempDir::new().unwrap();
    for name in ["a", "ab", "abc", "abcd", "abcde", "abcdef"] {
        let shown = compare(
            folder.path(),
            &["--name", name, "--name", "z", "true", "true"],
        );
        let date = shown.expect(0).stdout.lines().find(|l| l.contains(" UTC"));
        let date = date.unwrap().split(" UTC").next().unwrap();
        let time = date.rsplit(' ').next().unwrap();
        let day = date.rsplit(' ').nth(1).unwrap();
        assert!(time.len() == 5 && day.len() == 10, "{date:?}");
    }
}

#[test]
fn a_shallow_clone_is_named() {
    let folder = TempDir::new().unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = git.args(args).current_dir(folder.path()).output();
        assert!(
            output.expect("git is installed").status.success(),
            "{args:?}"
        );
    };
    git(&["init", "-q", "-b", "main", "full"]);
    for message in ["one", "two"] {
        git(&["-C", "full", "commit", "-q", "--allow-empty", "-m", message]);
    }
    let url = format!("file://{}/full", folder.path().display());
    git(&["clone", "-q", "--depth", "1", &url, "shallow"]);
    let clone = folder.path().join("shallow");
    compare(&clone, &["--rev", "HEAD~1", "--rev", "HEAD", "--", "true"])
        .expect(2)
        .says(&[
            "this clone is shallow",
            "fetch-depth: 0",
            "git fetch --unshallow",
        ]);
}

#[test]
fn copies_of_one_commit_are_neither_faster_nor_slower() {
    let folder = TempDir::new().unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = git.args(args).current_dir(folder.path()).output();
        assert!(
            output.expect("git is installed").status.success(),
            "{args:?}"
        );
    };
    git(&["init", "-q", "-b", "main"]);
    // The copies differ on purpose, by more than a machine could cause: the last letter of the path
    // identifies the worktree.
    let prog = "#!/bin/sh\ncase $PWD in *b) sleep 0.4;; *) sleep 0.001;; esac\n";
    fs::write(folder.path().join("prog"), prog).unwrap();
    git(&["add", "prog"]);
    git(&["commit", "-q", "-m", "one"]);
    let args = [
        "compare", "--blocks", "8", "--pairs", "1", "--redo", "0", "--runs", "runs", "--gate",
        "--name", "one", "--name", "two", "--rev", "HEAD", "--rev", "main", "--", "sh", "prog",
    ];
    let shown = outside(folder.path(), &args);
    shown
        .expect(4)
        .shows(&["one and two run the same commit, ", "not from the program"]);
    for verdict in ["slower than one", "faster than one"] {
        assert!(!shown.stdout.contains(verdict), "{}", shown.stdout);
    }
}

#[test]
fn a_project_needs_no_toolchains() {
    let project = Project::noop(&[]);
    fs::remove_file(project.join("experiments/toolchains.toml")).unwrap();
    project.call(&["list"]).expect(0).shows(&["Does it hold?"]);
    project.call(&["doctor"]);
    project.run(&[]).expect(0);
}

#[test]
fn each_subject_has_a_directory_for_temporary_files() {
    let head = "[experiment]\ntitle = \"T\"\nquestion = \"Q?\"\nbaseline = \"one\"\n";
    let subjects = ["one", "two"].map(|name| subject(name, &["temporary.py"]));
    let project = Project::with_text(&[head, NOOP, &subjects.concat()].concat());
    project.run(&[]).expect(0);
    let logged = rows(&project.file(), "SELECT line FROM log");
    let others: Vec<&String> = logged.iter().filter(|l| l.contains("others:")).collect();
    assert!(
        others.len() >= 6,
        "expected a pilot and two blocks of each subject: {logged:?}"
    );
    assert!(
        others.iter().all(|line| line.contains("others: []")),
        "{others:?}"
    );
    let own = logged.iter().filter_map(|l| Some(l.split_once("own: ")?.1));
    let mut own: Vec<&str> = own.collect();
    assert!(
        own.iter().all(|folder| !Path::new(folder).exists()),
        "removed"
    );
    let lengths: Vec<usize> = own.iter().map(|folder| folder.len()).collect();
    assert!(lengths.windows(2).all(|two| two[0] == two[1]), "{own:?}");
    let count = own.len();
    own.sort_unstable();
    own.dedup();
    assert_eq!(own.len(), count, "each process has its own directory");
}

#[test]
fn a_wrapper_is_named_before_it_is_timed_or_profiled() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let shim = folder.path().join("shim");
    fs::write(&shim, "#!/bin/sh\nexec true \"$@\"\n").unwrap();
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    let timed = compare(folder.path(), &["./shim", "true"]);
    timed
        .expect(0)
        .says(&["A: `./shim` is a shell script that starts another program: "]);
    assert!(!timed.stderr.contains("B: `true`"), "{}", timed.stderr);
}

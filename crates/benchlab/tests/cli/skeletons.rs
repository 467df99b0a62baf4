// SPDX-License-Identifier: Apache-2.0
//! `benchlab new`: the created files can be built, tested and measured without changes, in any
//! directory.

use crate::project::{BENCHLAB, Outcome, outcome};
use lab_model::{Content, Run};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn call(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(BENCHLAB);
    command.args(arguments).current_dir(folder);
    command.env_remove("BENCHLAB_PROJECT").stdin(Stdio::null());
    outcome(command.output().expect("benchlab starts"))
}

/// Returns the languages whose compilers and interpreters this machine has.
fn present() -> Vec<&'static str> {
    let tools = [
        ("ada", "gprbuild"),
        ("c", "cc"),
        ("go", "go"),
        ("java", "javac"),
        ("node", "node"),
        ("python", "python3"),
        ("rust", "cargo"),
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_present = |tool: &str| std::env::split_paths(&path).any(|dir| dir.join(tool).is_file());
    let present = tools.iter().filter(|(_, tool)| is_present(tool));
    present.map(|(language, _)| *language).collect()
}

/// Returns the only run in a directory of runs.
fn only_run(folder: &Path) -> Run {
    let files = fs::read_dir(folder)
        .expect("the directory of runs exists")
        .flatten();
    let mut runs = files.map(|file| file.path());
    let run = runs.find(|path| path.extension().is_some_and(|e| e == "lab"));
    lab_store::load(&run.expect("a run")).expect("a run file")
}

#[test]
fn an_experiment_in_every_language_is_built_tested_and_measured_outside_of_a_project() {
    let folder = TempDir::new().unwrap();
    let languages = present();
    let created = call(
        folder.path(),
        &[
            "new",
            "experiment",
            "sums",
            "--language",
            &languages.join(","),
        ],
    );
    created.expect(0);
    assert!(
        created.stdout.contains("benchlab run ./sums --quick"),
        "{created:?}"
    );
    call(folder.path(), &["build", "./sums"]).expect(0);
    let test = Command::new("python3")
        .arg("sums/test.py")
        .current_dir(folder.path())
        .output();
    let test = outcome(test.expect("python3"));
    test.expect(0);
    let measured = call(
        folder.path(),
        &[
            "run", "./sums", "--quick", "--blocks", "2", "--pairs", "1", "--set", "n=16",
        ],
    );
    measured.expect(0);
    let run = only_run(&folder.path().join("sums/runs"));
    assert!(run.failures.is_empty(), "{:?}", run.failures);
    assert_eq!(run.complete_blocks().count(), 2);
    let Content::Measured(content) = &run.content else {
        panic!("not measured");
    };
    assert_eq!(content.plan.compared().count(), languages.len());
}

#[test]
fn a_subject_is_added_where_the_experiment_is() {
    let folder = TempDir::new().unwrap();
    call(
        folder.path(),
        &["new", "experiment", "./bench/sums", "-l", "c"],
    )
    .expect(0);
    let inside = folder.path().join("bench/sums");
    let added = call(&inside, &["new", "subject", "snake", "-l", "python"]);
    added.expect(0);
    assert!(
        added
            .stdout
            .starts_with("snake is a new subject of sums:\n"),
        "{added:?}"
    );
    call(
        &inside,
        &["run", ".", "--quick", "--blocks", "2", "--pairs", "1"],
    )
    .expect(0);
    assert_eq!(only_run(&inside.join("runs")).complete_blocks().count(), 2);
    for (arguments, problem) in [
        (
            ["new", "subject", "snake", "-l", "python"],
            "already has a subject `snake`",
        ),
        (
            ["new", "subject", "Snake!", "-l", "python"],
            "invalid name `Snake!`",
        ),
        (
            ["new", "subject", "kits", "-l", "c"],
            "already exists; choose another name",
        ),
        (
            ["new", "experiment", "../sums", "-l", "c"],
            "already exists",
        ),
        (
            ["new", "subject", "x", "-l", "cobol"],
            "possible values: ada, c, go",
        ),
    ] {
        let refused = call(&inside, &arguments);
        refused.expect(2);
        assert!(
            refused.stderr.contains(problem),
            "{arguments:?}: {refused:?}"
        );
    }
    let elsewhere = call(folder.path(), &["new", "subject", "x", "-l", "c"]);
    elsewhere.expect(2);
    assert!(
        elsewhere.stderr.contains("there is no experiment in `.`"),
        "{elsewhere:?}"
    );
}

#[test]
fn a_new_experiment_belongs_to_the_project_and_lists_unwritten_cases() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("experiments")).unwrap();
    call(folder.path(), &["new", "experiment", "sums", "-l", "c"]).expect(0);
    assert!(folder.path().join("kits/c/lab_kit.h").is_file());
    let file = folder.path().join("experiments/sums/experiment.toml");
    let case = "\n[[case]]\nname = \"sort\"\nwork = \"sorting\"\nunit = \"number\"\n";
    fs::write(&file, fs::read_to_string(&file).unwrap() + case).unwrap();
    let added = call(
        folder.path(),
        &["new", "subject", "other", "-l", "c", "-e", "sums"],
    );
    added.expect(0);
    assert!(
        added.stdout.contains("Cases still to implement: sort"),
        "{added:?}"
    );
    call(folder.path(), &["list", "sums"]).expect(0);
    call(folder.path(), &["build", "sums"]).expect(0);
}

#[test]
fn a_run_outside_a_project_is_resumed_from_its_file() {
    let folder = TempDir::new().unwrap();
    call(folder.path(), &["new", "experiment", "sums", "-l", "c"]).expect(0);
    let run = ["run", "./sums", "--budget", "2s", "--pairs", "1"];
    call(folder.path(), &run).expect(0);
    let runs = folder.path().join("sums/runs");
    let file = fs::read_dir(&runs).unwrap().flatten().map(|f| f.path());
    let file = file
        .into_iter()
        .find(|p| p.extension().is_some_and(|e| e == "lab"));
    let file = file.expect("a run").display().to_string();
    let blocks = only_run(&runs).complete_blocks().count();
    call(Path::new("/"), &["resume", &file, "--budget", "6s"]).expect(0);
    assert!(only_run(&runs).complete_blocks().count() > blocks);
}

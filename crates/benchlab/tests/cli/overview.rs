// SPDX-License-Identifier: Apache-2.0
//! `list` and `doctor`: columns that fit on a screen even if names are long, and advice that is
//! never empty.

use crate::project::{Project, outcome, subject};
use std::fs;

const LONG: &str = "a-name-that-is-as-long-as-somebody-who-tries-out-names-would-make-it";

/// Creates a project in which all names are long and toolchains lack a package or advice.
fn project() -> Project {
    let driver = "a driver of many words ".repeat(6);
    let lines = format!("driver = \"{driver}\"\nneeds = [\"unknown\"]");
    let long = subject(LONG, &["plain.py"]).replace("driver = \"none\"", &lines);
    let project = Project::noop(&[long]);
    let file = project.join("experiments/toolchains.toml");
    let text = fs::read_to_string(&file).unwrap();
    let more = "\n[unknown]\ntitle = \"Unknown tool\"\nprograms = [\"benchlab-has-no-such-tool\"]\n\
                \n[rarer]\ntitle = \"Rarer compiler\"\nprograms = [\"benchlab-has-none\"]\ndebian = [\"rarer\"]\n";
    fs::write(&file, text + more).unwrap();
    project
}

fn assert_fits(text: &str) {
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert!(wide.is_none(), "{wide:?} in:\n{text}");
}

#[test]
fn long_names_break_no_column() {
    let project = project();
    for words in [
        &["list"][..],
        &["list", "t"],
        &["list", "t", "--full"],
        &["doctor"],
    ] {
        assert_fits(&project.call(words).expect(0).stdout);
    }
}

/// Shows the built-in experiments on one screen: names, values and missing requirements. `--full`
/// adds drivers.
#[test]
fn each_experiment_is_one_screen() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let listed = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_benchlab"));
        let command = command.arg("list").args(words).args(["--project", folder]);
        outcome(command.output().unwrap()).expect(0).stdout.clone()
    };
    let overview = listed(&[]);
    let is_name = |line: &&str| !line.starts_with([' ', '`']) && !line.is_empty();
    let names = overview.lines().filter(is_name);
    let names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"sql") && names.len() > 10, "{overview}");
    for name in names {
        let brief = listed(&[name]);
        assert_fits(&brief);
        // The limit is about one screen: an experiment with many subjects needs a few more lines.
        assert!(brief.lines().count() <= 44, "{name}:\n{brief}");
        let full = listed(&[name, "--full"]);
        assert_fits(&full);
        assert!(full.contains("\nsubjects"), "{full}");
    }
    let sql = listed(&["sql"]);
    assert!(sql.contains("c-nomutex (the reference; SQLite)"), "{sql}");
    assert!(listed(&["sql", "--full"]).contains("Java, JDBC, pgjdbc"));
}

#[test]
fn the_doctor_lists_each_package_and_one_command_for_all() {
    let outcome = project().call(&["doctor"]);
    outcome.expect(0).shows(&[
        "missing  Rare compiler: apt-get install rare-compiler rare-runtime\n",
        "missing  Rarer compiler: apt-get install rarer\n",
        "missing  Unknown tool: no Debian package provides it\n",
        "all packages: apt-get install rare-compiler rare-runtime rarer\n",
    ]);
}

/// Paths in probes are relative to the project, regardless of the current directory. An empty
/// variable counts as unset.
#[test]
fn what_is_installed_does_not_depend_on_the_current_folder() {
    let project = Project::noop(&[]);
    let file = project.join("experiments/toolchains.toml");
    let more = "\n[here]\ntitle = \"Here in the project\"\nprobes = [[\"test\", \"-f\", \"experiments/toolchains.toml\"]]\n";
    fs::write(&file, fs::read_to_string(&file).unwrap() + more).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for words in [&["doctor"][..], &["list", "t", "--full"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_benchlab"));
        let command = command.args(words).arg("--project").arg(project.path());
        let elsewhere = outcome(command.current_dir(&elsewhere).output().unwrap());
        assert!(
            !elsewhere.expect(0).stdout.contains("missing  Here"),
            "{}",
            elsewhere.stdout
        );
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_benchlab"));
    for name in [
        "BENCHLAB_PROJECT",
        "XDG_DATA_HOME",
        "TMPDIR",
        "HOME",
        "BENCHLAB_SSH",
    ] {
        command.env(name, "");
    }
    let listed = outcome(
        command
            .arg("list")
            .current_dir(project.path())
            .output()
            .unwrap(),
    );
    listed.expect(0);
}

/// For a single subject with a sweep, the result is the value at which it is fastest. Without a
/// sweep, nothing is compared.
#[test]
fn a_sweep_of_a_single_subject_has_a_result() {
    let project = Project::noop(&[]);
    let nothing = "• Nothing was compared: honest was measured alone.";
    let alone = ["--subjects", "honest"];
    project.run(&alone).expect(0).shows(&[nothing]);
    let file = project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace(
            "unit = \"operation\"",
            "unit = \"operation\"\nsweep.n = [1, 2]",
        ),
    )
    .unwrap();
    let outcome = project.run(&alone);
    let answers = [
        "noop: honest is fastest at n=",
        "noop: honest: no value of n is known to take longer",
    ];
    let screen = &outcome.expect(0).stdout;
    assert!(
        answers.iter().any(|words| screen.contains(words)),
        "{screen}"
    );
    assert!(!screen.contains(nothing), "{screen}");
}

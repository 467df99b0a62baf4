// SPDX-License-Identifier: Apache-2.0
//! `--builds`: multiple builds of each revision, used in turn by the blocks.

use crate::project::{BENCHLAB, Outcome, Project, outcome};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// Creates a repository with two commits. Their `prog` records its directory and the size of its
/// environment.
fn repository() -> Project {
    let project = Project::noop(&[]);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = git.args(args).current_dir(project.path()).output();
        assert!(
            output.expect("git is installed").status.success(),
            "{args:?}"
        );
    };
    git(&["init", "-q", "-b", "main"]);
    let log = project.join("runs.log").display().to_string();
    for message in ["first", "second"] {
        let text =
            format!("#!/bin/sh\n# {message}\necho \"$PWD ${{#BENCHLAB_PADDING}}\" >> {log}\n");
        fs::write(project.join("prog"), text).unwrap();
        fs::set_permissions(project.join("prog"), fs::Permissions::from_mode(0o755)).unwrap();
        git(&["add", "prog"]);
        git(&["commit", "-q", "-m", message]);
    }
    project
}

fn compare(project: &Project, args: &[&str]) -> Outcome {
    let mut command = Command::new(BENCHLAB);
    command.args(["compare", "--pairs", "1", "--seed", "7", "--rev", "HEAD~1"]);
    command.args(args).args(["--", "./prog"]);
    command.current_dir(project.path()).stdin(Stdio::null());
    command.env("BENCHLAB_PROJECT", project.path());
    outcome(command.output().expect("benchlab starts"))
}

fn report(project: &Project) -> String {
    let file = project.file().display().to_string();
    let text = project.call(&["report", &file, "--full"]).stdout;
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn blocks_take_builds_in_turns_and_each_build_is_one_value() {
    let project = repository();
    let log = project.join("setup.log").display().to_string();
    let setup = format!("echo \"$PWD $BENCHLAB_BUILD $BENCHLAB_BUILD_SEED\" >> {log}");
    let options = [
        "--rev", "HEAD", "--builds", "3", "--blocks", "6", "--setup", &setup,
    ];
    compare(&project, &options).expect(0);
    let lines = |file: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(project.join(file)).unwrap();
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        text.lines().map(words).collect()
    };
    let setups = lines("setup.log");
    let column = |lines: &[Vec<String>], i: usize| -> BTreeSet<String> {
        lines.iter().map(|words| words[i].clone()).collect()
    };
    assert_eq!(setups.len(), 6, "{setups:?}");
    assert_eq!(
        column(&setups, 0).len(),
        6,
        "each build has its own directory: {setups:?}"
    );
    assert_eq!(column(&setups, 1).len(), 3, "{setups:?}");
    assert_eq!(
        column(&setups, 2).len(),
        6,
        "each build has its own seed: {setups:?}"
    );
    let lengths: BTreeSet<usize> = setups.iter().map(|words| words[0].len()).collect();
    assert!(
        lengths.len() > 1,
        "paths must have different lengths: {setups:?}"
    );
    let runs = lines("runs.log");
    assert_eq!(
        column(&runs, 0),
        column(&setups, 0),
        "all builds are measured"
    );
    assert!(
        column(&runs, 1).len() > 4,
        "environments must have different sizes: {runs:?}"
    );
    // The turns of the last block belong to each revision's third build.
    let third: BTreeSet<String> = setups
        .iter()
        .filter(|w| w[1] == "3")
        .map(|w| w[0].clone())
        .collect();
    assert_eq!(column(&runs[runs.len() - 4..], 0), third);
    let run = project.load();
    let results = lab_stats::results::results(&run);
    assert_eq!(results.blocks, 6);
    assert_eq!(
        results.comparisons[0].blocks, 3,
        "each build counts as one block"
    );
    assert!(report(&project).contains("(n = 3 builds)"));
}

#[test]
fn without_builds_the_report_says_that_there_was_one() {
    let project = repository();
    compare(&project, &["--rev", "HEAD", "--blocks", "2"]).expect(0);
    assert!(report(&project).contains("(n = 1 build)"));
}

#[test]
fn options_that_conflict_with_builds_are_rejected() {
    let project = repository();
    let says = |args: &[&str], text: &str| {
        let refused = compare(&project, &[&["--builds", "3"], args].concat());
        refused.expect(2);
        assert!(refused.stderr.contains(text), "{}", refused.stderr);
    };
    says(&["--rev", "."], "--builds requires commits");
    says(
        &["--rev", "HEAD", "--blocks", "2"],
        "each build needs at least one block",
    );
    says(
        &["--rev", "HEAD", "--plan"],
        "--plan cannot be combined with --builds",
    );
}

/// Creates a repository with a C program in three commits. The second commit executes 10 % more
/// instructions than the first, and the third executes as many as the second.
fn counted() -> Project {
    let project = Project::noop(&[]);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = git.args(args).current_dir(project.path()).output();
        assert!(
            output.expect("git is installed").status.success(),
            "{args:?}"
        );
    };
    git(&["init", "-q", "-b", "main"]);
    for (count, message) in [
        (2_000_000, "base"),
        (2_200_000, "slower"),
        (2_200_000, "same"),
    ] {
        let text = format!(
            "// {message}\nint main(void) {{ volatile unsigned x = 1;\n\
             for (int i = 0; i < {count}; i++) x = x * 3 + 1;\nreturn x == 0; }}\n"
        );
        fs::write(project.join("prog.c"), text).unwrap();
        git(&["add", "prog.c"]);
        git(&["commit", "-q", "-m", message]);
    }
    project
}

const SETUP: &str = "cc -O1 -o prog prog.c";

#[test]
fn a_gate_on_instructions_is_judged_over_builds() {
    let project = counted();
    let compare = |revisions: [&str; 2], more: &[&str]| {
        let mut command = Command::new(BENCHLAB);
        command.args([
            "compare", "--pairs", "1", "--blocks", "3", "--setup", SETUP, "--gate",
        ]);
        command.args([
            "--gate-on",
            "instructions",
            "--rev",
            revisions[0],
            "--rev",
            revisions[1],
        ]);
        command.args(more).args(["--", "./prog"]);
        command.current_dir(project.path()).stdin(Stdio::null());
        command.env("BENCHLAB_PROJECT", project.path());
        outcome(command.output().expect("benchlab starts"))
    };
    let slower = compare(["HEAD~2", "HEAD~1"], &["--builds", "3", "--margin", "5%"]);
    slower.expect(3).says(&[
        "gate failed: ",
        " executes 1.0",
        "over 3 builds of each",
        "limit 1.05",
    ]);
    let kept = report(&project);
    assert!(
        kept.contains("gate failed: "),
        "the run file must contain the decision: {kept}"
    );
    let gates = project.load().gates;
    assert_eq!(gates.len(), 1);
    assert_eq!(gates[0].condition, "instructions>+5%");
    let (ratio, _) = gates[0].value.clone().unwrap();
    assert!((1.08..1.12).contains(&ratio.estimate), "{ratio:?}");
    fs::remove_file(project.file()).unwrap();
    // With one build, the size of the environment varies.
    let same = compare(["HEAD~1", "HEAD"], &["--margin", "1%"]);
    same.expect(0);
    let full = report(&project);
    assert!(
        full.contains("over 5 environments of different sizes"),
        "{full}"
    );
    for option in ["--prepare", "--cleanup"] {
        let refused = compare(["HEAD~1", "HEAD"], &[option, "true"]);
        refused.expect(2).says(&["cannot be combined with", option]);
    }
}

#[test]
fn a_profile_has_the_range_of_each_event_over_builds() {
    let project = counted();
    let profile = |revisions: [&str; 2], condition: &str| {
        let words = [
            "profile",
            "--no-measure",
            "--full",
            "--only",
            "cachegrind",
            "--builds",
            "3",
            "--setup",
            SETUP,
            "--rev",
            revisions[0],
            "--rev",
            revisions[1],
            "--fail-if",
            condition,
            "--",
            "./prog",
        ];
        let mut command = Command::new(BENCHLAB);
        command
            .args(words)
            .current_dir(project.path())
            .stdin(Stdio::null());
        command.env("BENCHLAB_PROJECT", project.path());
        outcome(command.output().expect("benchlab starts"))
    };
    let slower = profile(["HEAD~2", "HEAD~1"], "Ir>+1%");
    slower.expect(3).says(&["gate failed: Ir changed by +"]);
    assert!(
        slower.stdout.contains("Range over builds"),
        "{}",
        slower.stdout
    );
    let kept = report(&project);
    for text in [
        "Range over builds",
        "gate failed: Ir changed by +",
        "% over builds",
    ] {
        assert!(kept.contains(text), "{text}: {kept}");
    }
    fs::remove_file(project.file()).unwrap();
    profile(["HEAD~1", "HEAD"], "Ir>+1%").expect(0);
}

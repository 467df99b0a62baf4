// SPDX-License-Identifier: Apache-2.0
//! `benchlab bisect`, and `compare --rev A..B`: small repositories with a program that sleeps for
//! different times in different commits. The times differ by a factor of at least four, and
//! bisections ignore changes by less than 40 %, so that no decision depends on a quiet machine.

use crate::project::{BENCHLAB, Outcome, Project, outcome, send_signal, wait_until};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The number of seconds that a commit's program sleeps, or a marker for a commit that does not
/// build.
#[derive(Clone, Copy)]
enum Content {
    Sleeps(&'static str),
    Broken,
}

use Content::{Broken, Sleeps};

/// A repository with one commit for each content, and the commits' short hashes in order.
struct Repository {
    project: Project,
    commits: Vec<String>,
}

impl Repository {
    fn new(contents: &[Content]) -> Repository {
        let project = Project::noop(&[]);
        fs::create_dir(project.join("temporary")).unwrap();
        let mut repository = Repository {
            project,
            commits: Vec::new(),
        };
        repository.git(&["init", "-q", "-b", "main"]);
        for (number, content) in contents.iter().enumerate() {
            let build = match content {
                Sleeps(seconds) => {
                    format!("printf '#!/bin/sh\\nsleep {seconds}\\n' > prog; chmod +x prog")
                }
                Broken => "echo the source is missing >&2; exit 1".into(),
            };
            let script = repository.project.join("build.sh");
            fs::write(&script, format!("#!/bin/sh\n# {number}\n{build}\n")).unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            repository.git(&["add", "build.sh"]);
            repository.git(&["commit", "-q", "-m", &format!("change {number} <b>|`x`")]);
            let short = repository.git(&["log", "-1", "--format=%h"]);
            repository.commits.push(short.trim().to_owned());
        }
        repository
    }

    fn git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = git.args(args).current_dir(self.project.path()).output();
        let output = output.expect("git is installed");
        assert!(output.status.success(), "{args:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BENCHLAB);
        command.args(args).current_dir(self.project.path());
        command.env("BENCHLAB_PROJECT", self.project.path());
        command.env("TMPDIR", self.project.join("temporary"));
        command.stdin(Stdio::null());
        command
    }

    fn call(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args).output().expect("benchlab starts"))
    }

    /// Returns the arguments for a bisection from the first commit to the last commit.
    fn bisect<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let ends = [
            "bisect",
            "--good",
            &self.commits[0],
            "--bad",
            "main",
            "--redo",
            "0",
            "--seed",
            "7",
        ];
        let margin = ["--margin", "40%"];
        let margin = if more.contains(&"--margin") {
            &[][..]
        } else {
            &margin
        };
        [&ends[..], margin, more, &["--", "./prog"]].concat()
    }

    /// Returns the directory of the only bisection.
    fn file(&self) -> PathBuf {
        let runs = fs::read_dir(self.project.join("runs")).unwrap().flatten();
        let mut paths = runs.map(|entry| entry.path());
        let is_bisection = |path: &PathBuf| path.extension().is_some_and(|e| e == "bisect");
        paths.find(is_bisection).expect("a bisection")
    }

    fn state(&self) -> Value {
        let text = fs::read_to_string(self.file().join("bisection.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Asserts that no worktree remains, neither on disk nor in git.
    fn assert_clean(&self) {
        assert_eq!(
            fs::read_dir(self.project.join("temporary"))
                .unwrap()
                .count(),
            0
        );
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
    }
}

/// Six commits: the second does not build, and the fourth makes the program slow.
const HISTORY: [Content; 6] = [
    Sleeps("0.06"),
    Broken,
    Sleeps("0.06"),
    Sleeps("0.3"),
    Sleeps("0.3"),
    Sleeps("0.3"),
];

#[test]
fn the_commit_is_named_with_its_ratio_and_what_it_changed() {
    let repository = Repository::new(&HISTORY);
    let culprit = &repository.commits[3];
    let setup = [
        "--setup",
        "./build.sh",
        "--export",
        "out.json",
        "--export",
        "out.html",
    ];
    let found = repository.call(&repository.bisect(&setup));
    found.expect(0);
    let first = found.stdout.lines().next().unwrap_or_default();
    assert!(
        first.starts_with(&format!("{culprit} made prog slower: "))
            && first.contains(" times its previous time ("),
        "{first}"
    );
    let json = fs::read_to_string(repository.project.join("out.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let ratio = &json["answer"]["table"]["rows"][0][2]["content"];
    let (value, low) = (
        ratio["value"].as_f64().unwrap(),
        ratio["low"].as_f64().unwrap(),
    );
    assert!(low > 1.4 && value < 6.0, "{ratio}");
    let html = fs::read_to_string(repository.project.join("out.html")).unwrap();
    assert!(!html.contains("change 3 <b>") && html.contains("change 3 &lt;b&gt;"));
    repository.assert_clean();
    // The saved bisection shows the same, and what the commit changed.
    let file = repository.file().display().to_string();
    let again = repository.call(&["report", "--full", &file]);
    again.expect(0);
    assert!(again.stdout.contains("build.sh |"), "{}", again.stdout);
    let markdown = repository.call(&["report", "--format", "markdown", &file]);
    assert!(markdown.stdout.contains(culprit), "{}", markdown.stdout);
    repository
        .call(&["resume", &file])
        .expect(2)
        .says(&["is complete; `benchlab report "]);
}

#[test]
fn a_change_next_to_a_commit_that_does_not_build_is_a_range() {
    let repository = Repository::new(&[Sleeps("0.06"), Broken, Sleeps("0.3"), Sleeps("0.3")]);
    let found = repository.call(&repository.bisect(&["--setup", "./build.sh"]));
    found.expect(0);
    let range = format!("{}..{}", repository.commits[1], repository.commits[2]);
    let first = found.stdout.lines().next().unwrap_or_default();
    assert!(
        first.starts_with(&format!("One of 2 commits ({range}) made prog ")),
        "{first}"
    );
    found.says(&[&format!("skipping {}: ", repository.commits[1])]);
    assert!(
        found
            .stdout
            .contains("The other commit does not build or run."),
        "{}",
        found.stdout
    );
}

#[test]
fn two_changes_are_both_named() {
    let repository = Repository::new(&[
        Sleeps("0.03"),
        Sleeps("0.12"),
        Sleeps("0.12"),
        Sleeps("0.12"),
        Sleeps("0.48"),
    ]);
    let found = repository.call(&repository.bisect(&["--setup", "./build.sh"]));
    found.expect(0);
    let first: Vec<&str> = found.stdout.lines().take(3).collect();
    let first = first.join(" ");
    assert!(first.starts_with("2 changes in prog's time: "), "{first}");
    for at in [1, 4] {
        assert!(first.contains(&repository.commits[at]), "{first}");
    }
}

#[test]
fn equal_ends_are_a_result() {
    let repository = Repository::new(&[Sleeps("0.2"), Sleeps("0.3"), Sleeps("0.2")]);
    let found = repository.call(&repository.bisect(&["--setup", "./build.sh", "--margin", "60%"]));
    found.expect(0);
    let text: Vec<&str> = found.stdout.split_whitespace().collect();
    let text = text.join(" ");
    assert!(
        text.contains("and main are equivalent within 60 %: main takes "),
        "{text}"
    );
    assert!(text.contains("so there is no change to find."), "{text}");
}

#[test]
fn a_bisection_continues_after_ctrl_c_and_after_kill() {
    let repository = Repository::new(&HISTORY);
    let start = |args: &[&str]| {
        let mut command = repository.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("benchlab starts")
    };
    let has = |name: &str| {
        let runs = fs::read_dir(repository.project.join("runs"));
        let folders = runs
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let files = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        files
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .any(|file| file.starts_with(name) && file.ends_with(".lab"))
    };
    let first = start(&repository.bisect(&["--setup", "./build.sh"]));
    wait_until("the ends", || has("ends-1"));
    send_signal(first.id() as i32, Signal::SIGINT);
    let stopped = outcome(first.wait_with_output().unwrap());
    stopped
        .expect(130)
        .says(&["stopped; continue with `benchlab resume "]);
    repository.assert_clean();
    let file = repository.file().display().to_string();
    // The new time limit is stored even if the bisection is stopped before its next result.
    let mut second = start(&["resume", &file, "--for", "20m"]);
    wait_until("the ends again", || has("ends-2"));
    second.kill().unwrap();
    second.wait().unwrap();
    let limit = &repository.state()["request"]["budget_ns"];
    assert_eq!(limit.as_u64(), Some(1_200_000_000_000));
    let mut third = start(&["resume", &file]);
    wait_until("a probe", || has("probe-"));
    third.kill().unwrap();
    third.wait().unwrap();
    assert!(
        repository.state()["steps"]
            .as_array()
            .is_some_and(|steps| !steps.is_empty())
    );
    let found = repository.call(&["resume", &file]);
    found.expect(0);
    let culprit = &repository.commits[3];
    assert!(
        found.stdout.starts_with(&format!("{culprit} made prog ")),
        "{}",
        found.stdout
    );
    repository.assert_clean();
}

#[test]
fn a_dry_run_predicts_the_measurements_and_their_duration() {
    let repository = Repository::new(&HISTORY);
    let found = repository.call(&repository.bisect(&["--setup", "./build.sh", "--dry-run"]));
    found.expect(0);
    assert!(
        found
            .stdout
            .starts_with("At most 5 measurements find one change among 5 commits. They take "),
        "{}",
        found.stdout
    );
    assert!(!repository.project.join("runs").exists());
    repository.assert_clean();
}

#[test]
fn a_dry_run_runs_the_command_as_a_measurement_does() {
    let repository = Repository::new(&[Sleeps("0.01"), Sleeps("0.01")]);
    fs::write(repository.project.join("input.txt"), "expected\n").unwrap();
    let args = [
        "bisect",
        "--good",
        &repository.commits[0],
        "--bad",
        "main",
        "--prepare",
        "touch prepared",
        "--input",
        "input.txt",
        "--cleanup",
        "rm prepared",
        "--dry-run",
        "--",
        "sh",
        "-c",
        "test -e prepared && grep -q expected",
    ];
    let found = repository.call(&args);
    found.expect(0);
    assert!(found.stdout.starts_with("At most "), "{}", found.stdout);
}

#[test]
fn invalid_bisections_are_rejected() {
    let repository = Repository::new(&[Broken, Sleeps("0.02")]);
    let (first, last) = (repository.commits[0].clone(), repository.commits[1].clone());
    let refused = [
        (
            vec!["--good", &*first, "--bad", "nowhere", "./prog"],
            "unknown revision `nowhere`",
        ),
        (
            vec!["--good", &*last, "--bad", &*first, "./prog"],
            "is not an ancestor of",
        ),
        (
            vec!["--good", &*last, "--bad", "HEAD", "./prog"],
            "are the same commit",
        ),
        (
            vec!["--good", &*first, "--bad", ".", "./prog"],
            "`.` is the working tree",
        ),
        (
            vec!["--good", &*first, "--bad", "HEAD"],
            "there is nothing to measure",
        ),
    ];
    for (args, says) in refused {
        let args = [&["bisect"][..], &args].concat();
        repository.call(&args).expect(2).says(&[says]);
    }
    repository
        .call(&repository.bisect(&["--setup", "./build.sh"]))
        .expect(1)
        .says(&[
            "cannot measure the good commit",
            "the source is missing; choose another good commit",
        ]);
    repository.assert_clean();
}

#[test]
fn an_edited_state_is_rejected_with_its_position() {
    let project = Project::noop(&[]);
    let folder = project.join("x.bisect");
    fs::create_dir(&folder).unwrap();
    for (text, says) in [
        ("", "line 1 column 0"),
        (
            "{\"format\": \"benchlab-bisection\", \"version\": 9}",
            "got benchlab-bisection, version 9",
        ),
        (
            "{\"format\": \"benchlab-bisection\", \"version\": 1}",
            "missing field",
        ),
    ] {
        fs::write(folder.join("bisection.json"), text).unwrap();
        let folder = folder.display().to_string();
        project
            .call(&["report", &folder])
            .expect(2)
            .says(&["bisection.json", says]);
        project
            .call(&["resume", &folder])
            .expect(2)
            .says(&["bisection.json", says]);
    }
}

#[test]
fn all_commits_of_a_range_are_measured_and_the_step_is_named() {
    let repository =
        Repository::new(&[Sleeps("0.06"), Sleeps("0.06"), Sleeps("0.3"), Sleeps("0.3")]);
    let range = format!("{}..HEAD", repository.commits[0]);
    let args = [
        "compare",
        "--rev",
        &range,
        "--setup",
        "./build.sh",
        "--blocks",
        "12",
        "--pairs",
        "1",
        "--redo",
        "0",
        "--",
        "./prog",
    ];
    let found = repository.call(&args);
    found.expect(0);
    let culprit = &repository.commits[2];
    let text: Vec<&str> = found.stdout.split_whitespace().collect();
    let text = text.join(" ");
    let (answer, _) = text.split_once(" How long").expect("a question");
    // In 1 of 20 runs, noise names another commit, too.
    assert!(
        answer.contains(" of 3 commits changed the time: ")
            && answer.contains(&format!("{culprit} to ")),
        "{text}"
    );
    // The history shows commits rather than HEAD.
    let run = repository.project.load();
    let names: Vec<&str> = run
        .plan()
        .unwrap()
        .subjects
        .iter()
        .map(|s| s.name.as_str())
        .collect();
    assert_eq!(names[..4], repository.commits[..]);
}

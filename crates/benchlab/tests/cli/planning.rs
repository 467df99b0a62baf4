// SPDX-License-Identifier: Apache-2.0
//! `--plan`: measures a pilot, shows the cost of a run on one screen, and saves no file.

use crate::project::{BENCHLAB, Outcome, Project, outcome};
use std::process::{Command, Stdio};

/// Options for a pilot with four blocks of two pairs.
const SHORT: [&str; 4] = ["--plan=4", "--pairs", "2", "--seed"];

fn compare(project: &Project, args: &[&str]) -> Outcome {
    let mut command = Command::new(BENCHLAB);
    command.arg("compare").args(SHORT).arg("7").args(args);
    command.current_dir(project.path()).stdin(Stdio::null());
    command.env("BENCHLAB_PROJECT", project.path());
    outcome(command.output().expect("benchlab starts"))
}

#[track_caller]
fn assert_fits_a_screen(text: &str) {
    assert!(text.lines().count() <= 40, "{text}");
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert!(wide.is_none(), "{wide:?}\n{text}");
}

#[test]
fn commands_are_planned_and_nothing_is_saved() {
    let project = Project::noop(&[]);
    let planned = compare(&project, &["true", "sleep 0.002", "--margin", "5%"]);
    planned.expect(0);
    assert_fits_a_screen(&planned.stdout);
    for part in [
        "1 %",
        "2 %",
        "5 %",
        "10 %",
        "none (±5 %)",
        "80 % power",
        "B varies by",
    ] {
        assert!(planned.stdout.contains(part), "{part}: {}", planned.stdout);
    }
    assert!(
        planned.stdout.contains("5 % at 80 % power: "),
        "{}",
        planned.stdout
    );
    assert!(project.files().is_empty());
}

#[test]
fn the_most_expensive_points_come_first() {
    let project = Project::noop(&[]);
    let sweep = [
        "--sweep",
        "n=1,2,3,4,5,6,7,8,9,10",
        "sleep 0.00{n}",
        "sleep 0.001",
    ];
    let planned = compare(&project, &sweep);
    planned.expect(0);
    assert_fits_a_screen(&planned.stdout);
    assert!(planned.stdout.contains("B at n="), "{}", planned.stdout);
    assert!(
        planned
            .stdout
            .contains("Not listed: 7 comparisons with fewer blocks"),
        "{}",
        planned.stdout
    );
}

#[test]
fn an_experiment_is_planned() {
    let project = Project::noop(&[]);
    let planned = project.call(&["run", "t", "--plan=3", "--quick", "--pairs", "2"]);
    planned.expect(0);
    assert_fits_a_screen(&planned.stdout);
    assert!(
        planned.stdout.contains("second varies by"),
        "{}",
        planned.stdout
    );
    assert!(project.files().is_empty());
}

#[test]
fn failing_and_single_commands_cannot_be_planned() {
    let project = Project::noop(&[]);
    let failed = compare(&project, &["true", "false"]);
    failed.expect(1);
    assert!(
        failed.stderr.contains("compared no subjects: B failed"),
        "{}",
        failed.stderr
    );
    compare(&project, &["true"]).expect(1);
}

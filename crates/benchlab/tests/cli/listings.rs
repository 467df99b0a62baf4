// SPDX-License-Identifier: Apache-2.0
//! Listings written by builds of subjects: stored in the run and shown in the report.

use crate::project::{NOOP, Project, assert_failures, subject};

const HEAD: &str = r#"
[experiment]
title = "Tried out"
question = "What was built?"
baseline = "honest"
"#;

/// Creates subjects, the last of which has a listing.
fn project() -> Project {
    let subjects = ["honest", "other", "listed"].map(|name| subject(name, &["plain.py"]));
    let text = format!(
        "{HEAD}{NOOP}{}listing = \"build/loop.txt\"\n",
        subjects.concat()
    );
    let project = Project::with_text(&text);
    std::fs::create_dir_all(project.join("build")).unwrap();
    project
}

fn write(project: &Project, text: &str) {
    std::fs::write(project.join("build/loop.txt"), text).unwrap();
}

#[test]
fn a_listing_is_shown_as_it_was_when_the_run_began() {
    let project = project();
    write(&project, "loop:\n    lock xadd <%rax>\n");
    project.run_blocks("1", "1", &[]).expect(0);
    write(&project, "another build");
    let file = project.file();
    let full = project.call(&["report", file.to_str().unwrap(), "--full"]);
    let html = std::fs::read_to_string(file.with_extension("html")).unwrap();
    assert!(full.stdout.contains("lock xadd <%rax>"), "{}", full.stdout);
    assert!(html.contains("lock xadd &lt;%rax&gt;"));
    assert!(!html.contains("another build"));
}

#[test]
fn a_listing_that_is_not_there_or_too_long_is_a_failure() {
    let project = project();
    let assert_fails = |reason| {
        project.run_blocks("1", "1", &[]).expect(0);
        assert_failures(&project.load(), &[("listed", "start", reason)]);
        std::fs::remove_file(project.file()).unwrap();
    };
    assert_fails("its listing `build/loop.txt`: No such file");
    write(&project, &"x".repeat(65_537));
    assert_fails("its listing `build/loop.txt`: longer than 65536 bytes");
}

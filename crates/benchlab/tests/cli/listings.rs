// SPDX-License-Identifier: Apache-2.0
//! Listings that builds of subjects write. They are stored in the run and shown in the report.

use crate::project::{NOOP, Project, assert_failures, subject};
use serde_json::Value;

const HEAD: &str = r#"
[experiment]
title = "Tried out"
question = "What was built?"
baseline = "honest"
"#;

/// Creates a project whose last subject has a listing.
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
fn a_missing_or_too_long_listing_is_a_failure() {
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

fn json(project: &Project, args: &[&str]) -> Value {
    let listed = project.call(&[args, &["--format", "json"]].concat());
    listed.expect(0);
    serde_json::from_str(&listed.stdout).expect("JSON")
}

#[test]
fn experiments_and_runs_are_listed_as_json() {
    let rare = "\n[[subject]]\nname = \"rare\"\nlanguage = \"Rare\"\ndriver = \"none\"\nprogram = [\"true\"]\n\
                needs = [\"rare\"]\ndefault = false\n";
    let project = Project::noop(&[rare.to_owned()]);
    let all = json(&project, &["list"]);
    assert_eq!(all[0]["name"], "t");
    assert_eq!(all[0]["question"], "Does it hold?");
    let one = json(&project, &["list", "t"]);
    assert_eq!(one["cases"][0]["name"], "noop");
    let subjects = one["subjects"].as_array().unwrap();
    assert_eq!(subjects[0]["role"], "the baseline");
    let rare = subjects.iter().find(|s| s["name"] == "rare").unwrap();
    assert_eq!(rare["missing"][0]["title"], "Rare compiler");
    assert_eq!(
        json(&project, &["list", "--runs"]),
        Value::Array(Vec::new())
    );
    project
        .run_blocks("1", "1", &["--subjects", "honest,second"])
        .expect(0);
    std::fs::write(project.join("runs/broken.lab"), "no run").unwrap();
    let runs = json(&project, &["list", "--runs"]);
    let runs = runs.as_array().unwrap();
    let measured = runs.iter().find(|run| run["kind"] == "measured").unwrap();
    assert_eq!(
        (&measured["name"], &measured["blocks"]),
        (&"t".into(), &1.into())
    );
    assert!(runs.iter().any(|run| run.get("error").is_some()));
}

#[test]
fn the_host_and_the_values_of_rules_are_listed_as_json() {
    let project = Project::noop(&[]);
    let host = json(&project, &["doctor"]);
    assert!(
        host["facts"]
            .as_object()
            .is_some_and(|facts| !facts.is_empty())
    );
    for finding in host["findings"].as_array().unwrap() {
        assert!(finding["unfit"].is_boolean() && finding["advice"].is_string());
    }
    let toolchains = host["toolchains"].as_array().unwrap();
    let rare = toolchains.iter().find(|one| one["name"] == "rare").unwrap();
    assert_eq!(rare["present"], false);
    let classes = json(&project, &["audit", "values"]);
    let disk = json(&project, &["audit", "values", "disk"]);
    assert_eq!(classes["disk"], disk);
    assert_eq!(disk[0]["name"], "name");
}

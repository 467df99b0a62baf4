// SPDX-License-Identifier: Apache-2.0
//! `list` and `doctor`: columns that fit a screen, whatever names are in them, and advice that is never empty.

use crate::project::{Project, subject};
use std::fs;

const LONG: &str = "a-name-that-is-as-long-as-somebody-who-tries-out-names-would-make-it";

/// A project with a long name wherever one can be, and toolchains that no package or no advice brings.
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

fn fits(text: &str) {
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert!(wide.is_none(), "{wide:?} in:\n{text}");
}

#[test]
fn long_names_break_no_column() {
    let project = project();
    for words in [&["list"][..], &["list", "t"], &["doctor"]] {
        fits(&project.call(words).expect(0).stdout);
    }
}

#[test]
fn the_doctor_says_what_brings_each_thing_and_the_one_command_for_all() {
    let ended = project().call(&["doctor"]);
    ended.expect(0).shows(&[
        "missing  Rare compiler: apt-get install rare-compiler rare-runtime\n",
        "missing  Rarer compiler: apt-get install rarer\n",
        "missing  Unknown tool: no package brings it\n",
        "all packages: apt-get install rare-compiler rare-runtime rarer\n",
    ]);
}

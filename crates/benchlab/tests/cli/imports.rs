// SPDX-License-Identifier: Apache-2.0
//! Results of other tools: they are imported, compared, and listed in histories like benchlab's own
//! runs.

use crate::project::{BENCHLAB, Outcome, outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Returns the path of a file that another tool wrote.
fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-import/tests/files");
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

/// A directory outside of a project, with its own runs.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().expect("a directory"))
    }

    fn call(&self, args: &[&str]) -> Outcome {
        let mut command = Command::new(BENCHLAB);
        command.args(args).current_dir(self.0.path());
        command
            .env_remove("BENCHLAB_PROJECT")
            .env("XDG_DATA_HOME", self.0.path());
        outcome(command.output().unwrap())
    }

    fn run(&self, name: &str) -> PathBuf {
        self.0.path().join("benchlab/runs").join(name)
    }
}

#[test]
fn two_files_are_imported_and_compared() {
    let home = Home::new();
    let (old, new) = (file("hyperfine-old.json"), file("hyperfine-new.json"));
    home.call(&["import", &old, &new])
        .expect(0)
        .shows(&["second / first", "not in turns"])
        .says(&["subjects into ", "hyperfine-old.lab", "hyperfine-new.lab"]);
    let runs = ["hyperfine-old.lab", "hyperfine-new.lab"].map(|name| home.run(name));
    let [first, second] = runs.each_ref().map(|run| run.to_str().unwrap());
    // Comparing the imported runs gives the same changes as comparing the files.
    let csv = |a: &str, b: &str| {
        let outcome = home.call(&["diff", a, b, "--format", "csv"]);
        let rows = outcome
            .expect(0)
            .stdout
            .lines()
            .map(|row| row.split_once(',').unwrap().1);
        rows.map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(csv(first, second), csv(&old, &new));
    assert!(csv(&old, &new).len() > 4);
    for file in [first, &old] {
        let report = home.call(&["report", file]);
        // The sentence may continue on the next line at any blank.
        let words: Vec<&str> = report.expect(0).stdout.split_whitespace().collect();
        let text = words.join(" ");
        assert!(text.contains("times sh -c \"exit 0\"'s time"), "{text}");
    }
    home.call(&["list", "--runs"])
        .expect(0)
        .shows(&["8 imported series"]);
    home.call(&["history"]).expect(0).shows(&["hyperfine"]);
    home.call(&["history", "hyperfine"])
        .expect(0)
        .shows(&["No lasting change in 2 runs"]);
    // A second import of the same file gets its own name.
    home.call(&["import", &old]).expect(0);
    assert!(home.run("hyperfine-old-2.lab").exists());
}

#[test]
fn imported_runs_have_names_in_histories() {
    let home = Home::new();
    home.call(&[
        "import",
        "--name",
        "parser",
        "--from",
        "go",
        &file("go-old.txt"),
    ])
    .expect(0);
    home.call(&["history", "parser"])
        .expect(0)
        .shows(&["1 run"]);
    home.call(&["history", "parser", "--fail-if", "change>3%"])
        .expect(2)
        .says(&["not with imported results"]);
    home.call(&["history", "go"])
        .expect(2)
        .says(&["available: parser"]);
}

#[test]
fn one_process_has_no_verdict_and_joined_files_have_one() {
    let home = Home::new();
    let wrk = file("wrk.txt");
    home.call(&["import", &wrk])
        .expect(0)
        .shows(&["One process: no verdict.", "Run wrk 10 times"]);
    let copies: Vec<&str> = vec![&wrk; 8];
    let join = [
        &["import", "--join"],
        &copies[..],
        &["--output", "joined.lab"],
    ]
    .concat();
    let joined = home.call(&join);
    assert!(
        !joined.expect(0).stdout.contains("One process"),
        "{joined:#?}"
    );
    let mixed = ["import", "--join", &wrk, &file("oha.json")];
    home.call(&mixed)
        .expect(2)
        .says(&["cannot join files of different tools"]);
}

#[test]
fn a_damaged_file_imports_nothing() {
    let home = Home::new();
    let text = fs::read_to_string(file("jmh.json")).unwrap();
    fs::write(home.0.path().join("cut.json"), &text[..text.len() / 2]).unwrap();
    let good = file("hyperfine-old.json");
    home.call(&["import", &good, "cut.json"])
        .expect(2)
        .says(&["cut.json: line ", "truncated"]);
    assert!(
        !home.run("").exists(),
        "if one file is damaged, no file is imported"
    );
    home.call(&["import", "--from", "jmh", &good])
        .expect(2)
        .says(&[
            "hyperfine-old.json: the top level: expected a list, found an object (read as jmh)",
        ]);
    home.call(&["import", "--from", "nothing", &good])
        .expect(2)
        .says(&["hyperfine", "hlog"]);
    home.call(&["import"]).expect(2);
    home.call(&["import", &good, &good, "--output", "x.lab"])
        .expect(2)
        .says(&["--output takes one file"]);
    home.call(&["diff", &good, &file("wrk.txt")])
        .expect(2)
        .says(&["no benchmark in common"]);
}

#[test]
fn imported_values_are_shown_next_to_measured_ones() {
    let home = Home::new();
    let runs = home.0.path().join("compare");
    fs::create_dir(&runs).unwrap();
    let compare = [
        "compare", "true", "true", "--blocks", "2", "--pairs", "1", "--runs", "compare",
    ];
    let outcome = home.call(&compare);
    let mut files = fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let own = files
        .find(|path| path.extension().is_some_and(|e| e == "lab"))
        .unwrap_or_else(|| panic!("{outcome:#?}"));
    home.call(&["import", &file("jmh.json"), "--output", "jmh.lab"])
        .expect(0);
    let own = own.to_str().unwrap();
    home.call(&["report", own, "--with", "jmh.lab", "--full"])
        .expect(0)
        .shows(&["Imported from jmh.lab", "b.Sums.loop size=10"]);
    home.call(&["diff", own, "jmh.lab"])
        .expect(2)
        .says(&["cannot compare imported results with a run that benchlab measured"]);
}

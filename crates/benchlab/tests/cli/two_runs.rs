// SPDX-License-Identifier: Apache-2.0
//! `benchlab diff A.lab B.lab`: two runs of the same experiment.

use crate::project::{Outcome, Project};
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

/// Creates a project with two runs of six blocks, the earlier run first.
fn project_with_two_runs() -> (Project, [PathBuf; 2]) {
    let project = Project::noop(&[]);
    for seed in ["7", "8"] {
        let blocks = ["--blocks", "6", "--pairs", "1"];
        let run = ["run", "t", "--quick", "--no-control", "--seed", seed];
        project.call(&[&run[..], &blocks].concat()).expect(0);
    }
    let mut files = project.files();
    files.sort_by_key(|file| lab_store::load(file).unwrap().started_unix_s.to_bits());
    let files = files.try_into().expect("two run files");
    (project, files)
}

fn diff(project: &Project, words: &[&PathBuf], more: &[&str]) -> Outcome {
    let words = words.iter().map(|path| path.to_str().expect("UTF-8"));
    let args: Vec<&str> = ["diff"].into_iter().chain(words).collect();
    project.call(&[&args, more].concat())
}

fn change(file: &PathBuf, sql: &str) {
    let db = Connection::open(file).unwrap();
    assert!(db.execute(sql, []).unwrap() > 0, "{sql} changed nothing");
}

#[test]
fn changes_are_shown_with_their_caveats_and_exported() {
    let (project, [first, second]) = project_with_two_runs();
    // The second run looks as if `second` had been built from different sources and each of its
    // turns had taken twice as long.
    change(
        &second,
        "UPDATE hash SET sha256 = 'other' WHERE path = 'second'",
    );
    change(
        &second,
        "UPDATE sample SET wall_ns = 100 * (SELECT max(wall_ns) FROM sample) WHERE subject = 1",
    );
    // Its pilot would show that such turns are not at the steady level.
    change(&second, "DELETE FROM pilot_batch WHERE subject = 1");
    let before = [&first, &second].map(|file| fs::read(file).unwrap());
    let plots = project.join("plots");
    let exports = ["md", "csv", "json", "html", "xlsx", "txt", "xml"];
    let exports = exports.map(|ending| project.join(format!("two.{ending}")));
    let mut more = vec!["--export", plots.to_str().unwrap()];
    fs::create_dir(&plots).unwrap();
    for file in &exports {
        more.extend(["--export", file.to_str().unwrap()]);
    }
    let outcome = diff(&project, &[&first, &second], &more);
    outcome.expect(0);
    let report = &fs::read_to_string(&exports[5]).unwrap();
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "second (different program): its ratio of time is",
        "times what it was",
        "slower",
        "The baseline honest, the same program in both runs,",
        "program of second",
    ] {
        assert!(words.contains(text), "no `{text}` in {report}");
    }
    assert!(exports.iter().all(|f| fs::metadata(f).unwrap().len() > 100));
    assert!(plots.join("answer.svg").is_file());
    let after = [&first, &second].map(|file| fs::read(file).unwrap());
    assert!(before == after, "a run file was changed");
}

#[test]
fn incomparable_runs_are_errors_with_advice() {
    let (project, [first, second]) = project_with_two_runs();
    let missing = project.join("missing.lab");
    diff(&project, &[&first, &missing], &[])
        .expect(2)
        .says(&["missing.lab: no such file"]);
    diff(&project, &[&first, &first], &[])
        .expect(2)
        .says(&["both files contain the same run"]);
    let other = "UPDATE meta SET value = replace(value, '\"experiment\":\"t\"', \
                 '\"experiment\":\"u\"') WHERE key = 'plan'";
    change(&second, other);
    diff(&project, &[&first, &second], &[])
        .expect(2)
        .says(&["the runs are of different experiments, t and u"]);
}

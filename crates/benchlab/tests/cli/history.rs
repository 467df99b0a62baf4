// SPDX-License-Identifier: Apache-2.0
//! `benchlab history`: the runs that it shows, values that equal the values in the runs' reports,
//! and files that are not runs.

use crate::project::{BENCHLAB, Outcome, outcome};
use lab_model::{
    Batch, BlockState, Case, CaseId, Command as Line, Disturbance, Ending, Failure, Host, Imported,
    Measure, Plan, Point, PointId, Sample, Subject, SubjectId,
};
use lab_store::RunWriter;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A run that a test writes to a file: by default the comparison `sort` of A and B, with twelve
/// blocks at one point.
struct TestRun {
    name: &'static str,
    day: u32,
    /// The time of B divided by the time of A.
    ratio: f64,
    blocks: u32,
    points: usize,
    kernel: &'static str,
    /// The program hashes of A and B.
    hashes: [&'static str; 2],
    revision: Option<&'static str>,
    subjects: [&'static str; 2],
    has_ended: bool,
}

impl Default for TestRun {
    fn default() -> TestRun {
        TestRun {
            name: "sort",
            day: 0,
            ratio: 1.0,
            blocks: 12,
            points: 1,
            kernel: "Linux 6.1",
            hashes: ["one", "two"],
            revision: None,
            subjects: ["A", "B"],
            has_ended: true,
        }
    }
}

impl TestRun {
    fn plan(&self) -> Plan {
        let subject = |i: usize| Subject {
            name: self.subjects[i].into(),
            program: vec!["sort".into(), format!("{i}.txt")],
            command: Some(Line {
                line: format!("sort {i}.txt"),
                revision: self.revision.filter(|_| i == 1).map(String::from),
                ..Line::default()
            }),
            ..Subject::default()
        };
        let point = |x: usize| Point {
            case: CaseId(0),
            params: vec![("n".into(), x.to_string())],
            x: Some(x as f64),
            ..Point::default()
        };
        Plan {
            experiment: self.name.into(),
            title: "A against B".into(),
            subjects: [subject(0), subject(1)].into(),
            cases: [Case {
                name: "run".into(),
                work: "one process".into(),
                unit: "process".into(),
                sweep: Some("n".into()),
                ..Case::default()
            }]
            .into(),
            points: (1..=self.points).map(point).collect(),
            measure: Measure {
                pairs: 2,
                max_blocks: self.blocks,
                alpha: 0.05,
                margin: 0.02,
                ..Measure::default()
            },
            ..Plan::default()
        }
    }

    /// Writes the run as `runs/<name of the file>.lab`.
    fn write(&self, folder: &Path, file: &str) -> PathBuf {
        let path = folder.join(format!("{file}.lab"));
        let began = 1_795_000_000.0 + f64::from(self.day) * 86_400.0;
        let run = RunWriter::create(&path, "1.2.3", began).unwrap();
        let facts = [("cpu", "some cpu"), ("kernel", self.kernel)];
        run.host(&Host {
            facts: facts.map(|(k, v)| (k.into(), v.into())).into(),
            findings: Vec::new(),
        })
        .unwrap();
        run.plan(&self.plan()).unwrap();
        for (subject, hash) in self.subjects.iter().zip(self.hashes) {
            run.hash(subject, hash).unwrap();
        }
        for number in 0..self.blocks {
            let block = run.begin_block(number, 0, 0, began).unwrap();
            for sample in self.samples(number) {
                block.sample(&sample, 1, 1).unwrap();
            }
            block
                .finish(BlockState::Complete, 1_000_000, &Disturbance::default())
                .unwrap();
        }
        run.finish(self.has_ended.then_some(Ending::Blocks), None)
            .unwrap();
        path
    }

    /// Returns the samples of a block. A takes 10 ms, and B takes `ratio` times as long. Blocks
    /// differ slightly.
    fn samples(&self, block: u32) -> Vec<Sample> {
        let mut samples = Vec::new();
        for point in (0..self.points).map(PointId::from_index) {
            for pass in 0..4 {
                for subject in 0..2 {
                    let unequal = f64::from((block * 7 + subject * 3) % 5) * 20_000.0;
                    let factor = if subject == 1 { self.ratio } else { 1.0 };
                    let wall_ns = (10_000_000.0 * factor + unequal) as u64;
                    samples.push(Sample {
                        point,
                        subject: SubjectId(subject),
                        pass,
                        turn: subject,
                        batch: Batch {
                            operations: 1,
                            wall_ns,
                            cpu_ns: wall_ns,
                            server_cpu_ns: None,
                        },
                    });
                }
            }
        }
        samples
    }
}

/// Runs `benchlab history … --runs DIR`.
fn history(folder: &Path, args: &[&str]) -> Outcome {
    let mut command = Command::new(BENCHLAB);
    command.arg("history").args(args).arg("--runs").arg(folder);
    outcome(command.current_dir("/").output().unwrap())
}

/// Returns the rows of `--format csv` by column, without rows of baselines.
fn rows(folder: &Path, args: &[&str]) -> Vec<HashMap<String, String>> {
    let mut rows = all_rows(folder, args);
    rows.retain(|row| row["role"] != "baseline");
    rows
}

fn all_rows(folder: &Path, args: &[&str]) -> Vec<HashMap<String, String>> {
    let outcome = history(folder, &[args, &["--format", "csv"]].concat());
    outcome.expect(0);
    let mut reader = csv::Reader::from_reader(outcome.stdout.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

fn column(rows: &[HashMap<String, String>], name: &str) -> Vec<String> {
    rows.iter().map(|row| row[name].clone()).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[track_caller]
fn assert_fits(text: &str) {
    for line in text.lines() {
        let width = line.chars().count();
        assert!(width <= 80, "{width} columns: {line}");
    }
}

/// Writes three runs of `sort`, not in chronological order, and one of `other`.
fn three_runs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let test_run = |name, day, ratio| TestRun {
        name,
        day,
        ratio,
        ..TestRun::default()
    };
    test_run("sort", 2, 0.8).write(folder.path(), "a");
    test_run("sort", 0, 1.0).write(folder.path(), "b");
    test_run("sort", 1, 1.25).write(folder.path(), "c");
    test_run("other", 3, 3.0).write(folder.path(), "d");
    folder
}

#[test]
fn the_runs_of_a_name_from_the_oldest_to_the_latest() {
    let folder = three_runs();
    let rows = rows(folder.path(), &["sort"]);
    assert_eq!(column(&rows, "run"), ["b.lab", "c.lab", "a.lab"]);
    assert_eq!(column(&rows, "verdict"), ["equivalent", "slower", "faster"]);
    for (row, truth) in rows.iter().zip([1.0, 1.25, 0.8]) {
        let number = |column: &str| row[column].parse::<f64>().unwrap();
        assert!(
            number("ratio_low") <= truth && truth <= number("ratio_high"),
            "{row:?}"
        );
        assert!(number("ratio_level") >= 0.95, "{row:?}");
    }
    let baselines = all_rows(folder.path(), &["sort"]);
    let baselines: Vec<_> = baselines
        .iter()
        .filter(|r| r["role"] == "baseline")
        .collect();
    assert_eq!(baselines.len(), 3);
    for row in baselines {
        let number = |column: &str| row[column].parse::<f64>().unwrap();
        assert!(number("low") <= number("value") && number("value") <= number("high"));
    }
    let text = history(folder.path(), &["sort", "--full"])
        .expect(0)
        .stdout
        .clone();
    assert_fits(&text);
    let position = |text_: &str| {
        text.find(text_)
            .unwrap_or_else(|| panic!("no {text_} in {text}"))
    };
    assert!(position("2026-11-18 11:06") < position("2026-11-19 11:06"));
    assert!(position("2026-11-19 11:06") < position("2026-11-20 11:06"));
    assert!(text.contains("B, ratio to A"), "{text}");
    assert!(
        !text.contains("mark"),
        "no run differs and no run is missing: {text}"
    );
    let last = self::rows(folder.path(), &["sort", "--last", "2"]);
    assert_eq!(column(&last, "run"), ["c.lab", "a.lab"]);
}

#[test]
fn the_first_screen_is_the_result() {
    let folder = tempfile::tempdir().unwrap();
    for day in 0..45 {
        let name: &'static str = format!("name-{day:02}").leak();
        for name in ["sort", name] {
            let test_run = TestRun {
                name,
                day,
                ..TestRun::default()
            };
            test_run.write(folder.path(), &format!("{day:02}-{name}"));
        }
    }
    let screen = |args: &[&str]| history(folder.path(), args).expect(0).stdout.clone();
    let answer = screen(&["sort"]);
    assert!(answer.lines().count() <= 40, "{answer}");
    assert!(!answer.contains("A row for each run."), "{answer}");
    assert!(answer.contains("\nAll tables: --full.\n"), "{answer}");
    let names = screen(&[]);
    assert!(names.lines().count() <= 40, "{names}");
    assert!(
        names.contains("\nnot listed: 16 names with older runs; use --full\n"),
        "{names}"
    );
    assert!(
        names.contains("\nname-44 ") && !names.contains("\nname-00 "),
        "{names}"
    );
    assert!(screen(&["--full"]).contains("\nname-00 "));
}

#[test]
fn the_run_with_which_a_ratio_changed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for day in 0..12 {
        let changed = day >= 6;
        TestRun {
            day,
            ratio: if changed { 1.3 } else { 1.1 },
            revision: changed.then_some(commit),
            ..TestRun::default()
        }
        .write(folder.path(), &format!("{day:02}"));
    }
    let text = history(folder.path(), &["sort", "--full"])
        .expect(0)
        .stdout
        .clone();
    assert_fits(&text);
    let sentence = "B's ratio to A changed with the run of 2026-11-24 11:06 (commit 0123456): 1.30";
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(sentence), "{text}");
    assert!(
        flat.contains("c: the ratio changed with this run"),
        "{text}"
    );
    let marks = column(&rows(folder.path(), &["sort"]), "note");
    let changed: Vec<bool> = marks.iter().map(|mark| mark.contains('c')).collect();
    assert_eq!(changed.iter().position(|c| *c), Some(6));
    assert_eq!(changed.iter().filter(|c| **c).count(), 1);
    let few = history(folder.path(), &["sort", "--last", "5"])
        .expect(0)
        .stdout
        .clone();
    assert!(
        few.contains("Too few runs to detect a change: at least 9 are needed."),
        "{few}"
    );
}

#[test]
fn values_equal_those_of_the_runs_reports() {
    let folder = three_runs();
    let history_json = json(&history(folder.path(), &["sort", "--format", "json"]).stdout);
    let rows = history_json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let file = folder.path().join(row["run"].as_str().unwrap());
        let mut report = Command::new(BENCHLAB);
        report.arg("report").arg(file).args(["--format", "json"]);
        let report = json(&outcome(report.output().unwrap()).expect(0).stdout);
        let same = |other: &&Value| {
            other["subject"] == row["subject"] && other["metric"]["id"] == row["metric"]["id"]
        };
        let reported = report["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(same)
            .unwrap();
        for column in ["ratio", "verdict", "blocks"] {
            assert_eq!(row[column], reported[column], "{column}");
        }
        if row["role"] == "baseline" {
            assert_eq!(row["value"], reported["value"]);
        }
    }
}

#[test]
fn several_points_have_a_mean_and_verdicts_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let test_run = TestRun {
        points: 3,
        ratio: 1.25,
        ..TestRun::default()
    };
    test_run.write(folder.path(), "a");
    let rows = rows(folder.path(), &["sort"]);
    assert_eq!(column(&rows, "verdict"), [""]);
    assert!(rows[0]["ratio"].parse::<f64>().is_ok());
    assert_eq!(
        all_rows(folder.path(), &["sort"]).len(),
        1,
        "a single point has no mean over points"
    );
    let text = history(folder.path(), &["sort", "--full"]).stdout;
    assert!(text.contains("3 slower"), "{text}");
    assert_fits(&text);
}

#[test]
fn differences_from_the_latest_run_are_marked() {
    let write_changed = |change: &dyn Fn(&mut TestRun)| {
        let folder = tempfile::tempdir().unwrap();
        let mut earlier = TestRun::default();
        change(&mut earlier);
        earlier.write(folder.path(), "a");
        let latest = TestRun {
            day: 1,
            ..TestRun::default()
        };
        latest.write(folder.path(), "b");
        let rows = rows(folder.path(), &["sort"]);
        assert_eq!(
            rows[1]["note"], "",
            "the latest run does not differ from itself"
        );
        let text = history(folder.path(), &["sort", "--full"]).stdout;
        assert_fits(&text);
        (rows[0]["note"].clone(), text)
    };
    assert_eq!(write_changed(&|_| {}).0, "");
    let marked = |(marks, text): (String, String), letter: &str| {
        assert!(
            text.contains(&format!("{letter}: ")),
            "{letter} is explained: {text}"
        );
        assert_eq!(marks, letter);
    };
    let host = write_changed(&|m| m.kernel = "Linux 7.0");
    marked(host, "h");
    let baseline = write_changed(&|m| m.hashes[0] = "changed");
    marked(baseline, "b");
    let subject = write_changed(&|m| m.hashes[1] = "changed");
    marked(subject, "s");
    let points = write_changed(&|m| m.points = 2);
    marked(points, "p");
    let few = write_changed(&|m| m.blocks = 3);
    marked(few, "f");
    let running = write_changed(&|m| m.has_ended = false);
    marked(running, "u");
    let (marks, text) = write_changed(&|m| m.revision = Some("0123456789abcdef"));
    assert_eq!(marks, "s");
    assert!(
        text.contains("0123456") && !text.contains("01234567"),
        "{text}"
    );
}

#[test]
fn failed_subjects_have_a_row() {
    let folder = three_runs();
    let path = TestRun::default().write(folder.path(), "failed");
    let run = RunWriter::resume(&path).unwrap();
    run.failure(&Failure {
        subject: SubjectId(1),
        point: None,
        block: None,
        kind: "exit".into(),
        message: "it ended with status 1".into(),
        log: Vec::new(),
    })
    .unwrap();
    run.finish(Some(Ending::Failed), None).unwrap();
    let rows = rows(folder.path(), &["sort"]);
    let row = rows.iter().find(|r| r["run"] == "failed.lab").unwrap();
    assert_eq!(
        (row["verdict"].as_str(), row["ratio"].as_str()),
        ("failed", "")
    );
    let text = history(folder.path(), &["sort", "--full"]).stdout;
    assert!(text.lines().any(|line| line.contains("failed")), "{text}");
}

#[test]
fn without_a_name_all_names_are_listed() {
    let folder = three_runs();
    let text = history(folder.path(), &[]).expect(0).stdout.clone();
    let line = |name: &str| text.lines().find(|l| l.starts_with(name)).map(words);
    assert_eq!(line("sort").unwrap(), ["sort", "3", "2026-11-20", "11:06"]);
    assert_eq!(
        line("other").unwrap(),
        ["other", "1", "2026-11-21", "11:06"]
    );
    let names_json = json(&history(folder.path(), &["--format", "json"]).stdout);
    assert_eq!(names_json["rows"][1]["subject"], "sort");
    assert_eq!(names_json["rows"][1]["value"]["value"], 3.0);
    let rows = rows(folder.path(), &[]);
    assert_eq!(column(&rows, "subject"), ["other", "sort"]);
    let empty = tempfile::tempdir().unwrap();
    let screen = history(empty.path(), &[]).expect(0).stdout.clone();
    assert!(screen.contains("There are no runs: `benchlab run sql --quick` creates one."));
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn invalid_arguments() {
    let folder = three_runs();
    history(folder.path(), &["sotr"]).expect(2).says(&[
        "benchlab: there is no `sotr` among the runs in ",
        "; available: other, sort; did you mean `sort`?",
    ]);
    history(folder.path(), &["sort", "--subjects", "B,C"])
        .expect(2)
        .says(&["there is no `C` among the subjects in these runs of sort; available: B"]);
    let nowhere = folder.path().join("nowhere");
    history(&nowhere, &["sort"])
        .expect(2)
        .says(&["nowhere: no such directory"]);
    history(folder.path(), &["sort", "--format", "svg"])
        .expect(2)
        .says(&["[possible values: terminal, markdown, csv, json, xlsx, html, jsonl, github, gitlab, junit, sarif]"]);
    let empty = tempfile::tempdir().unwrap();
    history(empty.path(), &["sort"])
        .expect(2)
        .says(&["there are no runs in "]);
}

#[test]
fn files_that_are_not_runs_are_skipped() {
    let folder = three_runs();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let valid = fs::read(folder.path().join("a.lab")).unwrap();
    put("text.lab", &b"# not a run\n".repeat(100));
    put("cut.lab", &valid[..valid.len() / 2]);
    put("notes.txt", b"not looked at");
    fs::create_dir(folder.path().join("folder.lab")).unwrap();
    let imported = RunWriter::create(&folder.path().join("imported.lab"), "1", 1.0).unwrap();
    imported.import(&Imported::default()).unwrap();
    imported.finish(None, None).unwrap();
    // The file's heading is valid, but its samples refer to a missing subject.
    let odd = TestRun {
        day: 9,
        ..TestRun::default()
    };
    let odd = odd.write(folder.path(), "odd");
    let db = rusqlite::Connection::open(odd).unwrap();
    db.execute_batch("UPDATE sample SET subject = 99").unwrap();
    drop(db);
    let outcome = history(folder.path(), &["sort", "--last", "3", "--format", "csv"]);
    outcome.expect(0).says(&[
        "benchlab: skipped: ",
        "text.lab is not a run file: it is not an SQLite database",
        "cut.lab is damaged or truncated",
        "folder.lab is not a run file: it is a directory or a device",
        "odd.lab is damaged or truncated: a sample refers to subject 99",
    ]);
    assert!(!outcome.stderr.contains("notes.txt") && !outcome.stderr.contains("imported.lab"));
    assert_eq!(
        outcome.stdout.lines().count(),
        7,
        "expected three rows of the subject and three of the baseline: {}",
        outcome.stdout
    );
}

/// Names of runs may come from other people's files, so control characters are escaped.
#[test]
fn names_from_a_file_are_escaped_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = TestRun {
        name: "na\x1b[31mme\n",
        subjects: [
            "base | \x07line",
            "<b>数据库\x1b]0;title\x07 and a name that goes on and on and on and on",
        ],
        ..TestRun::default()
    };
    hostile.write(folder.path(), "a");
    for args in [
        &[][..],
        &["na\x1b[31mme\n"],
        &["na\x1b[31mme\n", "--format", "markdown"],
        &["x"],
    ] {
        let outcome = history(folder.path(), args);
        let clean = |text: &str| text.chars().all(|c| c == '\n' || !c.is_control());
        assert!(
            clean(&outcome.stdout) && clean(&outcome.stderr),
            "{outcome:?}"
        );
        assert!(!outcome.stdout.contains("| \x07") && !outcome.stderr.contains("panicked"));
    }
    assert_fits(&history(folder.path(), &["na\x1b[31mme\n"]).expect(0).stdout);
}

#[test]
fn directories_with_runs() {
    let home = tempfile::tempdir().unwrap();
    let create = |path: &str| {
        let folder = home.path().join(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    let write_run = |name, folder: &Path| {
        let test_run = TestRun {
            name,
            ..TestRun::default()
        };
        test_run.write(folder, "a");
    };
    write_run("in-home", &create(".local/share/benchlab/runs"));
    write_run("in-data", &create("data/benchlab/runs"));
    write_run("in-project", &create("project/runs"));
    create("project/experiments");
    let call = |folder: &Path, data: &str, args: &[&str]| {
        let mut command = Command::new(BENCHLAB);
        command.args(args);
        command.env_remove("BENCHLAB_PROJECT").current_dir(folder);
        command.env("HOME", home.path()).env("XDG_DATA_HOME", data);
        outcome(command.output().unwrap())
    };
    let names = |folder: &Path, data: &str, args: &[&str]| {
        call(
            folder,
            data,
            &[&["history", "--format", "csv"], args].concat(),
        )
    };
    let data = home.path().join("data");
    let data = data.to_str().unwrap();
    let assert_shows = |outcome: Outcome, name: &str| {
        let lines: Vec<&str> = outcome.expect(0).stdout.lines().collect();
        assert!(lines.len() == 2 && lines[1].contains(name), "{lines:?}");
    };
    assert_shows(names(home.path(), data, &[]), "in-data");
    assert_shows(names(home.path(), "", &[]), "in-home");
    assert_shows(names(home.path(), "data", &[]), "in-home");
    let project = home.path().join("project");
    assert_shows(names(&project, data, &[]), "in-project");
    let named = project.to_str().unwrap();
    assert_shows(
        names(home.path(), data, &["--project", named]),
        "in-project",
    );
    names(home.path(), data, &["--project", "nowhere"])
        .expect(2)
        .says(&["is not in a benchlab project"]);

    let exchanged = "<benchmark language='C' driver='d'><measures>\
                     <time count='1' time='1 us' title='t'/></measures></benchmark>";
    fs::write(home.path().join("exchanged.xml"), exchanged).unwrap();
    call(home.path(), data, &["import", "exchanged.xml"]).expect(0);
    assert!(
        home.path()
            .join("data/benchlab/runs/exchanged.lab")
            .exists()
    );
    call(home.path(), data, &["list", "--runs"])
        .expect(0)
        .shows(&["a.lab", "exchanged.lab"]);
}

// SPDX-License-Identifier: Apache-2.0
//! Fixtures: their states, the values that they pass to subjects, and their failures. Their changes
//! are undone no matter how benchlab exits.
//!
//! The fixture is a Python program that changes a file. The file represents a setting of the host.

use crate::project::{
    Outcome, Project, assert_failures, python, subject, subjects_folder, wait_until,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

const HEAD: &str = r#"
[experiment]
title = "Fixtures"
question = "Which one?"
baseline = "one"
targets = ["folder"]

[target.folder]

[[case]]
name = "work"
work = "nothing much"
unit = "operation"
latencies = true
rate = 20000
turn_ms = 40
"#;

const COLORS: &str = r#"
[experiment]
title = "Fixtures"
question = "Which one?"
baseline = "one"

[[case]]
name = "work"
work = "nothing much"
unit = "operation"
factor.color = ["plain", "red", "green"]
"#;

/// A project, a file that represents a setting of the host, and the logs of the subjects and the
/// fixture.
struct Fixtures {
    project: Project,
    host: PathBuf,
    notes: PathBuf,
    fixture_notes: PathBuf,
}

impl Fixtures {
    /// Creates a project without an experiment. The file contains `usual`.
    fn new() -> Fixtures {
        let project = Project::with_text("");
        let host = project.join("host");
        fs::write(&host, "usual").unwrap();
        Fixtures {
            notes: project.join("notes"),
            fixture_notes: project.join("fixture-notes"),
            project,
            host,
        }
    }

    /// Creates three subjects: `other` selects a changed state, `one` selects the current state,
    /// and `plain` selects no state. `plain` has the shortest latencies.
    fn by_subject(faults: &[&str]) -> Fixtures {
        let fixtures = Fixtures::new();
        let subjects = [("other", "9"), ("one", "5"), ("plain", "3")].map(|(name, latency)| {
            let [notes, host] = [&fixtures.notes, &fixtures.host].map(|p| p.to_str().unwrap());
            subject(name, &["folder.py", notes, host, latency])
        });
        let states = "state = \"subject\"\n[fixture.states]\n\
            other = { value = \"changed\" }\none = { value = \"usual\" }\n";
        let fixture = fixtures.fixture(faults, states);
        let text = HEAD.to_owned() + &fixture + &subjects.concat();
        fixtures.project.append(&text);
        fixtures
    }

    /// Creates a subject that logs the value that the fixture `colors` provides. `more` contains
    /// additional keys of the fixture.
    fn by_color(faults: &[&str], more: &str) -> Fixtures {
        let fixtures = Fixtures::new();
        let [notes, host] = [&fixtures.notes, &fixtures.host].map(|p| p.to_str().unwrap());
        let one = subject("one", &["surrounded.py", notes, host]);
        let states = format!(
            "{more}state = \"color\"\nprovides = [\"shade\", \"process\"]\n[fixture.states]\n\
             red = {{ value = \"dark red\" }}\ngreen = {{ value = 7 }}\n"
        );
        let text = COLORS.to_owned() + &fixtures.fixture(faults, &states) + &one;
        fixtures.project.append(&text);
        fixtures
    }

    /// Returns a `[[fixture]]` that runs host_file.py.
    fn fixture(&self, faults: &[&str], keys: &str) -> String {
        let script = subjects_folder().join("host_file.py");
        let words = [python(), "-BS", script.to_str().unwrap()].into_iter();
        let files = [&self.host, &self.fixture_notes].map(|path| path.to_str().unwrap());
        let words: Vec<&str> = words.chain(files).chain(faults.iter().copied()).collect();
        format!("\n[[fixture]]\nname = \"host\"\nprogram = {words:?}\n{keys}")
    }

    fn run(&self, more: &[&str]) -> Outcome {
        let work_directory = self.work_directory();
        self.project
            .run(&[&["--on", work_directory.to_str().unwrap()], more].concat())
    }

    fn work_directory(&self) -> PathBuf {
        let work_directory = self.project.join("place");
        fs::create_dir_all(&work_directory).unwrap();
        work_directory
    }

    fn value(&self) -> String {
        fs::read_to_string(&self.host).unwrap()
    }

    /// Returns the rest of each log line that begins with `label`.
    fn noted(&self, notes: &Path, label: &str) -> Vec<String> {
        let text = fs::read_to_string(notes).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.strip_prefix(label));
        lines.map(|line| line.trim().to_owned()).collect()
    }

    /// Returns the undo records.
    fn records(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.project.records());
        let paths = entries.into_iter().flatten().flatten().map(|e| e.path());
        let is_record = |path: &PathBuf| path.file_name().unwrap() != "lock";
        paths.filter(is_record).collect()
    }

    /// Returns the process of the only fixture that has an undo record. Returns `None` if there is
    /// no such record, or if it is being written.
    fn fixture_process(&self) -> Option<Pid> {
        let [record] = &self.records()[..] else {
            return None;
        };
        let text = fs::read_to_string(record).ok()?;
        let record: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(Pid::from_raw(record["process"].as_i64().unwrap() as i32))
    }

    /// Starts a long run and waits until the fixture has changed the state.
    fn start_in_turn(&self, blocks: &str) -> Child {
        let work_directory = self.work_directory();
        let run = [
            "run", "t", "--blocks", blocks, "--pairs", "40", "--seed", "7", "--redo", "0",
        ];
        let lab = self
            .project
            .start(&[&run[..], &["--on", work_directory.to_str().unwrap()]].concat());
        wait_until("another state", || self.value() == "changed");
        lab
    }

    /// Stops a run while the state is changed.
    fn stop_in_turn(&self, lab: &Child) {
        let lab_process = Pid::from_raw(lab.id() as i32);
        // benchlab switches the state back and forth. The state cannot change once benchlab is
        // stopped and the fixture has executed its last command.
        wait_until("it is stopped in a turn", || {
            kill(lab_process, Signal::SIGSTOP).unwrap();
            wait_until("it is stopped", || is_stopped(lab));
            std::thread::sleep(std::time::Duration::from_millis(20));
            let caught = self.value() == "changed";
            if !caught {
                kill(lab_process, Signal::SIGCONT).unwrap();
            }
            caught
        });
    }

    fn assert_nothing_left(&self) {
        assert_eq!(self.value(), "usual");
        assert_eq!(self.records(), Vec::<PathBuf>::new());
        for process in self.noted(&self.fixture_notes, "opened ") {
            let command = fs::read_to_string(format!("/proc/{process}/cmdline"));
            let command = command.unwrap_or_default();
            assert!(!command.contains("host_file.py"), "{process} is running");
        }
    }
}

/// Returns true if all threads of a process are stopped.
fn is_stopped(process: &Child) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", process.id()));
    threads.unwrap().flatten().all(|thread| {
        let text = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
        state.is_empty() || state.starts_with(['T', 'Z'])
    })
}

fn count<T: PartialEq<str>>(values: &[T], value: &str) -> usize {
    values.iter().filter(|other| **other == *value).count()
}

#[test]
fn states_are_set_for_turns_and_undone() {
    let fixtures = Fixtures::by_subject(&[]);
    let outcome = fixtures.run(&[]);
    outcome.expect(0);
    fixtures.assert_nothing_left();
    let run = fixtures.project.load();
    assert_failures(&run, &[]);
    // The subject whose state the machine already has is the baseline.
    let plan = run.plan().unwrap();
    assert_eq!(plan.subjects[plan.baseline].name, "one");
    // Two blocks of two mirrored pairs for each subject; `one` and `plain` are measured with the usual value.
    let seen = fixtures.noted(&fixtures.notes, "watched ");
    assert_eq!((count(&seen, "changed"), count(&seen, "usual")), (8, 16));
    // A fixture gets the directory in which the subject works.
    let work_directory = fixtures.work_directory().display().to_string();
    let checked = fixtures.noted(&fixtures.fixture_notes, "checked ");
    assert!(
        checked.contains(&format!("other changed {work_directory}")),
        "{checked:?}"
    );
    // `plain` has the shortest latencies and no state.
    let stdout = &outcome.stdout;
    assert!(
        stdout.contains("\nplain is ahead of all others.\n"),
        "{stdout}"
    );
    assert!(!outcome.stdout.contains("To make it permanent"));
}

#[test]
fn the_report_explains_how_to_make_the_best_state_permanent() {
    let fixtures = Fixtures::by_subject(&[]);
    let outcome = fixtures.run(&["--subjects", "other,one"]);
    let host = fixtures.host.display();
    let stdout = &outcome.expect(0).stdout;
    let words =
        format!("\none is ahead of all others.\nTo make it permanent, write usual\nto {host}\n");
    assert!(stdout.contains(&words), "{stdout}");
}

#[test]
fn a_fixture_whose_states_are_not_selected_is_not_started() {
    let fixtures = Fixtures::by_subject(&[]);
    fixtures.run(&["--subjects", "plain"]).expect(0);
    assert!(!fixtures.fixture_notes.exists());
}

#[test]
fn an_experiment_lists_its_fixtures() {
    for (fixtures, text) in [
        (Fixtures::by_subject(&[]), "one state for each subject"),
        (
            Fixtures::by_color(&[], "needs = [\"rare\"]\n"),
            "one state for each value of color\n        missing: Rare compiler",
        ),
    ] {
        let list = fixtures.project.call(&["list", "t", "--full"]);
        let text = format!("\nfixtures\n  host  {text}");
        assert!(list.expect(0).stdout.contains(&text), "{}", list.stdout);
    }
}

#[test]
fn values_of_a_fixture_are_arguments_of_open() {
    let fixtures = Fixtures::by_color(&[], "");
    fixtures.project.run(&[]).expect(0);
    fixtures.assert_nothing_left();
    let opened = fixtures.noted(&fixtures.notes, "");
    let processes = fixtures.noted(&fixtures.fixture_notes, "opened ");
    // One process checks the states, and one serves the run.
    let [_, process] = &processes[..] else {
        panic!("{processes:?}");
    };
    for (value, color, shade) in [
        ("dark red", "red", "light dark red"),
        ("7", "green", "light 7"),
    ] {
        let line = format!("{value}|{color}|{shade}|{process}");
        assert!(opened.contains(&line), "no {line} in {opened:?}");
    }
    // At a point without a state, the host is unchanged.
    let plain: Vec<&String> = opened
        .iter()
        .filter(|line| line.contains("|plain|"))
        .collect();
    assert!(!plain.is_empty());
    assert!(
        plain.iter().all(|line| line.starts_with("usual|")),
        "{plain:?}"
    );
}

#[test]
fn a_fixture_is_started_for_each_block_or_for_each_point() {
    let processes = |keys| {
        let fixtures = Fixtures::by_color(&[], keys);
        fixtures.project.run(&[]).expect(0);
        fixtures.assert_nothing_left();
        fixtures.noted(&fixtures.fixture_notes, "opened ").len()
    };
    // One process checks the states, one serves the pilots, and one serves each of the two blocks.
    assert_eq!(processes("start = \"block\"\n"), 4);
    // In a block, there is one process for each point that has a state. The pilots and the expected
    // results visit the points, too.
    assert_eq!(processes("start = \"point\"\n"), 1 + 2 + 2 + 2 * 2);
}

#[test]
fn an_unsupported_state_excludes_its_subject_or_points() {
    let fixtures = Fixtures::by_subject(&["unsupported=changed"]);
    let reason = format!("{} has no value changed", fixtures.host.display());
    let outcome = fixtures.run(&[]);
    outcome
        .expect(0)
        .says(&[&format!("other cannot run: {reason}")]);
    assert_failures(&fixtures.project.load(), &[("other", "fixture", &reason)]);

    let fixtures = Fixtures::by_color(&["unsupported=7"], "");
    let reason = format!("{} has no value 7", fixtures.host.display());
    let outcome = fixtures.project.run(&[]);
    outcome
        .expect(0)
        .says(&[&format!("excluded color=green: {reason}")]);
    let run = fixtures.project.load();
    let points = &run.plan().unwrap().points;
    assert!(
        points
            .iter()
            .all(|point| point.param("color") != Some("green"))
    );
    let requested = fixtures.project.run(&["--set", "color=green"]);
    requested
        .expect(2)
        .says(&[&format!("--set color=green: {reason}")]);
}

#[test]
fn only_the_baseline_is_measured_if_all_other_states_are_unsupported() {
    let fixtures = Fixtures::by_subject(&["unsupported=changed"]);
    let file = fixtures.project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    // A subject that cannot run is not built: this build would fail.
    let text = text.replace(
        "name = \"other\"\n",
        "name = \"other\"\nbuild = [[\"false\"]]\n",
    );
    fs::write(&file, text).unwrap();
    let work_directory = fixtures.work_directory();
    let run = [
        "run",
        "t",
        "--quick",
        "--blocks",
        "2",
        "--pairs",
        "1",
        "--subjects",
        "one,other",
    ];
    let on = ["--on", work_directory.to_str().unwrap()];
    let outcome = fixtures.project.call(&[&run[..], &on].concat());
    outcome
        .expect(0)
        .says(&["other cannot run", "has no value changed"]);
    assert!(!outcome.stderr.contains("`false`"), "{}", outcome.stderr);
    let words = outcome.stdout.split_whitespace().collect::<Vec<_>>();
    let words = words.join(" ");
    for sentence in [
        "Nothing was compared: one was measured alone.",
        "other cannot run here and is left out.",
    ] {
        assert!(
            words.contains(sentence),
            "no `{sentence}` in {}",
            outcome.stdout
        );
    }
    // If nothing was compared, no sentence mentions a leader.
    assert!(!words.contains("ahead of all others"), "{}", outcome.stdout);
    assert_eq!(fixtures.project.load().complete_blocks().count(), 2);
}

#[test]
fn a_failing_state_fails_only_its_subject() {
    for (fault, reason) in [
        ("refused=changed", "failed: "),
        ("crash=changed", "the process ended with exit status: 7"),
    ] {
        let fixtures = Fixtures::by_subject(&[fault]);
        fixtures.run(&[]).expect(0);
        fixtures.assert_nothing_left();
        let run = fixtures.project.load();
        assert_failures(&run, &[("other", "fixture", reason)]);
        assert_eq!(
            run.failures[0]
                .message
                .lines()
                .next()
                .unwrap()
                .find("fixture `host`"),
            Some(0)
        );
        assert_eq!(run.complete_blocks().count(), 2);
    }
}

#[test]
fn a_fixture_that_cannot_run_stops_the_run() {
    let fixtures = Fixtures::by_subject(&[]);
    let file = fixtures.project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    let run_with = |program: &str| {
        let begin = text.find("program = ").unwrap();
        let end = begin + text[begin..].find('\n').unwrap();
        let changed = [&text[..begin], program, &text[end..]].concat();
        fs::write(&file, changed).unwrap();
        fixtures.run(&[])
    };
    run_with("program = [\"no-such-program\"]")
        .expect(1)
        .says(&[
            "fixture host cannot run: program `no-such-program` is not in PATH",
            "nothing was measured",
        ]);
    run_with("program = [\"true\"]")
        .expect(1)
        .says(&["fixture `host`: the process ended with exit status: 0 instead of replying"]);
    let another = "program = [\"echo\", \"@lab hello protocol=2\"]";
    run_with(another).expect(1).says(&[
        "fixture `host`: the program uses protocol 2, but benchlab supports only protocol 1",
    ]);
    let broken = "build = [[\"false\"]]\nprogram = [\"true\"]";
    run_with(broken)
        .expect(1)
        .says(&["fixture host cannot run: `false` failed"]);
    assert_eq!(fixtures.project.files(), Vec::<PathBuf>::new());
}

#[test]
fn invalid_keys_of_a_fixture_are_rejected() {
    let by_subject = "state = \"subject\"\n[fixture.states]\n";
    for (keys, reason) in [
        (
            "state = \"subject\"\n",
            "`state` and `[fixture.states]` must be used together",
        ),
        (
            "[fixture.states]\none = {}\n",
            "`state` and `[fixture.states]` must be used together",
        ),
        (
            "state = \"colr\"\n[fixture.states]\nred = {}\n",
            "did you mean `color`?",
        ),
        (
            "state = \"color\"\n[fixture.states]\nrad = {}\n",
            "`factor.color` has no value `rad`",
        ),
        (
            &format!("{by_subject}two = {{}}\n"),
            "there is no subject `two`",
        ),
        (
            &format!("{by_subject}one = {{ Value = 1 }}\n"),
            "invalid name `Value`",
        ),
        (
            &format!("{by_subject}one = {{ disk = 1 }}\n"),
            "`disk` is reserved",
        ),
        ("provides = [\"seed\"]\n", "`seed` is reserved"),
        ("provides = [\"color\"]\n", "`color` is already a parameter"),
        ("start = \"turn\"\n", "unknown variant `turn`"),
        (
            "sources = [\"gone\"]\n",
            "there is no `gone` in the project",
        ),
    ] {
        let fixtures = Fixtures::new();
        let one = subject("one", &["plain.py"]);
        let text = COLORS.to_owned() + &fixtures.fixture(&[], keys) + &one;
        fixtures.project.append(&text);
        let outcome = fixtures.project.run(&[]);
        outcome.expect(2).says(&["experiment.toml:", reason]);
    }
}

#[test]
fn after_kill_9_the_fixture_undoes_its_changes() {
    let fixtures = Fixtures::by_subject(&[]);
    let mut lab = fixtures.start_in_turn("1000");
    fixtures.stop_in_turn(&lab);
    // Another benchlab does not undo the changes of a run that still exists, even if it is stopped.
    fixtures.project.call(&["list"]).expect(0);
    assert_eq!(fixtures.value(), "changed");
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the fixture has undone it", || fixtures.value() == "usual");
    // The next call removes the record and has nothing to report.
    let next = fixtures.project.call(&["list"]);
    assert!(!next.expect(0).stderr.contains("killed"), "{}", next.stderr);
    fixtures.assert_nothing_left();
}

#[test]
fn after_kill_9_of_both_the_next_command_undoes_the_changes() {
    let fixtures = Fixtures::by_subject(&[]);
    kill_both(&fixtures, "2");
    assert_eq!(fixtures.value(), "changed");
    let file = fixtures.project.file();
    let resumed = fixtures.project.call(&["resume", file.to_str().unwrap()]);
    let host = fixtures.host.display();
    resumed.expect(0).says(&[&format!(
        "a killed run left {host} set to changed: restored to usual"
    )]);
    assert_failures(&fixtures.project.load(), &[]);
    fixtures.assert_nothing_left();
}

#[test]
fn failed_undos_are_reported_until_they_succeed() {
    let fixtures = Fixtures::by_subject(&[]);
    kill_both(&fixtures, "1000");
    let [record] = &fixtures.records()[..] else {
        panic!("there should be one undo record");
    };
    let text = fs::read_to_string(record).unwrap();
    fs::write(record, text.replace("host_file.py", "gone.py")).unwrap();
    for _ in 0..2 {
        fixtures.project.call(&["list"]).expect(0).says(&[
            "cannot undo the changes of a killed run: fixture `host`: the process ended with",
            &format!("undo them as {} describes", record.display()),
        ]);
    }
    assert_eq!(fixtures.value(), "changed");
    fs::write(record, text).unwrap();
    let restored = fixtures.project.call(&["list"]);
    restored.expect(0).says(&["restored to usual"]);
    fixtures.assert_nothing_left();
}

/// Kills a run and its fixture while the other state is set.
fn kill_both(fixtures: &Fixtures, blocks: &str) {
    let mut lab = fixtures.start_in_turn(blocks);
    fixtures.stop_in_turn(&lab);
    kill(fixtures.fixture_process().unwrap(), Signal::SIGKILL).unwrap();
    lab.kill().unwrap();
    lab.wait().unwrap();
}

#[test]
fn a_fixture_that_is_killed_is_undone_and_started_again() {
    let fixtures = Fixtures::by_subject(&[]);
    let lab = fixtures.start_in_turn("1000");
    fixtures.stop_in_turn(&lab);
    let killed = fixtures.fixture_process().unwrap();
    kill(killed, Signal::SIGKILL).unwrap();
    let lab_process = Pid::from_raw(lab.id() as i32);
    kill(lab_process, Signal::SIGCONT).unwrap();
    wait_until("there is another process", || {
        fixtures
            .fixture_process()
            .is_some_and(|process| process != killed)
    });
    kill(lab_process, Signal::SIGINT).unwrap();
    assert_eq!(lab.wait_with_output().unwrap().status.code(), Some(130));
    fixtures.assert_nothing_left();
    let undone = fixtures.noted(&fixtures.fixture_notes, "undo ");
    assert_eq!(undone, ["changed"]);
}

#[test]
fn ctrl_c_undoes_the_changes_and_no_other_run_starts_meanwhile() {
    let fixtures = Fixtures::by_subject(&[]);
    let mut lab = fixtures.start_in_turn("1000");
    let outcome = fixtures.run(&[]);
    let reason = format!("another run is changing {}", fixtures.host.display());
    outcome.expect(1).says(&[&reason]);
    kill(Pid::from_raw(lab.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    fixtures.assert_nothing_left();
}

#[test]
fn a_run_is_resumed_only_with_the_same_fixtures() {
    let fixtures = Fixtures::by_subject(&[]);
    let mut lab = fixtures.start_in_turn("1000");
    kill(Pid::from_raw(lab.id() as i32), Signal::SIGINT).unwrap();
    lab.wait().unwrap();
    let experiment = fixtures.project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&experiment).unwrap();
    fs::write(&experiment, text.replace("\"changed\"", "\"another\"")).unwrap();
    let file = fixtures.project.file();
    fixtures
        .project
        .call(&["resume", file.to_str().unwrap()])
        .expect(2)
        .says(&["the fixtures of the experiment have changed since the run started"]);
}

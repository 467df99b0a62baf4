// SPDX-License-Identifier: Apache-2.0
//! Runs that are stopped in different ways. Results are not lost, no process is left behind, and
//! `benchlab resume` finishes the run.

use crate::project::{
    BENCHLAB, INSERT, Outcome, Project, SELECT, SHORT_RUN, blocks_of, outcome, python, rows,
    send_signal, subject, wait_until,
};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SAMPLES: &str = "SELECT s.rowid, s.* FROM sample s ORDER BY s.rowid";

/// A run at two points whose subjects log their steps (`counted.py`).
struct Diary(Project);

impl Diary {
    fn new(ways: &[&str]) -> Diary {
        Diary::with(
            &["honest", "second"].map(|name| subject(name, &[&["counted.py"], ways].concat())),
        )
    }

    fn with(subjects: &[String]) -> Diary {
        let project = Project::sql(&[INSERT, SELECT], &[]);
        let file = project.join("experiments/t/experiment.toml");
        let text = fs::read_to_string(&file).unwrap();
        let head = &text[..text.find("[[subject]]").unwrap()];
        fs::write(&file, head.to_owned() + &subjects.concat()).unwrap();
        Diary(project)
    }

    fn steps(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.join("steps")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn count(&self, kind: &str) -> usize {
        self.steps().iter().filter(|s| s.starts_with(kind)).count()
    }

    fn start(&self) -> Child {
        self.start_blocks("2", "2")
    }

    fn start_blocks(&self, blocks: &str, pairs: &str) -> Child {
        let more = ["--set", "statement=prepared", "--time-limit", "60s"];
        self.0
            .start(&[&blocks_of(blocks, pairs)[..], &more].concat())
    }

    fn resume(&self) -> Outcome {
        self.release();
        self.0
            .call(&["resume", self.0.file().to_str().expect("UTF-8")])
    }

    fn start_resume(&self) -> Child {
        self.release();
        self.0
            .start(&["resume", self.0.file().to_str().expect("UTF-8")])
    }

    /// Waits for `more` additional steps of a kind. Returns `false` if benchlab exits before then.
    ///
    /// The subject that takes the last of these steps stops there until [`Diary::release`], so that the run
    /// does not end before the test has acted.
    fn wait_for(&self, lab: &mut Child, kind: &str, more: usize) -> bool {
        let target_count = self.count(kind) + more;
        let written = self.0.join("hold-new");
        fs::write(&written, format!("{kind} {target_count}")).unwrap();
        fs::rename(written, self.0.join("hold")).unwrap();
        self.wait_for_count(lab, kind, target_count)
    }

    fn wait_for_count(&self, lab: &mut Child, kind: &str, target_count: usize) -> bool {
        let mut has_ended = false;
        wait_until(kind, || {
            has_ended = lab.try_wait().unwrap().is_some();
            has_ended || self.count(kind) >= target_count
        });
        !has_ended
    }

    /// Lets subjects continue.
    fn release(&self) {
        let _ = fs::remove_file(self.0.join("hold"));
    }

    /// Asserts that no process that logged its start is still running.
    #[track_caller]
    fn assert_none_running(&self) {
        let started: Vec<i32> = self
            .steps()
            .iter()
            .filter_map(|s| s.strip_prefix("start ")?.parse().ok())
            .collect();
        assert!(!started.is_empty());
        for pid in started {
            wait_until(&format!("the end of {pid}"), || !self.is_running(pid));
        }
    }

    /// Returns true if the process `pid` runs in the project's directory and is not a zombie.
    fn is_running(&self, pid: i32) -> bool {
        let is_in_folder =
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == self.0.path());
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        is_in_folder
            && !stat
                .rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
    }

    /// Returns the samples on disk, read from a copy so that the original file does not change.
    fn samples(&self) -> Vec<String> {
        let copy = self.0.join("copy.lab");
        for end in ["", "-wal"] {
            let (from, to) = (with_end(&self.0.file(), end), with_end(&copy, end));
            let _ = fs::remove_file(&to);
            if from.exists() {
                fs::copy(from, to).unwrap();
            }
        }
        rows(&copy, SAMPLES)
    }

    /// Asserts that the run is finished, still has its earlier samples, and contains each block
    /// once.
    #[track_caller]
    fn assert_complete(&self, before: &[String]) {
        let file = self.0.file();
        let after = rows(&file, SAMPLES);
        assert!(after.len() > before.len());
        assert_eq!(
            &after[..before.len()],
            before,
            "samples that were already taken must be unchanged"
        );
        let run = self.0.load();
        assert_eq!(run.ending, Some(lab_model::Ending::Blocks));
        assert_eq!(run.failures, []);
        let plan = run.plan().expect("a plan");
        let numbers: Vec<u32> = run.complete_blocks().map(|b| b.number).collect();
        assert_eq!(numbers, [0, 1]);
        for block in run.complete_blocks() {
            let mut turns: Vec<_> = block
                .samples
                .iter()
                .map(|s| (s.point, s.pass, s.turn))
                .collect();
            assert_eq!(
                turns.len(),
                plan.points.len() * plan.subjects.len() * 2 * plan.measure.pairs as usize
            );
            turns.sort();
            turns.dedup();
            assert_eq!(
                turns.len(),
                block.samples.len(),
                "no turn may be recorded twice"
            );
        }
        for end in ["-wal", "-shm", "-journal"] {
            assert!(!with_end(&file, end).exists(), "{end} is left");
        }
        let leftover: Vec<_> = fs::read_dir(self.0.scratch())
            .unwrap()
            .flatten()
            .map(|e| e.path())
            .collect();
        assert!(
            leftover.is_empty(),
            "the scratch directory still contains {leftover:?}"
        );
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", path.display()))
}

/// Kills benchlab with SIGKILL, checks the remaining processes and files, and returns the samples.
#[track_caller]
fn kill_lab(diary: &Diary, mut lab: Child) -> Vec<String> {
    send_signal(lab.id() as i32, Signal::SIGKILL);
    lab.wait().unwrap();
    diary.assert_none_running();
    if diary.0.files().is_empty() {
        Vec::new()
    } else {
        diary.samples()
    }
}

#[test]
fn killed_in_the_pilot() {
    let diary = Diary::new(&[]);
    let mut lab = diary.start();
    assert!(diary.wait_for(&mut lab, "start", 2) && diary.wait_for(&mut lab, "perform", 5));
    let before = kill_lab(&diary, lab);
    assert_eq!(before, [""; 0]);
    diary.resume().expect(0);
    diary.assert_complete(&before);
}

#[test]
fn killed_in_a_block() {
    let diary = Diary::new(&[]);
    // The blocks are so long that the run does not end before the test has acted.
    let mut lab = diary.start_blocks("2", "100");
    // Two points, each with two pilots and one judge, then the two subjects of a block.
    assert!(diary.wait_for_count(&mut lab, "start", 8));
    wait_until("a sample", || {
        let file = diary.0.file();
        fs::metadata(with_end(&file, "-wal")).is_ok_and(|m| m.len() > 0)
            && !diary.samples().is_empty()
    });
    let before = kill_lab(&diary, lab);
    assert!(!before.is_empty());
    diary.resume().expect(0);
    diary.assert_complete(&before);
}

#[test]
fn killed_between_blocks() {
    let diary = Diary::new(&[]);
    let mut lab = diary.start();
    // The pilots quit four times, then the two subjects of the first block.
    assert!(diary.wait_for(&mut lab, "quit", 6));
    let before = kill_lab(&diary, lab);
    assert!(before.len() >= 16, "{}", before.len());
    diary.resume().expect(0);
    diary.assert_complete(&before);
}

/// Kills a run ten times, each time after a different number of batches.
#[test]
fn killed_again_and_again() {
    let diary = Diary::new(&[]);
    let (mut before, mut state) = (Vec::new(), 7u64);
    let mut lab = diary.start();
    for _ in 0..10 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let more = 1 + (state >> 33) as usize % 120;
        if !diary.wait_for(&mut lab, "perform", more) {
            break;
        }
        let samples = kill_lab(&diary, lab);
        assert_eq!(
            &samples[..before.len()],
            before,
            "samples that were already taken must be unchanged"
        );
        before = samples;
        lab = diary.start_resume();
    }
    outcome(lab.wait_with_output().unwrap()).expect(0);
    diary.assert_none_running();
    diary.assert_complete(&before);
}

#[test]
fn interrupted_in_the_pilot_and_in_a_block() {
    let diary = Diary::new(&[]);
    let mut lab = diary.start();
    assert!(diary.wait_for(&mut lab, "perform", 5));
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_stopped(&diary, lab);
    let mut lab = diary.start_resume();
    assert!(diary.wait_for(&mut lab, "start", 8));
    send_signal(lab.id() as i32, Signal::SIGTERM);
    let before = assert_stopped(&diary, lab);
    diary.resume().expect(0);
    diary.assert_complete(&before);
    diary
        .resume()
        .expect(2)
        .says(&["is complete; `benchlab report "]);
}

#[test]
fn interrupted_while_a_subject_hangs() {
    let diary = Diary::with(&[
        subject("honest", &["counted.py"]),
        subject("second", &["counted.py", "hang"]),
    ]);
    let mut lab = diary.start();
    assert!(diary.wait_for(&mut lab, "hang", 1));
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_stopped(&diary, lab);
}

/// Simulates Ctrl-C on a terminal, with subjects that have started other processes.
#[test]
fn the_whole_foreground_process_group_is_interrupted() {
    let diary = Diary::new(&["grandchild"]);
    let mut command = diary.0.command(&SHORT_RUN);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut lab = command.spawn().unwrap();
    assert!(diary.wait_for(&mut lab, "perform", 5));
    killpg(Pid::from_raw(lab.id() as i32), Signal::SIGINT).unwrap();
    let before = assert_stopped(&diary, lab);
    diary.resume().expect(0);
    diary.assert_complete(&before);
    diary.assert_none_running();
}

#[test]
fn a_terminal_s_ctrl_c() {
    let diary = Diary::new(&[]);
    let mut command = Command::new("script");
    let run = diary.0.command(&SHORT_RUN);
    let words: Vec<_> = run
        .get_args()
        .map(|a| format!("'{}'", a.to_str().expect("UTF-8")))
        .collect();
    command.args([
        "-qefc",
        &format!("'{BENCHLAB}' {}", words.join(" ")),
        "/dev/null",
    ]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut terminal = command
        .spawn()
        .expect("`script` (util-linux) provides a terminal");
    assert!(diary.wait_for(&mut terminal, "perform", 5));
    terminal.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    let outcome = outcome(terminal.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(
        outcome
            .stdout
            .contains("stopped; continue with `benchlab resume "),
        "{outcome:?}"
    );
    diary.assert_none_running();
}

/// `timeout` signals its command and then the process group, which contains the command. The test
/// sends two different signals instead, because a signal that is already pending is not added.
#[test]
fn two_simultaneous_signals_count_once() {
    let diary = Diary::new(&[]);
    let mut lab = diary.start();
    assert!(diary.wait_for(&mut lab, "perform", 5));
    // benchlab receives both signals when it continues.
    let signals = [
        Signal::SIGSTOP,
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGCONT,
    ];
    for signal in signals {
        send_signal(lab.id() as i32, signal);
    }
    assert_stopped(&diary, lab);
    diary.resume().expect(0);
    diary.assert_complete(&[]);
}

/// The second signal stops benchlab immediately.
#[test]
fn interrupted_twice() {
    let diary = Diary::new(&[]);
    let mut lab = diary.start();
    assert!(diary.wait_for(&mut lab, "perform", 5));
    send_signal(lab.id() as i32, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(600));
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    diary.assert_none_running();
    diary.resume().expect(0);
    diary.assert_complete(&[]);
}

#[test]
fn a_run_is_measured_by_one_process_at_a_time() {
    let diary = Diary::new(&[]);
    let mut lab = diary.start();
    assert!(diary.wait_for(&mut lab, "start", 3));
    let samples = rows(&diary.0.file(), SAMPLES);
    let second = diary
        .0
        .call(&["resume", diary.0.file().to_str().expect("UTF-8")]);
    second.expect(2).says(&[
        "another benchlab process is writing ",
        ": wait until it finishes, or stop it",
    ]);
    diary.release();
    outcome(lab.wait_with_output().unwrap()).expect(0);
    diary.assert_complete(&samples);
}

/// Reading a run that is in progress does not change its file.
#[test]
fn a_run_that_was_read_and_then_killed_is_complete() {
    let diary = Diary::new(&[]);
    let mut lab = diary.start();
    assert!(diary.wait_for(&mut lab, "start", 8));
    let file = diary.0.file();
    lab_store::load(&file).expect("a run in progress");
    diary
        .0
        .call(&["report", file.to_str().expect("UTF-8"), "--format", "json"])
        .expect(0);
    // Reads the file as any other program would, with any version of SQLite.
    let script = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('SELECT * FROM sample'); d.close()";
    let status = Command::new(python())
        .args(["-c", script])
        .arg(&file)
        .status();
    assert!(status.expect("python3 is installed").success());
    assert!(
        with_end(&file, "-wal").exists(),
        "a reader removed the WAL of a run in progress"
    );
    assert!(diary.wait_for(&mut lab, "start", 1));
    let before = kill_lab(&diary, lab);
    assert!(
        before.len() >= 16,
        "the first block must be complete: {} samples",
        before.len()
    );
    diary.resume().expect(0);
    diary.assert_complete(&before);
}

#[test]
fn runs_that_cannot_be_resumed_report_the_reason() {
    let source = "sources = [\"source\"]\ndriver";
    let project = Project::noop(&[subject("third", &["plain.py"]).replace("driver", source)]);
    fs::write(project.join("source"), "one").unwrap();
    let mut lab = project.start(&["run", "t", "--quick", "--blocks", "1", "--pairs", "100000"]);
    let piloted = || lab_store::load(&project.file()).is_ok_and(|run| !run.pilots.is_empty());
    wait_until("a pilot", || !project.files().is_empty() && piloted());
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    let file = project.file();
    let resume = || project.call(&["resume", file.to_str().expect("UTF-8")]);
    fs::write(project.join("source"), "two").unwrap();
    resume().expect(2).says(&[
        "the sources of `third` changed since the run started: start a new run, or revert the change",
    ]);
    let experiment = project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&experiment).unwrap();
    fs::write(
        &experiment,
        text.replace("name = \"third\"", "name = \"fourth\""),
    )
    .unwrap();
    resume()
        .expect(2)
        .says(&["`third` has changed since the run started: start a new run"]);
    fs::remove_dir_all(project.join("experiments/t")).unwrap();
    resume().expect(2).says(&["there is no experiment `t`"]);
}

#[test]
fn imported_runs_cannot_be_resumed() {
    let project = Project::noop(&[]);
    let file = project.join("imported.lab");
    let run = lab_store::RunWriter::create(&file, "1", 1.0).unwrap();
    run.import(&lab_model::Imported::default()).unwrap();
    run.finish(None, None).unwrap();
    project
        .call(&["resume", file.to_str().expect("UTF-8")])
        .expect(2)
        .says(&["imported.lab contains no plan: there is nothing to continue"]);
}

/// Asserts that benchlab exited as interrupted, printed how to resume, and left no process. Returns
/// the samples.
#[track_caller]
fn assert_stopped(diary: &Diary, lab: Child) -> Vec<String> {
    let outcome = outcome(lab.wait_with_output().unwrap());
    let file = diary.0.file();
    outcome.expect(130).says(&[&format!(
        "benchlab: stopped; continue with `benchlab resume {}`",
        file.display()
    )]);
    assert!(
        outcome.stdout.contains("Does it hold?"),
        "the result so far must be printed: {outcome:?}"
    );
    diary.assert_none_running();
    assert_eq!(fs::read_dir(diary.0.scratch()).unwrap().count(), 0);
    assert_eq!(
        diary.0.load().ending,
        None,
        "a run that was stopped has not ended"
    );
    rows(&file, SAMPLES)
}

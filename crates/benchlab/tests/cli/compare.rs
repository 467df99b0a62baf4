// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare` with whole commands: which commands run, how often and in which directory,
//! and which data is stored.

use crate::project::{BENCHLAB, Outcome, Project, outcome, python, rows, send_signal, wait_until};
use lab_model::{Batch, BlockState, Cores, Ending, PointId, Run, Subject, SubjectId};
use nix::sys::signal::Signal;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Options for two blocks of two pairs. The run is too short for a useful measurement, but has all
/// of its steps. Disturbed blocks are not repeated.
const SHORT: [&str; 8] = [
    "--blocks", "2", "--pairs", "2", "--redo", "0", "--seed", "7",
];

/// A directory in which commands are compared.
struct TestDirectory(Project);

impl TestDirectory {
    fn new() -> TestDirectory {
        TestDirectory(Project::noop(&[]))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BENCHLAB);
        command.args([&["compare"], args].concat());
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.env("BENCHLAB_PROJECT", self.0.path());
        command
    }

    fn compare(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args).output().expect("benchlab starts"))
    }

    fn short(&self, args: &[&str]) -> Outcome {
        self.compare(&[&SHORT[..], args].concat())
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("benchlab starts")
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Writes an executable shell script into the directory.
    fn script(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn plan_subject<'r>(run: &'r Run, name: &str) -> (SubjectId, &'r Subject) {
    let subjects = &run.plan().expect("a plan").subjects;
    let id = subjects.find_id(|s| s.name == name);
    let id = id.unwrap_or_else(|| panic!("no {name} in {subjects:#?}"));
    (id, &subjects[id])
}

#[test]
fn every_turn_is_one_process_in_mirrored_order() {
    let directory = TestDirectory::new();
    directory.short(&["true", "sleep 0.02"]).expect(0);
    let run = directory.0.load();
    let (a, b) = (plan_subject(&run, "A").0, plan_subject(&run, "B").0);
    let start = plan_subject(&run, "process start").0;
    assert_eq!(run.complete_blocks().count(), 2);
    for block in run.complete_blocks() {
        assert_eq!(block.samples.len(), block.exits.len());
        for (sample, exit) in block.samples.iter().zip(&block.exits) {
            assert_eq!(sample.batch.operations, 1);
            assert_eq!((exit.subject, exit.pass), (sample.subject, sample.pass));
            assert_eq!(exit.user_ns + exit.sys_ns, sample.batch.cpu_ns);
            assert!(exit.peak_rss_bytes > 100_000 && exit.minor_faults > 10);
            assert_eq!(exit.status, 0);
        }
        let of = |subject| block.samples.iter().filter(move |s| s.subject == subject);
        assert!(of(b).all(|s| s.batch.wall_ns >= 20_000_000 && s.batch.cpu_ns < 20_000_000));
        assert_eq!((of(a).count(), of(b).count()), (4, 4));
        // The cost of starting a process is measured in the first pair only.
        assert_eq!(of(start).map(|s| s.pass).collect::<Vec<_>>(), [0, 1]);
        let order = |pass| {
            let mut turns: Vec<_> = block.samples.iter().filter(|s| s.pass == pass).collect();
            turns.sort_by_key(|s| s.turn);
            turns.iter().map(|s| s.subject).collect::<Vec<_>>()
        };
        for pair in [0, 2] {
            let mirrored: Vec<_> = order(pair + 1).into_iter().rev().collect();
            assert_eq!(order(pair), mirrored);
        }
    }
}

#[test]
fn peak_memory_covers_only_the_command() {
    let directory = TestDirectory::new();
    let big = format!("{} -c 'b = bytearray(60_000_000)'", python());
    directory.short(&[&big, "true"]).expect(0);
    let run = directory.0.load();
    let peaks: HashMap<SubjectId, Vec<u64>> =
        run.complete_blocks()
            .flat_map(|b| &b.exits)
            .fold(HashMap::new(), |mut peaks, exit| {
                let of_subject: &mut Vec<u64> = peaks.entry(exit.subject).or_default();
                of_subject.push(exit.peak_rss_bytes);
                peaks
            });
    assert!(
        peaks[&SubjectId(0)]
            .iter()
            .all(|&p| (60_000_000..120_000_000).contains(&p)),
        "{peaks:?}"
    );
    // Less than the memory of benchlab, their parent process.
    assert!(
        peaks[&SubjectId(1)].iter().all(|&p| p < 4_000_000),
        "{peaks:?}"
    );
}

#[test]
fn a_block_stays_on_one_core_unless_all_are_requested() {
    let directory = TestDirectory::new();
    directory.script(
        "where",
        "sed -n 's/Cpus_allowed_list:\t//p' /proc/self/status >> $1",
    );
    directory
        .short(&["./where a", "./where b", "--cores", "one"])
        .expect(0);
    let cores: BTreeSet<u32> = directory.0.load().blocks.iter().map(|b| b.core).collect();
    // The pilot's runs use all cores; two blocks of two pairs follow.
    let cores_of_a = directory.lines("a");
    let turns = &cores_of_a[cores_of_a.len() - 8..];
    for (block, lines) in directory.0.load().blocks.iter().zip(turns.chunks(4)) {
        let core = block.core.to_string();
        assert!(lines.iter().all(|l| *l == core), "{lines:?} on {core}");
    }
    assert_eq!(
        cores.len(),
        2.min(std::thread::available_parallelism().unwrap().get())
    );
    let all = TestDirectory::new();
    all.script(
        "where",
        "sed -n 's/Cpus_allowed_list:\t//p' /proc/self/status >> $1",
    );
    all.short(&["./where a", "./where b", "--cores", "all"])
        .expect(0);
    let own_cores = fs::read_to_string("/proc/self/status").unwrap();
    let own_cores = own_cores
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:\t"));
    assert!(all.lines("a").iter().all(|l| Some(l.as_str()) == own_cores));
}

#[test]
fn parallel_commands_get_all_cores() {
    let directory = TestDirectory::new();
    let one = "dd if=/dev/zero of=/dev/null bs=1M count=300 status=none";
    let two = format!("{one} & {one} & wait");
    directory.short(&[one, &two]).expect(0);
    let run = directory.0.load();
    // If the machine's other cores are busy, two programs get only one core, so one core is expected.
    let are_parallel = |b: &Batch| b.cpu_ns > 5_000_000 && b.cpu_ns as f64 > 1.1 * b.wall_ns as f64;
    let mut batches = run.pilots.iter().flat_map(|pilot| &pilot.batches);
    let expected = if batches.any(are_parallel) {
        "all"
    } else {
        "one"
    };
    let cores = run.settings.iter().filter(|s| s.key == "cores");
    assert_eq!(
        cores.map(|s| s.value.as_str()).collect::<Vec<_>>(),
        [expected; 2]
    );
    assert_eq!(
        run.plan().unwrap().clone().commands().unwrap().cores,
        None::<Cores>
    );
}

#[test]
fn a_shell_is_used_only_for_shell_syntax_and_its_cost_is_measured() {
    let directory = TestDirectory::new();
    let write_words = "import sys; open('words', 'a').write(repr(sys.argv[1:]) + '\\n')";
    fs::write(directory.0.join("words.py"), write_words).unwrap();
    let plain = format!("{} words.py 'a | b' \"$\"x \\$HOME", python());
    let words = [python(), "words.py", "a | b", "*", "$HOME"];
    directory
        .short(
            &[
                &[plain.replace("\"$\"x", "'$x'").as_str(), "--"],
                &words[..],
            ]
            .concat(),
        )
        .expect(0);
    let run = directory.0.load();
    assert!(
        run.plan()
            .unwrap()
            .subjects
            .iter()
            .all(|s| s.name != "shell start")
    );
    let words_received: BTreeSet<String> = directory.lines("words").into_iter().collect();
    let expected = ["['a | b', '$x', '$HOME']", "['a | b', '*', '$HOME']"];
    assert_eq!(words_received, expected.map(String::from).into());

    let directory = TestDirectory::new();
    directory.short(&["echo x | cat > out", "true"]).expect(0);
    let run = directory.0.load();
    assert!(plan_subject(&run, "A").1.command.as_ref().unwrap().shell);
    assert!(!plan_subject(&run, "B").1.command.as_ref().unwrap().shell);
    let (shell, subject) = plan_subject(&run, "shell start");
    assert!(subject.overhead);
    let samples = run
        .complete_blocks()
        .flat_map(|b| &b.samples)
        .filter(|s| s.subject == shell);
    assert_eq!(samples.count(), 4);
    assert_eq!(directory.lines("out"), ["x"]);
}

#[test]
fn commands_read_the_input_and_begin_like_those_of_a_shell() {
    let directory = TestDirectory::new();
    fs::write(directory.0.join("input"), "one\ntwo\n").unwrap();
    directory.script(
        "look",
        "cat >> got; pwd >> pwds; echo $PWD >> pwds; grep SigIgn /proc/self/status >> signals",
    );
    directory
        .short(&["./look", "cat", "--input", "input"])
        .expect(0);
    let got = directory.lines("got");
    assert!(
        got.len() >= 10 && got.chunks(2).all(|c| c == ["one", "two"]),
        "{got:?}"
    );
    let folder = directory
        .0
        .path()
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    assert!(directory.lines("pwds").iter().all(|l| *l == folder));
    // benchlab ignores SIGPIPE; 32 and 33 belong to the C library.
    let ignored = |line: &String| u64::from_str_radix(&line["SigIgn:\t".len()..], 16).unwrap();
    let signals = directory.lines("signals");
    assert!(
        signals.iter().all(|l| ignored(l) & 0x7fff_ffff == 0),
        "{signals:?}"
    );
}

#[test]
fn outputs_are_compared_byte_by_byte() {
    let directory = TestDirectory::new();
    fs::write(directory.0.join("a"), "1\n2\n3\n").unwrap();
    directory
        .short(&["cat a", "cat < a", "sed s/3/4/ a", "--same-output"])
        .expect(1);
    let run = directory.0.load();
    let [failure] = &run.failures[..] else {
        panic!("{:#?}", run.failures)
    };
    assert_eq!(
        (failure.subject, failure.kind.as_str()),
        (SubjectId(2), "output")
    );
    assert!(
        failure
            .message
            .contains("differs from the output of the baseline, first in line 3"),
        "{failure:?}"
    );
    // All samples have the same check value, because the outputs are identical.
    let checks = rows(
        &directory.0.file(),
        "SELECT DISTINCT check_value FROM sample WHERE subject < 2",
    );
    assert_eq!(checks.len(), 1, "{checks:?}");

    let directory = TestDirectory::new();
    let unsteady = format!("{} -c 'import time; print(time.monotonic_ns())'", python());
    directory
        .short(&[&unsteady, "true", "--same-output"])
        .expect(1)
        .says(&["nothing is left to compare"]);
    let failures = directory.0.load().failures;
    assert!(
        failures[0]
            .message
            .contains("the command's output changes from run to run"),
        "{failures:#?}"
    );
}

/// Returns the screen as one line.
fn one_line(outcome: &Outcome) -> String {
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    words.join(" ")
}

/// A command that fails has done different work, so its speed does not count.
#[test]
fn commands_with_different_exit_statuses_are_not_compared() {
    let directory = TestDirectory::new();
    directory.script(
        "flaky",
        "read n <count; echo $((n + 1)) >count; exit $((n % 3 == 0))",
    );
    fs::write(directory.0.join("count"), "1\n").unwrap();
    let outcome = directory.short(&["true", "exit 2", "./flaky", "--ignore-failure", "--gate"]);
    let screen = one_line(outcome.expect(4));
    for text in [
        "B is not compared: its exit statuses differ from those of A: all 8 with 2; A: all 8 with 0.",
        "C is not compared: its exit statuses differ from those of A:",
        "of 8 with 1,",
    ] {
        assert!(screen.contains(text), "{screen}");
    }
    assert!(!screen.contains("faster"), "{screen}");
    assert!(directory.0.load().failures.is_empty());

    // Both always exit with the same status, or with the status that the user expects.
    for args in [
        &["exit 2", "sh -c 'exit 2'", "-i"][..],
        &["true", "exit 2", "--ignore-failure=2"],
    ] {
        let directory = TestDirectory::new();
        let outcome = directory.short(args);
        let screen = one_line(outcome.expect(0));
        assert!(!screen.contains("not compared"), "{screen}");
    }
    // The first screen names statuses other than 0, even if they are expected.
    let directory = TestDirectory::new();
    let outcome = directory.short(&["true", "exit 2", "--ignore-failure=2"]);
    let screen = one_line(outcome.expect(0));
    let statuses = "B: all 8 runs ended with status 2. All other runs ended with status 0.";
    assert!(screen.contains(statuses), "{screen}");
    let directory = TestDirectory::new();
    directory
        .short(&["true", "exit 2", "--ignore-failure=1,3"])
        .says(&["the command ended with exit status: 2, which is not listed in --ignore-failure"]);
    directory
        .short(&["true", "false", "--ignore-failure=0"])
        .expect(2)
        .says(&["expected exit statuses from 1 to 255"]);
}

#[test]
fn a_failing_command_is_a_result_and_stops_no_other_command() {
    let directory = TestDirectory::new();
    directory.script("bad", "echo this went wrong >&2; exit 7");
    let outcome = directory.short(&[
        "true",
        "./bad",
        "sleep 0.001",
        "nowhere-to-be-found",
        "--name",
        "good",
    ]);
    outcome.expect(1).says(&[
        "B and D failed: see the report",
        "B failed at run: exit: the command ended with exit status: 7; fix the command, or use --ignore-failure=7 if this is expected",
        "D failed at run: start: cannot start `nowhere-to-be-found`: no directory in PATH contains it",
    ]);
    let run = directory.0.load();
    assert_eq!(run.failures.len(), 2);
    assert_eq!(run.failures[0].log, ["this went wrong"]);
    let samples = |name| {
        let id = plan_subject(&run, name).0;
        run.complete_blocks()
            .flat_map(|b| &b.samples)
            .filter(|s| s.subject == id)
            .count()
    };
    assert_eq!(["good", "B", "C", "D"].map(samples), [8, 0, 8, 0]);

    let directory = TestDirectory::new();
    directory
        .short(&["false", "sh -c 'kill -9 $$'", "-i"])
        .expect(0);
    let run = directory.0.load();
    let statuses: BTreeSet<(u32, i32)> = run
        .blocks
        .iter()
        .flat_map(|b| &b.exits)
        .map(|e| (e.subject.0, e.status))
        .collect();
    assert!(
        statuses.contains(&(0, 1)) && statuses.contains(&(1, 137)),
        "{statuses:?}"
    );
}

#[test]
fn a_process_that_takes_too_long_is_killed_with_its_descendants() {
    let directory = TestDirectory::new();
    let marker = marker();
    let slow = format!("sleep {marker} & setsid sleep {marker} & sleep {marker}");
    let outcome = directory.short(&["true", &slow, "sleep 0.001", "--time-limit", "10s"]);
    outcome
        .expect(1)
        .says(&["B failed at run: timeout: the command did not finish within 10 s (--time-limit)"]);
    assert_none_running(&marker);
}

#[test]
fn processes_that_commands_leave_running_are_killed() {
    let directory = TestDirectory::new();
    let marker = marker();
    directory
        .short(&["true", &format!("setsid sleep {marker} & true")])
        .expect(0);
    assert_none_running(&marker);
    assert_eq!(leaving_processes(&directory), [SubjectId(1)]);

    // A command that starts its server only once leaves it running, too.
    let directory = TestDirectory::new();
    directory.script(
        "start",
        &format!("if [ ! -e started ]; then touch started; setsid sleep {marker} & fi"),
    );
    directory.short(&["true", "./start"]).expect(0);
    assert_none_running(&marker);
    assert_eq!(leaving_processes(&directory), [SubjectId(1)]);

    // The processes of a hook are not those of its command.
    let directory = TestDirectory::new();
    let hook = format!("setsid sleep {marker} & true");
    directory
        .short(&["true", "sleep 0.001", "--setup", &hook, "--prepare", &hook])
        .expect(0);
    assert_none_running(&marker);
    assert_eq!(leaving_processes(&directory), []);
}

/// Returns the commands that left processes running.
fn leaving_processes(directory: &TestDirectory) -> Vec<SubjectId> {
    let settings = directory.0.load().settings.into_iter();
    let leaving = settings.filter(|s| s.key == "leaves processes running");
    leaving.map(|s| s.subject).collect()
}

#[test]
fn a_failed_cleanup_spoils_no_value() {
    let directory = TestDirectory::new();
    let outcome = directory.short(&["true", "sleep 0.001", "--cleanup", "exit 3"]);
    let screen = one_line(outcome.expect(1));
    for text in [
        "ratio of time 1 ",
        "B: It failed (cleanup): --cleanup `sh -c exit 3` ended with exit status: 3",
    ] {
        assert!(screen.contains(text), "{screen}");
    }
    assert!(!screen.contains("left out"), "{screen}");
    outcome.says(&["A and B failed: see the report"]);
    let run = directory.0.load();
    assert_eq!(run.failures.len(), 2);
    assert!(run.complete_blocks().count() > 0);
}

#[test]
fn setup_prepare_and_cleanup_run_in_their_directories() {
    let directory = TestDirectory::new();
    let hook = |line: &str| format!("echo {line} >> log");
    let command = |name: &str| format!("echo {name} >> log");
    directory
        .short(&[
            &command("A"),
            &command("B{n}"),
            "--sweep",
            "n=1,2",
            "--setup",
            &hook("setup{n}"),
            "--prepare",
            &hook("prepare-a"),
            "--prepare",
            &hook("prepare-b{n}"),
            "--cleanup",
            &hook("cleanup{n}"),
        ])
        .expect(0);
    let log = directory.lines("log");
    let count = |line: &str| log.iter().filter(|l| *l == line).count();
    // Once for each command and value; each process is preceded by its preparation.
    for line in ["setup1", "setup2", "cleanup1", "cleanup2"] {
        assert_eq!(count(line), 2, "{line}: {log:?}");
    }
    assert!(
        log[log.len() - 4..]
            .iter()
            .all(|l| l.starts_with("cleanup")),
        "{log:?}"
    );
    for (i, line) in log.iter().enumerate() {
        match line.as_str() {
            "A" => assert_eq!(log[i - 1], "prepare-a"),
            b if b.starts_with('B') => assert_eq!(log[i - 1], format!("prepare-b{}", &b[1..])),
            _ => {}
        }
    }
    assert!(count("B1") >= 8 && count("B1") == count("prepare-b1"));

    let directory = TestDirectory::new();
    directory
        .short(&[
            "true",
            "sleep 0.001",
            "--prepare",
            "true",
            "--prepare",
            "ls /nowhere",
        ])
        .expect(1);
    let failure = &directory.0.load().failures[0];
    assert_eq!(failure.kind, "prepare");
    assert!(
        failure
            .message
            .contains("--prepare `ls /nowhere` ended with"),
        "{failure:?}"
    );
    assert!(failure.log[0].contains("/nowhere"), "{failure:?}");
}

#[test]
fn sweeps_make_points_of_numbers_and_commands_of_words() {
    let directory = TestDirectory::new();
    let args = [
        "sleep 0.00{n}",
        "--sweep",
        "n=1,5,9",
        "--blocks",
        "6",
        "--pairs",
        "1",
    ];
    let outcome = directory.compare(&args);
    outcome.expect(0);
    let file = directory.0.file();
    let full = directory
        .0
        .call(&["report", file.to_str().unwrap(), "--full"]);
    assert!(full.stdout.contains("fixed"), "{}", full.stdout);
    let run = directory.0.load();
    let plan = run.plan().unwrap();
    assert_eq!(
        plan.points.iter().map(|p| p.x).collect::<Vec<_>>(),
        [Some(1.0), Some(5.0), Some(9.0)]
    );
    let shortest = |point| {
        let samples = run.blocks.iter().flat_map(|b| &b.samples);
        samples
            .filter(|s| s.point == PointId(point) && s.subject == SubjectId(0))
            .map(|s| s.batch.wall_ns)
            .min()
            .unwrap()
    };
    assert!(shortest(0) >= 1_000_000 && shortest(1) >= 5_000_000 && shortest(2) >= 9_000_000);

    let directory = TestDirectory::new();
    directory
        .short(&["{shell} -c 'echo {shell} >> log'", "-L", "shell=sh,bash"])
        .expect(0);
    let run = directory.0.load();
    let names: Vec<&str> = run
        .plan()
        .unwrap()
        .compared()
        .map(|s| run.plan().unwrap().subjects[s].name.as_str())
        .collect();
    assert_eq!(names, ["sh", "bash"]);
    assert_eq!(run.plan().unwrap().points.len(), 1);
    let log: BTreeSet<String> = directory.lines("log").into_iter().collect();
    assert_eq!(log, ["bash", "sh"].map(String::from).into());
}

#[test]
fn a_gate_turns_verdicts_into_exit_codes() {
    let directory = TestDirectory::new();
    let gate = |args: &[&str]| {
        directory
            .compare(&[&["--gate", "--pairs", "1"], args].concat())
            .code
    };
    assert_eq!(
        gate(&["sleep 0.001", "sleep 0.5", "--blocks", "6"]),
        Some(3)
    );
    assert_eq!(
        gate(&["sleep 0.5", "sleep 0.001", "--blocks", "6"]),
        Some(0)
    );
    // A single block shows no variance, and nothing is conclusive.
    assert_eq!(
        gate(&["sleep 0.001", "sleep 0.02", "--blocks", "1"]),
        Some(4)
    );
    assert_eq!(gate(&["sleep 0.001", "--blocks", "2"]), Some(4));
    assert_eq!(gate(&["true", "false", "--blocks", "2"]), Some(1));
    // A failed command determines the exit code, unless a gate failed.
    let unclear = ["sleep 0.001", "sleep 0.02", "false", "--blocks", "1"];
    for effect in ["pass", "warn", "fail"] {
        let code = gate(&[&unclear[..], &["--inconclusive", effect]].concat());
        assert_eq!(code, Some(1), "--inconclusive {effect}");
    }
    assert_eq!(
        gate(&["sleep 0.001", "sleep 0.5", "false", "--blocks", "6"]),
        Some(3)
    );
}

#[test]
fn a_clear_difference_ends_the_run_at_its_first_interim_analysis() {
    let directory = TestDirectory::new();
    directory
        .compare(&["sleep 0.001", "sleep 0.4", "--pairs", "1"])
        .expect(0);
    let run = directory.0.load();
    assert_eq!(run.complete_blocks().count(), 10);
    assert_eq!(run.ending, Some(Ending::Decided));
}

#[test]
fn reports_are_exported_in_every_format() {
    let directory = TestDirectory::new();
    let names = [
        "r.txt", "r.md", "r.csv", "r.json", "r.xml", "r.xlsx", "r.html", "plots/",
    ];
    let exports: Vec<&str> = names.iter().flat_map(|name| ["--export", name]).collect();
    directory
        .short(&[&["true", "sleep 0.001"], &exports[..]].concat())
        .expect(0);
    for name in &names[..7] {
        assert!(
            fs::metadata(directory.0.join(name)).unwrap().len() > 200,
            "{name}"
        );
    }
    assert!(fs::read_dir(directory.0.join("plots")).unwrap().count() > 0);
    assert!(
        directory
            .lines("r.json")
            .concat()
            .contains("\"peak_memory\"")
    );
}

#[test]
fn an_export_that_fails_hides_no_result() {
    let directory = TestDirectory::new();
    fs::create_dir(directory.0.join("folder")).unwrap();
    let exports = ["--export", "json:folder", "--export", "r.csv"];
    let outcome = directory.short(&[&["true", "sleep 0.001"], &exports[..]].concat());
    outcome.expect(1).says(&["folder: Is a directory"]);
    assert!(outcome.stdout.contains("sleep 0.001"), "{}", outcome.stdout);
    let files = directory.0.files();
    assert!(files[0].with_extension("html").is_file(), "{files:?}");
    assert!(directory.lines("r.csv").len() > 1);
}

#[test]
fn invalid_commands_are_rejected_before_anything_runs() {
    let directory = TestDirectory::new();
    for (args, says) in [
        (
            &[][..],
            "there is nothing to compare; specify commands, such as `benchlab compare 'sort a' 'sort b'`",
        ),
        (
            &["sort 'a", "true"],
            "invalid command `sort 'a`: a quotation mark is not closed",
        ),
        (&["true", " "], "invalid command ` `: it contains no words"),
        (
            &["true", "false", "-n", "x", "-n", "x"],
            "two commands are named `x`; specify other names with --name",
        ),
        (
            &["true", "-n", "x", "-n", "y"],
            "--name is given 2 times for 1 command:",
        ),
        (
            &["true", "false", "-b", "C"],
            "--baseline C: no command has that name",
        ),
        (
            &["true", "--sweep", "n=1"],
            "--sweep n: no command contains {n}",
        ),
        (
            &["true {n}", "--sweep", "n"],
            "--sweep n: expected NAME=VALUE,… such as --sweep n=1,10,100",
        ),
        (
            &["true {n}", "--sweep", "n=1,1"],
            "--sweep n: a value is given twice",
        ),
        (
            &["true {n}", "-L", "n=1", "-L", "n=2"],
            "--sweep n: the parameter is given twice",
        ),
        (
            &["true", "false", "x", "-p", "a", "-p", "b"],
            "--prepare is given 2 times for 3 commands",
        ),
        (
            &["true", "--input", "nowhere"],
            "--input nowhere: No such file or directory",
        ),
        (&["true", "--input", "."], "--input .: it is not a file"),
        (
            &["true", "--export", "x.pdf"],
            "--export x.pdf: expected a file name with one of the extensions .txt",
        ),
        (
            &["true", "--export", "x.svg"],
            "--export x.svg: there are multiple plots: specify a directory, such as plots/",
        ),
        (
            &["true", "--export", "json:missing/x"],
            "--export json:missing/x: there is no directory missing",
        ),
        (
            &["true", "--export", "x.folded"],
            "--export x.folded: the report will have no flame graph; `benchlab profile` creates",
        ),
        (
            &["true", "--as", "../x"],
            "--as ../x: expected at most 40 letters",
        ),
    ] {
        directory.compare(args).expect(2).says(&[says]);
    }
    assert!(directory.0.files().is_empty());
}

/// Ctrl-C in the middle of a command: the command and its children exit, its cleanup runs, and the run can be
/// resumed.
#[test]
fn an_interrupted_comparison_leaves_nothing_behind_and_can_be_resumed() {
    let directory = TestDirectory::new();
    let marker = marker();
    directory.script(
        "slow",
        &format!("echo run >> runs-of-slow; [ -f stop ] && exec sleep {marker}; exit 0"),
    );
    let args = [
        "./slow",
        "true",
        "--cleanup",
        "echo cleanup >> cleanups",
        "--blocks",
        "40",
        "--pairs",
        "2",
    ];
    let lab = directory.start(&args);
    wait_until("some runs", || directory.lines("runs-of-slow").len() > 12);
    fs::write(directory.0.join("stop"), "").unwrap();
    wait_until("a long run", || is_running(&marker));
    send_signal(lab.id() as i32, Signal::SIGINT);
    let stopped = outcome(lab.wait_with_output().unwrap());
    stopped
        .expect(130)
        .says(&["stopped; continue with `benchlab resume "]);
    assert_none_running(&marker);
    assert_eq!(
        directory.lines("cleanups").len(),
        2,
        "one cleanup for each command"
    );
    let before = directory.0.load();
    assert_eq!(before.ending, None);
    let samples_before: usize = before.blocks.iter().map(|b| b.samples.len()).sum();
    fs::remove_file(directory.0.join("stop")).unwrap();
    resume(&directory, &[]).expect(0);
    let after = directory.0.load();
    assert_eq!(after.complete_blocks().count(), 40);
    let incomplete = after
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Incomplete);
    let samples_after: usize = after
        .complete_blocks()
        .chain(incomplete)
        .map(|b| b.samples.len())
        .sum();
    assert!(
        samples_after >= samples_before,
        "the resumed run must keep all samples"
    );
    assert_eq!(directory.lines("cleanups").len(), 4);
}

/// Valgrind counts the instructions after the last block.
#[test]
fn a_resumed_comparison_judges_its_gate_on_instructions() {
    let directory = TestDirectory::new();
    let gate = ["--gate", "--gate-on", "instructions"];
    let long = ["--blocks", "60", "--pairs", "10", "--redo", "0"];
    let commands = ["/bin/true", "/bin/ls /usr/bin"];
    let lab = directory.start(&[&gate[..], &long, &commands].concat());
    wait_until("a block", || directory.0.has_blocks(1));
    send_signal(lab.id() as i32, Signal::SIGINT);
    outcome(lab.wait_with_output().unwrap()).expect(130);
    assert!(directory.0.load().gates.is_empty());
    resume(&directory, &[])
        .expect(3)
        .says(&["gate failed: ", "instructions"]);
    assert_eq!(directory.0.load().gates.len(), 1);
}

#[test]
fn a_gate_on_instructions_counts_child_processes() {
    let directory = TestDirectory::new();
    directory.script("work", "seq $1 >/dev/null\nexit 0");
    let gate = ["--gate", "--gate-on", "instructions"];
    let commands = [
        "--blocks",
        "3",
        "--pairs",
        "1",
        "./work 10000",
        "./work 90000",
    ];
    let slower = directory.compare(&[&gate[..], &commands].concat());
    slower.expect(3).says(&["gate failed: "]);
}

/// The scripts end early only under Valgrind, which sets LD_PRELOAD.
#[test]
fn a_gate_on_instructions_does_not_pass_if_the_commands_fail_under_valgrind() {
    let directory = TestDirectory::new();
    for (end, reason) in [
        ("kill -ILL $$", "ended by SIGILL under Valgrind"),
        ("exit 7", "exit status 7 under Valgrind"),
    ] {
        directory.script("work", &format!("[ -n \"$LD_PRELOAD\" ] && {end}\nexit 0"));
        let gate = ["--gate", "--gate-on", "instructions"];
        let commands = ["--blocks", "3", "--pairs", "1", "./work 1", "./work 2"];
        let outcome = directory.compare(&[&gate[..], &commands].concat());
        outcome.expect(1).says(&[reason]);
    }
}

/// After another interruption, `benchlab resume` has as much time as the last one was given.
#[test]
fn the_time_limit_of_a_resumed_run_is_stored() {
    let directory = TestDirectory::new();
    let short = ["--blocks", "20", "--pairs", "2", "--redo", "0"];
    let args = ["--for", "10ms", "true", "sleep 0.001"];
    directory.compare(&[&short[..], &args].concat()).expect(0);
    let limit = |run: &Run| run.plan().expect("a plan").measure.budget_ns;
    let run = directory.0.load();
    assert_eq!(run.ending, Some(Ending::Budget));
    assert_eq!(limit(&run), Some(10_000_000));
    resume(&directory, &["--for", "10m"]).expect(0);
    let run = directory.0.load();
    assert_eq!(run.ending, Some(Ending::Blocks));
    assert_eq!(limit(&run), Some(600_000_000_000));
}

#[test]
fn a_killed_benchlab_takes_its_commands_with_it() {
    let directory = TestDirectory::new();
    let marker = marker();
    let slow = format!("setsid sleep {marker} & sleep {marker}");
    let mut lab = directory.start(&["true", &slow]);
    wait_until("a long run", || is_running(&marker));
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the commands are gone", || !is_running(&marker));
}

#[test]
fn a_run_whose_commands_changed_is_not_resumed() {
    let directory = TestDirectory::new();
    directory.script("prog", "exit 0");
    let mut lab = directory.start(&["./prog", "true", "--blocks", "1", "--pairs", "100000"]);
    wait_until("a sample", || {
        !directory.0.files().is_empty()
            && lab_store::load(&directory.0.file())
                .is_ok_and(|r| r.blocks.iter().any(|b| !b.samples.is_empty()))
    });
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    directory.script("prog", "exit 0 # another");
    resume(&directory, &[])
        .expect(2)
        .says(&["the program or a file of `A` changed since the run started: start a new run"]);
}

/// Creates a repository with two commits in the directory. The second commit's `prog` takes longer.
fn repository() -> TestDirectory {
    let directory = TestDirectory::new();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        let output = git.args(args).current_dir(directory.0.path()).output();
        assert!(
            output.expect("git is installed").status.success(),
            "{args:?}"
        );
    };
    git(&["init", "-q", "-b", "main"]);
    for (message, text) in [("fast", "sleep 0.001"), ("slow", "sleep 0.4")] {
        directory.script("prog", text);
        git(&["add", "prog"]);
        git(&["commit", "-q", "-m", message]);
    }
    directory
}

#[test]
fn revisions_are_built_and_compared_in_separate_worktrees() {
    let directory = repository();
    let log = directory.0.join("log").display().to_string();
    let rest = [
        "--setup",
        &format!("pwd >> {log}"),
        "--blocks",
        "6",
        "--pairs",
        "1",
        "--gate",
    ];
    let command = ["--rev", "HEAD~1", "--rev", "HEAD", "--", "./prog"];
    directory.compare(&[&rest[..], &command].concat()).expect(3);
    let run = directory.0.load();
    let subjects = &run.plan().expect("a plan").subjects;
    let (fast, slow) = (&subjects[SubjectId(0)], &subjects[SubjectId(1)]);
    let revision = |s: &Subject| s.command.as_ref().unwrap().revision.clone().unwrap();
    assert!(revision(fast) != revision(slow) && revision(slow).len() == 40);
    // HEAD moves, so the subjects are named by their commits.
    assert!(revision(fast).starts_with(&fast.name) && revision(slow).starts_with(&slow.name));
    let folders = directory.lines("log");
    assert_eq!(
        folders.len(),
        2,
        "expected one setup in each directory: {folders:?}"
    );
    assert!(folders[0] != folders[1] && folders[0].len() == folders[1].len());
    assert!(
        folders.iter().all(|f| !std::path::Path::new(f).exists()),
        "the worktrees must be removed"
    );
    let status = Command::new("git")
        .args(["worktree", "list"])
        .current_dir(directory.0.path())
        .output();
    assert_eq!(
        String::from_utf8_lossy(&status.unwrap().stdout)
            .lines()
            .count(),
        1
    );
}

#[test]
fn an_interrupted_comparison_of_revisions_leaves_no_worktrees() {
    let directory = repository();
    let temporary = directory.0.join("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut command = directory.command(&["--rev", "HEAD~1", "--rev", "HEAD", "--", "./prog"]);
    command.env("TMPDIR", &temporary);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let lab = command.spawn().expect("benchlab starts");
    wait_until("a pilot", || {
        !directory.0.files().is_empty()
            && lab_store::load(&directory.0.file()).is_ok_and(|run| !run.pilots.is_empty())
    });
    send_signal(lab.id() as i32, Signal::SIGINT);
    let stopped = outcome(lab.wait_with_output().unwrap());
    stopped
        .expect(130)
        .says(&["stopped; show the results so far with `benchlab report "]);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn the_working_tree_is_compared_as_it_is() {
    let directory = repository();
    directory.script("prog", "echo here >> seen");
    directory
        .short(&["--rev", "HEAD", "--rev", ".", "./prog"])
        .expect(0);
    assert!(
        directory.lines("seen").iter().all(|l| l == "here") && directory.lines("seen").len() > 8
    );
    assert_eq!(
        plan_subject(&directory.0.load(), ".")
            .1
            .command
            .as_ref()
            .unwrap()
            .revision,
        None
    );
}

#[test]
fn invalid_revisions_are_rejected() {
    let directory = repository();
    for (args, says) in [
        (
            &["--rev", "nowhere", "--rev", "HEAD", "./prog"][..],
            "unknown revision `nowhere`",
        ),
        (
            &["--rev", "HEAD", "--rev", "HEAD"],
            "--rev takes one command",
        ),
        (
            &["--rev", "HEAD", "./prog", "./prog"],
            "--rev takes one command",
        ),
    ] {
        directory.compare(args).expect(2).says(&[says]);
    }
}

fn resume(directory: &TestDirectory, options: &[&str]) -> Outcome {
    let mut command = Command::new(BENCHLAB);
    command
        .arg("resume")
        .args(options)
        .arg(directory.0.file())
        .current_dir(directory.0.path());
    outcome(
        command
            .stdin(Stdio::null())
            .output()
            .expect("benchlab starts"),
    )
}

/// Returns a number of seconds, as text, for which no other test sleeps.
fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}.{next}", 10_000 + std::process::id())
}

/// Returns true if a process with the argument `marker` is running.
fn is_running(marker: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let words = |p: PathBuf| fs::read(p.join("cmdline")).unwrap_or_default();
    processes.map(|p| words(p.path())).any(|words| {
        words
            .split(|&byte| byte == 0)
            .any(|word| word == marker.as_bytes())
    })
}

/// Waits until no process with the argument `marker` is running.
#[track_caller]
pub fn assert_none_running(marker: &str) {
    wait_until("the end of the commands", || !is_running(marker));
}

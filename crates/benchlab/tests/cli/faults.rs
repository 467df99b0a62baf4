// SPDX-License-Identifier: Apache-2.0
//! Subjects that fail. Each failure is recorded with the subject's last log lines, and the other
//! subjects continue to the end.

use crate::project::{NOOP, Project, assert_failures, outcome, python, subject, subjects_folder};
use lab_model::{Failure, Run};

/// A time limit that working subjects meet even on a busy machine.
const TIME_LIMIT: &str = "60s";

/// A time limit that expires in tests of subjects that hang. On a busy machine, a working subject
/// may need seconds.
const SHORT_TIME_LIMIT: &str = "10s";

#[test]
fn crashes() {
    let project = measure_faults(&[
        "crash-at-start",
        "crash-in-open",
        "crash-in-block",
        "killed-in-block",
        "status-after-quit",
    ]);
    let run = project.load();
    assert_failures(
        &run,
        &[
            (
                "crash-at-start",
                "crash",
                "the process ended with exit status: 1 instead of replying",
            ),
            (
                "crash-in-open",
                "crash",
                "the process ended with signal: 6 (SIGABRT)",
            ),
            (
                "crash-in-block",
                "crash",
                "the process ended with signal: 11 (SIGSEGV)",
            ),
            (
                "killed-in-block",
                "crash",
                "the process ended with signal: 9 (SIGKILL)",
            ),
            (
                "status-after-quit",
                "crash",
                "the process ended with exit status: 3 after `quit`",
            ),
        ],
    );
    // The order of lines on standard output relative to lines on standard error is unknown.
    let mut log = failure(&run, "crash-at-start").log.clone();
    log.sort();
    assert_eq!(log, ["a first line for the log", "no such device"]);
    assert_eq!(
        failure(&run, "crash-at-start").point,
        None,
        "the subject fails at all points"
    );
    assert_eq!(
        failure(&run, "crash-in-open").log,
        ["a first line for the log", "the library is broken"]
    );
    assert_eq!(
        failure(&run, "status-after-quit").log,
        ["a first line for the log", "the state cannot be saved"]
    );
    assert_eq!(failure(&run, "killed-in-block").block, Some(0));
    let leftover = std::fs::read_to_string(project.join("left-behind")).unwrap();
    assert!(
        leftover.contains("/benchlab-") && !std::path::Path::new(&leftover).exists(),
        "the temporary directory must be in the run's directory and be removed with it: {leftover}"
    );
    // The crash is in the middle of a block, but not in its first attempt, so earlier readings remain.
    let failure = failure(&run, "crash-in-block");
    assert!(failure.block.is_some(), "{failure:?}");
    let samples: usize = run
        .blocks
        .iter()
        .map(|b| {
            b.samples
                .iter()
                .filter(|s| s.subject == failure.subject)
                .count()
        })
        .sum();
    assert!(
        samples > 4 && samples < 8,
        "expected one whole block of 4 samples and part of a second: {samples}"
    );
}

#[test]
fn hangs() {
    let faults = ["hang-at-start", "hang-in-open", "hang-in-run"];
    let project = measure_faults_within(SHORT_TIME_LIMIT, &faults);
    let text = "no reply within 10 s";
    assert_failures(
        &project.load(),
        &[
            ("hang-at-start", "timeout", text),
            ("hang-in-open", "timeout", text),
            ("hang-in-run", "timeout", text),
        ],
    );
}

#[test]
fn hangs_with_closed_output_or_on_leaving() {
    let faults = ["closes-output", "hang-after-quit"];
    let project = measure_faults_within(SHORT_TIME_LIMIT, &faults);
    assert_failures(
        &project.load(),
        &[
            (
                "closes-output",
                "crash",
                "the process closed its output instead of replying",
            ),
            (
                "hang-after-quit",
                "timeout",
                "the process did not exit within 10 s after `quit`",
            ),
        ],
    );
}

#[test]
fn invalid_replies_are_failures() {
    let faults = [
        ("nonsense", "nonsense", "invalid verb `42`"),
        (
            "bad-percent-coding",
            "nonsense",
            "`%zz` is not percent-encoded UTF-8",
        ),
        (
            "another-verb",
            "nonsense",
            "got `verified` instead of `ran`",
        ),
        (
            "negative-check",
            "nonsense",
            "`check=-1` is not an unsigned 64-bit number",
        ),
        ("missing-argument", "nonsense", "`ran` without `check=`"),
        (
            "wrong-operations",
            "nonsense",
            "the subject performed 2 operations instead of 1",
        ),
        ("long-line", "nonsense", "a line of more than 65536 bytes"),
        (
            "endless-line",
            "nonsense",
            "a line of more than 65536 bytes",
        ),
        (
            "protocol-2",
            "nonsense",
            "the subject uses protocol 2, but benchlab supports only protocol 1",
        ),
        (
            "thread-of-another",
            "nonsense",
            "is not a thread of the subject's process",
        ),
        ("no-thread", "nonsense", "`hello` without `thread=`"),
    ];
    let run = measure_faults(&faults.map(|(name, _, _)| name)).load();
    assert_failures(&run, &faults);
    for (name, _, _) in faults {
        assert_eq!(
            failure(&run, name).log,
            ["a first line for the log"],
            "{name}"
        );
    }
}

#[test]
fn impossible_times_are_failures() {
    let faults = [
        (
            "end-before-start",
            "bracket",
            "the subject reports running from",
        ),
        (
            "start-before-call",
            "bracket",
            "the subject reports running from",
        ),
        ("end-after-reply", "bracket", "but the call lasted from"),
    ];
    assert_failures(
        &measure_faults(&faults.map(|(name, _, _)| name)).load(),
        &faults,
    );
}

#[test]
fn error_messages_of_subjects() {
    let faults = [
        ("refuses", "error", "failed: no such table: test"),
        ("unsupported", "error", "unsupported: there is no case noop"),
    ];
    assert_failures(
        &measure_faults(&faults.map(|(name, _, _)| name)).load(),
        &faults,
    );
}

#[test]
fn floods_of_log_lines_stop_no_subject() {
    let run = measure_faults(&["floods-errors", "floods-output"]).load();
    assert_failures(&run, &[]);
    let plan = run.plan().expect("a plan");
    for name in ["floods-errors", "floods-output"] {
        let id = plan
            .subjects
            .find_id(|s| s.name == name)
            .expect("a subject");
        let lines: Vec<&str> = run
            .log
            .iter()
            .filter(|l| l.subject == id)
            .map(|l| l.line.as_str())
            .collect();
        assert_eq!(lines[0], "a first line for the log");
        assert!(
            lines[1].starts_with("line 0 of very many lines on standard "),
            "{}",
            lines[1]
        );
        // Only the first lines of each process are stored, so that the file stays small.
        assert!(
            lines.len() > 100 && lines.len() < 3000,
            "{} lines",
            lines.len()
        );
    }
}

#[test]
fn a_program_that_cannot_be_started_and_one_that_cannot_be_built() {
    let with = |name: &str, lines: &str| {
        subject(name, &["plain.py"]).replace("driver", &format!("{lines}\ndriver"))
    };
    let project = Project::noop(&[
        subject("gone", &["plain.py"]).replace(python(), "build/gone"),
        subject("not-in-path", &["plain.py"]).replace(python(), "benchlab-has-no-such-program"),
        subject("no-program", &["plain.py"])
            .replace(python(), subjects_folder().to_str().expect("UTF-8")),
        with(
            "misbuilt",
            r#"build = [["sh", "-c", "echo one; echo two >&2; exit 4"], ["false"]]"#,
        ),
        with(
            "unbuildable",
            r#"build = [["benchlab-has-no-such-builder", "-x"]]"#,
        ),
        with("lacking", r#"needs = ["rare"]"#),
        with("lacking-too", r#"needs = ["rare"]"#),
    ]);
    let outcome = project.run(&[]);
    outcome.expect(0).says(&[
        "benchlab: misbuilt cannot run: `sh -c echo one; echo two >&2; exit 4` failed: exit status: 4\n  one\n  two\n",
        "benchlab: lacking, lacking-too cannot run; missing: Rare compiler\n\
         benchlab: to install what is missing, run `benchlab run t --install` or \
         `apt-get install rare-compiler rare-runtime`\n",
    ]);
    let run = project.load();
    assert_failures(
        &run,
        &[
            (
                "gone",
                "missing",
                "program `build/gone` does not exist in the project",
            ),
            (
                "not-in-path",
                "missing",
                "program `benchlab-has-no-such-program` is not in PATH",
            ),
            ("no-program", "start", "`: Permission denied"),
            ("misbuilt", "build", "exit status: 4"),
            (
                "unbuildable",
                "build",
                "`benchlab-has-no-such-builder -x`: No such file or directory",
            ),
            (
                "lacking",
                "missing",
                "apt-get install rare-compiler rare-runtime",
            ),
            (
                "lacking-too",
                "missing",
                "apt-get install rare-compiler rare-runtime",
            ),
        ],
    );
    assert_eq!(failure(&run, "misbuilt").log, ["one", "two"]);
}

#[test]
fn a_subject_that_is_built_is_built_once_and_again_when_its_source_changes() {
    let build = r#"sources = ["source"]
build = [["sh", "-c", "echo built >> builds"]]
driver"#;
    let project = Project::noop(&[subject("made", &["plain.py"]).replace("driver", build)]);
    let source = project.join("source");
    let builds = || {
        std::fs::read_to_string(project.join("builds"))
            .expect("the subject was built")
            .lines()
            .count()
    };
    std::fs::write(&source, "one").unwrap();
    project
        .run(&[])
        .expect(0)
        .says(&["benchlab: building made\n"]);
    assert_eq!(builds(), 1);
    let again = project.run(&[]);
    assert!(
        !again.expect(0).stderr.contains("building"),
        "{}",
        again.stderr
    );
    assert_eq!(builds(), 1);
    std::fs::write(&source, "two").unwrap();
    project
        .run(&[])
        .expect(0)
        .says(&["benchlab: building made\n"]);
    assert_eq!(builds(), 2);

    // Compilers read their settings from the environment.
    for (i, (variable, value)) in [
        ("CFLAGS", "-march=native"),
        ("RUSTFLAGS", "-Ctarget-cpu=native"),
        ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ]
    .into_iter()
    .enumerate()
    {
        let build = || {
            let mut command = project.command(&["build", "t"]);
            outcome(command.env(variable, value).output().unwrap())
        };
        build().expect(0);
        assert_eq!(builds(), 3 + i, "{variable}");
        build().expect(0);
        assert_eq!(builds(), 3 + i, "{variable}");
    }
}

/// Builds of different languages run concurrently. Builds with shared files run one after another.
///
/// Each of the first two builds finishes only after the other build has started. The other builds
/// have the same language or the same command. If they ran concurrently, they would find each
/// other's directory.
#[test]
fn builds_run_concurrently_unless_they_share_files() {
    let subject_with_build = |name: &str, language: &str, script: &str| {
        let lines = format!("build = [[\"sh\", \"-c\", \"{script}\"]]\ndriver");
        let text = subject(name, &["plain.py"]).replace("driver", &lines);
        text.replace("\"Python\"", &format!("\"{language}\""))
    };
    let waits_for = |marker: &str, awaited: &str| {
        format!(
            "touch {marker}; for i in $(seq 1200); do [ -e {awaited} ] && exit 0; sleep 0.1; done; exit 1"
        )
    };
    let alone = "mkdir alone && sleep 0.1 && rmdir alone";
    let shared = "mkdir shared && sleep 0.1 && rmdir shared";
    let project = Project::noop(&[
        subject_with_build("ada", "Ada", &waits_for("ada", "java")),
        subject_with_build("java", "Java", &waits_for("java", "ada")),
        subject_with_build("c", "C", alone),
        subject_with_build("c-again", "C", &format!("true; {alone}")),
        subject_with_build("go", "Go", shared),
        subject_with_build("rust", "Rust", shared),
    ]);
    project.run(&[]).expect(0);
    assert_failures(&project.load(), &[]);
}

#[test]
fn a_run_without_remaining_subjects_fails() {
    let project = measure_fault_alone("nonsense", 1);
    let run = project.load();
    assert_eq!(run.ending, Some(lab_model::Ending::Failed));
    assert_eq!(run.failures.len(), 2, "{:?}", run.failures);
}

/// A missing compiler matters only for subjects that have not been built.
#[test]
fn a_subject_without_its_server_is_excluded() {
    let project = Project::noop(&[subject("serves", &["plain.py"]).replace(
        "driver",
        "needs = [\"compiler\", \"server\"]\nbuild = [[\"true\"]]\ndriver",
    )]);
    let file = project.join("experiments/toolchains.toml");
    let toolchains = |title: &str, more: &str| {
        let probe = project.join(title).display().to_string();
        std::fs::write(&probe, "").unwrap();
        format!(
            "[{title}]\ntitle = \"A {title}\"\nprobes = [[\"test\", \"-e\", {probe:?}]]\n\
             debian = [\"its-{title}\"]\n{more}\n"
        )
    };
    let text = toolchains("compiler", "") + &toolchains("server", "service = true");
    std::fs::write(file, text).unwrap();
    let build = || project.call(&["build", "t"]);
    build().expect(0);
    std::fs::remove_file(project.join("compiler")).unwrap();
    build().expect(0);
    std::fs::remove_file(project.join("server")).unwrap();
    let message = "serves cannot run; missing: A server\nbenchlab: to install what is missing, run \
                `benchlab run t --install` or `apt-get install its-server`\n";
    project.run(&[]).expect(0).says(&[message]);
    // For a subject that has not been built, all missing toolchains are reported together.
    std::fs::remove_dir_all(project.join("build")).unwrap();
    project.run(&[]).expect(0).says(&[
        "serves cannot run; missing: A compiler, A server\n",
        "`apt-get install its-compiler its-server`",
    ]);
}

#[test]
fn a_run_without_any_built_subject_does_not_start() {
    let text = subject("honest", &["plain.py"]).replace("driver", "needs = [\"rare\"]\ndriver");
    let head = "[experiment]\ntitle = \"\"\nquestion = \"\"\nbaseline = \"honest\"\n";
    let project = Project::with_text(&[head, NOOP, &text].concat());
    project.run(&[]).expect(1).says(&[
        "honest cannot run; missing: Rare compiler",
        "no subject can run",
    ]);
    assert!(project.files().is_empty());
}

/// Measures a project with one subject for each fault.
fn measure_faults(faults: &[&str]) -> Project {
    measure_faults_within(TIME_LIMIT, faults)
}

fn measure_faults_within(time_limit: &str, faults: &[&str]) -> Project {
    let project = Project::with_faults(faults);
    let limits = ["--time-limit", time_limit, "--for", "10m"];
    project.run(&limits).expect(0);
    project
}

/// Measures a project with two subjects that both have the given fault.
fn measure_fault_alone(fault: &str, code: i32) -> Project {
    let project = Project::with_faults(&[fault]);
    let text = std::fs::read_to_string(project.join("experiments/t/experiment.toml")).unwrap();
    let text = text.replace("plain.py\"]", &format!("faulty.py\", {fault:?}]"));
    std::fs::write(project.join("experiments/t/experiment.toml"), text).unwrap();
    let subjects = ["--subjects", "honest,second", "--time-limit", TIME_LIMIT];
    project.run(&subjects).expect(code).says(&["failed"]);
    project
}

#[track_caller]
fn failure<'r>(run: &'r Run, name: &str) -> &'r Failure {
    let plan = run.plan().expect("a plan");
    run.failures
        .iter()
        .find(|f| plan.subjects[f.subject].name == name)
        .expect("it failed")
}

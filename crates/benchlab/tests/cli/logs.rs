// SPDX-License-Identifier: Apache-2.0
//! `benchlab logs`: reads logs, and produces a result, a run file and exit codes.

use crate::project::{BENCHLAB, Outcome, Project, outcome, rows, send_signal, wait_until};
use lab_model::LogAdvice;
use lab_services::{DATABASES, DaemonOptions, DatabaseKind, Service, Transport};
use nix::sys::signal::Signal;
use std::fmt::Write as _;
use std::fs::DirEntry;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Generates an nginx log that starts at 10:00 and has $request_time at the end of each line. Two
/// of its 40 pages take most of the time.
fn log(minutes: u32, slower: u32) -> String {
    let mut text = String::new();
    for minute in 0..minutes {
        for second in 0..60 {
            let page = (minute * 60 + second) % 40;
            let (path, ms) = match page {
                0..=2 => ("/search?q=x".to_string(), 400 * slower),
                3 => ("/report".to_string(), 500),
                n => (
                    format!("/p{}/{second}", char::from(b'a' + (n % 26) as u8)),
                    3,
                ),
            };
            let (hour, minute) = (10 + minute / 60, minute % 60);
            let _ = writeln!(
                text,
                "10.0.0.1 - - [01/May/2026:{hour:02}:{minute:02}:{second:02} +0200] \"GET {path} HTTP/1.1\" 200 9 \"-\" \"Mozilla/5.0\" {}.{:03}",
                ms / 1000,
                ms % 1000
            );
        }
    }
    text
}

/// A project with logs in its directory.
pub struct TestDirectory(pub Project);

impl TestDirectory {
    pub fn new() -> TestDirectory {
        TestDirectory(Project::noop(&[]))
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    pub fn read(&self, words: &[&str]) -> Outcome {
        self.0.call(&[&["logs"], words].concat())
    }
}

#[test]
fn the_few_pages_that_matter_are_named_in_every_format() {
    let directory = TestDirectory::new();
    let file = directory.file("access.log", &log(30, 1));
    let outcome = directory.read(&[&file]);
    outcome.expect(0).shows(&[
        "2 of 28 pages account for 80 % of the time: /search",
        "/report",
        "Not enough weeks",
    ]);
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    let busiest = "The busiest minute began on Friday 2026-05-01 10:00 UTC+2, with 1";
    assert!(words.join(" ").contains(busiest), "{}", outcome.stdout);
    assert!(outcome.stdout.lines().count() <= 40, "{}", outcome.stdout);
    assert!(
        outcome
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 80),
        "{}",
        outcome.stdout
    );
    let run = directory.0.load();
    let analysis = run.logs().unwrap();
    assert_eq!((analysis.lines.all, analysis.lines.entries), (1800, 1800));
    assert!(
        analysis.sources[0]
            .format
            .ends_with("after the agent, in s"),
        "{}",
        analysis.sources[0].format
    );
    assert_eq!(analysis.hours[0].offset_s, 7200);
    assert!(analysis.pages.iter().any(|p| p.name.ends_with("/{id}")));
    let path = directory.0.file().display().to_string();
    assert!(directory.0.file().with_extension("html").exists());
    for form in ["terminal", "markdown", "csv", "json", "xml", "html"] {
        let outcome = directory.0.call(&["report", &path, "--format", form]);
        outcome.expect(0).shows(&["/search"]);
    }
    for (form, name) in [("xlsx", "a.xlsx"), ("svg", "plots")] {
        let output = directory.0.join(name).display().to_string();
        directory
            .0
            .call(&["report", &path, "--format", form, "--output", &output])
            .expect(0);
        assert!(Path::new(&output).exists());
    }
    let full = directory.0.call(&["report", &path, "--full"]);
    full.expect(0).shows(&[
        "Most used, slowest, most time",
        "Hour by hour",
        "How the log was read",
    ]);
}

#[test]
fn compressed_rotated_and_piped_logs_are_read() {
    let directory = TestDirectory::new();
    let file = directory.file("access.log", &log(2, 1));
    directory.file("access.log.1", &log(1, 1));
    let gzip = Command::new("gzip")
        .arg("-k")
        .arg(directory.0.join("access.log.1"))
        .status()
        .unwrap();
    assert!(gzip.success());
    std::fs::rename(
        directory.0.join("access.log.1.gz"),
        directory.0.join("access.log.2.gz"),
    )
    .unwrap();
    directory
        .read(&["--rotated", "--no-keep", "--full", &file])
        .expect(0)
        .shows(&["access.log.2.gz and 2 others", "240"]);
    let mut command = directory.0.command(&["logs", "--no-keep", "--full", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(log(3, 1).as_bytes())
        .unwrap();
    outcome(child.wait_with_output().unwrap())
        .expect(0)
        .shows(&["standard input", "180"]);
}

#[test]
fn gates_end_with_their_exit_codes() {
    let directory = TestDirectory::new();
    let file = directory.file("access.log", &log(2, 1));
    let read = |words: &[&str]| directory.read(&[&["--no-keep", &file], words].concat());
    read(&["--fail-if", "p99(/search)>500ms"]).expect(0);
    read(&["--fail-if", "p99(/search)>300ms"])
        .expect(3)
        .says(&["gate failed: p99(/search) is 400.0 ms", "limit 300 ms"]);
    read(&["--fail-if", "p99(/nothing)>300ms"])
        .expect(4)
        .says(&["the log has no page /nothing"]);
    read(&["--fail-if", "p99>3"])
        .expect(2)
        .says(&["is not a valid condition: expected a time such as 20ms"]);
    read(&["--nagios", "--fail-if", "errors>1%"])
        .expect(0)
        .shows(&["LOGS OK - 120 requests", "| requests=120 'errors'=0;;0.01"]);
    read(&["--nagios", "--warn-if", "mean>1ms"])
        .expect(1)
        .shows(&["LOGS WARNING"]);
    read(&[
        "--nagios",
        "--warn-if",
        "requests<130",
        "--fail-if",
        "requests<100",
    ])
    .expect(1)
    .shows(&["| requests=120 'requests'=120;130:;100:"]);
    read(&["--nagios", "--fail-if", "mean>1ms"])
        .expect(2)
        .shows(&["LOGS CRITICAL", "mean>1ms"]);
    read(&["--nagios", "--fail-if", "mean(/x)>1ms"])
        .expect(3)
        .shows(&["LOGS UNKNOWN"]);
}

/// The unread lines of a log could violate a gate, so the gate is inconclusive.
#[test]
fn an_unreadable_log_makes_gates_inconclusive() {
    let directory = TestDirectory::new();
    let read_one = directory.file("access.log", &log(2, 1));
    let nonsense = directory.file("nonsense.log", "hello\nworld\n");
    let cut_off = directory.0.join("cut.log.gz");
    let whole = directory.file("whole.log", &log(30, 1));
    let gzip = Command::new("gzip").args(["-c", &whole]).output().unwrap();
    std::fs::write(&cut_off, &gzip.stdout[..gzip.stdout.len() / 2]).unwrap();
    let cut_off = cut_off.display().to_string();
    let mut cases = vec![
        (vec![&nonsense[..]], "nonsense.log"),
        (vec![&cut_off[..]], "cut.log.gz"),
        (vec!["--on", "local:1", &nonsense], "nonsense.log"),
        (vec!["--on", "local:1", "/nowhere/a.log"], "/nowhere/a.log"),
    ];
    let locked = directory.file("locked.log", &log(1, 1));
    let mut command = Command::new("chmod");
    assert!(command.args(["0", &locked]).status().unwrap().success());
    // Root can read the file anyway.
    if std::fs::File::open(&locked).is_err() {
        cases.push((vec![&locked], "locked.log"));
    }
    for (words, name) in cases {
        let read = |gates: &[&str]| {
            let words = [&["--no-keep"], gates, &words[..], &[&read_one]].concat();
            directory.read(&words)
        };
        read(&["--fail-if", "errors>1%"]).expect(4).says(&[name]);
        read(&["--fail-if", "mean>1ms"]).expect(3);
        read(&[]).expect(0).says(&[name]);
        let unknown = ["LOGS UNKNOWN - ", name];
        read(&["--nagios", "--fail-if", "errors>1%"])
            .expect(3)
            .shows(&unknown);
        read(&["--nagios", "--fail-if", "mean>1ms"])
            .expect(2)
            .shows(&["LOGS CRITICAL - ", name]);
        read(&["--nagios"]).expect(3).shows(&unknown);
    }
}

#[test]
fn a_check_that_cannot_be_made_is_unknown() {
    let directory = TestDirectory::new();
    let file = directory.file("access.log", &log(1, 1));
    directory
        .read(&["--nagios", "/nowhere/a.log"])
        .expect(3)
        .shows(&["LOGS UNKNOWN - ", "/nowhere/a.log"]);
    // Nagios reads exit code 2 as CRITICAL.
    directory
        .read(&["--nagios", "--fail-if", "p95>>1s", &file])
        .expect(3);
    directory.read(&["--fail-if", "p95>>1s", &file]).expect(2);
    directory.read(&["/nowhere/a.log"]).expect(2);
}

/// Reports a run file from a version that did not count requests without a status.
#[test]
fn files_without_a_later_column_are_read() {
    let directory = TestDirectory::new();
    let log = directory.file("access.log", &log(10, 1));
    let runs = directory.0.join("runs").display().to_string();
    directory.read(&["--runs", &runs, &log]).expect(0);
    let files = std::fs::read_dir(&runs).unwrap().flatten();
    let mut files = files.map(|entry| entry.path());
    let file = files.find(|path| path.extension().is_some_and(|e| e == "lab"));
    let file = file.expect("a run file");
    rows(&file, "ALTER TABLE log_page DROP COLUMN without_status");
    let mut report = Command::new(BENCHLAB);
    report
        .arg("report")
        .arg(&file)
        .current_dir(directory.0.join(""));
    outcome(report.output().unwrap())
        .expect(0)
        .shows(&["/search"]);
}

/// A file that is specified twice counts once, even if its path is written in two ways.
#[test]
fn a_file_that_is_specified_twice_is_counted_once() {
    let directory = TestDirectory::new();
    let file = directory.file("access.log", &log(2, 1));
    let older = directory.file("access.log.1", &log(1, 1));
    let link = directory.0.join("link.log").display().to_string();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let hard = directory.0.join("hard.log").display().to_string();
    std::fs::hard_link(&file, &hard).unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["--rotated", &file, &older], "requests=180 "),
        (&[&file, &file], "requests=120 "),
        (&[&file, &link], "requests=120 "),
        (&[&hard, &file], "requests=120 "),
    ];
    for on in [&[][..], &["--on", "local:1"]] {
        for (words, requests) in cases {
            directory
                .read(&[on, &["--nagios"], words].concat())
                .expect(0)
                .says(&[
                    words[words.len() - 1],
                    "it was specified before and is read only once",
                ])
                .shows(&[requests]);
        }
    }
}

#[test]
fn requests_of_two_servers_at_the_same_time_add_up() {
    let directory = TestDirectory::new();
    let files = ["web1.log", "web2.log"].map(|name| directory.file(name, &log(150, 1)));
    let read = |files: &[&str], gate: &str| {
        let words = ["--no-keep", "--fail-if", gate];
        directory.read(&[&words[..], files].concat())
    };
    read(&[&files[0]], "rate>1.5").expect(0);
    read(&[&files[0], &files[1]], "rate>1.5").expect(3);
    read(&[&files[0], &files[1]], "rate>2").expect(0);
}

#[test]
fn statements_are_not_requests_of_users() {
    let directory = TestDirectory::new();
    let server = directory.file("access.log", &log(1, 1));
    let statement = |i: u32| {
        format!(
            "2026-05-01 08:00:{:02}.000 UTC [7] LOG:  duration: 1.000 ms  statement: SELECT {i}\n",
            i % 60
        )
    };
    let database = directory.file(
        "postgresql.log",
        &(0..600).map(statement).collect::<String>(),
    );
    let read = |files: &[&str]| {
        let words = ["--no-keep", "--fail-if", "rate>1"];
        directory.read(&[&words[..], files].concat())
    };
    read(&[&server, &database]).expect(0);
    read(&[&database, &server]).expect(0);
    read(&[&database]).expect(3);
}

#[test]
fn unreadable_logs_are_errors_with_advice() {
    let directory = TestDirectory::new();
    let nonsense = directory.file("nonsense.log", "hello\nworld\n");
    directory
        .read(&[&nonsense])
        .expect(2)
        .says(&["unknown format", "hello", "--log-format"]);
    directory
        .read(&["missing.log"])
        .expect(2)
        .says(&["missing.log: no such file"]);
    let rules = directory.file("rules", "users\n");
    let file = directory.file("access.log", &log(1, 1));
    directory
        .read(&["--rules", &rules, &file])
        .expect(2)
        .says(&["line 1"]);
    directory
        .read(&["--zone", "Europe/Atlantis", &file])
        .expect(2)
        .says(&["Europe/Berlin"]);
    directory
        .read(&["--release", "x", &file])
        .expect(2)
        .says(&["2026-05-01=v12"]);
    directory
        .read(&["--log-format", "%h %t", &file])
        .expect(2)
        .says(&["no request"]);
    let bare = directory.file(
        "bare.log",
        &log(20, 1)
            .replace(".400\n", "\n")
            .replace(" 0.003", "")
            .replace(" 0.500", "")
            .replace(" 0\n", "\n"),
    );
    directory
        .read(&["--no-keep", &bare])
        .expect(0)
        .shows(&["no durations", "%D"]);
    // An unreadable log next to a readable one.
    directory
        .read(&["--no-keep", &nonsense, &file])
        .expect(0)
        .shows(&["nonsense.log", "could not be read to the end"]);
}

#[test]
fn two_months_are_compared() {
    let directory = TestDirectory::new();
    for slower in [1, 2] {
        let mut text = String::new();
        for day in 1..=12 {
            text.push_str(&log(20, slower).replace("01/May", &format!("{day:02}/May")));
        }
        let file = directory.file(&format!("{slower}.log"), &text);
        directory.read(&[&file]).expect(0);
    }
    let mut files = directory.0.files();
    files.sort_by(|a, b| {
        let began = |file: &Path| lab_store::load(file).unwrap().started_unix_s;
        began(a).total_cmp(&began(b))
    });
    let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    let [first, second] = &files[..] else {
        panic!("{files:?}")
    };
    directory
        .0
        .call(&["diff", first, second])
        .expect(0)
        .shows(&["/search takes 2"]);
    directory
        .0
        .call(&["list", "--runs"])
        .expect(0)
        .shows(&["14,400 requests read from logs"]);
}

/// The first screen of a comparison shows its assumptions, and gates do not rely on guessed units
/// or zones.
#[test]
fn a_comparison_states_the_assumptions_about_each_log() {
    let lines = |month: u32, ms: u32, zone: &str, unit: &str| {
        let minute = |i: u32| {
            let (day, minute) = (1 + i / 40, i % 40);
            format!(
                "{{\"time\":\"2026-{month:02}-{day:02} 10:{minute:02}:00{zone}\",\"method\":\"GET\",\"path\":\"/a\",\"status\":200,\"duration{unit}\":{}}}\n",
                ms + i % 7
            )
        };
        (0..400).map(minute).collect::<String>()
    };
    let gate = |first: &str, second: &str| {
        let directory = TestDirectory::new();
        let runs = [first, second].map(|text| {
            let log = directory.file("a.log", text);
            let before = directory.0.files();
            directory.read(&[&log]).expect(0);
            let mut files = directory.0.files();
            files.retain(|file| !before.contains(file));
            files[0].display().to_string()
        });
        let shown = directory.0.call(&["diff", &runs[0], &runs[1]]);
        shown.expect(0);
        (
            shown,
            directory.0.call(&["diff", "--gate", &runs[0], &runs[1]]),
        )
    };
    let clear = |month, ms| lines(month, ms, "Z", "_ms");
    for (second, code) in [(clear(6, 30), 0), (clear(6, 60), 3)] {
        let (shown, judged) = gate(&clear(5, 30), &second);
        assert!(!shown.stdout.contains("assumed"), "{shown:#?}");
        judged.expect(code);
    }
    let no_zone = |month, ms| lines(month, ms, "", "_ms");
    // The page has enough days in only one of the logs.
    let short: String = clear(6, 30)
        .lines()
        .take(79)
        .map(|l| format!("{l}\n"))
        .collect();
    let (_, judged) = gate(&clear(5, 30), &short);
    judged.expect(4).says(&["3 days"]);
    let (shown, judged) = gate(&no_zone(5, 30), &no_zone(6, 60));
    shown.shows(&["assumed", "Both logs", "--zone"]);
    judged.expect(3);
    let (shown, judged) = gate(&clear(5, 30), &lines(6, 60, "Z", ""));
    shown.shows(&["assumed", "The second log", "--duration-unit"]);
    judged.expect(4).says(&["--duration-unit"]);
}

/// If two logs or machines lead to the same advice, the advice is shown once, with the sum of the
/// counts.
#[test]
fn counts_of_multiple_logs_are_one_sentence() {
    const REQUEST: &str = "method=GET path=/a format=html controller=A action=b status=200 duration=58.33 view=40.43 db=15.26\n";
    const ROUTED: &str = "2026-05-01T10:00:00.123456+00:00 heroku[router]: at=info method=GET path=\"/a\" host=app.example.org \
                          request_id=5a1b fwd=\"203.0.113.9\" dyno=web.1 connect=0ms service=18ms status=200 bytes=12 protocol=https\n";
    let log = format!(
        "{}{}{ROUTED}",
        REQUEST.repeat(20),
        "Processing by A#b as HTML\n".repeat(2)
    );
    for agents in [&[][..], &["--on", "local:2"]] {
        let directory = TestDirectory::new();
        let (a, b) = (directory.file("a.log", &log), directory.file("b.log", &log));
        directory.read(&[agents, &[&a, &b]].concat()).expect(0);
        let analysis = directory.0.load().logs().unwrap().clone();
        let n = if agents.is_empty() { 2 } else { 4 };
        assert_eq!(
            (analysis.lines.malformed, analysis.lines.entries),
            (0, 20 * n)
        );
        assert_eq!(
            analysis.advice,
            [
                LogAdvice::ApplicationMessages { lines: 2 * n },
                LogAdvice::RouterLines { lines: n },
            ]
        );
    }
}

#[test]
fn tags_of_a_repository_are_releases() {
    let directory = TestDirectory::new();
    let mut text = String::new();
    for day in 1..=12 {
        let slower = if day > 6 { 2 } else { 1 };
        text.push_str(&log(20, slower).replace("01/May", &format!("{day:02}/May")));
    }
    let file = directory.file("access.log", &text);
    let folder = tempfile::tempdir().unwrap();
    let git = |date: &str, words: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(folder.path());
        git.args(["-c", "user.name=me", "-c", "user.email=me@example.org"]);
        git.env("GIT_COMMITTER_DATE", date);
        assert!(git.args(words).output().unwrap().status.success());
    };
    git("", &["init"]);
    for (date, tag) in [("2026-04-01T00:00Z", "v11"), ("2026-05-07T00:00Z", "v12")] {
        git(date, &["commit", "--allow-empty", "-m", tag]);
        git(date, &["tag", tag]);
    }
    let repository = folder.path().display().to_string();
    directory
        .read(&["--full", "--git-tags", &repository, &file])
        .expect(0)
        .shows(&["v12"]);
    let releases = directory.0.load().logs().unwrap().clone().releases;
    assert_eq!(releases, [(1_778_112_000, "v12".to_owned())]);
    directory
        .read(&["--git-tags", "/", &file])
        .expect(2)
        .says(&["--git-tags /", "git repository"]);
}

/// Waits until a process has read to the end of a file that it follows.
#[track_caller]
pub fn wait_until_read(process: &Child, file: &str) {
    let folder = |name| PathBuf::from(format!("/proc/{}/{name}", process.id()));
    wait_until("the log is read", || {
        let length = std::fs::metadata(file).unwrap().len();
        let is_at_end = |descriptor: &DirEntry| {
            let text = std::fs::read_to_string(folder("fdinfo").join(descriptor.file_name()));
            let text = text.unwrap_or_default();
            let position = text.lines().find_map(|line| line.strip_prefix("pos:"));
            position.is_some_and(|position| position.trim() == length.to_string())
        };
        let is_file = |descriptor: &DirEntry| {
            std::fs::read_link(descriptor.path()).is_ok_and(|path| path == Path::new(file))
        };
        let mut descriptors = std::fs::read_dir(folder("fd")).unwrap().flatten();
        descriptors.any(|descriptor| is_file(&descriptor) && is_at_end(&descriptor))
    });
}

#[test]
fn a_log_that_is_rotated_and_truncated_is_followed() {
    let directory = TestDirectory::new();
    let file = directory.file("access.log", &log(1, 1));
    let out = directory.0.join("followed.json");
    let child = directory.0.start(&[
        "logs",
        "--follow",
        "--format",
        "json",
        "--output",
        out.to_str().unwrap(),
        &file,
    ]);
    let append = |text: &str| {
        let mut log = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&file)
            .unwrap();
        log.write_all(text.as_bytes()).unwrap();
    };
    wait_until_read(&child, &file);
    let second = log(1, 1);
    let (head, tail) = second.split_at(100);
    append(head);
    wait_until_read(&child, &file);
    append(tail);
    wait_until_read(&child, &file);
    std::fs::rename(&file, directory.0.join("access.log.1")).unwrap();
    append(&log(1, 1));
    wait_until_read(&child, &file);
    std::fs::write(&file, log(1, 1).lines().next().unwrap().to_owned() + "\n").unwrap();
    wait_until_read(&child, &file);
    send_signal(child.id() as i32, Signal::SIGINT);
    outcome(child.wait_with_output().unwrap()).expect(0);
    let analysis = directory.0.load().logs().unwrap().clone();
    assert_eq!((analysis.lines.entries, analysis.lines.malformed), (181, 0));
    assert!(std::fs::read_to_string(out).unwrap().contains("/search"));
}

/// After a rotation, a server may still write to the old file. Ctrl-C must not lose lines of either
/// file.
#[test]
fn no_line_is_lost_between_a_file_and_its_successor() {
    let directory = TestDirectory::new();
    let file = directory.file("access.log", &log(1, 1));
    let child = directory.0.start(&["logs", "--follow", &file]);
    wait_until_read(&child, &file);
    let pid = child.id() as i32;
    // benchlab waits for half a second for lines of the old file, however long the test takes.
    send_signal(pid, Signal::SIGSTOP);
    let mut old = std::fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .unwrap();
    std::fs::rename(&file, directory.0.join("access.log.1")).unwrap();
    std::fs::write(&file, log(2, 1)).unwrap();
    old.write_all((log(3, 1) + "10.0.0.1 - - [01/May").as_bytes())
        .unwrap();
    send_signal(pid, Signal::SIGINT);
    send_signal(pid, Signal::SIGCONT);
    outcome(child.wait_with_output().unwrap()).expect(0);
    let lines = directory.0.load().logs().unwrap().clone().lines;
    assert_eq!(
        (lines.entries, lines.malformed, lines.cut_off),
        (6 * 60, 0, 1)
    );
}

/// A server that has executed slow statements, and its URL for `benchlab logs`.
struct Counting {
    service: Service,
    url: String,
    _folder: tempfile::TempDir,
}

impl Counting {
    fn new(kind: &'static DatabaseKind, settings: &[(&str, &str)]) -> Counting {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut request = DaemonOptions::new(folder.path());
        let setting = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        request.settings = settings.iter().map(setting).collect();
        let service = Service::start(kind, &request).unwrap();
        let target = service.target(Transport::Tcp, "benchlab").unwrap();
        Counting {
            service,
            url: target.split('?').next().unwrap().to_owned(),
            _folder: folder,
        }
    }

    fn run(&mut self, statements: &[&str]) {
        for statement in statements {
            self.service.admin().query(statement).unwrap();
        }
    }

    fn password(&self) -> &str {
        let login = self.url.split(['@', '/']).nth(2).unwrap();
        login.split(':').nth(1).unwrap()
    }
}

#[test]
fn statements_that_a_server_counted_are_read() {
    let settings: [&[(&str, &str)]; 2] = [&[], &[("performance_schema", "ON")]];
    let prepared: [&[&str]; 2] = [
        &[
            "GRANT pg_read_all_stats TO benchlab",
            "SET pg_stat_statements.track = 'top'",
        ],
        &["GRANT SELECT ON performance_schema.* TO benchlab"],
    ];
    let sleep = ["SELECT pg_sleep(0.05)", "SELECT SLEEP(0.05)"];
    for (i, kind) in DATABASES.into_iter().enumerate() {
        if let Some(missing) = kind.missing() {
            eprintln!("skipped: {missing}");
            continue;
        }
        let mut server = Counting::new(kind, settings[i]);
        server.run(prepared[i]);
        server.run(&["SELECT 1 + 41", "SELECT 2 + 40", "SELECT 3 + 39"]);
        // A statement may be counted shortly after its response, but before the next response.
        server.run(&[sleep[i], sleep[i], "SELECT 'done'"]);
        let directory = TestDirectory::new();
        let outcome = directory.read(&["--full", &server.url]);
        outcome.expect(0).shows(&["SELECT ? + ?", kind.title]);
        assert!(
            !outcome.stdout.contains(server.password()),
            "{}",
            outcome.stdout
        );
        let analysis = directory.0.load().logs().unwrap().clone();
        assert!(!analysis.sources[0].name.contains(server.password()));
        let page = |words: &str| {
            let mut pages = analysis.pages.iter();
            pages
                .find(|p| p.name.to_lowercase().contains(words))
                .unwrap()
        };
        assert_eq!(page("select ? + ?").requests, 3);
        let slept = page("sleep");
        assert_eq!((slept.requests, slept.errors), (2, 0));
        assert!(slept.max_ns >= 50_000_000 && slept.total_ns >= 100_000_000);
    }
}

#[test]
fn a_server_without_statement_statistics_gets_advice() {
    let Some(kind) = DATABASES.into_iter().find(|kind| kind.name == "mariadb") else {
        return;
    };
    if let Some(missing) = kind.missing() {
        eprintln!("skipped: {missing}");
        return;
    }
    let server = Counting::new(kind, &[]);
    let directory = TestDirectory::new();
    let outcome = directory.read(&[&server.url]);
    outcome.expect(2).says(&["performance_schema=ON"]);
    assert!(
        !outcome.stderr.contains(server.password()),
        "{}",
        outcome.stderr
    );
    directory
        .read(&["--follow", &server.url])
        .expect(2)
        .says(&["is not a file"]);
}

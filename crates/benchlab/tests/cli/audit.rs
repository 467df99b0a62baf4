// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit`: findings on a screen and in every format, comparisons of run files, exit
//! codes, and bad input.

use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

fn benchlab(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.output().expect("benchlab")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Writes a copy of a machine's files, with `somaxconn` as the length of the connection queue.
fn machine(folder: &Path, somaxconn: u32) {
    let files = [
        ("proc/sys/kernel/hostname", "web1\n".to_owned()),
        ("proc/sys/net/core/somaxconn", format!("{somaxconn}\n")),
        (
            "proc/sys/net/ipv4/ip_local_port_range",
            "32768 60999\n".into(),
        ),
        ("sys/block/sda/size", "1000000\n".into()),
        ("sys/block/sda/device/model", "\u{1b}[31mred\u{7}\n".into()),
        ("sys/block/sda/queue/rotational", "1\n".into()),
        ("sys/block/sda/queue/scheduler", "[none] bfq\n".into()),
    ];
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
}

/// Returns the run file that a command created.
fn run_file(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("runs").flatten();
    let mut names = entries
        .map(|e| e.path().display().to_string())
        .filter(|p| p.ends_with(".lab"));
    names.next().expect("a run file")
}

#[test]
fn a_machine_s_findings_are_one_screen_in_every_format_and_compared() {
    let temporary = TempDir::new().expect("a folder");
    let folder = temporary.path();
    machine(&folder.join("a"), 128);
    let screen = benchlab(
        folder,
        &["audit", "host", "--root", "a", "--runs", "before"],
    );
    let screen = stdout(&screen);
    assert!(
        screen.lines().count() <= 40 && screen.lines().all(|l| l.chars().count() <= 80),
        "{screen}"
    );
    assert!(
        screen.contains("Is this host set up well?") && screen.contains("net-somaxconn"),
        "{screen}"
    );
    for format in [
        "terminal", "markdown", "csv", "json", "xml", "html", "xlsx", "svg",
    ] {
        let output = format!("out-{format}");
        let words = [
            "audit", "host", "--root", "a", "--no-run", "--format", format, "--output", &output,
        ];
        stdout(&benchlab(folder, &words));
        let path = folder.join(&output);
        if path.is_file() {
            let contents = fs::read(&path).expect("a file");
            assert!(
                !contents.contains(&0x1b) && !contents.contains(&7) || format == "xlsx",
                "{format}"
            );
        }
    }
    machine(&folder.join("a"), 4096);
    stdout(&benchlab(
        folder,
        &["audit", "host", "--root", "a", "--runs", "after"],
    ));
    let [before, after] = ["before", "after"].map(|name| run_file(&folder.join(name)));
    let changed = stdout(&benchlab(
        folder,
        &["diff", &before, &after, "--export", "changed.json"],
    ));
    assert!(changed.contains("Better, 1: net-somaxconn"), "{changed}");
    let report = stdout(&benchlab(folder, &["report", &after, "--full"]));
    assert!(
        report.contains("mq-deadline > /sys/block/sda/queue/scheduler"),
        "{report}"
    );
    fs::copy(&before, folder.join("after/before.lab")).expect("a copy");
    let history = stdout(&benchlab(
        folder,
        &["history", "audit-host", "--runs", "after"],
    ));
    let history = history.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        history.contains("2 audits")
            && history.contains("Fixed since the previous audit: net-somaxconn"),
        "{history}"
    );
    let names = stdout(&benchlab(folder, &["history", "--runs", "after"]));
    assert!(names.contains("audit-host"), "{names}");
    let refused = benchlab(folder, &["diff", &before, "out-json.lab"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// A report on two audits supports the same formats as other reports. All audits accept the same
/// rules directory.
#[test]
fn two_audits_are_shown_in_full_and_in_every_form() {
    let temporary = TempDir::new().expect("a folder");
    let folder = temporary.path();
    machine(&folder.join("a"), 128);
    let rule = |of: &str, when: &str| {
        format!(
            "of = '{of}'\narea = 'own'\ntitle = 'Own'\nwhy = 'W'\nsource = 'https://example.org'\nseen = 'S'\n\
             [[case]]\nstate = 'bad'\nwhen = ['{when}']\n"
        )
    };
    fs::create_dir(folder.join("own")).expect("a folder");
    fs::write(
        folder.join("own/own-disk.toml"),
        rule("disk", "size > 1 KiB"),
    )
    .expect("a rule");
    fs::write(
        folder.join("own/own-cookie.toml"),
        rule("cookie", "wide = yes"),
    )
    .expect("a rule");
    let audit = ["audit", "host", "--root", "a", "--runs"];
    let rules = ["before", "--rules", "own", "--full"];
    let before = stdout(&benchlab(folder, &[&audit[..], &rules].concat()));
    assert!(
        before.contains("own-disk") && !before.contains("own-cookie"),
        "{before}"
    );
    stdout(&benchlab(folder, &[&audit[..], &["after"]].concat()));
    let [before, after] = ["before", "after"].map(|name| run_file(&folder.join(name)));
    let diff = |more: &[&str]| {
        let words = [&["diff", before.as_str(), after.as_str()], more].concat();
        benchlab(folder, &words)
    };
    let screen = stdout(&diff(&[]));
    assert!(
        screen.contains("In one audit only, 1: first audit: sda"),
        "{screen}"
    );
    assert!(!screen.contains("Better"), "{screen}");
    let full = stdout(&diff(&["--full"]));
    let table = full
        .split("Findings about objects that the other audit did not check.")
        .nth(1);
    assert!(
        table.is_some_and(|table| table.contains("own-disk")),
        "{full}"
    );
    for format in ["markdown", "csv", "json", "xml", "html"] {
        let document = stdout(&diff(&["-f", format]));
        assert!(document.contains("own-disk"), "{format}: {document}");
    }
    stdout(&diff(&["--format", "xlsx", "--output", "changed.xlsx"]));
    assert!(folder.join("changed.xlsx").is_file());
}

#[test]
fn a_gate_ends_with_3_and_names_what_failed() {
    let folder = TempDir::new().expect("a folder");
    machine(folder.path(), 128);
    let gate = |condition: &str| {
        let words = [
            "audit",
            "host",
            "--root",
            ".",
            "--no-run",
            "--fail-if",
            condition,
        ];
        let output = benchlab(folder.path(), &words);
        (output.status.code(), text(&output.stderr))
    };
    let (code, message) = gate("bad>0");
    assert_eq!(code, Some(3));
    assert!(
        message.contains("gate failed")
            && message.contains("net-somaxconn (web1)")
            && !message.contains("net-ports"),
        "{message}"
    );
    assert!(gate("advice>0").1.contains("net-ports"));
    fs::create_dir(folder.path().join("own")).expect("a folder");
    fs::write(folder.path().join("own/mine.toml"), "of = 'host'\n").expect("a rule");
    let output = benchlab(
        folder.path(),
        &["audit", "host", "--root", ".", "--rules", "own", "--no-run"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("mine.toml"));
    let output = benchlab(folder.path(), &["audit", "host", "--root", "nowhere"]);
    assert!(text(&output.stderr).contains("the directory has no proc/"));
}

/// `benchlab doctor` reports only findings from rules about measuring.
#[test]
fn this_machine_is_audited_and_the_doctor_has_the_same_rules() {
    let folder = TempDir::new().expect("a folder");
    let words = ["audit", "host", "--no-run", "--format", "json"];
    let json = benchlab(folder.path(), &words);
    let report: Value = serde_json::from_str(&stdout(&json)).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    let is_flagged = |row: &&Value| row["verdict"] == "bad" || row["verdict"] == "advice";
    let flagged: Vec<&Value> = rows.iter().filter(is_flagged).collect();
    let doctor = Command::new(env!("CARGO_BIN_EXE_benchlab"))
        .arg("doctor")
        .env_remove("BENCHLAB_PROJECT")
        .output();
    let doctor = text(&doctor.expect("benchlab").stdout);
    // Other findings may change between two audits of a live machine.
    let steady = [
        ("cpu-virtual", "this is a virtual machine"),
        ("cpu-smt", "two threads share each core"),
        ("cpu-turbo", "turbo frequencies are on"),
        ("cpu-governor", "the frequency governor is"),
        ("clock-source", "the clock source is"),
        ("system-preload", "preloaded: "),
    ];
    for (rule, sentence) in steady {
        let audited = flagged.iter().any(|row| row["case"] == rule);
        assert_eq!(audited, doctor.contains(sentence), "{rule}: {doctor}");
    }
    assert!(
        !doctor.contains("tcp_"),
        "doctor must not show rules that do not concern measuring"
    );
}

#[test]
fn cookies_are_audited_from_a_pipe_without_their_values() {
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchlab"));
    command
        .args(["audit", "cookies", "-", "--runs", "runs", "--full"])
        .current_dir(folder.path());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("benchlab");
    let sent = b"Cookie: __utma=verysecret1; session=verysecret2; evil=\x1b[31m\n";
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(sent)
        .expect("sent");
    let screen = stdout(&child.wait_with_output().expect("an end"));
    assert!(
        screen.contains("Google Analytics") && screen.contains("separators"),
        "{screen}"
    );
    let file = fs::read(run_file(&folder.path().join("runs"))).expect("a run file");
    assert!(
        !screen.contains("verysecret")
            && !text(&file).contains("verysecret")
            && !screen.contains('\u{1b}')
    );
    for (words, reason) in [
        (
            vec!["audit", "net", "https://a.example/"],
            "`https://a.example/`: expected a host name",
        ),
        (vec!["audit", "net", ""], "``: expected a host name"),
        (vec!["audit", "cookies", "nowhere.har"], "nowhere.har"),
        (
            vec!["audit", "site", "ftp://a.example/"],
            "unsupported scheme `ftp`",
        ),
        (
            vec!["audit", "site", "http://127.0.0.1:1/"],
            "no connection",
        ),
    ] {
        let output = benchlab(folder.path(), &words);
        assert!(
            text(&output.stderr).contains(reason),
            "{}",
            text(&output.stderr)
        );
    }
}

/// Reads from a malicious server and a malicious file. No output format prints their control
/// characters, and none hangs.
#[test]
fn control_characters_are_never_printed() {
    let folder = TempDir::new().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let body = "<img src='/\u{1b}[31m\u{202e}\u{9b}.png'><script src='//\u{7}evil.invalid/\u{1b}.js'></script>";
            let fields = "Server: \u{202e}n\u{9b}x\r\nSet-Cookie: sid=\u{9b}31m; Path=/\r\nETag: \"\u{9b}\"\r\n";
            let length = body.len();
            let response = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
            );
            let _ = stream.write_all(response.as_bytes());
        }
    });
    let cookies: String = (0..10_000)
        .map(|i| format!("c{i}\u{1b}[31m=\u{7}; "))
        .collect();
    let har = serde_json::json!({"log": {"entries": [{"request": {"url": "http://a.example/\u{1b}", "headers":
        [{"name": "Cookie", "value": cookies}]}, "response": {"status": 200, "headers": [{"name": "Server", "value": "\u{1b}]0;x\u{7}"}]}}]}});
    fs::write(folder.path().join("evil.har"), har.to_string()).expect("a file");
    let url = format!("http://127.0.0.1:{port}/");
    let site = ["audit", "site", &url, "--ask-rate", "1000"];
    let audits = [
        &site[..],
        &["audit", "site", "evil.har"],
        &["audit", "cookies", "evil.har"],
    ];
    for audit in audits {
        for format in ["terminal", "markdown", "csv", "json", "xml", "html"] {
            let words = [audit, &["--no-run", "--full", "--format", format]].concat();
            let screen = stdout(&benchlab(folder.path(), &words));
            let raw = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
            let line = screen.lines().find(|line| line.contains(raw));
            assert_eq!(line, None, "{format} of {audit:?}");
        }
    }
}

/// Checks the script's syntax with the shell, runs it once to show what it would do, and once to
/// move a directory.
///
/// The directory is on a separate filesystem, in a mount namespace that ends with the test.
#[test]
fn the_script_moves_a_directory_only_on_request() {
    const TRY: &str = r#"
        set -eu
        mkdir "it's hot" fast bin
        hot="it's hot"
        head -c 3000000 /dev/urandom >"$hot/a b"
        ln -s 'a b' "$hot/link"
        chmod 750 "$hot"
        truncate -s 64M image
        mkfs.ext4 -q image
        mount -o loop image fast || { echo "no loop devices"; exit 77; }
        : >fstab
        "$LAB" audit host --no-run --watch 300s --under "$PWD" --fast fast --script move.sh >screen 2>&1 &
        # Until it watches a filesystem, or, where it cannot, for thirty seconds.
        for i in $(seq 300); do
            if cat /proc/$!/fdinfo/* 2>/dev/null | grep -q '^fanotify .*mask'; then break; fi
            sleep 0.1
        done
        for i in 1 2 3 4; do cat "$hot/a b" >/dev/null; done
        sleep 3
        kill -TERM $!
        wait $! || { cat screen; exit 1; }
        cat screen
        grep -q 'Bytes read and written' screen
        grep -q 'The plan: move 1 directory to' screen
        sh -n move.sh
        if command -v shellcheck >/dev/null; then shellcheck move.sh; fi
        sum=$(sha256sum <"$hot/a b")
        export FSTAB="$PWD/fstab"
        sh move.sh
        [ ! -e "$hot.before" ]
        [ ! -e fast/moved ]
        [ ! -s fstab ]
        # A mount that fails leaves all as it was.
        printf '#!/bin/sh\nexit 1\n' >bin/mount
        chmod +x bin/mount
        if PATH="$PWD/bin:$PATH" sh move.sh --go 2>again; then exit 1; fi
        grep -q 'which is unchanged' again
        [ "$(sha256sum <"$hot/a b")" = "$sum" ]
        [ ! -e "$hot.before" ]
        rm -r fast/moved
        # A copy without room does not begin.
        free=$(df --output=avail --block-size=1 fast | tail -n 1)
        head -c $((free - 2000000)) /dev/zero >fast/full
        if sh move.sh 2>again; then exit 1; fi
        grep -q 'bytes free' again
        rm fast/full
        sh move.sh --go | tee said
        findmnt --mountpoint "$PWD/$hot"
        [ "$(sha256sum <"$hot/a b")" = "$sum" ]
        [ -L "$hot/link" ]
        [ "$(stat -c %a "$hot")" = 750 ]
        [ -e "$hot.before/a b" ]
        [ -e fstab.before-move ]
        grep -qF "none bind,nofail" fstab
        grep -qF "it's\\040hot none bind" said
        grep -q '^UUID=.* noatime,nofail,' fstab
        if sh move.sh --go 2>again; then exit 1; fi
        grep -q 'already' again
        # What it says of the way back is a line for a shell.
        sed -n 's/.*To go back: \(.*\); remove the line .*/\1/p' said >way-back
        sh -e way-back
        [ -e "$hot/a b" ]
        [ ! -e "$hot.before" ]
        umount fast
    "#;
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let root = Command::new("unshare").args(["-m", "true"]).output();
    if !root.is_ok_and(|o| o.status.success()) || !there("rsync") {
        return println!("skipped: it requires root and rsync");
    }
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", TRY]);
    command
        .env("LAB", env!("CARGO_BIN_EXE_benchlab"))
        .env_remove("BENCHLAB_PROJECT");
    let output = command
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    let output_text = text(&output.stdout) + &text(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 77)),
        "{output_text}"
    );
}

#[test]
fn unmeasurable_and_unwatchable_targets_are_rejected() {
    let folder = TempDir::new().expect("a folder");
    for (words, reason) in [
        (vec!["--measure", "nowhere"], "No such file"),
        (
            vec!["--measure", "/proc"],
            "/proc: cannot create a file there",
        ),
        (
            vec!["--watch", "1s", "--under", "nowhere"],
            "--under nowhere",
        ),
        (vec!["--watch", "1s", "--fast", "nowhere"], "--fast nowhere"),
        (vec!["--script", "x"], "--fast"),
        (vec!["--watch", "soon"], "expected a time"),
        (vec!["--root", "a", "--measure", "."], "cannot be used with"),
    ] {
        let output = benchlab(
            folder.path(),
            &[&["audit", "host", "--no-run"], &words[..]].concat(),
        );
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(reason),
            "{}",
            text(&output.stderr)
        );
    }
}

/// Lists the values that authors of rules can use, with their meaning.
#[test]
fn values_of_rules_are_listed() {
    let folder = TempDir::new().expect("a folder");
    let values = |words: &[&str]| benchlab(folder.path(), &[&["audit", "values"], words].concat());
    let screen = |words: &[&str]| {
        let lines = stdout(&values(words));
        let fits = lines.lines().all(|line| line.chars().count() <= 80);
        assert!(fits && lines.lines().count() <= 40, "{lines}");
        lines
    };
    let classes = screen(&[]);
    let disk = "disk         28 values, such as model, medium, size";
    assert!(classes.lines().any(|line| line == disk), "{classes}");
    let rows = classes.lines().take_while(|line| !line.is_empty());
    for row in rows.filter(|row| !row.starts_with(' ')) {
        let (class, _) = row.split_once(' ').expect("a class");
        screen(&[class]);
    }
    let disk = screen(&["disk"]);
    let scheduler = "scheduler       I/O scheduler in use";
    assert!(disk.lines().any(|line| line == scheduler), "{disk}");
    // If there are many values, only the names fit.
    let host = screen(&["host"]);
    assert!(host.contains("somaxconn,"), "{host}");
    let full = stdout(&values(&["host", "--full"]));
    assert!(
        full.lines().any(|line| line.starts_with("somaxconn  ")),
        "{full}"
    );
    let unknown = values(&["disks"]);
    assert_eq!(unknown.status.code(), Some(2));
    let message = text(&unknown.stderr);
    assert!(
        message.contains("the classes are address, cookie, "),
        "{message}"
    );
}

/// Serves a page with one file. Returns the server's port and the requested paths.
fn page_with_a_file() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let requests = Arc::<Mutex<Vec<String>>>::default();
    let log = requests.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut buffer = [0; 4096];
            let n = stream.read(&mut buffer).unwrap_or(0);
            let request = text(&buffer[..n]);
            let line = request.lines().next().unwrap_or_default();
            log.lock().expect("a log").push(line.to_owned());
            let body = "<img src=/i.png?key=s3cr3t>";
            let fields = "Content-Type: text/html\r\nSet-Cookie: sid=1; Path=/\r\nETag: \"1\"\r\n";
            let length = body.len();
            let response =
                format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {length}\r\n\r\n{body}");
            let _ = stream.write_all(response.as_bytes());
        }
    });
    (port, requests)
}

/// `audit cookies` does not request paths that only `audit site` requests, and does not store the
/// user's token.
#[test]
fn cookie_audits_request_only_files_and_store_no_queries() {
    let folder = TempDir::new().expect("a folder");
    let (port, requests) = page_with_a_file();
    let url = format!("http://127.0.0.1:{port}/?token=s3cr3t");
    for kind in ["cookies", "site"] {
        let words = ["audit", kind, &url, "--runs", kind, "--ask-rate", "1000"];
        let output = benchlab(folder.path(), &words);
        let output_text = stdout(&output) + &text(&output.stderr);
        if kind == "cookies" {
            let lines =
                ["/?token=s3cr3t", "/i.png?key=s3cr3t"].map(|p| format!("GET {p} HTTP/1.1"));
            assert_eq!(*requests.lock().expect("a log"), lines);
        }
        let run = run_file(&folder.path().join(kind));
        let page = Path::new(&run).with_extension("html");
        let [run, page] = [fs::read(&run), fs::read(page)].map(|f| text(&f.expect("a file")));
        for contents in [&output_text, &run, &page] {
            assert!(!contents.contains("s3cr3t"), "{kind}");
        }
        assert!(
            page.contains("?token=…") && !page.contains("--full"),
            "{kind}"
        );
    }
}

#[test]
fn binary_and_unreadable_files_are_reported() {
    let folder = TempDir::new().expect("a folder");
    let bytes: Vec<u8> = (0..100_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    fs::write(folder.path().join("random"), bytes).expect("a file");
    let refused = benchlab(folder.path(), &["audit", "cookies", "random"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = text(&refused.stderr);
    assert!(
        message.contains("random: binary data; expected a HAR file"),
        "{message}"
    );
    let entry = serde_json::json!({"request": {"url": "//nowhere"}, "response": {"status": 200}});
    let har = serde_json::json!({"log": {"entries": [entry, entry]}});
    fs::write(folder.path().join("odd.har"), har.to_string()).expect("a file");
    let screen = stdout(&benchlab(
        folder.path(),
        &["audit", "cookies", "odd.har", "--no-run"],
    ));
    assert!(screen.contains("2 entries could not be read"), "{screen}");
}

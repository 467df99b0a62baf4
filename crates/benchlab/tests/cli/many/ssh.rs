// SPDX-License-Identifier: Apache-2.0
//! `--on ssh:…`: benchlab is found or copied, verified, and removed afterwards, even after
//! failures.

use super::sshd::Sshd;
use super::{TestDirectory, assert_added_up, children, parts};
use crate::load::web::{Behavior, Web};
use crate::project::{BENCHLAB, Outcome, outcome, send_signal, wait_until};
use lab_model::{AgentId, AgentSlice, LoadCount, Run};
use nix::sys::signal::Signal;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A command that shifts the monotonic clock by ten minutes (time_namespaces(7)). Only root may run
/// it.
const LATE_CLOCK: &str =
    "unshare --time --monotonic 600 --boottime 600 --fork sh -c \"$SSH_ORIGINAL_COMMAND\"";

fn load(directory: &TestDirectory, sshd: &Sshd, words: &[&str]) -> Outcome {
    outcome(start(directory, sshd, words).wait_with_output().unwrap())
}

fn start(directory: &TestDirectory, sshd: &Sshd, words: &[&str]) -> Child {
    let mut command = directory
        .0
        .command(&[&["load", "--redo", "0", "--seed=7"], words].concat());
    command.env("BENCHLAB_SSH", sshd.client());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs a load that gen1 and gen2 generate together, and returns the run.
fn load_by_two_agents(sshd: &Sshd) -> Run {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [
        &url,
        "--on",
        "ssh:gen1,gen2",
        "--rate",
        "300",
        "-c",
        "4",
        "--for",
        "2s",
        "--timeout",
        "60s",
        "--lost-after",
        "60s",
    ];
    load(&directory, sshd, &words).expect(0);
    let run = directory.0.load();
    assert_added_up(&run);
    run
}

#[test]
fn two_hosts_get_copies_that_leave_nothing_behind() {
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("gen2", "")]) else {
        return;
    };
    let run = load_by_two_agents(&sshd);
    let names: Vec<&str> = run.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["gen1", "gen2"]);
    assert!(
        run.agents
            .iter()
            .all(|a| a.launcher == "ssh" && a.lost.is_none())
    );
    for agent in 0..2 {
        let offered: u64 = parts(&run, AgentId(agent))
            .iter()
            .map(|p| p.slice.offered)
            .sum();
        assert!((200..400).contains(&offered), "{offered} of {agent}");
    }
    assert!(sshd.left_behind().is_empty(), "{:?}", sshd.left_behind());
}

/// The program is not copied if the same build is installed.
#[test]
fn an_identical_installed_program_is_used() {
    let Some(sshd) = Sshd::start(&[("gen1", "")]) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    std::os::unix::fs::symlink(BENCHLAB, sshd.bin().join("benchlab")).unwrap();
    // Copying would fail.
    sshd.install("mktemp", "#!/bin/sh\nexit 1\n");
    load(
        &directory,
        &sshd,
        &[&web.url("/"), "--on", "ssh:gen1", "--for", "1s"],
    )
    .expect(0);
    assert_eq!(directory.0.load().agents[AgentId(0)].name, "gen1");
}

/// Returns the processes on a host that use this server's directory for temporary files.
fn agents_on(sshd: &Sshd) -> Vec<PathBuf> {
    let variable = format!("TMPDIR={}\0", sshd.temporary().display());
    let is_agent = |process: &PathBuf| {
        let read = |name: &str| fs::read(process.join(name)).unwrap_or_default();
        let (words, environment) = (read("cmdline"), read("environ"));
        let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|w| w == part);
        has(&words, b"benchlab\0agent\0") && has(&environment, variable.as_bytes())
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .map(|entry| entry.path())
        .filter(is_agent)
        .collect()
}

#[test]
fn agents_have_the_coordinators_limits() {
    let Some(sshd) = Sshd::start(&[("gen1", "")]) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = ["load", &url, "--on", "ssh:gen1", "-c", "4", "--for", "60s"];
    let lab = directory.0.command(&words);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -S -t 1234 && exec \"$@\"", "sh"]);
    limited.arg(lab.get_program()).args(lab.get_args());
    limited
        .env("BENCHLAB_SSH", sshd.client())
        .stdin(Stdio::null());
    limited.stdout(Stdio::null()).stderr(Stdio::null());
    let mut lab = limited.spawn().unwrap();
    wait_until("the limit", || {
        let limits = agents_on(&sshd)
            .into_iter()
            .map(|process| process.join("limits"));
        let limits = limits.map(|path| fs::read_to_string(path).unwrap_or_default());
        let mut lines = limits.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        lines.any(|line| line.starts_with("Max cpu time") && line.contains(" 1234 "))
    });
    send_signal(lab.id() as i32, Signal::SIGINT);
    lab.wait().unwrap();
}

#[test]
fn output_of_agents_is_shown_with_their_names() {
    let Some(sshd) = Sshd::start(&[("gen1", "")]) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let go = directory.0.join("go");
    let noise = format!(
        "while [ ! -e {} ]; do sleep 0.1; done; echo a strange noise >&2",
        go.display()
    );
    let script = format!("#!/bin/sh\n({noise}) &\nexec {BENCHLAB} \"$@\"\n");
    sshd.install("benchlab", &script);
    let url = web.url("/");
    let words = [&url[..], "--on", "ssh:gen1", "--for", "20s"];
    let lab = start(&directory, &sshd, &[&words[..], &["--rate", "20"]].concat());
    wait_until("a slice", || directory.0.has_blocks(1));
    fs::write(go, "").unwrap();
    outcome(lab.wait_with_output().unwrap())
        .expect(0)
        .says(&["gen1: a strange noise"]);
}

#[test]
fn a_different_version_is_not_used() {
    let Some(sshd) = Sshd::start(&[("gen1", "")]) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let hello = r#"{"Hello":{"version":"0.0.9","sha256":null,"pid":1,"machine":"old"}}"#;
    let length = format!("\\0\\0\\0\\{:o}\\0\\0\\0\\0", hello.len());
    let script =
        format!("#!/bin/sh\nprintf '\\0benchlab-agent\\0{length}%s' '{hello}'\ncat >/dev/null\n");
    sshd.install("benchlab", &script);
    let url = web.url("/");
    let words = [&url[..], "--on", "ssh:gen1", "--for", "1s"];
    load(&directory, &sshd, &words).expect(0);
    assert_eq!(
        directory.0.load().agents[AgentId(0)].version,
        env!("CARGO_PKG_VERSION")
    );
    // If copying is impossible, too, the message contains both reasons.
    sshd.install("mktemp", "#!/bin/sh\necho no room >&2\nexit 1\n");
    load(&directory, &sshd, &words).expect(1).says(&[
        "on gen1",
        "the agent runs benchlab 0.0.9",
        "no room",
    ]);
}

/// Two agents start a load at the same time although their clocks differ by ten minutes.
#[test]
fn a_clock_that_is_ten_minutes_off_delays_nothing() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("a clock that is off is not tried out: only root may set one");
        return;
    }
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("gen2", LATE_CLOCK)]) else {
        return;
    };
    assert_began_together(&load_by_two_agents(&sshd));
}

fn assert_began_together(run: &Run) {
    for agent in 0..2 {
        let parts = parts(run, AgentId(agent));
        assert!(
            !parts.is_empty() && parts.iter().all(|p| p.late_ns < 10_000_000_000),
            "{parts:?}"
        );
        assert!(parts.iter().map(|p| p.slice.offered).sum::<u64>() > 100);
    }
}

/// The files that existed in /dev/shm before the test because libfaketime left them behind for
/// killed processes. Newer files are removed when this value is dropped.
struct FaketimeRemains(Vec<PathBuf>);

impl FaketimeRemains {
    fn new() -> FaketimeRemains {
        FaketimeRemains(FaketimeRemains::all())
    }

    fn all() -> Vec<PathBuf> {
        let files = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        let is_its = |path: &PathBuf| path.to_string_lossy().contains("faketime_");
        files.map(|file| file.path()).filter(is_its).collect()
    }
}

impl Drop for FaketimeRemains {
    fn drop(&mut self) {
        for path in FaketimeRemains::all() {
            if !self.0.contains(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// libfaketime shifts the clock of an agent. The report shows the offset, which affects no result.
#[test]
fn a_time_of_day_that_is_ten_minutes_off_is_reported() {
    let folders = fs::read_dir("/usr/lib").unwrap().flatten();
    let libraries = folders.map(|f| f.path().join("faketime/libfaketime.so.1"));
    let Some(library) = libraries.into_iter().find(|path| path.is_file()) else {
        eprintln!("a time of day that is off is not tried out: libfaketime is not installed");
        return;
    };
    let _remains = FaketimeRemains::new();
    let faked_time = format!(
        "exec env LD_PRELOAD={} FAKETIME=+600s FAKETIME_DONT_FAKE_MONOTONIC=1 sh -c \"$SSH_ORIGINAL_COMMAND\"",
        library.display()
    );
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("gen2", &faked_time)]) else {
        return;
    };
    let run = load_by_two_agents(&sshd);
    for (agent, ahead_s) in [(0, 0), (1, 600)] {
        let clock = &run.agents[AgentId(agent)].clock;
        let difference_ns = (clock.ahead_ns - ahead_s * 1_000_000_000).unsigned_abs();
        assert!(difference_ns <= clock.error_ns + 1_000_000_000, "{clock:?}");
    }
    assert_began_together(&run);
    // Timestamps of the kernel do not match the faked clock, so responses are timed when they are read.
    for (agent, is_wrong) in [(0, false), (1, true)] {
        let (mut read, mut served, mut p50_ns) = (0, 0, Vec::new());
        for AgentSlice { slice, .. } in parts(&run, AgentId(agent)) {
            read += slice.counts[LoadCount::ReadTimes];
            served += slice.served;
            p50_ns.extend(slice.response.median());
        }
        assert_eq!(is_wrong, read > served / 2, "{read} of {served}");
        // A busy machine responds late, but by less than the difference between the clocks.
        assert!(
            p50_ns
                .iter()
                .all(|ns| (10_000..60_000_000_000).contains(ns)),
            "{p50_ns:?}"
        );
    }
}

#[test]
fn a_host_that_cannot_be_reached_is_named() {
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("broken", "exit 3")]) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let refused = load(&directory, &sshd, &[&url, "--on", "ssh:gen1,broken"]);
    refused
        .expect(1)
        .says(&["cannot start an agent on broken", "exit status: 3"]);
    // The message contains a reason only once if both attempts failed for that reason.
    assert!(!refused.stderr.contains("then"), "{}", refused.stderr);
    assert!(directory.0.files().is_empty());
    wait_until("the copies' end", || sshd.left_behind().is_empty());
}

/// Kills the coordinator, which cuts the connection: once while the program is being copied, and
/// once during the load.
#[test]
fn a_killed_coordinator_leaves_nothing_on_its_hosts() {
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("gen2", "")]) else {
        return;
    };
    for is_loading in [false, true] {
        let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
        let url = web.url("/");
        let words = [&url, "--on", "ssh:gen1,gen2", "-c", "4", "--for", "60s"];
        let mut lab = start(&directory, &sshd, &words);
        wait_until("the first slice, or the first copy", || {
            if is_loading {
                directory.0.has_blocks(1)
            } else {
                !sshd.left_behind().is_empty()
            }
        });
        let clients = children(lab.id());
        lab.kill().unwrap();
        lab.wait().unwrap();
        wait_until("the end", || {
            sshd.left_behind().is_empty() && !clients.iter().any(|&pid| super::is_alive(pid))
        });
        let before = web.requests();
        wait_until("no more requests", || {
            let requests_before = web.requests();
            std::thread::sleep(std::time::Duration::from_millis(300));
            requests_before == web.requests()
        });
        assert!(is_loading || before == 0);
    }
}

/// Simulates a firewall that cuts the connection: neither side receives anything.
#[test]
fn an_agent_whose_connection_is_silent_is_lost_and_ended() {
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("gen2", "")]) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [
        &url,
        "--on",
        "ssh:gen1,gen2",
        "-c",
        "4",
        "--rate",
        "200",
        "--for",
        "15s",
        "--lost-after",
        "20s",
    ];
    let lab = start(&directory, &sshd, &words);
    wait_until("two slices", || directory.0.has_blocks(2));
    let client = children(lab.id())[0];
    send_signal(client, Signal::SIGSTOP);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(0)
        .says(&["no message was received for 20 s"]);
    let run = directory.0.load();
    assert_eq!(run.agents.iter().filter(|a| a.lost.is_some()).count(), 1);
    assert_added_up(&run);
    assert!(!super::is_alive(client));
}

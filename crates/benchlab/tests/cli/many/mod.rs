// SPDX-License-Identifier: Apache-2.0
//! `--on`: agents that generate a load together or read logs, and the loss of agents or of their
//! coordinator.

mod api_server;
mod attached;
mod hosts;
mod kubernetes;
mod logs;
mod losses;
mod namespaces;
mod server;
mod slurm;
mod ssh;
mod sshd;

use crate::load::sums;
use crate::load::web::{Behavior, Web};
use crate::project::{Outcome, Project, wait_until};
use lab_model::{AgentId, AgentSlice, LoadCount, Run, Slice, SliceTimes};
use std::process::Child;

/// A directory in which agents load servers.
struct TestDirectory(Project);

impl TestDirectory {
    fn new() -> TestDirectory {
        TestDirectory(Project::noop(&[]))
    }

    /// Runs a short load whose blocks are not repeated.
    fn load(&self, words: &[&str]) -> Outcome {
        let short = ["--redo", "0", "--for", "1s", "--seed=7", "--timeout", "60s"];
        self.0.call(&[&["load"], &short[..], words].concat())
    }

    /// Starts a long load with slices of a second, and waits until two slices are stored.
    fn start_load(&self, words: &[&str]) -> Child {
        self.start_load_within("60s", words)
    }

    /// Does the same as [`TestDirectory::start_load`], with the given timeout for requests.
    fn start_load_within(&self, timeout: &str, words: &[&str]) -> Child {
        let long = ["--redo", "0", "--for", "12s", "--timeout", timeout];
        let lab = self.0.start(&[&["load"], &long[..], words].concat());
        wait_until("two slices", || self.0.has_blocks(2));
        lab
    }

    /// Returns the report in a format without line breaks.
    fn report(&self, words: &[&str]) -> Outcome {
        let file = self.0.file();
        let report = ["report", file.to_str().unwrap(), "--format", "json"];
        let outcome = self.0.call(&[&report[..], words].concat());
        outcome.expect(0);
        outcome
    }
}

/// Returns the child processes of a process.
fn children(process: u32) -> Vec<i32> {
    let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let list = list.unwrap_or_default();
    list.split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// Returns true if a process exists and is not a zombie.
fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn slices(run: &Run) -> impl Iterator<Item = &Slice> {
    run.complete_blocks().flat_map(|block| &block.slices)
}

/// Asserts that each slice is the sum of its agents' slices, bucket by bucket.
#[track_caller]
fn assert_added_up(run: &Run) {
    for slice in slices(run) {
        let sum = |of: fn(&Slice) -> u64| slice.agents.iter().map(|a| of(&a.slice)).sum::<u64>();
        assert_eq!(slice.offered, sum(|s| s.offered));
        assert_eq!(slice.served, sum(|s| s.served));
        assert_eq!(
            slice.counts[LoadCount::Connects],
            sum(|s| s.counts[LoadCount::Connects])
        );
        let kinds: [fn(&Slice) -> &SliceTimes; 3] =
            [|s| &s.response, |s| &s.service, |s| &s.send_delay];
        for of in kinds {
            let mut all = SliceTimes::default();
            slice.agents.iter().for_each(|a| all.add(of(&a.slice)));
            assert_eq!(&all, of(slice));
        }
    }
}

/// Returns the slices of one agent.
fn parts(run: &Run, agent: AgentId) -> Vec<AgentSlice> {
    let parts = slices(run).flat_map(|slice| &slice.agents);
    parts.filter(|part| part.agent == agent).cloned().collect()
}

#[test]
fn three_agents_share_a_rate_and_are_shown_in_every_format() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let files =
        ["r.json", "r.csv", "r.md", "r.xlsx", "r.html", "plots/"].map(|f| directory.0.join(f));
    let exports = files.iter().flat_map(|f| ["--export", f.to_str().unwrap()]);
    let exports: Vec<&str> = exports.collect();
    let words = [&web.url("/"), "--on", "local:3", "--rate", "600", "-c", "7"];
    let outcome = directory.load(&[&words[..], &exports].concat());
    outcome.expect(0);
    let run = directory.0.load();
    let (served, errors) = sums(&run);
    assert_eq!(errors, []);
    // Each agent sends one request before the load.
    assert_eq!(web.requests() as u64, served + 3);
    // 600 requests on average, with random arrivals. All but one in a billion runs are within these
    // bounds.
    assert!((450..750).contains(&served), "{served}");
    assert_added_up(&run);
    let names: Vec<&str> = run.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["local 1", "local 2", "local 3"]);
    for (id, agent) in run.agents.enumerated() {
        // All agents use the same clock.
        assert!(
            agent.clock.ahead_ns.unsigned_abs() <= agent.clock.error_ns,
            "{agent:?}"
        );
        assert!(agent.clock.error_ns <= agent.clock.round_trip_ns);
        assert_eq!((&*agent.launcher, &agent.lost), ("local", &None));
        let offered: u64 = parts(&run, id).iter().map(|p| p.slice.offered).sum();
        assert!((120..290).contains(&offered), "{offered} of {id}");
    }
    let connects = |id| {
        parts(&run, id)
            .iter()
            .map(|p| p.slice.counts[LoadCount::Connects])
            .sum::<u64>()
    };
    assert_eq!([0, 1, 2].map(|id| connects(AgentId(id))), [3, 2, 2]);
    for file in &files {
        assert!(file.exists(), "{}", file.display());
    }
    for text in [&files[0], &files[2], &files[4]] {
        let text = std::fs::read_to_string(text).unwrap();
        assert!(text.contains("Work of each agent") && text.contains("local 3"));
    }
}

#[test]
fn a_user_excludes_an_agent_and_the_report_says_so() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    directory
        .load(&[&web.url("/"), "--on", "local:2", "-c", "4"])
        .expect(0);
    let run = directory.0.load();
    let file = directory.0.file();
    let file = file.to_str().unwrap();
    let report = |words: &[&str]| {
        directory
            .0
            .call(&[&["report", file, "--full"], words].concat())
    };
    report(&["--without", "local 2"])
        .expect(0)
        .shows(&["As requested, local 2", "local 2 (excluded)"]);
    report(&["--without", "gen9"])
        .expect(2)
        .says(&["unknown agent `gen9`; the run's agents are local 1, local 2"]);
    report(&["--without", "local 1,local 2"])
        .expect(2)
        .says(&["cannot exclude all agents of the run"]);
    // The file is unchanged.
    assert_eq!(directory.0.load(), run);
}

#[test]
fn two_servers_are_compared_over_agents_in_mirrored_turns() {
    let (directory, a, b) = (
        TestDirectory::new(),
        Web::new(Behavior::Honest),
        Web::new(Behavior::Honest),
    );
    let outcome = directory.0.call(&[
        "load",
        &a.url("/"),
        &b.url("/"),
        "--on",
        "local:2",
        "--connections",
        "4",
        "--for",
        "4s",
        "--timeout",
        "60s",
        "--redo",
        "0",
        "--name",
        "A",
    ]);
    // A load this short yields a ratio of p50 only on an idle machine.
    outcome.expect(0).shows(&["ratio of time for"]);
    let run = directory.0.load();
    assert_added_up(&run);
    for block in run.complete_blocks() {
        let order: Vec<_> = block.slices.iter().map(|s| s.subject.0).collect();
        assert!(order == [0, 1, 1, 0] || order == [1, 0, 0, 1], "{order:?}");
        assert!(block.slices.iter().all(|s| s.agents.len() == 2));
    }
}

#[test]
fn secrets_reach_the_agents_but_no_file() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = format!("http://me:hidden1@{}/x", web.address);
    let words = [
        "--on",
        "local:2",
        "-c",
        "2",
        "-H",
        "X-Key: hidden2",
        "--expect-json",
        "ok=true",
    ];
    directory
        .load(&[&[&url[..]], &words[..]].concat())
        .expect(0);
    let (served, errors) = sums(&directory.0.load());
    assert!(served > 0 && errors.is_empty(), "{errors:?}");
    let head = &web.received()[0];
    assert!(
        head.contains("X-Key: hidden2") && head.contains("Authorization: Basic"),
        "{head}"
    );
    let bytes = std::fs::read(directory.0.file()).unwrap();
    assert!(!bytes.windows(6).any(|word| word == b"hidden"));
}

#[test]
fn impossible_loads_are_reported_before_the_load() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    directory
        .load(&[&url, "--on", "local:4", "-c", "3"])
        .expect(1)
        .says(&["3 connections are too few for 4 agents", "--connections"]);
    for (on, message) in [
        ("somewhere", "WHERE must be local:4"),
        ("local:0", "from 1 to"),
        ("ssh:-x", "is not a valid host name"),
    ] {
        directory
            .load(&[&url, "--on", on])
            .expect(2)
            .says(&[message]);
    }
    directory
        .load(&[&url, "--on", "local:2", "--lost-after", "1s"])
        .expect(2)
        .says(&["at least 3s"]);
    assert_eq!(web.requests(), 0);
    drop(web);
    let refused = directory.load(&[&url, "--on", "local:2"]);
    refused
        .expect(1)
        .says(&["local 1: ", "does not respond: connect", "no load was sent"]);
    assert!(directory.0.files().is_empty());
    directory
        .0
        .call(&["agent"])
        .expect(1)
        .says(&["`--on` starts agents"]);
}

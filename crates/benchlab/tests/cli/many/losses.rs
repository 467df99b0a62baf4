// SPDX-License-Identifier: Apache-2.0
//! Agents and coordinators that are killed or frozen: the counts add up, and no process is left behind.

use super::{TestDirectory, assert_added_up, children, is_alive, parts, slices};
use crate::load::web::{Behavior, Web};
use crate::project::{outcome, send_signal, wait_until};
use lab_model::{AgentId, Ending, Run};
use nix::sys::signal::Signal;
use std::process::Command;

/// A load during which an agent is lost only after 20 s, because an agent may be silent for seconds
/// on a busy machine.
const RATE: [&str; 6] = ["--rate", "200", "-c", "4", "--lost-after", "20s"];

/// Returns the first lost agent after asserting the number of lost agents.
fn lost_agent(run: &Run, lost: usize) -> AgentId {
    let all: Vec<AgentId> = run
        .agents
        .ids()
        .filter(|&a| run.agents[a].lost.is_some())
        .collect();
    assert_eq!(all.len(), lost, "{:?}", run.agents);
    all[0]
}

/// Asserts that the number of requests, sent and unsent, matches the rate.
fn assert_account(run: &Run) {
    assert_added_up(run);
    let lost = lost_agent(run, 1);
    let not_sent: u64 = slices(run).map(|s| s.not_sent()).sum();
    assert!(not_sent > 0);
    assert!(
        parts(run, lost)
            .iter()
            .all(|p| p.not_sent == 0 || p.slice.offered == 0)
    );
    assert!(
        parts(run, AgentId(1 - lost.0))
            .iter()
            .all(|p| p.not_sent == 0)
    );
    let offered: u64 = slices(run).map(|s| s.offered).sum();
    // 12 s at 200 requests per second, with random arrivals.
    assert!(
        (2100..2700).contains(&(offered + not_sent)),
        "{offered} + {not_sent}"
    );
}

#[test]
fn the_load_continues_without_a_killed_agent() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let lab = directory.start_load(&[&[&web.url("/"), "--on", "local:2"], &RATE[..]].concat());
    send_signal(children(lab.id())[1], Signal::SIGKILL);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome.expect(0).says(&[
        "was lost: the agent's process exited",
        "its fraction of the load will no longer be sent",
    ]);
    outcome.shows(&["Agents were lost"]);
    let run = directory.0.load();
    assert_eq!(run.ending, Some(Ending::Blocks));
    assert_account(&run);
}

#[test]
fn the_load_continues_without_a_frozen_agent_which_is_killed() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let lab = directory.start_load(&[&[&web.url("/"), "--on", "local:2"], &RATE[..]].concat());
    let frozen = children(lab.id())[0];
    send_signal(frozen, Signal::SIGSTOP);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(0)
        .says(&["no message was received for 20 s"]);
    assert!(!is_alive(frozen));
    assert_account(&directory.0.load());
}

/// An agent is frozen for less than --lost-after.
///
/// Requests that are due meanwhile are sent late, which increases their response times.
#[test]
fn an_agent_that_is_slow_for_a_while_takes_part_to_the_end() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let lab = directory.start_load(&[&[&web.url("/"), "--on", "local:2"], &RATE[..]].concat());
    let slow = children(lab.id())[1];
    send_signal(slow, Signal::SIGSTOP);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    send_signal(slow, Signal::SIGCONT);
    outcome(lab.wait_with_output().unwrap()).expect(0);
    let run = directory.0.load();
    assert_added_up(&run);
    assert!(run.agents.iter().all(|agent| agent.lost.is_none()));
    let max = |agent| {
        let of = parts(&run, agent);
        let times = of.iter().flat_map(|p| p.slice.response.counts().0.clone());
        times.map(|(ns, _)| ns).max().unwrap_or(0)
    };
    let max = [0, 1].map(|id| max(AgentId(id)));
    assert!(max.iter().any(|ns| *ns > 1_200_000_000), "{max:?}");
    let offered: u64 = slices(&run).map(|s| s.offered + s.not_sent()).sum();
    assert!((2100..2700).contains(&offered), "{offered}");
}

/// On an unfit host, `--strict` makes benchlab exit before the load. The test is then skipped.
#[test]
fn with_strict_the_loss_of_an_agent_ends_the_run() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [
        "load",
        &url,
        "--strict",
        "--for",
        "30s",
        "--redo",
        "0",
        "--on",
        "local:2",
        "-c",
        "4",
        "--lost-after",
        "60s",
        "--timeout",
        "60s",
    ];
    let mut lab = directory.0.start(&words);
    let mut unfit = false;
    wait_until("two slices", || {
        unfit = lab.try_wait().unwrap().is_some();
        unfit || directory.0.has_blocks(2)
    });
    let Some(&agent) = children(lab.id()).first().filter(|_| !unfit) else {
        outcome(lab.wait_with_output().unwrap())
            .expect(5)
            .says(&["the host is unfit for measuring"]);
        return;
    };
    send_signal(agent, Signal::SIGKILL);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(1)
        .says(&["1 of 2 agents lost, and --strict was given"]);
    let run = directory.0.load();
    // The run has not ended and can continue.
    assert_eq!(run.ending, None);
    assert_eq!(run.failures, []);
    assert!(run.complete_blocks().count() < 25, "the run must end early");
    lost_agent(&run, 1);
}

#[test]
fn a_load_without_any_agent_left_has_failed() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let lab = directory.start_load(&[&[&web.url("/"), "--on", "local:2"], &RATE[..]].concat());
    children(lab.id())
        .into_iter()
        .for_each(|pid| send_signal(pid, Signal::SIGKILL));
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(1)
        .says(&["all agents were lost", "continue with `benchlab resume "]);
    let run = directory.0.load();
    lost_agent(&run, 2);
    // The server has not failed.
    assert_eq!((run.ending, &*run.failures), (None, &[][..]));
    directory.report(&[]).shows(&[
        "All agents were lost",
        "that were due later were not sent",
        "served or counted as an error, ",
        "agent's last slice",
    ]);
    let file = directory.0.file();
    directory
        .0
        .call(&["resume", file.to_str().unwrap()])
        .expect(0);
    let run = directory.0.load();
    assert_eq!(run.ending, Some(Ending::Blocks));
    assert_eq!(run.complete_blocks().count(), 12);
    directory.report(&["--without", "local 2"]).shows(&[
        "local 1, resumed",
        "local 2, resumed (excluded)",
        "As requested, local 2 is excluded",
    ]);
}

/// All agents fail at a point. None of their messages is taken for a result at the other point.
#[test]
fn only_the_point_at_which_agents_fail_is_excluded() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [
        "load", &url, "--for", "12s", "--redo", "0", "--on", "local:2",
    ];
    let patient = ["--timeout", "60s", "--lost-after", "60s"];
    let sweep = ["--sweep", "connections=2,100"];
    let lab = directory.0.start(&[&words[..], &sweep, &patient].concat());
    wait_until("a block", || directory.0.has_blocks(1));
    for agent in children(lab.id()) {
        let pid = format!("--pid={agent}");
        let limited = Command::new("prlimit")
            .args([&pid, "--nofile=100:100"])
            .status();
        assert!(limited.unwrap().success());
    }
    outcome(lab.wait_with_output().unwrap()).expect(0);
    let run = directory.0.load();
    let failures = run.failures.iter().map(|f| (f.point, &*f.message));
    let [(Some(point), message)] = failures.collect::<Vec<_>>()[..] else {
        panic!("{:?}", run.failures);
    };
    assert_eq!(run.plan().unwrap().connections(point), 100);
    assert!(
        message.contains("50 connections need as many open files"),
        "{message}"
    );
    let last = run.complete_blocks().last().unwrap();
    assert!(last.slices.iter().any(|slice| slice.served > 0));
    assert_eq!(run.ending, Some(Ending::Blocks));
}

#[test]
fn agents_end_after_their_coordinator_was_killed() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let mut lab = directory.start_load(&[&[&web.url("/"), "--on", "local:3"], &RATE[..]].concat());
    let agents = children(lab.id());
    assert_eq!(agents.len(), 3);
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the agents' end", || {
        !agents.iter().any(|&pid| is_alive(pid))
    });
    let run = directory.0.load();
    assert_eq!(run.ending, None);
    assert_added_up(&run);
}

#[test]
fn agents_end_if_their_coordinator_is_silent() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let mut lab = directory.start_load(&[&[&web.url("/"), "--on", "local:2"], &RATE[..]].concat());
    let agents = children(lab.id());
    send_signal(lab.id() as i32, Signal::SIGSTOP);
    wait_until("the agents' end", || {
        !agents.iter().any(|&pid| is_alive(pid))
    });
    send_signal(lab.id() as i32, Signal::SIGKILL);
    lab.wait().unwrap();
}

#[test]
fn ctrl_c_ends_all_agents_and_the_load_can_be_resumed() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [
        "load",
        &url,
        "--for",
        "12s",
        "--redo",
        "0",
        "--on",
        "local:2",
        "--timeout",
        "60s",
    ];
    let words = [&words[..], &RATE].concat();
    let lab = directory.0.start(&words);
    wait_until("two slices", || directory.0.has_blocks(2));
    let agents = children(lab.id());
    send_signal(lab.id() as i32, Signal::SIGINT);
    let stopped = outcome(lab.wait_with_output().unwrap());
    stopped
        .expect(130)
        .says(&["continue with `benchlab resume "]);
    assert!(!agents.iter().any(|&pid| is_alive(pid)));
    let file = directory.0.file();
    directory
        .0
        .call(&["resume", file.to_str().unwrap()])
        .expect(0);
    let run = directory.0.load();
    assert_eq!(run.ending, Some(Ending::Blocks));
    // The second part of the run has other agents.
    assert_eq!(run.agents.len(), 4);
    assert!(!parts(&run, AgentId(0)).is_empty() && !parts(&run, AgentId(3)).is_empty());
    assert_added_up(&run);
}

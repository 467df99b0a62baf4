// SPDX-License-Identifier: Apache-2.0
//! `run --on`: blocks of an experiment on multiple hosts, and the loss of a host or the
//! coordinator.

use super::sshd::Sshd;
use super::{children, is_alive};
use crate::project::{
    NOOP, Outcome, Project, blocks_of, outcome, rows, send_signal, subject, wait_until,
};
use lab_model::{AgentId, BlockState, Ending, Run, SubjectId, WarmUp};
use nix::sys::signal::Signal;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

const SAMPLES: &str = "SELECT s.rowid, s.* FROM sample s ORDER BY s.rowid";

/// The number of pairs with which a block takes about one second.
const LONG: &str = "400";

/// Returns a project with two subjects that [`hold`] stops.
fn project_to_hold() -> Project {
    let project = Project::noop(&[]);
    let file = project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("plain.py", "holding.py")).unwrap();
    project
}

fn start(project: &Project, blocks: &str) -> Child {
    let words = blocks_of(blocks, LONG);
    // On a busy machine, a host is silent for seconds.
    project.start(&[&words[..], &["--on", "local:2", "--lost-after", "20s"]].concat())
}

/// Waits for the first block, and stops the subjects on both hosts in the middle of later blocks.
fn hold(project: &Project) {
    wait_until("a block", || project.has_blocks(1));
    fs::write(project.join("hold"), "").unwrap();
    wait_until("both hosts are in a block", || {
        let text = fs::read_to_string(project.join("held"));
        text.is_ok_and(|text| text.lines().count() == 2)
    });
}

/// Lets the subjects continue.
fn release(project: &Project) {
    fs::remove_file(project.join("hold")).unwrap();
}

fn resume(project: &Project) -> Outcome {
    let file = project.file();
    project.call(&["resume", file.to_str().expect("UTF-8")])
}

/// Asserts that each block counts once, was measured by one agent, and has all of its turns.
#[track_caller]
pub fn assert_blocks(run: &Run, blocks: u32) {
    assert_eq!(run.ending, Some(Ending::Blocks));
    assert_eq!(run.failures, []);
    let mut numbers: Vec<u32> = run.complete_blocks().map(|b| b.number).collect();
    numbers.sort();
    assert!(numbers.iter().copied().eq(0..blocks), "{numbers:?}");
    let plan = run.plan().expect("a plan");
    let turns = plan.points.len() * plan.subjects.len() * 2 * plan.measure.pairs as usize;
    for block in run.complete_blocks() {
        assert!(block.agent.is_some(), "{}", block.number);
        let places: BTreeSet<_> = block
            .samples
            .iter()
            .map(|s| (s.point, s.pass, s.turn))
            .collect();
        assert_eq!((places.len(), block.samples.len()), (turns, turns));
    }
    // One host ran the pilots for all hosts.
    assert_eq!(run.pilots.len(), plan.points.len() * plan.subjects.len());
}

/// Asserts that no process or file of an agent remains.
#[track_caller]
fn assert_nothing_left(project: &Project, agents: &[i32]) {
    wait_until("the agents' end", || {
        !agents.iter().any(|&pid| is_alive(pid))
    });
    let leftover: Vec<_> = fs::read_dir(project.scratch()).unwrap().flatten().collect();
    assert!(leftover.is_empty(), "{leftover:?}");
}

#[test]
fn two_hosts_measure_the_blocks_of_one_run() {
    let project = Project::noop(&[]);
    // The blocks are so long that both hosts measure some of them.
    let words = blocks_of("6", LONG);
    let outcome = project.call(&[&words[..], &["--on", "local:2"]].concat());
    outcome.expect(0);
    let run = project.load();
    assert_blocks(&run, 6);
    let measured: BTreeSet<_> = run.complete_blocks().map(|b| b.agent).collect();
    assert_eq!(measured, BTreeSet::from([AgentId(0), AgentId(1)].map(Some)));
    let names: Vec<&str> = run.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["local 1", "local 2"]);
    assert!(
        run.agents
            .iter()
            .all(|a| a.lost.is_none() && !a.host.facts.is_empty())
    );
    // The check values of operations are stored in the same way as on one machine.
    let file = project.file();
    assert_eq!(
        rows(
            &file,
            "SELECT 1 FROM sample WHERE check_value IS NULL OR units IS NULL"
        ),
        [""; 0]
    );
    assert_nothing_left(&project, &[]);
    let file = file.to_str().unwrap();
    let report = |words: &[&str]| project.call(&[&["report", file, "--full"], words].concat());
    report(&[]).expect(0).shows(&[
        "Hosts",
        "Ratio on each host",
        "local 2",
        "Differences between hosts",
    ]);
    let blocks = run
        .complete_blocks()
        .filter(|b| b.agent == Some(AgentId(0)))
        .count();
    let text = format!("{blocks} block");
    report(&["--without", "local 2"]).expect(0).shows(&[
        &text,
        "local 2 (excluded)",
        "As requested, blocks measured by",
    ]);
}

#[test]
fn a_block_whose_host_is_killed_is_measured_elsewhere() {
    lose_a_host(Signal::SIGKILL, "the agent's process exited");
}

#[test]
fn a_block_whose_host_is_frozen_is_measured_elsewhere() {
    lose_a_host(Signal::SIGSTOP, "no message was received for 20 s");
}

fn lose_a_host(signal: Signal, reason: &str) {
    let project = project_to_hold();
    let lab = start(&project, "8");
    hold(&project);
    let agents = children(lab.id());
    send_signal(agents[1], signal);
    release(&project);
    let outcome = outcome(lab.wait_with_output().unwrap());
    let message = format!("the host local 2 was lost: {reason}");
    outcome
        .expect(0)
        .says(&[&message, "must be measured again on another host"]);
    outcome.shows(&["Hosts were lost: local 2 ("]);
    let run = project.load();
    assert_blocks(&run, 8);
    assert!(run.agents[AgentId(0)].lost.is_none() && run.agents[AgentId(1)].lost.is_some());
    let incomplete = run
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Incomplete);
    let incomplete: Vec<_> = incomplete.map(|b| b.agent).collect();
    assert_eq!(incomplete, [Some(AgentId(1))]);
    wait_until("the host's end", || !is_alive(agents[1]));
}

#[test]
fn a_run_is_resumed_after_its_coordinator_was_killed() {
    let project = project_to_hold();
    let mut lab = start(&project, "8");
    hold(&project);
    let agents = children(lab.id());
    assert_eq!(agents.len(), 2);
    lab.kill().unwrap();
    lab.wait().unwrap();
    // The agents' batches do not end by themselves.
    assert_nothing_left(&project, &agents);
    release(&project);
    let before = rows(&project.file(), SAMPLES);
    assert!(!before.is_empty());
    resume(&project).expect(0);
    let run = project.load();
    assert_blocks(&run, 8);
    // The agents after the resume are new ones on the same hosts.
    assert_eq!(run.agents.len(), 4);
    assert_eq!(rows(&project.file(), SAMPLES)[..before.len()], before);
}

#[test]
fn ctrl_c_ends_hosts_and_the_rest_can_be_measured_later() {
    let project = project_to_hold();
    let lab = start(&project, "8");
    hold(&project);
    let agents = children(lab.id());
    send_signal(lab.id() as i32, Signal::SIGINT);
    let stopped = outcome(lab.wait_with_output().unwrap());
    stopped
        .expect(130)
        .says(&["continue with `benchlab resume "]);
    // The agents' batches do not end by themselves.
    assert_nothing_left(&project, &agents);
    release(&project);
    resume(&project).expect(0);
    assert_blocks(&project.load(), 8);
}

/// The earlier blocks used the pilots, so that a batch must keep its number of operations.
#[test]
fn hosts_repeat_no_pilots_after_the_first_block() {
    let project = project_to_hold();
    let lab = start(&project, "8");
    hold(&project);
    send_signal(lab.id() as i32, Signal::SIGINT);
    outcome(lab.wait_with_output().unwrap()).expect(130);
    release(&project);
    let file = Connection::open(project.file()).unwrap();
    file.execute("UPDATE pilot SET class = 'cut-short'", [])
        .unwrap();
    drop(file);
    let pilots = project.load().pilots;
    assert!(pilots.iter().all(|p| p.class == WarmUp::CutShort));
    resume(&project).expect(0);
    assert_eq!(project.load().pilots, pilots);
}

#[test]
fn a_run_without_any_host_left_can_be_resumed() {
    let project = project_to_hold();
    let lab = start(&project, "8");
    hold(&project);
    children(lab.id())
        .into_iter()
        .for_each(|pid| send_signal(pid, Signal::SIGKILL));
    let outcome = outcome(lab.wait_with_output().unwrap());
    release(&project);
    outcome
        .expect(1)
        .says(&["all hosts were lost", "continue with `benchlab resume "]);
    resume(&project).expect(0);
    assert_blocks(&project.load(), 8);
}

/// A subject that fails on another host is recorded as failed, and the other subjects continue, as
/// on one machine.
#[test]
fn a_subject_that_fails_on_a_host_is_excluded() {
    let project = Project::with_faults(&["killed-in-block"]);
    let words = blocks_of("3", "2");
    let outcome = project.call(&[&words[..], &["--on", "local:2", "--time-limit", "60s"]].concat());
    outcome.expect(0);
    let run = project.load();
    assert_eq!(run.complete_blocks().count(), 3);
    // Both hosts may have run the subject concurrently.
    assert!((1..=2).contains(&run.failures.len()), "{:?}", run.failures);
    assert!(
        run.failures
            .iter()
            .all(|f| f.kind == "crash" && f.subject == SubjectId(2))
    );
    for block in run.complete_blocks() {
        for subject in [0, 1].map(SubjectId) {
            assert!(block.samples.iter().any(|s| s.subject == subject));
        }
    }
}

#[test]
fn unmeasurable_subjects_on_hosts_are_reported_before_the_run() {
    let project = Project::noop(&[]);
    let run = |more: &[&str]| project.run(&[&["--on", "local:2"], more].concat());
    run(&["--plan=2"])
        .expect(2)
        .says(&["--plan works on one machine only"]);
    run(&["--explain"])
        .expect(2)
        .says(&["--explain works on one machine only"]);
    run(&["--on", "local:1"])
        .expect(2)
        .says(&["specify --on only once for hosts"]);
    project
        .run(&["--on", "local:0"])
        .expect(2)
        .says(&["from 1 to"]);
    project
        .run(&["--on", "/tmp"])
        .expect(2)
        .says(&["does not use directories; specify hosts as"]);
    assert!(project.files().is_empty());
    let targets = "targets = [\"folder\"]\n[target.folder]\neach = false\n";
    let head = "[experiment]\ntitle = \"F\"\nquestion = \"Q\"\nbaseline = \"one\"\n";
    let one = subject("one", &["plain.py"]);
    let folders = Project::with_text(&[head, targets, NOOP, &one].concat());
    folders
        .run(&["--on", "local:2"])
        .expect(2)
        .says(&["`t` measures disks", "--on expects directories"]);
}

/// The subjects on one host all do the same work, but it differs from the work on the other host.
#[test]
fn a_host_with_different_work_measures_nothing() {
    let head = "[experiment]\ntitle = \"V\"\nquestion = \"Q\"\nbaseline = \"one\"\n";
    let case = "[[case]]\nname = \"value\"\nwork = \"a file's\"\nunit = \"operation\"\n";
    let project = Project::with_text(&[head, case].concat());
    let (value, other) = (project.join("value"), project.join("other"));
    fs::write(&value, "5").unwrap();
    fs::write(&other, "6").unwrap();
    for name in ["one", "two"] {
        project.append(&subject(name, &["by_file.py", value.to_str().unwrap()]));
    }
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("gen2", &bind_mount_command(&value, &other))])
    else {
        return;
    };
    let outcome = run_over_ssh(&project, &sshd, "4", "ssh:gen1,gen2");
    if outcome.stderr.contains("unshare") {
        return;
    }
    outcome.expect(0).says(&[
        "the host gen2 was lost: its results differ from those of other hosts: check=6",
        "instead of check=5",
        "must be measured again on another host",
    ]);
    let run = project.load();
    assert_blocks(&run, 4);
    assert!(
        run.complete_blocks()
            .all(|block| block.agent == Some(AgentId(0)))
    );
}

/// Returns the command of a host on which the file `other` is mounted over `of`
/// (mount_namespaces(7)).
fn bind_mount_command(of: &Path, other: &Path) -> String {
    format!(
        "unshare --mount sh -c \"mount --bind {} {} && $SSH_ORIGINAL_COMMAND\"",
        other.display(),
        of.display()
    )
}

fn run_over_ssh(project: &Project, sshd: &Sshd, blocks: &str, hosts: &str) -> Outcome {
    let mut command = project.command(&[&blocks_of(blocks, "2")[..], &["--on", hosts]].concat());
    command.env("BENCHLAB_SSH", sshd.client());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    outcome(command.output().unwrap())
}

#[test]
fn a_host_with_a_different_revision_is_rejected() {
    let sources = "sources = [\"source\"]\ndriver";
    let project = Project::noop(&[subject("third", &["plain.py"]).replace("driver", sources)]);
    let (source, other) = (project.join("source"), project.join("other"));
    fs::write(&source, "one").unwrap();
    fs::write(&other, "two").unwrap();
    let Some(sshd) = Sshd::start(&[("gen1", ""), ("gen2", &bind_mount_command(&source, &other))])
    else {
        return;
    };
    let run = |hosts: &str| run_over_ssh(&project, &sshd, "2", hosts);
    let refused = run("ssh:gen1,gen2");
    if !refused.stderr.contains("unshare") {
        refused.expect(1).says(&[
            "gen2: the sources of `third` in ",
            "check out the same revision of the project there",
            "nothing was measured",
        ]);
    }
    assert!(project.files().is_empty());
    run("ssh:gen1").expect(0);
    assert_blocks(&project.load(), 2);
    assert!(sshd.left_behind().is_empty(), "{:?}", sshd.left_behind());
}

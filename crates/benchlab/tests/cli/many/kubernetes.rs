// SPDX-License-Identifier: Apache-2.0
//! `--on k8s:…` with Kubernetes' own client and a fake API server, and with a real cluster if
//! KUBECONFIG is set.

use super::api_server::{ApiServer, Pods};
use super::{TestDirectory, assert_added_up, is_alive};
use crate::load::web::{Behavior, Web};
use crate::project::{Outcome, outcome, send_signal, wait_until};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};

fn start(directory: &TestDirectory, server: &ApiServer, words: &[&str]) -> Child {
    let short = ["--redo", "0", "--seed=7", "--timeout", "60s", "-c", "4"];
    let mut command = directory
        .0
        .command(&[&["load"], &short[..], words].concat());
    server.configure(&mut command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn load(directory: &TestDirectory, server: &ApiServer, words: &[&str]) -> Outcome {
    outcome(start(directory, server, words).wait_with_output().unwrap())
}

#[track_caller]
fn assert_nothing_left(server: &ApiServer) {
    wait_until("the Jobs' end", || server.jobs().is_empty());
    wait_until("the containers' end", || server.left_behind().is_empty());
}

#[test]
fn each_agent_is_the_container_of_a_job() {
    let Some(server) = ApiServer::start(Pods::Run) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    load(
        &directory,
        &server,
        &[&web.url("/"), "--on", "k8s:2", "--for", "1s"],
    )
    .expect(0);
    let run = directory.0.load();
    assert_added_up(&run);
    let names: Vec<&str> = run.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["k8s 1", "k8s 2"]);
    assert!(
        run.agents
            .iter()
            .all(|a| a.launcher == "k8s" && a.lost.is_none())
    );
    let jobs = server.created_jobs();
    assert_eq!(jobs.len(), 2);
    assert_ne!(jobs[0]["metadata"]["name"], jobs[1]["metadata"]["name"]);
    assert_eq!(jobs[0]["spec"]["ttlSecondsAfterFinished"], 0);
    assert_nothing_left(&server);
}

#[test]
fn a_killed_coordinator_leaves_no_job() {
    let Some(server) = ApiServer::start(Pods::Run) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let mut lab = start(
        &directory,
        &server,
        &[&web.url("/"), "--on", "k8s:2", "--for", "60s"],
    );
    wait_until("a slice", || directory.0.has_blocks(1));
    let clients = super::children(lab.id());
    lab.kill().unwrap();
    lab.wait().unwrap();
    assert_nothing_left(&server);
    wait_until("the clients' end", || {
        !clients.iter().any(|&pid| is_alive(pid))
    });
}

#[test]
fn the_job_of_an_agent_that_is_frozen_is_deleted() {
    let Some(server) = ApiServer::start(Pods::Run) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let words = [
        &web.url("/"),
        "--on",
        "k8s:2",
        "--for",
        "20s",
        "--rate",
        "200",
        // On a busy machine kubectl is silent for seconds.
        "--lost-after",
        "20s",
    ];
    let lab = start(&directory, &server, &words);
    wait_until("two slices", || directory.0.has_blocks(2));
    killpg(Pid::from_raw(server.containers()[0]), Signal::SIGSTOP).unwrap();
    wait_until("the Job's end", || server.jobs().len() == 1);
    outcome(lab.wait_with_output().unwrap())
        .expect(0)
        .says(&["no message was received for 20 s"]);
    let run = directory.0.load();
    assert_added_up(&run);
    assert_eq!(run.agents.iter().filter(|a| a.lost.is_some()).count(), 1);
    wait_until("the Jobs' end", || server.jobs().is_empty());
}

#[test]
fn a_pod_that_cannot_run_is_reported() {
    let Some(server) = ApiServer::start(Pods::Fail) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    load(&directory, &server, &[&web.url("/"), "--on", "k8s:1"])
        .expect(1)
        .says(&[
            "cannot start an agent on k8s 1",
            "ImagePullBackOff: so it is here",
        ]);
    assert!(directory.0.files().is_empty());
    assert_nothing_left(&server);
}

#[test]
fn a_pod_without_a_node_is_waited_for_until_ctrl_c() {
    let Some(server) = ApiServer::start(Pods::Wait) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let mut lab = start(&directory, &server, &[&url, "--on", "k8s:1"]);
    let mut line = String::new();
    let mut stderr = std::io::BufReader::new(lab.stderr.take().unwrap());
    while !line.contains("waiting for k8s 1") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut stderr, &mut line).unwrap() > 0);
    }
    assert!(
        line.contains("the agent's pod has no node yet: Unschedulable: 0/"),
        "{line}"
    );
    assert_eq!(server.jobs().len(), 1);
    send_signal(lab.id() as i32, Signal::SIGINT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_nothing_left(&server);
    // This also holds if no process is left to stop the Job, or to read why it waits.
    let mut lab = start(&directory, &server, &[&url, "--on", "k8s:1"]);
    let before = server.full_nodes();
    wait_until("news of the pod", || server.full_nodes() > before + 5);
    lab.kill().unwrap();
    lab.wait().unwrap();
    assert_nothing_left(&server);
}

#[test]
fn the_manifest_is_printed_and_edited() {
    let Some(server) = ApiServer::start(Pods::Run) else {
        return;
    };
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let printed = directory.0.call(&["manifest"]);
    printed
        .expect(0)
        .shows(&["kind: Job", "image: debian:stable-slim"]);
    let edited = printed
        .stdout
        .replace("debian:stable-slim", "registry.example/lab:7");
    let edited = edited.replace(
        "      restartPolicy",
        "      nodeSelector: {disk: ssd}\n      restartPolicy",
    );
    let path = directory.0.join("job.yaml");
    fs::write(&path, &edited).unwrap();
    let on = format!("k8s:1,{}", path.display());
    let url = web.url("/");
    load(&directory, &server, &[&url, "--on", &on, "--for", "1s"]).expect(0);
    let pod = &server.created_jobs()[0]["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], "registry.example/lab:7");
    assert_eq!(pod["nodeSelector"]["disk"], "ssd");
    fs::remove_file(directory.0.file()).unwrap();
    for (text, message) in [
        (
            edited.replace("kind: Job", "kind: CronJob"),
            "cannot start an agent on k8s 1",
        ),
        ("kind: [".into(), "cannot start an agent on k8s 1"),
    ] {
        fs::write(&path, text).unwrap();
        load(&directory, &server, &[&url, "--on", &on])
            .expect(1)
            .says(&[message]);
    }
    let absent = load(
        &directory,
        &server,
        &[&url, "--on", "k8s:1,/nowhere/job.yaml"],
    );
    absent.expect(1).says(&["/nowhere/job.yaml: "]);
    assert!(server.jobs().is_empty() && directory.0.files().is_empty());
}

/// Tests logs rather than a load, because the cluster's nodes may be unable to reach this machine.
#[test]
fn agents_are_started_in_a_cluster_that_kubeconfig_names() {
    if std::env::var_os("KUBECONFIG").is_none() {
        eprintln!("no cluster is tried out: KUBECONFIG names none");
        return;
    }
    let directory = TestDirectory::new();
    directory
        .0
        .call(&["logs", "--on", "k8s:2", "/nowhere/a.log"])
        .expect(2)
        .says(&["k8s 1:/nowhere/a.log: no such file", "k8s 2:/nowhere/a.log"]);
    let remaining_jobs = || {
        let mut command = Command::new("kubectl");
        command.args(["get", "jobs", "--output=json"]);
        command.arg("--selector=app.kubernetes.io/name=benchlab");
        let listed: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        listed["items"].as_array().map_or(0, Vec::len)
    };
    wait_until("the Jobs' end", || remaining_jobs() == 0);
}

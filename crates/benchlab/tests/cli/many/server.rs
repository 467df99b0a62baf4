// SPDX-License-Identifier: Apache-2.0
//! `--server-host`: an agent on the server's machine reads the server's resource usage.

use super::{TestDirectory, children, slices};
use crate::load::web::{Behavior, Web};
use crate::project::{outcome, send_signal};
use nix::sys::signal::Signal;

/// Monitors a server in this process. The agent finds the server by its port or by its process ID.
#[test]
fn an_agent_on_the_servers_host_reads_its_resource_usage() {
    let own_pid = std::process::id().to_string();
    for options in [&[][..], &["--server-pid", &own_pid]] {
        let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
        let words = [
            &web.url("/"),
            "--server-host",
            "local:1",
            "-c",
            "4",
            "--on",
            "local:2",
        ];
        directory.load(&[&words[..], options].concat()).expect(0);
        let run = directory.0.load();
        assert!(slices(&run).count() > 0);
        for slice in slices(&run) {
            assert!(slice.server_threads.is_some_and(|n| n > 1), "{slice:?}");
            assert!(slice.server_bytes.is_some_and(|n| n > 1_000_000));
            assert!(slice.server_cpu_ns.is_some());
        }
    }
}

#[test]
fn the_loss_of_the_agent_on_the_servers_host_is_reported() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let lab = directory.start_load(&[&url, "--server-host", "local:1", "-c", "4"]);
    let agents = children(lab.id());
    assert_eq!(agents.len(), 1);
    send_signal(agents[0], Signal::SIGKILL);
    let outcome = outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(0)
        .says(&["the agent on the server's machine, local 1, was lost"]);
    directory.report(&[]).shows(&[
        "The resources that the server used are known for only",
        "of 12 blocks, and the results are based on these",
        "the agent on the server's machine, local 1, was lost",
        "an agent on local 1 measured the resource usage of",
    ]);
}

/// The server's resource usage covers the requests of all agents.
#[test]
fn without_an_agent_the_servers_usage_is_omitted() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [
        &url,
        "--server-host",
        "local:1",
        "-c",
        "5",
        "--on",
        "local:3",
        "--rate",
        "300",
    ];
    directory.load(&words).expect(0);
    directory.report(&[]).shows(&[
        "over 5 connections of 3 agents",
        "server CPU time",
        "3 agents with 1 thread each",
        "local 1, local 2 and local 3 are on one machine",
    ]);
    directory.report(&["--without", "local 3"]).shows(&[
        "over 4 connections of 2 agents",
        "the included agents sent 2 of 3 equal parts of the load",
        "The server's resource usage is omitted",
    ]);
}

#[test]
fn a_missing_server_is_reported_before_the_load() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [
        &url[..],
        "--server-host",
        "local:1",
        "--server-pid",
        "4194303",
    ];
    directory
        .load(&words)
        .expect(1)
        .says(&["--server-host: local 1: ", "no such process"]);
    directory
        .load(&[&url, "--server-host", "local:2"])
        .expect(2)
        .says(&["one machine"]);
    assert!(directory.0.files().is_empty());
}

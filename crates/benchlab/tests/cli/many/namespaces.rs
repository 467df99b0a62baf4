// SPDX-License-Identifier: Apache-2.0
//! `--on netns:…`: agents with private networks. One of the networks delays or drops the agent's
//! packets.

use super::hosts::assert_blocks;
use super::{TestDirectory, assert_added_up, parts};
use crate::line;
use crate::load::sums;
use crate::load::web::{Behavior, Web};
use crate::project::{Project, blocks_of, outcome};
use lab_host::namespace::ip;
use lab_model::AgentId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Two network namespaces, each with a link to the current namespace. They are removed when this
/// value is dropped.
struct Networks {
    names: [String; 2],
    /// The delay of the second agent's packets, in ns. [`LOST`] drops them.
    delay_ns: Arc<AtomicU64>,
}

const LOST: u64 = u64::MAX;

/// The addresses of each link's ends: in the current namespace and in the other namespace.
const ENDS: [[&str; 2]; 2] = [
    ["10.199.61.1", "10.199.61.2"],
    ["10.199.62.1", "10.199.62.2"],
];

impl Networks {
    /// Derives the names of the networks from the process ID and the suffixes in `ends`. Does not
    /// create them.
    fn named(ends: [&str; 2]) -> Networks {
        Networks {
            names: ends.map(|end| format!("bl{}{end}", std::process::id() % 100_000)),
            delay_ns: Arc::default(),
        }
    }

    /// Creates the networks. If the user has no permission to create them, returns `None` and
    /// reports this on standard error.
    fn new() -> Option<Networks> {
        let networks = Networks::named(["a", "b"]);
        let outcome = networks.create_links();
        if let Err(reason) = &outcome {
            eprintln!("networks are not tried out: {reason}");
        }
        outcome.is_ok().then_some(networks)
    }

    /// Creates the links. The first link is a plain veth pair; the second link delays and drops
    /// packets.
    fn create_links(&self) -> Result<(), String> {
        for name in &self.names {
            ip(&["netns", "add", name])?;
        }
        let [[near, far], [late, later]] = self.devices();
        let [first, second] = &self.names;
        let cable = ["link", "add", &near, "type", "veth", "peer", "name", &far];
        ip(&[&cable[..], &["netns", first]].concat())?;
        let (near_device, far_device) = (line::device(&late)?, line::device(&later)?);
        ip(&["link", "set", &later, "netns", second])?;
        let delay = Arc::clone(&self.delay_ns);
        line::join(far_device, near_device, move |_| {
            let ns = delay.load(Ordering::Relaxed);
            (ns != LOST).then_some(Duration::from_nanos(ns))
        })?;
        let devices = [near, late].into_iter().zip([far, later]);
        for ((name, [local, remote]), (near, far)) in self.names.iter().zip(ENDS).zip(devices) {
            ip(&["address", "add", &format!("{local}/30"), "dev", &near])?;
            ip(&["link", "set", &near, "up"])?;
            let remote = format!("{remote}/30");
            ip(&["-n", name, "address", "add", &remote, "dev", &far])?;
            ip(&["-n", name, "link", "set", &far, "up"])?;
            ip(&["-n", name, "route", "add", "default", "via", local])?;
        }
        Ok(())
    }

    /// Returns the devices of each link: the device in the current namespace and the device in the
    /// other namespace.
    fn devices(&self) -> [[String; 2]; 2] {
        let of = |name: &String| ["0", "1"].map(|end| format!("{name}{end}"));
        [of(&self.names[0]), of(&self.names[1])]
    }

    fn on(&self) -> String {
        format!("netns:{},{}", self.names[0], self.names[1])
    }

    /// Cuts the second agent's link, or restores it. Once the link is restored, retransmissions
    /// arrive.
    fn cut(&self, is_cut: bool) {
        let state = if is_cut { "down" } else { "up" };
        let [_, [device, _]] = self.devices();
        ip(&["link", "set", &device, state]).unwrap();
    }

    /// Sets the delay of the second agent's packets, in ns.
    fn delay(&self, ns: u64) {
        self.delay_ns.store(ns, Ordering::Relaxed);
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in &self.names {
            // The device at the other end is deleted with it. A link that was never created cannot be deleted.
            let _ = ip(&["link", "delete", &format!("{name}0")]);
            let _ = ip(&["netns", "delete", name]);
        }
    }
}

/// Runs all tests on a single set of networks, because the addresses are fixed.
#[test]
fn an_agent_on_a_worse_link_is_named_and_can_be_excluded() {
    let Some(networks) = Networks::new() else {
        return;
    };
    let (directory, web) = (
        TestDirectory::new(),
        Web::bind(&format!("{}:0", ENDS[0][0]), 0, Behavior::Honest).unwrap(),
    );
    let on = networks.on();
    let url = web.url("/");
    a_cut_line(&networks, &directory, &[&url, "--on", &on]);
    let words = [
        "load", &url, "--on", &on, "-c", "4", "--redo", "0", "--for", "4s", "--rate", "200",
    ];
    let patient = ["--timeout", "60s", "--lost-after", "60s"];
    networks.delay(60_000_000);
    directory.0.call(&[&words[..], &patient].concat()).expect(0);
    let run = directory.0.load();
    assert_added_up(&run);
    let second = parts(&run, AgentId(1));
    let times = second
        .iter()
        .flat_map(|p| p.slice.service.counts().into_owned().0);
    assert!(times.map(|(ns, _)| ns).min() >= Some(60_000_000));
    let file = directory.0.file();
    let file = file.to_str().unwrap();
    let name = &networks.names[1];
    directory
        .0
        .call(&["report", file, "--without", name])
        .expect(0);
    std::fs::remove_file(file).unwrap();
    // No packet reaches the server, so the check before the load fails.
    networks.delay(LOST);
    let limited = [&words[..], &["--timeout", "500ms"]].concat();
    let outcome = directory.0.call(&limited);
    outcome
        .expect(1)
        .says(&[name, "does not respond", "no load was sent"]);
}

/// Cuts an agent's link to the server. The agent is not lost, because agents communicate over
/// pipes, but its requests fail.
fn a_cut_line(networks: &Networks, directory: &TestDirectory, words: &[&str]) {
    let words = [words, &["-c", "4", "--rate", "200"]].concat();
    let lab = directory.start_load_within("2s", &words);
    networks.cut(true);
    std::thread::sleep(Duration::from_secs(6));
    networks.cut(false);
    outcome(lab.wait_with_output().unwrap()).expect(0);
    let run = directory.0.load();
    assert_added_up(&run);
    assert!(run.agents.iter().all(|agent| agent.lost.is_none()));
    let failed = |agent| {
        let of = parts(&run, agent);
        let errors = of.iter().flat_map(|p| &p.slice.errors);
        errors.map(|(_, count)| count).sum::<u64>()
    };
    assert!(
        failed(AgentId(1)) > failed(AgentId(0)),
        "{:?}",
        [0, 1].map(|id| failed(AgentId(id)))
    );
    let (served, errors) = sums(&run);
    let offered = served + errors.iter().map(|(_, count)| count).sum::<u64>();
    // 12 s at 200 requests per second, with random arrivals.
    assert!((2100..2700).contains(&offered), "{offered}");
    std::fs::remove_file(directory.0.file()).unwrap();
}

/// Measures subjects on a host without the coordinator's network.
#[test]
fn hosts_in_namespaces_measure_blocks() {
    let networks = Networks::named(["c", "d"]);
    let added = networks
        .names
        .iter()
        .try_for_each(|name| ip(&["netns", "add", name]));
    if added.is_err() {
        eprintln!("networks are not tried out: this user may not make namespaces");
        return;
    }
    let project = Project::noop(&[]);
    let words = blocks_of("4", "2");
    let outcome = project.call(&[&words[..], &["--on", &networks.on()]].concat());
    outcome.expect(0);
    assert_blocks(&project.load(), 4);
}

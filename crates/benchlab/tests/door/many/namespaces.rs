// SPDX-License-Identifier: Apache-2.0
//! `--on netns:…`: agents with a network of their own, of which one delays what it sends, or loses it.

use super::hosts::assert_whole;
use super::{Place, assert_added_up, parts};
use crate::load::sums;
use crate::load::web::{Manner, Web};
use crate::project::{Project, blocks_of, ended};
use std::process::Command;
use std::time::Duration;

/// Two network namespaces, each with a line to this one. They are gone when this is dropped.
struct Networks {
    names: [String; 2],
}

/// The addresses of the lines' ends: of this one, and of the namespace's.
const ENDS: [[&str; 2]; 2] = [
    ["10.199.61.1", "10.199.61.2"],
    ["10.199.62.1", "10.199.62.2"],
];

fn ip(words: &[&str]) -> bool {
    Command::new("ip")
        .args(words)
        .output()
        .is_ok_and(|o| o.status.success())
}

impl Networks {
    /// `None`: this user may not make them, which is said.
    fn new() -> Option<Networks> {
        let names = ["a", "b"].map(|end| format!("bl{}{end}", std::process::id() % 100_000));
        let networks = Networks { names };
        for (name, [here, there]) in networks.names.iter().zip(ENDS) {
            let (own, other) = (format!("{name}0"), format!("{name}1"));
            let made = ip(&["netns", "add", name])
                && ip(&[
                    "link", "add", &own, "type", "veth", "peer", "name", &other, "netns", name,
                ])
                && ip(&["address", "add", &format!("{here}/30"), "dev", &own])
                && ip(&["link", "set", &own, "up"])
                && ip(&[
                    "-n",
                    name,
                    "address",
                    "add",
                    &format!("{there}/30"),
                    "dev",
                    &other,
                ])
                && ip(&["-n", name, "link", "set", &other, "up"])
                && ip(&["-n", name, "route", "add", "default", "via", here]);
            if !made {
                eprintln!("networks are not tried out: this user may not make namespaces");
                return None;
            }
        }
        Some(networks)
    }

    fn on(&self) -> String {
        format!("netns:{},{}", self.names[0], self.names[1])
    }

    /// Has the second one's line carry nothing, or carry what is sent again.
    fn cut(&self, is_cut: bool) {
        let state = if is_cut { "down" } else { "up" };
        let device = format!("{}0", self.names[1]);
        assert!(ip(&["link", "set", &device, state]));
    }

    /// Has what the second one sends treated so (tc-netem(8)). `false`: this kernel cannot.
    fn treat(&self, how: &[&str]) -> bool {
        let device = format!("{}1", self.names[1]);
        let words = [
            "-n",
            &self.names[1],
            "qdisc",
            "replace",
            "dev",
            &device,
            "root",
            "netem",
        ];
        let treated = Command::new("tc").args(words).args(how).output();
        let is_so = treated.is_ok_and(|o| o.status.success());
        if !is_so {
            eprintln!("lines that delay are not tried out: the kernel has no netem");
        }
        is_so
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in &self.names {
            // What is on the line's other end goes with it.
            ip(&["link", "delete", &format!("{name}0")]);
            ip(&["netns", "delete", name]);
        }
    }
}

/// One test, for the addresses are the same.
#[test]
fn an_agent_on_a_worse_line_is_named_and_can_be_left_out() {
    let Some(networks) = Networks::new() else {
        return;
    };
    let (place, web) = (
        Place::new(),
        Web::on(&format!("{}:0", ENDS[0][0]), 0, Manner::Honest).unwrap(),
    );
    let on = networks.on();
    let url = web.url("/");
    a_cut_line(&networks, &place, &[&url, "--on", &on]);
    let words = [
        "load", &url, "--on", &on, "-c", "4", "--redo", "0", "--for", "4s", "--rate", "200",
    ];
    if networks.treat(&["delay", "60ms"]) {
        let ended = place.0.call(&words);
        ended.expect(0);
        let run = place.0.load();
        assert_added_up(&run);
        let second = parts(&run, 1);
        let times = second
            .iter()
            .flat_map(|p| p.slice.service.counts().into_owned().0);
        assert!(times.map(|(ns, _)| ns).min() >= Some(60_000_000));
        let file = place.0.file();
        let file = file.to_str().unwrap();
        let name = &networks.names[1];
        place.0.call(&["report", file, "--without", name]).expect(0);
        std::fs::remove_file(file).unwrap();
    }
    if networks.treat(&["loss", "100%"]) {
        // Nothing of it reaches the server, so that it is told at once.
        let ended = place
            .0
            .call(&[&words[..], &["--timeout", "500ms"]].concat());
        ended
            .expect(1)
            .says(&[&networks.names[1], "does not answer", "nothing was loaded"]);
    }
}

/// Agents speak over pipes: one whose line to the server is cut for a while is there, and its requests fail.
fn a_cut_line(networks: &Networks, place: &Place, words: &[&str]) {
    let lab = place.begun(&[words, &["-c", "4", "--rate", "200"]].concat());
    networks.cut(true);
    std::thread::sleep(Duration::from_secs(3));
    networks.cut(false);
    ended(lab.wait_with_output().unwrap()).expect(0);
    let run = place.0.load();
    assert_added_up(&run);
    assert!(run.agents.iter().all(|agent| agent.lost.is_none()));
    let failed = |agent| {
        let of = parts(&run, agent);
        let errors = of.iter().flat_map(|p| &p.slice.errors);
        errors.map(|(_, count)| count).sum::<u64>()
    };
    assert!(failed(1) > failed(0), "{:?}", [0, 1].map(failed));
    let (served, errors) = sums(&run);
    let offered = served + errors.iter().map(|(_, count)| count).sum::<u64>();
    // 12 s at 200 a second, at random.
    assert!((2100..2700).contains(&offered), "{offered}");
    std::fs::remove_file(place.0.file()).unwrap();
}

/// Subjects need no network of the coordinator's.
#[test]
fn hosts_in_namespaces_measure_blocks() {
    let names = ["c", "d"].map(|end| format!("bl{}{end}", std::process::id() % 100_000));
    let networks = Networks { names };
    if !networks
        .names
        .iter()
        .all(|name| ip(&["netns", "add", name]))
    {
        eprintln!("networks are not tried out: this user may not make namespaces");
        return;
    }
    let project = Project::noop(&[]);
    let words = blocks_of("4", "2");
    let ended = project.call(&[&words[..], &["--on", &networks.on()]].concat());
    ended.expect(0);
    assert_whole(&project.load(), 4);
}

// SPDX-License-Identifier: Apache-2.0
//! Tests results from multiple hosts with known true ratios.

use crate::simulator::{CALM, Simulator, World, figures, run, served};
use lab_model::{Agent, AgentId, Block, BlockState, Run, SubjectId};
use lab_stats::hosts::{effects, hosts, kinds};
use lab_stats::results::results;
use serde_json::{Value, json};

/// Returns a run whose blocks alternate between hosts. `ratios` contains the subject's ratio to the
/// baseline on each host.
fn measured(ratios: &[f64], blocks: usize) -> Run {
    let world = |ratio| World {
        ratios: vec![ratio],
        sweep: vec![10.0, 20.0],
        ..CALM
    };
    let mut run = run(&world(1.0), 5, 8);
    let mut simulators: Vec<Simulator> = Vec::new();
    for (host, &ratio) in ratios.iter().enumerate() {
        simulators.push(Simulator::new(&world(ratio), 100 + host as u64));
        run.agents.push(named(&format!("host {host}")));
    }
    for number in 0..blocks {
        let host = number % ratios.len();
        simulators[host].add_block(&mut run);
        run.blocks[number].agent = Some(AgentId::from_index(host));
    }
    run
}

fn named(name: &str) -> Agent {
    Agent {
        name: name.into(),
        ..Agent::default()
    }
}

fn warnings(run: &Run) -> Vec<Value> {
    figures::warnings(&results(run), "agents")
}

#[test]
fn a_host_that_differs_is_reported() {
    let run = measured(&[1.2, 1.2, 1.5], 18);
    let found = effects(&run);
    // One effect over both points, and one at each point.
    assert_eq!(found.len(), 3);
    for effect in &found {
        assert!(
            effect.differ && effect.subject == SubjectId(1),
            "{effect:?}"
        );
        let truths = [1.2, 1.2, 1.5];
        for (ratio, truth) in effect.ratios.iter().zip(truths) {
            let ratio = ratio.expect("six blocks");
            assert!((ratio.estimate / truth - 1.0).abs() < 0.03, "{ratio:?}");
        }
        // ln(1.5 / 1.2) = 0.22 on one of three hosts: a standard deviation of 0.13.
        let between = effect.between.deviation;
        assert!(
            between.low > 0.03 && between.low < 0.13 && between.high > 0.13,
            "{between:?}"
        );
    }
    let warned = warnings(&run);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert_eq!(warned[0]["code"], "hosts-differ");
    let spread = &warned[0]["ratios"][0];
    assert_eq!(spread["place"]["subject"], "s1");
    assert_eq!(spread["greatest"]["host"], "host 2");
    let greatest = spread["greatest"]["ratio"].as_f64().unwrap();
    assert!((greatest - 1.5).abs() < 0.005, "{spread}");
}

/// On the second of two hosts, the requests of the first server after the baseline take 50% more
/// CPU time.
#[test]
fn servers_have_a_ratio_on_each_host() {
    let mut run = served::World::new(&[0.8, 2.0]).run(1, 16);
    run.agents = ["host 0", "host 1"].map(named).into();
    for block in &mut run.blocks {
        let host = block.number % 2;
        block.agent = Some(AgentId(host));
        for slice in block
            .slices
            .iter_mut()
            .filter(|s| s.subject == SubjectId(2))
        {
            let cpu_ns = slice.server_cpu_ns.unwrap();
            slice.server_cpu_ns = Some(cpu_ns + cpu_ns / 2 * u64::from(host));
        }
    }
    let plan = run.plan().unwrap().clone();
    let found = effects(&run);
    for (subject, truths, differ) in [(2, [0.8, 1.2], true), (3, [2.0, 2.0], false)] {
        let of_subject: Vec<_> = found
            .iter()
            .filter(|e| e.subject == SubjectId(subject))
            .collect();
        assert!(
            of_subject.len() > 2 && of_subject[0].point.is_none(),
            "{of_subject:?}"
        );
        for effect in of_subject {
            assert!(effect.point.is_none_or(|point| !plan.is_open(point)));
            assert_eq!(effect.differ, differ, "{effect:?}");
            for (ratio, truth) in effect.ratios.iter().zip(truths) {
                let ratio = ratio.expect("eight blocks");
                assert!((ratio.estimate / truth - 1.0).abs() < 0.1, "{ratio:?}");
            }
        }
    }
    let warned = warnings(&run);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert_eq!(warned[0]["code"], "hosts-differ");
}

#[test]
fn equal_hosts_are_not_distinguished() {
    let run = measured(&[1.2, 1.2, 1.2], 18);
    let found = effects(&run);
    assert!(
        found
            .iter()
            .all(|e| !e.differ && e.between.deviation.low == 0.0),
        "{found:?}"
    );
    assert!(found.iter().all(|e| e.between.deviation.high > 0.0));
    assert_eq!(warnings(&run), Vec::<Value>::new());
}

/// Assigns the processors to the hosts in turn.
fn with_processors(mut run: Run, processors: &[&str]) -> Run {
    for (host, agent) in run.agents.iter_mut().enumerate() {
        let processor = processors[host % processors.len()];
        agent.host.facts = vec![
            ("cpu".into(), processor.into()),
            ("system".into(), "Debian".into()),
        ];
    }
    run
}

#[test]
fn kinds_of_hosts_are_a_factor() {
    let run = measured(&[1.2, 1.5, 1.21, 1.52], 24);
    let run = with_processors(run, &["EPYC", "Xeon"]);
    let measuring_hosts = hosts(&run);
    let names: Vec<String> = kinds(&measuring_hosts)
        .into_iter()
        .map(|kind| kind.name)
        .collect();
    // The operating system is the same on all hosts.
    assert_eq!(names, ["EPYC", "Xeon"]);
    for effect in effects(&run) {
        let ratios = effect
            .on_kinds
            .iter()
            .map(|ratio| ratio.expect("twelve blocks").estimate);
        for (ratio, truth) in ratios.zip([1.205, 1.51]) {
            assert!((ratio / truth - 1.0).abs() < 0.03, "{ratio} of {truth}");
        }
        assert!(effect.kinds_differ, "{effect:?}");
    }
    let kinds_differ = &warnings(&run)[1];
    assert_eq!(kinds_differ["code"], "host-kinds-differ");
    let spread = &kinds_differ["ratios"][0];
    assert_eq!(spread["place"]["subject"], "s1");
    assert_eq!(spread["least"]["host"], "EPYC");
    assert_eq!(spread["greatest"]["host"], "Xeon");
}

#[test]
fn hosts_of_one_kind_may_differ_as_much() {
    let run = with_processors(measured(&[1.2, 1.5, 1.5, 1.2], 24), &["EPYC", "Xeon"]);
    assert!(effects(&run).iter().all(|e| e.differ && !e.kinds_differ));
    // With one host of each kind, the effects of host and kind cannot be separated.
    let run = with_processors(measured(&[1.2, 1.5], 12), &["EPYC", "Xeon"]);
    let found = effects(&run);
    assert!(
        found
            .iter()
            .all(|e| e.kinds_p.is_none() && e.on_kinds.len() == 2)
    );
    let run = with_processors(measured(&[1.2, 1.5], 12), &["EPYC"]);
    assert_eq!(kinds(&hosts(&run)), []);
    assert!(effects(&run).iter().all(|e| e.on_kinds.is_empty()));
}

#[test]
fn a_lost_host_is_named_with_its_block() {
    let mut run = measured(&[1.2, 1.2], 8);
    run.agents[AgentId(1)].lost = Some("its process ended".into());
    run.blocks.push(Block {
        number: 8,
        agent: Some(AgentId(1)),
        state: BlockState::Incomplete,
        ..Block::default()
    });
    let lost = json!([{"name": "host 1", "reason": "its process ended", "moved_blocks": [9]}]);
    assert_eq!(
        warnings(&run)[0],
        json!({"code": "hosts-lost", "hosts": lost})
    );
    // A run that is continued has new agents on the same hosts.
    run.agents.push(Agent {
        name: "host 1".into(),
        ..Agent::default()
    });
    run.blocks[7].agent = Some(AgentId(2));
    let blocks: Vec<usize> = hosts(&run).iter().map(|host| host.blocks).collect();
    assert_eq!(blocks, [4, 4]);
}

#[test]
fn one_host_is_not_compared() {
    assert_eq!(effects(&measured(&[1.2], 8)), []);
    let mut of_one_host = measured(&[1.2], 8);
    of_one_host.agents.truncate(0);
    of_one_host
        .blocks
        .iter_mut()
        .for_each(|block| block.agent = None);
    assert_eq!(hosts(&of_one_host), []);
}

/// A host that the user excludes does not affect any result, and a warning reports the exclusion.
#[test]
fn a_host_is_left_out() {
    let mut run = measured(&[1.2, 1.5], 12);
    run.exclude_agents(&["host 1".into()]).unwrap();
    assert_eq!(results(&run).blocks, 6);
    let left_out = json!({"code": "hosts-left-out", "hosts": ["host 1"]});
    assert_eq!(warnings(&run), [left_out]);
}

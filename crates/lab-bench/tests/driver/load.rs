// SPDX-License-Identifier: Apache-2.0
//! Tests load with simulated generators, which return made-up measurements.

use crate::fake::{File, Journal, stolen};
use lab_bench::{
    BenchError, Generator, Generators, LoadFault, LoadWorkload, Piece, Progress, Workload,
};
use lab_model::{
    Agent, AgentId, AgentSlice, Block, BlockState, Ending, Host, LoadSpec, Plan, PointId, Run,
    Slice, Stage, SubjectId,
};
use lab_plan::Loading;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A factory for generators. One generator can be made to fail at its start.
#[derive(Default)]
struct Fakes {
    started: AtomicU32,
    failing: Option<SubjectId>,
}

struct Fake;

impl Generators for Fakes {
    fn start(
        &self,
        subject: SubjectId,
        _: PointId,
        _: u32,
    ) -> Result<Box<dyn Generator>, LoadFault> {
        self.started.fetch_add(1, Ordering::Relaxed);
        if self.failing == Some(subject) {
            Err(LoadFault::Failed("too many connections".into()))
        } else {
            Ok(Box::new(Fake))
        }
    }
}

impl Generator for Fake {
    fn load(
        &mut self,
        length: Duration,
        slice: Duration,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<(), LoadFault> {
        let mut remaining = length;
        while !remaining.is_zero() {
            let wall = remaining.min(slice);
            remaining -= wall;
            let slice = Slice {
                wall_ns: wall.as_nanos() as u64,
                offered: 10,
                served: 10,
                ..Slice::default()
            };
            let piece = Piece {
                slice: Some(slice),
                ..Piece::default()
            };
            if !each(piece) {
                break;
            }
        }
        Ok(())
    }
}

fn loading(servers: usize) -> Loading {
    Loading {
        redo: 2,
        servers: (0..servers).map(|i| format!("s{i}")).collect(),
        connections: 4,
        length: Some(Duration::from_secs(12)),
        load: LoadSpec {
            keep_alive: true,
            pipeline: 1,
            threads: 1,
            ..LoadSpec::default()
        },
        alpha: 0.05,
        margin: 0.02,
        ..Loading::default()
    }
}

fn measure(file: &File, plan: &Plan, fakes: &Fakes, machine: Journal) -> (Ending, Vec<(u32, u32)>) {
    let load = plan.load().expect("a load");
    let workload = LoadWorkload::new(plan, load, &file.run(), fakes, [None, None].into());
    let mut steps = Vec::new();
    let ending = file.run_plan(plan, Box::new(workload), Box::new(machine), &mut |step| {
        if let Progress::Slice { done, of, .. } = step {
            steps.push((done, of));
        }
    });
    (ending.unwrap(), steps)
}

#[test]
fn one_server_at_one_point_has_slices_as_blocks() {
    let plan = loading(1).plan().unwrap();
    let (file, fakes) = (File::new(&plan), Fakes::default());
    let (ending, steps) = measure(&file, &plan, &fakes, Journal::default());
    assert_eq!(ending, Ending::Blocks);
    assert_eq!(steps, (1..=12).map(|i| (i, 12)).collect::<Vec<_>>());
    let run = file.run();
    assert_eq!(run.blocks.len(), 12);
    assert!(
        run.blocks
            .iter()
            .all(|b| b.slices.len() == 1 && b.core == 0)
    );
    assert_eq!(fakes.started.into_inner(), 1);
}

#[test]
fn a_disturbed_slice_is_followed_by_another_one() {
    let plan = loading(1).plan().unwrap();
    let (file, fakes) = (File::new(&plan), Fakes::default());
    let machine = Journal::default();
    machine.disturbances.borrow_mut().push_back(stolen());
    measure(&file, &plan, &fakes, machine);
    let run = file.run();
    assert_eq!((run.blocks.len(), run.complete_blocks().count()), (13, 12));
    assert_eq!(run.blocks[0].state, BlockState::Disturbed);
    // The connections stay open.
    assert_eq!(fakes.started.into_inner(), 1);
}

#[test]
fn a_disturbed_slice_is_kept_if_the_rate_changes() {
    let stage = Stage {
        from: 10.0,
        to: 90.0,
        length_ns: 12_000_000_000,
    };
    let plan = Loading {
        stages: vec![stage],
        ..loading(1)
    };
    let plan = plan.plan().unwrap();
    let (file, fakes) = (File::new(&plan), Fakes::default());
    let machine = Journal::default();
    machine.disturbances.borrow_mut().push_back(stolen());
    measure(&file, &plan, &fakes, machine);
    let run = file.run();
    assert_eq!((run.blocks.len(), run.complete_blocks().count()), (12, 12));
}

#[test]
fn a_resumed_load_generates_the_remaining_load() {
    let plan = loading(1).plan().unwrap();
    let (file, fakes) = (File::new(&plan), Fakes::default());
    let mut shorter = plan.clone();
    shorter.measure.max_blocks = 5;
    measure(&file, &shorter, &fakes, Journal::default());
    let (ending, steps) = measure(&file, &plan, &fakes, Journal::default());
    assert_eq!((ending, steps.last()), (Ending::Blocks, Some(&(7, 7))));
    let run = file.run();
    let slices = run.complete_blocks().flat_map(|b| &b.slices);
    let wall_ns: u64 = slices.map(|s| s.wall_ns).sum();
    assert_eq!(wall_ns, 12_000_000_000);
}

#[test]
fn two_servers_take_mirrored_turns_and_disturbed_blocks_are_redone() {
    let plan = loading(2).plan().unwrap();
    let (file, fakes) = (File::new(&plan), Fakes::default());
    let machine = Journal::default();
    machine.disturbances.borrow_mut().push_back(stolen());
    let (ending, steps) = measure(&file, &plan, &fakes, machine);
    assert_eq!(ending, Ending::Blocks);
    let run = file.run();
    let blocks = plan.measure.max_blocks as usize;
    assert_eq!(run.complete_blocks().count(), blocks);
    assert_eq!(
        (run.blocks.len(), steps.len()),
        (blocks + 1, 4 * (blocks + 1))
    );
    for block in &run.blocks {
        let order: Vec<_> = block.slices.iter().map(|s| (s.pass, s.subject)).collect();
        let mirrored: Vec<_> = order.iter().rev().map(|(pass, s)| (1 - pass, *s)).collect();
        assert_eq!(order, mirrored);
    }
    // Connections stay open until the point changes.
    assert_eq!(fakes.started.into_inner(), 2);
}

#[test]
fn a_server_that_cannot_be_loaded_has_failed() {
    let plan = loading(2).plan().unwrap();
    let file = File::new(&plan);
    let fakes = Fakes {
        failing: Some(SubjectId(1)),
        ..Fakes::default()
    };
    assert_eq!(
        measure(&file, &plan, &fakes, Journal::default()).0,
        Ending::Failed
    );
    let run = file.run();
    let failure = &run.failures[0];
    assert_eq!((failure.subject, &failure.kind[..]), (SubjectId(1), "load"));
    assert_eq!(failure.message, "too many connections");
}

/// A factory for generators whose agents are lost after two slices.
struct LostAgents;

impl Generators for LostAgents {
    fn start(&self, _: SubjectId, _: PointId, _: u32) -> Result<Box<dyn Generator>, LoadFault> {
        Ok(Box::new(LostAgent))
    }
}

struct LostAgent;

impl Generator for LostAgent {
    fn load(
        &mut self,
        _: Duration,
        slice: Duration,
        each: &mut dyn FnMut(Piece) -> bool,
    ) -> Result<(), LoadFault> {
        Fake.load(2 * slice, slice, each)?;
        Err(LoadFault::AgentsLost("all agents were lost".into()))
    }
}

#[test]
fn the_loss_of_agents_is_not_a_failure_of_the_server() {
    let plan = loading(1).plan().unwrap();
    let file = File::new(&plan);
    let load = plan.load().expect("a load");
    let workload = LoadWorkload::new(&plan, load, &file.run(), &LostAgents, [None].into());
    let machine = Box::new(Journal::default());
    let outcome = file.run_plan(&plan, Box::new(workload), machine, &mut |_| ());
    assert!(
        matches!(outcome, Err(BenchError::AgentsLost(_))),
        "{outcome:?}"
    );
    let run = file.run();
    assert_eq!((run.ending, run.failures.len()), (None, 0));
    assert_eq!(run.complete_blocks().count(), 2);
    // Other agents measure the remaining blocks.
    let (ending, _) = measure(&file, &plan, &Fakes::default(), Journal::default());
    assert_eq!(ending, Ending::Blocks);
    assert_eq!(file.run().complete_blocks().count(), 12);
}

fn machine(name: &str, id: &str) -> Host {
    Host {
        facts: vec![(name.into(), id.into())],
        ..Host::default()
    }
}

/// CPU time of agents and of a server on this machine is not a disturbance. Agents and servers on
/// other machines use no CPU time on this machine.
#[test]
fn the_load_on_this_machine_is_not_a_disturbance() {
    let mut plan = loading(1).plan().unwrap();
    let part = |agent, cpu_ns| AgentSlice {
        agent,
        slice: Slice {
            cpu_ns,
            ..Slice::default()
        },
        ..AgentSlice::default()
    };
    let block = Block {
        slices: vec![Slice {
            server_cpu_ns: Some(5),
            agents: vec![part(AgentId(0), 20), part(AgentId(1), 300)],
            ..Slice::default()
        }],
        ..Block::default()
    };
    let mut local_load = |agents: [&str; 2], server: Option<&str>, pids: &[i32]| {
        let load = plan.load_mut().unwrap();
        load.server_host = server.map(str::to_owned);
        load.server_pids = pids.to_vec();
        let mut host = machine(Host::MACHINE_ID, "own");
        let id = server.map(|id| (Host::SERVER_MACHINE_ID.to_owned(), id.to_owned()));
        host.facts.extend(id);
        let agent = |id: &str| Agent {
            host: machine(Host::MACHINE_ID, id),
            ..Agent::default()
        };
        let run = Run {
            host,
            content: plan.clone().into(),
            agents: agents.map(agent).into(),
            ..Run::default()
        };
        let load = plan.load().unwrap();
        let workload = LoadWorkload::new(&plan, load, &run, &LostAgents, [None].into());
        (workload.is_local(), workload.outside_cpu_ns(&block))
    };
    assert_eq!(local_load(["own", "b"], Some("own"), &[]), (true, Some(25)));
    assert_eq!(
        local_load(["own", "own"], Some("c"), &[]),
        (true, Some(320))
    );
    assert_eq!(local_load(["a", "b"], Some("own"), &[]), (true, Some(5)));
    assert!(!local_load(["a", "b"], Some("a"), &[]).0);
    assert!(!local_load(["a", "b"], None, &[]).0);
    assert_eq!(local_load(["a", "b"], None, &[11, 12]), (true, Some(5)));
}

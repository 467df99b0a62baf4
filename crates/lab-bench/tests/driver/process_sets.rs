// SPDX-License-Identifier: Apache-2.0
//! Tests blocks that share a set of processes.

use crate::fake::{Act, BuildStep, Fake, File, TURN_NS, plan, stolen};
use lab_bench::{Fault, Opening};
use lab_model::{BlockState, Ending, Measure, Plan, PointId, SubjectId};

/// The duration of a block with two subjects, two points and one mirrored pair, in ns.
const BLOCK_NS: u64 = 8 * TURN_NS;

fn nested(budget_blocks: u64) -> Plan {
    let plan = plan(2, 100);
    Plan {
        measure: Measure {
            max_process_sets: Some(3),
            budget_ns: Some(budget_blocks * BLOCK_NS),
            ..plan.measure.clone()
        },
        ..plan
    }
}

fn fake() -> Fake<'static> {
    Fake {
        opening: Opening::Target,
        blocks_of_set: Some(2),
        ..Fake::steady(&[100_000; 2])
    }
}

#[test]
fn processes_serve_their_blocks_and_then_exit() {
    let (plan, fake) = (nested(100), fake());
    let file = File::new(&plan);
    let journal = fake.journal.clone();
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Blocks);
    assert_eq!(file.run().replicates(), [0, 0, 1, 1, 2, 2]);
    let quits = |subject| journal.count(|step| *step == BuildStep::Quit(subject));
    assert_eq!([quits(SubjectId(0)), quits(SubjectId(1))], [3, 3]);
    let steps = journal.steps.borrow();
    let position = |wanted| steps.iter().position(|step| *step == wanted).unwrap();
    let second = steps
        .iter()
        .position(|s| matches!(s, BuildStep::Block(1, _)))
        .unwrap();
    assert!(second < position(BuildStep::Quit(SubjectId(0))));
}

#[test]
fn a_warm_set_serves_all_its_blocks() {
    // After two blocks, the budget allows a third one. It begins a new set, which also serves a fourth block.
    let plan = nested(3);
    let file = File::new(&plan);
    assert_eq!(file.measure(&plan, fake()).unwrap(), Ending::Budget);
    assert_eq!(file.run().replicates(), [0, 0, 1, 1]);
}

#[test]
fn a_set_that_is_disturbed_all_the_time_ends_with_the_budget() {
    let plan = nested(5);
    let fake = Fake {
        blocks_of_set: Some(4),
        ..fake()
    };
    let file = File::new(&plan);
    let mut disturbances = vec![Default::default(); 5];
    disturbances.resize(20, stolen());
    fake.journal.disturbances.borrow_mut().extend(disturbances);
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Budget);
    let run = file.run();
    assert_eq!(run.replicates(), [0, 0, 0, 0, 1]);
    assert_eq!(
        run.blocks.len(),
        7,
        "the run may exceed the budget by a quarter"
    );
}

#[test]
fn a_set_rehearses_before_its_first_recorded_turn() {
    let (plan, fake) = (nested(4), fake());
    let file = File::new(&plan);
    let journal = fake.journal.clone();
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Budget);
    assert_eq!(file.run().replicates(), [0, 0, 1, 1]);
    let steps = journal.steps.borrow();
    let mut rehearsed = Vec::new();
    for (number, block) in steps
        .split(|step| matches!(step, BuildStep::Block(..)))
        .skip(1)
        .enumerate()
    {
        let is_rehearsed = |step: &&BuildStep| matches!(step, BuildStep::Rehearse(_));
        let turns: Vec<&BuildStep> = block.iter().filter(is_rehearsed).collect();
        let first_turn = block.iter().position(|s| matches!(s, BuildStep::Take(_)));
        let last_rehearsed = block.iter().rposition(|s| is_rehearsed(&s));
        assert!(
            last_rehearsed < first_turn,
            "block {number}: the rehearsal must precede the first turn"
        );
        rehearsed.push(turns.len());
        let points = turns.iter().map(|step| match step {
            BuildStep::Rehearse(turn) => turn.point.index(),
            _ => unreachable!(),
        });
        assert!(points.eq([0, 0, 1, 1, 0, 0].into_iter().take(turns.len())));
    }
    assert_eq!(rehearsed, [6, 0, 6, 0], "each set has one rehearsal");
}

#[test]
fn rehearsed_turns_are_spread_over_the_points() {
    let point = nested(4).points[PointId(0)].clone();
    let plan = Plan {
        points: vec![point; 7].into(),
        ..nested(1)
    };
    let fake = fake();
    let journal = fake.journal.clone();
    File::new(&plan).measure(&plan, fake).unwrap();
    let steps = journal.steps.borrow();
    let points = steps.iter().filter_map(|step| match step {
        BuildStep::Rehearse(turn) if turn.subject == SubjectId(0) => Some(turn.point.index()),
        _ => None,
    });
    assert!(points.take(3).eq([0, 2, 4]));
}

#[test]
fn a_resumed_run_begins_a_new_set() {
    let plan = nested(100);
    let file = File::new(&plan);
    let interrupted = Fake {
        script: Box::new(|block, _| match block {
            1 => Act::Fail(Fault::Interrupted),
            _ => Act::Batch(100_000),
        }),
        ..fake()
    };
    assert_eq!(
        file.measure(&plan, interrupted).unwrap(),
        Ending::Interrupted
    );
    assert_eq!(file.measure(&plan, fake()).unwrap(), Ending::Blocks);
    let run = file.run();
    assert_eq!(run.replicates(), [0, 1, 1, 2, 2]);
    let first = run
        .blocks
        .iter()
        .filter(|block| block.process_set == Some(0));
    let states: Vec<BlockState> = first.map(|block| block.state).collect();
    assert_eq!(states, [BlockState::Complete, BlockState::Incomplete]);
}

#[test]
fn a_disturbed_block_is_measured_again_with_the_same_processes() {
    let (plan, fake) = (nested(100), fake());
    let file = File::new(&plan);
    let journal = fake.journal.clone();
    journal
        .disturbances
        .borrow_mut()
        .extend([Default::default(), stolen()]);
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Blocks);
    let sets: Vec<_> = file
        .run()
        .blocks
        .iter()
        .map(|b| (b.process_set, b.state))
        .collect();
    assert_eq!(sets[1], (Some(0), BlockState::Disturbed));
    assert_eq!(sets[2], (Some(0), BlockState::Complete));
    assert_eq!(
        journal.count(|step| *step == BuildStep::Quit(SubjectId(0))),
        3
    );
}

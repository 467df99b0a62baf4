// SPDX-License-Identifier: Apache-2.0
//! Tests blocks and turns that are repeated because the host or other processes disturbed them.

use crate::fake::{Act, Fake, File, plan, stolen};
use lab_model::BlockState::{Complete, Disturbed};
use lab_model::{BlockState, PointId, Run};

fn states(run: &Run) -> Vec<(u32, u32, BlockState)> {
    let state = |b: &lab_model::Block| (b.number, b.attempt, b.state);
    run.blocks.iter().map(state).collect()
}

#[test]
fn a_disturbed_block_is_redone_in_the_same_order() {
    let plan = plan(3, 2);
    let file = File::new(&plan);
    let fake = Fake::steady(&[1000, 1000, 1000]);
    let journal = fake.journal.clone();
    fake.journal.disturbances.borrow_mut().push_back(stolen());
    file.measure(&plan, fake).unwrap();
    let run = file.run();
    let expected = [(0, 0, Disturbed), (0, 1, Complete), (1, 0, Complete)];
    assert_eq!(states(&run), expected);
    let turns = journal.turns();
    let (first, rest) = turns.split_at(turns.len() / 3);
    assert_eq!(first, &rest[..first.len()]);
    // The samples of the disturbed block stay in the file.
    assert_eq!(run.blocks[0].samples.len(), run.blocks[1].samples.len());
}

/// Once the usual duration of a block is known, a block that is too disturbed is abandoned early.
#[test]
fn a_block_is_abandoned_once_it_is_too_disturbed() {
    let mut plan = plan(2, 3);
    let point = |n: u32| lab_model::Point {
        params: vec![("n".into(), n.to_string())],
        ..lab_model::Point::default()
    };
    plan.points = (1..=6).map(point).collect();
    let measured = |redoes_blocks: bool| {
        let file = File::new(&plan);
        let fake = Fake {
            redoes_blocks,
            ..Fake::steady(&[1000, 1000])
        };
        let calm = lab_model::Disturbance::default();
        let disturbances = [stolen(), calm, calm, stolen()];
        fake.journal.disturbances.borrow_mut().extend(disturbances);
        file.measure(&plan, fake).unwrap();
        file.run()
    };
    let points = |run: &Run| -> Vec<usize> {
        let block = |b: &lab_model::Block| {
            let points: std::collections::BTreeSet<PointId> =
                b.samples.iter().map(|s| s.point).collect();
            points.len()
        };
        run.blocks.iter().map(block).collect()
    };
    let run = measured(true);
    let expected = [
        (0, 0, Disturbed),
        (0, 1, Complete),
        (1, 0, Complete),
        (2, 0, Disturbed),
        (2, 1, Complete),
    ];
    assert_eq!(states(&run), expected);
    // A disturbance for half of the time at two of six points exceeds a twentieth of the total.
    assert_eq!(points(&run), [6, 6, 6, 2, 6]);
    // Blocks that are not repeated contain all points.
    assert_eq!(points(&measured(false)), [6; 3]);
}

#[test]
fn a_permanently_disturbed_host_counts_after_three_attempts() {
    let plan = plan(2, 3);
    let file = File::new(&plan);
    let fake = Fake::steady(&[1000, 1000]);
    fake.journal.disturbances.borrow_mut().extend([stolen(); 5]);
    file.measure(&plan, fake).unwrap();
    let expected = [
        (0, 0, Disturbed),
        (0, 1, Disturbed),
        (0, 2, Complete),
        (1, 0, Complete),
        (2, 0, Complete),
    ];
    assert_eq!(states(&file.run()), expected);
}

#[test]
fn a_workload_may_refuse_to_redo_blocks() {
    let plan = plan(2, 2);
    let file = File::new(&plan);
    let fake = Fake {
        redoes_blocks: false,
        ..Fake::steady(&[1000, 1000])
    };
    fake.journal.disturbances.borrow_mut().push_back(stolen());
    file.measure(&plan, fake).unwrap();
    assert_eq!(states(&file.run()), [(0, 0, Complete), (1, 0, Complete)]);
}

#[test]
fn at_most_a_quarter_of_the_turns_is_repeated() {
    let plan = plan(2, 1);
    let file = File::new(&plan);
    let fake = Fake {
        pairs: 10,
        ..Fake::new(|_, _| Act::Reading { disturbed: true })
    };
    let journal = fake.journal.clone();
    file.measure(&plan, fake).unwrap();
    let run = file.run();
    let block = &run.blocks[0];
    let turns = 2 * 2 * 20;
    assert_eq!(block.readings.len(), turns);
    assert_eq!(block.redone_visits() as usize, turns / 4);
    assert_eq!(journal.turns().len(), turns + turns / 4);
    // The last attempt counts, so the value is that of the latest step.
    let values: Vec<f64> = block.readings.iter().map(|r| r.value).collect();
    assert!(values.is_sorted());
}

#[test]
fn a_turn_is_taken_at_most_three_times_and_a_quiet_turn_once() {
    let plan = plan(2, 1);
    let file = File::new(&plan);
    let is_last_turn = |turn: lab_bench::Turn| (turn.pass, turn.turn) == (19, 1);
    let fake = Fake {
        pairs: 10,
        ..Fake::new(|_, turn| Act::Reading {
            disturbed: is_last_turn(turn),
        })
    };
    let journal = fake.journal.clone();
    file.measure(&plan, fake).unwrap();
    // This applies at each of the two points.
    assert_eq!(
        journal.turns().iter().filter(|t| is_last_turn(**t)).count(),
        2 * 3
    );
    assert_eq!(file.run().blocks[0].redone_visits(), 4);
}

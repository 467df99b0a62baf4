// SPDX-License-Identifier: Apache-2.0
//! Tests when a run ends.

use crate::fake::{Fake, File, TURN_NS, plan};
use lab_model::{Ending, Measure, Plan};

/// The duration in ns of a block of [`plan`] with two subjects and one pair.
const BLOCK_NS: u64 = 2 * 2 * 2 * TURN_NS;

fn ending_of(plan: &Plan, times_ns: &[u64]) -> (Ending, u32, Vec<u32>) {
    let file = File::new(plan);
    let ending = file.measure(plan, Fake::steady(times_ns)).unwrap();
    let run = file.run();
    assert_eq!(run.ending, Some(ending));
    (
        ending,
        run.complete_blocks().count() as u32,
        run.interim_analyses,
    )
}

fn plan_with(measure: Measure) -> Plan {
    let mut plan = plan(2, 80);
    plan.measure = Measure {
        alpha: 0.05,
        margin: 0.02,
        ..measure
    };
    plan
}

#[test]
fn a_run_ends_after_the_requested_blocks() {
    assert_eq!(
        ending_of(&plan(2, 3), &[100_000; 2]),
        (Ending::Blocks, 3, vec![])
    );
}

#[test]
fn a_run_ends_at_a_conclusive_interim_analysis() {
    let plan = plan_with(Measure {
        max_blocks: 80,
        interim_analyses: vec![10, 20, 40],
        ..Measure::default()
    });
    let slower = [100_000, 200_000];
    assert_eq!(ending_of(&plan, &slower), (Ending::Decided, 10, vec![]));
}

#[test]
fn an_inconclusive_interim_analysis_is_noted_and_the_last_one_ends_the_run() {
    let plan = plan_with(Measure {
        max_blocks: 80,
        interim_analyses: vec![2, 4, 6],
        ..Measure::default()
    });
    let same = [100_000, 100_000];
    // Six blocks are too few for a confidence interval at their level.
    assert_eq!(ending_of(&plan, &same), (Ending::Blocks, 6, vec![2, 4]));
}

#[test]
fn a_run_ends_before_a_block_that_exceeds_the_budget() {
    let plan = plan_with(Measure {
        max_blocks: 80,
        budget_ns: Some(20 * BLOCK_NS + BLOCK_NS / 2),
        ..Measure::default()
    });
    assert_eq!(
        ending_of(&plan, &[100_000; 2]),
        (Ending::Budget, 20, vec![])
    );
}

#[test]
fn a_budget_is_overrun_by_a_quarter_to_reach_the_level() {
    let budget = |blocks: u64, at_least_level| {
        plan_with(Measure {
            max_blocks: 80,
            budget_ns: Some(blocks * BLOCK_NS),
            at_least_level,
            ..Measure::default()
        })
    };
    // A confidence interval at 95 % needs six blocks.
    assert_eq!(ending_of(&budget(5, false), &[100_000; 2]).1, 6);
    assert_eq!(ending_of(&budget(3, false), &[100_000; 2]).1, 3);
    assert_eq!(ending_of(&budget(3, true), &[100_000; 2]).1, 6);
}

#[test]
fn a_run_that_cannot_have_all_its_blocks_ends_after_few() {
    let budget = |blocks: u64| {
        plan_with(Measure {
            max_blocks: 12,
            few_blocks: Some(5),
            budget_ns: Some(blocks * BLOCK_NS),
            ..Measure::default()
        })
    };
    assert_eq!(
        ending_of(&budget(3), &[100_000; 2]),
        (Ending::Budget, 5, vec![])
    );
    assert_eq!(ending_of(&budget(11), &[100_000; 2]).1, 5);
    assert_eq!(
        ending_of(&budget(12), &[100_000; 2]),
        (Ending::Blocks, 12, vec![])
    );
}

#[test]
fn a_budget_counts_what_was_spent_before_a_run_was_resumed() {
    let plan_within = |max_blocks, budget_ns| {
        plan_with(Measure {
            max_blocks,
            budget_ns,
            ..Measure::default()
        })
    };
    let file = File::new(&plan_within(80, None));
    let (first, second) = (plan_within(10, None), plan_within(80, Some(13 * BLOCK_NS)));
    let steady = || Fake::steady(&[100_000; 2]);
    assert_eq!(file.measure(&first, steady()).unwrap(), Ending::Blocks);
    assert_eq!(file.measure(&second, steady()).unwrap(), Ending::Budget);
    assert_eq!(file.run().complete_blocks().count(), 13);
}

#[test]
fn a_budget_counts_the_pilots_of_all_sessions() {
    let budget = |blocks: u64| {
        plan_with(Measure {
            max_blocks: 80,
            budget_ns: Some(blocks * BLOCK_NS),
            ..Measure::default()
        })
    };
    let preparing = |blocks: u64, stops_in_prepare| Fake {
        prepare_ns: blocks * BLOCK_NS,
        stops_in_prepare,
        ..Fake::steady(&[100_000; 2])
    };
    let file = File::new(&budget(20));
    let stopped = file.measure(&budget(20), preparing(3, true));
    assert_eq!(stopped.unwrap(), Ending::Interrupted);
    assert_eq!(file.run().pilots_ns, Some(3 * BLOCK_NS));
    let ended = file.measure(&budget(20), preparing(4, false));
    assert_eq!(ended.unwrap(), Ending::Budget);
    assert_eq!(file.run().pilots_ns, Some(7 * BLOCK_NS));
    assert_eq!(file.run().complete_blocks().count(), 13);
    let ended = file.measure(&budget(22), preparing(1, false));
    assert_eq!(ended.unwrap(), Ending::Budget);
    assert_eq!(file.run().pilots_ns, Some(8 * BLOCK_NS));
    assert_eq!(file.run().complete_blocks().count(), 14);
}

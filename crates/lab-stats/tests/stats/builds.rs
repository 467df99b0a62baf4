// SPDX-License-Identifier: Apache-2.0
//! Tests runs with multiple builds of each revision.
//!
//! If builds differ, intervals computed from builds have the stated confidence level. Intervals
//! that treat the blocks of one build as independent do not. `UPDATE_DOCS=1 cargo test --release -p
//! lab-stats --test stats builds::` writes the table.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::{CALM, Random, Simulator, World, most_by_chance};
use lab_model::{Command, Ending, Metric, PointId, Run, SubjectId};
use lab_stats::analysis::Verdict;
use lab_stats::deciding::{Deciding, MIN_BLOCKS_FOR_HARDLY, deciding};
use lab_stats::results::warning::Replicate;
use lab_stats::results::{WarningFact, results};

/// Returns a run of one subject and the baseline with `builds` builds each.
///
/// The times of the builds vary by `scatter`. On average, the subject and the baseline take the
/// same time.
fn run(builds: usize, blocks: u32, scatter: f64, seed: u64) -> Run {
    let world = World {
        ratios: vec![1.0],
        ..CALM
    };
    let mut run = simulator::run(&world, seed, 4);
    let plan = run.plan_mut().unwrap();
    plan.subjects.pop();
    plan.measure.interim_analyses.clear();
    for subject in &mut plan.subjects {
        subject.command = Some(Command {
            builds: (0..builds).map(|i| i.to_string()).collect(),
            ..Command::default()
        });
    }
    let mut random = Random(seed ^ 0xb01d);
    let factors: Vec<f64> = (0..2 * builds)
        .map(|_| (scatter * random.normal()).exp())
        .collect();
    let mut simulator = Simulator::new(&world, seed);
    for block in 0..blocks as usize {
        simulator.add_block(&mut run);
        for sample in &mut run.blocks[block].samples {
            let factor = factors[2 * (block % builds) + sample.subject.index()];
            sample.batch.wall_ns = (sample.batch.wall_ns as f64 * factor) as u64;
        }
    }
    run.ending = Some(Ending::Blocks);
    run
}

/// Returns two flags: the first is true if the interval misses 1, and the second is true if the
/// verdict is wrong.
///
/// If `builds` is false, each block counts as a replicate.
fn wrong(mut run: Run, builds: bool) -> (bool, bool) {
    if !builds {
        let plan = run.plan_mut().unwrap();
        plan.subjects.iter_mut().for_each(|s| s.command = None);
    }
    let results = results(&run);
    let comparison = results
        .comparison(SubjectId(1), PointId(0), &Metric::WALL)
        .unwrap();
    let ratio = comparison.ratio;
    let verdict = matches!(comparison.verdict, Some(Verdict::Faster | Verdict::Slower));
    (ratio.low > 1.0 || ratio.high < 1.0, verdict)
}

#[test]
fn intervals_are_valid_if_builds_differ() {
    let mut rows = Vec::new();
    let kinds = [
        (4, 24, 0.02),
        (6, 24, 0.02),
        (10, 40, 0.0),
        (10, 40, 0.005),
        (10, 40, 0.02),
        (10, 33, 0.02),
        (20, 40, 0.02),
    ];
    for (builds, blocks, scatter) in kinds {
        let all = documents::runs(1000, 150);
        let (mut missed, mut naive) = (0, 0);
        for seed in 0..all {
            let run = run(builds, blocks, scatter, seed << 8 | builds as u64);
            missed += u64::from(wrong(run.clone(), true).0);
            naive += u64::from(wrong(run, false).0);
        }
        println!("{builds} builds, {blocks} blocks, {scatter}: {missed} and {naive} of {all}");
        assert!(
            missed <= most_by_chance(all, 0.05),
            "{builds} {blocks} {scatter}: {missed} of {all}"
        );
        if scatter >= 0.02 && builds <= 10 {
            assert!(
                naive > 3 * all / 20,
                "the naive interval must fail, or the test shows nothing: {naive} of {all}"
            );
        }
        rows.push(vec![
            builds.to_string(),
            blocks.to_string(),
            percent(scatter),
            percent(missed as f64 / all as f64),
            percent(naive as f64 / all as f64),
        ]);
    }
    let columns = [
        "builds of each",
        "blocks",
        "scatter of a build",
        "interval misses",
        "it would, if blocks were replicates",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("builds", &table);
}

/// More blocks of four builds do not show how builds differ.
#[test]
fn few_builds_are_too_few_however_many_blocks_use_them() {
    let run = run(4, 40, 0.02, 1);
    let mut results = results(&run);
    let mut facts = results.warnings.iter().map(|warning| &warning.fact);
    let few = facts.find_map(|fact| match fact {
        WarningFact::TooFewBlocks {
            replicates,
            unit,
            time,
            ..
        } => Some((*replicates, *unit, *time)),
        _ => None,
    });
    assert_eq!(few, Some((4, Replicate::Build, None)));
    for comparison in &mut results.comparisons {
        comparison.verdict = Some(Verdict::Inconclusive {
            blocks_needed: None,
        });
        comparison.open = None;
    }
    assert_eq!(
        deciding(&results.comparisons, &run, run.plan().unwrap()),
        Some(Deciding::TooFew(MIN_BLOCKS_FOR_HARDLY))
    );
}

#[test]
fn all_blocks_of_a_build_are_one_value() {
    let results = results(&run(10, 33, 0.02, 1));
    assert_eq!(results.blocks, 33);
    assert_eq!(
        results
            .comparison(SubjectId(1), PointId(0), &Metric::WALL)
            .unwrap()
            .blocks,
        10
    );
}

// SPDX-License-Identifier: Apache-2.0
//! Tests the peaks of subjects over a sweep.
//!
//! Reporting each subject at its best point must not create false winners, or rates that no subject
//! reaches. `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats best::` writes the table
//! in `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::{CALM, FIXED, Simulator, World, most_by_chance};
use lab_model::{CaseId, Cores, PointId, SubjectId};
use lab_stats::results::{Over, Results, results};

/// The number of points. Their true rates are nearly equal, so their measured rates differ mostly
/// by chance.
const POINTS: usize = 8;

fn simulated(world: &World, blocks: u32, seed: u64) -> Results {
    let world = World {
        sweep: (0..POINTS).map(|i| i as f64 * 1e-6).collect(),
        ..world.clone()
    };
    let mut run = simulator::run(&world, seed, 4);
    run.plan_mut().unwrap().cases[CaseId(0)].cores = Cores::All;
    let mut simulator = Simulator::new(&world, seed);
    (0..blocks).for_each(|_| simulator.add_block(&mut run));
    results(&run)
}

#[test]
fn choosing_the_best_point_creates_no_winner() {
    let noisy = World {
        ratios: vec![1.0; 3],
        process: 0.01,
        batch: 0.2,
        blocks: (0.0, 0.0),
        ..CALM
    };
    let slower = World {
        ratios: vec![1.25; 3],
        ..noisy.clone()
    };
    let mut rows = Vec::new();
    for (name, world, blocks, differs) in [
        ("four equal subjects", &noisy, 12, false),
        ("four equal subjects", &noisy, 40, false),
        ("three take 25 % more", &slower, 12, true),
    ] {
        let all = documents::runs(1000, 40);
        let (mut with_winner, mut missed, mut naive) = (0, 0, 0);
        for seed in 0..all {
            let found = simulated(world, blocks, seed);
            let ranking = found
                .rankings
                .iter()
                .find(|r| r.over == Over::Best(PointId(0)));
            let ranking = ranking.expect("a ranking");
            with_winner += u64::from(!ranking.apart.is_empty());
            let truth = 1e9 / FIXED;
            let base = found
                .bests
                .iter()
                .find(|best| best.subject == SubjectId(0))
                .unwrap();
            missed += u64::from(base.rate.low > truth || base.rate.high < truth);
            // The highest of the points' own rates, ignoring the selection bias.
            let times = (0..POINTS).filter_map(|p| {
                found.value(
                    SubjectId(0),
                    PointId::from_index(p),
                    &lab_model::Metric::WALL,
                )
            });
            let times = times.filter_map(|v| v.interval().copied());
            let least = times.min_by(|a, b| a.estimate.total_cmp(&b.estimate));
            naive += u64::from(least.is_some_and(|i| 1e9 / i.high > truth || 1e9 / i.low < truth));
        }
        println!("{name}, {blocks}: {with_winner} {missed} {naive} of {all}");
        if differs {
            assert!(2 * with_winner > all, "{name}: {with_winner} of {all}");
        } else {
            assert!(
                with_winner <= most_by_chance(all, 0.05),
                "{name}: {with_winner} of {all}"
            );
        }
        assert!(
            missed <= most_by_chance(all, 0.05),
            "{name}: {missed} of {all}"
        );
        let fraction = |n: u64| percent(n as f64 / all as f64);
        rows.push(vec![
            name.into(),
            blocks.to_string(),
            fraction(with_winner),
            fraction(missed),
            fraction(naive),
        ]);
    }
    let columns = [
        "world, 8 points alike",
        "blocks",
        "a winner is named",
        "interval of the most misses",
        "interval of the highest point misses",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("best", &table);
}

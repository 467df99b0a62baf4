// SPDX-License-Identifier: Apache-2.0
//! What a report says would decide what it leaves open: new runs of so many blocks do so as often as *probably* says.
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats deciding::` writes the table of `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::{CALM, Simulator, World};
use lab_model::Run;
use lab_stats::analysis::Verdict;
use lab_stats::deciding::{Deciding, deciding};
use lab_stats::results::{Results, results};

/// What a run of so many blocks says.
fn measured(world: &World, seed: u64, blocks: u32) -> (Run, Results) {
    let mut run = simulator::run(world, seed, 8);
    // A control would raise the margin of some runs.
    run.plan.as_mut().unwrap().subjects.pop();
    let mut simulator = Simulator::new(world, seed);
    (0..blocks).for_each(|_| simulator.add_block(&mut run));
    let results = results(&run);
    (run, results)
}

fn open(results: &Results) -> usize {
    let verdicts = results.comparisons.iter().filter_map(|c| c.verdict);
    verdicts
        .filter(|v| matches!(v, Verdict::Inconclusive { .. }))
        .count()
}

#[test]
fn so_many_blocks_probably_decide() {
    let noisy = World {
        process: 0.03,
        ..CALM
    };
    let kinds: [(&str, &[f64], usize); 6] = [
        ("equal", &[1.0], 1),
        ("1 % slower", &[1.01], 1),
        ("4 % slower", &[1.04], 1),
        ("3 equal", &[1.0, 1.0, 1.0], 1),
        ("3, of which one is 4 % slower", &[1.0, 1.04, 1.0], 1),
        ("3, of which one is 4 % slower", &[1.0, 1.04, 1.0], 4),
    ];
    let (mut rows, mut forecasts) = (Vec::new(), Vec::new());
    for (i, (name, ratios, points)) in kinds.into_iter().enumerate() {
        let world = World {
            ratios: ratios.to_vec(),
            sweep: (0..points).map(|x| x as f64).collect(),
            ..noisy.clone()
        };
        let (mut all_forecast, mut true_all, mut half_forecast, mut true_half) =
            (0_u32, 0_u32, 0_u32, 0_u32);
        for seed in 0..documents::runs(400, if points > 1 { 10 } else { 40 }) {
            let seed = (i as u64) << 32 | seed;
            let (run, first) = measured(&world, seed, 10);
            let Some(by) = deciding(&first.comparisons, run.plan.unwrap().measure.max_blocks)
            else {
                continue;
            };
            let open_after = |blocks| open(&measured(&world, seed | 1 << 60, blocks).1);
            match by {
                Deciding::All(blocks) => {
                    all_forecast += 1;
                    true_all += u32::from(open_after(blocks) == 0);
                }
                Deciding::Half(blocks) => {
                    half_forecast += 1;
                    true_half += u32::from(2 * open_after(blocks) <= open(&first));
                }
                Deciding::Hardly => {}
            }
        }
        let part = |n: u32, of: u32| match of {
            0 => String::new(),
            of => format!("{} of {of}", percent(f64::from(n) / f64::from(of))),
        };
        rows.push(vec![
            name.to_string(),
            points.to_string(),
            part(true_all, all_forecast),
            part(true_half, half_forecast),
        ]);
        forecasts.push((name, true_all, all_forecast));
        forecasts.push((name, true_half, half_forecast));
    }
    let columns = [
        "subjects",
        "points",
        "all were decided",
        "half were decided",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("deciding", &table);
    for (name, right, of) in forecasts {
        // Of 10 forecasts that hold in 80 % of runs, at least half hold in 99.4 % of tests.
        assert!(of < 10 || 2 * right >= of, "{name}: {right} of {of}");
        assert!(of < 100 || 4 * right >= 3 * of, "{name}: {right} of {of}");
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Tests `--plan`: runs with the forecast number of blocks detect the difference as often as
//! claimed.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats power::` writes the table in
//! `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::{CALM, Simulator, World, most_by_chance};
use lab_model::{Ending, Metric, PointId, Run, SubjectId};
use lab_stats::analysis::Verdict;
use lab_stats::power::{DIFFERENCES, Forecast, NoForecast, PlannedComparison, forecast};
use lab_stats::results::results;
use lab_stats::stop;

/// A kind of run: the distribution of its blocks, its comparisons, the difference to be detected,
/// and whether it has interim analyses.
struct TargetKind {
    world: World,
    points: usize,
    subjects: usize,
    difference: usize,
    beyond: bool,
    interim_analyses: bool,
}

#[test]
fn forecast_blocks_detect_the_difference_as_often_as_claimed() {
    let noisy = World {
        process: 0.03,
        ..CALM
    };
    let kind = |world: &World, points, subjects, difference, beyond, interim_analyses| TargetKind {
        world: world.clone(),
        points,
        subjects,
        difference,
        beyond,
        interim_analyses,
    };
    let kinds = [
        kind(&CALM, 1, 1, 1, false, false),
        kind(&CALM, 1, 1, 1, false, true),
        kind(&CALM, 8, 3, 0, false, false),
        kind(&noisy, 1, 1, 2, false, true),
        kind(&noisy, 1, 1, 2, true, false),
        kind(&noisy, 1, 3, 2, false, false),
        kind(&noisy, 8, 3, 2, false, false),
        kind(&noisy, 8, 3, 2, false, true),
        kind(&noisy, 20, 3, 3, false, false),
        kind(&noisy, 20, 3, 3, true, false),
    ];
    let (mut found_of_all, mut runs_of_all) = (0, 0);
    let mut rows = Vec::new();
    for (i, kind) in kinds.iter().enumerate() {
        let comparison = kind.comparison(i as u64, 200);
        let blocks = kind.blocks(&comparison).unwrap();
        let [for_the_page, in_tests] = if kind.points > 1 { [60, 20] } else { [200, 60] };
        let all = documents::runs(for_the_page, in_tests);
        let found = |seed: &u64| kind.finds(blocks, (i as u64 + 1) << 32 | seed);
        let found = (0..all).filter(found).count();
        let part = found as f64 / all as f64;
        let name = format!("{} × {}", kind.points, kind.subjects);
        println!("{i}: {name}: {blocks} blocks, {}", percent(part));
        assert!(is_as_said(found as u64, all), "{i}: {found} of {all}");
        found_of_all += found as u64;
        runs_of_all += all;
        rows.push(vec![
            name,
            percent(comparison.scatter.estimate),
            percent(DIFFERENCES[kind.difference]),
            if kind.beyond { "beyond 2 %" } else { "there" }.into(),
            if kind.interim_analyses { "yes" } else { "no" }.into(),
            blocks.to_string(),
            percent(part),
        ]);
    }
    assert!(
        is_as_said(found_of_all, runs_of_all),
        "{found_of_all} of {runs_of_all}"
    );
    let columns = [
        "points × subjects",
        "scatter of a block's ratio",
        "true difference",
        "found to be",
        "interim analyses",
        "blocks for 80 %",
        "runs that find it",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("power", &table);
}

/// Returns true if 75 to 90 % of the runs detect a difference that 80 % should detect. The range
/// allows for chance.
fn is_as_said(found: u64, all: u64) -> bool {
    found <= most_by_chance(all, 0.9) && all - found <= most_by_chance(all, 0.25)
}

/// The range estimated from a pilot of eight blocks contains the value from a long pilot as often
/// as its level claims.
#[test]
fn the_range_of_a_short_pilot_is_valid() {
    let kind = TargetKind {
        world: World {
            process: 0.03,
            ..CALM
        },
        points: 1,
        subjects: 1,
        difference: 2,
        beyond: false,
        interim_analyses: false,
    };
    let truth = kind.blocks(&kind.comparison(0, 400)).unwrap();
    let all = 30;
    let holds = |seed: &u64| {
        let blocks = kind.comparison(*seed, 8).differences[2][0].different;
        blocks.low.is_none_or(|low| low <= truth) && blocks.high.is_none_or(|high| truth <= high)
    };
    let share_held = (1..=all).filter(holds).count() as f64 / all as f64;
    println!(
        "{truth} blocks, within the range in {}",
        percent(share_held)
    );
    // The stated level is 80 %. The tolerance is 2 standard errors of 30 pilots.
    assert!((0.65..=0.95).contains(&share_held), "{share_held}");
}

#[test]
fn one_block_gives_no_forecast_and_the_time_is_that_of_blocks() {
    let world = World {
        ratios: vec![1.0],
        ..CALM
    };
    let mut run = simulator::run(&world, 3, 4);
    let mut simulator = Simulator::new(&world, 3);
    simulator.add_block(&mut run);
    let early = forecast(&run, &run.plan().unwrap().clone());
    assert!(
        matches!(early, Err(NoForecast::TooFewBlocks(1))),
        "{early:?}"
    );
    simulator.add_block(&mut run);
    for (i, block) in run.blocks.iter_mut().enumerate() {
        block.duration_ns = 400_000_000;
        block.started_unix_s = 2.0 + i as f64;
    }
    let forecast = forecast(&run, &run.plan().unwrap().clone()).unwrap();
    assert_eq!(forecast.blocks, 2);
    assert!((forecast.seconds(10) - 6.0).abs() < 1e-9);
    assert_eq!(forecast.comparisons[0].metric, Metric::WALL);
}

impl TargetKind {
    fn world(&self, ratio: f64) -> World {
        let mut ratios = vec![1.0; self.subjects];
        ratios[0] = ratio;
        World {
            ratios,
            sweep: (0..self.points).map(|x| x as f64).collect(),
            ..self.world.clone()
        }
    }

    fn begun(&self, world: &World, seed: u64) -> Run {
        let mut run = simulator::run(world, seed, 4);
        let plan = run.plan_mut().unwrap();
        if !self.interim_analyses {
            plan.measure.interim_analyses.clear();
        }
        // There is no control, because it would raise the margin in one run out of twenty.
        plan.subjects.pop();
        run
    }

    fn forecast(&self, seed: u64, blocks: u32) -> Forecast {
        let world = self.world(1.0);
        let mut run = self.begun(&world, seed);
        let mut simulator = Simulator::new(&world, seed);
        (0..blocks).for_each(|_| simulator.add_block(&mut run));
        forecast(&run, &run.plan().unwrap().clone()).unwrap()
    }

    /// Returns the comparison of the first subject at the first point.
    fn comparison(&self, seed: u64, blocks: u32) -> PlannedComparison {
        let comparisons = self.forecast(seed, blocks).comparisons;
        let first = |p: &&PlannedComparison| {
            p.subject == "s1" && (self.points == 1 || p.point.ends_with("=0"))
        };
        comparisons.iter().find(first).unwrap().clone()
    }

    fn blocks(&self, comparison: &PlannedComparison) -> Option<u32> {
        let needed = comparison.differences[self.difference][0];
        let blocks = if self.beyond {
            needed.beyond
        } else {
            needed.different
        };
        blocks.estimate
    }

    fn finds(&self, blocks: u32, seed: u64) -> bool {
        let world = self.world(1.0 + DIFFERENCES[self.difference]);
        let mut run = self.begun(&world, seed);
        let mut simulator = Simulator::new(&world, seed);
        for block in 1..=blocks {
            simulator.add_block(&mut run);
            if run
                .plan()
                .unwrap()
                .measure
                .interim_analyses
                .contains(&block)
            {
                run.ending = stop(&run);
                if run.ending.is_some() {
                    break;
                }
                run.interim_analyses.push(block);
            }
        }
        run.ending = run.ending.or(Some(Ending::Budget));
        let results = results(&run);
        let comparison = results
            .comparison(SubjectId(1), PointId(0), &Metric::WALL)
            .unwrap();
        if self.beyond {
            comparison.verdict == Some(Verdict::Slower)
        } else {
            comparison.ratio.low > 1.0
        }
    }
}

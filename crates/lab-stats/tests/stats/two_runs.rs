// SPDX-License-Identifier: Apache-2.0
//! Tests two simulated runs of one experiment: counts how often a false change is detected or a
//! true change is missed.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats` writes the values in `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::{CALM, Random, Simulator, World, contradicts, most_by_chance};
use lab_model::{Ending, Run};
use lab_stats::analysis::Verdict;
use lab_stats::between::{Between, Recorded};
use lab_stats::change::change;
use lab_stats::ratio::Level;
use lab_stats::{compare_runs, rank_sum, stop};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The number of simulated pairs of runs of each kind: 1000 to generate the documentation page, 60
/// in ordinary tests.
static PAIRS: LazyLock<u64> = LazyLock::new(|| documents::runs(1000, 60));
/// The allowed fraction of pairs with an error.
const ALPHA: f64 = 0.05;

/// A first and a second run, with their worlds and their maximum numbers of blocks.
///
/// Without interim analyses, the runs use all blocks.
struct Scenario {
    name: &'static str,
    worlds: [World; 2],
    blocks: [u32; 2],
    interim_analyses: bool,
}

#[derive(Default)]
struct Tally {
    contradicted: u64,
    missed: u64,
    changes: u64,
    named: u64,
    equivalent: u64,
}

#[test]
fn unchanged_subjects_are_not_reported_as_changed() {
    let world = |process| World {
        ratios: vec![1.0, 1.03, 1.5],
        process,
        ..CALM
    };
    let (calm, noisy) = (world(0.006), world(0.02));
    let slow = World {
        blocks: (0.3, 0.9),
        ..world(0.02)
    };
    let scenarios = [
        scenario("both calm, 10 blocks each", [&calm, &calm], [10, 10]),
        scenario("both noisy, 10 blocks each", [&noisy, &noisy], [10, 10]),
        scenario("both noisy, 40 blocks each", [&noisy, &noisy], [40, 40]),
        scenario("10 noisy blocks, 40 calm ones", [&noisy, &calm], [10, 40]),
        scenario("40 noisy blocks, 10 calm ones", [&noisy, &calm], [40, 10]),
        scenario(
            "speed wanders from block to block",
            [&slow, &slow],
            [14, 20],
        ),
        looking("both calm, ended by an interim analysis", [&calm, &calm]),
        looking("both noisy, ended by an interim analysis", [&noisy, &noisy]),
        looking(
            "noisy and calm, ended by an interim analysis",
            [&noisy, &calm],
        ),
    ];
    let rows = scenarios.iter().enumerate().map(|(i, scenario)| {
        let tally = scenario.tally(i as u64, 1.0);
        let most = most_by_chance(*PAIRS, ALPHA);
        let name = scenario.name;
        assert!(tally.contradicted <= most, "{name}: {}", tally.contradicted);
        assert!(tally.missed <= most, "{name}: {}", tally.missed);
        tally.row(name, tally.equivalent)
    });
    publish("unchanged", "equivalent", rows.collect());
}

#[test]
fn true_changes_are_found() {
    let before = |process| World {
        ratios: vec![1.0, 1.03, 1.5],
        process,
        ..CALM
    };
    let after = |process| World {
        ratios: before(process).ratios.iter().map(|r| 1.05 * r).collect(),
        ..before(process)
    };
    let worlds = |process| [before(process), after(process)];
    let rows = [("calm", 0.006, 0.99), ("noisy", 0.02, 0.7)]
        .iter()
        .enumerate()
        .map(|(i, (name, process, power))| {
            let [before, after] = worlds(*process);
            let scenario = scenario("", [&before, &after], [20, 20]);
            let tally = scenario.tally(100 + i as u64, 1.05);
            let found = tally.named as f64 / tally.changes as f64;
            let most = most_by_chance(*PAIRS, ALPHA);
            assert!(tally.contradicted <= most, "{name}: {}", tally.contradicted);
            assert!(tally.missed <= most, "{name}: {}", tally.missed);
            assert!(found >= *power, "{name}: found {found}");
            tally.row(
                &format!("5 % more time, {name}, 20 blocks each"),
                tally.named,
            )
        });
    publish("changed", "change named", rows.collect());
}

/// The rank-sum interval alone is not valid, because it assumes that both runs have the same
/// spread.
#[test]
fn runs_with_different_spreads_keep_the_level() {
    let level = Level {
        alpha: ALPHA,
        family: 1,
    };
    const RUNS: u64 = 1000;
    let (mut rank_sum_misses, mut change_misses) = (0, 0);
    for seed in 0..RUNS {
        let mut random = Random(seed);
        let few: Vec<f64> = (0..10).map(|_| 3.0 * random.normal()).collect();
        let many: Vec<f64> = (0..40).map(|_| random.normal()).collect();
        let shift = rank_sum::shift(&few, &many, ALPHA).unwrap().interval;
        rank_sum_misses += u64::from(shift.low > 0.0 || shift.high < 0.0);
        let change = change(&few, &many, level).unwrap().interval;
        change_misses += u64::from(change.low > 1.0 || change.high < 1.0);
    }
    assert!(
        rank_sum_misses > most_by_chance(RUNS, ALPHA),
        "{rank_sum_misses}"
    );
    assert!(
        change_misses <= most_by_chance(RUNS, ALPHA),
        "{change_misses}"
    );
}

fn scenario(name: &'static str, worlds: [&World; 2], blocks: [u32; 2]) -> Scenario {
    Scenario {
        name,
        worlds: worlds.map(Clone::clone),
        blocks,
        interim_analyses: false,
    }
}

fn looking(name: &'static str, worlds: [&World; 2]) -> Scenario {
    Scenario {
        interim_analyses: true,
        ..scenario(name, worlds, [80, 80])
    }
}

impl Scenario {
    fn tally(&self, seed: u64, truth: f64) -> Tally {
        let mut tally = Tally::default();
        for pair in 0..*PAIRS {
            let runs = [0, 1].map(|i| self.run(i, (seed << 32) + 2 * pair + i as u64));
            tally.add(&compared(&runs), truth);
        }
        tally
    }

    fn run(&self, which: usize, seed: u64) -> Run {
        let mut run = simulator::run(&self.worlds[which], seed, 4);
        let mut simulator = Simulator::new(&self.worlds[which], seed);
        while run.ending.is_none() {
            simulator.add_block(&mut run);
            let blocks = run.blocks.len() as u32;
            let stopped = self.interim_analyses.then(|| stop(&run)).flatten();
            run.ending = stopped.or((blocks == self.blocks[which]).then_some(Ending::Budget));
            let interim_analyses = &run.plan().unwrap().measure.interim_analyses;
            if self.interim_analyses && run.ending.is_none() && interim_analyses.contains(&blocks) {
                run.interim_analyses.push(blocks);
            }
        }
        run
    }
}

fn compared(runs: &[Run; 2]) -> Between {
    let hashes = HashMap::new();
    let [first, second] = runs.each_ref().map(|run| Recorded {
        run,
        hashes: &hashes,
    });
    compare_runs(first, second).unwrap()
}

impl Tally {
    fn add(&mut self, between: &Between, truth: f64) {
        let wrong = between
            .judged()
            .any(|c| contradicts(&c.verdict.unwrap(), truth));
        let misses = |low: f64, high: f64| low > truth || high < truth;
        let missed = between
            .judged()
            .any(|c| misses(c.change.low, c.change.high));
        self.contradicted += u64::from(wrong);
        self.missed += u64::from(missed);
        for change in between.judged() {
            let verdict = change.verdict.unwrap();
            self.changes += 1;
            self.named += u64::from(
                !contradicts(&verdict, truth)
                    && !matches!(verdict, Verdict::Equivalent | Verdict::Inconclusive { .. }),
            );
            self.equivalent += u64::from(verdict == Verdict::Equivalent);
        }
    }

    fn row(&self, name: &str, right: u64) -> Vec<String> {
        vec![
            name.to_string(),
            percent(self.contradicted as f64 / *PAIRS as f64),
            percent(self.missed as f64 / *PAIRS as f64),
            percent(right as f64 / self.changes as f64),
        ]
    }
}

fn publish(name: &str, right: &str, rows: Vec<Vec<String>>) {
    let columns = [
        "the two runs",
        "pairs with a false verdict",
        "pairs with an interval that misses",
        right,
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update(name, &table);
}

// SPDX-License-Identifier: Apache-2.0
//! Tests whole simulated runs with their interim analyses: counts how often benchlab names a false
//! winner, misses the truth or finds it.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats` writes the values in `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::figures::{interval, judged};
use crate::simulator::{
    CALM, FIXED, MARGINAL, Simulator, Tails, World, contradicts, most_by_chance,
};
use lab_model::{Ending, Interval, Metric, PointId, Run, SubjectId};
use lab_stats::analysis::Verdict;
use lab_stats::results::{Comparison, Results, results};
use lab_stats::table::BatchTable;
use lab_stats::{order, stop};
use std::sync::LazyLock;

/// The number of simulated runs of each kind: 1000 to generate the documentation page, 60 in
/// ordinary tests.
static RUNS: LazyLock<u64> = LazyLock::new(|| documents::runs(1000, 60));
/// The allowed fraction of runs with an error.
const ALPHA: f64 = 0.05;

/// A simulated world, and the maximum number of blocks of its runs.
struct Scenario {
    name: &'static str,
    world: World,
    budget: u32,
}

/// The results of the runs of a scenario.
#[derive(Default)]
struct Tally {
    /// The number of runs with a verdict that contradicts the truth.
    contradicted: u64,
    /// The number of runs with an interval that misses the truth.
    missed: u64,
    comparisons: u64,
    winners: u64,
    equivalent: u64,
    blocks: Vec<u32>,
    /// The errors of single blocks' log ratios.
    errors: Vec<f64>,
}

#[test]
fn identical_subjects_have_no_winner() {
    let noisy = || World {
        ratios: vec![1.0; 3],
        process: 0.03,
        ..CALM
    };
    let calm = || World {
        ratios: vec![1.0; 3],
        ..CALM
    };
    let scenarios = [
        scenario("calm", calm(), 80),
        scenario("calm, time for 8 blocks", calm(), 8),
        scenario("calm, time for 14 blocks: one interim analysis", calm(), 14),
        scenario("luck of a process", noisy(), 80),
        scenario(
            "speed drifts within blocks",
            World {
                drift: 0.02,
                ..noisy()
            },
            80,
        ),
        scenario(
            "speed wanders from block to block",
            World {
                blocks: (0.3, 0.9),
                ..noisy()
            },
            80,
        ),
        scenario(
            "first turn 10 % slower than last",
            World {
                slot: 0.1,
                ..noisy()
            },
            80,
        ),
        scenario(
            "5 % of batches up to 20 times as long",
            World {
                spikes: (0.05, 20.0),
                ..calm()
            },
            80,
        ),
        scenario(
            "luck with heavy tails (t, 2 degrees)",
            World {
                tails: Tails::Heavy,
                ..noisy()
            },
            80,
        ),
        scenario(
            "partly persistent luck (0.2)",
            World {
                memory: 0.2,
                ..noisy()
            },
            80,
        ),
        scenario(
            "partly persistent luck (0.3)",
            World {
                memory: 0.3,
                ..noisy()
            },
            80,
        ),
    ];
    let rows = scenarios.iter().enumerate().map(|(i, scenario)| {
        let tally = scenario.tally(i as u64);
        assert!(
            tally.contradicted <= most_by_chance(*RUNS, ALPHA),
            "{}: {}",
            scenario.name,
            tally.contradicted
        );
        assert!(
            tally.missed <= most_by_chance(*RUNS, ALPHA),
            "{}: {}",
            scenario.name,
            tally.missed
        );
        tally.row(scenario.name, tally.equivalent)
    });
    publish("identical", "equivalent", rows.collect());
}

#[test]
fn true_differences_are_found() {
    let slower = |ratio: f64, process| World {
        ratios: vec![ratio; 3],
        process,
        ..CALM
    };
    let scenarios = [
        (
            scenario(
                "5 % slower, calm, time for 8 blocks",
                slower(1.05, 0.006),
                8,
            ),
            0.9,
        ),
        (scenario("5 % slower, calm", slower(1.05, 0.006), 80), 0.99),
        (
            scenario("5 % slower, some luck", slower(1.05, 0.021), 80),
            0.99,
        ),
        (
            scenario("5 % slower, more luck", slower(1.05, 0.042), 80),
            0.95,
        ),
        (
            scenario("5 % slower, much luck", slower(1.05, 0.08), 80),
            0.7,
        ),
        (scenario("2 % slower, calm", slower(1.02, 0.006), 80), 0.99),
        (
            scenario("half the time, much luck", slower(0.5, 0.08), 80),
            0.99,
        ),
    ];
    let rows = scenarios.iter().enumerate().map(|(i, (scenario, power))| {
        let tally = scenario.tally(100 + i as u64);
        let found = tally.winners as f64 / tally.comparisons as f64;
        assert!(
            tally.contradicted <= most_by_chance(*RUNS, ALPHA),
            "{}: {}",
            scenario.name,
            tally.contradicted
        );
        assert!(
            tally.missed <= most_by_chance(*RUNS, ALPHA),
            "{}: {}",
            scenario.name,
            tally.missed
        );
        assert!(found >= *power, "{}: found {found}", scenario.name);
        tally.row(scenario.name, tally.winners)
    });
    publish("different", "winner named", rows.collect());
}

/// Effects of processes that persist from block to block are a limitation of the method: no
/// randomization would break such a dependence, and ten blocks cannot reveal it.
///
/// The values are published, and the test only prevents them from growing.
#[test]
fn persistent_process_effects_are_a_limitation() {
    let world = |memory| World {
        ratios: vec![1.0; 3],
        process: 0.03,
        memory,
        ..CALM
    };
    let scenarios = [
        scenario("half-persistent luck (0.5)", world(0.5), 80),
        scenario("mostly persistent luck (0.7)", world(0.7), 80),
    ];
    let rows = scenarios.iter().enumerate().map(|(i, scenario)| {
        let tally = scenario.tally(200 + i as u64);
        assert!(
            tally.contradicted <= most_by_chance(*RUNS, 0.15),
            "{}: {}",
            scenario.name,
            tally.contradicted
        );
        tally.row(scenario.name, tally.equivalent)
    });
    publish("limit", "equivalent", rows.collect());
}

/// The intervals of levels, fits and overall ratios contain the truth as often as their confidence
/// levels claim.
#[test]
fn derived_intervals_cover_the_truth() {
    let sweep = vec![1.0, 10.0, 100.0, 500.0, 1000.0];
    let world = World {
        ratios: vec![1.05],
        sweep,
        blocks: (0.15, 0.0),
        ..CALM
    };
    let mut rows = Vec::new();
    for blocks in [6u64, 8, 12, 24] {
        let mut covered = [Covered::default(); 4];
        for seed in 0..*RUNS {
            let mut run = simulator::run(&world, seed, 4);
            let mut simulator = Simulator::new(&world, (blocks << 32) + seed);
            (0..blocks).for_each(|_| simulator.add_block(&mut run));
            cover(&results(&run), &mut covered);
        }
        let mut row = vec![blocks.to_string()];
        for (name, covered) in ["level", "fixed", "marginal", "overall"]
            .iter()
            .zip(covered)
        {
            let missed = covered.of - covered.hits;
            assert!(
                missed <= most_by_chance(covered.of, ALPHA),
                "{name}, {blocks} blocks: {missed}"
            );
            row.push(percent(covered.hits as f64 / covered.of as f64));
        }
        rows.push(row);
    }
    let columns = [
        "blocks",
        "level",
        "fixed cost",
        "marginal cost",
        "overall ratio",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("derived", &table);
}

fn scenario(name: &'static str, world: World, budget: u32) -> Scenario {
    Scenario {
        name,
        world,
        budget,
    }
}

impl Scenario {
    fn tally(&self, seed: u64) -> Tally {
        let mut tally = Tally::default();
        for run in 0..*RUNS {
            let run = self.run((seed << 32) + run);
            tally.add(&results(&run), &self.world.ratios);
            tally.add_errors(&run, self.world.ratios[0]);
        }
        tally
    }

    /// Simulates one run with the stopping rules of the measuring loop.
    fn run(&self, seed: u64) -> Run {
        let mut run = simulator::run(&self.world, seed, 8);
        let mut simulator = Simulator::new(&self.world, seed);
        while run.ending.is_none() {
            simulator.add_block(&mut run);
            let blocks = run.blocks.len() as u32;
            run.ending = stop(&run).or((blocks == self.budget).then_some(Ending::Budget));
            if run.ending.is_none()
                && run
                    .plan()
                    .unwrap()
                    .measure
                    .interim_analyses
                    .contains(&blocks)
            {
                run.interim_analyses.push(blocks);
            }
        }
        run
    }
}

impl Tally {
    fn add(&mut self, results: &Results, ratios: &[f64]) {
        let truth = |c: &Comparison| ratios[c.key.subject.index() - 1];
        let comparisons = judged(results);
        let false_verdict = |(c, verdict): &(&Comparison, _)| contradicts(verdict, truth(c));
        let misses = |(c, _): &(&Comparison, _)| !contains(&c.ratio, truth(c));
        self.contradicted += u64::from(comparisons.iter().any(false_verdict));
        self.missed += u64::from(comparisons.iter().any(misses));
        self.blocks.push(results.blocks);
        for (c, verdict) in comparisons {
            self.comparisons += 1;
            self.winners += u64::from(names_winner(&verdict) && !contradicts(&verdict, truth(c)));
            self.equivalent += u64::from(verdict == Verdict::Equivalent);
        }
    }

    fn add_errors(&mut self, run: &Run, ratio: f64) {
        let table = BatchTable::new(run, run.plan().unwrap());
        let logs = table.log_ratios(SubjectId(1), SubjectId(0), PointId(0));
        self.errors
            .extend(logs.into_iter().flatten().map(|log| log - ratio.ln()));
    }

    /// Returns the standard deviation of a normal distribution that has the same median error as
    /// the blocks.
    fn scatter(&self) -> f64 {
        let sizes: Vec<f64> = self.errors.iter().map(|error| error.abs()).collect();
        order::median(&sizes).unwrap() / 0.6745
    }

    fn row(&self, name: &str, right: u64) -> Vec<String> {
        let mut blocks = self.blocks.clone();
        blocks.sort_unstable();
        let runs = self.blocks.len() as f64;
        vec![
            name.to_string(),
            percent(self.scatter()),
            percent(self.contradicted as f64 / runs),
            percent(self.missed as f64 / runs),
            percent(right as f64 / self.comparisons as f64),
            blocks[blocks.len() / 2].to_string(),
        ]
    }
}

fn names_winner(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::Equivalent | Verdict::Inconclusive { .. })
}

fn contains(interval: &Interval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

#[derive(Clone, Copy, Default)]
struct Covered {
    hits: u64,
    of: u64,
}

impl Covered {
    fn add(&mut self, interval: &Interval, truth: f64) {
        self.of += 1;
        self.hits += u64::from(contains(interval, truth));
    }
}

fn cover(results: &Results, covered: &mut [Covered; 4]) {
    // Only one subject is checked, because the others share its random effects and its machine.
    let ratio = 1.05;
    let wall = interval(results, SubjectId(1), PointId(2), &Metric::WALL);
    covered[0].add(&wall, ratio * (FIXED + 100.0 * MARGINAL));
    let fit = results
        .fits
        .iter()
        .find(|fit| fit.subject == SubjectId(1))
        .unwrap();
    covered[1].add(&fit.fixed_ns, ratio * FIXED);
    covered[2].add(&fit.marginal_ns, ratio * MARGINAL);
    covered[3].add(&results.overall[0].ratio, ratio);
}

fn publish(name: &str, right: &str, rows: Vec<Vec<String>>) {
    let columns = [
        "world",
        "scatter of a block's ratio",
        "runs with a false verdict",
        "runs with an interval that misses",
        right,
        "blocks (median)",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update(name, &table);
}

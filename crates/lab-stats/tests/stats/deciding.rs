// SPDX-License-Identifier: Apache-2.0
//! Tests the forecasts of reports: counts how often new runs with the proposed number of blocks
//! resolve all comparisons or half of them.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats deciding::` writes the tables in
//! `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::{CALM, Random, most_by_chance};
use lab_model::{Plan, SubjectId};
use lab_stats::deciding::{Deciding, deciding_of};
use lab_stats::order;
use lab_stats::outlook::{Certainty, Open, Outlook, SAME_ALPHA};
use lab_stats::ratio::Ratio;
use lab_stats::sign_flip::{Logs, together};
use lab_stats::spending;
use lab_stats::verdict::{Margin, decided, open};

const MARGIN: f64 = 0.02;

/// The distribution of the blocks of a process.
#[derive(Clone, Copy)]
enum Tails {
    Normal,
    /// Student's t with 2 degrees of freedom.
    Heavy,
    /// One block in 20 is longer by 8 standard deviations.
    Contaminated,
}

/// Comparisons with known true ratios and spreads.
#[derive(Clone)]
struct World {
    name: &'static str,
    /// The logarithm of each ratio and the standard deviation of its blocks' logarithms, by point,
    /// then subject.
    truths: Vec<(f64, f64)>,
    /// The number of subjects that are compared with a baseline at each point.
    subjects: usize,
    tails: Tails,
    /// The number of databases, each of which uses a fraction of alpha.
    targets: usize,
}

impl World {
    fn new(name: &'static str, ratios: &[f64], points: usize, tails: Tails) -> World {
        let scatter = 0.03 * 2f64.sqrt();
        let each = ratios.iter().map(|ratio| (ratio.ln(), scatter));
        World {
            name,
            truths: each.cycle().take(points * ratios.len()).collect(),
            subjects: ratios.len(),
            tails,
            targets: 1,
        }
    }

    /// Multiplies all standard deviations by `scatter`.
    fn times(mut self, scatter: f64) -> World {
        self.truths
            .iter_mut()
            .for_each(|(_, each)| *each *= scatter);
        self
    }

    /// A world like an experiment with three databases.
    ///
    /// Two of the seven subjects are compiled and close to the baseline.
    fn like_sql() -> World {
        let mut random = Random(7);
        let mut truth = |subject: usize| match subject {
            0 | 1 => (0.01 * random.normal(), 0.014),
            _ => (
                0.2 + 0.3 * random.normal(),
                0.036 * (0.5 * random.normal()).exp(),
            ),
        };
        World {
            name: "77 like those of `run sql`",
            truths: (0..77).map(|i| truth(i % 7)).collect(),
            subjects: 7,
            tails: Tails::Normal,
            targets: 3,
        }
    }

    /// Simulates a run with `blocks` blocks.
    ///
    /// The random effect is drawn for each process at each point.
    fn blocks(&self, random: &mut Random, blocks: usize) -> Vec<Logs> {
        let mut luck = |n: usize| -> Vec<f64> { (0..n).map(|_| self.luck(random)).collect() };
        let mut all = Vec::new();
        for point in self.truths.chunks(self.subjects) {
            let base = luck(blocks);
            for (subject, (truth, scatter)) in (0..).map(SubjectId).zip(point) {
                let each = scatter / 2f64.sqrt();
                let logs = luck(blocks).into_iter().zip(&base);
                let logs = logs.map(|(own, base)| Some(truth + each * (own - base)));
                all.push(Logs::of_subject(subject, logs.collect()));
            }
        }
        all
    }

    fn luck(&self, random: &mut Random) -> f64 {
        let z = random.normal();
        match self.tails {
            Tails::Normal => z,
            Tails::Heavy => z / (-random.uniform().ln()).sqrt().max(1e-9),
            Tails::Contaminated if random.uniform() < 0.05 => z + 8.0,
            Tails::Contaminated => z,
        }
    }

    fn ratios(&self, logs: &[Logs], blocks: usize, alpha: f64, seed: u64) -> Vec<Ratio> {
        let cut = |logs: &Logs| Logs {
            by_block: logs.by_block[..blocks].to_vec(),
            ..logs.clone()
        };
        let logs: Vec<Logs> = logs.iter().map(cut).collect();
        let found = together(&logs, alpha / self.targets as f64, seed);
        found.into_iter().flatten().collect()
    }

    /// Returns the number of comparisons that a run of `blocks` blocks leaves inconclusive, with
    /// the interim analyses of `plan`.
    fn open_after(&self, plan: &Plan, blocks: usize, seed: u64) -> usize {
        let logs = self.blocks(&mut Random(seed), blocks);
        let open = |blocks: usize, alpha: f64| {
            let ratios = self.ratios(&logs, blocks, alpha, seed);
            ratios
                .iter()
                .filter(|r| decided(r, Margin::plain(MARGIN)).is_none())
                .count()
        };
        let interim_analyses = plan.measure.interim_analyses.iter().copied();
        let mut spent = 0.0;
        for analysis in
            interim_analyses.filter(|analysis| blocks <= 80 && (*analysis as usize) < blocks)
        {
            let until = spending::spent(plan, analysis);
            if open(analysis as usize, plan.measure.alpha * (until - spent)) == 0 {
                return 0;
            }
            spent = until;
        }
        open(blocks, spending::alpha_at(plan, blocks as u32))
    }
}

/// Counts of forecasts by kind, and of the new runs that agree with them.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// The number of runs whose forecast proposes a number of blocks.
    forecasts: u32,
    /// The number of forecasts whose proposed number of blocks sufficed for a new run.
    held: u32,
    /// The number of forecasts for which half of the proposed number of blocks sufficed.
    held_by_half: u32,
    /// The proposed numbers of blocks.
    named: Vec<f64>,
    /// The number of runs with too few blocks for a forecast.
    too_few: u32,
    perhaps: u32,
    hardly: u32,
    /// The number of wrong forecasts that comparisons are hardly resolvable: a new run with the
    /// maximum number of blocks resolved at least half of the comparisons.
    hardly_decided: u32,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.forecasts += other.forecasts;
        self.held += other.held;
        self.held_by_half += other.held_by_half;
        self.named.extend(&other.named);
        self.too_few += other.too_few;
        self.perhaps += other.perhaps;
        self.hardly += other.hardly;
        self.hardly_decided += other.hardly_decided;
    }

    fn row(&self, name: &str, comparisons: &str, blocks: &str) -> Vec<String> {
        let fraction = |n: u32| match self.forecasts {
            0 => String::new(),
            all => percent(f64::from(n) / f64::from(all)),
        };
        let hardly = match self.hardly {
            0 => "0".to_string(),
            hardly => format!("{hardly} ({})", self.hardly_decided),
        };
        vec![
            name.to_string(),
            comparisons.to_string(),
            blocks.to_string(),
            self.forecasts.to_string(),
            order::median(&self.named).map_or(String::new(), |n| format!("{n:.0}")),
            fraction(self.held),
            fraction(self.held_by_half),
            self.too_few.to_string(),
            self.perhaps.to_string(),
            hardly,
        ]
    }
}

fn forecast(world: &World, plan: &Plan, blocks: u32, runs: u64) -> Tally {
    let mut tally = Tally::default();
    let relative_alpha = |n: u32| spending::alpha_at(plan, n) / plan.measure.alpha;
    for seed in 0..runs {
        let seed = u64::from(blocks) << 32 | seed;
        let logs = world.blocks(&mut Random(seed), blocks as usize);
        let ratios = world.ratios(&logs, blocks as usize, plan.measure.alpha, seed);
        let margin = Margin::plain(MARGIN);
        let is_open = |r: &&Ratio| decided(r, margin).is_none();
        let left: Vec<Open> = ratios
            .iter()
            .filter(is_open)
            .map(|r| open(r, margin))
            .collect();
        let each: Vec<Option<&Open>> = left.iter().map(Some).collect();
        let outlook = Outlook::new(&relative_alpha);
        let Some(by) = deciding_of(&each, &outlook, blocks, plan.measure.max_blocks) else {
            continue;
        };
        let open_after =
            |blocks: u32| world.open_after(plan, blocks.max(2) as usize, seed | 1 << 60);
        let (named, max_open) = match by {
            Deciding::All(named) => (named, 0),
            Deciding::Half(named) => (named, left.len() / 2),
            Deciding::TooFew(_) => {
                tally.too_few += 1;
                continue;
            }
            Deciding::Perhaps(_) => {
                tally.perhaps += 1;
                continue;
            }
            Deciding::Hardly(most) => {
                tally.hardly += 1;
                tally.hardly_decided += u32::from(open_after(most) <= left.len() / 2);
                continue;
            }
        };
        tally.forecasts += 1;
        tally.named.push(f64::from(named));
        tally.held += u32::from(open_after(named) <= max_open);
        tally.held_by_half += u32::from(open_after(named / 2) <= max_open);
    }
    tally
}

#[test]
fn proposed_blocks_probably_resolve_the_comparisons() {
    let run = simulator::run(&CALM, 1, 8);
    let plan = run.plan().unwrap().clone();
    let three = [1.0, 1.04, 1.1];
    let (equal, slower) = ([1.0], [1.04]);
    let noisy = World::new("equal, a scatter of 25 %", &equal, 1, Tails::Normal).times(6.0);
    let kinds = [
        (World::new("equal", &equal, 1, Tails::Normal), 100, 20),
        (World::new("4 % slower", &slower, 1, Tails::Normal), 100, 20),
        (
            World::new("equal, heavy tails", &equal, 1, Tails::Heavy),
            100,
            10,
        ),
        (
            World::new("4 % slower, heavy tails", &slower, 1, Tails::Heavy),
            100,
            10,
        ),
        (
            World::new("equal, outlying blocks", &equal, 1, Tails::Contaminated),
            100,
            10,
        ),
        (
            World::new(
                "4 % slower, outlying blocks",
                &slower,
                1,
                Tails::Contaminated,
            ),
            100,
            10,
        ),
        (noisy, 100, 20),
        (
            World::new("equal, 4 and 10 % slower", &three, 1, Tails::Normal),
            50,
            10,
        ),
        (
            World::new("equal, 4 and 10 % slower", &three, 3, Tails::Normal),
            30,
            5,
        ),
        (
            World::new("the same, outlying blocks", &three, 3, Tails::Contaminated),
            30,
            5,
        ),
        (World::like_sql(), 12, 1),
    ];
    let mut rows = Vec::new();
    let mut pooled = [Tally::default(), Tally::default()];
    for (world, for_the_page, in_tests) in kinds {
        for blocks in [4, 5, 10, 12] {
            let runs = documents::runs(for_the_page, in_tests);
            let tally = forecast(&world, &plan, blocks, runs);
            // Few of the noisiest comparisons are resolved. Their forecasts come from blocks that
            // happened to vary little.
            if !world.name.contains("25 %") {
                pooled[usize::from(world.truths.len() > 1)].add(&tally);
            }
            rows.push(tally.row(
                world.name,
                &world.truths.len().to_string(),
                &blocks.to_string(),
            ));
        }
    }
    let [one, family] = pooled;
    rows.push(one.row("all of these but the last", "1", ""));
    rows.push(family.row("all of these", "more than one", ""));
    let columns = [
        "subjects",
        "comparisons",
        "blocks",
        "forecasts",
        "blocks named (median)",
        "decided by them",
        "by half of them",
        "no forecast yet",
        "perhaps",
        "hardly (of these decided)",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("deciding", &table);
    for (tally, name) in [(&one, "one comparison"), (&family, "several")] {
        let (all, held, by_half) = (
            tally.forecasts as u64,
            tally.held as u64,
            tally.held_by_half as u64,
        );
        assert!(
            all - held <= most_by_chance(all, 0.2),
            "{name}: {held} of {all} held"
        );
        assert!(
            all - by_half >= all - most_by_chance(all, 0.6),
            "{name}: {by_half} of {all} by half"
        );
    }
}

/// The bound of the interval lies at the edge of a margin that the control raised.
#[test]
fn few_blocks_do_not_predict_that_more_would_hardly_help() {
    let open = Open {
        estimate: 0.0198,
        certainty: Certainty {
            error: 0.001,
            freedom: 99.0,
            borrowed: 0.0,
            family: 300,
            alpha: 0.05,
        },
        values: (100, 1),
        least: 1,
        difference: -0.0202..0.0198,
        equivalence: -0.0202..0.0198,
    };
    let outlook = Outlook::new(SAME_ALPHA);
    let by = |blocks| deciding_of(&[Some(&open)], &outlook, blocks, 80);
    assert_eq!(by(12), Some(Deciding::Hardly(200)));
    assert_eq!(by(11), Some(Deciding::TooFew(12)));
    assert_eq!(deciding_of(&[], &outlook, 12, 80), None);
    // Half of two comparisons are resolved if one is clear after a few more blocks.
    let plain = Open {
        estimate: 0.05,
        certainty: Certainty {
            error: 0.005,
            ..open.certainty
        },
        ..open.clone()
    };
    let some = deciding_of(&[Some(&open), Some(&plain)], &outlook, 12, 80);
    assert!(matches!(some, Some(Deciding::Half(_))), "{some:?}");
}

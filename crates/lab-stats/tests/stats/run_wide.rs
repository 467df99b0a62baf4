// SPDX-License-Identifier: Apache-2.0
//! Tests how often whole runs make false statements.
//!
//! With equal subjects at many points, the tests count the runs with any false verdict, mean over
//! points or ranking. They also determine the number of blocks needed to detect one true difference
//! among many comparisons. `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats
//! run_wide::` writes the tables in `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::figures::judged;
use crate::simulator::{CALM, Random, Simulator, Tails, World, contradicts, most_by_chance};
use lab_model::{CaseId, IdVec, SubjectId};
use lab_stats::few_blocks::Scatter;
use lab_stats::order;
use lab_stats::ratio::{Level, ratio};
use lab_stats::results::{Results, results};
use lab_stats::sign_flip::{Logs, together};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const ALPHA: f64 = 0.05;

/// For each shape of a run: the number of points, the number of subjects, and the numbers of runs
/// with few blocks to simulate for the documentation page and in ordinary tests.
const SHAPES: [(usize, usize, [u64; 2]); 8] = [
    (1, 1, [2000, 60]),
    (1, 2, [2000, 60]),
    (1, 8, [1000, 40]),
    (2, 1, [2000, 60]),
    (3, 3, [1000, 20]),
    (20, 3, [100, 3]),
    (15, 8, [50, 0]),
    (40, 8, [10, 0]),
];

const FEW_BLOCKS: [u32; 3] = [3, 4, 5];

/// Returns the simulated worlds. Each has the name of the distribution of its process effects, and
/// a description of how often an effect is drawn.
fn worlds() -> Vec<(&'static str, &'static str, World)> {
    let calm = World {
        process: 0.02 / 2.0_f64.sqrt(),
        batch: 0.005,
        ..CALM
    };
    let mut all = Vec::new();
    for (name, tails, wild) in [
        ("alike", Tails::Normal, 1.0),
        ("every third × 8", Tails::Normal, 8.0),
        ("heavy tails", Tails::Heavy, 1.0),
        ("outlying", Tails::Outlying, 1.0),
        ("skewed, every third × 3", Tails::Skewed, 3.0),
    ] {
        for (drawn, luck_at_each_point) in [("once", false), ("at each point", true)] {
            let world = World {
                tails,
                wild,
                luck_at_each_point,
                ..calm.clone()
            };
            all.push((name, drawn, world));
        }
    }
    all
}

#[test]
fn runs_of_few_blocks_say_nothing_false() {
    let mut rows = Vec::new();
    for (points, subjects, [for_the_page, in_tests]) in SHAPES {
        let all = documents::runs(for_the_page, in_tests);
        for (kind, (name, drawn, world)) in worlds().into_iter().enumerate() {
            let is_like_the_last = points == 1 && !world.luck_at_each_point;
            if all == 0 || is_like_the_last {
                continue;
            }
            let world = of_shape(&world, points, subjects);
            let truths = Truths::new(&world);
            let cells = FEW_BLOCKS.map(|blocks| {
                let [wrong, missed] = wrong_and_missed(&world, &truths, blocks, all, kind as u64);
                let [wrong, missed] = [wrong, missed].map(|n| 100.0 * n as f64 / all as f64);
                format!("{wrong:.1} ({missed:.1})")
            });
            let drawn = if points == 1 { "" } else { drawn };
            let row = [
                format!("{points} × {subjects}"),
                all.to_string(),
                name.into(),
                drawn.into(),
            ];
            rows.push(row.into_iter().chain(cells).collect());
            println!("{:?}", rows[rows.len() - 1]);
            // The simulation takes a long time, so finished rows are written early.
            update_few_blocks(&rows);
        }
    }
}

fn update_few_blocks(rows: &[Vec<String>]) {
    let blocks = FEW_BLOCKS.map(|blocks| format!("{blocks} blocks"));
    let first = ["points × subjects", "runs", "scatter", "luck is drawn"].into_iter();
    let columns: Vec<&str> = first.chain(blocks.iter().map(String::as_str)).collect();
    documents::update("few-blocks", &documents::table(&columns, rows));
}

fn of_shape(world: &World, points: usize, subjects: usize) -> World {
    World {
        ratios: vec![1.0; subjects],
        sweep: (0..points).map(|x| x as f64).collect(),
        ..world.clone()
    }
}

/// Counts the false statements in runs with six or more blocks.
#[test]
fn runs_of_equal_subjects_say_nothing_false() {
    let noisy = World {
        process: 0.03,
        ..CALM
    };
    let heavy = World {
        tails: Tails::Heavy,
        ..noisy.clone()
    };
    let mut rows = Vec::new();
    for (i, (name, world, points, subjects, blocks)) in [
        ("calm", &CALM, 20, 3, 12),
        ("luck of a process", &noisy, 20, 3, 12),
        ("luck with heavy tails", &heavy, 20, 3, 12),
        ("luck of a process", &noisy, 40, 8, 12),
        ("luck of a process", &noisy, 20, 3, 24),
        ("luck of a process", &noisy, 20, 3, 6),
    ]
    .into_iter()
    .enumerate()
    {
        let all = documents::runs(1000, if points > 20 { 5 } else { 15 });
        let world = of_shape(world, points, subjects);
        let truths = Truths::new(&world);
        let counts = wrong_and_missed(&world, &truths, blocks, all, 1 + i as u64);
        println!("{name}: {counts:?} of {all}");
        let [wrong, missed] = counts.map(|n| percent(n as f64 / all as f64));
        rows.push(vec![
            name.to_string(),
            format!("{points} × {subjects}"),
            blocks.to_string(),
            wrong,
            missed,
        ]);
    }
    let columns = [
        "world",
        "points × subjects",
        "blocks",
        "runs that say something false",
        "runs with an interval that misses",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("run-wide", &table);
}

/// Returns the number of runs with a false statement, and the number of runs in which an interval
/// misses the truth.
fn wrong_and_missed(world: &World, truths: &Truths, blocks: u32, all: u64, kind: u64) -> [u64; 2] {
    let wrong = AtomicU64::new(0);
    let missed = AtomicU64::new(0);
    let threads = 4;
    thread::scope(|scope| {
        for first in 0..threads {
            let (wrong, missed) = (&wrong, &missed);
            scope.spawn(move || {
                for seed in (first..all).step_by(threads as usize) {
                    let size = (world.sweep.len() as u64) << 40;
                    let seed = kind << 48 | size | u64::from(blocks) << 32 | seed;
                    let results = simulated(world, blocks, seed);
                    wrong.fetch_add(truths.contradict(&results).into(), Ordering::Relaxed);
                    missed.fetch_add(truths.are_missed(&results).into(), Ordering::Relaxed);
                }
            });
        }
    });
    let counts = [wrong, missed].map(AtomicU64::into_inner);
    let shape = format!("{} × {}", world.sweep.len(), world.ratios.len());
    for count in counts {
        assert!(
            count <= most_by_chance(all, ALPHA),
            "{shape}, {blocks} blocks, kind {kind}: {counts:?} of {all}"
        );
    }
    counts
}

fn simulated(world: &World, blocks: u32, seed: u64) -> Results {
    let mut run = simulator::run(world, seed, 4);
    // The points are independent of each other. Lines through them are not simulated here.
    let plan = run.plan_mut().unwrap();
    plan.cases[CaseId(0)].sweep = None;
    plan.points.iter_mut().for_each(|point| point.x = None);
    let mut simulator = Simulator::new(world, seed);
    (0..blocks).for_each(|_| simulator.add_block(&mut run));
    results(&run)
}

/// The true ratios of a world: the exponentials of the medians of the blocks' log ratios.
struct Truths {
    /// The ratios by subject, starting with the baseline.
    at_points: Vec<f64>,
    /// The ratio of each subject to each other subject over all points.
    overall: Vec<Vec<f64>>,
}

impl Truths {
    fn new(world: &World) -> Truths {
        let subjects = world.ratios.len() + 1;
        if world.tails != Tails::Skewed {
            return Truths {
                at_points: vec![1.0; subjects],
                overall: vec![vec![1.0; subjects]; subjects],
            };
        }
        let mut random = Random(5);
        let mut at_points = vec![Vec::new(); subjects];
        let mut overall = vec![Vec::new(); subjects * subjects];
        for _ in 0..20_000 {
            let effects = world.process_effects(&mut random);
            let points = effects.chunks(subjects + 1);
            let count = points.len() as f64;
            let mean = |s: usize| points.clone().map(|point| point[s]).sum::<f64>() / count;
            let means: Vec<f64> = (0..subjects).map(mean).collect();
            for a in 0..subjects {
                at_points[a].push(effects[a] - effects[0]);
                for b in 0..subjects {
                    overall[a * subjects + b].push(means[a] - means[b]);
                }
            }
        }
        let median = |logs: &Vec<f64>| order::median(logs).unwrap().exp();
        let medians: Vec<f64> = overall.iter().map(median).collect();
        Truths {
            at_points: at_points.iter().map(median).collect(),
            overall: medians.chunks(subjects).map(<[f64]>::to_vec).collect(),
        }
    }

    /// Returns true if a verdict at a point, a verdict over all points or a ranking contradicts the
    /// truth.
    fn contradict(&self, results: &Results) -> bool {
        let at_points = judged(results).into_iter();
        let at_points =
            at_points.map(|(c, verdict)| (verdict, self.at_points[c.key.subject.index()]));
        let overall = results.overall.iter();
        let overall =
            overall.filter_map(|o| Some((o.verdict?, self.overall[o.subject.index()][0])));
        let mut verdicts = at_points.chain(overall);
        let mut apart = results.rankings.iter().flat_map(|r| &r.apart);
        verdicts.any(|(verdict, truth)| contradicts(&verdict, truth))
            || apart.any(|&(ahead, behind)| self.overall[ahead.index()][behind.index()] > 0.999)
    }

    fn are_missed(&self, results: &Results) -> bool {
        let at_points = judged(results).into_iter();
        let at_points = at_points.map(|(c, _)| (c.ratio, self.at_points[c.key.subject.index()]));
        let overall = results.overall.iter();
        let overall = overall.map(|o| (o.ratio, self.overall[o.subject.index()][0]));
        at_points
            .chain(overall)
            .any(|(r, truth)| r.low > truth || r.high < truth)
    }
}

/// The blocks of the subjects are skewed to one side. Every third subject is skewed three times as
/// much.
///
/// The baseline is not skewed.
///
/// The mean and the median of these blocks differ. The test shows which of the two the intervals
/// contain.
#[test]
fn intervals_of_skewed_blocks_contain_the_median() {
    let mut rows = Vec::new();
    for (points, blocks, for_the_page) in [(1, 4, 2000), (1, 12, 2000), (20, 4, 400), (20, 12, 200)]
    {
        let all = documents::runs(for_the_page, if points > 1 { 10 } else { 200 });
        let scales = [0.02, 0.02, 0.06];
        let medians = scales.map(median_of_skewed);
        let (mut of_mean, mut of_median, mut of_both) = (0, 0, 0);
        for seed in 0..all {
            let mut random = Random(seed << 8 | blocks as u64);
            let logs: Vec<Logs> = (0..points)
                .flat_map(|_| skewed(&scales, blocks, &mut random))
                .collect();
            let found = together(&logs, ALPHA, seed);
            let misses = |truth: &dyn Fn(usize) -> [f64; 2]| {
                let missed = found.iter().enumerate().filter(|(i, found)| {
                    let [low, high] = truth(i % scales.len());
                    let interval = found.unwrap().interval;
                    interval.low.ln() > high || interval.high.ln() < low
                });
                u64::from(missed.count() > 0)
            };
            let mean = |i: usize| scales[i] * MEAN_OF_SKEWED;
            let median = |i: usize| medians[i];
            of_mean += misses(&|i| [mean(i); 2]);
            of_median += misses(&|i| [median(i); 2]);
            of_both += misses(&|i| [mean(i).min(median(i)), mean(i).max(median(i))]);
        }
        println!("{points} x 3, {blocks}: {of_mean} {of_median} {of_both} of {all}");
        for missed in [of_median, of_both] {
            assert!(missed <= most_by_chance(all, ALPHA), "{missed} of {all}");
        }
        let fraction = |n: u64| percent(n as f64 / all as f64);
        rows.push(vec![
            format!("{points} × 3"),
            blocks.to_string(),
            fraction(of_mean),
            fraction(of_median),
            fraction(of_both),
        ]);
    }
    let columns = [
        "points × subjects",
        "blocks",
        "an interval misses the mean",
        "the median",
        "both",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("skewed", &table);
}

/// The skew: the standard deviation of the logarithm of a lognormal value.
const SKEW: f64 = 0.3;

/// The mean of a skewed value of scale 1, (exp(SKEW² / 2) - 1) / SKEW. Its median is 0.
const MEAN_OF_SKEWED: f64 = 0.153_425;

/// Returns the log ratios of one subject for each scale, at one point.
fn skewed(scales: &[f64], blocks: usize, random: &mut Random) -> Vec<Logs> {
    let base: Vec<f64> = (0..blocks).map(|_| 0.02 * random.normal()).collect();
    let of_scale = |(subject, scale): (SubjectId, &f64)| {
        let logs = base.iter().map(|b| Some(skewed_value(*scale, random) - b));
        Logs::of_subject(subject, logs.collect())
    };
    (0..).map(SubjectId).zip(scales).map(of_scale).collect()
}

fn skewed_value(scale: f64, random: &mut Random) -> f64 {
    scale * ((SKEW * random.normal()).exp() - 1.0) / SKEW
}

/// Returns the median of a block's logarithm, computed from many blocks.
fn median_of_skewed(scale: f64) -> f64 {
    let mut random = Random(5);
    let values = (0..200_000).map(|_| skewed_value(scale, &mut random) - 0.02 * random.normal());
    order::median(&values.collect::<Vec<f64>>()).unwrap()
}

/// Only one subject at one point differs from the baseline in the whole run.
#[test]
fn one_true_difference_is_found_as_by_bonferroni() {
    let mut rows = Vec::new();
    for (points, subjects, blocks, scatter) in [
        (20, 3, 12, 0.02),
        (20, 3, 12, 0.03),
        (40, 8, 12, 0.02),
        (40, 8, 20, 0.03),
        (20, 3, 24, 0.05),
    ] {
        let all = documents::runs(1000, 10);
        let (mut flips, mut bonferroni) = (0, 0);
        for seed in 0..all {
            let logs = family(points, subjects, blocks, (scatter, 1.0), (1.05, seed));
            let all_asked = with_overall(&logs, subjects);
            let found = together(&all_asked, ALPHA, seed)[0].unwrap();
            flips += u64::from(found.interval.low > 1.0);
            let level = Level {
                alpha: ALPHA,
                family: logs.len(),
            };
            let first: Vec<f64> = logs[0].by_block.iter().flatten().copied().collect();
            let single = ratio(&first, level).unwrap();
            bonferroni += u64::from(!single.assumed && single.interval.low > 1.0);
        }
        let fraction = |n: u64| percent(n as f64 / all as f64);
        println!(
            "{points} x {subjects}, {blocks} blocks, {scatter}: {flips} {bonferroni} of {all}"
        );
        rows.push(vec![
            format!("{points} × {subjects}"),
            blocks.to_string(),
            percent(scatter),
            fraction(flips),
            fraction(bonferroni),
        ]);
    }
    let columns = [
        "points × subjects",
        "blocks",
        "scatter of a block's ratio",
        "found",
        "found by Bonferroni's intervals over the run",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("run-wide-power", &table);
}

/// The five blocks of a quick run detect a difference of 20 % at one of many points.
///
/// Three blocks would not suffice if some subjects vary much more than others, like subjects with a
/// JIT compiler.
#[test]
fn quick_runs_resolve_clear_differences() {
    let mut rows = Vec::new();
    for (points, subjects, blocks, scatter, wild) in [
        (1, 2, 3, 0.02, 1.0),
        (1, 8, 3, 0.02, 1.0),
        (1, 8, 3, 0.02, 8.0),
        (10, 4, 3, 0.02, 1.0),
        (15, 8, 3, 0.02, 1.0),
        (15, 8, 3, 0.02, 8.0),
        (15, 8, 4, 0.02, 1.0),
        (15, 8, 4, 0.02, 8.0),
        (15, 8, 5, 0.02, 1.0),
        (15, 8, 5, 0.02, 8.0),
        (4, 7, 5, 0.02, 8.0),
        (4, 7, 5, 0.04, 1.0),
        (4, 7, 5, 0.04, 8.0),
        (4, 7, 5, 0.08, 1.0),
    ] {
        let all = documents::runs(1000, 20);
        let found = (0..all).filter(|&seed| {
            let logs = family(points, subjects, blocks, (scatter, wild), (1.2, seed));
            let all_asked = with_overall(&logs, subjects);
            let found = together(&all_asked, ALPHA, seed)[0].unwrap();
            found.interval.low > 1.02
        });
        let found = found.count() as f64 / all as f64;
        println!("{points} x {subjects}, {blocks} blocks, {scatter}, {wild}: {found}");
        rows.push(vec![
            format!("{points} × {subjects}"),
            blocks.to_string(),
            percent(scatter),
            percent(scatter * wild),
            percent(found),
        ]);
        assert!(
            found > 0.8 || scatter > 0.02 || blocks < 5,
            "{points} x {subjects}: {found}"
        );
    }
    let columns = [
        "points × subjects",
        "blocks",
        "scatter of a block's ratio",
        "of every third subject's",
        "found beyond the margin",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("quick", &table);
}

/// Returns comparisons by point, then subject.
///
/// The first comparison is slower.
///
/// The baseline contributes half of a ratio's variance. Every third subject has `wild` times the
/// standard deviation.
fn family(
    points: usize,
    subjects: usize,
    blocks: usize,
    (scatter, wild): (f64, f64),
    (slower, seed): (f64, u64),
) -> Vec<Logs> {
    let mut random = Random(seed);
    let each = scatter / 2.0_f64.sqrt();
    let mut all = Vec::new();
    for _ in 0..points {
        let base: Vec<f64> = (0..blocks).map(|_| each * random.normal()).collect();
        for subject in 0..subjects {
            let scatter_of_subject = if subject % 3 == 2 { each * wild } else { each };
            let shift = if all.is_empty() { f64::ln(slower) } else { 0.0 };
            let logs = base
                .iter()
                .map(|b| Some(shift + scatter_of_subject * random.normal() - b));
            all.push(Logs::of_subject(
                SubjectId::from_index(subject),
                logs.collect(),
            ));
        }
    }
    all
}

/// Adds the means over all points, for each subject and for each pair of subjects.
fn with_overall(logs: &[Logs], subjects: usize) -> Vec<Logs> {
    let points = logs.len() / subjects;
    let blocks = logs[0].by_block.len();
    let mean = |subject: usize| -> Vec<f64> {
        let of = |block: usize| {
            let of_subject = logs[subject..].iter().step_by(subjects);
            of_subject.filter_map(|l| l.by_block[block]).sum::<f64>() / points as f64
        };
        (0..blocks).map(of).collect()
    };
    let means: IdVec<SubjectId, Vec<f64>> = (0..subjects).map(mean).collect();
    let mut all = logs.to_vec();
    for (i, a) in means.enumerated() {
        all.push(Logs {
            by_block: a.iter().map(|v| Some(*v)).collect(),
            scatter: Scatter::Mean(i),
            ..Logs::default()
        });
        for (j, b) in means.enumerated().skip(i.index() + 1) {
            all.push(Logs {
                by_block: a.iter().zip(b).map(|(a, b)| Some(a - b)).collect(),
                scatter: Scatter::Pair(i, j),
                ..Logs::default()
            });
        }
    }
    all
}

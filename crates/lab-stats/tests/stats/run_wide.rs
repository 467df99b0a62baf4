// SPDX-License-Identifier: Apache-2.0
//! What a whole run says at once: of equal subjects at many points, how many runs say anything false in verdicts,
//! means over points or rankings; and what one true difference among many comparisons needs to be found.
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats run_wide::` writes the tables of `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator;
use crate::simulator::figures::judged;
use crate::simulator::{CALM, Random, Simulator, World, contradicts, most_by_chance};
use lab_stats::analysis::Verdict;
use lab_stats::order;
use lab_stats::ratio::{Level, ratio};
use lab_stats::results::{Results, results};
use lab_stats::sign_flip::{Logs, together};

const ALPHA: f64 = 0.05;

/// A kind of run: its machine, how many points and subjects besides the baseline, and blocks.
struct TargetKind {
    name: &'static str,
    world: World,
    points: usize,
    subjects: usize,
    blocks: u32,
}

#[test]
fn runs_of_equal_subjects_say_nothing_false() {
    let noisy = World {
        process: 0.03,
        ..CALM
    };
    let heavy = World {
        heavy: true,
        ..noisy.clone()
    };
    let kind = |name, world: &World, points, subjects, blocks| TargetKind {
        name,
        world: world.clone(),
        points,
        subjects,
        blocks,
    };
    let kinds = [
        kind("calm", &CALM, 20, 3, 12),
        kind("luck of a process", &noisy, 20, 3, 12),
        kind("luck with heavy tails", &heavy, 20, 3, 12),
        kind("luck of a process", &noisy, 40, 8, 12),
        kind("luck of a process", &noisy, 20, 3, 24),
        kind("luck of a process", &noisy, 20, 3, 6),
        kind("luck of a process", &noisy, 20, 3, 3),
        kind("luck with heavy tails", &heavy, 20, 3, 3),
        kind("luck of a process", &noisy, 1, 1, 3),
    ];
    let mut rows = Vec::new();
    for (i, kind) in kinds.iter().enumerate() {
        let all = documents::runs(1000, if kind.points > 20 { 5 } else { 15 });
        let (mut wrong, mut missed) = (0, 0);
        for seed in 0..all {
            let results = kind.run((i as u64) << 32 | seed);
            wrong += u64::from(says_something_false(&results));
            missed += u64::from(misses(&results));
        }
        println!("{}: {wrong} {missed} of {all}", kind.name);
        assert!(
            wrong <= most_by_chance(all, ALPHA),
            "{}: {wrong} of {all}",
            kind.name
        );
        rows.push(vec![
            kind.name.to_string(),
            format!("{} × {}", kind.points, kind.subjects),
            kind.blocks.to_string(),
            percent(wrong as f64 / all as f64),
            percent(missed as f64 / all as f64),
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

impl TargetKind {
    fn run(&self, seed: u64) -> Results {
        let world = World {
            ratios: vec![1.0; self.subjects],
            sweep: (0..self.points).map(|x| x as f64).collect(),
            ..self.world.clone()
        };
        let mut run = simulator::run(&world, seed, 4);
        let mut simulator = Simulator::new(&world, seed);
        (0..self.blocks).for_each(|_| simulator.add_block(&mut run));
        results(&run)
    }
}

/// In a verdict at a point, over all points, or by naming one ahead of another.
fn says_something_false(results: &Results) -> bool {
    let at_points = judged(results).into_iter().map(|(_, verdict)| verdict);
    let overall = results.overall.iter().filter_map(|o| o.verdict);
    let false_verdict = |verdict: Verdict| contradicts(&verdict, 1.0);
    at_points.chain(overall).any(false_verdict)
        || results.rankings.iter().any(|r| !r.apart.is_empty())
}

fn misses(results: &Results) -> bool {
    let at_points = judged(results).into_iter().map(|(c, _)| c.ratio);
    let overall = results.overall.iter().map(|o| o.ratio);
    at_points
        .chain(overall)
        .any(|r| r.low > 1.0 || r.high < 1.0)
}

/// Blocks of subjects that are skewed to one side, those of every third subject three times as much, against a baseline
/// that is not: their mean and their median are not the same. Which of the two do intervals hold?
#[test]
fn skewed_blocks_have_two_truths_and_intervals_hold_the_median() {
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
            let found = together(&logs, ALPHA, seed, scales.len() + 2);
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
        // Of fewer than six blocks normal ones are assumed, and skewed ones miss more often than is said.
        let allowed = if blocks < 6 { 0.12 } else { ALPHA };
        for missed in [of_median, of_both] {
            assert!(missed <= most_by_chance(all, allowed), "{missed} of {all}");
        }
        let share = |n: u64| percent(n as f64 / all as f64);
        rows.push(vec![
            format!("{points} × 3"),
            blocks.to_string(),
            share(of_mean),
            share(of_median),
            share(of_both),
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

/// The shape of a skewed value: lognormal, its logarithm scatters by this.
const SKEW: f64 = 0.3;

/// The mean of a skewed value of scale 1, (exp(SKEW² / 2) - 1) / SKEW; its median is 0.
const MEAN_OF_SKEWED: f64 = 0.153_425;

/// At a point, one subject for each scale.
fn skewed(scales: &[f64], blocks: usize, random: &mut Random) -> Vec<Logs> {
    let base: Vec<f64> = (0..blocks).map(|_| 0.02 * random.normal()).collect();
    let of_scale = |scale: &f64| {
        let logs = base.iter().map(|b| Some(skewed_value(*scale, random) - b));
        Logs::from(logs.collect::<Vec<_>>())
    };
    scales.iter().map(of_scale).collect()
}

fn skewed_value(scale: f64, random: &mut Random) -> f64 {
    scale * ((SKEW * random.normal()).exp() - 1.0) / SKEW
}

/// The median of a block's logarithm, from many of them.
fn median_of_skewed(scale: f64) -> f64 {
    let mut random = Random(5);
    let values = (0..200_000).map(|_| skewed_value(scale, &mut random) - 0.02 * random.normal());
    order::median(&values.collect::<Vec<f64>>()).unwrap()
}

/// One subject differs at one point, of all that is compared over the run.
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
            let found = together(&all_asked, ALPHA, seed, subjects + 2)[0].unwrap();
            flips += u64::from(found.interval.low > 1.0);
            let level = Level {
                alpha: ALPHA,
                family: logs.len(),
            };
            let first: Vec<f64> = logs[0].by_block.iter().flatten().copied().collect();
            let single = ratio(&first, level).unwrap();
            bonferroni += u64::from(!single.assumed && single.interval.low > 1.0);
        }
        let share = |n: u64| percent(n as f64 / all as f64);
        println!(
            "{points} x {subjects}, {blocks} blocks, {scatter}: {flips} {bonferroni} of {all}"
        );
        rows.push(vec![
            format!("{points} × {subjects}"),
            blocks.to_string(),
            percent(scatter),
            share(flips),
            share(bonferroni),
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

/// The five blocks of a quick run tell a difference of 20 % at one of many points; three would not where some subjects
/// scatter much more than others, as those with a compiler of their own do.
#[test]
fn quick_runs_decide_what_is_plain() {
    let mut rows = Vec::new();
    for (points, subjects, blocks, scatter, wild) in [
        (1, 2, 3, 0.02, 1.0),
        (10, 4, 3, 0.02, 1.0),
        (15, 8, 3, 0.02, 1.0),
        (15, 8, 3, 0.02, 8.0),
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
            let found = together(&all_asked, ALPHA, seed, subjects + 2)[0].unwrap();
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

/// By point, then subject; the first is slower. Half of a ratio's variance is the baseline's; every third subject
/// scatters `wild` times as much.
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
            all.push(Logs {
                by_block: logs.collect(),
                ..Logs::default()
            });
        }
    }
    all
}

/// Means over all points, too, of each subject and of each pair of them.
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
    let means: Vec<Vec<f64>> = (0..subjects).map(mean).collect();
    let mut all = logs.to_vec();
    for (i, a) in means.iter().enumerate() {
        all.push(a.iter().map(|v| Some(*v)).collect::<Vec<_>>().into());
        for b in &means[i + 1..] {
            let pairs = a.iter().zip(b);
            all.push(pairs.map(|(a, b)| Some(a - b)).collect::<Vec<_>>().into());
        }
    }
    all
}

// SPDX-License-Identifier: Apache-2.0
//! Bisects simulated histories with the noise of real runs.
//!
//! The search and the judgment of its probes are the same as in `benchlab bisect`. The noise of a
//! block is drawn from runs that compared a program with two copies of itself (`noise.csv`), so it
//! has the tails and the dependence of a real machine. `UPDATE_DOCS=1 cargo test --release -p
//! lab-stats --test stats bisection::` writes the table.

use crate::documents;
use crate::documents::percent;
use crate::simulator::{Random, most_by_chance};
use lab_stats::bisection::{
    ANALYSES, BisectionSearch, Ends, FoundChange, NextStep, judge, judge_ends, max_probes,
};
use lab_stats::range_steps;

const ALPHA: f64 = 0.05;

/// The margin. Smaller steps are ignored, unless the ends differ by less than three times the
/// margin.
const MARGIN: f64 = 0.02;

/// For each program and block, the logarithm of each copy's time divided by the program's time.
const NOISE: &str = include_str!("bisection/noise.csv");

/// The blocks of one program.
fn noise(program: &str) -> Vec<[f64; 3]> {
    let lines = NOISE.lines().skip(1).map(|line| line.split(';'));
    let of_program = lines.filter_map(|mut cells| {
        let is_same = cells.next() == Some(program);
        let ratios: Vec<f64> = cells.map(|cell| cell.parse().expect("a number")).collect();
        is_same.then(|| [0.0, ratios[0], ratios[1]])
    });
    let blocks: Vec<[f64; 3]> = of_program.collect();
    assert!(blocks.len() >= 50, "{program}");
    // The copies are equal, so any difference between their means comes from that run.
    let mean =
        |subject: usize| blocks.iter().map(|b| b[subject]).sum::<f64>() / blocks.len() as f64;
    let means = [0, 1, 2].map(mean);
    let centered = blocks.iter().map(|b| [0, 1, 2].map(|s| b[s] - means[s]));
    centered.collect()
}

/// Draws the noise of successive blocks.
///
/// It replays the measured blocks, starting at a random position. The copies are equal, so they swap
/// roles at random.
struct Machine<'n> {
    blocks: &'n [[f64; 3]],
    at: usize,
    order: [usize; 3],
}

impl<'n> Machine<'n> {
    fn new(blocks: &'n [[f64; 3]], random: &mut Random) -> Machine<'n> {
        let mut order = [0, 1, 2];
        random.shuffle(&mut order);
        let at = (random.uniform() * blocks.len() as f64) as usize;
        Machine { blocks, at, order }
    }

    fn next(&mut self) -> [f64; 3] {
        self.at = (self.at + 1) % self.blocks.len();
        self.order.map(|subject| self.blocks[self.at][subject])
    }
}

/// A history of commits.
#[derive(Clone)]
struct History {
    /// The logarithm of the time of each commit, starting with the good commit.
    levels: Vec<f64>,
    /// The commits that do not build.
    broken: Vec<usize>,
}

impl History {
    /// Creates commits at one level, with steps at random positions.
    fn new(commits: usize, steps: &[f64], random: &mut Random) -> History {
        let mut levels = vec![0.0; commits + 1];
        let mut positions: Vec<usize> = (1..=commits).collect();
        random.shuffle(&mut positions);
        for (step, &position) in steps.iter().zip(&positions) {
            levels[position..]
                .iter_mut()
                .for_each(|level| *level += step.ln_1p());
        }
        History {
            levels,
            broken: Vec::new(),
        }
    }

    /// Returns the ranges that a perfect bisection reports: the steps of at least the margin,
    /// together with neighboring commits that do not build.
    fn truth(&self) -> Vec<FoundChange> {
        let builds: Vec<usize> = (0..self.levels.len())
            .filter(|at| !self.broken.contains(at))
            .collect();
        let pairs = builds.windows(2).map(|pair| FoundChange {
            low: pair[0],
            high: pair[1],
        });
        pairs
            .filter(|p| (self.levels[p.high] - self.levels[p.low]).abs() >= MARGIN.ln_1p())
            .collect()
    }
}

/// The result of a simulated bisection.
struct Outcome {
    found: Vec<FoundChange>,
    probes: usize,
    blocks: usize,
}

/// Bisects a history as `benchlab bisect` does.
fn bisect(history: &History, noise: &[[f64; 3]], random: &mut Random) -> Outcome {
    let last = history.levels.len() - 1;
    let (ends_alpha, alpha) = split(last);
    let level = |at: usize| history.levels[at];
    let mut outcome = Outcome {
        found: Vec::new(),
        probes: 1,
        blocks: 0,
    };
    let mut machine = Machine::new(noise, random);
    let mut logs: Vec<f64> = Vec::new();
    let ends = ANALYSES.into_iter().find_map(|analysis| {
        while logs.len() < analysis as usize {
            let [good, _, bad] = machine.next();
            logs.push(level(last) + bad - level(0) - good);
        }
        let (ends, found) = judge_ends(&logs, ends_alpha, MARGIN).expect("blocks");
        (ends != Ends::Open).then_some((ends, found.estimate))
    });
    outcome.blocks += logs.len();
    let Some((Ends::Differ, change)) = ends else {
        return outcome;
    };
    let least = lab_stats::bisection::min_change(change, MARGIN);
    let mut search = BisectionSearch::new(last, alpha);
    while let NextStep::Probe { segment, at, alpha } = search.next_step() {
        if history.broken.contains(&at) {
            search.skip(at);
            continue;
        }
        outcome.probes += 1;
        let mut machine = Machine::new(noise, random);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut judgment = None;
        for analysis in ANALYSES {
            while before.len() < analysis as usize {
                let [low, probe, high] = machine.next();
                before.push(level(at) + probe - level(segment.low) - low);
                after.push(level(segment.high) + high - level(at) - probe);
            }
            judgment = judge(&before, &after, alpha, least);
            if judgment.is_some_and(|j| j.is_decided()) {
                break;
            }
        }
        outcome.blocks += before.len();
        search.judged(&judgment.expect("blocks"));
    }
    outcome.found = search.found();
    outcome
}

fn split(last: usize) -> (f64, f64) {
    lab_stats::bisection::error_parts(last, ALPHA)
}

#[test]
fn the_right_commits_are_found() {
    type Make = fn(&mut Random) -> History;
    let worlds: [(&str, Make); 8] = [
        ("one step of 3 %", |r| History::new(100, &[0.03], r)),
        ("one step of 5 %", |r| History::new(100, &[0.05], r)),
        ("one step of 10 %", |r| History::new(100, &[0.10], r)),
        ("one step of 5 %, faster", |r| {
            History::new(100, &[-0.05], r)
        }),
        ("steps of 6 % and 5 %", |r| {
            History::new(100, &[0.06, 0.05], r)
        }),
        ("a step of 8 % and 99 commits of 0.03 %", |r| {
            let mut history = History::new(100, &[0.08], r);
            let levels = history.levels.iter_mut().enumerate();
            levels.for_each(|(at, level)| *level += 0.0003 * at as f64);
            history
        }),
        (
            "a step of 5 %, and one of five commits does not build",
            |r| {
                let mut history = History::new(100, &[0.05], r);
                history.broken = (1..100).filter(|_| r.uniform() < 0.2).collect();
                history
            },
        ),
        ("100 commits of 0.1 %, no step", |r| {
            let mut history = History::new(100, &[], r);
            let levels = history.levels.iter_mut().enumerate();
            levels.for_each(|(at, level)| *level += 0.001 * at as f64);
            history
        }),
    ];
    let mut rows = Vec::new();
    for (index, (name, make)) in worlds.into_iter().enumerate() {
        for program in PROGRAMS {
            let noise = noise(program);
            let is_noisy = program == PROGRAMS[2];
            let tries = if is_noisy {
                documents::runs(200, 4)
            } else {
                documents::runs(1000, 40)
            };
            let (mut right, mut falsely, mut probes, mut blocks) = (0, 0, Vec::new(), Vec::new());
            for seed in 0..tries {
                let mut random = Random(seed << 8 | index as u64);
                let history = make(&mut random);
                let outcome = bisect(&history, &noise, &mut random);
                let truth = history.truth();
                right += u64::from(outcome.found == truth);
                falsely += u64::from(outcome.found.iter().any(|f| !truth.contains(f)));
                probes.push(outcome.probes);
                blocks.push(outcome.blocks);
            }
            println!("{name}, {program}: {right} of {tries} right, {falsely} false");
            assert!(
                tries - right <= most_by_chance(tries, ALPHA),
                "{name}, {program}: {right} of {tries}"
            );
            rows.push(vec![
                name.to_string(),
                program.to_string(),
                percent(right as f64 / tries as f64),
                percent(falsely as f64 / tries as f64),
                median(&mut probes).to_string(),
                median(&mut blocks).to_string(),
            ]);
        }
    }
    let columns = [
        "history",
        "noise of",
        "the right commits",
        "a wrong commit",
        "probes (median)",
        "blocks (median)",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("bisection", &table);
}

/// The programs whose noise was measured.
const PROGRAMS: [&str; 3] = [
    "counting, CPU time",
    "Python, CPU time",
    "counting, wall time",
];

fn median(values: &mut [usize]) -> usize {
    values.sort_unstable();
    values[values.len() / 2]
}

#[test]
fn equal_ends_are_rarely_taken_for_different() {
    for program in PROGRAMS {
        let noise = noise(program);
        let is_noisy = program == PROGRAMS[2];
        let tries = documents::runs(1000, if is_noisy { 10 } else { 100 });
        let found = (0..tries).filter(|&seed| {
            let mut random = Random(seed << 8 | 99);
            let history = History::new(100, &[], &mut random);
            bisect(&history, &noise, &mut random).probes > 1
        });
        let found = found.count() as u64;
        assert!(
            found <= most_by_chance(tries, ALPHA),
            "{program}: {found} of {tries}"
        );
    }
}

#[test]
fn a_range_that_does_not_build_is_named_whole() {
    let mut history = History::new(16, &[], &mut Random(1));
    history.levels[8..]
        .iter_mut()
        .for_each(|level| *level = 0.5);
    history.broken = vec![7, 8, 9];
    let noise = noise(PROGRAMS[0]);
    let outcome = bisect(&history, &noise, &mut Random(2));
    assert_eq!(outcome.found, [FoundChange { low: 6, high: 10 }]);
    // All inner commits are broken: only the ends are measured.
    history.broken = (1..16).collect();
    let outcome = bisect(&history, &noise, &mut Random(2));
    assert_eq!(outcome.found, [FoundChange { low: 0, high: 16 }]);
    assert_eq!(outcome.probes, 1);
}

#[test]
fn neighbors_need_no_probe_and_more_commits_a_logarithm() {
    assert_eq!([1, 2, 3, 4, 100, 128].map(max_probes), [0, 1, 2, 2, 7, 7]);
    let outcome = bisect(
        &History {
            levels: vec![0.0, 0.5],
            broken: Vec::new(),
        },
        &noise(PROGRAMS[0]),
        &mut Random(3),
    );
    assert_eq!(outcome.found, [FoundChange { low: 0, high: 1 }]);
}

#[test]
fn steps_of_a_range_are_found_and_noise_is_not_a_step() {
    let mut rows = Vec::new();
    for (name, steps, blocks) in [
        ("none", &[][..], 6),
        ("none", &[], 12),
        ("none", &[], 20),
        ("one of 3 %", &[0.03], 20),
        ("one of 5 %", &[0.05], 20),
        ("5 % and −5 %", &[0.05, -0.05], 20),
    ] {
        let tries = documents::runs(1000, 25);
        let (mut right, mut falsely) = (0, 0);
        for seed in 0..tries {
            let mut random = Random(seed << 8 | 7);
            let history = History::new(20, steps, &mut random);
            let scatter = 0.02;
            let rows: Vec<Vec<f64>> = (0..blocks)
                .map(|_| {
                    let level = history.levels.iter();
                    level
                        .map(|level| level + scatter * random.normal())
                        .collect()
                })
                .collect();
            let found = range_steps::steps(&rows, ALPHA, seed).expect("enough blocks");
            let found: Vec<usize> = found.iter().map(|step| step.at).collect();
            let truth: Vec<usize> = (1..history.levels.len())
                .filter(|&at| history.levels[at] != history.levels[at - 1])
                .collect();
            right += u64::from(found == truth);
            falsely += u64::from(found.iter().any(|at| !truth.contains(at)));
        }
        println!("{name}, {blocks}: {right} of {tries} right, {falsely} false");
        if steps.is_empty() {
            assert!(falsely <= most_by_chance(tries, ALPHA), "{name}: {falsely}");
        } else {
            assert!(right as f64 >= 0.85 * tries as f64, "{name}: {right}");
        }
        rows.push(vec![
            name.to_string(),
            blocks.to_string(),
            percent(right as f64 / tries as f64),
            percent(falsely as f64 / tries as f64),
        ]);
    }
    let columns = [
        "steps among 20 commits",
        "blocks",
        "the right commits",
        "a wrong commit",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("range-steps", &table);
}

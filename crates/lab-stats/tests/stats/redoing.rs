// SPDX-License-Identifier: Apache-2.0
//! Tests the effect of redoing disturbed blocks, or sections of blocks, on a subject that causes
//! the disturbances itself.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats redoing::` writes the table in
//! `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator::Random;
use lab_model::Disturbance;
use lab_stats::order::interquartile_mean;

/// The number of subjects: the baseline, an equally fast subject, and an equally fast subject that
/// provokes disturbances.
const SUBJECTS: usize = 3;
const QUIET: usize = 1;
const PROVOKER: usize = 2;

const POINTS: usize = 12;
const PAIRS: usize = 9;
/// The maximum number of attempts at a block or a section.
///
/// The last attempt is kept.
const ATTEMPTS: usize = 3;
/// The length of a turn, in ms.
const TURN: f64 = 1.0;
/// The length of benchlab's own work before each turn, in ms.
const BETWEEN: f64 = 1.0;

/// The disturbances of turns.
///
/// During a disturbance, half of the time is stolen.
struct World {
    name: &'static str,
    /// External disturbances: the mean time between them and their mean length, in ms.
    outside: (f64, f64),
    /// The probability that a turn of the provoker starts a disturbance, and the mean length of the
    /// disturbance in ms.
    provoked: (f64, f64),
}

/// The section that is measured again if it was disturbed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Nothing,
    Block,
    /// The block, which is aborted as soon as it would count as disturbed even without further
    /// disturbances (`crates/lab-bench/src/driver/block.rs`).
    EarlyBlock,
    Point,
    Pair,
}

const RULES: [(Rule, &str); 5] = [
    (Rule::Nothing, "nothing"),
    (Rule::Block, "the block"),
    (Rule::EarlyBlock, "the block, given up early"),
    (Rule::Point, "the point"),
    (Rule::Pair, "the pair of passes"),
];

/// A subject's ratios to the baseline, as means of the logarithms over blocks and points.
#[derive(Default)]
struct Ratios {
    typical: f64,
    mean: f64,
}

#[derive(Default)]
struct Found {
    quiet: Ratios,
    provoker: Ratios,
    /// The fraction of the time spent on measurements that do not count.
    lost: f64,
}

/// The probability and the mean length, in ms, of disturbances that affect about half of the
/// sections.
const OFTEN: (f64, f64) = (0.4, 2.0);

#[test]
fn redoing_parts_favors_a_subject_that_provokes_disturbances() {
    let world = |name, outside, provoked| World {
        name,
        outside,
        provoked,
    };
    let never = (f64::INFINITY, 0.0);
    let seldom = (5000.0, 400.0);
    let worlds = [
        world("from outside alone", seldom, (0.0, 0.0)),
        world(
            "provoked in 2 % of its turns, for 20 ms",
            never,
            (0.02, 20.0),
        ),
        world("provoked in 10 % of its turns, for 5 ms", never, (0.1, 5.0)),
        world(
            "provoked in 40 % of its turns, for 1.5 ms",
            never,
            (0.4, 1.5),
        ),
        world("provoked in 40 % of its turns, for 2 ms", never, OFTEN),
        world("in 20 %, for 3 ms, and from outside", seldom, (0.2, 3.0)),
    ];
    let runs = documents::runs(200, 20);
    let mut rows = Vec::new();
    for (number, world) in worlds.iter().enumerate() {
        let found = RULES.map(|(rule, _)| world.measured(rule, 2 * number as u64, runs));
        // The costs of the subjects without external disturbances and without redoing are measured
        // in separate runs. Runs without redoing would trivially agree with their own values.
        let alone = World {
            outside: never,
            ..*world
        };
        let truth = alone.measured(Rule::Nothing, 2 * number as u64 + 1, runs);
        for ((rule, name), found) in RULES.iter().zip(&found) {
            let off = |found: f64, truth: f64| (found - truth).exp() - 1.0;
            let typical = off(found.provoker.typical, truth.provoker.typical);
            let mean = off(found.provoker.mean, truth.provoker.mean);
            let quiet = off(found.quiet.typical, truth.quiet.typical);
            println!(
                "{}, {rule:?}: {typical:+.4} {mean:+.4} {quiet:+.4}, lost {:.3}",
                world.name, found.lost
            );
            assert!(quiet.abs() < 0.002, "{} {rule:?}: {quiet}", world.name);
            let off = typical.abs().max(mean.abs());
            match rule {
                Rule::Nothing | Rule::Block | Rule::EarlyBlock => {
                    assert!(off < 0.007, "{} {rule:?}: {off}", world.name);
                }
                // This is why only whole blocks are redone.
                Rule::Point | Rule::Pair if world.provoked == OFTEN => {
                    assert!(typical < -0.01, "{} {rule:?}: {typical}", world.name);
                }
                Rule::Point | Rule::Pair => {}
            }
            rows.push(vec![
                world.name.to_string(),
                (*name).to_string(),
                signed(typical),
                signed(mean),
                signed(quiet),
                percent(found.lost),
            ]);
        }
    }
    let columns = [
        "disturbances",
        "what is redone",
        "typical time of the subject that provokes them is off by",
        "its mean time",
        "typical time of another",
        "time lost",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("redoing", &table);
}

fn signed(part: f64) -> String {
    format!("{:+.1} %", 100.0 * part)
}

impl World {
    fn measured(&self, rule: Rule, number: u64, runs: u64) -> Found {
        let mut host = Host::new(self, Random(number << 32 | rule as u64));
        let (mut found, mut kept_ms) = (Found::default(), 0.0);
        let blocks = 12 * runs;
        let mut expected_ms = None;
        for _ in 0..blocks {
            let block = host.block(rule, expected_ms);
            expected_ms = Some(block.stretch.elapsed);
            kept_ms += block.stretch.elapsed;
            for (ratios, subject) in [(&mut found.quiet, QUIET), (&mut found.provoker, PROVOKER)] {
                ratios.typical += block.typical(subject) / blocks as f64;
                ratios.mean += block.mean(subject) / blocks as f64;
            }
        }
        found.lost = 1.0 - kept_ms / host.now;
        found
    }
}

/// A stretch of work on the host.
#[derive(Clone, Copy, Default)]
struct Stretch {
    /// The elapsed time, in ms.
    elapsed: f64,
    /// The stolen time, in ms.
    stolen: f64,
}

impl Stretch {
    fn add(&mut self, other: Stretch) {
        self.elapsed += other.elapsed;
        self.stolen += other.stolen;
    }

    fn disturbance(&self) -> Disturbance {
        Disturbance {
            steal: self.stolen / self.elapsed,
            ..Disturbance::default()
        }
    }
}

/// The times of a block: for each pair of passes of each point, the times of each subject's two
/// turns.
#[derive(Clone, Default)]
struct Measured {
    pairs: Vec<[[f64; 2]; SUBJECTS]>,
    stretch: Stretch,
}

impl Measured {
    fn add(&mut self, other: Measured) {
        self.pairs.extend(other.pairs);
        self.stretch.add(other.stretch);
    }

    fn typical(&self, subject: usize) -> f64 {
        let points = self.pairs.chunks(PAIRS).map(|pairs| {
            let log = |times: [f64; 2]| (times[0].ln() + times[1].ln()) / 2.0;
            let logs: Vec<f64> = pairs.iter().map(|p| log(p[subject]) - log(p[0])).collect();
            interquartile_mean(&logs).expect("pairs")
        });
        points.sum::<f64>() / POINTS as f64
    }

    fn mean(&self, subject: usize) -> f64 {
        let sum = |subject: usize| self.pairs.iter().flat_map(|p| p[subject]).sum::<f64>();
        (sum(subject) / sum(0)).ln()
    }
}

struct Host<'a> {
    world: &'a World,
    random: Random,
    now: f64,
    /// The start of the next external disturbance.
    next: f64,
    /// The end of the current or latest disturbance.
    disturbed_until: f64,
}

impl Host<'_> {
    fn new(world: &World, random: Random) -> Host<'_> {
        let mut host = Host {
            world,
            random,
            now: 0.0,
            next: 0.0,
            disturbed_until: 0.0,
        };
        host.next = host.exponential(world.outside.0);
        host
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        if mean == 0.0 {
            return 0.0;
        }
        -mean * self.random.uniform().ln()
    }

    /// Does `work` ms of work.
    fn work(&mut self, mut work: f64) -> Stretch {
        let began = self.now;
        let mut stolen = 0.0;
        while work > 0.0 {
            if self.now >= self.next {
                let length = self.exponential(self.world.outside.1);
                self.disturbed_until = self.disturbed_until.max(self.now + length);
                self.next = self.now + self.exponential(self.world.outside.0);
            }
            let is_disturbed = self.now < self.disturbed_until;
            let speed = if is_disturbed { 0.5 } else { 1.0 };
            let change = if is_disturbed {
                self.disturbed_until.min(self.next)
            } else {
                self.next
            };
            let step = (work / speed).min(change - self.now).max(1e-9);
            self.now += step;
            work -= step * speed;
            stolen += step * (1.0 - speed);
        }
        Stretch {
            elapsed: self.now - began,
            stolen,
        }
    }

    fn turn(&mut self, subject: usize) -> Stretch {
        let length = TURN * (0.01 * self.random.normal()).exp();
        let (chance, lasts) = self.world.provoked;
        if subject != PROVOKER || self.random.uniform() > chance {
            return self.work(length);
        }
        let before = self.random.uniform() * length;
        let mut stretch = self.work(before);
        self.disturbed_until = self.disturbed_until.max(self.now + self.exponential(lasts));
        stretch.add(self.work(length - before));
        stretch
    }

    fn pair(&mut self) -> Measured {
        let mut order: Vec<usize> = (0..SUBJECTS).collect();
        self.random.shuffle(&mut order);
        let mut times = [[0.0; 2]; SUBJECTS];
        let mut all = Stretch::default();
        let there: Vec<(usize, usize)> = order.iter().map(|&subject| (subject, 0)).collect();
        let back = order.iter().rev().map(|&subject| (subject, 1));
        for (subject, pass) in there.into_iter().chain(back) {
            all.add(self.work(BETWEEN));
            let turn = self.turn(subject);
            times[subject][pass] = turn.elapsed;
            all.add(turn);
        }
        Measured {
            pairs: vec![times],
            stretch: all,
        }
    }

    /// Measures a section until it is not disturbed, or until the last attempt.
    fn redoing(&mut self, redoes: bool, measure: impl Fn(&mut Self) -> Measured) -> Measured {
        let attempts = if redoes { ATTEMPTS } else { 1 };
        let mut measured = measure(self);
        for _ in 1..attempts {
            if !measured.stretch.disturbance().disturbed() {
                break;
            }
            measured = measure(self);
        }
        measured
    }

    fn point(&mut self, rule: Rule) -> Measured {
        let mut point = Measured::default();
        for _ in 0..PAIRS {
            point.add(self.redoing(rule == Rule::Pair, Self::pair));
        }
        point
    }

    /// Measures a block, repeatedly if the rule requires that, and returns the measurement that
    /// counts.
    ///
    /// `expected_ms` is the typical length of a block, in ms.
    fn block(&mut self, rule: Rule, expected_ms: Option<f64>) -> Measured {
        let redoes = [Rule::Block, Rule::EarlyBlock].contains(&rule);
        let mut attempt = 1;
        loop {
            let may_redo = redoes && attempt < ATTEMPTS;
            let gives_up = expected_ms.filter(|_| may_redo && rule == Rule::EarlyBlock);
            let mut block = Measured::default();
            let mut is_lost = false;
            for done in 1..=POINTS {
                block.add(self.redoing(rule == Rule::Point, |host| host.point(rule)));
                let elapsed = block.stretch.elapsed;
                is_lost = gives_up.is_some_and(|expected_ms| {
                    let so_far = block.stretch.disturbance();
                    let of_block = elapsed / elapsed.max(expected_ms);
                    (2..POINTS).contains(&done) && so_far.spread_over(of_block).disturbed()
                });
                if is_lost {
                    break;
                }
            }
            if !may_redo || !is_lost && !block.stretch.disturbance().disturbed() {
                return block;
            }
            attempt += 1;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Tests ratios of means whose blocks contain occasional pauses: counts how often their intervals
//! miss the true ratio.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats means::` writes the table in
//! `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator::{Random, most_by_chance};
use lab_stats::mean::ratio_of_means;

/// The random effects that make a subject's blocks longer than the baseline's.
struct World {
    name: &'static str,
    blocks: usize,
    /// The probability that a block has pauses, and the mean fraction by which they lengthen it.
    pauses: (f64, f64),
    /// True if the pauses of a block vary exponentially instead of being equal.
    scattered: bool,
}

#[test]
fn intervals_of_ratios_of_means_follow_skew() {
    let world = |name, blocks, pauses, scattered| World {
        name,
        blocks,
        pauses,
        scattered,
    };
    let none = "no pauses";
    let often = "half as long again in 3 blocks of 10";
    let tenth = "half as long again in 1 block of 10";
    let seldom = "half as long again in 1 block of 20";
    let short = "a tenth longer in 1 block of 20";
    let collector = "a collector: exponential, 20 % on average";
    let worlds = [
        world(none, 12, (0.0, 0.0), false),
        world(none, 80, (0.0, 0.0), false),
        world(collector, 80, (1.0, 0.2), true),
        world(often, 80, (0.3, 0.5), false),
        world(tenth, 4, (0.1, 0.5), false),
        world(tenth, 12, (0.1, 0.5), false),
        world(tenth, 24, (0.1, 0.5), false),
        world(tenth, 40, (0.1, 0.5), false),
        world(tenth, 80, (0.1, 0.5), false),
        world(seldom, 4, (0.05, 0.5), false),
        world(seldom, 12, (0.05, 0.5), false),
        world(seldom, 40, (0.05, 0.5), false),
        world(seldom, 80, (0.05, 0.5), false),
        world(short, 80, (0.05, 0.1), false),
    ];
    let mut rows = Vec::new();
    for (i, world) in worlds.iter().enumerate() {
        let runs = documents::runs(1000, 100);
        let (mut given, mut missed, mut sum) = (0, 0, 0.0);
        for seed in 0..runs {
            let mut random = Random((i as u64) << 32 | seed);
            let [subject, baseline] = world.measured(&mut random);
            let found = ratio_of_means(&subject, &baseline, seed, 0.05).unwrap();
            let truth = world.truth();
            if found.level > 0.0 {
                given += 1;
                missed += u64::from(found.low > truth || found.high < truth);
            }
            sum += found.estimate / truth;
        }
        println!("{} {}: {missed} of {given}", world.name, world.blocks);
        assert!(missed <= most_by_chance(given, 0.07), "{}", world.name);
        assert_eq!(given, if world.blocks < 80 { 0 } else { runs });
        let bias = sum / runs as f64 - 1.0;
        assert!(bias.abs() < 0.03, "{}: {bias}", world.name);
        rows.push(vec![
            world.name.to_string(),
            world.blocks.to_string(),
            format!("{:.3}", world.truth()),
            percent(given as f64 / runs as f64),
            match given {
                0 => String::new(),
                given => percent(missed as f64 / given as f64),
            },
        ]);
    }
    let columns = [
        "blocks of the subject",
        "blocks",
        "true ratio",
        "interval given",
        "of these miss the truth",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("means", &table);
}

impl World {
    /// Returns the blocks of the subject and of the baseline. The speed of the machine varies by 15
    /// % and affects both.
    fn measured(&self, random: &mut Random) -> [Vec<f64>; 2] {
        let pairs = (0..self.blocks).map(|_| {
            let speed = (0.15 * random.normal()).exp();
            let [a, b] = [0, 1].map(|_| speed * (0.01 * random.normal()).exp());
            let has = random.uniform() <= self.pauses.0;
            let length = if self.scattered {
                -random.uniform().ln()
            } else {
                1.0
            };
            let pause = if has { self.pauses.1 * length } else { 0.0 };
            (a * (1.0 + pause), b)
        });
        let (subject, baseline) = pairs.unzip();
        [subject, baseline]
    }

    fn truth(&self) -> f64 {
        1.0 + self.pauses.0 * self.pauses.1
    }
}

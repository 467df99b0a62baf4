// SPDX-License-Identifier: Apache-2.0
//! Tests percentiles of servers with occasional stalls: counts how often their intervals miss the
//! truth, and how often there is no interval.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats tails::` writes the table in
//! `docs/statistics.md`.

use crate::documents;
use crate::documents::percent;
use crate::simulator::Random;
use crate::simulator::figures::interval;
use crate::simulator::load::{add, counts, open, run, second, times};
use crate::simulator::most_by_chance;
use lab_model::{Metric, PointId, SubjectId};
use lab_stats::order;
use lab_stats::results::{Results, results};

/// A server under a load of `slices` slices.
struct World {
    name: &'static str,
    slices: u32,
    /// The probability that a slice stalls, and the length of a stall in ns.
    stall: (f64, f64),
    /// The number of requests in a slice of one second.
    requests: usize,
    /// The spread of the speed of slices.
    between: f64,
}

const WITHIN: f64 = 0.3;

#[test]
fn intervals_of_percentiles_contain_the_truth_or_are_omitted() {
    let second_of_ten = |slices| World {
        name: "a stall of 1 s in one second of ten",
        slices,
        stall: (0.1, 1e9),
        requests: 1000,
        between: 0.05,
    };
    let turns = |stall| World {
        name: "blocks of two turns, no stall",
        slices: 12,
        stall,
        requests: 2000,
        between: 0.05,
    };
    let pauses = |slices| World {
        name: "8 ms in 5 % of slices",
        stall: (0.05, 8e6),
        ..second_of_ten(slices)
    };
    let calm = |slices| World {
        name: "no stall, speed scatters by 5 %",
        stall: (0.0, 0.0),
        ..second_of_ten(slices)
    };
    let worlds = [
        second_of_ten(10),
        second_of_ten(20),
        second_of_ten(30),
        second_of_ten(60),
        second_of_ten(90),
        second_of_ten(120),
        second_of_ten(300),
        turns((0.0, 0.0)),
        World {
            name: "blocks of two turns, 8 ms in 5 % of turns",
            ..turns((0.1, 8e6))
        },
        pauses(60),
        pauses(90),
        pauses(120),
        calm(12),
        calm(60),
        calm(120),
    ];
    let mut rows = Vec::new();
    for (i, world) in worlds.iter().enumerate() {
        let runs = documents::runs(200, 20);
        let mut row = vec![world.name.to_string(), world.slices.to_string()];
        let loads: Vec<Results> = (0..runs)
            .map(|seed| world.measured((i as u64) << 32 | seed))
            .collect();
        for (metric, part) in [
            (Metric::P50, 0.5),
            (Metric::P90, 0.9),
            (Metric::P99, 0.99),
            (Metric::P999, 0.999),
        ] {
            let truth = world.truth(part);
            let (mut with_interval, mut missed, mut widths) = (0, 0, Vec::new());
            for load in &loads {
                let found = interval(load, SubjectId(0), PointId(0), &metric);
                if found.level > 0.0 {
                    with_interval += 1;
                    widths.push(found.high / found.low);
                    // Values are the highest of a bucket, so they are up to 0.1 % too high.
                    let misses = found.low > 1.001 * truth || found.high < truth;
                    missed += u64::from(misses);
                }
            }
            println!(
                "{} {} {:?}: {with_interval} given, {missed} missed",
                world.name, world.slices, metric.id
            );
            assert!(
                missed <= most_by_chance(with_interval, 0.07),
                "{} {:?}: {missed} of {with_interval}",
                world.name,
                metric.id
            );
            row.push(match order::median(&widths) {
                None => String::new(),
                Some(width) => format!(
                    "{}, {}, {width:.2}",
                    percent(with_interval as f64 / runs as f64),
                    percent(missed as f64 / with_interval as f64)
                ),
            });
        }
        rows.push(row);
    }
    let columns = ["server", "slices", "p50", "p90", "p99", "p99.9"];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("tails", &table);
}

impl World {
    fn measured(&self, seed: u64) -> Results {
        let mut random = Random(seed);
        let mut run = open(run(&["a"], &[64], seed));
        for _ in 0..self.slices {
            let median = 1e6 * (self.between * random.normal()).exp();
            let mut all = times(&mut random, self.requests, median, WITHIN);
            if random.uniform() < self.stall.0 {
                // Requests due during the stall wait for its end.
                let waiting = (self.requests as f64 * self.stall.1 / 1e9).ceil() as usize;
                for (i, time) in all.iter_mut().take(waiting).enumerate() {
                    *time += self.stall.1 * (1.0 - (i as f64 + 0.5) / waiting as f64);
                }
            }
            add(&mut run, vec![second(0, 0, counts(all))]);
        }
        results(&run)
    }

    /// Returns the quantile of all possible requests, found by bisection.
    fn truth(&self, part: f64) -> f64 {
        let spread = WITHIN.hypot(self.between);
        let above = |v: f64| {
            let calm = |v: f64| 1.0 - lab_stats::normal::cdf((v.max(1.0) / 1e6).ln() / spread);
            let (chance, length) = self.stall;
            let waiting = (self.requests as f64 * length / 1e9).ceil() / self.requests as f64;
            let steps = 2000;
            let stalled: f64 = (0..steps)
                .map(|i| calm(v - length * (1.0 - (f64::from(i) + 0.5) / f64::from(steps))))
                .sum::<f64>()
                / f64::from(steps);
            (1.0 - chance * waiting) * calm(v) + chance * waiting * stalled
        };
        let (mut low, mut high) = (1.0, 1e10);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if above(middle) > 1.0 - part {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Measures how often the steady-level check raises false alarms, and how often it detects real
//! slowdowns. The check compares each subject's turns with the steady level of its pilot.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats turn_levels::` writes the table in
//! `docs/statistics.md`.

use crate::documents::{self, percent};
use crate::simulator::{Random, block, empty_run, most_by_chance, sample, subject};
use lab_model::*;
use lab_stats::analysis::ExclusionKind;
use lab_stats::exclusions::exclusions;
use lab_stats::power::forecast;

/// The spread of a turn of 1 ms relative to its neighbor.
const TURN: f64 = 0.05;
/// The number of turns of a pilot.
const PILOT_TURNS: usize = 8;
/// The number of mirrored pairs of passes in a block. One such pair has the same variance as the
/// mean of four pairs of single turns.
const PAIRS: u32 = 1;
const TURN_OF_BLOCK: f64 = TURN / 2.0;

#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    /// The standard deviation of the logarithm of a process's effect at a point.
    luck: f64,
    tails: Tails,
    /// The slowdown of the machine from the pilot to the blocks, as a logarithm. Blocks differ by
    /// the same amount.
    drift: f64,
}

#[derive(Clone, Copy)]
enum Tails {
    Normal,
    /// Student's t with 2 degrees of freedom.
    Heavy,
    /// One process in 20 takes longer by 8 standard deviations.
    Outlying,
    /// One subject in three has five times the spread, as with a garbage collector.
    Collector,
}

impl World {
    fn luck(&self, subject: usize, random: &mut Random) -> f64 {
        let normal = self.luck * random.normal();
        match self.tails {
            Tails::Normal => normal,
            Tails::Heavy => normal / (-random.uniform().ln()).sqrt().max(1e-9),
            Tails::Outlying if random.uniform() < 0.05 => normal + 8.0 * self.luck,
            Tails::Outlying => normal,
            Tails::Collector if subject % 3 == 2 => 5.0 * normal,
            Tails::Collector => normal,
        }
    }

    /// Returns a run in which the first subject's turns take `factor` times its steady time.
    fn run(&self, (subjects, points, blocks): (usize, usize, u32), factor: f64, seed: u64) -> Run {
        let mut random = Random(seed);
        let all: IdVec<SubjectId, Subject> = (0..=subjects)
            .map(|i| subject(&format!("s{i}"), None))
            .collect();
        let point = |x: usize| Point {
            params: vec![("n".into(), x.to_string())],
            x: Some(x as f64),
            ..Point::default()
        };
        let mut run = empty_run(all, (0..points).map(point).collect(), seed, PAIRS);
        let plan = run.plan().unwrap().clone();
        for point in plan.points.ids() {
            for subject in plan.subjects.ids().skip(1) {
                run.pilots.push(self.pilot((subject, point), &mut random));
            }
        }
        for number in 0..blocks {
            let speed = self.drift * (1.0 + 0.5 * random.normal());
            let mut samples = Vec::new();
            for point in plan.points.ids() {
                for subject in plan.subjects.ids() {
                    let slow = if subject == SubjectId(1) {
                        factor.ln()
                    } else {
                        0.0
                    };
                    let level = speed + slow + self.luck(subject.index(), &mut random);
                    for pass in 0..2 * PAIRS {
                        let log = level + TURN_OF_BLOCK * random.normal();
                        let ns = 1e6 * log.exp();
                        samples.push(sample(point, subject, pass, subject.0, 100, ns as u64));
                    }
                }
            }
            run.blocks.push(block(number, samples));
        }
        run
    }

    fn pilot(&self, (subject, point): (SubjectId, PointId), random: &mut Random) -> Pilot {
        let luck = [self.luck(subject.index(), random), self.luck(0, random)];
        let mut turn = |luck: f64| (1e6 * (luck + TURN * random.normal()).exp()) as u64;
        let (mut batches, mut ages) = (Vec::new(), Vec::new());
        for _ in 0..PILOT_TURNS {
            let [own, baseline] = luck.map(&mut turn);
            batches.push(Batch {
                operations: 100,
                wall_ns: own,
                cpu_ns: own,
                server_cpu_ns: None,
            });
            ages.push(Age {
                baseline_requests: 100,
                baseline_cpu_ns: baseline,
                ..Age::default()
            });
        }
        Pilot {
            subject,
            point,
            operations: 100,
            warmup_batches: 40,
            class: WarmUp::Warming,
            cold_ns: 1,
            batches,
            ages,
        }
    }
}

/// Returns the subjects and points that were excluded because they were not at their steady level.
fn off(run: &Run) -> Vec<(SubjectId, Option<PointId>)> {
    let plan = run.plan().unwrap();
    let exclusions = exclusions(run, plan);
    let off = exclusions
        .iter()
        .filter(|r| r.kind() == ExclusionKind::NotSteady);
    off.map(|r| (r.subject, r.point)).collect()
}

#[test]
fn turns_at_the_level_of_their_pilots_raise_no_alarm() {
    let world = |name, luck, tails| World {
        name,
        luck,
        tails,
        drift: 0.3_f64.ln_1p(),
    };
    let worlds = [
        world("compiled: processes scatter by 1 %", 0.01, Tails::Normal),
        world(
            "compiled, 1 process of 20 by 8 standard deviations more",
            0.01,
            Tails::Outlying,
        ),
        world("compiled, heavy tails (t, 2 degrees)", 0.005, Tails::Heavy),
        world("by 3 %", 0.03, Tails::Normal),
        world("by 1 %, every third subject by 5 %", 0.01, Tails::Collector),
        world("by 5 %", 0.05, Tails::Normal),
    ];
    let mut rows = Vec::new();
    let (mut alarms_of_all, mut all) = (0, 0);
    for (i, world) in worlds.iter().enumerate() {
        for (subjects, points, blocks) in [(1, 1, 12), (7, 11, 5), (7, 11, 16)] {
            let runs = documents::runs(400, 20);
            let seeds =
                || (0..runs).map(|seed| ((i as u64) << 40) | (u64::from(blocks) << 32) | seed);
            let size = (subjects, points, blocks);
            let false_alarms = seeds().filter(|&seed| !off(&world.run(size, 1.0, seed)).is_empty());
            let false_alarms = false_alarms.count() as u64;
            let finds = |factor: f64, at_least: f64| {
                let is_found = |seed: &u64| {
                    off(&world.run(size, factor, *seed))
                        .iter()
                        .any(|(s, _)| *s == SubjectId(1))
                };
                let few = documents::runs(50, 10);
                let found = seeds().take(few as usize).filter(is_found).count() as f64;
                let name = world.name;
                assert!(
                    found >= at_least * few as f64,
                    "{name} {size:?} {factor}: {found}"
                );
                percent(found / few as f64)
            };
            println!("{} {size:?}: {false_alarms} of {runs}", world.name);
            assert!(
                false_alarms <= most_by_chance(runs, 0.05),
                "{} {size:?}",
                world.name
            );
            alarms_of_all += false_alarms;
            all += runs;
            rows.push(vec![
                world.name.to_string(),
                (subjects * points).to_string(),
                blocks.to_string(),
                percent(false_alarms as f64 / runs as f64),
                finds(1.25, 0.0),
                finds(1.5, 0.8),
                finds(2.0, 1.0),
            ]);
        }
    }
    // With so few runs of each kind, chance explains many alarms.
    assert!(
        alarms_of_all <= most_by_chance(all, 0.02),
        "{alarms_of_all} of {all}"
    );
    let columns = [
        "processes",
        "comparisons",
        "blocks",
        "runs with a false alarm",
        "25 % more in turns: found",
        "50 % more",
        "twice the time",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("levels", &table);
}

#[test]
fn a_subject_off_its_level_is_planned_and_named() {
    let world = World {
        name: "compiled",
        luck: 0.01,
        tails: Tails::Normal,
        drift: 0.0,
    };
    let run = world.run((2, 1, 3), 3.0, 5);
    assert_eq!(off(&run), [(SubjectId(1), Some(PointId(0)))]);
    let forecast = forecast(&run, run.plan().unwrap()).unwrap();
    let planned: Vec<&str> = forecast
        .comparisons
        .iter()
        .map(|p| p.subject.as_str())
        .collect();
    assert!(
        planned.contains(&"s1") && planned.contains(&"s2"),
        "{planned:?}"
    );
    let unsteady: Vec<&str> = forecast
        .unsteady
        .iter()
        .map(|n| n.subject.as_str())
        .collect();
    assert_eq!(unsteady, ["s1"]);
}

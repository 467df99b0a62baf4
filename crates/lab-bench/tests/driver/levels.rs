// SPDX-License-Identifier: Apache-2.0
//! Subjects in batches that are, or are not, at the level that their pilots found steady.

use crate::fake::{Act, Fake, File, plan};
use lab_bench::Turn;
use lab_model::{Age, Batch, Pilot, Plan, Run, SubjectId, WarmUp};
use lab_stats::results::{Results, results};

const BLOCKS: u32 = 8;

/// Subject 1 takes twice as long as the baseline when it is warm, subject 2 three times.
const STEADY_NS: [u64; 3] = [100_000, 200_000, 300_000];

/// What a pilot found that took turns with the baseline on a machine of this speed.
fn pilot(subject: SubjectId, point: usize, speed: f64) -> Pilot {
    let turn =
        |subject: SubjectId, i: u64| (STEADY_NS[subject] as f64 * speed) as u64 + 500 * (i % 3);
    let batch = |i: u64| Batch {
        operations: 1,
        wall_ns: turn(subject, i),
        cpu_ns: turn(subject, i),
        server_cpu_ns: None,
    };
    let age = |i: u64| Age {
        baseline_requests: 1,
        baseline_cpu_ns: turn(0, i + 1),
        ..Age::default()
    };
    Pilot {
        subject,
        point,
        operations: 1,
        warmup_batches: 400,
        class: WarmUp::Warming,
        cold_ns: 5_000_000,
        batches: (0..20).map(batch).collect(),
        ages: (0..8).map(age).collect(),
    }
}

/// A run whose turns take so long in a block.
fn measured(speed_of_pilot: f64, time_ns: impl Fn(u32, Turn) -> f64) -> Run {
    let plan = plan(3, BLOCKS);
    let pilots =
        (0..plan.points.len()).flat_map(|point| [1, 2].map(|s| pilot(s, point, speed_of_pilot)));
    let fake = Fake {
        pilots: pilots.collect(),
        pairs: 4,
        ..Fake::new(|block, turn| Act::Batch(time_ns(block, turn) as u64))
    };
    measure(&plan, fake)
}

fn measure(plan: &Plan, fake: Fake) -> Run {
    let file = File::new(plan);
    file.measure(plan, fake).expect("a run");
    file.run()
}

fn scatter(block: u32, turn: Turn) -> f64 {
    1.0 + f64::from((block * 5 + turn.pass * 3 + turn.turn) % 7) / 500.0
}

fn has_verdicts(results: &Results, subject: SubjectId) -> [bool; 2] {
    [0, 1].map(|point| {
        let comparisons = results.comparisons_at(subject, point);
        comparisons
            .iter()
            .any(|comparison| comparison.verdict.is_some())
    })
}

#[test]
fn a_subject_that_warms_up_slowly_gets_no_verdict_and_says_what_it_needs() {
    // At the first point subject 1 becomes faster from turn to turn, and never gets to its level.
    let run = measured(1.0, |block, turn| {
        let steady = STEADY_NS[turn.subject] as f64 * scatter(block, turn);
        match (turn.subject, turn.point) {
            (1, 0) => steady * (2.0 - 0.1 * f64::from(turn.pass)),
            _ => steady,
        }
    });
    let results = results(&run);
    assert_eq!(has_verdicts(&results, 1), [false, true]);
    assert_eq!(has_verdicts(&results, 2), [true, true]);
    let why: Vec<&str> = results.refusals.iter().map(|r| r.why.as_str()).collect();
    assert_eq!(why.len(), 1, "{why:?}");
    for part in [
        "was still warming up at ",
        "(turns 33",
        "steady 20",
        "it needs some 400 operations (8",
    ] {
        assert!(why[0].contains(part), "{part} in {why:?}");
    }
}

#[test]
fn subjects_at_the_level_of_their_pilots_get_their_verdicts() {
    let run = measured(1.0, |block, turn| {
        STEADY_NS[turn.subject] as f64 * scatter(block, turn)
    });
    let results = results(&run);
    assert_eq!(results.refusals, []);
    for subject in [1, 2] {
        assert_eq!(has_verdicts(&results, subject), [true, true]);
    }
}

#[test]
fn a_machine_that_becomes_slower_after_the_pilots_raises_no_alarm() {
    for speed_of_pilot in [1.0 / 1.3, 1.3] {
        let run = measured(speed_of_pilot, |block, turn| {
            let drift = 1.0 + 0.3 * f64::from(block) / f64::from(BLOCKS);
            STEADY_NS[turn.subject] as f64 * drift * scatter(block, turn)
        });
        let results = results(&run);
        assert_eq!(results.refusals, []);
        for subject in [1, 2] {
            assert_eq!(has_verdicts(&results, subject), [true, true]);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Tests whether batches are recognized as having reached the steady level of their subject's
//! pilot.

use crate::fake::{Act, Fake, File, plan};
use lab_bench::Turn;
use lab_model::{Age, Batch, Pilot, Plan, PointId, Run, SubjectId, WarmUp};
use lab_report::wording;
use lab_stats::results::{Results, results};

const BLOCKS: u32 = 8;

/// The time of a warm operation of each subject, in ns. Subject 1 is half as fast as the baseline,
/// and subject 2 a third as fast.
const STEADY_NS: [u64; 3] = [100_000, 200_000, 300_000];

/// Returns a pilot whose turns alternated with the baseline's. All times are multiplied by `speed`,
/// to simulate a slower or faster machine.
fn pilot(subject: SubjectId, point: PointId, speed: f64) -> Pilot {
    let turn = |subject: SubjectId, i: u64| {
        (STEADY_NS[subject.index()] as f64 * speed) as u64 + 500 * (i % 3)
    };
    let batch = |i: u64| Batch {
        operations: 1,
        wall_ns: turn(subject, i),
        cpu_ns: turn(subject, i),
        server_cpu_ns: None,
    };
    let age = |i: u64| Age {
        baseline_requests: 1,
        baseline_cpu_ns: turn(SubjectId(0), i + 1),
        ..Age::default()
    };
    Pilot {
        subject,
        point,
        operations: 1,
        warmup_batches: 400,
        class: WarmUp::Warming,
        cold_ns: 5_000_000,
        batches: (0..440).map(batch).collect(),
        ages: (0..8).map(age).collect(),
    }
}

/// Runs a simulated measurement. `time_ns` returns the duration of each turn.
fn measured(speed_of_pilot: f64, time_ns: impl Fn(u32, Turn) -> f64) -> Run {
    measured_as(&plan(3, BLOCKS), speed_of_pilot, |_| (), time_ns)
}

/// Runs a simulated measurement like [`measured`], for a given plan. `change` modifies each pilot.
fn measured_as(
    plan: &Plan,
    speed_of_pilot: f64,
    change: impl Fn(&mut Pilot),
    time_ns: impl Fn(u32, Turn) -> f64,
) -> Run {
    let pilots = plan
        .points
        .ids()
        .flat_map(|point| [1, 2].map(|s| pilot(SubjectId(s), point, speed_of_pilot)));
    let mut pilots: Vec<Pilot> = pilots.collect();
    pilots.iter_mut().for_each(change);
    let fake = Fake {
        pilots,
        pairs: 4,
        ..Fake::new(|block, turn| Act::Batch(time_ns(block, turn) as u64))
    };
    measure(plan, fake)
}

fn measure(plan: &Plan, fake: Fake) -> Run {
    let file = File::new(plan);
    file.measure(plan, fake).expect("a run");
    file.run()
}

fn scatter(block: u32, turn: Turn) -> f64 {
    1.0 + f64::from((block * 5 + turn.pass * 3 + turn.turn) % 7) / 500.0
}

fn has_verdicts(results: &Results, subject: u32) -> [bool; 2] {
    [0, 1].map(|point| {
        let comparisons = results.comparisons_at(SubjectId(subject), PointId(point));
        comparisons
            .iter()
            .any(|comparison| comparison.verdict.is_some())
    })
}

/// Returns the explanations of why subjects are excluded from the comparison.
fn reasons(results: &Results) -> Vec<String> {
    let reasons = results.exclusions.iter();
    reasons.map(|r| wording::exclusion(&r.reason)).collect()
}

#[test]
fn a_slowly_warming_subject_gets_no_verdict_but_a_recommended_budget() {
    // At the first point, subject 1 becomes faster from turn to turn and never reaches its level.
    let run = measured(1.0, |block, turn| {
        let steady = STEADY_NS[turn.subject.index()] as f64 * scatter(block, turn);
        match (turn.subject.0, turn.point.0) {
            (1, 0) => steady * (2.0 - 0.1 * f64::from(turn.pass)),
            _ => steady,
        }
    });
    let results = results(&run);
    assert_eq!(has_verdicts(&results, 1), [false, true]);
    assert_eq!(has_verdicts(&results, 2), [true, true]);
    let why = reasons(&results);
    assert_eq!(why.len(), 1, "{why:?}");
    for part in [
        "was still warming up at ",
        "(turns 33",
        "steady state 20",
        "its pilot was steady after 401 operations (8",
    ] {
        assert!(why[0].contains(part), "{part} in {why:?}");
    }
}

#[test]
fn subjects_at_the_level_of_their_pilots_get_their_verdicts() {
    let run = measured(1.0, |block, turn| {
        STEADY_NS[turn.subject.index()] as f64 * scatter(block, turn)
    });
    let results = results(&run);
    assert_eq!(results.exclusions, []);
    for subject in [1, 2] {
        assert_eq!(has_verdicts(&results, subject), [true, true]);
    }
}

#[test]
fn a_machine_that_becomes_slower_after_the_pilots_raises_no_alarm() {
    for speed_of_pilot in [1.0 / 1.3, 1.3] {
        let run = measured(speed_of_pilot, |block, turn| {
            let drift = 1.0 + 0.3 * f64::from(block) / f64::from(BLOCKS);
            STEADY_NS[turn.subject.index()] as f64 * drift * scatter(block, turn)
        });
        let results = results(&run);
        assert_eq!(results.exclusions, []);
        for subject in [1, 2] {
            assert_eq!(has_verdicts(&results, subject), [true, true]);
        }
    }
}

#[test]
fn a_cut_short_pilot_gets_no_verdict_but_a_recommended_budget() {
    let mut plan = plan(3, BLOCKS);
    plan.measure.budget_ns = Some(60_000_000_000);
    plan.measure.max_warmup = 480;
    let steady =
        |block: u32, turn: Turn| STEADY_NS[turn.subject.index()] as f64 * scatter(block, turn);
    let cut = |subject: SubjectId| {
        move |pilot: &mut Pilot| {
            if pilot.subject == subject && pilot.point == PointId(0) {
                pilot.class = WarmUp::CutShort;
                // 32 batches, and the turns that alternate with the baseline.
                pilot.batches.truncate(40);
            }
        }
    };
    let run = measured_as(&plan, 1.0, cut(SubjectId(1)), steady);
    let found = results(&run);
    assert_eq!(has_verdicts(&found, 1), [false, true]);
    assert_eq!(has_verdicts(&found, 2), [true, true]);
    let why = reasons(&found);
    assert_eq!(why.len(), 1, "{why:?}");
    // The pilot lacks 88 of 120 batches, or 18 ms. That fits into the second that each pilot has, so only the reserve
    // is added.
    for part in [
        "could not be warmed up at ",
        " in 6.4 ms",
        "; start the run again with --budget 80s",
    ] {
        assert!(why[0].contains(part), "{part} in {why:?}");
    }

    // Here it is unknown whether the baseline was warm.
    let baseline = |pilot: &mut Pilot| {
        if pilot.subject == SubjectId(1) && pilot.point == PointId(0) {
            (pilot.subject, pilot.class) = (SubjectId(0), WarmUp::CutShort);
            pilot.ages.clear();
        }
    };
    let run = measured_as(&plan, 1.0, baseline, steady);
    let found = results(&run);
    for subject in [1, 2] {
        assert_eq!(has_verdicts(&found, subject), [false, true]);
    }
    let why = &reasons(&found)[0];
    assert!(
        why.contains("because the baseline s0 could not be warmed up at "),
        "{why}"
    );

    // A subject is excluded only once even if its own pilot was also truncated.
    let both = |pilot: &mut Pilot| {
        baseline(pilot);
        if pilot.point == PointId(0) {
            pilot.class = WarmUp::CutShort;
        }
    };
    let run = measured_as(&plan, 1.0, both, steady);
    let found = results(&run);
    let excluded: Vec<(SubjectId, bool)> = found
        .exclusions
        .iter()
        .zip(reasons(&found))
        .map(|(r, why)| {
            (
                r.subject,
                why.contains("because the baseline s0 could not be warmed up"),
            )
        })
        .collect();
    assert_eq!(excluded, [(SubjectId(1), true), (SubjectId(2), true)]);
}

#[test]
fn two_lasting_levels_are_distinguished_from_a_warm_up() {
    let why = |time_ns: &dyn Fn(u32, Turn, f64) -> f64| {
        let run = measured(1.0, |block, turn| {
            let steady = STEADY_NS[turn.subject.index()] as f64 * scatter(block, turn);
            match (turn.subject.0, turn.point.0) {
                (1, 0) => time_ns(block, turn, steady),
                _ => steady,
            }
        });
        let results = results(&run);
        assert_eq!(has_verdicts(&results, 1), [false, true]);
        reasons(&results).remove(0)
    };
    let is_slow = |block: u32| block % 8 < 3;
    let lasting = why(&|block, _, steady| if is_slow(block) { 1.7 * steady } else { steady });
    for part in [
        "reached one of two levels at ",
        ": 3 of 8 processes took 34",
        "the others 20",
    ] {
        assert!(lasting.contains(part), "{part} in {lasting}");
    }
    // The slow processes become faster during the block, as in a warm-up.
    let falling = why(&|block, turn, steady| {
        if is_slow(block) {
            steady * (2.0 - 0.08 * f64::from(turn.pass))
        } else {
            steady
        }
    });
    assert!(falling.contains("was still warming up at "), "{falling}");
    // Each process has its own level.
    let scattered = why(&|block, _, steady| steady * (1.0 + 0.1 * f64::from(block)));
    assert!(
        scattered.contains("was still warming up at "),
        "{scattered}"
    );
}

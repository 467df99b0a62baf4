// SPDX-License-Identifier: Apache-2.0
//! Tests that biases are detected where the simulation puts them, and nowhere else.

use crate::simulator;
use crate::simulator::{CALM, Simulator, World};
use lab_model::{Run, Sample, SubjectId};
use lab_stats::results::{Bias, BiasKind, results};

fn simulated(change: impl Fn(&mut [Sample], u32)) -> Run {
    let world = World {
        ratios: vec![1.0, 1.1],
        sweep: vec![1.0, 2.0],
        process: 0.003,
        ..CALM
    };
    let mut run = simulator::run(&world, 7, 20);
    let mut simulator = Simulator::new(&world, 7);
    for number in 0..20 {
        simulator.add_block(&mut run);
        let block = &mut run.blocks[number];
        block.core = number as u32 % 2;
        change(&mut block.samples, block.core);
    }
    run
}

fn slower(sample: &mut Sample, by: f64) {
    sample.batch.wall_ns = (sample.batch.wall_ns as f64 * by) as u64;
}

fn bias_of(run: &Run, subject: u32, kind: BiasKind) -> Bias {
    let found = results(run).biases;
    let mut found = found.into_iter();
    let found = found.find(|b| (b.subject, b.kind) == (SubjectId(subject), kind));
    found.expect("the bias is estimated")
}

#[test]
fn no_bias_is_reported_without_a_bias() {
    let found = results(&simulated(|_, _| ())).biases;
    let out: Vec<_> = found.iter().filter(|bias| bias.stands_out).collect();
    assert!(out.is_empty(), "{out:?}");
    let kinds = |kind| found.iter().filter(|bias| bias.kind == kind).count();
    assert_eq!(
        [BiasKind::CarryOver, BiasKind::Drift, BiasKind::Core(1)].map(kinds),
        [3, 3, 3]
    );
}

#[test]
fn carry_over_is_detected() {
    let run = simulated(|samples, _| {
        for i in 1..samples.len() {
            let (before, after) = (samples[i - 1], samples[i]);
            let follows = before.subject == after.subject && before.point == after.point;
            if follows && after.subject == SubjectId(1) {
                slower(&mut samples[i], 0.9);
            }
        }
    });
    let found = bias_of(&run, 1, BiasKind::CarryOver);
    assert!(found.stands_out, "{found:?}");
    assert!((found.ratio.estimate - 0.9).abs() < 0.01, "{found:?}");
    assert!(!bias_of(&run, 2, BiasKind::CarryOver).stands_out);
}

#[test]
fn drift_within_a_block_is_detected() {
    let run = simulated(|samples, _| {
        let late = samples
            .iter_mut()
            .filter(|s| s.pass >= 20 && s.subject == SubjectId(2));
        late.for_each(|sample| slower(sample, 1.2));
    });
    let found = bias_of(&run, 2, BiasKind::Drift);
    assert!(
        found.stands_out && (found.ratio.estimate - 1.2).abs() < 0.02,
        "{found:?}"
    );
    assert!(!bias_of(&run, 0, BiasKind::Drift).stands_out);
}

#[test]
fn core_effects_on_one_subject_are_detected() {
    let run = simulated(|samples, core| {
        let of_subject = samples
            .iter_mut()
            .filter(|s| core == 1 && s.subject == SubjectId(1));
        of_subject.for_each(|sample| slower(sample, 1.3));
    });
    let found = bias_of(&run, 1, BiasKind::Core(1));
    assert!(
        found.stands_out && (found.ratio.estimate - 1.3).abs() < 0.05,
        "{found:?}"
    );
    assert!(!bias_of(&run, 2, BiasKind::Core(1)).stands_out);
}

#[test]
fn helper_threads_are_detected() {
    let run = simulated(|samples, _| {
        let of_subject = samples.iter_mut().filter(|s| s.subject == SubjectId(2));
        of_subject.for_each(|sample| sample.batch.cpu_ns = 3 * sample.batch.wall_ns / 2);
    });
    let found = bias_of(&run, 2, BiasKind::Helpers);
    assert!(
        found.stands_out && (found.ratio.estimate - 1.5).abs() < 1e-3,
        "{found:?}"
    );
    assert!(!bias_of(&run, 0, BiasKind::Helpers).stands_out);
}

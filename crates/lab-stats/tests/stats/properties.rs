// SPDX-License-Identifier: Apache-2.0
//! Tests properties that hold for any data: symmetries, consistency, and no panics for any content
//! of a file.

use crate::simulator;
use lab_model::{CaseId, Ending, Interval, PointId, Run, Sample, SubjectId};
use lab_stats::analysis::Verdict;
use lab_stats::between::Recorded;
use lab_stats::results::{Results, results};
use lab_stats::{compare_runs, order, rank_sum, signed_rank, stop, warmup};
use proptest::prelude::*;
use std::collections::HashMap;

proptest! {
    /// Swapping the subject and the baseline inverts the ratio.
    #[test]
    fn swapping_subject_and_baseline_inverts_the_ratio(times in blocks_of_times()) {
        let run = two_subjects(&times);
        let mut swapped = run.clone();
        swapped.plan_mut().unwrap().baseline = SubjectId(1);
        let (a, b) = (ratio(&run), ratio(&swapped));
        prop_assert!(close(a.estimate, 1.0 / b.estimate));
        prop_assert!(close(a.low, 1.0 / b.high));
        prop_assert!(close(a.high, 1.0 / b.low));
    }

    /// A clock with another unit does not change any ratio.
    #[test]
    fn scaling_all_times_leaves_the_ratio(times in blocks_of_times(), scale in 2u64..1000) {
        let run = two_subjects(&times);
        let mut scaled = run.clone();
        for sample in scaled.blocks.iter_mut().flat_map(|block| &mut block.samples) {
            sample.batch.wall_ns *= scale;
        }
        let (a, b) = (ratio(&run), ratio(&scaled));
        prop_assert!(close(a.estimate, b.estimate) && close(a.low, b.low) && close(a.high, b.high));
    }

    /// The analysis of a file with arbitrary content has valid intervals.
    #[test]
    fn hostile_runs_do_not_panic(run in hostile_run()) {
        stop(&run);
        let results = results(&run);
        for interval in intervals(&results) {
            prop_assert!(interval.low <= interval.estimate, "{interval:?}");
            prop_assert!(interval.estimate <= interval.high, "{interval:?}");
            prop_assert!((0.0..=1.0).contains(&interval.level), "{interval:?}");
        }
    }

    /// Two files with arbitrary content may still be of one experiment. Comparing them must not
    /// panic.
    #[test]
    fn hostile_pairs_of_runs_do_not_panic(first in hostile_run(), second in hostile_run()) {
        let mut second = second;
        second.started_unix_s += 1.0;
        let hashes = HashMap::new();
        let recorded = |run| Recorded { run, hashes: &hashes };
        let Ok(between) = compare_runs(recorded(&first), recorded(&second)) else {
            return Ok(());
        };
        let changes = between.changes.iter().map(|c| c.change);
        for interval in changes.chain(between.controls.iter().map(|c| c.change)) {
            prop_assert!(interval.low <= interval.estimate, "{interval:?}");
            prop_assert!(interval.estimate <= interval.high, "{interval:?}");
            prop_assert!((0.0..=1.0).contains(&interval.level), "{interval:?}");
        }
    }

    #[test]
    fn swapping_two_runs_inverts_the_change(a in blocks_of_times(), b in blocks_of_times()) {
        let (first, mut second) = (two_subjects(&a), two_subjects(&b));
        second.started_unix_s += 1.0;
        let (forth, back) = (change(&first, &second), change(&second, &first));
        prop_assert!(close(forth.estimate, 1.0 / back.estimate));
        prop_assert!(close(forth.low, 1.0 / back.high));
        prop_assert!(close(forth.high, 1.0 / back.low));
    }

    /// The shift is the median of all differences, found without listing them.
    ///
    /// The p-value and the interval are consistent, and adding a number to one sample adds it to
    /// the shift.
    #[test]
    fn shift_is_the_median_difference(
        first in tied_values(1..20), second in tied_values(1..20), alpha in 0.01..0.5,
    ) {
        let found = rank_sum::shift(&first, &second, alpha).unwrap();
        let differences = second.iter().flat_map(|b| first.iter().map(move |a| b - a));
        let median = order::median(&differences.collect::<Vec<f64>>()).unwrap();
        prop_assert_eq!(found.interval.estimate, median);
        let outside = found.interval.low > 0.0 || found.interval.high < 0.0;
        // If no bound has the level, the widest interval is returned, and p shows how reliable it
        // is.
        if found.interval.level >= 1.0 - alpha {
            prop_assert_eq!(outside, found.p <= alpha);
        }
        let more: Vec<f64> = second.iter().map(|b| b + 64.0).collect();
        let moved = rank_sum::shift(&first, &more, alpha).unwrap().interval;
        prop_assert_eq!(moved.low, found.interval.low + 64.0);
        prop_assert_eq!(moved.high, found.interval.high + 64.0);
    }

    /// The p-value and the interval are consistent, even with ties and zeros.
    #[test]
    fn p_and_interval_agree(values in tied_values(8..40), alpha in 0.01..0.5) {
        let center = signed_rank::center(&values, alpha).unwrap();
        let outside = center.interval.low > 0.0 || center.interval.high < 0.0;
        prop_assert_eq!(outside, center.p <= alpha);
    }

    /// The p-value is valid even with ties and zeros.
    ///
    /// Over all sign changes of the data, which are equally likely if the center is 0, a p-value is
    /// at most as frequent as it claims.
    #[test]
    fn p_is_valid_with_ties(values in tied_values(3..10)) {
        let p = |values: &[f64]| signed_rank::center(values, 0.05).unwrap().p;
        let observed = p(&values);
        let flips = 0..1u32 << values.len();
        let as_small = flips.clone().filter(|signs| {
            let flip = |(i, v): (usize, &f64)| if signs >> i & 1 == 1 { -v } else { *v };
            p(&values.iter().enumerate().map(flip).collect::<Vec<f64>>()) <= observed
        });
        prop_assert!(as_small.count() as f64 / flips.len() as f64 <= observed + 1e-12);
    }

    /// The Hodges-Lehmann estimate is the median of all Walsh averages, found without listing them.
    #[test]
    fn estimate_is_the_median_of_walsh_averages(values in prop::collection::vec(-1e3..1e3, 1..40)) {
        let estimate = signed_rank::center(&values, 0.05).unwrap().interval.estimate;
        prop_assert!((estimate - order::median(&walsh(&values)).unwrap()).abs() < 1e-9);
    }

    /// PELT discards candidates early but still finds the optimum: no division of the values has a
    /// lower cost.
    #[test]
    fn change_points_are_optimal(values in tied_values(2..12), penalty in 0.01..2.0) {
        let cost = |changes: &[usize]| division_cost(&values, changes, penalty);
        let best = (0..1u32 << (values.len() - 1))
            .map(|bits| (1..values.len()).filter(|at| bits >> (at - 1) & 1 == 1).collect::<Vec<_>>())
            .map(|changes| cost(&changes))
            .fold(f64::INFINITY, f64::min);
        prop_assert!(cost(&warmup::change_points(&values, penalty, 1)) <= best + 1e-9);
    }

    /// Warm-up detection uses ratios of times, so the unit of the times does not matter.
    #[test]
    fn warm_up_does_not_depend_on_the_unit(times in prop::collection::vec(1e2..1e6, 4..200)) {
        let scaled: Vec<f64> = times.iter().map(|time| time * 1024.0).collect();
        prop_assert_eq!(warmup::classify(&times).class, warmup::classify(&scaled).class);
    }

    /// For arbitrary times, the first steady batch lies within the batches.
    #[test]
    fn warm_up_takes_any_times(times in prop::collection::vec(any::<f64>(), 0..60)) {
        let steady_from = warmup::classify(&times).steady_from;
        prop_assert!(steady_from.is_none_or(|from| from <= times.len()));
    }
}

/// Returns times in ns of 8 batches of two subjects, in 1 to 30 blocks.
fn blocks_of_times() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop::collection::vec(prop::collection::vec(1000u64..1_000_000, 16), 1..30)
}

fn two_subjects(times: &[Vec<u64>]) -> Run {
    let subjects = [simulator::subject("a", None), simulator::subject("b", None)];
    let mut run = simulator::empty_run(subjects.into(), [point()].into(), 1, 4);
    for (number, times) in times.iter().enumerate() {
        let sample = |(i, &ns): (usize, &u64)| {
            simulator::sample(
                PointId(0),
                SubjectId(i as u32 % 2),
                i as u32 / 2,
                i as u32 % 2,
                10,
                ns,
            )
        };
        let samples = times.iter().enumerate().map(sample).collect();
        run.blocks.push(simulator::block(number as u32, samples));
    }
    run
}

fn point() -> lab_model::Point {
    lab_model::Point {
        case: CaseId(0),
        params: vec![],
        x: None,
        ..Default::default()
    }
}

fn ratio(run: &Run) -> Interval {
    results(run).comparisons[0].ratio
}

fn change(first: &Run, second: &Run) -> Interval {
    let hashes = HashMap::new();
    let recorded = |run| Recorded {
        run,
        hashes: &hashes,
    };
    compare_runs(recorded(first), recorded(second))
        .unwrap()
        .changes[0]
        .change
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Returns runs with samples, plans and endings that benchlab would never write.
fn hostile_run() -> impl Strategy<Value = Run> {
    let number = prop_oneof![Just(0), Just(1), Just(u64::MAX), 0u64..1_000_000];
    let sample = (
        (0u32..6).prop_map(PointId),
        (0u32..5).prop_map(SubjectId),
        prop_oneof![0u32..9, Just(u32::MAX)],
        number.clone(),
        number,
    )
        .prop_map(|(point, subject, pass, operations, ns)| {
            simulator::sample(point, subject, pass, 0, operations, ns)
        });
    let blocks = prop::collection::vec(prop::collection::vec(sample, 0..60), 0..12);
    let odd = prop_oneof![
        Just(0.0),
        Just(-1.0),
        Just(f64::NAN),
        Just(2.0),
        Just(f64::INFINITY),
        0.0..1.0
    ];
    let interim_analyses = prop::collection::vec(0u32..20, 0..4);
    (
        blocks,
        prop::collection::vec(odd, 6),
        interim_analyses,
        (0u32..5).prop_map(SubjectId),
        0usize..3,
    )
        .prop_map(hostile)
}

fn hostile(
    (blocks, odd, interim_analyses, baseline, case): (
        Vec<Vec<Sample>>,
        Vec<f64>,
        Vec<u32>,
        SubjectId,
        usize,
    ),
) -> Run {
    let names = ["a", "b", "c", "d"];
    let subjects = names
        .iter()
        .map(|name| simulator::subject(name, (*name == "d").then_some(SubjectId(0))));
    let points = [None, Some(odd[0]), Some(odd[1]), Some(1.0), Some(odd[2])];
    let points = points.map(|x| lab_model::Point { x, ..point() }).into();
    let mut run = simulator::empty_run(subjects.collect(), points, 1, 4);
    let plan = run.plan_mut().unwrap();
    plan.baseline = baseline;
    plan.points[PointId(0)].case = CaseId(case as u32 / 2);
    plan.measure.alpha = odd[3];
    plan.measure.margin = odd[4];
    plan.measure.precision = Some(odd[5]);
    plan.measure.interim_analyses = interim_analyses.clone();
    run.interim_analyses = interim_analyses;
    run.ending = [None, Some(Ending::Decided), Some(Ending::Budget)][case];
    let block = |(number, samples): (usize, Vec<Sample>)| simulator::block(number as u32, samples);
    run.blocks = blocks.into_iter().enumerate().map(block).collect();
    run
}

fn intervals(results: &Results) -> Vec<Interval> {
    let cells = results.cells.iter();
    let fits = results.fits.iter();
    cells
        .filter_map(|c| c.value.interval().copied())
        .chain(results.comparisons.iter().map(|c| c.ratio))
        .chain(results.controls.iter().map(|c| c.ratio))
        .chain(fits.flat_map(|f| [f.fixed_ns, f.marginal_ns]))
        .chain(results.overall.iter().map(|o| o.ratio))
        .chain(results.effects.iter().map(|e| e.ratio))
        .collect()
}

/// Returns small multiples of 1/2, many of which are equal, opposite or zero.
fn tied_values(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-6i8..=8).prop_map(|v| f64::from(v) / 2.0), count)
}

fn walsh(values: &[f64]) -> Vec<f64> {
    let pairs = (0..values.len()).flat_map(|i| (i..values.len()).map(move |j| (i, j)));
    pairs.map(|(i, j)| 0.5 * (values[i] + values[j])).collect()
}

fn division_cost(values: &[f64], changes: &[usize], penalty: f64) -> f64 {
    let starts = std::iter::once(0).chain(changes.iter().copied());
    let ends = changes.iter().copied().chain([values.len()]);
    let squares = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        part.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>()
    };
    let cost: f64 = starts
        .zip(ends)
        .map(|(start, end)| squares(&values[start..end]))
        .sum();
    cost + penalty * (values.len() as f64).ln() * changes.len() as f64
}

/// A run without blocks must not stop, because no reason to stop is known yet.
#[test]
fn a_run_without_blocks_is_empty_and_continues() {
    let run = two_subjects(&[]);
    let results = results(&run);
    assert_eq!(
        (
            results.blocks,
            results.cells.len(),
            results.comparisons.len()
        ),
        (0, 0, 0)
    );
    assert_eq!(stop(&run), None);
}

/// One block supports an estimate, but no verdict.
#[test]
fn one_block_has_no_verdict() {
    let results = results(&two_subjects(&[(0..16)
        .map(|i| 1000 + i % 2 * 5000)
        .collect()]));
    let comparison = &results.comparisons[0];
    assert_eq!(comparison.ratio.level, 0.0);
    assert_eq!(
        comparison.verdict,
        Some(Verdict::Inconclusive {
            blocks_needed: Some(6)
        })
    );
}

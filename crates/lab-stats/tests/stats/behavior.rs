// SPDX-License-Identifier: Apache-2.0
//! Tests results in situations that users encounter: verdicts, exclusions, warnings, interim
//! analyses, sweeps and warm-up.

use crate::simulator;
use crate::simulator::figures::{interval, judged, measured_cells, reading, warning, warnings};
use crate::simulator::{CALM, FIXED, MARGINAL, Simulator, World};
use lab_model::SubjectId;
use lab_model::*;
use lab_stats::analysis::{ExclusionReason, Verdict};
use lab_stats::outlook::{Certainty, Outlook, SAME_ALPHA};
use lab_stats::ratio::Ratio;
use lab_stats::results::results;
use lab_stats::sign_flip::together;
use lab_stats::verdict::{Margin, verdict};
use lab_stats::{spending, stop, warmup};
use serde_json::json;

/// Returns a simulated run. `ratios` contains the subjects' true ratios to the baseline.
fn measured(ratios: &[f64], blocks: u32) -> Run {
    let world = World {
        ratios: ratios.to_vec(),
        ..CALM
    };
    grown(simulator::run(&world, 1, 8), &world, blocks)
}

fn grown(mut run: Run, world: &World, blocks: u32) -> Run {
    let mut simulator = Simulator::new(world, 1);
    (0..blocks).for_each(|_| simulator.add_block(&mut run));
    run
}

fn plan(run: &mut Run) -> &mut Plan {
    run.plan_mut().unwrap()
}

#[test]
fn verdicts_match_the_documentation() {
    let within = |low: f64, high: f64, wide: f64| {
        let interval = Interval {
            estimate: (low * high).sqrt(),
            low,
            high,
            level: 0.95,
        };
        let half = 0.5 * (high / low).ln();
        let ratio = Ratio {
            interval,
            p: 0.5,
            values: 12,
            width: 1,
            dependent: false,
            unresolved: false,
            sufficient: true,
            assumed: false,
            needed: 6,
            certainty: Certainty {
                error: half / 2.2,
                freedom: 11.0,
                borrowed: 0.0,
                family: 1,
                alpha: 0.05,
            },
        };
        let margin = Margin {
            wide,
            requested: 0.02,
        };
        verdict(&ratio, margin, &Outlook::new(SAME_ALPHA))
    };
    let decide = |low, high| within(low, high, 0.02);
    assert_eq!(decide(0.90, 0.979), Verdict::Faster);
    assert_eq!(decide(0.90, 0.981), Verdict::SmallButReal { faster: true });
    assert_eq!(decide(1.021, 1.5), Verdict::Slower);
    assert_eq!(decide(1.001, 1.5), Verdict::SmallButReal { faster: false });
    assert_eq!(decide(0.98, 1.02), Verdict::Equivalent);
    assert_eq!(decide(1.005, 1.015), Verdict::Equivalent);
    // If two copies of one program differ by 5 %, a difference of 3 % is not real.
    let raised = |low, high| within(low, high, 0.05);
    assert_eq!(raised(1.06, 1.5), Verdict::Slower);
    assert_eq!(raised(1.01, 1.04), Verdict::Equivalent);
    assert!(matches!(raised(1.03, 1.08), Verdict::Inconclusive { .. }));
    // The half-width of 4 % from 12 blocks must shrink to about 1 %, because the true ratio may
    // also be 1.01.
    let Verdict::Inconclusive {
        blocks_needed: Some(blocks),
    } = decide(0.96, 1.04)
    else {
        panic!("an interval around 1 and beyond the margin decides nothing");
    };
    assert!((115..=145).contains(&blocks), "{blocks}");
}

#[test]
fn few_blocks_report_their_assumption() {
    let results = results(&measured(&[1.0, 1.5, 1.0, 1.0], 3));
    let found = &results.comparisons[0];
    assert_eq!((found.ratio.level, results.level), (0.95, 0.95));
    let slower = results
        .comparison(SubjectId(2), PointId(0), &Metric::WALL)
        .unwrap();
    assert_eq!(slower.verdict, Some(Verdict::Slower));
    let few = warning(&results, "few-blocks");
    assert_eq!((&few["replicates"], &few["needed"]), (&json!(3), &json!(6)));
}

/// Six blocks in which the subject is always slower suffice for a verdict, regardless of their
/// spread: no other combination of signs is as extreme.
#[test]
fn six_blocks_that_agree_decide() {
    let logs: Vec<Option<f64>> = [0.7, 2.3, 1.1, 1.9, 0.9, 1.4].map(Some).to_vec();
    let found = together(&[logs.clone().into()], 0.05, 1)[0].unwrap();
    assert_eq!(found.p, 1.0 / 32.0);
    let twice = together(&[logs.clone().into(), logs.into()], 0.05, 1);
    assert_eq!(
        twice,
        [Some(found), Some(found)],
        "two copies of a comparison count as one"
    );
    assert!(found.interval.low > 1.0, "{found:?}");
    assert!(
        found.interval.low < 2.0 && found.interval.high > 10.0,
        "{found:?}"
    );
}

#[test]
fn interim_analyses_spend_alpha_and_an_early_end_uses_the_rest() {
    let mut run = measured(&[1.0], 8);
    let alpha = |run: &Run| spending::alpha(run, run.plan().unwrap());
    run.ending = Some(Ending::Budget);
    assert_eq!(alpha(&run), 0.05);
    let mut run = measured(&[1.0], 14);
    run.interim_analyses = vec![10];
    assert!((alpha(&run) - 0.05 * 7.0 / 8.0).abs() < 1e-15);
    let mut run = measured(&[1.0], 20);
    run.interim_analyses = vec![10];
    run.ending = Some(Ending::Decided);
    assert!((alpha(&run) - 0.05 / 8.0).abs() < 1e-15);
    let mut run = measured(&[1.0], 80);
    run.interim_analyses = vec![10, 20, 40];
    run.ending = Some(Ending::Blocks);
    assert!((alpha(&run) - 0.05 / 2.0).abs() < 1e-15);
}

#[test]
fn a_run_stops_at_an_interim_analysis_when_all_is_resolved_and_reports_the_same_results() {
    let mut run = measured(&[1.5, 0.5], 10);
    assert_eq!(stop(&run), Some(Ending::Decided));
    run.ending = Some(Ending::Decided);
    let results = results(&run);
    assert_eq!(judged(&results)[0].1, Verdict::Slower);
    assert_eq!(judged(&results)[1].1, Verdict::Faster);
    assert_eq!(
        stop(&measured(&[1.5, 0.5], 9)),
        None,
        "9 blocks are not an interim analysis"
    );
    run.interim_analyses = vec![10];
    assert_eq!(
        stop(&run),
        None,
        "an interim analysis that did not stop the run is not repeated"
    );
}

#[test]
fn a_run_ends_with_its_last_interim_analysis_block_or_pair() {
    let mut run = measured(&[1.02], 12);
    plan(&mut run).measure.max_blocks = 12;
    assert_eq!(stop(&run), Some(Ending::Blocks));
    plan(&mut run).measure.max_blocks = 1000;
    assert_eq!(stop(&run), None);
    plan(&mut run).measure.interim_analyses = vec![4, 12];
    plan(&mut run).measure.precision = Some(1e-6);
    assert_eq!(stop(&run), Some(Ending::Blocks));
    run.failures = vec![failure(1, None, "crash")];
    assert_eq!(stop(&run), Some(Ending::Failed));
}

#[test]
fn the_baseline_alone_is_measured_where_the_others_lack_something_from_the_start() {
    let ended = |failures| {
        let mut run = measured(&[1.02, 1.5], 9);
        run.failures = failures;
        stop(&run)
    };
    let lack = |subject| failure(subject, None, "setting");
    assert_eq!(ended(vec![lack(1), failure(2, None, "missing")]), None);
    // These do not count: a real failure, a failure in the middle of the run, and a baseline that
    // lacks something.
    let later = Failure {
        block: Some(3),
        ..lack(2)
    };
    for other in [failure(2, None, "build"), later, lack(0)] {
        assert_eq!(ended(vec![lack(1), other]), Some(Ending::Failed));
    }
}

#[test]
fn a_requested_precision_replaces_the_resolution_of_comparisons() {
    let mut run = measured(&[1.5], 10);
    plan(&mut run).measure.precision = Some(0.001);
    assert_eq!(stop(&run), None);
    plan(&mut run).measure.precision = Some(0.05);
    assert_eq!(stop(&run), Some(Ending::Precise));
}

#[test]
fn only_complete_blocks_count() {
    let mut run = measured(&[1.5], 12);
    run.blocks[3].state = BlockState::Disturbed;
    run.blocks[11].state = BlockState::Incomplete;
    let results = results(&run);
    assert_eq!((results.blocks, results.disturbed_blocks), (10, 1));
    assert_eq!(results.cells[0].blocks, 10);
    assert_eq!(warnings(&results, "disturbed").len(), 1);
}

#[test]
fn a_control_that_differs_raises_the_margin() {
    let mut run = measured(&[1.05, 1.04], 12);
    let all = results(&run);
    assert!(all.controls[0].met && all.controls[0].margin == 0.02);
    assert_eq!(judged(&all)[0].1, Verdict::Slower);
    // The second subject becomes the control: a copy that is 4 % slower.
    plan(&mut run).subjects[SubjectId(2)].control_of = Some(SubjectId(0));
    let all = results(&run);
    let control = &all.controls[0];
    assert!(!control.met && control.margin == control.ratio.high - 1.0 && control.margin > 0.035);
    assert_ne!(judged(&all)[0].1, Verdict::Slower);
    assert_eq!(warnings(&all, "noise-floor").len(), 1);
}

#[test]
fn subjects_ahead_of_the_reference_are_named() {
    // One subject takes half of the baseline's time, one is equivalent, and one takes half as much
    // time again.
    let mut run = measured(&[0.5, 0.99, 1.5], 12);
    assert!(warnings(&results(&run), "reference-beaten").is_empty());
    plan(&mut run).subjects[SubjectId(0)].reference = true;
    let all = results(&run);
    let beaten = warning(&all, "reference-beaten");
    assert_eq!(beaten["reference"], "base");
    assert_eq!(beaten["faster"], json!(["s1"]));
    // One reference that is faster than another says nothing about either.
    plan(&mut run).subjects[SubjectId(1)].reference = true;
    assert!(warnings(&results(&run), "reference-beaten").is_empty());
}

#[test]
fn differences_from_a_beaten_reference_are_reported() {
    let mut run = measured(&[0.5, 1.5], 12);
    plan(&mut run).subjects[SubjectId(0)].reference = true;
    plan(&mut run).experiment = "sql".into();
    plan(&mut run).proof.conditions = ["round_trips", "version"].map(String::from).into();
    for (subject, trips, version) in [(0, "3", "1"), (1, "2", "2"), (2, "3", "2")] {
        run.settings
            .push(setting(subject, Some(0), "round_trips", trips));
        run.settings
            .push(setting(subject, None, "version", version));
    }
    let beaten = warning(&results(&run), "reference-beaten");
    let differs = json!([{
        "key": "round_trips",
        "baseline": {"value": "3", "subject": "base"},
        "others": [{"value": "2", "subject": "s1"}],
    }]);
    assert_eq!(beaten["settings"], differs);
    let explain = beaten["explain"].as_str().unwrap();
    assert!(explain.starts_with("benchlab explain sql --cases "));
    assert!(explain.ends_with(" --subjects base,s1"), "{explain}");
}

#[test]
fn a_reference_that_is_not_beaten_causes_no_warning() {
    let mut run = measured(&[0.5, 0.5, 0.9], 12);
    plan(&mut run).subjects[SubjectId(0)].reference = true;
    assert_eq!(warnings(&results(&run), "reference-beaten").len(), 1);
    plan(&mut run).subjects[SubjectId(2)].reference = true;
    assert!(warnings(&results(&run), "reference-beaten").is_empty());
}

fn failure(subject: u32, point: Option<u32>, kind: &str) -> Failure {
    let message = "it stopped with status 1".to_string();
    Failure {
        subject: SubjectId(subject),
        point: point.map(PointId),
        block: None,
        kind: kind.to_string(),
        message,
        log: vec![],
    }
}

#[test]
fn failed_subjects_are_not_compared_and_have_no_values() {
    let mut run = measured(&[1.5, 1.0], 12);
    run.failures = vec![failure(1, Some(0), "crash"), failure(99, None, "crash")];
    let results = results(&run);
    assert_eq!(judged(&results).len(), 1);
    assert_eq!(results.comparisons[0].key.subject, SubjectId(2));
    assert!(
        results
            .cells
            .iter()
            .all(|cell| cell.key.subject != SubjectId(1))
    );
    let failed = ExclusionReason::Failed {
        kind: "crash".into(),
        message: "it stopped with status 1".into(),
    };
    assert_eq!(results.exclusions[0].reason, failed);
    assert_eq!(warnings(&results, "failed").len(), 1);
}

#[test]
fn without_the_baseline_nothing_is_compared_but_all_is_shown() {
    let mut run = measured(&[1.5, 1.0], 12);
    run.failures = vec![failure(0, None, "build")];
    let results = results(&run);
    assert!(results.comparisons.is_empty() && results.controls.is_empty());
    assert_eq!(results.exclusions.len(), 4);
    assert_eq!(measured_cells(&results).len(), 3);
}

fn setting(subject: u32, point: Option<u32>, key: &str, value: &str) -> Setting {
    Setting {
        subject: SubjectId(subject),
        point: point.map(PointId),
        key: key.to_string(),
        value: value.to_string(),
    }
}

#[test]
fn different_settings_are_excluded_with_both_values_named() {
    let mut run = measured(&[1.5, 1.0], 12);
    plan(&mut run).proof.equal = vec!["journal_mode".to_string()];
    plan(&mut run).proof.conditions = vec!["sqlite_version".to_string()];
    run.settings = (0..4)
        .map(|s| setting(s, Some(0), "journal_mode", "delete"))
        .collect();
    run.settings
        .extend((0..4).map(|s| setting(s, None, "sqlite_version", "3.40.1")));
    assert!(results(&run).exclusions.is_empty());

    run.settings[1].value = "wal".to_string();
    run.settings[6].value = "3.45.0".to_string();
    let all = results(&run);
    assert_eq!(judged(&all).len(), 1);
    assert_eq!(all.exclusions.len(), 1);
    let excluded = |value: Option<&str>| ExclusionReason::SettingDiffers {
        key: "journal_mode".into(),
        value: value.map(String::from),
        baseline_value: Some("delete".into()),
        baseline: "base".into(),
    };
    assert_eq!(all.exclusions[0].reason, excluded(Some("wal")));
    let version = json!({"value": "3.45.0", "subject": "s2"});
    assert_eq!(warning(&all, "versions")["others"], json!([version]));

    // A setting that was not reported counts as different, and so does a setting whose value
    // changed.
    run.settings.remove(1);
    assert_eq!(results(&run).exclusions[0].reason, excluded(None));
    run.settings
        .push(setting(1, Some(0), "journal_mode", "delete"));
    run.settings
        .push(setting(1, Some(0), "journal_mode", "off"));
    let reason = &results(&run).exclusions[0].reason;
    assert_eq!(*reason, excluded(Some("delete, then off")));
}

#[test]
fn the_mean_counts_pauses_that_the_typical_time_leaves_out() {
    let mut run = measured(&[0.9], 80);
    let pauses = |run: &Run| interval(&results(run), SubjectId(1), PointId(0), &Metric::PAUSES);
    assert!(pauses(&run).high < 0.01, "{:?}", pauses(&run));
    for block in &mut run.blocks {
        // One batch in sixteen takes eleven times as long, as with a garbage collector.
        let paused = block
            .samples
            .iter_mut()
            .find(|s| s.subject == SubjectId(1))
            .unwrap();
        paused.batch.wall_ns *= 11;
    }
    let results = results(&run);
    assert_eq!(judged(&results)[0].1, Verdict::Faster);
    let mean = results
        .comparison(SubjectId(1), PointId(0), &Metric::MEAN_WALL)
        .unwrap();
    assert!(mean.ratio.low > 1.0);
    let cost = pauses(&run);
    assert!(cost.low < 0.625 && 0.625 < cost.high, "{cost:?}");
}

/// A pause in one block out of ten prolongs the block by half.
#[test]
fn pauses_in_some_blocks_affect_the_mean() {
    let mut run = measured(&[1.0], 80);
    for block in run.blocks.iter_mut().step_by(10) {
        for sample in block
            .samples
            .iter_mut()
            .filter(|s| s.subject == SubjectId(1))
        {
            sample.batch.wall_ns = sample.batch.wall_ns * 3 / 2;
        }
    }
    let found = results(&run);
    let mean = found
        .comparison(SubjectId(1), PointId(0), &Metric::MEAN_WALL)
        .unwrap()
        .ratio;
    assert!((1.03..1.07).contains(&mean.estimate), "{mean:?}");
    assert!(mean.low < 1.05 && 1.05 < mean.high, "{mean:?}");
    // The interval follows the skew of the values.
    assert!(
        mean.high / mean.estimate > mean.estimate / mean.low,
        "{mean:?}"
    );
    run.blocks.truncate(79);
    let fewer = results(&run);
    let mean = fewer
        .comparison(SubjectId(1), PointId(0), &Metric::MEAN_WALL)
        .unwrap()
        .ratio;
    assert_eq!(mean.level, 0.0, "a rare pause may be in none of 79 blocks");
}

#[test]
fn dependent_blocks_are_merged_or_inconclusive() {
    let wave = |blocks: u32, length: u32| {
        let mut run = measured(&[1.0], blocks);
        for (i, block) in run.blocks.iter_mut().enumerate() {
            let factor = if i as u32 % length < length / 2 {
                1.0
            } else {
                2.0
            };
            for sample in block
                .samples
                .iter_mut()
                .filter(|s| s.subject == SubjectId(1))
            {
                sample.batch.wall_ns = (sample.batch.wall_ns as f64 * factor) as u64;
            }
        }
        results(&run)
    };
    let merged = wave(40, 10);
    assert!(merged.comparisons[0].merged && merged.comparisons[0].blocks < 40);
    let unresolved = wave(10, 10);
    let comparison = &unresolved.comparisons[0];
    assert!(
        matches!(comparison.verdict, Some(Verdict::Inconclusive { .. })),
        "{comparison:?}"
    );
    assert_eq!(
        warnings(&unresolved, "dependent").len(),
        1,
        "{comparison:?}"
    );
}

fn sweep() -> World {
    World {
        ratios: vec![2.0],
        sweep: vec![1.0, 10.0, 100.0, 500.0, 1000.0],
        ..CALM
    }
}

#[test]
fn sweeps_give_fixed_and_marginal_cost_the_same_every_time() {
    let run = grown(simulator::run(&sweep(), 1, 8), &sweep(), 12);
    let all = results(&run);
    let fit = all
        .fits
        .iter()
        .find(|fit| fit.subject == SubjectId(1))
        .unwrap();
    let near = |i: Interval, truth: f64| i.low <= truth && truth <= i.high && i.high / i.low < 1.25;
    assert!(near(fit.fixed_ns, 2.0 * FIXED), "{:?}", fit.fixed_ns);
    assert!(
        near(fit.marginal_ns, 2.0 * MARGINAL),
        "{:?}",
        fit.marginal_ns
    );
    assert!(!fit.curved && fit.worst_residual < 0.02, "{fit:?}");
    assert_eq!(
        fit.fixed_ns,
        results(&run)
            .fits
            .iter()
            .find(|f| f.subject == SubjectId(1))
            .unwrap()
            .fixed_ns
    );
    assert_eq!(all.overall[0].points, 5);
    assert!((all.overall[0].ratio.estimate - 2.0).abs() < 0.03);
}

#[test]
fn a_bent_sweep_is_called_curved() {
    let mut run = grown(simulator::run(&sweep(), 1, 8), &sweep(), 12);
    // Above 100 rows, the data no longer fits into the cache: each row costs half as much again.
    for sample in run
        .blocks
        .iter_mut()
        .flat_map(|b| &mut b.samples)
        .filter(|s| s.point > PointId(2))
    {
        sample.batch.wall_ns = sample.batch.wall_ns * 3 / 2;
    }
    assert!(
        results(&run)
            .fits
            .iter()
            .all(|fit| fit.curved && fit.worst_residual > 0.05)
    );
}

#[test]
fn a_factor_is_compared_with_its_first_value_within_each_subject() {
    let world = World {
        ratios: vec![2.0],
        sweep: vec![1.0, 100.0],
        ..CALM
    };
    let mut run = simulator::run(&world, 1, 8);
    // Two swept values with two values of the factor each.
    let points = run.plan().unwrap().points.clone();
    let mut with_factor = IdVec::new();
    for text in ["prepared", "text"] {
        let with = |p: &Point| {
            let mut point = p.clone();
            point
                .params
                .push(("statement".to_string(), text.to_string()));
            point
        };
        with_factor.extend(points.iter().map(with));
    }
    plan(&mut run).points = with_factor;
    let mut run = grown(run, &world, 12);
    for sample in run
        .blocks
        .iter_mut()
        .flat_map(|b| &mut b.samples)
        .filter(|s| s.point >= PointId(2))
    {
        sample.batch.wall_ns *= 3;
    }
    let factors = results(&run).effects;
    let pairs: Vec<_> = factors.iter().map(|f| (f.subject, &f.pairs[..])).collect();
    let [first, second] = [(0, 2), (1, 3)].map(|(from, to)| [(PointId(from), PointId(to))]);
    let expected: Vec<_> = (0..3)
        .map(SubjectId)
        .flat_map(|s| [(s, &first[..]), (s, &second[..])])
        .collect();
    assert_eq!(pairs, expected);
    assert!(
        factors
            .iter()
            .all(|f| (f.ratio.estimate - 3.0).abs() < 0.1 && f.factor == "statement")
    );
    assert_eq!(
        results(&run).fits.len(),
        6,
        "a line for each subject and value of the factor"
    );
}

#[test]
fn footprints_are_medians_over_blocks() {
    let mut run = measured(&[1.0], 7);
    for (i, block) in run.blocks.iter_mut().enumerate() {
        let rss_bytes = 1000 * (i as u64 + 1);
        let startup_ns = 10 * (i as u64 + 1);
        block.processes = vec![ProcessStart {
            subject: SubjectId(0),
            startup_ns,
            startup_cpu_ns: 0,
        }];
        let resources = |rss_bytes, peak_rss_bytes| Resources {
            subject: SubjectId(0),
            point: PointId(0),
            rss_bytes,
            peak_rss_bytes,
            threads: 3 + i as u32 % 2,
            user_ns: 5,
            sys_ns: 6,
            voluntary_switches: 0,
            involuntary_switches: 0,
            server_bytes: None,
        };
        block.resources = vec![resources(1, 9000), resources(rss_bytes, 8000)];
    }
    let results = results(&run);
    let of = |metric| interval(&results, SubjectId(0), None, &metric);
    let memory = of(Metric::MEMORY);
    assert_eq!(
        (memory.estimate, memory.low, memory.high),
        (4000.0, 1000.0, 7000.0)
    );
    assert_eq!(of(Metric::PEAK_MEMORY).estimate, 9000.0);
    assert_eq!(of(Metric::STARTUP).estimate, 40.0);
    let of = |metric| reading(&results, SubjectId(0), None, &metric);
    let found = [Metric::THREADS, Metric::USER_CPU, Metric::SYSTEM_CPU].map(of);
    assert_eq!(found, [Some(4.0), Some(5.0), Some(6.0)]);
    assert!(
        results.cells_at(SubjectId(1), None).is_empty(),
        "a failed subject has no values"
    );
}

/// Returns batch times with 3 % noise around the levels of consecutive stretches.
fn batches(stretches: &[(usize, f64)]) -> Vec<f64> {
    let mut random = simulator::Random(7);
    let stretch = |&(count, level): &(usize, f64)| std::iter::repeat_n(level, count);
    let levels: Vec<f64> = stretches.iter().flat_map(stretch).collect();
    levels
        .into_iter()
        .map(|level| level * (0.03 * random.normal()).exp())
        .collect()
}

fn class(times: &[f64]) -> (WarmUp, Option<usize>) {
    let found = warmup::classify(times);
    (found.class, found.steady_from)
}

#[test]
fn warm_up_classes_are_distinguished() {
    assert_eq!(class(&batches(&[(100, 1.0)])), (WarmUp::Flat, Some(0)));
    assert_eq!(
        class(&batches(&[(20, 3.0), (80, 1.0)])),
        (WarmUp::Warming, Some(20))
    );
    assert_eq!(
        class(&batches(&[(40, 1.0), (60, 1.5)])),
        (WarmUp::Slowing, Some(40))
    );
    assert_eq!(
        class(&batches(&[(1, 30.0), (2, 4.0), (97, 1.0)])),
        (WarmUp::Warming, Some(3))
    );
    let falling = batches(&[(30, 8.0), (30, 4.0), (30, 2.0), (10, 1.0)]);
    assert_eq!(class(&falling), (WarmUp::NoSteadyState, None));
    // A typical JIT: interpreter, first compiler, second compiler.
    let jit = batches(&[(3, 40.0), (12, 6.0), (25, 2.0), (160, 1.0)]);
    assert_eq!(class(&jit), (WarmUp::Warming, Some(40)));
}

#[test]
fn interrupts_and_a_drifting_machine_are_not_warm_up() {
    let mut spiked = batches(&[(120, 1.0)]);
    for at in [1, 17, 50, 51, 90, 119] {
        spiked[at] *= 5.0;
    }
    assert_eq!(class(&spiked), (WarmUp::Flat, Some(0)));
    let wandering = batches(&[
        (30, 1.0),
        (30, 1.5),
        (20, 1.0),
        (20, 1.5),
        (20, 1.0),
        (20, 1.5),
    ]);
    assert_eq!(class(&wandering), (WarmUp::Flat, Some(0)));
    assert_eq!(class(&[1.0; 50]), (WarmUp::Flat, Some(0)));
}

#[test]
fn pilots_without_steady_state_and_unfit_hosts_cause_warnings() {
    let mut run = measured(&[1.0], 12);
    run.pilots = vec![Pilot {
        subject: SubjectId(1),
        point: PointId(0),
        operations: 10,
        warmup_batches: 5,
        class: WarmUp::NoSteadyState,
        cold_ns: 77,
        batches: vec![],
        ages: Vec::new(),
    }];
    let what = "one core only".to_string();
    run.host.findings = vec![host::HostFinding {
        unfit: true,
        what,
        advice: "use another".to_string(),
    }];
    let results = results(&run);
    let changing = warning(&results, "no-steady-state");
    assert_eq!(changing["subjects"][0]["name"], "s1");
    let unfit = json!({"code": "unfit-host", "what": "one core only", "advice": "use another"});
    assert_eq!(warning(&results, "host"), unfit);
    assert_eq!(
        results.warm_ups,
        [(SubjectId(1), PointId(0), WarmUp::NoSteadyState)]
    );
    assert_eq!(
        reading(&results, SubjectId(1), PointId(0), &Metric::COLD),
        Some(77.0)
    );
    assert_eq!(
        warnings(&results, "interrupted").len(),
        1,
        "the run has not ended"
    );
}

#[test]
fn imported_values_have_no_results() {
    let mut run = measured(&[1.0], 3);
    run.content = Content::default();
    let results = results(&run);
    assert!(results.cells.is_empty() && results.warnings.is_empty());
    assert_eq!(stop(&run), None);
}

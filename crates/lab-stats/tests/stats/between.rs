// SPDX-License-Identifier: Apache-2.0
//! Tests changes between two runs of one experiment in situations that users encounter.

use crate::simulator;
use crate::simulator::{CALM, Simulator, World, target};
use lab_model::SubjectId;
use lab_model::host::HostFinding;
use lab_model::*;
use lab_stats::analysis::{ExclusionReason, Verdict};
use lab_stats::between::{
    Between, Caveat, Changed, Incomparable, NotCompared, ProgramMatch, Recorded, WhichRun,
};
use lab_stats::compare_runs;
use lab_stats::results::warning::Replicate;
use std::collections::HashMap;

/// Returns a run of the subjects `base`, `s1` … and a control.
fn measured(ratios: &[f64], blocks: u32, seed: u64) -> Run {
    let world = World {
        ratios: ratios.to_vec(),
        ..CALM
    };
    let mut run = simulator::run(&world, seed, 8);
    run.name = format!("{seed}.lab");
    run.benchlab_version = "1".to_string();
    run.ending = Some(Ending::Blocks);
    let mut simulator = Simulator::new(&world, seed);
    (0..blocks).for_each(|_| simulator.add_block(&mut run));
    run
}

/// Returns program hashes that are equal for all subjects except for `others`.
fn hashes(others: &[&str]) -> HashMap<String, String> {
    let names = ["base", "s1", "s2", "control"];
    let hash = |name: &&str| {
        if others.contains(name) {
            "new".to_string()
        } else {
            "old".to_string()
        }
    };
    names.iter().map(|n| (n.to_string(), hash(n))).collect()
}

fn compare(first: &Run, second: &Run, changed: &[&str]) -> Result<Between, Incomparable> {
    let (before, after) = (hashes(&[]), hashes(changed));
    compare_runs(
        Recorded {
            run: first,
            hashes: &before,
        },
        Recorded {
            run: second,
            hashes: &after,
        },
    )
}

fn caveats(between: &Between) -> Vec<&'static str> {
    between.caveats.iter().map(|c| c.kind().name()).collect()
}

fn plan(run: &mut Run) -> &mut Plan {
    run.plan_mut().unwrap()
}

#[test]
fn changed_subjects_are_distinguished_from_a_faster_machine() {
    let before = measured(&[1.2, 1.5], 20, 1);
    let mut after = measured(&[1.1, 1.5], 20, 2);
    // The whole machine is twice as fast.
    for sample in after.blocks.iter_mut().flat_map(|b| &mut b.samples) {
        sample.batch.wall_ns /= 2;
    }
    let found = compare(&before, &after, &["s1"]).unwrap();
    let changes: Vec<&Changed> = found.judged().collect();
    let [s1, s2] = changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(
        (s1.verdict, s1.program),
        (Some(Verdict::Faster), ProgramMatch::Changed)
    );
    assert!(s1.change.low < 1.1 / 1.2 && 1.1 / 1.2 < s1.change.high);
    assert_eq!(
        (s2.verdict, s2.program),
        (Some(Verdict::Equivalent), ProgramMatch::Same)
    );
    assert_eq!(caveats(&found), Vec::<&str>::new());
    // Times are halved for all subjects, which says nothing about any of them.
    let times: Vec<&Changed> = found.times().collect();
    let base = times[0];
    assert!(base.reference && base.change.high < 0.7, "{base:?}");
    assert_eq!(times.len(), 4);
    assert_eq!(found.baseline_program, ProgramMatch::Same);
}

#[test]
fn different_baselines_and_hosts_cause_caveats() {
    let mut before = measured(&[1.2], 10, 1);
    let mut after = measured(&[1.2], 10, 2);
    after.host.facts = vec![("cpu".into(), "another".into())];
    after.host.findings = vec![HostFinding {
        unfit: true,
        what: "other programs use 95 % of the cores".into(),
        advice: "end them".into(),
    }];
    after.benchlab_version = "2".into();
    plan(&mut after).measure.pairs = 9;
    let setting = |value: &str| Setting {
        subject: SubjectId(1),
        point: Some(PointId(0)),
        key: "journal_mode".into(),
        value: value.into(),
    };
    before.settings.push(setting("wal"));
    after.settings.push(setting("delete"));
    let found = compare(&before, &after, &["base", "control"]).unwrap();
    assert_eq!(
        caveats(&found),
        ["baseline", "host", "settings", "measuring", "unfit-host"]
    );
    let differing: Vec<(&str, Option<&str>, Option<&str>)> = found
        .differences
        .iter()
        .map(|d| (d.what.as_str(), d.first.as_deref(), d.second.as_deref()))
        .collect();
    assert_eq!(
        differing,
        [
            ("cpu", None, Some("another")),
            ("benchlab version", Some("1"), Some("2")),
            ("program of base", Some("old"), Some("new")),
            ("program of control", Some("old"), Some("new")),
            ("journal_mode of s1", Some("wal"), Some("delete")),
            ("pairs of passes", Some("8"), Some("9")),
        ]
    );
}

#[test]
fn changed_ratios_of_unchanged_programs_are_marked() {
    let found = compare(&measured(&[1.2], 20, 1), &measured(&[1.4], 20, 2), &[]).unwrap();
    assert_eq!(found.changes[0].verdict, Some(Verdict::Slower));
    assert_eq!(caveats(&found), ["same-program"]);
}

#[test]
fn few_blocks_report_their_assumption() {
    let found = compare(&measured(&[1.2], 5, 1), &measured(&[1.4], 20, 2), &[]).unwrap();
    let change = &found.changes[0];
    assert_eq!(change.verdict, Some(Verdict::Slower));
    assert_eq!(change.change.level, 0.95);
    assert_eq!(caveats(&found), ["few-blocks", "same-program"]);
    let few = Caveat::TooFewBlocks {
        replicates: [5, 20],
        needed: 6,
        unit: Replicate::Block,
        loads: false,
    };
    assert_eq!(found.caveats[0], few);
}

#[test]
fn a_control_that_changed_raises_the_margin() {
    let before = measured(&[1.2], 20, 1);
    let mut after = measured(&[1.2], 20, 2);
    let control = plan(&mut after).control().unwrap();
    let samples = after.blocks.iter_mut().flat_map(|b| &mut b.samples);
    for sample in samples.filter(|s| s.subject == control) {
        sample.batch.wall_ns = sample.batch.wall_ns * 11 / 10;
    }
    let found = compare(&before, &after, &[]).unwrap();
    assert!(!found.controls[0].met && found.controls[0].margin > 0.09);
    assert_eq!(found.changes[0].margin, found.controls[0].margin);
    assert!(caveats(&found).contains(&"noise-floor"));
}

#[test]
fn a_command_alone_has_a_time_and_no_change() {
    let alone = |seed| {
        let mut run = measured(&[], 10, seed);
        let plan = plan(&mut run);
        plan.work = Work::Commands(Commands::default());
        for subject in &mut plan.subjects {
            subject.command = Some(Command {
                line: "sort a.txt".into(),
                ..Command::default()
            });
        }
        run
    };
    let (none, first, mut second) = (HashMap::new(), alone(1), alone(2));
    let compare = |second: &Run| {
        let hashes = &none;
        let first = Recorded {
            run: &first,
            hashes,
        };
        let second = Recorded {
            run: second,
            hashes,
        };
        compare_runs(first, second).unwrap()
    };
    let found = compare(&second);
    assert_eq!((found.judged().count(), found.times().count()), (0, 2));
    assert_eq!(caveats(&found), ["nothing-relative"]);
    // The command line is the same, but the program that it ran is unknown.
    assert_eq!(found.baseline_program, ProgramMatch::Unknown);
    plan(&mut second).subjects[SubjectId(0)]
        .command
        .as_mut()
        .unwrap()
        .line = "sort -u a.txt".into();
    assert_eq!(compare(&second).baseline_program, ProgramMatch::Changed);
}

#[test]
fn items_missing_from_one_run_are_listed() {
    let before = measured(&[1.2, 1.3], 10, 1);
    let mut after = measured(&[1.2, 1.3], 10, 2);
    plan(&mut after).subjects[SubjectId(2)].name = "s3".into();
    after.failures.push(Failure {
        subject: SubjectId(1),
        point: None,
        block: None,
        kind: "build".into(),
        message: "no compiler".into(),
        log: Vec::new(),
    });
    let found = compare(&before, &after, &[]).unwrap();
    assert_eq!(found.judged().count(), 0);
    assert_eq!(
        found.apart,
        [
            NotCompared::Subjects {
                run: WhichRun::First,
                names: vec!["s2".into()],
            },
            NotCompared::Subjects {
                run: WhichRun::Second,
                names: vec!["s3".into()],
            },
            NotCompared::Excluded {
                run: WhichRun::Second,
                subject: "s1".into(),
                point: None,
                reason: ExclusionReason::Failed {
                    kind: "build".into(),
                    message: "no compiler".into(),
                },
            },
        ]
    );
}

#[test]
fn runs_that_cannot_be_compared_are_errors() {
    let run = measured(&[1.2], 6, 1);
    let other = |change: fn(&mut Run)| {
        let mut other = measured(&[1.2], 6, 2);
        change(&mut other);
        compare(&run, &other, &[]).unwrap_err().to_string()
    };
    let error = other(|run| plan(run).experiment = "rest".into());
    assert!(error.starts_with("the runs are of different experiments, simulated and rest"));
    let error = other(|run| run.content = Content::default());
    assert!(error.starts_with("2.lab contains only imported values"));
    let error = other(|run| run.blocks.clear());
    assert!(error.starts_with("2.lab has no complete block"));
    let error = other(|run| plan(run).baseline = SubjectId(9));
    assert!(error.starts_with("2.lab has an inconsistent plan"));
    let with_rows = |seed, rows| {
        let mut run = measured(&[1.2], 6, seed);
        plan(&mut run).targets = [Target {
            rows,
            ..target(TargetKind::Sqlite)
        }]
        .into();
        run
    };
    let error = compare(&with_rows(1, 10), &with_rows(2, 7), &[]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("rows on SQLite is 10 in the first and 7 in the second"));
    let error = other(|run| plan(run).cases[CaseId(0)].work = "something else".into());
    assert!(error.contains("no subject and point in common"));
    let error = compare(&run, &run.clone(), &[]).unwrap_err();
    assert_eq!(error, Incomparable::Same("1.lab".into()));
}

/// Ratios and times are in one list, each with its metric.
///
/// Only ratios have a verdict.
#[test]
fn changes_are_in_one_list() {
    let found = compare(&measured(&[1.2], 12, 1), &measured(&[1.2], 12, 2), &[]).unwrap();
    let cells: Vec<_> = found
        .changes
        .iter()
        .map(|c| (&c.subject[..], c.relative, c.verdict.is_some()))
        .collect();
    let times = ["base", "s1", "control"].map(|name| (name, false, false));
    assert_eq!(cells[0], ("s1", true, true));
    assert_eq!(cells[1..], times);
    assert!(found.changes.iter().all(|c| c.metric == Metric::WALL));
    let reference = found.times().map(|c| (c.baseline, c.reference));
    let reference: Vec<_> = reference.collect();
    assert_eq!(reference, [(true, true), (false, false), (false, true)]);
}

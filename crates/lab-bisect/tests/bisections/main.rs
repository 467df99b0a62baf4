// SPDX-License-Identifier: Apache-2.0
//! Tests bisections with recorded results: the next measurement, and the reported result.

use lab_bisect::{
    Bisection, BisectionCommit, BisectionFile, BisectionRequest, BisectionStep, CommandText,
    ConfirmedRatio, EndsResult, NextMeasurement, ProbeResult, SkippedCommit, StepConfirmation,
    document,
};
use lab_document::{FORMATS, Rendered, Terminal};
use lab_stats::bisection::{BisectedMetric, Ends, Half, HalfChange, Judgment, LogInterval};

/// Creates a bisection with `commits` commits after the good commit. Its ends differ by 8 %.
fn bisection(commits: usize) -> Bisection {
    let commit = |number: usize| BisectionCommit {
        id: format!("{number:040x}"),
        short: format!("c{number}"),
        subject: format!("Change {number} <b>|`x`"),
    };
    Bisection {
        request: BisectionRequest {
            name: "parse".into(),
            folder: "/repo".into(),
            good: "v1".into(),
            bad: "v2".into(),
            command: CommandText::Line("./parse".into()),
            setup: Some("make".into()),
            prepare: None,
            cleanup: None,
            input: None,
            metric: BisectedMetric::Wall,
            margin: 0.02,
            alpha: 0.05,
            budget_ns: 600_000_000_000,
            time_limit_ns: 600_000_000_000,
            redo: 2,
            seed: 1,
        },
        benchlab_version: "0.1.0".into(),
        started_unix_s: 1_795_425_300.0,
        host: String::new(),
        commits: (0..=commits).map(commit).collect(),
        steps: vec![ends(Ends::Differ, 1.08)],
    }
}

fn around(ratio: f64) -> LogInterval {
    let estimate = ratio.ln();
    LogInterval {
        estimate,
        low: estimate - 0.02,
        high: estimate + 0.02,
    }
}

fn ends(judgment: Ends, ratio: f64) -> BisectionStep {
    BisectionStep::Ends(EndsResult {
        blocks: 8,
        judgment,
        log_ratio: around(ratio),
    })
}

/// Records the result of the next probe.
fn probe(bisection: &mut Bisection, before: HalfChange, after: HalfChange) {
    let NextMeasurement::Probe { segment, at, .. } = bisection.next() else {
        panic!("{:?}", bisection.next());
    };
    let half = |change: HalfChange| Half {
        log_ratio: around(if change == HalfChange::Changed {
            1.08
        } else {
            1.0
        }),
        change,
    };
    bisection.steps.push(BisectionStep::Probe(ProbeResult {
        low: segment.low,
        high: segment.high,
        at,
        blocks: 6,
        judgment: Judgment {
            before: half(before),
            after: half(after),
        },
    }));
}

fn skip(bisection: &mut Bisection) {
    let NextMeasurement::Probe { at, .. } = bisection.next() else {
        panic!("{:?}", bisection.next());
    };
    bisection.steps.push(BisectionStep::Skipped(SkippedCommit {
        commit: at,
        kind: "setup".into(),
        message: "`make` ended with exit status: 2\nno rule".into(),
    }));
}

/// Records that new measurements of all changes resulted in `ratio`, and decided that it is a
/// change.
fn confirm(bisection: &mut Bisection, ratio: f64) {
    confirm_as(bisection, Changed, ratio);
}

/// Records that new measurements of all changes resulted in `ratio` and in a decision.
fn confirm_as(bisection: &mut Bisection, change: HalfChange, ratio: f64) {
    while let NextMeasurement::Confirm(found) = bisection.next() {
        let log = around(ratio);
        bisection
            .steps
            .push(BisectionStep::Confirmed(StepConfirmation {
                low: found.low,
                high: found.high,
                blocks: 11,
                ratio: Some(ConfirmedRatio {
                    estimate: log.estimate.exp(),
                    low: log.low.exp(),
                    high: log.high.exp(),
                    level: 0.95,
                }),
                change: Some(change),
                stat: vec!["commit 0003".into(), " parse.c | 4 ++--".into()],
                parents: 1,
            }));
    }
}

fn headline(bisection: &Bisection) -> String {
    document(bisection, "runs/x.bisect").answer.headline
}

use HalfChange::{Changed, Open, Unchanged};

#[test]
fn one_change_is_narrowed_down_and_confirmed() {
    let mut found = bisection(4);
    assert_eq!(found.next_at(), Some(2));
    probe(&mut found, Unchanged, Changed);
    assert_eq!(
        headline(&found),
        "Not finished. Inconclusive: the change is due to one of 2 commits (c3..c4)."
    );
    probe(&mut found, Changed, Unchanged);
    confirm(&mut found, 1.08);
    assert_eq!(found.next(), NextMeasurement::Done);
    assert_eq!(
        headline(&found),
        "c3 made parse slower: 1.080 times its previous time (1.059 to 1.102)."
    );
    found.request.metric = BisectedMetric::Memory;
    assert_eq!(
        headline(&found),
        "c3 made parse use 1.080 times the peak memory (1.059 to 1.102)."
    );
}

#[test]
fn a_faster_commit_is_a_change_too() {
    let mut found = bisection(1);
    confirm(&mut found, 0.5);
    assert_eq!(
        headline(&found),
        "c1 made parse faster: 0.500 times its previous time (0.490 to 0.510)."
    );
}

#[test]
fn both_halves_are_searched_and_skipped_commits_widen_the_range() {
    let mut found = bisection(4);
    skip(&mut found);
    assert_eq!(found.next_at(), Some(1));
    probe(&mut found, Changed, Changed);
    // Commits 2 to 4 remain, and commit 2 does not build.
    probe(&mut found, Changed, Unchanged);
    confirm(&mut found, 1.04);
    assert_eq!(
        headline(&found),
        "2 changes in parse's time: by c1 to 1.040 times the previous value (1.019 to 1.061) and by c2..c3 to 1.040 times the previous value (1.019 to 1.061)."
    );
}

#[test]
fn inconclusive_bisections_are_reported() {
    let mut gradual = bisection(4);
    probe(&mut gradual, Unchanged, Unchanged);
    assert!(
        headline(&gradual).starts_with(
            "No single commit changed parse's time by 2 % or more: v2 takes 1.080 times"
        )
    );
    let mut open = bisection(4);
    probe(&mut open, Open, Open);
    assert_eq!(
        headline(&open),
        "Inconclusive: the change is due to one of 4 commits (c1..c4)."
    );
    let undecided = document(&open, "runs/x.bisect").answer.undecided;
    assert_eq!(
        undecided.as_deref(),
        Some("More time may make the result conclusive: `benchlab resume runs/x.bisect --for 30m`")
    );
    open.reopen();
    assert_eq!(open.next_at(), Some(2));
    let mut equal = bisection(4);
    equal.steps = vec![ends(Ends::Equivalent, 1.0)];
    assert_eq!(equal.next(), NextMeasurement::Done);
    assert!(
        headline(&equal)
            .starts_with("v1 and v2 are equivalent within 2 %: v2 takes 1.000 times v1's time")
    );
    let mut refuted = bisection(1);
    confirm_as(&mut refuted, Unchanged, 1.001);
    assert!(headline(&refuted).starts_with("c1 was not confirmed: "));
    assert!(!refuted.is_inconclusive());
}

#[test]
fn an_inconclusive_confirmation_is_not_a_refutation() {
    let mut open = bisection(1);
    confirm_as(&mut open, Open, 1.015);
    assert_eq!(open.next(), NextMeasurement::Done);
    assert!(open.is_inconclusive());
    let document = document(&open, "runs/x.bisect");
    assert_eq!(
        document.answer.headline,
        "Inconclusive: c1 was measured again, and the ratio was 1.015 (0.995 to 1.036) after 11 blocks."
    );
    assert_eq!(
        document.answer.undecided.as_deref(),
        Some("More time may make the result conclusive: `benchlab resume runs/x.bisect --for 30m`")
    );
    open.reopen();
    assert!(matches!(open.next(), NextMeasurement::Confirm(_)));
    // An imprecise ratio is enough to show that there is a change.
    let mut clear = bisection(1);
    confirm_as(&mut clear, Open, 1.08);
    assert!(!clear.is_inconclusive());
    assert!(headline(&clear).starts_with("c1 made parse slower: 1.080 times "));
    clear.reopen();
    assert_eq!(clear.next(), NextMeasurement::Done);
}

#[test]
fn every_format_renders_and_escapes_a_bisection() {
    let mut found = bisection(4);
    skip(&mut found);
    probe(&mut found, Changed, Changed);
    probe(&mut found, Changed, Unchanged);
    confirm(&mut found, 1.04);
    let document = document(&found, "runs/x.bisect");
    for format in FORMATS {
        let terminal = Terminal {
            full: true,
            ..Terminal::default()
        };
        let rendered = match format.render(&document, terminal) {
            Ok(rendered) => rendered,
            // A bisection has no call stacks and no turns.
            Err(_) if ["folded", "perfetto", "speedscope"].contains(&format.name) => continue,
            Err(error) => panic!("{}: {error:?}", format.name),
        };
        if let (Rendered::Text(text), "html") = (rendered, format.name) {
            assert!(text.contains("Change 1 &lt;b&gt;") && !text.contains("Change 1 <b>"));
        }
    }
}

#[test]
fn a_file_keeps_everything_and_invalid_indexes_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bisect");
    let file = BisectionFile::create(&path).unwrap();
    let mut found = bisection(4);
    skip(&mut found);
    probe(&mut found, Changed, Open);
    file.save(&found).unwrap();
    for path in [path.clone(), path.join("bisection.json")] {
        let again = BisectionFile::find(&path).expect("a bisection");
        assert_eq!(again.load().unwrap(), found);
    }
    assert!(BisectionFile::find(folder.path()).is_none());
    found.steps.push(BisectionStep::Skipped(SkippedCommit {
        commit: 5,
        kind: "setup".into(),
        message: String::new(),
    }));
    file.save(&found).unwrap();
    let error = file.load().unwrap_err().to_string();
    assert!(
        error.ends_with("a commit's index is out of range"),
        "{error}"
    );
}

/// Adds a method that returns the commit of the next probe.
trait NextAt {
    fn next_at(&self) -> Option<usize>;
}

impl NextAt for Bisection {
    fn next_at(&self) -> Option<usize> {
        match self.next() {
            NextMeasurement::Probe { at, .. } => Some(at),
            _ => None,
        }
    }
}

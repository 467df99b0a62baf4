// SPDX-License-Identifier: Apache-2.0
//! The findings of a run, derived by fixed rules: the best subject, the points at which another
//! subject leads, and the inconclusive comparisons.

use super::measured::Measured;
use super::scope::Scope;
use super::sentence::{self, order};
use super::standings::Standings;
use super::{cell, table, trouble};
use crate::wording::{self, Counted, LongerRun, Omission, PairOverPoints, WouldResolve};
use lab_document::say;
use lab_document::{Answer, Chart, Finding, Tone};
use lab_model::{Ending, Failure, Metric, Plan, Run, SubjectId};
use lab_stats::analysis::{ExclusionKind, ExclusionReason, Verdict};
use lab_stats::deciding::{Deciding, deciding};
use lab_stats::exclusions::is_alone;
use lab_stats::forecast;
use lab_stats::results::warning::Replicate;
use lab_stats::results::{Comparison, Over};
use std::collections::BTreeSet;

/// The maximum number of reasons for exclusions that have their own sentence.
const MAX_REASONS: usize = 2;

/// The maximum number of lines that the first screen shows from the end of a failed subject's log.
const MAX_LOG_LINES: usize = 3;

/// The minimum number of operations for a p99. With fewer operations, the expected number above the
/// p99 is less than one.
const FOR_P99: f64 = 100.0;

/// Builds the first screen: the findings, the most serious warning, and the inconclusive comparisons.
pub fn answer(measured: &Measured, chart: Option<Chart>, mut findings: Vec<Finding>) -> Answer {
    let mut warnings = measured.results.warnings.iter();
    let grave =
        warnings.find(|w| trouble::is_grave(&w.fact) && !trouble::is_omission(measured, &w.fact));
    findings.truncate(Answer::MAX_FINDINGS - usize::from(grave.is_some()));
    findings.extend(grave.map(|w| trouble::warning(&w.fact)));
    Answer {
        chart,
        findings,
        undecided: inconclusive_text(measured),
        omitted: say::paragraph(
            nothing_compared(measured)
                .into_iter()
                .chain(missing_subjects(measured)),
        ),
        ..Answer::default()
    }
}

/// Builds the first screen of a run without a complete block, which explains why there is no result.
///
/// The reason is the first failure, with the last lines of the subject's log.
pub fn no_answer(measured: &Measured) -> Answer {
    let none = || wording::no_answer(measured.words.subject, measured.results.blocks > 0);
    let failures = measured.run.failures.iter().filter(|f| !f.is_lack());
    let first = failures.min_by_key(|f| f.subject != measured.plan.baseline);
    let headline = first.map(|f| {
        let at = measured.location(f.point);
        wording::no_answer_because(&measured.label(f.subject), &at, &f.message)
    });
    let log = first.filter(|f| !f.log.is_empty()).map(|f| {
        let last = &f.log[f.log.len().saturating_sub(MAX_LOG_LINES)..];
        let label = wording::last_lines(&measured.label(f.subject));
        Finding::new(label, last.join(" | "), Tone::Alarm)
    });
    Answer {
        headline: headline.unwrap_or_else(none),
        findings: log.into_iter().collect(),
        omitted: missing_subjects(measured),
        ..Answer::default()
    }
}

/// Describes the best subject over some points. `words` is the phrase for the points, such as ` over 3 points`.
pub fn leader(scope: &Scope, metric: &Metric, over: Over, words: &str) -> Option<Finding> {
    let all = Standings::new(scope, metric, over).without_references(scope);
    let text = order(scope, &all, words)?;
    Some(Finding::plain(if scope.is_reference(scope.base()) {
        wording::apart_from_reference(scope.base_name(), &text)
    } else {
        text
    }))
}

/// Describes the best subject over all points of a target, or at its only point. If there are two
/// subjects, describes their comparison.
pub fn overall(scope: &Scope, metric: &Metric) -> Option<Finding> {
    let points = scope.points();
    if let [subject] = scope.others().as_slice() {
        return pair(scope, *subject, metric);
    }
    let words = wording::over_points(points.len());
    leader(scope, metric, Over::all(&points), &words)
}

/// Describes a subject compared with the baseline.
pub fn pair(scope: &Scope, subject: SubjectId, metric: &Metric) -> Option<Finding> {
    let points = scope.points().into_iter();
    let compared = points.filter_map(|p| scope.comparison((subject, Some(p)), metric));
    let compared: Vec<_> = compared.collect();
    match compared.as_slice() {
        [] => None,
        [only] => {
            let at = only.key.point.map(|p| sentence::location(scope, p));
            let text = sentence::comparison(scope, only, &at.unwrap_or_default());
            let tone = only.verdict.as_ref().map_or(Tone::Plain, cell::tone);
            Some(Finding::plain(text).with_tone(tone))
        }
        many => {
            let standings = Standings::new(scope, metric, Over::ALL);
            let overall = standings.ranked.iter().find(|s| s.subject == subject);
            let verdicts = many.iter().filter_map(|c| {
                let word = wording::verdict(metric, c.verdict.as_ref()?);
                Some((word, scope.short(c.key.point?)))
            });
            Some(Finding::plain(wording::pair_over_points(&PairOverPoints {
                metric,
                subject: scope.name(subject),
                baseline: scope.base_name(),
                overall: overall.map(|s| (s.ratio, s.points as usize)),
                points: many.len(),
                verdicts: say::grouped(verdicts),
                level: standings.level,
            })))
        }
    }
}

/// Describes the points at which another subject leads most clearly, and the points at which a
/// subject is slowest compared with the baseline.
///
/// `parts` are groups of points with their names. Returns `None` for a single group, or for two
/// subjects.
pub fn exceptions(
    scope: &Scope,
    metric: &Metric,
    all: Over,
    parts: &[(Over, String)],
) -> Option<String> {
    if parts.len() < 2 || scope.others().len() < 2 {
        return None;
    }
    let standings = |over| Standings::new(scope, metric, over).without_references(scope);
    let overall = standings(all);
    let best: BTreeSet<SubjectId> = overall.first().iter().map(|s| s.subject).collect();
    let (mut led, mut lost) = (None, None);
    for (over, name) in parts {
        let in_part = standings(*over);
        let (base, level) = (scope.base_name(), in_part.level);
        if let [first] = in_part.first().as_slice()
            && !best.contains(&first.subject)
            && first.subject != scope.base()
        {
            let next = in_part.complete();
            let next = next.get(1).map_or(1.0, |next| next.ratio.estimate);
            let gain = next / first.ratio.estimate.max(f64::MIN_POSITIVE);
            let leader = sentence::ranked(scope, first);
            keep_largest(&mut led, gain, || {
                wording::leads_part(name, metric, &leader, base, level)
            });
        }
        let last = in_part.ranked.last();
        if let Some(last) = last.filter(|s| s.verdict == Some(Verdict::Slower)) {
            let worst = sentence::ranked(scope, last);
            keep_largest(&mut lost, last.ratio.estimate, || {
                wording::greatest_ratio(name, metric, &worst, base, level)
            });
        }
    }
    say::paragraph([led, lost].into_iter().flatten().map(|(_, text)| text))
}

/// Stores `value` with its text if `value` is the highest so far.
fn keep_largest(largest: &mut Option<(f64, String)>, value: f64, text: impl FnOnce() -> String) {
    if largest.as_ref().is_none_or(|(max, _)| value > *max) {
        *largest = Some((value, text()));
    }
}

/// Describes the inconclusive comparisons and how to resolve them.
fn inconclusive_text(measured: &Measured) -> Option<String> {
    let comparisons = &measured.results.comparisons;
    let verdicts = comparisons.iter().filter_map(|c| c.verdict);
    let (open, closed): (Vec<Verdict>, Vec<Verdict>) =
        verdicts.partition(|verdict| matches!(verdict, Verdict::Inconclusive { .. }));
    let all = open.len() + closed.len();
    // A subject that is measured alone is only compared with its own copy.
    if nothing_compared(measured).is_some() {
        return None;
    }
    let by = would_resolve(
        measured,
        deciding(comparisons, measured.run, measured.plan)?,
    );
    let resumed = can_continue(measured.run, measured.plan).then_some(measured.file);
    let text = format!(
        "{}{}.",
        wording::inconclusive(open.len(), all),
        wording::would_resolve(by, open.len(), resumed)
    );
    Some(say::capital(&text))
}

/// Returns true if `benchlab resume` can give the run more time.
fn can_continue(run: &Run, plan: &Plan) -> bool {
    let has_time_left = matches!(
        run.ending,
        None | Some(Ending::Budget | Ending::Interrupted)
    );
    has_time_left && plan.can_resume() && plan.load().is_none() && !plan.compares_revisions()
}

/// Describes why nothing was compared: a subject was measured alone, or has too few operations for the compared metric.
fn nothing_compared(measured: &Measured) -> Option<String> {
    let Measured { run, plan, .. } = measured;
    let answered = |c: &Comparison| c.key.metric == *plan.main_metric();
    let compares_answer = measured.traits.compares_answer;
    if compares_answer && measured.results.comparisons.iter().any(answered) {
        return None;
    }
    if is_alone(run, plan) {
        let name = measured.label(plan.baseline);
        // For a single subject, a sweep is the result: it shows where the subject is fast and where it is slow.
        let swept = plan
            .points
            .iter()
            .all(|p| plan.cases[p.case].sweep.is_some());
        let is_expected = compares_answer && !swept || plan.compared().count() > 1;
        return is_expected.then(|| wording::measured_alone(&name));
    }
    if !compares_answer || *plan.main_metric() != Metric::P99 {
        return None;
    }
    let cells = measured.results.cells.iter();
    let operations = cells.filter(|cell| cell.key.metric == Metric::OPERATIONS);
    let max = operations
        .map(|cell| cell.value.value())
        .fold(0.0, f64::max);
    let max = max / f64::from(measured.results.blocks.max(1));
    (max < FOR_P99).then(|| wording::too_few_operations(max, measured.words.subject))
}

fn would_resolve(measured: &Measured, by: Deciding) -> WouldResolve {
    match by {
        Deciding::All(blocks) => WouldResolve::All(longer_run(measured, blocks)),
        Deciding::Half(blocks) => WouldResolve::Half(longer_run(measured, blocks)),
        Deciding::TooFew(blocks) => {
            let now = replicates(measured, measured.run.replicate_count());
            WouldResolve::TooFew(now, longer_run(measured, blocks))
        }
        Deciding::Perhaps(max) => WouldResolve::Perhaps(longer_run(measured, max)),
        Deciding::Hardly(max) => WouldResolve::Hardly(longer_run(measured, max)),
    }
}

/// Returns a number of replicates with their kind: blocks, sets of processes, or builds.
pub fn replicates(measured: &Measured, number: usize) -> Counted {
    match measured.replicate() {
        Replicate::Block => Counted::Blocks(number),
        Replicate::ProcessSet => Counted::ProcessSets(number),
        Replicate::Build => Counted::Builds(number),
    }
}

/// Returns a longer run with `blocks` replicates, described by the option that requests it.
fn longer_run(measured: &Measured, blocks: u32) -> LongerRun {
    let (time, unit) = (
        forecast::time_for(measured.run, blocks),
        measured.replicate(),
    );
    if unit == Replicate::Build {
        return LongerRun::Builds(blocks);
    }
    // A run whose processes serve multiple blocks ends after its last set of processes.
    if let Some(max) = measured.plan.measure.max_process_sets
        && unit == Replicate::ProcessSet
    {
        return match time.filter(|_| blocks <= max) {
            Some(time) => LongerRun::TimeForSets(time, blocks),
            // Without sets, each block has its own processes.
            None => LongerRun::Blocks(blocks),
        };
    }
    // A run with interim analyses ends after the last of them.
    let longer = blocks > measured.plan.measure.max_blocks;
    match time {
        None => LongerRun::Blocks(blocks),
        Some(time) if longer => LongerRun::MoreBlocks(time, blocks),
        Some(time) => LongerRun::TimeForBlocks(time, blocks),
    }
}

/// Describes the subjects that are missing from all or some of the results.
fn missing_subjects(measured: &Measured) -> Option<String> {
    let failures = measured.run.spoiling_failures();
    let (lacking, failed): (Vec<_>, Vec<_>) = failures.partition(|f| f.is_lack());
    let subjects = |failures: Vec<&Failure>| -> BTreeSet<SubjectId> {
        failures.iter().map(|f| f.subject).collect()
    };
    let (lacking, failed) = (subjects(lacking), subjects(failed));
    let excluded = |kind: ExclusionKind| -> BTreeSet<SubjectId> {
        let excluded = measured.exclusions();
        let excluded = excluded.filter(|r| r.kind() == kind);
        let excluded = excluded.map(|r| r.subject);
        excluded
            .filter(|s| !failed.contains(s) && !lacking.contains(s))
            .collect()
    };
    let alone = excluded(ExclusionKind::WithoutBaseline);
    let other_work = excluded(ExclusionKind::Subject);
    let has_multiple_points = measured.plan.points.len() > 1;
    let omitted = |all: BTreeSet<SubjectId>, reason| {
        let names: Vec<String> = all.iter().map(|&s| measured.label(s)).collect();
        wording::omitted(&names, reason, has_multiple_points)
    };
    let lacking = lacking.difference(&failed).copied().collect();
    let lacking = omitted(lacking, Omission::Lacking);
    let failed = omitted(failed, Omission::Failed);
    let alone = omitted(alone, Omission::BaselineFailed);
    let other_work = omitted(other_work, Omission::OtherWork);
    let exits = measured
        .exclusions()
        .filter(|r| r.kind() == ExclusionKind::ExitStatus);
    let exits = exits.map(|r| {
        let at = r.point.map(|point| measured.location(Some(point)));
        let at = at.unwrap_or_default();
        wording::other_exit_status(&measured.label(r.subject), &at, &r.reason)
    });
    let sentences = [not_steady(measured), lacking, failed, alone, other_work];
    say::paragraph(sentences.into_iter().flatten().chain(exits))
}

/// Describes servers that are excluded because they had not reached their steady state. If there
/// are few, each server is listed with its reason.
fn not_steady(measured: &Measured) -> Option<String> {
    let exclusions = measured.exclusions();
    let exclusions = exclusions.filter(|r| r.kind() == ExclusionKind::NotSteady);
    let mut reasons: Vec<(SubjectId, &ExclusionReason)> = Vec::new();
    for exclusion in exclusions {
        if !reasons
            .iter()
            .any(|(subject, _)| *subject == exclusion.subject)
        {
            reasons.push((exclusion.subject, &exclusion.reason));
        }
    }
    let (shown, more) = reasons.split_at(reasons.len().min(MAX_REASONS));
    let sentences = shown
        .iter()
        .map(|(subject, reason)| wording::not_steady(&measured.label(*subject), reason));
    let names: Vec<String> = more.iter().map(|(s, _)| measured.label(*s)).collect();
    say::paragraph(sentences.chain(wording::more_not_steady(&names)))
}

/// Returns each point with its name for [`exceptions`].
pub fn points(scope: &Scope) -> Vec<(Over, String)> {
    let points = table::points(scope, &scope.single_points()).into_iter();
    points.map(|(p, name)| (Over::At(Some(p)), name)).collect()
}

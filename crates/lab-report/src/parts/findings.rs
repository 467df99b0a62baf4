// SPDX-License-Identifier: Apache-2.0
//! The findings of a run, by rule: the best subject, the points where another one leads, the inconclusive
//! comparisons.

use super::measured::Measured;
use super::scope::Scope;
use super::sentence::{self, order, wording};
use super::standings::Standings;
use super::{cell, table, trouble};
use lab_document::say::{self, count, list};
use lab_document::{Answer, Chart, Finding, Tone};
use lab_model::{Failure, Metric, PointId, SubjectId};
use lab_stats::analysis::{RefusalKind, Verdict};
use lab_stats::deciding::{Deciding, deciding};
use lab_stats::forecast;
use lab_stats::refusals::is_alone;
use lab_stats::results::{Comparison, Over, WarningKind};
use std::collections::BTreeSet;

/// Reasons why servers are not compared, each in a sentence of its own.
const MAX_REASONS: usize = 2;

/// Operations of which one at least takes longer than what 99 % of them take at most.
const FOR_P99: f64 = 100.0;

/// The first findings, then any warning without which they would mislead, and the inconclusive comparisons.
pub fn answer(measured: &Measured, chart: Option<Chart>, mut findings: Vec<Finding>) -> Answer {
    let mut warnings = measured.results.warnings.iter();
    let grave = warnings.find(|w| trouble::is_grave(w.kind));
    findings.truncate(Answer::MAX_FINDINGS - usize::from(grave.is_some()));
    findings.extend(grave.map(|w| trouble::warning(w.kind, w.text.clone())));
    Answer {
        chart,
        findings,
        undecided: undecided(measured),
    }
}

/// The answer of a run without a complete block: says why there is none.
pub fn no_answer(measured: &Measured) -> Answer {
    let at = match measured.results.blocks {
        0 => "",
        _ => " at any point",
    };
    let subject = measured.words.subject;
    let none = format!("There is no answer yet: no {subject} has a complete block{at}.");
    Answer {
        undecided: say::paragraph(std::iter::once(none).chain(missing(measured))),
        ..Answer::default()
    }
}

/// The best subject over some points; `words` name the points.
pub fn leader(scope: &Scope, metric: &Metric, over: Over, words: &str) -> Option<Finding> {
    let all = Standings::new(scope, metric, over).without_references(scope);
    let text = order(scope, &all, words)?;
    Some(Finding::plain(if scope.is_reference(scope.base()) {
        format!("Besides {}, the reference, {text}", scope.base_name())
    } else {
        text
    }))
}

/// The best subject over all points of a target, or at its only one; for two subjects the result of their
/// comparison.
pub fn overall(scope: &Scope, metric: &Metric) -> Option<Finding> {
    let points = scope.points();
    if let [subject] = scope.others().as_slice() {
        return pair(scope, *subject, metric);
    }
    let words = match points.len() {
        1 => String::new(),
        n => format!(" over {}", count(n, "point")),
    };
    leader(scope, metric, Over::all(&points), &words)
}

/// One that is compared, against the baseline.
pub fn pair(scope: &Scope, subject: SubjectId, metric: &Metric) -> Option<Finding> {
    let points = scope.points().into_iter();
    let compared = points.filter_map(|p| scope.comparison((subject, Some(p)), metric));
    let compared: Vec<_> = compared.collect();
    match compared.as_slice() {
        [] => None,
        [only] => {
            let at = only.key.point.map(|p| sentence::at(scope, p));
            let text = sentence::comparison(scope, only, &at.unwrap_or_default());
            let tone = only.verdict.as_ref().map_or(Tone::Plain, cell::tone);
            Some(Finding::plain(text).toned(tone))
        }
        many => {
            let (name, base) = (scope.name(subject), scope.base_name());
            let standings = Standings::new(scope, metric, Over::ALL);
            let overall = standings.ranked.iter().find(|s| s.subject == subject);
            let begin = match overall {
                Some(overall) => format!(
                    "{name} {} {} over {}",
                    wording(metric).verb,
                    sentence::ratio_text(scope, &standings, overall),
                    over(overall.points as usize, many.len()),
                ),
                None => format!("{name} and {base} have no overall interval yet"),
            };
            let verdicts = many.iter().filter_map(|c| Some((c.key.point?, c.verdict?)));
            let counted = counted(scope, metric, verdicts);
            Some(Finding::plain(format!("{begin}: {counted}.")))
        }
    }
}

/// A mean is over the points at which one operation is done at a time.
fn over(points: usize, of: usize) -> String {
    if points < of {
        format!("{points} of {of} points")
    } else {
        count(points, "point")
    }
}

/// `faster at n=1 and n=10, equivalent at 3 points`.
fn counted(
    scope: &Scope,
    metric: &Metric,
    verdicts: impl Iterator<Item = (PointId, Verdict)>,
) -> String {
    let words = verdicts.map(|(point, v)| (better_or_worse(metric, &v), scope.short(point)));
    let parts = say::grouped(words).into_iter();
    let parts = parts.map(|(word, at)| match at.len() {
        1..=3 => format!("{word} at {}", list(&at)),
        n => format!("{word} at {n} points"),
    });
    list(&parts.collect::<Vec<_>>())
}

/// A verdict on a metric in a word or two: of times faster or slower, of all else less or more.
pub fn better_or_worse(metric: &Metric, verdict: &Verdict) -> &'static str {
    let words = match metric.id.as_ref() {
        "wall" | "mean_wall" => ["faster", "slower", "a little faster", "a little slower"],
        "throughput" => ["higher", "lower", "a little higher", "a little lower"],
        _ => ["less", "more", "a little less", "a little more"],
    };
    match verdict {
        Verdict::Faster => words[0],
        Verdict::Slower => words[1],
        Verdict::SmallButReal { faster: true } => words[2],
        Verdict::SmallButReal { faster: false } => words[3],
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive { .. } => "not decided",
    }
}

/// In which of some parts another one leads than over all, and where the most is lost. Nothing of one part, or of
/// two subjects.
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
        let ratio_text = |s| sentence::ratio_text(scope, &in_part, s);
        if let [first] = in_part.first().as_slice()
            && !best.contains(&first.subject)
            && first.subject != scope.base()
        {
            let next = in_part.complete();
            let next = next.get(1).map_or(1.0, |next| next.ratio.estimate);
            let gain = next / first.ratio.estimate.max(f64::MIN_POSITIVE);
            let (leader, least) = (scope.name(first.subject), wording(metric).least);
            keep_greatest(&mut led, gain, || {
                format!("At {name} {leader} {least}: {}.", ratio_text(first))
            });
        }
        let last = in_part.ranked.last();
        if let Some(last) = last.filter(|s| s.verdict == Some(Verdict::Slower)) {
            let (subject, verb) = (scope.name(last.subject), wording(metric).verb);
            keep_greatest(&mut lost, last.ratio.estimate, || {
                format!(
                    "The greatest ratio measured is at {name}: {subject} {verb} {}.",
                    ratio_text(last)
                )
            });
        }
    }
    say::paragraph([led, lost].into_iter().flatten().map(|(_, text)| text))
}

/// Keeps the text of the greatest value.
fn keep_greatest(greatest: &mut Option<(f64, String)>, value: f64, text: impl FnOnce() -> String) {
    if greatest.as_ref().is_none_or(|(most, _)| value > *most) {
        *greatest = Some((value, text()));
    }
}

/// The inconclusive comparisons, how to resolve them, and the missing subjects.
fn undecided(measured: &Measured) -> Option<String> {
    let comparisons = &measured.results.comparisons;
    let verdicts = comparisons.iter().filter_map(|c| c.verdict);
    let (open, closed): (Vec<Verdict>, Vec<Verdict>) =
        verdicts.partition(|verdict| matches!(verdict, Verdict::Inconclusive { .. }));
    let all = open.len() + closed.len();
    let open_part = match open.len() {
        _ if all == 1 => String::new(),
        n if n == all => format!("None of {all} comparisons is decided; "),
        n => format!("{n} of {all} comparisons are not decided; "),
    };
    let nothing = nothing_compared(measured);
    // A subject that is measured alone is compared with its own copy.
    let open = deciding(comparisons, measured.run, measured.plan)
        .filter(|_| nothing.is_none())
        .map(|by| open_part + &would_decide(measured, by, open.len()) + ".")
        .map(|text| say::capital(&text));
    let all = [nothing, open, few_blocks(measured), missing(measured)];
    say::paragraph(all.into_iter().flatten())
}

/// The reason why the question has no answer: a subject was measured alone, or has too few operations for the
/// compared metric.
fn nothing_compared(measured: &Measured) -> Option<String> {
    let Measured { run, plan, .. } = measured;
    let answered = |c: &Comparison| c.key.metric == *plan.answer();
    let compares_answer = measured.traits.compares_answer;
    if compares_answer && measured.results.comparisons.iter().any(answered) {
        return None;
    }
    if is_alone(run, plan) {
        let name = measured.label(plan.baseline);
        // For a single subject a sweep is the answer: where it is fast, and where slow.
        let swept = plan
            .points
            .iter()
            .all(|p| plan.cases[p.case].sweep.is_some());
        let is_expected = compares_answer && !swept || plan.compared().count() > 1;
        return is_expected.then(|| format!("Nothing was compared: {name} was measured alone."));
    }
    if !compares_answer || *plan.answer() != Metric::P99 {
        return None;
    }
    let cells = measured.results.cells.iter();
    let operations = cells.filter(|cell| cell.key.metric == Metric::OPERATIONS);
    let most = operations
        .map(|cell| cell.value.value())
        .fold(0.0, f64::max);
    let most = most / f64::from(measured.results.blocks.max(1));
    (most < FOR_P99).then(|| {
        format!(
            "Nothing was compared: a block has about {most:.0} operations of each {}, and what 99 % of them take at most \
             needs 100 (more --pairs).",
            measured.words.subject
        )
    })
}

/// `a run of 5 minutes would probably decide all of them (--for 5m, about 40 blocks)`.
fn would_decide(measured: &Measured, by: Deciding, open: usize) -> String {
    let some = if open == 1 { "it" } else { "half of them" };
    let (blocks, decided) = match by {
        Deciding::All(blocks) if open == 1 => (blocks, "it"),
        Deciding::All(blocks) => (blocks, "all of them"),
        Deciding::Half(blocks) => (blocks, "half of them"),
        Deciding::TooFew(blocks) => {
            let (least, option) = so_many(measured, blocks);
            let replicates = measured.run.replicate_count();
            let now = if measured.has_nested_blocks() {
                format!("{} of processes", say::count(replicates, "set"))
            } else if measured.plan.builds() > 1 {
                say::count(measured.results.blocks as usize, "build")
            } else {
                say::count(replicates, "block")
            };
            return format!(
                "{now} are too few to say what would decide {some}; {least} would show it ({option})"
            );
        }
        Deciding::Perhaps(most) => {
            let (most, _) = so_many(measured, most);
            return format!("even {most} may not decide {some}");
        }
        Deciding::Hardly(most) => {
            let (most, _) = so_many(measured, most);
            let advice = "let one operation do more, or allow a wider margin";
            return format!("even {most} would hardly decide {some}: {advice}");
        }
    };
    let (run, option) = so_many(measured, blocks);
    format!("{run} would probably decide {decided} ({option})")
}

/// `a run of 5 minutes`, and how to ask for it: `--for 5m, about 40 blocks`.
fn so_many(measured: &Measured, blocks: u32) -> (String, String) {
    let time = forecast::time_for(measured.run, blocks);
    if measured.plan.builds() > 1 {
        return (
            format!("about {blocks} builds"),
            format!("--builds {blocks}"),
        );
    }
    // A run whose processes serve multiple blocks ends with its last set.
    if let Some(most) = measured.plan.measure.max_process_sets
        && measured.has_nested_blocks()
    {
        return match time.filter(|_| blocks <= most) {
            Some(time) => {
                let option = format!("--for {}, about {blocks} sets of processes", time.option());
                (format!("a run of {time}"), option)
            }
            // There each block has processes of its own.
            None => (
                format!("about {blocks} blocks"),
                format!("--blocks {blocks}"),
            ),
        };
    }
    // A run with interim analyses ends with the last of them.
    let longer = blocks > measured.plan.measure.max_blocks;
    match time {
        None => (
            format!("about {blocks} blocks"),
            format!("--blocks {blocks}"),
        ),
        Some(time) if longer => (format!("a run of {time}"), format!("--blocks {blocks}")),
        Some(time) => {
            let option = format!("--for {}, about {blocks} blocks", time.option());
            (format!("a run of {time}"), option)
        }
    }
}

/// The effect of too few blocks on all comparisons.
fn few_blocks(measured: &Measured) -> Option<String> {
    let few = measured.results.warned(WarningKind::FewBlocks);
    let compared = !measured.results.comparisons.is_empty();
    (few && compared).then(|| match measured.results.blocks {
        2.. if measured.plan.builds() > 1 => {
            let builds = measured.plan.builds();
            format!("With only {builds} builds, intervals assume that builds vary normally.")
        }
        1 => "One block says nothing of how blocks scatter.".into(),
        _ if measured.has_nested_blocks() => {
            let sets = measured.run.replicate_count();
            if sets == 1 {
                return "One set of processes says nothing of how processes differ.".into();
            }
            format!(
                "With only {sets} sets of processes, intervals assume that processes vary normally."
            )
        }
        n => format!("With only {n} blocks, intervals assume that blocks vary normally."),
    })
}

/// The subjects that are missing from the answer, or from parts of it.
fn missing(measured: &Measured) -> Option<String> {
    let failures = measured.run.failures.iter();
    let (lacking, failed): (Vec<_>, Vec<_>) = failures.partition(|f| f.is_lack());
    let subjects = |failures: Vec<&Failure>| -> BTreeSet<SubjectId> {
        failures.iter().map(|f| f.subject).collect()
    };
    let (lacking, failed) = (subjects(lacking), subjects(failed));
    let refused = |kind: RefusalKind| -> BTreeSet<SubjectId> {
        let refused = measured.refusals();
        let refused = refused.filter(|r| r.kind == kind);
        let refused = refused.map(|r| r.subject);
        refused
            .filter(|s| !failed.contains(s) && !lacking.contains(s))
            .collect()
    };
    let alone = refused(RefusalKind::WithoutBaseline);
    let other_work = refused(RefusalKind::Subject);
    let several_points = measured.plan.points.len() > 1;
    let sentence = |all: BTreeSet<SubjectId>, [one, many]: [String; 2]| {
        let names: Vec<String> = all.iter().map(|&s| measured.label(s)).collect();
        let predicate = if names.len() == 1 { one } else { many };
        (!names.is_empty()).then(|| format!("{} {predicate}.", list(&names)))
    };
    let lacking = sentence(
        lacking.difference(&failed).copied().collect(),
        ["is", "are"].map(|is| format!("cannot run here and {is} left out")),
    );
    let left_out = |(is, it): (&str, &str)| {
        if several_points {
            format!("failed and {is} left out where {it} failed")
        } else {
            format!("failed and {is} left out")
        }
    };
    let failed = sentence(failed, [("is", "it"), ("are", "they")].map(left_out));
    let not_compared = |is| format!("{is} not compared where the baseline failed");
    let alone = sentence(alone, ["is", "are"].map(not_compared));
    let place = if several_points {
        " at some points"
    } else {
        ""
    };
    let not_the_same = |(is, its): (&str, &str)| {
        format!("{is} not compared{place}, because {its} work was not the same")
    };
    let other_work = sentence(
        other_work,
        [("is", "its"), ("are", "their")].map(not_the_same),
    );
    let exits = measured
        .refusals()
        .filter(|r| r.kind == RefusalKind::ExitStatus);
    let exits = exits.map(|r| {
        let at = r
            .point
            .map_or(String::new(), |point| measured.at(Some(point)));
        format!(
            "{} is not compared{at}: {}.",
            measured.label(r.subject),
            r.why
        )
    });
    let sentences = [not_steady(measured), lacking, failed, alone, other_work];
    say::paragraph(sentences.into_iter().flatten().chain(exits))
}

/// Servers that are not compared since their turns were not at their steady level: each with its reason, while they are
/// few.
fn not_steady(measured: &Measured) -> Option<String> {
    let refusals = measured.refusals();
    let refusals = refusals.filter(|r| r.kind == RefusalKind::NotSteady);
    let mut reasons: Vec<(SubjectId, &str)> = Vec::new();
    for refusal in refusals {
        if !reasons
            .iter()
            .any(|(subject, _)| *subject == refusal.subject)
        {
            reasons.push((refusal.subject, &refusal.why));
        }
    }
    let (told, more) = reasons.split_at(reasons.len().min(MAX_REASONS));
    let sentences = told
        .iter()
        .map(|(subject, why)| format!("{} {why}.", measured.label(*subject)));
    let names: Vec<String> = more.iter().map(|(s, _)| measured.label(*s)).collect();
    let more = match names.len() {
        0 => None,
        1 => Some(format!(
            "{} is not compared for the same reason.",
            list(&names)
        )),
        _ => Some(format!(
            "{} are not compared for such reasons, too.",
            list(&names)
        )),
    };
    say::paragraph(sentences.chain(more))
}

/// Each point with its name, for [`exceptions`].
pub fn points(scope: &Scope) -> Vec<(Over, String)> {
    let points = table::points(scope, &scope.single_points()).into_iter();
    points.map(|(p, name)| (Over::At(Some(p)), name)).collect()
}

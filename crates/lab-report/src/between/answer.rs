// SPDX-License-Identifier: Apache-2.0
//! The changes between two runs, in sentences.

use super::changed::{ChangedFigure, chart, program_word};
use crate::BetweenReport;
use crate::kind::kind_of;
use crate::parts::cell;
use crate::parts::findings::better_or_worse;
use lab_document::say::{self, count, list};
use lab_document::{Answer, Finding};
use lab_model::{Metric, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::between::ProgramMatch;

/// Rows of the answer's chart.
pub const ROWS: usize = 12;

/// The answer: the greatest changes, the machine's own change, and inconclusive figures.
pub fn answer(report: &BetweenReport, changes: &[ChangedFigure]) -> Answer {
    let machine = machine(report);
    if changes.is_empty() {
        return Answer {
            undecided: say::paragraph(std::iter::once(nothing(report)).chain(machine)),
            ..Answer::default()
        };
    }
    let mut findings = standings(changes);
    findings.truncate(Answer::MAX_FINDINGS - usize::from(machine.is_some()));
    findings.extend(machine.map(Finding::plain));
    Answer {
        chart: chart(report, &greatest(changes), "answer"),
        findings,
        undecided: undecided(report, changes),
    }
}

/// The changes that differ most from 1.
fn greatest<'c, 'a>(changes: &'c [ChangedFigure<'a>]) -> Vec<&'c ChangedFigure<'a>> {
    let mut all: Vec<&ChangedFigure> = changes.iter().collect();
    let far = |c: &ChangedFigure| {
        if c.change.estimate > 0.0 {
            c.change.estimate.ln().abs()
        } else {
            0.0
        }
    };
    all.sort_by(|a, b| far(b).total_cmp(&far(a)));
    all.truncate(ROWS);
    all
}

/// A finding for each subject, those with the most changes first.
fn standings(changes: &[ChangedFigure]) -> Vec<Finding> {
    let mut subjects = say::grouped(changes.iter().map(|c| (c.subject, c)));
    let moved = |mine: &[&ChangedFigure]| mine.iter().filter(|c| is_moved(&c.verdict)).count();
    subjects.sort_by_key(|(_, mine)| std::cmp::Reverse(moved(mine)));
    subjects.iter().map(|(_, mine)| standing(mine)).collect()
}

fn is_moved(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::Equivalent | Verdict::Inconclusive { .. })
}

/// A subject's changes in one finding: each of them, one range for all, or those that moved and the number of
/// those that did not.
fn standing(mine: &[&ChangedFigure]) -> Finding {
    let subject = match mine[0].program {
        ProgramMatch::Unknown => mine[0].subject.to_string(),
        program => format!("{} ({})", mine[0].subject, program_word(program)),
    };
    if let [only] = mine {
        let text = format!(
            "{subject}: its {} is {}, {}.",
            only.place,
            change_text(only),
            word(only)
        );
        return Finding::plain(text).toned(cell::tone(&only.verdict));
    }
    let kinds = say::grouped(mine.iter().map(|change| (word(change), *change)));
    if let [(word, all)] = kinds.as_slice() {
        let (figures, range) = (count(all.len(), "figure"), range(all));
        return Finding::plain(format!(
            "{subject}: {word} in all {figures} that are compared, {range} times what they were."
        ));
    }
    let mut others = "";
    let mut parts: Vec<String> = Vec::new();
    for (word, all) in &kinds {
        if all.len() <= 2 && is_moved(&all[0].verdict) {
            let each = all.iter();
            parts.extend(each.map(|c| format!("{} is {}, {word}", c.place, change_text(c))));
            others = " others";
        } else {
            parts.push(format!("{}{others} are {word}", all.len()));
        }
    }
    Finding::plain(format!("{subject}: {}.", parts.join("; ")))
}

/// `0.90 to 0.91`.
fn range(all: &[&ChangedFigure]) -> String {
    let estimates = all.iter().map(|c| c.change.estimate);
    say::extremes(estimates).map_or(String::new(), |(low, high)| say::span(low, high))
}

/// `0.913 times what it was (0.902 to 0.925)`.
fn change_text(change: &ChangedFigure) -> String {
    say::times(&change.change, "what it was", change.change.level)
}

fn word(change: &ChangedFigure) -> &'static str {
    match change.metric.id.as_ref() {
        "wall_ratio" => better_or_worse(&Metric::WALL, &change.verdict),
        _ => better_or_worse(&change.metric, &change.verdict),
    }
}

fn undecided(report: &BetweenReport, changes: &[ChangedFigure]) -> Option<String> {
    let open = changes.iter().filter_map(|c| match c.verdict {
        Verdict::Inconclusive { blocks_needed } => Some(blocks_needed),
        _ => None,
    });
    let open: Vec<Option<u32>> = open.collect();
    let most = open.iter().flatten().max();
    let decide = most.map_or(String::new(), |blocks| {
        format!("; about {blocks} blocks in each run would probably decide them")
    });
    let all = count(changes.len(), "change");
    let open =
        (!open.is_empty()).then(|| format!("{} of {all} are not decided{decide}.", open.len()));
    let kinds = report.between.reservations.iter();
    let kinds = kinds.filter(|r| r.kind != "nothing-relative");
    let mut kinds: Vec<String> = kinds.map(|r| r.kind.replace('-', " ")).collect();
    kinds.dedup();
    let kinds = (!kinds.is_empty()).then(|| format!("There are reservations: {}.", list(&kinds)));
    say::paragraph(open.into_iter().chain(kinds))
}

/// The sentence for runs without a common ratio: the reason, and how to measure one.
fn nothing(report: &BetweenReport) -> String {
    let mut reservations = report.between.reservations.iter();
    let reservation = reservations.find(|r| r.kind == "nothing-relative");
    let reason = reservation.map_or("No subject was compared in both runs.", |r| &r.text);
    let plan = report.runs[0].plan();
    let advice = plan.map_or("", |plan| kind_of(&plan.work).advice_on_one_run());
    format!("Nothing can be concluded about what changed. {reason} {advice}")
}

/// The change of the baseline's own time. If the baseline is the same program, the machine caused it.
fn machine(report: &BetweenReport) -> Option<String> {
    let between = report.between;
    let baseline = between.baseline.as_ref()?;
    let levels = between.times().filter(|l| l.baseline);
    let changes: Vec<_> = levels.map(|level| &level.change).collect();
    let observed = match changes.as_slice() {
        [] => return None,
        [only] => {
            let ratio = say::interval_text(only, &Unit::Ratio, between.times_level);
            format!(
                "took {} times as long as in the first run {}",
                ratio.value, ratio.range
            )
        }
        many => {
            let at_level = many
                .iter()
                .filter(|c| say::has_level(c, between.times_level));
            let more = at_level.clone().filter(|c| c.low > 1.0).count();
            let less = at_level.filter(|c| c.high < 1.0).count();
            let points = count(many.len(), "point");
            format!("took longer at {more} and less at {less} of {points}")
        }
    };
    Some(match between.baseline_program {
        ProgramMatch::Same => format!(
            "{baseline} itself, the same program in both, {observed}: that is the machine or the system."
        ),
        ProgramMatch::Changed => format!("{baseline} itself, another program now, {observed}."),
        ProgramMatch::Unknown => format!(
            "{baseline} itself {observed}; the files do not say whether it is the same program, and the machine's speed is \
             in it."
        ),
    })
}

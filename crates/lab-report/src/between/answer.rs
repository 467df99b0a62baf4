// SPDX-License-Identifier: Apache-2.0
//! The first screen of a report on two runs: the largest changes, in sentences.

use super::changed::{ChangedFigure, chart, replicates};
use crate::kind::kind_of;
use crate::parts::cell;
use crate::wording::changes::{self, BaselineTime, PartChanged};
use crate::{BetweenReport, wording};
use lab_document::say;
use lab_document::{Answer, Finding};
use lab_model::Metric;
use lab_stats::analysis::Verdict;
use lab_stats::between::{Caveat, CaveatKind};

/// The maximum number of rows in the first screen's chart.
pub const ROWS: usize = 12;

/// Builds the first screen: the largest changes, the machine's own change, and the inconclusive changes.
pub fn answer(report: &BetweenReport, changes: &[ChangedFigure]) -> Answer {
    let machine = machine(report);
    if changes.is_empty() {
        return Answer {
            findings: std::iter::once(nothing(report))
                .chain(machine)
                .chain(plans(report))
                .map(Finding::plain)
                .collect(),
            ..Answer::default()
        };
    }
    let mut findings = standings(changes);
    let others: Vec<String> = machine.into_iter().chain(plans(report)).collect();
    findings.truncate(Answer::MAX_FINDINGS - others.len());
    findings.extend(others.into_iter().map(Finding::plain));
    Answer {
        chart: chart(report, &largest(changes), "answer"),
        findings,
        undecided: inconclusive_text(report, changes),
        ..Answer::default()
    }
}

/// Lists the statements of the user's workload for which the database uses different plans in the
/// two runs.
fn plans(report: &BetweenReport) -> Option<String> {
    let mut caveats = report.between.caveats.iter();
    let plans = caveats.find(|caveat| caveat.kind() == CaveatKind::Plans);
    plans.map(wording::caveat)
}

/// Returns the changes with the ratios that are furthest from 1.
fn largest<'c, 'a>(changes: &'c [ChangedFigure<'a>]) -> Vec<&'c ChangedFigure<'a>> {
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

/// Builds a finding for each subject. Subjects with the most changes come first.
fn standings(changes: &[ChangedFigure]) -> Vec<Finding> {
    let mut subjects = say::grouped(changes.iter().map(|c| (c.subject, c)));
    let moved = |mine: &[&ChangedFigure]| mine.iter().filter(|c| is_moved(&c.verdict)).count();
    subjects.sort_by_key(|(_, mine)| std::cmp::Reverse(moved(mine)));
    subjects.iter().map(|(_, mine)| standing(mine)).collect()
}

fn is_moved(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::Equivalent | Verdict::Inconclusive { .. })
}

/// Summarizes a subject's changes in one finding.
///
/// The finding states every change, or one range for all changes, or the changed metrics and the
/// number of unchanged metrics.
fn standing(mine: &[&ChangedFigure]) -> Finding {
    let subject = changes::with_program(mine[0].subject, mine[0].program);
    if let [only] = mine {
        let text = changes::only_change(&subject, &only.title, &only.change, word(only));
        return Finding::plain(text).with_tone(cell::tone(&only.verdict));
    }
    let kinds = say::grouped(mine.iter().map(|change| (word(change), *change)));
    if let [(word, all)] = kinds.as_slice() {
        let range = say::extremes(all.iter().map(|c| c.change.estimate));
        let range = range.unwrap_or((1.0, 1.0));
        return Finding::plain(changes::all_changed(&subject, word, all.len(), range));
    }
    let parts = kinds.iter().flat_map(|(word, all)| {
        let are_named = all.len() <= 2 && is_moved(&all[0].verdict);
        let named = all.iter().filter(move |_| are_named);
        let named = named.map(|c| PartChanged::Figure(&c.title, &c.change, word));
        let counted = (!are_named).then_some(PartChanged::Count(all.len(), word));
        named.chain(counted)
    });
    let parts: Vec<PartChanged> = parts.collect();
    Finding::plain(changes::parts_changed(&subject, &parts))
}

fn word(change: &ChangedFigure) -> &'static str {
    match change.metric.id.as_ref() {
        "wall_ratio" => wording::verdict(&Metric::WALL, &change.verdict),
        _ => wording::verdict(&change.metric, &change.verdict),
    }
}

fn inconclusive_text(report: &BetweenReport, figures: &[ChangedFigure]) -> Option<String> {
    let open = figures.iter().filter_map(|c| match c.verdict {
        Verdict::Inconclusive { blocks_needed } => Some(blocks_needed),
        _ => None,
    });
    let open: Vec<Option<u32>> = open.collect();
    let max = open.iter().flatten().max().copied();
    let open = (!open.is_empty())
        .then(|| changes::inconclusive_changes(open.len(), figures.len(), max, replicates(report)));
    let kinds = report.between.caveats.iter().map(Caveat::kind);
    let kinds = kinds.filter(|kind| *kind != CaveatKind::NothingRelative);
    let mut kinds: Vec<String> = kinds.map(|kind| kind.name().replace('-', " ")).collect();
    kinds.dedup();
    let kinds = (!kinds.is_empty()).then(|| changes::caveat_kinds(&kinds));
    say::paragraph(open.into_iter().chain(kinds))
}

/// Explains why the two runs have no ratios to compare, and how to measure the change in one run.
fn nothing(report: &BetweenReport) -> String {
    let mut caveats = report.between.caveats.iter();
    let caveat = caveats.find(|caveat| caveat.kind() == CaveatKind::NothingRelative);
    let plan = report.runs[0].plan();
    let advice = plan.map_or("", |plan| kind_of(&plan.work).advice_on_one_run());
    changes::nothing_changed(caveat.map(wording::caveat), advice)
}

/// Describes the change of the baseline's own time.
fn machine(report: &BetweenReport) -> Option<String> {
    let between = report.between;
    let baseline = between.baseline.as_ref()?;
    let levels = between.times().filter(|l| l.baseline);
    let ratios: Vec<_> = levels.map(|level| &level.change).collect();
    let time = match ratios.as_slice() {
        [] => return None,
        [only] => BaselineTime::Only(only),
        many => {
            let at_level = many
                .iter()
                .filter(|c| say::has_level(c, between.times_level));
            BaselineTime::Many {
                longer: at_level.clone().filter(|c| c.low > 1.0).count(),
                less: at_level.filter(|c| c.high < 1.0).count(),
                all: many.len(),
            }
        }
    };
    let (program, level) = (between.baseline_program, between.times_level);
    Some(changes::baseline_time(baseline, program, &time, level))
}

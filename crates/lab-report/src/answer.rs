// SPDX-License-Identifier: Apache-2.0
//! The answer to an experiment's question in one paragraph, computed from verdicts and overall ratios.

use crate::Report;
use crate::content::{count, reached_level};
use crate::number::{self, Quantity, full};
use crate::view::View;
use lab_model::SubjectId;
use lab_stats::analysis::{Comparison, Overall, Verdict};
use std::collections::BTreeSet;

/// The answer: who is ahead where, where it is a tie, what is open, and what limits all this.
pub fn answer(report: &Report) -> String {
    let Some(view) = View::new(report) else {
        return "This file holds imported figures alone. They have no intervals, so they support no conclusion.".into();
    };
    if view.analysis.cells.is_empty() {
        return "There is no answer yet: no subject has a complete block at any point.".into();
    }
    if view.analysis.comparisons.is_empty() {
        return format!(
            "There is no answer: nothing could be compared with {}.{}",
            view.baseline(),
            missing(&view)
        );
    }
    let mut sentences = vec![opening(&view)];
    let mut ranking: Vec<&Overall> = view
        .analysis
        .overall
        .iter()
        .filter(|o| compared(&view, o.subject))
        .collect();
    ranking.sort_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate));
    sentences.extend(ranking.iter().map(|overall| standing(&view, overall)));
    sentences.extend(order(&view, &ranking));
    sentences.extend(noise(&view));
    sentences.extend(few_blocks(&view));
    sentences.join(" ") + &missing(&view)
}

fn compared(view: &View, subject: SubjectId) -> bool {
    view.analysis
        .comparisons
        .iter()
        .any(|c| c.subject == subject)
}

/// `Measured in 24 blocks at 18 points against c, the limit:`
fn opening(view: &View) -> String {
    let limit = view
        .plan
        .subjects
        .get(view.plan.baseline)
        .is_some_and(|s| s.limit);
    format!(
        "In {}, against {}{}, at {}:",
        count(view.analysis.blocks as usize, "block"),
        view.baseline(),
        if limit {
            ", which shows what the machine allows"
        } else {
            ""
        },
        count(view.plan.points.len(), "point"),
    )
}

/// `java takes 1.45 [1.40, 1.51] times as long: slower at 12 of 14 points, faster at connect, …`
fn standing(view: &View, overall: &Overall) -> String {
    let all: Vec<&Comparison> = view
        .analysis
        .comparisons
        .iter()
        .filter(|c| c.subject == overall.subject)
        .collect();
    let kind = |wanted: &dyn Fn(&Verdict) -> bool| {
        all.iter()
            .copied()
            .filter(|c| wanted(&c.verdict))
            .collect::<Vec<_>>()
    };
    let kinds = [
        ("faster", kind(&|v| *v == Verdict::Faster)),
        (
            "faster by a small but real amount",
            kind(&|v| *v == Verdict::SmallButReal { faster: true }),
        ),
        ("equivalent", kind(&|v| *v == Verdict::Equivalent)),
        (
            "slower by a small but real amount",
            kind(&|v| *v == Verdict::SmallButReal { faster: false }),
        ),
        ("slower", kind(&|v| *v == Verdict::Slower)),
        (
            "inconclusive",
            kind(&|v| matches!(v, Verdict::Inconclusive { .. })),
        ),
    ];
    let parts = kinds.iter().filter(|(_, at)| !at.is_empty());
    let parts: Vec<String> = parts
        .map(|(word, at)| format!("{word} {}", places(view, at, all.len())))
        .collect();
    format!(
        "{} takes {} times as long overall: {}.",
        view.name(overall.subject),
        full(Quantity::Ratio, &overall.ratio),
        parts.join(", "),
    )
}

/// `everywhere`, `at 12 of 18 points`, or the points by name if they are few.
fn places(view: &View, at: &[&Comparison], of: usize) -> String {
    match at.len() {
        n if n == of && n > 1 => format!("at all {n} points"),
        1 | 2 => {
            let names: Vec<String> = at
                .iter()
                .map(|c| format!("\"{}\"", view.plan.label(c.point)))
                .collect();
            format!("at {}", names.join(" and "))
        }
        n => format!("at {n} of {of} points"),
    }
}

/// The order of the subjects overall. Neighbours whose intervals overlap are a tie.
fn order(view: &View, ranking: &[&Overall]) -> Option<String> {
    let (first, others) = ranking
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let mut tiers: Vec<Vec<&Overall>> = vec![vec![first]];
    for overall in others {
        let tier = tiers.last_mut().expect("there is a first tier");
        let reach = tier
            .iter()
            .map(|o| o.ratio.high)
            .fold(f64::NEG_INFINITY, f64::max);
        if number::bounded(&overall.ratio) && overall.ratio.low > reach {
            tiers.push(vec![overall]);
        } else {
            tier.push(overall);
        }
    }
    let names = |tier: &Vec<&Overall>| {
        let names: Vec<&str> = tier.iter().map(|o| view.name(o.subject)).collect();
        if names.len() > 1 {
            format!(
                "{} (not told apart: their intervals overlap)",
                names.join(" and ")
            )
        } else {
            names[0].into()
        }
    };
    let tiers: Vec<String> = tiers.iter().map(names).collect();
    Some(format!("Overall the order is {}.", tiers.join(", then ")))
}

fn noise(view: &View) -> Option<String> {
    let unmet = view.analysis.controls.iter().filter(|c| !c.met).count();
    (unmet > 0).then(|| {
        format!(
            "The noise floor was not met at {} of {}, where the margin is wider for it.",
            unmet,
            count(view.analysis.controls.len(), "point"),
        )
    })
}

fn few_blocks(view: &View) -> Option<String> {
    let reached = reached_level(view)?;
    Some(format!(
        "These blocks support intervals of {} at some points, where {} was asked for: treat this as a first look.",
        number::level(reached),
        number::level(view.analysis.level),
    ))
}

/// Who is not in the answer, or not everywhere. Begins with a space.
fn missing(view: &View) -> String {
    let failed: BTreeSet<SubjectId> = view.report.run.failures.iter().map(|f| f.subject).collect();
    let refused: BTreeSet<SubjectId> = view.analysis.refusals.iter().map(|r| r.subject).collect();
    let names = |ids: Vec<SubjectId>| {
        ids.iter()
            .map(|&s| view.name(s))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut text = String::new();
    if !failed.is_empty() {
        text += &format!(
            " Failed at some point or everywhere, and left out there: {}.",
            names(failed.iter().copied().collect())
        );
    }
    let only_refused: Vec<SubjectId> = refused.difference(&failed).copied().collect();
    if !only_refused.is_empty() {
        text += &format!(
            " Not compared at some point or everywhere, because the work was not the same: {}.",
            names(only_refused)
        );
    }
    text
}

// SPDX-License-Identifier: Apache-2.0
//! The answer to an experiment's question in one paragraph, computed from verdicts and overall ratios.

use crate::Report;
use crate::content::{self, count};
use crate::load::LoadView;
use crate::number::{Quantity, full};
use crate::served::ServedView;
use crate::view::View;
use lab_model::SubjectId;
use lab_stats::analysis::{Comparison, Overall, Verdict};
use std::collections::BTreeSet;

/// The answer: who is ahead where, where it is a tie, what is open, and what limits all this.
pub fn answer(report: &Report) -> String {
    if let Some(view) = LoadView::of(report) {
        return match ServedView::of(&view) {
            Some(served) => content::served::joined(&served),
            None => content::load::answer(&view),
        };
    }
    let views = View::all(report);
    let Some(view) = views.first().filter(|_| views.len() == 1) else {
        if views.len() > 1 {
            let said = conclusions(&views);
            let said = said.iter().map(|(place, text)| match place.is_empty() {
                true => text.clone(),
                false => format!("{place}: {text}"),
            });
            return said.collect::<Vec<_>>().join(" ");
        }
        return "This file holds imported figures alone. They have no intervals, so they support no conclusion.".into();
    };
    if view.analysis.cells.is_empty() {
        let subject = view.words.subject;
        return format!(
            "There is no answer yet: no {subject} has a complete block at any point.{}",
            missing(view)
        );
    }
    if view.commands().is_some() {
        let said = content::sentences(view).into_iter().map(|s| s.text);
        let said: Vec<String> = said.chain(content::noise(view)).collect();
        return said.join(" ") + &missing(view);
    }
    if view.analysis.comparisons.is_empty() {
        return format!(
            "There is no answer: nothing could be compared with {}.{}",
            view.baseline(),
            missing(view)
        );
    }
    let mut sentences = vec![opening(view)];
    let ranking = content::ranked(view);
    sentences.extend(ranking.iter().map(|overall| standing(view, overall)));
    sentences.extend(order(view, &ranking));
    sentences.extend(content::undecided(view));
    sentences.extend(content::noise(view));
    sentences.extend(content::few_blocks(view));
    sentences.join(" ") + &missing(view)
}

/// Of a run on several targets: what each says, after its name, and last what limits all of it.
pub fn conclusions(views: &[View]) -> Vec<(&'static str, String)> {
    let mut said: Vec<(&str, String)> = views
        .iter()
        .map(|view| {
            let text = content::conclusion(view).join(" ") + &missing(view);
            (view.place(), text)
        })
        .collect();
    let mut limits: Vec<String> = Vec::new();
    for limit in views.iter().filter_map(content::few_blocks) {
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    if !limits.is_empty() {
        said.push(("", limits.join(" ")));
    }
    said
}

/// How much was measured, and whether anyone is ahead of the baseline.
fn opening(view: &View) -> String {
    let limit = view
        .plan
        .subjects
        .get(view.plan.baseline)
        .is_some_and(|s| s.limit);
    let machine = if limit {
        ", which shows what the machine allows"
    } else {
        ""
    };
    let baseline = format!("{}{machine}", view.baseline());
    let blocks = count(view.analysis.blocks as usize, "block");
    let points = count(view.plan.points.len(), "point");
    if view.analysis.comparisons.iter().any(|c| won(&c.verdict)) {
        format!("In {blocks} at {points}, compared with {baseline}:")
    } else {
        format!("In {blocks} at {points}, nothing is shown to be ahead of {baseline}.")
    }
}

fn won(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Faster | Verdict::SmallButReal { faster: true }
    )
}

/// Verdicts in a word, and which they are.
type Kind = (&'static str, fn(&Verdict) -> bool);

/// `java takes 1.45 [1.40, 1.51] times as long overall (14 points: 12 slower, 2 equivalent).`
fn standing(view: &View, overall: &Overall) -> String {
    let all = view
        .analysis
        .comparisons
        .iter()
        .filter(|c| c.subject == overall.subject);
    let all: Vec<&Comparison> = all.collect();
    let kinds: [Kind; 6] = [
        ("faster", |v| *v == Verdict::Faster),
        ("a little faster", |v| {
            *v == Verdict::SmallButReal { faster: true }
        }),
        ("equivalent", |v| *v == Verdict::Equivalent),
        ("a little slower", |v| {
            *v == Verdict::SmallButReal { faster: false }
        }),
        ("slower", |v| *v == Verdict::Slower),
        ("inconclusive", |v| {
            matches!(v, Verdict::Inconclusive { .. })
        }),
    ];
    let parts = kinds.iter().filter_map(|(word, is)| {
        let at: Vec<_> = all.iter().copied().filter(|c| is(&c.verdict)).collect();
        (!at.is_empty()).then(|| format!("{} {word}{}", at.len(), wins(view, &at)))
    });
    format!(
        "{} takes {} times as long overall ({}: {}).",
        view.name(overall.subject),
        full(Quantity::Ratio, &overall.ratio),
        count(all.len(), "point"),
        parts.collect::<Vec<_>>().join(", "),
    )
}

/// Where a subject is ahead, by name if that is at one or two points.
fn wins(view: &View, at: &[&Comparison]) -> String {
    if at.len() > 2 || !at.iter().all(|c| won(&c.verdict)) {
        return String::new();
    }
    let names: Vec<String> = at.iter().map(|c| view.plan.label(c.point)).collect();
    format!(" at {}", names.join(" and "))
}

/// The order of the subjects overall. Neighbours whose intervals overlap are a tie.
fn order(view: &View, ranking: &[&Overall]) -> Option<String> {
    let names = |tier: &Vec<&str>| match tier.as_slice() {
        [one] => (*one).to_string(),
        many => format!("{} (a tie: their intervals overlap)", many.join(" and ")),
    };
    let tiers: Vec<String> = content::tiers(view, ranking).iter().map(names).collect();
    (ranking.len() > 1).then(|| format!("Overall the order is {}.", tiers.join(", then ")))
}

/// Who is not in the answer, or not everywhere. Begins with a space.
pub fn missing(view: &View) -> String {
    let failed: BTreeSet<SubjectId> = view.run.failures.iter().map(|f| f.subject).collect();
    let refused: BTreeSet<SubjectId> = view.analysis.refusals.iter().map(|r| r.subject).collect();
    let names = |ids: Vec<SubjectId>| {
        ids.iter()
            .map(|&s| view.name(s))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut text = String::new();
    if !failed.is_empty() {
        let names = names(failed.iter().copied().collect());
        text += &match view.plan.points.len() {
            1 if view.commands().is_some() => format!(" Failed, and not compared: {names}."),
            _ => format!(" Failed at some point or everywhere, and left out there: {names}."),
        };
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

// SPDX-License-Identifier: Apache-2.0
//! What a run on several targets says, a few sentences for each, computed from verdicts and intervals:
//! who is ahead where, and where it is a tie.

use super::scaling::throughput;
use super::targets::{short_label, single_points};
use super::{count, undecided};
use crate::number::{self, Quantity, full};
use crate::view::View;
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Comparison, Interval, Overall, Verdict};

/// The sentences of a target.
pub fn conclusion(view: &View) -> Vec<String> {
    if view.analysis.cells.is_empty() {
        return vec!["No subject has a complete block at any point.".into()];
    }
    if view.analysis.comparisons.is_empty() {
        return vec![format!(
            "Nothing could be compared with {}.",
            view.baseline()
        )];
    }
    let sentences = [
        ranking(view),
        Some(against_baseline(view)),
        leaders(view),
        connections(view),
        undecided(view),
        noise(view),
    ];
    sentences.into_iter().flatten().collect()
}

/// Subjects in tiers: neighbours whose intervals overlap are a tie. The tiers' names, the best first.
pub fn tiers<'a>(view: &View<'a>, ranking: &[&Overall]) -> Vec<Vec<&'a str>> {
    let mut tiers: Vec<Vec<&Overall>> = Vec::new();
    for &overall in ranking {
        let reach = tiers.last().map(|tier| {
            let highs = tier.iter().map(|o| o.ratio.high);
            highs.fold(f64::NEG_INFINITY, f64::max)
        });
        match tiers.last_mut() {
            Some(tier) if reach.is_some_and(|reach| overall.ratio.low <= reach) => {
                tier.push(overall)
            }
            _ => tiers.push(vec![overall]),
        }
    }
    let names = |tier: Vec<&Overall>| tier.iter().map(|o| view.name(o.subject)).collect();
    tiers.into_iter().map(names).collect()
}

/// Those with an interval, the one that takes least first.
pub fn ranked<'a>(view: &View<'a>) -> Vec<&'a Overall> {
    let compared = |o: &&Overall| {
        let mut comparisons = view.analysis.comparisons.iter();
        comparisons.any(|c| c.subject == o.subject) && number::bounded(&o.ratio)
    };
    let mut ranked: Vec<&Overall> = view.analysis.overall.iter().filter(compared).collect();
    ranked.sort_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate));
    ranked
}

/// `Over all points the order is rust and go (a tie), then java: from 1.02 [1.01, 1.03] to 1.9 [1.8, 2.0]
/// times as long as c, the limit.`
fn ranking(view: &View) -> Option<String> {
    let ranked = ranked(view);
    let (first, last) = (ranked.first()?, ranked.last()?);
    let limit = match view.plan.subjects[view.plan.baseline].limit {
        true => ", which shows what the machine allows",
        false => "",
    };
    let base = view.baseline();
    if ranked.len() == 1 {
        return Some(format!(
            "{} takes {} times as long as {base}{limit}, over {}.",
            view.name(first.subject),
            full(Quantity::Ratio, &first.ratio),
            count(first.points as usize, "point"),
        ));
    }
    let tiers = tiers(view, &ranked);
    let names = tiers.iter().map(|tier| match tier.as_slice() {
        [one] => (*one).to_string(),
        many => format!("{} (a tie)", list(many)),
    });
    Some(format!(
        "Over all points the order is {}: from {} to {} times as long as {base}{limit}.",
        names.collect::<Vec<_>>().join(", then "),
        full(Quantity::Ratio, &first.ratio),
        full(Quantity::Ratio, &last.ratio),
    ))
}

/// Who is ahead of the baseline, and who is equivalent to it.
fn against_baseline(view: &View) -> String {
    let base = view.baseline();
    let all = single_points(view);
    let at = |is: fn(&Verdict) -> bool| -> Vec<String> {
        let of = |&subject: &SubjectId| {
            let mine = view.analysis.comparisons.iter();
            let points: Vec<PointId> = mine
                .filter(|c| c.subject == subject && all.contains(&c.point) && is(&c.verdict))
                .map(|c| c.point)
                .collect();
            (!points.is_empty())
                .then(|| format!("{} {}", view.name(subject), places(view, &points)))
        };
        view.shown().iter().filter_map(of).collect()
    };
    let ahead = at(|v| matches!(v, Verdict::Faster | Verdict::SmallButReal { faster: true }));
    let equal = at(|v| *v == Verdict::Equivalent);
    let (n, margin) = (
        count(all.len(), "point"),
        number::level(view.analysis.margin),
    );
    let ahead = match ahead.is_empty() {
        true => format!("At none of {n} is anything shown to be ahead of {base}"),
        false => format!("Of {n}, ahead of {base}: {}", ahead.join(", ")),
    };
    match equal.is_empty() {
        true => format!("{ahead}, or to be equivalent within {margin}."),
        false => format!("{ahead}; equivalent within {margin}: {}.", equal.join(", ")),
    }
}

/// Who comes first apart from the baseline, point by point, if one interval lies below all others.
fn leaders(view: &View) -> Option<String> {
    let mut alone: Vec<(SubjectId, Vec<PointId>)> = Vec::new();
    let (mut ties, mut contested) = (0, 0);
    for point in single_points(view) {
        let here = view.analysis.comparisons.iter();
        let mut here: Vec<&Comparison> = here
            .filter(|c| c.point == point && number::bounded(&c.ratio))
            .collect();
        here.sort_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate));
        let [first, others @ ..] = here.as_slice() else {
            continue;
        };
        if others.is_empty() {
            continue;
        }
        contested += 1;
        match others.iter().all(|o| o.ratio.low > first.ratio.high) {
            false => ties += 1,
            true => match alone.iter_mut().find(|(s, _)| *s == first.subject) {
                Some((_, points)) => points.push(point),
                None => alone.push((first.subject, vec![point])),
            },
        }
    }
    alone.sort_by_key(|(_, points)| std::cmp::Reverse(points.len()));
    let mut parts: Vec<String> = alone
        .iter()
        .map(|(s, points)| format!("{} {}", view.name(*s), places(view, points)))
        .collect();
    let base = view.baseline();
    if ties > 0 && !parts.is_empty() {
        parts.push(format!("at {ties} the first two cannot be told apart"));
    }
    (contested > 0).then(|| match parts.is_empty() {
        true => format!("The first two besides {base} cannot be told apart at any point."),
        false => format!("First besides {base}: {}.", parts.join(", ")),
    })
}

/// Who does most at once.
fn connections(view: &View) -> Option<String> {
    let group = view.scaling_groups().into_iter().next()?;
    let best = |subject: SubjectId| {
        let rates = group.points.iter().filter_map(|&point| {
            let rate = throughput(&view.cell(subject, point)?.wall_ns);
            Some((subject, point, rate)).filter(|(_, _, r)| number::bounded(r))
        });
        rates.max_by(|a, b| a.2.estimate.total_cmp(&b.2.estimate))
    };
    let mut all: Vec<(SubjectId, PointId, Interval)> =
        view.shown().into_iter().filter_map(best).collect();
    all.sort_by(|a, b| b.2.estimate.total_cmp(&a.2.estimate));
    let [(first, point, rate), others @ ..] = all.as_slice() else {
        return None;
    };
    let same = others.iter().filter(|(_, _, other)| other.high >= rate.low);
    let same: Vec<&str> = same.map(|(s, _, _)| view.name(*s)).collect();
    let tie = match same.is_empty() {
        true => String::new(),
        false => format!("; {} may reach as much", list(&same)),
    };
    let sweep = view.plan.cases[group.case].sweep.clone()?;
    let n = super::cases::sweep_value(view, *point);
    Some(format!(
        "Most at once: {} with {} at {sweep}={n}{tie}.",
        view.name(*first),
        full(Quantity::Rate, rate),
    ))
}

pub fn noise(view: &View) -> Option<String> {
    let unmet = view.analysis.controls.iter().filter(|c| !c.met).count();
    (unmet > 0).then(|| {
        format!(
            "The noise floor was not met at {} of {}, where the margin is wider for it.",
            unmet,
            count(view.analysis.controls.len(), "point"),
        )
    })
}

/// `at point and insert`, or `at 7`.
fn places(view: &View, points: &[PointId]) -> String {
    let labels: Vec<String> = points.iter().map(|&p| short_label(view, p)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    match labels.len() {
        1 | 2 => format!("at {}", list(&labels)),
        n => format!("at {n}"),
    }
}

/// `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What a comparison of whole commands says: a sentence for each command, with the interval, in the
//! words that its verdict supports.

use super::cases::tone;
use super::count;
use crate::number::{self, Quantity, spoken};
use crate::table::{Tone, cut};
use crate::view::{View, verdict_word};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Comparison, Interval, Verdict};
use lab_stats::forecast;
use unicode_width::UnicodeWidthStr;

/// Names in sentences are cut to this many columns.
const NAME: usize = 32;

/// The columns of an estimate.
const ESTIMATE: usize = 60;

/// Names in estimates: two of them and an interval with its level fit.
const ESTIMATE_NAME: usize = 8;

/// A sentence and what it means.
pub struct Sentence {
    /// For people.
    pub text: String,
    /// How it looks where there are colours.
    pub tone: Tone,
}

/// A sentence for each compared command, in the order of the plan; where nothing can be compared,
/// one for each command that was measured.
pub fn sentences(view: &View) -> Vec<Sentence> {
    let said: Vec<Sentence> = view
        .plan
        .compared()
        .filter_map(|subject| against_baseline(view, subject))
        .collect();
    if !said.is_empty() {
        return said;
    }
    let levels = view.plan.compared().filter_map(|s| level(view, s));
    levels
        .map(|text| Sentence {
            text,
            tone: Tone::Plain,
        })
        .collect()
}

/// What the second copy of the baseline shows, where there is one.
pub fn noise_floor(view: &View) -> Option<String> {
    let baseline = cut(view.baseline(), NAME);
    let controls = &view.analysis.controls;
    let met = controls.iter().filter(|c| c.met).count();
    match controls.as_slice() {
        [] => None,
        [only] if has_interval(&only.ratio) => Some(format!(
            "The second copy of {baseline} takes {} times as long: the noise floor is {}met.",
            at_level(
                spoken(Quantity::Ratio, &only.ratio),
                only.ratio.level,
                1.0 - view.plan.measure.alpha,
            ),
            if only.met { "" } else { "not " },
        )),
        many => Some(format!(
            "With the second copy of {baseline} the noise floor is met at {met} of {}.",
            count(many.len(), "point"),
        )),
    }
}

/// The current estimate of a run that goes on, in at most 60 columns:
/// `B takes 1.083 (1.060 to 1.110) × A`. Empty as long as there is no interval.
pub fn estimate(view: &View) -> String {
    let bounded = view.analysis.overall.iter();
    let bounded = bounded.filter(|o| has_interval(&o.ratio));
    let mut estimates: Vec<String> = bounded
        .map(|overall| {
            let [b, a] = [overall.subject, view.plan.baseline]
                .map(|subject| cut(view.name(subject), ESTIMATE_NAME));
            format!("{b} takes {} × {a}", held(view, &overall.ratio))
        })
        .collect();
    if let [only] = view.analysis.cells.as_slice()
        && number::bounded(&only.wall_ns)
    {
        let name = cut(view.name(only.subject), ESTIMATE_NAME);
        estimates.push(format!("{name} takes {}", level_of(view, &only.wall_ns)));
    }
    let fits = |n: &usize| estimates[..*n].join(", ").width() <= ESTIMATE;
    let shown = (0..=estimates.len()).rev().find(fits).unwrap_or(0);
    estimates[..shown].join(", ")
}

fn against_baseline(view: &View, subject: SubjectId) -> Option<Sentence> {
    let all: Vec<&Comparison> = view
        .analysis
        .comparisons
        .iter()
        .filter(|c| c.subject == subject)
        .collect();
    match all.as_slice() {
        [] => None,
        [only] => Some(Sentence {
            text: at_point(view, only),
            tone: tone(&only.verdict),
        }),
        many => {
            let first = many[0].verdict;
            let same = many
                .iter()
                .all(|c| verdict_word(&c.verdict) == verdict_word(&first));
            Some(Sentence {
                text: over_points(view, subject, many),
                tone: if same { tone(&first) } else { Tone::Plain },
            })
        }
    }
}

/// One comparison in its verdict's words.
fn at_point(view: &View, comparison: &Comparison) -> String {
    let (b, a) = names(view, comparison.subject);
    let at = view.at(Some(comparison.point));
    let ratio = &comparison.ratio;
    let text = match comparison.verdict {
        Verdict::Faster | Verdict::Slower => format!("{b} {}{at}.", difference(view, ratio, &a)),
        Verdict::Equivalent => format!(
            "{b} and {a} are equivalent within {}{at}: {b} takes {} times as long.",
            margin(view, comparison.point),
            held(view, ratio),
        ),
        Verdict::SmallButReal { faster } => {
            let (word, times) = if faster {
                (
                    "faster",
                    format!("{} times as fast", held(view, &inverse(ratio))),
                )
            } else {
                ("slower", format!("{} times as long", held(view, ratio)))
            };
            format!(
                "{b} is a little {word} than {a}{at}: {times}, which may be less than the margin of {}.",
                margin(view, comparison.point),
            )
        }
        Verdict::Inconclusive { blocks_needed } => {
            let so_far = match has_interval(ratio) {
                true => format!("{b} {}{at}", time_ratio(view, ratio, &a)),
                false => format!("{b} and {a} have no interval yet{at}"),
            };
            format!(
                "Not decided: {so_far}; {}.",
                what_would(view, blocks_needed)
            )
        }
    };
    text + &whole(view, comparison)
}

/// All comparisons of a sweep: the geometric mean, and who is ahead where.
fn over_points(view: &View, subject: SubjectId, all: &[&Comparison]) -> String {
    let (b, a) = names(view, subject);
    let mut overall = view.analysis.overall.iter();
    let overall = overall.find(|o| o.subject == subject && has_interval(&o.ratio));
    let begin = match overall {
        Some(overall) => format!("{b} {} overall", difference(view, &overall.ratio, &a)),
        None => format!("{b} and {a} have no overall interval yet"),
    };
    let mut kinds: Vec<(String, Vec<PointId>)> = Vec::new();
    for comparison in all {
        let kind = kind(view, comparison);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, points)) => points.push(comparison.point),
            None => kinds.push((kind, vec![comparison.point])),
        }
    }
    let parts: Vec<String> = match kinds.as_slice() {
        [(kind, points)] => vec![format!(
            "{kind} at each of {}",
            count(points.len(), "point")
        )],
        many => many
            .iter()
            .map(|(kind, points)| format!("{kind}{}", places(view, points)))
            .collect(),
    };
    let open = all.iter().filter_map(|c| match c.verdict {
        Verdict::Inconclusive { blocks_needed } => Some(blocks_needed),
        _ => None,
    });
    let open: Vec<Option<u32>> = open.collect();
    let decide = match open.is_empty() {
        true => String::new(),
        false => format!("; {}", what_would(view, open.into_iter().max().flatten())),
    };
    format!("{begin}: {}{decide}.", parts.join(", "))
}

/// A command that nothing is compared with.
fn level(view: &View, subject: SubjectId) -> Option<String> {
    let name = short_name(view, subject);
    let fits = &view.analysis.fits;
    if let Some(fit) = fits.iter().find(|f| f.subject == subject)
        && number::bounded(&fit.fixed_ns)
    {
        let sweep = view.plan.cases.get(fit.case)?.sweep.as_deref()?;
        return Some(format!(
            "{name} takes {} and {} more for each {}.",
            level_of(view, &fit.fixed_ns),
            level_of(view, &fit.marginal_ns),
            cut(sweep, NAME),
        ));
    }
    let cell = view.analysis.cells.iter().find(|c| c.subject == subject)?;
    let at = view.at(Some(cell.point));
    Some(match number::bounded(&cell.wall_ns) {
        true => format!("{name} takes {}{at}.", level_of(view, &cell.wall_ns)),
        false => format!("{name} has no interval yet{at}: one block says nothing of scatter."),
    })
}

/// A level in a sentence.
fn level_of(view: &View, time: &Interval) -> String {
    at_level(
        spoken(Quantity::Time, time),
        time.level,
        1.0 - view.plan.measure.alpha,
    )
}

/// `is 1.083 (1.071 to 1.095) times as fast as A`, or `takes … times as long as A`.
fn difference(view: &View, ratio: &Interval, baseline: &str) -> String {
    if ratio.high < 1.0 {
        let times = held(view, &inverse(ratio));
        return format!("is {times} times as fast as {baseline}");
    }
    time_ratio(view, ratio, baseline)
}

fn time_ratio(view: &View, ratio: &Interval, baseline: &str) -> String {
    format!("takes {} times as long as {baseline}", held(view, ratio))
}

/// Where the mean over all runs has another winner than the typical run.
fn whole(view: &View, comparison: &Comparison) -> String {
    if !comparison.disagree {
        return String::new();
    }
    format!(
        " In the mean over all runs it takes {} times as long: some runs take much longer than most.",
        held(view, &comparison.whole_ratio),
    )
}

/// What would probably decide a comparison that is not.
fn what_would(view: &View, blocks: Option<u32>) -> String {
    let Some(blocks) = blocks else {
        return "more time would hardly decide it: let the commands do more work in one run, or \
                allow a wider --margin"
            .into();
    };
    let time = forecast::time_for(view.run, blocks);
    let time = time.map_or(String::new(), |time| format!(": --for {time}"));
    format!("about {blocks} blocks would probably decide it{time}")
}

fn kind(view: &View, comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::SmallButReal { faster: true } => "a little faster".into(),
        Verdict::SmallButReal { faster: false } => "a little slower".into(),
        Verdict::Equivalent => {
            format!("equivalent within {}", margin(view, comparison.point))
        }
        Verdict::Inconclusive { .. } => "not decided".into(),
        verdict => verdict_word(&verdict).into(),
    }
}

/// ` at n=1 and n=10`, or ` at 7 points`.
fn places(view: &View, points: &[PointId]) -> String {
    let labels: Vec<String> = points.iter().map(|&p| view.plan.label(p)).collect();
    match labels.as_slice() {
        [one] => format!(" at {one}"),
        [first, second] => format!(" at {first} and {second}"),
        [first, second, third] => format!(" at {first}, {second} and {third}"),
        many => format!(" at {} points", many.len()),
    }
}

/// The margin at a point: the control may have raised it.
fn margin(view: &View, point: PointId) -> String {
    let mut controls = view.analysis.controls.iter();
    let control = controls.find(|c| c.point == point);
    number::level(control.map_or(view.analysis.margin, |c| c.margin))
}

/// A ratio in a sentence.
fn held(view: &View, ratio: &Interval) -> String {
    at_level(
        spoken(Quantity::Ratio, ratio),
        ratio.level,
        view.analysis.level,
    )
}

/// An interval that holds at a lower level than was asked for says so.
fn at_level(text: String, level: f64, asked: f64) -> String {
    if level >= asked - 1e-9 {
        return text;
    }
    text.replacen(')', &format!(" at {})", number::level(level)), 1)
}

fn has_interval(ratio: &Interval) -> bool {
    number::bounded(ratio) && ratio.low > 0.0
}

/// How many times as fast, from how many times as long.
fn inverse(ratio: &Interval) -> Interval {
    Interval {
        estimate: 1.0 / ratio.estimate,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
        level: ratio.level,
    }
}

fn names(view: &View, subject: SubjectId) -> (String, String) {
    (
        short_name(view, subject),
        short_name(view, view.plan.baseline),
    )
}

fn short_name(view: &View, subject: SubjectId) -> String {
    cut(view.name(subject), NAME)
}

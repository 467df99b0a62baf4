// SPDX-License-Identifier: Apache-2.0
//! One sentence for each verdict and metric.

use super::scope::Scope;
use super::standings::{Standing, Standings};
use lab_document::say::{self, list, times};
use lab_model::{Interval, Metric, PointId, SubjectId, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::results::Comparison;

/// The words that sentences about a metric use.
pub struct MetricWording {
    /// Before a ratio: `takes`.
    pub verb: &'static str,
    /// The noun of a ratio, after `c's`: `time`.
    noun: String,
    /// Predicate for a subject with less of it: `is faster`.
    less: String,
    /// Predicate for a subject with more of it: `is slower`.
    more: String,
    /// Predicate for the subject with the least: `is fastest`.
    pub least: String,
    /// Predicate for multiple subjects tied for the least: `are fastest`.
    least_many: String,
    /// Predicate for the subject with the most: `is slowest`.
    most: String,
    /// Ratios are of the time for each request; sentences give their inverse.
    inverted: bool,
}

/// The words for a metric.
pub fn wording(metric: &Metric) -> MetricWording {
    let (be, have) = (["is", "are"], ["has", "have"]);
    let (need, hold) = (["needs", "need"], ["holds", "hold"]);
    let title = &*metric.title;
    match metric.id.as_ref() {
        "wall" | "mean_wall" => {
            let words = ["faster", "slower", "fastest", "slowest"];
            MetricWording::new(("takes", "time"), be, words.map(String::from))
        }
        "throughput" => {
            let words = ["more", "fewer", "most", "fewest"];
            let noun = ("serves", "requests per second");
            MetricWording {
                inverted: true,
                ..MetricWording::new(noun, ["serves", "serve"], words.map(String::from))
            }
        }
        "server_cpu" => MetricWording::amount("CPU time", "CPU time per request", need),
        "cpu" | "mean_cpu" => MetricWording::amount("CPU time", "CPU time", need),
        "memory" | "server_memory" => MetricWording::amount("memory", "memory", hold),
        _ => {
            let words = ["a lower", "a higher", "the lowest", "the highest"];
            MetricWording::new(
                ("has", title),
                have,
                words.map(|word| format!("{word} {title}")),
            )
        }
    }
}

impl MetricWording {
    /// Builds the predicates from a verb in singular and plural and the words for less, more, the least and
    /// the most.
    fn new(
        (verb, noun): (&'static str, &str),
        [one, many]: [&str; 2],
        [less, more, least, most]: [String; 4],
    ) -> MetricWording {
        MetricWording {
            verb,
            noun: noun.into(),
            less: format!("{one} {less}"),
            more: format!("{one} {more}"),
            least: format!("{one} {least}"),
            least_many: format!("{many} {least}"),
            most: format!("{one} {most}"),
            inverted: false,
        }
    }

    /// The wording of an amount that a subject needs or holds.
    fn amount(amount: &str, noun: &str, verbs: [&'static str; 2]) -> MetricWording {
        let words = ["less", "more", "least", "most"];
        MetricWording::new(
            (verbs[0], noun),
            verbs,
            words.map(|word| format!("{word} {amount}")),
        )
    }

    /// A ratio as sentences give it: the other way round for rates.
    fn stated(&self, ratio: &Interval) -> Interval {
        if self.inverted {
            say::inverse(ratio, 1.0)
        } else {
            *ratio
        }
    }

    /// `0.63 times c's time (0.61 to 0.66)`.
    fn times(&self, ratio: &Interval, base: &str, asked: f64) -> String {
        times(
            &self.stated(ratio),
            &format!("{base}'s {}", self.noun),
            asked,
        )
    }
}

/// A comparison in a sentence: `go is faster than c at connect: 0.63 times c's time (0.61 to 0.66).`
pub fn comparison(scope: &Scope, comparison: &Comparison, at: &str) -> String {
    let (b, a) = (scope.name(comparison.key.subject), scope.base_name());
    let wording = wording(&comparison.key.metric);
    if !say::is_bounded(&comparison.ratio) {
        let title = &comparison.key.metric.title;
        return match comparison.verdict {
            Some(Verdict::Inconclusive {
                blocks_needed: Some(n),
            }) => format!("The {title} of {b} and {a} is not compared{at}: that takes {n} blocks."),
            _ => format!("The {title} of {b} and {a} has no interval yet{at}."),
        };
    }
    let times = wording.times(&comparison.ratio, a, scope.results.level);
    let within = say::percent(comparison.margin);
    let verb = wording.verb;
    let sentence = match comparison.verdict {
        Some(Verdict::Faster) => format!("{b} {} than {a}{at}: {times}.", wording.less),
        Some(Verdict::Slower) => format!("{b} {} than {a}{at}: {times}.", wording.more),
        Some(Verdict::Equivalent) => {
            format!("{b} and {a} are equivalent within {within}{at}: {b} {verb} {times}.")
        }
        Some(Verdict::SmallButReal { faster }) => {
            let words = if faster { &wording.less } else { &wording.more };
            let is_little = (comparison.ratio.estimate - 1.0).abs() <= comparison.margin;
            let less_or_more = if is_little {
                a_little(words)
            } else {
                words.clone()
            };
            format!(
                "{b} {less_or_more} than {a}{at}: {times}, which may be within the margin of {within}."
            )
        }
        Some(Verdict::Inconclusive { .. }) | None => {
            format!("Not decided{at}: {b} {verb} {times}.")
        }
    };
    sentence + &mean(scope, comparison)
}

/// `is faster` -> `is a little faster`, `has a lower p99` -> `has a slightly lower p99`.
fn a_little(words: &str) -> String {
    match words.split_once(' ') {
        Some((verb, rest)) => match rest.strip_prefix("a ") {
            Some(rest) => format!("{verb} a slightly {rest}"),
            None => format!("{verb} a little {rest}"),
        },
        None => words.into(),
    }
}

/// The ratio of mean times, pauses included, in addition to the typical one.
fn mean(scope: &Scope, typical: &Comparison) -> String {
    let place = (typical.key.subject, typical.key.point);
    let mean = scope.comparison(place, &Metric::MEAN_WALL);
    let mean =
        mean.filter(|mean| typical.key.metric == Metric::WALL && say::is_bounded(&mean.ratio));
    mean.map_or(String::new(), |mean| {
        let base_time = format!("{}'s mean time", scope.base_name());
        let mean = times(&mean.ratio, &base_time, scope.results.level);
        format!(" Pauses included: {mean}.")
    })
}

/// The subject and point with the most costly pauses, if they exceed the margin.
pub fn pauses(scope: &Scope) -> Option<String> {
    let compared = scope.compared();
    let mut all = scope.results.pausing.iter();
    let key = all.find(|key| compared.contains(&key.subject))?;
    let cost = scope.interval((key.subject, key.point), &Metric::PAUSES)?;
    let at = key.point.map(|point| at(scope, point)).unwrap_or_default();
    let cost = say::figure(cost, &Metric::PAUSES.unit, scope.level());
    let name = scope.name(key.subject);
    Some(format!(
        "Pauses cost most in {name}{at}: its mean time is {cost} above its typical time."
    ))
}

/// The order of multiple subjects, in at most two sentences. `None` without intervals.
pub fn order(scope: &Scope, standings: &Standings, over: &str) -> Option<String> {
    let wording = wording(&standings.metric);
    let ratio_text = |s: &Standing| ratio_text(scope, standings, s);
    let name = |s: &Standing| scope.name(s.subject);
    let is_base = |s: &Standing| s.subject == scope.base();
    let first = standings.first();
    let next = standings.complete().get(1).copied();
    let (text, named) = match first.as_slice() {
        [] => return None,
        [base] if is_base(base) => {
            let (base, least, next) = (name(base), &wording.least, next?);
            let text = format!(
                "{base} {least}{over}; next is {} with {}.",
                name(next),
                ratio_text(next)
            );
            (text, Some(next.subject))
        }
        [only] => (
            format!(
                "{} {}{over}: {}.",
                name(only),
                wording.least,
                ratio_text(only)
            ),
            None,
        ),
        many => (tied(scope, standings, many, over), None),
    };
    let last = standings.last().filter(|last| Some(last.subject) != named);
    let last = last.map_or(String::new(), |last| {
        if is_base(last) {
            format!(" {} {}.", name(last), wording.most)
        } else {
            format!(" {} {}: {}.", name(last), wording.most, ratio_text(last))
        }
    });
    Some(text + &last)
}

/// `go and rust are fastest and are not told apart: go takes 1.01 times c's time (…), rust 1.02 (…).`
fn tied(scope: &Scope, standings: &Standings, many: &[&Standing], over: &str) -> String {
    let wording = wording(&standings.metric);
    let names: Vec<&str> = many.iter().map(|s| scope.name(s.subject)).collect();
    let others = many.iter().filter(|s| s.subject != scope.base());
    let mut others = others.map(|s| (scope.name(s.subject), s));
    let figures = others.next().map(|(name, first)| {
        let first = format!(
            "{name} {} {}",
            wording.verb,
            ratio_text(scope, standings, first)
        );
        let last = others.next_back().map(|(name, last)| {
            let ratio = wording.stated(&last.ratio);
            format!(
                ", {name} {}",
                say::figure(&ratio, &Unit::Ratio, standings.level)
            )
        });
        first + &last.unwrap_or_default()
    });
    format!(
        "{} {}{over} and are not told apart: {}.",
        list(&names),
        wording.least_many,
        figures.unwrap_or_default()
    )
}

/// `0.63 times c's time (0.61 to 0.66)`.
pub fn ratio_text(scope: &Scope, standings: &Standings, standing: &Standing) -> String {
    wording(&standings.metric).times(&standing.ratio, scope.base_name(), standings.level)
}

/// ` at select limit=100`; nothing where the run has only one point.
pub fn at(scope: &Scope, point: PointId) -> String {
    match scope.points().len() {
        1 if scope.plan.has_one_case() => String::new(),
        _ => format!(" at {}", scope.short(point)),
    }
}

/// Names of subjects as a list.
pub fn names(scope: &Scope, subjects: &[SubjectId]) -> String {
    let names: Vec<&str> = subjects.iter().map(|&s| scope.name(s)).collect();
    list(&names)
}

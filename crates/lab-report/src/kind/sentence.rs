// SPDX-License-Identifier: Apache-2.0
//! One sentence for each verdict and metric.

use super::say::{self, list, times};
use super::scope::Scope;
use super::standings::{Standing, Standings};
use lab_model::{Metric, PointId, SubjectId, Unit};
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::results::Comparison;

/// How a metric is spoken of.
pub struct Manner {
    /// Before a ratio: `takes`.
    pub verb: &'static str,
    /// What a ratio counts, after `c's`: `time`.
    noun: String,
    /// What a subject does with less of it: `is faster`.
    less: String,
    /// What it does with more of it: `is slower`.
    more: String,
    /// What the one with the least does: `is fastest`.
    pub least: String,
    /// The same of several.
    least_many: String,
    /// What the one with the most does.
    most: String,
    /// Ratios are of the time for each request, and are told the other way round.
    inverted: bool,
}

/// How a metric is spoken of.
pub fn manner(metric: &Metric) -> Manner {
    let (be, have) = (["is", "are"], ["has", "have"]);
    let (need, hold) = (["needs", "need"], ["holds", "hold"]);
    let title = &*metric.title;
    match metric.id.as_ref() {
        "wall" | "mean_wall" => {
            let words = ["faster", "slower", "fastest", "slowest"];
            Manner::new(("takes", "time"), be, words.map(String::from))
        }
        "throughput" => {
            let words = ["more", "fewer", "most", "fewest"];
            let noun = ("serves", "requests per second");
            Manner {
                inverted: true,
                ..Manner::new(noun, ["serves", "serve"], words.map(String::from))
            }
        }
        "server_cpu" => Manner::amount("CPU time", "CPU time per request", need),
        "cpu" | "mean_cpu" => Manner::amount("CPU time", "CPU time", need),
        "memory" | "server_memory" => Manner::amount("memory", "memory", hold),
        _ => {
            let words = ["a lower", "a higher", "the lowest", "the highest"];
            Manner::new(
                ("has", title),
                have,
                words.map(|word| format!("{word} {title}")),
            )
        }
    }
}

impl Manner {
    /// Of verbs for one and for several, and what they do with less, more, the least and the most.
    fn new(
        (verb, noun): (&'static str, &str),
        [one, many]: [&str; 2],
        [less, more, least, most]: [String; 4],
    ) -> Manner {
        Manner {
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

    /// Of what one needs or holds less or more of.
    fn amount(what: &str, noun: &str, verbs: [&'static str; 2]) -> Manner {
        let words = ["less", "more", "least", "most"];
        Manner::new(
            (verbs[0], noun),
            verbs,
            words.map(|word| format!("{word} {what}")),
        )
    }

    /// A ratio as it is told.
    fn told(&self, ratio: &Interval) -> Interval {
        match self.inverted {
            true => say::inverse(ratio, 1.0),
            false => *ratio,
        }
    }

    /// `0.63 times c's time (0.61 to 0.66)`.
    fn times(&self, ratio: &Interval, base: &str, asked: f64) -> String {
        times(&self.told(ratio), &format!("{base}'s {}", self.noun), asked)
    }
}

/// What a comparison says: `go is faster than c at connect: 0.63 times c's time (0.61 to 0.66).`
pub fn comparison(scope: &Scope, comparison: &Comparison, at: &str) -> String {
    let (b, a) = (scope.name(comparison.key.subject), scope.base_name());
    let manner = manner(&comparison.key.metric);
    if !say::is_bounded(&comparison.ratio) {
        return format!("{b} and {a} have no interval yet{at}.");
    }
    let times = manner.times(&comparison.ratio, a, scope.results.level);
    let within = say::percent(comparison.margin);
    let verb = manner.verb;
    let says = match comparison.verdict {
        Some(Verdict::Faster) => format!("{b} {} than {a}{at}: {times}.", manner.less),
        Some(Verdict::Slower) => format!("{b} {} than {a}{at}: {times}.", manner.more),
        Some(Verdict::Equivalent) => {
            format!("{b} and {a} are equivalent within {within}{at}: {b} {verb} {times}.")
        }
        Some(Verdict::SmallButReal { faster }) => {
            let what = a_little(if faster { &manner.less } else { &manner.more });
            format!("{b} {what} than {a}{at}: {times}, which may be within the margin of {within}.")
        }
        Some(Verdict::Inconclusive { .. }) | None => {
            format!("Not decided{at}: {b} {verb} {times}.")
        }
    };
    says + &mean(scope, comparison)
}

/// `is faster` -> `is a little faster`, `has a lower p99` -> `has a slightly lower p99`.
fn a_little(what: &str) -> String {
    match what.split_once(' ') {
        Some((verb, rest)) => match rest.strip_prefix("a ") {
            Some(rest) => format!("{verb} a slightly {rest}"),
            None => format!("{verb} a little {rest}"),
        },
        None => what.into(),
    }
}

/// Where the mean has another winner than the typical time.
fn mean(scope: &Scope, typical: &Comparison) -> String {
    let place = (typical.key.subject, typical.key.point);
    let mean = scope.comparison(place, &Metric::MEAN_WALL);
    let mean = mean.filter(|_| typical.disagrees);
    mean.map_or(String::new(), |mean| {
        let of = format!("{}'s", scope.base_name());
        let times = times(&mean.ratio, &of, scope.results.level);
        format!(" Its mean time is {times}: some take much longer than most.")
    })
}

/// Who is best of several: at most two sentences. Nothing where there is no interval.
pub fn order(scope: &Scope, standings: &Standings, over: &str) -> Option<String> {
    let manner = manner(&standings.metric);
    let told = |s: &Standing| told(scope, standings, s);
    let name = |s: &Standing| scope.name(s.subject);
    let is_base = |s: &Standing| s.subject == scope.base();
    if !standings.have_level() {
        let other = standings.ranked.iter().find(|s| !is_base(s))?;
        return Some(format!(
            "The blocks are too few to name a winner{over}: so far {} {} {}.",
            name(other),
            manner.verb,
            told(other)
        ));
    }
    let (text, named) = match standings.first() {
        [] => return None,
        [base] if is_base(base) => {
            let next = standings.ranked.get(1)?;
            let (base, least) = (name(base), &manner.least);
            let text = format!(
                "{base} {least}{over}; next is {} with {}.",
                name(next),
                told(next)
            );
            (text, 2)
        }
        [only] => (
            format!("{} {}{over}: {}.", name(only), manner.least, told(only)),
            1,
        ),
        many => (tied(scope, standings, many, over), many.len()),
    };
    let last = match &standings.ranked[named.min(standings.ranked.len())..] {
        [.., last] if is_apart(standings) => match is_base(last) {
            true => format!(" {} {}.", name(last), manner.most),
            false => format!(" {} {}: {}.", name(last), manner.most, told(last)),
        },
        _ => String::new(),
    };
    Some(text + &last)
}

/// Whether the last is behind all others.
fn is_apart(standings: &Standings) -> bool {
    let mut from_behind = standings.ranked.iter().rev().map(|s| &s.ratio);
    let last = from_behind.next();
    last.is_some_and(|last| from_behind.all(|ratio| ratio.high < last.low))
}

/// `go and rust are fastest and are not told apart: go takes 1.01 times c's time (…), rust 1.02 (…).`
fn tied(scope: &Scope, standings: &Standings, many: &[Standing], over: &str) -> String {
    let manner = manner(&standings.metric);
    let names: Vec<&str> = many.iter().map(|s| scope.name(s.subject)).collect();
    let others = many.iter().filter(|s| s.subject != scope.base());
    let mut others = others.map(|s| (scope.name(s.subject), s));
    let figures = others.next().map(|(name, first)| {
        let first = format!("{name} {} {}", manner.verb, told(scope, standings, first));
        let last = others.next_back().map(|(name, last)| {
            let ratio = manner.told(&last.ratio);
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
        manner.least_many,
        figures.unwrap_or_default()
    )
}

/// `0.63 times c's time (0.61 to 0.66)`.
pub fn told(scope: &Scope, standings: &Standings, standing: &Standing) -> String {
    manner(&standings.metric).times(&standing.ratio, scope.base_name(), standings.level)
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

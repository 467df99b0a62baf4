// SPDX-License-Identifier: Apache-2.0
//! Comparisons, orders and verdicts in sentences.

use lab_document::say::{self, list, times};
use lab_model::{Interval, Metric, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::results::Comparison;

/// The words that describe a metric in sentences.
pub struct MetricWords {
    /// The verb before a ratio, such as `takes`.
    pub verb: &'static str,
    /// The noun that follows the baseline's name in a ratio, such as `time` in `c's time`.
    noun: String,
    /// The predicate for a subject with a lower value: `is faster`.
    less: String,
    /// The predicate for a subject with a higher value: `is slower`.
    more: String,
    /// The predicate for the subject with the lowest value: `is fastest`.
    least: String,
    /// The predicate for multiple subjects tied for the lowest value: `are fastest`.
    least_many: String,
    /// The predicate for the subject with the highest value: `is slowest`.
    most: String,
    /// True if ratios compare the time per request, but sentences report the inverse, which is the
    /// ratio of the rates.
    inverted: bool,
}

/// Returns the words for a metric.
pub fn metric_words(metric: &Metric) -> MetricWords {
    let (be, have) = (["is", "are"], ["has", "have"]);
    let (need, hold) = (["needs", "need"], ["uses", "use"]);
    let title = &*metric.title;
    match metric.id.as_ref() {
        "wall" | "mean_wall" => {
            let words = ["faster", "slower", "fastest", "slowest"];
            MetricWords::new(("takes", "time"), be, words.map(String::from))
        }
        "throughput" => {
            let words = ["more", "fewer", "most", "fewest"];
            let noun = ("serves", "requests per second");
            MetricWords {
                inverted: true,
                ..MetricWords::new(noun, ["serves", "serve"], words.map(String::from))
            }
        }
        "server_cpu" => MetricWords::amount("CPU time", "CPU time per request", need),
        "cpu" | "mean_cpu" => MetricWords::amount("CPU time", "CPU time", need),
        "memory" | "server_memory" => MetricWords::amount("memory", "memory", hold),
        _ => {
            let words = ["a lower", "a higher", "the lowest", "the highest"];
            MetricWords::new(
                ("has", title),
                have,
                words.map(|word| format!("{word} {title}")),
            )
        }
    }
}

impl MetricWords {
    /// Builds the predicates from a verb in singular and plural and the words for less, more, least and most.
    fn new(
        (verb, noun): (&'static str, &str),
        [one, many]: [&str; 2],
        [less, more, least, most]: [String; 4],
    ) -> MetricWords {
        MetricWords {
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

    /// Builds the predicates for an amount that subjects need or use.
    fn amount(amount: &str, noun: &str, verbs: [&'static str; 2]) -> MetricWords {
        let words = ["less", "more", "the least", "the most"];
        MetricWords::new(
            (verbs[0], noun),
            verbs,
            words.map(|word| format!("{word} {amount}")),
        )
    }

    /// Returns a ratio in the form that sentences report: inverted for rates.
    fn stated(&self, ratio: &Interval) -> Interval {
        if self.inverted {
            say::inverse(ratio, 1.0)
        } else {
            *ratio
        }
    }

    /// Formats a ratio, such as `0.63 times c's time (0.61 to 0.66)`.
    fn times(&self, ratio: &Interval, base: &str, asked: f64) -> String {
        times(
            &self.stated(ratio),
            &format!("{base}'s {}", self.noun),
            asked,
        )
    }
}

/// A comparison with the names that its sentence needs.
pub struct Compared<'a> {
    /// The ratio and the verdict.
    pub comparison: &'a Comparison,
    /// The subject's name.
    pub subject: &'a str,
    /// The baseline's name.
    pub baseline: &'a str,
    /// The ratio of the mean times including pauses, if known.
    pub mean: Option<&'a Interval>,
    /// The point, such as ` at select limit=100`. Empty in a run with one point.
    pub at: &'a str,
    /// The requested confidence level.
    pub level: f64,
}

/// Describes a comparison: `go is faster than c at connect: 0.63 times c's time (0.61 to 0.66).`
pub fn comparison(compared: &Compared) -> String {
    let Compared {
        comparison,
        subject,
        baseline,
        at,
        level,
        ..
    } = compared;
    let words = metric_words(&comparison.key.metric);
    if !say::is_bounded(&comparison.ratio) {
        let title = &comparison.key.metric.title;
        return match comparison.verdict {
            Some(Verdict::Inconclusive {
                blocks_needed: Some(n),
            }) => format!(
                "The ratio of {subject} to {baseline} for {title} has no confidence interval yet{at}: a comparison needs {n} blocks."
            ),
            _ => format!(
                "The ratio of {subject} to {baseline} for {title} has no confidence interval yet{at}."
            ),
        };
    }
    let times = words.times(&comparison.ratio, baseline, *level);
    let within = say::percent(comparison.margin);
    let verb = words.verb;
    let sentence = match comparison.verdict {
        Some(Verdict::Faster) => format!("{subject} {} than {baseline}{at}: {times}.", words.less),
        Some(Verdict::Slower) => format!("{subject} {} than {baseline}{at}: {times}.", words.more),
        Some(Verdict::Equivalent) => format!(
            "{subject} and {baseline} are equivalent within {within}{at}: {subject} {verb} {times}."
        ),
        Some(Verdict::SmallButReal { faster }) => {
            let direction = if faster { &words.less } else { &words.more };
            let is_little = (comparison.ratio.estimate - 1.0).abs() <= comparison.margin;
            let less_or_more = if is_little {
                a_little(direction)
            } else {
                direction.clone()
            };
            format!(
                "{subject} {less_or_more} than {baseline}{at}: {times}, which may be within the margin of {within}."
            )
        }
        Some(Verdict::Inconclusive { .. }) | None => {
            format!("Inconclusive{at}: {subject} {verb} {times}.")
        }
    };
    let mean = compared.mean.map_or(String::new(), |mean| {
        let mean = say::times(mean, &format!("{baseline}'s mean time"), *level);
        format!(" Including pauses: {mean}.")
    });
    sentence + &mean
}

/// Qualifies a predicate: `is faster` -> `is a little faster`, `has a lower p99` -> `has a slightly lower p99`.
fn a_little(words: &str) -> String {
    match words.split_once(' ') {
        Some((verb, rest)) => match rest.strip_prefix("a ") {
            Some(rest) => format!("{verb} a slightly {rest}"),
            None => format!("{verb} a little {rest}"),
        },
        None => words.into(),
    }
}

/// A subject with its ratio to the baseline.
#[derive(Clone, Copy)]
pub struct Ranked<'a> {
    /// The subject's name.
    pub name: &'a str,
    /// The ratio to the baseline.
    pub ratio: Interval,
    /// True for the baseline itself.
    pub is_baseline: bool,
    /// True for the baseline, and for a subject that is equivalent to it.
    pub is_equivalent: bool,
}

/// Subjects ordered by a metric.
pub struct Order<'a> {
    /// The metric by which the subjects are ordered.
    pub metric: &'a Metric,
    /// The baseline's name.
    pub baseline: &'a str,
    /// The best subject and all subjects that are statistically tied with it.
    pub first: Vec<Ranked<'a>>,
    /// The second-best subject.
    pub next: Option<Ranked<'a>>,
    /// The subject that is worse than all others.
    pub last: Option<Ranked<'a>>,
    /// The number of ordered subjects.
    pub subjects: usize,
    /// The points, such as ` over 3 points`.
    pub over: &'a str,
    /// The requested confidence level.
    pub level: f64,
}

/// Describes the order of multiple subjects from best to worst, in at most two sentences.
///
/// Returns `None` if there are no intervals.
pub fn order(order: &Order) -> Option<String> {
    let Order { over, .. } = order;
    let words = metric_words(order.metric);
    let ratio = |ranked: &Ranked| words.times(&ranked.ratio, order.baseline, order.level);
    let (text, named) = match order.first.as_slice() {
        [] => return None,
        [base] if base.is_baseline => {
            let next = order.next.as_ref()?;
            let text = format!(
                "{} {}{over}; next is {} with {}.",
                base.name,
                words.least,
                next.name,
                ratio(next)
            );
            (text, Some(next.name))
        }
        [only] => {
            let text = format!("{} {}{over}: {}.", only.name, words.least, ratio(only));
            (text, None)
        }
        many => (tied(order, &words, many), None),
    };
    let last = order.last.filter(|last| Some(last.name) != named);
    let last = last.map_or(String::new(), |last| match last.is_baseline {
        true => format!(" {} {}.", last.name, words.most),
        false => format!(" {} {}: {}.", last.name, words.most, ratio(&last)),
    });
    Some(text + &last)
}

/// Describes tied subjects: `go and rust are fastest, statistically tied: go takes 1.01 times c's
/// time (…), rust 1.02 (…).`
///
/// A tie without equivalence only means that the data does not separate the subjects, not that they
/// are equal.
fn tied(order: &Order, words: &MetricWords, many: &[Ranked]) -> String {
    let names: Vec<&str> = many.iter().map(|ranked| ranked.name).collect();
    let mut others = many.iter().filter(|ranked| !ranked.is_baseline);
    let figures = others.next().map(|first| {
        let times = words.times(&first.ratio, order.baseline, order.level);
        let last = others.next_back().map(|last| {
            let ratio = words.stated(&last.ratio);
            let ratio = say::figure(&ratio, &Unit::Ratio, order.level);
            format!(", {} {ratio}", last.name)
        });
        format!("{} {} {times}", first.name, words.verb) + &last.unwrap_or_default()
    });
    let over = order.over;
    let figures = figures.unwrap_or_default();
    if many.iter().all(|ranked| ranked.is_equivalent) {
        let names = list(&names);
        format!(
            "{names} {}{over}, statistically tied: {figures}.",
            words.least_many
        )
    } else if many.len() == order.subjects {
        format!(
            "{} cannot be ranked{over}, because it is unclear which {}: {figures}.",
            list(&names),
            words.least
        )
    } else {
        let (last, others) = names.split_last().expect("a tie has two subjects");
        let others = others.join(", ");
        format!(
            "{others} or {last} {}{over}, but it is unclear which: {figures}.",
            words.least
        )
    }
}

/// Formats a ratio, such as `0.63 times c's time (0.61 to 0.66)`.
pub fn ratio(metric: &Metric, ratio: &Interval, baseline: &str, level: f64) -> String {
    metric_words(metric).times(ratio, baseline, level)
}

/// Describes the subject that leads at some of the points, but not at all of them.
pub fn leads_part(
    part: &str,
    metric: &Metric,
    leader: &Ranked,
    baseline: &str,
    level: f64,
) -> String {
    let words = metric_words(metric);
    format!(
        "At {part} {} {}: {}.",
        leader.name,
        words.least,
        words.times(&leader.ratio, baseline, level)
    )
}

/// Describes the largest ratio over all groups of points.
pub fn greatest_ratio(
    part: &str,
    metric: &Metric,
    worst: &Ranked,
    baseline: &str,
    level: f64,
) -> String {
    let words = metric_words(metric);
    format!(
        "The largest ratio is at {part}: {} {} {}.",
        worst.name,
        words.verb,
        words.times(&worst.ratio, baseline, level)
    )
}

/// Describes the subject and point at which pauses cost the most.
pub fn pauses(subject: &str, at: &str, cost: &Interval, level: f64) -> String {
    let cost = say::figure(cost, &Metric::PAUSES.unit, level);
    format!("Pauses cost most in {subject}{at}: its mean time is {cost} above its typical time.")
}

/// Returns a word or two for a verdict: faster or slower for times, less or more for everything else.
pub fn verdict(metric: &Metric, verdict: &Verdict) -> &'static str {
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
        Verdict::Inconclusive { .. } => "inconclusive",
    }
}

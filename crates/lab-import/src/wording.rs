// SPDX-License-Identifier: Apache-2.0
//! All sentences of the reports about imported results.

use crate::text::short;
use lab_document::say;
use lab_model::{Direction, Interval, Metric, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::processes::{ALPHA, ProcessChange};
use lab_stats::shifts::HistoryShift;
use std::collections::BTreeSet;

/// The sentence about a file whose values were all measured in one process.
pub const ONE_PROCESS: &str = "One process: no verdict.";

/// Explains why there is no verdict if all values come from one process.
pub const WHY_ONE_PROCESS: &str =
    "Repetitions within one process do not show how much processes differ from each other.";

/// The caveat about compared values that were measured one after the other.
pub const NOT_IN_TURNS: &str = "The compared values were measured one after the other, not in turns. If the \
     machine's speed changes between the measurements, this looks like a difference.";

/// The cell of a comparison in which a value is 0.
pub const NO_RATIO: &str = "no ratio: a value is 0";

/// States how many of the compared values have no ratio.
pub fn without_ratio(count: usize, all: usize) -> String {
    let verb = if count == 1 { "has" } else { "have" };
    format!(
        "{count} of {} {verb} no ratio: a value is 0.",
        say::count(all, "value")
    )
}

/// The headline of a comparison in which no pair of values can be compared.
pub const NOTHING_COMPARED: &str = "Nothing is compared.";

/// States that the unit of a format's times cannot be chosen.
pub fn unit_is_defined(format: &str) -> String {
    format!("--duration-unit is for HdrHistogram's logs; {format} files define their unit")
}

/// States that two results have the same name.
pub fn same_name(name: &str, metric: &Metric) -> String {
    format!(
        "there are two results for {} ({}), which reports cannot distinguish; give each benchmark \
         its own name",
        short(name),
        metric.title
    )
}

/// Lists how runs ended, such as `exit code 0, exit code 2, a signal`.
pub fn exit_codes(codes: &BTreeSet<Option<i64>>) -> String {
    let codes = codes.iter().rev().map(|code| match code {
        Some(code) => format!("exit code {code}"),
        None => "a signal".into(),
    });
    codes.collect::<Vec<_>>().join(", ")
}

/// States that two subjects are not compared because their runs ended in different ways.
pub fn ends_differ(names: [&str; 2], codes: [&BTreeSet<Option<i64>>; 2]) -> String {
    let [base, other] = names;
    let [of_base, of_other] = codes.map(exit_codes);
    format!(
        "{other} is not compared with {base}: the runs of {other} ended with {of_other}, but those of \
         {base} ended with {of_base}."
    )
}

/// Returns the name of a verdict in data, such as JSON.
pub fn identifier(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::SmallButReal { .. } => "small-but-real",
        Verdict::Inconclusive { .. } => "inconclusive",
    }
}

/// Returns the words for a verdict on a metric.
pub fn verdict(metric: &Metric, verdict: &Verdict) -> &'static str {
    let is_time = metric.unit == Unit::Nanoseconds;
    match (verdict, metric.better) {
        (Verdict::Faster, Direction::More) => "more",
        (Verdict::Slower, Direction::More) => "fewer",
        (Verdict::Faster, _) if !is_time => "less",
        (Verdict::Slower, _) if !is_time => "more",
        (Verdict::Faster, _) => "faster",
        (Verdict::Slower, _) => "slower",
        (Verdict::Equivalent, _) => "equivalent",
        (Verdict::SmallButReal { .. }, _) => "small but real",
        (Verdict::Inconclusive { .. }, _) => "inconclusive",
    }
}

/// Describes one value: `sort takes 12.3 ms (12.1 to 12.6)`.
pub fn value(name: &str, metric: &Metric, interval: &Interval) -> String {
    let figure = if interval.level > 0.0 {
        say::figure(interval, &metric.unit, 1.0 - ALPHA)
    } else {
        say::reading(interval.estimate, &metric.unit)
    };
    match (&metric.unit, metric.better) {
        (Unit::Nanoseconds, _) if ["wall", "mean_wall"].contains(&&*metric.id) => {
            format!("{name} takes {figure}")
        }
        (Unit::PerSecond(_), _) => format!("{name} reaches {figure}"),
        _ => format!("{name}: {} {figure}", metric.title),
    }
}

/// Describes one comparison: `B takes 1.08 times A's time (1.05 to 1.11).`
pub fn comparison(name: &str, base: &str, metric: &Metric, change: &ProcessChange) -> String {
    let noun = match metric.unit {
        Unit::Nanoseconds if ["wall", "mean_wall"].contains(&&*metric.id) => "time",
        _ => &metric.title,
    };
    let verb = if metric.better == Direction::More {
        "reaches"
    } else {
        "takes"
    };
    let of = format!("{base}'s {noun}");
    let ratio = if change.ratio.level > 0.0 {
        say::times(&change.ratio, &of, 1.0 - ALPHA)
    } else {
        format!(
            "{} times {of}",
            say::reading(change.ratio.estimate, &Unit::Ratio)
        )
    };
    format!("{name} {verb} {ratio}")
}

/// Counts verdicts: `2 of 5 benchmarks are slower, 3 equivalent`.
pub fn counts(verdicts: &[Verdict], subjects: &str) -> String {
    let ids = [
        "slower",
        "faster",
        "small-but-real",
        "equivalent",
        "inconclusive",
    ];
    let names = [
        "slower",
        "faster",
        "small but real",
        "equivalent",
        "inconclusive",
    ];
    let parts = ids.iter().zip(names).filter_map(|(id, name)| {
        let n = verdicts.iter().filter(|v| identifier(v) == *id).count();
        (n > 0).then_some((n, name))
    });
    let parts: Vec<(usize, &str)> = parts.collect();
    let Some(((n, name), rest)) = parts.split_first() else {
        return String::new();
    };
    let all = verdicts.len();
    let verb = if *n == 1 { "is" } else { "are" };
    let rest = rest.iter().map(|(n, name)| format!(", {n} {name}"));
    format!(
        "{n} of {all} {subjects} {verb} {name}{}",
        rest.collect::<String>()
    )
}

/// Describes a lasting change in a history. Where a value is 0, the change has no ratio.
pub fn shift(name: &str, metric: &Metric, run: &str, shift: &HistoryShift) -> String {
    let [from, to] = [shift.before, shift.after].map(|value| say::reading(value, &metric.unit));
    let ratio = shift.change.map_or(String::new(), |change| {
        let ratio = say::reading(change.estimate, &Unit::Ratio);
        format!(" ({ratio} times its previous value)")
    });
    format!("{name} went from {from} to {to}{ratio}, starting with {run}.")
}

/// States that earlier runs of a subject are not compared with the latest run because they ended in
/// different ways. `codes` are the exit codes of the earlier runs, and of the latest run.
pub fn earlier_ends_differ(
    subject: &str,
    earlier: usize,
    latest: &str,
    codes: [&BTreeSet<Option<i64>>; 2],
) -> String {
    let runs = say::count(earlier, "earlier run");
    let verb = if earlier == 1 { "is" } else { "are" };
    let [of_earlier, of_latest] = codes.map(exit_codes);
    format!(
        "{runs} of {subject} {verb} not compared with {latest}: {subject} ended with {of_earlier} \
         then, but with {of_latest} in {latest}."
    )
}

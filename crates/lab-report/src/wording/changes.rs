// SPDX-License-Identifier: Apache-2.0
//! The changes between two runs, in sentences.

use lab_document::say::{self, count, list};
use lab_model::{Interval, Metric, Unit};
use lab_stats::between::ProgramMatch;

/// The question of a report of two runs.
pub const QUESTION: &str = "What changed from the first run to the second?";

/// States whether a subject is the same program in both runs.
pub fn program(program: ProgramMatch) -> &'static str {
    match program {
        ProgramMatch::Same => "same program",
        ProgramMatch::Changed => "different program",
        ProgramMatch::Unknown => "unknown",
    }
}

/// Formats a subject, such as `go`. If it is known whether both runs used the same program, the
/// text says so: `go (different program)`.
pub fn with_program(subject: &str, program: ProgramMatch) -> String {
    match program {
        ProgramMatch::Unknown => subject.to_string(),
        known => format!("{subject} ({})", self::program(known)),
    }
}

/// Formats a change, such as `0.913 times what it was (0.902 to 0.925)`.
pub fn change(change: &Interval) -> String {
    say::times(change, "what it was", change.level)
}

/// Describes the change of a subject's only compared metric.
pub fn only_change(subject: &str, figure: &str, ratio: &Interval, verdict: &str) -> String {
    format!("{subject}: its {figure} is {}, {verdict}.", change(ratio))
}

/// Describes a subject whose metrics all have the same verdict. `range` is the minimum and maximum change.
pub fn all_changed(subject: &str, verdict: &str, figures: usize, range: (f64, f64)) -> String {
    let range = say::span(range.0, range.1);
    format!(
        "{subject}: {verdict} in all {} compared, {range} times the values of the first run.",
        count(figures, "value")
    )
}

/// A part of a subject's result: a changed metric, or a count of metrics with the same verdict.
pub enum PartChanged<'a> {
    /// A metric, its change and the verdict.
    Figure(&'a str, &'a Interval, &'a str),
    /// A number of metrics and their verdict.
    Count(usize, &'a str),
}

/// Describes a subject's changes: `go: p99 is 0.913 times what it was (0.902 to 0.925), less; 3 others are equivalent.`
pub fn parts_changed(subject: &str, parts: &[PartChanged]) -> String {
    let mut others = "";
    let mut texts = Vec::new();
    for part in parts {
        match part {
            PartChanged::Figure(figure, ratio, verdict) => {
                texts.push(format!("{figure} is {}, {verdict}", change(ratio)));
                others = " others";
            }
            PartChanged::Count(1, verdict) => {
                let other = others.trim_end_matches('s');
                texts.push(format!("1{other} is {verdict}"));
            }
            PartChanged::Count(n, verdict) => texts.push(format!("{n}{others} are {verdict}")),
        }
    }
    format!("{subject}: {}.", texts.join("; "))
}

/// Counts the inconclusive changes.
///
/// `needed` is the number of replicates in each run that would probably resolve them, if known.
/// `replicates` is the noun for multiple units of replication, such as `blocks`.
pub fn inconclusive_changes(
    open: usize,
    all: usize,
    needed: Option<u32>,
    replicates: &str,
) -> String {
    let decide = needed.map_or(String::new(), |needed| {
        format!("; about {needed} {replicates} in each run would probably resolve them")
    });
    format!(
        "{open} of {} are inconclusive{decide}.",
        count(all, "change")
    )
}

/// States how many replicates would resolve one change. `replicates` is their noun.
pub fn would_decide_change(needed: u32, replicates: &str) -> String {
    format!("about {needed} {replicates} in each run would probably resolve it")
}

/// Lists the kinds of caveats for the first screen.
pub fn caveat_kinds(kinds: &[String]) -> String {
    format!("Caveats: {}.", list(kinds))
}

/// States that nothing was compared.
///
/// `reason` is one or more sentences. `advice` explains how to compare the programs in one run.
pub fn nothing_changed(reason: Option<String>, advice: &str) -> String {
    let reason = reason.unwrap_or("No subject was compared in both runs.".into());
    format!("Nothing can be concluded about what changed. {reason} {advice}")
}

/// The change of the baseline's own time.
pub enum BaselineTime<'a> {
    /// The change at the only point.
    Only(&'a Interval),
    /// The number of points at which the baseline took longer or less time.
    Many {
        /// The number of points at which the baseline took longer.
        longer: usize,
        /// The number of points at which the baseline took less time.
        less: usize,
        /// The total number of points.
        all: usize,
    },
}

impl BaselineTime<'_> {
    /// Returns true if an interval with the confidence level `level` excludes an unchanged time.
    fn shows_change(&self, level: f64) -> bool {
        match self {
            BaselineTime::Only(ratio) => {
                say::has_level(ratio, level) && (ratio.low > 1.0 || ratio.high < 1.0)
            }
            BaselineTime::Many { longer, less, .. } => longer + less > 0,
        }
    }
}

/// Describes the change of the baseline's own time.
///
/// If the baseline is the same program and its time changed, the machine or the system caused the
/// change. `level` is the requested confidence level.
pub fn baseline_time(
    baseline: &str,
    program: ProgramMatch,
    time: &BaselineTime,
    level: f64,
) -> String {
    let observed = match time {
        BaselineTime::Only(ratio) => {
            let ratio = say::interval_text(ratio, &Unit::Ratio, level);
            format!(
                "took {} times as long as in the first run {}",
                ratio.value, ratio.range
            )
        }
        BaselineTime::Many { longer, less, all } => {
            let points = count(*all, "point");
            format!("took longer at {longer} and less time at {less} of {points}")
        }
    };
    match program {
        ProgramMatch::Same => {
            let machine = match time.shows_change(level) {
                true => "the machine or the system changed",
                false => "no change of the machine or the system is known",
            };
            format!(
                "The baseline {baseline}, the same program in both runs, {observed}: {machine}."
            )
        }
        ProgramMatch::Changed => {
            format!("The baseline {baseline}, now a different program, {observed}.")
        }
        ProgramMatch::Unknown => format!(
            "The baseline {baseline} {observed}. The files do not say whether it is the same program; a change of the \
             machine's speed is included."
        ),
    }
}

/// Formats the table note for a control whose measured ratio changed, although its true ratio is
/// constant.
pub fn control_changed(point: &str, change: &Interval, margin: f64) -> String {
    format!(
        "At {point} the control's ratio, whose true change is 1, changed by {}: the margin is {} there.",
        say::figure(change, &Unit::Ratio, change.level),
        say::percent(margin),
    )
}

/// Describes how changes were computed, and the time between the runs. `seconds` is the time from
/// the first to the second run.
pub fn method_of_changes(seconds: f64, loads: bool, level: f64, margin: f64) -> String {
    let begin = format!(
        "The second run began {} the first. Changes are the ratio second / first",
        distance(seconds)
    );
    let (level, margin) = (say::percent(level), say::percent(margin));
    match loads {
        true => format!(
            "{begin} of times and costs, so a value below 1 is better. Changes of rates, CPU time and memory are \
             Hodges-Lehmann estimates over the blocks of both runs. Percentiles cover all requests of a run. Their \
             intervals are computed from the fraction of each block's requests that exceed a value. All intervals are \
             simultaneous; the requested confidence level is {level}, and the margin is {margin}."
        ),
        false => format!(
            "{begin}: Hodges-Lehmann estimates over the blocks of both runs. The intervals of ratios are \
             simultaneous; the requested confidence level is {level}, and the margin is {margin}. The intervals of \
             times are individual."
        ),
    }
}

/// Formats the time between two runs, such as `3 hours after`. A negative time means that the
/// second run began earlier.
fn distance(seconds: f64) -> String {
    let side = if seconds < 0.0 { "before" } else { "after" };
    let seconds = seconds.abs();
    let (length, word) = match seconds {
        s if s >= 86_400.0 => (86_400.0, "day"),
        s if s >= 3600.0 => (3600.0, "hour"),
        s if s >= 60.0 => (60.0, "minute"),
        _ => (1.0, "second"),
    };
    let n = (seconds / length).round() as usize;
    format!("{} {side}", count(n, word))
}

/// Describes a change that a gate judges: `b's ratio to the baseline is 1.08 times that of the first run (1.05 to 1.11)`.
pub fn gate(
    subject: &str,
    metric: &Metric,
    relative: bool,
    ratio: &Interval,
    level: f64,
) -> String {
    let times = say::times(ratio, "that of the first run", level);
    if relative {
        format!("{subject}'s ratio to the baseline is {times}")
    } else {
        format!("{}'s {} is {times}", subject, metric.title)
    }
}

/// States that a gate's condition does not apply to anything that was compared.
pub fn nothing_to_judge(condition: &str) -> String {
    format!("{condition}: nothing that the condition names was compared; the caveats say why")
}

/// Turns a sentence into a clause, without the capital letter and the period.
pub fn in_words(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .collect();
    first + letters.as_str()
}

/// Describes a change point: `b's ratio to a changed to 1.08 times its earlier value (1.05 to 1.11)
/// with the run of 2026-11-21 …`.
pub fn changed_in_history(title: &str, change: &Interval, run: &str) -> String {
    let times = say::times(change, "its earlier value", 0.0);
    format!("{title} changed to {times} with the run of {run}")
}

/// States that a value did not change over a history.
pub fn never_changed(title: &str, runs: usize) -> String {
    format!("{title} did not change in {}", count(runs, "run"))
}

/// States that a ratio or time has too few runs for detecting a change.
pub fn too_few_runs(title: &str, runs: usize, needed: usize) -> String {
    format!(
        "{title} has {}, too few to detect a change: at least {needed} are needed",
        count(runs, "run")
    )
}

/// States how many ratios and times have too few runs for detecting a change.
pub fn too_short(series: usize, needed: usize) -> String {
    let have = if series == 1 { "has" } else { "have" };
    format!(
        "{series} of the ratios and times {have} fewer than {needed} runs, too few to detect a change."
    )
}

/// States that no change in a history can be judged.
pub fn nothing_in_history() -> &'static str {
    "the runs have no ratio and no time that can be compared"
}

// SPDX-License-Identifier: Apache-2.0
//! The changes between two runs, in sentences.

use lab_document::say::{self, count, list};
use lab_model::{Interval, Unit};
use lab_stats::between::ProgramMatch;

/// The question of a report of two runs.
pub const QUESTION: &str = "What changed from the first run to the second?";

/// Says if a subject is the same program in both runs.
pub fn program(program: ProgramMatch) -> &'static str {
    match program {
        ProgramMatch::Same => "same program",
        ProgramMatch::Changed => "another program",
        ProgramMatch::Unknown => "unknown",
    }
}

/// `go`, or `go (another program)` where that is known.
pub fn with_program(subject: &str, program: ProgramMatch) -> String {
    match program {
        ProgramMatch::Unknown => subject.to_string(),
        known => format!("{subject} ({})", self::program(known)),
    }
}

/// `0.913 times what it was (0.902 to 0.925)`.
pub fn change(change: &Interval) -> String {
    say::times(change, "what it was", change.level)
}

/// The only figure of a subject that is compared.
pub fn only_change(subject: &str, figure: &str, ratio: &Interval, verdict: &str) -> String {
    format!("{subject}: its {figure} is {}, {verdict}.", change(ratio))
}

/// All figures of a subject have one verdict. `range`: the least and the greatest change.
pub fn all_changed(subject: &str, verdict: &str, figures: usize, range: (f64, f64)) -> String {
    let range = say::span(range.0, range.1);
    format!(
        "{subject}: {verdict} in all {} that are compared, {range} times what they were.",
        count(figures, "figure")
    )
}

/// Some figures of a subject: those that changed one by one, the others counted.
pub enum PartChanged<'a> {
    /// A figure, how it changed, and the verdict.
    Figure(&'a str, &'a Interval, &'a str),
    /// So many figures with a verdict.
    Count(usize, &'a str),
}

/// `go: p99 is 0.913 times what it was (0.902 to 0.925), less; 3 others are equivalent.`
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

/// The number of inconclusive changes. `blocks`: the number of blocks in each run that would probably resolve
/// them, if it is known.
pub fn inconclusive_changes(open: usize, all: usize, blocks: Option<u32>) -> String {
    let decide = blocks.map_or(String::new(), |blocks| {
        format!("; about {blocks} blocks in each run would probably decide them")
    });
    format!(
        "{open} of {} are inconclusive{decide}.",
        count(all, "change")
    )
}

/// The number of blocks that would resolve one change.
pub fn would_decide_change(blocks: u32) -> String {
    format!("about {blocks} blocks in each run would probably decide it")
}

/// Kinds of caveats, on the first screen.
pub fn caveat_kinds(kinds: &[String]) -> String {
    format!("There are caveats: {}.", list(kinds))
}

/// Nothing was compared. `reason`: sentences, if there are any; `advice`: how to compare the programs in one run.
pub fn nothing_changed(reason: Option<String>, advice: &str) -> String {
    let reason = reason.unwrap_or("No subject was compared in both runs.".into());
    format!("Nothing can be concluded about what changed. {reason} {advice}")
}

/// How the baseline's own time changed.
pub enum BaselineTime<'a> {
    /// At the only point.
    Only(&'a Interval),
    /// With multiple points: it took longer at some, and less time at others.
    Many {
        /// Points at which it took longer.
        longer: usize,
        /// Points at which it took less time.
        less: usize,
        /// All points.
        all: usize,
    },
}

/// The change of the baseline's own time. If the baseline is the same program, the machine caused it.
/// `level`: the requested level.
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
        ProgramMatch::Same => format!(
            "{baseline} itself, the same program in both, {observed}: the machine or the system changed."
        ),
        ProgramMatch::Changed => format!("{baseline} itself, another program now, {observed}."),
        ProgramMatch::Unknown => format!(
            "{baseline} itself {observed}. The files do not say whether it is the same program, and this includes the \
             speed of the machine."
        ),
    }
}

/// A control whose ratio changed, although its true ratio did not. The note of a table.
pub fn control_changed(point: &str, change: &Interval, margin: f64) -> String {
    format!(
        "At {point} the control's ratio, whose true change is 1, changed by {}: the margin is {} there.",
        say::figure(change, &Unit::Ratio, change.level),
        say::percent(margin),
    )
}

/// How changes were computed, and how far apart the runs are. `seconds`: from the first run to the second.
pub fn method_of_changes(seconds: f64, loads: bool, level: f64, margin: f64) -> String {
    let begin = format!(
        "The second run began {} the first. Changes are second / first",
        distance(seconds)
    );
    let (level, margin) = (say::percent(level), say::percent(margin));
    match loads {
        true => format!(
            "{begin}, of times and costs, so that below 1 is better. Changes of rates, CPU time and memory are \
             Hodges-Lehmann estimates over the blocks of both. Percentiles are those of all requests of a run, with \
             intervals by the fractions of the blocks' requests. All intervals hold together; they were asked for at \
             {level}, with a margin of {margin}."
        ),
        false => format!(
            "{begin}: Hodges-Lehmann estimates over the blocks of both. The intervals of ratios hold together; they were \
             asked for at {level}, with a margin of {margin}. Those of times hold one by one."
        ),
    }
}

/// `3 hours after`; a run can be given first that was made last.
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

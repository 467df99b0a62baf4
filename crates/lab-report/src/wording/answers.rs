// SPDX-License-Identifier: Apache-2.0
//! The answer of a run in sentences: the findings, the inconclusive comparisons, how to resolve them, and the
//! missing subjects.

use super::exclusions::exclusion;
use super::times::time_budget;
use super::verdicts::{metric_words, ratio};
use lab_document::say::{count, list};
use lab_model::{Interval, Metric};
use lab_stats::analysis::ExclusionReason;
use lab_stats::forecast::TimeBudget;

/// Points that are named one by one; more are counted.
const MAX_POINTS: usize = 3;

/// A run without figures. `subject`: a word, such as `server`.
pub fn no_answer(subject: &str, has_blocks: bool) -> String {
    let at = if has_blocks { " at any point" } else { "" };
    format!("There is no answer yet: no {subject} has a complete block{at}.")
}

/// An order in which the reference does not take part.
pub fn apart_from_reference(reference: &str, order: &str) -> String {
    format!("Apart from {reference}, the reference, {order}")
}

/// ` over 3 points`; nothing for one.
pub fn over_points(points: usize) -> String {
    match points {
        1 => String::new(),
        n => format!(" over {}", count(n, "point")),
    }
}

/// A subject against the baseline over multiple points.
pub struct PairOverPoints<'a> {
    /// The metric.
    pub metric: &'a Metric,
    /// The subject.
    pub subject: &'a str,
    /// The baseline.
    pub baseline: &'a str,
    /// The mean ratio, and the points that it covers, if it is known.
    pub overall: Option<(Interval, usize)>,
    /// Points with a comparison.
    pub points: usize,
    /// The points with each verdict, in a word.
    pub verdicts: Vec<(&'static str, Vec<String>)>,
    /// The requested level.
    pub level: f64,
}

/// `go takes 1.2 times c's time (1.1 to 1.3) over 5 points: slower at n=1 and n=10, equivalent at 3 points.`
pub fn pair_over_points(pair: &PairOverPoints) -> String {
    let begin = match &pair.overall {
        // A mean covers the points at which one operation is done at a time.
        Some((overall, points)) => {
            let points = match *points < pair.points {
                true => format!("{points} of {} points", pair.points),
                false => count(*points, "point"),
            };
            format!(
                "{} {} {} over {points}",
                pair.subject,
                metric_words(pair.metric).verb,
                ratio(pair.metric, overall, pair.baseline, pair.level),
            )
        }
        None => format!(
            "{} and {} have no overall interval yet",
            pair.subject, pair.baseline
        ),
    };
    let verdicts = pair.verdicts.iter().map(|(word, at)| match at.len() {
        1..=MAX_POINTS => format!("{word} at {}", list(at)),
        n => format!("{word} at {n} points"),
    });
    format!("{begin}: {}.", list(&verdicts.collect::<Vec<_>>()))
}

/// The number of inconclusive comparisons, as an introduction to how to resolve them; empty if there is only
/// one comparison.
pub fn inconclusive(open: usize, all: usize) -> String {
    match open {
        _ if all == 1 => String::new(),
        n if n == all => format!("All {all} comparisons are inconclusive; "),
        n => format!("{n} of {all} comparisons are inconclusive; "),
    }
}

/// A longer run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongerRun {
    /// So many builds.
    Builds(u32),
    /// So many blocks, whose time is unknown.
    Blocks(u32),
    /// This much time, in which a run has about this many blocks.
    TimeForBlocks(TimeBudget, u32),
    /// This much time, in which a run has about this many sets of processes.
    TimeForSets(TimeBudget, u32),
    /// This many blocks, which need more than the planned interim analyses, and their time.
    MoreBlocks(TimeBudget, u32),
}

impl LongerRun {
    /// `a run of 5 minutes`.
    fn length(self) -> String {
        match self {
            LongerRun::Builds(builds) => format!("about {builds} builds"),
            LongerRun::Blocks(blocks) => format!("about {blocks} blocks"),
            LongerRun::TimeForBlocks(time, _)
            | LongerRun::TimeForSets(time, _)
            | LongerRun::MoreBlocks(time, _) => format!("a run of {}", time_budget(time)),
        }
    }

    /// `--for 5m, about 40 blocks`.
    fn option(self) -> String {
        match self {
            LongerRun::Builds(builds) => format!("--builds {builds}"),
            LongerRun::Blocks(blocks) | LongerRun::MoreBlocks(_, blocks) => {
                format!("--blocks {blocks}")
            }
            LongerRun::TimeForBlocks(time, blocks) => {
                format!("--for {}, about {blocks} blocks", time.option())
            }
            LongerRun::TimeForSets(time, sets) => {
                format!("--for {}, about {sets} sets of processes", time.option())
            }
        }
    }
}

/// The unit in which a run counts its replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Blocks of fresh processes.
    Blocks(usize),
    /// Sets of processes, each of which serves multiple blocks.
    ProcessSets(usize),
    /// Builds of the programs.
    Builds(usize),
}

/// The run that would resolve the inconclusive comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WouldDecide {
    /// A longer run would probably resolve all of them.
    All(LongerRun),
    /// A longer run would probably resolve half of them.
    Half(LongerRun),
    /// There are too few replicates to say; a longer run would show it.
    TooFew(Counted, LongerRun),
    /// Even the longest run may not resolve them.
    Perhaps(LongerRun),
    /// Even the longest run would hardly resolve them.
    Hardly(LongerRun),
}

/// `a run of 5 minutes would probably decide all of them (--for 5m, about 40 blocks)`. `open`: comparisons that are
/// inconclusive.
pub fn would_decide(by: WouldDecide, open: usize) -> String {
    let some = if open == 1 { "it" } else { "half of them" };
    let all = if open == 1 { "it" } else { "all of them" };
    let probably = |run: LongerRun, decided: &str| {
        format!(
            "{} would probably decide {decided} ({})",
            run.length(),
            run.option()
        )
    };
    match by {
        WouldDecide::All(run) => probably(run, all),
        WouldDecide::Half(run) => probably(run, "half of them"),
        WouldDecide::TooFew(counted, run) => {
            let now = match counted {
                Counted::Blocks(n) => count(n, "block"),
                Counted::ProcessSets(n) => format!("{} of processes", count(n, "set")),
                Counted::Builds(n) => count(n, "build"),
            };
            format!(
                "{now} are too few to say what would decide {some}; {} would show it ({})",
                run.length(),
                run.option()
            )
        }
        WouldDecide::Perhaps(run) => format!("even {} may not decide {some}", run.length()),
        WouldDecide::Hardly(run) => format!(
            "even {} would hardly decide {some}: let one operation do more, or allow a wider margin",
            run.length()
        ),
    }
}

/// A subject was measured alone.
pub fn measured_alone(subject: &str) -> String {
    format!("Nothing was compared: {subject} was measured alone.")
}

/// A block has too few operations for the 99th percentile. `subject`: a word, such as `subject`.
pub fn too_few_operations(operations: f64, subject: &str) -> String {
    format!(
        "Nothing was compared: a block has about {operations:.0} operations of each {subject}, and the time that 99 % of \
         them take at most needs 100 (more --pairs)."
    )
}

/// The effect of too few replicates on all comparisons.
pub fn few_replicates(counted: Counted) -> String {
    match counted {
        Counted::Blocks(1) => "One block does not show how blocks vary.".into(),
        Counted::Blocks(n) => {
            format!("With only {n} blocks, intervals assume that blocks vary normally.")
        }
        Counted::ProcessSets(1) => {
            "One set of processes does not show how processes differ.".into()
        }
        Counted::ProcessSets(n) => format!(
            "With only {n} sets of processes, intervals assume that processes vary normally."
        ),
        Counted::Builds(n) => {
            format!("With only {n} builds, intervals assume that builds vary normally.")
        }
    }
}

/// Why subjects are not in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// This host lacks what they need.
    Lacking,
    /// They failed.
    Failed,
    /// The baseline failed.
    BaselineFailed,
    /// They did other work.
    OtherWork,
}

/// Subjects that are missing from the answer; `None` if there are none. `several_points`: the run has more
/// than one point, so that they may be missing from a part of it.
pub fn left_out(names: &[String], reason: LeftOut, several_points: bool) -> Option<String> {
    let is_one = names.len() == 1;
    let is = if is_one { "is" } else { "are" };
    let predicate = match reason {
        LeftOut::Lacking => format!("cannot run here and {is} left out"),
        LeftOut::Failed if several_points => {
            let it = if is_one { "it" } else { "they" };
            format!("failed and {is} left out where {it} failed")
        }
        LeftOut::Failed => format!("failed and {is} left out"),
        LeftOut::BaselineFailed => format!("{is} not compared where the baseline failed"),
        LeftOut::OtherWork => {
            let its = if is_one { "its" } else { "their" };
            let at = if several_points {
                " at some points"
            } else {
                ""
            };
            format!("{is} not compared{at}, because {its} work was not the same")
        }
    };
    (!names.is_empty()).then(|| format!("{} {predicate}.", list(names)))
}

/// A subject that is not compared since runs ended with other exit statuses.
pub fn other_exit_status(subject: &str, at: &str, reason: &ExclusionReason) -> String {
    format!("{subject} is not compared{at}: {}.", exclusion(reason))
}

/// A subject that was not at its steady level.
pub fn not_steady(subject: &str, reason: &ExclusionReason) -> String {
    format!("{subject} {}.", exclusion(reason))
}

/// Further subjects that were not at their steady level.
pub fn more_not_steady(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some(format!("{one} is not compared for the same reason.")),
        many => Some(format!(
            "{} are not compared for such reasons, too.",
            list(many)
        )),
    }
}

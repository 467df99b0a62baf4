// SPDX-License-Identifier: Apache-2.0
//! The result of a run in sentences: the findings, the inconclusive comparisons with the way to
//! resolve them, and the excluded subjects.

use super::exclusions::exclusion;
use super::times::time_budget;
use super::verdicts::{metric_words, ratio};
use lab_document::say::{count, list};
use lab_model::{Interval, Metric};
use lab_stats::analysis::ExclusionReason;
use lab_stats::forecast::TimeBudget;

/// The maximum number of points that are listed by name. A larger number of points is only counted.
const MAX_POINTS: usize = 3;

/// Describes a run without results. `subject` is the kind's noun for a subject, such as `server`.
pub fn no_answer(subject: &str, has_blocks: bool) -> String {
    let at = if has_blocks { " at any point" } else { "" };
    format!("No result yet: no {subject} has a complete block{at}.")
}

/// Introduces the values of a run in progress.
pub fn so_far(blocks: usize) -> String {
    format!(
        "So far, after {}. Intervals become narrower with each block; only those at the end support a verdict.",
        count(blocks, "block")
    )
}

/// Describes a run without results by the failure that caused it.
pub fn no_answer_because(subject: &str, at: &str, message: &str) -> String {
    format!("No result: {subject} failed{at}: {message}.")
}

/// Introduces the end of a failed subject's log.
pub fn last_lines(subject: &str) -> String {
    format!("last lines of {subject}'s output")
}

/// States that commands run the same program, so the program cannot be the cause of a difference.
pub fn same_program(names: &[String], commit: Option<&str>) -> String {
    let (program, source) = match commit {
        Some(commit) => (
            format!("the same commit, {}", short_hash(commit)),
            "the machine or the build",
        ),
        None => ("the same command".into(), "the machine"),
    };
    format!(
        "{} run {program}: a difference between them comes from {source}, not from the program.",
        list(names)
    )
}

/// Shortens a commit's hash.
fn short_hash(commit: &str) -> &str {
    commit.get(..9).unwrap_or(commit)
}

/// Introduces a ranking that excludes the reference.
pub fn apart_from_reference(reference: &str, order: &str) -> String {
    format!("Apart from {reference}, the reference, {order}")
}

/// Formats a number of points, such as ` over 3 points`. Returns an empty string for one point.
pub fn over_points(points: usize) -> String {
    match points {
        1 => String::new(),
        n => format!(" over {}", count(n, "point")),
    }
}

/// A subject compared with the baseline over multiple points.
pub struct PairOverPoints<'a> {
    /// The metric whose ratio is averaged over the points.
    pub metric: &'a Metric,
    /// The subject's name.
    pub subject: &'a str,
    /// The baseline's name.
    pub baseline: &'a str,
    /// The mean ratio and the number of points that it covers, if known.
    pub overall: Option<(Interval, usize)>,
    /// The number of points with a comparison.
    pub points: usize,
    /// The points by verdict, with a word for the verdict.
    pub verdicts: Vec<(&'static str, Vec<String>)>,
    /// The requested confidence level.
    pub level: f64,
}

/// Describes a subject compared with the baseline over multiple points.
///
/// An example is `go takes 1.2 times c's time (1.1 to 1.3) over 5 points: slower at n=1 and n=10, equivalent at 3
/// points.`
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
    format!("{begin}: {}.", verdicts.collect::<Vec<_>>().join(", "))
}

/// Introduces the advice on resolving comparisons by stating how many comparisons are inconclusive.
///
/// Returns an empty string if there is only one comparison.
pub fn inconclusive(open: usize, all: usize) -> String {
    match open {
        _ if all == 1 => String::new(),
        n if n == all => format!("All {all} comparisons are inconclusive; "),
        1 => format!("1 of {all} comparisons is inconclusive; "),
        n => format!("{n} of {all} comparisons are inconclusive; "),
    }
}

/// A longer run that might resolve comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongerRun {
    /// A number of builds.
    Builds(u32),
    /// A number of blocks, whose run time is unknown.
    Blocks(u32),
    /// A run time, and the approximate number of blocks in it.
    TimeForBlocks(TimeBudget, u32),
    /// A run time, and the approximate number of sets of processes in it.
    TimeForSets(TimeBudget, u32),
    /// A number of blocks beyond the last planned interim analysis, and the run time for these
    /// blocks.
    MoreBlocks(TimeBudget, u32),
}

impl LongerRun {
    /// Describes the run, such as `a run of 5 minutes`.
    fn length(self) -> String {
        match self {
            LongerRun::Builds(builds) => format!("about {builds} builds"),
            LongerRun::Blocks(blocks) => format!("about {blocks} blocks"),
            LongerRun::TimeForBlocks(time, _)
            | LongerRun::TimeForSets(time, _)
            | LongerRun::MoreBlocks(time, _) => format!("a run of {}", time_budget(time)),
        }
    }

    /// Formats the option that requests the run, such as `--for 5m, about 40 blocks`.
    ///
    /// If the run can continue, returns the command that continues its file.
    fn option(self, resumed: Option<&str>) -> String {
        let timed = |time: TimeBudget| {
            let option = format!("--for {}", time.option());
            resumed.map_or(option.clone(), |file| {
                format!("`benchlab resume {file} {option}`")
            })
        };
        match self {
            LongerRun::Builds(builds) => format!("--builds {builds}"),
            LongerRun::Blocks(blocks) | LongerRun::MoreBlocks(_, blocks) => {
                format!("--blocks {blocks}")
            }
            LongerRun::TimeForBlocks(time, blocks) => {
                format!("{}, about {blocks} blocks", timed(time))
            }
            LongerRun::TimeForSets(time, sets) => {
                format!("{}, about {sets} sets of processes", timed(time))
            }
        }
    }
}

/// A number of replicates of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Blocks of fresh processes.
    Blocks(usize),
    /// Sets of processes, each of which serves multiple blocks.
    ProcessSets(usize),
    /// Builds of the programs.
    Builds(usize),
}

impl Counted {
    /// Returns the count with its noun, such as `2 sets of processes`.
    fn text(self) -> String {
        match self {
            Counted::Blocks(n) => count(n, "block"),
            Counted::ProcessSets(n) => format!("{} of processes", count(n, "set")),
            Counted::Builds(n) => count(n, "build"),
        }
    }
}

/// States the number of replicates that would resolve an inconclusive comparison.
pub fn replicates_would_resolve(needed: Counted) -> String {
    format!("about {} would probably resolve it", needed.text())
}

/// The run that would resolve the inconclusive comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WouldResolve {
    /// A longer run would probably resolve all inconclusive comparisons.
    All(LongerRun),
    /// A longer run would probably resolve half of the inconclusive comparisons.
    Half(LongerRun),
    /// There are too few replicates for a prediction. A longer run would allow a prediction.
    TooFew(Counted, LongerRun),
    /// Even the longest run may not resolve the inconclusive comparisons.
    Perhaps(LongerRun),
    /// Even the longest run is unlikely to resolve the inconclusive comparisons.
    Hardly(LongerRun),
}

/// Describes the run that would resolve `open` inconclusive comparisons. `resumed` is the file of a run that can
/// continue.
///
/// An example is `a run of 5 minutes would probably resolve all of them (--for 5m, about 40
/// blocks)`.
pub fn would_resolve(by: WouldResolve, open: usize, resumed: Option<&str>) -> String {
    let some = if open == 1 { "it" } else { "half of them" };
    let all = if open == 1 { "it" } else { "all of them" };
    let probably = |run: LongerRun, decided: &str| {
        format!(
            "{} would probably resolve {decided} ({})",
            run.length(),
            run.option(resumed)
        )
    };
    match by {
        WouldResolve::All(run) => probably(run, all),
        WouldResolve::Half(run) => probably(run, "half of them"),
        WouldResolve::TooFew(counted, run) => {
            let now = counted.text();
            let are = match counted {
                Counted::Blocks(1) | Counted::ProcessSets(1) | Counted::Builds(1) => "is",
                _ => "are",
            };
            format!(
                "{now} {are} too few to predict what would resolve {some}; {} would allow a prediction ({})",
                run.length(),
                run.option(resumed)
            )
        }
        WouldResolve::Perhaps(run) => format!("even {} may not resolve {some}", run.length()),
        WouldResolve::Hardly(run) => format!(
            "even {} is unlikely to resolve {some}: do more work per operation, or allow a wider margin",
            run.length()
        ),
    }
}

/// States that nothing was compared because there was only one subject.
pub fn measured_alone(subject: &str) -> String {
    format!("Nothing was compared: {subject} was measured alone.")
}

/// States that a block has too few operations for the 99th percentile. `subject` is the kind's noun
/// for a subject.
pub fn too_few_operations(operations: f64, subject: &str) -> String {
    format!(
        "Nothing was compared: a block has about {operations:.0} operation{} of each {subject}, and a p99 needs at \
         least 100; raise --pairs.",
        if operations.round() == 1.0 { "" } else { "s" }
    )
}

/// The reason for the absence of subjects from the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omission {
    /// This host lacks a requirement of the subjects.
    Lacking,
    /// The subjects failed.
    Failed,
    /// The baseline failed, so no subject can be compared with it.
    BaselineFailed,
    /// The subjects did different work.
    OtherWork,
}

/// Describes the subjects that are missing from the result. Returns `None` if no subjects are
/// missing.
///
/// `has_multiple_points` is true if the run has more than one point. In that case, subjects may be
/// missing at only some points.
pub fn omitted(names: &[String], reason: Omission, has_multiple_points: bool) -> Option<String> {
    let is_one = names.len() == 1;
    let is = if is_one { "is" } else { "are" };
    let predicate = match reason {
        Omission::Lacking => format!("cannot run here and {is} left out"),
        Omission::Failed if has_multiple_points => {
            let it = if is_one { "it" } else { "they" };
            format!("failed and {is} left out where {it} failed")
        }
        Omission::Failed => format!("failed and {is} left out"),
        Omission::BaselineFailed => format!("{is} not compared where the baseline failed"),
        Omission::OtherWork => {
            let its = if is_one { "its" } else { "their" };
            let at = if has_multiple_points {
                " at some points"
            } else {
                ""
            };
            format!("{is} not compared{at}, because {its} work was different")
        }
    };
    (!names.is_empty()).then(|| format!("{} {predicate}.", list(names)))
}

/// Describes a subject that is excluded because its runs had different exit statuses.
pub fn other_exit_status(subject: &str, at: &str, reason: &ExclusionReason) -> String {
    format!("{subject} is not compared{at}: {}.", exclusion(reason))
}

/// Describes a subject that is excluded because it had not reached its steady state.
pub fn not_steady(subject: &str, reason: &ExclusionReason) -> String {
    format!("{subject} {}.", exclusion(reason))
}

/// Lists further subjects that are excluded because they had not reached their steady state.
pub fn more_not_steady(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some(format!("{one} is not compared for the same reason.")),
        many => Some(format!(
            "{} are not compared either, for similar reasons.",
            list(many)
        )),
    }
}

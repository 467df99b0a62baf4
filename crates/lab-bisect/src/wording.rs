// SPDX-License-Identifier: Apache-2.0
//! All sentences, titles and headings of the report on a bisection.

#![allow(missing_docs, reason = "the texts are their own documentation")]

use crate::bisection::{Bisection, BisectionCommit, SkippedCommit};
use lab_document::say;
use lab_model::{Interval, Unit};
use lab_stats::bisection::{BisectedMetric, HalfChange};

pub const QUESTION: &str = "Which commit caused the change?";
pub const CHANGES: &str = "Changes";
pub const PROBES: &str = "Measurements";
pub const PROBES_CAPTION: &str = "Each commit was measured in turns with both ends of its range. The first ratio is \
     the commit's value divided by the value of the range's first commit. The second ratio is the value of the range's \
     last commit divided by the commit's value.";
pub const SKIPPED: &str = "Skipped commits";
pub const METHOD: &str = "Method";
pub const ENDS: &str = "both ends";
pub const CHANGE_ROW: &str = "change";
pub const PROBE_ROW: &str = "probe";
pub const UNCONFIRMED: &str = "not confirmed";
pub const CHANGE_COLUMNS: [&str; 5] = ["commit", "subject", "ratio", "blocks", "remark"];
pub const PROBE_COLUMNS: [&str; 7] = [
    "commit",
    "subject",
    "range",
    "commit / first",
    "last / commit",
    "blocks",
    "searched",
];
pub const SKIP_COLUMNS: [&str; 4] = ["commit", "subject", "stage", "message"];

/// Formats a ratio with its interval: `1.08 times … (1.06 to 1.10)`.
fn parts(ratio: &Interval) -> (String, String) {
    let text = say::interval_text(ratio, &Unit::Ratio, ratio.level);
    (text.value, text.range)
}

/// Describes a change, as the end of a sentence that starts with the commit.
fn change_text(name: &str, metric: BisectedMetric, ratio: &Interval) -> String {
    let (value, range) = parts(ratio);
    match metric {
        BisectedMetric::Wall if ratio.estimate >= 1.0 => {
            format!("made {name} slower: {value} times its previous time {range}")
        }
        BisectedMetric::Wall => {
            format!("made {name} faster: {value} times its previous time {range}")
        }
        BisectedMetric::Cpu => format!("made {name} use {value} times the CPU time {range}"),
        BisectedMetric::Instructions => {
            format!("made {name} execute {value} times as many instructions {range}")
        }
        BisectedMetric::Memory => format!("made {name} use {value} times the peak memory {range}"),
    }
}

/// Formats the name of a revision's value: `good's time`.
pub fn value_of(owner: &str, metric: BisectedMetric) -> String {
    let value = match metric {
        BisectedMetric::Wall => "time",
        BisectedMetric::Cpu => "CPU time",
        BisectedMetric::Instructions => "instructions",
        BisectedMetric::Memory => "peak memory",
    };
    format!("{owner}'s {value}")
}

fn verb(metric: BisectedMetric) -> &'static str {
    match metric {
        BisectedMetric::Wall | BisectedMetric::Cpu => "takes",
        BisectedMetric::Instructions => "executes",
        BisectedMetric::Memory => "uses",
    }
}

pub fn title(bisection: &Bisection) -> String {
    let request = &bisection.request;
    format!(
        "{}: bisection from {} to {}",
        request.name, request.good, request.bad
    )
}

pub fn made_at(bisection: &Bisection) -> String {
    let time = say::minute(bisection.started_unix_s);
    match bisection.host.as_str() {
        "" => format!("{time} UTC"),
        host => format!("{time} UTC, {host}"),
    }
}

pub fn source(file: &str) -> String {
    format!("All results and run files are in {file}.")
}

/// Formats the commits of a change: a single commit, or the range that contains the change.
pub fn commits(range: &[BisectionCommit]) -> String {
    match range {
        [one] => one.short.clone(),
        [first, .., last] => format!("{}..{}", first.short, last.short),
        [] => String::new(),
    }
}

/// Formats the result if one change was found. `range` contains the commits that may have made the
/// change.
pub fn one_change(
    bisection: &Bisection,
    range: &[BisectionCommit],
    ratio: Option<&Interval>,
) -> String {
    let request = &bisection.request;
    let subject = match range {
        [one] => one.short.clone(),
        range => format!("One of {} commits ({})", range.len(), commits(range)),
    };
    match ratio {
        Some(ratio) => format!(
            "{subject} {}.",
            change_text(&request.name, request.metric, ratio)
        ),
        None => format!(
            "{subject} changed {}.",
            value_of(&request.name, request.metric)
        ),
    }
}

/// Formats the result if multiple changes were found.
pub fn changes(bisection: &Bisection, changes: &[(String, Option<Interval>)]) -> String {
    let each: Vec<String> = changes
        .iter()
        .map(|(commits, ratio)| match ratio {
            Some(ratio) => {
                let (value, range) = parts(ratio);
                format!("by {commits} to {value} times the previous value {range}")
            }
            None => format!("by {commits}"),
        })
        .collect();
    let request = &bisection.request;
    format!(
        "{} changes in {}: {}.",
        changes.len(),
        value_of(&request.name, request.metric),
        say::list(&each)
    )
}

pub fn equivalent(bisection: &Bisection, ratio: &Interval) -> String {
    let request = &bisection.request;
    let (value, range) = parts(ratio);
    format!(
        "{good} and {bad} are equivalent within {margin}: {bad} {verb} {value} times {of} {range}, so there is no \
         change to find.",
        good = request.good,
        bad = request.bad,
        margin = say::percent(request.margin),
        verb = verb(request.metric),
        of = value_of(&request.good, request.metric),
    )
}

pub fn gradual(bisection: &Bisection, ratio: &Interval) -> String {
    let request = &bisection.request;
    let (value, range) = parts(ratio);
    format!(
        "No single commit changed {of} by {margin} or more: {bad} {verb} {value} times {good} {range}, as the sum of \
         many small changes.",
        of = value_of(&request.name, request.metric),
        margin = say::percent(request.margin),
        bad = request.bad,
        verb = verb(request.metric),
        good = value_of(&request.good, request.metric),
    )
}

pub fn open_ends(bisection: &Bisection, ratio: &Interval, blocks: u32) -> String {
    let request = &bisection.request;
    let (value, range) = parts(ratio);
    format!(
        "Inconclusive after {}: {} {} {value} times {} {range}.",
        say::count(blocks as usize, "block"),
        request.bad,
        verb(request.metric),
        value_of(&request.good, request.metric),
    )
}

/// Formats the result if the range of a change was not searched to the end.
pub fn open_range(range: &[BisectionCommit]) -> String {
    format!(
        "Inconclusive: the change is due to one of {} commits ({}).",
        range.len(),
        commits(range)
    )
}

pub fn not_started() -> String {
    "No result yet: the ends of the range have not been compared.".into()
}

/// Formats the result of a bisection that was stopped.
pub fn so_far(answer: &str) -> String {
    format!("Not finished. {answer}")
}

pub fn to_continue(file: &str, needs_time: bool) -> String {
    if needs_time {
        format!("More time may make the result conclusive: `benchlab resume {file} --for 30m`")
    } else {
        format!("To continue: `benchlab resume {file}`")
    }
}

/// Reports that the other commits of a range cannot be measured.
pub fn not_measurable(others: usize) -> String {
    match others {
        1 => "The other commit does not build or run.".into(),
        n => format!("The other {n} commits do not build or run."),
    }
}

pub fn unconfirmed(commits: &str, ratio: Option<&Interval>) -> String {
    match ratio {
        Some(ratio) => {
            let (value, range) = parts(ratio);
            format!(
                "{commits} was not confirmed: when it was measured again, the ratio was {value} {range}. The change \
                 may have been noise, or it may depend on how the program was built."
            )
        }
        None => format!("{commits} was not confirmed: it could not be measured again."),
    }
}

/// Formats the result if a change was measured again without a clear result.
pub fn open_confirmation(commits: &str, blocks: u32, ratio: &Interval) -> String {
    let (value, range) = parts(ratio);
    format!(
        "Inconclusive: {commits} was measured again, and the ratio was {value} {range} after {}.",
        say::count(blocks as usize, "block")
    )
}

pub fn merge(commit: &BisectionCommit) -> String {
    let id = &commit.short;
    format!(
        "{id} is a merge. To search the merged branch: `benchlab bisect --good $(git merge-base {id}^1 {id}^2) --bad \
         {id}^2 …`"
    )
}

pub fn rest(bisection: &Bisection, found: f64, total: &Interval) -> String {
    let (value, range) = parts(total);
    format!(
        "Together, the changes amount to a factor of {found:.2}. {} {} {value} times {} {range}. The rest of the \
         difference is in smaller changes.",
        bisection.request.bad,
        verb(bisection.request.metric),
        value_of(&bisection.request.good, bisection.request.metric),
    )
}

pub fn gradual_range(range: &[BisectionCommit]) -> String {
    format!(
        "The change is gradual in {}: neither half of this range contains a change that is large enough to search for.",
        commits(range)
    )
}

pub fn half(change: HalfChange) -> &'static str {
    match change {
        HalfChange::Changed => "changed",
        HalfChange::Unchanged => "unchanged",
        HalfChange::Open => "inconclusive",
    }
}

pub fn searched(before: HalfChange, after: HalfChange) -> String {
    format!("{} before, {} after", half(before), half(after))
}

pub fn stage(skipped: &SkippedCommit) -> String {
    match skipped.kind.as_str() {
        "setup" => "--setup failed".into(),
        "checkout" => "checkout failed".into(),
        _ => "the command failed".into(),
    }
}

/// Describes the method in pairs of a name and a value.
pub fn method(bisection: &Bisection) -> Vec<(String, String)> {
    let request = &bisection.request;
    let command = match &request.command {
        crate::CommandText::Line(line) => line.clone(),
        crate::CommandText::Words(words) => words.join(" "),
    };
    let mut facts = vec![
        ("command".to_owned(), command),
        (
            "commits".to_owned(),
            format!("{} after {}", bisection.commits.len() - 1, request.good),
        ),
        (
            "turns".to_owned(),
            "one run per commit; in each block, the commit takes turns with both ends of its range"
                .to_owned(),
        ),
        (
            "error".to_owned(),
            format!(
                "at most {} for all decisions together; the intervals of the changes come from new measurements",
                say::percent(request.alpha)
            ),
        ),
        ("margin".to_owned(), say::percent(request.margin)),
        ("seed".to_owned(), request.seed.to_string()),
    ];
    let hooks = [
        ("setup", &request.setup),
        ("prepare", &request.prepare),
        ("cleanup", &request.cleanup),
        ("input", &request.input),
    ];
    for (name, value) in hooks {
        facts.extend(value.clone().map(|value| (name.to_owned(), value)));
    }
    facts
}

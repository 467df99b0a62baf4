// SPDX-License-Identifier: Apache-2.0
//! Every sentence, title and heading that users of `benchlab explain` see.

#![allow(missing_docs, reason = "the texts are their own documentation")]

use crate::contributions::{Source, TimeDifference};
use crate::counting::{CountFailure, CountedUnit};
use crate::differences::{Cause, Difference, MIN_EVENTS, OwnCount};
use lab_document::format::quantity;
use lab_document::say;
use lab_model::{Metric, Unit, trimmed};

// Titles, headings and captions

pub const SOURCE: &str = "Counted separately from all measurements; not stored in a run file.";
pub const WARNINGS: &str = "Warnings";
pub const FAILED: &str = "failed";
pub const COUNTED: &str = "Counted";
pub const FUNCTION: &str = "function";
pub const LIBRARY: &str = "library";
pub const NOTHING: &str = "–";
pub const TABLE_CAPTION: &str = "Medians, with the lowest and highest value in brackets.";
pub const INSTRUCTIONS_CAPTION: &str = "Counted by Valgrind.";
pub const SETTINGS: &str = "Settings that differ";
pub const SETTING: &str = "setting";
pub const SETTINGS_CAPTION: &str = "Settings whose values are not the same for all subjects.";
pub const METHOD: &str = "How it was counted";

/// Returns the name of a unit of work.
pub fn unit(unit: CountedUnit) -> &'static str {
    match unit {
        CountedUnit::Operation => "operation",
        CountedUnit::Request => "request",
        CountedUnit::Run => "run",
    }
}

pub fn title(experiment: &str, of: CountedUnit) -> String {
    format!("{experiment}: cost per {}", unit(of))
}

pub fn question(of: CountedUnit) -> &'static str {
    match of {
        CountedUnit::Run => "Why is one command faster than another?",
        CountedUnit::Operation | CountedUnit::Request => "Why is one subject faster than another?",
    }
}

pub fn made(unix_s: f64) -> String {
    format!("{} UTC", say::minute(unix_s))
}

pub fn per_unit(of: CountedUnit) -> String {
    format!("per {}", unit(of))
}

/// Formats a system call in the notation of manual pages, such as `read(2)`.
pub fn system_call(name: &str) -> String {
    format!("{name}(2)")
}

pub fn instructions_by(by: &str) -> String {
    format!("Instructions by {by}, most first")
}

pub fn instructions_per(of: CountedUnit) -> String {
    format!("instructions per {}", unit(of))
}

pub fn messages(of: CountedUnit) -> String {
    format!("Messages on sockets in one {}", unit(of))
}

pub fn messages_of(subject: &str) -> String {
    format!("{subject}:")
}

pub fn direction(sent: bool) -> &'static str {
    if sent { "sent" } else { "received" }
}

// Findings

pub const NO_DIFFERENCE: &str = "No counted difference exceeds its own scatter.";

/// Formats a difference with its cause: `java: 2 round trips per operation, c: 3.`
pub fn difference(difference: &Difference, of: CountedUnit) -> String {
    let [name, base] = &difference.subjects;
    let metric = &difference.metric;
    let amount = |value: f64| match metric.unit {
        Unit::Nanoseconds => format!("{} µs", number(value / 1000.0)),
        Unit::Bytes => format!("{} B", number(value)),
        _ => number(value),
    };
    let [value, base_value] = difference.values.map(amount);
    let title = events(metric, difference.values[0]);
    let sentence = format!(
        "{name}: {value} {title} per {}, {base}: {base_value}.",
        unit(of)
    );
    match &difference.cause {
        None => sentence,
        Some(Cause::Function {
            name: function,
            values,
        }) => {
            let [value, base_value] = values.map(number);
            format!(
                "{sentence} Most of the difference is in {function}: {value} for {name} and {base_value} for {base}."
            )
        }
        Some(Cause::OwnWork { counts, settings }) => {
            let counts: Vec<String> = counts.iter().map(own_count).collect();
            let own = match counts.as_slice() {
                [] => "so the difference is in their own work".to_owned(),
                counts => format!("but {name} has {}", say::list(counts)),
            };
            let settings = settings.iter().map(|setting| {
                let [value, base_value] = &setting.values;
                format!(
                    " The setting {} is {value} for {name} and {base_value} for {base}.",
                    setting.name
                )
            });
            format!(
                "{sentence} Both make the same requests to the system, {own}.{}",
                settings.collect::<String>()
            )
        }
    }
}

/// Formats a count relative to the baseline: `5 % fewer instructions`, or `8 times as many cache
/// misses`.
fn own_count(count: &OwnCount) -> String {
    let [value, base_value] = count.values;
    let title = &count.metric.title;
    if base_value <= 0.0 || value >= 2.0 * base_value {
        let times = decimals(value / base_value.max(1.0), 1);
        return format!("{times} times as many {title}");
    }
    let (change, word) = match value / base_value - 1.0 {
        change if change < 0.0 => (-change, "fewer"),
        change => (change, "more"),
    };
    format!("{} {word} {title}", say::percent(change))
}

/// Describes a difference in time: its contributions, largest first, and the unexplained rest.
pub fn time_difference(difference: &TimeDifference, of: CountedUnit) -> String {
    let [name, base] = &difference.subjects;
    let [time, base_time] = difference.times.map(time);
    let total = difference.total_ns();
    let fraction = |ns: f64| format!("{:.0} %", ns / total * 100.0);
    let parts = difference.parts.iter().map(|part| {
        let what = source(&part.source, [name, base]);
        format!("{} is {what}", fraction(part.ns))
    });
    let parts: Vec<String> = parts.collect();
    let rest = difference.unexplained_ns / total;
    let reason = match (&difference.misses, difference.instructions_missing) {
        (Some((metric, [own, base_value])), _) => format!(
            ": {} {} per {} for {name}, {} for {base}",
            number(*own),
            metric.title,
            unit(of),
            number(*base_value)
        ),
        (None, true) => ", because instructions could not be counted".into(),
        (None, false) => String::new(),
    };
    let rest = format!("{:.0} % is unexplained{reason}", rest.max(0.0) * 100.0);
    let all: Vec<String> = parts.into_iter().chain([rest]).collect();
    let metric = match difference.metric == Metric::MEAN_CPU {
        true => " of CPU time",
        false => "",
    };
    format!(
        "{name} takes {time}{metric} per {}, compared with {base_time} for {base}. Of the difference, about {}.",
        unit(of),
        say::list(&all)
    )
}

/// Describes the source of a contribution.
fn source(source: &Source, [name, base]: [&str; 2]) -> String {
    let counts = |[own, base_value]: &[f64; 2]| {
        let [own, base_value] = [own, base_value].map(|value| number(*value));
        format!("({own} for {name}, {base_value} for {base})")
    };
    match source {
        Source::Waiting(Some(trips)) if trips[0].max(trips[1]) >= MIN_EVENTS => {
            format!("waiting for round trips {}", counts(trips))
        }
        Source::Waiting(_) => "waiting".into(),
        Source::SystemCalls(values) => format!("system calls {}", counts(values)),
        Source::PageFaults(values) => format!("page faults {}", counts(values)),
        Source::Instructions(values, None) => format!("instructions {}", counts(values)),
        Source::Instructions(values, Some(library)) => {
            format!("instructions {}, most of them in {library}", counts(values))
        }
    }
}

/// Formats a time in ns.
fn time(ns: f64) -> String {
    say::reading(ns, &Unit::Nanoseconds)
}

/// Returns the title of a metric, in the singular if the value is 1.
fn events(metric: &Metric, value: f64) -> String {
    match metric.unit {
        Unit::Count(_) if number(value) == "1" => singular(&metric.title),
        _ => metric.title.to_string(),
    }
}

fn singular(plural: &str) -> String {
    let ending = if plural.ends_with("sses") { "es" } else { "s" };
    plural.strip_suffix(ending).unwrap_or(plural).to_owned()
}

/// Formats a number with at most two decimals. Large numbers are given in millions.
fn number(value: f64) -> String {
    if value.abs() >= 1e6 {
        return format!("{} million", decimals(value / 1e6, 1));
    }
    if value.abs() >= 1e3 {
        quantity::integer(value.round() as u64)
    } else {
        decimals(value, 2)
    }
}

fn decimals(value: f64, max: usize) -> String {
    let text = format!("{value:.max$}");
    match trimmed(&text) {
        "-0" => "0".into(),
        text => text.into(),
    }
}

// Warnings

/// Describes a subject that could not be counted.
pub fn failure(failure: &CountFailure) -> String {
    let CountFailure {
        subject,
        point,
        reason,
    } = failure;
    match point.as_deref() {
        None => format!("{subject} cannot run: {reason}."),
        Some("") => format!("{subject} failed: {reason}."),
        Some(point) => format!("{subject} failed at {point}: {reason}."),
    }
}

/// Returns the label of a warning about events that were not counted.
pub fn missing_event(event: &str) -> String {
    format!("no {event}")
}

pub fn not_counted(subjects: &[String], reason: &str) -> String {
    format!("Not counted for {}: {reason}.", say::list(subjects))
}

// Method

/// Describes the unit of work. `sizes` contains the minimum and maximum number of operations.
pub fn measured_unit(of: CountedUnit, sizes: Option<(u64, u64)>) -> String {
    let sizes = match sizes {
        Some((min, max)) if min == max => format!("n = {min}"),
        Some((min, max)) => format!("n from {min} to {max}"),
        None => "n".into(),
    };
    match of {
        CountedUnit::Run => {
            "Each value is for one run of the command. There were six runs without a tracer (two if a run takes 2 s or \
             more), two under each tool, and one under Callgrind."
                .into()
        }
        CountedUnit::Request => format!(
            "Each value is for one request: the events of the server's processes, divided by the number of requests served \
             ({sizes}), in six periods of load of 0.3 s each after a warm-up of 2 s. Memory is measured at the end."
        ),
        CountedUnit::Operation => format!(
            "Each value is for one operation: the difference between a batch of n operations and one of 2n in the same warm \
             process, divided by n ({sizes}). This excludes the cost of startup, of `open` and of the protocol. There are six \
             such differences."
        ),
    }
}

pub const METHODS: [&str; 5] = [
    "CPU time, switches and page faults come from a process without a tracer. System calls, round trips and bytes come from \
     another process under `strace -f`, which makes it slower, so its time is not used.",
    "Allocations are counted in a separate process. For programs that use the C library's allocator, a preloaded library counts \
     calls and requested bytes (for Python, with Python's own allocator off). Go and Java report the counters of their runtimes.",
    "Instructions and misses come from the processor's counters, in user mode only. Without such counters, they come from \
     Callgrind, for programs without a runtime: one process with n operations and one with 2n, on simulated caches of 48 KiB \
     (D1) and 8 MiB.",
    "A round trip is a send followed by a receive on the same socket.",
    "A difference is reported if all six values of one subject exceed all six of the other. Differences are ranked by their \
     typical cost: round trips, switches, lock waits, system calls, faults, bytes sent and received, then the program's own \
     allocations, misses and instructions.",
];

// Progress and errors

pub const STOPPED: &str = "stopped";
pub const IMPORTED: &str = "the run file contains imported results, without subjects to run";
pub const NOT_AN_EXPERIMENT: &str = "explain needs a run of an experiment, whose subjects benchlab starts itself; for commands, use \
     `benchlab compare --explain`";

pub fn counting(subject: &str, point: &str) -> String {
    if point.is_empty() {
        format!("counting {subject}")
    } else {
        format!("counting {subject} at {point}")
    }
}

/// Reports that no subject could be counted.
pub fn nothing_counted(failures: &[CountFailure]) -> String {
    let failures = failures.iter().map(failure);
    let lines = std::iter::once("nothing could be counted".to_owned()).chain(failures);
    Vec::from_iter(lines).join("\n")
}

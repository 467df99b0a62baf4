// SPDX-License-Identifier: Apache-2.0
//! All sentences, titles and headings that users of `benchlab profile` see.
//!
//! The rest of the crate uses numbers and enums. A test detects sentences outside this file.

#![allow(missing_docs, reason = "the texts are their own documentation")]

use crate::agreement::{Agreement, Outlook};
use crate::explain::{Access, Explanation};
use crate::files::FilesError;
use crate::gate::{Found, GateCondition, Inconclusive, relative_change};
use crate::heap::{NeverFreed, Sawtooth};
use crate::layouts::{CountRange, Layouts};
use crate::runs::RunWarning;
use crate::valgrind::{Children, Ending, Gap, Tool};
use lab_document::say;
use lab_model::{Unit, grouped};
use lab_valgrind::{Churn, Frame, TimeUnit, clean};
use std::fmt::{Display, Formatter};
use std::path::Path;
use std::time::Duration;

// Names

/// Returns the default names of one program, or of two programs before and after a change.
pub fn default_names(programs: usize) -> &'static [&'static str] {
    match programs {
        1 => &["program"],
        _ => &["before", "after"],
    }
}

/// Returns the meaning of an event or of another metric.
pub fn meaning(figure: &str) -> &str {
    match figure {
        "Ir" => "instructions",
        "Dr" => "data reads",
        "Dw" => "data writes",
        "D1mr" => "D1 read misses",
        "D1mw" => "D1 write misses",
        "DLmr" => "last-level read misses",
        "DLmw" => "last-level write misses",
        "I1mr" => "I1 misses",
        "ILmr" => "last-level instruction misses",
        "D1" => "D1 misses",
        "LL" => "last-level misses",
        "Bcm" => "mispredicted conditional branches",
        "Bim" => "mispredicted indirect branches",
        "mispredicts" => "mispredicted branches",
        "peak" => "peak heap",
        "total" => "allocated bytes",
        "allocations" => "allocations",
        figure => figure,
    }
}

/// Returns the unit of an event.
pub fn unit(event: &str) -> Unit {
    Unit::Count(
        match event {
            "Ir" => "instructions",
            "Dr" | "Dw" | "D" => "accesses",
            "Bc" | "Bi" => "branches",
            "Bcm" | "Bim" | "mispredicts" => "mispredicts",
            "allocations" => "blocks",
            event if event.ends_with("mr") || event.ends_with("mw") => "misses",
            "I1" | "D1" | "LL" => "misses",
            _ => "events",
        }
        .into(),
    )
}

/// Formats a row heading such as `D1mw: D1 write misses`.
pub fn event_row(event: &str) -> String {
    match meaning(event) {
        same if same == event => event.into(),
        meaning => format!("{event}: {meaning}"),
    }
}

/// Returns the name of a run under a tool. Massif runs once for each of its three time units.
pub fn tool(tool: Tool) -> &'static str {
    match tool {
        Tool::Massif(TimeUnit::Milliseconds) => "massif by time",
        Tool::Massif(TimeUnit::Bytes) => "massif by bytes",
        Tool::Instructions => "counting instructions",
        tool => tool.name(),
    }
}

/// Returns the name and unit of a heap's time axis.
pub fn heap_time(unit: TimeUnit) -> (&'static str, Unit) {
    match unit {
        TimeUnit::Instructions => ("instructions", Unit::Count("instructions".into())),
        TimeUnit::Milliseconds => ("time", Unit::Nanoseconds),
        TimeUnit::Bytes => ("bytes allocated and freed", Unit::Bytes),
    }
}

/// Formats a location with its function, such as `init (main.c:7)`.
pub fn function_and_location(frame: &Frame) -> String {
    format!("{} ({})", clean(&frame.function), frame.location())
}

// Titles, headings and captions

/// The error for output of a program that a run file does not name.
pub const UNKNOWN_PROGRAM: &str =
    "a tool's output belongs to a program that the run file does not list";
pub const WARNINGS: &str = "Warnings";
pub const CLOCK: &str = "Measured time";
pub const METHOD: &str = "How it was profiled";
pub const MEMORY: &str = "Memory";
pub const COSTS: &str = "Instructions and misses";
pub const LAYOUTS: &str = "Range over builds";
pub const LAYOUTS_CAPTION: &str = "The lowest and the highest count of each event over all builds. A change whose range includes 0 may come from the \
     layout alone.";
pub const LOWEST: &str = "lowest";
pub const HIGHEST: &str = "highest";
pub const LOW_CHANGE: &str = "lowest change";
pub const HIGH_CHANGE: &str = "highest change";
pub const BY_FUNCTION: &str = "By function";
pub const BY_LINE: &str = "By source line";
pub const APPEARED: &str = "New functions";
pub const VANISHED: &str = "Removed functions";
pub const CALLS: &str = "Calls";
pub const FLAMES: &str = "Flame graphs";
pub const HISTORY: &str = "Profiles";
pub const ANNOTATED: &str = "Source of the most expensive lines";

pub const HEAP: &str = "Heap";
pub const SIMULATED: &str = "Simulated";
pub const MEASURED: &str = "Measured";

pub const HEAP_TABLE: &str = "Heap";
pub const HEAP_TABLE_CAPTION: &str = "Massif's peak includes the allocator's overhead. DHAT counts the bytes that the program requested. The peak is the \
     most that the heap held at once; the total is everything allocated until the end.";
/// The rows of the heap table: the metrics and the row headings.
pub const HEAP_ROWS: [(&str, &str); 3] = [
    ("peak", "peak"),
    ("total", "total allocated"),
    ("allocations", "allocations"),
];
pub const HEAP_CHART_CAPTION: &str =
    "Bytes on the heap, including the allocator's overhead, at Massif's snapshots.";
pub const HEAP_AXIS: &str = "heap";
pub const ALLOCATED: &str = "Allocated";
pub const AT_PEAK: &str = "At the peak";
pub const NEVER_FREED: &str = "Never freed";
pub const NEVER_READ: &str = "Written and never read";
pub const SHORT_LIVED: &str = "Short-lived";
pub const AT_MASSIFS_PEAK: &str = "At Massif's peak";
pub const BELOW_THRESHOLD: &str = "locations below Massif's threshold";
pub const CHURN_CAPTION: &str = "Many blocks, but few live at once: one block could be reused.";
pub const CHURN_COLUMNS: [&str; 5] = ["location", "blocks", "size", "live at once", "total"];
pub const TOTALS: &str = "Totals";
pub const SHARES_CAPTION: &str = "For misses, the percentage is of all accesses.";
pub const TOTALS_CAPTION: &str = "Events of the whole program, counted by the simulation.";
pub const COSTS_CAPTION: &str = "Simulated costs. Values below 1 are lower than before.";
pub const COSTS_AXIS: &str = "after / before";
pub const FUNCTIONS_CAPTION: &str =
    "The functions with the highest counts, without the functions they call.";
pub const RANKED_CAPTION: &str = "Largest change first; for a single profile, highest cost first.";
pub const CALLS_CAPTION: &str = "The most expensive calls, including everything they call.";
pub const CALLS_COLUMNS: [&str; 4] = ["caller", "callee", "calls", "inclusive"];
pub const ANNOTATED_CAPTION: &str = "The most expensive lines and the lines around them.";
pub const ALLOCATIONS_FLAME: &str = "allocated bytes";
pub const ALLOCATIONS_FLAME_CAPTION: &str = "Total bytes allocated, by the functions on the stack.";
pub const COSTS_FLAME_CAPTION: &str = "Callgrind records callers and callees, not whole stacks. A function's cost is divided among its callers in \
     proportion to the cost of their calls.";
pub const HISTORY_CAPTION: &str = "One row per run.";
pub const HISTORY_COLUMNS: [&str; 2] = ["started (UTC)", "commit"];
/// The additional columns of a table with values before and after a change.
pub const PAIR_COLUMNS: [&str; 2] = ["difference", "change"];
/// The columns of a table with the values of a single program.
pub const ONE_COLUMNS: [&str; 2] = ["value", "percentage"];
/// Titles of the first column of tables.
pub const FIGURE: &str = "metric";
pub const EVENT: &str = "event";
pub const FUNCTION: &str = "function";
pub const LINE: &str = "line";
pub const LOCATION: &str = "location";
pub const SOURCE_LINE: &str = "source";

/// Returns the question about one program, or about a change.
pub fn question(is_pair: bool) -> &'static str {
    if is_pair {
        "How does the change affect memory and cache misses?"
    } else {
        "What causes memory use and cache misses?"
    }
}

pub fn title(name: &str, after: Option<&str>) -> String {
    match after {
        Some(after) => format!("Profile of {name} and {after}"),
        None => format!("Profile of {name}"),
    }
}

pub fn made(unix_s: f64) -> String {
    format!("{} UTC", say::minute(unix_s))
}

pub fn heap_chart(is_main: bool, time: &str) -> String {
    if is_main {
        "Heap over time".into()
    } else {
        format!("Heap over {time}")
    }
}

pub fn costs_chart([before, after]: [&str; 2]) -> String {
    format!("{after} as a multiple of {before}")
}

pub fn by_function(event: &str) -> String {
    say::capital(&format!("{} by function", meaning(event)))
}

pub fn by_line(event: &str) -> String {
    say::capital(&format!("{} by line", meaning(event)))
}

pub fn calls_table(name: &str) -> String {
    format!("{CALLS}: {name}")
}

pub fn churn_table(name: &str) -> String {
    format!("Allocated repeatedly: {name}")
}

pub fn annotated(lines: usize, event: &str) -> String {
    format!(
        "The {lines} lines with the most {}, and the lines around them.",
        meaning(event)
    )
}

pub fn flame(costs: &str, name: &str) -> String {
    say::capital(&format!("{costs} of {name}"))
}

pub fn left_out(rows: usize) -> String {
    format!("{} with smaller values not shown.", say::count(rows, "row"))
}

// Facts

pub const OUTPUT_FACT: (&str, &str) = ("standard output", "the same in all runs");
pub const COUNTERS_FACT: &str = "hardware counters";
pub const COUNTERS_IN_TABLE: &str = "in the table of resources per run";

/// States that the counts have no noise, and names the file that contains the tools' output, if
/// any.
pub fn origin(file: Option<&str>) -> String {
    let counts = "Valgrind counts on a simulated processor, so its counts have no noise.";
    match file {
        Some(file) => format!("{counts} The tools' output is in {file}."),
        None => counts.into(),
    }
}

/// States that the profile in a run file cannot be read.
pub fn unreadable_in_run(reason: &str) -> String {
    format!("The profile in this file cannot be read: {reason}.")
}

/// States that a tool's output cannot be saved.
pub fn not_kept(error: &std::io::Error) -> String {
    format!("cannot save the output of Valgrind: {error}")
}

pub fn command_fact(name: &str) -> String {
    format!("command of {name}")
}

pub fn caches_fact(name: &str) -> String {
    format!("simulated caches of {name}")
}

/// Formats the name of a run, such as `callgrind of before`.
pub fn run(of: Tool, name: &str) -> String {
    format!("{} of {name}", tool(of))
}

/// Formats a progress line, such as `valgrind 3/12  massif of 1`.
pub fn step(done: usize, total: usize, running: &[(Tool, usize)]) -> String {
    let names = running
        .iter()
        .map(|(tool, command)| run(*tool, &(command + 1).to_string()));
    let names: Vec<String> = names.collect();
    format!("valgrind {done}/{total}  {}", names.join(", "))
}

/// Formats the outcome of a run, such as `exit status 0, 1.5 s`.
pub fn run_fact(ending: &Ending, took: Duration) -> String {
    format!("{ending}, {:.1} s", took.as_secs_f64())
}

/// Returns the name and the text of the fact that a run started child processes, if it did.
pub fn processes_fact(run: &str, children: Children) -> Option<(String, String)> {
    let text = match children {
        Children::None => return None,
        Children::Uncounted => "child processes, not included in the profile".into(),
        Children::Forked(1) => "1 child process, not included in the profile".into(),
        Children::Forked(n) => format!("{n} child processes, not included in the profile"),
    };
    Some((format!("processes of {run}"), text))
}

impl Display for Ending {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        match self {
            Ending::Stopped(after) => write!(f, "stopped after {:.0} s", after.as_secs_f64()),
            Ending::Exited(code) => write!(f, "exit status {code}"),
            Ending::Signaled(Some(name)) => write!(f, "ended by {name}"),
            Ending::Signaled(None) => write!(f, "ended by a signal"),
        }
    }
}

// Findings

/// Formats a change such as `D1mw 2,470,000 → 410,000 (−83.4 %)`, or the value alone.
pub fn figure_change(figure: &str, unit: &Unit, before: u64, after: Option<u64>) -> String {
    let title = if figure == "total" {
        "allocated"
    } else {
        figure
    };
    let value = |value: u64| say::reading(value as f64, unit);
    let Some(after) = after else {
        return format!("{title} {}", value(before));
    };
    let change = match before {
        0 => String::new(),
        before => format!(" ({})", percent_change(after as f64 / before as f64 - 1.0)),
    };
    format!("{title} {} → {}{change}", value(before), value(after))
}

/// Joins texts about values into one sentence. Returns `None` if there are no texts.
pub fn figures(texts: impl Iterator<Item = String>) -> Option<String> {
    Some(say::capital(&say::joined(texts, ", ")?) + ".")
}

/// Formats a change such as `-83.4 %`.
fn percent_change(change: f64) -> String {
    format!("{:+.1} %", 100.0 * change)
}

fn size(bytes: u64) -> String {
    say::reading(bytes as f64, &Unit::Bytes)
}

/// Prefixes a sentence with the name of the program.
pub fn with_name(name: &str, sentence: &str) -> String {
    format!("{name}: {sentence}")
}

/// Describes churn: `1 MiB allocated 127 times at sax-symbols.adb:99, each freed before the next.`
pub fn churn(churn: &Churn) -> String {
    let about = if churn.same_size { "" } else { "about " };
    let (size, place) = (size(churn.size()), churn.site.location());
    let blocks = say::reading(churn.blocks as f64, &unit("allocations"));
    match churn.at_once {
        0 | 1 => format!(
            "{about}{size} allocated {blocks} times at {place}, each freed before the next."
        ),
        n => {
            format!("{about}{size} allocated {blocks} times at {place}, at most {n} live at once.")
        }
    }
}

/// Describes churn as the first sentence about a program. `name` is the program's name, if the
/// sentence must contain it.
pub fn first_churn(name: Option<&str>, of: &Churn) -> String {
    let sentence = churn(of);
    say::capital(&name.map_or(sentence.clone(), |name| with_name(name, &sentence)))
}

pub fn sawtooth(sawtooth: &Sawtooth) -> String {
    let held = sawtooth.largest.as_ref();
    let held = held.map(|frame| format!("; most of the peak comes from {}", frame.location()));
    format!(
        "The heap falls by {} or more and rises again {} times{}.",
        size(sawtooth.fall),
        sawtooth.teeth,
        held.unwrap_or_default()
    )
}

/// Describes a leak: `Never freed: 30 blocks with 21.3 KiB, mostly (20 KiB) from init (main.c:7).`
pub fn never_freed(leak: &NeverFreed) -> String {
    format!(
        "Never freed: {} with {}, mostly ({}) from {}.",
        say::count(leak.blocks as usize, "block"),
        size(leak.bytes),
        size(leak.unfreed_bytes),
        function_and_location(&leak.site),
    )
}

/// Explains misses: `127 allocations at sax-symbols.adb:99, 1 MiB each …`.
pub fn explanation(explanation: &Explanation) -> String {
    let Explanation { churn, lines, .. } = explanation;
    let times = churn.size() / explanation.cache.size;
    let (touched, misses) = match explanation.touch {
        Access::Written => ("written", "write"),
        Access::Read => ("read", "read"),
    };
    let per_block = lines * explanation.passes;
    format!(
        "{} allocations at {}, {} each, {times} times the size of D1: {} lines {touched} per allocation, {} × {} = {} {misses} \
         misses, {:.0} % of the total; the simulation counts {} in {}.",
        grouped(churn.blocks),
        churn.site.location(),
        size(churn.size()),
        grouped(per_block),
        grouped(churn.blocks),
        grouped(per_block),
        grouped(explanation.predicted),
        100.0 * explanation.fraction,
        grouped(explanation.simulated),
        explanation.function,
    )
}

/// Compares the prediction with the measurement: `The simulation predicts 0.62 times before's cycles, and the measured
/// time agrees.`
pub fn agreement(agreement: &Agreement, before: &str) -> String {
    let ratio = say::reading(agreement.predicted, &Unit::Ratio);
    let predicts = format!("The simulation predicts {ratio} times {before}'s cycles");
    match agreement.outlook {
        Outlook::Agrees => format!("{predicts}, and the measured time agrees."),
        Outlook::Disagrees => format!(
            "{predicts}, but the measured time disagrees. The simulated processor does not prefetch or wait for the system."
        ),
        Outlook::Inconclusive => format!("{predicts}; the measured time is inconclusive."),
    }
}

// History

/// Reports a metric that changed between the last two runs.
pub fn changed_figure(
    (subject, figure): (&str, &str),
    unit: &Unit,
    latest_unix_s: f64,
    [before, after]: [f64; 2],
) -> String {
    format!(
        "{} of {subject} changed from {} to {} ({}) in the run of {} UTC.",
        say::capital(figure),
        say::reading(before, unit),
        say::reading(after, unit),
        percent_change(after / before - 1.0),
        say::minute(latest_unix_s),
    )
}

/// Reports that no metric in a history changed.
pub fn no_change(runs: usize) -> &'static str {
    match runs {
        1 => "Only one run has a profile. Profile again to see changes.",
        _ => "No metric changed by 0.1 % or more since the previous run.",
    }
}

// Warnings

impl RunWarning {
    /// Returns a short label for the warning.
    pub fn label(&self) -> &'static str {
        match self {
            RunWarning::Stopped { .. } => "stopped",
            RunWarning::NoFigures { .. } => "no profile",
            RunWarning::OutputChanges | RunWarning::OutputsDiffer => "output",
            RunWarning::Signal { .. } => "signal",
            RunWarning::Children { .. } => "child processes",
            RunWarning::ExitStatus { .. } => "exit status",
            RunWarning::NoSymbols { .. } => "no symbols",
        }
    }
}

impl Display for RunWarning {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        match self {
            RunWarning::Stopped { tool, name } => write!(
                f,
                "{} exceeded --time-limit and was stopped. Its profile ends there, so its totals decide no condition and \
                 are not in the history.",
                run(*tool, name)
            ),
            RunWarning::NoFigures {
                tool,
                name,
                ending,
                reason,
            } => write!(f, "{} produced no profile: {ending}. {reason}", run(*tool, name)),
            RunWarning::OutputChanges => f.write_str(
                "A program's output differs from run to run, so benchlab cannot verify that all runs did the same work.",
            ),
            RunWarning::OutputsDiffer => f.write_str(
                "The programs before and after wrote different output: the work was not the same.",
            ),
            RunWarning::Signal { command, ending } => write!(
                f,
                "Command {} was {ending}; its profile ends there, so its totals decide no condition and are not in the \
                 history.",
                command + 1
            ),
            RunWarning::Children { command } => write!(
                f,
                "Command {} started child processes, which are not in its profile, so its totals decide no condition and \
                 are not in the history.",
                command + 1
            ),
            RunWarning::ExitStatus { before, after } => write!(
                f,
                "Before: {before}; after: {after}. The work was not the same."
            ),
            RunWarning::NoSymbols {
                name,
                part,
                event,
                object,
            } => {
                write!(
                    f,
                    "{name}: {} of its {event} have no symbol. Build it with -g, do not strip it, and install the -dbgsym \
                     packages of its libraries.",
                    say::percent(*part)
                )?;
                match object {
                    Some(object) => write!(
                        f,
                        " Most are in {object}; `dpkg -S {object}` shows its package."
                    ),
                    None => Ok(()),
                }
            }
        }
    }
}

// Errors

impl Display for FilesError {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        match self {
            FilesError::None => f.write_str(
                "nothing to profile: specify a command, such as `benchlab profile -- ./prog x`, or files, such as \
                 --massif massif.out.1",
            ),
            FilesError::Uneven => f.write_str(
                "one tool has two files and another tool has one file: pass two files for each tool",
            ),
            FilesError::Unreadable(path, error) => f.write_str(&unreadable(path, error)),
            FilesError::Parts(error) => error.fmt(f),
        }
    }
}

pub const COMMANDS_AND_WORDS: &str = "pass either one command after --, or commands without --";
pub const TOO_MANY_REVISIONS: &str = "expected one or two revisions: before and after";
pub const SHELL: &str = "a command contains shell syntax, so Valgrind would profile the shell; pass only the \
     program and its arguments, or put the command into a program";
pub const NOT_INSTALLED: &str =
    "valgrind is not installed; `benchlab profile --install …` installs it";
pub const STOPPED: &str = "stopped; no process is left running";

pub fn setup_failed(line: &str, reason: &str) -> String {
    format!("--setup `{line}`: {reason}")
}

pub fn setup_ended(line: &str, name: &str, status: &dyn Display, errors: &str) -> String {
    format!("--setup `{line}` of {name} failed: {status}\n{errors}")
}

pub fn valgrind_failed(error: &dyn Display) -> String {
    format!("valgrind: {error}")
}

pub fn keep_failed(error: &dyn Display) -> String {
    format!("--keep: {error}")
}

// Gates

impl Display for GateCondition {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl Display for Inconclusive {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Inconclusive::NoFile => "no file contains this metric",
            Inconclusive::NothingBefore => "no earlier profile to compare with",
            Inconclusive::NoFileBefore => "no file of the earlier program contains this metric",
            Inconclusive::Partial => {
                "the profile covers only a part of the program, so its total is unknown"
            }
            Inconclusive::PartialBefore => {
                "the profile covers only a part of the earlier program, so its total is unknown"
            }
            Inconclusive::StatusesDiffer => {
                "the programs had different exit statuses, so their work was not the same"
            }
        })
    }
}

/// Describes the value that a gate judged, or explains why no value was judged.
pub fn gate(figure: &str, unit: &Unit, found: Result<&Found, &Inconclusive>) -> String {
    match found {
        Ok(Found::Value(value)) => format!("{figure} is {}", say::reading(*value as f64, unit)),
        Ok(Found::Change { before, after }) => {
            let change = 100.0 * relative_change(*before, *after);
            format!("{figure} changed by {change:+.3} % ({before} to {after})")
        }
        Ok(Found::ValueRange(range)) => {
            format!("{figure} is {} over builds", count_range(*range))
        }
        Ok(Found::ChangeRange { before, after }) => {
            let change = after.change_from(*before);
            format!(
                "{figure} changed by {:+.3} to {:+.3} % over builds ({} before, {} after)",
                100.0 * change.low,
                100.0 * change.high,
                count_range(*before),
                count_range(*after)
            )
        }
        Err(reason) => format!("{figure}: {reason}"),
    }
}

/// Formats a range of counts: `1,000 to 1,020`, or `1,000` if all are equal.
pub fn count_range(range: CountRange) -> String {
    let (least, most) = (grouped(range.least), grouped(range.most));
    match range.least == range.most {
        true => least,
        false => format!("{least} to {most}"),
    }
}

/// Describes the instructions of a command relative to the baseline's: `head executes 1.021 to 1.022 times as many
/// instructions as base, over 5 builds of each (base: 1,000 to 1,001; head: 1,021 to 1,022)`.
pub fn instructions(
    name: &str,
    baseline: &str,
    before: CountRange,
    after: CountRange,
    layouts: Layouts,
) -> String {
    let change = after.change_from(before);
    let (low, high) = (1.0 + change.low, 1.0 + change.high);
    let times = match format!("{low:.4}") == format!("{high:.4}") {
        true => format!("{low:.4}"),
        false => format!("{low:.4} to {high:.4}"),
    };
    let layouts = match layouts {
        Layouts::Builds(count) => format!("{count} builds of each"),
        Layouts::Environments(count) => format!("{count} environments of different sizes"),
    };
    format!(
        "{name} executes {times} times as many instructions as {baseline}, over {layouts} \
        ({baseline}: {}; {name}: {})",
        count_range(before),
        count_range(after)
    )
}

/// Describes a command whose instructions could not be counted.
pub fn not_counted(ending: &Ending, log: &[String]) -> String {
    match (ending, log) {
        (Ending::Stopped(_), _) => format!("{ending}"),
        (_, []) => format!("Cachegrind wrote no counts ({ending})"),
        (_, log) => format!("Cachegrind wrote no counts: {}", log.join(" ")),
    }
}

/// Describes a command that was terminated before its end.
pub fn counted_in_part(ending: &Ending, log: &[String]) -> String {
    let reason = format!("{ending} under Valgrind, so the counts cover only a part of its work");
    match log {
        [] => reason,
        log => format!("{reason}: {}", log.join(" ")),
    }
}

/// Describes the part of a command's work that was not counted.
pub fn gap(gap: &Gap) -> String {
    match gap {
        Gap::NoCounts => {
            "a child process wrote no counts, so the counts cover only a part of its work".into()
        }
        Gap::Ended(signal) => format!(
            "a process was ended by {signal} under Valgrind, so the counts cover only a part of its work"
        ),
        Gap::Forked => "a child process executed no program (a subshell or a worker, for example), and Valgrind does \
                        not separate its counts from those of its parent"
            .into(),
    }
}

pub const CHILDREN_NOT_COUNTED: &str =
    "it started child processes, whose work is not in its counts";
pub const NO_INSTRUCTIONS: &str = "no instructions";

/// Describes a command that failed under Valgrind.
pub fn failed_under_valgrind(ending: &Ending) -> String {
    format!("{ending} under Valgrind")
}

/// Describes a command that ended in different ways.
pub fn statuses_vary(one: &Ending, other: &Ending) -> String {
    format!("it ended in different ways under Valgrind: {one} and {other}")
}

/// Describes a command that ended in another way than the baseline.
pub fn statuses_differ(ending: &Ending, baseline: &Ending) -> String {
    format!(
        "{ending} under Valgrind, but {baseline} for the baseline, so the work was not the same"
    )
}

/// States that a command has no range of counts over its builds.
pub fn no_ranges(name: &str, reason: &str) -> String {
    format!("{name}: no range of counts over its builds, because {reason}")
}

/// Formats the error for a command whose instructions cannot be counted.
pub fn counting_failed(name: &str, reason: &str) -> String {
    format!("--gate-on instructions: {name}: {reason}")
}

/// Formats the error for a file that cannot be read, with its path.
pub fn unreadable(path: &Path, error: &dyn Display) -> String {
    format!("{}: {error}", path.display())
}

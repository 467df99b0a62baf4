// SPDX-License-Identifier: Apache-2.0
//! The reason for a subject's exclusion from the comparison, as a phrase after the subject's name.

use super::times::{budget, microseconds, seconds, short_time};
use lab_document::say;
use lab_model::grouped;
use lab_stats::analysis::{ExclusionReason, FirstPoint, StatusCount, TurnsCause, TurnsNotSteady};
use lab_stats::results::{AgeState, ServerAge};

/// The label of the exit statuses of commands.
pub const EXIT_STATUS: &str = "Exit status";
/// The maximum number of commands whose exit statuses are listed. A larger number is only counted.
const MAX_COMMANDS: usize = 3;

/// Describes the exclusion of subjects at a location, such as `go at select limit=1: different settings: …`.
pub fn excluded(names: &[String], at: &str, reason: &ExclusionReason) -> String {
    use ExclusionReason as R;
    let is_predicate = matches!(
        reason,
        R::Failed { .. }
            | R::PilotCutShort { .. }
            | R::TurnsNotSteady(_)
            | R::ServerNotSteady { .. }
    );
    let colon = if is_predicate && names.len() == 1 {
        ""
    } else {
        ":"
    };
    format!("{}{at}{colon} {}.", say::list(names), exclusion(reason))
}

/// Formats the reason for an exclusion.
pub fn exclusion(reason: &ExclusionReason) -> String {
    use ExclusionReason as R;
    match reason {
        R::Failed { kind, message } => format!("failed ({kind}): {message}"),
        R::BaselineFailed { baseline } => nothing_to_compare(baseline, "failed"),
        R::SettingDiffers {
            key,
            value,
            baseline_value,
            baseline,
        } => {
            let said = |value: &Option<String>| value.clone().unwrap_or("not reported".into());
            format!(
                "different settings: {key} is {}, but {} in {baseline}",
                said(value),
                said(baseline_value)
            )
        }
        R::ExitStatus {
            own,
            baseline,
            of_baseline,
        } => format!(
            "its exit statuses differ from those of {baseline}: {}; {baseline}: {}",
            statuses(own),
            statuses(of_baseline)
        ),
        R::PilotCutShort {
            baseline,
            at,
            pilot_ns,
            budget_s,
        } => {
            let advice = match budget_s {
                Some(seconds) => format!("--budget {}", budget(*seconds)),
                None => "more time".into(),
            };
            let own = format!(
                "could not be warmed up at {} in {}; start the run again with {advice}",
                first_point(at),
                short_time(*pilot_ns as f64)
            );
            match baseline {
                Some(name) => format!("cannot be compared because the baseline {name} {own}"),
                None => own,
            }
        }
        R::TurnsNotSteady(turns) => turns_not_steady(turns),
        R::ServerNotSteady { baseline, age } => {
            let own = server_age(age);
            match baseline {
                Some(name) => {
                    format!("cannot be compared because the baseline {name} {own}")
                }
                None => own,
            }
        }
        R::PeakUnknown { baseline } => {
            let why = "because the generator was the limit";
            match baseline {
                Some(name) => nothing_to_compare(name, &format!("has no known peak, {why}")),
                None => format!("its peak is unknown, {why}"),
            }
        }
        R::ServedNothing {
            baseline,
            idle,
            blocks,
            mostly,
        } => {
            let errors = mostly.map_or(String::new(), |kind| format!(" (mostly {})", kind.name()));
            let own = match idle {
                idle if idle == blocks => format!("served nothing{errors}"),
                idle => format!("served nothing in {idle} of {blocks} blocks{errors}"),
            };
            match baseline {
                Some(name) => nothing_to_compare(name, &own),
                None => own,
            }
        }
    }
}

fn nothing_to_compare(baseline: &str, why: &str) -> String {
    format!("the baseline {baseline} {why}")
}

/// Formats exit statuses, such as `2 of 20 with 1, 18 of 20 with 0` or `all 8 with 0`.
fn statuses(counts: &[StatusCount]) -> String {
    let all: usize = counts.iter().map(|count| count.runs).sum();
    let parts = counts.iter().map(|count| match count.runs == all {
        true => format!("all {all} with {}", count.status),
        false => format!("{} of {all} with {}", count.runs, count.status),
    });
    say::joined(parts, ", ").unwrap_or_default()
}

/// The exit statuses of a command's runs.
pub struct CommandStatuses<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// The number of runs for each status.
    pub counts: Vec<StatusCount>,
}

/// Lists the commands with nonzero exit statuses, such as `B: all 8 runs ended with status 2. All
/// other runs ended with status 0.`
///
/// Returns `None` if all runs ended with status 0.
pub fn exit_statuses(commands: &[CommandStatuses]) -> Option<String> {
    let failed: Vec<String> = commands.iter().filter_map(nonzero_statuses).collect();
    let more = failed.len().saturating_sub(MAX_COMMANDS);
    let more = (more > 0).then(|| {
        let more = say::count(more, "more command");
        format!("{more} also had statuses other than 0")
    });
    let listed = failed.into_iter().take(MAX_COMMANDS).chain(more);
    let text = say::joined(listed, "; ")?;
    let mut counts = commands.iter().flat_map(|command| &command.counts);
    let others = if counts.any(|count| count.status == 0) {
        " All other runs ended with status 0."
    } else {
        ""
    };
    Some(format!("{text}.{others}"))
}

fn nonzero_statuses(command: &CommandStatuses) -> Option<String> {
    let all: usize = command.counts.iter().map(|count| count.runs).sum();
    let nonzero = command.counts.iter().filter(|count| count.status != 0);
    let parts = nonzero.map(|count| {
        let runs = match count.runs == all {
            true => format!("all {all} runs"),
            false => format!("{} of {all} runs", count.runs),
        };
        format!("{runs} ended with status {}", count.status)
    });
    Some(format!(
        "{}: {}",
        command.command,
        say::joined(parts, ", ")?
    ))
}

fn first_point(at: &FirstPoint) -> String {
    match at.more {
        0 => at.first.clone(),
        1 => format!("{} and one more point", at.first),
        more => format!("{} and {more} more points", at.first),
    }
}

/// Formats a number of processes, such as ` in 3 of 12 processes`. The text is empty if the number
/// is 0 or includes all processes.
fn some_processes(off: usize, all: usize) -> String {
    if off == 0 || off == all {
        String::new()
    } else {
        format!(" in {off} of {all} processes")
    }
}

fn turns_not_steady(turns: &TurnsNotSteady) -> String {
    let point = first_point(&turns.at);
    let processes = some_processes(turns.processes_off, turns.processes);
    let levels = format!(
        "turns {}, steady state {} at the same speed of the machine",
        short_time(turns.turns_ns),
        short_time(turns.steady_ns)
    );
    match turns.cause {
        TurnsCause::TwoLevels { other_ns } => format!(
            "reached one of two levels at {point}: {} of {} processes took {}, the others {}, and the levels did \
             not converge during the turns. A ratio would only show how many processes were at each level",
            turns.processes_off,
            turns.processes,
            short_time(turns.turns_ns),
            short_time(other_ns)
        ),
        TurnsCause::PilotTooShort => format!(
            "took less time at {point} than in its pilot's steady state{processes} ({levels}): it or the baseline \
             needs a longer warm-up than the pilot showed"
        ),
        TurnsCause::Disturbed => format!(
            "was not in its steady state at {point}{processes} ({levels}), although its pilot showed no warm-up: \
             something disturbed it"
        ),
        TurnsCause::WarmingUp {
            pilot_steady,
            operations,
            wall_ns,
        } => {
            let was = if pilot_steady { "was" } else { "was not" };
            format!(
                "was still warming up at {point}{processes} ({levels}); its pilot {was} steady after {operations} \
                 operation{} ({})",
                if operations == 1 { "" } else { "s" },
                short_time(wall_ns as f64)
            )
        }
    }
}

/// Describes the problem with the age of a server, as a verb phrase after its name. Empty if the
/// server was steady.
pub fn server_age(age: &ServerAge) -> String {
    let time = |ns: Option<f64>| microseconds(ns.unwrap_or(age.steady_ns));
    let needed = format!(
        "{} requests ({})",
        grouped(two_digits(age.requests)),
        seconds(age.seconds)
    );
    let processes = some_processes(age.processes_off as usize, age.processes as usize);
    let turns = format!(
        "turns {}, steady state {}",
        time(age.turns_ns),
        time(age.expected_ns)
    );
    let at_least = match age.steady {
        true => format!("about {needed}"),
        false => format!("more than {needed}"),
    };
    match age.state {
        AgeState::Steady => String::new(),
        AgeState::WarmingUp => {
            format!("was still warming up{processes} ({turns}); it needs {at_least}")
        }
        AgeState::Disturbed => format!(
            "was not in its steady state{processes} ({turns}), although it needs no warm-up: something disturbed it"
        ),
        AgeState::PilotTooShort => format!(
            "was not steady yet when its pilot ended{processes} ({turns}): it needs more than {needed}"
        ),
        AgeState::StillFalling => {
            format!("was still getting cheaper when its pilot ended: it needs more than {needed}")
        }
        AgeState::LeftOut if age.steady && age.requests == 0 => {
            "does not fit into the time of this run, although it needs no warm-up".into()
        }
        AgeState::LeftOut => {
            format!(
                "does not fit into the time of this run: each process needs {at_least} to warm up"
            )
        }
    }
}

/// Rounds to two significant digits, which are enough for the number of requests that a process
/// needed.
fn two_digits(requests: u64) -> u64 {
    let digits = requests.max(1).ilog10();
    let unit = 10_u64.pow(digits.saturating_sub(1));
    (requests + unit / 2) / unit * unit
}

// SPDX-License-Identifier: Apache-2.0
//! Judges gates together for `--fail-if`, `--warn-if` and `diff --gate`, and writes the line for
//! Nagios.

use crate::analysis::between::{SlowerPages, slower_pages};
use crate::analysis::gate::{Gate, GateAnswer};
use crate::wording;
use lab_document::clean;
use lab_model::LogAnalysis;

/// The result of gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateOutcome {
    /// No bound is crossed.
    Passed,
    /// Bounds are crossed; the text has one line for each.
    Crossed(String),
    /// No bound is known to be crossed, but some gates cannot be judged; the text has one line for
    /// each.
    Inconclusive(String),
}

/// The status of a Nagios check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NagiosStatus {
    /// The line for standard output, including its line feed.
    pub line: String,
    /// The exit code: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
    pub code: u8,
}

/// Judges gates.
///
/// `unread` contains the logs that could not be read to their end, with the reasons. Their missing
/// entries could cross a gate.
pub fn judge(gates: &[Gate], analysis: &LogAnalysis, unread: &[String]) -> GateOutcome {
    let judged = judge_all(gates, analysis);
    let texts = |is_listed: &dyn Fn(&GateAnswer) -> bool| -> Vec<String> {
        let listed = judged.iter().filter(|j| is_listed(j));
        listed
            .map(|j| format!("{}: {}", clean(&j.gate), words(j)))
            .collect()
    };
    let (crossed, mut unknown) = (texts(&|j| j.is_crossed), texts(&|j| j.value.is_err()));
    if !judged.is_empty() {
        unknown.extend(unread.iter().map(|reason| without(reason)));
    }
    if !crossed.is_empty() {
        GateOutcome::Crossed(crossed.join("\n"))
    } else if !unknown.is_empty() {
        GateOutcome::Inconclusive(unknown.join("\n"))
    } else {
        GateOutcome::Passed
    }
}

/// Judges `diff --gate`, which is crossed if a page is slower in the second log.
pub fn judge_slower(before: &LogAnalysis, after: &LogAnalysis) -> GateOutcome {
    match slower_pages(before, after) {
        SlowerPages::Known(slower) if slower.is_empty() => GateOutcome::Passed,
        SlowerPages::Known(slower) => GateOutcome::Crossed(wording::slower_pages(&slower)),
        SlowerPages::Unknown(reasons) => {
            GateOutcome::Inconclusive(wording::unknown_changes(&reasons))
        }
    }
}

/// Judges the gates of `--fail-if` and `--warn-if` for Nagios; `unread` is the same as in
/// [`judge`].
///
/// Source: Monitoring Plugins Development Guidelines, *plugin output*, *return codes*.
pub fn nagios(
    fail: &[Gate],
    warn: &[Gate],
    analysis: &LogAnalysis,
    unread: &[String],
) -> NagiosStatus {
    let (fail, warn) = (judge_all(fail, analysis), judge_all(warn, analysis));
    let is_crossed = |all: &[GateAnswer]| all.iter().any(|j| j.is_crossed);
    let is_unknown = !unread.is_empty() || fail.iter().chain(&warn).any(|j| j.value.is_err());
    let (word, code) = if is_crossed(&fail) {
        ("CRITICAL", 2)
    } else if is_crossed(&warn) {
        ("WARNING", 1)
    } else if is_unknown {
        ("UNKNOWN", 3)
    } else {
        ("OK", 0)
    };
    let listed: Vec<&GateAnswer> = match code {
        2 => fail.iter().filter(|j| j.is_crossed).collect(),
        1 => warn.iter().filter(|j| j.is_crossed).collect(),
        _ => fail.iter().chain(&warn).collect(),
    };
    let mut text = format!("LOGS {word} - {} requests", analysis.lines.entries);
    for gate in listed {
        text += &format!("; {}: {}", gate.gate, words(gate));
    }
    for reason in unread {
        text += &format!("; {}", without(reason));
    }
    let line = format!(
        "{} | requests={} {}\n",
        nagios_text(&text),
        analysis.lines.entries,
        figures(&fail, &warn).join(" ")
    );
    NagiosStatus { line, code }
}

/// Returns the status of a check that could not run.
pub fn nagios_unknown(reason: &str) -> NagiosStatus {
    NagiosStatus {
        line: format!("LOGS UNKNOWN - {}\n", nagios_text(reason)),
        code: 3,
    }
}

/// Replaces characters that would end the text of a status: `|` begins the performance data.
fn nagios_text(text: &str) -> String {
    clean(text.trim_end()).replace(['|', '\n'], "/")
}

fn judge_all(gates: &[Gate], analysis: &LogAnalysis) -> Vec<GateAnswer> {
    gates.iter().map(|gate| gate.judge(analysis)).collect()
}

/// Returns the value of a gate, or the reason why there is none.
fn words(answer: &GateAnswer) -> String {
    match &answer.value {
        Ok(value) => wording::gate_value(answer.figure, *value),
        Err(problem) => wording::gate_problem(answer.figure, problem),
    }
}

/// Returns the reason why a log that could not be read to its end makes gates inconclusive.
fn without(reason: &str) -> String {
    wording::unread_log(&clean(reason))
}

/// Formats each metric once, as `'label'=value;warning;critical`.
fn figures(fail: &[GateAnswer], warn: &[GateAnswer]) -> Vec<String> {
    let mut figures: Vec<(String, f64, [String; 2])> = Vec::new();
    for (column, gates) in [warn, fail].into_iter().enumerate() {
        for (gate, value) in gates
            .iter()
            .filter_map(|j| Some((j, *j.value.as_ref().ok()?)))
        {
            let label = label(gate);
            let existing = figures.iter().position(|(other, ..)| *other == label);
            let row = existing.unwrap_or(figures.len());
            if existing.is_none() {
                figures.push((label, value, Default::default()));
            }
            figures[row].2[column] = range(gate);
        }
    }
    let figures = figures.into_iter();
    figures
        .map(|(label, value, [warn, fail])| format!("'{label}'={value};{warn};{fail}"))
        .collect()
}

/// Returns the metric of a gate, without the characters that end a label.
fn label(gate: &GateAnswer) -> String {
    let label = clean(&gate.name).replace(['\'', '=', '|'], "");
    label.trim().to_string()
}

/// Returns the range of values without an alert: up to a bound, or from a bound on (`10:`).
fn range(gate: &GateAnswer) -> String {
    let from = if gate.relation.is_upward() { "" } else { ":" };
    format!("{}{from}", gate.bound)
}

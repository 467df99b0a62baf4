// SPDX-License-Identifier: Apache-2.0
//! `--fail-if` and `--warn-if`: exit codes, and the line that Nagios reads.

use crate::cli::LogsArgs;
use crate::exit::{self, Exit};
use lab_logs::analysis::gate::{Gate, GateAnswer};
use lab_model::LogAnalysis;
use std::process::ExitCode;

fn judge_all(gates: &[Gate], analysis: &LogAnalysis) -> Vec<GateAnswer> {
    gates.iter().map(|gate| gate.judge(analysis)).collect()
}

/// Judges the gates. `failed`: logs that could not be read to their end, and why: their unread lines could
/// cross a gate. Errors: a gate is crossed, or cannot be judged.
pub fn judge(args: &LogsArgs, logs: Option<&LogAnalysis>, failed: &[String]) -> Result<(), Exit> {
    let judged = logs.map_or(Vec::new(), |analysis| judge_all(&args.fail_if, analysis));
    let texts = |is_listed: &dyn Fn(&GateAnswer) -> bool| -> Vec<String> {
        let listed = judged.iter().filter(|j| is_listed(j));
        listed
            .map(|j| format!("{}: {}", lab_document::clean(&j.gate), j.words))
            .collect()
    };
    let (crossed, mut unknown) = (texts(&|j| j.is_crossed), texts(&|j| j.value.is_none()));
    if !judged.is_empty() {
        unknown.extend(failed.iter().map(|reason| unread(reason)));
    }
    if !crossed.is_empty() {
        Err(Exit::new(exit::REGRESSION, crossed.join("\n")))
    } else if !unknown.is_empty() {
        Err(Exit::new(exit::UNDECIDED, unknown.join("\n")))
    } else {
        Ok(())
    }
}

/// Says that a gate is inconclusive because a log could not be read to its end.
fn unread(reason: &str) -> String {
    format!("not decided without {}", lab_document::clean(reason))
}

/// The line for Nagios on standard output, with its exit code: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. `failed`: logs
/// that could not be read to their end, and why.
///
/// Source: Monitoring Plugins Development Guidelines, *plugin output*, *return codes*.
pub fn nagios(args: &LogsArgs, analysis: &LogAnalysis, failed: &[String]) -> ExitCode {
    let (fail, warn) = (
        judge_all(&args.fail_if, analysis),
        judge_all(&args.warn_if, analysis),
    );
    let is_crossed = |all: &[GateAnswer]| all.iter().any(|j| j.is_crossed);
    let is_unknown = !failed.is_empty() || fail.iter().chain(&warn).any(|j| j.value.is_none());
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
    let mut line = format!("LOGS {word} - {} requests", analysis.lines.entries);
    for gate in listed {
        line += &format!("; {}: {}", gate.gate, gate.words);
    }
    for reason in failed {
        line += &format!("; {}", unread(reason));
    }
    // `|` begins the figures for machines.
    let line = lab_document::clean(&line).replace(['|', '\n'], "/");
    // The exit code says it too, if the pipe was closed.
    let _ = crate::output::to_stdout(
        format!(
            "{line} | requests={} {}\n",
            analysis.lines.entries,
            figures(&fail, &warn).join(" ")
        )
        .as_bytes(),
    );
    ExitCode::from(code)
}

/// Each figure once, as `'label'=value;warning;critical`.
fn figures(fail: &[GateAnswer], warn: &[GateAnswer]) -> Vec<String> {
    let mut figures: Vec<(String, f64, [String; 2])> = Vec::new();
    for (column, gates) in [warn, fail].into_iter().enumerate() {
        for (gate, value) in gates.iter().filter_map(|j| Some((j, j.value?))) {
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

/// The figure of a gate, without the characters that end a label.
fn label(gate: &GateAnswer) -> String {
    let figure = gate.gate.split(['<', '>']).next().unwrap_or("");
    let label = lab_document::clean(figure).replace(['\'', '=', '|'], "");
    label.trim().to_string()
}

/// The range of values that do not alert: up to a bound, or from it on (`10:`).
fn range(gate: &GateAnswer) -> String {
    let from = if gate.gate.contains('<') { ":" } else { "" };
    format!("{}{from}", gate.bound)
}

// SPDX-License-Identifier: Apache-2.0
//! Options for gates, and the exit code for their decisions.

use crate::exit;
use crate::options::DisplayArgs;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lab_document::{Document, clean, format};
use lab_model::{GateEffect, OnInconclusive};
use std::io::IsTerminal;
use std::process::ExitCode;

/// The option for inconclusive gates.
#[derive(Args, Default)]
pub struct InconclusiveArg {
    /// The effect of an inconclusive gate: `pass` ignores it, `warn` reports it, `fail` exits with code 4
    #[arg(
        id = "inconclusive",
        long = "inconclusive",
        default_value = "fail",
        value_name = "WHAT",
        value_parser = on_inconclusive()
    )]
    pub on: OnInconclusive,
}

fn on_inconclusive() -> impl TypedValueParser<Value = OnInconclusive> {
    PossibleValuesParser::new(["pass", "warn", "fail"]).try_map(|word| word.parse())
}

/// Reports gates that did not pass on standard error, unless the screen already shows them. Returns
/// the exit code.
pub fn exit_code(document: &Document) -> ExitCode {
    exit_code_of(document, std::io::stdout().is_terminal())
}

/// Does the same as [`exit_code`], for a document that was displayed according to `display`.
pub fn exit_code_displayed(document: &Document, display: &DisplayArgs) -> ExitCode {
    let on_screen = display.output.is_none() && display.format == format::terminal::FORMAT;
    exit_code_of(document, on_screen && std::io::stdout().is_terminal())
}

fn exit_code_of(document: &Document, is_shown: bool) -> ExitCode {
    let open = document.gates.iter();
    let open = open.filter(|gate| gate.effect != GateEffect::Pass && !is_shown);
    for gate in open {
        eprintln!("benchlab: {}", clean(&gate.sentence));
    }
    match document.gate_effect() {
        GateEffect::Pass | GateEffect::Warn => ExitCode::SUCCESS,
        GateEffect::Inconclusive => ExitCode::from(exit::INCONCLUSIVE),
        GateEffect::Fail => ExitCode::from(exit::REGRESSION),
    }
}

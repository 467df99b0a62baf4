// SPDX-License-Identifier: Apache-2.0
//! `--plan`: measures a short pilot and forecasts the duration of a run.

use crate::cli::Color;
use crate::exit::{self, Exit};
use crate::measuring;
use crate::verbs::report::{print, render, terminal};
use lab_bench::unix_seconds;
use lab_document::{Terminal, format};
use lab_model::{Measure, Plan};
use lab_store::RunWriter;
use std::process::ExitCode;

/// Measures `blocks` blocks of a plan into a temporary file, and prints how long the whole plan
/// would take.
pub fn forecast(
    plan: &Plan,
    blocks: u32,
    measure: impl FnOnce(&Plan, RunWriter) -> Result<(), Exit>,
) -> Result<ExitCode, Exit> {
    let pilot = Plan {
        measure: Measure {
            max_blocks: blocks,
            interim_analyses: Vec::new(),
            budget_ns: None,
            ..plan.measure.clone()
        },
        ..plan.clone()
    };
    let folder = measuring::scratch(None)?;
    let path = folder.folder().join("pilot.lab");
    let writer = RunWriter::create(&path, env!("CARGO_PKG_VERSION"), unix_seconds())?;
    writer.plan(&pilot)?;
    measure(&pilot, writer).map_err(|error| match error.code {
        exit::INTERRUPTED => Exit::interrupted("stopped; the pilot is not saved"),
        _ => error,
    })?;
    let run = lab_store::load(&path)?;
    let forecast = lab_stats::power::forecast(&run, plan)
        .map_err(|reason| Exit::failed(lab_report::forecast::no_forecast(&reason)))?;
    let document = lab_report::forecast::document(&forecast, plan);
    let all = Terminal {
        full: true,
        ..terminal(Color::Auto)
    };
    print(
        render(&document, format::terminal::FORMAT, all)?,
        format::terminal::FORMAT,
    )?;
    Ok(ExitCode::SUCCESS)
}

// SPDX-License-Identifier: Apache-2.0
//! Two runs of one experiment: what changed from the first to the second.

use super::exports::exports;
use crate::cli::Color;
use crate::exit::{self, Exit};
use crate::output::to_stdout;
use crate::verbs::report::{colour, write};
use lab_report::{BetweenReport, Format, Rendered, Terminal, render_between};
use lab_stats::between::{Recorded, between};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Compares the runs in two files: tables on standard output, and the exports. Nothing is written
/// if one of them cannot be had.
pub fn runs(first: &Path, second: &Path, files: &[PathBuf]) -> Result<ExitCode, Exit> {
    let exports = exports(files)?;
    let paths = [first, second];
    let [a, b] = [lab_store::load(first)?, lab_store::load(second)?];
    let [a_hashes, b_hashes] = [
        lab_store::recorded_hashes(first)?,
        lab_store::recorded_hashes(second)?,
    ];
    let (run, hashes) = (&a, &a_hashes);
    let before = Recorded { run, hashes };
    let (run, hashes) = (&b, &b_hashes);
    let after = Recorded { run, hashes };
    let found = between(before, after).map_err(|e| Exit::wrong(e.to_string()))?;
    let names = paths.map(|path| path.display().to_string());
    let report = BetweenReport {
        between: &found,
        runs: [&a, &b],
        files: [&names[0], &names[1]],
    };
    let rendered = exports
        .iter()
        .map(|&(file, format)| Ok((render(&report, format, false)?, file)))
        .collect::<Result<Vec<_>, Exit>>()?;
    for (rendered, file) in rendered {
        write(rendered, file)?;
    }
    match render(&report, Format::Terminal, colour(Color::Auto))? {
        Rendered::Text(text) => to_stdout(text.as_bytes())?,
        _ => unreachable!("the terminal's form is one text"),
    }
    Ok(ExitCode::SUCCESS)
}

fn render(report: &BetweenReport, format: Format, colour: bool) -> Result<Rendered, Exit> {
    let terminal = Terminal {
        colour,
        ..Terminal::default()
    };
    render_between(format, report, terminal).map_err(|e| match e {
        lab_report::Error::NoForm(_) => Exit::wrong(e.to_string()),
        e => Exit::new(exit::FAILED, e.to_string()),
    })
}

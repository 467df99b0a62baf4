// SPDX-License-Identifier: Apache-2.0
//! `benchlab report`: a run file as something to read.

use crate::cli::{Color, ReportArgs};
use crate::exit::{self, Exit};
use crate::output::to_stdout;
use lab_report::{Format, Rendered, Report, Terminal, xml};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

/// Shows a run.
pub fn report(args: &ReportArgs) -> Result<ExitCode, Exit> {
    let others = args
        .with
        .iter()
        .map(|p| lab_store::load(p))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some((path, _)) = args
        .with
        .iter()
        .zip(&others)
        .find(|(_, run)| run.imports.is_empty())
    {
        return Err(Exit::wrong(format!(
            "--with {}: it holds no imported figures; `benchlab import` makes such files",
            path.display()
        )));
    }
    let rendered = with_report(&args.file, &others, |report| match &args.output {
        // One file per subject is what earlier tools read.
        Some(path) if args.format == Format::Xml && path.is_dir() => xml::per_subject(report)
            .map(Rendered::Files)
            .map_err(refused),
        _ => render(report, args.format, colour(args.color)),
    })?;
    match &args.output {
        Some(path) => write(rendered, path)?,
        None => print(rendered, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// After a run: the HTML page beside the run file, and the tables on standard output.
pub fn after_run(path: &Path) -> Result<(), Exit> {
    with_report(path, &[], |report| show(report, path))
}

/// The same of a report that was made of a run file.
pub fn show(report: &Report, path: &Path) -> Result<(), Exit> {
    let page = path.with_extension("html");
    let html = render(report, Format::Html, false)?;
    let Rendered::Text(text) = render(report, Format::Terminal, colour(Color::Auto))? else {
        unreachable!("the terminal's form is one text")
    };
    write(html, &page)?;
    to_stdout(text.as_bytes())?;
    eprintln!("benchlab: the report is in {}", page.display());
    Ok(())
}

/// Loads and analyses a run once, for all that is made of it.
pub fn with_report<T>(
    path: &Path,
    others: &[lab_model::Run],
    make: impl FnOnce(&Report) -> Result<T, Exit>,
) -> Result<T, Exit> {
    let run = lab_store::load(path)?;
    let file = path.display().to_string();
    make(&Report {
        others,
        ..Report::new(&run, &file)
    })
}

/// A report in a format, 80 columns wide in a terminal's.
pub fn render(report: &Report, format: Format, colour: bool) -> Result<Rendered, Exit> {
    let terminal = Terminal {
        colour,
        ..Terminal::default()
    };
    lab_report::render(format, report, terminal).map_err(refused)
}

/// A form that a run does not have is a wrong command.
fn refused(error: lab_report::Error) -> Exit {
    match error {
        lab_report::Error::NoLoad(_) => Exit::wrong(error.to_string()),
        _ => Exit::new(exit::FAILED, error.to_string()),
    }
}

/// Writes a report to a file, or its files into a folder.
pub fn write(rendered: Rendered, path: &Path) -> Result<(), Exit> {
    let save = || match rendered {
        Rendered::Text(text) => std::fs::write(path, text),
        Rendered::Bytes(bytes) => std::fs::write(path, bytes),
        Rendered::Files(files) => {
            std::fs::create_dir_all(path)?;
            files
                .iter()
                .try_for_each(|f| std::fs::write(path.join(&f.name), &f.text))
        }
    };
    save().map_err(|e| Exit::new(exit::FAILED, format!("{}: {e}", path.display())))
}

fn print(rendered: Rendered, args: &ReportArgs) -> Result<(), Exit> {
    match rendered {
        Rendered::Text(text) => to_stdout(text.as_bytes()),
        Rendered::Bytes(_) if std::io::stdout().is_terminal() => Err(Exit::wrong(format!(
            "--format {} is not for a terminal: name a file with --output",
            args.format.name()
        ))),
        Rendered::Bytes(bytes) => to_stdout(&bytes),
        Rendered::Files(_) => Err(Exit::wrong(
            "--format svg makes several files: name a folder with --output",
        )),
    }
}

/// Whether standard output gets colours.
pub fn colour(wanted: Color) -> bool {
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
            std::io::stdout().is_terminal() && !refused
        }
    }
}

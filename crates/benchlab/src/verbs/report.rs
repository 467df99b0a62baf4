// SPDX-License-Identifier: Apache-2.0
//! `benchlab report`: shows a run file as a report.

use crate::any_run::load_any;
use crate::cli::{Color, DisplayArgs, ReportArgs};
use crate::exit::Exit;
use crate::gate;
use crate::github;
use crate::output::write_stdout;
use lab_bisect::BisectionFile;
use lab_document::Section;
use lab_document::format::terminal::section as terminal_section;
use lab_document::format::xml;
use lab_document::{Document, Format, Rendered, Terminal, format};
use lab_model::GateEffect;
use lab_report::Report;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

/// The code of the warning about an unfit host. Measuring commands print this warning before they
/// measure.
const UNFIT_HOST: &str = "unfit-host";

/// Shows a run or a bisection.
pub fn report(args: &ReportArgs) -> Result<ExitCode, Exit> {
    if let Some(file) = BisectionFile::find(&args.file) {
        return bisection(args, &file);
    }
    let others = args
        .with
        .iter()
        .map(|p| lab_store::load(p))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some((path, _)) = args
        .with
        .iter()
        .zip(&others)
        .find(|(_, run)| run.imports().is_empty())
    {
        return Err(Exit::invalid(format!(
            "--with {}: the file contains no imported values; `benchlab import` creates such files",
            path.display()
        )));
    }
    let terminal = Terminal {
        full: args.full || args.output.is_some(),
        ..terminal(args.color)
    };
    let rendered = with_report_without(&args.file, &args.without, &others, |report| {
        let document = lab_kinds::document(report);
        match &args.output {
            // Earlier tools read one file per subject.
            Some(path) if args.format == format::xml::FORMAT && path.is_dir() => {
                Ok(Rendered::Files(xml::per_subject(&document)))
            }
            _ => render(&document, args.format, terminal),
        }
    })?;
    deliver(rendered, args.format, args.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Shows a bisection.
fn bisection(args: &ReportArgs, file: &BisectionFile) -> Result<ExitCode, Exit> {
    if !args.without.is_empty() || !args.with.is_empty() {
        return Err(Exit::invalid(
            "--with and --without are for runs, and this is a bisection: leave them out",
        ));
    }
    let bisection = file.load()?;
    let document = lab_bisect::document(&bisection, &file.folder().display().to_string());
    let terminal = Terminal {
        full: args.full || args.output.is_some(),
        ..terminal(args.color)
    };
    let rendered = render(&document, args.format, terminal)?;
    deliver(rendered, args.format, args.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a report to the file of `--output`, or to standard output.
fn deliver(rendered: Rendered, format: Format, output: Option<&Path>) -> Result<(), Exit> {
    match output {
        Some(path) => write(rendered, path),
        None => print(rendered, format),
    }
}

/// Writes a document according to the options. A file always contains the full document.
pub fn deliver_document(document: &Document, display: &DisplayArgs) -> Result<(), Exit> {
    let (format, output) = (display.format, display.output.as_deref());
    let terminal = Terminal {
        full: display.full || output.is_some(),
        ..terminal(display.color)
    };
    deliver(render(document, format, terminal)?, format, output)
}

/// Writes the HTML page of a run next to the run file, and prints the result on standard output.
/// Returns the exit code of the run's gates.
pub fn after_run(path: &Path) -> Result<ExitCode, Exit> {
    with_report(path, &[], |report| {
        let document = lab_kinds::document(report);
        show(&document, path)?;
        Ok(gate::exit_code(&document))
    })
}

/// Prints the current result of a stopped run on standard output.
pub fn print_result_so_far(path: &Path) -> Result<(), Exit> {
    with_report(path, &[], |report| {
        print_result(&lab_kinds::document(report))
    })
}

/// Writes the HTML page next to a run file, and prints the result on standard output.
pub fn show(document: &Document, path: &Path) -> Result<(), Exit> {
    show_unless_quiet(document, path, false)
}

/// Writes the HTML page like [`show`], but prints the result only if `is_quiet` is false.
pub fn show_unless_quiet(document: &Document, path: &Path, is_quiet: bool) -> Result<(), Exit> {
    let page = path.with_extension("html");
    write(
        render(document, format::html::FORMAT, Terminal::default())?,
        &page,
    )?;
    // On a terminal, the message before measuring is still on the screen.
    let was_shown = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    if is_quiet {
        // `benchlab ci` writes a single report about all entries.
    } else if was_shown {
        print_result(&document.clone().without_findings(UNFIT_HOST))?;
    } else {
        print_result(document)?;
    }
    eprintln!("benchlab: the report is in {}", page.display());
    Ok(())
}

/// Prints the result on standard output.
pub fn print_result(document: &Document) -> Result<(), Exit> {
    match render(document, format::terminal::FORMAT, terminal(Color::Auto))? {
        Rendered::Text(text) => write_stdout(text.as_bytes()),
        _ => unreachable!("the terminal format is a single text"),
    }
}

/// Prints a section on standard output.
pub fn table(section: &Section) -> Result<(), Exit> {
    write_stdout(terminal_section(section, terminal(Color::Auto)).as_bytes())
}

/// Loads and analyzes a run once, and passes the run's report to `make`.
pub fn with_report<T>(
    path: &Path,
    others: &[lab_model::Run],
    make: impl FnOnce(&Report) -> Result<T, Exit>,
) -> Result<T, Exit> {
    with_report_without(path, &[], others, make)
}

/// Builds the report of a run without the data of `agents`, and passes it to `make`.
///
/// # Errors
/// Returns an error if an agent is unknown, or if no agent would be left.
fn with_report_without<T>(
    path: &Path,
    agents: &[String],
    others: &[lab_model::Run],
    make: impl FnOnce(&Report) -> Result<T, Exit>,
) -> Result<T, Exit> {
    let mut run = load_any(path)?;
    run.exclude_agents(agents)
        .map_err(|reason| Exit::invalid(format!("--without: {reason}")))?;
    let file = path.display().to_string();
    make(&Report {
        others,
        ..Report::new(&run, &file)
    })
}

/// Renders a document in a format.
pub fn render(document: &Document, format: Format, terminal: Terminal) -> Result<Rendered, Exit> {
    format.render(document, terminal).map_err(Exit::failed)
}

/// Writes the exports. If one cannot be written, the others still are.
///
/// # Errors
/// Returns an error that names each export that could not be written. If a gate determines the exit
/// code, this function prints the message instead and returns no error.
fn export(document: &Document, exports: &[(&Path, Format)]) -> Result<(), Exit> {
    let full = Terminal {
        full: true,
        ..Terminal::default()
    };
    let write = |&(file, format): &(&Path, Format)| write(render(document, format, full)?, file);
    let failed = exports.iter().filter_map(|export| write(export).err());
    let failed: Vec<String> = failed.map(|exit| exit.message).collect();
    match failed.join("; ") {
        failed if failed.is_empty() => Ok(()),
        failed if document.gate_effect() > GateEffect::Warn => {
            eprintln!("benchlab: {failed}");
            Ok(())
        }
        failed => Err(Exit::failed(failed)),
    }
}

/// Writes a document to the requested files, whether or not it could be shown. `shown` is the result
/// of showing it.
///
/// # Errors
/// Returns the error of showing the document or, otherwise, of writing it.
pub fn export_after(
    shown: Result<(), Exit>,
    document: &Document,
    exports: &[(&Path, Format)],
) -> Result<(), Exit> {
    let exported = export(document, exports);
    shown.and(exported)
}

/// Returns a terminal of 80 columns with colors according to `--color`.
pub fn terminal(color: Color) -> Terminal {
    Terminal {
        color: has_colors(color),
        ..Terminal::default()
    }
}

/// Writes a report to a file or, if the format has multiple files, to a directory.
pub fn write(rendered: Rendered, path: &Path) -> Result<(), Exit> {
    let save = || match rendered {
        Rendered::Text(text) => std::fs::write(path, text),
        Rendered::Bytes(bytes) => std::fs::write(path, bytes),
        Rendered::Annotated { summary, .. } => std::fs::write(path, summary),
        Rendered::Files(files) => {
            std::fs::create_dir_all(path)?;
            files
                .iter()
                .try_for_each(|f| std::fs::write(path.join(&f.name), &f.text))
        }
    };
    save().map_err(|e| Exit::failed(format!("{}: {e}", path.display())))
}

/// Writes a report to standard output.
pub fn print(rendered: Rendered, format: Format) -> Result<(), Exit> {
    match rendered {
        Rendered::Text(text) => write_stdout(text.as_bytes()),
        Rendered::Bytes(_) if std::io::stdout().is_terminal() => Err(Exit::invalid(format!(
            "refusing to write --format {} to a terminal: use --output FILE",
            format.name
        ))),
        Rendered::Bytes(bytes) => write_stdout(&bytes),
        Rendered::Annotated { commands, summary } => github::deliver(&commands, &summary),
        Rendered::Files(_) => Err(Exit::invalid(
            "--format svg creates multiple files: specify a directory with --output",
        )),
    }
}

/// Returns true if standard output may contain colors.
fn has_colors(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        // no-color.org, force-color.org and bixense.com/clicolors.
        Color::Auto => {
            let value = |name| std::env::var_os(name).filter(|v: &OsString| !v.is_empty());
            let is_forced = |name| value(name).is_some_and(|v| v != "0");
            if value("NO_COLOR").is_some() {
                false
            } else {
                is_forced("FORCE_COLOR")
                    || is_forced("CLICOLOR_FORCE")
                    || std::io::stdout().is_terminal()
            }
        }
    }
}

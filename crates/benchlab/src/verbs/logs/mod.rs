// SPDX-License-Identifier: Apache-2.0
//! `benchlab logs`: finds the pages and queries that cost the most.

pub mod args;
mod follow;
mod remote;
mod save;

use crate::cli::{Cli, LogsArgs};
use crate::exit::{self, Exit};
use crate::gate;
use crate::output::write_stdout;
use crate::verbs::report::deliver_document;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_bench::{interrupt, unix_seconds};
use lab_document::{Document, Gate, clean};
use lab_logs::gates::{judge, nagios, nagios_unknown};
use lab_logs::report::{Capacity, LogsReport, document};
use lab_logs::wording::capacity_problem;
use lab_logs::{LogSources, LogsSession};
use lab_model::{LogAnalysis, Run};
use std::path::Path;
use std::process::ExitCode;

/// A `benchlab logs` command in progress.
struct LogsCommand<'a> {
    args: &'a LogsArgs,
    session: LogsSession,
    began_unix_s: f64,
    /// The exit code of the first failed write, or 0 if all writes succeeded.
    exit_code: u8,
}

/// Reads the logs, saves the analysis, and reports it.
pub fn logs(cli: &Cli, args: &LogsArgs) -> Result<ExitCode, Exit> {
    let outcome = match args.nagios {
        true => check(args),
        false => read_and_report(cli, args).map(|(document, failed)| {
            let code = gate::exit_code_displayed(&document, &args.display);
            match failed {
                0 => code,
                failed => ExitCode::from(failed),
            }
        }),
    };
    outcome.or_else(|error| {
        if args.nagios && error.code != exit::INTERRUPTED {
            let status = nagios_unknown(&error.message);
            let _ = write_stdout(status.line.as_bytes());
            return Ok(ExitCode::from(status.code));
        }
        Err(error)
    })
}

/// Reads the logs and judges them for Nagios.
fn check(args: &LogsArgs) -> Result<ExitCode, Exit> {
    let mut command = read(args)?;
    let analysis = command.session.end();
    let unread = command.session.unread();
    let status = nagios(&args.fail_if, &args.warn_if, &analysis, unread);
    // If the pipe was closed, the exit code still shows the status.
    let _ = write_stdout(status.line.as_bytes());
    Ok(ExitCode::from(status.code))
}

/// Reads the logs, saves the analysis, and reports it. Returns the report and the exit code of the
/// first failed write, or 0 if all files were written.
pub fn read_and_report(cli: &Cli, args: &LogsArgs) -> Result<(Document, u8), Exit> {
    let mut command = read(args)?;
    let analysis = command.session.end();
    let unread = command.session.unread().to_vec();
    let gates = judge(&args.fail_if, &analysis, &unread).into_iter();
    let gates = gates.map(|gate| gate.with_inconclusive(args.inconclusive.on));
    let gates: Vec<Gate> = gates.collect();
    let run = Run {
        host: lab_host::describe(),
        gates: gates.iter().map(Gate::to_stored).collect(),
        ..command.run()
    };
    let file = if args.no_keep {
        None
    } else {
        command.ok_or_report(save::save(cli, args, &run, &analysis))
    };
    let mut document = command.document(&run, &analysis, file.as_deref())?;
    document.add_gates(gates);
    let page = match &file {
        Some(path) => command.ok_or_report(save::page(&document, path)),
        None => None,
    };
    if !args.quiet {
        command.ok_or_report(deliver_document(&document, &args.display));
    }
    if let Some(page) = page {
        eprintln!("benchlab: the report is in {}", page.display());
    }
    Ok((document, command.exit_code))
}

fn read(args: &LogsArgs) -> Result<LogsCommand<'_>, Exit> {
    args.check()?;
    let mut command = LogsCommand {
        args,
        session: LogsSession::new(&args.session_options())?,
        began_unix_s: unix_seconds(),
        exit_code: 0,
    };
    interrupt::watch().map_err(Exit::failed)?;
    command.read()?;
    Ok(command)
}

impl LogsCommand<'_> {
    /// Reads all logs according to the options, and reports logs that cannot be read to the end.
    fn read(&mut self) -> Result<(), Exit> {
        if let Some(on) = &self.args.agents.on {
            remote::read(self, &self.args.agents.lost.starting(&on.launcher))?;
        } else {
            let sources = LogSources::new(&self.args.logs, self.args.rotated);
            let sources = sources.map_err(Exit::invalid)?;
            sources.skipped.iter().for_each(|reason| report(reason));
            if self.args.follow {
                return follow::follow(self, &sources.all);
            }
            with_progress(|progress| self.session.read(&sources.all, progress))?;
            let ended = self.session.end_records().map_err(Exit::from);
            if let Some(Some(directory)) = self.ok_or_report(ended) {
                eprintln!("benchlab: the records are in {}", directory.display());
            }
        }
        self.report_unread();
        Ok(())
    }

    /// Reports logs that cannot be read to the end.
    fn report_unread(&self) {
        self.session
            .unread()
            .iter()
            .for_each(|reason| report(reason));
    }

    /// Returns the value of a successful write. Reports a failed write and returns `None`.
    ///
    /// A failed write, for example on a full disk, does not prevent other files from being written.
    fn ok_or_report<T>(&mut self, outcome: Result<T, Exit>) -> Option<T> {
        if let Err(e) = &outcome {
            report(&e.message);
            if self.exit_code == 0 {
                self.exit_code = e.code;
            }
        }
        outcome.ok()
    }

    /// Returns a run without data about the host, because the screens of `--follow` do not show the
    /// host.
    ///
    /// Reading a log is not a measurement, so a disturbed host does not matter.
    fn run(&self) -> Run {
        Run {
            name: "logs".into(),
            benchlab_version: env!("CARGO_PKG_VERSION").into(),
            started_unix_s: self.began_unix_s,
            ..Run::default()
        }
    }

    /// Builds the report on a run. `file` is the path of the run file, if the run is saved.
    fn document(
        &self,
        run: &Run,
        analysis: &LogAnalysis,
        file: Option<&Path>,
    ) -> Result<Document, Exit> {
        let capacity = self.args.capacity.as_deref();
        let capacity = capacity
            .map(|path| self.capacity(path, analysis))
            .transpose()?;
        let file = file.map(|path| path.display().to_string());
        Ok(document(&LogsReport {
            run,
            analysis,
            file: file.as_deref(),
            capacity: capacity.as_ref(),
        }))
    }

    fn capacity(&self, path: &Path, analysis: &LogAnalysis) -> Result<Capacity, Exit> {
        let (load, file) = (lab_store::load(path)?, path.display().to_string());
        let capacity = Capacity::new(analysis, &load, &file, self.args.p99_limit);
        capacity.map_err(|problem| {
            let reason = capacity_problem(problem);
            Exit::invalid(format!("--capacity {file}: {reason}"))
        })
    }
}

/// Prints a line on standard error.
fn report(text: &str) {
    eprintln!("benchlab: {}", clean(text));
}

/// Shows the progress of reading on a terminal.
fn with_progress<T, E>(
    read: impl FnOnce(&mut dyn FnMut(&str, u64) -> bool) -> Result<T, E>,
) -> Result<T, E> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
    let style = ProgressStyle::with_template(
        "{spinner} {binary_bytes} in {elapsed}, {binary_bytes_per_sec}  {wide_msg}",
    );
    bar.set_style(style.expect("the template is valid"));
    let outcome = read(&mut |log, bytes| {
        bar.set_message(clean(log));
        bar.set_position(bytes);
        !interrupt::requested()
    });
    bar.finish_and_clear();
    outcome
}

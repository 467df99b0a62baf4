// SPDX-License-Identifier: Apache-2.0
//! `benchlab logs`: finds the pages and queries that cost the most.

pub mod args;
mod database;
mod fetch;
mod follow;
mod gates;
mod keep;
mod releases;
mod remote;
mod sources;

use crate::cli::{Cli, LogsArgs};
use crate::exit::Exit;
use crate::verbs::report::deliver_document;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_bench::{interrupt, unix_seconds};
use lab_document::Document;
use lab_logs::analysis::capacity::room;
use lab_logs::report::{Capacity, LogsReport, document};
use lab_logs::{
    Advice, FieldMap, Hints, LogsRead, ReadError, Records, Rules, ServerLog, Tally, Zone, read,
};
use lab_model::{Content, LogAnalysis, Run};
use lab_stats::results::results;
use releases::Releases;
use sources::LogSource;
use std::path::Path;
use std::process::ExitCode;

/// A `benchlab logs` command in progress.
struct LogsCommand<'a> {
    args: &'a LogsArgs,
    hints: Hints,
    rules: Rules,
    tally: Tally,
    releases: Releases,
    /// The logs themselves: their sources, lines, and advice about them.
    logs_read: LogsRead,
    /// Logs that could not be read to their end, and why.
    failed: Vec<String>,
    began_unix_s: f64,
    /// The exit code of the first thing that could not be written; 0: all was written.
    exit_code: u8,
}

/// Reads the logs, keeps the analysis, and reports it.
pub fn logs(cli: &Cli, args: &LogsArgs) -> Result<ExitCode, Exit> {
    check_records(args)?;
    let mut command = LogsCommand::new(args)?;
    interrupt::watch().map_err(Exit::failed)?;
    match &args.agents.on {
        Some(launcher) => remote::read(&mut command, &args.agents.lost.starting(launcher))?,
        None => {
            let sources = sources::sources(&args.logs, args.rotated)?;
            if args.follow {
                follow::follow(&mut command, &sources)?;
            } else {
                command.keep_records()?;
                command.read_all(&sources)?;
                command.end_records();
            }
        }
    }
    let analysis = command.all_logs();
    if args.nagios {
        return Ok(gates::nagios(args, &analysis, &command.failed));
    }
    let run = command.run(analysis);
    let file = if args.no_keep {
        None
    } else {
        command.ok_or_report(keep::keep(cli, args, &run))
    };
    let document = command.document(&run, file.as_deref())?;
    let page = match &file {
        Some(path) => command.ok_or_report(keep::page(&document, path)),
        None => None,
    };
    command.ok_or_report(show(args, &document));
    if let Some(page) = page {
        eprintln!("benchlab: the report is in {}", page.display());
    }
    gates::judge(args, run.logs(), &command.failed)?;
    Ok(ExitCode::from(command.exit_code))
}

/// Rejects `--parquet` where benchlab cannot keep records. Error: says what to do instead.
fn check_records(args: &LogsArgs) -> Result<(), Exit> {
    let message = match (&args.parquet, &args.agents.on, args.follow) {
        (Some(_), Some(_), _) => {
            "--parquet: records stay where the logs lie: call it on each machine, without --on, as in \
             `ssh web1 benchlab logs --parquet host=web1 LOG`; docs/guides/many.md has the query for all of them"
        }
        (Some(_), None, true) => {
            "--parquet: a Parquet file is complete at its end: leave --follow out, and call it again for what is rotated"
        }
        _ => return Ok(()),
    };
    Err(Exit::wrong(message))
}

/// Writes the document as the options say.
fn show(args: &LogsArgs, document: &Document) -> Result<(), Exit> {
    deliver_document(document, &args.display)
}

impl<'a> LogsCommand<'a> {
    /// Nothing read yet. Errors: rules, a zone or a release cannot be understood.
    fn new(args: &'a LogsArgs) -> Result<LogsCommand<'a>, Exit> {
        let rules = match &args.rules {
            Some(path) => {
                let error = |reason: String| Exit::wrong(format!("{}: {reason}", path.display()));
                let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()))?;
                Rules::new(&text).map_err(error)?
            }
            None => Rules::default(),
        };
        let zone = match &args.zone {
            Some(name) => Zone::named(name).map_err(Exit::wrong)?,
            None => Zone::default(),
        };
        let fields = args.fields.as_deref().map(FieldMap::new).transpose();
        let fields = fields.map_err(|reason| Exit::wrong(format!("--fields: {reason}")))?;
        let mut tally = Tally::new(rules.clone());
        if args.logs.len() > 1 {
            tally.keep_every_second();
        }
        Ok(LogsCommand {
            args,
            hints: Hints {
                fields: fields.unwrap_or_default(),
                format: args.log_format.clone(),
                unit: args.duration_unit,
                zone,
            },
            tally,
            rules,
            releases: Releases::new(args)?,
            logs_read: LogsRead::default(),
            failed: Vec::new(),
            began_unix_s: unix_seconds(),
            exit_code: 0,
        })
    }

    /// Begins to keep the entries themselves, if `--parquet` asks for it.
    fn keep_records(&mut self) -> Result<(), Exit> {
        let Some(folder) = &self.args.parquet else {
            return Ok(());
        };
        let records = Records::create(folder);
        let error = |e| Exit::wrong(format!("--parquet {}: {e}", folder.display()));
        self.tally.keep_records(records.map_err(error)?);
        Ok(())
    }

    fn end_records(&mut self) {
        let Some(folder) = &self.args.parquet else {
            return;
        };
        let place = folder.display();
        let failed = |e| Exit::failed(format!("--parquet {place}: {e}"));
        let ended = self.tally.end_records().map_err(failed);
        if self.ok_or_report(ended).is_some() {
            eprintln!("benchlab: the records are in {place}");
        }
    }

    /// The value; `None` after reporting that something could not be written, as on a full disk: the rest still is.
    fn ok_or_report<T>(&mut self, outcome: Result<T, Exit>) -> Option<T> {
        if let Err(e) = &outcome {
            eprintln!("benchlab: {}", lab_document::clean(&e.message));
            if self.exit_code == 0 {
                self.exit_code = e.code;
            }
        }
        outcome.ok()
    }

    /// Reads all logs. One that cannot be read to its end is reported, and the others are read. Errors: none
    /// could be read, or benchlab was interrupted.
    fn read_all(&mut self, sources: &[LogSource]) -> Result<(), Exit> {
        let (log, failed) = self.read_files(sources)?;
        if let Some(mut log) = log {
            log.close(&mut self.tally);
            self.logs_read.merge(log.logs_read());
        }
        if self.logs_read.lines.entries == 0 && !failed.is_empty() {
            return Err(Exit::wrong(failed.join("\n")));
        }
        self.note_failed(failed);
        Ok(())
    }

    /// Reads files one after the other. Returns the log, which can go on in another file, and the errors of
    /// files that could not be read to their end. Error: benchlab was interrupted.
    fn read_files(
        &mut self,
        sources: &[LogSource],
    ) -> Result<(Option<ServerLog>, Vec<String>), Exit> {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        let style = ProgressStyle::with_template(
            "{spinner} {binary_bytes} in {elapsed}, {binary_bytes_per_sec}  {wide_msg}",
        );
        bar.set_style(style.expect("the template is sound"));
        let mut failed = Vec::new();
        let mut read: Option<ServerLog> = None;
        let mut before = 0;
        for source in sources {
            bar.set_message(lab_document::clean(&source.name));
            let log = match &mut read {
                Some(log) => {
                    log.begin_file(&source.name);
                    log
                }
                None => read.insert(ServerLog::new(&source.name, &self.hints)),
            };
            self.tally.begin_log(&source.name);
            let mut progress = |bytes: u64| {
                bar.set_position(before + bytes);
                !interrupt::requested()
            };
            let outcome = match source.database() {
                Some((kind, url)) => database::read(kind, url, log, &mut self.tally),
                None => match source.open() {
                    Ok(input) => read::read(input, log, &mut self.tally, &mut progress),
                    Err(e) => Err(e.into()),
                },
            };
            let is_stopped = matches!(outcome, Err(ReadError::Stopped)) || interrupt::requested();
            if let Err(reason) = outcome
                && !is_stopped
            {
                failed.push(format!("{}: {reason}", source.name));
            }
            before += log.source.bytes;
            if is_stopped {
                bar.finish_and_clear();
                return Err(Exit::interrupted("stopped; nothing was kept"));
            }
        }
        bar.finish_and_clear();
        Ok((read, failed))
    }

    /// Reports logs that could not be read to their end, now and in the report.
    fn note_failed(&mut self, failed: Vec<String>) {
        for reason in failed {
            eprintln!("benchlab: {}", lab_document::clean(&reason));
            let advice = format!("Not read to its end: {reason}.");
            self.logs_read.advice.push(advice.into());
            self.failed.push(reason);
        }
    }

    /// All that was counted so far.
    fn analysis(&mut self) -> LogAnalysis {
        let sources = self.logs_read.sources.clone();
        let analysis = self.tally.analysis(sources, self.logs_read.lines);
        self.with_logs(analysis)
    }

    /// The same at the end: memory that only counting needs is freed.
    fn all_logs(&mut self) -> LogAnalysis {
        let sources = self.logs_read.sources.clone();
        let tally = std::mem::replace(&mut self.tally, Tally::new(self.rules.clone()));
        self.with_logs(tally.into_analysis(sources, self.logs_read.lines))
    }

    /// Adds the releases and the facts about the logs themselves.
    fn with_logs(&self, analysis: LogAnalysis) -> LogAnalysis {
        LogAnalysis {
            resolution_ns: self.logs_read.step_ns,
            releases: self.releases.of(&analysis),
            advice: self.logs_read.advice.iter().map(Advice::sentence).collect(),
            assumptions: self.logs_read.assumptions.clone(),
            ..analysis
        }
    }

    /// A run that holds the analysis. Reading a log measures nothing, so nothing can disturb it.
    fn run(&self, analysis: LogAnalysis) -> Run {
        Run {
            host: lab_host::describe(),
            ..self.run_without_host(analysis)
        }
    }

    /// The same without inspecting the host, for a screen that is redrawn each second.
    fn run_without_host(&self, analysis: LogAnalysis) -> Run {
        Run {
            name: "logs".into(),
            lab_version: env!("CARGO_PKG_VERSION").into(),
            started_unix_s: self.began_unix_s,
            content: Content::Logs(Box::new(analysis)),
            ..Run::default()
        }
    }

    /// The report on a run. `file`: its run file, if it is kept.
    fn document(&self, run: &Run, file: Option<&Path>) -> Result<Document, Exit> {
        let Some(analysis) = run.logs() else {
            return Ok(Document::default());
        };
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
        let error =
            |reason: String| Exit::wrong(format!("--capacity {}: {reason}", path.display()));
        let load = lab_store::load(path)?;
        if load.plan().and_then(|plan| plan.load()).is_none() {
            return Err(error("it is no run of `benchlab load`".into()));
        }
        let limit_ns = self.args.p99_limit.as_nanos() as f64;
        Ok(Capacity {
            room: room(analysis, &results(&load), limit_ns).map_err(error)?,
            file: path.display().to_string(),
            limit_ns,
        })
    }
}

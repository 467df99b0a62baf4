// SPDX-License-Identifier: Apache-2.0
//! Logs that are read by one command: options in, figures out.

use crate::format::{FieldMap, Hints};
use crate::log_source::LogSource;
use crate::logs_error::LogsError;
use crate::logs_read::LogsRead;
use crate::read::{self, ServerLog};
use crate::read_error::ReadError;
use crate::records::Records;
use crate::releases::Releases;
use crate::rules::Rules;
use crate::statements;
use crate::tally::Tally;
use crate::time::Zone;
use lab_model::{LogAdvice, LogAnalysis};
use std::path::{Path, PathBuf};

/// The options of a session, as the user wrote them.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The logs: paths, URLs, `-` for standard input.
    pub logs: Vec<String>,
    /// The format of the logs, as the server's configuration has it; `None`: it is detected.
    pub log_format: Option<String>,
    /// The unit of durations where the format does not state it, ns.
    pub duration_unit: Option<u64>,
    /// The fields that hold what, of lines whose fields have names.
    pub fields: Option<String>,
    /// The zone of times without an offset.
    pub zone: Option<String>,
    /// A file of routes, bots and health checks.
    pub rules: Option<PathBuf>,
    /// Releases, `TIME=NAME` each.
    pub releases: Vec<String>,
    /// A git repository whose tags are releases.
    pub git_tags: Option<PathBuf>,
    /// The directory of the records.
    pub parquet: Option<PathBuf>,
}

/// Called while logs are read, with the name of the log and the bytes of all logs so far. Returns false to stop.
pub type Progress<'p> = &'p mut dyn FnMut(&str, u64) -> bool;

/// Logs that are read, and all that is counted of them.
pub struct LogsSession {
    pub(crate) hints: Hints,
    pub(crate) tally: Tally,
    /// The logs themselves: their sources, lines, and advice about them.
    pub(crate) logs_read: LogsRead,
    rules: Rules,
    releases: Releases,
    parquet: Option<PathBuf>,
    unread: Vec<String>,
}

impl LogsSession {
    /// A session that has read nothing. Errors: rules, a zone, a field or a release cannot be parsed, or the rules or the
    /// repository cannot be read.
    pub fn new(options: &SessionOptions) -> Result<LogsSession, LogsError> {
        let rules = match &options.rules {
            Some(path) => {
                let error = |reason: String| format!("{}: {reason}", path.display());
                let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()));
                text.and_then(|text| Rules::new(&text).map_err(error))
                    .map_err(LogsError::Wrong)?
            }
            None => Rules::default(),
        };
        let zone = options.zone.as_deref();
        let fields = options.fields.as_deref().map(FieldMap::new).transpose();
        let fields = fields.map_err(|reason| LogsError::Wrong(format!("--fields: {reason}")))?;
        let parsed_zone = zone.map(Zone::named).transpose();
        let parsed_zone = parsed_zone.map_err(LogsError::Wrong)?.unwrap_or_default();
        let releases = Releases::new(&options.releases, options.git_tags.as_deref(), zone);
        let mut tally = Tally::new(rules.clone());
        if options.logs.len() > 1 {
            tally.keep_every_second();
        }
        Ok(LogsSession {
            hints: Hints {
                fields: fields.unwrap_or_default(),
                format: options.log_format.clone(),
                unit: options.duration_unit,
                zone: parsed_zone,
            },
            tally,
            rules,
            releases: releases.map_err(LogsError::Wrong)?,
            parquet: options.parquet.clone(),
            logs_read: LogsRead::default(),
            unread: Vec::new(),
        })
    }

    /// Reads all logs. One that cannot be read to its end is noted in [`LogsSession::unread`], and the others are read.
    /// Errors: none could be read, the records cannot be kept, or the user stopped it.
    pub fn read(&mut self, sources: &[LogSource], progress: Progress) -> Result<(), LogsError> {
        if let Some(directory) = &self.parquet {
            let records = Records::create(directory);
            self.tally
                .keep_records(records.map_err(|e| LogsError::Wrong(of_records(directory, e)))?);
        }
        self.read_to_end(sources, progress)
    }

    /// Ends the records, and returns their directory, if they are kept. Error: they cannot be written.
    pub fn end_records(&mut self) -> Result<Option<PathBuf>, LogsError> {
        let Some(directory) = self.parquet.take() else {
            return Ok(None);
        };
        let ended = self.tally.end_records();
        ended.map_err(|e| LogsError::Failed(of_records(&directory, e)))?;
        Ok(Some(directory))
    }

    /// Reads logs to their end, without records.
    pub(crate) fn read_to_end(
        &mut self,
        sources: &[LogSource],
        progress: Progress,
    ) -> Result<(), LogsError> {
        let mut failed = Vec::new();
        if let Some(mut log) = self.read_files(sources, &mut failed, progress)? {
            log.close(&mut self.tally);
            self.logs_read.merge(log.logs_read());
        }
        self.add_unread(failed)
    }

    /// Reads files one after the other. Returns the log, which can go on in another file; logs that cannot be read to
    /// their end are added to `failed`. Error: the user stopped it.
    pub(crate) fn read_files(
        &mut self,
        sources: &[LogSource],
        failed: &mut Vec<String>,
        progress: Progress,
    ) -> Result<Option<ServerLog>, LogsError> {
        let mut read: Option<ServerLog> = None;
        let mut before = 0;
        for source in sources {
            if !progress(&source.name, before) {
                return Err(LogsError::Stopped);
            }
            let log = match &mut read {
                Some(log) => {
                    log.begin_file(&source.name);
                    log
                }
                None => read.insert(ServerLog::new(&source.name, &self.hints)),
            };
            self.tally.begin_log(&source.name);
            let outcome = match source.database() {
                Some((kind, url)) => statements::read(kind, url, log, &mut self.tally),
                None => match source.open() {
                    Ok(input) => {
                        let mut go_on = |bytes: u64| progress(&source.name, before + bytes);
                        read::read(input, log, &mut self.tally, &mut go_on)
                    }
                    Err(e) => Err(e.into()),
                },
            };
            before += log.source.bytes;
            if matches!(outcome, Err(ReadError::Stopped)) || !progress(&source.name, before) {
                return Err(LogsError::Stopped);
            }
            if let Err(reason) = outcome {
                failed.push(format!("{}: {reason}", source.name));
            }
        }
        Ok(read)
    }

    /// Has agents' counts put together in [`LogsSession::add_agents`]; the tally to which they are added.
    pub fn tally_of_agents(&mut self) -> &mut Tally {
        self.tally = Tally::in_parts(self.rules.clone());
        &mut self.tally
    }

    /// Adds what agents report of the logs that they read; `failed`: those that they could not read to their end. Error:
    /// none could be read.
    pub fn add_agents(&mut self, read: LogsRead, failed: Vec<String>) -> Result<(), LogsError> {
        self.logs_read.merge(read);
        self.add_unread(failed)
    }

    fn add_unread(&mut self, failed: Vec<String>) -> Result<(), LogsError> {
        if self.logs_read.lines.entries == 0 && !failed.is_empty() {
            return Err(LogsError::Wrong(failed.join("\n")));
        }
        self.note_unread(failed);
        Ok(())
    }

    pub(crate) fn note_unread(&mut self, failed: Vec<String>) {
        for reason in failed {
            self.logs_read.advice.push(LogAdvice::Unread {
                reason: reason.clone(),
            });
            self.unread.push(reason);
        }
    }

    /// Logs that could not be read to their end, and why.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Requests and statements so far.
    pub fn entries(&self) -> u64 {
        self.tally.entries()
    }

    /// Lines so far.
    pub fn lines(&self) -> u64 {
        self.logs_read.lines.all
    }

    /// The figures so far.
    pub fn analysis(&mut self) -> LogAnalysis {
        let sources = self.logs_read.sources.clone();
        let analysis = self.tally.analysis(sources, self.logs_read.lines);
        self.with_logs(analysis)
    }

    /// The figures at the end: memory that only counting needs is freed.
    pub fn end(&mut self) -> LogAnalysis {
        let sources = self.logs_read.sources.clone();
        let tally = std::mem::replace(&mut self.tally, Tally::new(self.rules.clone()));
        self.with_logs(tally.into_analysis(sources, self.logs_read.lines))
    }

    /// Adds releases, and what is known of the logs themselves.
    fn with_logs(&self, analysis: LogAnalysis) -> LogAnalysis {
        LogAnalysis {
            resolution_ns: self.logs_read.step_ns,
            releases: self.releases.in_log(&analysis),
            advice: self.logs_read.advice.clone(),
            assumptions: self.logs_read.assumptions.clone(),
            ..analysis
        }
    }
}

fn of_records(directory: &Path, e: std::io::Error) -> String {
    format!("--parquet {}: {e}", directory.display())
}

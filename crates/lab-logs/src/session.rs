// SPDX-License-Identifier: Apache-2.0
//! A session reads the logs of one command.

use crate::analysis::gate::{missing_durations, missing_times, sum};
use crate::format::{FieldMap, Hints};
use crate::log_source::LogSource;
use crate::logs_error::LogsError;
use crate::logs_read::LogsRead;
use crate::read::{self, ServerLog};
use crate::read_error::ReadError;
use crate::records::Records;
use crate::releases::Releases;
use crate::rotation::missing_files;
use crate::rules::Rules;
use crate::statements;
use crate::tally::Tally;
use crate::time::Zone;
use lab_model::{LogAdvice, LogAnalysis, LogAssumption, PageKind};
use std::path::{Path, PathBuf};

/// The options of a session, as the user wrote them.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The logs: paths, URLs, or `-` for standard input.
    pub logs: Vec<String>,
    /// The format of the logs in the server's configuration syntax. `None` means that it is
    /// detected.
    pub log_format: Option<String>,
    /// The unit of durations in ns, for formats that do not define it.
    pub duration_unit: Option<u64>,
    /// The roles of fields, for lines with named fields.
    pub fields: Option<String>,
    /// The server's time zone, for timestamps without an offset.
    pub zone: Option<String>,
    /// A file with rules for routes, bots and health checks.
    pub rules: Option<PathBuf>,
    /// Releases in the form `TIME=NAME`.
    pub releases: Vec<String>,
    /// A git repository whose tags are releases.
    pub git_tags: Option<PathBuf>,
    /// The directory for Parquet files with the individual entries.
    pub parquet: Option<PathBuf>,
}

/// A progress callback, called with the name of the log and the total number of bytes read.
///
/// The callback returns false to stop.
pub type Progress<'p> = &'p mut dyn FnMut(&str, u64) -> bool;

/// The logs of one command, with their counts.
pub struct LogsSession {
    pub(crate) hints: Hints,
    pub(crate) tally: Tally,
    /// The facts about the logs: sources, lines, advice and assumptions.
    pub(crate) logs_read: LogsRead,
    rules: Rules,
    releases: Releases,
    parquet: Option<PathBuf>,
    unread: Vec<String>,
}

impl LogsSession {
    /// Creates a session that has read nothing yet.
    ///
    /// Returns an error if the rules, the zone, a field or a release is malformed, or if the rules
    /// or the repository cannot be read.
    pub fn new(options: &SessionOptions) -> Result<LogsSession, LogsError> {
        let rules = match &options.rules {
            Some(path) => {
                let error = |reason: String| format!("{}: {reason}", path.display());
                let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()));
                text.and_then(|text| Rules::new(&text).map_err(error))
                    .map_err(LogsError::Invalid)?
            }
            None => Rules::default(),
        };
        let zone = options.zone.as_deref();
        let fields = options.fields.as_deref().map(FieldMap::new).transpose();
        let fields = fields.map_err(|reason| LogsError::Invalid(format!("--fields: {reason}")))?;
        let parsed_zone = zone.map(Zone::named).transpose();
        let parsed_zone = parsed_zone.map_err(LogsError::Invalid)?.unwrap_or_default();
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
            releases: releases.map_err(LogsError::Invalid)?,
            parquet: options.parquet.clone(),
            logs_read: LogsRead::default(),
            unread: Vec::new(),
        })
    }

    /// Reads all logs.
    ///
    /// A log that cannot be read to its end is noted in [`LogsSession::unread`], and reading
    /// continues with the next log. Returns an error if no log could be read, if the records cannot
    /// be created, or if the user interrupted the program.
    pub fn read(&mut self, sources: &[LogSource], progress: Progress) -> Result<(), LogsError> {
        if let Some(directory) = &self.parquet {
            let records = Records::create(directory);
            self.tally
                .keep_records(records.map_err(|e| LogsError::Invalid(of_records(directory, e)))?);
        }
        self.read_to_end(sources, progress)
    }

    /// Finishes the records, and returns their directory if records are written.
    ///
    /// Returns an error if they cannot be written.
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

    /// Reads files one after the other. Returns the log, which another file can continue.
    ///
    /// Logs that cannot be read to their end are added to `failed`. Returns an error if the user
    /// interrupted the program.
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

    /// Prepares for [`LogsSession::add_agents`], and returns the tally that merges the agents'
    /// counts.
    pub fn tally_of_agents(&mut self) -> &mut Tally {
        self.tally = Tally::in_parts(self.rules.clone());
        &mut self.tally
    }

    /// Adds the facts that agents report about their logs. `failed` lists the logs that were not
    /// read to their end.
    ///
    /// Returns an error if no log could be read.
    pub fn add_agents(&mut self, read: LogsRead, failed: Vec<String>) -> Result<(), LogsError> {
        self.logs_read.merge(read);
        self.add_unread(failed)
    }

    fn add_unread(&mut self, failed: Vec<String>) -> Result<(), LogsError> {
        if self.logs_read.lines.entries == 0 && !failed.is_empty() {
            return Err(LogsError::Invalid(failed.join("\n")));
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

    /// Returns the logs that could not be read to their end, with the reasons.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Returns the number of requests and statements so far.
    pub fn entries(&self) -> u64 {
        self.tally.entries()
    }

    /// Returns the number of lines so far.
    pub fn lines(&self) -> u64 {
        self.logs_read.lines.all
    }

    /// Returns the analysis of the entries so far.
    pub fn analysis(&mut self) -> LogAnalysis {
        let sources = self.logs_read.sources.clone();
        let analysis = self.tally.analysis(sources, self.logs_read.lines);
        self.with_logs(analysis)
    }

    /// Returns the final analysis, and frees the memory that only counting needs.
    pub fn end(&mut self) -> LogAnalysis {
        let sources = self.logs_read.sources.clone();
        let tally = std::mem::replace(&mut self.tally, Tally::new(self.rules.clone()));
        self.with_logs(tally.into_analysis(sources, self.logs_read.lines))
    }

    /// Adds the releases, and the facts about the logs.
    fn with_logs(&self, analysis: LogAnalysis) -> LogAnalysis {
        let names = self
            .logs_read
            .sources
            .iter()
            .map(|source| source.name.as_str());
        let missing = missing_files(names).into_iter();
        let missing = missing.map(|(log, numbers)| LogAdvice::FilesMissing { log, numbers });
        let mut assumptions = self.logs_read.assumptions.clone();
        assumptions.extend(missing_durations(&sum(&analysis, PageKind::Page)));
        let is_double =
            |a: &LogAssumption| matches!(a, LogAssumption::StatementsCountedTwice { .. });
        if !assumptions.iter().any(is_double) {
            assumptions.extend(missing_durations(&sum(&analysis, PageKind::Query)));
        }
        assumptions.extend(missing_times(&analysis));
        LogAnalysis {
            resolution_ns: self.logs_read.step_ns,
            releases: self.releases.in_log(&analysis),
            advice: missing
                .chain(self.logs_read.advice.iter().cloned())
                .collect(),
            assumptions,
            ..analysis
        }
    }
}

fn of_records(directory: &Path, e: std::io::Error) -> String {
    format!("--parquet {}: {e}", directory.display())
}

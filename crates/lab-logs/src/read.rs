// SPDX-License-Identifier: Apache-2.0
//! Reads bytes, splits them into lines and parses the entries.
//!
//! The input may have any content: it may be compressed, truncated, binary or endless.

use crate::decompression::decompressed;
use crate::documents;
use crate::entry::{Entry, LineKind};
use crate::format::{Hints, LogFormat, LogReader, WholeLog, find};
use crate::logs_read::LogsRead;
use crate::read_error::ReadError;
#[cfg(target_arch = "x86_64")]
use crate::registers::Avx2;
use crate::registers::{self, Baseline, RegisterWidth};
use crate::rotation::{is_consecutive, is_same_log};
use crate::tally::Tally;
use lab_model::{LineCounts, LogAdvice, LogFile};
use memchr::memchr;
use std::io::{self, Read};
use std::ops::Range;

/// The number of bytes per read.
const CHUNK: usize = 256 << 10;
/// The maximum length of a line, in bytes. A longer line is counted and skipped.
pub const MAX_LINE: usize = 64 << 10;
/// The number of bytes used to detect the format.
const SAMPLE_BYTES: usize = 64 << 10;
/// The number of bytes between two calls to `progress`.
const PROGRESS: u64 = 32 << 20;

/// The range of text ahead of the current position that is prefetched with each line, in bytes.
const FETCHED: Range<usize> = 2048..2048 + 256;
/// The number of bytes per prefetch.
const CACHE_LINE: usize = 64;

/// Parses the files of a log one after the other, chunk by chunk.
///
/// If a file continues the previous file, as after a rotation, parsing continues with the state at
/// the end of the previous file.
pub struct ServerLog {
    /// The current file.
    pub source: LogFile,
    /// The line counts of all files.
    pub lines: LineCounts,
    hints: Hints,
    /// The facts about the previous files.
    ended: LogsRead,
    /// The total number of lines in the previous files.
    lines_before: u64,
    reader: Option<LogReader>,
    /// The reader of the previous file, until the format of the current file is known.
    previous: Option<LogReader>,
    /// The name of the previous file.
    previous_name: String,
    /// The beginning of an incomplete line or, before the format is known, all bytes so far.
    part: Vec<u8>,
    /// True while the rest of a line that is too long is skipped.
    skips_line: bool,
    /// True if the lines of the current file end with carriage returns.
    has_carriage_returns: bool,
    /// True if the lines of the previous file ended with carriage returns.
    had_carriage_returns: bool,
}

impl ServerLog {
    /// Creates a log. `name` is the name of its first file.
    pub fn new(name: &str, hints: &Hints) -> ServerLog {
        ServerLog {
            source: LogFile {
                name: name.into(),
                ..LogFile::default()
            },
            lines: LineCounts::default(),
            hints: hints.clone(),
            ended: LogsRead::default(),
            lines_before: 0,
            reader: None,
            previous: None,
            previous_name: String::new(),
            part: Vec::new(),
            skips_line: false,
            has_carriage_returns: false,
            had_carriage_returns: false,
        }
    }

    /// Begins the next file, after [`ServerLog::end_file`].
    pub fn begin_file(&mut self, name: &str) {
        if let Some(reader) = self.reader.take() {
            self.source.format = reader.description();
            self.previous = Some(reader);
            self.previous_name.clone_from(&self.source.name);
        }
        self.part.clear();
        self.skips_line = false;
        self.had_carriage_returns = std::mem::take(&mut self.has_carriage_returns);
        self.source.lines = self.lines.all - self.lines_before;
        self.lines_before = self.lines.all;
        let source = LogFile {
            name: name.into(),
            ..LogFile::default()
        };
        let ended = std::mem::replace(&mut self.source, source);
        self.ended.sources.push(ended);
    }

    /// Returns the facts about all files so far.
    pub fn logs_read(&self) -> LogsRead {
        let mut logs = self.ended.clone();
        let mut source = LogFile {
            lines: self.lines.all - self.lines_before,
            ..self.source.clone()
        };
        if let Some(reader) = &self.reader {
            source.format = reader.description();
        }
        let readers = self.previous.iter().chain(&self.reader);
        readers.for_each(|reader| logs.add_reader(reader));
        logs.sources.push(source);
        logs.lines = self.lines;
        logs
    }

    /// Parses the next bytes. Returns an error if the format is unknown.
    pub fn push(&mut self, bytes: &[u8], tally: &mut Tally) -> Result<(), ReadError> {
        self.source.bytes += bytes.len() as u64;
        let mut bytes = bytes;
        if self.reader.is_none() {
            let missing = SAMPLE_BYTES.saturating_sub(self.part.len());
            let first;
            (first, bytes) = bytes.split_at(missing.min(bytes.len()));
            self.part.extend(first);
            if self.part.len() < SAMPLE_BYTES {
                return Ok(());
            }
            self.begin(tally)?;
        }
        if self.has_carriage_returns {
            self.read_lines(&with_line_feeds(bytes), tally);
        } else {
            self.read_lines(bytes, tally);
        }
        Ok(())
    }

    /// Detects the format from the bytes so far. Returns an error if it is unknown.
    fn begin(&mut self, tally: &mut Tally) -> Result<(), ReadError> {
        if self.reader.is_some() {
            return Ok(());
        }
        let is_next = is_same_log(&self.previous_name, &self.source.name);
        // The next file of a log has the same line ends.
        let has_line_feeds = is_next && self.lines.all > 0 && !self.had_carriage_returns;
        self.has_carriage_returns = !has_line_feeds && ends_with_carriage_returns(&self.part);
        if self.has_carriage_returns {
            self.part = with_line_feeds(&self.part);
        }
        // The last line may be incomplete.
        let end = memchr::memrchr(b'\n', &self.part).unwrap_or(self.part.len());
        let begin = &self.part[..end];
        // If the file has the same name as the previous file, nothing is missing between the two
        // files.
        let is_sure = self.previous_name == self.source.name;
        let reader = match find(begin, &self.hints) {
            Ok(LogFormat::Lines(reader)) => *reader,
            Ok(LogFormat::Document(_)) => {
                return Err(ReadError::Format(
                    "a file in this format is read as a whole, not line by line".into(),
                ));
            }
            Err(reason) => {
                let previous = self.previous.as_ref().filter(|_| is_next);
                let next = previous.and_then(|previous| previous.without_header(begin));
                next.ok_or(ReadError::Format(reason))?
            }
        };
        let before_ns = self.previous.as_ref().and_then(LogReader::bare_unit);
        // After a gap, nothing continues the last entry of the previous file.
        let has_no_gap = is_sure || is_consecutive(&self.previous_name, &self.source.name);
        let (reader, ended) = match self.previous.take() {
            Some(previous) if is_next && (has_no_gap || !reader.has_open_entries()) => {
                reader.continue_log(previous, begin, is_sure)
            }
            previous => (reader, previous),
        };
        if let Some(before_ns) = before_ns
            && let Some(after_ns) = reader.bare_unit().filter(|after_ns| *after_ns != before_ns)
            && is_next
        {
            self.ended.advice.push(LogAdvice::UnitsDiffer {
                before: self.previous_name.clone(),
                before_ns,
                after: self.source.name.clone(),
                after_ns,
            });
        }
        self.source.format = reader.words.clone();
        self.reader = Some(reader);
        if let Some(ended) = ended {
            self.end_reader(ended, tally);
        }
        let bytes = std::mem::take(&mut self.part);
        self.read_lines(&bytes, tally);
        Ok(())
    }

    /// Detects the format as soon as there is one line, for a log that grows slowly.
    ///
    /// Returns an error if the format is unknown.
    pub fn begin_if_whole(&mut self, tally: &mut Tally) -> Result<(), ReadError> {
        if self.part.contains(&b'\n') {
            self.begin(tally)
        } else {
            Ok(())
        }
    }

    fn read_lines(&mut self, mut bytes: &[u8], tally: &mut Tally) {
        if self.skips_line {
            let Some(end) = memchr(b'\n', bytes) else {
                return;
            };
            bytes = &bytes[end + 1..];
            self.skips_line = false;
        }
        if !self.part.is_empty() {
            let Some(end) = memchr(b'\n', bytes) else {
                return self.keep_part(bytes);
            };
            self.part.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let part = std::mem::take(&mut self.part);
            self.read_line(&part, tally);
            self.part = part;
            self.part.clear();
        }
        let rest = self.read_complete_lines(bytes, tally);
        self.keep_part(rest);
    }

    /// Parses complete lines, and returns the remaining bytes.
    fn read_complete_lines<'b>(&mut self, bytes: &'b [u8], tally: &mut Tally) -> &'b [u8] {
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = Avx2::new() {
            // SAFETY: an `Avx2` exists only if the processor supports all of these features.
            return unsafe { self.read_complete_lines_avx2(bytes, wide, tally) };
        }
        self.read_complete_lines_by(bytes, Baseline, tally)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn read_complete_lines_avx2<'b>(
        &mut self,
        bytes: &'b [u8],
        wide: Avx2,
        tally: &mut Tally,
    ) -> &'b [u8] {
        self.read_complete_lines_by(bytes, wide, tally)
    }

    #[inline(always)]
    fn read_complete_lines_by<'b>(
        &mut self,
        mut bytes: &'b [u8],
        width: impl RegisterWidth,
        tally: &mut Tally,
    ) -> &'b [u8] {
        let mut entries = Vec::with_capacity(Tally::TOGETHER);
        loop {
            // A closure would not be compiled for this register width.
            while let Some(reader) = &mut self.reader
                && let Some((entry, length)) = reader.line_ahead(bytes, width)
            {
                bytes = &bytes[length..];
                fetch_text(bytes);
                self.lines.all += 1;
                self.lines.entries += 1;
                if entries.is_empty() && tally.has_few_pages() {
                    tally.add(&entry);
                    continue;
                }
                entries.push(entry);
                if entries.len() == Tally::TOGETHER {
                    tally.add_all(&entries);
                    entries.clear();
                }
            }
            tally.add_all(&entries);
            entries.clear();
            let Some(end) = memchr(b'\n', bytes) else {
                return bytes;
            };
            self.read_line(&bytes[..end], tally);
            bytes = &bytes[end + 1..];
        }
    }

    /// Stores the beginning of a line.
    fn keep_part(&mut self, bytes: &[u8]) {
        if self.part.len() + bytes.len() > self.max_line_length() {
            self.count_too_long();
            self.skips_line = true;
            self.part = Vec::new();
        } else {
            self.part.extend(bytes);
        }
    }

    #[inline(never)]
    fn read_line(&mut self, line: &[u8], tally: &mut Tally) {
        let line = match line {
            [line @ .., b'\r'] => line,
            line => line,
        };
        self.lines.all += 1;
        if line.len() > self.max_line_length() {
            self.lines.all -= 1;
            return self.count_too_long();
        }
        let Some(reader) = &mut self.reader else {
            return;
        };
        let mut entries = 0;
        let kind = reader.line(line, &mut |entry: &Entry| {
            entries += 1;
            tally.add(entry);
        });
        match kind {
            LineKind::Malformed => self.lines.malformed += 1,
            LineKind::Entry | LineKind::Other => self.lines.other += 1,
        }
        self.count_entries(entries);
    }

    /// Counts entries that became complete, and no longer counts their lines as other lines.
    fn count_entries(&mut self, entries: u64) {
        self.lines.entries += entries;
        self.lines.other = self.lines.other.saturating_sub(entries);
    }

    fn max_line_length(&self) -> usize {
        self.reader
            .as_ref()
            .map_or(MAX_LINE, LogReader::max_line_length)
    }

    fn count_too_long(&mut self) {
        self.lines.all += 1;
        self.lines.too_long += 1;
        if let Some(reader) = &mut self.reader {
            reader.skip_line();
        }
    }

    /// Finishes a file, including a last line without a line end.
    ///
    /// The next file can continue the last entry. Returns an error if the format is unknown.
    pub fn end_file(&mut self, tally: &mut Tally) -> Result<(), ReadError> {
        if self.source.bytes == 0 {
            self.source.format = "empty".into();
            return Ok(());
        }
        self.begin(tally)?;
        self.skips_line = false;
        if !self.part.is_empty() {
            let part = std::mem::take(&mut self.part);
            if self.may_be_cut_off(&part) {
                self.lines.all += 1;
                self.lines.cut_off += 1;
                return Ok(());
            }
            let malformed = self.lines.malformed;
            self.read_line(&part, tally);
            self.lines.cut_off += self.lines.malformed - malformed;
            self.lines.malformed = malformed;
        }
        Ok(())
    }

    /// Returns true if a last line without a line end may be incomplete, although it can be parsed.
    ///
    /// The only line of a log may have no line end because somebody copied it.
    fn may_be_cut_off(&self, line: &[u8]) -> bool {
        let has_lines = self.lines.all > 0;
        let reader = self.reader.as_ref().filter(|_| has_lines);
        !line.ends_with(b"\r") && reader.is_some_and(|reader| reader.may_be_cut_off(line))
    }

    /// Finishes the last file and closes the log. Returns an error if the format is unknown.
    pub fn end(&mut self, tally: &mut Tally) -> Result<(), ReadError> {
        let ended = self.end_file(tally);
        self.close(tally);
        ended
    }

    /// Finishes entries that could have had more lines in another file.
    pub fn close(&mut self, tally: &mut Tally) {
        if let Some(reader) = &self.reader {
            self.source.format = reader.description();
        }
        let readers = [self.previous.take(), self.reader.take()];
        for reader in readers.into_iter().flatten() {
            self.end_reader(reader, tally);
        }
    }

    /// Finishes a reader's entries that could have had more lines.
    fn end_reader(&mut self, mut reader: LogReader, tally: &mut Tally) {
        let mut entries = 0;
        let cut_off = reader.end(&mut |entry: &Entry| {
            entries += 1;
            tally.add(entry);
        });
        self.count_entries(entries);
        self.lines.cut_off += cut_off;
        self.lines.other = self.lines.other.saturating_sub(cut_off);
        self.ended.add_reader(&reader);
    }
}

/// Returns true if lines end with carriage returns, as on the first Macintosh, without line feeds.
fn ends_with_carriage_returns(begin: &[u8]) -> bool {
    let end = memchr(b'\r', begin).filter(|end| end + 1 < begin.len());
    end.is_some() && !begin.contains(&b'\n')
}

/// Replaces carriage returns with line feeds.
fn with_line_feeds(bytes: &[u8]) -> Vec<u8> {
    let line_feed = |byte: &u8| if *byte == b'\r' { b'\n' } else { *byte };
    bytes.iter().map(line_feed).collect()
}

/// Prefetches text that is parsed a few lines later.
///
/// The processor's own prefetcher stops at the end of a memory page.
#[inline(always)]
fn fetch_text(text: &[u8]) {
    for offset in FETCHED.step_by(CACHE_LINE) {
        if let Some(byte) = text.get(offset) {
            registers::fetch(byte);
        }
    }
}

/// Reads a file to its end, but leaves the log open: see [`ServerLog::close`].
///
/// `progress` is called regularly with the number of bytes so far, and returns false to stop.
/// Entries before an error are counted. Returns an error if the file cannot be read or its format
/// is unknown.
pub fn read(
    input: impl Read,
    log: &mut ServerLog,
    tally: &mut Tally,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(), ReadError> {
    let mut input = decompressed(input)?;
    let mut buffer = vec![0; CHUNK];
    let mut reported = 0;
    let n = fill(&mut input, &mut buffer)?;
    if let Some(document) = document_kind(&buffer[..n], &log.hints) {
        let begin = buffer[..n].to_vec();
        return documents::read(
            document,
            io::Cursor::new(begin).chain(input),
            (&mut log.source, &mut log.lines),
            &mut log.ended.assumptions,
            tally,
        );
    }
    log.push(&buffer[..n], tally)?;
    let failed = loop {
        match input.read(&mut buffer) {
            Ok(0) => break None,
            Ok(n) => log.push(&buffer[..n], tally)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => break Some(e),
        }
        if log.source.bytes >= reported + PROGRESS {
            reported = log.source.bytes;
            if !progress(reported) {
                log.end_file(tally)?;
                return Err(ReadError::Stopped);
            }
        }
    };
    log.end_file(tally)?;
    failed.map_or(Ok(()), |e| Err(e.into()))
}

/// Fills a buffer as far as the input allows.
///
/// An error after some bytes is returned by the next read.
fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < buffer.len() {
        match input.read(&mut buffer[n..]) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if n > 0 => break,
            Err(e) => return Err(e),
        }
    }
    Ok(n)
}

fn document_kind(begin: &[u8], hints: &Hints) -> Option<WholeLog> {
    match find(begin, hints) {
        Ok(LogFormat::Document(document)) => Some(document),
        _ => None,
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Bytes -> lines -> entries, whatever the bytes are: compressed, cut off, binary, without an end.

use crate::documents;
use crate::entry::{Entry, LineKind};
use crate::format::{Hints, LogFormat, LogReader, WholeLog, find};
use crate::logs_read::LogsRead;
use crate::read_error::ReadError;
#[cfg(target_arch = "x86_64")]
use crate::registers::Avx2;
use crate::registers::{self, Baseline, RegisterWidth};
use crate::rotation::is_same_log;
use crate::tally::Tally;
use flate2::read::MultiGzDecoder;
use lab_model::{LineCounts, LogFile};
use memchr::memchr;
use std::io::{self, BufReader, Read};
use std::ops::Range;

/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;
/// Bytes of a line; a longer one is counted and skipped.
pub const MAX_LINE: usize = 64 << 10;
/// Bytes from which the format is found.
const SAMPLE_BYTES: usize = 64 << 10;
/// Between two calls of `progress`, bytes.
const PROGRESS: u64 = 32 << 20;

/// How far ahead text is fetched, and how much of it with each line, bytes.
const FETCHED: Range<usize> = 2048..2048 + 256;
/// Bytes that are fetched at once.
const CACHE_LINE: usize = 64;

/// Logs that are read one after the other, piece by piece. A file that continues the one before it, as after a rotation,
/// is read with what was known at its end.
pub struct ServerLog {
    /// The file that is read.
    pub source: LogFile,
    /// Counts of the lines of all files by how they were read.
    pub lines: LineCounts,
    hints: Hints,
    /// The files before.
    ended: LogsRead,
    /// The lines of the files before.
    lines_before: u64,
    reader: Option<LogReader>,
    /// The reader of the file before, until the format of this one is known.
    previous: Option<LogReader>,
    /// The name of its file.
    previous_name: String,
    /// The beginning of a line; before the format is known, all bytes so far.
    part: Vec<u8>,
    /// True if the rest of a line that is too long is skipped.
    skips_line: bool,
}

impl ServerLog {
    /// One of that name.
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
        }
    }

    /// Begins the next file, after [`ServerLog::end_file`].
    pub fn begin_file(&mut self, name: &str) {
        if let Some(reader) = self.reader.take() {
            self.previous = Some(reader);
            self.previous_name.clone_from(&self.source.name);
        }
        self.part.clear();
        self.skips_line = false;
        self.source.lines = self.lines.all - self.lines_before;
        self.lines_before = self.lines.all;
        let source = LogFile {
            name: name.into(),
            ..LogFile::default()
        };
        let ended = std::mem::replace(&mut self.source, source);
        self.ended.sources.push(ended);
    }

    /// The facts about all files so far.
    pub fn logs_read(&self) -> LogsRead {
        let mut logs = self.ended.clone();
        let source = LogFile {
            lines: self.lines.all - self.lines_before,
            ..self.source.clone()
        };
        let readers = self.previous.iter().chain(&self.reader);
        readers.for_each(|reader| logs.add_reader(reader));
        logs.sources.push(source);
        logs.lines = self.lines;
        logs
    }

    /// Reads what comes next. Error: the format is not known.
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
        self.read_lines(bytes, tally);
        Ok(())
    }

    /// Finds the format from the bytes so far. Error: it is not known.
    fn begin(&mut self, tally: &mut Tally) -> Result<(), ReadError> {
        if self.reader.is_some() {
            return Ok(());
        }
        // A last line may be cut off.
        let end = memchr::memrchr(b'\n', &self.part).unwrap_or(self.part.len());
        let begin = &self.part[..end];
        let is_next = is_same_log(&self.previous_name, &self.source.name);
        // A log goes on under its own name: nothing is missing in between.
        let is_sure = self.previous_name == self.source.name;
        let reader = match find(begin, &self.hints) {
            Ok(LogFormat::Lines(reader)) => *reader,
            Ok(LogFormat::Document(_)) => {
                return Err(ReadError::Format(
                    "it is read as a whole, not line by line".into(),
                ));
            }
            Err(reason) => {
                let previous = self
                    .previous
                    .take_if(|previous| is_next && previous.fits(begin, is_sure));
                previous.ok_or(ReadError::Format(reason))?
            }
        };
        let (reader, ended) = match self.previous.take() {
            Some(previous) if is_next => reader.continue_log(previous, begin, is_sure),
            previous => (reader, previous),
        };
        self.source.format = reader.words.clone();
        self.reader = Some(reader);
        if let Some(ended) = ended {
            self.end_reader(ended, tally);
        }
        let bytes = std::mem::take(&mut self.part);
        self.read_lines(&bytes, tally);
        Ok(())
    }

    /// Finds the format as soon as there is one line, for a log that grows slowly. Error: it is not known.
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

    /// Reads complete lines, and returns what is behind them.
    fn read_complete_lines<'b>(&mut self, bytes: &'b [u8], tally: &mut Tally) -> &'b [u8] {
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = Avx2::new() {
            // SAFETY: a `Avx2` is only where the processor has all of these.
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
            // Not a closure: that would not be compiled for the width.
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

    /// Keeps the beginning of a line.
    fn keep_part(&mut self, bytes: &[u8]) {
        if self.part.len() + bytes.len() > self.longest_line() {
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
        if line.len() > self.longest_line() {
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

    /// Counts entries that became complete. Each has a line of its own, which was counted as another one until now.
    fn count_entries(&mut self, entries: u64) {
        self.lines.entries += entries;
        self.lines.other = self.lines.other.saturating_sub(entries);
    }

    fn longest_line(&self) -> usize {
        self.reader
            .as_ref()
            .map_or(MAX_LINE, LogReader::longest_line)
    }

    fn count_too_long(&mut self) {
        self.lines.all += 1;
        self.lines.too_long += 1;
        if let Some(reader) = &mut self.reader {
            reader.skip_line();
        }
    }

    /// Ends a file: reads a last line without a line end. The next file can have more of its last entry. Error: the format
    /// is not known.
    pub fn end_file(&mut self, tally: &mut Tally) -> Result<(), ReadError> {
        if self.source.bytes == 0 {
            self.source.format = "empty".into();
            return Ok(());
        }
        self.begin(tally)?;
        self.skips_line = false;
        if !self.part.is_empty() {
            let part = std::mem::take(&mut self.part);
            let malformed = self.lines.malformed;
            self.read_line(&part, tally);
            self.lines.cut_off += self.lines.malformed - malformed;
            self.lines.malformed = malformed;
        }
        Ok(())
    }

    /// Ends the last file, and closes the log. Error: the format is not known.
    pub fn end(&mut self, tally: &mut Tally) -> Result<(), ReadError> {
        let ended = self.end_file(tally);
        self.close(tally);
        ended
    }

    /// Ends entries that could have had more lines in another file.
    pub fn close(&mut self, tally: &mut Tally) {
        let readers = [self.previous.take(), self.reader.take()];
        for reader in readers.into_iter().flatten() {
            self.end_reader(reader, tally);
        }
    }

    /// Ends the entries of a reader that could have had more lines.
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

/// Fetches text that is read a few lines later: processors fetch by themselves but to the end of a page of memory.
#[inline(always)]
fn fetch_text(text: &[u8]) {
    for offset in FETCHED.step_by(CACHE_LINE) {
        if let Some(byte) = text.get(offset) {
            registers::fetch(byte);
        }
    }
}

/// Decompresses gzip and zstd, which are found by their first bytes; other input is passed on.
pub fn decompressed<'r>(input: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut input = BufReader::with_capacity(CHUNK, input);
    // A pipe may give fewer bytes than asked for.
    let mut magic = [0; 4];
    let mut n = 0;
    while n < magic.len() {
        match input.read(&mut magic[n..])? {
            0 => break,
            more => n += more,
        }
    }
    let input = io::Cursor::new(magic[..n].to_vec()).chain(input);
    Ok(match magic {
        [0x1f, 0x8b, ..] if n == 4 => Box::new(MultiGzDecoder::new(input)),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::with_buffer(BufReader::new(input))?),
        _ => Box::new(input),
    })
}

/// Reads a file to its end, but leaves the log open: see [`ServerLog::close`]. `progress` gets the bytes so far now and
/// then, and says whether to go on. What was read before an error is counted. Errors: it cannot be read, or its format is
/// not known.
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

/// Fills a buffer as far as the input goes; an error after some bytes comes again with the next read.
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

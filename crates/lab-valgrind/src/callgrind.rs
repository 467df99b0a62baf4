// SPDX-License-Identifier: Apache-2.0
//! Parses Callgrind output files (Valgrind's manual, "Callgrind Format Specification", version 1).
//!
//! Supports files with one or more parts, compressed and uncompressed names and positions, inlined code, calls and
//! jumps.

use crate::ProfileError;
use crate::costs::{CostProfile, add};
use crate::error::foreign;
use crate::lines::{LineReader, costs, number, text, words};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::io::BufRead;

const TOOL: &str = "Callgrind";
const VERSION: u32 = 1;
/// The maximum number of compressed names in a file. Valgrind numbers names without gaps.
const MAX_IDS: usize = 1 << 24;

/// Reads one file, which may contain multiple parts.
///
/// Returns an error if the file was written by another tool or is incomplete.
pub fn read(from: impl BufRead) -> Result<CostProfile, ProfileError> {
    let mut reader = CallgrindReader::default();
    reader.add(from)?;
    reader.done()
}

/// Reads all files of one program and adds up their costs. Callgrind writes one file per part and thread.
#[derive(Debug, Default)]
pub struct CallgrindReader {
    profile: Option<CostProfile>,
}

impl CallgrindReader {
    /// Reads another file and adds its costs.
    ///
    /// Returns an error if the file was written by another tool, is incomplete, or has different events.
    pub fn add(&mut self, from: impl BufRead) -> Result<(), ProfileError> {
        let mut part = FileParts {
            profile: self.profile.take().unwrap_or_default(),
            ..FileParts::new(LineReader::new(from))
        };
        part.read()?;
        self.profile = Some(part.profile);
        Ok(())
    }

    /// Returns the sum of all files, or an error if no file was added.
    pub fn done(self) -> Result<CostProfile, ProfileError> {
        let mut profile = self.profile.ok_or_else(|| foreign(TOOL, b""))?;
        profile.sum_lines();
        Ok(profile)
    }
}

/// The state of the parser within a file.
struct FileParts<R> {
    lines: LineReader<R>,
    profile: CostProfile,
    /// The indexes of full names by compressed ID, for objects, files and functions.
    names: [HashMap<u64, u32, RandomState>; 3],
    has_address: bool,
    has_line: bool,
    /// The address of the previous position, to which a compressed address is relative.
    address: u64,
    /// The line number of the previous position, to which a compressed line number is relative.
    line: u64,
    object: Option<u32>,
    /// The cost of the first event, added up since the last `ob=` line, which names the current
    /// object.
    in_object: u64,
    file: Option<u32>,
    name: Option<u32>,
    /// True if the current function has no symbol.
    unnamed: bool,
    /// The index of the current function, which is the pair of `name` and `file`.
    function: Option<u32>,
    called_file: Option<u32>,
    called: Option<u32>,
    /// The number of calls whose costs are on the next line.
    calls: Option<u64>,
    counted: Vec<u64>,
    /// The costs of the current part according to its `summary:` line.
    summary: Option<Vec<u64>>,
    /// The costs of the current part according to its `totals:` line.
    totals: Option<Vec<u64>>,
    /// The sum of the costs in all other lines of the current part.
    summed: Vec<u64>,
    parts: u32,
}

const FILE: usize = 1;
const FUNCTION: usize = 2;

impl<R: BufRead> FileParts<R> {
    fn new(lines: LineReader<R>) -> FileParts<R> {
        FileParts {
            lines,
            profile: CostProfile::default(),
            names: Default::default(),
            has_address: false,
            has_line: true,
            address: 0,
            line: 0,
            object: None,
            in_object: 0,
            file: None,
            name: None,
            unnamed: false,
            function: None,
            called_file: None,
            called: None,
            calls: None,
            counted: Vec::new(),
            summary: None,
            totals: None,
            summed: Vec::new(),
            parts: 0,
        }
    }

    fn read(&mut self) -> Result<(), ProfileError> {
        let mut line = Vec::new();
        while self.lines.next(&mut line)? {
            if self.lines.number == 1 && !begins_a_file(&line) {
                return Err(foreign(TOOL, &line));
            }
            match self.line(line.trim_ascii_start())? {
                Ok(()) => {}
                Err(_) if !self.lines.ended => {
                    let number = self.lines.number;
                    return Err(ProfileError::Truncated(format!(
                        "line {number} is incomplete"
                    )));
                }
                Err(reason) => return Err(self.lines.wrong(reason)),
            }
        }
        if self.lines.number == 0 {
            return Err(foreign(TOOL, b""));
        }
        if self.parts == 0 {
            return Err(ProfileError::Truncated(
                "the `events:` line is missing".into(),
            ));
        }
        if self.calls.is_some() {
            let reason = "the costs of the last call are missing";
            return Err(ProfileError::Truncated(reason.into()));
        }
        self.end_part()
    }

    /// Parses a line. The inner error describes a defect of the line.
    fn line(&mut self, line: &[u8]) -> Result<Result<(), &'static str>, ProfileError> {
        match line {
            [] | [b'#', ..] => Ok(Ok(())),
            [b'0'..=b'9' | b'+' | b'-' | b'*', ..] => self.cost_line(line),
            line => {
                let stop = line.iter().position(|c| matches!(c, b'=' | b':'));
                let Some(stop) = stop else {
                    return Ok(Err("this is not Callgrind output"));
                };
                let (key, value) = (&line[..stop], &line[stop + 1..]);
                match line[stop] {
                    b'=' => self.assignment(key, value.trim_ascii()),
                    _ => self.header(key, value.trim_ascii()),
                }
            }
        }
    }

    fn header(
        &mut self,
        key: &[u8],
        value: &[u8],
    ) -> Result<Result<(), &'static str>, ProfileError> {
        match key {
            b"version" if number(value).is_none_or(|version| version > VERSION.into()) => {
                return Err(ProfileError::TooNew {
                    tool: TOOL,
                    found: text(value),
                    supported: VERSION,
                });
            }
            b"cmd" => self.profile.command = text(value),
            // Each part repeats the description, which has a line for every option.
            b"desc" if self.parts == 0 && self.profile.description.len() < 100 => {
                let text = text(value);
                if !text.starts_with("Option:") {
                    self.profile.description.push(text);
                }
            }
            b"positions" => {
                let has = |names: &[&[u8]]| words(value).any(|word| names.contains(&word));
                self.has_line = has(&[b"line"]);
                self.has_address = has(&[b"instr", b"addr"]);
                if !self.has_line && !self.has_address {
                    return Ok(Err("the positions are neither lines nor instructions"));
                }
            }
            b"events" => return self.events(value),
            b"summary" | b"totals" => {
                let width = self.profile.events.len();
                if let Err(reason) = costs(value, width, &mut self.counted) {
                    return Ok(Err(reason));
                }
                let costs = Some(self.counted.clone());
                match key {
                    b"summary" => self.summary = costs,
                    _ => self.totals = costs,
                }
            }
            b"version" | b"creator" | b"pid" | b"thread" | b"part" | b"event" | b"desc" => {}
            _ => return Ok(Err("this is not Callgrind output")),
        }
        Ok(Ok(()))
    }

    /// Starts a part that records the given events.
    fn events(&mut self, value: &[u8]) -> Result<Result<(), &'static str>, ProfileError> {
        let events: Vec<&[u8]> = words(value).collect();
        if self.profile.events.is_empty() {
            let profile = CostProfile::with_events(&events);
            let profile = profile.map_err(|reason| self.lines.wrong(reason))?;
            let header = std::mem::replace(&mut self.profile, profile);
            self.profile.command = header.command;
            self.profile.description = header.description;
        } else if !events
            .iter()
            .copied()
            .eq(self.profile.events.iter().map(String::as_bytes))
        {
            return Ok(Err("the events differ from those of the previous parts"));
        }
        if self.parts > 0 {
            self.end_part()?;
        }
        self.parts += 1;
        self.summed = vec![0; self.profile.events.len()];
        (self.file, self.name, self.function) = (None, None, None);
        (self.address, self.line) = (0, 0);
        Ok(Ok(()))
    }

    /// Ends a part and adds its costs to the total as `callgrind_annotate` does.
    ///
    /// Returns an error if `totals:` is not the sum of the part's lines.
    fn end_part(&mut self) -> Result<(), ProfileError> {
        self.leave_object();
        let (summary, totals) = (self.summary.take(), self.totals.take());
        if totals.is_some_and(|totals| totals != self.summed) {
            let reason = "the totals of the part are not the sum of its lines";
            return Err(self.lines.wrong(reason));
        }
        let is_some = |costs: &Vec<u64>| costs.iter().any(|cost| *cost > 0);
        let total = summary
            .filter(is_some)
            .unwrap_or_else(|| self.summed.clone());
        add(&mut self.profile.totals, &total);
        Ok(())
    }

    fn leave_object(&mut self) {
        let cost = std::mem::take(&mut self.in_object);
        if let (Some(object), 1..) = (self.object, cost) {
            self.profile.add_to_object(object, cost);
        }
    }

    fn assignment(
        &mut self,
        key: &[u8],
        value: &[u8],
    ) -> Result<Result<(), &'static str>, ProfileError> {
        if self.parts == 0 {
            return Ok(Err("this line comes before the `events:` line"));
        }
        let kind = match key {
            b"ob" | b"cob" => 0,
            b"fl" | b"fi" | b"fe" | b"cfi" | b"cfl" | b"jfi" => FILE,
            // `frfn=` names the caller, if functions are counted separately for each caller (--separate-callers).
            b"fn" | b"cfn" | b"jfn" | b"frfn" => FUNCTION,
            b"calls" => {
                let count = words(value).next().and_then(number);
                self.calls = count;
                return Ok(match (count, self.called) {
                    (None, _) => Err("the call count is not a number"),
                    (_, None) => Err("a call comes before its `cfn=` line"),
                    _ => Ok(()),
                });
            }
            // A jump has an execution count and a target, but no costs.
            b"jump" | b"jcnd" => return Ok(Ok(())),
            _ => return Ok(Err("this is not Callgrind output")),
        };
        let name = match self.uncompressed(kind, value)? {
            Ok(name) => name,
            Err(reason) => return Ok(Err(reason)),
        };
        match key {
            b"fl" => (self.file, self.name) = (Some(name), None),
            b"fi" | b"fe" => self.file = Some(name),
            b"ob" => {
                self.leave_object();
                self.object = Some(name);
            }
            b"fn" => {
                self.name = Some(name);
                self.unnamed = !self.profile.is_symbol(name);
            }
            b"cfi" | b"cfl" => self.called_file = Some(name),
            b"cfn" => {
                let file = self.called_file.take().or(self.file);
                let Some(file) = file else {
                    return Ok(Err("a function comes before its file"));
                };
                self.called = Some(self.profile.function(file, name)?);
            }
            _ => return Ok(Ok(())),
        }
        if !matches!(key, b"ob" | b"cfi" | b"cfl" | b"cfn") {
            self.function = match (self.file, self.name) {
                (Some(file), Some(name)) => Some(self.profile.function(file, name)?),
                _ => None,
            };
        }
        Ok(Ok(()))
    }

    /// Resolves a compressed name, `(12) name` or `(12)`, or a plain name.
    fn uncompressed(
        &mut self,
        kind: usize,
        value: &[u8],
    ) -> Result<Result<u32, &'static str>, ProfileError> {
        let compressed = value.strip_prefix(b"(").and_then(|rest| {
            let end = rest.iter().position(|c| *c == b')')?;
            Some((number(&rest[..end])?, rest[end + 1..].trim_ascii()))
        });
        let Some((id, name)) = compressed else {
            return self.profile.name(value).map(Ok);
        };
        if name.is_empty() {
            let name = self.names[kind].get(&id).copied();
            return Ok(name.ok_or("the name ID is undefined"));
        }
        let name = self.profile.name(name)?;
        if self.names[kind].len() >= MAX_IDS {
            let items = "names";
            return Err(ProfileError::TooMuch {
                most: MAX_IDS,
                items,
            });
        }
        self.names[kind].insert(id, name);
        Ok(Ok(name))
    }

    /// Adds a line with a position and costs. These are the function's own costs, or the costs of the calls on the
    /// previous line.
    fn cost_line(&mut self, line: &[u8]) -> Result<Result<(), &'static str>, ProfileError> {
        let Some(function) = self.function else {
            return Ok(Err("costs come before the first file and function"));
        };
        let (first, rest) = cut(line);
        let (second, rest) = if self.has_address && self.has_line {
            cut(rest)
        } else {
            (first, rest)
        };
        if self.has_address {
            let Some(address) = position(first, self.address) else {
                return Ok(Err("the address is not a number"));
            };
            self.address = address;
        }
        if self.has_line {
            let Some(line) = position(second, self.line) else {
                return Ok(Err("the line number is not a number"));
            };
            self.line = line;
        }
        let width = self.summed.len();
        if let Err(reason) = costs(rest, width, &mut self.counted) {
            return Ok(Err(reason));
        }
        let line_number = if self.has_line { self.line } else { 0 };
        let Ok(line_number) = u32::try_from(line_number) else {
            return Ok(Err("the line number is too large"));
        };
        match (self.calls.take(), self.called) {
            (Some(calls), Some(called)) => {
                self.profile
                    .add_calls(function, called, calls, &self.counted)?;
            }
            _ if self.counted.iter().all(|cost| *cost == 0) => {}
            _ => {
                add(&mut self.summed, &self.counted);
                self.in_object = self.in_object.saturating_add(self.counted[0]);
                if let (true, Some(object)) = (self.unnamed, self.object) {
                    self.profile.add_unnamed(object, self.counted[0]);
                }
                self.profile.add(function, line_number, &self.counted)?;
            }
        }
        Ok(Ok(()))
    }
}

/// Returns true if a line can be the first line of a Callgrind file. Other tools that write this
/// format start with another header.
fn begins_a_file(line: &[u8]) -> bool {
    let keys: [&[u8]; 7] = [
        b"# callgrind format",
        b"version:",
        b"creator:",
        b"pid:",
        b"cmd:",
        b"positions:",
        b"events:",
    ];
    line.is_empty() || keys.iter().any(|key| line.starts_with(key))
}

/// Splits a line into its first word and the rest.
#[inline]
fn cut(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(|c| matches!(c, b' ' | b'\t'));
    let (word, rest) = line.split_at(end.unwrap_or(line.len()));
    (word, rest.trim_ascii_start())
}

/// Parses a position: `16`, `0x10`, or a position relative to the previous position, `+3`, `-3` or
/// `*`.
#[inline]
fn position(word: &[u8], before: u64) -> Option<u64> {
    match word {
        b"*" => Some(before),
        [b'+', more @ ..] => before.checked_add(number(more)?),
        [b'-', less @ ..] => before.checked_sub(number(less)?),
        [b'0', b'x', hex @ ..] => u64::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok(),
        word => number(word),
    }
}

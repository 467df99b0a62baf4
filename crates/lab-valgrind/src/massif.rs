// SPDX-License-Identifier: Apache-2.0
//! Parses Massif's output files: up to a thousand snapshots of the heap, some with allocation sites.

use crate::ProfileError;
use crate::error::foreign;
use crate::lines::{LineReader, number, text};
use crate::names::Frame;
use std::io::BufRead;

const TOOL: &str = "Massif";
/// The maximum number of snapshots. Massif writes at most a thousand (--max-snapshots).
const MAX_SNAPSHOTS: usize = 100_000;
/// The maximum number of allocation sites that are stored for a snapshot.
const MAX_SITES: usize = 100_000;

/// A program's heap over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Massif {
    /// The command line of the profiled program.
    pub command: String,
    /// Massif's options, or `(none)`.
    pub description: String,
    /// The unit of the times.
    pub time_unit: TimeUnit,
    /// The snapshots, in order of time.
    pub snapshots: Vec<Snapshot>,
    /// The locations that allocated the memory in Massif's peak snapshot, if the file lists them.
    pub sites: Vec<AllocationSite>,
}

/// The unit of times in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Instructions executed: `--time-unit=i`, Massif's default.
    #[default]
    Instructions,
    /// Wall-clock time: `--time-unit=ms`.
    Milliseconds,
    /// Bytes allocated and freed: `--time-unit=B`.
    Bytes,
}

/// The heap at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The time since the program's start, in the file's unit.
    pub time: u64,
    /// The number of bytes that the program requested.
    pub heap: u64,
    /// The number of bytes of overhead, for the allocator's bookkeeping and for alignment.
    pub extra: u64,
    /// The number of bytes on the stacks, or 0 if not recorded.
    pub stacks: u64,
}

/// A location that allocated memory, or a caller of such a location.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocationSite {
    /// 1 for the location that allocated, and higher for its callers.
    pub depth: usize,
    /// The number of live bytes.
    pub bytes: u64,
    /// The location. `None` stands for all locations below Massif's threshold.
    pub frame: Option<Frame>,
}

impl Snapshot {
    /// Returns the total number of bytes, like `total(B)` in `ms_print`.
    pub fn total(&self) -> u64 {
        self.heap
            .saturating_add(self.extra)
            .saturating_add(self.stacks)
    }
}

impl Massif {
    /// Returns the maximum size of the heap in bytes.
    pub fn peak_bytes(&self) -> u64 {
        self.snapshots
            .iter()
            .map(Snapshot::total)
            .max()
            .unwrap_or(0)
    }

    /// Counts how many times the heap falls by more than a fifth of its peak and then rises by as much again.
    ///
    /// Also returns the smallest of these falls, in bytes.
    pub fn sawtooth(&self) -> (usize, u64) {
        let least = self.peak_bytes() / 5;
        let (mut high, mut low) = (0u64, 0u64);
        let (mut falling, mut teeth, mut fall) = (false, 0, u64::MAX);
        for total in self.snapshots.iter().map(Snapshot::total) {
            if falling {
                low = low.min(total);
                if total > low.saturating_add(least) {
                    teeth += 1;
                    fall = fall.min(high - low);
                    (falling, high) = (false, total);
                }
            } else {
                high = high.max(total);
                if total.saturating_add(least) < high {
                    (falling, low) = (true, total);
                }
            }
        }
        (teeth, if teeth == 0 { 0 } else { fall })
    }
}

/// Reads a Massif file.
///
/// Returns an error if the file was written by another tool or is incomplete.
pub fn read(from: impl BufRead) -> Result<Massif, ProfileError> {
    let mut lines = LineReader::new(from);
    let mut massif = header(&mut lines)?;
    let mut current: Option<Snapshot> = None;
    // Each bit represents one of the snapshot's five fields that has been read.
    let (mut fields, mut is_kept, mut has_peak) = (0u8, false, false);
    // The number of remaining tree lines.
    let mut tree_lines_due = 0u64;
    let mut line = Vec::new();
    while lines.next(&mut line)? {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        if let Some((children, site)) = site(&line) {
            tree_lines_due = tree_lines_due.saturating_add(children).saturating_sub(1);
            if is_kept && site.depth > 0 && massif.sites.len() < MAX_SITES {
                massif.sites.push(site);
            }
            continue;
        }
        let stop = line.iter().position(|c| *c == b'=');
        let (key, value) = line.split_at(stop.unwrap_or(line.len()));
        let value = value.get(1..).unwrap_or(&[]);
        match (key, number(value), &mut current) {
            (b"snapshot", Some(_), _) if tree_lines_due == 0 => {
                massif.keep(current.replace(Snapshot::default()), fields)?;
                fields = 0;
            }
            (b"time", Some(time), Some(current)) => (current.time, fields) = (time, fields | 1),
            (b"mem_heap_B", Some(bytes), Some(current)) => {
                (current.heap, fields) = (bytes, fields | 2)
            }
            (b"mem_heap_extra_B", Some(bytes), Some(current)) => {
                (current.extra, fields) = (bytes, fields | 4);
            }
            (b"mem_stacks_B", Some(bytes), Some(current)) => {
                (current.stacks, fields) = (bytes, fields | 8)
            }
            (b"heap_tree", None, Some(_)) if lines.ended => {
                fields |= 16;
                // The tree of the peak is used or, if no snapshot is marked as the peak, the last detailed tree.
                let is_peak = value == b"peak";
                tree_lines_due = u64::from(value != b"empty");
                is_kept = is_peak || (value == b"detailed" && !has_peak);
                has_peak |= is_peak;
                if is_kept {
                    massif.sites.clear();
                }
            }
            _ if !lines.ended => {
                let number = lines.number;
                return Err(ProfileError::Truncated(format!(
                    "line {number} is incomplete"
                )));
            }
            _ => return Err(lines.wrong("this is not Massif output")),
        }
    }
    if tree_lines_due > 0 || !lines.ended {
        let reason = "the tree of the last snapshot is incomplete";
        return Err(ProfileError::Truncated(reason.into()));
    }
    massif.keep(current, fields)?;
    match massif.snapshots.len() {
        0 => Err(ProfileError::Truncated("there are no snapshots".into())),
        _ => Ok(massif),
    }
}

impl Massif {
    /// Stores a snapshot. Returns an error if a field is missing or there are too many snapshots.
    fn keep(&mut self, snapshot: Option<Snapshot>, fields: u8) -> Result<(), ProfileError> {
        let Some(snapshot) = snapshot else {
            return Ok(());
        };
        if fields != 31 {
            let number = self.snapshots.len();
            let reason = format!("snapshot {number} is incomplete");
            return Err(ProfileError::Truncated(reason));
        }
        if self.snapshots.len() >= MAX_SNAPSHOTS {
            return Err(ProfileError::TooMuch {
                most: MAX_SNAPSHOTS,
                items: "snapshots",
            });
        }
        self.snapshots.push(snapshot);
        Ok(())
    }
}

/// Reads the header: `desc:`, `cmd:` and `time_unit:`.
fn header<R: BufRead>(lines: &mut LineReader<R>) -> Result<Massif, ProfileError> {
    let mut massif = Massif::default();
    let mut line = Vec::new();
    for key in ["desc:", "cmd:", "time_unit:"] {
        if !lines.next(&mut line)? {
            return Err(match lines.number {
                0 => foreign(TOOL, b""),
                _ => ProfileError::Truncated(format!("the `{key}` line is missing")),
            });
        }
        let Some(value) = line.strip_prefix(key.as_bytes()) else {
            return Err(match key {
                "time_unit:" if line.starts_with(b"events:") => foreign(TOOL, b"desc: I1 cache"),
                _ if line.starts_with(b"desc:") => foreign(TOOL, b"desc: I1 cache"),
                _ => foreign(TOOL, &line),
            });
        };
        let value = text(value);
        match key {
            "desc:" => massif.description = value,
            "cmd:" => massif.command = value,
            _ => {
                massif.time_unit = match value.as_str() {
                    "i" => TimeUnit::Instructions,
                    "ms" => TimeUnit::Milliseconds,
                    "B" => TimeUnit::Bytes,
                    _ => return Err(lines.wrong("the time unit is not i, ms or B")),
                }
            }
        }
    }
    Ok(massif)
}

/// Parses a tree line such as ` n2: 512 0x10915E: main (a.c:3)` into the number of children and the site. The number of
/// leading spaces gives the depth.
///
/// Returns `None` for any other line.
fn site(line: &[u8]) -> Option<(u64, AllocationSite)> {
    let depth = line.iter().take_while(|c| **c == b' ').count();
    let rest = line[depth..].strip_prefix(b"n")?;
    let colon = rest.iter().position(|c| *c == b':')?;
    let children = number(&rest[..colon])?;
    let rest = rest[colon + 1..].trim_ascii_start();
    let end = rest.iter().position(|c| *c == b' ')?;
    let location = rest[end..].trim_ascii();
    let site = AllocationSite {
        depth,
        bytes: number(&rest[..end])?,
        frame: location
            .starts_with(b"0x")
            .then(|| Frame::parse(&text(location))),
    };
    Some((children, site))
}

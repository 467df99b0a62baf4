// SPDX-License-Identifier: Apache-2.0
//! Parses DHAT's output files. They contain JSON of version 1 (Valgrind 3.15 and 3.16) or version 2 (since 3.17; see
//! the comments in `dhat/dh_main.c`).
//!
//! The program points are streamed rather than loaded together.

use crate::ProfileError;
use crate::error::foreign;
use crate::names::Frame;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt::Formatter;
use std::io::BufRead;

const TOOL: &str = "DHAT";
const VERSION: u32 = 2;
/// The maximum number of program points and of distinct frames in a file.
const MAX_ENTRIES: usize = 1 << 22;
/// The maximum number of stack frames of a program point.
const MAX_FRAMES: usize = 1024;

/// The heap blocks of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dhat {
    /// The command line of the profiled program.
    pub command: String,
    /// The time at the end of the program, in the file's time unit.
    pub end: u64,
    /// The lifetime below which blocks count as short-lived, as in DHAT's viewer. It is in the file's time unit.
    pub short: u64,
    /// The locations where blocks were allocated.
    pub points: Vec<AllocationPoint>,
    /// All stack frames. The first is the root.
    pub frames: Vec<Frame>,
    /// True if `max_bytes` and `max_blocks` are reliable. Valgrind 3.17 to 3.27 update them only while the whole heap
    /// is at a new peak (`intro_Block` in `dhat/dh_main.c`).
    pub knows_most: bool,
}

/// A location that allocates blocks, identified by its call stack.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct AllocationPoint {
    /// The total number of bytes allocated.
    #[serde(rename = "tb")]
    pub bytes: u64,
    /// The total number of blocks allocated.
    #[serde(rename = "tbk")]
    pub blocks: u64,
    /// The sum of the lifetimes of all blocks, in the file's time unit, or 0 if not recorded.
    #[serde(rename = "tl", alias = "tli", default)]
    pub lifetime: u64,
    /// The maximum number of live bytes of this point. See [`Dhat::knows_most`] for its reliability.
    #[serde(rename = "mb", default)]
    pub max_bytes: u64,
    /// The number of live blocks at the moment of `max_bytes`.
    #[serde(rename = "mbk", default)]
    pub max_blocks: u64,
    /// The number of live bytes at the peak of the whole heap.
    #[serde(rename = "gb", default)]
    pub peak_bytes: u64,
    /// The number of live blocks at the peak of the whole heap.
    #[serde(rename = "gbk", default)]
    pub peak_blocks: u64,
    /// The number of bytes that were never freed.
    #[serde(rename = "eb", alias = "fb", default)]
    pub end_bytes: u64,
    /// The number of blocks that were never freed.
    #[serde(rename = "ebk", alias = "fbk", default)]
    pub end_blocks: u64,
    /// The number of bytes read from the blocks.
    #[serde(rename = "rb", default)]
    pub read_bytes: u64,
    /// The number of bytes written to the blocks.
    #[serde(rename = "wb", default)]
    pub written_bytes: u64,
    /// True if all blocks have the same size, which is known only if DHAT counts accesses by offset.
    #[serde(rename = "acc", default, deserialize_with = "is_present")]
    pub one_size: bool,
    /// The call stack as indexes into the frames, innermost first.
    #[serde(rename = "fs", deserialize_with = "stack")]
    pub stack: Vec<u32>,
}

impl AllocationPoint {
    /// Returns true if all blocks probably have the same size.
    ///
    /// Some files state this. Otherwise, the size is assumed to be constant if the mean size of the
    /// live blocks equals the mean size of all blocks at up to three moments.
    pub fn has_one_size(&self) -> bool {
        let moments = [
            (self.max_bytes, self.max_blocks),
            (self.peak_bytes, self.peak_blocks),
            (self.end_bytes, self.end_blocks),
        ];
        let mut counted = moments.into_iter().filter(|(_, blocks)| *blocks > 0);
        let is_mean = |(bytes, blocks): (u64, u64)| {
            bytes.checked_mul(self.blocks) == self.bytes.checked_mul(blocks)
        };
        self.one_size
            || counted
                .next()
                .is_some_and(|first| is_mean(first) && counted.all(is_mean))
                && self.bytes.is_multiple_of(self.blocks.max(1))
    }

    /// Returns the number of bytes written if no byte of the blocks was ever read, or else 0.
    pub fn unread_bytes(&self) -> u64 {
        if self.read_bytes == 0 {
            self.written_bytes
        } else {
            0
        }
    }
}

impl Dhat {
    /// Returns the number of bytes that a point allocated if its blocks are short-lived on average,
    /// or else 0.
    pub fn short_lived_bytes(&self, point: &AllocationPoint) -> u64 {
        let mean = point.lifetime.checked_div(point.blocks);
        if mean.is_some_and(|mean| mean <= self.short) {
            point.bytes
        } else {
            0
        }
    }

    /// Adds up a value over all points.
    pub fn sum(&self, figure: impl Fn(&AllocationPoint) -> u64) -> u64 {
        self.points.iter().map(figure).fold(0, u64::saturating_add)
    }

    /// Returns the location that allocated a point's blocks: the first stack frame that is not an allocator.
    pub fn site(&self, point: &AllocationPoint) -> Option<&Frame> {
        let mut frames = point
            .stack
            .iter()
            .filter_map(|i| self.frames.get(*i as usize));
        let first = frames.clone().next();
        frames.find(|frame| !frame.is_allocator()).or(first)
    }
}

/// Reads a DHAT file.
///
/// Returns an error if the file was written by another tool, is incomplete, or was written in DHAT's ad hoc or copy
/// mode.
pub fn read(mut from: impl BufRead) -> Result<Dhat, ProfileError> {
    let begin = from.fill_buf()?;
    let text = begin.trim_ascii_start();
    if !text.starts_with(b"{") {
        return Err(foreign(TOOL, text));
    }
    let mut json = serde_json::Deserializer::from_reader(from);
    let read = json
        .deserialize_map(DhatFile)
        .and_then(|read| json.end().map(|()| read));
    let (dhat, version, mode) = read.map_err(wrong)?;
    match (version, mode.as_str()) {
        (None, _) => Err(foreign(TOOL, b"{")),
        (Some(found), _) if found > VERSION => Err(ProfileError::TooNew {
            tool: TOOL,
            found: found.to_string(),
            supported: VERSION,
        }),
        (_, "" | "heap" | "rust-heap") => Ok(dhat),
        (_, mode) => Err(ProfileError::Foreign {
            tool: TOOL,
            hint: format!(" with heap data: its mode is `{}`", mode.escape_default()),
        }),
    }
}

fn wrong(error: serde_json::Error) -> ProfileError {
    match error.classify() {
        serde_json::error::Category::Io => ProfileError::Io(error.into()),
        serde_json::error::Category::Eof => {
            ProfileError::Truncated("the JSON document is incomplete".into())
        }
        _ => ProfileError::Line {
            line: error.line() as u64,
            reason: error.to_string(),
        },
    }
}

/// Deserializes a whole file: its contents, version and mode.
struct DhatFile;

impl<'de> Visitor<'de> for DhatFile {
    type Value = (Dhat, Option<u32>, String);

    fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
        f.write_str("a DHAT object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut dhat, mut version, mut mode) = (Dhat::default(), None, String::new());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "dhatFileVersion" => version = Some(map.next_value()?),
                // The rest of the file is skipped if the file has a newer version.
                _ if version.is_some_and(|version| version > VERSION) => {
                    map.next_value::<IgnoredAny>()?;
                }
                "mode" => mode = map.next_value()?,
                "cmd" => dhat.command = map.next_value()?,
                "te" | "ei" => dhat.end = map.next_value()?,
                "tuth" => dhat.short = map.next_value()?,
                "pps" | "aps" => dhat.points = map.next_value::<Many<AllocationPoint>>()?.0,
                "ftbl" => {
                    dhat.frames = map
                        .next_value::<Many<Text>>()?
                        .0
                        .into_iter()
                        .map(|t| t.0)
                        .collect()
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        dhat.knows_most = version == Some(1);
        let frame_count = dhat.frames.len() as u32;
        let outside =
            |point: &AllocationPoint| point.stack.iter().any(|frame| *frame >= frame_count);
        if dhat.points.iter().any(outside) {
            return Err(A::Error::custom(
                "a stack refers to a frame that is not in `ftbl`",
            ));
        }
        Ok((dhat, version, mode))
    }
}

/// A stack frame, deserialized from its text.
struct Text(Frame);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        let text = String::deserialize(from)?;
        Ok(Text(Frame::parse(&text)))
    }
}

/// A list of at most [`MAX_ENTRIES`] elements.
struct Many<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Many<T>, D::Error> {
        from.deserialize_seq(Limited(MAX_ENTRIES, std::marker::PhantomData))
            .map(Many)
    }
}

fn is_present<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(from).map(|_| true)
}

fn stack<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    from.deserialize_seq(Limited(MAX_FRAMES, std::marker::PhantomData))
}

/// Deserializes a list with a maximum length.
struct Limited<T>(usize, std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Limited<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
        write!(f, "a list of at most {} elements", self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            if all.len() >= self.0 {
                return Err(A::Error::custom(format!(
                    "the list has more than {} elements",
                    self.0
                )));
            }
            all.push(one);
        }
        Ok(all)
    }
}

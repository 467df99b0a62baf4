// SPDX-License-Identifier: Apache-2.0
//! A slice's distributions of times. They are in memory during a run, and in the run file when a
//! run is loaded.

use crate::Counts;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

/// A distribution of times in a slice.
///
/// In a run file, the distributions take a hundred times as much space as the rest of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Counts", into = "Counts")]
pub enum SliceTimes {
    /// Unpacked, in memory.
    Here(Counts),
    /// In memory in the compact encoding of a run file. The distribution is not empty.
    Packed(PackedTimes),
    /// A distribution in a run file, which is read on each access. It is not empty.
    InFile(TimesInFile),
}

/// A distribution in the encoding of a run file. Its median is stored separately, because it is
/// used most often.
#[derive(Clone, Debug)]
pub struct PackedTimes {
    /// The encoded distribution, which `unpack` can decode without an error.
    pub blob: Arc<[u8]>,
    /// Decodes the distribution.
    pub unpack: fn(&[u8]) -> Counts,
    /// The median in ns.
    pub median: u64,
}

/// The location of a distribution in a run file. Its median is stored separately, because it is
/// used most often.
#[derive(Clone, Debug)]
pub struct TimesInFile {
    /// The column that contains the distribution.
    pub column: Arc<dyn TimesColumn>,
    /// The ID of the row that contains the distribution.
    pub row: i64,
    /// The median in ns.
    pub median: u64,
}

/// A column with distributions in a table of a run file.
pub trait TimesColumn: Debug + Send + Sync {
    /// Reads the distribution of a row.
    ///
    /// # Panics
    /// Panics if the file, which was valid when it was opened, no longer contains the distribution.
    fn read(&self, row: i64) -> Counts;
}

impl SliceTimes {
    /// Returns the distribution.
    pub fn counts(&self) -> Cow<'_, Counts> {
        match self {
            SliceTimes::Here(counts) => Cow::Borrowed(counts),
            SliceTimes::Packed(packed) => Cow::Owned((packed.unpack)(&packed.blob)),
            SliceTimes::InFile(kept) => Cow::Owned(kept.column.read(kept.row)),
        }
    }

    /// Returns true if the distribution is empty.
    pub fn is_empty(&self) -> bool {
        matches!(self, SliceTimes::Here(counts) if counts.0.is_empty())
    }

    /// Returns the median in ns.
    pub fn median(&self) -> Option<u64> {
        match self {
            SliceTimes::Here(counts) => counts.median(),
            SliceTimes::Packed(packed) => Some(packed.median),
            SliceTimes::InFile(times) => Some(times.median),
        }
    }

    /// Adds another distribution with the same buckets.
    pub fn add(&mut self, other: &SliceTimes) {
        let mut sum = Counts::from(std::mem::take(self));
        sum.add(&other.counts());
        *self = sum.into();
    }
}

impl TimesInFile {
    fn is_same_cell(&self, other: &TimesInFile) -> bool {
        let columns = [&self.column, &other.column].map(Arc::as_ptr);
        std::ptr::addr_eq(columns[0], columns[1]) && self.row == other.row
    }
}

impl Default for SliceTimes {
    fn default() -> SliceTimes {
        SliceTimes::Here(Counts::default())
    }
}

impl From<Counts> for SliceTimes {
    fn from(counts: Counts) -> SliceTimes {
        SliceTimes::Here(counts)
    }
}

impl From<SliceTimes> for Counts {
    fn from(times: SliceTimes) -> Counts {
        match times {
            SliceTimes::Here(counts) => counts,
            _ => times.counts().into_owned(),
        }
    }
}

impl PartialEq for SliceTimes {
    fn eq(&self, other: &SliceTimes) -> bool {
        match (self, other) {
            (SliceTimes::InFile(a), SliceTimes::InFile(b)) if a.is_same_cell(b) => true,
            (SliceTimes::Packed(a), SliceTimes::Packed(b)) if a.blob == b.blob => true,
            _ => self.counts() == other.counts(),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! A slice's distributions of times: in memory where they are counted, left in the run file where they are read.

use crate::Counts;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

/// One of a slice's distributions. In a run file they take a hundred times as much as all else of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Counts", into = "Counts")]
pub enum SliceTimes {
    /// In memory.
    Here(Counts),
    /// In memory, in the few bytes in which a run file has it. It is not empty.
    Packed(PackedTimes),
    /// In a run file, from which it is read each time that it is asked for. It is not empty.
    InFile(TimesInFile),
}

/// A distribution as a run file has it, and what is asked of it most often.
#[derive(Clone, Debug)]
pub struct PackedTimes {
    /// Sound, as `unpack` has found.
    pub blob: Arc<[u8]>,
    /// The distribution in a blob.
    pub unpack: fn(&[u8]) -> Counts,
    /// A value that half of them do not exceed.
    pub median: u64,
}

/// Where a distribution is in a run file, and what is asked of it most often.
#[derive(Clone, Debug)]
pub struct TimesInFile {
    /// The file, its table and its column.
    pub column: Arc<dyn TimesColumn>,
    /// The row's number.
    pub row: i64,
    /// A value that half of them do not exceed.
    pub median: u64,
}

/// A column of a run file's table that holds distributions.
pub trait TimesColumn: Debug + Send + Sync {
    /// The distribution of a row. Panics where the file, which was sound when it was opened, no longer has it.
    fn read(&self, row: i64) -> Counts;
}

impl SliceTimes {
    /// The distribution.
    pub fn counts(&self) -> Cow<'_, Counts> {
        match self {
            SliceTimes::Here(counts) => Cow::Borrowed(counts),
            SliceTimes::Packed(packed) => Cow::Owned((packed.unpack)(&packed.blob)),
            SliceTimes::InFile(kept) => Cow::Owned(kept.column.read(kept.row)),
        }
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        matches!(self, SliceTimes::Here(counts) if counts.0.is_empty())
    }

    /// A value that half of them do not exceed.
    pub fn median(&self) -> Option<u64> {
        match self {
            SliceTimes::Here(counts) => counts.median(),
            SliceTimes::Packed(packed) => Some(packed.median),
            SliceTimes::InFile(times) => Some(times.median),
        }
    }

    /// Adds another distribution of the same buckets.
    pub fn add(&mut self, other: &SliceTimes) {
        let mut sum = Counts::from(std::mem::take(self));
        sum.add(&other.counts());
        *self = sum.into();
    }
}

impl TimesInFile {
    fn is_same_place(&self, other: &TimesInFile) -> bool {
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
            (SliceTimes::InFile(a), SliceTimes::InFile(b)) if a.is_same_place(b) => true,
            (SliceTimes::Packed(a), SliceTimes::Packed(b)) if a.blob == b.blob => true,
            _ => self.counts() == other.counts(),
        }
    }
}

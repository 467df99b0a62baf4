// SPDX-License-Identifier: Apache-2.0
//! Counts that the load engine adds up in each slice.

use crate::Metric;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Index, IndexMut};

/// A count that the load engine adds up in each slice.
///
/// To add a count, add a variant here and make the engine count it. Run files then contain a column
/// for the count, and statistics and reports show its metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadCount {
    /// The number of bytes received.
    ReceivedBytes,
    /// The number of connections opened.
    Connects,
    /// The number of responses that were timed when the generator read them, because their arrival
    /// timestamps came from an incompatible clock.
    ReadTimes,
}

/// The form in which reports show a count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountMetric {
    /// As a rate per second.
    PerSecond(Metric),
    /// As the sum over all blocks.
    Sum(Metric),
}

impl LoadCount {
    /// All counts, in display order.
    pub const ALL: [LoadCount; 3] = [
        LoadCount::ReceivedBytes,
        LoadCount::Connects,
        LoadCount::ReadTimes,
    ];

    /// Returns the name of the count in run files.
    pub fn id(self) -> &'static str {
        match self {
            LoadCount::ReceivedBytes => "received_bytes",
            LoadCount::Connects => "connects",
            LoadCount::ReadTimes => "read_times",
        }
    }

    /// Returns the metric that reports show. Returns `None` if only a warning uses the count.
    pub fn metric(self) -> Option<CountMetric> {
        match self {
            LoadCount::ReceivedBytes => Some(CountMetric::PerSecond(Metric::RECEIVED)),
            LoadCount::Connects => Some(CountMetric::Sum(Metric::CONNECTS)),
            LoadCount::ReadTimes => None,
        }
    }

    /// Returns the counts that are shown as rates, with their metrics.
    pub fn rates() -> impl Iterator<Item = (LoadCount, Metric)> {
        LoadCount::ALL
            .into_iter()
            .filter_map(|count| match count.metric() {
                Some(CountMetric::PerSecond(metric)) => Some((count, metric)),
                _ => None,
            })
    }

    /// Returns the counts that are shown as sums, with their metrics.
    pub fn sums() -> impl Iterator<Item = (LoadCount, Metric)> {
        LoadCount::ALL
            .into_iter()
            .filter_map(|count| match count.metric() {
                Some(CountMetric::Sum(metric)) => Some((count, metric)),
                _ => None,
            })
    }
}

/// The values of all counts.
///
/// They are serialized as a map from [`LoadCount::id`] to the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadCounts([u64; LoadCount::ALL.len()]);

impl LoadCounts {
    /// Adds the counts of another generator or slice.
    pub fn add(&mut self, other: &LoadCounts) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(others);
        }
    }
}

impl Index<LoadCount> for LoadCounts {
    type Output = u64;

    fn index(&self, count: LoadCount) -> &u64 {
        &self.0[count as usize]
    }
}

impl IndexMut<LoadCount> for LoadCounts {
    fn index_mut(&mut self, count: LoadCount) -> &mut u64 {
        &mut self.0[count as usize]
    }
}

impl<const N: usize> From<[(LoadCount, u64); N]> for LoadCounts {
    fn from(values: [(LoadCount, u64); N]) -> LoadCounts {
        let mut counts = LoadCounts::default();
        for (count, value) in values {
            counts[count] = value;
        }
        counts
    }
}

impl Serialize for LoadCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(LoadCount::ALL.len()))?;
        for count in LoadCount::ALL {
            map.serialize_entry(count.id(), &self[count])?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for LoadCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LoadCounts, D::Error> {
        deserializer.deserialize_map(CountsVisitor)
    }
}

struct CountsVisitor;

impl<'de> Visitor<'de> for CountsVisitor {
    type Value = LoadCounts;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a map from names to counts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LoadCounts, A::Error> {
        let mut counts = LoadCounts::default();
        while let Some(id) = map.next_key::<String>()? {
            match LoadCount::ALL.into_iter().find(|count| count.id() == id) {
                Some(count) => counts[count] = map.next_value()?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_in_the_order_of_their_list() {
        for (position, count) in LoadCount::ALL.into_iter().enumerate() {
            assert_eq!(count as usize, position, "{count:?}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Distributions of times as HdrHistograms: what a run file keeps of them, and what their log holds.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use lab_model::Counts;

/// The length of what stands before the counts in the V2 format: cookie, length, offset, digits, lowest and
/// highest value, ratio.
const HEADER: usize = 40;

/// A blob that is longer was not written by a lab: one has no more counts than this many, of nine bytes.
const LONGEST: usize = HEADER + 9 * 40_000;

/// A distribution's histogram. Errors, in words: a time or a number of them is beyond what it can hold.
pub fn histogram(counts: &Counts) -> Result<Histogram<u64>, String> {
    let mut histogram = empty();
    for (value, count) in &counts.0 {
        let beyond = |_| format!("a time of {value} ns is too long for a histogram");
        histogram.record_n(*value, *count).map_err(beyond)?;
    }
    countable(histogram)
}

/// A distribution as HdrHistogram's V2 format, not compressed; `None`: it is empty. Errors: as for
/// [`histogram`].
pub fn encode(counts: &Counts) -> Result<Option<Vec<u8>>, String> {
    let histogram = histogram(counts)?;
    let mut blob = Vec::new();
    let written = V2Serializer::new().serialize(&histogram, &mut blob);
    written.map_err(|e| e.to_string())?;
    Ok((!histogram.is_empty()).then_some(blob))
}

/// The distribution in a blob. Errors, in words: it is none that [`encode`] made.
pub fn decode(blob: &[u8]) -> Result<Counts, String> {
    sound(blob)?;
    let found = Deserializer::new().deserialize(&mut &blob[..]);
    let found: Histogram<u64> = found.map_err(|e| e.to_string())?;
    let found = countable(found)?;
    let buckets = found.iter_recorded();
    let pairs = buckets.map(|b| (b.value_iterated_to(), b.count_since_last_iteration()));
    Ok(Counts(pairs.collect()))
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, Counts::LONGEST_NS, Counts::DIGITS)
        .expect("an hour has three digits")
}

/// A header can ask for any amount of memory: nothing is read unless it is the lab's own.
fn sound(blob: &[u8]) -> Result<(), String> {
    let number = |at: usize| {
        blob.get(at..at + 8)
            .map(|b| u64::from_be_bytes(b.try_into().unwrap_or_default()))
    };
    let length = number(0).map(|n| n as u32 as usize);
    if blob.len() > LONGEST || length.map(|n| n + HEADER) != Some(blob.len()) {
        return Err(format!(
            "a histogram of {} bytes has another length than it says",
            blob.len()
        ));
    }
    let bounds = (number(8), number(16), number(24));
    if bounds
        != (
            Some(u64::from(Counts::DIGITS)),
            Some(1),
            Some(Counts::LONGEST_NS),
        )
    {
        return Err("a histogram has other bounds than the lab's".to_string());
    }
    Ok(())
}

/// Numbers that add up to more than their format can hold were never counted.
fn countable(histogram: Histogram<u64>) -> Result<Histogram<u64>, String> {
    match i64::try_from(histogram.len()) {
        Ok(_) => Ok(histogram),
        Err(_) => Err("a histogram counts more than can be counted".to_string()),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Distributions of times as HdrHistograms, for run files and HdrHistogram logs.

use hdrhistogram::Histogram;
use lab_model::{Counts, PackedTimes, SliceTimes};
use std::borrow::Cow;

/// The number of bytes before the counts in the V2 format: cookie, length, offset, digits, lowest
/// and highest value, ratio.
const HEADER_BYTES: usize = 40;

/// The cookie of the V2 format.
const COOKIE: u64 = 0x1c84_9313;

/// The number of buckets: 1,024 for each doubling of the time, and 1,024 more for the shortest times.
const BUCKETS: u64 = 33 * HALF;
const HALF: u64 = 1024;

/// The maximum length of a blob to decode, in bytes: 40,000 counts of nine bytes each.
const MAX_BLOB_BYTES: usize = HEADER_BYTES + 9 * 40_000;

/// Converts a distribution to an HdrHistogram.
///
/// # Errors
/// Returns an error message if a time or a count exceeds the range of a histogram.
pub fn histogram(counts: &Counts) -> Result<Histogram<u64>, String> {
    let mut histogram = empty();
    for (value, count) in &counts.0 {
        let beyond = |_| format!("a time of {value} ns is too long for a histogram");
        histogram.record_n(*value, *count).map_err(beyond)?;
    }
    countable(histogram.len())?;
    Ok(histogram)
}

/// Encodes a distribution in HdrHistogram's uncompressed V2 format. Returns `None` if the
/// distribution is empty.
///
/// The buckets are written directly, because the library's histogram would allocate all 33,792
/// buckets. Agents and coordinators encode every slice, so this cost would add up.
///
/// # Errors
/// Returns an error message if a time or the total count exceeds the range of the format.
pub fn encode(counts: &Counts) -> Result<Option<Vec<u8>>, String> {
    countable(counts.total())?;
    let (mut blob, mut next) = (vec![0; HEADER_BYTES], 0);
    if let Some((value, _)) = counts.0.iter().find(|(value, _)| bucket(*value) >= BUCKETS) {
        return Err(format!("a time of {value} ns is too long for a histogram"));
    }
    let buckets = counts
        .0
        .iter()
        .map(|(value, count)| (bucket(*value), *count));
    let mut buckets = buckets.peekable();
    while let Some((at, mut count)) = buckets.next() {
        while let Some((_, more)) = buckets.next_if(|(same, _)| *same == at) {
            count += more;
        }
        if count == 0 {
            continue;
        }
        // A run of empty buckets is encoded as its negated length in zigzag encoding. A single
        // empty bucket is 0.
        match at - next {
            0 => {}
            1 => put_varint(&mut blob, 0),
            empty => put_varint(&mut blob, (empty << 1) - 1),
        }
        put_varint(&mut blob, count << 1);
        next = at + 1;
    }
    if blob.len() == HEADER_BYTES {
        return Ok(None);
    }
    let length = (blob.len() - HEADER_BYTES) as u64;
    let digits = u64::from(Counts::DIGITS);
    let header = [
        COOKIE << 32 | length,
        digits,
        1,
        Counts::MAX_NS,
        1.0_f64.to_bits(),
    ];
    for (room, number) in blob.chunks_exact_mut(8).zip(header) {
        room.copy_from_slice(&number.to_be_bytes());
    }
    Ok(Some(blob))
}

/// Converts the output of [`encode`] to a distribution in memory.
///
/// # Errors
/// Returns an error in the same cases as [`decode`].
pub fn pack(blob: &[u8]) -> Result<SliceTimes, String> {
    if blob.is_empty() {
        return Ok(SliceTimes::default());
    }
    Ok(match decode(blob)?.median() {
        None => SliceTimes::default(),
        Some(median) => SliceTimes::Packed(PackedTimes {
            blob: blob.into(),
            unpack: |blob| decode(blob).expect("the histogram was valid when it was packed"),
            median,
        }),
    })
}

/// Encodes a distribution in the same way as [`encode`]. A packed distribution is returned as it
/// is, without decoding.
pub fn blob(times: &SliceTimes) -> Result<Option<Cow<'_, [u8]>>, String> {
    match times {
        SliceTimes::Packed(packed) => Ok(Some(Cow::Borrowed(&packed.blob))),
        times => Ok(encode(&times.counts())?.map(Cow::Owned)),
    }
}

/// Decodes a distribution.
///
/// The library's histogram is not used, because it would allocate all buckets.
///
/// # Errors
/// Returns an error message if the blob was not produced by [`encode`].
pub fn decode(blob: &[u8]) -> Result<Counts, String> {
    check_header(blob)?;
    let mut rest = &blob[HEADER_BYTES..];
    let (mut counts, mut bucket) = (Counts::default(), 0_u64);
    while !rest.is_empty() {
        let number = varint(&mut rest).ok_or("a histogram ends within a number")?;
        // Zigzag encoding: a negative number counts empty buckets.
        let (count, buckets) = match number & 1 {
            0 => (number >> 1, 1),
            _ => (0, (number >> 1) + 1),
        };
        if count > 0 {
            let is_there = bucket < BUCKETS;
            is_there.then_some(()).ok_or("a histogram is too long")?;
            counts.0.push((highest_ns(bucket), count));
        }
        bucket = bucket.saturating_add(buckets);
    }
    countable(counts.total())?;
    Ok(counts)
}

/// Writes a number as LEB128, in at most nine bytes. All eight bits of the ninth byte are data.
fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    for _ in 0..8 {
        if number < 0x80 {
            break;
        }
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a LEB128 number of at most nine bytes. All eight bits of the ninth byte are data.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for index in 0..9 {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        let ends = index == 8 || byte < 0x80;
        let bits = if index == 8 { byte } else { byte & 0x7f };
        number |= u64::from(bits) << (7 * index);
        if ends {
            break;
        }
    }
    Some(number)
}

fn bucket(ns: u64) -> u64 {
    let doublings = u64::from((u64::BITS - ns.leading_zeros()).saturating_sub(11));
    (ns >> doublings) + doublings * HALF
}

/// Returns the longest time in a bucket, in ns. The first 2,048 buckets span 1 ns each, the next
/// 1,024 span 2 ns each, and so on.
fn highest_ns(bucket: u64) -> u64 {
    let doublings = (bucket / HALF).saturating_sub(1);
    ((bucket - doublings * HALF + 1) << doublings) - 1
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, Counts::MAX_NS, Counts::DIGITS)
        .expect("the bounds of the histogram are valid")
}

/// Returns an error if a header differs from the header that benchlab writes. Other headers could
/// cause an allocation of any size.
fn check_header(blob: &[u8]) -> Result<(), String> {
    let number = |at: usize| {
        blob.get(at..at + 8)
            .map(|b| u64::from_be_bytes(b.try_into().unwrap_or_default()))
    };
    let length = number(0).map(|n| n as u32 as usize);
    if blob.len() > MAX_BLOB_BYTES || length.map(|n| n + HEADER_BYTES) != Some(blob.len()) {
        return Err(format!(
            "a histogram of {} bytes differs from the length in its header",
            blob.len()
        ));
    }
    if number(0).map(|n| n >> 32) != Some(COOKIE) {
        return Err("a histogram has an unexpected cookie".to_string());
    }
    let digits = u64::from(Counts::DIGITS);
    let bounds = [digits, 1, Counts::MAX_NS, 1.0_f64.to_bits()];
    if [8, 16, 24, 32].map(number) != bounds.map(Some) {
        return Err("a histogram has unexpected bounds".to_string());
    }
    Ok(())
}

/// Returns an error if the total count exceeds the range of the format.
fn countable(total: u64) -> Result<(), String> {
    let fits = i64::try_from(total).map(drop);
    fits.map_err(|_| "the counts of a histogram add up to more than 2^63 - 1".to_string())
}

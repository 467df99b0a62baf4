// SPDX-License-Identifier: Apache-2.0
//! Distributions of times as HdrHistograms: what a run file keeps of them, and what their log holds.

use hdrhistogram::Histogram;
use lab_model::{Counts, PackedTimes, SliceTimes};
use std::borrow::Cow;

/// Bytes before the counts in the V2 format: cookie, length, offset, digits, lowest and highest value, ratio.
const HEADER_BYTES: usize = 40;

/// The cookie of the V2 format.
const COOKIE: u64 = 0x1c84_9313;

/// Buckets of a histogram: 1,024 for each doubling of the time, and 1,024 more for the shortest times.
const BUCKETS: u64 = 33 * HALF;
const HALF: u64 = 1024;

/// The longest blob that is read: 40,000 counts of nine bytes each.
const MAX_BLOB_BYTES: usize = HEADER_BYTES + 9 * 40_000;

/// The histogram of a distribution. Errors, in words: a time or a count exceeds what it can hold.
pub fn histogram(counts: &Counts) -> Result<Histogram<u64>, String> {
    let mut histogram = empty();
    for (value, count) in &counts.0 {
        let beyond = |_| format!("a time of {value} ns is too long for a histogram");
        histogram.record_n(*value, *count).map_err(beyond)?;
    }
    countable(histogram.len())?;
    Ok(histogram)
}

/// A distribution as HdrHistogram's V2 format, not compressed; `None`: it is empty. Written bucket by bucket: a
/// histogram of the library's makes room for all 33,792, which agents and coordinators would pay for in each slice.
///
/// # Errors
/// In words: a time or a number of them is beyond what it can hold.
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
        // Several empty buckets are their number, negative, in zigzag; one is 0.
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

/// The bytes of [`encode`] as a distribution in memory.
///
/// # Errors
///
/// As for [`decode`].
pub fn packed(blob: &[u8]) -> Result<SliceTimes, String> {
    if blob.is_empty() {
        return Ok(SliceTimes::default());
    }
    Ok(match decode(blob)?.median() {
        None => SliceTimes::default(),
        Some(median) => SliceTimes::Packed(PackedTimes {
            blob: blob.into(),
            unpack: |blob| decode(blob).expect("it was sound when it was packed"),
            median,
        }),
    })
}

/// The bytes of [`encode`] for a distribution.
pub fn blob(times: &SliceTimes) -> Result<Option<Cow<'_, [u8]>>, String> {
    match times {
        SliceTimes::Packed(packed) => Ok(Some(Cow::Borrowed(&packed.blob))),
        times => Ok(encode(&times.counts())?.map(Cow::Owned)),
    }
}

/// The distribution in a blob. It does not use the library's histogram, which would allocate all buckets. Errors, in
/// words: the blob was not made by [`encode`].
pub fn decode(blob: &[u8]) -> Result<Counts, String> {
    check_header(blob)?;
    let mut rest = &blob[HEADER_BYTES..];
    let (mut counts, mut bucket) = (Counts::default(), 0_u64);
    while !rest.is_empty() {
        let number = varint(&mut rest).ok_or("a histogram ends within a number")?;
        // Zigzag: a negative number counts empty buckets.
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

/// LEB128 of numbers below 2⁶³, which take nine bytes at most.
fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// LEB128 of at most nine bytes, all eight bits of the last of which count.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..9 {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        let ends = place == 8 || byte < 0x80;
        let bits = if place == 8 { byte } else { byte & 0x7f };
        number |= u64::from(bits) << (7 * place);
        if ends {
            break;
        }
    }
    Some(number)
}

/// The bucket of a time.
fn bucket(ns: u64) -> u64 {
    let doublings = u64::from((u64::BITS - ns.leading_zeros()).saturating_sub(11));
    (ns >> doublings) + doublings * HALF
}

/// The longest time in a bucket: the first 2,048 hold 1 ns each, the next 1,024 hold 2, and so on.
fn highest_ns(bucket: u64) -> u64 {
    let doublings = (bucket / HALF).saturating_sub(1);
    ((bucket - doublings * HALF + 1) << doublings) - 1
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, Counts::MAX_NS, Counts::DIGITS).expect("an hour has three digits")
}

/// Error: a header other than the lab's own, which could request any amount of memory.
fn check_header(blob: &[u8]) -> Result<(), String> {
    let number = |at: usize| {
        blob.get(at..at + 8)
            .map(|b| u64::from_be_bytes(b.try_into().unwrap_or_default()))
    };
    let length = number(0).map(|n| n as u32 as usize);
    if blob.len() > MAX_BLOB_BYTES || length.map(|n| n + HEADER_BYTES) != Some(blob.len()) {
        return Err(format!(
            "a histogram of {} bytes has another length than it says",
            blob.len()
        ));
    }
    if number(0).map(|n| n >> 32) != Some(COOKIE) {
        return Err("a histogram has another cookie than the lab's".to_string());
    }
    let digits = u64::from(Counts::DIGITS);
    let bounds = [digits, 1, Counts::MAX_NS, 1.0_f64.to_bits()];
    if [8, 16, 24, 32].map(number) != bounds.map(Some) {
        return Err("a histogram has other bounds than the lab's".to_string());
    }
    Ok(())
}

/// Error: the sum is more than the format can hold.
fn countable(total: u64) -> Result<(), String> {
    let fits = i64::try_from(total).map(drop);
    fits.map_err(|_| "a histogram counts more than can be counted".to_string())
}

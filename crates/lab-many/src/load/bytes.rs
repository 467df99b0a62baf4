// SPDX-License-Identifier: Apache-2.0
//! Encodes distributions in the format of run files. The coordinator therefore stores agents'
//! reports exactly.

use lab_model::Slice;
use lab_store::histogram;

/// Moves the distributions of a slice into bytes.
///
/// Each distribution is preceded by its length in bytes, a 32-bit big-endian number.
///
/// # Errors
/// Returns an error if a time is too long for a histogram.
pub fn take(slice: &mut Slice) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for times in [
        &mut slice.response,
        &mut slice.service,
        &mut slice.send_delay,
    ] {
        let times = std::mem::take(times);
        let blob = histogram::blob(&times)?.unwrap_or_default();
        bytes.extend((blob.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&blob);
    }
    Ok(bytes)
}

/// Restores the distributions of a slice from the bytes that [`take`] returned.
///
/// # Errors
/// Returns an error if the bytes are malformed.
pub fn put_back(slice: &mut Slice, bytes: &[u8]) -> Result<(), String> {
    let mut rest = bytes;
    for times in [
        &mut slice.response,
        &mut slice.service,
        &mut slice.send_delay,
    ] {
        let blob = length_prefixed(&mut rest).ok_or("a distribution of times is truncated")?;
        *times = histogram::pack(blob)?;
    }
    match rest {
        [] => Ok(()),
        _ => Err("there is data after the distributions of times".into()),
    }
}

fn length_prefixed<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (blob, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = after;
    Some(blob)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::{Counts, SliceTimes};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Generates times that encoding preserves: each is the highest value of its histogram bucket.
    fn times() -> impl Strategy<Value = SliceTimes> {
        let pairs = prop::collection::btree_map(0..=Counts::MAX_NS, 1..1_000_000_u64, 0..40);
        pairs.prop_map(|pairs: BTreeMap<u64, u64>| {
            let counts = Counts(pairs.into_iter().collect());
            let blob = histogram::encode(&counts).unwrap();
            let blob = blob.map(|blob| histogram::decode(&blob).unwrap());
            blob.unwrap_or_default().into()
        })
    }

    proptest! {
        #[test]
        fn slices_survive_encoding(response in times(), service in times(), send_delay in times()) {
            let original = Slice { response, service, send_delay, ..Slice::default() };
            let mut slice = original.clone();
            let bytes = take(&mut slice).unwrap();
            prop_assert_eq!(&slice, &Slice::default());
            put_back(&mut slice, &bytes).unwrap();
            prop_assert_eq!(slice, original);
        }

        #[test]
        fn damaged_bytes_are_rejected_or_are_a_distribution(
            times in times(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            length in any::<prop::sample::Index>(),
        ) {
            let mut bytes = take(&mut Slice { response: times, ..Slice::default() }).unwrap();
            for (index, byte) in damage {
                let index = index.index(bytes.len());
                bytes[index] = byte;
            }
            bytes.truncate(length.index(bytes.len() + 1));
            let mut slice = Slice::default();
            if put_back(&mut slice, &bytes).is_ok() {
                prop_assert!(slice.response.counts().0.windows(2).all(|w| w[0].0 < w[1].0));
            }
        }
    }
}

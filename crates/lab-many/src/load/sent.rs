// SPDX-License-Identifier: Apache-2.0
//! Distributions as bytes: exact, and in few of them.

use lab_model::{Counts, Slice};

/// Takes the distributions of a slice out of it, as bytes.
pub fn take(slice: &mut Slice) -> Vec<u8> {
    let mut bytes = Vec::new();
    for counts in [&mut slice.response, &mut slice.service, &mut slice.lag] {
        let counts = Counts::from(std::mem::take(counts));
        put(&mut bytes, counts.0.len() as u64);
        let mut last = 0;
        for (value, count) in counts.0 {
            // Ascending: differences are small.
            put(&mut bytes, value - last);
            put(&mut bytes, count);
            last = value;
        }
    }
    bytes
}

/// Puts them back. Error: these are no such bytes.
pub fn put_back(slice: &mut Slice, bytes: &[u8]) -> Result<(), String> {
    let mut rest = bytes;
    for counts in [&mut slice.response, &mut slice.service, &mut slice.lag] {
        let found = distribution(&mut rest).ok_or("a distribution of times is damaged")?;
        *counts = found.into();
    }
    match rest {
        [] => Ok(()),
        _ => Err("there is more behind the distributions of times".into()),
    }
}

fn distribution(rest: &mut &[u8]) -> Option<Counts> {
    let length = get(rest)?;
    let mut counts = Counts::default();
    let mut last = 0_u64;
    for _ in 0..length {
        let step = get(rest)?;
        last = last.checked_add(step)?;
        let is_ascending = step > 0 || counts.0.is_empty();
        let is_time = last <= 2 * Counts::LONGEST_NS;
        counts.0.push((last, get(rest)?));
        (is_ascending && is_time).then_some(())?;
    }
    Some(counts)
}

/// LEB128: seven bits a byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn get(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::SliceTimes;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn counts() -> impl Strategy<Value = Counts> {
        let pairs = prop::collection::btree_map(0..=Counts::LONGEST_NS, 1..u64::MAX, 0..40);
        pairs.prop_map(|pairs: BTreeMap<u64, u64>| Counts(pairs.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn nothing_is_lost_on_the_way(response in counts(), service in counts(), lag in counts()) {
            let [response, service, lag] = [response, service, lag].map(SliceTimes::from);
            let whole = Slice { response, service, lag, ..Slice::default() };
            let mut slice = whole.clone();
            let bytes = take(&mut slice);
            prop_assert_eq!(&slice, &Slice::default());
            put_back(&mut slice, &bytes).unwrap();
            prop_assert_eq!(slice, whole);
        }

        #[test]
        fn what_is_damaged_is_refused_or_a_distribution(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut slice = Slice::default();
            if put_back(&mut slice, &bytes).is_ok() {
                prop_assert!(slice.response.counts().0.windows(2).all(|w| w[0].0 < w[1].0));
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Compares the encoding of distributions with HdrHistogram's own serializer.

use hdrhistogram::serialization::{Serializer, V2Serializer};
use lab_model::{Counts, SliceTimes};
use lab_store::histogram::{self, decode, encode};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn counts() -> impl Strategy<Value = Counts> {
    // Uniform over magnitudes; otherwise most times would be close to an hour.
    let value = (0..42_u32, any::<u64>()).prop_map(|(bits, any)| any % (1 << bits));
    // 60 of these counts add up to less than 2⁶³.
    let count = (0..57_u32, any::<u64>()).prop_map(|(bits, any)| (any % (1 << bits)).max(1));
    let pairs = prop::collection::btree_map(value, count, 0..60);
    pairs.prop_map(|pairs: BTreeMap<u64, u64>| {
        let within = pairs.into_iter().filter(|(ns, _)| *ns <= Counts::MAX_NS);
        Counts(within.collect())
    })
}

proptest! {
    #[test]
    fn bytes_are_those_of_the_library(counts in counts()) {
        let histogram = histogram::histogram(&counts).unwrap();
        let mut expected = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut expected).unwrap();
        let expected = (!histogram.is_empty()).then_some(expected);
        prop_assert_eq!(encode(&counts).unwrap(), expected);
    }

    #[test]
    fn a_distribution_that_is_packed_is_the_same(counts in counts()) {
        let Some(blob) = encode(&counts).unwrap() else { return Ok(()) };
        let unpacked = decode(&blob).unwrap();
        let packed = histogram::pack(&blob).unwrap();
        prop_assert_eq!(packed.median(), unpacked.median());
        prop_assert_eq!(&*histogram::blob(&packed).unwrap().unwrap(), &blob[..]);
        prop_assert_eq!(packed, SliceTimes::from(unpacked));
    }
}

/// From 2⁶² on, a count has all eight bits of its ninth byte.
#[test]
fn the_largest_counts_are_kept() {
    for count in [1 << 55, (1 << 62) - 1, 1 << 62, i64::MAX as u64] {
        let counts = Counts(vec![(1, count)]);
        let histogram = histogram::histogram(&counts).unwrap();
        let mut expected = Vec::new();
        V2Serializer::new()
            .serialize(&histogram, &mut expected)
            .unwrap();
        let blob = encode(&counts).unwrap().unwrap();
        assert_eq!(blob, expected, "{count}");
        assert_eq!(decode(&blob), Ok(counts));
    }
}

#[test]
fn values_beyond_the_histogram_are_rejected() {
    let max = Counts(vec![(Counts::MAX_NS, 1)]);
    assert!(encode(&max).unwrap().is_some());
    let error = encode(&Counts(vec![(u64::MAX, 1)])).unwrap_err();
    assert!(error.contains("too long"), "{error}");
    let error = encode(&Counts(vec![(1, u64::MAX)])).unwrap_err();
    assert!(error.contains("add up to more than"), "{error}");
    assert_eq!(encode(&Counts::default()), Ok(None));
}

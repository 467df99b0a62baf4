// SPDX-License-Identifier: Apache-2.0
//! Random numbers that depend only on a seed and a position, not on earlier draws.

/// Returns the random number at a position (SplitMix64: Steele, Lea & Flood, OOPSLA 2014).
pub fn random(seed: u64, position: &[u64]) -> u64 {
    let mixed = |state: u64, word: &u64| {
        let z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    position.iter().fold(mixed(seed, &0), mixed)
}

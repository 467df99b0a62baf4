// SPDX-License-Identifier: Apache-2.0
//! The inputs of a case, computed when the case is opened.

/// The number of values in the sequence. After the last value, the sequence starts again.
const COUNT: usize = 4096;

/// The inputs of a case, one for each of the 4,096 values of the seeded sequence.
#[derive(Clone, Debug)]
pub struct Inputs<T = u64>(Vec<T>);

impl Inputs {
    /// Computes the first values of the sequence for a seed with SplitMix64: Steele, Lea, Flood, *Fast splittable
    /// pseudorandom number generators*, OOPSLA 2014.
    pub fn seeded(seed: u64) -> Self {
        let mut state = seed;
        let values = (0..COUNT).map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        });
        Self(values.collect())
    }

    /// Computes an input from each value of the sequence.
    pub fn map<T>(&self, input: impl Fn(u64) -> T) -> Inputs<T> {
        Inputs(self.0.iter().map(|&value| input(value)).collect())
    }
}

impl<T: Copy> Inputs<T> {
    /// Returns the first `count` inputs.
    pub fn first(&self, count: u64) -> impl Iterator<Item = T> {
        self.endless().take(count as usize)
    }

    /// Returns all inputs, repeated endlessly.
    pub fn endless(&self) -> impl Iterator<Item = T> {
        self.0.iter().copied().cycle()
    }

    /// Returns input `k`, counted from 0.
    pub fn at(&self, k: u64) -> T {
        self.0[k as usize % COUNT]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_as_the_protocol_says() {
        let first: Vec<u64> = Inputs::seeded(7).first(3).collect();
        let expected = [
            7191089600892374487,
            309689372594955804,
            16616101746815609346,
        ];
        assert_eq!(first, expected);
    }

    #[test]
    fn repeats_its_values() {
        let inputs = Inputs::seeded(7);
        let values: Vec<u64> = inputs.first(2 * COUNT as u64 + 3).collect();
        assert_eq!(values[..COUNT], values[COUNT..2 * COUNT]);
        assert_eq!(values[..3], values[2 * COUNT..]);
        assert!((0..9000).all(|k| inputs.at(k) == values[k as usize % COUNT]));
    }

    #[test]
    fn maps_each_value() {
        let halves = Inputs::seeded(1).map(|value| (value >> 33) as i32);
        assert!(halves.first(COUNT as u64).all(|value| value >= 0));
        assert_eq!(
            halves.at(5),
            (Inputs::seeded(1).at(5) / 8_589_934_592) as i32
        );
    }
}

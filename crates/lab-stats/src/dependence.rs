// SPDX-License-Identifier: Apache-2.0
//! Detects dependence between adjacent blocks, and merges blocks that depend on each other.

/// With at least this many values, merging barely affects precision.
const MANY_VALUES: usize = 40;

/// The values of blocks, after blocks that depend on each other were merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The merged values, in chronological order.
    pub values: Vec<f64>,
    /// The minimum number of blocks in each value. The last value may contain more.
    pub width: u32,
    /// The distance in blocks at which blocks show no dependence beyond chance, or 1 if no blocks
    /// were merged.
    pub independence_distance: u32,
    /// True if the values still depend on each other, but merging them once more would leave fewer
    /// than `enough` values.
    pub unresolved: bool,
}

impl Merged {
    /// Returns true if adjacent blocks depend on each other by more than chance explains.
    pub fn is_dependent(&self) -> bool {
        self.independence_distance > 1
    }
}

/// Averages adjacent values while their lag-1 autocorrelation exceeds 2/√n and at least `enough`
/// values would remain.
///
/// With 40 or more values, merging independent values barely affects precision, so the bound is
/// 1/(2√n). A dependence that is too weak to be detected in one run would still distort the
/// confidence level over many runs. A leftover value at the end is added to the last group, so that
/// nothing is discarded.
///
/// Source: batch means, as in Law, *Simulation Modeling and Analysis*, section 9.5. The bound 2/√n
/// is the usual bound for the autocorrelation of independent values (Box & Jenkins). The bound
/// 1/(2√n) was chosen by the simulations of this crate.
pub fn merge(values: &[f64], enough: u32) -> Merged {
    let mut merged = Merged {
        values: values.to_vec(),
        width: 1,
        independence_distance: 1,
        unresolved: false,
    };
    loop {
        let n = merged.values.len();
        let errors = autocorrelation(&merged.values).unwrap_or(0.0) * (n as f64).sqrt();
        let significant = errors > 2.0;
        if significant {
            merged.independence_distance = 2 * merged.width;
        }
        if !significant && (n < MANY_VALUES || errors <= 0.5) {
            return merged;
        }
        if n / 2 < enough.max(2) as usize {
            merged.unresolved = significant;
            return merged;
        }
        merged.values = halve(&merged.values);
        merged.width *= 2;
    }
}

/// Returns the lag-1 autocorrelation, or `None` if all values are equal.
///
/// The lag-1 autocorrelation is the sum of the products of adjacent deviations from the mean,
/// divided by the sum of squared deviations.
pub fn autocorrelation(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let products: f64 = values
        .windows(2)
        .map(|w| (w[0] - mean) * (w[1] - mean))
        .sum();
    // For equal values, `squares` is only the rounding error of their mean.
    let equal = values.windows(2).all(|w| w[0] == w[1]);
    (!equal && squares > 0.0)
        .then(|| products / squares)
        .filter(|r| r.is_finite())
}

fn halve(values: &[f64]) -> Vec<f64> {
    let groups = values.len() / 2;
    let end = |i: usize| {
        if i + 1 == groups {
            values.len()
        } else {
            2 * i + 2
        }
    };
    (0..groups)
        .map(|i| &values[2 * i..end(i)])
        .map(|group| group.iter().sum::<f64>() / group.len() as f64)
        .collect()
}

// SPDX-License-Identifier: Apache-2.0
//! Whether adjacent blocks depend on each other, and merging them where they do.

/// Values of blocks after merging adjacent ones as often as their dependence asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The merged values, in the order of time.
    pub values: Vec<f64>,
    /// How many blocks each value stands for, at least (the last may hold some more).
    pub width: u32,
    /// They still depend on each other, and one more merging would leave fewer than `enough`.
    pub dependent: bool,
}

/// Averages adjacent values while their lag-1 autocorrelation exceeds 2/√n and at least `enough`
/// would remain. An odd one out at the end goes into the last group: nothing is thrown away.
///
/// Source: batch means, as in Law, *Simulation Modeling and Analysis*, section 9.5; 2/√n is the
/// usual bound for the autocorrelation of independent values (Box & Jenkins).
pub fn merge(values: &[f64], enough: u32) -> Merged {
    let mut merged = Merged {
        values: values.to_vec(),
        width: 1,
        dependent: false,
    };
    while depends(&merged.values) {
        if merged.values.len() / 2 < enough.max(2) as usize {
            merged.dependent = true;
            break;
        }
        merged.values = halve(&merged.values);
        merged.width *= 2;
    }
    merged
}

/// The lag-1 autocorrelation: the sum of products of adjacent deviations from the mean over the
/// sum of squared deviations. `None` if all values are equal.
pub fn autocorrelation(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let products: f64 = values
        .windows(2)
        .map(|w| (w[0] - mean) * (w[1] - mean))
        .sum();
    (squares > 0.0)
        .then(|| products / squares)
        .filter(|r| r.is_finite())
}

fn depends(values: &[f64]) -> bool {
    autocorrelation(values).is_some_and(|r| r > 2.0 / (values.len() as f64).sqrt())
}

fn halve(values: &[f64]) -> Vec<f64> {
    let groups = values.len() / 2;
    (0..groups)
        .map(|i| {
            &values[2 * i..if i + 1 == groups {
                values.len()
            } else {
                2 * i + 2
            }]
        })
        .map(|group| group.iter().sum::<f64>() / group.len() as f64)
        .collect()
}

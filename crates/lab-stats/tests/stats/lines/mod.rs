// SPDX-License-Identifier: Apache-2.0
//! Reads the files in `reference/`, which contain one value or list per line.

/// A line such as `name key=value … : numbers`.
pub struct LinearFit<'a> {
    pub keys: Vec<&'a str>,
    pub numbers: Vec<f64>,
}

impl LinearFit<'_> {
    pub fn key(&self, name: &str) -> f64 {
        self.word(name).parse().unwrap()
    }

    pub fn word(&self, name: &str) -> &str {
        let value = self
            .keys
            .iter()
            .find_map(|key| key.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_else(|| panic!("no {name} in {:?}", self.keys))
    }
}

/// Returns the lines with the given name.
///
/// Panics if there are none.
pub fn lines<'a>(text: &'a str, name: &str) -> std::vec::IntoIter<LinearFit<'a>> {
    let found: Vec<LinearFit> = text
        .lines()
        .filter_map(|line| {
            let (words, numbers) = line.split_once(" :")?;
            let mut words = words.split(' ');
            let numbers = numbers
                .split_whitespace()
                .map(|n| n.parse().unwrap())
                .collect();
            (words.next() == Some(name)).then(|| LinearFit {
                keys: words.collect(),
                numbers,
            })
        })
        .collect();
    assert!(!found.is_empty(), "no {name} among the reference values");
    found.into_iter()
}

/// Asserts equality within `tolerance`, which is relative for numbers above 1.
pub fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f - e).abs() <= tolerance * e.abs().max(1.0),
            "{found:?}, expected {expected:?}"
        );
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Learns the variable segments of routes from all routes of a log.
//!
//! A segment is variable if new values keep appearing, or if there are more values than an
//! application has pages.

use std::collections::{BTreeMap, HashMap, HashSet};

/// The minimum number of different values of a variable segment.
const MIN_VALUES: usize = 50;
/// The number of different values at which a segment always counts as variable.
const ALWAYS_VARIABLE_VALUES: usize = 500;
/// The minimum fraction of a segment's different values that occurred only once.
///
/// The number of such values divided by the number of requests estimates the probability that the
/// next request brings a new value (Good, *Biometrika* 40, 1953).
const MIN_ONCE_FRACTION: f64 = 0.2;
/// The minimum fraction of the requests at which a value of a variable segment is kept instead of
/// being replaced by a placeholder.
const MIN_FREQUENT_FRACTION: f64 = 0.05;

/// The name of a learned variable segment.
pub const NAME: &str = "{name}";

/// A route and its number of requests.
pub type Counted<'r> = (&'r str, u64);

/// The parent paths of variable segments, each with the frequent values that no placeholder
/// replaces.
#[derive(Clone, Debug, Default)]
pub struct Variables(HashMap<String, HashSet<String>>);

/// Learns from all routes, which begin with `/`.
pub fn learn(routes: &[Counted]) -> Variables {
    // Computed on demand, because there may be a hundred thousand routes.
    let segment = |i: usize, depth: usize| routes[i].0.split('/').nth(1 + depth);
    let depth_of = |(route, _): &Counted| route.split('/').skip(1).count();
    let deepest = routes.iter().map(depth_of).max().unwrap_or(0);
    let mut variables = Variables::default();
    // The renamed path before each route's current segment.
    let mut before = vec![String::new(); routes.len()];
    for depth in 0..deepest {
        let mut parents: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (i, before) in before.iter().enumerate() {
            if let Some(segment) = segment(i, depth) {
                parents.entry(before).or_default().push((i, segment));
            }
        }
        for (parent, children) in parents.into_iter().filter(|(_, c)| c.len() >= MIN_VALUES) {
            let mut values: HashMap<&str, u64> = HashMap::new();
            for (i, segment) in children {
                *values.entry(segment).or_default() += routes[i].1;
            }
            values.retain(|value, _| !is_named(value));
            if is_variable(&values) {
                let total: u64 = values.values().sum();
                let frequent = values
                    .iter()
                    .filter(|(_, n)| **n as f64 >= MIN_FREQUENT_FRACTION * total as f64);
                let frequent_values = frequent.map(|(value, _)| value.to_string()).collect();
                variables.0.insert(parent.into(), frequent_values);
            }
        }
        for (i, before) in before.iter_mut().enumerate() {
            if let Some(segment) = segment(i, depth) {
                variables.push(before, segment);
            }
        }
    }
    variables
}

impl Variables {
    /// Returns the route with its variable segments renamed.
    pub fn rename(&self, route: &str) -> String {
        let mut name = String::with_capacity(route.len());
        let segments = route.split('/').skip(1);
        segments.for_each(|segment| self.push(&mut name, segment));
        name
    }

    /// Returns true if no segment is variable.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn push(&self, before: &mut String, segment: &str) {
        let frequent_values = self.0.get(before.as_str());
        let is_variable = frequent_values.is_some_and(|frequent_values| {
            !is_named(segment) && !frequent_values.contains(segment)
        });
        before.push('/');
        before.push_str(if is_variable { NAME } else { segment });
    }
}

/// Returns true if the segment is empty or is already a placeholder.
fn is_named(segment: &str) -> bool {
    segment.is_empty() || segment.contains('{') || segment == "…"
}

/// Returns true if a segment is variable.
///
/// `values` contains the segment's values, each with its number of requests.
fn is_variable(values: &HashMap<&str, u64>) -> bool {
    let once = values.values().filter(|n| **n == 1).count();
    let n = values.len();
    n >= ALWAYS_VARIABLE_VALUES || (n >= MIN_VALUES && once as f64 >= MIN_ONCE_FRACTION * n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_values_make_a_segment_variable() {
        let slugs: Vec<(String, u64)> = (0..300)
            .map(|i| {
                (
                    format!("/blog/post-of-{}", letters(i)),
                    1 + u64::from(i % 3 == 0),
                )
            })
            .collect();
        let mut routes: Vec<Counted> = slugs.iter().map(|(r, n)| (r.as_str(), *n)).collect();
        routes.push(("/blog/archive", 900));
        routes.push(("/about", 1));
        let learned = learn(&routes);
        assert_eq!(learned.rename("/blog/post-of-aa"), "/blog/{name}");
        assert_eq!(learned.rename("/blog/post-of-never-seen"), "/blog/{name}");
        assert_eq!(learned.rename("/blog/archive"), "/blog/archive");
        assert_eq!(learned.rename("/about"), "/about");
    }

    #[test]
    fn the_pages_of_an_application_keep_their_names() {
        let pages: Vec<String> = (0..200).map(|i| format!("/page-{}", letters(i))).collect();
        let routes: Vec<Counted> = pages
            .iter()
            .enumerate()
            .map(|(i, r)| (r.as_str(), 3 + 5000 / (i as u64 + 1)))
            .collect();
        assert!(learn(&routes).is_empty());
    }

    #[test]
    fn a_segment_in_the_middle_can_be_variable() {
        let slugs: Vec<String> = (0..600)
            .map(|i| format!("/shop/{}/reviews", letters(i)))
            .collect();
        let routes: Vec<Counted> = slugs.iter().map(|r| (r.as_str(), 40)).collect();
        assert_eq!(
            learn(&routes).rename("/shop/aa/reviews"),
            "/shop/{name}/reviews"
        );
    }

    fn letters(i: usize) -> String {
        let letter = |i: usize| char::from(b'a' + (i % 26) as u8);
        match i / 676 {
            0 => [letter(i / 26), letter(i)].iter().collect(),
            n => [letter(n), letter(i / 26), letter(i)].iter().collect(),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Matches the functions and lines of two builds of a program.

use crate::costs::{CostProfile, add};
use crate::names::{base_name, clean};
use std::collections::HashMap;

/// A function before and after a change. If the compiler made copies of the function, their costs are added up.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionPair {
    /// The source file, as named in the later profile.
    pub file: String,
    /// The name, without suffixes that the compiler appended.
    pub name: String,
    /// The costs in the earlier profile, by its events. `None` if the earlier profile does not contain the function.
    pub before: Option<Vec<u64>>,
    /// The costs in the later profile, by the events of the earlier profile. If the later profile lacks an event, its
    /// cost is 0.
    pub after: Option<Vec<u64>>,
}

/// A source line before and after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct LinePair {
    /// The base name of the file.
    pub file: String,
    /// The line number, starting at 1, or 0 if unknown.
    pub number: u32,
    /// The costs in the earlier profile, by its events.
    pub before: Option<Vec<u64>>,
    /// The costs in the later profile, by the events of the earlier profile.
    pub after: Option<Vec<u64>>,
}

type Key<'p> = (&'p str, &'p str);
type Sums<'p> = HashMap<Key<'p>, Vec<u64>>;

/// Matches the functions of two profiles. The result has no particular order.
///
/// Functions with the same file and name are matched first, then functions whose file moved to another directory, and
/// then functions whose name occurs exactly once in each profile.
pub fn join(before: &CostProfile, after: &CostProfile) -> Vec<FunctionPair> {
    let indexes = event_indexes(before, after);
    let mut old = sums(before, &identity(before));
    let mut new = sums(after, &indexes);
    let mut joined = Vec::new();
    let stages: [for<'p> fn(Key<'p>) -> Key<'p>; 3] = [
        |key| key,
        |(file, name)| (base_name(file), name),
        |(_, name)| ("", name),
    ];
    for stage in stages {
        let unique_new = unique(&new, stage);
        let unique_old = unique(&old, stage);
        for (key, old_key) in unique_old {
            let Some(new_key) = unique_new.get(&key) else {
                continue;
            };
            let (file, name) = *new_key;
            joined.push(FunctionPair {
                file: file.into(),
                name: name.into(),
                before: old.remove(&old_key),
                after: new.remove(new_key),
            });
        }
    }
    let removed = old.into_iter().map(|(key, costs)| (key, Some(costs), None));
    let added = new.into_iter().map(|(key, costs)| (key, None, Some(costs)));
    joined.extend(
        removed
            .chain(added)
            .map(|((file, name), before, after)| FunctionPair {
                file: file.into(),
                name: name.into(),
                before,
                after,
            }),
    );
    joined
}

/// Matches source lines by the base name of the file and the line number.
pub fn join_lines(before: &CostProfile, after: Option<&CostProfile>) -> Vec<LinePair> {
    let by_line = |profile: &CostProfile, indexes: &[Option<usize>]| {
        let mut sums: HashMap<(String, u32), Vec<u64>> = HashMap::new();
        for line in profile.lines() {
            let costs = reordered(line.costs, indexes);
            let sum = sums.entry((base_name(line.file).into(), line.number));
            add(sum.or_insert_with(|| vec![0; indexes.len()]), &costs);
        }
        sums
    };
    let old = by_line(before, &identity(before));
    let mut new = after.map_or_else(HashMap::new, |after| {
        by_line(after, &event_indexes(before, after))
    });
    let mut joined = Vec::new();
    for ((file, number), costs) in old {
        let after = new.remove(&(file.clone(), number));
        joined.push(LinePair {
            file,
            number,
            before: Some(costs),
            after,
        });
    }
    joined.extend(new.into_iter().map(|((file, number), costs)| LinePair {
        file,
        number,
        before: None,
        after: Some(costs),
    }));
    joined
}

/// Returns, for each event of the first profile, its index in the second profile.
fn event_indexes(first: &CostProfile, second: &CostProfile) -> Vec<Option<usize>> {
    first
        .events
        .iter()
        .map(|event| second.event(event))
        .collect()
}

fn identity(profile: &CostProfile) -> Vec<Option<usize>> {
    (0..profile.events.len()).map(Some).collect()
}

fn reordered(costs: &[u64], indexes: &[Option<usize>]) -> Vec<u64> {
    let cost = |index: &Option<usize>| index.map_or(0, |index| costs[index]);
    indexes.iter().map(cost).collect()
}

fn sums<'p>(profile: &'p CostProfile, indexes: &[Option<usize>]) -> Sums<'p> {
    let mut sums = Sums::new();
    for function in profile.functions() {
        let sum = sums.entry((function.file, clean(function.name)));
        let costs = reordered(function.costs, indexes);
        add(sum.or_insert_with(|| vec![0; indexes.len()]), &costs);
    }
    sums
}

/// Returns the functions whose key is unique at a stage of matching, as a map from key to function.
fn unique<'p>(sums: &Sums<'p>, stage: fn(Key<'p>) -> Key<'p>) -> HashMap<Key<'p>, Key<'p>> {
    let mut found: HashMap<Key, Option<Key>> = HashMap::new();
    for key in sums.keys() {
        let entry = found.entry(stage(*key));
        entry.and_modify(|one| *one = None).or_insert(Some(*key));
    }
    let alone = found.into_iter().filter_map(|(key, one)| Some((key, one?)));
    alone.collect()
}

// SPDX-License-Identifier: Apache-2.0
//! Removes the parameters by which no results differ, so that names are short.

use crate::subject::fact;
use lab_model::{Imported, ImportedSeries};
use std::collections::{BTreeSet, HashMap};

/// Turns the parameter `key` into the fact `name` if all results have the same value of it. No
/// value also counts as a value.
pub fn move_shared_to_fact(imports: &mut [Imported], key: &str, name: &str) {
    let all = imports.iter().flat_map(|import| &import.series);
    let values: BTreeSet<Option<&str>> = all.map(|series| param(series, key)).collect();
    let [Some(only)] = Vec::from_iter(values)[..] else {
        return;
    };
    let only = only.to_owned();
    for import in imports {
        fact(import, name, only.as_str());
        for series in &mut import.series {
            remove(series, key);
        }
    }
}

/// Removes the parameter `key` of each result that has a different name than all other results even
/// without this parameter.
pub fn remove_unneeded(imports: &mut [Imported], key: &str) {
    for import in imports {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for series in &import.series {
            *counts.entry(name_without(series, key)).or_default() += 1;
        }
        for series in &mut import.series {
            if counts[&name_without(series, key)] == 1 {
                remove(series, key);
            }
        }
    }
}

fn param<'s>(series: &'s ImportedSeries, key: &str) -> Option<&'s str> {
    let mut params = series.params.iter();
    let (_, value) = params.find(|(name, _)| name == key)?;
    Some(value)
}

fn remove(series: &mut ImportedSeries, key: &str) {
    series.params.retain(|(name, _)| name != key);
}

/// Returns a text that is the same for series that differ only in the parameter `key`.
fn name_without(series: &ImportedSeries, key: &str) -> String {
    let others: Vec<&(String, String)> = series
        .params
        .iter()
        .filter(|(name, _)| name != key)
        .collect();
    format!("{}\0{others:?}\0{}", series.case, series.metric.id)
}

// SPDX-License-Identifier: Apache-2.0
//! The source code of the most expensive lines.

use crate::Profile;
use lab_valgrind::{AllocationPoint, CostProfile, base_name};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// The maximum number of allocation sites whose source files are read.
const MAX_SITES: usize = 40;
/// The maximum number of lines per event that count as most expensive. Their source files are read.
pub const HOTTEST: usize = 12;
/// The number of lines that are shown before and after an expensive line.
pub const AROUND: u32 = 2;

/// The lines of source files that a report can show, by the file names in a profile.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sources {
    files: HashMap<String, BTreeMap<u32, String>>,
}

impl Sources {
    /// Reads the files that contain the most expensive lines and allocation sites. `read` returns the text of a file.
    pub fn read_with(profile: &Profile, read: impl Fn(&str) -> Option<String>) -> Sources {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        if let Some(costs) = profile.costs() {
            for event in [costs.chosen_event(), "Ir"] {
                names.extend(
                    costs
                        .hottest(event, HOTTEST)
                        .into_iter()
                        .map(|line| line.file),
                );
            }
        }
        let full = full_names(profile);
        for frame in allocating(profile) {
            let full_name = full.get(base_name(frame)).copied().flatten();
            names.insert(if frame.contains('/') {
                frame
            } else {
                full_name.unwrap_or(frame)
            });
        }
        let shown = shown_lines(profile);
        let texts = names
            .into_iter()
            .filter_map(|name| Some((name, read(name)?)));
        let files = texts.map(|(name, text)| {
            let lines = (1..).zip(text.lines());
            let of_file = shown.get(base_name(name));
            let lines = lines.filter(|(number, _)| of_file.is_some_and(|all| all.contains(number)));
            let lines = lines.map(|(number, line)| (number, line.to_owned()));
            (name.to_owned(), lines.collect())
        });
        Sources {
            files: files.collect(),
        }
    }

    /// Returns the text of a line. `file` may be a base name, if the base name is unique.
    pub fn line(&self, file: &str, number: u32) -> Option<&str> {
        let exact = self.files.get(file);
        let named = || {
            let mut candidates = self
                .files
                .iter()
                .filter(|(name, _)| base_name(name) == base_name(file));
            let (_, first) = candidates.next()?;
            candidates.next().is_none().then_some(first)
        };
        let lines = exact.or_else(named)?;
        Some(lines.get(&number)?.trim_end())
    }
}

/// Returns the numbers of the lines that a report can show, by base name of the file.
fn shown_lines(profile: &Profile) -> HashMap<&str, BTreeSet<u32>> {
    let mut shown: HashMap<&str, BTreeSet<u32>> = HashMap::new();
    let mut show = |file, lines: RangeInclusive<u32>| {
        shown.entry(base_name(file)).or_default().extend(lines);
    };
    if let Some(costs) = profile.costs() {
        for line in costs.hottest(costs.chosen_event(), HOTTEST) {
            let first = line.number.saturating_sub(AROUND);
            show(line.file, first..=line.number.saturating_add(AROUND));
        }
    }
    if let Some(dhat) = &profile.dhat {
        let sites = dhat.points.iter().filter_map(|point| dhat.site(point));
        sites.for_each(|site| show(&site.file, site.line..=site.line));
    }
    shown
}

/// Returns the files that contain the locations with the most allocated bytes.
fn allocating(profile: &Profile) -> Vec<&str> {
    let Some(dhat) = &profile.dhat else {
        return Vec::new();
    };
    let mut points: Vec<&AllocationPoint> = dhat.points.iter().collect();
    points.sort_by_key(|point| std::cmp::Reverse(point.bytes));
    let sites = points.into_iter().filter_map(|point| dhat.site(point));
    let files = sites.map(|site| site.file.as_str());
    files
        .filter(|file| !file.is_empty())
        .take(MAX_SITES)
        .collect()
}

/// Maps base names to full names, or to `None` if a base name is ambiguous.
fn full_names(profile: &Profile) -> HashMap<&str, Option<&str>> {
    let mut names: HashMap<&str, Option<&str>> = HashMap::new();
    for function in profile.costs().into_iter().flat_map(CostProfile::functions) {
        let file = function.file;
        let name = names.entry(base_name(file)).or_insert(Some(file));
        if name.is_some_and(|name| name != file) {
            *name = None;
        }
    }
    names
}

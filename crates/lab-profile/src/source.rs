// SPDX-License-Identifier: Apache-2.0
//! The source code of the most expensive lines.

use crate::Profile;
use lab_valgrind::{AllocationPoint, CostProfile, base_name};
use std::collections::{BTreeSet, HashMap};

/// The maximum number of allocation sites whose source files are read.
const MAX_SITES: usize = 40;
/// The number of the most expensive lines per event whose source files are read.
pub const HOTTEST: usize = 12;

/// The texts of source files, by the file names in a profile.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    /// Reads the files that contain the most expensive lines and allocation sites. `read` returns the text of a file.
    pub fn of(profile: &Profile, read: impl Fn(&str) -> Option<String>) -> Sources {
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
        let texts = names
            .into_iter()
            .filter_map(|name| Some((name, read(name)?)));
        let lines =
            texts.map(|(name, text)| (name.to_owned(), text.lines().map(str::to_owned).collect()));
        Sources {
            files: lines.collect(),
        }
    }

    /// Returns the text of a line. `file` may be a base name, if that is unique.
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
        let line = lines.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        Some(line.trim_end())
    }
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

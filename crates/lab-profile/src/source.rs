// SPDX-License-Identifier: Apache-2.0
//! The source lines that cost most, and their text.

use crate::Profile;
use crate::costs::{CostProfile, add};
use crate::names::base_name;
use std::collections::{BTreeSet, HashMap};

/// Places that allocate, of which the sources are looked for.
const MOST_SITES: usize = 40;
/// Lines of each event of which they are.
pub const HOTTEST: usize = 12;

/// A source line with all that it costs, wherever it was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotLine<'p> {
    /// The file, as the profile has it.
    pub file: &'p str,
    /// From 1.
    pub number: u32,
    /// By event.
    pub costs: Vec<u64>,
}

impl CostProfile {
    /// Known source lines by an event or a sum of events, the most costly first.
    pub fn hottest(&self, event: &str, most: usize) -> Vec<HotLine<'_>> {
        let mut sums: HashMap<(&str, u32), Vec<u64>> = HashMap::new();
        for line in self.lines().filter(|line| line.number > 0) {
            let sum = sums.entry((line.file, line.number));
            let sum = sum.or_insert_with(|| vec![0; self.events.len()]);
            add(sum, line.costs);
        }
        let cost = |costs: &[u64]| self.value(event, costs).unwrap_or(0);
        let lines = sums.into_iter().filter(|(_, costs)| cost(costs) > 0);
        let mut lines: Vec<HotLine> = lines
            .map(|((file, number), costs)| HotLine {
                file,
                number,
                costs,
            })
            .collect();
        lines.sort_by(|a, b| {
            let order = cost(&b.costs).cmp(&cost(&a.costs));
            order.then_with(|| (a.file, a.number).cmp(&(b.file, b.number)))
        });
        lines.truncate(most);
        lines
    }

    /// The event by which lines are chosen: misses of the first-level data cache, or what there is.
    pub fn chosen_event(&self) -> &str {
        match self.total_of("D1") {
            Some(misses) if misses > 0 => "D1",
            _ => self.events.first().map_or("", String::as_str),
        }
    }
}

/// Texts of source files, by their names in a profile.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    /// The files of the lines that cost most and of the places that allocate; `read` gives a file's text.
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

    /// A line's text; a name without a folder is enough, where one file alone has it.
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

/// The files of the places that allocate most.
fn allocating(profile: &Profile) -> Vec<&str> {
    let Some(dhat) = &profile.dhat else {
        return Vec::new();
    };
    let mut points: Vec<&crate::AllocationPoint> = dhat.points.iter().collect();
    points.sort_by_key(|point| std::cmp::Reverse(point.bytes));
    let sites = points.into_iter().filter_map(|point| dhat.site(point));
    let files = sites.map(|site| site.file.as_str());
    files
        .filter(|file| !file.is_empty())
        .take(MOST_SITES)
        .collect()
}

/// Names with folders by those without; `None`: there are several.
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

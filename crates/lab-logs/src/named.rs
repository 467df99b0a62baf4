// SPDX-License-Identifier: Apache-2.0
//! Renames pages once the variable segments of routes are known, and merges pages with the same
//! name.

use crate::learn::{Variables, learn};
use crate::page::{CellWidth, Page};
use crate::records::Renamed;
use crate::rules::Rules;
use lab_model::{LogPage, PageKind};
use std::collections::HashMap;

/// The maximum number of pages that a report lists individually.
const MAX_KEPT: usize = 2_000;

/// The name of the group of all pages that returned only 404 responses.
pub const NOT_FOUND: &str = "(no such page)";
/// The name of the group of all pages that are not counted or listed individually.
pub const OTHERS: &str = "(other pages)";
/// The name of the group of all queries that are not counted or listed individually.
const OTHER_QUERIES: &str = "(other queries)";

/// Returns the name of the group of all pages of a kind that are not counted or listed
/// individually.
pub fn others(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Query => OTHER_QUERIES,
        PageKind::Page | PageKind::Bot | PageKind::Health => OTHERS,
    }
}

/// A page with its new name.
struct NamedPage<'p> {
    name: String,
    page: &'p Page,
}

/// Returns the pages of a report, and the number of pages that were merged into [`others`].
///
/// The pages that take the most time stay separate. The function does not copy all pages, because
/// there may be 100,000.
pub fn report_pages(pages: &[Page], rules: &Rules, width: CellWidth) -> (Vec<LogPage>, u64) {
    let variables = learn_variables(pages, rules);
    let named = |page| NamedPage {
        name: name_of(page, &variables, rules),
        page,
    };
    let mut named: Vec<NamedPage> = pages.iter().map(named).collect();
    named.sort_by(|a, b| a.key().cmp(&b.key()));
    let mut groups: Vec<&[NamedPage]> = named.chunk_by(|a, b| a.key() == b.key()).collect();
    groups.sort_by(|a, b| {
        let by_cost = cost(b).cmp(&cost(a));
        by_cost.then_with(|| a[0].name.cmp(&b[0].name))
    });
    let mut kept = Vec::new();
    let mut rest: Vec<Page> = Vec::new();
    let mut merged_count = 0;
    for (rank, group) in groups.into_iter().enumerate() {
        let (kind, name) = group[0].key();
        let is_kept = rank < MAX_KEPT || !kind.is_use();
        if is_kept && name != others(kind) {
            kept.push(merge_group(group).analysis(width));
            continue;
        }
        merged_count += u64::from(name != others(kind));
        let existing = rest.iter().position(|page| page.kind == kind);
        let index = existing.unwrap_or(rest.len());
        if existing.is_none() {
            rest.push(Page::new(kind, others(kind).into()));
        }
        group.iter().for_each(|n| rest[index].merge(n.page));
    }
    kept.extend(rest.into_iter().map(|page| page.analysis(width)));
    (kept, merged_count)
}

impl NamedPage<'_> {
    fn key(&self) -> (PageKind, &str) {
        (self.page.kind, &self.name)
    }
}

/// Returns the cost of a group of pages: the total time in ns, then the number of requests.
fn cost(group: &[NamedPage]) -> (u64, u64) {
    group.iter().fold((0, 0), |(time, requests), named| {
        let (t, r) = named.page.cost();
        (time.saturating_add(t), requests.saturating_add(r))
    })
}

fn merge_group(group: &[NamedPage]) -> Page {
    let mut page = Page {
        name: group[0].name.clone(),
        ..group[0].page.clone()
    };
    group[1..].iter().for_each(|n| page.merge(n.page));
    page
}

/// Renames pages and merges pages with the same name.
///
/// Also returns the new index of each original page.
pub fn merge_renamed(
    pages: Vec<Page>,
    variables: &Variables,
    rules: &Rules,
) -> (Vec<Page>, Vec<u32>) {
    let mut indexes: HashMap<(PageKind, String), u32> = HashMap::new();
    let mut merged: Vec<Page> = Vec::new();
    let mut renumbered = Vec::with_capacity(pages.len());
    for mut page in pages {
        page.name = name_of(&page, variables, rules);
        let key = (page.kind, page.name.clone());
        let index = *indexes.entry(key).or_insert(merged.len() as u32);
        renumbered.push(index);
        match merged.get_mut(index as usize) {
            Some(known) => known.merge(&page),
            None => merged.push(page),
        }
    }
    (merged, renumbered)
}

/// Returns the offset of the route in a page's name, after the method.
fn route_at(name: &str) -> usize {
    if name.starts_with('/') {
        0
    } else {
        name.find(" /").map_or(name.len(), |space| space + 1)
    }
}

/// Replaces the variable segments of a page's route with `{name}`.
pub fn rename_page(variables: &Variables, name: &str) -> String {
    let (method, route) = name.split_at(route_at(name));
    match route {
        "" => name.to_string(),
        route => format!("{method}{}", variables.rename(route)),
    }
}

/// Learns variable segments from the routes of existing pages that no rule names.
pub fn learn_variables(pages: &[Page], rules: &Rules) -> Variables {
    let mut routes: HashMap<&str, u64> = HashMap::new();
    for page in pages
        .iter()
        .filter(|p| p.kind == PageKind::Page && !p.is_missing())
    {
        let route = &page.name[route_at(&page.name)..];
        if !route.is_empty() && !rules.has_route_named(route) {
            *routes.entry(route).or_default() += page.requests;
        }
    }
    let routes: Vec<(&str, u64)> = routes.into_iter().collect();
    learn(&routes)
}

/// Returns the new name of a page, with placeholders for the variable segments.
pub fn name_of(page: &Page, variables: &Variables, rules: &Rules) -> String {
    if page.is_missing() {
        return NOT_FOUND.into();
    }
    let is_named = rules.has_route_named(&page.name[route_at(&page.name)..]);
    if page.kind == PageKind::Page && !is_named {
        rename_page(variables, &page.name)
    } else {
        page.name.clone()
    }
}

/// Returns the kind, the old name and the new name of each page.
pub fn renames(pages: &[Page], variables: &Variables, rules: &Rules) -> Vec<Renamed> {
    let rename = |page: &Page| {
        let name = name_of(page, variables, rules);
        (page.kind, page.name.clone(), name)
    };
    pages.iter().map(rename).collect()
}

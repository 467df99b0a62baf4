// SPDX-License-Identifier: Apache-2.0
//! Pages under the names that they have once it is known what varies in routes; those of one name are put together.

use crate::learn::{Variables, learn};
use crate::page::{Page, Width};
use crate::records::Renamed;
use crate::rules::Rules;
use lab_model::{PageKind, WatchedPage};
use std::collections::HashMap;

/// Pages that a report keeps one by one.
const KEPT: usize = 2_000;

/// The name of all pages that were answered with 404 alone.
pub const NOT_FOUND: &str = "(no such page)";
/// The name of pages that there was no room for.
pub const OTHERS: &str = "(other pages)";

/// A page with the name that it has now.
struct Named<'p> {
    name: String,
    page: &'p Page,
}

/// The pages that a report keeps, those that take most one by one; and how many are in none but [`OTHERS`]. There may be a
/// hundred thousand, so that no copy of all is made.
pub fn kept(pages: &[Page], rules: &Rules, width: Width) -> (Vec<WatchedPage>, u64) {
    let variables = learned(pages, rules);
    let named = |page| Named {
        name: name_of(page, &variables, rules),
        page,
    };
    let mut named: Vec<Named> = pages.iter().map(named).collect();
    named.sort_by(|a, b| a.key().cmp(&b.key()));
    let mut groups: Vec<&[Named]> = named.chunk_by(|a, b| a.key() == b.key()).collect();
    groups.sort_by(|a, b| {
        let by_cost = cost(b).cmp(&cost(a));
        by_cost.then_with(|| a[0].name.cmp(&b[0].name))
    });
    let mut kept = Vec::new();
    let mut others: Vec<Page> = Vec::new();
    let mut unkept = 0;
    for (place, group) in groups.into_iter().enumerate() {
        let (kind, name) = group[0].key();
        let is_kept = place < KEPT || !kind.is_use();
        if is_kept && name != OTHERS {
            kept.push(together(group).watched(width));
            continue;
        }
        unkept += u64::from(name != OTHERS);
        let known = others.iter().position(|page| page.kind == kind);
        let at = known.unwrap_or(others.len());
        if known.is_none() {
            others.push(Page::new(kind, OTHERS.into()));
        }
        group.iter().for_each(|n| others[at].merge(n.page));
    }
    kept.extend(others.into_iter().map(|page| page.watched(width)));
    (kept, unkept)
}

impl Named<'_> {
    fn key(&self) -> (PageKind, &str) {
        (self.page.kind, &self.name)
    }
}

/// What pages take: time, and where none is known requests.
fn cost(group: &[Named]) -> (u64, u64) {
    group.iter().fold((0, 0), |(time, requests), named| {
        let (t, r) = named.page.cost();
        (time.saturating_add(t), requests.saturating_add(r))
    })
}

fn together(group: &[Named]) -> Page {
    let mut page = Page {
        name: group[0].name.clone(),
        ..group[0].page.clone()
    };
    group[1..].iter().for_each(|n| page.merge(n.page));
    page
}

/// Pages with their new names, those of one name put together.
pub fn folded(pages: Vec<Page>, variables: &Variables, rules: &Rules) -> Vec<Page> {
    let mut places: HashMap<(PageKind, String), usize> = HashMap::new();
    let mut folded: Vec<Page> = Vec::new();
    for mut page in pages {
        page.name = name_of(&page, variables, rules);
        match places.get(&(page.kind, page.name.clone())) {
            Some(&place) => folded[place].merge(&page),
            None => {
                places.insert((page.kind, page.name.clone()), folded.len());
                folded.push(page);
            }
        }
    }
    folded
}

/// Where methods end and routes begin in a page's name.
fn route_at(name: &str) -> usize {
    if name.starts_with('/') {
        0
    } else {
        name.find(" /").map_or(name.len(), |space| space + 1)
    }
}

/// A page's name with the variable segments of its route named.
pub fn renamed(variables: &Variables, name: &str) -> String {
    let (method, route) = name.split_at(route_at(name));
    match route {
        "" => name.to_string(),
        route => format!("{method}{}", variables.rename(route)),
    }
}

/// What varies in the routes of pages that exist, and that no rule names.
pub fn learned(pages: &[Page], rules: &Rules) -> Variables {
    let mut routes: HashMap<&str, u64> = HashMap::new();
    for page in pages
        .iter()
        .filter(|p| p.kind == PageKind::Page && !p.is_missing())
    {
        let route = &page.name[route_at(&page.name)..];
        if !route.is_empty() && !rules.names(route) {
            *routes.entry(route).or_default() += page.requests;
        }
    }
    let routes: Vec<(&str, u64)> = routes.into_iter().collect();
    learn(&routes)
}

/// What a page is called once it is known what varies.
fn name_of(page: &Page, variables: &Variables, rules: &Rules) -> String {
    if page.is_missing() {
        return NOT_FOUND.into();
    }
    let is_named = rules.names(&page.name[route_at(&page.name)..]);
    if page.kind == PageKind::Page && !is_named {
        renamed(variables, &page.name)
    } else {
        page.name.clone()
    }
}

/// Of all pages what they become.
pub fn renamed_all(pages: &[Page], variables: &Variables, rules: &Rules) -> Vec<Renamed> {
    let became = |page: &Page| {
        let name = name_of(page, variables, rules);
        (page.kind, page.name.clone(), name)
    };
    pages.iter().map(became).collect()
}

// SPDX-License-Identifier: Apache-2.0
//! Counts entries and their durations per page, in memory that does not grow with the log.

use crate::agent;
use crate::entry::Entry;
use crate::hour::Hour;
use crate::join::Join;
use crate::learn::Variables;
use crate::named::{
    learn_variables, merge_renamed, name_of, others, rename_page, renames, report_pages,
};
use crate::page::{CellWidth, Page, storable};
use crate::part::TallyPart;
use crate::peak::CountPeak;
use crate::query;
use crate::records::Records;
use crate::registers;
use crate::route::{self, printable};
use crate::rules::Rules;
use crate::seconds::Seconds;
use crate::sketch::{self, bucket};
use foldhash::fast::RandomState;
use lab_model::{
    JoinCoverage, LineCounts, LogAnalysis, LogFile, LogHour, LogPage, PageKind, QueryWithin,
};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::ops::Range;

/// The maximum number of pages that are counted individually.
const MAX_PAGES: usize = 100_000;
/// The maximum memory for pages, in bytes.
///
/// Above this limit, the least expensive pages lose their cells. After that, new pages are merged.
const MEMORY: usize = 100 << 20;
/// The number of pages (some KiB each) that fit into the processor's cache and need no prefetching.
const FEW_PAGES: usize = 1_000;
/// The number of entries between two checks of the memory.
const CHECKED: u32 = 1 << 20;
/// The maximum number of cells of all pages together.
///
/// If there are more, the least expensive pages lose their cells.
const MAX_CELLS: usize = 1_000_000;
/// The maximum number of hours that are counted individually: 22 years.
const MAX_HOURS: usize = 200_000;
/// The base-2 logarithms of the initial and the maximum number of entries in the path cache.
const CACHE: (u32, u32) = (12, 18);
/// The number of entries in the client cache.
const AGENTS: usize = 1 << 12;
/// The maximum number of queries within pages in a report.
const MAX_WITHIN: usize = 500;
/// The minimum backward step of the clock that counts as a jump, in seconds.
const JUMP: i64 = 60;

/// A path in the cache, identified by its hash.
///
/// Paths with equal hashes are treated as the same path. For a million paths, the probability of a
/// collision is 10^-7.
#[derive(Clone, Copy, Default)]
struct CachedPath {
    hash: u64,
    /// The index of the page plus 1, or 0 if the entry is empty.
    page: u32,
    /// True if the path has variable segments other than numbers, which suggests that the path
    /// occurs only once.
    varies: bool,
}

/// The hashes that identify the client and the path of an entry.
#[derive(Clone, Copy, Default)]
struct Keys {
    agent: u64,
    path: u64,
}

/// The values that all times of a minute have in common.
struct Minute {
    /// The start of the minute, in minutes since 1970.
    start: i64,
    /// The range of seconds since 1970 that the minute covers.
    seconds: Range<i64>,
    /// The start of the hour that contains the minute, in seconds since 1970.
    hour_s: i64,
    /// The number of the minute in its hour, 0 to 59.
    of_hour: u8,
    /// The number of the cell that contains the minute, at the current cell width.
    cell: i32,
}

impl Minute {
    /// Creates the minute with the number `start`, counted from 1970. `begin_s` is the time after
    /// full hours of UTC at which hours begin.
    fn new(start: i64, width: CellWidth, begin_s: i64) -> Minute {
        let second = start.saturating_mul(60);
        let hour_s = hour_start(second, begin_s);
        Minute {
            start,
            seconds: second..second.saturating_add(60),
            hour_s,
            of_hour: minute_of_hour(second, hour_s),
            cell: width.cell(second),
        }
    }
}

/// The counts of all entries so far, per page and per hour.
pub struct Tally {
    rules: Rules,
    rules_distinguish_numbers: bool,
    random: RandomState,
    logarithms: Vec<f64>,
    cache: Vec<CachedPath>,
    evicted: usize,
    /// The cached clients, by the hash of their user agents. The page `u32::MAX` stands for a
    /// person.
    agents: Vec<CachedPath>,
    names: HashMap<String, u32, RandomState>,
    name: String,
    pages: Vec<Page>,
    variables: Variables,
    width: CellWidth,
    /// The minute of the last entry.
    minute: Minute,
    /// The time after full hours of UTC at which hours begin, because the log's clock is ahead by
    /// half an hour, for example. In seconds, a multiple of 900.
    hours_begin_s: i64,
    cells: usize,
    /// The number of entries since the last check of the memory.
    unchecked: u32,
    first_s: i64,
    last_s: i64,
    /// True if any page was counted.
    ///
    /// In that case, hours and peaks count only pages, because statements run within the requests
    /// of pages.
    has_pages: bool,
    /// The hours in order of their first entry.
    hours: Vec<Hour>,
    hour_indexes: HashMap<i64, usize>,
    hour: usize,
    seconds: CountPeak,
    /// The counts of every second, if multiple logs can cover the same time.
    every_second: Option<Seconds>,
    clock_jumps: u64,
    is_full: bool,
    /// True once pages were merged because there were too many pages.
    has_learned: bool,
    /// The new index of each page after the pages were merged.
    renumbered: Vec<u32>,
    merged: u64,
    /// The writer of individual entries.
    records: Option<Records>,
    join: Join,
}

impl Tally {
    /// Creates an empty tally.
    pub fn new(rules: Rules) -> Tally {
        Tally {
            rules_distinguish_numbers: rules.distinguish_numbers(),
            rules,
            random: RandomState::default(),
            logarithms: sketch::logarithms(),
            cache: vec![CachedPath::default(); 1 << CACHE.0],
            evicted: 0,
            agents: vec![CachedPath::default(); AGENTS],
            names: HashMap::default(),
            name: String::new(),
            pages: Vec::new(),
            variables: Variables::default(),
            width: CellWidth::MINUTE,
            minute: Minute::new(0, CellWidth::MINUTE, 0),
            hours_begin_s: 0,
            cells: 0,
            unchecked: 0,
            first_s: i64::MAX,
            last_s: i64::MIN,
            has_pages: false,
            hours: Vec::new(),
            hour_indexes: HashMap::new(),
            hour: 0,
            seconds: CountPeak::new(),
            every_second: None,
            clock_jumps: 0,
            is_full: false,
            has_learned: false,
            renumbered: Vec::new(),
            merged: 0,
            records: None,
            join: Join::default(),
        }
    }

    /// Starts to write individual entries, too.
    pub fn keep_records(&mut self, records: Records) {
        self.records = Some(records);
    }

    /// Starts to count every second, because another log may cover the same time as an earlier log.
    pub fn keep_every_second(&mut self) {
        self.every_second.get_or_insert_default();
    }

    /// Begins a log with the name `name`.
    pub fn begin_log(&mut self, name: &str) {
        if let Some(records) = &mut self.records {
            records.begin_log(name, &self.pages);
        }
    }

    /// Finishes the records, if any. Returns an error if they could not be written.
    pub fn end_records(&mut self) -> io::Result<()> {
        let Some(records) = self.records.take() else {
            return Ok(());
        };
        let variables = learn_variables(&self.pages, &self.rules);
        records.finish(&self.pages, renames(&self.pages, &variables, &self.rules))
    }

    /// Creates a tally for merging counts from multiple machines or processes.
    pub fn in_parts(rules: Rules) -> Tally {
        Tally {
            every_second: Some(Seconds::default()),
            ..Tally::new(rules)
        }
    }

    /// Returns the counts, which [`Tally::merge`] adds to the counts of another tally.
    pub fn into_part(mut self) -> TallyPart {
        self.join.sort();
        TallyPart {
            pages: self.pages,
            width: self.width,
            first_s: self.first_s,
            last_s: self.last_s,
            hours: self.hours,
            seconds: self.every_second,
            clock_jumps: self.clock_jumps,
            merged: self.merged,
            join: self.join,
        }
    }

    /// Adds the counts of another tally. This tally must have been created with
    /// [`Tally::in_parts`].
    pub fn merge(&mut self, part: TallyPart) {
        if part.first_s <= part.last_s {
            self.clock_jumps += part.clock_jumps;
            self.extend_times(part.first_s, part.last_s);
        }
        while self.width < part.width.min(CellWidth::MAX) {
            self.widen();
        }
        let part_has_pages = part.pages.iter().any(|page| page.kind == PageKind::Page);
        let mut indexes = Vec::with_capacity(part.pages.len());
        for mut page in part.pages {
            let mut width = part.width;
            while width < self.width {
                width = width.next();
                page.widen(width);
            }
            let had_learned = self.has_learned;
            let index = self.page_named(page.kind, &page.name);
            self.pages[index].merge(&page);
            if self.has_learned != had_learned {
                let moved = |index: &mut u32| *index = self.renumbered[*index as usize];
                indexes.iter_mut().for_each(moved);
            }
            indexes.push(index as u32);
        }
        self.join.merge(part.join, &indexes);
        self.cells = self.pages.iter().map(|p| p.cells.len()).sum();
        if self.cells > MAX_CELLS {
            self.drop_cells();
        }
        self.merged += part.merged;
        if self.has_pages && !part_has_pages {
            return;
        }
        if let Some(first) = part.hours.first().filter(|_| self.hours.is_empty()) {
            self.begin_hours(first.start_s.rem_euclid(3600));
        }
        for other in part.hours {
            let hour = self.hour_at(hour_start(other.start_s, self.hours_begin_s));
            hour.offset_s = other.offset_s;
            hour.requests += other.requests;
            hour.errors += other.errors;
            hour.total_ns = hour.total_ns.saturating_add(other.total_ns);
            hour.times.merge(&other.times);
            for (start_s, requests) in other.minutes() {
                let hour_s = hour_start(start_s, self.hours_begin_s);
                let minute = minute_of_hour(start_s, hour_s);
                self.hour_at(hour_s).minutes.add(minute, requests);
            }
        }
        if let (Some(seconds), Some(other)) = (&mut self.every_second, &part.seconds) {
            seconds.merge(other);
        }
    }

    /// The number of entries in a batch. Memory for the whole batch is prefetched before the entries
    /// are counted.
    pub(crate) const TOGETHER: usize = 16;

    /// Returns true if there are so few pages that counting entries together is not worth it.
    #[inline]
    pub(crate) fn has_few_pages(&self) -> bool {
        self.pages.len() <= FEW_PAGES
    }

    /// Counts entries, with the same result as calling [`Tally::add`] for each of them.
    pub(crate) fn add_all(&mut self, entries: &[Entry]) {
        for entries in entries.chunks(Tally::TOGETHER) {
            let mut keys = [Keys::default(); Tally::TOGETHER];
            for (keys, entry) in keys.iter_mut().zip(entries) {
                *keys = self.keys(entry);
                registers::fetch(&self.cache[self.cache_slot(keys.path)]);
            }
            for (keys, entry) in keys.iter().zip(entries) {
                self.fetch_page(entry, keys.path);
            }
            for (keys, entry) in keys.iter().zip(entries) {
                self.count(entry, *keys);
            }
        }
    }

    /// Prefetches the memory in which an entry will be counted, if its path is known.
    #[inline]
    fn fetch_page(&self, entry: &Entry, path: u64) {
        let cached = self.cache[self.cache_slot(path)];
        if cached.hash == path
            && let Some(at) = (cached.page as usize).checked_sub(1)
        {
            self.pages[at].fetch(entry.duration_ns.map(bucket));
        }
    }

    /// Counts an entry.
    pub fn add(&mut self, entry: &Entry) {
        self.count(entry, self.keys(entry));
    }

    #[inline]
    fn count(&mut self, entry: &Entry, keys: Keys) {
        self.unchecked += 1;
        if self.unchecked >= CHECKED {
            self.fit_memory();
        }
        let page_index = self.page_of(entry, keys);
        if let Some(records) = &mut self.records {
            records.add(entry, page_index, &self.pages);
        }
        if entry.is_query || !entry.id.is_empty() {
            self.join.add(entry, page_index);
        }
        let is_error = entry.status >= 500;
        let duration = entry.duration_ns.map(|ns| (ns, bucket(ns)));
        if let Some(time) = entry.time_s {
            if entry.is_late {
                self.extend_times(time, time);
            } else {
                // A statement may be logged long after it began.
                self.advance_clock(time, !entry.is_query);
            }
        }
        let page = &mut self.pages[page_index];
        page.requests += 1;
        page.bytes = page.bytes.saturating_add(entry.bytes);
        page.errors += u64::from(is_error);
        if (400..500).contains(&entry.status) {
            page.client_errors += 1;
            page.not_found += u64::from(entry.status == 404);
        } else if entry.status == 0 {
            page.without_status += 1;
        }
        if let Some((ns, bucket)) = duration {
            page.timed += 1;
            page.total_ns = page.total_ns.saturating_add(ns);
            page.max_ns = page.max_ns.max(ns);
            page.times.add(bucket);
        }
        let Some(time) = entry.time_s else {
            return;
        };
        if !self.minute.seconds.contains(&time) {
            self.minute = Minute::new(time.div_euclid(60), self.width, self.hours_begin_s);
        }
        if page.has_cells {
            let cell = self.minute.cell;
            let duration_and_ln = match duration {
                Some((ns, bucket)) => Some((ns, self.logarithms[usize::from(bucket)])),
                None => None,
            };
            if page.add_to_cell(cell, is_error, duration_and_ln) {
                self.cells += 1;
                if self.cells > MAX_CELLS {
                    self.drop_cells();
                }
            }
        }
        let is_of_hour = match self.pages[page_index].kind {
            PageKind::Page => true,
            PageKind::Query => !self.has_pages,
            PageKind::Bot | PageKind::Health => false,
        };
        if is_of_hour {
            self.add_to_hour(time, entry.offset_s, is_error, duration);
        }
    }

    /// Adds the totals of a page's requests.
    pub fn add_page(&mut self, page: LogPage) {
        let index = self.page_named(page.kind, &page.name);
        self.pages[index].add_all(&page);
    }

    /// Adds the totals of an hour's requests.
    pub fn add_hour(&mut self, start_s: i64, requests: u64, errors: u64, total_ns: u64) {
        self.advance_clock(start_s, true);
        let hour = self.hour_at(hour_start(start_s, self.hours_begin_s));
        hour.requests += requests;
        hour.errors += errors;
        hour.total_ns = hour.total_ns.saturating_add(total_ns);
    }

    /// Updates the log's time span with an entry's time, and counts clock jumps if entries are in
    /// order.
    #[inline]
    fn advance_clock(&mut self, time: i64, is_in_order: bool) {
        if time < self.first_s || time > self.last_s {
            self.first_s = self.first_s.min(time);
            self.widen_for(time.max(self.last_s));
        }
        if is_in_order && time < self.last_s.saturating_sub(JUMP) {
            self.clock_jumps += 1;
        }
        self.last_s = time;
    }

    /// Widens the cells if necessary for the time span from the first entry to `time`.
    #[inline]
    fn widen_for(&mut self, last: i64) {
        let span = last.saturating_sub(self.first_s);
        while self.width.is_short_for(span) {
            self.widen();
        }
    }

    #[cold]
    fn widen(&mut self) {
        self.width = self.width.next();
        let width = self.width;
        self.minute = Minute::new(self.minute.start, width, self.hours_begin_s);
        self.pages.iter_mut().for_each(|p| p.widen(width));
        self.cells = self.pages.iter().map(|p| p.cells.len()).sum();
    }

    /// Extends the time span to include the time span of another log.
    ///
    /// This does not count as a clock jump.
    fn extend_times(&mut self, first: i64, last: i64) {
        self.first_s = self.first_s.min(first);
        self.last_s = self.last_s.max(last);
        self.widen_for(self.last_s);
    }

    #[inline]
    fn page_of(&mut self, entry: &Entry, keys: Keys) -> usize {
        if !entry.agent.is_empty()
            && let Some(page) = self.page_of_agent(entry.agent, keys.agent)
        {
            return page;
        }
        let slot = self.cache_slot(keys.path);
        let cached = self.cache[slot];
        if cached.hash == keys.path && cached.page > 0 {
            return cached.page as usize - 1;
        }
        let (page, varies) = self.page_of_path(entry, path_of(entry));
        let cached = CachedPath {
            hash: keys.path,
            page: page as u32 + 1,
            varies,
        };
        self.cache_path(self.cache_slot(keys.path), cached);
        page
    }

    /// Returns the index of a hash in the cache.
    #[inline]
    fn cache_slot(&self, hash: u64) -> usize {
        hash as usize & (self.cache.len() - 1)
    }

    #[inline]
    fn keys(&self, entry: &Entry) -> Keys {
        let mut hasher = self.random.build_hasher();
        hasher.write(entry.agent);
        Keys {
            agent: hasher.finish(),
            path: self.hash(entry, path_of(entry)),
        }
    }

    /// Returns the hash of a path. Paths that differ only in numbers have the same hash.
    #[inline]
    fn hash(&self, entry: &Entry, path: &[u8]) -> u64 {
        let mut hasher = self.random.build_hasher();
        // A statement has no method, and the letters of a method leave the highest bit free.
        let kind = u64::from(entry.is_query) << 63 | (entry.dialect as u64) << 61;
        hasher.write_u64(kind | registers::first_word(entry.method));
        let hides_numbers = !entry.is_query && !self.rules_distinguish_numbers;
        if hides_numbers && registers::has_digit_behind(b'/', path) {
            route::without_numbers(path).for_each(|segment| hasher.write(segment));
        } else {
            hasher.write(path);
        }
        hasher.finish()
    }

    /// Puts a path into the cache, which grows after many evictions.
    ///
    /// A path with variable segments never evicts a path without variable segments.
    fn cache_path(&mut self, slot: usize, cached: CachedPath) {
        let evicted = self.cache[slot];
        let evicts_stable = evicted.page > 0 && !evicted.varies;
        if evicts_stable && cached.varies {
            return;
        }
        self.evicted += usize::from(evicts_stable);
        self.cache[slot] = cached;
        if self.evicted > self.cache.len() && self.cache.len() < 1 << CACHE.1 {
            self.evicted = 0;
            self.cache = vec![CachedPath::default(); self.cache.len() * 4];
        }
    }

    /// Returns the page of a crawler or a health check, or `None` if the client is a person.
    #[inline]
    fn page_of_agent(&mut self, agent: &[u8], hash: u64) -> Option<usize> {
        let slot = hash as usize & (AGENTS - 1);
        if self.agents[slot].hash != hash {
            let client = self.rules.agent(agent).or_else(|| agent::classify(agent));
            let page = client.map_or(u32::MAX, |(kind, name)| self.page_named(kind, &name) as u32);
            self.agents[slot] = CachedPath {
                hash,
                page,
                varies: false,
            };
        }
        let page = self.agents[slot].page;
        (page != u32::MAX).then_some(page as usize)
    }

    /// Returns the page of a path that is not in the cache.
    ///
    /// Also returns true if the path seems to have variable segments.
    #[inline(never)]
    fn page_of_path(&mut self, entry: &Entry, path: &[u8]) -> (usize, bool) {
        if entry.is_query {
            return (
                self.page_named(PageKind::Query, &query::fold(path, entry.dialect)),
                false,
            );
        }
        let is_check = self.rules.is_check(path) || agent::is_check(path);
        let kind = if is_check {
            PageKind::Health
        } else {
            PageKind::Page
        };
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        name.push(kind_mark(kind));
        name.push_str(method(entry.method));
        let varies = match self.rules.route(path) {
            Some(route) => {
                name.push_str(route);
                false
            }
            None => self.push_route(path, &mut name),
        };
        let page = match self.names.get(&name) {
            Some(page) => *page as usize,
            None => self.add_page_named(kind, &name[1..]),
        };
        self.name = name;
        (page, varies)
    }

    /// Appends the route of a path that no rule names.
    ///
    /// Returns true if the path seems to have variable segments.
    fn push_route(&self, path: &[u8], name: &mut String) -> bool {
        let begin = name.len();
        let varies = route::fold(path, name);
        if self.variables.is_empty() || !name[begin..].starts_with('/') {
            return varies;
        }
        let route = self.variables.rename(&name[begin..]);
        name.truncate(begin);
        name.push_str(&route);
        varies
    }

    /// Returns the index of the page with the given kind and name.
    ///
    /// Creates the page if it does not exist.
    fn page_named(&mut self, kind: PageKind, name: &str) -> usize {
        let same = |tally: &Tally| {
            let spelling = (kind == PageKind::Query).then(|| query_key(name))?;
            tally.names.get(&spelling).copied()
        };
        match self
            .names
            .get(&page_key(kind, name))
            .copied()
            .or_else(|| same(self))
        {
            Some(page) => page as usize,
            None => self.add_page_named(kind, name),
        }
    }

    /// Creates a page for a new name and returns the page's index.
    ///
    /// If there is no room for another page, returns the index of [`others`] instead.
    #[cold]
    fn add_page_named(&mut self, kind: PageKind, name: &str) -> usize {
        if self.pages.len() >= MAX_PAGES || self.is_full {
            if !self.has_learned {
                self.compact();
                let name = self.rename(kind, name);
                return self.page_named(kind, &name);
            }
            self.merged += 1;
            return match self.names.get(&page_key(kind, others(kind))) {
                Some(others) => *others as usize,
                None => self.new_page(kind, others(kind)),
            };
        }
        self.new_page(kind, name)
    }

    fn new_page(&mut self, kind: PageKind, name: &str) -> usize {
        if kind == PageKind::Page && !self.has_pages {
            self.has_pages = true;
            self.drop_hours();
        }
        let index = self.pages.len();
        self.names.insert(page_key(kind, name), index as u32);
        if kind == PageKind::Query {
            self.names.insert(query_key(name), index as u32);
        }
        self.pages.push(Page::new(kind, name.into()));
        if index % 4096 == 4095 {
            self.fit_memory();
            self.is_full = self.memory() > MEMORY;
        }
        index
    }

    /// Drops the hours and peaks, which were counted from statements.
    #[cold]
    fn drop_hours(&mut self) {
        self.hours.clear();
        self.hour_indexes.clear();
        self.seconds = CountPeak::new();
        if let Some(seconds) = &mut self.every_second {
            *seconds = Seconds::default();
        }
    }

    /// Drops cells while the pages need more memory than [`MEMORY`].
    ///
    /// The pages can exceed this maximum because the distributions grow with the log.
    #[cold]
    fn fit_memory(&mut self) {
        self.unchecked = 0;
        while self.memory() > MEMORY && self.drop_cells() {}
    }

    /// Returns the memory use of the pages in bytes.
    fn memory(&self) -> usize {
        self.pages.iter().map(Page::memory).sum()
    }

    fn rename(&self, kind: PageKind, name: &str) -> String {
        match kind {
            PageKind::Page => rename_page(&self.variables, name),
            _ => name.to_string(),
        }
    }

    /// Learns variable segments from the pages so far, and merges pages with the same name.
    fn compact(&mut self) {
        self.has_learned = true;
        self.variables = learn_variables(&self.pages, &self.rules);
        if let Some(records) = &mut self.records {
            let renames_done = renames(&self.pages, &self.variables, &self.rules);
            records.rename(&self.pages, renames_done);
        }
        let pages = std::mem::take(&mut self.pages);
        (self.pages, self.renumbered) = merge_renamed(pages, &self.variables, &self.rules);
        self.join.renumber(&self.renumbered);
        self.cache.fill(CachedPath::default());
        self.agents.fill(CachedPath::default());
        let key = |(at, page): (usize, &Page)| (page_key(page.kind, &page.name), at as u32);
        self.names = self.pages.iter().enumerate().map(key).collect();
        let queries = self.pages.iter().enumerate();
        let queries = queries.filter(|(_, page)| page.kind == PageKind::Query);
        let spellings = queries.map(|(at, page)| (query_key(&page.name), at as u32));
        self.names.extend(spellings);
        self.is_full = self.memory() > MEMORY;
        self.cells = self.pages.iter().map(|p| p.cells.len()).sum();
    }

    /// Drops the cells of the less expensive half of the pages.
    ///
    /// Returns false if no page had cells.
    #[cold]
    fn drop_cells(&mut self) -> bool {
        let mut pages: Vec<&mut Page> = self.pages.iter_mut().collect();
        pages.retain(|page| !page.cells.is_empty());
        pages.sort_by_key(|page| page.cost());
        let half = pages.len() / 2;
        for page in &mut pages[..half] {
            page.has_cells = false;
            page.cells = Vec::new();
        }
        self.cells = self.pages.iter().map(|p| p.cells.len()).sum();
        half > 0
    }

    #[inline]
    fn add_to_hour(
        &mut self,
        time: i64,
        offset_s: i32,
        is_error: bool,
        duration: Option<(u64, u16)>,
    ) {
        self.seconds.add(time);
        if let Some(seconds) = &mut self.every_second {
            seconds.add(time);
        }
        if self.hours.is_empty() {
            self.begin_hours(hours_begin(offset_s));
        }
        let minute = self.minute.of_hour;
        let hour = self.hour_at(self.minute.hour_s);
        hour.minutes.add(minute, 1);
        hour.requests += 1;
        hour.errors += u64::from(is_error);
        hour.offset_s = offset_s;
        if let Some((ns, bucket)) = duration {
            hour.total_ns = hour.total_ns.saturating_add(ns);
            hour.times.add(bucket);
        }
    }

    /// Sets when hours begin, in seconds after full hours of UTC.
    #[cold]
    fn begin_hours(&mut self, begin_s: i64) {
        self.hours_begin_s = begin_s;
        self.minute = Minute::new(self.minute.start, self.width, self.hours_begin_s);
    }

    #[inline]
    fn hour_at(&mut self, start_s: i64) -> &mut Hour {
        let hour = self.hours.get(self.hour);
        if hour.is_none_or(|h| h.start_s != start_s) {
            self.hour = self.hour_index(start_s);
        }
        &mut self.hours[self.hour]
    }

    #[cold]
    fn hour_index(&mut self, start_s: i64) -> usize {
        if let Some(index) = self.hour_indexes.get(&start_s) {
            return *index;
        }
        // A log with more hours is implausible. The additional hours count toward the last hour.
        if self.hours.len() < MAX_HOURS {
            self.hour_indexes.insert(start_s, self.hours.len());
            self.hours.push(Hour {
                start_s,
                ..Hour::default()
            });
        }
        self.hours.len() - 1
    }

    /// Returns the number of entries so far.
    pub fn entries(&self) -> u64 {
        self.pages.iter().map(|p| p.requests).sum()
    }

    /// Returns the busiest second.
    ///
    /// If there are more seconds than can be stored, it is known only for logs that follow one
    /// another.
    fn peak(&self) -> Option<(i64, u64)> {
        let kept = self.every_second.as_ref();
        kept.and_then(Seconds::highest)
            .or_else(|| self.seconds.highest())
    }

    /// Returns the busiest minute. Returns `None` if there are more hours than can be stored.
    fn peak_minute(&self) -> Option<(i64, u64)> {
        let minutes = self.hours.iter().filter_map(Hour::busiest_minute);
        let busiest = minutes.max_by_key(|(start, n)| (*n, Reverse(*start)));
        busiest.filter(|_| self.hours.len() < MAX_HOURS)
    }

    /// Returns the analysis, with routes learned from the counts.
    ///
    /// First frees the memory that only counting needs.
    pub fn into_analysis(mut self, sources: Vec<LogFile>, lines: LineCounts) -> LogAnalysis {
        self.names = HashMap::default();
        self.cache = Vec::new();
        self.agents = Vec::new();
        self.analysis(sources, lines)
    }

    /// Returns the analysis of the counts so far, with routes learned from them.
    pub fn analysis(&mut self, sources: Vec<LogFile>, lines: LineCounts) -> LogAnalysis {
        let (within, coverage) = self.queries_within_pages();
        let (pages, merged_pages) = report_pages(&self.pages, &self.rules, self.width);
        let hour = |h: &Hour| LogHour {
            start_s: h.start_s,
            offset_s: h.offset_s,
            requests: h.requests,
            errors: h.errors,
            total_ns: storable(h.total_ns),
            times: h.times.counts(),
        };
        let mut hours: Vec<LogHour> = self.hours.iter().map(hour).collect();
        hours.sort_by_key(|h| h.start_s);
        LogAnalysis {
            sources,
            lines,
            error: sketch::ERROR,
            cell_s: self.width.seconds(),
            peak: self.peak(),
            peak_minute: self.peak_minute(),
            clock_jumps: self.clock_jumps,
            merged_pages: self.merged + merged_pages,
            within,
            coverage,
            pages,
            hours,
            ..LogAnalysis::default()
        }
    }
}

impl Tally {
    /// Returns the most expensive queries within pages, and the coverage of the join.
    fn queries_within_pages(&mut self) -> (Vec<QueryWithin>, JoinCoverage) {
        let joined = self.join.joined();
        let coverage = JoinCoverage {
            one_in: joined.one_in,
            outside: joined.outside,
            shared: joined.shared,
            crowded: joined.crowded,
            unmatched: joined.unmatched,
        };
        if joined.pairs.iter().all(|pair| pair.query.is_none()) {
            return (Vec::new(), coverage);
        }
        let variables = learn_variables(&self.pages, &self.rules);
        let name = |index: u32| name_of(&self.pages[index as usize], &variables, &self.rules);
        let mut requests: HashMap<String, (u64, u64)> = HashMap::new();
        let mut statements: HashMap<(String, u32), (u64, u64)> = HashMap::new();
        for pairs in joined.pairs.chunk_by(|a, b| a.page == b.page) {
            let page = pairs[0].page;
            if self.pages[page as usize].kind != PageKind::Page {
                continue;
            }
            let page = name(page);
            for pair in pairs {
                let (count, total_ns) = match pair.query {
                    None => requests.entry(page.clone()).or_default(),
                    Some(query) => statements.entry((page.clone(), query)).or_default(),
                };
                *count = count.saturating_add(pair.count);
                *total_ns = total_ns.saturating_add(pair.total_ns);
            }
        }
        let within = |((page, query), (executions, total_ns)): ((String, u32), (u64, u64))| {
            let (requests, page_ns) = requests.get(&page).copied().unwrap_or_default();
            QueryWithin {
                query: name(query),
                page,
                requests,
                executions,
                total_ns,
                page_ns,
            }
        };
        let mut all: Vec<QueryWithin> = statements.into_iter().map(within).collect();
        all.sort_by(|a, b| {
            let by_cost = (b.total_ns, b.executions).cmp(&(a.total_ns, a.executions));
            by_cost.then_with(|| (&a.page, &a.query).cmp(&(&b.page, &b.query)))
        });
        all.truncate(MAX_WITHIN);
        (all, coverage)
    }
}

/// Returns the start of the hour that contains a time, in seconds since 1970.
///
/// Hours begin `begin_s` seconds after full hours of UTC.
fn hour_start(time_s: i64, begin_s: i64) -> i64 {
    let since_begin_s = time_s.saturating_sub(begin_s).rem_euclid(3600);
    time_s.saturating_sub(since_begin_s)
}

/// Returns the number of a minute in its hour, 0 to 59.
fn minute_of_hour(start_s: i64, hour_s: i64) -> u8 {
    (start_s.saturating_sub(hour_s) / 60) as u8
}

/// Returns when full hours of a clock begin, in seconds after full hours of UTC.
fn hours_begin(offset_s: i32) -> i64 {
    // The offsets of all zones are multiples of a quarter of an hour.
    let offset_s = i64::from(offset_s).div_euclid(900) * 900;
    (-offset_s).rem_euclid(3600)
}

/// Returns the path of an entry, or its statement.
#[inline]
fn path_of<'a>(entry: &Entry<'a>) -> &'a [u8] {
    if entry.is_query {
        entry.target
    } else {
        route::path(entry.target)
    }
}

/// Returns a letter that distinguishes the names of pages of different kinds.
fn kind_mark(kind: PageKind) -> char {
    match kind {
        PageKind::Page => 'p',
        PageKind::Query => 'q',
        PageKind::Bot => 'b',
        PageKind::Health => 'h',
    }
}

fn page_key(kind: PageKind, name: &str) -> String {
    format!("{}{name}", kind_mark(kind))
}

/// Returns the key that all spellings of a query share. It cannot be the name of a page.
fn query_key(name: &str) -> String {
    page_key(PageKind::Query, &format!("\0{}", query::key(name)))
}

/// Returns the method that precedes a route in a page's name. Empty for GET.
fn method(name: &[u8]) -> &'static str {
    match name {
        b"" | b"GET" => "",
        b"POST" => "POST ",
        b"PUT" => "PUT ",
        b"DELETE" => "DELETE ",
        b"HEAD" => "HEAD ",
        b"PATCH" => "PATCH ",
        b"OPTIONS" => "OPTIONS ",
        _ => "(other method) ",
    }
}

/// Makes an external name printable and short enough to display.
pub fn name(text: &str) -> String {
    route::cut(printable(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_of_long_logs_are_known_if_they_follow_one_another() {
        let mut tally = Tally::new(Rules::default());
        tally.keep_every_second();
        let mut peak = |times: &[i64]| {
            for time_s in times {
                tally.add(&Entry {
                    time_s: Some(*time_s),
                    target: b"/",
                    ..Entry::default()
                });
            }
            tally.analysis(Vec::new(), LineCounts::default()).peak
        };
        let hours: Vec<i64> = (0..100 * 24).map(|hour| hour * 3600).collect();
        assert_eq!(peak(&hours), Some((0, 1)));
        assert_eq!(peak(&[8_636_400]), Some((8_636_400, 2)));
        assert_eq!(peak(&[0]), None);
    }

    #[test]
    fn counting_entries_together_matches_counting_them_one_by_one() {
        let target = |i: usize| format!("/{}/x{}?q", i % 7, i * i % 1_999);
        let targets: Vec<String> = (0..5_000).map(target).collect();
        let entry = |i: usize| Entry {
            time_s: Some(i as i64 * 13 % 9_000),
            duration_ns: (!i.is_multiple_of(3)).then_some(i as u64 * 1_000),
            method: if i.is_multiple_of(5) { b"POST" } else { b"GET" },
            target: targets[i].as_bytes(),
            status: 200 + 100 * (i % 4) as u16,
            bytes: i as u64,
            agent: if i.is_multiple_of(11) { b"a bot" } else { b"" },
            ..Entry::default()
        };
        let entries: Vec<Entry> = (0..targets.len()).map(entry).collect();
        let mut tallies = [0, 1].map(|_| Tally::new(Rules::default()));
        tallies[0].add_all(&entries);
        entries.iter().for_each(|entry| tallies[1].add(entry));
        assert!(!tallies[0].has_few_pages());
        let [together, alone] = tallies.map(|t| t.into_analysis(Vec::new(), LineCounts::default()));
        assert_eq!(together, alone);
    }
}

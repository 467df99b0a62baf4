// SPDX-License-Identifier: Apache-2.0
//! The counts of a page, in total and in cells over time.

use crate::registers;
use crate::sketch::Sketch;
use lab_model::{LogCell, LogPage, PageKind};
use serde::{Deserialize, Serialize};

/// The width of a page's cells. Longer logs have wider cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellWidth(usize);

/// The cell widths, in seconds. Each width has the maximum length of a log for that width, in
/// seconds.
const WIDTHS: [(i64, i64); 4] = [
    (60, 6 * 3600),
    (3600, 62 * 86_400),
    (86_400, 1_500 * 86_400),
    (7 * 86_400, i64::MAX),
];

impl CellWidth {
    /// The smallest width: one minute.
    pub const MINUTE: CellWidth = CellWidth(0);
    /// The largest width: one week.
    pub const MAX: CellWidth = CellWidth(WIDTHS.len() - 1);

    /// Returns the width of a cell in seconds.
    pub fn seconds(self) -> i64 {
        WIDTHS[self.0].0
    }

    /// Returns the next larger width.
    pub fn next(self) -> CellWidth {
        CellWidth((self.0 + 1).min(WIDTHS.len() - 1))
    }

    /// Returns true if a log of `span` seconds needs wider cells.
    pub fn is_short_for(self, span: i64) -> bool {
        self.0 + 1 < WIDTHS.len() && span > WIDTHS[self.0].1
    }

    /// Returns the number of the cell that contains `time`, which is in seconds since 1970.
    #[inline]
    pub fn cell(self, time: i64) -> i32 {
        // Division by constants compiles to faster code.
        let cell = match self.0 {
            0 => time.div_euclid(60),
            1 => time.div_euclid(3600),
            2 => time.div_euclid(86_400),
            _ => time.div_euclid(7 * 86_400),
        };
        cell.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }
}

/// The maximum number of cells of a page.
///
/// A page with more cells, for example because its timestamps are random, drops all cells.
const MAX_CELLS: usize = 4_000;

/// The counts of one interval of time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cell {
    /// The number of the cell: the number of cell widths between 1970 and the start of the cell.
    start: i32,
    requests: u32,
    errors: u32,
    timed: u32,
    total_ns: u64,
    sum_ln: f64,
}

/// A page and its counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Page {
    pub kind: PageKind,
    pub name: String,
    pub requests: u64,
    pub errors: u64,
    pub client_errors: u64,
    pub not_found: u64,
    pub without_status: u64,
    pub timed: u64,
    pub total_ns: u64,
    pub max_ns: u64,
    /// True if the page includes a log whose maximum duration is unknown.
    pub is_max_unknown: bool,
    pub bytes: u64,
    pub times: Sketch,
    pub cells: Vec<Cell>,
    /// The index of the cell that was used last.
    #[serde(skip)]
    pub last: u32,
    pub has_cells: bool,
}

impl Page {
    /// Creates a page without requests.
    pub fn new(kind: PageKind, name: String) -> Page {
        Page {
            kind,
            name,
            has_cells: true,
            ..Page::default()
        }
    }

    /// Returns the sort key of pages: the total time in ns, then the number of requests.
    pub fn cost(&self) -> (u64, u64) {
        (self.total_ns, self.requests)
    }

    /// Returns true if all requests got a 404 response.
    pub fn is_missing(&self) -> bool {
        self.kind == PageKind::Page && self.requests > 0 && self.not_found == self.requests
    }

    /// Returns the memory use of the page and of its name in a map, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Page>()
            + 2 * self.name.capacity()
            + 48
            + self.times.memory()
            + self.cells.capacity() * size_of::<Cell>()
    }

    /// Prefetches the memory in which a request will be counted.
    ///
    /// `bucket` is the bucket of the request's duration, if known.
    #[inline]
    pub fn fetch(&self, bucket: Option<u16>) {
        registers::fetch(&self.bytes);
        if let Some(bucket) = bucket {
            self.times.fetch(bucket);
        }
        if let Some(cell) = self.cells.get(self.last as usize) {
            registers::fetch(cell);
        }
    }

    /// Counts a request in a cell.
    ///
    /// `duration` is the request's duration in ns and the logarithm of the duration. Returns true
    /// if the cell is new.
    #[inline]
    pub fn add_to_cell(
        &mut self,
        start: i32,
        is_error: bool,
        duration: Option<(u64, f64)>,
    ) -> bool {
        let mut is_new = false;
        if self
            .cells
            .get(self.last as usize)
            .is_none_or(|c| c.start != start)
        {
            if self.cells.len() >= MAX_CELLS {
                self.has_cells = false;
                self.cells = Vec::new();
                return false;
            }
            is_new = self.select_cell(start);
        }
        let cell = &mut self.cells[self.last as usize];
        cell.requests = cell.requests.saturating_add(1);
        cell.errors = cell.errors.saturating_add(u32::from(is_error));
        if let Some((ns, ln)) = duration {
            cell.timed = cell.timed.saturating_add(1);
            cell.total_ns = cell.total_ns.saturating_add(ns);
            cell.sum_ln += ln;
        }
        is_new
    }

    #[cold]
    fn select_cell(&mut self, start: i32) -> bool {
        // Most logs are in chronological order.
        let position = match self.cells.last() {
            Some(last) if last.start < start => Err(self.cells.len()),
            _ => self.cells.binary_search_by_key(&start, |c| c.start),
        };
        let (Ok(index) | Err(index)) = position;
        if position.is_err() {
            if self.cells.len() == self.cells.capacity() {
                self.cells.reserve_exact(1 + self.cells.len() / 4);
            }
            self.cells.insert(
                index,
                Cell {
                    start,
                    ..Cell::default()
                },
            );
        }
        self.last = index as u32;
        position.is_err()
    }

    /// Merges cells into wider cells.
    pub fn widen(&mut self, width: CellWidth) {
        let shorter = WIDTHS[width.0.saturating_sub(1)].0;
        let cells = std::mem::take(&mut self.cells);
        for cell in cells {
            let start = width.cell(i64::from(cell.start) * shorter);
            self.merge_cell(&Cell { start, ..cell });
        }
        self.last = 0;
    }

    fn merge_cell(&mut self, other: &Cell) {
        self.select_cell(other.start);
        let cell = &mut self.cells[self.last as usize];
        cell.requests = cell.requests.saturating_add(other.requests);
        cell.errors = cell.errors.saturating_add(other.errors);
        cell.timed = cell.timed.saturating_add(other.timed);
        cell.total_ns = cell.total_ns.saturating_add(other.total_ns);
        cell.sum_ln += other.sum_ln;
    }

    /// Adds the counts of another page.
    pub fn merge(&mut self, other: &Page) {
        self.requests = self.requests.saturating_add(other.requests);
        self.errors = self.errors.saturating_add(other.errors);
        self.client_errors = self.client_errors.saturating_add(other.client_errors);
        self.not_found = self.not_found.saturating_add(other.not_found);
        self.without_status = self.without_status.saturating_add(other.without_status);
        self.timed = self.timed.saturating_add(other.timed);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.is_max_unknown |= other.is_max_unknown;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.times.merge(&other.times);
        if self.has_cells && other.has_cells {
            other.cells.iter().for_each(|cell| self.merge_cell(cell));
        } else {
            self.has_cells = false;
            self.cells = Vec::new();
        }
    }

    /// Adds the totals of a page from a run file and, if known, the distribution of the page's
    /// durations.
    pub fn add_all(&mut self, other: &LogPage) {
        self.requests = self.requests.saturating_add(other.requests);
        self.errors = self.errors.saturating_add(other.errors);
        self.client_errors = self.client_errors.saturating_add(other.client_errors);
        self.without_status = self.without_status.saturating_add(other.without_status);
        self.timed = self.timed.saturating_add(other.timed);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.is_max_unknown |= other.timed > 0 && other.known_max_ns().is_none();
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (ns, count) in &other.times.0 {
            self.times.add_many(crate::sketch::bucket(*ns), *count);
        }
    }

    /// Converts the page to the form stored in a run file.
    pub fn analysis(self, width: CellWidth) -> LogPage {
        let cell = |c: Cell| LogCell {
            start_s: i64::from(c.start) * width.seconds(),
            requests: c.requests.into(),
            errors: c.errors.into(),
            timed: c.timed.into(),
            total_ns: storable(c.total_ns),
            sum_ln: c.sum_ln,
        };
        LogPage {
            kind: self.kind,
            name: self.name,
            requests: storable(self.requests),
            errors: storable(self.errors),
            client_errors: storable(self.client_errors),
            without_status: storable(self.without_status),
            timed: storable(self.timed),
            total_ns: storable(self.total_ns),
            max_ns: if self.is_max_unknown {
                0
            } else {
                storable(self.max_ns)
            },
            bytes: storable(self.bytes),
            times: self.times.counts(),
            cells: self.cells.into_iter().map(cell).collect(),
        }
    }
}

/// Limits a number to SQLite's maximum of 2^63 - 1.
pub fn storable(n: u64) -> u64 {
    n.min(i64::MAX as u64)
}

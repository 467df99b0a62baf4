// SPDX-License-Identifier: Apache-2.0
//! What was read from logs: in tables of their own, which only a run that watched has.

use crate::{histogram, values};
use lab_model::{Counts, Watched, WatchedCell, WatchedHour, WatchedPage};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

/// Times are ns, and points in time are seconds since 1970.
const TABLES: &str = "
CREATE TABLE watch_page (id INTEGER PRIMARY KEY, kind TEXT, name TEXT, requests INTEGER, errors INTEGER,
                         client_errors INTEGER, timed INTEGER, total_ns INTEGER, max_ns INTEGER, bytes INTEGER,
                         times BLOB);
CREATE TABLE watch_cell (page INTEGER, start_s INTEGER, requests INTEGER, errors INTEGER, timed INTEGER,
                         total_ns INTEGER, sum_ln REAL);
CREATE TABLE watch_hour (start_s INTEGER PRIMARY KEY, offset_s INTEGER, requests INTEGER, errors INTEGER,
                         total_ns INTEGER, times BLOB);
";

type Result<T> = rusqlite::Result<T>;

/// Writes pages and hours into their tables, and the rest into `meta`. Errors: of the file, or a time or a count that
/// no histogram can hold.
pub fn write(db: &Connection, watched: &Watched) -> Result<()> {
    db.execute_batch(TABLES)?;
    let rest = without_pages(watched);
    db.execute(
        "INSERT OR REPLACE INTO meta VALUES ('watched', ?)",
        params![values::as_json(&rest)],
    )?;
    let mut page = db.prepare("INSERT INTO watch_page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut cell = db.prepare("INSERT INTO watch_cell VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    for (id, p) in watched.pages.iter().enumerate() {
        page.execute(params![
            id,
            values::as_word(&p.kind),
            p.name,
            p.requests,
            p.errors,
            p.client_errors,
            p.timed,
            p.total_ns,
            p.max_ns,
            p.bytes,
            blob(&p.times)?
        ])?;
        for c in &p.cells {
            cell.execute(params![
                id, c.start_s, c.requests, c.errors, c.timed, c.total_ns, c.sum_ln
            ])?;
        }
    }
    let mut hour = db.prepare("INSERT INTO watch_hour VALUES (?, ?, ?, ?, ?, ?)")?;
    for h in &watched.hours {
        hour.execute(params![
            h.start_s,
            h.offset_s,
            h.requests,
            h.errors,
            h.total_ns,
            blob(&h.times)?
        ])?;
    }
    Ok(())
}

/// All but pages and hours, which are not copied: they may take a hundred MB.
fn without_pages(watched: &Watched) -> Watched {
    Watched {
        sources: watched.sources.clone(),
        lines: watched.lines,
        resolution_ns: watched.resolution_ns,
        error: watched.error,
        cell_s: watched.cell_s,
        peak: watched.peak,
        peak_minute: watched.peak_minute,
        clock_jumps: watched.clock_jumps,
        releases: watched.releases.clone(),
        merged_pages: watched.merged_pages,
        advice: watched.advice.clone(),
        assumptions: watched.assumptions.clone(),
        within: watched.within.clone(),
        coverage: watched.coverage,
        pages: Vec::new(),
        hours: Vec::new(),
    }
}

/// Reads it; `None`: the run watched nothing.
pub fn read(db: &Connection) -> Result<Option<Watched>> {
    let Some(text) = values::meta::<String>(db, "watched")? else {
        return Ok(None);
    };
    let mut watched: Watched = values::json(&text)?;
    let sql =
        "SELECT kind, name, requests, errors, client_errors, timed, total_ns, max_ns, bytes, times
               FROM watch_page ORDER BY id";
    watched.pages = values::rows(db, sql, |r| {
        Ok(WatchedPage {
            kind: values::word(&r.get::<_, String>(0)?)?,
            name: r.get(1)?,
            requests: r.get(2)?,
            errors: r.get(3)?,
            client_errors: r.get(4)?,
            timed: r.get(5)?,
            total_ns: r.get(6)?,
            max_ns: r.get(7)?,
            bytes: r.get(8)?,
            times: values::counts(r, 9)?,
            cells: Vec::new(),
        })
    })?;
    let sql = "SELECT page, start_s, requests, errors, timed, total_ns, sum_ln FROM watch_cell ORDER BY rowid";
    let cell = |r: &Row| {
        let cell = WatchedCell {
            start_s: r.get(1)?,
            requests: r.get(2)?,
            errors: r.get(3)?,
            timed: r.get(4)?,
            total_ns: r.get(5)?,
            sum_ln: r.get(6)?,
        };
        Ok((r.get::<_, usize>(0)?, cell))
    };
    for (page, cell) in values::rows(db, sql, cell)? {
        if let Some(page) = watched.pages.get_mut(page) {
            page.cells.push(cell);
        }
    }
    let sql = "SELECT start_s, offset_s, requests, errors, total_ns, times FROM watch_hour ORDER BY start_s";
    watched.hours = values::rows(db, sql, |r| {
        Ok(WatchedHour {
            start_s: r.get(0)?,
            offset_s: r.get(1)?,
            requests: r.get(2)?,
            errors: r.get(3)?,
            total_ns: r.get(4)?,
            times: values::counts(r, 5)?,
        })
    })?;
    Ok(Some(watched))
}

fn blob(counts: &Counts) -> Result<Option<Vec<u8>>> {
    let beyond =
        |reason: String| rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, reason.into());
    histogram::encode(counts).map_err(beyond)
}

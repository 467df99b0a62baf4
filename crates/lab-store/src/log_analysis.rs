// SPDX-License-Identifier: Apache-2.0
//! Log analyses, stored in tables that only a run of logs has.

use crate::schema::or_zero;
use crate::{histogram, values};
use lab_model::{Counts, LogAnalysis, LogCell, LogHour, LogPage};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

/// The statements that create the tables. Times are in ns, and timestamps in seconds since 1970.
const TABLES: &str = "
CREATE TABLE log_page (id INTEGER PRIMARY KEY, kind TEXT, name TEXT, requests INTEGER, errors INTEGER,
                         client_errors INTEGER, without_status INTEGER, timed INTEGER, total_ns INTEGER,
                         max_ns INTEGER, bytes INTEGER, times BLOB);
CREATE TABLE log_cell (page INTEGER, start_s INTEGER, requests INTEGER, errors INTEGER, timed INTEGER,
                         total_ns INTEGER, sum_ln REAL);
CREATE TABLE log_hour (start_s INTEGER PRIMARY KEY, offset_s INTEGER, requests INTEGER, errors INTEGER,
                         total_ns INTEGER, times BLOB);
";

type Result<T> = rusqlite::Result<T>;

/// Writes pages and hours to their tables, and the rest of the analysis to `meta`.
///
/// # Errors
/// Returns an error if the file cannot be written, or if a time or a count exceeds the range of a
/// histogram.
pub fn write(db: &Connection, analysis: &LogAnalysis) -> Result<()> {
    db.execute_batch(TABLES)?;
    let rest = without_pages(analysis);
    db.execute(
        "INSERT OR REPLACE INTO meta VALUES ('logs', ?)",
        params![values::as_json(&rest)],
    )?;
    let mut page =
        db.prepare("INSERT INTO log_page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut cell = db.prepare("INSERT INTO log_cell VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    for (id, p) in analysis.pages.iter().enumerate() {
        page.execute(params![
            id,
            values::as_word(&p.kind),
            p.name,
            p.requests,
            p.errors,
            p.client_errors,
            p.without_status,
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
    let mut hour = db.prepare("INSERT INTO log_hour VALUES (?, ?, ?, ?, ?, ?)")?;
    for h in &analysis.hours {
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

/// Returns a copy of the analysis without its pages and hours, which may take 100 MB.
fn without_pages(analysis: &LogAnalysis) -> LogAnalysis {
    LogAnalysis {
        sources: analysis.sources.clone(),
        lines: analysis.lines,
        resolution_ns: analysis.resolution_ns,
        error: analysis.error,
        cell_s: analysis.cell_s,
        peak: analysis.peak,
        peak_minute: analysis.peak_minute,
        clock_jumps: analysis.clock_jumps,
        releases: analysis.releases.clone(),
        merged_pages: analysis.merged_pages,
        advice: analysis.advice.clone(),
        assumptions: analysis.assumptions.clone(),
        within: analysis.within.clone(),
        coverage: analysis.coverage,
        pages: Vec::new(),
        hours: Vec::new(),
    }
}

/// Reads the log analysis, or returns `None` if the run is not a run of logs.
pub fn read(db: &Connection) -> Result<Option<LogAnalysis>> {
    let Some(text) = values::meta::<String>(db, "logs")? else {
        return Ok(None);
    };
    let mut analysis: LogAnalysis = values::json(&text)?;
    let without_status = or_zero(db, "log_page", "without_status")?;
    let sql = format!(
        "SELECT kind, name, requests, errors, client_errors, {without_status}, timed, total_ns, max_ns, bytes, times
         FROM log_page ORDER BY id"
    );
    analysis.pages = values::rows(db, &sql, |r| {
        Ok(LogPage {
            kind: values::word(&r.get::<_, String>(0)?)?,
            name: r.get(1)?,
            requests: r.get(2)?,
            errors: r.get(3)?,
            client_errors: r.get(4)?,
            without_status: r.get(5)?,
            timed: r.get(6)?,
            total_ns: r.get(7)?,
            max_ns: r.get(8)?,
            bytes: r.get(9)?,
            times: values::counts(r, 10)?,
            cells: Vec::new(),
        })
    })?;
    let sql = "SELECT page, start_s, requests, errors, timed, total_ns, sum_ln FROM log_cell ORDER BY rowid";
    let cell = |r: &Row| {
        let cell = LogCell {
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
        if let Some(page) = analysis.pages.get_mut(page) {
            page.cells.push(cell);
        }
    }
    let sql = "SELECT start_s, offset_s, requests, errors, total_ns, times FROM log_hour ORDER BY start_s";
    analysis.hours = values::rows(db, sql, |r| {
        Ok(LogHour {
            start_s: r.get(0)?,
            offset_s: r.get(1)?,
            requests: r.get(2)?,
            errors: r.get(3)?,
            total_ns: r.get(4)?,
            times: values::counts(r, 5)?,
        })
    })?;
    Ok(Some(analysis))
}

fn blob(counts: &Counts) -> Result<Option<Vec<u8>>> {
    let beyond =
        |reason: String| rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, reason.into());
    histogram::encode(counts).map_err(beyond)
}

// SPDX-License-Identifier: Apache-2.0
//! Reads documents, which are parsed as a whole rather than line by line: statement totals as CSV,
//! and a monitor's JSON.
//!
//! Sources: PostgreSQL 15, F.32 *pg_stat_statements*; MariaDB, *performance schema
//! events_statements_summary_by_digest*; `docs/log-formats.md`, *Monitor JSON*.

use crate::csv_numbers::Numbers;
use crate::format::WholeLog;
use crate::query::{self, Dialect};
use crate::read_error::{ReadError, limited};
use crate::route::printable;
use crate::tally::{Tally, name};
use lab_model::{Counts, LineCounts, LogAssumption, LogFile, LogPage, PageKind};
use serde::Deserialize;
use std::io::Read;

/// The maximum size of a document, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The maximum total number of pages and queries in a monitor's JSON.
const MAX_PAGES: usize = 100_000;
/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 4096;

/// Reads a document.
///
/// Returns an error if the input cannot be read or does not have the expected format.
pub fn read(
    document: WholeLog,
    input: impl Read,
    (source, lines): (&mut LogFile, &mut LineCounts),
    assumptions: &mut Vec<LogAssumption>,
    tally: &mut Tally,
) -> Result<(), ReadError> {
    let bytes = limited(input, MAX_BYTES)?;
    source.bytes = bytes.len() as u64;
    let (format, entries) = match document {
        WholeLog::Statements => (
            "statements with totals, as CSV",
            read_statements(&bytes, lines, assumptions, tally)?,
        ),
        WholeLog::Monitor => ("a monitor's JSON", read_monitor(&bytes, tally)?),
    };
    source.format = format.into();
    lines.entries += entries;
    Ok(())
}

/// Adds the statements of a CSV file with a header line, and returns the number of rows. Rows with
/// a number that cannot be parsed are counted as malformed lines.
fn read_statements(
    bytes: &[u8],
    lines: &mut LineCounts,
    assumptions: &mut Vec<LogAssumption>,
    tally: &mut Tally,
) -> Result<u64, ReadError> {
    let mut csv = csv::ReaderBuilder::new()
        .delimiter(separator(bytes))
        .flexible(true)
        .from_reader(bytes);
    let headers = csv.headers().map_err(|e| e.to_string());
    let columns = headers.and_then(Columns::new).map_err(ReadError::Format)?;
    let rows: Result<Vec<csv::ByteRecord>, csv::Error> = csv.byte_records().collect();
    let mut rows = rows.map_err(|e| ReadError::Format(e.to_string()))?;
    rows.retain(|row| !is_row_count(row));
    let durations = rows
        .iter()
        .flat_map(|row| [cell(row, Some(columns.total)), cell(row, columns.max)]);
    let numbers = Numbers::new(durations.flatten());
    let mut unparsed = Vec::new();
    let mut pages = Vec::new();
    for row in &rows {
        match columns.page(row, &numbers) {
            Some(page) => pages.push(page),
            None => unparsed.push(row),
        }
    }
    if let Some(first) = unparsed.first() {
        if pages.is_empty() {
            return Err(ReadError::Format(columns.problem(first)));
        }
        assumptions.push(LogAssumption::UnparsedRows {
            rows: unparsed.len() as u64,
            example: printable(
                cell(first, Some(columns.total))
                    .unwrap_or_default()
                    .as_bytes(),
            ),
        });
    }
    lines.all += rows.len() as u64;
    lines.malformed += unparsed.len() as u64;
    let count = pages.len() as u64;
    pages.into_iter().for_each(|page| tally.add_page(page));
    Ok(count)
}

/// Returns the separator of the columns in the header line.
fn separator(bytes: &[u8]) -> u8 {
    let header = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    let mut separators = [b'\t', b';'].into_iter();
    let found = separators.find(|separator| header.contains(separator));
    found.unwrap_or(b',')
}

/// Returns true for the line after psql's rows: `(3 rows)`.
fn is_row_count(row: &csv::ByteRecord) -> bool {
    let text = row.get(0).unwrap_or_default();
    row.len() == 1 && text.starts_with(b"(") && (text.ends_with(b" rows)") || text == b"(1 row)")
}

/// Returns the text of a cell. Returns `None` if there is no value.
fn cell(row: &csv::ByteRecord, column: Option<usize>) -> Option<&str> {
    let text = std::str::from_utf8(row.get(column?)?).unwrap_or("?").trim();
    (!matches!(text, "" | "NULL" | "\\N")).then_some(text)
}

/// The indices of the CSV columns.
struct Columns {
    text: usize,
    calls: usize,
    total: usize,
    /// The unit of the durations, in ns.
    scale: f64,
    max: Option<usize>,
    errors: Option<usize>,
    dialect: Dialect,
}

impl Columns {
    /// Finds the columns by their headers. Returns an error if a required column is missing.
    fn new(headers: &csv::StringRecord) -> Result<Columns, String> {
        let column = |names: &[&str]| {
            let is_named = |head: &str| names.iter().any(|n| n.eq_ignore_ascii_case(head.trim()));
            headers.iter().position(is_named)
        };
        // PostgreSQL writes ms, and the performance schema writes ps.
        let totals = [
            (
                &["total_exec_time", "total_time"][..],
                1e6,
                Dialect::Postgresql,
            ),
            (&["sum_timer_wait"][..], 1e-3, Dialect::Mysql),
        ];
        let total = totals
            .iter()
            .find_map(|(names, scale, dialect)| Some((column(names)?, *scale, *dialect)));
        let text = column(&["query", "digest_text"]).ok_or("the column `query` is missing")?;
        let calls = column(&["calls", "count_star"]).ok_or("the column `calls` is missing")?;
        let (total, scale, dialect) =
            total.ok_or("the column `total_exec_time` or `SUM_TIMER_WAIT` is missing")?;
        Ok(Columns {
            text,
            calls,
            total,
            scale,
            max: column(&["max_exec_time", "max_time", "max_timer_wait"]),
            errors: column(&["sum_errors"]),
            dialect,
        })
    }

    /// Returns the statement of a row, or `None` if a number cannot be parsed.
    fn page(&self, row: &csv::ByteRecord, numbers: &Numbers) -> Option<LogPage> {
        let duration = |text| numbers.duration_ns(text, self.scale);
        let calls = numbers.count(cell(row, Some(self.calls))?)?;
        let max = cell(row, self.max).map(duration);
        let errors = match cell(row, self.errors) {
            Some(text) => Some(numbers.count(text)?),
            None => None,
        };
        Some(LogPage {
            kind: PageKind::Query,
            name: query::fold(row.get(self.text).unwrap_or_default(), self.dialect),
            requests: calls,
            errors: errors.unwrap_or(0),
            without_status: if errors.is_none() { calls } else { 0 },
            timed: calls,
            total_ns: duration(cell(row, Some(self.total))?)?,
            max_ns: max.unwrap_or(Some(0))?,
            ..LogPage::default()
        })
    }

    /// Explains why no row can be parsed. `row` is the first row.
    fn problem(&self, row: &csv::ByteRecord) -> String {
        let shown = |column| cell(row, Some(column)).unwrap_or("no value");
        format!(
            "no row has numbers that can be parsed; the first row has {} calls and a total time of {}",
            printable(shown(self.calls).as_bytes()),
            printable(shown(self.total).as_bytes())
        )
    }
}

#[derive(Deserialize)]
struct Monitor {
    monitor: u64,
    bucket_width: f64,
    pages: Vec<MonitorPage>,
}

#[derive(Deserialize)]
struct MonitorPage {
    name: String,
    count: u64,
    errors: u64,
    #[serde(default)]
    client_errors: u64,
    total_ns: u64,
    max_ns: Option<u64>,
    times: Vec<(u64, u64)>,
    #[serde(default)]
    hours: Vec<(i64, u64, u64, u64)>,
    #[serde(default)]
    queries: Vec<MonitorPage>,
}

fn read_monitor(bytes: &[u8], tally: &mut Tally) -> Result<u64, ReadError> {
    let malformed = |reason: String| ReadError::Format(format!("a monitor's JSON: {reason}"));
    let monitor: Monitor = serde_json::from_slice(bytes).map_err(|e| malformed(e.to_string()))?;
    if monitor.monitor != 1 {
        return Err(malformed(format!(
            "version {} is not supported; expected version 1",
            monitor.monitor
        )));
    }
    let width = monitor.bucket_width;
    if !(width > 0.0 && width <= 0.1) {
        return Err(malformed(
            "bucket_width must be above 0 and at most 0.1".into(),
        ));
    }
    let queries: usize = monitor.pages.iter().map(|p| p.queries.len()).sum();
    if monitor.pages.len() + queries > MAX_PAGES {
        return Err(malformed(format!(
            "there are more than {MAX_PAGES} pages and queries"
        )));
    }
    let mut entries = 0_u64;
    for page in &monitor.pages {
        entries = entries.saturating_add(page.count);
        let route = page.name.strip_prefix("GET ").unwrap_or(&page.name);
        tally.add_page(log_page(page, PageKind::Page, name(route), width).map_err(malformed)?);
        for &(start, count, errors, total) in &page.hours {
            if (0..1 << 40).contains(&start) && count.max(total) < 1 << 62 {
                tally.add_hour(start, count, errors, total);
            }
        }
        for query in &page.queries {
            tally.add_page(
                log_page(query, PageKind::Query, name(&query.name), width).map_err(malformed)?,
            );
        }
    }
    Ok(entries)
}

fn log_page(
    page: &MonitorPage,
    kind: PageKind,
    name: String,
    width: f64,
) -> Result<LogPage, String> {
    if page.name.len() > MAX_NAME {
        return Err(format!("a name has more than {MAX_NAME} bytes"));
    }
    let counted = page
        .times
        .iter()
        .try_fold(0_u64, |sum, (_, n)| sum.checked_add(*n));
    if counted != Some(page.count) {
        return Err(format!(
            "the bucket counts of {name} do not add up to the number of its requests"
        ));
    }
    let middle = |upper: u64| (upper as f64 * (1.0 - width / 2.0)) as u64;
    Ok(LogPage {
        kind,
        name,
        requests: page.count,
        errors: page.errors,
        client_errors: page.client_errors,
        timed: page.count,
        total_ns: page.total_ns,
        max_ns: page
            .max_ns
            .or(page.times.last().map(|(ns, _)| *ns))
            .unwrap_or(0),
        times: Counts(
            page.times
                .iter()
                .map(|(upper, n)| (middle(*upper), *n))
                .collect(),
        ),
        ..LogPage::default()
    })
}

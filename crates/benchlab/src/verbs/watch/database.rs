// SPDX-License-Identifier: Apache-2.0
//! Statements that a database server counted, asked of the server itself.

use lab_model::{PageKind, WatchedPage};
use lab_services::{DatabaseKind, StatementTotal, statement_totals};
use lab_watch::{ReadError, ServerLog, Tally, query};

/// Counts the statements of a server. Error: they cannot be read, and what to do.
pub fn read(
    kind: &'static DatabaseKind,
    url: &str,
    log: &mut ServerLog,
    tally: &mut Tally,
) -> Result<(), ReadError> {
    let totals = statement_totals(kind, url).map_err(|e| ReadError::Format(e.to_string()))?;
    log.source.format = format!("statements that {} counted", kind.title);
    log.lines.entries += totals.len() as u64;
    let pages = totals.into_iter().map(page);
    pages.for_each(|page| tally.add_page(page));
    Ok(())
}

fn page(total: StatementTotal) -> WatchedPage {
    WatchedPage {
        kind: PageKind::Query,
        name: query::fold(total.text.as_bytes()),
        requests: total.calls,
        errors: total.errors,
        timed: total.calls,
        total_ns: total.total_ns,
        max_ns: total.max_ns,
        ..WatchedPage::default()
    }
}

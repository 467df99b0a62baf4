// SPDX-License-Identifier: Apache-2.0
//! Reads the statement totals that a database server counted, from the server itself.

use crate::query::{self, Dialect};
use crate::read::ServerLog;
use crate::read_error::ReadError;
use crate::tally::Tally;
use lab_model::{LogPage, PageKind};
use lab_services::{DatabaseKind, MARIADB, StatementTotal, statement_totals};

/// Reads the statement totals of a server. The error states the reason and what to do.
pub fn read(
    kind: &'static DatabaseKind,
    url: &str,
    log: &mut ServerLog,
    tally: &mut Tally,
) -> Result<(), ReadError> {
    let totals = statement_totals(kind, url).map_err(|e| ReadError::Format(e.to_string()))?;
    log.source.format = format!("statements that {} counted", kind.title);
    log.lines.entries += totals.len() as u64;
    let dialect = if kind.software.name == MARIADB.software.name {
        Dialect::Mysql
    } else {
        Dialect::Postgresql
    };
    let pages = totals.into_iter().map(|total| page(total, dialect));
    pages.for_each(|page| tally.add_page(page));
    Ok(())
}

fn page(total: StatementTotal, dialect: Dialect) -> LogPage {
    LogPage {
        kind: PageKind::Query,
        name: query::fold(total.text.as_bytes(), dialect),
        requests: total.calls,
        errors: total.errors.unwrap_or(0),
        without_status: match total.errors {
            Some(_) => 0,
            None => total.calls,
        },
        timed: total.calls,
        total_ns: total.total_ns,
        max_ns: total.max_ns,
        ..LogPage::default()
    }
}

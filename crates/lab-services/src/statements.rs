// SPDX-License-Identifier: Apache-2.0
//! A running SQL server's own counters of its statements.

use crate::address::ServiceAddress;
use crate::database::DatabaseKind;
use crate::{DATABASES, ServiceError};

/// The totals of the statements with one normalized text, since the server began to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementTotal {
    /// The text without literals.
    pub text: String,
    /// How many times it was executed.
    pub calls: u64,
    /// How many of them failed; PostgreSQL counts none.
    pub errors: u64,
    /// The time of all of them, ns.
    pub total_ns: u64,
    /// The time of the longest, ns.
    pub max_ns: u64,
}

/// The kind of server that a URL is of.
pub fn kind_of_url(url: &str) -> Option<&'static DatabaseKind> {
    let (scheme, _) = url.split_once("://")?;
    DATABASES
        .into_iter()
        .find(|kind| kind.form.schemes.contains(&scheme))
}

/// The statements that a server counted; of PostgreSQL those of the URL's database. Errors: it cannot be reached, it
/// counts none, or this user may not read the counts.
pub fn statement_totals(
    kind: &'static DatabaseKind,
    url: &str,
) -> Result<Vec<StatementTotal>, ServiceError> {
    let address = ServiceAddress::parse(&kind.software, &kind.form, url).map_err(|reason| {
        ServiceError::Url {
            software: &kind.software,
            form: kind.form.text,
            reason,
        }
    })?;
    let rows = (kind.connect)(address)?.statement_totals()?;
    Ok(rows.into_iter().filter_map(total).collect())
}

/// A row of text, calls, errors, and the times in ns.
fn total(row: Vec<Option<String>>) -> Option<StatementTotal> {
    let mut columns = row.into_iter();
    let text = columns.next()??;
    let mut number = || columns.next()??.parse().ok();
    Some(StatementTotal {
        text,
        calls: number()?,
        errors: number()?,
        total_ns: number()?,
        max_ns: number()?,
    })
}

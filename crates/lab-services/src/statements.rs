// SPDX-License-Identifier: Apache-2.0
//! The statement counters of a running SQL server.

use crate::address::ServiceAddress;
use crate::database::DatabaseKind;
use crate::{DATABASES, ServiceError};

/// The totals of all statements with the same normalized text, since the server began to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementTotal {
    /// The text without literals.
    pub text: String,
    /// The number of executions.
    pub calls: u64,
    /// The number of failed executions, or `None` if the server does not count them.
    pub errors: Option<u64>,
    /// The total time in ns.
    pub total_ns: u64,
    /// The maximum time in ns.
    pub max_ns: u64,
}

/// Returns the kind of server that a URL refers to.
pub fn kind_of_url(url: &str) -> Option<&'static DatabaseKind> {
    let (scheme, _) = url.split_once("://")?;
    DATABASES
        .into_iter()
        .find(|kind| kind.form.schemes.contains(&scheme))
}

/// Returns the statements that a server has counted. For PostgreSQL, these are the statements in
/// the URL's database.
///
/// Returns an error if the server is unreachable, does not count statements, or does not permit
/// the URL's user to read the counts.
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

/// Converts a row of text, calls, errors, and times in ns. The errors are NULL if the server does
/// not count them.
fn total(row: Vec<Option<String>>) -> Option<StatementTotal> {
    let [text, calls, errors, total_ns, max_ns] = row.try_into().ok()?;
    let number = |text: Option<String>| text?.parse().ok();
    let errors = match errors {
        None => None,
        errors => Some(number(errors)?),
    };
    Some(StatementTotal {
        text: text?,
        calls: number(calls)?,
        errors,
        total_ns: number(total_ns)?,
        max_ns: number(max_ns)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_can_be_unknown() {
        let row = |errors: Option<&str>| {
            let row = [
                Some("SELECT ?"),
                Some("7"),
                errors,
                Some("900"),
                Some("500"),
            ];
            total(row.map(|text| text.map(str::to_owned)).to_vec())
        };
        let of = |errors| {
            Some(StatementTotal {
                text: "SELECT ?".into(),
                calls: 7,
                errors,
                total_ns: 900,
                max_ns: 500,
            })
        };
        assert_eq!(row(None), of(None));
        assert_eq!(row(Some("2")), of(Some(2)));
        assert_eq!(row(Some("x")), None);
    }
}

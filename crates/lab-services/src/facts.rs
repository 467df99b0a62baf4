// SPDX-License-Identifier: Apache-2.0
//! What is said of a server in a report.

use crate::admin::{Admin, Rows};
use crate::{Kind, ServiceError, mariadb, postgresql};

/// Version and settings.
pub(crate) fn read_back(
    admin: &mut Admin,
    given: &[(String, String)],
) -> Result<Vec<(String, String)>, ServiceError> {
    let names = |facts: &[&str]| {
        let given = given.iter().map(|(name, _)| name.clone());
        facts
            .iter()
            .map(|&name| name.to_owned())
            .chain(given)
            .collect::<Vec<String>>()
    };
    let mut facts = vec![("version".to_owned(), admin.value("SELECT version()")?)];
    facts.extend(match admin.kind() {
        Kind::Postgresql => postgresql::settings(admin, &names(postgresql::FACTS))?,
        Kind::Mariadb => mariadb::settings(admin, &names(mariadb::FACTS))?,
    });
    Ok(facts)
}

/// Rows of a name and a value.
pub(crate) fn pairs(rows: Rows) -> Vec<(String, String)> {
    let pair = |row: Vec<Option<String>>| {
        let mut columns = row.into_iter().map(Option::unwrap_or_default);
        Some((columns.next()?, columns.next()?))
    };
    rows.into_iter().filter_map(pair).collect()
}

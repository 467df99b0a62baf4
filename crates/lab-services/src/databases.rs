// SPDX-License-Identifier: Apache-2.0
//! The supported SQL servers.

use crate::abandoned::clear_of;
use crate::database::DatabaseKind;
use crate::mariadb::MARIADB;
use crate::postgresql::POSTGRESQL;
use std::path::Path;

/// All SQL servers that benchlab can start.
pub static DATABASES: [&DatabaseKind; 2] = [&POSTGRESQL, &MARIADB];

/// Returns the SQL server with the given name, such as `postgresql`.
pub fn database(name: &str) -> Option<&'static DatabaseKind> {
    DATABASES.into_iter().find(|kind| kind.name == name)
}

/// Ends the private SQL servers that a killed benchlab process left in its scratch directory, and
/// removes their data.
///
/// The caller must make sure that the benchlab process has exited.
pub fn clear(folder: &Path) {
    clear_of(&DATABASES.map(|kind| &kind.software), folder);
}

// SPDX-License-Identifier: Apache-2.0
//! The SQL servers.

use crate::abandoned::clear_of;
use crate::database::DatabaseKind;
use crate::mariadb::MARIADB;
use crate::postgresql::POSTGRESQL;
use std::path::Path;

/// Every SQL server that the lab can start.
pub static DATABASES: [&DatabaseKind; 2] = [&POSTGRESQL, &MARIADB];

/// The SQL server of this name, such as `postgresql`.
pub fn database(name: &str) -> Option<&'static DatabaseKind> {
    DATABASES.into_iter().find(|kind| kind.name == name)
}

/// Ends the private SQL servers that a killed lab left in its scratch folder, and removes their data. All else stays.
/// The caller must be sure that the lab is gone.
pub fn clear(folder: &Path) {
    clear_of(&DATABASES.map(|kind| &kind.software), folder);
}

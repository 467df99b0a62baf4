// SPDX-License-Identifier: Apache-2.0
//! Code shared by the programs for the three targets: the inputs of their cases, the folding of a row of `test_mixed`,
//! tasks that perform operations concurrently, and the connection to each target.
//!
//! The experiment `pool_sql` also uses the connections.

mod at_once;
mod inputs;
pub mod mariadb;
mod mixed;
mod own;
pub mod postgresql;
mod runtime;
pub mod sqlite;

pub use at_once::{Share, at_once};
pub use inputs::{Transfer, Update, ids, is_prepared, transfers, updates, values};
pub use mixed::{Amount, Mixed, fold};
pub use own::{NULL, OwnStatement, OwnType, OwnValue, OwnWork, byte_sum, code_points};
pub use runtime::this_thread;

/// The cheapest statement that returns a row.
pub const SELECT_1: &str = "SELECT 1";

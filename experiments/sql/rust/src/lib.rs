// SPDX-License-Identifier: Apache-2.0
//! What the programs of the three targets share: the inputs of their cases, how a row of
//! `test_mixed` is folded, how tasks do operations at once, and how each target is connected to, which is the same
//! in the experiment of pooled connections.

mod at_once;
mod inputs;
pub mod mariadb;
mod mixed;
pub mod postgresql;
mod runtime;
pub mod sqlite;

pub use at_once::{Share, at_once};
pub use inputs::{Transfer, Update, ids, is_prepared, transfers, updates, values};
pub use mixed::{Amount, Mixed, fold};
pub use runtime::this_thread;

/// The cheapest statement that yields a row.
pub const SELECT_1: &str = "SELECT 1";

// SPDX-License-Identifier: Apache-2.0
//! What the programs of the three targets share: the inputs of their cases, how a row of
//! `test_mixed` is folded, and how tasks do operations at once.

mod at_once;
mod inputs;
mod mixed;

pub use at_once::{Share, at_once};
pub use inputs::{Transfer, Update, ids, is_prepared, transfers, updates, values};
pub use mixed::{Amount, Mixed, fold};

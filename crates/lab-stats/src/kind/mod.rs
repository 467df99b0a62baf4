// SPDX-License-Identifier: Apache-2.0
//! The kinds of measured work.
//!
//! Each kind has a directory, implements [`WorkKind`] and is registered in [`kind_of`].

mod batches;
mod commands;
mod facts;
mod load;
mod servers;
mod work_kind;

pub(crate) use work_kind::{BetweenMethod, BlockRatios, WorkKind};

use lab_model::{Plan, Work};

/// Returns the implementation for a plan's kind of work.
pub(crate) fn kind_of(plan: &Plan) -> &dyn WorkKind {
    match &plan.work {
        Work::Batches => &batches::Batches,
        Work::Commands(commands) => commands,
        Work::Load(load) => load,
        Work::Servers(servers) => servers,
    }
}

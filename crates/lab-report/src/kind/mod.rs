// SPDX-License-Identifier: Apache-2.0
//! The kinds of measured work. Each has its own directory, implements [`WorkKind`] and is registered in [`kind_of`].

mod batches;
mod commands;
mod load;
mod servers;
mod work_kind;

pub use work_kind::WorkKind;

use lab_model::Work;

/// Returns the kind of a plan's work.
pub fn kind_of(work: &Work) -> &dyn WorkKind {
    match work {
        Work::Batches => &batches::Batches,
        Work::Commands(commands) => commands,
        Work::Load(load) => load,
        Work::Servers(servers) => servers,
    }
}

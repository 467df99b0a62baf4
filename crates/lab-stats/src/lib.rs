// SPDX-License-Identifier: Apache-2.0
//! What a run's samples say: estimates, intervals, verdicts. Pure functions, no I/O.
//!
//! [`analyse_parts()`] makes an [`analysis::Analysis`] of what a run did on each target; [`stop`] says whether a run may end;
//! [`warmup::classify`] reads a pilot's batches; [`differences`] compares the settings that subjects read
//! back. The method is described for its users in `docs/statistics.md`.

pub mod analyse;
pub mod analysis;
pub mod between;
pub mod bootstrap;
pub mod cells;
pub mod change;
pub mod compare;
pub mod counted;
pub mod dependence;
pub mod differing;
pub mod factors;
pub mod family;
pub mod fit;
pub mod footprints;
pub mod forecast;
pub mod latencies;
pub mod load;
pub mod normal;
pub mod order;
pub mod overall;
pub mod rank_sum;
pub mod ratio;
pub mod refusals;
mod reservations;
pub mod scaling;
pub mod server_cost;
pub mod settings;
pub mod signed_rank;
pub mod stopping;
pub mod sweeps;
pub mod table;
pub mod uses;
pub mod usl;
pub mod verdict;
pub mod warmup;
pub mod warnings;

pub use analyse::{Analysed, analyse, analyse_parts};
pub use between::between;
pub use load::load;
pub use settings::{Difference, differences};
pub use stopping::stop;

// SPDX-License-Identifier: Apache-2.0
//! The results of a run of any kind: values and comparisons, keyed by subject, point and metric.

mod ages;
pub(crate) mod batches;
mod best;
mod bias;
pub(crate) mod calls;
pub(crate) mod compare;
mod completed;
pub(crate) mod footprints;
pub(crate) mod judge;
pub(crate) mod levels;
pub(crate) mod load;
pub(crate) mod load_means;
mod load_pairs;
pub(crate) mod load_traits;
mod means;
mod model;
mod observed;
mod of_run;
mod parts;
mod pauses;
mod ranking;
mod spread;
pub mod warning;
mod warnings;

pub use crate::server_age::{AgeState, ServerAge};
pub use ages::FIRST;
pub(crate) use ages::exclusions as age_exclusions;
pub use model::{
    Best, Bias, BiasKind, Cell, Comparison, Control, Effect, Key, NoLaw, Over, Overall, Ranking,
    Results, Scaling, Shift, Spread, Value,
};
pub use observed::{Observation, observed, readings};
pub use of_run::results;
pub use warning::{Warning, WarningFact, WarningKind};

// SPDX-License-Identifier: Apache-2.0
//! Statistics of a run's samples: estimates, intervals and verdicts.
//!
//! All functions are pure and do no I/O.
//!
//! - [`results::results`] computes the values, comparisons and warnings of a run of any kind.
//! - [`results::observed`] does the same for arbitrary observations.
//! - [`stop`] decides whether a run may stop.
//! - [`warmup::classify`] classifies a pilot's batches.
//! - [`differences`] compares the settings that subjects read back.
//!
//! `docs/statistics.md` describes the method for users.

pub mod analysis;
mod beta;
pub mod between;
mod binomial;
pub mod bisection;
pub mod bootstrap;
pub mod change;
mod chi_square;
pub mod counted;
mod cut_short;
pub mod deciding;
pub mod dependence;
pub mod exclusions;
mod factors;
pub mod family;
pub mod few_blocks;
pub mod fit;
pub mod forecast;
pub mod gate;
pub mod helpers;
pub mod hosts;
mod kind;
pub mod latencies;
pub mod likelihood;
pub mod load;
pub mod mean;
pub mod nesting;
pub mod normal;
pub mod order;
pub mod outlook;
pub mod pilot_time;
pub mod power;
pub mod processes;
pub mod random_effect;
pub mod range_steps;
pub mod rank_sum;
pub mod ratio;
pub mod results;
pub mod scaling;
mod server_age;
pub mod settings;
pub mod shifts;
pub mod sign_flip;
pub mod signed_rank;
mod simulated;
pub mod spending;
pub mod steady;
pub mod stopping;
pub mod sweeps;
pub mod table;
mod turn_levels;
mod usage;
pub mod usl;
pub mod verdict;
pub mod warmup;

pub use between::compare_runs;
pub use settings::{Difference, differences};
pub use stopping::stop;

// SPDX-License-Identifier: Apache-2.0
//! Results of a load run's slices: rates, costs, quantiles of all requests and verdicts.

pub mod agents;
pub(crate) mod idle;
mod limits;
pub(crate) mod numbered;
pub(crate) mod overload;
pub mod peaks;
pub mod percentiles;
pub(crate) mod quantiles;
mod scalings;
pub(crate) mod visits;

pub(crate) use limits::{
    BUSY_FRACTION, OWN_LATENCY, error_fraction, hidden, is_generators, unless_hidden,
};
pub(crate) use scalings::scalings;

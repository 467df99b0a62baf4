// SPDX-License-Identifier: Apache-2.0
//! Finds facts without which users could misinterpret the results of a run.

mod agents;
mod basis;
mod batches;
mod hosts;
mod load;
mod reference;
mod server;
mod servers;

pub(super) use basis::{Depending, WarningBasis};
pub(super) use batches::of_batches;
pub(super) use hosts::of_hosts;
pub(super) use load::of_load;

// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]

mod clock;
mod conversation;
mod failure;
mod fixture;
mod inputs;
mod laps;
mod line;
mod subject;
mod work;
mod workers;

pub use clock::now;
pub use failure::Failure;
pub use fixture::{
    Checked, Fixture, Outage, OutageStep, State, Visit, serve_fixture, serve_fixture_on,
};
pub use inputs::Inputs;
pub use laps::Laps;
pub use subject::{Case, Closed, Opening, Subject};
pub use work::Work;
pub use workers::{Share, Workers};

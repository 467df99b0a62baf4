// SPDX-License-Identifier: Apache-2.0
//! Counts of requests for each hour of a log.

use crate::sketch::Sketch;
use serde::{Deserialize, Serialize};

/// The counts of one hour over all pages that people use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hour {
    /// The start of the hour, in hours since 1970.
    pub(crate) start: i64,
    pub(crate) offset_s: i32,
    pub(crate) requests: u64,
    pub(crate) errors: u64,
    pub(crate) total_ns: u64,
    pub(crate) times: Sketch,
}

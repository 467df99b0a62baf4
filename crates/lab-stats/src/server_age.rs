// SPDX-License-Identifier: Apache-2.0
//! The age at which a server becomes steady, and the state of the server during its turns.

use lab_model::{PointId, SubjectId};
use serde::Serialize;

/// The warm-up of a server for a case, and the state of the server during its turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerAge {
    /// The server whose age was determined.
    pub subject: SubjectId,
    /// The point at which the pilot measured the server.
    pub point: PointId,
    /// The wall time of the very first request in ns, then the mean CPU time of the first 1,000 and
    /// 100,000 requests in ns, if the pilot had that many requests.
    pub first_ns: [Option<f64>; 3],
    /// The CPU time of a request at the end of the pilot, in ns.
    pub steady_ns: f64,
    /// The number of requests that the server had served when it reached the steady level.
    pub requests: u64,
    /// The time from the first request until the server reached the steady level, in s.
    pub seconds: f64,
    /// True if the level was steady, that is, if the cost no longer decreased.
    pub steady: bool,
    /// The CPU time of a request in the turns of the process that was farthest from the steady
    /// level, in ns. The expected value is `expected_ns`.
    pub turns_ns: Option<f64>,
    /// The steady level in ns, converted to the speed of the machine during the turns.
    pub expected_ns: Option<f64>,
    /// The number of processes whose turns count.
    pub processes: u32,
    /// The number of processes whose turns count but were not at the steady level.
    pub processes_off: u32,
    /// The state of the server during its turns.
    pub state: AgeState,
}

/// The state of a server during its turns, relative to its steady level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgeState {
    /// The turns were at the steady level, or the run compares servers at a requested age.
    Steady,
    /// The turns cost more: the server was still warming up.
    WarmingUp,
    /// The turns had a different cost, although the server needs no warm-up. Something else
    /// disturbed the turns.
    Disturbed,
    /// The turns cost less: the pilot ended before the server was steady.
    PilotTooShort,
    /// The server's cost was still decreasing when its pilot ended.
    StillFalling,
    /// The run had no time to warm up the server, so it did not measure the server.
    LeftOut,
}

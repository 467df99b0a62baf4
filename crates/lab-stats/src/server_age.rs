// SPDX-License-Identifier: Apache-2.0
//! The age at which a server is steady, and whether its turns were at that level, as data.

use lab_model::{PointId, SubjectId};
use serde::Serialize;

/// The warm-up of a server for a case, and the level of its turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerAge {
    /// The server.
    pub subject: SubjectId,
    /// The point at which it was piloted.
    pub point: PointId,
    /// The very first request, ns of wall time; then the mean CPU time of the first 1,000 and 100,000, if the
    /// pilot had that many.
    pub first_ns: [Option<f64>; 3],
    /// CPU time of a request at the end of the pilot, ns.
    pub steady_ns: f64,
    /// Requests that it had served when that level began.
    pub requests: u64,
    /// Seconds from the first request until then.
    pub seconds: f64,
    /// The level was steady: it did not fall any more.
    pub steady: bool,
    /// CPU time of a request in the turns that count, ns, of the process that was farthest from the steady level; as the
    /// steady level would be at the same speed of the machine it is `expected_ns`.
    pub turns_ns: Option<f64>,
    /// The steady level at the speed that the machine had in those turns, ns.
    pub expected_ns: Option<f64>,
    /// Processes whose turns count.
    pub processes: u32,
    /// Those of them whose turns were not at the steady level.
    pub processes_off: u32,
    /// The state of the server during its turns.
    pub state: AgeState,
}

/// The state of a server relative to its steady level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgeState {
    /// They were; or the run compares servers at another age on purpose.
    Steady,
    /// They cost more: it was still warming up.
    WarmingUp,
    /// They did not cost the same, of a server that needs no warm-up: something else disturbed them.
    Disturbed,
    /// They cost less: the pilot ended before it was steady.
    PilotTooShort,
    /// Its level still fell when its pilot ended.
    StillFalling,
    /// The run had no time to warm it up, and did not measure it.
    LeftOut,
}

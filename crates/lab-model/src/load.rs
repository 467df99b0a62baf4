// SPDX-License-Identifier: Apache-2.0
//! Load: what is sent to a server over HTTP, and what came of it, slice by slice.

use crate::{PointId, SubjectId};
use serde::{Deserialize, Serialize};

/// How load is put on servers. How much of it at which point, see [`crate::PointLoad`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The requests of each subject, as people may see them: without secrets.
    pub requests: Vec<Vec<PlannedRequest>>,
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// A connection serves one request after the other; else each request opens one of its own.
    pub keep_alive: bool,
    /// Requests that a connection has under way at the most.
    pub pipeline: u32,
    /// Threads of the generator, one per core at the most.
    pub threads: u32,
    /// A request that takes longer has failed.
    pub timeout_ns: u64,
    /// What an answer must be besides well-formed, in words, such as `status 200`.
    pub expected: Vec<String>,
    /// How long a visit to a point lasts.
    pub stretch_ns: u64,
    /// The server's process on this machine, by its number, if it was named.
    pub server_pid: Option<i32>,
}

/// Within a tick an open loop sends what was due together: to wake for each request, and to wake the server for each,
/// costs more than the requests.
const LONGEST_TICK_NS: u64 = 200_000;
const SHORTEST_TICK_NS: u64 = 50_000;

impl Load {
    /// The least time between two sendings of a thread of an open loop, ns: two requests at the highest rate that is
    /// planned; the shortest, where rates come of what is measured. One for all servers and points.
    pub fn tick_ns(&self) -> u64 {
        let Arrivals::Open { stages, .. } = &self.arrivals else {
            return SHORTEST_TICK_NS;
        };
        let highest = stages.iter().map(|s| s.from.max(s.to)).fold(0.0, f64::max);
        let two_ns = 2e9 * f64::from(self.threads.max(1)) / highest;
        (two_ns as u64).clamp(SHORTEST_TICK_NS, LONGEST_TICK_NS)
    }
}

/// One request, and how often it is sent in proportion to the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRequest {
    /// Such as `GET`.
    pub method: String,
    /// Without user and password.
    pub url: String,
    /// At least 1.
    pub weight: u32,
}

/// When requests are sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loop", rename_all = "lowercase")]
pub enum Arrivals {
    /// As soon as the connection's last one is answered.
    #[default]
    Closed,
    /// When they are due, whatever became of those before.
    Open {
        /// The times between two are exponentially distributed, as of many users that know nothing of
        /// each other; else they are equal.
        poisson: bool,
        /// One after the other, over and over again while the load lasts.
        stages: Vec<Stage>,
    },
}

impl Arrivals {
    /// Whether the rate is another one at another time.
    pub fn changes(&self) -> bool {
        let Arrivals::Open { stages, .. } = self else {
            return false;
        };
        let mut rates = stages.iter().flat_map(|stage| [stage.from, stage.to]);
        let first = rates.next();
        rates.any(|rate| Some(rate) != first)
    }
}

/// A part of the time in which the rate goes evenly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Requests per second at its beginning.
    pub from: f64,
    /// Requests per second at its end.
    pub to: f64,
    /// How long it lasts.
    pub length_ns: u64,
}

/// The protocol on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    Http1,
    /// HTTP/2 (RFC 9113).
    Http2,
}

/// Why a request was not answered as it should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// No connection came about: refused, unreachable, or TLS was not agreed on.
    Connect,
    /// No complete answer in time.
    Timeout,
    /// The connection ended before the answer was complete.
    Reset,
    /// The answer is not HTTP.
    Malformed,
    /// Another status than expected.
    Status,
    /// Another body than expected.
    Body,
    /// Sent, and not answered when the load ended and the time for stragglers was over.
    Unfinished,
}

impl ErrorKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [ErrorKind; 7] = [
        ErrorKind::Connect,
        ErrorKind::Timeout,
        ErrorKind::Reset,
        ErrorKind::Malformed,
        ErrorKind::Status,
        ErrorKind::Body,
        ErrorKind::Unfinished,
    ];

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Connect => "connect",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Reset => "reset",
            ErrorKind::Malformed => "malformed",
            ErrorKind::Status => "status",
            ErrorKind::Body => "body",
            ErrorKind::Unfinished => "unfinished",
        }
    }
}

/// A stretch of load, or a part of one: what happened in it. Every request that was offered is sooner or
/// later served or an error, so that over a whole visit offered = served + errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Over which connections.
    pub point: PointId,
    /// To which server.
    pub subject: SubjectId,
    /// In which pass of the block.
    pub pass: u32,
    /// Its length, without what comes after the end of the load.
    pub wall_ns: u64,
    /// How long after the end of the load its last answer came; 0 in slices before the last one of a visit.
    pub drain_ns: u64,
    /// Requests that were due in it; in a closed loop, that were sent.
    pub offered: u64,
    /// Requests that were answered as they should be.
    pub served: u64,
    /// Requests that were not, by kind; only kinds that happened.
    pub errors: Vec<(ErrorKind, u64)>,
    /// Connections opened.
    pub connects: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// CPU time of the generator's threads.
    pub cpu_ns: u64,
    /// CPU time of the generator's busiest thread.
    pub busiest_cpu_ns: u64,
    /// CPU time of the server's processes; `None`: they are not known.
    pub server_cpu_ns: Option<u64>,
    /// Resident memory of the server's processes at the end, what they share counted once.
    pub server_bytes: Option<u64>,
    /// Threads of the server's processes at the end.
    pub server_threads: Option<u32>,
    /// CPU time that the busiest of all other processes used meanwhile, where the generator and the server have
    /// all cores.
    pub foreign_ns: Option<u64>,
    /// From the moment when a request was due (in a closed loop: sent) to the end of its answer, of
    /// those served.
    pub response: Counts,
    /// From the sending of a request to the end of its answer, of those served.
    pub service: Counts,
    /// How much later than due the generator looked at a request, whether a connection was free or not;
    /// in an open loop.
    pub lag: Counts,
}

impl Slice {
    /// How long it took to serve what was served in it, ns: its length and, after the end of the load, the
    /// time until the last answer. In an open loop, where alone there is a lag, the last request takes its
    /// service time however well the server keeps up: so only what exceeds the median of those counts, for
    /// then there was a backlog. In a closed loop no more than the median counts: a few connections that waited
    /// for seconds while the others were served say nothing of the server's rate.
    pub fn served_in_ns(&self) -> u64 {
        let usual = self.service.median().unwrap_or(0);
        let after_end = if self.lag.0.is_empty() {
            self.drain_ns.min(usual)
        } else {
            self.drain_ns.saturating_sub(usual)
        };
        self.wall_ns.saturating_add(after_end)
    }

    /// From its beginning to the last answer, ns.
    pub fn taken_ns(&self) -> u64 {
        self.wall_ns.saturating_add(self.drain_ns)
    }
}

/// A distribution of times: a value in ns, the highest of its bucket, and how many; ascending. The
/// buckets are those of an HdrHistogram with three significant digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts(pub Vec<(u64, u64)>);

impl Counts {
    /// The longest time that is told apart from longer ones: an hour, ns.
    pub const LONGEST_NS: u64 = 3_600_000_000_000;

    /// Significant decimal digits of a time.
    pub const DIGITS: u8 = 3;

    /// How many values there are.
    pub fn total(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// A value that half of them do not exceed.
    pub fn median(&self) -> Option<u64> {
        let half = self.total().div_ceil(2);
        let mut passed = 0_u64;
        let found = self.0.iter().find(|(_, count)| {
            passed = passed.saturating_add(*count);
            passed >= half
        });
        found.map(|(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_that_of_the_highest_rate() {
        let tick_ns = |rates: &[f64], threads| {
            let stage = |&rate: &f64| Stage {
                from: rate,
                to: rate,
                length_ns: 1,
            };
            let arrivals = Arrivals::Open {
                poisson: true,
                stages: rates.iter().map(stage).collect(),
            };
            let load = Load {
                arrivals,
                threads,
                ..Load::default()
            };
            load.tick_ns()
        };
        assert_eq!(tick_ns(&[100.0], 1), 200_000);
        assert_eq!(tick_ns(&[100.0, 20_000.0], 1), 100_000);
        assert_eq!(tick_ns(&[20_000.0], 2), 200_000);
        assert_eq!(tick_ns(&[1e6], 1), 50_000);
        assert_eq!(Load::default().tick_ns(), 50_000);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Load: what is sent to a server over HTTP, and what came of it, slice by slice.

use crate::{AgentId, AgentSlice, PointId, SliceTimes, SubjectId};
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
    /// The share of one of several generators that share the requests equally.
    pub fn divided(&self, generators: usize) -> Arrivals {
        let Arrivals::Open { poisson, stages } = self else {
            return Arrivals::Closed;
        };
        let part = 1.0 / generators.max(1) as f64;
        let share = |stage: &Stage| Stage {
            from: stage.from * part,
            to: stage.to * part,
            ..*stage
        };
        Arrivals::Open {
            poisson: *poisson,
            stages: stages.iter().map(share).collect(),
        }
    }

    /// How many requests are due until so long after the beginning, on average; none in a closed loop.
    pub fn due(&self, until_ns: u64) -> f64 {
        let Arrivals::Open { stages, .. } = self else {
            return 0.0;
        };
        let all_ns: u64 = stages.iter().map(|stage| stage.length_ns).sum();
        if all_ns == 0 {
            return 0.0;
        }
        let whole: f64 = stages.iter().map(|s| s.due(s.length_ns)).sum();
        let mut left_ns = until_ns % all_ns;
        let mut due = (until_ns / all_ns) as f64 * whole;
        for stage in stages {
            let here_ns = left_ns.min(stage.length_ns);
            due += stage.due(here_ns);
            left_ns -= here_ns;
        }
        due
    }

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

impl Stage {
    /// How many requests are due in the first part of it, on average: the area under its rate.
    fn due(&self, first_ns: u64) -> f64 {
        let part = first_ns as f64 / self.length_ns.max(1) as f64;
        let rate = self.from + (self.to - self.from) * part;
        (self.from + rate) / 2.0 * first_ns as f64 / 1e9
    }
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
    pub response: SliceTimes,
    /// From the sending of a request to the end of its answer, of those served.
    pub service: SliceTimes,
    /// How much later than due the generator looked at a request, whether a connection was free or not;
    /// in an open loop.
    pub lag: SliceTimes,
    /// What each of several agents did of it; none: the lab put the load on itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentSlice>,
}

impl Slice {
    /// How long it took to serve what was served in it, ns: its length and, after the end of the load, the
    /// time until the last answer. In an open loop, where alone there is a lag, the last request takes its
    /// service time however well the server keeps up: so only what exceeds the median of those counts, for
    /// then there was a backlog. In a closed loop no more than the median counts: a few connections that waited
    /// for seconds while the others were served say nothing of the server's rate.
    pub fn served_in_ns(&self) -> u64 {
        let usual = self.service.median().unwrap_or(0);
        let after_end = if self.lag.is_empty() {
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

    /// Requests that were due and not sent because an agent was lost.
    pub fn not_sent(&self) -> u64 {
        self.agents.iter().map(|part| part.not_sent).sum()
    }

    /// Adds what another generator did in the same time. What the server used is known once, and stays.
    pub fn add(&mut self, other: &Slice) {
        self.wall_ns = self.wall_ns.max(other.wall_ns);
        self.drain_ns = self.drain_ns.max(other.drain_ns);
        self.offered += other.offered;
        self.served += other.served;
        for (kind, count) in &other.errors {
            match self.errors.iter_mut().find(|(k, _)| k == kind) {
                Some((_, sum)) => *sum += count,
                None => self.errors.push((*kind, *count)),
            }
        }
        self.errors.sort_by_key(|(kind, _)| *kind);
        self.connects += other.connects;
        self.received_bytes += other.received_bytes;
        self.cpu_ns += other.cpu_ns;
        self.busiest_cpu_ns = self.busiest_cpu_ns.max(other.busiest_cpu_ns);
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lag.add(&other.lag);
    }

    /// The same as if some agents had not been there; `None`: nobody is left.
    pub fn without(&self, agents: &[AgentId]) -> Option<Slice> {
        let left = self.agents.iter().filter(|a| !agents.contains(&a.agent));
        let left: Vec<AgentSlice> = left.cloned().collect();
        if left.len() == self.agents.len() {
            return Some(self.clone());
        }
        let mut slice = Slice {
            point: self.point,
            subject: self.subject,
            pass: self.pass,
            server_cpu_ns: self.server_cpu_ns,
            server_bytes: self.server_bytes,
            server_threads: self.server_threads,
            foreign_ns: self.foreign_ns,
            ..Slice::default()
        };
        left.iter().for_each(|part| slice.add(&part.slice));
        slice.agents = left;
        (slice.wall_ns > 0).then_some(slice)
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

    /// Adds another distribution of the same buckets.
    pub fn add(&mut self, other: &Counts) {
        let (mine, theirs) = (std::mem::take(&mut self.0), &other.0);
        let (mut i, mut j) = (0, 0);
        self.0.reserve(mine.len().max(theirs.len()));
        loop {
            let (a, b) = (mine.get(i), theirs.get(j));
            let Some(value) = a.into_iter().chain(b).map(|(value, _)| *value).min() else {
                break;
            };
            let mut sum = 0_u64;
            for (side, at) in [(a, &mut i), (b, &mut j)] {
                if let Some((_, count)) = side.filter(|(v, _)| *v == value) {
                    sum = sum.saturating_add(*count);
                    *at += 1;
                }
            }
            self.0.push((value, sum));
        }
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

    #[test]
    fn distributions_add_up() {
        let mut sum = Counts(vec![(1, 2), (5, 1)]);
        sum.add(&Counts(vec![(0, 1), (5, 4), (9, 3)]));
        assert_eq!(sum, Counts(vec![(0, 1), (1, 2), (5, 5), (9, 3)]));
        sum.add(&Counts::default());
        assert_eq!(sum.total(), 11);
    }

    fn ramp() -> Arrivals {
        let stage = |from, to, seconds: u64| Stage {
            from,
            to,
            length_ns: seconds * 1_000_000_000,
        };
        Arrivals::Open {
            poisson: true,
            stages: vec![stage(0.0, 100.0, 2), stage(100.0, 100.0, 1)],
        }
    }

    #[test]
    fn what_is_due_is_the_area_under_the_rate() {
        let due = |seconds: f64| ramp().due((seconds * 1e9) as u64);
        let known = [
            (0.0, 0.0),
            (1.0, 25.0),
            (2.0, 100.0),
            (2.5, 150.0),
            (3.0, 200.0),
            (4.0, 225.0),
        ];
        for (seconds, expected) in known {
            assert!(
                (due(seconds) - expected).abs() < 1e-6,
                "{seconds}: {}",
                due(seconds)
            );
        }
        assert_eq!(Arrivals::Closed.due(1_000_000_000), 0.0);
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        let share = ramp().divided(4);
        assert!((4.0 * share.due(2_700_000_000) - ramp().due(2_700_000_000)).abs() < 1e-6);
        assert_eq!(Arrivals::Closed.divided(3), Arrivals::Closed);
    }

    #[test]
    fn a_slice_without_an_agent_is_that_of_the_others() {
        let part = |agent: AgentId, served: u64| AgentSlice {
            agent,
            slice: Slice {
                wall_ns: 10,
                offered: served + 1,
                served,
                errors: vec![(ErrorKind::Timeout, 1)],
                busiest_cpu_ns: served,
                response: Counts(vec![(7, served)]).into(),
                ..Slice::default()
            },
            ..AgentSlice::default()
        };
        let mut whole = Slice {
            server_cpu_ns: Some(3),
            agents: vec![part(0, 5), part(1, 8)],
            ..Slice::default()
        };
        for part in whole.agents.clone() {
            whole.add(&part.slice);
        }
        assert_eq!(
            (whole.offered, whole.served, whole.busiest_cpu_ns),
            (15, 13, 8)
        );
        assert_eq!(whole.errors, [(ErrorKind::Timeout, 2)]);
        let left = whole.without(&[1]).expect("one is left");
        assert_eq!((left.served, left.server_cpu_ns), (5, Some(3)));
        assert_eq!(*left.response.counts(), Counts(vec![(7, 5)]));
        assert_eq!(whole.without(&[9]), Some(whole.clone()));
        assert_eq!(whole.without(&[0, 1]), None);
    }
}

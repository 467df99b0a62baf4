// SPDX-License-Identifier: Apache-2.0
//! Load on a server, slice by slice.

use crate::{AgentId, PointId, SliceTimes, SubjectId};
use serde::{Deserialize, Serialize};

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
    /// The point: over which connections, at which load.
    pub point: PointId,
    /// The server.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
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
    /// How many responses had which status code, in ascending order; empty: not known, or none was HTTP.
    #[serde(default)]
    pub statuses: Vec<(u16, u64)>,
    /// Connections opened.
    pub connects: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Answers whose times end when they were read: when they came was noted by a clock that did not fit.
    #[serde(default)]
    pub read_times: u64,
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
    /// Each agent's part; empty if the lab generated the load itself.
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
        add_statuses(&mut self.statuses, &other.statuses);
        self.connects += other.connects;
        self.received_bytes += other.received_bytes;
        self.read_times += other.read_times;
        self.cpu_ns += other.cpu_ns;
        self.busiest_cpu_ns = self.busiest_cpu_ns.max(other.busiest_cpu_ns);
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lag.add(&other.lag);
    }

    /// The slice without what some agents did; `None`: no agent is left. What the server used is then not known, for it was
    /// for the requests of all.
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
            foreign_ns: self.foreign_ns,
            ..Slice::default()
        };
        left.iter().for_each(|part| slice.add(&part.slice));
        slice.agents = left;
        (slice.wall_ns > 0).then_some(slice)
    }
}

/// Adds to counts of responses by status code, which are in ascending order.
pub fn add_statuses(counts: &mut Vec<(u16, u64)>, others: &[(u16, u64)]) {
    for &(status, count) in others {
        match counts.binary_search_by_key(&status, |(known, _)| *known) {
            Ok(index) => counts[index].1 += count,
            Err(index) => counts.insert(index, (status, count)),
        }
    }
}

/// One agent's part in a slice of load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSlice {
    /// The agent.
    pub agent: AgentId,
    /// How much later than planned its load began, ns, as far as the comparison of the clocks tells.
    pub late_ns: u64,
    /// Requests that were due and not sent because it was lost.
    pub not_sent: u64,
    /// Its figures; empty once the agent was lost.
    pub slice: Slice,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counts;

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
        let mut total = Slice {
            server_cpu_ns: Some(3),
            agents: vec![part(0, 5), part(1, 8)],
            ..Slice::default()
        };
        for part in total.agents.clone() {
            total.add(&part.slice);
        }
        assert_eq!(
            (total.offered, total.served, total.busiest_cpu_ns),
            (15, 13, 8)
        );
        assert_eq!(total.errors, [(ErrorKind::Timeout, 2)]);
        let left = total.without(&[1]).expect("one is left");
        // What the server used it used for both.
        assert_eq!((left.served, left.server_cpu_ns), (5, None));
        assert_eq!(*left.response.counts(), Counts(vec![(7, 5)]));
        assert_eq!(total.without(&[9]), Some(total.clone()));
        assert_eq!(total.without(&[0, 1]), None);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Load on a server, in slices of time.

use crate::{AgentId, LoadCounts, PointId, SliceTimes, SubjectId};
use serde::{Deserialize, Serialize};

/// The kind of failure of a request that did not get the expected response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// No connection was established: it was refused, the host was unreachable, or the TLS
    /// handshake failed.
    Connect,
    /// No complete response arrived in time.
    Timeout,
    /// The connection closed before the response was complete.
    Reset,
    /// The response is not HTTP.
    Malformed,
    /// The response has an unexpected status.
    Status,
    /// The response has an unexpected body.
    Body,
    /// The request was sent, but no response arrived by the end of the load and the grace period
    /// for late responses.
    Unfinished,
}

impl ErrorKind {
    /// All kinds, in display order.
    pub const ALL: [ErrorKind; 7] = [
        ErrorKind::Connect,
        ErrorKind::Timeout,
        ErrorKind::Reset,
        ErrorKind::Malformed,
        ErrorKind::Status,
        ErrorKind::Body,
        ErrorKind::Unfinished,
    ];

    /// Returns the kind as one word.
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

/// The results of load on a server during a visit, or during a part of a visit.
///
/// Every offered request is eventually served or becomes an error, so offered = served + errors
/// over a whole visit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The point, which defines the connections and the load.
    pub point: PointId,
    /// The server that received the load.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// The length of the slice in ns, without the time after the end of the load.
    pub wall_ns: u64,
    /// The time from the end of the load to the last response, in ns. 0 except in the last slice of
    /// a visit.
    pub drain_ns: u64,
    /// The number of requests that were due in the slice or, in a closed loop, sent in it.
    pub offered: u64,
    /// The number of requests with the expected response.
    pub served: u64,
    /// The number of requests without the expected response, by kind of error. Kinds that did not
    /// occur are omitted.
    pub errors: Vec<(ErrorKind, u64)>,
    /// The number of responses per status code, ascending by code. Empty if unknown or if no
    /// response was HTTP.
    #[serde(default)]
    pub statuses: Vec<(u16, u64)>,
    /// Further counts; see [`LoadCount`](crate::LoadCount).
    #[serde(flatten)]
    pub counts: LoadCounts,
    /// CPU time of the generator's threads, in ns.
    pub cpu_ns: u64,
    /// CPU time of the generator's busiest thread, in ns.
    pub busiest_cpu_ns: u64,
    /// CPU time of the server's processes in ns, or `None` if the processes are not known.
    pub server_cpu_ns: Option<u64>,
    /// Resident memory of the server's processes at the end in bytes, with shared memory counted
    /// once.
    pub server_bytes: Option<u64>,
    /// The number of threads of the server's processes at the end.
    pub server_threads: Option<u32>,
    /// The number of overflows of accept queues on this machine, or `None` if the server is on
    /// another machine.
    #[serde(default)]
    pub queue_overflows: Option<u64>,
    /// CPU time in ns of the busiest unrelated process, if the generator and the server run on all
    /// cores.
    pub foreign_ns: Option<u64>,
    /// Response times of served requests: from the time when a request was due (in a closed loop:
    /// sent) to the end of its response.
    pub response: SliceTimes,
    /// Service times of served requests: from sending a request to the end of its response.
    pub service: SliceTimes,
    /// Send delays in an open loop: from the time when a request was due until the generator
    /// handled it, even if no connection was free.
    pub send_delay: SliceTimes,
    /// The results of each agent in the slice. Empty if benchlab generated the load itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentSlice>,
}

impl Slice {
    /// Returns the time needed to serve the requests of the slice, in ns.
    ///
    /// This is the length of the slice plus part of the time from the end of the load to the last
    /// response.
    ///
    /// In an open loop, the last request takes its service time even if the server keeps up. Only
    /// the time beyond the median service time counts, because it shows that there was a backlog. A
    /// slice with send delays comes from an open loop.
    ///
    /// In a closed loop, at most the median service time counts: a few connections that waited for
    /// seconds while others were served show nothing about the server's rate.
    pub fn served_in_ns(&self) -> u64 {
        let median_ns = self.service.median().unwrap_or(0);
        let after_end = if self.send_delay.is_empty() {
            self.drain_ns.min(median_ns)
        } else {
            self.drain_ns.saturating_sub(median_ns)
        };
        self.wall_ns.saturating_add(after_end)
    }

    /// Returns the time from the start of the slice to the last response, in ns.
    pub fn elapsed_ns(&self) -> u64 {
        self.wall_ns.saturating_add(self.drain_ns)
    }

    /// Returns the number of requests that were due but not sent because an agent was lost.
    pub fn not_sent(&self) -> u64 {
        self.agents.iter().map(|part| part.not_sent).sum()
    }

    /// Adds the slice of another generator for the same period.
    ///
    /// The server's resource usage covers all generators, so it stays unchanged.
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
        self.counts.add(&other.counts);
        self.cpu_ns += other.cpu_ns;
        self.busiest_cpu_ns = self.busiest_cpu_ns.max(other.busiest_cpu_ns);
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.send_delay.add(&other.send_delay);
    }

    /// Returns the slice without the given agents, or `None` if no agent is left.
    ///
    /// The server's resource usage is then unknown, because the server also worked for the removed
    /// agents.
    pub fn without_agents(&self, agents: &[AgentId]) -> Option<Slice> {
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

/// Adds numbers of responses by status code. Both lists are in ascending order.
pub fn add_statuses(counts: &mut Vec<(u16, u64)>, others: &[(u16, u64)]) {
    for &(status, count) in others {
        match counts.binary_search_by_key(&status, |(known, _)| *known) {
            Ok(index) => counts[index].1 += count,
            Err(index) => counts.insert(index, (status, count)),
        }
    }
}

/// The results of one agent in a slice of load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSlice {
    /// The agent that sent this part of the load.
    pub agent: AgentId,
    /// The delay of the start of the agent's load, in ns, within the accuracy of the clock
    /// comparison.
    pub late_ns: u64,
    /// Requests that were due but not sent because the agent was lost.
    pub not_sent: u64,
    /// The agent's results. Empty once the agent was lost.
    pub slice: Slice,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counts;

    #[test]
    fn a_slice_without_an_agent_is_the_sum_of_the_others() {
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
            agents: vec![part(AgentId(0), 5), part(AgentId(1), 8)],
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
        let left = total
            .without_agents(&[AgentId(1)])
            .expect("one agent is left");
        // The server's usage covered both agents.
        assert_eq!((left.served, left.server_cpu_ns), (5, None));
        assert_eq!(*left.response.counts(), Counts(vec![(7, 5)]));
        assert_eq!(total.without_agents(&[AgentId(9)]), Some(total.clone()));
        assert_eq!(total.without_agents(&[AgentId(0), AgentId(1)]), None);
    }
}

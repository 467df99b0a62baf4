// SPDX-License-Identifier: Apache-2.0
//! Combines the slices that multiple agents report into slices of the whole load.

use lab_bench::Piece;
use lab_model::{AgentId, AgentSlice, Arrivals, ErrorKind, Slice};
use std::collections::VecDeque;

/// A load that multiple agents generate. It holds the reported slices until they are combined.
pub struct Gather {
    parts: Vec<GeneratorPart>,
    slice_ns: u64,
    length_ns: u64,
    /// The number of slices that have been combined.
    done: u64,
}

struct GeneratorPart {
    agent: AgentId,
    arrivals: Arrivals,
    state: GeneratorState,
    /// Reported slices that have not been combined yet.
    waiting: VecDeque<ReportedSlice>,
}

struct ReportedSlice {
    late_ns: u64,
    slice: Slice,
    errors: Vec<(ErrorKind, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GeneratorState {
    Going,
    Ended,
    Lost,
}

impl Gather {
    /// Creates a load of `length_ns` to which each agent contributes its own arrivals.
    pub fn new(loads: Vec<(AgentId, Arrivals)>, length_ns: u64, slice_ns: u64) -> Gather {
        let part = |(agent, arrivals)| GeneratorPart {
            agent,
            arrivals,
            state: GeneratorState::Going,
            waiting: VecDeque::new(),
        };
        Gather {
            parts: loads.into_iter().map(part).collect(),
            slice_ns: slice_ns.max(1),
            length_ns,
            done: 0,
        }
    }

    /// Adds the next slice that an agent reports.
    pub fn slice(
        &mut self,
        agent: AgentId,
        late_ns: u64,
        slice: Slice,
        errors: Vec<(ErrorKind, String)>,
    ) {
        let reported = ReportedSlice {
            late_ns,
            slice,
            errors,
        };
        if let Some(part) = self.part(agent) {
            part.waiting.push_back(reported);
        }
    }

    /// Records that an agent has reported all of its slices.
    pub fn end(&mut self, agent: AgentId) {
        if let Some(part) = self
            .part(agent)
            .filter(|p| p.state == GeneratorState::Going)
        {
            part.state = GeneratorState::Ended;
        }
    }

    /// Records that an agent was lost, so that it will report no more slices.
    pub fn lose(&mut self, agent: AgentId) {
        if let Some(part) = self.part(agent) {
            part.state = GeneratorState::Lost;
        }
    }

    /// Returns true if no agent will report more slices, and all reported slices have been combined.
    pub fn is_over(&self) -> bool {
        let is_over = |p: &GeneratorPart| p.state != GeneratorState::Going && p.waiting.is_empty();
        self.parts.iter().all(is_over)
    }

    fn part(&mut self, agent: AgentId) -> Option<&mut GeneratorPart> {
        self.parts.iter_mut().find(|part| part.agent == agent)
    }

    /// Returns the number of requests of an agent that are due in the next combined slice.
    fn due(&self, part: &GeneratorPart) -> u64 {
        let due_until = |slices: u64| {
            let until_ns = (slices * self.slice_ns).min(self.length_ns);
            part.arrivals.due(until_ns).round() as u64
        };
        due_until(self.done + 1).saturating_sub(due_until(self.done))
    }
}

/// Yields the next combined slice once every agent that is still running has reported its slice.
impl Iterator for Gather {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let is_late = |p: &GeneratorPart| p.state == GeneratorState::Going && p.waiting.is_empty();
        if self.parts.iter().any(is_late) || self.is_over() {
            return None;
        }
        let dues: Vec<u64> = self.parts.iter().map(|part| self.due(part)).collect();
        let (mut slice, mut errors) = (Slice::default(), Vec::<(ErrorKind, String)>::new());
        for (part, due) in self.parts.iter_mut().zip(dues) {
            match part.waiting.pop_front() {
                Some(reported) => {
                    slice.add(&reported.slice);
                    slice.agents.push(AgentSlice {
                        agent: part.agent,
                        late_ns: reported.late_ns,
                        not_sent: 0,
                        slice: reported.slice,
                    });
                    let kinds: Vec<ErrorKind> = errors.iter().map(|(k, _)| *k).collect();
                    let new = reported.errors.into_iter();
                    errors.extend(new.filter(|(k, _)| !kinds.contains(k)));
                }
                None if part.state == GeneratorState::Lost => slice.agents.push(AgentSlice {
                    agent: part.agent,
                    not_sent: due,
                    ..AgentSlice::default()
                }),
                None => {}
            }
        }
        self.done += 1;
        Some(Piece {
            slice: Some(slice),
            errors,
            ..Piece::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::{Counts, Stage};

    const SECOND: u64 = 1_000_000_000;

    fn rate(per_second: f64) -> Arrivals {
        Arrivals::Open {
            poisson: true,
            stages: vec![Stage {
                from: per_second,
                to: per_second,
                length_ns: SECOND,
            }],
        }
    }

    fn slice(served: u64, ns: u64) -> Slice {
        Slice {
            wall_ns: SECOND,
            offered: served,
            served,
            response: Counts(vec![(ns, served)]).into(),
            ..Slice::default()
        }
    }

    fn two_agents(length_s: u64) -> Gather {
        Gather::new(
            vec![(AgentId(0), rate(10.0)), (AgentId(1), rate(10.5))],
            length_s * SECOND,
            SECOND,
        )
    }

    fn report(gather: &mut Gather, agent: AgentId, served: u64) {
        gather.slice(
            agent,
            7,
            slice(served, 100 + u64::from(agent.0)),
            Vec::new(),
        );
    }

    #[test]
    fn a_slice_is_complete_when_all_have_reported_it() {
        let mut gather = two_agents(2);
        report(&mut gather, AgentId(0), 3);
        report(&mut gather, AgentId(0), 4);
        assert!(gather.next().is_none());
        report(&mut gather, AgentId(1), 5);
        let first = gather
            .next()
            .and_then(|p| p.slice)
            .expect("both agents reported the first slice");
        assert_eq!((first.served, first.wall_ns), (8, SECOND));
        assert_eq!(*first.response.counts(), Counts(vec![(100, 3), (101, 5)]));
        let parts: Vec<_> = first
            .agents
            .iter()
            .map(|a| (a.agent.0, a.late_ns, a.slice.served))
            .collect();
        assert_eq!(parts, [(0, 7, 3), (1, 7, 5)]);
        assert!(gather.next().is_none() && !gather.is_over());
        report(&mut gather, AgentId(1), 6);
        gather.end(AgentId(0));
        gather.end(AgentId(1));
        assert_eq!(
            gather.next().and_then(|p| p.slice).map(|s| s.served),
            Some(10)
        );
        assert!(gather.is_over() && gather.next().is_none());
    }

    /// All requests that were due on an unreachable agent count as unsent.
    #[test]
    fn requests_of_a_lost_agent_count_as_not_sent() {
        let mut gather = two_agents(5);
        report(&mut gather, AgentId(1), 10);
        for _ in 0..5 {
            report(&mut gather, AgentId(0), 10);
        }
        gather.lose(AgentId(1));
        gather.end(AgentId(0));
        let slices: Vec<Slice> = gather.by_ref().filter_map(|p| p.slice).collect();
        let not_sent: Vec<u64> = slices.iter().map(|s| s.not_sent()).collect();
        // After each second, 10.5, 21, 31.5, 42 and 52.5 requests are due in total. The requests of
        // the first second were sent.
        assert_eq!(not_sent, [0, 10, 11, 10, 11]);
        assert_eq!(slices[0].served, 20);
        assert_eq!(slices[4].served, 10);
        assert!(gather.is_over());
    }

    #[test]
    fn nothing_is_reported_when_all_agents_are_lost() {
        let mut gather = two_agents(5);
        gather.lose(AgentId(0));
        assert!(!gather.is_over() && gather.next().is_none());
        gather.lose(AgentId(1));
        assert!(gather.is_over() && gather.next().is_none());
    }

    /// The number of slices in a stopped load is the highest number that any agent has reported.
    #[test]
    fn agents_may_stop_in_different_slices() {
        let mut gather = two_agents(5);
        report(&mut gather, AgentId(0), 1);
        report(&mut gather, AgentId(0), 2);
        report(&mut gather, AgentId(1), 4);
        gather.end(AgentId(0));
        gather.end(AgentId(1));
        let served: Vec<u64> = gather.filter_map(|p| p.slice).map(|s| s.served).collect();
        assert_eq!(served, [5, 2]);
    }

    #[test]
    fn of_each_kind_of_error_one_is_reported() {
        let mut gather = two_agents(1);
        let words = |text: &str| vec![(ErrorKind::Reset, text.to_owned())];
        gather.slice(AgentId(0), 0, slice(1, 1), words("a"));
        gather.slice(AgentId(1), 0, slice(1, 1), words("b"));
        assert_eq!(gather.next().expect("a slice").errors, words("a"));
    }
}

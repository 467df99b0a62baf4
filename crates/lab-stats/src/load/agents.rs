// SPDX-License-Identifier: Apache-2.0
//! The results of each agent of a load, and the differences between the agent and the other agents.

use super::limits::{BUSY_FRACTION, GENERATOR_FRACTION};
use crate::binomial;
use crate::order::{median, median_interval};
use lab_model::{AgentId, AgentSlice, Counts, Interval, Plan, Run, Slice};
use serde::Serialize;
use std::collections::BTreeMap;

/// An agent is late if it starts at least this much later than planned, in ns, not counting the
/// error of the clock comparison.
const LATE_NS: u64 = 10_000_000;

/// An agent is on a slower network path if its service times are at least this many times as long
/// as the service times of the other agents.
const SLOW_PATH_RATIO: f64 = 1.2;

/// An agent is reported if the fraction of its requests that failed exceeds the fraction of the
/// other agents by more than this value, and by more than chance explains.
const EXCESS_ERROR_FRACTION: f64 = 0.01;

/// The results of an agent over all slices of complete blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentResult {
    /// The index of the agent in the run.
    pub agent: AgentId,
    /// The number of requests that were due or sent.
    pub offered: u64,
    /// The number of requests that were due but not sent because the agent was lost.
    pub not_sent: u64,
    /// The number of requests with the expected response.
    pub served: u64,
    /// The number of requests without the expected response.
    pub errors: u64,
    /// The maximum delay with which the agent started a load, in ns.
    pub late_ns: u64,
    /// The fraction of time that the agent's busiest thread spent on a core.
    pub busy: f64,
    /// The median response time, in ns.
    pub p50: Option<u64>,
    /// The 99th percentile of the response time, in ns.
    pub p99: Option<u64>,
    /// The 99th percentile of the send delay, in ns.
    pub send_delay_p99: Option<u64>,
    /// The agent's median service time divided by the other agents' median service time in the same
    /// slice. The estimate is the median over all slices.
    pub path: Option<Interval>,
    /// The failed fraction of the other agents' requests, from 0 to 1.
    pub others_fail: f64,
    /// The differences that are reported to the user.
    pub problems: Vec<AgentTrouble>,
}

/// A difference between an agent and the other agents, or a sign that the agent was too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentTrouble {
    /// The agent was lost.
    Lost,
    /// The agent started late.
    BeganLate,
    /// The agent was late to notice that requests were due.
    Behind,
    /// The agent's busiest thread spent nearly all the time on a core.
    Saturated,
    /// The agent's service times are longer than the other agents' service times.
    Path,
    /// A larger fraction of this agent's requests failed than of the other agents' requests.
    Errors,
}

impl AgentResult {
    /// Returns the number of requests that were served or failed.
    fn ended(&self) -> u64 {
        self.served.saturating_add(self.errors)
    }

    /// Returns the fraction of failed requests, from 0 to 1.
    pub fn fail(&self) -> f64 {
        self.errors as f64 / self.ended().max(1) as f64
    }

    /// Returns true if a larger fraction of this agent's requests failed than chance explains at
    /// level `1 - alpha`.
    ///
    /// [`EXCESS_ERROR_FRACTION`] allows for failures that are not independent.
    fn fails_more(&self, (ended, errors): (u64, u64), alpha: f64) -> bool {
        let part = self.ended() as f64 / ended.max(1) as f64;
        let chance = binomial::upper_tail(errors, part, self.errors);
        self.fail() > self.others_fail + EXCESS_ERROR_FRACTION && chance < alpha
    }
}

/// Returns the results of a run's agents. Agents that the user excluded are omitted.
pub fn agents(run: &Run, alpha: f64) -> Vec<AgentResult> {
    let slices: Vec<&Slice> = run.complete_blocks().flat_map(|b| &b.slices).collect();
    let counted = run.agents.enumerated().filter(|(_, a)| !a.is_left_out);
    let counted: Vec<AgentId> = counted.map(|(id, _)| id).collect();
    let alpha = alpha / counted.len().max(1) as f64;
    let paths = paths(&slices);
    let of = |&agent: &AgentId| {
        let ratios = paths.get(&agent).map_or(&[][..], Vec::as_slice);
        result(agent, &slices, ratios, alpha)
    };
    let mut results: Vec<AgentResult> = counted.iter().map(of).collect();
    let ns = |time: Option<u64>| time.map(|ns| ns as f64);
    let delays: Vec<f64> = results
        .iter()
        .filter_map(|r| ns(r.send_delay_p99))
        .collect();
    let median_delay = median(&delays).unwrap_or(0.0);
    let ended = all(results.iter().map(AgentResult::ended));
    let errors = all(results.iter().map(|r| r.errors));
    for result in &mut results {
        let others = ended.saturating_sub(result.ended()).max(1);
        result.others_fail = errors.saturating_sub(result.errors) as f64 / others as f64;
        let agent = &run.agents[result.agent];
        let send_delay = ns(result.send_delay_p99).unwrap_or(0.0);
        let is_generators =
            send_delay > GENERATOR_FRACTION * ns(result.p99).unwrap_or(f64::INFINITY);
        let problems = [
            (AgentTrouble::Lost, agent.lost.is_some()),
            (
                AgentTrouble::BeganLate,
                result.late_ns > LATE_NS + agent.clock.error_ns,
            ),
            (
                AgentTrouble::Behind,
                is_generators && send_delay > 2.0 * median_delay,
            ),
            (AgentTrouble::Saturated, result.busy > BUSY_FRACTION),
            (
                AgentTrouble::Path,
                result
                    .path
                    .as_ref()
                    .is_some_and(|p| p.low > SLOW_PATH_RATIO),
            ),
            (
                AgentTrouble::Errors,
                result.fails_more((ended, errors), alpha),
            ),
        ];
        let so = problems.into_iter().filter(|(_, is_so)| *is_so);
        result.problems = so.map(|(problem, _)| problem).collect();
    }
    results
}

/// Returns the number of requests that were offered but neither served nor counted as errors.
///
/// Returns `None` if the run lost no agent.
pub fn unaccounted(run: &Run) -> Option<u64> {
    let mut agents = run.agents.iter().filter(|agent| !agent.is_left_out);
    let is_lost = agents.any(|agent| agent.lost.is_some());
    if !is_lost || run.load_agents().is_empty() {
        return None;
    }
    let slices = || run.complete_blocks().flat_map(|block| &block.slices);
    let offered = all(slices().map(|slice| slice.offered));
    let served = slices().map(|slice| slice.served);
    let errors = slices().flat_map(|s| &s.errors).map(|(_, n)| *n);
    Some(offered.saturating_sub(all(served.chain(errors))))
}

/// Returns the sum. The sum saturates instead of overflowing, because a file may contain any
/// number.
fn all(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The part of a load that is missing because the run lost all agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MissingLoad {
    /// The number of complete blocks.
    pub complete: u32,
    /// The number of planned blocks.
    pub planned: u32,
    /// The number of requests that would have been due in the missing blocks, or 0 in a closed
    /// loop.
    pub due: u64,
}

/// Returns the missing part of a load if the run lost all agents, or `None` if agents are left.
pub fn missing(run: &Run, plan: &Plan) -> Option<MissingLoad> {
    let load = plan.load()?;
    let planned = plan.measure.max_blocks;
    let complete = run.complete_blocks().count() as u32;
    let all_lost = !run.agents.is_empty() && run.agents.iter().all(|a| a.lost.is_some());
    let visits = (plan.points.len() * plan.subjects.len()) as u64;
    let due = if visits == 1 {
        let until_ns = u64::from(complete).saturating_mul(plan.measure.turn_ns);
        load.arrivals.due(load.stretch_ns) - load.arrivals.due(until_ns.min(load.stretch_ns))
    } else {
        let passes = match plan.subjects.len() {
            1 => 1,
            _ => 2 * u64::from(plan.measure.pairs),
        };
        let visits = u64::from(planned.saturating_sub(complete)) * visits * passes;
        visits as f64 * load.arrivals.due(load.stretch_ns)
    };
    (all_lost && complete < planned).then(|| MissingLoad {
        complete,
        planned,
        due: due.round() as u64,
    })
}

fn result(agent: AgentId, slices: &[&Slice], ratios: &[f64], alpha: f64) -> AgentResult {
    let of = |slice: &&Slice| {
        slice
            .agents
            .iter()
            .find(|part| part.agent == agent)
            .cloned()
    };
    let parts: Vec<AgentSlice> = slices.iter().filter_map(of).collect();
    let sum = |of: fn(&AgentSlice) -> u64| parts.iter().map(of).sum::<u64>();
    let (mut response, mut send_delay) = (Counts::default(), Counts::default());
    for part in &parts {
        response.add(&part.slice.response.counts());
        send_delay.add(&part.slice.send_delay.counts());
    }
    let wall_ns = sum(|p| p.slice.wall_ns + p.slice.drain_ns).max(1);
    AgentResult {
        agent,
        offered: sum(|p| p.slice.offered),
        not_sent: sum(|p| p.not_sent),
        served: sum(|p| p.slice.served),
        errors: sum(|p| p.slice.errors.iter().map(|(_, n)| n).sum()),
        late_ns: parts.iter().map(|p| p.late_ns).max().unwrap_or(0),
        busy: sum(|p| p.slice.busiest_cpu_ns) as f64 / wall_ns as f64,
        p50: response.quantile(0.5),
        p99: response.quantile(0.99),
        send_delay_p99: send_delay.quantile(0.99),
        path: path(ratios, alpha),
        others_fail: 0.0,
        problems: Vec::new(),
    }
}

/// Returns, for each agent, the logarithm of its median service time divided by the other agents'
/// median service time, for each slice.
///
/// Slices in which the agent or the other agents have no median are skipped. The other agents'
/// distribution is the distribution of all agents minus the agent's own distribution, so the cost
/// is linear in the number of agents.
fn paths(slices: &[&Slice]) -> BTreeMap<AgentId, Vec<f64>> {
    let mut ratios: BTreeMap<AgentId, Vec<f64>> = BTreeMap::new();
    for slice in slices {
        let parts = slice.agents.iter();
        let parts: Vec<(AgentId, Counts)> = parts
            .map(|part| (part.agent, part.slice.service.counts().into_owned()))
            .collect();
        let mut all = Counts::default();
        parts.iter().for_each(|(_, counts)| all.add(counts));
        for (agent, counts) in &parts {
            if let (Some(counts), Some(others)) = (counts.median(), all.subtract(counts).median()) {
                let ratio = (counts as f64 / others.max(1) as f64).ln();
                ratios.entry(*agent).or_default().push(ratio);
            }
        }
    }
    ratios
}

/// Returns the interval of the median ratio, or `None` if there are too few slices for level `1 -
/// alpha`.
fn path(ratios: &[f64], alpha: f64) -> Option<Interval> {
    let interval = median_interval(ratios, alpha)?;
    (interval.level >= 1.0 - alpha - 1e-9).then(|| Interval {
        estimate: interval.estimate.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
        level: interval.level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::{Agent, Block, BlockState, ClockOffset, ErrorKind, IdVec};

    /// Returns a run of three agents over `slices` slices, with the service time of each agent in
    /// ns.
    fn run(slices: usize, service_ns: [u64; 3]) -> Run {
        let part = |(agent, ns): (AgentId, u64)| AgentSlice {
            agent,
            slice: Slice {
                wall_ns: 1_000_000_000,
                offered: 100,
                served: 99,
                busiest_cpu_ns: 100_000_000,
                response: Counts(vec![(ns, 99)]).into(),
                service: Counts(vec![(ns, 99)]).into(),
                send_delay: Counts(vec![(100, 100)]).into(),
                ..Slice::default()
            },
            ..AgentSlice::default()
        };
        let slice = Slice {
            agents: (0..).map(AgentId).zip(service_ns).map(part).collect(),
            ..Slice::default()
        };
        let block = Block {
            state: BlockState::Complete,
            slices: vec![slice],
            ..Block::default()
        };
        Run {
            blocks: vec![block; slices],
            agents: IdVec::filled(Agent::default(), 3),
            ..Run::default()
        }
    }

    fn problems(run: &Run) -> Vec<Vec<AgentTrouble>> {
        agents(run, 0.05).into_iter().map(|r| r.problems).collect()
    }

    #[test]
    fn equal_agents_have_no_problems() {
        let run = run(20, [1_000_000, 1_010_000, 990_000]);
        assert_eq!(problems(&run), vec![vec![]; 3]);
        let first = &agents(&run, 0.05)[0];
        assert_eq!(
            (first.offered, first.served, first.not_sent),
            (2000, 1980, 0)
        );
        assert!((first.busy - 0.1).abs() < 1e-9);
    }

    #[test]
    fn agents_on_a_longer_path_are_marked_once_there_are_enough_slices() {
        let far = [1_000_000, 2_000_000, 1_000_000];
        assert_eq!(problems(&run(20, far))[1], [AgentTrouble::Path]);
        assert_eq!(problems(&run(3, far)), vec![vec![]; 3]);
    }

    #[test]
    fn agents_with_failing_requests_are_marked_unless_it_is_chance() {
        let mut run = run(4, [1_000_000; 3]);
        for block in &mut run.blocks {
            let parts = block.slices[0].agents.iter_mut();
            for (part, errors) in parts.zip([1, 20, 2]) {
                part.slice.errors = vec![(ErrorKind::Timeout, errors)];
            }
        }
        // 80 of the 92 errors are from one of the three agents.
        assert_eq!(problems(&run), [vec![], vec![AgentTrouble::Errors], vec![]]);
        run.blocks.truncate(1);
        run.blocks[0].slices[0].agents[1].slice.errors = vec![(ErrorKind::Timeout, 3)];
        assert_eq!(problems(&run), vec![vec![]; 3]);
    }

    #[test]
    fn requests_left_by_lost_agents_are_counted() {
        let mut run = run(4, [1_000_000; 3]);
        for block in &mut run.blocks {
            let slice = &mut block.slices[0];
            (slice.offered, slice.served) = (300, 297);
        }
        assert_eq!(unaccounted(&run), None);
        run.agents[AgentId(0)].lost = Some("killed".into());
        assert_eq!(unaccounted(&run), Some(12));
    }

    #[test]
    fn late_lost_and_saturated_agents_are_marked() {
        let mut run = run(20, [1_000_000; 3]);
        run.agents[AgentId(0)].lost = Some("killed".into());
        run.agents[AgentId(1)].clock = ClockOffset {
            error_ns: 30_000_000,
            ..ClockOffset::default()
        };
        for block in &mut run.blocks {
            let parts = &mut block.slices[0].agents;
            parts[1].late_ns = 20_000_000;
            parts[2].late_ns = 20_000_000;
            parts[2].slice.busiest_cpu_ns = 950_000_000;
            parts[2].slice.send_delay = Counts(vec![(900_000, 100)]).into();
        }
        // The error of the clock comparison does not count as lateness.
        let expected = [
            vec![AgentTrouble::Lost],
            vec![],
            vec![
                AgentTrouble::BeganLate,
                AgentTrouble::Behind,
                AgentTrouble::Saturated,
            ],
        ];
        assert_eq!(problems(&run), expected);
    }

    #[test]
    fn agents_that_were_left_out_are_not_judged() {
        let mut run = run(20, [1_000_000, 9_000_000, 1_000_000]);
        run.agents
            .iter_mut()
            .zip(["a", "b", "c"])
            .for_each(|(agent, name)| agent.name = name.into());
        run.exclude_agents(&["b".into()]).unwrap();
        assert_eq!(problems(&run), vec![vec![]; 2]);
        assert_eq!(run.blocks[0].slices[0].served, 198);
        assert!(run.exclude_agents(&["x".into()]).is_err());
        assert!(
            run.exclude_agents(&["a".into(), "b".into(), "c".into()])
                .is_err()
        );
    }
}

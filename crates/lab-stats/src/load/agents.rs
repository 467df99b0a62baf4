// SPDX-License-Identifier: Apache-2.0
//! The results of each agent of a load, and its differences from the others.

use super::{BUSY_SHARE, GENERATOR_SHARE};
use crate::binomial;
use crate::order::{median, median_interval};
use lab_model::{AgentId, AgentSlice, Counts, Interval, Plan, Run, Slice};
use serde::Serialize;
use std::collections::BTreeMap;

/// An agent is late if it begins by more than this after the planned time, ns, beyond the error of the clocks'
/// comparison.
const LATE_NS: u64 = 10_000_000;

/// An agent is on another path if its service times are at least this many times as long as the others'.
const SLOW_PATH_RATIO: f64 = 1.2;

/// An agent is named if the part of its requests that fail exceeds the others' by more than this, beyond chance.
const EXCESS_ERROR_SHARE: f64 = 0.01;

/// The results of an agent over all slices that count.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentResult {
    /// The agent.
    pub agent: AgentId,
    /// Requests that were due, or sent.
    pub offered: u64,
    /// Requests that were due and not sent because it was lost.
    pub not_sent: u64,
    /// Requests that were answered as they should be.
    pub served: u64,
    /// Requests that were not answered as they should be.
    pub errors: u64,
    /// The most by which one of its loads began later than planned, ns.
    pub late_ns: u64,
    /// The part of the time in which its busiest thread had a core.
    pub busy: f64,
    /// The median response time of its requests, ns.
    pub p50: Option<u64>,
    /// The 99th percentile of its response time, ns.
    pub p99: Option<u64>,
    /// The 99th percentile of its send delay, ns.
    pub lag_p99: Option<u64>,
    /// Its median service time as a multiple of the other agents' in the same slice: the median over slices.
    pub path: Option<Interval>,
    /// The part of the other agents' requests that failed, 0 to 1.
    pub others_fail: f64,
    /// How it differed from the others, or was too slow.
    pub marks: Vec<AgentTrouble>,
}

/// How an agent differed from the others, or was too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentTrouble {
    /// It was lost.
    Lost,
    /// It began late.
    BeganLate,
    /// It looked late at requests that were due.
    Behind,
    /// Its busiest thread had a core nearly all the time.
    Limit,
    /// Its service times are longer than the others'.
    Path,
    /// More of its requests fail than of the others'.
    Errors,
}

impl AgentResult {
    /// Requests that were answered, or will not be.
    fn ended(&self) -> u64 {
        self.served.saturating_add(self.errors)
    }

    /// The part of its requests that failed, 0 to 1.
    pub fn fail(&self) -> f64 {
        self.errors as f64 / self.ended().max(1) as f64
    }

    /// True if more of its requests fail than of the others', by more than chance at the level `1 - alpha`. Requests
    /// fail together, which the least share that counts allows for.
    fn fails_more(&self, (ended, errors): (u64, u64), alpha: f64) -> bool {
        let part = self.ended() as f64 / ended.max(1) as f64;
        let chance = binomial::upper_tail(errors, part, self.errors);
        self.fail() > self.others_fail + EXCESS_ERROR_SHARE && chance < alpha
    }
}

/// The results of the agents of a run, without those that were left out.
pub fn agents(run: &Run, alpha: f64) -> Vec<AgentResult> {
    let slices: Vec<&Slice> = run.complete_blocks().flat_map(|b| &b.slices).collect();
    let counted = run
        .agents
        .iter()
        .enumerate()
        .filter(|(_, a)| !a.is_left_out);
    let counted: Vec<AgentId> = counted.map(|(id, _)| id).collect();
    let alpha = alpha / counted.len().max(1) as f64;
    let paths = paths(&slices);
    let of = |&agent: &AgentId| {
        let ratios = paths.get(&agent).map_or(&[][..], Vec::as_slice);
        result(agent, &slices, ratios, alpha)
    };
    let mut results: Vec<AgentResult> = counted.iter().map(of).collect();
    let ns = |time: Option<u64>| time.map(|ns| ns as f64);
    let lags: Vec<f64> = results.iter().filter_map(|r| ns(r.lag_p99)).collect();
    let usual_lag = median(&lags).unwrap_or(0.0);
    let ended = all(results.iter().map(AgentResult::ended));
    let errors = all(results.iter().map(|r| r.errors));
    for result in &mut results {
        let others = ended.saturating_sub(result.ended()).max(1);
        result.others_fail = errors.saturating_sub(result.errors) as f64 / others as f64;
        let agent = &run.agents[result.agent];
        let lag = ns(result.lag_p99).unwrap_or(0.0);
        let is_generators = lag > GENERATOR_SHARE * ns(result.p99).unwrap_or(f64::INFINITY);
        let marks = [
            (AgentTrouble::Lost, agent.lost.is_some()),
            (
                AgentTrouble::BeganLate,
                result.late_ns > LATE_NS + agent.clock.error_ns,
            ),
            (AgentTrouble::Behind, is_generators && lag > 2.0 * usual_lag),
            (AgentTrouble::Limit, result.busy > BUSY_SHARE),
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
        let so = marks.into_iter().filter(|(_, is_so)| *is_so);
        result.marks = so.map(|(mark, _)| mark).collect();
    }
    results
}

/// Requests that were offered and are neither served nor errors, in a run that lost an agent; `None`: it lost none.
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

/// The saturating sum: a file can hold any number.
fn all(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The missing part of a run that lost all agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MissingLoad {
    /// Complete blocks.
    pub complete: u32,
    /// Planned blocks.
    pub planned: u32,
    /// Requests that were due in the missing blocks; 0 in a closed loop.
    pub due: u64,
}

/// The missing part of a run that lost all agents; `None` if it did not.
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
    let (mut response, mut lag) = (Counts::default(), Counts::default());
    for part in &parts {
        response.add(&part.slice.response.counts());
        lag.add(&part.slice.lag.counts());
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
        lag_p99: lag.quantile(0.99),
        path: path(ratios, alpha),
        others_fail: 0.0,
        marks: Vec::new(),
    }
}

/// For each agent, the logarithm of its median service time as a multiple of the others', in each slice in
/// which both have one. The others' distribution is that of all minus its own, so that the cost grows
/// linearly with the number of agents.
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
            if let (Some(counts), Some(others)) = (counts.median(), all.without(counts).median()) {
                let ratio = (counts as f64 / others.max(1) as f64).ln();
                ratios.entry(*agent).or_default().push(ratio);
            }
        }
    }
    ratios
}

/// The interval of the median ratio; `None` where the slices are too few for the level `1 - alpha`.
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
    use lab_model::{Agent, Block, BlockState, ClockOffset, ErrorKind};

    /// Three agents over `slices` slices; service times of each, ns.
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
                lag: Counts(vec![(100, 100)]).into(),
                ..Slice::default()
            },
            ..AgentSlice::default()
        };
        let slice = Slice {
            agents: service_ns.into_iter().enumerate().map(part).collect(),
            ..Slice::default()
        };
        let block = Block {
            state: BlockState::Complete,
            slices: vec![slice],
            ..Block::default()
        };
        Run {
            blocks: vec![block; slices],
            agents: vec![Agent::default(); 3],
            ..Run::default()
        }
    }

    fn marks(run: &Run) -> Vec<Vec<AgentTrouble>> {
        agents(run, 0.05).into_iter().map(|r| r.marks).collect()
    }

    #[test]
    fn agents_that_are_alike_have_no_marks() {
        let run = run(20, [1_000_000, 1_010_000, 990_000]);
        assert_eq!(marks(&run), vec![vec![]; 3]);
        let first = &agents(&run, 0.05)[0];
        assert_eq!(
            (first.offered, first.served, first.not_sent),
            (2000, 1980, 0)
        );
        assert!((first.busy - 0.1).abs() < 1e-9);
    }

    #[test]
    fn an_agent_on_a_longer_path_is_named_once_there_are_slices_enough() {
        let far = [1_000_000, 2_000_000, 1_000_000];
        assert_eq!(marks(&run(20, far))[1], [AgentTrouble::Path]);
        assert_eq!(marks(&run(3, far)), vec![vec![]; 3]);
    }

    #[test]
    fn an_agent_whose_requests_fail_is_named_unless_it_is_chance() {
        let mut run = run(4, [1_000_000; 3]);
        for block in &mut run.blocks {
            let parts = block.slices[0].agents.iter_mut();
            for (part, errors) in parts.zip([1, 20, 2]) {
                part.slice.errors = vec![(ErrorKind::Timeout, errors)];
            }
        }
        // 80 of the 92 errors are of one of three agents.
        assert_eq!(marks(&run), [vec![], vec![AgentTrouble::Errors], vec![]]);
        run.blocks.truncate(1);
        run.blocks[0].slices[0].agents[1].slice.errors = vec![(ErrorKind::Timeout, 3)];
        assert_eq!(marks(&run), vec![vec![]; 3]);
    }

    #[test]
    fn of_what_lost_agents_left_the_account_is_made() {
        let mut run = run(4, [1_000_000; 3]);
        for block in &mut run.blocks {
            let slice = &mut block.slices[0];
            (slice.offered, slice.served) = (300, 297);
        }
        assert_eq!(unaccounted(&run), None);
        run.agents[0].lost = Some("killed".into());
        assert_eq!(unaccounted(&run), Some(12));
    }

    #[test]
    fn what_was_late_lost_or_the_limit_is_named() {
        let mut run = run(20, [1_000_000; 3]);
        run.agents[0].lost = Some("killed".into());
        run.agents[1].clock = ClockOffset {
            error_ns: 30_000_000,
            ..ClockOffset::default()
        };
        for block in &mut run.blocks {
            let parts = &mut block.slices[0].agents;
            parts[1].late_ns = 20_000_000;
            parts[2].late_ns = 20_000_000;
            parts[2].slice.busiest_cpu_ns = 950_000_000;
            parts[2].slice.lag = Counts(vec![(900_000, 100)]).into();
        }
        // The error of the clocks is not counted as lateness.
        let expected = [
            vec![AgentTrouble::Lost],
            vec![],
            vec![
                AgentTrouble::BeganLate,
                AgentTrouble::Behind,
                AgentTrouble::Limit,
            ],
        ];
        assert_eq!(marks(&run), expected);
    }

    #[test]
    fn who_was_left_out_is_not_judged() {
        let mut run = run(20, [1_000_000, 9_000_000, 1_000_000]);
        run.agents
            .iter_mut()
            .zip(["a", "b", "c"])
            .for_each(|(agent, name)| agent.name = name.into());
        run.leave_out(&["b".into()]).unwrap();
        assert_eq!(marks(&run), vec![vec![]; 2]);
        assert_eq!(run.blocks[0].slices[0].served, 198);
        assert!(run.leave_out(&["x".into()]).is_err());
        assert!(
            run.leave_out(&["a".into(), "b".into(), "c".into()])
                .is_err()
        );
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Sets of processes. The processes of all servers in a set are started and warmed up together, and
//! serve one or more blocks.

use super::pilot;
use crate::driver::context::RunContext;
use lab_model::{BlockState, Pilot, Plan, PointId, SubjectId};
use lab_stats::nesting::{Cost, Design, MAX_ASSUMED_SETS, Variances, sets_done};
use lab_stats::steady::{steady, warm_age};
use std::collections::HashMap;
use std::time::Instant;

/// The number of sets that must fit into the time of a run. Servers whose warm-up is too long for
/// this are excluded.
const MIN_SETS_IN_BUDGET: f64 = 4.0;

/// The number of turns that each server of a new set completes before the first recorded turn.
///
/// A server that was idle while others were warmed up needs up to a third more CPU time per request
/// in its first turn: some collect garbage or discard compiled code.
pub const REHEARSED_PASSES: u32 = 4;

/// The time in seconds from the start of a process until it listens, if no start was measured.
const START_S: f64 = 0.5;
/// The minimum duration of a warm-up in seconds.
const MIN_WARM_UP_S: f64 = 0.6;
/// The time that a turn takes in addition to its load, in seconds.
const TURN_EXTRA_S: f64 = 0.012;

/// The current set of processes.
#[derive(Debug, Default)]
pub struct ProcessSet {
    /// The index of the set, from 0.
    pub number: u32,
    /// The number of blocks to serve.
    blocks: u32,
    /// The number of blocks served so far.
    served: u32,
    /// True during a block, and after an interrupted block of this set.
    in_block: bool,
    /// True if the set has begun its first block.
    began: bool,
    warm: bool,
}

impl ProcessSet {
    /// Returns true if the set serves another block.
    pub fn goes_on(&self) -> bool {
        self.began && !self.in_block && self.served < self.blocks
    }

    /// Records the start of a block. Returns true if the set's processes are already running.
    pub fn block_begins(&mut self) -> bool {
        self.warm = self.goes_on();
        (self.began, self.in_block) = (true, true);
        self.warm
    }

    /// Returns true if the next block is the last block of the set.
    fn is_before_last_block(&self) -> bool {
        self.goes_on() && self.served + 1 == self.blocks
    }

    /// Returns true if the processes of the current block were warmed up in an earlier block.
    pub fn is_warm(&self) -> bool {
        self.warm
    }

    /// Records the end of a block. A disturbed block does not count, because it is measured again.
    pub fn block_ended(&mut self, state: BlockState) {
        self.in_block = false;
        if state == BlockState::Complete {
            self.served += 1;
        }
    }
}

/// The durations of sets and their blocks, first estimated from the pilots and then measured.
#[derive(Debug, Default)]
pub struct SetCosts {
    starts_ns: HashMap<SubjectId, u64>,
    block_began: Option<Instant>,
    turns_began: Option<Instant>,
    /// The time to start and warm up the processes of the last set, in seconds.
    set_s: Option<f64>,
    /// The duration of the last block's turns in seconds.
    block_s: Option<f64>,
}

impl SetCosts {
    /// Records the time from the start of a process to its first response.
    pub fn started(&mut self, subject: SubjectId, ns: u64) {
        self.starts_ns.insert(subject, ns);
    }

    /// Records the start of a block.
    pub fn block_begins(&mut self) {
        (self.block_began, self.turns_began) = (Some(Instant::now()), None);
    }

    /// Records the start of the first turn in a block, when all processes are warm. Later calls in
    /// the same block have no effect.
    pub fn turns_begin(&mut self) {
        self.turns_began.get_or_insert_with(Instant::now);
    }

    /// Records the end of a block.
    pub fn block_ended(&mut self) {
        let Some((began, turns)) = self.block_began.zip(self.turns_began) else {
            return;
        };
        let opening_s = (turns - began).as_secs_f64();
        self.block_s = Some(turns.elapsed().as_secs_f64());
        // A block that reuses its processes opens nothing.
        let known_s = self.set_s.unwrap_or(0.0);
        if opening_s > known_s / 4.0 {
            self.set_s = Some(opening_s);
        }
    }

    /// Returns the subjects that do not fit into the budget of a run. The baseline and its copy are
    /// never excluded.
    ///
    /// A subject is excluded if its pilot did not find a steady level in time, or if its warm-up
    /// would make the warm-up of all processes too long.
    pub fn excluded_subjects(&self, plan: &Plan, context: &RunContext) -> Vec<SubjectId> {
        let remaining_s = remaining_s(plan, context).filter(|_| plan.measure.age.is_none());
        let Some(remaining_s) = remaining_s else {
            return Vec::new();
        };
        let takes_part = |subject: &SubjectId| {
            let mut points = plan.points.ids();
            points.any(|point| context.participants.takes_part(*subject, point))
        };
        let participants: Vec<SubjectId> = plan.subjects.ids().filter(takes_part).collect();
        let started = |subject: SubjectId| {
            let mut starts = context.run.blocks.iter().flat_map(|block| &block.processes);
            starts.any(|start| start.subject == subject)
        };
        // A subject that was left out of earlier blocks stays out.
        if context.run.complete_blocks().next().is_some() {
            let out = participants
                .into_iter()
                .filter(|subject| !started(*subject));
            return out.collect();
        }
        let stays = |subject: SubjectId| {
            subject == plan.baseline
                || plan.subjects[subject].overhead
                || Some(subject) == plan.control()
        };
        let mut costs: Vec<(bool, f64, SubjectId)> = participants
            .iter()
            .map(|&subject| {
                (
                    !stays(subject),
                    self.subject_s(plan, context, subject),
                    subject,
                )
            })
            .collect();
        costs.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut sum_s, mut out) = (0.0, Vec::new());
        for (can_go, subject_s, subject) in costs {
            // A subject that was not steady even in the longest possible pilot is still measured, and the report says
            // that it was not steady.
            let is_steady = |p: &Pilot| {
                let length = p.ages.last().map_or(0, |age| age.wall_ns);
                let is_cut = length < pilot::max_pilot(plan).as_nanos() as u64;
                pilot::is_steady(p) || !is_cut
            };
            let is_steady = pilots(context, subject).all(is_steady);
            let block_s = turns_s(plan, 1);
            let all_s = MIN_SETS_IN_BUDGET * (sum_s + subject_s + block_s);
            if can_go && (!is_steady || all_s > remaining_s) {
                out.push(subject);
            } else {
                sum_s += subject_s + block_s;
            }
        }
        out
    }

    /// Returns the next set of a run, with its number of blocks.
    pub fn next_set(&self, plan: &Plan, context: &RunContext) -> ProcessSet {
        let known = context
            .run
            .blocks
            .iter()
            .filter_map(|b| b.process_set)
            .max();
        let blocks = match plan.measure.age {
            // In a second block, the processes would exceed the age that the run requires.
            Some(_) => 1,
            None => self.blocks_of_next(plan, context, 0.0).unwrap_or(1),
        };
        ProcessSet {
            number: known.map_or(0, |set| set + 1),
            blocks,
            ..ProcessSet::default()
        }
    }

    /// Lets a set serve another block if the time after its last block is too short for another
    /// set. If there are enough sets, the set also serves another block if that time is too short
    /// for a set with at least half as many blocks.
    ///
    /// Otherwise, a last set with one block would have the same weight as the earlier sets with
    /// many blocks. No set is extended beyond the time of the run.
    pub fn extend(&self, set: &mut ProcessSet, plan: &Plan, context: &RunContext) {
        let is_last = plan
            .measure
            .max_process_sets
            .is_none_or(|max| set.number + 1 >= max);
        if is_last || plan.measure.age.is_some() || !set.is_before_last_block() {
            return;
        }
        let block_s = self.block_s.unwrap_or(0.0);
        if remaining_s(plan, context).is_none_or(|remaining_s| remaining_s < 2.0 * block_s) {
            return;
        }
        let next = self.blocks_of_next(plan, context, block_s);
        let has_enough_sets = set.number + 1 >= MAX_ASSUMED_SETS;
        if next.is_none_or(|blocks| has_enough_sets && 2 * blocks < set.blocks) {
            set.blocks += 1;
        }
    }

    /// Returns the number of blocks of the next set, or `None` if there is no time for it. The next
    /// set begins after `used_s` more seconds.
    fn blocks_of_next(&self, plan: &Plan, context: &RunContext, used_s: f64) -> Option<u32> {
        let remaining_s = remaining_s(plan, context)? - used_s;
        let subjects = plan.subjects.ids().filter(|&subject| {
            let mut points = plan.points.ids();
            points.any(|point| context.participants.takes_part(subject, point))
        });
        let subjects: Vec<SubjectId> = subjects.collect();
        let estimate_s = || {
            subjects
                .iter()
                .map(|s| self.subject_s(plan, context, *s))
                .sum()
        };
        let cost = Cost {
            set_s: self.set_s.unwrap_or_else(estimate_s),
            block_s: self
                .block_s
                .unwrap_or_else(|| turns_s(plan, subjects.len())),
        };
        let (done, _) = sets_done(&context.run);
        let variances = variances(context).unwrap_or(Variances::UNKNOWN);
        let max_sets = plan.measure.max_process_sets?;
        let design = Design::choose(cost, variances, remaining_s, done, max_sets)?;
        Some(design.blocks)
    }

    /// Returns the time to start and warm up a process of a subject, in seconds.
    fn subject_s(&self, plan: &Plan, context: &RunContext, subject: SubjectId) -> f64 {
        let warm_ns = pilots(context, subject).filter_map(|pilot| {
            let level = steady(pilot)?;
            let end = pilot.ages.last()?;
            if !level.reached {
                return Some(end.wall_ns);
            }
            // A process also needs the rounds that show its level.
            let rounds = level.last_rounds() as u64;
            let round_ns =
                (end.wall_ns - level.age.wall_ns) / (pilot.ages.len() - level.from) as u64;
            Some(warm_age(pilot, &level).wall_ns + rounds * round_ns)
        });
        let warm_s = warm_ns.sum::<u64>() as f64 / 1e9;
        let start_s = self
            .starts_ns
            .get(&subject)
            .map_or(START_S, |&ns| ns as f64 / 1e9);
        let min_s = MIN_WARM_UP_S * plan.cases.len() as f64;
        let points = plan.points.ids();
        let turn_s = points.map(|point| turn_s(plan, point)).fold(0.0, f64::max);
        let rehearsal_s = f64::from(REHEARSED_PASSES) * turn_s;
        start_s
            + plan
                .measure
                .age
                .map_or(warm_s.max(min_s) + rehearsal_s, |_| 0.1)
    }
}

/// Estimates the variances between sets and between blocks, if the run has multiple sets.
fn variances(context: &RunContext) -> Option<Variances> {
    let run = context.writer.load().ok()?;
    lab_stats::nesting::observed(&run)
}

fn pilots<'c>(context: &'c RunContext, subject: SubjectId) -> impl Iterator<Item = &'c Pilot> {
    let pilots = context.run.pilots.iter();
    pilots.filter(move |pilot| pilot.subject == subject)
}

fn remaining_s(plan: &Plan, context: &RunContext) -> Option<f64> {
    let budget_ns = plan.measure.budget_ns?;
    Some(budget_ns.saturating_sub(context.spent_ns) as f64 / 1e9)
}

/// Returns the duration of the turns in a block for a number of subjects, in seconds.
fn turns_s(plan: &Plan, subjects: usize) -> f64 {
    let turns = f64::from(2 * plan.measure.pairs) * subjects as f64;
    let points = plan.points.ids();
    points.map(|point| turns * turn_s(plan, point)).sum()
}

/// Returns the duration of a turn at a point with its lead-in, in seconds.
fn turn_s(plan: &Plan, point: PointId) -> f64 {
    plan.turn_ns(point) as f64 / 1e9 * 1.1 + TURN_EXTRA_S
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::{Measure, Run};
    use lab_store::RunWriter;

    /// Returns true if a set with one more block to serve is extended when `spent_s` seconds of a run of 100 s are over. A set
    /// takes 20 s to warm up, and a block takes 5 s.
    fn is_extended(spent_s: u64, number: u32) -> bool {
        let plan = Plan {
            measure: Measure {
                budget_ns: Some(100_000_000_000),
                max_process_sets: Some(40),
                ..Measure::default()
            },
            ..Plan::default()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let writer = RunWriter::create(&folder.path().join("run.lab"), "0", 1.0).expect("a file");
        let mut context = RunContext::new(&plan, writer, Run::default());
        context.spent_ns = spent_s * 1_000_000_000;
        let costs = SetCosts {
            set_s: Some(20.0),
            block_s: Some(5.0),
            ..SetCosts::default()
        };
        let mut set = ProcessSet {
            number,
            blocks: 8,
            served: 7,
            began: true,
            ..ProcessSet::default()
        };
        costs.extend(&mut set, &plan, &context);
        set.blocks > 8
    }

    #[test]
    fn a_set_serves_the_rest_of_the_time_and_no_more() {
        assert!(!is_extended(10, 2), "there is enough time for another set");
        for number in [2, 9] {
            assert!(
                is_extended(85, number),
                "there is enough time only for blocks"
            );
            for spent_s in [91, 96, 100, 1000] {
                assert!(!is_extended(spent_s, number), "after {spent_s} s");
            }
        }
    }
}

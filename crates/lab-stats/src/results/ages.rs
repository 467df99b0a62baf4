// SPDX-License-Identifier: Apache-2.0
//! Compares the turns of servers with the steady level of a long pilot, and determines the age at
//! which a server reaches this level.
//!
//! To cancel out the speed of the machine, the cost of a request is divided by the baseline's cost.
//! The pilot measures the baseline right after each round of a server, and turns are compared
//! within the same block.

use crate::analysis::{Exclusion, ExclusionReason};
use crate::load::visits::{Visit, Visits};
use crate::order;
use crate::server_age::{AgeState, ServerAge};
use crate::steady::{Steady, cost_of_first, steady};
use lab_model::{Pilot, Plan, PointId, Run, SubjectId};

/// The maximum difference in logarithms, beyond noise, between the level of a process and the
/// pilot's level.
///
/// The levels of processes of one program differ by about a tenth, because a compiler decides
/// partly at random. A process with a larger difference was not at the pilot's level.
const TOLERANCE: f64 = 0.2;
/// The maximum difference in logarithms between the mean of all processes and the pilot's level.
const MEAN_TOLERANCE: f64 = 0.12;
/// The maximum difference in logarithms between the level of a process and the pilot's level, if
/// these levels are not divided by the baseline's cost, as for the baseline itself.
///
/// It is larger than [`TOLERANCE`], because such levels also depend on the speed of the machine.
const MACHINE_TOLERANCE: f64 = 0.5;
/// The number of standard errors up to which a deviation counts as noise.
const CERTAIN: f64 = 2.0;
/// The standard error, in logarithms, of the level of a process whose turns do not allow an
/// estimate.
const UNKNOWN_ERROR: f64 = 0.05;

/// The mean cost of the first N requests of a server is reported for each of these numbers N.
pub const FIRST: [u64; 3] = [1, 1_000, 100_000];

/// Returns the ages of servers, one per pilot.
///
/// Empty for runs whose pilots did not record ages.
pub(crate) fn ages(run: &Run, plan: &Plan, visits: &Visits) -> Vec<ServerAge> {
    let pilots = run.pilots.iter();
    let known = pilots.filter(|p| plan.subjects.has_id(p.subject) && plan.points.has_id(p.point));
    known
        .filter_map(|pilot| age(run, plan, visits, pilot))
        .collect()
}

fn age(run: &Run, plan: &Plan, visits: &Visits, pilot: &Pilot) -> Option<ServerAge> {
    let (subject, point) = (pilot.subject, pilot.point);
    let level = steady(pilot).map(|level| Steady {
        // No other process shows the speed of the machine in the baseline's turns.
        ratio: level.ratio.filter(|_| subject != plan.baseline),
        ..level
    })?;
    let levels = process_levels(plan, visits, (subject, point), &level);
    let tolerance = match level.ratio {
        Some(_) => TOLERANCE,
        None => MACHINE_TOLERANCE,
    };
    let off = levels.iter().filter(|l| l.is_off(tolerance)).count() as u32;
    let farthest = levels
        .iter()
        .max_by(|a, b| a.distance.abs().total_cmp(&b.distance.abs()));
    let mean_distance = mean(levels.iter().map(|l| l.distance));
    let mean_error =
        levels.iter().map(|l| l.error.powi(2)).sum::<f64>().sqrt() / levels.len().max(1) as f64;
    let mean_is_off = level.ratio.is_some()
        && mean_distance.abs() > MEAN_TOLERANCE + CERTAIN * mean_error.hypot(level.error);
    let is_off = off > 0 || mean_is_off;
    let state = match farthest {
        _ if plan.measure.age.is_some() => AgeState::Steady,
        None if was_left_out(run, subject) => AgeState::LeftOut,
        Some(_) if is_off && level.from == 0 => AgeState::Disturbed,
        Some(farthest) if is_off && farthest.distance > 0.0 => AgeState::WarmingUp,
        Some(_) if is_off => AgeState::PilotTooShort,
        _ if !level.reached => AgeState::StillFalling,
        _ => AgeState::Steady,
    };
    let end = pilot.ages.last().filter(|_| !level.reached);
    let reached = end.copied().unwrap_or(level.age);
    Some(ServerAge {
        subject,
        point,
        first_ns: FIRST.map(|requests| cost_of_first(pilot, requests)),
        steady_ns: level.cost_ns,
        requests: reached.requests,
        seconds: reached.wall_ns as f64 / 1e9,
        steady: level.reached,
        turns_ns: farthest.map(|l| l.cost_ns),
        expected_ns: farthest.map(|l| l.cost_ns / l.distance.exp()),
        processes: levels.len() as u32,
        processes_off: off,
        state,
    })
}

/// The level of the turns of one process.
struct ProcessLevel {
    /// The CPU time of a request, in ns.
    cost_ns: f64,
    /// The logarithm of the level divided by the pilot's level, after the effect of the machine's
    /// speed is removed.
    distance: f64,
    /// The standard error of `distance`.
    error: f64,
}

impl ProcessLevel {
    fn is_off(&self, tolerance: f64) -> bool {
        self.distance.abs() > tolerance + CERTAIN * self.error
    }
}

fn process_levels(
    plan: &Plan,
    visits: &Visits,
    (subject, point): (SubjectId, PointId),
    level: &Steady,
) -> Vec<ProcessLevel> {
    let cost = |visit: &Visit| visit.server_ns_per_request();
    let pair = [subject, plan.baseline];
    let sets = match level.ratio {
        Some(_) => visits.logs_by_set(pair, point, cost),
        None => visits.values_by_set(subject, point, |visit| Some(cost(visit)?.ln())),
    };
    let expected = level.ratio.unwrap_or(level.cost_ns).ln();
    let scatter: Vec<f64> = sets.iter().filter_map(|set| deviation(set)).collect();
    let scatter = order::median(&scatter);
    let costs = visits
        .by_replicate(subject, point)
        .map(|visit| cost(visit?));
    let levels = sets.iter().zip(costs).filter_map(|(set, cost_ns)| {
        let error = scatter.map(|s| s / (set.len() as f64).sqrt());
        (!set.is_empty()).then_some(ProcessLevel {
            cost_ns: cost_ns?,
            distance: mean(set.iter().copied()) - expected,
            error: error.unwrap_or(UNKNOWN_ERROR).hypot(level.error),
        })
    });
    levels.collect()
}

/// Returns true if a subject had a pilot but none of the measured blocks contains its process.
fn was_left_out(run: &Run, subject: SubjectId) -> bool {
    let mut starts = run.blocks.iter().flat_map(|block| &block.processes);
    let failed = run
        .failures
        .iter()
        .any(|failure| failure.subject == subject);
    let has_blocks = run.complete_blocks().next().is_some();
    has_blocks && !failed && !starts.any(|start| start.subject == subject)
}

/// Excludes servers that were not at their steady level.
///
/// If the baseline was not at its steady level, all other servers are excluded, too.
pub(crate) fn exclusions(plan: &Plan, ages: &[ServerAge]) -> Vec<Exclusion> {
    let mut all = Vec::new();
    for age in ages.iter().filter(|age| age.state != AgeState::Steady) {
        let case = plan.points[age.point].case;
        let points = plan.points.ids().filter(|&p| plan.points[p].case == case);
        for point in points {
            let exclusion = |subject, baseline: Option<&String>| Exclusion {
                subject,
                point: Some(point),
                reason: ExclusionReason::ServerNotSteady {
                    baseline: baseline.cloned(),
                    age: age.clone(),
                },
            };
            all.push(exclusion(age.subject, None));
            if age.subject == plan.baseline {
                let name = &plan.subjects[age.subject].name;
                let others = plan.subjects.ids().filter(|&s| s != plan.baseline);
                let others = others.filter(|&s| plan.takes_part(s, point));
                all.extend(others.map(|s| exclusion(s, Some(name))));
            }
        }
    }
    // A subject has one reason per point. Its own reason takes precedence over the baseline's.
    let mut kept: Vec<Exclusion> = Vec::new();
    for exclusion in all {
        let cell = (exclusion.subject, exclusion.point);
        match kept.iter_mut().find(|r| (r.subject, r.point) == cell) {
            Some(known) if is_of_baseline(known) => *known = exclusion,
            Some(_) => {}
            None => kept.push(exclusion),
        }
    }
    kept
}

fn is_of_baseline(exclusion: &Exclusion) -> bool {
    let reason = &exclusion.reason;
    matches!(reason, ExclusionReason::ServerNotSteady { baseline, .. } if baseline.is_some())
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
    sum / f64::from(count.max(1))
}

fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let center = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|v| (v - center).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

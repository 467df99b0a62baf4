// SPDX-License-Identifier: Apache-2.0
//! Whether the turns of servers that count were at the steady level of a long pilot, and how old a server is when it
//! gets there.
//!
//! The speed of the machine is divided out by the baseline: what counts is the cost of a request as a multiple of the
//! baseline's, in the pilot right after each of its rounds, and in turns in the same block.

use crate::analysis::{Refusal, RefusalKind};
use crate::load::visits::{Visit, Visits};
use crate::order;
use crate::steady::{Steady, cost_of_first, steady};
use lab_model::{Pilot, Plan, PointId, Run, SubjectId};
use serde::Serialize;

/// Processes of one program differ by about a tenth in their levels (a compiler decides by chance): a process that is
/// farther from the pilot's level than this, in logarithms, and by more than noise, was not at it.
const TOLERANCE: f64 = 0.2;
/// The mean of all processes is not at it beyond this.
const MEAN_TOLERANCE: f64 = 0.12;
/// The baseline's own level also follows the speed of the machine.
const MACHINE_TOLERANCE: f64 = 0.5;
/// Noise is so many standard errors.
const CERTAIN: f64 = 2.0;
/// The standard error of the logarithm of a process's level where its turns do not show it.
const UNKNOWN_ERROR: f64 = 0.05;

/// The numbers of requests whose mean cost is told.
pub const FIRST: [u64; 3] = [1, 1_000, 100_000];

/// What it took to warm up a server for a case, and at which level its turns were.
#[derive(Clone, Debug, Serialize)]
pub struct ServerAge {
    /// The server.
    pub subject: SubjectId,
    /// The point at which it was piloted.
    pub point: PointId,
    /// The very first request, ns of wall time; then the mean CPU time of the first 1,000 and 100,000, as far as the pilot
    /// had so many.
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
    /// What is wrong with its figures.
    pub state: AgeState,
}

/// Whether a server's turns were at its steady level.
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

/// How old servers were, by pilot. Empty for runs whose pilots do not tell.
pub(crate) fn ages(run: &Run, plan: &Plan, visits: &Visits) -> Vec<ServerAge> {
    let pilots = run.pilots.iter();
    let known = pilots.filter(|p| p.subject < plan.subjects.len() && p.point < plan.points.len());
    known
        .filter_map(|pilot| age(run, plan, visits, pilot))
        .collect()
}

fn age(run: &Run, plan: &Plan, visits: &Visits, pilot: &Pilot) -> Option<ServerAge> {
    let level = steady(pilot)?;
    let (subject, point) = (pilot.subject, pilot.point);
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

/// The level of one process's turns.
struct ProcessLevel {
    /// CPU time of a request, ns.
    cost_ns: f64,
    /// The logarithm of the level / the pilot's, the speed of the machine divided out.
    distance: f64,
    /// Its standard error.
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
    let wanted = level.ratio.unwrap_or(level.cost_ns).ln();
    let scatter: Vec<f64> = sets.iter().filter_map(|set| deviation(set)).collect();
    let scatter = order::median(&scatter);
    let costs = visits.of(subject, point).map(|visit| cost(visit?));
    let levels = sets.iter().zip(costs).filter_map(|(set, cost_ns)| {
        let error = scatter.map(|s| s / (set.len() as f64).sqrt());
        (!set.is_empty()).then_some(ProcessLevel {
            cost_ns: cost_ns?,
            distance: mean(set.iter().copied()) - wanted,
            error: error.unwrap_or(UNKNOWN_ERROR).hypot(level.error),
        })
    });
    levels.collect()
}

/// A subject that had a pilot, and no process in any block although blocks were measured.
fn was_left_out(run: &Run, subject: SubjectId) -> bool {
    let mut starts = run.blocks.iter().flat_map(|block| &block.processes);
    let failed = run
        .failures
        .iter()
        .any(|failure| failure.subject == subject);
    let has_blocks = run.complete_blocks().next().is_some();
    has_blocks && !failed && !starts.any(|start| start.subject == subject)
}

/// What is not compared since servers were not at their steady level: they, and everybody with a baseline that was not.
pub(crate) fn refusals(plan: &Plan, ages: &[ServerAge]) -> Vec<Refusal> {
    let mut all = Vec::new();
    for age in ages.iter().filter(|age| age.state != AgeState::Steady) {
        let case = plan.points[age.point].case;
        let points = (0..plan.points.len()).filter(|&p| plan.points[p].case == case);
        let why = sentence(age);
        for point in points {
            let refusal = |subject, why| Refusal {
                subject,
                point: Some(point),
                why,
                kind: RefusalKind::NotSteady,
            };
            all.push(refusal(age.subject, why.clone()));
            if age.subject == plan.baseline {
                let name = &plan.subjects[age.subject].name;
                let others = (0..plan.subjects.len()).filter(|&s| s != plan.baseline);
                let others = others.filter(|&s| plan.takes_part(s, point));
                let why =
                    format!("has nothing steady to be compared with: the baseline {name} {why}");
                all.extend(others.map(|s| refusal(s, why.clone())));
            }
        }
    }
    // A subject has one reason at a point: its own before the baseline's.
    let mut kept: Vec<Refusal> = Vec::new();
    for refusal in all {
        let place = (refusal.subject, refusal.point);
        match kept.iter_mut().find(|r| (r.subject, r.point) == place) {
            Some(known) if known.why.starts_with("has nothing steady") => *known = refusal,
            Some(_) => {}
            None => kept.push(refusal),
        }
    }
    kept
}

/// What is wrong with the age of a server, as a verb phrase behind its name.
pub fn sentence(age: &ServerAge) -> String {
    let time = |ns: Option<f64>| duration(ns.unwrap_or(age.steady_ns));
    let some = format!(
        "{} requests ({})",
        rounded(age.requests),
        seconds(age.seconds)
    );
    let of_processes = match (age.processes_off, age.processes) {
        (0, _) => String::new(),
        (off, all) if off == all => String::new(),
        (off, all) => format!(" in {off} of {all} processes"),
    };
    let turns = format!(
        "turns {}, steady {}",
        time(age.turns_ns),
        time(age.expected_ns)
    );
    match age.state {
        AgeState::Steady => String::new(),
        AgeState::WarmingUp if age.steady => {
            format!("was still warming up{of_processes} ({turns}); it needs some {some}")
        }
        AgeState::WarmingUp => {
            format!("was still warming up{of_processes} ({turns}); it needs more than {some}")
        }
        AgeState::Disturbed => {
            format!(
                "was not at its steady level{of_processes} ({turns}), though it needs no warm-up: something disturbed it"
            )
        }
        AgeState::PilotTooShort => {
            format!(
                "was not steady yet when its pilot ended{of_processes} ({turns}): it needs more than {some}"
            )
        }
        AgeState::StillFalling => {
            format!("was still getting cheaper when its pilot ended: it needs more than {some}")
        }
        AgeState::LeftOut if age.steady => {
            format!("cannot be warmed up in the time of this run: each process needs some {some}")
        }
        AgeState::LeftOut => {
            format!("cannot be warmed up in the time of this run: it needs more than {some}")
        }
    }
}

/// Two digits are enough of what one process needed.
fn rounded(requests: u64) -> String {
    let digits = requests.max(1).ilog10();
    let unit = 10_u64.pow(digits.saturating_sub(1));
    let rounded = (requests + unit / 2) / unit * unit;
    let text = rounded.to_string();
    let grouped: Vec<&str> = text
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    grouped.join(",")
}

fn seconds(seconds: f64) -> String {
    if seconds < 9.95 {
        format!("{seconds:.1} s")
    } else {
        format!("{seconds:.0} s")
    }
}

fn duration(ns: f64) -> String {
    let us = ns / 1e3;
    if us < 9.95 {
        format!("{us:.1} µs")
    } else {
        format!("{us:.0} µs")
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
    sum / f64::from(count.max(1))
}

fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values.iter().copied());
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

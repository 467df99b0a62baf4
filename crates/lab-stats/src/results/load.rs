// SPDX-License-Identifier: Apache-2.0
//! What a load says: of servers that were there, or that the lab started.

use super::compare::{Family, Pair, Pooled, Question};
use super::judge::Basis;
use super::levels::{Blocks, Levels, Summary, key};
use super::means::{Scope, effect, overall};
use super::warnings::{self, Depending, Evidence};
use super::{Cell, Effect, Key, Results, Shift, Value, best, bias, footprints};
use crate::analysis::Verdict;
use crate::dependence::Merged;
use crate::load::idle::refusals;
use crate::load::overload::is_overloaded;
use crate::load::quantiles::{self, Tails, quantiles};
use crate::load::visits::{self, Distribution, Visit, Visits, per_10_000};
use crate::load::{BUSY, OWN_LATENCY, hidden, is_generators, scalings};
use crate::refusals::failed;
use crate::stopping;
use lab_model::point_load::KEEP_ALIVE;
use lab_model::{ErrorKind, Metric, Plan, PointId, Run, SubjectId};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// How many, six quantiles, and the greatest.
type Times = [Metric; 8];

static RESPONSE: Times = [
    Metric::RESPONSES,
    Metric::P50,
    Metric::P75,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::P9999,
    Metric::MAX,
];

static SERVICE: Times = [
    Metric::SERVICES,
    Metric::SERVICE_P50,
    Metric::SERVICE_P75,
    Metric::SERVICE_P90,
    Metric::SERVICE_P99,
    Metric::SERVICE_P999,
    Metric::SERVICE_P9999,
    Metric::SERVICE_MAX,
];

static LAG: Times = [
    Metric::LAGS,
    Metric::LAG_P50,
    Metric::LAG_P75,
    Metric::LAG_P90,
    Metric::LAG_P99,
    Metric::LAG_P999,
    Metric::LAG_P9999,
    Metric::LAG_MAX,
];

/// The results of a load.
pub(crate) fn results(run: &Run, plan: &Plan) -> Results {
    let visits = Visits::new(run, plan);
    let basis = Basis {
        run,
        plan,
        refusals: refusals(run, plan, &visits),
        alpha: stopping::alpha(run, plan),
    };
    let mut results = Results::default();
    let mut levels = Levels {
        alpha: plan.measure.alpha,
        seed: plan.seed,
        cells: Vec::new(),
    };
    let depending = figures(&basis, &visits, &mut levels, &mut results);
    // Where the generator was the limit, a server that the lab starts has not shown what it can do.
    let limited = results.saturated.iter().copied();
    let limited = limited.filter(|_| plan.serving().is_some()).collect();
    let mut family = Family::new(&basis);
    let overloaded = levels.cells.iter();
    let overloaded = overloaded.filter(|cell| cell.key.metric == Metric::BACKLOG);
    let overloaded = overloaded.filter_map(|cell| Some((cell.key.subject, cell.key.point?)));
    results.shifts = ask(&mut family, &visits, &overloaded.collect());
    if plan.serving().is_some() {
        over_points(&mut family, &visits);
        results.effects = reconnects(&basis, &visits);
        let held = footprints::of_servers(&basis, &visits, &mut levels);
        footprints::ask(&mut family, &held);
    }
    results.scalings = scalings(run, plan, &visits, &limited);
    results.biases = bias::of_load(run, plan);
    best::of_load(&mut family, &visits);
    let mut compared = family.judged();
    results.bests = compared.bests;
    for ranking in &mut compared.rankings {
        best::unlimited(ranking, &results.bests, &limited);
    }
    compared
        .pairs
        .retain(|pair| is_the_servers(plan, &limited, pair));
    for pair in &mut compared.pairs {
        let found = &mut pair.comparison;
        if found.verdict == Some(Verdict::Equivalent)
            && is_the_generators(plan, &levels, &found.key)
        {
            let blocks_needed = None;
            found.verdict = Some(Verdict::Inconclusive { blocks_needed });
        }
    }
    results.overall = compared.overall;
    results.rankings = compared.rankings;
    results.cells = levels.cells;
    results.controls = compared.controls;
    results.warnings = warnings::of_load(&Evidence {
        basis: &basis,
        cells: &results.cells,
        controls: &results.controls,
        pairs: &compared.pairs,
        depending: &depending,
        errors: &results.errors,
    });
    let pairs = compared.pairs.into_iter();
    results.comparisons = pairs.map(|pair| pair.comparison).collect();
    results.refusals = basis.refusals;
    results
}

type Place = (SubjectId, PointId);

/// Every figure of every server at every point where load was put on it, and where blocks depend on each other.
fn figures(
    basis: &Basis,
    visits: &Visits,
    levels: &mut Levels,
    results: &mut Results,
) -> Vec<Depending> {
    let mut depending = Vec::new();
    for point in 0..basis.plan.points.len() {
        for subject in 0..basis.plan.subjects.len() {
            let blocks: Vec<&Visit> = visits.of(subject, point).flatten().collect();
            if !blocks.is_empty() {
                let found = at(basis.plan, (subject, point), &blocks, levels, results);
                depending.push(found);
            }
        }
    }
    depending
}

/// Rates and costs are medians over blocks, quantiles those of all requests together.
fn at(
    plan: &Plan,
    (subject, point): Place,
    blocks: &[&Visit],
    levels: &mut Levels,
    results: &mut Results,
) -> Depending {
    let first = levels.cells.len();
    let place = (subject, point);
    let [_, pace, _] = rates().map(|figure| add(levels, place, blocks, figure));
    let overloaded = is_overloaded(plan, point, blocks);
    if overloaded {
        let backlog = (Metric::BACKLOG, Summary::Most, backlog as fn(&Visit) -> _);
        add(levels, place, blocks, backlog);
    }
    let requests = times(plan, place, blocks, levels, overloaded);
    for figure in costs() {
        add(levels, place, blocks, figure);
    }
    let of = |metric: &Metric| {
        let mut mine = levels.cells[first..].iter();
        let found = mine.find(|cell| cell.key.metric == *metric);
        found.map_or(0.0, |cell| cell.value.value())
    };
    if of(&Metric::GENERATOR_BUSY) > BUSY {
        results.saturated.push((subject, point));
    }
    let errors = errors(blocks).into_iter();
    let errors = errors.map(|(kind, count)| (subject, point, kind, count));
    results.errors.extend(errors);
    let merged = || [&pace, &requests].into_iter().flatten();
    Depending {
        subject,
        point,
        dependent: merged().any(|m| m.dependent),
        unresolved: merged().any(|m| m.unresolved),
    }
}

fn backlog(visit: &Visit) -> Option<f64> {
    Some(visit.backlog())
}

/// A metric, and what a block says of it.
type Figure = (Metric, Summary, fn(&Visit) -> Option<f64>);

fn add(
    levels: &mut Levels,
    (subject, point): Place,
    blocks: &[&Visit],
    (metric, summary, value): Figure,
) -> Option<Merged> {
    let values: Blocks = blocks.iter().map(|visit| value(visit)).collect();
    levels.add(key(subject, point, &metric), summary, &values)
}

fn rates() -> [Figure; 3] {
    [
        (Metric::OFFERED, Summary::Merged, |v| {
            Some(v.offered_per_second())
        }),
        (Metric::THROUGHPUT, Summary::Merged, |v| {
            Some(v.per_second(v.served))
        }),
        (Metric::RECEIVED, Summary::Merged, |v| {
            Some(v.per_second(v.received_bytes))
        }),
    ]
}

fn costs() -> [Figure; 11] {
    [
        (Metric::SERVER_CPU, Summary::Merged, |v| {
            v.server_ns_per_request()
        }),
        (Metric::SERVER_CORES, Summary::Merged, |v| {
            Some(v.server_cpu_ns? as f64 / v.taken_ns)
        }),
        (Metric::SERVER_MEMORY, Summary::Merged, |v| {
            Some(v.server_bytes? as f64)
        }),
        (Metric::GENERATOR_CPU, Summary::Merged, |v| {
            v.per_request(v.cpu_ns as f64)
        }),
        (Metric::GENERATOR_BUSY, Summary::Merged, |v| {
            Some(v.busiest_cpu_ns as f64 / v.taken_ns)
        }),
        (Metric::THREADS, Summary::Most, |v| {
            Some(v.server_threads?.into())
        }),
        (Metric::REQUESTS, Summary::Sum, |v| Some(v.offered as f64)),
        (Metric::SERVED, Summary::Sum, |v| Some(v.served as f64)),
        (Metric::ERRORS, Summary::Sum, |v| Some(v.failed() as f64)),
        (Metric::CONNECTS, Summary::Sum, |v| Some(v.connects as f64)),
        (Metric::DRAIN, Summary::Most, |v| Some(v.drain_ns as f64)),
    ]
}

/// The quantiles of each distribution that has a value, where a server is overloaded of the lag alone; how blocks depend on each other in the response time.
fn times(
    plan: &Plan,
    (subject, point): Place,
    blocks: &[&Visit],
    levels: &mut Levels,
    overloaded: bool,
) -> Option<Merged> {
    let of = |of: Distribution| quantiles(plan.measure.alpha, blocks, of);
    let (response, depending) = of(|s| &s.response);
    // In a closed loop a request is due when it is sent.
    let same = blocks.iter().all(|block| block.waits_for_nothing());
    let service = if same {
        response.clone()
    } else {
        of(|s| &s.service).0
    };
    let (lag, _) = of(|s| &s.lag);
    for (found, metrics) in [(&response, &RESPONSE), (&service, &SERVICE), (&lag, &LAG)] {
        let count = (found.count > 0).then_some(Value::Reading(found.count as f64));
        let parts = found.parts.map(|part| part.map(Value::Estimate));
        let max = found.max_ns.map(|ns| Value::Reading(ns as f64));
        let values = [count].into_iter().chain(parts).chain([max]);
        let told = if overloaded && *metrics != LAG {
            1
        } else {
            metrics.len()
        };
        for (metric, value) in metrics.iter().zip(values).take(told) {
            if let Some(value) = value {
                let key = key(subject, point, metric);
                levels.push(key, blocks.len() as u32, value);
            }
        }
    }
    depending
}

/// Only kinds that happened.
fn errors(blocks: &[&Visit]) -> Vec<(ErrorKind, u64)> {
    let mut all = BTreeMap::new();
    for (kind, count) in blocks.iter().flat_map(|block| &block.errors) {
        let sum = all.entry(*kind).or_insert(0_u64);
        *sum = sum.saturating_add(*count);
    }
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

static IN_TURNS: [Metric; 6] = [
    Metric::THROUGHPUT,
    Metric::P50,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::SERVER_CPU,
];

static RATES: [Metric; 2] = [Metric::THROUGHPUT, Metric::SERVER_CPU];

static LATENCIES: [Metric; 3] = [Metric::P50, Metric::P90, Metric::P99];

/// In a closed loop who stalls is asked less, so that its tail is no user's.
static CLOSED: [Metric; 3] = [Metric::THROUGHPUT, Metric::P50, Metric::SERVER_CPU];

/// The metrics in which servers are compared at a point. Those that the lab starts are each offered a rate
/// of its own in an open loop, so that their throughputs say nothing there; and in a closed loop, in which
/// who stalls is asked less, their response times do not.
fn metrics(plan: &Plan, point: PointId) -> &'static [Metric] {
    match (plan.serving(), plan.is_open(point)) {
        (None, true) => &IN_TURNS,
        (None, false) => &CLOSED,
        (Some(_), true) => &LATENCIES,
        (Some(_), false) => &RATES,
    }
}

/// Asks how servers compare at every point, in every metric that both have.
///
/// Of rates and costs each block yields the logarithm of subject / baseline of all its slices together:
/// passes are mirrored, so drift cancels. Percentiles are those of all requests of all blocks; of an overloaded server
/// there are none.
fn ask<'v>(
    family: &mut Family<'v, '_>,
    visits: &'v Visits,
    overloaded: &HashSet<Place>,
) -> Vec<Shift> {
    let plan = family.basis.plan;
    let mut shifts = Vec::new();
    for point in 0..plan.points.len() {
        let (percentiles, rates): (Vec<Metric>, Vec<Metric>) = metrics(plan, point)
            .iter()
            .cloned()
            .partition(|metric| per_10_000(metric).is_some());
        let ranked = ranked(plan, point);
        let question = Question {
            point: Some(point),
            judged: &rates,
            ranked,
        };
        family.at(&question, |subject, metric| {
            against(visits, (subject, plan.baseline), point, metric).into()
        });
        // The distributions of a pair serve all of its percentiles.
        let known: RefCell<HashMap<SubjectId, Option<Both>>> = RefCell::default();
        family.pooled(point, &percentiles, ranked, |(subject, other), metric| {
            let part = per_10_000(metric)?;
            if [subject, other]
                .iter()
                .any(|&s| overloaded.contains(&(s, point)))
            {
                return None;
            }
            let mut known = known.borrow_mut();
            let both = known.entry(subject).or_insert_with(|| {
                let blocks = in_both(visits, (other, subject), point)?;
                let tails = Tails::alike(
                    plan.measure.alpha,
                    blocks.each_ref().map(Vec::as_slice),
                    |s| &s.response,
                );
                Some((blocks, Rc::new(tails)))
            });
            let (blocks, tails) = both.as_ref()?;
            if blocks.iter().any(|blocks| lacks(blocks, part)) {
                return None;
            }
            let tails = Rc::clone(tails);
            Some(Pooled {
                has_interval: tails.iter().all(|tails| tails.has_interval(part)),
                ratio: Box::new(move |alpha| quantiles::ratio(&tails, part, alpha)),
            })
        });
        if plan.is_open(point) {
            let known = known.into_inner().into_iter();
            let shift = |(subject, both): (SubjectId, Option<Both>)| {
                let parts = quantiles::shift(&both?.1, plan.measure.alpha);
                (parts.len() > 1).then_some(Shift {
                    subject,
                    point,
                    parts,
                })
            };
            shifts.extend(known.filter_map(shift));
        }
    }
    shifts.sort_by_key(|shift| (shift.point, shift.subject));
    shifts
}

/// The blocks that two servers have both, and their distributions.
type Both<'v, 'r> = ([Vec<&'v Visit<'r>>; 2], Rc<[Tails; 2]>);

/// The blocks of two servers that have both.
fn in_both<'v, 'r>(
    visits: &'v Visits<'r>,
    (first, second): (SubjectId, SubjectId),
    point: PointId,
) -> Option<[Vec<&'v Visit<'r>>; 2]> {
    let both = visits.of(first, point).zip(visits.of(second, point));
    let (a, b): (Vec<_>, Vec<_>) = both.filter_map(|(a, b)| Some((a?, b?))).unzip();
    (!a.is_empty()).then_some([a, b])
}

/// Whether errors take the place of a percentile, or there are too few requests for it.
fn lacks(blocks: &[&Visit], per_10_000: u32) -> bool {
    let [served, failed] = [
        visits::total(blocks, |v| v.served),
        visits::total(blocks, |v| v.failed()),
    ];
    hidden(failed, served, per_10_000) || !quantiles::is_given(served as f64, per_10_000)
}

/// In what all servers are compared with each other: what the report tells of each point.
fn ranked(plan: &Plan, point: PointId) -> &'static [Metric] {
    match (plan.serving(), plan.is_open(point)) {
        (None, _) => metrics(plan, point),
        (Some(_), true) => &LATENCIES,
        (Some(_), false) => &[],
    }
}

/// Whether a percentile of a server or of the baseline is the generator's by more than a tenth: two servers are not
/// alike for being hidden by the same generator.
fn is_the_generators(
    plan: &Plan,
    levels: &Levels,
    Key {
        subject,
        point,
        metric,
    }: &Key,
) -> bool {
    let lag = OWN_LATENCY.iter().find(|(response, _)| response == metric);
    let Some((load, (response, lag))) = plan.load().zip(lag) else {
        return false;
    };
    [*subject, plan.baseline].into_iter().any(|subject| {
        let of = |metric: &Metric| {
            let of = |cell: &&Cell| {
                (cell.key.subject, cell.key.point, &cell.key.metric) == (subject, *point, metric)
            };
            levels.cells.iter().find(of).map(|cell| cell.value.value())
        };
        let both = of(response).zip(of(lag));
        both.is_some_and(|(response, lag)| is_generators(load, response, lag))
    })
}

/// Whether a throughput says something of the servers. Where the generator was the limit of the one
/// that is ahead, the difference is at least as great, and the verdict holds; otherwise it is the
/// generator that was compared.
fn is_the_servers(plan: &Plan, limited: &HashSet<Place>, pair: &Pair) -> bool {
    let found = &pair.comparison;
    let Some(point) = found.key.point else {
        return true;
    };
    let limited = |subject| limited.contains(&(subject, point));
    match (limited(plan.baseline), limited(found.key.subject)) {
        _ if found.key.metric != Metric::THROUGHPUT => true,
        (false, false) => true,
        (true, false) => found.verdict == Some(Verdict::Slower),
        (false, true) => found.verdict == Some(Verdict::Faster),
        (true, true) => false,
    }
}

/// For each block with both servers the logarithm of one's / the other's; nothing where some of them lacks the
/// metric.
fn against(
    visits: &Visits,
    (subject, baseline): (SubjectId, SubjectId),
    point: PointId,
    metric: &Metric,
) -> Blocks {
    let both = visits.of(subject, point).zip(visits.of(baseline, point));
    let log = |a: &Visit, b: &Visit| Some((a.value(metric)? / b.value(metric)?).ln());
    let logs = both.map(|(a, b)| Some((a?, b?)).map(|(a, b)| log(a, b)));
    let logs: Vec<Option<Option<f64>>> = logs.collect();
    if logs.iter().flatten().any(Option::is_none) {
        return Blocks::new();
    }
    logs.into_iter().map(Option::flatten).collect()
}

/// The cases of a plan one by one, and all of them together if they are several.
fn cases(plan: &Plan) -> impl Iterator<Item = Option<usize>> {
    let all = (plan.cases.len() > 1).then_some(None);
    (0..plan.cases.len()).map(Some).chain(all)
}

/// The points of a case, or of all, at which servers are asked as fast as they answer.
fn closed_points(
    plan: &Plan,
    case: Option<usize>,
    keep_alive: bool,
) -> impl Iterator<Item = PointId> {
    (0..plan.points.len()).filter(move |&point| {
        case.is_none_or(|case| plan.points[point].case == case)
            && !plan.is_open(point)
            && plan.keeps_alive(point) == keep_alive
    })
}

pub(super) fn by_block(
    visits: &Visits,
    (subject, point): Place,
    value: impl Fn(&Visit) -> Option<f64>,
) -> Blocks {
    let visits = visits.of(subject, point);
    visits.map(|visit| visit.and_then(&value)).collect()
}

/// Asks what a request costs a server, by case, then with and without keep-alive.
fn over_points(family: &mut Family, visits: &Visits) {
    let plan = family.basis.plan;
    let logs = |subject, point| -> Blocks {
        let of = |subject| by_block(visits, (subject, point), |v| v.server_ns_per_request());
        let both = of(plan.baseline).into_iter().zip(of(subject));
        both.map(|(base, mine)| Some((mine? / base?).ln()))
            .collect()
    };
    let scopes = cases(plan).flat_map(|case| [true, false].map(|keep_alive| (case, keep_alive)));
    for (case, keep_alive) in scopes {
        let scope = Scope {
            metric: Metric::SERVER_CPU,
            case,
            keep_alive: Some(keep_alive),
            points: closed_points(plan, case, keep_alive).collect(),
            with_control: true,
        };
        overall(family, &scope, logs);
    }
}

/// What it costs a server that each request has a connection of its own: by case, then server, then metric, over
/// all numbers of connections that there are both with and without keep-alive.
fn reconnects(basis: &Basis, visits: &Visits) -> Vec<Effect> {
    let plan = basis.plan;
    let places = cases(plan).flat_map(|case| plan.compared().map(move |s| (case, s)));
    let of = |(case, subject): (Option<usize>, SubjectId)| {
        let pairs = with_and_without(basis, case, subject);
        RATES.iter().filter_map(move |metric| {
            let value = |visit: &Visit| visit.value(metric);
            effect(
                basis,
                (subject, metric),
                (KEEP_ALIVE, case),
                pairs.clone(),
                |point| by_block(visits, (subject, point), value),
            )
        })
    };
    places.flat_map(of).collect()
}

fn with_and_without(
    basis: &Basis,
    case: Option<usize>,
    subject: SubjectId,
) -> Vec<(PointId, PointId)> {
    let plan = basis.plan;
    let able =
        |&point: &PointId| plan.takes_part(subject, point) && !failed(basis.run, subject, point);
    let kept = |point: PointId| {
        let mut kept = closed_points(plan, Some(plan.points[point].case), true).filter(able);
        kept.find(|&kept| plan.connections(kept) == plan.connections(point))
    };
    let without = closed_points(plan, case, false).filter(able);
    without
        .filter_map(|point| Some((kept(point)?, point)))
        .collect()
}

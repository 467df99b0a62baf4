// SPDX-License-Identifier: Apache-2.0
//! The results of a load on servers that were already running or that benchlab started.

use super::ages::ages;
use super::compare::ComparisonFamily;
use super::judge::Basis;
use super::levels::{BlockSummary, Blocks, Levels, key};
use super::load_pairs::{compare_at_points, is_the_generators, is_the_servers};
use super::load_traits::LoadTraits;
use super::warnings::{self, Depending, WarningBasis};
use super::{Results, Value, best, bias};
use crate::dependence::Merged;
use crate::load::idle::exclusions;
use crate::load::overload::is_overloaded;
use crate::load::quantiles::{Grouping, PARTS, quantiles};
use crate::load::visits::{Distribution, Visit, Visits};
use crate::load::{BUSY_FRACTION, scalings, unless_hidden};
use crate::spending;
use crate::table::sound_plan;
use lab_model::{
    ErrorKind, LoadCount, Metric, Plan, RESPONSE_TIMES, Run, SERVICE_TIMES, SubjectPoint,
};
use std::collections::BTreeMap;
use std::iter::zip;

static SEND_DELAY_TIMES: [Metric; 7] = [
    Metric::SEND_DELAY_P50,
    Metric::SEND_DELAY_P75,
    Metric::SEND_DELAY_P90,
    Metric::SEND_DELAY_P99,
    Metric::SEND_DELAY_P999,
    Metric::SEND_DELAY_P9999,
    Metric::SEND_DELAY_MAX,
];

/// Returns the results of a load.
pub(crate) fn results(run: &Run, traits: &LoadTraits) -> Results {
    let Some(plan) = sound_plan(run) else {
        return Results::default();
    };
    let visits = Visits::new(run, plan);
    let ages = ages(run, plan, &visits);
    let basis = Basis {
        run,
        plan,
        exclusions: exclusions(run, plan, &visits, &ages),
        alpha: spending::alpha(run, plan),
    };
    let mut results = Results::default();
    let mut levels = Levels {
        alpha: plan.measure.alpha,
        seed: plan.seed,
        cells: Vec::new(),
    };
    let depending = add_values(&basis, &visits, &mut levels, &mut results);
    let limited = results.saturated.iter().copied();
    let limited = limited.filter(|_| traits.needs_spare_generator).collect();
    let mut family = ComparisonFamily::new(&basis);
    let overloaded = levels.cells.iter();
    let overloaded = overloaded.filter(|cell| cell.key.metric == Metric::BACKLOG);
    let overloaded = overloaded.filter_map(|cell| Some((cell.key.subject, cell.key.point?)));
    results.shifts = compare_at_points(&mut family, &visits, &overloaded.collect(), traits);
    (traits.add)(&mut family, &visits, &mut levels, &mut results);
    results.scalings = scalings(run, plan, &visits, &limited);
    results.biases = bias::of_load(run, plan);
    best::of_load(&mut family, &visits);
    let mut compared = family.judge();
    results.bests = compared.bests;
    for ranking in &mut compared.rankings {
        best::drop_uncertain_orders(ranking, &results.bests, &limited);
    }
    compared
        .pairs
        .retain(|pair| is_the_servers(plan, &limited, pair));
    for pair in &mut compared.pairs {
        let comparison = &mut pair.comparison;
        let is_hidden = || is_the_generators(plan, &levels, &comparison.key);
        comparison.verdict = comparison.verdict.map(|v| unless_hidden(v, is_hidden));
    }
    results.overall = compared.overall;
    results.rankings = compared.rankings;
    results.cells = levels.cells;
    results.controls = compared.controls;
    results.ages = ages;
    results.warnings = warnings::of_load(&WarningBasis {
        basis: &basis,
        cells: &results.cells,
        controls: &results.controls,
        pairs: &compared.pairs,
        depending: &depending,
        errors: &results.errors,
        ages: &results.ages,
    });
    let pairs = compared.pairs.into_iter();
    results.comparisons = pairs.map(|pair| pair.comparison).collect();
    results.exclusions = basis.exclusions;
    results
}

/// Adds the values of every server at every point. Returns the points at which blocks depend on
/// each other.
fn add_values(
    basis: &Basis,
    visits: &Visits,
    levels: &mut Levels,
    results: &mut Results,
) -> Vec<Depending> {
    let mut depending = Vec::new();
    for point in basis.plan.points.ids() {
        for subject in basis.plan.subjects.ids() {
            let blocks: Vec<&Visit> = visits.by_replicate(subject, point).flatten().collect();
            if !blocks.is_empty() {
                let found = add_cell_values(basis.plan, (subject, point), &blocks, levels, results);
                depending.push(found);
            }
        }
    }
    depending
}

/// Adds the values of a server at a point.
///
/// Rates and costs are medians over blocks. Quantiles are computed from all requests.
fn add_cell_values(
    plan: &Plan,
    (subject, point): SubjectPoint,
    blocks: &[&Visit],
    levels: &mut Levels,
    results: &mut Results,
) -> Depending {
    let first = levels.cells.len();
    let cell = (subject, point);
    let [_, pace] = rates().map(|figure| add(levels, cell, blocks, figure));
    for (count, metric) in LoadCount::rates() {
        let per_second = |visit: &Visit| Some(visit.per_second(visit.counts[count]));
        add_blocks(
            levels,
            cell,
            blocks,
            (&metric, BlockSummary::Merged),
            per_second,
        );
    }
    let overloaded = is_overloaded(plan, point, blocks);
    if overloaded {
        let backlog = (
            Metric::BACKLOG,
            BlockSummary::Max,
            backlog as fn(&Visit) -> _,
        );
        add(levels, cell, blocks, backlog);
    }
    let [median, .., p99, _, _] = times(plan, cell, blocks, levels, overloaded);
    for figure in costs() {
        add(levels, cell, blocks, figure);
    }
    for (count, metric) in LoadCount::sums() {
        let sum = |visit: &Visit| Some(visit.counts[count] as f64);
        add_blocks(levels, cell, blocks, (&metric, BlockSummary::Sum), sum);
    }
    let drain = |visit: &Visit| Some(visit.drain_ns as f64);
    add_blocks(
        levels,
        cell,
        blocks,
        (&Metric::DRAIN, BlockSummary::Max),
        drain,
    );
    let of = |metric: &Metric| {
        let mut cells = levels.cells[first..].iter();
        let cell = cells.find(|cell| cell.key.metric == *metric);
        cell.map_or(0.0, |cell| cell.value.value())
    };
    if of(&Metric::GENERATOR_BUSY) > BUSY_FRACTION {
        results.saturated.push((subject, point));
    }
    let errors = errors(blocks).into_iter();
    let errors = errors.map(|(kind, count)| (subject, point, kind, count));
    results.errors.extend(errors);
    let pace = pace.map(|m| (m.is_dependent(), m.unresolved));
    let tails = [median, p99].map(|g| Some((g?.is_dependent(), g?.unresolved)));
    let dependences = || [pace].into_iter().chain(tails).flatten();
    Depending {
        subject,
        point,
        dependent: dependences().any(|(dependent, _)| dependent),
        unresolved: dependences().any(|(_, unresolved)| unresolved),
    }
}

fn backlog(visit: &Visit) -> Option<f64> {
    Some(visit.backlog())
}

/// A metric, the method of summarizing its values over blocks, and the function that returns its
/// value in a visit.
type Figure = (Metric, BlockSummary, fn(&Visit) -> Option<f64>);

fn add(
    levels: &mut Levels,
    cell: SubjectPoint,
    blocks: &[&Visit],
    (metric, summary, value): Figure,
) -> Option<Merged> {
    add_blocks(levels, cell, blocks, (&metric, summary), value)
}

fn add_blocks(
    levels: &mut Levels,
    (subject, point): SubjectPoint,
    blocks: &[&Visit],
    (metric, summary): (&Metric, BlockSummary),
    value: impl Fn(&Visit) -> Option<f64>,
) -> Option<Merged> {
    let values: Blocks = blocks.iter().map(|visit| value(visit)).collect();
    levels.add(key(subject, point, metric), summary, &values)
}

fn rates() -> [Figure; 2] {
    [
        (Metric::OFFERED, BlockSummary::Merged, |v| {
            Some(v.offered_per_second())
        }),
        (Metric::THROUGHPUT, BlockSummary::Merged, |v| {
            Some(v.per_second(v.served))
        }),
    ]
}

fn costs() -> [Figure; 9] {
    [
        (Metric::SERVER_CPU, BlockSummary::Merged, |v| {
            v.server_ns_per_request()
        }),
        (Metric::SERVER_CORES, BlockSummary::Merged, |v| {
            Some(v.server_cpu_ns? as f64 / v.elapsed_ns)
        }),
        (Metric::SERVER_MEMORY, BlockSummary::Merged, |v| {
            Some(v.server_bytes? as f64)
        }),
        (Metric::GENERATOR_CPU, BlockSummary::Merged, |v| {
            v.per_request(v.cpu_ns as f64)
        }),
        (Metric::GENERATOR_BUSY, BlockSummary::Merged, |v| {
            Some(v.busiest_cpu_ns as f64 / v.elapsed_ns)
        }),
        (Metric::THREADS, BlockSummary::Max, |v| {
            Some(v.server_threads?.into())
        }),
        (Metric::REQUESTS, BlockSummary::Sum, |v| {
            Some(v.requests() as f64)
        }),
        (Metric::SERVED, BlockSummary::Sum, |v| Some(v.served as f64)),
        (Metric::ERRORS, BlockSummary::Sum, |v| {
            Some(v.failed() as f64)
        }),
    ]
}

/// Adds the quantiles of each distribution.
///
/// For an overloaded server, only the quantiles of the send delay are added.
///
/// Returns the dependence between blocks in the response time.
fn times(
    plan: &Plan,
    (subject, point): SubjectPoint,
    blocks: &[&Visit],
    levels: &mut Levels,
    overloaded: bool,
) -> [Option<Grouping>; PARTS.len()] {
    let of = |of: Distribution| quantiles(plan.measure.alpha, blocks, of);
    let (response, depending) = of(|s| &s.response);
    // In a closed loop, a request is due when it is sent.
    let same = blocks.iter().all(|block| block.waits_for_nothing());
    let service = if same {
        response.clone()
    } else {
        of(|s| &s.service).0
    };
    let (send_delay, _) = of(|s| &s.send_delay);
    let distributions = [
        (&response, Metric::RESPONSES, &RESPONSE_TIMES),
        (&service, Metric::SERVICES, &SERVICE_TIMES),
        (&send_delay, Metric::SEND_DELAYS, &SEND_DELAY_TIMES),
    ];
    for (distribution, counted, metrics) in distributions {
        let has_quantiles = !overloaded || counted == Metric::SEND_DELAYS;
        let mut add = |metric: &Metric, value: Option<Value>| {
            if let Some(value) = value {
                levels.push(key(subject, point, metric), blocks.len() as u32, value);
            }
        };
        let count = (distribution.count > 0).then_some(Value::Reading(distribution.count as f64));
        add(&counted, count);
        let parts = distribution.parts.map(|part| part.map(Value::Estimate));
        let max = distribution.max_ns.map(|ns| Value::Reading(ns as f64));
        for (metric, value) in zip(metrics, parts.into_iter().chain([max])) {
            add(metric, value.filter(|_| has_quantiles));
        }
    }
    depending
}

/// Returns the number of errors of each kind.
///
/// Kinds that did not occur are omitted.
fn errors(blocks: &[&Visit]) -> Vec<(ErrorKind, u64)> {
    let mut all = BTreeMap::new();
    for (kind, count) in blocks.iter().flat_map(|block| &block.errors) {
        let sum = all.entry(*kind).or_insert(0_u64);
        *sum = sum.saturating_add(*count);
    }
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

// SPDX-License-Identifier: Apache-2.0
//! The results of a run of batches on one target. The subjects are programs that implement the
//! subject protocol, or whole commands.

use super::compare::{Compared, ComparisonFamily, Question};
use super::completed::completed;
use super::judge::Basis;
use super::levels::{BlockSummary, Blocks, Levels, key};
use super::means::{MeanScope, effects, overall};
use super::observed::Observed;
use super::{Results, Value, best, bias, calls, footprints, pauses, spread};
use crate::exclusions::failed;
use crate::few_blocks::Scatter;
use crate::latencies::{self, Histogram};
use crate::sign_flip::Logs;
use crate::table::{BatchFigures, BatchTable, sound_plan};
use crate::{mean, scaling, spending, sweeps, usage};
use lab_model::{Cores, Direction, Metric, Plan, PointId, ProcessExit, Run, SubjectPoint};

static TYPICAL: [Metric; 1] = [Metric::WALL];
/// The mean wall time of an operation in a visit, including pauses, in ns.
const WALL: fn(&BatchFigures) -> f64 = |visit| visit.mean_wall_ns;
const CPU: fn(&BatchFigures) -> f64 = |visit| visit.mean_cpu_ns;

/// Returns the results of a run that has only one target. They contain the IDs that `run` uses.
///
/// `alpha_fraction` is the fraction of the whole run's alpha that the target may use.
pub(crate) fn results(run: &Run, alpha_fraction: f64) -> Results {
    let Some(plan) = sound_plan(run) else {
        return Results::default();
    };
    let basis = Basis::new(run, plan, alpha_fraction * spending::alpha(run, plan));
    let table = BatchTable::new(run, plan);
    let observed = calls::observed(run);
    let compared = compared(&basis, &table, &observed);
    let mut results = Results {
        bests: compared.bests,
        controls: compared.controls,
        overall: compared.overall,
        rankings: compared.rankings,
        spreads: compared.spreads,
        biases: bias::of_batches(run, plan),
        fits: sweeps::fits(run, plan, &table),
        effects: effects(&basis, plan.main_metric(), |subject, point| {
            match plan.case(point).rate {
                Some(_) => observed
                    .by_block(subject, Some(point), &Metric::P99)
                    .to_vec(),
                None => block_values(table.visits(subject, point), |v| Some(v.wall_ns)),
            }
        }),
        scalings: scaling::scalings(run, plan, &table),
        ..Results::default()
    };
    add_values(&basis, &table, &observed, &mut results);
    results
        .pausing
        .extend(pauses::most(&basis, &table, &results.cells));
    completed(basis, compared.pairs, results)
}

/// Returns the comparisons of a run.
///
/// Typical times and the subjects' own metrics have verdicts. For mean times, there are only
/// ratios.
pub(crate) fn compared(basis: &Basis, table: &BatchTable, observed: &Observed) -> Compared {
    family(basis, table, observed).judge()
}

/// Collects the comparisons of a run before they are judged.
pub(crate) fn family<'b, 'r>(
    basis: &'b Basis<'r>,
    table: &BatchTable,
    observed: &Observed,
) -> ComparisonFamily<'b, 'r> {
    let mut family = ComparisonFamily::new(basis);
    let baseline = basis.plan.baseline;
    for point in basis.plan.points.ids() {
        let case = basis.plan.case(point);
        let metrics = case.metrics.iter().chain(calls::judged(case));
        let metrics = metrics.filter(|metric| metric.better != Direction::Neither);
        // At a fixed rate, the rate determines the time per operation.
        let typical = TYPICAL.iter().filter(|_| case.rate.is_none());
        let judged: Vec<Metric> = typical.chain(metrics).cloned().collect();
        let question = Question {
            point: Some(point),
            judged: &judged,
            ranked: std::slice::from_ref(basis.plan.main_metric()),
        };
        family.compare_at(&question, |subject, metric| {
            if *metric == Metric::WALL {
                Logs {
                    by_block: table.log_ratios(subject, baseline, point),
                    error: table.error_of_turns(subject, baseline, point),
                    scatter: Scatter::Subject(subject),
                }
            } else {
                let logs = observed.logs(basis.plan, subject, Some(point), metric);
                Logs::of_subject(subject, logs)
            }
        });
        for subject in basis.candidates().filter(|_| case.rate.is_none()) {
            for (metric, time) in [(Metric::MEAN_WALL, WALL), (Metric::MEAN_CPU, CPU)] {
                let [times, baseline_times] = table.paired_times(subject, baseline, point, time);
                let ratio =
                    mean::ratio_of_means(&times, &baseline_times, basis.plan.seed, basis.alpha);
                family.add_without_verdict(
                    (subject, point, &metric),
                    &Metric::WALL,
                    ratio,
                    times.len(),
                );
            }
        }
    }
    overall(
        &mut family,
        &one_at_a_time(basis.plan),
        |subject, point| match basis.plan.case(point).rate {
            Some(_) => observed.logs(basis.plan, subject, Some(point), &Metric::P99),
            None => table.log_ratios(subject, baseline, point),
        },
    );
    footprints::rank_programs(&mut family);
    let wall = |subject, point| block_values(table.visits(subject, point), |v| Some(v.wall_ns));
    spread::add_spreads(&mut family, wall);
    bests(&mut family, table);
    family
}

/// Adds the peak rate of each subject over each sweep with concurrent operations.
fn bests(family: &mut ComparisonFamily, table: &BatchTable) {
    let plan = family.basis.plan;
    let rate =
        |subject, point| block_values(table.visits(subject, point), |v| Some(1e9 / v.wall_ns));
    let at_once = sweeps::sweeps(plan).into_iter();
    let at_once = at_once.filter(|sweep| plan.cases[sweep.case].cores == Cores::All);
    at_once.for_each(|sweep| best::add_bests(family, (&sweep, &Metric::WALL), rate));
}

/// Returns the points without concurrent operations.
///
/// At all other points, the measured time is not the time of a single operation.
fn one_at_a_time(plan: &Plan) -> MeanScope {
    let one = |&point: &PointId| plan.case(point).cores == Cores::One;
    MeanScope {
        metric: plan.main_metric().clone(),
        case: None,
        keep_alive: None,
        points: plan.points.ids().filter(one).collect(),
        with_control: false,
    }
}

fn block_values<'t>(
    visits: impl Iterator<Item = Option<&'t BatchFigures>>,
    value: impl Fn(&BatchFigures) -> Option<f64>,
) -> Blocks {
    visits.map(|visit| visit.and_then(&value)).collect()
}

/// Adds the values of every subject at every point at which it did not fail, and over the whole
/// run.
fn add_values(basis: &Basis, table: &BatchTable, observed: &Observed, results: &mut Results) {
    let (run, plan) = (basis.run, basis.plan);
    let mut levels = Levels {
        alpha: plan.measure.alpha,
        seed: plan.seed,
        cells: Vec::new(),
    };
    let latencies: Vec<_> = run.complete_blocks().map(latencies::histograms).collect();
    let exits = usage::exits_by_cell(run);
    for point in plan.points.ids() {
        for subject in plan.subjects.ids().filter(|&s| !failed(run, s, point)) {
            let cell = (subject, point);
            times(basis, table, cell, &mut levels, results);
            for metric in &plan.case(point).metrics {
                let blocks = observed.by_block(subject, Some(point), metric);
                levels.add(key(subject, point, metric), calls::summary(metric), blocks);
            }
            let counted = latencies.iter().map(|block| block.get(&cell));
            add_concurrent_latencies(cell, &counted.collect::<Vec<_>>(), &mut levels);
            calls::add_latencies(basis, &latencies, cell, &mut levels);
            if let Some(blocks) = exits.get(&cell) {
                add_resource_usage(cell, blocks, &mut levels);
                let statuses = usage::statuses(blocks);
                results.statuses.push((subject, point, statuses));
            }
        }
    }
    for subject in plan.subjects.ids() {
        calls::add(subject, plan, &mut levels);
    }
    footprints::of_programs(run, plan, &mut levels);
    results.cells = levels.cells;
}

/// Adds the time of an operation, and the fraction of this time that the server uses.
fn times(
    basis: &Basis,
    table: &BatchTable,
    cell: SubjectPoint,
    levels: &mut Levels,
    results: &mut Results,
) {
    let (subject, point) = cell;
    let visits: Vec<Option<&BatchFigures>> = table.visits(subject, point).collect();
    if !visits.iter().any(Option::is_some) {
        return;
    }
    let mut add = |metric: &Metric, summary, value: &dyn Fn(&BatchFigures) -> f64| {
        let blocks = block_values(visits.iter().copied(), |visit| Some(value(visit)));
        levels.add(key(subject, point, metric), summary, &blocks);
    };
    add(&Metric::WALL, BlockSummary::Median, &|visit| visit.wall_ns);
    add(&Metric::CPU, BlockSummary::Median, &|visit| visit.cpu_ns);
    add(&Metric::MEAN_WALL, BlockSummary::Mean, &WALL);
    add(&Metric::MEAN_CPU, BlockSummary::Mean, &CPU);
    let cost = pauses::cost(&visits, basis.plan.seed, levels.alpha);
    if let Some((blocks, cost)) = cost {
        levels.push(
            key(subject, point, &Metric::PAUSES),
            blocks,
            Value::Estimate(cost),
        );
    }
    let mut pilots = basis.run.pilots.iter();
    let pilot = pilots.find(|p| (p.subject, p.point) == cell);
    if let Some(pilot) = pilot {
        // The cold time is from the pilot, so it has 0 blocks. A pilot without a fresh process has
        // no cold time.
        if pilot.cold_ns > 0 {
            let cold = Value::Reading(pilot.cold_ns as f64);
            levels.push(key(subject, point, &Metric::COLD), 0, cold);
        }
        results.warm_ups.push((subject, point, pilot.class));
    }
    let plan = basis.plan;
    // Without a target and a fixture, a subject waits for nothing.
    let target = plan.targets.get(plan.points[point].target);
    let is_alone = target.is_none() && !plan.has_visiting_fixture(point);
    if is_alone || plan.case(point).cores != Cores::One {
        return;
    }
    let service = target.is_some_and(|target| target.kind.is_service());
    let mut measured = visits.iter().flatten();
    // If the server's CPU time is unknown, so is the rest of the wall time.
    if service && !measured.all(|visit| visit.mean_server_ns.is_some()) {
        return;
    }
    let mut add = |metric: &Metric, value: &dyn Fn(&BatchFigures) -> f64| {
        let blocks = block_values(visits.iter().copied(), |visit| Some(value(visit)));
        levels.add(key(subject, point, metric), BlockSummary::Mean, &blocks);
    };
    if service {
        add(&Metric::SERVER_CPU, &|v| v.mean_server_ns.unwrap_or(0.0));
    }
    add(&Metric::WAITING, &|visit| visit.idle_ns().max(0.0));
    add(&Metric::OVERLAP, &|visit| (-visit.idle_ns()).max(0.0));
}

/// Adds the latencies of concurrent operations, unless there are too few for a median.
fn add_concurrent_latencies(
    (subject, point): SubjectPoint,
    blocks: &[Option<&Histogram>],
    levels: &mut Levels,
) {
    let of = |value: &dyn Fn(&Histogram) -> Option<f64>| -> Blocks {
        blocks.iter().map(|block| value((*block)?)).collect()
    };
    let medians = of(&|block| block.quantile(5000));
    if !medians.iter().any(Option::is_some) {
        return;
    }
    let mut add = |metric: &Metric, summary, blocks: &Blocks| {
        levels.add(key(subject, point, metric), summary, blocks);
    };
    let operations = of(&|block| Some(block.total() as f64));
    add(&Metric::OPERATIONS, BlockSummary::Sum, &operations);
    add(&Metric::P50, BlockSummary::Median, &medians);
    for (metric, per_10_000) in [
        (Metric::P90, 9000),
        (Metric::P99, 9900),
        (Metric::P999, 9990),
        (Metric::MAX, 10_000),
    ] {
        let quantiles = of(&|block| block.quantile(per_10_000));
        add(&metric, BlockSummary::Median, &quantiles);
    }
}

/// A metric, and the function that returns its value from the operating system's statistics on a
/// process.
type Used = (Metric, fn(&ProcessExit) -> u64);

/// Adds the resource usage of whole commands. Each value is the median over blocks of the mean over
/// a block's processes.
fn add_resource_usage(
    (subject, point): SubjectPoint,
    blocks: &[Vec<&ProcessExit>],
    levels: &mut Levels,
) {
    let all: [Used; 7] = [
        (Metric::USER_CPU, |e| e.user_ns),
        (Metric::SYSTEM_CPU, |e| e.sys_ns),
        (Metric::PEAK_MEMORY, |e| e.peak_rss_bytes),
        (Metric::MINOR_FAULTS, |e| e.minor_faults),
        (Metric::MAJOR_FAULTS, |e| e.major_faults),
        (Metric::VOLUNTARY_SWITCHES, |e| e.voluntary_switches),
        (Metric::INVOLUNTARY_SWITCHES, |e| e.involuntary_switches),
    ];
    for (metric, value) in all {
        let means: Blocks = blocks
            .iter()
            .map(|exits| Some(usage::mean(exits, value)))
            .collect();
        levels.add(key(subject, point, &metric), BlockSummary::Median, &means);
    }
}

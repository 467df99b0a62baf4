// SPDX-License-Identifier: Apache-2.0
//! An experiment: batches of operations by multiple subjects on one or more targets.

mod calls;
mod occurrences;
mod own_sql;
mod shared;
mod side_by_side;
mod split;
mod surrounded;
mod targets;
mod timeline;

use super::work_kind::{DocumentParts, WorkKind};
use crate::parts::kind_traits::{KindTraits, Words};
use crate::parts::measured::{SubjectScope, over_run};
use crate::parts::respect::ComparedMetric;
use crate::parts::scope::{PointGroup, Scope};
use crate::parts::{charts, costs, findings, hosts, method, scaling, sentence, table};
use crate::wording;
use lab_document::say::{self, count};
use lab_document::{Finding, Section, Table, Tone};
use lab_model::{Block, Cores, Interval, Metric, PointId, Unit};
use lab_stats::results::Over;
use std::collections::{BTreeMap, BTreeSet};

/// The metrics of a case.
static METRICS: [Metric; 5] = [
    Metric::WALL,
    Metric::CPU,
    Metric::MEAN_WALL,
    Metric::MEAN_CPU,
    Metric::PAUSES,
];

/// Latencies of cases that run multiple operations concurrently. Cases with calls that may fail
/// also have the latency that a subject adds to the baseline's latency.
static LATENCIES: [Metric; 8] = [
    Metric::P50,
    Metric::ADDED_P50,
    Metric::P90,
    Metric::P99,
    Metric::ADDED_P99,
    Metric::P999,
    Metric::ADDED_P999,
    Metric::MAX,
];

/// A subject's resources over the whole run, and its startup time.
static HELD: [Metric; 7] = [
    Metric::STARTUP,
    Metric::THREADS,
    Metric::MEMORY,
    Metric::PEAK_MEMORY,
    Metric::SERVER_MEMORY,
    Metric::USER_CPU,
    Metric::SYSTEM_CPU,
];

/// Programs that implement the subject protocol and run batches.
pub struct Batches;

static TRAITS: KindTraits = KindTraits {
    words: Words {
        subject: "subject",
        subjects: "subjects",
        operation: "operation",
        an_operation: "an operation",
    },
    is_concurrent: false,
    limits_warm_up: true,
    takes_core_each: true,
    compares_answer: true,
    unit_is_swept: false,
    compared_on_hosts: "Typical time",
};

impl WorkKind for Batches {
    fn traits(&self) -> &'static KindTraits {
        &TRAITS
    }

    fn parts(&self, scopes: &[Scope]) -> DocumentParts {
        parts(scopes)
    }

    fn compared_metrics(&self, scope: &Scope) -> Vec<ComparedMetric> {
        vec![ComparedMetric::everywhere(scope, Metric::WALL)]
    }
}

/// Builds the parts of the document for a run of batches.
fn parts(scopes: &[Scope]) -> DocumentParts {
    let first = scopes[0];
    let mut answer = answer(scopes);
    if !first.has_targets() {
        answer.findings.extend(memory(&first));
    }
    let mut sections: Vec<Section> = scopes.iter().flat_map(target_sections).collect();
    sections.push(own_sql::section(scopes));
    sections.push(resources(scopes));
    sections.push(hosts::section(&first));
    DocumentParts {
        sections,
        method: method(&first),
        ..answer
    }
}

/// Builds the parts that answer the question, without sections.
fn answer(scopes: &[Scope]) -> DocumentParts {
    let first = scopes[0];
    let answered = |chart, findings| DocumentParts {
        chart,
        findings,
        ..DocumentParts::default()
    };
    if calls::is_present(&first) {
        return answered(calls::chart(scopes), calls::findings(scopes));
    }
    let findings = surrounded::findings(&first);
    if !findings.is_empty() {
        return answered(surrounded::chart(&first), findings);
    }
    if shared::is_present(&first)
        && let Some(table) = shared::table(&first)
    {
        let losses = shared::findings(&first, |metric| side_by_side::loss(&first, metric));
        let costs = side_by_side::costs(&first).map(Finding::plain);
        return DocumentParts {
            table: Some(table),
            ..answered(
                side_by_side::answer(&first),
                losses.into_iter().chain(costs).collect(),
            )
        };
    }
    if let Some(chart) = side_by_side::answer(&first) {
        return answered(Some(chart), side_by_side::findings(&first));
    }
    let metric = first.plan.main_metric();
    let findings = scopes.iter().flat_map(target_findings).collect();
    let ratios = targets::ratios(scopes, metric);
    let table = targets::table(&ratios, metric);
    DocumentParts {
        headline: targets::headline(&ratios, metric).unwrap_or_default(),
        table: table.or_else(|| single_point(&first)),
        ..answered(charts::answer(scopes, metric), findings)
    }
}

/// Builds the table of times and ratios of a run with a single point. Over multiple points, there
/// is no single time for a ratio.
fn single_point(scope: &Scope) -> Option<Table> {
    let [point] = scope.points()[..] else {
        return None;
    };
    let compared = scope.compared();
    if scope.has_targets() || compared.len() < 2 {
        return None;
    }
    let answer = scope.plan.main_metric().clone();
    let waits = [Metric::P50, Metric::MAX];
    let waits = waits.into_iter().filter(|_| answer == Metric::P99);
    let metrics: Vec<Metric> = std::iter::once(answer.clone()).chain(waits).collect();
    let title = wording::at_point(&answer, &scope.short(point));
    let table = table::figures(
        scope,
        &title,
        &scope.subject_scopes(&compared, &[point]),
        &metrics,
    );
    (!table.rows.is_empty()).then_some(table)
}

/// Describes the fastest subject, the points at which another one leads, and the highest
/// throughput.
///
/// With multiple targets, each target has one finding of at most three sentences.
fn target_findings(scope: &Scope) -> Vec<Finding> {
    let points = findings::points(scope);
    let group = scope.groups(Cores::All).into_iter().next();
    let alone = scope.others().is_empty();
    let sweeps = if alone {
        scope.groups(Cores::One)
    } else {
        Vec::new()
    };
    let sweeps = sweeps.iter().filter_map(|group| extremes(scope, group));
    let leader = findings::overall(scope, scope.plan.main_metric());
    let others = [
        findings::exceptions(
            scope,
            scope.plan.main_metric(),
            Over::all(&scope.points()),
            &points,
        ),
        group.and_then(|group| scaling::highest_rate(scope, &group.points, "")),
        sentence::pauses(scope),
    ];
    let others = sweeps.chain(others.into_iter().flatten());
    let all = leader.into_iter().chain(others.map(Finding::plain));
    if !scope.has_targets() {
        return all.collect();
    }
    let text = say::paragraph(all.take(2).map(|finding| finding.text));
    text.map(|text| Finding::new(scope.title(), text, Tone::Plain))
        .into_iter()
        .collect()
}

/// Describes the points of a sweep at which a subject that is measured alone is fastest and slowest.
fn extremes(scope: &Scope, group: &PointGroup) -> Option<String> {
    let sweep = scope.case(group).sweep.as_deref()?;
    let time = |&p: &PointId| Some((p, scope.interval((scope.base(), Some(p)), &Metric::WALL)?));
    let mut times: Vec<_> = group.points.iter().filter_map(time).collect();
    times.retain(|(_, time)| say::is_bounded(time));
    times.sort_by(|(_, a), (_, b)| a.estimate.total_cmp(&b.estimate));
    let [fastest, .., slowest] = times.as_slice() else {
        return None;
    };
    let at_point = |(point, time): &(PointId, &Interval)| {
        let time = say::figure(time, &Unit::Nanoseconds, scope.level());
        format!("at {sweep}={}, {time}", scope.swept(*point))
    };
    let label = scope.group_label(group);
    let prefix = match label.as_str() {
        "" => String::new(),
        label => format!("{label}: "),
    };
    let name = scope.base_name();
    Some(if fastest.1.high < slowest.1.low {
        let (fastest, slowest) = (at_point(fastest), at_point(slowest));
        format!("{prefix}{name} is fastest {fastest}, and slowest {slowest}.")
    } else {
        format!("{prefix}{name}: no value of {sweep} is known to take longer than another.")
    })
}

/// Describes the subjects with the lowest and the highest memory use. Returns `None` if no ranking
/// distinguishes the subjects.
fn memory(scope: &Scope) -> Option<Finding> {
    let ranking = scope.ranking(Over::At(None), &Metric::MEMORY)?;
    let compared = scope.compared();
    let is_compared = |s| compared.contains(&s);
    let min = ranking.first(is_compared);
    let held = |subject| {
        let held = scope.interval((subject, None), &Metric::MEMORY)?;
        Some(say::figure(held, &Unit::Bytes, scope.level()))
    };
    let last = ranking.last(is_compared)?;
    let max = format!("{} uses the most, {}", scope.name(last), held(last)?);
    Some(Finding::plain(match min.as_slice() {
        &[only] => format!(
            "{} uses the least memory, {}; {max}.",
            scope.name(only),
            held(only)?
        ),
        many => {
            let names = sentence::names(scope, many);
            format!("{names} use the least memory, statistically tied, and {max}.")
        }
    }))
}

/// Builds the sections on ratios, the split of the time, scaling, costs and each case. With multiple targets, each
/// target has its own section.
fn target_sections(scope: &Scope) -> Vec<Section> {
    let all = [
        calls::section(scope),
        every_point(scope),
        timeline::section(scope),
        split::section(scope),
        many_at_once(scope),
        costs::section(scope),
        cases(scope),
    ];
    if !scope.has_targets() {
        return all.into();
    }
    let mut target = Section::new(scope.title());
    all.into_iter().for_each(|section| target.section(section));
    vec![target]
}

fn every_point(scope: &Scope) -> Section {
    let mut section = Section::new("Every point");
    let points = scope.single_points();
    let answer = scope.plan.main_metric();
    section.chart(charts::every_ratio(scope, &points, answer));
    section.table(table::ratios(scope, &points, answer));
    let (title, caption) = if *answer == Metric::WALL {
        (
            format!("Time of {}", scope.words.an_operation),
            "Typical times: medians over blocks of the interquartile mean.",
        )
    } else {
        (
            format!(
                "{} of {}",
                say::capital(&answer.title),
                scope.words.an_operation
            ),
            "From the time when an operation was due to its end. Medians over blocks.",
        )
    };
    section.table(table::values(scope, &points, answer, &title).with_caption(caption));
    section.table(table::overall(scope, answer, None));
    section
}

fn many_at_once(scope: &Scope) -> Section {
    let mut section = Section::new("Concurrent operations");
    for cases in side_by_side::sections(scope) {
        section.section(cases);
    }
    for group in scope.groups(Cores::All) {
        let mut many = Section::new(scope.group_title(&group, "concurrent operations"));
        many.text(scope.case(&group).work.as_str());
        scaling::add(&mut many, scope, &group);
        let subject_scopes = subject_scopes(scope, &group);
        let counted = table::figures(scope, "", &subject_scopes, &scope.case(&group).metrics);
        many.table(counted.with_caption("Counts reported by the subjects."));
        many.section(latencies(scope, &subject_scopes));
        section.section(many);
    }
    section
}

fn latencies(scope: &Scope, subject_scopes: &[SubjectScope]) -> Section {
    let mut section = Section::folded("Latency of an operation");
    let table = table::figures(scope, "", subject_scopes, &LATENCIES);
    let quantiles = "Half of a block's operations take at most p50, 99 % at most p99. Values are up to 1/32 too high \
                     and never too low.";
    let is_added =
        |&subject_scope: &SubjectScope| scope.cell(subject_scope, &Metric::ADDED_P50).is_some();
    let added = if subject_scopes.iter().any(is_added) {
        format!(
            " Added latency is the difference from the latency of {}, block by block.",
            scope.base_name()
        )
    } else {
        String::new()
    };
    section.table(table.with_caption(&format!("{quantiles}{added}")));
    section
}

fn subject_scopes(scope: &Scope, group: &PointGroup) -> Vec<SubjectScope> {
    scope.subject_scopes(&scope.subjects(), &group.points)
}

/// Builds the section with all metrics, case by case.
fn cases(scope: &Scope) -> Section {
    let mut section = Section::folded("Case by case");
    for group in scope.groups(Cores::One) {
        let mut case = Section::new(scope.group_label(&group));
        case.text(scope.case(&group).work.as_str());
        case.chart(match group.points.len() {
            1 => {
                let id = format!("cpu-{}", scope.group_label(&group));
                charts::bars_at(scope, &id, &group.points, &Metric::CPU)
            }
            _ => charts::over_sweep(scope, &group, scope.plan.main_metric()),
        });
        // An experiment can add its own metrics to a case.
        let of_case = scope.case(&group);
        let times = match of_case.rate {
            Some(_) => &METRICS[..0],
            None => &METRICS[..],
        };
        let latencies = if of_case.latencies {
            &LATENCIES[..]
        } else {
            &[]
        };
        let metrics = [times, latencies, &of_case.metrics].concat();
        case.table(
            table::figures(scope, "", &subject_scopes(scope, &group), &metrics)
                .with_caption("A row for each subject and point."),
        );
        section.section(case);
    }
    section
}

/// Builds the section on the subjects' resources and startup times.
fn resources(scopes: &[Scope]) -> Section {
    let mut section = Section::new("Resources");
    for scope in scopes {
        let subject_scopes = over_run(scope.subjects());
        let table = table::figures(scope, scope.title(), &subject_scopes, &HELD);
        section.table(table.with_caption(
            "Medians over blocks for each subject's process. Startup is the time from the start of the process to its \
             `hello` line, and threads are the maximum number. CPU times are those of one process over a block.",
        ));
    }
    for metric in [Metric::MEMORY, Metric::STARTUP] {
        section.chart(charts::bars_over_run(scopes, &metric));
    }
    section
}

fn method(scope: &Scope) -> Vec<String> {
    let measure = &scope.plan.measure;
    let turns = format!(
        "In each of {}, fresh processes of all subjects took turns of about {} on the same core: {} for each point. \
         A process was suspended while it was idle.",
        count(scope.results.blocks as usize, "block"),
        lengths(scope),
        pairs(scope),
    );
    let mut cases = scope.plan.cases.iter();
    let at_once = cases.find(|case| case.cores == Cores::All).map(|case| {
        format!(
            "Turns of {}, which runs multiple operations concurrently, took about {} and used all cores.",
            case.name,
            say::time(case.turn_ns.unwrap_or(measure.turn_ns)),
        )
    });
    let times = "Times are typical times: the median over blocks of the interquartile mean. Mean times include every \
                 pause; the cost of pauses is the difference between mean and typical times.";
    let turns = std::iter::once(turns).chain(at_once);
    turns
        .chain([times.to_string(), hosts::measured_on(scope)])
        .collect()
}

/// Formats the durations of turns at single-core points as a range, from the shortest to the longest.
fn lengths(scope: &Scope) -> String {
    let points = scope
        .plan
        .points
        .ids()
        .filter(|&p| scope.plan.case(p).cores == Cores::One);
    let lengths = points.map(|point| scope.plan.turn_ns(point));
    say::min_to_max(lengths, say::time).unwrap_or_else(|| say::time(scope.plan.measure.turn_ns))
}

/// Formats the number of mirrored pairs of passes per block: the requested number, or the number
/// that fits into the block's time.
fn pairs(scope: &Scope) -> String {
    let blocks = scope.run.complete_blocks();
    let pairs_of_points = |block: &Block| {
        let mut passes: BTreeMap<PointId, u32> = BTreeMap::new();
        for sample in &block.samples {
            let max = passes.entry(sample.point).or_default();
            *max = (*max).max(sample.pass + 1);
        }
        passes.into_values().map(|n| n.div_ceil(2) as usize)
    };
    let pairs: BTreeSet<usize> = blocks.flat_map(pairs_of_points).collect();
    method::mirrored_pairs(scope, &pairs) + " of passes"
}

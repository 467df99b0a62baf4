// SPDX-License-Identifier: Apache-2.0
//! The first screen of a load: the rate and the results of the requests, response times, statuses,
//! and the cause that limited the rate.

use super::{COMPARED, is_open};
use crate::parts::measured::SubjectScope;
use crate::parts::scope::Scope;
use crate::parts::{agents, cell, findings, scaling, table};
use crate::wording::load::{self as wording, Bottleneck, Outcome, Served};
use lab_document::say;
use lab_document::{Column, Finding, Table, Tone};
use lab_model::{LoadSpec, Metric, PointId, RESPONSE_TIMES, SubjectId, Unit, add_statuses};
use lab_stats::results::{WarningFact, WarningKind};

/// The percentiles and the maximum of the response time.
static RESPONSE: [Metric; 5] = [
    Metric::P50,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::MAX,
];
/// The percentiles and the maximum of the service time, which the table shows for an open loop.
static SERVICE: [Metric; 5] = [
    Metric::SERVICE_P50,
    Metric::SERVICE_P90,
    Metric::SERVICE_P99,
    Metric::SERVICE_P999,
    Metric::SERVICE_MAX,
];

/// The metrics in the table of multiple servers or points.
static SIDE_BY_SIDE: [Metric; 7] = [
    Metric::OFFERED,
    Metric::THROUGHPUT,
    Metric::P50,
    Metric::P99,
    Metric::MAX,
    Metric::ERRORS,
    Metric::SERVER_CPU,
];

/// The minimum time until TCP retransmits a segment, in ns (`TCP_RTO_MIN` in Linux).
const MIN_RETRANSMISSION_NS: f64 = 2e8;

/// The statuses of redirects (RFC 9110, section 15.4). Clients do not follow 300 and 304.
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// The maximum number of rows of the table. Larger runs show a chart instead.
const MAX_ROWS: usize = 24;

/// Returns the answer: the rate of the only server, or the comparison of multiple servers.
///
/// The answer is empty if multiple servers have no comparison, because each server then has its own
/// finding.
pub fn headline(scope: &Scope, load: &LoadSpec) -> String {
    match scope.compared().as_slice() {
        &[only] => served(scope, load, only, None),
        _ => comparison_finding(scope, load).map_or(String::new(), |finding| finding.text),
    }
}

/// Describes a server's rate at its best point and the outcome of its requests.
fn served(scope: &Scope, load: &LoadSpec, subject: SubjectId, name: Option<&str>) -> String {
    let points = scope.points();
    let Some((point, rate)) = scaling::peak(scope, subject, &points) else {
        let outcome = outcome(scope, subject, &points);
        let failed: u64 = outcome.failed.iter().map(|(_, n)| n).sum();
        return match failed < outcome.requests {
            true => wording::rate_unknown(name, &outcome),
            false => wording::none_served(name, &outcome),
        };
    };
    let subject_scope = (subject, Some(point));
    let offered = scope
        .quantity(subject_scope, &Metric::OFFERED)
        .filter(|_| is_open(load));
    wording::served(&Served {
        server: name,
        rate: say::figure(&rate, &Metric::THROUGHPUT.unit, scope.level()),
        offered: offered.map(|rate| say::reading(rate.value, &rate.unit)),
        connections: agents::connections(scope, point),
        points: points.len(),
        overloaded: scope.cell(subject_scope, &Metric::BACKLOG).is_some(),
        outcome: outcome(scope, subject, &[point]),
    })
}

/// Sums the outcome of the requests to a server over some points.
fn outcome(scope: &Scope, subject: SubjectId, points: &[PointId]) -> Outcome {
    let requests = points
        .iter()
        .filter_map(|&p| scope.quantity((subject, Some(p)), &Metric::REQUESTS));
    let failed = scope.results.errors.iter();
    let failed = failed.filter(|(s, p, _, n)| *s == subject && points.contains(p) && *n > 0);
    let failed = say::grouped(failed.map(|&(.., kind, n)| (kind, n)));
    Outcome {
        requests: requests.map(|q| q.value as u64).sum(),
        failed: failed
            .into_iter()
            .map(|(kind, counts)| (kind, counts.iter().sum()))
            .collect(),
    }
}

/// Builds the table of response times of one server at one point, or of the rates and times of all servers and points.
pub fn table(scope: &Scope, load: &LoadSpec) -> Option<Table> {
    let (subjects, points) = (scope.compared(), scope.points());
    let table = match (subjects.as_slice(), points.as_slice()) {
        (&[subject], &[point]) => percentiles(scope, load, (subject, Some(point))),
        _ if subjects.len() * points.len() > MAX_ROWS => return None,
        _ => {
            let metrics = if is_open(load) {
                &SIDE_BY_SIDE[..]
            } else {
                &SIDE_BY_SIDE[1..]
            };
            table::figures(
                scope,
                "",
                &scope.subject_scopes(&subjects, &points),
                metrics,
            )
            .with_caption(wording::rates_and_percentiles())
        }
    };
    (!table.rows.is_empty()).then_some(table)
}

fn percentiles(scope: &Scope, load: &LoadSpec, subject_scope: SubjectScope) -> Table {
    let heads = RESPONSE
        .iter()
        .map(|metric| Column::with_unit(metric.title.to_string(), Unit::Nanoseconds));
    let mut table = Table::new("", std::iter::once(Column::from("time")).chain(heads));
    if !scope.knows(subject_scope)
        || scaling::peak(scope, subject_scope.0, &scope.points()).is_none()
    {
        return table;
    }
    let cells = |metrics: &[Metric]| {
        let cells = metrics.iter().map(|m| cell::value(scope, subject_scope, m));
        cells.collect::<Vec<_>>()
    };
    table.named_row("response", cells(&RESPONSE));
    if is_open(load) {
        table.named_row("service", cells(&SERVICE));
    }
    table.caption = wording::times(is_open(load)).into();
    let tails = scope.results.warnings.iter();
    let tails = tails.filter_map(|warning| match &warning.fact {
        WarningFact::TailsUnknown {
            percentiles, time, ..
        } => Some((percentiles, time)),
        _ => None,
    });
    for (percentiles, time) in tails {
        let names = percentiles.iter().map(|tail| tail.percentile.as_str());
        let is_shown = |name: &&str| RESPONSE.iter().any(|metric| metric.title == *name);
        let names: Vec<&str> = names.filter(is_shown).collect();
        let note = (!names.is_empty()).then(|| wording::tails(&names, *time));
        table.notes.extend(note);
    }
    table.without_empty_columns()
}

/// Returns the findings below the headline, in this order: each server (only without a headline),
/// the responses by status, and the cause that limited the rate.
pub fn findings(scope: &Scope, load: &LoadSpec, headline: &str) -> Vec<Finding> {
    let subjects = match headline {
        "" => scope.compared(),
        _ => Vec::new(),
    };
    let finding = |s| Finding::plain(served(scope, load, s, Some(scope.name(s))));
    subjects
        .into_iter()
        .map(finding)
        .chain(statuses(scope))
        .chain(bottleneck(scope, load))
        .collect()
}

/// Compares servers by the first metric that has an interval. At a fixed rate, response times come
/// first.
fn comparison_finding(scope: &Scope, load: &LoadSpec) -> Option<Finding> {
    let is_known = |metric: &&Metric| {
        let mut all = scope.results.comparisons.iter();
        all.any(|c| c.key.metric == **metric && say::is_bounded(&c.ratio))
    };
    let mut metrics: Vec<&Metric> = COMPARED.iter().collect();
    if is_open(load) {
        metrics.sort_by_key(|metric| !RESPONSE_TIMES.contains(metric));
    }
    let (known, unknown): (Vec<&Metric>, Vec<&Metric>) = metrics.into_iter().partition(is_known);
    let mut metrics = known.into_iter().chain(unknown);
    metrics.find_map(|metric| findings::overall(scope, metric))
}

/// Lists the responses of all servers by status code.
fn statuses(scope: &Scope) -> Option<Finding> {
    let mut redirected = false;
    let each = scope.compared().into_iter().filter_map(|subject| {
        let mut counts = Vec::new();
        let slices = scope.run.complete_blocks().flat_map(|block| &block.slices);
        for slice in slices.filter(|slice| slice.subject == subject) {
            add_statuses(&mut counts, &slice.statuses);
        }
        redirected |= counts.iter().any(|(status, _)| REDIRECTS.contains(status));
        Some((scope.name(subject), wording::statuses(&counts)?))
    });
    let each: Vec<(&str, String)> = each.collect();
    let text = match each.as_slice() {
        [] => return None,
        [(_, only)] => only.clone(),
        many => {
            let many = many.iter().map(|(name, text)| format!("{name} {text}"));
            say::joined(many, "; ")?
        }
    };
    let hint = redirected.then(|| wording::redirects().to_owned());
    let text = say::paragraph(std::iter::once(format!("{text}.")).chain(hint))?;
    Some(Finding::new("Status", text, Tone::Plain))
}

/// Describes the cause that limited the rate at a single point. Returns `None` if a warning on the
/// first screen already names it.
fn bottleneck(scope: &Scope, load: &LoadSpec) -> Option<Finding> {
    let slices = scope.run.complete_blocks().flat_map(|block| &block.slices);
    let overflows: u64 = slices.filter_map(|slice| slice.queue_overflows).sum();
    let overflows = if is_delayed(scope) { overflows } else { 0 };
    let said = [
        WarningKind::Saturated,
        WarningKind::Overloaded,
        WarningKind::SharedCores,
    ];
    let bottleneck = if overflows > 0 {
        Bottleneck::AcceptQueue { overflows }
    } else if said.iter().any(|kind| scope.results.warned(*kind)) {
        return None;
    } else if is_open(load) {
        served_all(scope).then_some(Bottleneck::OfferedRate)?
    } else {
        let (&[subject], &[point]) = (&scope.compared()[..], &scope.points()[..]) else {
            return None;
        };
        connections(scope, subject, point)?
    };
    let label = wording::bottleneck_label(&bottleneck);
    Some(Finding::new(
        label,
        wording::bottleneck(&bottleneck),
        Tone::Plain,
    ))
}

/// Returns true if any request failed or waited long enough for a retransmission.
fn is_delayed(scope: &Scope) -> bool {
    let subject_scopes = scope
        .subject_scopes(&scope.compared(), &scope.points())
        .into_iter();
    let mut longest_retransmission =
        subject_scopes.filter_map(|subject_scope| scope.quantity(subject_scope, &Metric::MAX));
    has_failed(scope) || longest_retransmission.any(|max| max.value >= MIN_RETRANSMISSION_NS)
}

/// Returns true if every server served every request.
fn served_all(scope: &Scope) -> bool {
    !has_failed(scope) && scope.has(&Metric::THROUGHPUT)
}

/// Returns true if any request failed.
fn has_failed(scope: &Scope) -> bool {
    scope.results.errors.iter().any(|(.., n)| *n > 0)
}

fn connections(scope: &Scope, subject: SubjectId, point: PointId) -> Option<Bottleneck> {
    let subject_scope = (subject, Some(point));
    let busy = scope.quantity(subject_scope, &Metric::GENERATOR_BUSY)?;
    let cores = scope.quantity(subject_scope, &Metric::SERVER_CORES);
    let is_served = scope
        .quantity(subject_scope, &Metric::SERVED)
        .is_some_and(|n| n.value > 0.0);
    is_served.then(|| Bottleneck::Connections {
        connections: scope.plan.connections(point),
        generator_busy: busy.value,
        server_cores: cores.map(|used| used.value).zip(scope.run.host.cores()),
    })
}

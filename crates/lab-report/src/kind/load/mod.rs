// SPDX-License-Identifier: Apache-2.0
//! Load on servers that were already running.

use super::work_kind::{DocumentParts, WorkKind};
use crate::parts::errors::errors;
use crate::parts::kind_traits::{KindTraits, Words};
use crate::parts::measured::SubjectScope;
use crate::parts::respect::Respect;
use crate::parts::scope::Scope;
use crate::parts::{agents, charts, findings, load_sent, scaling, shift, slices, table};
use lab_document::format::quantity;
use lab_document::say::{self, count};
use lab_document::{Chart, Finding, Section, Table};
use lab_model::{
    Arrivals, Cores, LoadSpec, Metric, RESPONSE_TIMES, SERVICE_TIMES, SubjectId, Unit, add_statuses,
};
use lab_stats::results::Over;

/// The metrics by which servers are compared, the most important first.
static COMPARED: [Metric; 6] = [
    Metric::THROUGHPUT,
    Metric::P99,
    Metric::SERVER_CPU,
    Metric::P50,
    Metric::P90,
    Metric::P999,
];

/// Metrics of requests. The first applies only to an open loop.
static RATES: [Metric; 8] = [
    Metric::OFFERED,
    Metric::THROUGHPUT,
    Metric::REQUESTS,
    Metric::ERRORS,
    Metric::RECEIVED,
    Metric::CONNECTS,
    Metric::DRAIN,
    Metric::BACKLOG,
];

/// Metrics of costs.
static COSTS: [Metric; 7] = [
    Metric::SERVER_CPU,
    Metric::SERVER_CORES,
    Metric::SERVER_MEMORY,
    Metric::THREADS,
    Metric::GENERATOR_CPU,
    Metric::GENERATOR_BUSY,
    Metric::LAG_P99,
];

/// Returns true if requests are due at scheduled times.
fn is_open(load: &LoadSpec) -> bool {
    load.arrivals != Arrivals::Closed
}

static TRAITS: KindTraits = KindTraits {
    words: Words {
        subject: "server",
        subjects: "servers",
        operation: "request",
        an_operation: "a request",
    },
    is_concurrent: true,
    limits_warm_up: false,
    takes_core_each: false,
    compares_answer: false,
    unit_is_swept: false,
    compared_on_hosts: "Typical time",
};

impl WorkKind for LoadSpec {
    fn traits(&self) -> &'static KindTraits {
        &TRAITS
    }

    fn parts(&self, scopes: &[Scope]) -> DocumentParts {
        parts(&scopes[0], self)
    }

    fn respects(&self, scope: &Scope) -> Vec<Respect> {
        vec![Respect {
            counts_failed: true,
            ..Respect::everywhere(scope, Metric::THROUGHPUT)
        }]
    }
}

fn parts(scope: &Scope, load: &LoadSpec) -> DocumentParts {
    // Sort metrics without an interval last.
    let is_known = |metric: &&Metric| {
        let mut all = scope.results.comparisons.iter();
        all.any(|c| c.key.metric == **metric && say::is_bounded(&c.ratio))
    };
    let (known, unknown): (Vec<&Metric>, Vec<&Metric>) = COMPARED.iter().partition(is_known);
    let compared = known.into_iter().chain(unknown);
    let mut findings: Vec<Finding> = compared
        .filter_map(|metric| findings::overall(scope, metric))
        .collect();
    if findings.is_empty() {
        let subjects = scope.compared().into_iter();
        findings.extend(subjects.filter_map(|s| level(scope, load, s)));
    } else {
        findings.extend(other_statuses(scope));
    }
    let places = scope.places(&scope.subjects(), &scope.points());
    DocumentParts {
        chart: chart(scope),
        findings,
        sections: vec![
            load_sent::section(scope, load, None),
            times(scope, load, &places),
            requests(scope, load, &places),
            many(scope),
            Section::of_table("Costs", costs(scope, load, &places)),
            agents::section(scope),
        ],
        method: load_sent::method(scope, load, None),
        ..DocumentParts::default()
    }
}

/// Builds the main chart: ratios of all metrics; for a single server, its response times, or its throughput at each
/// point.
fn chart(scope: &Scope) -> Option<Chart> {
    match (scope.others().as_slice(), scope.points().as_slice()) {
        ([], &[point]) => {
            let subject = scope.base();
            charts::bars_of_metrics(
                scope,
                "Response time",
                (subject, Some(point)),
                &RESPONSE_TIMES,
            )
        }
        (_, &[point]) => {
            let over = Over::At(Some(point));
            let groups = COMPARED.iter();
            let groups = groups.map(|metric| (charts::ratio_axis(scope, metric), metric, over));
            let axis = format!("times and costs as a multiple of {}'s", scope.base_name());
            charts::standings(scope, "answer", axis, groups)
        }
        ([_], _) => charts::answer(std::slice::from_ref(scope), &Metric::THROUGHPUT),
        (_, many) => charts::bars_at(scope, "answer", many, &Metric::THROUGHPUT),
    }
}

/// Describes a server's highest throughput and its median and p99 response time at that point: `A serves 41,200/s over
/// 64 connections. Response times: …`
fn level(scope: &Scope, load: &LoadSpec, subject: SubjectId) -> Option<Finding> {
    let points = scope.points();
    let name = scope.name(subject);
    let Some((point, rate)) = scaling::peak(scope, subject, &points) else {
        let is_measured = points.iter().any(|&p| scope.knows((subject, Some(p))));
        let none = || Finding::plain(format!("{name} served no request successfully."));
        return is_measured.then(none);
    };
    let place = (subject, Some(point));
    let rate = say::figure(&rate, &Metric::THROUGHPUT.unit, scope.level());
    let offered = scope
        .quantity(place, &Metric::OFFERED)
        .filter(|_| is_open(load));
    let offered = offered.map_or(String::new(), |rate| {
        format!(" of {} offered", say::reading(rate.value, &rate.unit))
    });
    let connections = agents::connections(scope, point);
    let within = |(metric, part): (Metric, &str)| {
        let time = scope.interval(place, &metric)?;
        let time = say::figure(time, &Unit::Nanoseconds, scope.level());
        Some(format!("{part} within {time}"))
    };
    let times = [(Metric::P50, "half"), (Metric::P99, "99 %")];
    let times: Vec<String> = times.into_iter().filter_map(within).collect();
    let answered = if !times.is_empty() {
        format!(" Response times: {}.", say::list(&times))
    } else if scope.cell(place, &Metric::BACKLOG).is_some() {
        " It is overloaded.".into()
    } else {
        String::new()
    };
    let failed = scope.quantity(place, &Metric::ERRORS);
    let failed = match failed.map_or(0, |f| f.value as usize) {
        0 => "No request".into(),
        n => count(n, "request"),
    };
    let statuses = statuses_of(scope, subject).map_or(String::new(), |text| format!(" {text}"));
    let text = format!(
        "{name} serves {rate}{offered} over {connections}.{answered} {failed} failed.{statuses}"
    );
    Some(Finding::plain(text))
}

/// Describes the responses of a server by status code. Returns `None` if they are unknown, as in files of earlier
/// versions.
fn statuses_of(scope: &Scope, subject: SubjectId) -> Option<String> {
    let mut counts = Vec::new();
    let slices = scope.run.complete_blocks().flat_map(|block| &block.slices);
    for slice in slices.filter(|slice| slice.subject == subject) {
        add_statuses(&mut counts, &slice.statuses);
    }
    let each = counts
        .iter()
        .map(|(status, n)| format!("{status}: {}", quantity::integer(*n)));
    let each: Vec<String> = each.collect();
    let redirects: u64 = counts
        .iter()
        .filter(|(s, _)| (300..400).contains(s))
        .map(|(_, n)| n)
        .sum();
    let hint = match redirects {
        0 => "",
        _ => " Redirects are not followed; `--expect-status 200` counts them as errors.",
    };
    (!each.is_empty()).then(|| format!("Responses by status: {}.{hint}", each.join(", ")))
}

/// Describes the statuses of compared servers, unless every response had status 200.
fn other_statuses(scope: &Scope) -> Vec<Finding> {
    let all = scope.run.complete_blocks().flat_map(|block| &block.slices);
    let mut statuses = all.flat_map(|slice| &slice.statuses);
    if statuses.all(|(status, _)| *status == 200) {
        return Vec::new();
    }
    let of = |subject| Some((scope.name(subject), statuses_of(scope, subject)?));
    let each = scope.compared().into_iter().filter_map(of);
    each.map(|(name, text)| Finding::plain(format!("{name}: {text}")))
        .collect()
}

fn times(scope: &Scope, load: &LoadSpec, places: &[SubjectScope]) -> Section {
    let mut section = Section::new("Response time");
    let response = table::figures(scope, "Response time", places, &RESPONSE_TIMES);
    let from = if is_open(load) {
        "From the moment when a request was due"
    } else {
        "From the sending of a request"
    };
    section.table(response.captioned(&format!(
        "{from} to the end of its response; the maximum is a single measurement."
    )));
    if is_open(load) {
        let service = table::figures(scope, "Service time", places, &SERVICE_TIMES);
        section.table(service.captioned(
            "From the moment when a request was sent; the difference from the response time is waiting.",
        ));
    }
    section.chart(charts::every_ratio(scope, &scope.points(), &Metric::P99));
    section.chart(slices::percentiles(scope, places, is_open(load)));
    if let &[point] = scope.points().as_slice() {
        section.chart(shift::chart(scope, point));
    }
    section.chart(slices::heat(scope, places));
    for group in scope.groups(Cores::All) {
        section.chart(charts::over_sweep(scope, &group, &Metric::P99));
    }
    section
}

fn requests(scope: &Scope, load: &LoadSpec, places: &[SubjectScope]) -> Section {
    let mut section = Section::new("Requests");
    let metrics = if is_open(load) { &RATES } else { &RATES[1..] };
    let rates = table::figures(scope, "Offered and served", places, metrics);
    section.table(rates.captioned(&agents::account(scope)));
    section.table(errors(scope));
    section.chart(charts::every_ratio(
        scope,
        &scope.points(),
        &Metric::THROUGHPUT,
    ));
    section.chart(slices::over_time(scope, places, is_open(load)));
    section
}

fn many(scope: &Scope) -> Section {
    let mut section = Section::new("More connections");
    let groups = scope.groups(Cores::All).into_iter();
    for group in groups.filter(|group| group.points.len() > 1) {
        scaling::add(&mut section, scope, &group);
    }
    section
}

/// Builds the table of the cost of a request for the server and for the generator.
fn costs(scope: &Scope, load: &LoadSpec, places: &[SubjectScope]) -> Table {
    let metrics = if is_open(load) { &COSTS } else { &COSTS[..6] };
    let mut table = table::figures(scope, "", places, metrics);
    let is_watched = !load.server_pids.is_empty() || load.server_host.is_some();
    if is_watched && !scope.run.left_out().is_empty() {
        let note = "The server's resource usage is omitted because it includes the requests of all agents.";
        table.notes.push(note.into());
    }
    if !is_watched && !scope.has(&Metric::SERVER_CPU) {
        let note = "The server's resource usage is unknown: specify its process with --server-pid, or its machine \
                   with --server-host.";
        table.notes.push(note.into());
    }
    table.captioned(
        "Busy is the fraction of the time in which the generator's busiest thread was running; above 90 %, the \
         generator is the limit.",
    )
}

// SPDX-License-Identifier: Apache-2.0
//! Load on servers that were already running.

mod screen;

use super::work_kind::{DocumentParts, WorkKind};
use crate::parts::errors::errors;
use crate::parts::kind_traits::{KindTraits, Words};
use crate::parts::measured::SubjectScope;
use crate::parts::respect::ComparedMetric;
use crate::parts::scope::Scope;
use crate::parts::{agents, charts, load_sent, scaling, shift, slices, table};
use lab_document::{Chart, Section, Table};
use lab_model::{Arrivals, Cores, LoadCount, LoadSpec, Metric, RESPONSE_TIMES, SERVICE_TIMES};
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

/// The rates and counts in the table of requests. The first metric applies only to an open loop.
static RATES: [Metric; 4] = [
    Metric::OFFERED,
    Metric::THROUGHPUT,
    Metric::REQUESTS,
    Metric::ERRORS,
];

/// The metrics of requests that had no response when the load ended.
static LATE: [Metric; 2] = [Metric::DRAIN, Metric::BACKLOG];

/// The metrics in the table of costs, for the server and for the generator. The last metric applies
/// only to an open loop.
static COSTS: [Metric; 7] = [
    Metric::SERVER_CPU,
    Metric::SERVER_CORES,
    Metric::SERVER_MEMORY,
    Metric::THREADS,
    Metric::GENERATOR_CPU,
    Metric::GENERATOR_BUSY,
    Metric::SEND_DELAY_P99,
];

/// Returns true for an open loop, in which requests are due at scheduled times.
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

    fn compared_metrics(&self, scope: &Scope) -> Vec<ComparedMetric> {
        vec![ComparedMetric {
            counts_failed: true,
            ..ComparedMetric::everywhere(scope, Metric::THROUGHPUT)
        }]
    }
}

fn parts(scope: &Scope, load: &LoadSpec) -> DocumentParts {
    let subject_scopes = scope.subject_scopes(&scope.subjects(), &scope.points());
    let headline = screen::headline(scope, load);
    DocumentParts {
        findings: screen::findings(scope, load, &headline),
        headline,
        table: screen::table(scope, load),
        chart: chart(scope),
        distribution: slices::histogram(scope, &subject_scopes),
        sections: vec![
            load_sent::section(scope, load, None),
            times(scope, load, &subject_scopes),
            requests(scope, load, &subject_scopes),
            many(scope),
            Section::from_table("Costs", costs(scope, load, &subject_scopes)),
            agents::section(scope),
        ],
        method: load_sent::method(scope, load, None),
    }
}

/// Builds the main chart.
///
/// At a single point, it shows the response times of a single server, or the ratios of all metrics
/// for multiple servers. Over multiple points, it shows the ratios of the throughput for two
/// servers, and otherwise the throughput at each point.
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
            let axis = format!("times and costs relative to {}", scope.base_name());
            charts::standings(scope, "answer", axis, groups)
        }
        ([_], _) => charts::answer(std::slice::from_ref(scope), &Metric::THROUGHPUT),
        (_, many) => charts::bars_at(scope, "answer", many, &Metric::THROUGHPUT),
    }
}

fn times(scope: &Scope, load: &LoadSpec, subject_scopes: &[SubjectScope]) -> Section {
    let mut section = Section::new("Response time");
    let response = table::figures(scope, "Response time", subject_scopes, &RESPONSE_TIMES);
    let from = if is_open(load) {
        "From when a request was due"
    } else {
        "From when a request was sent"
    };
    section.table(response.with_caption(&format!(
        "{from} to the end of its response; the maximum is a single measurement."
    )));
    if is_open(load) {
        let service = table::figures(scope, "Service time", subject_scopes, &SERVICE_TIMES);
        section.table(service.with_caption(
            "From when a request was sent; the difference from the response time is waiting.",
        ));
    }
    section.chart(charts::every_ratio(scope, &scope.points(), &Metric::P99));
    section.chart(slices::percentiles(scope, subject_scopes, is_open(load)));
    if let &[point] = scope.points().as_slice() {
        section.chart(shift::chart(scope, point));
    }
    section.chart(slices::heat(scope, subject_scopes));
    for group in scope.groups(Cores::All) {
        section.chart(charts::over_sweep(scope, &group, &Metric::P99));
    }
    section
}

fn requests(scope: &Scope, load: &LoadSpec, subject_scopes: &[SubjectScope]) -> Section {
    let mut section = Section::new("Requests");
    let rates = if is_open(load) { &RATES } else { &RATES[1..] };
    let counts = LoadCount::rates().chain(LoadCount::sums());
    let metrics = rates
        .iter()
        .cloned()
        .chain(counts.map(|(_, metric)| metric));
    let metrics: Vec<Metric> = metrics.chain(LATE.iter().cloned()).collect();
    let rates = table::figures(scope, "Offered and served", subject_scopes, &metrics);
    section.table(rates.with_caption(&agents::account(scope)));
    section.table(errors(scope));
    section.chart(charts::every_ratio(
        scope,
        &scope.points(),
        &Metric::THROUGHPUT,
    ));
    section.chart(slices::over_time(scope, subject_scopes, is_open(load)));
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
fn costs(scope: &Scope, load: &LoadSpec, subject_scopes: &[SubjectScope]) -> Table {
    let metrics = if is_open(load) { &COSTS } else { &COSTS[..6] };
    let mut table = table::figures(scope, "", subject_scopes, metrics);
    let is_watched = !load.server_pids.is_empty() || load.server_host.is_some();
    if is_watched && !scope.run.excluded_agents().is_empty() {
        let note = "The server's resource usage is omitted because it includes the requests of all agents.";
        table.notes.push(note.into());
    }
    if !is_watched && !scope.has(&Metric::SERVER_CPU) {
        let note = "The server's resource usage is unknown: specify its process with --server-pid, or its machine \
                   with --server-host.";
        table.notes.push(note.into());
    }
    table.with_caption(
        "Busy is the fraction of the time in which the generator's busiest thread was running; above 90 %, the \
         generator is the limit.",
    )
}

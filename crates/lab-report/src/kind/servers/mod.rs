// SPDX-License-Identifier: Apache-2.0
//! Servers that benchlab starts: the cost of a request, the throughput, and the response times that
//! users experience.

mod ages;
mod percentiles;

use super::work_kind::{DocumentParts, WorkKind};
use crate::parts::errors::errors;
use crate::parts::kind_traits::{KindTraits, Words};
use crate::parts::measured::over_run;
use crate::parts::respect::ComparedMetric;
use crate::parts::scope::{PointGroup, Scope};
use crate::parts::standings::Standings;
use crate::parts::{
    cell, charts, costs, findings, hosts, load_sent, scaling, shift, slices, table,
};
use lab_document::chart::file_name;
use lab_document::say::{self, count};
use lab_document::{Chart, Finding, Quantity, Section, Table, Tone};
use lab_model::{
    CaseId, Cores, LoadCount, Metric, PointId, RESPONSE_TIMES, Servers, SubjectId, Unit,
};
use lab_stats::load::peaks::{Peak, Peaks};
use lab_stats::results::Over;
use std::cmp::Ordering;

/// The metrics of a server over the whole run: its threads, memory, and startup time.
static HELD: [Metric; 3] = [Metric::THREADS, Metric::SERVER_MEMORY, Metric::STARTUP];

/// Metrics of each server at a point, except for response times. The first metric applies only to
/// an open loop.
static RATES: [Metric; 5] = [
    Metric::OFFERED,
    Metric::THROUGHPUT,
    Metric::BACKLOG,
    Metric::SERVER_CPU,
    Metric::ERRORS,
];

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
    compared_on_hosts: "CPU time per request in closed loops",
};

impl WorkKind for Servers {
    fn traits(&self) -> &'static KindTraits {
        &TRAITS
    }

    fn parts(&self, scopes: &[Scope]) -> DocumentParts {
        parts(&scopes[0], self)
    }

    /// Selects the cost of a request in each case.
    fn compared_metrics(&self, scope: &Scope) -> Vec<ComparedMetric> {
        let view = View::new(*scope);
        let points = scope.points();
        let cases = view.cases().into_iter().map(|case| {
            let in_case = |p: &PointId| scope.plan.points[*p].case == case;
            ComparedMetric {
                metric: Metric::SERVER_CPU,
                over: Over::Points {
                    case: Some(case),
                    keep_alive: Some(view.keep_alive),
                },
                case: Some(case),
                points: view.closed(case),
                all_points: points.iter().copied().filter(in_case).collect(),
                counts_failed: true,
            }
        });
        cases
            .filter(|compared| !compared.points.is_empty())
            .collect()
    }
}

fn parts(scope: &Scope, servers: &Servers) -> DocumentParts {
    let view = View::new(*scope);
    let findings = [
        cpu_finding(&view),
        throughput_finding(&view),
        latency_finding(&view),
    ];
    let sections = vec![
        load_sent::section(scope, &servers.load, Some(&servers.serving)),
        costs(&view),
        linear_costs(&view),
        rates(&view),
        response_times(&view),
        ages::section(scope),
        resources(&view),
        cases(&view),
        hosts::section(scope),
    ];
    DocumentParts {
        chart: chart(&view),
        findings: findings.into_iter().flatten().collect(),
        sections,
        method: load_sent::method(scope, &servers.load, Some(&servers.serving))
            .into_iter()
            .chain([hosts::measured_on(scope)])
            .collect(),
        ..DocumentParts::default()
    }
}

/// A run of servers, grouped by case.
struct View<'a> {
    scope: Scope<'a>,
    /// True if any point uses persistent connections. In that case, metrics with one value per case
    /// come from such points.
    keep_alive: bool,
}

impl<'a> View<'a> {
    /// Creates a view of a run of servers.
    fn new(scope: Scope<'a>) -> View<'a> {
        let mut points = scope.points().into_iter();
        let keep_alive = points.any(|point| scope.plan.keeps_alive(point));
        View { scope, keep_alive }
    }

    /// Returns the cases that have points.
    fn cases(&self) -> Vec<CaseId> {
        let mut cases: Vec<CaseId> = self.scope.plan.points.iter().map(|p| p.case).collect();
        cases.sort_unstable();
        cases.dedup();
        cases
    }

    fn case_name(&self, case: CaseId) -> &'a str {
        &self.scope.plan.cases[case].name
    }

    /// Returns the points over which a case is compared. `None` selects the only case, or all cases
    /// if there is more than one.
    fn compared_points(&self, case: Option<CaseId>) -> Over {
        let only = match self.cases().as_slice() {
            &[only] => Some(only),
            _ => None,
        };
        Over::Points {
            case: case.or(only),
            keep_alive: Some(self.keep_alive),
        }
    }

    /// Returns the points of a case that satisfy `is`, ordered by the number of connections.
    fn points(&self, case: CaseId, is: impl Fn(PointId) -> bool) -> Vec<PointId> {
        let plan = self.scope.plan;
        let is_chosen = |&p: &PointId| {
            plan.points[p].case == case && plan.keeps_alive(p) == self.keep_alive && is(p)
        };
        let mut points: Vec<PointId> = self.scope.points().into_iter().filter(is_chosen).collect();
        points.sort_by_key(|&p| plan.connections(p));
        points
    }

    /// Returns the points of a case with a closed loop, in which requests are sent as fast as the
    /// server responds.
    fn closed(&self, case: CaseId) -> Vec<PointId> {
        self.points(case, |p| !self.scope.plan.is_open(p))
    }

    /// Returns the median of the offered fractions of the peak.
    ///
    /// Tables with one response time per case show the response time at this fraction.
    fn middle(&self) -> Option<f64> {
        let parts = load_sent::peak_fractions(&self.scope);
        parts.get(parts.len().checked_sub(1)? / 2).copied()
    }

    /// Returns the point with the lowest fixed rate. A fixed rate is the same for all servers.
    fn at_rate(&self, case: CaseId) -> Option<PointId> {
        let rate = |p: &PointId| self.scope.plan.rate(*p);
        let points = self.points(case, |p| rate(&p).is_some()).into_iter();
        points.min_by(|a, b| rate(a).partial_cmp(&rate(b)).unwrap_or(Ordering::Equal))
    }

    /// Returns the point that measures the peak rate of each server.
    ///
    /// Other points offer a fraction of this peak.
    fn at_peak(&self, case: CaseId) -> Option<PointId> {
        let plan = self.scope.plan;
        self.at_middle(case)
            .and_then(|p| plan.peak_points(p).next())
    }

    /// Returns the point that offers the median fraction of the peak.
    fn at_middle(&self, case: CaseId) -> Option<PointId> {
        let middle = self.middle();
        let points = self.points(case, |p| self.scope.plan.fraction_of_peak(p) == middle);
        points.first().copied().filter(|_| middle.is_some())
    }

    /// Returns the closed-loop point that represents the costs of a case. Its number of connections
    /// is nearest to the number of connections of the open-loop points, or to 64 if there are no
    /// open-loop points.
    fn representative_point(&self, case: CaseId) -> Option<PointId> {
        let plan = self.scope.plan;
        let mut points = self.scope.points().into_iter();
        let open = points.find(|&p| plan.is_open(p));
        let connections = open.map_or(64, |p| plan.connections(p)).max(1) as f64;
        // Distances are logarithmic, since sweeps are geometric.
        let apart = |p: &PointId| {
            (plan.connections(*p).max(1) as f64 / connections)
                .ln()
                .abs()
        };
        let points = self.closed(case).into_iter();
        points.min_by(|a, b| apart(a).total_cmp(&apart(b)))
    }

    /// Builds a table of servers by cases: a metric at one point of each case, with its verdict and a note.
    ///
    /// Servers with the lowest cost per request come first.
    fn by_case(
        &self,
        (title, metric): (&str, &Metric),
        point: impl Fn(SubjectId, CaseId) -> Option<PointId>,
        note: impl Fn(SubjectId, &Quantity, PointId) -> String,
    ) -> Table {
        let scope = &self.scope;
        let ranked = Standings::new(scope, &Metric::SERVER_CPU, self.compared_points(None)).ranked;
        let mut servers: Vec<SubjectId> = ranked.iter().map(|s| s.subject).collect();
        let others = scope.compared().into_iter();
        servers.extend(others.filter(|s| !servers.contains(s)).collect::<Vec<_>>());
        let cases = self.cases().into_iter();
        let cases: Vec<_> = cases.map(|c| (c, self.case_name(c).to_string())).collect();
        let sides = (&*table::subjects(scope, &servers), &*cases);
        table::matrix(title, "server", sides, &metric.unit, |subject, case| {
            let point = point(subject, case);
            let subject_scope = (subject, point);
            let cell = cell::value(scope, subject_scope, metric);
            let noted = [
                cell.note.clone(),
                match point.zip(scope.quantity(subject_scope, metric)) {
                    Some((point, value)) => note(subject, &value, point),
                    None => String::new(),
                },
            ];
            let verdict = scope
                .comparison(subject_scope, metric)
                .and_then(|c| c.verdict);
            let words = verdict.iter().map(|v| cell::word(metric, v).to_string());
            let noted = words.chain(noted).filter(|note| !note.is_empty());
            let tone = verdict.as_ref().map_or(cell.tone, cell::tone);
            cell.with_note(noted.collect::<Vec<_>>().join("; "))
                .with_tone(tone)
        })
    }
}

fn chart(view: &View) -> Option<Chart> {
    let (scope, metric) = (&view.scope, &Metric::SERVER_CPU);
    let axis = charts::ratio_axis(scope, metric);
    let all = (String::new(), metric, view.compared_points(None));
    charts::standings(scope, "answer", axis, [all]).or_else(|| {
        let points = view
            .cases()
            .into_iter()
            .filter_map(|c| view.representative_point(c));
        let points: Vec<PointId> = points.collect();
        charts::bars_at(scope, "answer", &points, &Metric::THROUGHPUT)
    })
}

/// Describes the server with the lowest CPU time per request, and the cases in which another server
/// leads.
fn cpu_finding(view: &View) -> Option<Finding> {
    let metric = Metric::SERVER_CPU;
    let cases = view.cases();
    let words = match cases.len() {
        1 => String::new(),
        n => format!(" over {}", count(n, "case")),
    };
    let parts = cases.into_iter();
    let parts = parts.map(|c| (view.compared_points(Some(c)), view.case_name(c).to_string()));
    let parts: Vec<(Over, String)> = parts.collect();
    let (scope, all) = (&view.scope, view.compared_points(None));
    let leader = findings::leader(scope, &metric, all, &words)?;
    let exceptions = findings::exceptions(scope, &metric, all, &parts);
    let texts = std::iter::once(leader.text).chain(exceptions);
    Some(Finding::new(
        "CPU time",
        texts.collect::<Vec<_>>().join(" "),
        Tone::Plain,
    ))
}

/// Describes the server with the highest throughput in the first case, and the servers that are
/// tied with it.
fn throughput_finding(view: &View) -> Option<Finding> {
    let case = *view.cases().first()?;
    let case_name = format!(" in {}", view.case_name(case));
    let text = scaling::highest_rate(&view.scope, &view.closed(case), &case_name)?;
    Some(Finding::new("Throughput", text, Tone::Plain))
}

/// Describes response times in the first case: at the same rate for all servers, and at the median
/// offered fraction of each server's own peak.
fn latency_finding(view: &View) -> Option<Finding> {
    let case = *view.cases().first()?;
    let name = view.case_name(case);
    let at_rate = view.at_rate(case).and_then(|point| {
        let rate = Quantity::exact(view.scope.plan.rate(point)?, Metric::OFFERED.unit);
        let rate = say::reading(rate.value, &rate.unit);
        percentile(view, point, &format!(" of {name} at {rate}"))
    });
    let at_part = view.at_middle(case).and_then(|point| {
        let part = say::percent(view.middle()?);
        percentile(
            view,
            point,
            &format!(" of {name} at {part} of its own peak"),
        )
    });
    let text = say::paragraph([at_rate, at_part].into_iter().flatten());
    text.map(|text| Finding::new("Response time", text, Tone::Plain))
}

/// Describes the leader at a point in the highest percentile that has intervals.
fn percentile(view: &View, point: PointId, location: &str) -> Option<String> {
    let (scope, point) = (&view.scope, Some(point));
    let mut percentiles = [Metric::P99, Metric::P90, Metric::P50].into_iter();
    percentiles.find_map(|metric| {
        let leader = findings::leader(scope, &metric, Over::At(point), location)?;
        let base = scope.interval((scope.base(), point), &metric);
        let base = base.filter(|time| say::is_bounded(time)).map(|time| {
            let time = say::figure(time, &metric.unit, scope.level());
            format!(" {}'s is {time}.", scope.base_name())
        });
        Some(leader.text + &base.unwrap_or_default())
    })
}

/// Builds the section on the cost of a request: its ratio to the baseline, its absolute value, and
/// its value if each request opens a new connection.
fn costs(view: &View) -> Section {
    let (scope, metric) = (&view.scope, Metric::SERVER_CPU);
    let mut section = Section::new("Cost of a request");
    let cases = view.cases();
    if cases.len() > 1 {
        let axis = format!("{}, by case", charts::ratio_axis(scope, &metric));
        let groups = cases.iter();
        let groups = groups.map(|&c| {
            (
                view.case_name(c).to_string(),
                &metric,
                view.compared_points(Some(c)),
            )
        });
        section.chart(charts::standings(scope, "costs", axis, groups));
    }
    for (alive, words) in [(true, "kept open"), (false, "used for one request each")] {
        let mut overall = table::overall(scope, &metric, Some(alive));
        overall.title += &format!(": connections {words}");
        section.table(overall);
    }
    let representative_point = cases
        .iter()
        .find_map(|&case| view.representative_point(case));
    let connections = representative_point.map_or(0, |p| scope.plan.connections(p));
    let title = format!(
        "CPU time of a request over {}",
        count(connections, "connection")
    );
    let representative_point = |_, case| view.representative_point(case);
    let each = view.by_case((&title, &metric), representative_point, |_, cost, _| {
        let rate = say::reading(1e9 / cost.value, &Unit::PerSecond("requests".into()));
        format!("{} per CPU second", rate.trim_end_matches("/s"))
    });
    section.table(each.with_caption(
        "CPU time of all threads of the server, and the number of requests per CPU second.",
    ));
    for table in costs::effects(scope) {
        section.table(table);
    }
    section
}

/// Builds the section on fixed and marginal costs per request. The marginal cost is per unit of the
/// swept parameter, a number in the request's path.
fn linear_costs(view: &View) -> Section {
    let scope = &view.scope;
    let mut section = Section::new("Fixed and marginal cost");
    let fits = say::grouped(scope.results.fits.iter().map(|fit| {
        let factors = fit.factors.iter().map(say::parameter);
        let words = [view.case_name(fit.case).to_string()]
            .into_iter()
            .chain(factors);
        let of = (words.collect::<Vec<_>>().join(" "), fit.metric.clone());
        (of, fit)
    }));
    for ((label, metric), fits) in fits {
        let over = fits.first().map_or("", |fit| fit.over.as_str());
        let title = format!("{label}: {} = fixed + marginal × {over}", metric.title);
        section.table(costs::lines(scope, &title, over, &fits));
    }
    section
}

fn rates(view: &View) -> Section {
    let scope = &view.scope;
    let mut section = Section::new("Requests per second");
    let peak = |s, case| scaling::peak(scope, s, &view.closed(case)).map(|(p, _)| p);
    let title = ("Highest requests per second", &Metric::THROUGHPUT);
    let max = view.by_case(title, peak, |_, _, p| {
        format!("at {}", scope.plan.connections(p))
    });
    section.table(max.with_caption(
        "The highest rate of each server; where the generator was the limit, the server could serve more. Verdicts \
         compare the time per request.",
    ));
    let known = Peaks::from_blocks(scope.plan, scope.run);
    if let Some(open) = view.cases().into_iter().find_map(|c| view.at_middle(c)) {
        let connections = count(scope.plan.connections(open), "connection");
        let title = format!("The peak over {connections}; the offered loads are fractions of it");
        let at = |_, case| view.at_peak(case);
        let peaks = view.by_case((&title, &Metric::THROUGHPUT), at, |subject, _, p| {
            let open = view.at_middle(scope.plan.points[p].case);
            match open.and_then(|open| known.peak(scope.plan, subject, open)) {
                Some(Peak::Generator) => "no peak".into(),
                _ => String::new(),
            }
        });
        section.table(peaks.with_caption(
            "Requests per second over all blocks, with their intervals. Where the generator was the limit, there is \
             no peak, and no fraction of it is offered.",
        ));
    }
    section.table(errors(scope));
    section
}

/// The caption of response times at a fraction of each server's own peak, in an open loop.
const PART_OF_PEAK: &str = "Each server is offered a fraction of its own peak, regardless of earlier responses: \
                            response times count from when a request was due.";
/// The caption of response times at the same rate for all servers, in an open loop.
const SAME_RATE: &str = "All servers are offered the same rate, regardless of earlier responses: response times \
                         count from when a request was due.";

/// Builds the section on the p99 by case: at the same rate for all servers, and at the median
/// offered fraction of each server's peak.
fn response_times(view: &View) -> Section {
    let mut section = Section::new("Response times");
    let plan = view.scope.plan;
    if view.cases().into_iter().any(|c| view.at_rate(c).is_some()) {
        let at = |_, case| view.at_rate(case);
        let title = "p99 of the response time at the same rate for all servers";
        let table = view.by_case((title, &Metric::P99), at, |_, _, p| {
            let rate = plan.rate(p).unwrap_or_default();
            format!("at {}", say::reading(rate, &Metric::OFFERED.unit))
        });
        section.table(table.with_caption(SAME_RATE));
    }
    if let Some(part) = view.middle() {
        let part = say::percent(part);
        let title = format!("p99 of the response time at {part} of each server's own peak");
        let at = |_, case| view.at_middle(case);
        let table = view.by_case((&title, &Metric::P99), at, |_, _, _| String::new());
        section.table(table.with_caption(PART_OF_PEAK));
    }
    section
}

fn resources(view: &View) -> Section {
    let scope = &view.scope;
    let mut section = Section::new("The servers");
    let subject_scopes = over_run(scope.compared());
    let serving_metrics = scope.plan.serving().into_iter().flat_map(|s| &s.metrics);
    let metrics: Vec<Metric> = HELD.iter().chain(serving_metrics).cloned().collect();
    let table = table::figures(scope, "Resources and startup", &subject_scopes, &metrics);
    section.table(
        table.with_caption(
            "Memory is the resident memory after the load with the most connections.",
        ),
    );
    let metric = Metric::SERVER_MEMORY;
    let axis = charts::ratio_axis(scope, &metric);
    let all = (String::new(), &metric, Over::At(None));
    section.chart(charts::standings(scope, "memory", axis, [all]));
    section
}

fn cases(view: &View) -> Section {
    let scope = &view.scope;
    let mut section = Section::folded("Case by case");
    let percentiles = lab_stats::load::percentiles::percentiles(scope.run);
    for case in view.cases() {
        let mut part = Section::new(view.case_name(case));
        part.text(scope.plan.cases[case].work.as_str());
        if let Some(point) = view.at_middle(case) {
            let subject_scopes = scope.subject_scopes(&scope.compared(), &[point]);
            let chart = slices::percentiles(scope, &subject_scopes, false);
            part.chart(chart.map(|chart| Chart {
                id: file_name(&format!("response-{}", view.case_name(case))),
                title: format!("{}: response time by percentile", scope.point(point)),
                ..chart
            }));
            part.chart(shift::chart(scope, point).map(|chart| Chart {
                id: file_name(&format!("shift-{}", view.case_name(case))),
                title: format!("{}: {}", scope.point(point), chart.title),
                ..chart
            }));
        }
        let groups = scope.groups(Cores::All).into_iter();
        for group in groups.filter(|group| group.case == case) {
            group_figures(&mut part, scope, &group);
            // In an open loop, the tables of response times above show more.
            for &point in group.points.iter().filter(|_| is_closed(scope)) {
                let title = format!("{}: response times", scope.point(point));
                part.table(percentiles::table(scope, &percentiles, point, &title));
            }
        }
        section.section(part);
    }
    section
}

/// Returns true if every point is a closed loop.
fn is_closed(scope: &Scope) -> bool {
    let mut points = scope.points().into_iter();
    points.all(|point| !scope.plan.is_open(point))
}

/// Adds the table of all metrics at the points of a group, which differ only in the number of
/// connections. In a closed loop with multiple points, adds the scaling of throughput, too.
fn group_figures(section: &mut Section, scope: &Scope, group: &PointGroup) {
    let is_open = group.points.iter().any(|&p| scope.plan.is_open(p));
    if group.points.len() > 1 && !is_open {
        scaling::add(section, scope, group);
    }
    let rates = if is_open { &RATES } else { &RATES[1..] };
    let mut metrics = rates.to_vec();
    // The offered rates of an open loop determine these rates.
    if is_closed(scope) {
        metrics.extend(LoadCount::rates().map(|(_, metric)| metric));
    }
    metrics.extend(RESPONSE_TIMES.iter().cloned());
    let subject_scopes = scope.subject_scopes(&scope.compared(), &group.points);
    let title = scope.group_title(group, "all metrics");
    let table = table::figures(scope, &title, &subject_scopes, &metrics);
    let same = group.points.iter().any(|&p| scope.plan.rate(p).is_some());
    section.table(table.with_caption(match (is_open, same) {
        (false, _) => "",
        (true, true) => SAME_RATE,
        (true, false) => PART_OF_PEAK,
    }));
}

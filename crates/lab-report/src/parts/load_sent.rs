// SPDX-License-Identifier: Apache-2.0
//! The requests sent to servers, the method of the measurement, and all other properties of a load
//! that a user has to know.

use super::agents;
use super::scope::Scope;
use lab_document::say::{self, count, list};
use lab_document::{Column, Item, Quantity, Section, Table};
use lab_model::{
    Arrivals, Example, LoadSpec, Metric, PlannedRequest, PointId, Protocol, RequiredBody, Serving,
    Stage, SubjectId, Unit,
};
use lab_stats::load::peaks::calibrating_blocks;
use std::collections::BTreeSet;

/// Builds the section on the settings of the load that were fixed before it began.
///
/// For servers that benchlab starts, the section also describes the verified responses.
pub fn section(scope: &Scope, load: &LoadSpec, serving: Option<&Serving>) -> Section {
    let mut section = Section::new("The load");
    let generator = agents::generator(scope, load);
    let timeout = say::time(load.timeout_ns);
    let of_all = [
        (
            "Load",
            arrivals(scope, load) + &included_fraction(scope, load),
        ),
        ("Connections", connections(scope, load)),
        ("Protocol", protocol(load)),
        (
            "Generator",
            format!("{generator}; request timeout {timeout}"),
        ),
    ];
    let first = match serving {
        None => ("Requests", requests(scope, load).unwrap_or_default()),
        Some(_) => ("Cases", cases(scope)),
    };
    let of_kind = match serving {
        None => vec![
            ("A response counts if", expected(&load.expected)),
            ("Server", server(load)),
            ("Time", time(scope, load)),
        ],
        Some(serving) => vec![
            ("Cores", cores(scope)),
            ("Workers", workers(serving)),
            ("Same work", proof(scope, serving)),
        ],
    };
    let facts = std::iter::once(first).chain(of_all).chain(of_kind);
    let facts = facts.filter(|(_, value)| !value.is_empty());
    let facts = facts.map(|(name, value)| (name.to_string(), value));
    section.push(Item::Facts(facts.collect()));
    if serving.is_none() && requests(scope, load).is_none() {
        section.table(request_table(scope, load));
    }
    section
}

/// Describes the server's processes and the source of their resource usage. Empty if the user named
/// no processes.
fn server(load: &LoadSpec) -> String {
    let mut pids = load.server_pids.clone();
    pids.dedup();
    let named = pids.iter().map(|pid| format!("process {pid}"));
    let named = list(&named.collect::<Vec<_>>());
    match (pids.len(), &load.server_host) {
        (0, None) => String::new(),
        (_, None) => format!("{named} on this machine"),
        (1.., Some(host)) => {
            format!("{named} on {host}, where an agent measured its resource usage")
        }
        (0, Some(host)) => format!(
            "an agent on {host} measured the resource usage of the processes that listen on its port and their \
             descendants"
        ),
    }
}

/// Describes the requests briefly. Returns `None` if a server receives more than one kind of
/// request.
fn requests(scope: &Scope, load: &LoadSpec) -> Option<String> {
    let only_request = |(subject, planned): (SubjectId, &Vec<PlannedRequest>)| {
        let [only] = planned.as_slice() else {
            return None;
        };
        let request = format!("{} {}", only.method, only.url);
        Some(match load.requests.len() {
            1 => request,
            _ => format!("{}: {request}", scope.name(subject)),
        })
    };
    let all = (0..).map(SubjectId).zip(&load.requests).map(only_request);
    say::joined(all.collect::<Option<Vec<_>>>()?, ", ")
}

/// Builds the table of the requests of all servers, with the frequency of each request.
fn request_table(scope: &Scope, load: &LoadSpec) -> Table {
    let words = ["server", "method", "URL"].map(Column::from);
    let columns = words
        .into_iter()
        .chain([Column::with_unit("of all", Unit::Share)]);
    let mut table =
        Table::new("The requests", columns).with_caption("The requests and their frequency.");
    for (subject, planned) in (0..).map(SubjectId).zip(&load.requests) {
        let total: f64 = planned.iter().map(|r| f64::from(r.weight.max(1))).sum();
        for request in planned {
            let fraction = f64::from(request.weight.max(1)) / total;
            table.row(vec![
                scope.name(subject).into(),
                request.method.as_str().into(),
                request.url.as_str().into(),
                Quantity::exact(fraction, Unit::Share).into(),
            ]);
        }
    }
    table
}

/// Describes the schedule of the requests.
fn arrivals(scope: &Scope, load: &LoadSpec) -> String {
    let peak_fractions = peak_fractions(scope).into_iter().map(say::percent);
    let peak_fractions: Vec<String> = peak_fractions.collect();
    let rates = rates(scope).into_iter();
    let rates: Vec<String> = rates.map(|rate| per_second(rate) + "/s").collect();
    let mut offered = Vec::new();
    if !peak_fractions.is_empty() {
        let peak_fractions = list(&peak_fractions);
        offered.push(format!("at {peak_fractions} of each server's peak"));
    }
    if !rates.is_empty() {
        offered.push(format!("at {}, the same for all servers", list(&rates)));
    }
    let of_peak = if offered.is_empty() {
        String::new()
    } else {
        format!(
            "; and an open loop {}, at random (Poisson) intervals",
            list(&offered)
        )
    };
    let Arrivals::Open { poisson, stages } = &load.arrivals else {
        return format!(
            "closed loop: each connection sends its next request when the response to the previous request is complete{of_peak}"
        );
    };
    let distances = if *poisson {
        "random (Poisson) intervals"
    } else {
        "equal intervals"
    };
    let rate = match stages.as_slice() {
        [only] if only.from == only.to => format!("{} requests/s", per_second(only.from)),
        many => {
            let stages: Vec<String> = many.iter().map(stage).collect();
            format!("{}, repeatedly", stages.join(", then "))
        }
    };
    format!("open loop: {rate}, at {distances}, regardless of earlier responses")
}

/// Describes the fraction of the rate that the included agents sent. Empty if no agent is excluded.
fn included_fraction(scope: &Scope, load: &LoadSpec) -> String {
    let (all, out) = (
        scope.run.load_agents().len(),
        scope.run.excluded_agents().len(),
    );
    match (all, out, &load.arrivals) {
        (0, ..) | (_, 0, _) | (.., Arrivals::Closed) => String::new(),
        _ => format!(
            "; the included agents sent {} of {all} equal parts of the load",
            all - out
        ),
    }
}

/// Returns the offered fractions of a server's peak in ascending order.
pub fn peak_fractions(scope: &Scope) -> Vec<f64> {
    distinct_values(scope, |p| scope.plan.fraction_of_peak(p))
}

/// Returns the fixed rates, which are the same for all servers, in ascending order.
fn rates(scope: &Scope) -> Vec<f64> {
    distinct_values(scope, |p| scope.plan.rate(p))
}

/// Returns the distinct values of the points in ascending order.
fn distinct_values(scope: &Scope, value: impl Fn(PointId) -> Option<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = scope.points().into_iter().filter_map(value).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn stage(stage: &Stage) -> String {
    let [from, to] = [stage.from, stage.to].map(per_second);
    let time = say::time(stage.length_ns);
    if stage.from == stage.to {
        format!("{from} requests/s for {time}")
    } else {
        format!("{from} to {to} requests/s in {time}")
    }
}

/// Formats a requested rate, such as `1,000` or `0.5`.
fn per_second(rate: f64) -> String {
    if rate >= 1.0 && rate.fract() == 0.0 {
        say::reading(rate, &Unit::Count("requests".into()))
    } else {
        format!("{rate}")
    }
}

fn connections(scope: &Scope, load: &LoadSpec) -> String {
    let plan = scope.plan;
    let kinds = [(true, "kept open"), (false, "a new one for each request")];
    let kinds = kinds.into_iter().filter_map(|(alive, words)| {
        let points = scope.points().into_iter();
        let points = points.filter(|&p| plan.keeps_alive(p) == alive);
        let in_figures = |p| scope.run.connections_in_figures(plan.connections(p));
        let numbers: BTreeSet<usize> = points.map(in_figures).collect();
        let numbers = say::joined(numbers.iter().map(usize::to_string), ", ")?;
        Some(format!("{numbers}, {words}"))
    });
    let kinds: Vec<String> = kinds.collect();
    let pipeline = match load.pipeline {
        0 | 1 => String::new(),
        n => format!(", up to {n} requests in flight on each"),
    };
    kinds.join("; ") + &pipeline
}

fn protocol(load: &LoadSpec) -> String {
    let name = match load.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
    };
    let mut urls = load.requests.iter().flatten();
    if urls.any(|request| request.url.starts_with("https:")) {
        format!("{name} over TLS")
    } else {
        name.into()
    }
}

fn expected(expected: &[String]) -> String {
    match expected {
        [] => "it is well-formed HTTP".into(),
        all => all.join(" and "),
    }
}

fn time(scope: &Scope, load: &LoadSpec) -> String {
    let stretch = say::time(load.stretch_ns);
    let blocks = count(scope.results.blocks as usize, "block");
    let (points, servers) = (scope.plan.points.len(), load.requests.len());
    if (points, servers) == (1, 1) {
        let slices = scope.run.complete_blocks().flat_map(|b| &b.slices);
        let all = slices.map(|s| s.wall_ns).sum::<u64>();
        return format!("{} without a pause, in {blocks}", say::time(all));
    }
    let order = format!("{} came in random order", count(points, "point"));
    let turns = format!("{} took turns of {stretch}", count(servers, "server"));
    match (points, servers) {
        (1, _) => format!("{blocks}; in each, {turns}"),
        (_, 1) => format!("{blocks}; in each, {order} for {stretch} each"),
        _ => format!("{blocks}; in each, {order}, and {turns}"),
    }
}

fn cases(scope: &Scope) -> String {
    let cases = scope.plan.cases.iter();
    let cases = cases.map(|case| format!("{} ({})", case.name, case.work));
    list(&cases.collect::<Vec<_>>())
}

fn workers(serving: &Serving) -> String {
    let threads = count(serving.workers as usize, "thread");
    format!(
        "{threads} in servers that run handlers on a thread pool; the others use their event loops"
    )
}

/// Describes how the machine's cores were divided between the server and the generator.
fn cores(scope: &Scope) -> String {
    let values = |key: &str| -> BTreeSet<&str> {
        let subjects = scope.compared().into_iter();
        subjects.filter_map(|s| scope.setting(s, key)).collect()
    };
    let cores = |key: &str| match Vec::from_iter(values(key)).as_slice() {
        [] => None,
        ["1"] => Some("1 core".to_string()),
        many => Some(format!("{} cores", many.join(" or "))),
    };
    match (cores("server cores"), cores("generator cores")) {
        (Some(server), _) if values("cores shared").contains("yes") => format!(
            "generator and server share the machine, and {server}: each takes time from the other"
        ),
        (Some(server), Some(generator)) => format!(
            "generator and server share the machine: the server has {server}, the generator {generator} of its own; \
             the cores change from block to block"
        ),
        _ => "how they were divided is unknown".into(),
    }
}

/// Describes the properties that were verified for every compared server.
fn proof(scope: &Scope, serving: &Serving) -> String {
    let examples: Vec<&Example> = serving.examples.iter().flatten().collect();
    let count_of = |is: fn(&Example) -> bool| examples.iter().filter(|e| is(e)).count();
    let is_exact = |e: &Example| matches!(e.answer, RequiredBody::Text(_) | RequiredBody::File(_));
    let kinds = [
        (count_of(is_exact), "byte for byte"),
        (
            count_of(|e| matches!(e.answer, RequiredBody::Json(_))),
            "as JSON of the same value",
        ),
        (count_of(|e| e.status >= 400), "as errors"),
    ];
    let kinds = kinds.into_iter().filter(|(n, _)| *n > 0);
    let kinds: Vec<String> = kinds.map(|(n, manner)| format!("{n} {manner}")).collect();
    let responses = scope.compared().into_iter();
    let responses =
        responses.filter_map(|s| scope.setting(s, "verified responses")?.parse::<u64>().ok());
    let number_of = |n: u64| say::reading(n as f64, &Unit::Count("responses".into()));
    let responses = say::min_to_max(responses, number_of);
    let responses = responses.map_or(String::new(), |range| format!(", {range} each"));
    format!(
        "verified for every server before it was measured{responses}: {} ({}) with status, Content-Type and a \
         current, advancing Date. HEAD matches GET. Missing resources get 404, other methods 405 with Allow. \
         The server accepts requests that arrive byte by byte, and pipelined requests. It honors Connection: close and \
         keeps other connections open. The number of its connections is the number that the generator opened",
        count(examples.len(), "request"),
        list(&kinds),
    )
}

/// Describes the method of the measurement in sentences.
pub fn method(scope: &Scope, load: &LoadSpec, serving: Option<&Serving>) -> Vec<String> {
    let mut text = Vec::new();
    if serving.is_some() {
        text.push(turns(scope, load));
        text.push(generator(scope, load));
    }
    if scope.points().into_iter().any(|p| scope.plan.is_open(p)) {
        text.push(format!(
            "In an open loop, requests are due at scheduled times. Response time counts from when a \
             request was due, whether a connection was free or not; service time counts from when it was \
             sent. Requests that were due within {} were sent together, for all servers and rates alike; response \
             times include this.",
            say::time(load.tick_ns()),
        ));
    }
    text.push(format!(
        "Rates and costs are medians over {} with exact order-statistic intervals. Percentiles cover all requests \
         served, and are up to 0.1 % too high and never too low. Their intervals are computed from the fraction of \
         each block's requests that exceed a value. The requested confidence level is {}.",
        count(scope.results.blocks as usize, "block"),
        say::percent(scope.level()),
    ));
    text.push(
        String::from("Times do not include failed requests, which are counted by kind. ")
            + &agents::account(scope),
    );
    if !peak_fractions(scope).is_empty() {
        text.push(format!(
            "In a closed loop, the time and the server's CPU time per request are compared. A server that stalls \
             receives fewer requests there, so its percentiles omit the time that users would have waited. Where \
             each server is offered a fraction of its own peak, p50, p90 and p99 are compared. That peak is the \
             median of {}, for each server, case, kind and number of connections: the rates stay the same over the \
             run. Where the generator was the limit, a server has no peak, and no fraction of it is offered.",
            match calibrating_blocks(scope.plan) {
                1 => "the first block".into(),
                n => format!("the first {n} blocks"),
            },
        ));
    }
    text.extend(redone(scope));
    text
}

fn turns(scope: &Scope, load: &LoadSpec) -> String {
    format!(
        "In each of {}, fresh processes of all servers were started and warmed up, and the points came in random \
         order. At each point, all servers took turns of {} in a random order and then in reverse order, {} for each server. Each \
         turn began with an additional tenth that was not counted. A server that was still computing after its turn \
         was suspended until its next turn.",
        count(scope.results.blocks as usize, "block"),
        say::time(load.stretch_ns),
        count(2 * scope.plan.measure.pairs.max(1) as usize, "turn"),
    )
}

/// Describes the number of repeated turns. Returns `None` if no turn was repeated.
fn redone(scope: &Scope) -> Option<String> {
    let blocks = || scope.run.complete_blocks();
    let redone: u32 = blocks().map(|b| b.redone_visits()).sum();
    let counted: usize = blocks().map(|b| b.slices.len()).sum();
    let redone = match redone {
        0 => return None,
        1 => "one was".into(),
        n => format!("{n} were"),
    };
    Some(format!(
        "In addition to the {} that count, {redone} repeated because another process used more than 1 % of a core.",
        count(counted, "turn"),
    ))
}

/// Describes the generator's own CPU time per request, from the cheapest case to the most expensive
/// one.
fn generator(scope: &Scope, load: &LoadSpec) -> String {
    let points = scope.points().into_iter();
    let closed: Vec<PointId> = points.filter(|&p| !scope.plan.is_open(p)).collect();
    let mut costs: Vec<f64> = Vec::new();
    for subject_scope in scope.subject_scopes(&scope.subjects(), &closed) {
        let figure = |metric: &Metric| scope.quantity(subject_scope, metric).map(|q| q.value);
        let is_busy = figure(&Metric::GENERATOR_BUSY).is_some_and(|fraction| fraction > 0.25);
        costs.extend(figure(&Metric::GENERATOR_CPU).filter(|_| is_busy));
    }
    costs.sort_by(f64::total_cmp);
    let reading = |cost: &f64| say::reading(*cost, &Unit::Nanoseconds);
    let cost = costs.first().zip(costs.last()).map(|(low, high)| {
        let [low, high] = [low, high].map(reading);
        format!(" It uses {low} to {high} of CPU time per request where it is busy.")
    });
    let threads = count(load.threads as usize, "thread");
    format!(
        "The load generator has {threads}.{}",
        cost.unwrap_or_default()
    )
}

// SPDX-License-Identifier: Apache-2.0
//! Facts about a load, for comparing two runs.

use crate::between::facts::{Facts, seconds, yes_or_no};
use lab_model::{Arrivals, LoadSpec, PlannedRequest, Protocol, Stage};
use std::collections::BTreeSet;

/// Returns the requests of a load and its rates, without the addresses of the servers.
pub(super) fn work_facts(load: &LoadSpec) -> Facts {
    let path = |url: &str| match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]).to_string(),
        None => url.to_string(),
    };
    let request = |r: &PlannedRequest| match r.weight {
        0 | 1 => format!("{} {}", r.method, path(&r.url)),
        weight => format!("{} {} ({weight} times as often)", r.method, path(&r.url)),
    };
    let all = load.requests.iter().flatten().map(request);
    let distinct: BTreeSet<String> = all.collect();
    let distinct: Vec<String> = distinct.into_iter().collect();
    vec![
        ("the request list".into(), distinct.join(", ")),
        ("the arrival schedule".into(), arrivals(&load.arrivals)),
    ]
}

fn arrivals(arrivals: &Arrivals) -> String {
    let Arrivals::Open { poisson, stages } = arrivals else {
        return "as soon as the previous response arrives".into();
    };
    let stage = |stage: &Stage| {
        let Stage { from, to, .. } = stage;
        format!("from {from} to {to}/s in {}", seconds(stage.length_ns))
    };
    let rates = match (&stages[..], arrivals.changes()) {
        ([first, ..], false) => format!("{}/s", first.from),
        (stages, _) => stages.iter().map(stage).collect::<Vec<_>>().join(", "),
    };
    if *poisson {
        format!("{rates} at random times")
    } else {
        rates
    }
}

/// Returns facts about how a load was generated.
pub(super) fn method_facts(load: &LoadSpec) -> Facts {
    let urls = load.requests.iter().flatten().map(|r| r.url.as_str());
    let origin = |url: &str| url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let origins: BTreeSet<String> = urls.map(origin).collect();
    let origins: Vec<String> = origins.into_iter().collect();
    let protocol = match load.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
    };
    [
        ("server", origins.join(", ")),
        ("protocol", protocol.to_string()),
        ("keep-alive connections", yes_or_no(load.keep_alive)),
        (
            "pipelined requests per connection",
            load.pipeline.to_string(),
        ),
        ("load generator threads", load.threads.to_string()),
        ("timeout", seconds(load.timeout_ns)),
        ("expected responses", load.expected.join(" and ")),
        ("visit length", seconds(load.stretch_ns)),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into()
}

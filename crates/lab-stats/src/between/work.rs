// SPDX-License-Identifier: Apache-2.0
//! Compares the work that the subjects of two runs did.

use super::facts::{Differing, Facts, seconds, unequal};
use crate::kind::kind_of;
use lab_model::{Arrivals, Case, LoadSpec, Plan, PlannedRequest, PointId, Stage, Target};
use std::collections::BTreeSet;

/// Returns differences between two runs in the work that applies to all subjects.
pub(crate) fn work(first: &Plan, second: &Plan) -> Vec<Differing> {
    let facts = |plan: &Plan| {
        let mut facts: Facts = plan.targets.iter().flat_map(target).collect();
        facts.extend(kind_of(plan).work_facts());
        facts
    };
    unequal(facts(first), facts(second))
}

/// Returns true if two points with the same label have the same work.
pub(crate) fn same_work(first: &Plan, a: PointId, second: &Plan, b: PointId) -> bool {
    let work = |case: &Case| {
        let Case {
            work, unit, empty, ..
        } = case.clone();
        (work, unit, empty, case.check.clone())
    };
    let (x, y) = (&first.points[a], &second.points[b]);
    // The work of a case can contain the server's address. The requests are compared elsewhere.
    let are_addressed = [first, second].map(|plan| kind_of(plan).is_named_by_address());
    (are_addressed == [true; 2] || work(first.case(a)) == work(second.case(b)))
        && x.params == y.params
        && x.writes == y.writes
}

/// Returns the requests of a load and its rates, without the addresses of the servers.
pub(crate) fn load_facts(load: &LoadSpec) -> Facts {
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

fn target(target: &Target) -> Facts {
    let on_target = |fact: &str| format!("{fact} on {}", target.kind.title());
    let mut facts = vec![
        (on_target("the table"), target.table.clone()),
        (on_target("the table's rows"), target.rows.to_string()),
    ];
    facts.extend(
        target
            .mixed
            .clone()
            .map(|table| (on_target("the table of many types"), table)),
    );
    facts
}

// SPDX-License-Identifier: Apache-2.0
//! Compares the work that the subjects of two runs did.

use super::facts::{Differing, Facts, unequal};
use crate::kind::kind_of;
use lab_model::{Case, Plan, PointId, Target};

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

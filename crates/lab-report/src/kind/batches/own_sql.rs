// SPDX-License-Identifier: Apache-2.0
//! The statements of a workload of the user's own SQL, with their parameters and the database's plans.

use crate::parts::scope::Scope;
use lab_document::{Item, Section};

/// Builds the section on the statements. It is empty if the run has no workload of the user's own
/// SQL.
pub fn section(scopes: &[Scope]) -> Section {
    let mut section = Section::folded("Statements and their plans");
    let Some(workload) = scopes
        .first()
        .and_then(|scope| scope.plan.workload.as_ref())
    else {
        return section;
    };
    section.text(format!(
        "Workload {} ({}, SHA-256 {}).",
        workload.name, workload.file, workload.sha256
    ));
    for scope in scopes {
        for point in scope.points() {
            let Some(work) = &scope.plan.points[point].sql else {
                continue;
            };
            let mut of_point = Section::new(scope.plan.label(point));
            if work.transaction {
                of_point.text("One transaction:");
            }
            for statement in &work.statements {
                let written = statement.written(&work.parameters);
                of_point.text(written.split_whitespace().collect::<Vec<_>>().join(" "));
                let lines = statement
                    .explanation
                    .iter()
                    .map(|line| format!("plan: {}", line.trim()));
                of_point.push(Item::List(lines.collect()));
            }
            let parameters = work.parameters.iter();
            let sources: Vec<String> = parameters
                .map(|p| format!(":{} from {}", p.name, p.source))
                .collect();
            if !sources.is_empty() {
                of_point.text(format!("Parameters: {}.", sources.join(", ")));
            }
            section.section(of_point);
        }
    }
    section
}

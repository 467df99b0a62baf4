// SPDX-License-Identifier: Apache-2.0
//! Cases for a workload of the user's own SQL, which replace the cases of an experiment.

use crate::PlanError;
use crate::case::{Case, Factor, Values};
use crate::experiment::Experiment;
use crate::file::Count;
use crate::own_sql::{OwnCase, Workload};
use lab_model::{Check, Cores, NO_VARIANT, SqlWork, TargetId, TargetKind, VARIANT};
use std::collections::BTreeMap;

/// Returns the experiment with its cases replaced by the workload's cases.
///
/// # Errors
/// Returns an error if the experiment's subjects cannot run workloads.
pub fn with_workload(experiment: Experiment, workload: &Workload) -> Result<Experiment, PlanError> {
    if !experiment.workloads {
        return Err(PlanError::of_request(format!(
            "--workload: the subjects of `{}` do not run SQL of your own; use `benchlab run sql`",
            experiment.name
        )));
    }
    let kinds: Vec<TargetKind> = experiment.targets.iter().map(|t| t.kind).collect();
    let case = |case: &OwnCase| self::case(workload, case, &kinds);
    let mut subjects = experiment.subjects.clone();
    // A subject that is limited to certain cases, such as a variant for transactions, belongs to
    // the experiment's own cases.
    subjects.retain(|subject| subject.model.cases.is_empty());
    Ok(Experiment {
        title: format!("{} on {}", workload.title, titles(&kinds)),
        question: format!(
            "What do the statements of {} cost in each language?",
            workload.model.name
        ),
        cases: workload.cases.iter().map(case).collect(),
        subjects,
        workload: Some(workload.clone()),
        ..experiment
    })
}

fn case(workload: &Workload, case: &OwnCase, kinds: &[TargetKind]) -> Case {
    let on = |(index, kind): (usize, &TargetKind)| {
        Some((TargetId::from_index(index), case.work.find(*kind)?.clone()))
    };
    let sql: Vec<(TargetId, SqlWork)> = kinds.iter().enumerate().filter_map(on).collect();
    let targets: Vec<TargetId> = sql.iter().map(|(target, _)| *target).collect();
    let writes = sql.iter().any(|(_, work)| work.writes());
    let described = sql
        .first()
        .map_or(String::new(), |(_, work)| describe(work));
    let variants = workload.model.variants.iter().map(|(name, _)| name.clone());
    let factor = Factor {
        name: VARIANT.into(),
        values: std::iter::once(NO_VARIANT.to_owned())
            .chain(variants)
            .collect(),
        targets: targets.clone(),
        absent: Vec::new(),
    };
    Case {
        name: case.name.clone(),
        work: described,
        unit: "row".into(),
        sweep: None,
        factors: if factor.values.len() > 1 {
            vec![factor]
        } else {
            Vec::new()
        },
        targets,
        thin: BTreeMap::new(),
        check: if writes { Check::Writes } else { Check::Reads },
        empty: false,
        cores: Cores::One,
        turn_ns: None,
        latencies: false,
        rate: None,
        default: true,
        quick: Some(Values::new()),
        usual: Some(Values::new()),
        compare: true,
        metrics: Vec::new(),
        observed: Vec::new(),
        statements: Vec::new(),
        reads: Count::Number(0),
        writes: None,
        sql,
    }
}

/// Describes an operation in one line.
fn describe(work: &SqlWork) -> String {
    let statements = work.statements.iter();
    let texts = statements.map(|s| {
        let text = s.written(&work.parameters);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    let all = texts.collect::<Vec<_>>().join("; ");
    if work.transaction {
        format!("one transaction: {all}")
    } else {
        all
    }
}

fn titles(kinds: &[TargetKind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.title()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

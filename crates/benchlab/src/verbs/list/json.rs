// SPDX-License-Identifier: Apache-2.0
//! `benchlab list --format json`.

use super::{missing_toolchains, parameters, role, state};
use crate::exit::Exit;
use crate::verbs::doctor::toolchain_json;
use crate::verbs::run_files;
use lab_model::Content;
use lab_plan::{Experiment, Project, Subject, Toolchains};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Returns the experiments with their questions.
pub fn overview(project: &Project) -> Result<Value, Exit> {
    let mut all = Vec::new();
    for name in project.experiments() {
        let experiment = Experiment::read(project, &name)?;
        all.push(json!({
            "name": name,
            "title": experiment.title,
            "question": experiment.question,
        }));
    }
    Ok(all.into())
}

/// Returns an experiment with its cases, subjects, fixtures and selections.
pub fn experiment(experiment: &Experiment, toolchains: &Toolchains) -> Value {
    let cases = experiment.cases.iter().map(|case| {
        let values = parameters(case).map(|(name, values)| (name.to_owned(), json!(values)));
        json!({
            "name": case.name,
            "work": case.work,
            "unit": case.unit,
            "parameters": values.collect::<Map<String, Value>>(),
        })
    });
    let subjects = experiment.subjects.iter().map(|subject| {
        let target = experiment.targets.get(subject.model.target);
        json!({
            "name": subject.model.name,
            "target": target.map(|target| target.kind.name()),
            "language": subject.model.language,
            "driver": subject.model.driver,
            "role": role(experiment, subject),
            "missing": missing_json(toolchains, subject),
        })
    });
    let fixtures = experiment.fixtures.iter().map(|fixture| {
        json!({
            "name": fixture.model.name,
            "missing": missing_json(toolchains, &fixture.program),
        })
    });
    json!({
        "name": experiment.name,
        "title": experiment.title,
        "question": experiment.question,
        "baseline": experiment.baseline,
        "cases": cases.collect::<Vec<Value>>(),
        "subjects": subjects.collect::<Vec<Value>>(),
        "fixtures": fixtures.collect::<Vec<Value>>(),
        "selections": experiment.selections,
    })
}

fn missing_json(toolchains: &Toolchains, program: &Subject) -> Value {
    let missing = missing_toolchains(toolchains, program).into_iter();
    missing.map(toolchain_json).collect()
}

/// Returns the runs in a directory. A run whose file cannot be read has a key `error`.
pub fn runs(folder: &Path) -> Value {
    let files = run_files(folder).into_iter();
    let described = files.map(|path| {
        let file = path.display().to_string();
        let run = match lab_store::load(&path) {
            Ok(run) => run,
            Err(e) => return json!({ "file": file, "error": e.to_string() }),
        };
        let kind = match &run.content {
            Content::Measured(_) => "measured",
            Content::Logs(_) => "logs",
            Content::Audit(_) => "audit",
            Content::Imported(_) => "imported",
        };
        let is_measured = kind == "measured";
        json!({
            "file": file,
            "kind": kind,
            "name": run.plan().map(|plan| plan.experiment.as_str()),
            "started_unix_s": run.started_unix_s,
            "blocks": is_measured.then(|| run.complete_blocks().count()),
            "ended": run.ending.is_some() || !is_measured,
            "state": state(&run),
        })
    });
    described.collect()
}

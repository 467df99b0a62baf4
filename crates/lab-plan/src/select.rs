// SPDX-License-Identifier: Apache-2.0
//! What is asked for of an experiment, and the plan that it gives.

use crate::PlanError;
use crate::experiment::{self, Case, Experiment};
use crate::file::Count;
use lab_model::plan::Target;
use lab_model::{Measure, Plan, Point, Subject, SubjectId, Writes};

/// What is asked for. Empty lists: the experiment's own choice.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Subjects, or named selections of them.
    pub subjects: Vec<String>,
    /// Cases.
    pub cases: Vec<String>,
    /// Values for sweeps and factors: name and values; the one value `all` means all of a factor.
    pub set: Vec<(String, Vec<String>)>,
    /// The subject that the others are compared with.
    pub baseline: Option<String>,
    /// Measure a second copy of the baseline.
    pub control: bool,
    /// Of each sweep that was not asked for, only the first and the last value.
    pub few: bool,
    /// The inputs' and the schedule's seed.
    pub seed: u64,
    /// How to measure.
    pub measure: Measure,
}

impl Selection {
    /// The plan. Errors name what matches nothing, and the nearest valid word.
    pub fn plan(&self, experiment: &Experiment) -> Result<Plan, PlanError> {
        let (subjects, baseline) = self.subjects(experiment)?;
        self.known_parameters(experiment)?;
        let mut cases = Vec::new();
        let mut points = Vec::new();
        for case in self.cases(experiment)? {
            let case_points = self.points(case, cases.len())?;
            points.extend(case_points);
            cases.push(model(case));
        }
        let open = match &experiment.target {
            Some(Target::Sqlite { rows, .. }) => vec![("rows".to_owned(), rows.to_string())],
            None => Vec::new(),
        };
        Ok(Plan {
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            subjects,
            baseline,
            cases,
            points,
            measure: self.measure.clone(),
            proof: experiment.proof.clone(),
            open,
            target: experiment.target.clone(),
            seed: self.seed,
            commands: None,
        })
    }

    fn subjects(&self, experiment: &Experiment) -> Result<(Vec<Subject>, SubjectId), PlanError> {
        let wanted = self.wanted_subjects(experiment)?;
        let all = experiment.subjects.iter();
        let mut subjects: Vec<Subject> = all
            .filter(|s| wanted.contains(&s.model.name))
            .map(|s| s.model.clone())
            .collect();
        if subjects.is_empty() {
            return Err(PlanError::asked(format!(
                "no subject of `{}` is selected; name some with --subjects",
                experiment.name
            )));
        }
        let name = match &self.baseline {
            Some(name) => name,
            None if wanted.contains(&experiment.baseline) => &experiment.baseline,
            None => &subjects[0].name,
        };
        let baseline = subjects
            .iter()
            .position(|s| s.name == *name)
            .ok_or_else(|| {
                PlanError::asked(format!("the baseline `{name}` is not among the subjects"))
                    .known(name, subjects.iter().map(|s| s.name.as_str()))
            })?;
        if self.control {
            let original = &subjects[baseline];
            subjects.push(Subject {
                name: format!("{}-control", original.name),
                control_of: Some(baseline),
                ..original.clone()
            });
        }
        Ok((subjects, baseline))
    }

    fn wanted_subjects(&self, experiment: &Experiment) -> Result<Vec<String>, PlanError> {
        if self.subjects.is_empty() {
            let chosen = experiment.subjects.iter().filter(|s| s.default);
            return Ok(chosen.map(|s| s.model.name.clone()).collect());
        }
        let mut wanted = Vec::new();
        for name in &self.subjects {
            if let Some(members) = experiment.selections.get(name) {
                wanted.extend(members.iter().cloned());
            } else if experiment.subject(name).is_some() {
                wanted.push(name.clone());
            } else {
                let names = experiment.subjects.iter().map(|s| s.model.name.as_str());
                let known = names.chain(experiment.selections.keys().map(String::as_str));
                return Err(PlanError::asked(format!(
                    "`{}` has no subject `{name}`",
                    experiment.name
                ))
                .known(name, known));
            }
        }
        Ok(wanted)
    }

    fn cases<'e>(&self, experiment: &'e Experiment) -> Result<Vec<&'e Case>, PlanError> {
        let names = experiment.cases.iter().map(|c| c.name.as_str());
        if let Some(wrong) = self
            .cases
            .iter()
            .find(|c| !names.clone().any(|n| n == c.as_str()))
        {
            return Err(
                PlanError::asked(format!("`{}` has no case `{wrong}`", experiment.name))
                    .known(wrong, names),
            );
        }
        let chosen = |c: &&Case| self.cases.is_empty() || self.cases.contains(&c.name);
        Ok(experiment.cases.iter().filter(chosen).collect())
    }

    /// A `--set` must match a sweep or factor of a selected case.
    fn known_parameters(&self, experiment: &Experiment) -> Result<(), PlanError> {
        for (i, (key, _)) in self.set.iter().enumerate() {
            if self.set[..i].iter().any(|(earlier, _)| earlier == key) {
                return Err(PlanError::asked(format!(
                    "--set {key}=… is given twice; write all its values into one, separated by commas"
                )));
            }
            if !experiment::parameters(experiment).any(|p| p == key) {
                return Err(PlanError::asked(format!(
                    "--set {key}=…: no case of `{}` has `{key}`",
                    experiment.name
                ))
                .known(key, experiment::parameters(experiment)));
            }
            let has = |c: &&Case| parameter_names(c).any(|n| n == key);
            if !self.cases(experiment)?.iter().any(has) {
                return Err(PlanError::asked(format!(
                    "--set {key}=…: none of the selected cases has `{key}`"
                )));
            }
        }
        Ok(())
    }

    fn points(&self, case: &Case, index: usize) -> Result<Vec<Point>, PlanError> {
        let mut points = Vec::new();
        for factors in self.factor_choices(case)? {
            let thinned = self.thins(case, &factors);
            for x in self.sweep_values(case)? {
                if let (Some(x), Some(kept)) = (x, thinned)
                    && !kept.contains(&x)
                {
                    continue;
                }
                points.push(point(case, index, &factors, x));
            }
        }
        Ok(points)
    }

    /// The sweep values to which a further value of a factor is confined, when nobody asked for it.
    fn thins<'c>(&self, case: &'c Case, factors: &[(String, String)]) -> Option<&'c Vec<u64>> {
        let (sweep, _) = case.sweep.as_ref()?;
        if self.asked(sweep).is_some() {
            return None;
        }
        let further = case
            .factors
            .iter()
            .zip(factors)
            .any(|((name, values), (_, value))| *value != values[0] && self.asked(name).is_none());
        case.thin.as_ref().filter(|_| further)
    }

    fn sweep_values(&self, case: &Case) -> Result<Vec<Option<u64>>, PlanError> {
        let Some((name, values)) = &case.sweep else {
            return Ok(vec![None]);
        };
        let Some(asked) = self.asked(name).filter(|a| *a != ["all"]) else {
            let ends = [values[0], values[values.len() - 1]];
            let few = self.few && self.asked(name).is_none();
            let kept = values.iter().filter(|x| !few || ends.contains(x));
            return Ok(kept.copied().map(Some).collect());
        };
        let mut numbers = Vec::new();
        for word in asked {
            let number = word.parse().ok().filter(|n| (1..=1_000_000).contains(n));
            numbers.push(Some(number.ok_or_else(|| {
                PlanError::asked(format!(
                    "--set {name}={word}: a whole number from 1 to 1000000 is wanted"
                ))
            })?));
        }
        numbers.sort();
        numbers.dedup();
        Ok(numbers)
    }

    fn factor_choices(&self, case: &Case) -> Result<Vec<Vec<(String, String)>>, PlanError> {
        let mut choices = vec![Vec::new()];
        for (name, values) in &case.factors {
            let chosen = match self.asked(name).filter(|a| *a != ["all"]) {
                None => values.clone(),
                Some(asked) => {
                    if let Some(wrong) = asked.iter().find(|a| !values.contains(a)) {
                        return Err(PlanError::asked(format!(
                            "--set {name}={wrong}: no such value"
                        ))
                        .known(wrong, values.iter().map(String::as_str)));
                    }
                    values
                        .iter()
                        .filter(|v| asked.contains(v))
                        .cloned()
                        .collect()
                }
            };
            choices = choices
                .iter()
                .flat_map(|rest| {
                    chosen.iter().map(move |value| {
                        let mut choice = rest.clone();
                        choice.push((name.clone(), value.clone()));
                        choice
                    })
                })
                .collect();
        }
        Ok(choices)
    }

    fn asked(&self, name: &str) -> Option<&[String]> {
        self.set
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, values)| values.as_slice())
    }
}

fn point(case: &Case, index: usize, factors: &[(String, String)], x: Option<u64>) -> Point {
    let sweep = case
        .sweep
        .as_ref()
        .zip(x)
        .map(|((name, _), x)| (name.clone(), x.to_string()));
    let count = |count: &Count| match count {
        Count::Number(n) => *n,
        Count::Sweep(_) => x.unwrap_or(0),
    };
    let writes = case.writes.as_ref().map(|w| Writes {
        rows: count(&w.rows),
        transactions: count(&w.transactions),
        schema_changes: count(&w.schema_changes),
    });
    Point {
        case: index,
        params: sweep.into_iter().chain(factors.iter().cloned()).collect(),
        x: x.map(|x| x as f64),
        writes: writes.unwrap_or_default(),
    }
}

fn model(case: &Case) -> lab_model::Case {
    lab_model::Case {
        name: case.name.clone(),
        work: case.work.clone(),
        unit: case.unit.clone(),
        sweep: case.sweep.as_ref().map(|(name, _)| name.clone()),
        check: case.check.clone(),
        empty: case.empty,
    }
}

fn parameter_names(case: &Case) -> impl Iterator<Item = &String> {
    case.sweep
        .iter()
        .map(|(name, _)| name)
        .chain(case.factors.iter().map(|(name, _)| name))
}

// SPDX-License-Identifier: Apache-2.0
//! The user's selection from an experiment, and the plan that results from it.

use crate::PlanError;
use crate::case::{Case, Extent, Factor};
use crate::experiment::all_targets;
use crate::experiment::{self, Experiment};
use crate::file::Count;
use crate::own_sql;
use crate::serving;
use lab_model::point_load::{CLOSED, LOAD};
use lab_model::{
    CaseId, IdVec, Measure, Plan, Point, PointId, Serving, Subject, SubjectId, Target, TargetId,
    TargetKind, Work, Writes,
};

/// The divisor that shortens long batches in quick runs, so that more batches fit into the time.
const QUICK_DIVISOR: u64 = 4;

/// The maximum value of a sweep that a user can request.
const MAX_SWEEP_VALUE: u64 = 1 << 24;

/// The requested cases, subjects and values. An empty list selects the experiment's defaults.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The names of subjects or of selections of subjects.
    pub subjects: Vec<String>,
    /// The names of cases.
    pub cases: Vec<String>,
    /// The kinds of targets.
    pub targets: Vec<TargetKind>,
    /// Settings of servers: kind, name, value.
    pub service_set: Vec<(TargetKind, String, String)>,
    /// Kinds of servers that the user provides.
    pub external: Vec<TargetKind>,
    /// The values of sweeps and factors, by name. The value `all` selects all values.
    pub set: Vec<(String, Vec<String>)>,
    /// Values of factors that this machine does not support, such as `link=cable_netem`.
    pub absent: Vec<(String, String)>,
    /// Directories for subjects that need a working directory.
    pub on: Vec<SubjectDirectory>,
    /// The baseline. `None` selects the experiment's default.
    pub baseline: Option<String>,
    /// True to measure a second copy of the baseline.
    pub control: bool,
    /// The extent of cases, values and subjects that are not requested explicitly.
    ///
    /// If the experiment defines no values of a sweep for quick runs, a quick run measures the
    /// first and last values.
    pub extent: Extent,
    /// The seed that determines the inputs and the schedule.
    pub seed: u64,
    /// The measurement settings.
    pub measure: Measure,
}

/// A directory in which subjects get a working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectDirectory {
    /// The path of an existing directory.
    pub folder: String,
    /// True if the directory is in memory and serves as the reference.
    pub in_memory: bool,
}

impl Selection {
    /// Builds the plan.
    ///
    /// # Errors
    /// Returns an error with the nearest valid word if a word matches nothing.
    pub fn plan(&self, experiment: &Experiment) -> Result<Plan, PlanError> {
        self.check_parameters(experiment)?;
        let cases = self.cases(experiment)?;
        check_same_metric(&cases)?;
        let names = self.subject_names(experiment)?;
        let chosen = |s: &&experiment::Subject| names.contains(&s.model.name);
        let chosen: Vec<_> = experiment.subjects.iter().filter(chosen).collect();
        let mut selected_targets: IdVec<TargetId, TargetId> = IdVec::new();
        let mut points: IdVec<PointId, Point> = IdVec::new();
        for selected in self.requested_targets(experiment, &cases, &chosen)? {
            let before = points.len();
            for (index, case) in (0..).map(CaseId).zip(&cases) {
                if case.targets.contains(&selected) {
                    points.extend(self.points(
                        experiment,
                        case,
                        index,
                        TargetId::from_index(selected_targets.len()),
                        selected,
                    )?);
                }
            }
            if points.len() > before {
                selected_targets.push(selected);
            }
        }
        if selected_targets.is_empty() {
            return Err(PlanError::of_request(nothing_in_common(experiment)));
        }
        let mut plan = Plan {
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            subjects: self
                .assign_directories(subjects(&chosen, &selected_targets), experiment)?
                .into(),
            cases: cases.into_iter().map(|case| self.model(case)).collect(),
            points,
            measure: self.measure.clone(),
            proof: experiment.proof.clone(),
            targets: selected_targets
                .iter()
                .filter_map(|&selected| experiment.targets.get(selected))
                .map(|target| self.target(target, experiment))
                .collect(),
            seed: self.seed,
            work: self.work(experiment),
            workload: experiment.workload.as_ref().map(|w| w.model.clone()),
            ..Plan::default()
        };
        drop_subjects_without_cases(&mut plan);
        plan.fixtures = experiment.fixtures_of(&plan);
        plan.read_loads().map_err(PlanError::of_request)?;
        serving::check(&plan)?;
        plan.baseline = self.baseline(experiment, &plan.subjects)?;
        if self.control {
            for target in selected_targets.ids() {
                let original = plan.baseline_for(target);
                plan.subjects
                    .push(control(&plan.subjects[original], original));
            }
        }
        Ok(plan)
    }

    /// Assigns the subjects that need a working directory to all directories, or only to the first
    /// directory.
    fn assign_directories(
        &self,
        subjects: Vec<Subject>,
        experiment: &Experiment,
    ) -> Result<Vec<Subject>, PlanError> {
        let in_folder = experiment
            .targets
            .iter()
            .any(|t| t.kind == TargetKind::Folder);
        if !in_folder {
            return Ok(subjects);
        }
        let Some(first) = self.on.first() else {
            let name = &experiment.name;
            return Err(PlanError::of_request(format!(
                "`{name}` needs a directory to work in: specify a writable one with --on"
            )));
        };
        let at = |subject: &Subject, directory: &SubjectDirectory| Subject {
            place: Some(directory.folder.clone()),
            ..subject.clone()
        };
        if !experiment.each_directory {
            return Ok(subjects.iter().map(|subject| at(subject, first)).collect());
        }
        let alone = subjects.len() == 1;
        let named = |subject: &Subject, directory: &SubjectDirectory| Subject {
            name: if alone {
                directory.folder.clone()
            } else {
                format!("{} {}", subject.name, directory.folder)
            },
            origin: Some(subject.name.clone()),
            reference: directory.in_memory,
            ..at(subject, directory)
        };
        let directories = self.on.iter();
        let subjects =
            directories.flat_map(|directory| subjects.iter().map(move |s| named(s, directory)));
        Ok(subjects.collect())
    }

    /// Returns the kind of work: servers with the examples of the selected cases, or programs that run batches.
    fn work(&self, experiment: &Experiment) -> Work {
        let Some(serving) = &experiment.serving else {
            return Work::Batches;
        };
        let chosen = |case: &Case| self.has(case);
        let examples = experiment.cases.iter().zip(&serving.examples);
        let examples = examples.filter(|(case, _)| chosen(case));
        Work::Servers(serving::servers(Serving {
            examples: examples.map(|(_, examples)| examples.clone()).collect(),
            ..serving.clone()
        }))
    }

    /// Returns the target with the server settings that the user requested.
    fn target(&self, target: &Target, experiment: &Experiment) -> Target {
        let workload = experiment.workload.as_ref();
        let set = self.service_set.iter().filter(|s| s.0 == target.kind);
        Target {
            set: set
                .map(|(_, name, value)| (name.clone(), value.clone()))
                .collect(),
            external: self.external.contains(&target.kind),
            setup: workload.map(|workload| workload.setup(target.kind, self.seed)),
            ..target.clone()
        }
    }

    /// Returns the requested targets that have at least one case and one subject, as indices into
    /// the experiment's targets.
    fn requested_targets(
        &self,
        experiment: &Experiment,
        cases: &[&Case],
        subjects: &[&experiment::Subject],
    ) -> Result<Vec<TargetId>, PlanError> {
        let kinds: Vec<TargetKind> = experiment.targets.iter().map(|t| t.kind).collect();
        let names = kinds.iter().map(|k| k.name());
        if let Some(unknown) = self.targets.iter().find(|t| !kinds.contains(t)) {
            let name = unknown.name();
            let message = format!("`{}` has no target `{name}`", experiment.name);
            return Err(PlanError::of_request(message).with_nearest(name, names));
        }
        if subjects.is_empty() {
            let name = &experiment.name;
            let message =
                format!("no subject of `{name}` is selected; select some with --subjects");
            return Err(PlanError::of_request(message));
        }
        let is_requested = |target: TargetId| {
            let kind = kinds.get(target.index());
            self.targets.is_empty() || kind.is_some_and(|k| self.targets.contains(k))
        };
        let all = all_targets(&kinds);
        let targets: Vec<TargetId> = all
            .filter(|&target| is_requested(target))
            .filter(|target| cases.iter().any(|c| c.targets.contains(target)))
            .filter(|&target| subjects.iter().any(|s| s.model.target == target))
            .collect();
        if targets.is_empty() {
            Err(PlanError::of_request(nothing_in_common(experiment)))
        } else {
            Ok(targets)
        }
    }

    fn baseline(
        &self,
        experiment: &Experiment,
        subjects: &IdVec<SubjectId, Subject>,
    ) -> Result<SubjectId, PlanError> {
        let named = |name: &String| subjects.find_id(|s| s.name == *name);
        let Some(name) = &self.baseline else {
            return Ok(named(&experiment.baseline).unwrap_or_default());
        };
        named(name).ok_or_else(|| {
            PlanError::of_request(format!("the baseline `{name}` is not among the subjects"))
                .with_nearest(name, subjects.iter().map(|s| s.name.as_str()))
        })
    }

    fn subject_names(&self, experiment: &Experiment) -> Result<Vec<String>, PlanError> {
        if self.subjects.is_empty() {
            if let Some(named) = experiment.selections.get(self.extent.table()) {
                return Ok(named.clone());
            }
            let chosen = experiment.subjects.iter().filter(|s| s.default);
            return Ok(chosen.map(|s| s.model.name.clone()).collect());
        }
        let mut names = Vec::new();
        for name in &self.subjects {
            if let Some(members) = experiment.selections.get(name) {
                names.extend(members.iter().cloned());
            } else if experiment.subjects.iter().any(|s| s.model.name == *name) {
                names.push(name.clone());
            } else {
                let subjects = experiment.subjects.iter().map(|s| s.model.name.as_str());
                let words = subjects.chain(experiment.selections.keys().map(String::as_str));
                return Err(PlanError::of_request(format!(
                    "`{}` has no subject `{name}`",
                    experiment.name
                ))
                .with_nearest(name, words));
            }
        }
        Ok(names)
    }

    fn cases<'e>(&self, experiment: &'e Experiment) -> Result<Vec<&'e Case>, PlanError> {
        let names = experiment.cases.iter().map(|c| c.name.as_str());
        if let Some(wrong) = self
            .cases
            .iter()
            .find(|c| !names.clone().any(|n| n == c.as_str()))
        {
            return Err(PlanError::of_request(format!(
                "`{}` has no case `{wrong}`",
                experiment.name
            ))
            .with_nearest(wrong, names));
        }
        let chosen = |c: &&Case| self.has(c);
        Ok(experiment.cases.iter().filter(chosen).collect())
    }

    fn has(&self, case: &Case) -> bool {
        if self.cases.is_empty() {
            case.default && case.values(self.extent).is_some()
        } else {
            self.cases.contains(&case.name)
        }
    }

    /// Checks that each `--set` matches a sweep or factor of a selected case.
    fn check_parameters(&self, experiment: &Experiment) -> Result<(), PlanError> {
        for (i, (key, _)) in self.set.iter().enumerate() {
            if self.set[..i].iter().any(|(earlier, _)| earlier == key) {
                return Err(PlanError::of_request(format!(
                    "--set {key}=… is given twice; pass all its values at once, separated by commas"
                )));
            }
            if !experiment::parameters(experiment).any(|p| p == key) {
                return Err(PlanError::of_request(format!(
                    "--set {key}=…: no case of `{}` has `{key}`",
                    experiment.name
                ))
                .with_nearest(key, experiment::parameters(experiment)));
            }
            let has = |c: &&Case| parameter_names(c).any(|n| n == key);
            if !self.cases(experiment)?.iter().any(has) {
                return Err(PlanError::of_request(format!(
                    "--set {key}=…: none of the selected cases has `{key}`"
                )));
            }
        }
        Ok(())
    }

    fn points(
        &self,
        experiment: &Experiment,
        case: &Case,
        index: CaseId,
        target: TargetId,
        selected: TargetId,
    ) -> Result<Vec<Point>, PlanError> {
        let mut points = Vec::new();
        let kind = experiment.targets.get(selected).map(|target| target.kind);
        for factors in self.factor_choices(case, selected)? {
            for x in self.measured_values(case, &factors)? {
                let mut point = Point {
                    target,
                    ..point(case, index, &factors, x)
                };
                if let Some((_, work)) = case.sql.iter().find(|(on, _)| *on == selected) {
                    own_sql::describe_point(&mut point, work, kind);
                }
                points.push(point);
            }
        }
        Ok(points)
    }

    /// Returns true if a combination of factor values is not measured at a sweep value, because the
    /// combination contains a non-default value that the user did not request.
    ///
    /// If a table of the experiment lists values of the sweep but not of the factor, all values of
    /// the factor are measured.
    fn thins(&self, case: &Case, factors: &[(String, String)], x: u64) -> bool {
        let Some((sweep, _)) = &case.sweep else {
            return false;
        };
        let is_set = |name: &str| self.set.iter().any(|(key, _)| key == name);
        let is_named = |name: &str| self.requested_values(case, name).is_some();
        if is_set(sweep) {
            return false;
        }
        let further = |name: &String, value: &String| {
            let factor = case.factors.iter().find(|f| f.name == *name);
            let is_default = factor.is_some_and(|f| f.values[0] == *value);
            !is_default && !is_set(name) && is_named(name) == is_named(sweep)
        };
        factors.iter().any(|(name, value)| {
            let thin = case.thin.get(name);
            further(name, value) && thin.is_some_and(|thin| !thin.contains(&x))
        })
    }

    /// Returns the sweep values at which a combination of factor values is measured.
    ///
    /// A quick run measures the first and last values of the sweep. If the combination is measured
    /// at neither of these values, a quick run measures the first and last values at which the
    /// combination is measured.
    fn measured_values(
        &self,
        case: &Case,
        factors: &[(String, String)],
    ) -> Result<Vec<Option<u64>>, PlanError> {
        let Some((name, values)) = &case.sweep else {
            return Ok(vec![None]);
        };
        if let Some(requested) = self.requested_values(case, name).filter(|a| *a != ["all"]) {
            let all = requested_numbers(name, requested, *values.first().unwrap_or(&1))?;
            let is_measured = |x: &Option<u64>| x.is_none_or(|x| !self.thins(case, factors, x));
            let kept: Vec<Option<u64>> = all.iter().copied().filter(is_measured).collect();
            return Ok(if kept.is_empty() { all } else { kept });
        }
        let thinned = |x: &&u64| !self.thins(case, factors, **x);
        let kept: Vec<&u64> = values.iter().filter(thinned).collect();
        let few = self.extent == Extent::Quick && self.requested_values(case, name).is_none();
        let ends = |of: &[&u64]| [of.first(), of.last()].map(|x| x.map(|x| **x));
        let endpoints = match ends(&values.iter().collect::<Vec<_>>()) {
            ends if kept.iter().any(|x| ends.contains(&Some(**x))) => ends,
            _ => ends(&kept),
        };
        let kept = kept.into_iter().filter(|x| {
            !few || endpoints.contains(&Some(**x)) || self.finds_peak(case, factors, **x)
        });
        Ok(kept.copied().map(Some).collect())
    }

    /// Returns true if the closed loop must be measured at a sweep value, because the plan contains
    /// load at fractions of the closed loop's peak.
    fn finds_peak(&self, case: &Case, factors: &[(String, String)], x: u64) -> bool {
        let has_part = |values: &[String]| values.iter().any(|value| value.ends_with('%'));
        let load = case.factors.iter().find(|f| f.name == LOAD);
        let offered = load.is_some_and(|load| match self.requested_values(case, LOAD) {
            Some(requested) => {
                requested == ["all"] || requested.iter().any(|value| value.ends_with('%'))
            }
            None => has_part(&load.values),
        });
        let is_closed = factors
            .iter()
            .any(|(name, value)| name == LOAD && value == CLOSED);
        offered && is_closed && case.thin.get(LOAD).is_some_and(|thin| thin.contains(&x))
    }

    fn factor_choices(
        &self,
        case: &Case,
        target: TargetId,
    ) -> Result<Vec<Vec<(String, String)>>, PlanError> {
        let mut choices = vec![Vec::new()];
        let on_target = case.factors.iter().filter(|f| f.targets.contains(&target));
        for factor in on_target {
            let Factor { name, values, .. } = factor;
            let chosen: Vec<String> =
                match self.requested_values(case, name).filter(|a| *a != ["all"]) {
                    None => values.clone(),
                    Some(requested) => {
                        if let Some(wrong) = requested.iter().find(|a| !values.contains(a)) {
                            return Err(PlanError::of_request(format!(
                                "--set {name}={wrong}: no such value"
                            ))
                            .with_nearest(wrong, values.iter().map(String::as_str)));
                        }
                        values
                            .iter()
                            .filter(|v| requested.contains(v))
                            .cloned()
                            .collect()
                    }
                };
            let is_present = |value: &&String| {
                !factor.absent.contains(&(target, (*value).clone()))
                    && !self.absent.contains(&(name.clone(), (*value).clone()))
            };
            choices = choices
                .iter()
                .flat_map(|rest| {
                    chosen.iter().filter(is_present).map(move |value| {
                        let mut choice = rest.clone();
                        choice.push((name.clone(), value.clone()));
                        choice
                    })
                })
                .collect();
        }
        Ok(choices)
    }

    fn model(&self, case: &Case) -> lab_model::Case {
        lab_model::Case {
            name: case.name.clone(),
            work: case.work.clone(),
            unit: case.unit.clone(),
            sweep: case.sweep.as_ref().map(|(name, _)| name.clone()),
            check: case.check.clone(),
            empty: case.empty,
            cores: case.cores,
            turn_ns: case.turn_ns.map(|ns| match self.extent {
                // In a shorter turn with a fixed rate, too few operations would be due for a p99.
                Extent::Quick if case.rate.is_none() => ns / QUICK_DIVISOR,
                Extent::Quick | Extent::Usual | Extent::Thorough => ns,
            }),
            latencies: case.latencies,
            rate: case.rate,
            uncompared: !case.compare,
            metrics: case.metrics.clone(),
            observed: case.observed.clone(),
        }
    }

    /// Returns the requested values of a parameter. Without a request, returns the experiment's
    /// values for the run's extent.
    fn requested_values<'s>(&'s self, case: &'s Case, name: &str) -> Option<&'s [String]> {
        let set = self.set.iter().find(|(key, _)| key == name);
        let named = || case.values(self.extent)?.get(name);
        set.map(|(_, values)| values)
            .or_else(named)
            .map(Vec::as_slice)
    }
}

/// Checks that either every case or no case has a rate.
///
/// Cases with a rate are compared by latency. Other cases are compared by time.
fn check_same_metric(cases: &[&Case]) -> Result<(), PlanError> {
    let of = |has_rate: bool| cases.iter().find(|case| case.rate.is_some() == has_rate);
    of(true).zip(of(false)).map_or(Ok(()), |(due, other)| {
        Err(PlanError::of_request(format!(
            "`{}` has a `rate` and `{}` has none: measure them in separate runs, with --cases",
            due.name, other.name
        )))
    })
}

fn nothing_in_common(experiment: &Experiment) -> String {
    format!(
        "no point of `{}` matches all selected subjects, cases, targets and values",
        experiment.name
    )
}

/// Parses the values of a sweep. The result is sorted and has no duplicates.
fn requested_numbers(
    name: &str,
    words: &[String],
    first: u64,
) -> Result<Vec<Option<u64>>, PlanError> {
    let least = first.min(1);
    let mut numbers = Vec::new();
    for word in words {
        let number = word.parse().ok();
        let number = number.filter(|n| (least..=MAX_SWEEP_VALUE).contains(n));
        numbers.push(Some(number.ok_or_else(|| {
            PlanError::of_request(format!(
                "--set {name}={word}: expected a whole number from {least} to {MAX_SWEEP_VALUE}"
            ))
        })?));
    }
    numbers.sort();
    numbers.dedup();
    Ok(numbers)
}

fn point(case: &Case, index: CaseId, factors: &[(String, String)], x: Option<u64>) -> Point {
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
    let statements = case.statements.iter();
    Point {
        case: index,
        statements: statements
            .map(|(word, n)| (word.clone(), count(n)))
            .collect(),
        reads: count(&case.reads),
        params: sweep.into_iter().chain(factors.iter().cloned()).collect(),
        x: x.map(|x| x as f64),
        writes: writes.unwrap_or_default(),
        ..Point::default()
    }
}

/// Returns the subjects grouped by target, in the order of the experiment within each target.
fn subjects(
    chosen: &[&experiment::Subject],
    selected_targets: &IdVec<TargetId, TargetId>,
) -> Vec<Subject> {
    let on = |(target, selected): (TargetId, &TargetId)| {
        let on_target = chosen.iter().filter(|s| s.model.target == *selected);
        let subject = |s: &&experiment::Subject| Subject {
            target,
            ..s.model.clone()
        };
        on_target.map(subject).collect::<Vec<_>>()
    };
    selected_targets.enumerated().flat_map(on).collect()
}

/// Removes subjects for which no case remains.
fn drop_subjects_without_cases(plan: &mut Plan) {
    let cases: Vec<&str> = plan.cases.iter().map(|c| c.name.as_str()).collect();
    plan.subjects.retain(|subject| {
        let mut cases_of_subject = subject.cases.iter();
        cases_of_subject.len() == 0 || cases_of_subject.any(|name| cases.contains(&name.as_str()))
    });
}

fn control(original: &Subject, id: SubjectId) -> Subject {
    Subject {
        name: format!("{}-control", original.name),
        control_of: Some(id),
        ..original.clone()
    }
}

fn parameter_names(case: &Case) -> impl Iterator<Item = &String> {
    case.sweep
        .iter()
        .map(|(name, _)| name)
        .chain(case.factors.iter().map(|f| &f.name))
}

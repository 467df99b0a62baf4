// SPDX-License-Identifier: Apache-2.0
//! Reads and validates the directory of an experiment.

use crate::PlanError;
use crate::case::{Case, Factor};
use crate::effects;
use crate::extent;
use crate::file::{self, Count, File, Role};
use crate::fixtures;
use crate::metrics;
use crate::own_sql::Workload;
use crate::project::{EXPERIMENT_FILE, Project};
use crate::serving;
use crate::toolchains::Toolchains;
use lab_model::{Check, Cores, IdVec, Metric, Plan, Proof, Serving, Target, TargetId, TargetKind};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// An experiment as defined by its file.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of the experiment's directory.
    pub name: String,
    /// The display title.
    pub title: String,
    /// The question that the experiment answers.
    pub question: String,
    /// The name of the baseline: the subject with which all other subjects are compared.
    pub baseline: String,
    /// The targets that the subjects work on.
    pub targets: IdVec<TargetId, Target>,
    /// The settings that must be equal for all subjects.
    pub proof: Proof,
    /// Named sets of subjects.
    pub selections: BTreeMap<String, Vec<String>>,
    /// The cases of the experiment.
    pub cases: Vec<Case>,
    /// The files to serve and the requests to send, if the subjects are servers.
    pub serving: Option<Serving>,
    /// The subjects of the experiment.
    pub subjects: Vec<Subject>,
    /// The fixtures of the experiment.
    pub fixtures: Vec<Fixture>,
    /// True to measure a separate subject, with its own name, in each directory. False to measure
    /// only one directory.
    pub each_directory: bool,
    /// The program that `--why` runs, and its arguments, to which benchlab appends the directory.
    /// Empty if there is no such program.
    pub why: Vec<String>,
    /// The time of a quick run in seconds, from 10 to 600. `None` selects the default for all
    /// experiments.
    pub quick_s: Option<u32>,
    /// True if the subjects can run workloads of the user's own SQL.
    pub workloads: bool,
    /// The workload that replaces the experiment's cases.
    pub workload: Option<Workload>,
}

/// The valid range of the time of an experiment's quick runs, in seconds.
const QUICK_S: std::ops::RangeInclusive<u32> = 10..=600;

/// A subject on one target, with the recipe for building it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The subject as the plan defines it.
    pub model: lab_model::Subject,
    /// True if the subject is measured by default.
    pub default: bool,
    /// True if the subject is skipped without an error when one of its requirements is missing.
    pub optional: bool,
    /// The requirements and build commands of the subject.
    pub recipe: Recipe,
}

/// A helper program of the experiment.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The fixture as the plan defines it.
    pub model: lab_model::Fixture,
    /// The program with its recipe, named `fixture NAME`. It is built like a subject.
    pub program: Subject,
}

/// The requirements and the build commands of a subject or a fixture.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// Names of toolchains in `experiments/toolchains.toml`.
    pub needs: Vec<String>,
    /// Toolchains that install the server that the subject uses. They are not needed if the user
    /// provides the server.
    pub services: Vec<String>,
    /// The source files and directories. The subject is rebuilt if one of them changes.
    pub sources: Vec<PathBuf>,
    /// Build commands, which run in the project's directory.
    pub build: Vec<Vec<String>>,
}

/// The swept parameter of a case and its values.
type Sweep = Option<(String, Vec<u64>)>;

/// Returns the IDs of all targets. Without targets, returns the ID of the single implicit target.
pub(crate) fn all_targets(kinds: &[TargetKind]) -> impl Iterator<Item = TargetId> + use<> {
    (0..kinds.len().max(1)).map(TargetId::from_index)
}

impl Experiment {
    /// Reads the file of one of the project's experiments.
    ///
    /// # Errors
    /// Returns an error with the file and the line. For an unknown word, the error also
    /// contains the nearest valid word.
    pub fn read(project: &Project, name: &str) -> Result<Experiment, PlanError> {
        let names = project.experiments();
        if !names.iter().any(|n| n == name) {
            return Err(
                PlanError::of_request(format!("there is no experiment `{name}`"))
                    .with_nearest(name, names.iter().map(String::as_str)),
            );
        }
        let path = project.experiment_folder(name).join(EXPERIMENT_FILE);
        let text = std::fs::read_to_string(project.folder().join(&path))
            .map_err(|e| PlanError::of_request(format!("{}: {e}", path.display())))?;
        let toolchains = Toolchains::read(project)?;
        let file: File = toml::from_str(&text).map_err(|e| PlanError::toml(&path, &text, &e))?;
        ExperimentReader {
            project,
            path: &path,
            text: &text,
            toolchains: &toolchains,
        }
        .validate(name, file)
    }

    /// Returns the experiment's subject that corresponds to a plan's subject.
    pub fn subject(&self, plan: &Plan, subject: &lab_model::Subject) -> Option<&Subject> {
        let kind = |targets: &IdVec<TargetId, Target>, id| targets.get(id).map(|t| t.kind);
        let kind_of_target = kind(&plan.targets, subject.target);
        let name = subject.origin.as_ref().unwrap_or(&subject.name);
        let same = |s: &&Subject| {
            s.model.name == *name && kind(&self.targets, s.model.target) == kind_of_target
        };
        self.subjects.iter().find(same)
    }

    /// Returns the fixtures that a plan of this experiment needs.
    pub fn fixtures_of(&self, plan: &Plan) -> Vec<lab_model::Fixture> {
        let fixtures = self.fixtures.iter().map(|fixture| &fixture.model);
        let used = fixtures.filter(|fixture| fixtures::is_used(plan, fixture));
        used.cloned().collect()
    }

    /// Returns the IDs of the targets. Without targets, returns the ID of the single implicit
    /// target.
    pub fn target_ids(&self) -> impl Iterator<Item = TargetId> + use<> {
        (0..self.targets.len().max(1)).map(TargetId::from_index)
    }

    /// Returns the label of a subject, as in [`Plan::subject_label`].
    pub fn label(&self, subject: &Subject) -> String {
        let name = &subject.model.name;
        if self.fixtures.iter().any(|f| f.program.model.name == *name) {
            return name.clone();
        }
        match self.targets.get(subject.model.target) {
            Some(target) if self.targets.len() > 1 => format!("{name} on {}", target.kind.name()),
            _ => name.clone(),
        }
    }
}

/// A reader of an experiment. It holds the experiment's file, for error messages, and the known
/// toolchains.
struct ExperimentReader<'a> {
    project: &'a Project,
    path: &'a Path,
    text: &'a str,
    toolchains: &'a Toolchains,
}

impl ExperimentReader<'_> {
    fn validate(&self, name: &str, file: File) -> Result<Experiment, PlanError> {
        let targets = self.targets(&file)?;
        let at = |span, reason: String| self.error_at(span, reason);
        effects::validate(&file, &targets, &at)?;
        let kinds: Vec<TargetKind> = targets.iter().map(|t| t.kind).collect();
        self.unique(file.case.iter().map(|c| &c.name), "case")?;
        self.unique(file.subject.iter().map(|s| &s.name), "subject")?;
        let metrics = metrics::validate(&file.metric, &at)?;
        let mut cases = file
            .case
            .iter()
            .map(|c| self.case(c, &kinds, &metrics))
            .collect::<Result<Vec<_>, _>>()?;
        for (case, written) in cases.iter_mut().zip(&file.case) {
            case.metrics.extend(effects::metrics_of(written));
        }
        effects::remove_absent_faults(&mut cases, &file, &targets);
        let tables = [&file.quick, &file.usual];
        let [quick, usual] = tables.map(|table| extent::values_by_case(table, &cases, &at));
        for (case, (quick, usual)) in cases.iter_mut().zip(quick?.into_iter().zip(usual?)) {
            (case.quick, case.usual) = (quick, usual);
        }
        let mut subjects = Vec::new();
        for subject in &file.subject {
            self.check_cases(&subject.cases, &cases)?;
            subjects.extend(self.on_targets(subject, &file, &kinds)?);
        }
        if cases.is_empty() || subjects.is_empty() {
            return Err(PlanError::of_request(format!(
                "{}: an experiment needs at least one [[case]] and one [[subject]]",
                self.path.display()
            )));
        }
        if let Some(quick_s) = &file.experiment.quick_s
            && !QUICK_S.contains(quick_s.get_ref())
        {
            let (least, most) = (QUICK_S.start(), QUICK_S.end());
            let reason = format!("`quick_s` must be from {least} to {most} seconds");
            return Err(self.error_at(quick_s.span(), reason));
        }
        let serving = self.serving(&file, &cases, &metrics)?;
        let fixtures = self.fixtures(&file, &mut cases, &metrics)?;
        let names = || subjects.iter().map(|s| s.model.name.as_str());
        for named in file
            .selection
            .values()
            .flatten()
            .chain([&file.experiment.baseline])
        {
            if !names().any(|n| n == named.get_ref()) {
                return Err(self
                    .error_at(
                        named.span(),
                        format!("there is no subject `{}`", named.get_ref()),
                    )
                    .with_nearest(named.get_ref(), names()));
            }
        }
        if let Some(twice) = file
            .selection
            .keys()
            .find(|s| names().any(|n| n == s.get_ref()))
        {
            return Err(self.error_at(
                twice.span(),
                format!(
                    "a subject and a selection are both named `{}`",
                    twice.get_ref()
                ),
            ));
        }
        Ok(Experiment {
            name: name.to_owned(),
            title: file.experiment.title,
            question: file.experiment.question,
            baseline: file.experiment.baseline.into_inner(),
            targets,
            proof: Proof {
                equal: file.proof.equal,
                conditions: file.proof.conditions,
            },
            selections: file
                .selection
                .into_iter()
                .map(|(k, v)| {
                    (
                        k.into_inner(),
                        v.into_iter().map(|s| s.into_inner()).collect(),
                    )
                })
                .collect(),
            cases,
            serving,
            subjects,
            fixtures,
            each_directory: file.target.get(&TargetKind::Folder).is_some_and(|t| t.each),
            why: file.experiment.why,
            quick_s: file.experiment.quick_s.map(|s| s.into_inner()),
            workloads: file.experiment.workloads,
            workload: None,
        })
    }

    /// Reads the files that servers serve, and the requests to the servers.
    ///
    /// # Errors
    /// Returns an error if a file has keys for servers but no `[server]`, or `[server]` but lacks
    /// one of these keys.
    fn serving(
        &self,
        file: &File,
        cases: &[Case],
        metrics: &[Metric],
    ) -> Result<Option<Serving>, PlanError> {
        let names = file.server.iter().flat_map(|s| &s.get_ref().metrics);
        let names: Vec<_> = names.cloned().collect();
        let read = |path: &str| {
            let folder = self.path.parent().unwrap_or(Path::new(""));
            std::fs::read_to_string(self.project.folder().join(folder).join(path))
        };
        let at = |span, message: String| self.error_at(span, message);
        serving::validate(
            file,
            cases,
            self.named_metrics(&names, metrics)?,
            &read,
            &at,
        )
    }

    fn targets(&self, file: &File) -> Result<IdVec<TargetId, Target>, PlanError> {
        let named = &file.experiment.targets;
        named.iter().map(|kind| self.target(kind, file)).collect()
    }

    fn target(&self, kind: &Spanned<TargetKind>, file: &File) -> Result<Target, PlanError> {
        let (span, kind) = (kind.span(), *kind.get_ref());
        let name = kind.name();
        let named = file.experiment.targets.iter();
        if named.filter(|k| *k.get_ref() == kind).count() > 1 {
            return Err(self.error_at(span, format!("`{name}` is listed twice")));
        }
        let Some(target) = file.target.get(&kind) else {
            return Err(self.error_at(
                span,
                format!("target `{name}` needs a table [target.{name}]"),
            ));
        };
        if target.table.is_some() != kind.is_database() {
            let reason = "a database target needs a `table`; a folder target must not have one";
            return Err(self.error_at(span, reason));
        }
        if kind.is_service() && target.settings.is_none() {
            let reason = format!(
                "[target.{name}] needs `settings`, the query with which subjects read back their settings"
            );
            return Err(self.error_at(span, reason));
        }
        self.check_needs(&target.needs)?;
        Ok(Target {
            kind,
            table: target.table.clone().unwrap_or_default(),
            rows: target.rows,
            mixed: target.mixed.clone(),
            effects: target.effects.clone(),
            faults: target.fault.clone().into_iter().collect(),
            settings: target.settings.clone(),
            proof: Proof {
                equal: target.equal.clone(),
                conditions: target.conditions.clone(),
            },
            set: Vec::new(),
            external: false,
            setup: None,
        })
    }

    /// Returns the indices of the named targets, or of all targets if `named` is empty.
    ///
    /// An experiment without targets has a single implicit target for its points.
    fn named_targets(
        &self,
        named: &[Spanned<TargetKind>],
        kinds: &[TargetKind],
    ) -> Result<Vec<TargetId>, PlanError> {
        if named.is_empty() {
            return Ok(all_targets(kinds).collect());
        }
        let target = |named: &Spanned<TargetKind>| {
            let target = kinds.iter().position(|k| k == named.get_ref());
            let target = target.map(TargetId::from_index);
            target.ok_or_else(|| self.no_target(named.span(), *named.get_ref(), kinds))
        };
        named.iter().map(target).collect()
    }

    fn no_target(&self, span: Range<usize>, kind: TargetKind, kinds: &[TargetKind]) -> PlanError {
        let name = kind.name();
        let message = format!("`{name}` is not among the experiment's `targets`");
        self.error_at(span, message)
            .with_nearest(name, kinds.iter().map(|k| k.name()))
    }

    fn case(
        &self,
        case: &file::Case,
        kinds: &[TargetKind],
        metrics: &[Metric],
    ) -> Result<Case, PlanError> {
        let sweep = self.sweep(case)?;
        let mut factors = Vec::new();
        for (name, values) in &case.factor {
            self.parameter(name, values.span())?;
            if case.sweep.contains_key(name) {
                return Err(self.error_at(
                    values.span(),
                    format!("`{name}` is already the name of the sweep"),
                ));
            }
            factors.push(self.factor(name, values, kinds)?);
        }
        if let Some(writes) = &case.writes {
            self.writes(writes, &sweep)?;
        }
        if (case.check == Check::Writes) != case.writes.is_some() {
            return Err(self.error_at(
                case.name.span(),
                "`check = \"writes\"` and `writes = …` must be used together",
            ));
        }
        let thin = self.thinned(case, &factors, &sweep)?;
        Ok(Case {
            name: case.name.get_ref().clone(),
            work: case.work.clone(),
            unit: case.unit.clone(),
            factors,
            thin,
            check: case.check.clone(),
            empty: case.empty,
            targets: self.named_targets(&case.targets, kinds)?,
            cores: case.cores,
            turn_ns: case.turn_ms.map(|ms| ms.saturating_mul(1_000_000)),
            latencies: case.reports_latencies(),
            rate: self.rate(case)?,
            default: case.default,
            quick: None,
            usual: None,
            compare: case.compare,
            metrics: self.named_metrics(&case.metrics, metrics)?,
            observed: Vec::new(),
            statements: self.statements(&case.statements, &sweep)?,
            reads: match &case.reads {
                Some(reads) => self.count(reads, &sweep)?,
                None => Count::default(),
            },
            sweep,
            writes: case.writes.as_ref().map(|w| w.get_ref().clone()),
            sql: Vec::new(),
        })
    }

    /// Returns the number of operations due per second.
    fn rate(&self, case: &file::Case) -> Result<Option<u64>, PlanError> {
        let Some(rate) = &case.rate else {
            return Ok(None);
        };
        match *rate.get_ref() {
            1..=1_000_000 if case.reports_latencies() => Ok(Some(*rate.get_ref())),
            1..=1_000_000 => Err(self.error_at(rate.span(), "`rate` needs `latencies = true`")),
            _ => Err(self.error_at(
                rate.span(),
                "`rate` must be from 1 to 1,000,000 operations per second",
            )),
        }
    }

    /// Returns the metrics that a case lists by name.
    fn named_metrics(
        &self,
        named: &[Spanned<String>],
        metrics: &[Metric],
    ) -> Result<Vec<Metric>, PlanError> {
        let ids = || metrics.iter().map(|metric| &*metric.id);
        let metric = |name: &Spanned<String>| {
            let found = metrics.iter().find(|m| m.id == **name.get_ref());
            found.cloned().ok_or_else(|| {
                let reason = format!("there is no [[metric]] `{}`", name.get_ref());
                self.error_at(name.span(), reason)
                    .with_nearest(name.get_ref(), ids())
            })
        };
        named.iter().map(metric).collect()
    }

    fn factor(
        &self,
        name: &str,
        factor: &Spanned<file::Factor>,
        kinds: &[TargetKind],
    ) -> Result<Factor, PlanError> {
        let span = factor.span();
        let (values, targets) = match factor.get_ref() {
            file::Factor::Values(values) => (values, &[][..]),
            file::Factor::OnTargets { values, targets } => (values, &targets[..]),
        };
        let distinct: HashSet<_> = values.iter().collect();
        if values.len() < 2 || distinct.len() < values.len() {
            let reason = format!("factor `{name}` needs two or more different values");
            return Err(self.error_at(span, reason));
        }
        let target = |kind: &TargetKind| {
            let index = kinds.iter().position(|k| k == kind);
            let target = index.map(TargetId::from_index);
            target.ok_or_else(|| self.no_target(span.clone(), *kind, kinds))
        };
        let targets: Vec<TargetId> = targets.iter().map(target).collect::<Result<_, _>>()?;
        Ok(Factor {
            name: name.to_owned(),
            values: values.clone(),
            targets: if targets.is_empty() {
                self.named_targets(&[], kinds)?
            } else {
                targets
            },
            absent: Vec::new(),
        })
    }

    fn statements(
        &self,
        statements: &BTreeMap<String, Spanned<Count>>,
        sweep: &Sweep,
    ) -> Result<Vec<(String, Count)>, PlanError> {
        let statement = |(word, count): (&String, &Spanned<Count>)| {
            Ok((word.clone(), self.count(count, sweep)?))
        };
        statements.iter().map(statement).collect()
    }

    fn count(&self, count: &Spanned<Count>, sweep: &Sweep) -> Result<Count, PlanError> {
        self.known_sweep(count.get_ref(), count.span(), sweep)?;
        Ok(count.get_ref().clone())
    }

    /// Returns an error if a count refers to a sweep of another case.
    fn known_sweep(
        &self,
        count: &Count,
        span: Range<usize>,
        sweep: &Sweep,
    ) -> Result<(), PlanError> {
        match count {
            Count::Sweep(name) if sweep.as_ref().is_none_or(|(sweep, _)| sweep != name) => {
                Err(self.error_at(span, format!("`{name}` is not the sweep of this case")))
            }
            _ => Ok(()),
        }
    }

    fn sweep(&self, case: &file::Case) -> Result<Sweep, PlanError> {
        let mut sweeps = case.sweep.iter();
        let Some((name, values)) = sweeps.next() else {
            return Ok(None);
        };
        if let Some((second, values)) = sweeps.next() {
            return Err(self.error_at(
                values.span(),
                format!("a case can have only one sweep; make `{second}` a factor"),
            ));
        }
        self.parameter(name, values.span())?;
        // Numbers of connections or threads start at 1.
        let least = u64::from(case.cores == Cores::All || !case.request.is_empty());
        let numbers = self.numbers(values.get_ref(), values.span(), (name, least))?;
        Ok(Some((name.clone(), numbers)))
    }

    /// Returns an error if the name cannot be an argument of `open` (docs/protocol.md).
    fn parameter(&self, name: &str, span: Range<usize>) -> Result<(), PlanError> {
        if !metrics::is_key(name) {
            return Err(self.error_at(
                span,
                format!("invalid parameter name `{name}`: expected lowercase letters, digits and _, with a \
                     letter first"),
            ));
        }
        if ["case", "rate", "rows", "seed", "target"].contains(&name) {
            return Err(self.error_at(
                span,
                format!("`{name}` is reserved: benchlab itself sends it to subjects"),
            ));
        }
        Ok(())
    }

    fn numbers(
        &self,
        values: &[i64],
        span: Range<usize>,
        (name, least): (&str, u64),
    ) -> Result<Vec<u64>, PlanError> {
        let wrong = || {
            let order = "in ascending order without duplicates";
            self.error_at(
                span.clone(),
                format!("`{name}` needs whole numbers of {least} or more, {order}"),
            )
        };
        let numbers: Option<Vec<u64>> = values
            .iter()
            .map(|&v| u64::try_from(v).ok().filter(|&v| v >= least))
            .collect();
        numbers
            .filter(|n| !n.is_empty() && n.is_sorted_by(|a, b| a < b))
            .ok_or_else(wrong)
    }

    /// Returns, for each factor, the sweep values at which its non-default values are measured.
    fn thinned(
        &self,
        case: &file::Case,
        factors: &[Factor],
        sweep: &Sweep,
    ) -> Result<BTreeMap<String, Vec<u64>>, PlanError> {
        let Some(thin) = &case.thin else {
            return Ok(BTreeMap::new());
        };
        let Some((_, sweep)) = sweep else {
            return Err(self.error_at(thin.span(), "`thin` needs a sweep"));
        };
        let names = || factors.iter().map(|f| f.name.as_str());
        let each: Vec<(&str, &[i64])> = match thin.get_ref() {
            file::SweepSubset::All(values) => names().map(|name| (name, &values[..])).collect(),
            file::SweepSubset::Each(each) => {
                each.iter().map(|(n, v)| (n.as_str(), &v[..])).collect()
            }
        };
        let one = |(name, values): (&str, &[i64])| {
            if !names().any(|factor| factor == name) {
                let reason = format!("`{name}` is not a factor of this case");
                return Err(self
                    .error_at(thin.span(), reason)
                    .with_nearest(name, names()));
            }
            let numbers = match values {
                [] => Vec::new(),
                values => self.numbers(values, thin.span(), ("thin", 0))?,
            };
            match numbers.iter().find(|v| !sweep.contains(v)) {
                Some(v) => {
                    Err(self.error_at(thin.span(), format!("{v} is not a value of the sweep")))
                }
                None => Ok((name.to_owned(), numbers)),
            }
        };
        each.into_iter().map(one).collect()
    }

    fn writes(&self, writes: &Spanned<file::Writes>, sweep: &Sweep) -> Result<(), PlanError> {
        let file::Writes {
            rows,
            transactions,
            schema_changes,
        } = writes.get_ref();
        [rows, transactions, schema_changes]
            .into_iter()
            .try_for_each(|count| self.known_sweep(count, writes.span(), sweep))
    }

    /// Returns one subject for each target for which the subject's entry in the file has a table.
    /// If the entry has no such table, returns one subject for every target.
    fn on_targets(
        &self,
        subject: &file::Subject,
        file: &File,
        kinds: &[TargetKind],
    ) -> Result<Vec<Subject>, PlanError> {
        let tables = TargetKind::ALL
            .into_iter()
            .filter_map(|k| Some((k, subject.overrides_for(k)?)));
        let tables: Vec<_> = tables.collect();
        if let Some((kind, table)) = tables.iter().find(|(k, _)| !kinds.contains(k)) {
            return Err(self.no_target(table.span(), *kind, kinds));
        }
        let on = |target: TargetId| {
            let kind = kinds.get(target.index()).copied();
            let table = tables.iter().find(|(k, _)| Some(*k) == kind);
            if table.is_none() && !tables.is_empty() {
                return Ok(None);
            }
            let overrides =
                subject.overridden_by(table.map(|(_, m)| m.get_ref().clone()).unwrap_or_default());
            let needs = kind.and_then(|k| file.target.get(&k)).map(|t| &t.needs[..]);
            self.subject(subject, &overrides, target, needs.unwrap_or_default())
                .map(Some)
        };
        let subjects = all_targets(kinds).map(on).collect::<Result<Vec<_>, _>>()?;
        Ok(subjects.into_iter().flatten().collect())
    }

    fn check_needs(&self, needs: &[Spanned<String>]) -> Result<(), PlanError> {
        let unknown = |n: &&Spanned<String>| self.toolchains.get(n.get_ref()).is_none();
        match needs.iter().find(unknown) {
            None => Ok(()),
            Some(need) => Err(self
                .error_at(
                    need.span(),
                    format!("experiments/toolchains.toml has no `{}`", need.get_ref()),
                )
                .with_nearest(need.get_ref(), self.toolchains.names())),
        }
    }

    fn check_cases(&self, named: &[Spanned<String>], cases: &[Case]) -> Result<(), PlanError> {
        let names = || cases.iter().map(|case| case.name.as_str());
        match named
            .iter()
            .find(|n| !names().any(|name| name == n.get_ref()))
        {
            None => Ok(()),
            Some(unknown) => {
                let reason = format!("there is no case `{}`", unknown.get_ref());
                let error = self.error_at(unknown.span(), reason);
                Err(error.with_nearest(unknown.get_ref(), names()))
            }
        }
    }

    fn subject(
        &self,
        subject: &file::Subject,
        overrides: &file::TargetOverrides,
        target: TargetId,
        services: &[Spanned<String>],
    ) -> Result<Subject, PlanError> {
        let recipe = self.recipe(
            overrides.needs.as_deref().unwrap_or_default(),
            overrides.sources.as_deref().unwrap_or_default(),
            overrides.build.clone().unwrap_or_default(),
        )?;
        Ok(Subject {
            model: lab_model::Subject {
                name: subject.name.get_ref().clone(),
                language: subject.language.clone(),
                driver: overrides.driver.clone().unwrap_or_default(),
                statements: overrides.statements.clone().unwrap_or_default(),
                reference: subject.role == Some(Role::Reference),
                program: self.program(overrides.program.as_ref(), &subject.name)?,
                listing: subject.listing.clone(),
                target,
                cases: words(&subject.cases),
                without: self.without(overrides.without.as_deref().unwrap_or_default())?,
                placeholder: overrides.placeholder,
                ..lab_model::Subject::default()
            },
            default: subject.default,
            optional: subject.optional,
            recipe: Recipe {
                services: words(services),
                ..recipe
            },
        })
    }

    /// Returns the recipe of a program.
    ///
    /// # Errors
    /// Returns an error if a toolchain or a source does not exist.
    fn recipe(
        &self,
        needs: &[Spanned<String>],
        sources: &[Spanned<String>],
        build: Vec<Vec<String>>,
    ) -> Result<Recipe, PlanError> {
        self.check_needs(needs)?;
        let exists = |path: &str| self.project.folder().join(path).exists();
        if let Some(source) = sources.iter().find(|s| !exists(s.get_ref())) {
            let reason = format!("there is no `{}` in the project", source.get_ref());
            return Err(self.error_at(source.span(), reason));
        }
        Ok(Recipe {
            needs: words(needs),
            services: Vec::new(),
            sources: sources.iter().map(|s| s.get_ref().into()).collect(),
            build,
        })
    }

    /// Returns the fixtures, and adds their metrics to the cases.
    fn fixtures(
        &self,
        file: &File,
        cases: &mut [Case],
        metrics: &[Metric],
    ) -> Result<Vec<Fixture>, PlanError> {
        self.unique(file.fixture.iter().map(|f| &f.name), "fixture")?;
        let subjects: Vec<&str> = file
            .subject
            .iter()
            .map(|s| s.name.get_ref().as_str())
            .collect();
        let metrics = [metrics, &Metric::OUTAGE].concat();
        let mut fixture = |fixture: &file::Fixture| {
            if file.server.is_some() {
                let reason = "fixtures are for subjects that run batches, not for servers";
                return Err(self.error_at(fixture.name.span(), reason));
            }
            let at = |span, reason: String| self.error_at(span, reason);
            let model = fixtures::validate(fixture, cases, &subjects, &at)?;
            let observed = self.named_metrics(&fixture.metrics, &metrics)?;
            fixtures::add_metrics(fixture, &model, &observed, cases, &at)?;
            let program = self.program(Some(&fixture.program), &fixture.name)?;
            Ok(Fixture {
                program: Subject {
                    model: lab_model::Subject {
                        name: format!("fixture {}", model.name),
                        program: program.clone(),
                        ..lab_model::Subject::default()
                    },
                    default: true,
                    optional: false,
                    recipe: self.recipe(&fixture.needs, &fixture.sources, fixture.build.clone())?,
                },
                model: lab_model::Fixture { program, ..model },
            })
        };
        file.fixture.iter().map(&mut fixture).collect()
    }

    fn program(
        &self,
        program: Option<&Spanned<Vec<String>>>,
        name: &Spanned<String>,
    ) -> Result<Vec<String>, PlanError> {
        let span = program.map(Spanned::span);
        let program = program.map(|p| p.get_ref().clone()).unwrap_or_default();
        match program.first() {
            Some(word) if !word.is_empty() => Ok(program),
            _ => Err(self.error_at(
                span.unwrap_or(name.span()),
                "`program` needs the name of a program",
            )),
        }
    }

    fn without(&self, words: &[Spanned<String>]) -> Result<Vec<(String, String)>, PlanError> {
        let pair = |word: &Spanned<String>| {
            let pair = word.get_ref().split_once('=');
            pair.map(|(name, value)| (name.to_owned(), value.to_owned()))
                .ok_or_else(|| {
                    self.error_at(word.span(), "expected NAME=VALUE, such as statement=text")
                })
        };
        words.iter().map(pair).collect()
    }

    fn unique<'n>(
        &self,
        names: impl Iterator<Item = &'n Spanned<String>>,
        kind: &str,
    ) -> Result<(), PlanError> {
        let mut names_before = HashSet::new();
        for name in names {
            let word = name.get_ref();
            let form = word.starts_with(|c: char| c.is_ascii_lowercase())
                && word
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b));
            if !form {
                return Err(self.error_at(
                    name.span(),
                    format!("invalid name `{word}`: expected lowercase letters, digits, - and _, with a letter first"),
                ));
            }
            if !names_before.insert(word) {
                return Err(self.error_at(name.span(), format!("two {kind}s are named `{word}`")));
            }
        }
        Ok(())
    }

    fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> PlanError {
        PlanError::at_position(self.path, self.text, span, message)
    }
}

fn words(names: &[Spanned<String>]) -> Vec<String> {
    names.iter().map(|name| name.get_ref().clone()).collect()
}

/// Returns the names of all parameters: sweeps and factors.
pub(crate) fn parameters(experiment: &Experiment) -> impl Iterator<Item = &str> + Clone {
    experiment.cases.iter().flat_map(|c| {
        c.sweep
            .iter()
            .map(|(n, _)| n.as_str())
            .chain(c.factors.iter().map(|f| f.name.as_str()))
    })
}

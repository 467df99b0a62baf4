// SPDX-License-Identifier: Apache-2.0
//! An experiment folder, read and checked.

use crate::PlanError;
use crate::file::{self, Count, File, Role};
use crate::place::Project;
use crate::toolchains::Toolchains;
use lab_model::plan::Target;
use lab_model::{Check, Proof};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An experiment with all that it offers.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its folder's name.
    pub name: String,
    /// For people.
    pub title: String,
    /// What it answers.
    pub question: String,
    /// Name of the subject that the others are compared with.
    pub baseline: String,
    /// What its subjects work on.
    pub target: Option<Target>,
    /// What subjects must have in common.
    pub proof: Proof,
    /// Named sets of subjects.
    pub selections: BTreeMap<String, Vec<String>>,
    /// Its cases.
    pub cases: Vec<Case>,
    /// Its subjects.
    pub subjects: Vec<Subject>,
}

/// A case with all values of its sweep and factors.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique name.
    pub name: String,
    /// In words.
    pub work: String,
    /// What `units` counts.
    pub unit: String,
    /// The swept parameter and its values, ascending.
    pub sweep: Option<(String, Vec<u64>)>,
    /// Factors and their values; the first value is the usual one.
    pub factors: Vec<(String, Vec<String>)>,
    /// Sweep values at which the further values of factors are measured unless they are asked for.
    pub thin: Option<Vec<u64>>,
    /// How the lab looks at the work.
    pub check: Check,
    /// The target begins empty.
    pub empty: bool,
    pub(crate) writes: Option<file::Writes>,
}

/// A subject and how it is made.
#[derive(Clone, Debug)]
pub struct Subject {
    /// As the plan will show it.
    pub model: lab_model::Subject,
    /// Whether it runs without being asked for.
    pub default: bool,
    /// How it is made.
    pub recipe: Recipe,
}

/// What a subject is made from.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// Names in `experiments/toolchains.toml`.
    pub needs: Vec<String>,
    /// Files and folders; when one changes it is built anew.
    pub sources: Vec<PathBuf>,
    /// Commands, run in the project's folder.
    pub build: Vec<Vec<String>>,
}

impl Experiment {
    /// Reads `experiments/NAME/experiment.toml`. Errors name file, line and the nearest valid word.
    pub fn read(project: &Project, name: &str) -> Result<Experiment, PlanError> {
        let known = project.experiments();
        if !known.iter().any(|n| n == name) {
            return Err(PlanError::asked(format!("there is no experiment `{name}`"))
                .known(name, known.iter().map(String::as_str)));
        }
        let path = Path::new("experiments").join(name).join("experiment.toml");
        let text = std::fs::read_to_string(project.folder().join(&path))
            .map_err(|e| PlanError::asked(format!("{}: {e}", path.display())))?;
        let toolchains = Toolchains::read(project)?;
        let file: File = toml::from_str(&text).map_err(|e| PlanError::toml(&path, &text, &e))?;
        Reader {
            project,
            path: &path,
            text: &text,
            toolchains: &toolchains,
        }
        .understand(name, file)
    }

    /// A subject by name.
    pub fn subject(&self, name: &str) -> Option<&Subject> {
        self.subjects.iter().find(|s| s.model.name == name)
    }
}

/// What errors need to name their place.
struct Reader<'a> {
    project: &'a Project,
    path: &'a Path,
    text: &'a str,
    toolchains: &'a Toolchains,
}

impl Reader<'_> {
    fn understand(&self, name: &str, file: File) -> Result<Experiment, PlanError> {
        let target = self.target(&file)?;
        self.unique(file.case.iter().map(|c| &c.name), "case")?;
        self.unique(file.subject.iter().map(|s| &s.name), "subject")?;
        let cases = file
            .case
            .iter()
            .map(|c| self.case(c))
            .collect::<Result<Vec<_>, _>>()?;
        let subjects = file
            .subject
            .iter()
            .map(|s| self.subject(s))
            .collect::<Result<Vec<_>, _>>()?;
        if cases.is_empty() || subjects.is_empty() {
            return Err(PlanError::asked(format!(
                "{}: an experiment needs at least one [[case]] and one [[subject]]",
                self.path.display()
            )));
        }
        let names = || subjects.iter().map(|s| s.model.name.as_str());
        for named in file
            .selection
            .values()
            .flatten()
            .chain([&file.experiment.baseline])
        {
            if !names().any(|n| n == named.get_ref()) {
                return Err(self
                    .at(
                        named.span(),
                        format!("there is no subject `{}`", named.get_ref()),
                    )
                    .known(named.get_ref(), names()));
            }
        }
        Ok(Experiment {
            name: name.to_owned(),
            title: file.experiment.title,
            question: file.experiment.question,
            baseline: file.experiment.baseline.into_inner(),
            target,
            proof: Proof {
                equal: file.proof.equal,
                conditions: file.proof.conditions,
            },
            selections: file
                .selection
                .into_iter()
                .map(|(k, v)| (k, v.into_iter().map(|s| s.into_inner()).collect()))
                .collect(),
            cases,
            subjects,
        })
    }

    fn target(&self, file: &File) -> Result<Option<Target>, PlanError> {
        let Some(kind) = &file.experiment.target else {
            return Ok(None);
        };
        match (kind.get_ref().as_str(), &file.target.sqlite) {
            ("sqlite", Some(t)) => Ok(Some(Target::Sqlite {
                table: t.table.clone(),
                rows: t.rows,
            })),
            ("sqlite", None) => {
                Err(self.at(kind.span(), "target `sqlite` needs a table [target.sqlite]"))
            }
            (other, _) => Err(self
                .at(kind.span(), format!("unknown target `{other}`"))
                .known(other, ["sqlite"].into_iter())),
        }
    }

    fn case(&self, case: &file::Case) -> Result<Case, PlanError> {
        let sweep = self.sweep(case)?;
        let mut factors = Vec::new();
        for (name, values) in &case.factor {
            self.parameter(name, values.span())?;
            if case.sweep.contains_key(name) {
                return Err(self.at(values.span(), format!("`{name}` is the sweep already")));
            }
            let distinct: HashSet<_> = values.get_ref().iter().collect();
            if values.get_ref().len() < 2 || distinct.len() < values.get_ref().len() {
                return Err(self.at(
                    values.span(),
                    format!("factor `{name}` needs two or more different values"),
                ));
            }
            factors.push((name.clone(), values.get_ref().clone()));
        }
        if let Some(writes) = &case.writes {
            self.writes(writes, &sweep)?;
        }
        if (case.check == Check::Writes) != case.writes.is_some() {
            return Err(self.at(
                case.name.span(),
                "`check = \"writes\"` and `writes = …` belong together",
            ));
        }
        let thin = match (&case.thin, &sweep) {
            (Some(thin), Some((_, values))) => Some(self.thin(thin, values)?),
            (Some(thin), None) => return Err(self.at(thin.span(), "`thin` needs a sweep")),
            (None, _) => None,
        };
        Ok(Case {
            name: case.name.get_ref().clone(),
            work: case.work.clone(),
            unit: case.unit.clone(),
            sweep,
            factors,
            thin,
            check: case.check.clone(),
            empty: case.empty,
            writes: case.writes.as_ref().map(|w| w.get_ref().clone()),
        })
    }

    fn sweep(&self, case: &file::Case) -> Result<Option<(String, Vec<u64>)>, PlanError> {
        let mut sweeps = case.sweep.iter();
        let Some((name, values)) = sweeps.next() else {
            return Ok(None);
        };
        if let Some((second, values)) = sweeps.next() {
            return Err(self.at(
                values.span(),
                format!("a case has one sweep; make `{second}` a factor"),
            ));
        }
        self.parameter(name, values.span())?;
        let numbers = self.numbers(values, name)?;
        Ok(Some((name.clone(), numbers)))
    }

    /// A parameter becomes an argument of `open` (docs/protocol.md).
    fn parameter(&self, name: &str, span: Range<usize>) -> Result<(), PlanError> {
        let form = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !form {
            return Err(self.at(
                span,
                format!("`{name}` is no parameter: small letters, digits and _, a letter first"),
            ));
        }
        if ["case", "rows", "seed", "target"].contains(&name) {
            return Err(self.at(
                span,
                format!("`{name}` is what the lab itself says to a subject"),
            ));
        }
        Ok(())
    }

    fn numbers(&self, values: &toml::Spanned<Vec<i64>>, name: &str) -> Result<Vec<u64>, PlanError> {
        let wrong = || {
            self.at(
                values.span(),
                format!("`{name}` needs whole numbers from 1, each larger than the one before it"),
            )
        };
        let numbers: Option<Vec<u64>> = values
            .get_ref()
            .iter()
            .map(|&v| u64::try_from(v).ok().filter(|&v| v > 0))
            .collect();
        numbers
            .filter(|n| !n.is_empty() && n.is_sorted_by(|a, b| a < b))
            .ok_or_else(wrong)
    }

    fn thin(&self, thin: &toml::Spanned<Vec<i64>>, sweep: &[u64]) -> Result<Vec<u64>, PlanError> {
        let values = self.numbers(thin, "thin")?;
        match values.iter().find(|v| !sweep.contains(v)) {
            Some(v) => Err(self.at(thin.span(), format!("{v} is not a value of the sweep"))),
            None => Ok(values),
        }
    }

    fn writes(
        &self,
        writes: &toml::Spanned<file::Writes>,
        sweep: &Option<(String, Vec<u64>)>,
    ) -> Result<(), PlanError> {
        let file::Writes {
            rows,
            transactions,
            schema_changes,
        } = writes.get_ref();
        for count in [rows, transactions, schema_changes] {
            if let Count::Sweep(name) = count
                && sweep.as_ref().is_none_or(|(sweep, _)| sweep != name)
            {
                return Err(self.at(
                    writes.span(),
                    format!("`{name}` is not the sweep of this case"),
                ));
            }
        }
        Ok(())
    }

    fn subject(&self, subject: &file::Subject) -> Result<Subject, PlanError> {
        for need in &subject.needs {
            if self.toolchains.get(need.get_ref()).is_none() {
                return Err(self
                    .at(
                        need.span(),
                        format!("experiments/toolchains.toml has no `{}`", need.get_ref()),
                    )
                    .known(need.get_ref(), self.toolchains.names()));
            }
        }
        for source in &subject.sources {
            if !self.project.folder().join(source.get_ref()).exists() {
                return Err(self.at(
                    source.span(),
                    format!("there is no `{}` in the project", source.get_ref()),
                ));
            }
        }
        let program = subject.program.get_ref();
        if program.is_empty() || program[0].is_empty() {
            return Err(self.at(
                subject.program.span(),
                "`program` needs the name of a program",
            ));
        }
        Ok(Subject {
            model: lab_model::Subject {
                name: subject.name.get_ref().clone(),
                language: subject.language.clone(),
                driver: subject.driver.clone(),
                statements: subject.statements.clone(),
                limit: subject.role == Some(Role::Limit),
                control_of: None,
                program: program.clone(),
                ..lab_model::Subject::default()
            },
            default: subject.default,
            recipe: Recipe {
                needs: subject.needs.iter().map(|n| n.get_ref().clone()).collect(),
                sources: subject.sources.iter().map(|s| s.get_ref().into()).collect(),
                build: subject.build.clone(),
            },
        })
    }

    fn unique<'n>(
        &self,
        names: impl Iterator<Item = &'n toml::Spanned<String>>,
        what: &str,
    ) -> Result<(), PlanError> {
        let mut seen = HashSet::new();
        for name in names {
            let word = name.get_ref();
            let form = word.starts_with(|c: char| c.is_ascii_lowercase())
                && word
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b));
            if !form {
                return Err(self.at(
                    name.span(),
                    format!("`{word}` is no name: small letters, digits, - and _, a letter first"),
                ));
            }
            if !seen.insert(word) {
                return Err(self.at(name.span(), format!("two {what}s are named `{word}`")));
            }
        }
        Ok(())
    }

    fn at(&self, span: Range<usize>, message: impl Into<String>) -> PlanError {
        PlanError::at(self.path, self.text, span, message)
    }
}

/// Names of all sweeps and factors.
pub(crate) fn parameters(experiment: &Experiment) -> impl Iterator<Item = &str> + Clone {
    experiment.cases.iter().flat_map(|c| {
        c.sweep
            .iter()
            .map(|(n, _)| n.as_str())
            .chain(c.factors.iter().map(|(n, _)| n.as_str()))
    })
}

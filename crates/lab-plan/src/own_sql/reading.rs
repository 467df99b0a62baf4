// SPDX-License-Identifier: Apache-2.0
//! The cases, tables and schema of a workload as its file defines them, with their positions.

use super::source::{Source, is_name};
use super::sql_text;
use super::table::Table;
use crate::PlanError;
use lab_model::{SetupStatement, SqlParameter, SqlStatement, SqlType, SqlWork, TargetKind};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The maximum number of statements in a case.
pub const MAX_STATEMENTS: usize = 20;

/// The maximum number of parameters that the statements of a case use.
const MAX_PARAMETERS: usize = 100;

/// The maximum length of a case's statements in bytes. The encoded statements must fit into one
/// line of the protocol.
pub const MAX_TEXT: usize = 16_000;

/// The first words of the statements that subjects can run.
const RUN: [&str; 7] = [
    "select", "with", "insert", "update", "delete", "replace", "merge",
];

/// A function that reads a file named in a workload, up to a maximum size in bytes.
pub type ReadFile<'a> = &'a dyn Fn(&Path, u64) -> std::io::Result<Vec<u8>>;

/// A workload as defined in its file.
#[derive(Default)]
pub struct FileWorkload {
    /// The title, or `None` to use the name of the file.
    pub title: Option<String>,
    /// The statements that create the schema, by target.
    pub schema: BTreeMap<TargetKind, Vec<SetupStatement>>,
    /// The tables to fill.
    pub tables: Vec<Table>,
    /// The cases, in the order of the file.
    pub cases: Vec<FileCase>,
}

/// A text for all targets, or a separate text for each target.
#[derive(Clone, Debug)]
pub enum PerTarget<T> {
    /// The same text for all targets.
    All(T),
    /// A separate text for each target.
    Each(BTreeMap<TargetKind, T>),
}

impl<T> PerTarget<T> {
    /// Returns the text for a target.
    pub fn find(&self, kind: TargetKind) -> Option<&T> {
        match self {
            PerTarget::All(text) => Some(text),
            PerTarget::Each(each) => each.get(&kind),
        }
    }
}

/// A case of the user's workload.
#[derive(Clone, Debug)]
pub struct OwnCase {
    pub name: String,
    pub work: PerTarget<SqlWork>,
}

/// A case as defined in a file.
pub struct FileCase {
    pub name: String,
    pub name_span: Range<usize>,
    /// The statements of the case, with their positions in the file.
    pub texts: PerTarget<Text>,
    pub parameters: Vec<FileParameter>,
}

/// A text, with its position in the file.
#[derive(Clone, Debug)]
pub struct Text {
    pub text: String,
    /// The position of the text in the file.
    pub span: Range<usize>,
    /// True if the file contains the text without escape sequences, so that a position in the text
    /// is also known in the file.
    pub verbatim: bool,
}

/// A parameter of a case.
pub struct FileParameter {
    pub name: String,
    pub source: String,
    pub span: Range<usize>,
}

/// The file of a workload that is being read.
pub struct Reading<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

/// Returns true if a text is a valid name for a case or a variant.
pub fn is_case_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
}

/// Returns the error for a file that cannot be read.
pub fn cannot_read(path: &Path, error: &std::io::Error) -> PlanError {
    PlanError::of_request(format!("cannot read {}: {error}", path.display()))
}

impl Reading<'_> {
    pub fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> PlanError {
        PlanError::at_position(self.path, self.text, span, message)
    }

    /// Returns the name of the file without its extension.
    pub fn name(&self) -> String {
        self.path.file_stem().map_or("workload".into(), |name| {
            name.to_string_lossy().into_owned()
        })
    }

    /// Returns the position of an offset in the file, for messages, such as `shop.toml:7`.
    pub fn origin(&self, at: usize) -> String {
        let line = self.text[..at.min(self.text.len())].matches('\n').count() + 1;
        format!("{}:{line}", self.path.display())
    }

    /// Returns the path of a file named in the workload. Relative names are relative to the
    /// workload's directory.
    pub fn sibling(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }

    /// Converts a range of a text to the corresponding range of the file.
    fn range_in_file(&self, text: &Text, span: &Range<usize>) -> Range<usize> {
        if text.verbatim {
            text.span.start + span.start..text.span.start + span.end
        } else {
            text.span.clone()
        }
    }

    fn statements(&self, text: &Text) -> Result<Vec<sql_text::Found>, PlanError> {
        sql_text::statements(&text.text).map_err(|(span, what)| {
            let start = span.start..span.start + 1;
            self.error_at(
                self.range_in_file(text, &start),
                format!("{what} that begins here is not closed"),
            )
        })
    }

    /// Returns the statements of a schema.
    pub fn schema(&self, text: &Text) -> Result<Vec<SetupStatement>, PlanError> {
        let found = self.statements(text)?;
        let statement = |found: sql_text::Found| SetupStatement {
            text: text.text[found.span.clone()].to_owned(),
            origin: self.origin(self.range_in_file(text, &found.span).start),
        };
        Ok(found.into_iter().map(statement).collect())
    }

    pub fn case(&self, case: FileCase) -> Result<OwnCase, PlanError> {
        if !is_case_name(&case.name) {
            let reason = format!(
                "invalid name `{}`: expected at most 40 lowercase letters, digits, - and _, with a letter first",
                case.name
            );
            return Err(self.error_at(case.name_span, reason));
        }
        let mut parameters: Vec<SqlParameter> = Vec::new();
        for parameter in &case.parameters {
            if !is_name(&parameter.name) || parameters.iter().any(|p| p.name == parameter.name) {
                let reason = format!(
                    "the parameter name `{}` is invalid, or is defined twice",
                    parameter.name
                );
                return Err(self.error_at(parameter.span.clone(), reason));
            }
            Source::parse(&parameter.source)
                .map_err(|e| self.error_at(parameter.span.clone(), e))?;
            let has_control = parameter.source.chars().any(char::is_control);
            if has_control {
                let reason =
                    "a value must not contain control characters, such as a tab or a line break";
                return Err(self.error_at(parameter.span.clone(), reason));
            }
            parameters.push(SqlParameter {
                name: parameter.name.clone(),
                source: parameter.source.trim().to_owned(),
                kind: SqlType::default(),
            });
        }
        let work = |text: &Text| self.work(text, &case, &parameters);
        let work = match &case.texts {
            PerTarget::All(text) => PerTarget::All(work(text)?),
            PerTarget::Each(each) => {
                let each = each.iter().map(|(kind, text)| Ok((*kind, work(text)?)));
                PerTarget::Each(each.collect::<Result<_, PlanError>>()?)
            }
        };
        let used = |name: &str| {
            let uses = |work: &SqlWork| work.parameters.iter().any(|p| p.name == name);
            match &work {
                PerTarget::All(work) => uses(work),
                PerTarget::Each(each) => each.values().any(uses),
            }
        };
        if let Some(unused) = case.parameters.iter().find(|p| !used(&p.name)) {
            let reason = format!("no statement of `{}` uses `:{}`", case.name, unused.name);
            return Err(self.error_at(unused.span.clone(), reason));
        }
        Ok(OwnCase {
            name: case.name,
            work,
        })
    }

    /// Parses the statements of an operation. BEGIN and COMMIT around all statements make the
    /// operation a transaction.
    fn work(
        &self,
        text: &Text,
        case: &FileCase,
        parameters: &[SqlParameter],
    ) -> Result<SqlWork, PlanError> {
        let mut found = self.statements(text)?;
        let is = |found: Option<&sql_text::Found>, words: &[&str]| {
            found.is_some_and(|found| words.contains(&found.first_word.as_str()))
        };
        let begins = is(found.first(), &["begin", "start"]);
        let commits = is(found.last(), &["commit", "end"]);
        if begins != commits {
            let reason = "a transaction must begin with BEGIN and end with COMMIT, around all statements of the case";
            return Err(self.error_at(text.span.clone(), reason));
        }
        if begins {
            found.remove(0);
            found.pop();
        }
        if found.is_empty() {
            let reason = format!("`{}` has no statement", case.name);
            return Err(self.error_at(text.span.clone(), reason));
        }
        let length: usize = found.iter().map(|f| f.span.len()).sum();
        if found.len() > MAX_STATEMENTS || length > MAX_TEXT {
            let reason = format!(
                "a case may have at most {MAX_STATEMENTS} statements and {MAX_TEXT} bytes of SQL; `{}` has {} statement{} and {length} bytes",
                case.name,
                found.len(),
                if found.len() == 1 { "" } else { "s" }
            );
            return Err(self.error_at(text.span.clone(), reason));
        }
        if found.iter().map(|f| f.parameters.len()).sum::<usize>() > MAX_PARAMETERS {
            let reason =
                format!("the statements of a case may have at most {MAX_PARAMETERS} parameters");
            return Err(self.error_at(text.span.clone(), reason));
        }
        let mut work = SqlWork {
            transaction: begins,
            ..SqlWork::default()
        };
        for found in found {
            if !RUN.contains(&found.first_word.as_str()) {
                let reason = format!(
                    "a statement of a case must begin with {}; found `{}`",
                    RUN.map(str::to_uppercase).join(", "),
                    found.first_word
                );
                return Err(self.error_at(self.range_in_file(text, &found.span), reason));
            }
            if text.text[found.span.clone()].contains('\0') {
                return Err(self.error_at(
                    self.range_in_file(text, &found.span),
                    "a statement must not contain a NUL",
                ));
            }
            let mut statement = SqlStatement::default();
            let mut at = found.span.start;
            for span in &found.parameters {
                let name = &text.text[span.start + 1..span.end];
                let Some(parameter) = parameters.iter().find(|p| p.name == name) else {
                    let reason = format!(
                        "`:{name}` has no values: add it to the parameters of `{}`",
                        case.name
                    );
                    let error = self.error_at(self.range_in_file(text, span), reason);
                    return Err(
                        error.with_nearest(name, parameters.iter().map(|p| p.name.as_str()))
                    );
                };
                let known = work.parameters.iter().position(|p| p.name == name);
                let index = known.unwrap_or_else(|| {
                    work.parameters.push(parameter.clone());
                    work.parameters.len() - 1
                });
                statement.pieces.push(text.text[at..span.start].to_owned());
                statement.uses.push(index);
                at = span.end;
            }
            statement
                .pieces
                .push(text.text[at..found.span.end].to_owned());
            work.statements.push(statement);
        }
        Ok(work)
    }
}

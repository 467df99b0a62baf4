// SPDX-License-Identifier: Apache-2.0
//! A workload of the user's own SQL.

use super::reading::{OwnCase, ReadFile, Reading, cannot_read, is_case_name};
use super::source::Source;
use super::table::{Data, Table};
use super::{in_sql, in_toml, rows, sql_text};
use crate::PlanError;
use lab_model::{NO_VARIANT, SetupStatement, SqlSetup, SqlWorkload, TargetKind};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// The maximum size of a workload's file in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The maximum number of generated rows in all tables.
const MAX_ROWS: u64 = 1_000_000;

/// The maximum size of the generated values in all tables, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The maximum number of cases.
const MAX_CASES: usize = 100;

/// The maximum number of variants.
const MAX_VARIANTS: usize = 8;

/// A workload of the user's own SQL.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The title, or the name of the file.
    pub title: String,
    /// The workload as a run file stores it.
    pub model: SqlWorkload,
    /// The statements that create the schema, by target.
    schema: BTreeMap<TargetKind, Vec<SetupStatement>>,
    tables: Vec<Table>,
    /// The cases that the file defines.
    pub(crate) cases: Vec<OwnCase>,
}

impl Workload {
    /// Reads the file of a workload, and the CSV files named in it.
    ///
    /// # Errors
    /// Returns an error with the file and the line.
    pub fn read(path: &Path, variants: &[String]) -> Result<Workload, PlanError> {
        let read = |path: &Path, most: u64| {
            let size = std::fs::metadata(path)?.len();
            if size > most {
                let message = format!("the file has more than {most} bytes");
                return Err(std::io::Error::other(message));
            }
            std::fs::read(path)
        };
        let bytes = read(path, MAX_FILE).map_err(|e| cannot_read(path, &e))?;
        Workload::parse(path, &bytes, variants, &read)
    }

    /// Parses the file of a workload.
    ///
    /// # Errors
    /// Returns an error with the file and the line.
    pub fn parse(
        path: &Path,
        bytes: &[u8],
        variants: &[String],
        read: ReadFile,
    ) -> Result<Workload, PlanError> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let valid = String::from_utf8_lossy(&bytes[..e.valid_up_to()]).into_owned();
            PlanError::at_position(
                path,
                &valid,
                valid.len()..valid.len(),
                "the file is not valid UTF-8 at this position",
            )
        })?;
        let file = Reading { path, text };
        let mut hash = Sha256::new();
        hash.update(bytes);
        let is_sql = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("sql"));
        let parsed = if is_sql {
            in_sql::read(&file)?
        } else {
            in_toml::read(&file, read, &mut hash)?
        };
        let mut workload = Workload {
            title: parsed.title.unwrap_or(file.name()),
            model: SqlWorkload {
                name: file.name(),
                file: path.display().to_string(),
                ..SqlWorkload::default()
            },
            schema: parsed.schema,
            tables: parsed.tables,
            cases: Vec::new(),
        };
        let cases = parsed.cases;
        if cases.is_empty() {
            return Err(PlanError::of_request(format!(
                "{}: a workload needs at least one case: {}",
                path.display(),
                if is_sql {
                    "`-- case: NAME` before its statement"
                } else {
                    "[[case]]"
                }
            )));
        }
        if cases.len() > MAX_CASES {
            return Err(file.error_at(
                cases[MAX_CASES].name_span.clone(),
                format!("a workload may have at most {MAX_CASES} cases"),
            ));
        }
        let mut names = HashSet::new();
        for case in cases {
            if !names.insert(case.name.clone()) {
                return Err(file.error_at(
                    case.name_span,
                    format!("two cases are named `{}`", case.name),
                ));
            }
            workload.cases.push(file.case(case)?);
        }
        workload.check_columns()?;
        workload.model.variants = named_variants(variants)?;
        workload.model.sha256 = format!("{:x}", hash.finalize());
        Ok(workload)
    }

    /// Returns the statements that create the schema and load the data on a kind of target.
    pub fn setup(&self, kind: TargetKind, seed: u64) -> SqlSetup {
        let mut statements = self.schema.get(&kind).cloned().unwrap_or_default();
        for table in &self.tables {
            let texts = rows::statements(&self.tables, table, kind, seed);
            statements.extend(texts.into_iter().map(|text| SetupStatement {
                text,
                origin: table.origin.clone(),
            }));
        }
        let variant = |(name, text): &(String, String)| {
            let origin = format!("--variant {name}");
            (
                name.clone(),
                SetupStatement {
                    text: text.clone(),
                    origin,
                },
            )
        };
        SqlSetup {
            statements: statements.into(),
            variants: self.model.variants.iter().map(variant).collect(),
        }
    }

    /// Returns an error if there are too many generated rows, or if a generated column draws from a
    /// column that no earlier table fills.
    fn check_columns(&self) -> Result<(), PlanError> {
        let (mut total, mut bytes) = (0_u64, 0_u64);
        for (index, table) in self.tables.iter().enumerate() {
            let Data::Generated { rows, columns } = &table.data else {
                continue;
            };
            total = total.saturating_add(*rows);
            bytes = bytes.saturating_add(
                columns
                    .iter()
                    .map(|(_, source)| rows.saturating_mul(source.max_length()))
                    .fold(0, u64::saturating_add),
            );
            if total > MAX_ROWS || bytes > MAX_BYTES {
                return Err(PlanError::of_request(format!(
                    "{}: expected at most {MAX_ROWS} generated rows of at most {} MiB in all tables",
                    table.origin,
                    MAX_BYTES >> 20
                )));
            }
            for (name, source) in columns {
                let Source::Column(other, column) = source else {
                    continue;
                };
                let earlier = self.tables[..index]
                    .iter()
                    .find(|table| table.name == *other);
                let is_known = earlier.is_some_and(|table| match &table.data {
                    Data::Csv(csv) => csv.columns.contains(column) && !csv.rows.is_empty(),
                    Data::Generated { columns, .. } => {
                        columns.iter().any(|(name, _)| name == column)
                    }
                });
                if !is_known {
                    return Err(PlanError::of_request(format!(
                        "{}: column `{name}` of `{}` draws from `{other}.{column}`, which no earlier [[table]] \
                         fills; use a range, such as `1..1000`",
                        table.origin, table.name
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Parses variants and returns their names and statements. A name comes from `NAME: SQL`, or from
/// the index that the SQL creates, or is `variant-N`.
fn named_variants(variants: &[String]) -> Result<Vec<(String, String)>, PlanError> {
    if variants.len() > MAX_VARIANTS {
        return Err(PlanError::of_request(format!(
            "--variant: at most {MAX_VARIANTS} variants can be compared"
        )));
    }
    let mut named: Vec<(String, String)> = Vec::new();
    for (number, variant) in (1..).zip(variants) {
        let given = variant
            .split_once(':')
            .filter(|(name, _)| is_case_name(name));
        let (name, text) = match given {
            Some((name, text)) => (name.to_owned(), text.trim()),
            None => (
                name_of_index(variant).unwrap_or(format!("variant-{number}")),
                variant.trim(),
            ),
        };
        let wrong = |reason: String| {
            Err(PlanError::of_request(format!(
                "--variant '{variant}': {reason}"
            )))
        };
        match sql_text::statements(text) {
            Err((_, what)) => return wrong(format!("{what} is not closed")),
            Ok(found) if found.len() != 1 => {
                return wrong("expected one statement, such as CREATE INDEX …".into());
            }
            Ok(_) => {}
        }
        if name == NO_VARIANT || named.iter().any(|(other, _)| *other == name) {
            return wrong(format!(
                "the name `{name}` is already in use; write NAME: {text}"
            ));
        }
        named.push((name, text.trim_end_matches(';').to_owned()));
    }
    Ok(named)
}

/// Returns the name of the index that a statement creates, if the name is valid for a variant.
fn name_of_index(statement: &str) -> Option<String> {
    let lower = statement.to_ascii_lowercase();
    let mut words = lower
        .split_whitespace()
        .skip_while(|word| *word != "index")
        .skip(1);
    let name = words.find(|word| !["if", "not", "exists", "concurrently"].contains(word))?;
    let name = name.trim_matches(['"', '`']);
    (is_case_name(name) && name != "on").then(|| name.to_owned())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

// SPDX-License-Identifier: Apache-2.0
//! Workloads in TOML: `schema`, `[[table]]` and `[[case]]`.

use super::csv;
use super::reading::{
    FileCase, FileParameter, FileWorkload, PerTarget, ReadFile, Reading, Text, cannot_read,
};
use super::source::{Source, is_name};
use super::table::{Data, Table};
use crate::PlanError;
use lab_model::TargetKind;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use toml::Spanned;

/// The maximum size of all CSV files in bytes.
const MAX_CSV: u64 = 64 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: Option<String>,
    schema: Option<Spanned<TextOrEach>>,
    #[serde(default)]
    table: Vec<FileTable>,
    #[serde(default)]
    case: Vec<Case>,
}

/// One text for all targets, or a separate text for each target.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum TextOrEach {
    All(String),
    Each(BTreeMap<TargetKind, String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTable {
    name: Spanned<String>,
    csv: Option<Spanned<String>>,
    rows: Option<Spanned<u64>>,
    #[serde(default)]
    columns: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: Spanned<String>,
    sql: Spanned<TextOrEach>,
    #[serde(default)]
    parameters: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// Reads a workload from TOML.
pub fn read(file: &Reading, read: ReadFile, hash: &mut Sha256) -> Result<FileWorkload, PlanError> {
    let parsed: File =
        toml::from_str(file.text).map_err(|e| PlanError::toml(file.path, file.text, &e))?;
    let mut workload = FileWorkload {
        title: parsed.title,
        ..FileWorkload::default()
    };
    if let Some(schema) = &parsed.schema {
        let texts = texts(file, schema);
        for kind in TargetKind::ALL
            .into_iter()
            .filter(|kind| kind.is_database())
        {
            if let Some(text) = texts.find(kind) {
                workload.schema.insert(kind, file.schema(text)?);
            }
        }
    }
    let mut left = MAX_CSV;
    for table in parsed.table {
        let table = self::table(file, table, read, hash, &mut left)?;
        if workload.tables.iter().any(|other| other.name == table.name) {
            let message = format!("{}: two tables are named `{}`", table.origin, table.name);
            return Err(PlanError::of_request(message));
        }
        workload.tables.push(table);
    }
    let case = |case: Case| FileCase {
        texts: texts(file, &case.sql),
        name_span: case.name.span(),
        name: case.name.into_inner(),
        parameters: case
            .parameters
            .into_iter()
            .map(|(name, source)| FileParameter {
                span: source.span(),
                name: name.into_inner(),
                source: source.into_inner(),
            })
            .collect(),
    };
    workload.cases = parsed.case.into_iter().map(case).collect();
    Ok(workload)
}

fn texts(file: &Reading, texts: &Spanned<TextOrEach>) -> PerTarget<Text> {
    match texts.get_ref() {
        TextOrEach::All(text) => PerTarget::All(located(file, text, texts.span())),
        TextOrEach::Each(each) => {
            let each = each.iter();
            PerTarget::Each(
                each.map(|(kind, text)| (*kind, located(file, text, texts.span())))
                    .collect(),
            )
        }
    }
}

/// Finds the contents of a string in the file. If the string has escape sequences, only the
/// position of the whole string can be found.
fn located(file: &Reading, text: &str, span: std::ops::Range<usize>) -> Text {
    let raw = file.text.get(span.clone()).unwrap_or("");
    let found = raw.find(text).filter(|_| !text.is_empty());
    let span = found.map_or(span.clone(), |at| {
        span.start + at..span.start + at + text.len()
    });
    Text {
        text: text.to_owned(),
        span,
        verbatim: found.is_some(),
    }
}

fn table(
    file: &Reading,
    table: FileTable,
    read: ReadFile,
    hash: &mut Sha256,
    left: &mut u64,
) -> Result<Table, PlanError> {
    let name = table.name.get_ref().clone();
    if !is_name(&name) {
        let reason = format!("invalid table name `{name}`: expected letters, digits and _");
        return Err(file.error_at(table.name.span(), reason));
    }
    let origin = file.origin(table.name.span().start);
    let data = match (&table.csv, &table.rows) {
        (Some(csv), None) if table.columns.is_empty() => csv_data(file, csv, read, hash, left)?,
        (None, Some(rows)) if !table.columns.is_empty() => {
            let mut columns = Vec::new();
            for (column, source) in &table.columns {
                if !is_name(column.get_ref()) {
                    let reason = format!(
                        "invalid column name `{}`: expected letters, digits and _",
                        column.get_ref()
                    );
                    return Err(file.error_at(column.span(), reason));
                }
                let parsed = Source::parse(source.get_ref());
                let parsed = parsed.map_err(|e| file.error_at(source.span(), e))?;
                if source.get_ref().contains('\0') {
                    return Err(file.error_at(source.span(), "a value must not contain a NUL"));
                }
                columns.push((column.get_ref().clone(), parsed));
            }
            Data::Generated {
                rows: *rows.get_ref(),
                columns,
            }
        }
        _ => {
            let reason = "a table needs either `csv` with the name of a file, or `rows` and `columns` for generated rows";
            return Err(file.error_at(table.name.span(), reason));
        }
    };
    Ok(Table { name, origin, data })
}

fn csv_data(
    file: &Reading,
    csv: &Spanned<String>,
    read: ReadFile,
    hash: &mut Sha256,
    left: &mut u64,
) -> Result<Data, PlanError> {
    let path = file.sibling(csv.get_ref());
    let bytes = read(&path, *left).map_err(|e| {
        let message = cannot_read(&path, &e).to_string();
        file.error_at(csv.span(), message)
    })?;
    *left = left.saturating_sub(bytes.len() as u64);
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(&bytes);
    let text = String::from_utf8(bytes);
    let text =
        text.map_err(|_| file.error_at(csv.span(), format!("{} is not UTF-8", path.display())))?;
    let table = csv::parse(&text);
    let table = table.map_err(|(line, message)| {
        file.error_at(csv.span(), format!("{}:{line}: {message}", path.display()))
    })?;
    Ok(Data::Csv(table))
}

// SPDX-License-Identifier: Apache-2.0
//! Statements that insert the rows of tables.

use super::source::{Source, mix};
use super::table::{Data, Table};
use lab_model::TargetKind;

/// The maximum number of rows that one statement inserts.
const ROWS: usize = 500;

/// Returns the statements that fill a table on a kind of target.
pub fn statements(tables: &[Table], table: &Table, kind: TargetKind, seed: u64) -> Vec<String> {
    let (columns, rows): (Vec<&str>, Vec<String>) = match &table.data {
        Data::Csv(csv) => {
            let field = |field: &Option<String>| match field {
                Some(text) => literal(text, kind),
                None => "NULL".into(),
            };
            let rows = csv.rows.iter().map(|row| tuple(row.iter().map(field)));
            (
                csv.columns.iter().map(String::as_str).collect(),
                rows.collect(),
            )
        }
        Data::Generated { rows, columns } => {
            let value = |row: u64, name: &str, source: &Source| {
                let text = generated(tables, table, name, source, row, seed);
                match text {
                    Some(text) if is_numeric(tables, source) => text,
                    Some(text) => literal(&text, kind),
                    None => "NULL".into(),
                }
            };
            let row = |row| {
                tuple(
                    columns
                        .iter()
                        .map(|(name, source)| value(row, name, source)),
                )
            };
            let names = columns.iter().map(|(name, _)| name.as_str());
            (names.collect(), (0..*rows).map(row).collect())
        }
    };
    let names = columns.join(", ");
    let insert = |rows: &[String]| {
        format!(
            "INSERT INTO {} ({names}) VALUES {}",
            table.name,
            rows.join(",")
        )
    };
    rows.chunks(ROWS).map(insert).collect()
}

/// Returns the value of a column in a generated row. A column that draws its values from another
/// column takes the value of a random row.
fn generated(
    tables: &[Table],
    table: &Table,
    name: &str,
    source: &Source,
    row: u64,
    seed: u64,
) -> Option<String> {
    let key = format!("{}.{name}", table.name);
    let key = key
        .bytes()
        .fold(seed, |state, byte| mix(state ^ u64::from(byte)));
    let bits = mix(key.wrapping_add(row.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let Source::Column(other, column) = source else {
        return source.value(bits, row);
    };
    let other = tables.iter().find(|table| table.name == *other)?;
    match &other.data {
        Data::Csv(csv) => {
            let index = csv.columns.iter().position(|name| name == column)?;
            let rows = csv.rows.len() as u64;
            csv.rows[(bits % rows.max(1)) as usize][index].clone()
        }
        Data::Generated { rows, columns } => {
            let (name, source) = columns.iter().find(|(name, _)| name == column)?;
            generated(tables, other, name, source, bits % (*rows).max(1), seed)
        }
    }
}

fn is_numeric(tables: &[Table], source: &Source) -> bool {
    let Source::Column(table, column) = source else {
        return source.is_numeric();
    };
    match tables
        .iter()
        .find(|other| other.name == *table)
        .map(|table| &table.data)
    {
        Some(Data::Generated { columns, .. }) => {
            let source = columns.iter().find(|(name, _)| name == column);
            source.is_some_and(|(_, source)| is_numeric(tables, source))
        }
        _ => false,
    }
}

fn tuple(values: impl Iterator<Item = String>) -> String {
    format!("({})", values.collect::<Vec<_>>().join(","))
}

/// Formats a text as an SQL literal. In MariaDB, a backslash is an escape character.
pub fn literal(text: &str, kind: TargetKind) -> String {
    let quoted = text.replace('\'', "''");
    match kind {
        TargetKind::Mariadb => format!("'{}'", quoted.replace('\\', "\\\\")),
        TargetKind::Sqlite | TargetKind::Postgresql | TargetKind::Folder => format!("'{quoted}'"),
    }
}

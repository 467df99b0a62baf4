// SPDX-License-Identifier: Apache-2.0
//! The user's own SQL: creates the schema, and examines each statement before subjects run it.
//!
//! benchlab itself determines the types of the columns, the values to bind, and the database's
//! execution plan.

use crate::targets::database::Servers;
use lab_model::{
    NO_VARIANT, Placeholder, Plan, PointId, SetupStatement, SqlSetup, SqlStatement, SqlType,
    SqlWork, TargetKind, VARIANT,
};
use lab_plan::own_sql::{bound_as, column_of, inputs, kind_of, literal};
use lab_services::{Database, shortened};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The maximum number of distinct values of a column from which the values of a parameter are
/// drawn.
const MAX_VALUES: usize = 100_000;

/// The maximum number of operations whose rows are examined to infer the types of SQLite's columns.
const TYPED: usize = 1_000;

/// The maximum time for inferring the types of SQLite's columns.
const TYPING: Duration = Duration::from_millis(500);

/// The rejection of a setup statement by SQLite.
#[derive(Debug)]
pub struct SetupError<'s> {
    /// The statement, or `None` for a statement that benchlab added.
    statement: Option<&'s SetupStatement>,
    /// SQLite's error.
    pub error: rusqlite::Error,
}

/// Creates the user's schema in an empty database, and loads its data.
pub fn create<'s>(
    db: &Connection,
    setup: &'s SqlSetup,
    variant: Option<&str>,
) -> Result<(), SetupError<'s>> {
    let failed = |statement| move |error| SetupError { statement, error };
    db.execute_batch("BEGIN").map_err(failed(None))?;
    for statement in setup.statements_for(variant) {
        let executed = db.execute_batch(&statement.text);
        executed.map_err(failed(Some(statement)))?;
    }
    if db.is_autocommit() {
        return Ok(()); // The schema has a COMMIT of its own.
    }
    db.execute_batch("COMMIT").map_err(failed(None))
}

/// Returns a checksum of each table, without columns that often contain the current time. Equal
/// checksums mean equal contents.
pub fn content(db: &Connection) -> rusqlite::Result<String> {
    let mut sums = Vec::new();
    for table in names(
        db,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
        &[],
    )? {
        let columns = names(
            db,
            "SELECT name FROM pragma_table_info(?1) WHERE type NOT LIKE '%date%' AND type NOT LIKE '%time%' \
             AND coalesce(dflt_value, '') NOT LIKE '%current\\_%' ESCAPE '\\'",
            &[&table],
        )?;
        if columns.is_empty() {
            continue;
        }
        let quoted: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let mut statement = db.prepare(&format!(
            "SELECT {} FROM {}",
            quoted.join(", "),
            self::quoted(&table)
        ))?;
        let (mut rows, mut count, mut sum) = (statement.query([])?, 0_u64, 0_u64);
        while let Some(row) = rows.next()? {
            let mut hash = FNV_OFFSET;
            for column in 0..columns.len() {
                hash = folded(hash, row.get_ref(column)?);
            }
            count += 1;
            sum = sum.wrapping_add(hash);
        }
        sums.push(format!("{count}/{sum}"));
    }
    Ok(sums.join(" "))
}

/// The initial value of the 64-bit hash FNV-1a (Fowler, Noll, Vo; RFC 9923).
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn folded(hash: u64, value: ValueRef) -> u64 {
    let (kind, bytes) = match value {
        ValueRef::Null => (0, Vec::new()),
        ValueRef::Integer(number) => (1, number.to_le_bytes().to_vec()),
        ValueRef::Real(number) => (2, number.to_bits().to_le_bytes().to_vec()),
        ValueRef::Text(bytes) => (3, bytes.to_vec()),
        ValueRef::Blob(bytes) => (4, bytes.to_vec()),
    };
    let length = (bytes.len() as u64).to_le_bytes();
    let all = std::iter::once(kind).chain(length).chain(bytes);
    all.fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn names(db: &Connection, query: &str, parameters: &[&String]) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare(query)?;
    let rows = statement.query_map(params_from_iter(parameters), |row| row.get(0))?;
    rows.collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Writes the values to bind at each point into a file. Each line has the values for one operation:
/// the parameters of all statements, separated by tabs.
pub fn write_inputs(plan: &Plan, folder: &Path) -> io::Result<HashMap<PointId, PathBuf>> {
    let mut files = HashMap::new();
    for (id, point) in plan.points.enumerated() {
        let Some(work) = point.sql.as_ref().filter(|work| work.has_parameters()) else {
            continue;
        };
        let lines: String = work
            .inputs
            .iter()
            .map(|row| row.join("\t") + "\n")
            .collect();
        let path = folder.join(format!("inputs-{}.tsv", id.0));
        std::fs::write(&path, lines)?;
        files.insert(id, path);
    }
    Ok(files)
}

/// Determines the values to bind, the types of the columns, and the execution plans for each point
/// of the user's workload.
///
/// # Errors
/// Returns a message for the user if a database rejects a statement, or if a workload cannot use
/// the type of a column.
pub fn study(plan: &mut Plan, servers: &Servers) -> Result<(), String> {
    let mut files: HashMap<(usize, String), Connection> = HashMap::new();
    let points: Vec<PointId> = plan.points.ids().collect();
    for point in points {
        let Some(mut work) = plan.points[point].sql.clone() else {
            continue;
        };
        let target_id = plan.points[point].target;
        let target = &plan.targets[target_id];
        let kind = target.kind;
        let case = plan.case(point).name.clone();
        let studied = if kind == TargetKind::Sqlite {
            let variant = plan.points[point]
                .param(VARIANT)
                .unwrap_or(NO_VARIANT)
                .to_owned();
            let key = (target_id.index(), variant);
            if !files.contains_key(&key) {
                let setup = target.setup.clone().unwrap_or_default();
                let db = Connection::open_in_memory().map_err(|e| e.to_string())?;
                create(&db, &setup, Some(&key.1)).map_err(|e| {
                    let reason = message(&e.error);
                    e.statement
                        .map_or(reason.clone(), |SetupStatement { text, origin }| {
                            format!("{origin}: SQLite: {reason}\n  {}", shortened(text))
                        })
                })?;
                files.insert(key.clone(), db);
            }
            study_work(&mut work, plan.seed, kind, &mut SqliteProbe(&files[&key]))
        } else {
            let server = servers.0.iter().find(|(id, _)| *id == target_id);
            let Some((_, server)) = server else {
                continue; // The server was not started, because none of its subjects can run.
            };
            server.study(plan, point, |admin| {
                study_work(&mut work, plan.seed, kind, &mut ServerProbe { admin, kind })
            })
        };
        studied.map_err(|reason| format!("case `{case}` on {}: {reason}", kind.title()))?;
        plan.points[point].sql = Some(work);
    }
    Ok(())
}

/// A database that describes statements and columns.
trait Probe {
    /// Returns the type and the distinct values of a column, without NULL, in any order.
    fn values(&mut self, table: &str, column: &str) -> Result<(SqlType, Vec<String>), String>;

    /// Returns the types of a statement's columns. `rows` contains values of its parameters.
    fn columns(
        &mut self,
        statement: &SqlStatement,
        kinds: &[SqlType],
        rows: &[Vec<String>],
    ) -> Result<Vec<SqlType>, String>;

    /// Returns the lines of the statement's EXPLAIN.
    fn explain(&mut self, statement: &str) -> Result<Vec<String>, String>;
}

fn study_work(
    work: &mut SqlWork,
    seed: u64,
    target: TargetKind,
    probe: &mut dyn Probe,
) -> Result<(), String> {
    let mut columns = BTreeMap::new();
    for parameter in &mut work.parameters {
        if let Some(kind) = kind_of(parameter, target) {
            parameter.kind = kind;
        }
        if let Some((table, column)) = column_of(parameter) {
            let found = probe.values(&table, &column);
            let (kind, mut values) = found.map_err(|e| {
                format!(
                    "cannot use the values of `:{}` from {table}.{column}: {e}",
                    parameter.name
                )
            })?;
            if kind == SqlType::Bytes
                || values
                    .iter()
                    .any(|value| value.chars().any(char::is_control))
            {
                return Err(format!(
                    "`:{}` draws from {table}.{column}, whose values are bytes or contain control characters",
                    parameter.name
                ));
            }
            parameter.kind = bound_as(kind, target);
            // The order must not depend on the database, nor on its collation.
            values.sort();
            columns.insert(format!("{table}.{column}"), values);
        }
    }
    let rows = inputs(work, &columns, seed)?;
    let kinds: Vec<SqlType> = work.parameters.iter().map(|p| p.kind).collect();
    let mut at = 0;
    let parameters = work.parameters.clone();
    for statement in &mut work.statements {
        let end = at + statement.uses.len();
        let own: Vec<Vec<String>> = rows.iter().map(|row| row[at..end].to_vec()).collect();
        let own_kinds: Vec<SqlType> = statement.uses.iter().map(|&i| kinds[i]).collect();
        let written = shortened(&statement.written(&parameters));
        let with_statement = |reason: String| format!("{reason}\n  {written}");
        statement.columns = probe
            .columns(statement, &own_kinds, &own)
            .map_err(with_statement)?;
        let first = own.first().cloned().unwrap_or_default();
        let value = |n: usize| match own_kinds[n] {
            SqlType::Integer | SqlType::Float => first[n].clone(),
            _ => literal(&first[n], target),
        };
        statement.explanation = probe
            .explain(&statement.render_with(value, false))
            .map_err(with_statement)?;
        at = end;
    }
    work.inputs = rows.into();
    Ok(())
}

struct SqliteProbe<'c>(&'c Connection);

impl Probe for SqliteProbe<'_> {
    fn values(&mut self, table: &str, column: &str) -> Result<(SqlType, Vec<String>), String> {
        let read = || -> rusqlite::Result<Vec<Value>> {
            let (table, column) = (quoted(table), quoted(column));
            let mut statement = self.0.prepare(&format!(
                "SELECT DISTINCT {table}.{column} FROM {table} WHERE {table}.{column} IS NOT NULL LIMIT {MAX_VALUES}"
            ))?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        let values = read().map_err(|e| message(&e))?;
        let mut kind = None;
        let mut texts = Vec::new();
        for value in values {
            let of_value = kind_of_value((&value).into());
            kind = match (kind, of_value) {
                (None, of_value) => of_value,
                (Some(a), Some(b)) if a == b => kind,
                (
                    Some(SqlType::Integer | SqlType::Float),
                    Some(SqlType::Integer | SqlType::Float),
                ) => Some(SqlType::Float),
                _ => return Err("the column has values of different types".into()),
            };
            texts.push(match value {
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => format!("{number:?}"),
                Value::Text(text) => text,
                Value::Blob(_) | Value::Null => String::new(),
            });
        }
        Ok((kind.unwrap_or_default(), texts))
    }

    /// Infers the types from the values in some rows, because SQLite's columns have no types.
    fn columns(
        &mut self,
        statement: &SqlStatement,
        kinds: &[SqlType],
        rows: &[Vec<String>],
    ) -> Result<Vec<SqlType>, String> {
        let read = || -> Result<Vec<SqlType>, String> {
            let text = statement.render(Placeholder::Question);
            let mut prepared = self.0.prepare(&text).map_err(|e| message(&e))?;
            let names: Vec<String> = prepared.column_names().map(str::to_owned).collect();
            let fractional = fractional_columns(self.0).map_err(|e| message(&e))?;
            let mut found: Vec<Option<SqlType>> = vec![None; names.len()];
            let began = Instant::now();
            for row in rows.iter().take(TYPED) {
                let values = row.iter().zip(kinds).map(|(text, kind)| bound(text, *kind));
                let mut rows = prepared
                    .query(params_from_iter(values))
                    .map_err(|e| message(&e))?;
                while let Some(row) = rows.next().map_err(|e| message(&e))? {
                    for (column, found) in found.iter_mut().enumerate() {
                        let kind = kind_of_value(row.get_ref(column).map_err(|e| message(&e))?);
                        match (*found, kind) {
                            (None, kind) => *found = kind,
                            (Some(SqlType::Float), Some(SqlType::Integer)) => {}
                            (Some(SqlType::Integer), Some(SqlType::Float)) => *found = kind,
                            (Some(before), Some(now)) if before != now => {
                                return Err(format!(
                                    "column `{}` has values of type {} and {}: CAST it to one type",
                                    names[column],
                                    before.name(),
                                    now.name()
                                ));
                            }
                            _ => {}
                        }
                    }
                    if began.elapsed() > TYPING {
                        break;
                    }
                }
                if began.elapsed() > TYPING {
                    break;
                }
            }
            let kind = |(name, found): (&String, Option<SqlType>)| match found.unwrap_or_default() {
                SqlType::Integer if fractional.contains(name) => SqlType::Float,
                kind => kind,
            };
            Ok(names.iter().zip(found).map(kind).collect())
        };
        if !statement.writes() {
            return read();
        }
        self.0
            .execute_batch("SAVEPOINT study")
            .map_err(|e| message(&e))?;
        let columns = read();
        let undone = self.0.execute_batch("ROLLBACK TO study; RELEASE study");
        undone.map_err(|e| message(&e))?;
        columns
    }

    fn explain(&mut self, statement: &str) -> Result<Vec<String>, String> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut prepared = self.0.prepare(&format!("EXPLAIN QUERY PLAN {statement}"))?;
            let mut rows = prepared.query([])?;
            let mut depths: HashMap<i64, usize> = HashMap::new();
            let mut lines = Vec::new();
            while let Some(row) = rows.next()? {
                let (id, parent, detail): (i64, i64, String) =
                    (row.get(0)?, row.get(1)?, row.get(3)?);
                let depth = depths.get(&parent).map_or(0, |depth| depth + 1);
                depths.insert(id, depth);
                lines.push(format!("{}{detail}", "  ".repeat(depth)));
            }
            Ok(lines)
        };
        read().map_err(|e| message(&e))
    }
}

/// Returns the names of the columns that are declared with a type for fractional numbers. SQLite
/// stores 5.0 in a `decimal` column as a whole number (SQLite documentation, Datatypes In SQLite,
/// 3.1).
fn fractional_columns(db: &Connection) -> rusqlite::Result<Vec<String>> {
    names(
        db,
        "SELECT DISTINCT c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND c.type NOT LIKE '%int%' AND (c.type LIKE '%dec%' OR c.type LIKE '%numeric%' \
         OR c.type LIKE '%real%' OR c.type LIKE '%floa%' OR c.type LIKE '%doub%')",
        &[],
    )
}

/// Returns SQLite's own message.
fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        error => error.to_string(),
    }
}

fn kind_of_value(value: ValueRef) -> Option<SqlType> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(_) => SqlType::Integer,
        ValueRef::Real(_) => SqlType::Float,
        ValueRef::Text(_) => SqlType::Text,
        ValueRef::Blob(_) => SqlType::Bytes,
    })
}

fn bound(text: &str, kind: SqlType) -> ToSqlOutput<'static> {
    let value = match kind {
        SqlType::Integer => text.parse().map(Value::Integer).ok(),
        SqlType::Float => text.parse().map(Value::Real).ok(),
        _ => None,
    };
    ToSqlOutput::Owned(value.unwrap_or_else(|| Value::Text(text.to_owned())))
}

struct ServerProbe<'a> {
    admin: &'a mut dyn Database,
    kind: TargetKind,
}

impl ServerProbe<'_> {
    fn types(&mut self, statement: &str) -> Result<Vec<SqlType>, String> {
        let columns = self.admin.describe(statement).map_err(|e| e.to_string())?;
        let kind = |column: lab_services::ColumnDescription| {
            SqlType::named(&column.kind).ok_or_else(|| {
                let as_what = if column.kind.starts_with("float") {
                    "double precision"
                } else {
                    "a text, a number, a date or a timestamp"
                };
                format!(
                    "column `{}` has the type {}, which workloads do not support: CAST it to {as_what}",
                    column.name, column.kind
                )
            })
        };
        columns.into_iter().map(kind).collect()
    }
}

impl Probe for ServerProbe<'_> {
    fn values(&mut self, table: &str, column: &str) -> Result<(SqlType, Vec<String>), String> {
        let (table, column) = (self.admin.quoted(table), self.admin.quoted(column));
        let kind = self.types(&format!("SELECT {column} FROM {table}"))?;
        let text = match self.kind {
            TargetKind::Mariadb => format!("CAST({column} AS CHAR)"),
            _ => format!("CAST({column} AS text)"),
        };
        let query = format!(
            "SELECT DISTINCT {text} FROM {table} WHERE {column} IS NOT NULL LIMIT {MAX_VALUES}"
        );
        let rows = self.admin.query(&query).map_err(|e| e.to_string())?;
        let values = rows
            .into_iter()
            .filter_map(|row| row.into_iter().next().flatten());
        Ok((kind.first().copied().unwrap_or_default(), values.collect()))
    }

    fn columns(
        &mut self,
        statement: &SqlStatement,
        _: &[SqlType],
        _: &[Vec<String>],
    ) -> Result<Vec<SqlType>, String> {
        self.types(&statement.render(self.kind.placeholder()))
    }

    /// Omits estimates and values, because they differ from run to run.
    fn explain(&mut self, statement: &str) -> Result<Vec<String>, String> {
        let explain = match self.kind {
            TargetKind::Mariadb => "EXPLAIN",
            _ => "EXPLAIN (COSTS OFF)",
        };
        let rows = self
            .admin
            .query(&format!("{explain} {statement}"))
            .map_err(|e| e.to_string())?;
        let line = |row: Vec<Option<String>>| {
            if self.kind != TargetKind::Mariadb {
                return without_values(&row.into_iter().next().flatten().unwrap_or_default());
            }
            // id, select_type, table, type, possible_keys, key, key_len, ref, rows, Extra
            let column = |index: usize| row.get(index).cloned().flatten();
            let words = [
                column(2),
                column(3).map(|access| format!("access {access}")),
                column(5).map(|key| format!("key {key}")),
                column(7).map(|other| format!("ref {other}")),
                column(9).filter(|extra| !extra.is_empty()),
            ];
            words.into_iter().flatten().collect::<Vec<_>>().join(", ")
        };
        Ok(rows.into_iter().map(line).collect())
    }
}

/// Replaces the literals in a line of PostgreSQL's EXPLAIN with `?`, because the values to bind
/// depend on the seed.
fn without_values(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some(c) = rest.chars().next() {
        let is_in_name = text.ends_with(|c: char| c.is_alphanumeric() || "_\"".contains(c));
        let length = match c {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            c if c.is_ascii_digit() && !is_in_name => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
                rest.find(|c| !is_part(c)).unwrap_or(rest.len())
            }
            c => {
                text.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        // A quote in a literal is doubled.
        if !(c == '\'' && text.ends_with('?')) {
            text.push('?');
        }
        rest = &rest[length..];
    }
    text.replace("-?", "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_different_seeds_are_equal() {
        let filter = "  Filter: ((price >= 172.08) AND (name = 'it''s'::text) AND (a1 = -3))";
        assert_eq!(
            without_values(filter),
            "  Filter: ((price >= ?) AND (name = ?::text) AND (a1 = ?))"
        );
        let scan = "->  Index Scan using orders_2_pkey on orders o";
        assert_eq!(without_values(scan), scan);
    }
}

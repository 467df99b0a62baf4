// SPDX-License-Identifier: Apache-2.0
//! Reads and writes column values and rows.

use crate::histogram;
use lab_model::Counts;
use rusqlite::types::{FromSql, Type};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) fn meta<T: FromSql>(db: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    db.query_row("SELECT value FROM meta WHERE key = ?", [key], |r| r.get(0))
        .optional()
}

pub(crate) fn rows<T>(
    db: &Connection,
    sql: &str,
    read: impl FnMut(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    db.prepare(sql)?.query_map([], read)?.collect()
}

pub(crate) fn counts(r: &Row, column: usize) -> rusqlite::Result<Counts> {
    let bad = |reason: String| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, reason.into())
    };
    let blob = r.get_ref(column)?.as_blob_or_null();
    match blob.map_err(|e| bad(e.to_string()))? {
        Some(blob) => histogram::decode(blob).map_err(bad),
        None => Ok(Counts::default()),
    }
}

pub(crate) fn word<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(bad_json)
}

pub(crate) fn json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(bad_json)
}

fn bad_json(e: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(e))
}

/// Returns the representation of an enumeration in a text column: its serde name.
pub(crate) fn as_word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("only enumerations without data are stored as words: {other:?}"),
    }
}

pub(crate) fn as_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("the model's types have string keys only")
}

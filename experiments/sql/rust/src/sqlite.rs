// SPDX-License-Identifier: Apache-2.0
//! Connects a subject to SQLite with rusqlite.

use crate::SELECT_1;
use lab_kit::{Closed, Failure, Opening, Work};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, ffi};

/// The driver with its version.
pub const LIBRARY: &str = env!("RUSQLITE");

/// Opens the case `connect`.
pub fn connect(mut opening: Opening) -> Result<Closed, Failure> {
    let path = path(&opening)?;
    read_settings(&mut opening, &open(&path)?)?;
    Ok(opening.serve(|operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            let connection = open(&path)?;
            work.add(
                1,
                connection.query_row(SELECT_1, [], |row| row.get::<_, i64>(0))?,
            );
            connection.close().map_err(|(_, error)| error)?;
        }
        Ok(work)
    }))
}

/// Returns the path in the argument `target`.
pub fn path(opening: &Opening) -> Result<String, Failure> {
    match opening.text("target")?.strip_prefix("sqlite:") {
        Some(path) => Ok(path.to_owned()),
        None => Err(Failure::unsupported("the target must be sqlite:PATH")),
    }
}

/// Opens a file as rusqlite does by default, except that a missing file is an error.
pub fn open(path: &str) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE)
}

/// Adds the connection's settings to the reply.
pub fn read_settings(opening: &mut Opening, connection: &Connection) -> Result<(), Failure> {
    for (key, query) in [
        ("version", "SELECT sqlite_version()"),
        ("source_id", "SELECT sqlite_source_id()"),
        ("journal_mode", "PRAGMA journal_mode"),
        ("synchronous", "PRAGMA synchronous"),
        ("encoding", "PRAGMA encoding"),
        ("page_size", "PRAGMA page_size"),
        ("cache_size", "PRAGMA cache_size"),
        ("secure_delete", "PRAGMA secure_delete"),
    ] {
        match connection.query_row(query, [], |row| row.get(0))? {
            Value::Integer(number) => opening.setting(key, number),
            Value::Text(text) => opening.setting(key, text),
            other => return Err(Failure::failed(format!("{query} returned {other:?}"))),
        }
    }
    opening.setting("threading", threading(connection));
    // rusqlite's cache is for `prepare_cached`, which no case uses.
    opening.setting("statement_cache", 0);
    opening.setting("autocommit", u8::from(connection.is_autocommit()));
    Ok(())
}

/// Returns the connection's actual threading mode: a connection without a mutex is not serialized.
#[allow(unsafe_code)]
fn threading(connection: &Connection) -> &'static str {
    // SAFETY: the handle is open as long as the connection is.
    let mutex = unsafe { ffi::sqlite3_db_mutex(connection.handle()) };
    // SAFETY: it has no arguments, and returns a setting of the library's build.
    match (unsafe { ffi::sqlite3_threadsafe() }, mutex.is_null()) {
        (0, _) => "single-thread",
        (_, true) => "multi-thread",
        (_, false) => "serialized",
    }
}

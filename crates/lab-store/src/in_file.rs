// SPDX-License-Identifier: Apache-2.0
//! Distributions that stay in the run file until they are needed, so that loading a run of any
//! length takes little memory.

use crate::values;
use lab_model::{Counts, Slice, SliceTimes, TimesColumn, TimesInFile};
use rusqlite::{Connection, Row, params};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A run file that is open for reading. It is closed when its last distribution is dropped.
#[derive(Debug)]
pub struct OpenFile {
    db: Mutex<Connection>,
    path: PathBuf,
}

impl OpenFile {
    pub fn new(db: Connection, path: &Path) -> Arc<OpenFile> {
        Arc::new(OpenFile {
            db: Mutex::new(db),
            path: path.to_path_buf(),
        })
    }

    /// Locks and returns the connection.
    pub fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The columns of a table that contain distributions.
pub struct TimesColumns {
    response: Arc<dyn TimesColumn>,
    service: Arc<dyn TimesColumn>,
    send_delay: Arc<dyn TimesColumn>,
}

impl TimesColumns {
    pub fn new(file: &Arc<OpenFile>, table: &str) -> TimesColumns {
        let column = |name: &str| {
            Arc::new(StoredTimes {
                file: file.clone(),
                sql: format!("SELECT {name} FROM {table} WHERE rowid = ?"),
            })
        };
        TimesColumns {
            response: column("response"),
            service: column("service"),
            send_delay: column("send_delay"),
        }
    }

    /// Reads the response times, service times and send delays of a row, from three columns starting at
    /// `first`.
    ///
    /// # Errors
    /// Returns an error if a distribution is damaged.
    pub fn read(&self, r: &Row, first: usize, row: i64) -> rusqlite::Result<[SliceTimes; 3]> {
        let response = times(r, first, &self.response, row)?;
        // In a closed loop the service time equals the response time.
        let service = if r.get_ref(first)? == r.get_ref(first + 1)? {
            response.clone()
        } else {
            times(r, first + 1, &self.service, row)?
        };
        Ok([
            response,
            service,
            times(r, first + 2, &self.send_delay, row)?,
        ])
    }

    /// Replaces the distributions of a slice with references to the row into which the slice was
    /// written.
    pub fn replace_with_references(&self, slice: &mut Slice, row: i64) {
        let is_same = slice.response == slice.service;
        for (times, column) in [
            (&mut slice.response, &self.response),
            (&mut slice.service, &self.service),
            (&mut slice.send_delay, &self.send_delay),
        ] {
            *times = in_file(times.median(), column, row);
        }
        if is_same {
            slice.service = slice.response.clone();
        }
    }
}

fn times(
    r: &Row,
    at: usize,
    column: &Arc<dyn TimesColumn>,
    row: i64,
) -> rusqlite::Result<SliceTimes> {
    Ok(in_file(values::counts(r, at)?.median(), column, row))
}

/// Returns a reference to the distribution in the file, or an empty distribution if it has no median.
fn in_file(median: Option<u64>, column: &Arc<dyn TimesColumn>, row: i64) -> SliceTimes {
    match median {
        None => SliceTimes::default(),
        Some(median) => SliceTimes::InFile(TimesInFile {
            column: column.clone(),
            row,
            median,
        }),
    }
}

#[derive(Debug)]
struct StoredTimes {
    file: Arc<OpenFile>,
    sql: String,
}

impl TimesColumn for StoredTimes {
    fn read(&self, row: i64) -> Counts {
        let db = self.file.db();
        let read = || {
            let mut select = db.prepare_cached(&self.sql)?;
            select.query_row(params![row], |r| values::counts(r, 0))
        };
        read().unwrap_or_else(|e: rusqlite::Error| {
            let path = self.file.path.display();
            panic!("{path}: the file was changed, or its disk failed, while it was read: {e}")
        })
    }
}

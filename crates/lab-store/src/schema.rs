// SPDX-License-Identifier: Apache-2.0
//! Defines the tables of a run file.

use lab_model::LoadCount;
use rusqlite::Connection;

/// The application ID of a run file: `LAB1` in ASCII. It distinguishes a run file from other SQLite
/// databases.
pub const APPLICATION_ID: i64 = 0x4C41_4231;

/// The version of the file format. It increases when an older benchlab could misread a newer file.
pub const VERSION: i64 = 1;

/// The statements that create the tables, except for the columns of [`add_columns`]. Times are in ns and sizes in bytes unless a name says otherwise.
pub const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE subject (id INTEGER PRIMARY KEY, name TEXT, language TEXT, driver TEXT, target TEXT);
CREATE TABLE point (id INTEGER PRIMARY KEY, case_name TEXT, label TEXT, x REAL, target TEXT);
CREATE TABLE hash (path TEXT PRIMARY KEY, sha256 TEXT) WITHOUT ROWID;
CREATE TABLE setting (subject INTEGER, point INTEGER, key TEXT, value TEXT);
CREATE TABLE pilot (subject INTEGER, point INTEGER, operations INTEGER, warmup_batches INTEGER,
                    class TEXT, cold_ns INTEGER, PRIMARY KEY (subject, point)) WITHOUT ROWID;
CREATE TABLE pilot_batch (subject INTEGER, point INTEGER, position INTEGER, operations INTEGER,
                          wall_ns INTEGER, cpu_ns INTEGER, age_requests INTEGER, age_cpu_ns INTEGER,
                          age_wall_ns INTEGER, baseline_requests INTEGER, baseline_cpu_ns INTEGER);
CREATE TABLE block (id INTEGER PRIMARY KEY, number INTEGER, attempt INTEGER, core INTEGER,
                    state TEXT, started_unix_s REAL, duration_ns INTEGER, steal REAL, foreign_load REAL,
                    memory_pressure REAL, swapped_pages INTEGER, throttled INTEGER, agent INTEGER,
                    process_set INTEGER);
CREATE TABLE process (block INTEGER, subject INTEGER, startup_ns INTEGER, startup_cpu_ns INTEGER);
CREATE TABLE resource (block INTEGER, subject INTEGER, point INTEGER, rss_bytes INTEGER,
                       peak_rss_bytes INTEGER, threads INTEGER, user_ns INTEGER, sys_ns INTEGER,
                       voluntary_switches INTEGER, involuntary_switches INTEGER,
                       server_bytes INTEGER);
CREATE TABLE sample (block INTEGER, point INTEGER, subject INTEGER, pass INTEGER, turn INTEGER,
                     operations INTEGER, wall_ns INTEGER, cpu_ns INTEGER, units INTEGER,
                     check_value INTEGER, server_cpu_ns INTEGER);
CREATE TABLE latency (block INTEGER, point INTEGER, subject INTEGER, pass INTEGER, bucket INTEGER,
                      operations INTEGER);
CREATE TABLE timeline (block INTEGER, point INTEGER, subject INTEGER, pass INTEGER, step INTEGER,
                       longest_ns INTEGER);
CREATE TABLE service (target INTEGER, key TEXT, value TEXT);
CREATE TABLE exit (block INTEGER, point INTEGER, subject INTEGER, pass INTEGER, user_ns INTEGER,
                   sys_ns INTEGER, peak_rss_bytes INTEGER, minor_faults INTEGER, major_faults INTEGER,
                   voluntary_switches INTEGER, involuntary_switches INTEGER, status INTEGER);
CREATE TABLE slice (id INTEGER PRIMARY KEY, block INTEGER, point INTEGER, subject INTEGER, pass INTEGER,
                    wall_ns INTEGER, offered INTEGER, served INTEGER, cpu_ns INTEGER, busiest_cpu_ns INTEGER, server_cpu_ns INTEGER,
                    server_bytes INTEGER, server_threads INTEGER, response BLOB, service BLOB, send_delay BLOB,
                    drain_ns INTEGER, foreign_ns INTEGER, redone INTEGER, statuses TEXT,
                    queue_overflows INTEGER);
CREATE TABLE slice_error (slice INTEGER, kind TEXT, count INTEGER);
CREATE TABLE agent (id INTEGER PRIMARY KEY, name TEXT, launcher TEXT, machine TEXT, version TEXT, host TEXT,
                    clock_ahead_ns INTEGER, clock_error_ns INTEGER, round_trip_ns INTEGER, lost TEXT);
CREATE TABLE agent_slice (slice INTEGER, agent INTEGER, late_ns INTEGER, not_sent INTEGER, wall_ns INTEGER,
                          offered INTEGER, served INTEGER, errors TEXT, cpu_ns INTEGER, busiest_cpu_ns INTEGER, drain_ns INTEGER, response BLOB, service BLOB,
                          send_delay BLOB, statuses TEXT);
CREATE TABLE metric (id TEXT PRIMARY KEY, title TEXT, unit TEXT, better TEXT) WITHOUT ROWID;
CREATE TABLE reading (block INTEGER, subject INTEGER, point INTEGER, pass INTEGER, metric TEXT, value REAL,
                      redone INTEGER);
CREATE TABLE figure (subject INTEGER, metric TEXT, value REAL);
CREATE TABLE tool_output (program INTEGER, tool TEXT, gzip BLOB);
CREATE TABLE interim_analysis (blocks INTEGER);
CREATE TABLE failure (subject INTEGER, point INTEGER, block INTEGER, kind TEXT, message TEXT, log TEXT);
CREATE TABLE log (subject INTEGER, block INTEGER, line TEXT);
CREATE TABLE import (id INTEGER PRIMARY KEY, json TEXT);
CREATE TABLE finding (rule TEXT, area TEXT, title TEXT, place TEXT, state TEXT, weight INTEGER, seen TEXT,
                      cost TEXT, why TEXT, fixes TEXT, see TEXT, source TEXT, evidence TEXT);
CREATE VIEW result AS
  SELECT p.label AS point, s.name AS subject, b.number AS block, m.pass, m.turn, m.operations,
         m.wall_ns, m.cpu_ns, m.server_cpu_ns, m.units, 1.0 * m.wall_ns / m.operations AS wall_ns_per_operation
  FROM sample m JOIN block b ON b.id = m.block AND b.state = 'complete'
       JOIN point p ON p.id = m.point JOIN subject s ON s.id = m.subject;
";

/// Columns that files of older versions lack, as tuples of table, column and type.
const LATER: [(&str, &str, &str); 10] = [
    ("slice", "statuses", "TEXT"),
    ("slice", "queue_overflows", "INTEGER"),
    ("agent_slice", "statuses", "TEXT"),
    ("block", "process_set", "INTEGER"),
    ("pilot_batch", "age_requests", "INTEGER"),
    ("pilot_batch", "age_cpu_ns", "INTEGER"),
    ("pilot_batch", "age_wall_ns", "INTEGER"),
    ("pilot_batch", "baseline_requests", "INTEGER"),
    ("pilot_batch", "baseline_cpu_ns", "INTEGER"),
    ("log_page", "without_status", "INTEGER"),
];

/// Returns true if a file has a table.
pub fn has_table(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?";
    db.query_row(sql, [name], |r| r.get(0))
}

/// Returns true if a table has a column.
pub fn has_column(db: &Connection, table: &str, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?";
    db.query_row(sql, [table, name], |r| r.get(0))
}

/// Returns the SQL expression for a column: its name, or 0 if the file is older than the column.
pub fn or_zero(db: &Connection, table: &str, name: &'static str) -> rusqlite::Result<&'static str> {
    Ok(if has_column(db, table, name)? {
        name
    } else {
        "0"
    })
}

/// The tables with a column for each [`LoadCount`].
const WITH_COUNTS: [&str; 2] = ["slice", "agent_slice"];

/// Adds the columns of counts to a new file, and missing columns to a file of an older version.
/// Missing tables stay missing.
pub fn add_columns(db: &Connection) -> rusqlite::Result<()> {
    let counts = |table| LoadCount::ALL.map(|count| (table, count.id(), "INTEGER"));
    for (table, name, kind) in WITH_COUNTS.into_iter().flat_map(counts).chain(LATER) {
        if has_table(db, table)? && !has_column(db, table, name)? {
            db.execute(&format!("ALTER TABLE {table} ADD COLUMN {name} {kind}"), [])?;
        }
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
//! Merges the records of a run file into another run file.

use lab_model::AgentId;
use rusqlite::{Connection, params};
use std::path::Path;

/// Tables whose rows belong to a run, a block or a slice.
///
/// The list does not contain tables that are filled from the plan or written once per run.
const TABLES: [&str; 17] = [
    "block",
    "process",
    "resource",
    "sample",
    "latency",
    "timeline",
    "exit",
    "slice",
    "slice_error",
    "reading",
    "setting",
    "pilot",
    "pilot_batch",
    "service",
    "failure",
    "log",
    "metric",
];

/// Tables in which `block` is the number of the block rather than the ID of its record.
const BY_NUMBER: [&str; 2] = ["failure", "log"];

/// Copies the rows of the run file at `from`, and assigns its blocks to `agent`.
pub fn merge(db: &Connection, from: &Path, agent: AgentId) -> rusqlite::Result<()> {
    db.execute("ATTACH ? AS other", [from.to_string_lossy()])?;
    let copied = copy(db, agent);
    let detached = db.execute("DETACH other", []);
    copied.and(detached.map(drop))
}

fn copy(db: &Connection, agent: AgentId) -> rusqlite::Result<()> {
    let transaction = db.unchecked_transaction()?;
    let last = |table: &str| {
        let sql = format!("SELECT coalesce(max(id), 0) FROM main.{table}");
        db.query_row(&sql, [], |r| r.get::<_, i64>(0))
    };
    let ids = Ids {
        block: last("block")?,
        slice: last("slice")?,
    };
    // The other file's facts about a server replace the existing ones.
    let delete = "DELETE FROM main.service WHERE target IN (SELECT target FROM other.service)";
    db.execute(delete, [])?;
    // A pilot that was repeated replaces the earlier one with all of its batches.
    for table in ["pilot_batch", "pilot"] {
        let sql = format!(
            "DELETE FROM main.{table}
             WHERE (subject, point) IN (SELECT subject, point FROM other.pilot)"
        );
        db.execute(&sql, [])?;
    }
    for table in TABLES {
        let columns = columns(db, table)?;
        let values = columns.iter().map(|column| ids.value(table, column));
        let values: Vec<String> = values.collect();
        // A metric that already exists is the same in all files.
        let sql = format!(
            "INSERT OR IGNORE INTO main.{table} ({}) SELECT {} FROM other.{table}",
            columns.join(", "),
            values.join(", ")
        );
        db.execute(&sql, [])?;
    }
    db.execute(
        "UPDATE main.block SET agent = ? WHERE id > ?",
        params![agent.0, ids.block],
    )?;
    transaction.commit()
}

fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut found = db.prepare("SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid")?;
    let names = found.query_map([table], |r| r.get(0))?;
    names.collect()
}

/// The maximum IDs that the file already uses.
struct Ids {
    block: i64,
    slice: i64,
}

impl Ids {
    /// Returns the SQL expression for the value of a column in a copied row.
    fn value(&self, table: &str, column: &str) -> String {
        let after = match (table, column) {
            (table, "block") if BY_NUMBER.contains(&table) => None,
            (_, "block") | ("block", "id") => Some(self.block),
            (_, "slice") | ("slice", "id") => Some(self.slice),
            _ => None,
        };
        match after {
            Some(last) => format!("{column} + {last}"),
            None => column.to_owned(),
        }
    }
}

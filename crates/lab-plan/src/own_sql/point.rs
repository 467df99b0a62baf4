// SPDX-License-Identifier: Apache-2.0
//! Describes the work at a point of a workload.

use lab_model::{Point, SqlWork, TargetKind};
use std::collections::BTreeMap;

/// Adds the work of an operation to a point: the statements that the database is expected to count,
/// and the maximum number of commits.
pub fn describe_point(point: &mut Point, work: &SqlWork, kind: Option<TargetKind>) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for statement in &work.statements {
        let mut word = statement.first_word();
        // MariaDB counts a common table expression by the statement that follows.
        if word == "with" && kind == Some(TargetKind::Mariadb) {
            word = "select".into();
        }
        *counts.entry(word).or_default() += 1;
    }
    let writing = work.statements.iter().filter(|s| s.writes()).count() as u64;
    if work.transaction {
        counts.insert("commit".into(), 1);
    }
    point.statements = counts.into_iter().collect();
    point.writes.transactions = if work.transaction {
        writing.min(1)
    } else {
        writing
    };
    point.sql = Some(work.clone());
}

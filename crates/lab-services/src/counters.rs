// SPDX-License-Identifier: Apache-2.0
//! Counters of a server's work, read over benchlab's own connection, whose statements do not count.

use std::collections::BTreeMap;

/// A server's work since some moment; only differences are meaningful. They cover all that subjects did on a
/// private server, one user's work on another PostgreSQL, and everybody's work on another MariaDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Statements by their first word in lower case (`select`, `insert`, `begin`, `commit`, …), however
    /// they were sent. `start transaction` is a `begin`, `end` a `commit`. Of MariaDB those that have no
    /// entry of their own are `other`, and `admin` are pings and resets of the connection.
    pub statements: BTreeMap<String, u64>,
    /// Rows that statements yielded, inserted, updated or deleted.
    pub rows: u64,
    /// Rows of tables that were read to that end (the sum of its `Handler_read_…`); of MariaDB.
    pub rows_read: Option<u64>,
    /// Blocks of tables and indexes that were looked at; of PostgreSQL.
    pub blocks: Option<u64>,
    /// Executions of statements prepared on the server; of MariaDB.
    pub prepared_executions: Option<u64>,
    /// Statements prepared on the server; of MariaDB.
    pub prepares: Option<u64>,
    /// Statements planned; of PostgreSQL, if `pg_stat_statements.track_planning` is on.
    pub plans: Option<u64>,
    /// Connections opened. Of a PostgreSQL that is not private, those that are closed again.
    pub connects: Option<u64>,
    /// Connections that were refused, or ended without the client's saying so; of MariaDB.
    pub aborted: Option<u64>,
    /// Connections that are open now, plus a constant.
    pub open: u64,
}

impl Counters {
    /// The work since an earlier reading, without statements that did not occur.
    pub fn since(&self, before: &Counters) -> Counters {
        let difference = |now: Option<u64>, earlier: Option<u64>| Some(now?.wrapping_sub(earlier?));
        // A command without a reply, such as the end of a connection, may be half counted in the
        // earlier reading, and is then one too many in it.
        let statements = self.statements.iter().filter_map(|(word, &now)| {
            let earlier = before.statements.get(word).copied().unwrap_or(0);
            let count = now
                .checked_sub(earlier)
                .filter(|&n| n > 0 && n < u64::MAX / 2)?;
            Some((word.clone(), count))
        });
        Counters {
            statements: statements.collect(),
            rows: self.rows.wrapping_sub(before.rows),
            rows_read: difference(self.rows_read, before.rows_read),
            blocks: difference(self.blocks, before.blocks),
            prepared_executions: difference(self.prepared_executions, before.prepared_executions),
            prepares: difference(self.prepares, before.prepares),
            plans: difference(self.plans, before.plans),
            connects: difference(self.connects, before.connects),
            aborted: difference(self.aborted, before.aborted),
            open: self.open,
        }
    }
}

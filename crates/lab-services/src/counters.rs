// SPDX-License-Identifier: Apache-2.0
//! Counters of a server's work, which benchlab reads over its own connection. The statements of
//! that connection are excluded.

use std::collections::BTreeMap;

/// The work of a server since an arbitrary time. Only differences between readings are meaningful.
///
/// The counters cover all work on a private server, the work of one user on an external PostgreSQL,
/// and the work of all users on an external MariaDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of statements by their first word in lower case (`select`, `insert`, `begin`,
    /// `commit`, …), no matter how they were sent.
    ///
    /// `start transaction` counts as `begin`, and `end` as `commit`. For MariaDB, `other` counts
    /// statements without a separate entry, and `admin` counts pings and connection resets.
    pub statements: BTreeMap<String, u64>,
    /// The number of rows that statements returned, inserted, updated or deleted.
    pub rows: u64,
    /// The number of table rows that statements read (the sum of `Handler_read_…`). MariaDB only.
    pub rows_read: Option<u64>,
    /// The number of times that blocks of tables and indexes were accessed. PostgreSQL only.
    pub blocks: Option<u64>,
    /// The number of executions of statements prepared on the server. MariaDB only.
    pub prepared_executions: Option<u64>,
    /// The number of statements prepared on the server. MariaDB only.
    pub prepares: Option<u64>,
    /// The number of statements planned. PostgreSQL only, if `pg_stat_statements.track_planning` is
    /// on.
    pub plans: Option<u64>,
    /// The number of opened connections. An external PostgreSQL counts only connections that have
    /// been closed again.
    pub connects: Option<u64>,
    /// The number of connections that were refused, or that ended without a quit message from the
    /// client. MariaDB only.
    pub aborted: Option<u64>,
    /// The number of currently open connections, plus a constant.
    pub open: u64,
}

impl Counters {
    /// Returns the work since an earlier reading. Omits statements that did not occur.
    pub fn work_since(&self, before: &Counters) -> Counters {
        let difference = |now: Option<u64>, earlier: Option<u64>| Some(now?.wrapping_sub(earlier?));
        // A command without a reply, such as the end of a connection, may be counted only partly in the earlier
        // reading. The earlier count is then too high by 1.
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

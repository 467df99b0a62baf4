// SPDX-License-Identifier: Apache-2.0
//! MariaDB's status variables (its manual, Server Status Variables). They count the lab's own statements
//! too, which are subtracted.

use crate::counters::Counters;
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// A connection that ends is counted as open for a moment after its last question.
const ENDING: Duration = Duration::from_millis(100);

/// Those that count statements, and the words for these.
const STATEMENTS: [(&str, &str); 15] = [
    ("Com_select", "select"),
    ("Com_insert", "insert"),
    ("Com_update", "update"),
    ("Com_delete", "delete"),
    ("Com_replace", "replace"),
    ("Com_begin", "begin"),
    ("Com_commit", "commit"),
    ("Com_rollback", "rollback"),
    ("Com_do", "do"),
    ("Com_set_option", "set"),
    ("Com_create_table", "create"),
    ("Com_drop_table", "drop"),
    ("Com_alter_table", "alter"),
    ("Com_truncate", "truncate"),
    ("Com_change_db", "use"),
];

/// Those that count rows.
const ROWS: [&str; 4] = [
    "Rows_sent",
    "Handler_write",
    "Handler_update",
    "Handler_delete",
];

const OTHERS: [&str; 9] = [
    "Aborted_clients",
    "Aborted_connects",
    "Com_admin_commands",
    "Com_stmt_execute",
    "Com_stmt_prepare",
    "Connections",
    "Questions",
    "Rows_read",
    "Threads_connected",
];

/// Reads them.
#[derive(Default)]
pub(crate) struct Status {
    /// Those of the lab's own session.
    own: Values,
    /// As many statements the lab had sent when they were read.
    own_at: u64,
    /// Rows that readings have yielded: the session does not count them, and the server does from the
    /// next reading on.
    rows_read: u64,
    /// Statements without a word of their own, when they were read last.
    other: u64,
}

#[derive(Default)]
struct Values(HashMap<String, u64>);

impl Values {
    fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

impl Status {
    /// `sent`: the statements of the lab's session, these among them.
    pub fn read(&mut self, client: &mut Conn, sent: &mut u64) -> Result<Counters, Error> {
        let deadline = Instant::now() + ENDING;
        loop {
            let counters = self.read_once(client, sent)?;
            let other = counters.statements["other"];
            if other == self.other || Instant::now() > deadline {
                self.other = other;
                return Ok(counters);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn read_once(&mut self, client: &mut Conn, sent: &mut u64) -> Result<Counters, Error> {
        if self.own_at != *sent {
            self.own = self.values(client, "SESSION", sent)?;
        }
        let rows_read = self.rows_read;
        let all = self.values(client, "GLOBAL", sent)?;
        self.own_at = *sent;
        let others = |name: &str| all.get(name).wrapping_sub(self.own.get(name));
        let statements = STATEMENTS.map(|(variable, word)| (word.to_owned(), others(variable)));
        let mut statements = BTreeMap::from(statements);
        let named: u64 = statements.values().sum();
        let aborted = all.get("Aborted_clients") + all.get("Aborted_connects");
        let (opened, open) = (all.get("Connections"), all.get("Threads_connected"));
        // To end a connection is a question, COM_QUIT.
        let ended = opened.wrapping_sub(open).wrapping_sub(aborted);
        let known = named.wrapping_add(ended).wrapping_add(*sent);
        statements.insert("other".into(), all.get("Questions").wrapping_sub(known));
        statements.insert("admin".into(), others("Com_admin_commands"));
        let rows: u64 = ROWS.iter().map(|name| others(name)).sum();
        Ok(Counters {
            statements,
            rows: rows.wrapping_sub(rows_read),
            rows_read: Some(others("Rows_read")),
            blocks: None,
            prepared_executions: Some(others("Com_stmt_execute")),
            prepares: Some(others("Com_stmt_prepare")),
            plans: None,
            connects: Some(opened),
            aborted: Some(aborted),
            open,
        })
    }

    fn values(&mut self, client: &mut Conn, scope: &str, sent: &mut u64) -> Result<Values, Error> {
        let names = STATEMENTS
            .iter()
            .map(|(variable, _)| variable)
            .chain(&ROWS)
            .chain(&OTHERS);
        let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
        let list = names.join(",");
        *sent += 1;
        let rows: Vec<(String, u64)> = client.query(format!(
            "SHOW {scope} STATUS WHERE Variable_name IN ({list})"
        ))?;
        self.rows_read += rows.len() as u64;
        Ok(Values(rows.into_iter().collect()))
    }
}

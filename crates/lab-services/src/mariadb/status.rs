// SPDX-License-Identifier: Apache-2.0
//! MariaDB's status variables (its manual, Server Status Variables). They include benchlab's own
//! statements, which this module subtracts.

use crate::counters::Counters;
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// The maximum time for which a closed connection still counts as open, measured from its last
/// command.
const ENDING: Duration = Duration::from_secs(2);

/// The variables that count statements, and the corresponding first words.
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

/// The variables that count rows.
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

/// A reader of the status variables.
#[derive(Default)]
pub(crate) struct Status {
    /// The values of benchlab's own session.
    session: StatusValues,
    /// The number of statements that benchlab had sent at the last reading.
    session_read_at: u64,
    /// The number of rows that earlier readings returned. benchlab's session does not count them,
    /// but the server counts them starting with the next reading.
    rows_read: u64,
    /// The number of statements without a separate entry, at the last reading.
    other: u64,
}

#[derive(Default)]
struct StatusValues(HashMap<String, u64>);

impl StatusValues {
    fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

impl Status {
    /// Reads the counters. `sent` is the number of statements that benchlab's session has sent. The
    /// reading increases this number.
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
        if self.session_read_at != *sent {
            self.session = self.values(client, "SESSION", sent)?;
        }
        let rows_read = self.rows_read;
        let global = self.values(client, "GLOBAL", sent)?;
        self.session_read_at = *sent;
        let of_others = |name: &str| global.get(name).wrapping_sub(self.session.get(name));
        let statements = STATEMENTS.map(|(variable, word)| (word.to_owned(), of_others(variable)));
        let mut statements = BTreeMap::from(statements);
        let with_word: u64 = statements.values().sum();
        let aborted = global.get("Aborted_clients") + global.get("Aborted_connects");
        let (opened, open) = (global.get("Connections"), global.get("Threads_connected"));
        // Closing a connection is a command, too: COM_QUIT.
        let ended_connections = opened.wrapping_sub(open).wrapping_sub(aborted);
        let explained = with_word
            .wrapping_add(ended_connections)
            .wrapping_add(*sent);
        statements.insert(
            "other".into(),
            global.get("Questions").wrapping_sub(explained),
        );
        statements.insert("admin".into(), of_others("Com_admin_commands"));
        let rows: u64 = ROWS.iter().map(|name| of_others(name)).sum();
        Ok(Counters {
            statements,
            rows: rows.wrapping_sub(rows_read),
            rows_read: Some(of_others("Rows_read")),
            blocks: None,
            prepared_executions: Some(of_others("Com_stmt_execute")),
            prepares: Some(of_others("Com_stmt_prepare")),
            plans: None,
            connects: Some(opened),
            aborted: Some(aborted),
            open,
        })
    }

    fn values(
        &mut self,
        client: &mut Conn,
        scope: &str,
        sent: &mut u64,
    ) -> Result<StatusValues, Error> {
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
        Ok(StatusValues(rows.into_iter().collect()))
    }
}

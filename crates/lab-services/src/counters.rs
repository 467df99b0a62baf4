// SPDX-License-Identifier: Apache-2.0
//! What a server has executed, read over the lab's own connection, whose statements do not count.

use crate::admin::{Admin, Connection, mariadb_words, postgresql_words};
use crate::{Kind, ServiceError};
use mysql::prelude::Queryable;
use std::collections::{BTreeMap, HashMap};

/// What a server has executed since some moment: only differences mean something. Of a private server
/// all that subjects did; of another PostgreSQL what its user did; of another MariaDB what everybody did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Statements by their first word in lower case (`select`, `insert`, `begin`, `commit`, …), however
    /// they were sent. `start transaction` is a `begin`, `end` a `commit`. Of MariaDB those that have no
    /// entry of their own are `other`, and `admin` are pings and resets of the connection.
    pub statements: BTreeMap<String, u64>,
    /// Rows that statements yielded, inserted, updated or deleted. A row that is updated to the value
    /// it had counts in PostgreSQL; MariaDB leaves it alone.
    pub rows: u64,
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
    /// What happened since an earlier reading, without the statements of which there were none.
    pub fn since(&self, before: &Counters) -> Counters {
        let less = |now: Option<u64>, then: Option<u64>| Some(now?.wrapping_sub(then?));
        // A command without a reply, such as the end of a connection, may be half counted in the
        // earlier reading, and is then one too many in it.
        let statements = self.statements.iter().filter_map(|(word, &now)| {
            let then = before.statements.get(word).copied().unwrap_or(0);
            let count = now.checked_sub(then).filter(|&n| n > 0 && n < u64::MAX / 2)?;
            Some((word.clone(), count))
        });
        Counters {
            statements: statements.collect(),
            rows: self.rows.wrapping_sub(before.rows),
            prepared_executions: less(self.prepared_executions, before.prepared_executions),
            prepares: less(self.prepares, before.prepares),
            plans: less(self.plans, before.plans),
            connects: less(self.connects, before.connects),
            aborted: less(self.aborted, before.aborted),
            open: self.open,
        }
    }
}

/// Reads the counters of a server.
pub(crate) enum Counter {
    Postgresql(Box<Statements>),
    Mariadb(Status),
}

impl Counter {
    pub fn new(admin: &mut Admin, user: &str) -> Result<Counter, ServiceError> {
        Ok(match admin.kind() {
            Kind::Postgresql => Counter::Postgresql(Box::new(Statements::new(admin, user)?)),
            Kind::Mariadb => Counter::Mariadb(Status::default()),
        })
    }

    pub fn read(&mut self, admin: &mut Admin) -> Result<Counters, ServiceError> {
        let read = match (self, admin.connection()) {
            (Counter::Postgresql(counter), Connection::Postgresql(client)) => {
                counter.read(client).map_err(postgresql_words)
            }
            (Counter::Mariadb(counter), _) => return counter.read(admin),
            _ => unreachable!("a counter is of its connection's kind"),
        };
        read.map_err(|words| admin.refused(words))
    }
}

/// The lab's own queries where they cannot be left out of the statistics.
const MARK: &str = "/* benchlab */";

/// So many entries of the statistics are read after every batch; beyond, they are cleared.
const MOST_ENTRIES: usize = 250;

/// PostgreSQL's statistics of statements: an entry for each normalized text.
pub(crate) struct Statements {
    entries: postgres::Statement,
    texts: postgres::Statement,
    sessions: postgres::Statement,
    reset: String,
    user: u32,
    plans: bool,
    /// The first word of a text that was seen; `None`: the lab's own.
    words: HashMap<i64, Option<String>>,
    /// What entries counted that were cleared.
    cleared: Counters,
}

impl Statements {
    fn new(admin: &mut Admin, user: &str) -> Result<Statements, ServiceError> {
        let home = admin.value(
            "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
             WHERE e.extname = 'pg_stat_statements'",
        )?;
        let home = admin.quoted(&home);
        let plans = admin.value("SELECT current_setting('pg_stat_statements.track_planning')")?;
        let number = admin.value("SELECT current_setting('server_version_num')")?;
        let sessions = if number.parse().unwrap_or(0) >= 140_000 {
            "sessions"
        } else {
            "NULL::bigint"
        };
        let Connection::Postgresql(client) = admin.connection() else {
            unreachable!("PostgreSQL's counters are read from PostgreSQL");
        };
        let mut prepare = || {
            let user = client.query_one("SELECT oid FROM pg_roles WHERE rolname = $1", &[&user])?;
            // Without the texts no file is read.
            let entries = client.prepare(&format!(
                "{MARK} SELECT queryid, calls, rows, plans FROM {home}.pg_stat_statements(false) \
                 WHERE userid = $1 AND queryid IS NOT NULL"
            ))?;
            let texts = client.prepare(&format!(
                "{MARK} SELECT queryid, query FROM {home}.pg_stat_statements(true) \
                 WHERE userid = $1 AND queryid = ANY ($2)"
            ))?;
            let sessions = client.prepare(&format!(
                "{MARK} SELECT {sessions}, numbackends FROM pg_stat_database \
                 WHERE datname = current_database()"
            ))?;
            let user: u32 = user.get(0);
            Ok(Statements {
                entries,
                texts,
                sessions,
                reset: format!("{MARK} SELECT {home}.pg_stat_statements_reset({user}, 0, 0)"),
                user,
                plans: plans == "on",
                words: HashMap::new(),
                cleared: Counters::default(),
            })
        };
        let prepared = prepare().map_err(postgresql_words);
        prepared.map_err(|words| admin.refused(words))
    }

    fn read(&mut self, client: &mut postgres::Client) -> Result<Counters, postgres::Error> {
        let entries = client.query(&self.entries, &[&self.user])?;
        self.learn(client, entries.iter().map(|entry| entry.get(0)))?;
        let mut counters = self.cleared.clone();
        let mut plans = counters.plans.unwrap_or(0);
        for entry in &entries {
            let Some(Some(word)) = self.words.get(&entry.get(0)) else {
                continue;
            };
            let [calls, rows, planned] = [1, 2, 3].map(|column| entry.get::<_, i64>(column) as u64);
            *counters.statements.entry(word.clone()).or_default() += calls;
            counters.rows += rows;
            plans += planned;
        }
        counters.plans = self.plans.then_some(plans);
        if entries.len() > MOST_ENTRIES && client.simple_query(&self.reset).is_ok() {
            self.cleared = counters.clone();
        }
        Ok(counters)
    }

    /// Connections that were opened and closed again, and those open.
    pub fn sessions(
        &self,
        client: &mut postgres::Client,
    ) -> Result<(Option<u64>, u64), postgres::Error> {
        let row = client.query_one(&self.sessions, &[])?;
        let (sessions, open): (Option<i64>, i32) = (row.get(0), row.get(1));
        Ok((sessions.map(|n| n as u64), open as u64))
    }

    /// Reads the texts of entries that are new.
    fn learn(
        &mut self,
        client: &mut postgres::Client,
        ids: impl Iterator<Item = i64>,
    ) -> Result<(), postgres::Error> {
        let new: Vec<i64> = ids.filter(|id| !self.words.contains_key(id)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for row in client.query(&self.texts, &[&self.user, &new])? {
            let text: &str = row.get(1);
            let word = (!text.contains(MARK)).then(|| first_word(text));
            self.words.insert(row.get(0), word);
        }
        Ok(())
    }
}

/// The first word of a statement, behind comments and parentheses, in lower case.
fn first_word(statement: &str) -> String {
    let mut rest = statement;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(' || c == ';');
        let behind = if rest.starts_with("--") {
            rest.split_once('\n')
        } else if rest.starts_with("/*") {
            rest.split_once("*/")
        } else {
            break;
        };
        rest = behind.map_or("", |(_, rest)| rest);
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    match rest[..end].to_lowercase().as_str() {
        "start" => "begin",
        "end" => "commit",
        "abort" => "rollback",
        word => word,
    }
    .to_owned()
}

/// MariaDB's status variables that count statements, and their words.
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

const ROWS: [&str; 4] = [
    "Rows_sent",
    "Handler_write",
    "Handler_update",
    "Handler_delete",
];

const OTHERS: [&str; 8] = [
    "Questions",
    "Aborted_clients",
    "Aborted_connects",
    "Com_admin_commands",
    "Com_stmt_execute",
    "Com_stmt_prepare",
    "Connections",
    "Threads_connected",
];

/// MariaDB's status variables. They count the lab's own statements too, which are subtracted.
#[derive(Default)]
pub(crate) struct Status {
    /// Of the lab's own session.
    own: HashMap<String, u64>,
    /// As many statements the lab had sent when `own` was read.
    own_at: u64,
    /// Rows that the readings themselves yielded: the session does not count them, and the server
    /// does from the next reading on.
    rows_read: u64,
}

impl Status {
    fn read(&mut self, admin: &mut Admin) -> Result<Counters, ServiceError> {
        if self.own.is_empty() || self.own_at != admin.statements {
            self.own = self.status(admin, "SESSION")?;
        }
        let rows_read = self.rows_read;
        let all = self.status(admin, "GLOBAL")?;
        self.own_at = admin.statements;
        let value = |name: &str| {
            let of = |status: &HashMap<String, u64>| status.get(name).copied().unwrap_or(0);
            of(&all).wrapping_sub(of(&self.own))
        };
        let mut statements: BTreeMap<String, u64> = STATEMENTS
            .iter()
            .map(|&(variable, word)| (word.to_owned(), value(variable)))
            .collect();
        let named: u64 = statements.values().sum();
        let of_all = |name: &str| all.get(name).copied().unwrap_or(0);
        let (opened, open) = (of_all("Connections"), of_all("Threads_connected"));
        let aborted = of_all("Aborted_clients") + of_all("Aborted_connects");
        // A client that says goodbye has asked a question.
        let goodbyes = opened.wrapping_sub(open).wrapping_sub(aborted);
        let known = named.wrapping_add(goodbyes).wrapping_add(admin.statements);
        let other = of_all("Questions").wrapping_sub(known);
        statements.insert("other".into(), other);
        statements.insert("admin".into(), value("Com_admin_commands"));
        let rows: u64 = ROWS.iter().map(|name| value(name)).sum();
        Ok(Counters {
            statements,
            rows: rows.wrapping_sub(rows_read),
            prepared_executions: Some(value("Com_stmt_execute")),
            prepares: Some(value("Com_stmt_prepare")),
            plans: None,
            connects: Some(opened),
            aborted: Some(aborted),
            open,
        })
    }

    fn status(
        &mut self,
        admin: &mut Admin,
        scope: &str,
    ) -> Result<HashMap<String, u64>, ServiceError> {
        let names = STATEMENTS
            .iter()
            .map(|(variable, _)| variable)
            .chain(&ROWS)
            .chain(&OTHERS);
        let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
        let query = format!(
            "SHOW {scope} STATUS WHERE Variable_name IN ({})",
            names.join(",")
        );
        admin.statements += 1;
        let Connection::Mariadb(client) = admin.connection() else {
            unreachable!("MariaDB's counters are read from MariaDB");
        };
        let rows: Result<Vec<(String, u64)>, _> = client.query(query).map_err(mariadb_words);
        let rows = rows.map_err(|words| admin.refused(words))?;
        self.rows_read += rows.len() as u64;
        Ok(rows.into_iter().collect())
    }
}

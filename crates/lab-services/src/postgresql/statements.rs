// SPDX-License-Identifier: Apache-2.0
//! PostgreSQL's statement statistics (its manual, pg_stat_statements). There is an entry for each
//! combination of a normalized text and the tables that it refers to.

use crate::counters::Counters;
use crate::processes::Processes;
use postgres::{Client, Error, Statement};
use std::collections::HashMap;

/// A comment that marks benchlab's own queries. A user who is not a superuser cannot exclude these
/// queries from the statistics.
pub(super) const MARK: &str = "/* benchlab */";

/// The maximum number of entries. A reading that finds more entries clears all entries.
///
/// The server takes about 10 µs to return an entry, and the entries are read after every batch.
const MAX_ENTRIES: usize = 250;

/// A reader of the statement statistics of one user.
pub(crate) struct Statements {
    entries: Statement,
    texts: Statement,
    sessions: Statement,
    user: u32,
    /// True if plans are counted.
    plans: bool,
    /// The first word of each known statement text, or `None` for benchlab's own statements.
    words: HashMap<i64, Option<String>>,
    /// The statement that clears the entries, or `None` if the user may not clear them.
    clear: Option<String>,
    /// The total counts of all cleared entries.
    cleared: Counters,
}

impl Statements {
    pub fn new(client: &mut Client, user: &str) -> Result<Statements, Error> {
        let home: String = client
            .query_one(
                "SELECT quote_ident(n.nspname) FROM pg_extension e \
                 JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'",
                &[],
            )?
            .get(0);
        let mut setting = |name: &str| -> Result<String, Error> {
            Ok(client
                .query_one("SELECT current_setting($1)", &[&name])?
                .get(0))
        };
        let plans = setting("pg_stat_statements.track_planning")?;
        let version = setting("server_version_num")?;
        let sessions = version.parse().is_ok_and(|version: u32| version >= 140_000);
        Statements::prepare(client, user, &home, plans == "on", sessions)
    }

    fn prepare(
        client: &mut Client,
        user: &str,
        home: &str,
        plans: bool,
        sessions: bool,
    ) -> Result<Statements, Error> {
        let user: u32 = client
            .query_one("SELECT oid FROM pg_roles WHERE rolname = $1", &[&user])?
            .get(0);
        let sessions = if sessions { "sessions" } else { "NULL::bigint" };
        Ok(Statements {
            // Without the texts, the server does not have to read a file.
            entries: client.prepare(&format!(
                "{MARK} SELECT queryid, calls, rows, plans, \
                 shared_blks_hit + shared_blks_read FROM {home}.pg_stat_statements(false) \
                 WHERE userid = $1 AND queryid IS NOT NULL"
            ))?,
            texts: client.prepare(&format!(
                "{MARK} SELECT queryid, query FROM {home}.pg_stat_statements(true) \
                 WHERE userid = $1 AND queryid = ANY ($2)"
            ))?,
            sessions: client.prepare(&format!(
                "{MARK} SELECT {sessions}, numbackends FROM pg_stat_database \
                 WHERE datname = current_database()"
            ))?,
            user,
            plans,
            words: HashMap::new(),
            clear: Some(format!(
                "{MARK} SELECT {home}.pg_stat_statements_reset({user}, 0, 0)"
            )),
            cleared: Counters::default(),
        })
    }

    pub fn read(
        &mut self,
        client: &mut Client,
        processes: Option<&Processes>,
    ) -> Result<Counters, Error> {
        // Read the number of processes first, so that the statements of a process that has exited by then are all
        // counted.
        let open = processes.map(|processes| processes.children().len() as u64);
        let mut counters = self.executed(client, MAX_ENTRIES)?;
        let ended_processes = processes.and_then(|processes| processes.ended_processes.as_deref());
        (counters.connects, counters.open) = match (
            ended_processes.map(|ended_processes| ended_processes.accepted()),
            open,
        ) {
            (Some(accepted), Some(open)) => (Some(accepted), open),
            (_, open) => {
                let (closed, counted) = self.sessions(client)?;
                (closed, open.unwrap_or(counted))
            }
        };
        Ok(counters)
    }

    /// Clears the entries. Later readings still include their counts.
    pub fn clear(&mut self, client: &mut Client) -> Result<(), Error> {
        self.executed(client, 0).map(drop)
    }

    /// Returns the counts of all entries, and clears the entries if there are more than `max_entries`.
    fn executed(&mut self, client: &mut Client, max_entries: usize) -> Result<Counters, Error> {
        let entries = client.query(&self.entries, &[&self.user])?;
        self.learn(client, entries.iter().map(|entry| entry.get(0)))?;
        let mut counters = self.cleared.clone();
        let mut plans = counters.plans.unwrap_or(0);
        let mut blocks = counters.blocks.unwrap_or(0);
        for entry in &entries {
            let Some(Some(word)) = self.words.get(&entry.get(0)) else {
                continue;
            };
            let [calls, rows, planned, read_blocks] =
                [1, 2, 3, 4].map(|column| entry.get::<_, i64>(column) as u64);
            *counters.statements.entry(word.clone()).or_default() += calls;
            counters.rows += rows;
            plans += planned;
            blocks += read_blocks;
        }
        counters.plans = self.plans.then_some(plans);
        counters.blocks = Some(blocks);
        if let Some(clear) = self.clear.take_if(|_| entries.len() > max_entries) {
            // A rejected statement is not retried.
            if client.simple_query(&clear).is_ok() {
                self.cleared = counters.clone();
                self.clear = Some(clear);
            }
        }
        Ok(counters)
    }

    /// Returns the number of connections that were opened and closed again, and the number of
    /// connections that are still open.
    fn sessions(&self, client: &mut Client) -> Result<(Option<u64>, u64), Error> {
        let row = client.query_one(&self.sessions, &[])?;
        let (closed, open): (Option<i64>, i32) = (row.get(0), row.get(1));
        Ok((closed.map(|n| n as u64), open as u64))
    }

    /// Reads the statement texts of new entries.
    fn learn(&mut self, client: &mut Client, ids: impl Iterator<Item = i64>) -> Result<(), Error> {
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

/// Returns the first word of a statement in lower case, after comments and parentheses. Replaces
/// `start`, `end` and `abort` with their synonyms `begin`, `commit` and `rollback`.
fn first_word(statement: &str) -> String {
    let mut rest = statement;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(' || c == ';');
        let after_comment = if rest.starts_with("--") {
            rest.split_once('\n')
        } else if rest.starts_with("/*") {
            rest.split_once("*/")
        } else {
            break;
        };
        rest = after_comment.map_or("", |(_, rest)| rest);
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let word = rest[..end.unwrap_or(rest.len())].to_lowercase();
    match word.as_str() {
        "start" => "begin".into(),
        "end" => "commit".into(),
        "abort" => "rollback".into(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::first_word;

    #[test]
    fn the_first_word_is_behind_comments_and_parentheses() {
        assert_eq!(first_word("SELECT $1"), "select");
        assert_eq!(
            first_word("\n-- why\n /* a */ ((Select 1) UNION SELECT 2)"),
            "select"
        );
        assert_eq!(first_word("START TRANSACTION"), "begin");
        assert_eq!(first_word("END;"), "commit");
        assert_eq!(first_word("commit"), "commit");
        assert_eq!(first_word("/* unfinished"), "");
        assert_eq!(first_word(""), "");
    }
}

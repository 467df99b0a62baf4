// SPDX-License-Identifier: Apache-2.0
//! Combines messages of PostgreSQL into statements.
//!
//! A statement and its duration can be separate messages, with messages of other sessions between
//! them. Each session therefore has a state.
//!
//! Sources: PostgreSQL 17, 19.8 *Error Reporting and Logging*, F.3 *auto_explain*;
//! `tcop/postgres.c`, which writes `statement: `, `execute NAME: ` and `duration: N ms`.

use super::line_prefix::Severity;
use crate::analysis::is_notable;
use crate::entry::Entry;
use crate::join::{id_in_application, ids_in_comments};
use crate::query::UNKNOWN;
use crate::sql::Dialect;
use crate::time::scaled;
use lab_model::{LogAdvice, LogAssumption};
use memchr::memmem::find;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// The maximum number of tracked sessions. If there are more sessions, the sessions that have been
/// idle the longest are ended.
const MAX_SESSIONS: usize = 50_000;
/// The maximum total size of the stored statements of all sessions, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// The maximum number of plans that are stored for a query with multiple statements.
const MAX_PLANS: usize = 100;
/// The maximum number of completed statements of a session whose plans may follow.
const MAX_EXECUTED: usize = 16;
/// The maximum excess of a plan's duration over the statement's duration, in ns.
///
/// The log rounds the statement's duration to three decimals of a millisecond.
const ROUNDING_NS: u64 = 1_000;
/// The maximum time that a statement takes beyond twice the duration in its plan, in ns.
const MAX_OVERHEAD_NS: u64 = 1_000_000;
/// The maximum excess of a duration over the time between two messages, in seconds.
///
/// The timestamps of messages can be whole seconds.
const CLOCK_STEP_S: i64 = 2;

/// The beginning of a message about more rows of a portal whose execution began earlier.
const FETCH: &[u8] = b"execute fetch from ";
/// The unit of durations in the languages of PostgreSQL's messages.
const MS_WORDS: [&str; 4] = ["ms", "мс", "ミリ秒", "毫秒"];
/// The beginnings of the contexts of statements that run inside functions.
const NESTED: [&[u8]; 3] = [b"SQL statement ", b"SQL function ", b"PL/pgSQL "];

/// A message of PostgreSQL's log.
#[derive(Clone, Copy, Debug)]
pub struct Message<'m> {
    /// The time of the message, in seconds since 1970.
    pub time_s: Option<i64>,
    /// The offset of the log's clock from UTC, in seconds.
    pub offset_s: i32,
    /// The process or session, or `None` if the log does not contain it.
    pub process: Option<&'m [u8]>,
    /// The client's `application_name`. Empty if unknown.
    pub application: &'m [u8],
    /// The severity, as far as the analysis distinguishes it.
    pub severity: Severity,
    /// The text, without the severity.
    pub text: &'m [u8],
}

/// A statement whose duration is unknown, or known only from the plan that auto_explain logged.
#[derive(Clone, Debug, Default)]
struct Statement {
    time_s: Option<i64>,
    offset_s: i32,
    text: Vec<u8>,
    /// The ID of the request that ran the statement, if the client's `application_name` contains
    /// one.
    id: Vec<u8>,
    duration_ns: Option<u64>,
    is_failed: bool,
    /// True for the extended protocol, in which plans are written after the durations.
    is_extended: bool,
    /// True if the message is about more rows of a portal whose execution began earlier.
    is_fetch: bool,
    /// The `EXECUTE` command as the client sent it, if `text` is the text of the prepared
    /// statement. Otherwise empty.
    command: Vec<u8>,
}

/// A completed statement of the extended protocol. The statement's plan follows when its portal is
/// closed, which can be after other statements.
#[derive(Clone, Copy, Debug)]
struct Executed {
    /// The hash of the statement's text.
    hash: u64,
    /// The statement's duration, in ns.
    ns: u64,
}

/// An error of a statement.
#[derive(Clone, Debug)]
struct StatementError {
    severity: Severity,
    time_s: Option<i64>,
    offset_s: i32,
    id: Vec<u8>,
}

/// The state of a session.
#[derive(Clone, Debug, Default)]
struct Session {
    /// The statement that the session is running.
    open: Option<Statement>,
    /// Statements with the same text whose plans auto_explain logged.
    ///
    /// The message with their duration may follow.
    explained: Vec<Statement>,
    /// True if the last message was a plan.
    is_plan_last: bool,
    /// Completed statements whose plans may follow, oldest first.
    executed: Vec<Executed>,
    /// An error whose statement may follow.
    error: Option<StatementError>,
    /// An `EXECUTE` statement with its duration. The text of the prepared statement may follow.
    execute: Option<Statement>,
    /// The sequence number of the session's last message.
    last: u64,
}

/// The sessions of a log.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    sessions: HashMap<Vec<u8>, Session>,
    messages: u64,
    last_s: Option<i64>,
    /// The time of the last message in the previous file, in seconds since 1970.
    previous_file_s: Option<i64>,
    /// The total size of the stored statements, in bytes.
    bytes: usize,
    /// The number of entries with a duration.
    timed: u64,
    /// The number of entries without a duration.
    untimed: u64,
    /// The number of durations without a statement.
    nameless: u64,
    /// The number of errors without a statement.
    nameless_errors: u64,
    /// The number of messages in a language other than English.
    translated: u64,
    /// The number of statements that ran inside functions and whose plans auto_explain logged.
    nested: u64,
    /// The number of messages with a statement or a duration, but without a process.
    without_process: u64,
}

/// A duration in a message.
struct Duration<'m> {
    ns: u64,
    /// The phase of the extended protocol, `parse` or `bind`. Empty for the execution of a
    /// statement.
    phase: &'static str,
    is_extended: bool,
    /// True if the message is about more rows of a portal whose execution began earlier.
    is_fetch: bool,
    /// The text of the statement, or `None` if the message has no statement.
    statement: Option<&'m [u8]>,
}

impl Sessions {
    /// Reads a message and passes complete statements to `sink`.
    ///
    /// Returns false if the duration in the message is malformed.
    pub fn message(&mut self, message: &Message, sink: &mut impl FnMut(&Entry)) -> bool {
        self.messages += 1;
        self.last_s = message.time_s.or(self.last_s);
        let key = message.process.unwrap_or_default();
        let mut session = self.sessions.remove(key).unwrap_or_default();
        self.bytes -= session.bytes();
        session.last = self.messages;
        session.is_plan_last = false;
        self.finish_error(&mut session, sink);
        self.give(session.execute.take(), sink);
        let is_read = self.read(message, &mut session, sink);
        let ends = message.text.starts_with(b"disconnection: ")
            || message.text.starts_with(b"connection received: ");
        if ends {
            self.end_session(session, sink);
        } else if !session.is_idle() {
            self.bytes += session.bytes();
            self.sessions.insert(key.to_vec(), session);
            self.fit(sink);
        }
        is_read
    }

    fn read(
        &mut self,
        message: &Message,
        session: &mut Session,
        sink: &mut impl FnMut(&Entry),
    ) -> bool {
        let text = message.text;
        if matches!(message.severity, Severity::Error | Severity::Fatal) {
            // No client waits for the server's own maintenance.
            if !text.starts_with(b"canceling autovacuum task") {
                session.error = Some(StatementError {
                    severity: message.severity,
                    time_s: message.time_s,
                    offset_s: message.offset_s,
                    id: id_of(message),
                });
            }
            return true;
        }
        if text.starts_with(b"duration: ") {
            if let Some((ns, statement)) = plan(text) {
                self.plan(message, ns, &statement, session, sink);
                return true;
            }
            if message.severity != Severity::Log {
                return true;
            }
            let Some(duration) = duration(text) else {
                return false;
            };
            self.duration(message, duration, session, sink);
        } else if message.severity == Severity::Log
            && let Some(statement) = statement_text(text)
        {
            self.without_process += u64::from(message.process.is_none());
            self.finish_pending(session, sink);
            session.open = Some(Statement {
                is_extended: text.starts_with(b"execute "),
                is_fetch: text.starts_with(FETCH),
                ..statement_of(message, statement)
            });
            if message.process.is_none() {
                // Without a process, the next message can be from another session.
                self.finish_pending(session, sink);
            }
        } else if is_translated_duration(text) {
            self.translated += 1;
        }
        true
    }

    /// Handles a message of auto_explain, which precedes the message with the statement's duration.
    fn plan(
        &mut self,
        message: &Message,
        ns: u64,
        text: &[u8],
        session: &mut Session,
        sink: &mut impl FnMut(&Entry),
    ) {
        session.is_plan_last = true;
        if let Some(open) = session
            .open
            .as_mut()
            .filter(|open| is_execution(&open.text, text))
        {
            let ns = open.duration_ns.unwrap_or(0).saturating_add(ns);
            (open.duration_ns, open.time_s, open.offset_s) =
                (Some(ns), message.time_s, message.offset_s);
            return;
        }
        if session.take_executed(self.hash(text), ns) {
            return;
        }
        // The statements of a query have the query's text in their plans.
        let is_next = has_multiple_statements(text)
            && session.explained.len() < MAX_PLANS
            && session.explained.iter().all(|s| is_same(&s.text, text));
        if !is_next {
            self.give_all(&mut session.explained, sink);
        }
        let statement = Statement {
            duration_ns: Some(ns),
            ..statement_of(message, text)
        };
        if message.process.is_some() {
            session.explained.push(statement);
        } else {
            self.without_process += 1;
            self.give(Some(statement), sink);
        }
    }

    fn duration(
        &mut self,
        message: &Message,
        duration: Duration,
        session: &mut Session,
        sink: &mut impl FnMut(&Entry),
    ) {
        let previous_file_s = self.previous_file_s;
        let Some(text) = duration.statement else {
            return self.bare_duration(message, &duration, session, sink);
        };
        let is_execution = duration.phase.is_empty();
        let has_plan = is_execution
            && session
                .drop_explained(&duration, message.time_s, previous_file_s, text)
                .is_some();
        let is_the_same = |s: &Statement| {
            is_execution
                && is_same(&s.text, text)
                && s.fits(&duration, message.time_s, previous_file_s)
        };
        let open = session.open.take().filter(|s| !is_the_same(s));
        self.give(open, sink);
        self.give_all(&mut session.explained, sink);
        // The plan of an INSERT, UPDATE or DELETE is logged before its duration.
        if duration.is_extended && !has_plan && message.process.is_some() {
            session.add_executed(self.hash(text), duration.ns, duration.is_fetch);
        }
        let mut statement = statement_of(message, duration.phase.as_bytes());
        statement.text.extend(text);
        statement.duration_ns = Some(duration.ns);
        if is_execution && is_execute(text) {
            session.execute = Some(statement);
        } else {
            self.give(Some(statement), sink);
        }
    }

    /// Handles a duration whose statement is in an earlier message.
    fn bare_duration(
        &mut self,
        message: &Message,
        duration: &Duration,
        session: &mut Session,
        sink: &mut impl FnMut(&Entry),
    ) {
        self.without_process += u64::from(message.process.is_none());
        let previous_file_s = self.previous_file_s;
        let open = session.open.take();
        let (mut named, other) = match open {
            Some(open) if open.fits(duration, message.time_s, previous_file_s) => {
                (Some(open), None)
            }
            other => (None, other),
        };
        let mut has_plan = false;
        if named.is_none() && other.is_none() {
            let text = session.explained.last().map(|s| s.text.clone());
            named = text.and_then(|text| {
                session.drop_explained(duration, message.time_s, previous_file_s, &text)
            });
            has_plan = named.is_some();
        }
        self.give(other, sink);
        self.give_all(&mut session.explained, sink);
        self.nameless += u64::from(named.is_none());
        let named = named.unwrap_or_else(|| statement_of(message, UNKNOWN.as_bytes()));
        let statement = Statement {
            duration_ns: Some(duration.ns),
            time_s: message.time_s,
            offset_s: message.offset_s,
            id: id_of(message),
            ..named
        };
        if statement.is_extended && !has_plan && message.process.is_some() {
            session.add_executed(self.hash(&statement.text), duration.ns, statement.is_fetch);
        }
        self.give(Some(statement), sink);
    }

    /// Handles additional information about the previous message, such as its context.
    pub fn detail_of_last(&mut self, process: Option<&[u8]>, text: &[u8]) {
        let is_nested = NESTED.iter().any(|begin| text.starts_with(begin));
        let Some(session) = self.sessions.get_mut(process.unwrap_or_default()) else {
            return;
        };
        self.nested += u64::from(is_nested && session.is_plan_last);
        let prepared = text.strip_prefix(b"prepare: ").and_then(prepared_statement);
        let execute = session.execute.as_mut().or(session.open.as_mut());
        if let (Some(prepared), Some(execute)) = (prepared, execute)
            && is_execute(&execute.text)
            && execute.command.is_empty()
        {
            self.bytes += prepared.len();
            execute.command = std::mem::replace(&mut execute.text, prepared.to_vec());
        }
    }

    /// Counts a message in a language other than English.
    pub fn skip_translated(&mut self) {
        self.translated += 1;
    }

    /// Handles the statement of the previous message, which failed if that message was an error.
    pub fn statement_of_last(
        &mut self,
        process: Option<&[u8]>,
        text: &[u8],
        sink: &mut impl FnMut(&Entry),
    ) {
        let key = process.unwrap_or_default();
        let Some(mut session) = self.sessions.remove(key) else {
            return;
        };
        self.bytes -= session.bytes();
        if let Some(error) = session.error.take() {
            self.give_all(&mut session.explained, sink);
            // If the open statement has a different text, it is not the one that failed, so it
            // succeeded.
            let open = session.open.take();
            let (failed, other) = match open {
                Some(open) if open.has_text(text) => (Some(open), None),
                other => (None, other),
            };
            self.give(other, sink);
            let failed = Statement {
                time_s: error.time_s,
                offset_s: error.offset_s,
                text: failed.map_or_else(|| text.to_vec(), |open| open.text),
                id: error.id,
                is_failed: true,
                ..Statement::default()
            };
            self.give(Some(failed), sink);
        }
        if !session.is_idle() {
            self.bytes += session.bytes();
            self.sessions.insert(key.to_vec(), session);
        }
    }

    /// Handles an error that no message with the failed statement follows.
    ///
    /// The open statement is the one that failed. Without an open statement, an unknown statement
    /// failed.
    fn finish_error(&mut self, session: &mut Session, sink: &mut impl FnMut(&Entry)) {
        if let Some(error) = session.error.take()
            && error.severity == Severity::Error
        {
            self.nameless_errors += u64::from(session.open.is_none());
            let unknown = || Statement {
                text: UNKNOWN.as_bytes().to_vec(),
                ..Statement::default()
            };
            let open = session.open.take().unwrap_or_else(unknown);
            let failed = Statement {
                time_s: error.time_s,
                offset_s: error.offset_s,
                id: error.id,
                is_failed: true,
                duration_ns: None,
                ..open
            };
            self.give(Some(failed), sink);
        }
    }

    /// Passes a session's pending statements to `sink`.
    fn finish_pending(&mut self, session: &mut Session, sink: &mut impl FnMut(&Entry)) {
        self.finish_error(session, sink);
        self.give(session.execute.take(), sink);
        self.give(session.open.take(), sink);
        self.give_all(&mut session.explained, sink);
    }

    fn end_session(&mut self, mut session: Session, sink: &mut impl FnMut(&Entry)) {
        self.finish_pending(&mut session, sink);
    }

    fn give_all(&mut self, statements: &mut Vec<Statement>, sink: &mut impl FnMut(&Entry)) {
        for statement in statements.drain(..) {
            self.give(Some(statement), sink);
        }
    }

    fn give(&mut self, statement: Option<Statement>, sink: &mut impl FnMut(&Entry)) {
        let Some(statement) = statement else {
            return;
        };
        let text = statement.text.trim_ascii();
        if text.is_empty() && statement.duration_ns.is_none() {
            return;
        }
        match statement.duration_ns {
            Some(_) => self.timed += 1,
            None => self.untimed += u64::from(!statement.is_failed),
        }
        // A comment belongs to the statement itself, but a name can be left from the connection's
        // last request.
        let has_own_id =
            !statement.id.is_empty() && !ids_in_comments(text, Dialect::Postgresql).is_empty();
        sink(&Entry {
            time_s: statement.time_s,
            offset_s: statement.offset_s,
            duration_ns: statement.duration_ns,
            target: text,
            is_query: true,
            dialect: Dialect::Postgresql,
            status: if statement.is_failed { 500 } else { 200 },
            id: if has_own_id { b"" } else { &statement.id },
            ..Entry::default()
        });
    }

    fn hash(&self, text: &[u8]) -> u64 {
        self.sessions.hasher().hash_one(text.trim_ascii())
    }

    /// Ends the half of the sessions that have been idle the longest if there are more than
    /// [`MAX_SESSIONS`] or if their statements have more than [`MAX_BYTES`] in total.
    fn fit(&mut self, sink: &mut impl FnMut(&Entry)) {
        if self.sessions.len() <= MAX_SESSIONS && self.bytes <= MAX_BYTES {
            return;
        }
        let mut last: Vec<u64> = self.sessions.values().map(|session| session.last).collect();
        let middle = last.len() / 2;
        let bound = *last.select_nth_unstable(middle).1;
        self.end_until(bound, sink);
    }

    /// Ends the sessions whose last message has a sequence number of at most `bound`, oldest first.
    fn end_until(&mut self, bound: u64, sink: &mut impl FnMut(&Entry)) {
        let old = self.sessions.extract_if(|_, session| session.last <= bound);
        let mut old: Vec<Session> = old.map(|(_, session)| session).collect();
        old.sort_by_key(|session| session.last);
        self.bytes -= old.iter().map(Session::bytes).sum::<usize>();
        for session in old {
            self.end_session(session, sink);
        }
    }

    /// Ends all sessions, as at the end of a log.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) {
        self.end_until(u64::MAX, sink);
    }

    /// Returns the time of the last message, in seconds since 1970.
    pub fn last_s(&self) -> Option<i64> {
        self.last_s
    }

    /// Continues the log in another file, which may be from another server.
    ///
    /// A statement from before `last_s` gets a duration from the new file only if the duration is
    /// not longer than the time between the statement's message and the message with the duration.
    pub fn begin_file(&mut self, last_s: Option<i64>) {
        self.previous_file_s = last_s;
    }

    /// Returns the assumption that none of the durations without a statement belongs to a statement
    /// without a duration.
    ///
    /// If a duration does belong to such a statement, the statement is counted twice.
    pub fn assumption(&self) -> Option<LogAssumption> {
        let statements = self.untimed.min(self.nameless);
        let is_such = is_notable(statements, self.timed + self.untimed);
        is_such.then_some(LogAssumption::StatementsCountedTwice { statements })
    }

    /// Returns advice about messages that are not counted, and about settings that make the server
    /// log more.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = Vec::new();
        if self.translated > 0 {
            advice.push(LogAdvice::TranslatedMessages {
                messages: self.translated,
            });
        }
        if self.nested > 0 {
            advice.push(LogAdvice::NestedStatements {
                statements: self.nested,
            });
        }
        if self.nameless_errors > 0 {
            advice.push(LogAdvice::ErrorsWithoutStatement {
                errors: self.nameless_errors,
            });
        }
        if self.without_process > 0 {
            advice.push(LogAdvice::NoProcessNumbers);
        } else if self.nameless > 0 {
            advice.push(LogAdvice::DurationsWithoutStatement {
                durations: self.nameless,
            });
        } else if self.untimed > 0 && self.timed == 0 {
            advice.push(LogAdvice::StatementsWithoutDurations);
        } else if self.messages > 0
            && self.timed + self.untimed + self.translated == 0
            && self.sessions.is_empty()
        {
            advice.push(LogAdvice::NoStatements);
        }
        advice
    }
}

impl Statement {
    /// Returns true if `text` is the statement that the client sent.
    fn has_text(&self, text: &[u8]) -> bool {
        let is_command = !self.command.is_empty() && is_same(&self.command, text);
        is_command || is_same(&self.text, text)
    }

    /// Returns true if this statement's plan may have been written during a statement that took
    /// `duration` and ended at `ended_s`.
    fn is_within(&self, duration: &Duration, ended_s: Option<i64>) -> bool {
        let took_s = (duration.ns / 1_000_000_000) as i64;
        let times = self.time_s.zip(ended_s);
        times.is_none_or(|(plan_s, ended_s)| ended_s - plan_s <= took_s + CLOCK_STEP_S)
    }

    /// Returns true if a duration in a message at `time_s` can belong to the statement.
    ///
    /// `previous_file_s` is the end of the previous file.
    fn fits(&self, duration: &Duration, time_s: Option<i64>, previous_file_s: Option<i64>) -> bool {
        let is_as_long = self
            .duration_ns
            .is_none_or(|ns| ns <= duration.ns + ROUNDING_NS);
        // A plan is written when its statement ends.
        let began_s = self.time_s.filter(|began_s| {
            self.duration_ns.is_none() && previous_file_s.is_some_and(|end_s| *began_s <= end_s)
        });
        let took_s = (duration.ns / 1_000_000_000) as i64;
        let is_within = began_s
            .zip(time_s)
            .is_none_or(|(began_s, ended_s)| ended_s - began_s >= took_s - CLOCK_STEP_S);
        is_as_long && is_within
    }
}

impl Session {
    fn is_idle(&self) -> bool {
        self.open.is_none()
            && self.explained.is_empty()
            && self.executed.is_empty()
            && self.error.is_none()
            && self.execute.is_none()
    }

    fn bytes(&self) -> usize {
        let statements = self.open.iter().chain(&self.explained).chain(&self.execute);
        let bytes = |s: &Statement| s.text.len() + s.command.len() + s.id.len();
        statements.map(bytes).sum()
    }

    /// Remembers a completed statement whose plan may follow. `ns` is the statement's duration.
    fn add_executed(&mut self, hash: u64, ns: u64, is_fetch: bool) {
        let known = self.executed.iter().position(|known| known.hash == hash);
        let known = known.map(|at| self.executed.remove(at));
        // The plan's duration is that of all parts of the result.
        let before = known.filter(|_| is_fetch);
        let before_ns = before.map_or(0, |known| known.ns.saturating_add(ROUNDING_NS));
        if self.executed.len() == MAX_EXECUTED {
            self.executed.remove(0);
        }
        self.executed.push(Executed {
            hash,
            ns: ns.saturating_add(before_ns),
        });
    }

    /// Removes the completed statement that a plan belongs to.
    ///
    /// Returns false if there is none. `ns` is the duration in the plan.
    fn take_executed(&mut self, hash: u64, ns: u64) -> bool {
        // A much longer execution has no plan in the log, for example because of a sampling rate.
        let min_ns = |known: &Executed| known.ns.saturating_sub(MAX_OVERHEAD_NS) / 2;
        let is_of_plan = |known: &Executed| {
            known.hash == hash
                && (min_ns(known)..=known.ns.saturating_add(ROUNDING_NS)).contains(&ns)
        };
        let known = self.executed.iter().position(is_of_plan);
        known.map(|at| self.executed.remove(at)).is_some()
    }

    /// Drops the plans that belong to the statement with the given text and duration.
    ///
    /// Returns the statement of the first dropped plan.
    fn drop_explained(
        &mut self,
        duration: &Duration,
        time_s: Option<i64>,
        previous_file_s: Option<i64>,
        text: &[u8],
    ) -> Option<Statement> {
        let (mut ns, mut kept) = (0_u64, self.explained.len());
        while let Some(last) = self.explained[..kept].last() {
            ns = last.duration_ns.unwrap_or_default().saturating_add(ns);
            let is_last = kept == self.explained.len();
            let fits = is_execution(text, &last.text)
                && ns <= duration.ns + ROUNDING_NS
                && (is_last || last.is_within(duration, time_s))
                && last.fits(duration, time_s, previous_file_s);
            if !fits {
                break;
            }
            kept -= 1;
        }
        self.explained.drain(kept..).next()
    }
}

fn statement_of(message: &Message, text: &[u8]) -> Statement {
    Statement {
        time_s: message.time_s,
        offset_s: message.offset_s,
        text: text.to_vec(),
        id: id_of(message),
        ..Statement::default()
    }
}

/// Returns the request ID in the client's `application_name`. Empty if there is none.
fn id_of(message: &Message) -> Vec<u8> {
    id_in_application(message.application)
        .unwrap_or_default()
        .to_vec()
}

fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.trim_ascii() == b.trim_ascii()
}

/// Returns true if `plan` is the text of a plan that the execution of `statement` logs.
///
/// The texts are equal, or `statement` executes the statement that `plan` prepares.
fn is_execution(statement: &[u8], plan: &[u8]) -> bool {
    let name = |text: &[u8], keyword: &[u8]| {
        let (begin, rest) = text.trim_ascii_start().split_at_checked(keyword.len())?;
        let is_keyword = begin.eq_ignore_ascii_case(keyword);
        let end = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'(' | b';');
        let name = rest.strip_prefix(b" ")?.trim_ascii_start();
        is_keyword.then(|| {
            name.split(end)
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase()
        })
    };
    let executed = name(statement, b"execute");
    let is_prepared = || prepared_statement(plan).is_some_and(|text| is_same(statement, text));
    is_same(statement, plan)
        || is_prepared()
        || executed.is_some() && executed == name(plan, b"prepare")
}

/// Returns true if the text of a statement is an SQL command `EXECUTE NAME`.
fn is_execute(statement: &[u8]) -> bool {
    let statement = statement.trim_ascii_start();
    let word = statement.get(..8).unwrap_or_default();
    word[..word.len().min(7)].eq_ignore_ascii_case(b"execute")
        && word.last().is_some_and(u8::is_ascii_whitespace)
}

/// Returns the statement that `PREPARE NAME AS …` prepares.
fn prepared_statement(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_start();
    let is_prepare = text.get(..8)?.eq_ignore_ascii_case(b"prepare ");
    let is_as = |at: &usize| {
        let word = text.get(*at..at + 4).unwrap_or_default();
        word.len() == 4
            && word[0].is_ascii_whitespace()
            && word[1..3].eq_ignore_ascii_case(b"as")
            && word[3].is_ascii_whitespace()
    };
    let at = (8..text.len()).find(is_as).filter(|_| is_prepare)?;
    Some(text[at + 4..].trim_ascii())
}

fn has_multiple_statements(text: &[u8]) -> bool {
    let is_end = |b: &u8| b.is_ascii_whitespace() || *b == b';';
    let end = text.iter().rposition(|b| !is_end(b)).unwrap_or(0);
    text[..end].contains(&b';')
}

/// Returns the text after `statement:`, `execute NAME:`, `execute fetch from NAME:` or `fastpath
/// function call:`.
fn statement_text(text: &[u8]) -> Option<&[u8]> {
    if let Some(statement) = text.strip_prefix(b"statement: ") {
        return Some(statement);
    }
    let is_execution =
        text.starts_with(b"execute ") || text.starts_with(b"fastpath function call: ");
    let end = find(text, b": ").filter(|_| is_execution)?;
    Some(&text[end + 2..])
}

/// Parses `duration: 12.345 ms`, alone or before a second part: `statement: …`, `parse NAME: …`,
/// `bind NAME: …` or `execute NAME: …`.
fn duration(text: &[u8]) -> Option<Duration<'_>> {
    let (ns, rest) = milliseconds(text)?;
    if rest.trim_ascii().is_empty() {
        return Some(Duration {
            ns,
            phase: "",
            is_extended: false,
            is_fetch: false,
            statement: None,
        });
    }
    let rest = rest.strip_prefix(b" ")?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    if let Some(statement) = statement_text(rest) {
        return Some(Duration {
            ns,
            phase: "",
            is_extended: rest.starts_with(b"execute "),
            is_fetch: rest.starts_with(FETCH),
            statement: Some(statement),
        });
    }
    let phases = [(&b"parse "[..], "parse: "), (b"bind ", "bind: ")];
    let (_, phase) = phases.iter().find(|(begin, _)| rest.starts_with(begin))?;
    let end = find(rest, b": ")?;
    Some(Duration {
        ns,
        phase,
        is_extended: false,
        is_fetch: false,
        statement: Some(&rest[end + 2..]),
    })
}

/// Returns true if a message is a duration without a statement.
pub fn is_bare_duration(text: &[u8]) -> bool {
    milliseconds(text).is_some_and(|(_, rest)| rest.trim_ascii().is_empty())
}

/// Detects durations in other languages, such as `Dauer: 12.345 ms`, `durée : 12,345 ms`. Some
/// languages translate the unit, too.
fn is_translated_duration(text: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', &text[..text.len().min(40)]) else {
        return false;
    };
    let digits = text[colon + 1..].trim_ascii_start();
    let number = digits
        .iter()
        .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
        .count();
    let is_word = !text[..colon].iter().any(u8::is_ascii_digit);
    let unit = digits[number..].trim_ascii_start();
    let is_unit = MS_WORDS
        .iter()
        .any(|word| unit.starts_with(word.as_bytes()));
    is_word && number > 0 && is_unit
}

/// Parses the duration at the beginning of a message.
///
/// Returns the duration in ns, and the text after `ms`.
fn milliseconds(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.strip_prefix(b"duration: ")?;
    let end = find(&digits[..digits.len().min(40)], b" ms")?;
    Some((scaled(&digits[..end], 1_000_000)?, &digits[end + 3..]))
}

/// Parses the duration and the statement of an auto_explain message, in any of its formats.
fn plan(text: &[u8]) -> Option<(u64, Cow<'_, [u8]>)> {
    let (ns, rest) = milliseconds(text)?;
    let plan = rest.trim_ascii_start().strip_prefix(b"plan:")?;
    Some((ns, query_text(plan.trim_ascii_start())))
}

fn query_text(plan: &[u8]) -> Cow<'_, [u8]> {
    let text_of_xml = find(plan, b"<Query-Text>").map(|at| &plan[at + b"<Query-Text>".len()..]);
    if let Some(text) = text_of_xml.filter(|_| plan.starts_with(b"<")) {
        return unescaped(&text[..find(text, b"</Query-Text>").unwrap_or(text.len())]).into();
    }
    let json = |text| {
        serde_json::Deserializer::from_slice(text)
            .into_iter::<String>()
            .next()?
            .ok()
    };
    if matches!(plan.first(), Some(b'{' | b'[')) {
        let text = find(plan, b"\"Query Text\":")
            .and_then(|at| json(&plan[at + b"\"Query Text\":".len()..]));
        return text.map_or(UNKNOWN.as_bytes().into(), |text| text.into_bytes().into());
    }
    let Some(text) = plan.strip_prefix(b"Query Text: ") else {
        return UNKNOWN.as_bytes().into();
    };
    // YAML writes a string like JSON.
    let is_yaml = find(text, b"\nPlan:").is_some_and(|end| {
        text.starts_with(b"\"") && text[..end].trim_ascii_end().ends_with(b"\"")
    });
    if let Some(text) = is_yaml.then(|| json(text)).flatten() {
        return text.into_bytes().into();
    }
    let mut end = 0;
    for line in text.split_inclusive(|b| *b == b'\n') {
        let is_plan = end > 0
            && (find(line, b"  (cost=").is_some() || line.starts_with(b"Query Parameters: "));
        if is_plan {
            break;
        }
        end += line.len();
    }
    text[..end].into()
}

/// Replaces the character references in XML text.
fn unescaped(text: &[u8]) -> Vec<u8> {
    const REFERENCES: [(&[u8], u8); 6] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
        (b"&#x0d;", b'\r'),
        (b"&amp;", b'&'),
    ];
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let reference = REFERENCES
            .iter()
            .find(|(name, _)| text[at..].starts_with(name));
        plain.push(reference.map_or(text[at], |(_, byte)| *byte));
        at += reference.map_or(1, |(name, _)| name.len());
    }
    plain
}

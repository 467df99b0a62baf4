// SPDX-License-Identifier: Apache-2.0
//! Pages and the queries that their requests ran, joined by an id that both logs have: a trace, or a request's id.
//!
//! Source: W3C *Trace Context*, `traceparent`; sqlcommenter, *specification*; Rails, `ActiveRecord::QueryLogs`.

use crate::entry::Entry;
use foldhash::fast::RandomState;
use memchr::memmem::find;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Ids of requests that are joined: the first so many, which take at most some 50 MB.
const MAX_IDS: usize = 200_000;
/// Different queries of one id.
const MAX_QUERIES: usize = 200;

/// What a request's page is.
#[derive(Clone, Copy, Debug)]
struct JoinedRequest {
    /// The page's index.
    page: u32,
    duration_ns: Option<u64>,
    /// Another request has the same id, so that nobody knows whose the queries are.
    is_ambiguous: bool,
}

/// A query within the requests of an id.
#[derive(Clone, Copy, Debug)]
struct JoinedQuery {
    query: u32,
    executions: u64,
    total_ns: u64,
}

/// Requests and queries by their ids.
#[derive(Debug, Default)]
pub struct Join {
    random: RandomState,
    requests: HashMap<u64, JoinedRequest, RandomState>,
    queries: HashMap<u64, Vec<JoinedQuery>, RandomState>,
}

/// A query within a page, over all requests that were joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedPair {
    pub page: u32,
    pub query: u32,
    pub executions: u64,
    pub total_ns: u64,
}

impl Join {
    /// Adds a request or a statement, whose page has this index, by its id.
    pub fn add(&mut self, entry: &Entry, page: usize) {
        let id = match entry.id {
            [] if entry.is_query => id_in_comment(entry.target).unwrap_or_default(),
            id => id,
        };
        if id.is_empty() {
            return;
        }
        let key = self.random.hash_one(trace_of(id).to_ascii_lowercase());
        if entry.is_query {
            self.add_query(key, page as u32, entry.duration_ns.unwrap_or(0));
        } else {
            self.add_request(key, page as u32, entry.duration_ns);
        }
    }

    fn add_request(&mut self, key: u64, page: u32, duration_ns: Option<u64>) {
        if let Some(request) = self.requests.get_mut(&key) {
            request.is_ambiguous = true;
        } else if self.requests.len() < MAX_IDS {
            let request = JoinedRequest {
                page,
                duration_ns,
                is_ambiguous: false,
            };
            self.requests.insert(key, request);
        }
    }

    fn add_query(&mut self, key: u64, query: u32, ns: u64) {
        if self.queries.len() >= MAX_IDS && !self.queries.contains_key(&key) {
            return;
        }
        let queries = self.queries.entry(key).or_default();
        let known = queries.iter().position(|joined| joined.query == query);
        let index = known.unwrap_or(queries.len());
        if index == queries.len() {
            if index >= MAX_QUERIES {
                return;
            }
            queries.push(JoinedQuery {
                query,
                executions: 0,
                total_ns: 0,
            });
        }
        let joined = &mut queries[index];
        joined.executions += 1;
        joined.total_ns = joined.total_ns.saturating_add(ns);
    }

    /// Whether any request has an id that a query has, too.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() || self.queries.is_empty()
    }

    /// Forgets all: pages have other indexes now.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.queries.clear();
    }

    /// Requests of each page that have an id of their own, and the sum of their durations, ns.
    pub fn requests(&self) -> impl Iterator<Item = (u32, u64)> {
        let requests = self
            .requests
            .values()
            .filter(|request| !request.is_ambiguous);
        requests.map(|request| (request.page, request.duration_ns.unwrap_or(0)))
    }

    /// The queries of each of these requests.
    pub fn pairs(&self) -> impl Iterator<Item = JoinedPair> {
        let requests = self
            .requests
            .iter()
            .filter(|(_, request)| !request.is_ambiguous);
        requests.flat_map(|(key, request)| {
            let queries = self.queries.get(key).into_iter().flatten();
            queries.map(|joined| JoinedPair {
                page: request.page,
                query: joined.query,
                executions: joined.executions,
                total_ns: joined.total_ns,
            })
        })
    }
}

/// The trace of a `traceparent`, such as `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`; of another id all.
fn trace_of(id: &[u8]) -> &[u8] {
    match id {
        [_, _, b'-', rest @ ..] if rest.len() >= 52 && rest[32] == b'-' && rest[49] == b'-' => {
            &rest[..32]
        }
        id => id,
    }
}

/// The id in a comment of a statement: `/*traceparent='00-…'*/`, `/*request_id:5a…,controller:orders*/`.
fn id_in_comment(statement: &[u8]) -> Option<&[u8]> {
    const KEYS: [&[u8]; 5] = [
        b"traceparent",
        b"request_id",
        b"requestid",
        b"trace_id",
        b"request-id",
    ];
    let mut rest = statement;
    while let Some(begin) = find(rest, b"/*") {
        let comment = &rest[begin + 2..];
        let end = find(comment, b"*/").unwrap_or(comment.len());
        let value = KEYS.iter().find_map(|key| value_of(&comment[..end], key));
        if value.is_some() {
            return value;
        }
        rest = &comment[end..];
    }
    None
}

/// The value of a key in a comment.
fn value_of<'c>(comment: &'c [u8], key: &[u8]) -> Option<&'c [u8]> {
    let begin = find(comment, key)?;
    let rest = comment[begin + key.len()..].trim_ascii_start();
    let [b'=' | b':', rest @ ..] = rest else {
        return None;
    };
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"'").unwrap_or(rest);
    let end = rest
        .iter()
        .position(|b| matches!(b, b'\'' | b',' | b' ' | b'*'));
    let value = &rest[..end.unwrap_or(rest.len())];
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(id: &'a str, target: &'a str, is_query: bool) -> Entry<'a> {
        Entry {
            id: id.as_bytes(),
            target: target.as_bytes(),
            is_query,
            duration_ns: Some(5),
            ..Entry::default()
        }
    }

    #[test]
    fn queries_are_joined_to_the_request_of_their_id() {
        const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let mut join = Join::default();
        // The database's log can come first, and its span is another one.
        let commented = format!(
            "SELECT 1 /*route='x',traceparent='{}'*/",
            TRACE.replace("b7ad", "ffff")
        );
        (0..3).for_each(|_| join.add(&entry("", &commented, true), 7));
        join.add(&entry(TRACE, "/orders", false), 1);
        join.add(&entry("5a", "/cart", false), 2);
        join.add(
            &entry("", "/* a */ SELECT 2 /*request_id:5A,x:y*/", true),
            8,
        );
        // Two requests of one id.
        join.add(&entry("6b", "/a", false), 3);
        join.add(&entry("6b", "/b", false), 4);
        join.add(&entry("6b", "SELECT 3", true), 9);
        join.add(&entry("", "SELECT 4", true), 10);
        let mut pairs: Vec<_> = join
            .pairs()
            .map(|p| (p.page, p.query, p.executions, p.total_ns))
            .collect();
        pairs.sort_unstable();
        assert_eq!(pairs, [(1, 7, 3, 15), (2, 8, 1, 5)]);
        let mut requests: Vec<_> = join.requests().collect();
        requests.sort_unstable();
        assert_eq!(requests, [(1, 5), (2, 5)]);
    }

    #[test]
    fn ids_of_comments_are_those_of_known_keys() {
        let id = |text: &'static str| id_in_comment(text.as_bytes()).map(String::from_utf8_lossy);
        assert_eq!(
            id("SELECT 1 /* request_id = 'a-1' */").as_deref(),
            Some("a-1")
        );
        for none in [
            "SELECT 1",
            "SELECT 1 /* request_id",
            "/*request_id:*/",
            "SELECT '/*' /*x='request_id'*/",
        ] {
            assert_eq!(id(none), None, "{none}");
        }
    }
}

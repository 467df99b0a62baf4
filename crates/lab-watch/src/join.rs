// SPDX-License-Identifier: Apache-2.0
//! Pages and the queries that their requests ran, joined by an id that both logs have: a trace, or a request's id.
//!
//! Ids are kept as hashes, whose seed the logs of several machines share: an id that a log has leaves no machine.
//!
//! Source: W3C *Trace Context*, `traceparent`; sqlcommenter, *specification*; Rails, `ActiveRecord::QueryLogs`;
//! PostgreSQL 17, 19.13 `application_name`.

use crate::entry::Entry;
use foldhash::fast::{FixedState, RandomState};
use memchr::memmem::find;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// Ids of requests that are joined: the first so many, which take at most some 50 MB.
const MAX_IDS: usize = 200_000;
/// Different queries of one id.
const MAX_QUERIES: usize = 200;
/// Keys of ids in comments.
const KEYS: [&[u8]; 5] = [
    b"traceparent",
    b"request_id",
    b"requestid",
    b"trace_id",
    b"request-id",
];

/// What a request's page is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct JoinedRequest {
    /// The page's index.
    page: u32,
    duration_ns: Option<u64>,
    /// Another request has the same id, so that nobody knows whose the queries are.
    is_ambiguous: bool,
}

/// A query within the requests of an id.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct JoinedQuery {
    query: u32,
    executions: u64,
    total_ns: u64,
}

/// Requests and queries by their ids.
#[derive(Debug, Serialize, Deserialize)]
pub struct Join {
    seed: u64,
    requests: HashMap<u64, JoinedRequest, RandomState>,
    queries: HashMap<u64, Vec<JoinedQuery>, RandomState>,
}

impl Default for Join {
    fn default() -> Join {
        Join::new(random_seed())
    }
}

/// A seed that nobody can guess.
pub fn random_seed() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
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
    /// Nothing yet. Those of several machines have the same seed.
    pub fn new(seed: u64) -> Join {
        Join {
            seed,
            requests: HashMap::default(),
            queries: HashMap::default(),
        }
    }

    /// Adds what was found on another machine. `indexes`: the index of each of its pages here.
    pub fn merge(&mut self, other: Join, indexes: &[u32]) {
        // Without the same seed ids have nothing in common.
        if other.seed != self.seed {
            return;
        }
        let index = |page: u32| indexes.get(page as usize).copied();
        for (key, request) in other.requests {
            if let Some(page) = index(request.page) {
                self.add_request(key, JoinedRequest { page, ..request });
            }
        }
        for (key, queries) in other.queries {
            for joined in queries {
                if let Some(query) = index(joined.query) {
                    self.add_query(key, JoinedQuery { query, ..joined });
                }
            }
        }
    }

    /// Adds a request or a statement, whose page has this index, by its id.
    pub fn add(&mut self, entry: &Entry, page: usize) {
        let id = match entry.id {
            [] if entry.is_query => id_in_comment(entry.target).unwrap_or_default(),
            id => id,
        };
        if id.is_empty() {
            return;
        }
        let mut hasher = FixedState::with_seed(self.seed).build_hasher();
        hasher.write(&trace_of(id).to_ascii_lowercase());
        let (key, page) = (hasher.finish(), page as u32);
        let duration_ns = entry.duration_ns;
        if entry.is_query {
            let joined = JoinedQuery {
                query: page,
                executions: 1,
                total_ns: duration_ns.unwrap_or(0),
            };
            self.add_query(key, joined);
        } else {
            let request = JoinedRequest {
                page,
                duration_ns,
                is_ambiguous: false,
            };
            self.add_request(key, request);
        }
    }

    fn add_request(&mut self, key: u64, request: JoinedRequest) {
        if let Some(known) = self.requests.get_mut(&key) {
            known.is_ambiguous = true;
        } else if self.requests.len() < MAX_IDS {
            self.requests.insert(key, request);
        }
    }

    fn add_query(&mut self, key: u64, joined: JoinedQuery) {
        if self.queries.len() >= MAX_IDS && !self.queries.contains_key(&key) {
            return;
        }
        let queries = self.queries.entry(key).or_default();
        let known = queries.iter().position(|known| known.query == joined.query);
        match known {
            Some(index) => {
                let known = &mut queries[index];
                known.executions = known.executions.saturating_add(joined.executions);
                known.total_ns = known.total_ns.saturating_add(joined.total_ns);
            }
            None if queries.len() < MAX_QUERIES => queries.push(joined),
            None => {}
        }
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
pub fn id_in_comment(statement: &[u8]) -> Option<&[u8]> {
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

/// The id in an `application_name`: a trace or an id of a known form anywhere in it, one behind a key, or all of it. Names
/// of programs, which have no digits, are none.
pub fn id_in_application(name: &[u8]) -> Option<&[u8]> {
    let keyed = || KEYS.iter().find_map(|key| value_of(name, key));
    let name = name.trim_ascii();
    let id = certain_id(name).or_else(keyed).unwrap_or(name);
    id.iter().any(u8::is_ascii_digit).then_some(id)
}

/// A word that nothing but the id of a request looks like: a `traceparent`, a UUID, or 32 hexadecimal digits.
pub fn certain_id(text: &[u8]) -> Option<&[u8]> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    let words = text.split(|b| !is_word(b));
    words.filter(|word| word.len() >= 32).find_map(|word| {
        // `shop-00-4bf9…`
        (0..=word.len() - 32).find_map(|begin| {
            let is_begin = begin == 0 || word[begin - 1] == b'-';
            let length = id_length(&word[begin..]).filter(|_| is_begin)?;
            let rest = &word[begin + length..];
            (rest.is_empty() || rest[0] == b'-').then(|| &word[begin..begin + length])
        })
    })
}

/// The length of such an id at the beginning of a text.
fn id_length(text: &[u8]) -> Option<usize> {
    const FORMS: [&[usize]; 3] = [&[2, 32, 16, 2], &[8, 4, 4, 4, 12], &[32]];
    FORMS.iter().find_map(|groups| {
        let length = groups.iter().sum::<usize>() + groups.len() - 1;
        let mut parts = text.get(..length)?.split(|b| *b == b'-');
        let fits = |n: &usize| {
            let part = parts.next().unwrap_or_default();
            part.len() == *n && part.iter().all(u8::is_ascii_hexdigit)
        };
        groups.iter().all(fits).then_some(length)
    })
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
    fn ids_of_application_names_are_those_of_requests() {
        const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        const UUID: &str = "5a1b2c3d-0af7-6519-16cd-43dd8448eb21";
        let id = |name: &str| {
            id_in_application(name.as_bytes()).map(|id| String::from_utf8_lossy(id).into_owned())
        };
        for (name, found) in [
            (TRACE.to_string(), TRACE),
            (format!("shop {TRACE}"), TRACE),
            (format!("shop-{UUID}"), UUID),
            (format!("puma: shop [{UUID}] web"), UUID),
            (UUID.replace('-', ""), &UUID.replace('-', "")),
            ("shop request_id=a-17".into(), "a-17"),
            (" web-1a2b ".into(), "web-1a2b"),
        ] {
            assert_eq!(id(&name).as_deref(), Some(found), "{name}");
        }
        for none in ["", "psql", "[unknown]", "PostgreSQL JDBC Driver", "-"] {
            assert_eq!(id(none), None, "{none}");
        }
        let certain = |text: &str| certain_id(text.as_bytes()).is_some();
        assert!(certain(&format!("u@d,{UUID},[7]")));
        for other in [
            "65a1b2c3.4d2",
            "2026-05-01 10:00:00.000 UTC",
            &format!("{UUID}0"),
            &format!("0{UUID}"),
        ] {
            assert!(!certain(other), "{other}");
        }
    }

    #[test]
    fn joins_of_several_machines_are_those_of_one() {
        let entries = [
            (entry("a-1", "/orders", false), 0),
            (entry("a-1", "SELECT 1", true), 1),
            (entry("a-1", "SELECT 1", true), 1),
            (entry("a-2", "/orders", false), 0),
        ];
        let mut one = Join::new(7);
        let mut parts = [Join::new(7), Join::new(7), Join::new(8)];
        for (i, (entry, page)) in entries.iter().enumerate() {
            one.add(entry, *page);
            // Elsewhere pages have other indexes.
            parts[i % 2].add(entry, 5 - *page);
            parts[2].add(entry, 5 - *page);
        }
        let mut merged = Join::new(7);
        let sent = serde_json::to_vec(&parts).expect("JSON");
        assert!(!String::from_utf8_lossy(&sent).contains("a-1"));
        let parts: Vec<Join> = serde_json::from_slice(&sent).expect("a join");
        let indexes = [9, 9, 9, 9, 1, 0];
        for part in parts {
            merged.merge(part, &indexes);
        }
        let pairs = |join: &Join| join.pairs().collect::<Vec<_>>();
        assert_eq!(pairs(&merged), pairs(&one));
        assert_eq!(pairs(&one).len(), 1);
        let sums = |join: &Join| join.requests().collect::<Vec<_>>();
        assert_eq!(sums(&merged), sums(&one));
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

// SPDX-License-Identifier: Apache-2.0
//! Joins pages with the queries that their requests ran, by a trace ID or request ID in both logs.
//!
//! Memory is bounded. If the IDs do not fit, only the half with the smaller hashes is stored, then
//! a quarter, and so on. The hash depends only on the ID. A request and its statements are
//! therefore kept or dropped together, in all logs and on all machines.
//!
//! Source: W3C *Trace Context*, `traceparent`; sqlcommenter, *specification*; Rails,
//! `ActiveRecord::QueryLogs`; PostgreSQL 17, 19.13 `application_name`.

use crate::entry::Entry;
use crate::sql::{Dialect, block_comments};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

/// The maximum number of stored records (32 MiB).
const MAX_RECORDS: usize = 1 << 20;
/// The number of new records that are merged into the stored records in one step (2 MiB).
const MAX_FRESH: usize = 1 << 16;
/// The maximum number of statement records per ID. An ID with more records is omitted.
const MAX_STATEMENTS: usize = 10_000;
/// The maximum time by which a statement may be outside its request, in seconds: 1 s for
/// whole-second timestamps, and 1 s for differences between clocks.
const TOLERANCE_S: i64 = 2;
/// The time of a record if the time is unknown.
const NO_TIME: i64 = i64::MIN;
/// The duration of a record if the duration is unknown.
const NO_DURATION: u64 = u64::MAX;
/// The page of a record that marks an omitted ID.
const NO_PAGE: u32 = u32::MAX;
/// The keys in front of IDs in statements' comments.
const KEYS: [&[u8]; 12] = [
    b"traceparent",
    b"request_id",
    b"requestid",
    b"request-id",
    b"req_id",
    b"x_request_id",
    b"x-request-id",
    b"trace_id",
    b"traceid",
    b"trace-id",
    b"correlation_id",
    b"correlation-id",
];
/// The maximum number of IDs that are read from a statement.
const MAX_IDS: usize = 4;

/// A request, the executions of a statement in one second, or a marker for an omitted ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, i64, u64, u32, u32)", into = "(u64, i64, u64, u32, u32)")]
struct JoinRecord {
    /// The hash of the ID that a request and its statements share.
    id: u64,
    /// The time in seconds since 1970.
    time_s: i64,
    /// The duration of the request, or the total duration of the statements, in ns.
    ///
    /// For an ID that is omitted, the field stores the bits of [`Omitted`].
    ns: u64,
    /// The index of the page or the query, or `NO_PAGE` for an omitted ID.
    page: u32,
    /// The number of executions of a statement, or 0 for a request.
    executions: u32,
}

/// The requests and statements with an ID that is omitted.
#[derive(Clone, Copy, Debug, Default)]
struct Omitted {
    /// The number of requests with the ID.
    requests: u64,
    has_statements: bool,
    /// True if the ID has too many statements.
    is_crowded: bool,
}

/// A joiner of requests and statements, by their IDs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Join {
    /// The minimum number of leading zero bits in the hash of a stored ID.
    ///
    /// Each additional bit halves the number of stored IDs.
    halvings: u32,
    /// The records in sort order, merged where possible.
    sorted: Vec<JoinRecord>,
    /// Records added since the last sort.
    #[serde(skip)]
    fresh: Vec<JoinRecord>,
    /// The number of requests that have an ID.
    #[serde(default)]
    named_requests: u64,
    /// The number of statements that have an ID.
    #[serde(default)]
    named_statements: u64,
}

/// The requests of a page, or the executions of a query within these requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JoinedPair {
    pub page: u32,
    /// The index of the query, or `None` for the requests themselves.
    pub query: Option<u32>,
    pub count: u64,
    pub total_ns: u64,
}

/// The result of a join.
#[derive(Debug, Default)]
pub struct Joined {
    /// The distinct pairs, in order.
    pub pairs: Vec<JoinedPair>,
    /// The sampling rate `N`, if one in `N` IDs was used.
    pub one_in: u64,
    /// The number of statements that have a request's ID but ran outside the request's time span.
    pub outside: u64,
    /// The number of requests that share an ID. For these requests, it is unknown which of them ran
    /// the statements.
    pub shared: u64,
    /// The number of IDs that belong to a single request and have more statements than can be
    /// stored.
    pub crowded: u64,
    /// The number of statements with an ID, if requests also have IDs but no ID belongs to both a
    /// request and a statement.
    pub unmatched: u64,
}

impl From<(u64, i64, u64, u32, u32)> for JoinRecord {
    fn from((id, time_s, ns, page, executions): (u64, i64, u64, u32, u32)) -> JoinRecord {
        JoinRecord {
            id,
            time_s,
            ns,
            page,
            executions,
        }
    }
}

impl From<JoinRecord> for (u64, i64, u64, u32, u32) {
    fn from(r: JoinRecord) -> Self {
        (r.id, r.time_s, r.ns, r.page, r.executions)
    }
}

impl Omitted {
    /// Decodes the bits in the field `ns` of a record.
    fn new(bits: u64) -> Omitted {
        Omitted {
            requests: bits >> 2,
            has_statements: bits & 2 != 0,
            is_crowded: bits & 1 != 0,
        }
    }

    fn bits(self) -> u64 {
        let requests = self.requests.min(u64::MAX >> 2);
        requests << 2 | u64::from(self.has_statements) << 1 | u64::from(self.is_crowded)
    }
}

impl JoinRecord {
    /// Creates the record that marks an ID as omitted.
    fn omitted(id: u64, omitted: Omitted) -> JoinRecord {
        JoinRecord {
            id,
            time_s: NO_TIME,
            ns: omitted.bits(),
            page: NO_PAGE,
            executions: 0,
        }
    }

    fn is_omitted(&self) -> bool {
        self.page == NO_PAGE
    }

    /// Converts the record to the state that its ID has once the ID is omitted.
    fn to_omitted(self) -> Omitted {
        if self.is_omitted() {
            return Omitted::new(self.ns);
        }
        Omitted {
            requests: u64::from(self.executions == 0),
            has_statements: self.executions > 0,
            is_crowded: false,
        }
    }

    /// Returns a sort key that sorts an ID's request before the ID's statements.
    fn order(&self) -> (u64, bool, u32, i64) {
        (self.id, self.executions > 0, self.page, self.time_s)
    }

    /// Merges the next record of the same ID into this record. Returns false if the two records
    /// must stay separate.
    fn absorb(&mut self, next: &JoinRecord) -> bool {
        if self.executions == 0 && next.executions == 0 {
            // It is unknown which of the two requests ran the statements.
            let [one, other] = [self.to_omitted(), next.to_omitted()];
            let both = Omitted {
                requests: one.requests.saturating_add(other.requests),
                has_statements: one.has_statements || other.has_statements,
                is_crowded: one.is_crowded || other.is_crowded,
            };
            *self = JoinRecord::omitted(self.id, both);
            return true;
        }
        let sums = self
            .executions
            .checked_add(next.executions)
            .zip(self.ns.checked_add(next.ns));
        match sums {
            Some(sums) if self.order() == next.order() => {
                (self.executions, self.ns) = sums;
                true
            }
            _ => false,
        }
    }

    /// Returns true if the statement ran within the request, as far as both timestamps are known.
    ///
    /// Depending on the format, the request's time is its start or its end.
    fn is_within(&self, request: &JoinRecord) -> bool {
        if self.time_s == NO_TIME || request.time_s == NO_TIME {
            return true;
        }
        let took_s = match request.ns {
            NO_DURATION => 0,
            ns => ns / 1_000_000_000,
        };
        self.time_s.abs_diff(request.time_s) <= took_s.saturating_add(TOLERANCE_S as u64)
    }
}

/// Merges records of the same ID where possible, and replaces the records of each ID that must be
/// omitted.
///
/// `records` must be in the order of `JoinRecord::order`.
fn combine(records: &mut Vec<JoinRecord>) {
    let (mut kept, mut begin) = (0, 0);
    while begin < records.len() {
        let id = records[begin].id;
        let first = kept;
        while let Some(record) = records.get(begin).copied().filter(|r| r.id == id) {
            if kept == first || !records[kept - 1].absorb(&record) {
                records[kept] = record;
                kept += 1;
            }
            begin += 1;
        }
        let is_crowded = kept - first > MAX_STATEMENTS;
        if records[first].is_omitted() || is_crowded {
            let known = records[first].to_omitted();
            let omitted = Omitted {
                has_statements: known.has_statements || kept - first > 1,
                is_crowded: known.is_crowded || is_crowded,
                ..known
            };
            records[first] = JoinRecord::omitted(id, omitted);
            kept = first + 1;
        }
    }
    records.truncate(kept);
}

impl Join {
    /// Adds the result of another machine.
    ///
    /// `indexes` maps the page indexes of that machine to the page indexes of this join.
    pub fn merge(&mut self, other: Join, indexes: &[u32]) {
        self.halve_to(other.halvings);
        self.named_requests = self.named_requests.saturating_add(other.named_requests);
        self.named_statements = self.named_statements.saturating_add(other.named_statements);
        for record in other.sorted {
            if record.is_omitted() {
                let omitted = Omitted::new(record.ns);
                self.push(JoinRecord::omitted(record.id, omitted));
            } else if let Some(page) = indexes.get(record.page as usize) {
                self.push(JoinRecord {
                    page: *page,
                    ..record
                });
            }
        }
    }

    /// Changes the page indices. `indexes` contains the new index of each page.
    pub fn renumber(&mut self, indexes: &[u32]) {
        for record in self.sorted.iter_mut().chain(&mut self.fresh) {
            if !record.is_omitted() {
                record.page = indexes[record.page as usize];
            }
        }
        self.sorted.sort_unstable_by_key(JoinRecord::order);
        combine(&mut self.sorted);
    }

    /// Adds a request or a statement by its ID. `page` is the index of its page or query.
    pub fn add(&mut self, entry: &Entry, page: usize) {
        if entry.id.is_empty() && entry.is_query {
            // A request has at most one of these IDs.
            let ids = ids_in_comments(entry.target, entry.dialect);
            self.named_statements += u64::from(!ids.is_empty());
            ids.iter().for_each(|id| self.add_id(id, entry, page));
        } else if !entry.id.is_empty() {
            // An `application_name` may only look like an ID.
            let is_certain = certain_id(entry.id).is_some();
            self.named_statements += u64::from(entry.is_query && is_certain);
            self.named_requests += u64::from(!entry.is_query);
            self.add_id(entry.id, entry, page);
        }
    }

    fn add_id(&mut self, id: &[u8], entry: &Entry, page: usize) {
        let unknown_ns = if entry.is_query { 0 } else { NO_DURATION };
        self.push(JoinRecord {
            id: SipHasher13::new().hash(&trace_of(id).to_ascii_lowercase()),
            time_s: entry.time_s.unwrap_or(NO_TIME),
            ns: entry.duration_ns.unwrap_or(unknown_ns),
            page: page as u32,
            executions: u32::from(entry.is_query),
        });
    }

    fn push(&mut self, record: JoinRecord) {
        if self.fresh.len() == MAX_FRESH && self.has(&record) {
            self.sort();
        }
        // Sorting can have dropped the ID.
        if self.has(&record) {
            self.fresh.push(record);
        }
    }

    /// Returns true if the hash of the record's ID is small enough for the ID to be stored.
    fn has(&self, record: &JoinRecord) -> bool {
        record.id.leading_zeros() >= self.halvings
    }

    /// Drops the IDs whose hashes have fewer than `halvings` leading zero bits.
    fn halve_to(&mut self, halvings: u32) {
        self.halvings = self.halvings.max(halvings.min(u64::BITS));
        let halvings = self.halvings;
        let is_kept = |record: &JoinRecord| record.id.leading_zeros() >= halvings;
        self.sorted.retain(is_kept);
        self.fresh.retain(is_kept);
    }

    /// Sorts and merges all records.
    ///
    /// If there are more than `MAX_RECORDS`, keeps only a sample of the IDs.
    pub fn sort(&mut self) {
        self.fresh.sort_unstable_by_key(JoinRecord::order);
        combine(&mut self.fresh);
        while self.sorted.len() + self.fresh.len() > MAX_RECORDS && self.halvings < u64::BITS {
            self.halve_to(self.halvings + 1);
        }
        let (mut sorted, mut fresh) = (self.sorted.len(), self.fresh.len());
        let length = sorted + fresh;
        if length > self.sorted.capacity() {
            let capacity = (2 * sorted).min(MAX_RECORDS).max(length);
            self.sorted.reserve_exact(capacity - sorted);
        }
        self.sorted.extend_from_slice(&self.fresh);
        // Merge backward, so that no unread record is overwritten.
        while fresh > 0 {
            let is_next_sorted =
                sorted > 0 && self.sorted[sorted - 1].order() > self.fresh[fresh - 1].order();
            let record = if is_next_sorted {
                sorted -= 1;
                self.sorted[sorted]
            } else {
                fresh -= 1;
                self.fresh[fresh]
            };
            self.sorted[sorted + fresh] = record;
        }
        self.fresh.clear();
        combine(&mut self.sorted);
    }

    /// Joins each request with its statements, if no other request has the same ID.
    pub fn joined(&mut self) -> Joined {
        self.sort();
        let mut joined = Joined {
            one_in: 1_u64.checked_shl(self.halvings).unwrap_or(u64::MAX),
            ..Joined::default()
        };
        for records in self.sorted.chunk_by(|a, b| a.id == b.id) {
            let [request, statements @ ..] = records else {
                continue;
            };
            if request.is_omitted() {
                let omitted = Omitted::new(request.ns);
                match omitted.requests {
                    0 => {}
                    1 => joined.crowded += u64::from(omitted.is_crowded),
                    n if omitted.has_statements => {
                        joined.shared = joined.shared.saturating_add(n);
                    }
                    _ => {}
                }
            } else if request.executions == 0 {
                joined.add(request, statements);
            }
        }
        joined.combine();
        let is_any = joined.outside + joined.shared + joined.crowded > 0
            || joined.pairs.iter().any(|pair| pair.query.is_some());
        if self.named_requests > 0 && !is_any {
            joined.unmatched = self.named_statements;
        }
        joined
    }
}

impl Joined {
    fn add(&mut self, request: &JoinRecord, statements: &[JoinRecord]) {
        let page = request.page;
        self.pairs.push(JoinedPair {
            page,
            query: None,
            count: 1,
            total_ns: Some(request.ns)
                .filter(|ns| *ns != NO_DURATION)
                .unwrap_or(0),
        });
        for statement in statements {
            let executions = u64::from(statement.executions);
            if !statement.is_within(request) {
                self.outside += executions;
                continue;
            }
            self.pairs.push(JoinedPair {
                page,
                query: Some(statement.page),
                count: executions,
                total_ns: statement.ns,
            });
        }
    }

    /// Sorts the pairs and merges equal pairs.
    fn combine(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.dedup_by(|next, pair| {
            let is_equal = (next.page, next.query) == (pair.page, pair.query);
            if is_equal {
                pair.count = pair.count.saturating_add(next.count);
                pair.total_ns = pair.total_ns.saturating_add(next.total_ns);
            }
            is_equal
        });
    }
}

/// Returns the trace ID in a `traceparent` such as
/// `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
///
/// Returns any other ID unchanged.
fn trace_of(id: &[u8]) -> &[u8] {
    match id {
        [_, _, b'-', rest @ ..] if rest.len() >= 52 && rest[32] == b'-' && rest[49] == b'-' => {
            &rest[..32]
        }
        id => id,
    }
}

/// Finds the IDs in a statement's comments: `/*traceparent='00-…'*/`,
/// `/*request_id:5a…,controller:orders*/`.
pub fn ids_in_comments(statement: &[u8], dialect: Dialect) -> Vec<Vec<u8>> {
    let mut ids = Vec::new();
    for comment in block_comments(statement, dialect) {
        let comment = comment.strip_prefix(b"/*").unwrap_or(comment);
        let comment = comment.strip_suffix(b"*/").unwrap_or(comment);
        for id in values_of_keys(comment) {
            if !ids.contains(&id) && ids.len() < MAX_IDS {
                ids.push(id);
            }
        }
    }
    ids
}

/// Returns the values of the keys in `KEYS` from pairs such as `key='value',key:value`.
fn values_of_keys(text: &[u8]) -> Vec<Vec<u8>> {
    let mut values = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let key = key_length(&text[at..]);
        let (name, rest) = text[at..].split_at(key);
        let Some((value, length)) = value_at(rest).filter(|_| key > 0) else {
            at += key.max(1);
            continue;
        };
        at += key + length;
        if KEYS.iter().any(|known| known.eq_ignore_ascii_case(name)) && !value.is_empty() {
            values.push(decoded(value));
        }
    }
    values
}

fn key_length(text: &[u8]) -> usize {
    let is_key = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'%');
    text.iter().take_while(is_key).count()
}

/// Parses the value after a key.
///
/// Returns the value, and the length of `text` up to the end of the value.
fn value_at(text: &[u8]) -> Option<(&[u8], usize)> {
    let blanks = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mark = blanks(text);
    if !matches!(text.get(mark), Some(b'=' | b':')) {
        return None;
    }
    let begin = mark + 1 + blanks(&text[mark + 1..]);
    let rest = &text[begin..];
    if let Some(quote @ (b'\'' | b'"')) = rest.first() {
        let mut end = 1;
        while end < rest.len() && rest[end] != *quote {
            end += if rest[end] == b'\\' { 2 } else { 1 };
        }
        let end = end.min(rest.len());
        return Some((&rest[1..end], begin + (end + 1).min(rest.len())));
    }
    let is_end = |b: &u8| b.is_ascii_whitespace() || matches!(b, b',' | b';' | b'*');
    let length = rest.iter().position(is_end).unwrap_or(rest.len());
    Some((&rest[..length], begin + length))
}

/// Decodes percent escapes such as `%3D`, which sqlcommenter writes.
fn decoded(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(value.len());
    let mut at = 0;
    while at < value.len() {
        let digits = value.get(at + 1..at + 3).filter(|_| value[at] == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(value[at]);
                at += 1;
            }
        }
    }
    plain
}

/// Returns the first value of `key` in an `application_name`.
fn value_of<'n>(name: &'n [u8], key: &[u8]) -> Option<&'n [u8]> {
    let mut at = 0;
    while at < name.len() {
        let length = key_length(&name[at..]);
        let (found, rest) = name[at..].split_at(length);
        if found.eq_ignore_ascii_case(key)
            && let Some((value, _)) = value_at(rest).filter(|(value, _)| !value.is_empty())
        {
            return Some(value);
        }
        at += length.max(1);
    }
    None
}

/// Finds the ID in an `application_name`.
///
/// The ID is one of the following: a trace ID or an ID in a known form anywhere in the name, the
/// value of a key, or the whole name. Names without digits are the names of programs, not IDs.
pub fn id_in_application(name: &[u8]) -> Option<&[u8]> {
    let keyed = || KEYS.iter().find_map(|key| value_of(name, key));
    let name = name.trim_ascii();
    let id = certain_id(name).or_else(keyed).unwrap_or(name);
    id.iter().any(u8::is_ascii_digit).then_some(id)
}

/// Finds a word that can only be a request ID: a `traceparent`, a UUID, or 32 hexadecimal digits.
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

/// Returns the length of a request ID at the beginning of `text`.
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

    /// Returns the page, the query, the count and the total of each pair.
    fn pairs(join: &mut Join) -> Vec<(u32, Option<u32>, u64, u64)> {
        let pairs = join.joined().pairs.into_iter();
        pairs
            .map(|p| (p.page, p.query, p.count, p.total_ns))
            .collect()
    }

    #[test]
    fn queries_are_joined_to_the_request_of_their_id() {
        const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let mut join = Join::default();
        // The database's log can come first, and its span ID is different.
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
        // Adds two requests with the same ID.
        join.add(&entry("6b", "/a", false), 3);
        join.add(&entry("6b", "/b", false), 4);
        join.add(&entry("6b", "SELECT 3", true), 9);
        join.add(&entry("", "SELECT 4", true), 10);
        let expected = [
            (1, None, 1, 5),
            (1, Some(7), 3, 15),
            (2, None, 1, 5),
            (2, Some(8), 1, 5),
        ];
        assert_eq!(pairs(&mut join), expected);
        // Reading the pairs changes nothing, and more records can be added.
        assert_eq!(pairs(&mut join), expected);
        join.add(&entry("5a", "/b", false), 4);
        assert_eq!(pairs(&mut join), expected[..2]);
    }

    /// Adds a request with four statements for each of `ids` IDs.
    fn many(ids: u64, mut sink: impl FnMut(Entry, usize)) {
        for i in 0..ids {
            let id = format!("{i:032x}");
            let time_s = Some(i as i64);
            let request = |is_query| Entry {
                time_s,
                ..entry(&id, "/", is_query)
            };
            sink(request(true), 1);
            sink(request(false), 0);
            (0..3).for_each(|_| sink(request(true), 2));
        }
    }

    #[test]
    fn ids_that_do_not_fit_are_left_out_with_all_their_records() {
        const IDS: u64 = 400_000;
        let (mut one, mut parts) = (Join::default(), [Join::default(), Join::default()]);
        many(IDS, |entry, page| {
            one.add(&entry, page);
            // One machine has the requests, and the other machine has the statements.
            parts[usize::from(entry.is_query)].add(&entry, 2 - page);
        });
        assert!(one.sorted.iter().chain(&one.fresh).all(|r| one.has(r)));
        assert!(one.sorted.capacity() <= MAX_RECORDS && one.fresh.capacity() <= MAX_FRESH);
        let joined = one.joined();
        assert_eq!((joined.one_in, joined.outside, joined.crowded), (2, 0, 0));
        let requests = joined.pairs[0].count;
        let expected = [
            (0, None, requests, 5 * requests),
            (0, Some(1), requests, 5 * requests),
            (0, Some(2), 3 * requests, 15 * requests),
        ];
        assert_eq!(pairs(&mut one), expected);
        // Each ID is kept with probability 1/2. The bound is 9 standard deviations.
        assert!(requests.abs_diff(IDS / 2) < 3_000, "{requests}");
        let mut merged = Join::default();
        for part in parts {
            let mut part = part;
            part.sort();
            let sent = serde_json::to_vec(&part).expect("JSON");
            let part: Join = serde_json::from_slice(&sent).expect("a join");
            merged.merge(part, &[2, 1, 0]);
        }
        assert_eq!(pairs(&mut merged), expected);
        assert!(merged.sorted.capacity() <= MAX_RECORDS);
    }

    #[test]
    fn ids_with_too_many_statements_are_left_out() {
        let mut join = Join::default();
        let mut add = |id: &str, time_s: i64, is_query: bool| {
            let entry = Entry {
                time_s: Some(time_s),
                ..entry(id, "/", is_query)
            };
            join.add(&entry, usize::from(is_query));
        };
        for id in ["a1", "a2"] {
            add(id, 0, false);
            (0..100).for_each(|_| add(id, 0, true));
        }
        // A connection that uses the same ID for a day.
        (0..86_400).for_each(|time_s| add("a2", time_s, true));
        add("a2", 5, true);
        // An ID without a request.
        (0..=MAX_STATEMENTS as i64).for_each(|time_s| add("a3", time_s, true));
        let joined = join.joined();
        assert_eq!((joined.crowded, joined.outside), (1, 0));
        assert_eq!(pairs(&mut join), [(0, None, 1, 5), (0, Some(1), 100, 500)]);
        assert!(join.sorted.len() < 10, "{}", join.sorted.len());
    }

    #[test]
    fn an_id_has_the_same_hash_on_every_machine() {
        let mut join = Join::default();
        let id = "5A1B2C3D-0AF7-6519-16CD-43DD8448EB21";
        join.add(&entry(id, "/", false), 0);
        join.sort();
        // SipHash-1-3 with a key of zeros, as used by `PYTHONHASHSEED=0 python3`.
        assert_eq!(join.sorted[0].id, 13_998_481_189_461_338_769);
    }

    #[test]
    fn sums_that_overflow_stay_separate() {
        let mut join = Join::default();
        let long = Entry {
            duration_ns: Some(u64::MAX / 2 + 1),
            ..entry("a1", "SELECT 1", true)
        };
        join.add(&entry("a1", "/", false), 0);
        (0..3).for_each(|_| join.add(&long, 1));
        assert_eq!(pairs(&mut join)[1], (0, Some(1), 3, u64::MAX));
    }

    #[test]
    fn request_ids_are_found_in_application_names() {
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
    fn joins_of_multiple_machines_match_a_single_one() {
        let entries = [
            (entry("a-1", "/orders", false), 0),
            (entry("a-1", "SELECT 1", true), 1),
            (entry("a-1", "SELECT 1", true), 1),
            (entry("a-2", "/orders", false), 0),
            (entry("a-3", "/orders", false), 0),
            (entry("a-3", "/orders", false), 0),
        ];
        let mut one = Join::default();
        let mut parts = [Join::default(), Join::default()];
        for (i, (entry, page)) in entries.iter().enumerate() {
            one.add(entry, *page);
            // On the other machine, pages have different indices.
            parts[i % 2].add(entry, 5 - *page);
        }
        let mut merged = Join::default();
        parts.iter_mut().for_each(Join::sort);
        let sent = serde_json::to_vec(&parts).expect("JSON");
        assert!(!String::from_utf8_lossy(&sent).contains("a-1"));
        let parts: Vec<Join> = serde_json::from_slice(&sent).expect("a join");
        for part in parts {
            merged.merge(part, &[9, 9, 9, 9, 1, 0]);
        }
        let expected = [(0, None, 2, 10), (0, Some(1), 2, 10)];
        assert_eq!(pairs(&mut one), expected);
        assert_eq!(pairs(&mut merged), expected);
        // Merged pages have a common index.
        merged.renumber(&[4, 3]);
        assert_eq!(pairs(&mut merged), [(4, None, 2, 10), (4, Some(3), 2, 10)]);
    }

    #[test]
    fn ids_in_comments_need_known_keys() {
        let ids = |text: &str| -> Vec<String> {
            let ids = ids_in_comments(text.as_bytes(), Dialect::Postgresql);
            ids.iter()
                .map(|id| String::from_utf8_lossy(id).into_owned())
                .collect()
        };
        for (text, found) in [
            ("SELECT 1 /* request_id = 'a-1' */", vec!["a-1"]),
            (
                "/*action='request_ids',request_id='a-1'*/ SELECT 1",
                vec!["a-1"],
            ),
            (
                "SELECT 1 /*parent_request_id='p-1',request_id='a-1'*/",
                vec!["a-1"],
            ),
            (
                "SELECT 1 /*request_id:a-1,traceparent='t-1'*/",
                vec!["a-1", "t-1"],
            ),
            ("SELECT 1 /*a*/ /*x:y request_id:a-1*/", vec!["a-1"]),
            ("SELECT 1 /*trace_id='Root%3D1-5'*/", vec!["Root=1-5"]),
            (
                "SELECT '/*request_id:s-1*/' /*request_id:a-1*/",
                vec!["a-1"],
            ),
            (
                "SELECT 1 /*note='request_id=b-1',request_id='a-1'*/",
                vec!["a-1"],
            ),
            ("SELECT 1", vec![]),
            ("SELECT 1 /* request_id", vec![]),
            ("/*request_id:*/", vec![]),
            ("SELECT '/*' /*x='request_id'*/", vec![]),
            ("SELECT '/*request_id:s-1*/'", vec![]),
            ("SELECT 1 /*'", vec![]),
        ] {
            assert_eq!(ids(text), found, "{text}");
        }
    }

    #[test]
    fn a_statement_is_joined_by_any_of_its_ids() {
        let statement = "SELECT 1 /*request_id='a-1',traceparent='t-1'*/";
        for id in ["a-1", "t-1"] {
            let mut join = Join::default();
            join.add(&entry(id, "/orders", false), 0);
            join.add(&entry("", statement, true), 1);
            assert_eq!(pairs(&mut join), [(0, None, 1, 5), (0, Some(1), 1, 5)]);
            assert_eq!(join.joined().unmatched, 0);
        }
        let mut join = Join::default();
        join.add(&entry("b-1", "/orders", false), 0);
        join.add(&entry("", statement, true), 1);
        assert_eq!(join.joined().unmatched, 1);
    }
}

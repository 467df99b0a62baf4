// SPDX-License-Identifier: Apache-2.0
//! Joins the lines that describe one request, by the ID that they share.
//!
//! Fastify and structlog write a line when a request begins, and another line when the request
//! ends. Other programs repeat the request in each message.

use crate::entry::Entry;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

/// The maximum number of unfinished requests. The same maximum applies to the ended requests that
/// are remembered.
const MAX_REQUESTS: usize = 10_000;
/// The maximum number of lines without an end that are attributed to one request, if they have no
/// ID.
const MAX_LINES: u64 = 30;

/// A request whose end may be in a later line.
#[derive(Clone, Debug, Default)]
pub struct OpenRequest {
    /// The time of the request's last line so far, in seconds since 1970.
    pub time_s: Option<i64>,
    offset_s: i32,
    /// The method. Empty if unknown.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// The `User-Agent`.
    pub agent: String,
    id: String,
    /// The status, or 0 if no line contained it so far.
    pub status: u16,
    /// The number of bytes sent.
    pub bytes: u64,
    /// The number of lines that describe the beginning of the request.
    lines: u32,
    /// True if the line may repeat a request that has already ended. In that case, the request
    /// counts only if another line ends it.
    pub is_repeated: bool,
}

impl OpenRequest {
    fn new(entry: &Entry, is_repeated: bool) -> OpenRequest {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        OpenRequest {
            time_s: entry.time_s,
            offset_s: entry.offset_s,
            method: text(entry.method),
            target: text(entry.target),
            agent: text(entry.agent),
            id: text(entry.id),
            status: entry.status,
            bytes: entry.bytes,
            lines: 1,
            is_repeated,
        }
    }

    /// Returns the entry of a request whose end was not logged.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            time_s: self.time_s,
            offset_s: self.offset_s,
            method: self.method.as_bytes(),
            target: self.target.as_bytes(),
            agent: self.agent.as_bytes(),
            id: self.id.as_bytes(),
            status: self.status,
            bytes: self.bytes,
            is_late: true,
            ..Entry::default()
        }
    }
}

/// The requests whose end may be in a later line, and the requests that have just ended.
#[derive(Clone, Debug, Default)]
pub struct OpenRequests {
    /// The sequence numbers of the requests with each ID, in the order in which the requests began.
    numbers: HashMap<String, Vec<u64>, RandomState>,
    requests: BTreeMap<u64, OpenRequest>,
    next: u64,
    ended: RecentKeys,
    /// The number of lines that end a request and fit multiple unfinished requests.
    pub ambiguous: u64,
}

impl OpenRequests {
    /// Adds a request, or another line of a request that is already known.
    pub fn add(&mut self, entry: &Entry) {
        let id = String::from_utf8_lossy(entry.id);
        for number in self.numbers.get(id.as_ref()).into_iter().flatten() {
            if let Some(request) = self.requests.get_mut(number)
                && request.target.as_bytes() == entry.target
                && request.method.as_bytes() == entry.method
            {
                request.lines += 1;
                return;
            }
        }
        let is_repeated = entry.status == 0 && self.has_ended(&id, entry.target);
        let request = OpenRequest::new(entry, is_repeated);
        self.insert(request);
    }

    fn insert(&mut self, request: OpenRequest) {
        let numbers = self.numbers.entry(request.id.clone()).or_default();
        numbers.push(self.next);
        self.requests.insert(self.next, request);
        self.next += 1;
    }

    /// Removes and returns the unfinished request that a line with the given ID and target ends.
    ///
    /// `target` is empty if the line contains none. If `is_shared` is true, a different target
    /// means a different request.
    pub fn take(&mut self, id: &str, target: &[u8], is_shared: bool) -> Option<OpenRequest> {
        let numbers = self.numbers.get_mut(id)?;
        let has_path = |number: &u64| {
            let request = self.requests.get(number);
            request.is_some_and(|r| path(r.target.as_bytes()) == path(target))
        };
        let at = match numbers.iter().rposition(has_path) {
            Some(at) => at,
            None if target.is_empty() || !is_shared => numbers.len().checked_sub(1)?,
            None => return None,
        };
        self.ambiguous += u64::from(target.is_empty() && numbers.len() > 1);
        let number = numbers.remove(at);
        if numbers.is_empty() {
            self.numbers.remove(id);
        }
        let request = self.requests.remove(&number)?;
        // The lines may have come from multiple requests with the same path.
        if is_shared && target.is_empty() && request.lines > 1 {
            self.insert(OpenRequest {
                lines: request.lines - 1,
                is_repeated: true,
                ..request.clone()
            });
        }
        Some(request)
    }

    /// Removes and returns the oldest request if there are more than `MAX_REQUESTS`.
    pub fn excess(&mut self) -> Option<OpenRequest> {
        (self.requests.len() > MAX_REQUESTS)
            .then(|| self.oldest())
            .flatten()
    }

    /// Removes and returns the oldest request.
    pub fn oldest(&mut self) -> Option<OpenRequest> {
        let (number, request) = self.requests.pop_first()?;
        if let Some(numbers) = self.numbers.get_mut(&request.id) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.numbers.remove(&request.id);
            }
        }
        Some(request)
    }

    /// Returns true if there is no unfinished request.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Remembers that a request has ended.
    pub fn end(&mut self, id: &str, target: &[u8]) {
        self.ended.add((id, path(target)));
    }

    /// Returns true if a request with the given ID and path has ended recently.
    pub fn has_ended(&self, id: &str, target: &[u8]) -> bool {
        self.ended.contains((id, path(target)))
    }
}

/// The hashes of the most recently added keys.
#[derive(Clone, Debug, Default)]
struct RecentKeys {
    random: RandomState,
    hashes: HashSet<u64, RandomState>,
    order: VecDeque<u64>,
}

impl RecentKeys {
    fn add(&mut self, key: impl Hash) {
        let hash = self.random.hash_one(key);
        if !self.hashes.insert(hash) {
            return;
        }
        self.order.push_back(hash);
        if self.order.len() > MAX_REQUESTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.hashes.remove(&oldest);
        }
    }

    fn contains(&self, key: impl Hash) -> bool {
        !self.hashes.is_empty() && self.hashes.contains(&self.random.hash_one(key))
    }
}

/// A count of lines with a path, but without an ID, a status and a duration.
///
/// Such a line belongs to a request that ends in a later line with the same path, if there is such
/// a later line.
#[derive(Clone, Debug, Default)]
pub struct PathLines {
    random: RandomState,
    /// The number of lines whose request has not ended, by the hash of the lines' method and path.
    open: HashMap<u64, u64, RandomState>,
    /// The number of counted lines.
    pub all: u64,
    /// The number of counted lines whose request has not ended so far.
    pub unmatched: u64,
}

impl PathLines {
    fn key(&self, entry: &Entry) -> u64 {
        self.random.hash_one((entry.method, path(entry.target)))
    }

    /// Counts a line without an end.
    pub fn add(&mut self, entry: &Entry) {
        self.all += 1;
        self.unmatched += 1;
        let key = self.key(entry);
        if self.open.len() < MAX_REQUESTS || self.open.contains_key(&key) {
            *self.open.entry(key).or_default() += 1;
        }
    }

    /// Matches the end of a request with the lines before it.
    pub fn end(&mut self, entry: &Entry) {
        if self.open.is_empty() {
            return;
        }
        let key = self.key(entry);
        if let Some(lines) = self.open.remove(&key) {
            self.unmatched -= lines.min(MAX_LINES);
            if lines > MAX_LINES {
                self.open.insert(key, lines - MAX_LINES);
            }
        }
    }
}

/// Returns the part of a target before its query.
fn path(target: &[u8]) -> &[u8] {
    &target[..memchr::memchr(b'?', target).unwrap_or(target.len())]
}

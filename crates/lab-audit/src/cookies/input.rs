// SPDX-License-Identifier: Apache-2.0
//! Cookies from files: HAR, curl's cookie jar, a table copied from a browser's developer tools, the
//! JSON of a cookie editor, or `Cookie` lines.

use super::cookie::{
    Attributes, Cookie, CookieRequest, Hasher, RequestKind, SentCookie, field_bytes,
    is_cookie_list, pairs, set_cookie, split_set_cookie,
};
use super::listed;
use super::wire::Http2;
use crate::date::{Clock, ClockDoubt, cookie_seconds, iso_seconds, now, unix_seconds};
use crate::har::{self, Har, HarEntry};
use crate::value::counted;
use crate::wording;
use serde_json::Value as Json;
use std::collections::HashMap;
use url::Url;

/// The maximum size of an input file in bytes.
pub const MAX_INPUT_BYTES: u64 = 128 << 20;
/// The maximum number of cookies, and the maximum number of requests. Further entries are skipped.
const MAX_ENTRIES: usize = 100_000;

/// The cookies and requests that an audit found in its input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CookieObservation {
    /// The host of the page, if known.
    pub site: Option<String>,
    /// The cookies, without duplicates.
    pub cookies: Vec<Cookie>,
    /// The requests, with or without cookies.
    pub requests: Vec<CookieRequest>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
    /// The number of input entries that could not be read.
    pub skipped: usize,
    /// The facts that could not be observed, one sentence each.
    pub gaps: Vec<String>,
}

/// The error for an input from which no cookies can be read.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct InputError(pub String);

/// Collects cookies and the requests that carry them.
pub struct Collector {
    hasher: Hasher,
    /// The cookie values. They are needed only during reading and are dropped with the collector.
    values: Vec<String>,
    index_of: HashMap<(String, String, String), usize>,
    by_name: HashMap<String, Vec<usize>>,
    /// The number of cookies whose lifetime is uncertain, for each reason.
    doubts: Vec<(ClockDoubt, usize)>,
    observation: CookieObservation,
}

impl Collector {
    /// Creates a collector. Returns an error if the system cannot provide random numbers.
    pub fn new() -> std::io::Result<Collector> {
        Ok(Collector {
            hasher: Hasher::new()?,
            values: Vec::new(),
            index_of: HashMap::new(),
            by_name: HashMap::new(),
            doubts: Vec::new(),
            observation: CookieObservation::default(),
        })
    }

    /// Returns the observation, which does not contain the cookie values.
    pub fn done(mut self) -> CookieObservation {
        for (doubt, cookies) in self.doubts {
            let note = wording::doubtful_lifetimes(doubt, cookies);
            self.observation.gaps.push(note.clone());
            self.observation.notes.push(note);
        }
        self.observation
    }

    /// Reads a file in any supported format. Returns an error if the format is unknown.
    pub fn text(&mut self, text: &str) -> Result<(), InputError> {
        let begin = text.trim_start_matches('\u{feff}').trim_start();
        if is_binary(begin) {
            return Err(InputError(wording::binary()));
        }
        let is_markup = begin.starts_with('<') && !begin.starts_with("< ");
        if is_markup {
            Err(InputError(wording::unknown_format()))
        } else if begin.starts_with(['{', '[']) {
            self.read_json(begin)
        } else if begin.lines().any(|line| Line::new(line).is_field()) {
            self.read_lines(begin)
        } else if begin.lines().any(is_jar_line) && !is_devtools_table(begin) {
            self.read_jar(begin);
            self.assume_requests(wording::NO_JAR_COOKIE)
        } else if begin.lines().any(|line| line.contains('\t')) {
            self.read_devtools(begin)
        } else {
            self.read_lines(begin)
        }
    }

    /// Reads a HAR, or the JSON of a cookie editor.
    fn read_json(&mut self, text: &str) -> Result<(), InputError> {
        let is_har = match Har::parse(text) {
            Ok(har) => {
                self.add_har(&har);
                return Ok(());
            }
            Err(reason) => text.starts_with('{').then_some(reason),
        };
        let Ok(json) = serde_json::from_str::<Json>(text) else {
            let not_json = || wording::unknown_format();
            return Err(InputError(is_har.unwrap_or_else(not_json)));
        };
        let list = json.as_array().or(json["cookies"].as_array());
        match (list, is_har) {
            (Some(list), _) => self.read_cookie_list(list),
            (None, Some(reason)) => Err(InputError(reason)),
            (None, None) => Err(InputError(wording::json_without_cookies())),
        }
    }

    /// Reads the list of cookies that a cookie editor or a test driver of a browser exports.
    fn read_cookie_list(&mut self, list: &[Json]) -> Result<(), InputError> {
        let now = now();
        for item in list {
            match listed::editor_cookie(item, &self.hasher, now) {
                Some((cookie, value)) => {
                    self.count_doubt(&cookie);
                    self.add(cookie, value);
                }
                None => self.observation.skipped += 1,
            }
        }
        self.note_expired();
        self.assume_requests(&wording::json_without_cookies())
    }

    /// Adds the cookies that a response sets.
    ///
    /// `fields` are the `Set-Cookie` fields, and `at_s` is the time of the response, in seconds since 1970.
    pub fn add_response(
        &mut self,
        host: &str,
        path: &str,
        at_s: f64,
        fields: impl Iterator<Item = String>,
    ) {
        for field in fields {
            self.add_field(&field, host, path, at_s.into());
        }
    }

    /// Adds the cookie that a `Set-Cookie` field sets.
    fn add_field(&mut self, field: &str, host: &str, path: &str, clock: Clock) {
        match set_cookie(field, host, path, clock, &self.hasher) {
            Some((cookie, value)) => self.add_set(cookie, value),
            None => self.observation.skipped += 1,
        }
    }

    /// Adds or deletes a cookie that a response sets.
    fn add_set(&mut self, cookie: Cookie, value: String) {
        if cookie.is_deleted {
            return self.delete(&cookie);
        }
        self.count_doubt(&cookie);
        self.add(cookie, value);
    }

    /// Counts a cookie whose lifetime is uncertain.
    fn count_doubt(&mut self, cookie: &Cookie) {
        let doubt = cookie.attributes.as_ref().and_then(|a| a.lifetime_doubt);
        let Some(doubt) = doubt else {
            return;
        };
        match self.doubts.iter_mut().find(|(known, _)| *known == doubt) {
            Some((_, cookies)) => *cookies += 1,
            None => self.doubts.push((doubt, 1)),
        }
    }

    /// Notes the number of cookies in a cookie file that have expired.
    fn note_expired(&mut self) {
        let cookies = self.observation.cookies.iter();
        let expired = cookies.filter(|cookie| cookie.is_deleted).count();
        if expired > 0 {
            self.add_note(&wording::expired_cookies(expired));
        }
    }

    /// Sets the page's host, unless it is already set.
    pub fn set_site(&mut self, host: &str) {
        self.observation.site.get_or_insert_with(|| host.to_owned());
    }

    /// Adds a note for the user.
    pub fn add_note(&mut self, note: &str) {
        self.observation.notes.push(note.to_owned());
    }

    /// Records a fact that could not be observed. `reason` is one sentence.
    pub fn add_gap(&mut self, reason: &str) {
        self.observation.gaps.push(reason.to_owned());
    }

    /// Adds a request with all cookies that a browser would now send with it.
    pub fn add_expected_request(
        &mut self,
        is_tls: bool,
        host: &str,
        path: &str,
        kind: RequestKind,
    ) {
        let cookies = self.observation.cookies.iter().enumerate();
        let sent = cookies.filter(|(_, cookie)| cookie.is_sent_to(is_tls, host, path));
        let sent: Vec<usize> = sent.map(|(index, _)| index).collect();
        self.add_request(host, path, kind, sent, None);
    }

    fn delete(&mut self, cookie: &Cookie) {
        if let Some(index) = self.index_of.get(&key(cookie)) {
            self.observation.cookies[*index].is_deleted = true;
        }
    }

    /// Adds a cookie and returns its index, or `None` if there are too many cookies.
    fn add(&mut self, cookie: Cookie, value: String) -> Option<usize> {
        let key = key(&cookie);
        match self.index_of.get(&key) {
            Some(&index) => {
                let attributes = self.observation.cookies[index].attributes.take();
                self.observation.cookies[index] = Cookie {
                    attributes: cookie.attributes.clone().or(attributes),
                    ..cookie
                };
                self.values[index] = value;
                Some(index)
            }
            None if self.observation.cookies.len() < MAX_ENTRIES => {
                self.index_of.insert(key, self.observation.cookies.len());
                let same_name = self.by_name.entry(cookie.name.clone()).or_default();
                same_name.push(self.observation.cookies.len());
                self.observation.cookies.push(cookie);
                self.values.push(value);
                Some(self.observation.cookies.len() - 1)
            }
            None => {
                self.observation.skipped += 1;
                None
            }
        }
    }

    /// Returns the index of a cookie that a request carries.
    ///
    /// Adds the cookie if no response has set it. Returns `None` if there are too many cookies.
    fn cookie_sent(
        &mut self,
        is_tls: bool,
        host: &str,
        path: &str,
        (name, value): (&str, &str),
    ) -> Option<usize> {
        let hash = self.hasher.hash(value);
        let same_name = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let is_sent =
            |index: &&usize| self.observation.cookies[**index].is_sent_to(is_tls, host, path);
        let is_equal =
            |index: &&usize| is_sent(index) && self.observation.cookies[**index].hash == hash;
        let index = same_name
            .iter()
            .find(is_equal)
            .or_else(|| same_name.iter().find(is_sent));
        let index = index.copied();
        if let Some(index) = index {
            let cookie = &mut self.observation.cookies[index];
            (cookie.value_bytes, cookie.hash) = (value.len(), hash);
            self.values[index] = value.to_owned();
            return Some(index);
        }
        let cookie = Cookie {
            name: name.to_owned(),
            domain: host.to_ascii_lowercase(),
            path: "/".into(),
            value_bytes: value.len(),
            hash,
            attributes: None,
            is_deleted: false,
        };
        self.add(cookie, value.to_owned())
    }

    fn add_request(
        &mut self,
        host: &str,
        path: &str,
        kind: RequestKind,
        cookies: Vec<usize>,
        other_bytes: Option<usize>,
    ) {
        if self.observation.requests.len() >= MAX_ENTRIES {
            self.observation.skipped += 1;
            return;
        }
        let text = |index: &usize| {
            format!(
                "{}={}",
                self.observation.cookies[*index].name, self.values[*index]
            )
        };
        let fields: Vec<String> = cookies.iter().map(text).collect();
        let mut connection = Http2::new();
        let hpack = [connection.bytes(&fields), connection.bytes(&fields)];
        let cookies = cookies.into_iter().map(|index| SentCookie {
            index,
            bytes: self.observation.cookies[index].bytes(),
        });
        let cookies: Vec<SentCookie> = cookies.collect();
        let request = CookieRequest {
            host: host.to_owned(),
            path: path.split(['?', '#']).next().unwrap_or("/").to_owned(),
            kind,
            hpack,
            head_bytes: other_bytes.map(|other| other + field_bytes(&cookies)),
            cookies,
        };
        self.observation.requests.push(request);
    }

    /// Adds the cookies and requests of a HAR.
    pub fn add_har(&mut self, har: &Har) {
        let mut with_cookies = 0;
        if let Some(site) = har.site() {
            self.set_site(site);
        }
        for entry in har.entries.iter().take(MAX_ENTRIES) {
            with_cookies += usize::from(self.read_har_entry(entry).unwrap_or(false));
        }
        self.observation.skipped += har.entries.len().saturating_sub(MAX_ENTRIES);
        har.notes.iter().for_each(|note| self.add_note(note));
        if with_cookies == 0 && !har.entries.is_empty() {
            self.add_note(wording::CHROME_OMITS_COOKIES);
        }
    }

    /// Reads an entry.
    ///
    /// Returns true if the request carried cookies, or `None` if the entry cannot be read or has no
    /// host.
    fn read_har_entry(&mut self, entry: &HarEntry) -> Option<bool> {
        let (request, response) = (&entry.json["request"], &entry.json["response"]);
        let Some(url) = &entry.url else {
            self.observation.skipped += 1;
            return None;
        };
        // Other URLs, such as data:, blob: or those of extensions, carry no cookies.
        let is_web = matches!(url.scheme(), "http" | "https" | "ws" | "wss");
        let host = url.host_str().filter(|_| is_web)?;
        let path = url.path();
        let mut sent = har::values(request, "cookie").join("; ");
        if sent.is_empty() {
            let cookies = request["cookies"].as_array().into_iter().flatten();
            let pair = |c: &Json| Some(format!("{}={}", c["name"].as_str()?, c["value"].as_str()?));
            let pairs: Vec<Option<String>> = cookies.map(pair).collect();
            self.observation.skipped += pairs.iter().filter(|pair| pair.is_none()).count();
            sent = pairs.into_iter().flatten().collect::<Vec<_>>().join("; ");
        }
        let is_tls = matches!(url.scheme(), "https" | "wss");
        let cookies: Vec<usize> = pairs(&sent)
            .into_iter()
            .filter_map(|pair| self.cookie_sent(is_tls, host, path, pair))
            .collect();
        let media = response["content"]["mimeType"].as_str().unwrap_or("");
        let resource_type = entry.json["_resourceType"].as_str().unwrap_or("");
        let resource_type = resource_type.to_ascii_lowercase();
        let kind = RequestKind::classify(&resource_type, media, path);
        let has_cookies = !cookies.is_empty();
        self.add_request(host, path, kind, cookies, other_bytes(request, url));
        let set_cookies = listed::set_cookies(response, host, entry.clock);
        self.observation.skipped += set_cookies.unread;
        for field in set_cookies.fields {
            match set_cookie(&field.text, host, path, entry.clock, &self.hasher) {
                Some((mut cookie, value)) => {
                    field.complete(&mut cookie);
                    self.add_set(cookie, value);
                }
                None => self.observation.skipped += 1,
            }
        }
        Some(has_cookies)
    }

    /// Reads the cookie jar format of curl and Netscape: domain, subdomains, path, secure, expiry, name, value.
    fn read_jar(&mut self, text: &str) {
        let now = now();
        for line in text.lines() {
            let (line, http_only) = match line.strip_prefix("#HttpOnly_") {
                Some(rest) => (rest, true),
                None => (line, false),
            };
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let words: Vec<&str> = line.splitn(7, '\t').collect();
            let [domain, below, path, secure, expires, name, value] = words[..] else {
                self.observation.skipped += 1;
                continue;
            };
            let expires = expires.trim().parse::<f64>().ok().filter(|at| *at > 0.0);
            let cookie = Cookie {
                name: name.to_owned(),
                domain: domain.trim_start_matches('.').to_ascii_lowercase(),
                path: if path.starts_with('/') {
                    path.to_owned()
                } else {
                    "/".into()
                },
                value_bytes: value.len(),
                hash: self.hasher.hash(value),
                attributes: Some(Attributes {
                    host_only: !below.eq_ignore_ascii_case("TRUE"),
                    secure: secure.eq_ignore_ascii_case("TRUE"),
                    http_only,
                    lifetime_s: expires.map(|at| at - now),
                    has_path: true,
                    is_same_site_unknown: true,
                    ..Attributes::default()
                }),
                is_deleted: expires.is_some_and(|at| at <= now),
            };
            self.add(cookie, value.to_owned());
        }
        self.note_expired();
    }

    /// Assumes one page request per host, because a cookie jar contains no requests.
    ///
    /// Returns an error with the text `no_cookies` if there are no cookies.
    fn assume_requests(&mut self, no_cookies: &str) -> Result<(), InputError> {
        if self.observation.cookies.is_empty() {
            return Err(InputError(no_cookies.into()));
        }
        let mut hosts: Vec<String> = self
            .observation
            .cookies
            .iter()
            .map(|c| c.domain.clone())
            .collect();
        hosts.sort();
        hosts.dedup();
        hosts.truncate(100);
        if let Some(first) = self.observation.cookies.first() {
            let domain = first.domain.clone();
            self.set_site(&domain);
        }
        for host in hosts {
            self.add_expected_request(true, &host, "/", RequestKind::Page);
        }
        self.add_note(wording::ASSUMED_REQUESTS);
        Ok(())
    }

    /// Reads a table of cookies copied from a browser's developer tools: name, value, domain, path, expiry, size,
    /// HttpOnly, Secure, SameSite.
    fn read_devtools(&mut self, text: &str) -> Result<(), InputError> {
        let mut unread_dates = 0;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split('\t').map(str::trim).collect();
            if words[0].eq_ignore_ascii_case("name") && words.len() >= 3 {
                continue;
            }
            let [name, value, domain, rest @ ..] = &words[..] else {
                self.observation.skipped += 1;
                continue;
            };
            let path = rest.first().copied().unwrap_or_default();
            if !is_domain(domain) || !(path.is_empty() || path.starts_with('/')) {
                self.observation.skipped += 1;
                continue;
            }
            let word = |at: usize| rest.get(at).copied().unwrap_or("");
            let ticked = |at: usize| matches!(word(at), "✓" | "true" | "TRUE");
            let cookie = Cookie {
                name: (*name).to_owned(),
                domain: domain.trim_start_matches('.').to_ascii_lowercase(),
                path: if word(0).starts_with('/') {
                    word(0).to_owned()
                } else {
                    "/".into()
                },
                value_bytes: value.len(),
                hash: self.hasher.hash(value),
                attributes: (rest.len() >= 5).then(|| Attributes {
                    host_only: !domain.starts_with('.'),
                    http_only: ticked(3),
                    secure: ticked(4),
                    same_site: word(5).to_owned(),
                    is_same_site_unknown: rest.len() < 6,
                    lifetime_s: date_seconds(word(1)).map(|at| at - now()),
                    has_path: true,
                    ..Attributes::default()
                }),
                is_deleted: false,
            };
            self.add(cookie, (*value).to_owned());
            let is_session = matches!(word(1), "" | "Session") || rest.len() < 5;
            unread_dates += u64::from(!is_session && date_seconds(word(1)).is_none());
        }
        if unread_dates > 0 {
            let cookies = counted(unread_dates, "cookie");
            self.add_gap(&format!(
                "For {cookies}, the expiry date could not be read."
            ));
        }
        self.assume_requests(&wording::unknown_format())
    }

    /// Reads lines such as `Cookie: a=1; b=2`, `Set-Cookie: a=1; Path=/` or `a=1; b=2`.
    ///
    /// Other fields in the head of a message are skipped. Lines without a field name are read only
    /// if every other line is a cookie, too, because many other texts contain `=`.
    fn read_lines(&mut self, text: &str) -> Result<(), InputError> {
        let lines: Vec<Line> = text.lines().map(Line::new).collect();
        let has_fields = lines.iter().any(Line::is_field);
        let is_known = |line: &Line| !matches!(line, Line::Other);
        let has_bare = lines.iter().any(|line| matches!(line, Line::Bare(_)));
        let has_only_cookies = has_bare && lines.iter().all(is_known);
        if !has_fields && !has_only_cookies {
            let reason = match has_bare {
                true => wording::not_only_cookies(),
                false => wording::unknown_format(),
            };
            return Err(InputError(reason));
        }
        let has_start = lines.iter().any(|line| matches!(line, Line::Start));
        let is_head = has_start
            || lines
                .iter()
                .any(|l| matches!(l, Line::Field | Line::Date(_)));
        let mut clock = Clock::unknown();
        for (index, line) in lines.iter().enumerate() {
            match line {
                Line::Start => clock = response_clock(&lines[index + 1..]),
                Line::SetCookie(set) => {
                    for field in split_set_cookie(set) {
                        self.add_field(field, "", "/", clock);
                    }
                }
                // These lines follow a head, so they are the body of a message.
                Line::Other | Line::Bare(_) if has_start => {}
                Line::Bare(_) if is_head => self.observation.skipped += 1,
                Line::Cookie(sent) | Line::Bare(sent) => {
                    let cookies: Vec<usize> = pairs(sent)
                        .into_iter()
                        .filter_map(|pair| self.cookie_sent(true, "", "/", pair))
                        .collect();
                    self.add_request("", "/", RequestKind::Page, cookies, None);
                }
                Line::Other => self.observation.skipped += 1,
                Line::Field | Line::Ignored | Line::Date(_) => {}
            }
        }
        Ok(())
    }
}

/// A line of a text with cookies.
enum Line<'t> {
    /// The value of a `Cookie` field.
    Cookie(&'t str),
    /// The value of a `Set-Cookie` field.
    SetCookie(&'t str),
    /// The value of a `Date` field.
    Date(&'t str),
    /// A list of cookies without the name of the field.
    Bare(&'t str),
    /// The start of a message.
    Start,
    /// Another field of a message.
    Field,
    /// An empty line, or a message of curl.
    Ignored,
    /// Another line.
    Other,
}

impl Line<'_> {
    /// Classifies a line. `curl -v` writes `> `, `< ` or `* ` before its lines.
    fn new(line: &str) -> Line<'_> {
        let is_comment =
            line.starts_with("* ") || line.starts_with("{ [") || line.starts_with("} [");
        let marked = line.strip_prefix("> ").or_else(|| line.strip_prefix("< "));
        let text = marked.unwrap_or(line).trim();
        if is_comment || text.is_empty() || matches!(text, "<" | ">") {
            return Line::Ignored;
        }
        let is_request = text.contains(" HTTP/") && text.split(' ').count() == 3;
        if text.starts_with("HTTP/") || is_request && marked.is_some() {
            return Line::Start;
        }
        let is_field_name = |name: &str| {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            !name.is_empty() && name.chars().all(is_letter)
        };
        match text.split_once(':') {
            Some((name, value)) if is_field_name(name) => {
                let value = value.trim();
                match name.to_ascii_lowercase().as_str() {
                    "cookie" if value.contains('=') => Line::Cookie(value),
                    "set-cookie" if !value.is_empty() => Line::SetCookie(value),
                    "cookie" | "set-cookie" => Line::Other,
                    "date" => Line::Date(value),
                    _ => Line::Field,
                }
            }
            _ if is_cookie_list(text) => Line::Bare(text),
            _ if is_request => Line::Start,
            _ => Line::Other,
        }
    }

    /// Returns true for a `Cookie` or `Set-Cookie` field.
    fn is_field(&self) -> bool {
        matches!(self, Line::Cookie(_) | Line::SetCookie(_))
    }
}

/// Returns the time of a message from the `Date` in its head.
fn response_clock(lines: &[Line]) -> Clock {
    let head = lines.iter().take_while(|line| !matches!(line, Line::Start));
    let date = head.filter_map(|line| match line {
        Line::Date(date) => unix_seconds(date),
        _ => None,
    });
    date.map(Clock::from).next().unwrap_or_else(Clock::unknown)
}

/// Returns true for a line of curl's cookie jar: seven columns, of which two are TRUE or FALSE.
fn is_jar_line(line: &str) -> bool {
    let words: Vec<&str> = line.split('\t').collect();
    let is_flag = |word: &str| {
        ["TRUE", "FALSE"]
            .iter()
            .any(|f| word.eq_ignore_ascii_case(f))
    };
    words.len() == 7 && is_flag(words[1]) && is_flag(words[3])
}

/// Returns true for the domain of a cookie.
fn is_domain(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    !text.is_empty() && text.chars().all(is_letter)
}

/// Returns the key by which a browser identifies a cookie (RFC 6265, 5.3): name, domain and path.
fn key(cookie: &Cookie) -> (String, String, String) {
    let Cookie {
        name, domain, path, ..
    } = cookie;
    (name.clone(), domain.clone(), path.clone())
}

/// Returns true if the text contains a NUL, or if more than a tenth of its characters are control characters or invalid
/// UTF-8.
fn is_binary(text: &str) -> bool {
    let is_odd = |c: &char| *c == '\u{fffd}' || c.is_control() && !c.is_whitespace();
    text.contains('\0') || 10 * text.chars().filter(is_odd).count() > text.chars().count()
}

fn is_devtools_table(text: &str) -> bool {
    let first = text.lines().next().unwrap_or("");
    first.to_ascii_lowercase().starts_with("name\tvalue")
        || text.lines().any(|line| line.contains('✓'))
}

/// Parses the expiry date of a cookie as browsers show it, into seconds since 1970.
fn date_seconds(text: &str) -> Option<f64> {
    iso_seconds(text).or_else(|| cookie_seconds(text))
}

/// Returns the size in bytes of a request's HTTP/1.1 head without its cookies.
fn other_bytes(request: &Json, url: &Url) -> Option<usize> {
    let mut bytes = 0;
    for (name, value) in har::fields(request)? {
        if name.starts_with(':') || name.eq_ignore_ascii_case("cookie") {
            continue;
        }
        bytes += name.len() + value.len() + ": \r\n".len();
    }
    let method = request["method"].as_str().unwrap_or("GET");
    let line = method.len() + 1 + url[url::Position::BeforePath..].len() + " HTTP/1.1\r\n".len();
    Some(line + bytes + "\r\n".len())
}

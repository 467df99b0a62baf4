// SPDX-License-Identifier: Apache-2.0
//! Cookies from files: HAR, curl's cookie jar, a table copied from a browser's developer tools, or `Cookie` lines.

use super::cookie::{
    Attributes, Cookie, CookieRequest, Hasher, RequestKind, SentCookie, field_bytes, pairs,
    set_cookie, split_set_cookie,
};
use super::wire::Http2;
use crate::date::{cookie_seconds, iso_seconds, now};
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
            observation: CookieObservation::default(),
        })
    }

    /// Returns the observation, which does not contain the cookie values.
    pub fn done(self) -> CookieObservation {
        self.observation
    }

    /// Reads a file in any supported format. Returns an error if the format is unknown.
    pub fn text(&mut self, text: &str) -> Result<(), InputError> {
        let begin = text.trim_start_matches('\u{feff}').trim_start();
        if is_binary(begin) {
            return Err(InputError(wording::binary()));
        }
        if begin.starts_with('{') {
            self.read_har(begin)
        } else if begin.lines().any(|line| line.split('\t').count() == 7)
            && !is_devtools_table(begin)
        {
            self.read_jar(begin);
            self.assume_requests()
        } else if begin.lines().any(|line| line.contains('\t')) {
            self.read_devtools(begin)
        } else {
            self.read_lines(begin)
        }
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
            match set_cookie(&field, host, path, at_s, &self.hasher) {
                Some((cookie, _)) if cookie.is_deleted => self.delete(&cookie),
                Some((cookie, value)) => drop(self.add(cookie, value)),
                None => self.observation.skipped += 1,
            }
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

    /// Adds a request with all cookies that a browser would send with this request now.
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

    /// Reads an HTTP Archive 1.2 (HAR), the format in which browsers export their network panel.
    fn read_har(&mut self, text: &str) -> Result<(), InputError> {
        let json: Json =
            serde_json::from_str(text).map_err(|e| InputError(wording::not_json(&e)))?;
        let entries = json["log"]["entries"].as_array();
        let entries = entries.ok_or(InputError(wording::NO_HAR.into()))?;
        let mut with_cookies = 0;
        let mut clock = HarClock::new(&json);
        for entry in entries.iter().take(MAX_ENTRIES) {
            let at_s = clock.time_of(entry);
            with_cookies += usize::from(self.read_har_entry(entry, at_s).unwrap_or(false));
        }
        let has_lifetime = |cookie: &Cookie| {
            let attributes = cookie.attributes.as_ref();
            attributes.is_some_and(|attributes| attributes.lifetime_s.is_some())
        };
        if clock.is_assumed && self.observation.cookies.iter().any(has_lifetime) {
            let note = "No entry of the HAR has a time, so the lifetimes of its cookies are counted from now.";
            self.observation.notes.push(note.into());
        }
        if with_cookies == 0 && !entries.is_empty() {
            self.observation.notes.push(
                "No request in the HAR carries a cookie. Chrome omits cookies unless you allow HAR with sensitive \
                 data in the settings of its developer tools."
                    .into(),
            );
        }
        Ok(())
    }

    /// Reads an entry that was recorded at `at_s` (seconds since 1970).
    ///
    /// Returns true if the request carried cookies, or `None` if the entry cannot be read or has no
    /// host.
    fn read_har_entry(&mut self, entry: &Json, at_s: f64) -> Option<bool> {
        let (request, response) = (&entry["request"], &entry["response"]);
        let url = request["url"].as_str().and_then(|url| Url::parse(url).ok());
        let Some(url) = url else {
            self.observation.skipped += 1;
            return None;
        };
        // A URL without a host, such as data: or blob:, carries no cookies.
        let host = url.host_str()?;
        let path = url.path();
        self.set_site(host);
        let mut sent = fields(request, "cookie").join("; ");
        if sent.is_empty() {
            let cookies = request["cookies"].as_array().into_iter().flatten();
            let pairs = cookies
                .filter_map(|c| Some(format!("{}={}", c["name"].as_str()?, c["value"].as_str()?)));
            sent = pairs.collect::<Vec<_>>().join("; ");
        }
        let is_tls = matches!(url.scheme(), "https" | "wss");
        let cookies: Vec<usize> = pairs(&sent)
            .into_iter()
            .filter_map(|pair| self.cookie_sent(is_tls, host, path, pair))
            .collect();
        let media = response["content"]["mimeType"].as_str().unwrap_or("");
        let kind =
            RequestKind::classify(entry["_resourceType"].as_str().unwrap_or(""), media, path);
        let has_cookies = !cookies.is_empty();
        self.add_request(host, path, kind, cookies, other_bytes(request, &url));
        let set_cookies = har_set_cookies(response, host, at_s);
        self.add_response(host, path, at_s, set_cookies.into_iter());
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
                    host_only: below != "TRUE",
                    secure: secure == "TRUE",
                    http_only,
                    lifetime_s: expires.map(|at| at - now),
                    has_path: true,
                    ..Attributes::default()
                }),
                is_deleted: expires.is_some_and(|at| at <= now),
            };
            self.add(cookie, value.to_owned());
        }
    }

    /// Assumes one page request per host, because a cookie jar contains no requests.
    fn assume_requests(&mut self) -> Result<(), InputError> {
        if self.observation.cookies.is_empty() {
            return Err(InputError(
                "the file looks like curl's cookie jar, but contains no cookie".into(),
            ));
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
        let note = "A cookie file contains no requests, so benchlab assumes one page request for each host.";
        self.observation.notes.push(note.into());
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
            self.add_gap(&format!("The expiry dates of {cookies} could not be read."));
        }
        self.assume_requests()
    }

    /// Reads lines such as `Cookie: a=1; b=2`, `Set-Cookie: a=1; Path=/` or `a=1; b=2`.
    fn read_lines(&mut self, text: &str) -> Result<(), InputError> {
        let field = |line: &str, name: &str| {
            let (begin, rest) = line.split_at_checked(name.len())?;
            begin
                .eq_ignore_ascii_case(name)
                .then(|| rest.trim().to_owned())
        };
        let mut has_cookies = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(set) = field(line, "set-cookie:") {
                self.add_response("", "/", now(), std::iter::once(set));
                has_cookies = true;
                continue;
            }
            let sent = field(line, "cookie:").unwrap_or_else(|| line.to_owned());
            if !sent.contains('=') {
                self.observation.skipped += 1;
                continue;
            }
            has_cookies = true;
            let cookies: Vec<usize> = pairs(&sent)
                .into_iter()
                .filter_map(|pair| self.cookie_sent(true, "", "/", pair))
                .collect();
            self.add_request("", "/", RequestKind::Page, cookies, None);
        }
        if has_cookies {
            Ok(())
        } else {
            Err(InputError(wording::unknown_format()))
        }
    }
}

/// Tracks the times of a HAR's entries. An entry without a time gets the time of the previous entry.
struct HarClock {
    last_s: f64,
    is_assumed: bool,
}

impl HarClock {
    fn new(har: &Json) -> HarClock {
        let log = &har["log"];
        let list = |name: &str| log[name].as_array().into_iter().flatten();
        let first = list("entries").chain(list("pages")).find_map(started_s);
        HarClock {
            last_s: first.unwrap_or_else(now),
            is_assumed: first.is_none() && log["entries"].as_array().is_some_and(|e| !e.is_empty()),
        }
    }

    fn time_of(&mut self, entry: &Json) -> f64 {
        self.last_s = started_s(entry).unwrap_or(self.last_s);
        self.last_s
    }
}

/// Returns the start time of a HAR's entry or page, in seconds since 1970.
fn started_s(item: &Json) -> Option<f64> {
    let time: jiff::Timestamp = item["startedDateTime"].as_str()?.parse().ok()?;
    Some(time.as_second() as f64)
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

/// Returns the `Set-Cookie` fields of a host's response in a HAR that was recorded at `at_s` (seconds
/// since 1970). If there are none, they are made from the response's list of cookies.
pub fn har_set_cookies(response: &Json, host: &str, at_s: f64) -> Vec<String> {
    let fields = fields(response, "set-cookie");
    if fields.is_empty() {
        let listed = response["cookies"].as_array().into_iter().flatten();
        return listed
            .filter_map(|cookie| listed_field(cookie, host, at_s))
            .collect();
    }
    let fields = fields.iter().flat_map(|field| split_set_cookie(field));
    fields.map(str::to_owned).collect()
}

/// Formats a cookie in the list of a HAR as a `Set-Cookie` field.
///
/// A list may name the host of a cookie that was set without `Domain`.
fn listed_field(cookie: &Json, host: &str, at_s: f64) -> Option<String> {
    let text = |name: &str| {
        let text = cookie[name].as_str().filter(|text| !text.is_empty());
        text.filter(|text| name != "domain" || !text.eq_ignore_ascii_case(host))
    };
    let flag = |name: &str| cookie[name].as_bool().unwrap_or(false);
    let value = cookie["value"].as_str().unwrap_or_default();
    let mut field = format!("{}={value}", cookie["name"].as_str()?);
    for (name, key) in [
        ("Domain", "domain"),
        ("Path", "path"),
        ("SameSite", "sameSite"),
    ] {
        field.extend(text(key).map(|value| format!("; {name}={value}")));
    }
    let date = text("expires").filter(|date| !date.eq_ignore_ascii_case("session"));
    field.extend(date.map(|date| match date_seconds(date) {
        Some(expiry_s) => format!("; Max-Age={}", (expiry_s - at_s).round()),
        None => format!("; Expires={date}"),
    }));
    for (name, key) in [("Secure", "secure"), ("HttpOnly", "httpOnly")] {
        field.extend(flag(key).then(|| format!("; {name}")));
    }
    Some(field)
}

/// Returns the values of a field of a request or a response in a HAR.
fn fields(message: &Json, name: &str) -> Vec<String> {
    let headers = message["headers"].as_array().into_iter().flatten();
    let is_named = |header: &&Json| {
        let its_name = header["name"].as_str();
        its_name.is_some_and(|its_name| its_name.eq_ignore_ascii_case(name))
    };
    let values = headers.filter(is_named).filter_map(|h| h["value"].as_str());
    // Firefox joins multiple fields with line breaks.
    values.flat_map(str::lines).map(str::to_owned).collect()
}

/// Returns the size in bytes of a request's HTTP/1.1 head without its cookies.
fn other_bytes(request: &Json, url: &Url) -> Option<usize> {
    let headers = request["headers"].as_array()?;
    let mut bytes = 0;
    for header in headers {
        let (name, value) = (header["name"].as_str()?, header["value"].as_str()?);
        if name.starts_with(':') || name.eq_ignore_ascii_case("cookie") {
            continue;
        }
        bytes += name.len() + value.len() + ": \r\n".len();
    }
    let method = request["method"].as_str().unwrap_or("GET");
    let line = method.len() + 1 + url[url::Position::BeforePath..].len() + " HTTP/1.1\r\n".len();
    Some(line + bytes + "\r\n".len())
}

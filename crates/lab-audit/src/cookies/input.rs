// SPDX-License-Identifier: Apache-2.0
//! Cookies from files: HAR, the jar of curl, what a browser's tools copy, a `Cookie` line.

use super::cookie::{Attributes, Cookie, Hasher, Request, RequestKind, pairs, set_cookie};
use super::field::field_bytes;
use super::wire::Http2;
use serde_json::Value as Json;
use std::collections::HashMap;
use url::Url;

/// A longer file is refused, bytes.
pub const LONGEST: u64 = 128 << 20;
/// More cookies or requests are not looked at.
const MOST: usize = 100_000;
/// What is read.
const FORMS: &str = "what is read: a HAR, a jar of curl (cookies.txt), a table or a `Cookie:` line copied from a browser";

/// Everything that was seen of cookies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CookieObservation {
    /// The host of the page, where one is known.
    pub site: Option<String>,
    /// Each once.
    pub cookies: Vec<Cookie>,
    /// Requests, whether they carried any or not.
    pub requests: Vec<Request>,
    /// What a reader must know of it.
    pub notes: Vec<String>,
    /// Entries that could not be read.
    pub skipped: usize,
    /// What else of it could not be seen, in sentences.
    pub lacking: Vec<String>,
}

/// A file that holds no cookies.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct InputError(pub String);

/// Collects cookies, and the requests that carry them.
pub struct Collector {
    hasher: Hasher,
    /// Values, while the audit reads; dropped with the collector.
    values: Vec<String>,
    known: HashMap<(String, String, String), usize>,
    by_name: HashMap<String, Vec<usize>>,
    seen: CookieObservation,
}

impl Collector {
    /// Error: the system has no random numbers.
    pub fn new() -> std::io::Result<Collector> {
        Ok(Collector {
            hasher: Hasher::new()?,
            values: Vec::new(),
            known: HashMap::new(),
            by_name: HashMap::new(),
            seen: CookieObservation::default(),
        })
    }

    /// What was collected, without any value.
    pub fn done(self) -> CookieObservation {
        self.seen
    }

    /// Reads a file of any of the forms. Error: it is none of them.
    pub fn text(&mut self, text: &str) -> Result<(), InputError> {
        let begin = text.trim_start_matches('\u{feff}').trim_start();
        if is_binary(begin) {
            return Err(InputError(format!("it is binary; {FORMS}")));
        }
        if begin.starts_with('{') {
            self.har(begin)
        } else if begin.lines().any(|line| line.split('\t').count() == 7) && !devtools_begins(begin)
        {
            self.jar(begin);
            self.of_jar()
        } else if begin.lines().any(|line| line.contains('\t')) {
            self.devtools(begin)
        } else {
            self.lines(begin)
        }
    }

    /// An answer of a host that sets cookies.
    pub fn answer(&mut self, host: &str, path: &str, fields: impl Iterator<Item = String>) {
        for field in fields {
            match set_cookie(&field, host, path, &self.hasher) {
                Some((cookie, _)) if cookie.gone => self.delete(&cookie),
                Some((cookie, value)) => drop(self.add(cookie, value)),
                None => self.seen.skipped += 1,
            }
        }
    }

    /// The page's host.
    pub fn site(&mut self, host: &str) {
        self.seen.site.get_or_insert_with(|| host.to_owned());
    }

    /// What a reader must know.
    pub fn note(&mut self, note: &str) {
        self.seen.notes.push(note.to_owned());
    }

    /// What could not be seen, in a sentence.
    pub fn note_missing(&mut self, why: &str) {
        self.seen.lacking.push(why.to_owned());
    }

    /// A request as it would be sent now, with all cookies that it would carry.
    pub fn would_send(
        &mut self,
        host: &str,
        path: &str,
        kind: RequestKind,
        other_bytes: Option<usize>,
    ) {
        let cookies = self.seen.cookies.iter().enumerate();
        let sent = cookies.filter(|(_, cookie)| cookie.is_sent_to(host, path));
        let sent: Vec<usize> = sent.map(|(at, _)| at).collect();
        self.request(host, path, kind, sent, other_bytes);
    }

    fn delete(&mut self, cookie: &Cookie) {
        if let Some(at) = self.known.get(&key(cookie)) {
            self.seen.cookies[*at].gone = true;
        }
    }

    fn add(&mut self, cookie: Cookie, value: String) -> usize {
        let key = key(&cookie);
        match self.known.get(&key) {
            Some(&at) => {
                let attributes = self.seen.cookies[at].attributes.take();
                self.seen.cookies[at] = Cookie {
                    attributes: cookie.attributes.clone().or(attributes),
                    ..cookie
                };
                self.values[at] = value;
                at
            }
            None if self.seen.cookies.len() < MOST => {
                self.known.insert(key, self.seen.cookies.len());
                let same = self.by_name.entry(cookie.name.clone()).or_default();
                same.push(self.seen.cookies.len());
                self.seen.cookies.push(cookie);
                self.values.push(value);
                self.seen.cookies.len() - 1
            }
            None => {
                self.seen.skipped += 1;
                self.seen.cookies.len() - 1
            }
        }
    }

    /// A cookie of a request: one that was set before, or one of which only this is known.
    fn carried(&mut self, host: &str, path: &str, (name, value): (&str, &str)) -> usize {
        let hash = self.hasher.hash(value);
        let same = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let sent = |at: &&usize| self.seen.cookies[**at].is_sent_to(host, path);
        let equal = |at: &&usize| sent(at) && self.seen.cookies[**at].hash == hash;
        let found = same.iter().find(equal).or_else(|| same.iter().find(sent));
        let found = found.copied();
        if let Some(at) = found {
            let cookie = &mut self.seen.cookies[at];
            (cookie.value_bytes, cookie.hash) = (value.len(), hash);
            self.values[at] = value.to_owned();
            return at;
        }
        let cookie = Cookie {
            name: name.to_owned(),
            domain: host.to_ascii_lowercase(),
            path: "/".into(),
            value_bytes: value.len(),
            hash,
            attributes: None,
            gone: false,
        };
        self.add(cookie, value.to_owned())
    }

    fn request(
        &mut self,
        host: &str,
        path: &str,
        kind: RequestKind,
        cookies: Vec<usize>,
        other_bytes: Option<usize>,
    ) {
        if self.seen.requests.len() >= MOST {
            self.seen.skipped += 1;
            return;
        }
        let text = |at: &usize| format!("{}={}", self.seen.cookies[*at].name, self.values[*at]);
        let fields: Vec<String> = cookies.iter().map(text).collect();
        let mut connection = Http2::new();
        let hpack = [connection.bytes(&fields), connection.bytes(&fields)];
        let request = Request {
            host: host.to_owned(),
            path: path.split(['?', '#']).next().unwrap_or("/").to_owned(),
            kind,
            hpack,
            head_bytes: other_bytes.map(|other| other + field_bytes(&self.seen.cookies, &cookies)),
            cookies,
        };
        self.seen.requests.push(request);
    }

    /// HTTP Archive 1.2: what a browser saves of its network panel.
    fn har(&mut self, text: &str) -> Result<(), InputError> {
        let json: Json =
            serde_json::from_str(text).map_err(|e| InputError(format!("it is not JSON: {e}")))?;
        let entries = json["log"]["entries"].as_array();
        let entries = entries.ok_or(InputError(
            "it is JSON without log.entries, so no HAR".into(),
        ))?;
        let mut with_cookies = 0;
        for entry in entries.iter().take(MOST) {
            with_cookies += usize::from(self.har_entry(entry).unwrap_or(false));
        }
        if with_cookies == 0 && !entries.is_empty() {
            self.seen.notes.push(
                "No request in the HAR carries a cookie. Chrome leaves them out unless one allows HAR with sensitive \
                 data in the settings of its tools."
                    .into(),
            );
        }
        Ok(())
    }

    /// Whether it carried cookies; `None`: it cannot be read.
    fn har_entry(&mut self, entry: &Json) -> Option<bool> {
        let (request, response) = (&entry["request"], &entry["response"]);
        let url = request["url"].as_str().and_then(|url| Url::parse(url).ok());
        let Some((url, host)) = url.as_ref().and_then(|url| Some((url, url.host_str()?))) else {
            self.seen.skipped += 1;
            return None;
        };
        let path = url.path();
        self.site(host);
        let fields = |of: &Json, wanted: &str| -> Vec<String> {
            let headers = of["headers"].as_array().into_iter().flatten();
            let named = headers.filter(|h| {
                h["name"]
                    .as_str()
                    .is_some_and(|n| n.eq_ignore_ascii_case(wanted))
            });
            let values = named.filter_map(|header| header["value"].as_str());
            // Firefox joins several fields by line ends.
            values.flat_map(str::lines).map(str::to_owned).collect()
        };
        let mut sent = fields(request, "cookie").join("; ");
        if sent.is_empty() {
            let cookies = request["cookies"].as_array().into_iter().flatten();
            let pairs = cookies
                .filter_map(|c| Some(format!("{}={}", c["name"].as_str()?, c["value"].as_str()?)));
            sent = pairs.collect::<Vec<_>>().join("; ");
        }
        let cookies: Vec<usize> = pairs(&sent)
            .into_iter()
            .map(|pair| self.carried(host, path, pair))
            .collect();
        let media = response["content"]["mimeType"].as_str().unwrap_or("");
        let kind = RequestKind::of(entry["_resourceType"].as_str().unwrap_or(""), media, path);
        let carries = !cookies.is_empty();
        self.request(host, path, kind, cookies, other_bytes(request, url));
        let set = fields(response, "set-cookie");
        self.answer(host, path, set.into_iter());
        Some(carries)
    }

    /// The jar of curl and of Netscape: host, below, path, secure, expiry, name, value.
    fn jar(&mut self, text: &str) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64());
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
                self.seen.skipped += 1;
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
                    same_site: String::new(),
                    lifetime_s: expires.map(|at| at - now),
                }),
                gone: false,
            };
            self.add(cookie, value.to_owned());
        }
    }

    /// One request to each host of the jar.
    fn of_jar(&mut self) -> Result<(), InputError> {
        if self.seen.cookies.is_empty() {
            return Err(InputError(
                "it looks like a jar of curl and holds no cookie".into(),
            ));
        }
        let mut hosts: Vec<String> = self.seen.cookies.iter().map(|c| c.domain.clone()).collect();
        hosts.sort();
        hosts.dedup();
        hosts.truncate(100);
        if let Some(first) = self.seen.cookies.first() {
            let domain = first.domain.clone();
            self.site(&domain);
        }
        for host in hosts {
            self.would_send(&host, "/", RequestKind::Page, None);
        }
        let note = "A file of cookies does not tell which requests carry them: one page of each host is assumed.";
        self.seen.notes.push(note.into());
        Ok(())
    }

    /// Rows of a browser's table of cookies: name, value, domain, path, expiry, size, HttpOnly, Secure, SameSite.
    fn devtools(&mut self, text: &str) -> Result<(), InputError> {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split('\t').map(str::trim).collect();
            if words[0].eq_ignore_ascii_case("name") && words.len() >= 3 {
                continue;
            }
            let [name, value, domain, rest @ ..] = &words[..] else {
                self.seen.skipped += 1;
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
                    lifetime_s: lifetime(word(1)),
                }),
                gone: false,
            };
            self.add(cookie, (*value).to_owned());
        }
        self.of_jar()
    }

    /// Lines `Cookie: a=1; b=2`, `Set-Cookie: a=1; Path=/` or `a=1; b=2`.
    fn lines(&mut self, text: &str) -> Result<(), InputError> {
        let field = |line: &str, name: &str| {
            let (begin, rest) = line.split_at_checked(name.len())?;
            begin
                .eq_ignore_ascii_case(name)
                .then(|| rest.trim().to_owned())
        };
        let mut found = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(set) = field(line, "set-cookie:") {
                self.answer("", "/", std::iter::once(set));
                found = true;
                continue;
            }
            let sent = field(line, "cookie:").unwrap_or_else(|| line.to_owned());
            if !sent.contains('=') {
                self.seen.skipped += 1;
                continue;
            }
            found = true;
            let cookies: Vec<usize> = pairs(&sent)
                .into_iter()
                .map(|pair| self.carried("", "/", pair))
                .collect();
            self.request("", "/", RequestKind::Page, cookies, None);
        }
        if found {
            Ok(())
        } else {
            Err(InputError(format!(
                "it is nothing of what is known; {FORMS}"
            )))
        }
    }
}

/// What a browser keeps one cookie for (RFC 6265, 5.3): name, domain and path.
fn key(cookie: &Cookie) -> (String, String, String) {
    let Cookie {
        name, domain, path, ..
    } = cookie;
    (name.clone(), domain.clone(), path.clone())
}

/// A NUL, or more than one in ten that no text has: bytes that are no UTF-8, and control characters.
fn is_binary(text: &str) -> bool {
    let odd = |c: &char| *c == '\u{fffd}' || c.is_control() && !c.is_whitespace();
    text.contains('\0') || 10 * text.chars().filter(odd).count() > text.chars().count()
}

fn devtools_begins(text: &str) -> bool {
    let first = text.lines().next().unwrap_or("");
    first.to_ascii_lowercase().starts_with("name\tvalue")
        || text.lines().any(|line| line.contains('✓'))
}

fn lifetime(expires: &str) -> Option<f64> {
    let then: jiff::Timestamp = expires.parse().ok()?;
    Some((then.as_second() - jiff::Timestamp::now().as_second()) as f64)
}

/// Bytes of a request's head without its cookies, as HTTP/1.1 writes it.
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

// SPDX-License-Identifier: Apache-2.0
//! A site as recorded by a browser (HTTP Archive 1.2). Reading it needs no requests.

use super::address::redact;
use super::client::{MAX_BODY, PageResponse};
use super::resource::{Resource, codings, no_response_object};
use super::server::{Redirects, describe_from_response};
use super::visit::Site;
use crate::cookies::cookie::split_set_cookie;
use crate::cookies::input::Collector;
use crate::cookies::listed::set_cookies;
use crate::har::{self, Har, HarEntry};
use crate::value::{AuditObject, Value, counted};
use crate::wording;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value as Json;
use std::net::IpAddr;
use url::Url;

/// The maximum number of entries that are examined.
const MAX_ENTRIES: usize = 2000;

/// An entry with its URL and its response.
struct AnsweredEntry<'a> {
    url: &'a Url,
    response: PageResponse,
    entry: &'a HarEntry,
}

impl<'a> AnsweredEntry<'a> {
    /// Returns `None` if the URL is invalid.
    fn new(entry: &'a HarEntry) -> Option<AnsweredEntry<'a>> {
        Some(AnsweredEntry {
            url: entry.url.as_ref()?,
            response: response(entry),
            entry,
        })
    }
}

/// The entries of a HAR that are not redirects to the page.
#[derive(Default)]
struct Entries<'a> {
    /// The responses to GET requests over HTTP, which describe files.
    answered: Vec<AnsweredEntry<'a>>,
    /// The GET requests without a response, with the reason.
    failed: Vec<(&'a Url, String)>,
    /// The URLs of other entries, such as POST, OPTIONS (a CORS preflight), WebSocket and `data:`.
    left_out: Vec<&'a Url>,
    /// The number of requests without a response, with any method.
    unanswered: u64,
}

impl<'a> Entries<'a> {
    fn new(entries: impl Iterator<Item = &'a HarEntry>) -> Entries<'a> {
        let mut all = Entries::default();
        for entry in entries {
            if let Some(url) = &entry.url {
                all.add(url, entry);
            }
        }
        all
    }

    fn add(&mut self, url: &'a Url, entry: &'a HarEntry) {
        let method = entry.json["request"]["method"].as_str().unwrap_or("GET");
        let is_get = method.eq_ignore_ascii_case("GET");
        if !matches!(url.scheme(), "http" | "https") {
            return self.left_out.push(url);
        }
        match (status(&entry.json["response"]), is_get) {
            (Ok(200..), true) => self.answered.extend(AnsweredEntry::new(entry)),
            (Ok(_), _) => self.left_out.push(url),
            (Err(reason), _) => {
                self.unanswered += 1;
                if is_get {
                    self.failed.push((url, reason));
                }
            }
        }
    }

    /// Returns notes about the entries that are not files.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.left_out.is_empty() {
            let entries = counted(self.left_out.len() as u64, "entry");
            let reason = "because only responses to GET over HTTP are files of the page";
            notes.push(format!("{entries} left out, {reason}."));
        }
        if self.unanswered > 0 {
            let requests = counted(self.unanswered, "request");
            notes.push(format!("{requests} got no response."));
        }
        notes
    }
}

/// Reads a site from a HAR. Returns its first URL and the observations.
///
/// # Errors
///
/// Returns an error if the text is not a HAR, or contains no response.
pub fn of_har(text: &str) -> Result<(Url, Site), String> {
    let har = Har::parse(text)?;
    let mut collector = Collector::new().map_err(|e| e.to_string())?;
    collector.add_har(&har);
    let choice = har.page().ok_or(wording::NO_RESPONSE)?;
    let chain = choice.chain.iter().map(|index| &har.entries[*index]);
    let chain: Vec<AnsweredEntry> = chain.filter_map(AnsweredEntry::new).collect();
    let (page, first) = chain
        .last()
        .zip(chain.first())
        .ok_or(wording::NO_RESPONSE)?;
    let redirects = redirects(&chain);
    let others = har.entries.iter().take(MAX_ENTRIES).enumerate();
    let others = others.filter(|(index, _)| !choice.chain.contains(index));
    let examined = Entries::new(others.map(|(_, entry)| entry));
    // A redirect is not a page, even if its target is not in the file.
    let is_page = page.response.redirect_target(page.url).is_none();
    let is_own = |other: &Url| other.host_str() == page.url.host_str();
    let (own_entries, other_entries): (Vec<&AnsweredEntry>, Vec<&AnsweredEntry>) = examined
        .answered
        .iter()
        .partition(|other| is_own(other.url));
    let own_entries = std::iter::once(page).filter(|_| is_page).chain(own_entries);
    let own_failed = examined.failed.iter().filter(|(other, _)| is_own(other));
    let failed = own_failed.map(|(url, reason)| no_response_object(url, reason));
    let left_out_urls = examined.left_out.iter().copied();
    let other_urls = other_entries.iter().map(|other| other.url);
    let other_urls =
        other_urls.chain(left_out_urls.filter(|other| other.has_host() && !is_own(other)));
    let mut notes = examined.notes();
    let is_choice = har.entries.len() > 1;
    let chosen = wording::page_of_har(choice.choice, choice.is_first).filter(|_| is_choice);
    notes.extend(chosen.map(str::to_owned));
    let left_out = har.entries.len().saturating_sub(MAX_ENTRIES);
    if left_out > 0 {
        let note = format!(
            "{} beyond the first {MAX_ENTRIES}: not examined.",
            counted(left_out as u64, "entry")
        );
        notes.push(note);
    }
    notes.push(
        "The site was read from a file without requests, so TLS versions, exposed paths, HEAD and further conditional \
         requests were not examined."
            .into(),
    );
    let site = Site {
        cookies: collector.done(),
        resources: own_entries.map(resource).collect(),
        objects: server(page, &redirects).into_iter().chain(failed).collect(),
        others: other_urls.map(redact).collect(),
        notes,
        ..Site::default()
    };
    Ok((first.url.clone(), site))
}

/// Returns the status of a response, or the reason there was no response.
fn status(response: &Json) -> Result<u16, String> {
    let status = &response["status"];
    let number = status
        .as_u64()
        .and_then(|status| u16::try_from(status).ok());
    number.filter(|status| *status > 0).ok_or_else(|| {
        let error = response["_error"].as_str().unwrap_or_default();
        match (error, status) {
            ("", Json::Null) => "it has no status".to_owned(),
            ("", status) => format!("its status is {status}"),
            (error, _) => error.to_owned(),
        }
    })
}

/// Parses a response that has a status.
fn response(entry: &HarEntry) -> PageResponse {
    let response = &entry.json["response"];
    let version = response["httpVersion"].as_str().unwrap_or_default();
    let status = status(response).unwrap_or_default();
    let (mut body, lacks_body) = body(response);
    body.truncate(MAX_BODY);
    // The reason why Chrome gave up in the body.
    let incomplete = response["_error"]
        .as_str()
        .filter(|error| !error.is_empty());
    let recorded = har::fields(response);
    PageResponse {
        version: version.to_ascii_lowercase().replace("http/", ""),
        status,
        lacks_fields: recorded.is_none(),
        fields: recorded.map_or_else(|| substitutes(response), sent_fields),
        // -1 means unknown.
        head_bytes: size(&response["headersSize"]).unwrap_or(0),
        lacks_body: lacks_body || status == 304 && body.is_empty(),
        body,
        is_decoded: true,
        is_truncated: incomplete.is_some(),
        incomplete: incomplete.map(str::to_owned),
        received_s: Some(entry.clock)
            .filter(|c| c.doubt.is_none())
            .map(|c| c.at_s),
        ..PageResponse::default()
    }
}

/// Returns the fields whose values a HAR also contains outside its list of fields: Content-Type and
/// Location.
fn substitutes(response: &Json) -> Vec<(String, String)> {
    let media = response["content"]["mimeType"].as_str();
    // Chrome's name of an unknown type.
    let media = media.filter(|media| !media.is_empty() && *media != "x-unknown");
    let fields = [
        ("content-type", media.map(str::to_owned)),
        ("location", har::location(response)),
    ];
    let known = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.collect()
}

/// Returns a size in bytes, or `None` if it is missing or -1, which means unknown.
fn size(json: &Json) -> Option<usize> {
    let bytes = json.as_f64().filter(|bytes| *bytes >= 0.0);
    bytes.map(|bytes| bytes as usize)
}

/// Returns the decoded body of a response, and true if the body or a part of it is missing.
fn body(response: &Json) -> (Vec<u8>, bool) {
    /// The size of a byte order mark, which browsers remove.
    const MARK: usize = 3;
    let content = &response["content"];
    let text = content["text"].as_str();
    let body = match content["encoding"].as_str() {
        Some("base64") => BASE64.decode(text.unwrap_or_default()).unwrap_or_default(),
        _ => text.unwrap_or_default().as_bytes().to_vec(),
    };
    let is_missing = match (text, size(&content["size"])) {
        (_, Some(size)) => body.len() + MARK < size || text.is_none() && size > 0,
        (text, None) => text.is_none(),
    };
    (body, is_missing)
}

/// Restores the header fields as they were sent, because an exporter may have joined `Set-Cookie`
/// fields.
fn sent_fields(fields: Vec<(String, String)>) -> Vec<(String, String)> {
    let split = |(name, value): (String, String)| -> Vec<(String, String)> {
        let name = name.trim().to_ascii_lowercase();
        if name != "set-cookie" {
            return vec![(name, value)];
        }
        let values = value.lines().flat_map(split_set_cookie);
        values
            .map(|value| (name.clone(), value.to_owned()))
            .collect()
    };
    fields.into_iter().flat_map(split).collect()
}

fn resource(answered: &AnsweredEntry) -> Resource {
    let AnsweredEntry {
        url,
        response,
        entry,
    } = answered;
    let mut resource = Resource::new(url, response);
    let json = &entry.json["response"];
    let decoded = size(&json["content"]["size"]).filter(|size| *size > 0);
    let sent = sent_bytes(response, json);
    let was_cached = sent == Some(0) && decoded.is_some();
    let was_smaller = sent.zip(decoded).is_some_and(|(sent, all)| sent < all);
    resource.saved = match (resource.saved, sent) {
        (Some(_), _) if was_cached => Some(Err(wording::FROM_CACHE.into())),
        (Some(_), _) if was_smaller => {
            resource.has_unnamed_coding = true;
            None
        }
        (Some(_), None) if response.lacks_fields => Some(Err(wording::NO_CODING.into())),
        (Some(_), _) if response.lacks_body => Some(Err(wording::NO_BODY.into())),
        (Some(Ok(saved)), Some(sent)) => Some(Ok(saved.min(sent))),
        (saved, _) => saved,
    };
    resource.bytes = sent.ok_or_else(|| wording::NO_SENT_SIZE.into());
    if resource.status == 304 {
        resource.revalidated = Ok(304);
    }
    let host = url.host_str().unwrap_or_default();
    let set_cookies = set_cookies(json, host, entry.clock).fields.into_iter();
    resource.set_cookies = set_cookies.map(|field| field.text).collect();
    resource
}

/// Returns the size of a body as sent, or `None` if the file does not contain it.
fn sent_bytes(response: &PageResponse, json: &Json) -> Option<usize> {
    if matches!(response.status, 204 | 205 | 304) {
        return Some(0);
    }
    let content = &json["content"];
    let has_coding = !codings(response).is_empty();
    // Chrome's size of the whole response. With HTTP/2, the size of the head is unknown.
    let transferred = size(&json["_transferSize"]);
    let decoded = size(&content["size"]);
    let compressed_by = content["compression"].as_f64();
    let compressed_by = compressed_by.filter(|bytes| *bytes > 0.0);
    let compressed = || size(&Json::from(decoded? as f64 - compressed_by?));
    let uncompressed = || {
        let body = (!response.lacks_body).then_some(response.body.len());
        decoded
            .or(body)
            .filter(|_| !has_coding && !response.lacks_fields)
    };
    size(&json["bodySize"])
        .or(transferred.map(|all| all.saturating_sub(response.head_bytes)))
        .or_else(compressed)
        .or_else(uncompressed)
}

/// Returns the redirects before the page, which is the last entry of the chain.
fn redirects(chain: &[AnsweredEntry]) -> Redirects {
    let mut redirects = Redirects::default();
    for pair in chain.windows(2) {
        redirects.count += 1;
        redirects.path.push(redact(pair[1].url));
        redirects.to_https |= pair[0].url.scheme() == "http" && pair[1].url.scheme() == "https";
    }
    let page = chain.last();
    let unfollowed = page.and_then(|page| page.response.redirect_target(page.url));
    let was_visited = |url: &Url| chain.iter().any(|entry| entry.url == url);
    redirects.is_loop = unfollowed.as_ref().is_some_and(was_visited);
    let page_host = page.and_then(|page| page.url.host_str());
    redirects.elsewhere = unfollowed.filter(|to| to.host_str() != page_host);
    redirects
}

/// Describes the server of the page. Returns `None` if the file does not contain the response's fields.
fn server(page: &AnsweredEntry, redirects: &Redirects) -> Option<AuditObject> {
    let AnsweredEntry {
        url,
        response,
        entry,
    } = page;
    if response.lacks_fields {
        return None;
    }
    let mut object = describe_from_response(url, response, redirects);
    // The file shows the protocol and the address that the browser used, but no other protocols and
    // addresses that the server supports.
    let version = &entry.json["response"]["httpVersion"];
    let version = version.as_str().unwrap_or_default();
    if ["h2", "http/2", "http/2.0", "h3", "http/3"].contains(&version.to_ascii_lowercase().as_str())
    {
        object.set("http2", Value::Flag(true));
    }
    let address = entry.json["serverIPAddress"].as_str().unwrap_or_default();
    let families: &[&str] = match address.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(_)) => &["ipv4_address", "ipv4"],
        Ok(IpAddr::V6(_)) => &["ipv6_address", "ipv6"],
        Err(_) => &[],
    };
    for name in families {
        object.set(name, Value::Flag(true));
    }
    if redirects.to_https {
        object.set("to_https", Value::Flag(true));
    }
    Some(object)
}

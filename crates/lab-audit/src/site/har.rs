// SPDX-License-Identifier: Apache-2.0
//! A site as recorded by a browser (HTTP Archive 1.2). Reading it needs no requests.

use super::address::redact;
use super::client::{MAX_BODY, PageResponse};
use super::resource::{Resource, no_response_object};
use super::server::{Redirects, describe_from_response};
use super::visit::Site;
use crate::cookies::cookie::split_set_cookie;
use crate::cookies::input::{Collector, har_set_cookies};
use crate::date::now;
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
type EntryWithResponse<'a> = (Url, PageResponse, &'a Json);

/// The entries of a HAR.
#[derive(Default)]
struct Entries<'a> {
    /// The responses to GET requests over HTTP, which describe files.
    answered: Vec<EntryWithResponse<'a>>,
    /// The GET requests without a response, with the reason.
    failed: Vec<(Url, String)>,
    /// The URLs of other entries, such as POST, OPTIONS (a CORS preflight), WebSocket and `data:`.
    left_out: Vec<Url>,
    /// The number of requests without a response, with any method.
    unanswered: u64,
}

impl<'a> Entries<'a> {
    fn new(entries: &'a [Json]) -> Entries<'a> {
        let mut all = Entries::default();
        for entry in entries {
            let url = entry["request"]["url"].as_str();
            if let Some(url) = url.and_then(|url| Url::parse(url).ok()) {
                all.add(url, entry);
            }
        }
        all
    }

    fn add(&mut self, url: Url, entry: &'a Json) {
        let method = entry["request"]["method"].as_str().unwrap_or("GET");
        let is_get = method.eq_ignore_ascii_case("GET");
        if !matches!(url.scheme(), "http" | "https") {
            return self.left_out.push(url);
        }
        match (status(&entry["response"]), is_get) {
            (Ok(200..), true) => {
                let response = response(&entry["response"]);
                self.answered.push((url, response, entry));
            }
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
    let json: Json = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|e| wording::not_json(&e))?;
    let entries = json["log"]["entries"].as_array();
    let entries = entries.ok_or(wording::NO_HAR)?;
    let examined = Entries::new(&entries[..entries.len().min(MAX_ENTRIES)]);
    let answered = &examined.answered;
    let mut collector = Collector::new().map_err(|e| e.to_string())?;
    if let Err(reason) = collector.text(text) {
        return Err(reason.to_string());
    }
    let redirects = redirects(answered);
    let redirect_count = redirects.count as usize;
    let (url, page, entry) = answered.get(redirect_count).ok_or(wording::NO_RESPONSE)?;
    let entries_after = answered[redirect_count..].iter();
    // A redirect is not a page, even if its target is not in the file.
    let loaded = entries_after.skip(usize::from(page.redirect_target(url).is_some()));
    let is_own = |other: &Url| other.host_str() == url.host_str();
    let (own_entries, other_entries): (Vec<&EntryWithResponse>, Vec<&EntryWithResponse>) =
        loaded.partition(|(other, ..)| is_own(other));
    let own_failed = examined.failed.iter().filter(|(other, _)| is_own(other));
    let failed = own_failed.map(|(url, reason)| no_response_object(url, reason));
    let left_out_urls = examined.left_out.iter();
    let other_urls = other_entries.iter().map(|(url, ..)| url);
    let other_urls =
        other_urls.chain(left_out_urls.filter(|other| other.has_host() && !is_own(other)));
    let mut site = Site {
        cookies: collector.done(),
        resources: own_entries.into_iter().map(resource).collect(),
        objects: server((url, page, entry), &redirects)
            .into_iter()
            .chain(failed)
            .collect(),
        others: other_urls.map(redact).collect(),
        notes: examined.notes(),
        ..Site::default()
    };
    let left_out = entries.len().saturating_sub(MAX_ENTRIES);
    if left_out > 0 {
        let note = format!(
            "{} beyond the first {MAX_ENTRIES}: not examined.",
            counted(left_out as u64, "entry")
        );
        site.notes.push(note);
    }
    site.notes.push(
        "The site was read from a file without requests, so TLS versions, exposed paths, HEAD and further conditional \
         requests were not examined."
            .into(),
    );
    Ok((answered[0].0.clone(), site))
}

/// Returns the status of a response, or the reason why there was no response.
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
fn response(response: &Json) -> PageResponse {
    let headers = response["headers"].as_array().into_iter().flatten();
    let version = response["httpVersion"].as_str().unwrap_or_default();
    let status = status(response).unwrap_or_default();
    let (mut body, lacks_body) = body(response);
    body.truncate(MAX_BODY);
    // The reason why Chrome gave up in the body.
    let incomplete = response["_error"]
        .as_str()
        .filter(|error| !error.is_empty());
    PageResponse {
        version: version.to_ascii_lowercase().replace("http/", ""),
        status,
        fields: headers.filter_map(fields).flatten().collect(),
        // -1 means unknown.
        head_bytes: size(&response["headersSize"]).unwrap_or(0),
        lacks_body: lacks_body || status == 304 && body.is_empty(),
        body,
        is_decoded: true,
        is_truncated: incomplete.is_some(),
        incomplete: incomplete.map(str::to_owned),
        ..PageResponse::default()
    }
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
fn fields(header: &Json) -> Option<Vec<(String, String)>> {
    let name = header["name"].as_str()?.to_ascii_lowercase();
    let value = header["value"].as_str()?;
    let values: Vec<&str> = match name.as_str() {
        "set-cookie" => value.lines().flat_map(split_set_cookie).collect(),
        _ => vec![value],
    };
    let field = |value: &str| (name.clone(), value.to_owned());
    Some(values.into_iter().map(field).collect())
}

fn resource((url, response, entry): &EntryWithResponse) -> Resource {
    let mut resource = Resource::new(url, response);
    let json = &entry["response"];
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
        (Some(_), _) if response.lacks_body => Some(Err(wording::NO_BODY.into())),
        (Some(Ok(saved)), Some(sent)) => Some(Ok(saved.min(sent))),
        (saved, _) => saved,
    };
    resource.bytes = sent.ok_or_else(|| wording::NO_SENT_SIZE.into());
    if resource.status == 304 {
        resource.revalidated = Ok(304);
    }
    let host = url.host_str().unwrap_or_default();
    resource.set_cookies = har_set_cookies(json, host, now());
    resource
}

/// Returns the size of a body as sent, or `None` if the file does not contain it.
fn sent_bytes(response: &PageResponse, json: &Json) -> Option<usize> {
    if matches!(response.status, 204 | 205 | 304) {
        return Some(0);
    }
    let content = &json["content"];
    let has_coding = response.field("content-encoding").is_some();
    // Chrome's size of the whole response. With HTTP/2, the size of the head is unknown.
    let transferred = size(&json["_transferSize"]);
    let decoded = size(&content["size"]);
    let compressed_by = content["compression"].as_f64();
    let compressed_by = compressed_by.filter(|bytes| *bytes > 0.0);
    let compressed = || size(&Json::from(decoded? as f64 - compressed_by?));
    let uncompressed = || {
        let body = (!response.lacks_body).then_some(response.body.len());
        decoded.or(body).filter(|_| !has_coding)
    };
    size(&json["bodySize"])
        .or(transferred.map(|all| all.saturating_sub(response.head_bytes)))
        .or_else(compressed)
        .or_else(uncompressed)
}

/// Returns the redirects before the page.
fn redirects(answered: &[EntryWithResponse]) -> Redirects {
    let mut redirects = Redirects::default();
    let target_of = |(url, response, _): &EntryWithResponse| response.redirect_target(url);
    for pair in answered
        .windows(2)
        .take_while(|pair| target_of(&pair[0]).is_some())
    {
        redirects.count += 1;
        redirects.path.push(redact(&pair[1].0));
        redirects.to_https |= pair[0].0.scheme() == "http" && pair[1].0.scheme() == "https";
        redirects.is_loop |= pair[0].0 == pair[1].0;
    }
    let page = answered.get(redirects.count as usize);
    let unfollowed = page.and_then(|page| Some((page.0.host_str(), target_of(page)?)));
    let elsewhere = unfollowed.filter(|(host, unfollowed)| unfollowed.host_str() != *host);
    redirects.elsewhere = elsewhere.map(|(_, unfollowed)| unfollowed);
    redirects
}

/// Describes the server of the page. Returns `None` if the file does not contain the response's fields.
fn server(
    (url, response, entry): (&Url, &PageResponse, &Json),
    redirects: &Redirects,
) -> Option<AuditObject> {
    if response.fields.is_empty() {
        return None;
    }
    let mut object = describe_from_response(url, response, redirects);
    // The file shows the protocol and the address that the browser used, but no other protocols and
    // addresses that the server supports.
    let version = entry["response"]["httpVersion"]
        .as_str()
        .unwrap_or_default();
    if ["h2", "http/2", "http/2.0", "h3", "http/3"].contains(&version.to_ascii_lowercase().as_str())
    {
        object.set("http2", Value::Flag(true));
    }
    let address = entry["serverIPAddress"].as_str().unwrap_or_default();
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

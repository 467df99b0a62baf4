// SPDX-License-Identifier: Apache-2.0
//! A site as recorded by a browser (HTTP Archive 1.2). Reading it needs no requests.

use super::address::redact;
use super::client::{MAX_BODY, PageResponse};
use super::resource::Resource;
use super::server::{Redirects, describe_from_response};
use super::visit::Site;
use crate::cookies::cookie::split_set_cookie;
use crate::cookies::input::Collector;
use crate::value::{Thing, Value, counted};
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
    let answered: Vec<EntryWithResponse> = entries
        .iter()
        .take(MAX_ENTRIES)
        .filter_map(entry_with_response)
        .collect();
    let mut collector = Collector::new().map_err(|e| e.to_string())?;
    if let Err(reason) = collector.text(text) {
        return Err(reason.to_string());
    }
    let redirects = redirects(&answered);
    let redirect_count = redirects.count as usize;
    let (url, page, entry) = answered.get(redirect_count).ok_or(wording::NO_RESPONSE)?;
    let entries_after = answered[redirect_count..].iter();
    // A redirect is not a page, even if its target is not in the file.
    let loaded = entries_after.skip(usize::from(page.redirect_target(url).is_some()));
    let of_page = |(other, ..): &&EntryWithResponse| other.host_str() == url.host_str();
    let (own_entries, other_entries): (Vec<&EntryWithResponse>, Vec<&EntryWithResponse>) =
        loaded.partition(of_page);
    let mut site = Site {
        cookies: collector.done(),
        resources: own_entries.into_iter().map(resource).collect(),
        things: server((url, page, entry), &redirects).into_iter().collect(),
        others: other_entries.iter().map(|(url, ..)| redact(url)).collect(),
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
        "The site was read from a file without requests, so TLS versions, exposed paths, HEAD and 304 were not examined."
            .into(),
    );
    Ok((answered[0].0.clone(), site))
}

/// Parses the response of an entry. Returns `None` if the entry has no response.
fn entry_with_response(entry: &Json) -> Option<EntryWithResponse<'_>> {
    let url = Url::parse(entry["request"]["url"].as_str()?).ok()?;
    url.host_str()?;
    let response = &entry["response"];
    let status = response["status"].as_u64().filter(|status| *status > 0);
    let headers = response["headers"].as_array().into_iter().flatten();
    let content = &response["content"];
    let text = content["text"].as_str().unwrap_or_default();
    let mut body = match content["encoding"].as_str() {
        Some("base64") => BASE64.decode(text).unwrap_or_default(),
        _ => text.as_bytes().to_vec(),
    };
    body.truncate(MAX_BODY);
    let version = response["httpVersion"].as_str().unwrap_or_default();
    let response = PageResponse {
        version: version.to_ascii_lowercase().replace("http/", ""),
        status: u16::try_from(status?).ok()?,
        fields: headers.filter_map(fields).flatten().collect(),
        // -1 means unknown.
        head_bytes: response["headersSize"].as_u64().unwrap_or(0) as usize,
        body,
        is_decoded: true,
        ..PageResponse::default()
    };
    Some((url, response, entry))
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
    // The transferred size; -1 means unknown.
    let response = &entry["response"];
    let sent_bytes = response["bodySize"]
        .as_u64()
        .filter(|sent_bytes| *sent_bytes > 0);
    resource.bytes = sent_bytes
        .or(response["content"]["size"].as_u64())
        .map_or(resource.bytes, |n| n as usize);
    resource
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
) -> Option<Thing> {
    if response.fields.is_empty() {
        return None;
    }
    let mut thing = describe_from_response(url, response, redirects);
    // The file shows the protocol and the address that the browser used, but no other protocols and
    // addresses that the server supports.
    let version = entry["response"]["httpVersion"]
        .as_str()
        .unwrap_or_default();
    if ["h2", "http/2", "http/2.0", "h3", "http/3"].contains(&version.to_ascii_lowercase().as_str())
    {
        thing.set("http2", Value::Flag(true));
    }
    let address = entry["serverIPAddress"].as_str().unwrap_or_default();
    let families: &[&str] = match address.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(_)) => &["ipv4_address", "ipv4"],
        Ok(IpAddr::V6(_)) => &["ipv6_address", "ipv6"],
        Err(_) => &[],
    };
    for name in families {
        thing.set(name, Value::Flag(true));
    }
    if redirects.to_https {
        thing.set("to_https", Value::Flag(true));
    }
    Some(thing)
}

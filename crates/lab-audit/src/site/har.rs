// SPDX-License-Identifier: Apache-2.0
//! A site as a browser saved it (HTTP Archive 1.2): its resources, without asking anybody.

use super::client::{MOST_BODY, Response};
use super::server::{Redirects, recorded};
use super::{Resource, Site};
use crate::cookies::input::Collector;
use crate::value::{Thing, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value as Json;
use url::Url;

/// More entries are not looked at.
const MOST: usize = 2000;

/// The site in a HAR, and its first URL.
///
/// # Errors
/// It is no HAR, or holds no answer.
pub fn of_har(text: &str) -> Result<(Url, Site), String> {
    let json: Json = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|e| format!("it is not JSON: {e}"))?;
    let entries = json["log"]["entries"].as_array();
    let entries = entries.ok_or("it is JSON without log.entries, so no HAR")?;
    let answers: Vec<(Url, Response, &Json)> =
        entries.iter().take(MOST).filter_map(answered).collect();
    let mut collector = Collector::new().map_err(|e| e.to_string())?;
    if let Err(why) = collector.text(text) {
        return Err(why.to_string());
    }
    let mut site = Site {
        cookies: collector.done(),
        resources: answers.iter().map(resource).collect(),
        things: server(&answers).into_iter().collect(),
        ..Site::default()
    };
    let first = site.resources.first().map(|resource| resource.url.clone());
    let first = first.ok_or("it holds no answer")?;
    let host = first.host_str().map(str::to_owned);
    let of_others = |resource: &Resource| resource.url.host_str() != host.as_deref();
    let (others, own): (Vec<Resource>, Vec<Resource>) =
        site.resources.into_iter().partition(of_others);
    site.others = others
        .iter()
        .map(|resource| resource.url.to_string())
        .collect();
    site.resources = own;
    site.notes.push(
        "It was read from a file: nothing was asked, so versions of TLS, exposed paths, HEAD and 304 were not looked at."
            .into(),
    );
    Ok((first, site))
}

/// The answer of an entry that has one.
fn answered(entry: &Json) -> Option<(Url, Response, &Json)> {
    let url = Url::parse(entry["request"]["url"].as_str()?).ok()?;
    url.host_str()?;
    let response = &entry["response"];
    let status = response["status"].as_u64().filter(|status| *status > 0);
    let headers = response["headers"].as_array().into_iter().flatten();
    let field = |header: &Json| {
        Some((
            header["name"].as_str()?.to_ascii_lowercase(),
            header["value"].as_str()?.to_owned(),
        ))
    };
    let content = &response["content"];
    let text = content["text"].as_str().unwrap_or_default();
    let mut body = match content["encoding"].as_str() {
        Some("base64") => BASE64.decode(text).unwrap_or_default(),
        _ => text.as_bytes().to_vec(),
    };
    body.truncate(MOST_BODY);
    let version = response["httpVersion"].as_str().unwrap_or_default();
    let answer = Response {
        version: version.to_ascii_lowercase().replace("http/", ""),
        status: u16::try_from(status?).ok()?,
        fields: headers.filter_map(field).collect(),
        // -1: not known.
        head_bytes: response["headersSize"].as_u64().unwrap_or(0) as usize,
        body,
        ..Response::default()
    };
    Some((url, answer, entry))
}

fn resource((url, answer, entry): &(Url, Response, &Json)) -> Resource {
    let mut resource = Resource::new(url, answer);
    // The size as it was sent; -1: not known.
    let response = &entry["response"];
    let sent = response["bodySize"].as_u64().filter(|sent| *sent > 0);
    resource.bytes = sent
        .or(response["content"]["size"].as_u64())
        .map_or(resource.bytes, |n| n as usize);
    resource
}

/// The server of the first answer behind redirects; `None`: its fields were left out of the file.
fn server(answers: &[(Url, Response, &Json)]) -> Option<Thing> {
    let mut redirects = Redirects::default();
    let is_redirect = |(_, answer, _): &&(Url, Response, &Json)| {
        matches!(answer.status, 301 | 302 | 303 | 307 | 308)
    };
    for pair in answers.windows(2).take_while(|pair| is_redirect(&&pair[0])) {
        redirects.count += 1;
        redirects.path.push(pair[1].0.to_string());
        redirects.to_https |= pair[0].0.scheme() == "http" && pair[1].0.scheme() == "https";
        redirects.looped |= pair[0].0 == pair[1].0;
    }
    let (url, answer, entry) = answers.get(redirects.count as usize)?;
    if answer.fields.is_empty() {
        return None;
    }
    let to_https = redirects.to_https;
    let mut thing = recorded(url, answer, &redirects);
    // What the browser spoke, and where to: only that it was so is known, not that it could not be.
    let version = entry["response"]["httpVersion"]
        .as_str()
        .unwrap_or_default();
    if ["h2", "http/2", "http/2.0", "h3", "http/3"].contains(&version.to_ascii_lowercase().as_str())
    {
        thing.set("http2", Value::Flag(true));
    }
    let address = entry["serverIPAddress"].as_str().unwrap_or_default();
    if address.contains(':') {
        thing.set("ipv6_address", Value::Flag(true));
        thing.set("ipv6", Value::Flag(true));
    }
    if url.scheme() == "https" || to_https {
        thing.set("to_https", Value::Flag(true));
    }
    Some(thing)
}

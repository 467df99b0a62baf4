// SPDX-License-Identifier: Apache-2.0
//! A site as a browser saved it (HTTP Archive 1.2): its resources, without asking anybody.

use super::client::{Answer, MOST_BODY};
use super::{Resource, Site};
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
    let mut site = Site {
        resources: entries.iter().take(MOST).filter_map(resource).collect(),
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
        "It was read from a file: nothing was asked, so the server and 304 were not looked at."
            .into(),
    );
    Ok((first, site))
}

/// An entry that was answered.
fn resource(entry: &Json) -> Option<Resource> {
    let url = Url::parse(entry["request"]["url"].as_str()?).ok()?;
    url.host_str()?;
    let response = &entry["response"];
    let status = response["status"]
        .as_u64()
        .and_then(|status| u16::try_from(status).ok())?;
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
    let answer = Answer {
        status,
        fields: headers.filter_map(field).collect(),
        body,
        ..Answer::default()
    };
    let mut resource = Resource::new(&url, &answer);
    // The size as it was sent; -1: not known.
    let sent = response["bodySize"].as_u64().filter(|sent| *sent > 0);
    resource.bytes = sent
        .or(content["size"].as_u64())
        .map_or(resource.bytes, |n| n as usize);
    (status > 0).then_some(resource)
}

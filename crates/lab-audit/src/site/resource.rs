// SPDX-License-Identifier: Apache-2.0
//! The page, or one of the files that it loads.

use super::address;
use super::client::{MAX_BODY, PageResponse};
use super::served::served_by;
use crate::date::unix_seconds;
use crate::value::{AuditObject, Class, Value};
use crate::wording;
use flate2::Compression;
use flate2::read::GzEncoder;
use lab_load::content_coding::{ContentCoding, DecodedBody};
use std::io::Read;
use url::{Position, Url};

pub const RESOURCE: Class = Class {
    name: "resource",
    none: "No resource was examined.",
    values: &[
        (
            "served_by",
            "origin of the response, as far as its fields show",
        ),
        ("status", "status code"),
        (
            "outcome",
            "served, redirect, redirect to itself, redirect without a target, \
            304 without a condition, missing, refused, failed, or unusual",
        ),
        ("ok", "whether the file exists"),
        ("readable", "whether the response is readable HTTP/1.1"),
        (
            "folded",
            "whether a header field continues over multiple lines",
        ),
        ("unreadable", "why the response is not readable"),
        ("leads_to", "target of a redirect"),
        (
            "page",
            "whether the resource is the page itself or another HTML document",
        ),
        ("type", "media type"),
        ("typed", "whether there is a media type"),
        ("charset", "whether text specifies its encoding"),
        ("encoding", "content coding"),
        (
            "decodable",
            "whether the body has the format that Content-Encoding names",
        ),
        ("compressible", "whether compression is worth trying"),
        ("bytes", "bytes of the body as sent"),
        (
            "incomplete",
            "why the body is incomplete; no if it is complete",
        ),
        ("received", "bytes of an incomplete body"),
        ("saved", "bytes that gzip would save"),
        (
            "varies",
            "whether a compressed response has Vary: Accept-Encoding",
        ),
        ("cache", "Cache-Control"),
        ("lifetime", "lifetime in caches"),
        ("no_store", "whether caching is forbidden"),
        ("cacheable", "whether a cache lifetime is specified"),
        ("validator", "whether there is an ETag or a Last-Modified"),
        ("revalidation", "status of a conditional request"),
        ("versioned", "whether the name changes with the content"),
        ("sets_cookies", "number of cookies that the response sets"),
    ],
};

/// The meaning of a response's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file was sent, or the browser used its cached copy (304).
    Served,
    /// A redirect to another URL.
    Redirect,
    /// A redirect to the same URL.
    RedirectToItself,
    /// A redirect without a Location that browsers can follow.
    RedirectWithoutTarget,
    /// A 304, although the request had no condition.
    Unconditional304,
    /// The file does not exist.
    Missing,
    /// The server refused the request, so the file may exist.
    Refused,
    /// The server failed.
    Failed,
    /// A status that no browser can use.
    Unusual,
}

impl Outcome {
    /// Determines the outcome of a GET request. A browser that records a 304 has a cached copy.
    fn of_response(url: &Url, response: &PageResponse) -> Outcome {
        match (response.status, response.redirect_target(url)) {
            (200..=299, _) => Outcome::Served,
            (304, _) if response.is_decoded => Outcome::Served,
            (304, _) => Outcome::Unconditional304,
            (_, Some(to)) if is_same(&to, url) => Outcome::RedirectToItself,
            (_, Some(_)) => Outcome::Redirect,
            (300..=399, None) => Outcome::RedirectWithoutTarget,
            (404 | 410, _) => Outcome::Missing,
            (400..=499, _) => Outcome::Refused,
            (500..=599, _) => Outcome::Failed,
            _ => Outcome::Unusual,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Outcome::Served => "served",
            Outcome::Redirect => "redirect",
            Outcome::RedirectToItself => "redirect to itself",
            Outcome::RedirectWithoutTarget => "redirect without a target",
            Outcome::Unconditional304 => "304 without a condition",
            Outcome::Missing => "missing",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
            Outcome::Unusual => "unusual",
        }
    }
}

/// The page or a file, as described by its response.
pub struct Resource {
    pub url: Url,
    pub status: u16,
    pub outcome: Outcome,
    /// The HTTP version. Empty if unknown.
    pub version: String,
    pub served_by: String,
    pub media: String,
    pub encoding: String,
    /// The size of the body as sent, or the reason it is unknown, as a sentence.
    pub bytes: Result<usize, String>,
    /// The number of bytes that gzip would save, or the reason it is unknown, as a sentence.
    /// `None` if the file is already compressed, is not text, or is missing.
    pub saved: Option<Result<usize, String>>,
    /// True if the body was sent compressed, although the recorded response has no Content-Encoding.
    pub has_unnamed_coding: bool,
    /// True if the body has the format that Content-Encoding names. `None` if unknown.
    is_decodable: Option<bool>,
    /// True if the header fields are unknown.
    lacks_fields: bool,
    /// `Ok` if the body is complete, otherwise the reason it is incomplete. `None` if the end of
    /// the body was not examined.
    pub completeness: Option<Result<(), String>>,
    /// The Content-Length of the response.
    length: Option<usize>,
    pub cache: String,
    /// The value of the `Expires` field. Empty if missing.
    pub expires: String,
    /// The value of the `ETag` field. Empty if missing.
    pub etag: String,
    /// The value of the `Last-Modified` field. Empty if missing.
    pub last_modified: String,
    /// The values of the `Vary` fields, separated by commas. Empty if missing.
    pub vary: String,
    /// The target of the redirect, or `None` if the response is not a redirect.
    pub leads_to: Option<Url>,
    /// The reason the response cannot be read, or `None` if it can be read.
    pub malformed: Option<String>,
    /// True if a header field continues over multiple lines (obs-fold).
    pub is_folded: bool,
    /// The status of the response to a conditional request, or the reason no such request was
    /// sent.
    pub revalidated: Result<u16, String>,
    pub set_cookies: Vec<String>,
    has_charset: bool,
    varies_by_encoding: bool,
    /// The freshness lifetime in caches, in seconds, or `None` if not specified.
    pub lifetime_s: Option<f64>,
}

impl Resource {
    /// Describes a response.
    pub fn new(url: &Url, response: &PageResponse) -> Resource {
        let content_type = response.field("content-type").unwrap_or_default();
        let media = content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let encoding = codings(response).join(", ");
        let outcome = Outcome::of_response(url, response);
        let is_plain_text = outcome == Outcome::Served
            && response.status != 304
            && encoding.is_empty()
            && is_compressible(&media);
        let saved = is_plain_text.then(|| Ok(gzip_savings(&response.body)));
        let length = response.field("content-length");
        let length = length.and_then(|length| length.trim().parse().ok());
        let is_cut = response.is_truncated && response.incomplete.is_none();
        let too_long = || "The file is longer than 4 MiB, and has no Content-Length.".to_owned();
        let bytes = match is_cut {
            true => length.ok_or_else(too_long),
            false => Ok(response.body.len()),
        };
        let field = |name: &str| response.field(name).unwrap_or_default().to_owned();
        let vary = response.all("vary").collect::<Vec<_>>().join(", ");
        Resource {
            url: url.clone(),
            status: response.status,
            version: response.version.clone(),
            served_by: served_by(response),
            expires: field("expires"),
            etag: field("etag"),
            last_modified: field("last-modified"),
            has_charset: content_type.to_ascii_lowercase().contains("charset="),
            media,
            encoding,
            outcome,
            bytes,
            saved,
            has_unnamed_coding: false,
            is_decodable: is_decodable(response),
            lacks_fields: response.lacks_fields,
            completeness: match &response.incomplete {
                Some(reason) => Some(Err(reason.clone())),
                None if response.is_decoded => None,
                None => Some(Ok(())),
            },
            length,
            cache: response.all("cache-control").collect::<Vec<_>>().join(", "),
            revalidated: Err("There was no conditional request".into()),
            set_cookies: response.all("set-cookie").map(str::to_owned).collect(),
            varies_by_encoding: vary.contains('*')
                || vary.to_ascii_lowercase().contains("accept-encoding"),
            vary,
            leads_to: response.redirect_target(url),
            malformed: response.malformed.clone(),
            is_folded: response.is_folded,
            lifetime_s: lifetime(response),
        }
    }

    /// Returns the name for findings and tables.
    pub fn name(&self) -> String {
        address::name(&self.url)
    }

    /// Describes the resource as an object that rules judge.
    pub fn object(&self) -> AuditObject {
        let mut object = AuditObject::new("resource", self.name());
        object.set("readable", Value::Flag(self.malformed.is_none()));
        object.set("folded", Value::Flag(self.is_folded));
        if let Some(reason) = &self.malformed {
            object.set("unreadable", Value::word(reason));
            return object;
        }
        let served_by = match self.lacks_fields {
            true => Value::Unknown(wording::NO_FIELDS.into()),
            false => Value::word(&self.served_by),
        };
        object.set("served_by", served_by);
        object.set("status", Value::count(self.status.into(), ""));
        object.set("outcome", Value::word(self.outcome.name()));
        let target = self.leads_to.as_ref().map(address::redact);
        let is_redirect = target.is_some();
        object.set("leads_to", Value::Word(target.unwrap_or("nowhere".into())));
        // Browsers ignore all other fields of a redirect.
        if is_redirect {
            return object;
        }
        object.set("ok", self.exists());
        let bytes = self.bytes.clone().map(|n| n as u64);
        object.set_result("bytes", bytes, Value::bytes);
        // An empty body needs no type.
        if !(self.media.is_empty() && self.bytes == Ok(0)) {
            object.set("typed", Value::Flag(!self.media.is_empty()));
            object.set("type", Value::word(&self.media));
            if self.lacks_fields && self.media.is_empty() {
                object.set_unknown(&["typed", "type"], wording::NO_FIELDS);
            }
        }
        // A 204 or 205 is the response to a call of a script, not a file.
        if self.outcome == Outcome::Served && !matches!(self.status, 204 | 205) {
            self.set_completeness(&mut object);
            self.set_content(&mut object);
            self.set_caching(&mut object);
            if self.lacks_fields {
                self.forget_fields(&mut object);
            }
        }
        object
    }

    /// Returns a flag that is true if the file exists, as far as the response shows.
    fn exists(&self) -> Value {
        match self.outcome {
            Outcome::Served => Value::Flag(true),
            Outcome::Refused => {
                let status = self.status;
                Value::Unknown(format!("The server refused the request: status {status}."))
            }
            _ => Value::Flag(false),
        }
    }

    /// Sets the values that header fields show to unknown.
    fn forget_fields(&self, object: &mut AuditObject) {
        const NAMES: [&str; 7] = [
            "encoding",
            "cache",
            "no_store",
            "cacheable",
            "lifetime",
            "validator",
            "revalidation",
        ];
        object.set_unknown(&NAMES, wording::NO_FIELDS);
        if object.values.contains_key("charset") && !self.has_charset {
            object.set_unknown(&["charset"], wording::NO_FIELDS);
        }
        if self.media.is_empty() {
            object.set_unknown(&["compressible", "page"], wording::NO_FIELDS);
        }
        if self.set_cookies.is_empty() {
            object.set_unknown(&["sets_cookies"], wording::NO_FIELDS);
        }
    }

    fn set_completeness(&self, object: &mut AuditObject) {
        let incomplete = match &self.completeness {
            None => return,
            Some(Ok(())) => "no",
            Some(Err(reason)) => reason,
        };
        object.set("incomplete", Value::word(incomplete));
        let received = |bytes| match self.length {
            Some(length) => format!("{bytes} of {length} bytes"),
            None => format!("{bytes} bytes"),
        };
        let received = self.bytes.clone().map(received);
        object.set_result("received", received, Value::Word);
    }

    /// Sets the media type, the encoding and the bytes that compression would save.
    fn set_content(&self, object: &mut AuditObject) {
        object.set("page", Value::Flag(self.media.contains("html")));
        if self.media.starts_with("text/") {
            object.set("charset", Value::Flag(self.has_charset));
        }
        let coding = match self.encoding.as_str() {
            "" if self.has_unnamed_coding => "not recorded",
            "" => "none",
            coding => coding,
        };
        object.set("encoding", Value::word(coding));
        object.set_some("decodable", self.is_decodable.map(Value::Flag));
        object.set("compressible", Value::Flag(is_compressible(&self.media)));
        let saved = self.saved.clone().map(|saved| saved.map(|n| n as u64));
        let saved = saved.map(|saved| Value::from_result(saved, Value::bytes));
        object.set_some("saved", saved);
        if !self.encoding.is_empty() {
            object.set("varies", Value::Flag(self.varies_by_encoding));
        }
        object.set("versioned", Value::Flag(is_versioned(&self.url)));
        let cookies = self.set_cookies.len() as u64;
        object.set("sets_cookies", Value::count(cookies, "cookies"));
    }

    /// Sets the caching directives of the response.
    fn set_caching(&self, object: &mut AuditObject) {
        let has = |word: &str| self.cache.to_ascii_lowercase().contains(word);
        object.set(
            "cache",
            Value::word(if self.cache.is_empty() {
                "not specified"
            } else {
                &self.cache
            }),
        );
        object.set("no_store", Value::Flag(has("no-store")));
        object.set(
            "cacheable",
            Value::Flag(self.lifetime_s.is_some() || has("no-cache") || has("no-store")),
        );
        object.set("lifetime", Value::ns(self.lifetime_s.unwrap_or(0.0) * 1e9));
        let is_304 = self.status == 304;
        if is_304 && self.cache.is_empty() && self.lifetime_s.is_none() {
            let reason = "The recorded 304 response does not include the caching header fields.";
            object.set_unknown(&["cacheable", "lifetime"], reason);
        }
        // The browser of a 304 has sent a validator.
        let validator = is_304 || !(self.etag.is_empty() && self.last_modified.is_empty());
        object.set("validator", Value::Flag(validator));
        if validator {
            object.set("revalidation", self.revalidation());
        }
    }

    /// Returns the status of the response to the conditional request: 304, or 200 if the server
    /// sent the body again.
    fn revalidation(&self) -> Value {
        match &self.revalidated {
            Ok(status @ (200 | 304)) => Value::count((*status).into(), ""),
            Ok(other) => Value::Unknown(format!("The status of a conditional request is {other}.")),
            Err(reason) => Value::Unknown(format!("{reason}.")),
        }
    }
}

/// Returns true if two URLs differ at most in their fragments, which are not sent.
fn is_same(one: &Url, other: &Url) -> bool {
    one[..Position::AfterQuery] == other[..Position::AfterQuery]
}

/// Describes a file whose request got no response.
pub fn no_response_object(url: &Url, reason: &str) -> AuditObject {
    let mut object = AuditObject::new("resource", address::name(url));
    object.set(
        "ok",
        Value::Unknown(format!("There was no response: {reason}.")),
    );
    object
}

/// Returns the content codings of a response in lowercase, in the order in which they were applied.
///
/// Other words in Content-Encoding, such as `identity`, `none` or `utf-8`, are not codings, so the
/// body was sent as it is (RFC 9110, 8.4.1).
pub fn codings(response: &PageResponse) -> Vec<String> {
    const CODINGS: [&str; 9] = [
        "gzip",
        "x-gzip",
        "br",
        "zstd",
        "deflate",
        "compress",
        "x-compress",
        "dcb",
        "dcz",
    ];
    let names = response.all("content-encoding").flat_map(|v| v.split(','));
    let names = names.map(|name| name.trim().to_ascii_lowercase());
    names
        .filter(|name| CODINGS.contains(&name.as_str()))
        .collect()
}

/// Decodes the body of a response.
///
/// # Errors
///
/// Returns a message if a coding is unknown, or if the body does not match it.
fn decoded(response: &PageResponse) -> Result<DecodedBody, String> {
    let mut body = DecodedBody {
        bytes: response.body.clone(),
        is_complete: true,
    };
    for coding in codings(response).iter().rev() {
        let decoded = ContentCoding::parse(coding.as_bytes()).decode(&body.bytes, MAX_BODY as u64);
        let decoded = decoded.ok_or_else(|| format!("unknown encoding `{coding}`"))?;
        // A truncated body is decoded as far as possible.
        if !decoded.is_complete && decoded.bytes.is_empty() && !body.bytes.is_empty() {
            return Err(format!("the body cannot be decoded as `{coding}`"));
        }
        body = DecodedBody {
            is_complete: body.is_complete && decoded.is_complete,
            ..decoded
        };
    }
    Ok(body)
}

/// Returns true if a body has the format that Content-Encoding names, or `None` if it has no coding
/// or a coding that cannot be checked.
fn is_decodable(response: &PageResponse) -> Option<bool> {
    let is_checked = !response.is_decoded && !response.lacks_body && !response.body.is_empty();
    let codings = codings(response);
    let is_known =
        |coding: &String| ContentCoding::parse(coding.as_bytes()) != ContentCoding::Unknown;
    if !is_checked || codings.is_empty() || !codings.iter().all(is_known) {
        return None;
    }
    let is_cut = response.is_truncated || response.body.len() >= MAX_BODY;
    let is_whole = |body: &DecodedBody| body.is_complete || body.bytes.len() >= MAX_BODY;
    Some(decoded(response).is_ok_and(|body| is_cut || is_whole(&body)))
}

/// Decodes the body of a response into text.
///
/// # Errors
///
/// Returns a message if there is no body, if the content encoding is unknown, or if the body does not
/// match it.
pub fn text(response: &PageResponse) -> Result<String, String> {
    if response.lacks_body {
        return Err("the HAR file does not contain its body".into());
    }
    let decoded = match response.is_decoded {
        true => response.body.clone(),
        false => decoded(response)?.bytes,
    };
    Ok(characters(&decoded, response))
}

/// Decodes UTF-16 by its byte order mark or by the media type (WHATWG, *Encoding*, 6.1), and any
/// other encoding as UTF-8, because only ASCII characters matter here.
fn characters(body: &[u8], response: &PageResponse) -> String {
    let media = response.field("content-type").unwrap_or_default();
    let media = media.to_ascii_lowercase().replace(['"', ' '], "");
    let decode = |unit: fn([u8; 2]) -> u16| {
        let units = body.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let units: Vec<u16> = units.collect();
        String::from_utf16_lossy(&units)
    };
    // A browser that saved a HAR may already have decoded the text.
    let is_utf16 = media.contains("charset=utf-16") && body.contains(&0);
    match body {
        [0xff, 0xfe, ..] => decode(u16::from_le_bytes),
        [0xfe, 0xff, ..] => decode(u16::from_be_bytes),
        _ if is_utf16 && media.contains("utf-16be") => decode(u16::from_be_bytes),
        _ if is_utf16 => decode(u16::from_le_bytes),
        _ => String::from_utf8_lossy(body).into_owned(),
    }
}

/// Returns true for a response with a media type of HTML.
pub fn is_html(response: &PageResponse) -> bool {
    let media = response.field("content-type").unwrap_or_default();
    media.to_ascii_lowercase().contains("html")
}

fn is_compressible(media: &str) -> bool {
    const WORTH: [&str; 10] = [
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "application/json",
        "application/x-ndjson",
        "application/xml",
        "application/wasm",
        "application/vnd.ms-fontobject",
        "font/ttf",
        "font/otf",
    ];
    let has_suffix = media.ends_with("+xml") || media.ends_with("+json");
    media.starts_with("text/") || has_suffix || WORTH.contains(&media)
}

/// Returns the number of bytes that gzip saves at its default level.
fn gzip_savings(body: &[u8]) -> usize {
    let mut packed = Vec::new();
    let result = GzEncoder::new(body, Compression::default()).read_to_end(&mut packed);
    result.map_or(0, |_| body.len().saturating_sub(packed.len()))
}

/// Parses delta-seconds (RFC 9111, 1.2.2), limited to 2^31.
pub fn seconds(text: &str) -> Option<f64> {
    let seconds = text.parse::<f64>().ok()?;
    (seconds >= 0.0).then(|| seconds.min(2_147_483_648.0))
}

/// Returns the freshness lifetime in caches, in seconds (RFC 9111, 4.2.1), or `None` if not specified.
fn lifetime(response: &PageResponse) -> Option<f64> {
    let directives = response
        .all("cache-control")
        .flat_map(|value| value.split(','));
    let age = |directive: &str| {
        let directive = directive.trim().to_ascii_lowercase();
        seconds(directive.strip_prefix("max-age=")?.trim_matches('"'))
    };
    let max_age = directives.filter_map(age).next();
    max_age.or_else(|| {
        let expires = unix_seconds(response.field("expires")?).unwrap_or(0.0);
        let date = response.field("date").and_then(unix_seconds);
        // A recipient of a response without Date adds the time of receipt (RFC 9110, 6.6.1).
        let date = date.or(response.received_s)?;
        Some((expires - date).max(0.0))
    })
}

/// Returns true if the URL identifies a version: its name contains eight or more hexadecimal digits, or its query has
/// `v=`.
fn is_versioned(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    let has_hash = name.split(['.', '-', '_']).any(|part| {
        part.len() >= 8
            && part.chars().all(|c| c.is_ascii_hexdigit())
            && part.chars().any(|c| c.is_ascii_digit())
    });
    has_hash
        || url
            .query()
            .is_some_and(|query| query.starts_with("v=") || query.contains("&v="))
}

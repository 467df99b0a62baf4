// SPDX-License-Identifier: Apache-2.0
//! Lists of cookies in JSON, from the responses in a HAR or from cookie editors.

use super::cookie::{Attributes, Cookie, Hasher, split_set_cookie};
use crate::date::{Clock, ClockDoubt, epoch_seconds, recorded_time, unix_seconds};
use crate::har;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// The `Set-Cookie` fields of a response in a HAR.
#[derive(Default)]
pub struct HarSetCookies {
    /// The fields in the response, followed by a field for each cookie that only the list contains.
    pub fields: Vec<SetCookieField>,
    /// The number of listed cookies that could not be read, or contradict the fields.
    pub unread: usize,
}

/// A `Set-Cookie` field, with the attributes of its cookie that are unknown or uncertain.
pub struct SetCookieField {
    /// The value of the field, such as `a=1; Path=/`.
    pub text: String,
    is_same_site_unknown: bool,
    expiry_doubt: Option<ClockDoubt>,
}

impl SetCookieField {
    fn sent(text: &str) -> SetCookieField {
        SetCookieField {
            text: text.to_owned(),
            is_same_site_unknown: false,
            expiry_doubt: None,
        }
    }

    /// Marks the attributes of the parsed cookie that are unknown or uncertain.
    pub fn complete(&self, cookie: &mut Cookie) {
        let Some(attributes) = &mut cookie.attributes else {
            return;
        };
        attributes.is_same_site_unknown = self.is_same_site_unknown;
        if self.expiry_doubt.is_some() {
            attributes.lifetime_doubt = self.expiry_doubt;
        }
    }
}

/// Returns the `Set-Cookie` fields of a host's response in a HAR. `clock` is the time at which the
/// browser recorded the request.
///
/// Some exporters leave out the fields, join them, or keep only one of them, so the response's list
/// of cookies completes them.
pub fn set_cookies(response: &Json, host: &str, clock: Clock) -> HarSetCookies {
    let list = response["cookies"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let sent = har::values(response, "set-cookie");
    let sent: Vec<&str> = sent
        .iter()
        .flat_map(|field| split_set_cookie(field))
        .collect();
    let named: Vec<(&Json, &str)> = list
        .iter()
        .filter_map(|cookie| Some((cookie, cookie["name"].as_str()?)))
        .filter(|(cookie, _)| cookie["value"].is_string())
        .collect();
    let mut read = HarSetCookies {
        unread: list.len() - named.len(),
        ..HarSetCookies::default()
    };
    let names: Vec<&str> = named.iter().map(|(_, name)| *name).collect();
    let sent = split_at_names(&sent, &names);
    read.fields = sent
        .iter()
        .map(|field| SetCookieField::sent(field))
        .collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for field in &sent {
        *counts.entry(plain(name_of(field))).or_default() += 1;
    }
    let agree = sent.is_empty() || names.iter().any(|name| counts.contains_key(&plain(name)));
    for (cookie, name) in named {
        match counts.get_mut(&plain(name)).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None if agree => read.fields.push(listed_field(cookie, name, host, clock)),
            // The list is about other cookies than the fields.
            None => read.unread += 1,
        }
    }
    read
}

/// Splits fields that were joined with a comma at the names in the list of cookies, which shows
/// that a comma does not belong to a value.
fn split_at_names(fields: &[&str], names: &[&str]) -> Vec<String> {
    let mut expected: HashMap<&str, usize> = HashMap::new();
    for name in names {
        *expected.entry(name).or_default() += 1;
    }
    for field in fields {
        if let Some(count) = expected.get_mut(name_of(field)) {
            *count = count.saturating_sub(1);
        }
    }
    let mut parts = Vec::new();
    for field in fields {
        let mut begin = 0;
        for (comma, _) in field.match_indices(',') {
            let rest = field[comma + 1..].trim_start();
            let name = rest.split_once('=').map_or("", |(name, _)| name.trim_end());
            let count = expected.get_mut(name).filter(|count| **count > 0);
            if let Some(count) = count {
                *count -= 1;
                parts.push(field[begin..comma].trim().to_owned());
                begin = comma + 1;
            }
        }
        parts.push(field[begin..].trim().to_owned());
    }
    parts
}

/// Returns the name of the cookie that a `Set-Cookie` field sets.
fn name_of(field: &str) -> &str {
    let pair = field.split(';').next().unwrap_or_default();
    pair.split_once('=').map_or("", |(name, _)| name.trim())
}

/// Returns a name without percent-encoding, which some exporters remove in the list.
fn plain(name: &str) -> String {
    let pair = format!("k={}", name.replace('+', "%2B"));
    let mut decoded = url::form_urlencoded::parse(pair.as_bytes());
    decoded
        .next()
        .map_or(String::new(), |(_, name)| name.into_owned())
}

/// The expiry of a cookie in a list.
enum Expiry {
    /// The cookie lives until the end of the browser session.
    Session,
    /// The expiry in seconds since 1970.
    At(f64),
    /// The expiry in seconds since 1970, read as UTC, because it has no zone.
    WithoutZone(f64),
    /// The expiry cannot be read.
    Unread,
}

/// Reads the expiry of a cookie in a list: a date, or seconds or milliseconds since 1970. Drivers
/// of browsers write -1 for a session cookie.
fn expiry(value: &Json) -> Expiry {
    let text = value.as_str().map(str::trim);
    let number = value.as_f64().or_else(|| text?.parse().ok());
    if let Some(number) = number {
        return match epoch_seconds(number) {
            Some(at_s) => Expiry::At(at_s),
            None if number < 0.0 => Expiry::Session,
            None => Expiry::Unread,
        };
    }
    let is_session = |text: &str| text.is_empty() || text.eq_ignore_ascii_case("session");
    match (value, text) {
        (Json::Null, _) => Expiry::Session,
        (_, Some(text)) if is_session(text) => Expiry::Session,
        (_, Some(text)) => match recorded_time(&json!(text)).map(|time| time.clock) {
            Some(clock) if clock.doubt.is_none() => Expiry::At(clock.at_s.floor()),
            Some(clock) => Expiry::WithoutZone(clock.at_s.floor()),
            None => crate::date::iso_seconds(text)
                .or_else(|| cookie_date(text))
                .map_or(Expiry::Unread, Expiry::At),
        },
        _ => Expiry::Unread,
    }
}

/// Parses a date with the name of a month, whose order is clear.
fn cookie_date(text: &str) -> Option<f64> {
    let has_month = text.bytes().filter(u8::is_ascii_alphabetic).count() >= 3;
    unix_seconds(text).filter(|_| has_month)
}

/// Reads a flag, which some exporters write as a number or a word.
fn flag(value: &Json) -> bool {
    let is_true = |text: &str| text.eq_ignore_ascii_case("true") || text == "1";
    value.as_bool().unwrap_or(false)
        || value.as_f64() == Some(1.0)
        || value.as_str().is_some_and(is_true)
}

/// Returns the `SameSite` of a listed cookie, spelled as in a `Set-Cookie` field. Empty if the
/// cookie has none.
fn same_site(cookie: &Json) -> &str {
    let text = cookie["sameSite"].as_str().unwrap_or_default();
    match text.to_ascii_lowercase().as_str() {
        "no_restriction" => "None",
        "unspecified" => "",
        _ => text,
    }
}

/// Formats a cookie in the list of a HAR as a `Set-Cookie` field.
///
/// A list may name the host of a cookie that was set without `Domain`.
fn listed_field(cookie: &Json, name: &str, host: &str, clock: Clock) -> SetCookieField {
    let text = |name: &str| cookie[name].as_str().filter(|text| !text.is_empty());
    let mut field = format!("{name}={}", cookie["value"].as_str().unwrap_or_default());
    let domain = text("domain").filter(|domain| !domain.eq_ignore_ascii_case(host));
    let same_site = Some(same_site(cookie)).filter(|text| !text.is_empty());
    let attributes = [
        ("Domain", domain),
        ("Path", text("path")),
        ("SameSite", same_site),
    ];
    for (name, value) in attributes {
        field.extend(value.map(|value| format!("; {name}={value}")));
    }
    let max_age = cookie["maxAge"].as_f64().map(f64::round);
    let (lifetime_s, expiry_doubt) = match expiry(&cookie["expires"]) {
        _ if max_age.is_some() => (max_age, None),
        Expiry::Session => (None, None),
        Expiry::At(at_s) => (Some(at_s - clock.at_s), clock.doubt),
        Expiry::WithoutZone(at_s) => {
            let no_time = clock.doubt.filter(|doubt| *doubt == ClockDoubt::NoTime);
            let doubt = no_time.unwrap_or(ClockDoubt::ExpiryWithoutZone);
            (Some(at_s - clock.at_s), Some(doubt))
        }
        Expiry::Unread => (None, Some(ClockDoubt::NoExpiry)),
    };
    if let Some(seconds) = lifetime_s {
        let expiry_s = seconds + clock.at_s;
        let doubtful = Clock {
            doubt: expiry_doubt,
            ..clock
        };
        // A cookie is deleted only if it has certainly expired.
        let is_kept = expiry_doubt.is_some() && !doubtful.is_past(expiry_s);
        let shown = if is_kept { seconds.max(1.0) } else { seconds };
        field += &format!("; Max-Age={}", shown.round());
    }
    for (name, key) in [("Secure", "secure"), ("HttpOnly", "httpOnly")] {
        field.extend(flag(&cookie[key]).then(|| format!("; {name}")));
    }
    SetCookieField {
        text: field,
        is_same_site_unknown: cookie.get("sameSite").is_none(),
        expiry_doubt,
    }
}

/// Reads a cookie in the JSON of a cookie editor or of a test driver of a browser, with its value.
/// `now_s` is the current time in seconds since 1970.
pub fn editor_cookie(json: &Json, hasher: &Hasher, now_s: f64) -> Option<(Cookie, String)> {
    let text = |name: &str| json[name].as_str();
    let (name, value, domain) = (text("name")?, text("value")?, text("domain")?);
    let keys = ["expirationDate", "expires", "expiry"].into_iter();
    let expires = keys.map(|key| &json[key]).find(|value| !value.is_null());
    let expires = expires.filter(|_| !flag(&json["session"]));
    let (expiry_s, lifetime_doubt) = match expiry(expires.unwrap_or(&Json::Null)) {
        Expiry::Session => (None, None),
        Expiry::At(at_s) => (Some(at_s), None),
        Expiry::WithoutZone(at_s) => (Some(at_s), Some(ClockDoubt::ExpiryWithoutZone)),
        Expiry::Unread => (None, Some(ClockDoubt::NoExpiry)),
    };
    let clock = Clock {
        at_s: now_s,
        doubt: lifetime_doubt,
    };
    let path = text("path").filter(|path| path.starts_with('/'));
    let host_only = json["hostOnly"].as_bool();
    let cookie = Cookie {
        name: name.to_owned(),
        domain: domain.trim_start_matches('.').to_ascii_lowercase(),
        path: path.unwrap_or("/").to_owned(),
        value_bytes: value.len(),
        hash: hasher.hash(value),
        attributes: Some(Attributes {
            host_only: host_only.unwrap_or(!domain.starts_with('.')),
            secure: flag(&json["secure"]),
            http_only: flag(&json["httpOnly"]),
            same_site: same_site(json).to_owned(),
            is_same_site_unknown: json.get("sameSite").is_none(),
            lifetime_s: expiry_s.map(|at_s| at_s - now_s),
            lifetime_doubt,
            has_path: true,
            ..Attributes::default()
        }),
        is_deleted: expiry_s.is_some_and(|at_s| clock.is_past(at_s)),
    };
    Some((cookie, value.to_owned()))
}

// SPDX-License-Identifier: Apache-2.0
//! Checks of responses: the status, the body, and values in JSON.

use crate::content_coding::ContentCoding;
use crate::error::{JobError, quoted};
use lab_model::{ExpectedResponse, plural};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The maximum length of a checked body, in bytes.
const MAX_BODY_BYTES: usize = 16 << 20;

/// The maximum number of bytes by which a content coding enlarges a body, in addition to an eighth
/// of the body's length.
const MAX_CODING_OVERHEAD: usize = 1024;

/// The expected response. By default, any response with a status of 2xx or 3xx is expected. Cheap
/// to clone.
#[derive(Clone, Debug)]
pub struct Expect {
    shared: Arc<Conditions>,
}

#[derive(Clone, Debug)]
struct Conditions {
    statuses: Statuses,
    body: Option<Vec<u8>>,
    json: Vec<JsonValue>,
}

impl Expect {
    /// Creates an expected response, which must meet all of the conditions.
    pub fn new(statuses: Statuses, body: Option<Vec<u8>>, json: Vec<JsonValue>) -> Expect {
        let shared = Conditions {
            statuses,
            body,
            json,
        };
        Expect {
            shared: Arc::new(shared),
        }
    }

    /// Parses an expected response. Returns an error if a status or a JSON value is invalid.
    pub fn parse(text: &ExpectedResponse) -> Result<Expect, JobError> {
        let statuses = text.statuses.as_deref().map(Statuses::parse);
        let body = text.body.clone().map(String::into_bytes);
        let json = text.json.iter().map(|value| JsonValue::parse(value));
        let json = json.collect::<Result<_, _>>()?;
        Ok(Expect::new(
            statuses.transpose()?.unwrap_or_default(),
            body,
            json,
        ))
    }

    /// Returns true if the status is expected.
    pub fn status(&self, status: u16) -> bool {
        self.shared.statuses.has(status)
    }

    /// Returns the number of bytes that [`Expect::body`] needs of a body.
    ///
    /// The number exceeds the length of the expected body in any coding, so that longer bodies are
    /// detected. It is 0 if bodies are not checked.
    pub fn body_capacity(&self) -> usize {
        match &self.shared.body {
            Some(exact) => exact.len() + exact.len() / 8 + MAX_CODING_OVERHEAD,
            None if self.shared.json.is_empty() => 0,
            None => MAX_BODY_BYTES + 1,
        }
    }

    /// Checks a body, which may have a content coding.
    ///
    /// `body` is the whole body, or at least its first [`Expect::body_capacity`] bytes. Returns an
    /// error with a description of the body if the body differs from the expected body.
    pub fn body(&self, coding: ContentCoding, body: &[u8]) -> Result<(), String> {
        let room = self.body_capacity();
        if room == 0 {
            return Ok(());
        }
        let length = || plural(body.len() as u64, "byte");
        let unexpected = || Err(format!("an unexpected body of {}", length()));
        if body.len() >= room {
            return unexpected();
        }
        if coding == ContentCoding::Identity {
            return if self.plain_body(body) {
                Ok(())
            } else {
                unexpected()
            };
        }
        match coding.decode(body, MAX_BODY_BYTES as u64) {
            None => Err(format!(
                "a body of {} in a Content-Encoding that benchlab cannot decode",
                length()
            )),
            Some(decoded) if !decoded.is_complete => Err(format!(
                "a body of {} that is not in the Content-Encoding declared in its head",
                length()
            )),
            Some(decoded) if self.plain_body(&decoded.bytes) => Ok(()),
            Some(decoded) => Err(format!(
                "an unexpected body of {}, {} decoded",
                length(),
                decoded.bytes.len()
            )),
        }
    }

    fn plain_body(&self, body: &[u8]) -> bool {
        let Conditions {
            body: exact, json, ..
        } = &*self.shared;
        if exact.as_ref().is_some_and(|exact| exact != body) {
            return false;
        }
        json.is_empty()
            || serde_json::from_slice(body).is_ok_and(|found| json.iter().all(|j| j.holds(&found)))
    }

    /// Describes each condition, such as `status 200`, `body "OK"` or `JSON user.id = 7`.
    pub fn words(&self) -> Vec<String> {
        let Conditions {
            statuses,
            body,
            json,
        } = &*self.shared;
        let body = body.as_ref().map(|body| match std::str::from_utf8(body) {
            Ok(text) if text.len() <= 60 => format!("body {text:?}"),
            _ => format!("a specific body of {}", plural(body.len() as u64, "byte")),
        });
        let json = json.iter().map(|value| format!("JSON {value}"));
        let status = [format!("status {statuses}")];
        status.into_iter().chain(body).chain(json).collect()
    }
}

impl Default for Expect {
    fn default() -> Self {
        Expect::new(Statuses::default(), None, Vec::new())
    }
}

/// A set of status codes. The default is 2xx and 3xx.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses {
    /// The ranges of status codes, ascending and without overlap.
    spans: Vec<(u16, u16)>,
}

impl Statuses {
    /// Parses codes and classes, such as `200,204,3xx`.
    ///
    /// # Errors
    /// Returns an error if an item is neither a code from 200 to 599 nor a class from 2xx to 5xx.
    /// 1xx is rejected because such a response is never the final one (RFC 9110, 15.2).
    pub fn parse(text: &str) -> Result<Statuses, JobError> {
        let spans = text.split(',').map(|word| {
            span(word.trim()).ok_or_else(|| {
                let words = "is not a valid status: expected codes from 200 to 599 or classes, such as 200,204,3xx";
                JobError::new(format!("{} {words}", quoted(word)))
            })
        });
        let mut spans: Vec<(u16, u16)> = spans.collect::<Result<_, _>>()?;
        spans.sort_by_key(|(first, last)| (*first, u16::MAX - last));
        spans.dedup_by(|later, earlier| later.1 <= earlier.1);
        Ok(Statuses { spans })
    }

    fn has(&self, status: u16) -> bool {
        let inside = |(first, last): &(u16, u16)| (*first..=*last).contains(&status);
        self.spans.iter().any(inside)
    }
}

impl Default for Statuses {
    fn default() -> Self {
        Statuses {
            spans: vec![(200, 299), (300, 399)],
        }
    }
}

/// Writes the set, such as `200, 204 or 3xx`.
impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let word = |(first, last): &(u16, u16)| match last - first {
            0 => first.to_string(),
            _ => format!("{}xx", first / 100),
        };
        let words: Vec<String> = self.spans.iter().map(word).collect();
        match words.split_last() {
            Some((last, [])) => write!(f, "{last}"),
            Some((last, rest)) => write!(f, "{} or {last}", rest.join(", ")),
            None => Ok(()),
        }
    }
}

fn span(word: &str) -> Option<(u16, u16)> {
    if let Some(class) = word.strip_suffix("xx").or_else(|| word.strip_suffix("XX")) {
        let class: u16 = class.parse().ok()?;
        return (2..=5)
            .contains(&class)
            .then(|| (class * 100, class * 100 + 99));
    }
    let code: u16 = word.parse().ok()?;
    (200..=599).contains(&code).then_some((code, code))
}

/// An expected value at a path in a JSON document.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonValue {
    /// The object keys and array indexes that lead to the value, starting at the document's root.
    path: Vec<String>,
    value: Value,
}

impl JsonValue {
    /// Parses `items.0.name=VALUE`: keys and indexes from 0, separated by dots, and a JSON value.
    ///
    /// A value that is not JSON is a string. A backslash escapes a dot or an equals sign in a key. An empty path means
    /// the whole document.
    ///
    /// # Errors
    /// Returns an error if the text has no equals sign.
    pub fn parse(text: &str) -> Result<JsonValue, JobError> {
        let mut path = Vec::new();
        let mut key = String::new();
        let mut rest = text.chars();
        loop {
            match rest.next() {
                Some('\\') => key.extend(rest.next()),
                Some('.') => path.push(std::mem::take(&mut key)),
                Some('=') => break,
                Some(other) => key.push(other),
                None => {
                    let words =
                        "has no `=`: expected a path and a value, such as items.0.name=\"x\"";
                    return Err(JobError::new(format!("{} {words}", quoted(text))));
                }
            }
        }
        if !path.is_empty() || !key.is_empty() {
            path.push(key);
        }
        let value = rest.as_str();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        Ok(JsonValue { path, value })
    }

    fn holds(&self, document: &Value) -> bool {
        let mut inner = Some(document);
        for key in &self.path {
            inner = match inner {
                Some(Value::Array(items)) => key.parse().ok().and_then(|i: usize| items.get(i)),
                Some(Value::Object(map)) => map.get(key),
                _ => None,
            };
        }
        inner.is_some_and(|found| equal(found, &self.value))
    }
}

/// Writes the condition, such as `items.0.name = "x"`.
impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let escaped = |key: &String| {
            key.replace('\\', "\\\\")
                .replace('.', "\\.")
                .replace('=', "\\=")
        };
        let path: Vec<String> = self.path.iter().map(escaped).collect();
        let path = if path.is_empty() {
            "document".to_owned()
        } else {
            path.join(".")
        };
        write!(f, "{path} = {}", self.value)
    }
}

/// Compares JSON values. Numbers are compared by value: 1 equals 1.0.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || (x.is_f64() || y.is_f64()) && x.as_f64() == y.as_f64()
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(a, b)| equal(a, b))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter()
                    .all(|(key, a)| y.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

// SPDX-License-Identifier: Apache-2.0
//! A JSON object on each line: Caddy, Traefik, nginx with a format of JSON, and whatever has fields of usual names.
//!
//! Source: Caddy, *logging*; Traefik, *access logs*.

use super::combined::method_and_target;
use crate::entry::Entry;
use crate::time::{Zone, clf, iso, offset, scaled};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;

/// A reader of such lines.
#[derive(Clone, Debug, Default)]
pub struct Json {
    /// For times without an offset.
    pub zone: Zone,
    /// ns of the unit of durations, where the name does not tell it.
    pub unit: Option<u64>,
    fields: JsonFields,
}

/// The fields of a line.
#[derive(Clone, Debug, Default)]
struct JsonFields {
    time_s: Option<i64>,
    /// `None`: the time has no offset.
    offset_s: Option<i32>,
    duration: Option<(String, Number)>,
    method: String,
    target: String,
    request: String,
    agent: String,
    status: u16,
    bytes: u64,
}

#[derive(Clone, Debug)]
enum Number {
    Integer(u64),
    Float(f64),
    Text(String),
}

impl Json {
    /// One with nothing read yet.
    pub fn new(zone: Zone, unit: Option<u64>) -> Json {
        Json {
            zone,
            unit,
            fields: JsonFields::default(),
        }
    }

    /// What a line tells of; `None`: it is no JSON, or tells of no request.
    pub fn parse<'a>(&'a mut self, line: &[u8]) -> Option<Entry<'a>> {
        self.fields = JsonFields::default();
        let mut json = serde_json::Deserializer::from_slice(line);
        let object = Value {
            key: "",
            fields: &mut self.fields,
        };
        object.deserialize(&mut json).ok()?;
        json.end().ok()?;
        let unit = self.unit;
        let duration_ns = self
            .fields
            .duration
            .as_ref()
            .and_then(|(key, n)| duration_ns(key, n, unit));
        let offset_s = match (self.fields.time_s, self.fields.offset_s) {
            (Some(time), None) => {
                let offset = self.zone.offset_of_local(time);
                self.fields.time_s = Some(time - i64::from(offset));
                offset
            }
            (Some(time), Some(0)) => self.zone.offset_at(time),
            (_, offset) => offset.unwrap_or(0),
        };
        let fields = &self.fields;
        let (mut method, mut target) = (fields.method.as_bytes(), fields.target.as_bytes());
        if target.is_empty() && !fields.request.is_empty() {
            (method, target) = method_and_target(fields.request.as_bytes());
        }
        (!target.is_empty()).then_some(Entry {
            time_s: fields.time_s,
            offset_s,
            duration_ns,
            method,
            target,
            is_query: false,
            dialect: Default::default(),
            status: fields.status,
            bytes: fields.bytes,
            agent: fields.agent.as_bytes(),
        })
    }

    /// The name of the last line's duration and the unit that it is taken in.
    pub fn duration(&self) -> Option<String> {
        let (key, number) = self.fields.duration.as_ref()?;
        let unit = match number {
            Number::Text(_) => "as written".into(),
            _ => unit_name(unit_of(key, number, self.unit)).to_string(),
        };
        Some(format!("{key}, in {unit}"))
    }

    /// The finest step of the last line's duration, ns.
    pub fn step(&self) -> Option<u64> {
        let (key, number) = self.fields.duration.as_ref()?;
        let scale = unit_of(key, number, self.unit);
        Some(match number {
            Number::Integer(_) => scale,
            // nginx writes three decimals; a float of Caddy has ns.
            Number::Float(_) if key == "request_time" => scale / 1000,
            Number::Float(_) => 1_000,
            Number::Text(text) if key == "request_time" && text.contains('.') => scale / 1000,
            Number::Text(_) => 1_000,
        })
    }
}

fn unit_name(scale: u64) -> &'static str {
    match scale {
        1 => "ns",
        1_000 => "µs",
        1_000_000 => "ms",
        _ => "s",
    }
}

/// ns of a duration's unit, by its name's end or by what is usual.
fn unit_of(key: &str, number: &Number, default_unit: Option<u64>) -> u64 {
    let ends = |ends: &[&str]| ends.iter().any(|end| key.ends_with(end));
    if ends(&["_ns", "nanos"]) {
        1
    } else if ends(&["_us", "micros"]) {
        1_000
    } else if ends(&["_ms", "millis", "ms"]) {
        1_000_000
    } else if let Some(default_unit) = default_unit {
        default_unit
    } else if ends(&["_s", "seconds", "request_time"]) || matches!(number, Number::Float(_)) {
        1_000_000_000
    } else if key == "duration" {
        // Traefik's, a whole number.
        1
    } else {
        1_000_000
    }
}

fn duration_ns(key: &str, number: &Number, default_unit: Option<u64>) -> Option<u64> {
    let scale = unit_of(key, number, default_unit);
    match number {
        Number::Integer(n) => n.checked_mul(scale),
        Number::Float(f) => (*f >= 0.0 && *f < 1e12).then_some((f * scale as f64).round() as u64),
        Number::Text(text) => {
            let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'));
            let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
            let scale = match unit.trim() {
                "ns" => 1,
                "us" | "µs" | "μs" => 1_000,
                "ms" => 1_000_000,
                "s" => 1_000_000_000,
                "" if digits.contains('.') => default_unit.unwrap_or(1_000_000_000),
                "" => scale,
                _ => return None,
            };
            scaled(digits.as_bytes(), scale)
        }
    }
}

/// A value of a key.
struct Value<'k, 'f> {
    key: &'k str,
    fields: &'f mut JsonFields,
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let key = key.to_ascii_lowercase();
            map.next_value_seed(Value {
                key: &key,
                fields: self.fields,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        // Caddy's headers are lists.
        let (key, fields) = (self.key, self.fields);
        if seq.next_element_seed(Value { key, fields })?.is_some() {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.fields.text(self.key, text);
        Ok(())
    }

    fn visit_u64<E>(self, n: u64) -> Result<(), E> {
        self.fields.number(self.key, Number::Integer(n));
        Ok(())
    }

    fn visit_i64<E>(self, n: i64) -> Result<(), E> {
        if let Ok(n) = u64::try_from(n) {
            self.fields.number(self.key, Number::Integer(n));
        }
        Ok(())
    }

    fn visit_f64<E>(self, f: f64) -> Result<(), E> {
        self.fields.number(self.key, Number::Float(f));
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

fn is_time(key: &str) -> bool {
    matches!(
        key,
        "ts" | "time"
            | "timestamp"
            | "@timestamp"
            | "time_iso8601"
            | "time_local"
            | "msec"
            | "datetime"
            | "startutc"
            | "t"
    )
}

fn is_duration(key: &str) -> bool {
    let names = [
        "duration",
        "request_time",
        "latency",
        "elapsed",
        "response_time",
        "responsetime",
        "time_taken",
        "took",
    ];
    names.iter().any(|name| {
        let rest = key.strip_prefix(name);
        rest.is_some_and(|rest| {
            matches!(
                rest,
                "" | "_ms"
                    | "_us"
                    | "_ns"
                    | "_s"
                    | "ms"
                    | "_seconds"
                    | "_micros"
                    | "_millis"
                    | "_nanos"
            )
        })
    })
}

fn is_status(key: &str) -> bool {
    matches!(
        key,
        "status" | "status_code" | "statuscode" | "downstreamstatus" | "response_code" | "code"
    )
}

fn is_bytes(key: &str) -> bool {
    matches!(
        key,
        "size"
            | "bytes"
            | "body_bytes_sent"
            | "bytes_sent"
            | "downstreamcontentsize"
            | "response_size"
            | "bytes_out"
    )
}

impl JsonFields {
    fn text(&mut self, key: &str, text: &str) {
        let slot = match key {
            "method" | "request_method" | "requestmethod" | "http_method" | "verb" => {
                &mut self.method
            }
            "uri" | "url" | "path" | "request_uri" | "requesturi" | "requestpath" | "target" => {
                &mut self.target
            }
            "request" => &mut self.request,
            "user_agent" | "http_user_agent" | "useragent" | "user-agent" | "agent"
            | "request_user-agent" => &mut self.agent,
            key if is_time(key) && self.time_s.is_none() => {
                if let Some((time, offset)) = iso(text.as_bytes()) {
                    self.time_s = Some(time - i64::from(offset.unwrap_or(0)));
                    self.offset_s = offset;
                } else if let Some(time) = clf(text.as_bytes()) {
                    let offset = text.get(21..).and_then(|o| offset(o.as_bytes()));
                    self.time_s = Some(time - i64::from(offset.unwrap_or(0)));
                    self.offset_s = offset;
                } else if let Ok(number) = text.parse::<f64>() {
                    self.number(key, Number::Float(number));
                }
                return;
            }
            key if is_duration(key) => {
                self.duration
                    .get_or_insert((key.into(), Number::Text(text.into())));
                return;
            }
            key if is_status(key) || is_bytes(key) => {
                if let Ok(n) = text.parse() {
                    self.number(key, Number::Integer(n));
                }
                return;
            }
            _ => return,
        };
        if slot.is_empty() {
            slot.push_str(text);
        }
    }

    fn number(&mut self, key: &str, number: Number) {
        match number {
            number if is_duration(key) => {
                self.duration.get_or_insert((key.into(), number));
            }
            Number::Integer(n) if is_status(key) && n < 1000 => self.status = n as u16,
            Number::Integer(n) if is_bytes(key) => self.bytes = n,
            Number::Integer(n) if is_time(key) => self.number(key, Number::Float(n as f64)),
            Number::Float(f) if is_time(key) && self.time_s.is_none() && f > 0.0 => {
                // s, ms, µs or ns: all are of this century.
                let scales = [1.0, 1e3, 1e6, 1e9];
                let seconds = scales.iter().map(|scale| f / scale).find(|s| *s < 4.1e9);
                self.time_s = seconds.map(|s| s as i64);
                self.offset_s = Some(0);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_caddy_traefik_and_nginx_are_read() {
        let mut json = Json::default();
        let caddy = br#"{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/a?b","headers":{"User-Agent":["curl/7.82.0"],"Accept":["*/*"]}},"bytes_read":0,"duration":0.000929675,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}"#;
        let entry = json.parse(caddy).expect("an entry");
        assert_eq!(
            (entry.time_s, entry.duration_ns),
            (Some(1_646_861_401), Some(929_675))
        );
        assert_eq!(
            (entry.method, entry.target, entry.agent),
            (&b"GET"[..], &b"/a?b"[..], &b"curl/7.82.0"[..])
        );
        assert_eq!((entry.status, entry.bytes), (200, 10_900));
        let traefik = br#"{"DownstreamStatus":502,"Duration":1500000,"RequestMethod":"POST","RequestPath":"/x","time":"2026-05-01T10:00:00+02:00"}"#;
        let entry = json.parse(traefik).expect("an entry");
        assert_eq!((entry.duration_ns, entry.status), (Some(1_500_000), 502));
        assert_eq!((entry.time_s, entry.offset_s), (Some(1_777_622_400), 7200));
        let nginx = br#"{"time_local":"01/May/2026:10:00:00 +0200","request":"GET /s HTTP/1.1","status":"200","request_time":"0.250"}"#;
        let entry = json.parse(nginx).expect("an entry");
        assert_eq!(
            (entry.time_s, entry.duration_ns, entry.target),
            (Some(1_777_622_400), Some(250_000_000), &b"/s"[..])
        );
        for bad in [
            &b"{"[..],
            b"[]",
            b"{}",
            b"nonsense",
            b"{\"uri\":\"/\"} x",
            b"",
        ] {
            assert!(json.parse(bad).is_none());
        }
        let deep = "[".repeat(100_000);
        assert!(json.parse(deep.as_bytes()).is_none());
    }
}

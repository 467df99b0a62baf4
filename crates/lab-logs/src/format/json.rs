// SPDX-License-Identifier: Apache-2.0
//! Parses logs with one JSON object per line. Fields are identified by well-known names or by the
//! names that the user specified.

use super::field_names::Role;
use super::structured::{Scalar, Structured};
use crate::entry::{Entry, LineKind};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Element;

/// A parser of JSON lines.
#[derive(Clone, Debug, Default)]
pub struct Json {
    /// The interpreter of the fields.
    pub fields: Structured,
    path: String,
    /// The index of the last request in an array of the current line.
    last_element: usize,
}

impl Json {
    /// Creates a parser that interprets fields with `fields`.
    pub fn new(fields: Structured) -> Json {
        Json {
            fields,
            path: String::new(),
            last_element: 0,
        }
    }

    /// Returns true if the line is a JSON object, and reads its fields.
    pub fn is_object(&mut self, line: &[u8]) -> bool {
        let line = element(line);
        if line.first() != Some(&b'{') {
            return false;
        }
        self.fields.begin();
        self.path.clear();
        self.last_element = 0;
        let mut json = serde_json::Deserializer::from_slice(line);
        let object = Value {
            path: &mut self.path,
            fields: &mut self.fields,
            last_element: &mut self.last_element,
        };
        object.deserialize(&mut json).is_ok() && json.end().is_ok()
    }

    /// Parses a line and passes its entry to `sink`.
    ///
    /// An object that describes no request is other output of the program.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if element(line).is_empty() {
            return LineKind::Other;
        }
        if !self.is_object(line) {
            return LineKind::Malformed;
        }
        // An array within a line about a request describes parts of this request.
        let is_batch = self.last_element > 0 && !self.fields.has_outer_target();
        let mut kind = self.finish(sink);
        if is_batch && let Ok(object) = serde_json::from_slice::<Element>(element(line)) {
            for element in 1..=self.last_element {
                self.fields.begin();
                self.path.clear();
                read_element(&object, element, &mut self.path, &mut self.fields);
                if self.finish(sink) == LineKind::Entry {
                    kind = LineKind::Entry;
                }
            }
        }
        kind
    }

    /// Builds an entry from the fields that were read, and passes it to `sink`.
    fn finish(&mut self, sink: &mut impl FnMut(&Entry)) -> LineKind {
        let kind = match self.fields.finish() {
            Some(entry) => {
                sink(&entry);
                LineKind::Entry
            }
            None => LineKind::Other,
        };
        if let Some(open) = self.fields.unended() {
            sink(&open.entry());
        }
        kind
    }

    /// Passes requests whose end was not logged to `sink`.
    pub fn end(&mut self, sink: &mut impl FnMut(&Entry)) {
        while let Some(open) = self.fields.last_unended() {
            sink(&open.entry());
        }
    }
}

/// Returns the object in a line, without a byte order mark, and without the comma and the brackets
/// of an array with one object per line.
fn element(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = line.trim_ascii();
    if let [b'{', .., b'}'] | [] = line {
        return line;
    }
    let line = line.strip_prefix(b"[").unwrap_or(line);
    let line = line.strip_suffix(b"]").unwrap_or(line);
    line.strip_suffix(b",").unwrap_or(line).trim_ascii()
}

/// Reads the fields of a value. For an array of objects, reads only the object at the index
/// `element`.
fn read_element(value: &Element, element: usize, path: &mut String, fields: &mut Structured) {
    match value {
        Element::Object(object) => {
            for (key, value) in object {
                let begin = path.len();
                push_key(path, key);
                read_element(value, element, path, fields);
                path.truncate(begin);
            }
        }
        Element::Array(elements) if elements.first().is_some_and(Element::is_object) => {
            if let Some(value) = elements.get(element) {
                read_element(value, 0, path, fields);
            }
        }
        Element::Array(elements) => {
            let first = elements.first().into_iter();
            first.for_each(|value| read_element(value, element, path, fields));
        }
        Element::String(text) => fields.field(path, Scalar::Text(text)),
        Element::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(n), _) => fields.field(path, Scalar::Integer(n)),
            (None, Some(f)) => fields.field(path, Scalar::Float(f)),
            (None, None) => {}
        },
        Element::Null => fields.empty_field(path),
        Element::Bool(_) => {}
    }
}

/// Returns true if an object has fields for both the path and the end of a request.
fn is_request(value: &Element, path: &mut String, fields: &mut Structured) -> bool {
    let Element::Object(object) = value else {
        return false;
    };
    let begin = path.len();
    let mut has = |roles: &[Role]| {
        object.keys().any(|key| {
            push_key(path, key);
            let has_role = fields.has_role(path, roles);
            path.truncate(begin);
            has_role
        })
    };
    has(&[Role::Target, Role::Request]) && has(&[Role::Status, Role::Duration])
}

fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

/// A value at the current path.
struct Value<'f> {
    path: &'f mut String,
    fields: &'f mut Structured,
    last_element: &'f mut usize,
}

/// A key, which is appended to the path.
struct Key<'p>(&'p mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        push_key(self.0, key);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let begin = self.path.len();
        while map.next_key_seed(Key(self.path))?.is_some() {
            map.next_value_seed(Value {
                path: self.path,
                fields: self.fields,
                last_element: self.last_element,
            })?;
            self.path.truncate(begin);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        // Caddy's headers are lists, of which only the first element matters.
        let Value {
            path,
            fields,
            last_element,
        } = self;
        let was_in_array = std::mem::replace(&mut fields.is_in_array, true);
        let mut index = 0;
        let first = Value {
            path,
            fields,
            last_element: &mut 0,
        };
        if seq.next_element_seed(first)?.is_some() {
            while let Some(element) = seq.next_element::<Element>()? {
                index += 1;
                if is_request(&element, path, fields) {
                    *last_element = index.max(*last_element);
                }
            }
        }
        fields.is_in_array = was_in_array;
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.fields.field(self.path, Scalar::Text(text));
        Ok(())
    }

    fn visit_u64<E>(self, n: u64) -> Result<(), E> {
        self.fields.field(self.path, Scalar::Integer(n));
        Ok(())
    }

    fn visit_i64<E>(self, n: i64) -> Result<(), E> {
        let value = u64::try_from(n).map_or(Scalar::Float(n as f64), Scalar::Integer);
        self.fields.field(self.path, value);
        Ok(())
    }

    fn visit_f64<E>(self, f: f64) -> Result<(), E> {
        self.fields.field(self.path, Scalar::Float(f));
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.fields.empty_field(self.path);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::field_names::FieldMap;
    use crate::time::Zone;
    use lab_model::{FieldRole, LogAdvice, LogAssumption};

    /// The parts of an entry that are compared with a sample.
    type Found = (Option<i64>, Option<u64>, String, u16);

    fn read_with(line: &str, unit: Option<u64>, user_fields: &str) -> Option<Found> {
        let user_fields = if user_fields.is_empty() {
            FieldMap::default()
        } else {
            FieldMap::new(user_fields).expect("fields")
        };
        let mut json = Json::new(Structured::new(Zone::default(), unit, user_fields));
        json.fields.begin_sample();
        json.line(line.as_bytes(), &mut |_| {});
        json.fields.end_sample();
        let mut found = None;
        json.line(line.as_bytes(), &mut |e: &Entry| {
            let request = [e.method, b" ", e.target].concat();
            let request = String::from_utf8_lossy(&request).into_owned();
            found = Some((e.time_s, e.duration_ns, request, e.status));
        });
        found
    }

    fn read(line: &str) -> Found {
        read_with(line, None, "").unwrap_or_else(|| panic!("no entry: {line}"))
    }

    /// `requestTime` is a time only in Amazon API Gateway, as text.
    #[test]
    fn a_duration_that_looks_like_seconds_since_1970_is_a_duration() {
        let line = |value: &str| {
            format!(
                r#"{{"time":"2026-05-01T10:00:00Z","msg":"done","method":"GET","path":"/a","status":200,"request_time":{value}}}"#
            )
        };
        const T: i64 = 1_777_629_600;
        for (value, unit, ns) in [
            ("1500000000", Some(1), Some(1_500_000_000)),
            ("\"1500000000\"", Some(1), Some(1_500_000_000)),
            ("1500000000.0", Some(1), Some(1_500_000_000)),
            ("1777629600000", Some(1), Some(1_777_629_600_000)),
            ("1777629600000", None, None),
            ("1777629600000", Some(1_000_000), None),
            ("0.25", Some(1_000_000_000), Some(250_000_000)),
        ] {
            let found = read_with(&line(value), unit, "").expect("a request");
            assert_eq!((found.0, found.1), (Some(T), ns), "{value}");
        }
        let gateway = r#"{"requestTime":"01/May/2026:10:00:00 +0000","httpMethod":"GET","path":"/a","status":200}"#;
        assert_eq!(read(gateway).0, Some(T));
        let alone = r#"{"request_time":1777629600,"method":"GET","path":"/a","status":200}"#;
        let found = read_with(alone, None, "time=request_time").expect("a request");
        assert_eq!((found.0, found.1), (Some(T), None));
    }

    #[test]
    fn methods_can_be_in_lower_case() {
        let line = r#"{"@timestamp":"2026-05-01T10:00:00Z","http":{"request":{"method":"delete"},"response":{"status_code":200}},"url":{"path":"/cart"},"event":{"duration":12345}}"#;
        assert_eq!(read(line).2, "DELETE /cart");
    }

    #[test]
    fn durations_of_known_producers_are_in_their_units() {
        const MS: u64 = 1_000_000;
        for (line, ns) in [
            (
                r#"{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","request":{"proto":"HTTP/2.0","method":"GET","uri":"/a?b","headers":{"User-Agent":["curl/7.82.0"]}},"duration":0.000929675,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}"#,
                929_675,
            ),
            (
                r#"{"DownstreamStatus":502,"Duration":1500000,"OriginDuration":7,"RequestMethod":"POST","RequestPath":"/x","time":"2026-05-01T10:00:00+02:00"}"#,
                1_500_000,
            ),
            (
                r#"{"time_local":"01/May/2026:10:00:00 +0200","request":"GET /s HTTP/1.1","status":"200","request_time":"0.250"}"#,
                250 * MS,
            ),
            (
                r#"{"path":"/a","duration":26,"response_flags":"-","start_time":"2020-11-25T21:00:18.409Z"}"#,
                26 * MS,
            ),
            (
                r#"{"path":"/a","duration":"26","upstream_service_time":"3","method":"GET"}"#,
                26 * MS,
            ),
            (
                r#"{"method":"GET","path":"/a","controller":"A","action":"b","status":200,"duration":58.33,"view":1.5,"db":0.2}"#,
                58_330_000,
            ),
            (
                r#"{"time":"2017-09-07T14:00:24.127Z","severity":"INFO","duration":3120.5,"db":0.0,"view":3.5,"path":"/a"}"#,
                3_120_500_000,
            ),
            (
                r#"{"severity":"INFO","duration_s":0.25,"db_duration_s":0.1,"path":"/a"}"#,
                250 * MS,
            ),
            (
                r#"{"httpRequest":{"requestMethod":"GET","requestUrl":"https://h/a","status":200,"latency":"0.5s"},"timestamp":"2021-06-09T15:17:25Z"}"#,
                500 * MS,
            ),
            (
                r#"{"@t":"2021-06-09T15:17:25Z","@mt":"HTTP {RequestMethod}","RequestMethod":"GET","RequestPath":"/a","StatusCode":200,"Elapsed":12.5}"#,
                12_500_000,
            ),
            (
                r#"{"level":30,"time":1700000000000,"pid":1,"req":{"id":1,"method":"GET","url":"/a"},"res":{"statusCode":200},"responseTime":12,"msg":"request completed"}"#,
                12 * MS,
            ),
            (
                r#"{"level":"info","ts":1700000000.25,"caller":"a.go:1","msg":"/a","status":200,"method":"GET","path":"/a","latency":0.0125}"#,
                12_500_000,
            ),
            (
                r#"{"name":"a","hostname":"h","pid":1,"level":30,"v":0,"method":"GET","url":"/a","latency":12,"time":"2021-06-09T15:17:25Z"}"#,
                12 * MS,
            ),
            (
                r#"{"time":"2021-06-09T15:17:25Z","method":"GET","uri":"/a","status":200,"latency":12345,"latency_human":"12.345µs"}"#,
                12_345,
            ),
            (
                r#"{"x-edge-location":"FRA2","cs-method":"GET","cs-uri-stem":"/a","sc-status":"200","time-taken":"0.002","date":"2021-06-09","time":"15:17:25"}"#,
                2 * MS,
            ),
            (
                r#"{"@timestamp":"2021-06-09T15:17:25.1Z","requested_url":"GET /a HTTP/1.1","status_code":200,"elapsed_time":12}"#,
                12 * MS,
            ),
            (
                r#"{"@timestamp":"2021-06-09T15:17:25.1Z","url":{"path":"/a"},"event":{"duration":12345},"http":{"request":{"method":"GET"},"response":{"status_code":200}}}"#,
                12_345,
            ),
            (
                r#"{"latencies":{"request":12,"kong":1},"request":{"method":"GET","uri":"/a"},"response":{"status":200},"started_at":1700000000000}"#,
                12 * MS,
            ),
            (
                r#"{"http.request.method":"GET","url.path":"/a","http.response.status_code":200,"duration_ms":5.5}"#,
                5_500_000,
            ),
            (
                r#"{"path":"/a","method":"GET","Elapsed":"00:00:01.5000000"}"#,
                1_500 * MS,
            ),
            (
                r#"{"path":"/a","method":"GET","duration":"1m2.5s"}"#,
                62_500 * MS,
            ),
            (
                r#"{"attributes":{"http.request.method":"GET","url.path":"/a","http.server.request.duration":12.5}}"#,
                12_500 * MS,
            ),
        ] {
            let found = read(line);
            assert_eq!(found.1, Some(ns), "{line}");
            assert!(found.2.contains("/"), "{line}");
        }
    }

    #[test]
    fn nginx_is_known_by_its_variables() {
        let description = |line: &str| {
            let mut json = Json::new(Structured::new(Zone::default(), None, FieldMap::default()));
            json.fields.begin_sample();
            json.line(line.as_bytes(), &mut |_| {});
            json.fields.end_sample();
            json.line(line.as_bytes(), &mut |_| {});
            (
                json.fields.duration_words().map(|(words, _)| words),
                json.fields.assumptions().len(),
            )
        };
        let nginx = r#"{"time_local":"01/May/2026:10:00:00 +0200","request":"GET /s HTTP/1.1","request_time":"0.250"}"#;
        assert_eq!(
            description(nginx),
            (Some("request_time, in s as nginx writes it".into()), 0)
        );
        let other =
            r#"{"time":"2026-05-01T10:00:00Z","path":"/s","method":"GET","request_time":0.25}"#;
        assert_eq!(
            description(other),
            (Some("request_time, in s, assumed".into()), 1)
        );
    }

    /// Parses 40 copies of `line`, in which `VALUE` is replaced with each of the `values` in turn.
    ///
    /// Returns the description of the durations, the first duration in ns, and the assumptions.
    fn read_values(line: &str, values: &[&str]) -> (String, u64, Vec<String>) {
        let lines: Vec<String> = (0..40)
            .map(|i| {
                line.replace("VALUE", values[i % values.len()])
                    .replace("SECOND", &format!("{:02}", i))
            })
            .collect();
        let mut json = Json::new(Structured::new(Zone::default(), None, FieldMap::default()));
        json.fields.begin_sample();
        for line in &lines {
            json.line(line.as_bytes(), &mut |_| {});
        }
        json.fields.end_sample();
        let mut first = None;
        for line in &lines {
            let kind = json.line(line.as_bytes(), &mut |e: &Entry| {
                first = first.or(e.duration_ns);
            });
            assert_eq!(kind, LineKind::Entry, "{line}");
        }
        let (words, _) = json.fields.duration_words().expect("durations");
        let assumed = json.fields.assumptions();
        let assumed = assumed.iter().map(crate::wording::assumption);
        (words, first.expect("a duration"), assumed.collect())
    }

    #[test]
    fn weak_marks_of_producers_are_only_a_preference() {
        const SLOG: &str = r#"{"level":"info","msg":"done","method":"GET","path":"/a","statusCode":200,"latency":VALUE,"time":"2026-05-01T10:00:SECONDZ"}"#;
        const ZEROLOG: &str = r#"{"level":"info","message":"done","method":"GET","path":"/a","status":200,"duration":VALUE,"time":"2026-05-01T10:00:SECONDZ"}"#;
        const ZAP: &str = r#"{"level":"info","ts":1777629600.5,"msg":"done","method":"GET","path":"/a","status":200,"latency":VALUE}"#;
        const ACTION: &str = r#"{"datetime":"2026-05-01T10:00:SECONDZ","controller":"A","action":"b","method":"GET","path":"/a","status":200,"duration":VALUE}"#;
        const BUNYAN: &str = r#"{"name":"a","hostname":"h","pid":1,"v":0,"msg":"done","method":"GET","url":"/a","duration":VALUE,"time":"2026-05-01T10:00:SECONDZ"}"#;
        for (line, values, ns, assumption) in [
            // Whole numbers that are implausible as ns for a server are ms.
            (SLOG, &["480", "95", "210"][..], 480_000_000, Some("ms")),
            (
                SLOG,
                &["48000000", "95000000"],
                48_000_000,
                Some("ns, but µs"),
            ),
            (
                SLOG,
                &["480000000", "9500000000"],
                480_000_000,
                Some("ns, but µs"),
            ),
            (SLOG, &["4800000000", "9500000000"], 4_800_000_000, None),
            (SLOG, &["480000", "95000"], 480_000, Some("ns")),
            (ZEROLOG, &["0.48", "0.25"], 480_000_000, Some("in s")),
            (ZEROLOG, &["480.25", "95.5"], 480_250_000, Some("ms, but s")),
            (ZEROLOG, &["4800.25", "2095.5"], 4_800_250_000, None),
            (ZEROLOG, &["4.25", "7.5"], 4_250_000, Some("in ms")),
            (ZAP, &["0.0125", "0.25"], 12_500_000, Some("in s")),
            (ACTION, &["0.48", "0.25"], 480_000_000, Some("in s")),
            (ACTION, &["12.25", "7.5"], 12_250_000, Some("in ms")),
            (BUNYAN, &["480", "95"], 480_000_000, Some("in ms")),
        ] {
            let (words, first, assumed) = read_values(line, values);
            assert_eq!(first, ns, "{words}: {line}");
            assert_eq!(assumed.len(), usize::from(assumption.is_some()), "{words}");
            if let Some(unit) = assumption {
                assert!(assumed[0].contains(unit), "{assumed:?}");
            }
        }
    }

    #[test]
    fn strong_marks_require_durations_in_the_producers_form() {
        const RAILS: &str = r#"{"method":"GET","path":"/a","format":"html","controller":"A","action":"b","status":200,"duration":VALUE}"#;
        const PINO: &str = r#"{"level":30,"time":1700000000000,"req":{"method":"GET","url":"/a"},"res":{"statusCode":200},"responseTime":350,"duration":VALUE}"#;
        const AZURE: &str = r#"{"time":"2026-05-01T10:00:SECONDZ","properties":{"httpMethod":"GET","requestUri":"/a","httpStatus":200,"timeTaken":VALUE}}"#;
        const FRONT: &str = r#"{"cs-method":"GET","cs-uri-stem":"/a","sc-status":"200","time-taken":"VALUE","date":"2026-05-01","time":"10:00:SECOND"}"#;
        for (line, values, ns, is_assumed) in [
            (RAILS, &["0.75", "0.5"][..], 750_000, false),
            // The application's own duration field has its own unit.
            (PINO, &["0.35", "0.5"], 350_000_000, true),
            (AZURE, &["0.012", "0.25"], 12_000_000, false),
            (AZURE, &["120", "45"], 120_000_000, true),
            (FRONT, &["0.250", "0.017"], 250_000_000, true),
            (FRONT, &["250", "17"], 250_000_000, false),
        ] {
            let (words, first, assumed) = read_values(line, values);
            assert_eq!(first, ns, "{words}: {line}");
            assert_eq!(!assumed.is_empty(), is_assumed, "{words}: {line}");
        }
    }

    /// Reads lines and returns each entry's target, duration in ns and status.
    fn read_all(lines: &[&str]) -> (Vec<(String, Option<u64>, u16)>, Structured) {
        let mut json = Json::new(Structured::new(Zone::default(), None, FieldMap::default()));
        json.fields.begin_sample();
        for line in lines {
            json.line(line.as_bytes(), &mut |_| {});
        }
        json.fields.end_sample();
        let mut found = Vec::new();
        let mut note = |e: &Entry| {
            let target = String::from_utf8_lossy(e.target).into_owned();
            found.push((target, e.duration_ns, e.status));
        };
        for line in lines {
            json.line(line.as_bytes(), &mut note);
        }
        json.end(&mut note);
        (found, json.fields)
    }

    #[test]
    fn the_beginning_and_the_end_of_a_request_are_one_entry() {
        let begin = |id: &str, path: &str| {
            format!(
                r#"{{"reqId":"{id}","req":{{"method":"GET","url":"{path}"}},"msg":"incoming request"}}"#
            )
        };
        let end = |id: &str, ms: f64| {
            format!(
                r#"{{"reqId":"{id}","res":{{"statusCode":200}},"responseTime":{ms},"msg":"request completed"}}"#
            )
        };
        let lines = [
            begin("r-1", "/a"),
            begin("r-2", "/b"),
            end("r-2", 9.5),
            end("r-1", 1.5),
        ];
        let (found, fields) = read_all(&lines.each_ref().map(String::as_str));
        let ms = |ms: f64| Some((ms * 1e6) as u64);
        let expected = [("/b", ms(9.5), 200), ("/a", ms(1.5), 200)];
        assert_eq!(
            found,
            expected.map(|(path, ns, status)| (path.to_string(), ns, status))
        );
        assert_eq!(fields.advice(), [fields_without_time()]);
        // A request whose details are repeated in the line of its end is counted once. A request
        // without an end is counted once, too.
        let (found, _) = read_all(&[
            r#"{"request_id":"r-1","event":"request_started","request":"GET /a"}"#,
            r#"{"request_id":"r-2","event":"request_started","request":"GET /b"}"#,
            r#"{"request_id":"r-1","event":"request_finished","request":"GET /a","code":200}"#,
        ]);
        let found: Vec<_> = found
            .iter()
            .map(|(path, _, status)| (path.as_str(), *status))
            .collect();
        assert_eq!(found, [("/a", 200), ("/b", 0)]);
        // A later line with the same ID, but without an end, is another request.
        let (found, _) = read_all(&[&begin("r-1", "/a"), &begin("r-1", "/b")]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn values_that_cannot_be_parsed_are_reported() {
        let line = |elapsed: &str| {
            format!(r#"{{"method":"GET","path":"/a","status":200,"Elapsed":{elapsed}}}"#)
        };
        let lines = [
            r#""2 fortnights""#,
            r#""-""#,
            "null",
            r#""1.00:00:01.5""#,
            r#""480ms""#,
        ]
        .map(line);
        let (found, fields) = read_all(&lines.each_ref().map(String::as_str));
        let durations: Vec<Option<u64>> = found.iter().map(|(_, ns, _)| *ns).collect();
        assert_eq!(
            durations[3..],
            [Some(86_401_500_000_000), Some(480_000_000)]
        );
        let expected = LogAssumption::UnparsedDurations {
            field: "Elapsed".into(),
            example: "2 fortnights".into(),
            requests: 1,
        };
        assert_eq!(fields.assumptions(), [expected]);
    }

    /// Returns the entries of lines: each target, duration in ms and status.
    fn summary(lines: &[&str]) -> (Vec<(String, f64, u16)>, Structured) {
        let (found, fields) = read_all(lines);
        let ms = |ns: Option<u64>| ns.map_or(0.0, |ns| ns as f64 / 1e6);
        let found = found.into_iter();
        let found = found.map(|(path, ns, status)| (path, ms(ns), status));
        (found.collect(), fields)
    }

    #[test]
    fn lines_about_one_request_are_one_entry() {
        // pino-http: the request's logger repeats the request in each line; its IDs are numbers.
        const PINO: [&str; 2] = [
            r#"{"level":30,"pid":1,"req":{"id":#,"method":"GET","url":"/a"},"msg":"something else"}"#,
            r#"{"level":30,"pid":1,"req":{"id":#,"method":"GET","url":"/a"},"res":{"statusCode":200},"responseTime":40,"msg":"request completed"}"#,
        ];
        // Serilog: enrichers add the path to the messages of Entity Framework and of actions.
        const SERILOG: [&str; 3] = [
            r#"{"@mt":"Executed DbCommand","elapsed":"2","commandText":"SELECT 1","SourceContext":"Microsoft.EntityFrameworkCore.Database.Command","RequestId":"0HN:#","RequestPath":"/a"}"#,
            r#"{"@mt":"Executed action","ElapsedMilliseconds":80.5,"SourceContext":"Microsoft.AspNetCore.Mvc.X","RequestId":"0HN:#","RequestPath":"/a"}"#,
            r#"{"@mt":"HTTP {RequestMethod}","RequestMethod":"GET","RequestPath":"/a","StatusCode":200,"Elapsed":40,"RequestId":"0HN:#"}"#,
        ];
        const CLIENT: [&str; 2] = [
            r#"{"@mt":"Received","ElapsedMilliseconds":30.5,"StatusCode":404,"SourceContext":"System.Net.Http.HttpClient.Stock.ClientHandler","HttpMethod":"GET","Uri":"http://stock/items/7","RequestId":"0HN:#","RequestPath":"/a"}"#,
            SERILOG[2],
        ];
        const CONSOLE: [&str; 2] = [
            r#"{"Category":"Microsoft.AspNetCore.Hosting.Diagnostics","State":{"Method":"GET","Path":"/a"}}"#,
            r#"{"Category":"Microsoft.AspNetCore.Hosting.Diagnostics","State":{"Method":"GET","Path":"/a","ElapsedMilliseconds":40,"StatusCode":200}}"#,
        ];
        // logback: a filter adds the request to each message of its thread (MDC).
        const MDC: [&str; 3] = [
            r#"{"message":"loading","req.requestURI":"/a","req.method":"GET"}"#,
            r#"{"message":"saving","req.requestURI":"/a","req.method":"GET"}"#,
            r#"{"message":"done","req.requestURI":"/a","req.method":"GET","status":200,"duration_ms":40}"#,
        ];
        const STARTED: [&str; 2] = [
            r#"{"msg":"request started","id":"abc#","method":"GET","path":"/a"}"#,
            r#"{"msg":"request finished","id":"abc#","method":"GET","path":"/a","status":200,"duration_ms":40}"#,
        ];
        // Kubernetes: each stage of a request is an event with the same audit ID.
        const AUDIT: [&str; 2] = [
            r#"{"auditID":"9d3f-#","stage":"RequestReceived","requestURI":"/a?limit=500","verb":"list"}"#,
            r#"{"auditID":"9d3f-#","stage":"ResponseComplete","requestURI":"/a?limit=500","verb":"list","responseStatus":{"code":200}}"#,
        ];
        const VERCEL: [&str; 2] = [
            r#"{"message":"START","requestId":"643a-#","statusCode":200,"proxy":{"method":"GET","path":"/a","statusCode":200}}"#,
            r#"{"message":"hello","requestId":"643a-#","statusCode":200,"proxy":{"method":"GET","path":"/a","statusCode":200}}"#,
        ];
        for (lines, ms, advice) in [
            (&PINO[..], 40.0, None),
            (&SERILOG, 40.0, Some(LogAdvice::LinesOfParts { lines: 6 })),
            (&CLIENT, 40.0, Some(LogAdvice::LinesOfParts { lines: 3 })),
            (
                &CONSOLE,
                40.0,
                Some(LogAdvice::LinesWithoutEnd { lines: 3 }),
            ),
            (&MDC, 40.0, Some(LogAdvice::LinesWithoutEnd { lines: 6 })),
            (&STARTED, 40.0, None),
            (&AUDIT, 0.0, None),
            (&VERCEL, 0.0, Some(LogAdvice::RepeatedLines { lines: 3 })),
        ] {
            let log: Vec<String> = (1..4)
                .flat_map(|id| {
                    lines
                        .iter()
                        .map(move |line| line.replace('#', &id.to_string()))
                })
                .collect();
            let (found, fields) = summary(&log.iter().map(String::as_str).collect::<Vec<_>>());
            let found: Vec<_> = found
                .iter()
                .map(|(path, ms, status)| (path.split('?').next(), *ms, *status))
                .collect();
            assert_eq!(found, [(Some("/a"), ms, 200); 3], "{}", log[0]);
            let given = fields.advice();
            let counted = |a: &&LogAdvice| {
                !matches!(
                    a,
                    LogAdvice::FieldMissing { .. } | LogAdvice::LinesWithoutRequest { .. }
                )
            };
            assert_eq!(given.iter().find(counted), advice.as_ref(), "{}", log[0]);
            assert_eq!(fields.assumptions(), [], "{}", log[0]);
        }
    }

    #[test]
    fn lines_whose_request_is_open_are_an_assumption() {
        let end = r#"{"method":"GET","path":"/a","status":200,"duration_ms":5}"#;
        let other = r#"{"method":"GET","path":"/b"}"#;
        let (found, fields) = summary(&[end, other, other]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            fields.assumptions(),
            [LogAssumption::UncountedLines { lines: 2 }]
        );
        // Without any end, each path is a request.
        assert_eq!(summary(&[other, other]).0.len(), 2);
        // An empty field shows that the line describes a request.
        let aborted = r#"{"method":"GET","path":"/b","status":null,"duration_ms":null}"#;
        assert_eq!(summary(&[end, aborted]).0.len(), 2);
        let begin = r#"{"request_id":"r-1","method":"GET","path":"/b"}"#;
        let (found, fields) = summary(&[begin, end]);
        assert_eq!(found.len(), 2);
        assert_eq!(
            fields.assumptions(),
            [LogAssumption::UnfinishedRequests { requests: 1 }]
        );
    }

    #[test]
    fn the_duration_of_a_failed_request_is_in_a_later_line() {
        // Fastify: the error handler logs the response, and later the end is logged.
        let begin =
            r#"{"reqId":"req-1","req":{"method":"GET","url":"/a"},"msg":"incoming request"}"#;
        let error = r#"{"reqId":"req-1","req":{"method":"GET","url":"/a"},"res":{"statusCode":500},"err":{"type":"Error"},"msg":"boom"}"#;
        let invalid = r#"{"reqId":"req-1","res":{"statusCode":400},"err":{"code":"FST_ERR_VALIDATION","statusCode":400}}"#;
        let end = r#"{"reqId":"req-1","res":{"statusCode":500},"responseTime":5000.5,"msg":"request completed"}"#;
        let (found, fields) = summary(&[begin, error, end]);
        assert_eq!(found, [("/a".to_string(), 5000.5, 500)]);
        assert_eq!(fields.advice(), [fields_without_time()]);
        let (found, _) = summary(&[begin, invalid, &end.replace("500}", "400}")]);
        assert_eq!(found, [("/a".to_string(), 5000.5, 400)]);
        // IDs begin again when the server starts again.
        let (found, _) = summary(&[begin, end, begin, end]);
        assert_eq!(found.len(), 2);
        // Without an end, the status is known.
        let (found, _) = summary(&[begin, end, &error.replace("req-1", "req-2")]);
        assert_eq!(found[1], ("/a".to_string(), 0.0, 500));
    }

    #[test]
    fn requests_of_a_trace_are_distinguished_by_their_paths() {
        let begin = |path: &str| format!(r#"{{"trace_id":"4b","method":"GET","path":"{path}"}}"#);
        let end = |path: &str, ms: u32| {
            format!(r#"{{"trace_id":"4b",{path}"status":200,"duration_ms":{ms}}}"#)
        };
        let lines = [
            begin("/a"),
            begin("/b"),
            end(r#""method":"GET","path":"/a","#, 900),
            end(r#""method":"GET","path":"/b","#, 100),
        ];
        let (found, fields) = summary(&lines.each_ref().map(String::as_str));
        let expected = [
            ("/a".to_string(), 900.0, 200),
            ("/b".to_string(), 100.0, 200),
        ];
        assert_eq!(found, expected);
        assert_eq!(fields.assumptions(), []);
        // Without paths, the request that began last ends first, as in nested calls.
        let lines = [begin("/a"), begin("/b"), end("", 100), end("", 900)];
        let (found, fields) = summary(&lines.each_ref().map(String::as_str));
        assert_eq!(found, [expected[1].clone(), expected[0].clone()]);
        assert_eq!(
            fields.assumptions(),
            [LogAssumption::SharedIds { requests: 1 }]
        );
        // Two requests of a trace can have the same path.
        let lines = [begin("/a"), begin("/a"), end("", 100), end("", 900)];
        let (found, _) = summary(&lines.each_ref().map(String::as_str));
        assert_eq!(
            found.iter().map(|f| f.1).collect::<Vec<_>>(),
            [100.0, 900.0]
        );
    }

    #[test]
    fn values_that_are_not_durations_are_reported() {
        let line = |value: &str| {
            format!(r#"{{"method":"GET","path":"/a","status":200,"duration_ms":{value}}}"#)
        };
        for (value, example) in [
            ("-12", "-12"),
            ("-12.5", "-12.5"),
            ("1e300", "1e300"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            let (found, fields) = summary(&[&line("12"), &line(value)]);
            assert_eq!((found[0].1, found[1].1), (12.0, 0.0));
            let expected = LogAssumption::UnparsedDurations {
                field: "duration_ms".into(),
                example: example.into(),
                requests: 1,
            };
            assert_eq!(fields.assumptions(), [expected]);
            assert_eq!(fields.advice(), [fields_without_time()]);
        }
        let (_, fields) = summary(&[&line("null"), &line("null")]);
        let empty = LogAdvice::DurationsEmpty {
            field: "duration_ms".into(),
        };
        assert_eq!(fields.advice(), [empty, fields_without_time()]);
    }

    #[test]
    fn statuses_are_read_from_text() {
        for (value, expected) in [
            (r#""HTTP/1.1 503 Service Unavailable""#, 503),
            (r#""404 Not Found""#, 404),
            // Vercel: the function crashed.
            ("-1", 500),
            (r#""broken""#, 0),
        ] {
            let line =
                format!(r#"{{"method":"GET","path":"/a","status":{value},"duration_ms":5}}"#);
            let (found, fields) = summary(&[&line]);
            assert_eq!(found[0].2, expected, "{line}");
            let unparsed = LogAdvice::StatusesUnparsed {
                field: "status".into(),
                example: "broken".into(),
            };
            assert_eq!(fields.advice().contains(&unparsed), expected == 0);
        }
    }

    #[test]
    fn requests_in_an_array_are_counted() {
        let batch = r#"{"time":"2026-05-01T10:00:00Z","requests":[{"method":"GET","path":"/a","status":200,"duration_ms":12},{"method":"GET","path":"/b","status":500,"duration_ms":120,"tags":["x","y"]}]}"#;
        let (found, _) = summary(&[batch]);
        let expected = [
            ("/a".to_string(), 12.0, 200),
            ("/b".to_string(), 120.0, 500),
        ];
        assert_eq!(found, expected);
        // An array within a request describes parts of it.
        let calls = r#"{"method":"GET","path":"/c","status":200,"duration_ms":50,"calls":[{"url":"/x","status":200},{"url":"/y","status":404}]}"#;
        assert_eq!(summary(&[calls]).0, [("/c".to_string(), 50.0, 200)]);
    }

    #[test]
    fn a_choice_between_durations_is_an_assumption() {
        let line =
            |fields: &str| format!(r#"{{"method":"GET","path":"/a","status":200,{fields}}}"#);
        for (fields, other) in [
            (
                r#""response_time_ms":12,"total_time_ms":250"#,
                Some("total_time_ms"),
            ),
            (
                r#""total_time":"250ms","latency":"12ms""#,
                Some("total_time"),
            ),
            (r#""duration_ms":123.4,"duration":"123.4ms""#, None),
            (r#""latency":12345,"latency_human":"12.345µs""#, None),
            (r#""duration":0.25,"elapsed_ms":250"#, None),
            (r#""duration_ms":250,"render":{"duration_ms":12}"#, None),
            (
                r#""responseTime":250,"latency":12,"req":{"url":"/a"}"#,
                None,
            ),
        ] {
            let (_, structured) = summary(&[&line(fields)]);
            let found = structured.assumptions();
            let found = found.iter().find_map(|assumption| match assumption {
                LogAssumption::DurationFields { other, .. } => Some(other.as_str()),
                _ => None,
            });
            assert_eq!(found, other, "{fields}");
        }
    }

    #[test]
    fn errors_do_not_describe_the_request() {
        // Node.js: errors of the file system have a path, and those of axios a status and a URL.
        for (line, expected) in [
            (
                r#"{"req":{"method":"GET","url":"/download"},"res":{"statusCode":500},"err":{"code":"ENOENT","path":"/var/data/x"},"responseTime":12}"#,
                ("/download", 500),
            ),
            (
                r#"{"err":{"status":404,"config":{"url":"/y"}},"req":{"method":"GET","url":"/proxy"},"res":{"statusCode":502},"responseTime":12}"#,
                ("/proxy", 502),
            ),
            (
                r#"{"service":{"uri":"/svc","status":200},"request":{"method":"GET","url":"/a"},"response":{"code":503},"duration_ms":5}"#,
                ("/a", 503),
            ),
        ] {
            let (found, _) = summary(&[line]);
            assert_eq!((found[0].0.as_str(), found[0].2), expected, "{line}");
        }
    }

    #[test]
    fn text_is_not_a_request_line() {
        let line = r#"{"level":"error","request":"order 12/3 failed"}"#;
        assert_eq!(summary(&[line]).0, []);
        // nginx logs what a client sent.
        let sent = r#"{"request":"\u0016\u0003 /x","status":400,"request_time":"0.001"}"#;
        assert_eq!(summary(&[sent]).0.len(), 1);
    }

    #[test]
    fn nginxs_upstream_times_are_durations_if_there_are_no_others() {
        let (found, fields) = read_all(&[
            r#"{"request":"GET /a HTTP/1.1","status":"200","upstream_response_time":"0.010, 0.020 : 0.3"}"#,
            r#"{"request":"GET /a HTTP/1.1","status":"200","upstream_response_time":"-"}"#,
        ]);
        assert_eq!((found[0].1, found[1].1), (Some(330_000_000), None));
        assert_eq!(
            fields.advice(),
            [LogAdvice::UpstreamTimes, fields_without_time()]
        );
        assert_eq!(fields.assumptions(), []);
        let (found, _) = read_all(&[
            r#"{"request":"GET /a HTTP/1.1","upstream_response_time":"0.3","request_time":"0.480","msec":"1760126436.123"}"#,
        ]);
        assert_eq!(found[0].1, Some(480_000_000));
    }

    fn fields_without_time() -> LogAdvice {
        LogAdvice::FieldMissing {
            role: FieldRole::Time,
            candidates: Vec::new(),
        }
    }

    #[test]
    fn request_lines_take_precedence_over_other_paths() {
        for (line, request) in [
            (
                r#"{"request":"GET /a?b HTTP/1.1","uri":"/index.php","status":"200","request_time":"0.250"}"#,
                "GET /a?b",
            ),
            (
                r#"{"path":"/var/log/access.log","request":"POST /a HTTP/1.1","status":200}"#,
                "POST /a",
            ),
            (
                r#"{"path":"/var/log/access.log","verb":"PUT","request":"/a","status":200}"#,
                "PUT /a",
            ),
            (
                r#"{"log":{"file":{"path":"/var/log/a.log"}},"url":{"original":"/a"},"http":{"request":{"method":"GET"}}}"#,
                "GET /a",
            ),
            // Text that is not a request line does not replace the path.
            (r#"{"path":"/a","method":"GET","request":"a/b"}"#, "GET /a"),
            (
                r#"{"path":"/a","method":"GET","request":"GET it"}"#,
                "GET /a",
            ),
        ] {
            assert_eq!(read(line).2, request, "{line}");
        }
        let user_fields = r#"{"request":"GET /a HTTP/1.1","uri":"/index.php","status":200}"#;
        let found = read_with(user_fields, None, "path=uri").map(|found| found.2);
        assert_eq!(found.as_deref(), Some("GET /index.php"));
    }

    #[test]
    fn a_written_unit_takes_precedence_over_a_given_unit() {
        let given = |line: &str| read_with(line, Some(1_000), "").and_then(|found| found.1);
        assert_eq!(
            given(r#"{"path":"/a","duration":26,"response_flags":"-"}"#),
            Some(26_000)
        );
        assert_eq!(given(r#"{"path":"/a","duration_ms":26}"#), Some(26_000_000));
        assert_eq!(
            given(r#"{"path":"/a","duration":"26ms"}"#),
            Some(26_000_000)
        );
        // A duration with a unit takes precedence over a bare counter.
        assert_eq!(
            given(r#"{"path":"/a","duration":26,"elapsed_ns":7}"#),
            Some(7)
        );
    }

    #[test]
    fn fields_of_any_nesting_can_be_given() {
        let line = r#"{"a":{"when":"2026-05-01T08:00:00Z","what":{"uri":"/x","path":"/y"}},"n":12,"path":"/z","verb":"PUT"}"#;
        let found = read_with(
            line,
            Some(1_000_000),
            "time=a.when,path=a.what.uri,duration=n",
        );
        let expected = (
            Some(1_777_622_400),
            Some(12_000_000),
            "PUT /x".to_string(),
            0,
        );
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn times_may_have_brackets() {
        let line = r#"{"time":"[10/Oct/2025:13:00:36 -0700]","request":"GET /a HTTP/1.1","elapsedTime":"9"}"#;
        assert_eq!(read(line).0, Some(1_760_126_436));
    }

    #[test]
    fn a_date_and_a_time_of_day_in_two_fields_are_combined() {
        let line = r#"{"cs-uri-stem":"/a","sc-status":"200","time-taken":"0.002","date":"2021-06-09","time":"15:17:25","x-edge-location":"F"}"#;
        assert_eq!(read(line).0, Some(1_623_251_845));
    }

    #[test]
    fn objects_without_a_request_have_no_entry() {
        let mut json = Json::default();
        for bad in [
            &b"{"[..],
            b"[{}, {}]",
            b"nonsense",
            b"{\"uri\":\"/\"} x",
            b"\"/\"",
        ] {
            assert_eq!(json.line(bad, &mut |_| {}), LineKind::Malformed);
        }
        for other in [
            &b"{}"[..],
            b"",
            b"[",
            b"]",
            br#"{"level":"info","path":"/etc/x"}"#,
        ] {
            assert_eq!(json.line(other, &mut |_| {}), LineKind::Other);
        }
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(json.line(deep.as_bytes(), &mut |_| {}), LineKind::Malformed);
    }
}

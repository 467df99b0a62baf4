// SPDX-License-Identifier: Apache-2.0
//! Finds the origin and the time in the JSON that collectors write around a line.
//!
//! Sources: Docker, *JSON File logging driver*; Fluent Bit and Vector, Kubernetes metadata; Elastic
//! Common Schema; Google Cloud, `LogEntry`; AWS, `FilterLogEvents`; Azure, resource logs;
//! CloudNativePG, *Logging*; systemd, *Journal Export Formats*.

use super::prefix_time::{HeadTime, local_time};
use serde_json::Value;

/// The fields that identify the process group, container or server that wrote a line.
const ORIGINS: [&[&str]; 32] = [
    &["kubernetes", "namespace_name"],
    &["kubernetes", "pod_namespace"],
    &["kubernetes", "namespace"],
    &["kubernetes", "pod_name"],
    &["kubernetes", "pod", "name"],
    &["kubernetes", "container_name"],
    &["kubernetes", "container", "name"],
    &["resource", "labels", "namespace_name"],
    &["resource", "labels", "pod_name"],
    &["resource", "labels", "container_name"],
    &["resource", "labels", "database_id"],
    &["resource", "labels", "instance_id"],
    &["logging_pod"],
    &["container_id"],
    &["container_name"],
    &["container", "id"],
    &["container", "name"],
    &["docker", "container_id"],
    &["CONTAINER_ID"],
    &["CONTAINER_NAME"],
    &["attrs", "tag"],
    &["pod"],
    &["pod_name"],
    &["host"],
    &["host", "name"],
    &["hostname"],
    &["_HOSTNAME"],
    &["logStream"],
    &["logStreamName"],
    &["log_stream"],
    &["resourceId"],
    &["LogicalServerName"],
];

/// Returns the names of the pod, container or server that wrote the line inside a JSON line. Empty
/// if the JSON contains none.
pub fn origin(wrapped: &Value) -> String {
    let find = |path: &&[&str]| path.iter().try_fold(wrapped, |value, name| value.get(name));
    let mut origin = String::new();
    for value in ORIGINS.iter().filter_map(find) {
        let name = match value {
            Value::String(name) => name.as_str().into(),
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        if !origin.is_empty() {
            origin.push(' ');
        }
        origin.push_str(&name);
    }
    origin
}

/// Returns true if a JSON line may contain an origin. Much faster than [`origin`].
pub fn may_have_origin(line: &[u8]) -> bool {
    let names = ORIGINS.iter().map(|path| path[0]);
    let has = |name: &str| {
        let find = memchr::memmem::find_iter(line, name.as_bytes());
        let is_key =
            |at: usize| at > 0 && line[at - 1] == b'"' && line.get(at + name.len()) == Some(&b'"');
        find.into_iter().any(is_key)
    };
    names.into_iter().any(has)
}

/// Returns the time that a collector wrote into a JSON line, in seconds since 1970.
pub fn outer_time_s(wrapped: &Value) -> Option<i64> {
    const TIMES: [&str; 9] = [
        "__REALTIME_TIMESTAMP",
        "@timestamp",
        "timestamp",
        "time",
        "ts",
        "receiveTimestamp",
        "ingestionTime",
        "date",
        "eventTime",
    ];
    TIMES.iter().find_map(|name| time_in(wrapped.get(name)?))
}

/// Parses a time with a zone, or a number of seconds, milliseconds, microseconds or nanoseconds
/// since 1970.
fn time_in(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => match local_time(text.as_bytes()) {
            Some((HeadTime::Local(local_s, Some(zone)), length)) if length == text.len() => {
                return Some(local_s - zone_offset_s(zone)?);
            }
            _ => text.parse().ok()?,
        },
        _ => return None,
    };
    // From 2001 to 2286, the number of digits shows the unit.
    let scales = [1e9, 1e12, 1e15, 1e18];
    let scale = scales
        .iter()
        .find(|scale| (**scale..**scale * 10.0).contains(&number))?;
    Some((number / (scale / 1e9)).floor() as i64)
}

/// Parses `Z`, `UTC`, `GMT` or an offset such as `+02:00`, in seconds east of UTC.
fn zone_offset_s(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"UTC" | b"GMT" => Some(0),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let digits: Vec<u8> = rest.iter().filter(|b| **b != b':').copied().collect();
            let number =
                |text: &[u8]| crate::time::number(text).and_then(|n| i64::try_from(n).ok());
            let hours = number(digits.get(..2)?)?;
            let minutes = number(&digits[2..]).unwrap_or(0);
            let offset_s = hours * 3600 + minutes * 60;
            Some(if *sign == b'-' { -offset_s } else { offset_s })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn origins_of_collectors_differ() {
        for (wrapped, expected) in [
            (
                json!({"kubernetes": {"pod_name": "pg-0", "pod_namespace": "x"}}),
                "x pg-0",
            ),
            (json!({"kubernetes": {"pod": {"name": "pg-1"}}}), "pg-1"),
            (
                json!({"resource": {"labels": {"database_id": "p:db0"}}}),
                "p:db0",
            ),
            (json!({"logging_pod": "cluster-1"}), "cluster-1"),
            (json!({"container_id": "3f", "host": {"name": "a"}}), "3f a"),
            (json!({"host": 7, "logStream": "b"}), "7 b"),
            (json!({"log": "a", "stream": "stdout"}), ""),
        ] {
            assert_eq!(origin(&wrapped), expected);
            let line = wrapped.to_string();
            assert_eq!(may_have_origin(line.as_bytes()), !expected.is_empty());
        }
    }

    #[test]
    fn times_of_collectors_are_read() {
        const T: i64 = 1_777_629_600;
        for (value, expected) in [
            (json!({"timestamp": "2026-05-01T10:00:00.415426Z"}), Some(T)),
            (json!({"time": "2026-05-01T12:00:00.4+02:00"}), Some(T)),
            (json!({"__REALTIME_TIMESTAMP": "1777629600000000"}), Some(T)),
            (json!({"timestamp": 1_777_629_600_123_i64}), Some(T)),
            (json!({"date": 1_777_629_600.5}), Some(T)),
            (json!({"time": "2026-05-01 10:00:00"}), None),
            (json!({"time": 12}), None),
            (json!({"message": "a"}), None),
        ] {
            assert_eq!(outer_time_s(&value), expected, "{value}");
        }
    }
}

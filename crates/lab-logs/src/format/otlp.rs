// SPDX-License-Identifier: Apache-2.0
//! Parses spans that the OpenTelemetry Collector's file exporter writes, one batch on each line.
//!
//! Server spans are pages. Spans with the text of a query are queries of these pages.
//!
//! Source: OpenTelemetry Protocol 1.5, *JSON Protobuf encoding*; *semantic conventions* for HTTP,
//! RPC and database spans 1.20 (`http.method`, `db.statement`) and 1.27 (`http.request.method`,
//! `db.query.text`).

use crate::entry::{Entry, LineKind};
use crate::sql::Dialect;
use crate::time::Zone;
use serde::Deserialize;
use serde_json::Value;

/// The maximum size of a batch, in bytes.
pub const MAX_LINE: usize = 64 << 20;

/// Systems whose queries are SQL, by their names in both versions of the conventions.
const SQL_SYSTEMS: [&str; 36] = [
    "postgresql",
    "mysql",
    "mariadb",
    "mssql",
    "microsoft.sql_server",
    "oracle",
    "oracle.db",
    "db2",
    "ibm.db2",
    "sqlite",
    "h2",
    "h2database",
    "hsqldb",
    "derby",
    "cockroachdb",
    "redshift",
    "aws.redshift",
    "snowflake",
    "clickhouse",
    "trino",
    "presto",
    "hive",
    "spanner",
    "gcp.spanner",
    "teradata",
    "vertica",
    "firebird",
    "firebirdsql",
    "sybase",
    "hanadb",
    "sap.hana",
    "informix",
    "ibm.informix",
    "edb",
    "greenplum",
    "other_sql",
];
/// Words that begin a query, for spans that do not name their system.
const SQL_WORDS: [&str; 12] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "COMMIT", "ROLLBACK", "CALL", "MERGE",
    "CREATE", "TRUNCATE",
];

/// A parser of span batches.
#[derive(Clone, Debug, Default)]
pub struct Otlp {
    /// The time zone for determining a request's hour of the day.
    pub zone: Zone,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Batch {
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ResourceSpans {
    resource: Resource,
    #[serde(alias = "instrumentationLibrarySpans")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Resource {
    attributes: Vec<Attribute>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ScopeSpans {
    spans: Vec<Span>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Span {
    trace_id: String,
    name: String,
    /// The kind of span. 2 or `SPAN_KIND_SERVER` means a server span.
    kind: Value,
    /// The start time. 64-bit numbers are encoded as strings.
    start_time_unix_nano: Value,
    end_time_unix_nano: Value,
    attributes: Vec<Attribute>,
    status: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attribute {
    key: String,
    value: Value,
}

/// Returns true if a line begins like a batch of spans.
pub fn is_batch(line: &[u8]) -> bool {
    let begin = &line[..line.len().min(64)];
    begin.first() == Some(&b'{') && memchr::memmem::find(begin, b"\"resourceSpans\"").is_some()
}

impl Otlp {
    /// Parses a line and passes the entries of its spans to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if line.is_empty() {
            return LineKind::Other;
        }
        // Serde would also accept a list as a batch.
        let object: &[u8] = if line.starts_with(b"{") { line } else { b"" };
        let Ok(batch) = serde_json::from_slice::<Batch>(object) else {
            return LineKind::Malformed;
        };
        for resource in &batch.resource_spans {
            let service = text(&resource.resource.attributes, &["service.name"]).unwrap_or("");
            let spans = resource.scope_spans.iter().flat_map(|scope| &scope.spans);
            for span in spans {
                self.span(span, service, sink);
            }
        }
        LineKind::Entry
    }

    fn span(&mut self, span: &Span, service: &str, sink: &mut impl FnMut(&Entry)) {
        let (start, end) = (
            nanos(&span.start_time_unix_nano),
            nanos(&span.end_time_unix_nano),
        );
        let Some(start) = start.filter(|ns| *ns > 0) else {
            return;
        };
        let has_failed =
            integer(&span.status["code"]) == Some(2) || span.status["code"] == "STATUS_CODE_ERROR";
        let time_s = (start / 1_000_000_000) as i64;
        // A trace can span multiple services, and each query belongs to a request of the query's
        // own service.
        let id = format!("{} {service}", span.trace_id.to_ascii_lowercase());
        let entry = Entry {
            time_s: Some(time_s),
            offset_s: self.zone.offset_at(time_s),
            duration_ns: end.and_then(|end| end.checked_sub(start)),
            status: if has_failed { 500 } else { 0 },
            id: if span.trace_id.is_empty() {
                b""
            } else {
                id.as_bytes()
            },
            ..Entry::default()
        };
        let attributes = &span.attributes;
        if let Some(statement) = text(attributes, &["db.query.text", "db.statement"]) {
            let system = text(attributes, &["db.system.name", "db.system"]).unwrap_or("");
            let name = query_name(span, statement, system);
            sink(&Entry {
                target: name.as_deref().unwrap_or(statement).as_bytes(),
                is_query: true,
                dialect: if matches!(system, "mysql" | "mariadb") {
                    Dialect::Mysql
                } else {
                    Dialect::Postgresql
                },
                status: if has_failed { 500 } else { 200 },
                ..entry
            });
        } else if integer(&span.kind) == Some(2) || span.kind == "SPAN_KIND_SERVER" {
            let status = number(
                attributes,
                &["http.response.status_code", "http.status_code"],
            );
            let rpc = text(attributes, &["rpc.service"]).zip(text(attributes, &["rpc.method"]));
            let rpc = rpc.map(|(service, method)| format!("/{service}/{method}"));
            let target = text(
                attributes,
                &[
                    "http.route",
                    "url.path",
                    "http.target",
                    "url.full",
                    "http.url",
                ],
            );
            let named = span
                .name
                .split_once(' ')
                .map_or(span.name.as_str(), |(_, path)| path);
            sink(&Entry {
                method: text(attributes, &["http.request.method", "http.method"])
                    .unwrap_or("")
                    .as_bytes(),
                target: target.or(rpc.as_deref()).unwrap_or(named).as_bytes(),
                status: status
                    .filter(|s| *s < 1000)
                    .map_or(entry.status, |s| s as u16),
                bytes: number(
                    attributes,
                    &["http.response.body.size", "http.response_content_length"],
                )
                .unwrap_or(0),
                agent: text(attributes, &["user_agent.original", "http.user_agent"])
                    .unwrap_or("")
                    .as_bytes(),
                ..entry
            });
        }
    }
}

/// Returns a name for a query that is not SQL. The name does not contain the text of the query,
/// which can contain any data.
///
/// Returns `None` for SQL.
fn query_name(span: &Span, statement: &str, system: &str) -> Option<String> {
    let begins_with = |word: &&str| {
        let begin = statement.trim_start().get(..word.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    };
    let is_sql = if system.is_empty() {
        SQL_WORDS.iter().any(begins_with)
    } else {
        SQL_SYSTEMS.contains(&system)
    };
    if is_sql {
        return None;
    }
    let attributes = &span.attributes;
    let operation = text(attributes, &["db.operation.name", "db.operation"]);
    let collection = text(
        attributes,
        &[
            "db.collection.name",
            "db.mongodb.collection",
            "db.cassandra.table",
        ],
    );
    // Some libraries use the text as the span's name.
    let is_text =
        |name: &str| name == statement || (name.contains(' ') && statement.starts_with(name));
    let span_name = Some(span.name.as_str()).filter(|name| !name.is_empty() && !is_text(name));
    let words = match (operation, collection) {
        (None, None) => vec![system, span_name.unwrap_or("query")],
        (operation, collection) => vec![
            system,
            operation.unwrap_or_default(),
            collection.unwrap_or_default(),
        ],
    };
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Some(words.join(" "))
}

/// Returns the value of the first of these attributes that is present.
fn attribute<'a>(attributes: &'a [Attribute], keys: &[&str]) -> Option<&'a Value> {
    let of = |key: &&str| attributes.iter().find(|a| a.key == *key);
    keys.iter().find_map(of).map(|attribute| &attribute.value)
}

fn text<'a>(attributes: &'a [Attribute], keys: &[&str]) -> Option<&'a str> {
    attribute(attributes, keys)?["stringValue"].as_str()
}

fn number(attributes: &[Attribute], keys: &[&str]) -> Option<u64> {
    let value = attribute(attributes, keys)?;
    integer(&value["intValue"]).or(integer(&value["stringValue"]))
}

fn nanos(value: &Value) -> Option<u64> {
    integer(value)
}

/// Parses an integer that is encoded as a number or as a string.
fn integer(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = (bool, String, Option<i64>, Option<u64>, u16, String);

    fn read(line: &str) -> (LineKind, Vec<Found>) {
        let mut found = Vec::new();
        let kind = Otlp::default().line(line.as_bytes(), &mut |e: &Entry| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let name = text(&[e.method, b" ", e.target].concat());
            found.push((
                e.is_query,
                name,
                e.time_s,
                e.duration_ns,
                e.status,
                text(e.id),
            ));
        });
        (kind, found)
    }

    const LINE: &str = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{},"spans":[
        {"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"a","name":"GET /orders","kind":2,"startTimeUnixNano":"1777629600000000000","endTimeUnixNano":"1777629600250000000","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"url.path","value":{"stringValue":"/orders"}},{"key":"http.response.status_code","value":{"intValue":"200"}}]},
        {"traceId":"5b8efff798038103d269b633813fc60c","spanId":"b","parentSpanId":"a","name":"SELECT","kind":"SPAN_KIND_CLIENT","startTimeUnixNano":1777629600000000001,"endTimeUnixNano":1777629600001000001,"attributes":[{"key":"db.statement","value":{"stringValue":"SELECT 1"}}],"status":{"code":2}},
        {"traceId":"5b8efff798038103d269b633813fc60c","spanId":"c","name":"internal","kind":1,"startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}"#;

    #[test]
    fn spans_of_servers_and_of_databases_are_read() {
        let id = "5b8efff798038103d269b633813fc60c shop".to_string();
        let t = Some(1_777_629_600);
        let (kind, found) = read(LINE);
        assert_eq!(kind, LineKind::Entry);
        assert_eq!(
            found,
            [
                (
                    false,
                    "GET /orders".into(),
                    t,
                    Some(250_000_000),
                    200,
                    id.clone()
                ),
                (true, " SELECT 1".into(), t, Some(1_000_000), 500, id),
            ]
        );
        assert!(is_batch(LINE.as_bytes()) && !is_batch(b"{\"path\":\"/\"}"));
    }

    #[test]
    fn queries_that_are_not_sql_are_named_without_their_text() {
        let name = |system: &str, statement: &str, others: &str| {
            let line = LINE.replace(
                r#"{"key":"db.statement","value":{"stringValue":"SELECT 1"}}"#,
                &format!(
                    r#"{{"key":"db.system","value":{{"stringValue":"{system}"}}}},{{"key":"db.statement","value":{{"stringValue":"{statement}"}}}}{others}"#
                ),
            );
            let (_, found) = read(&line);
            found[1].1.trim().to_string()
        };
        let operation = r#",{"key":"db.operation.name","value":{"stringValue":"find"}},{"key":"db.collection.name","value":{"stringValue":"people"}}"#;
        let find = "{'find':'people','filter':{'mail':'ann@example.org'}}";
        assert_eq!(name("mongodb", find, operation), "mongodb find people");
        // The span's name is SELECT here.
        assert_eq!(name("redis", "SET ann 1970-01-01", ""), "redis SELECT");
        assert_eq!(name("redis", "SELECT", ""), "redis query");
        assert_eq!(name("", find, operation), "find people");
        for system in ["postgresql", "mariadb", "microsoft.sql_server", ""] {
            assert_eq!(name(system, "select 7", operation), "select 7");
        }
    }

    #[test]
    fn lines_other_than_batches_are_malformed() {
        for bad in ["{", "[]", "{\"resourceSpans\":3}", "nonsense"] {
            assert_eq!(read(bad).0, LineKind::Malformed, "{bad}");
        }
        assert_eq!(
            read("{\"resourceSpans\":[]}"),
            (LineKind::Entry, Vec::new())
        );
    }
}

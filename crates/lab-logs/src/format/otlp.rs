// SPDX-License-Identifier: Apache-2.0
//! Parses spans that the OpenTelemetry Collector's file exporter or Java's
//! `OtlpJsonLoggingSpanExporter` writes, one batch on each line.
//!
//! Each server span becomes a page. Each client span of a database becomes a query of the page that
//! ran the query.
//!
//! Source: OpenTelemetry Protocol 1.5, *JSON Protobuf encoding*; *semantic conventions* for HTTP,
//! RPC and database spans 1.20 (`http.method`, `db.statement`), 1.27 (`http.request.method`,
//! `db.query.text`) and, for RPC, 1.45 (`rpc.method` with the service).

use crate::entry::{Entry, LineKind};
use crate::sql::Dialect;
use crate::time::Zone;
use lab_model::{LogAdvice, LogAssumption};
use serde::{Deserialize, Deserializer};
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
/// The systems of [`SQL_SYSTEMS`] in which `"…"` is always a name by default.
///
/// In others, such as SQLite and Sybase, it can be a string.
const NAME_QUOTING: [&str; 26] = [
    "postgresql",
    "mssql",
    "microsoft.sql_server",
    "oracle",
    "oracle.db",
    "db2",
    "ibm.db2",
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
    "teradata",
    "vertica",
    "firebird",
    "firebirdsql",
    "hanadb",
    "sap.hana",
    "edb",
    "greenplum",
];
/// The systems of [`SQL_SYSTEMS`] whose strings are like those of MySQL: in `"…"` as well, and with
/// backslashes.
///
/// Sources: Google Cloud, *GoogleSQL lexical structure*; Apache Hive, *LanguageManual Types*.
const LIKE_MYSQL: [&str; 5] = ["mysql", "mariadb", "hive", "spanner", "gcp.spanner"];
/// Words that begin a query, for spans that do not name their system.
const SQL_WORDS: [&str; 12] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "COMMIT", "ROLLBACK", "CALL", "MERGE",
    "CREATE", "TRUNCATE",
];

/// The attributes with the database system.
const SYSTEM: [&str; 2] = ["db.system.name", "db.system"];

/// A parser of span batches.
#[derive(Clone, Debug, Default)]
pub struct Otlp {
    /// The time zone for determining a request's hour of the day.
    pub zone: Zone,
    /// The number of server spans.
    servers: u64,
    /// The number of server and database spans that have no start, no end, or an end before the
    /// start.
    untimed: u64,
    /// The number of spans that process messages.
    consumers: u64,
    /// The number of client spans that are not queries of a database.
    clients: u64,
    /// The number of all other spans.
    others: u64,
}

/// A batch of spans.
///
/// The spans of multiple resources are in `resource_spans`. The spans of a single resource are in
/// `resource` and `scope_spans`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Batch {
    #[serde(deserialize_with = "null_as_default")]
    resource_spans: Vec<ResourceSpans>,
    #[serde(deserialize_with = "null_as_default")]
    resource: Resource,
    #[serde(deserialize_with = "null_as_default")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ResourceSpans {
    #[serde(deserialize_with = "null_as_default")]
    resource: Resource,
    #[serde(
        alias = "instrumentationLibrarySpans",
        deserialize_with = "null_as_default"
    )]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Resource {
    #[serde(deserialize_with = "null_as_default")]
    attributes: Vec<Attribute>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ScopeSpans {
    #[serde(deserialize_with = "null_as_default")]
    spans: Vec<Span>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Span {
    #[serde(deserialize_with = "null_as_default")]
    trace_id: String,
    #[serde(deserialize_with = "null_as_default")]
    name: String,
    /// The kind of span, as a number or as a name.
    kind: Value,
    /// The start time. 64-bit numbers are encoded as strings.
    start_time_unix_nano: Value,
    end_time_unix_nano: Value,
    #[serde(deserialize_with = "null_as_default")]
    attributes: Vec<Attribute>,
    status: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attribute {
    key: String,
    value: Value,
}

/// Reads a value that some exporters write as `null` if it is empty.
fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanKind {
    Server,
    Client,
    Consumer,
    Other,
}

impl Span {
    fn kind(&self) -> SpanKind {
        match (integer(&self.kind), self.kind.as_str()) {
            (Some(2), _) | (_, Some("SPAN_KIND_SERVER")) => SpanKind::Server,
            (Some(3), _) | (_, Some("SPAN_KIND_CLIENT")) => SpanKind::Client,
            (Some(5), _) | (_, Some("SPAN_KIND_CONSUMER")) => SpanKind::Consumer,
            _ => SpanKind::Other,
        }
    }

    /// Returns the start time in ns since 1970.
    fn start_ns(&self) -> Option<u64> {
        integer(&self.start_time_unix_nano).filter(|ns| *ns > 0)
    }

    fn duration_ns(&self) -> Option<u64> {
        integer(&self.end_time_unix_nano)?.checked_sub(self.start_ns()?)
    }

    fn has_failed(&self) -> bool {
        integer(&self.status["code"]) == Some(2) || self.status["code"] == "STATUS_CODE_ERROR"
    }

    /// Returns the path of a request: the value of an attribute, the RPC's method, or the span's
    /// name.
    fn target(&self) -> String {
        const PATHS: [&str; 5] = [
            "http.route",
            "url.path",
            "http.target",
            "url.full",
            "http.url",
        ];
        if let Some(path) = text(&self.attributes, &PATHS) {
            return path.into();
        }
        let method = text(&self.attributes, &["rpc.method"]);
        let name = match (text(&self.attributes, &["rpc.service"]), method) {
            (Some(service), Some(method)) if !method.contains('/') => {
                format!("{service}/{method}")
            }
            (_, Some(method)) => method.into(),
            _ => match self.name.split_once(' ') {
                Some((method, path)) if path.starts_with('/') || is_method(method) => path.into(),
                None if is_method(&self.name) => return self.name.clone(),
                _ => self.name.clone(),
            },
        };
        let is_path = name.is_empty() || name.starts_with('/') || name.contains("://");
        if is_path { name } else { format!("/{name}") }
    }
}

/// Returns true if a word looks like an HTTP method, such as `GET`.
fn is_method(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase())
}

/// Returns true if a line begins like a batch of spans.
pub fn is_batch(line: &[u8]) -> bool {
    let line = without_mark(line);
    let begin = &line[..line.len().min(64)];
    let has = |text: &[u8], word: &[u8]| memchr::memmem::find(text, word).is_some();
    begin.first() == Some(&b'{')
        && (has(begin, b"\"resourceSpans\"")
            || (has(begin, b"\"resource\"") && has(line, b"\"scopeSpans\"")))
}

/// Returns the line without a byte order mark.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

impl Otlp {
    /// Creates a parser that has read nothing yet.
    pub fn new(zone: Zone) -> Otlp {
        Otlp {
            zone,
            ..Otlp::default()
        }
    }

    /// Parses a line and passes the entries of its spans to `sink`.
    pub fn line(&mut self, line: &[u8], sink: &mut impl FnMut(&Entry)) -> LineKind {
        if line.is_empty() {
            return LineKind::Other;
        }
        let line = without_mark(line);
        // Serde would also accept a list as a batch.
        let object: &[u8] = if line.starts_with(b"{") { line } else { b"" };
        let Ok(batch) = serde_json::from_slice::<Batch>(object) else {
            return LineKind::Malformed;
        };
        let only = ResourceSpans {
            resource: batch.resource,
            scope_spans: batch.scope_spans,
        };
        for resource in batch.resource_spans.iter().chain([&only]) {
            let service = text(&resource.resource.attributes, &["service.name"]).unwrap_or("");
            let spans = resource.scope_spans.iter().flat_map(|scope| &scope.spans);
            for span in spans {
                self.span(span, service, sink);
            }
        }
        LineKind::Entry
    }

    fn span(&mut self, span: &Span, service: &str, sink: &mut impl FnMut(&Entry)) {
        let time_s = span.start_ns().map(|start| (start / 1_000_000_000) as i64);
        // A trace can span multiple services, and each query belongs to a request of the query's
        // own service.
        let id = format!("{} {service}", span.trace_id.to_ascii_lowercase());
        let entry = Entry {
            time_s,
            offset_s: time_s.map_or(0, |time_s| self.zone.offset_at(time_s)),
            duration_ns: span.duration_ns(),
            id: if span.trace_id.is_empty() {
                b""
            } else {
                id.as_bytes()
            },
            ..Entry::default()
        };
        let kind = span.kind();
        let statement = text(&span.attributes, &["db.query.text", "db.statement"]);
        let is_database =
            kind == SpanKind::Client && attribute(&span.attributes, &SYSTEM).is_some();
        if statement.is_some() || is_database {
            give_query(span, statement, entry, sink);
        } else if kind == SpanKind::Server {
            self.servers += 1;
            give_request(span, entry, sink);
        } else {
            match kind {
                SpanKind::Consumer => self.consumers += 1,
                SpanKind::Client => self.clients += 1,
                _ => self.others += 1,
            }
            return;
        }
        self.untimed += u64::from(span.duration_ns().is_none());
    }

    /// Returns assumptions about the spans so far.
    pub fn assumptions(&self) -> Vec<LogAssumption> {
        let untimed = LogAssumption::UntimedSpans {
            spans: self.untimed,
        };
        Vec::from_iter((self.untimed > 0).then_some(untimed))
    }

    /// Returns advice about spans that are skipped.
    pub fn advice(&self) -> Vec<LogAdvice> {
        let mut advice = Vec::new();
        if self.consumers > 0 {
            advice.push(LogAdvice::ConsumerSpans {
                spans: self.consumers,
            });
        }
        if self.servers == 0 && self.clients + self.others > 0 {
            advice.push(LogAdvice::NoServerSpans {
                spans: self.clients + self.others,
            });
        }
        advice
    }
}

/// Passes the entry of a database span to `sink`.
fn give_query(span: &Span, statement: Option<&str>, entry: Entry, sink: &mut impl FnMut(&Entry)) {
    let system = text(&span.attributes, &SYSTEM).unwrap_or("");
    let name = match statement {
        Some(statement) => query_name(span, statement, system),
        None => Some(name_without_text(span, None, system)),
    };
    let target = name.as_deref().or(statement).unwrap_or_default();
    sink(&Entry {
        target: target.as_bytes(),
        is_query: true,
        dialect: dialect(system),
        status: if span.has_failed() { 500 } else { 200 },
        ..entry
    });
}

fn dialect(system: &str) -> Dialect {
    if LIKE_MYSQL.contains(&system) {
        Dialect::Mysql
    } else if NAME_QUOTING.contains(&system) {
        Dialect::Postgresql
    } else {
        Dialect::Unknown
    }
}

/// Passes the entry of a server span to `sink`.
fn give_request(span: &Span, entry: Entry, sink: &mut impl FnMut(&Entry)) {
    const STATUS: [&str; 2] = ["http.response.status_code", "http.status_code"];
    const BYTES: [&str; 2] = ["http.response.body.size", "http.response_content_length"];
    let attributes = &span.attributes;
    let word = |keys: &[&str]| text(attributes, keys).unwrap_or("");
    let status = number(attributes, &STATUS).filter(|status| *status < 1000);
    sink(&Entry {
        // Some libraries write the method in lower case.
        method: word(&["http.request.method", "http.method"])
            .to_ascii_uppercase()
            .as_bytes(),
        target: span.target().as_bytes(),
        status: match status {
            Some(status) => status as u16,
            None if span.has_failed() => 500,
            None => 0,
        },
        bytes: number(attributes, &BYTES).unwrap_or(0),
        agent: word(&["user_agent.original", "http.user_agent"]).as_bytes(),
        ..entry
    });
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
    Some(name_without_text(span, Some(statement), system))
}

/// Returns a name for a query.
///
/// The name consists of the database system and either the operation and the collection or the
/// span's name.
fn name_without_text(span: &Span, statement: Option<&str>, system: &str) -> String {
    let attributes = &span.attributes;
    let operation = text(attributes, &["db.operation.name", "db.operation"]);
    let collection = text(
        attributes,
        &[
            "db.collection.name",
            "db.mongodb.collection",
            "db.cassandra.table",
            "db.sql.table",
        ],
    );
    // Some libraries use the text as the span's name.
    let is_text = |name: &str| {
        statement.is_some_and(|statement| {
            name == statement || (name.contains(' ') && statement.starts_with(name))
        })
    };
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
    words.join(" ")
}

/// Returns the value of the first attribute in `keys` that is present.
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

    /// Returns a batch with one span that takes 50 ms.
    fn batch(name: &str, kind: u8, attributes: &str) -> String {
        format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"1","name":"{name}","kind":{kind},"startTimeUnixNano":"1777629600000000000","endTimeUnixNano":"1777629600050000000","attributes":{attributes}}}]}}]}}]}}"#
        )
    }

    /// Returns the JSON of attributes with string values.
    fn attributes(pairs: &[(&str, &str)]) -> String {
        let pairs = pairs.iter().map(|(key, value)| {
            format!(r#"{{"key":"{key}","value":{{"stringValue":"{value}"}}}}"#)
        });
        format!("[{}]", Vec::from_iter(pairs).join(","))
    }

    #[test]
    fn queries_without_text_are_named_by_operation_and_collection() {
        let mongo = attributes(&[
            ("db.system.name", "mongodb"),
            ("db.operation.name", "find"),
            ("db.collection.name", "people"),
        ]);
        let (_, found) = read(&batch("find people", 3, &mongo));
        assert_eq!(
            (found[0].0, found[0].1.trim()),
            (true, "mongodb find people")
        );
        assert_eq!(found[0].3, Some(50_000_000));
        let redis = attributes(&[("db.system", "redis")]);
        let (_, found) = read(&batch("HGET", 3, &redis));
        assert_eq!((found[0].0, found[0].1.trim()), (true, "redis HGET"));
        // An internal span is part of another span.
        assert_eq!(read(&batch("HGET", 1, &redis)).1, []);
    }

    #[test]
    fn requests_without_a_path_are_named_by_method_or_span() {
        let name = |name: &str, pairs: &[(&str, &str)]| {
            let (_, found) = read(&batch(name, 2, &attributes(pairs)));
            found[0].1.trim().to_string()
        };
        // Semantic conventions for RPC 1.20 and 1.45.
        let old = [("rpc.service", "shop.Cart"), ("rpc.method", "Add")];
        assert_eq!(name("shop.Cart/Add", &old), "/shop.Cart/Add");
        let new = [("rpc.method", "shop.Cart/Add")];
        assert_eq!(name("shop.Cart/Add", &new), "/shop.Cart/Add");
        assert_eq!(name("checkout", &[]), "/checkout");
        assert_eq!(name("mail send", &[]), "/mail send");
        assert_eq!(name("GET /orders", &[]), "/orders");
        let method = [("http.request.method", "GET")];
        assert_eq!(name("GET", &method), "GET GET");
    }

    /// A name in double quotes is a string in some systems.
    #[test]
    fn no_string_in_double_quotes_is_in_the_name_of_a_query() {
        let query = |system: &str, statement: &str| {
            let mut pairs = vec![("db.statement", statement)];
            if !system.is_empty() {
                pairs.push(("db.system", system));
            }
            let line = batch("SELECT", 3, &attributes(&pairs));
            let mut name = String::new();
            Otlp::default().line(line.as_bytes(), &mut |e: &Entry| {
                name = crate::query::fold(e.target, e.dialect);
            });
            name
        };
        let statement = r#"SELECT * FROM Users WHERE Email = \"ann@example.org\""#;
        for system in [
            "spanner",
            "hive",
            "informix",
            "sqlite",
            "sybase",
            "other_sql",
            "mysql",
            "",
        ] {
            assert_eq!(
                query(system, statement),
                "SELECT * FROM Users WHERE Email = ?",
                "{system}"
            );
        }
        let names = r#"SELECT \"id\" FROM \"orders\" WHERE \"note\" = 'x'"#;
        for system in SQL_SYSTEMS {
            assert_eq!(
                query(system, names),
                "SELECT \"id\" FROM \"orders\" WHERE \"note\" = ?",
                "{system}"
            );
        }
        for system in NAME_QUOTING.iter().chain(&LIKE_MYSQL) {
            assert!(SQL_SYSTEMS.contains(system), "{system}");
        }
    }

    #[test]
    fn methods_can_be_in_lower_case() {
        let pairs = [("http.method", "post"), ("http.target", "/a")];
        let (_, found) = read(&batch("POST", 2, &attributes(&pairs)));
        assert_eq!(found[0].1, "POST /a");
    }

    #[test]
    fn spans_that_are_skipped_are_counted() {
        let read = |lines: &[String]| {
            let mut otlp = Otlp::default();
            let kinds = lines
                .iter()
                .map(|line| otlp.line(line.as_bytes(), &mut |_| {}));
            assert!(
                Vec::from_iter(kinds)
                    .iter()
                    .all(|kind| *kind == LineKind::Entry)
            );
            (otlp.advice(), otlp.assumptions())
        };
        let [server, client, consumer] = [2, 3, 5].map(|kind| batch("x", kind, "null"));
        let skipped = LogAdvice::ConsumerSpans { spans: 1 };
        assert_eq!(
            read(&[server.clone(), client.clone(), consumer]).0,
            [skipped]
        );
        let none = LogAdvice::NoServerSpans { spans: 2 };
        assert_eq!(read(&[client.clone(), client]), (vec![none], vec![]));
        let early = server.replace("\"1777629600050000000", "\"1777629599999999995");
        let untimed = LogAssumption::UntimedSpans { spans: 1 };
        assert_eq!(read(&[server, early]), (vec![], vec![untimed]));
    }

    #[test]
    fn batches_have_multiple_forms() {
        let server = batch("x", 2, "[]");
        // opentelemetry-java, OtlpJsonLoggingSpanExporter: one resource, without the array.
        let of_resource = server
            .strip_prefix(r#"{"resourceSpans":["#)
            .and_then(|line| line.strip_suffix("]}"))
            .expect("a batch")
            .replacen('{', r#"{"resource":{"attributes":null},"#, 1);
        for line in [of_resource, format!("\u{feff}{server}")] {
            assert!(is_batch(line.as_bytes()), "{line}");
            assert_eq!(read(&line).1.len(), 1, "{line}");
        }
        let metrics = r#"{"resourceMetrics":[{"resource":{},"scopeMetrics":[]}]}"#;
        assert_eq!(read(metrics), (LineKind::Entry, Vec::new()));
        assert!(!is_batch(metrics.as_bytes()));
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

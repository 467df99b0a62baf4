// SPDX-License-Identifier: Apache-2.0
//! Tests the audit of a site in a HAR: which entries are files, and which figures the file supports.

use lab_audit::site;
use lab_model::audit::{Audit, AuditFinding, EvidenceValue, State};
use serde_json::{Value, json};

const PAGE: &str = "https://a.example/";

/// Builds an entry from its method, URL, status, header fields, and other parts of the response.
fn entry(method: &str, url: &str, status: i32, fields: &[(&str, &str)], more: Value) -> Value {
    let headers: Vec<Value> = fields
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let mut response = json!({"status": status, "headers": headers, "content": {}});
    for (name, value) in more.as_object().into_iter().flatten() {
        response[name] = value.clone();
    }
    json!({"request": {"method": method, "url": url}, "response": response})
}

/// Builds a page of HTML.
fn page() -> Value {
    let body = json!({"content": {"size": 4, "text": "page"}, "bodySize": 4});
    entry("GET", PAGE, 200, &[("Content-Type", "text/html")], body)
}

fn har(entries: &[Value]) -> String {
    json!({"log": {"entries": entries}}).to_string()
}

fn audit(entries: &[Value]) -> Audit {
    let (url, site) = site::of_har(&har(entries)).expect("a site");
    site::audit(&url, &site, &site::rules().expect("rules"))
}

/// Returns the finding of a rule about a file or a server.
fn finding<'a>(audit: &'a Audit, rule: &str, place: &str) -> Option<&'a AuditFinding> {
    let mut findings = audit.findings.iter();
    findings.find(|f| f.rule == rule && f.place == place)
}

fn state(audit: &Audit, rule: &str, place: &str) -> Option<State> {
    finding(audit, rule, place).map(|f| f.state)
}

fn notes(audit: &Audit) -> Vec<&str> {
    let notes = audit.facts.iter().filter(|(name, _)| name == "note");
    notes.map(|(_, text)| text.as_str()).collect()
}

/// Returns a cell of the table of resources.
fn cell<'a>(audit: &'a Audit, resource: &str, column: &str) -> &'a EvidenceValue {
    let table = audit.tables.iter().find(|t| t.title == "Resources");
    let table = table.expect("a table");
    let column = table.columns.iter().position(|name| name == column);
    let is_named = |row: &&Vec<EvidenceValue>| row[0] == EvidenceValue::Word(resource.into());
    let row = table.rows.iter().find(is_named);
    &row.expect("a row")[column.expect("a column")]
}

/// Returns a number in the table of resources, or `None` if the cell is empty.
fn number(audit: &Audit, resource: &str, column: &str) -> Option<f64> {
    match cell(audit, resource, column) {
        EvidenceValue::Number(number, _) => Some(*number),
        _ => None,
    }
}

/// 304: RFC 9110, 15.4.5. 404 and 410 mean that there is no file; 401 and 403 do not.
#[test]
fn the_files_of_a_har_exist_unless_their_status_says_otherwise() {
    let get = |name: &str, status: i32| {
        let url = format!("{PAGE}{name}");
        let css = [("Content-Type", "text/css"), ("Cache-Control", "no-cache")];
        entry("GET", &url, status, &css, json!({"bodySize": 0}))
    };
    let statuses = [
        ("/cached.css", 304, State::Good),
        ("/empty.css", 204, State::Good),
        ("/part.css", 206, State::Good),
        ("/login.css", 401, State::Advice),
        ("/rate.css", 429, State::Advice),
        ("/none.css", 404, State::Bad),
        ("/removed.css", 410, State::Bad),
        ("/crash.css", 503, State::Bad),
        ("/nowhere.css", 302, State::Bad),
    ];
    let mut entries = vec![page()];
    entries.extend(statuses.map(|(name, status, _)| get(&name[1..], status)));
    let audit = audit(&entries);
    for (name, _, expected) in statuses {
        assert_eq!(
            state(&audit, "resource-there", name),
            Some(expected),
            "{name}"
        );
    }
    assert_eq!(number(&audit, "/cached.css", "bytes"), Some(0.0));
    let revalidation = state(&audit, "resource-revalidation", "/cached.css");
    assert_eq!(revalidation, Some(State::Good));
    let failed = finding(&audit, "resource-there", "/crash.css").expect("a finding");
    assert!(!failed.fixes[0].lines[0].contains("remove"), "{failed:?}");
    // A 204 is not a file that a cache could store.
    let cache = state(&audit, "resource-cache", "/empty.css");
    assert_eq!(cache, Some(State::NotApplicable));
}

#[test]
fn only_responses_to_get_over_http_are_files() {
    let api = "https://a.example/api";
    let entries = [
        page(),
        entry("POST", api, 401, &[], json!({})),
        entry("OPTIONS", api, 204, &[], json!({})),
        entry("GET", "wss://a.example/live", 101, &[], json!({})),
        entry("GET", "https://a.example/live", 101, &[], json!({})),
        entry("GET", "data:image/png;base64,AAAA", 200, &[], json!({})),
        entry("POST", "https://b.example/count", 200, &[], json!({})),
    ];
    let audit = audit(&entries);
    for place in ["/api", "/live"] {
        assert!(audit.findings.iter().all(|f| f.place != place), "{place}");
    }
    let expected =
        "6 entries left out, because only responses to GET over HTTP are files of the page.";
    assert!(notes(&audit).contains(&expected), "{:?}", notes(&audit));
    let others = audit
        .tables
        .iter()
        .find(|t| t.title.starts_with("On other hosts"));
    assert_eq!(others.expect("a table").rows.len(), 1);
    let only_post = har(&entries[1..2]);
    let error = site::of_har(&only_post).err().unwrap_or_default();
    assert!(error.contains("no response to a GET request"), "{error}");
}

#[test]
fn requests_of_a_har_without_a_response_are_counted() {
    let audit = audit(&[
        page(),
        entry(
            "GET",
            "https://a.example/gone.png",
            0,
            &[],
            json!({"_error": "net::ERR_FAILED"}),
        ),
        entry("GET", "https://a.example/neg.png", -1, &[], json!({})),
        entry("GET", "https://b.example/ad.js", 0, &[], json!({})),
    ]);
    let expected = "3 requests got no response.";
    assert!(notes(&audit).contains(&expected), "{:?}", notes(&audit));
    for (place, reason) in [
        ("/gone.png", "net::ERR_FAILED"),
        ("/neg.png", "status is -1"),
    ] {
        let finding = finding(&audit, "resource-there", place).expect("a finding");
        assert_eq!(finding.state, State::Unknown);
        assert!(finding.seen.contains(reason), "{}", finding.seen);
    }
}

/// A 304 leaves out fields that a 200 has, so a missing field says nothing (RFC 9110, 15.4.5).
#[test]
fn a_page_from_the_cache_is_judged_by_the_fields_that_it_has() {
    let fields = [("Server", "Apache/2.4.62"), ("X-Frame-Options", "DENY")];
    let size = json!({"bodySize": 0, "content": {"size": 5000, "mimeType": "text/html"}});
    let audit = audit(&[entry("GET", PAGE, 304, &fields, size)]);
    assert_eq!(state(&audit, "resource-there", "/"), Some(State::Good));
    for (rule, expected) in [
        ("server-version", State::Advice),
        ("server-framed", State::Good),
        ("server-nosniff", State::Unknown),
        ("server-csp", State::Unknown),
        ("server-hsts", State::Unknown),
    ] {
        assert_eq!(state(&audit, rule, "a.example"), Some(expected), "{rule}");
    }
    assert_eq!(state(&audit, "resource-cache", "/"), Some(State::Unknown));
}

/// Sizes of a HAR (HAR 1.2, `response` and `content`): `size` is decoded, `bodySize` is sent, and -1
/// is unknown. `_transferSize` is Chrome's size of head and body.
#[test]
fn bytes_are_counted_as_sent() {
    let br = [("Content-Type", "text/css"), ("Content-Encoding", "br")];
    let plain = &br[..1];
    type SizeCase<'a> = (&'a [(&'a str, &'a str)], Value, Option<f64>);
    let cases: [SizeCase; 8] = [
        (
            &br,
            json!({"bodySize": 700, "content": {"size": 5000}}),
            Some(700.0),
        ),
        (
            &br,
            json!({"bodySize": -1, "headersSize": -1, "_transferSize": 600, "content": {"size": 5000}}),
            Some(600.0),
        ),
        (
            &br,
            json!({"bodySize": -1, "headersSize": 100, "_transferSize": 600, "content": {"size": 5000}}),
            Some(500.0),
        ),
        (
            &br,
            json!({"bodySize": -1, "content": {"size": 5000, "compression": 4100}}),
            Some(900.0),
        ),
        (
            &br,
            json!({"bodySize": -1, "content": {"size": 5000, "compression": 0}}),
            None,
        ),
        (
            &br,
            json!({"bodySize": -1, "content": {"size": 5000}}),
            None,
        ),
        (
            plain,
            json!({"bodySize": -1, "content": {"size": 5000}}),
            Some(5000.0),
        ),
        (
            plain,
            json!({"bodySize": -1, "content": {"text": "a{}"}}),
            Some(3.0),
        ),
    ];
    for (fields, more, expected) in cases {
        let css = entry("GET", "https://a.example/a.css", 200, fields, more.clone());
        let audit = audit(&[page(), css]);
        assert_eq!(number(&audit, "/a.css", "bytes"), expected, "{more}");
    }
}

#[test]
fn compression_is_judged_only_by_a_whole_body() {
    let text = "a{color:red}\n".repeat(1000);
    let all = text.len();
    let cases = [
        // The body and its size agree: it was sent as it is.
        (
            json!({"bodySize": all, "content": {"size": all, "text": text}}),
            State::Bad,
        ),
        // No body, or its beginning only.
        (
            json!({"bodySize": all, "content": {"size": all}}),
            State::Unknown,
        ),
        (
            json!({"bodySize": all, "content": {"size": all, "text": text[..100]}}),
            State::Unknown,
        ),
        // From the cache.
        (
            json!({"bodySize": 0, "content": {"size": all, "text": text}}),
            State::Unknown,
        ),
        // Fewer bytes than the body has: the exporter removed Content-Encoding.
        (
            json!({"bodySize": 900, "content": {"size": all, "text": text}}),
            State::NotApplicable,
        ),
        // An empty file needs no body.
        (json!({"bodySize": 0, "content": {"size": 0}}), State::Good),
    ];
    for (more, expected) in cases {
        let css = [("Content-Type", "text/css")];
        let css = entry("GET", "https://a.example/a.css", 200, &css, more);
        let audit = audit(&[page(), css]);
        let finding = finding(&audit, "resource-compression", "/a.css").expect("a finding");
        assert_eq!(finding.state, expected, "{}", finding.seen);
        let [bytes, saved] = ["bytes", "gzip saves"].map(|c| number(&audit, "/a.css", c));
        assert!(saved <= bytes, "{saved:?} of {bytes:?}");
    }
}

/// Without the page's HTML, its policy and the hashes of its scripts are unknown.
#[test]
fn a_page_without_its_body_is_not_good() {
    let fields = [("Content-Type", "text/html")];
    let size = json!({"bodySize": 5000, "content": {"size": 5000}});
    let audit = audit(&[entry("GET", PAGE, 200, &fields, size)]);
    for rule in ["server-csp", "server-integrity"] {
        assert_eq!(
            state(&audit, rule, "a.example"),
            Some(State::Unknown),
            "{rule}"
        );
    }
}

#[test]
fn an_empty_response_needs_no_media_type() {
    let empty = json!({"bodySize": 0, "content": {"size": 0}});
    let audit = audit(&[
        page(),
        entry(
            "GET",
            "https://a.example/a",
            200,
            &[("Content-Type", "")],
            empty,
        ),
    ]);
    let expected = Some(State::NotApplicable);
    assert_eq!(state(&audit, "resource-type", "/a"), expected);
}

/// Chrome names the reason why it gave up in the middle of a file.
#[test]
fn a_file_that_the_browser_did_not_get_whole_is_incomplete() {
    let error = "net::ERR_CONTENT_LENGTH_MISMATCH";
    let css = [("Content-Type", "text/css"), ("Content-Length", "500")];
    let part = json!({"_error": error, "bodySize": 3, "content": {"size": 3, "text": "a{}"}});
    let audit = audit(&[
        page(),
        entry("GET", "https://a.example/a.css", 200, &css, part),
    ]);
    let finding = finding(&audit, "resource-complete", "/a.css").expect("a finding");
    assert_eq!(
        finding.seen,
        format!("/a.css ended after 3 of 500 bytes: {error}.")
    );
    assert_eq!(
        state(&audit, "resource-complete", "/"),
        Some(State::NotApplicable)
    );
}

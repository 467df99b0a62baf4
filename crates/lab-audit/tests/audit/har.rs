// SPDX-License-Identifier: Apache-2.0
//! Tests the audit of a site in a HAR: which entries are files, and which values the HAR provides.

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

/// A status of 404 or 410 means that the file does not exist, unlike 401 and 403. A 304 means that
/// the browser already has the file (RFC 9110, 15.4.5).
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

/// A HAR contains multiple sizes of a body (HAR 1.2, `response` and `content`): `size` is the
/// decoded size, and `bodySize` is the transferred size. -1 means unknown. Chrome adds
/// `_transferSize`, the size of the head and the body.
#[test]
fn bytes_are_counted_as_sent() {
    let br = [("Content-Type", "text/css"), ("Content-Encoding", "br")];
    let plain = &br[..1];
    let identity = [br[0], ("Content-Encoding", "identity")];
    type SizeCase<'a> = (&'a [(&'a str, &'a str)], Value, Option<f64>);
    let cases: [SizeCase; 9] = [
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
            &identity,
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

/// Chrome records why it received only a part of a file.
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

/// Builds an entry that began at a time in seconds, with a body of HTML or CSS.
fn timed(url: &str, second: f64, kind: &str, body: &str) -> Value {
    let fields = [("Content-Type", kind)];
    let size = json!({"bodySize": body.len(), "content": {"size": body.len(), "text": body,
        "mimeType": kind}});
    let mut entry = entry("GET", url, 200, &fields, size);
    entry["startedDateTime"] = json!(format!("2025-03-01T10:00:{second:06.3}Z"));
    entry
}

/// Builds a redirect that began at a time in seconds.
fn redirect(url: &str, second: f64, to: &str) -> Value {
    let mut entry = entry("GET", url, 301, &[("Location", to)], json!({}));
    entry["startedDateTime"] = json!(format!("2025-03-01T10:00:{second:06.3}Z"));
    entry
}

/// Builds a HAR with the given entries and pages. Returns the audited URL and the audit.
fn audit_pages(entries: &[Value], pages: Value) -> (String, Audit) {
    let har = json!({"log": {"pages": pages, "entries": entries}}).to_string();
    let (url, site) = site::of_har(&har).expect("a site");
    let audit = site::audit(&url, &site, &site::rules().expect("rules"));
    (url.to_string(), audit)
}

/// "The reader application should always make sure the array is sorted" (HAR 1.2, `entries`).
#[test]
fn the_order_of_entries_in_the_file_does_not_matter() {
    let css = "a{color:red}\n".repeat(500);
    let sorted = [
        timed(PAGE, 0.1, "text/html", "page"),
        timed("https://cdn.example/x.css", 0.25, "text/css", &css),
        timed("https://a.example/s.css", 0.26, "text/css", &css),
    ];
    let reference = audit_pages(&sorted, json!([]));
    assert_eq!(
        state(&reference.1, "resource-compression", "/s.css"),
        Some(State::Bad)
    );
    for order in [[1, 2, 0], [2, 1, 0], [2, 0, 1], [1, 0, 2]] {
        let entries = order.map(|index: usize| sorted[index].clone());
        assert_eq!(audit_pages(&entries, json!([])), reference, "{order:?}");
    }
    // Entries with the same time, or without a time, keep their order.
    let without_times = sorted.map(|mut entry| {
        entry["startedDateTime"].take();
        entry
    });
    assert_eq!(audit_pages(&without_times, json!([])).0, PAGE);
}

/// Requests of other tabs, iframes and preloads can be listed between a redirect and its target.
#[test]
fn the_target_of_a_redirect_is_found_by_its_url() {
    let first = redirect("http://a.example/", 0.1, "https://a.example/#top");
    let second = redirect("https://a.example/", 0.3, "/home");
    let home = timed("https://a.example/home", 0.5, "text/html", "page");
    let between = timed("https://cdn.example/x.css", 0.2, "text/css", "a{}");
    let own = timed("https://a.example/s.css", 0.4, "text/css", "a{}");
    let (url, audit) = audit_pages(&[first.clone(), between, second, own, home], json!([]));
    assert_eq!(url, "http://a.example/");
    let seen = &finding(&audit, "server-redirects", "a.example")
        .expect("a finding")
        .seen;
    assert!(
        seen.starts_with("2 redirects before the page: https://a.example/#…, then")
            || seen.starts_with("2 redirects"),
        "{seen}"
    );
    assert_eq!(state(&audit, "resource-there", "/home"), Some(State::Good));
    assert_eq!(state(&audit, "resource-there", "/s.css"), Some(State::Good));
    // A redirect and its target can have the same time, in either order.
    let target = timed("https://a.example/", 0.1, "text/html", "page");
    let (_, audit) = audit_pages(&[target, first.clone()], json!([]));
    assert_eq!(
        state(&audit, "server-https", "a.example"),
        Some(State::Good)
    );
    // The target is not in the file.
    let (url, audit) = audit_pages(&[first], json!([]));
    assert_eq!(url, "http://a.example/");
    assert_eq!(state(&audit, "resource-there", "/"), None);
    // A page that redirects to itself once, after it has set a cookie.
    let again = redirect(PAGE, 0.1, "/");
    let page = timed(PAGE, 0.2, "text/html", "page");
    let (_, audit) = audit_pages(&[again.clone(), page], json!([]));
    assert_eq!(
        state(&audit, "server-redirects", "a.example"),
        Some(State::Good)
    );
    let (_, audit) = audit_pages(&[again], json!([]));
    assert_eq!(
        state(&audit, "server-redirects", "a.example"),
        Some(State::Bad)
    );
}

#[test]
fn the_page_is_not_the_request_of_another_program() {
    let pages = json!([{"id": "page_1", "startedDateTime": "2025-03-01T10:00:00.100Z"}]);
    let with = |mut entry: Value, name: &str, value: &str| {
        entry[name] = json!(value);
        entry
    };
    let other = timed("https://update.example/x", 0.0, "application/json", "{}");
    let frame = timed("https://ads.example/", 0.05, "text/html", "ad");
    let page = timed(PAGE, 0.1, "text/html", "page");
    let style = timed("https://a.example/s.css", 0.2, "text/css", "a{}");
    let of_page = |entry: &Value| with(entry.clone(), "pageref", "page_1");
    let document = |entry: &Value| with(entry.clone(), "_resourceType", "document");
    for (entries, pages) in [
        (
            vec![
                other.clone(),
                frame.clone(),
                of_page(&page),
                of_page(&style),
            ],
            pages.clone(),
        ),
        (
            vec![
                of_page(&other),
                frame.clone(),
                of_page(&page),
                style.clone(),
            ],
            pages.clone(),
        ),
        (
            vec![other.clone(), frame.clone(), document(&page), style.clone()],
            json!([]),
        ),
        (
            vec![other.clone(), frame, document(&page), style.clone()],
            pages.clone(),
        ),
        (vec![other.clone(), page.clone(), style.clone()], json!([])),
        (
            vec![other.clone(), page.clone(), style.clone()],
            pages.clone(),
        ),
    ] {
        let (url, audit) = audit_pages(&entries, pages);
        assert_eq!(url, PAGE);
        let notes = notes(&audit);
        assert!(
            notes
                .iter()
                .any(|n| n.contains("Other requests precede it")),
            "{notes:?}"
        );
    }
    // A redirect to HTML is the start of the page.
    let start = redirect("http://a.example/", 0.05, PAGE);
    let (url, _) = audit_pages(&[other.clone(), start, page.clone()], json!([]));
    assert_eq!(url, "http://a.example/");
    let (_, audit) = audit_pages(&[page.clone(), style.clone()], json!([]));
    assert!(!notes(&audit).iter().any(|n| n.contains("The page is")));
    let (url, audit) = audit_pages(&[other, style], json!([]));
    assert_eq!(url, "https://update.example/x");
    let notes = notes(&audit);
    assert!(
        notes
            .iter()
            .any(|n| n.contains("neither a document nor HTML")),
        "{notes:?}"
    );
}

/// Exporters leave out fields, or write them in other forms than HAR 1.2.
#[test]
fn fields_that_a_har_lacks_are_unknown() {
    let text = "a{color:red}\n".repeat(500);
    let css = |headers: Value| {
        let mut css = timed("https://a.example/a.css", 0.2, "text/css", &text);
        css["response"]["headers"] = headers;
        css
    };
    let audit_of = |headers: Value| {
        audit_pages(
            &[timed(PAGE, 0.1, "text/html", "page"), css(headers)],
            json!([]),
        )
        .1
    };
    for headers in [json!(null), json!([]), json!("Content-Type: text/css")] {
        let audit = audit_of(headers.clone());
        for (rule, expected) in [
            ("resource-type", State::Good),
            ("resource-cache", State::Unknown),
            ("resource-charset", State::Unknown),
            // The body has as many bytes as were sent.
            ("resource-compression", State::Bad),
            ("resource-cookies", State::Unknown),
        ] {
            assert_eq!(
                state(&audit, rule, "/a.css"),
                Some(expected),
                "{rule} {headers}"
            );
        }
    }
    for headers in [
        json!({"Content-Type": "text/css", "Set-Cookie": ["z=1; Path=/", "y=2"]}),
        json!([
            ["Content-Type", "text/css"],
            ["Set-Cookie", "z=1; Path=/\ny=2"]
        ]),
    ] {
        let audit = audit_of(headers.clone());
        let cookies = audit.tables.iter().find(|table| table.title == "Cookies");
        assert_eq!(cookies.map(|table| table.rows.len()), Some(2), "{headers}");
        assert_eq!(state(&audit, "resource-type", "/a.css"), Some(State::Good));
    }
    // Neither fields nor a type nor a size as sent.
    let mut bare = css(json!(null));
    bare["response"]["bodySize"] = json!(-1);
    bare["response"]["content"]["mimeType"].take();
    let (_, audit) = audit_pages(&[timed(PAGE, 0.1, "text/html", "page"), bare], json!([]));
    for rule in ["resource-type", "resource-compression"] {
        assert_eq!(
            state(&audit, rule, "/a.css"),
            Some(State::Unknown),
            "{rule}"
        );
    }
    // The target of a redirect is in the response, too.
    let mut start = redirect("http://a.example/", 0.0, "");
    start["response"]["headers"] = json!(null);
    start["response"]["redirectURL"] = json!(PAGE);
    let (url, audit) = audit_pages(&[start, timed(PAGE, 0.1, "text/html", "page")], json!([]));
    assert_eq!(url, "http://a.example/");
    assert_eq!(
        state(&audit, "server-https", "a.example"),
        Some(State::Good)
    );
}

/// `JSON.stringify` writes an unpaired surrogate as an escape sequence.
#[test]
fn broken_characters_do_not_hide_a_file() {
    let text = har(&[page()]).replace("\"page\"", r#""a\ud83d""#);
    let (url, site) = site::of_har(&text).expect("a site");
    let audit = site::audit(&url, &site, &site::rules().expect("rules"));
    let notes = notes(&audit);
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("1 character in the HAR was")),
        "{notes:?}"
    );
}

/// A recipient adds the time of receipt to a response without Date (RFC 9110, 6.6.1).
#[test]
fn expires_without_a_date_counts_from_the_time_of_the_entry() {
    let mut css = timed("https://a.example/a.css", 0.0, "text/css", "a{}");
    let expires = json!({"name": "Expires", "value": "Sat, 01 Mar 2025 11:00:00 GMT"});
    css["response"]["headers"]
        .as_array_mut()
        .expect("fields")
        .push(expires);
    let (_, audit) = audit_pages(&[timed(PAGE, 0.0, "text/html", "page"), css], json!([]));
    let caching = audit
        .tables
        .iter()
        .find(|table| table.title == "Caching")
        .expect("a table");
    let row = caching
        .rows
        .iter()
        .find(|row| row[0] == EvidenceValue::Word("/a.css".into()));
    let EvidenceValue::Number(lifetime_ns, _) = row.expect("a row")[3] else {
        panic!("{row:?}");
    };
    assert_eq!(lifetime_ns, 3600e9);
}

// SPDX-License-Identifier: Apache-2.0
//! Tests the audit of cookies from files: their bytes and owners, each rule with a good and a bad
//! case, and malicious files.

use lab_audit::cookies::cookie::{Cookie, CookieRequest, RequestKind};
use lab_audit::cookies::input::{Collector, CookieObservation};
use lab_audit::cookies::{audit, rules};
use lab_model::audit::{Audit, AuditFinding, EvidenceValue, State};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn observe(text: &str) -> CookieObservation {
    let mut collector = Collector::new().expect("random numbers");
    collector.text(text).expect("cookies");
    collector.done()
}

fn audit_of(observation: &CookieObservation) -> Audit {
    audit(
        vec!["test".into()],
        observation,
        &rules().expect("rules"),
        10.0,
    )
}

/// Builds a HAR of requests with URL, resource type, Cookie field and Set-Cookie fields.
fn har(entries: &[(&str, &str, &str, &[&str])]) -> String {
    let entry = |(url, kind, cookie, set): &(&str, &str, &str, &[&str])| {
        let set: Vec<_> = set
            .iter()
            .map(|s| json!({"name": "Set-Cookie", "value": s}))
            .collect();
        json!({
            "_resourceType": kind,
            "request": {"method": "GET", "url": url, "headers": [
                {"name": "User-Agent", "value": "x".repeat(100)}, {"name": "Cookie", "value": cookie}]},
            "response": {"headers": set, "content": {"mimeType": ""}},
        })
    };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    json!({"log": {"entries": entries}}).to_string()
}

fn cell(audit: &Audit, table: usize, row: &str, column: usize) -> f64 {
    let named = |r: &&Vec<EvidenceValue>| r[0] == EvidenceValue::Word(row.into());
    let row = audit.tables[table]
        .rows
        .iter()
        .find(named)
        .unwrap_or_else(|| panic!("{row}"));
    match &row[column] {
        EvidenceValue::Number(number, _) => *number,
        other => panic!("{other:?}"),
    }
}

/// Builds a HAR with one response, recorded at a given time, that sets a cookie for a month.
fn har_of_year(year: u16, entry_has_time: bool) -> String {
    let set = format!("pref=1; Expires=Sat, 05-Dec-{year} 13:44:24 GMT; Path=/; Secure");
    let mut har: Value = serde_json::from_str(&har(&[
        ("https://a.example/", "document", "", &[&set]),
        ("https://a.example/a.png", "image", "pref=1", &[]),
    ]))
    .expect("JSON");
    har["log"]["pages"] = json!([{"startedDateTime": format!("{year}-11-05T13:44:24.000Z")}]);
    if entry_has_time {
        har["log"]["entries"][0]["startedDateTime"] =
            json!(format!("{year}-11-05T14:44:24.000+01:00"));
    }
    har.to_string()
}

/// A cookie with `Secure` is sent with requests over TLS, including WebSocket.
///
/// If a request without TLS has a cookie with this name, it must be another cookie.
#[test]
fn cookies_of_a_har_are_secure_where_there_is_tls() {
    let cookies = |scheme: &str| {
        let socket = format!("{scheme}://a.example/live");
        let seen = observe(&har(&[
            (
                "https://a.example/",
                "document",
                "",
                &["k=1; Secure; Path=/live"],
            ),
            (&socket, "websocket", "k=1", &[]),
        ]));
        seen.cookies.len()
    };
    assert_eq!(["https", "wss", "http", "ws"].map(cookies), [1, 1, 2, 2]);
}

#[test]
fn lifetimes_in_a_har_count_from_its_own_time() {
    for (year, entry_has_time) in [(2017, true), (2017, false), (2030, true)] {
        let seen = observe(&har_of_year(year, entry_has_time));
        assert_eq!(seen.cookies.len(), 1);
        assert!(!seen.cookies[0].is_deleted);
        let attributes = seen.cookies[0].attributes.as_ref().expect("attributes");
        assert_eq!(attributes.lifetime_s, Some(30.0 * 86_400.0), "{year}");
        assert_eq!(seen.notes, Vec::<String>::new());
    }
    let set = "a=1; Expires=Sat, 05 Dec 2099 13:44:24 GMT";
    let without_times = observe(&har(&[("https://a.example/", "document", "a=1", &[set])]));
    assert!(
        without_times.notes[0].contains("counted from now"),
        "{:?}",
        without_times.notes
    );
}

#[test]
fn cookies_that_an_exporter_joined_are_split() {
    let fields = [
        "foo=bar; Path=/; Expires=Sat, 20 Mar 2027 14:28:57 GMT; HttpOnly; Secure; SameSite=Lax",
        "baz=x,y; Path=/app; Expires=Sat, 20 Mar 2027 14:28:57 GMT; Secure; SameSite=Lax",
        "last=1",
    ];
    let of = |fields: &[&str]| observe(&har(&[("https://a.example/", "document", "", fields)]));
    let apart = of(&fields);
    assert_eq!(apart.cookies.len(), 3);
    for separator in [", ", ",", "\n"] {
        let joined = of(&[&fields.join(separator)]);
        let shown = |seen: &CookieObservation| -> Vec<_> {
            let cookies = seen.cookies.iter();
            cookies
                .map(|c| {
                    (
                        c.name.clone(),
                        c.path.clone(),
                        c.value_bytes,
                        c.attributes.as_ref().map(|a| a.http_only),
                    )
                })
                .collect()
        };
        assert_eq!(shown(&joined), shown(&apart), "{separator:?}");
    }
}

/// Findings about cookies with equal names include the domain and the path. The line that deletes a
/// cookie contains only the name.
#[test]
fn cookies_with_one_name_have_separate_rows() {
    let audit = audit_of(&observe(&har(&[
        ("https://a.example/", "document", "sid=1; old=2", &[]),
        ("https://b.example/x/", "document", "sid=2; sid=3", &[]),
    ])));
    let places = audit.findings.iter().filter(|f| f.rule == "cookie-copies");
    let places: Vec<&str> = places.map(|f| f.place.as_str()).collect();
    let all = ["old", "sid (a.example/)", "sid (b.example/)"];
    assert!(
        all.iter()
            .all(|cookie| places.iter().any(|p| p.contains(cookie))),
        "{places:?}"
    );
    let bad = audit
        .findings
        .iter()
        .find(|f| f.rule == "cookie-copies" && f.state == State::Bad);
    let line = &bad.expect("a finding").fixes[0].lines[0];
    assert!(
        line.contains("Set-Cookie: sid=; Domain=b.example"),
        "{line}"
    );
}

/// The cookies of Google Analytics and Quantcast have 428 bytes together. The separators between
/// cookies and the cookies of Quantcast must not be attributed to Google Analytics.
#[test]
fn separators_and_quantcast_are_not_google_analytics() {
    let google_by_name: [(&str, usize); 11] = [
        ("__utma", 61),
        ("__utmb", 33),
        ("__utmc", 18),
        ("__utmz", 88),
        ("__utmv", 31),
        ("__utmt", 9),
        ("__utmx", 41),
        ("__utmxx", 40),
        ("_ga", 30),
        ("__qca", 42),
        ("__qseg", 35),
    ];
    let first_party: [(&str, usize); 2] = [("user", 70), ("prefs", 61)];
    let cookie =
        |(name, bytes): &(&str, usize)| format!("{name}={}", "v".repeat(bytes - name.len() - 1));
    let cookies: Vec<String> = first_party
        .iter()
        .chain(&google_by_name)
        .map(cookie)
        .collect();
    let field = cookies.join("; ");
    assert_eq!(field.len(), 583);
    let observation = observe(&har(&[("http://forum.example/", "document", &field, &[])]));
    let audit = audit_of(&observation);
    let bytes = |owner: &str| cell(&audit, 0, owner, 2);
    let (google, quantcast) = (bytes("Google Analytics"), bytes("Quantcast"));
    assert_eq!(google + quantcast, 428.0);
    assert_eq!(quantcast, 77.0);
    // With the 10 separators between 11 cookies, 428 bytes become 448.
    assert_eq!(google + quantcast + 2.0 * 10.0, 448.0);
    assert_eq!(bytes("separators"), 2.0 * 12.0);
    assert_eq!(
        google + quantcast + bytes("separators") + bytes("first party"),
        583.0
    );
    let all = bytes("all");
    assert_eq!(all, 583.0 + "Cookie: \r\n".len() as f64);
    let trackers = audit
        .findings
        .iter()
        .find(|f| f.rule == "site-trackers")
        .expect("a finding");
    assert_eq!(trackers.state, State::Bad);
}

#[test]
fn no_cookie_value_is_stored() {
    let secret = "s3cr3tvalue";
    let text = har(&[(
        "http://a.example/",
        "document",
        &format!("sid={secret}"),
        &[&format!("t={secret}; Path=/")],
    )]);
    let observation = observe(&text);
    let audit = audit_of(&observation);
    let output = format!(
        "{observation:?}{}",
        serde_json::to_string(&audit).expect("JSON")
    );
    assert!(!output.contains(secret));
    assert_eq!(
        observation.cookies[0].hash, observation.cookies[1].hash,
        "equal values have equal hashes"
    );
}

#[test]
fn jars_tables_and_lines_are_read() {
    let jar = observe(
        "# Netscape HTTP Cookie File\n#HttpOnly_.a.example\tTRUE\t/\tTRUE\t4102444800\tsid\tabc\na.example\tFALSE\t/x\tFALSE\t0\tk\tv\n",
    );
    let [sid, k] = &jar.cookies[..] else {
        panic!("{jar:?}")
    };
    let attributes = sid.attributes.as_ref().expect("attributes");
    assert!(
        attributes.http_only
            && attributes.secure
            && !attributes.host_only
            && attributes.lifetime_s.is_some_and(|s| s > 1e8)
    );
    assert!(
        k.path == "/x"
            && k.attributes
                .as_ref()
                .is_some_and(|a| a.host_only && a.lifetime_s.is_none())
    );
    let sent: Vec<usize> = jar.requests[0].indexes().collect();
    assert_eq!(sent, [0], "the second cookie is for /x");
    let table = observe(
        "Name\tValue\tDomain\tPath\tExpires / Max-Age\tSize\tHttpOnly\tSecure\tSameSite\nsid\tabc\t.a.example\t/\tSession\t6\t✓\t\tLax\n",
    );
    let attributes = table.cookies[0].attributes.as_ref().expect("attributes");
    assert!(
        attributes.http_only
            && !attributes.secure
            && attributes.same_site == "Lax"
            && attributes.lifetime_s.is_none()
    );
    let lines = observe("Set-Cookie: a=1; Path=/; Secure; Max-Age=60\nCookie: a=1; b=22\n");
    let bytes: Vec<usize> = lines.cookies.iter().map(|c| c.bytes()).collect();
    assert_eq!(bytes, [3, 4]);
}

/// Returns test cases: a rule, a state, and a HAR in which the rule finds that state.
fn cases() -> Vec<(&'static str, State, String)> {
    let page = "https://a.example/";
    let set = |line: &str| {
        har(&[
            (page, "document", "", &[line]),
            (
                page,
                "document",
                &line[..line.find(';').unwrap_or(line.len())],
                &[],
            ),
        ])
    };
    let long = |n: usize| format!("k={}", "v".repeat(n));
    let many: String = (0..60).map(|i| format!("c{i}=1; ")).collect();
    let image = "https://a.example/i.png";
    vec![
        (
            "cookie-static",
            State::Bad,
            har(&[(image, "image", &long(2000), &[])]),
        ),
        (
            "cookie-static",
            State::Advice,
            har(&[(image, "image", "k=1", &[])]),
        ),
        (
            "cookie-wide",
            State::Advice,
            set("sid=1; Domain=a.example; Secure; HttpOnly; SameSite=Lax"),
        ),
        (
            "cookie-size",
            State::Bad,
            har(&[(page, "document", &long(5000), &[])]),
        ),
        (
            "cookie-size",
            State::Advice,
            har(&[(page, "document", &long(500), &[])]),
        ),
        (
            "cookie-secure",
            State::Bad,
            set("sid=1; HttpOnly; SameSite=Lax"),
        ),
        ("cookie-secure", State::Advice, set("theme=1; SameSite=Lax")),
        (
            "cookie-http-only",
            State::Bad,
            set("sid=1; Secure; SameSite=Lax"),
        ),
        ("cookie-same-site", State::Bad, set("k=1; SameSite=None")),
        ("cookie-same-site", State::Advice, set("k=1; Secure")),
        (
            "cookie-lifetime",
            State::Advice,
            set("k=1; Secure; SameSite=Lax; Max-Age=99999999"),
        ),
        (
            "cookie-lifetime",
            State::Advice,
            set("k=1; Secure; SameSite=Lax; Expires=0"),
        ),
        (
            "cookie-passing",
            State::Advice,
            har(&[
                (page, "document", "oauth_state=1", &[]),
                (page, "document", "oauth_state=1", &[]),
            ]),
        ),
        (
            "cookie-path",
            State::Advice,
            har(&[
                ("https://a.example/app/cart", "document", "k=1", &[]),
                ("https://a.example/app/me/orders", "xhr", "k=1", &[]),
                (image, "image", "k=1", &[]),
            ]),
        ),
        (
            "cookie-copies",
            State::Bad,
            har(&[
                (
                    page,
                    "document",
                    "",
                    &["k=1; Path=/", "k=2; Path=/; Domain=a.example"],
                ),
                ("https://a.example/", "document", "k=1; k=2", &[]),
            ]),
        ),
        (
            "cookie-prefix",
            State::Bad,
            set("__Host-k=1; Secure; Path=/; Domain=a.example"),
        ),
        (
            "request-packet",
            State::Bad,
            har(&[(page, "document", &long(1400), &[])]),
        ),
        (
            "request-share",
            State::Advice,
            har(&[(page, "document", &long(900), &[])]),
        ),
        (
            "input-read",
            State::Unknown,
            har(&[
                (page, "document", "k=1", &[]),
                ("nonsense", "image", "k=1", &[]),
            ]),
        ),
        (
            "host-count",
            State::Bad,
            har(&[(page, "document", &many, &[])]),
        ),
        (
            "site-trackers",
            State::Bad,
            har(&[(page, "document", "_ga=GA1.1.1.1; k=1", &[])]),
        ),
        (
            "site-trackers",
            State::Advice,
            har(&[(page, "document", "_ga=123; own=12345678901234567", &[])]),
        ),
    ]
}

#[test]
fn every_rule_has_a_good_and_a_bad_site() {
    let good = har(&[
        (
            "https://a.example/",
            "document",
            "",
            &[
                "__Host-sid=123456; Path=/; Secure; HttpOnly; SameSite=Lax",
                "theme=1; Path=/; Secure; SameSite=Lax; Max-Age=86400",
                "oauth_state=1; Path=/; Secure; HttpOnly; SameSite=Lax",
            ],
        ),
        (
            "https://a.example/login",
            "document",
            "__Host-sid=123456; theme=1; oauth_state=1",
            &["oauth_state=; Path=/; Max-Age=0"],
        ),
        (
            "https://a.example/",
            "document",
            "__Host-sid=123456; theme=1",
            &[],
        ),
        ("https://static.example/i.png", "image", "", &[]),
    ]);
    let good = audit_of(&observe(&good));
    let is_good = |f: &AuditFinding| matches!(f.state, State::Good | State::NotApplicable);
    let not_good: Vec<_> = good.findings.iter().filter(|f| !is_good(f)).collect();
    assert!(not_good.is_empty(), "{not_good:#?}");
    let proven = |id: &str| {
        let mut of = good.findings.iter().filter(|f| f.rule == id);
        of.any(|f| f.state == State::Good)
    };
    for rule in &rules().expect("rules") {
        assert!(proven(&rule.id), "{} is good nowhere", rule.id);
    }
    let cases = cases();
    for (rule, state, text) in &cases {
        let audit = audit_of(&observe(text));
        let states: Vec<State> = audit
            .findings
            .iter()
            .filter(|f| f.rule == *rule)
            .map(|f| f.state)
            .collect();
        assert!(states.contains(state), "{rule}: {states:?}");
    }
    let tested: BTreeSet<(&str, State)> = cases.iter().map(|(rule, s, _)| (*rule, *s)).collect();
    for rule in &rules().expect("rules") {
        for case in &rule.cases {
            let tested = tested.contains(&(rule.id.as_str(), case.state));
            assert!(tested, "{} {:?}", rule.id, case.state);
        }
    }
}

/// Returns the text of a rule's finding about a HAR, and the first line of the rule's fix.
fn seen_and_fix(text: &str, rule: &str) -> (String, String) {
    let audit = audit_of(&observe(text));
    let finding = audit.findings.into_iter().find(|f| f.rule == rule);
    let finding = finding.expect("a finding");
    let line = finding.fixes.first().map(|fix| fix.lines[0].clone());
    (finding.seen, line.unwrap_or_default())
}

#[test]
fn the_path_that_a_cookie_needs_is_computed() {
    let har = |pages: [&str; 2]| {
        let [one, two] = pages.map(|path| format!("https://a.example{path}"));
        har(&[
            (one.as_str(), "document", "k=1", &["k=1; Path=/; Secure"]),
            (two.as_str(), "xhr", "k=1", &[]),
            ("https://a.example/apple.png", "image", "k=1", &[]),
            ("https://a.example/app/i.png", "image", "k=1", &[]),
        ])
    };
    let (text, line) = seen_and_fix(&har(["/app/cart", "/app/me/orders"]), "cookie-path");
    assert!(
        text.contains("below /app; it was also sent with 1 static file"),
        "{text}"
    );
    assert!(
        line.starts_with("Set-Cookie: k=…; Path=/app; Secure"),
        "{line}"
    );
    let (_, line) = seen_and_fix(&har(["/app/cart", "/"]), "cookie-path");
    assert_eq!(line, "", "the cookie is needed on pages everywhere");
}

/// Returns the only cookie that a field sets.
fn set(field: &str) -> Cookie {
    let mut collector = Collector::new().expect("random numbers");
    let fields = std::iter::once(field.to_owned());
    collector.add_response("www.a.example", "/app/x", 0.0, fields);
    let cookies = collector.done().cookies;
    cookies.into_iter().next().expect("a cookie")
}

/// Max-Age consists of digits (RFC 6265, 5.2.2). Expires may have any year from 1601 (RFC 6265,
/// 5.1.1).
#[test]
fn lifetimes_are_read_as_browsers_read_them() {
    // The end of the year 9999, which .NET sends for "never": `date -ud '9999-12-31 23:59:59' +%s`.
    const NEVER_S: f64 = 253_402_300_799.0;
    for (attribute, lifetime_s, ignored) in [
        ("Expires=Fri, 31-Dec-9999 23:59:59 GMT", Some(NEVER_S), None),
        ("Expires=Thu, 01 Jan 1970 00:01:00 GMT", Some(60.0), None),
        ("Expires=2030-03-01T11:00:00Z", None, Some("Expires")),
        ("Expires=1740826800", None, Some("Expires")),
        ("Max-Age=3600", Some(3600.0), None),
        ("Max-Age=3600.5", None, Some("Max-Age")),
        ("Max-Age=1e9", None, Some("Max-Age")),
        ("Max-Age=inf", None, Some("Max-Age")),
        ("Max-Age=+60", None, Some("Max-Age")),
        ("Max-Age=\"60\"", None, Some("Max-Age")),
        (
            "Max-Age=x; Expires=Thu, 01 Jan 1970 00:01:00 GMT",
            Some(60.0),
            Some("Max-Age"),
        ),
        (
            "Expires=Thu, 01 Jan 1970 00:01:00 GMT; Max-Age=7",
            Some(7.0),
            None,
        ),
    ] {
        let attributes = set(&format!("k=1; {attribute}")).attributes;
        let attributes = attributes.expect("attributes");
        assert_eq!(attributes.lifetime_s, lifetime_s, "{attribute}");
        assert_eq!(attributes.ignored, ignored, "{attribute}");
    }
    let page = |field: &str| har(&[("https://a.example/", "document", "", &[field])]);
    for date in [
        "Fri, 31-Dec-9999 23:59:59 GMT",
        "Thu, 30 Dec 9999 21:59:59 GMT",
    ] {
        let field = format!("k=1; Secure; SameSite=Lax; Expires={date}");
        let (text, line) = seen_and_fix(&page(&field), "cookie-lifetime");
        assert!(text.contains("years"), "{text}");
        assert!(line.ends_with("; Max-Age=31536000"), "{line}");
    }
    let (text, _) = seen_and_fix(&page("k=1; Secure; Expires=0"), "cookie-lifetime");
    assert_eq!(text, "k has an invalid Expires, which browsers ignore.");
}

/// The line that a finding recommends meets the rules of its prefix and its SameSite (RFC 6265bis,
/// 4.1.3 and 5.7).
#[test]
fn a_recommended_line_is_accepted_by_browsers() {
    let cases = [
        (
            "__Host-b=1; Path=/app; Secure; HttpOnly; SameSite=Lax",
            "cookie-prefix",
            "__Host-b=…; Path=/; Secure; HttpOnly; SameSite=Lax",
        ),
        (
            "__host-d=1; Path=/; SameSite=Lax",
            "cookie-prefix",
            "__host-d=…; Path=/; Secure; SameSite=Lax",
        ),
        (
            "__SECURE-e=1; Path=/x; SameSite=Strict",
            "cookie-prefix",
            "__SECURE-e=…; Path=/x; Secure; SameSite=Strict",
        ),
        (
            "k=1; Path=/; SameSite=none",
            "cookie-same-site",
            "k=…; Path=/; Secure; SameSite=None",
        ),
        (
            "k=1; Path=/; Secure; SameSite=foo",
            "cookie-same-site",
            "k=…; Path=/; Secure; SameSite=Lax",
        ),
    ];
    for (field, rule, expected) in cases {
        let text = har(&[("https://a.example/app/x", "document", "", &[field])]);
        let (_, line) = seen_and_fix(&text, rule);
        assert_eq!(line, format!("Set-Cookie: {expected}"), "{field}");
    }
    // The default path is no Path attribute, even if it is /.
    let without_path = "__Host-k=1; Secure; HttpOnly; SameSite=Lax";
    let text = har(&[("https://a.example/", "document", "", &[without_path])]);
    let (seen, _) = seen_and_fix(&text, "cookie-prefix");
    assert!(seen.contains("does not meet"), "{seen}");
    // A __Host- cookie cannot move to the path of its pages.
    let page = |path| {
        (
            path,
            "document",
            "__Host-k=1",
            &["__Host-k=1; Path=/; Secure"][..],
        )
    };
    let image = ("https://a.example/i.png", "image", "__Host-k=1", &[][..]);
    let text = har(&[
        page("https://a.example/app/x"),
        page("https://a.example/app/y"),
        image,
    ]);
    assert_eq!(seen_and_fix(&text, "cookie-path").1, "");
}

/// Browsers reject a whole top-level domain, unless the host itself has this name (RFC 6265, 5.3).
#[test]
fn a_top_level_domain_is_not_a_cookies_domain() {
    for (host, domain, expected) in [
        ("www.a.example", "example", None),
        ("www.a.example", ".example", None),
        ("www.a.example", "a.example", Some(false)),
        ("localhost", "localhost", Some(true)),
    ] {
        let mut collector = Collector::new().expect("random numbers");
        let field = format!("k=1; Domain={domain}");
        collector.add_response(host, "/", 0.0, std::iter::once(field));
        let observation = collector.done();
        let host_only = observation
            .cookies
            .first()
            .and_then(|c| c.attributes.as_ref());
        assert_eq!(host_only.map(|a| a.host_only), expected, "{host} {domain}");
        assert_eq!(observation.skipped, usize::from(expected.is_none()));
    }
}

/// Some exporters list a response's cookies, but leave out its fields (HAR 1.2, `cookies`).
#[test]
fn cookies_in_the_list_of_a_response_count_without_fields() {
    let listed = json!([
        {"name": "sid", "value": "abc", "path": "/", "domain": "a.example",
         "expires": "2027-03-01T11:00:00.000Z", "httpOnly": true, "secure": true},
        {"name": "wide", "value": "1", "domain": ".a.example", "sameSite": "None"},
        {"name": "never", "value": "1", "expires": "9999-12-31T23:59:59Z"},
    ]);
    let entry = |headers: Value| {
        json!({"log": {"entries": [{"startedDateTime": "2027-03-01T10:00:00.000Z",
            "request": {"url": "https://a.example/x", "headers": []},
            "response": {"headers": headers, "cookies": listed}}]}})
    };
    let seen = observe(&entry(json!([])).to_string());
    let [sid, wide, never] = &seen.cookies[..] else {
        panic!("{seen:?}")
    };
    let attributes = sid.attributes.as_ref().expect("attributes");
    assert!(attributes.host_only && attributes.secure && attributes.http_only);
    assert_eq!((sid.bytes(), attributes.lifetime_s), (7, Some(3600.0)));
    let attributes = wide.attributes.as_ref().expect("attributes");
    assert!(!attributes.host_only && attributes.lifetime_s.is_none());
    assert_eq!(attributes.same_site(), Some("None"));
    let attributes = never.attributes.as_ref().expect("attributes");
    assert!(attributes.lifetime_s > Some(2e11), "{attributes:?}");
    // The fields say more than the list.
    let fields = json!([{"name": "Set-Cookie", "value": "only=1"}]);
    assert_eq!(observe(&entry(fields).to_string()).cookies.len(), 1);
}

#[test]
fn expiry_dates_in_a_table_are_read_or_counted() {
    let table = |date: &str| {
        format!(
            "Name\tValue\tDomain\tPath\tExpires\tSize\tHttpOnly\tSecure\tSameSite\nk\t1\ta.example\t/\t{date}\t2\t\t✓\tLax\n"
        )
    };
    for date in ["9999-12-31T23:59:59.000Z", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        let seen = observe(&table(date));
        let attributes = seen.cookies[0].attributes.as_ref().expect("attributes");
        assert!(attributes.lifetime_s > Some(2e11), "{date}: {attributes:?}");
        assert_eq!(seen.gaps, Vec::<String>::new());
    }
    assert_eq!(observe(&table("Session")).gaps, Vec::<String>::new());
    let gaps = observe(&table("31.12.2030, 23:59")).gaps;
    assert_eq!(gaps, ["For 1 cookie, the expiry date could not be read."]);
}

/// Returns the names of the cookies of each request.
fn names_sent(observation: &CookieObservation) -> Vec<Vec<&str>> {
    let names = |request: &CookieRequest| {
        let name = |index: usize| observation.cookies[index].name.as_str();
        request.indexes().map(name).collect()
    };
    observation.requests.iter().map(names).collect()
}

/// Tests when a cookie matches a domain and a path (RFC 6265, 5.1.3 and 5.1.4), and the effect of
/// `Secure`.
#[test]
fn each_request_carries_the_cookies_of_its_domain_path_and_scheme() {
    let mut collector = Collector::new().expect("random numbers");
    let set = [
        "all=1; Domain=a.example; Path=/",
        "host=1; Path=/",
        "tls=1; Path=/; Secure",
        "shop=1; Path=/shop",
        "below=1; Path=/shop/",
    ];
    let set = set.map(String::from);
    collector.add_response("www.a.example", "/", 0.0, set.iter().cloned());
    collector.add_response("localhost", "/", 0.0, set[2..3].iter().cloned());
    let cases: [(bool, &str, &str, &[&str]); 10] = [
        (true, "www.a.example", "/", &["all", "host", "tls"]),
        (false, "www.a.example", "/", &["all", "host"]),
        (true, "a.example", "/", &["all"]),
        (true, "img.a.example", "/shop/x.png", &["all"]),
        (true, "xa.example", "/", &[]),
        (false, "www.a.example", "/shop", &["all", "host", "shop"]),
        (
            false,
            "www.a.example",
            "/shop/1",
            &["all", "host", "shop", "below"],
        ),
        (false, "www.a.example", "/shopping", &["all", "host"]),
        (
            false,
            "www.a.example",
            "/shop?q=/shop/",
            &["all", "host", "shop"],
        ),
        (false, "localhost", "/", &["tls"]),
    ];
    for (is_tls, host, path, _) in cases {
        collector.add_expected_request(is_tls, host, path, RequestKind::Static);
    }
    let observation = collector.done();
    assert_eq!(names_sent(&observation), cases.map(|(.., names)| names));
    // `Cookie: ` with `name=1` for each cookie, `; ` between them, and the line end.
    for (request, (.., names)) in observation.requests.iter().zip(cases) {
        let field = format!("Cookie: {}=1\r\n", names.join("=1; "));
        let bytes = if names.is_empty() { 0 } else { field.len() };
        assert_eq!(request.field_bytes(), bytes, "{names:?}");
    }
}

/// If a session cookie grows, each request is counted with the size that its cookie had at the
/// time.
#[test]
fn a_cookie_costs_what_it_was_when_it_was_sent() {
    let values = [
        "s=1".to_string(),
        "s=22".into(),
        format!("s={}", "3".repeat(1_000)),
    ];
    let url = "https://a.example/a.png";
    let entries = values
        .each_ref()
        .map(|value| (url, "image", value.as_str(), &[][..]));
    let observation = observe(&har(&entries));
    let bytes = observation.requests.iter().map(CookieRequest::field_bytes);
    let field = "Cookie: s=\r\n".len();
    assert_eq!(
        bytes.collect::<Vec<_>>(),
        [field + 1, field + 2, field + 1_000]
    );
    let mean = cell(&audit_of(&observation), 3, "static file", 3);
    assert_eq!(mean, field as f64 + 1_003.0 / 3.0);
}

/// A browser does not send deleted cookies, and rejects cookies for another domain.
#[test]
fn cookies_that_a_browser_does_not_have_are_not_sent() {
    let mut collector = Collector::new().expect("random numbers");
    let set = |lines: &[&str]| lines.iter().map(|l| l.to_string()).collect::<Vec<_>>();
    let added = set(&["a=1; Path=/", "b=2; Path=/", "c=3; Domain=other.example"]);
    collector.add_response("www.a.example", "/", 0.0, added.into_iter());
    let deleted = set(&["a=; Path=/; Max-Age=0", "never=; Max-Age=0"]);
    collector.add_response("www.a.example", "/", 0.0, deleted.into_iter());
    collector.add_expected_request(true, "www.a.example", "/", RequestKind::Page);
    let observation = collector.done();
    assert_eq!(names_sent(&observation), [["b"]]);
    assert_eq!((observation.cookies.len(), observation.skipped), (2, 1));
}

/// An audit stores at most 100,000 cookies of an untrusted file.
#[test]
fn a_request_beyond_the_cookie_limit_counts_no_other_cookies() {
    let mut collector = Collector::new().expect("random numbers");
    let cookies = (0..100_000).map(|number| format!("c{number}=1; Path=/"));
    collector.add_response("a.example", "/", 0.0, cookies);
    collector.text("Cookie: other=1").expect("a request");
    let observation = collector.done();
    assert_eq!(observation.cookies.len(), 100_000);
    assert_eq!(observation.skipped, 1);
    assert!(observation.requests[0].cookies.is_empty());
}

#[test]
fn a_login_is_known_by_words_of_its_name() {
    let cookie = |name: &str| Cookie {
        name: name.into(),
        domain: "a.example".into(),
        path: "/".into(),
        value_bytes: 1,
        hash: String::new(),
        attributes: None,
        is_deleted: false,
    };
    for name in [
        "JSESSIONID",
        "PHPSESSID",
        "connect.sid",
        "__Host-sid",
        "auth",
        "access_token",
    ] {
        assert!(cookie(name).is_login(), "{name}");
    }
    for name in ["theme", "sidebar", "author", "csrf_token", "XSRF-TOKEN"] {
        assert!(!cookie(name).is_login(), "{name}");
    }
}

#[test]
fn domains_show_duplicate_cookies() {
    let text = har(&[
        (
            "https://www.a.example/",
            "document",
            "",
            &["k=1; Path=/", "k=2; Domain=a.example", "other=1; Path=/"],
        ),
        ("https://b.example/", "document", "alone=77", &[]),
    ]);
    let audit = audit_of(&observe(&text));
    let table = audit.tables.iter().position(|t| t.title == "Domains");
    let table = table.expect("a table");
    let counts_of = |domain: &str| [1, 3, 4].map(|column| cell(&audit, table, domain, column));
    // The cookie k has a namesake in the parent domain, and the other cookie has the same value as k.
    assert_eq!(counts_of("www.a.example"), [2.0, 1.0, 2.0]);
    assert_eq!(counts_of("a.example"), [1.0, 0.0, 0.0]);
    assert_eq!(counts_of("b.example"), [1.0, 0.0, 0.0]);
}

/// The table shows an owner's bytes as a fraction of the whole head and as a fraction of the field.
#[test]
fn the_fraction_of_each_owner_is_shown() {
    let text = har(&[("https://a.example/", "document", "_ga=123; k=1", &[])]);
    let audit = audit_of(&observe(&text));
    // GET / HTTP/1.1, User-Agent with 100 letters, an empty line, and the field itself.
    let head = 16.0 + (10.0 + 2.0 + 100.0 + 2.0) + 2.0 + 22.0;
    assert_eq!(cell(&audit, 0, "Google Analytics", 4), 7.0 / head);
}

#[test]
fn ten_thousand_cookies_give_few_findings() {
    let field: String = (0..10_000)
        .map(|i| format!("c{i}=\u{1b}[31m{i}; "))
        .collect();
    let audit = audit_of(&observe(&har(&[(
        "https://a.example/",
        "document",
        &field,
        &[],
    )])));
    assert!(audit.findings.len() < 60, "{}", audit.findings.len());
    assert!(audit.tables.iter().all(|table| table.rows.len() <= 200));
    let count = audit
        .findings
        .iter()
        .find(|f| f.rule == "host-count")
        .expect("a finding");
    assert_eq!(count.state, State::Bad);
}

#[test]
fn files_without_cookies_are_rejected_with_a_message() {
    let refused = |text: &str| {
        let mut collector = Collector::new().expect("random numbers");
        collector.text(text).expect_err("an error").0
    };
    assert!(refused("{\"log\": 1}").contains("not a HAR file"));
    assert!(refused("{\"log\": ").contains("invalid JSON"));
    assert!(refused("hello").contains("expected a HAR file"));
    assert!(refused("").contains("expected a HAR file"));
    assert!(refused("a=1\0\t\n").contains("binary data; expected a HAR file"));
    let without = observe(&har(&[("https://a.example/", "document", "", &[])]));
    assert!(without.notes[0].contains("Chrome omits cookies"));
    let odd = observe(
        r#"{"log":{"entries":[{},1,null,{"request":{"url":"nonsense"}},{"request":{"url":"http://a/","headers":7}},
           {"request":{"url":"data:,x"}}]}}"#,
    );
    assert_eq!(odd.skipped, 4, "a data: URL has no cookies");
}

/// Tests random bytes, decoded as text, with and without NUL.
#[test]
fn binary_input_is_not_a_table() {
    let mut state = 1_u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    let bytes: Vec<u8> = (0..100_000).map(|_| byte()).collect();
    let without: Vec<u8> = bytes.iter().map(|b| *b.max(&1)).collect();
    for bytes in [bytes, without] {
        let mut collector = Collector::new().expect("random numbers");
        let read = collector.text(&String::from_utf8_lossy(&bytes));
        assert!(read.expect_err("an error").0.contains("binary data"));
    }
}

/// The cost of the first API call on a connection does not depend on an earlier request for a page,
/// and vice versa.
#[test]
fn http2_costs_count_each_kind_as_the_first_request() {
    let cookie = "sid=0123456789; theme=dark";
    let bytes_of = |order: [(&str, &str); 2]| {
        let entries = order.map(|(path, kind)| (path, kind, cookie, &[][..]));
        let audit = audit_of(&observe(&har(&entries)));
        ["page", "API call"].map(|row| [3, 4, 5].map(|column| cell(&audit, 3, row, column)))
    };
    let (page, api) = (
        ("http://a.example/", "document"),
        ("http://a.example/x", "xhr"),
    );
    let [first, other] = bytes_of([page, api]);
    assert_eq!(first, other);
    assert_eq!(bytes_of([api, page]), [first, other]);
    assert!(first[1] > first[2], "{first:?}");
}

#[test]
fn numbers_and_words_agree() {
    let image = "https://a.example/i.png";
    let (text, _) = seen_and_fix(&har(&[(image, "image", "k=1", &[])]), "cookie-static");
    assert!(text.ends_with("was sent with 1 static file."), "{text}");
    let long = format!("Cookie: k={}", "v".repeat(183 << 10));
    let audit = audit_of(&observe(&long));
    let finding_of = |rule: &str| {
        audit
            .findings
            .iter()
            .find(|f| f.rule == rule)
            .expect("a finding")
    };
    let packets = finding_of("request-packet");
    // 187,404 bytes, with 1,428 in each packet.
    assert!(
        packets
            .cost
            .starts_with("The request takes at least 132 packets"),
        "{}",
        packets.cost
    );
    assert!(
        packets
            .seen
            .starts_with("The largest request to an unnamed host"),
        "{}",
        packets.seen
    );
    assert_eq!(
        finding_of("host-count").seen,
        "The largest request to an unnamed host carries 1 cookie."
    );
}

/// White space around names and values does not count (RFC 6265, 5.2).
#[test]
fn blanks_around_names_and_values_are_removed() {
    let cookie = set(
        " b \t= 1 ;  Max-Age = 60 ; Path = /x ;Domain = .a.example\t; SameSite =\tLax ; Secure ; HttpOnly ",
    );
    assert_eq!((cookie.name.as_str(), cookie.value_bytes), ("b", 1));
    assert_eq!(
        (cookie.path.as_str(), cookie.domain.as_str()),
        ("/x", "a.example")
    );
    let attributes = cookie.attributes.expect("attributes");
    assert_eq!(attributes.lifetime_s, Some(60.0));
    assert!(attributes.secure && attributes.http_only && !attributes.host_only);
    assert_eq!(
        (attributes.same_site(), attributes.ignored),
        (Some("Lax"), None)
    );
}

/// Builds a HAR with one response, recorded at `time`, that sets one cookie.
fn har_at(time: &Value, set: &str) -> String {
    let entry = json!({"startedDateTime": time, "request": {"url": "https://a.example/"},
        "response": {"headers": [{"name": "Set-Cookie", "value": set}]}});
    json!({"log": {"entries": [entry]}}).to_string()
}

/// If the time of the recording is uncertain, a lifetime that depends on it is unknown, and a
/// cookie that may have expired does not count as deleted.
#[test]
fn lifetimes_by_an_uncertain_clock_are_unknown() {
    let sid =
        "sid=1; Path=/; Secure; HttpOnly; SameSite=Lax; Expires=Wed, 17 May 2017 09:00:00 GMT";
    let lifetime = |text: &str| {
        let audit = audit_of(&observe(text));
        let finding = audit
            .findings
            .into_iter()
            .find(|f| f.rule == "cookie-lifetime");
        finding.expect("a finding").state
    };
    for time in [
        json!("2017-05-17T08:00:00Z"),
        json!("2017-05-17 10:00:00.000 +0200"),
        json!(1_495_008_000_000_u64),
    ] {
        let text = har_at(&time, sid);
        let seen = observe(&text);
        let attributes = seen.cookies[0].attributes.as_ref().expect("attributes");
        assert_eq!(attributes.lifetime_s, Some(3600.0), "{time}");
        assert_eq!(attributes.lifetime_doubt, None);
        assert_eq!(lifetime(&text), State::Good);
        let says_unit = seen.notes.iter().any(|note| note.contains("are numbers"));
        assert_eq!(says_unit, time.is_number(), "{:?}", seen.notes);
    }
    for (time, note) in [
        (json!("2017-05-17T08:00:00.000"), "no time zone"),
        (json!("2017-05-17T20:00:00"), "no time zone"),
        (json!("yesterday"), "counted from now"),
        (json!(null), "counted from now"),
    ] {
        let text = har_at(&time, sid);
        let seen = observe(&text);
        assert!(!seen.cookies[0].is_deleted, "{time}");
        assert!(
            seen.notes.iter().any(|n| n.contains(note)),
            "{:?}",
            seen.notes
        );
        assert_eq!(lifetime(&text), State::Unknown, "{time}");
        // Neither Max-Age nor a session depends on the clock.
        for set in ["a=1; Max-Age=60", "a=1", &format!("{sid}; Max-Age=60")] {
            let seen = observe(&har_at(&time, set));
            assert!(
                !seen.notes.iter().any(|n| n.contains(note)),
                "{:?}",
                seen.notes
            );
        }
        // A deletion by a date that is past by any clock.
        let deleted = "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT";
        assert!(observe(&har_at(&time, deleted)).cookies.is_empty());
        // Longer than browsers keep it, by any clock.
        let long = "a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT";
        assert_eq!(lifetime(&har_at(&time, long)), State::Advice);
    }
}

/// Returns the name, value length and path of each cookie in a HAR whose response has header fields
/// and a list of cookies. Also returns the number of skipped cookies.
fn listed(fields: Value, list: Value) -> (Vec<(String, usize, String)>, usize) {
    let entry = json!({"startedDateTime": "2025-03-01T10:00:00Z", "request": {"url": "https://a.example/"},
        "response": {"headers": fields, "cookies": list}});
    let seen = observe(&json!({"log": {"entries": [entry]}}).to_string());
    let cookies = seen.cookies.iter();
    let cookies = cookies.map(|c| (c.name.clone(), c.value_bytes, c.path.clone()));
    (cookies.collect(), seen.skipped)
}

#[test]
fn the_list_of_a_response_completes_its_fields() {
    let field = |value: &str| json!([{"name": "Set-Cookie", "value": value}]);
    let list = json!([{"name": "a", "value": "1"}, {"name": "b", "value": "2", "path": "/x"}]);
    let both = vec![("a".into(), 1, "/".into()), ("b".into(), 1, "/x".into())];
    for joined in [
        "a=1, b=2; Path=/x",
        "a=1,b=2; Path=/x",
        "a=1; Secure",
        "a=1\nb=2; Path=/x",
    ] {
        assert_eq!(
            listed(field(joined), list.clone()),
            (both.clone(), 0),
            "{joined}"
        );
    }
    // The exporter kept only the last field.
    let (mut cookies, skipped) = listed(field("b=2; Path=/x"), list.clone());
    cookies.sort();
    assert_eq!((cookies, skipped), (both, 0));
    // A comma in a value, and names that the list shows without percent-encoding.
    let comma = json!([{"name": "a", "value": "1, b"}]);
    assert_eq!(listed(field("a=1, b; Path=/"), comma).0.len(), 1);
    let encoded = json!([{"name": "a[0]", "value": "1"}]);
    assert_eq!(listed(field("a%5B0%5D=1"), encoded).0.len(), 1);
    // Other cookies than the fields, and items without a name or a value.
    assert_eq!(listed(field("c=3"), list).1, 2);
    let broken = json!([{"value": "1"}, {"name": "a", "value": null}, 7]);
    assert_eq!(
        listed(field("c=3"), broken),
        (vec![("c".into(), 1, "/".into())], 3)
    );
}

/// The expiry in a list is a date, or a number of seconds or milliseconds.
#[test]
fn expiries_in_a_list_are_read_or_unknown() {
    let lifetime = |cookie: Value| {
        let mut item = json!({"name": "k", "value": "1"});
        for (key, value) in cookie.as_object().expect("an object") {
            item[key] = value.clone();
        }
        let entry = json!({"startedDateTime": "2025-03-01T10:00:00Z",
            "request": {"url": "https://a.example/"}, "response": {"cookies": [item]}});
        let seen = observe(&json!({"log": {"entries": [entry]}}).to_string());
        let attributes = seen.cookies.first().and_then(|c| c.attributes.clone());
        attributes.map(|a| (a.lifetime_s, a.lifetime_doubt.is_some(), a.ignored))
    };
    let hour = Some((Some(3600.0), false, None));
    for expires in [
        json!(1_740_826_800),
        json!("1740826800"),
        json!(1_740_826_800_000_u64),
        json!("2025-03-01T11:00:00Z"),
        json!("2025-03-01T12:00:00.000+01:00"),
        json!("Sat, 01 Mar 2025 11:00:00 GMT"),
    ] {
        assert_eq!(lifetime(json!({"expires": expires})), hour, "{expires}");
    }
    assert_eq!(lifetime(json!({"maxAge": 3600})), hour);
    let session = Some((None, false, None));
    for expires in [
        json!(null),
        json!(""),
        json!(-1),
        json!("-1"),
        json!("Session"),
    ] {
        assert_eq!(lifetime(json!({"expires": expires})), session, "{expires}");
    }
    let without_zone = Some((Some(3600.0), true, None));
    assert_eq!(
        lifetime(json!({"expires": "2025-03-01T11:00:00"})),
        without_zone
    );
    let unread = Some((None, true, None));
    for expires in [json!("1/1/2030 12:00:00 AM"), json!(true), json!(7)] {
        assert_eq!(lifetime(json!({"expires": expires})), unread, "{expires}");
    }
    assert_eq!(lifetime(json!({"expires": "1970-01-01T00:00:00Z"})), None);
    let flags = json!({"name": "k", "value": "1", "secure": "true", "httpOnly": 1, "sameSite": "no_restriction"});
    let entry = json!({"request": {"url": "https://a.example/"}, "response": {"cookies": [flags]}});
    let seen = observe(&json!({"log": {"entries": [entry]}}).to_string());
    let attributes = seen.cookies[0].attributes.as_ref().expect("attributes");
    assert!(attributes.secure && attributes.http_only);
    assert_eq!(attributes.same_site(), Some("None"));
}

/// The audited site is the site of the page, not of a browser extension or a `data:` URL.
#[test]
fn the_site_of_a_har_is_that_of_its_page() {
    let site = |urls: &[(&str, &str)]| {
        let entry = |(url, kind): &(&str, &str)| {
            json!({"request": {"url": url},
            "response": {"status": 200, "content": {"mimeType": kind}}})
        };
        let entries: Vec<Value> = urls.iter().map(entry).collect();
        observe(&json!({"log": {"entries": entries}}).to_string()).site
    };
    let page = ("https://a.example/", "text/html");
    for first in [
        ("chrome-extension://abc/x.js", "text/html"),
        ("data:text/html,x", "text/html"),
        ("wss://live.example/", ""),
        ("https://update.example/x", "application/json"),
    ] {
        assert_eq!(
            site(&[first, page]).as_deref(),
            Some("a.example"),
            "{first:?}"
        );
    }
    assert_eq!(site(&[("chrome-extension://abc/x.js", "")]), None);
}

/// Text that contains `=` is not a list of cookies: neither its words nor its values are shown.
#[test]
fn texts_in_other_formats_are_rejected() {
    for text in [
        r#"[{"log": {"entries": []}}]"#,
        r#"[{"name": "a", "value": "SECRET"}]"#,
        r#"["a=SECRET"]"#,
        "[a=SECRET]",
        "curl 'https://a.example/' -H 'cookie: a=1; b=SECRET' --compressed",
        "curl 'https://a.example/' \\\n  -H 'cookie: a=SECRET' \\\n  -b 'b=SECRET'",
        "<cookies><cookie name=\"sid\" value=\"SECRET\"/></cookies>",
        "1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] \"GET /?token=SECRET HTTP/1.1\" 200 1",
        "cookies:\n  - name: sid=SECRET\n  - other",
        "name,value\nsid,SECRET==\n",
        "https://a.example/?token=SECRET",
        "export TOKEN=SECRET",
        "a=1; b\n",
        "-----BEGIN KEY-----\nSECRET==\n-----END KEY-----\n",
        "fn main() {\n\tlet a = SECRET;\n\tlet\tb = 2;\tc = 3;\n}\n",
        "1\t2\t3\t4\t5\t6\tSECRET=7\n",
    ] {
        let mut collector = Collector::new().expect("random numbers");
        let error = collector.text(text).expect_err(text).0;
        assert!(error.contains("expected a HAR file"), "{error}");
        assert!(!error.contains("SECRET"), "{error}");
    }
}

#[test]
fn heads_of_messages_are_read_without_their_other_fields() {
    let verbose = "* Connected to a.example\n> GET /?t=SECRET HTTP/1.1\n> Host: a.example\n> Cookie: a=1; b=2\n>\n\
        < HTTP/1.1 200 OK\n< Set-Cookie: sid=SECRET; Path=/; Secure\n< Date: Mon, 01 Jan 2024 00:00:00 GMT\n\
        < ETag: \"abc=\"\n<\n{ [13 bytes data]\nbody=SECRET\n";
    let names = |text: &str| {
        let seen = observe(text);
        assert_eq!(seen.skipped, 0, "{text}");
        seen.cookies
            .iter()
            .map(|c| c.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(verbose), ["a", "b", "sid"]);
    let head = "HTTP/2 200\ndate: Mon, 01 Jan 2024 00:00:00 GMT\nset-cookie: sid=1; Expires=Tue, 02 Jan 2024 00:00:00 GMT\n\
        link: <https://a.example/?token=SECRET>; rel=preload\n\n<p>a=b</p>\n";
    assert_eq!(names(head), ["sid"]);
    // The Date of the response is the time from which its lifetimes count.
    let seen = observe(head);
    let attributes = seen.cookies[0].attributes.as_ref().expect("attributes");
    assert_eq!(
        (attributes.lifetime_s, attributes.lifetime_doubt),
        (Some(86_400.0), None)
    );
    assert_eq!(names("a=1; b=\"2\"\nc=3;\n"), ["a", "b", "c"]);
    assert_eq!(names("Cookie: a=1, 2; b={\"x\": 1}\n"), ["a", "b"]);
}

#[test]
fn set_cookie_lines_lose_no_cookie() {
    let seen = observe(
        "Set-Cookie: a=1; Path=/; Expires=Wed, 17 May 2017 11:00:00 GMT, b=2; Path=/b\nCookie: z=1\n",
    );
    let names: Vec<&str> = seen.cookies.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "z"]);
    assert!(
        seen.notes.iter().any(|n| n.contains("counted from now")),
        "{:?}",
        seen.notes
    );
}

#[test]
fn a_jar_shows_neither_same_site_nor_cookies_that_expired() {
    let jar = "# Netscape HTTP Cookie File\n.a.example\tTRUE\t/\tTRUE\t1493456000\told\tabc\n";
    let seen = observe(jar);
    assert!(
        seen.notes
            .iter()
            .any(|n| n.starts_with("1 cookie in the file has expired")),
        "{:?}",
        seen.notes
    );
    let live = observe(&jar.replace("1493456000", "4102444800"));
    let audit = audit_of(&live);
    let finding = audit
        .findings
        .iter()
        .find(|f| f.rule == "cookie-same-site")
        .expect("a finding");
    assert_eq!(finding.state, State::Unknown);
    let not_lax = audit
        .findings
        .iter()
        .flat_map(|f| &f.fixes)
        .flat_map(|fix| &fix.lines);
    assert!(not_lax.clone().all(|line| !line.contains("SameSite=Lax")));
}

#[test]
fn the_json_of_cookie_editors_is_read() {
    let list = json!([
        {"domain": ".a.example", "expirationDate": 4_102_444_800.5, "hostOnly": false, "httpOnly": true,
         "name": "sid", "path": "/", "sameSite": "lax", "secure": true, "session": false, "value": "SECRET=="},
        {"domain": "www.a.example", "hostOnly": true, "httpOnly": false, "name": "ga", "path": "/",
         "sameSite": null, "secure": false, "session": true, "value": "GA1.2=x; y=SECRET"},
        {"name": "none"},
    ]);
    let driver = json!({"cookies": list, "origins": []});
    for text in [list.to_string(), driver.to_string()] {
        let seen = observe(&text);
        assert!(!format!("{seen:?}").contains("SECRET"));
        let [sid, ga] = &seen.cookies[..] else {
            panic!("{seen:?}")
        };
        let attributes = sid.attributes.as_ref().expect("attributes");
        assert!(attributes.http_only && attributes.secure && !attributes.host_only);
        assert_eq!((sid.bytes(), attributes.same_site()), (12, Some("Lax")));
        assert!(attributes.lifetime_s > Some(1e8));
        let attributes = ga.attributes.as_ref().expect("attributes");
        assert!(attributes.host_only && attributes.lifetime_s.is_none());
        assert_eq!((ga.domain.as_str(), seen.skipped), ("www.a.example", 1));
    }
}

#[test]
fn a_cookie_that_was_never_sent_was_not_sent_once() {
    let page = ("https://a.example/", "document", "", &["k=1"][..]);
    let (seen, _) = seen_and_fix(&har(&[page]), "cookie-copies");
    assert_eq!(seen, "No request carries k more than once.");
    let set = (
        "https://a.example/",
        "document",
        "",
        &["k=1; Path=/", "k=2; Domain=a.example"][..],
    );
    let twice = ("https://a.example/", "document", "k=1; k=2", &[][..]);
    let audit = audit_of(&observe(&har(&[set, twice])));
    let bad = audit
        .findings
        .iter()
        .find(|f| f.rule == "cookie-copies" && f.state == State::Bad);
    let seen = &bad.expect("a finding").seen;
    assert!(seen.contains("was sent 2 times in one request"), "{seen}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_parsed_or_rejected(text in "[ -~\t\n\u{1b}é]{0,300}") {
        let mut collector = Collector::new().expect("random numbers");
        if collector.text(&text).is_ok() {
            audit_of(&collector.done());
        }
    }

    #[test]
    fn any_fields_in_a_har_are_read(cookie in "\\PC{0,80}", set in "\\PC{0,80}", url in "https?://[a-z.:/?#\\[\\]@]{0,20}") {
        let text = har(&[(&url, "document", &cookie, &[&set]), (&url, "image", &cookie, &[])]);
        audit_of(&observe(&text));
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Tests the first screen of an audit.

use lab_audit::report::{AuditReport, ChangedReport, changed, document};
use lab_document::{Answer, Document, format};
use lab_document::{Rendered, Terminal};
use lab_model::audit::{Audit, AuditFinding, AuditKind, Evidence, EvidenceValue, Fix, State};
use lab_model::{Run, Unit};

fn finding(rule: &str, object: &str, fixes: &[(&str, &str)]) -> AuditFinding {
    let fix = |(of, line): &(&str, &str)| Fix {
        of: (*of).into(),
        lines: vec!["# words".into(), (*line).into()],
    };
    AuditFinding {
        rule: rule.into(),
        area: "area".into(),
        title: "It is so".into(),
        place: object.into(),
        state: State::Bad,
        weight: 5,
        seen: "It is not so.".into(),
        cost: String::new(),
        why: "Why.".into(),
        fixes: fixes.iter().map(fix).collect(),
        see: "see".into(),
        source: "https://example.org".into(),
        evidence: Vec::new(),
    }
}

fn audit(findings: Vec<AuditFinding>) -> Audit {
    Audit {
        waivers: Vec::new(),
        expired_waivers: Vec::new(),
        kind: AuditKind::Site,
        targets: vec!["a.example".into()],
        facts: Vec::new(),
        findings,
        tables: Vec::new(),
        chart: None,
    }
}

fn answer(findings: Vec<AuditFinding>) -> Answer {
    let audit = audit(findings);
    let report = AuditReport {
        audit: &audit,
        run: "",
        made_unix_s: 0.0,
        benchlab_version: "0",
        file: None,
    };
    document(&report).answer
}

/// Each rule is listed once, with its object. The fix is included if the rule has only one fix.
#[test]
fn the_worst_rules_are_shown_once_with_their_objects() {
    let sentences = |findings: Vec<AuditFinding>| {
        let of_rules = answer(findings).findings.into_iter();
        of_rules
            .map(|f| format!("{}: {}", f.label, f.text))
            .collect::<Vec<String>>()
    };
    let fixes = [("nginx", "gzip on;"), ("Apache", "a2enmod deflate")];
    let files = ["/a", "/b", "/c"].map(|object| finding("compression", object, &fixes));
    let host = finding("clock", "a.example", &[("", "apt-get install chrony")]);
    assert_eq!(
        sentences([&files[..], &[host]].concat()),
        [
            "Problem, compression, /a and 2 more: It is not so. Fixes are listed for nginx and Apache.",
            "Problem, clock: It is not so. Fix: `apt-get install chrony`",
        ]
    );
    let one = finding(
        "resolver",
        "/etc/resolv.conf",
        &[("/etc/resolv.conf", "nameserver")],
    );
    assert_eq!(
        sentences(vec![one]),
        ["Problem, resolver, /etc/resolv.conf: It is not so. For /etc/resolv.conf: `nameserver`"]
    );
    assert_eq!(
        sentences(vec![finding("there", "/a", &[])]),
        ["Problem, there, /a: It is not so."]
    );
}

#[test]
fn the_first_line_counts_and_every_rule_follows() {
    let rules = ["a", "b", "c", "d"].map(|rule| finding(rule, "", &[]));
    let answer = answer(rules.to_vec());
    assert_eq!(answer.headline, "4 problems.");
    assert_eq!(answer.findings.len(), 4);
}

#[test]
fn if_no_rule_applies_the_report_says_why() {
    let none = |rule: &str, reason: &str| AuditFinding {
        state: State::NotApplicable,
        seen: reason.into(),
        ..finding(rule, "", &[])
    };
    let answer = answer(vec![
        none("size", "No cookie was found."),
        none("path", "No cookie was found."),
        none("count", "No request is known."),
    ]);
    assert!(answer.chart.is_none());
    let texts: Vec<&str> = answer.findings.iter().map(|f| f.text.as_str()).collect();
    assert_eq!(texts, ["No cookie was found. No request is known."]);
}

/// Returns the report on two audits with the given findings.
fn compared(before: Vec<AuditFinding>, after: Vec<AuditFinding>) -> Document {
    let [before, after] = [before, after].map(audit);
    let run = Run::default();
    changed(&ChangedReport {
        runs: [&run, &run],
        audits: [&before, &after],
        files: ["a.lab", "b.lab"],
    })
}

fn sentences_after_first(document: &Document) -> Vec<String> {
    let findings = document.answer.findings.iter().skip(1);
    findings
        .map(|f| format!("{}: {}", f.label, f.text))
        .collect()
}

/// Compares `audit host --watch` with an audit without `--watch`, in both orders, and two audits with different
/// devices.
#[test]
fn objects_in_one_audit_only_are_neither_better_nor_worse() {
    let none = || AuditFinding {
        state: State::NotApplicable,
        ..finding("folder-fast", "", &[])
    };
    let bad = |rule: &str, object: &str| finding(rule, object, &[]);
    let good = |rule: &str, object: &str| AuditFinding {
        state: State::Good,
        ..bad(rule, object)
    };
    let folders = ["/srv/a", "/srv/b", "/srv/c", "/srv/d", "/srv/e"];
    let watched = || folders.map(|folder| bad("folder-fast", folder)).to_vec();
    let with = |mut findings: Vec<AuditFinding>, more: AuditFinding| {
        findings.push(more);
        findings
    };
    let document = compared(
        with(watched(), bad("swap", "host")),
        vec![none(), good("swap", "host")],
    );
    let named = "In one audit only, 5: first audit: /srv/a, /srv/b, /srv/c, /srv/d and 1 more. These are neither better nor worse.";
    let expected = ["Better, 1: swap (host): It is not so.", named];
    assert_eq!(sentences_after_first(&document), expected);
    let marked = document.rows.iter().filter(|row| {
        let [(name, value)] = &row.params[..] else {
            return false;
        };
        (name.as_str(), value.as_str()) == ("looked-at", "in-one-only")
    });
    assert_eq!(marked.count(), 5);
    let expected = [
        "No finding changed state.",
        "second audit: /srv/a, /srv/b, /srv/c, /srv/d and 1 more. These are neither better nor worse.",
    ];
    let back = sentences_after_first(&compared(vec![none()], watched()));
    assert!(
        back.iter()
            .zip(expected)
            .all(|(sentences_after_first, expected)| sentences_after_first.ends_with(expected)),
        "{back:?}"
    );
    let disks = compared(vec![bad("fsync", "/dev/sda")], vec![good("fsync", "/srv")]);
    let expected = "In one audit only, 2: first audit: /dev/sda; second audit: /srv. These are neither better nor worse.";
    assert_eq!(sentences_after_first(&disks)[1], expected);
    let csv = format::csv::FORMAT.render(&disks, Terminal::default());
    let Ok(Rendered::Text(csv)) = csv else {
        panic!("a text")
    };
    assert_eq!(csv.matches("looked-at=in-one-only").count(), 2, "{csv}");
}

/// A rule with a finding about multiple objects is compared as a whole, because the audits may list
/// different names.
#[test]
fn rules_about_multiple_objects_are_compared_by_the_worst() {
    let multiple = |object: &str, state: State| AuditFinding {
        state,
        evidence: vec![Evidence {
            name: "objects".into(),
            value: EvidenceValue::Number(2.0, Unit::Count("objects".into())),
        }],
        ..finding("cookie-secure", object, &[])
    };
    let before = vec![multiple("a, b", State::Bad), multiple("c, d", State::Good)];
    let fewer = compared(before.clone(), vec![finding("cookie-secure", "b", &[])]);
    assert_eq!(
        sentences_after_first(&fewer),
        [": No finding changed state."]
    );
    let mended = compared(before, vec![multiple("a, b, c", State::Good)]);
    assert_eq!(
        sentences_after_first(&mended),
        ["Better, 1: cookie-secure (a, b, c): It is not so."]
    );
}

/// Objects whose shortened names are the same are compared in order. Objects that are in one audit
/// only are neither better nor worse.
#[test]
fn objects_with_the_same_name_are_compared_in_order() {
    let judged = |state: State, bytes: f64| AuditFinding {
        state,
        evidence: vec![Evidence {
            name: "bytes".into(),
            value: EvidenceValue::Number(bytes, Unit::Bytes),
        }],
        ..finding("resource-cache", "/a.js?v=…", &[])
    };
    let [one, two, three] = [
        judged(State::Bad, 10.0),
        judged(State::Good, 20.0),
        judged(State::Advice, 30.0),
    ];
    let all = || vec![one.clone(), two.clone(), three.clone()];
    let same = compared(all(), all());
    let unchanged = ": No finding changed state.";
    assert_eq!(sentences_after_first(&same), [unchanged]);
    assert!(same.sections.is_empty(), "{:?}", same.sections);
    let fewer = compared(all(), vec![one.clone(), two.clone()]);
    let alone = "In one audit only, 1: first audit: /a.js?v=…. These are neither better nor worse.";
    assert_eq!(sentences_after_first(&fewer), [unchanged, alone]);
    let marked = fewer.rows.iter().filter(|row| !row.params.is_empty());
    let marked: Vec<&str> = marked.map(|row| row.verdict.as_str()).collect();
    assert_eq!(marked, ["advice", "advice"], "the state and one number");
    let worse = compared(all(), vec![one, judged(State::Bad, 25.0), three]);
    let sentence = "Worse, 1: resource-cache (/a.js?v=…): It is not so.";
    assert_eq!(sentences_after_first(&worse), [sentence]);
    let audits = [
        vec![two.clone(), two.clone()],
        vec![two, judged(State::Good, 25.0)],
    ];
    let [before, after] = audits;
    let changed = compared(before, after);
    assert_eq!(changed.sections.len(), 1, "{:?}", changed.sections);
}

/// An audit measures neither the threads nor the memory of a subject, so the XML omits these
/// attributes.
#[test]
fn xml_of_an_audit_has_no_filler() {
    let document = compared(vec![finding("a", "b", &[])], Vec::new());
    let xml = format::xml::FORMAT.render(&document, Terminal::default());
    let Ok(Rendered::Text(xml)) = xml else {
        panic!("a text")
    };
    assert!(
        xml.contains("<benchmark language=\"b\"") && !xml.contains("rss_size"),
        "{xml}"
    );
}

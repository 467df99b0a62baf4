// SPDX-License-Identifier: Apache-2.0
//! What an audit's first screen says.

use lab_model::audit::{Audit, AuditKind, Finding, Fix, State};
use lab_report::document::Answer;
use lab_report::kind::audit::{AuditReport, document};

fn finding(rule: &str, place: &str, fixes: &[(&str, &str)]) -> Finding {
    let fix = |(of, line): &(&str, &str)| Fix {
        of: (*of).into(),
        lines: vec!["# words".into(), (*line).into()],
    };
    Finding {
        rule: rule.into(),
        area: "area".into(),
        title: "It is so".into(),
        place: place.into(),
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

fn answer(findings: Vec<Finding>) -> Answer {
    let audit = Audit {
        kind: AuditKind::Site,
        targets: vec!["a.example".into()],
        facts: Vec::new(),
        findings,
        tables: Vec::new(),
        chart: None,
    };
    let report = AuditReport {
        audit: &audit,
        run: "",
        made_unix_s: 0.0,
        lab_version: "0",
        file: None,
    };
    document(&report).answer
}

/// Each rule once, with what it is about, and what to do where that is one thing.
#[test]
fn the_worst_rules_are_told_once_with_their_places() {
    let told = |findings: Vec<Finding>| {
        let of_rules = answer(findings).findings.into_iter().skip(1);
        let told = of_rules.map(|f| format!("{}: {}", f.label, f.text));
        told.collect::<Vec<String>>()
    };
    let both = [("nginx", "gzip on;"), ("Apache", "a2enmod deflate")];
    let files = ["/a", "/b", "/c"].map(|place| finding("compression", place, &both));
    let host = finding("clock", "a.example", &[("", "apt-get install chrony")]);
    assert_eq!(
        told([&files[..], &[host]].concat()),
        [
            "compression, /a and 2 more: It is not so. There are lines for nginx and Apache.",
            "clock: It is not so. Do: apt-get install chrony",
        ]
    );
    let one = finding(
        "resolver",
        "/etc/resolv.conf",
        &[("/etc/resolv.conf", "nameserver")],
    );
    assert_eq!(
        told(vec![one]),
        ["resolver, /etc/resolv.conf: It is not so. For /etc/resolv.conf: nameserver"]
    );
    assert_eq!(
        told(vec![finding("there", "/a", &[])]),
        ["there, /a: It is not so."]
    );
}

#[test]
fn where_no_rule_applies_it_says_why() {
    let none = |rule: &str, why: &str| Finding {
        state: State::NotApplicable,
        seen: why.into(),
        ..finding(rule, "", &[])
    };
    let answer = answer(vec![
        none("size", "There is no cookie."),
        none("path", "There is no cookie."),
        none("count", "No request is known."),
    ]);
    assert!(answer.chart.is_none());
    let told: Vec<&str> = answer.findings.iter().map(|f| f.text.as_str()).collect();
    assert_eq!(told, ["There is no cookie. No request is known."]);
}

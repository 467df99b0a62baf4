// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for the inputs of audits: browser files, HTML pages, system files, smartctl output, custom rules.

use lab_audit::condition::Condition;
use lab_audit::cookies::{self, cookie, input::Collector};
use lab_audit::host::{self, AuditedMachine};
use lab_audit::site::{self, Url};
use lab_audit::smart::Smart;
use lab_audit::user_rules::all_classes;
use lab_audit::{AuditObject, Root, Rule, Value, judge, rule};
use lab_model::audit::Audit;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;
use well_set_up::GOOD;

#[path = "../../lab-audit/tests/audit/well_set_up.rs"]
mod well_set_up;

/// Parses a site as saved by a browser (HAR).
pub fn har(bytes: &[u8]) {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| site::rules().expect("rules"));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok((url, site)) = site::of_har(text) {
        check_audit(&site::audit(&url, &site, &RULES));
    }
}

/// Parses cookies from a browser or from curl's cookie jar.
pub fn cookies(bytes: &[u8]) {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| cookies::rules().expect("rules"));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut collector = Collector::new().expect("random numbers");
    if collector.text(text).is_err() {
        return;
    }
    let observation = collector.done();
    let count = observation.cookies.len();
    for request in &observation.requests {
        let is_known = |index| index < count;
        assert!(request.indexes().all(is_known), "an unknown cookie");
    }
    check_audit(&cookies::audit(Vec::new(), &observation, &RULES, 10.0));
}

/// Parses bytes as a `Set-Cookie` header with one or more cookies, and also as a `Cookie` header.
pub fn set_cookie(bytes: &[u8]) {
    let Ok(field) = std::str::from_utf8(bytes) else {
        return;
    };
    let parts = cookie::split_set_cookie(field);
    for part in &parts {
        assert_eq!(
            cookie::split_set_cookie(part),
            [*part],
            "a cookie that was split once is split again"
        );
    }
    let mut collector = Collector::new().expect("random numbers");
    let fields = parts.into_iter().map(str::to_owned);
    collector.add_response("www.example.com", "/a/b", 1.8e9, fields);
    for cookie in collector.done().cookies {
        assert!(
            cookie.path.starts_with('/'),
            "the path of {cookie:?} is not absolute"
        );
        cookie.is_sent_to(true, "www.example.com", "/a/b");
    }
    let pairs = cookie::pairs(field);
    let length: usize = pairs
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    assert!(length <= field.len(), "more bytes than the header contains");
}

/// Parses the HTML of a page.
pub fn html_page(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let page = Url::parse("https://www.example.com/a/b").expect("a URL");
    let references = site::references(text, &page);
    assert!(references.len() <= text.len(), "more references than bytes");
}

/// Parses the output of smartctl for a disk.
pub fn smartctl(bytes: &[u8]) {
    thread_local!(static FOLDER: TempDir = TempDir::new().expect("a folder"));
    let smart = FOLDER.with(|folder| {
        write(folder.path(), "smartctl-sda.json", bytes);
        Smart::read(&Root::copy(folder.path()), "sda")
    });
    match smart {
        Ok(smart) => {
            let is_fraction = |part: &f64| part.is_finite() && *part >= 0.0;
            assert!(smart.worn.iter().all(is_fraction), "{smart:?}");
            assert!(smart.spare.iter().all(is_fraction), "{smart:?}");
            assert!(smart.written.iter().all(is_fraction), "{smart:?}");
            let left = smart.endurance(1e12).left;
            assert!(left >= 0.0, "invalid endurance of {left} bytes: {smart:?}");
        }
        Err(reason) => assert!(reason.chars().all(|c| !c.is_control()), "{reason:?}"),
    }
}

/// Parses a file of a Linux host. The first byte selects the file, and all other files have typical
/// contents.
pub fn host_file(bytes: &[u8]) {
    thread_local!(static FOLDER: TempDir = machine());
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| host::rules().expect("rules"));
    let Some((first, content)) = bytes.split_first() else {
        return;
    };
    let Some((path, usual)) = GOOD.get(usize::from(*first)) else {
        return;
    };
    FOLDER.with(|folder| {
        write(folder.path(), path, content);
        if let Ok(machine) = AuditedMachine::copy(Root::copy(folder.path())) {
            check_audit(&host::audit(&machine, &RULES, Vec::new()));
            host::mounts(&machine);
            host::available(&machine);
        }
        write(folder.path(), path, usual.as_bytes());
    });
}

/// Parses a custom rule and its conditions.
pub fn audit_rule(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(condition) = Condition::parse(text) {
        assert_eq!(Condition::parse(&condition.text), Ok(condition));
    }
    let classes = all_classes();
    if let Ok(rule) = rule::parse(Path::new("rule.toml"), text, &classes) {
        let Some(class) = classes.iter().find(|class| class.name == rule.of) else {
            panic!("a rule was parsed although its class is unknown");
        };
        for value in [
            Value::Word("none".into()),
            Value::Unknown("It cannot be seen.".into()),
        ] {
            let mut object = AuditObject::new(class.name, "sda");
            for (name, _) in class.values {
                object.set(name, value.clone());
            }
            judge(std::slice::from_ref(&rule), &[object], &classes);
        }
    }
}

/// Checks that an audit can be displayed.
fn check_audit(audit: &Audit) {
    for table in &audit.tables {
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len(), "{}", table.title);
        }
    }
}

fn machine() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, content) in GOOD {
        write(folder.path(), path, content.as_bytes());
    }
    folder
}

fn write(folder: &Path, path: &str, content: &[u8]) {
    let file = folder.join(path);
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).expect("a folder");
    }
    std::fs::write(file, content).expect("a file");
}

// SPDX-License-Identifier: Apache-2.0
//! `benchlab diff A.lab B.lab` with two load runs: shows how a server changed between them.

use super::{Behavior, TestDirectory, Web};
use crate::project::Outcome;

/// Puts each server under load separately, and compares the runs.
fn compare_loads(urls: [&str; 2], more: &[&str]) -> (TestDirectory, Outcome) {
    let directory = TestDirectory::new();
    for (url, name) in urls.into_iter().zip(["before", "after"]) {
        directory.load(&[url], &["--as", name]).expect(0);
    }
    let file = |name: &str| {
        let mut files = directory.0.files().into_iter();
        let named = |file: &std::path::PathBuf| file.to_string_lossy().contains(name);
        files.find(named).unwrap().to_str().unwrap().to_string()
    };
    let files = [file("before"), file("after")];
    let outcome = directory
        .0
        .call(&[&["diff", &files[0], &files[1]], more].concat());
    (directory, outcome)
}

#[test]
fn two_loads_are_compared_and_shown_in_every_format() {
    let (fast, slow) = (Web::new(Behavior::Honest), Web::new(Behavior::Slow(50)));
    let folder = tempfile::tempdir().unwrap();
    let file = |ending: &str| folder.path().join(format!("two.{ending}"));
    let endings = ["md", "csv", "json", "html", "xlsx", "txt"];
    let files: Vec<String> = endings
        .iter()
        .map(|ending| file(ending).to_str().unwrap().to_string())
        .collect();
    let exports: Vec<&str> = files.iter().flat_map(|f| ["--export", f]).collect();
    // On a busy machine, successive seconds can depend on each other, which makes the result
    // inconclusive. In this case, try again.
    let succeeded = (0..4).any(|_| {
        let (_place, outcome) = compare_loads([&fast.url("/a"), &slow.url("/a")], &exports);
        outcome.expect(0);
        std::fs::read_to_string(file("csv"))
            .unwrap()
            .contains(",slower,")
    });
    assert!(succeeded, "never slower");
    let report = std::fs::read_to_string(file("txt")).unwrap();
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "time for each request",
        "p50",
        "The two loads were not interleaved",
        &format!("http://{}", fast.address),
        &format!("http://{}", slow.address),
    ] {
        assert!(words.contains(text), "{text}: {words}");
    }
    let csv = std::fs::read_to_string(file("csv")).unwrap();
    let rows: Vec<csv::StringRecord> = csv::Reader::from_reader(csv.as_bytes())
        .records()
        .map(Result::unwrap)
        .collect();
    assert!(rows.len() >= 3, "{csv}");
    assert!(csv.contains(",slower,"), "{csv}");
    let json = std::fs::read_to_string(file("json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), rows.len());
    for (ending, text) in [("md", "| time for each request |"), ("html", "<svg")] {
        let page = std::fs::read_to_string(file(ending)).unwrap();
        assert!(page.contains(text), "{page}");
    }
    assert!(std::fs::read(file("xlsx")).unwrap().starts_with(b"PK"));
}

#[test]
fn loads_with_different_requests_are_not_compared() {
    let web = Web::new(Behavior::Honest);
    let (_place, outcome) = compare_loads([&web.url("/a"), &web.url("/b")], &[]);
    outcome.expect(2).says(&[
        "did not do the same work",
        "GET /a in the first and GET /b in the second",
    ]);
}

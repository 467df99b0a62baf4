// SPDX-License-Identifier: Apache-2.0
//! Snapshots every sentence with sample values. Sentences are allowed only in `wording.rs`.
//!
//! Review the snapshot after each change. `INSTA_UPDATE=always` updates it.

use lab_explain::wording::*;
use lab_explain::{
    Cause, Contribution, CountFailure, CountedUnit, Difference, OwnCount, SettingDifference,
    Source, TimeDifference,
};
use lab_model::{Metric, PointId};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const TIME: f64 = 1_795_425_300.0;
const UNITS: [CountedUnit; 3] = [
    CountedUnit::Operation,
    CountedUnit::Request,
    CountedUnit::Run,
];

fn sample(metric: Metric, values: [f64; 2], cause: Option<Cause>) -> String {
    let sample = Difference {
        point: PointId(0),
        metric,
        subjects: ["rust".into(), "c".into()],
        values,
        cause,
    };
    difference(&sample, CountedUnit::Operation)
}

fn failures() -> [CountFailure; 3] {
    [None, Some(""), Some("select, limit=100")].map(|point| CountFailure {
        subject: "rust".into(),
        point: point.map(str::to_owned),
        reason: "the library is missing".into(),
    })
}

/// The lines of the snapshot.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add<T: AsRef<str>>(&mut self, name: &str, texts: impl IntoIterator<Item = T>) {
        for text in texts {
            let _ = writeln!(self.0, "{name}: {}", text.as_ref());
        }
    }
}

macro_rules! constants {
    ($lines:ident: $($name:ident)*) => { $($lines.add(stringify!($name), [$name]);)* };
}

#[test]
fn every_sentence() {
    let mut lines = Lines::default();
    constants!(lines: SOURCE WARNINGS FAILED COUNTED FUNCTION LIBRARY NOTHING TABLE_CAPTION INSTRUCTIONS_CAPTION SETTINGS
        SETTING SETTINGS_CAPTION METHOD NO_DIFFERENCE STOPPED IMPORTED NOT_AN_EXPERIMENT);
    lines.add("METHODS", METHODS);
    lines.add("unit", UNITS.map(unit));
    lines.add("title", UNITS.map(|of| title("SQL drivers", of)));
    lines.add("question", UNITS.map(question));
    lines.add("made", [made(TIME)]);
    lines.add("per_unit", UNITS.map(per_unit));
    lines.add("system_call", [system_call("sendto")]);
    lines.add("instructions_by", [FUNCTION, LIBRARY].map(instructions_by));
    lines.add("instructions_per", UNITS.map(instructions_per));
    lines.add("messages", UNITS.map(messages));
    lines.add("messages_of", [messages_of("rust")]);
    lines.add("direction", [true, false].map(direction));
    let own = |counts, settings| Cause::OwnWork { counts, settings };
    let function = Cause::Function {
        name: "step".into(),
        values: [2_500_000.0, 12_345.0],
    };
    let setting = SettingDifference {
        name: "threading".into(),
        values: ["multi-thread".into(), "serialized".into()],
    };
    lines.add(
        "difference",
        [
            sample(Metric::ROUND_TRIPS, [1.0, 2.0], None),
            sample(Metric::SENT_BYTES, [1234.5, 17.25], None),
            sample(
                Metric::SIMULATED_INSTRUCTIONS,
                [2_600_000.0, 12_400.0],
                Some(function),
            ),
            sample(
                Metric::MEAN_CPU,
                [12_340.0, 11_000.0],
                Some(own(Vec::new(), Vec::new())),
            ),
            sample(
                Metric::MEAN_CPU,
                [12_340.0, 11_000.0],
                Some(own(Vec::new(), vec![setting])),
            ),
            sample(
                Metric::MEAN_CPU,
                [12_340.0, 11_000.0],
                Some(own(
                    vec![
                        OwnCount {
                            metric: Metric::INSTRUCTIONS,
                            values: [950.0, 1000.0],
                        },
                        OwnCount {
                            metric: Metric::CACHE_MISSES,
                            values: [80.0, 10.0],
                        },
                    ],
                    Vec::new(),
                )),
            ),
        ],
    );
    let part = |source, ns| Contribution { source, ns };
    let split = |parts, unexplained_ns, instructions_missing, misses| TimeDifference {
        point: PointId(0),
        subjects: ["rust", "c"].map(str::to_owned),
        metric: Metric::MEAN_WALL,
        times: [2_500.0, 1_500.0],
        parts,
        unexplained_ns,
        instructions_missing,
        misses,
    };
    let library = Some("libssl.so.3".to_owned());
    let differences = [
        split(
            vec![
                part(Source::Waiting(Some([2.0, 1.0])), 400.0),
                part(Source::Instructions([1_300.0, 1_000.0], library), 300.0),
                part(Source::SystemCalls([5.0, 3.0]), 200.0),
            ],
            100.0,
            false,
            None,
        ),
        split(vec![part(Source::Waiting(None), 700.0)], 300.0, false, None),
        split(
            vec![part(Source::PageFaults([2.0, 0.0]), 60.0)],
            940.0,
            true,
            None,
        ),
        split(
            vec![part(Source::Instructions([9.0, 8.0], None), 50.0)],
            950.0,
            false,
            Some((Metric::CACHE_MISSES, [80.0, 10.0])),
        ),
    ];
    lines.add(
        "time_difference",
        differences
            .each_ref()
            .map(|d| time_difference(d, CountedUnit::Operation)),
    );
    lines.add("failure", failures().each_ref().map(failure));
    lines.add(
        "missing_event",
        [missing_event("system calls and round trips")],
    );
    let subjects = ["c", "rust"].map(str::to_owned);
    lines.add(
        "not_counted",
        [not_counted(&subjects, "strace is not installed")],
    );
    let sizes = [None, Some((10, 10)), Some((10, 20))];
    for of in UNITS {
        lines.add("measured_unit", sizes.map(|sizes| measured_unit(of, sizes)));
    }
    lines.add(
        "counting",
        [counting("rust", ""), counting("rust", "select")],
    );
    lines.add("nothing_counted", [nothing_counted(&failures())]);
    insta::assert_snapshot!(lines.0);
}

/// Every new sentence must have a line in the snapshot.
#[test]
fn the_snapshot_has_every_name() {
    let (wording, test) = (source("wording.rs"), include_str!("wording.rs"));
    for line in wording.lines() {
        let name = ["pub fn ", "pub const "]
            .iter()
            .find_map(|word| line.strip_prefix(word));
        if let Some(name) = name.and_then(|rest| rest.split(['(', ':']).next()) {
            let is_shown = test.contains(&format!("\"{name}\""))
                || test
                    .split_whitespace()
                    .any(|word| word.trim_end_matches([')', ';']) == name);
            assert!(is_shown, "{name} is not in the snapshot");
        }
    }
}

/// Only `wording.rs` may contain a sentence, that is, three words in a row or a word followed by a
/// period.
#[test]
fn no_sentence_stands_elsewhere() {
    for name in [
        "contributions.rs",
        "counting.rs",
        "differences.rs",
        "figures.rs",
        "lib.rs",
        "report.rs",
    ] {
        for text in literals(&source(name)) {
            assert!(!is_sentence(&text), "{name}: {text}");
        }
    }
    assert!(is_sentence("there is nothing") && is_sentence("It ends."));
    assert!(!is_sentence("call_") && !is_sentence("{direction:8} {:6} B  {}"));
}

fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let words = text.split_whitespace().filter(is_word).count();
    words > 2 || words > 0 && text.ends_with('.')
}

/// Returns the string literals of a source text, ignoring its comments.
fn literals(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n").replace("\\\"", "'");
    let parts = text.split('"');
    parts.skip(1).step_by(2).map(str::to_owned).collect()
}

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
    fs::read_to_string(path).expect("a text")
}

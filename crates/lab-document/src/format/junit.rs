// SPDX-License-Identifier: Apache-2.0
//! A document as JUnit XML, with a test for each checked rule, each gate and each comparison.
//!
//! A comparison passes regardless of its verdict, which is in the test's output. Only gates and
//! problems make a test fail. Source of the format: the schema of the Jenkins xUnit plugin
//! (`junit-10.xsd`).

use super::issues::{problems, sentence};
use super::named::name;
use super::text::clean;
use crate::document::{Document, Gate, Row, Severity};
use crate::format::quantity;
use crate::output::{Format, Rendered};
use lab_model::{Decision, GateEffect, Unit};
use quick_xml::escape::escape;

/// JUnit XML.
pub const FORMAT: Format = Format {
    name: "junit",
    extension: "xml",
    title: "Tests (JUnit XML)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| Ok(Rendered::Text(render(document))),
};

struct Test {
    class: String,
    name: String,
    seconds: Option<f64>,
    result: TestResult,
    output: String,
}

enum TestResult {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Renders the tests.
pub fn render(document: &Document) -> String {
    let tests = tests(document);
    let failures = tests
        .iter()
        .filter(|test| matches!(test.result, TestResult::Failed(_)))
        .count();
    let skipped = tests
        .iter()
        .filter(|test| matches!(test.result, TestResult::Skipped(_)))
        .count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\"",
        tests.len()
    );
    let title = escape_text(&document.title);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"benchlab\" {counts}>\n  \
         <testsuite name=\"{title}\" {counts} skipped=\"{skipped}\">\n"
    );
    for test in &tests {
        text += &test.xml();
    }
    text + "  </testsuite>\n</testsuites>\n"
}

fn tests(document: &Document) -> Vec<Test> {
    let mut tests: Vec<Test> = document.gates.iter().map(gate).collect();
    for issue in problems(document) {
        let text = sentence(&issue);
        let object = if issue.object.is_empty() {
            &issue.title
        } else {
            &issue.object
        };
        tests.push(Test {
            class: issue.rule.clone(),
            name: if object.is_empty() {
                issue.rule.clone()
            } else {
                object.clone()
            },
            seconds: None,
            result: match (&issue.waived, issue.severity) {
                (Some(reason), _) => TestResult::Skipped(format!("accepted: {reason}")),
                (None, Severity::Error) => TestResult::Failed(text.clone()),
                (None, Severity::Warning | Severity::Notice) => TestResult::Passed,
            },
            output: text,
        });
    }
    let compared = document.rows.iter();
    let compared = compared.filter(|row| !row.verdict.is_empty() && !row.is_gate());
    tests.extend(compared.map(comparison));
    if tests.is_empty() {
        let answer = document.answer.split().0;
        tests.push(Test {
            class: "benchlab".into(),
            name: document.title.clone(),
            seconds: None,
            result: TestResult::Passed,
            output: answer,
        });
    }
    tests
}

/// Returns the test of a gate. An inconclusive gate that does not affect the exit code becomes a
/// skipped test.
fn gate(gate: &Gate) -> Test {
    let text = gate.sentence.clone();
    let name = match gate.name.as_str() {
        "" => gate.condition.clone(),
        name => format!("{name}: {}", gate.condition),
    };
    Test {
        class: Row::GATE.into(),
        name,
        seconds: None,
        result: match (gate.decision, gate.effect) {
            (Decision::Passed, _) => TestResult::Passed,
            (_, GateEffect::Fail | GateEffect::Inconclusive) => TestResult::Failed(text.clone()),
            (_, GateEffect::Warn | GateEffect::Pass) => TestResult::Skipped(text.clone()),
        },
        output: text,
    }
}

fn comparison(row: &Row) -> Test {
    let ratio = row.ratio.as_ref().map(quantity::sentence);
    let ratio = ratio.map_or(String::new(), |ratio| format!(", ratio {ratio}"));
    let is_time = row.metric.unit == Unit::Nanoseconds;
    Test {
        class: row.metric.id.to_string(),
        name: name(row),
        seconds: row
            .value
            .as_ref()
            .filter(|_| is_time)
            .map(|value| value.value / 1e9),
        result: TestResult::Passed,
        output: format!("{}{ratio}", row.verdict),
    }
}

impl Test {
    fn xml(&self) -> String {
        let time = self.seconds.filter(|seconds| seconds.is_finite());
        let time = time.map_or(String::new(), |seconds| format!(" time=\"{seconds:.9}\""));
        let head = format!(
            "    <testcase classname=\"benchlab.{}\" name=\"{}\"{time}>\n",
            escape_text(&self.class),
            escape_text(&self.name)
        );
        let body = match &self.result {
            TestResult::Passed => String::new(),
            TestResult::Failed(text) => {
                format!(
                    "      <failure message=\"{}\" type=\"gate\">{}</failure>\n",
                    escape_text(text),
                    escape_text(text)
                )
            }
            TestResult::Skipped(text) => {
                // An older schema (`junit-4.xsd`) allows no attribute.
                format!("      <skipped>{}</skipped>\n", escape_text(text))
            }
        };
        let output = match escape_text(&self.output) {
            output if output.is_empty() => String::new(),
            output => format!("      <system-out>{output}</system-out>\n"),
        };
        format!("{head}{body}{output}    </testcase>\n")
    }
}

/// Escapes text for an attribute or an element. Control characters are not allowed in XML 1.0.
fn escape_text(text: &str) -> String {
    escape(legal(text)).into_owned()
}

/// Removes characters that XML 1.0 does not allow (2.2 Characters).
fn legal(text: &str) -> String {
    clean(text)
        .chars()
        .filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}'))
        .collect()
}

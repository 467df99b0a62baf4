// SPDX-License-Identifier: Apache-2.0
//! The durations of tests in JUnit's XML. A file comes from one process.

use super::ImportFormat;
use crate::error::Problem;
use crate::shorten::remove_unneeded;
use crate::source::Source;
use crate::subject::{Collector, subject};
use crate::text::{amount, short};
use lab_document::say;
use lab_model::{Imported, Metric};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// The parameter that names the suites of a test.
const SUITE: &str = "suite";

/// The maximum nesting depth of elements.
const DEPTH: usize = 64;

/// The import format for JUnit's XML.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "junit",
    title: "JUnit XML, the durations of tests",
    advice: "Run the tests 10 times and import all files with --join.",
    is_format: |source| {
        let text = source.text.trim_start();
        text.starts_with('<') && (text.contains("<testsuite") || text.contains("<testcase"))
    },
    read,
    shorten: |imports| remove_unneeded(imports, SUITE),
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let text = &source.text;
    let mut reader = Reader::from_str(text);
    let mut all = Collector::new(subject("JUnit", "", ""));
    let (mut depth, mut skipped, mut failed) = (0_usize, 0, Vec::new());
    let mut current: Option<(String, f64, bool)> = None;
    // The names of the enclosing suites.
    let mut suites: Vec<String> = Vec::new();
    loop {
        let begin = reader.buffer_position();
        let problem = |message: String| Problem::on_line(line_of(text, begin), message);
        let event = reader.read_event().map_err(|e| {
            Problem::on_line(
                line_of(text, reader.error_position()),
                format!("not well-formed XML: {e}"),
            )
        })?;
        match event {
            Event::Start(tag) => {
                depth += 1;
                if depth > DEPTH {
                    return Err(problem(format!("elements are nested deeper than {DEPTH}")));
                }
                match tag.name().as_ref() {
                    "testcase" => current = test(&tag, &mut skipped).map_err(problem)?,
                    "testsuite" => {
                        let name = attribute(&tag, "name").map_err(problem)?;
                        suites.push(name.unwrap_or_default());
                    }
                    name => mark(name, &mut current, &mut failed, &mut skipped),
                }
            }
            Event::Empty(tag) => match tag.name().as_ref() {
                "testcase" => {
                    if let Some((name, time, _)) = test(&tag, &mut skipped).map_err(problem)? {
                        all.add((&name, &suite(&suites)), &Metric::WALL, 0, time);
                    }
                }
                name => mark(name, &mut current, &mut failed, &mut skipped),
            },
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if tag.name().as_ref() == "testsuite" {
                    suites.pop();
                }
                if tag.name().as_ref() == "testcase"
                    && let Some((name, time, true)) = current.take()
                {
                    all.add((&name, &suite(&suites)), &Metric::WALL, 0, time);
                }
            }
            Event::DocType(_) => {
                return Err(problem(
                    "document types are not supported; remove the <!DOCTYPE>".into(),
                ));
            }
            Event::Eof if depth > 0 => {
                return Err(problem(
                    "the file ends within an element: it is truncated".into(),
                ));
            }
            Event::Eof => break,
            _ => {}
        }
        if all.imported.series.len() > source.limits.benchmarks {
            return Err(problem(format!(
                "there are more than {} tests",
                source.limits.benchmarks
            )));
        }
    }
    let mut imported = all.finish();
    if !failed.is_empty() {
        let names: Vec<String> = failed
            .iter()
            .take(5)
            .map(|name: &String| short(name))
            .collect();
        let more = if failed.len() > 5 { " and others" } else { "" };
        imported.remarks.push(format!(
            "{} {} not imported: {}{more}.",
            say::count(failed.len(), "failed test"),
            if failed.len() == 1 { "was" } else { "were" },
            names.join(", ")
        ));
    }
    if skipped > 0 {
        imported.remarks.push(match skipped {
            1 => "1 test was skipped or has no time, and was not imported.".into(),
            n => format!("{n} tests were skipped or have no time, and were not imported."),
        });
    }
    Ok(vec![imported])
}

/// Returns the enclosing suites of a test as a parameter, such as `firefox/login`.
fn suite(suites: &[String]) -> Vec<(String, String)> {
    let named = suites.iter().filter(|name| !name.is_empty());
    let named: Vec<&str> = named.map(String::as_str).collect();
    if named.is_empty() {
        return Vec::new();
    }
    vec![(SUITE.to_owned(), named.join("/"))]
}

/// Returns the test's name and its time in ns.
fn test(tag: &BytesStart, skipped: &mut usize) -> Result<Option<(String, f64, bool)>, String> {
    let name = attribute(tag, "name")?.ok_or("<testcase> has no name")?;
    let name = match attribute(tag, "classname")?.filter(|class| !class.is_empty()) {
        Some(class) => format!("{class}.{name}"),
        None => name,
    };
    let Some(time) = attribute(tag, "time")? else {
        *skipped += 1;
        return Ok(None);
    };
    let seconds = amount(&time).ok_or_else(|| {
        let time = short(&time);
        match time.contains(',') {
            true => format!(
                "the comma in time=\"{time}\" may be a decimal comma or separate thousands; \
                 write times with a decimal point"
            ),
            false => format!("time=\"{time}\" is not a number of seconds"),
        }
    })?;
    Ok(Some((name, seconds * 1e9, true)))
}

/// Marks the current test as excluded if an element shows that it failed or was skipped.
fn mark(
    name: &str,
    current: &mut Option<(String, f64, bool)>,
    failed: &mut Vec<String>,
    skipped: &mut usize,
) {
    let Some((test, _, is_good @ true)) = current else {
        return;
    };
    match name {
        "failure" | "error" => {
            failed.push(test.clone());
            *is_good = false;
        }
        "skipped" => {
            *skipped += 1;
            *is_good = false;
        }
        _ => {}
    }
}

fn attribute(tag: &BytesStart, name: &str) -> Result<Option<String>, String> {
    let attribute = tag.try_get_attribute(name).map_err(|e| e.to_string())?;
    let value = attribute.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0));
    let value = value.transpose().map_err(|e| e.to_string())?;
    Ok(value.map(|value| value.into_owned()))
}

fn line_of(text: &str, byte: u64) -> usize {
    let end = usize::try_from(byte).unwrap_or(usize::MAX).min(text.len());
    text.as_bytes()[..end]
        .iter()
        .filter(|b| **b == b'\n')
        .count()
        + 1
}

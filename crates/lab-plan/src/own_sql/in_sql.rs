// SPDX-License-Identifier: Apache-2.0
//! Workloads in SQL. The statements before the first `-- case: NAME` create the schema and the
//! data. In a case, comments before the first statement define the parameters: `-- customer:
//! 1..1000`.

use super::reading::{FileCase, FileParameter, FileWorkload, PerTarget, Reading, Text};
use super::source::is_name;
use crate::PlanError;
use lab_model::TargetKind;
use std::ops::Range;

/// Reads a workload from SQL text.
pub fn read(file: &Reading) -> Result<FileWorkload, PlanError> {
    let mut workload = FileWorkload::default();
    let starts = case_lines(file.text);
    let first = starts
        .first()
        .map_or(file.text.len(), |(_, line)| line.start);
    let schema = file.schema(&verbatim(file, 0..first))?;
    for kind in TargetKind::ALL
        .into_iter()
        .filter(|kind| kind.is_database())
    {
        workload.schema.insert(kind, schema.clone());
    }
    let ends = starts.iter().skip(1).map(|(_, line)| line.start);
    let ends = ends.chain([file.text.len()]);
    let case = |((name, line), end): (&(Range<usize>, Range<usize>), usize)| FileCase {
        name: file.text[name.clone()].to_owned(),
        name_span: name.clone(),
        texts: PerTarget::All(verbatim(file, line.end..end)),
        parameters: parameters(file.text, line.end..end),
    };
    workload.cases = starts.iter().zip(ends).map(case).collect();
    Ok(workload)
}

fn verbatim(file: &Reading, span: Range<usize>) -> Text {
    Text {
        text: file.text[span.clone()].to_owned(),
        span,
        verbatim: true,
    }
}

/// Returns the position of each case's name, and the position of the line with the name.
fn case_lines(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    for (start, line) in lines(text) {
        if let Some((key, value, at)) = comment(line)
            && key == "case"
        {
            let name = start + at..start + at + value.len();
            found.push((name, start..start + line.len()));
        }
    }
    found
}

/// Returns the parameters that comments before the first statement define. Ignores comments whose
/// key is not the name of a parameter in a statement.
fn parameters(text: &str, span: Range<usize>) -> Vec<FileParameter> {
    let body = &text[span.clone()];
    let mut found = Vec::new();
    for (start, line) in lines(body) {
        if line.trim().is_empty() {
            continue;
        }
        if !line.trim_start().starts_with("--") {
            break;
        }
        if let Some((key, value, at)) = comment(line)
            && body.contains(&format!(":{key}"))
        {
            let start = span.start + start;
            found.push(FileParameter {
                name: key.to_owned(),
                source: value.to_owned(),
                span: start + at..start + at + value.len(),
            });
        }
    }
    found
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line)
    })
}

/// Returns the key and the value of `-- KEY: VALUE`, and the position of the value.
fn comment(line: &str) -> Option<(&str, &str, usize)> {
    let (key, value) = line.trim_start().strip_prefix("--")?.split_once(':')?;
    let (key, trimmed) = (key.trim(), value.trim());
    let at = line.len() - value.len() + (value.len() - value.trim_start().len());
    is_name(key).then_some((key, trimmed, at))
}

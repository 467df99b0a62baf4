// SPDX-License-Identifier: Apache-2.0
//! The text output of one or more tests of wrk or wrk2. The result of each test is one sample of
//! one process.

use super::ImportFormat;
use crate::error::Problem;
use crate::metrics::{duration, percentile, rate};
use crate::read::add;
use crate::source::Source;
use crate::subject::{fact, single, subject};
use crate::text::{amount, amount_on, short};
use lab_model::{Direction, Imported, Metric, Unit};

/// The import format for the text of wrk.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "wrk",
    title: "wrk or wrk2, with --latency for percentiles",
    advice: "Run wrk 10 times, write each output to a file, and import all files with --join.",
    is_format: |source| {
        let line = source.first_line();
        line.starts_with("Running ") && line.contains(" test @ ")
    },
    read,
    shorten: remove_only_url,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let lines: Vec<&str> = source.text.lines().collect();
    let starts = lines.iter().enumerate();
    let starts = starts.filter(|(_, line)| line.trim_start().starts_with("Running "));
    let starts: Vec<usize> = starts.map(|(i, _)| i).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let tests = starts.iter().zip(ends);
    let tests = tests.map(|(start, end)| test(&lines[*start..end], start + 1));
    let mut all: Vec<Imported> = Vec::new();
    for one in tests {
        add(&mut all, one?);
    }
    Ok(all)
}

/// Removes the URL from the subject if all tests requested the same URL. The facts contain it.
fn remove_only_url(imports: &mut [Imported]) {
    if let [only] = imports {
        "wrk".clone_into(&mut only.subject);
    }
}

/// Reads the output of one test, which starts on line `first` of the file. The subject is the URL.
fn test(lines: &[&str], first: usize) -> Result<Imported, Problem> {
    let (_, url) = lines[0]
        .split_once(" test @ ")
        .ok_or_else(|| Problem::on_line(first, "expected `Running … test @ URL`"))?;
    let mut imported = subject("wrk", "", url.trim());
    fact(&mut imported, "URL", url.trim());
    let mut errors = 0.0;
    let mut has_rate = false;
    let mut requests = None;
    let mut is_corrected = true;
    for (i, line) in lines.iter().enumerate() {
        let number = first + i;
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let time = |text: &str| {
            duration(text).ok_or_else(|| {
                Problem::on_line(number, format!("expected a time, found `{}`", short(text)))
            })
        };
        match words.as_slice() {
            ["Latency", mean, _, max, ..] if mean.starts_with(|c: char| c.is_ascii_digit()) => {
                single(&mut imported, Metric::MEAN_WALL, Some(time(mean)?));
                single(&mut imported, Metric::MAX, Some(time(max)?));
            }
            // With -L and -U, wrk2 also lists the times without the delays before requests.
            ["Latency", "Distribution", ..] => is_corrected = !line.contains("Uncorrected"),
            [percent, value] if percent.ends_with('%') && is_corrected => {
                let percent = amount(&percent[..percent.len() - 1]);
                let percent = percent.filter(|p| *p > 0.0 && *p < 100.0);
                // wrk2 also lists 100 %, which is the maximum.
                if let Some(percent) = percent {
                    single(&mut imported, percentile(percent), Some(time(value)?));
                }
            }
            ["Requests/sec:", value] => {
                has_rate = true;
                let value = amount_on(number, value)?;
                single(&mut imported, rate("requests"), Some(value));
            }
            [count, "requests", "in", ..] => {
                requests = Some(amount_on(number, count)?);
                single(&mut imported, Metric::REQUESTS, requests);
            }
            ["Socket", "errors:", others @ ..] => {
                let counts = others
                    .iter()
                    .filter_map(|word| amount(word.trim_end_matches(',')));
                errors += counts.sum::<f64>();
            }
            ["Non-2xx", "or", "3xx", "responses:", count] => errors += amount_on(number, count)?,
            _ => {}
        }
    }
    if !has_rate {
        return Err(Problem::on_line(
            first - 1 + lines.len(),
            "the output ends before `Requests/sec`: it is truncated",
        ));
    }
    if requests == Some(0.0) {
        // wrk prints times of 0 for a test without responses.
        imported
            .series
            .retain(|series| series.metric.unit != Unit::Nanoseconds);
        imported
            .remarks
            .push(format!("{}: no request had a response.", url.trim()));
    }
    single(
        &mut imported,
        Metric {
            better: Direction::Less,
            ..Metric::ERRORS
        },
        Some(errors),
    );
    Ok(imported)
}

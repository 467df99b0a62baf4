// SPDX-License-Identifier: Apache-2.0
//! The text output of wrk and wrk2. The result of each test is one sample of one process.

use super::ImportFormat;
use crate::error::Problem;
use crate::metrics::{duration, percentile, rate};
use crate::source::Source;
use crate::subject::{fact, single, subject};
use crate::text::{amount, amount_on, short};
use lab_model::{Imported, Metric};

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
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let (_, url) = source
        .first_line()
        .split_once(" test @ ")
        .ok_or_else(|| Problem::on_line(1, "expected `Running … test @ URL`"))?;
    let mut imported = subject("wrk", "", "");
    fact(&mut imported, "URL", url.trim());
    let mut errors = 0.0;
    let mut has_rate = false;
    for (i, line) in source.text.lines().enumerate() {
        let number = i + 1;
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
            [percent, value] if percent.ends_with('%') => {
                let percent = amount(&percent[..percent.len() - 1]);
                let percent = percent.filter(|p| *p > 0.0 && *p < 100.0);
                // wrk2 also lists 100 %, which is the maximum.
                if let Some(percent) = percent {
                    single(&mut imported, percentile(percent), Some(time(value)?));
                }
            }
            ["Requests/sec:", value] => {
                has_rate = true;
                single(
                    &mut imported,
                    rate("requests"),
                    Some(amount_on(number, value)?),
                );
            }
            [count, "requests", "in", ..] => {
                single(
                    &mut imported,
                    Metric::REQUESTS,
                    Some(amount_on(number, count)?),
                );
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
            source.text.lines().count().max(1),
            "the output ends before `Requests/sec`: it is truncated",
        ));
    }
    single(
        &mut imported,
        Metric {
            better: lab_model::Direction::Less,
            ..Metric::ERRORS
        },
        Some(errors),
    );
    Ok(vec![imported])
}

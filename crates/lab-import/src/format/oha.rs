// SPDX-License-Identifier: Apache-2.0
//! oha's text and its `--output-format json`. A test runs in one process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::metrics::{duration, percentile, rate};
use crate::responses::Responses;
use crate::source::Source;
use crate::subject::{single, subject};
use crate::text::{amount_on, short};
use lab_model::{Direction, Imported, Metric, Unit};

/// The import format for oha's text or JSON.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "oha",
    title: "oha, as text or with --output-format json",
    advice: "Run oha 10 times and import all files with --join.",
    is_format: |source| {
        source.has_keys(&["summary", "latencyPercentiles"])
            || source.first_line() == "Summary:" && source.text.contains("Requests/sec:")
    },
    read: |source| match &source.json {
        Ok(_) => json(source),
        Err(problem) if source.text.trim_start().starts_with('{') => Err(problem.clone()),
        Err(_) => text(source),
    },
    shorten: keep_names,
};

fn json(source: &Source) -> Result<Vec<Imported>, Problem> {
    let root = source.root()?;
    let mut imported = subject("oha", "", "");
    let summary = root.get("summary")?;
    let seconds = |key| Ok::<_, Problem>(summary.find_amount(key)?.map(|s| s * 1e9));
    single(
        &mut imported,
        rate("requests"),
        Some(summary.get("requestsPerSec")?.amount()?),
    );
    single(&mut imported, Metric::MEAN_WALL, seconds("average")?);
    for (key, value) in root.get("latencyPercentiles")?.members()? {
        let percent = key.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
        // The value is null if the test had no responses.
        if let Some(percent) = percent.filter(|_| !value.value().is_null()) {
            single(
                &mut imported,
                percentile(percent),
                Some(value.amount()? * 1e9),
            );
        }
    }
    single(&mut imported, Metric::MAX, seconds("slowest")?);
    let fraction = summary.find_amount("successRate")?;
    single(&mut imported, success(), fraction);
    let mut responses = Responses::default();
    if let Some(statuses) = root.find("statusCodeDistribution") {
        for (status, count) in statuses.members()? {
            responses.add(status, count.amount()?);
        }
    }
    if let Some(errors) = root.find("errorDistribution") {
        for (error, count) in errors.members()? {
            responses.fail(error, count.amount()?);
        }
    }
    imported.remarks.extend(responses.remark());
    Ok(vec![imported])
}

fn success() -> Metric {
    crate::metrics::named("success", Unit::Share, Direction::More)
}

fn text(source: &Source) -> Result<Vec<Imported>, Problem> {
    let mut imported = subject("oha", "", "");
    if source.first_line() != "Summary:" {
        return Err(Problem::on_line(
            1,
            "expected `Summary:`, with which oha's output starts",
        ));
    }
    let mut has_rate = false;
    let mut responses = Responses::default();
    let mut is_of_all = true;
    for (i, line) in source.text.lines().enumerate() {
        let number = i + 1;
        let line = line.trim();
        let time = |text: &str| {
            duration(text.trim()).ok_or_else(|| {
                Problem::on_line(number, format!("expected a time, found `{}`", short(text)))
            })
        };
        // --stats-success-breakdown adds the times of each kind of response, such as `(2xx only):`.
        if line.starts_with("Response time distribution") {
            is_of_all = line == "Response time distribution:";
        }
        if let Some((percent, value)) = line.split_once("% in ") {
            if !is_of_all {
                continue;
            }
            let percent = amount_on(number, percent)?;
            single(&mut imported, percentile(percent), Some(time(value)?));
            continue;
        }
        // A line of the distribution of statuses, `[200] 10 responses`, or of errors, `[10] refused`
        if let Some((label, rest)) = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("] "))
        {
            match rest.strip_suffix(" responses") {
                Some(count) => responses.add(label, amount_on(number, count)?),
                None => responses.fail(rest, amount_on(number, label)?),
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        match key {
            "Success rate" => {
                let percent = amount_on(number, value.trim().trim_end_matches('%'))?;
                single(&mut imported, success(), Some(percent / 100.0));
            }
            "Slowest" => single(&mut imported, Metric::MAX, Some(time(value)?)),
            "Average" => single(&mut imported, Metric::MEAN_WALL, Some(time(value)?)),
            "Requests/sec" => {
                has_rate = true;
                single(
                    &mut imported,
                    rate("requests"),
                    Some(amount_on(number, value)?),
                );
            }
            _ => {}
        }
    }
    if !has_rate {
        let last = source.text.lines().count().max(1);
        return Err(Problem::on_line(
            last,
            "the output ends before `Requests/sec`: it is truncated",
        ));
    }
    imported.remarks.extend(responses.remark());
    Ok(vec![imported])
}

// SPDX-License-Identifier: Apache-2.0
//! The sheets of a report on two runs.

use super::sheet::{Sheet, Value};
use super::sheets::{bounds, leveled};
use crate::between::BetweenReport;
use crate::content::between::{answer, method, program_word, run_table, title};
use crate::content::load::metric_name;
use crate::csv::load_between::unit;
use crate::view::verdict_word;

/// Names and sheets, in order.
pub fn sheets(report: &BetweenReport) -> Vec<(&'static str, Sheet)> {
    if !report.between.metrics.is_empty() {
        return vec![
            ("Summary", summary(report)),
            ("Changes", metrics(report)),
            ("Differences", differences(report)),
        ];
    }
    vec![
        ("Summary", summary(report)),
        ("Changes", changes(report)),
        ("Times", times(report)),
        ("Differences", differences(report)),
    ]
}

fn summary(report: &BetweenReport) -> Sheet {
    let mut sheet = Sheet {
        prose: true,
        ..Sheet::default()
    };
    let mut say = |name: &str, value: Value| sheet.rows.push(vec![name.into(), value]);
    let between = report.between;
    say("Compared", title(report).into());
    say("Answer", answer(report).into());
    for row in run_table(report).rows {
        let texts: Vec<&str> = row[1..].iter().map(|cell| cell.text.as_str()).collect();
        say(&format!("The {} run", row[0].text), texts.join(", ").into());
    }
    say("Level asked for", between.level.into());
    say("Margin", between.margin.into());
    say("Baseline", between.baseline.as_deref().unwrap_or("").into());
    for reservation in &between.reservations {
        say(
            &format!("Reservation: {}", reservation.kind),
            reservation.text.as_str().into(),
        );
    }
    for what in &between.apart {
        say("Not compared", what.as_str().into());
    }
    say("Method", method(report).into());
    sheet
}

fn changes(report: &BetweenReport) -> Sheet {
    let headings = [
        "Subject",
        "Point",
        "Verdict",
        "Program",
        "Ratio, second / first",
        "low",
        "high",
        "level",
        "Ratio in the first",
        "low",
        "high",
        "Ratio in the second",
        "low",
        "high",
        "Margin",
    ];
    let mut sheet = Sheet::new(&headings, 2);
    for change in &report.between.changes {
        let mut row: Vec<Value> = vec![
            change.subject.as_str().into(),
            change.point.as_str().into(),
            verdict_word(&change.verdict).into(),
            program_word(change.program).into(),
        ];
        row.extend(leveled(&change.change));
        row.extend(change.ratios.iter().flat_map(bounds));
        row.push(change.margin.into());
        sheet.rows.push(row);
    }
    sheet
}

/// Of load runs.
fn metrics(report: &BetweenReport) -> Sheet {
    let headings = [
        "Server",
        "Point",
        "Metric",
        "Verdict",
        "Second / first",
        "low",
        "high",
        "level",
        "In the first",
        "low",
        "high",
        "In the second",
        "low",
        "high",
        "Unit",
    ];
    let mut sheet = Sheet::new(&headings, 3);
    for change in &report.between.metrics {
        let mut row: Vec<Value> = vec![
            change.subject.as_str().into(),
            change.point.as_str().into(),
            metric_name(change.metric).into(),
            verdict_word(&change.verdict).into(),
        ];
        row.extend(leveled(&change.change));
        row.extend(change.values.iter().flat_map(bounds));
        row.push(unit(change.metric).into());
        sheet.rows.push(row);
    }
    sheet
}

fn times(report: &BetweenReport) -> Sheet {
    let headings = [
        "Subject",
        "Point",
        "Program",
        "Time, second / first",
        "low",
        "high",
        "level",
        "Time in the first (ns/op)",
        "low (ns)",
        "high (ns)",
        "Time in the second (ns/op)",
        "low (ns)",
        "high (ns)",
    ];
    let mut sheet = Sheet::new(&headings, 2);
    for level in &report.between.levels {
        let mut row: Vec<Value> = vec![
            level.subject.as_str().into(),
            level.point.as_str().into(),
            program_word(level.program).into(),
        ];
        row.extend(leveled(&level.change));
        row.extend(level.times_ns.iter().flat_map(bounds));
        sheet.rows.push(row);
    }
    sheet
}

fn differences(report: &BetweenReport) -> Sheet {
    let mut sheet = Sheet::new(&["What", "First run", "Second run"], 1);
    for difference in &report.between.differences {
        let value = |value: &Option<String>| value.as_deref().map_or(Value::Blank, Value::from);
        sheet.rows.push(vec![
            difference.what.as_str().into(),
            value(&difference.first),
            value(&difference.second),
        ]);
    }
    sheet
}

// SPDX-License-Identifier: Apache-2.0
//! The sheets that only whole commands have: what they are, and what their processes used.

use super::sheet::{Sheet, Value};
use super::sheets::{bounds, pairs, place};
use crate::content;
use crate::view::View;

pub fn commands(view: &View) -> Sheet {
    let table = content::command_table(view);
    let headings: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
    let mut sheet = Sheet::new(&headings, 1);
    sheet.rows.extend(table.rows.iter().map(|row| {
        row.iter()
            .map(|cell| Value::from(cell.text.as_str()))
            .collect()
    }));
    sheet
}

pub fn uses(view: &View) -> Sheet {
    let place_of = ["Subject", "Case", "Factors", "Sweep", "x"];
    let used = [
        "User time (ns)",
        "System time (ns)",
        "Peak memory (bytes)",
        "Minor faults",
        "Major faults",
        "Voluntary switches",
        "Involuntary switches",
    ];
    let used = used.into_iter().flat_map(|title| [title, "low", "high"]);
    let headings: Vec<&str> = place_of.into_iter().chain(used).collect();
    let mut sheet = Sheet::new(&[&headings[..], &["Statuses"]].concat(), 2);
    for (point, subject) in pairs(view) {
        let Some(uses) = view.uses(subject, point) else {
            continue;
        };
        let intervals = [
            &uses.user_ns,
            &uses.sys_ns,
            &uses.peak_rss_bytes,
            &uses.minor_faults,
            &uses.major_faults,
            &uses.voluntary_switches,
            &uses.involuntary_switches,
        ];
        let statuses: Vec<String> = uses.statuses.iter().map(i32::to_string).collect();
        let mut row = place(view, subject, point);
        row.extend(intervals.into_iter().flat_map(bounds));
        row.push(statuses.join(" ").into());
        sheet.rows.push(row);
    }
    sheet
}

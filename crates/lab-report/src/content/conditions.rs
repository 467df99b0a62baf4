// SPDX-License-Identifier: Apache-2.0
//! What the subjects are, and the settings that they read back.

use crate::table::{Cell, Table, Tone};
use crate::view::View;
use lab_model::{Run, SubjectId};
use std::collections::BTreeSet;

/// Settings in which subjects differ, and in words those in which all agree.
pub fn conditions(view: &View) -> (Table, Vec<String>) {
    let settings = &view.run.settings;
    let measured: Vec<SubjectId> = (0..view.plan.subjects.len())
        .filter(|&s| settings.iter().any(|setting| setting.subject == s))
        .collect();
    // Beside other targets there is a table of the versions that subjects told in their hello.
    let told = |s: &&lab_model::Setting| view.named.is_none() || s.point.is_some();
    let keys = settings.iter().filter(told).map(|s| s.key.as_str());
    let keys: BTreeSet<&str> = keys.collect();
    let names = measured.iter().map(|&s| view.name(s).to_string());
    let columns = std::iter::once("setting".to_string()).chain(names);
    let mut table = Table::new("Conditions that differ", columns);
    table.columns.iter_mut().for_each(|c| c.numeric = false);
    let mut same = Vec::new();
    for key in keys {
        let values: Vec<String> = measured.iter().map(|&s| values(view.run, s, key)).collect();
        if values.iter().any(|v| *v != values[0]) {
            let tone = if view.plan.proof.equal.iter().any(|k| k == key) {
                Tone::Alarm
            } else {
                Tone::Plain
            };
            let cells = values.into_iter().map(Cell::from);
            table.rows.push(
                std::iter::once(Cell::from(key).tone(tone))
                    .chain(cells)
                    .collect(),
            );
        } else {
            same.push(format!("{key} = {}", values[0]));
        }
    }
    (table, same)
}

/// What each subject is; whole commands have a table of their own.
pub fn subject_table(view: &View) -> Table {
    let mut table = Table::new("The subjects", ["subject".to_string()]);
    if view.commands().is_some() {
        return table;
    }
    for title in ["language", "driver", "statements", "role"] {
        table = table.text_column(title);
    }
    for (id, subject) in view.plan.subjects.iter().enumerate() {
        let role = [
            (id == view.plan.baseline).then_some("baseline"),
            (subject.limit && subject.control_of.is_none()).then_some("limit"),
            subject.control_of.map(|_| "control"),
        ];
        let role: Vec<_> = role.into_iter().flatten().collect();
        table.rows.push(vec![
            subject.name.as_str().into(),
            subject.language.as_str().into(),
            subject.driver.as_str().into(),
            subject.statements.as_str().into(),
            role.join(", ").into(),
        ]);
    }
    table
}

/// The distinct values that a subject read back for a setting, over all points.
fn values(run: &Run, subject: SubjectId, key: &str) -> String {
    let mine = run
        .settings
        .iter()
        .filter(|s| s.subject == subject && s.key == key);
    let values: BTreeSet<&str> = mine.map(|s| s.value.as_str()).collect();
    if values.is_empty() {
        "–".into()
    } else {
        values.into_iter().collect::<Vec<_>>().join(" | ")
    }
}

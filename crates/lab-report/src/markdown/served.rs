// SPDX-License-Identifier: Apache-2.0
//! A run of servers that the lab started as Markdown.

use super::{code, escape, heading, host, item, paragraph, table, tables, warnings};
use crate::content::{self, Room, served};
use crate::served::ServedView;

/// The report as Markdown.
pub fn render(view: &ServedView) -> String {
    let mut text = String::new();
    let common = view.common();
    heading(&mut text, 1, &common.plan.title);
    if !common.plan.question.is_empty() {
        paragraph(&mut text, &common.plan.question);
    }
    heading(&mut text, 2, "Answer");
    for (name, said) in served::answer(view) {
        match name.is_empty() {
            true => paragraph(&mut text, &said),
            false => text.push_str(&format!("**{name}.** {}\n\n", escape(&said))),
        }
    }
    heading(&mut text, 2, "What was loaded");
    for (name, value) in served::asked(view) {
        item(&mut text, &format!("{name}: {value}"));
    }
    text.push('\n');
    trouble(&mut text, view);
    let room = Room::Wide;
    tables(
        &mut text,
        "The servers",
        &[served::server_table(view, room)],
    );
    let costs = [
        served::ratio_table(view, true, room),
        served::ratio_table(view, false, room),
        served::cost_table(view, room),
        served::reconnect_table(view, room),
    ];
    tables(&mut text, "What a request costs", &costs);
    let most = [served::peak_table(view, room), served::error_table(view)];
    tables(&mut text, "Requests per second", &most);
    tables(
        &mut text,
        "What users feel",
        &[served::p99_table(view, room)],
    );
    heading(&mut text, 2, "Case by case");
    let groups = view.closed_groups();
    for case in view.cases() {
        heading(&mut text, 3, view.case_name(Some(case)));
        paragraph(&mut text, &common.plan.cases[case].work);
        let rates = served::rate_tables(view, case, room);
        rates.iter().for_each(|t| table(&mut text, t));
        let latencies = served::latency_tables(view, case, room);
        latencies.iter().for_each(|t| table(&mut text, t));
        for group in groups.iter().filter(|group| group.case == case) {
            table(&mut text, &content::law_table(common, group, room));
        }
    }
    warnings(&mut text, std::slice::from_ref(common));
    tables(&mut text, "Conditions", &[served::setting_table(view)]);
    let (_, same) = content::conditions(common);
    if !same.is_empty() {
        paragraph(
            &mut text,
            &format!("The same for all: {}.", same.join(", ")),
        );
    }
    host(&mut text, common, &served::method(view));
    text
}

fn trouble(text: &mut String, view: &ServedView) {
    let common = view.common();
    let failures = &common.run.failures;
    if !failures.is_empty() || !common.refusals().is_empty() {
        heading(text, 2, "What failed, and what was not compared");
    }
    for failure in failures {
        let (name, at) = (common.name(failure.subject), common.at(failure.point));
        let (first, said) = served::transcript(failure);
        item(
            text,
            &format!("{name} failed{at}: {}: {first}", failure.kind),
        );
        let said: Vec<String> = said.into_iter().map(String::from).collect();
        code(text, &said);
    }
    for refusal in served::refusals(view) {
        item(text, &refusal);
    }
}

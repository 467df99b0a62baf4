// SPDX-License-Identifier: Apache-2.0
//! A load run as Markdown.

use super::{heading, host, item, paragraph, table, tables, trouble, warnings};
use crate::content::{self, Room, load};
use crate::load::LoadView;

/// The report as Markdown.
pub fn render(view: &LoadView) -> String {
    let mut text = String::new();
    let common = &view.view;
    heading(&mut text, 1, &common.plan.title);
    if !common.plan.question.is_empty() {
        paragraph(&mut text, &common.plan.question);
    }
    heading(&mut text, 2, "What was loaded");
    for (name, value) in load::asked(view) {
        item(&mut text, &format!("{name}: {value}"));
    }
    text.push('\n');
    table(&mut text, &load::request_table(view));
    heading(&mut text, 2, "Answer");
    paragraph(&mut text, &load::said(view));
    for alarm in load::alarms(view) {
        item(&mut text, &format!("Beware: {alarm}"));
    }
    trouble(&mut text, common);
    heading(&mut text, 2, "The figures");
    let figures = load::time_table(view, Room::Wide);
    figures.iter().for_each(|t| table(&mut text, t));
    table(&mut text, &load::rate_table(view, Room::Wide));
    table(&mut text, &load::error_table(view));
    for group in common.scaling_groups() {
        table(&mut text, &content::law_table(common, &group, Room::Wide));
    }
    tables(
        &mut text,
        "Compared",
        &[load::comparison_table(view, Room::Wide)],
    );
    tables(&mut text, "Cost", &[load::cost_table(view, Room::Wide)]);
    warnings(&mut text, std::slice::from_ref(common));
    tables(
        &mut text,
        "The server",
        &content::services(std::slice::from_ref(common)),
    );
    host(&mut text, common, &load::method(view));
    text
}

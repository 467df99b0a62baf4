// SPDX-License-Identifier: Apache-2.0
//! A run on several targets for a terminal: each target with its subjects side by side, then what holds
//! over all of them.

use super::page::Page;
use super::{conditions, failures, refusals};
use crate::Report;
use crate::answer::conclusions;
use crate::content::{self, Room};
use crate::table::Tone;
use crate::view::View;

/// Everything but the answer.
pub fn measured(page: &mut Page, report: &Report, views: &[View]) {
    if let Some(plan) = &report.run.plan {
        page.heading(&plan.title);
        page.text(&plan.question, "");
    }
    views.iter().for_each(|view| target(page, view));
    page.tables("Resources", &content::resources(views, Room::Narrow));
    page.tables("Versions", &content::versions(views, Room::Narrow));
    page.tables("Servers", &content::services(views));
    for view in views {
        conditions(page, view);
        refusals(page, view);
        failures(page, view, &view.run.failures);
    }
    let warnings = content::warnings(views);
    let warnings = warnings.iter();
    let warnings = warnings.map(|w| format!("{}: {}", w.1.kind, content::warning_text(w)));
    page.items("Warnings", warnings, Tone::Open);
}

/// A paragraph for each target.
pub fn answer(page: &mut Page, views: &[View]) {
    for (i, (place, text)) in conclusions(views).iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        match place.is_empty() {
            true => page.text(text, ""),
            false => page.text(&format!("{place}: {text}"), ""),
        }
    }
}

/// Where the time goes on a server, and what many connections bring; nothing on a library.
pub fn served(page: &mut Page, view: &View) {
    let served = view.analysis.server_costs.iter();
    if served.clone().any(|cost| cost.server_ns.is_some()) {
        let splits = content::split_tables(view, Room::Narrow);
        page.tables(&head(view, "Where the time goes"), &splits);
    }
    for group in view.scaling_groups() {
        let tables = content::scaling_tables(view, &group, Room::Narrow);
        page.tables(&head(view, "Many at once"), &tables);
    }
}

fn target(page: &mut Page, view: &View) {
    let tables = content::side_by_side(view, Room::Narrow);
    page.tables(&head(view, "Side by side"), &tables);
    served(page, view);
    let fits = content::fit_tables(view, Room::Narrow);
    page.tables(&head(view, "Fixed and marginal cost"), &fits);
    let factors = content::factor_tables(view, Room::Narrow);
    page.tables(&head(view, "What a factor costs"), &factors);
    page.tables(&head(view, "Verdicts"), &[content::overall_table(view)]);
}

/// After the target's name, where there are several.
pub fn head(view: &View, what: &str) -> String {
    match view.place() {
        "" => what.into(),
        place => format!("{place}: {}", what.to_lowercase()),
    }
}

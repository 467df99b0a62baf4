// SPDX-License-Identifier: Apache-2.0
//! The page of a load run.

use super::{Head, figure, footer, host, method, page, table, trouble, warnings};
use crate::Error;
use crate::content::{self, Room, load};
use crate::load::LoadView;
use crate::plot::{self, Plot};
use maud::{Markup, html};

/// The page.
pub fn render(view: &LoadView) -> Result<String, Error> {
    let common = &view.view;
    let started = content::started(common.run);
    let question = Some(common.plan.question.as_str()).filter(|q| !q.is_empty());
    let title = &common.plan.title;
    let head = Head {
        title,
        kicker: match question {
            Some(_) => format!("{title} · {started}"),
            None => started,
        },
        headline: question.unwrap_or(title),
        lab_version: &common.run.lab_version,
        answer: &[("", load::said(view))],
    };
    let plots = plot::load::plots(view)?;
    let footer = footer(common.report, Some(common));
    Ok(page(head, navigation(view), main(view, &plots), footer).into_string())
}

fn navigation(view: &LoadView) -> Markup {
    let common = &view.view;
    let failed = !common.run.failures.is_empty() || !common.refusals().is_empty();
    html! {
        nav aria-label="Sections" {
            ul {
                li { a href="#loaded" { "What was loaded" } }
                @if failed { li { a href="#failed" { "What failed" } } }
                li { a href="#times" { "Response time" } }
                @if !view.analysis.comparisons.is_empty() { li { a href="#compared" { "Compared" } } }
                li { a href="#rates" { "Requests" } }
                li { a href="#cost" { "Cost" } }
                @if !common.warnings().is_empty() { li { a href="#warnings" { "Warnings" } } }
                li { a href="#method" { "How it was measured" } }
                li { a href="#host" { "The host" } }
            }
        }
    }
}

fn main(view: &LoadView, plots: &[Plot]) -> Markup {
    let common = &view.view;
    let drawn = |names: &'static [&str]| {
        html! {
            @for plot in plots.iter().filter(|p| names.iter().any(|n| p.name.starts_with(n))) { (figure(plot, true)) }
        }
    };
    html! {
        @for alarm in load::alarms(view) { div class="box failed" role="note" { p { (alarm) } } }
        h2 id="loaded" { "What was loaded" }
        dl { @for (name, value) in load::asked(view) { dt { (name) } dd { (value) } } }
        (table(&load::request_table(view)))
        (trouble(common))
        h2 id="times" { "Response time" }
        @for shown in load::time_table(view, Room::Wide) { (table(&shown)) }
        (drawn(&["percentiles", "heat", "latency"]))
        @let comparisons = load::comparison_table(view, Room::Wide);
        @if !comparisons.rows.is_empty() {
            h2 id="compared" { "Compared" }
            (drawn(&["ratios"]))
            (table(&comparisons))
        }
        h2 id="rates" { "Requests" }
        (table(&load::rate_table(view, Room::Wide)))
        (table(&load::error_table(view)))
        (drawn(&["rate", "throughput"]))
        @for group in common.scaling_groups() { (table(&content::law_table(common, &group, Room::Wide))) }
        h2 id="cost" { "Cost" }
        (table(&load::cost_table(view, Room::Wide)))
        @for server in content::services(std::slice::from_ref(common)) { (table(&server)) }
        (warnings(std::slice::from_ref(common)))
        (method(&load::method(view)))
        (host(common))
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The page of a run of servers that the lab started.

use super::{Head, figure, footer, host, method, page, table, warnings};
use crate::Error;
use crate::content::{self, Room, served};
use crate::plot::{self, Plot};
use crate::served::ServedView;
use crate::table::Table;
use maud::{Markup, html};

/// The page.
pub fn render(view: &ServedView) -> Result<String, Error> {
    let common = view.common();
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
        answer: &served::answer(view),
    };
    let plots = plot::served::plots(view)?;
    let footer = footer(common.report, Some(common));
    Ok(page(head, navigation(view), main(view, &plots), footer).into_string())
}

fn navigation(view: &ServedView) -> Markup {
    let common = view.common();
    let failed = !common.run.failures.is_empty() || !common.refusals().is_empty();
    html! {
        nav aria-label="Sections" {
            ul {
                @if failed { li { a href="#failed" { "What failed" } } }
                li { a href="#loaded" { "What was done" } }
                li { a href="#servers" { "The servers" } }
                li { a href="#costs" { "What a request costs" } }
                li { a href="#rates" { "Requests per second" } }
                li { a href="#times" { "What users feel" } }
                li { a href="#cases" { "Case by case" } }
                @if !common.warnings().is_empty() { li { a href="#warnings" { "Warnings" } } }
                li { a href="#conditions" { "Conditions" } }
                li { a href="#method" { "How it was measured" } }
                li { a href="#host" { "The host" } }
            }
        }
    }
}

fn main(view: &ServedView, plots: &[Plot]) -> Markup {
    let common = view.common();
    let room = Room::Wide;
    let drawn = |name: &str| {
        html! { @for plot in plots.iter().filter(|p| p.name == name) { (figure(plot, true)) } }
    };
    html! {
        (trouble(view))
        h2 id="loaded" { "What was done" }
        dl { @for (name, value) in served::asked(view) { dt { (name) } dd { (value) } } }
        h2 id="servers" { "The servers" }
        (table(&served::server_table(view, room)))
        (drawn("memory"))
        h2 id="costs" { "What a request costs" }
        (drawn("costs"))
        (table(&served::ratio_table(view, true, room)))
        (table(&served::ratio_table(view, false, room)))
        (table(&served::cost_table(view, room)))
        (table(&served::reconnect_table(view, room)))
        h2 id="rates" { "Requests per second" }
        (table(&served::peak_table(view, room)))
        (table(&served::error_table(view)))
        h2 id="times" { "What users feel" }
        (table(&served::p99_table(view, room)))
        h2 id="cases" { "Case by case" }
        @for case in view.cases() { (self::case(view, case, plots)) }
        (warnings(std::slice::from_ref(common)))
        h2 id="conditions" { "Conditions" }
        (table(&served::setting_table(view)))
        @let (_, same) = content::conditions(common);
        @if !same.is_empty() { p { "The same for all: " (same.join(", ")) "." } }
        (method(&served::method(view)))
        (host(common))
    }
}

fn case(view: &ServedView, case: usize, plots: &[Plot]) -> Markup {
    let common = view.common();
    let groups = view.closed_groups().into_iter();
    let laws: Vec<Table> = groups
        .filter(|group| group.case == case)
        .map(|group| content::law_table(common, &group, Room::Wide))
        .collect();
    html! {
        section {
            h3 { (view.case_name(Some(case))) }
            p class="muted" { (common.plan.cases[case].work) }
            @for plot in plots.iter().filter(|p| p.is_of_case(view, case)) { (figure(plot, true)) }
            details {
                summary { "Requests per second in figures" }
                @for shown in served::rate_tables(view, case, Room::Wide) { (table(&shown)) }
            }
            @let latencies = served::latency_tables(view, case, Room::Wide);
            @if !latencies.is_empty() {
                details {
                    summary { "Response times in figures" }
                    @for shown in &latencies { (table(shown)) }
                }
            }
            @if !laws.is_empty() {
                details {
                    summary { "Scalability" }
                    @for law in &laws { (table(law)) }
                }
            }
        }
    }
}

fn trouble(view: &ServedView) -> Markup {
    let common = view.common();
    if common.run.failures.is_empty() && common.refusals().is_empty() {
        return html! {};
    }
    html! {
        h2 id="failed" { "What failed, and what was not compared" }
        @for failure in &common.run.failures {
            @let (first, said) = served::transcript(failure);
            div class="box failed" {
                p {
                    strong class="what" { (common.name(failure.subject)) } " failed" (common.at(failure.point))
                    @if let Some(block) = failure.block { ", block " (block) }
                    ": " (failure.kind) "."
                }
                p { (first) }
                @if !said.is_empty() {
                    pre tabindex="0" aria-label={ "What was said to " (common.name(failure.subject)) } { (said.join("\n")) }
                }
            }
        }
        @for refusal in served::refusals(view) { div class="box" { p { (refusal) } } }
    }
}

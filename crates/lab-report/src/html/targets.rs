// SPDX-License-Identifier: Apache-2.0
//! The page of a run on several targets: a section for each, then what holds over all of them.

use super::{case, costs_of, figure, host, imports, method, settings, table, trouble, warnings};
use crate::Report;
use crate::content::{self, Room};
use crate::plot::Plot;
use crate::view::View;
use maud::{Markup, html};

/// Links to the sections.
pub fn navigation(views: &[View]) -> Markup {
    html! {
        nav aria-label="Sections" {
            ul {
                @if !content::warnings(views).is_empty() { li { a href="#warnings" { "Warnings" } } }
                @for view in views { li { a href={ "#" (id(view)) } { (view.place()) } } }
                li { a href="#resources" { "Resources" } }
                li { a href="#versions" { "Versions" } }
                li { a href="#conditions" { "Conditions" } }
                li { a href="#method" { "How it was measured" } }
                li { a href="#host" { "The host" } }
            }
        }
    }
}

/// The sections; `plots` are those of each target.
pub fn measured(report: &Report, views: &[View], plots: &[Vec<Plot>]) -> Markup {
    html! {
        @for (view, plots) in views.iter().zip(plots) { (target(view, plots)) }
        h2 id="resources" { "Resources" }
        @for shown in content::resources(views, Room::Wide) { (table(&shown)) }
        @for (view, plots) in views.iter().zip(plots) {
            @for plot in plots.iter().filter(|p| p.is(view, "memory")) { (figure(plot, true)) }
        }
        details {
            summary { "Warm-up and first operations" }
            @for view in views {
                h3 { (view.place()) }
                (table(&content::warm_up_table(view)))
            }
        }
        h2 id="versions" { "Versions" }
        @for shown in content::versions(views, Room::Wide) { (table(&shown)) }
        (conditions(views))
        (warnings(views))
        (imports(report))
        @if let Some(first) = views.first() { (method(&content::method(first))) (host(first)) }
    }
}

/// Where the time goes on a server, and what many connections bring; nothing on a library alone.
pub fn served(view: &View, plots: &[Plot]) -> Markup {
    let splits = match view.serves() {
        true => content::split_tables(view, Room::Wide),
        false => Vec::new(),
    };
    html! {
        @if !splits.is_empty() {
            h3 { "Where the time goes" }
            @for plot in plots.iter().filter(|p| p.is(view, "parts")) { (figure(plot, true)) }
            details {
                summary { "All points in figures" }
                @for shown in &splits { (table(shown)) }
            }
        }
        @for group in view.scaling_groups() {
            h3 { "Many at once: " (view.group_label(&group)) }
            p class="muted" { (view.plan.cases[group.case].work) }
            @for plot in plots.iter().filter(|p| p.shows(&group)) { (figure(plot, false)) }
            @for shown in content::scaling_tables(view, &group, Room::Wide) { (table(&shown)) }
        }
    }
}

/// One target.
fn target(view: &View, plots: &[Plot]) -> Markup {
    html! {
        section {
            h2 id=(id(view)) { (view.place()) }
            @for shown in content::side_by_side(view, Room::Wide) { (table(&shown)) }
            @for plot in plots.iter().filter(|p| p.is(view, "ratios")) { (figure(plot, true)) }
            (trouble(view))
            (served(view, plots))
            @let costs = costs_of(view);
            @if !costs.is_empty() {
                h3 { "Fixed and marginal cost" }
                div class="pair" { @for shown in &costs { div { (table(shown)) } } }
            }
            details {
                summary { "Case by case" }
                @for group in view.groups() { (case(view, &group, plots)) }
                (table(&content::overall_table(view)))
            }
        }
    }
}

fn conditions(views: &[View]) -> Markup {
    html! {
        h2 id="conditions" { "Conditions" }
        @for server in content::services(views) { (table(&server)) }
        @for view in views {
            h3 { (view.place()) }
            (table(&content::subject_table(view)))
            (settings(view))
        }
    }
}

fn id(view: &View) -> &'static str {
    view.named.map_or("figures", |kind| kind.name())
}

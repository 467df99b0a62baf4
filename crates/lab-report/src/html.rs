// SPDX-License-Identifier: Apache-2.0
//! One page that a colleague can read without the tool: no network, no script, light and dark,
//! on paper and on a phone. All text from a run is escaped by the template.

mod load;
mod served;
mod targets;

pub use load::render as load;
pub use served::render as served;

use crate::answer::{answer, conclusions};
use crate::between::BetweenReport;
use crate::content::{self, Room, between as two_runs};
use crate::plot::{self, Plot};
use crate::table::{Cell, Table, Tone, cut};
use crate::view::{Group, View};
use crate::{Error, Report, number};
use lab_model::Failure;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A title that goes on for longer is cut: command lines have no end.
const TITLE: usize = 240;

/// Nothing may be loaded or run; the page's own style sheet is inside it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page.
pub fn render<'a>(report: &'a Report<'a>) -> Result<String, Error> {
    let started = content::started(report.run);
    let views = View::all(report);
    let answer = match views.as_slice() {
        [] | [_] => vec![("", answer(report))],
        many => conclusions(many),
    };
    let head = |title: &'a str, question: Option<&'a str>| Head {
        title,
        kicker: match question {
            Some(_) => format!("{} · {started}", cut(title, TITLE)),
            None => started.clone(),
        },
        headline: question.unwrap_or(title),
        lab_version: &report.run.lab_version,
        answer: &answer,
    };
    let question = |view: &View<'a>| {
        let question = Some(view.plan.question.as_str());
        head(&view.plan.title, question.filter(|q| !q.is_empty()))
    };
    let footer = footer(report, views.first());
    let page = match views.as_slice() {
        [] => page(
            head(&report.run.name, None),
            html! {},
            imports(report),
            footer,
        ),
        [view] => {
            let plots = plot::plots(view)?;
            let main = measured(view, &plots);
            page(question(view), navigation(view), main, footer)
        }
        many => {
            let plots = many.iter().map(plot::plots);
            let plots = plots.collect::<Result<Vec<_>, Error>>()?;
            let navigation = targets::navigation(many);
            let main = targets::measured(report, many, &plots);
            page(question(&many[0]), navigation, main, footer)
        }
    };
    Ok(page.into_string())
}

/// The page of a report on two runs.
pub(crate) fn between(report: &BetweenReport, plot: Option<&Plot>) -> String {
    let between = report.between;
    let head = Head {
        title: &two_runs::title(report),
        kicker: report.files.join(" · "),
        headline: "What changed from the first run to the second?",
        lab_version: &report.runs[1].lab_version,
        answer: &[("", two_runs::answer(report))],
    };
    let main = html! {
        @if !between.reservations.is_empty() {
            h2 { "Reservations" }
            @for reservation in &between.reservations {
                div class="box" { p { strong class="what" { (reservation.kind) } } p { (reservation.text) } }
            }
        }
        @if !between.apart.is_empty() {
            h2 { "Not compared" }
            ul { @for what in &between.apart { li { (what) } } }
        }
        @if let Some(plot) = plot {
            h2 { "Overview" }
            (figure(plot, true))
        }
        h2 { "Point by point" }
        @for point in two_runs::points(report) {
            @for shown in two_runs::point_tables(report, point, Room::Wide) { (table(&shown)) }
        }
        h2 { "What differs" }
        (table(&two_runs::difference_table(report)))
        (table(&two_runs::run_table(report)))
        h2 { "How it was computed" }
        p { (two_runs::method(report)) }
    };
    let files = report.files.join(" and ");
    let footer = html! { footer { p { "From " (files) ", which hold every sample." } } };
    page(head, html! {}, main, footer).into_string()
}

/// What a page begins with.
struct Head<'a> {
    title: &'a str,
    /// The line above the headline.
    kicker: String,
    headline: &'a str,
    lab_version: &'a str,
    /// Paragraphs, some after a name.
    answer: &'a [(&'static str, String)],
}

fn page(head: Head, navigation: Markup, main: Markup, footer: Markup) -> Markup {
    let style = format!("{}{}", include_str!("style.css"), plot::style_sheet());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "benchlab " (head.lab_version) };
                title { (cut(head.title, TITLE)) " – benchlab" }
                style { (PreEscaped(style)) }
            }
            body {
                header {
                    p class="kicker" { (head.kicker) }
                    h1 { (cut(head.headline, TITLE)) }
                    section class="lead" aria-labelledby="answer" {
                        h2 id="answer" { "Answer" }
                        @for (name, text) in head.answer {
                            p { @if !name.is_empty() { strong { (name) ". " } } (text) }
                        }
                    }
                    (navigation)
                }
                main { (main) }
                (footer)
            }
        }
    }
}

fn navigation(view: &View) -> Markup {
    let trouble = !view.run.failures.is_empty() || !view.refusals().is_empty();
    let costs = !view.analysis.fits.is_empty() || !view.analysis.factors.is_empty();
    html! {
        nav aria-label="Sections" {
            ul {
                li { a href="#overview" { "Overview" } }
                @if trouble { li { a href="#failed" { "What failed" } } }
                @if !view.warnings().is_empty() { li { a href="#warnings" { "Warnings" } } }
                li { a href="#cases" { (view.words.cases) } }
                @if view.serves() && !view.analysis.server_costs.is_empty() { li { a href="#server" { "The server's part" } } }
                @if costs { li { a href="#costs" { "Fixed and marginal cost" } } }
                li { a href="#resources" { "Resources" } }
                @if has_conditions(view) { li { a href="#conditions" { "Conditions" } } }
                li { a href="#method" { "How it was measured" } }
                li { a href="#host" { "The host" } }
            }
        }
    }
}

fn measured(view: &View, plots: &[Plot]) -> Markup {
    html! {
        (overview(view, plots))
        (trouble(view))
        (warnings(std::slice::from_ref(view)))
        (cases(view, plots))
        @let served = targets::served(view, plots);
        @if !served.0.is_empty() {
            h2 id="server" { "The server's part" }
            (served)
        }
        (costs(view))
        (resources(view, plots))
        (conditions(view))
        (imports(view.report))
        (method(&content::method(view)))
        (host(view))
    }
}

fn overview(view: &View, plots: &[Plot]) -> Markup {
    let overall = content::overall_table(view);
    html! {
        h2 id="overview" { "Overview" }
        (table(&content::command_table(view)))
        (table(&overall))
        @if view.commands().is_none() {
            @for sentence in content::undecided(view).into_iter().chain(content::few_blocks(view)) { p { (sentence) } }
        }
        @if !overall.rows.is_empty() {
            p class="muted" {
                "Small: small but real, the interval leaves out 1 but reaches into the margin of " (number::level(view.analysis.margin))
                ". Open: inconclusive. Ratios are times: below 1 is faster."
            }
        }
        @for plot in plots.iter().filter(|p| p.is(view, "ratios")) { (figure(plot, true)) }
    }
}

fn trouble(view: &View) -> Markup {
    let run = view.run;
    if run.failures.is_empty() && view.refusals().is_empty() {
        return html! {};
    }
    html! {
        @match view.named {
            None => h2 id="failed" { "What failed, and what was not compared" },
            Some(_) => h3 { "What failed, and what was not compared" },
        }
        @for failure in &run.failures { (failed(view, failure)) }
        @for refusal in view.refusals() {
            div class="box" {
                p { strong class="what" { (view.name(refusal.subject)) } (view.at(refusal.point)) " is not compared." }
                p { (refusal.why) }
            }
        }
    }
}

fn failed(view: &View, failure: &Failure) -> Markup {
    html! {
        div class="box failed" {
            p {
                strong class="what" { (view.name(failure.subject)) } " failed" (view.at(failure.point))
                @if let Some(block) = failure.block { ", block " (block) }
                ": " (failure.kind) "."
            }
            p { (failure.message) }
            @if !failure.log.is_empty() {
                pre tabindex="0" aria-label={ "Last log lines of " (view.name(failure.subject)) } { (failure.log.join("\n")) }
            }
        }
    }
}

fn warnings(views: &[View]) -> Markup {
    let warnings = content::warnings(views);
    if warnings.is_empty() {
        return html! {};
    }
    html! {
        h2 id="warnings" { "Warnings worth reading" }
        @for warning in &warnings {
            div class="box" {
                p { strong class="what" { (warning.1.kind) } }
                p { (content::warning_text(warning)) }
            }
        }
    }
}

fn cases(view: &View, plots: &[Plot]) -> Markup {
    html! {
        h2 id="cases" { (view.words.cases) }
        @for group in view.groups() { (case(view, &group, plots)) }
    }
}

fn case(view: &View, group: &Group, plots: &[Plot]) -> Markup {
    let label = view.group_label(group);
    let tables = content::group_tables(view, group, Room::Wide);
    let (first, others) = tables.split_at(1.min(tables.len()));
    html! {
        section {
            @if !label.is_empty() { h3 { (label) } }
            p class="muted" { (view.plan.cases[group.case].work) }
            @for plot in plots.iter().filter(|p| p.shows(group)) { (figure(plot, false)) }
            @for shown in first { (table(shown)) }
            @if !others.is_empty() {
                details {
                    summary { "CPU time and whole time" }
                    @for shown in others { (table(shown)) }
                }
            }
        }
    }
}

fn costs(view: &View) -> Markup {
    if view.analysis.fits.is_empty() && view.analysis.factors.is_empty() {
        return html! {};
    }
    html! {
        h2 id="costs" { "Fixed and marginal cost" }
        p { "What " (view.words.an_operation) " costs by itself, and what each further unit of the sweep adds: time = fixed + marginal × n." }
        @for shown in costs_of(view) { (table(&shown)) }
    }
}

fn costs_of(view: &View) -> Vec<Table> {
    let mut tables = content::fit_tables(view, Room::Wide);
    tables.extend(content::factor_tables(view, Room::Wide));
    tables
}

fn resources(view: &View, plots: &[Plot]) -> Markup {
    html! {
        h2 id="resources" { "Resources" }
        (table(&content::resource_table(view, Room::Wide)))
        @for group in view.groups() { (table(&content::use_table(view, &group, Room::Wide))) }
        @for sentence in content::overheads(view) { p { (sentence) } }
        @for plot in plots.iter().filter(|p| p.is(view, "memory") || p.is(view, "cpu")) { (figure(plot, true)) }
        @if view.commands().is_none() {
            details {
                summary { "Warm-up and first operations" }
                (table(&content::warm_up_table(view)))
            }
        }
    }
}

fn conditions(view: &View) -> Markup {
    if !has_conditions(view) {
        return html! {};
    }
    html! {
        h2 id="conditions" { "Conditions" }
        (table(&content::subject_table(view)))
        @for server in content::services(std::slice::from_ref(view)) { (table(&server)) }
        (settings(view))
    }
}

/// Settings that differ, and the control.
fn settings(view: &View) -> Markup {
    let (differing, same) = content::conditions(view);
    html! {
        @if view.commands().is_none() && differing.rows.is_empty() { p { "No setting that subjects read back differs between them." } }
        (table(&differing))
        @if !same.is_empty() { p { "The same for all: " (same.join(", ")) "." } }
        @if !view.analysis.controls.is_empty() {
            details {
                summary { "The control: this run's own noise" }
                (table(&content::control_table(view)))
            }
        }
    }
}

/// Whole commands read nothing back, unless the lab says something for them.
fn has_conditions(view: &View) -> bool {
    let said = !view.run.settings.is_empty() || !view.analysis.controls.is_empty();
    said || view.commands().is_none()
}

fn imports(report: &Report) -> Markup {
    let tables = content::import_tables(report);
    html! {
        @if !tables.is_empty() {
            h2 id="imported" { "Imported figures, for comparison by eye" }
            @for shown in &tables { (table(shown)) }
        }
    }
}

fn method(sentences: &[String]) -> Markup {
    html! {
        h2 id="method" { "How it was measured" }
        @for sentence in sentences { p { (sentence) } }
    }
}

fn host(view: &View) -> Markup {
    let host = &view.run.host;
    let fit = host.findings.iter().all(|f| !f.unfit);
    html! {
        h2 id="host" { "The host" }
        @if !host.facts.is_empty() {
            dl { @for (name, value) in &host.facts { dt { (name) } dd { (value) } } }
        }
        @if host.findings.is_empty() {
            p { "Nothing was found on the host that would disturb a measurement." }
        } @else if fit {
            p { "The host is fit to measure, with these reservations:" }
        } @else {
            p { strong class="alarm" { "The host is not fit for measurements that must be trusted." } }
        }
        @for finding in &host.findings {
            div class={ "box" @if finding.unfit { " failed" } } { p { (finding.what) } p class="muted" { (finding.advice) } }
        }
    }
}

fn footer(report: &Report, view: Option<&View>) -> Markup {
    html! {
        footer {
            @if let Some(view) = view { p { (content::conditions_line(view)) } }
            p { "From " (report.file) ", which holds every sample. Made by benchlab " (report.run.lab_version) "." }
        }
    }
}

/// A drawing that scrolls in its box where it does not fit, with its caption.
fn figure(plot: &Plot, tall: bool) -> Markup {
    let class = if tall {
        "class=\"plot tall\""
    } else {
        "class=\"plot\""
    };
    let svg = plot.svg.replacen("class=\"plot\"", class, 1);
    html! {
        figure {
            div class="scroll" tabindex="0" role="group" aria-label=(plot.title) { (PreEscaped(svg)) }
            figcaption { strong { (plot.title) ". " } (plot.description) }
        }
    }
}

/// A table that scrolls in its box; nothing without rows.
fn table(table: &Table) -> Markup {
    if table.rows.is_empty() {
        return html! {};
    }
    html! {
        div class="scroll" tabindex="0" role="group" aria-label=(table.title) {
            table class=[(table.columns.len() > 8).then_some("dense")] {
                caption { (table.title) }
                thead {
                    tr { @for column in &table.columns { th scope="col" class=[column.numeric.then_some("n")] { (column.title) } } }
                }
                tbody {
                    @for row in &table.rows {
                        tr { @for (i, cell) in row.iter().enumerate() { (self::cell(cell, i == 0, table.columns[i].numeric)) } }
                    }
                }
            }
        }
        @for note in &table.notes { p class="muted" { (note) } }
    }
}

fn cell(cell: &Cell, head: bool, numeric: bool) -> Markup {
    let kind = if numeric { "n" } else { "v" };
    let class = match cell.tone {
        Tone::Plain => kind.to_string(),
        tone => format!("{kind} {}", tone.word()),
    };
    let content =
        html! { (cell.text) @if !cell.sub.is_empty() { span class="sub" { (cell.sub) } } };
    html! { @if head { th scope="row" { (content) } } @else { td class=(class) { (content) } } }
}

// SPDX-License-Identifier: Apache-2.0
//! A document as one self-contained HTML page.
//!
//! The page is readable without benchlab and without a network, in light and dark mode, on paper
//! and on a phone. The template escapes all text.

use super::Top;
use super::grid::{Grid, GridCell, GridColumn};
use super::text::clean_lines;
use super::warnings;
use crate::chart::{self, file_name};
use crate::document::{Chart, Detail, Document, Drawing, Finding, Item, Section, Table, Tone};
use crate::output::{Error, Format, Rendered};
use base64::prelude::{BASE64_STANDARD, Engine};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// The maximum length of a title in characters. Titles may contain long command lines.
const TITLE: usize = 400;
/// The maximum number of rows of a table that is not folded.
const ROWS: usize = 40;

/// The content security policy, which forbids loading or running anything except for the page's inline style sheet.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns the page's script. Only pages with a flame graph have a script.
///
/// The policy allows the script by its hash (Content Security Policy Level 3, 2.3.1).
fn script(document: &Document) -> Option<&'static str> {
    let is_flame = |chart: &&Chart| matches!(chart.drawing, Drawing::Flame(_));
    document
        .charts()
        .iter()
        .any(is_flame)
        .then_some(chart::FLAME_SCRIPT)
}

fn policy(script: Option<&str>) -> String {
    script.map_or(POLICY.into(), |script| {
        let hash = BASE64_STANDARD.encode(Sha256::digest(script));
        format!("{POLICY}; script-src 'sha256-{hash}'")
    })
}

/// The HTML format.
pub const FORMAT: Format = Format {
    name: "html",
    extension: "html",
    title: "Page (HTML)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| render(document).map(Rendered::Text),
};

/// Renders the page. Returns an error if a chart cannot be drawn.
pub fn render(document: &Document) -> Result<String, Error> {
    let script = script(document);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "benchlab " (document.benchlab_version) };
                title { (short(&document.title)) " – benchlab" }
                style { (PreEscaped(style_sheet())) }
            }
            body {
                (content(document)?)
                @if let Some(script) = script { script { (PreEscaped(script)) } }
            }
        }
    };
    Ok(clean_lines(&page.into_string()))
}

/// Renders the content of the page's `body`, for embedding in another page.
///
/// The other page must include [`style_sheet`]. Returns an error if a chart cannot be drawn.
pub fn body(document: &Document) -> Result<String, Error> {
    Ok(clean_lines(&content(document)?.into_string()))
}

/// Returns the style sheet of a page, including the styles of charts.
pub fn style_sheet() -> String {
    include_str!("style.css").to_owned() + &chart::style_sheet()
}

fn content(document: &Document) -> Result<Markup, Error> {
    let sections: Vec<&Section> = document.sections.iter().filter(|s| !s.is_empty()).collect();
    let ids = ids(&sections);
    Ok(html! {
        (header(document))
        (navigation(&sections, &ids))
        main {
            (answer(document, &sections, &ids)?)
            @for (section, id) in sections.iter().zip(&ids) { (self::section(section, 2, id)?) }
        }
        (footer(document))
    })
}

fn header(document: &Document) -> Markup {
    let Top {
        headline, about, ..
    } = super::top(document);
    html! {
        header {
            p class="about" { (short(&about)) }
            h1 { (short(&headline)) }
        }
    }
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(TITLE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Returns a unique ID for each section.
///
/// The ID consists of the words of the title, with a number if another section has the same words.
fn ids(sections: &[&Section]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for section in sections {
        let id = format!("s-{}", file_name(&short(&section.title)));
        let numbered = (2..).map(|n| format!("{id}-{n}"));
        let mut free = std::iter::once(id.clone()).chain(numbered);
        ids.extend(free.find(|id| !ids.contains(id)));
    }
    ids
}

fn navigation(sections: &[&Section], ids: &[String]) -> Markup {
    html! {
        nav aria-label="Sections" {
            ul {
                li { a href="#answer" { "Answer" } }
                @for (section, id) in sections.iter().zip(ids) { li { a href={ "#" (id) } { (short(&section.title)) } } }
            }
        }
    }
}

/// Renders the result at the top of the page.
fn answer(document: &Document, sections: &[&Section], ids: &[String]) -> Result<Markup, Error> {
    let answer = &document.answer;
    let warns = |section: &&Section| {
        let mut alone = Document::default();
        alone.sections.push((*section).clone());
        !alone.warnings().is_empty()
    };
    let first = sections.iter().position(warns);
    Ok(html! {
        section id="answer" class="lead" aria-labelledby="answer-title" {
            h2 id="answer-title" { "Answer" }
            @if let Some(table) = &answer.table { (self::table(table)) }
            @if let Some(chart) = &answer.chart { (figure(chart, chart::narrow(chart)?)?) }
            @for finding in &super::top(document).findings { (self::finding(finding)) }
            @for finding in &answer.open_findings() { (self::finding(finding)) }
            @for gate in &document.gate_findings() { (self::finding(gate)) }
            @if let Some(chart) = &answer.distribution { (figure(chart, chart::narrow(chart)?)?) }
            @if answer.is_empty() {
                p { "No result: nothing was compared." }
            }
            @if let Some(first) = first { p class="warnings" { a href={ "#" (ids[first]) } { (warnings(document).paragraph("below")) } } }
        }
    })
}

fn section(section: &Section, level: usize, id: &str) -> Result<Markup, Error> {
    let content = html! {
        @for item in &section.items { (self::item(item)?) }
        @for inner in section.sections.iter().filter(|s| !s.is_empty()) { (self::section(inner, level + 1, "")?) }
    };
    let id = (!id.is_empty()).then_some(id);
    Ok(match section.detail {
        Detail::Shown => html! { section id=[id] { (heading(&section.title, level)) (content) } },
        // If a link leads to the `div` inside a folded section, browsers open the section.
        Detail::Folded => html! {
            details class="section" {
                summary { (heading(&section.title, level)) }
                div id=[id] { (content) }
            }
        },
    })
}

fn heading(title: &str, level: usize) -> Markup {
    match level {
        2 => html! { h2 { (title) } },
        3 => html! { h3 { (title) } },
        4 => html! { h4 { (title) } },
        5 => html! { h5 { (title) } },
        _ => html! { h6 { (title) } },
    }
}

fn item(item: &Item) -> Result<Markup, Error> {
    Ok(match item {
        Item::Paragraph(text) => html! { p { (text) } },
        Item::List(texts) => html! { ul { @for text in texts { li { (text) } } } },
        Item::Facts(facts) => {
            html! { dl { @for (name, value) in facts { dt { (name) } dd { (value) } } } }
        }
        Item::Table(table) => self::table(table),
        Item::Chart(chart) => figure(chart, None)?,
        Item::Finding(finding) => self::finding(finding),
        Item::Log(lines) => html! { pre tabindex="0" aria-label="Log" { (lines.join("\n")) } },
    })
}

fn finding(finding: &Finding) -> Markup {
    html! {
        p class={ "finding " (finding.tone.word()) } {
            @if !finding.label.is_empty() { strong { (finding.label) ": " } }
            (finding.text)
        }
    }
}

/// Renders a chart. On small screens, a chart without a narrow version scrolls horizontally.
fn figure(chart: &Chart, narrow: Option<String>) -> Result<Markup, Error> {
    let svg = chart::svg(chart)?;
    let wide = match narrow {
        Some(_) => "scroll wide",
        None => "scroll",
    };
    Ok(html! {
        figure {
            figcaption { strong { (chart.title) } @if !chart.caption.is_empty() { span { (chart.caption) } } }
            div class=(wide) tabindex="0" role="group" aria-label=(chart.title) { (PreEscaped(svg)) }
            @if let Some(narrow) = narrow { div class="narrow" { (PreEscaped(narrow)) } }
        }
    })
}

/// Renders a table that scrolls horizontally if it is too wide.
///
/// A long table is folded. A table without rows is omitted.
fn table(table: &Table) -> Markup {
    match table.rows.len() {
        0 => html! {},
        rows if rows > ROWS => {
            html! { details { summary { (label(table)) ", " (rows) " rows" } (open_table(table)) } }
        }
        _ => open_table(table),
    }
}

fn label(table: &Table) -> &str {
    match table.title.as_str() {
        "" => "Table",
        title => title,
    }
}

fn open_table(table: &Table) -> Markup {
    let grid = Grid::new(table);
    html! {
        div class="scroll" tabindex="0" role="group" aria-label=(label(table)) {
            table {
                @if !(table.title.is_empty() && table.caption.is_empty()) {
                    caption { @if !table.title.is_empty() { strong { (table.title) } } @if !table.caption.is_empty() { span { (table.caption) } } }
                }
                thead { tr { @for column in &grid.columns { (column_head(column)) } } }
                tbody {
                    @for row in &grid.rows {
                        tr { @for (i, column) in grid.columns.iter().enumerate() { (cell(&row[i], i == 0, column.numeric)) } }
                    }
                }
            }
        }
        @for note in &table.notes { p class="note" { (note) } }
    }
}

fn column_head(column: &GridColumn) -> Markup {
    let class = column.numeric.then_some("number");
    if column.heading.is_empty() {
        html! { td {} }
    } else {
        html! { th scope="col" class=[class] { (column.heading) } }
    }
}

fn cell(cell: &GridCell, head: bool, numeric: bool) -> Markup {
    let content = html! {
        (cell.value)
        @if !cell.interval.is_empty() { " " span class="interval" { (cell.interval) } }
        @if !cell.note.is_empty() { span class="below" { (cell.note) } }
    };
    let kind = if numeric { "number" } else { "words" };
    let tone = match cell.tone {
        Tone::Plain => "",
        tone => tone.word(),
    };
    let class = format!("{kind} {tone}");
    if head {
        html! { th scope="row" class=(class.trim()) { (content) } }
    } else {
        html! { td class=(class.trim()) { (content) } }
    }
}

fn footer(document: &Document) -> Markup {
    html! {
        footer {
            @if !document.source.is_empty() { p { (document.source) } }
            @if !document.benchlab_version.is_empty() { p { "Made by benchlab " (document.benchlab_version) "." } }
        }
    }
}

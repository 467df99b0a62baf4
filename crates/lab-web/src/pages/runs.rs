// SPDX-License-Identifier: Apache-2.0
//! Lists all runs with their results, and searches them.

use super::{count, minute, page, percent_encode, run_path, values};
use crate::app::App;
use crate::library::{RunEntry, RunLibrary, RunLine, RunState};
use crate::problem::Problem;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Html;
use lab_document::clean;
use maud::{Markup, html};
use std::time::{Duration, Instant};

/// The maximum number of runs on a page.
const ON_A_PAGE: usize = 50;
/// The maximum time that a page waits for results that are not cached. Its script loads the
/// remaining results later.
const TIMEOUT: Duration = Duration::from_millis(400);
/// The maximum time that a search takes for results that are not cached. The same search continues
/// with the remaining results.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(2);

/// Lists all runs, or the runs that contain each word of the search.
pub async fn list(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Html<String>, Problem> {
    let query = query.unwrap_or_default();
    let first = |name: &str| values(&query, name).into_iter().next().unwrap_or_default();
    let (words, from) = (first("q"), first("from").parse().unwrap_or(0));
    let may_delete = app.guard.token_of(&headers).is_some();
    app.blocking(move |library| {
        let entries = library.entries();
        let total = entries.len();
        let search = Search::new(library, entries, &words);
        let shown: Vec<&RunEntry> = search.found.iter().skip(from).take(ON_A_PAGE).collect();
        let content = html! {
            header { h1 { "Runs" } p class="about" { "in " (clean(&library.folder().display().to_string())) } }
            main {
                (search_form(&words))
                p role="status" {
                    (result_line(&words, search.found.len(), total))
                    @if search.not_analyzed > 0 {
                        " " (not_analyzed(search.not_analyzed)) " "
                        a href=(search_path(&words, from)) { "Continue the search" }
                    }
                }
                @if !shown.is_empty() { (run_list(library, &shown, may_delete)) }
                @if total == 0 {
                    p { "Each run that `benchlab run`, `compare` or `load` measures appears here: for example "
                        code { "benchlab compare 'sort a.txt' './mysort a.txt'" } "." }
                }
                (page_links(&words, from, search.found.len()))
            }
        };
        Ok(page("Runs", &html! {}, content))
    })
    .await
}

/// Serves the result of a single run, for the script.
pub async fn summary(
    State(app): State<App>,
    Path(run): Path<String>,
) -> Result<Html<String>, Problem> {
    app.blocking(move |library| {
        let markup = match library.summary(&run) {
            Ok(summary) => answer_line(&summary),
            Err(problem) => html! { p class="finding alarm" { (clean(problem.reason())) } },
        };
        Ok(Html(markup.into_string()))
    })
    .await
}

/// The result of a search.
struct Search {
    /// The runs whose heading, date and result contain each word.
    found: Vec<RunEntry>,
    /// The number of other runs whose results were not searched, because the time was up.
    not_analyzed: usize,
}

impl Search {
    /// Searches runs. Results that are not cached are computed, up to [`SEARCH_TIMEOUT`].
    fn new(library: &RunLibrary, entries: Vec<RunEntry>, words: &str) -> Search {
        let deadline = Instant::now() + SEARCH_TIMEOUT;
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let mut search = Search {
            found: Vec::new(),
            not_analyzed: 0,
        };
        for entry in entries {
            let mut text = heading_text(&entry);
            if !contains_all(&text, &words) {
                match result_in_time(library, &entry, deadline) {
                    Some(result) => text += &result,
                    None => search.not_analyzed += 1,
                }
            }
            if contains_all(&text, &words) {
                search.found.push(entry);
            }
        }
        search
    }
}

/// Returns true if a text contains each word. The words are in lowercase.
fn contains_all(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}

/// Returns the heading and the date of a run as text.
fn heading_text(entry: &RunEntry) -> String {
    let mut text = format!("{}\n", entry.name);
    match &entry.heading {
        Ok(heading) => {
            text += &format!(
                "{}\n{}\n{}\n",
                heading.experiment.as_deref().unwrap_or("imported"),
                heading.title,
                heading.question
            );
            text += &format!(
                "{}\n{}\n",
                heading.subjects.join("\n"),
                minute(heading.started_unix_s)
            );
        }
        Err(reason) => text += reason,
    }
    text
}

/// Returns the result of a run, or `None` if it is not known by the deadline. A run without a result
/// has an empty text.
fn result_in_time(library: &RunLibrary, entry: &RunEntry, deadline: Instant) -> Option<String> {
    if let Some(summary) = library.known_summary(entry) {
        return Some(summary.answer.clone());
    }
    if entry.heading.is_err() || entry.state == RunState::Measured {
        return Some(String::new());
    }
    (Instant::now() < deadline).then(|| {
        let summary = library.summary(&entry.name);
        summary.map_or(String::new(), |summary| summary.answer.clone())
    })
}

fn search_form(words: &str) -> Markup {
    html! {
        form class="search" role="search" action="/" method="get" {
            label for="app-search" { "Search" }
            input id="app-search" type="search" name="q" value=(words) autocomplete="off"
                placeholder="a name, a subject, or a word in the question or result";
            button { "Search" }
        }
    }
}

fn result_line(words: &str, found: usize, total: usize) -> String {
    match words.trim() {
        "" => format!("{}, the latest first.", count(total, "run")),
        words => format!(
            "{found} of {} with “{}”.",
            count(total, "run"),
            clean(words)
        ),
    }
}

/// Returns the remark on runs whose results were not searched.
fn not_analyzed(runs: usize) -> String {
    let (have, headings) = match runs {
        1 => ("has", "its heading was"),
        _ => ("have", "their headings were"),
    };
    let runs = count(runs, "run");
    format!("{runs} {have} not been analyzed yet: only {headings} searched.")
}

/// Renders a list in which runs can be selected.
fn run_list(library: &RunLibrary, shown: &[&RunEntry], may_delete: bool) -> Markup {
    let deadline = Instant::now() + TIMEOUT;
    html! {
        form id="app-chosen" method="get" action="/diff" {
            div class="actions" {
                button { "Compare two" }
                @if may_delete { button formaction="/delete" { "Delete…" } }
                span class="note" id="app-count" role="status" { "Choose two runs of one experiment to compare them." }
            }
            ul class="runs" { @for entry in shown { (row(library, entry, deadline)) } }
        }
        @if !may_delete {
            p class="note" { "To delete runs here, open the address with the token that `benchlab serve` printed." }
        }
    }
}

fn row(library: &RunLibrary, entry: &RunEntry, deadline: Instant) -> Markup {
    let name = clean(&entry.name);
    html! {
        li {
            input type="checkbox" name="run" value=(entry.name) aria-label={ "Choose " (name) };
            div {
                h2 { a href=(run_path(&entry.name, "")) { (title(entry)) } (state_label(entry.state)) }
                (about_line(entry))
                @match (&entry.heading, entry.state) {
                    (_, RunState::Measured) => {
                        p class="finding inconclusive" { "The run is being measured: open its page to follow it." }
                    }
                    (Err(reason), _) => p class="finding alarm" { (reason) },
                    (Ok(_), _) => (answer_or_pending(library, entry, deadline)),
                }
            }
        }
    }
}

/// Returns the title of a run or, without a title, the question or the name of the file.
pub fn title(entry: &RunEntry) -> String {
    let heading = entry.heading.as_ref().ok();
    let texts = heading
        .map(|h| [&h.title, &h.question])
        .into_iter()
        .flatten();
    let text = texts
        .chain([&entry.name])
        .find(|text| !text.trim().is_empty());
    let text = clean(text.map_or("", String::as_str));
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn state_label(state: RunState) -> Markup {
    match state {
        RunState::Measured => html! { " " span class="state measured" { "measuring now" } },
        RunState::Stopped => html! { " " span class="state" { "stopped" } },
        RunState::Ended => html! {},
    }
}

fn about_line(entry: &RunEntry) -> Markup {
    let Ok(heading) = &entry.heading else {
        return html! { p class="about" { (clean(&entry.name)) ".lab" } };
    };
    html! {
        p class="about" {
            @match &heading.experiment {
                Some(name) => a href={ "/history/" (percent_encode(name)) } { (clean(name)) },
                None => "imported values",
            }
            " · " (minute(heading.started_unix_s))
            @if !heading.subjects.is_empty() { " · " (subjects(&heading.subjects)) }
        }
    }
}

/// Lists the first few names, followed by the number of the remaining names.
fn subjects(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| clean(name))
        .collect();
    let more = match names.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}

/// Renders the result of a run if it is cached, or if the deadline has not passed.
///
/// Otherwise, renders a placeholder that the script replaces.
fn answer_or_pending(library: &RunLibrary, entry: &RunEntry, deadline: Instant) -> Markup {
    let summary = library.known_summary(entry);
    let summary = summary.map(Ok).or_else(|| {
        let in_time = Instant::now() < deadline;
        in_time.then(|| library.summary(&entry.name))
    });
    match summary {
        Some(Ok(summary)) => answer_line(&summary),
        Some(Err(problem)) => html! { p class="finding alarm" { (clean(problem.reason())) } },
        None => html! {
            p class="finding pending" data-summary=(run_path(&entry.name, "/summary")) { "Not analyzed yet." }
        },
    }
}

fn answer_line(summary: &RunLine) -> Markup {
    html! {
        p class={ "finding " (summary.tone.word()) } {
            (summary.answer)
            @if summary.warnings > 0 { span class="note" { " " (count(summary.warnings, "warning")) } }
        }
    }
}

/// Returns the path of a search, starting at a position among the runs that were found.
fn search_path(words: &str, from: usize) -> String {
    format!("/?q={}&from={from}", percent_encode(words))
}

/// Renders links to later and to earlier runs.
fn page_links(words: &str, from: usize, found: usize) -> Markup {
    let link = |from: usize| search_path(words, from);
    html! {
        @if from > 0 || from + ON_A_PAGE < found {
            nav class="turning" aria-label="More runs" {
                @if from > 0 { a href=(link(from.saturating_sub(ON_A_PAGE))) { "Later runs" } }
                @if from + ON_A_PAGE < found { a href=(link(from + ON_A_PAGE)) { "Earlier runs" } }
            }
        }
    }
}

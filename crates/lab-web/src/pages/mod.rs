// SPDX-License-Identifier: Apache-2.0
//! The web pages. Each kind of page has its own file. This file contains the parts that all pages
//! share.

pub mod assets;
pub mod bisections;
pub mod delete;
pub mod export;
pub mod history;
pub mod live;
pub mod pair;
pub mod run;
pub mod runs;

use axum::response::Html;
use lab_document::clean;
use maud::{DOCTYPE, Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Renders a page with its title and actions.
///
/// `content` consists of `header`, `nav`, `main` and `footer`.
pub fn page(title: &str, actions: &Markup, content: Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (clean(title)) " – benchlab" }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/style.css";
                script src="/page.js" defer {}
            }
            body class="served" {
                a class="skip" href="#app-content" { "Skip to content" }
                div class="bar" {
                    nav aria-label="benchlab" {
                        a class="brand" href="/" { "benchlab" }
                        a href="/" { "Runs" }
                        a href="/history" { "History" }
                        a href="/bisections" { "Bisections" }
                    }
                    (actions)
                }
                span id="app-content" tabindex="-1" {}
                (content)
            }
        }
    };
    Html(page.into_string())
}

/// Returns the path of a run's page, or of a resource below that page.
pub fn run_path(run: &str, below: &str) -> String {
    format!("/runs/{}{below}", percent_encode(run))
}

/// Returns the path of a bisection's page.
pub fn bisection_path(name: &str) -> String {
    format!("/bisections/{}", percent_encode(name))
}

/// Percent-encodes text for use as a URL path segment or a query value.
pub fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Returns the values of a parameter in a query or form, in order.
pub fn values(query: &str, name: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
    pairs.map(|(_, value)| value.into_owned()).collect()
}

/// Formats a time in UTC, rounded down to the minute.
pub fn minute(unix_s: f64) -> String {
    let seconds = unix_s.clamp(0.0, 2.5e11) as i64;
    let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Formats a number with a noun, such as `1 run` or `3 runs`.
pub fn count(n: usize, word: &str) -> String {
    match n {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    }
}

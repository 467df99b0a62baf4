// SPDX-License-Identifier: Apache-2.0
//! Checks that apply to every page and every Markdown text, regardless of the names in a run.

use scraper::{Html, Selector};
use std::collections::BTreeSet;

/// Checks the structure of an HTML page.
///
/// The page must not load other files and must not contain scripts. Its links must lead to its own
/// anchors, its headings must not skip a level, and each row must have the same number of cells as
/// the head of its table.
#[track_caller]
pub fn assert_page_is_whole(html: &str) {
    let document = Html::parse_document(html);
    let select = |css: &str| Selector::parse(css).expect("a selector");
    let bad = "script, img, iframe, link, [onload], [onerror], [src], [style], body style";
    assert_eq!(document.select(&select(bad)).count(), 0);
    let mut ids = BTreeSet::new();
    for element in document.select(&select("[id]")) {
        let id = element.value().attr("id").expect("an id");
        assert!(ids.insert(id.to_string()), "{id} is there twice");
    }
    for anchor in document.select(&select("a")) {
        let target = anchor.value().attr("href").expect("a target");
        assert!(ids.contains(target.trim_start_matches('#')), "{target}");
    }
    let all = select("h1, h2, h3");
    let levels = document.select(&all);
    let levels: Vec<u8> = levels.map(|h| h.value().name().as_bytes()[1]).collect();
    assert!(levels.windows(2).all(|l| l[1] <= l[0] + 1));
    for table in document.select(&select("table")) {
        let columns = table.select(&select("thead th")).count();
        for row in table.select(&select("tbody tr")) {
            assert_eq!(row.select(&select("th, td")).count(), columns);
        }
    }
    for svg in document.select(&select("svg.plot")) {
        assert_eq!(svg.value().attr("role"), Some("img"));
        assert!(svg.value().attr("aria-labelledby").is_some());
    }
    assert!(!html.contains("url(") && !html.contains("@import"));
}

/// Checks that Markdown contains no markup except tables and folds, and that all lines of a table have the same number
/// of cells.
#[track_caller]
pub fn assert_markdown_keeps_its_tables(text: &str) {
    // Between fences, all text is literal.
    let mut fenced = false;
    let prose = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    for line in prose {
        let folds = ["<br>", "<details>", "</details>", "<summary>", "</summary>"];
        let known = folds
            .iter()
            .fold(line.replace("\\<", ""), |l, tag| l.replace(tag, ""));
        let unescaped = known;
        assert!(!unescaped.contains('<'), "{line}");
    }
    for block in text.split("\n\n").filter(|b| b.starts_with('|')) {
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let first = bars(block.lines().next().expect("a heading"));
        assert!(block.lines().all(|line| bars(line) == first), "{block}");
    }
}

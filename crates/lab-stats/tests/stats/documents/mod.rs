// SPDX-License-Identifier: Apache-2.0
//! Tables in `docs/statistics.md` and `docs/blocks.md` that tests make. `UPDATE_DOCS=1` writes them.

use std::sync::Mutex;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/statistics.md");

/// Tests of one program run side by side; the page is one.
static WRITING: Mutex<()> = Mutex::new(());

/// Writes the table into the page of statistics, if `UPDATE_DOCS` is set.
pub fn update(name: &str, table: &str) {
    update_page(PAGE, name, table);
}

/// Writes the table into a page, if `UPDATE_DOCS` is set.
pub fn update_page(file: &str, name: &str, table: &str) {
    if std::env::var_os("UPDATE_DOCS").is_none() {
        return;
    }
    let _guard = WRITING.lock().unwrap();
    let page = std::fs::read_to_string(file).unwrap();
    let (before, after) = before_and_after(&page, name);
    std::fs::write(file, format!("{before}{table}{after}")).unwrap();
}

/// How many runs to simulate: more where the page is written.
pub fn runs(for_the_page: u64, in_tests: u64) -> u64 {
    match std::env::var_os("UPDATE_DOCS") {
        Some(_) => for_the_page,
        None => in_tests,
    }
}

/// The table as the page of statistics has it.
pub fn published(name: &str) -> String {
    published_on(PAGE, name)
}

/// The table as a page has it.
pub fn published_on(file: &str, name: &str) -> String {
    let page = std::fs::read_to_string(file).unwrap();
    let (before, after) = before_and_after(&page, name);
    page[before.len()..page.len() - after.len()].to_string()
}

/// The text before and after the table of that name.
fn before_and_after<'a>(page: &'a str, name: &str) -> (&'a str, &'a str) {
    let begin = format!("<!-- begin {name} -->\n");
    let end = format!("<!-- end {name} -->");
    let from = page.find(&begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
    let to = page.find(&end).unwrap_or_else(|| panic!("no {end}"));
    (&page[..from], &page[to..])
}

/// A Markdown table. The first cells of a row are empty where they repeat the row above.
pub fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let columns: Vec<String> = columns.iter().map(|cell| cell.to_string()).collect();
    let rule: Vec<String> = (0..columns.len())
        .map(|i| if i == 0 { "---" } else { "--:" }.to_string())
        .collect();
    let mut text = line(&columns) + &line(&rule);
    let mut above: &[String] = &[];
    for row in rows {
        let repeated = row.iter().zip(above).take_while(|(a, b)| a == b).count();
        let mut cells = vec![String::new(); repeated];
        cells.extend_from_slice(&row[repeated..]);
        text += &line(&cells);
        above = row;
    }
    text
}

/// `3.5 %`.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

// SPDX-License-Identifier: Apache-2.0
//! Renders every kind of run in every format: no name in a run may break a format.

use crate::support;
use crate::support::page::{assert_markdown_keeps_its_tables, assert_page_is_whole};
use calamine::{Reader, Xlsx};
use lab_document::{Document, Format, Rendered, Terminal, format};
use lab_model::{CaseId, Run};
use std::io::Cursor;
use std::sync::LazyLock;
use unicode_width::UnicodeWidthStr;

/// Returns one run of every kind, with a name.
fn runs() -> Vec<(&'static str, Run)> {
    vec![
        ("batches on one target", hostile(support::sample(12))),
        (
            "batches on several",
            hostile(support::targets::run(&support::targets::DATABASES, 4)),
        ),
        ("few blocks", support::sample(2)),
        ("commands", hostile(support::commands::three(12))),
        ("a command alone", support::commands::alone(12)),
        ("commands of which one fails", support::commands::failing(4)),
        ("a load", support::load::plain(10)),
        ("a load that stalls", support::load::stalling(10)),
        ("a load over a sweep", support::load::sweep(8)),
        ("two servers", hostile(support::load::two(10))),
        ("a hostile load", support::load::hostile()),
        ("servers", support::served::run(&support::served::small(3))),
        ("hostile servers", support::served::hostile()),
    ]
}

/// Renames subjects and titles so that they try to break a report.
fn hostile(mut run: Run) -> Run {
    let plan = run.plan_mut().expect("a plan");
    let names = [
        "<script>alert(1)</script>".to_owned(),
        format!("a name that goes on and on {}", "x".repeat(90)),
        "数据库 | *pipe* \"quoted\", comma".to_owned(),
        "esc\x1b[31mape\nline".to_owned(),
        "=cmd|' /C calc'!A0".to_owned(),
    ];
    let subjects = plan.subjects.iter_mut().filter(|s| s.control_of.is_none());
    for (subject, name) in subjects.skip(1).zip(names) {
        subject.name = name;
    }
    plan.title = "T </title><b> & \"t\"".into();
    plan.cases[CaseId(0)].work = format!("<img src=x onerror=alert(1)> {}", "word".repeat(60));
    run
}

/// The documents of all runs. They are built once, because the analysis takes longer than rendering all formats.
static DOCUMENTS: LazyLock<Vec<(&str, Document)>> = LazyLock::new(|| {
    let document = |(name, run)| (name, support::document(&run));
    runs().into_iter().map(document).collect()
});

fn each(check: impl Fn(&str, &Document)) {
    for (name, document) in DOCUMENTS.iter() {
        check(name, document);
    }
}

fn text(format: Format, document: &Document, terminal: Terminal) -> String {
    match format.render(document, terminal).expect("a report") {
        Rendered::Text(text) => text,
        other => panic!("{} is not a text: {other:?}", format.name),
    }
}

#[test]
fn the_first_screen_is_complete_in_80_columns() {
    each(|name, document| {
        let text = text(format::terminal::FORMAT, document, Terminal::default());
        if let Some(table) = &document.answer.table {
            let named = text.matches(" [").count() + text.matches("–").count();
            assert!(named >= table.rows.len() - 1, "{name}:\n{text}");
        }
        assert!(!text.contains(" more lines"), "{name}:\n{text}");
        // Hostile names are long.
        assert!(text.lines().count() <= 100, "{name}:\n{text}");
        let fits = |line: &str| line.width() <= 80 && !line.chars().any(char::is_control);
        assert!(text.lines().all(fits), "{name}:\n{text}");
    });
}

#[test]
fn the_full_report_fits_80_columns() {
    each(|name, document| {
        let full = Terminal {
            full: true,
            ..Terminal::default()
        };
        let text = text(format::terminal::FORMAT, document, full);
        let wide = text
            .lines()
            .find(|l| l.width() > 80 || l.chars().any(char::is_control));
        assert_eq!(wide, None, "{name}");
    });
}

#[test]
fn markup_keeps_its_form() {
    each(|_, document| {
        assert_page_is_whole(&text(format::html::FORMAT, document, Terminal::default()));
        assert_markdown_keeps_its_tables(&text(
            format::markdown::FORMAT,
            document,
            Terminal::default(),
        ));
        let xml = text(format::xml::FORMAT, document, Terminal::default());
        roxmltree::Document::parse(&xml).expect("XML");
        for file in match format::svg::FORMAT
            .render(document, Terminal::default())
            .expect("plots")
        {
            Rendered::Files(files) => files,
            other => panic!("not files: {other:?}"),
        } {
            roxmltree::Document::parse(&file.text).unwrap_or_else(|e| panic!("{}: {e}", file.name));
        }
    });
}

/// CSV, JSON and the workbook contain the same rows.
#[test]
fn data_have_every_row() {
    each(|name, document| {
        let csv = text(format::csv::FORMAT, document, Terminal::default());
        let rows = csv::Reader::from_reader(csv.as_bytes())
            .into_records()
            .count();
        assert_eq!(rows, document.rows.len(), "{name}");
        let json = text(format::json::FORMAT, document, Terminal::default());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(rows), "{name}");
        let Rendered::Bytes(bytes) = format::xlsx::FORMAT
            .render(document, Terminal::default())
            .expect("a workbook")
        else {
            panic!("not a workbook")
        };
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).expect("a workbook");
        let data = book.worksheet_range("Data").expect("the rows");
        assert!(
            data.height() > rows || rows == 0,
            "{name}: {} rows",
            data.height()
        );
    });
}

// SPDX-License-Identifier: Apache-2.0
//! A report on two runs: the same figures in every format, room for 80 columns, and nothing from a
//! run file that could move a cursor or become markup.

mod support;

use calamine::{Reader, Xlsx};
use lab_model::{Run, Setting};
use lab_report::{
    BETWEEN_COLUMNS, BetweenReport, Error, Format, Rendered, Terminal, render_between,
};
use lab_stats::between::{Between, Recorded, between};
use scraper::{Html, Selector};
use std::collections::HashMap;
use std::io::Cursor;
use unicode_width::UnicodeWidthStr;

/// A run, and a later one in which ada takes 10 % less and everything is half as fast.
fn two_runs(blocks: [u32; 2]) -> [Run; 2] {
    let [first, mut second] = blocks.map(|blocks| support::sample(blocks).0);
    second.started_unix_s += 7200.0;
    second.name = "later.lab".into();
    let ada = second.plan.as_ref().unwrap().subjects.iter();
    let ada = ada.clone().position(|s| s.name == "ada").unwrap();
    for sample in second.blocks.iter_mut().flat_map(|b| &mut b.samples) {
        sample.batch.wall_ns *= 2;
        if sample.subject == ada {
            sample.batch.wall_ns = sample.batch.wall_ns * 9 / 10;
        }
    }
    second.host.facts.push(("mood".into(), "other".into()));
    [first, second]
}

fn compared(runs: &[Run; 2]) -> Between {
    let hashes = ["old", "new"].map(|ada| {
        let names = ["c", "c (control)", "java", "python", "apsw"].map(|name| (name, "same"));
        let all = names.into_iter().chain([("ada", ada)]);
        all.map(|(name, hash)| (name.to_string(), hash.to_string()))
            .collect::<HashMap<_, _>>()
    });
    let recorded = |i: usize| Recorded {
        run: &runs[i],
        hashes: &hashes[i],
    };
    between(recorded(0), recorded(1)).unwrap()
}

fn rendered(runs: &[Run; 2], format: Format) -> Result<Rendered, Error> {
    let found = compared(runs);
    let report = BetweenReport {
        between: &found,
        runs: [&runs[0], &runs[1]],
        files: ["runs/first.lab", "runs/later.lab"],
    };
    render_between(format, &report, Terminal::default())
}

fn text(runs: &[Run; 2], format: Format) -> String {
    match rendered(runs, format) {
        Ok(Rendered::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_terminal_fits_and_ends_with_the_answer() {
    let text = text(&two_runs([12, 12]), Format::Terminal);
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    assert!(!text.contains('\x1b'));
    let answer = &text[text.find("\nAnswer\n").expect("an answer")..];
    let words = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in [
        "From the first run (12 blocks) to the second (12 blocks), by the ratio to c:",
        "ada (another program) at",
        "that is the machine or the system.",
        "There are reservations: host",
        "first: runs/first.lab",
    ] {
        assert!(words.contains(sentence), "no `{sentence}` in {words}");
    }
    assert!(text.contains("- mood: nothing in the first, other in the second"));
}

#[test]
fn csv_and_json_have_the_figures_of_the_analysis() {
    let runs = two_runs([12, 12]);
    let found = compared(&runs);
    let csv = text(&runs, Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap(), &BETWEEN_COLUMNS[..]);
    let column = |name: &str| BETWEEN_COLUMNS.iter().position(|c| *c == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), found.levels.len());
    for change in &found.changes {
        let row = rows.iter().find(|row| {
            row[column("subject")] == change.subject && row[column("point")] == change.point
        });
        let row = row.expect("a row for each change");
        let number = |name| row[column(name)].parse::<f64>().unwrap();
        let interval = ["ratio_change", "ratio_change_low", "ratio_change_high"].map(number);
        let i = change.change;
        assert_eq!(interval, [i.estimate, i.low, i.high]);
    }
    let json: serde_json::Value = serde_json::from_str(&text(&runs, Format::Json)).unwrap();
    let changes = json["between"]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), found.changes.len());
    assert_eq!(changes[0]["verdict"]["verdict"], "faster");
    assert_eq!(changes[0]["program"], "changed");
}

#[test]
fn page_markdown_workbook_and_plot_hold_every_change() {
    let runs = two_runs([12, 12]);
    let found = compared(&runs);
    let page = text(&runs, Format::Html);
    let page = Html::parse_document(&page);
    let rows = page.select(&Selector::parse("tbody tr").unwrap()).count();
    let expected = found.changes.len() + found.levels.len() + found.differences.len() + 2;
    assert_eq!(rows, expected);
    assert_eq!(page.select(&Selector::parse("svg").unwrap()).count(), 1);
    let markdown = text(&runs, Format::Markdown);
    assert!(markdown.contains("| ada |") && markdown.contains("## Reservations"));
    let Ok(Rendered::Bytes(bytes)) = rendered(&runs, Format::Xlsx) else {
        panic!("no workbook")
    };
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).unwrap();
    let rows = |book: &mut Xlsx<_>, name| book.worksheet_range(name).unwrap().height() - 1;
    assert_eq!(rows(&mut book, "Changes"), found.changes.len());
    assert_eq!(rows(&mut book, "Times"), found.levels.len());
    assert_eq!(rows(&mut book, "Differences"), found.differences.len());
    let Ok(Rendered::Files(files)) = rendered(&runs, Format::Svg) else {
        panic!("no plot")
    };
    assert_eq!(files[0].name, "changes.svg");
    roxmltree::Document::parse(&files[0].text).expect("well-formed");
}

#[test]
fn the_exchange_format_is_refused() {
    let error = rendered(&two_runs([6, 6]), Format::Xml).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("xml holds single figures of one run")
    );
}

#[test]
fn few_blocks_say_what_their_intervals_are_worth() {
    let text = text(&two_runs([2, 12]), Format::Terminal);
    assert!(
        text.contains("Too few blocks for 95 %: these changes hold at "),
        "{text}"
    );
    assert!(
        text.contains("few-blocks: 2 and 12 blocks are too few"),
        "{text}"
    );
}

#[test]
fn hostile_names_stay_text() {
    const EVIL: &str = "<script>\x1b[2J|\n# x";
    let mut runs = two_runs([6, 6]);
    for run in &mut runs {
        let plan = run.plan.as_mut().unwrap();
        plan.title = EVIL.into();
        plan.subjects[2].name = EVIL.into();
        plan.points[0].params = vec![("k".into(), EVIL.into())];
        run.host.facts.push((EVIL.into(), run.name.clone()));
        run.settings.push(Setting {
            subject: 2,
            point: None,
            key: EVIL.into(),
            value: format!("{EVIL}{}", run.name),
        });
    }
    for format in [Format::Terminal, Format::Markdown] {
        let text = text(&runs, format);
        assert!(
            !text.contains('\x1b') && !text.contains("\n# x"),
            "{format:?}"
        );
    }
    for format in [Format::Markdown, Format::Html] {
        // Markdown shows what follows a backslash as it is.
        let markup = text(&runs, format).replace("\\<", "").contains("<script");
        assert!(!markup, "{format:?}");
    }
    let Ok(Rendered::Files(files)) = rendered(&runs, Format::Svg) else {
        panic!("no plot")
    };
    roxmltree::Document::parse(&files[0].text).expect("well-formed");
}

/// The columns that docs/reports.md lists are the real ones.
#[test]
fn the_columns_are_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reports.md");
    let page = std::fs::read_to_string(path).expect("docs/reports.md");
    let section = page.split("## Two runs").nth(1).expect("a section");
    let names = section.lines().filter(|line| line.starts_with("| `"));
    let names = names.map(|line| line.split('|').nth(1).unwrap());
    let names: Vec<&str> = names
        .flat_map(|cell| cell.split(','))
        .map(|name| name.trim().trim_matches('`'))
        .collect();
    assert_eq!(names, BETWEEN_COLUMNS);
}

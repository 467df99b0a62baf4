// SPDX-License-Identifier: Apache-2.0
//! One report of a run on several databases: each by itself, and what holds over all of them; and what
//! is told of a server and of many connections.

mod support;

use calamine::{Data, Reader, Xlsx, open_workbook_from_rs};
use lab_model::{Kind, Run};
use lab_report::{
    BetweenReport, File, Format, Past, Rendered, Report, Terminal, answer, render, render_between,
    render_history, xlsx, xml,
};
use lab_stats::between::{Recorded, between};
use scraper::{Html, Selector};
use std::collections::{BTreeSet, HashMap};
use std::io::Cursor;
use support::page::assert_page_is_whole;
use support::targets::{CONNECTIONS, run};
use unicode_width::UnicodeWidthStr;

fn all(blocks: u32) -> Run {
    run(&Kind::ALL, blocks)
}

fn text(format: Format, run: &Run) -> String {
    match render(
        format,
        &Report::new(run, "runs/some.lab"),
        Terminal::default(),
    ) {
        Ok(Rendered::Text(text)) => text,
        other => panic!("{} is not a text: {other:?}", format.name()),
    }
}

fn files(run: &Run) -> Vec<File> {
    match render(Format::Svg, &Report::new(run, "f"), Terminal::default()) {
        Ok(Rendered::Files(files)) => files,
        other => panic!("not files: {other:?}"),
    }
}

/// A run of which every name from outside tries to break the report.
fn hostile() -> Run {
    let mut run = all(6);
    let plan = run.plan.as_mut().expect("a plan");
    for subject in &mut plan.subjects {
        if subject.name == "go" {
            subject.name = "<script>alert(1)</script>".into();
        }
        if subject.name == "rust" {
            subject.name = format!("a name that goes on {}", "x".repeat(90));
        }
    }
    plan.cases[3].name = "\" onload=\"x".into();
    run.services[0]
        .facts
        .push(("</td>".into(), "<img src=x>".into()));
    let library = run.settings.iter_mut().find(|s| s.key == "library");
    library.expect("a library").value = "<i>\x1b[31m".into();
    run
}

#[test]
fn terminal_lines_fit_eighty_columns() {
    for run in [all(12), all(3), all(0), hostile()] {
        let text = text(Format::Terminal, &run);
        for line in text.lines() {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
        assert!(!text.contains('\x1b'));
    }
}

#[test]
fn every_database_has_its_conclusion_and_its_tables() {
    let run = all(12);
    let text = text(Format::Terminal, &run);
    let (body, conclusion) = text.split_once("\nAnswer\n").expect("an answer");
    for place in ["SQLite", "PostgreSQL", "MariaDB"] {
        assert!(
            body.contains(&format!("\n{place}: side by side\n")),
            "{place}"
        );
        assert!(
            conclusion.contains(&format!("{place}: Over all points the order is")),
            "{conclusion}"
        );
    }
    let conclusion = conclusion.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(conclusion.contains("times as long as c, which shows what the machine allows"));
    assert!(conclusion.contains("Failed at some point or everywhere, and left out there: node."));
    for server in ["PostgreSQL", "MariaDB"] {
        assert!(body.contains(&format!("\n{server}: where the time goes\n")));
        assert!(body.contains(&format!("\n{server}: many at once\n")));
    }
    assert!(!body.contains("SQLite: many at once") && !body.contains("SQLite: where"));
    for part in [
        "the Universal Scalability Law",
        "p99 at 32",
        "transport: time with unix / time with tcp",
        "psycopg 3.2.3 (c), libpq 15.8",
        "the reader's own: 127.0.0.1:13306",
        "timeout: no reply",
    ] {
        assert!(body.contains(part), "{part}");
    }
}

#[test]
fn who_is_ahead_is_computed_from_the_verdicts() {
    let mut run = all(12);
    // ada on MariaDB takes two thirds of its time: alone ahead, also of c.
    let plan = run.plan.clone().expect("a plan");
    for sample in run.blocks.iter_mut().flat_map(|b| &mut b.samples) {
        let subject = &plan.subjects[sample.subject];
        if subject.name == "ada" && plan.targets[subject.target].kind == Kind::Mariadb {
            sample.batch.wall_ns = sample.batch.wall_ns * 2 / 3;
        }
    }
    let answer = answer(&Report::new(&run, "f"));
    let mariadb = answer.split("MariaDB: ").nth(1).expect("its sentences");
    assert!(mariadb.starts_with("Over all points the order is ada, then "));
    assert!(mariadb.contains("ahead of c: ada at 21"), "{mariadb}");
    assert!(mariadb.contains("First besides c: ada at 21."), "{mariadb}");
    let postgresql = answer.split("PostgreSQL: ").nth(1).expect("its sentences");
    let postgresql = postgresql.split("MariaDB: ").next().expect("the first");
    assert!(postgresql.contains("is anything shown to be ahead of c"));
}

#[test]
fn what_a_subject_cannot_do_is_no_failure() {
    let run = all(12);
    let text = text(Format::Terminal, &run);
    assert!(text.contains("— pymysql cannot do statement=prepared."));
    assert!(text.contains("— java cannot do transport=unix."));
    let row = |name: &str| {
        let after = text.split("MariaDB: side by side").nth(1).expect("MariaDB");
        let mut rows = after.lines();
        rows.find(|l| l.starts_with(name))
            .expect("a row")
            .to_string()
    };
    assert!(row("select_1 ").contains('—'), "{}", row("select_1 "));
    assert!(!row("select_1 text").contains('—'));
    assert!(
        text.contains("pymysql (text)"),
        "its parts are those of what it can do"
    );
    let warnings = text.split("\nWarnings\n").nth(1).expect("warnings");
    let warnings = warnings.split("\nAnswer\n").next().expect("them");
    assert!(!warnings.contains("pymysql"), "{warnings}");
}

#[test]
fn a_run_on_a_server_alone_tells_of_it_too() {
    let run = run(&[Kind::Postgresql], 12);
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(format, &run);
        for part in [
            "here the time goes",
            "Universal Scalability",
            "PostgreSQL 15.8",
        ] {
            let told = text.contains(part) || format == Format::Terminal && part.ends_with("15.8");
            assert!(told, "{}: {part}", format.name());
        }
    }
    assert!(files(&run).iter().any(|f| f.name == "parts.svg"));
}

#[test]
fn the_page_is_whole_and_nothing_in_it_is_markup_from_a_run() {
    for run in [all(12), hostile()] {
        let html = text(Format::Html, &run);
        assert_page_is_whole(&html);
        let document = Html::parse_document(&html);
        let second = Selector::parse("h2").expect("a selector");
        let headings = document.select(&second).map(|h| h.text().collect());
        let headings: Vec<String> = headings.collect();
        for heading in ["SQLite", "PostgreSQL", "MariaDB", "Resources", "Versions"] {
            assert!(headings.iter().any(|h| h == heading), "{heading}");
        }
    }
}

#[test]
fn plots_are_named_by_database_and_a_language_has_one_colour() {
    let run = all(12);
    let plots = files(&run);
    let names: BTreeSet<&str> = plots.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names.len(), plots.len());
    for name in [
        "sqlite-ratios.svg",
        "postgresql-parts.svg",
        "mariadb-throughput-connections.svg",
    ] {
        assert!(names.contains(name), "{name} among {names:?}");
    }
    assert!(!names.contains("sqlite-throughput-connections.svg"));
    // The colour of the dot that stands before a name in the legend.
    let colour = |file: &File, name: &str| -> String {
        let before = file
            .text
            .split(&format!("\n{name}\n"))
            .next()
            .expect("a part");
        let dot = before.rsplit("<circle").next().expect("a dot");
        let fill = dot.split("fill=\"").nth(1).expect("a fill");
        fill.split('"').next().expect("a colour").to_string()
    };
    let ratios: Vec<&File> = plots.iter().filter(|f| f.name.contains("ratios")).collect();
    for name in ["go", "rust", "node"] {
        let colours: BTreeSet<String> = ratios.iter().map(|f| colour(f, name)).collect();
        assert_eq!(colours.len(), 1, "{name}: {colours:?}");
    }
    for file in &plots {
        roxmltree::Document::parse(&file.text).expect("XML");
    }
}

#[test]
fn tables_for_programs_have_the_target_and_the_parts() {
    let run = all(12);
    let report = Report::new(&run, "f");
    let rows = support::csv_rows(&text(Format::Csv, &run));
    let plan = run.plan.as_ref().expect("a plan");
    let pairs = |kind: Kind| {
        let target = plan.targets.iter().position(|t| t.kind == kind).unwrap();
        let subjects = plan.subjects.iter().filter(|s| s.target == target).count();
        subjects * plan.points.iter().filter(|p| p.target == target).count()
    };
    for kind in Kind::ALL {
        let here = rows.iter().filter(|r| r["target"] == kind.name());
        assert_eq!(here.count(), pairs(kind));
    }
    let row = |target: &str, subject: &str, case: &str, x: &str| {
        let found = rows.iter().find(|r| {
            r["target"] == target && r["subject"] == subject && r["case"] == case && r["x"] == x
        });
        found.expect("a row")
    };
    let part = &report.parts[1];
    let ada = row("postgresql", "ada", "transfer", "");
    let part_plan = part.part.run.plan.as_ref().expect("a plan");
    let cost = part.analysis.server_costs.iter().find(|c| {
        part_plan.subjects[c.subject].name == "ada" && part_plan.case(c.point).name == "transfer"
    });
    let cost = cost.expect("a cost");
    let server = cost.server_ns.expect("a server");
    assert_eq!(ada["server_cpu_ns"].parse(), Ok(server.estimate));
    assert_eq!(ada["waiting_high_ns"].parse(), Ok(cost.waiting_ns.high));
    let many = row("mariadb", "rust", "connections", "8");
    let ns = |column: &str| many[column].parse::<f64>().expect("a number");
    assert!(ns("p50_ns") < ns("p99_ns") && ns("p99_ns") <= ns("max_ns"));
    assert_eq!(many["waiting_ns"], "");
    let unable = row("mariadb", "pymysql", "select_1", "");
    assert_eq!(unable["status"], "unable");
    assert_eq!(unable["note"], "the subject cannot do statement=prepared");

    let json: serde_json::Value = serde_json::from_str(&text(Format::Json, &run)).expect("JSON");
    assert!(json["analysis"].is_null(), "each part has its own");
    let parts = json["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 3);
    assert_eq!(parts[2]["target"], "mariadb");
    let laws = parts[2]["analysis"]["scalings"].as_array().expect("laws");
    assert!(laws.iter().all(|s| s["law"]["one"]["estimate"].is_number()));
    assert_eq!(json["services"][0]["facts"][0][0], "version");
}

#[test]
fn earlier_tools_are_told_the_database_with_the_driver() {
    let run = all(3);
    let report = Report::new(&run, "f");
    let files = xml::per_subject(&report).expect("files");
    let names: BTreeSet<&str> = files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names.len(), files.len());
    let text = xml::render(&report);
    assert!(text.contains("driver=\"pgjdbc\"") || text.contains("driver=\"JDBC on postgresql\""));
    assert!(text.contains("driver=\"PyMySQL on mariadb\""));
}

#[test]
fn the_workbook_has_a_sheet_for_each_database() {
    let run = all(12);
    let report = Report::new(&run, "f");
    let bytes = match render(Format::Xlsx, &report, Terminal::default()) {
        Ok(Rendered::Bytes(bytes)) => bytes,
        other => panic!("not bytes: {other:?}"),
    };
    let charts = bytes
        .windows(20)
        .filter(|w| w.starts_with(b"xl/charts/chart"))
        .count();
    // Both the directory and the files have the names: ratios, ten points, and connections on servers.
    assert_eq!(charts, 2 * (3 * 11 + 2 + 1));
    let mut book: Xlsx<_> = open_workbook_from_rs(Cursor::new(bytes)).expect("a workbook");
    let mut expected = xlsx::TARGET_SHEETS.to_vec();
    expected.splice(1..1, ["SQLite", "PostgreSQL", "MariaDB"]);
    assert_eq!(book.sheet_names(), expected);
    let figures = book.worksheet_range("Figures").expect("figures");
    let plan = run.plan.as_ref().expect("a plan");
    let pairs: usize = (0..plan.points.len())
        .map(|point| {
            let target = plan.points[point].target;
            plan.subjects.iter().filter(|s| s.target == target).count()
        })
        .sum();
    assert_eq!(figures.height(), 1 + pairs);
    let number = |cell: &Data| matches!(cell, Data::Float(_) | Data::Int(_));
    let measured = |row: &&[Data]| row[6] == Data::String("measured".into());
    assert!(figures.rows().filter(measured).all(|row| number(&row[8])));
    let server = book.worksheet_range("MariaDB").expect("MariaDB");
    let head = server
        .rows()
        .position(|r| r[0] == Data::String("connections".into()));
    let head = head.expect("throughput");
    let rows: Vec<_> = server
        .rows()
        .skip(head + 1)
        .take(CONNECTIONS.len())
        .collect();
    assert!(rows.iter().all(|row| row[..2].iter().all(number)));
}

fn hashes(run: &Run) -> HashMap<String, String> {
    let plan = run.plan.as_ref().expect("a plan");
    let subjects = 0..plan.subjects.len();
    subjects
        .map(|s| (plan.subject_label(s), "same".to_string()))
        .collect()
}

#[test]
fn two_runs_are_told_target_by_target() {
    let first = all(8);
    let mut second = all(8);
    second.started_unix_s += 86_400.0;
    second.name = "later.lab".into();
    let plan = second.plan.clone().expect("a plan");
    for sample in second.blocks.iter_mut().flat_map(|b| &mut b.samples) {
        let subject = &plan.subjects[sample.subject];
        if subject.name == "go" && plan.targets[subject.target].kind == Kind::Mariadb {
            sample.batch.wall_ns = sample.batch.wall_ns * 3 / 2;
        }
    }
    let (a, b) = (hashes(&first), hashes(&second));
    let recorded = |run, hashes| Recorded { run, hashes };
    let found = between(recorded(&first, &a), recorded(&second, &b)).expect("comparable");
    let report = BetweenReport {
        between: &found,
        runs: [&first, &second],
        files: ["a.lab", "b.lab"],
    };
    for format in Format::ALL.into_iter().filter(|f| *f != Format::Xml) {
        let rendered = render_between(format, &report, Terminal::default()).expect("a report");
        if let (Format::Terminal, Rendered::Text(text)) = (format, rendered) {
            assert!(text.lines().all(|line| line.width() <= 80));
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains("go on mariadb"), "{flat}");
            assert!(flat.contains("mariadb connections connections=8"));
            assert!(
                flat.contains("c itself, the same program in both"),
                "{flat}"
            );
        }
    }
}

#[test]
fn a_history_goes_on_when_targets_are_added() {
    let old = run(&[Kind::Sqlite], 8);
    let mut new = all(8);
    new.started_unix_s += 86_400.0;
    let past = |run: &Run| Past::new(run, &hashes(run)).expect("a past");
    let runs = [past(&old), past(&new)];
    let names: Vec<&str> = runs[1].subjects().collect();
    assert!(names.contains(&"pymysql") && names.iter().filter(|n| **n == "ada").count() == 1);
    let csv = render_history(Format::Csv, "sql", &runs, &[], Terminal::default());
    let csv = csv.expect("a history");
    let ada = csv.lines().filter(|l| l.contains(",ada on sqlite,"));
    assert_eq!(ada.count(), 2, "{csv}");
    assert_eq!(
        csv.lines()
            .filter(|l| l.contains(",pymysql on mariadb,"))
            .count(),
        1
    );
    let alone = render_history(Format::Csv, "sql", &runs[..1], &[], Terminal::default());
    assert!(
        alone
            .expect("a history")
            .lines()
            .any(|l| l.contains(",ada,"))
    );
}

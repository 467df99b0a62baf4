// SPDX-License-Identifier: Apache-2.0
//! Reports of load runs: what was sent, how fast it was answered, and what limits the figures.

mod support;

use calamine::{Data, Reader, Xlsx, open_workbook_from_rs};
use lab_model::Run;
use lab_report::{
    Error, File, Format, Past, Rendered, Report, Terminal, answer, load_csv_columns, render,
    render_history, xml,
};
use lab_stats::load::analysis::{LoadAnalysis, Metric};
use std::collections::{BTreeSet, HashMap};
use std::io::Cursor;
use support::load;
use support::page::{assert_markdown_keeps_its_tables, assert_page_is_whole};
use unicode_width::UnicodeWidthStr;

fn all() -> Vec<Run> {
    let unfinished = Run {
        ending: None,
        ..load::two(0)
    };
    vec![
        load::plain(10),
        load::stalling(30),
        load::sweep(10),
        load::sweep(2),
        load::two(12),
        load::two(3),
        load::families(10),
        load::refusing(10),
        load::hostile(),
        unfinished,
    ]
}

fn text(format: Format, run: &Run) -> String {
    let report = Report::new(run, "runs/some.lab");
    match render(format, &report, Terminal::default()) {
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

fn analysis(run: &Run) -> LoadAnalysis {
    lab_stats::load::load(run).expect("a load run")
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn rows(run: &Run) -> Vec<HashMap<String, String>> {
    let text = text(Format::Csv, run);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().expect("headers"), load_csv_columns());
    reader
        .deserialize()
        .map(|row| row.expect("a row"))
        .collect()
}

#[test]
fn terminal_lines_fit_eighty_columns_and_move_no_cursor() {
    for run in all() {
        let text = text(Format::Terminal, &run);
        for line in text.lines() {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
        assert!(!text.contains(['\x1b', '\x07', '\u{202e}']));
    }
}

#[test]
fn every_format_has_every_load_run_but_xml_says_that_it_cannot() {
    for run in all() {
        let report = Report::new(&run, "f");
        assert!(xml::per_subject(&report).is_err());
        for format in Format::ALL {
            match (format, render(format, &report, Terminal::default())) {
                (Format::Xml, Err(error @ Error::NoLoad(_))) => {
                    let said = error.to_string();
                    assert!(said.starts_with("xml ") && said.contains("choose terminal"));
                }
                (Format::Xml, other) => panic!("XML has no form for it: {other:?}"),
                (_, rendered) => drop(rendered.expect("a report")),
            }
        }
    }
}

#[test]
fn a_reader_sees_what_was_sent_before_any_figure() {
    let text = text(Format::Terminal, &load::stalling(30));
    let (before, after) = text.split_once("\nResponse time\n").expect("the figures");
    let before = words(before);
    for part in [
        "GET http://127.0.0.1:8080/items?page=1",
        "open loop: 5,000 requests/s, at random (Poisson) distances",
        "Connections: 50, kept open",
        "HTTP/1.1",
        "status 200",
        "1 thread; a request may take 10.0 s",
        "process 4711",
        "30.0 s without a pause, in 30 blocks",
    ] {
        assert!(before.contains(part), "{part} in {before}");
    }
    assert!(after.contains("service time"), "waiting can be seen");
    assert!(after.contains("lag p99"));
}

#[test]
fn the_answer_has_the_figures_of_the_analysis() {
    let run = load::plain(10);
    let cell = &analysis(&run).cells[0];
    let said = answer(&Report::new(&run, "f"));
    let rate: f64 = said
        .split(' ')
        .next()
        .expect("a word")
        .replace(',', "")
        .parse()
        .expect("a rate");
    assert!(
        (rate / cell.served_per_s.estimate - 1.0).abs() < 1e-3,
        "{said}"
    );
    let p99 = said.split("99 % within ").nth(1).expect("p99");
    let p99: f64 = p99
        .split(' ')
        .next()
        .expect("a word")
        .parse()
        .expect("a time");
    let expected = cell.response.p99_ns.expect("enough requests").estimate / 1e6;
    assert!((p99 / expected - 1.0).abs() < 1e-3, "{said}");
    assert!(
        said.contains("over 64 connections") && said.contains("; no errors."),
        "{said}"
    );
}

#[test]
fn what_limits_the_figures_stands_beside_them_in_every_text() {
    for (run, part) in [
        (load::stalling(30), "540 timeout and 120 reset"),
        (
            load::sweep(10),
            "The generator was the limit, not the server",
        ),
        (load::refusing(10), "100 %"),
    ] {
        for format in [
            Format::Terminal,
            Format::Markdown,
            Format::Html,
            Format::Json,
        ] {
            let text = words(&text(format, &run));
            let found = text.matches(part).count();
            assert!(found > 0, "{}: {part}", format.name());
            let once = found == 1 || format == Format::Json;
            assert!(once, "{}: {part}, {found} times", format.name());
        }
    }
    let stalling = text(Format::Terminal, &load::stalling(30));
    let times = stalling.split("\nResponse time\n").nth(1).expect("times");
    let times = times.split("\n\n").next().expect("the table");
    assert!(
        times.contains("failed") && times.contains("660 (0.4%)"),
        "{times}"
    );
    let page = text(Format::Html, &load::stalling(30));
    let (alarm, table) = (page.find("box failed"), page.find("<table"));
    assert!(alarm.expect("an alarm") < table.expect("a table"));
    assert!(!text(Format::Html, &load::plain(10)).contains("box failed\""));
    let sweep = text(Format::Terminal, &load::sweep(10));
    assert!(
        sweep.contains("connections=256  35,800/s ±1.1% !"),
        "{sweep}"
    );
}

#[test]
fn nothing_served_is_no_fast_run() {
    let said = answer(&Report::new(&load::refusing(10), "f"));
    assert!(
        said.starts_with("Nothing was served: 12,000 errors."),
        "{said}"
    );
    assert!(
        !said.contains("Not compared"),
        "there is nothing to compare with"
    );
    let row = &rows(&load::refusing(10))[0];
    assert_eq!(
        (row["errors_connect"].as_str(), row["served"].as_str()),
        ("12000", "0")
    );
    assert_eq!(row["response_p50_ns"], "");
}

#[test]
fn who_is_ahead_is_computed_from_the_verdicts() {
    let forth = load::two(12);
    let mut back = forth.clone();
    // The servers change places.
    for slice in back.blocks.iter_mut().flat_map(|b| &mut b.slices) {
        slice.subject = 1 - slice.subject;
    }
    for (run, throughput, p99) in [(forth, "higher", "lower"), (back, "lower", "higher")] {
        let said = answer(&Report::new(&run, "f"));
        let verdicts = said.split("B against A: ").nth(1).expect("verdicts");
        assert!(
            verdicts.contains(&format!("throughput {throughput}, ")),
            "{said}"
        );
        assert!(verdicts.contains(&format!("p99 {p99}, ")), "{said}");
    }
    let same = load::two(3);
    let said = answer(&Report::new(&same, "f"));
    assert!(
        said.contains("throughput not decided"),
        "three blocks decide nothing: {said}"
    );
}

#[test]
fn the_rows_of_a_csv_are_the_figures() {
    let run = load::two(12);
    let analysis = analysis(&run);
    let rows = rows(&run);
    assert_eq!(rows.len(), 2);
    for (row, cell) in rows.iter().zip(&analysis.cells) {
        assert_eq!(row["served_low_per_s"].parse(), Ok(cell.served_per_s.low));
        let p999 = cell.response.p999_ns.expect("enough");
        assert_eq!(row["response_p999_high_ns"].parse(), Ok(p999.high));
        assert_eq!(
            row["response_max_ns"].parse(),
            Ok(cell.response.max_ns.expect("one"))
        );
        assert_eq!(row["connections"], "64");
        assert_eq!(row["server_threads"], "5");
        assert_eq!(row["status"], "measured");
    }
    let mut comparisons = analysis.comparisons.iter();
    let p99 = comparisons
        .find(|c| c.metric == Metric::P99)
        .expect("compared");
    assert_eq!(rows[1]["p99_ratio"].parse(), Ok(p99.ratio.estimate));
    assert_eq!(rows[1]["p99_verdict"], "faster");
    assert_eq!(
        (rows[0]["role"].as_str(), rows[0]["p99_ratio"].as_str()),
        ("baseline", "")
    );
    let columns = load_csv_columns();
    assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len());
    let families = self::rows(&load::families(10));
    assert_eq!(
        (families.len(), families[5]["subject"].as_str()),
        (6, "IPv6")
    );
}

#[test]
fn the_json_has_plan_and_analysis() {
    let run = load::stalling(30);
    let json: serde_json::Value = serde_json::from_str(&text(Format::Json, &run)).expect("JSON");
    assert_eq!(json["plan"]["load"]["arrivals"]["loop"], "open");
    assert!(json["analysis"].is_null());
    let cell = &json["load"]["cells"][0];
    assert_eq!(cell["errors"][0], serde_json::json!(["timeout", 540]));
    assert!(
        cell["response"]["p99_ns"]["high"].as_f64() > cell["service"]["p99_ns"]["high"].as_f64()
    );
    let (ordinary, _) = support::sample(2);
    let json: serde_json::Value =
        serde_json::from_str(&text(Format::Json, &ordinary)).expect("JSON");
    assert!(json.get("load").is_none(), "an ordinary run has none");
}

#[test]
fn the_page_is_whole_and_nothing_in_it_is_markup_from_a_run() {
    for run in all() {
        let html = text(Format::Html, &run);
        assert_page_is_whole(&html);
    }
}

#[test]
fn markdown_keeps_its_tables_whatever_a_name_holds() {
    let text = text(Format::Markdown, &load::hostile());
    assert_markdown_keeps_its_tables(&text);
}

#[test]
fn plots_show_percentiles_heat_and_course_or_scaling() {
    let names = |run: &Run| {
        let files = files(run);
        for file in &files {
            roxmltree::Document::parse(&file.text).expect("XML");
        }
        files.into_iter().map(|f| f.name).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&load::plain(10)),
        ["percentiles.svg", "heat.svg", "rate.svg"]
    );
    let two = ["percentiles.svg", "heat.svg", "rate.svg", "ratios.svg"];
    assert_eq!(names(&load::two(12)), two);
    let sweep = [
        "percentiles.svg",
        "heat.svg",
        "latency.svg",
        "throughput.svg",
    ];
    assert_eq!(names(&load::sweep(10)), sweep);
    assert_eq!(
        names(&load::hostile()).len(),
        3,
        "nothing is compared there"
    );
    assert!(names(&load::families(10)).contains(&"throughput.svg".to_string()));
}

#[test]
fn the_percentile_curve_has_waiting_and_service_apart() {
    let of = |run: &Run| {
        let file = files(run).into_iter().find(|f| f.name == "percentiles.svg");
        file.expect("the curve").text
    };
    let lines = |text: &str| text.matches("<polyline").count();
    let (open, closed) = (of(&load::stalling(30)), of(&load::plain(10)));
    assert!(open.contains("Dashed: the service time"));
    assert!(lines(&open) > lines(&closed) + 20, "dashes are many lines");
    for tick in ["50 %", "90 %", "99 %", "99.9 %", "99.99 %"] {
        assert!(open.contains(&format!("\n{tick}\n")), "{tick}");
    }
}

#[test]
fn the_workbook_has_numbers_as_numbers() {
    let sheets = |run: &Run| {
        let report = Report::new(run, "f");
        match render(Format::Xlsx, &report, Terminal::default()) {
            Ok(Rendered::Bytes(bytes)) => {
                open_workbook_from_rs::<Xlsx<_>, _>(Cursor::new(bytes)).expect("a workbook")
            }
            other => panic!("not bytes: {other:?}"),
        }
    };
    let plain = sheets(&load::plain(10));
    assert_eq!(
        plain.sheet_names(),
        [
            "Summary",
            "Figures",
            "Percentiles",
            "Over time",
            "Conditions"
        ]
    );
    let mut sweep = sheets(&load::sweep(10));
    assert!(sweep.sheet_names().contains(&"Scaling".to_string()));
    let figures = sweep.worksheet_range("Figures").expect("figures");
    assert_eq!(figures.height(), 1 + load::CONNECTIONS.len());
    let number = |cell: &Data| matches!(cell, Data::Float(_) | Data::Int(_));
    assert!(
        figures
            .rows()
            .skip(1)
            .all(|row| row[2..13].iter().all(number))
    );
    let mut two = sheets(&load::two(12));
    let compared = two.worksheet_range("Compared").expect("comparisons");
    assert_eq!(compared.height(), 1 + Metric::IN_TURNS.len());
    assert!(compared.rows().skip(1).all(|row| number(&row[3])));
}

#[test]
fn a_history_has_the_throughput_of_load_runs() {
    let run = load::two(12);
    let past = Past::new(&run, &HashMap::new()).expect("a load run");
    let text = render_history(Format::Csv, "load", &[past], &[], Terminal::default());
    let text = text.expect("a history");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let row: HashMap<String, String> = reader.deserialize().next().expect("B").expect("a row");
    let mut comparisons = analysis(&run).comparisons.into_iter();
    let throughput = comparisons
        .find(|c| c.metric == Metric::Throughput)
        .expect("compared");
    assert_eq!(row["ratio"].parse(), Ok(throughput.ratio.estimate));
    let rate = analysis(&run).cells[0].served_per_s.estimate;
    let ns: f64 = row["baseline_wall_ns"].parse().expect("a time");
    assert!(
        (ns * rate / 1e9 - 1.0).abs() < 1e-9,
        "the time per request served"
    );
    let second = &analysis(&run).cells[1];
    let p99: f64 = row["p99_ns"].parse().expect("a time");
    assert_eq!(p99, second.response.p99_ns.expect("known").estimate);
    let errors: u64 = second.errors.iter().map(|(_, n)| n).sum();
    assert_eq!(row["failed"], errors.to_string());
    let shown = render_history(
        Format::Terminal,
        "load",
        &[Past::new(&run, &HashMap::new()).expect("a load run")],
        &[],
        Terminal::default(),
    );
    let shown = shown.expect("a history");
    assert!(
        shown.contains(" p99 ") && shown.contains(" errors "),
        "{shown}"
    );
}

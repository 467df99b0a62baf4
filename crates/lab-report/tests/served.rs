// SPDX-License-Identifier: Apache-2.0
//! Reports of servers that the lab started: the conclusion is what the verdicts say, a failure is shown as
//! one, an equivalent is no winner, and nothing is said of rates that are the generator's.

mod support;

use calamine::{Data, Reader, Xlsx, open_workbook_from_rs};
use lab_model::{Ending, Run};
use lab_report::{
    Error, File, Format, Past, Rendered, Report, Terminal, answer, render, render_history,
    served_csv_columns,
};
use lab_stats::analysis::Verdict;
use lab_stats::load::analysis::{LoadAnalysis, LoadOverall, Metric};
use std::collections::{BTreeSet, HashMap};
use std::io::Cursor;
use std::sync::LazyLock;
use support::page::{assert_markdown_keeps_its_tables, assert_page_is_whole};
use support::served::{Wanted, failing, hostile, run, small};
use unicode_width::UnicodeWidthStr;

/// Twelve blocks of six servers.
static SMALL: LazyLock<Run> = LazyLock::new(|| run(&small(12)));

/// The same, of which one failed the proof.
static FAILING: LazyLock<Run> = LazyLock::new(|| failing(SMALL.clone(), "go"));

/// As many servers and cases as the experiment has, of which fewer points tell as much here.
static WHOLE: LazyLock<Run> = LazyLock::new(|| {
    let wanted = Wanted {
        blocks: 3,
        connections: vec![1, 64],
        ..Wanted::default()
    };
    failing(run(&wanted), "java-jdk")
});

/// Reports of runs of every kind, each analysed once.
static ALL: LazyLock<Vec<Report<'static>>> = LazyLock::new(|| {
    let unfinished = Run {
        ending: None,
        ..run(&small(0))
    };
    let runs = [
        SMALL.clone(),
        FAILING.clone(),
        WHOLE.clone(),
        hostile(),
        run(&small(1)),
        unfinished,
    ];
    let report = |run: Run| Report::new(Box::leak(Box::new(run)), "runs/some.lab");
    runs.into_iter().map(report).collect()
});

fn text_of(format: Format, report: &Report) -> String {
    match render(format, report, Terminal::default()) {
        Ok(Rendered::Text(text)) => text,
        other => panic!("{} is not a text: {other:?}", format.name()),
    }
}

fn text(format: Format, run: &Run) -> String {
    text_of(format, &Report::new(run, "runs/some.lab"))
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

fn said(run: &Run) -> String {
    answer(&Report::new(run, "f"))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn rows(run: &Run) -> Vec<HashMap<String, String>> {
    let text = text(Format::Csv, run);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().expect("headers"), served_csv_columns());
    let rows = reader.deserialize();
    rows.map(|row| row.expect("a row")).collect()
}

fn id(run: &Run, name: &str) -> usize {
    let plan = run.plan.as_ref().expect("a plan");
    let found = plan.subjects.iter().position(|s| s.name == name);
    found.expect("a server of that name")
}

/// A server's costs over all cases and connections that are kept alive.
fn overall(run: &Run, name: &str) -> LoadOverall {
    let subject = id(run, name);
    let overall = analysis(run).overall.into_iter();
    let mut mine = overall.filter(|o| o.subject == subject && o.keep_alive && o.case.is_none());
    mine.next().expect("compared")
}

/// A run in which a server costs just what another does, give or take so much.
fn twin(mut run: Run, name: &str, other: &str, scatter: f64) -> Run {
    let (other, twin) = (id(&run, other), id(&run, name));
    for (number, block) in run.blocks.iter_mut().enumerate() {
        let own = block.slices.iter().filter(|s| s.subject == other);
        let own: HashMap<_, _> = own
            .map(|s| {
                (
                    (s.point, s.pass),
                    s.server_cpu_ns.unwrap_or(0) as f64 / s.served as f64,
                )
            })
            .collect();
        let luck = 1.0 + scatter * (number as f64 * 2.4).sin();
        for slice in block.slices.iter_mut().filter(|s| s.subject == twin) {
            let cost = own[&(slice.point, slice.pass)] * luck;
            slice.server_cpu_ns = Some((cost * slice.served as f64) as u64);
        }
    }
    run
}

#[test]
fn terminal_lines_fit_eighty_columns_and_move_no_cursor() {
    for report in ALL.iter() {
        let text = text_of(Format::Terminal, report);
        for line in text.lines() {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
        assert!(!text.contains(['\x1b', '\x07', '\u{202e}']));
    }
    let whole = text_of(Format::Terminal, &ALL[2]);
    assert!(
        whole.lines().count() < 220,
        "{} lines",
        whole.lines().count()
    );
    let tables = whole
        .lines()
        .filter(|line| line.starts_with("server  "))
        .count();
    assert_eq!(tables, 5, "no table goes on below: {whole}");
}

#[test]
fn every_format_has_every_run_but_xml_says_that_it_cannot() {
    for report in ALL.iter() {
        for format in Format::ALL {
            match (format, render(format, report, Terminal::default())) {
                (Format::Xml, Err(Error::NoLoad(_))) => {}
                (Format::Xml, other) => panic!("XML has no form for it: {other:?}"),
                (_, rendered) => drop(rendered.expect("a report")),
            }
        }
    }
}

#[test]
fn the_conclusion_says_what_the_ratios_are() {
    let said = said(&SMALL);
    // Twice the CPU time of a request is half the requests for a CPU second.
    let go = overall(&SMALL, "go");
    assert_eq!(go.verdict, Verdict::Slower);
    let behind = said
        .split("ada-server serves ")
        .nth(1)
        .expect("those behind");
    let clause = behind.split(" as go").next().expect("go");
    let last = clause.rsplit("and ").next().expect("its figures");
    let figure = last.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    let off = figure.expect("a number") / go.ratio.estimate - 1.0;
    assert!(off.abs() < 1e-3, "{last} of {said}");
    let c = overall(&SMALL, "c");
    assert_eq!(c.verdict, Verdict::Faster);
    let most = "most are served by c, which shows what the machine allows: ";
    let ahead = said.split(most).nth(1).expect("the limit is first");
    assert!(
        ahead.starts_with(&format!("{:.2}", 1.0 / c.ratio.estimate)),
        "{said}"
    );
    let low = format!("({:.2}", 1.0 / c.ratio.high);
    assert!(
        ahead.contains(&low),
        "the bounds change places: {low} in {said}"
    );
    assert!(
        said.contains("By case, first besides the limit: ada-embedded"),
        "{said}"
    );
    let memory = "After the load over 512 connections ada-server holds 3.0";
    assert!(said.contains(memory), "{said}");
    assert!(said.contains("It costs ada-server 3."), "{said}");
}

#[test]
fn an_equivalent_is_no_winner() {
    let run = twin(SMALL.clone(), "ada-rest", "ada-server", 0.002);
    assert_eq!(overall(&run, "ada-rest").verdict, Verdict::Equivalent);
    let text = said(&run);
    let cpu = text
        .split("Requests per second: ")
        .next()
        .expect("the CPU time");
    assert!(
        cpu.contains("Equivalent to ada-server within 2 %: ada-rest."),
        "{cpu}"
    );
    let others = cpu.replace("Equivalent to ada-server within 2 %: ada-rest.", "");
    assert!(
        !others.contains("ada-rest"),
        "it is neither ahead nor behind: {others}"
    );
    let terminal = text_of_row(&run, "ada-rest");
    assert!(terminal.contains('='), "{terminal}");
    // So noisy that the interval neither excludes 1 nor fits into the margin.
    let noisy = twin(SMALL.clone(), "ada-rest", "ada-server", 0.2);
    assert!(matches!(
        overall(&noisy, "ada-rest").verdict,
        Verdict::Inconclusive { .. }
    ));
    let said = said(&noisy);
    assert!(said.contains("Not decided: ada-rest"), "{said}");
}

#[test]
fn who_cannot_be_told_apart_is_first_together() {
    let two = said(&twin(SMALL.clone(), "ada-embedded", "c", 0.002));
    let together = "most are served by these, which are not told apart: ";
    let names = two.split(together).nth(1).expect("two are first");
    let names = names.split(" times as many").next().expect("their names");
    assert!(
        names.contains("ada-embedded") && names.contains("c, which shows"),
        "{two}"
    );
    assert!(!two.contains("Also ahead"), "{two}");
    // Nobody is ahead, and one is equal.
    let mut run = SMALL.clone();
    for name in ["c", "ada-embedded", "ada-rest"] {
        run = twin(run, name, "ada-server", 0.002);
    }
    let said = said(&run);
    let equal =
        "most are served by ada-server, and by those that are equivalent to it within 2 %: ";
    assert!(said.contains(equal), "{said}");
    // The limit is no rival.
    let first =
        "By case, first besides the limit: ada-server, ada-embedded and ada-rest (not told apart)";
    assert!(said.contains(first), "{said}");
}

/// The row of a server in the table of costs.
fn text_of_row(run: &Run, name: &str) -> String {
    let text = text(Format::Terminal, run);
    let table = text
        .split("What a request costs, and what is served")
        .nth(1)
        .expect("a table");
    let mut lines = table.lines();
    lines
        .find(|line| line.starts_with(&format!("{name} ")))
        .expect("a row")
        .to_string()
}

#[test]
fn few_blocks_name_no_winner() {
    for blocks in 1..=4 {
        let said = said(&run(&small(blocks)));
        let none = "no server is shown to serve more than ada-server";
        assert!(said.contains(none), "{said}");
        let winners = ["most are served by", "ada-server serves", "By case, first"];
        assert!(
            winners.iter().all(|winner| !said.contains(winner)),
            "{said}"
        );
        let limit = format!("there are {blocks}");
        assert!(said.contains(&limit), "{said}");
        assert!(
            !said.contains("no interval"),
            "what has none is not said: {said}"
        );
    }
}

#[test]
fn what_is_not_installed_has_not_failed() {
    let mut run = failing(SMALL.clone(), "go");
    run.failures[0].kind = "missing".into();
    run.failures[0].message = "not here: its library".into();
    let said = said(&run);
    assert!(said.contains("Not on this machine: go."), "{said}");
    assert!(!said.contains("Failed, and not compared"), "{said}");
    assert!(text(Format::Terminal, &run).contains("not here"));
}

#[test]
fn a_server_that_failed_the_proof_is_shown_with_what_was_said_and_is_nowhere_ahead() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = words(&text(format, &FAILING))
            .replace('\\', "")
            .replace("&gt;", ">")
            .replace("&lt;", "<");
        for part in [
            "DELETE /api: status 404 in place of 405",
            "> DELETE /api HTTP/1.1",
            "< 404 [(",
            "failed: proof",
        ] {
            assert!(text.contains(part), "{}: {part}", format.name());
        }
    }
    let said = said(&FAILING);
    assert!(
        said.contains("Failed, and not compared: go (proof: DELETE /api"),
        "{said}"
    );
    assert_eq!(said.matches("go").count(), 1, "{said}");
    let go = id(&FAILING, "go");
    let analysis = analysis(&FAILING);
    assert!(analysis.comparisons.iter().all(|c| c.subject != go));
    assert!(analysis.footprints.iter().all(|f| f.subject != go));
    for row in rows(&FAILING).iter().filter(|row| row["subject"] == "go") {
        assert_eq!(
            (row["status"].as_str(), row["served"].as_str()),
            ("failed", "")
        );
    }
}

#[test]
fn a_rate_that_is_the_generators_is_marked_and_compared_with_nobody_who_is_its_equal() {
    let mut run = SMALL.clone();
    let (rust, c) = (id(&run, "ada-rest"), id(&run, "c"));
    for slice in run.blocks.iter_mut().flat_map(|b| &mut b.slices) {
        if slice.lag.0.is_empty()
            && (slice.subject == c || slice.subject == rust || slice.subject == 0)
        {
            slice.busiest_cpu_ns = slice.wall_ns * 97 / 100;
        }
    }
    let analysis = analysis(&run);
    let rates = analysis
        .comparisons
        .iter()
        .filter(|c| c.metric == Metric::Throughput);
    assert!(rates.clone().all(|r| r.subject != rust && r.subject != c));
    assert!(
        rates.clone().any(|r| r.verdict == Verdict::Slower),
        "who is behind even so"
    );
    let costs = analysis
        .comparisons
        .iter()
        .filter(|c| c.metric == Metric::ServerCpu);
    assert!(
        costs.into_iter().any(|r| r.subject == c),
        "its CPU time is the server's"
    );
    let terminal = text(Format::Terminal, &run);
    assert!(
        terminal.contains("! The generator was the limit there"),
        "{terminal}"
    );
    assert!(text_of_row(&run, "c (limit)").contains('!'));
    let said = said(&run);
    assert!(said.contains("where the generator was the limit"), "{said}");
    // Of the law only what is left of the points.
    let why = analysis.scalings.iter().find(|s| s.subject == c);
    assert!(why.is_none_or(|s| s.law.is_none()));
}

#[test]
fn the_page_says_how_the_cores_were_split_and_what_was_proven() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = words(&text(format, &SMALL)).replace('\\', "");
        for part in [
            "generator and server share the machine: the server has 1 core, the generator 1 core of its own",
            "166 answers each",
            "405 with Allow",
            "at 50 % of each server's own peak",
        ] {
            assert!(text.contains(part), "{}: {part}", format.name());
        }
    }
    let mut shared = SMALL.clone();
    for setting in &mut shared.settings {
        if setting.key == "generator cores" {
            (setting.key, setting.value) = ("cores shared".into(), "yes".into());
        }
    }
    assert!(said(&shared).contains("Generator and server shared the only core"));
}

#[test]
fn the_rows_of_a_csv_are_the_figures() {
    let rows = rows(&SMALL);
    let plan = SMALL.plan.as_ref().expect("a plan");
    assert_eq!(rows.len(), plan.subjects.len() * plan.points.len());
    let analysis = analysis(&SMALL);
    let of = |subject: &'static str, open: bool| {
        let load = if open { "open" } else { "closed" };
        rows.iter()
            .filter(move |row| row["subject"] == subject && row["load"] == load)
    };
    for row in of("go", false) {
        assert!(row["p99_ratio"].is_empty() && !row["server_cpu_ratio"].is_empty());
        assert!(row["part_of_peak"].is_empty());
        assert_eq!((row["workers"].as_str(), row["loops"].as_str()), ("0", "1"));
    }
    for row in of("go", true) {
        assert!(row["time_per_request_ratio"].is_empty() && row["server_cpu_ratio"].is_empty());
        assert!(!row["p99_ratio"].is_empty(), "latency is compared there");
        assert!(["0.25", "0.5", "0.75"].contains(&row["part_of_peak"].as_str()));
    }
    let print = analysis
        .footprints
        .iter()
        .find(|f| f.subject == id(&SMALL, "go"));
    let ratio = print.and_then(|f| f.ratio).expect("a ratio");
    let row = of("go", false).next().expect("a row");
    assert_eq!(row["memory_ratio"].parse(), Ok(ratio.estimate));
    assert_eq!(
        (row["cold_ns"].as_str(), row["warm_up"].as_str()),
        ("420000", "flat")
    );
    let roles: BTreeSet<&str> = rows.iter().map(|row| row["role"].as_str()).collect();
    assert_eq!(
        roles,
        BTreeSet::from(["baseline", "control", "limit", "subject"])
    );
    let columns = served_csv_columns();
    assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len());
}

#[test]
fn the_json_has_what_the_conclusion_rests_on() {
    let json: serde_json::Value = serde_json::from_str(&text(Format::Json, &SMALL)).expect("JSON");
    let load = &json["load"];
    for list in [
        "cells",
        "comparisons",
        "controls",
        "overall",
        "reconnects",
        "footprints",
    ] {
        assert!(!load[list].as_array().expect("a list").is_empty(), "{list}");
    }
    assert_eq!(json["plan"]["load"]["serving"]["workers"], 8);
    assert_eq!(json["answer"].as_str().expect("an answer"), said(&SMALL));
    let go = overall(&SMALL, "go").ratio.estimate;
    let overall = load["overall"].as_array().expect("a list").iter();
    let mut mine = overall.filter(|o| o["subject"] == id(&SMALL, "go") && o["case"].is_null());
    let found = mine.next().expect("go")["ratio"]["estimate"].as_f64();
    assert!((found.expect("a number") / go - 1.0).abs() < 1e-12);
}

#[test]
fn the_page_is_whole_and_nothing_in_it_is_markup_from_a_run() {
    for report in ALL.iter() {
        let html = text_of(Format::Html, report);
        assert_page_is_whole(&html);
    }
}

#[test]
fn markdown_keeps_its_tables_whatever_a_name_holds() {
    let text = text(Format::Markdown, &hostile());
    assert_markdown_keeps_its_tables(&text);
}

#[test]
fn each_case_has_its_plots_and_every_server_its_line() {
    let files = files(&WHOLE);
    for file in &files {
        roxmltree::Document::parse(&file.text).expect("XML");
    }
    let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(
        names[..3],
        ["memory.svg", "costs.svg", "throughput-json.svg"]
    );
    for case in ["json", "json-built", "route", "echo", "static-64k"] {
        for plot in ["throughput", "latency"] {
            assert!(
                names.contains(&format!("{plot}-{case}.svg").as_str()),
                "{plot} of {case}"
            );
        }
    }
    let rates = &files[2].text;
    for name in ["ada-server", "c (limit)", "java-tomcat", "python"] {
        assert!(rates.contains(&format!("\n{name}\n")), "{name}");
    }
    assert!(!rates.contains("\njava-jdk\n"), "it was not measured");
    // Servers of one language have one colour, and dashes of their own.
    let widths = ["stroke-width=\"8\"", "stroke-width=\"13\""];
    let lines = rates.lines().filter(|line| line.starts_with("<polyline"));
    let lines = lines.filter(|line| widths.iter().any(|width| line.contains(width)));
    assert_eq!(lines.count(), 13, "a line for each server");
    assert!(rates.matches("stroke-dasharray").count() >= 5);
}

#[test]
fn the_workbook_has_numbers_as_numbers() {
    let report = Report::new(&FAILING, "f");
    let Ok(Rendered::Bytes(bytes)) = render(Format::Xlsx, &report, Terminal::default()) else {
        panic!("not bytes");
    };
    let mut book: Xlsx<_> = open_workbook_from_rs(Cursor::new(bytes)).expect("a workbook");
    let expected = [
        "Summary",
        "Servers",
        "Costs",
        "Throughput",
        "Response time",
        "Figures",
        "Compared",
        "Conditions",
    ];
    assert_eq!(book.sheet_names(), expected);
    let number = |cell: &Data| matches!(cell, Data::Float(_) | Data::Int(_));
    let servers = book.worksheet_range("Servers").expect("the servers");
    let row = servers
        .rows()
        .find(|row| row[0] == Data::String("rust".into()));
    assert!(row.is_none(), "six servers");
    let row = servers
        .rows()
        .find(|row| row[0] == Data::String("ada-embedded".into()));
    let row = row.expect("a server");
    assert!(row[4..14].iter().all(number), "{row:?}");
    let failed = servers
        .rows()
        .find(|row| row[0] == Data::String("go".into()));
    let failed = failed.expect("it is in the list");
    assert_eq!(failed[19], Data::String("failed: proof".into()));
    let figures = book.worksheet_range("Figures").expect("figures");
    assert_eq!(figures.height(), 1 + analysis(&FAILING).cells.len());
    let compared = book.worksheet_range("Compared").expect("comparisons");
    assert!(compared.rows().skip(1).all(|row| number(&row[6])));
}

#[test]
fn a_history_has_the_costs_case_by_case() {
    let mut later = SMALL.clone();
    later.name = "20261122-101500-rest.lab".into();
    later.started_unix_s += 86_400.0;
    let past = |run: &Run| Past::new(run, &HashMap::new()).expect("a run");
    let runs = [past(&SMALL), past(&later)];
    let history = |format| {
        render_history(format, "rest", &runs, &[], Terminal::default()).expect("a history")
    };
    let text = history(Format::Terminal);
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    let table = text
        .split("go, CPU time of a request / ada-server's")
        .nth(1)
        .expect("go");
    let heading = table.lines().nth(1).expect("a heading");
    assert!(
        heading.contains("json") && heading.contains("json_built"),
        "{heading}"
    );
    assert_eq!(
        table
            .lines()
            .skip(2)
            .take_while(|line| !line.is_empty())
            .count(),
        2
    );
    let csv = history(Format::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<HashMap<String, String>> = reader
        .deserialize()
        .map(|row| row.expect("a row"))
        .collect();
    // Two runs of four servers beside the baseline and its copy, in two cases.
    assert_eq!(rows.len(), 2 * 4 * 2);
    let go = rows
        .iter()
        .find(|row| row["subject"] == "go" && row["case"] == "json");
    let ratio: f64 = go.expect("go")["ratio"].parse().expect("a ratio");
    let overall = analysis(&SMALL).overall.into_iter();
    let mut json =
        overall.filter(|o| o.subject == id(&SMALL, "go") && o.case == Some(0) && o.keep_alive);
    assert_eq!(ratio, json.next().expect("go").ratio.estimate);
}

#[test]
fn a_run_that_goes_on_is_shown_as_far_as_it_is() {
    let mut going = run(&small(2));
    going.ending = None;
    assert!(said(&going).contains("The run has not ended"));
    going.ending = Some(Ending::Interrupted);
    assert!(said(&going).contains("was stopped by hand"));
}

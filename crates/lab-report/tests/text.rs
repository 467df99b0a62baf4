// SPDX-License-Identifier: Apache-2.0
//! The formats that are read as text: what they say, and that nothing from a run breaks their form.

mod support;

use lab_model::Run;
use lab_report::{CSV_COLUMNS, Format, JSON_FORMAT, Rendered, Terminal, answer, render};
use lab_stats::analysis::{Analysis, Verdict};
use unicode_width::UnicodeWidthStr;

fn text(format: Format, run: &Run, analysis: &Analysis, others: &[Run]) -> String {
    let report = support::report(run, analysis, others);
    match render(format, &report, Terminal::default()).expect("a report") {
        Rendered::Text(text) => text,
        other => panic!("{} is not a text: {other:?}", format.name()),
    }
}

/// A run in which every name that comes from outside tries to break the report.
fn hostile() -> (Run, Analysis) {
    let (mut run, mut analysis) = support::sample(12);
    let plan = run.plan.as_mut().expect("a plan");
    plan.subjects[2].name = "<script>alert(1)</script>".into();
    plan.subjects[3].name = format!("a name that goes on and on {}", "x".repeat(90));
    plan.subjects[4].name = "数据库 | *pipe* \"quoted\", comma".into();
    plan.subjects[5].name = "esc\x1b[31mape\nline".into();
    plan.title = "T </title><b> & \"t\"".into();
    plan.cases[2].work = format!("<img src=x onerror=alert(1)> {}", "word".repeat(60));
    run.failures[0]
        .log
        .push("</pre><script>log</script> \x07 ".into());
    run.failures[0].message = "m ".repeat(200);
    analysis.warnings[0].text = format!("<i>{}", "w".repeat(300));
    (run, analysis)
}

#[test]
fn terminal_lines_fit_eighty_columns_whatever_the_names() {
    for (run, analysis) in [
        support::sample(24),
        support::sample(3),
        support::sample(0),
        hostile(),
    ] {
        let text = text(Format::Terminal, &run, &analysis, &[support::imported()]);
        for line in text.lines() {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
        assert!(
            !text.contains('\x1b'),
            "no escape sequences unless asked for"
        );
    }
}

#[test]
fn a_table_of_the_real_experiment_is_not_split() {
    let (run, analysis) = support::sample(24);
    let text = text(Format::Terminal, &run, &analysis, &[]);
    let heads = text.lines().filter(|l| l.starts_with("ratio to c")).count();
    assert_eq!(heads, 3, "one ratio table for each of the three sweeps");
}

#[test]
fn colour_appears_when_asked_for_and_changes_no_word() {
    let (run, analysis) = support::sample(24);
    let report = support::report(&run, &analysis, &[]);
    let Ok(Rendered::Text(colour)) = render(
        Format::Terminal,
        &report,
        Terminal {
            width: 80,
            colour: true,
        },
    ) else {
        panic!("a text");
    };
    assert!(colour.contains("\x1b[1m") && colour.contains("\x1b[33m"));
    let plain = text(Format::Terminal, &run, &analysis, &[]);
    assert_eq!(without_escapes(&colour), plain);
}

fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or("").to_string();
    first
        + &parts
            .map(|p| p.split_once('m').map_or(p, |(_, rest)| rest))
            .collect::<String>()
}

#[test]
fn every_number_in_the_terminal_has_an_interval_or_says_that_it_is_single() {
    let (run, analysis) = support::sample(24);
    let text = text(Format::Terminal, &run, &analysis, &[support::imported()]);
    let ada = line(&text, "connect", "ada");
    assert!(
        ada.contains('±') && ada.contains('[') && ada.contains("equivalent"),
        "{ada}"
    );
    assert!(
        text.contains("single readings, without intervals"),
        "imported figures are marked"
    );
}

/// The first line that begins with a subject's name after a heading.
fn line<'t>(text: &'t str, heading: &str, subject: &str) -> &'t str {
    let after = text.lines().skip_while(|l| *l != heading);
    after
        .into_iter()
        .find(|l| l.starts_with(&format!("{subject} ")))
        .expect("the subject's line")
}

#[test]
fn failures_refusals_and_warnings_are_shown_with_their_reasons() {
    let (run, analysis) = support::sample(24);
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(format, &run, &analysis, &[]);
        let flat = text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace('\\', "");
        for part in [
            "timeout",
            "SQLITE",
            "cache",
            "-4000",
            "version is 3.40.1 in c",
        ] {
            assert!(flat.contains(part), "{}: {part}", format.name());
        }
        let failures = flat.matches("the process was ended").count();
        assert_eq!(failures, 1, "{}: a failure is told once", format.name());
    }
}

#[test]
fn the_answer_follows_the_verdicts() {
    let (run, mut analysis) = support::sample(24);
    let report = |analysis: &Analysis| answer(&support::report(&run, analysis, &[]));
    assert!(report(&analysis).contains("the order is ada, then apsw, then python, then java"));
    for comparison in &mut analysis.comparisons {
        comparison.verdict = Verdict::Inconclusive {
            blocks_needed: None,
        };
    }
    let open = report(&analysis);
    assert!(open.contains("(21 points: 21 inconclusive)"), "{open}");
    assert!(
        !open.contains("faster") && !open.contains("slower"),
        "no winner without a verdict: {open}"
    );
    let width = analysis.overall[0].ratio.high * 3.0;
    analysis
        .overall
        .iter_mut()
        .for_each(|o| o.ratio.high = width);
    assert!(report(&analysis).contains("a tie"));
    analysis.controls[0].met = false;
    assert!(report(&analysis).contains("noise floor was not met at 1 of 21 points"));
}

#[test]
fn few_blocks_no_blocks_and_imports_alone_are_said_to_be_so() {
    let (run, analysis) = support::sample(3);
    let few = text(Format::Terminal, &run, &analysis, &[]);
    assert!(
        few.contains("3 blocks are too few for intervals of 95.62 %") && few.contains("first look"),
        "{few}"
    );
    let (run, analysis) = support::sample(0);
    assert!(text(Format::Terminal, &run, &analysis, &[]).contains("There is no answer yet"));
    let imported = support::imported();
    let text = text(Format::Terminal, &imported, &Analysis::default(), &[]);
    assert!(
        text.contains("SELECT 1") && text.contains("no intervals"),
        "{text}"
    );
}

#[test]
fn every_format_takes_every_run() {
    let imported = support::imported();
    let none = Analysis::default();
    for (run, analysis) in [
        &support::sample(24),
        &support::sample(0),
        &hostile(),
        &(imported, none),
    ] {
        for format in Format::ALL {
            let report = support::report(run, analysis, &[]);
            render(format, &report, Terminal::default())
                .unwrap_or_else(|e| panic!("{}: {e}", format.name()));
        }
    }
}

#[test]
fn csv_is_tidy_and_has_the_numbers_of_the_analysis() {
    let (run, analysis) = hostile();
    let text = text(Format::Csv, &run, &analysis, &[support::imported()]);
    let rows = support::csv_rows(&text);
    let plan = run.plan.as_ref().expect("a plan");
    assert_eq!(rows.len(), plan.subjects.len() * plan.points.len() + 4);
    let cell = &analysis.cells[2];
    let row = &rows[cell.point * plan.subjects.len() + cell.subject];
    assert_eq!(row["subject"], plan.subjects[cell.subject].name);
    assert_eq!(row["wall_ns"].parse::<f64>(), Ok(cell.wall_ns.estimate));
    assert_eq!(
        row["whole_cpu_high_ns"].parse::<f64>(),
        Ok(cell.whole_cpu_ns.high)
    );
    let failed = &rows[18 * plan.subjects.len() + 3];
    assert_eq!(
        (failed["status"].as_str(), failed["wall_ns"].as_str()),
        ("failed", "")
    );
    assert_eq!(rows[5]["status"], "refused");
    assert_eq!(rows[5]["ratio"], "", "no ratio without the same work");
    let imported = rows.last().expect("the last row");
    assert_eq!(
        (
            imported["status"].as_str(),
            imported["wall_low_ns"].as_str()
        ),
        ("imported", "")
    );
}

#[test]
fn json_has_its_format_and_the_numbers_of_the_analysis() {
    let (run, analysis) = support::sample(24);
    let text = text(Format::Json, &run, &analysis, &[support::imported()]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["format"], JSON_FORMAT);
    assert_eq!(json["plan"]["subjects"][2]["name"], "ada");
    assert_eq!(
        json["analysis"]["cells"][0]["wall_ns"]["estimate"],
        analysis.cells[0].wall_ns.estimate
    );
    assert_eq!(
        json["analysis"]["comparisons"][0]["verdict"]["verdict"],
        "equivalent"
    );
    assert_eq!(json["imports"][1]["language"], "Python");
    assert_eq!(json["imports"][1]["run"], "20180914-old.lab");
    assert!(text.len() < 2_000_000, "samples stay in the run file");
}

#[test]
fn markdown_tables_keep_their_columns_whatever_the_names() {
    let (run, analysis) = hostile();
    let text = text(Format::Markdown, &run, &analysis, &[]);
    // Log lines are code: six spaces within an item of a list.
    let prose = text.lines().filter(|l| !l.starts_with("      "));
    for line in prose {
        assert!(
            !line.replace("\\<", "").contains('<') || line.contains("<br>"),
            "no markup from names: {line}"
        );
    }
    let bars = |line: &str| {
        line.replace("\\\\", "")
            .replace("\\|", "")
            .matches('|')
            .count()
    };
    let mut expected = None;
    for line in text.lines() {
        match (line.starts_with('|'), expected) {
            (true, None) => expected = Some(bars(line)),
            (true, Some(n)) => assert_eq!(bars(line), n, "{line}"),
            (false, _) => expected = None,
        }
    }
}

/// The columns, the schema's names and the attributes that docs/reports.md lists are the real ones.
#[test]
fn the_documentation_lists_what_there_is() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reports.md");
    let docs = std::fs::read_to_string(path).expect("docs/reports.md");
    let listed = |heading: &str| -> Vec<String> {
        let section = docs
            .split(heading)
            .nth(1)
            .unwrap_or_else(|| panic!("no section {heading}"));
        let rows = section
            .lines()
            .skip(1)
            .take_while(|l| !l.starts_with("## "))
            .filter(|l| l.starts_with("| `"));
        let names = rows
            .filter_map(|l| l.split('|').nth(1))
            .flat_map(|c| c.split(','));
        names
            .map(|n| n.trim().trim_matches('`').to_string())
            .collect()
    };
    assert_eq!(listed("## CSV"), CSV_COLUMNS);
    let (run, analysis) = support::sample(3);
    let json: serde_json::Value =
        serde_json::from_str(&text(Format::Json, &run, &analysis, &[])).expect("JSON");
    let mut names: Vec<&String> = json.as_object().expect("an object").keys().collect();
    let mut documented = listed("## JSON");
    names.sort();
    documented.sort();
    assert_eq!(documented.iter().collect::<Vec<_>>(), names);
    let formats: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
    assert_eq!(listed("## Formats"), formats);
}

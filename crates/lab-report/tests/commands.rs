// SPDX-License-Identifier: Apache-2.0
//! Comparisons of whole commands: what is said for each verdict, that every format fits them, and
//! that nothing from a command line breaks its form.

mod support;

use calamine::{Data, Reader, Xlsx, open_workbook_from_rs};
use lab_model::Run;
use lab_report::{Format, Rendered, Report, Terminal, answer, estimate_line, render, xlsx};
use lab_stats::analysis::{Analysis, Interval, Verdict};
use scraper::{Html, Selector};
use std::io::Cursor;
use support::commands::{self, Model, command, overhead};
use unicode_width::UnicodeWidthStr;

fn report<'a>(run: &'a Run, analysis: &'a Analysis) -> Report<'a> {
    Report {
        file: "runs/20261121-101500-sort.lab",
        ..support::report(run, analysis, &[])
    }
}

fn text(format: Format, (run, analysis): &(Run, Analysis)) -> String {
    match render(format, &report(run, analysis), Terminal::default()).expect("a report") {
        Rendered::Text(text) => text,
        other => panic!("{} is not a text: {other:?}", format.name()),
    }
}

/// Text with single spaces, so that it does not matter where lines are broken.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Two commands of which the second got this ratio and verdict.
fn decided(verdict: Verdict, low: f64, estimate: f64, high: f64) -> (Run, Analysis) {
    let (run, mut analysis) = commands::two(1.0, 12);
    let comparison = &mut analysis.comparisons[0];
    comparison.verdict = verdict;
    comparison.ratio = Interval {
        estimate,
        low,
        high,
        level: analysis.level,
    };
    (run, analysis)
}

/// A run in which every text that comes from outside tries to break the report.
fn hostile() -> (Run, Analysis) {
    let (mut run, _) = commands::three(12);
    let plan = run.plan.as_mut().expect("a plan");
    let lines = [
        format!("echo {}", "x".repeat(10_000)),
        "printf '\x1b[31m\r\n\x07' | <script>alert(1)</script> \u{202e}".to_string(),
        "数据库 | *pipe* \"quoted\", `code` </td>\nsecond line".to_string(),
    ];
    for (subject, line) in plan.subjects.iter_mut().zip(lines) {
        let command = subject.command.as_mut().expect("a command");
        command.folder = Some("</td><img src=x onerror=alert(1)>\x1b[2J".into());
        command.revision = Some("\x1b]0;title\x07<b>".repeat(20));
        command.prepare = Some(vec!["rm".into(), "<i>\n".repeat(300)]);
        command.line = line;
    }
    plan.title = format!("</title><script>t</script>\x1b {}", "t".repeat(10_000));
    plan.subjects[0].name = "<script>alert(2)</script>".into();
    plan.subjects[1].name = format!("esc\x1b[31mape\r\n{}", "n".repeat(10_000));
    plan.subjects[4].program[0] = "<b>sh\x1b[0m".into();
    run.settings.push(lab_model::Setting {
        subject: 0,
        point: None,
        key: "<u>\x1b".into(),
        value: "v\n".repeat(5000),
    });
    run.failures.push(lab_model::Failure {
        subject: 2,
        point: None,
        block: None,
        kind: "<b>\x1b[1m".into(),
        message: "m".repeat(10_000),
        log: vec!["</pre><script>log</script>\x1b[5m".into()],
    });
    commands::analysed(run)
}

fn all_kinds() -> Vec<(Run, Analysis)> {
    vec![
        commands::two(0.92, 12),
        commands::two(1.0, 24),
        commands::two(1.1, 3),
        commands::two(1.1, 1),
        commands::two(1.1, 0),
        commands::three(12),
        commands::sweep(12),
        commands::sweep(2),
        commands::alone(12),
        commands::analysed(commands::run(&[command("A", "sort a.txt", 20.0)], &[], 12)),
        commands::failing(12),
        hostile(),
    ]
}

#[test]
fn lines_fit_eighty_columns_and_hold_no_control_characters() {
    for run in all_kinds() {
        let text = text(Format::Terminal, &run);
        for line in text.lines() {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
        assert!(!text.contains("\n\n\n"), "one empty line at a time: {text}");
        assert!(!text.contains('\u{202e}'), "no letters that turn the line");
    }
}

#[test]
fn colour_changes_no_word() {
    for (run, analysis) in all_kinds() {
        let report = report(&run, &analysis);
        let terminal = |colour| Terminal { width: 80, colour };
        let shown = |colour| match render(Format::Terminal, &report, terminal(colour)) {
            Ok(Rendered::Text(text)) => text,
            other => panic!("not a text: {other:?}"),
        };
        let colour = shown(true);
        let mut parts = colour.split('\x1b');
        let first = parts.next().unwrap_or_default().to_string();
        let rest = parts.map(|p| p.split_once('m').expect("an end").1);
        assert_eq!(first + &rest.collect::<String>(), shown(false));
    }
}

#[test]
fn every_verdict_has_its_sentence() {
    let small = |faster| Verdict::SmallButReal { faster };
    let open = |blocks_needed| Verdict::Inconclusive { blocks_needed };
    for (run, sentence) in [
        (
            decided(Verdict::Faster, 0.9132, 0.9234, 0.9337),
            "B is 1.083 (1.071 to 1.095) times as fast as A.",
        ),
        (
            decided(Verdict::Slower, 1.071, 1.083, 1.095),
            "B takes 1.083 (1.071 to 1.095) times as long as A.",
        ),
        (
            decided(Verdict::Equivalent, 0.995, 1.002, 1.009),
            "B and A are equivalent within 2 %: B takes 1.002 (0.995 to 1.009) times as long.",
        ),
        (
            decided(small(true), 0.987, 0.992, 0.997),
            "B is a little faster than A: 1.008 (1.003 to 1.013) times as fast, which may be less \
             than the margin of 2 %.",
        ),
        (
            decided(small(false), 1.003, 1.008, 1.0131),
            "B is a little slower than A: 1.008 (1.003 to 1.013) times as long, which may be less \
             than the margin of 2 %.",
        ),
        (
            decided(open(None), 0.97, 1.01, 1.05),
            "Not decided: B takes 1.01 (0.97 to 1.05) times as long as A; more time would hardly \
             decide it: let the commands do more work in one run, or allow a wider --margin.",
        ),
    ] {
        assert_eq!(answer(&report(&run.0, &run.1)), sentence);
        let terminal = flat(&text(Format::Terminal, &run));
        assert!(terminal.contains(sentence), "{terminal}");
        assert!(!terminal.contains("no difference"));
    }
}

/// The time that is asked for is that of the blocks: at 0.5 s each, 40 of them and a tenth more; with
/// every other block redone, twice that.
#[test]
fn what_is_not_decided_says_how_much_time_would_decide_it() {
    let open = Verdict::Inconclusive {
        blocks_needed: Some(40),
    };
    let (mut run, analysis) = decided(open, 0.97, 1.01, 1.05);
    for block in &mut run.blocks {
        block.duration_ns = 500_000_000;
    }
    run.started_unix_s = run.blocks[0].started_unix_s - 2.0;
    assert_eq!(
        answer(&report(&run, &analysis)),
        "Not decided: B takes 1.01 (0.97 to 1.05) times as long as A; about 40 blocks would \
         probably decide it: --for 25s."
    );
    let disturbed = run.blocks.iter().cloned().map(|block| lab_model::Block {
        state: lab_model::BlockState::Disturbed,
        ..block
    });
    let disturbed: Vec<_> = disturbed.collect();
    run.blocks.extend(disturbed);
    assert!(answer(&report(&run, &analysis)).ends_with("--for 50s."));
}

#[test]
fn a_control_and_revisions_are_shown() {
    let models = [
        command("main", "./prog", 20.0),
        command("HEAD", "./prog", 18.0),
        command("main-control", "./prog", 20.0),
    ];
    let mut run = commands::run(&models, &[], 12);
    let plan = run.plan.as_mut().expect("a plan");
    plan.subjects[2].control_of = Some(0);
    for (subject, letter) in plan.subjects.iter_mut().zip(["a", "b", "a"]) {
        let command = subject.command.as_mut().expect("a command");
        command.revision = Some(letter.repeat(40));
    }
    let run = commands::analysed(run);
    let text = text(Format::Terminal, &run);
    assert!(
        text.contains("HEAD          ./prog  (bbbbbbbbbbbb)"),
        "{text}"
    );
    let flat = flat(&text);
    assert!(flat.contains("The second copy of main takes "), "{text}");
    assert!(flat.contains("the noise floor is met."), "{text}");
    assert_eq!(text.matches("times as fast as").count(), 1, "{text}");
}

#[test]
fn few_blocks_name_the_level_that_they_have_and_no_winner() {
    let (run, analysis) = commands::two(1.5, 3);
    let answer = answer(&report(&run, &analysis));
    assert!(
        answer.starts_with("Not decided: B takes 1.") && answer.contains(" at 75 %) times"),
        "{answer}"
    );
    let warning = &analysis.warnings[0];
    assert_eq!(warning.kind, "few-blocks");
    assert!(warning.text.contains("--for "), "{}", warning.text);
    let (run, analysis) = commands::two(1.5, 1);
    let text = text(Format::Terminal, &(run, analysis));
    assert!(text.contains("have no interval yet"), "{text}");
}

#[test]
fn the_mean_is_told_where_it_has_another_winner() {
    let (run, mut analysis) = decided(Verdict::Faster, 0.9132, 0.9234, 0.9337);
    analysis.comparisons[0].disagree = true;
    analysis.comparisons[0].whole_ratio = Interval {
        estimate: 1.2,
        low: 1.1,
        high: 1.3,
        level: analysis.level,
    };
    let answer = answer(&report(&run, &analysis));
    assert!(
        answer.ends_with("In the mean over all runs it takes 1.20 (1.10 to 1.30) times as long: some runs take much longer than most."),
        "{answer}"
    );
}

#[test]
fn a_sweep_gives_the_mean_ratio_and_the_verdicts_by_point() {
    let run = commands::sweep(12);
    let text = text(Format::Terminal, &run);
    for part in [
        "time/run, ms",
        "ratio to A",
        "CPU/run, ms",
        "peak ",
        "per n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let answer = answer(&report(&run.0, &run.1));
    assert!(
        answer.starts_with("B is 1.") && answer.contains("times as fast as A overall: "),
        "{answer}"
    );
    assert!(answer.ends_with("faster at n=10 and n=100."), "{answer}");
}

#[test]
fn a_command_alone_has_levels_and_no_ratio() {
    let run = commands::alone(12);
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = text(format, &run);
        for word in [
            "ratio to",
            "and ratio",
            "baseline",
            "verdict",
            "? inconclusive",
        ] {
            assert!(!text.contains(word), "{}: {word}", format.name());
        }
    }
    let answer = answer(&report(&run.0, &run.1));
    assert!(
        answer.starts_with("A takes ") && answer.ends_with("µs more for each n."),
        "{answer}"
    );
}

#[test]
fn a_failed_command_is_named_with_its_reason_and_not_compared() {
    let run = commands::failing(12);
    let text = text(Format::Terminal, &run);
    for part in [
        "failed: exit",
        "it ended with status 2",
        "cannot open a.txt",
        "Failed, and not compared: B.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("times as"), "{text}");
    let none = commands::failing(0);
    let text = flat(&self::text(Format::Terminal, &none));
    assert!(
        text.contains("There is no answer yet") && text.contains("Failed, and not compared: B."),
        "{text}"
    );
    assert!(!text.contains("switches"), "no table without rows: {text}");
}

#[test]
fn what_starts_cost_is_shown_and_short_commands_are_warned_of() {
    let models = [
        command("A", "true-ish", 3.0),
        command("B", "longer", 30.0),
        Model {
            shell: true,
            ..command("C", "piped | piped", 8.0)
        },
        overhead("process start", &["true"], 0.5),
        overhead("shell", &["dash", "-c", ":"], 0.9),
    ];
    let run = commands::analysed(commands::run(&models, &[], 12));
    let short: Vec<&str> = run
        .1
        .warnings
        .iter()
        .filter(|w| w.kind == "short")
        .map(|w| w.text.as_str())
        .collect();
    assert_eq!(short.len(), 2, "{short:?}");
    assert!(short[0].starts_with("A takes ") && short[0].contains("starting a process is 0."));
    assert!(short[1].starts_with("C takes ") && short[1].contains("starting a shell is 0."));
    let text = text(Format::Terminal, &run);
    assert!(text.contains("C  piped | piped  (dash)"), "{text}");
    assert!(text.contains("dash itself takes 9") && text.contains("Starting a process that"));
    assert!(
        !text
            .lines()
            .any(|l| l.starts_with("shell") || l.starts_with("process start")),
        "what shows an overhead is no command: {text}"
    );
}

#[test]
fn another_status_than_0_is_told_where_it_counts() {
    let (mut run, _) = commands::two(1.1, 12);
    run.plan
        .as_mut()
        .expect("a plan")
        .commands
        .as_mut()
        .expect("commands")
        .ignore_failure = true;
    for exit in run.blocks.iter_mut().flat_map(|b| &mut b.exits) {
        exit.status = if exit.subject == 1 && exit.pass > 3 {
            7
        } else {
            0
        };
    }
    let text = text(Format::Terminal, &commands::analysed(run));
    assert!(text.contains("B ended with status 0 or 7."), "{text}");
}

#[test]
fn the_estimate_fits_its_line_and_needs_an_interval() {
    for (run, analysis) in all_kinds() {
        let line = estimate_line(&report(&run, &analysis));
        assert!(line.width() <= 60, "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    let line = |(run, analysis): (Run, Analysis)| estimate_line(&report(&run, &analysis));
    assert_eq!(line(commands::two(1.1, 0)), "");
    assert_eq!(line(commands::two(1.1, 1)), "");
    let few = line(commands::two(1.1, 3));
    assert!(
        few.starts_with("B takes 1.") && few.ends_with(" at 75 %) × A"),
        "{few}"
    );
    let enough = line(commands::two(1.1, 12));
    assert!(
        enough.starts_with("B takes 1.") && !enough.contains('%'),
        "{enough}"
    );
    assert_eq!(line(support::sample(12)), "", "only of commands");
}

#[test]
fn every_format_takes_every_run() {
    for (run, analysis) in all_kinds() {
        for format in Format::ALL {
            render(format, &report(&run, &analysis), Terminal::default())
                .unwrap_or_else(|e| panic!("{}: {e}", format.name()));
        }
    }
}

fn select(css: &str) -> Selector {
    Selector::parse(css).expect("a selector")
}

#[test]
fn the_page_speaks_of_runs_and_has_no_empty_columns() {
    for run in [
        commands::three(12),
        commands::sweep(12),
        commands::alone(12),
    ] {
        let document = Html::parse_document(&text(Format::Html, &run));
        let words: String = document.root_element().text().collect();
        let words = words + &text(Format::Markdown, &run);
        for word in [
            "per operation",
            "an operation",
            "language",
            "driver",
            "Warm-up",
        ] {
            assert!(!words.contains(word), "{word}");
        }
        for table in document.select(&select("table")) {
            let columns = table.select(&select("thead th")).count();
            for column in 2..=columns {
                let cells = select(&format!("tbody tr > :nth-child({column})"));
                let empty = table
                    .select(&cells)
                    .all(|cell| cell.text().collect::<String>().trim().is_empty());
                let head = select(&format!("thead th:nth-child({column})"));
                let title: String = table.select(&head).flat_map(|h| h.text()).collect();
                assert!(!empty || title.is_empty(), "column {title} is empty");
            }
        }
        for anchor in document.select(&select("nav a")) {
            let target = anchor.value().attr("href").expect("a target");
            assert_eq!(document.select(&select(target)).count(), 1, "{target}");
        }
    }
}

#[test]
fn the_page_shows_lines_uses_and_spread() {
    let run = commands::three(12);
    let document = Html::parse_document(&text(Format::Html, &run));
    let words: String = document.root_element().text().collect();
    for part in [
        "cat a.txt | sort > /dev/null",
        "What one run used",
        "involuntary switches",
        "sh itself takes",
        "In each of 12 blocks, the commands were run one after the other on the same core",
    ] {
        assert!(words.contains(part), "{part}");
    }
    let spread = select("svg[aria-labelledby^=distribution]");
    assert_eq!(document.select(&spread).count(), 1);
    for colour in ["#4A525C", "#0072B2", "#D55E00"] {
        let columns = select(&format!(
            "svg[aria-labelledby^=distribution] rect[fill='{colour}']"
        ));
        assert!(document.select(&columns).count() > 5, "{colour}");
    }
    for rect in document.select(&select("svg[aria-labelledby^=distribution] rect")) {
        let at = |name: &str| -> f64 {
            let value = rect.value().attr(name).expect("a place");
            value.parse().expect("a number")
        };
        assert!(at("x") >= 0.0 && at("x") + at("width") <= 760.0 * 4.0);
    }
}

#[test]
fn what_comes_from_a_command_line_is_text_and_never_markup() {
    let run = hostile();
    let html = text(Format::Html, &run);
    let document = Html::parse_document(&html);
    for css in ["script", "img", "i", "u", "b", "[onerror]", "body style"] {
        assert_eq!(document.select(&select(css)).count(), 0, "{css}");
    }
    let title: String = document
        .select(&select("h1"))
        .flat_map(|h| h.text())
        .collect();
    assert!(title.width() <= 240, "a title has an end");
    let markdown = text(Format::Markdown, &run);
    let prose = markdown.lines().filter(|l| !l.starts_with("      "));
    for line in prose {
        let plain = line.replace("\\<", "").replace("<br>", "");
        assert!(!plain.contains('<'), "no markup: {line}");
    }
    assert!(!markdown.contains('\x1b'));
    roxmltree::Document::parse(&text(Format::Xml, &run)).expect("XML");
    match render(Format::Svg, &report(&run.0, &run.1), Terminal::default()) {
        Ok(Rendered::Files(files)) => {
            assert!(files.iter().any(|f| f.name == "distribution.svg"));
            for file in files {
                roxmltree::Document::parse(&file.text).expect("SVG");
            }
        }
        other => panic!("not files: {other:?}"),
    }
}

#[test]
fn the_table_for_programs_has_what_was_used() {
    let run = commands::three(12);
    let text = text(Format::Csv, &run);
    let rows = support::csv_rows(&text);
    let roles: Vec<&str> = rows.iter().map(|r| r["role"].as_str()).collect();
    let overhead = "overhead";
    assert_eq!(
        roles,
        ["baseline", "subject", "subject", overhead, overhead]
    );
    assert_eq!(rows[2]["command"], "cat a.txt | sort > /dev/null");
    let uses = &run.1.uses[1];
    assert_eq!(rows[1]["user_ns"].parse(), Ok(uses.user_ns.estimate));
    assert_eq!(
        rows[1]["peak_rss_high_bytes"].parse(),
        Ok(uses.peak_rss_bytes.high)
    );
    assert_eq!(rows[1]["statuses"], "0");
    assert_eq!(rows[3]["ratio"], "", "an overhead is not compared");
}

#[test]
fn the_workbook_has_the_sheets_that_commands_need() {
    let open = |(run, analysis): &(Run, Analysis)| -> Xlsx<_> {
        match render(Format::Xlsx, &report(run, analysis), Terminal::default()) {
            Ok(Rendered::Bytes(bytes)) => {
                open_workbook_from_rs(Cursor::new(bytes)).expect("a workbook")
            }
            other => panic!("not bytes: {other:?}"),
        }
    };
    let run = commands::three(12);
    let mut book = open(&run);
    let lacking = ["Fits", "Factors", "Sweeps"];
    let expected = xlsx::COMMAND_SHEETS.into_iter();
    let expected: Vec<&str> = expected.filter(|s| !lacking.contains(s)).collect();
    assert_eq!(book.sheet_names(), expected);
    let uses = book.worksheet_range("Uses").expect("the uses");
    let row = uses.rows().nth(2).expect("the second command");
    assert_eq!(row[0], Data::String("mine".into()));
    match row[11] {
        Data::Float(bytes) => assert_eq!(bytes, run.1.uses[1].peak_rss_bytes.estimate),
        ref other => panic!("not a number: {other:?}"),
    }
    let sheets = open(&commands::sweep(12)).sheet_names();
    assert!(sheets.contains(&"Fits".into()) && sheets.contains(&"Sweeps".into()));
    let sheets = open(&commands::alone(12)).sheet_names();
    assert!(!sheets.contains(&"Comparisons".into()), "{sheets:?}");
}

/// The page of the documentation shows what a terminal shows; `UPDATE_DOCS=1` writes it.
#[test]
fn the_documentation_shows_a_comparison_as_it_is() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reports.md");
    let page = std::fs::read_to_string(path).expect("docs/reports.md");
    let shown = text(Format::Terminal, &commands::three(12));
    let shown = format!("```\n{}\n```\n", shown.trim_end());
    let (before, rest) = page
        .split_once("<!-- begin commands -->\n")
        .expect("a place for it");
    let (published, after) = rest
        .split_once("<!-- end commands -->")
        .expect("the end of its place");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let begin = "<!-- begin commands -->\n";
        let page = format!("{before}{begin}{shown}<!-- end commands -->{after}");
        std::fs::write(path, page).expect("the page written");
    } else {
        assert_eq!(published, shown);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What documents say, as reviewed snapshots: `INSTA_UPDATE=always` writes them.

use crate::support;
use crate::support::served::RunSize;
use lab_document::{
    Answer, Cell, CellContent, Chart, Document, Drawing, Finding, Item, Quantity, Row, Section,
    Table,
};
use lab_model::{Metric, Run, Unit};
use lab_profile::Profile;
use lab_report::kind;
use lab_report::kind::profile::ProfileReport;
use lab_report::{BetweenReport, NamedRuns, Report, RunSummary};
use lab_stats::between::Recorded;
use std::collections::HashMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// A document in few lines: texts in full, of figures and charts what they hold.
fn outline(document: &Document) -> String {
    let mut text = format!("# {}\n", document.title);
    let _ = writeln!(text, "question: {}", document.question);
    let _ = writeln!(text, "made: {} by {}", document.made, document.lab_version);
    if let Some(chart) = &document.answer.chart {
        self::chart(&mut text, chart);
    }
    for finding in &document.answer.findings {
        let _ = writeln!(
            text,
            "! [{}] {} ({})",
            finding.label,
            finding.text,
            finding.tone.word()
        );
    }
    let undecided = document.answer.undecided.as_deref();
    let _ = writeln!(text, "undecided: {}", undecided.unwrap_or("nothing"));
    for section in &document.sections {
        self::section(&mut text, section, 2);
    }
    let _ = writeln!(text, "rows: {}", document.rows.len());
    for row in document
        .rows
        .iter()
        .step_by((document.rows.len() / 12).max(1))
    {
        let _ = writeln!(
            text,
            "  {} {} {} {} {:?} {} {} {} p={} {} {:?} {}",
            row.run,
            row.subject,
            row.role,
            row.case,
            row.params,
            row.metric.id,
            row.value.as_ref().map_or("-".into(), quantity_text),
            row.ratio.as_ref().map_or("-".into(), quantity_text),
            row.p.map_or("-".into(), |p| format!("{p:.4}")),
            row.verdict,
            row.blocks,
            row.note
        );
    }
    let _ = writeln!(text, "source: {}", document.source);
    text
}

fn section(text: &mut String, section: &Section, level: usize) {
    let _ = writeln!(
        text,
        "\n{} {} ({:?})",
        "#".repeat(level),
        section.title,
        section.detail
    );
    for item in &section.items {
        match item {
            Item::Paragraph(words) => writeln!(text, "{words}"),
            Item::List(items) => writeln!(text, "- {}", items.join("\n- ")),
            Item::Facts(facts) => facts
                .iter()
                .try_for_each(|(name, value)| writeln!(text, "  {name} = {value}")),
            Item::Finding(between) => {
                writeln!(
                    text,
                    "! [{}] {} ({})",
                    between.label,
                    between.text,
                    between.tone.word()
                )
            }
            Item::Log(lines) => lines
                .iter()
                .try_for_each(|line| writeln!(text, "  | {line}")),
            Item::Table(table) => {
                self::table(text, table);
                Ok(())
            }
            Item::Chart(chart) => {
                self::chart(text, chart);
                Ok(())
            }
        }
        .expect("a string takes all");
    }
    for part in &section.sections {
        self::section(text, part, level + 1);
    }
}

/// The heading, the first three rows and the last.
fn table(text: &mut String, table: &Table) {
    assert!(table.caption.ends_with('.'), "what {:?} shows", table.title);
    let _ = writeln!(
        text,
        "table \"{}\": {} rows. {}",
        table.title,
        table.rows.len(),
        table.caption
    );
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|c| match &c.unit {
            Some(unit) => format!("{} [{unit:?}]", c.title),
            None => c.title.clone(),
        })
        .collect();
    let _ = writeln!(text, "  {}", columns.join(" | "));
    for (i, row) in table.rows.iter().enumerate() {
        if i < 3 || i + 1 == table.rows.len() {
            let cells: Vec<String> = row.iter().map(cell).collect();
            let _ = writeln!(text, "  {}", cells.join(" | "));
        }
    }
    for note in &table.notes {
        let _ = writeln!(text, "  note: {note}");
    }
}

fn cell(cell: &Cell) -> String {
    let words = match &cell.content {
        CellContent::Empty => String::new(),
        CellContent::Words(words) => words.clone(),
        CellContent::Quantity(quantity) => quantity_text(quantity),
    };
    let note = if cell.note.is_empty() {
        String::new()
    } else {
        format!(" ({})", cell.note)
    };
    words + &note
}

fn quantity_text(quantity: &Quantity) -> String {
    let value = quantity.value;
    match quantity.bounds() {
        Some((low, high)) => format!("{value:.4} [{low:.4}, {high:.4}]"),
        None => format!("{value:.4}"),
    }
}

fn chart(text: &mut String, chart: &Chart) {
    assert!(chart.caption.ends_with('.'), "what {:?} shows", chart.title);
    let _ = writeln!(
        text,
        "chart {} \"{}\": {}",
        chart.id, chart.title, chart.caption
    );
    match &chart.drawing {
        Drawing::Forest(forest) => {
            for group in &forest.groups {
                let rows: Vec<String> = group
                    .rows
                    .iter()
                    .map(|r| {
                        format!(
                            "{} {} {} {}",
                            r.name,
                            quantity_text(&r.value),
                            r.tone.word(),
                            r.label
                        )
                    })
                    .collect();
                let _ = writeln!(text, "  {}: {}", group.title, rows.join("; "));
            }
        }
        Drawing::Bars(bars) => {
            for row in &bars.rows {
                let parts: Vec<String> = row
                    .parts
                    .iter()
                    .map(|p| format!("{} {}", bars.parts[p.part].0, quantity_text(&p.value)))
                    .collect();
                let _ = writeln!(
                    text,
                    "  {} {} {} {}",
                    row.group,
                    row.name,
                    quantity_text(&row.total),
                    parts.join(", ")
                );
            }
        }
        Drawing::Lines(lines) => {
            for line in &lines.lines {
                let last = line
                    .points
                    .last()
                    .map(|(x, y)| format!("{x} {}", quantity_text(y)));
                let _ = writeln!(
                    text,
                    "  {} {:?}: {} points to {}",
                    line.name,
                    line.stroke,
                    line.points.len(),
                    last.unwrap_or_default()
                );
            }
        }
        Drawing::Heat(heat) => {
            for map in &heat.maps {
                let _ = writeln!(text, "  {}: {} columns", map.name, map.columns.len());
            }
        }
        Drawing::Flame(of) => {
            let _ = writeln!(text, "  {} stacks", of.stacks.len());
        }
        Drawing::Distribution(of) => {
            for line in &of.lines {
                let _ = writeln!(text, "  {}: {} values", line.name, line.counts.len());
            }
        }
    }
}

/// The document of a run, whose tables are whole and whose names of charts are unique.
fn document(run: &Run) -> String {
    let document = kind::document(&report(run));
    assert_is_complete(&document);
    outline(&document)
}

/// A report of a run that nothing else has analysed.
fn report(run: &Run) -> Report<'_> {
    Report::new(run, "runs/some.lab")
}

#[track_caller]
fn assert_is_complete(document: &Document) {
    for table in document.tables() {
        let lengths = table.rows.iter().map(Vec::len);
        assert!(
            lengths.clone().all(|n| n == table.columns.len()),
            "{}",
            table.title
        );
    }
    let mut ids: Vec<&str> = document.charts().iter().map(|c| c.id.as_str()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "two charts have one name: {ids:?}");
    assert!(document.answer.findings.len() <= 3);
    assert!(!document.title.is_empty());
}

#[test]
fn batches_on_one_target() {
    insta::assert_snapshot!(document(&support::sample(12)));
}

#[test]
fn batches_on_several_targets() {
    insta::assert_snapshot!(document(&support::targets::run(
        &support::targets::DATABASES,
        12
    )));
}

#[test]
fn several_schemes_at_once() {
    insta::assert_snapshot!(document(&support::counters::run(12)));
}

#[test]
fn imported_figures() {
    insta::assert_snapshot!(document(&support::imported()));
}

#[test]
fn two_commands() {
    insta::assert_snapshot!(document(&support::commands::two(0.9, 12)));
}

#[test]
fn three_commands_of_which_one_needs_a_shell() {
    insta::assert_snapshot!(document(&support::commands::three(12)));
}

#[test]
fn commands_over_a_sweep() {
    insta::assert_snapshot!(document(&support::commands::sweep(12)));
}

#[test]
fn a_command_alone() {
    insta::assert_snapshot!(document(&support::commands::alone(12)));
}

#[test]
fn a_command_that_fails() {
    insta::assert_snapshot!(document(&support::commands::failing(4)));
}

/// The document of two runs, the second of which may have been changed.
fn between(mut runs: [Run; 2]) -> String {
    runs[1].started_unix_s += 7200.0;
    runs[1].name = "later.lab".into();
    let hashes = ["old", "new"].map(|ada| {
        let same = ["c", "c (control)", "java", "python", "apsw"].map(|name| (name, "same"));
        let all = same.into_iter().chain([("ada", ada)]);
        all.map(|(name, hash)| (name.to_string(), hash.to_string()))
            .collect::<HashMap<_, _>>()
    });
    let recorded = |i: usize| Recorded {
        run: &runs[i],
        hashes: &hashes[i],
    };
    let between = lab_stats::between(recorded(0), recorded(1)).expect("two runs of one kind");
    let document = kind::between(&BetweenReport {
        between: &between,
        runs: [&runs[0], &runs[1]],
        files: ["runs/first.lab", "runs/later.lab"],
    });
    assert_is_complete(&document);
    outline(&document)
}

#[test]
fn two_runs_of_batches() {
    let [first, mut second] = [12, 10].map(support::sample);
    for sample in second.blocks.iter_mut().flat_map(|b| &mut b.samples) {
        sample.batch.wall_ns *= 2;
        if sample.subject == 2 {
            sample.batch.wall_ns = sample.batch.wall_ns * 9 / 10;
        }
    }
    second.host.facts.push(("mood".into(), "other".into()));
    insta::assert_snapshot!(between([first, second]));
}

#[test]
fn two_runs_of_commands_that_have_no_common_baseline() {
    let runs = [0.9, 0.8].map(|ratio| support::commands::two(ratio, 12));
    insta::assert_snapshot!(between(runs));
}

#[test]
fn two_runs_of_load() {
    let [first, mut second] = [10, 10].map(support::load::two);
    for slice in second.blocks.iter_mut().flat_map(|b| &mut b.slices) {
        slice.served = slice.served * 3 / 4;
        slice.offered = slice.offered * 3 / 4;
    }
    insta::assert_snapshot!(between([first, second]));
}

/// 127 parsers, each with a table of 1 MiB, and of 16 KiB.
#[test]
fn a_profile_before_and_after() {
    let profiles = [(1 << 20, 2_107_375), (1 << 14, 2_280)].map(support::profiles::parsers);
    let [before, after] = &profiles;
    let report = ProfileReport {
        profiles: vec![("before".into(), before), ("after".into(), after)],
        sources: Vec::new(),
        facts: vec![("standard output".into(), "the same in all runs".into())],
        warnings: Vec::new(),
        measured: None,
        made_unix_s: 1_795_425_300.0,
    };
    insta::assert_snapshot!(outline(&kind::profile::document(&report)));
}

/// 2,000 cycles by the estimate, then 1,000 + 12 × (10 + 100) = 2,320.
#[test]
fn the_simulation_and_the_clock_agree_or_not() {
    let file = |ir: u64, misses: u64| {
        let costs = format!("{ir} 0 0 0 {misses} {misses} 0 0 0 0 0 0 0");
        let text = format!(
            "desc: I1 cache: 32768 B, 64 B, 8-way associative\ncmd: a\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw \
             DLmw Bc Bcm Bi Bim\nfl=a.c\nfn=f\n1 {costs}\nsummary: {costs}\n"
        );
        Profile {
            cachegrind: Some(lab_valgrind::read_cachegrind(text.as_bytes()).expect("a profile")),
            ..Profile::default()
        }
    };
    let profiles = [file(2_000, 0), file(1_000, 12)];
    let last_finding = |verdict: &str, ratio: f64| {
        let row = Row {
            ratio: Some(Quantity::exact(ratio, Unit::Ratio)),
            verdict: verdict.into(),
            ..Row::new("run", "after", Metric::WALL)
        };
        let measured = Document {
            answer: Answer {
                findings: vec![Finding::plain("The clock.")],
                ..Answer::default()
            },
            rows: vec![row],
            ..Document::default()
        };
        let [before, after] = &profiles;
        let report = ProfileReport {
            profiles: vec![("before".into(), before), ("after".into(), after)],
            sources: Vec::new(),
            facts: Vec::new(),
            warnings: Vec::new(),
            measured: Some(measured),
            made_unix_s: 1_795_425_300.0,
        };
        let document = kind::profile::document(&report);
        let findings = document.answer.findings.into_iter();
        findings.last().expect("a finding").text
    };
    let more = "The clock. The simulation predicts 1.16 times before's cycles";
    assert_eq!(last_finding("slower", 1.2), format!("{more}: both agree."));
    assert_eq!(
        last_finding("small-but-real", 1.01),
        format!("{more}: both agree.")
    );
    let other = last_finding("faster", 0.8);
    assert!(
        other.starts_with(&format!("{more}: they do not agree.")),
        "{other}"
    );
    assert_eq!(
        last_finding("inconclusive", 1.1),
        format!("{more}; the clock has not decided.")
    );
}

#[test]
fn load_on_one_server() {
    insta::assert_snapshot!(document(&support::load::plain(20)));
}

#[test]
fn load_in_an_open_loop_with_stalls_and_errors() {
    insta::assert_snapshot!(document(&support::load::stalling(20)));
}

#[test]
fn load_over_more_and_more_connections() {
    insta::assert_snapshot!(document(&support::load::sweep(8)));
}

#[test]
fn load_on_two_servers_in_turns() {
    insta::assert_snapshot!(document(&support::load::two(10)));
}

#[test]
fn load_that_nobody_answers() {
    insta::assert_snapshot!(document(&support::load::refusing(5)));
}

#[test]
fn servers_that_the_lab_starts() {
    let size = RunSize {
        servers: 4,
        connections: vec![1, 64],
        ..support::served::small(9)
    };
    insta::assert_snapshot!(document(&support::served::run(&size)));
}

#[test]
fn a_server_that_fails_its_proof() {
    let size = RunSize {
        cases: 1,
        connections: vec![1, 64],
        ..support::served::small(3)
    };
    let run = support::served::run(&size);
    let name = run.plan.as_ref().expect("a plan").subjects[3].name.clone();
    insta::assert_snapshot!(document(&support::served::failing(run, &name)));
}

#[test]
fn every_effect_of_a_factor_is_a_row_and_stands_in_a_table() {
    let several = support::targets::run(&support::targets::DATABASES, 4);
    let servers = support::served::run(&support::served::small(3));
    for run in [support::sample(12), several, servers] {
        let report = report(&run);
        let document = kind::document(&report);
        let effects = report.results.effects.len();
        assert!(effects > 0);
        let rows = document.rows.iter();
        let rows = rows.filter(|row| row.metric.id.ends_with("_effect"));
        assert_eq!(rows.count(), effects);
        let tables = document.tables().into_iter();
        let tables = tables.filter(|t| t.title.contains(" with ") && t.title.contains(" / "));
        let cells = tables.flat_map(|table| table.rows.iter().flatten());
        let cells = cells.filter(|cell| matches!(cell.content, CellContent::Quantity(_)));
        assert_eq!(cells.count(), effects);
    }
}

/// The document of the history of some runs, each of which began a day after the one before.
fn history(name: &str, runs: impl IntoIterator<Item = Run>) -> String {
    let day = |(i, mut run): (usize, Run)| {
        run.started_unix_s += 86_400.0 * i as f64;
        run.name = format!("{i}-{name}.lab");
        RunSummary::new(&run, &HashMap::new()).expect("a run with a plan")
    };
    let runs: Vec<RunSummary> = runs.into_iter().enumerate().map(day).collect();
    let document = kind::history::document(name, &runs, &[]);
    assert_is_complete(&document);
    outline(&document)
}

#[test]
fn a_history_of_commands() {
    let runs = [0.9, 0.92, 1.05].map(|ratio| support::commands::two(ratio, 12));
    insta::assert_snapshot!(history("sort", runs));
}

#[test]
fn a_history_of_batches_at_many_points() {
    let runs = [12, 4].map(support::sample);
    insta::assert_snapshot!(history("sql", runs));
}

#[test]
fn a_history_of_load() {
    insta::assert_snapshot!(history("load", [8, 10].map(support::load::two)));
}

#[test]
fn a_history_of_servers() {
    let size = RunSize {
        servers: 4,
        connections: vec![1, 64],
        ..support::served::small(3)
    };
    let run = support::served::run(&size);
    insta::assert_snapshot!(history("rest", [run.clone(), run]));
}

#[test]
fn names_of_histories() {
    let names = [NamedRuns {
        name: "sql".into(),
        runs: 3,
        last_unix_s: 1_795_252_500.0,
    }];
    insta::assert_snapshot!(outline(&kind::history::names("runs", &names)));
    insta::assert_snapshot!(outline(&kind::history::names("runs", &[])));
}

#[test]
fn the_current_estimate_fits_a_line_of_progress() {
    use support::commands::{alone, failing, three, two};
    let estimate = |run: Run| kind::estimate(&report(&run));
    let lines = [two(0.9, 12), three(12), failing(12), alone(12)].map(estimate);
    assert_eq!(estimate(support::load::plain(3)), "");
    for line in &lines {
        assert!(UnicodeWidthStr::width(line.as_str()) <= 60, "{line}");
    }
    insta::assert_snapshot!(lines.join("\n"));
}

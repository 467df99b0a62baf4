// SPDX-License-Identifier: Apache-2.0
//! The text of documents as reviewed snapshots. `INSTA_UPDATE=always` updates them.

use crate::support;
use crate::support::outline::outline;
use crate::support::served::RunSize;
use lab_document::{CellContent, Document};
use lab_model::{Decision, Ending, Failure, PointId, Reading, Run, SubjectId};
use lab_report::{BetweenReport, NamedRuns, Report, RunSummary};
use lab_stats::between::Recorded;
use std::collections::HashMap;
use unicode_width::UnicodeWidthStr;

/// Outlines the document of a run, after checking that its tables are complete and its chart IDs are unique.
fn document(run: &Run) -> String {
    let document = support::document(run);
    assert_is_complete(&document);
    outline(&document)
}

/// Creates a report of a run.
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
    assert_eq!(ids.len(), all, "two charts have the same ID: {ids:?}");
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

/// If there are multiple targets, the target is part of a subject's name. The name of a point next
/// to it must not repeat the target.
#[test]
fn no_sentence_names_a_target_twice() {
    let mut run = support::targets::run(&support::targets::DATABASES, 12);
    let plan = run.plan().expect("a plan").clone();
    for point in plan.points.ids() {
        let mut subjects = plan.subjects.ids();
        let last = subjects.rfind(|&subject| plan.takes_part(subject, point));
        run.failures.push(Failure {
            subject: last.expect("a subject"),
            point: Some(point),
            block: None,
            kind: "error".into(),
            message: "the table is locked".into(),
            log: Vec::new(),
        });
    }
    let document = support::document(&run);
    let findings = document.warnings().into_iter();
    let findings = findings.chain(&document.answer.findings);
    let texts = findings.map(|finding| format!("{}: {}", finding.label, finding.text));
    let texts: Vec<String> = texts.chain(document.answer.omitted.clone()).collect();
    assert!(texts.iter().any(|text| text.contains("on postgresql")));
    for text in texts {
        for target in support::targets::DATABASES {
            let twice = format!(" at {} ", target.name());
            assert!(!text.contains(&twice), "{text}");
        }
    }
}

/// With few blocks, a tie only means that the comparison is still inconclusive.
#[test]
fn an_inconclusive_run_gets_advice() {
    let mut run = support::sample(2);
    run.ending = Some(Ending::Interrupted);
    let samples = run.blocks.iter_mut().flat_map(|block| &mut block.samples);
    for (i, sample) in samples.enumerate() {
        sample.batch.wall_ns *= 1 + (i as u64 * 7919) % 13;
    }
    let document = support::document(&run);
    let (headline, _) = document.answer.split();
    assert!(headline.contains("unclear which"), "{headline}");
    let undecided = document.answer.undecided.expect("a command");
    assert!(
        undecided.contains("`benchlab resume runs/some.lab --for "),
        "{undecided}"
    );
    assert!(!undecided.contains("normally distributed"), "{undecided}");
}

#[test]
fn several_schemes_at_once() {
    insta::assert_snapshot!(document(&support::counters::run(12)));
}

/// The median over blocks is 0 for a loss in fewer than half of the blocks.
#[test]
fn rare_losses_are_not_called_none() {
    let mut run = support::counters::run(12);
    // c with a lock on eight threads, in three blocks.
    let is_rare = |block: u32, reading: &Reading| {
        block < 3 && (reading.subject, reading.point) == (SubjectId(0), PointId(8))
    };
    let mut document_with = |is_lost: &dyn Fn(u32, &Reading) -> bool, others: Option<f64>| {
        for block in &mut run.blocks {
            for reading in &mut block.readings {
                let lost = is_lost(block.number, reading).then_some(0.05);
                reading.value = lost.or(others).unwrap_or(reading.value);
            }
        }
        document(&run)
    };
    let text = document_with(&is_rare, None);
    let rare = "up to 5 % in 3 of 12 blocks with lock (c at increment threads=8); none with";
    assert!(text.contains(&format!("; {rare} atomic.")), "{text}");
    assert!(text.contains("0 % (up to 5 % in 3 of 12 blocks)"), "{text}");
    let text = document_with(&is_rare, Some(0.0));
    assert!(
        text.contains(&format!("Lost increments: {rare} ")),
        "{text}"
    );
    assert!(!text.contains("no subject had"), "{text}");
    let text = document_with(&|_, _| false, Some(0.0));
    let none = "In this run, no subject had lost increments.";
    assert!(text.contains(none), "{text}");
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

/// A command whose failures are expected is compared, and the first screen shows the statuses.
#[test]
fn expected_failures_stand_on_the_first_screen() {
    let mut run = support::commands::two(0.9, 12);
    for exit in run.blocks.iter_mut().flat_map(|block| &mut block.exits) {
        exit.status = if exit.subject == SubjectId(1) { 2 } else { 0 };
    }
    let answer = lab_report::document(&report(&run)).answer;
    let statuses = "B: all 120 runs ended with status 2. All other runs ended with status 0.";
    let text = |label: &str| {
        let mut findings = answer.findings.iter();
        findings
            .find(|finding| finding.label == label)
            .map(|finding| finding.text.as_str())
    };
    assert_eq!(text("Exit status"), Some(statuses), "{answer:#?}");
    assert!(answer.findings[0].text.contains("faster"), "{answer:#?}");
}

/// RFC 9110, section 15.4: 304 says that the client's copy is current, which is not a redirect.
#[test]
fn only_redirects_are_called_so() {
    let status_finding = |status: u16| {
        let mut run = support::load::plain(3);
        for slice in run.blocks.iter_mut().flat_map(|block| &mut block.slices) {
            slice.statuses = vec![(status, 26)];
        }
        let document = lab_report::document(&report(&run));
        let mut findings = document.answer.findings.into_iter();
        findings
            .find(|finding| finding.label == "Status")
            .expect("statuses")
            .text
    };
    for status in [301, 302, 303, 307, 308] {
        let text = status_finding(status);
        assert!(text.contains("Redirects are not followed"), "{text}");
    }
    for status in [200, 300, 304] {
        let text = status_finding(status);
        assert!(!text.contains("edirect"), "{text}");
    }
}

/// Outlines the document for two runs. The second run starts two hours later, with another program
/// for `ada`.
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
    let between =
        lab_stats::compare_runs(recorded(0), recorded(1)).expect("two runs of the same kind");
    let document = lab_report::between(&BetweenReport {
        conditions: &[],
        on_inconclusive: Default::default(),
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
        if sample.subject == SubjectId(2) {
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
    let name = run.plan().expect("a plan").subjects[SubjectId(3)]
        .name
        .clone();
    insta::assert_snapshot!(document(&support::served::failing(run, &name)));
}

#[test]
fn every_effect_of_a_factor_is_a_row_and_stands_in_a_table() {
    let targets = support::targets::run(&support::targets::DATABASES, 4);
    let servers = support::served::run(&support::served::small(3));
    for run in [support::sample(12), targets, servers] {
        let report = report(&run);
        let document = lab_report::document(&report);
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

/// Returns the runs of a history. Each run started a day after the previous run.
fn summaries(name: &str, runs: impl IntoIterator<Item = Run>) -> Vec<RunSummary> {
    let day = |(i, mut run): (usize, Run)| {
        run.started_unix_s += 86_400.0 * i as f64;
        run.name = format!("{i}-{name}.lab");
        RunSummary::new(&run, &HashMap::new()).expect("a run with a plan")
    };
    runs.into_iter().enumerate().map(day).collect()
}

/// Outlines the history of runs.
fn history(name: &str, runs: impl IntoIterator<Item = Run>) -> String {
    let runs = summaries(name, runs);
    let document = lab_report::history::document(name, &runs, &[]);
    assert_is_complete(&document);
    outline(&document)
}

/// Two subjects have a history of 20 runs; the third has been added later.
#[test]
fn a_gate_does_not_pass_for_a_ratio_with_few_runs() {
    use support::commands::{command, run};
    let models = [
        command("A", "./a", 20.0),
        command("B", "./b", 21.0),
        command("C", "./c", 22.0),
    ];
    let condition = ["change>3%".parse().expect("a condition")];
    for recent in [1, 3] {
        let subjects = |day: usize| if day < 20 - recent { 2 } else { 3 };
        let runs = (0..20).map(|day| run(&models[..subjects(day)], &[], 8));
        let runs = summaries("sort", runs);
        let gates = lab_report::history::gates(&runs, &[], &condition);
        let decisions: Vec<_> = gates.iter().map(|gate| gate.decision).collect();
        assert_eq!(
            decisions,
            [Decision::Passed, Decision::Inconclusive],
            "{gates:?}"
        );
        let document = lab_report::history::document("sort", &runs, &[]);
        let outline = outline(&document);
        assert!(
            outline.contains("1 of the ratios and times has fewer than 9 runs"),
            "{outline}"
        );
    }
}

/// A subject was measured three times and then removed.
#[test]
fn a_gate_ignores_a_ratio_that_gets_no_more_runs() {
    use support::commands::{command, run};
    let models = [
        command("A", "./a", 20.0),
        command("B", "./b", 21.0),
        command("C", "./c", 22.0),
    ];
    let condition = ["change>3%".parse().expect("a condition")];
    let subjects = |day: usize| if (5..8).contains(&day) { 3 } else { 2 };
    let runs = (0..20).map(|day| run(&models[..subjects(day)], &[], 8));
    let gates = lab_report::history::gates(&summaries("sort", runs), &[], &condition);
    let decisions: Vec<_> = gates.iter().map(|gate| gate.decision).collect();
    assert_eq!(decisions, [Decision::Passed], "{gates:?}");
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
    insta::assert_snapshot!(outline(&lab_report::history::names("runs", &names, 0)));
    insta::assert_snapshot!(outline(&lab_report::history::names("runs", &[], 0)));
}

#[test]
fn the_current_estimate_fits_a_line_of_progress() {
    use support::commands::{alone, failing, three, two};
    let estimate = |run: Run| lab_report::estimate(&run);
    let lines = [two(0.9, 12), three(12), failing(12), alone(12)].map(estimate);
    assert_eq!(estimate(support::load::plain(3)), "");
    for line in &lines {
        assert!(UnicodeWidthStr::width(line.as_str()) <= 60, "{line}");
    }
    insta::assert_snapshot!(lines.join("\n"));
}

// SPDX-License-Identifier: Apache-2.0
//! Tests that a new kind of measurement can be added with its own workload, metric and document.
//!
//! Blocks, repetition, resuming, verdicts and output formats work for it without changes to
//! benchlab.

use crate::fake::{File, Journal, plan, stolen};
use lab_bench::{BlockContext, Done, Fault, Turn, TurnRecord, TurnResult, Workload};
use lab_document::{
    Answer, Column, Document, FORMATS, Finding, Format, Quantity, Row, Section, Table,
};
use lab_document::{Rendered, Terminal};
use lab_model::{
    BlockState, Direction, Ending, Interval, Metric, PointId, Reading, Run, SubjectId, Unit,
};
use lab_stats::analysis::Verdict;
use lab_stats::results::{Comparison, Results, Value, observed, readings};

/// A workload that counts the cache misses of an operation.
struct CacheMisses {
    /// The number of turns before the workload is interrupted.
    turns: u32,
}

const MISSES: Metric = Metric::new(
    "misses",
    "cache misses",
    Unit::Count(std::borrow::Cow::Borrowed("misses")),
    Direction::Less,
);

impl Workload for CacheMisses {
    fn cores(&self) -> &[usize] {
        &[0]
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![MISSES]
    }

    fn passes(&self, _: PointId, _: &[SubjectId]) -> u32 {
        2
    }

    fn take_turn(&mut self, _: &mut BlockContext, turn: Turn) -> Done<TurnResult> {
        self.turns = self.turns.checked_sub(1).ok_or(Fault::Interrupted)?;
        let reading = Reading {
            point: turn.point,
            subject: turn.subject,
            pass: turn.pass,
            metric: MISSES.id.into(),
            value: 100.0 * f64::from(turn.subject.0 + 1) + f64::from(turn.pass),
        };
        Ok(TurnRecord::Readings(vec![reading]).into())
    }
}

#[test]
fn a_new_kind_is_stored_redone_and_resumed() {
    let plan = plan(2, 3);
    let file = File::new(&plan);
    let measure = |turns| {
        let machine = Journal::default();
        machine.disturbances.borrow_mut().push_back(stolen());
        let workload = Box::new(CacheMisses { turns });
        let ending = file.run_plan(&plan, workload, Box::new(machine), &mut |_| ());
        ending.unwrap()
    };
    // A block has 8 turns: one disturbed block, one valid block, and half a block.
    assert_eq!(measure(20), Ending::Interrupted);
    assert_eq!(measure(100), Ending::Blocks);
    let run = file.run();
    let states: Vec<BlockState> = run.blocks.iter().map(|b| b.state).collect();
    use BlockState::{Complete, Disturbed, Incomplete};
    let expected = [
        Disturbed, Complete, Incomplete, Disturbed, Complete, Complete,
    ];
    assert_eq!(states, expected);
    let [metric] = &run.metrics[..] else {
        panic!("{:?}", run.metrics)
    };
    assert_eq!((metric, &metric.title[..]), (&MISSES, "cache misses"));
    assert_eq!(
        (&metric.unit, metric.better),
        (&MISSES.unit, Direction::Less)
    );
    for block in run.complete_blocks() {
        assert_eq!(block.readings.len(), 8);
        for reading in &block.readings {
            let expected = 100.0 * f64::from(reading.subject.0 + 1) + f64::from(reading.pass);
            assert_eq!((reading.value, &reading.metric[..]), (expected, "misses"));
        }
    }
}

/// Returns a document with one finding, a table and rows.
fn document(run: &Run, results: &Results) -> Document {
    let plan = run.plan().expect("a plan");
    let name = |id: SubjectId| plan.subjects[id].name.as_str();
    let columns = ["subject", "point"].map(Column::from).into_iter();
    let figure = Column::with_unit("cache misses", MISSES.unit);
    let columns = columns.chain([figure, Column::with_unit("ratio", Unit::Ratio)]);
    let mut table = Table::new("Cache misses of an operation", columns);
    let mut rows = Vec::new();
    for cell in &results.cells {
        let Value::Estimate(value) = cell.value else {
            continue;
        };
        let point = cell.key.point.expect("misses belong to a point");
        let compared = results.comparisons.iter().find(|c| c.key == cell.key);
        let value = Quantity::estimate(&value, MISSES.unit);
        let ratio = compared.map(|c| Quantity::ratio(&c.ratio));
        table.row(vec![
            name(cell.key.subject).into(),
            plan.label(point).into(),
            value.clone().into(),
            ratio.clone().map_or("".into(), Into::into),
        ]);
        rows.push(Row {
            case: plan.label(point),
            value: Some(value),
            ratio,
            verdict: compared.map_or("", word).into(),
            ..Row::new(&run.name, name(cell.key.subject), MISSES)
        });
    }
    let mut section = Section::new("Misses");
    section.push(table);
    Document {
        title: "Misses".into(),
        answer: Answer {
            findings: results.comparisons.iter().map(finding).collect(),
            ..Answer::default()
        },
        sections: vec![section],
        rows,
        ..Document::default()
    }
}

fn word(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Some(Verdict::Slower) => "slower",
        _ => "",
    }
}

fn finding(comparison: &Comparison) -> Finding {
    let Interval { estimate, .. } = comparison.ratio;
    Finding {
        text: format!("It misses {estimate:.2} times as often."),
        ..Finding::default()
    }
}

#[test]
fn a_new_kind_has_verdicts_and_every_format() {
    let plan = plan(2, 12);
    let file = File::new(&plan);
    let workload = Box::new(CacheMisses { turns: 1000 });
    let ending = file.run_plan(&plan, workload, Box::new(Journal::default()), &mut |_| ());
    assert_eq!(ending.unwrap(), Ending::Blocks);
    let run = file.run();
    let results = observed(&run, &readings(&run));
    assert_eq!((results.cells.len(), results.comparisons.len()), (4, 2));
    for comparison in &results.comparisons {
        assert!(matches!(comparison.verdict, Some(Verdict::Slower)));
    }
    let document = document(&run, &results);
    // Call stacks and a timeline are in the documents of other kinds.
    let needs_more = |format: &Format| ["folded", "speedscope", "perfetto"].contains(&format.name);
    for format in FORMATS.into_iter().filter(|format| !needs_more(format)) {
        let rendered = format.render(&document, Terminal::default()).unwrap();
        let is_complete = match &rendered {
            // There are no problems to list.
            Rendered::Text(text) if ["gitlab", "sarif"].contains(&format.name) => !text.is_empty(),
            Rendered::Text(text) => ["200.5", "0.0000002", "2.00"]
                .iter()
                .any(|n| text.contains(n)),
            Rendered::Bytes(bytes) => bytes.starts_with(b"PK"),
            // The document has no chart.
            Rendered::Files(files) => files.is_empty(),
            Rendered::Annotated { commands, summary } => {
                commands.is_empty() && summary.contains("2.00 times")
            }
        };
        assert!(is_complete, "{format:?}: {rendered:?}");
    }
}

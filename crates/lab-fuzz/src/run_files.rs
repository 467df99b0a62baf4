// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for saved runs with modified values.

use lab_document::Terminal;
use lab_document::format::terminal;
use lab_model::{
    Agent, AgentId, AgentSlice, Batch, BlockState, Case, Counts, Disturbance, Ending, ErrorKind,
    Host, Imported, ImportedTime, Latencies, LoadCount, LoadCounts, Measure, Metric, Pilot, Plan,
    Point, PointId, ProcessStart, Reading, Resources, Sample, Setting, Slice, Subject, SubjectId,
    Target, Timeline, WarmUp,
};
use lab_report::Report;
use lab_store::{Heading, RunProgress, RunWriter};
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use tempfile::TempDir;

/// Applies changes to a run file, and checks that benchlab either reports on the file or rejects
/// it.
///
/// Each line is a change: `TABLE.COLUMN VALUE`, or `meta.KEY VALUE`. The first letter of a value is
/// its type: `i5`, `r0.5`, `tTEXT`, `bHEX`, or `n` for NULL.
pub fn run_file(bytes: &[u8]) {
    thread_local!(static FILE: RunFile = RunFile::new());
    FILE.with(|file| check_changed(file, bytes));
}

fn check_changed(file: &RunFile, bytes: &[u8]) {
    let changes = bytes.split(|byte| *byte == b'\n').filter_map(parse_change);
    file.change(changes);
    let path = &file.path;
    // Each of these may fail independently.
    let _ = Heading::read(path).map_err(|error| error.to_string());
    let _ = RunProgress::read(path).map_err(|error| error.to_string());
    let _ = lab_store::connects_per_s(path).map_err(|error| error.to_string());
    match lab_store::load(path) {
        Ok(run) => {
            let document = lab_kinds::document(&Report::new(&run, "run.lab"));
            let full = Terminal {
                full: true,
                ..Terminal::default()
            };
            let rendered = terminal::FORMAT.render(&document, full);
            assert!(rendered.is_ok(), "the report cannot be displayed");
        }
        Err(error) => drop(error.to_string()),
    }
}

fn parse_change(line: &[u8]) -> Option<(&str, &str, Value)> {
    let (column, value) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let (table, column) = column.split_once('.')?;
    let (kind, text) = value.split_at_checked(1)?;
    let value = match kind {
        "i" => Value::Integer(text.parse().ok()?),
        "r" => Value::Real(text.parse().ok()?),
        "t" => Value::Text(text.to_owned()),
        "b" => Value::Blob(hex(text)?),
        "n" => Value::Null,
        _ => return None,
    };
    Some((table, column, value))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}

/// A run file that has a row in most tables.
struct RunFile {
    _folder: TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
    columns: HashSet<(String, String)>,
}

impl RunFile {
    fn new() -> RunFile {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("run.lab");
        let run = RunWriter::create(&path, "1.2.3", 1.8e9).expect("a new file");
        write_run(&run).expect("a written run");
        run.finish(Some(Ending::Blocks), Some((5, 6)))
            .expect("a finished run");
        let db = Connection::open(&path).expect("a database");
        let sql = "SELECT l.name, c.name FROM pragma_table_list l, pragma_table_info(l.name) c
                   WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%'";
        let mut columns = db.prepare(sql).expect("a statement");
        let columns = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let columns = columns.and_then(Iterator::collect).expect("columns");
        let bytes = fs::read(&path).expect("a file");
        RunFile {
            _folder: folder,
            path,
            bytes,
            columns,
        }
    }

    /// Undoes earlier changes and applies new changes. Skips changes that the schema forbids.
    fn change<'c>(&self, changes: impl Iterator<Item = (&'c str, &'c str, Value)>) {
        // The file is not truncated, because a file system may write a truncated file to the disk
        // immediately.
        let file = File::options().write(true).open(&self.path);
        let file = file.expect("a file");
        file.write_all_at(&self.bytes, 0).expect("room");
        file.set_len(self.bytes.len() as u64).expect("room");
        drop(file);
        let db = Connection::open(&self.path).expect("a database");
        db.execute_batch("PRAGMA synchronous = off; PRAGMA journal_mode = memory; BEGIN")
            .expect("a transaction");
        for (table, column, value) in changes {
            let _ = if table == "meta" {
                let sql = "INSERT OR REPLACE INTO meta VALUES (?, ?)";
                db.execute(sql, params![column, value])
            } else if self
                .columns
                .contains(&(table.to_owned(), column.to_owned()))
            {
                db.execute(&format!("UPDATE \"{table}\" SET \"{column}\" = ?"), [value])
            } else {
                continue;
            };
        }
        db.execute_batch("COMMIT").expect("a transaction");
    }
}

type Result = std::result::Result<(), lab_store::StoreError>;

fn write_run(run: &RunWriter) -> Result {
    run.plan(&plan())?;
    run.host(&Host::default())?;
    run.hash("true", "00ff")?;
    run.interim_analysis(2)?;
    run.agent(AgentId(0), &Agent::default())?;
    run.setting(&Setting {
        subject: SubjectId(0),
        point: Some(PointId(0)),
        key: "k".into(),
        value: "v".into(),
    })?;
    run.import(&Imported {
        language: "Ada".into(),
        times: vec![ImportedTime {
            title: "t".into(),
            count: 3,
            time_ns: 0.5,
            total_ns: 1.5,
        }],
        ..Imported::default()
    })?;
    run.metric(&Metric::WALL)?;
    for subject in [0, 1].map(SubjectId) {
        run.pilot(&Pilot {
            subject,
            point: PointId(0),
            operations: 100,
            warmup_batches: 3,
            class: WarmUp::Flat,
            cold_ns: 77,
            batches: vec![batch(1); 3],
            ages: Vec::new(),
        })?;
    }
    (0..3).try_for_each(|number| write_block(run, number))
}

fn plan() -> Plan {
    let subject = |name: &str| Subject {
        name: name.into(),
        language: "C".into(),
        driver: "d".into(),
        program: vec!["true".into()],
        ..Subject::default()
    };
    Plan {
        experiment: "x".into(),
        title: "Title".into(),
        question: "Which is faster?".into(),
        subjects: [subject("a"), subject("b")].into(),
        cases: [Case {
            name: "noop".into(),
            unit: "operation".into(),
            ..Case::default()
        }]
        .into(),
        points: [Point::default()].into(),
        measure: Measure {
            pairs: 1,
            turn_ns: 1_000_000,
            max_blocks: 6,
            alpha: 0.05,
            margin: 0.02,
            time_limit_ns: 1_000_000_000,
            max_warmup: 3,
            ..Measure::default()
        },
        targets: [Target::default()].into(),
        ..Plan::default()
    }
}

/// Builds a batch whose values depend on a number.
fn batch(number: u64) -> Batch {
    let wall_ns = 100_000 + number * number % 17 * 1000;
    Batch {
        operations: 100,
        wall_ns,
        cpu_ns: wall_ns - 700,
        server_cpu_ns: Some(500),
    }
}

fn write_block(run: &RunWriter, number: u32) -> Result {
    let block = run.begin_block(number, 0, 1, 1.8e9 + f64::from(number))?;
    let (point, pass) = (PointId(0), 0);
    for subject in [0, 1].map(SubjectId) {
        block.process(&ProcessStart {
            subject,
            startup_ns: 1000,
            startup_cpu_ns: 900,
        })?;
        block.resources(&Resources {
            subject,
            rss_bytes: 1 << 20,
            peak_rss_bytes: 1 << 21,
            server_bytes: Some(1 << 22),
            ..Resources::default()
        })?;
        let sample = Sample {
            point,
            subject,
            pass,
            turn: subject.0,
            batch: batch(2 * u64::from(number) + u64::from(subject.0)),
        };
        block.latencies(
            &sample,
            1,
            1,
            &Latencies {
                point,
                subject,
                pass,
                counts: vec![(63, 99), (190, 1)],
            },
        )?;
        block.timeline(&Timeline {
            point,
            subject,
            pass,
            longest_ns: vec![7, 0, 9],
        })?;
        block.readings(
            &[Reading {
                point,
                subject,
                pass,
                metric: Metric::WALL.id.into(),
                value: 0.5,
            }],
            0,
        )?;
        block.slice(&slice(subject))?;
    }
    block.finish(BlockState::Complete, 99, &Disturbance::default())
}

fn slice(subject: SubjectId) -> Slice {
    let alone = Slice {
        subject,
        wall_ns: 1_000_000_007,
        offered: 20,
        served: 17,
        errors: vec![(ErrorKind::Connect, 3)],
        statuses: vec![(200, 17)],
        counts: LoadCounts::from([
            (LoadCount::Connects, 4),
            (LoadCount::ReceivedBytes, 1 << 20),
        ]),
        cpu_ns: 5,
        busiest_cpu_ns: 6,
        response: Counts(vec![(1000, 17)]).into(),
        service: Counts(vec![(900, 17)]).into(),
        ..Slice::default()
    };
    Slice {
        agents: vec![AgentSlice {
            agent: AgentId(0),
            late_ns: 3,
            not_sent: 1,
            slice: alone.clone(),
        }],
        ..alone
    }
}

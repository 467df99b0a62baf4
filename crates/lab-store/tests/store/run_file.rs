// SPDX-License-Identifier: Apache-2.0
//! Tests that a run file returns the stored data, survives a crash of its writer at any time, and
//! is never changed by reading.

use lab_model::*;
use lab_model::{AgentId, PointId, SubjectId, TargetId};
use lab_store::{RunWriter, StoreError, load};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

fn plan() -> Plan {
    let subject = |name: &str| Subject {
        name: name.into(),
        language: "C".into(),
        driver: "d".into(),
        program: vec!["true".into()],
        ..Subject::default()
    };
    Plan {
        experiment: "t".into(),
        title: "T".into(),
        question: "Q".into(),
        subjects: [subject("a"), subject("b")].into(),
        baseline: SubjectId(0),
        cases: [Case {
            name: "noop".into(),
            work: "none".into(),
            unit: "operation".into(),
            ..Case::default()
        }]
        .into(),
        points: [Point::default()].into(),
        measure: Measure {
            pairs: 1,
            turn_ns: 1_000_000,
            budget_ns: Some(u64::MAX),
            max_blocks: 2,
            interim_analyses: vec![10],
            alpha: 0.05,
            margin: 0.02,
            precision: None,
            time_limit_ns: 1,
            max_warmup: 3,
            ..Measure::default()
        },
        targets: [target()].into(),
        seed: u64::MAX,
        ..Plan::default()
    }
}

fn target() -> Target {
    Target {
        kind: TargetKind::Sqlite,
        table: "CREATE TABLE t (id integer)".into(),
        rows: 7,
        ..Target::default()
    }
}

fn sample(i: u64) -> Sample {
    let batch = Batch {
        operations: 1 + i,
        wall_ns: 1000 + i,
        cpu_ns: 900 + i,
        server_cpu_ns: None,
    };
    Sample {
        point: PointId(0),
        subject: SubjectId((i % 2) as u32),
        pass: i as u32 / 2,
        turn: i as u32 % 2,
        batch,
    }
}

/// Creates a file with a plan, a complete block with `samples` samples, and a second block with three more
/// samples.
fn begun(path: &Path, samples: u64) -> RunWriter {
    let run = RunWriter::create(path, "1.2.3", 12.5).expect("a new file");
    run.plan(&plan()).unwrap();
    let block = run.begin_block(0, 0, 1, 13.5).unwrap();
    for i in 0..samples {
        block.sample(&sample(i), 1, u64::MAX - i).unwrap();
    }
    block
        .finish(BlockState::Complete, 99, &Disturbance::default())
        .unwrap();
    let block = run.begin_block(1, 0, 0, 14.5).unwrap();
    for i in 0..3 {
        block.sample(&sample(i), 1, i).unwrap();
    }
    run
}

fn samples(run: &Run) -> Vec<usize> {
    run.blocks.iter().map(|b| b.samples.len()).collect()
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", path.display()))
}

/// Copies the file in the state that it would have if the process were killed now.
fn killed(path: &Path, to: &Path) {
    fs::copy(path, to).unwrap();
    fs::copy(with_suffix(path, "-wal"), with_suffix(to, "-wal")).unwrap();
}

#[test]
fn server_work_and_latencies_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let run = RunWriter::create(&path, "1.2.3", 12.5).expect("a new file");
    run.plan(&plan()).unwrap();
    let facts = |version: &str| {
        vec![
            ("version".to_string(), version.to_string()),
            ("a".into(), "b".into()),
        ]
    };
    let service = |version| Service {
        target: TargetId(0),
        facts: facts(version),
    };
    run.service(&service("15")).unwrap();
    run.service(&service("15.18")).unwrap();
    let charged = |i| {
        let mut sample = sample(i);
        sample.batch.server_cpu_ns = Some(70 + i);
        sample
    };
    let latencies = |i: u64, counts: &[(u32, u64)]| {
        let Sample {
            point,
            subject,
            pass,
            ..
        } = sample(i);
        Latencies {
            point,
            subject,
            pass,
            counts: counts.to_vec(),
        }
    };
    let recorded = [
        latencies(0, &[(63, 1), (190, 5)]),
        latencies(1, &[(7, 2)]),
        latencies(2, &[(7, 3)]),
    ];
    let block = run.begin_block(0, 0, 1, 13.5).unwrap();
    for (i, latencies) in recorded.iter().enumerate() {
        block
            .latencies(&charged(i as u64), 1, 2, latencies)
            .unwrap();
    }
    let timelines: Vec<Timeline> = recorded[..2]
        .iter()
        .map(|l| Timeline {
            point: l.point,
            subject: l.subject,
            pass: l.pass,
            longest_ns: vec![7, 0, l.pass.into()],
        })
        .collect();
    timelines
        .iter()
        .for_each(|timeline| block.timeline(timeline).unwrap());
    let held = Resources {
        rss_bytes: 5,
        server_bytes: Some(1 << 33),
        ..Resources::default()
    };
    block.resources(&held).unwrap();
    block
        .finish(BlockState::Complete, 99, &Disturbance::default())
        .unwrap();
    run.finish(None, None).unwrap();
    let run = load(&path).unwrap();
    assert_eq!(run.services, [service("15.18")]);
    assert_eq!(run.blocks[0].latencies, recorded);
    assert_eq!(run.blocks[0].timelines, timelines);
    assert_eq!(run.blocks[0].samples, [charged(0), charged(1), charged(2)]);
    assert_eq!(run.blocks[0].resources, [held]);
}

#[test]
fn runs_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let run = begun(&path, 4);
    let host = Host {
        facts: vec![("cpu".into(), "x".into())],
        findings: vec![host::HostFinding {
            unfit: true,
            what: "w".into(),
            advice: "a".into(),
        }],
    };
    let pilot = Pilot {
        subject: SubjectId(1),
        point: PointId(0),
        operations: 1 << 40,
        warmup_batches: 3,
        class: WarmUp::NoSteadyState,
        cold_ns: 77,
        batches: vec![sample(0).batch, sample(1).batch],
        ages: Vec::new(),
    };
    let failure = Failure {
        subject: SubjectId(0),
        point: None,
        block: Some(1),
        kind: "crash".into(),
        message: "it's gone; DROP TABLE sample".into(),
        log: vec!["one".into(), "two".into()],
    };
    let setting = Setting {
        subject: SubjectId(0),
        point: Some(PointId(0)),
        key: "k".into(),
        value: "".into(),
    };
    let line = LogLine {
        subject: SubjectId(1),
        block: None,
        line: "ä \u{0} z".into(),
    };
    run.host(&host).unwrap();
    run.pilot(&pilot).unwrap();
    run.failure(&failure).unwrap();
    run.setting(&setting).unwrap();
    run.log(&line).unwrap();
    run.interim_analysis(10).unwrap();
    run.hash("a", "00ff").unwrap();
    let in_the_making = run.load().unwrap();
    assert_eq!(in_the_making.ending, None);
    run.finish(Some(Ending::Budget), Some((5, 6))).unwrap();
    let run = load(&path).unwrap();
    assert_eq!(run.name, "r.lab");
    assert_eq!(
        (run.benchlab_version.as_str(), run.started_unix_s),
        ("1.2.3", 12.5)
    );
    assert_eq!(run.plan(), Some(&plan()));
    assert_eq!(run.host, host);
    assert_eq!(run.pilots, [pilot]);
    assert_eq!(run.failures, [failure]);
    assert_eq!(run.settings, [setting]);
    assert_eq!(run.log, [line]);
    assert_eq!(run.interim_analyses, [10]);
    assert_eq!(
        (run.ending, run.lab_cost),
        (Some(Ending::Budget), Some((5, 6)))
    );
    assert_eq!(
        run.blocks[0].samples,
        (0..4).map(sample).collect::<Vec<_>>()
    );
    assert_eq!((run.blocks[0].core, run.blocks[0].duration_ns), (1, 99));
    let states: Vec<_> = run.blocks.iter().map(|b| (b.number, b.state)).collect();
    assert_eq!(
        states,
        [(0, BlockState::Complete), (1, BlockState::Incomplete)]
    );
    assert_eq!(
        lab_store::recorded_hashes(&path)
            .unwrap()
            .get("a")
            .map(String::as_str),
        Some("00ff")
    );
    assert_eq!(in_the_making.blocks, run.blocks);
    assert!(!with_suffix(&path, "-wal").exists() && !with_suffix(&path, "-shm").exists());
}

#[test]
fn imported_values_need_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let imported = Imported {
        language: "Ada".into(),
        times: vec![ImportedTime {
            title: "t".into(),
            count: 3,
            time_ns: 0.5,
            total_ns: 1.5,
        }],
        ..Imported::default()
    };
    let file = RunWriter::create(&path, "1", 1.0).unwrap();
    file.import(&imported).unwrap();
    file.finish(None, None).unwrap();
    assert_eq!(
        load(&path).unwrap().content,
        Content::Imported(vec![imported])
    );
}

#[test]
fn a_file_is_identifiable_from_the_first_moment() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("r.lab"), folder.path().join("c.lab"));
    let _run = RunWriter::create(&path, "1", 1.0).unwrap();
    // The file is copied without its WAL, as if someone had copied it during a run.
    fs::copy(&path, &copy).unwrap();
    assert_eq!(load(&copy).unwrap().benchlab_version, "1");
}

#[test]
fn a_killed_writer_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("r.lab"), folder.path().join("c.lab"));
    let run = begun(&path, 500);
    killed(&path, &copy);
    assert_eq!(samples(&load(&copy).unwrap()), [500, 3]);
    let again = RunWriter::resume(&copy).unwrap();
    let block = again.begin_block(1, 1, 0, 15.5).unwrap();
    block.sample(&sample(0), 1, 1).unwrap();
    block
        .finish(BlockState::Complete, 5, &Disturbance::default())
        .unwrap();
    again.finish(Some(Ending::Blocks), None).unwrap();
    assert_eq!(samples(&load(&copy).unwrap()), [500, 3, 1]);
    drop(run);
}

/// During a checkpoint, SQLite writes the header with the new number of pages before it writes the
/// pages.
#[test]
fn a_writer_killed_while_it_moves_its_log_into_the_file_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("r.lab"), folder.path().join("c.lab"));
    let run = RunWriter::create(&path, "1", 1.0).unwrap();
    run.plan(&plan()).unwrap();
    let block = run.begin_block(0, 0, 0, 1.0).unwrap();
    for i in 0..2000 {
        block.sample(&sample(i), 1, 0).unwrap();
    }
    killed(&path, &copy);
    block
        .finish(BlockState::Complete, 5, &Disturbance::default())
        .unwrap();
    let page = fs::read(&path).unwrap()[..4096].to_vec();
    let mut half = fs::read(&copy).unwrap();
    assert_ne!(
        half[28..32],
        page[28..32],
        "the WAL must have extended the file"
    );
    half[..4096].copy_from_slice(&page);
    fs::write(&copy, &half).unwrap();
    assert_eq!(samples(&load(&copy).unwrap()), [2000]);
}

#[test]
fn a_file_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let run = begun(&path, 1);
    assert!(matches!(RunWriter::resume(&path), Err(StoreError::Busy(_))));
    assert!(matches!(
        RunWriter::create(&path, "", 0.0),
        Err(StoreError::Other(..))
    ));
    run.finish(None, None).unwrap();
    assert!(RunWriter::resume(&path).is_ok());
}

#[test]
fn a_reader_does_not_prevent_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let run = begun(&path, 10);
    let reader = Connection::open(&path).unwrap();
    let mut statement = reader.prepare("SELECT * FROM sample").unwrap();
    let mut rows = statement.query([]).unwrap();
    rows.next().unwrap();
    run.finish(Some(Ending::Blocks), None)
        .expect("the run ends while the file is being read");
    drop(rows);
    drop(statement);
    drop(reader);
    let run = load(&path).unwrap();
    assert_eq!(
        (samples(&run), run.ending),
        (vec![10, 3], Some(Ending::Blocks))
    );
}

#[test]
fn other_files_are_reported_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    begun(&path, 200).finish(None, None).unwrap();
    let bytes_of_run = fs::read(&path).unwrap();
    let try_with = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = load(&path).expect_err(name);
        assert_eq!(
            RunWriter::resume(&path).err().map(|e| e.to_string()),
            Some(error.to_string())
        );
        assert!(fs::read(&path).unwrap() == bytes, "{name} was touched");
        assert!(
            !with_suffix(&path, "-wal").exists() && !with_suffix(&path, "-shm").exists(),
            "{name}"
        );
        error
    };
    assert!(matches!(
        load(&folder.path().join("none")),
        Err(StoreError::Missing(_))
    ));
    assert!(
        matches!(load(folder.path()), Err(StoreError::NotARun(_, reason)) if reason.contains("directory"))
    );
    assert!(matches!(try_with("empty", b""), StoreError::NotARun(..)));
    assert!(matches!(
        try_with("text", &b"# A file\n".repeat(100)),
        StoreError::NotARun(..)
    ));
    for length in [1, 16, 99] {
        assert!(
            matches!(
                try_with("cut", &bytes_of_run[..length]),
                StoreError::NotARun(..)
            ),
            "{length}"
        );
    }
    for length in [
        100,
        101,
        512,
        4096,
        8192,
        bytes_of_run.len() / 2,
        bytes_of_run.len() - 4096,
        bytes_of_run.len() - 1,
    ] {
        assert!(
            matches!(
                try_with("cut", &bytes_of_run[..length]),
                StoreError::Damaged(..)
            ),
            "{length}"
        );
    }
    let mut newer = bytes_of_run.clone();
    newer[60..64].copy_from_slice(&2u32.to_be_bytes());
    assert!(matches!(
        try_with("newer", &newer),
        StoreError::Newer(_, 2, 1)
    ));
}

/// Opening another program's database must not even move the content of the WAL into the file.
#[test]
fn another_database_with_its_own_wal_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("o.db"), folder.path().join("c.db"));
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1);")
        .unwrap();
    killed(&path, &copy);
    let before = [
        fs::read(&copy).unwrap(),
        fs::read(with_suffix(&copy, "-wal")).unwrap(),
    ];
    assert!(matches!(load(&copy), Err(StoreError::NotARun(..))));
    assert!(
        before
            == [
                fs::read(&copy).unwrap(),
                fs::read(with_suffix(&copy, "-wal")).unwrap()
            ]
    );
    assert!(!with_suffix(&copy, "-shm").exists());
}

/// After any byte of the file is changed, loading the file gives a run or an error.
#[test]
fn damage_anywhere_is_handled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    begun(&path, 200)
        .finish(Some(Ending::Blocks), None)
        .unwrap();
    let original = fs::read(&path).unwrap();
    let damaged = folder.path().join("d.lab");
    let mut state = 7u64;
    let (mut runs, mut errors) = (0, 0);
    for _ in 0..300 {
        let mut bytes = original.clone();
        for _ in 0..8 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 20) as u8;
        }
        fs::write(&damaged, &bytes).unwrap();
        match load(&damaged) {
            Ok(_) => runs += 1,
            Err(_) => errors += 1,
        }
    }
    assert!(
        runs > 0 && errors > 0,
        "{runs} runs, {errors} errors: the damage should do both"
    );
}

#[test]
fn rows_with_dangling_references_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    begun(&path, 4).finish(None, None).unwrap();
    let original = fs::read(&path).unwrap();
    for (sql, reason) in [
        (
            "UPDATE sample SET subject = 9",
            "a sample refers to subject 9, but the number of subjects is 2",
        ),
        (
            "UPDATE sample SET point = 1",
            "a sample refers to point 1, but the number of points is 1",
        ),
        (
            "INSERT INTO setting VALUES (2, NULL, 'k', 'v')",
            "a setting refers to subject 2, but the number of subjects is 2",
        ),
        (
            "DELETE FROM meta WHERE key = 'plan'",
            "a sample refers to subject 0, but the number of subjects is 0",
        ),
        (
            "UPDATE meta SET value = replace(value, '\"baseline\":0', '\"baseline\":2') WHERE key = 'plan'",
            "the plan refers to subject 2, but the number of subjects is 2",
        ),
        (
            "UPDATE meta SET value = replace(value, '\"case\":0', '\"case\":1') WHERE key = 'plan'",
            "the plan refers to case 1, but the number of cases is 1",
        ),
    ] {
        fs::write(&path, &original).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = load(&path).expect_err(sql).to_string();
        assert!(
            error.contains(&format!(
                "is damaged or truncated: {reason}. The file was not changed"
            )),
            "{error}"
        );
    }
}

/// Tests the merging of an agent's blocks into its coordinator's file.
#[test]
fn another_files_content_is_merged() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("r.lab"), folder.path().join("o.lab"));
    let agent_run = begun(&other, 3);
    let service = Service {
        target: TargetId(0),
        facts: vec![("version".into(), "16".into())],
    };
    let failure = Failure {
        subject: SubjectId(1),
        point: Some(PointId(0)),
        block: Some(0),
        kind: "crash".into(),
        message: "gone".into(),
        log: Vec::new(),
    };
    agent_run.service(&service).unwrap();
    agent_run.failure(&failure).unwrap();
    agent_run.finish(None, None).unwrap();
    let agent_run = load(&other).unwrap();
    let run = begun(&path, 4);
    for id in 0..2 {
        run.agent(AgentId(id), &Agent::default()).unwrap();
    }
    let older = ("version".into(), "15".into());
    let older = Service {
        target: TargetId(0),
        facts: vec![older],
    };
    run.service(&older).unwrap();
    let before = run.load().unwrap();
    run.merge(&other, AgentId(1)).unwrap();
    run.lost_block(7, 2, AgentId(0), 5.0).unwrap();
    run.finish(None, None).unwrap();
    let run = load(&path).unwrap();
    let merged = agent_run.blocks.iter().map(|block| Block {
        agent: Some(AgentId(1)),
        ..block.clone()
    });
    let lost = Block {
        number: 7,
        attempt: 2,
        started_unix_s: 5.0,
        agent: Some(AgentId(0)),
        ..Block::default()
    };
    let blocks = before.blocks.into_iter().chain(merged).chain([lost]);
    assert_eq!(run.blocks, blocks.collect::<Vec<_>>());
    assert_eq!(run.failures, [failure]);
    assert_eq!(run.services, [service]);
    // A file that is not a run file is not merged and has no effect.
    fs::write(&other, "no run").unwrap();
    let writer = RunWriter::resume(&path).unwrap();
    writer.merge(&other, AgentId(1)).unwrap_err();
    assert_eq!(writer.load().unwrap().blocks, run.blocks);
}

/// A host may repeat the pilots of an earlier session.
#[test]
fn pilots_of_another_file_replace_earlier_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("r.lab"), folder.path().join("o.lab"));
    let pilot = |subject, class, batches: u64| Pilot {
        subject: SubjectId(subject),
        point: PointId(0),
        operations: batches,
        warmup_batches: 1,
        class,
        cold_ns: 5,
        batches: (0..batches).map(|i| sample(i).batch).collect(),
        ages: Vec::new(),
    };
    let run = begun(&path, 0);
    for subject in 0..2 {
        run.pilot(&pilot(subject, WarmUp::CutShort, 3)).unwrap();
    }
    let agent_run = begun(&other, 0);
    agent_run.pilot(&pilot(1, WarmUp::Flat, 2)).unwrap();
    agent_run.finish(None, None).unwrap();
    run.agent(AgentId(0), &Agent::default()).unwrap();
    run.merge(&other, AgentId(0)).unwrap();
    run.finish(None, None).unwrap();
    assert_eq!(
        load(&path).unwrap().pilots,
        [pilot(0, WarmUp::CutShort, 3), pilot(1, WarmUp::Flat, 2)]
    );
}

/// Loading fails for a block that refers to an agent that does not exist.
#[test]
fn a_block_of_a_missing_agent_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let run = begun(&path, 1);
    run.lost_block(1, 0, AgentId(3), 5.0).unwrap();
    run.finish(None, None).unwrap();
    let damaged = load(&path).unwrap_err();
    assert!(matches!(damaged, StoreError::Damaged(..)), "{damaged}");
}

// SPDX-License-Identifier: Apache-2.0
//! Tests that slices of a load run are read back exactly, that any HdrHistogram library can read
//! them, and that damage is reported with its position.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use lab_model::*;
use lab_model::{AgentId, PointId, SubjectId};
use lab_store::{RunWriter, StoreError, hlog, load};
use proptest::prelude::*;
use rusqlite::Connection;
use std::path::Path;

fn plan(subjects: &[&str], connections: &[&str]) -> Plan {
    let subject = |name: &&str| Subject {
        name: name.to_string(),
        ..Subject::default()
    };
    let point = |n: &&str| Point {
        params: vec![("connections".into(), n.to_string())],
        ..Point::default()
    };
    Plan {
        experiment: "load".into(),
        subjects: subjects.iter().map(subject).collect(),
        cases: [Case::default()].into(),
        points: connections.iter().map(point).collect(),
        work: Work::Load(LoadSpec::default()),
        ..Plan::default()
    }
}

/// Older files contain one process ID instead of a list, or none.
#[test]
fn the_servers_processes_are_read_from_older_files() {
    let mut load = serde_json::to_value(LoadSpec::default()).unwrap();
    for (stored, pids) in [("5", vec![5]), ("null", vec![]), ("[5,6]", vec![5, 6])] {
        load["server_pid"] = serde_json::from_str(stored).unwrap();
        let read: LoadSpec = serde_json::from_value(load.clone()).unwrap();
        assert_eq!(read.server_pids, pids);
    }
}

/// A reader adds up the rates in a run file, so an overflow would abort the program.
#[test]
fn stages_beyond_all_limits_are_rejected() {
    let read = |stages: serde_json::Value| {
        let mut load = serde_json::to_value(LoadSpec::default()).unwrap();
        load["arrivals"] = serde_json::json!({"loop": "open", "poisson": true, "stages": stages});
        serde_json::from_value::<LoadSpec>(load).map_err(|e| e.to_string())
    };
    let stage = |from: f64, length_ns: u64| serde_json::json!({"from": from, "to": 1.0, "length_ns": length_ns});
    assert!(read(serde_json::json!([stage(0.0, 1_000_000_000)])).is_ok());
    for wrong in [
        serde_json::json!([stage(1.0, u64::MAX), stage(1.0, u64::MAX)]),
        serde_json::json!([stage(1.0, u64::MAX / 2)]),
    ] {
        assert!(read(wrong).unwrap_err().contains("longer than ten years"));
    }
    for wrong in [-1.0, 1e12] {
        let refused = read(serde_json::json!([stage(wrong, 1)])).unwrap_err();
        assert!(refused.contains("requests per second"), "{refused}");
    }
}

fn bounded() -> Histogram<u64> {
    Histogram::new_with_bounds(1, Counts::MAX_NS, Counts::DIGITS).unwrap()
}

/// Counts times as a load generator does: each time becomes the upper bound of its bucket.
fn counts(times: &[(u64, u64)]) -> Counts {
    let mut histogram = bounded();
    for (time, count) in times {
        histogram.record_n(*time, *count).unwrap();
    }
    counts_of(&histogram)
}

fn counts_of(histogram: &Histogram<u64>) -> Counts {
    let recorded = histogram.iter_recorded();
    let pairs = recorded.map(|v| (v.value_iterated_to(), v.count_since_last_iteration()));
    Counts(pairs.collect())
}

fn slice(subject: u32, pass: u32) -> Slice {
    Slice {
        agents: Vec::new(),
        point: PointId(0),
        subject: SubjectId(subject),
        pass,
        wall_ns: 1_000_000_007,
        drain_ns: 31_000_001,
        foreign_ns: Some(1_234_567),
        offered: 20,
        served: 12,
        errors: vec![(ErrorKind::Connect, 3), (ErrorKind::Unfinished, 5)],
        statuses: vec![(200, 3), (302, 1)],
        counts: LoadCounts::from([
            (LoadCount::Connects, 4),
            (LoadCount::ReceivedBytes, 1 << 40),
            (LoadCount::ReadTimes, 17),
        ]),
        queue_overflows: Some(14),
        cpu_ns: 5,
        busiest_cpu_ns: 6,
        server_cpu_ns: Some(7),
        server_bytes: Some(1 << 33),
        server_threads: Some(9),
        response: counts(&[(u64::from(pass), 3), (1_000_000, 8), (3_000_000_000, 1)]).into(),
        service: counts(&[(77, 12)]).into(),
        send_delay: SliceTimes::default(),
    }
}

/// Writes a finished file that contains `slices` in one complete block.
fn written(path: &Path, plan: &Plan, slices: &[Slice]) {
    let run = RunWriter::create(path, "1", 100.0).unwrap();
    run.plan(plan).unwrap();
    let block = run.begin_block(0, 0, 0, 101.5).unwrap();
    slices.iter().for_each(|s| block.slice(s).unwrap());
    let calm = Disturbance::default();
    block.finish(BlockState::Complete, 99, &calm).unwrap();
    run.finish(Some(Ending::Blocks), None).unwrap();
}

#[test]
fn slices_are_read_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let nothing = Slice {
        wall_ns: 5,
        ..Slice::default()
    };
    let slices = [slice(0, 0), slice(1, 0), nothing, slice(1, 1), slice(0, 1)];
    let plan = plan(&["a", "b"], &["1"]);
    written(&path, &plan, &slices);
    let run = load(&path).unwrap();
    assert_eq!(run.plan(), Some(&plan));
    assert_eq!(run.blocks[0].slices, slices);
}

#[test]
fn opened_connections_are_read_without_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let busy = Slice {
        counts: LoadCounts::from([(LoadCount::Connects, 400)]),
        ..slice(1, 0)
    };
    let plan = plan(&["a", "b"], &["1"]);
    written(&path, &plan, &[slice(0, 0), busy]);
    let rate = lab_store::connects_per_s(&path).unwrap();
    assert!(
        (rate.unwrap() - 400.0).abs() < 0.01,
        "the highest rate: {rate:?}"
    );
    let other = Plan {
        work: Work::Batches,
        ..plan
    };
    let path = folder.path().join("other.lab");
    written(&path, &other, &[slice(0, 0)]);
    assert_eq!(lab_store::connects_per_s(&path).unwrap(), None);
}

#[test]
fn packed_slices_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let part = |agent: AgentId| AgentSlice {
        agent,
        slice: slice(0, 7 + agent.0),
        ..AgentSlice::default()
    };
    let times = counts(&[(900, 12), (70_000, 1)]);
    let original = Slice {
        agents: vec![part(AgentId(0)), part(AgentId(1))],
        response: times.clone().into(),
        service: times.into(),
        ..slice(0, 0)
    };
    let run = RunWriter::create(&path, "1", 100.0).unwrap();
    run.plan(&plan(&["a"], &["1"])).unwrap();
    for name in ["x", "y"] {
        let agent = Agent {
            name: name.into(),
            ..Agent::default()
        };
        run.agent(AgentId(u32::from(name == "y")), &agent).unwrap();
    }
    let block = run.begin_block(0, 0, 0, 101.5).unwrap();
    let moved = block.move_to_file(original.clone(), false).unwrap();
    assert!(matches!(moved.response, SliceTimes::InFile(_)));
    assert_eq!(moved, original);
    drop(moved);
    let calm = Disturbance::default();
    block.finish(BlockState::Complete, 99, &calm).unwrap();
    run.finish(Some(Ending::Blocks), None).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let read = load(&path).unwrap();
    assert!(
        matches!(read.blocks[0].slices[0].send_delay, SliceTimes::Here(_)),
        "the distribution is empty"
    );
    let of_agent = |slice: &Slice| slice.agents[1].slice.response.counts().into_owned();
    assert_eq!(of_agent(&read.blocks[0].slices[0]), of_agent(&original));
    assert_eq!(read.blocks[0].slices[0].response, original.response);
}

#[test]
fn repeated_slices_are_stored_but_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let run = RunWriter::create(&path, "1", 100.0).unwrap();
    run.plan(&plan(&["a"], &["1"])).unwrap();
    let block = run.begin_block(0, 0, 0, 101.5).unwrap();
    drop(block.move_to_file(slice(0, 1), true).unwrap());
    block.slice(&slice(0, 0)).unwrap();
    let calm = Disturbance::default();
    block.finish(BlockState::Complete, 99, &calm).unwrap();
    drop(run);
    let block = &load(&path).unwrap().blocks[0];
    assert_eq!(
        (&block.slices, block.redone_visits()),
        (&vec![slice(0, 0)], 1)
    );
    let db = Connection::open(&path).unwrap();
    let counts = db.query_row("SELECT count(*), sum(redone) FROM slice", [], |r| {
        Ok((r.get(0)?, r.get(1)?))
    });
    assert_eq!(counts, Ok((2, 1)));
}

#[test]
fn unstorable_distributions_are_not_stored_partially() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let run = RunWriter::create(&path, "1", 100.0).unwrap();
    run.plan(&plan(&["a"], &["1"])).unwrap();
    let block = run.begin_block(0, 0, 0, 101.5).unwrap();
    for send_delay in [
        Counts(vec![(u64::MAX, 1)]),
        Counts(vec![(1, u64::MAX)]),
        Counts(vec![(1, u64::MAX / 2), (2, u64::MAX / 2)]),
    ] {
        let send_delay = send_delay.into();
        let bad = Slice {
            send_delay,
            ..slice(0, 0)
        };
        let error = block.slice(&bad).expect_err("it cannot be kept");
        assert!(
            matches!(&error, StoreError::Other(_, reason) if reason.contains("histogram")),
            "{error}"
        );
    }
    block.slice(&slice(0, 0)).unwrap();
    assert_eq!(run.load().unwrap().blocks[0].slices, [slice(0, 0)]);
}

/// Generates times of all magnitudes, and counts up to the maximum of the format.
fn any_counts() -> impl Strategy<Value = Counts> {
    let time = (0..=41u32, any::<u64>())
        .prop_map(|(bits, any)| (any & ((1 << bits) - 1)).min(Counts::MAX_NS));
    let count = prop_oneof![1..5u64, 1..1u64 << 56];
    prop::collection::vec((time, count), 0..60).prop_map(|times| counts(&times))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Distributions stay the same after a round trip through the file, and when another library
    /// decodes the stored bytes.
    #[test]
    fn distributions_survive_exactly(all in prop::collection::vec(any_counts(), 3)) {
        let folder = tempfile::tempdir().unwrap();
        let [path, again] = ["r.lab", "s.lab"].map(|name| folder.path().join(name));
        let [response, service, send_delay] = [0, 1, 2].map(|i| all[i].clone().into());
        let slice = Slice { response, service, send_delay, ..slice(0, 0) };
        written(&path, &plan(&["a"], &["1"]), std::slice::from_ref(&slice));
        let found = load(&path).unwrap().blocks[0].slices.clone();
        prop_assert_eq!(&found, &[slice]);
        for (blob, counts) in blobs(&path).into_iter().zip(&all) {
            prop_assert_eq!(blob.is_none(), counts.0.is_empty());
            let Some(blob) = blob else { continue };
            let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &blob[..]).unwrap();
            prop_assert_eq!(&counts_of(&histogram), counts);
        }
        written(&again, &plan(&["a"], &["1"]), &found);
        prop_assert_eq!(blobs(&path), blobs(&again));
    }
}

fn blobs(path: &Path) -> Vec<Option<Vec<u8>>> {
    let db = Connection::open(path).unwrap();
    let sql = "SELECT response, service, send_delay FROM slice";
    let row = |r: &rusqlite::Row| Ok(vec![r.get(0)?, r.get(1)?, r.get(2)?]);
    db.query_row(sql, [], row).unwrap()
}

/// Agents of a different version may lack a count, or have an additional one.
#[test]
fn counts_are_read_by_their_names() {
    let mut counts = LoadCounts::from([(LoadCount::Connects, 4), (LoadCount::ReadTimes, 7)]);
    let json = serde_json::to_value(counts).unwrap();
    let expected = serde_json::json!({"received_bytes": 0, "connects": 4, "read_times": 7});
    assert_eq!(json, expected);
    let other = serde_json::json!({"connects": 4, "read_times": 7, "other": [1]});
    for json in [json, other] {
        assert_eq!(serde_json::from_value::<LoadCounts>(json).unwrap(), counts);
    }
    counts.add(&LoadCounts::from([(LoadCount::Connects, u64::MAX)]));
    assert_eq!(counts[LoadCount::Connects], u64::MAX);
    // They are members of the slice itself.
    let slice = slice(0, 0);
    let json = serde_json::to_value(&slice).unwrap();
    assert_eq!(json["received_bytes"], 1_u64 << 40);
    assert_eq!(serde_json::from_value::<Slice>(json).unwrap(), slice);
}

/// A file of an earlier version lacks the columns of newer counts.
#[test]
fn counts_that_a_file_lacks_are_zero_and_are_added_when_it_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    written(&path, &plan(&["a"], &["1"]), &[slice(0, 0)]);
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "ALTER TABLE slice DROP COLUMN read_times; ALTER TABLE agent_slice DROP COLUMN read_times",
    )
    .unwrap();
    drop(db);
    let read_times = || {
        let run = load(&path).unwrap();
        let slices = run.blocks.iter().flat_map(|block| &block.slices);
        let counts = slices.map(|slice| slice.counts[LoadCount::ReadTimes]);
        counts.collect::<Vec<u64>>()
    };
    assert_eq!(read_times(), [0]);
    let run = RunWriter::resume(&path).unwrap();
    let block = run.begin_block(1, 0, 0, 102.5).unwrap();
    block.slice(&slice(0, 0)).unwrap();
    block
        .finish(BlockState::Complete, 99, &Disturbance::default())
        .unwrap();
    drop(run);
    assert_eq!(read_times(), [0, 17]);
}

#[test]
fn a_damaged_distribution_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    written(&path, &plan(&["a"], &["1"]), &[slice(0, 0)]);
    let original = blobs(&path)[0].clone().unwrap();
    let with = |blob: &[u8]| {
        let db = Connection::open(&path).unwrap();
        db.execute("UPDATE slice SET response = ?", [blob]).unwrap();
        load(&path).map(|run| run.blocks[0].slices[0].response.clone())
    };
    let changed = |at: usize, bytes: &[u8]| {
        let mut blob = original.clone();
        blob[at..at + bytes.len()].copy_from_slice(bytes);
        blob
    };
    let mut overflowing = changed(4, &20u32.to_be_bytes());
    overflowing.truncate(40);
    let max = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    overflowing.extend(max.iter().chain(&max).chain(&[0, 0]));
    for (blob, reason) in [
        (Vec::new(), "differs from the length in its header"),
        (
            original[..39].to_vec(),
            "differs from the length in its header",
        ),
        (
            original[..original.len() - 1].to_vec(),
            "differs from the length in its header",
        ),
        (
            [&original[..], &[0]].concat(),
            "differs from the length in its header",
        ),
        (
            changed(4, &u32::MAX.to_be_bytes()),
            "differs from the length in its header",
        ),
        (vec![0; 1 << 20], "differs from the length in its header"),
        (changed(8, &[0xff; 4]), "unexpected bounds"),
        (changed(12, &5u32.to_be_bytes()), "unexpected bounds"),
        (changed(16, &[0xff; 8]), "unexpected bounds"),
        (changed(24, &u64::MAX.to_be_bytes()), "unexpected bounds"),
        (changed(0, &[0; 4]), "cookie"),
        (overflowing, "add up to more than"),
    ] {
        let error = with(&blob).expect_err(reason);
        assert!(matches!(error, StoreError::Damaged(..)), "{error}");
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
    assert_eq!(with(&original).unwrap(), slice(0, 0).response);
    let db = Connection::open(&path).unwrap();
    db.execute("UPDATE slice SET response = 'text'", [])
        .unwrap();
    assert!(matches!(load(&path), Err(StoreError::Damaged(..))));
    db.execute_batch("UPDATE slice SET response = NULL; UPDATE slice_error SET kind = 'bad luck'")
        .unwrap();
    assert!(matches!(load(&path), Err(StoreError::Damaged(..))));
    db.execute_batch("DELETE FROM slice_error; UPDATE slice SET subject = 7")
        .unwrap();
    let error = load(&path)
        .expect_err("the subject does not exist")
        .to_string();
    assert!(
        error.contains("a slice refers to subject 7, but the number of subjects is 1"),
        "{error}"
    );
}

/// Decoding arbitrary bytes gives a distribution or an error.
#[test]
fn any_bytes_are_handled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    written(&path, &plan(&["a"], &["1"]), &[slice(0, 0)]);
    let original = blobs(&path)[0].clone().unwrap();
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let (mut runs, mut errors) = (0, 0);
    for _ in 0..800 {
        let mut blob = original.clone();
        for _ in 0..=random(4) {
            // Most changes affect bytes after the header, because nearly every change in the header
            // is rejected immediately.
            let from = if random(8) == 0 { 0 } else { 40 };
            let place = from + random(blob.len() - from);
            blob[place] = random(256) as u8;
        }
        if random(8) == 0 {
            // The length is corrected.
            blob.truncate(40 + random(blob.len() - 40));
            let length = (blob.len() - 40) as u32;
            blob[4..8].copy_from_slice(&length.to_be_bytes());
        }
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "synchronous", "off").unwrap();
        db.execute("UPDATE slice SET response = ?", [&blob])
            .unwrap();
        match load(&path) {
            Ok(run) => {
                let pairs = &run.blocks[0].slices[0].response.counts().0;
                assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0), "{blob:?}");
                runs += 1;
            }
            Err(StoreError::Damaged(..)) => errors += 1,
            Err(other) => panic!("{other}: {blob:?}"),
        }
    }
    assert!(
        runs > 100 && errors > 100,
        "{runs} runs, {errors} errors: the damage should do both"
    );
}

/// Returns the entries of an HdrHistogram log: tag, start and length in ns, and distribution.
fn intervals(log: &str) -> Vec<(String, u128, u128, Counts)> {
    let entries = IntervalLogIterator::new(log.as_bytes());
    let intervals = entries.filter_map(|entry| match entry.expect("a sound line") {
        LogEntry::Interval(interval) => Some(interval),
        _ => None,
    });
    let read = intervals.map(|i| {
        let bytes = BASE64.decode(i.encoded_histogram()).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        let tag = i.tag().expect("a tag").as_str().to_string();
        let (begin, length) = (i.start_timestamp().as_nanos(), i.duration().as_nanos());
        (tag, begin, length, counts_of(&histogram))
    });
    read.collect()
}

#[test]
fn the_log_has_every_slice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let empty = Slice {
        wall_ns: 250_000_000,
        ..Slice::default()
    };
    written(&path, &plan(&["a"], &["1"]), &[slice(0, 0), empty]);
    let log = hlog(&load(&path).unwrap()).unwrap();
    let head: Vec<&str> = log.lines().take(3).collect();
    assert_eq!(
        head,
        [
            "#[Histogram log format version 1.3]",
            "#[StartTime: 100.000 (seconds since epoch)]",
            "#[BaseTime: 100.000 (seconds since epoch)]",
        ]
    );
    let (ms, first) = (1_000_000, slice(0, 0));
    // Includes the time until the last response after the end.
    let length_ns = 1031 * ms;
    let interval = |tag: &str, begin, length, counts: &Counts| {
        (tag.to_string(), begin, length, counts.clone())
    };
    let none = Counts::default();
    assert_eq!(
        intervals(&log),
        [
            interval("response", 1500 * ms, length_ns, &first.response.counts()),
            interval("service", 1500 * ms, length_ns, &first.service.counts()),
            interval("response", 2531 * ms, 250 * ms, &none),
            interval("service", 2531 * ms, 250 * ms, &none),
        ]
    );
    // In ms, as the format's tools show it.
    let maximum = log.lines().nth(4).unwrap().split(',').nth(3).unwrap();
    assert_eq!(maximum.parse::<f64>().unwrap().round(), 3001.0);
}

#[test]
fn the_log_distinguishes_servers_and_points_with_any_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.lab");
    let plan = plan(&["my,server\n1", "http://[::1]:80"], &["1", "2"]);
    let second = Slice {
        point: PointId(1),
        ..slice(1, 0)
    };
    written(&path, &plan, &[slice(0, 0), second]);
    let log = hlog(&load(&path).unwrap()).unwrap();
    let tags: Vec<String> = intervals(&log).into_iter().map(|i| i.0).collect();
    assert_eq!(
        tags,
        [
            "my_server_1/connections=1/response",
            "my_server_1/connections=1/service",
            "http://[::1]:80/connections=2/response",
            "http://[::1]:80/connections=2/service",
        ]
    );
}

/// Merged slices keep their errors under their new IDs.
#[test]
fn slices_of_another_file_are_merged_with_their_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("r.lab"), folder.path().join("o.lab"));
    let plan = plan(&["a"], &["1"]);
    let with_errors = Slice {
        errors: vec![(ErrorKind::Timeout, 3)],
        ..slice(0, 1)
    };
    written(&path, &plan, &[slice(0, 0)]);
    written(&other, &plan, &[slice(0, 0), with_errors]);
    let run = RunWriter::resume(&path).unwrap();
    run.agent(AgentId(0), &Agent::default()).unwrap();
    run.merge(&other, AgentId(0)).unwrap();
    run.finish(None, None).unwrap();
    let [run, merged] = [&path, &other].map(|path| load(path).unwrap());
    assert_eq!(run.blocks.len(), 2);
    assert_eq!(run.blocks[1].slices, merged.blocks[0].slices);
    assert_eq!(run.blocks[0].slices, [slice(0, 0)]);
}

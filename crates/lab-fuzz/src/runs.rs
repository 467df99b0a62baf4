// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for the inputs of a run: messages of subjects and agents, run files, the output of
//! strace and of other programs, and the conditions of gates.

use lab_bench::protocol::{SubjectLine, command};
use lab_bench::read_trace;
use lab_document::{ImportLimits, import_xml};
use lab_import::report::{ImportReport, document};
use lab_import::{Limits, parse};
use lab_logs::analysis::gate::Gate;
use lab_logs::{FieldMap, Rules, Zone, wording};
use lab_many::load::bytes::{put_back, take};
use lab_many::message::{ToAgent, ToCoordinator};
use lab_many::{launcher, wire};
use lab_model::{Content, Plan, Run, Slice};
use lab_stats::gate::GateCondition;
use lab_store::histogram;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Parses the output of strace.
pub fn strace(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    if let Ok(batches) = read_trace(bytes) {
        let calls: i64 = batches.iter().flat_map(|batch| batch.kinds.values()).sum();
        assert!(calls <= lines as i64, "more calls than lines");
        for batch in &batches {
            assert!(batch.round_trips <= calls && batch.futex_waits <= calls);
            assert!(
                batch.sent_bytes >= 0 && batch.received_bytes >= 0,
                "{batch:?}"
            );
        }
    }
}

/// Parses a line from a subject. A reply that is formatted as a command must parse to the same
/// reply.
pub fn subject_line(bytes: &[u8]) {
    let SubjectLine::Reply(reply) = SubjectLine::parse(bytes) else {
        return;
    };
    let args = reply.args().iter();
    let args = args.map(|(key, value)| (key.as_str(), value.as_str()));
    let line = format!("@lab {}", command(&reply.verb, args));
    let again = SubjectLine::parse(line.trim_end_matches('\n').as_bytes());
    for (key, value) in reply.args() {
        if let Ok(number) = reply.number(key) {
            assert_eq!(value.parse(), Ok(number), "{key}");
        }
    }
    assert_eq!(again, SubjectLine::Reply(reply), "{line}");
}

/// Parses messages between coordinator and agent, in both directions.
pub fn agent_message(bytes: &[u8]) {
    let _ = wire::read_magic(&mut &bytes[..], 64);
    check_messages::<ToAgent>(bytes);
    check_messages::<ToCoordinator>(bytes);
}

fn check_messages<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some((head, body))) = wire::read::<T>(&mut rest) {
        let mut frame = Vec::new();
        wire::write(&mut frame, &head, &body).expect("memory");
        let again = wire::read::<T>(&mut &frame[..]).expect("a frame");
        let (head_again, body_again) = again.expect("a frame");
        let json = |head: &T| serde_json::to_value(head).expect("JSON");
        assert_eq!(json(&head_again), json(&head));
        assert_eq!(body_again, body);
    }
}

/// Decodes distributions of times, as in run files and messages of agents. Checks that they survive
/// a round trip.
pub fn times(bytes: &[u8]) {
    if let Ok(counts) = histogram::decode(bytes) {
        for fraction in [0.5, 0.99, 1.0] {
            counts.quantile(fraction);
        }
        let again = histogram::encode(&counts).expect("a histogram");
        match again {
            Some(again) => assert_eq!(histogram::decode(&again), Ok(counts)),
            None => assert_eq!(counts.total(), 0),
        }
    }
    if let Ok(times) = histogram::pack(bytes) {
        times.counts();
    }
    let mut slice = Slice::default();
    if put_back(&mut slice, bytes).is_ok() {
        let written = take(&mut slice).expect("distributions");
        put_back(&mut slice, &written).expect("distributions");
    }
}

/// Parses measurements of other programs in XML.
pub fn imported_xml(bytes: &[u8]) {
    let limits = ImportLimits {
        elements: 1000,
        ..ImportLimits::default()
    };
    match import_xml(bytes, &limits) {
        Ok(imported) => {
            let elements: usize = imported.iter().map(|one| 1 + one.times.len()).sum();
            // The root element `<measures>` is not counted.
            assert!(elements <= 1001, "{elements} elements");
            for time in imported.iter().flat_map(|one| &one.times) {
                assert!(time.time_ns >= 0.0 && time.time_ns.is_finite(), "{time:?}");
                assert!(
                    time.total_ns >= 0.0 && time.total_ns.is_finite(),
                    "{time:?}"
                );
            }
        }
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "{error}");
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!(error.line <= lines, "{error}: of {lines} lines");
        }
    }
}

/// Parses a file of another tool in every format.
pub fn imported_file(bytes: &[u8]) {
    let limits = Limits {
        values: 10_000,
        benchmarks: 1000,
        ..Limits::default()
    };
    let formats = lab_import::FORMATS.into_iter().map(Some).chain([None]);
    for format in formats {
        match parse(
            Path::new("no such directory"),
            bytes.to_vec(),
            format,
            &limits,
        ) {
            Ok(file) => {
                let series = file.imports.iter().flat_map(|import| &import.series);
                for one in series {
                    assert!(!one.processes.is_empty(), "{one:?}");
                    for value in one.processes.iter().flatten() {
                        assert!(value.is_finite() && *value >= 0.0, "{one:?}");
                    }
                }
                let run = Run {
                    content: Content::Imported(file.imports),
                    ..Run::default()
                };
                document(&ImportReport {
                    run: &run,
                    file: "",
                });
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Parses arguments that have their own grammar: conditions, routes, fields, time zones and the
/// locations of agents.
pub fn argument(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(gate) = text.parse::<Gate>() {
        let answer = gate.judge(&Default::default());
        assert!(answer.bound.is_finite(), "{text}");
        let words = match &answer.value {
            Ok(value) => wording::gate_value(answer.metric, *value),
            Err(problem) => wording::gate_problem(answer.metric, problem),
        };
        assert!(!words.is_empty());
    }
    let _ = GateCondition::parse(text, &Plan::default()).map_err(|error| error.to_string());
    let _ = FieldMap::new(text);
    let _ = Zone::named(text);
    let _ = launcher::parse(text);
    if let Ok(rules) = Rules::new(text) {
        for path in ["/", "/a/7", text] {
            rules.route(path.as_bytes());
            rules.is_check(path.as_bytes());
            rules.agent(path.as_bytes());
        }
        rules.distinguish_numbers();
    }
}

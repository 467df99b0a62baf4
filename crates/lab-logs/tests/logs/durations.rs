// SPDX-License-Identifier: Apache-2.0
//! Checks that durations and their units are found, or that the log's assumptions say that they
//! were guessed.

use crate::support::{MONDAY, Random, ReadLog, clf};
use lab_logs::Hints;
use lab_model::{LogAdvice, LogAssumption};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

/// Returns a line in combined log format that ends with `tail`.
///
/// The times of successive lines are 2 s apart.
fn combined_line(index: usize, tail: &str) -> String {
    let time = clf(MONDAY + 2 * index as i64);
    let end = if tail.is_empty() { "" } else { " " };
    format!("::1 - - [{time} +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"curl/8\"{end}{tail}\n")
}

/// Returns a log in combined log format.
fn combined(lines: usize, tail: impl FnMut(usize) -> String) -> String {
    let mut tail = tail;
    (0..lines).map(|i| combined_line(i, &tail(i))).collect()
}

/// Returns JSON lines with the additional `fields`.
///
/// The times of successive lines are 2 s apart.
fn json(lines: usize, mut fields: impl FnMut(usize) -> String) -> String {
    let line = |i: usize| {
        format!(
            "{{\"time\":{}.5,\"method\":\"GET\",\"path\":\"/a\",\"status\":200,{}}}\n",
            MONDAY + 2 * i as i64,
            fields(i)
        )
    };
    (0..lines).map(line).collect()
}

fn read(log: &str) -> ReadLog {
    ReadLog::new(log, &Hints::default())
}

fn read_with_unit(log: &str, unit: u64) -> ReadLog {
    let hints = Hints {
        unit: Some(unit),
        ..Hints::default()
    };
    ReadLog::new(log, &hints)
}

fn read_with_format(log: &str, format: &str) -> ReadLog {
    let hints = Hints {
        format: Some(format.into()),
        ..Hints::default()
    };
    ReadLog::new(log, &hints)
}

/// Returns the units that a log leaves possible in addition to the assumed unit.
fn other_units(log: &ReadLog) -> Vec<u64> {
    let others = log.assumptions.iter().find_map(|a| match a {
        LogAssumption::Unit { others_ns, .. } | LogAssumption::BareNumber { others_ns, .. } => {
            Some(others_ns.clone())
        }
        _ => None,
    });
    others.unwrap_or_else(|| panic!("{:?}", log.assumptions))
}

/// Long polling, WebSockets and language models: requests that take minutes.
#[test]
fn long_durations_do_not_exclude_seconds() {
    for seconds in [35.0, 60.0, 200.0, 900.0] {
        let mut random = Random(1);
        let mut value = |_| format!("{:.3}", seconds * (0.8 + 0.4 * random.part()));
        let log = read(&combined(60, &mut value));
        assert!(other_units(&log).contains(&S), "{seconds}");
        let named = read(&combined(60, |i| format!("rt={}", value(i))));
        assert!(named.has_assumed_durations(), "{seconds}");
        let (_, mean_us) = named.timed_and_mean_us();
        assert!(mean_us > 20_000_000, "{seconds}: {mean_us}");
        let log = read(&json(60, |i| format!("\"duration\":{}7", value(i))));
        assert!(other_units(&log).contains(&S), "{seconds}");
        let whole = |i: usize| format!("{}", seconds as u64 + i as u64 * 7 % 10);
        let log = read(&json(60, |i| format!("\"duration\":{}", whole(i))));
        assert!(other_units(&log).contains(&S), "{seconds}");
        // The user knows the unit, and nginx defines it.
        let log = read_with_unit(&combined(60, &mut value), S);
        assert_eq!(log.assumptions, [], "{seconds}");
        let format = r#"$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time"#;
        let log = read_with_format(&combined(60, &mut value), format);
        assert_eq!(log.assumptions, [], "{seconds}");
    }
    // ms as whole numbers.
    let log = read(&json(60, |i| {
        format!("\"duration\":{}", 45_000 + i * 700 % 9_000)
    }));
    assert!(other_units(&log).contains(&MS));
}

/// pino's documentation says ms. Requests of 1 min are more likely than requests of 16 h.
#[test]
fn a_known_producers_unit_is_better_than_any_other() {
    let pino = |millis: f64| {
        let log = json(60, |i| {
            let millis = millis + 10.0 * i as f64;
            format!(
                "\"level\":30,\"pid\":1,\"hostname\":\"h\",\"req\":{{\"method\":\"GET\",\"url\":\"/a\"}},\
                 \"res\":{{\"statusCode\":200}},\"responseTime\":{millis:.1},\"msg\":\"request completed\""
            )
        });
        let log = read(&log);
        (
            log.has_assumed_durations(),
            log.timed_and_mean_us().1 / 1_000_000,
        )
    };
    assert_eq!(pino(60_000.5), (true, 60));
    assert_eq!(pino(110_000.5), (true, 110));
    assert_eq!(pino(500_000.5), (true, 500));
    assert_eq!(pino(5_000_000.5), (true, 5_000));
    assert_eq!(pino(1_000.5), (false, 1));
}

#[test]
fn a_unit_that_changes_after_the_sample_is_reported() {
    let changed = |log: &ReadLog| {
        log.assumptions.iter().find_map(|a| match a {
            LogAssumption::ChangedUnit { times, .. } => Some(*times),
            _ => None,
        })
    };
    let value = |i: usize| 200.25 + (i * 37 % 100) as f64;
    let is_late = |i: usize| i >= 1_500;
    let scale = |i: usize, late: f64| if is_late(i) { late } else { 1.0 };
    for late in [1e-3, 1e3] {
        let log = json(3_000, |i| {
            format!("\"duration\":{:.5}", value(i) * scale(i, late))
        });
        assert_eq!(changed(&read(&log)), Some(1_000), "{late}");
        let log = combined(3_000, |i| format!("{:.5}", value(i) * scale(i, late)));
        assert_eq!(changed(&read(&log)), Some(1_000), "{late}");
    }
    let log = json(3_000, |i| {
        let late = if is_late(i) { 1_000 } else { 1_000_000 };
        format!("\"duration\":{}", (250 + i % 7) * late)
    });
    assert_eq!(changed(&read(&log)), Some(1_000));
    let w3c = |i: usize| {
        let value = if is_late(i) { 250_000 + i } else { 250 + i % 9 };
        format!("2026-04-06 10:{:02}:{:02} /a 200 {value}\n", i / 60, i % 60)
    };
    let lines: String = (0..3_000).map(w3c).collect();
    let log = read(&format!(
        "#Fields: date time cs-uri-stem sc-status time-taken\n{lines}"
    ));
    assert_eq!(changed(&log), Some(1_000));
    // A server that becomes 50 times slower, and durations with a known unit.
    let log = json(3_000, |i| {
        format!("\"duration\":{:.5}", value(i) * scale(i, 50.0))
    });
    assert_eq!(changed(&read(&log)), None);
    let log = json(3_000, |i| {
        format!("\"duration_ms\":{:.5}", value(i) * scale(i, 1e3))
    });
    assert_eq!(read(&log).assumptions, []);
}

/// nginx: `$msec` is the time of the line.
#[test]
fn the_time_of_a_line_is_not_its_duration() {
    let msec = |i: usize| format!("{}.123", MONDAY + 2 * i as i64);
    let millis = |i: usize| format!("{}123", MONDAY + 2 * i as i64);
    let duration = |i: usize| format!("0.{:03}", 200 + i * 37 % 100);
    for unit in [None, Some(S)] {
        for order in 0..4 {
            let log = combined(60, |i| match order {
                0 => format!("{} {}", duration(i), msec(i)),
                1 => format!("{} {}", msec(i), duration(i)),
                2 => format!("{} {}", millis(i), duration(i)),
                _ => format!("t={} {}", msec(i), duration(i)),
            });
            let hints = Hints {
                unit,
                ..Hints::default()
            };
            let log = ReadLog::new(&log, &hints);
            let (timed, mean_us) = log.timed_and_mean_us();
            assert_eq!(timed, 60);
            assert!((200_000..300_000).contains(&mean_us), "{order}: {mean_us}");
        }
    }
    for alone in [msec, millis] {
        let log = read(&combined(60, alone));
        assert_eq!(log.timed_and_mean_us().0, 0);
        assert_eq!(log.advice, [LogAdvice::NoDurations]);
    }
    // A number that increases from line to line is a counter, if there is another.
    let log = read(&combined(60, |i| {
        format!("{}.250 {}", 1_000 + i, duration(i))
    }));
    let (_, mean_us) = log.timed_and_mean_us();
    assert!((200_000..300_000).contains(&mean_us), "{mean_us}");
}

#[test]
fn durations_that_lose_their_unit_are_reported() {
    let value = |i: usize| 20 + i * 37 % 100;
    for name in ["", "took="] {
        let log = combined(3_000, |i| match i < 1_500 {
            true => format!("{name}{}ms", value(i)),
            false => format!("{name}{}", value(i)),
        });
        assert!(other_units(&read(&log)).contains(&S), "{name}");
        assert_eq!(read_with_unit(&log, MS).assumptions, []);
        let log = json(3_000, |i| match i < 1_500 {
            true => format!("\"duration\":\"{}ms\"", value(i)),
            false => format!("\"duration\":{}", value(i)),
        });
        let log = read(&log);
        assert!(other_units(&log).contains(&S));
        assert!(log.timed_and_mean_us().1 < 120_000);
        // 0 is the same in every unit.
        let log = combined(3_000, |i| match i % 20 {
            0 => format!("{name}0"),
            _ => format!("{name}{}ms", value(i)),
        });
        assert_eq!(read(&log).assumptions, []);
    }
}

#[test]
fn a_specified_unit_is_checked() {
    let is_implausible = |log: &ReadLog| {
        let is_it = |a: &LogAssumption| matches!(a, LogAssumption::ImplausibleDurations { .. });
        log.assumptions.iter().any(is_it) && log.has_assumed_durations()
    };
    let millis = |i: usize| 90_000_000 + i * 1_777 % 100_000;
    let log = read_with_unit(&combined(60, |i| format!("rt={}", millis(i))), S);
    assert!(is_implausible(&log));
    let log = read_with_unit(&json(60, |i| format!("\"duration\":{}", millis(i))), S);
    assert!(is_implausible(&log));
    let log = read_with_unit(&json(60, |i| format!("\"duration\":{}", millis(i))), 1_000);
    assert_eq!(log.assumptions, []);
}

#[test]
fn a_field_before_the_duration_is_reported() {
    let moved = |log: &ReadLog| {
        log.assumptions.iter().find_map(|a| match a {
            LogAssumption::FieldsDiffer { lines, .. } => Some(*lines),
            _ => None,
        })
    };
    let duration = |i: usize| format!("0.{:03}", 200 + i * 37 % 100);
    // The change is after the sample, within it, and at its beginning.
    for begin in [1_500, 600, 300] {
        let log = combined(3_000, |i| match i < begin {
            true => duration(i),
            false => format!("0.001 {}", duration(i)),
        });
        for log in [read(&log), read_with_unit(&log, S)] {
            assert!(moved(&log).is_some_and(|lines| lines >= 300), "{begin}");
            assert!(log.has_assumed_durations());
        }
    }
    // Named fields have no position, and a single line is an exception.
    let log = combined(3_000, |i| match i < 1_500 {
        true => format!("rt={}", duration(i)),
        false => format!("uct=0.001 rt={}", duration(i)),
    });
    assert_eq!(moved(&read(&log)), None);
    let log = combined(3_000, |i| match i == 2_000 {
        true => format!("0.001 {}", duration(i)),
        false => duration(i),
    });
    assert_eq!(moved(&read(&log)), None);
    // nginx's list of upstream servers is one field.
    let log = combined(3_000, |i| match i % 3 {
        0 => format!("{} 0.001, 0.002 : 0.003", duration(i)),
        _ => format!("{} 0.001", duration(i)),
    });
    assert_eq!(moved(&read(&log)), None);
}

#[test]
fn a_format_with_fewer_fields_than_the_lines_is_reported() {
    let line = |i: usize, tail: &str| {
        let time = clf(MONDAY + i as i64);
        format!(
            "::1 [{time} +0000] \"GET /a HTTP/1.1\" 200 5 {}{tail}\n",
            250_000 + i
        )
    };
    let log: String = (0..60).map(|i| line(i, " 77 \"x\"")).collect();
    let longer = |format: &str, log: &str| {
        let log = read_with_format(log, format);
        let more = LogAssumption::MoreFields { lines: 60 };
        assert_eq!(log.assumptions.contains(&more), log.has_assumed_durations());
        log.has_assumed_durations()
    };
    assert!(longer("%h %t \"%r\" %>s %D", &log));
    assert!(longer("%h %t \"%r\" %>s %b %D", &log));
    assert!(longer(
        "$remote_addr [$time_local] \"$request\" $status $request_time",
        &log
    ));
    let exact: String = (0..60).map(|i| line(i, "")).collect();
    assert!(!longer("%h %t \"%r\" %>s %b %D", &exact));
}

#[test]
fn durations_that_begin_later_are_read() {
    for tail in ["", "\"10.0.0.1\""] {
        for name in ["", "rt="] {
            let log = combined(3_000, |i| match i < 1_500 {
                true => tail.to_string(),
                false => format!("{tail} {name}0.{}", 200 + i * 37 % 100)
                    .trim_start()
                    .into(),
            });
            let given = read_with_unit(&log, S);
            for log in [read(&log), given] {
                let (timed, mean_us) = log.timed_and_mean_us();
                assert!((900..=1_500).contains(&timed), "{tail:?} {name:?}: {timed}");
                assert!((200_000..300_000).contains(&mean_us), "{mean_us}");
                assert!(!log.advice.contains(&LogAdvice::NoDurations));
            }
        }
    }
    // The change is within the sample.
    for begin in [300, 900] {
        let log = combined(3_000, |i| match i < begin {
            true => String::new(),
            false => format!("0.{}", 200 + i * 37 % 100),
        });
        let (timed, _) = read(&log).timed_and_mean_us();
        assert!(timed >= 2_000, "{begin}: {timed}");
    }
    let log = combined(3_000, |i| {
        if i % 2 == 0 {
            String::new()
        } else {
            "\"x\"".into()
        }
    });
    assert_eq!(read(&log).timed_and_mean_us().0, 0);
}

/// nginx writes `-` for `$upstream_response_time` if no upstream server was asked.
#[test]
fn a_dash_is_a_missing_duration() {
    let some = |value: &str| {
        let value = value.to_string();
        move |i: usize| {
            if i.is_multiple_of(3) {
                "-".into()
            } else {
                value.replace('#', &(i % 7).to_string())
            }
        }
    };
    for (value, mean_us) in [("0.20#", 202_950), ("2#ms", 22_950), ("2#.5 ms", 23_450)] {
        let log = read(&combined(60, some(value)));
        let (timed, found_us) = log.timed_and_mean_us();
        assert_eq!(timed, 40, "{value}");
        assert!(found_us.abs_diff(mean_us) < 1_500, "{value}: {found_us}");
    }
    let log = read(&combined(60, |i| format!("urt={}", some("0.20#")(i))));
    assert_eq!(log.timed_and_mean_us().0, 40);
    let log = read(&combined(60, |i| some("0.20#")(i).replace('-', "-1")));
    assert_eq!(log.timed_and_mean_us().0, 40);
    // Traefik has neither names nor a duration without a server.
    let log = read(&combined(60, |i| match i % 3 {
        0 => format!("{i} \"-\" \"-\""),
        _ => format!("{i} \"fe\" \"http://1\" {}ms", 20 + i),
    }));
    assert_eq!(
        (log.timed_and_mean_us().0, &log.assumptions[..]),
        (40, &[][..])
    );
    // Most pages are files.
    let log = read(&combined(900, |i| match i % 30 {
        0 => "0.250".into(),
        _ => "-".into(),
    }));
    assert_eq!(log.timed_and_mean_us(), (30, 250_000));
    // nginx's $connection and $bytes_sent.
    let log = read(&combined(60, |i| {
        format!("{} {}", 4_000 + i, 300 + i * 37 % 100)
    }));
    assert_eq!(log.timed_and_mean_us().0, 0);
    // nginx's $gzip_ratio and $upstream_status are no durations.
    for other in ["2.3#", "20#"] {
        let log = read(&combined(60, some(other)));
        assert_eq!(log.timed_and_mean_us().0, 0, "{other}");
    }
}

#[test]
fn a_field_without_any_duration_is_named() {
    let line = |i: usize| {
        let time = clf(MONDAY + i as i64);
        format!("::1 [{time} +0000] \"GET /a HTTP/1.1\" 200 -\n")
    };
    let log: String = (0..30).map(line).collect();
    for (format, field) in [
        (
            "$remote_addr [$time_local] \"$request\" $status $upstream_response_time",
            "$upstream_response_time",
        ),
        ("%h %t \"%r\" %>s %D", "%D"),
        ("%h %t \"%r\" %>s %{ms}T", "%{ms}T"),
    ] {
        let log = read_with_format(&log, format);
        let advice = LogAdvice::NoDurationValues {
            field: field.into(),
        };
        assert_eq!(
            (log.advice, log.assumptions),
            (vec![advice], vec![]),
            "{format}"
        );
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Checks that timestamps are read in the forms that servers write, or that the report says that
//! they cannot be read.

use crate::support::{MONDAY, ReadLog, clf, line};
use lab_logs::analysis::week::slots;
use lab_logs::{Hints, Rules, ServerLog, Tally, TallyPart, Zone, read};
use lab_model::{FieldRole, LogAdvice, LogAssumption};

fn hints(zone: Option<&str>, format: Option<&str>) -> Hints {
    Hints {
        zone: zone.map_or_else(Zone::default, |name| Zone::named(name).expect("a zone")),
        format: format.map(String::from),
        ..Hints::default()
    }
}

/// Returns JSON lines with `fields`, in which `MM` is replaced by the minute.
fn json(fields: &str) -> String {
    let line = |minute: usize| {
        let fields = fields.replace("MM", &format!("{minute:02}"));
        format!(
            "{{{fields},\"method\":\"GET\",\"path\":\"/a\",\"status\":200,\"duration_ms\":5}}\n"
        )
    };
    (0..30).map(line).collect()
}

/// Reads JSON lines with a time on 2026-04-06.
///
/// Returns the first hour in UTC.
fn hour(fields: &str, zone: Option<&str>) -> (Option<i64>, ReadLog) {
    let log = ReadLog::new(&json(fields), &hints(zone, None));
    assert_eq!(log.malformed, 0, "{fields}");
    (log.first_hour(MONDAY), log)
}

#[test]
fn am_and_pm_count() {
    for (time, expected) in [
        (r#""time":"2026-04-06 02:MM:00 PM""#, 14),
        (r#""time":"2026-04-06 02:MM:00 pm""#, 14),
        (r#""time":"2026-04-06T02:MM:00.123 AM""#, 2),
        (r#""time":"2026-04-06 12:MM:00 AM""#, 0),
        (r#""date":"2026-04-06","time":"02:MM:00 PM""#, 14),
    ] {
        let (found, log) = hour(time, Some("Etc/UTC"));
        assert_eq!(
            (found, log.has_assumed_times()),
            (Some(expected), false),
            "{time}"
        );
        let (found, log) = hour(time, Some("Europe/Berlin"));
        assert_eq!(
            (found, log.has_assumed_times()),
            (Some(expected - 2), false),
            "{time}"
        );
    }
}

#[test]
fn zones_in_the_text_are_read() {
    for (time, expected) in [
        ("2026-04-06 14:MM:00 CEST", 12),
        ("2026-04-06 14:MM:00 GMT+0100", 13),
        ("2026-04-06T14:MM:00 UTC+2", 12),
        ("2026-04-06T14:MM:00+01:00:00", 13),
        ("2026-04-06T14:MM:00 America/New_York", 18),
        ("2026-04-06T14:MM:00[Europe/Berlin]", 12),
        ("20260406T14MM00Z", 14),
        ("20260406T14MM00+0200", 12),
        ("[06/Apr/2026:14:MM:00 +0200]", 12),
    ] {
        let (found, log) = hour(&format!("\"time\":\"{time}\""), None);
        assert_eq!(
            (found, &log.assumptions[..]),
            (Some(expected), &[][..]),
            "{time}"
        );
    }
    let (found, log) = hour(r#""time":"2026-04-06 14:MM:00 EST""#, None);
    assert_eq!(found, Some(19));
    assert!(matches!(
        log.assumptions[..],
        [LogAssumption::AmbiguousZone { .. }]
    ));
    let (_, log) = hour(r#""time":"2026-04-06 14:MM:00 Mars/Base""#, None);
    assert!(matches!(
        log.assumptions[..],
        [LogAssumption::UnknownZone { .. }]
    ));
    let (_, log) = hour(r#""time":"2026-04-06 14:MM:00""#, None);
    assert_eq!(log.assumptions, [LogAssumption::NoZone]);
}

#[test]
fn a_time_with_an_offset_takes_precedence() {
    const LOCAL: &str = r#""time":"2026-04-06T14:MM:00""#;
    for (other, expected) in [
        (r#""timestamp":"2026-04-06T14:MM:00+02:00""#, 12),
        (r#""timestamp":"2026-04-06T12:MM:00.5Z""#, 12),
        (r#""@timestamp":"2026-04-06T20:MM:01Z""#, 20),
    ] {
        for fields in [format!("{LOCAL},{other}"), format!("{other},{LOCAL}")] {
            let (found, log) = hour(&fields, None);
            assert_eq!(
                (found, &log.assumptions[..]),
                (Some(expected), &[][..]),
                "{fields}"
            );
        }
    }
    // Another moment, such as that of a batch.
    let (found, log) = hour(
        &format!(r#"{LOCAL},"timestamp":"2026-04-06T14:07:33Z""#),
        None,
    );
    assert_eq!((found, log.has_assumed_times()), (Some(14), true));
}

#[test]
fn times_that_cannot_be_parsed_are_shown() {
    for (time, example) in [
        (r#""10:MM:00""#, "10:00:00"),
        (r#""2026-04-06 10.MM.00""#, "2026-04-06 10.00.00"),
        (
            r#""2026-04-06 02:MM:00 nachm.""#,
            "2026-04-06 02:00:00 nachm.",
        ),
        (r#""Monday, 10:MM""#, "Monday, 10:00"),
        ("9151488MM", "915148800"),
        ("12.5MM", "12.5"),
    ] {
        let (found, log) = hour(&format!("\"time\":{time}"), None);
        let advice = LogAdvice::TimesUnparsed {
            field: "time".into(),
            example: example.into(),
        };
        assert_eq!((found, log.advice), (None, vec![advice]), "{time}");
    }
    // Another field may be the time.
    let (_, log) = hour(r#""time":12,"seen":"2026-04-06T14:MM:00Z""#, None);
    let is_missing = |advice: &LogAdvice| matches!(advice, LogAdvice::FieldMissing { role: FieldRole::Time, candidates } if candidates == &["seen"]);
    assert!(log.advice.iter().any(is_missing), "{:?}", log.advice);
}

#[test]
fn seconds_since_1970_can_have_any_unit() {
    let (found, _) = hour("\"time\":\"17754841MM,123\"", None);
    assert_eq!(found, Some(14));
    let line = |time: &str| format!("::1 {time} \"GET /a HTTP/1.1\" 200 5 250000\n");
    let log = |time: &dyn Fn(i64) -> String| -> String {
        (0..30).map(|i| line(&time(MONDAY + 30 * i))).collect()
    };
    let seconds = |time: i64| time.to_string();
    let millis = |time: i64| format!("{time}123");
    let micros = |time: i64| format!("{time}123456");
    let point = |time: i64| format!("{time}.123");
    for (fields, times) in [
        ("%{sec}t%{msec_frac}t", &millis as &dyn Fn(i64) -> String),
        ("%{sec}t%{usec_frac}t", &micros),
        ("%{%s}t%{msec_frac}t", &millis),
        ("%{%s}t.%{msec_frac}t", &point),
        ("%{sec}t.%{msec_frac}t", &point),
        ("%{sec}t", &seconds),
        ("%{sec}t", &millis),
        ("%{%s}t", &millis),
        ("%{msec}t", &millis),
        ("%{msec}t", &seconds),
        ("%{usec}t", &micros),
    ] {
        let format = format!("%h {fields} \"%r\" %>s %b %D");
        let read = ReadLog::new(&log(times), &hints(None, Some(&format)));
        assert_eq!(
            (read.first_hour(MONDAY), read.malformed),
            (Some(0), 0),
            "{fields}"
        );
        let (_, peak) = read.analysis.peak_minute.expect("a peak");
        assert_eq!(peak, 2, "{fields}");
    }
    // A time before 2001 is another number.
    let read = ReadLog::new(
        &log(&|time| (time - MONDAY).to_string()),
        &hints(None, Some("%h %{sec}t \"%r\" %>s %b %D")),
    );
    assert_eq!((read.malformed, read.first_hour(MONDAY)), (30, None));
}

#[test]
fn twelve_hours_without_am_or_pm_are_reported() {
    let line = |minute: usize, end: &str| {
        format!("::1 2026-04-06 02:{minute:02}:00{end} \"GET /a HTTP/1.1\" 200 5 250\n")
    };
    let read = |time: &str, end: &str| {
        let log: String = (0..30).map(|minute| line(minute, end)).collect();
        let format = format!("%h {time} \"%r\" %>s %b %{{ms}}T");
        ReadLog::new(&log, &hints(Some("Etc/UTC"), Some(&format)))
    };
    for time in [
        "%{yyyy-MM-dd hh:mm:ss}t",
        "%{%F %I:%M:%S}t",
        "%{%F}t %{%I:%M:%S}t",
    ] {
        let log = read(time, "");
        assert_eq!(
            (log.malformed, log.assumptions),
            (0, vec![LogAssumption::NoHalfDay]),
            "{time}"
        );
    }
    for (time, end, expected) in [
        ("%{yyyy-MM-dd hh:mm:ss a}t", " PM", 14),
        ("%{%F %r}t", " PM", 14),
        ("%{%F %I:%M:%S}t %{%p}t", " PM", 14),
        ("%{%F %T}t", "", 2),
    ] {
        let log = read(time, end);
        assert_eq!(
            (log.malformed, &log.assumptions[..]),
            (0, &[][..]),
            "{time}"
        );
        assert_eq!(log.first_hour(MONDAY), Some(expected), "{time}");
    }
}

#[test]
fn an_hour_that_did_not_exist_is_not_an_hour_that_came_twice() {
    let assumed = |time: &str| {
        let log = json(&format!("\"time\":\"{time}\""));
        ReadLog::new(&log, &hints(Some("Europe/Berlin"), None)).assumptions
    };
    assert_eq!(assumed("2026-03-29 02:MM:00"), [LogAssumption::SkippedHour]);
    assert_eq!(
        assumed("2026-10-25 02:MM:00"),
        [LogAssumption::RepeatedHour]
    );
    assert_eq!(assumed("2026-03-29 03:MM:00"), []);
    let both = json("\"time\":\"2026-03-29 02:MM:00\"") + &json("\"time\":\"2026-10-25 02:MM:00\"");
    let both = ReadLog::new(&both, &hints(Some("Europe/Berlin"), None)).assumptions;
    assert_eq!(
        both,
        [LogAssumption::RepeatedHour, LogAssumption::SkippedHour]
    );
}

/// Returns a line per minute of three hours, and ten more in the minute 30.
fn three_hours() -> String {
    let mut minutes: Vec<i64> = (0..180).chain([30; 10]).collect();
    minutes.sort_unstable();
    let minutes = minutes.iter();
    minutes
        .map(|minute| line(MONDAY + minute * 60, "GET /a HTTP/1.1", 200, 1_000, "-"))
        .collect()
}

#[test]
fn minutes_that_a_log_contains_twice_are_counted_together() {
    let busiest = MONDAY + 30 * 60;
    let one = ReadLog::new(&three_hours(), &Hints::default()).analysis;
    assert_eq!(one.peak_minute, Some((busiest, 11)));
    assert_eq!(one.peak, Some((busiest, 11)));
    let both = ReadLog::new(&three_hours().repeat(2), &Hints::default()).analysis;
    assert_eq!(both.peak_minute, Some((busiest, 22)));
    assert_eq!(both.peak, Some((busiest, 22)));
}

#[test]
fn a_late_line_does_not_split_the_busiest_second() {
    let at = |seconds: i64| line(MONDAY + seconds, "GET /a HTTP/1.1", 200, 1_000, "-");
    let log = [at(0), at(640).repeat(5), at(0), at(640).repeat(5)].concat();
    let analysis = ReadLog::new(&log, &Hints::default()).analysis;
    assert_eq!(analysis.peak, Some((MONDAY + 640, 10)));
    // The first second was no longer counted when the log went back to it.
    let log = [at(0), at(4_096), at(0)].concat();
    let analysis = ReadLog::new(&log, &Hints::default()).analysis;
    assert_eq!(
        (analysis.peak, analysis.peak_minute),
        (None, Some((MONDAY, 2)))
    );
}

#[test]
fn hours_are_those_of_the_logs_clock() {
    // Monday 10:00 by the log's clock, and one minute earlier.
    for zone in ["+0530", "+0545", "-0330", "+0200"] {
        let line = |time: i64| {
            let request = "GET /a HTTP/1.1";
            format!("::1 - - [{} {zone}] \"{request}\" 200 5\n", clf(time))
        };
        let log = [line(MONDAY + 10 * 3_600 - 60), line(MONDAY + 10 * 3_600)].concat();
        let whole = ReadLog::new(&log, &Hints::default()).analysis;
        let slots = slots(&whole);
        let requests = [9, 10].map(|hour| slots[0][hour].requests);
        assert_eq!(requests, [1, 1], "{zone}");
        // The counts of an agent have the same hours.
        let mut tally = Tally::in_parts(Rules::default());
        let mut server = ServerLog::new("log", &Hints::default());
        read::read(log.as_bytes(), &mut server, &mut tally, &mut |_| true).expect("a log");
        server.close(&mut tally);
        let part = tally.into_part().pack().expect("bytes");
        let mut all = Tally::in_parts(Rules::default());
        all.merge(TallyPart::unpack(&part).expect("a part"));
        let merged = all.analysis(Vec::new(), lab_model::LineCounts::default());
        assert_eq!(
            (merged.hours, merged.peak_minute),
            (whole.hours, whole.peak_minute),
            "{zone}"
        );
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Gates and first screens of logs whose requests lack a status or a duration, or whose lines
//! cannot be parsed.

use lab_logs::gates::{judge, nagios};
use lab_logs::report::{LogsReport, document};
use lab_logs::{LogSources, LogsSession, SessionOptions};
use lab_model::{Decision, LogAnalysis, Run};
use std::io::Write;

/// Reads a log in `format` or, if it is `None`, in the format that is detected.
fn read(text: &str, format: Option<&str>) -> LogAnalysis {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("space");
    let options = SessionOptions {
        logs: vec![file.path().display().to_string()],
        log_format: format.map(String::from),
        ..SessionOptions::default()
    };
    let sources = LogSources::new(&options.logs, false).expect("a log");
    let mut session = LogsSession::new(&options).expect("options");
    session
        .read(&sources.all, &mut |_, _| true)
        .expect("a known format");
    session.end()
}

/// Repeats a line 40 times.
///
/// `#` is replaced by the number of the line, counted from 10.
fn lines(line: &str) -> String {
    let line = |i: usize| format!("{}\n", line.replace('#', &i.to_string()));
    (10..50).map(line).collect()
}

fn decision(analysis: &LogAnalysis, gate: &str) -> Decision {
    judge(&[gate.parse().expect(gate)], analysis, &[])[0].decision
}

/// Returns the text of the first screen.
fn first_screen(analysis: &LogAnalysis) -> String {
    let run = Run::default();
    let report = LogsReport {
        run: &run,
        analysis,
        file: None,
        capacity: None,
    };
    let answer = document(&report).answer;
    let findings = answer.findings.iter().map(|finding| finding.text.clone());
    let texts = [answer.headline].into_iter().chain(findings);
    texts.chain(answer.omitted).collect::<Vec<_>>().join("\n")
}

const ACCESS: &str = r#"10.0.0.1 [01/May/2026:10:00:# +0000] "GET /a HTTP/1.1""#;

#[test]
fn errors_are_unknown_without_a_status() {
    let log = lines(&format!("{ACCESS} #000"));
    let analysis = read(&log, Some(r#"%h %t "%r" %D"#));
    assert_eq!(decision(&analysis, "errors>1%"), Decision::Inconclusive);
    assert_eq!(decision(&analysis, "errors<1%"), Decision::Inconclusive);
    assert_eq!(decision(&analysis, "requests>100"), Decision::Passed);
    let screen = first_screen(&analysis);
    assert!(screen.contains("no status"), "{screen}");
    let fields = "#Software: Microsoft Internet Information Services 10.0\n";
    let line = lines("2026-05-01 10:00:# GET /a 100");
    let log = format!("{fields}#Fields: date time cs-method cs-uri-stem time-taken\n{line}");
    let analysis = read(&log, None);
    assert_eq!(decision(&analysis, "errors>1%"), Decision::Inconclusive);
    assert_eq!(decision(&analysis, "mean>99ms"), Decision::Failed);
}

#[test]
fn a_status_that_few_requests_lack_decides_only_what_it_can() {
    let with = |status: &str| lines(&format!("{ACCESS} {status} #000"));
    let half = with("500") + &with("-");
    let analysis = read(&half, Some(r#"%h %t "%r" %s %D"#));
    for (gate, expected) in [
        ("errors>40%", Decision::Failed),
        ("errors>60%", Decision::Inconclusive),
        ("errors(/a)>60%", Decision::Inconclusive),
    ] {
        assert_eq!(decision(&analysis, gate), expected, "{gate}");
    }
}

#[test]
fn a_gate_does_not_pass_without_requests() {
    let log = lines("time:01/May/2026:10:00:# +0000\thost:10.0.0.1\treq:GET /a HTTP/1.1");
    let analysis = read(&log, Some(r#"%h %l %u %t "%r" %>s"#));
    assert_eq!(analysis.lines.malformed, 40);
    for gate in ["errors>1%", "requests>100", "mean>1ms"] {
        assert_eq!(decision(&analysis, gate), Decision::Inconclusive, "{gate}");
    }
    assert_eq!(decision(&analysis, "requests<1"), Decision::Failed);
    let screen = first_screen(&analysis);
    assert!(screen.contains("40 of 40 lines"), "{screen}");
    let status = nagios(&["errors>1%".parse().expect("a gate")], &[], &analysis, &[]);
    assert_eq!((status.code, &status.line[..12]), (3, "LOGS UNKNOWN"));
    assert_eq!(nagios(&[], &[], &analysis, &[]).code, 3);
}

#[test]
fn lines_that_are_not_parsed_leave_a_gate_open() {
    let parsed = lines(&format!("{ACCESS} 200 0.1#"));
    let log = parsed.clone() + &lines(&format!("{ACCESS} 200 Mozilla/5.0 (X) 0.1#"));
    let analysis = read(
        &log,
        Some("$remote_addr [$time_local] \"$request\" $status $request_time"),
    );
    assert_eq!(analysis.lines.malformed, 40);
    for (gate, expected) in [
        ("errors>1%", Decision::Inconclusive),
        // At most 40 of 80 requests failed.
        ("errors>50%", Decision::Passed),
        ("requests>79", Decision::Inconclusive),
        ("requests>80", Decision::Passed),
        ("mean>1s", Decision::Inconclusive),
        ("mean>1ms", Decision::Failed),
    ] {
        assert_eq!(decision(&analysis, gate), expected, "{gate}");
    }
    let screen = first_screen(&analysis);
    assert!(screen.contains("40 of 80 lines"), "{screen}");
    // 1 of 41 lines changes no decision.
    let analysis = read(
        &(parsed + "x\n"),
        Some("$remote_addr [$time_local] \"$request\" $status $request_time"),
    );
    assert_eq!(decision(&analysis, "errors>1%"), Decision::Passed);
}

#[test]
fn durations_that_many_requests_lack_are_an_assumption() {
    let log = lines(&format!("{ACCESS} 200 #000")) + &lines(&format!("{ACCESS} 200 -"));
    let format = Some("%h %t \"%r\" %s %{us}T");
    let analysis = read(&log, format);
    for gate in ["mean>1s", "mean(/a)>1s", "share(/a)>50%"] {
        assert_eq!(decision(&analysis, gate), Decision::Inconclusive, "{gate}");
    }
    assert_eq!(decision(&analysis, "errors>1%"), Decision::Passed);
    let screen = first_screen(&analysis);
    assert!(screen.contains("40 of 80 requests"), "{screen}");
    // IIS: the field was added later.
    let date = "2026-05-01 10:00:# GET";
    let log = format!(
        "#Software: Microsoft Internet Information Services 10.0\n\
         #Fields: date time cs-method cs-uri-stem sc-status\n{}\
         #Fields: date time cs-method cs-uri-stem sc-status time-taken\n{}",
        lines(&format!("{date} /a 200")).repeat(30),
        lines(&format!("{date} /b 200 100"))
    );
    let analysis = read(&log, None);
    assert_eq!(decision(&analysis, "mean>1s"), Decision::Inconclusive);
    assert_eq!(decision(&analysis, "mean(/b)>1s"), Decision::Passed);
    let screen = first_screen(&analysis);
    assert!(screen.contains("1,200 of 1,240 requests"), "{screen}");
    let few =
        lines(&format!("{ACCESS} 200 #000")) + &format!("{ACCESS} 200 -\n").replace('#', "59");
    assert_eq!(decision(&read(&few, format), "mean>1s"), Decision::Passed);
}

#[test]
fn unparsed_durations_leave_the_fraction_of_the_time_open() {
    let json = |path: &str, duration: &str| {
        lines(&format!(
            r#"{{"time":"2026-05-01T10:00:#Z","path":"{path}","status":200,"duration_ms":{duration}}}"#
        ))
    };
    let analysis = read(&(json("/a", "5") + &json("/slow", r#""1,234""#)), None);
    for gate in ["share(/slow)>10%", "share(/a)>10%"] {
        assert_eq!(decision(&analysis, gate), Decision::Inconclusive, "{gate}");
    }
    let screen = first_screen(&analysis);
    let stated = screen.matches("40 requests").count() + screen.matches("40 of 80").count();
    assert_eq!(stated, 1, "{screen}");
}

#[test]
fn times_that_many_requests_lack_leave_the_rate_open() {
    let json = |time: &str| {
        lines(&format!(
            r#"{{"time":"{time}","path":"/a","status":200,"duration_ms":5}}"#
        ))
    };
    let with_times = json("2026-05-01T10:00:#Z");
    let analysis = read(
        &(with_times.clone() + &json("May 1, 2026 10:00:# AM")),
        None,
    );
    assert_eq!(decision(&analysis, "rate>8"), Decision::Inconclusive);
    assert_eq!(decision(&analysis, "requests>80"), Decision::Passed);
    let screen = first_screen(&analysis);
    assert!(
        screen.contains("40 of 80 requests (50 %) have no time"),
        "{screen}"
    );
    assert_eq!(
        decision(&read(&with_times, None), "rate>8"),
        Decision::Passed
    );
}

#[test]
fn whole_seconds_are_reported_only_if_all_durations_are() {
    let has = |text: &str, format: Option<&str>| {
        let analysis = read(text, format);
        let run = Run::default();
        let report = LogsReport {
            run: &run,
            analysis: &analysis,
            file: None,
            capacity: None,
        };
        let report = serde_json::to_string(&document(&report)).expect("JSON");
        ["whole seconds", "Most are 0", "%D"].map(|text| report.contains(text))
    };
    let json = |values: [&str; 4]| {
        let line = |value| {
            format!(
                r#"{{"time":"2026-05-01T10:00:00Z","method":"GET","path":"/a","status":200,"duration_s":{value}}}"#
            ) + "\n"
        };
        values.map(line).concat().repeat(5)
    };
    assert_eq!(has(&json(["2", "2", "3", "2"]), None), [true, false, false]);
    assert_eq!(has(&json(["0", "0", "3", "0"]), None), [true, true, false]);
    assert_eq!(has(&json(["1", "0.25", "0.5", "0.25"]), None), [false; 3]);
    let apache = lines(&format!("{ACCESS} 200 0")) + &lines(&format!("{ACCESS} 200 2"));
    let apache = apache + &lines(&format!("{ACCESS} 200 0"));
    assert_eq!(has(&apache, Some("%h %t \"%r\" %s %T")), [true; 3]);
    assert!(!has("x\n", Some("%h %t \"%r\" %s %T"))[0]);
}

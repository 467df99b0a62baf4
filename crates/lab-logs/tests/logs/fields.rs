// SPDX-License-Identifier: Apache-2.0
//! Reads lines with named fields, and spans. Units and zones that a log does not contain are
//! assumptions, and advice fits the input.

use lab_logs::{Hints, ReadError, Rules, ServerLog, Tally, read, wording};
use lab_model::{AssumptionKind, FieldRole, LogAdvice, LogAssumption};

const MS: u64 = 1_000_000;

/// The result of reading a log.
struct Found {
    /// The names of the pages, in alphabetical order.
    pages: Vec<String>,
    requests: u64,
    timed: u64,
    total_ns: u64,
    /// The start of the first hour, in seconds since 1970.
    first_hour_s: Option<i64>,
    malformed: u64,
    assumptions: Vec<LogAssumption>,
    advice: Vec<LogAdvice>,
}

/// Reads 20 copies of lines, in which `MM` is the number of the copy.
fn read_copies(lines: &str) -> Result<Found, ReadError> {
    let copy = |n: usize| lines.replace("MM", &format!("{n:02}")) + "\n";
    read_log(&(0..20).map(copy).collect::<String>())
}

fn read_log(log: &str) -> Result<Found, ReadError> {
    let hints = Hints::default();
    let (mut tally, mut reader) = (Tally::new(Rules::default()), ServerLog::new("log", &hints));
    read::read(log.as_bytes(), &mut reader, &mut tally, &mut |_| true)?;
    reader.close(&mut tally);
    let facts = reader.logs_read();
    let analysis = tally.analysis(vec![reader.source], reader.lines);
    let sum = |f: fn(&lab_model::LogPage) -> u64| analysis.pages.iter().map(f).sum::<u64>();
    let mut pages: Vec<String> = analysis
        .pages
        .iter()
        .map(|page| page.name.clone())
        .collect();
    pages.sort();
    Ok(Found {
        pages,
        requests: sum(|page| page.requests),
        timed: sum(|page| page.timed),
        total_ns: sum(|page| page.total_ns),
        first_hour_s: analysis.hours.first().map(|hour| hour.start_s),
        malformed: reader.lines.malformed,
        assumptions: facts.assumptions,
        advice: facts.advice,
    })
}

fn found(lines: &str) -> Found {
    match read_copies(lines) {
        Ok(found) => found,
        Err(error) => panic!("{lines}: {error:?}"),
    }
}

/// Returns the mean duration in ns, and true if it depends on an assumption.
fn mean(lines: &str) -> (u64, bool) {
    let found = found(lines);
    let is_assumed = |a: &LogAssumption| a.kind() == AssumptionKind::Durations;
    assert_eq!(found.timed, 20, "{lines}");
    (
        found.total_ns / found.timed,
        found.assumptions.iter().any(is_assumed),
    )
}

/// Returns a line with a time, a method, a path, a status and the additional `fields`.
fn line(fields: &str) -> String {
    format!(r#"{{"time":"2026-05-01T10:MM:00Z","method":"GET","path":"/a","status":200,{fields}}}"#)
}

#[test]
fn a_producers_unit_is_that_of_its_own_field() {
    // ECS: event.duration is in ns. OpenTelemetry: the metric is in s.
    assert_eq!(
        mean(&line(r#""event":{"duration":250000000},"duration":250"#)),
        (250 * MS, false)
    );
    assert_eq!(
        mean(&line(
            r#""duration":250,"http.server.request.duration":0.25"#
        )),
        (250 * MS, false)
    );
    // Kong: latencies.request is in ms.
    assert_eq!(
        mean(&line(r#""latencies":{"request":250},"duration":0.25"#)),
        (250 * MS, false)
    );
    // Envoy's %DURATION% is in ms, and another field is not Envoy's.
    let envoy = mean(&line(r#""response_flags":"-","latency":0.25"#));
    assert_eq!(envoy, (250 * MS, true));
    // The names of Django's view and database are not the durations that Rails writes.
    let django = r#""view":"orders:list","db":"default","duration":0.26"#;
    assert_eq!(mean(&line(django)), (260 * MS, true));
    assert_eq!(
        mean(&line(r#""view":3.5,"db":0.2,"duration":260.5"#)),
        (260_500_000, false)
    );
}

#[test]
fn producers_are_known_by_their_documentation() {
    // Vespa, *Access Logging*: duration is in s.
    let vespa = r#"{"ip":"::1","peeraddr":"::1","time":1777629600.957,"duration":0.25,"responsesize":500,"code":200,"method":"GET","uri":"/a","localport":443}"#;
    assert_eq!(mean(vespa), (250 * MS, false));
    // APISIX, log-util: latencies are in ms.
    let apisix = r#"{"apisix_latency":0.5,"start_time":1777629600000,"latency":12.5,"upstream_latency":12,"request":{"method":"GET","size":86,"uri":"/a"},"response":{"status":200,"size":4120}}"#;
    assert_eq!(mean(apisix), (12_500_000, false));
    // Logbook, StructuredHttpLogFormatter: a request and a response, with the duration in ms.
    let logbook = r#"{"origin":"remote","type":"request","correlation":"c-MM","protocol":"HTTP/1.1","method":"GET","uri":"http://h/a","path":"/a"}
{"origin":"local","type":"response","correlation":"c-MM","duration":250,"protocol":"HTTP/1.1","status":500}"#;
    assert_eq!(mean(logbook), (250 * MS, false));
}

#[test]
fn nginx_writes_three_decimals_of_a_second() {
    let nginx = |time: &str| {
        mean(&line(&format!(
            r#""remote_user":"-","request_uri":"/a","request_time":{time}"#
        )))
    };
    assert_eq!(nginx("0.251"), (251 * MS, false));
    assert_eq!(nginx("\"0.250\""), (250 * MS, false));
    // A median of 250 s is unlikely, so that ms is assumed.
    assert_eq!(nginx("250.5"), (250_500_000, true));
    // Three decimals suggest nginx, but the values do not.
    assert_eq!(nginx("250.512"), (250_512_000, true));
    assert!(nginx("2.5").1);
}

#[test]
fn an_implausible_unit_is_an_assumption() {
    let found = found(&line(r#""response_flags":"-","duration":3600000"#));
    let [LogAssumption::Unit { others_ns, .. }] = &found.assumptions[..] else {
        panic!("{:?}", found.assumptions);
    };
    assert!(others_ns.contains(&MS), "{others_ns:?}");
}

#[test]
fn parts_of_a_duration_are_not_the_duration() {
    // Envoy: %REQUEST_DURATION% ends with the last byte of the request.
    let fields = r#""response_flags":"-","request_duration":0,"response_duration":248"#;
    let found = found(&line(fields));
    assert_eq!((found.requests, found.timed), (20, 0));
    let advice = LogAdvice::PartialDurations {
        field: "request_duration".into(),
    };
    assert_eq!(found.advice, [advice]);
}

#[test]
fn dates_and_times_in_two_fields_are_utc_only_in_the_extended_log_format() {
    let two = |fields: &str| {
        found(&format!(
            r#"{{"date":"2026-05-01","time":"10:MM:00","method":"GET","status":200,"duration_ms":12,{fields}}}"#
        ))
    };
    assert_eq!(two(r#""path":"/a""#).assumptions, [LogAssumption::NoZone]);
    assert_eq!(two(r#""cs-uri-stem":"/a""#).assumptions, []);
}

#[test]
fn the_zones_name_can_follow_an_offset() {
    // `date -u -d '2026-05-01 08:00' +%s`
    let hour_s = Some(1_777_622_400);
    for time in [
        "2026-05-01 10:MM:00.123 +0200 CEST",
        "2026-05-01T10:MM:00.123+02:00[Europe/Berlin]",
    ] {
        let found = found(&format!(
            r#"{{"time":"{time}","method":"GET","path":"/a","status":200,"duration_ms":12}}"#
        ));
        assert_eq!(found.assumptions, [], "{time}");
        assert_eq!(found.first_hour_s, hour_s, "{time}");
    }
}

#[test]
fn spans_are_found_behind_metrics_and_broken_spans_are_counted() {
    let span = |end: &str| {
        format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"MM","name":"GET /a","kind":2,"startTimeUnixNano":"1777629600000000000","endTimeUnixNano":"{end}"}}]}}]}}]}}"#
        )
    };
    let metrics = r#"{"resourceMetrics":[{"scopeMetrics":[]}]}"#;
    let whole = span("1777629600250000000");
    let sound = found(&format!("{metrics}\n{whole}"));
    assert_eq!((sound.requests, sound.timed, sound.malformed), (20, 20, 0));
    assert_eq!(
        (&sound.assumptions[..], sound.total_ns),
        (&[][..], 5_000 * MS)
    );
    let broken = found(&format!("{whole}\n{}", span("1777629599999999995")));
    assert_eq!((broken.requests, broken.timed), (40, 20));
    assert_eq!(
        broken.assumptions,
        [LogAssumption::UntimedSpans { spans: 20 }]
    );
}

#[test]
fn advice_names_fields_that_can_have_the_role() {
    // Cloudflare, *HTTP requests*: the timestamps are not durations.
    let cloudflare = r#"{"ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeStartTimestamp":1777629600000000000,"EdgeEndTimestamp":1777629600250000000,"EdgeResponseStatus":200,"Time":7,"OriginResponseDurationMs":240}"#;
    let candidates = |found: &Found| match &found.advice[..] {
        [
            LogAdvice::FieldMissing {
                role: FieldRole::Duration,
                candidates,
            },
        ] => candidates.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        candidates(&found(cloudflare))[..1],
        ["OriginResponseDurationMs"]
    );
    let lines = line(r#""note":1"#) + "\n" + r#"{"level":"info","duration_ms":4}"#;
    let skipped = LogAdvice::DurationsWithoutRequest {
        field: "duration_ms".into(),
    };
    assert_eq!(
        found(&lines).advice,
        [skipped, LogAdvice::LinesWithoutRequest { lines: 20 }]
    );
}

#[test]
fn json_within_text_is_not_searched_for_a_path() {
    let line = r#"{"time":"2026-05-01T10:MM:00Z","resourceId":"/SUBSCRIPTIONS/1","properties":"{\"CsMethod\":\"GET\"}"}"#;
    let Err(ReadError::Format(reason)) = read_copies(line) else {
        panic!("a request");
    };
    let advice = LogAdvice::JsonInText {
        field: "properties".into(),
    };
    assert!(reason.ends_with(&wording::advice(&advice)), "{reason}");
}

#[test]
fn the_objects_of_an_array_can_be_in_lines() {
    let one = line(r#""duration_ms":5"#);
    let trailing = found(&format!("{one},"));
    assert_eq!((trailing.requests, trailing.malformed), (20, 0));
    for array in [
        format!("[\n{one},\n{one},\n{one}\n]\n"),
        format!("[{one},\r\n{one},\r\n{one}]\n"),
    ] {
        let found = read_log(&array.replace("MM", "00")).expect("a log");
        assert_eq!((found.requests, found.malformed), (3, 0), "{array}");
        assert_eq!(found.pages, ["/a"]);
    }
    let array = format!("[{one}, {one}]");
    let Err(ReadError::Format(reason)) = read_log(&array) else {
        panic!("requests");
    };
    assert!(reason.contains("jq -c '.[]'"), "{reason}");
}

/// Reads 30 copies of `line` with the value `fields` of the option `--fields`.
///
/// In each copy, `MM` is replaced by the number of the copy.
fn with_fields(line: &str, fields: &str) -> (Result<(), ReadError>, Vec<String>, Vec<LogAdvice>) {
    let hints = Hints {
        fields: lab_logs::FieldMap::new(fields).unwrap_or_default(),
        ..Hints::default()
    };
    let (mut tally, mut log) = (Tally::new(Rules::default()), ServerLog::new("log", &hints));
    let line = |n: usize| line.replace("MM", &format!("{n:02}")) + "\n";
    let text: String = (0..30).map(line).collect();
    let outcome = read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true);
    log.close(&mut tally);
    let facts = log.logs_read();
    let analysis = tally.analysis(vec![log.source], log.lines);
    let pages = analysis.pages.iter().map(|page| page.name.clone());
    (outcome, pages.collect(), facts.advice)
}

#[test]
fn a_log_file_or_a_constant_is_not_the_path() {
    let line = |fields: &str| {
        format!(r#"{{"time":"2026-05-01T10:MM:00Z","status":200,"duration_ms":5,{fields}}}"#)
    };
    for (fields, page, other) in [
        (
            r#""path":"/var/log/x.log","http":{"method":"GET","url":"/a"}"#,
            "/a",
            "path",
        ),
        (
            r#""path":"C:\\logs\\u_ex.log","method":"GET","url":"https://h/a?b""#,
            "/a",
            "path",
        ),
        (
            r#""path":"/var/log/x.log.1","method":"GET","uri_path":"/a""#,
            "/a",
            "path",
        ),
    ] {
        let (_, pages, advice) = with_fields(&line(fields), "");
        assert_eq!(pages, [page], "{fields}");
        let is_named = |advice: &LogAdvice| matches!(advice, LogAdvice::PathField { other: name, .. } if name == other);
        assert!(advice.iter().any(is_named), "{fields} {advice:?}");
    }
    // The first value of many lines.
    let varying = r#""uri":"/","method":"GET","path":"/p-MM""#;
    let (_, pages, advice) = with_fields(&line(varying), "");
    assert_eq!((pages, advice.len()), (vec!["/p-{id}".to_string()], 1));
    for (fields, page) in [
        (
            r#""path":"/graphql","method":"GET","url":"/graphql?q=MM""#,
            "/graphql",
        ),
        (
            r#""path":"/a","method":"GET","target":"http://10.0.0.MM:80""#,
            "/a",
        ),
        (r#""path":"/a","method":"GET","endpoint":"users.MM""#, "/a"),
        (r#""path":"/a/server.log","method":"GET""#, "/a/server.log"),
    ] {
        let (_, pages, advice) = with_fields(&line(fields), "");
        assert_eq!(
            (pages, advice),
            (vec![page.to_string()], vec![]),
            "{fields}"
        );
    }
    let fields = r#""path":"/var/log/x.log","method":"GET","url":"/a""#;
    let (_, pages, advice) = with_fields(&line(fields), "path=path");
    assert_eq!(
        (pages, advice),
        (vec!["/var/log/x.log".to_string()], vec![])
    );
}

#[test]
fn fields_that_never_occur_are_named() {
    let line = r#"{"ts":"2026-05-01T10:MM:00Z","req":{"uri":"/a","m":"GET"},"res":{"code":200},"elapsed_ms":25,"none":null}"#;
    let fields = "path=REQ.uri,duration=elapsed_ms,bytes=nosuch,agent=res,id=none";
    let (_, _, advice) = with_fields(line, fields);
    let unseen = vec!["bytes=nosuch".to_string(), "agent=res".into()];
    assert_eq!(advice, [LogAdvice::FieldsNeverOccur { fields: unseen }]);
    // A field can have two roles.
    let (_, _, advice) = with_fields(line, "path=req.uri,bytes=nosuch,agent=nosuch");
    let unseen = vec!["bytes=nosuch".to_string(), "agent=nosuch".into()];
    assert_eq!(advice[0], LogAdvice::FieldsNeverOccur { fields: unseen });
    let (_, _, advice) = with_fields(line, "path=req.uri,status=nosuch");
    let unseen = vec!["status=nosuch".to_string()];
    assert!(
        advice.contains(&LogAdvice::FieldsNeverOccur { fields: unseen }),
        "{advice:?}"
    );
    let other = line.replace("uri", "where");
    let (outcome, _, _) = with_fields(&other, "path=req.nosuch");
    let error = outcome.expect_err("no path").to_string();
    assert!(
        error.contains("path=req.nosuch") && error.contains("req.where"),
        "{error}"
    );
}

#[test]
fn a_status_under_an_unknown_name_is_named() {
    let line = r#"{"time":"2026-05-01T10:MM:00Z","verb":"GET","request":"/a?x","response":"500","bytes":"5","request_time":"0.25"}"#;
    let (_, pages, advice) = with_fields(line, "");
    let expected = LogAdvice::FieldMissing {
        role: FieldRole::Status,
        candidates: vec!["response".into()],
    };
    assert_eq!((pages, advice), (vec!["/a".to_string()], vec![expected]));
    let (_, _, advice) = with_fields(line, "status=response");
    assert_eq!(advice, []);
}

// SPDX-License-Identifier: Apache-2.0
//! Joins a server's log with its database's log by request IDs.

use lab_logs::{Entry, Hints, Rules, ServerLog, Tally, TallyPart, read};
use lab_model::{JoinCoverage, LogAnalysis, QueryWithin};

/// Reads logs one after the other.
fn analysis(logs: &[&str]) -> LogAnalysis {
    let mut tally = Tally::new(Rules::default());
    let mut lines = lab_model::LineCounts::default();
    for text in logs {
        let mut log = ServerLog::new("log", &Hints::default());
        read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
        log.close(&mut tally);
        lines.entries += log.lines.entries;
    }
    tally.analysis(Vec::new(), lines)
}

fn queries_within(logs: &[&str]) -> Vec<QueryWithin> {
    analysis(logs).within
}

/// Reads each log on a separate machine, and merges the counts.
fn read_by_agents(logs: &[&str]) -> LogAnalysis {
    let mut all = Tally::in_parts(Rules::default());
    for text in logs {
        let mut tally = Tally::in_parts(Rules::default());
        let mut log = ServerLog::new("log", &Hints::default());
        read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
        log.close(&mut tally);
        let sent = tally.into_part().pack().expect("bytes");
        all.merge(TallyPart::unpack(&sent).expect("a part"));
    }
    all.analysis(Vec::new(), lab_model::LineCounts::default())
}

fn within_of_agents(logs: &[&str]) -> Vec<QueryWithin> {
    read_by_agents(logs).within
}

/// Returns logs with requests of /orders that query each of 52 items, and requests of /cart.
fn logs() -> (String, String) {
    let (mut server, mut database) = (String::new(), String::new());
    for request in 0..20 {
        let trace = format!("{request:032x}");
        let (path, items) = if request % 2 == 0 {
            ("/orders", 52)
        } else {
            ("/cart", 1)
        };
        server += &format!(
            "{{\"time\":\"2026-05-01T10:00:00Z\",\"method\":\"GET\",\"path\":\"{path}/{request}\",\"status\":200,\"duration_ms\":66,\"trace_id\":\"{trace}\"}}\n"
        );
        for item in 0..items {
            database += &format!(
                "2026-05-01 10:00:00.000 UTC [77] LOG:  duration: 1.000 ms  statement: SELECT * FROM item WHERE id = {item} /*traceparent='00-{trace}-b7ad6b7169203331-01'*/\n"
            );
        }
    }
    (server, database)
}

#[test]
fn queries_are_counted_within_the_pages_of_their_requests() {
    let (server, database) = logs();
    let found = queries_within(&[&server, &database]);
    // The order of the logs makes no difference, nor does the machine that reads them.
    assert_eq!(found, queries_within(&[&database, &server]));
    assert_eq!(found, within_of_agents(&[&server, &database]));
    assert_eq!(found, within_of_agents(&[&database, &server]));
    let page = |page: &str, executions: u64| QueryWithin {
        page: page.into(),
        query: "SELECT * FROM item WHERE id = ?".into(),
        requests: 10,
        executions,
        total_ns: executions * 1_000_000,
        page_ns: 660_000_000,
    };
    assert_eq!(found, [page("/orders/{id}", 520), page("/cart/{id}", 10)]);
    assert_eq!(queries_within(&[&server]), []);
}

#[test]
fn hours_and_peaks_count_pages_if_there_are_any() {
    let (server, database) = logs();
    let times = |analysis: LogAnalysis| (analysis.hours, analysis.peak, analysis.peak_minute);
    let expected = times(analysis(&[&server]));
    let (hours, peak, peak_minute) = &expected;
    let requests: Vec<u64> = hours.iter().map(|hour| hour.requests).collect();
    assert_eq!(
        (&requests[..], hours[0].total_ns),
        (&[20][..], 1_320_000_000)
    );
    assert_eq!([peak, peak_minute], [&Some((1_777_629_600, 20)); 2]);
    for logs in [[&server[..], &database], [&database, &server]] {
        assert_eq!(times(analysis(&logs)), expected);
        assert_eq!(times(read_by_agents(&logs)), expected);
    }
    let statements = Some((1_777_629_600, 530));
    assert_eq!(analysis(&[&database]).peak_minute, statements);
    assert_eq!(read_by_agents(&[&database]).peak_minute, statements);
}

#[test]
fn spans_contain_their_queries() {
    let span = |trace: usize, kind: u8, ns: u64, attributes: &str| {
        format!(
            "{{\"traceId\":\"{trace:032x}\",\"spanId\":\"1\",\"name\":\"x\",\"kind\":{kind},\"startTimeUnixNano\":\"1777629600000000000\",\
             \"endTimeUnixNano\":\"{}\",\"attributes\":[{attributes}]}}",
            1_777_629_600_000_000_000_u64 + ns
        )
    };
    let text = |key: &str, value: &str| {
        format!("{{\"key\":\"{key}\",\"value\":{{\"stringValue\":\"{value}\"}}}}")
    };
    let mut lines = String::new();
    for trace in 0..10 {
        let mut spans = vec![span(trace, 2, 100_000_000, &text("url.path", "/orders"))];
        let query = text("db.query.text", "SELECT * FROM item WHERE id = $1");
        spans.extend((0..20).map(|_| span(trace, 3, 2_000_000, &query)));
        lines += &format!(
            "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}\n",
            spans.join(",")
        );
    }
    // A batch is longer than the usual maximum line.
    assert!(lines.lines().all(|line| line.len() > 4_000));
    let analysis = analysis(&[&lines]);
    assert_eq!(analysis.lines.entries, 210);
    let expected = QueryWithin {
        page: "/orders".into(),
        query: "SELECT * FROM item WHERE id = ?".into(),
        requests: 10,
        executions: 200,
        total_ns: 400_000_000,
        page_ns: 1_000_000_000,
    };
    assert_eq!(analysis.within, [expected]);
}

/// Returns a server's log with one request. `time` may be empty.
fn request(id: &str, time: &str, ms: u64) -> String {
    let time = match time {
        "" => String::new(),
        time => format!("\"time\":\"2026-05-01T{time}Z\","),
    };
    format!(
        "{{{time}\"method\":\"GET\",\"path\":\"/orders\",\"status\":200,\"duration_ms\":{ms},\"request_id\":\"{id}\"}}\n"
    )
}

#[test]
fn a_statement_is_joined_only_if_it_ran_within_its_request() {
    const ID: &str = "5a1b2c3d-0af7-6519-16cd-43dd8448eb21";
    type Statement = fn(&str) -> String;
    let named: Statement = |time| {
        format!(
            "2026-05-01 {time}.250 UTC [7] app={ID} LOG:  duration: 1.000 ms  statement: SELECT 1\n"
        )
    };
    let commented: Statement = |time| {
        format!(
            "2026-05-01 {time}.250 UTC [7] LOG:  duration: 1.000 ms  statement: SELECT 1 /*request_id:{ID}*/\n"
        )
    };
    let slow: Statement = |time| {
        format!(
            "# Time: 2026-05-01T{time}.250000Z\n# Query_time: 0.001000  Lock_time: 0\nSELECT 1 /*request_id:{ID}*/;\n"
        )
    };
    let without_time: Statement =
        |_| format!("[7] app={ID} LOG:  duration: 1.000 ms  statement: SELECT 1\n");
    // Each case has the time of the request's line, its duration in ms, the times of its
    // statements, and the number of statements within it. Some logs contain the start of a request,
    // and other logs contain the end.
    let cases: [(&str, u64, &[&str], u64); 6] = [
        ("10:00:00", 66, &["10:00:00", "10:00:00", "10:00:00"], 3),
        // Whole seconds, and clocks that differ by one second.
        ("10:00:00", 66, &["09:59:58", "10:00:02"], 2),
        // The connection still uses the application name of its last request.
        ("10:00:00", 66, &["10:00:00", "10:00:03", "10:30:00"], 1),
        ("10:00:00", 66, &["09:59:57", "10:00:03"], 0),
        ("10:01:00", 30_000, &["10:00:31", "10:01:29", "10:02:00"], 2),
        ("", 66, &["10:00:00", "11:00:00"], 2),
    ];
    for statement in [named, commented, slow] {
        for (time, ms, times, within) in cases {
            let server = request(ID, time, ms);
            let database: String = times.iter().map(|time| statement(time)).collect();
            let coverage = JoinCoverage {
                one_in: 1,
                outside: times.len() as u64 - within,
                ..JoinCoverage::default()
            };
            for logs in [[&server[..], &database], [&database, &server]] {
                for analysis in [analysis(&logs), read_by_agents(&logs)] {
                    let executions: u64 = analysis.within.iter().map(|w| w.executions).sum();
                    assert_eq!(executions, within, "{logs:?}");
                    assert_eq!(analysis.coverage, coverage, "{logs:?}");
                }
            }
        }
    }
    let found = queries_within(&[&request(ID, "10:00:00", 66), &without_time("")]);
    assert_eq!(found.len(), 1);
}

/// Joins give the same result for any order of logs and any number of machines.
#[test]
fn requests_that_share_an_id_with_statements_are_counted() {
    let request = |id: &str| {
        format!(
            "{{\"time\":\"2026-05-01T10:00:00Z\",\"method\":\"GET\",\"path\":\"/a\",\"status\":200,\"duration_ms\":66,\"trace_id\":\"{id}\"}}\n"
        )
    };
    let statement = |id: &str| {
        format!(
            "2026-05-01 10:00:00.000 UTC [77] LOG:  duration: 1.000 ms  statement: SELECT 1 /*request_id:{id}*/\n"
        )
    };
    // Three requests share the first ID, and two the third, which has no statement.
    let server: String = ["a-1", "a-1", "a-2", "a-1", "a-3", "a-3"]
        .map(request)
        .concat();
    let database: String = ["a-1", "a-2", "a-2", "a-4"].map(statement).concat();
    for logs in [
        &[&server[..], &database][..],
        &[&database, &server],
        &[&request("a-1"), &database, &server],
    ] {
        let shared = 3 + logs.len() as u64 - 2;
        for analysis in [analysis(logs), read_by_agents(logs)] {
            assert_eq!(analysis.coverage.shared, shared, "{logs:?}");
            assert_eq!(analysis.coverage.crowded, 0);
            let executions: u64 = analysis.within.iter().map(|w| w.executions).sum();
            assert_eq!(executions, 2);
        }
    }
    // Only one server, or only one database.
    assert_eq!(analysis(&[&server]).coverage.shared, 0);
    assert_eq!(analysis(&[&database]).coverage.shared, 0);
}

#[test]
fn merged_pages_keep_their_joins() {
    // More routes than are counted individually.
    const PAGES: usize = 101_000;
    let add = |server: &mut Tally, database: Option<&mut Tally>, i: usize| {
        let (id, target) = (format!("a-{i}"), format!("/shop/x{i}y/cart"));
        let request = Entry {
            id: id.as_bytes(),
            target: target.as_bytes(),
            duration_ns: Some(5),
            ..Entry::default()
        };
        let statement = Entry {
            target: b"SELECT 1",
            is_query: true,
            ..request
        };
        server.add(&request);
        database.unwrap_or(server).add(&statement);
    };
    let mut one = Tally::new(Rules::default());
    let [mut server, mut database, mut all] = [0; 3].map(|_| Tally::in_parts(Rules::default()));
    for i in 0..PAGES {
        add(&mut one, None, i);
        add(&mut server, Some(&mut database), i);
    }
    all.merge(server.into_part());
    all.merge(database.into_part());
    for tally in [&mut one, &mut all] {
        let analysis = tally.analysis(Vec::new(), lab_model::LineCounts::default());
        let found: Vec<_> = analysis
            .within
            .iter()
            .map(|w| (w.page.as_str(), w.requests, w.executions))
            .collect();
        assert_eq!(found, [("/shop/{name}/cart", 101_000, 101_000)]);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Logs of a server and of its database, joined by the ids of requests.

use lab_model::{QueryWithin, Watched};
use lab_watch::{Hints, Rules, ServerLog, Tally, TallyPart, read};

/// Reads logs one after the other.
fn watched(logs: &[&str]) -> Watched {
    let mut tally = Tally::new(Rules::default());
    let mut lines = lab_model::LineCounts::default();
    for text in logs {
        let mut log = ServerLog::new("log", &Hints::default());
        read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
        log.close(&mut tally);
        lines.entries += log.lines.entries;
    }
    tally.watched(Vec::new(), lines)
}

fn within(logs: &[&str]) -> Vec<QueryWithin> {
    watched(logs).within
}

/// Reads each log on a machine of its own, and puts the counts together.
fn watched_by_agents(logs: &[&str]) -> Watched {
    let seed = lab_watch::random_seed();
    let mut all = Tally::in_parts(Rules::default(), seed);
    for text in logs {
        let mut tally = Tally::in_parts(Rules::default(), seed);
        let mut log = ServerLog::new("log", &Hints::default());
        read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
        log.close(&mut tally);
        let sent = tally.into_part().pack().expect("bytes");
        all.merge(TallyPart::unpack(&sent).expect("a part"));
    }
    all.watched(Vec::new(), lab_model::LineCounts::default())
}

fn within_of_agents(logs: &[&str]) -> Vec<QueryWithin> {
    watched_by_agents(logs).within
}

/// Requests of /orders that ask for each of 52 items, and requests of /cart.
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
    let found = within(&[&server, &database]);
    // The order of logs makes no difference.
    assert_eq!(found, within(&[&database, &server]));
    // Nor does the place where they are read.
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
    assert_eq!(within(&[&server]), []);
}

#[test]
fn hours_and_peaks_are_those_of_pages_where_there_are_any() {
    let (server, database) = logs();
    let times = |watched: Watched| (watched.hours, watched.peak, watched.peak_minute);
    let expected = times(watched(&[&server]));
    let (hours, peak, peak_minute) = &expected;
    let requests: Vec<u64> = hours.iter().map(|hour| hour.requests).collect();
    assert_eq!(
        (&requests[..], hours[0].total_ns),
        (&[20][..], 1_320_000_000)
    );
    assert_eq!([peak, peak_minute], [&Some((1_777_629_600, 20)); 2]);
    for logs in [[&server[..], &database], [&database, &server]] {
        assert_eq!(times(watched(&logs)), expected);
        assert_eq!(times(watched_by_agents(&logs)), expected);
    }
    let statements = Some((1_777_629_600, 530));
    assert_eq!(watched(&[&database]).peak_minute, statements);
    assert_eq!(watched_by_agents(&[&database]).peak_minute, statements);
}

#[test]
fn spans_have_their_queries_within_them() {
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
    // A batch is longer than other lines may be.
    assert!(lines.lines().all(|line| line.len() > 4_000));
    let watched = watched(&[&lines]);
    assert_eq!(watched.lines.entries, 210);
    let expected = QueryWithin {
        page: "/orders".into(),
        query: "SELECT * FROM item WHERE id = ?".into(),
        requests: 10,
        executions: 200,
        total_ns: 400_000_000,
        page_ns: 1_000_000_000,
    };
    assert_eq!(watched.within, [expected]);
}

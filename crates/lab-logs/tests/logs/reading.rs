// SPDX-License-Identifier: Apache-2.0
//! Reads logs as bytes. The results match an exact reference no matter how the bytes are split, and
//! malformed input does no harm.

use crate::support::{MONDAY, Random, line};
use lab_logs::analysis::gate::Gate;
use lab_logs::{Hints, NOT_FOUND, ReadError, Rules, ServerLog, Tally, read, wording};
use lab_model::{LineCounts, LogAnalysis, LogPage, PageKind};
use proptest::prelude::*;
use std::collections::HashMap;
use std::io::Write;

fn read_all(bytes: &[u8]) -> Result<(LogAnalysis, LineCounts), ReadError> {
    read_with(bytes, &Hints::default(), Rules::default())
}

fn read_with(
    bytes: &[u8],
    hints: &Hints,
    rules: Rules,
) -> Result<(LogAnalysis, LineCounts), ReadError> {
    let mut tally = Tally::new(rules);
    let mut log = ServerLog::new("log", hints);
    read::read(bytes, &mut log, &mut tally, &mut |_| true)?;
    log.close(&mut tally);
    let lines = log.lines;
    Ok((tally.analysis(vec![log.source], lines), lines))
}

fn find<'w>(analysis: &'w LogAnalysis, name: &str) -> &'w LogPage {
    let names: Vec<&str> = analysis.pages.iter().map(|p| p.name.as_str()).collect();
    analysis
        .pages
        .iter()
        .find(|p| p.name == name)
        .unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0";

/// Generates a log with `lines` lines.
///
/// Also returns the durations of each page in ns.
fn generate_log(lines: usize, seed: u64) -> (String, HashMap<String, Vec<u64>>) {
    let mut random = Random(seed);
    let (mut text, mut truth) = (String::new(), HashMap::<String, Vec<u64>>::new());
    for i in 0..lines {
        let (path, route, typical) = match random.next_below(10) {
            0..=4 => ("/".to_string(), "/", 2e6),
            5 | 6 => (
                format!("/users/{}", random.next_below(50_000)),
                "/users/{id}",
                8e6,
            ),
            7 => (
                format!("/search?q={}", random.next_below(1_000)),
                "/search",
                90e6,
            ),
            8 => (
                format!("/files/app.{:08x}1f1.js", random.next() as u32),
                "/files/app.{hash}.js",
                3e5,
            ),
            _ => ("/about".to_string(), "/about", 1e6),
        };
        let ns = (typical * (0.8 * random.normal()).exp()) as u64 / 1000 * 1000;
        let time = MONDAY + (i as i64 * 86_400 * 3) / lines as i64;
        text.push_str(&line(
            time,
            &format!("GET {path} HTTP/1.1"),
            200,
            ns,
            BROWSER,
        ));
        truth.entry(route.into()).or_default().push(ns);
    }
    (text, truth)
}

#[test]
fn figures_are_those_of_an_exact_reference() {
    let (text, mut truth) = generate_log(60_000, 3);
    let (analysis, lines) = read_all(text.as_bytes()).expect("a log");
    assert_eq!(
        (lines.all, lines.entries, lines.malformed),
        (60_000, 60_000, 0)
    );
    assert_eq!(analysis.pages.len(), truth.len());
    for (name, durations) in &mut truth {
        durations.sort_unstable();
        let page = find(&analysis, name);
        assert_eq!(page.requests, durations.len() as u64, "{name}");
        assert_eq!(page.total_ns, durations.iter().sum::<u64>(), "{name}");
        assert_eq!(Some(&page.max_ns), durations.last(), "{name}");
        assert_eq!(page.bytes, 512 * page.requests);
        for part in [0.5, 0.95, 0.99, 0.999] {
            let exact = durations[(durations.len() as f64 * part).ceil() as usize - 1] as f64;
            let quantile = page.times.quantile(part).expect("durations") as f64;
            assert!(
                (quantile - exact).abs() <= analysis.error * exact + 1.0,
                "{name} {part}: {quantile} for {exact}"
            );
        }
        let cells = |f: fn(&lab_model::LogCell) -> u64| page.cells.iter().map(f).sum::<u64>();
        assert_eq!(
            (cells(|c| c.requests), cells(|c| c.total_ns)),
            (page.requests, page.total_ns)
        );
    }
    assert_eq!(
        analysis.hours.iter().map(|h| h.requests).sum::<u64>(),
        60_000
    );
    assert_eq!(analysis.hours.len(), 72);
}

#[test]
fn compressed_logs_are_the_same() {
    let (text, _) = generate_log(3_000, 4);
    let (plain, _) = read_all(text.as_bytes()).expect("a log");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let zstd = zstd::encode_all(text.as_bytes(), 1).expect("memory");
    // Two gzip members, as in concatenated logs.
    let double = [&gzip[..], &gzip[..]].concat();
    // Zeros to the end of a block.
    let padded = [&double[..], &[0; 1024]].concat();
    for (bytes, times) in [(&gzip, 1), (&zstd, 1), (&double, 2), (&padded, 2)] {
        let (analysis, lines) = read_all(bytes).expect("a log");
        assert_eq!(lines.entries, 3_000 * times);
        assert_eq!(
            find(&analysis, "/search").total_ns,
            times * find(&plain, "/search").total_ns
        );
    }
    // Lines before the end of a truncated compressed file are counted.
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", &Hints::default());
    let cut = &gzip[..gzip.len() * 3 / 4];
    let error = read::read(cut, &mut log, &mut tally, &mut |_| true);
    assert!(matches!(error, Err(ReadError::Io(_))), "{error:?}");
    assert!(log.lines.entries > 1_000, "{:?}", log.lines);
    // The first read can return all lines before the error.
    let (few, _) = generate_log(30, 4);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(few.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let error = read_all(&gzip[..gzip.len() - 20]);
    assert!(matches!(error, Err(ReadError::Io(_))), "{error:?}");
}

#[test]
fn routes_are_learned_and_corrected() {
    let mut text = String::new();
    let mut random = Random(8);
    for i in 0..4_000 {
        let letters: String = (0..8)
            .map(|_| char::from(b'a' + random.next_below(26) as u8))
            .collect();
        let path = match i % 4 {
            0 => format!("/blog/{letters}"),
            1 => format!("/page-{}", char::from(b'a' + (i / 4 % 20) as u8)),
            2 => "/blog/archive".into(),
            _ => format!("/wp-{letters}.php"),
        };
        let status = if i % 4 == 3 { 404 } else { 200 };
        text.push_str(&line(
            MONDAY + i,
            &format!("GET {path} HTTP/1.1"),
            status,
            1_000_000,
            BROWSER,
        ));
    }
    let (analysis, _) = read_all(text.as_bytes()).expect("a log");
    assert_eq!(find(&analysis, "/blog/{name}").requests, 1_000);
    assert_eq!(find(&analysis, "/blog/archive").requests, 1_000);
    assert_eq!(find(&analysis, NOT_FOUND).requests, 1_000);
    assert_eq!(
        analysis
            .pages
            .iter()
            .filter(|p| p.name.starts_with("/page-"))
            .count(),
        20
    );
    let rules = Rules::new("/{any} -> /static\n/blog/{slug}\n").expect("rules");
    let (analysis, _) = read_with(text.as_bytes(), &Hints::default(), rules).expect("a log");
    assert_eq!(
        (
            find(&analysis, "/static").requests,
            find(&analysis, "/blog/{slug}").requests
        ),
        (2_000, 2_000)
    );
}

#[test]
fn bots_and_checks_are_separate() {
    let mut text = String::new();
    for i in 0..10 {
        text.push_str(&line(MONDAY + i, "GET / HTTP/1.1", 200, 1_000_000, BROWSER));
        text.push_str(&line(
            MONDAY + i,
            "GET / HTTP/1.1",
            200,
            1_000_000,
            "Googlebot/2.1",
        ));
        text.push_str(&line(
            MONDAY + i,
            "GET /healthz HTTP/1.1",
            200,
            1_000_000,
            "-",
        ));
    }
    let (analysis, _) = read_all(text.as_bytes()).expect("a log");
    let kinds = |kind| {
        analysis
            .pages
            .iter()
            .filter(|p| p.kind == kind)
            .map(|p| p.requests)
            .sum::<u64>()
    };
    assert_eq!(
        (
            kinds(PageKind::Page),
            kinds(PageKind::Bot),
            kinds(PageKind::Health)
        ),
        (10, 10, 10)
    );
    assert_eq!(analysis.hours[0].requests, 10);
    // Each of the ten seconds had one request.
    assert_eq!(analysis.peak, Some((MONDAY, 1)));
    assert_eq!(analysis.peak_minute, Some((MONDAY, 10)));
}

#[test]
fn a_log_without_durations_says_what_to_add() {
    let text = "::1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5\n".repeat(3);
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", &Hints::default());
    read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
    let advice = log.logs_read().advice;
    let advice: String = advice.iter().map(wording::advice).collect();
    assert!(
        advice.contains("%D") && advice.contains("$request_time"),
        "{advice}"
    );
    let analysis = tally.analysis(Vec::new(), log.lines);
    assert_eq!(
        (analysis.pages[0].requests, analysis.pages[0].timed),
        (3, 0)
    );
    assert_eq!(analysis.hours[0].offset_s, -25_200);
}

/// Reads files with the given names and contents as consecutive files of one log.
fn read_files(files: [(&str, &str); 2]) -> LogAnalysis {
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new(files[0].0, &Hints::default());
    for (i, (name, text)) in files.into_iter().enumerate() {
        if i > 0 {
            log.begin_file(name);
        }
        read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
    }
    log.close(&mut tally);
    tally.analysis(Vec::new(), log.lines)
}

#[test]
fn a_log_that_continues_under_its_name_is_read_as_one() {
    let slow = "# Time: 2026-05-01T10:00:00.000000Z\n# Query_time: 0.25  Lock_time: 0\nSELECT a;\nFROM t;\n\
                # Time: 2026-05-01T08:00:00.000000Z\n# Query_time: 0.5  Lock_time: 0\nSELECT\n2;\n";
    let days = "#Date: 2026-05-01 10:00:00\n#Fields: time cs-method cs-uri-stem sc-status time-taken\n\
                10:00:01 GET /a 200 5\n15:00:00 GET /a 200 7\n02:00:00 GET /a 200 9\n";
    // The files are cut where only a continued log can be parsed.
    for (text, first) in [(slow, 3..6), (days, 3..5)] {
        let whole = read_files([("log", text), ("log", "")]);
        for lines in first {
            let cut = text.split_inclusive('\n').take(lines).map(str::len).sum();
            let (before, after) = text.split_at(cut);
            let parts = read_files([("log", before), ("log", after)]);
            assert_eq!(
                (parts.pages, parts.hours),
                (whole.pages.clone(), whole.hours.clone()),
                "{lines}"
            );
        }
    }
}

#[test]
fn jumps_of_the_clock_are_counted_and_times_stay_true() {
    let mut text = String::new();
    for i in 0..20_i64 {
        let time = MONDAY + if i < 10 { 7200 + i } else { 3600 + i };
        text.push_str(&line(time, "GET / HTTP/1.1", 200, 1_000_000, BROWSER));
    }
    let (analysis, _) = read_all(text.as_bytes()).expect("a log");
    assert_eq!(analysis.clock_jumps, 1);
    let starts: Vec<(i64, u64)> = analysis
        .hours
        .iter()
        .map(|h| (h.start_s - MONDAY, h.requests))
        .collect();
    assert_eq!(starts, [(3600, 10), (7200, 10)]);
}

#[test]
fn long_logs_have_longer_cells() {
    let mut text = String::new();
    for day in 0..100_i64 {
        for hour in 0..24 {
            text.push_str(&line(
                MONDAY + day * 86_400 + hour * 3600,
                "GET / HTTP/1.1",
                200,
                1_000_000,
                BROWSER,
            ));
        }
    }
    let (analysis, _) = read_all(text.as_bytes()).expect("a log");
    assert_eq!(
        (analysis.cell_s, analysis.pages[0].cells.len()),
        (86_400, 100)
    );
    assert!(
        analysis.pages[0]
            .cells
            .iter()
            .all(|c| c.requests == 24 && c.start_s % 86_400 == 0)
    );
}

#[test]
fn hostile_lines_are_counted_and_do_no_harm() {
    let good = line(
        MONDAY,
        "GET /\x1b[31m\u{202e}x HTTP/1.1",
        200,
        1_000_000,
        BROWSER,
    );
    let mut bytes = good.repeat(10).into_bytes();
    bytes.extend(b"\x00\xff\xfe\n\n");
    bytes.extend(vec![b'a'; 1 << 20]);
    bytes.extend(b"\n");
    bytes.extend(&good.as_bytes()[..40]);
    let (analysis, lines) = read_all(&bytes).expect("a log");
    let expected = LineCounts {
        all: 14,
        entries: 10,
        other: 1,
        malformed: 1,
        too_long: 1,
        cut_off: 1,
    };
    assert_eq!(lines, expected);
    let is_plain = |name: &str| !name.contains(|c: char| c.is_control() || c == '\u{202e}');
    assert!(
        analysis.pages.iter().all(|p| is_plain(&p.name)),
        "{:?}",
        analysis.pages[0].name
    );
    assert!(matches!(
        read_all(&vec![b'x'; 1 << 20]),
        Err(ReadError::Format(_))
    ));
    assert_eq!(
        read_all(b"").expect("the log is empty").1,
        LineCounts::default()
    );
}

#[test]
fn pages_beyond_the_limit_are_merged() {
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", &Hints::default());
    let letters = |mut i: usize| {
        let mut name = String::new();
        for _ in 0..4 {
            name.push(char::from(b'a' + (i % 26) as u8));
            i /= 26;
        }
        name
    };
    for i in 0..105_000 {
        let text = line(
            MONDAY,
            &format!("GET /{} HTTP/1.1", letters(i)),
            200,
            1_000_000,
            BROWSER,
        );
        log.push(text.as_bytes(), &mut tally).expect("a log");
    }
    log.end(&mut tally).expect("a log");
    let analysis = tally.analysis(Vec::new(), log.lines);
    assert_eq!(
        analysis.pages.iter().map(|p| p.requests).sum::<u64>(),
        105_000
    );
    // One of the 105,000 pages, /live, is a health check.
    assert_eq!(find(&analysis, "/{name}").requests, 104_999);
}

#[test]
fn statements_and_monitors_are_read_as_a_whole() {
    let csv = "query,calls,total_exec_time,max_exec_time\n\"SELECT *\nFROM t WHERE a = 5\",10,250.5,90\nSELECT 1,3,0.3,0.2\n";
    let (analysis, lines) = read_all(csv.as_bytes()).expect("statements");
    let page = find(&analysis, "SELECT * FROM t WHERE a = ?");
    assert_eq!(
        (page.kind, page.requests, page.total_ns, page.max_ns),
        (PageKind::Query, 10, 250_500_000, 90_000_000)
    );
    assert_eq!(lines.entries, 2);
    let digest = "DIGEST_TEXT\tCOUNT_STAR\tSUM_TIMER_WAIT\tMAX_TIMER_WAIT\nSELECT ?\t4\t8000000000\t4000000000\n";
    let (analysis, _) = read_all(digest.as_bytes()).expect("statements");
    assert_eq!(find(&analysis, "SELECT ?").total_ns, 8_000_000);
    // A column without maximums, German numbers, and a number that is ambiguous.
    let csv = "query;calls;total_exec_time\nSELECT 1 FROM a;1.000;1.234,5\nSELECT 1 FROM b;10;00:00:02\nSELECT 1 FROM c;10;1,234\n";
    let (analysis, lines) = read_all(csv.as_bytes()).expect("statements");
    assert_eq!((lines.all, lines.entries, lines.malformed), (3, 2, 1));
    let page = find(&analysis, "SELECT ? FROM a");
    assert_eq!(
        (page.requests, page.total_ns, page.known_max_ns()),
        (1_000, 1_234_500_000, None)
    );
    assert_eq!(find(&analysis, "SELECT ? FROM b").total_ns, 2_000_000_000);
    assert!(read_all(b"query,calls,total_exec_time\nSELECT 1,2,much\n").is_err());
    let guide = include_str!("../../../../docs/log-formats.md");
    let json = guide
        .split("```json")
        .nth(1)
        .and_then(|t| t.split("```").next())
        .expect("the example");
    let (analysis, lines) = read_all(json.trim().as_bytes()).expect("a monitor");
    assert_eq!(lines.entries, 1200);
    let page = find(&analysis, "/orders/{id}");
    assert_eq!(
        (
            page.requests,
            page.errors,
            page.client_errors,
            page.total_ns
        ),
        (1200, 2, 31, 9_800_000_000)
    );
    assert_eq!(page.times.total(), 1200);
    assert_eq!(analysis.hours.len(), 3);
    assert_eq!(
        find(&analysis, "SELECT * FROM orders WHERE id = ?").kind,
        PageKind::Query
    );
    for (good, bad) in [
        ("\"monitor\": 1", "\"monitor\": 2"),
        ("310]", "311]"),
        ("0.03125", "0.5"),
    ] {
        assert!(
            matches!(
                read_all(json.replacen(good, bad, 1).trim().as_bytes()),
                Err(ReadError::Format(_))
            ),
            "{bad}"
        );
    }
}

/// Lines of every format, to be cut and mixed.
const SEEDS: [&str; 15] = [
    "::1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?b HTTP/1.0\" 200 2326 \"-\" \"x\" 1234\n",
    "x haproxy[1]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] a b/c 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 \"GET / HTTP/1.1\"\n",
    "{\"ts\":1646861401.5,\"request\":{\"method\":\"GET\",\"uri\":\"/\"},\"duration\":0.0009,\"status\":200}\n",
    "#Fields: date time cs-method cs-uri-stem sc-status time-taken\n2026-05-01 10:00:00 GET /x 200 78\n",
    "2026-05-01 10:00:00.123 UTC [77] LOG:  duration: 12.345 ms  statement: SELECT '1'\n\tFROM t\n",
    "# Time: 260501 10:00:00\n# Query_time: 0.25  Lock_time: 0\nSET timestamp=1777629599;\nSELECT 1;\n",
    "query,calls,total_exec_time\nSELECT 1,2,3\n",
    "{\"monitor\":1,\"bucket_width\":0.03,\"pages\":[{\"name\":\"/\",\"count\":1,\"errors\":0,\"total_ns\":5,\"times\":[[5,1]]}]}\n",
    "\u{1f}\u{8b}\u{8}\0\n",
    "[2026-05-01T10:00:00.310Z] \"POST /a HTTP/2\" 204 - 154 7 226 100 \"10.0.35.28\" \"x\" \"id\" \"h\" \"tcp://h\"\n",
    "h2 2026-05-01T10:00:00.186641Z app/lb/50dc 192.0.2.39:28 10.0.0.1:80 0.006 1.500 0.000 502 - 34 366 \"GET https://h:443/a HTTP/2.0\" \"x\" - -\n",
    "#Date: 2026-05-01 10:00:00\n#Fields: time cs-uri-stem cs(User-Agent) sc-status time-taken\n10:00:01 /x \"a b\" 200 78\n",
    "[::1]:80 ::1 - - [10/Oct/2000:13:55:36 -0700] \"GET /\\\"x HTTP/1.0\" 200 5 \"-\" \"x\" 162 \"r\" 22ms\n",
    "{\"time\":\"2026-05-01 10:00:00\",\"http\":{\"request\":{\"method\":\"GET\"}},\"url.path\":\"/\",\"latency\":\"1m2s\"}\n",
    "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"5b\",\"kind\":2,\"startTimeUnixNano\":\"1777629600000000000\",\"endTimeUnixNano\":\"1777629600250000000\",\"attributes\":[{\"key\":\"url.path\",\"value\":{\"stringValue\":\"/\"}}]}]}]}]}\n",
];

/// Configured formats, for all kinds of lines.
const FORMATS: [&str; 6] = [
    r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D"#,
    r#"%v:%p [%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t] "%m %U%q %H" %s %O %{ms}T"#,
    r#"%{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}t %a "%r" %s %B %T"#,
    "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent $request_time $upstream_response_time",
    "$http_x_forwarded_for $msec $scheme://$host$request_uri $request_method $status $request_time",
    "{\"t\":\"$time_iso8601\",\"r\":\"$request\",\"d\":$request_time,\"s\":$status}",
];

fn with_format(format: &str) -> Hints {
    Hints {
        format: Some(format.into()),
        ..Hints::default()
    }
}

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        (0..SEEDS.len(), 0..200_usize, 0..200_usize).prop_map(|(seed, from, n)| {
            let bytes = SEEDS[seed].as_bytes();
            bytes[from.min(bytes.len())..]
                .iter()
                .copied()
                .take(n + 1)
                .collect()
        }),
        (0..SEEDS.len()).prop_map(|seed| SEEDS[seed].as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..60),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_crash_a_reader(bytes in hostile()) {
        if let Ok((analysis, lines)) = read_all(&bytes) {
            let is_line = lines.all > 0;
            if is_line {
                prop_assert_eq!(lines.all, lines.entries + lines.other + lines.malformed + lines.too_long + lines.cut_off);
            }
            prop_assert!(analysis.pages.iter().all(|p| !p.name.contains(char::is_control)));
        }
    }

    #[test]
    fn each_format_tolerates_hostile_lines(seed in prop::sample::select(vec![0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14]), bytes in hostile()) {
        let begin = SEEDS[seed].repeat(60);
        let all = [begin.as_bytes(), &bytes].concat();
        prop_assert!(read_all(&all).is_ok());
    }

    #[test]
    fn configured_formats_tolerate_hostile_lines(format in prop::sample::select(FORMATS.to_vec()), bytes in hostile()) {
        let all = [SEEDS[0].as_bytes(), &bytes].concat();
        let read = read_with(&all, &with_format(format), Rules::default());
        prop_assert!(read.is_ok());
    }

    #[test]
    fn any_text_is_a_format_or_is_rejected(format in "([%$]|[%$][a-zA-Z]{1,8}|%\\{[a-zA-Z%:/ -]{0,12}\\}|[ \"\\[\\]\\\\{}<>!,^?.:é'-]){0,12}", bytes in hostile()) {
        let _ = read_with(&bytes, &with_format(&format), Rules::default());
    }

    #[test]
    fn chunk_sizes_make_no_difference(bytes in hostile(), cuts in prop::collection::vec(1..50_usize, 1..20)) {
        let all = [SEEDS[0].repeat(100).as_bytes(), &bytes].concat();
        let whole = read_all(&all).expect("a combined log");
        let mut tally = Tally::new(Rules::default());
        let mut log = ServerLog::new("log", &Hints::default());
        let mut rest = &all[..];
        for n in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*n).min(rest.len()));
            log.push(piece, &mut tally).expect("a combined log");
            rest = after;
        }
        log.end(&mut tally).expect("a combined log");
        let lines = log.lines;
        prop_assert_eq!(&whole.1, &lines);
        prop_assert_eq!(&whole.0, &tally.analysis(vec![log.source], lines));
    }
}

#[test]
fn requests_without_an_end_do_not_set_the_clock_back() {
    let mut text = String::new();
    for i in 0..20 {
        let time = MONDAY + i * 60;
        text.push_str(&format!(
            "{{\"ts\":{time},\"request_id\":\"r-{i}\",\"method\":\"GET\",\"path\":\"/a\"}}\n"
        ));
        if i % 10 > 0 {
            text.push_str(&format!(
                "{{\"ts\":{time},\"request_id\":\"r-{i}\",\"status\":200,\"duration_ms\":5}}\n"
            ));
        }
    }
    let (analysis, lines) = read_all(text.as_bytes()).expect("a log");
    assert_eq!((lines.entries, analysis.clock_jumps), (20, 0));
    assert_eq!(find(&analysis, "/a").timed, 18);
}

#[test]
fn gates_on_requests_need_to_know_which_lines_are_requests() {
    let end = r#"{"method":"GET","path":"/a","status":200,"duration_ms":5}"#;
    let other = r#"{"method":"GET","path":"/b"}"#;
    let text = format!("{end}\n{other}\n");
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", &Hints::default());
    read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
    log.close(&mut tally);
    let logs = log.logs_read();
    let mut analysis = tally.analysis(logs.sources, logs.lines);
    analysis.assumptions = logs.assumptions;
    let is_judged = |gate: &str| {
        let gate: Gate = gate.parse().expect("a gate");
        gate.judge(&analysis).value.is_ok()
    };
    assert!(!is_judged("errors>1%") && !is_judged("requests>5"));
    assert!(is_judged("mean>1s"));
}

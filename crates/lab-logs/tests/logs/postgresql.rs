// SPDX-License-Identifier: Apache-2.0
//! Reads logs of PostgreSQL as servers, containers and collectors write them.

use lab_logs::{Hints, ReadError, Rules, ServerLog, Tally, read};
use lab_model::LogAdvice;

/// The statements of a log: the text, the number of executions, the total time in µs, and the
/// number of failures.
type Statements = Vec<(String, u64, u64, u64)>;

fn read_log(text: &str, hints: &Hints) -> Result<(Statements, Vec<LogAdvice>), ReadError> {
    let mut tally = Tally::new(Rules::default());
    let mut log = ServerLog::new("log", hints);
    read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true)?;
    log.close(&mut tally);
    let advice = log.logs_read().advice;
    let analysis = tally.analysis(vec![log.source.clone()], log.lines);
    let pages = analysis.pages.iter();
    let mut statements: Statements = pages
        .map(|p| (p.name.clone(), p.requests, p.total_ns / 1_000, p.errors))
        .collect();
    statements.sort();
    Ok((statements, advice))
}

fn statements(text: &str) -> Statements {
    read_log(text, &Hints::default()).expect("a log").0
}

fn expected(all: &[(&str, u64, u64, u64)]) -> Statements {
    let all = all.iter();
    all.map(|(name, n, us, errors)| (name.to_string(), *n, *us, *errors))
        .collect()
}

/// Returns copies of `lines` for the seconds 0 to 5, in which `#` is replaced by the second.
fn repeated(lines: &str) -> String {
    let second = |n: usize| lines.replace('#', &n.to_string());
    (0..6).map(second).collect()
}

#[test]
fn error_codes_are_removed() {
    // log_error_verbosity = verbose adds the SQLSTATE and LOCATION.
    let log = repeated(
        "2024-05-01 10:00:0# UTC [77] a@b LOG:  00000: duration: 12.345 ms  statement: SELECT # FROM v\n\
         2024-05-01 10:00:0# UTC [77] a@b LOCATION:  exec_simple_query, postgres.c:1290\n\
         2024-05-01 10:00:0# UTC [77] a@b ERROR:  42P01: relation \"x\" does not exist\n\
         2024-05-01 10:00:0# UTC [77] a@b LOCATION:  parserOpenTable, parse_relation.c:1449\n\
         2024-05-01 10:00:0# UTC [77] a@b STATEMENT:  SELECT * FROM x\n",
    );
    let both = [
        ("SELECT * FROM x", 6, 0, 6),
        ("SELECT ? FROM v", 6, 6 * 12_345, 0),
    ];
    assert_eq!(statements(&log), expected(&both));
}

/// Returns a log of two sessions that run at the same time.
///
/// After the time, lines of the slow session have the prefix `slow`, and lines of the fast session
/// have the prefix `fast`.
fn two_sessions(slow: &str, fast: &str) -> String {
    repeated(&format!(
        "2024-05-01 10:00:0# UTC {slow}LOG:  statement: SELECT slow\n\
         2024-05-01 10:00:0# UTC {fast}LOG:  statement: SELECT fast\n\
         2024-05-01 10:00:0# UTC {slow}LOG:  duration: 900.000 ms\n\
         2024-05-01 10:00:0# UTC {fast}LOG:  duration: 2.000 ms\n"
    ))
}

#[test]
fn numbers_that_are_not_processes_are_not_used() {
    let joined = expected(&[
        ("SELECT fast", 6, 12_000, 0),
        ("SELECT slow", 6, 5_400_000, 0),
    ]);
    for [slow, fast] in [
        // %u@%r (%d) [%x]: the client's port is the session.
        ["a@10.0.0.5(51166) (d) [0] ", "a@10.0.0.5(51148) (d) [0] "],
        // [%d] [%p], %d %u %p
        ["[2024] [70] ", "[2024] [71] "],
        ["2024 a 70 ", "2024 a 71 "],
        // %v %x %p
        ["3/44110 0 70 ", "4/44111 0 71 "],
        // app=[%a] pid=%p
        ["app=[9] pid=70 ", "app=[9] pid=71 "],
        ["[70] ", "[71] "],
    ] {
        assert_eq!(statements(&two_sessions(slow, fast)), joined, "{slow}");
    }
    // [%l] %p
    let mut log = String::new();
    for n in 0..6 {
        for (process, name, text) in [(70, "slow", "900.000"), (71, "fast", "2.000")] {
            let head = |line| format!("2024-05-01 10:00:0{n} UTC [{line}] {process} LOG:  ");
            log += &format!("{}statement: SELECT {name}\n", head(2 * n + 1));
            log += &format!("{}duration: {text} ms\n", head(2 * n + 2));
        }
    }
    assert_eq!(statements(&log), joined);
}

#[test]
fn an_unclear_process_joins_nothing() {
    let line = "2024-05-01 10:00:0# UTC [2024] [70] LOG:  ";
    let log = repeated(&format!(
        "{line}statement: SELECT a\n{line}duration: 2.000 ms\n"
    ));
    let (found, advice) = read_log(&log, &Hints::default()).expect("a log");
    assert!(
        advice.contains(&LogAdvice::UnclearProcessNumbers),
        "{advice:?}"
    );
    let named = found.iter().find(|page| page.0 == "SELECT a");
    assert_eq!(named.map(|page| (page.1, page.2)), Some((6, 0)));
    // The prefix of the server's configuration answers the question.
    let hints = Hints {
        format: Some("%t [%d] [%p] ".into()),
        ..Hints::default()
    };
    let (found, _) = read_log(&log, &hints).expect("a log");
    assert_eq!(found, expected(&[("SELECT a", 6, 12_000, 0)]));
}

const HEAD: &str =
    "2024-05-01 10:00:0#.123 UTC [70] a@b LOG:  duration: 10.000 ms  statement: SELECT *";

#[test]
fn wrappers_of_containers_are_removed() {
    let one = expected(&[("SELECT * FROM o WHERE id = ?", 6, 60_000, 0)]);
    for before in [
        "",
        "db-1  | ",
        "[pod/db-0/postgres] ",
        "2024-05-01T10:00:0#.123456789Z ",
        "2024-05-01T10:00:0#.123456789Z stderr F ",
    ] {
        let log = repeated(&format!(
            "{before}{HEAD}\n{before}\tFROM o\n{before}\tWHERE id = #\n"
        ));
        assert_eq!(statements(&log), one, "{before}");
    }
    // The container runtime splits a long line into parts.
    let time = "2024-05-01T10:00:0#.1Z stderr";
    let log = repeated(&format!("{time} P {HEAD}\n{time} F  FROM o WHERE id = #\n"));
    assert_eq!(statements(&log), one);
    // Two containers, whose processes can have the same ID.
    let log = repeated(&format!(
        "db-1 | {HEAD}\ndb-2 | {HEAD}\nweb-1 | GET /\ndb-2 | \tFROM p\ndb-1 | \tFROM o\n"
    ));
    let two = [
        ("SELECT * FROM o", 6, 60_000, 0),
        ("SELECT * FROM p", 6, 60_000, 0),
    ];
    assert_eq!(statements(&log), expected(&two));
}

#[test]
fn pieces_in_syslog_are_joined() {
    let one = expected(&[("SELECT * FROM o WHERE id = ?", 6, 60_000, 0)]);
    // RFC 5424, and lines without numbers (syslog_sequence_numbers = off).
    for [before, next] in [
        [
            "<134>1 2024-05-01T10:00:0#+02:00 host postgres 70 - - [#-1] ",
            "<134>1 2024-05-01T10:00:0#+02:00 host postgres 70 - - [#-2] ",
        ],
        [
            "May  1 10:00:0# host postgres[70]: ",
            "May  1 10:00:0# host postgres[70]: ",
        ],
    ] {
        let log = repeated(&format!(
            "{before}{HEAD}\n{next}\tFROM o\n{next}\tWHERE id = #\n"
        ));
        assert_eq!(statements(&log), one, "{before}");
    }
}

#[test]
fn hosts_in_one_syslog_file_are_separate() {
    let line = |host, part, text| format!("May  1 10:00:0# {host} postgres[70]: [{part}] {text}\n");
    let log = repeated(
        &[
            line("db1", "1-1", "LOG:  statement: SELECT *"),
            line("db2", "1-1", "LOG:  statement: SELECT *"),
            line("db1", "1-2", "\tFROM a"),
            line("db2", "1-2", "\tFROM b"),
            line("db1", "2-1", "LOG:  duration: 1.000 ms"),
            line("db2", "2-1", "LOG:  duration: 1000.000 ms"),
        ]
        .concat(),
    );
    let two = [
        ("SELECT * FROM a", 6, 6_000, 0),
        ("SELECT * FROM b", 6, 6_000_000, 0),
    ];
    assert_eq!(statements(&log), expected(&two));
}

#[test]
fn lines_of_other_programs_are_not_part_of_statements() {
    let one = expected(&[("SELECT * FROM o WHERE id = ?", 6, 60_000, 0)]);
    let single = HEAD.replace("SELECT *", "SELECT * FROM o WHERE id = #");
    for log in [
        format!(
            "{HEAD}\n\tFROM o\n\tWHERE id = #\ncp: cannot stat 'x': No such file or directory\n"
        ),
        format!("{HEAD}\n\tFROM o\n\tWHERE id = #\n2024-05-01 10:00:0#.500 P00   INFO: archived\n"),
        format!("2024-05-01 10:00:0#,123 INFO: no action. I am the leader\n{single}\n"),
        format!("{single}\n{{\"message\": \"LOG:  duration: 1 ms  statement: SELECT b\"}}\n"),
    ] {
        assert_eq!(statements(&repeated(&log)), one, "{log}");
    }
}

#[test]
fn messages_in_another_language_end_a_message() {
    let german = "2024-05-01 10:00:0#.123 UTC [70] a@b FEHLER:  Relation »x« existiert nicht\n\
                  2024-05-01 10:00:0#.123 UTC [70] a@b ANWEISUNG:  SELECT * FROM x\n";
    let (found, advice) = read_log(
        &repeated(&format!("{HEAD} FROM o\n{german}")),
        &Hints::default(),
    )
    .expect("a log");
    assert_eq!(found, expected(&[("SELECT * FROM o", 6, 60_000, 0)]));
    assert_eq!(advice, [LogAdvice::TranslatedMessages { messages: 12 }]);
    let japanese = "2024-05-01 10:00:0# UTC [77] a@b LOG:  期間: 12.345 ミリ秒  文: SELECT 0\n";
    let (_, advice) = read_log(&repeated(japanese), &Hints::default()).expect("a log");
    assert_eq!(advice, [LogAdvice::TranslatedMessages { messages: 6 }]);
    let csv = "2024-05-01 10:00:0#.000 CEST,\"a\",\"b\",77,\"10.0.0.1:5432\",66321100.4d,1,\"SELECT\",\
               2024-05-01 09:59:00 CEST,3/0,0,FEHLER,00000,\"x\",,,,,,,,,\"psql\"\n";
    let (_, advice) = read_log(&repeated(csv), &Hints::default()).expect("a log");
    let translated = LogAdvice::TranslatedMessages { messages: 6 };
    assert!(
        advice.contains(&translated) && !advice.contains(&LogAdvice::NoStatements),
        "{advice:?}"
    );
}

#[test]
fn text_in_json_is_read_without_the_json() {
    let one = expected(&[("SELECT * FROM o WHERE id = ?", 6, 60_000, 0)]);
    let text = format!("{HEAD}\\n\\tFROM o\\n\\tWHERE id = #");
    for line in [
        format!("{{\"log\": \"{text}\\n\", \"stream\": \"stderr\"}}"),
        format!("{{\"textPayload\": \"{text}\", \"timestamp\": \"x\"}}"),
        // Azure's diagnostic settings
        format!(
            "{{\"properties\": {{\"message\": \"{text}\"}}, \"identity\": \"alice@example.org\"}}"
        ),
        // journalctl -o json
        format!("{{\"MESSAGE\": \"[#-1] {text}\", \"_PID\": \"70\", \"_HOSTNAME\": \"alice\"}}"),
    ] {
        assert_eq!(statements(&repeated(&format!("{line}\n"))), one, "{line}");
    }
    // A pretty-printed array is not one object per line.
    let array = repeated(&format!(" {{\n  \"textPayload\": \"{text}\"\n }},\n"));
    assert!(read_log(&format!("[\n{array}"), &Hints::default()).is_err());
}

#[test]
fn jsonlog_is_read_in_wrappers() {
    let record = "{\"log_time\": \"2024-05-01 10:00:0# UTC\", \"process_id\": \"77\", \"session_id\": \"66321100.4d\", \
                  \"error_severity\": \"LOG\", \"message\": \"duration: 5.000 ms  statement: SELECT #\"}";
    let cloud_native =
        format!("{{\"logger\": \"postgres\", \"msg\": \"record\", \"record\": {record}}}");
    let escaped = |json: &str| json.replace('"', "\\\"");
    for line in [
        format!(
            "{{\"log\": \"{}\\n\", \"stream\": \"stderr\"}}",
            escaped(record)
        ),
        format!(
            "{{\"log\": \"{}\\n\", \"stream\": \"stderr\"}}",
            escaped(&cloud_native)
        ),
        format!("{{\"jsonPayload\": {cloud_native}, \"timestamp\": \"2024-05-01T10:00:00Z\"}}"),
        format!("2024-05-01T10:00:0#.123456789Z stdout F {cloud_native}"),
    ] {
        let log = repeated(&format!("{line}\n"));
        assert_eq!(
            statements(&log),
            expected(&[("SELECT ?", 6, 30_000, 0)]),
            "{line}"
        );
    }
}

#[test]
fn plans_of_a_statement_with_its_own_line_are_dropped() {
    let head = "2024-05-01 10:00:0# UTC [77] a@b";
    let plan = |ms, text| {
        format!(
            "{head} LOG:  duration: {ms} ms  plan:\n\tQuery Text: {text}\n\tSeq Scan on z  (cost=0.00..0.26 rows=1 width=4)\n"
        )
    };
    // A plan for each statement of a query.
    let query = "SELECT * FROM a; SELECT * FROM b";
    let log = [
        plan("10.000", query),
        plan("20.000", query),
        format!("{head} LOG:  duration: 30.500 ms  statement: {query}\n"),
    ]
    .concat();
    let found = statements(&repeated(&log));
    assert_eq!(found, expected(&[(query, 6, 6 * 30_500, 0)]));
    // EXECUTE: the plan has the text of PREPARE.
    let prepared = "PREPARE p(int) AS SELECT * FROM z WHERE id=$1;";
    let log = [
        plan("40.000", prepared),
        format!("{head} LOG:  duration: 40.200 ms  statement: EXECUTE p(#);\n"),
        format!("{head} DETAIL:  prepare: {prepared}\n"),
    ]
    .concat();
    let totals = |found: &Statements| {
        found
            .iter()
            .map(|page| (page.1, page.2))
            .collect::<Vec<_>>()
    };
    assert_eq!(totals(&statements(&repeated(&log))), [(6, 6 * 40_200)]);
    // A portal that is fetched in pieces has one plan, when it is closed.
    let log = [
        format!("{head} LOG:  duration: 10.000 ms  execute S_1/C_2: SELECT * FROM z\n"),
        format!("{head} LOG:  duration: 10.000 ms  execute fetch from S_1/C_2: SELECT * FROM z\n"),
        plan("19.900", "SELECT * FROM z"),
    ]
    .concat();
    assert_eq!(totals(&statements(&repeated(&log))), [(12, 120_000)]);
}

#[test]
fn nested_statements_are_reported() {
    let head = "2024-05-01 10:00:0# UTC [77] a@b";
    let log = format!(
        "{head} LOG:  duration: 40.000 ms  plan:\n\tQuery Text: SELECT inner\n\tResult  (cost=0.00..0.26 rows=1 width=4)\n\
         {head} CONTEXT:  SQL statement \"SELECT inner\"\n\tPL/pgSQL function total(integer) line 4 at SQL statement\n\
         {head} LOG:  duration: 45.300 ms  statement: SELECT total(#)\n"
    );
    let (found, advice) = read_log(&repeated(&log), &Hints::default()).expect("a log");
    assert_eq!(found.iter().map(|page| page.1).sum::<u64>(), 12);
    assert_eq!(advice, [LogAdvice::NestedStatements { statements: 6 }]);
}

#[test]
fn the_time_of_a_message_is_not_that_of_its_session() {
    // %s before %m: the session started at 08:00.
    let log = repeated(
        "2024-05-01 08:00:00 UTC 6631f5c0.1a4 2024-05-01 14:0#:00.123 UTC [420] LOG:  duration: 1.000 ms  statement: SELECT 1\n",
    );
    let mut tally = Tally::new(Rules::default());
    let mut server = ServerLog::new("log", &Hints::default());
    read::read(log.as_bytes(), &mut server, &mut tally, &mut |_| true).expect("a log");
    server.close(&mut tally);
    let analysis = tally.analysis(Vec::new(), server.lines);
    // 2024-05-01 14:00 UTC
    let hours: Vec<i64> = analysis.hours.iter().map(|hour| hour.start_s).collect();
    assert_eq!(hours, [1_714_572_000]);
}

#[test]
fn tags_directly_after_the_prefix_are_read() {
    for (before, format) in [
        // Azure's default prefix
        (
            "ts=2024-05-01 13:18:0#.900 UTC,user=admin,cmdtag=SELECT,vtxid=7/44116,txid=0",
            "ts=%m,user=%u,cmdtag=%i,vtxid=%v,txid=%x",
        ),
        (
            "2024-05-01 13:18:0# UTC [29940]: [1#-1] db=abc,user=abc_app",
            "%t [%p]: [%l-1] db=%d,user=%u",
        ),
    ] {
        let log = repeated(&format!(
            "{before}LOG:  duration: 1.000 ms  statement: SELECT #\n"
        ));
        let one = expected(&[("SELECT ?", 6, 6_000, 0)]);
        assert_eq!(statements(&log), one, "{before}");
        let hints = Hints {
            format: Some(format.into()),
            ..Hints::default()
        };
        assert_eq!(read_log(&log, &hints).expect("a log").0, one, "{format}");
    }
}

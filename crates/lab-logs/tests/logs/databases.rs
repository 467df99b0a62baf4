// SPDX-License-Identifier: Apache-2.0
//! Checks that the counts and times of statements are right, or that the report and the gates say
//! why they are unknown.

use lab_logs::analysis::gate::Gate;
use lab_logs::wording;
use lab_logs::{Hints, LogSources, LogsSession, Rules, ServerLog, SessionOptions, Tally, read};
use lab_model::{LogAdvice, LogAnalysis, LogAssumption, PageKind};

/// Reads logs, as the command line does.
fn analysis(logs: &[&str]) -> LogAnalysis {
    let directory = tempfile::tempdir().expect("a directory");
    let name = |index: usize| directory.path().join(format!("{index}.log"));
    for (index, text) in logs.iter().enumerate() {
        std::fs::write(name(index), text).expect("a file");
    }
    let names = (0..logs.len()).map(|index| name(index).display().to_string());
    let options = SessionOptions {
        logs: names.collect(),
        ..SessionOptions::default()
    };
    let sources = LogSources::new(&options.logs, false).expect("files");
    let mut session = LogsSession::new(&options).expect("options");
    session
        .read(&sources.all, &mut |_, _| true)
        .expect("readable logs");
    session.end()
}

/// Returns the queries of a log, each with its name, its number of executions, and its total time
/// in ms.
fn queries(analysis: &LogAnalysis) -> Vec<(&str, u64, u64)> {
    let pages = analysis.pages.iter();
    let queries = pages.filter(|page| page.kind == PageKind::Query);
    let mut queries: Vec<_> = queries
        .map(|q| (q.name.as_str(), q.requests, q.total_ns / 1_000_000))
        .collect();
    queries.sort_unstable();
    queries
}

fn queries_of(log: &str, expected: &[(&str, u64, u64)]) {
    assert_eq!(queries(&analysis(&[log])), expected, "{log}");
}

/// Returns true if the gate fails, false if it passes, and `None` if it is inconclusive.
fn judged(gate: &str, analysis: &LogAnalysis) -> Option<bool> {
    let result = gate.parse::<Gate>().expect(gate).judge(analysis);
    result.value.is_ok().then_some(result.is_crossed)
}

/// Returns a log of PostgreSQL with one line for each of `texts`.
///
/// Each line has its own second, and `prefix` after the time.
fn log(prefix: &str, texts: &[&str]) -> String {
    let line = |(n, text): (usize, &&str)| {
        let prefix = prefix.replace("%l", &(n + 1).to_string());
        format!("2026-05-01 10:00:{:02}.000 UTC {prefix}{text}\n", n % 60)
    };
    texts.iter().enumerate().map(line).collect()
}

const DURATION: &str = "LOG:  duration: 10.000 ms  statement: ";

fn timed(statements: &[&str]) -> String {
    let texts: Vec<String> = statements
        .iter()
        .map(|s| format!("{DURATION}{s}"))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    log("[7] ", &texts)
}

/// Returns an event of a slow query log.
fn slow(statement: &str) -> String {
    format!(
        "# User@Host: u[u] @ localhost []\n# Query_time: 0.010000  Lock_time: 0 Rows_sent: 1\n\
         SET timestamp=1777629600;\n{statement};\n"
    )
}

#[test]
fn accounts_and_prepared_texts_are_not_proof_of_ansi_quotes() {
    for statement in [
        r#"PREPARE s FROM "SELECT * FROM users WHERE email='secret1@x.de'""#,
        r#"REVOKE ALL ON shop.* FROM "secret1"@"10.0.0.1""#,
        r#"GRANT SELECT ON shop.t TO "secret1"@"10.0.0.1""#,
        r#"SELECT "t"."id" FROM "t" WHERE "t"."a"='x'"#,
        r#"GRANT SELECT ON "shop"."t" TO "secret1"@"10.0.0.1""#,
    ] {
        let log = [
            slow(statement),
            slow(r#"SELECT * FROM users WHERE email = "secret2@x.de""#),
            slow(r#"SELECT * FROM users WHERE email = "secret3@x.de""#),
        ];
        let analysis = analysis(&[&log.concat()]);
        let found = queries(&analysis);
        assert!(found.iter().all(|q| !q.0.contains("secret")), "{found:?}");
        let both = ("SELECT * FROM users WHERE email = ?", 2, 20);
        assert!(found.contains(&both), "{found:?}");
    }
    // A statement that shows nothing can use a name of another one.
    let log = [
        slow(r#"SELECT "id" FROM "orders""#),
        slow(r#"SELECT a FROM orders WHERE "id" = 1"#),
    ];
    let names = [
        ("SELECT \"id\" FROM \"orders\"", 1, 10),
        ("SELECT a FROM orders WHERE \"id\" = ?", 1, 10),
    ];
    queries_of(&log.concat(), &names);
}

/// Stock MySQL, MariaDB and `pg_stat_statements` do not write whether a statement failed.
#[test]
fn errors_are_unknown_if_the_source_has_no_outcomes() {
    let slow_log = slow("SELECT 1").repeat(20);
    let totals = "query,calls,total_exec_time\nSELECT 1,20,30.5\n";
    for log in [&slow_log[..], totals] {
        let found = analysis(&[log]);
        for gate in ["errors>1%", "errors(SELECT ?)>1%", "errors<1%"] {
            assert_eq!(judged(gate, &found), None, "{gate} {log}");
        }
        assert_eq!(judged("requests>19", &found), Some(true));
    }
    let none_failed = slow_log.replace("Rows_sent: 1", "Rows_sent: 1 Thread_id: 8 Errno: 0");
    let found = analysis(&[&none_failed]);
    assert_eq!(judged("errors>1%", &found), Some(false));
    let counted = "DIGEST_TEXT,COUNT_STAR,SUM_TIMER_WAIT,SUM_ERRORS\nSELECT ?,20,3000000,1\n";
    assert_eq!(judged("errors>1%", &analysis(&[counted])), Some(true));
}

/// Percona Server 5.7 writes the code of the last warning, too.
#[test]
fn a_warning_is_no_error() {
    let event = |code: u32, statement: &str| {
        let schema = format!("localhost []\n# Schema: shop  Last_errno: {code}  Killed: 0");
        slow(statement).replace("localhost []", &schema)
    };
    let log = [
        event(1592, "INSERT IGNORE INTO t SELECT * FROM u").repeat(20),
        event(1064, "SELEC 1"),
        event(0, "SELECT 1").repeat(79),
    ];
    let found = analysis(&[&log.concat()]);
    assert_eq!(judged("errors>1.1%", &found), Some(false));
    assert_eq!(judged("errors>0.9%", &found), Some(true));
    // In a strict mode, the code is that of an error.
    let unclear = event(1366, "INSERT INTO t VALUES ('a')").repeat(20) + &log[2];
    assert_eq!(judged("errors>1%", &analysis(&[&unclear])), None);
}

#[test]
fn durations_of_a_few_statements_are_not_those_of_all() {
    let mut texts = Vec::new();
    for n in 0..100 {
        texts.push("LOG:  statement: SELECT * FROM t WHERE id = 1");
        if n % 20 == 0 {
            texts.push("LOG:  duration: 2000.000 ms");
        }
    }
    texts.extend(["ERROR:  no table", "STATEMENT:  SELECT * FROM x"]);
    let log = log("[7] ", &texts);
    let found = analysis(&[&log]);
    let assumption = LogAssumption::UntimedStatements {
        statements: 95,
        of: 100,
    };
    assert_eq!(found.assumptions, [assumption]);
    for gate in ["p50>1s", "mean>1s", "p99>1s", "max>3s"] {
        assert_eq!(judged(gate, &found), None, "{gate}");
    }
    let name = "SELECT * FROM t WHERE id = ?";
    for gate in ["mean", "share"] {
        assert_eq!(
            judged(&format!("{gate}({name})>1s").replace("share", "p9"), &found),
            None
        );
    }
    assert_eq!(judged(&format!("share({name})>10%"), &found), None);
    assert_eq!(judged("requests>200", &found), Some(false));
    assert_eq!(judged("errors>50%", &found), Some(false));
    // The log of the server is complete.
    let access = (0..30).map(|n| {
        format!(
            "{{\"time\":\"2026-05-01T10:00:{n:02}Z\",\"path\":\"/a\",\"status\":200,\"duration_ms\":5}}\n"
        )
    });
    let both = analysis(&[&access.collect::<String>(), &log]);
    assert_eq!(judged("p50>1s", &both), Some(false));
    assert_eq!(judged(&format!("p50({name})>1s"), &both), None);
}

#[test]
fn failed_statements_need_no_duration() {
    let mut texts = vec![];
    for _ in 0..10 {
        texts.extend(["LOG:  statement: SELECT 1", "LOG:  duration: 1.000 ms"]);
        texts.extend(["LOG:  statement: SELECT x", "ERROR:  no column"]);
        texts.push("STATEMENT:  SELECT x");
    }
    let found = analysis(&[&log("[7] ", &texts)]);
    assert_eq!(found.assumptions, []);
    assert_eq!(judged("p50>1s", &found), Some(false));
}

/// The lines of two sessions with the same process ID in different containers.
const SAME_PROCESS: [(usize, &str); 4] = [
    (0, "LOG:  statement: SELECT a FROM fast"),
    (1, "LOG:  statement: SELECT b FROM slow"),
    (0, "LOG:  duration: 1.000 ms"),
    (1, "LOG:  duration: 900.000 ms"),
];

#[test]
fn processes_of_different_containers_are_different() {
    let expected = [
        ("SELECT a FROM fast", 3, 3),
        ("SELECT b FROM slow", 3, 2_700),
    ];
    for wrapper in [
        r##"{"message":"#","stream":"stderr","kubernetes":{"pod_name":"pg-@"}}"##,
        r##"{"log":"#\n","stream":"stderr","kubernetes":{"pod_name":"pg-@"}}"##,
        r##"{"log":"#","stream":"stderr","kubernetes":{"container_name":"pg-@"}}"##,
        r##"{"message":"#","kubernetes":{"pod":{"name":"pg-@"}}}"##,
        r##"{"textPayload":"#","resource":{"labels":{"database_id":"p:db@"}}}"##,
        r##"{"textPayload":"#","resource":{"labels":{"pod_name":"pg-@"}}}"##,
        r##"{"textPayload":"#","resource":{"labels":{"instance_id":"@"}}}"##,
        r##"{"message":"#","logging_pod":"pg-@"}"##,
        r##"{"message":"#","container_id":"3f@"}"##,
        r##"{"message":"#","host":"db@"}"##,
        r##"{"message":"#","host":{"name":"db@"}}"##,
        r##"{"message":"#","logStream":"db@"}"##,
        "[pod/pg-@/postgres] #",
        "db-@  | #",
    ] {
        let mut text = String::new();
        for _ in 0..3 {
            for (container, message) in SAME_PROCESS {
                let line = format!("2026-05-01 10:00:00.000 UTC [77] {message}");
                let line = wrapper.replace('#', &line);
                text += &(line.replace('@', &container.to_string()) + "\n");
            }
        }
        queries_of(&text, &expected);
    }
    // jsonlog
    for wrapper in [
        r##"{#,"kubernetes":{"pod_name":"pg-@"}}"##,
        r##"{"logging_pod":"pg-@","record":{#}}"##,
        r##"{"resource":{"labels":{"pod_name":"pg-@"}},"jsonPayload":{#}}"##,
    ] {
        let mut text = String::new();
        for (container, message) in SAME_PROCESS {
            let message = message.trim_start_matches("LOG:  ");
            let fields = format!(
                r#""timestamp":"2026-05-01 10:00:00.000 UTC","pid":77,"error_severity":"LOG","message":"{message}""#
            );
            let line = wrapper.replace('#', &fields);
            text += &(line.replace('@', &container.to_string()) + "\n");
        }
        let expected = [("SELECT a FROM fast", 1, 1), ("SELECT b FROM slow", 1, 900)];
        queries_of(&text, &expected);
    }
}

#[test]
fn lines_of_a_statement_stay_with_their_container() {
    let line = |pod: usize, text: &str| {
        format!("{{\"message\":\"{text}\",\"kubernetes\":{{\"pod_name\":\"pg-{pod}\"}}}}\n")
    };
    let head = |ms: u32, name: &str| {
        format!(
            "2026-05-01 10:00:00.000 UTC [77] LOG:  duration: {ms}.000 ms  statement: SELECT {name}"
        )
    };
    let text = [
        line(0, &head(5, "a")),
        line(1, &head(7, "b")),
        line(0, r"\tFROM ta"),
        line(1, r"\tFROM tb"),
    ];
    queries_of(
        &text.concat(),
        &[("SELECT a FROM ta", 1, 5), ("SELECT b FROM tb", 1, 7)],
    );
}

#[test]
fn csv_records_of_containers_are_read_separately() {
    let begin = |name: &str| {
        format!(
            "2026-05-01 10:00:00.000 UTC,\"u\",\"d\",77,\"h:1\",65a1b2c3.4d,1,\"SELECT\",2026-05-01 10:00:00 UTC,3/1,0,LOG,00000,\"duration: 5.000 ms  statement: SELECT {name}"
        )
    };
    let end = |name: &str| format!("FROM t{name}\",,,,,,,,,\"psql\"");
    let mut text = String::new();
    for n in 0..3 {
        for (line, pod) in [
            (begin("a"), 0),
            (begin("b"), 1),
            (end("a"), 0),
            (end("b"), 1),
        ] {
            text += &format!("[pod/pg-{pod}/postgres] {line}\n")
                .replace("10:00:00.", &format!("10:00:0{n}."));
        }
    }
    queries_of(
        &text,
        &[("SELECT a FROM ta", 3, 15), ("SELECT b FROM tb", 3, 15)],
    );
}

/// Returns a log of two sessions whose lines have `prefix` after the time.
///
/// One session is slower than the other.
fn sessions(prefix: &str) -> String {
    let mut text = String::new();
    let mut lines = [0, 0];
    for n in 0..20 {
        for (i, name) in ["fast", "slow"].iter().enumerate() {
            let mut line = |text: &str| {
                lines[i] += 1;
                let number = lines[i].to_string();
                let process = ["4711", "4712"][i];
                let prefix = prefix.replace("%p", process).replace("%l", &number);
                let query = if text.starts_with("statement") {
                    "-5423190723"
                } else {
                    "0"
                };
                let prefix = prefix.replace("%Q", query);
                format!("2026-05-01 10:00:{n:02}.000 UTC{prefix}LOG:  {text}\n")
            };
            text += &line(&format!("statement: SELECT {name} FROM t"));
        }
        for (i, ms) in ["1.000", "90.000"].iter().enumerate() {
            lines[i] += 1;
            let (number, process) = (lines[i].to_string(), ["4711", "4712"][i]);
            let prefix = prefix.replace("%p", process).replace("%l", &number);
            let prefix = prefix.replace("%Q", "0");
            text += &format!("2026-05-01 10:00:{n:02}.000 UTC{prefix}LOG:  duration: {ms} ms\n");
        }
    }
    text
}

#[test]
fn the_process_is_found_next_to_other_numbers() {
    for prefix in [
        " [%p-%l] ",
        " [%p-%l] me@db ",
        " [%p:%l] ",
        " %p-%l ",
        " (%p) ",
        "\t%p\t",
        " [%Q] [%p] ",
        " {%p} ",
        " [%p] [%l-1] ",
        " [%l-1] pid=%p ",
        " [%p %l] ",
        " %p ",
        " p-%p: [%p] ",
    ] {
        let found = analysis(&[&sessions(prefix)]);
        let expected = [
            ("SELECT fast FROM t", 20, 20),
            ("SELECT slow FROM t", 20, 1_800),
        ];
        assert_eq!(queries(&found), expected, "{prefix}");
        assert_eq!(found.advice, [], "{prefix}");
    }
}

/// The last file may be too short to show which number is the process ID.
#[test]
fn the_process_is_known_in_the_next_file() {
    for prefix in [" [%p-%l] ", " [%p] ", " [%Q] [%p] ", " (%p) "] {
        let text = sessions(prefix);
        let cut = text.trim_end().rfind('\n').expect("lines") + 1;
        let mut tally = Tally::new(Rules::default());
        let mut log = ServerLog::new("log", &Hints::default());
        for (index, file) in [&text[..cut], &text[cut..]].iter().enumerate() {
            if index > 0 {
                log.begin_file("log");
            }
            read::read(file.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
        }
        log.close(&mut tally);
        let found = tally.analysis(Vec::new(), log.lines);
        let expected = [
            ("SELECT fast FROM t", 20, 20),
            ("SELECT slow FROM t", 20, 1_800),
        ];
        assert_eq!(queries(&found), expected, "{prefix}");
    }
}

#[test]
fn advice_on_the_process_fits_the_prefix() {
    let found = analysis(&[&sessions(" [%l-1] me@db ")]);
    assert!(
        found.advice.contains(&LogAdvice::UnknownProcessNumbers),
        "{:?}",
        found.advice
    );
    let found = analysis(&[&sessions(" me@db ")]);
    assert!(
        found.advice.contains(&LogAdvice::NoProcessNumbers),
        "{:?}",
        found.advice
    );
}

#[test]
fn statements_that_are_counted_twice_decide_no_gate() {
    for prefix in [" ", " me@db ", " [%l-1] "] {
        let found = analysis(&[&sessions(prefix)]);
        let double = LogAssumption::StatementsCountedTwice { statements: 40 };
        assert_eq!(found.assumptions, [double], "{prefix}");
        for gate in [
            "requests>50",
            "errors>1%",
            "rate>1",
            "share(SELECT fast FROM t)>1%",
        ] {
            assert_eq!(judged(gate, &found), None, "{prefix}{gate}");
        }
    }
    // One kind of line alone is counted once.
    let durations = log("", &["LOG:  duration: 1.000 ms"; 6]);
    assert_eq!(judged("requests>10", &analysis(&[&durations])), Some(false));
}

#[test]
fn messages_in_other_languages_decide_no_gate() {
    for texts in [
        [
            "LOG:  Dauer: 12,345 ms  Anweisung: SELECT 1",
            "FEHLER:  Relation »x« existiert nicht",
            "ANWEISUNG:  SELECT * FROM x",
        ],
        [
            "LOG:  duración: 12.345 ms  sentencia: SELECT 1",
            "ERROR:  no existe la relación «x» en carácter 15",
            "SENTENCIA:  SELECT * FROM x",
        ],
        [
            "LOG:  期間: 12.345ミリ秒  文: SELECT 1",
            "ERROR:  リレーション\"x\"は存在しません",
            "文:  SELECT * FROM x",
        ],
    ] {
        let found = analysis(&[&log("[1] ", &texts)]);
        for gate in [
            "errors>1%",
            "requests>1",
            "requests<100",
            "rate>1",
            "p50>1s",
        ] {
            assert_eq!(judged(gate, &found), None, "{gate} {texts:?}");
        }
    }
    // A word of another program does not matter among many statements.
    let mut texts = vec!["LOG:  duration: 1.000 ms  statement: SELECT 1"; 50];
    texts.push("WARN:  retrying");
    let found = analysis(&[&log("[1] ", &texts)]);
    assert_eq!(judged("requests>100", &found), Some(false));
}

#[test]
fn streams_and_containers_of_mysql_are_read_separately() {
    let event = |ms: u32, name: &str| {
        [
            "# User@Host: app[app] @ web [10.0.0.5]  Id:    12".to_string(),
            format!(
                "# Query_time: 0.{ms:03}000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1"
            ),
            "SET timestamp=1777626000;".to_string(),
            format!("SELECT {name}"),
            format!("FROM t{name};"),
        ]
    };
    let error = "2026-05-01T09:00:00.1Z 12 [Warning] [MY-010055] [Server] IP address '10.0.0.5'";
    let json = |text: &str, rest: &str| format!("{{\"log\":\"{text}\\n\",{rest}}}\n");
    let cri = |text: &str, stream: &str| format!("2026-05-01T09:00:01.1Z {stream} F {text}\n");
    let (mut docker, mut kubernetes, mut pods) = (String::new(), String::new(), String::new());
    for _ in 0..3 {
        for (a, b) in event(10, "a").iter().zip(event(700, "b")) {
            docker += &json(a, "\"stream\":\"stdout\"");
            docker += &json(error, "\"stream\":\"stderr\"");
            kubernetes += &cri(a, "stdout");
            kubernetes += &cri(error, "stderr");
            for (text, pod) in [(a, "m-0"), (&b, "m-1")] {
                let rest =
                    format!("\"stream\":\"stdout\",\"kubernetes\":{{\"pod_name\":\"{pod}\"}}");
                pods += &json(text, &rest);
            }
        }
    }
    for log in [docker, kubernetes] {
        let found = analysis(&[&log]);
        assert_eq!(queries(&found), [("SELECT a FROM ta", 3, 30)]);
        assert_eq!((found.lines.malformed, found.advice), (0, vec![]));
    }
    queries_of(
        &pods,
        &[("SELECT a FROM ta", 3, 30), ("SELECT b FROM tb", 3, 2_100)],
    );
}

#[test]
fn merged_blanks_lose_no_message() {
    let texts = [
        "LOG: duration: 5.000 ms statement: SELECT a FROM t",
        "ERROR: relation \"x\" does not exist",
        "STATEMENT: SELECT * FROM x",
        "LOG: execute <unnamed>: SELECT z",
        "LOG: duration: 9.000 ms",
    ];
    let found = analysis(&[&log("[1] ", &texts)]);
    let expected = [
        ("SELECT * FROM x", 1, 0),
        ("SELECT a FROM t", 1, 5),
        ("SELECT z", 1, 9),
    ];
    assert_eq!(queries(&found), expected);
    assert_eq!(judged("errors>1%", &found), Some(true));
}

#[test]
fn times_can_be_outside_of_the_lines() {
    const T: i64 = 1_777_629_600;
    for wrapper in [
        r##"{"textPayload":"[202]: [2-1] db=shop,user=app #","timestamp":"2026-05-01T10:00:00.415426Z"}"##,
        r##"{"log":"#\n","stream":"stderr","time":"2026-05-01T10:00:00.4Z"}"##,
        r##"{"__REALTIME_TIMESTAMP":"1777629600000000","_PID":"202","_HOSTNAME":"h","MESSAGE":"#"}"##,
        r##"{"message":"#","@timestamp":"2026-05-01T12:00:00+02:00"}"##,
        r##"{"message":"#","timestamp":1777629600123,"logStreamName":"a"}"##,
        "2026-05-01T10:00:00.123456Z stderr F #",
    ] {
        let line = wrapper.replace('#', "LOG:  duration: 10.000 ms  statement: SELECT 1") + "\n";
        let found = analysis(&[&line.repeat(5)]);
        assert_eq!(queries(&found), [("SELECT ?", 5, 50)], "{wrapper}");
        let hours: Vec<_> = found.hours.iter().map(|hour| hour.start_s).collect();
        assert_eq!(hours, [T], "{wrapper}");
    }
    let syslog =
        "May  1 10:00:00 db1 postgres[202]: [1-1] LOG:  duration: 10.000 ms  statement: SELECT 1\n";
    let found = analysis(&[&syslog.repeat(5)]);
    assert_eq!(found.advice, [LogAdvice::SyslogTimesWithoutYear]);
}

#[test]
fn executions_have_the_statement_that_was_prepared() {
    let execute = "statement: EXECUTE p('secret1');";
    let prepared = |session: u32, table: &str| {
        let head = format!("2026-05-01 10:00:00.000 UTC [{session}] ");
        let detail = format!("DETAIL:  prepare: PREPARE p AS SELECT * FROM {table} WHERE x=$1");
        let together = format!("{head}LOG:  duration: 10.000 ms  {execute}\n{head}{detail}\n");
        let apart =
            format!("{head}LOG:  {execute}\n{head}{detail}\n{head}LOG:  duration: 20.000 ms\n");
        together + &apart
    };
    let expected = [
        ("SELECT * FROM a WHERE x=?", 2, 30),
        ("SELECT * FROM b WHERE x=?", 2, 30),
    ];
    queries_of(&(prepared(1, "a") + &prepared(2, "b")), &expected);
    let record = |session: u32, table: &str| {
        format!(
            "{{\"timestamp\":\"2026-05-01 10:00:00.000 UTC\",\"pid\":{session},\"error_severity\":\"LOG\",\"message\":\"duration: 30.000 ms  {execute}\",\"detail\":\"prepare: PREPARE p AS SELECT * FROM {table} WHERE x=$1\"}}\n"
        )
    };
    queries_of(
        &(record(1, "a") + &record(2, "b")),
        &[
            ("SELECT * FROM a WHERE x=?", 1, 30),
            ("SELECT * FROM b WHERE x=?", 1, 30),
        ],
    );
}

#[test]
fn generated_names_make_no_queries() {
    for (statements, query) in [
        (
            ["SAVEPOINT \"s1400_x1\"", "SAVEPOINT active_record_2"],
            "SAVEPOINT ?",
        ),
        (
            ["RELEASE SAVEPOINT a1", "RELEASE SAVEPOINT \"a2\""],
            "RELEASE SAVEPOINT ?",
        ),
        (["RELEASE a1", "RELEASE a2"], "RELEASE ?"),
        (
            ["ROLLBACK TO SAVEPOINT a1", "ROLLBACK TO SAVEPOINT a2;"],
            "ROLLBACK TO SAVEPOINT ?",
        ),
        (["ROLLBACK TO a1", "ROLLBACK TO a2"], "ROLLBACK TO ?"),
        (
            [
                "DECLARE \"_c_1\" NO SCROLL CURSOR FOR SELECT * FROM orders WHERE x = 0",
                "DECLARE \"_c_2\" NO SCROLL CURSOR FOR SELECT * FROM orders WHERE x = 7",
            ],
            "DECLARE ? NO SCROLL CURSOR FOR SELECT * FROM orders WHERE x = ?",
        ),
        (
            ["FETCH FORWARD 20 FROM \"c_1\"", "FETCH FORWARD 90 FROM c_2"],
            "FETCH FORWARD ? FROM ?",
        ),
        (["MOVE ALL IN c1", "MOVE ALL IN c2"], "MOVE ALL IN ?"),
        (["CLOSE c1", "CLOSE \"c2\""], "CLOSE ?"),
        (
            ["DEALLOCATE pdo_stmt_0001", "DEALLOCATE pdo_stmt_0002"],
            "DEALLOCATE ?",
        ),
        (
            ["DEALLOCATE PREPARE a", "DEALLOCATE PREPARE b"],
            "DEALLOCATE PREPARE ?",
        ),
        (["EXECUTE a1(1)", "EXECUTE a2(7)"], "EXECUTE ?(?)"),
        (
            ["PREPARE a1 AS SELECT 1", "PREPARE a2 AS SELECT 2"],
            "PREPARE ? AS SELECT ?",
        ),
        (
            [
                "CREATE TEMPORARY TABLE tmp_9000 (a int)",
                "CREATE TEMPORARY TABLE tmp_9001 (a int)",
            ],
            "CREATE TEMPORARY TABLE tmp_… (a int)",
        ),
        (
            [
                "CREATE TEMP TABLE IF NOT EXISTS x7 AS SELECT 1",
                "CREATE TEMP TABLE IF NOT EXISTS x8 AS SELECT 1",
            ],
            "CREATE TEMP TABLE IF NOT EXISTS x… AS SELECT ?",
        ),
        (
            ["DROP TABLE tmp_9000", "DROP TABLE tmp_9001"],
            "DROP TABLE tmp_…",
        ),
        (
            [
                "INSERT INTO tmp_9000 VALUES (1)",
                "INSERT INTO tmp_9001 VALUES (1)",
            ],
            "INSERT INTO tmp_… VALUES (…)",
        ),
    ] {
        queries_of(&timed(&statements), &[(query, 2, 20)]);
    }
    // These are not generated.
    let different = [
        "CLOSE ALL",
        "DEALLOCATE ALL",
        "ROLLBACK",
        "SELECT savepoint FROM t1",
        "SELECT a FROM temperature_2024",
    ];
    assert_eq!(
        queries(&analysis(&[&timed(&different)])).len(),
        different.len()
    );
}

#[test]
fn spellings_of_a_query_are_counted_together() {
    for spellings in [
        ["SELECT * FROM t WHERE id=1", "select * from t where id = 2"],
        [
            "INSERT INTO t(a,b) VALUES (1,2)",
            "INSERT INTO t (a, b) VALUES (3, 4)",
        ],
        ["BEGIN", "begin"],
        ["SELECT COUNT(*) FROM t", "SELECT count( * ) FROM t"],
        ["SELECT DISTINCT -1", "SELECT DISTINCT 1"],
        ["SET x TO -1", "SET x TO 1"],
        ["FETCH -5 FROM c", "FETCH 5 FROM c"],
        ["SELECT a,b FROM t", "SELECT a , b FROM t"],
    ] {
        let found = analysis(&[&timed(&spellings)]);
        let counts: Vec<u64> = queries(&found).iter().map(|query| query.1).collect();
        assert_eq!(counts, [2], "{spellings:?} {:?}", queries(&found));
        // A gate finds the query by any of its spellings.
        let name = queries(&found)[0].0.to_string();
        let other = name.replace(" FROM ", " from ").replace('=', " = ");
        assert_eq!(judged(&format!("requests({other})>1"), &found), Some(true));
    }
    let columns: String = (0..60).map(|n| format!("column_{n}, ")).collect();
    let long = format!("SELECT {columns}a FROM t WHERE id = 1");
    let other = long.replace(", ", ",").to_lowercase();
    assert_eq!(queries(&analysis(&[&timed(&[&long, &other])])).len(), 1);
    for different in [
        [
            "SELECT a FROM t WHERE b < 1",
            "SELECT a FROM t WHERE b <= 1",
        ],
        ["SELECT a FROM \"T\"", "SELECT a FROM \"t\""],
        ["SELECT a FROM Orders", "SELECT a FROM orders"],
    ] {
        let found = analysis(&[&timed(&different)]);
        assert_eq!(queries(&found).len(), 2, "{different:?}");
    }
}

#[test]
fn queries_that_are_not_listed_are_other_queries() {
    let statements: Vec<String> = (0..2_100).map(|n| format!("SELECT c{n} FROM t")).collect();
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let found = analysis(&[&timed(&statements)]);
    let others = queries(&found)
        .into_iter()
        .find(|query| query.0 == "(other queries)");
    assert_eq!(others.map(|query| query.1), Some(100));
}

#[test]
fn killed_statements_failed() {
    let killed = slow("SELECT 1").replace(
        "# Query_time",
        "# Schema: a  Last_errno: 0  Killed: 1317\n# Query_time",
    );
    let found = analysis(&[&(killed + &slow("SELECT 1"))]);
    assert_eq!(found.pages[0].errors, 1);
}

#[test]
fn a_statement_is_joined_by_the_id_of_a_request() {
    let (mut access, mut ids) = (String::new(), Vec::new());
    for n in 0..5 {
        let id = format!("5a1c0000-0000-4000-8000-00000000000{n}");
        access += &format!(
            "{{\"time\":\"2026-05-01T10:00:0{n}Z\",\"method\":\"GET\",\"path\":\"/orders\",\"status\":200,\"duration_ms\":500,\"request_id\":\"{id}\"}}\n"
        );
        ids.push(id);
    }
    let trace = "00-0000000000000000000000000000004d-b7ad6b7169203331-01";
    let other = "5a1c0000-0000-4000-8000-00000000000f";
    let within = |comment: &str| {
        let mut database = String::new();
        for (n, id) in ids.iter().enumerate() {
            for item in 0..12 {
                let comment = comment.replace('#', id);
                database += &format!(
                    "2026-05-01 10:00:0{n}.100 UTC [7] LOG:  duration: 2.000 ms  statement: SELECT * FROM item WHERE id = {item} {comment}\n"
                );
            }
        }
        let found = analysis(&[&access, &database]);
        let executions: u64 = found.within.iter().map(|within| within.executions).sum();
        (executions, found.coverage.unmatched)
    };
    for comment in [
        "/*action='index',request_id='#',traceparent='T'*/",
        "/*traceparent='T',request_id='#'*/",
        "/*action='request_ids',request_id='#'*/",
        "/*parent_request_id='F',request_id='#'*/",
        "/*request_id:#*/",
    ] {
        let comment = comment.replace('T', trace).replace('F', other);
        assert_eq!(within(&comment), (60, 0), "{comment}");
    }
    assert_eq!(within(&format!("/*traceparent='{trace}'*/")), (0, 60));
    assert_eq!(within("AND note = '/*request_id:#*/'"), (0, 0));
}

#[test]
fn reasons_name_a_remedy() {
    let found = analysis(&[&sessions(" me@db ")]);
    let all = found.assumptions.iter().map(wording::assumption);
    let all: Vec<String> = all
        .chain(found.advice.iter().map(wording::advice))
        .collect();
    assert!(
        all.concat().contains("twice") && all.concat().contains("%p"),
        "{all:?}"
    );
}

// SPDX-License-Identifier: Apache-2.0
//! Reads logs whose format is given in the server's configuration syntax. The expected values are
//! worked out by hand from the lines.

use lab_logs::{Hints, Rules, ServerLog, Tally, read};
use lab_model::{LogAdvice, LogAnalysis, LogAssumption};

const MS: u64 = 1_000_000;

/// The results of a log, as far as they depend on its format.
struct Configured {
    analysis: LogAnalysis,
    malformed: u64,
    step_ns: Option<u64>,
    assumptions: Vec<LogAssumption>,
    advice: Vec<LogAdvice>,
}

impl Configured {
    /// Reads lines in the format `format`.
    ///
    /// In each line, `TIME` is replaced by a time.
    fn read(format: &str, lines: impl IntoIterator<Item = String>) -> Configured {
        let hints = Hints {
            format: Some(format.into()),
            ..Hints::default()
        };
        let mut tally = Tally::new(Rules::default());
        let mut log = ServerLog::new("log", &hints);
        let lines = lines.into_iter().enumerate().map(|(i, line)| {
            let time = format!("[01/May/2026:10:00:{:02} +0000]", i % 60);
            line.replace("TIME", &time) + "\n"
        });
        let text: String = lines.collect();
        read::read(text.as_bytes(), &mut log, &mut tally, &mut |_| true).expect("a log");
        log.close(&mut tally);
        let facts = log.logs_read();
        Configured {
            malformed: log.lines.malformed,
            analysis: tally.analysis(Vec::new(), log.lines),
            step_ns: facts.step_ns,
            assumptions: facts.assumptions,
            advice: facts.advice,
        }
    }

    /// Returns the name, the number of requests and the total duration in ms of each page, by name.
    fn pages(&self) -> Vec<(&str, u64, u64)> {
        let pages = self.analysis.pages.iter();
        let mut pages: Vec<(&str, u64, u64)> = pages
            .map(|page| (page.name.as_str(), page.requests, page.total_ns / MS))
            .collect();
        pages.sort_unstable();
        pages
    }
}

/// Returns 40 lines in which `DURATION` is replaced by 100 to 139. These durations add up to 4780.
fn forty_lines(line: &str) -> impl Iterator<Item = String> {
    (100..140).map(move |duration: u64| line.replace("DURATION", &duration.to_string()))
}

#[test]
fn the_final_request_wins_over_the_original_one() {
    // mod_log_config: `<` is the original request, `>` the final one.
    for (format, statuses) in [
        ("%<s %>s", "200 500"),
        ("%>s %<s", "500 200"),
        ("%s %>s", "200 500"),
    ] {
        let format = format!("%h %t \"%r\" {format} %D");
        let line = |i: usize| {
            let statuses = if i.is_multiple_of(4) {
                statuses
            } else {
                "200 200"
            };
            format!("::1 TIME \"GET /a HTTP/1.1\" {statuses} 9000")
        };
        let log = Configured::read(&format, (0..40).map(line));
        assert_eq!(log.pages(), [("/a", 40, 360)]);
        assert_eq!(log.analysis.pages[0].errors, 10, "{format}");
    }
    let lines = (0..10).map(|_| "TIME GET /old /new 200 9000".to_string());
    let log = Configured::read("%t %m %<U %>U %>s %D", lines);
    assert_eq!(log.pages(), [("/new", 10, 90)]);
}

#[test]
fn decoded_blanks_belong_to_the_path() {
    let lines = |line: &str| {
        let line = line.to_string();
        let pages = [("one", "1000"), ("two", "500000"), ("three", "2000")];
        (0..60).map(move |i| {
            let (name, us) = pages[i % 3];
            line.replace("PATH", &format!("/doc {name}.pdf"))
                .replace("US", us)
        })
    };
    for (format, line) in [
        (
            r#"%h %t "%m %U%q %H" %>s %b %D"#,
            r#"::1 TIME "GET PATH HTTP/1.1" 200 5 US"#,
        ),
        (r#"%h %t "%U%q" %>s %b %D"#, r#"::1 TIME "PATH" 200 5 US"#),
        ("%h %t %m %U %>s %b %D", "::1 TIME GET PATH 200 5 US"),
        ("%h %t %>s %b %D %m %U", "::1 TIME 200 5 US GET PATH"),
    ] {
        let log = Configured::read(format, lines(line));
        let expected = [
            ("/doc one.pdf", 20, 20),
            ("/doc three.pdf", 20, 40),
            ("/doc two.pdf", 20, 10_000),
        ];
        assert_eq!(
            (log.pages(), log.malformed),
            (expected.into(), 0),
            "{format}"
        );
    }
    let lines = ["/a", "/my file.txt"].map(|path| format!("::1 TIME GET {path} 200 0.100"));
    let log = Configured::read(
        "$remote_addr [$time_local] $request_method $uri $status $request_time",
        lines,
    );
    assert_eq!(log.pages(), [("/a", 1, 100), ("/my file.txt", 1, 100)]);
}

#[test]
fn clients_cannot_choose_the_duration() {
    const NGINX: &str =
        r#"$remote_addr [$time_local] "$request" $status "$http_user_agent" $request_time"#;
    // nginx with escape=none writes the client's quotation marks as they are.
    for agent in [
        r#"Mozilla "q" 200 0.001 x"#,
        r#"Mozilla" 0.001 x"#,
        r#"Mozilla" 0.001 "x"#,
    ] {
        let line = |agent| format!(r#"::1 TIME "GET /a HTTP/1.1" 500 "{agent}" 0.DURATION"#);
        let ordinary = line("curl").replace("DURATION", "020");
        let log = Configured::read(NGINX, forty_lines(&line(agent)).chain([ordinary]));
        assert_eq!(
            (log.pages(), log.malformed),
            (vec![("/a", 41, 4_800)], 0),
            "{agent}"
        );
    }
    let apache = r#"%t "%r" %>s %b %{app}n %D %P"#;
    let line = r#"TIME "GET /a HTTP/1.1" 200 5 app 1 of 2 DURATION000 77"#;
    assert_eq!(
        Configured::read(apache, forty_lines(line)).pages(),
        [("/a", 40, 4_780)]
    );
}

#[test]
fn lines_may_have_more_fields_than_the_format() {
    let format = r#"%h %t "%r" %>s "%{User-Agent}i" %D"#;
    for more in ["55", "\"x\" 55", "\"a b\" \"x\"", "-"] {
        let line = format!(r#"::1 TIME "GET /a HTTP/1.1" 200 "Mozilla (X) y" DURATION000 {more}"#);
        let log = Configured::read(format, forty_lines(&line));
        assert_eq!(
            (log.pages(), log.malformed),
            (vec![("/a", 40, 4_780)], 0),
            "{more}"
        );
    }
}

#[test]
fn values_may_contain_blanks_and_end_at_their_own_terminator() {
    let agents = ["Mozilla/5.0 (X11; Linux) x", "curl/8.0"];
    let lines = agents.map(|agent| format!("::1 TIME \"GET /a HTTP/1.1\" 200 {agent} 0.100"));
    let nginx = r#"$remote_addr [$time_local] "$request" $status $http_user_agent $request_time"#;
    assert_eq!(Configured::read(nginx, lines).pages(), [("/a", 2, 200)]);
    let queries = ["", "?x=1", "?x|y"];
    let lines =
        queries.map(|query| format!("TIME|::1|GET|8080|/a|{query}|200|0.100|Mozilla (X) y|-"));
    let tomcat = "%t|%a|%m|%p|%U|%q|%s|%T|%{User-Agent}i|%{Referer}i";
    let log = Configured::read(tomcat, lines);
    assert_eq!((log.pages(), log.malformed), (vec![("/a", 3, 300)], 0));
}

#[test]
fn strings_of_nginx_contain_escapes() {
    for format in [
        r#"log_format ltsv "time:$time_local\thost:$remote_addr\treq:$request\tstatus:$status\treqtime:$request_time\tua:$http_user_agent";"#,
        r"log_format ltsv 'time:$time_local\thost:$remote_addr\treq:$request\tstatus:$status\t' 'reqtime:$request_time\tua:$http_user_agent';",
    ] {
        let line =
            "time:TIME\thost:::1\treq:GET /a HTTP/1.1\tstatus:200\treqtime:0.DURATION\tua:M (X) x";
        let log = Configured::read(format, forty_lines(line));
        assert_eq!(
            (log.pages(), log.malformed),
            (vec![("/a", 40, 4_780)], 0),
            "{format}"
        );
    }
}

#[test]
fn the_format_states_the_unit() {
    const LINE: &str = "TIME ::1 GET /a HTTP/1.1 200 ";
    for (format, value) in [
        ("(%D ms)", "(DURATION ms)"),
        ("%Dms", "DURATIONms"),
        ("(%D microseconds)", "(DURATION000 microseconds)"),
        ("%D\u{b5}s", "DURATION000\u{b5}s"),
        ("ms:%D", "ms:DURATION"),
        ("durationMs=%D us=%{x}i", "durationMs=DURATION us=7"),
        ("time_us=[%D]", "time_us=[DURATION000]"),
    ] {
        let log = Configured::read(
            &format!("%t %a %r %s {format}"),
            forty_lines(&format!("{LINE}{value}")),
        );
        assert_eq!(log.pages(), [("/a", 40, 4_780)], "{format}");
        assert_eq!(log.assumptions, [], "{format}");
    }
    // The unit belongs to another field, or there is none: %s is a sign of Tomcat.
    for (format, value) in [
        ("%D us=%{x}i", "DURATION us=7"),
        ("alarms %D", "alarms DURATION"),
        ("bytes:%b %D", "bytes:5 DURATION"),
    ] {
        let log = Configured::read(
            &format!("%t %a %r %s {format}"),
            forty_lines(&format!("{LINE}{value}")),
        );
        assert_eq!(log.pages(), [("/a", 40, 4)], "{format}");
        assert_eq!(log.assumptions.len(), 1, "{format}");
    }
    // 100,000 s on average.
    let log = Configured::read(
        "%t %a %r %>s %D ms",
        forty_lines(&format!("{LINE}DURATION000000 ms")),
    );
    let doubted = LogAssumption::DoubtfulUnit {
        place: "%D".into(),
        unit_ns: MS,
    };
    assert_eq!(log.assumptions, [doubted]);
}

#[test]
fn a_duration_with_a_known_unit_proves_the_unit_of_another() {
    // Tomcat 9, Access Log Valve: %D in ms, %T in s with a resolution of ms.
    for status in ["%s", "%>s"] {
        for format in ["%T %D", "%D %T"] {
            let values = if format == "%T %D" {
                "0.DURATION DURATION"
            } else {
                "DURATION 0.DURATION"
            };
            let line = format!("TIME \"GET /a HTTP/1.1\" 200 {values}");
            let log = Configured::read(&format!("%t \"%r\" {status} {format}"), forty_lines(&line));
            assert_eq!(log.pages(), [("/a", 40, 4_780)], "{format}");
            assert_eq!((log.assumptions, log.step_ns), (vec![], Some(MS)));
        }
    }
    // 1 ms as 1 µs would be no contradiction at this resolution.
    let lines = (0..20).map(|_| "TIME \"GET /a HTTP/1.1\" 200 0.001 1".to_string());
    let log = Configured::read("%t \"%r\" %>s %T %D", lines);
    assert_eq!(log.pages(), [("/a", 20, 20)]);
    // Apache: %{ms}T is %D divided by 1000, rounded down.
    let line = "TIME \"GET /a HTTP/1.1\" 200 DURATION DURATION500";
    let log = Configured::read("%t \"%r\" %>s %{ms}T %D", forty_lines(line));
    assert_eq!(log.pages(), [("/a", 40, 4_800)]);
    assert_eq!((log.assumptions, log.step_ns), (vec![], Some(1_000)));
    // Neither 3 ms nor 3 s are 100 µs.
    let line = "TIME \"GET /a HTTP/1.1\" 200 3 DURATION";
    let log = Configured::read("%t \"%r\" %>s %T %D", forty_lines(line));
    assert!(matches!(
        log.assumptions[..],
        [LogAssumption::DoubtfulUnit { .. }]
    ));
}

#[test]
fn digits_after_the_point_set_the_resolution() {
    let log = |value: &str| {
        let line = format!("TIME \"GET /a HTTP/1.1\" 200 {value}");
        Configured::read("%t \"%r\" %>s %T", forty_lines(&line))
    };
    let tomcat = log("0.DURATION");
    assert_eq!(
        (tomcat.pages(), tomcat.step_ns),
        (vec![("/a", 40, 4_780)], Some(MS))
    );
    assert_eq!(log("1").step_ns, Some(1_000 * MS));
}

#[test]
fn attributes_of_undertow_are_no_fields_of_apache() {
    let line = "::1 TIME \"GET /a HTTP/1.1\" 200 DURATIONms";
    let log = Configured::read("%h %t \"%r\" %s %{RESPONSE_TIME}ms", forty_lines(line));
    assert_eq!(
        (log.pages(), &log.assumptions[..]),
        (vec![("/a", 40, 4_780)], &[][..])
    );
    let line = "TIME GET /a 200 DURATION000";
    let format = "%{DATE_TIME} %{METHOD} %{REQUEST_URL} %{RESPONSE_CODE} %{RESPONSE_TIME_MICROS}";
    assert_eq!(
        Configured::read(format, forty_lines(line)).pages(),
        [("/a", 40, 4_780)]
    );
}

#[test]
fn a_time_without_a_year_is_reported() {
    for (format, advice) in [
        ("%{%b %d %T}t", LogAdvice::NoYearInFormat),
        ("%{%b %d}t %{%T}t", LogAdvice::NoYearInFormat),
        ("%{MMM dd HH:mm:ss}t", LogAdvice::NoYearInFormat),
    ] {
        let line = "::1 May 01 10:00:00 \"GET /a HTTP/1.1\" 200 DURATION000";
        let log = Configured::read(&format!("%h {format} \"%r\" %>s %D"), forty_lines(line));
        assert_eq!((log.pages(), log.malformed), (vec![("/a", 40, 4_780)], 0));
        assert_eq!((log.advice, log.analysis.peak_minute), (vec![advice], None));
    }
    let line = "::1 2026-05-01 \"GET /a HTTP/1.1\" 200 DURATION000";
    let log = Configured::read("%h %{%F}t \"%r\" %>s %D", forty_lines(line));
    assert_eq!(
        (log.pages(), &log.advice[..]),
        (vec![("/a", 40, 4_780)], &[LogAdvice::NoDateInFormat][..])
    );
}

#[test]
fn a_format_that_fits_no_line_names_the_field() {
    let line = "::1 - - [01/May/2026:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 12 DURATION000";
    for (format, field, column) in [
        (
            "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" %D",
            Some("%b"),
            60,
        ),
        ("%h %l %u %t \"%r\" %>s %b %D ms", Some("%D"), 63),
        ("%h %l %u %t \"%r\" %>s 1", None, 61),
        ("%t %h %l %u \"%r\" %>s %D", Some("%t"), 1),
        ("[%t] %h %l %u \"%r\" %>s %D", Some("%t"), 1),
        ("%h %l %u %{%s}t \"%r\" %>s %b %D", Some("%{%s}t"), 9),
        (
            "$remote_addr - - [$time_iso8601] \"$request\" $status $body_bytes_sent",
            Some("$time_iso8601"),
            10,
        ),
    ] {
        let log = Configured::read(format, forty_lines(line));
        let field = field.map(String::from);
        assert_eq!(log.pages(), []);
        assert_eq!(
            log.advice.first(),
            Some(&LogAdvice::FormatMismatch { field, column }),
            "{format}"
        );
    }
    // A line that fits keeps the advice away.
    let lines = ["nonsense".to_string()]
        .into_iter()
        .chain(forty_lines(line));
    let log = Configured::read("%h %l %u %t \"%r\" %>s %b %D", lines);
    assert_eq!(
        (log.pages(), &log.advice[..]),
        (vec![("/a", 40, 4_780)], &[][..])
    );
}

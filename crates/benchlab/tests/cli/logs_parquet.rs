// SPDX-License-Identifier: Apache-2.0
//! `benchlab logs --parquet`: the documented queries return the report's own table.

use crate::project::{Project, drivers};
use lab_model::{LogAnalysis, PageKind};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the SQL block in `docs/` that starts with the given comment.
fn documented_sql(page: &str, comment: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page);
    let text = fs::read_to_string(path).unwrap();
    let begin = text.find(&format!("-- {comment}\n")).expect("the block");
    let end = text[begin..].find("```").expect("the end of the SQL block");
    text[begin..begin + end].to_owned()
}

/// Returns true if the Python with the database drivers also has DuckDB, which CI requires.
fn has_duckdb() -> bool {
    let output = Command::new(drivers())
        .args(["-c", "import duckdb"])
        .output();
    let has = output.is_ok_and(|o| o.status.success());
    if !has {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI must test with DuckDB: `make setup` installs it"
        );
        eprintln!("DuckDB is not tried out: `make setup` installs it");
    }
    has
}

/// Returns the rows of a DuckDB query, one per line, with columns separated by tabs.
fn duckdb(folder: &Path, sql: &str) -> Vec<String> {
    let program = "import duckdb, sys\n\
                   for row in duckdb.connect().execute(sys.argv[1]).fetchall(): print(*row, sep='\\t')";
    let output = Command::new(drivers())
        .args(["-c", program, sql])
        .current_dir(folder)
        .output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Generates a log that contains routes with variables, missing pages, bots, health checks, and
/// requests without a duration.
///
/// The variables can only be recognized in the whole log.
fn log(from: u64, to: u64) -> String {
    let mut text = String::new();
    for i in from..to {
        let (path, status, agent) = match i % 11 {
            0 => (format!("/search?q={i}"), 200, "Mozilla/5.0"),
            1 => (
                format!("/shop/name{}", i % 997 * 7919 % 10_007),
                200,
                "Mozilla/5.0",
            ),
            2 => (format!("/gone{i}"), 404, "Mozilla/5.0"),
            3 => ("/healthz".into(), 200, "kube-probe/1.28"),
            4 => (
                format!("/item/{i}"),
                200,
                "Googlebot/2.1 (+http://www.google.com/bot.html)",
            ),
            5 => ("/order".into(), 500, "Mozilla/5.0"),
            _ => (format!("/item/{i}"), 200, "Mozilla/5.0"),
        };
        let method = if i % 11 == 5 { "POST" } else { "GET" };
        let (hour, minute, second) = (i / 3600 % 24, i / 60 % 60, i % 60);
        let duration = match i % 97 {
            0 => "-".to_owned(),
            _ => format!("0.{:03}", 1 + i * 31 % 900),
        };
        let _ = writeln!(
            text,
            "10.0.0.1 - - [01/May/2026:{hour:02}:{minute:02}:{second:02} +0200] \"{method} {path} HTTP/1.1\" {status} {} \"-\" \"{agent}\" {duration}",
            i % 5000
        );
    }
    text
}

fn pareto(analysis: &LogAnalysis) -> Vec<String> {
    let pages = analysis.pages.iter().filter(|p| p.kind == PageKind::Page);
    let mut pages: Vec<_> = pages.collect();
    pages.sort_by(|a, b| {
        b.total_ns
            .cmp(&a.total_ns)
            .then_with(|| a.name.cmp(&b.name))
    });
    let all: u64 = pages.iter().map(|p| p.total_ns).sum();
    let mut sum = 0;
    let line = |page: &&lab_model::LogPage| {
        sum += page.total_ns;
        let part = |ns: u64| (1e4 * ns as f64 / all as f64).round() / 1e4;
        format!(
            "{}\t{}\t{}\t{:?}\t{:?}",
            page.name,
            page.requests,
            page.total_ns,
            part(page.total_ns),
            part(sum)
        )
    };
    pages.iter().map(line).collect()
}

#[test]
fn duckdb_computes_the_reports_table_from_the_records() {
    let project = Project::noop(&[]);
    let (first, second) = (project.join("a.log"), project.join("b.log"));
    // There are more rows than fit into a row group.
    fs::write(&first, log(0, 150_000)).unwrap();
    fs::write(&second, log(150_000, 200_000)).unwrap();
    let (first, second) = (first.display().to_string(), second.display().to_string());
    let read = |more: &[&str]| project.call(&[&["logs", &first, &second], more].concat());
    let folder = project.join("requests").display().to_string();
    read(&["--parquet", &folder])
        .expect(0)
        .says(&["the records are in "]);
    let analysis = project
        .load()
        .logs()
        .expect("the run contains a log analysis")
        .clone();
    read(&["--parquet", &folder])
        .expect(2)
        .says(&["specify another directory"]);
    if !has_duckdb() {
        return;
    }
    let duckdb = |sql: &str| duckdb(project.path(), sql);
    let rows = duckdb(
        &["DuckDB", "Which few pages take the most time"]
            .map(|c| documented_sql("guides/logs.md", c))
            .concat(),
    );
    assert_eq!(rows, pareto(&analysis));
    assert!(
        rows.iter().any(|row| row.starts_with("/item/{id}\t")),
        "{rows:?}"
    );
    assert!(
        rows.iter().any(|row| row.starts_with("(no such page)\t")),
        "{rows:?}"
    );
    let kinds = "SELECT kind, count(*), count(duration_ns), min(log) FROM 'requests/records/*.parquet' GROUP BY kind ORDER BY kind";
    let of = |kind: PageKind| {
        let pages = analysis.pages.iter().filter(move |p| p.kind == kind);
        pages.fold((0, 0), |(all, timed), p| {
            (all + p.requests, timed + p.timed)
        })
    };
    let expected = [
        ("bot", PageKind::Bot),
        ("health", PageKind::Health),
        ("page", PageKind::Page),
    ];
    let expected = expected.map(|(word, kind)| {
        let (all, timed) = of(kind);
        format!("{word}\t{all}\t{timed}\t{first}")
    });
    assert_eq!(duckdb(kinds), expected);
    let times = "SELECT epoch(min(time))::BIGINT, epoch(max(time))::BIGINT, max(bytes), count(status) FROM 'requests/records/*.parquet'";
    // 1 May 2026, two hours before the local time in the log.
    assert_eq!(duckdb(times), ["1777586400\t1777672799\t4999\t200000"]);
}

/// Each machine stores the records of its own log.
#[test]
fn records_of_multiple_machines_are_one_table() {
    let project = Project::noop(&[]);
    let folder = project.join("requests").display().to_string();
    for (more, message) in [
        (
            &["--on", "local:1"][..],
            "`ssh web1 benchlab logs --parquet",
        ),
        (&["--follow"], "cannot be used with --follow"),
    ] {
        let words = [&["logs", "--parquet", &folder, "a.log"], more].concat();
        project.call(&words).expect(2).says(&[message]);
    }
    for (host, from) in [("web1", 0), ("web2", 30_000)] {
        let log = project.join(format!("{host}.log"));
        fs::write(&log, self::log(from, from + 20_000)).unwrap();
        let folder = project.join(format!("host={host}")).display().to_string();
        let words = [
            "logs",
            "--no-keep",
            "--parquet",
            &folder,
            log.to_str().unwrap(),
        ];
        project.call(&words).expect(0);
    }
    let logs = ["web1.log", "web2.log"].map(|name| project.join(name).display().to_string());
    project.call(&["logs", &logs[0], &logs[1]]).expect(0);
    let analysis = project
        .load()
        .logs()
        .expect("the run contains a log analysis")
        .clone();
    if !has_duckdb() {
        return;
    }
    let rows = duckdb(
        project.path(),
        &documented_sql("guides/many.md", "DuckDB, over multiple machines"),
    );
    let all = pareto(&analysis);
    let all = all
        .iter()
        .map(|row| row.split('\t').take(3).collect::<Vec<_>>().join("\t"));
    assert_eq!(rows, all.collect::<Vec<_>>());
}

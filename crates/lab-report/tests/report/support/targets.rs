// SPDX-License-Identifier: Apache-2.0
//! A realistic run of the SQL experiment on three databases.
//!
//! The run has nine combinations of language and driver, some of which do not support every
//! database. It also has servers, many connections, latencies and a failure. It is analyzed like
//! any other run.

use super::{Noise, host, in_turn, target};
use lab_model::*;
use lab_stats::usl;

/// The name, language, time as a multiple of the C subject's time, resident memory in MiB, startup time in ms, and
/// number of threads.
type Model = (&'static str, &'static str, f64, f64, f64, u32);

const C: Model = ("c", "C", 1.0, 4.1, 1.5, 1);
const ADA: Model = ("ada", "Ada", 1.03, 6.2, 2.2, 2);
const JAVA: Model = ("java", "Java", 1.32, 82.0, 240.0, 22);
const PYTHON: Model = ("python", "Python", 3.1, 21.0, 52.0, 1);
const APSW: Model = ("apsw", "Python", 2.3, 22.5, 61.0, 1);
const PYMYSQL: Model = ("pymysql", "Python", 9.4, 24.0, 71.0, 1);
const GO: Model = ("go", "Go", 1.21, 14.0, 3.1, 7);
const RUST: Model = ("rust", "Rust", 1.02, 5.6, 1.8, 3);
const NODE: Model = ("node", "JavaScript", 1.74, 63.0, 48.0, 11);

/// The numbers of connections per process.
pub const CONNECTIONS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// The targets of the SQL experiment.
pub const DATABASES: [TargetKind; 3] = [
    TargetKind::Sqlite,
    TargetKind::Postgresql,
    TargetKind::Mariadb,
];

fn models(kind: TargetKind) -> Vec<Model> {
    match kind {
        TargetKind::Sqlite => vec![C, ADA, JAVA, PYTHON, APSW, GO, RUST, NODE],
        TargetKind::Postgresql => vec![C, ADA, JAVA, PYTHON, GO, RUST, NODE],
        TargetKind::Mariadb => vec![C, ADA, JAVA, PYTHON, PYMYSQL, GO, RUST, NODE],
        TargetKind::Folder => Vec::new(), // The SQL experiment has none.
    }
}

fn driver(name: &str, kind: TargetKind) -> (&'static str, &'static str) {
    let all = match name {
        "c" => [
            ("sqlite3 C API", "SQLite 3.40.1"),
            ("libpq", "libpq 15.8"),
            ("libmariadb", "libmariadb 3.3.8"),
        ],
        "ada" => [
            ("appserver SQL", "SQLite 3.40.1"),
            ("appserver SQL over libpq", "libpq 15.8"),
            ("appserver SQL over libmariadb", "libmariadb 3.3.8"),
        ],
        "java" => [
            ("JDBC", "sqlite-jdbc 3.50.3.0"),
            ("JDBC", "pgjdbc 42.7.4"),
            ("JDBC", "MariaDB Connector/J 3.4.1"),
        ],
        "python" => [
            ("sqlite3", "sqlite3, SQLite 3.40.1"),
            ("psycopg", "psycopg 3.2.3 (c), libpq 15.8"),
            ("mysqlclient", "mysqlclient 2.2.4"),
        ],
        "apsw" => [("apsw", "apsw 3.46.1.0"); 3],
        "pymysql" => [("PyMySQL", "PyMySQL 1.1.1"); 3],
        "go" => [
            ("database/sql, mattn/go-sqlite3", "go-sqlite3 1.14.24"),
            ("database/sql, pgx", "pgx 5.7.1"),
            ("database/sql, go-sql-driver", "go-sql-driver/mysql 1.8.1"),
        ],
        "rust" => [
            ("rusqlite", "rusqlite 0.32.1"),
            ("tokio-postgres", "tokio-postgres 0.7.12"),
            ("mysql_async", "mysql_async 0.34.2"),
        ],
        _ => [
            ("better-sqlite3", "better-sqlite3 11.5.0"),
            ("pg", "pg 8.13.1"),
            ("mysql2", "mysql2 3.11.4"),
        ],
    };
    all[kind as usize]
}

fn runtime(language: &str) -> &'static str {
    match language {
        "C" => "gcc 12.2.0",
        "Ada" => "GNAT 12.2.0",
        "Java" => "OpenJDK 17.0.16+8-Debian-1deb12u1",
        "Python" => "CPython 3.11.2",
        "Go" => "go1.19.8",
        "Rust" => "rustc 1.85.0",
        _ => "node v18.19.0",
    }
}

/// Creates a run on `targets` with the given number of complete blocks.
pub fn run(targets: &[TargetKind], blocks: u32) -> Run {
    let plan = plan(targets);
    let blocks = (0..blocks).map(|number| block(&plan, number)).collect();
    let failed = plan
        .subjects
        .ids()
        .rfind(|&s| plan.subjects[s].name == "node");
    let insert = plan
        .points
        .ids()
        .rfind(|&p| plan.case(p).name == "insert_tx");
    Run {
        name: "20261121-091500-sql.lab".into(),
        benchlab_version: "0.2.0".into(),
        started_unix_s: 1_795_252_500.0,
        host: host(),
        blocks,
        interim_analyses: vec![10],
        ending: Some(Ending::Budget),
        settings: settings(&plan),
        failures: vec![Failure {
            subject: failed.expect("node"),
            point: insert,
            block: Some(4),
            kind: "timeout".into(),
            message: "no reply to \"run operations=12\" within 10 s; the process was ended".into(),
            log: vec!["Error: Packets out of order. Got: 1 Expected: 2".into()],
        }],
        lab_cost: Some((4_310_000_000, 38 << 20)),
        services: services(targets),
        content: plan.into(),
        ..Run::default()
    }
}

fn plan(targets: &[TargetKind]) -> Plan {
    let mut subjects: IdVec<SubjectId, Subject> = IdVec::new();
    let mut points = IdVec::new();
    let cases = cases();
    for (id, &kind) in (0..).map(TargetId).zip(targets) {
        let first = SubjectId::from_index(subjects.len());
        let mut models = models(kind);
        models.insert(1, ("c (control)", "C", 1.0, 4.1, 1.5, 1));
        for (name, language, ..) in models {
            let original = name.trim_end_matches(" (control)");
            let mut without = Vec::new();
            if ["python", "pymysql"].contains(&name) && kind == TargetKind::Mariadb {
                without.push(("statement".to_string(), "prepared".to_string()));
            }
            if name == "java" {
                without.push(("transport".to_string(), "unix".to_string()));
            }
            subjects.push(Subject {
                name: name.into(),
                language: language.into(),
                driver: driver(original, kind).0.into(),
                statements: "prepared: at open; text: once per operation".into(),
                reference: name == "c",
                control_of: (original != name).then_some(first),
                program: vec![format!("build/sql/{original}/subject"), kind.name().into()],
                target: id,
                without,
                ..Subject::default()
            });
        }
        points.extend(
            cases
                .ids()
                .flat_map(|case| points_of(&cases, case, id, kind)),
        );
    }
    Plan {
        experiment: "sql".into(),
        title: "SQL".into(),
        question: "What does a query cost in each language, on each database?".into(),
        subjects,
        baseline: SubjectId(0),
        cases,
        points,
        measure: Measure {
            pairs: 40,
            turn_ns: 1_000_000,
            budget_ns: Some(600_000_000_000),
            max_blocks: 80,
            interim_analyses: vec![10, 20, 40, 80],
            alpha: 0.05,
            margin: 0.02,
            time_limit_ns: 10_000_000_000,
            max_warmup: 2000,
            ..Measure::default()
        },
        targets: targets.iter().map(|&kind| target(kind)).collect(),
        seed: 7,
        ..Plan::default()
    }
}

fn cases() -> IdVec<CaseId, Case> {
    let case = |name: &str, work: &str, sweep: Option<&str>| Case {
        name: name.into(),
        work: work.into(),
        unit: "row".into(),
        sweep: sweep.map(String::from),
        ..Case::default()
    };
    let mut cases: IdVec<CaseId, Case> = [
        case(
            "connect",
            "open a connection, SELECT 1, fetch the row, close",
            None,
        ),
        case("select_1", "SELECT 1, the row fetched", None),
        case(
            "select",
            "SELECT id, value … ORDER BY id LIMIT n; every row decoded",
            Some("limit"),
        ),
        case("point", "SELECT value … WHERE id = ?", None),
        case(
            "mixed",
            "SELECT of a row of seven types, every column decoded",
            None,
        ),
        case("insert", "INSERT of one row, autocommitted", None),
        case("insert_tx", "one transaction of n inserts", Some("rows_tx")),
        case("update_point", "UPDATE … WHERE id = ?, autocommitted", None),
        case("transfer", "one transaction of two updates", None),
        case("drop_create", "DROP TABLE, CREATE TABLE", None),
        case(
            "connections",
            "the operations of point, shared among n connections of one process",
            Some("connections"),
        ),
    ]
    .into();
    cases[CaseId(0)].check = Check::Opens;
    let last = cases.last_mut().expect("cases");
    last.cores = Cores::All;
    last.turn_ns = Some(20_000_000);
    cases
}

fn points_of(
    cases: &IdVec<CaseId, Case>,
    case: CaseId,
    target: TargetId,
    kind: TargetKind,
) -> Vec<Point> {
    let name = cases[case].name.as_str();
    let xs: &[f64] = match name {
        "select" => &[1.0, 100.0, 1000.0],
        "insert_tx" => &[1.0, 10.0, 100.0],
        "connections" if kind == TargetKind::Sqlite => return Vec::new(),
        "connections" => &CONNECTIONS,
        _ => &[0.0],
    };
    let statements: &[&str] = match name {
        "select_1" | "select" | "point" | "insert" => &["prepared", "text"],
        _ => &[""],
    };
    let transports: &[&str] = match name {
        "select_1" if kind.is_service() => &["tcp", "unix"],
        _ => &[""],
    };
    let mut points = Vec::new();
    for &x in xs {
        for &statement in statements {
            for &transport in transports {
                if transport == "unix" && statement == "text" {
                    continue;
                }
                let sweep = cases[case].sweep.clone();
                let params = [
                    sweep.clone().map(|key| (key, x.to_string())),
                    (!statement.is_empty()).then(|| ("statement".into(), statement.into())),
                    (!transport.is_empty()).then(|| ("transport".into(), transport.into())),
                ];
                points.push(Point {
                    case,
                    target,
                    params: params.into_iter().flatten().collect(),
                    x: sweep.map(|_| x),
                    ..Point::default()
                });
            }
        }
    }
    points
}

/// Returns the client CPU time, server CPU time and waiting time of an operation of the C subject, in ns.
fn parts(plan: &Plan, point: PointId) -> (f64, f64, f64) {
    let at = &plan.points[point];
    let kind = plan.targets[at.target].kind;
    let x = at.x.unwrap_or(1.0);
    let has = |word: &str| at.params.iter().any(|(_, value)| value == word);
    let (client, server, waiting) = match plan.case(point).name.as_str() {
        "connect" => (120e3, 900e3, 260e3),
        "select_1" => (6e3, 11e3, 9e3),
        "select" => (6e3 + 90.0 * x, 12e3 + 160.0 * x, 9e3),
        "point" => (6.5e3, 14e3, 9e3),
        "mixed" => (8e3, 17e3, 9.5e3),
        "insert" => (7e3, 31e3, 180e3),
        "insert_tx" => (12e3 + 6.5e3 * x, 24e3 + 13e3 * x, 190e3 + 8e3 * x),
        "update_point" => (7e3, 34e3, 181e3),
        "transfer" => (16e3, 70e3, 205e3),
        _ => (14e3, 690e3, 800e3),
    };
    let text = if has("text") { 1.25 } else { 1.0 };
    let unix = if has("unix") { 0.72 } else { 1.0 };
    match kind {
        TargetKind::Sqlite | TargetKind::Folder => (
            (client * 0.3 + server * 0.1) * text,
            0.0,
            if waiting > 1e4 { 140e3 } else { 0.0 },
        ),
        TargetKind::Postgresql => (client * unix, server * text, waiting * unix),
        TargetKind::Mariadb => (
            client * 1.1 * unix,
            server * 0.85 * text,
            waiting * 0.9 * unix,
        ),
    }
}

fn model(plan: &Plan, subject: SubjectId) -> Model {
    let subject = &plan.subjects[subject];
    let kind = plan.targets[subject.target].kind;
    let name = subject.name.trim_end_matches(" (control)");
    let mut models = models(kind).into_iter();
    models.find(|m| m.0 == name).expect("a model")
}

fn block(plan: &Plan, number: u32) -> Block {
    let mut noise = Noise(u64::from(number) * 104_729 + 3);
    let (mut samples, mut resources, mut latencies) = (Vec::new(), Vec::new(), Vec::new());
    for point in plan.points.ids() {
        for subject in plan.subjects.ids().filter(|&s| plan.takes_part(s, point)) {
            let at = &plan.points[point];
            let kind = plan.targets[at.target].kind;
            let (_, _, ratio, memory, _, threads) = model(plan, subject);
            let last = at.x == Some(100.0) && plan.case(point).name == "insert_tx";
            if kind == TargetKind::Mariadb && last && plan.subjects[subject].name == "node" {
                continue;
            }
            let luck = noise.factor(0.006);
            for pass in 0..8 {
                let jitter = luck * noise.factor(0.02);
                let batch = match plan.case(point).cores {
                    Cores::One => {
                        let (client, server, waiting) = parts(plan, point);
                        let client = client * ratio * jitter;
                        let wall = client + server * jitter + waiting * noise.factor(0.02);
                        let n = (1e6 / wall).max(1.0) as u64;
                        Batch {
                            operations: n,
                            wall_ns: (wall * n as f64) as u64,
                            cpu_ns: (client * n as f64) as u64,
                            server_cpu_ns: kind
                                .is_service()
                                .then_some((server * jitter * n as f64) as u64),
                        }
                    }
                    Cores::All => {
                        let n = at.x.unwrap_or(1.0);
                        let contention = 0.10 + 0.06 * ratio;
                        let coherency = if ratio > 1.5 { 0.012 } else { 0.001 * ratio };
                        let one = 34_000.0 / (0.6 + 0.4 * ratio);
                        let rate = usl::throughput(one, contention, coherency, n) * jitter;
                        let operations = 600;
                        let index = |ns: f64| {
                            let v = ns as u64;
                            let e = (64 - v.leading_zeros()).saturating_sub(6);
                            e * 32 + (v >> e) as u32
                        };
                        let mean = n / rate * 1e9;
                        latencies.push(Latencies {
                            point,
                            subject,
                            pass,
                            counts: vec![
                                (index(mean * 0.8 * noise.factor(0.05)), 500),
                                (index(mean * 1.7 * noise.factor(0.05)), 90),
                                (index(mean * 4.2 * noise.factor(0.2)), 10),
                            ],
                        });
                        Batch {
                            operations,
                            wall_ns: (operations as f64 / rate * 1e9) as u64,
                            cpu_ns: (operations as f64 * 7e3 * ratio) as u64,
                            server_cpu_ns: Some(operations * 15_000),
                        }
                    }
                };
                samples.push(in_turn(point, subject, pass, batch));
            }
            resources.push(Resources {
                subject,
                point,
                rss_bytes: (memory * noise.factor(0.01) * 1048576.0) as u64,
                peak_rss_bytes: (memory * 1.1 * 1048576.0) as u64,
                threads,
                user_ns: 812_000_000,
                sys_ns: 95_000_000,
                voluntary_switches: 310,
                involuntary_switches: 12,
                server_bytes: match kind {
                    TargetKind::Sqlite | TargetKind::Folder => None,
                    TargetKind::Postgresql => Some((38.0 * noise.factor(0.02) * 1048576.0) as u64),
                    TargetKind::Mariadb => Some((131.0 * noise.factor(0.01) * 1048576.0) as u64),
                },
            });
        }
    }
    let processes = plan.subjects.ids().map(|subject| ProcessStart {
        subject,
        startup_ns: (model(plan, subject).4 * 1e6 * noise.factor(0.05)) as u64,
        startup_cpu_ns: 900_000,
    });
    Block {
        number,
        core: number % 2,
        state: BlockState::Complete,
        started_unix_s: 1_795_252_500.0 + f64::from(number) * 40.0,
        duration_ns: 40_000_000_000,
        processes: processes.collect(),
        resources,
        samples,
        latencies,
        ..Block::default()
    }
}

fn settings(plan: &Plan) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (subject, s) in plan.subjects.enumerated() {
        let kind = plan.targets[s.target].kind;
        let name = s.name.trim_end_matches(" (control)");
        let mut add = |point, key: &str, value: &str| {
            settings.push(Setting {
                subject,
                point,
                key: key.into(),
                value: value.into(),
            })
        };
        add(None, "runtime", runtime(&s.language));
        add(None, "library", driver(name, kind).1);
        for point in plan.points.ids().filter(|&p| plan.takes_part(subject, p)) {
            for (key, value) in match kind {
                TargetKind::Sqlite | TargetKind::Folder => [
                    ("version", "3.40.1"),
                    ("journal_mode", "delete"),
                    ("synchronous", "2"),
                ],
                TargetKind::Postgresql => [
                    ("version", "15.8"),
                    ("synchronous_commit", "on"),
                    ("tls", "off"),
                ],
                TargetKind::Mariadb => [
                    ("version", "10.11.6"),
                    ("innodb_flush_log_at_trx_commit", "1"),
                    ("tls", "off"),
                ],
            } {
                let bundled = key == "version" && kind == TargetKind::Sqlite && name == "java";
                add(Some(point), key, if bundled { "3.50.3" } else { value });
            }
        }
    }
    settings
}

fn services(targets: &[TargetKind]) -> Vec<Service> {
    let facts = |facts: &[(&str, &str)]| -> Vec<(String, String)> {
        facts
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect()
    };
    let service = |(target, kind): (TargetId, &TargetKind)| {
        let facts = match kind {
            TargetKind::Sqlite | TargetKind::Folder => return None,
            TargetKind::Postgresql => facts(&[
                ("version", "PostgreSQL 15.8 (Debian 15.8-0+deb12u1)"),
                ("place", "private: started for this run, on 127.0.0.1"),
                (
                    "changed",
                    "fsync = on, shared_buffers = 128MB, shared_preload_libraries = pg_stat_statements",
                ),
                ("max_connections", "100"),
            ]),
            TargetKind::Mariadb => facts(&[
                ("version", "10.11.6-MariaDB-0+deb12u1"),
                ("place", "the user's own: 127.0.0.1:13306"),
                ("changed", "nothing"),
                ("innodb_buffer_pool_size", "134217728"),
            ]),
        };
        Some(Service { target, facts })
    };
    (0..)
        .map(TargetId)
        .zip(targets)
        .filter_map(service)
        .collect()
}

// SPDX-License-Identifier: Apache-2.0
//! A realistic run of the SQL experiment, for tests and for viewing reports.
//!
//! The samples come from a simple model of each subject, with a failure, a differing setting and an unfit host.

#![allow(dead_code)]

pub mod commands;
pub mod counters;
pub mod load;
pub mod outline;
pub mod page;
pub mod served;
pub mod targets;

use lab_model::host::HostFinding;
use lab_model::plan::Target;
use lab_model::*;

/// The cost of each subject in the model: its name, a fixed cost in ns, and the cost of reading a row in ns.
pub const MODEL: [(&str, f64, f64); 6] = [
    ("c", 1_900.0, 105.0),
    ("c (control)", 1_900.0, 105.0),
    ("ada", 1_950.0, 106.5),
    ("java", 3_700.0, 410.0),
    ("python", 2_600.0, 240.0),
    ("apsw", 2_300.0, 225.0),
];

/// Creates a run with the given number of complete blocks.
pub fn sample(blocks: u32) -> Run {
    run(plan(), blocks)
}

/// Creates a target without settings.
pub fn target(kind: TargetKind) -> Target {
    Target {
        kind,
        table: "CREATE TABLE test_simple (…)".into(),
        rows: 10_000,
        ..Target::default()
    }
}

/// Creates the plan of experiments/sql with all subjects and points.
pub fn plan() -> Plan {
    let cases = cases();
    let points = points(&cases);
    Plan {
        experiment: "sql".into(),
        title: "SQL on SQLite".into(),
        question: "What does a query cost in each language?".into(),
        subjects: subjects(),
        baseline: SubjectId(0),
        cases,
        points,
        measure: Measure {
            pairs: 40,
            turn_ns: 1_000_000,
            budget_ns: Some(120_000_000_000),
            max_blocks: 80,
            interim_analyses: vec![10, 20, 40, 80],
            alpha: 0.05,
            margin: 0.02,
            precision: None,
            time_limit_ns: 10_000_000_000,
            max_warmup: 2000,
            ..Measure::default()
        },
        proof: Proof {
            equal: [
                "journal_mode",
                "synchronous",
                "autocommit",
                "encoding",
                "page_size",
                "cache_size",
            ]
            .map(String::from)
            .into(),
            conditions: vec!["version".into(), "source_id".into()],
        },
        targets: [target(TargetKind::Sqlite)].into(),
        fixtures: Vec::new(),
        seed: 7,
        work: Work::Batches,
        workload: None,
        hosts: None,
    }
}

fn subjects() -> IdVec<SubjectId, Subject> {
    let subject = |name: &str, language: &str, driver: &str, statements: &str| Subject {
        name: name.into(),
        language: language.into(),
        driver: driver.into(),
        statements: statements.into(),
        reference: name == "c",
        control_of: (name == "c (control)").then_some(SubjectId(0)),
        program: vec![format!("build/sql/{name}/subject")],
        ..Subject::default()
    };
    let c = "prepared: sqlite3_prepare_v2 at open; text: prepare, step, finalize per call";
    [
        subject("c", "C", "sqlite3 C API", c),
        subject("c (control)", "C", "sqlite3 C API", c),
        subject(
            "ada",
            "Ada",
            "appserver SQL over libsqlite3",
            "prepared: Prepare at open; text: prepare, step, finalize per call",
        ),
        subject(
            "java",
            "Java",
            "JDBC, sqlite-jdbc",
            "prepared: PreparedStatement at open; text: one per call, closed",
        ),
        subject(
            "python",
            "Python",
            "sqlite3 (standard library)",
            "prepared: the connection's statement cache; text: cached_statements=0",
        ),
        subject(
            "apsw",
            "Python",
            "apsw",
            "prepared: the connection's statement cache; text: statementcachesize=0",
        ),
    ]
    .into()
}

fn cases() -> IdVec<CaseId, Case> {
    let case = |name: &str, work: &str, sweep: Option<&str>, check: Check| Case {
        name: name.into(),
        work: work.into(),
        unit: if name == "drop_create" {
            "table".into()
        } else {
            "row".into()
        },
        sweep: sweep.map(String::from),
        empty: check == Check::Writes,
        check,
        ..Case::default()
    };
    [
        case(
            "connect",
            "open a connection, SELECT 1, fetch the row, close",
            None,
            Check::Opens,
        ),
        case("select_1", "SELECT 1, the row fetched", None, Check::Reads),
        case(
            "select",
            "SELECT id, value … ORDER BY id LIMIT n; each row iterated, both columns decoded and summed",
            Some("limit"),
            Check::Reads,
        ),
        case(
            "point",
            "SELECT value … WHERE id = ?, prepared, ids from the seeded sequence",
            None,
            Check::Reads,
        ),
        case(
            "insert",
            "INSERT of one row, bound parameter, autocommitted",
            None,
            Check::Writes,
        ),
        case(
            "insert_tx",
            "one transaction of n rows",
            Some("rows_tx"),
            Check::Writes,
        ),
        case(
            "drop_create",
            "DROP TABLE, CREATE TABLE",
            None,
            Check::Writes,
        ),
    ]
    .into()
}

fn points(cases: &IdVec<CaseId, Case>) -> IdVec<PointId, Point> {
    let mut points = IdVec::new();
    for (id, case) in cases.enumerated() {
        let values: &[u64] = match case.name.as_str() {
            "select" => &[1, 10, 100, 500, 1000],
            "insert_tx" => &[1, 10, 100, 1000],
            _ => &[0],
        };
        let statements: &[&str] = match case.name.as_str() {
            "select_1" | "select" | "insert" => &["prepared", "text"],
            _ => &[""],
        };
        for &x in values {
            for &statement in statements {
                let mut params = Vec::new();
                if let Some(sweep) = &case.sweep {
                    params.push((sweep.clone(), x.to_string()));
                }
                if !statement.is_empty() {
                    params.push(("statement".into(), statement.into()));
                }
                points.push(Point {
                    case: id,
                    params,
                    x: case.sweep.as_ref().map(|_| x as f64),
                    ..Point::default()
                });
            }
        }
    }
    points
}

/// Returns the time of one operation in the model, in ns.
pub fn model(plan: &Plan, subject: SubjectId, point: PointId) -> f64 {
    let (_, fixed, row) = MODEL[subject.index()];
    let relative = fixed / MODEL[0].1;
    let x = plan.points[point].x.unwrap_or(1.0);
    let text = plan.points[point].params.iter().any(|(_, v)| v == "text");
    let prepare = if text { 2_400.0 * relative.sqrt() } else { 0.0 };
    match plan.case(point).name.as_str() {
        "connect" => {
            38_000.0 * relative.sqrt()
                + if subject == SubjectId(3) {
                    60_000.0
                } else {
                    0.0
                }
        }
        "select_1" => 420.0 * relative.powi(2) + prepare * 0.6,
        "select" => fixed + row * x + prepare,
        "point" => 1_200.0 * relative,
        "insert" => 145_000.0 + 900.0 * relative + prepare,
        "insert_tx" => 150_000.0 + (600.0 + row) * x,
        _ => 310_000.0 + 1_500.0 * relative,
    }
}

/// Creates a run of a plan with the given number of complete blocks. Each block has about 1,000
/// samples.
pub fn run(plan: Plan, blocks: u32) -> Run {
    let settings = settings(&plan);
    let blocks = (0..blocks).map(|number| block(&plan, number)).collect();
    Run {
        name: "20261121-091500-sql.lab".into(),
        benchlab_version: "0.1.0".into(),
        started_unix_s: 1_795_252_500.0,
        host: host(),
        blocks,
        interim_analyses: vec![10],
        ending: Some(Ending::Budget),
        settings,
        failures: failures(),
        lab_cost: Some((2_310_000_000, 21 << 20)),
        content: plan.into(),
        ..Run::default()
    }
}

fn host() -> Host {
    let facts = [
        ("cpu", "AMD EPYC 7B13"),
        ("cores", "2"),
        ("memory", "7.8 GiB"),
        ("kernel", "Linux 6.1.0-18-amd64"),
        ("system", "Debian GNU/Linux 12"),
        ("virtual", "kvm"),
        ("clock", "tsc, resolution 1 ns"),
    ];
    Host {
        facts: facts.map(|(k, v)| (k.to_string(), v.to_string())).into(),
        findings: vec![
            HostFinding {
                unfit: true,
                what: "the frequency governor cannot be read".into(),
                advice: "on a virtual machine, ask for a host with fixed frequency; compare ratios, not times".into(),
            },
            HostFinding {
                unfit: false,
                what: "transparent huge pages are set to always".into(),
                advice: "set them to madvise for steadier memory figures".into(),
            },
        ],
    }
}

fn failures() -> Vec<Failure> {
    vec![Failure {
        subject: SubjectId(3),
        point: Some(PointId(18)),
        block: Some(4),
        kind: "timeout".into(),
        message: "no reply to \"run operations=12\" within 10 s; the process was ended".into(),
        log: vec![
            "WARNING: sqlite-jdbc: busy handler called 1,000 times".into(),
            "Exception in thread \"main\" org.sqlite.SQLiteException: [SQLITE_BUSY] The database file is locked".into(),
            "\tat org.sqlite.core.DB.newSQLException(DB.java:1179)".into(),
        ],
    }]
}

fn settings(plan: &Plan) -> Vec<Setting> {
    let mut settings = Vec::new();
    let versions = ["3.40.1", "3.40.1", "3.40.1", "3.50.3", "3.40.1", "3.50.4"];
    let runtimes = [
        "GCC 12.2.0",
        "GCC 12.2.0",
        "GNAT 12.2.0",
        "OpenJDK 17.0.16",
        "CPython 3.11.2",
        "CPython 3.11.2",
    ];
    for subject in plan.subjects.ids() {
        let mut add = |point, key: &str, value: &str| {
            settings.push(Setting {
                subject,
                point,
                key: key.into(),
                value: value.into(),
            })
        };
        add(None, "runtime", runtimes[subject.index()]);
        for point in plan.points.ids() {
            add(Some(point), "version", versions[subject.index()]);
            add(Some(point), "journal_mode", "delete");
            add(Some(point), "synchronous", "2");
            add(Some(point), "autocommit", "1");
            add(Some(point), "encoding", "UTF-8");
            add(Some(point), "page_size", "4096");
            add(
                Some(point),
                "cache_size",
                if (subject, point) == (SubjectId(5), PointId(0)) {
                    "-4000"
                } else {
                    "-2000"
                },
            );
        }
    }
    settings
}

fn block(plan: &Plan, number: u32) -> Block {
    let mut noise = Noise(u64::from(number) * 7919 + 17);
    let mut samples = Vec::new();
    let mut resources = Vec::new();
    for point in plan.points.ids() {
        for subject in plan.subjects.ids() {
            if failed(subject, point) {
                continue;
            }
            let typical = model(plan, subject, point) * noise.factor(0.004);
            let operations = (1_000_000.0 / typical).max(1.0) as u64;
            for pass in 0..8 {
                let wall = typical * operations as f64 * noise.factor(0.02);
                let batch = Batch {
                    operations,
                    wall_ns: wall as u64,
                    cpu_ns: (wall * 0.985) as u64,
                    server_cpu_ns: None,
                };
                samples.push(in_turn(point, subject, pass, batch));
            }
            resources.push(resource(subject, point, noise.factor(0.01)));
        }
    }
    Block {
        number,
        core: number % 2,
        state: BlockState::Complete,
        started_unix_s: 1_795_252_500.0 + f64::from(number) * 5.0,
        duration_ns: 5_000_000_000,
        processes: (0..6)
            .map(SubjectId)
            .map(|s| ProcessStart {
                subject: s,
                startup_ns: (startup(s) * noise.factor(0.05)) as u64,
                startup_cpu_ns: 900_000,
            })
            .collect(),
        resources,
        samples,
        ..Block::default()
    }
}

/// Creates a sample of a subject. The subject's turn in each pass is its ID.
pub fn in_turn(point: PointId, subject: SubjectId, pass: u32, batch: Batch) -> Sample {
    Sample {
        point,
        subject,
        pass,
        turn: subject.0,
        batch,
    }
}

fn resource(subject: SubjectId, point: PointId, noise: f64) -> Resources {
    Resources {
        subject,
        point,
        rss_bytes: (memory(subject) * noise) as u64,
        peak_rss_bytes: (memory(subject) * noise * 1.12) as u64,
        threads: threads(subject),
        user_ns: 812_000_000,
        sys_ns: 95_000_000,
        voluntary_switches: 310,
        involuntary_switches: 12,
        server_bytes: None,
    }
}

fn failed(subject: SubjectId, point: PointId) -> bool {
    (subject, point) == (SubjectId(3), PointId(18))
}

fn startup(subject: SubjectId) -> f64 {
    [1.4e6, 1.4e6, 2.1e6, 212e6, 38e6, 61e6][subject.index()]
}

fn memory(subject: SubjectId) -> f64 {
    [3.9, 3.9, 5.2, 61.0, 17.4, 21.8][subject.index()] * 1048576.0
}

fn threads(subject: SubjectId) -> u32 {
    [1, 1, 2, 21, 1, 1][subject.index()]
}

/// Creates a run that was imported from another tool's file.
pub fn imported() -> Run {
    let times = [
        ("SELECT 1", 10_000, 2_100.0),
        ("SELECT * FROM test_simple LIMIT 100", 1_000, 61_000.0),
    ];
    let times = times.map(|(title, count, time_ns)| ImportedTime {
        title: title.into(),
        count,
        time_ns,
        total_ns: time_ns * count as f64,
    });
    let benchmark = |language: &str| Imported {
        language: language.into(),
        driver: "sqlite".into(),
        threads: Some(1),
        rss_bytes: Some(5 << 20),
        peak_rss_bytes: Some(6 << 20),
        user_ns: Some(120_000_000),
        sys_ns: Some(30_000_000),
        times: times.to_vec(),
        ..Imported::default()
    };
    Run {
        name: "20180914-old.lab".into(),
        benchlab_version: "0.1.0".into(),
        started_unix_s: 1_795_252_500.0,
        content: Content::Imported(vec![benchmark("Ada"), benchmark("Python")]),
        ..Run::default()
    }
}

/// A small pseudorandom number generator (splitmix64), so that every test sees the same run.
pub struct Noise(u64);

impl Noise {
    /// Returns a value between `1 - part` and `1 + part`.
    fn factor(&mut self, part: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        1.0 + part * (2.0 * unit - 1.0)
    }
}

/// Builds the document of a measured or an imported run.
pub fn document(run: &Run) -> lab_document::Document {
    let file = "runs/some.lab";
    match run.content {
        Content::Imported(_) => {
            lab_import::report::document(&lab_import::report::ImportReport { run, file })
        }
        _ => lab_report::document(&lab_report::Report::new(run, file)),
    }
}

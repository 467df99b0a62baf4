// SPDX-License-Identifier: Apache-2.0
//! A run of the SQL experiment that looks like a real one, for tests and for looking at reports:
//! samples from a simple model of each subject, with failures, refusals and a host with a fault.

#![allow(dead_code)]

use lab_model::host::Finding;
use lab_model::plan::Target;
use lab_model::*;
use lab_stats::analysis::*;

/// What a subject costs in the model: a fixed cost in ns and a cost per row in ns, for reading.
pub const MODEL: [(&str, f64, f64); 6] = [
    ("c", 1_900.0, 105.0),
    ("c (control)", 1_900.0, 105.0),
    ("ada", 1_950.0, 106.5),
    ("java", 3_700.0, 410.0),
    ("python", 2_600.0, 240.0),
    ("apsw", 2_300.0, 225.0),
];

/// A run with that many complete blocks, and its analysis.
pub fn sample(blocks: u32) -> (Run, Analysis) {
    let plan = plan();
    let run = run(plan, blocks);
    let analysis = analyse(&run);
    (run, analysis)
}

/// The plan of experiments/sql, all subjects and points selected.
pub fn plan() -> Plan {
    let cases = cases();
    let points = points(&cases);
    Plan {
        experiment: "sql".into(),
        title: "SQL on SQLite".into(),
        question: "What does a query cost in each language?".into(),
        subjects: subjects(),
        baseline: 0,
        cases,
        points,
        measure: Measure {
            pairs: 40,
            turn_ns: 1_000_000,
            budget_ns: Some(120_000_000_000),
            max_blocks: 80,
            looks: vec![10, 20, 40, 80],
            alpha: 0.05,
            margin: 0.02,
            precision: None,
            time_limit_ns: 10_000_000_000,
            max_warmup: 2000,
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
        open: vec![("rows".into(), "10000".into())],
        target: Some(Target::Sqlite {
            table: "CREATE TABLE test_simple (…)".into(),
            rows: 10_000,
        }),
        seed: 7,
    }
}

fn subjects() -> Vec<Subject> {
    let subject = |name: &str, language: &str, driver: &str, statements: &str| Subject {
        name: name.into(),
        language: language.into(),
        driver: driver.into(),
        statements: statements.into(),
        limit: name == "c",
        control_of: (name == "c (control)").then_some(0),
        program: vec![format!("build/sql/{name}/subject")],
    };
    let c = "prepared: sqlite3_prepare_v2 at open; text: prepare, step, finalize per call";
    vec![
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
}

fn cases() -> Vec<Case> {
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
    };
    vec![
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
}

fn points(cases: &[Case]) -> Vec<Point> {
    let mut points = Vec::new();
    for (id, case) in cases.iter().enumerate() {
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
                    writes: Writes::default(),
                });
            }
        }
    }
    points
}

/// Time of one operation in the model, ns.
pub fn model(plan: &Plan, subject: SubjectId, point: PointId) -> f64 {
    let (_, fixed, row) = MODEL[subject];
    let relative = fixed / MODEL[0].1;
    let x = plan.points[point].x.unwrap_or(1.0);
    let text = plan.points[point].params.iter().any(|(_, v)| v == "text");
    let prepare = if text { 2_400.0 * relative.sqrt() } else { 0.0 };
    match plan.case(point).name.as_str() {
        "connect" => 38_000.0 * relative.sqrt() + if subject == 3 { 60_000.0 } else { 0.0 },
        "select_1" => 420.0 * relative.powi(2) + prepare * 0.6,
        "select" => fixed + row * x + prepare,
        "point" => 1_200.0 * relative,
        "insert" => 145_000.0 + 900.0 * relative + prepare,
        "insert_tx" => 150_000.0 + (600.0 + row) * x,
        _ => 310_000.0 + 1_500.0 * relative,
    }
}

fn run(plan: Plan, blocks: u32) -> Run {
    let settings = settings(&plan);
    let blocks = (0..blocks).map(|number| block(&plan, number)).collect();
    Run {
        name: "20261121-091500-sql.lab".into(),
        lab_version: "0.1.0".into(),
        started_unix_s: 1_795_252_500.0,
        host: host(),
        pilots: Vec::new(),
        blocks,
        looks: vec![10],
        ending: Some(Ending::Budget),
        settings,
        failures: failures(),
        log: Vec::new(),
        lab_cost: Some((2_310_000_000, 21 << 20)),
        imports: Vec::new(),
        plan: Some(plan),
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
            Finding {
                unfit: true,
                what: "The CPU's frequency governor cannot be read.".into(),
                advice: "On a virtual machine, ask for a host with fixed frequency; compare ratios, not times.".into(),
            },
            Finding {
                unfit: false,
                what: "Transparent huge pages are set to always.".into(),
                advice: "Set them to madvise for steadier memory figures.".into(),
            },
        ],
    }
}

fn failures() -> Vec<Failure> {
    vec![Failure {
        subject: 3,
        point: Some(18),
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
    for subject in 0..plan.subjects.len() {
        let mut add = |point, key: &str, value: &str| {
            settings.push(Setting {
                subject,
                point,
                key: key.into(),
                value: value.into(),
            })
        };
        add(None, "runtime", runtimes[subject]);
        for point in 0..plan.points.len() {
            add(Some(point), "version", versions[subject]);
            add(Some(point), "journal_mode", "delete");
            add(Some(point), "synchronous", "2");
            add(Some(point), "autocommit", "1");
            add(Some(point), "encoding", "UTF-8");
            add(Some(point), "page_size", "4096");
            add(
                Some(point),
                "cache_size",
                if subject == 5 && point == 0 {
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
    for point in 0..plan.points.len() {
        for subject in 0..plan.subjects.len() {
            if failed(subject, point) {
                continue;
            }
            let typical = model(plan, subject, point) * noise.about(0.004);
            let operations = (1_000_000.0 / typical).max(1.0) as u64;
            for pass in 0..4 {
                let wall = typical * operations as f64 * noise.about(0.02);
                let batch = Batch {
                    operations,
                    wall_ns: wall as u64,
                    cpu_ns: (wall * 0.985) as u64,
                };
                samples.push(Sample {
                    point,
                    subject,
                    pass,
                    turn: subject as u32,
                    batch,
                });
            }
            resources.push(resource(subject, point));
        }
    }
    Block {
        number,
        attempt: 0,
        core: number % 2,
        state: BlockState::Complete,
        started_unix_s: 1_795_252_500.0 + f64::from(number) * 5.0,
        duration_ns: 5_000_000_000,
        disturbance: Disturbance::default(),
        processes: (0..6)
            .map(|s| Process {
                subject: s,
                startup_ns: startup(s) as u64,
                startup_cpu_ns: 900_000,
            })
            .collect(),
        resources,
        samples,
    }
}

fn resource(subject: SubjectId, point: PointId) -> Resources {
    Resources {
        subject,
        point,
        rss_bytes: memory(subject) as u64,
        peak_rss_bytes: (memory(subject) * 1.12) as u64,
        threads: threads(subject),
        user_ns: 812_000_000,
        sys_ns: 95_000_000,
        voluntary_switches: 310,
        involuntary_switches: 12,
    }
}

fn failed(subject: SubjectId, point: PointId) -> bool {
    subject == 3 && point == 18
}

fn startup(subject: SubjectId) -> f64 {
    [1.4e6, 1.4e6, 2.1e6, 212e6, 38e6, 61e6][subject]
}

fn memory(subject: SubjectId) -> f64 {
    [3.9, 3.9, 5.2, 61.0, 17.4, 21.8][subject] * 1048576.0
}

fn threads(subject: SubjectId) -> u32 {
    [1, 1, 2, 21, 1, 1][subject]
}

/// The analysis of the model's run, with intervals of plausible widths around the truth. It is
/// shaped as the statistics crate shapes it, so that reports can be tested for what they say
/// about values that the test knows.
fn analyse(run: &Run) -> Analysis {
    let plan = run.plan.as_ref().expect("a plan");
    let blocks = run.blocks.len() as u32;
    let spread = 0.03 / f64::from(blocks.max(1)).sqrt();
    let mut noise = Noise(99);
    let level = if blocks < 6 { 0.875 } else { 0.9875 };
    let mut around = |value: f64, part: f64| {
        let estimate = value * noise.about(part * 0.3);
        Interval {
            estimate,
            low: estimate * (1.0 - part),
            high: estimate * (1.0 + part * 1.2),
            level,
        }
    };
    let mut analysis = Analysis {
        blocks,
        disturbed_blocks: 2,
        level: 0.9875,
        margin: 0.02,
        ..Analysis::default()
    };
    if blocks == 0 {
        return analysis;
    }
    for point in 0..plan.points.len() {
        for subject in (0..plan.subjects.len()).filter(|&s| !failed(s, point)) {
            let wall = model(plan, subject, point);
            let slow = if subject == 3 { 1.06 } else { 1.002 };
            analysis.cells.push(Cell {
                subject,
                point,
                blocks,
                wall_ns: around(wall, spread * 2.0),
                cpu_ns: around(wall * 0.985, spread * 2.0),
                whole_wall_ns: around(wall * slow, spread * 2.5),
                whole_cpu_ns: around(wall * slow * 1.05, spread * 2.5),
                warm_up: Some(if subject == 3 {
                    WarmUp::Warming
                } else {
                    WarmUp::Flat
                }),
                cold_ns: Some((wall * 14.0) as u64),
            });
            if subject < 2 {
                continue;
            }
            if subject == 5 && point == 0 {
                continue;
            }
            let truth = wall / model(plan, 0, point);
            let ratio = around(truth, spread);
            analysis.comparisons.push(Comparison {
                subject,
                point,
                blocks,
                ratio,
                p: 0.001,
                verdict: verdict(&ratio, 0.02),
                whole_ratio: around(truth * slow, spread * 1.5),
                cpu_ratio: around(truth * slow * 1.02, spread * 1.5),
                disagree: false,
                merged: false,
            });
        }
        let ratio = around(1.0, spread * 0.7);
        let met = ratio.low <= 1.0 && 1.0 <= ratio.high;
        analysis.controls.push(Control {
            point,
            ratio,
            met,
            margin: 0.02,
        });
    }
    for (case, factors) in [(2, Some("prepared")), (2, Some("text")), (5, None)] {
        let factors: Vec<_> = factors
            .map(|f| ("statement".to_string(), f.to_string()))
            .into_iter()
            .collect();
        for subject in 0..plan.subjects.len() {
            let (_, fixed, row) = MODEL[subject];
            let (fixed, row) = if case == 5 {
                (150_000.0, 600.0 + row)
            } else {
                (fixed, row)
            };
            analysis.fits.push(Fit {
                subject,
                case,
                factors: factors.clone(),
                fixed_ns: around(fixed, spread * 3.0),
                marginal_ns: around(row, spread),
                worst_residual: 0.012,
                curved: subject == 3,
            });
        }
    }
    for subject in 2..plan.subjects.len() {
        let mine: Vec<f64> = analysis
            .comparisons
            .iter()
            .filter(|c| c.subject == subject)
            .map(|c| c.ratio.estimate.ln())
            .collect();
        let mean = (mine.iter().sum::<f64>() / mine.len() as f64).exp();
        analysis.overall.push(Overall {
            subject,
            ratio: around(mean, spread * 0.5),
            points: mine.len() as u32,
        });
    }
    for subject in 0..plan.subjects.len() {
        for (from, to) in factor_pairs(plan) {
            if subject != 1 {
                let ratio = around(
                    model(plan, subject, to) / model(plan, subject, from),
                    spread,
                );
                analysis.factors.push(FactorEffect {
                    subject,
                    from,
                    to,
                    factor: "statement".into(),
                    ratio,
                });
            }
        }
        analysis.footprints.push(Footprint {
            subject,
            rss_bytes: around(memory(subject), 0.01),
            peak_rss_bytes: around(memory(subject) * 1.12, 0.01),
            startup_ns: around(startup(subject), 0.05),
            threads: threads(subject),
            user_ns: 812e6,
            sys_ns: 95e6,
        });
    }
    analysis.refusals.push(Refusal {
        subject: 5,
        point: Some(0),
        why: "cache_size is -4000, and c has -2000".into(),
    });
    analysis.refusals.push(Refusal {
        subject: 3,
        point: Some(18),
        why: "failed: timeout".into(),
    });
    let warn = |kind: &str, text: &str| Warning {
        kind: kind.into(),
        text: text.into(),
    };
    analysis.warnings = vec![
        warn(
            "versions",
            "version differs: c 3.40.1, java 3.50.3, apsw 3.50.4. Part of a difference may be SQLite's own.",
        ),
        warn(
            "disturbed",
            "2 blocks were redone: the hypervisor took 7 % and 9 % of the cores.",
        ),
    ];
    if blocks < 6 {
        analysis.warnings.push(warn(
            "few-blocks",
            "3 blocks support no more than 87.5 %. Run longer for 95 %.",
        ));
    }
    analysis
}

fn factor_pairs(plan: &Plan) -> Vec<(PointId, PointId)> {
    let value = |p: PointId| {
        plan.points[p]
            .params
            .iter()
            .find(|(k, _)| k == "statement")
            .map(|(_, v)| v.as_str())
    };
    (0..plan.points.len().saturating_sub(1))
        .filter(|&p| value(p) == Some("prepared") && value(p + 1) == Some("text"))
        .map(|p| (p, p + 1))
        .collect()
}

fn verdict(ratio: &Interval, margin: f64) -> Verdict {
    match ratio {
        r if r.high < 1.0 - margin => Verdict::Faster,
        r if r.low > 1.0 + margin => Verdict::Slower,
        r if r.low > 1.0 - margin && r.high < 1.0 + margin => Verdict::Equivalent,
        r if r.high < 1.0 => Verdict::SmallButReal { faster: true },
        r if r.low > 1.0 => Verdict::SmallButReal { faster: false },
        _ => Verdict::Inconclusive {
            blocks_needed: Some(34),
        },
    }
}

/// Figures as another tool's file held them.
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
    };
    Run {
        name: "20180914-old.lab".into(),
        lab_version: "0.1.0".into(),
        started_unix_s: 1_795_252_500.0,
        plan: None,
        host: Host::default(),
        pilots: Vec::new(),
        blocks: Vec::new(),
        looks: Vec::new(),
        ending: None,
        settings: Vec::new(),
        failures: Vec::new(),
        log: Vec::new(),
        lab_cost: None,
        imports: vec![benchmark("Ada"), benchmark("Python")],
    }
}

/// A small generator (splitmix64), so that every test sees the same run.
struct Noise(u64);

impl Noise {
    /// 1, give or take `part`.
    fn about(&mut self, part: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        1.0 + part * (2.0 * unit - 1.0)
    }
}

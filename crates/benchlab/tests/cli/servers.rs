// SPDX-License-Identifier: Apache-2.0
//! Checks of the subjects' work on both database servers.
//!
//! If a subject does different work, the server's counters or the reported settings show it. The
//! honest subjects continue.

use crate::project::{Project, assert_failures, server_subject, servers_head, without_servers};
use lab_model::{Cores, Run, Setting, TargetId, TargetKind, parts};
use std::collections::HashMap;

pub const POINT: &str = r#"
[[case]]
name = "point"
work = "SELECT value WHERE id = ?"
unit = "row"
factor.statement = ["prepared", "text"]
statements = { select = 1 }
reads = 1
"#;
pub const INSERT: &str = r#"
[[case]]
name = "insert"
work = "INSERT of one row, autocommitted"
unit = "row"
factor.statement = ["prepared", "text"]
check = "writes"
empty = true
writes = { rows = 1, transactions = 1 }
statements = { insert = 1 }
"#;
pub const INSERT_TX: &str = r#"
[[case]]
name = "insert_tx"
work = "one transaction of n rows"
unit = "row"
sweep.rows_tx = [3]
check = "writes"
empty = true
writes = { rows = "rows_tx", transactions = 1 }
statements = { insert = "rows_tx", commit = 1 }
"#;
pub const CONNECT: &str = r#"
[[case]]
name = "connect"
work = "open a connection, SELECT 1, close"
unit = "row"
check = "opens"
"#;

/// A cheating subject and its expected failure: the kind and a substring of the message.
type Caught<'a> = (&'a str, &'a str, &'a str);

#[test]
fn wrong_reads_on_servers_are_detected() {
    let on_both = [
        ("cached", "statements", "× SELECT; the server counted 0"),
        ("half-cached", "statements", "× SELECT; the server counted "),
        (
            "sets",
            "statements",
            "must execute 0 × SET; the server counted ",
        ),
        ("wrong-check", "check", "check="),
        ("rowless", "statements", " must return or change "),
        (
            "other-way",
            "statements",
            "the subject must send its statements as text; the server ",
        ),
        (
            "transaction-around",
            "statements",
            "must execute 0 × BEGIN; the server counted ",
        ),
    ];
    let postgresql = [
        (
            "tableless",
            "statements",
            " of tables; the server accessed 0 blocks",
        ),
        ("pings", "statements", "× SELECT; the server counted "),
        ("by-name", "statements", "; the server counted "),
    ];
    let mariadb = [
        (
            "tableless",
            "statements",
            " of tables; the server counted 0",
        ),
        (
            "pings",
            "statements",
            "must execute 0 × ADMIN; the server counted ",
        ),
        ("by-name", "statements", " prepared statement"),
    ];
    assert_caught(
        POINT,
        &["--set", "statement=text"],
        &on_both,
        &postgresql,
        &mariadb,
    );
}

#[test]
fn inserts_that_are_not_the_inserts_asked_for_are_caught() {
    let on_both = [
        // In a batch of one operation, this is the same work.
        ("multi-row", "statements", "× INSERT; the server counted "),
        (
            "one-transaction",
            "statements",
            "must execute 0 × BEGIN; the server counted ",
        ),
        (
            "rolled-back",
            "statements",
            "must execute 0 × BEGIN; the server counted ",
        ),
        ("wrong-values", "writes", "the added rows have a sum of"),
        ("shadow", "writes", "; the subject added 0"),
    ];
    let postgresql = [("no-rows", "statements", " must return or change ")];
    // A row that already existed counts as written.
    let mariadb = [("no-rows", "writes", "; the subject added 0")];
    assert_caught(
        INSERT,
        &["--set", "statement=text"],
        &on_both,
        &postgresql,
        &mariadb,
    );
}

#[test]
fn wrong_transactions_are_detected() {
    let on_both = [
        ("one-commit", "statements", "× COMMIT; the server counted "),
        ("no-commit", "statements", " × COMMIT; the server counted 0"),
    ];
    assert_caught(INSERT_TX, &[], &on_both, &[], &[]);
}

#[test]
fn wrong_connections_and_missing_preparation_are_detected() {
    let on_both = [
        ("reused", "opens", "; the server counted 0"),
        ("connects-twice", "opens", "; the server counted "),
    ];
    let message = "a prepared statement must be planned once, but the server planned it ";
    let postgresql = [("other-way", "statements", message)];
    let mariadb = [(
        "other-way",
        "statements",
        " must execute prepared statements ",
    )];
    let cases = [CONNECT, POINT].concat();
    assert_caught(
        &cases,
        &["--set", "statement=prepared"],
        &on_both,
        &postgresql,
        &mariadb,
    );
}

#[test]
fn settings_that_differ_are_named_and_not_compared() {
    if without_servers() {
        return;
    }
    let variants = [
        "isolation",
        "asynchronous",
        "time-zone",
        "charset",
        "autocommit",
        "socket",
        "tls",
    ];
    let run = measure(
        &Project::servers(&[POINT], &variants),
        &["--set", "statement=text"],
    );
    assert_failures(
        &run,
        &[
            // A setting of the whole server, which the subject may not change.
            (
                "asynchronous on mariadb",
                "error",
                "Access denied; you need (at least one of) the SUPER",
            ),
            // The private servers do not support TLS.
            (
                "tls on postgresql",
                "error",
                "server does not support SSL, but SSL was required",
            ),
            ("tls on mariadb", "error", "SSL"),
        ],
    );
    let [postgresql, mariadb] = [0, 1].map(|target| exclusions(&parts(&run)[target].run));
    assert_eq!(
        postgresql,
        [
            "isolation: transaction_isolation is serializable, but read committed in honest",
            "asynchronous: synchronous_commit is off, but on in honest",
            "time-zone: time_zone is Asia/Tokyo, but UTC in honest",
            "charset: client_encoding is LATIN1, but UTF8 in honest",
            "socket: transport is unix, but tcp in honest",
        ]
    );
    assert_eq!(
        mariadb,
        [
            "isolation: transaction_isolation is READ-UNCOMMITTED, but REPEATABLE-READ in honest",
            "time-zone: time_zone is +09:00, but +00:00 in honest",
            "charset: character_set_client is latin1, but utf8mb4 in honest",
            "autocommit: autocommit is off, but on in honest",
            "socket: transport is unix, but tcp in honest",
        ]
    );
}

/// Returns the subjects that are not compared because of their settings, with the reasons.
fn exclusions(run: &Run) -> Vec<String> {
    let plan = run.plan().expect("a plan");
    let exclusions = lab_stats::results::results(run).exclusions;
    let words = |reason: &str| Some(reason.strip_prefix("different settings: ")?.to_owned());
    let named = |r: &lab_stats::analysis::Exclusion| {
        Some(format!(
            "{}: {}",
            plan.subjects[r.subject].name,
            words(&lab_report::wording::exclusion(&r.reason))?
        ))
    };
    exclusions.iter().filter_map(named).collect()
}

/// Measures a case with cheating subjects on both databases.
///
/// Asserts that each cheating subject is caught, and that the honest subjects run to the end.
#[track_caller]
fn assert_caught(
    case: &str,
    more: &[&str],
    on_both: &[Caught],
    postgresql: &[Caught],
    mariadb: &[Caught],
) {
    if without_servers() {
        return;
    }
    let mut expected = Vec::new();
    for (kind, on_this) in [
        (TargetKind::Postgresql, postgresql),
        (TargetKind::Mariadb, mariadb),
    ] {
        let caught = on_both.iter().chain(on_this);
        expected.extend(
            caught.map(|&(name, failure, text)| {
                (format!("{name} on {}", kind.name()), failure, text)
            }),
        );
    }
    let on_one: &[Caught] = if postgresql.is_empty() {
        mariadb
    } else {
        postgresql
    };
    let variants: Vec<&str> = on_both
        .iter()
        .chain(on_one)
        .map(|(name, ..)| *name)
        .collect();
    // A change in a statement's query plan is visible after 24 operations. On a busy machine, a
    // batch consists of a single operation, and so does the lead-in before it.
    let run = measure_pairs(&Project::servers(&[case], &variants), "6", more);
    let expected: Vec<Caught> = expected
        .iter()
        .map(|(name, kind, text)| (&name[..], *kind, *text))
        .collect();
    assert_failures(&run, &expected);
}

#[test]
fn a_query_is_charged_with_the_servers_cpu_time() {
    if without_servers() {
        return;
    }
    let case = |name: &str, more: &str| {
        format!("\n[[case]]\nname = {name:?}\nwork = {name:?}\nunit = \"row\"\n{more}\n")
    };
    let select = "statements = { select = 1 }";
    let cases = [
        case("burn", select),
        case("sleep", select),
        case("connect", "check = \"opens\""),
    ];
    let project = Project::with_text(
        &(servers_head("costs") + &cases.concat() + &server_subject("costs", "costs")),
    );
    let run = measure_pairs(&project, "10", &[]);
    assert_failures(&run, &[]);
    let plan = run.plan().expect("a plan");
    let mut trivial = HashMap::new();
    for (point, described) in plan.points.enumerated() {
        let (name, kind) = (&plan.case(point).name, plan.targets[described.target].kind);
        let label = plan.label(point);
        let batches = run
            .complete_blocks()
            .flat_map(|b| &b.samples)
            .filter(|s| s.point == point);
        let batches: Vec<_> = batches.map(|s| &s.batch).collect();
        let per_operation = |ns: fn(&lab_model::Batch) -> u64| {
            median(batches.iter().map(|b| ns(b) as f64 / b.operations as f64))
        };
        let charged = per_operation(|b| b.server_cpu_ns.expect("the CPU time is known"));
        let wall = per_operation(|b| b.wall_ns);
        let session = match kind {
            TargetKind::Postgresql => "postgresql",
            _ => "mariadb",
        };
        let noted =
            std::fs::read_to_string(project.join(format!("cost-{name}-{session}"))).unwrap();
        // The last lines are those of the turns and of the lead-ins before them. Earlier lines are
        // those of the warm-up, during which the machine may have run at a different speed.
        let lines: Vec<&str> = noted.lines().collect();
        let first = lines.len().saturating_sub(2 * batches.len());
        let clock = median(lines[first..].iter().map(|line| {
            let (operations, ns) = line.split_once(' ').expect("two numbers");
            ns.parse::<f64>().unwrap() / operations.parse::<f64>().unwrap()
        }));
        eprintln!(
            "{label}: {charged:.0} ns charged, {clock:.0} ns by its own clock, {wall:.0} ns in all"
        );
        match &name[..] {
            // The time of the server's background threads is also charged to the operation, and
            // these threads run while the operation waits for a core.
            "burn" => {
                assert!(
                    (0.75 * clock..1.25 * clock + 0.2 * wall).contains(&charged),
                    "{label}: {charged} ns charged, {clock} ns used in {wall} ns"
                );
                assert!(charged > 1e6, "{label}: {charged} ns");
            }
            "sleep" => {
                trivial.insert(kind, charged);
                assert!(
                    charged < 0.5e6 && wall > 5e6,
                    "{label}: {charged} ns of {wall} ns"
                );
            }
            // A thread of MariaDB serves multiple connections, one after the other. The PostgreSQL
            // backend had already started before it responded, and had not yet exited.
            _ => {
                let over_an_open_one = trivial[&kind];
                assert!(
                    charged > 2.0 * over_an_open_one,
                    "{label}: {charged} ns, and {over_an_open_one} ns over an open connection"
                );
                assert!(
                    kind != TargetKind::Postgresql || charged > clock,
                    "{label}: {charged} ns charged, {clock} ns used"
                );
            }
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    lab_stats::order::median(&values.collect::<Vec<_>>()).expect("some")
}

#[test]
fn limited_subjects_take_part_and_latencies_are_checked() {
    if without_servers() {
        return;
    }
    // The turns are long, because only two or more operations can be in descending order.
    let connections = "\n[[case]]\nname = \"connections\"\nwork = \"at once\"\nunit = \"row\"\n\
                       sweep.connections = [2]\ncores = \"all\"\nturn_ms = 40\n\
                       statements = { select = 1 }\nreads = 1\ntargets = [\"mariadb\"]\n";
    let variants = ["no-latencies", "wrong-sum", "descending"];
    let project = Project::servers(&[POINT, connections], &variants);
    let only_text = server_subject("only-text", "honest") + "without = [\"statement=prepared\"]\n";
    project.append(&only_text);
    let run = measure_pairs(&project, "3", &[]);
    let operations = "the indexes in `latencies=` are not ascending";
    assert_failures(
        &run,
        &[
            (
                "no-latencies on mariadb",
                "nonsense",
                "`ran` without `latencies=`",
            ),
            (
                "wrong-sum on mariadb",
                "nonsense",
                "`latencies=` contains 2 operations instead of 1",
            ),
            ("descending on mariadb", "nonsense", operations),
        ],
    );
    let plan = run.plan().expect("a plan");
    let of = |target| {
        plan.points
            .iter()
            .filter(move |p| p.target == TargetId(target))
            .count()
    };
    assert_eq!((of(0), of(1)), (2, 3), "the case is for MariaDB only");
    for block in run.complete_blocks() {
        let at_once = block
            .samples
            .iter()
            .filter(|s| plan.case(s.point).cores == Cores::All);
        let at_once: Vec<_> = at_once.collect();
        assert_eq!(at_once.len(), 3 * 2 * 3, "three subjects, three pairs");
        for sample in at_once {
            let latencies = block.latencies.iter().find(|l| {
                (l.point, l.subject, l.pass) == (sample.point, sample.subject, sample.pass)
            });
            assert_eq!(
                latencies.expect("the subject reported latencies").counts,
                [(300, sample.batch.operations)]
            );
        }
    }
}

#[test]
fn round_trips_are_counted_if_the_experiment_requests_them() {
    if without_servers() {
        return;
    }
    let conditions = "conditions = [\"round_trips\"]\nequal = ";
    let head = servers_head("honest").replace("equal = ", conditions);
    let honest = server_subject("honest", "honest");
    let project = Project::with_text(&[&head, POINT, INSERT_TX, &honest].concat());
    let run = measure(&project, &["--set", "statement=text"]);
    let plan = run.plan().expect("a plan");
    let round_trips = run
        .settings
        .iter()
        .filter(|s| s.key == Setting::ROUND_TRIPS);
    let round_trips =
        round_trips.map(|s| (plan.label(s.point.expect("a point")), s.value.as_str()));
    let round_trips: HashMap<String, &str> = round_trips.collect();
    // BEGIN, three rows, COMMIT.
    for (point, trips) in [("point statement=text", "1"), ("insert_tx rows_tx=3", "5")] {
        for target in ["postgresql", "mariadb"] {
            assert_eq!(
                round_trips[&format!("{target} {point}")],
                trips,
                "{round_trips:?}"
            );
        }
    }
}

#[test]
fn only_requested_servers_are_started() {
    if without_servers() {
        return;
    }
    let on_mariadb = INSERT.to_owned() + "targets = [\"mariadb\"]\n";
    let project = Project::servers(&[POINT, &on_mariadb], &[]);
    let started = |more: &[&str]| {
        let outcome = project.run_blocks("1", "1", &[&["--set", "statement=text"], more].concat());
        outcome.expect(0);
        ["PostgreSQL", "MariaDB"].map(|kind| outcome.stderr.contains(&format!("starting {kind}")))
    };
    assert_eq!(started(&["--targets", "postgresql"]), [true, false]);
    assert_eq!(started(&["--cases", "insert"]), [false, true]);
}

/// Measures one block with one turn, after each subject's pilot and verification.
fn measure(project: &Project, more: &[&str]) -> Run {
    measure_pairs(project, "1", more)
}

fn measure_pairs(project: &Project, pairs: &str, more: &[&str]) -> Run {
    project.run_blocks("1", pairs, more).expect(0);
    project.load()
}

// SPDX-License-Identifier: Apache-2.0
//! Calls that may fail.
//!
//! Statements and the fixture of the experiment `retry` cause faults. benchlab reads from the
//! database which calls took effect once, twice or never, regardless of what their clients report.

use crate::project::{
    Project, assert_failures, server_program, servers_head, subject, without_servers,
};
use lab_model::{Metric, PointId, Run, TargetId};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

const EFFECT: &str = "effects = \"CREATE TABLE effect (batch bigint, `call` bigint)\"\n";

/// The faults of a case on PostgreSQL: one insert in four fails.
const POSTGRESQL: &str = r#"
[target.postgresql.fault]
refused = [
    """CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF random() < 0.25 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END IF;
      RETURN NEW;
    END $$""",
    "CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW EXECUTE FUNCTION fail()",
]
"#;
const MARIADB: &str = r#"
[target.mariadb.fault]
refused = [
    """CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW
    IF rand() < 0.25 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF""",
]
"#;
/// The faults of cases on servers. One in five responses to COMMIT is lost. A connection is cut
/// every 50 ms on average, so that calls succeed even on a busy machine, where a call may take 50
/// ms.
const ON_SERVERS: &str = "cut = { cuts_per_s = 20 }\nanswer_lost = { lost_responses = 0.2 }\n";
const KILLED: &str = "killed = { outage_s = 0.3 }\n";
const CALL: &str = r#"
[[case]]
name = "call"
work = "one call"
unit = "call"
check = "effects"
turn_ms = 40
factor.fault = ["none", "refused", "cut", "answer_lost"]
"#;

fn client(name: &str) -> String {
    server_program(name, &["calls.py", name])
}

/// Returns a `[[fixture]]` of the experiment `retry` with the given states. Builds the fixture if
/// necessary.
fn fixture(states: &str) -> String {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().unwrap();
        let manifest = "experiments/retry/fixtures/rust/Cargo.toml";
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--release", "--locked"])
            .args(["--manifest-path", manifest, "--target-dir", "build/rust"])
            .current_dir(&root)
            .status();
        assert!(built.unwrap().success());
        let program = root.join("build/rust/release/faults-fixture");
        program.into_os_string().into_string().unwrap()
    });
    format!(
        "\n[[fixture]]\nname = \"faults\"\nstate = \"fault\"\nvisits = true\n\
         metrics = [\"back\", \"load_after\"]\nindependent = [{}]\nprogram = [{:?}]\n\
         [fixture.states]\n{states}",
        if states.contains("answer_lost") {
            "\"answer_lost\""
        } else {
            ""
        },
        *PROGRAM
    )
}

fn project(clients: &[&str], case: &str) -> Project {
    let head = servers_head(clients[0]);
    // Inserted into the table of each target, before its subtables.
    let head = head
        .replace(
            "[target.postgresql]\n",
            &format!("[target.postgresql]\n{}", EFFECT.replace('`', "")),
        )
        .replace("[target.mariadb]\n", &format!("[target.mariadb]\n{EFFECT}"));
    let subjects: String = clients.iter().map(|name| client(name)).collect();
    let states = if case.contains("killed") {
        KILLED
    } else {
        ON_SERVERS
    };
    let text = head + POSTGRESQL + MARIADB + case + &fixture(states) + &subjects;
    Project::with_text(&text)
}

/// A case whose server is killed during its calls.
///
/// The rate of calls is high enough that a batch lasts until its outage, even on a fast machine.
/// The turns of a quick run take a quarter of `turn_ms`.
fn killed_while_due(turn_ms: u32, rate: u32) -> String {
    let turn = format!("turn_ms = {turn_ms}\nrate = {rate}\nlatencies = true");
    let faults = r#"["none", "refused", "cut", "answer_lost"]"#;
    CALL.replace("turn_ms = 40", &turn)
        .replace(faults, r#"["none", "killed"]"#)
}

/// Replaces the line breaks of a text with spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the highest count of any batch, for a subject on a target with a fault.
fn max_count(run: &Run, subject: &str, target: TargetId, fault: &str, metric: &Metric) -> f64 {
    let plan = run.plan().unwrap();
    let readings = run.complete_blocks().flat_map(|block| &block.readings);
    let values: Vec<f64> = readings
        .filter(|r| r.metric == metric.id && plan.subjects[r.subject].name == subject)
        .filter(|r| plan.points[r.point].target == target)
        .filter(|r| plan.points[r.point].params.iter().any(|(_, v)| v == fault))
        .map(|r| r.value)
        .collect();
    assert!(!values.is_empty(), "{subject} {fault} {}", metric.id);
    values.into_iter().fold(0.0, f64::max)
}

#[test]
fn effects_of_calls_are_read_from_the_database() {
    if without_servers() {
        return;
    }
    let project = project(&["hopeless", "blind", "keyed", "liar"], CALL);
    let faults = ["--set", "fault=refused,cut,answer_lost"];
    // Even if each batch is a single call, a client makes 80 calls with each fault. The probability that no call is
    // refused is 0.75^80, and that no response is lost, 0.8^80 (2e-8). The batches take 0.8 s in total, so the
    // probability that no connection is cut is e^-16 (1e-7).
    project.run_blocks("2", "20", &faults).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let [_, lost, doubled, unreported, failed] = Metric::EFFECTS;
    // The nonzero metrics of each client with each fault.
    let expected: [(&str, &str, &[&Metric]); 9] = [
        ("hopeless", "refused", &[&failed]),
        ("hopeless", "answer_lost", &[&unreported]),
        ("blind", "refused", &[]),
        ("blind", "answer_lost", &[&doubled]),
        ("keyed", "refused", &[]),
        ("keyed", "cut", &[]),
        ("keyed", "answer_lost", &[]),
        ("liar", "refused", &[&lost]),
        ("liar", "answer_lost", &[]),
    ];
    for target in [0, 1].map(TargetId) {
        for (subject, fault, nonzero) in expected {
            for metric in &Metric::EFFECTS[1..] {
                let value = max_count(&run, subject, target, fault, metric);
                let is_nonzero = nonzero.contains(&metric);
                assert_eq!(
                    value > 0.0,
                    is_nonzero,
                    "{subject} on target {target} with {fault}: {} {value}",
                    metric.id
                );
            }
        }
    }
    for target in [0, 1].map(TargetId) {
        let of = |metric| max_count(&run, "hopeless", target, "cut", metric);
        // A COMMIT whose connection is cut may have been executed.
        assert!(of(&failed) + of(&unreported) > 0.0);
    }
    let report = project.call(&["report", project.file().to_str().unwrap()]);
    let words = words(&report.stdout);
    for text in [
        "PostgreSQL and MariaDB: keyed made no wrong calls",
        "Calls lost: liar (",
        "Calls applied twice: blind (",
        "Calls applied but reported as failed: hopeless (",
        "Calls given up: hopeless (",
    ] {
        assert!(words.contains(text), "{words}");
    }
    // The run may not determine which client is fastest.
    let fastest = words.split_once("that have no wrong calls and never give up:");
    if let Some((fastest, _)) = fastest.and_then(|(_, after)| after.split_once('.')) {
        let mut clauses = fastest.split(';');
        let of_lost = clauses.find(|clause| clause.contains("answer_lost"));
        assert!(!of_lost.unwrap().contains("blind"), "{fastest}");
        assert!(!fastest.contains("hopeless"), "{fastest}");
    }
}

#[test]
fn a_killed_server_restarts_with_all_committed_calls() {
    if without_servers() {
        return;
    }
    // There are few enough calls to finish in time on a busy machine, where one may take 0.1 s.
    // Enough calls remain after the server is back, because they are due later or because each
    // is slow.
    let project = project(&["hopeless", "keyed"], &killed_while_due(12_000, 60));
    let fault = ["--set", "fault=killed"];
    project.run_blocks("1", "1", &fault).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let [_, lost, doubled, unreported, failed] = Metric::EFFECTS;
    for target in [0, 1].map(TargetId) {
        let of = |subject, metric| max_count(&run, subject, target, "killed", metric);
        for metric in [&lost, &doubled] {
            assert_eq!(of("hopeless", metric), 0.0);
        }
        assert!(of("hopeless", &failed) > 0.0);
        for metric in [&lost, &doubled, &unreported, &failed] {
            assert_eq!(of("keyed", metric), 0.0, "{}", metric.id);
        }
        // The client does not wait and keeps the server busy while it recovers.
        for metric in &Metric::OUTAGE {
            assert!(of("keyed", metric) > 0.0, "{}", metric.id);
        }
    }
}

/// A client that does not retry still makes the calls that are due after the server's restart.
#[test]
fn due_calls_continue_after_an_outage() {
    if without_servers() {
        return;
    }
    // There are few enough calls to finish in time on a busy machine, where one may take 0.2 s.
    let project = project(&["hopeless"], &killed_while_due(16_000, 30));
    let only = ["--targets", "postgresql", "--set", "fault=killed"];
    project.run_blocks("1", "1", &only).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let of = |metric: &Metric| max_count(&run, "hopeless", TargetId(0), "killed", metric);
    for metric in &Metric::OUTAGE {
        assert!(of(metric) > 0.0, "{}", metric.id);
    }
    let [calls, lost, doubled, _, failed] = &Metric::EFFECTS;
    let due = run.plan().unwrap().fixed_operations(PointId(0)).unwrap();
    assert_eq!(of(calls), (due + due / 10) as f64);
    assert_eq!((of(lost), of(doubled)), (0.0, 0.0));
    assert!(of(failed) > 0.0);
}

/// The subject that starts first kills the server during a block. When the block is repeated, the
/// other subject still has its schema.
#[test]
fn subjects_of_a_redone_block_have_separate_effect_tables() {
    if without_servers() {
        return;
    }
    let project = project(&["deadly"], CALL);
    project.append(&server_program("second", &["calls.py", "deadly"]));
    let only = ["--targets", "mariadb", "--set", "fault=none"];
    let outcome = project.run_blocks("1", "2", &only);
    outcome
        .expect(0)
        .says(&["the server was restarted, and the block is repeated"]);
    let run = project.load();
    assert_failures(&run, &[]);
    for subject in ["deadly", "second"] {
        assert!(sum(&run, subject, &Metric::CALLS) > 0.0);
        for metric in &Metric::EFFECTS[1..] {
            assert_eq!(sum(&run, subject, metric), 0.0, "{subject}: {}", metric.id);
        }
    }
}

#[test]
fn unrequested_calls_and_unreported_failures_are_faults() {
    if without_servers() {
        return;
    }
    let project = project(&["hopeless", "keyed", "stray", "secretive"], CALL);
    project
        .run_blocks("1", "1", &["--set", "fault=none"])
        .expect(0);
    assert_failures(
        &project.load(),
        &[
            (
                "stray on postgresql",
                "writes",
                "`effect` contains call 1000000",
            ),
            ("secretive on postgresql", "nonsense", "without `failed=`"),
            (
                "stray on mariadb",
                "writes",
                "`effect` contains call 1000000",
            ),
            ("secretive on mariadb", "nonsense", "without `failed=`"),
        ],
    );
}

const FILE: &str = r#"[experiment]
title = "T"
question = "?"
targets = ["sqlite"]
baseline = "careless"

[target.sqlite]
rows = 1
table = "CREATE TABLE test_simple (id integer PRIMARY KEY, value integer)"
effects = "CREATE TABLE effect (batch integer, call integer)"

[[case]]
name = "call"
work = "one call"
unit = "call"
check = "effects"
turn_ms = 5
"#;

/// Returns the sum of a counter over all batches.
fn sum(run: &Run, subject: &str, metric: &Metric) -> f64 {
    let plan = run.plan().unwrap();
    let readings = run.complete_blocks().flat_map(|block| &block.readings);
    let of = readings
        .filter(|r| r.metric == metric.id && plan.subjects[r.subject].name == subject)
        .map(|r| r.value);
    of.sum()
}

#[test]
fn effects_of_calls_are_read_from_a_file() {
    let names = ["careless", "hesitant", "timid", "stray"];
    let programs = names.map(|name| subject(name, &["careless.py", name]));
    let project = Project::with_text(&(FILE.to_owned() + &programs.concat()));
    project.run_blocks("2", "2", &[]).expect(0);
    let run = project.load();
    assert_failures(
        &run,
        &[(
            "stray",
            "writes",
            "`effect` contains call 18446744073709551615",
        )],
    );
    let [calls, lost, doubled, unreported, failed] = Metric::EFFECTS;
    for (subject, even, odd, others) in [
        ("careless", &lost, &doubled, [&unreported, &failed]),
        ("hesitant", &lost, &doubled, [&unreported, &failed]),
        ("timid", &unreported, &failed, [&lost, &doubled]),
    ] {
        let (even, odd) = (sum(&run, subject, even), sum(&run, subject, odd));
        assert!(odd > 0.0 && odd <= even, "{subject}: {odd} of {even}");
        assert_eq!(even + odd, sum(&run, subject, &calls), "{subject}");
        assert_eq!(others.map(|other| sum(&run, subject, other)), [0.0; 2]);
    }
}

#[test]
fn a_single_subject_has_no_ranking() {
    let text = FILE.to_owned() + &subject("careless", &["careless.py", "careless"]);
    let outcome = Project::with_text(&text).run_blocks("1", "1", &[]);
    outcome.expect(0).shows(&["Calls lost: careless ("]);
    assert!(!outcome.stdout.contains("Fastest"), "{}", outcome.stdout);
}

/// Returns the highest count of any batch of a subject, at the points with a fault.
fn max_count_with_fault(run: &Run, subject: &str, fault: &str, metric: &Metric) -> f64 {
    max_count(run, subject, TargetId(0), fault, metric)
}

#[test]
fn a_file_is_locked_while_calls_are_made() {
    let states = "busy = { busy_fraction = 0.5, lock_s = 0.06 }\ndown = { outage_s = 0.1 }\n";
    let text = FILE.replace("\"careless\"", "\"impatient\"").replace(
        "turn_ms = 5",
        "turn_ms = 40\nfactor.fault = [\"none\", \"busy\", \"down\"]",
    );
    let programs = ["impatient", "patient"].map(|name| subject(name, &["waiting.py", name]));
    let project = Project::with_text(&(text + &fixture(states) + &programs.concat()));
    let outcome = project.run_blocks("1", "8", &[]);
    let screen = words(&outcome.expect(0).stdout);
    let run = project.load();
    assert_failures(&run, &[]);
    let survived = "Longest outage after which no call is wrong or given up: 100 ms with patient; \
                    below 100 ms with impatient.";
    assert!(screen.contains(survived), "{screen}");
    let [_, lost, doubled, unreported, failed] = Metric::EFFECTS;
    for fault in ["none", "busy", "down"] {
        for subject in ["impatient", "patient"] {
            for metric in [&lost, &doubled, &unreported] {
                assert_eq!(
                    max_count_with_fault(&run, subject, fault, metric),
                    0.0,
                    "{subject} {fault}"
                );
            }
            let gives_up = subject == "impatient" && fault != "none";
            assert_eq!(
                max_count_with_fault(&run, subject, fault, &failed) > 0.0,
                gives_up,
                "{subject} {fault}"
            );
        }
    }
    assert!(max_count_with_fault(&run, "patient", "down", &Metric::OUTAGE[0]) > 0.0);
}

#[test]
fn faults_that_cannot_be_caused_are_reported_before_the_run() {
    let head = "[experiment]\ntitle = \"T\"\nquestion = \"?\"\ntargets = [\"postgresql\"]\n\
                baseline = \"hopeless\"\n\n[target.postgresql]\nrows = 1\ntable = \"x\"\nsettings = \"x\"\n";
    let case = "\n[[case]]\nname = \"call\"\nwork = \"w\"\nunit = \"call\"\ncheck = \"effects\"\n";
    let effects = "effects = \"CREATE TABLE effect (batch bigint, call bigint)\"\n";
    let faults = "factor.fault = [\"none\", \"cut\"]\nsweep.clients = [1, 2]\n";
    let state = |cut: &str| {
        let fixture = fixture(&format!("cut = {{ {cut} }}\n"));
        format!("{head}{effects}{case}{faults}{fixture}")
    };
    for (text, message) in [
        (
            format!("{head}{case}"),
            "needs `effects` in [target.postgresql]",
        ),
        (
            format!("{head}{effects}fault.cot = [\"x\"]\n{case}{faults}"),
            "neither a target nor a fixture has the fault `cut`",
        ),
        (
            state("cuts_per_s = 2").replace("independent = []", "independent = [\"cot\"]"),
            "there is no state `cot`",
        ),
        (state("clients = 2"), "`clients` is already a parameter"),
        (
            state("times = [\"sqlite\"]"),
            "only `targets` may be a list",
        ),
        (state("targets = 2"), "`targets` is reserved"),
    ] {
        let project = Project::with_text(&(text + &client("hopeless")));
        project.run(&[]).expect(2).says(&[message]);
    }
    let on_a_file = FILE.to_owned() + faults + &fixture("cut = { cuts_per_s = 0 }\n");
    let careless = subject("careless", &["careless.py", "careless"]);
    let project = Project::with_text(&(on_a_file + &careless));
    let message = "fixture `faults`: usage: cuts_per_s is not a number above 0 and at most 1000";
    project.run(&[]).expect(1).says(&[message]);
}

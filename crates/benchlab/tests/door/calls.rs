// SPDX-License-Identifier: Apache-2.0
//! Calls that may fail: the lab makes the faults, and reads in the database which calls are there once, not at
//! all, or twice, whatever their clients say.

use crate::project::{Project, assert_failures, server_program, servers_head, without_servers};
use lab_model::{Metric, Run};

const EFFECT: &str = "effects = \"CREATE TABLE effect (batch bigint, `call` bigint)\"\n";

/// One insert in four fails; one answer to COMMIT in five is lost; a connection is cut every 25 ms.
const POSTGRESQL: &str = r#"
[target.postgresql.injection]
refused = { statements = [
    """CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF random() < 0.25 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END IF;
      RETURN NEW;
    END $$""",
    "CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW EXECUTE FUNCTION fail()",
] }
cut = { cuts_per_s = 40 }
answer_lost = { lost_answers = 0.2 }
"#;
const MARIADB: &str = r#"
[target.mariadb.injection]
refused = { statements = [
    """CREATE TRIGGER fail BEFORE INSERT ON effect FOR EACH ROW
    IF rand() < 0.25 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF""",
] }
cut = { cuts_per_s = 40 }
answer_lost = { lost_answers = 0.2 }
"#;
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

fn project(clients: &[&str]) -> Project {
    let head = servers_head(clients[0]);
    // In the table of each target, before its subtables.
    let head = head
        .replace(
            "[target.postgresql]\n",
            &format!("[target.postgresql]\n{}", EFFECT.replace('`', "")),
        )
        .replace("[target.mariadb]\n", &format!("[target.mariadb]\n{EFFECT}"));
    let subjects: String = clients.iter().map(|name| client(name)).collect();
    Project::with_text(&(head + POSTGRESQL + MARIADB + CALL + &subjects))
}

/// The most that a batch counted: of a subject, on a target, with a fault.
fn greatest(run: &Run, subject: &str, target: usize, fault: &str, metric: &Metric) -> f64 {
    let plan = run.plan.as_ref().unwrap();
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
fn what_became_of_calls_is_read_in_the_database() {
    if without_servers() {
        return;
    }
    let project = project(&["hopeless", "blind", "keyed", "liar"]);
    let faults = ["--set", "fault=refused,cut,answer_lost"];
    project.run_blocks("2", "4", &faults).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    let [_, lost, doubled, unreported, failed] = Metric::EFFECTS;
    // What is seen of each client with each fault. All else is 0.
    let seen: [(&str, &str, &[&Metric]); 10] = [
        ("hopeless", "refused", &[&failed]),
        ("hopeless", "cut", &[&failed]),
        ("hopeless", "answer_lost", &[&unreported]),
        ("blind", "refused", &[]),
        ("blind", "answer_lost", &[&doubled]),
        ("keyed", "refused", &[]),
        ("keyed", "cut", &[]),
        ("keyed", "answer_lost", &[]),
        ("liar", "refused", &[&lost]),
        ("liar", "answer_lost", &[]),
    ];
    for target in 0..2 {
        for (subject, fault, wanted) in seen {
            for metric in &Metric::EFFECTS[1..] {
                let value = greatest(&run, subject, target, fault, metric);
                let is_wanted = wanted.contains(&metric);
                // A COMMIT that is cut may have been done.
                if fault == "cut" && subject == "hopeless" && *metric == unreported {
                    continue;
                }
                assert_eq!(
                    value > 0.0,
                    is_wanted,
                    "{subject} on target {target} with {fault}: {} {value}",
                    metric.id
                );
            }
        }
    }
    let said = project.call(&["report", project.file().to_str().unwrap()]);
    let words = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "PostgreSQL and MariaDB: keyed makes every call exactly once",
        "Calls lost: liar. Calls applied twice: blind. Calls applied but reported as failed: hopeless.",
        "answer_lost keyed",
    ] {
        assert!(words.contains(text), "{words}");
    }
}

#[test]
fn calls_that_were_not_asked_for_and_failures_that_are_not_told_are_faults() {
    if without_servers() {
        return;
    }
    let project = project(&["hopeless", "keyed", "stray", "secretive"]);
    project
        .run_blocks("1", "1", &["--set", "fault=none"])
        .expect(0);
    assert_failures(
        &project.load(),
        &[
            (
                "stray on postgresql",
                "writes",
                "`effect` holds call 1000000",
            ),
            ("secretive on postgresql", "nonsense", "without `failed=`"),
            ("stray on mariadb", "writes", "`effect` holds call 1000000"),
            ("secretive on mariadb", "nonsense", "without `failed=`"),
        ],
    );
}

#[test]
fn faults_that_nobody_can_make_are_said_before_anything_runs() {
    let head = "[experiment]\ntitle = \"T\"\nquestion = \"?\"\ntargets = [\"postgresql\"]\n\
                baseline = \"hopeless\"\n\n[target.postgresql]\nrows = 1\ntable = \"x\"\nsettings = \"x\"\n";
    let case = "\n[[case]]\nname = \"call\"\nwork = \"w\"\nunit = \"call\"\ncheck = \"effects\"\n";
    let effects = "effects = \"CREATE TABLE effect (batch bigint, call bigint)\"\n";
    let injection = "\n[target.postgresql.injection]\n";
    for (text, said) in [
        (
            format!("{head}{case}"),
            "needs a server with `effects` in [target.postgresql]",
        ),
        (
            format!(
                "{head}{effects}{injection}cut = {{ cuts_per_s = 2 }}\n{case}factor.fault = [\"none\", \"cot\"]\n"
            ),
            "no target has an `injection.cot`",
        ),
        (
            format!("{head}{effects}{injection}cut = {{ cuts_per_s = 0 }}\n{case}"),
            "`cuts_per_s` is above 0",
        ),
        (
            format!("{head}{effects}{injection}gone = {{ lost_answers = 1.5 }}\n{case}"),
            "`lost_answers` is a part",
        ),
        (
            format!("{head}{effects}{injection}gone = {{ answers = 1 }}\n{case}"),
            "lost_answers",
        ),
    ] {
        let project = Project::with_text(&(text + &client("hopeless")));
        project.run(&[]).expect(2).says(&[said]);
    }
}

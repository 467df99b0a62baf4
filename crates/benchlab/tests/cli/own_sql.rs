// SPDX-License-Identifier: Apache-2.0
//! `run --workload`: the user's own SQL runs on every database, its results are checked, and its
//! query plans are stored.

use crate::project::{
    Outcome, Project, SELECT, assert_failures, drivers, rows, servers_head, subjects_folder,
    without_servers,
};
use lab_model::{PointId, Run};
use std::fs;
use std::path::PathBuf;

const SHOP: &str = r#"
title = "A shop"
schema = """
CREATE TABLE customer (id integer PRIMARY KEY, name varchar(100));
CREATE TABLE orders (id integer PRIMARY KEY, customer integer, price decimal(10,2), note varchar(20),
                     changed timestamp DEFAULT CURRENT_TIMESTAMP);
"""

[[table]]
name = "customer"
rows = 20
columns = { id = "1..", name = "text 5..20" }

[[table]]
name = "orders"
rows = 300
columns = { id = "1..", customer = "customer.id", price = "0.50..9.99" }

[[case]]
name = "orders"
sql = """
SELECT o.price, c.name, o.note
FROM customer c JOIN orders o ON o.customer = c.id
WHERE o.customer = :customer AND o.price >= :least ORDER BY o.id"""
parameters = { customer = "customer.id", least = "0.50..5.00" }

[[case]]
name = "pay"
sql = """
BEGIN;
UPDATE orders SET note = :note WHERE id = :order;
SELECT count(*) FROM orders WHERE note = :note;
COMMIT"""
parameters = { note = "paid | it's sent", order = "orders.id" }
"#;

/// Creates a project with a workload and the given variants of sql.py.
fn shop(text: &str, variants: &[&str]) -> Project {
    let project = Project::sql(&[SELECT], variants);
    let file = project.join("experiments/t/experiment.toml");
    let experiment = fs::read_to_string(&file).unwrap();
    let experiment = experiment.replace("\nbaseline", "\nworkloads = true\nbaseline");
    fs::write(file, experiment).unwrap();
    fs::write(project.join("shop.toml"), text).unwrap();
    project
}

fn workload(project: &Project) -> String {
    path(project, "shop.toml")
}

fn path(project: &Project, name: &str) -> String {
    project.join(name).to_str().expect("UTF-8").to_owned()
}

fn run(project: &Project, more: &[&str]) -> Outcome {
    let file = workload(project);
    project.run(&[&["--workload", &file], more].concat())
}

/// Returns the output of EXPLAIN for the first statement of a point.
fn explanation(run: &Run, label: &str) -> String {
    let plan = run.plan().expect("a plan");
    let point: Option<PointId> = plan.points.ids().find(|&point| plan.label(point) == label);
    let point = point.unwrap_or_else(|| panic!("no point {label}"));
    plan.points[point]
        .sql
        .as_ref()
        .expect("a workload")
        .statements[0]
        .explanation
        .join("\n")
}

#[test]
fn a_workload_is_measured_and_its_plans_are_stored() {
    let project = shop(SHOP, &["own-wrong-check", "own-elsewhere"]);
    run(&project, &["--dry-run"])
        .expect(0)
        .shows(&["/<time>-t-shop.lab"]);
    run(&project, &[]).expect(0);
    let file = project.file();
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with("-t-shop.lab"), "{name}");
    let measured = project.load();
    let plan = measured.plan().unwrap();
    let planned = plan.workload.as_ref().expect("a workload");
    assert_eq!((planned.name.as_str(), planned.sha256.len()), ("shop", 64));
    assert_eq!(plan.title, "A shop on SQLite");
    assert!(
        explanation(&measured, "orders").contains("SCAN o"),
        "{}",
        explanation(&measured, "orders")
    );
    assert_eq!(
        explanation(&measured, "pay"),
        "SEARCH orders USING INTEGER PRIMARY KEY (rowid=?)"
    );
    assert_failures(
        &measured,
        &[
            ("own-wrong-check", "check", "the other subjects have"),
            (
                "own-elsewhere",
                "writes",
                "the table's values differ from those of the other subjects",
            ),
        ],
    );
    // The run file does not contain the values themselves.
    let stored = rows(&file, "SELECT value FROM meta WHERE key = 'plan'");
    assert!(stored.len() == 1 && !stored[0].contains("inputs"));
    let report = project.call(&["report", file.to_str().unwrap(), "--full"]);
    report.expect(0).shows(&[
        "Statements and their plans",
        ":customer from customer.id",
        "SCAN o",
        "One transaction",
    ]);
    let history = project.call(&["history", "t-shop", "--runs", &path(&project, "runs")]);
    history.expect(0).shows(&["second"]);
}

#[test]
fn an_index_is_a_variant_that_is_compared() {
    let project = shop(SHOP, &[]);
    let index = "CREATE INDEX by_customer ON orders (customer)";
    run(&project, &["--variant", index, "--cases", "orders"]).expect(0);
    let measured = project.load();
    assert!(explanation(&measured, "orders variant=none").contains("SCAN o"));
    let with_index = explanation(&measured, "orders variant=by_customer");
    assert!(with_index.contains("by_customer"), "{with_index}");
    let report = project.call(&["report", project.file().to_str().unwrap(), "--full"]);
    report.expect(0).shows(&["variant=by_customer"]);
}

#[test]
fn a_changed_plan_is_named() {
    let project = shop(SHOP, &[]);
    run(&project, &["--cases", "orders"]).expect(0);
    let first = project.file();
    let indexed = SHOP.replacen(
        "\"\"\"\n\n[[table]]",
        "CREATE INDEX by_customer ON orders (customer);\n\"\"\"\n\n[[table]]",
        1,
    );
    assert_ne!(indexed, SHOP);
    fs::write(workload(&project), indexed).unwrap();
    run(&project, &["--cases", "orders"]).expect(0);
    let second = project
        .files()
        .into_iter()
        .find(|file| *file != first)
        .expect("a second run");
    let files = [&first, &second].map(|file: &PathBuf| file.to_str().unwrap());
    let diff = project.call(&["diff", files[0], files[1]]);
    diff.expect(0)
        .shows(&["The database uses different query plans (plan of orders)"]);
    let diff = project.call(&["diff", files[0], files[1], "--full"]);
    diff.expect(0).shows(&["by_customer", "workload (SHA-256)"]);
}

#[test]
fn a_sql_file_is_a_workload_too() {
    let project = shop("", &[]);
    let text = "CREATE TABLE t (id integer PRIMARY KEY, a);\nINSERT INTO t VALUES (1, 1.5), (2, -2.5);\n\
                -- case: one\n-- id: 1..2\nSELECT a, x'00ff', NULL FROM t WHERE id = :id;\n\
                -- case: more\nINSERT INTO t (a) VALUES (1.0) RETURNING id;\n";
    fs::write(project.join("q.sql"), text).unwrap();
    project
        .run(&["--workload", &path(&project, "q.sql")])
        .expect(0);
    let measured = project.load();
    assert_failures(&measured, &[]);
    assert_eq!(measured.plan().unwrap().title, "q on SQLite");
}

#[test]
fn errors_show_the_statement() {
    let project = shop(SHOP, &[]);
    let wrong = |from: &str, to: &str, texts: &[&str]| {
        assert!(SHOP.contains(from), "{from}");
        fs::write(workload(&project), SHOP.replacen(from, to, 1)).unwrap();
        run(&project, &[]).expect(2).says(texts);
    };
    wrong(
        "SELECT o.price",
        "SELECT o.prize",
        &[
            "case `orders` on SQLite: no such column: o.prize",
            "SELECT o.prize, c.name",
        ],
    );
    wrong(
        "FROM customer c JOIN",
        "FROM clients c JOIN",
        &["no such table: clients"],
    );
    wrong(
        "price decimal(10,2),",
        "price decimal(10,2",
        &["shop.toml:5: SQLite: near"],
    );
    wrong(
        "price = \"0.50..9.99\"",
        "prize = \"0.50..9.99\"",
        &["shop.toml:15: SQLite: table orders has no column named prize"],
    );
    wrong(
        "customer = \"customer.id\", least",
        "customer = \"client.id\", least",
        &["the values of `:customer` from client.id: no such table"],
    );
    wrong(
        "o.price, c.name",
        "CASE WHEN o.id % 2 THEN 1 ELSE 'x' END, c.name",
        &["values of type", "CAST it to one type"],
    );
    wrong(
        ":customer AND",
        ":custmer AND",
        &[
            "shop.toml:24:20:",
            "`:custmer` has no values",
            "did you mean `customer`?",
        ],
    );
    wrong("name = \"pay\"", "nam = \"pay\"", &["unknown key `nam`"]);
    assert!(project.files().is_empty(), "nothing was measured");
    fs::write(workload(&project), SHOP).unwrap();
    run(&project, &["--variant", "CREATE INDEX x ON clients (a)"])
        .expect(2)
        .says(&["--variant x", "no such table"]);
    project
        .run(&["--variant", "ANALYZE"])
        .expect(2)
        .says(&["--workload"]);
    project
        .run(&["--workload", "/no/such.toml"])
        .expect(2)
        .says(&["cannot read /no/such.toml"]);
    let other = Project::sql(&[SELECT], &[]);
    let file = workload(&project);
    other
        .run(&["--workload", &file])
        .expect(2)
        .says(&["do not run SQL of your own"]);
}

#[test]
fn a_run_is_resumed_only_with_the_same_workload() {
    let project = shop(SHOP, &[]);
    let file = workload(&project);
    let words = [
        "run",
        "t",
        "--quick",
        "--no-control",
        "--seed",
        "7",
        "--workload",
        &file,
        "--budget",
        "1ms",
    ];
    project.call(&words).expect(0);
    let path = project.file();
    let path = path.to_str().unwrap();
    fs::write(&file, SHOP.replace("rows = 300", "rows = 301")).unwrap();
    let resumed = project.call(&["resume", path, "--budget", "2s"]);
    resumed.expect(2).says(&["changed since the run started"]);
    fs::write(&file, SHOP).unwrap();
    project.call(&["resume", path, "--budget", "2s"]).expect(0);
    assert!(project.load().failures.is_empty());
}

#[test]
fn servers_run_the_workload() {
    if without_servers() {
        return;
    }
    let program = |target: &str| {
        let script = subjects_folder().join("own_sql.py");
        format!(
            "[subject.{target}]\nplaceholder = \"%s\"\nprogram = [{:?}, \"-B\", {script:?}, {target:?}]\n",
            drivers()
        )
    };
    let head = servers_head("own").replace("\nbaseline", "\nworkloads = true\nbaseline");
    let subject = format!(
        "{head}{SELECT}\n[[subject]]\nname = \"own\"\nlanguage = \"Python\"\ndriver = \"none\"\n{}{}",
        program("postgresql"),
        program("mariadb")
    );
    let project = Project::with_text(&subject);
    fs::write(project.join("shop.toml"), SHOP).unwrap();
    let index = "CREATE INDEX by_customer ON orders (customer)";
    run(&project, &["--variant", index]).expect(0);
    let measured = project.load();
    assert_failures(&measured, &[]);
    let indexed =
        |target: &str| explanation(&measured, &format!("{target} orders variant=by_customer"));
    assert!(
        indexed("mariadb").contains("key by_customer"),
        "{}",
        indexed("mariadb")
    );
    assert!(
        indexed("postgresql").contains("orders"),
        "{}",
        indexed("postgresql")
    );
    // A query plan does not contain the bound values, which depend on the seed.
    let unindexed = explanation(&measured, "postgresql orders variant=none");
    assert!(unindexed.contains("(customer = ?)"), "{unindexed}");
    let wrong = |from: &str, to: &str, target: &str, texts: &[&str]| {
        assert!(SHOP.contains(from), "{from}");
        fs::write(workload(&project), SHOP.replacen(from, to, 1)).unwrap();
        run(&project, &["--targets", target]).expect(2).says(texts);
    };
    wrong(
        "SELECT o.price",
        "SELECT o.prize",
        "postgresql",
        &["case `orders` on PostgreSQL", "prize", "SELECT o.prize"],
    );
    wrong(
        "SELECT o.price",
        "SELECT o.prize",
        "mariadb",
        &["case `orders` on MariaDB", "prize", "SELECT o.prize"],
    );
    wrong(
        "price decimal(10,2),",
        "price decimal(10,2",
        "postgresql",
        &["shop.toml:5: PostgreSQL", "syntax error"],
    );
    wrong(
        "SELECT o.price",
        "SELECT ARRAY[1] AS tags",
        "postgresql",
        &["column `tags` has the type _int4", "CAST it"],
    );
}

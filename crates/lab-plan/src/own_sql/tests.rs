// SPDX-License-Identifier: Apache-2.0

use super::*;
use crate::own_sql::inputs::inputs;
use crate::own_sql::reading::{MAX_STATEMENTS, MAX_TEXT};
use lab_model::SqlWork;

const SHOP: &str = r#"
title = "A shop"
schema = """
CREATE TABLE customer (id integer PRIMARY KEY, name text);
CREATE TABLE orders (id integer PRIMARY KEY, customer integer, price real);
"""

[[table]]
name = "customer"
rows = 3
columns = { id = "1..", name = "text 2..4" }

[[table]]
name = "orders"
rows = 600
columns = { customer = "customer.id", price = "0.50..9.99" }

[[case]]
name = "orders"
sql = "SELECT price FROM orders WHERE customer = :customer AND price > :least AND customer >= :customer"
parameters = { customer = "customer.id", least = "0.50..2.00" }

[[case]]
name = "buy"
sql = { sqlite = "BEGIN; INSERT INTO orders (customer) VALUES (:c); UPDATE customer SET name = 'x' WHERE id = :c; COMMIT" }
parameters = { c = "1..3" }
"#;

fn no_files(_: &Path, _: u64) -> std::io::Result<Vec<u8>> {
    Err(std::io::Error::other("there are no files"))
}

fn parse(name: &str, text: &str) -> Result<Workload, PlanError> {
    Workload::parse(Path::new(name), text.as_bytes(), &[], &no_files)
}

fn message(name: &str, text: &str) -> String {
    parse(name, text)
        .expect_err("the file is wrong")
        .to_string()
}

fn on_sqlite<'w>(workload: &'w Workload, case: &str) -> &'w SqlWork {
    let case = workload.cases.iter().find(|c| c.name == case).unwrap();
    case.work.find(TargetKind::Sqlite).unwrap()
}

#[test]
fn a_workload_is_parsed() {
    let shop = parse("shop.toml", SHOP).unwrap();
    assert_eq!(
        (shop.title.as_str(), shop.model.name.as_str()),
        ("A shop", "shop")
    );
    let orders = on_sqlite(&shop, "orders");
    assert!(!orders.transaction && !orders.writes());
    assert_eq!(orders.statements[0].uses, [0, 1, 0]);
    assert_eq!(orders.parameters.len(), 2);
    let buy = on_sqlite(&shop, "buy");
    assert!(buy.transaction && buy.writes());
    let words: Vec<String> = buy.statements.iter().map(|s| s.first_word()).collect();
    assert_eq!(words, ["insert", "update"]);
    assert!(shop.cases[1].work.find(TargetKind::Mariadb).is_none());
    let setup = shop.setup(TargetKind::Sqlite, 7);
    assert_eq!(setup.statements[0].origin, "shop.toml:4");
    let inserts: Vec<&str> = setup.statements[2..]
        .iter()
        .map(|s| s.text.as_str())
        .collect();
    assert_eq!(inserts.len(), 1 + 2);
    assert!(
        inserts[0].starts_with("INSERT INTO customer (id, name) VALUES (1,'"),
        "{}",
        inserts[0]
    );
    assert!(inserts[1].starts_with("INSERT INTO orders (customer, price) VALUES ("));
    assert_eq!(
        setup.statements.len(),
        shop.setup(TargetKind::Sqlite, 7).statements.len()
    );
    assert_eq!(setup, shop.setup(TargetKind::Sqlite, 7));
    assert_ne!(setup, shop.setup(TargetKind::Sqlite, 8));
}

#[test]
fn values_to_bind_come_from_the_seed() {
    let shop = parse("shop.toml", SHOP).unwrap();
    let orders = on_sqlite(&shop, "orders");
    let columns = BTreeMap::from([(
        "customer.id".to_owned(),
        vec!["1".to_owned(), "2".into(), "3".into()],
    )]);
    let rows = inputs(orders, &columns, 7).unwrap();
    assert_eq!(rows.len(), 4096);
    assert!(rows.iter().all(|row| row.len() == 3 && row[0] == row[2]));
    assert!(
        ["1", "2", "3"]
            .iter()
            .all(|id| rows.iter().any(|row| row[0] == *id))
    );
    assert_eq!(rows, inputs(orders, &columns, 7).unwrap());
    assert!(
        inputs(orders, &BTreeMap::new(), 7)
            .unwrap_err()
            .contains("customer.id")
    );
}

#[test]
fn a_sql_file_is_a_workload() {
    let text = "CREATE TABLE t (a integer);\nINSERT INTO t VALUES (1);\n\n-- case: one\n-- a comment: of any kind\n\
                -- a: 1..9\nSELECT a FROM t WHERE a = :a;\n\n-- case: two\nBEGIN;\nDELETE FROM t;\nCOMMIT;\n";
    let workload = parse("/x/t.sql", text).unwrap();
    assert_eq!(workload.setup(TargetKind::Mariadb, 1).statements.len(), 2);
    let one = on_sqlite(&workload, "one");
    assert_eq!(one.parameters[0].source, "1..9");
    assert!(on_sqlite(&workload, "two").transaction);
    let wrong = message("t.sql", &text.replace("= :a", "= :b"));
    assert!(wrong.contains("t.sql:7:27: `:b` has no values"), "{wrong}");
    let wrong = message("t.sql", &text.replace("1..9", "9..1"));
    assert!(wrong.contains("t.sql:6:"), "{wrong}");
}

#[test]
fn errors_name_the_line() {
    let wrong = |from: &str, to: &str, line: usize, expected: &str| {
        assert!(SHOP.contains(from), "{from}");
        let message = message("shop.toml", &SHOP.replacen(from, to, 1));
        assert!(
            message.starts_with(&format!("shop.toml:{line}")) && message.contains(expected),
            "{message}"
        );
    };
    wrong("text 2..4", "txt", 11, "is not a source of values");
    wrong(
        "WHERE customer = :customer",
        "WHERE customer = :custmer",
        20,
        "did you mean `customer`?",
    );
    wrong(
        "SELECT price FROM",
        "VACUUM price FROM",
        20,
        "found `vacuum`",
    );
    wrong("WHERE customer", "WHERE 'customer", 20, "is not closed");
    wrong(
        "name = \"buy\"",
        "name = \"orders\"",
        24,
        "two cases are named",
    );
    wrong(
        "name = \"buy\"",
        "name = \"Buy!\"",
        24,
        "invalid name `Buy!`",
    );
    wrong("; COMMIT", "", 25, "BEGIN and end with COMMIT");
    wrong(
        "rows = 600",
        "rows = 2000000",
        14,
        "at most 1000000 generated rows",
    );
    wrong(
        "\"customer.id\", price",
        "\"product.id\", price",
        14,
        "no earlier [[table]] fills",
    );
    wrong(
        "c = \"1..3\"",
        "c = \"1..3\", d = \"1..2\"",
        26,
        "no statement of `buy` uses `:d`",
    );
    wrong("rows = 3", "csv = \"x.csv\"", 9, "either `csv`");
    wrong(
        "[[table]]\nname = \"customer\"",
        "[[tabel]]\nname = \"customer\"",
        8,
        "did you mean",
    );
}

#[test]
fn hostile_files_are_rejected() {
    assert!(message("x.toml", "").contains("at least one case"));
    assert!(message("x.sql", "SELECT 1").contains("at least one case"));
    assert!(Workload::parse(Path::new("x.sql"), b"SELECT \xff", &[], &no_files).is_err());
    let many: String = (0..=MAX_CASES)
        .map(|n| format!("-- case: c{n}\nSELECT 1;\n"))
        .collect();
    assert!(message("x.sql", &many).contains("at most 100 cases"));
    let long = format!("-- case: a\nSELECT '{}'", "x".repeat(MAX_TEXT));
    assert!(message("x.sql", &long).contains("bytes of SQL"));
    let many = format!("-- case: a\n{}", "SELECT 1;".repeat(MAX_STATEMENTS + 1));
    assert!(message("x.sql", &many).contains("at most 20 statements"));
    assert!(message("x.sql", "-- case: a\nSELECT 1\0;").contains("NUL"));
    assert!(
        message("x.sql", "-- case: a\n-- v: a\u{7}|b\nSELECT :v").contains("control characters")
    );
}

#[test]
fn csv_files_are_relative_to_the_workload() {
    let text =
        "[[table]]\nname = \"t\"\ncsv = \"t.csv\"\n[[case]]\nname = \"a\"\nsql = \"SELECT 1\"\n";
    let read = |path: &Path, _: u64| {
        assert_eq!(path, Path::new("/w/t.csv"));
        Ok(b"a,b\n1,it's\\\n2,\n".to_vec())
    };
    let workload = Workload::parse(Path::new("/w/x.toml"), text.as_bytes(), &[], &read).unwrap();
    let insert = |kind| workload.setup(kind, 1).statements[0].text.clone();
    assert_eq!(
        insert(TargetKind::Sqlite),
        "INSERT INTO t (a, b) VALUES ('1','it''s\\'),('2',NULL)"
    );
    assert_eq!(
        insert(TargetKind::Mariadb),
        "INSERT INTO t (a, b) VALUES ('1','it''s\\\\'),('2',NULL)"
    );
    let broken = |_: &Path, _: u64| Ok(b"a\n1,2\n".to_vec());
    let error = Workload::parse(Path::new("/w/x.toml"), text.as_bytes(), &[], &broken).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("/w/t.csv:2: the line has 2 fields"),
        "{error}"
    );
}

#[test]
fn variants_have_names() {
    let named = |variants: &[&str]| {
        let variants: Vec<String> = variants.iter().map(|v| (*v).to_owned()).collect();
        named_variants(&variants)
    };
    let names = |variants: &[&str]| -> Vec<String> {
        named(variants)
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    };
    assert_eq!(
        names(&[
            "CREATE INDEX IF NOT EXISTS by_price ON orders (price);",
            "wide: CREATE INDEX x ON orders (a, b)",
            "ANALYZE"
        ]),
        ["by_price", "wide", "variant-3"]
    );
    assert_eq!(
        named(&["CREATE INDEX a ON t (b);"]).unwrap()[0].1,
        "CREATE INDEX a ON t (b)"
    );
    for wrong in [
        &["a: SELECT 1; SELECT 2"][..],
        &[""],
        &["none: ANALYZE"],
        &["a: ANALYZE", "a: ANALYZE"],
        &["CREATE 'x"],
    ] {
        assert!(named(wrong).is_err(), "{wrong:?}");
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The cases on the MariaDB server that LAB_MARIADB names by its target URI. The tables
//! `test_simple` and `test_mixed` there are replaced.

use crate::common::{
    Database, Subject, closes_its_connections, every_case, open, rolls_a_failed_transaction_back,
    work_that_fails, wrong_arguments,
};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder};
use std::cell::RefCell;
use std::env;
use tokio::runtime::{Builder, Runtime};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mariadb");

struct Mariadb {
    target: String,
    runtime: Runtime,
    connection: RefCell<Conn>,
}

impl Mariadb {
    fn connect(target: String) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let options =
            mysql_async::Opts::from_url(&target.replacen("mariadb:", "mysql:", 1)).unwrap();
        let options = OptsBuilder::from_opts(options).prefer_socket(false);
        let connection = runtime.block_on(Conn::new(options)).unwrap();
        Self {
            target,
            runtime,
            connection: RefCell::new(connection),
        }
    }
}

impl Database for Mariadb {
    fn target(&self) -> String {
        self.target.clone()
    }

    fn table(&self) -> &str {
        "CREATE TABLE test_simple \
         (id integer AUTO_INCREMENT PRIMARY KEY, value integer) ENGINE=InnoDB"
    }

    fn settings(&self) -> Option<&str> {
        Some(
            "SELECT version() AS version, @@tx_isolation AS isolation,
                    @@character_set_client AS client, NULL AS empty",
        )
    }

    fn mixed_columns(&self) -> &str {
        "id integer primary key, small integer, big bigint, amount decimal(15,4),
         name varchar(100) CHARACTER SET utf8mb4, nothing integer, moment datetime(3)"
    }

    fn execute(&self, statement: &str) {
        let mut connection = self.connection.borrow_mut();
        self.runtime
            .block_on(connection.query_drop(statement))
            .unwrap();
    }

    fn number(&self, query: &str) -> i64 {
        let mut connection = self.connection.borrow_mut();
        let number = self.runtime.block_on(connection.query_first(query));
        number.unwrap().unwrap()
    }
}

/// One after the other: they share the tables.
#[test]
fn all() {
    let Ok(target) = env::var("LAB_MARIADB") else {
        return println!("skipped: LAB_MARIADB is not set");
    };
    let server = Mariadb::connect(target);
    every_case(&server, PROGRAM, &["do_1"]);
    work_that_fails(&server, PROGRAM, "42S02");
    wrong_arguments(&server, PROGRAM);
    reads_settings_back(&server);
    let connections = "SELECT count(*) FROM information_schema.PROCESSLIST";
    closes_its_connections(&server, PROGRAM, connections);
    rolls_a_failed_transaction_back(&server, PROGRAM, "23000");
}

fn reads_settings_back(server: &Mariadb) {
    let opened = Subject::start(PROGRAM).ask(&open(server, "connect"));
    let settings = " isolation=REPEATABLE-READ client=utf8mb4 empty= statement_cache=32";
    assert!(opened.ends_with(settings), "{opened}");
}

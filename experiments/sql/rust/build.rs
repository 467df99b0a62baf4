// SPDX-License-Identifier: Apache-2.0
//! Exports the drivers' versions in the lock file for the subjects' hello message.

use std::fs;

fn main() {
    let lock = fs::read_to_string("Cargo.lock").expect("the lock file exists");
    for (driver, variable) in [
        ("rusqlite", "RUSQLITE"),
        ("tokio-postgres", "TOKIO_POSTGRES"),
        ("mysql_async", "MYSQL_ASYNC"),
    ] {
        let version = version(&lock, driver);
        println!("cargo::rustc-env={variable}={driver} {version}");
    }
    println!("cargo::rerun-if-changed=Cargo.lock");
}

fn version<'a>(lock: &'a str, driver: &str) -> &'a str {
    let mut lines = lock.lines();
    lines
        .find(|line| *line == format!("name = \"{driver}\""))
        .and_then(|_| lines.next()?.strip_prefix("version = \""))
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_else(|| panic!("Cargo.lock does not contain {driver} and its version"))
}

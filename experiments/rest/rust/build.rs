// SPDX-License-Identifier: Apache-2.0
//! Stores axum's version from the lock file for the subject's hello.

use std::fs;

fn main() {
    let lock = fs::read_to_string("Cargo.lock").expect("the lock file exists");
    let version = lock
        .split_once("name = \"axum\"\nversion = \"")
        .and_then(|(_, rest)| rest.split('"').next())
        .expect("the lock file contains axum and its version");
    println!("cargo::rustc-env=AXUM=axum {version}");
    println!("cargo::rerun-if-changed=Cargo.lock");
}

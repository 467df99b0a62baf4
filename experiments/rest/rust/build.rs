// SPDX-License-Identifier: Apache-2.0
//! Keeps axum's version for the subject's hello, as the lock file has it.

use std::fs;

fn main() {
    let lock = fs::read_to_string("Cargo.lock").expect("the lock file is there");
    let version = lock
        .split_once("name = \"axum\"\nversion = \"")
        .and_then(|(_, rest)| rest.split('"').next())
        .expect("the lock file names axum and its version");
    println!("cargo::rustc-env=AXUM=axum {version}");
    println!("cargo::rerun-if-changed=Cargo.lock");
}

// SPDX-License-Identifier: Apache-2.0
//! Stores the compiler's name and version for the subject's hello.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let version = Command::new(rustc).arg("--version").output();
    let version = version.expect("the compiler prints its version").stdout;
    let version = String::from_utf8_lossy(&version);
    let runtime: Vec<&str> = version.split_whitespace().take(2).collect();
    println!("cargo::rustc-env=LAB_KIT_RUNTIME={}", runtime.join(" "));
    println!("cargo::rerun-if-changed=build.rs");
}

// SPDX-License-Identifier: Apache-2.0
//! Builds the library that `src/postgresql/tally.rs` holds as bytes.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src/postgresql/tally.c");
    let folder = std::env::var("OUT_DIR").expect("cargo gives a folder");
    let library = Path::new(&folder).join("tally.so");
    // PostgreSQL, which it is loaded into, has the GNU C library, whatever the lab is built with.
    let target = std::env::var("TARGET").expect("cargo names the target");
    let compiler = cc::Build::new()
        .target(&target.replace("-musl", "-gnu"))
        .opt_level(2)
        .warnings(true)
        .pic(true)
        .get_compiler();
    let mut command = compiler.to_command();
    command
        .args(["-shared", "src/postgresql/tally.c", "-o"])
        .arg(&library);
    let built = command.status().is_ok_and(|status| status.success());
    assert!(
        built,
        "the C compiler could not build src/postgresql/tally.c"
    );
}

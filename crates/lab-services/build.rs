// SPDX-License-Identifier: Apache-2.0
//! Builds the library that `src/postgresql/tally.rs` embeds.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src/postgresql/tally.c");
    let folder = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let library = Path::new(&folder).join("tally.so");
    // PostgreSQL loads this library and uses the GNU C library, even if benchlab itself is built for musl.
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
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

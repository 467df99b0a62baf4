// SPDX-License-Identifier: Apache-2.0
//! Builds the starter, which `src/starter.rs` holds as bytes.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src/starter.c");
    let folder = std::env::var("OUT_DIR").expect("cargo gives a folder");
    let program = Path::new(&folder).join("starter");
    // Where there is no static C library, a dynamic one costs half a megabyte of peak memory more.
    let built = ["-static", "-pie"].iter().any(|linking| {
        let compiler = cc::Build::new().opt_level(2).warnings(true).get_compiler();
        let mut command = compiler.to_command();
        command.args([linking, "src/starter.c", "-o"]).arg(&program);
        command.status().is_ok_and(|status| status.success())
    });
    assert!(built, "the C compiler could not build src/starter.c");
}

// SPDX-License-Identifier: Apache-2.0
//! Builds what the lab holds as bytes: the starter of commands, and the library that counts allocations.

use std::path::Path;

fn main() {
    // Where there is no static C library, a dynamic one costs half a megabyte of peak memory more.
    compile("src/starter.c", "starter", &["-static", "-pie"]);
    compile("src/explain/allocations.c", "allocations.so", &["-shared"]);
}

/// Compiles one file with the first of these ways of linking that works.
fn compile(source: &str, name: &str, linkings: &[&str]) {
    println!("cargo::rerun-if-changed={source}");
    let variable = |name| std::env::var(name).expect("cargo sets it");
    let folder = variable("OUT_DIR");
    // Subjects, which the library is loaded into, have the GNU C library, whatever the lab is built with.
    let target = variable("TARGET").replace("-musl", "-gnu");
    let program = Path::new(&folder).join(name);
    let built = linkings.iter().any(|linking| {
        let mut build = cc::Build::new();
        build.target(&target).opt_level(2).warnings(true).pic(true);
        let mut command = build.get_compiler().to_command();
        command.args([linking, source, "-o"]).arg(&program);
        command.status().is_ok_and(|status| status.success())
    });
    assert!(built, "the C compiler could not build {source}");
}

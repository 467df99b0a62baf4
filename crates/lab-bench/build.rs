// SPDX-License-Identifier: Apache-2.0
//! Builds the two binaries that benchlab embeds: the command starter, and the library that counts
//! allocations.

use std::path::Path;

fn main() {
    // If there is no static C library, a dynamic one adds half a megabyte of peak memory.
    compile("src/commands/starter.c", "starter", &["-static", "-pie"]);
    compile("src/explain/allocations.c", "allocations.so", &["-shared"]);
}

/// Compiles one file. Tries the linker options in order and uses the first options that work.
fn compile(source: &str, name: &str, linkings: &[&str]) {
    println!("cargo::rerun-if-changed={source}");
    let variable = |name| std::env::var(name).expect("cargo sets it");
    let folder = variable("OUT_DIR");
    // The library is loaded into subjects, which use the GNU C library even if benchlab itself is built with musl.
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

// SPDX-License-Identifier: Apache-2.0
//! Embeds the kits and their skeletons, so that an installed benchlab can create experiments.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Directories of kits that are not embedded: tests, builds and caches.
const SKIPPED: [&str; 9] = [
    "__pycache__",
    "build",
    "examples",
    "internal",
    "node_modules",
    "obj",
    "target",
    "test",
    "tests",
];

/// The extensions of the files to embed.
const ENDINGS: [&str; 19] = [
    "adb", "ads", "c", "go", "gpr", "h", "in", "java", "js", "json", "lock", "md", "mjs", "mod",
    "py", "rs", "sh", "sum", "toml",
];

fn main() -> io::Result<()> {
    let crate_folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by Cargo"));
    let kits = crate_folder.join("../../kits").canonicalize()?;
    let mut files = Vec::new();
    collect(&kits, &mut files)?;
    files.sort();
    let mut text = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&kits).expect("a file of the kits");
        writeln!(text, "    ({name:?}, include_bytes!({file:?})),").expect("a string");
    }
    text += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by Cargo"));
    fs::write(out.join("kits.rs"), text)
}

/// Collects the files to embed in a directory and its subdirectories.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if !SKIPPED.contains(&&*name) {
                collect(&path, files)?;
            }
        } else if path
            .extension()
            .is_some_and(|ending| ENDINGS.contains(&&*ending.to_string_lossy()))
            && !name.ends_with("_test.go")
        {
            files.push(path);
        }
    }
    Ok(())
}

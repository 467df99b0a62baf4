// SPDX-License-Identifier: Apache-2.0
//! Finds commands that only start another program, such as the shims of version managers.

use crate::build::in_path;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names of programs that find or install another program and start it.
const STARTERS: [&str; 12] = [
    "npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "uvx", "uv", "pipx", "poetry", "pyenv", "rbenv",
];

/// The maximum size of a wrapper script in bytes. Longer scripts do other work, too.
const MAX_BYTES: u64 = 16 * 1024;

/// A command that starts another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// The program as the user named it.
    pub program: String,
    /// The file of the program.
    pub file: PathBuf,
    /// True if the file is a shell script whose last command starts the other program.
    pub is_script: bool,
}

impl Wrapper {
    /// Returns the wrapper if a program only starts another one. A name without `/` is searched for
    /// in PATH, and any other path is relative to `folder`.
    pub fn find(program: &[String], folder: &Path) -> Option<Wrapper> {
        let name = program.first()?;
        let file = if name.contains('/') {
            folder.join(name)
        } else {
            in_path(name)?
        };
        let bare = Path::new(name).file_name()?.to_str()?;
        let is_script = replaces_itself(&file);
        (is_script || STARTERS.contains(&bare)).then(|| Wrapper {
            program: name.clone(),
            file,
            is_script,
        })
    }
}

impl fmt::Display for Wrapper {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Wrapper { program, file, .. } = self;
        match self.is_script {
            true => write!(
                f,
                "`{program}` is a shell script that starts another program: {}",
                file.display()
            ),
            false => write!(f, "`{program}` only finds and starts another program"),
        }
    }
}

/// Returns true for a short shell script that replaces itself with another program.
fn replaces_itself(file: &Path) -> bool {
    let mut text = Vec::new();
    let opened = File::open(file).ok();
    let read = opened.and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text).ok());
    if read.is_none() || !text.starts_with(b"#!") || text.len() as u64 > MAX_BYTES {
        return false;
    }
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines();
    let interpreter = lines.next().unwrap_or_default();
    let mut words = interpreter.split(['/', ' ']);
    let is_shell = words.any(|word| ["sh", "bash", "dash", "zsh", "ksh"].contains(&word));
    // `exec >file` only redirects.
    let starts = |line: &str| {
        let rest = line.trim_start().strip_prefix("exec ");
        rest.is_some_and(|rest| !rest.trim_start().starts_with(['<', '>', '&', '2', '1']))
    };
    is_shell && lines.any(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shims_are_distinguished_from_other_scripts() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("a file");
            Wrapper::find(&[format!("./{name}")], folder.path()).is_some()
        };
        let shim = "#!/usr/bin/env bash\nset -e\nexport PYENV_ROOT=/x\nexec \"/x/libexec/pyenv\" exec \"$0\" \"$@\"\n";
        assert!(found("python3", shim));
        assert!(found("wrapper", "#!/bin/sh\n  exec ./real \"$@\"\n"));
        assert!(!found("work", "#!/bin/sh\nsort big.txt\n"));
        assert!(!found("logs", "#!/bin/sh\nexec >log 2>&1\nsort big.txt\n"));
        assert!(!found("script.py", "#!/usr/bin/env python3\nexec ('x')\n"));
        assert!(!found("binary", "\u{7f}ELF"));
        assert!(found("npx", "#!/usr/bin/env node\n"));
        assert_eq!(Wrapper::find(&["./none".into()], folder.path()), None);
    }
}

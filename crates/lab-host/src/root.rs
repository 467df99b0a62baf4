// SPDX-License-Identifier: Apache-2.0
//! Where probes read: this machine, or a folder that holds a copy of another one's `/proc`, `/sys` and `/etc`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes that are read of a file: those of probes are small.
const MOST: u64 = 1 << 20;
/// A program that takes longer is killed: a disk may not answer.
const TIMEOUT: Duration = Duration::from_millis(1500);

/// The machine whose files are read.
#[derive(Clone, Debug)]
pub struct Root {
    folder: PathBuf,
    is_live: bool,
}

impl Root {
    /// This machine.
    pub fn live() -> Root {
        Root {
            folder: "/".into(),
            is_live: true,
        }
    }

    /// A copy in a folder.
    pub fn copy(folder: &Path) -> Root {
        Root {
            folder: folder.to_path_buf(),
            is_live: false,
        }
    }

    /// True if it is this machine.
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// A file's text. Error: why it cannot be read, in words.
    pub fn text(&self, path: &str) -> Result<String, String> {
        let mut bytes = Vec::new();
        let file = fs::File::open(self.path(path));
        let result = file.and_then(|file| file.take(MOST).read_to_end(&mut bytes));
        match result {
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(e) => Err(format!("/{path}: {}", reason(&e))),
        }
    }

    /// A file's first line, without white space around it; `None`: there is no such file, or it is empty.
    pub fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path).ok()?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// A file that holds a whole number.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// The first line of a file that every Linux has.
    ///
    /// # Errors
    /// Why it cannot be seen, in a sentence.
    pub fn required_line(&self, path: &str) -> Result<String, String> {
        let text = self.text(path).map_err(|reason| format!("{reason}."))?;
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() {
            Err(format!("/{path} is empty."))
        } else {
            Ok(line.to_owned())
        }
    }

    /// The number in a file that every Linux has.
    ///
    /// # Errors
    /// Why it cannot be seen, in a sentence.
    pub fn required_number(&self, path: &str) -> Result<u64, String> {
        let line = self.required_line(path)?;
        line.parse()
            .map_err(|_| format!("/{path} holds no whole number."))
    }

    /// The names in a folder, sorted; none if there is no such folder.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path))
            .into_iter()
            .flatten()
            .flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// True if there is such a file or directory.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Runs a program and returns its output; in a copy of a machine, reads the file of that name at its top.
    ///
    /// # Errors
    /// There is no such program or file, it failed, or it took too long.
    pub fn output(&self, file: &str, words: &[&str]) -> Result<String, String> {
        if self.is_live {
            output_of(words)
        } else {
            self.text(file)
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

fn reason(e: &std::io::Error) -> String {
    match e.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "it may not be read; try as root".into(),
        _ => e.to_string(),
    }
}

fn output_of(words: &[&str]) -> Result<String, String> {
    let program = words[0];
    let child = Command::new(program)
        .args(&words[1..])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => format!("`{program}` is not installed"),
        _ => format!("`{program}`: {e}"),
    })?;
    let stdout = child.stdout.take().ok_or("no pipe")?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.take(MOST).read_to_end(&mut bytes);
        bytes
    });
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if began.elapsed() < TIMEOUT => {
                std::thread::sleep(Duration::from_millis(2));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{program}` did not end within {TIMEOUT:?}"));
            }
        }
    }
    let bytes = reader.join().map_err(|_| "the reader ended")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

// SPDX-License-Identifier: Apache-2.0
//! The machine from which probes read: either this machine, or a directory with a copy of another
//! machine's `/proc`, `/sys` and `/etc`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum number of bytes read from a file. Probes read only small files.
const MAX_BYTES: u64 = 1 << 20;
/// The time after which a program is killed. A program may hang because a disk does not respond.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The machine whose files are read.
#[derive(Clone, Debug)]
pub struct Root {
    folder: PathBuf,
    is_live: bool,
}

impl Root {
    /// Creates a root that reads this machine.
    pub fn live() -> Root {
        Root {
            folder: "/".into(),
            is_live: true,
        }
    }

    /// Creates a root that reads a directory with a copy of a machine.
    pub fn copy(folder: &Path) -> Root {
        Root {
            folder: folder.to_path_buf(),
            is_live: false,
        }
    }

    /// Returns true for this machine, and false for a copy.
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    /// Returns a message that explains why the file cannot be read.
    pub fn text(&self, path: &str) -> Result<String, String> {
        let mut bytes = Vec::new();
        let file = fs::File::open(self.path(path));
        let result = file.and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
        match result {
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(e) => Err(format!("/{path}: {}", reason(&e))),
        }
    }

    /// Returns the first line of a file, trimmed, or `None` if the file is missing or empty.
    pub fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path).ok()?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// Returns the whole number in a file.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// Returns the first line of a file that exists on every Linux machine.
    ///
    /// # Errors
    /// Returns a sentence that states the problem if the file cannot be read or is empty.
    pub fn required_line(&self, path: &str) -> Result<String, String> {
        let text = self.text(path).map_err(|reason| format!("{reason}."))?;
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() {
            Err(format!("/{path} is empty."))
        } else {
            Ok(line.to_owned())
        }
    }

    /// Returns the number in a file that exists on every Linux machine.
    ///
    /// # Errors
    /// Returns a sentence that states the problem if the file cannot be read or contains no whole
    /// number.
    pub fn required_number(&self, path: &str) -> Result<u64, String> {
        let line = self.required_line(path)?;
        line.parse()
            .map_err(|_| format!("/{path} does not contain a whole number."))
    }

    /// Returns the names in a directory, sorted. The list is empty if the directory does not exist.
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

    /// Returns true if a file or directory exists.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Runs a program and returns its output. For a copy of a machine, returns the contents of
    /// `file` in the copy's directory instead.
    ///
    /// The exit status is ignored: smartctl and df exit with a nonzero status although most of their
    /// output is valid.
    ///
    /// # Errors
    /// Returns an error if the program or file does not exist, or if the program took too long.
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
        std::io::ErrorKind::NotFound => "no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied; try as root".into(),
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
        let _ = stdout.take(MAX_BYTES).read_to_end(&mut bytes);
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
                return Err(format!("`{program}` did not exit within {TIMEOUT:?}"));
            }
        }
    }
    let bytes = reader
        .join()
        .map_err(|_| "the thread that reads its output panicked")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

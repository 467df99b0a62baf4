// SPDX-License-Identifier: Apache-2.0
//! Where logs are: files, their rotated predecessors, standard input, the URL of a monitor.

use super::fetch::fetch;
use crate::exit::Exit;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A log.
pub struct Source {
    /// As it was given; `-`: standard input.
    pub name: String,
}

impl Source {
    /// Opens it.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        if self.name == "-" {
            Ok(Box::new(io::stdin()))
        } else if is_url(&self.name) {
            Ok(Box::new(io::Cursor::new(fetch(&self.name)?)))
        } else {
            Ok(Box::new(File::open(&self.name)?))
        }
    }

    /// Its file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        (self.name != "-" && !is_url(&self.name)).then(|| Path::new(&self.name))
    }
}

fn is_url(name: &str) -> bool {
    name.starts_with("http://") || name.starts_with("https://")
}

/// The logs that were given, with their rotated predecessors if asked for. Error: one is not there.
pub fn sources(names: &[String], rotated: bool) -> Result<Vec<Source>, Exit> {
    let mut sources = Vec::new();
    for name in names {
        let path = Path::new(name);
        let is_file = name != "-" && !is_url(name);
        if is_file && path.is_dir() {
            return Err(Exit::wrong(format!(
                "{name}: it is a folder; name the log, with --rotated for the files beside it"
            )));
        }
        if is_file && !path.exists() {
            return Err(Exit::wrong(format!("{name}: there is no such file")));
        }
        if is_file && rotated {
            sources.extend(predecessors(path).into_iter().map(|path| Source {
                name: path.display().to_string(),
            }));
        }
        sources.push(Source { name: name.clone() });
    }
    Ok(sources)
}

/// The rotated files beside a log, the oldest first: the highest number, or the earliest date.
fn predecessors(log: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (log.parent(), log.file_name().and_then(|n| n.to_str()))
    else {
        return Vec::new();
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let age = |path: PathBuf| {
        let file = path.file_name()?.to_str()?.strip_prefix(name)?;
        let plain = [".gz", ".zst", ".zstd"]
            .iter()
            .find_map(|end| file.strip_suffix(end))
            .unwrap_or(file);
        let digits = plain.strip_prefix(['.', '-', '_'])?.replace('-', "");
        let number: i64 = digits.parse().ok()?;
        // Numbers grow with age, dates fall.
        let age = if digits.len() >= 8 { -number } else { number };
        Some((age, path))
    };
    let mut found: Vec<(i64, PathBuf)> = entries.filter_map(|e| age(e.path())).collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_files_come_oldest_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "a.log",
            "a.log.1",
            "a.log.2.gz",
            "a.log.10.zst",
            "a.log.bak",
            "b.log.1",
        ] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let found = predecessors(&folder.path().join("a.log"));
        let names: Vec<_> = found
            .iter()
            .filter_map(|p| p.file_name()?.to_str())
            .collect();
        assert_eq!(names, ["a.log.10.zst", "a.log.2.gz", "a.log.1"]);
        for name in ["c.log-20260501", "c.log-20260430.gz"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let found = predecessors(&folder.path().join("c.log"));
        let names: Vec<_> = found
            .iter()
            .filter_map(|p| p.file_name()?.to_str())
            .collect();
        assert_eq!(names, ["c.log-20260430.gz", "c.log-20260501"]);
    }
}

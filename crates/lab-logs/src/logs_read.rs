// SPDX-License-Identifier: Apache-2.0
//! Facts about logs other than their entries, such as the files that make up a log.

use crate::format::LogReader;
use lab_model::{LineCounts, LogAdvice, LogAssumption, LogFile};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Facts about logs that were read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LogsRead {
    /// The logs, in order.
    pub sources: Vec<LogFile>,
    /// The number of lines of each kind.
    pub lines: LineCounts,
    /// The coarsest resolution of the logs' durations, in ns.
    pub step_ns: Option<u64>,
    /// Advice about entries that are not counted, and about settings that make the next log more
    /// useful.
    pub advice: Vec<LogAdvice>,
    /// Assumptions about facts that the logs do not contain.
    pub assumptions: Vec<LogAssumption>,
}

impl LogsRead {
    /// Adds the facts that a reader knows about its log.
    pub fn add_reader(&mut self, reader: &LogReader) {
        self.merge(LogsRead {
            step_ns: reader.step_ns(),
            advice: reader.advice(),
            assumptions: reader.assumptions(),
            ..LogsRead::default()
        });
    }

    /// Adds the facts about other logs.
    pub fn merge(&mut self, other: LogsRead) {
        self.sources.extend(other.sources);
        self.count(&other.lines);
        self.step_ns = self.step_ns.max(other.step_ns);
        for advice in other.advice {
            advice.add_to(&mut self.advice);
        }
        for assumption in other.assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
    }

    /// Adds line counts.
    pub fn count(&mut self, lines: &LineCounts) {
        let total = &mut self.lines;
        total.all += lines.all;
        total.entries += lines.entries;
        total.other += lines.other;
        total.malformed += lines.malformed;
        total.too_long += lines.too_long;
        total.cut_off += lines.cut_off;
    }
}

/// A set of files by device and inode. A file that is specified twice is read only once.
#[derive(Debug, Default)]
pub struct UniqueFiles(HashSet<(u64, u64)>);

impl UniqueFiles {
    /// Adds a file. Returns a reason to skip it if it was added before.
    pub fn skip(&mut self, path: &Path) -> Option<String> {
        let metadata = std::fs::metadata(path).ok().filter(|m| m.is_file())?;
        let is_new = self.0.insert((metadata.dev(), metadata.ino()));
        (!is_new).then(|| {
            format!(
                "{}: it was specified before and is read only once",
                path.display()
            )
        })
    }
}

/// Returns the files of a log: its rotated files if requested, oldest first, then the log itself.
///
/// Returns an error if the log does not exist or is a directory.
pub fn files(log: &Path, rotated: bool) -> Result<Vec<PathBuf>, String> {
    let name = log.display();
    if log.is_dir() {
        return Err(format!(
            "{name} is a directory; specify the log file, and add --rotated for its rotated files"
        ));
    }
    if !log.exists() {
        return Err(format!("{name}: no such file"));
    }
    let mut files = if rotated {
        predecessors(log)
    } else {
        Vec::new()
    };
    files.push(log.to_path_buf());
    Ok(files)
}

/// Returns the rotated files of a log, oldest first: the highest number, or the earliest date.
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
        // Numbers increase with age, and dates decrease.
        let age = if digits.len() >= 8 { -number } else { number };
        Some((age, path))
    };
    let mut by_age: Vec<(i64, PathBuf)> = entries.filter_map(|e| age(e.path())).collect();
    by_age.sort_by(|a, b| b.cmp(a));
    by_age.into_iter().map(|(_, path)| path).collect()
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
        let files = predecessors(&folder.path().join("a.log"));
        let names: Vec<_> = files
            .iter()
            .filter_map(|p| p.file_name()?.to_str())
            .collect();
        assert_eq!(names, ["a.log.10.zst", "a.log.2.gz", "a.log.1"]);
        for name in ["c.log-20260501", "c.log-20260430.gz"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let files = predecessors(&folder.path().join("c.log"));
        let names: Vec<_> = files
            .iter()
            .filter_map(|p| p.file_name()?.to_str())
            .collect();
        assert_eq!(names, ["c.log-20260430.gz", "c.log-20260501"]);
    }
}

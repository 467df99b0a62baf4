// SPDX-License-Identifier: Apache-2.0
//! Facts about logs other than their entries, such as the files that make up a log.

use crate::decompression::decompressed;
use crate::format::LogReader;
use crate::rotation::{RotatedName, without_compression};
use lab_model::{LineCounts, LogAdvice, LogAssumption, LogFile};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The number of decompressed bytes that are compared to find out whether a file is a compressed
/// copy of another file.
const COMPARED_BYTES: u64 = 64 << 10;
/// The maximum number of files in a message.
const MAX_NAMED: usize = 3;

/// Facts about logs that were read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LogsRead {
    /// The logs, in order.
    pub sources: Vec<LogFile>,
    /// The number of lines of each kind.
    pub lines: LineCounts,
    /// The coarsest resolution among the logs' durations, in ns.
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

/// A set of files, identified by device and inode.
///
/// A file that is specified twice is read only once. Of a file and its compressed copy, only one is
/// read.
#[derive(Debug, Default)]
pub struct UniqueFiles {
    inodes: HashSet<(u64, u64)>,
    /// The added files, by their paths without the suffix of a compression format.
    names: HashMap<PathBuf, Vec<PathBuf>>,
}

impl UniqueFiles {
    /// Adds a file.
    ///
    /// Returns a message if the file must be skipped because it was added before.
    pub fn skip(&mut self, path: &Path) -> Option<String> {
        let metadata = std::fs::metadata(path).ok().filter(|m| m.is_file())?;
        let is_new = self.inodes.insert((metadata.dev(), metadata.ino()));
        if !is_new {
            return Some(format!(
                "{}: it was specified before and is read only once",
                path.display()
            ));
        }
        let name = path
            .to_str()
            .map_or(path, |path| Path::new(without_compression(path)));
        let copies = self.names.entry(name.into()).or_default();
        if let Some(copy) = copies.iter().find(|copy| is_copy(copy, path)) {
            return Some(format!(
                "{}: it is not read, because it has the same lines as {}",
                path.display(),
                copy.display()
            ));
        }
        copies.push(path.into());
        None
    }
}

/// Returns true if two files whose names differ only in their compression begin with the same
/// bytes.
fn is_copy(one: &Path, other: &Path) -> bool {
    let begin = |path: &Path| {
        let mut bytes = Vec::new();
        let input = decompressed(File::open(path).ok()?).ok()?;
        // The end of a file that was only partly compressed is missing.
        let _ = input.take(COMPARED_BYTES).read_to_end(&mut bytes);
        Some(bytes)
    };
    let Some((one, other)) = begin(one).zip(begin(other)) else {
        return false;
    };
    let length = one.len().min(other.len());
    length > 0 && one[..length] == other[..length]
}

/// The files of a log.
#[derive(Clone, Debug, Default)]
pub struct LogFiles {
    /// The files, oldest first, including the log itself.
    pub paths: Vec<PathBuf>,
    /// A message about files that are not read, although they may belong to the log.
    pub skipped: Option<String>,
}

/// Returns the files of a log: the log itself and, if requested, its rotated files.
///
/// Returns an error if the log does not exist or is a directory.
pub fn files(log: &Path, rotated: bool) -> Result<LogFiles, String> {
    let name = log.display();
    if log.is_dir() {
        return Err(format!(
            "{name} is a directory; specify the log file, and add --rotated for its rotated files"
        ));
    }
    if !log.exists() {
        return Err(format!("{name}: no such file"));
    }
    let only = LogFiles {
        paths: vec![log.to_path_buf()],
        skipped: None,
    };
    Ok(match rotated {
        true => rotated_files(log).unwrap_or(only),
        false => only,
    })
}

/// Returns a log and its rotated files, oldest first.
///
/// The oldest file has the highest number or the earliest date in its name. Files whose names show
/// no order, such as names with weekdays, are sorted by their last modification. A compressed copy
/// follows its original. Returns `None` if the path is not UTF-8.
fn rotated_files(log: &Path) -> Option<LogFiles> {
    let folder = log.parent()?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let name = RotatedName::new(log.file_name()?.to_str()?);
    let own = std::fs::metadata(log).ok()?;
    let (mut found, mut doubtful) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        let Some(file) = path.file_name().and_then(|file| file.to_str()) else {
            continue;
        };
        let parsed = RotatedName::new(file);
        let order = name.order_of(&parsed);
        if order.is_none() && !name.may_have(&parsed) {
            continue;
        }
        let Some(metadata) = std::fs::metadata(&path).ok().filter(|m| m.is_file()) else {
            continue;
        };
        // The log itself, or a link to it.
        let is_log = (metadata.dev(), metadata.ino()) == (own.dev(), own.ino());
        match order {
            _ if is_log => {}
            Some(order) => found.push((order.with_file(&metadata, file), path)),
            None => doubtful.push(file.to_string()),
        }
    }
    let order = name.order_of(&name)?;
    let file = log.file_name()?.to_str()?;
    let order = order.with_file(&own, file);
    // A file with a number is followed by later files, which the user did not specify.
    if name.has_number() {
        found.retain(|(other, _)| *other <= order);
    }
    found.push((order, log.to_path_buf()));
    found.sort();
    Some(LogFiles {
        paths: found.into_iter().map(|(_, path)| path).collect(),
        skipped: skipped_files(log, doubtful),
    })
}

/// Returns a message about files that may belong to a log but are not read.
fn skipped_files(log: &Path, mut files: Vec<String>) -> Option<String> {
    files.sort();
    let more = files.len().saturating_sub(MAX_NAMED);
    files.truncate(MAX_NAMED);
    if more > 0 {
        files.push(format!("{more} more"));
    }
    (!files.is_empty()).then(|| {
        format!(
            "{}: found other files that may belong to this log, but are not named like its rotated files: {}. \
             To read them, specify them, too",
            log.display(),
            files.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files with these `names`, and returns the names of the files that are read if the
    /// last name is the log.
    fn read_with_last(names: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (i, name) in names.iter().rev().enumerate() {
            std::fs::write(folder.path().join(name), i.to_string()).expect("a file");
        }
        let log = folder.path().join(names.last().expect("a log"));
        let files = files(&log, true).expect("a log");
        assert_eq!(files.skipped, None);
        let names = files.paths.iter().filter_map(|p| p.file_name()?.to_str());
        names.map(String::from).collect()
    }

    #[test]
    fn rotated_files_come_oldest_first() {
        for names in [
            &["a.log.10.zst", "a.log.2.gz", "a.log.1", "a.log"][..],
            &["a.log-20260430.gz", "a.log-20260501", "a.log"],
            &["a.log-260430", "a.log-260501.bz2", "a.log.3.xz", "a.log"],
            &["a.2.log.gz", "a.1.log", "a.log"],
            &["a-2026-04-30.log.gz", "a-2026-05-01.log", "a.log"],
            &[
                "a-2026-04-30T00-00-00.000.log.gz",
                "a-2026-05-01T00-00-00.000.log",
                "a.log",
            ],
            &["u_ex260430.log", "u_ex260501.log"],
            &["access_log.2026-04-30.txt", "access_log.2026-05-01.txt"],
            &["2026-04-30.a.log", "2026-05-01.a.log"],
        ] {
            assert_eq!(read_with_last(names), names);
        }
        // Files with later dates are files of the log, too, but not those with lower numbers.
        let log = ["a.log", "a.log.1", "a.log.3", "a.log.2"];
        assert_eq!(read_with_last(&log), ["a.log.3", "a.log.2"]);
        let log = ["u_ex260501.log", "u_ex260430.log"];
        assert_eq!(read_with_last(&log), ["u_ex260430.log", "u_ex260501.log"]);
        for others in [
            ["a.log.offset", "a.log"],
            ["b.log.1", "a.log"],
            ["db-2.log", "db-1.log"],
        ] {
            assert_eq!(read_with_last(&others), [others[1]]);
        }
    }

    #[test]
    fn files_that_may_belong_to_a_log_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.log", "a-1.log", "a.log.old", "a.log00001", "a.log00002"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let found = files(&folder.path().join("a.log"), true).expect("a log");
        assert_eq!(found.paths.len(), 1);
        let skipped = found.skipped.expect("a message");
        assert!(
            skipped.contains("a-1.log, a.log.old, a.log00001, 1 more"),
            "{skipped}"
        );
    }

    #[test]
    fn a_compressed_copy_is_read_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).expect("memory");
        let line = "a line of a log\n";
        let twice = line.repeat(2);
        for (name, text, is_copy) in [
            ("a.log", line.as_bytes(), false),
            ("a.log.zst", &zstd(line), true),
            ("b.log", line.as_bytes(), false),
            // The original grew, and the copy is incomplete.
            ("b.log.zst", &zstd(&twice), true),
            ("c.log", line.as_bytes(), false),
            // It is a different file.
            ("c.log.zst", &zstd("another line\n"), false),
            ("d.log", line.as_bytes(), false),
            ("d.log.xz", b"\xfd7zXZ\0", false),
            ("e.log", b"", false),
            ("e.log.zst", &zstd(line), false),
        ] {
            std::fs::write(folder.path().join(name), text).expect("a file");
            let mut unique = UniqueFiles::default();
            let original = name.split(".log").next().unwrap_or(name).to_string() + ".log";
            if original != name {
                unique.skip(&folder.path().join(original));
            }
            let skipped = unique.skip(&folder.path().join(name));
            assert_eq!(skipped.is_some(), is_copy, "{name} {skipped:?}");
        }
    }
}

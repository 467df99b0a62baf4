// SPDX-License-Identifier: Apache-2.0
//! Tests of files that the tools wrote, of damaged files, and of the reports.
//!
//! `../files` holds the output of hyperfine 1.20, JMH 1.37, Go 1.26, Criterion 0.5,
//! google/benchmark 1.9, pytest 8 with pytest-benchmark, pyperf, k6 1.8, wrk 4.1, vegeta 12,
//! HdrHistogram 2.2 and pytest's JUnit XML, with the names of hosts and directories removed. The
//! files of BenchmarkDotNet and oha were written by hand according to their documentation.

mod damaged;
mod formats;
mod reports;

use lab_import::{ImportError, ImportedFile, Limits, read, read_joined};
use lab_model::{Imported, ImportedSeries};
use std::path::{Path, PathBuf};

/// Returns the path of a test file.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/files")
        .join(name)
}

/// Reads a test file.
fn file(name: &str) -> ImportedFile {
    read(&path(name), None, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Imports `content` from a file named `name`.
fn text(name: &str, content: &[u8]) -> Result<ImportedFile, ImportError> {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file");
    read(&path, None, &Limits::default())
}

/// Joins files with the given contents.
fn joined(contents: &[&str]) -> Result<ImportedFile, ImportError> {
    let folder = tempfile::tempdir().expect("a directory");
    let file = |(i, content): (usize, &&str)| {
        let path = folder.path().join(format!("{i}.txt"));
        std::fs::write(&path, content).expect("a file");
        path
    };
    let paths: Vec<PathBuf> = contents.iter().enumerate().map(file).collect();
    read_joined(&paths, None, &Limits::default())
}

/// Returns a series by its label and the ID of its metric.
#[track_caller]
fn series<'a>(imports: &'a [Imported], label: &str, metric: &str) -> &'a ImportedSeries {
    let mut all = imports.iter().flat_map(|import| &import.series);
    let found = all.find(|s| s.label() == label && s.metric.id == metric);
    found.unwrap_or_else(|| {
        let all = imports.iter().flat_map(|import| &import.series);
        let names: Vec<String> = all
            .map(|s| format!("{} {}", s.label(), s.metric.id))
            .collect();
        panic!("no {label} {metric} among {names:#?}")
    })
}

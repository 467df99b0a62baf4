// SPDX-License-Identifier: Apache-2.0
//! Criterion's directory `target/criterion`, with one directory for each benchmark. A benchmark runs in one process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::source::{Source, parse_json};
use crate::subject::{subject, with_params};
use lab_model::{Imported, Metric};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The maximum depth of the directories that are searched. Criterion's benchmarks use four levels:
/// group, function, parameter and baseline.
const DEPTH: usize = 6;

/// The import format for Criterion's directory.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "criterion",
    title: "Criterion's directory target/criterion",
    advice: "Run `cargo bench` 10 times, copy target/criterion after each run, and import all copies with --join.",
    is_format: |source| source.path.is_dir(),
    read,
    shorten: keep_names,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    if !source.path.is_dir() {
        return Err(Problem::whole(
            "expected the directory target/criterion, found a file",
        ));
    }
    let mut folders = Vec::new();
    collect(&source.path, DEPTH, source, &mut folders)?;
    folders.sort();
    let mut imported = subject("Criterion", "", "");
    let mut bytes = 0;
    for folder in folders {
        let shown = folder
            .strip_prefix(&source.path)
            .unwrap_or(&folder)
            .display()
            .to_string();
        benchmark(&folder, source, &mut bytes, &mut imported).map_err(|problem| Problem {
            location: match problem.location.as_str() {
                "" => shown,
                location => format!("{shown}: {location}"),
            },
            ..problem
        })?;
    }
    if imported.series.is_empty() {
        return Err(Problem::whole(
            "no benchmarks found: expected directories that contain new/sample.json",
        ));
    }
    Ok(vec![imported])
}

/// Collects the directories named `new` that contain a sample, and searches all subdirectories.
fn collect(
    folder: &Path,
    depth: usize,
    source: &Source,
    found: &mut Vec<PathBuf>,
) -> Result<(), Problem> {
    let entries = std::fs::read_dir(folder)
        .map_err(|e| Problem::with_location(folder.display().to_string(), e.to_string()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        // Links are not followed, so that the search ends.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if entry.file_name() == "new" && path.join("sample.json").is_file() {
            found.push(path);
        } else if depth > 0 {
            collect(&path, depth - 1, source, found)?;
        }
        if found.len() > source.limits.benchmarks {
            return Err(Problem::whole(format!(
                "there are more than {} benchmarks",
                source.limits.benchmarks
            )));
        }
    }
    Ok(())
}

fn benchmark(
    folder: &Path,
    source: &Source,
    bytes: &mut u64,
    imported: &mut Imported,
) -> Result<(), Problem> {
    let mut open = |name: &str| {
        let path = folder.join(name);
        let rest = source.limits.bytes.saturating_sub(*bytes);
        let mut text = String::new();
        let size = std::fs::File::open(path)
            .and_then(|file| file.take(rest + 1).read_to_string(&mut text))
            .map_err(|e| Problem::with_location(name, e.to_string()))?;
        *bytes += size as u64;
        if *bytes > source.limits.bytes {
            return Err(Problem::whole(format!(
                "the files are larger than {} MiB, the maximum",
                source.limits.bytes >> 20
            )));
        }
        parse_json(&text).map_err(|problem| Problem {
            location: format!("{name}, {}", problem.location),
            ..problem
        })
    };
    let (about, sample) = (open("benchmark.json")?, open("sample.json")?);
    let (about, sample) = (Node::root(&about), Node::root(&sample));
    let group = about.get("group_id")?.text()?;
    let function = about
        .find_text("function_id")
        .filter(|name| !name.is_empty());
    let case = function.map_or(group.to_owned(), |function| format!("{group}/{function}"));
    let value = about
        .find_text("value_str")
        .filter(|value| !value.is_empty());
    let params = value
        .map(|value| ("input".to_owned(), value.to_owned()))
        .into_iter()
        .collect();
    let iterations = sample.get("iters")?.amounts(1.0, &source.limits)?;
    let times = sample.get("times")?.amounts(1.0, &source.limits)?;
    if iterations.len() != times.len() || iterations.contains(&0.0) {
        return Err(
            sample.problem("`iters` and `times` differ in length, or an iteration count is 0")
        );
    }
    let each = times
        .iter()
        .zip(&iterations)
        .map(|(time, n)| time / n)
        .collect();
    with_params(imported, &case, params, Metric::WALL, vec![each]);
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
//! Reads a file of another tool, in any known format.

use crate::error::{ImportError, Problem};
use crate::format::{FORMATS, ImportFormat};
use crate::limits::Limits;
use crate::source::{Source, file_name, parse_json};
use crate::wording;
use lab_model::{Imported, ImportedSeries, Metric};
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The content of an imported file.
#[derive(Clone, Debug)]
pub struct ImportedFile {
    /// The format in which the file was read.
    pub format: ImportFormat,
    /// The results, with one entry for each subject. Never empty.
    pub imports: Vec<Imported>,
    /// The time of the measurement, in seconds since 1970. If the file does not state it, this is
    /// the file's modification time.
    pub measured_unix_s: f64,
}

/// Reads a file, or Criterion's directory. Without `format`, the format is detected from the
/// content.
///
/// # Errors
/// Returns an error, and imports nothing, if the file cannot be read, is in no known format, is
/// damaged or is too large.
pub fn read(
    path: &Path,
    format: Option<ImportFormat>,
    limits: &Limits,
) -> Result<ImportedFile, ImportError> {
    Ok(read_full_names(path, format, limits)?.shortened())
}

/// Reads files of the same tool and joins them into one result. Each file counts as another process
/// of the benchmarks that it contains.
///
/// # Errors
/// Returns an error if a file cannot be imported (see [`read`]), or if the files come from
/// different tools.
///
/// # Panics
/// Panics if `paths` is empty.
pub fn read_joined(
    paths: &[PathBuf],
    format: Option<ImportFormat>,
    limits: &Limits,
) -> Result<ImportedFile, ImportError> {
    let (first, others) = paths.split_first().expect("at least one file");
    let mut joined = read_full_names(first, format, limits)?;
    for path in others {
        let file = read_full_names(path, format, limits)?;
        if file.format != joined.format {
            return Err(ImportError::DifferentTools(
                joined.format.name,
                file.format.name,
            ));
        }
        for import in file.imports {
            add(&mut joined.imports, import);
        }
    }
    // The values of benchlab's XML are no series, to which a process could be added.
    check_names(&joined.imports).map_err(|problem| ImportError::Invalid {
        path: first.display().to_string(),
        problem,
        format: joined.format.name,
    })?;
    Ok(joined.shortened())
}

impl ImportedFile {
    /// Removes parts of the names of results that do not distinguish them from each other.
    fn shortened(mut self) -> ImportedFile {
        (self.format.shorten)(&mut self.imports);
        self
    }
}

/// Reads a file. The names of the results distinguish them from results in other files.
fn read_full_names(
    path: &Path,
    format: Option<ImportFormat>,
    limits: &Limits,
) -> Result<ImportedFile, ImportError> {
    let unreadable = |source| ImportError::Unreadable {
        path: path.display().to_string(),
        source,
    };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // Criterion's directory has no content of its own; its reader opens the files in it.
    if !about.is_dir() {
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut file = file.take(limits.bytes + 1);
        file.read_to_end(&mut bytes).map_err(unreadable)?;
    }
    let mut imported = parse_full_names(path, bytes, format, limits)?;
    if imported.measured_unix_s == 0.0 {
        let modified = about.modified().unwrap_or(UNIX_EPOCH);
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        imported.measured_unix_s = since.as_secs_f64();
    }
    Ok(imported)
}

/// Parses the content of a file. `path` appears in messages, and is the location of Criterion's
/// directory.
///
/// The time of the measurement is 0 if the content does not state it.
///
/// # Errors
/// Returns an error if the content is in no known format, damaged or too large.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    format: Option<ImportFormat>,
    limits: &Limits,
) -> Result<ImportedFile, ImportError> {
    Ok(parse_full_names(path, bytes, format, limits)?.shortened())
}

/// Parses the content of a file. The names of the results distinguish them from results in other
/// files.
fn parse_full_names(
    path: &Path,
    bytes: Vec<u8>,
    format: Option<ImportFormat>,
    limits: &Limits,
) -> Result<ImportedFile, ImportError> {
    let invalid = |problem, format| ImportError::Invalid {
        path: path.display().to_string(),
        problem,
        format,
    };
    let name = format.map_or("text", |format| format.name);
    let text = checked_text(bytes, limits).map_err(|problem| invalid(problem, name))?;
    let source = Source {
        path: path.to_path_buf(),
        json: parse_json(&text),
        text,
        limits: *limits,
    };
    let mut detected = FORMATS.into_iter();
    let detected = || detected.find(|format| (format.is_format)(&source));
    let Some(format) = format.or_else(detected) else {
        return Err(unknown(path.display().to_string(), source));
    };
    let imports = (format.read)(&source).and_then(|imports| {
        check(&imports, limits)?;
        Ok(imports)
    });
    let mut imports = imports.map_err(|problem| invalid(problem, format.name))?;
    for import in &mut imports {
        import.facts.insert(0, ("file".into(), file_name(path)));
    }
    Ok(ImportedFile {
        format,
        measured_unix_s: imports.iter_mut().find_map(take_time).unwrap_or(0.0),
        imports,
    })
}

/// Adds the processes of another file, or of another part of a file, to `all`.
pub(crate) fn add(all: &mut Vec<Imported>, more: Imported) {
    // benchlab's XML names the language and the driver instead of the subject.
    let same = |known: &&mut Imported| {
        known.subject == more.subject
            && known.language == more.language
            && known.driver == more.driver
    };
    let Some(known) = all.iter_mut().find(same) else {
        all.push(more);
        return;
    };
    for fact in more.facts {
        if !known.facts.contains(&fact) {
            known.facts.push(fact);
        }
    }
    for remark in more.remarks {
        if !known.remarks.contains(&remark) {
            known.remarks.push(remark);
        }
    }
    known.times.extend(more.times);
    known.exit_codes.extend(more.exit_codes);
    for series in more.series {
        let same = |other: &&mut ImportedSeries| {
            other.case == series.case
                && other.params == series.params
                && other.metric == series.metric
        };
        match known.series.iter_mut().find(same) {
            Some(other) => other.processes.extend(series.processes),
            None => known.series.push(series),
        }
    }
}

/// The name of the fact that holds the time of the measurement, in seconds since 1970.
pub(crate) const TIME: &str = "measured_unix_s";

/// Removes and returns the fact with the time of the measurement, which becomes the time of the
/// run.
fn take_time(import: &mut Imported) -> Option<f64> {
    let at = import.facts.iter().position(|(name, _)| name == TIME)?;
    let seconds = import.facts.remove(at).1.parse::<f64>().ok()?;
    (0.0..2.5e11).contains(&seconds).then_some(seconds)
}

fn checked_text(bytes: Vec<u8>, limits: &Limits) -> Result<String, Problem> {
    if bytes.len() as u64 > limits.bytes {
        let most = limits.bytes >> 20;
        return Err(Problem::whole(format!(
            "the file is larger than {most} MiB, the maximum; import a part of it, or the tool's summary"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        Problem::with_location(
            format!("byte {valid}"),
            "the file is not UTF-8; convert it to UTF-8",
        )
    })?;
    // Windows programs begin files with a byte order mark.
    Ok(match text.strip_prefix('\u{feff}') {
        Some(content) => content.to_owned(),
        None => text,
    })
}

/// Returns the error for a file in no known format.
fn unknown(path: String, source: Source) -> ImportError {
    let looks_like_json = source.text.trim_start().starts_with(['{', '[']);
    match source.json {
        _ if source.text.trim().is_empty() => ImportError::Invalid {
            path,
            problem: Problem::whole("the file is empty"),
            format: "text",
        },
        Err(problem) if looks_like_json => ImportError::Invalid {
            path,
            problem,
            format: "JSON",
        },
        _ => {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            ImportError::Unknown {
                path,
                known: names.join(", "),
            }
        }
    }
}

/// Returns an error if there are no benchmarks, too many benchmarks or values, or two results with
/// the same name.
fn check(imports: &[Imported], limits: &Limits) -> Result<(), Problem> {
    let series = || imports.iter().flat_map(|import| &import.series);
    let benchmarks = series().count() + imports.iter().map(|i| i.times.len()).sum::<usize>();
    let values: usize = series().flat_map(|s| &s.processes).map(Vec::len).sum();
    if benchmarks == 0 {
        let remarks = imports.iter().flat_map(|import| &import.remarks);
        let remarks: Vec<&str> = remarks.map(String::as_str).collect();
        let why = if remarks.is_empty() {
            String::new()
        } else {
            format!(": {}", remarks.join(" "))
        };
        return Err(Problem::whole(format!("there are no measured values{why}")));
    }
    if benchmarks > limits.benchmarks {
        return Err(Problem::whole(format!(
            "there are {benchmarks} benchmarks; the maximum is {}",
            limits.benchmarks
        )));
    }
    if values > limits.values {
        return Err(Problem::whole(format!(
            "there are {values} values; the maximum is {}",
            limits.values
        )));
    }
    check_names(imports)
}

/// Returns an error if two results have the same subject, benchmark, parameters and metric. Reports
/// would pair one of them with the wrong result of another subject or file.
fn check_names(imports: &[Imported]) -> Result<(), Problem> {
    let time_metric = Metric::MEAN_WALL;
    let mut names = HashSet::new();
    for import in imports {
        let subject = (&import.subject, &import.language, &import.driver);
        for series in &import.series {
            let name = (subject, &series.case, &series.params[..], &series.metric);
            if !names.insert(name) {
                let label = series.label();
                let name = if label.is_empty() {
                    &import.subject
                } else {
                    &label
                };
                return Err(Problem::whole(wording::same_name(name, &series.metric)));
            }
        }
        for time in &import.times {
            if !names.insert((subject, &time.title, &[][..], &time_metric)) {
                let problem = wording::same_name(&time.title, &time_metric);
                return Err(Problem::whole(problem));
            }
        }
    }
    Ok(())
}

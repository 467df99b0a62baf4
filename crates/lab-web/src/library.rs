// SPDX-License-Identifier: Apache-2.0
//! The runs in a directory, found by name and read one at a time, with a cache of results.

use crate::problem::Problem;
use lab_bisect::BisectionFile;
use lab_document::{Document, clean};
use lab_kinds::{ChangeGates, RunSummary};
use lab_model::Run;
use lab_report::Report;
use lab_stats::between::Recorded;
use lab_store::{Heading, RunProgress, StoreError};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The maximum number of cached documents. They are cached because a report is often exported right
/// after it was shown.
const DOCUMENTS: usize = 4;

/// The extension of the directory of a bisection.
const BISECTION: &str = ".bisect";

/// The runs in a directory.
pub struct RunLibrary {
    folder: PathBuf,
    /// A lock that is held while a run file is open.
    ///
    /// SQLite loses its locks on a file if the process closes any other descriptor of the file
    /// (sqlite.org/howtocorrupt.html, 2.2).
    reading: Mutex<()>,
    summaries: Cache<RunLine>,
    run_summaries: Cache<RunSummary>,
    documents: Mutex<Vec<(String, Stamp, Arc<Document>)>>,
}

/// A cache of values computed from runs, by the name of the run.
type Cache<T> = Mutex<HashMap<String, (Stamp, Arc<T>)>>;

/// The length and modification time of a run file and of its SQLite write-ahead log.
///
/// As long as these values stay the same, the run is unchanged.
type Stamp = [Option<(u64, SystemTime)>; 2];

/// A run in the directory.
#[derive(Clone, Debug)]
pub struct RunEntry {
    /// The name of the file without `.lab`.
    pub name: String,
    /// The heading of the run, or an error message if the file cannot be read.
    pub heading: Result<Heading, String>,
    /// The state of the run.
    pub state: RunState,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run is being measured.
    Measured,
    /// The run was stopped or killed.
    Stopped,
    /// The run has finished.
    Ended,
}

/// The result of a run in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLine {
    /// The first sentence of the result.
    pub answer: String,
    /// The tone in which the line is shown.
    pub tone: lab_document::Tone,
    /// The number of warnings.
    pub warnings: usize,
}

impl RunLibrary {
    /// Creates a library for a directory, which does not have to exist.
    pub fn new(folder: PathBuf) -> RunLibrary {
        RunLibrary {
            folder,
            reading: Mutex::default(),
            summaries: Cache::default(),
            run_summaries: Cache::default(),
            documents: Mutex::default(),
        }
    }

    /// Returns the directory of the runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns all runs, latest first.
    pub fn entries(&self) -> Vec<RunEntry> {
        let mut entries: Vec<RunEntry> = self
            .names()
            .into_iter()
            .map(|name| self.entry(name))
            .collect();
        let began = |e: &RunEntry| {
            e.heading
                .as_ref()
                .map_or(f64::INFINITY, |h| h.started_unix_s)
        };
        entries.sort_by(|a, b| {
            began(b)
                .total_cmp(&began(a))
                .then_with(|| b.name.cmp(&a.name))
        });
        entries
    }

    /// Returns a run, or an error if there is no such run.
    pub fn find(&self, name: &str) -> Result<RunEntry, Problem> {
        self.path(name)?;
        Ok(self.entry(name.to_owned()))
    }

    /// Returns the file of a run.
    ///
    /// Accepts only listed runs, so that a name cannot lead out of the directory.
    pub fn path(&self, name: &str) -> Result<PathBuf, Problem> {
        let listed = self.names().into_iter().find(|listed| listed == name);
        let listed =
            listed.ok_or_else(|| Problem::missing(format!("there is no run `{name}` here")))?;
        Ok(self.folder.join(listed + ".lab"))
    }

    /// Returns the names of the bisections in the directory, latest first.
    pub fn bisections(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names_with(BISECTION).collect();
        names.retain(|name| BisectionFile::find(&self.bisection_folder(name)).is_some());
        // Names begin with the start time.
        names.sort_unstable_by(|a, b| b.cmp(a));
        names
    }

    /// Returns a bisection, or an error if there is no such bisection.
    ///
    /// Accepts only listed bisections, so that a name cannot lead out of the directory.
    pub fn bisection(&self, name: &str) -> Result<BisectionFile, Problem> {
        let listed = self.names_with(BISECTION).find(|listed| listed == name);
        let file = listed.and_then(|name| BisectionFile::find(&self.bisection_folder(&name)));
        file.ok_or_else(|| Problem::missing(format!("there is no bisection `{name}` here")))
    }

    fn bisection_folder(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{BISECTION}"))
    }

    /// Returns the progress of a run.
    pub fn progress(&self, name: &str) -> Result<RunProgress, Problem> {
        let path = self.path(name)?;
        let _reading = lock(&self.reading);
        Ok(RunProgress::read(&path)?)
    }

    /// Returns true if a run is still being measured.
    pub fn is_measured(&self, name: &str) -> Result<bool, Problem> {
        let path = self.path(name)?;
        let _reading = lock(&self.reading);
        Ok(lab_store::is_measured(&path))
    }

    /// Loads a run with all of its samples.
    pub fn load(&self, name: &str) -> Result<Run, Problem> {
        let path = self.path(name)?;
        let _reading = lock(&self.reading);
        Ok(lab_store::load(&path)?)
    }

    /// Returns the report of a run.
    pub fn document(&self, name: &str) -> Result<Arc<Document>, Problem> {
        let stamp = stamp(&self.path(name)?);
        let is_current = |(run, made_of, _): &&(String, Stamp, _)| run == name && *made_of == stamp;
        if let Some((_, _, document)) = lock(&self.documents).iter().find(is_current) {
            return Ok(document.clone());
        }
        let run = self.load(name)?;
        let document = Arc::new(lab_kinds::document(&Report::new(
            &run,
            &format!("{name}.lab"),
        )));
        let mut documents = lock(&self.documents);
        documents.retain(|(run, ..)| run != name);
        documents.insert(0, (name.to_owned(), stamp, document.clone()));
        documents.truncate(DOCUMENTS);
        Ok(document)
    }

    /// Returns the result of a listed run in one line, if it is cached.
    pub fn known_summary(&self, entry: &RunEntry) -> Option<Arc<RunLine>> {
        let path = self.folder.join(format!("{}.lab", entry.name));
        get_cached(&self.summaries, &entry.name, stamp(&path))
    }

    /// Returns the result of a run in one line.
    pub fn summary(&self, name: &str) -> Result<Arc<RunLine>, Problem> {
        cached_or_made(&self.summaries, name, stamp(&self.path(name)?), || {
            self.document(name).map(|document| RunLine::new(&document))
        })
    }

    /// Returns the summary of a run for a history, or `None` if the run contains imported values.
    pub fn run_summary(&self, name: &str) -> Result<Option<Arc<RunSummary>>, Problem> {
        let path = self.path(name)?;
        let stamp = stamp(&path);
        if let Some(run_summary) = get_cached(&self.run_summaries, name, stamp) {
            return Ok(Some(run_summary));
        }
        let (run, hashes) = self.load_recorded(name)?;
        let run_summary = RunSummary::new(&run, &hashes).map(Arc::new);
        if let Some(run_summary) = &run_summary {
            lock(&self.run_summaries).insert(name.to_owned(), (stamp, run_summary.clone()));
        }
        Ok(run_summary)
    }

    /// Compares two runs in the same way as `benchlab diff A.lab B.lab`.
    pub fn compare(&self, names: [&str; 2]) -> Result<Document, Problem> {
        let [(a, a_hashes), (b, b_hashes)] =
            [self.load_recorded(names[0])?, self.load_recorded(names[1])?];
        let before = Recorded {
            run: &a,
            hashes: &a_hashes,
        };
        let after = Recorded {
            run: &b,
            hashes: &b_hashes,
        };
        let files = names.map(|name| format!("{name}.lab"));
        let document = lab_kinds::compare(
            [before, after],
            [&files[0], &files[1]],
            ChangeGates::default(),
        );
        document.map_err(Problem::wrong)
    }

    /// Deletes a run: its file, SQLite's files for it, and its page.
    ///
    /// Returns an error if the run is being measured or if a file cannot be deleted.
    pub fn delete(&self, name: &str) -> Result<(), Problem> {
        let path = self.path(name)?;
        if self.is_measured(name)? {
            return Err(Problem::busy(format!(
                "{name} is being measured: stop it first"
            )));
        }
        let sibling = |end: &str| path.with_file_name(format!("{name}.lab{end}"));
        std::fs::remove_file(&path).map_err(|e| Problem::broken(format!("{name}: {e}")))?;
        for other in [
            sibling("-wal"),
            sibling("-shm"),
            path.with_extension("html"),
        ] {
            match std::fs::remove_file(&other) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Problem::broken(format!("{}: {e}", other.display())));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Loads a run with the hashes of its programs.
    fn load_recorded(&self, name: &str) -> Result<(Run, HashMap<String, String>), Problem> {
        let path = self.path(name)?;
        let _reading = lock(&self.reading);
        let read =
            || Ok::<_, StoreError>((lab_store::load(&path)?, lab_store::recorded_hashes(&path)?));
        Ok(read()?)
    }

    /// Returns the names of the run files, unsorted.
    ///
    /// Names that are not UTF-8 are skipped, because a URL cannot contain them.
    fn names(&self) -> Vec<String> {
        self.names_with(".lab").collect()
    }

    /// Returns the names of the directory's entries that end in `ending`, without that ending.
    fn names_with(&self, ending: &'static str) -> impl Iterator<Item = String> + use<> {
        let entries = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let name = move |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_suffix(ending).filter(|n| !n.is_empty())?;
            Some(name.to_owned())
        };
        entries.filter_map(name)
    }

    fn entry(&self, name: String) -> RunEntry {
        let path = self.folder.join(format!("{name}.lab"));
        let _reading = lock(&self.reading);
        let heading = Heading::read(&path).map_err(|e| clean(&e.to_string()));
        let is_measured = || lab_store::is_measured(&path);
        let state = match &heading {
            Ok(heading) if heading.ended => RunState::Ended,
            _ if is_measured() => RunState::Measured,
            Ok(heading) if heading.experiment.is_some() => RunState::Stopped,
            _ => RunState::Ended,
        };
        RunEntry {
            name,
            heading,
            state,
        }
    }
}

impl RunLine {
    fn new(document: &Document) -> RunLine {
        let answer = &document.answer;
        let first = answer.findings.first();
        let (headline, _) = answer.split();
        let headline = Some(headline).filter(|text| !text.is_empty());
        let none = || "Nothing was compared.".to_owned();
        RunLine {
            answer: clean(
                &headline
                    .or_else(|| answer.undecided.clone())
                    .or_else(|| answer.omitted.clone())
                    .unwrap_or_else(none),
            ),
            tone: first.map_or(lab_document::Tone::Inconclusive, |f| f.tone),
            warnings: document.warnings().len(),
        }
    }
}

/// Locks a mutex even if it is poisoned, because its content can be computed again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn get_cached<T>(cache: &Cache<T>, name: &str, stamp: Stamp) -> Option<Arc<T>> {
    let cache = lock(cache);
    let (made_of, value) = cache.get(name)?;
    (*made_of == stamp).then(|| value.clone())
}

fn cached_or_made<T>(
    cache: &Cache<T>,
    name: &str,
    stamp: Stamp,
    make: impl FnOnce() -> Result<T, Problem>,
) -> Result<Arc<T>, Problem> {
    if let Some(value) = get_cached(cache, name, stamp) {
        return Ok(value);
    }
    let value = Arc::new(make()?);
    lock(cache).insert(name.to_owned(), (stamp, value.clone()));
    Ok(value)
}

fn stamp(path: &Path) -> Stamp {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    [path.to_path_buf(), wal.into()].map(|path| {
        let meta = std::fs::metadata(path).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    })
}

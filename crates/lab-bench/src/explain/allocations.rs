// SPDX-License-Identifier: Apache-2.0
//! Counts the allocations of an operation.
//!
//! For programs that use the C library's allocator, a preloaded library counts the allocations (`allocations.c`). Other
//! runtimes have their own heap and report their own counters.

use super::counting::{Adding, ExplainedBatches, missing};
use super::explainer::Explainer;
use crate::subject::dialog::connection_lost;
use crate::subject::fault::SubjectResult;
use crate::subject::process::Allocated;
use lab_model::{Counted, Metric};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The library, built from `allocations.c`.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocations.so"));

/// Languages whose runtimes have their own heap. Their kits report the runtime's counters (docs/protocol.md).
const OWN_HEAPS: [&str; 3] = ["Go", "Java", "Node.js"];

/// The size of the counter file in bytes. It contains two native-endian numbers of eight bytes
/// each: blocks and bytes.
const COUNTS_BYTES: usize = 16;

impl Explainer<'_> {
    /// Counts a subject's allocations in a separate process, because counting slows the subject
    /// down.
    ///
    /// Returns a fault if the allocations cannot be counted.
    pub(super) fn count_allocations(
        &self,
        counted: &mut Counted,
        batches: ExplainedBatches,
    ) -> SubjectResult<()> {
        let library = CountingLibrary::new(self.scratch.folder())?;
        let has_own_heap = has_own_heap(&self.plan.subjects[counted.subject].language);
        let prefix = if has_own_heap {
            Vec::new()
        } else {
            library.prefix()
        };
        let (mut process, mut visit) = self.warm(counted, batches, &prefix)?;
        process.counts_allocations = has_own_heap;
        if !has_own_heap && library.read()?[0] == 0.0 {
            return Err(missing(
                "the program does not allocate memory through a shared C library",
            ));
        }
        let rows = self.differences(&mut process, &mut visit, batches, |process, run| {
            let before = library.read()?;
            let result = run(process)?;
            let after = library.read()?;
            if has_own_heap {
                allocation_values(result.allocated)
            } else {
                Ok(after.iter().zip(before).map(|(a, b)| a - b).collect())
            }
        })?;
        process.close()?;
        process.quit()?;
        match rows.first().map_or(0, Vec::len) {
            2 => counted.add_metrics([Metric::ALLOCATED_BYTES, Metric::ALLOCATIONS].iter(), &rows),
            _ => {
                counted.add_metrics([Metric::ALLOCATED_BYTES].iter(), &rows);
                return Err(missing("the program's runtime counts only bytes"));
            }
        }
        Ok(())
    }
}

/// Returns the number of allocated bytes, and the number of blocks if the runtime counts them.
fn allocation_values(allocated: Allocated) -> SubjectResult<Vec<f64>> {
    let bytes = allocated.bytes;
    let bytes = bytes.ok_or_else(|| {
        missing("the program's runtime has its own heap and does not report allocations")
    })?;
    let figures = [Some(bytes), allocated.blocks].into_iter().flatten();
    Ok(figures.map(|figure| figure as f64).collect())
}

/// Returns true if a language's runtime allocates hardly any memory through the C library.
pub(super) fn has_own_heap(language: &str) -> bool {
    OWN_HEAPS.contains(&language)
}

/// The library, ready to be loaded, and the file with its counters.
pub(super) struct CountingLibrary {
    library: PathBuf,
    path: PathBuf,
    counts: File,
}

impl CountingLibrary {
    /// Writes the library and the counter file into a directory. The counters start at 0.
    pub(super) fn new(folder: &Path) -> SubjectResult<CountingLibrary> {
        let [library, path] = ["allocations.so", "allocations"].map(|name| folder.join(name));
        let counts = std::fs::write(&library, LIBRARY)
            .and_then(|()| std::fs::write(&path, [0; COUNTS_BYTES]))
            .and_then(|()| File::open(&path));
        Ok(CountingLibrary {
            counts: counts.map_err(connection_lost)?,
            library,
            path,
        })
    }

    /// Returns the command prefix that makes a program load the library.
    ///
    /// The prefix also disables Python's own allocator, which allocates large blocks from the C
    /// library and divides them itself.
    pub(super) fn prefix(&self) -> Vec<String> {
        vec![
            "env".into(),
            format!("LD_PRELOAD={}", self.library.display()),
            format!("BENCHLAB_ALLOCATIONS={}", self.path.display()),
            "PYTHONMALLOC=malloc".into(),
        ]
    }

    /// Reads the number of bytes and blocks allocated so far.
    pub(super) fn read(&self) -> SubjectResult<Vec<f64>> {
        let mut bytes = [0; COUNTS_BYTES];
        self.counts
            .read_exact_at(&mut bytes, 0)
            .map_err(connection_lost)?;
        let number = |offset: usize| {
            let bytes = bytes[offset..offset + 8].try_into().expect("eight bytes");
            u64::from_ne_bytes(bytes) as f64
        };
        Ok(vec![number(8), number(0)])
    }
}

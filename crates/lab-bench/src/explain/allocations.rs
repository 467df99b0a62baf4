// SPDX-License-Identifier: Apache-2.0
//! Allocations of an operation: for programs that use the C library's memory, counted by a library that is
//! preloaded (`allocations.c`); for runtimes with heaps of their own, by their own counters.

use super::counting::{Adding, ExplainedBatches, missing};
use super::explainer::Explainer;
use crate::fault::SubjectResult;
use crate::process::{Allocated, connection_lost};
use lab_model::{Counted, Metric};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The library, built from `allocations.c`.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocations.so"));

/// Languages whose runtimes have heaps of their own; their kits tell what they count (docs/protocol.md).
const OWN_HEAPS: [&str; 3] = ["Go", "Java", "Node.js"];

/// The file of counts, in bytes: blocks and bytes, each a number of eight bytes in the machine's order.
const COUNTS_BYTES: usize = 16;

impl Explainer<'_> {
    /// Counts allocations in a process of its own, because counting slows it down. Fault: it cannot be counted.
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
                "it does not take its memory from a shared C library",
            ));
        }
        let rows = self.differences(&mut process, &mut visit, batches, |process, run| {
            let before = library.read()?;
            let result = run(process)?;
            let after = library.read()?;
            if has_own_heap {
                allocation_figures(result.allocated)
            } else {
                Ok(after.iter().zip(before).map(|(a, b)| a - b).collect())
            }
        })?;
        process.close()?;
        process.quit()?;
        match rows.first().map_or(0, Vec::len) {
            2 => counted.figures([Metric::ALLOCATED_BYTES, Metric::ALLOCATIONS].iter(), &rows),
            _ => {
                counted.figures([Metric::ALLOCATED_BYTES].iter(), &rows);
                return Err(missing("its runtime counts bytes alone"));
            }
        }
        Ok(())
    }
}

/// Bytes, and blocks where the runtime counts them.
fn allocation_figures(allocated: Allocated) -> SubjectResult<Vec<f64>> {
    let bytes = allocated.bytes;
    let bytes =
        bytes.ok_or_else(|| missing("its runtime has a heap of its own, and does not tell"))?;
    let figures = [Some(bytes), allocated.blocks].into_iter().flatten();
    Ok(figures.map(|figure| figure as f64).collect())
}

/// True if a language's runtime takes little of its memory from the C library.
pub(super) fn has_own_heap(language: &str) -> bool {
    OWN_HEAPS.contains(&language)
}

/// The library, ready to be loaded, and the file that it counts in.
pub(super) struct CountingLibrary {
    library: PathBuf,
    path: PathBuf,
    counts: File,
}

impl CountingLibrary {
    /// Writes library and counts into a folder; the counts begin at 0.
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

    /// Words in front of a program that load the library. Python's own allocator, which takes memory in large pieces,
    /// is switched off.
    pub(super) fn prefix(&self) -> Vec<String> {
        vec![
            "env".into(),
            format!("LD_PRELOAD={}", self.library.display()),
            format!("BENCHLAB_ALLOCATIONS={}", self.path.display()),
            "PYTHONMALLOC=malloc".into(),
        ]
    }

    /// Bytes and blocks so far.
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

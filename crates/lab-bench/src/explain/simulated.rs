// SPDX-License-Identifier: Apache-2.0
//! The cost of an operation on the processor that Callgrind simulates, where the machine's own counters are
//! unavailable.

use super::counting::{Adding, ExplainedBatches, missing};
use super::explainer::Explainer;
use crate::build::in_path;
use crate::fault::{Fault, SubjectResult};
use lab_model::{Counted, Metric};
use lab_valgrind::{CACHES, CostProfile, NO_DEBUGGER, clean, read_callgrind};
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Languages whose programs Valgrind can run.
const NATIVE: [&str; 4] = ["Ada", "C", "C++", "Rust"];

/// Batches before the one that counts: nothing is compiled while it runs, and Callgrind is slow.
const WARM_UP: u64 = 1;

/// The most functions that are reported.
const FUNCTIONS: usize = 20;

/// The figures, each of an event of Callgrind's or a sum of such.
pub(super) static FIGURES: [(Metric, &str); 3] = [
    (Metric::SIMULATED_INSTRUCTIONS, "Ir"),
    (Metric::SIMULATED_D1_MISSES, "D1"),
    (Metric::SIMULATED_LL_MISSES, "LL"),
];

impl Explainer<'_> {
    /// Counts in two processes, of which one does twice as many operations. Fault: Valgrind cannot run it.
    pub(super) fn count_instructions(
        &self,
        counted: &mut Counted,
        batches: ExplainedBatches,
    ) -> SubjectResult<()> {
        let language = self.plan.subjects[counted.subject].language.as_str();
        if !NATIVE.contains(&language) {
            return Err(missing(
                "the machine has no hardware counters, and Callgrind cannot see the code that a runtime makes",
            ));
        }
        if in_path("valgrind").is_none() {
            return Err(missing("valgrind is not installed; --install installs it"));
        }
        let [once, twice] = [1, 2].map(|times| self.run_under_callgrind(counted, batches, times));
        let (once, twice) = (once?, twice?);
        let each = |twice: u64, once: u64| (twice as f64 - once as f64) / batches.operations as f64;
        let figures = FIGURES.iter().filter_map(|(metric, event)| {
            let [once, twice] = [&once, &twice].map(|profile| profile.total_of(event));
            Some((metric, each(twice?, once?)))
        });
        let (metrics, row): (Vec<&Metric>, Vec<f64>) = figures.unzip();
        counted.figures(metrics.into_iter(), &[row]);
        let differences = |by: fn(&CostProfile) -> HashMap<String, u64>| {
            let once = by(&once);
            most_costly(by(&twice).into_iter().map(|(name, cost)| {
                let before = once.get(&name).copied().unwrap_or(0);
                (name, each(cost, before))
            }))
        };
        counted.functions = differences(by_function);
        counted.libraries = differences(by_library);
        Ok(())
    }

    /// A process that does a batch of so many times the usual size.
    fn run_under_callgrind(
        &self,
        counted: &Counted,
        batches: ExplainedBatches,
        times: u64,
    ) -> SubjectResult<CostProfile> {
        let file = self.scratch.folder().join("callgrind");
        let warm_up = ExplainedBatches {
            warm_up: WARM_UP,
            ..batches
        };
        let (mut process, mut visit) = self.warm(counted, warm_up, &under_callgrind(&file))?;
        visit.run(&mut process, self.plan, times * batches.operations)?;
        visit.check_work(self.plan)?;
        process.close()?;
        process.quit()?;
        read_profile(&file)
    }
}

/// Reads what Callgrind wrote.
pub(super) fn read_profile(file: &Path) -> SubjectResult<CostProfile> {
    let failure = |message: String| Fault::Failed("callgrind", message);
    let file = File::open(file).map_err(|e| failure(e.to_string()))?;
    read_callgrind(BufReader::new(file)).map_err(|e| failure(e.to_string()))
}

pub(super) fn under_callgrind(file: &Path) -> Vec<String> {
    let words = [
        "valgrind".into(),
        "-q".into(),
        NO_DEBUGGER.into(),
        "--tool=callgrind".into(),
        "--cache-sim=yes".into(),
        format!("--callgrind-out-file={}", file.display()),
    ];
    words.into_iter().chain(CACHES.map(str::to_owned)).collect()
}

/// The functions with the greatest costs.
pub(super) fn most_costly(functions: impl Iterator<Item = (String, f64)>) -> Vec<(String, f64)> {
    let mut functions: Vec<(String, f64)> = functions.filter(|(_, cost)| *cost > 0.0).collect();
    functions.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    functions.truncate(FUNCTIONS);
    functions
}

/// Instructions in the program and in each library, by the last part of its path.
pub(super) fn by_library(profile: &CostProfile) -> HashMap<String, u64> {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for (object, cost) in profile.objects() {
        let name = Path::new(object).file_name();
        let name = name.map_or(object.into(), |name| name.to_string_lossy());
        let sum = sums.entry(name.into_owned()).or_default();
        *sum = sum.saturating_add(cost);
    }
    sums
}

/// Instructions of each function's own code.
pub(super) fn by_function(profile: &CostProfile) -> HashMap<String, u64> {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for function in profile.functions() {
        let cost = profile.value("Ir", function.costs).unwrap_or(0);
        let sum = sums.entry(clean(function.name).to_owned()).or_default();
        *sum = sum.saturating_add(cost);
    }
    sums
}

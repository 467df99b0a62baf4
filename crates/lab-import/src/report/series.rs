// SPDX-License-Identifier: Apache-2.0
//! The series of a run, and facts about the tool that measured them.

use lab_model::{Imported, ImportedSeries, Metric, Run};
use std::collections::BTreeSet;

/// The values of one metric of one benchmark, with the subject that was measured.
#[derive(Clone, Debug)]
pub struct SubjectSeries {
    /// The subject's name.
    pub subject: String,
    /// The values of one metric of one benchmark.
    pub series: ImportedSeries,
    /// The subject's exit codes; see [`Imported::exit_codes`].
    pub exit_codes: BTreeSet<Option<i64>>,
}

impl SubjectSeries {
    /// Returns false if the runs of the two subjects are known to have ended in different ways,
    /// which means that they did different work. Otherwise, returns true.
    pub fn ended_like(&self, other: &SubjectSeries) -> bool {
        let [a, b] = [&self.exit_codes, &other.exit_codes];
        a.is_empty() || b.is_empty() || a == b
    }
}

/// Returns all series of a run, in the order of the file.
pub fn all_series(run: &Run) -> Vec<SubjectSeries> {
    let of_import = |import: &Imported| {
        let subject = subject_name(import);
        let exchanged = exchanged(import);
        let all = import.series.iter().cloned().chain(exchanged);
        let all: Vec<SubjectSeries> = all
            .map(|series| SubjectSeries {
                subject: subject.clone(),
                series,
                exit_codes: import.exit_codes.clone(),
            })
            .collect();
        all
    };
    run.imports().iter().flat_map(of_import).collect()
}

/// Returns a subject's name. For benchlab's XML, this is the language with the driver.
fn subject_name(import: &Imported) -> String {
    if import.subject.is_empty() {
        let name = format!("{} {}", import.language, import.driver);
        name.trim().to_owned()
    } else {
        import.subject.clone()
    }
}

/// Returns the values of benchlab's XML, each measured once.
fn exchanged(import: &Imported) -> Vec<ImportedSeries> {
    let single = |case: &str, metric: Metric, value: f64| ImportedSeries {
        case: case.into(),
        params: Vec::new(),
        metric,
        processes: vec![vec![value]],
    };
    let times = import.times.iter();
    let times = times.flat_map(|time| {
        [
            single(&time.title, Metric::MEAN_WALL, time.time_ns),
            single(&time.title, Metric::OPERATIONS, time.count as f64),
        ]
    });
    let of_process = [
        (Metric::THREADS, import.threads),
        (Metric::MEMORY, import.rss_bytes),
        (Metric::PEAK_MEMORY, import.peak_rss_bytes),
        (Metric::USER_CPU, import.user_ns),
        (Metric::SYSTEM_CPU, import.sys_ns),
    ];
    let of_process = of_process.into_iter();
    let of_process =
        of_process.filter_map(|(metric, value)| Some(single("", metric, value? as f64)));
    times.chain(of_process).collect()
}

/// Returns the name of the tool that measured a run.
pub fn tool(run: &Run) -> &str {
    let tool = run.imports().first().map_or("", |import| &import.tool);
    if tool.is_empty() { "XML" } else { tool }
}

/// Returns a sentence that explains how to measure in multiple processes with a tool.
pub fn advice(tool: &str) -> &'static str {
    let is_tool = |format: &&crate::ImportFormat| {
        let letters = |name: &str| {
            let letters = name.chars().filter(|c| c.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect::<String>()
        };
        letters(format.name) == letters(tool)
    };
    let known = crate::FORMATS.iter().find(is_tool);
    match (known, tool) {
        (Some(format), _) => format.advice,
        (None, "HdrHistogram") => crate::format::hdr_log::FORMAT.advice,
        (None, _) => "",
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The kinds of runs and the data specific to each kind.

use crate::{Audit, LogAnalysis, Metric, Plan, SubjectId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The kind of a run, with the data specific to that kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// A measurement of subjects, planned or finished.
    Measured(Box<Measured>),
    /// An analysis of logs.
    Logs(Box<LogAnalysis>),
    /// An audit of a host, a network or a site.
    Audit(Box<Audit>),
    /// The results of other tools, imported from their files.
    Imported(Vec<Imported>),
}

/// A run that measures subjects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The plan of the run.
    pub plan: Plan,
    /// Values without noise, each counted once for a subject and separately from the blocks.
    pub figures: Vec<NoiseFreeValue>,
    /// The output of profilers, if the programs were profiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<StoredProfile>,
}

/// The output of Valgrind's tools. The report of a profile is computed from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredProfile {
    /// Names, source lines and other facts that are missing from the output, as JSON in the format
    /// of `lab-profile`.
    pub notes: String,
    /// The output of each tool for each program.
    pub outputs: Vec<ToolOutput>,
}

/// The output file of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// The index of the profiled program.
    pub program: u32,
    /// The tool, such as `callgrind`.
    pub tool: String,
    /// The file, compressed with gzip.
    pub gzip: Vec<u8>,
}

/// A value that was counted once per subject, such as its peak heap under Massif.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFreeValue {
    /// The subject for which the value was counted.
    pub subject: SubjectId,
    /// The ID of a metric in [`crate::Run::metrics`].
    pub metric: String,
    /// The value in the metric's unit.
    pub value: f64,
}

/// The results of one subject in an imported file.
///
/// benchlab's own XML has one `<benchmark>` for each subject and fills in [`Imported::times`] and
/// the fields above it. Files of other tools fill in the fields below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// The language stated in the file.
    pub language: String,
    /// The driver stated in the file.
    pub driver: String,
    /// The number of threads, if the file states it.
    pub threads: Option<u64>,
    /// Resident memory in bytes, if the file states it.
    pub rss_bytes: Option<u64>,
    /// Peak resident memory in bytes, if the file states it.
    pub peak_rss_bytes: Option<u64>,
    /// User CPU time in ns, if the file states it.
    pub user_ns: Option<u64>,
    /// System CPU time in ns, if the file states it.
    pub sys_ns: Option<u64>,
    /// The times of the benchmark.
    pub times: Vec<ImportedTime>,
    /// The tool that measured, such as `hyperfine`. Empty for benchlab's own XML.
    #[serde(default)]
    pub tool: String,
    /// The measured subject, such as a command line. If the file names no subject, this is the
    /// tool's name.
    #[serde(default)]
    pub subject: String,
    /// The measured series, in the order of the file.
    #[serde(default)]
    pub series: Vec<ImportedSeries>,
    /// Facts that the file states about the measurement, such as the tool's version and the CPU, in
    /// display order.
    #[serde(default)]
    pub facts: Vec<(String, String)>,
    /// Sentences about content of the file that was not imported, and about benchmarks that failed.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The distinct exit codes of the runs. `None` stands for runs that a signal ended. Empty if
    /// the file does not state them.
    #[serde(default)]
    pub exit_codes: BTreeSet<Option<i64>>,
}

/// One metric of one benchmark, as another tool measured it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedSeries {
    /// The benchmark's name. Empty if the file has only one benchmark.
    pub case: String,
    /// The benchmark's parameters.
    pub params: Vec<(String, String)>,
    /// The metric, with its name and its unit.
    pub metric: Metric,
    /// The values of each process in the metric's unit, in chronological order. There is at least
    /// one process with one value.
    pub processes: Vec<Vec<f64>>,
}

impl ImportedSeries {
    /// Returns the benchmark's name with its parameters, such as `sort size=10`.
    pub fn label(&self) -> String {
        let params = self
            .params
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let case = Some(self.case.clone()).filter(|case| !case.is_empty());
        case.into_iter().chain(params).collect::<Vec<_>>().join(" ")
    }
}

/// A `<time>` element of an imported file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedTime {
    /// The title in the file.
    pub title: String,
    /// The number of operations that were timed.
    pub count: u64,
    /// The time of one operation, in ns.
    pub time_ns: f64,
    /// The total time of all operations, in ns.
    pub total_ns: f64,
}

impl Default for Content {
    fn default() -> Self {
        Content::Imported(Vec::new())
    }
}

impl From<Plan> for Content {
    /// Creates the content of a run that has not measured anything yet.
    fn from(plan: Plan) -> Self {
        Content::Measured(Box::new(Measured {
            plan,
            ..Measured::default()
        }))
    }
}

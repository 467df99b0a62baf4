// SPDX-License-Identifier: Apache-2.0
//! A case of an experiment.

use crate::file::{self, Count};
use lab_model::{Check, Cores, Metric, SqlWork, TargetId};
use std::collections::BTreeMap;

/// Values by parameter name.
pub type Values = BTreeMap<String, Vec<String>>;

/// The cases and values that a run measures by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// The cases and values in the experiment's `[quick]` table. They give a result within a
    /// minute.
    Quick,
    /// The cases and values in the experiment's `[usual]` table. They answer its main question.
    #[default]
    Usual,
    /// All cases with all values.
    Thorough,
}

impl Extent {
    /// Returns the name of the extent. The experiment's table that defines the extent and the
    /// matching selection of subjects have the same name.
    pub fn table(self) -> &'static str {
        match self {
            Extent::Quick => "quick",
            Extent::Usual => "usual",
            Extent::Thorough => "thorough",
        }
    }
}

/// A case, with all values of its sweep and factors.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name, unique in the experiment.
    pub name: String,
    /// A description of the work.
    pub work: String,
    /// The unit in which subjects count their output, in the singular.
    pub unit: String,
    /// The swept parameter and its values, ascending.
    pub sweep: Option<(String, Vec<u64>)>,
    /// The factors and their values. The first value of each factor is the default.
    pub factors: Vec<Factor>,
    /// The targets on which the case can run.
    pub targets: Vec<TargetId>,
    /// For each factor, the sweep values at which its non-default values are measured unless the
    /// user requests others.
    pub thin: BTreeMap<String, Vec<u64>>,
    /// The check with which benchlab verifies that the work was done.
    pub check: Check,
    /// True if the case starts with an empty table.
    pub empty: bool,
    /// The cores on which the case runs.
    pub cores: Cores,
    /// The length of a batch in ns, if it differs from the default.
    pub turn_ns: Option<u64>,
    /// True if subjects report the latency of each operation.
    pub latencies: bool,
    /// The number of operations due per second, or `None` if the rate is not fixed.
    pub rate: Option<u64>,
    /// True if the case is measured by default.
    pub default: bool,
    /// The values that a quick run measures. `None` excludes the case.
    pub quick: Option<Values>,
    /// The values that a run of the usual extent measures. `None` excludes the case.
    pub usual: Option<Values>,
    /// True if subjects are compared with each other.
    pub compare: bool,
    /// Metrics that subjects or fixtures report with each batch.
    pub metrics: Vec<Metric>,
    /// The names of the metrics that fixtures report.
    pub(crate) observed: Vec<String>,
    pub(crate) statements: Vec<(String, Count)>,
    pub(crate) reads: Count,
    pub(crate) writes: Option<file::Writes>,
    /// The user's own SQL statements for each target, if the case belongs to a workload.
    pub(crate) sql: Vec<(TargetId, SqlWork)>,
}

/// A parameter whose values are words.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The factor's name.
    pub name: String,
    /// The values. The first value is the default.
    pub values: Vec<String>,
    /// The targets on which the parameter exists.
    pub targets: Vec<TargetId>,
    /// Combinations of a target and a value that are not available.
    pub absent: Vec<(TargetId, String)>,
}

impl Case {
    /// Returns the values that a run measures if its extent is `extent`, or `None` if such a run
    /// excludes the case.
    ///
    /// If the returned map lacks a parameter, the run measures all of the parameter's values.
    pub fn values(&self, extent: Extent) -> Option<&Values> {
        static ALL: Values = Values::new();
        match extent {
            Extent::Quick => self.quick.as_ref(),
            Extent::Usual => self.usual.as_ref(),
            Extent::Thorough => Some(&ALL),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! A case of an experiment.

use crate::file::{self, Count};
use lab_model::{Check, Cores, Metric, TargetId};
use std::collections::BTreeMap;

/// Values of parameters, by the parameter's name.
pub type Values = BTreeMap<String, Vec<String>>;

/// How much of an experiment is measured, where cases and values are not named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// The cases and values of its `[quick]` table: an answer in a minute.
    Quick,
    /// The cases and values of its `[usual]` table: enough to decide its main question.
    #[default]
    Usual,
    /// All cases with all values.
    Thorough,
}

impl Extent {
    /// The name of the table, and of the selection of subjects.
    pub fn table(self) -> &'static str {
        match self {
            Extent::Quick => "quick",
            Extent::Usual => "usual",
            Extent::Thorough => "thorough",
        }
    }
}

/// A case with all values of its sweep and factors.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique name.
    pub name: String,
    /// The work in words.
    pub work: String,
    /// The unit of `units`, in the singular.
    pub unit: String,
    /// The swept parameter and its values, ascending.
    pub sweep: Option<(String, Vec<u64>)>,
    /// Factors and their values; the first value is the usual one.
    pub factors: Vec<Factor>,
    /// The targets that it is for.
    pub targets: Vec<TargetId>,
    /// Factors, and the sweep values at which their further values are measured unless they are asked for.
    pub thin: BTreeMap<String, Vec<u64>>,
    /// How the lab checks the work.
    pub check: Check,
    /// The target begins empty.
    pub empty: bool,
    /// Where it is done.
    pub cores: Cores,
    /// The length of a batch, ns, where it is not the usual one.
    pub turn_ns: Option<u64>,
    /// Subjects report the latency of each operation.
    pub latencies: bool,
    /// Operations due per second, where their rate is fixed.
    pub rate: Option<u64>,
    /// True if it is measured without being requested.
    pub default: bool,
    /// The values that a quick run measures; `None`: it leaves the case out.
    pub quick: Option<Values>,
    /// The values that a usual run measures; `None`: it leaves the case out.
    pub usual: Option<Values>,
    /// Subjects are compared with each other.
    pub compare: bool,
    /// Metrics that subjects report with each batch.
    pub metrics: Vec<Metric>,
    pub(crate) statements: Vec<(String, Count)>,
    pub(crate) reads: Count,
    pub(crate) writes: Option<file::Writes>,
}

/// A parameter whose values are words.
#[derive(Clone, Debug)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// The first one is the usual one.
    pub values: Vec<String>,
    /// The targets on which the parameter exists.
    pub targets: Vec<TargetId>,
    /// Values that a target lacks.
    pub absent: Vec<(TargetId, String)>,
}

impl Case {
    /// The values that are measured; parameters that are not in it are measured as the experiment says. `None`: the
    /// case is left out.
    pub fn values(&self, extent: Extent) -> Option<&Values> {
        static ALL: Values = Values::new();
        match extent {
            Extent::Quick => self.quick.as_ref(),
            Extent::Usual => self.usual.as_ref(),
            Extent::Thorough => Some(&ALL),
        }
    }
}

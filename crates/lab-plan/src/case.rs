// SPDX-License-Identifier: Apache-2.0
//! A case of an experiment.

use crate::file::{self, Count};
use lab_model::{Check, Cores, Metric, TargetId};
use std::collections::BTreeMap;

/// Values of parameters, by the parameter's name.
pub type Values = BTreeMap<String, Vec<String>>;

/// How much of an experiment is measured, as far as nothing is asked for by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// What its `[quick]` names: an answer in a minute.
    Quick,
    /// What its `[usual]` names: what decides its main question.
    #[default]
    Usual,
    /// All cases with all values.
    Thorough,
}

impl Extent {
    /// The name of the table that says it, and of the selection of subjects.
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
    /// In words.
    pub work: String,
    /// What `units` counts.
    pub unit: String,
    /// The swept parameter and its values, ascending.
    pub sweep: Option<(String, Vec<u64>)>,
    /// Factors and their values; the first value is the usual one.
    pub factors: Vec<Factor>,
    /// The targets that it is for.
    pub targets: Vec<TargetId>,
    /// Factors, and the sweep values at which their further values are measured unless they are asked for.
    pub thin: BTreeMap<String, Vec<u64>>,
    /// How the lab looks at the work.
    pub check: Check,
    /// The target begins empty.
    pub empty: bool,
    /// Where it is done.
    pub cores: Cores,
    /// The wanted length of a batch, where it is not the usual one.
    pub turn_ns: Option<u64>,
    /// Subjects tell the latency of each operation.
    pub latencies: bool,
    /// Operations that are due in a second, where their rate is fixed.
    pub rate: Option<u64>,
    /// Whether it is measured without being asked for.
    pub default: bool,
    /// What a quick run measures of it; `None`: it leaves the case out.
    pub quick: Option<Values>,
    /// The same of a run of which nothing is said.
    pub usual: Option<Values>,
    /// Subjects are compared with each other.
    pub compare: bool,
    /// What subjects tell of each batch besides.
    pub metrics: Vec<Metric>,
    pub(crate) statements: Vec<(String, Count)>,
    pub(crate) reads: Count,
    pub(crate) writes: Option<file::Writes>,
}

/// A parameter with words for values.
#[derive(Clone, Debug)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// The first one is the usual one.
    pub values: Vec<String>,
    /// The targets on which it is one; elsewhere the parameter does not exist.
    pub targets: Vec<TargetId>,
    /// Values that a target does not have.
    pub absent: Vec<(TargetId, String)>,
}

impl Case {
    /// The values that are measured of it; what is not named there is measured as the experiment says. `None`: the case
    /// is left out.
    pub fn values(&self, extent: Extent) -> Option<&Values> {
        static ALL: Values = Values::new();
        match extent {
            Extent::Quick => self.quick.as_ref(),
            Extent::Usual => self.usual.as_ref(),
            Extent::Thorough => Some(&ALL),
        }
    }
}

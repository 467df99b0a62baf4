// SPDX-License-Identifier: Apache-2.0
//! A case of an experiment.

use crate::file::{self, Count};
use lab_model::{Check, Cores, Metric, TargetId};
use std::collections::BTreeMap;

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
    /// Whether it is measured without being asked for.
    pub default: bool,
    /// By parameter, the values that a quick run measures; `None`: it leaves the case out.
    pub quick: Option<BTreeMap<String, Vec<String>>>,
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

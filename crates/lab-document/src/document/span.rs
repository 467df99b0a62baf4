// SPDX-License-Identifier: Apache-2.0
//! Periods of a run, for trace viewers.

/// A period of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// The track on which the period is drawn, such as an agent or `blocks`.
    pub track: String,
    /// The name, such as `block 3` or the subject.
    pub name: String,
    /// The start, in ns since the start of the run.
    pub start_ns: u64,
    /// The length, in ns.
    pub length_ns: u64,
    /// Facts about the period, in display order.
    pub facts: Vec<(String, String)>,
}

// SPDX-License-Identifier: Apache-2.0
//! The cost of one operation in counted events instead of time.

use crate::{Metric, PointId, SubjectId};

/// The counts of one subject at one point.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The subject whose events were counted.
    pub subject: SubjectId,
    /// The point at which the events were counted.
    pub point: PointId,
    /// The number of operations in the smaller batch. The larger batch has twice as many.
    pub operations: u64,
    /// Events per operation.
    pub figures: Vec<CountedValue>,
    /// The functions with the most instructions of their own, not counting callees, in descending
    /// order.
    ///
    /// Each number is the number of instructions per operation.
    pub functions: Vec<(String, f64)>,
    /// The program and its libraries by file name, with their instructions per operation, in
    /// descending order.
    pub libraries: Vec<(String, f64)>,
    /// Messages over sockets during one operation, in order.
    pub messages: Vec<Message>,
    /// Settings that the subject read back when it opened the point.
    pub settings: Vec<(String, String)>,
    /// Counts that are missing, each with the reason.
    pub missing: Vec<(String, String)>,
}

/// The value of a metric per operation.
///
/// The value is estimated from multiple pairs of batches. The second batch of a pair is twice as
/// long as the first.
#[derive(Clone, Debug)]
pub struct CountedValue {
    /// The metric that was counted.
    pub metric: Metric,
    /// One value per pair of batches: the difference between the two batches, divided by the number
    /// of operations. In events, bytes or ns per operation.
    pub differences: Vec<f64>,
}

/// The bytes that one system call transferred over a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// True if the subject sent the message.
    pub sent: bool,
    /// Length in bytes.
    pub bytes: u64,
    /// The first bytes of the message, escaped as in C.
    pub begins: String,
}

/// The costs of the cheapest system call and page fault on a host, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitCosts {
    /// A system call that does nothing.
    pub system_call_ns: f64,
    /// A page fault that needs no disk: the kernel clears and maps a page.
    pub page_fault_ns: f64,
}

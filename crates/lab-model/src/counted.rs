// SPDX-License-Identifier: Apache-2.0
//! Costs of one operation in events that are counted, not timed.

use crate::{Metric, PointId, SubjectId};

/// The counts of one subject at one point.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The subject.
    pub subject: SubjectId,
    /// The point.
    pub point: PointId,
    /// Operations of the smaller batch; the greater one has twice as many.
    pub operations: u64,
    /// Events per operation.
    pub figures: Vec<CountedFigure>,
    /// The functions with the most instructions of their own, and how many of them an operation has, the most first.
    pub functions: Vec<(String, f64)>,
    /// The program and the libraries, by file name, and how many instructions an operation has in each, the most first.
    pub libraries: Vec<(String, f64)>,
    /// Messages over sockets in one operation, in order.
    pub messages: Vec<Message>,
    /// Settings that the subject read back when it opened the point.
    pub settings: Vec<(String, String)>,
    /// Counts that are missing, each with the reason.
    pub missing: Vec<(String, String)>,
}

/// A figure of one operation, from several differences of a batch and one of twice its length.
#[derive(Clone, Debug)]
pub struct CountedFigure {
    /// The metric.
    pub metric: Metric,
    /// One value for each pair of batches, in events, bytes or ns.
    pub differences: Vec<f64>,
}

/// Bytes that went over a socket in one system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The subject sent it.
    pub sent: bool,
    /// Its length.
    pub bytes: u64,
    /// Its first bytes, with escapes as in C.
    pub begins: String,
}

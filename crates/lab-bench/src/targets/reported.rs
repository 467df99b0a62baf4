// SPDX-License-Identifier: Apache-2.0
//! A subject's report of its work, which is checked against the rows that it added.

use crate::subject::fault::{Fault, SubjectResult};
use lab_model::{Writes, plural};

/// A subject's report of its work since the last check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reported {
    /// The number of operations.
    pub operations: u64,
    /// The number of units produced.
    pub units: u64,
    /// The sum of the values produced.
    pub sum: u64,
}

impl Reported {
    /// Compares the added rows and their sum with the requirements of the point. Returns a fault if they differ.
    pub fn compare_rows(&self, writes: Writes, rows: u64, sum: u64) -> SubjectResult<()> {
        let expected = writes.rows * self.operations;
        if rows != expected {
            return Err(wrong_writes(format!(
                "{} must add {}; the subject added {rows}",
                plural(self.operations, "operation"),
                plural(expected, "row")
            )));
        }
        if writes.rows > 0 && sum != self.sum {
            return Err(wrong_writes(format!(
                "the added rows have a sum of {sum}; the subject reports {}",
                self.sum
            )));
        }
        Ok(())
    }
}

/// Creates a fault for writes that differ from the case's requirements.
pub fn wrong_writes(message: String) -> Fault {
    Fault::Failed("writes", message)
}

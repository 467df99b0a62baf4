// SPDX-License-Identifier: Apache-2.0
//! A subject's report of its work, checked against the rows that it added.

use crate::fault::{Fault, SubjectResult};
use lab_model::Writes;

/// A subject's report of its work since the last check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reported {
    /// Operations.
    pub operations: u64,
    /// Units that they produced.
    pub units: u64,
    /// Sum of the values.
    pub sum: u64,
}

impl Reported {
    /// Compares the rows that were added, and their sum, with those of a point's operations. Fault: they differ.
    pub fn compare_rows(&self, writes: Writes, rows: u64, sum: u64) -> SubjectResult<()> {
        let wanted = writes.rows * self.operations;
        if rows != wanted {
            return Err(wrong_writes(format!(
                "{} operations must add {wanted} rows; {rows} are there",
                self.operations
            )));
        }
        if writes.rows > 0 && sum != self.sum {
            return Err(wrong_writes(format!(
                "the rows added hold a sum of {sum}; the subject says {}",
                self.sum
            )));
        }
        Ok(())
    }
}

/// The fault of a subject that wrote something else than its case says.
pub fn wrong_writes(message: String) -> Fault {
    Fault::Failed("writes", message)
}

// SPDX-License-Identifier: Apache-2.0
//! What a report says, before it takes the form of a format: tables and sentences from a run and its
//! analysis. Terminal, Markdown and HTML show the same content.

pub mod between;
mod cases;
mod conditions;
mod costs;
mod imports;
mod method;
mod resources;
mod summary;

pub use cases::group_tables;
pub use conditions::{conditions, subject_table};
pub use costs::{factor_tables, fit_tables};
pub use imports::import_tables;
pub use method::{conditions_line, few_blocks, method, started};
pub use resources::{resource_table, warm_up_table};
pub use summary::{control_table, overall_table, undecided};

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// 80 columns: intervals as percent, marks for verdicts in sweeps.
    Narrow,
    /// A page.
    Wide,
}

/// `1 block`, `3 blocks`.
pub fn count(n: usize, word: &str) -> String {
    if n == 1 {
        format!("1 {word}")
    } else {
        format!("{n} {word}s")
    }
}

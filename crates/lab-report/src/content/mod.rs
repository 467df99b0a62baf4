// SPDX-License-Identifier: Apache-2.0
//! What a report says, before it takes the form of a format: tables and sentences from a run and its
//! analysis. Terminal, Markdown and HTML show the same content.

pub mod between;
pub mod cases;
mod commands;
mod conclusion;
mod conditions;
mod costs;
mod experiment;
mod imports;
pub mod load;
pub mod method;
mod resources;
mod scaling;
mod sentences;
pub mod served;
mod split;
mod summary;
mod targets;
mod uses;

pub use cases::{MARKS, group_tables, mark, tone};
pub use commands::{command_table, extent};
pub use conclusion::{conclusion, noise, ranked, tiers};
pub use conditions::{conditions, subject_table};
pub use costs::{factor_tables, fit_tables};
pub use experiment::{resources, services, versions, warning_text, warnings};
pub use imports::import_tables;
pub use method::{conditions_line, few_blocks, method, minute, started};
pub use resources::{resource_table, warm_up_table};
pub use scaling::{LAW, law_table, scaling_of, scaling_tables, throughput};
pub use sentences::{estimate, noise_floor, sentences};
pub use split::{Bar, PARTS, split_tables, splits};
pub use summary::{VerdictCounts, control_table, overall_table, undecided};
pub use targets::{short_label, side_by_side, single_points};
pub use uses::{overheads, shell_name, use_table};

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

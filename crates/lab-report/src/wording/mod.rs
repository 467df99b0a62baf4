// SPDX-License-Identifier: Apache-2.0
//! Sentences about measured runs. Only this module turns findings into English.

mod answers;
mod caveats;
pub mod changes;
pub mod commit_steps;
mod exclusions;
mod gates;
mod places;
mod scaling;
mod targets;
mod times;
mod verdicts;
mod warnings;

pub use answers::{
    Counted, LeftOut, LongerRun, PairOverPoints, WouldDecide, apart_from_reference, few_replicates,
    inconclusive, left_out, measured_alone, more_not_steady, no_answer, not_steady,
    other_exit_status, over_points, pair_over_points, too_few_operations, would_decide,
};
pub use caveats::{caveat, not_compared};
pub use exclusions::exclusion;
pub use gates::{crossed, undecided};
pub use scaling::no_law;
pub use targets::{
    OnTarget, fewer_points, how_to_read_ratios, range_over_targets, ratios_on_targets,
};
pub use verdicts::{
    Compared, MetricWords, Order, Ranked, comparison, greatest_ratio, leads_part, metric_words,
    order, pauses, ratio, verdict,
};
pub use warnings::warning;

// SPDX-License-Identifier: Apache-2.0
//! Sentences about measured runs. Only this module turns findings into English.

mod answers;
mod caveats;
pub mod changes;
pub mod commit_steps;
mod exclusions;
pub mod gates;
pub mod load;
mod locations;
mod scaling;
mod shared;
mod targets;
mod times;
mod verdicts;
mod warnings;

pub use answers::{
    Counted, LongerRun, Omission, PairOverPoints, WouldResolve, apart_from_reference, inconclusive,
    last_lines, measured_alone, more_not_steady, no_answer, no_answer_because, not_steady, omitted,
    other_exit_status, over_points, pair_over_points, replicates_would_resolve, same_program,
    so_far, too_few_operations, would_resolve,
};
pub use caveats::{caveat, not_compared};
pub use exclusions::{CommandStatuses, EXIT_STATUS, excluded, exclusion, exit_statuses};
pub use scaling::no_law;
pub use shared::{
    at_point, costs_and_losses, how_to_read_losses, nothing_lost, range_of, rare_loss,
    wrong_at_most,
};
pub use targets::{
    OnTarget, fewer_points, how_to_read_ratios, range_over_targets, ratios_on_targets,
};
pub use verdicts::{
    Compared, MetricWords, Order, Ranked, comparison, greatest_ratio, leads_part, metric_words,
    order, pauses, ratio, verdict,
};
pub use warnings::{replicate_nouns, warning};

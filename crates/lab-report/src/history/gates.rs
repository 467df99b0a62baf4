// SPDX-License-Identifier: Apache-2.0
//! Gates on a history: conditions on the latest change of each ratio, such as `change>3%`.

use super::RunSummary;
use super::changed::HistoryChanges;
use super::record::records;
use crate::wording::changes;
use lab_document::{Gate, Quantity};
use lab_model::{Comparison, ConditionError, Decision, Dimension, Relation, Unit};
use std::str::FromStr;

/// A condition on the latest change of each ratio. In runs with one subject, it is a condition on
/// the times instead.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryCondition {
    text: String,
    relation: Relation,
    /// The bound on the change, as a fraction of the level before the change.
    change: f64,
}

impl FromStr for HistoryCondition {
    type Err = ConditionError;

    /// Parses a condition such as `change>3%` or `change<-5%`.
    fn from_str(text: &str) -> Result<HistoryCondition, ConditionError> {
        Comparison::resolve(text, |condition| {
            if condition.name != "change" {
                return Err(condition.unknown_name("change"));
            }
            condition.without_argument()?;
            let dimension = match condition.bound.starts_with(['+', '-']) {
                true => Dimension::Change,
                false => Dimension::Fraction,
            };
            Ok(HistoryCondition {
                text: text.trim().into(),
                relation: condition.relation,
                change: dimension.parse(condition.bound)?,
            })
        })
    }
}

/// Judges conditions on the history of runs, the oldest first. `subjects` selects subjects; an
/// empty list selects all.
///
/// Only the latest change of each series counts. An earlier change that was undone does not count.
pub fn gates(
    runs: &[RunSummary],
    subjects: &[String],
    conditions: &[HistoryCondition],
) -> Vec<Gate> {
    if conditions.is_empty() {
        return Vec::new();
    }
    let records = records(runs, subjects);
    let found = HistoryChanges::new(&records);
    let judged = conditions.iter().flat_map(|condition| {
        if let Some(reason) = found.open() {
            let decision = Decision::Inconclusive;
            return vec![Gate::new(
                &condition.text,
                "",
                decision,
                &changes::in_words(&reason),
            )];
        }
        let limit = 1.0 + condition.change;
        let latest =
            found
                .latest()
                .into_iter()
                .map(|latest| match (latest.change, latest.needed) {
                    (None, Some(needed)) => {
                        let (title, runs) = (&latest.title, latest.runs);
                        let statement = changes::too_few_runs(title, runs, needed);
                        Gate::new(&condition.text, title, Decision::Inconclusive, &statement)
                    }
                    (None, None) => {
                        let statement = changes::never_changed(&latest.title, latest.runs);
                        Gate::new(&condition.text, &latest.title, Decision::Passed, &statement)
                    }
                    (Some((change, run)), _) => {
                        let decision =
                            Decision::for_interval(condition.relation, &change, limit, 0.0);
                        let statement = changes::changed_in_history(&latest.title, &change, &run);
                        Gate::new(&condition.text, &latest.title, decision, &statement)
                            .with_value(Quantity::ratio(&change))
                            .with_limit(limit, Unit::Ratio)
                    }
                });
        let latest: Vec<Gate> = latest.collect();
        if latest.is_empty() {
            let statement = changes::nothing_in_history();
            return vec![Gate::new(
                &condition.text,
                "",
                Decision::Inconclusive,
                statement,
            )];
        }
        latest
    });
    judged.collect()
}

// SPDX-License-Identifier: Apache-2.0
//! Gates on a profile, such as `--fail-if 'peak>2MB'` or `'D1mw>+5%'`.

use crate::Profile;
use crate::layouts::{CountRange, EventRanges, FIGURES};
use lab_model::{Comparison, ConditionError, Decision, Dimension, Relation, Unit};
use std::str::FromStr;

/// Metrics that are sizes in bytes.
const SIZE_FIGURES: [&str; 2] = ["peak", "total"];

/// A metric, a bound, and the relation between them that makes the gate fail.
#[derive(Clone, Debug, PartialEq)]
pub struct GateCondition {
    text: String,
    figure: &'static str,
    /// The relation of the metric to the bound that makes the gate fail.
    relation: Relation,
    bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// A bound on the value in the later profile.
    Value(f64),
    /// A bound on the change from the earlier to the later profile, as a fraction of the earlier value.
    Change(f64),
}

/// The result of checking a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateResult {
    /// The metric does not satisfy the condition, so the gate passes.
    Passed(Found),
    /// The metric satisfies the condition, so the gate fails.
    Failed(Found),
    /// The metric satisfies the condition in some layouts but not in others.
    Open(Found),
    /// The condition cannot be judged.
    Inconclusive(Inconclusive),
}

/// The value that a condition judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The value in the later profile.
    Value(u64),
    /// The values in both profiles.
    Change {
        /// The value in the earlier profile.
        before: u64,
        /// The value in the later profile.
        after: u64,
    },
    /// The range of the value over layouts, in the later profile.
    ValueRange(CountRange),
    /// The ranges of the value over layouts, in both profiles.
    ChangeRange {
        /// The range in the earlier profile.
        before: CountRange,
        /// The range in the later profile.
        after: CountRange,
    },
}

/// The obstacle that makes a condition inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// No file of the later program contains the metric.
    NoFile,
    /// The condition bounds a change, but there is only one program.
    NothingBefore,
    /// No file of the earlier program contains the metric.
    NoFileBefore,
    /// The profile covers only a part of the later program, so its total is unknown.
    Partial,
    /// The profile covers only a part of the earlier program, so its total is unknown.
    PartialBefore,
    /// The programs had different exit statuses, so their work was not the same.
    StatusesDiffer,
}

impl GateCondition {
    /// Returns the condition as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name of the metric.
    pub fn figure(&self) -> &'static str {
        self.figure
    }

    /// Returns the bound on the value, or on the change as a fraction of the earlier value.
    pub fn limit(&self) -> f64 {
        let (Bound::Value(limit) | Bound::Change(limit)) = self.bound;
        limit
    }

    /// Returns the unit of the metric.
    pub fn unit(&self) -> Unit {
        if SIZE_FIGURES.contains(&self.figure) {
            Unit::Bytes
        } else {
            Unit::Count(self.figure.into())
        }
    }

    /// Returns true if the condition bounds a change, and the programs had different exit statuses
    /// under the tool that counts the metric.
    pub fn statuses_differ(&self, before: &Profile, after: &Profile) -> bool {
        let statuses = [before, after].map(|profile| profile.exit_status(self.figure));
        let differ = matches!(statuses, [Some(before), Some(after)] if before != after);
        differ && matches!(self.bound, Bound::Change(_))
    }

    /// Checks the condition for the later of two profiles, or for a single profile.
    pub fn judge(&self, before: &Profile, after: Option<&Profile>) -> GateResult {
        let last = after.unwrap_or(before);
        let Some(value) = last.whole_figure(self.figure) else {
            return GateResult::Inconclusive(match last.figure(self.figure) {
                Some(_) => Inconclusive::Partial,
                None => Inconclusive::NoFile,
            });
        };
        let (number, bound, found) = match (self.bound, after) {
            (Bound::Value(bound), _) => (value as f64, bound, Found::Value(value)),
            (Bound::Change(_), None) => {
                return GateResult::Inconclusive(Inconclusive::NothingBefore);
            }
            (Bound::Change(bound), Some(_)) => {
                let Some(old) = before.whole_figure(self.figure) else {
                    return GateResult::Inconclusive(match before.figure(self.figure) {
                        Some(_) => Inconclusive::PartialBefore,
                        None => Inconclusive::NoFileBefore,
                    });
                };
                if self.statuses_differ(before, last) {
                    return GateResult::Inconclusive(Inconclusive::StatusesDiffer);
                }
                let change = relative_change(old, value);
                let found = Found::Change {
                    before: old,
                    after: value,
                };
                (change, bound, found)
            }
        };
        if self.relation.holds(number, bound) {
            GateResult::Failed(found)
        } else {
            GateResult::Passed(found)
        }
    }
}

impl GateCondition {
    /// Checks the condition against the ranges over layouts, for the later of two programs or for a
    /// single program.
    ///
    /// Returns `None` for a metric without ranges.
    pub fn judge_ranges(&self, ranges: &[EventRanges]) -> Option<GateResult> {
        let range = |ranges: &EventRanges| ranges.get(self.figure);
        let last = range(ranges.last()?)?;
        let (decision, found) = match (self.bound, ranges) {
            (Bound::Value(bound), _) => (
                last.judge_value(self.relation, bound),
                Found::ValueRange(last),
            ),
            (Bound::Change(bound), [before, _]) => {
                let before = range(before)?;
                let found = Found::ChangeRange {
                    before,
                    after: last,
                };
                (last.judge(before, self.relation, bound), found)
            }
            (Bound::Change(_), _) => return None,
        };
        Some(match decision {
            Decision::Passed => GateResult::Passed(found),
            Decision::Inconclusive => GateResult::Open(found),
            Decision::Failed => GateResult::Failed(found),
        })
    }
}

/// Returns the change as a fraction of the earlier value. Infinite if the earlier value is 0.
pub(crate) fn relative_change(before: u64, after: u64) -> f64 {
    match (before, after) {
        (0, 0) => 0.0,
        _ => after as f64 / before as f64 - 1.0,
    }
}

impl FromStr for GateCondition {
    type Err = ConditionError;

    /// Parses a condition such as `peak>2MB`, `D1mw>+5%` or `Ir<1000000`.
    fn from_str(text: &str) -> Result<GateCondition, ConditionError> {
        Comparison::resolve(text, |condition| {
            let figure = FIGURES.into_iter().find(|known| *known == condition.name);
            let figure = figure.ok_or_else(|| condition.unknown_name(FIGURES.join(", ")))?;
            condition.without_argument()?;
            let Comparison {
                relation, bound, ..
            } = condition;
            let bound = if bound.ends_with('%') {
                Bound::Change(Dimension::Change.parse(bound)?)
            } else if SIZE_FIGURES.contains(&figure) {
                Bound::Value(Dimension::Size.parse(bound)?)
            } else {
                Bound::Value(Dimension::Count.parse(bound)?)
            };
            Ok(GateCondition {
                text: text.trim().into(),
                figure,
                relation,
                bound,
            })
        })
    }
}

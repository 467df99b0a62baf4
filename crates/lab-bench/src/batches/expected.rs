// SPDX-License-Identifier: Apache-2.0
//! Checks that all subjects do the same work: each point must produce the same check value and the
//! same number of units.

use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::BatchResult;
use lab_model::{Outcome, PointId, SubjectId, plural};
use std::collections::HashMap;

/// A check value and a number of units.
pub type Checked = (u64, u64);

/// The expected results of all points: the outcome for each number of operations, and the rows that
/// a single operation must leave in a fresh target.
#[derive(Default)]
pub struct Expected {
    outcomes: HashMap<(PointId, u64), Checked>,
    contents: HashMap<PointId, String>,
    firsts: HashMap<PointId, Checked>,
}

impl Expected {
    /// Adds an outcome computed by a trusted subject. A subject is trusted if it agrees with the
    /// majority.
    pub fn insert(&mut self, point: PointId, operations: u64, outcome: Checked) {
        self.outcomes.insert((point, operations), outcome);
    }

    /// Adds the content that a trusted subject's first operation left in its target.
    pub fn insert_content(&mut self, point: PointId, content: String) {
        self.contents.insert(point, content);
    }

    /// Adds the outcome of a trusted subject's first operation on a fresh target.
    pub fn insert_first(&mut self, point: PointId, outcome: Checked) {
        self.firsts.insert(point, outcome);
    }

    /// Returns all outcomes.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let outcomes = self.outcomes.iter();
        let outcomes = outcomes.map(|(&(point, operations), &(check, units))| Outcome {
            point,
            operations,
            check,
            units,
        });
        outcomes.collect()
    }

    /// Compares the outcome of a subject's first operation on a fresh target with the expected
    /// outcome.
    pub fn compare_first(&self, point: PointId, found: Checked) -> SubjectResult<()> {
        let expected = self.firsts.get(&point);
        expected.map_or(Ok(()), |&expected| compare(expected, found, 1))
    }

    /// Compares the content that a subject's first operation left in its target with the expected content.
    pub fn compare_content(&self, point: PointId, found: Option<String>) -> SubjectResult<()> {
        match (self.contents.get(&point), found) {
            (Some(expected), Some(found)) if *expected != found => Err(Fault::Failed(
                "writes",
                "after the subject's first operation, the table's values differ from those of the other subjects"
                    .into(),
            )),
            _ => Ok(()),
        }
    }

    /// Compares a batch with the expected outcome.
    pub fn compare(&self, point: PointId, result: &BatchResult) -> SubjectResult<()> {
        match self.outcomes.get(&(point, result.operations)) {
            Some(&expected) => compare(expected, (result.check, result.units), result.operations),
            None => Ok(()),
        }
    }
}

/// Returns a fault if an outcome differs from the expected outcome.
pub fn compare(expected: Checked, found: Checked, operations: u64) -> SubjectResult<()> {
    let differ = |key: &str, expected: u64, found: u64| {
        Err(Fault::Failed(
            "check",
            format!(
                "{key}={found} for {}; the other subjects have {expected}",
                plural(operations, "operation")
            ),
        ))
    };
    match (expected.0 == found.0, expected.1 == found.1) {
        (false, _) => differ("check", expected.0, found.0),
        (_, false) => differ("units", expected.1, found.1),
        _ => Ok(()),
    }
}

/// Returns the outcome that most subjects agree on. A tie goes to the baseline's outcome, or else
/// to the outcome that comes first.
pub fn majority(outcomes: &[(SubjectId, Checked)], baseline: SubjectId) -> Option<Checked> {
    let votes = |outcome: Checked| outcomes.iter().filter(|(_, o)| *o == outcome).count();
    let of_baseline = outcomes
        .iter()
        .find(|(s, _)| *s == baseline)
        .map(|(_, o)| *o);
    let mut best = of_baseline.or(outcomes.first().map(|(_, o)| *o))?;
    for &(_, outcome) in outcomes {
        if votes(outcome) > votes(best) {
            best = outcome;
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_majority_wins_and_the_baseline_breaks_ties() {
        assert_eq!(majority(&[], SubjectId(0)), None);
        assert_eq!(
            majority(
                &[(SubjectId(0), (5, 1)), (SubjectId(1), (6, 1))],
                SubjectId(1)
            ),
            Some((6, 1))
        );
        assert_eq!(
            majority(
                &[
                    (SubjectId(0), (5, 1)),
                    (SubjectId(1), (6, 1)),
                    (SubjectId(2), (5, 1))
                ],
                SubjectId(1)
            ),
            Some((5, 1))
        );
        assert_eq!(
            majority(
                &[(SubjectId(2), (7, 1)), (SubjectId(1), (6, 1))],
                SubjectId(0)
            ),
            Some((7, 1))
        );
    }

    #[test]
    fn a_difference_is_named() {
        assert_eq!(compare((5, 1), (5, 1), 3), Ok(()));
        let Err(Fault::Failed(kind, text)) = compare((5, 1), (5, 2), 3) else {
            panic!("equal")
        };
        assert_eq!(kind, "check");
        assert!(text.contains("units=2") && text.contains('1'));
    }
}

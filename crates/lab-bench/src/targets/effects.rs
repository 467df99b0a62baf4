// SPDX-License-Identifier: Apache-2.0
//! Counts the effects of calls that may fail. The target may contain the effect of a call once,
//! more than once, or not at all (docs/protocol.md, "Calls that fail, and their effects").

use crate::subject::fault::SubjectResult;
use crate::subject::protocol::Reply;
use crate::targets::reported::wrong_writes;
use lab_model::plural;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// The indices of the calls that a subject reports as failed, ascending.
pub type Failed = Vec<RangeInclusive<u64>>;

/// A batch of calls, with the failures that the subject reported.
pub struct CallBatch {
    /// The batch's number since the case was opened, from 1.
    pub batch: u64,
    /// The number of calls.
    pub calls: u64,
    /// The indices of the failed calls.
    pub failed: Failed,
}

/// A row that calls have written: its batch, the index of its call, and the number of times that
/// the table contains it.
pub type Row = (u64, u64, u64);

/// A placeholder for a row with invalid numbers. No batch has this number.
pub const STRAY: Row = (u64::MAX, u64::MAX, 1);

/// Returns the number of the first batch.
pub fn first(batches: &[CallBatch]) -> u64 {
    batches.first().map_or(0, |b| b.batch)
}

/// The number of calls by effect. Each call is counted in at most one of the last four fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The total number of calls.
    pub calls: u64,
    /// Calls that were reported as successful but had no effect.
    pub lost: u64,
    /// Calls with more than one effect.
    pub doubled: u64,
    /// Calls that failed and had no effect.
    pub failed: u64,
    /// Calls that were reported as failed but had one effect.
    pub unreported: u64,
}

impl Effects {
    /// Counts the effects of the calls in batches, from the rows in the target. Returns a fault if
    /// there are rows of calls that were not made.
    pub fn new(
        batches: &[CallBatch],
        rows: impl IntoIterator<Item = Row>,
    ) -> SubjectResult<Effects> {
        let rows: BTreeMap<(u64, u64), u64> =
            rows.into_iter().map(|(b, c, n)| ((b, c), n)).collect();
        let calls_of_batch: BTreeMap<u64, u64> =
            batches.iter().map(|b| (b.batch, b.calls)).collect();
        let stray = rows
            .keys()
            .find(|(batch, call)| calls_of_batch.get(batch).is_none_or(|n| call >= n));
        if let Some((batch, call)) = stray {
            return Err(wrong_writes(format!(
                "`effect` contains call {call} of batch {batch}, which was not requested"
            )));
        }
        let mut effects = Effects::default();
        for CallBatch {
            batch,
            calls,
            failed,
        } in batches
        {
            let failed: BTreeSet<u64> = failed.iter().cloned().flatten().collect();
            effects.calls += calls;
            for call in 0..*calls {
                let rows_of_call = rows.get(&(*batch, call)).copied().unwrap_or(0);
                match (rows_of_call, failed.contains(&call)) {
                    (0, false) => effects.lost += 1,
                    (0, true) => effects.failed += 1,
                    (1, false) => {}
                    (1, true) => effects.unreported += 1,
                    _ => effects.doubled += 1,
                }
            }
        }
        Ok(effects)
    }

    /// Returns the counts in the order of [`lab_model::Metric::EFFECTS`].
    pub fn counts(self) -> [f64; 5] {
        let counts = [
            self.calls,
            self.lost,
            self.doubled,
            self.unreported,
            self.failed,
        ];
        counts.map(|count| count as f64)
    }
}

/// Parses the `failed=` field of a reply to `calls` calls.
pub fn failed(reply: &Reply, calls: u64) -> Result<Failed, String> {
    let text = reply.get("failed")?;
    if text == "none" {
        return Ok(Vec::new());
    }
    let number = |word: &str| {
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| word.parse::<u64>().ok()).flatten()
    };
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last) = (number(first)?, number(last)?);
        (first <= last && last < calls).then_some(first..=last)
    };
    let ranges: Option<Failed> = text.split(',').map(range).collect();
    let ranges = ranges.filter(|r| r.is_sorted_by(|a, b| a.end() < b.start()));
    ranges.ok_or_else(|| {
        format!(
            "expected `none` or ascending call numbers such as 3,17-19 for {}, got `failed={text}`",
            plural(calls, "call")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::protocol::SubjectLine;

    fn calls(batch: u64, calls: u64, failed: &[RangeInclusive<u64>]) -> CallBatch {
        CallBatch {
            batch,
            calls,
            failed: failed.to_vec(),
        }
    }

    #[test]
    fn every_call_is_classified() {
        let batches = [calls(3, 5, &[1..=2]), calls(4, 2, &[])];
        let rows = [(3, 0, 1), (3, 2, 1), (3, 4, 2), (4, 0, 3)];
        let effects = Effects::new(&batches, rows);
        let expected = Effects {
            calls: 7,
            lost: 2,
            doubled: 2,
            failed: 1,
            unreported: 1,
        };
        assert_eq!(effects, Ok(expected));
        assert_eq!(expected.counts(), [7.0, 2.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn rows_of_other_calls_are_a_fault() {
        for row in [(1, 0, 1), (2, 5, 1), (9, 0, 1)] {
            assert!(Effects::new(&[calls(2, 5, &[])], [row]).is_err(), "{row:?}");
        }
    }

    #[test]
    fn failures_are_ranges() {
        let read = |text: &str| {
            let line = format!("@lab ran failed={text}");
            let SubjectLine::Reply(reply) = SubjectLine::parse(line.as_bytes()) else {
                panic!("{line}")
            };
            failed(&reply, 20)
        };
        assert_eq!(read("none"), Ok(vec![]));
        assert_eq!(read("3,17-19"), Ok(vec![3..=3, 17..=19]));
        for wrong in [
            "", "20", "3,3", "4-2", "2-5,4", "5,1", "x", "1-", "-1", "+1", "18-20",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}

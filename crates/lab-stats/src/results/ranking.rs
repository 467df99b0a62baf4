// SPDX-License-Identifier: Apache-2.0
//! Orders subjects by their ratios to the baseline and to each other.

use super::Ranking;
use crate::ratio::Ratio;
use crate::verdict::{Ahead, Margin, ahead};
use lab_model::{Interval, SubjectId};

/// The index of a subject's ratio to the baseline, either among the family's members or among the
/// pending comparisons.
#[derive(Clone, Copy)]
pub(crate) enum Index {
    Member(usize),
    Pending(usize),
}

/// A ranking whose subjects are not ordered yet.
pub(crate) struct UnorderedRanking {
    pub ranking: Ranking,
    pub margin: Margin,
    /// For each subject, the index of its comparison with the baseline.
    pub against: Vec<(SubjectId, Index)>,
    /// Pairs of subjects, each with the index of the member that compares the first subject with
    /// the second.
    pub between: Vec<(SubjectId, SubjectId, usize)>,
}

impl UnorderedRanking {
    /// Orders the subjects.
    ///
    /// Returns `None` if the baseline is the only subject.
    pub fn ordered(
        self,
        baseline: SubjectId,
        at: impl Fn(Index) -> Option<Ratio>,
        of: impl Fn(usize) -> Option<Ratio>,
    ) -> Option<Ranking> {
        let ratios = self.against.iter();
        let ratios: Vec<_> = ratios.filter_map(|&(s, i)| Some((s, at(i)?))).collect();
        let mut order: Vec<(SubjectId, f64)> = ratios
            .iter()
            .map(|(subject, ratio)| (*subject, ratio.interval.estimate))
            .collect();
        order.push((baseline, 1.0));
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let with_base = ratios.iter().map(|&(s, ratio)| (s, baseline, ratio));
        let directly = self.between.iter();
        let directly = directly.filter_map(|&(a, b, member)| Some((a, b, of(member)?)));
        let others: Vec<_> = if self.between.is_empty() {
            implied(&ratios)
        } else {
            directly.collect()
        };
        let apart =
            with_base
                .chain(others)
                .filter_map(|(a, b, ratio)| match ahead(&ratio, self.margin) {
                    Ahead::Subject => Some((a, b)),
                    Ahead::Baseline => Some((b, a)),
                    Ahead::Neither | Ahead::Unknown => None,
                });
        (order.len() > 1).then(|| Ranking {
            apart: apart.collect(),
            subjects: order.into_iter().map(|(subject, _)| subject).collect(),
            ..self.ranking
        })
    }
}

/// Derives the ratio of each pair of subjects from the two ratios to the baseline, with the widest
/// interval that the bounds of the two ratios allow.
fn implied(ratios: &[(SubjectId, Ratio)]) -> Vec<(SubjectId, SubjectId, Ratio)> {
    let mut all = Vec::new();
    for (i, (a, first)) in ratios.iter().enumerate() {
        for (b, second) in &ratios[i + 1..] {
            let [x, y] = [first.interval, second.interval];
            let interval = Interval {
                estimate: x.estimate / y.estimate,
                low: x.low / y.high,
                high: x.high / y.low,
                level: x.level.min(y.level),
            };
            let supported = first.supports_verdict() && second.supports_verdict();
            let ratio = Ratio {
                interval,
                sufficient: supported,
                ..*first
            };
            all.push((*a, *b, ratio));
        }
    }
    all
}

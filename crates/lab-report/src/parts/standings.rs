// SPDX-License-Identifier: Apache-2.0
//! The subjects in the order of one metric, with statistical ties, as the results have them.

use super::scope::Scope;
use lab_document::say;
use lab_model::{Interval, Metric, SubjectId};
use lab_stats::analysis::Verdict;
use lab_stats::results::{Over, Ranking};

/// Subjects by their ratio to the baseline, the best first, the baseline among them at 1.
pub struct Standings<'a> {
    /// The metric.
    pub metric: Metric,
    /// The subjects with an interval, the best first.
    pub ranked: Vec<Standing>,
    /// The level that their intervals were asked to have.
    pub level: f64,
    /// The ranking of the subjects.
    ranking: Option<&'a Ranking>,
}

/// A subject's standing.
#[derive(Clone, Copy)]
pub struct Standing {
    /// The subject.
    pub subject: SubjectId,
    /// Its ratio to the baseline's figure; 1 for the baseline.
    pub ratio: Interval,
    /// The verdict on the ratio, if there is one.
    pub verdict: Option<Verdict>,
    /// How many points went into it.
    pub points: u32,
}

impl<'a> Standings<'a> {
    /// The standings of a target's subjects.
    pub fn new(scope: &Scope<'a>, metric: &Metric, over: Over) -> Standings<'a> {
        let others = scope.others().into_iter();
        let standings = others.filter_map(|subject| standing(scope, subject, metric, over));
        let bounded = standings.filter(|s| say::is_bounded(&s.ratio));
        let mut ranked: Vec<Standing> = bounded.collect();
        if let Some(&first) = ranked.first() {
            ranked.push(Standing {
                subject: scope.base(),
                ratio: EXACTLY_ONE,
                verdict: None,
                ..first
            });
        }
        ranked.sort_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate));
        Standings {
            metric: metric.clone(),
            ranked,
            level: scope.results.level,
            ranking: scope.ranking(over, metric),
        }
    }

    /// Removes the references.
    pub fn without_references(mut self, scope: &Scope) -> Standings<'a> {
        self.ranked.retain(|s| !scope.is_reference(s.subject));
        self
    }

    /// The best, and all that the ranking does not separate from it, of those that were measured at all points.
    pub fn first(&self) -> Vec<&Standing> {
        let first = self.ranking.map(|r| r.first(|s| self.of(s).is_some()));
        first
            .into_iter()
            .flatten()
            .filter_map(|s| self.of(s))
            .collect()
    }

    /// The one that all the others are ahead of.
    pub fn last(&self) -> Option<&Standing> {
        self.of(self.ranking?.last(|s| self.of(s).is_some())?)
    }

    /// The subjects that were measured at all points, the best first.
    pub fn complete(&self) -> Vec<&Standing> {
        let subjects = self.ranking.iter().flat_map(|r| &r.subjects);
        subjects.filter_map(|&s| self.of(s)).collect()
    }

    fn of(&self, subject: SubjectId) -> Option<&Standing> {
        self.ranked.iter().find(|s| s.subject == subject)
    }
}

/// The baseline's own ratio.
const EXACTLY_ONE: Interval = Interval {
    estimate: 1.0,
    low: 1.0,
    high: 1.0,
    level: 1.0,
};

/// A subject that is compared there, whether its interval is bounded or not.
pub fn standing(
    scope: &Scope,
    subject: SubjectId,
    metric: &Metric,
    over: Over,
) -> Option<Standing> {
    let (ratio, verdict, points) = match over {
        Over::Points { case, keep_alive } => {
            let mut all = scope.results.overall.iter();
            let overall = all.find(|o| {
                (o.subject, &o.metric, o.target) == (subject, metric, scope.target)
                    && (o.case, o.keep_alive) == (case, keep_alive)
            })?;
            (overall.ratio, overall.verdict, overall.points)
        }
        Over::At(point) => {
            let comparison = scope.comparison((subject, point), metric)?;
            (comparison.ratio, comparison.verdict, 1)
        }
        Over::Best(_) => return None,
    };
    Some(Standing {
        subject,
        ratio,
        verdict,
        points,
    })
}

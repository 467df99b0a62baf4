// SPDX-License-Identifier: Apache-2.0
//! The subjects ordered by one metric, with the statistical ties of the results.

use super::scope::Scope;
use lab_document::say;
use lab_model::{Interval, Metric, SubjectId};
use lab_stats::analysis::Verdict;
use lab_stats::results::{Over, Ranking};

/// Subjects ordered by their ratio to the baseline, the best first. The baseline is included with a
/// ratio of 1.
pub struct Standings<'a> {
    /// The metric by which the subjects are ordered.
    pub metric: Metric,
    /// The subjects with an interval, the best first.
    pub ranked: Vec<Standing>,
    /// The requested confidence level of the intervals.
    pub level: f64,
    /// The ranking that determines which subjects are statistically tied, if there is a ranking.
    ranking: Option<&'a Ranking>,
}

/// A subject's ratio to the baseline, with the verdict on the ratio.
#[derive(Clone, Copy)]
pub struct Standing {
    /// The subject whose ratio this is.
    pub subject: SubjectId,
    /// The subject's ratio to the baseline. The baseline's own ratio is 1.
    pub ratio: Interval,
    /// The verdict on the ratio, or `None` for a ratio without a verdict.
    pub verdict: Option<Verdict>,
    /// The number of points that the ratio covers.
    pub points: u32,
}

impl<'a> Standings<'a> {
    /// Orders a target's subjects by a metric.
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

    /// Removes the subjects that are references.
    pub fn without_references(mut self, scope: &Scope) -> Standings<'a> {
        self.ranked.retain(|s| !scope.is_reference(s.subject));
        self
    }

    /// Returns the best subject and the subjects tied with it, among the subjects that were
    /// measured at all points.
    pub fn first(&self) -> Vec<&Standing> {
        let first = self
            .ranking
            .map(|r| r.first(|s| self.standing(s).is_some()));
        first
            .into_iter()
            .flatten()
            .filter_map(|s| self.standing(s))
            .collect()
    }

    /// Returns the subject that is statistically worse than all others, or `None` if there is no
    /// such subject.
    pub fn last(&self) -> Option<&Standing> {
        self.standing(self.ranking?.last(|s| self.standing(s).is_some())?)
    }

    /// Returns the subjects that were measured at all points, the best first.
    pub fn complete(&self) -> Vec<&Standing> {
        let subjects = self.ranking.iter().flat_map(|r| &r.subjects);
        subjects.filter_map(|&s| self.standing(s)).collect()
    }

    fn standing(&self, subject: SubjectId) -> Option<&Standing> {
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

/// Returns the standing of a compared subject, even if its interval is not bounded.
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

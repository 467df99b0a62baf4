// SPDX-License-Identifier: Apache-2.0
//! Who is best in one respect, and who cannot be told apart.

use super::say;
use super::scope::Scope;
use lab_model::{Metric, PointId, SubjectId};
use lab_stats::analysis::{Interval, Verdict};

/// Subjects by their ratio to the baseline, the best first, the baseline among them at 1.
pub struct Standings {
    /// In which respect.
    pub metric: Metric,
    /// Those with an interval, the best first.
    pub ranked: Vec<Standing>,
    /// The level that their intervals were asked to have.
    pub level: f64,
}

/// A subject's place.
#[derive(Clone, Copy)]
pub struct Standing {
    /// Who.
    pub subject: SubjectId,
    /// Its ratio to the baseline's figure; of the baseline 1.
    pub ratio: Interval,
    /// What the ratio supports; `None`: there is no verdict on it.
    pub verdict: Option<Verdict>,
    /// How many points went into it.
    pub points: u32,
}

/// Over which points subjects are compared.
#[derive(Clone, Copy, PartialEq)]
pub enum Over {
    /// All, or those of a case; of servers, with connections that are kept alive, or not.
    Points {
        /// Index into the plan's cases; `None`: all.
        case: Option<usize>,
        /// `None`: it does not apply.
        keep_alive: Option<bool>,
    },
    /// One; without one, over the whole run.
    At(Option<PointId>),
}

impl Over {
    /// All points of a run of batches or commands.
    pub const ALL: Over = Over::Points {
        case: None,
        keep_alive: None,
    };

    /// All of these points, which are all that there are, or the only one.
    pub fn all(points: &[PointId]) -> Over {
        match points {
            &[point] => Over::At(Some(point)),
            _ => Over::ALL,
        }
    }
}

impl Standings {
    /// Of a target's subjects.
    pub fn new(scope: &Scope, metric: &Metric, over: Over) -> Standings {
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
        }
    }

    /// Without subjects that show what the machine allows.
    pub fn without_limits(mut self, scope: &Scope) -> Standings {
        self.ranked.retain(|s| !scope.is_limit(s.subject));
        self
    }

    /// The best, and all that cannot be told apart from it.
    pub fn first(&self) -> &[Standing] {
        let Some(best) = self.ranked.first() else {
            return &[];
        };
        let apart = |s: &Standing| s.ratio.low > best.ratio.high;
        let reach = self.ranked.iter().position(apart);
        &self.ranked[..reach.unwrap_or(self.ranked.len())]
    }

    /// Whether all intervals have the level that was asked for.
    pub fn have_level(&self) -> bool {
        let mut ratios = self.ranked.iter().map(|s| &s.ratio);
        ratios.all(|ratio| say::has_level(ratio, self.level))
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
            let found = all.find(|o| {
                (o.subject, &o.metric, o.target) == (subject, metric, scope.target)
                    && (o.case, o.keep_alive) == (case, keep_alive)
            })?;
            (found.ratio, found.verdict, found.points)
        }
        Over::At(point) => {
            let found = scope.comparison((subject, point), metric)?;
            (found.ratio, found.verdict, 1)
        }
    };
    Some(Standing {
        subject,
        ratio,
        verdict,
        points,
    })
}

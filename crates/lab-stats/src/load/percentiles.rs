// SPDX-License-Identifier: Apache-2.0
//! The response times of a closed loop in the format of Apache's `ab`, with intervals and ratios to
//! the baseline.
//!
//! The percentiles are descriptive: in a closed loop, they have no verdict.

use super::quantiles::{self, Tails};
use super::visits::{Visit, Visits};
use crate::bootstrap;
use crate::kind::kind_of;
use lab_model::{Interval, Plan, PointId, Run, SubjectId};

/// The percentiles that `ab` prints, in units of 1/10,000.
pub const PARTS: [u32; 8] = [5000, 6600, 7500, 8000, 9000, 9500, 9800, 9900];

/// Two percentiles, in units of 1/10,000. The spread is the second percentile divided by the first.
pub const SPREAD: [u32; 2] = [2500, 7500];

/// The response times of a server at a point.
#[derive(Clone, Debug)]
pub struct Percentiles {
    /// The server whose responses were timed.
    pub subject: SubjectId,
    /// The closed-loop point.
    pub point: PointId,
    /// The percentiles in [`PARTS`], in ns.
    ///
    /// `None` means that there are too few requests. If there are too few blocks for an interval,
    /// the interval's confidence level is 0.
    pub parts: [Option<Interval>; PARTS.len()],
    /// The longest response time, in ns.
    pub max_ns: u64,
    /// The second percentile of [`SPREAD`] divided by the first.
    pub spread: Option<Interval>,
    /// For each percentile in [`Percentiles::parts`], its ratio to the baseline's percentile.
    /// `None` for the baseline itself.
    pub ratios: [Option<Interval>; PARTS.len()],
    /// The spread divided by the baseline's spread.
    pub spread_ratio: Option<Interval>,
}

/// Returns the response times of every server at every closed-loop point, ordered by point.
///
/// The intervals have the plan's confidence level, and are not adjusted for multiple comparisons.
pub fn percentiles(run: &Run) -> Vec<Percentiles> {
    let Some(plan) = run.plan().filter(|plan| kind_of(plan).has_requests()) else {
        return Vec::new();
    };
    let visits = Visits::new(run, plan);
    let closed = plan.points.ids().filter(|&point| !plan.is_open(point));
    let cells = closed.flat_map(|point| plan.compared().map(move |subject| (subject, point)));
    cells
        .filter_map(|cell| percentiles_at(plan, &visits, cell))
        .collect()
}

fn percentiles_at(
    plan: &Plan,
    visits: &Visits,
    (subject, point): (SubjectId, PointId),
) -> Option<Percentiles> {
    let blocks: Vec<&Visit> = visits.by_replicate(subject, point).flatten().collect();
    let alpha = plan.measure.alpha;
    let (all, _) = quantiles::quantiles_at(alpha, &blocks, |s| &s.response, PARTS);
    let common = visits
        .common([plan.baseline, subject], point)
        .filter(|_| subject != plan.baseline);
    let tails = common.as_ref().map(|common| {
        common
            .each_ref()
            .map(|blocks| Tails::new(alpha, blocks, |s| &s.response))
    });
    let ratio = |part| Some(quantiles::ratio(tails.as_ref()?, part, alpha)?.interval);
    let spread = |of: &[&[&Visit]]| {
        let n = of[0].len();
        let each: Vec<Tails> = of
            .iter()
            .map(|b| Tails::new(alpha, b, |s| &s.response))
            .collect();
        let value = |counts: &[u32]| {
            let one = |tails: &Tails| {
                Some(tails.value(SPREAD[1], counts)? / tails.value(SPREAD[0], counts)?)
            };
            let values: Option<Vec<f64>> = each.iter().map(one).collect();
            match *values?.as_slice() {
                [one] => Some([one]),
                [base, other] => Some([other / base]),
                _ => None,
            }
        };
        let columns = each.iter().map(Tails::columns).min().unwrap_or(0);
        (columns == n).then(|| bootstrap::intervals(n, plan.seed, alpha, value))?
    };
    Some(Percentiles {
        subject,
        point,
        parts: all.parts,
        max_ns: all.max_ns?,
        spread: spread(&[&blocks]).map(|[one]| one),
        ratios: PARTS.map(ratio),
        spread_ratio: common
            .as_ref()
            .and_then(|[base, other]| spread(&[base, other]))
            .map(|[one]| one),
    })
}

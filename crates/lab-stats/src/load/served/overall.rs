// SPDX-License-Identifier: Apache-2.0
//! What a request costs a server, over the points of a case and over all: the geometric mean of its ratios
//! to the baseline.

use super::{cases, closed_points, mean_logs};
use crate::analysis::Refusal;
use crate::compare::{candidates, noise_floor};
use crate::load::analysis::LoadOverall;
use crate::load::judge::judge;
use crate::load::visits::Visits;
use crate::refusals::refused;
use lab_model::{Plan, PointId, SubjectId};

/// Every server that is compared somewhere, by case, then with and without keep-alive, simultaneous over the
/// servers at a level of `1 - alpha`.
///
/// Each block gives one value, the mean of its log ratios over the points, and these values are treated as
/// those of a single point are: so the interval is exact, however the points depend on each other. Points
/// where a server is refused, and blocks that lack another point, are left out.
pub fn overall(plan: &Plan, visits: &Visits, refusals: &[Refusal], alpha: f64) -> Vec<LoadOverall> {
    let places = cases(plan).flat_map(|case| [true, false].map(|keep_alive| (case, keep_alive)));
    let all = places.flat_map(|(case, keep_alive)| {
        let points: Vec<PointId> = closed_points(plan, case, keep_alive).collect();
        let means = |subject| means(plan, visits, refusals, subject, &points);
        let overall = |subject, points, ratio, p, verdict, margin| LoadOverall {
            subject,
            case,
            keep_alive,
            points,
            ratio,
            p,
            verdict,
            margin,
        };
        let control = plan.control().and_then(|control| {
            let (points, logs) = means(control)?;
            Some((control, points, noise_floor(&logs, plan)?))
        });
        let margin = control
            .as_ref()
            .map_or(plan.measure.margin, |(.., floor)| floor.margin);
        let others = candidates(plan).filter_map(|subject| {
            let (points, logs) = means(subject)?;
            Some(((subject, points), logs))
        });
        let judged = judge(others.collect(), alpha, |_| margin).into_iter();
        let others = judged.map(|((subject, points), judged)| {
            let ratio = judged.ratio.interval;
            overall(subject, points, ratio, judged.p, judged.verdict, margin)
        });
        let control = control.into_iter().map(|(control, points, floor)| {
            let verdict = floor.verdict(plan.measure.margin);
            let (ratio, p) = (floor.ratio.interval, floor.ratio.p);
            overall(control, points, ratio, p, verdict, margin)
        });
        control.chain(others).collect::<Vec<_>>()
    });
    all.collect()
}

/// At how many points a server is compared, and the mean over them by block. `None`: at none.
fn means(
    plan: &Plan,
    visits: &Visits,
    refusals: &[Refusal],
    subject: SubjectId,
    points: &[PointId],
) -> Option<(u32, Vec<f64>)> {
    let taken =
        |&&point: &&PointId| plan.takes_part(subject, point) && !refused(refusals, subject, point);
    let taken = points.iter().filter(taken);
    let pairs: Vec<_> = taken
        .map(|&point| ((plan.baseline, point), (subject, point)))
        .collect();
    let means = mean_logs(visits, &pairs, |visit| visit.server_ns_per_request());
    (!means.is_empty()).then_some((pairs.len() as u32, means))
}

// SPDX-License-Identifier: Apache-2.0
//! Fits the Universal Scalability Law to each subject's throughput over a sweep with concurrent
//! operations.

use crate::analysis::{PredictedPeak, ScalingLaw};
use crate::results::{NoLaw, Scaling};
use crate::sweeps::{self, OneSubject, RankedTimes, Sweep};
use crate::table::BatchTable;
use crate::{bootstrap, usl};
use lab_model::{Cores, Plan, Run, SubjectId, TargetId};

/// The largest relative deviation of points from the law that does not count as a poor fit.
///
/// The plan's margin is used instead if it is wider. The tolerance is needed because the law
/// describes the joint behavior of a machine, a server and a runtime with only three parameters.
const MAX_DEVIATION: f64 = 0.05;

/// Fits the scaling of each subject that was measured at two or more points of a sweep with
/// concurrent operations.
///
/// Blocks without values at all points are ignored. Intervals are not adjusted for multiple
/// comparisons, and have the plan's level.
pub fn scalings(run: &Run, plan: &Plan, table: &BatchTable) -> Vec<Scaling> {
    let sweeps = sweeps::sweeps(plan);
    let at_once = sweeps
        .iter()
        .filter(|sweep| plan.cases[sweep.case].cores == Cores::All);
    at_once
        .flat_map(|sweep| {
            plan.compared()
                .filter_map(|subject| scaling(run, plan, table, sweep, subject))
        })
        .collect()
}

fn scaling(
    run: &Run,
    plan: &Plan,
    table: &BatchTable,
    sweep: &Sweep,
    subject: SubjectId,
) -> Option<Scaling> {
    let measured = OneSubject::typical(run, plan, table, sweep, subject)?;
    Some(fit(plan, sweep, subject, &measured))
}

/// Computes the scaling of a subject from its times at the points of a sweep.
pub(crate) fn fit(
    plan: &Plan,
    sweep: &Sweep,
    subject: SubjectId,
    measured: &OneSubject,
) -> Scaling {
    let law = law(plan, measured);
    let points = measured.x.len();
    let needed = usl::MIN_POINTS;
    let reason = if points < needed {
        NoLaw::TooFewPoints { needed, points }
    } else {
        NoLaw::NoCompleteBlock
    };
    Scaling {
        subject,
        target: TargetId(0),
        case: sweep.case,
        factors: sweep.factors.clone(),
        points: points as u32,
        why: law.is_none().then_some(reason),
        law,
    }
}

fn law(plan: &Plan, measured: &OneSubject) -> Option<ScalingLaw> {
    let OneSubject { x, blocks } = measured;
    let ranked: Vec<RankedTimes> = (0..x.len()).map(|i| RankedTimes::new(blocks, i)).collect();
    let fit = |times: Vec<f64>| {
        let throughputs: Vec<f64> = times.iter().map(|ns| 1e9 / ns).collect();
        usl::law(x, &throughputs)
    };
    let of_blocks = |counts: &[u32]| fit(ranked.iter().map(|r| r.median(counts)).collect());
    let (seed, alpha) = (plan.seed, plan.measure.alpha);
    let intervals = bootstrap::intervals(blocks.len(), seed, alpha, |counts| {
        let law = of_blocks(counts)?;
        let peak = [law.peak(), law.peak_throughput()];
        Some([law.one, law.contention, law.coherency, peak[0], peak[1]])
    });
    let [one, contention, coherency, connections, throughput] = intervals?;
    let residuals = of_blocks(&vec![1; blocks.len()])?.residuals;
    let worst_residual = sweeps::worst(&residuals);
    let each: Vec<Vec<f64>> = blocks
        .iter()
        .filter_map(|times| Some(fit(times.clone())?.residuals))
        .collect();
    Some(ScalingLaw {
        one,
        contention,
        coherency,
        peak: (coherency.low > 0.0).then_some(PredictedPeak {
            connections,
            throughput,
        }),
        worst_residual,
        departs: worst_residual > MAX_DEVIATION.max(plan.measure.margin)
            && sweeps::has_deviating_point(&each, alpha),
    })
}

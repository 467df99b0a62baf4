// SPDX-License-Identifier: Apache-2.0
//! Fits the fixed cost of a request, and the cost per unit of a numeric parameter of the request,
//! such as the number of included files.

use super::visits::{Visit, Visits};
use crate::analysis::Fit;
use crate::sweeps::{self, OneSubject, Sweep};
use lab_model::point_load::{KEEP_ALIVE, LOAD};
use lab_model::{CaseId, Metric, Plan, PointId, Run};

/// The fitted metrics: the time per request and the server's CPU time.
static FITTED: [Metric; 2] = [Metric::TIME_PER_REQUEST, Metric::SERVER_CPU];

/// Fits lines through the costs of requests in a closed loop, for servers that benchlab starts.
///
/// The fits are ordered by case, then constant factors, then server, then metric.
pub(crate) fn fits(run: &Run, plan: &Plan, visits: &Visits) -> Vec<Fit> {
    let mut fits = Vec::new();
    for (over, sweep) in numbered(plan) {
        for subject in plan.compared() {
            for metric in &FITTED {
                let value = |visit: Option<&Visit>| visit.and_then(|v| v.value(metric));
                let measured = OneSubject::new(run, plan, &sweep, subject, |point| {
                    visits.by_replicate(subject, point).map(value).collect()
                });
                let key = (metric.clone(), over.clone());
                let fit = measured.and_then(|m| sweeps::line(plan, &sweep, subject, m, key));
                fits.extend(fit);
            }
        }
    }
    fits
}

/// Returns the closed-loop points that differ in only one factor, with the factor's name.
///
/// All values of the factor must be numbers.
fn numbered(plan: &Plan) -> Vec<(String, Sweep)> {
    let mut found: Vec<(String, Sweep)> = Vec::new();
    for point in plan.points.ids().filter(|&point| !plan.is_open(point)) {
        let case = plan.points[point].case;
        let sweep = plan.cases[case].sweep.as_ref();
        let others = |name: &String| ![KEEP_ALIVE, LOAD].contains(&&**name) && Some(name) != sweep;
        for (over, word) in plan.points[point].params.iter().filter(|(n, _)| others(n)) {
            let Some(x) = number(plan, case, over, word) else {
                continue;
            };
            let other_params = plan.points[point].params.iter().filter(|(n, _)| n != over);
            let factors: Vec<_> = other_params.cloned().collect();
            let same = |(name, sweep): &&mut (String, Sweep)| {
                sweep.case == case && sweep.factors == factors && name == over
            };
            match found.iter_mut().find(same) {
                Some((_, sweep)) => sweep.points.push((point, x)),
                None => {
                    let points: Vec<(PointId, f64)> = vec![(point, x)];
                    let sweep = Sweep {
                        case,
                        factors,
                        points,
                    };
                    found.push((over.clone(), sweep));
                }
            }
        }
    }
    found
}

/// Returns a value of a factor as a number, or `None` if some value of the factor is not a number.
fn number(plan: &Plan, case: CaseId, factor: &str, word: &str) -> Option<f64> {
    let of_case = plan.points.iter().filter(|point| point.case == case);
    let mut words = of_case.flat_map(|p| p.params.iter().filter(|(name, _)| name == factor));
    let all = words.all(|(_, word)| word.parse::<u32>().is_ok());
    word.parse().ok().filter(|_| all)
}

// SPDX-License-Identifier: Apache-2.0
//! Experiments in which a fixture changes the environment of the subjects, such as the rate of a
//! network link. The report shows the marginal time per unit of the sweep in each state of the
//! fixture.

use crate::parts::charts;
use crate::parts::scope::{PointGroup, Scope};
use lab_document::say;
use lab_document::{Chart, Finding};
use lab_model::{Cores, Metric, PointId, Selector, Unit};
use lab_stats::analysis::Fit;

/// The maximum residual of a fitted line, as a fraction of the point's time.
///
/// A larger residual rejects the fit even if there are too few blocks to prove that the points form
/// a curve.
const FAR_OFF: f64 = 0.1;

/// The maximum number of fixture states on the first screen.
const SHOWN: usize = 2;

/// Returns the factor that selects the state of a fixture.
fn factor<'s>(scope: &Scope<'s>) -> Option<&'s str> {
    let mut fixtures = scope.plan.fixtures.iter();
    fixtures.find_map(|fixture| match &fixture.selector {
        Some(Selector::Factor(name)) => Some(name.as_str()),
        Some(Selector::Subject) | None => None,
    })
}

/// Builds the chart of time over the sweep, for the first case in the first state of the fixture.
pub fn chart(scope: &Scope) -> Option<Chart> {
    let groups = swept(scope);
    charts::over_sweep(scope, groups.first()?, &Metric::WALL)
}

/// Describes the marginal time per unit of the sweep in each state of the fixture, and the effect
/// of the first factor that does not select a state.
///
/// Returns no findings if no factor selects a state.
pub fn findings(scope: &Scope) -> Vec<Finding> {
    let Some(factor) = factor(scope) else {
        return Vec::new();
    };
    let groups = swept(scope);
    let first = groups.first().map(|group| group.case);
    let of_first = groups.iter().filter(|group| Some(group.case) == first);
    let slopes = of_first.take(SHOWN).filter_map(|group| slope(scope, group));
    let texts = slopes.chain(steps(scope, factor));
    texts.map(Finding::plain).collect()
}

fn swept(scope: &Scope) -> Vec<PointGroup> {
    let groups = scope.groups(Cores::One).into_iter();
    groups.filter(|group| group.points.len() > 1).collect()
}

/// Describes the slopes in one state of the fixture: `kept link=cable, each additional 100 bytes: 0.85 ms (0.84 to
/// 0.86) with http1, and not constant with http2: from 5 ms at 1 to 9 ms at 8.`
fn slope(scope: &Scope, group: &PointGroup) -> Option<String> {
    let unit = &scope.case(group).unit;
    let fits = scope.results.fits.iter();
    let compared = scope.compared();
    let fits = fits.filter(|fit| {
        fit.case == group.case
            && fit.factors == group.factors
            && fit.metric == Metric::WALL
            && compared.contains(&fit.subject)
    });
    let slopes: Vec<String> = fits.map(|fit| subject_slope(scope, group, fit)).collect();
    let label = scope.group_label(group);
    (!slopes.is_empty())
        .then(|| format!("{label}, each additional {unit}: {}.", say::list(&slopes)))
}

/// Formats a subject's slope or, if the points do not follow a line, the times at both ends of the sweep.
fn subject_slope(scope: &Scope, group: &PointGroup, fit: &Fit) -> String {
    let name = scope.name(fit.subject);
    let figure = |interval| say::figure(interval, &Unit::Nanoseconds, scope.level());
    if !fit.curved && fit.worst_residual <= FAR_OFF {
        return format!("{} with {name}", figure(&fit.marginal_ns));
    }
    let ends = [group.points.first(), group.points.last()];
    let ends = ends.into_iter().flatten().filter_map(|&point| {
        let level = scope.interval((fit.subject, Some(point)), &Metric::WALL)?;
        Some(format!("{} at {}", figure(level), scope.swept(point)))
    });
    let ends: Vec<String> = ends.collect();
    format!("not constant with {name}: from {}", ends.join(" to "))
}

/// Describes the effect of the first factor that does not select a state: `packet: with packets=two instead of one,
/// http1 takes 1.012 times the time (1.011 to 1.013).`
fn steps(scope: &Scope, factor: &str) -> Option<String> {
    let mut effects = scope.results.effects.iter();
    let compared = scope.compared();
    let first = effects.find(|effect| {
        effect.factor != factor
            && effect.metric == Metric::WALL
            && effect.case.is_some()
            && compared.contains(&effect.subject)
    })?;
    let (from, to) = *first.pairs.first()?;
    let value = |point: PointId| scope.plan.points[point].param(&first.factor).unwrap_or("?");
    Some(format!(
        "{}: with {}={} instead of {}, {} takes {}.",
        scope.plan.case(to).name,
        first.factor,
        value(to),
        value(from),
        scope.name(first.subject),
        say::times(&first.ratio, "the time", scope.level()),
    ))
}

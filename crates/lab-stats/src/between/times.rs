// SPDX-License-Identifier: Apache-2.0
//! Response times of closed loops in two runs, side by side as `ab` prints them.

use super::side::{PointPair, Sides};
use crate::change::quotient;
use crate::load::percentiles::{Percentiles, percentiles};
use crate::load::quantiles::at_least_1;
use lab_model::Interval;
use std::array;

/// The response times of a server at a point in both runs.
#[derive(Clone, Debug)]
pub struct ChangedTimes {
    /// The server's name.
    pub subject: String,
    /// The point's label.
    pub point: String,
    /// In the first run and in the second, whose ratios are to the first's: nothing of a machine is common to both.
    pub runs: [Percentiles; 2],
}

/// Of every server at every point that both runs have; each interval by itself, at the plans' level.
pub(super) fn changed(sides: &Sides) -> Vec<ChangedTimes> {
    let all = sides.0.each_ref().map(|side| percentiles(side.run));
    let points = sides.points().into_iter();
    let places = points.flat_map(|points| sides.measured(points).collect::<Vec<_>>());
    places
        .filter_map(|place| changed_times(sides, &all, place))
        .collect()
}

fn changed_times(
    sides: &Sides,
    all: &[Vec<Percentiles>; 2],
    place: PointPair,
) -> Option<ChangedTimes> {
    let PointPair { subjects, points } = place;
    let of = |i: usize| {
        let mut percentiles = all[i].iter();
        percentiles.find(|p| (p.subject, p.point) == (subjects[i], points[i]))
    };
    let (first, second) = (of(0)?, of(1)?);
    let ratio = |of: [Option<Interval>; 2]| {
        let [a, b] = of.map(|time| time.map(at_least_1));
        Some(quotient(&a?, &b?, 0.0))
    };
    let spread = first.spread.zip(second.spread);
    let side = &sides.0[0];
    Some(ChangedTimes {
        subject: side.subject_label(&side.plan.subjects[subjects[0]].name),
        point: side.label(points[0]),
        runs: [
            first.clone(),
            Percentiles {
                ratios: array::from_fn(|part| ratio([first.parts[part], second.parts[part]])),
                spread_ratio: spread.map(|(a, b)| quotient(&a, &b, 0.0)),
                ..second.clone()
            },
        ],
    })
}

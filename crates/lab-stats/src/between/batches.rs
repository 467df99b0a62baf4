// SPDX-License-Identifier: Apache-2.0
//! Two runs of batches or whole commands: changes of ratios to the baseline, and changes of times.

use super::changed::{Changed, ControlChange};
use super::side::{PointPair, Sides};
use crate::change::change;
use crate::order;
use crate::outlook::{Outlook, SAME_ALPHA};
use crate::ratio::{Level, ratio};
use crate::results::judge::candidates;
use crate::table::BatchTable;
use crate::verdict::verdict;
use lab_model::{Interval, Metric, PointId};

/// Two runs of batches or whole commands, reduced to one value per block.
pub(crate) struct Batches<'s> {
    sides: &'s Sides<'s>,
    tables: [BatchTable; 2],
}

impl Batches<'_> {
    pub fn new<'s>(sides: &'s Sides<'s>) -> Batches<'s> {
        let table = |side: &super::side::RunSide| BatchTable::new(side.run, side.plan);
        Batches {
            sides,
            tables: sides.0.each_ref().map(table),
        }
    }

    /// Returns the changes of the ratios to the baseline, and the changes of the control's ratio by
    /// point.
    ///
    /// The intervals of the ratios to the baseline are simultaneous.
    pub fn ratios(&self, points: &[[PointId; 2]]) -> (Vec<Changed>, Vec<ControlChange>) {
        let mut controls = Vec::new();
        let mut compared: Vec<(PointPair, f64)> = Vec::new();
        for &points in points {
            let control = self.control(points);
            let margin = control.as_ref().map_or(self.sides.margin(), |c| c.margin);
            controls.extend(control);
            let pairs = candidates(self.sides.0[0].plan)
                .filter_map(|subject| self.sides.find_pair(subject, points))
                .filter(|pair| self.sides.compares(pair))
                .filter(|pair| self.log_ratios(pair).iter().all(|logs| !logs.is_empty()));
            compared.extend(pairs.map(|pair| (pair, margin)));
        }
        let level = Level {
            alpha: self.sides.alpha_of_target(),
            family: compared.len(),
        };
        let changes = compared.iter();
        let changes = changes.filter_map(|(pair, margin)| self.ratio(pair, level, *margin));
        (changes.collect(), controls)
    }

    /// Returns the changes of times.
    ///
    /// Changes of times have no verdict, because times include the speed of the machine.
    pub fn times(&self, points: &[[PointId; 2]]) -> Vec<Changed> {
        let pairs = points.iter().flat_map(|&p| self.sides.measured(p));
        pairs.filter_map(|pair| self.time(&pair)).collect()
    }

    fn ratio(&self, pair: &PointPair, level: Level, margin: f64) -> Option<Changed> {
        let logs = self.log_ratios(pair);
        let found = change(&logs[0], &logs[1], level)?;
        let values = [
            ratio(&logs[0], level)?.interval,
            ratio(&logs[1], level)?.interval,
        ];
        Some(Changed {
            relative: true,
            verdict: Some(verdict(
                &found,
                self.sides.margins(margin),
                &Outlook::new(SAME_ALPHA),
            )),
            margin,
            ..self.sides.changed(pair, Metric::WALL, values, &found)
        })
    }

    fn control(&self, points: [PointId; 2]) -> Option<ControlChange> {
        let first = &self.sides.0[0];
        let pair = self.sides.find_pair(first.plan.control()?, points)?;
        if !self.sides.compares(&pair) {
            return None;
        }
        let logs = self.log_ratios(&pair);
        let found = change(&logs[0], &logs[1], self.sides.level_without_verdict())?;
        let Interval { low, high, .. } = found.interval;
        let met = !found.supports_verdict() || (low <= 1.0 && high >= 1.0);
        let bound = (high - 1.0).max(1.0 - low);
        let margin = self.sides.margin();
        Some(ControlChange {
            point: first.label(points[0]),
            change: found.interval,
            met,
            margin: if met { margin } else { margin.max(bound) },
        })
    }

    fn time(&self, pair: &PointPair) -> Option<Changed> {
        let times = [0, 1].map(|i| {
            let visits = self.tables[i].visits(pair.subjects[i], pair.points[i]);
            visits.flatten().map(|v| v.wall_ns).collect::<Vec<f64>>()
        });
        let level = self.sides.level_without_verdict();
        let logs = |times: &[f64]| times.iter().map(|t| t.ln()).collect::<Vec<f64>>();
        let found = change(&logs(&times[0]), &logs(&times[1]), level)?;
        let median = |times| order::median_interval(times, level.alpha);
        let values = [median(&times[0])?, median(&times[1])?];
        Some(self.sides.changed(pair, Metric::WALL, values, &found))
    }

    /// Returns, for each run, the logarithms of the subject's ratio to the baseline in the blocks
    /// that contain both the subject and the baseline.
    fn log_ratios(&self, pair: &PointPair) -> [Vec<f64>; 2] {
        [0, 1].map(|i| {
            let (subject, point) = (pair.subjects[i], pair.points[i]);
            let baseline = self.sides.0[i].plan.baseline;
            let logs = self.tables[i].log_ratios(subject, baseline, point);
            logs.into_iter().flatten().collect()
        })
    }
}

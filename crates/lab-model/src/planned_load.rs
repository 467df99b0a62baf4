// SPDX-License-Identifier: Apache-2.0
//! The load that a plan puts on servers at each of its points.

use crate::point_load::LOAD;
use crate::{Arrivals, Example, Plan, PointId, PointLoad, Traffic, distinct};

impl Plan {
    /// Reads from each point's parameters what load is put on there. Error: a value that says nothing.
    pub fn read_loads(&mut self) -> Result<(), String> {
        let Some(load) = self.load() else {
            return Ok(());
        };
        let keep_alive = load.keep_alive;
        self.points.iter_mut().try_for_each(|point| {
            point.load = Some(PointLoad::read(&point.params, keep_alive)?);
            Ok(())
        })
    }

    /// How many connections a point of load has.
    pub fn connections(&self, point: PointId) -> usize {
        let load = self.points[point].load;
        load.map_or(1, |load| load.connections as usize)
    }

    /// The most that any point has.
    pub fn most_connections(&self) -> usize {
        let points = 0..self.points.len();
        points
            .map(|point| self.connections(point))
            .max()
            .unwrap_or(1)
    }

    /// True if a connection serves one request after the other at a point of load.
    pub fn keeps_alive(&self, point: PointId) -> bool {
        self.points[point].load.is_some_and(|load| load.keep_alive)
    }

    /// The part of what a subject serves at the most that is offered to it at a point, 0 to 1; `None`: no
    /// part is.
    pub fn part_of_peak(&self, point: PointId) -> Option<f64> {
        match self.points[point].load?.traffic {
            Traffic::PartOfPeak(part) => Some(part),
            _ => None,
        }
    }

    /// The requests per second that every subject is offered at a point; `None`: that is not what it is offered.
    pub fn rate(&self, point: PointId) -> Option<f64> {
        match self.points[point].load?.traffic {
            Traffic::Rate(rate) => Some(rate),
            _ => None,
        }
    }

    /// True for an open loop: requests at a point of load are sent when they are due, however earlier ones
    /// ended.
    pub fn is_open(&self, point: PointId) -> bool {
        match self.points[point].load.map(|load| load.traffic) {
            Some(Traffic::Planned) => self
                .load()
                .is_some_and(|load| load.arrivals != Arrivals::Closed),
            Some(Traffic::PartOfPeak(_) | Traffic::Rate(_)) => true,
            Some(Traffic::Closed) | None => false,
        }
    }

    /// The points at which a subject is asked for the same as at `point`, as fast as it answers: where the
    /// peak is found of which a part is offered there.
    pub fn peak_points(&self, point: PointId) -> impl Iterator<Item = PointId> + '_ {
        let case = self.points[point].case;
        let same = move |&other: &PointId| {
            let params = |point: PointId| {
                let all = self.points[point].params.iter();
                all.filter(|(name, _)| name != LOAD)
            };
            self.points[other].case == case
                && params(other).eq(params(point))
                && !self.is_open(other)
        };
        (0..self.points.len()).filter(same)
    }

    /// The request to a subject at a point, with its response.
    pub fn example(&self, point: PointId) -> Option<Example> {
        let planned = &self.points[point];
        let examples = &self.serving()?.examples;
        Some(examples.get(planned.case)?.first()?.with(&planned.params))
    }

    /// The requests of the load at all points, each once.
    pub fn loaded_examples(&self) -> Vec<Example> {
        let points = 0..self.points.len();
        distinct(points.filter_map(|point| self.example(point)))
    }

    /// All that servers are asked for at any point, each request once.
    pub fn all_examples(&self) -> Vec<Example> {
        let at = |point: &crate::Point| {
            let examples = self.serving().and_then(|s| s.examples.get(point.case));
            let examples = examples.into_iter().flatten();
            examples.map(|e| e.with(&point.params)).collect::<Vec<_>>()
        };
        distinct(self.points.iter().flat_map(at))
    }
}

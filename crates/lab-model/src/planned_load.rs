// SPDX-License-Identifier: Apache-2.0
//! The load that a plan puts on servers at each of its points.

use crate::point_load::LOAD;
use crate::{Arrivals, Example, Plan, PointId, PointLoad, Traffic, distinct};

impl Plan {
    /// Reads the load at each point from its parameters.
    ///
    /// # Errors
    /// Returns an error if a parameter has an invalid value.
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

    /// Returns the number of connections at a point.
    pub fn connections(&self, point: PointId) -> usize {
        let load = self.points[point].load;
        load.map_or(1, |load| load.connections as usize)
    }

    /// Returns the maximum number of connections at any point.
    pub fn max_connections(&self) -> usize {
        let points = self.points.ids();
        points
            .map(|point| self.connections(point))
            .max()
            .unwrap_or(1)
    }

    /// Returns the maximum number of connections that one of `generators` generators has open at the
    /// same time.
    ///
    /// Subjects take turns at a point. Connections that are reused stay open during the turns of the
    /// other subjects.
    pub fn max_open_connections(&self, generators: usize) -> usize {
        let points = self.points.ids();
        let open = points.map(|point| {
            let subjects = if self.keeps_alive(point) {
                self.subjects.len()
            } else {
                1
            };
            self.connections(point).div_ceil(generators) * subjects
        });
        open.max().unwrap_or(1)
    }

    /// Returns true if a connection serves more than one request at a point.
    pub fn keeps_alive(&self, point: PointId) -> bool {
        self.points[point].load.is_some_and(|load| load.keep_alive)
    }

    /// Returns the load at a point as a fraction of the subject's peak throughput, 0 to 1.
    ///
    /// Returns `None` if the load is not defined as a fraction.
    pub fn fraction_of_peak(&self, point: PointId) -> Option<f64> {
        match self.points[point].load?.traffic {
            Traffic::PartOfPeak(part) => Some(part),
            _ => None,
        }
    }

    /// Returns the fixed rate that is offered to every subject at a point, in requests per second.
    ///
    /// Returns `None` if the load is not defined as a fixed rate.
    pub fn rate(&self, point: PointId) -> Option<f64> {
        match self.points[point].load?.traffic {
            Traffic::Rate(rate) => Some(rate),
            _ => None,
        }
    }

    /// Returns true for an open loop, in which requests are sent when due regardless of earlier
    /// requests.
    pub fn is_open(&self, point: PointId) -> bool {
        match self.points[point].load.map(|load| load.traffic) {
            Some(Traffic::Planned) => self
                .load()
                .is_some_and(|load| load.arrivals != Arrivals::Closed),
            Some(Traffic::PartOfPeak(_) | Traffic::Rate(_)) => true,
            Some(Traffic::Closed) | None => false,
        }
    }

    /// Returns the closed-loop points with the same parameters as `point`, apart from the load.
    ///
    /// The load at `point` is a fraction of the peak throughput, which is measured at these points.
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
        self.points.ids().filter(same)
    }

    /// Returns the request that is sent to subjects at a point, with its required response.
    pub fn example(&self, point: PointId) -> Option<Example> {
        let planned = &self.points[point];
        let examples = &self.serving()?.examples;
        Some(
            examples
                .get(planned.case.index())?
                .first()?
                .with_params(&planned.params),
        )
    }

    /// Returns the requests of the load at all points, without duplicates.
    pub fn loaded_examples(&self) -> Vec<Example> {
        let points = self.points.ids();
        distinct(points.filter_map(|point| self.example(point)))
    }

    /// Returns all requests to the servers at any point, without duplicates.
    pub fn all_examples(&self) -> Vec<Example> {
        let at = |point: &crate::Point| {
            let examples = self
                .serving()
                .and_then(|s| s.examples.get(point.case.index()));
            let examples = examples.into_iter().flatten();
            examples
                .map(|e| e.with_params(&point.params))
                .collect::<Vec<_>>()
        };
        distinct(self.points.iter().flat_map(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Point, Subject};

    #[test]
    fn reused_connections_stay_open_during_the_turns_of_other_subjects() {
        let most = |points: &[(u32, bool)], generators| {
            let point = |&(connections, keep_alive): &(u32, bool)| Point {
                load: Some(PointLoad {
                    connections,
                    keep_alive,
                    traffic: Traffic::Closed,
                }),
                ..Point::default()
            };
            let plan = Plan {
                subjects: vec![Subject::default(); 3].into(),
                points: points.iter().map(point).collect(),
                ..Plan::default()
            };
            plan.max_open_connections(generators)
        };
        assert_eq!(most(&[(7, true), (2, true)], 1), 21);
        assert_eq!(most(&[(7, true)], 2), 12);
        assert_eq!(most(&[(7, false), (2, true)], 1), 7);
    }
}

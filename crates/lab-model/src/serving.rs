// SPDX-License-Identifier: Apache-2.0
//! Servers that the lab starts: what they are given, and what they must answer.

use crate::point_load::LOAD;
use crate::{Arrivals, Metric, Plan, PointId, PointLoad, Traffic};
use serde::{Deserialize, Serialize};

/// What the servers of an experiment are given, and what they must answer before they are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// Threads that may run handlers, of a server that has a pool of them.
    pub workers: u32,
    /// A path that no server has.
    pub missing: String,
    /// Files that servers serve, made by the lab.
    pub files: Vec<ServedFile>,
    /// By case: the first is what load is put on with, all are proven before. A path may hold names of the
    /// case's parameters in braces.
    pub examples: Vec<Vec<Example>>,
    /// Connections that a server is proven with at once.
    #[serde(default = "usual_together")]
    pub together: u32,
    /// What a server tells when it is closed.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// How long a server is warmed up for a case at the most, s; `None`: as long as any.
    #[serde(default)]
    pub warm_up_s: Option<u32>,
    /// Blocks begin as long as they are expected to end within this time, s, unless the reader says it.
    #[serde(default)]
    pub budget_s: Option<u32>,
}

fn usual_together() -> u32 {
    Serving::TOGETHER
}

impl Serving {
    /// Connections that a server is proven with at once, unless the experiment says it.
    pub const TOGETHER: u32 = 64;
}

/// A file that servers serve: its bytes come from the run's seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedFile {
    /// Without folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// A request and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Such as `GET`.
    pub method: String,
    /// Path and query, percent-encoded.
    pub path: String,
    /// What is sent, as `application/json`.
    pub body: Option<String>,
    /// Further headers, such as `Accept-Encoding: gzip`.
    #[serde(default)]
    pub headers: Vec<String>,
    /// What must come.
    pub status: u16,
    /// What must come as its body.
    pub answer: Content,
}

impl Example {
    /// The same with the parameters' values in the place of their names.
    fn with(&self, params: &[(String, String)]) -> Example {
        let path = params
            .iter()
            .fold(self.path.clone(), |path, (name, value)| {
                path.replace(&format!("{{{name}}}"), value)
            });
        Example {
            path,
            ..self.clone()
        }
    }
}

/// What the body of an answer must be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Whatever the server says, as with a refusal.
    #[default]
    Any,
    /// JSON, byte for byte.
    Text(String),
    /// JSON of the same value; a serialiser may choose its spacing and order.
    Json(String),
    /// The file of this name among [`Serving::files`], byte for byte.
    File(String),
}

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

    /// Whether a connection serves one request after the other at a point of load.
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

    /// Whether requests are sent when they are due at a point of load, whatever became of those before.
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

    /// What a subject is asked for at a point, and how it answers.
    pub fn example(&self, point: PointId) -> Option<Example> {
        let of = &self.points[point];
        let examples = &self.serving()?.examples;
        Some(examples.get(of.case)?.first()?.with(&of.params))
    }

    /// What load is put on with at any point, each request once.
    pub fn loaded_examples(&self) -> Vec<Example> {
        let points = 0..self.points.len();
        distinct(points.filter_map(|point| self.example(point)))
    }

    /// All that servers are asked for at any point, each request once.
    pub fn all_examples(&self) -> Vec<Example> {
        let at = |point: &crate::Point| {
            let examples = self.serving().and_then(|s| s.examples.get(point.case));
            let examples = examples.into_iter().flatten();
            let of: Vec<Example> = examples.map(|e| e.with(&point.params)).collect();
            of
        };
        distinct(self.points.iter().flat_map(at))
    }
}

fn distinct(all: impl Iterator<Item = Example>) -> Vec<Example> {
    let mut seen = Vec::new();
    for example in all {
        if !seen.contains(&example) {
            seen.push(example);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_paths() {
        let example = Example {
            path: "/page?files={files}&x={other}".into(),
            ..Example::default()
        };
        let params = [("files", "50"), ("connections", "8")];
        let params = params.map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(example.with(&params).path, "/page?files=50&x={other}");
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Servers that the lab starts: what they must answer, and how a point's parameters say what load is put
//! on them.

use crate::{Arrivals, Plan, PointId};
use serde::{Deserialize, Serialize};

/// The parameter that says over how many connections.
pub const CONNECTIONS: &str = "connections";

/// The parameter that says whether a connection serves one request after the other.
pub const KEEP_ALIVE: &str = "keep_alive";

/// The parameter that says when requests are sent.
pub const LOAD: &str = "load";

/// The value of [`LOAD`] at which requests are sent as fast as they are answered; the others are parts of
/// what a subject served then at the most, such as `25%`.
pub const CLOSED: &str = "closed";

/// What the servers of an experiment are given, and what they must answer before they are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// Threads that may run handlers, of a server that has a pool of them.
    pub workers: u32,
    /// A path that no server has.
    pub missing: String,
    /// Files that servers serve, made by the lab.
    pub files: Vec<ServedFile>,
    /// By case: the first is what load is put on with, all are proven before.
    pub examples: Vec<Vec<Example>>,
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
    /// What must come.
    pub status: u16,
    /// What must come as its body.
    pub answer: Content,
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
    /// How many connections a point of load has.
    pub fn connections(&self, point: PointId) -> usize {
        let asked = self.param(point, CONNECTIONS);
        asked.and_then(|n| n.parse().ok()).unwrap_or(1)
    }

    /// Whether a connection serves one request after the other at a point of load.
    pub fn keeps_alive(&self, point: PointId) -> bool {
        let usual = self.load.as_ref().is_some_and(|load| load.keep_alive);
        self.param(point, KEEP_ALIVE).map_or(usual, |v| v == "yes")
    }

    /// The part of what a subject serves at the most that is offered to it at a point, 0 to 1; `None`: no
    /// part is.
    pub fn part_of_peak(&self, point: PointId) -> Option<f64> {
        let part = self.param(point, LOAD)?.strip_suffix('%')?;
        part.parse().ok().map(|percent: f64| percent / 100.0)
    }

    /// Whether requests are sent when they are due at a point of load, whatever became of those before.
    pub fn is_open(&self, point: PointId) -> bool {
        let open = |load: &crate::Load| load.arrivals != Arrivals::Closed;
        self.part_of_peak(point).is_some() || self.load.as_ref().is_some_and(open)
    }

    /// The points at which a subject is asked for the same as at `point`, as fast as it answers: where the
    /// peak is found of which a part is offered there.
    pub fn peak_points(&self, point: PointId) -> impl Iterator<Item = PointId> + '_ {
        let case = self.points[point].case;
        let same = move |&other: &PointId| {
            self.points[other].case == case
                && self.keeps_alive(other) == self.keeps_alive(point)
                && !self.is_open(other)
        };
        (0..self.points.len()).filter(same)
    }

    /// What is served by the subjects of this plan, if the lab starts them as servers.
    pub fn serving(&self) -> Option<&Serving> {
        self.load.as_ref()?.serving.as_ref()
    }

    /// What a subject is asked for at a point, and how it answers.
    pub fn example(&self, point: PointId) -> Option<&Example> {
        let examples = &self.serving()?.examples;
        examples.get(self.points[point].case)?.first()
    }

    fn param(&self, point: PointId, name: &str) -> Option<&str> {
        let mut params = self.points[point].params.iter();
        let found = params.find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

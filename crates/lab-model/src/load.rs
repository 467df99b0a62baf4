// SPDX-License-Identifier: Apache-2.0
//! Load: what is sent to a server over HTTP.

use serde::{Deserialize, Deserializer, Serialize};

/// How load is put on servers. How much of it at which point, see [`crate::PointLoad`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The requests of each subject, as people may see them: without secrets.
    pub requests: Vec<Vec<PlannedRequest>>,
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// A connection serves one request after the other; else each request opens one of its own.
    pub keep_alive: bool,
    /// Requests that a connection has under way at the most.
    pub pipeline: u32,
    /// Threads of the generator, one per core at the most.
    pub threads: u32,
    /// A request that takes longer has failed.
    pub timeout_ns: u64,
    /// Requirements on a response beyond being well-formed, in words, such as `status 200`.
    pub expected: Vec<String>,
    /// How long a visit to a point lasts.
    pub stretch_ns: u64,
    /// The servers' processes by their numbers, where they were named: each once.
    #[serde(default, rename = "server_pid", deserialize_with = "one_or_several")]
    pub server_pids: Vec<i32>,
    /// The machine beside whose server an agent reads what that uses; `None`: it is this one, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_host: Option<String>,
}

/// Older files have one number at the most.
fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<i32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Pids {
        Several(Vec<i32>),
        One(Option<i32>),
    }
    Ok(match Pids::deserialize(from)? {
        Pids::Several(pids) => pids,
        Pids::One(pid) => pid.into_iter().collect(),
    })
}

/// Within a tick an open loop sends what was due together: to wake for each request, and to wake the server for each,
/// costs more than the requests.
const MAX_TICK_NS: u64 = 200_000;
const MIN_TICK_NS: u64 = 50_000;

impl Load {
    /// The least time between two sendings of a thread of an open loop, ns: two requests at the highest rate that is
    /// planned; the shortest, where rates come of what is measured. One for all servers and points.
    pub fn tick_ns(&self) -> u64 {
        let Arrivals::Open { stages, .. } = &self.arrivals else {
            return MIN_TICK_NS;
        };
        let highest = stages.iter().map(|s| s.from.max(s.to)).fold(0.0, f64::max);
        let two_ns = 2e9 * f64::from(self.threads.max(1)) / highest;
        (two_ns as u64).clamp(MIN_TICK_NS, MAX_TICK_NS)
    }
}

/// One request, and how often it is sent in proportion to the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// Without user and password.
    pub url: String,
    /// At least 1.
    pub weight: u32,
}

/// When requests are sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loop", rename_all = "lowercase")]
pub enum Arrivals {
    /// As soon as the connection's last one is answered.
    #[default]
    Closed,
    /// When they are due, whatever became of those before.
    Open {
        /// The times between two are exponentially distributed, as of many users that know nothing of
        /// each other; else they are equal.
        poisson: bool,
        /// One after the other, over and over again while the load lasts.
        stages: Vec<Stage>,
    },
}

impl Arrivals {
    /// The share of one of several generators that share the requests equally.
    pub fn divided(&self, generators: usize) -> Arrivals {
        let Arrivals::Open { poisson, stages } = self else {
            return Arrivals::Closed;
        };
        let part = 1.0 / generators.max(1) as f64;
        let share = |stage: &Stage| Stage {
            from: stage.from * part,
            to: stage.to * part,
            ..*stage
        };
        Arrivals::Open {
            poisson: *poisson,
            stages: stages.iter().map(share).collect(),
        }
    }

    /// How many requests are due until so long after the beginning, on average; none in a closed loop.
    pub fn due(&self, until_ns: u64) -> f64 {
        let Arrivals::Open { stages, .. } = self else {
            return 0.0;
        };
        let all_ns: u64 = stages.iter().map(|stage| stage.length_ns).sum();
        if all_ns == 0 {
            return 0.0;
        }
        let per_round: f64 = stages.iter().map(|s| s.due(s.length_ns)).sum();
        let mut left_ns = until_ns % all_ns;
        let mut due = (until_ns / all_ns) as f64 * per_round;
        for stage in stages {
            let part_ns = left_ns.min(stage.length_ns);
            due += stage.due(part_ns);
            left_ns -= part_ns;
        }
        due
    }

    /// True if the rate changes over time.
    pub fn changes(&self) -> bool {
        let Arrivals::Open { stages, .. } = self else {
            return false;
        };
        let mut rates = stages.iter().flat_map(|stage| [stage.from, stage.to]);
        let first = rates.next();
        rates.any(|rate| Some(rate) != first)
    }
}

/// A part of the time in which the rate goes evenly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Requests per second at its beginning.
    pub from: f64,
    /// Requests per second at its end.
    pub to: f64,
    /// How long it lasts.
    pub length_ns: u64,
}

impl Stage {
    /// How many requests are due in the first part of it, on average: the area under its rate.
    fn due(&self, first_ns: u64) -> f64 {
        let part = first_ns as f64 / self.length_ns.max(1) as f64;
        let rate = self.from + (self.to - self.from) * part;
        (self.from + rate) / 2.0 * first_ns as f64 / 1e9
    }
}

/// The protocol on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    Http1,
    /// HTTP/2 (RFC 9113).
    Http2,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_that_of_the_highest_rate() {
        let tick_ns = |rates: &[f64], threads| {
            let stage = |&rate: &f64| Stage {
                from: rate,
                to: rate,
                length_ns: 1,
            };
            let arrivals = Arrivals::Open {
                poisson: true,
                stages: rates.iter().map(stage).collect(),
            };
            let load = Load {
                arrivals,
                threads,
                ..Load::default()
            };
            load.tick_ns()
        };
        assert_eq!(tick_ns(&[100.0], 1), 200_000);
        assert_eq!(tick_ns(&[100.0, 20_000.0], 1), 100_000);
        assert_eq!(tick_ns(&[20_000.0], 2), 200_000);
        assert_eq!(tick_ns(&[1e6], 1), 50_000);
        assert_eq!(Load::default().tick_ns(), 50_000);
    }

    fn ramp() -> Arrivals {
        let stage = |from, to, seconds: u64| Stage {
            from,
            to,
            length_ns: seconds * 1_000_000_000,
        };
        Arrivals::Open {
            poisson: true,
            stages: vec![stage(0.0, 100.0, 2), stage(100.0, 100.0, 1)],
        }
    }

    #[test]
    fn what_is_due_is_the_area_under_the_rate() {
        let due = |seconds: f64| ramp().due((seconds * 1e9) as u64);
        let known = [
            (0.0, 0.0),
            (1.0, 25.0),
            (2.0, 100.0),
            (2.5, 150.0),
            (3.0, 200.0),
            (4.0, 225.0),
        ];
        for (seconds, expected) in known {
            assert!(
                (due(seconds) - expected).abs() < 1e-6,
                "{seconds}: {}",
                due(seconds)
            );
        }
        assert_eq!(Arrivals::Closed.due(1_000_000_000), 0.0);
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        let share = ramp().divided(4);
        assert!((4.0 * share.due(2_700_000_000) - ramp().due(2_700_000_000)).abs() < 1e-6);
        assert_eq!(Arrivals::Closed.divided(3), Arrivals::Closed);
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The specification of an HTTP load: requests, schedule, protocol and expected responses.

use crate::{
    ExpectedResponse, IpFamily, PlannedBody, PlannedHeader, PlannedRequest, RequestsFile,
    SubjectId, Trust,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The load on one or more servers: the requests, the way to send them, and the expected responses.
///
/// The amount of load at each point is in [`crate::PointLoad`]. Secrets are stored as references,
/// without their values, and `benchlab resume` asks the user for the values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// The requests to each subject, without secrets.
    pub requests: Vec<Vec<PlannedRequest>>,
    /// Headers that are added to every request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<PlannedHeader>,
    /// The body of every request. `None` means that requests have no body, or that the bodies are
    /// in `requests_file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<PlannedBody>,
    /// The file from which the requests were read, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_file: Option<RequestsFile>,
    /// The schedule of the requests.
    pub arrivals: Arrivals,
    /// The protocol on a connection.
    pub protocol: Protocol,
    /// True if connections are reused. Otherwise each request opens its own connection.
    pub keep_alive: bool,
    /// The maximum number of requests in flight on a connection.
    pub pipeline: u32,
    /// The number of generator threads, at most one per core.
    pub threads: u32,
    /// The timeout of a request, in ns.
    pub timeout_ns: u64,
    /// The address families with which to connect: one for all subjects, or one for each subject.
    /// Empty means any family.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<IpFamily>,
    /// The certificates to accept. `None` if benchlab itself starts the server, because it then
    /// knows the certificate. Also `None` in run files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// A host on which benchlab may generate load even if the host is public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_host: Option<String>,
    /// The expected response.
    #[serde(default)]
    pub expect: ExpectedResponse,
    /// The expected response in words, such as `status 200`.
    pub expected: Vec<String>,
    /// The duration of a visit to a point, in ns.
    pub stretch_ns: u64,
    /// The launcher of the agents that generate the load, such as `ssh:gen1,gen2`. `None` means
    /// that this process generates the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<String>,
    /// The time without a message after which an agent counts as lost, in ns. `None` means the
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_after_ns: Option<u64>,
    /// The process IDs of the servers, if the user specified them: one for all subjects, or one for
    /// each subject.
    #[serde(default, rename = "server_pid", deserialize_with = "one_or_many")]
    pub server_pids: Vec<i32>,
    /// The machine on which an agent reads the servers' resource usage. `None` means that no agent
    /// reads it: benchlab reads it on its own machine, or the usage is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_host: Option<String>,
    /// The launcher of the agent on `server_host`, such as `ssh:web1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_agent: Option<String>,
}

/// Deserializes process IDs. Older run files store them as a single number or null.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<i32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Pids {
        Many(Vec<i32>),
        One(Option<i32>),
    }
    Ok(match Pids::deserialize(from)? {
        Pids::Many(pids) => pids,
        Pids::One(pid) => pid.into_iter().collect(),
    })
}

/// The maximum length of a tick, in ns.
///
/// An open loop sends all requests that become due within a tick together. If the generator and the
/// server woke up for each request, waking up would cost more than the requests themselves.
const MAX_TICK_NS: u64 = 200_000;
const MIN_TICK_NS: u64 = 50_000;

impl LoadSpec {
    /// Returns the length of a tick for all servers and points, in ns. See [`Arrivals::tick_ns`].
    pub fn tick_ns(&self) -> u64 {
        self.arrivals.tick_ns(self.threads)
    }

    /// Returns the scheme, host and port of a subject's server, or an empty string if the subject
    /// has no requests.
    pub fn origin(&self, subject: SubjectId) -> &str {
        let first = self
            .requests
            .get(subject.index())
            .and_then(|requests| requests.first());
        let url = first.map_or("", |request| request.url.as_str());
        let path = url.match_indices('/').nth(2);
        path.map_or(url, |(at, _)| &url[..at])
    }

    /// Returns true if all servers are addressed over the loopback interface.
    pub fn is_loopback(&self) -> bool {
        let mut subjects = (0..self.requests.len()).map(|i| SubjectId(i as u32));
        subjects.all(|subject| {
            let origin = self.origin(subject);
            let host = origin.split_once("://").map_or(origin, |(_, rest)| rest);
            let host = match host.strip_prefix('[') {
                Some(v6) => v6.split(']').next().unwrap_or_default(),
                None => host.split(':').next().unwrap_or_default(),
            };
            let address = host.parse::<std::net::IpAddr>();
            host == "localhost" || address.is_ok_and(|address| address.is_loopback())
        })
    }

    /// Returns the address family for a subject. `None` means any family.
    pub fn family(&self, subject: SubjectId) -> Option<IpFamily> {
        let of_subject = self.families.get(subject.index());
        of_subject.or(self.families.first()).copied()
    }

    /// Returns the process ID of a subject's server, if the user specified it.
    pub fn server_pid(&self, subject: SubjectId) -> Option<i32> {
        let of_subject = self.server_pids.get(subject.index());
        of_subject.or(self.server_pids.first()).copied()
    }
}

/// The schedule of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loop", rename_all = "lowercase")]
pub enum Arrivals {
    /// Closed loop: a connection sends its next request as soon as it receives the previous
    /// response.
    #[default]
    Closed,
    /// Open loop: each request is sent when it is due, even if earlier requests have no response
    /// yet.
    Open {
        /// True if the times between requests are exponentially distributed, as with many
        /// independent users. False if they are equal.
        poisson: bool,
        /// The rates over time. After the last stage, the first stage follows again until the load
        /// ends.
        #[serde(deserialize_with = "limited_stages")]
        stages: Vec<Stage>,
    },
}

/// The maximum rate of a stage, in requests per second.
const MAX_RATE: f64 = 1e9;

/// The maximum duration of all stages together, in ns: ten years.
const MAX_STAGES_NS: u64 = 10 * 365 * 24 * 3600 * 1_000_000_000;

/// Deserializes stages, and rejects rates and durations whose sums would overflow.
fn limited_stages<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Stage>, D::Error> {
    let stages = Vec::<Stage>::deserialize(from)?;
    let rates = stages.iter().flat_map(|stage| [stage.from, stage.to]);
    if let Some(rate) = rates
        .into_iter()
        .find(|rate| !(0.0..=MAX_RATE).contains(rate))
    {
        return Err(D::Error::custom(format!(
            "a rate of {rate} requests per second is not between 0 and {MAX_RATE}"
        )));
    }
    let mut lengths = stages.iter().map(|stage| stage.length_ns);
    let total = lengths.try_fold(0, u64::checked_add);
    if total.is_none_or(|total| total > MAX_STAGES_NS) {
        return Err(D::Error::custom("the stages take longer than ten years"));
    }
    Ok(stages)
}

impl Arrivals {
    /// Returns the minimum time between two sends of a thread in an open loop, in ns.
    ///
    /// At the highest planned rate, two requests per thread are due in this time. If the rate is
    /// not known in advance, because it is a fraction of a measured peak, this is the shortest
    /// tick.
    pub fn tick_ns(&self, threads: u32) -> u64 {
        let Arrivals::Open { stages, .. } = self else {
            return MIN_TICK_NS;
        };
        let highest = stages.iter().map(|s| s.from.max(s.to)).fold(0.0, f64::max);
        let two_ns = 2e9 * f64::from(threads.max(1)) / highest;
        (two_ns as u64).clamp(MIN_TICK_NS, MAX_TICK_NS)
    }

    /// Returns the schedule for each of `generators` generators, which share the requests equally.
    pub fn divided(&self, generators: usize) -> Arrivals {
        let Arrivals::Open { poisson, stages } = self else {
            return Arrivals::Closed;
        };
        let part = 1.0 / generators.max(1) as f64;
        let fraction = |stage: &Stage| Stage {
            from: stage.from * part,
            to: stage.to * part,
            ..*stage
        };
        Arrivals::Open {
            poisson: *poisson,
            stages: stages.iter().map(fraction).collect(),
        }
    }

    /// Returns the expected number of requests due in the first `until_ns` ns, or 0 in a closed
    /// loop.
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

    /// Returns true if the rate changes over time.
    pub fn changes(&self) -> bool {
        let Arrivals::Open { stages, .. } = self else {
            return false;
        };
        let mut rates = stages.iter().flat_map(|stage| [stage.from, stage.to]);
        let first = rates.next();
        rates.any(|rate| Some(rate) != first)
    }
}

/// A period in which the rate changes linearly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The rate at the start, in requests per second.
    pub from: f64,
    /// The rate at the end, in requests per second.
    pub to: f64,
    /// The duration in ns.
    pub length_ns: u64,
}

impl Stage {
    /// Returns the expected number of requests due in the first `first_ns` ns: the area under the
    /// rate.
    fn due(&self, first_ns: u64) -> f64 {
        let part = first_ns as f64 / self.length_ns.max(1) as f64;
        let rate = self.from + (self.to - self.from) * part;
        (self.from + rate) / 2.0 * first_ns as f64 / 1e9
    }
}

/// The version of HTTP that is used on a connection.
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
            let load = LoadSpec {
                arrivals,
                threads,
                ..LoadSpec::default()
            };
            load.tick_ns()
        };
        assert_eq!(tick_ns(&[100.0], 1), 200_000);
        assert_eq!(tick_ns(&[100.0, 20_000.0], 1), 100_000);
        assert_eq!(tick_ns(&[20_000.0], 2), 200_000);
        assert_eq!(tick_ns(&[1e6], 1), 50_000);
        assert_eq!(LoadSpec::default().tick_ns(), 50_000);
    }

    #[test]
    fn loopback_is_recognized_in_every_notation() {
        let is_loopback = |urls: &[&str]| {
            let request = |url: &&str| {
                vec![PlannedRequest {
                    url: url.to_string(),
                    ..PlannedRequest::default()
                }]
            };
            let requests = urls.iter().map(request).collect();
            LoadSpec {
                requests,
                ..LoadSpec::default()
            }
            .is_loopback()
        };
        assert!(is_loopback(&[
            "http://127.0.0.1:8080/a",
            "https://localhost/",
            "http://[::1]:80/"
        ]));
        assert!(!is_loopback(&["http://127.0.0.1/", "http://192.0.2.1/"]));
        assert!(!is_loopback(&["http://localhost.example/"]));
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
    fn due_requests_are_the_area_under_the_rate() {
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
    fn parts_of_a_load_add_up_to_the_whole() {
        let fraction = ramp().divided(4);
        assert!((4.0 * fraction.due(2_700_000_000) - ramp().due(2_700_000_000)).abs() < 1e-6);
        assert_eq!(Arrivals::Closed.divided(3), Arrivals::Closed);
    }
}

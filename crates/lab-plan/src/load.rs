// SPDX-License-Identifier: Apache-2.0
//! Builds the plan for a load that the user requests on the command line.

use crate::error::PlanError;
use crate::name;
use lab_model::point_load::CONNECTIONS;
use lab_model::{
    Arrivals, Case, Cores, LoadSpec, Measure, OnInconclusive, Plan, Point, Stage, Subject,
    SubjectId, Work,
};
use std::time::Duration;

/// The maximum number of connections at a point.
const MAX_CONNECTIONS: u32 = 1_000_000;

/// The minimum number of blocks. Fewer blocks do not allow simultaneous 95% intervals of multiple
/// quantiles.
const MIN_BLOCKS: u32 = 10;

/// The default length of a slice. Slices are shorter if the load would otherwise have fewer than
/// [`MIN_BLOCKS`] slices, and longer with many agents.
const SLICE_LENGTH: Duration = Duration::from_secs(1);

/// The approximate maximum number of slices that a run file contains from all agents together. Each
/// slice takes about 15 kB.
const MAX_AGENT_SLICES: u32 = 100_000;

/// The default duration of a load at a point.
const DEFAULT_LENGTH: Duration = Duration::from_secs(10);

/// A load as requested by the user.
#[derive(Clone, Debug, Default)]
pub struct Loading {
    /// The name in the history. `None` selects the host and port of the first server.
    pub name: Option<String>,
    /// The names of the servers. The first server is the baseline for all other servers.
    pub servers: Vec<String>,
    /// The number of agents that share the load. 0 means that this process generates the load.
    pub agents: usize,
    /// The number of connections, unless it is swept.
    pub connections: u32,
    /// The swept parameters with their values. The only valid parameter is `connections`.
    pub sweeps: Vec<(String, Vec<String>)>,
    /// The duration of the load on each server at each point. `None` selects the total duration of
    /// the stages, or the default if there are no stages.
    pub length: Option<Duration>,
    /// The rate in requests per second.
    pub rate: Option<f64>,
    /// The stages of a varying rate, as an alternative to `rate`.
    pub stages: Vec<Stage>,
    /// True if requests are due at equal intervals. False if the times between them are random, as
    /// with many independent users.
    pub even: bool,
    /// The requests, the way to send them, and the expected responses. The schedule and duration in
    /// the plan come from the other fields.
    pub load: LoadSpec,
    /// The margin of equivalence: ratios within 1 ± `margin` are equivalent.
    pub margin: f64,
    /// 1 minus the confidence level of all intervals.
    pub alpha: f64,
    /// The conditions of gates.
    pub fail_if: Vec<String>,
    /// The effect of an inconclusive gate.
    pub on_inconclusive: OnInconclusive,
    /// The maximum number of times that a disturbed block or a disturbed visit is measured again.
    pub redo: u32,
    /// The seed that determines the order of visits and requests, and the arrival times.
    pub seed: u64,
}

impl Loading {
    /// Builds the plan. Returns an error for invalid names or sweeps, and for contradictory options.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.check()?;
        let connections = self.connections()?;
        let points = self.points(&connections);
        let times = self.times(points.len());
        let origins =
            (0..self.servers.len()).map(|server| self.load.origin(SubjectId::from_index(server)));
        let mut origins: Vec<&str> = origins.collect();
        let name = match &self.name {
            Some(name) => name::checked(name)?,
            None => name::made_of(&origin_name(origins[0]), "load"),
        };
        origins.dedup();
        let mut plan = Plan {
            experiment: name,
            title: origins.join(" against "),
            question: "How much load can a server take, and what response times do its users see?"
                .into(),
            subjects: self.subjects()?.into(),
            cases: [Case {
                name: "load".into(),
                work: self.work(),
                unit: "request".into(),
                sweep: (connections.len() > 1).then(|| CONNECTIONS.into()),
                cores: Cores::All,
                ..Case::default()
            }]
            .into(),
            points: points.into(),
            measure: Measure {
                pairs: 1,
                turn_ns: times.slice.as_nanos() as u64,
                max_blocks: times.blocks,
                redo: self.redo,
                alpha: self.alpha,
                margin: self.margin,
                fail_if: self.fail_if.clone(),
                on_inconclusive: self.on_inconclusive,
                time_limit_ns: self.load.timeout_ns,
                ..Measure::default()
            },
            seed: self.seed,
            work: Work::Load(LoadSpec {
                arrivals: self.arrivals(times.stretch),
                stretch_ns: times.stretch.as_nanos() as u64,
                ..self.load.clone()
            }),
            ..Plan::default()
        };
        plan.read_loads().map_err(PlanError::of_request)?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), PlanError> {
        let wrong = |reason: &str| Err(PlanError::of_request(reason));
        let LoadSpec {
            keep_alive,
            pipeline,
            threads,
            ..
        } = self.load;
        let open = self.rate.is_some() || !self.stages.is_empty();
        if self.even && !open {
            return wrong("--even requires an open loop: add --rate or --stages");
        }
        let idle = |stage: &Stage| stage.from <= 0.0 && stage.to <= 0.0;
        if !self.stages.is_empty() && self.stages.iter().all(idle) {
            return wrong("--stages: no stage sends a request");
        }
        if pipeline > 1 && !keep_alive {
            return wrong(
                "--pipeline sends multiple requests over one connection, but --no-keep-alive sends only one: use only one of these options",
            );
        }
        if self.sweeps.is_empty() && threads > self.connections {
            wrong(&format!(
                "--threads {threads} is more than --connections {}: each thread needs a connection",
                self.connections
            ))
        } else {
            Ok(())
        }
    }

    /// Returns the swept or requested numbers of connections, in ascending order.
    fn connections(&self) -> Result<Vec<u32>, PlanError> {
        let wrong = |reason: String| Err(PlanError::of_request(reason));
        let (name, values) = match &self.sweeps[..] {
            [] => return Ok(vec![self.connections]),
            [one] => one,
            _ => return wrong("--sweep is given more than once".into()),
        };
        if name != CONNECTIONS {
            return wrong(format!(
                "--sweep {name}: a load can sweep only its connections, such as --sweep connections=1,2,4,8"
            ));
        }
        let number = |value: &String| value.parse().ok();
        let is_allowed = |n: &u32| (1..=MAX_CONNECTIONS).contains(n);
        let mut numbers = Vec::new();
        for value in values {
            match number(value).filter(is_allowed) {
                Some(n) if numbers.contains(&n) => {
                    return wrong(format!("--sweep connections: {n} is given twice"));
                }
                Some(n) => numbers.push(n),
                None => {
                    return wrong(format!(
                        "--sweep connections: `{value}` is not a number from 1 to {MAX_CONNECTIONS}"
                    ));
                }
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn points(&self, connections: &[u32]) -> Vec<Point> {
        let swept = connections.len() > 1;
        let point = |&n: &u32| Point {
            params: vec![(CONNECTIONS.to_owned(), n.to_string())],
            x: swept.then_some(f64::from(n)),
            ..Point::default()
        };
        connections.iter().map(point).collect()
    }

    fn subjects(&self) -> Result<Vec<Subject>, PlanError> {
        let names = &self.servers;
        if let Some(twice) = names
            .iter()
            .enumerate()
            .find(|(i, n)| names[..*i].contains(n))
        {
            let message = format!("--name {}: two servers cannot have the same name", twice.1);
            return Err(PlanError::of_request(message));
        }
        let subject = |name: &String| Subject {
            name: name.clone(),
            ..Subject::default()
        };
        Ok(names.iter().map(subject).collect())
    }

    /// Returns a description of one operation, which is more specific if there is only one server.
    fn work(&self) -> String {
        match &self.load.requests[..] {
            [requests] => match &requests[..] {
                [one] => format!("{} {}", one.method, one.url),
                several => format!("one of {} requests", several.len()),
            },
            _ => "a request".into(),
        }
    }

    fn times(&self, points: usize) -> Times {
        let staged: Duration = self.stages.iter().map(length).sum();
        let cells = points * self.servers.len();
        // With multiple servers, a block contains a pass and its mirror.
        let visits = if self.servers.len() > 1 { 2 } else { 1 };
        // With many agents, slices are longer, to limit the size of the run file.
        let parts = self.agents.saturating_mul(cells * visits as usize);
        let parts = u32::try_from(parts).unwrap_or(u32::MAX);
        let slice =
            |loaded: Duration| SLICE_LENGTH.max(loaded.saturating_mul(parts) / MAX_AGENT_SLICES);
        let is_staged = !staged.is_zero();
        let default_length = if is_staged && cells == 1 {
            staged
        } else {
            DEFAULT_LENGTH
        };
        let length = self.length.unwrap_or(default_length);
        if is_staged && cells > 1 {
            // Each visit goes through all stages.
            let blocks = fitting(length, staged * visits).max(MIN_BLOCKS);
            return Times {
                stretch: staged,
                slice: slice(staged.saturating_mul(blocks)).min(staged),
                blocks,
            };
        }
        match cells {
            1 => Times::plain(length, slice(length)),
            _ => Times::turns(length, visits, slice(length)),
        }
    }

    fn arrivals(&self, stretch: Duration) -> Arrivals {
        let stages = match self.rate {
            Some(rate) => vec![Stage {
                from: rate,
                to: rate,
                length_ns: stretch.as_nanos() as u64,
            }],
            None => self.stages.clone(),
        };
        if stages.is_empty() {
            Arrivals::Closed
        } else {
            Arrivals::Open {
                poisson: !self.even,
                stages,
            }
        }
    }
}

/// The durations of a load's visits and slices.
struct Times {
    /// The length of a visit.
    stretch: Duration,
    /// The length of a slice.
    slice: Duration,
    blocks: u32,
}

impl Times {
    /// Returns the durations of a load without pauses, in which each slice is a block.
    fn plain(length: Duration, slice: Duration) -> Times {
        let slice = slice.min(length / MIN_BLOCKS);
        Times {
            stretch: length,
            slice,
            blocks: length.as_nanos().div_ceil(slice.as_nanos().max(1)) as u32,
        }
    }

    /// Returns the durations for blocks that visit every point `visits` times. Each visit is one
    /// slice.
    fn turns(length: Duration, visits: u32, slice: Duration) -> Times {
        // Multiple servers need more blocks, so that enough are left if neighbors have to be merged.
        let least = MIN_BLOCKS * visits;
        let visit = slice.min(length / least) / visits;
        Times {
            stretch: visit,
            slice: visit,
            blocks: fitting(length, visit * visits).max(least),
        }
    }
}

/// Returns how many times `time` fits into `length`.
fn fitting(length: Duration, time: Duration) -> u32 {
    (length.as_nanos() / time.as_nanos().max(1)) as u32
}

fn length(stage: &Stage) -> Duration {
    Duration::from_nanos(stage.length_ns)
}

/// Returns the host and port of an origin as part of a file name, such as `127.0.0.1-8080`.
fn origin_name(origin: &str) -> String {
    let host_and_port = origin.rsplit("//").next().unwrap_or(origin);
    host_and_port.replace(':', "-")
}

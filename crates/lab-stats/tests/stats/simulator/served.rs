// SPDX-License-Identifier: Apache-2.0
//! Simulated runs of servers that benchlab starts, with known true costs.

use super::load::{add, counts, times};
use super::{Random, empty_run, subject};
use lab_model::*;

/// Servers whose costs are multiples of the baseline's costs.
///
/// The first server is the baseline, and the second is its copy.
pub struct World {
    /// The CPU time of a request divided by the baseline's CPU time.
    pub costs: Vec<f64>,
    /// The cost of a request over its own connection divided by the cost over a keep-alive
    /// connection.
    pub reconnect: f64,
    /// The memory divided by the baseline's memory.
    pub memory: Vec<f64>,
    /// The standard deviation of the logarithms of blocks.
    pub scatter: f64,
    /// True if response times are also drawn, which takes longer than anything else.
    pub timed: bool,
}

/// The numbers of connections of the sweep.
pub const CONNECTIONS: [u32; 4] = [1, 8, 64, 512];

/// The baseline's CPU time of a request, in ns.
pub const COST: f64 = 10_000.0;

impl World {
    /// Creates servers with the costs `costs`, in addition to the baseline and its copy.
    pub fn new(costs: &[f64]) -> World {
        let all: Vec<f64> = [1.0, 1.0].iter().chain(costs).copied().collect();
        World {
            memory: all.clone(),
            costs: all,
            reconnect: 3.0,
            scatter: 0.02,
            timed: true,
        }
    }

    /// Returns a run of two cases with `blocks` blocks.
    pub fn run(&self, seed: u64, blocks: u32) -> Run {
        let servers = (0..self.costs.len()).map(|i| match i {
            0 => subject("base", None),
            1 => subject("base-control", Some(SubjectId(0))),
            i => subject(&format!("s{i}"), None),
        });
        let mut run = empty_run(servers.collect(), points(), seed, 1);
        let plan = run.plan_mut().unwrap();
        plan.cases = ["json", "echo"].map(case).into();
        plan.measure.interim_analyses = Vec::new();
        plan.work = Work::Servers(Servers {
            load: LoadSpec {
                keep_alive: true,
                ..LoadSpec::default()
            },
            serving: Serving::default(),
        });
        plan.read_loads().expect("points of load");
        run.ending = Some(Ending::Blocks);
        let mut random = Random(seed);
        (0..blocks).for_each(|_| self.block(&mut run, &mut random));
        run
    }

    fn block(&self, run: &mut Run, random: &mut Random) {
        let plan = run.plan().unwrap().clone();
        let speed = (0.1 * random.normal()).exp();
        let mut slices = Vec::new();
        for point in plan.points.ids() {
            let mut order: Vec<SubjectId> = plan.subjects.ids().collect();
            random.shuffle(&mut order);
            let process_effects: IdVec<SubjectId, f64> = order
                .iter()
                .map(|_| (self.scatter * random.normal()).exp())
                .collect();
            for pass in 0..2 {
                for &subject in &order {
                    let cost = speed * process_effects[subject] * self.costs[subject.index()];
                    slices.push(Slice {
                        pass,
                        ..self.slice(&plan, (subject, point), cost, random)
                    });
                }
                order.reverse();
            }
        }
        add(run, slices);
        let processes = plan.subjects.ids().map(|subject| ProcessStart {
            subject,
            startup_ns: 2_000_000 + u64::from(subject.0),
            startup_cpu_ns: 1_000_000,
        });
        run.blocks.last_mut().unwrap().processes = processes.collect();
    }

    fn slice(
        &self,
        plan: &Plan,
        (subject, point): (SubjectId, PointId),
        cost: f64,
        random: &mut Random,
    ) -> Slice {
        let alive = if plan.keeps_alive(point) {
            1.0
        } else {
            self.reconnect
        };
        let connections = plan.connections(point) as f64;
        // Each connection waits while the others are served.
        let ns = COST * cost * alive * (1.0 + 2.0 / connections);
        let part = plan.fraction_of_peak(point);
        let served = (50e6 / ns * part.unwrap_or(1.0)) as usize;
        let timed = if self.timed { served } else { 0 };
        let response: SliceTimes = counts(times(random, timed, 3.0 * ns, 0.3)).into();
        let memory = 4e6 * self.memory[subject.index()] * (self.scatter * random.normal()).exp();
        Slice {
            subject,
            point,
            wall_ns: 50_000_000,
            offered: served as u64,
            served: served as u64,
            cpu_ns: 10_000_000,
            busiest_cpu_ns: 10_000_000,
            server_cpu_ns: Some((COST * cost * alive * served as f64) as u64),
            server_bytes: Some((memory * connections.sqrt()) as u64),
            server_threads: Some(2),
            service: response.clone(),
            response,
            send_delay: match part {
                Some(_) => Counts(vec![(10_000, served as u64)]).into(),
                None => SliceTimes::default(),
            },
            ..Slice::default()
        }
    }
}

fn case(name: &str) -> Case {
    Case {
        name: name.into(),
        sweep: Some("connections".into()),
        ..Case::default()
    }
}

fn points() -> IdVec<PointId, Point> {
    let mut points = IdVec::new();
    for case in [0, 1].map(CaseId) {
        for (keep_alive, load) in [("yes", "closed"), ("no", "closed"), ("yes", "50%")] {
            for n in CONNECTIONS
                .into_iter()
                .filter(|n| load == "closed" || *n == 64)
            {
                let params = [
                    ("connections", n.to_string()),
                    ("keep_alive", keep_alive.to_string()),
                    ("load", load.to_string()),
                ];
                points.push(Point {
                    case,
                    params: params.map(|(key, value)| (key.to_string(), value)).into(),
                    x: Some(f64::from(n)),
                    ..Point::default()
                });
            }
        }
    }
    points
}

// SPDX-License-Identifier: Apache-2.0
//! Simulated runs: a machine with typical disturbances, and subjects whose true ratios are known.
//!
//! The same seed gives the same run.

#![allow(dead_code)] // The benchmark does not use everything.

pub mod figures;
pub mod load;
pub mod served;

use lab_model::*;
use lab_stats::analysis::Verdict;

/// A machine and the subjects on it.
///
/// Spreads are standard deviations of logarithms.
#[derive(Clone, Debug)]
pub struct World {
    /// The true ratios to the baseline of the subjects after it.
    pub ratios: Vec<f64>,
    /// The swept values. There is one point for each x, with fixed + marginal · x ns per operation.
    pub sweep: Vec<f64>,
    /// The spread of the random effect that each fresh process has on its whole block.
    pub process: f64,
    /// The distribution of the process effect.
    pub tails: Tails,
    /// The factor by which the process effect of every third subject is multiplied.
    pub wild: f64,
    /// True if the process effect is drawn at each point instead of once for all points of a block.
    pub luck_at_each_point: bool,
    /// The fraction of a subject's process effect that carries over to the next block, from 0 to 1.
    pub memory: f64,
    /// The spread of the machine's speed between blocks, and the fraction that carries over to the
    /// next block, from 0 to 1.
    pub blocks: (f64, f64),
    /// The change of the machine's speed from batch to batch, as a random walk.
    pub drift: f64,
    /// The spread of batches.
    pub batch: f64,
    /// The probability of a spike in a batch, and the maximum fraction by which it prolongs the
    /// batch.
    pub spikes: (f64, f64),
    /// The slowdown of the first turn of a pass relative to the last. It affects all subjects
    /// equally.
    pub slot: f64,
}

/// The distribution of the process effects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tails {
    Normal,
    /// Student's t with 2 degrees of freedom.
    Heavy,
    /// One process in 20 takes 1.5 times as long.
    Outlying,
    /// Lognormal with a tail towards longer times, for the compared subjects only. The baseline and
    /// its copy are normal.
    Skewed,
}

/// The standard deviation of the logarithm of a skewed value.
const SKEW: f64 = 0.3;

/// The fixed cost of an operation at every point, in ns.
pub const FIXED: f64 = 2000.0;
/// The marginal cost of an operation at every point, in ns.
pub const MARGINAL: f64 = 110.0;

/// A calm machine: with 8 pairs of passes, the ratio of two subjects varies by 1.1 %.
pub const CALM: World = World {
    ratios: Vec::new(),
    sweep: Vec::new(),
    process: 0.006,
    tails: Tails::Normal,
    wild: 1.0,
    luck_at_each_point: false,
    memory: 0.0,
    blocks: (0.1, 0.0),
    drift: 0.0,
    batch: 0.02,
    spikes: (0.0, 1.0),
    slot: 0.0,
};

/// Returns a run in this world that has no blocks yet.
///
/// The baseline is subject 0, and the control is the last subject.
pub fn run(world: &World, seed: u64, pairs: u32) -> Run {
    let mut subjects = IdVec::from([subject("base", None)]);
    subjects.extend((1..=world.ratios.len()).map(|i| subject(&format!("s{i}"), None)));
    subjects.push(subject("control", Some(SubjectId(0))));
    let point = |x: Option<f64>| Point {
        case: CaseId(0),
        params: x
            .map(|x| ("limit".to_string(), x.to_string()))
            .into_iter()
            .collect(),
        x,
        ..Point::default()
    };
    let points = match world.sweep.len() {
        0 => [point(None)].into(),
        _ => world.sweep.iter().map(|&x| point(Some(x))).collect(),
    };
    empty_run(subjects, points, seed, pairs)
}

/// Generates the blocks of a simulated run.
pub struct Simulator {
    world: World,
    random: Random,
    speed: f64,
    /// The process effects, one for each subject. If they are drawn at each point, there is one such
    /// sequence for each point.
    process_effects: Vec<f64>,
}

impl Simulator {
    pub fn new(world: &World, seed: u64) -> Simulator {
        let mut random = Random(seed);
        let process_effects = world.process_effects(&mut random);
        let speed = world.blocks.0 * random.normal();
        Simulator {
            world: world.clone(),
            random,
            speed,
            process_effects,
        }
    }

    pub fn add_block(&mut self, run: &mut Run) {
        let plan = run.plan().unwrap();
        let mut samples = Vec::new();
        let mut drift = 0.0;
        for point in plan.points.ids() {
            self.visit(plan, point, &mut drift, &mut samples);
        }
        let number = run.blocks.len() as u32;
        run.blocks.push(block(number, samples));
        self.next_block();
    }

    fn visit(&mut self, plan: &Plan, point: PointId, drift: &mut f64, samples: &mut Vec<Sample>) {
        let subjects = plan.subjects.len();
        let effects = match self.world.luck_at_each_point {
            true => point.index() * subjects,
            false => 0,
        };
        let mut order: Vec<SubjectId> = plan.subjects.ids().collect();
        for pass in 0..2 * plan.measure.pairs {
            if pass % 2 == 0 {
                self.random.shuffle(&mut order);
            } else {
                order.reverse();
            }
            for (turn, &subject) in order.iter().enumerate() {
                *drift += self.world.drift * self.random.normal();
                let slot = self.world.slot * (1.0 - turn as f64 / (subjects - 1) as f64);
                let noise = self.world.batch * self.random.normal();
                let mut log = self.speed
                    + self.process_effects[effects + subject.index()]
                    + *drift
                    + slot
                    + noise;
                if self.random.uniform() < self.world.spikes.0 {
                    log += (1.0 + self.world.spikes.1 * self.random.uniform()).ln();
                }
                let time = 100.0 * self.time(plan, subject, point) * log.exp();
                samples.push(sample(point, subject, pass, turn as u32, 100, time as u64));
            }
        }
    }

    fn time(&self, plan: &Plan, subject: SubjectId, point: PointId) -> f64 {
        let level = FIXED + plan.points[point].x.map_or(0.0, |x| MARGINAL * x);
        let others = subject
            .index()
            .checked_sub(1)
            .and_then(|i| self.world.ratios.get(i));
        level * others.unwrap_or(&1.0)
    }

    fn next_block(&mut self) {
        let keep = |old: f64, new: f64, part: f64| part * old + (1.0 - part * part).sqrt() * new;
        let (scatter, part) = self.world.blocks;
        self.speed = keep(self.speed, scatter * self.random.normal(), part);
        let fresh = self.world.process_effects(&mut self.random);
        for (effect, new) in self.process_effects.iter_mut().zip(fresh) {
            *effect = keep(*effect, new, self.world.memory);
        }
    }
}

impl World {
    /// Returns the random effects of a block's processes, by point if they are drawn at each point,
    /// then by subject.
    pub fn process_effects(&self, random: &mut Random) -> Vec<f64> {
        let points = match self.luck_at_each_point {
            true => self.sweep.len().max(1),
            false => 1,
        };
        let subjects = self.ratios.len() + 2;
        (0..points * subjects)
            .map(|i| self.process_effect(i % subjects, random))
            .collect()
    }

    fn process_effect(&self, subject: usize, random: &mut Random) -> f64 {
        let is_compared = (1..=self.ratios.len()).contains(&subject);
        let scale = match is_compared && subject.is_multiple_of(3) {
            true => self.process * self.wild,
            false => self.process,
        };
        let luck = match self.tails {
            Tails::Heavy => {
                let scale = (-random.uniform().ln()).sqrt().max(1e-9).recip();
                scale * random.normal()
            }
            Tails::Outlying if random.uniform() < 0.05 => random.normal() + 1.5_f64.ln() / scale,
            Tails::Skewed if is_compared => ((SKEW * random.normal()).exp() - 1.0) / SKEW,
            _ => random.normal(),
        };
        scale * luck
    }
}

pub fn subject(name: &str, control_of: Option<SubjectId>) -> Subject {
    Subject {
        name: name.to_string(),
        control_of,
        ..Subject::default()
    }
}

/// Returns a target with a table of one row.
pub fn target(kind: TargetKind) -> Target {
    Target {
        kind,
        table: "t".into(),
        rows: 1,
        ..Target::default()
    }
}

pub fn empty_run(
    subjects: IdVec<SubjectId, Subject>,
    points: IdVec<PointId, Point>,
    seed: u64,
    pairs: u32,
) -> Run {
    let case = Case {
        name: "select".to_string(),
        work: String::new(),
        unit: "row".to_string(),
        sweep: points
            .iter()
            .any(|p| p.x.is_some())
            .then(|| "limit".to_string()),
        ..Case::default()
    };
    let measure = Measure {
        pairs,
        turn_ns: 1_000_000,
        budget_ns: None,
        max_blocks: 80,
        interim_analyses: vec![10, 20, 40, 80],
        alpha: 0.05,
        margin: 0.02,
        precision: None,
        time_limit_ns: 1_000_000_000,
        max_warmup: 100,
        ..Measure::default()
    };
    let plan = Plan {
        experiment: "simulated".to_string(),
        subjects,
        cases: [case].into(),
        points,
        measure,
        seed,
        ..Plan::default()
    };
    Run {
        name: "simulated.lab".to_string(),
        content: plan.into(),
        ..Run::default()
    }
}

pub fn block(number: u32, samples: Vec<Sample>) -> Block {
    Block {
        number,
        state: BlockState::Complete,
        samples,
        ..Block::default()
    }
}

pub fn sample(
    point: PointId,
    subject: SubjectId,
    pass: u32,
    turn: u32,
    operations: u64,
    ns: u64,
) -> Sample {
    let batch = Batch {
        operations,
        wall_ns: ns,
        cpu_ns: ns,
        server_cpu_ns: None,
    };
    Sample {
        point,
        subject,
        pass,
        turn,
        batch,
    }
}

/// The SplitMix64 random number generator.
pub struct Random(pub u64);

impl Random {
    /// Returns a number within (0, 1].
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 1.0) / 9_007_199_254_740_992.0
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, ((self.uniform() * (i + 1) as f64) as usize).min(i));
        }
    }
}

/// Returns true if a verdict is false for a comparison whose true ratio is `truth`.
///
/// Equivalence is judged by the plan's margin even if the control raised the margin: the report
/// then makes a weaker claim, which counts as the full claim here.
pub fn contradicts(verdict: &Verdict, truth: f64) -> bool {
    match verdict {
        Verdict::Faster => truth >= 0.98,
        Verdict::Slower => truth <= 1.02,
        Verdict::SmallButReal { faster: true } => truth >= 1.0,
        Verdict::SmallButReal { faster: false } => truth <= 1.0,
        Verdict::Equivalent => (truth - 1.0).abs() > 0.02 + 1e-9,
        Verdict::Inconclusive { .. } => false,
    }
}

/// Returns the maximum number of events out of `n` that chance explains if each event has
/// probability `p`.
///
/// This is the quantile of the binomial distribution that is exceeded once in 1000 times, in the
/// normal approximation.
pub fn most_by_chance(n: u64, p: f64) -> u64 {
    let n = n as f64;
    (n * p + 3.09 * (n * p * (1.0 - p)).sqrt()) as u64
}

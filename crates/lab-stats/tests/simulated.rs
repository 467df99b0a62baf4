// SPDX-License-Identifier: Apache-2.0
//! Whole simulated runs, looks and all: how often the lab names a false winner, misses the truth
//! or finds it. `UPDATE_DOCS=1` writes the tables into `docs/statistics.md`.

mod simulator;

use lab_model::Ending;
use lab_stats::analysis::{Analysis, Comparison, Verdict};
use lab_stats::{analyse, stop};
use simulator::{CALM, Simulator, World};

/// What one kind of world makes of the lab's verdicts.
struct Scenario {
    name: &'static str,
    world: World,
    /// The run ends at so many blocks for want of time, unless it stopped before.
    budget: u32,
    runs: u64,
}

#[derive(Default)]
struct Tally {
    runs: u64,
    /// Runs in which some verdict contradicts the truth.
    false_runs: u64,
    /// Runs in which some interval misses the truth.
    missed_runs: u64,
    comparisons: u64,
    found: u64,
    equivalent: u64,
    blocks: Vec<u32>,
}

impl Scenario {
    fn tally(&self, seed: u64) -> Tally {
        let mut tally = Tally::default();
        for run in 0..self.runs {
            let (analysis, blocks) = self.one_run((seed << 32) + run);
            tally.add(&analysis, &self.world.ratios, blocks);
        }
        tally
    }

    fn one_run(&self, seed: u64) -> (Analysis, u32) {
        let mut run = simulator::run(&self.world, seed, 8);
        let mut simulator = Simulator::new(&self.world, seed);
        for blocks in 1..=self.budget {
            simulator.add_block(&mut run);
            run.ending = stop(&run);
            if run.ending.is_some() {
                break;
            }
            if run.plan.as_ref().unwrap().measure.looks.contains(&blocks) {
                run.looks.push(blocks);
            }
        }
        run.ending = run.ending.or(Some(Ending::Budget));
        (analyse(&run), run.blocks.len() as u32)
    }
}

impl Tally {
    fn add(&mut self, analysis: &Analysis, ratios: &[f64], blocks: u32) {
        let truth = |c: &Comparison| ratios[c.subject - 1];
        let any = |wrong: &dyn Fn(&Comparison) -> bool| analysis.comparisons.iter().any(wrong);
        self.runs += 1;
        self.blocks.push(blocks);
        self.false_runs += u64::from(any(&|c| contradicts(&c.verdict, truth(c))));
        self.missed_runs += u64::from(any(&|c| truth(c) < c.ratio.low || truth(c) > c.ratio.high));
        for c in &analysis.comparisons {
            self.comparisons += 1;
            self.found += u64::from(names_winner(&c.verdict) && !contradicts(&c.verdict, truth(c)));
            self.equivalent += u64::from(c.verdict == Verdict::Equivalent);
        }
    }
}

fn names_winner(v: &Verdict) -> bool {
    !matches!(v, Verdict::Equivalent | Verdict::Inconclusive { .. })
}

fn contradicts(v: &Verdict, truth: f64) -> bool {
    match v {
        Verdict::Faster => truth >= 0.98,
        Verdict::Slower => truth <= 1.02,
        Verdict::SmallButReal { faster: true } => truth >= 1.0,
        Verdict::SmallButReal { faster: false } => truth <= 1.0,
        // A margin that the control raised makes a weaker claim; the plan's own is checked here.
        Verdict::Equivalent => (truth - 1.0).abs() > 0.02,
        Verdict::Inconclusive { .. } => false,
    }
}

#[test]
fn explore() {
    let same = vec![1.0; 3];
    let calm = World {
        ratios: same.clone(),
        ..CALM
    };
    let list = vec![
        ("calm", calm.clone(), 80),
        ("8 blocks", calm.clone(), 8),
        ("14 blocks", calm.clone(), 14),
        (
            "process 4%",
            World {
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "drift",
            World {
                drift: 0.02,
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "slot",
            World {
                slot: 0.1,
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "spikes",
            World {
                spikes: (0.05, 20.0),
                ..calm.clone()
            },
            80,
        ),
        (
            "heavy",
            World {
                heavy: true,
                process: 0.02,
                ..calm.clone()
            },
            80,
        ),
        (
            "machine ar",
            World {
                blocks: (0.3, 0.9),
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "d ar .2",
            World {
                memory: 0.2,
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "d ar .3",
            World {
                memory: 0.3,
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "d ar .5",
            World {
                memory: 0.5,
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "d ar .7",
            World {
                memory: 0.7,
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "5% s=.8%",
            World {
                ratios: vec![1.05; 3],
                ..calm.clone()
            },
            80,
        ),
        (
            "5% s=.8% 8",
            World {
                ratios: vec![1.05; 3],
                ..calm.clone()
            },
            8,
        ),
        (
            "5% s=2%",
            World {
                ratios: vec![1.05; 3],
                process: 0.02,
                ..calm.clone()
            },
            80,
        ),
        (
            "5% s=4%",
            World {
                ratios: vec![1.05; 3],
                process: 0.04,
                ..calm.clone()
            },
            80,
        ),
        (
            "5% s=8%",
            World {
                ratios: vec![1.05; 3],
                process: 0.08,
                ..calm.clone()
            },
            80,
        ),
    ];
    for (i, (name, world, budget)) in list.into_iter().enumerate() {
        let t0 = std::time::Instant::now();
        let t = Scenario {
            name,
            world,
            budget,
            runs: 1000,
        }
        .tally(i as u64 + 1);
        let mut b = t.blocks.clone();
        b.sort();
        println!(
            "{name:12} false {:.3} missed {:.3} found {:.3} eq {:.3} blocks {} {} {:?}",
            t.false_runs as f64 / t.runs as f64,
            t.missed_runs as f64 / t.runs as f64,
            t.found as f64 / t.comparisons as f64,
            t.equivalent as f64 / t.comparisons as f64,
            b[b.len() / 2],
            b[b.len() * 9 / 10],
            t0.elapsed()
        );
    }
}

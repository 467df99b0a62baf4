// SPDX-License-Identifier: Apache-2.0
//! Realistic runs of commands: two commands, three with a shell, a sweep, a single command, and a
//! command that fails. They are analyzed like any other run.

use super::{Noise, host, in_turn};
use lab_model::plan::Cores;
use lab_model::*;

/// A command in the model.
#[derive(Clone)]
pub struct Model {
    pub name: &'static str,
    pub line: &'static str,
    pub shell: bool,
    /// The program of an overhead measurement, which has no command line.
    pub program: &'static [&'static str],
    /// The fixed time of a run, in ms.
    pub fixed_ms: f64,
    /// The additional time for each unit of the sweep, in ms.
    pub marginal_ms: f64,
    /// The interval between slow runs, in runs. A slow run takes six times as long. 0 means no slow
    /// runs.
    pub slow_every: u64,
}

/// Creates a command that takes `fixed_ms` ms.
pub fn command(name: &'static str, line: &'static str, fixed_ms: f64) -> Model {
    Model {
        name,
        line,
        shell: false,
        program: &[],
        fixed_ms,
        marginal_ms: 0.0,
        slow_every: 0,
    }
}

/// Creates a measurement of the startup cost of a process, which takes `fixed_ms` ms.
pub fn overhead(name: &'static str, program: &'static [&'static str], fixed_ms: f64) -> Model {
    Model {
        program,
        ..command(name, "", fixed_ms)
    }
}

/// Creates a run of `sort a.txt`, which is the baseline, and another command, which takes `ratio` times as long.
pub fn two(ratio: f64, blocks: u32) -> Run {
    let models = [
        command("A", "sort a.txt", 20.3),
        command("B", "./mysort a.txt", 20.3 * ratio),
    ];
    run(&models, &[], blocks)
}

/// Creates a run of three commands, one of which uses a shell, with the startup costs of a shell and of a process.
pub fn three(blocks: u32) -> Run {
    let models = [
        command("system", "sort a.txt", 20.3),
        Model {
            slow_every: 23,
            ..command("mine", "./mysort a.txt", 18.4)
        },
        Model {
            shell: true,
            ..command("piped", "cat a.txt | sort > /dev/null", 22.9)
        },
        overhead("process start", &["true"], 0.51),
        overhead("shell", &["sh", "-c", ":"], 0.93),
    ];
    run(&models, &[], blocks)
}

/// Creates a run of two commands over a sweep: equivalent at first, then the second command is
/// faster.
pub fn sweep(blocks: u32) -> Run {
    run(&swept(), &[1.0, 10.0, 100.0], blocks)
}

/// Creates a run of one command over the same sweep, without a comparison.
pub fn alone(blocks: u32) -> Run {
    run(&swept()[..1], &[1.0, 10.0, 100.0], blocks)
}

fn swept() -> [Model; 2] {
    let model = |name, line, marginal_ms| Model {
        marginal_ms,
        ..command(name, line, 11.0)
    };
    [
        model("A", "./count {n}", 0.30),
        model("B", "./count --fast {n}", 0.22),
    ]
}

/// Creates a run of two commands. The second command fails in the third block.
pub fn failing(blocks: u32) -> Run {
    let mut run = two(1.1, blocks);
    run.failures.push(Failure {
        subject: SubjectId(1),
        point: Some(PointId(0)),
        block: Some(2),
        kind: "exit".into(),
        message: "it ended with status 2; --ignore-failure counts such runs too".into(),
        log: vec!["./mysort: cannot open a.txt".into()],
    });
    run
}

/// Creates a run of the given commands. The first command is the baseline.
pub fn run(models: &[Model], sweep: &[f64], blocks: u32) -> Run {
    let plan = plan(models, sweep);
    let mut noise = Noise(41);
    let blocks: Vec<Block> = (0..blocks)
        .map(|number| block(&plan, models, number, &mut noise))
        .collect();
    Run {
        name: "20261121-101500-sort.lab".into(),
        benchlab_version: "0.1.0".into(),
        started_unix_s: 1_795_256_100.0,
        host: Host {
            findings: Vec::new(),
            ..host()
        },
        ending: Some(Ending::Budget),
        lab_cost: Some((410_000_000, 12 << 20)),
        blocks,
        content: plan.into(),
        ..Run::default()
    }
}

fn plan(models: &[Model], sweep: &[f64]) -> Plan {
    let subject = |m: &Model| Subject {
        name: m.name.into(),
        program: match m.program {
            [] => m.line.split(' ').map(String::from).collect(),
            program => program.iter().map(|w| w.to_string()).collect(),
        },
        command: m.program.is_empty().then(|| Command {
            line: m.line.into(),
            shell: m.shell,
            ..Command::default()
        }),
        overhead: !m.program.is_empty(),
        ..Subject::default()
    };
    let point = |x: Option<f64>| Point {
        case: CaseId(0),
        params: x.map(|x| ("n".into(), x.to_string())).into_iter().collect(),
        x,
        ..Point::default()
    };
    let points = match sweep {
        [] => [point(None)].into(),
        values => values.iter().map(|&x| point(Some(x))).collect(),
    };
    let lines = models.iter().map(|m| m.line).filter(|l| !l.is_empty());
    let lines: Vec<&str> = lines.collect();
    Plan {
        experiment: "sort".into(),
        title: lines.join(" against "),
        subjects: models.iter().map(subject).collect(),
        cases: [Case {
            name: "run".into(),
            work: "one process, from its start to its end".into(),
            unit: "process".into(),
            sweep: (!sweep.is_empty()).then(|| "n".into()),
            ..Case::default()
        }]
        .into(),
        points,
        measure: Measure {
            pairs: 5,
            budget_ns: Some(30_000_000_000),
            max_blocks: 80,
            interim_analyses: vec![10, 20, 40, 80],
            alpha: 0.05,
            margin: 0.02,
            ..Measure::default()
        },
        seed: 7,
        work: Work::Commands(Commands {
            commit_messages: Vec::new(),
            cores: Some(Cores::One),
            ..Commands::default()
        }),
        ..Plan::default()
    }
}

fn block(plan: &Plan, models: &[Model], number: u32, noise: &mut Noise) -> Block {
    let (mut samples, mut exits) = (Vec::new(), Vec::new());
    let mut total = 0;
    for (point, at) in plan.points.enumerated() {
        for (subject, model) in (0..).map(SubjectId).zip(models) {
            let luck = noise.factor(0.012);
            for pass in 0..10 {
                let ms = model.fixed_ms + model.marginal_ms * at.x.unwrap_or(0.0);
                let count = u64::from(number) * 10 + u64::from(pass) + 1;
                let slow = model.slow_every > 0 && count.is_multiple_of(model.slow_every);
                let skew = noise.factor(0.05).powi(2) * noise.factor(0.03);
                let wall = ms * 1e6 * luck * skew * if slow { 6.0 } else { 1.0 };
                let cpu = wall * 0.97;
                total += wall as u64;
                let batch = Batch {
                    operations: 1,
                    wall_ns: wall as u64,
                    cpu_ns: cpu as u64,
                    server_cpu_ns: None,
                };
                samples.push(in_turn(point, subject, pass, batch));
                exits.push(ProcessExit {
                    point,
                    subject,
                    pass,
                    user_ns: (cpu * 0.94) as u64,
                    sys_ns: (cpu * 0.06) as u64,
                    peak_rss_bytes: ((3.2 + 0.4 * f64::from(subject.0))
                        * 1048576.0
                        * noise.factor(0.01)) as u64,
                    minor_faults: (231.0 * noise.factor(0.01)) as u64,
                    major_faults: 0,
                    voluntary_switches: 1 + u64::from(pass % 2),
                    involuntary_switches: u64::from(slow) * 14,
                    status: 0,
                });
            }
        }
    }
    Block {
        number,
        core: number % 2,
        state: BlockState::Complete,
        started_unix_s: 1_795_256_101.0 + f64::from(number) * total as f64 / 1e9,
        duration_ns: total,
        samples,
        exits,
        ..Block::default()
    }
}

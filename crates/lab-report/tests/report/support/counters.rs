// SPDX-License-Identifier: Apache-2.0
//! A run of an experiment whose cases run multiple operations concurrently, with multiple values of
//! a factor and an additional metric. One case is not compared.

use super::{Noise, host, in_turn};
use lab_model::*;

const THREADS: [f64; 3] = [1.0, 2.0, 8.0];

/// The schemes: the name, the time of an increment on one thread in ns, and the fraction of
/// increments that eight threads lose.
const SCHEMES: [(&str, f64, f64); 3] = [
    ("unsafe", 0.4, 0.48),
    ("atomic", 4.4, 0.0),
    ("lock", 13.0, 0.0),
];

/// Creates a run with the given number of complete blocks.
pub fn run(blocks: u32) -> Run {
    let plan = plan();
    let metrics = plan.cases[CaseId(0)].metrics.clone();
    let listing = "atomic:\n    lock addq $0x1,0x5157(%rip)        # 7b00 <atomic_total>\n";
    Run {
        name: "20261122-120500-counter".into(),
        started_unix_s: 1_795_252_500.0,
        benchlab_version: "0.1.0".into(),
        host: host(),
        settings: vec![Setting {
            subject: SubjectId(0),
            point: None,
            key: Setting::LISTING.into(),
            value: listing.into(),
        }],
        blocks: (0..blocks).map(|number| block(&plan, number)).collect(),
        content: plan.into(),
        ending: Some(Ending::Decided),
        metrics,
        ..Run::default()
    }
}

fn plan() -> Plan {
    let lost = Metric {
        id: "lost".into(),
        title: "lost increments".into(),
        unit: Unit::Share,
        better: Direction::Less,
    };
    let case = |name: &str, work: &str| Case {
        name: name.into(),
        work: work.into(),
        unit: "increment".into(),
        sweep: Some("threads".into()),
        cores: Cores::All,
        uncompared: name == "plain",
        metrics: vec![lost.clone()],
        turn_ns: Some(20_000_000),
        ..Case::default()
    };
    let cases: IdVec<CaseId, Case> = [
        case(
            "increment",
            "one increment of a counter that n threads share",
        ),
        case("plain", "one increment of a variable in a register"),
    ]
    .into();
    let subject = |name: &str, language: &str| Subject {
        name: name.into(),
        language: language.into(),
        reference: name == "c",
        program: vec![format!("build/counter/{name}/subject")],
        ..Subject::default()
    };
    Plan {
        experiment: "counter".into(),
        title: "Shared counters".into(),
        question: "What does each way to share a counter cost, and what does it lose?".into(),
        subjects: [
            subject("c", "C"),
            subject("ada", "Ada"),
            subject("java", "Java"),
        ]
        .into(),
        points: points(&cases),
        cases,
        proof: Proof::default(),
        targets: IdVec::new(),
        ..super::plan()
    }
}

fn points(cases: &IdVec<CaseId, Case>) -> IdVec<PointId, Point> {
    let mut points = IdVec::new();
    for (case, found) in cases.enumerated() {
        let schemes = if found.uncompared {
            &SCHEMES[..2]
        } else {
            &SCHEMES[..]
        };
        for x in THREADS {
            points.extend(schemes.iter().map(|(scheme, ..)| Point {
                case,
                params: vec![
                    ("threads".into(), x.to_string()),
                    ("scheme".into(), scheme.to_string()),
                ],
                x: Some(x),
                ..Point::default()
            }));
        }
    }
    points
}

fn block(plan: &Plan, number: u32) -> Block {
    let mut noise = Noise(u64::from(number) * 104_729 + 5);
    let (mut samples, mut readings) = (Vec::new(), Vec::new());
    for (point, at) in plan.points.enumerated() {
        let x = at.x.unwrap_or(1.0);
        let scheme = SCHEMES.iter().find(|(name, ..)| at.params[1].1 == *name);
        let &(_, ns, lost) = scheme.expect("a scheme");
        for subject in plan.subjects.ids() {
            let slower = 1.0 + 0.3 * f64::from(subject.0) * ns.min(5.0);
            for pass in 0..8 {
                let operations = 4_000_000;
                let time = ns * slower * (1.0 + 0.2 * x.ln()) * noise.factor(0.02);
                let batch = Batch {
                    operations,
                    wall_ns: (operations as f64 * time) as u64,
                    cpu_ns: (operations as f64 * time * x.min(2.0)) as u64,
                    server_cpu_ns: None,
                };
                samples.push(in_turn(point, subject, pass, batch));
                readings.push(Reading {
                    point,
                    subject,
                    pass,
                    metric: "lost".into(),
                    value: lost * x.ln() / 8f64.ln() * noise.factor(0.1),
                });
            }
        }
    }
    Block {
        number,
        state: BlockState::Complete,
        started_unix_s: 1_795_252_500.0 + f64::from(number) * 40.0,
        duration_ns: 40_000_000_000,
        samples,
        readings,
        ..Block::default()
    }
}

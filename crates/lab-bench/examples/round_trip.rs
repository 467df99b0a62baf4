// SPDX-License-Identifier: Apache-2.0
//! Measures the overhead that benchlab adds to a batch.
//!
//! The overhead is the round trip of a `noop` batch with a single operation. It is measured twice:
//! on its own, and together with waking and freezing the process. Usage: round_trip PROGRAM
//! [ARGUMENT…]

use lab_bench::{SubjectProcess, monotonic_ns, pin_to_core};
use lab_host::allowed_cores;
use lab_model::{Case, Subject};
use std::time::Duration;

const TURNS: usize = 5_000;

fn main() {
    let program: Vec<String> = std::env::args().skip(1).collect();
    if program.is_empty() {
        eprintln!("usage: round_trip PROGRAM [ARGUMENT…]");
        std::process::exit(2);
    }
    let subject = Subject {
        name: "noop".into(),
        program,
        ..Subject::default()
    };
    let noop = Case::default();
    let folder = std::env::current_dir().expect("the current directory exists");
    for core in allowed_cores().expect("the cores can be listed") {
        pin_to_core(core);
        let limit = Duration::from_secs(10);
        let temporary = std::env::temp_dir();
        let mut process = SubjectProcess::start(&subject, &folder, &temporary, limit)
            .expect("the subject starts");
        process
            .keep_on(core)
            .expect("the subject can be pinned to a core");
        process
            .open([("case", "noop"), ("seed", "1")])
            .expect("every kit has the case noop");
        let awake = times(|| {
            process.run(&noop, 1).expect("noop runs");
        });
        let frozen = times(|| {
            process.wake().expect("it wakes");
            process.run(&noop, 1).expect("noop runs");
            process.freeze().expect("it freezes");
        });
        show(core, "round trip", awake);
        show(core, "with waking and freezing", frozen);
    }
}

/// Measures many calls. Returns their durations in µs, in ascending order.
fn times(mut call: impl FnMut()) -> Vec<f64> {
    let mut times: Vec<f64> = (0..TURNS)
        .map(|_| {
            let before = monotonic_ns();
            call();
            (monotonic_ns() - before) as f64 / 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn show(core: usize, title: &str, times: Vec<f64>) {
    let quantile = |part: f64| times[(part * (times.len() - 1) as f64) as usize];
    let (p25, p50, p75, p99) = (
        quantile(0.25),
        quantile(0.50),
        quantile(0.75),
        quantile(0.99),
    );
    println!(
        "core {core}, {title:<25} median {p50:6.1} µs (quartiles {p25:.1} and {p75:.1}, p99 {p99:.1})"
    );
}

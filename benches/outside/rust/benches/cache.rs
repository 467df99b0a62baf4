// SPDX-License-Identifier: Apache-2.0
//! The cache experiment's concurrent map, measured by Criterion. The loop is the subject's own.

// The whole program is included, because what the compiler inlines depends on all callers.
#[path = "../../../../experiments/cache/rust/src/main.rs"]
mod subject;

use criterion::{Criterion, criterion_group, criterion_main};
use lab_kit::Inputs;
use std::hint::black_box;
use std::time::Instant;
use subject::{maps, trace};

fn read(criterion: &mut Criterion) {
    black_box(subject::main as fn() -> std::io::Result<()>);
    let map = maps::read_map("concurrent", trace::ZIPF_KEYS).expect("the scheme should exist");
    let trace = trace::zipf(&Inputs::seeded(1), 100);
    criterion.bench_function("cache 1", |bencher| {
        bencher.iter_custom(|operations| {
            let start = Instant::now();
            black_box(trace::read_all(
                &*map,
                &trace,
                (0..operations).step_by(black_box(1)),
            ));
            start.elapsed()
        });
    });
}

criterion_group!(benches, read);
criterion_main!(benches);

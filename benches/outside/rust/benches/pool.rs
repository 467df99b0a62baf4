// SPDX-License-Identifier: Apache-2.0
//! The pool experiment's pool, measured by Criterion. The loop is the subject's own.

// The whole program is included, because what the compiler inlines depends on all callers.
#[path = "../../../../experiments/pool/rust/src/main.rs"]
#[allow(unexpected_cfgs)]
mod subject;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Instant;

fn lease(criterion: &mut Criterion) {
    black_box(subject::main as fn() -> std::io::Result<()>);
    let pool = subject::pool::Pool::new(8, true);
    criterion.bench_function("pool 1", |bencher| {
        bencher.iter_custom(|operations| {
            let start = Instant::now();
            pool.lease_and_release(operations);
            let taken = start.elapsed();
            assert_eq!(pool.in_use(), 0);
            taken
        });
    });
}

criterion_group!(benches, lease);
criterion_main!(benches);

// SPDX-License-Identifier: Apache-2.0
//! The counter experiment's atomic counter, measured by Criterion. The loop is the subject's own.

// The whole program is included, because what the compiler inlines depends on all callers.
#[path = "../../../../experiments/counter/rust/src/main.rs"]
mod subject;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::thread;
use std::time::Instant;

fn increment(criterion: &mut Criterion) {
    black_box(subject::main as fn() -> std::io::Result<()>);
    for threads in [1, 2] {
        let counter = subject::counters::counter("atomic").expect("the scheme should exist");
        criterion.bench_function(&format!("counter {threads}"), |bencher| {
            bencher.iter_custom(|operations| {
                let before = counter.reached();
                let start = Instant::now();
                let each = operations.div_ceil(threads);
                thread::scope(|scope| {
                    for _ in 1..threads {
                        scope.spawn(|| counter.increments(each));
                    }
                    counter.increments(operations - each * (threads - 1));
                });
                let taken = start.elapsed();
                assert_eq!(counter.reached() - before, operations);
                taken
            });
        });
    }
}

criterion_group!(benches, increment);
criterion_main!(benches);

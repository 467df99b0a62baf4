// SPDX-License-Identifier: Apache-2.0
//! The process experiment in Rust: std::process, which uses posix_spawn. With the argument `fork`, each program has a
//! `pre_exec` hook, for which std::process must fork.

mod cases;
mod left;

use lab_kit::Subject;
use std::env;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if programs are started with fork.
static IS_FORKING: AtomicBool = AtomicBool::new(false);

fn main() -> std::io::Result<()> {
    let is_forking = env::args().nth(1).is_some_and(|how| how == "fork");
    IS_FORKING.store(is_forking, Ordering::Relaxed);
    let (name, call) = match is_forking {
        false => ("rust", "posix_spawn"),
        true => ("rust-fork", "fork"),
    };
    Subject::new(name, format!("std::process (edition 2024), {call}"))
        .case("start", cases::start)
        .case("fail", cases::fail)
        .case("read", cases::read)
        .case("converse", cases::converse)
        .case("exchange", cases::exchange)
        .case("write_then_read", cases::write_then_read)
        .case("kill", cases::kill)
        .serve()
}

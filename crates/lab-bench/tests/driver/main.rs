// SPDX-License-Identifier: Apache-2.0
//! Tests the driver of blocks with simulated workloads, clock and host: no processes, and no waiting.

mod fake;
mod levels;
mod load;
mod new_kind;
mod process_sets;
mod recovery;
mod redoing;
mod schedule;
mod stopping;

// SPDX-License-Identifier: Apache-2.0
//! The driver of blocks with workloads, a clock and a host of the tests' own: no processes, no waiting.

mod fake;
mod levels;
mod load;
mod new_kind;
mod process_sets;
mod recovery;
mod redoing;
mod schedule;
mod stopping;

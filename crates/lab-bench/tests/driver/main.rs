// SPDX-License-Identifier: Apache-2.0
//! Tests the driver with a simulated workload, clock and host, without processes and without waiting.

mod fake;
mod levels;
mod load;
mod new_kind;
mod process_sets;
mod recovery;
mod redoing;
mod schedule;
mod stopping;

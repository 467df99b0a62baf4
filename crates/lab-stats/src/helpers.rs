// SPDX-License-Identifier: Apache-2.0
//! CPU time of a subject's helper threads, such as the threads of a JIT compiler.

use lab_model::Batch;

/// The minimum CPU time of helper threads, as a fraction of the measured time, at which the threads
/// count as compiling.
///
/// The threshold applies even if the times look steady. The helper threads of a Java subject used
/// up to 100% while its times still fell, and less than 20% afterwards.
pub const STILL_COMPILING: f64 = 0.25;

/// Returns true if threads other than the `workers` worker threads were busy during the second half
/// of the batches.
pub fn are_busy(batches: &[Batch], workers: usize) -> bool {
    cores_used(&batches[batches.len() / 2..]) > workers as f64 + STILL_COMPILING
}

/// Returns the CPU time of batches divided by their duration.
pub fn cores_used(batches: &[Batch]) -> f64 {
    let wall: u64 = batches.iter().map(|b| b.wall_ns).sum();
    let cpu: u64 = batches.iter().map(|b| b.cpu_ns).sum();
    cpu as f64 / wall.max(1) as f64
}

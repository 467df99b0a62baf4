// SPDX-License-Identifier: Apache-2.0
//! Limits for imported files.

/// Limits for an imported file.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum size of a file, or of all files of a directory together, in bytes. 256 MiB by
    /// default.
    pub bytes: u64,
    /// The maximum number of values. 10 million by default.
    pub values: usize,
    /// The maximum number of benchmarks. 20,000 by default.
    pub benchmarks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 256 << 20,
            values: 10_000_000,
            benchmarks: 20_000,
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The resource limits of the coordinator's process, which also apply to its agents.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// The soft limits of a process (getrlimit(2)). `u64::MAX` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Address space in bytes.
    pub memory: u64,
    /// CPU time in seconds.
    pub cpu_s: u64,
    /// File size in bytes.
    pub file: u64,
}

const KINDS: [Resource; 3] = [
    Resource::RLIMIT_AS,
    Resource::RLIMIT_CPU,
    Resource::RLIMIT_FSIZE,
];

impl ResourceLimits {
    /// Returns the limits of this process.
    pub fn current() -> ResourceLimits {
        let soft = |kind| getrlimit(kind).map_or(u64::MAX, |(soft, _)| soft);
        let [memory, cpu_s, file] = KINDS.map(soft);
        ResourceLimits {
            memory,
            cpu_s,
            file,
        }
    }

    /// Sets the limits of this process.
    ///
    /// A current limit that is lower stays in effect.
    pub fn apply(self) -> nix::Result<()> {
        let limits = [self.memory, self.cpu_s, self.file];
        for (kind, limit) in KINDS.into_iter().zip(limits) {
            let (soft, hard) = getrlimit(kind)?;
            if limit < soft {
                setrlimit(kind, limit, hard)?;
            }
        }
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The limits of the coordinator's process, which its agents have too.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// Soft limits (getrlimit(2)) as numbers; `u64::MAX`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Bytes of address space.
    pub memory: u64,
    /// Seconds of CPU time.
    pub cpu_s: u64,
    /// Bytes of a file.
    pub file: u64,
}

const KINDS: [Resource; 3] = [
    Resource::RLIMIT_AS,
    Resource::RLIMIT_CPU,
    Resource::RLIMIT_FSIZE,
];

impl ResourceLimits {
    /// The limits of this process.
    pub fn own() -> ResourceLimits {
        let soft = |kind| getrlimit(kind).map_or(u64::MAX, |(soft, _)| soft);
        let [memory, cpu_s, file] = KINDS.map(soft);
        ResourceLimits {
            memory,
            cpu_s,
            file,
        }
    }

    /// Sets them for this process, where its own are not lower.
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

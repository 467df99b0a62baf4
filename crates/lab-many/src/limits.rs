// SPDX-License-Identifier: Apache-2.0
//! The limits of the coordinator's process, which its agents have too.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// Soft limits (getrlimit(2)) as numbers; `u64::MAX`: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
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

impl Limits {
    /// Those of this process.
    pub fn own() -> Limits {
        let soft = |kind| getrlimit(kind).map_or(u64::MAX, |(soft, _)| soft);
        let [memory, cpu_s, file] = KINDS.map(soft);
        Limits {
            memory,
            cpu_s,
            file,
        }
    }

    /// Gives them to this process, where its own are not lower.
    pub fn apply(self) -> nix::Result<()> {
        let wanted = [self.memory, self.cpu_s, self.file];
        for (kind, wanted) in KINDS.into_iter().zip(wanted) {
            let (soft, hard) = getrlimit(kind)?;
            if wanted < soft {
                setrlimit(kind, wanted, hard)?;
            }
        }
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The lab's own program, which its agents are.

use sha2::{Digest, Sha256};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// This process's program, whatever happened to its file since it was started (proc(5)).
pub const OWN: &str = "/proc/self/exe";

/// The lab's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The bytes of the own program and their SHA-256, read when they are first asked for.
#[derive(Default)]
pub struct Program {
    read: OnceLock<(Arc<[u8]>, String)>,
}

impl Program {
    /// Its bytes. Error: they cannot be read.
    pub fn bytes(&self) -> io::Result<Arc<[u8]>> {
        Ok(self.read()?.0.clone())
    }

    /// Its SHA-256 in hexadecimal digits. Error: it cannot be read.
    pub fn sha256(&self) -> io::Result<&str> {
        Ok(&self.read()?.1)
    }

    fn read(&self) -> io::Result<&(Arc<[u8]>, String)> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let bytes: Arc<[u8]> = std::fs::read(OWN)?.into();
        let hash = sha256(&bytes);
        Ok(self.read.get_or_init(|| (bytes, hash)))
    }
}

/// In hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of the own program. Error: it cannot be read.
pub fn own_sha256() -> io::Result<String> {
    Ok(sha256(&std::fs::read(OWN)?))
}

/// Deletes the own program's file and the folder that was made for it: it runs on without them.
pub fn remove_own() -> io::Result<()> {
    let path: PathBuf = std::fs::read_link(OWN)?;
    std::fs::remove_file(&path)?;
    path.parent().map_or(Ok(()), std::fs::remove_dir)
}

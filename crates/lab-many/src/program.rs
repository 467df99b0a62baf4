// SPDX-License-Identifier: Apache-2.0
//! benchlab's own program, which the agents run.

use sha2::{Digest, Sha256};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The path of this process's program. It is valid even if the file has been replaced or deleted
/// since the start (proc(5)).
pub const OWN: &str = "/proc/self/exe";

/// The version of benchlab.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The bytes of this program and their SHA-256. Both are computed when they are first used.
#[derive(Default)]
pub struct LabProgram {
    content: OnceLock<(Arc<[u8]>, String)>,
}

impl LabProgram {
    /// Returns the program's bytes.
    pub fn bytes(&self) -> io::Result<Arc<[u8]>> {
        Ok(self.read()?.0.clone())
    }

    /// Returns the program's SHA-256 in hexadecimal digits.
    pub fn sha256(&self) -> io::Result<&str> {
        Ok(&self.read()?.1)
    }

    fn read(&self) -> io::Result<&(Arc<[u8]>, String)> {
        if let Some(content) = self.content.get() {
            return Ok(content);
        }
        let bytes: Arc<[u8]> = std::fs::read(OWN)?.into();
        let hash = sha256(&bytes);
        Ok(self.content.get_or_init(|| (bytes, hash)))
    }
}

/// Returns the SHA-256 of bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of this program in hexadecimal digits.
pub fn own_sha256() -> io::Result<String> {
    Ok(sha256(&std::fs::read(OWN)?))
}

/// Deletes this program's file and the directory that was created for the file. The program
/// continues to run.
pub fn remove_own() -> io::Result<()> {
    let path: PathBuf = std::fs::read_link(OWN)?;
    std::fs::remove_file(&path)?;
    path.parent().map_or(Ok(()), std::fs::remove_dir)
}

// SPDX-License-Identifier: Apache-2.0
//! The fingerprint of a command at the time of measurement: a hash of the files in the command
//! line.

use crate::build::in_path;
use lab_model::Subject;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The maximum size of a hashed file in bytes. Larger files, such as data, contribute only their size and time.
const MAX_BYTES: u64 = 64 << 20;

/// Computes the fingerprint of a command as SHA-256 in hexadecimal digits.
///
/// It covers the command line, the program, and the other files in the command line. Changes in
/// anything else, such as in a library, do not affect it.
pub fn fingerprint(subject: &Subject) -> String {
    let mut hash = Sha256::new();
    let command = subject.command.as_ref();
    let line = command.map_or("", |c| c.line.as_str());
    let folder = command
        .and_then(|c| c.folder.as_ref())
        .map_or(Path::new("."), Path::new);
    hash.update(line);
    for (i, word) in line.split_whitespace().enumerate() {
        let word = word.trim_matches(['\'', '"']);
        let path = if i == 0 && !word.contains('/') {
            in_path(word)
        } else {
            Some(folder.join(word))
        };
        if let Some(path) = path.filter(|p| p.is_file()) {
            // A file that cannot be read contributes only its name.
            let _ = hash_file(&path, &mut hash);
        }
    }
    crate::build::hex(&hash.finalize())
}

fn hash_file(path: &PathBuf, hash: &mut Sha256) -> io::Result<()> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.len() <= MAX_BYTES {
        io::copy(&mut file, hash)?;
    } else {
        hash.update(format!("{} {:?}", metadata.len(), metadata.modified()?));
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0
//! The files that servers serve: made for a run, of bytes that only its seed knows.

use lab_model::ServedFile;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder with them.
pub struct ServedFiles {
    folder: PathBuf,
    contents: Vec<(String, Vec<u8>)>,
}

impl ServedFiles {
    /// Makes them in a folder, which is made, too.
    pub fn make(folder: PathBuf, files: &[ServedFile], seed: u64) -> io::Result<ServedFiles> {
        fs::create_dir_all(&folder)?;
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut contents = Vec::new();
        for file in files {
            let mut bytes = vec![0; file.bytes as usize];
            generator.fill_bytes(&mut bytes);
            fs::write(folder.join(&file.name), &bytes)?;
            contents.push((file.name.clone(), bytes));
        }
        Ok(ServedFiles { folder, contents })
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a file holds.
    pub fn content(&self, name: &str) -> &[u8] {
        let mut contents = self.contents.iter();
        let found = contents.find(|(known, _)| known == name);
        found.map_or(&[], |(_, bytes)| bytes)
    }
}

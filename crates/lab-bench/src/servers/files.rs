// SPDX-License-Identifier: Apache-2.0
//! The files that servers serve. They contain random bytes that depend on the run's seed.

use lab_model::ServedFile;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A directory with files for servers to serve.
pub struct ServedFiles {
    folder: PathBuf,
    contents: Vec<(String, Vec<u8>)>,
}

impl ServedFiles {
    /// Creates the files and their directory.
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

    /// Returns the directory that contains the files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the content of a file by its name.
    pub fn content(&self, name: &str) -> &[u8] {
        let mut contents = self.contents.iter();
        let content = contents.find(|(file, _)| file == name);
        content.map_or(&[], |(_, bytes)| bytes)
    }
}

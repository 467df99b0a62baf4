// SPDX-License-Identifier: Apache-2.0
//! Reads existing output files of Valgrind's tools, for one program or for two.

use crate::{Profile, Sources};
use lab_valgrind::{
    CallgrindReader, CostProfile, ProfileError, read_cachegrind, read_dhat, read_massif,
};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// The maximum size in bytes of a source file that is read.
const MAX_SOURCE: u64 = 16 << 20;

/// The files of each tool: none, one, or two (before and after a change).
#[derive(Clone, Debug, Default)]
pub struct ProfileFiles {
    /// Massif files.
    pub massif: Vec<PathBuf>,
    /// Cachegrind files.
    pub cachegrind: Vec<PathBuf>,
    /// Callgrind files. Files of multiple parts or threads are separated by commas.
    pub callgrind: Vec<String>,
    /// DHAT files.
    pub dhat: Vec<PathBuf>,
}

/// The error for files that cannot be read.
#[derive(Debug)]
pub enum FilesError {
    /// No file was given.
    None,
    /// The tools have different numbers of files, so it is unclear which files belong together.
    Uneven,
    /// A file cannot be read.
    Unreadable(PathBuf, ProfileError),
    /// Callgrind's files are not parts of the same program.
    Parts(ProfileError),
}

impl ProfileFiles {
    /// Reads the profile of each program.
    pub fn read(&self) -> Result<Vec<Profile>, FilesError> {
        let counts = [
            self.massif.len(),
            self.cachegrind.len(),
            self.callgrind.len(),
            self.dhat.len(),
        ];
        let max_count = counts.into_iter().max().unwrap_or(0);
        if max_count == 0 {
            return Err(FilesError::None);
        }
        if counts
            .iter()
            .any(|count| *count != 0 && *count != max_count)
        {
            return Err(FilesError::Uneven);
        }
        let massif = |path: &PathBuf| read(path, read_massif);
        let cachegrind = |path: &PathBuf| read(path, read_cachegrind);
        let parts = |paths: &String| callgrind(paths.split(',').map(Path::new));
        let dhat = |path: &PathBuf| read(path, read_dhat);
        let profile = |i: usize| {
            Ok(Profile {
                heaps: Vec::new(),
                partial: Vec::new(),
                statuses: Vec::new(),
                massif: self.massif.get(i).map(massif).transpose()?,
                cachegrind: self.cachegrind.get(i).map(cachegrind).transpose()?,
                callgrind: self.callgrind.get(i).map(parts).transpose()?,
                dhat: self.dhat.get(i).map(dhat).transpose()?,
            })
        };
        (0..max_count).map(profile).collect()
    }
}

impl Sources {
    /// Reads the source files that a profile names, if they exist. Relative names are resolved against `folder`.
    pub fn read(profile: &Profile, folder: &Path) -> Sources {
        Sources::read_with(profile, |name| {
            let file = File::open(folder.join(name)).ok()?;
            let is_file = file
                .metadata()
                .is_ok_and(|m| m.is_file() && m.len() <= MAX_SOURCE);
            let mut bytes = Vec::new();
            file.take(MAX_SOURCE)
                .read_to_end(&mut bytes)
                .ok()
                .filter(|_| is_file)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        })
    }
}

/// Opens a file and parses it. An error includes the path.
pub fn read<T>(
    path: &Path,
    parse: impl FnOnce(BufReader<File>) -> Result<T, ProfileError>,
) -> Result<T, FilesError> {
    let file = File::open(path).map_err(ProfileError::from);
    let read = file.and_then(|file| parse(BufReader::with_capacity(1 << 16, file)));
    read.map_err(|reason| FilesError::Unreadable(path.to_path_buf(), reason))
}

/// Reads the files of all parts and threads of one program.
pub fn callgrind<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<CostProfile, FilesError> {
    let mut reader = CallgrindReader::default();
    for path in paths {
        read(path, |file| reader.add(file))?;
    }
    reader.done().map_err(FilesError::Parts)
}

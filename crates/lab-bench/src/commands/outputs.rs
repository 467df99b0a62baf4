// SPDX-License-Identifier: Apache-2.0
//! Compares the standard output of commands with the standard output of the baseline.

use crate::subject::fault::{Fault, SubjectResult};
use lab_model::PointId;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The standard outputs of the commands in a run.
pub struct Outputs {
    folder: PathBuf,
    /// The SHA-256 digest of the baseline's first output, for each point.
    baseline_digests: HashMap<PointId, [u8; 32]>,
}

impl Outputs {
    /// Creates a comparison of outputs, which stores them in `folder`.
    pub fn new(folder: &Path) -> Outputs {
        Outputs {
            folder: folder.to_path_buf(),
            baseline_digests: HashMap::new(),
        }
    }

    /// Returns the path of the next process's output file.
    pub fn output_file(&self) -> PathBuf {
        self.folder.join("stdout")
    }

    /// Compares a process's output with the baseline's first output. Returns the first 64 bits of
    /// the output's SHA-256 digest.
    ///
    /// Returns a fault if the outputs differ.
    pub fn check(&mut self, point: PointId, of_baseline: bool) -> SubjectResult<u64> {
        let digest = sha256(&self.output_file()).map_err(unreadable)?;
        let check = u64::from_be_bytes(digest[..8].try_into().expect("eight bytes"));
        match self.baseline_digests.get(&point) {
            Some(expected) if *expected == digest => Ok(check),
            Some(_) => Err(self.difference(point, of_baseline)),
            None if of_baseline => {
                fs::rename(self.output_file(), self.baseline_file(point)).map_err(unreadable)?;
                self.baseline_digests.insert(point, digest);
                Ok(check)
            }
            None => Err(Fault::Failed(
                "output",
                "the command's output cannot be compared because the baseline failed".into(),
            )),
        }
    }

    fn baseline_file(&self, point: PointId) -> PathBuf {
        self.folder.join(format!("stdout-of-baseline-{point}"))
    }

    fn difference(&self, point: PointId, of_baseline: bool) -> Fault {
        let line = first_difference(&self.baseline_file(point), &self.output_file());
        let line = line.map_or_else(|_| String::new(), |n| format!(", first in line {n}"));
        let message = if of_baseline {
            format!(
                "the command's output changes from run to run{line}: omit --same-output, or make the command always write the \
                 same output"
            )
        } else {
            format!("the command's output differs from the output of the baseline{line}")
        };
        Fault::Failed("output", message)
    }
}

/// Computes the SHA-256 digest of a file.
fn sha256(path: &Path) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hash.finalize().into())
}

/// Returns the number of the first line that differs between two files, counted from 1.
fn first_difference(first: &Path, other: &Path) -> io::Result<usize> {
    let open = |path| File::open(path).map(BufReader::new);
    let (mut first, mut other) = (open(first)?, open(other)?);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for line in 1.. {
        a.clear();
        b.clear();
        let ends = first.read_until(b'\n', &mut a)? + other.read_until(b'\n', &mut b)? == 0;
        if a != b || ends {
            return Ok(line);
        }
    }
    unreachable!("a file ends before the line number overflows")
}

fn unreadable(e: io::Error) -> Fault {
    Fault::Failed("output", format!("cannot read the command's output: {e}"))
}

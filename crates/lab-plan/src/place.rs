// SPDX-License-Identifier: Apache-2.0
//! Finds the project's directories.

use crate::PlanError;
use std::path::{Path, PathBuf};

/// The project: the directory that contains `experiments/`.
#[derive(Clone, Debug)]
pub struct Project {
    folder: PathBuf,
}

impl Project {
    /// Finds the nearest directory that contains `experiments/`, starting at `from` and going up.
    pub fn find(from: &Path) -> Result<Project, PlanError> {
        // Absolute, because subjects are started in the project's directory.
        let from = &std::path::absolute(from).unwrap_or_else(|_| from.to_path_buf());
        let folder = from
            .ancestors()
            .find(|folder| folder.join("experiments").is_dir());
        folder.map(|folder| Project { folder: folder.to_path_buf() }).ok_or_else(|| {
            PlanError::of_request(format!(
                "{} is not in a benchlab project (no `experiments` directory here or in a parent directory); go to \
                 the project's directory or specify it with --project",
                from.display()
            ))
        })
    }

    /// Returns the project's directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the names of the experiments, sorted.
    pub fn experiments(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.join("experiments"));
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|e| e.path().join("experiment.toml").is_file())
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

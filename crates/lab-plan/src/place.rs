// SPDX-License-Identifier: Apache-2.0
//! Where the project's folders are.

use crate::PlanError;
use std::path::{Path, PathBuf};

/// The project: the folder that holds `experiments/`.
#[derive(Clone, Debug)]
pub struct Project {
    folder: PathBuf,
}

impl Project {
    /// The nearest folder, from this one upwards, that holds `experiments/`.
    pub fn find(from: &Path) -> Result<Project, PlanError> {
        // An absolute path, since subjects are started in the project's folder.
        let from = &std::path::absolute(from).unwrap_or_else(|_| from.to_path_buf());
        let folder = from
            .ancestors()
            .find(|folder| folder.join("experiments").is_dir());
        folder.map(|folder| Project { folder: folder.to_path_buf() }).ok_or_else(|| {
            PlanError::of_request(format!(
                "{} is not in a benchlab project (no `experiments` folder here or above); go to the \
                 project's folder or name it with --project",
                from.display()
            ))
        })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names of the experiments, sorted.
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

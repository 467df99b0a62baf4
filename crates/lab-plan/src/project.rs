// SPDX-License-Identifier: Apache-2.0
//! Finds the project's directories.

use crate::PlanError;
use std::path::{Path, PathBuf};

/// The name of an experiment's file.
pub const EXPERIMENT_FILE: &str = "experiment.toml";

/// A directory that contains experiments in `experiments/`, or that is itself a single experiment.
#[derive(Clone, Debug)]
pub struct Project {
    folder: PathBuf,
    layout: Layout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Each directory in `experiments/` is an experiment.
    Collection,
    /// The directory is an experiment.
    Single,
}

impl Project {
    /// Finds the nearest directory that contains `experiments/`, searching from `from` upwards.
    ///
    /// If there is none, the project is the nearest directory that is itself an experiment.
    pub fn find(from: &Path) -> Result<Project, PlanError> {
        // Absolute, because subjects are started in the project's directory.
        let from = &std::path::absolute(from).unwrap_or_else(|_| from.to_path_buf());
        let nearest = |is_project: fn(&Path) -> bool| {
            let folder = from.ancestors().find(|folder| is_project(folder));
            folder.map(Path::to_path_buf)
        };
        if let Some(folder) = nearest(|folder| folder.join("experiments").is_dir()) {
            return Ok(Project {
                folder,
                layout: Layout::Collection,
            });
        }
        let single = nearest(|folder| folder.join(EXPERIMENT_FILE).is_file());
        single
            .map(|folder| Project {
                folder,
                layout: Layout::Single,
            })
            .ok_or_else(|| {
                PlanError::of_request(format!(
                    "{} is not in a benchlab project (no `experiments` directory here or in a parent directory); go \
                     to the project's directory or specify it with --project",
                    from.display()
                ))
            })
    }

    /// Finds the project of the experiment in a directory. Returns the project and the experiment's
    /// name.
    ///
    /// The project is the directory itself, or the parent of the `experiments` directory that
    /// contains it.
    ///
    /// # Errors
    /// Returns an error if the directory has no `experiment.toml`, or if its name is not valid
    /// Unicode.
    pub fn of_experiment(folder: &Path) -> Result<(Project, String), PlanError> {
        let shown = folder.display();
        let folder = folder
            .canonicalize()
            .ok()
            .filter(|folder| folder.join(EXPERIMENT_FILE).is_file())
            .ok_or_else(|| {
                PlanError::of_request(format!(
                    "there is no experiment in `{shown}`: it has no {EXPERIMENT_FILE}"
                ))
            })?;
        let name = folder.file_name().and_then(|name| name.to_str());
        let name = name
            .ok_or_else(|| {
                PlanError::of_request(format!(
                    "the name of {shown} is missing or is not valid Unicode"
                ))
            })?
            .to_owned();
        let parent = folder
            .parent()
            .filter(|parent| parent.ends_with("experiments"));
        let project = match parent.and_then(Path::parent) {
            Some(project) => Project {
                folder: project.to_path_buf(),
                layout: Layout::Collection,
            },
            None => Project {
                folder,
                layout: Layout::Single,
            },
        };
        Ok((project, name))
    }

    /// Returns the project's directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the directory of an experiment, relative to the project's directory. The path is
    /// empty for the project itself.
    pub fn experiment_folder(&self, name: &str) -> PathBuf {
        match self.layout {
            Layout::Collection => Path::new("experiments").join(name),
            Layout::Single => PathBuf::new(),
        }
    }

    /// Returns the names of the experiments, sorted.
    pub fn experiments(&self) -> Vec<String> {
        if self.layout == Layout::Single {
            let name = self.folder.file_name();
            return name
                .and_then(|name| name.to_str())
                .map(str::to_owned)
                .into_iter()
                .collect();
        }
        let entries = std::fs::read_dir(self.folder.join("experiments"));
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|e| e.path().join(EXPERIMENT_FILE).is_file())
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for experiments.

use lab_plan::{Experiment, Project};
use tempfile::TempDir;

/// Parses an `experiment.toml`.
pub fn experiment(bytes: &[u8]) {
    thread_local!(static FOLDER: TempDir = {
        let folder = TempDir::new().expect("a folder");
        let experiments = folder.path().join("experiments");
        std::fs::create_dir_all(experiments.join("x")).expect("a folder");
        let toolchains = include_str!("../../../experiments/toolchains.toml");
        std::fs::write(experiments.join("toolchains.toml"), toolchains).expect("a file");
        folder
    });
    let experiment = FOLDER.with(|folder| {
        let file = folder.path().join("experiments/x/experiment.toml");
        std::fs::write(file, bytes).expect("a file");
        let project = Project::find(folder.path()).expect("a project");
        Experiment::read(&project, "x")
    });
    match experiment {
        Ok(experiment) => {
            assert!(
                !experiment.subjects.is_empty(),
                "an experiment without subjects"
            );
            for subject in &experiment.subjects {
                experiment.label(subject);
            }
        }
        Err(error) => drop(error.to_string()),
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for experiments.

use lab_model::TargetKind;
use lab_plan::own_sql::Workload;
use lab_plan::{Experiment, Project};
use std::path::Path;
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

/// Parses a workload of the user's own SQL, both as TOML and as SQL. The input also serves as the
/// workload's CSV file.
pub fn workload(bytes: &[u8]) {
    for name in ["x.toml", "x.sql"] {
        let csv = |_: &Path, _: u64| Ok(bytes.to_vec());
        match Workload::parse(Path::new(name), bytes, &[], &csv) {
            // Generating many rows would take most of the time.
            Ok(workload) if !bytes.windows(4).any(|word| word == b"rows") => {
                for kind in TargetKind::ALL {
                    workload.setup(kind, 7);
                }
            }
            Ok(_) => {}
            Err(error) => drop(error.to_string()),
        }
    }
    if let Ok(variant) = std::str::from_utf8(bytes) {
        let none = |_: &Path, _: u64| Err(std::io::Error::other("no file"));
        let case = b"-- case: a\nSELECT 1";
        drop(Workload::parse(
            Path::new("x.sql"),
            case,
            &[variant.to_owned()],
            &none,
        ));
    }
}

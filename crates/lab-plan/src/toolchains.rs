// SPDX-License-Identifier: Apache-2.0
//! Reads `experiments/toolchains.toml`, which defines the toolchains that build subjects.
//!
//! A toolchain has probes that check whether it is installed, and instructions for installing it.

use crate::PlanError;
use crate::project::Project;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The toolchains of benchlab's own experiments.
const BUILT_IN: &str = include_str!("../../../experiments/toolchains.toml");

/// All toolchains by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Toolchains(BTreeMap<String, Toolchain>);

/// A toolchain that subjects need, such as a compiler, and the check for its presence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// The display title.
    pub title: String,
    /// Programs that must be in PATH.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Commands that must succeed in [`Toolchain::folder`].
    #[serde(default)]
    pub probes: Vec<Vec<String>>,
    /// The project's directory. Paths in the probes are relative to it.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The Debian packages. Empty if Debian's packages are missing or too old.
    #[serde(default)]
    pub debian: Vec<String>,
    /// Advice that supplements or replaces the list of packages.
    pub advice: Option<String>,
    /// True if the toolchain is a server whose packages would start a system-wide service.
    #[serde(default)]
    pub service: bool,
    /// The systemd units that the packages would enable. benchlab keeps them disabled.
    #[serde(default)]
    pub units: Vec<String>,
    /// Set once the toolchain is found, so that benchlab does not probe for it again.
    #[serde(skip)]
    pub found: OnceLock<()>,
}

impl Toolchain {
    /// Returns installation instructions: a command, or advice if no Debian package exists.
    pub fn how(&self) -> String {
        let packages = self.debian.join(" ");
        match (&self.advice, self.debian.is_empty()) {
            (None, true) => "no Debian package provides it".into(),
            (None, false) => format!("apt-get install {packages}"),
            (Some(advice), true) => advice.clone(),
            (Some(advice), false) => format!("apt-get install {packages}, or {advice}"),
        }
    }
}

impl Toolchains {
    /// Reads the project's file of toolchains, or benchlab's own file if the project has no such
    /// file.
    pub fn read(project: &Project) -> Result<Toolchains, PlanError> {
        let path = Path::new("experiments/toolchains.toml");
        let text = match std::fs::read_to_string(project.folder().join(path)) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => BUILT_IN.to_owned(),
            Err(e) => return Err(PlanError::of_request(format!("{}: {e}", path.display()))),
        };
        let mut toolchains: Toolchains =
            toml::from_str(&text).map_err(|e| PlanError::toml(path, &text, &e))?;
        for toolchain in toolchains.0.values_mut() {
            toolchain.folder = project.folder().to_path_buf();
        }
        Ok(toolchains)
    }

    /// Returns a toolchain by name.
    pub fn get(&self, name: &str) -> Option<&Toolchain> {
        self.0.get(name)
    }

    /// Returns all names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(String::as_str)
    }
}

// SPDX-License-Identifier: Apache-2.0
//! The software of a daemon: its properties, and its installation on this machine.

use nix::sys::signal::Signal;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The software of one kind of daemon. For each kind, the file that starts the daemon defines a
/// constant.
pub struct Software {
    /// The name in experiments, options and URLs, such as `postgresql`.
    pub name: &'static str,
    /// The display name, such as `PostgreSQL`.
    pub title: &'static str,
    /// The oldest supported version, major and minor.
    pub oldest: (u32, u32),
    /// The Debian packages that contain the software.
    pub packages: &'static [&'static str],
    /// The possible names of the program, most common first.
    pub programs: &'static [&'static str],
    /// The programs that create the data directory. Empty if no such program is needed.
    pub installers: &'static [&'static str],
    /// True if the installer must be in the program's directory, so that the installer and the
    /// program have the same version.
    pub own_installer: bool,
    /// Directories in which distributions install the program, in addition to those in `PATH`.
    pub folders: fn() -> Vec<PathBuf>,
    /// Extracts the major and minor version from the output of `--version`. Returns `None` for a
    /// different product.
    pub version: fn(&str) -> Option<(u32, u32)>,
    /// The system user that runs the daemon if benchlab runs as root. Otherwise, benchlab's own
    /// user runs it.
    pub user: &'static str,
    /// Settings that benchlab sets itself, in lower case with `_`.
    pub reserved: &'static [&'static str],
    /// The signal that ends the daemon immediately.
    pub ending: Signal,
    /// The signal that ends the installer.
    pub installer_ending: Signal,
    /// Returns true if a line of the log reports a failure or a rejected setting.
    pub complains: fn(&str) -> bool,
    /// True if the programs also log advice. The advice is not shown if the log contains
    /// complaints.
    pub advises: bool,
    /// Words in the log that reveal a missing component, and the name of the software that contains
    /// it.
    pub incomplete: Option<(&'static str, &'static str)>,
    /// Releases the resources that a killed daemon held outside of its directory, given its data
    /// directory.
    pub release: fn(&Path),
}

impl Software {
    /// Returns true if a path belongs to one of the software's programs, even if the file has been
    /// replaced since the program started.
    pub(crate) fn runs(&self, program: &Path) -> bool {
        let name = program.file_name().and_then(|name| name.to_str());
        let name = name.map(|name| name.trim_end_matches(" (deleted)"));
        let mut programs = self.programs.iter().chain(self.installers);
        programs.any(|program| Some(*program) == name)
    }

    /// Returns the missing components and their packages, or `None` if the software is usable.
    pub fn missing(&'static self) -> Option<MissingSoftware> {
        self.find().err()
    }

    /// Finds the newest supported and complete version.
    pub(crate) fn find(&'static self) -> Result<Installed, MissingSoftware> {
        let mut folders = (self.folders)();
        folders.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        self.find_in(&folders)
    }

    fn find_in(&'static self, folders: &[PathBuf]) -> Result<Installed, MissingSoftware> {
        let mut unusable = Vec::new();
        let mut best: Option<Installed> = None;
        for program in self.programs_in(folders) {
            let Some(banner) = banner(&program) else {
                continue;
            };
            let version = (self.version)(&banner).filter(|&version| self.supports(version));
            let Some(version) = version else {
                unusable.push(format!("{banner} ({})", program.display()));
                continue;
            };
            let installer = self.installer(&program, folders);
            if installer.is_none() && !self.installers.is_empty() {
                unusable.push(format!("{banner} without {}", self.installers[0]));
            } else if best.as_ref().is_none_or(|best| best.version < version) {
                best = Some(Installed {
                    program,
                    installer,
                    version,
                });
            }
        }
        best.ok_or(MissingSoftware {
            software: self,
            unusable,
        })
    }

    pub(crate) fn supports(&self, version: (u32, u32)) -> bool {
        version >= self.oldest
    }

    /// Returns the required version, such as `PostgreSQL 13 or later`.
    pub(crate) fn needed(&self) -> String {
        match self.oldest {
            (major, 0) => format!("{} {major} or later", self.title),
            (major, minor) => format!("{} {major}.{minor} or later", self.title),
        }
    }

    fn programs_in(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let paths = folders
            .iter()
            .flat_map(|folder| self.programs.iter().map(|name| folder.join(name)));
        // PATH may contain links to the same program.
        let mut programs: Vec<PathBuf> =
            paths.filter_map(|path| path.canonicalize().ok()).collect();
        programs.sort();
        programs.dedup();
        programs
    }

    fn installer(&self, program: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
        let folder = program.parent()?;
        let scripts = folder.with_file_name("scripts");
        let mut folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        if self.own_installer {
            folders.clear();
        }
        folders.extend([folder, scripts.as_path()]);
        let names = self.installers.iter();
        names
            .flat_map(|name| folders.iter().map(move |f| f.join(name)))
            .find(|path| path.is_file())
    }
}

impl PartialEq for Software {
    fn eq(&self, other: &Software) -> bool {
        self.name == other.name
    }
}

impl Eq for Software {}

impl fmt::Display for Software {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title)
    }
}

impl fmt::Debug for Software {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A daemon's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    /// The daemon itself.
    pub program: PathBuf,
    /// The program that creates the daemon's data directory, or `None` if the daemon needs no data
    /// directory.
    pub installer: Option<PathBuf>,
    version: (u32, u32),
}

/// Returns the version that a program prints, such as `postgres (PostgreSQL) 15.18`.
fn banner(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().next()?.trim().to_owned())
}

/// Parses the major and minor version at the beginning of `number`.
pub(crate) fn leading_version(number: &str) -> Option<(u32, u32)> {
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let major = parts.next()?.ok()?;
    Some((major, parts.next().and_then(Result::ok).unwrap_or(0)))
}

/// The error for software that is not installed, or is installed only in an unsupported version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct MissingSoftware {
    /// The daemon's software.
    pub software: &'static Software,
    /// Programs that are installed but unusable, with their versions.
    pub unusable: Vec<String>,
}

impl fmt::Display for MissingSoftware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingSoftware { software, unusable } = self;
        match &unusable[..] {
            [] => write!(f, "{software} is not installed")?,
            unusable => write!(
                f,
                "{} is required, but {} was found",
                software.needed(),
                unusable.join(", ")
            )?,
        }
        write!(
            f,
            "; on Debian: apt-get install {}",
            software.packages.join(" ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mariadb::MARIADB;
    use crate::postgresql::POSTGRESQL;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn versions_are_read_from_what_servers_print() {
        let postgresql = POSTGRESQL.software.version;
        assert_eq!(
            postgresql("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"),
            Some((15, 18))
        );
        assert_eq!(postgresql("postgres (PostgreSQL) 18beta1"), Some((18, 0)));
        assert_eq!(
            postgresql("PostgreSQL 12.3 on x86_64-pc-linux-gnu"),
            Some((12, 3))
        );
        assert_eq!(postgresql("fake 1.0"), None);
        let mariadb = MARIADB.software.version;
        let debian = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        assert_eq!(mariadb(debian), Some((10, 11)));
        assert_eq!(mariadb("11.4.2-MariaDB"), Some((11, 4)));
        assert_eq!(
            mariadb("/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64"),
            None
        );
    }

    /// Creates a directory with an installer, and with a server that prints `banner`.
    fn fake(software: &Software, banner: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let program = software.programs[software.programs.len() - 1];
        for name in [program, software.installers[0]] {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\necho '{banner}'\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    #[test]
    fn the_newest_supported_server_is_selected() {
        let software = &POSTGRESQL.software;
        let versions = ["9.6.24", "16.1", "15.18"];
        let folders = versions.map(|v| fake(software, &format!("postgres (PostgreSQL) {v}")));
        let folders = folders.each_ref().map(|folder| folder.path().to_path_buf());
        assert_eq!(software.find_in(&folders).unwrap().version, (16, 1));
        let old = software.find_in(&folders[..1]).unwrap_err().to_string();
        assert!(
            old.starts_with("PostgreSQL 13 or later is required, but postgres"),
            "{old}"
        );
        assert!(
            old.contains("9.6.24") && old.ends_with("apt-get install postgresql"),
            "{old}"
        );
        let none = software.find_in(&[]).unwrap_err().to_string();
        assert!(
            none.starts_with("PostgreSQL is not installed; on Debian: "),
            "{none}"
        );
    }

    #[test]
    fn mysql_is_not_mariadb() {
        let software = &MARIADB.software;
        let folder = fake(software, "mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL)");
        let missing = software
            .find_in(&[folder.path().to_path_buf()])
            .unwrap_err();
        assert!(
            missing
                .to_string()
                .contains("MariaDB 10.6 or later is required, but mysqld")
        );
    }
}

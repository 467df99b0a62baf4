// SPDX-License-Identifier: Apache-2.0
//! What is known of a daemon before it runs, and whether it is installed on this machine.

use nix::sys::signal::Signal;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is known of a kind of daemon: one constant for each, in the file that starts it.
pub struct Software {
    /// As experiments, options and URLs write it: `postgresql`.
    pub name: &'static str,
    /// For people: `PostgreSQL`.
    pub title: &'static str,
    /// The oldest version that is supported: major and minor.
    pub oldest: (u32, u32),
    /// The Debian packages that hold it.
    pub packages: &'static [&'static str],
    /// The names of its program, the usual one first.
    pub programs: &'static [&'static str],
    /// What makes its data directory; empty: it needs none.
    pub installers: &'static [&'static str],
    /// The installer must lie beside the program: it is of one version with it.
    pub own_installer: bool,
    /// Where distributions put the program, besides the folders of `PATH`.
    pub folders: fn() -> Vec<PathBuf>,
    /// Major and minor version of what `--version` prints; `None`: it is of another make.
    pub version: fn(&str) -> Option<(u32, u32)>,
    /// The system's user that it runs as where the lab is root; else it runs as the lab does.
    pub user: &'static str,
    /// Settings that the lab needs as they are, in lower case with `_`.
    pub reserved: &'static [&'static str],
    /// Ends it at once.
    pub ending: Signal,
    /// Ends the installer.
    pub installer_ending: Signal,
    /// Whether a line of its log says that it could not do as it was told.
    pub complains: fn(&str) -> bool,
    /// Its programs log advice too: of a log with complaints nothing else is of interest.
    pub advises: bool,
    /// Words of its log that say what is missing of its software, and what to call that.
    pub incomplete: Option<(&'static str, &'static str)>,
    /// Gives back what a killed daemon held outside of its folder, by its data directory.
    pub release: fn(&Path),
}

impl Software {
    /// Whether this is one of its programs, even one that was replaced since it started.
    pub(crate) fn runs(&self, program: &Path) -> bool {
        let name = program.file_name().and_then(|name| name.to_str());
        let name = name.map(|name| name.trim_end_matches(" (deleted)"));
        let mut own = self.programs.iter().chain(self.installers);
        own.any(|own| Some(*own) == name)
    }

    /// Says what is missing, and the packages, unless it can be started.
    pub fn missing(&'static self) -> Option<Missing> {
        self.find().err()
    }

    /// The newest that is supported and complete.
    pub(crate) fn find(&'static self) -> Result<Installed, Missing> {
        let mut folders = (self.folders)();
        folders.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        self.find_in(&folders)
    }

    fn find_in(&'static self, folders: &[PathBuf]) -> Result<Installed, Missing> {
        let mut found = Vec::new();
        let mut best: Option<Installed> = None;
        for program in self.programs_in(folders) {
            let Some(banner) = banner(&program) else {
                continue;
            };
            let version = (self.version)(&banner).filter(|&version| self.supports(version));
            let Some(version) = version else {
                found.push(format!("{banner} ({})", program.display()));
                continue;
            };
            let installer = self.installer(&program, folders);
            if installer.is_none() && !self.installers.is_empty() {
                found.push(format!("{banner} without {}", self.installers[0]));
            } else if best.as_ref().is_none_or(|best| best.version < version) {
                best = Some(Installed {
                    program,
                    installer,
                    version,
                });
            }
        }
        best.ok_or(Missing {
            software: self,
            found,
        })
    }

    pub(crate) fn supports(&self, version: (u32, u32)) -> bool {
        version >= self.oldest
    }

    /// `PostgreSQL 13 or later`.
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
        // PATH may lead to a program by way of links.
        let mut programs: Vec<PathBuf> =
            paths.filter_map(|path| path.canonicalize().ok()).collect();
        programs.sort();
        programs.dedup();
        programs
    }

    fn installer(&self, program: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
        let beside = program.parent()?;
        let scripts = beside.with_file_name("scripts");
        let mut folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        if self.own_installer {
            folders.clear();
        }
        folders.extend([beside, scripts.as_path()]);
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
    /// What makes its data directory, where it needs one.
    pub installer: Option<PathBuf>,
    version: (u32, u32),
}

/// What a program says of itself: `postgres (PostgreSQL) 15.18`.
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

/// Major and minor version that a text begins with.
pub(crate) fn leading_version(number: &str) -> Option<(u32, u32)> {
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let major = parts.next()?.ok()?;
    Some((major, parts.next().and_then(Result::ok).unwrap_or(0)))
}

/// The software of a daemon is not there, or only in a version that is not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Missing {
    /// Of which daemon.
    pub software: &'static Software,
    /// What is there instead: programs and their versions.
    pub found: Vec<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { software, found } = self;
        match &found[..] {
            [] => write!(f, "{software} is not installed")?,
            found => write!(
                f,
                "{} is needed, and there is {}",
                software.needed(),
                found.join(", ")
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

    /// A folder with a server that says this, and with an installer.
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
    fn the_newest_supported_server_is_taken() {
        let software = &POSTGRESQL.software;
        let versions = ["9.6.24", "16.1", "15.18"];
        let folders = versions.map(|v| fake(software, &format!("postgres (PostgreSQL) {v}")));
        let folders = folders.each_ref().map(|folder| folder.path().to_path_buf());
        assert_eq!(software.find_in(&folders).unwrap().version, (16, 1));
        let old = software.find_in(&folders[..1]).unwrap_err().to_string();
        assert!(
            old.starts_with("PostgreSQL 13 or later is needed, and there is postgres"),
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
        let found = software
            .find_in(&[folder.path().to_path_buf()])
            .unwrap_err();
        assert!(
            found
                .to_string()
                .contains("MariaDB 10.6 or later is needed, and there is mysqld")
        );
    }
}

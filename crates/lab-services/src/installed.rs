// SPDX-License-Identifier: Apache-2.0
//! Which database servers are installed on this machine, and in which versions.

use crate::{Kind, Missing};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    /// The server.
    pub server: PathBuf,
    /// What makes its data directory: `initdb`, `mariadb-install-db`.
    pub installer: PathBuf,
    version: (u32, u32),
}

/// Says what is missing, and the packages, unless a server can be started.
pub fn missing(kind: Kind) -> Option<Missing> {
    find(kind).err()
}

pub(crate) fn find(kind: Kind) -> Result<Installed, Missing> {
    find_in(kind, &folders(kind))
}

/// The newest that is supported and complete.
fn find_in(kind: Kind, folders: &[PathBuf]) -> Result<Installed, Missing> {
    let mut found = Vec::new();
    let mut best: Option<Installed> = None;
    for server in servers(kind, folders) {
        let Some(banner) = banner(&server) else {
            continue;
        };
        let version = version(kind, &banner).filter(|&version| kind.supports(version));
        match (version, installer(kind, &server, folders)) {
            (Some(version), Some(installer)) => {
                if best.as_ref().is_none_or(|best| best.version < version) {
                    best = Some(Installed {
                        server,
                        installer,
                        version,
                    });
                }
            }
            (Some(_), None) => found.push(format!("{banner} without {}", installers(kind)[0])),
            (None, _) => found.push(format!("{banner} ({})", server.display())),
        }
    }
    best.ok_or(Missing { kind, found })
}

/// Where distributions put them, and PATH.
fn folders(kind: Kind) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = match kind {
        Kind::Postgresql => std::fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .flatten()
            .map(|version| version.path().join("bin"))
            .collect(),
        Kind::Mariadb => ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"]
            .map(PathBuf::from)
            .into(),
    };
    folders.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    folders
}

/// MySQL's server is looked for too, to say that it is another one.
fn servers(kind: Kind, folders: &[PathBuf]) -> Vec<PathBuf> {
    let names: &[&str] = match kind {
        Kind::Postgresql => &["postgres"],
        Kind::Mariadb => &["mariadbd", "mysqld"],
    };
    let paths = folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)));
    // PATH may lead to a program by way of links.
    let mut servers: Vec<PathBuf> = paths.filter_map(|path| path.canonicalize().ok()).collect();
    servers.sort();
    servers.dedup();
    servers
}

fn installers(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Postgresql => &["initdb"],
        Kind::Mariadb => &["mariadb-install-db", "mysql_install_db"],
    }
}

/// PostgreSQL's must be the server's own; MariaDB's is a script that fits any.
fn installer(kind: Kind, server: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let beside = server.parent()?;
    let mut folders: Vec<&Path> = match kind {
        Kind::Postgresql => Vec::new(),
        Kind::Mariadb => folders.iter().map(PathBuf::as_path).collect(),
    };
    let scripts = beside.with_file_name("scripts");
    folders.extend([beside, scripts.as_path()]);
    let names = installers(kind).iter();
    names
        .flat_map(|name| folders.iter().map(move |f| f.join(name)))
        .find(|path| path.is_file())
}

/// What a server says of itself: `postgres (PostgreSQL) 15.18`.
fn banner(server: &Path) -> Option<String> {
    let mut command = Command::new(server);
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

/// Major and minor version of a banner, or of what the server answers to `version()`; `None`: of
/// another make.
pub(crate) fn version(kind: Kind, banner: &str) -> Option<(u32, u32)> {
    let number = match kind {
        Kind::Postgresql => banner
            .split_once("PostgreSQL")?
            .1
            .trim_start_matches([')', ' ']),
        Kind::Mariadb => {
            let (before, _) = banner.split_once("-MariaDB")?;
            before.rsplit(' ').next()?
        }
    };
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let major = parts.next()?.ok()?;
    Some((major, parts.next().and_then(Result::ok).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn versions_are_read_from_what_servers_print() {
        let postgresql = |text| version(Kind::Postgresql, text);
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
        let mariadb = |text| version(Kind::Mariadb, text);
        let debian = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        assert_eq!(mariadb(debian), Some((10, 11)));
        assert_eq!(mariadb("11.4.2-MariaDB"), Some((11, 4)));
        assert_eq!(
            mariadb("/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64"),
            None
        );
    }

    /// A folder with a server that says this, and with an installer.
    fn fake(kind: Kind, banner: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let server = servers_name(kind);
        for name in [server, installers(kind)[0]] {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\necho '{banner}'\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn servers_name(kind: Kind) -> &'static str {
        match kind {
            Kind::Postgresql => "postgres",
            Kind::Mariadb => "mysqld",
        }
    }

    #[test]
    fn the_newest_supported_server_is_taken() {
        let kind = Kind::Postgresql;
        let versions = ["9.6.24", "16.1", "15.18"];
        let folders = versions.map(|v| fake(kind, &format!("postgres (PostgreSQL) {v}")));
        let folders = folders.each_ref().map(|folder| folder.path().to_path_buf());
        assert_eq!(find_in(kind, &folders).unwrap().version, (16, 1));
        let old = find_in(kind, &folders[..1]).unwrap_err().to_string();
        assert!(
            old.starts_with("PostgreSQL 13 or later is needed, and there is postgres"),
            "{old}"
        );
        assert!(
            old.contains("9.6.24") && old.ends_with("apt-get install postgresql"),
            "{old}"
        );
        let none = find_in(kind, &[]).unwrap_err().to_string();
        assert!(
            none.starts_with("PostgreSQL is not installed; on Debian: "),
            "{none}"
        );
    }

    #[test]
    fn mysql_is_not_mariadb() {
        let folder = fake(
            Kind::Mariadb,
            "mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL)",
        );
        let found = find_in(Kind::Mariadb, &[folder.path().to_path_buf()]).unwrap_err();
        assert!(
            found
                .to_string()
                .contains("MariaDB 10.6 or later is needed, and there is mysqld")
        );
    }
}

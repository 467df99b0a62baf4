// SPDX-License-Identifier: Apache-2.0
//! Installs Debian packages on request.
//!
//! A package with a server normally sets up and starts the server for the whole machine. This module prevents that.

use crate::build::in_path;
use lab_plan::Toolchain;
use nix::unistd::Uid;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path and contents of a file that keeps packages from starting services (Debian Policy
/// 9.3.3.1, invoke-rc.d(8)).
const POLICY: (&str, &str) = ("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n");

/// The path and contents of a file that keeps PostgreSQL's packages from creating a database
/// cluster (pg_createcluster(1)).
const NO_CLUSTER: (&str, &str) = (
    "/etc/postgresql-common/createcluster.d/benchlab.conf",
    "create_main_cluster = false\n",
);

/// Installs the Debian packages of `toolchains`. Requires root or sudo. The output goes to
/// benchlab's standard error.
pub fn install(toolchains: &[&Toolchain]) -> io::Result<()> {
    let packages: BTreeSet<&str> = toolchains
        .iter()
        .flat_map(|t| &t.debian)
        .map(String::as_str)
        .collect();
    let names: Vec<&str> = packages.into_iter().collect();
    eprintln!("benchlab: installing {}", names.join(" "));
    if in_path("apt-get").is_none() {
        let names = names.join(", ");
        return Err(io::Error::other(format!(
            "apt-get is not available: install the contents of these Debian packages: {names}"
        )));
    }
    let _policies = if toolchains.iter().any(|t| t.service) {
        vec![TemporaryFile::new(POLICY)?, TemporaryFile::new(NO_CLUSTER)?]
    } else {
        Vec::new()
    };
    as_root(&["apt-get", "update", "-q"])?;
    let install = ["apt-get", "install", "-y", "-q", "--no-install-recommends"];
    as_root(&[&install[..], &names].concat())?;
    let units = toolchains.iter().flat_map(|t| &t.units);
    let units: Vec<&str> = units.map(String::as_str).collect();
    match in_path("systemctl") {
        // The installation enabled these services for the next boot.
        Some(_) if !units.is_empty() => {
            as_root(&[&["systemctl", "--quiet", "disable"][..], &units].concat())
        }
        _ => Ok(()),
    }
}

/// A temporary file, and the directories that were created for it.
struct TemporaryFile {
    created: Vec<PathBuf>,
}

impl TemporaryFile {
    /// Creates the file unless it already exists. An existing file is the choice of the machine's
    /// owner.
    fn new((path, text): (&str, &str)) -> io::Result<TemporaryFile> {
        let path = Path::new(path);
        let mut file = TemporaryFile {
            created: Vec::new(),
        };
        if path.exists() {
            return Ok(file);
        }
        let folders = path.ancestors().skip(1);
        let missing: Vec<&Path> = folders.take_while(|f| !f.exists()).collect();
        for folder in missing.into_iter().rev() {
            as_root(&["mkdir", &folder.to_string_lossy()])?;
            file.created.push(folder.to_path_buf());
        }
        let draft = std::env::temp_dir().join(format!("benchlab-policy-{}", std::process::id()));
        fs::write(&draft, text)?;
        file.created.push(path.to_path_buf());
        let arguments = [
            "install",
            "-m",
            "755",
            &draft.to_string_lossy(),
            &path.to_string_lossy(),
        ];
        let installed = as_root(&arguments);
        fs::remove_file(&draft)?;
        installed.map(|()| file)
    }
}

impl Drop for TemporaryFile {
    /// Removes the file and its directories. A directory that is no longer empty remains.
    fn drop(&mut self) {
        for path in self.created.iter().rev() {
            let remove = if path.is_dir() { "rmdir" } else { "rm" };
            let _ = as_root(&[remove, &path.to_string_lossy()]);
        }
    }
}

fn as_root(words: &[&str]) -> io::Result<()> {
    let sudo: &[&str] = if Uid::effective().is_root() {
        &[]
    } else {
        &["sudo", "--preserve-env=DEBIAN_FRONTEND"]
    };
    let words = [sudo, words].concat();
    let mut call = Command::new(words[0]);
    call.args(&words[1..])
        .env("DEBIAN_FRONTEND", "noninteractive");
    let quiet = ["rmdir", "rm"].iter().any(|w| words.contains(w));
    call.stderr(if quiet {
        Stdio::null()
    } else {
        Stdio::inherit()
    });
    let status = call.stdout(io::stderr()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "`{}` failed: {status}",
            words.join(" ")
        )))
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Subjects made ready: what they need is looked for or installed, and what changed is built.

use lab_plan::{Experiment, Project, Recipe, Toolchain, Toolchains};
use nix::unistd::Uid;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A subject that cannot be run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unready {
    /// One word: `missing` or `build`.
    pub kind: &'static str,
    /// What is wrong and what to do.
    pub message: String,
    /// The last lines of a build that failed.
    pub log: Vec<String>,
}

/// Makes subjects of one experiment ready.
pub struct Builder<'a> {
    project: &'a Project,
    experiment: &'a Experiment,
    toolchains: &'a Toolchains,
    done: HashSet<Vec<Vec<String>>>,
}

impl<'a> Builder<'a> {
    /// For the subjects of this experiment.
    pub fn new(
        project: &'a Project,
        experiment: &'a Experiment,
        toolchains: &'a Toolchains,
    ) -> Self {
        Builder {
            project,
            experiment,
            toolchains,
            done: HashSet::new(),
        }
    }

    /// Debian packages that bring what these subjects lack; none for those that are built already.
    pub fn lacking(&self, names: &[String]) -> Vec<String> {
        let mut packages = BTreeSet::new();
        for recipe in names
            .iter()
            .filter_map(|n| self.recipe(n))
            .filter(|(n, r)| !self.fresh(n, r))
        {
            for toolchain in self.missing(recipe.1) {
                packages.extend(toolchain.debian.iter().cloned());
            }
        }
        packages.into_iter().collect()
    }

    /// Builds a subject if something that it is made from changed: the SHA-256 of what it was made
    /// from. `tell` is told before a build begins.
    pub fn ready(&mut self, name: &str, tell: &mut dyn FnMut(&str)) -> Result<String, Unready> {
        let (name, recipe) = self
            .recipe(name)
            .expect("only subjects of the experiment are built");
        let key = self.key(recipe);
        if self.fresh(name, recipe) {
            return Ok(key);
        }
        let missing = self.missing(recipe);
        if !missing.is_empty() {
            return Err(self.lacks(&missing));
        }
        if !recipe.build.is_empty() && !self.done.contains(&recipe.build) {
            tell(name);
            self.build(name, recipe)?;
            self.done.insert(recipe.build.clone());
        }
        if self.program(name).is_none() {
            return Err(self.no_program(name, recipe));
        }
        // Without a stamp it is merely built again the next time.
        let _ = fs::write(self.stamp(name), self.key(recipe));
        Ok(key)
    }

    fn recipe<'n>(&self, name: &'n str) -> Option<(&'n str, &'a Recipe)> {
        self.experiment.subject(name).map(|s| (name, &s.recipe))
    }

    fn fresh(&self, name: &str, recipe: &Recipe) -> bool {
        let built = fs::read_to_string(self.stamp(name)).unwrap_or_default();
        built == self.key(recipe) && self.program(name).is_some()
    }

    /// The file that must be there for a subject to run, if it is.
    fn program(&self, name: &str) -> Option<PathBuf> {
        let program = self.program_name(name);
        match program.contains('/') {
            true => Some(self.project.folder().join(program)).filter(|p| p.exists()),
            false => in_path(program),
        }
    }

    fn program_name(&self, name: &str) -> &'a str {
        &self
            .experiment
            .subject(name)
            .expect("a subject")
            .model
            .program[0]
    }

    fn no_program(&self, name: &str, recipe: &Recipe) -> Unready {
        let program = self.program_name(name);
        let (kind, message) = match (recipe.build.is_empty(), program.contains('/')) {
            (false, _) => ("build", format!("its build made no `{program}`")),
            (true, true) => (
                "missing",
                format!("there is no program `{program}` in the project"),
            ),
            (true, false) => (
                "missing",
                format!("there is no program `{program}` in PATH"),
            ),
        };
        Unready {
            kind,
            message,
            log: Vec::new(),
        }
    }

    fn stamp(&self, name: &str) -> PathBuf {
        self.project
            .folder()
            .join("build")
            .join(format!("{}-{name}.stamp", self.experiment.name))
    }

    /// Hash of the sources, the build commands, and the tools' paths, sizes and times.
    fn key(&self, recipe: &Recipe) -> String {
        let mut hash = Sha256::new();
        for source in &recipe.sources {
            let _ = hash_tree(&self.project.folder().join(source), &mut hash);
        }
        hash.update(format!("{:?}", recipe.build));
        for tool in recipe
            .needs
            .iter()
            .filter_map(|n| self.toolchains.get(n))
            .flat_map(|t| &t.programs)
        {
            if let Some(path) = in_path(tool)
                && let Ok(meta) = fs::metadata(&path)
            {
                hash.update(format!(
                    "{}:{}:{}",
                    path.display(),
                    meta.size(),
                    meta.mtime()
                ));
            }
        }
        hex(&hash.finalize())
    }

    fn missing(&self, recipe: &Recipe) -> Vec<&'a Toolchain> {
        let needed = recipe.needs.iter().filter_map(|n| self.toolchains.get(n));
        needed.filter(|t| !present(t)).collect()
    }

    fn lacks(&self, missing: &[&Toolchain]) -> Unready {
        let titles: Vec<&str> = missing.iter().map(|t| t.title.as_str()).collect();
        let packages: Vec<&str> = missing
            .iter()
            .flat_map(|t| &t.debian)
            .map(String::as_str)
            .collect();
        let message = format!(
            "not here: {}. `benchlab run {} --install` installs it, or `apt-get install {}`",
            titles.join(", "),
            self.experiment.name,
            packages.join(" ")
        );
        Unready {
            kind: "missing",
            message,
            log: Vec::new(),
        }
    }

    fn build(&self, name: &str, recipe: &Recipe) -> Result<(), Unready> {
        let folder = self.project.folder().join("build");
        let log = folder.join(format!("{}-{name}.log", self.experiment.name));
        let failed = |message: String| {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let last = lines[lines.len().saturating_sub(15)..].to_vec();
            Unready {
                kind: "build",
                message,
                log: last,
            }
        };
        let start = || {
            fs::create_dir_all(&folder)?;
            File::create(&log)
        };
        let out = start().map_err(|e| failed(format!("{}: {e}", log.display())))?;
        for command in &recipe.build {
            let Some((program, args)) = command.split_first() else {
                continue;
            };
            let run = || {
                let mut call = Command::new(program);
                call.args(args)
                    .current_dir(self.project.folder())
                    .stdin(Stdio::null());
                call.stdout(out.try_clone()?)
                    .stderr(out.try_clone()?)
                    .status()
            };
            match run() {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    return Err(failed(format!(
                        "`{}` ended with {status}",
                        command.join(" ")
                    )));
                }
                Err(e) => return Err(failed(format!("`{}`: {e}", command.join(" ")))),
            }
        }
        Ok(())
    }
}

/// Whether a toolchain is there.
pub fn present(toolchain: &Toolchain) -> bool {
    let runs = |probe: &Vec<String>| {
        let Some((program, args)) = probe.split_first() else {
            return true;
        };
        let mut call = Command::new(program);
        call.args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        call.status().is_ok_and(|s| s.success())
    };
    toolchain.programs.iter().all(|p| in_path(p).is_some()) && toolchain.probes.iter().all(runs)
}

/// Installs Debian packages; needs root or sudo. Its output goes where the lab's errors go.
pub fn install(packages: &[String]) -> io::Result<()> {
    if in_path("apt-get").is_none() {
        let names = packages.join(", ");
        return Err(io::Error::other(format!(
            "there is no apt-get here: install what these Debian packages hold: {names}"
        )));
    }
    apt_get(&["update", "-q"])?;
    let mut args = vec!["install", "-y", "-q", "--no-install-recommends"];
    args.extend(packages.iter().map(String::as_str));
    apt_get(&args)
}

fn apt_get(args: &[&str]) -> io::Result<()> {
    let mut call = match Uid::effective().is_root() {
        true => Command::new("apt-get"),
        false => {
            let mut sudo = Command::new("sudo");
            sudo.args(["--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
            sudo
        }
    };
    call.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    let status = call.stdout(io::stderr()).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "`apt-get {}` ended with {status}",
            args.join(" ")
        ))),
    }
}

/// The file that a program's name stands for.
pub fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|p| p.is_file())
}

/// Names and contents of a file or of all files in a folder, in the order of their names.
fn hash_tree(path: &Path, hash: &mut Sha256) -> io::Result<()> {
    if path.is_file() {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update(fs::read(path)?);
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path)?.flatten().map(|e| e.path()).collect();
    entries.sort();
    entries.retain(|p| p.file_name().is_some_and(|n| n != "__pycache__"));
    entries.iter().try_for_each(|entry| hash_tree(entry, hash))
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

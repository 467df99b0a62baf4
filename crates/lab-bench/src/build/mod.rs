// SPDX-License-Identifier: Apache-2.0
//! Prepares subjects: finds or installs their requirements, and rebuilds them after changes.
//!
//! Subjects in different languages are built concurrently.

pub(crate) mod commits;
pub(crate) mod fingerprint;
pub(crate) mod install;
pub(crate) mod merge_base;
pub(crate) mod worktree;

use crate::host::interrupt;
use lab_model::TargetKind;
use lab_plan::{Experiment, Project, Recipe, Subject, Toolchain, Toolchains};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A subject that cannot run, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unready {
    /// The kind of problem: `missing` or `build`.
    pub kind: &'static str,
    /// The problem and its remedy.
    pub message: String,
    /// The last lines of the log of a failed build.
    pub log: Vec<String>,
    /// The toolchains and services that the subject lacks.
    pub lacks: Vec<Toolchain>,
}

/// The start or end of a build, with the label of its subject.
#[derive(Clone, Copy, Debug)]
pub enum BuildStep<'s> {
    /// A build starts.
    Begins(&'s str),
    /// A build has finished.
    Ended(&'s str),
}

/// Prepares the subjects of one experiment.
pub struct Builder<'a> {
    project: &'a Project,
    experiment: &'a Experiment,
    toolchains: &'a Toolchains,
    external: Vec<TargetKind>,
}

impl<'a> Builder<'a> {
    /// Creates a builder for the subjects of an experiment. `external` contains the kinds of
    /// servers that the user runs.
    pub fn new(
        project: &'a Project,
        experiment: &'a Experiment,
        toolchains: &'a Toolchains,
        external: &[TargetKind],
    ) -> Self {
        Builder {
            project,
            experiment,
            toolchains,
            external: external.to_vec(),
        }
    }

    /// Returns the missing toolchains and services that `subjects` need and that Debian packages
    /// provide. A subject that is already built needs only services.
    pub fn lacking(&self, subjects: &[&Subject]) -> Vec<&'a Toolchain> {
        let mut missing: Vec<&Toolchain> = Vec::new();
        for subject in subjects {
            let lacks = self.unmet_needs(subject, self.is_fresh(subject));
            missing.extend(lacks.into_iter().filter(|t| !t.debian.is_empty()));
        }
        missing
    }

    /// Returns the number of builds that are necessary to prepare `subjects`.
    pub fn builds(&self, subjects: &[&Subject]) -> usize {
        let stale = subjects.iter().filter(|s| {
            let has_build = !s.recipe.build.is_empty();
            has_build && !self.is_fresh(s) && self.unmet_needs(s, false).is_empty()
        });
        let recipes: HashSet<_> = stale.map(|s| &s.recipe.build).collect();
        recipes.len()
    }

    /// Builds the subjects whose sources, tools or compiler settings have changed. Returns each
    /// subject's key, in order.
    ///
    /// The key is the SHA-256 digest of the sources, the build commands and the tools. Subjects
    /// whose builds share files are built one after another.
    pub fn build_all(
        &self,
        subjects: &[&Subject],
        tell: &(dyn Fn(BuildStep) + Sync),
    ) -> Vec<Result<String, Unready>> {
        let groups = sharing_files(subjects);
        // At least two builds run concurrently, because a build also waits for the network.
        let at_once = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(vec![None; subjects.len()]);
        let work = || {
            while let Some(members) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut done = HashSet::new();
                for &member in members {
                    if interrupt::requested() {
                        return;
                    }
                    let outcome = self.ready_one(subjects[member], &mut done, tell);
                    outcomes.lock().expect("no build panics")[member] = Some(outcome);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..at_once.min(groups.len()) {
                scope.spawn(work);
            }
        });
        let outcomes = outcomes.into_inner().expect("no build panics");
        outcomes
            .into_iter()
            .map(|outcome| outcome.unwrap_or_else(|| Err(stopped())))
            .collect()
    }

    /// Prepares one subject. Builds in `done` are not repeated.
    fn ready_one<'s>(
        &self,
        subject: &'s Subject,
        done: &mut HashSet<&'s [Vec<String>]>,
        tell: &(dyn Fn(BuildStep) + Sync),
    ) -> Result<String, Unready> {
        let recipe = &subject.recipe;
        let key = self.key(recipe);
        let is_built = self.is_built_from(subject, &key);
        let missing = self.unmet_needs(subject, is_built);
        if !missing.is_empty() {
            return Err(self.missing_toolchains(&missing));
        }
        if is_built {
            return Ok(key);
        }
        if !recipe.build.is_empty() && !done.contains(&recipe.build[..]) {
            let label = self.experiment.label(subject);
            tell(BuildStep::Begins(&label));
            let built = self.build(subject);
            tell(BuildStep::Ended(&label));
            built?;
            done.insert(&recipe.build);
        }
        if self.program(subject).is_none() {
            return Err(no_program(subject));
        }
        // If the stamp cannot be written, the subject is simply rebuilt the next time.
        let _ = fs::write(self.build_file(subject, "stamp"), stamp(&self.key(recipe)));
        Ok(key)
    }

    /// Returns the unmet requirements of a subject. After its build it needs no compiler, but it still needs
    /// services.
    fn unmet_needs(&self, subject: &Subject, is_built: bool) -> Vec<&'a Toolchain> {
        let mut missing = self.missing(&subject.recipe.needs);
        missing.retain(|toolchain| toolchain.service || !is_built);
        missing.extend(self.missing(&self.services(subject)));
        missing
    }

    /// Returns the server software that a subject needs, unless the user runs the server.
    fn services(&self, subject: &Subject) -> Vec<String> {
        let target = self.experiment.targets.get(subject.model.target);
        if target.is_some_and(|t| self.external.contains(&t.kind)) {
            Vec::new()
        } else {
            subject.recipe.services.clone()
        }
    }

    fn is_fresh(&self, subject: &Subject) -> bool {
        self.is_built_from(subject, &self.key(&subject.recipe))
    }

    /// Returns true if the subject's program exists and was built from the sources and tools that
    /// `key` identifies.
    fn is_built_from(&self, subject: &Subject, key: &str) -> bool {
        let written = fs::read_to_string(self.build_file(subject, "stamp")).unwrap_or_default();
        written == stamp(key) && self.program(subject).is_some()
    }

    /// Returns the program of a subject if it exists.
    fn program(&self, subject: &Subject) -> Option<PathBuf> {
        let program = &subject.model.program[0];
        if program.contains('/') {
            Some(self.project.folder().join(program)).filter(|p| p.exists())
        } else {
            in_path(program)
        }
    }

    /// Returns the path of a file about a subject's build, such as `build/sql-python-on-mariadb.log`.
    fn build_file(&self, subject: &Subject, extension: &str) -> PathBuf {
        let label = self.experiment.label(subject).replace(' ', "-");
        let name = format!("{}-{label}.{extension}", self.experiment.name);
        self.project.folder().join("build").join(name)
    }

    /// Returns the SHA-256 digest of the sources, the build commands, and the paths, sizes and
    /// times of the tools.
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

    fn missing(&self, needs: &[String]) -> Vec<&'a Toolchain> {
        let needed = needs.iter().filter_map(|n| self.toolchains.get(n));
        needed.filter(|t| !present(t)).collect()
    }

    fn missing_toolchains(&self, missing: &[&Toolchain]) -> Unready {
        let titles: Vec<&str> = missing.iter().map(|t| t.title.as_str()).collect();
        let packages: Vec<&str> = missing
            .iter()
            .flat_map(|t| &t.debian)
            .map(String::as_str)
            .collect();
        let install = (!packages.is_empty()).then(|| {
            format!(
                "To install: `benchlab run {} --install`, or `apt-get install {}`",
                self.experiment.name,
                packages.join(" ")
            )
        });
        let advice = missing.iter().filter_map(|t| t.advice.clone());
        let remedies: Vec<String> = install.into_iter().chain(advice).collect();
        Unready {
            kind: "missing",
            message: format!("missing: {}. {}", titles.join(", "), remedies.join("; ")),
            log: Vec::new(),
            lacks: missing.iter().map(|&t| t.clone()).collect(),
        }
    }

    fn build(&self, subject: &Subject) -> Result<(), Unready> {
        let folder = self.project.folder().join("build");
        let log = self.build_file(subject, "log");
        let failed = |message: String| {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let last = lines[lines.len().saturating_sub(15)..].to_vec();
            Unready {
                kind: "build",
                message,
                log: last,
                lacks: Vec::new(),
            }
        };
        let create_log = || {
            fs::create_dir_all(&folder)?;
            File::create(&log)
        };
        let log_file =
            create_log().map_err(|e| failed(format!("cannot create {}: {e}", log.display())))?;
        for command in &subject.recipe.build {
            let Some((program, args)) = command.split_first() else {
                continue;
            };
            let run = || {
                let mut call = Command::new(program);
                call.args(args)
                    .current_dir(self.project.folder())
                    .stdin(Stdio::null());
                call.stdout(log_file.try_clone()?)
                    .stderr(log_file.try_clone()?)
                    .status()
            };
            match run() {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    return Err(failed(format!("`{}` failed: {status}", command.join(" "))));
                }
                Err(e) => return Err(failed(format!("cannot run `{}`: {e}", command.join(" ")))),
            }
        }
        Ok(())
    }
}

fn no_program(subject: &Subject) -> Unready {
    let program = &subject.model.program[0];
    let (kind, message) = match (subject.recipe.build.is_empty(), program.contains('/')) {
        (false, _) => ("build", format!("the build did not produce `{program}`")),
        (true, true) => (
            "missing",
            format!("program `{program}` does not exist in the project"),
        ),
        (true, false) => ("missing", format!("program `{program}` is not in PATH")),
    };
    Unready {
        kind,
        message,
        log: Vec::new(),
        lacks: Vec::new(),
    }
}

fn stopped() -> Unready {
    Unready {
        kind: "build",
        message: "stopped before the build".into(),
        log: Vec::new(),
        lacks: Vec::new(),
    }
}

/// Groups subjects whose builds may share files. These are subjects in the same language, and
/// subjects with a common build command.
fn sharing_files(subjects: &[&Subject]) -> Vec<Vec<usize>> {
    let overlap = |a: usize, b: usize| {
        let [a, b] = [a, b].map(|i| subjects[i]);
        a.model.language == b.model.language
            || a.recipe
                .build
                .iter()
                .any(|command| b.recipe.build.contains(command))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in 0..subjects.len() {
        let shares_files = |group: &mut Vec<usize>| group.iter().any(|&other| overlap(i, other));
        let mut group: Vec<usize> = groups.extract_if(.., shares_files).flatten().collect();
        group.push(i);
        groups.push(group);
    }
    groups
}

/// Returns true if a toolchain is installed. Probes it until it is found for the first time.
pub fn present(toolchain: &Toolchain) -> bool {
    if toolchain.found.get().is_some() {
        return true;
    }
    let runs = |probe: &Vec<String>| {
        let Some((program, args)) = probe.split_first() else {
            return true;
        };
        let mut call = Command::new(program);
        call.args(args)
            .current_dir(&toolchain.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        call.status().is_ok_and(|s| s.success())
    };
    let programs = &toolchain.programs;
    let is_present =
        programs.iter().all(|p| in_path(p).is_some()) && toolchain.probes.iter().all(runs);
    if is_present {
        toolchain.found.get_or_init(|| ());
    }
    is_present
}

/// Finds a program in PATH.
pub fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|p| p.is_file())
}

/// Returns the content of a program's stamp file: the key, and a digest of the environment
/// variables with which the compilers are configured.
fn stamp(key: &str) -> String {
    let mut hash = Sha256::new();
    for (name, value) in compiler_settings() {
        hash.update(format!("{name}={value:?}\n"));
    }
    format!("{key} {}", hex(&hash.finalize()))
}

/// Environment variables that change what compilers and linkers produce.
const COMPILER_VARIABLES: [&str; 18] = [
    "ADAFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CC",
    "CFLAGS",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "GOAMD64",
    "GOARM64",
    "GOEXPERIMENT",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "LDFLAGS",
    "MAVEN_ARGS",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
];

/// Prefixes of the names of further environment variables that change what compilers produce, such
/// as `CARGO_PROFILE_RELEASE_LTO`.
const COMPILER_PREFIXES: [&str; 2] = ["CARGO_PROFILE_", "CGO_"];

/// Returns the variables that change what compilers produce, sorted by name.
fn compiler_settings() -> BTreeMap<String, OsString> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, value)| {
            let is_setting = COMPILER_VARIABLES.contains(&name.as_str())
                || COMPILER_PREFIXES.iter().any(|p| name.starts_with(p));
            is_setting && !value.is_empty()
        })
        .collect()
}

/// Adds the names and contents of a file, or of all files in a directory sorted by name, to a hash.
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

/// Formats bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

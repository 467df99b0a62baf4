// SPDX-License-Identifier: Apache-2.0
//! Creates working experiments and subjects from a skeleton for each language.
//!
//! A skeleton is a directory `kits/LANGUAGE/skeleton/` with sources, and with the subject's entry
//! in the experiment's file (`recipe.toml`). The extension `.in` is removed from file names. These
//! placeholders are replaced:
//!
//! - `{{subject}}`: the subject's name.
//! - `{{folder}}`: the subject's directory, relative to the project's directory.
//! - `{{out}}`: the directory of the subject's build, relative to the project's directory.
//! - `{{root}}`: the project's directory, relative to the subject's directory.

use lab_plan::{EXPERIMENT_FILE, Experiment, Project};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The files of all kits, with their paths in `kits/`.
static KITS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/kits.rs"));

/// The templates of the files that each new experiment contains, by file name.
static EXPERIMENT: [(&str, &str); 3] = [
    (
        EXPERIMENT_FILE,
        include_str!("../templates/experiment.toml"),
    ),
    ("README.md", include_str!("../templates/README.md")),
    ("test.py", include_str!("../templates/test.py")),
];

/// The name of the directory of a kit's skeleton.
const SKELETON: &str = "skeleton";
/// The name of the file with the subject's entry in the experiment's file.
const RECIPE: &str = "recipe.toml";

/// The case that every skeleton implements.
pub const CASE: &str = "hash";

/// An error that prevents the creation of an experiment or a subject.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory to create already exists.
    #[error("{} already exists; choose another name", .0.display())]
    Exists(PathBuf),
    /// A name is invalid for an experiment or a subject.
    #[error(
        "invalid name `{0}`: use up to 64 lowercase letters, digits, `-` and `_`, with a letter first"
    )]
    Name(String),
    /// No skeleton exists for a language.
    #[error("there is no skeleton for `{0}`; the languages are {all}", all = languages().join(", "))]
    Language(String),
    /// The experiment already has a subject with this name.
    #[error("{experiment} already has a subject `{subject}`; choose another name")]
    Subject {
        /// The experiment's name.
        experiment: String,
        /// The subject's name.
        subject: String,
    },
    /// The experiment's file is invalid.
    #[error(transparent)]
    Plan(#[from] lab_plan::PlanError),
    /// A file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file that cannot be written.
        path: PathBuf,
        /// The error from the operating system.
        reason: io::Error,
    },
}

/// Returns the languages that have a skeleton, sorted.
pub fn languages() -> Vec<&'static str> {
    let skeletons = KITS.iter().filter_map(|(path, _)| {
        let (language, file) = path.split_once('/')?;
        (file == format!("{SKELETON}/{RECIPE}")).then_some(language)
    });
    skeletons.collect()
}

/// Creates an experiment with a subject per language, each named after its language.
///
/// The directory is either in the `experiments/` of a project, or is itself a project. Kits that
/// the project lacks are copied into it. Returns the created files without the files of kits,
/// relative to the project's directory.
///
/// # Errors
/// Returns an error, and creates nothing, if the directory exists or if a name or a language is
/// invalid.
pub fn experiment(folder: &Path, languages: &[String]) -> Result<Vec<PathBuf>, Error> {
    let folder = &std::path::absolute(folder).map_err(write_error(folder))?;
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = check_name(name.unwrap_or_default())?;
    languages.iter().try_for_each(|language| known(language))?;
    if folder.exists() {
        return Err(Error::Exists(folder.clone()));
    }
    let parent = folder
        .parent()
        .filter(|parent| parent.ends_with("experiments"));
    let directories = match parent.and_then(Path::parent) {
        Some(project) => Directories {
            project: project.to_path_buf(),
            experiment: Path::new("experiments").join(name),
            name: name.to_owned(),
        },
        None => Directories {
            project: folder.clone(),
            experiment: PathBuf::new(),
            name: name.to_owned(),
        },
    };
    let subjects: BTreeSet<&String> = languages.iter().collect();
    let mut files = Vec::new();
    for (file, text) in EXPERIMENT {
        let text = directories.fill_template(text, languages.first().map_or("", String::as_str));
        files.push((directories.experiment.join(file), text));
    }
    for language in subjects {
        let (sources, recipe) = directories.subject(language, language);
        files.extend(sources);
        files[0].1 += &format!("\n{recipe}");
    }
    directories.write(&files, languages)?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Adds a subject in a language to an experiment.
///
/// Returns the created files without the files of kits, relative to the project's directory, and
/// the cases of the experiment that the skeleton does not implement.
///
/// # Errors
/// Returns an error, and changes nothing, if a name or the language is invalid, or if the subject
/// or its directory exists.
pub fn subject(
    project: &Project,
    experiment: &Experiment,
    name: &str,
    language: &str,
) -> Result<(Vec<PathBuf>, Vec<String>), Error> {
    check_name(name)?;
    known(language)?;
    if experiment
        .subjects
        .iter()
        .any(|subject| subject.model.name == name)
    {
        return Err(Error::Subject {
            experiment: experiment.name.clone(),
            subject: name.to_owned(),
        });
    }
    let directories = Directories {
        project: project.folder().to_path_buf(),
        experiment: project.experiment_folder(&experiment.name),
        name: experiment.name.clone(),
    };
    let (files, recipe) = directories.subject(name, language);
    let folder = directories.project.join(directories.experiment.join(name));
    if folder.exists() {
        return Err(Error::Exists(folder));
    }
    directories.write(&files, &[language.to_owned()])?;
    directories.append(&recipe)?;
    let others = experiment.cases.iter().filter(|case| case.name != CASE);
    let others = others.map(|case| case.name.clone()).collect();
    Ok((files.into_iter().map(|(path, _)| path).collect(), others))
}

fn check_name(name: &str) -> Result<&str, Error> {
    let is_name = name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
    is_name
        .then_some(name)
        .ok_or_else(|| Error::Name(name.to_owned()))
}

fn known(language: &str) -> Result<(), Error> {
    let is_known = languages().contains(&language);
    is_known
        .then_some(())
        .ok_or_else(|| Error::Language(language.to_owned()))
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    |reason| Error::Write { path, reason }
}

/// The directories of an experiment.
struct Directories {
    /// The project's directory.
    project: PathBuf,
    /// The experiment's directory, relative to the project's directory.
    experiment: PathBuf,
    /// The experiment's name.
    name: String,
}

impl Directories {
    /// Returns the files of a subject, and its entry in the experiment's file.
    fn subject(&self, name: &str, language: &str) -> (Vec<(PathBuf, String)>, String) {
        let (mut files, mut recipe) = (Vec::new(), String::new());
        let prefix = format!("{language}/{SKELETON}/");
        for (path, content) in KITS {
            let Some(file) = path.strip_prefix(&prefix) else {
                continue;
            };
            let text = self.fill_template(&String::from_utf8_lossy(content), name);
            match file {
                RECIPE => recipe = text,
                _ => {
                    let file = file.strip_suffix(".in").unwrap_or(file);
                    files.push((self.experiment.join(name).join(file), text));
                }
            }
        }
        (files, recipe)
    }

    fn fill_template(&self, text: &str, subject: &str) -> String {
        let depth = self.experiment.components().count();
        let up = |levels: usize| vec![".."; levels].join("/");
        let run = match depth {
            0 => ".",
            _ => &self.name,
        };
        let values = [
            ("{{name}}", self.name.clone()),
            ("{{run}}", run.to_owned()),
            ("{{subject}}", subject.to_owned()),
            (
                "{{folder}}",
                self.experiment.join(subject).display().to_string(),
            ),
            ("{{out}}", format!("build/{}/{subject}", self.name)),
            ("{{root}}", up(depth + 1)),
            (
                "{{root_of_experiment}}",
                if depth == 0 { ".".into() } else { up(depth) },
            ),
        ];
        values.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(name, value)
        })
    }

    /// Writes new files and copies the kits that the project lacks.
    fn write(&self, files: &[(PathBuf, String)], languages: &[String]) -> Result<(), Error> {
        for (path, text) in files {
            create(&self.project.join(path), text.as_bytes())?;
        }
        for language in languages {
            let kit = self.project.join("kits").join(language);
            if kit.exists() {
                continue;
            }
            let prefix = format!("{language}/");
            for (path, content) in KITS {
                let file = path.strip_prefix(&prefix);
                if let Some(file) = file.filter(|file| !file.starts_with(SKELETON)) {
                    create(&kit.join(file), content)?;
                }
            }
        }
        Ok(())
    }

    /// Appends an entry to the experiment's file. The file is replaced atomically.
    fn append(&self, recipe: &str) -> Result<(), Error> {
        let path = self.project.join(&self.experiment).join(EXPERIMENT_FILE);
        let failed = || write_error(&path);
        let mut text = fs::read_to_string(&path).map_err(failed())?;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text = format!("{text}\n{recipe}");
        let folder = path.parent().expect("a file has a directory");
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
        file.write_all(text.as_bytes()).map_err(failed())?;
        let permissions = fs::metadata(&path).map_err(failed())?.permissions();
        file.as_file()
            .set_permissions(permissions)
            .map_err(failed())?;
        file.persist(&path).map_err(|e| failed()(e.error))?;
        Ok(())
    }
}

/// Creates a file and its parent directories. Returns an error if the file exists.
fn create(path: &Path, content: &[u8]) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(content)
    };
    write().map_err(write_error(path))
}

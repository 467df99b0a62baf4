// SPDX-License-Identifier: Apache-2.0
//! A project of its own for a test, calls of the built program in it, and what its run files hold.

use lab_model::Run;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The program under test.
pub const BENCHLAB: &str = env!("CARGO_BIN_EXE_benchlab");

/// The case that every kit has; it needs no target.
pub const NOOP: &str = r#"
[[case]]
name = "noop"
work = "nothing"
unit = "operation"
"#;

/// The SQL experiment's cases, as far as cheats need them.
pub const CONNECT: &str = r#"
[[case]]
name = "connect"
work = "open, SELECT 1, close"
unit = "row"
check = "opens"
"#;
pub const SELECT: &str = r#"
[[case]]
name = "select"
work = "SELECT … LIMIT n"
unit = "row"
sweep.limit = [20]
factor.statement = ["prepared", "text"]
thin = [20]
"#;
pub const INSERT: &str = r#"
[[case]]
name = "insert"
work = "INSERT of one row"
unit = "row"
factor.statement = ["prepared", "text"]
check = "writes"
empty = true
writes = { rows = 1, transactions = 1 }
"#;
pub const DROP_CREATE: &str = r#"
[[case]]
name = "drop_create"
work = "DROP TABLE, CREATE TABLE"
unit = "table"
check = "writes"
empty = true
writes = { rows = 0, transactions = 2, schema_changes = 2 }
"#;

const NOOP_HEAD: &str = r#"
[experiment]
title = "Tried out"
question = "Does it hold?"
baseline = "honest"
"#;

const SQL_HEAD: &str = r#"
[experiment]
title = "Tried out"
question = "Does it hold?"
baseline = "honest"
target = "sqlite"

[target.sqlite]
rows = 100
table = "CREATE TABLE test_simple (id integer primary key autoincrement, value integer)"

[proof]
equal = ["journal_mode", "synchronous", "autocommit", "encoding", "page_size", "cache_size"]
conditions = ["version"]
"#;

const TOOLCHAINS: &str = r#"
[gcc]
title = "C compiler"
programs = ["cc"]
debian = ["gcc"]

[rare]
title = "Rare compiler"
programs = ["benchlab-has-no-such-compiler"]
debian = ["rare-compiler", "rare-runtime"]
"#;

/// A folder with one experiment, `t`.
pub struct Project {
    folder: TempDir,
}

/// How a call ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Project {
    /// With this text as its experiment file.
    pub fn with_text(text: &str) -> Project {
        // Each commit on a disk waits for it, and nothing here is to outlive the test.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let folder = folder.expect("a temporary folder");
        let experiment = folder.path().join("experiments/t");
        fs::create_dir_all(&experiment).unwrap();
        fs::write(experiment.join("experiment.toml"), text).unwrap();
        fs::write(
            folder.path().join("experiments/toolchains.toml"),
            TOOLCHAINS,
        )
        .unwrap();
        Project { folder }
    }

    /// The case noop, with an honest baseline, an honest second subject and these.
    pub fn noop(others: &[String]) -> Project {
        let honest = ["honest", "second"].map(|name| subject(name, &["plain.py"]));
        Project::with_text(
            &[
                &[NOOP_HEAD.to_owned(), NOOP.to_owned()],
                &honest[..],
                others,
            ]
            .concat()
            .concat(),
        )
    }

    /// The case noop, with an honest baseline, an honest second subject and one for each fault.
    pub fn with_faults(faults: &[&str]) -> Project {
        let faulty: Vec<String> = faults
            .iter()
            .map(|f| subject(f, &["faulty.py", f]))
            .collect();
        Project::noop(&faulty)
    }

    /// SQL cases, with an honest baseline, an honest second subject and these variants of sql.py.
    pub fn sql(cases: &[&str], variants: &[&str]) -> Project {
        let honest = ["honest", "second"].map(|name| subject(name, &["sql.py", "honest"]));
        let others = variants.iter().map(|v| subject(v, &["sql.py", v]));
        let text = SQL_HEAD.to_owned() + &cases.concat() + &honest.concat();
        Project::with_text(&(text + &others.collect::<String>()))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path().join(path)
    }

    /// `benchlab --project HERE …`, its databases in a folder of the project.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BENCHLAB);
        command.arg("--project").arg(self.path()).args(args);
        command.env_remove("BENCHLAB_PROJECT").stdin(Stdio::null());
        if let Some("run" | "resume") = args.first().copied() {
            command.arg("--scratch").arg(self.scratch());
        }
        command
    }

    /// Where the subjects' databases are.
    pub fn scratch(&self) -> PathBuf {
        let scratch = self.join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        scratch
    }

    pub fn call(&self, args: &[&str]) -> Ended {
        ended(self.command(args).output().expect("benchlab starts"))
    }

    /// A short run: one pair of passes is not a measurement, but it goes the whole way.
    pub fn run(&self, more: &[&str]) -> Ended {
        self.call(&[&SHORT_RUN[..], more].concat())
    }

    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("benchlab starts")
    }

    /// The one run file.
    pub fn file(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "there should be one run file: {files:?}");
        files[0].clone()
    }

    pub fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.join("runs"))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .map(|e| e.path())
            .filter(|p| p.extension().is_some_and(|e| e == "lab"))
            .collect()
    }

    pub fn load(&self) -> Run {
        lab_store::load(&self.file()).expect("the run file is sound")
    }
}

/// Two blocks, quickly, with all that is random decided.
pub const SHORT_RUN: [&str; 10] = [
    "run",
    "t",
    "--quick",
    "--blocks",
    "2",
    "--pairs",
    "2",
    "--no-control",
    "--seed",
    "7",
];

/// A `[[subject]]` that is a Python program of `tests/subjects/`.
pub fn subject(name: &str, program: &[&str]) -> String {
    let script = subjects_folder().join(program[0]);
    let args: String = program[1..].iter().map(|a| format!(", {a:?}")).collect();
    format!(
        "\n[[subject]]\nname = {name:?}\nlanguage = \"Python\"\ndriver = \"none\"\n\
         program = [{:?}, \"-B\", {script:?}{args}]\n",
        python()
    )
}

/// Where Python is: what PATH names may be a wrapper that takes longer than a whole run.
pub fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let asked = Command::new("python3")
            .args(["-c", "import sys; print(sys.executable)"])
            .output();
        String::from_utf8(asked.expect("python3 is there").stdout)
            .expect("a path")
            .trim()
            .to_owned()
    })
}

pub fn subjects_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/subjects")
}

pub fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ended {
    #[track_caller]
    pub fn expect(&self, code: i32) -> &Ended {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Standard error has each of these texts.
    #[track_caller]
    pub fn says(&self, texts: &[&str]) -> &Ended {
        for text in texts {
            assert!(
                self.stderr.contains(text),
                "no `{text}` in:\n{}",
                self.stderr
            );
        }
        self
    }
}

/// Asserts that just these subjects failed, each of its own kind and with a message that holds its
/// text, and that the others did all of their work.
#[track_caller]
pub fn assert_failures(run: &Run, wanted: &[(&str, &str, &str)]) {
    let plan = run.plan.as_ref().expect("a plan");
    for &(name, kind, text) in wanted {
        let id = plan
            .subjects
            .iter()
            .position(|s| s.name == name)
            .expect("a subject");
        let failures: Vec<_> = run.failures.iter().filter(|f| f.subject == id).collect();
        assert!(!failures.is_empty(), "{name} did not fail");
        for failure in failures {
            assert_eq!(failure.kind, kind, "{name}: {failure:#?}");
            assert!(
                failure.message.contains(text),
                "{name}: no `{text}` in {failure:#?}"
            );
        }
    }
    let unexpected = run
        .failures
        .iter()
        .map(|f| (&plan.subjects[f.subject].name, f))
        .find(|(name, _)| !wanted.iter().any(|(w, _, _)| w == name));
    assert!(unexpected.is_none(), "{unexpected:#?}");
    for (id, subject) in plan.subjects.iter().enumerate() {
        if !wanted.iter().any(|(name, _, _)| *name == subject.name) {
            assert_complete(run, id);
        }
    }
}

/// Asserts that a subject has all samples of all blocks that were asked for.
#[track_caller]
fn assert_complete(run: &Run, subject: usize) {
    let plan = run.plan.as_ref().expect("a plan");
    let numbers: Vec<u32> = run.complete_blocks().map(|b| b.number).collect();
    assert_eq!(numbers, (0..plan.measure.max_blocks).collect::<Vec<_>>());
    for block in run.complete_blocks() {
        let samples = block
            .samples
            .iter()
            .filter(|s| s.subject == subject)
            .count();
        let wanted = plan.points.len() * 2 * plan.measure.pairs as usize;
        assert_eq!(
            samples, wanted,
            "{} in block {}",
            plan.subjects[subject].name, block.number
        );
    }
}

/// Every row of a table of a run file, with its rowid in front, in words.
pub fn rows(file: &Path, sql: &str) -> Vec<String> {
    let db = Connection::open(file).expect("the run file opens");
    let mut statement = db.prepare(sql).expect("the table is there");
    let columns = statement.column_count();
    let read = |row: &rusqlite::Row| {
        let values = (0..columns).map(|i| {
            row.get::<_, rusqlite::types::Value>(i)
                .map(|v| format!("{v:?}"))
        });
        values
            .collect::<rusqlite::Result<Vec<_>>>()
            .map(|v| v.join(" "))
    };
    statement
        .query_map([], read)
        .unwrap()
        .map(|row| row.expect("a row"))
        .collect()
}

/// Waits until something is so; fails after a long time.
#[track_caller]
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "waited in vain: {what}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

// SPDX-License-Identifier: Apache-2.0
//! What a run is to do: subjects, cases and their points, and how they are measured.

use serde::{Deserialize, Serialize};

/// Index into [`Plan::subjects`].
pub type SubjectId = usize;

/// Index into [`Plan::points`].
pub type PointId = usize;

/// A validated experiment with everything selected and decided: what a run carries out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's folder name, such as `sql`.
    pub experiment: String,
    /// Its title for people.
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// What is compared, baseline and control included.
    pub subjects: Vec<Subject>,
    /// The subject that the others are compared with.
    pub baseline: SubjectId,
    /// The work, in the experiment's order.
    pub cases: Vec<Case>,
    /// Every case with every selected value of its sweep and factors.
    pub points: Vec<Point>,
    /// How it is measured.
    pub measure: Measure,
    /// What subjects must have in common.
    pub proof: Proof,
    /// Arguments of every `open`, such as `rows=10000`.
    pub open: Vec<(String, String)>,
    /// The kind of thing that subjects work on, and what the lab makes it from.
    pub target: Option<Target>,
    /// Where the inputs and the order of turns come from.
    pub seed: u64,
    /// The subjects are whole commands, and each of their batches is one process; `None`: they
    /// speak the subject protocol.
    #[serde(default)]
    pub commands: Option<Commands>,
}

/// How whole commands are run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commands {
    /// The file that every command reads on its standard input; `None`: `/dev/null`.
    pub input: Option<String>,
    /// The standard output of every run must be that of the baseline.
    pub same_output: bool,
    /// A run that ends with another status than 0 counts like any other.
    pub ignore_failure: bool,
    /// Where the commands run; `None`: the pilot finds out.
    pub cores: Option<Cores>,
}

/// Where commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cores {
    /// All on the same core, another one in each block.
    One,
    /// Wherever the system puts them: for commands that do several things at once.
    All,
}

/// What the subjects work on, made by the lab before each `open`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Target {
    /// A fresh SQLite database file.
    Sqlite {
        /// The statement that creates its table.
        table: String,
        /// How many rows it holds, for cases that do not begin with an empty table.
        rows: u64,
    },
}

/// One implementation under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Unique name, such as `ada`.
    pub name: String,
    /// The language that it is written in, for people.
    pub language: String,
    /// The driver or library that it shows.
    pub driver: String,
    /// How it prepares statements, in words.
    pub statements: String,
    /// It shows what the machine allows: the floor that others are read against.
    pub limit: bool,
    /// The subject that this one is a second copy of, to show the run's own noise.
    pub control_of: Option<SubjectId>,
    /// Program and arguments, started in the project's folder; those of a whole command may hold
    /// the names of parameters in braces, such as `{n}`.
    pub program: Vec<String>,
    /// The subject is a whole command.
    #[serde(default)]
    pub command: Option<Command>,
    /// It shows what starting a process costs (a program without arguments that does nothing) or a
    /// shell (with arguments); it is not compared.
    #[serde(default)]
    pub overhead: bool,
}

/// A whole command, as the reader gave it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Its line.
    pub line: String,
    /// It uses shell syntax, so that a shell runs it.
    pub shell: bool,
    /// The folder that it runs in; `None`: the one that the lab was started in.
    pub folder: Option<String>,
    /// The revision that its folder holds, as a commit's name.
    #[serde(default)]
    pub revision: Option<String>,
    /// Run once before the first process: program and arguments.
    pub setup: Option<Vec<String>>,
    /// Run before each process, untimed.
    pub prepare: Option<Vec<String>>,
    /// Run once after the last process.
    pub cleanup: Option<Vec<String>>,
}

/// One piece of work, the same for every subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique name, such as `select`.
    pub name: String,
    /// The work of one operation, in words.
    pub work: String,
    /// What `units` counts, such as `row`.
    pub unit: String,
    /// The name of the swept parameter.
    pub sweep: Option<String>,
    /// How the lab itself looks whether the work was done.
    pub check: Check,
    /// The target begins empty.
    pub empty: bool,
}

/// How the lab itself looks whether a case's work was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// The target must not change.
    #[default]
    Reads,
    /// Every operation must open the target once.
    Opens,
    /// The target must have changed by just this much.
    Writes,
}

/// What one operation of a writing case leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Writes {
    /// Rows added.
    pub rows: u64,
    /// Transactions committed.
    pub transactions: u64,
    /// Changes of the schema committed: tables created or dropped.
    #[serde(default)]
    pub schema_changes: u64,
}

/// A case with one value for its sweep and for each of its factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Index into [`Plan::cases`].
    pub case: usize,
    /// Sweep and factors: the arguments that `open` gets, in the experiment's order.
    pub params: Vec<(String, String)>,
    /// The sweep's value, where the case has a sweep.
    pub x: Option<f64>,
    /// What an operation of a writing case leaves behind.
    pub writes: Writes,
}

/// How a run measures and when it stops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Mirrored pairs of passes in a block; a pass is one batch of every subject.
    pub pairs: u32,
    /// The wanted length of a batch.
    pub turn_ns: u64,
    /// The wanted length of a point's part of a block: fewer pairs are measured, at least one, where
    /// all of them would take longer.
    #[serde(default)]
    pub block_ns: Option<u64>,
    /// Blocks begin as long as they are expected to end within this time; `None`: no limit.
    pub budget_ns: Option<u64>,
    /// The budget ends no run that has fewer blocks than its level needs.
    #[serde(default)]
    pub at_least_level: bool,
    /// No more blocks than this.
    pub max_blocks: u32,
    /// Numbers of blocks after which the run looks whether it may stop, ascending.
    pub looks: Vec<u32>,
    /// 1 - the level of the intervals, for the whole run: 0.05.
    pub alpha: f64,
    /// Ratios within 1 ± margin count as equivalent: 0.02.
    pub margin: f64,
    /// Stop when every ratio's interval is within ± this.
    pub precision: Option<f64>,
    /// The verdicts are for a gate, which has to know whether a subject that is slower is so by more
    /// than the margin: a difference that is only small but real does not end the run.
    #[serde(default)]
    pub gate: bool,
    /// A subject that takes longer for one reply has failed.
    pub time_limit_ns: u64,
    /// The most batches that the pilot and the warm-up of a block spend on one subject and point.
    pub max_warmup: u32,
}

/// Settings that subjects read back, and what they must agree on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Settings that must be equal to the baseline's, or the subject is not compared.
    pub equal: Vec<String>,
    /// Settings that are reported where they differ.
    pub conditions: Vec<String>,
}

impl Plan {
    /// The case of a point.
    pub fn case(&self, point: PointId) -> &Case {
        &self.cases[self.points[point].case]
    }

    /// A point in words: `select limit=100 statement=text`; of whole commands, whose only case goes
    /// without saying, its parameters, where it has some.
    pub fn label(&self, point: PointId) -> String {
        let case = &self.case(point).name;
        let params = &self.points[point].params;
        let named = self.commands.is_none() || params.is_empty();
        let words = named.then(|| case.clone()).into_iter();
        words
            .chain(params.iter().map(|(key, value)| format!("{key}={value}")))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The subject that shows what starting a process costs, or what a shell does: of those that
    /// show an overhead, the one whose program has no arguments, or the one whose program has some.
    pub fn start_cost(&self, shell: bool) -> Option<SubjectId> {
        self.subjects
            .iter()
            .position(|s| s.overhead && (s.program.len() > 1) == shell)
    }

    /// The subjects that are compared: not those that repeat the baseline or show an overhead.
    pub fn compared(&self) -> impl Iterator<Item = SubjectId> {
        let subjects = self.subjects.iter().enumerate();
        subjects
            .filter(|(_, s)| s.control_of.is_none() && !s.overhead)
            .map(|(id, _)| id)
    }

    /// Whether it compares revisions, whose folders are gone after the run.
    pub fn of_revisions(&self) -> bool {
        let revision = |s: &Subject| s.command.as_ref().is_some_and(|c| c.revision.is_some());
        self.subjects.iter().any(revision)
    }

    /// The subject that is a second copy of the baseline, if there is one.
    pub fn control(&self) -> Option<SubjectId> {
        self.subjects
            .iter()
            .position(|s| s.control_of == Some(self.baseline))
    }
}

impl Point {
    /// The factors alone: its parameters without the sweep's.
    pub fn factors<'a>(&'a self, case: &'a Case) -> impl Iterator<Item = &'a (String, String)> {
        self.params
            .iter()
            .filter(move |(key, _)| case.sweep.as_ref() != Some(key))
    }
}

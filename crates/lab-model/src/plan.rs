// SPDX-License-Identifier: Apache-2.0
//! The plan of a run: subjects, cases with their points, and the way of measuring.

use crate::{LINK, Load, Metric, Pilot, PointId, PointLoad, Serving, Shape, SubjectId, TargetId};
use serde::{Deserialize, Serialize};

/// The parameter that names the faults which the lab makes.
pub const FAULT: &str = "fault";

/// A validated experiment with everything selected and decided: what a run carries out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's folder name, such as `sql`.
    pub experiment: String,
    /// Its title for people.
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// The subjects, including the baseline and the control.
    pub subjects: Vec<Subject>,
    /// The subject that the others are compared with, on the first target; see [`Plan::baseline_on`].
    pub baseline: SubjectId,
    /// The work, in the experiment's order.
    pub cases: Vec<Case>,
    /// Every case with every selected value of its sweep and factors.
    pub points: Vec<Point>,
    /// How it is measured.
    pub measure: Measure,
    /// Facts that all subjects must have in common, on any target.
    pub proof: Proof,
    /// The targets: each point is on one of them. Empty if the subjects need none.
    pub targets: Vec<Target>,
    /// Where the inputs and the order of turns come from.
    pub seed: u64,
    /// The kind of work.
    pub work: Work,
}

/// The kind of work that a plan's subjects do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Programs that speak the subject protocol and do batches.
    #[default]
    Batches,
    /// Whole commands, each batch of which is one process.
    Commands(Commands),
    /// Servers that were there, on which load is put.
    Load(Load),
    /// Servers that the lab starts and puts load on.
    Servers(Servers),
}

/// Servers that the lab starts, and the load that it puts on them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Servers {
    /// How load is put on; at which points how much, the points say.
    pub load: Load,
    /// The requests and the required responses.
    pub serving: Serving,
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
    /// The only statuses besides 0 that a run may end with; empty: with `ignore_failure`, any.
    #[serde(default)]
    pub expected_statuses: Vec<i32>,
    /// Where the commands run; `None`: the pilot finds out.
    pub cores: Option<Cores>,
}

impl Commands {
    /// True if a run that ended with this exit status counts.
    pub fn accepts(&self, status: i32) -> bool {
        let is_named =
            || self.expected_statuses.is_empty() || self.expected_statuses.contains(&status);
        status == 0 || self.ignore_failure && is_named()
    }
}

/// Where work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cores {
    /// All on the same core, another one in each block.
    #[default]
    One,
    /// Wherever the system puts it: for what does several things at once.
    All,
}

/// A target of the subjects' work, created by the lab before each `open`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The kind of target.
    pub kind: TargetKind,
    /// The statement that creates its table.
    pub table: String,
    /// How many rows it holds, for cases that do not begin with an empty table.
    pub rows: u64,
    /// The statement that creates its table of many types, where it has one.
    pub mixed: Option<String>,
    /// The statement that creates the table `effect (batch, call)`, where calls leave their effects.
    #[serde(default)]
    pub effects: Option<String>,
    /// The faults that the lab makes on it, by name.
    #[serde(default)]
    pub injections: Vec<(String, Injection)>,
    /// Properties of its links, by name.
    #[serde(default)]
    pub shapes: Vec<(String, Shape)>,
    /// The query with which subjects read their settings back, on a server.
    pub settings: Option<String>,
    /// Facts that subjects on it must have in common, in addition to [`Plan::proof`].
    pub proof: Proof,
    /// Settings of a server that differ from its defaults because the reader wants it so.
    pub set: Vec<(String, String)>,
    /// The server is the reader's own.
    pub external: bool,
}

/// Faults that the lab makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Injection {
    /// The target fails by itself, as these statements say: such as a trigger.
    Statements(Vec<String>),
    /// The server ends one of the subject's connections so many times a second.
    CutsPerS(f64),
    /// The fraction of COMMITs that get no response: the connection is closed.
    LostAnswers(f64),
    /// In each measured batch the server is killed, and started again after so many seconds; a file is locked for as
    /// long.
    OutageS(f64),
    /// Another connection takes a file's write lock, so often that it fails this part of the calls.
    Busy {
        /// Above 0, at most 1.
        part: f64,
        /// Seconds for which it holds the lock: longer than calls wait for it.
        lock_s: f64,
    },
}

/// Kinds of target.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A fresh SQLite database file for each visit.
    #[default]
    Sqlite,
    /// A PostgreSQL server.
    Postgresql,
    /// A MariaDB server.
    Mariadb,
    /// A private folder, made once for a run, in each place that is measured.
    Folder,
    /// A link with a rate and a delay between the subject's client and its server.
    Link,
}

impl TargetKind {
    /// All of them.
    pub const ALL: [TargetKind; 5] = [
        TargetKind::Sqlite,
        TargetKind::Postgresql,
        TargetKind::Mariadb,
        TargetKind::Folder,
        TargetKind::Link,
    ];

    /// As it is written in experiments and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::Sqlite => "sqlite",
            TargetKind::Postgresql => "postgresql",
            TargetKind::Mariadb => "mariadb",
            TargetKind::Folder => "folder",
            TargetKind::Link => "link",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            TargetKind::Sqlite => "SQLite",
            TargetKind::Postgresql => "PostgreSQL",
            TargetKind::Mariadb => "MariaDB",
            TargetKind::Folder => "folder",
            TargetKind::Link => "link",
        }
    }

    /// True if it holds tables.
    pub fn is_database(self) -> bool {
        !matches!(self, TargetKind::Folder | TargetKind::Link)
    }

    /// True for a service: a server that runs next to the subjects.
    pub fn is_service(self) -> bool {
        matches!(self, TargetKind::Postgresql | TargetKind::Mariadb)
    }
}

/// One implementation under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Its name, such as `ada`; unique among the subjects of its target.
    pub name: String,
    /// The language that it is written in, for people.
    pub language: String,
    /// The driver or library that it shows.
    pub driver: String,
    /// How it prepares statements, in words.
    pub statements: String,
    /// It shows what the machine allows: the floor that others are read against.
    pub reference: bool,
    /// The subject that this one is a second copy of, to show the run's own noise.
    pub control_of: Option<SubjectId>,
    /// Program and arguments, started in the project's folder; those of a whole command may hold
    /// the names of parameters in braces, such as `{n}`.
    pub program: Vec<String>,
    /// A file that its build writes and that the report shows, in the project's folder.
    #[serde(default)]
    pub listing: Option<String>,
    /// The subject is a whole command.
    pub command: Option<Command>,
    /// The target of the work.
    pub target: TargetId,
    /// Where the private folder is made that it works in.
    #[serde(default)]
    pub place: Option<String>,
    /// The name that the experiment has for it, where it is measured in several places under their names.
    #[serde(default)]
    pub origin: Option<String>,
    /// Settings of the host that the lab makes for its turns, by name, such as `queue.scheduler`.
    #[serde(default)]
    pub host: Vec<(String, String)>,
    /// The cases that it is for; empty: all.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Parameters that it cannot do, such as `transport=unix`: it has no part in their points.
    pub without: Vec<(String, String)>,
    /// It shows what starting a process costs (a program without arguments that does nothing) or a
    /// shell (with arguments); it is not compared.
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
    pub revision: Option<String>,
    /// The folders of all its builds, [`Command::folder`] the first; empty: there is one.
    #[serde(default)]
    pub builds: Vec<String>,
    /// Run once before the first process: program and arguments.
    pub setup: Option<Vec<String>>,
    /// Run before each process, untimed.
    pub prepare: Option<Vec<String>>,
    /// Run once after the last process.
    pub cleanup: Option<Vec<String>>,
}

/// One piece of work, the same for every subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique name, such as `select`.
    pub name: String,
    /// The work of one operation, in words.
    pub work: String,
    /// The unit of `units`, such as `row`.
    pub unit: String,
    /// The name of the swept parameter.
    pub sweep: Option<String>,
    /// How the lab itself looks whether the work was done.
    pub check: Check,
    /// The target begins empty.
    pub empty: bool,
    /// Where it is done; `all`: several operations at once.
    pub cores: Cores,
    /// Subjects tell the latency of each operation.
    pub latencies: bool,
    /// Subjects do not do the same work, each by its own rules: they are not compared.
    #[serde(default)]
    pub uncompared: bool,
    /// Metrics that subjects report in addition.
    pub metrics: Vec<Metric>,
    /// The wanted length of a batch, where it is not [`Measure::turn_ns`].
    pub turn_ns: Option<u64>,
    /// Operations are due at so many a second, whatever becomes of those before: latencies are compared, not time.
    #[serde(default)]
    pub rate: Option<u64>,
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
    /// Calls may fail: those that are lost or applied twice are counted.
    Effects,
}

/// The rows that one operation of a writing case leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Writes {
    /// Rows added.
    pub rows: u64,
    /// Transactions committed.
    pub transactions: u64,
    /// Changes of the schema committed: tables created or dropped.
    pub schema_changes: u64,
}

/// A case with one value for its sweep and for each of its factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Index into [`Plan::cases`].
    pub case: usize,
    /// The target of the work.
    pub target: TargetId,
    /// Sweep and factors: the arguments that `open` gets, in the experiment's order.
    pub params: Vec<(String, String)>,
    /// The sweep's value, where the case has a sweep.
    pub x: Option<f64>,
    /// The load that is put on a server here, as the parameters say; `None`: none is.
    pub load: Option<PointLoad>,
    /// The rows that an operation of a writing case leaves behind.
    pub writes: Writes,
    /// Statements that a server executes for an operation, by their first word in small letters; apart from
    /// these and `begin`, none may reach it. Empty: not checked.
    pub statements: Vec<(String, u64)>,
    /// Rows of its tables that a server reads for an operation.
    pub reads: u64,
}

/// How a run measures and when it stops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Mirrored pairs of passes in a block; a pass is one batch of every subject.
    pub pairs: u32,
    /// The wanted length of a batch.
    pub turn_ns: u64,
    /// The wanted length of a block, of which each point gets an equal part: fewer pairs are measured, but at
    /// least one, where all of them would take longer.
    pub block_ns: Option<u64>,
    /// Blocks begin as long as they are expected to end within this time; `None`: no limit.
    pub budget_ns: Option<u64>,
    /// The budget ends no run that has fewer blocks than its level needs.
    pub at_least_level: bool,
    /// A run that would not have all its blocks within its budget ends after so many: intervals of a few more are wider.
    pub few_blocks: Option<u32>,
    /// No more blocks than this.
    pub max_blocks: u32,
    /// A block or a turn that others disturbed is measured again at most so often.
    pub redo: u32,
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
    pub gate: bool,
    /// A subject that takes longer for one reply has failed.
    pub time_limit_ns: u64,
    /// The most batches that the pilot and the warm-up of a block spend on one subject and point.
    pub max_warmup: u32,
    /// The longest warm-up of a block for one subject and point, ns, so that operations of a tenth of a second do not take
    /// minutes.
    #[serde(default = "earlier_max_warm_up_ns")]
    pub max_warm_up_ns: u64,
    /// Where processes may serve several blocks, a run ends after so many sets of processes; `None`: processes serve one
    /// block each.
    #[serde(default)]
    pub max_process_sets: Option<u32>,
    /// Servers are compared when each has served so many requests, steady or not; `None`: when they are steady.
    #[serde(default)]
    pub age: Option<u64>,
}

/// That of plans which do not say.
fn earlier_max_warm_up_ns() -> u64 {
    300_000_000
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
    /// How whole commands are run, if the subjects are such.
    pub fn commands(&self) -> Option<&Commands> {
        match &self.work {
            Work::Commands(commands) => Some(commands),
            Work::Batches | Work::Load(_) | Work::Servers(_) => None,
        }
    }

    /// The load that is put on servers, if it is.
    pub fn load(&self) -> Option<&Load> {
        match &self.work {
            Work::Load(load) => Some(load),
            Work::Servers(servers) => Some(&servers.load),
            Work::Batches | Work::Commands(_) => None,
        }
    }

    /// The load, to change it.
    pub fn load_mut(&mut self) -> Option<&mut Load> {
        match &mut self.work {
            Work::Load(load) => Some(load),
            Work::Servers(servers) => Some(&mut servers.load),
            Work::Batches | Work::Commands(_) => None,
        }
    }

    /// The requests and responses, if the lab starts the subjects as servers.
    pub fn serving(&self) -> Option<&Serving> {
        match &self.work {
            Work::Servers(servers) => Some(&servers.serving),
            Work::Batches | Work::Commands(_) | Work::Load(_) => None,
        }
    }

    /// The target of each point.
    pub fn point_targets(&self) -> Vec<TargetId> {
        self.points.iter().map(|p| p.target).collect()
    }

    /// The wanted length of a batch at a point.
    pub fn turn_ns(&self, point: PointId) -> u64 {
        let of_case = self.case(point).turn_ns;
        of_case.unwrap_or(self.measure.turn_ns)
    }

    /// The operations of a batch at a point, where their rate is fixed.
    pub fn fixed_operations(&self, point: PointId) -> Option<u64> {
        let rate = self.case(point).rate?;
        let operations = self.turn_ns(point).saturating_mul(rate) / 1_000_000_000;
        Some(operations.max(1))
    }

    /// The longest time, ns, that the batches of a pilot at a point take together, where the run's budget allows it.
    pub fn longest_pilot_ns(&self, point: PointId) -> u64 {
        let all_ns = u64::from(self.measure.max_warmup) * self.measure.turn_ns;
        // Where turns are long because their operations run at once.
        let is_long = self.turn_ns(point) > self.measure.turn_ns;
        if is_long { all_ns / 4 } else { all_ns }
    }

    /// The fewest batches of the pilot of a subject whose helper threads compile.
    pub fn min_pilot_with_helpers(&self) -> usize {
        Pilot::FIRST_LOOK_WITH_HELPERS.min(self.measure.max_warmup as usize)
    }

    /// The metric that answers the question of a run of batches: the time of an operation, or its 99th
    /// percentile where operations are due at a fixed rate.
    pub fn answer(&self) -> &'static Metric {
        static ANSWERS: [Metric; 2] = [Metric::WALL, Metric::P99];
        let at_a_rate = self.cases.iter().any(|case| case.rate.is_some());
        &ANSWERS[usize::from(at_a_rate)]
    }

    /// The mirrored pairs of passes over a point in every block, of which each takes so long: as many as
    /// fit into the point's part of the block.
    pub fn pairs(&self, pair_ns: u64) -> u32 {
        let Some(block_ns) = self.measure.block_ns else {
            return self.measure.pairs;
        };
        let part_ns = block_ns / self.points.len().max(1) as u64;
        let fitting = (part_ns / pair_ns.max(1)).min(u64::from(self.measure.pairs)) as u32;
        fitting.max(1)
    }

    /// The faults that the lab makes at a point: those that its parameter `fault` names.
    pub fn injection(&self, point: PointId) -> Option<&Injection> {
        let point = &self.points[point];
        let fault = point.param(FAULT)?;
        let mut injections = self.targets.get(point.target)?.injections.iter();
        Some(&injections.find(|(name, _)| name == fault)?.1)
    }

    /// The properties of the link at a point, which its parameter `link` names.
    pub fn shape(&self, point: PointId) -> Option<&Shape> {
        let point = &self.points[point];
        let link = point.param(LINK)?;
        let mut shapes = self.targets.get(point.target)?.shapes.iter();
        Some(&shapes.find(|(name, _)| name == link)?.1)
    }

    /// The case of a point.
    pub fn case(&self, point: PointId) -> &Case {
        &self.cases[self.points[point].case]
    }

    /// A point in words: `select limit=100 statement=text`, behind the target's name where there are
    /// several; of whole commands and of load, whose only case goes without saying, its parameters,
    /// where it has some.
    pub fn label(&self, point: PointId) -> String {
        let case = &self.case(point).name;
        let Point { params, target, .. } = &self.points[point];
        let named = !self.has_one_case() || params.is_empty();
        let words = self
            .target_named(*target)
            .map(|kind| kind.name().to_owned());
        words
            .into_iter()
            .chain(named.then(|| case.clone()))
            .chain(params.iter().map(|(key, value)| format!("{key}={value}")))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// True if its only case needs no name: for whole commands, and for load on running servers.
    pub fn has_one_case(&self) -> bool {
        matches!(self.work, Work::Commands(_) | Work::Load(_))
    }

    /// A subject in words: `python`, or `python on mariadb` where there are several targets.
    pub fn subject_label(&self, subject: SubjectId) -> String {
        let subject = &self.subjects[subject];
        match self.target_named(subject.target) {
            Some(kind) => format!("{} on {}", subject.name, kind.name()),
            None => subject.name.clone(),
        }
    }

    /// A target's kind, if it does not go without saying.
    fn target_named(&self, target: TargetId) -> Option<TargetKind> {
        let several = self.targets.len() > 1;
        self.targets.get(target).filter(|_| several).map(|t| t.kind)
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

    /// True if it compares revisions, whose directories are removed after the run.
    pub fn of_revisions(&self) -> bool {
        let revision = |s: &Subject| s.command.as_ref().is_some_and(|c| c.revision.is_some());
        self.subjects.iter().any(revision)
    }

    /// How many builds each revision has, which take blocks in turns; 1 where nothing else was asked for.
    pub fn builds(&self) -> usize {
        let commands = self.subjects.iter().filter_map(|s| s.command.as_ref());
        commands.map(|c| c.builds.len()).max().unwrap_or(0).max(1)
    }

    /// The subject that is a second copy of the baseline, if there is one.
    pub fn control(&self) -> Option<SubjectId> {
        self.subjects
            .iter()
            .position(|s| s.control_of == Some(self.baseline))
    }

    /// True if a subject takes part in a point: it works on the point's target, is for its case, and supports
    /// its parameters.
    pub fn takes_part(&self, subject: SubjectId, point: PointId) -> bool {
        let (subject, case) = (&self.subjects[subject], self.case(point));
        let point = &self.points[point];
        let for_case = subject.cases.is_empty() || subject.cases.contains(&case.name);
        let can = !point.params.iter().any(|p| subject.without.contains(p));
        subject.target == point.target && for_case && can
    }

    /// The subject that the others on a target are compared with: the one with the name of
    /// [`Plan::baseline`], or else the target's first.
    pub fn baseline_on(&self, target: TargetId) -> SubjectId {
        let on_target = |s: &&(usize, &Subject)| s.1.target == target;
        let subjects: Vec<_> = self.subjects.iter().enumerate().collect();
        let mut on_target = subjects.iter().filter(on_target);
        let name = &self.subjects[self.baseline].name;
        let named = on_target.clone().find(|(_, s)| s.name == *name);
        named
            .or(on_target.next())
            .map_or(self.baseline, |(id, _)| *id)
    }

    /// The arguments that every `open` of a point gets, besides the case's parameters and the
    /// target itself.
    pub fn open_args(&self, point: PointId) -> Vec<(&'static str, String)> {
        let target = self.targets.get(self.points[point].target);
        let Some(target) = target.filter(|target| target.kind.is_database()) else {
            let shape = self.shape(point).into_iter();
            return shape
                .map(|shape| ("packet", shape.payload().to_string()))
                .collect();
        };
        let mut args = vec![
            ("rows", target.rows.to_string()),
            ("table", target.table.clone()),
        ];
        args.extend(target.settings.clone().map(|query| ("settings", query)));
        args
    }
}

impl Point {
    /// The value of a parameter, if the point has it.
    pub fn param(&self, key: &str) -> Option<&str> {
        let mut params = self.params.iter();
        params
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// The factors alone: its parameters without the sweep's.
    pub fn factors<'a>(&'a self, case: &'a Case) -> impl Iterator<Item = &'a (String, String)> {
        self.params
            .iter()
            .filter(move |(key, _)| case.sweep.as_ref() != Some(key))
    }
}

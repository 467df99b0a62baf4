// SPDX-License-Identifier: Apache-2.0
//! The plan of a run: subjects, cases with their points, and the settings for measuring.

use crate::{
    CaseId, Fixture, FixtureState, IdVec, LoadSpec, Metric, OnInconclusive, Pilot, Placeholder,
    PointId, PointLoad, Selector, Serving, SqlSetup, SqlWork, SqlWorkload, SubjectId, TargetId,
    TargetKind,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The name of the parameter that selects the faults to inject.
pub const FAULT: &str = "fault";

/// The case that subjects open for the user's own SQL.
pub const OWN: &str = "own";

/// The value of the parameter `fault` that injects no fault.
pub const NO_FAULT: &str = "none";

/// A validated experiment with all selections and settings applied: the input of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the experiment's directory, such as `sql`.
    pub experiment: String,
    /// The display title.
    pub title: String,
    /// The question that the experiment answers.
    pub question: String,
    /// The subjects, including the baseline and the control.
    pub subjects: IdVec<SubjectId, Subject>,
    /// The baseline on the first target: the subject with which the other subjects are compared.
    /// For other targets, see [`Plan::baseline_for`].
    pub baseline: SubjectId,
    /// The cases, in the order of the experiment's file.
    pub cases: IdVec<CaseId, Case>,
    /// Every combination of a case with the selected values of its sweep and factors.
    pub points: IdVec<PointId, Point>,
    /// The settings for measuring.
    pub measure: Measure,
    /// Settings that must be equal for all subjects on all targets.
    pub proof: Proof,
    /// The targets. Each point belongs to one target. Empty if the subjects need no targets.
    pub targets: IdVec<TargetId, Target>,
    /// The fixtures: helper programs that change the subjects' environment.
    #[serde(default)]
    pub fixtures: Vec<Fixture>,
    /// The seed for the inputs and the order of turns.
    pub seed: u64,
    /// The kind of work.
    pub work: Work,
    /// The user's own SQL that the subjects run instead of the experiment's cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<SqlWorkload>,
    /// The hosts that measure the blocks. `None` means this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<PlannedHosts>,
}

/// The hosts that measure an experiment's blocks, and their settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedHosts {
    /// The launcher of the hosts' agents, such as `ssh:HOST,HOST`.
    pub launcher: String,
    /// The silence in ns after which an agent counts as lost. `None` means the default.
    pub lost_after_ns: Option<u64>,
    /// The directory for databases on each host. `None` means the default.
    pub scratch: Option<PathBuf>,
    /// True if every host must be fit for measuring, and if the loss of a host ends the run.
    pub strict: bool,
}

/// The kind of work that a plan's subjects do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Programs that implement the subject protocol and run batches.
    #[default]
    Batches,
    /// Whole commands. Each batch is one process.
    Commands(Commands),
    /// Servers that are already running and on which benchlab generates load.
    Load(LoadSpec),
    /// Servers that benchlab starts and on which it generates load.
    Servers(Servers),
}

/// Servers that benchlab starts, and the load on them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Servers {
    /// The settings of the load. The amount of load is defined at each point.
    pub load: LoadSpec,
    /// The requests and the required responses.
    pub serving: Serving,
}

/// The settings for running whole commands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commands {
    /// The file that every command reads from its standard input. `None` means `/dev/null`.
    pub input: Option<String>,
    /// True if the standard output of every run must equal the standard output of the baseline.
    pub same_output: bool,
    /// True if a run of a command with a nonzero exit status counts like any other run.
    pub ignore_failure: bool,
    /// The nonzero exit statuses that `ignore_failure` allows. Empty allows any status.
    #[serde(default)]
    pub expected_statuses: Vec<i32>,
    /// The cores for the commands. `None` means that the pilot chooses them.
    pub cores: Option<Cores>,
    /// The first line of each commit's message, in the order of the subjects, if the command runs
    /// in all commits of a range. Empty otherwise.
    #[serde(default)]
    pub commit_messages: Vec<String>,
    /// True if a gate judges the instructions that Valgrind counts after the measurement.
    #[serde(default)]
    pub gate_on_instructions: bool,
}

impl Commands {
    /// Returns true if a run of a command with the exit status `status` counts.
    pub fn accepts(&self, status: i32) -> bool {
        let is_named =
            || self.expected_statuses.is_empty() || self.expected_statuses.contains(&status);
        status == 0 || self.ignore_failure && is_named()
    }
}

/// The cores on which the work runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cores {
    /// One core for all work. The core changes from block to block.
    #[default]
    One,
    /// The cores that the system chooses, for work with concurrent operations.
    All,
}

/// A target on which the subjects work. benchlab creates it before each `open`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The kind of target.
    pub kind: TargetKind,
    /// The statement that creates the target's table.
    pub table: String,
    /// The number of rows in the table, for cases that do not start with an empty table.
    pub rows: u64,
    /// The statement that creates the table with columns of many types, if the target has one.
    pub mixed: Option<String>,
    /// The statement that creates the table `effect (batch, call)`, in which calls record their
    /// effects.
    #[serde(default)]
    pub effects: Option<String>,
    /// Statements that make calls fail, by the value of the parameter `fault`.
    #[serde(default)]
    pub faults: Vec<(String, Vec<String>)>,
    /// The query that subjects use to read back their settings, if the target is a server.
    pub settings: Option<String>,
    /// Settings that must be equal for subjects on this target, in addition to [`Plan::proof`].
    pub proof: Proof,
    /// Server settings that the user changed from the defaults.
    pub set: Vec<(String, String)>,
    /// True if the user provides the server.
    pub external: bool,
    /// The schema and the data of the user's workload, which replace the tables of the experiment.
    #[serde(skip)]
    pub setup: Option<SqlSetup>,
}

/// One implementation under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The subject's name, such as `ada`. It is unique among the subjects of its target.
    pub name: String,
    /// The display name of the programming language.
    pub language: String,
    /// The driver or library that the subject demonstrates.
    pub driver: String,
    /// A description of how the subject prepares statements.
    pub statements: String,
    /// True if the subject is a reference, which shows what the machine can do.
    pub reference: bool,
    /// The baseline, if this subject is its second copy, which shows the noise of the run.
    pub control_of: Option<SubjectId>,
    /// The program and its arguments, started in the project's directory.
    ///
    /// The arguments of a whole command may contain parameter names in braces, such as `{n}`.
    pub program: Vec<String>,
    /// A file in the project's directory that the subject's build writes and that the report shows.
    #[serde(default)]
    pub listing: Option<String>,
    /// The command, if the subject is a whole command.
    pub command: Option<Command>,
    /// The target on which the subject works.
    pub target: TargetId,
    /// The directory in which the subject's private working directory is created.
    #[serde(default)]
    pub place: Option<String>,
    /// The subject's name in the experiment, if it is measured in multiple directories and each
    /// copy is named after its directory.
    #[serde(default)]
    pub origin: Option<String>,
    /// The subject's cases. Empty means all cases.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Parameters that the subject does not support, such as `transport=unix`. The subject is not
    /// measured at points with any of these parameters.
    pub without: Vec<(String, String)>,
    /// The driver's syntax of parameters, if it differs from the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<Placeholder>,
    /// True if the subject measures the overhead of starting a process or a shell, and is therefore
    /// not compared.
    ///
    /// To measure the start of a process, the program does nothing and has no arguments. To measure
    /// a shell, the program has arguments.
    pub overhead: bool,
}

/// A whole command, as specified by the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The command line.
    pub line: String,
    /// True if a shell runs the command, because the command line uses shell syntax.
    pub shell: bool,
    /// The working directory. `None` means the directory in which benchlab was started.
    pub folder: Option<String>,
    /// The commit that is checked out in the working directory.
    pub revision: Option<String>,
    /// The directories of all builds of the revision, starting with [`Command::folder`]. Empty if
    /// there is only one build.
    #[serde(default)]
    pub builds: Vec<String>,
    /// The program and arguments to run once before the first process.
    pub setup: Option<Vec<String>>,
    /// The program and arguments to run before each process, untimed.
    pub prepare: Option<Vec<String>>,
    /// The program and arguments to run once after the last process.
    pub cleanup: Option<Vec<String>>,
}

/// A unit of work, the same for every subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The unique name, such as `select`.
    pub name: String,
    /// A description of the work of one operation.
    pub work: String,
    /// The unit in which subjects count their output, such as `row`.
    pub unit: String,
    /// The name of the swept parameter.
    pub sweep: Option<String>,
    /// The check with which benchlab verifies that the work was done.
    pub check: Check,
    /// True if the case starts with an empty table.
    pub empty: bool,
    /// The cores on which the case runs. With `all`, multiple operations run concurrently.
    pub cores: Cores,
    /// True if subjects report the latency of each operation.
    pub latencies: bool,
    /// True if subjects do different work by design and are therefore not compared.
    #[serde(default)]
    pub uncompared: bool,
    /// Additional metrics that subjects or fixtures report.
    pub metrics: Vec<Metric>,
    /// The names of the metrics that fixtures report.
    #[serde(default)]
    pub observed: Vec<String>,
    /// The target length of a batch, if it differs from [`Measure::turn_ns`].
    pub turn_ns: Option<u64>,
    /// The rate in operations per second, if operations are due on a fixed schedule regardless of
    /// earlier operations.
    ///
    /// In this case, latencies are compared instead of times.
    #[serde(default)]
    pub rate: Option<u64>,
}

/// The check with which benchlab verifies that a case's work was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Subjects must not change the target.
    #[default]
    Reads,
    /// Every operation must open the target exactly once.
    Opens,
    /// Subjects must change the target by exactly the expected amount.
    Writes,
    /// Calls may fail. benchlab counts the calls that are lost or applied twice.
    Effects,
}

/// The changes that one operation of a writing case makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Writes {
    /// The number of rows added.
    pub rows: u64,
    /// The number of transactions committed.
    pub transactions: u64,
    /// The number of schema changes committed: tables created or dropped.
    pub schema_changes: u64,
}

/// A case with one value of its sweep and one value of each factor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The index of the case in [`Plan::cases`].
    pub case: CaseId,
    /// The target on which the work is done.
    pub target: TargetId,
    /// The values of the sweep and the factors, in the experiment's order. They are the arguments
    /// of `open`.
    pub params: Vec<(String, String)>,
    /// The sweep's value, if the case has a sweep.
    pub x: Option<f64>,
    /// The load on a server at this point, as defined by the parameters. `None` means no load.
    pub load: Option<PointLoad>,
    /// The changes that one operation of a writing case makes.
    pub writes: Writes,
    /// The number of statements that a server executes per operation, by the lowercase first word
    /// of the statement. Empty means that benchlab does not check the statements.
    ///
    /// Apart from `begin`, no other statement may reach the server.
    pub statements: Vec<(String, u64)>,
    /// The number of table rows that a server reads per operation.
    pub reads: u64,
    /// The user's own statements, if the point belongs to a workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<SqlWork>,
}

/// The settings that define how a run measures and when it stops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The number of mirrored pairs of passes per block. A pass is one batch of every subject.
    pub pairs: u32,
    /// The target length of a batch, in ns.
    pub turn_ns: u64,
    /// The target length of a block in ns, divided equally among the points.
    ///
    /// If all pairs would take longer, fewer pairs are measured, but at least one.
    pub block_ns: Option<u64>,
    /// The time limit in ns. A block starts only if it is expected to finish within this time.
    /// `None` means no limit.
    pub budget_ns: Option<u64>,
    /// True if a run continues beyond the budget until it has the number of blocks that its
    /// confidence level requires.
    pub at_least_level: bool,
    /// The number of blocks after which a run ends, unless all of its blocks would fit into the
    /// budget.
    ///
    /// A few more blocks would make the intervals wider, not narrower.
    pub few_blocks: Option<u32>,
    /// The maximum number of blocks.
    pub max_blocks: u32,
    /// The maximum number of times that a disturbed block or turn is measured again.
    pub redo: u32,
    /// The numbers of blocks, ascending, after which an interim analysis decides whether the run
    /// stops.
    pub interim_analyses: Vec<u32>,
    /// 1 minus the confidence level of the intervals of the whole run, such as 0.05.
    pub alpha: f64,
    /// The equivalence margin, such as 0.02: ratios within 1 ± margin count as equivalent.
    pub margin: f64,
    /// The requested precision: the run stops once every ratio's interval is within ± this value.
    pub precision: Option<f64>,
    /// The conditions of `--fail-if` and `--gate`, such as `p99>20ms` or `time>+5%`.
    ///
    /// A run continues until the conditions on changes are decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<String>,
    /// The effect of an inconclusive gate.
    #[serde(default)]
    pub on_inconclusive: OnInconclusive,
    /// The time limit for a reply, in ns. A subject that exceeds it has failed.
    pub time_limit_ns: u64,
    /// The maximum number of batches for one subject at one point, in the pilot and in the warm-up
    /// of a block.
    pub max_warmup: u32,
    /// The maximum duration of a block's warm-up for one subject at one point, in ns.
    ///
    /// Without this limit, operations that take a tenth of a second would warm up for minutes.
    #[serde(default = "earlier_max_warm_up_ns")]
    pub max_warm_up_ns: u64,
    /// The number of process sets after which a run ends, if processes may serve multiple blocks.
    ///
    /// `None` means that processes serve one block each.
    #[serde(default)]
    pub max_process_sets: Option<u32>,
    /// The number of requests after which servers are compared, even if they are not steady. `None`
    /// means that servers are compared at their steady level.
    #[serde(default)]
    pub age: Option<u64>,
}

/// The parameters that define how many operations run concurrently.
const WORKERS: [&str; 3] = ["threads", "clients", "connections"];

/// Returns the maximum warm-up for plans of earlier versions, which do not contain this setting.
fn earlier_max_warm_up_ns() -> u64 {
    300_000_000
}

/// Settings that subjects read back, and the requirements that the settings must meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Settings that must equal the baseline's settings. A subject with another value is not
    /// compared.
    pub equal: Vec<String>,
    /// Settings that the report lists if they differ.
    pub conditions: Vec<String>,
}

impl Plan {
    /// Returns the settings for running whole commands, if the subjects are commands.
    pub fn commands(&self) -> Option<&Commands> {
        match &self.work {
            Work::Commands(commands) => Some(commands),
            Work::Batches | Work::Load(_) | Work::Servers(_) => None,
        }
    }

    /// Returns the load on servers, if the plan has a load.
    pub fn load(&self) -> Option<&LoadSpec> {
        match &self.work {
            Work::Load(load) => Some(load),
            Work::Servers(servers) => Some(&servers.load),
            Work::Batches | Work::Commands(_) => None,
        }
    }

    /// Returns a mutable reference to the load on servers, if the plan has a load.
    pub fn load_mut(&mut self) -> Option<&mut LoadSpec> {
        match &mut self.work {
            Work::Load(load) => Some(load),
            Work::Servers(servers) => Some(&mut servers.load),
            Work::Batches | Work::Commands(_) => None,
        }
    }

    /// Returns true if the plan has only one server and one point, so that the load has no pauses.
    pub fn is_uninterrupted(&self) -> bool {
        self.points.len() * self.subjects.len() == 1
    }

    /// Returns true if a stopped run with this plan can be resumed, and its blocks can be measured
    /// again.
    ///
    /// If the rate changes during a load without pauses, the rest of the load alone would be a
    /// different load.
    pub fn can_resume(&self) -> bool {
        match &self.work {
            Work::Load(load) => !(self.is_uninterrupted() && load.arrivals.changes()),
            Work::Batches | Work::Commands(_) | Work::Servers(_) => true,
        }
    }

    /// Returns the requests and responses, if benchlab starts the subjects as servers.
    pub fn serving(&self) -> Option<&Serving> {
        match &self.work {
            Work::Servers(servers) => Some(&servers.serving),
            Work::Batches | Work::Commands(_) | Work::Load(_) => None,
        }
    }

    /// Returns the IDs of the targets. Without targets, returns the ID of the single implicit
    /// target.
    pub fn target_ids(&self) -> impl Iterator<Item = TargetId> + use<> {
        (0..self.targets.len().max(1)).map(TargetId::from_index)
    }

    /// Returns the target of each point.
    pub fn point_targets(&self) -> IdVec<PointId, TargetId> {
        self.points.iter().map(|p| p.target).collect()
    }

    /// Returns the target length of a batch at a point.
    pub fn turn_ns(&self, point: PointId) -> u64 {
        let of_case = self.case(point).turn_ns;
        of_case.unwrap_or(self.measure.turn_ns)
    }

    /// Returns the number of operations in a batch at a point, if operations are due at a fixed
    /// rate.
    pub fn fixed_operations(&self, point: PointId) -> Option<u64> {
        let rate = self.case(point).rate?;
        let operations = self.turn_ns(point).saturating_mul(rate) / 1_000_000_000;
        Some(operations.max(1))
    }

    /// Returns the maximum total time of a pilot's batches at a point, in ns. The run's budget can
    /// reduce it further.
    pub fn max_pilot_ns(&self, point: PointId) -> u64 {
        let all_ns = u64::from(self.measure.max_warmup) * self.measure.turn_ns;
        // Turns are long if their operations run concurrently.
        let is_long = self.turn_ns(point) > self.measure.turn_ns;
        if is_long { all_ns / 4 } else { all_ns }
    }

    /// Returns the minimum number of batches in the pilot of a subject with compiling helper
    /// threads.
    pub fn min_pilot_with_helpers(&self) -> usize {
        Pilot::MIN_BATCHES_WITH_HELPERS.min(self.measure.max_warmup as usize)
    }

    /// Returns the number of threads or connections that a subject uses at a point, as defined by
    /// its parameters (docs/protocol.md).
    pub fn workers(&self, point: PointId) -> usize {
        let parameters = WORKERS.iter();
        let values = parameters.filter_map(|key| self.points[point].param(key)?.parse().ok());
        values.max().unwrap_or(1)
    }

    /// Returns the main metric of a run of batches.
    ///
    /// This is the time of an operation, or the 99th percentile of its latency if operations are
    /// due at a fixed rate.
    pub fn main_metric(&self) -> &'static Metric {
        static MAIN_METRICS: [Metric; 2] = [Metric::WALL, Metric::P99];
        let at_a_rate = self.cases.iter().any(|case| case.rate.is_some());
        &MAIN_METRICS[usize::from(at_a_rate)]
    }

    /// Returns the number of mirrored pairs of passes over a point in a block, if each pair takes
    /// `pair_ns`.
    ///
    /// If blocks have a target length, this is the number of pairs that fit into the time that a
    /// block has for the point: at least 1 and at most [`Measure::pairs`].
    pub fn pairs(&self, pair_ns: u64) -> u32 {
        let Some(block_ns) = self.measure.block_ns else {
            return self.measure.pairs;
        };
        let part_ns = block_ns / self.points.len().max(1) as u64;
        let fitting = (part_ns / pair_ns.max(1)).min(u64::from(self.measure.pairs)) as u32;
        fitting.max(1)
    }

    /// Returns true if faults are injected at a point, as selected by the parameter `fault`.
    pub fn has_fault(&self, point: PointId) -> bool {
        let fault = self.points[point].param(FAULT);
        fault.is_some_and(|fault| fault != NO_FAULT)
    }

    /// Returns the statements that make the target of a point fail.
    pub fn fault_statements(&self, point: PointId) -> &[String] {
        let point = &self.points[point];
        let statements = || {
            let fault = point.param(FAULT)?;
            let mut faults = self.targets.get(point.target)?.faults.iter();
            Some(&faults.find(|(name, _)| name == fault)?.1[..])
        };
        statements().unwrap_or_default()
    }

    /// Returns true if the faults at a point affect operations independently of each other.
    pub fn has_independent_faults(&self, point: PointId) -> bool {
        self.fixtures.iter().all(|fixture| {
            let state = self.state_of_point(fixture, point);
            state.is_none_or(|state| fixture.independent.contains(&state.name))
        })
    }

    /// Returns the length of the outage during each measured batch at a point, in seconds.
    pub fn outage_s(&self, point: PointId) -> Option<f64> {
        let states = self.fixtures.iter();
        let mut states = states.filter_map(|fixture| self.state_of_point(fixture, point));
        states.find_map(FixtureState::outage_s)
    }

    /// Returns the state of a fixture that a subject selects. The second copy of the baseline
    /// selects the same state as the baseline.
    pub fn state_of_subject<'f>(
        &self,
        fixture: &'f Fixture,
        subject: SubjectId,
    ) -> Option<&'f FixtureState> {
        let subject = &self.subjects[subject];
        let original = subject.control_of.map(|original| &self.subjects[original]);
        let Subject { name, origin, .. } = original.unwrap_or(subject);
        let name = origin.as_ref().unwrap_or(name);
        fixture.state(name).filter(|_| fixture.is_by_subject())
    }

    /// Returns the state of a fixture that a point selects.
    pub fn state_of_point<'f>(
        &self,
        fixture: &'f Fixture,
        point: PointId,
    ) -> Option<&'f FixtureState> {
        match &fixture.selector {
            Some(Selector::Factor(factor)) => {
                let point = &self.points[point];
                let kind = self.targets.get(point.target).map(|target| target.kind);
                let state = fixture.state(point.param(factor)?)?;
                Some(state).filter(|state| state.is_on(kind))
            }
            Some(Selector::Subject) | None => None,
        }
    }

    /// Returns true if a fixture takes part in the visits to a point.
    pub fn has_visiting_fixture(&self, point: PointId) -> bool {
        let mut fixtures = self.fixtures.iter().filter(|fixture| fixture.visits);
        fixtures.any(|fixture| match &fixture.selector {
            Some(Selector::Factor(_)) => self.state_of_point(fixture, point).is_some(),
            Some(Selector::Subject) | None => true,
        })
    }

    /// Returns true if the state of any fixture depends on the subject whose turn it is.
    pub fn has_states_of_subjects(&self) -> bool {
        let mut subjects = self.subjects.ids();
        subjects.any(|subject| {
            let mut fixtures = self.fixtures.iter();
            fixtures.any(|fixture| self.state_of_subject(fixture, subject).is_some())
        })
    }

    /// Returns the case of a point.
    pub fn case(&self, point: PointId) -> &Case {
        &self.cases[self.points[point].case]
    }

    /// Returns the label of a point, such as `select limit=100 statement=text`.
    ///
    /// If there are multiple targets, the label starts with the target's name. For whole commands
    /// and for load, which have only one case, the label consists of the parameters alone.
    pub fn label(&self, point: PointId) -> String {
        let target = self.target_named(self.points[point].target);
        match target {
            Some(kind) => format!("{} {}", kind.name(), self.point_name(point)),
            None => self.point_name(point),
        }
    }

    /// Returns the label of a point without its target, for text that names a subject with its
    /// target.
    pub fn point_name(&self, point: PointId) -> String {
        let case = &self.case(point).name;
        let params = &self.points[point].params;
        let named = !self.has_one_case() || params.is_empty();
        let params = params.iter().map(|(key, value)| format!("{key}={value}"));
        let words = named.then(|| case.clone()).into_iter().chain(params);
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns true if the plan has only one case, whose name labels omit: for whole commands, and
    /// for load on running servers.
    pub fn has_one_case(&self) -> bool {
        matches!(self.work, Work::Commands(_) | Work::Load(_))
    }

    /// Returns the label of a subject: `python`, or `python on mariadb` if there are multiple
    /// targets.
    pub fn subject_label(&self, subject: SubjectId) -> String {
        let subject = &self.subjects[subject];
        match self.target_named(subject.target) {
            Some(kind) => format!("{} on {}", subject.name, kind.name()),
            None => subject.name.clone(),
        }
    }

    /// Returns a target's kind if there are multiple targets.
    pub fn target_named(&self, target: TargetId) -> Option<TargetKind> {
        let has_multiple = self.targets.len() > 1;
        self.targets
            .get(target)
            .filter(|_| has_multiple)
            .map(|t| t.kind)
    }

    /// Returns the subject that measures the overhead of starting a shell if `shell` is true, or of
    /// starting a process otherwise.
    ///
    /// Among the subjects that measure an overhead, the program for a process has no arguments, and
    /// the program for a shell has arguments.
    pub fn start_cost(&self, shell: bool) -> Option<SubjectId> {
        self.subjects
            .find_id(|s| s.overhead && (s.program.len() > 1) == shell)
    }

    /// Returns the subjects that are compared: all subjects except the control and the subjects
    /// that measure an overhead.
    pub fn compared(&self) -> impl Iterator<Item = SubjectId> {
        let subjects = self.subjects.enumerated();
        subjects
            .filter(|(_, s)| s.control_of.is_none() && !s.overhead)
            .map(|(id, _)| id)
    }

    /// Returns true if the plan compares revisions, whose directories are removed after the run.
    pub fn compares_revisions(&self) -> bool {
        let revision = |s: &Subject| s.command.as_ref().is_some_and(|c| c.revision.is_some());
        self.subjects.iter().any(revision)
    }

    /// Returns true if two subjects run the same command line on the same commit, or in the same
    /// directory.
    ///
    /// The program is then the same, so any difference comes from the machine or from building.
    pub fn runs_same_program(&self, a: SubjectId, b: SubjectId) -> bool {
        let [a, b] = [a, b].map(|subject| self.subjects[subject].command.as_ref());
        let (Some(a), Some(b)) = (a, b) else {
            return false;
        };
        let is_same_source = match (&a.revision, &b.revision) {
            (None, None) => a.folder == b.folder,
            (a, b) => a == b,
        };
        let hooks = |c: &Command| (c.setup.clone(), c.prepare.clone(), c.cleanup.clone());
        is_same_source && a.line == b.line && hooks(a) == hooks(b)
    }

    /// Returns the number of builds of each revision, which alternate from block to block. The
    /// number is 1 by default.
    pub fn builds(&self) -> usize {
        let commands = self.subjects.iter().filter_map(|s| s.command.as_ref());
        commands.map(|c| c.builds.len()).max().unwrap_or(0).max(1)
    }

    /// Returns the index of the build that the block with this number measures.
    pub fn build_of(&self, block: u32) -> usize {
        block as usize % self.builds()
    }

    /// Returns the subject that is a second copy of the baseline, if there is one.
    pub fn control(&self) -> Option<SubjectId> {
        self.subjects
            .find_id(|s| s.control_of == Some(self.baseline))
    }

    /// Returns true if a subject is measured at a point.
    ///
    /// The subject must work on the point's target, be intended for its case, and support its
    /// parameters.
    pub fn takes_part(&self, subject: SubjectId, point: PointId) -> bool {
        let (subject, case) = (&self.subjects[subject], self.case(point));
        let point = &self.points[point];
        let for_case = subject.cases.is_empty() || subject.cases.contains(&case.name);
        let can = !point.params.iter().any(|p| subject.without.contains(p));
        subject.target == point.target && for_case && can
    }

    /// Returns the subject with which the other subjects on a target are compared.
    ///
    /// This is the subject with the name of [`Plan::baseline`], or else the target's first subject.
    pub fn baseline_for(&self, target: TargetId) -> SubjectId {
        let mut on_target = self
            .subjects
            .enumerated()
            .filter(|(_, s)| s.target == target);
        let name = &self.subjects[self.baseline].name;
        let named = on_target.clone().find(|(_, s)| s.name == *name);
        named
            .or(on_target.next())
            .map_or(self.baseline, |(id, _)| id)
    }

    /// Returns the name of the case that a subject opens at a point.
    pub fn opened_case(&self, point: PointId) -> &str {
        match self.points[point].sql {
            Some(_) => OWN,
            None => &self.case(point).name,
        }
    }

    /// Returns true if check values at a point may depend on earlier operations.
    ///
    /// If they do, only the check values of the first operation on a fresh target are comparable.
    pub fn yields_by_state(&self, point: PointId) -> bool {
        let work = self.points[point].sql.as_ref();
        work.is_some_and(SqlWork::yields_by_state)
    }

    /// Returns the arguments of `open` at a point, apart from the case's parameters and the target
    /// itself.
    pub fn open_args(&self, subject: SubjectId, point: PointId) -> Vec<(String, String)> {
        let target = self.targets.get(self.points[point].target);
        let Some(target) = target.filter(|target| target.kind.is_database()) else {
            return Vec::new();
        };
        let mut args = match &self.points[point].sql {
            Some(work) => {
                let own = self.subjects[subject].placeholder;
                work.open_args(own.unwrap_or(target.kind.placeholder()))
            }
            None => vec![
                ("rows".to_owned(), target.rows.to_string()),
                ("table".to_owned(), target.table.clone()),
            ],
        };
        let settings = target.settings.clone();
        args.extend(settings.map(|query| ("settings".to_owned(), query)));
        args
    }
}

impl Case {
    /// Returns the metrics that subjects report.
    pub fn reported_metrics(&self) -> impl Iterator<Item = &Metric> {
        let metrics = self.metrics.iter();
        metrics.filter(|metric| !metric.is_found() && !self.is_observed(metric))
    }

    /// Returns the metrics that fixtures report.
    pub fn observed_metrics(&self) -> impl Iterator<Item = &Metric> {
        let metrics = self.metrics.iter();
        metrics.filter(|metric| self.is_observed(metric))
    }

    fn is_observed(&self, metric: &Metric) -> bool {
        self.observed.iter().any(|name| *name == metric.id)
    }
}

impl Point {
    /// Returns the value of a parameter, if the point has the parameter.
    pub fn param(&self, key: &str) -> Option<&str> {
        let mut params = self.params.iter();
        params
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the factors: all parameters except the swept parameter.
    pub fn factors<'a>(&'a self, case: &'a Case) -> impl Iterator<Item = &'a (String, String)> {
        self.params
            .iter()
            .filter(move |(key, _)| case.sweep.as_ref() != Some(key))
    }
}

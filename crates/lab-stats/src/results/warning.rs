// SPDX-License-Identifier: Apache-2.0
//! Facts without which users could misinterpret the results, as data.
//!
//! `lab-report` turns this data into sentences.

use crate::forecast::TimeBudget;
use crate::load::agents::MissingLoad;
use crate::server_age::ServerAge;
use lab_model::{Ending, ErrorKind, Interval, Metric, Plan, PointId, Run, SubjectId, TargetId};
use serde::Serialize;

/// A fact without which users could misinterpret the results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// The affected subject. `None` means all subjects.
    pub subject: Option<SubjectId>,
    /// The affected point. `None` means all points.
    pub point: Option<PointId>,
    /// The affected target, if the run has more than one. `None` means all targets.
    pub target: Option<TargetId>,
    /// The fact, with the names and numbers that its sentence needs.
    #[serde(flatten)]
    pub fact: WarningFact,
}

/// The kinds of warnings, most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WarningKind {
    /// The run was interrupted.
    Interrupted,
    /// A subject failed.
    Failed,
    /// Agents or hosts were lost, or differed from the other agents or hosts.
    Agents,
    /// Servers were not at their steady level during their turns.
    NotSteady,
    /// Requests failed.
    Errors,
    /// The load generator was the bottleneck.
    Saturated,
    /// The load generator was late.
    Late,
    /// Servers did not keep up with the rate.
    Overloaded,
    /// Some connections waited for a long time while others were served.
    Starved,
    /// The load generator and the servers share cores.
    SharedCores,
    /// The host is not suitable for measurements.
    Host,
    /// There are too few blocks for the requested level.
    FewBlocks,
    /// Percentiles have no interval.
    Tails,
    /// The control's interval excludes 1.
    NoiseFloor,
    /// Subjects are faster than the reference, although the reference should show what the machine
    /// can do.
    ReferenceBeaten,
    /// Commands are too short to be timed accurately.
    Short,
    /// Subjects use different versions of one library.
    Versions,
    /// The rate changes within the run.
    Stages,
    /// Blocks depend on each other.
    Dependent,
    /// Subjects did not become steady.
    NoSteadyState,
    /// Blocks were redone because the host was disturbed.
    Disturbed,
    /// A closed loop hides stalls.
    ClosedLoop,
}

/// The fact behind a warning, with names and numbers.
///
/// The names of the variants are codes in JSON reports. Times are in ns. Fractions are from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum WarningFact {
    /// The run did not finish.
    Interrupted {
        /// The run's name.
        run: String,
        /// The state of the run: stopped or still running.
        state: Unfinished,
        /// True if `benchlab resume` can complete the run.
        can_resume: bool,
    },
    /// A subject failed. It is not compared where it failed.
    SubjectFailed {
        /// The name of the subject.
        subject: String,
        /// The points at which the subject failed.
        at: FailedAt,
        /// The first line of the error message.
        message: String,
    },
    /// The cleanup of a command failed after the measurement.
    CleanupFailed {
        /// The name of the subject.
        subject: String,
        /// The error message.
        message: String,
    },
    /// Agents failed or became unreachable during the load, so their remaining requests are
    /// missing.
    AgentsLost {
        /// The agents that failed or became unreachable.
        agents: Vec<LostAgent>,
        /// The load that is missing because no agent remained, or `None` if some agents remained.
        end: Option<MissingLoad>,
    },
    /// Agents whose results the user excluded from the load.
    AgentsLeftOut {
        /// The names of the agents.
        agents: Vec<String>,
    },
    /// Agents differed from the other agents.
    AgentsDiffer {
        /// The agents that differed.
        agents: Vec<UnlikeAgent>,
    },
    /// Agents run on machines with conditions that disturb measurements.
    UnfitHosts {
        /// The machines, each with its conditions.
        hosts: Vec<UnfitHost>,
    },
    /// The server's resource usage could not be read from some block to the end of the run.
    ServerUnknown {
        /// The number of blocks with known resource usage.
        known: usize,
        /// The number of complete blocks.
        blocks: usize,
        /// The reason for the unknown resource usage.
        reason: String,
    },
    /// The run lost hosts that had measured blocks.
    HostsLost {
        /// The hosts that were lost.
        hosts: Vec<LostHost>,
    },
    /// Hosts whose blocks the user excluded from all results.
    HostsLeftOut {
        /// The names of the hosts.
        hosts: Vec<String>,
    },
    /// Ratios differ between hosts by more than chance explains.
    HostsDiffer {
        /// The ratios, most significant difference first.
        ratios: Vec<RatioSpread>,
    },
    /// Ratios differ more between kinds of hosts than between hosts of the same kind.
    HostKindsDiffer {
        /// The ratios, most significant difference first.
        ratios: Vec<RatioSpread>,
    },
    /// Servers were not at their steady level during their turns.
    NotSteady {
        /// The servers that were not steady.
        servers: Vec<UnsteadyServer>,
    },
    /// Requests failed.
    Errors {
        /// The servers and points with failed requests.
        at: Vec<ErrorsAt>,
        /// True if some percentiles are not compared, because more requests failed than lie beyond
        /// the percentile.
        hide_percentiles: bool,
    },
    /// The load generator was the bottleneck instead of the server.
    GeneratorSaturated {
        /// The servers and points where the generator was the bottleneck.
        at: Vec<BusyAt>,
        /// True if benchlab started the servers and compares them.
        started: bool,
    },
    /// The load generator's own latency may exceed a tenth of some percentiles.
    GeneratorLate {
        /// The servers and points where the generator was late.
        at: Vec<LateAt>,
        /// True if benchlab started the servers and compares them.
        started: bool,
    },
    /// Responses were timed when the generator read them instead of when they arrived.
    TimedByReading {
        /// For each agent, or for benchlab's own generator, the fraction of its responses that were
        /// timed in this way.
        generators: Vec<ReadBy>,
    },
    /// Servers did not serve all requests when they were due.
    Overloaded {
        /// The overloaded servers and points.
        at: Vec<OverloadAt>,
        /// True if benchlab started the servers and compares them.
        started: bool,
    },
    /// Some connections waited for their response while others were served.
    ConnectionsStarved {
        /// The servers and points with starved connections.
        at: Vec<StarvedAt>,
        /// True if benchlab started the servers and compares them.
        started: bool,
    },
    /// The server and the generators together used nearly all cores of one machine.
    CoresFull {
        /// The agents on the machine. Empty if benchlab itself generates the load.
        agents: Vec<String>,
        /// The number of cores of the machine.
        cores: f64,
        /// The servers and points at which the cores were full.
        at: Vec<CellName>,
    },
    /// The generator and the server share the only core.
    OneCore,
    /// The host has a condition that disturbs measurements.
    UnfitHost {
        /// The condition of the host that disturbs measurements.
        what: String,
        /// The action that the user should take.
        advice: String,
    },
    /// Comparisons have too few replicates for intervals that assume only a symmetric distribution.
    TooFewBlocks {
        /// The smallest number of replicates of any comparison.
        replicates: u32,
        /// The minimum number of replicates for intervals that do not assume a normal distribution.
        needed: u32,
        /// The unit of replication.
        unit: Replicate,
        /// The estimated duration of a run with `needed` replicates, if known.
        time: Option<TimeBudget>,
    },
    /// Individual values have too few replicates for the requested level.
    LevelNotReached {
        /// The number of replicates.
        replicates: usize,
        /// The number of replicates needed for the level.
        needed: u32,
        /// The unit of replication.
        unit: Replicate,
        /// The requested level.
        level: f64,
        /// The estimated duration of a run with `needed` replicates, if known.
        time: Option<TimeBudget>,
    },
    /// No load at a fraction of a server's peak was offered, because the peak is not known yet.
    PeaksUnknown {
        /// The number of complete blocks.
        blocks: usize,
        /// The number of blocks needed to find the peak.
        needed: u32,
    },
    /// Percentiles have no interval.
    TailsUnknown {
        /// The percentiles, in ascending order.
        percentiles: Vec<TailWithoutInterval>,
        /// The number of blocks of the run.
        blocks: u32,
        /// The number of blocks that must contain requests beyond a percentile, so that the
        /// percentile has an interval.
        seen: u32,
        /// The estimated duration of a run with enough blocks for all percentiles, if known.
        time: Option<TimeBudget>,
    },
    /// Two copies of the baseline differ.
    CopiesDiffer(CopiesDiffer),
    /// Subjects are faster than all references, although a reference should show what the machine
    /// can do.
    ReferenceBeaten(ReferenceBeaten),
    /// A command is so short that its start-up is a considerable fraction of its time.
    ShortRun {
        /// The command and the point.
        place: CellName,
        /// The time of a run, in ns.
        run: Interval,
        /// The start-up time, in ns.
        start: Interval,
        /// True if a shell starts the command.
        shell: bool,
    },
    /// Subjects differ from the baseline in a condition of the experiment.
    ConditionDiffers(SettingDiffers),
    /// The rate changed as planned.
    RateChanges,
    /// Neighboring blocks depend on each other.
    BlocksDepend {
        /// The comparisons or points whose blocks depend on each other. Empty if they cannot be
        /// named.
        at: Vec<CellName>,
        /// The number of comparisons of the run, if `at` lists comparisons.
        comparisons: Option<usize>,
        /// True if dependent blocks were merged. False if there are too few blocks to merge.
        merged: bool,
    },
    /// Subjects were still changing their speed at the end of their pilot.
    NoSteadyState {
        /// The subjects whose speed was still changing.
        subjects: Vec<ChangingSubject>,
        /// True if the pilot was too short to show whether the subjects were steady.
        cut_short: bool,
    },
    /// Blocks were redone because the host was disturbed.
    BlocksRedone {
        /// The number of redone blocks.
        blocks: usize,
        /// The largest fraction of the cores' time that the hypervisor stole.
        stolen: f64,
        /// The largest fraction of the cores' time that other programs used.
        foreign: f64,
    },
    /// A closed loop hides stalls.
    ClosedLoop,
}

/// The state of a run that did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfinished {
    /// The user stopped the run.
    Stopped,
    /// The run has not ended.
    Running,
}

/// The names of a subject and a point.
///
/// `None` means that there is only one subject or only one point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CellName {
    /// The name of the subject.
    pub subject: Option<String>,
    /// The name of the point.
    pub point: Option<String>,
}

/// The points at which a subject failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedAt {
    /// The only point of the run.
    OnlyPoint,
    /// All points.
    Everywhere,
    /// The listed points.
    Points(Vec<String>),
}

/// An agent that failed or became unreachable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostAgent {
    /// The name of the agent.
    pub name: String,
    /// The reason why the agent failed or became unreachable.
    pub reason: String,
    /// The number of requests that were due but not sent because the agent had failed or was
    /// unreachable.
    pub not_sent: u64,
}

/// An agent that differed from the other agents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnlikeAgent {
    /// The name of the agent.
    pub name: String,
    /// The ways in which the agent differed.
    pub differences: Vec<AgentDifference>,
}

/// A difference between an agent and the other agents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AgentDifference {
    /// The agent started late.
    BeganLate {
        /// The maximum delay of the agent's start, in ns.
        late_ns: u64,
    },
    /// The agent was late to notice that requests were due.
    SentLate,
    /// The agent was the bottleneck of the load.
    Saturated {
        /// The fraction of time that the agent's busiest thread spent on a core.
        busy: f64,
    },
    /// The agent's service times are longer than the other agents' service times.
    SlowPath {
        /// The agent's service time divided by the other agents' service time.
        ratio: Interval,
    },
    /// A larger fraction of requests failed for the agent than for the other agents.
    Errors {
        /// The fraction of the agent's requests that failed.
        own: f64,
        /// The fraction of the other agents' requests that failed.
        others: f64,
    },
}

/// A machine with conditions that disturb measurements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnfitHost {
    /// The agent on the machine.
    pub name: String,
    /// The conditions that disturb measurements.
    pub findings: Vec<String>,
}

/// A host that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostHost {
    /// The name of the host.
    pub name: String,
    /// The reason why the host's agent failed or became unreachable.
    pub reason: String,
    /// The numbers, counted from 1, of the host's blocks that another host measured in its place.
    pub moved_blocks: Vec<u32>,
}

/// The smallest and the largest ratio of a subject over all hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioSpread {
    /// The subject and the point. The point is `None` for the ratio over all points.
    pub place: CellName,
    /// The smallest ratio.
    pub least: RatioOn,
    /// The largest ratio.
    pub greatest: RatioOn,
}

/// A ratio on a host or on a kind of host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioOn {
    /// The host or the kind of host.
    pub host: String,
    /// The subject's ratio to the baseline on the host or on the kind of host.
    pub ratio: f64,
}

/// A server whose turns were not at the steady level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnsteadyServer {
    /// The name of the server.
    pub name: String,
    /// The case. `None` means that there is only one case.
    pub case: Option<String>,
    /// The results of the server's pilot and turns.
    pub age: ServerAge,
}

/// Failed requests of a server at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorsAt {
    /// The server and the point.
    pub place: CellName,
    /// The fraction of the requests that failed.
    pub fraction: f64,
    /// The number of failed requests of each kind.
    pub kinds: Vec<(ErrorKind, u64)>,
}

/// A point at which the load generator was the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyAt {
    /// The server and the point.
    pub place: CellName,
    /// The fraction of time that the generator's busiest thread spent on a core.
    pub busy: f64,
}

/// A point at which the load generator was late.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LateAt {
    /// The server and the point.
    pub place: CellName,
    /// The percentiles for which the generator's own latency may exceed a tenth of the response
    /// time.
    pub percentiles: Vec<OwnLatency>,
    /// The 99th percentile of the generator's send delay, in ns.
    pub p99_ns: f64,
}

/// A percentile of the response time, and the same percentile of the generator's send delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnLatency {
    /// The title of the percentile, such as `p99`.
    pub percentile: String,
    /// The percentile of the send delay, in ns.
    pub delay_ns: f64,
}

/// The fraction of responses that were timed when the generator read them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadBy {
    /// The agent. `None` means benchlab itself.
    pub agent: Option<String>,
    /// The fraction of the agent's responses that were timed when the agent read them, from 0 to 1.
    pub fraction: f64,
}

/// A server that did not keep up at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverloadAt {
    /// The server and the point.
    pub place: CellName,
    /// Requests per second that were served.
    pub served: f64,
    /// Requests per second that were due.
    pub offered: f64,
    /// The time from the end of the load to the last served request, in ns.
    pub drain_ns: f64,
}

/// A point at which some connections of a server waited for their response while others were
/// served.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StarvedAt {
    /// The server and the point.
    pub place: CellName,
    /// The longest wait, in ns.
    pub longest_ns: f64,
}

/// The unit of replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicate {
    /// A block of fresh processes.
    Block,
    /// A set of processes that serves multiple blocks.
    ProcessSet,
    /// A build of each revision, which multiple blocks may use.
    Build,
}

impl Replicate {
    /// Returns the unit of replication of a run.
    pub fn new(run: &Run, plan: &Plan) -> Replicate {
        if plan.builds() > 1 {
            Replicate::Build
        } else if run.replicate_count() < run.complete_blocks().count() {
            Replicate::ProcessSet
        } else {
            Replicate::Block
        }
    }
}

/// A percentile without an interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TailWithoutInterval {
    /// The name of the percentile.
    pub percentile: String,
    /// The number of blocks needed for an interval. `None` means the same number as for p99.
    pub needed: Option<u32>,
}

/// Two copies of the baseline that differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopiesDiffer {
    /// The name of the baseline.
    pub baseline: String,
    /// The metrics and points that differ.
    pub at: Vec<CopyDiffers>,
    /// The number of comparisons between the two copies.
    pub controls: usize,
    /// The number of differences expected by chance.
    pub by_chance: f64,
    /// The requested margin.
    pub margin: f64,
    /// True if the run has only one point. The point is then not named.
    pub one_point: bool,
}

/// A metric and a point at which the two copies of the baseline differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyDiffers {
    /// The metric with the difference.
    pub metric: Metric,
    /// The description of the point, such as `json connections=64`.
    pub point: String,
    /// The margin used at this point.
    pub margin: f64,
}

/// A reference that is slower than subjects that are not references.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceBeaten {
    /// The name of the reference.
    pub reference: String,
    /// The names of the subjects that are faster than the reference.
    pub faster: Vec<String>,
    /// The points at which these subjects are faster. Empty if the run has only one point.
    pub points: Vec<String>,
    /// Conditions of the experiment that differ between the reference and the faster subjects.
    pub settings: Vec<SettingDiffers>,
    /// Subjects that are faster mostly because they need less CPU time.
    pub cheaper: Vec<CheaperSubject>,
    /// The command line that counts the operations of each subject.
    pub explain: String,
}

/// Subjects that differ from the baseline in a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingDiffers {
    /// The key of the setting.
    pub key: String,
    /// The baseline and its value.
    pub baseline: SettingOf,
    /// The other subjects and their values.
    pub others: Vec<SettingOf>,
}

/// A subject, and its value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SettingOf {
    /// The value. `None` means that the subject did not report it.
    pub value: Option<String>,
    /// The name of the subject.
    pub subject: String,
}

/// A subject that is faster mostly because it needs less CPU time per operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheaperSubject {
    /// The subject and the point.
    pub place: CellName,
    /// The subject's CPU time per operation, in ns.
    pub cpu_ns: f64,
    /// The name of the reference.
    pub reference: String,
    /// The reference's CPU time per operation, in ns.
    pub reference_cpu_ns: f64,
}

/// A subject that was still changing its speed at the end of its pilot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangingSubject {
    /// The name of the subject.
    pub name: String,
    /// The points or cases at which the subject was still changing.
    pub at: Vec<String>,
}

impl Unfinished {
    /// Returns the state of a run that did not finish, or `None` if the run finished.
    pub(crate) fn new(run: &Run) -> Option<Unfinished> {
        match run.ending {
            Some(Ending::Interrupted) => Some(Unfinished::Stopped),
            None => Some(Unfinished::Running),
            Some(_) => None,
        }
    }
}

impl Warning {
    /// Creates a warning about the whole run.
    pub(crate) fn new(fact: WarningFact) -> Warning {
        Warning::with_cells(fact, [])
    }

    /// Creates a warning. If all of `cells` have the same subject or the same point, the warning
    /// names it.
    pub(crate) fn with_cells(
        fact: WarningFact,
        cells: impl IntoIterator<Item = (SubjectId, Option<PointId>)>,
    ) -> Warning {
        let cells: Vec<_> = cells.into_iter().collect();
        let first = cells.first();
        let subject = first.map(|cell| cell.0);
        let point = first.and_then(|cell| cell.1);
        Warning {
            subject: subject.filter(|s| cells.iter().all(|cell| cell.0 == *s)),
            point: point.filter(|p| cells.iter().all(|cell| cell.1 == Some(*p))),
            target: None,
            fact,
        }
    }

    /// Returns the kind of warning.
    pub fn kind(&self) -> WarningKind {
        self.fact.kind()
    }
}

impl WarningFact {
    /// Returns the kind of warning for this fact.
    pub fn kind(&self) -> WarningKind {
        match self {
            WarningFact::Interrupted { .. } => WarningKind::Interrupted,
            WarningFact::SubjectFailed { .. } | WarningFact::CleanupFailed { .. } => {
                WarningKind::Failed
            }
            WarningFact::AgentsLost { .. }
            | WarningFact::AgentsLeftOut { .. }
            | WarningFact::AgentsDiffer { .. }
            | WarningFact::UnfitHosts { .. }
            | WarningFact::ServerUnknown { .. }
            | WarningFact::HostsLost { .. }
            | WarningFact::HostsLeftOut { .. }
            | WarningFact::HostsDiffer { .. }
            | WarningFact::HostKindsDiffer { .. } => WarningKind::Agents,
            WarningFact::NotSteady { .. } => WarningKind::NotSteady,
            WarningFact::Errors { .. } => WarningKind::Errors,
            WarningFact::GeneratorSaturated { .. } => WarningKind::Saturated,
            WarningFact::GeneratorLate { .. } | WarningFact::TimedByReading { .. } => {
                WarningKind::Late
            }
            WarningFact::Overloaded { .. } => WarningKind::Overloaded,
            WarningFact::ConnectionsStarved { .. } => WarningKind::Starved,
            WarningFact::CoresFull { .. } | WarningFact::OneCore => WarningKind::SharedCores,
            WarningFact::UnfitHost { .. } => WarningKind::Host,
            WarningFact::TooFewBlocks { .. }
            | WarningFact::LevelNotReached { .. }
            | WarningFact::PeaksUnknown { .. } => WarningKind::FewBlocks,
            WarningFact::TailsUnknown { .. } => WarningKind::Tails,
            WarningFact::CopiesDiffer(_) => WarningKind::NoiseFloor,
            WarningFact::ReferenceBeaten(_) => WarningKind::ReferenceBeaten,
            WarningFact::ShortRun { .. } => WarningKind::Short,
            WarningFact::ConditionDiffers(_) => WarningKind::Versions,
            WarningFact::RateChanges => WarningKind::Stages,
            WarningFact::BlocksDepend { .. } => WarningKind::Dependent,
            WarningFact::NoSteadyState { .. } => WarningKind::NoSteadyState,
            WarningFact::BlocksRedone { .. } => WarningKind::Disturbed,
            WarningFact::ClosedLoop => WarningKind::ClosedLoop,
        }
    }
}

impl WarningKind {
    /// Returns the name in kebab case, such as `few-blocks`.
    pub fn name(self) -> &'static str {
        match self {
            WarningKind::Interrupted => "interrupted",
            WarningKind::Failed => "failed",
            WarningKind::Agents => "agents",
            WarningKind::NotSteady => "not-steady",
            WarningKind::Errors => "errors",
            WarningKind::Saturated => "saturated",
            WarningKind::Late => "late",
            WarningKind::Overloaded => "overloaded",
            WarningKind::Starved => "starved",
            WarningKind::SharedCores => "shared-cores",
            WarningKind::Host => "host",
            WarningKind::FewBlocks => "few-blocks",
            WarningKind::Tails => "tails",
            WarningKind::NoiseFloor => "noise-floor",
            WarningKind::ReferenceBeaten => "reference-beaten",
            WarningKind::Short => "short",
            WarningKind::Versions => "versions",
            WarningKind::Stages => "stages",
            WarningKind::Dependent => "dependent",
            WarningKind::NoSteadyState => "no-steady-state",
            WarningKind::Disturbed => "disturbed",
            WarningKind::ClosedLoop => "closed-loop",
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
//! Facts without which figures are misread, as data. `lab-report` puts them into sentences.

use crate::forecast::TimeBudget;
use crate::load::agents::MissingLoad;
use crate::server_age::ServerAge;
use lab_model::{Ending, ErrorKind, Interval, Metric, PointId, Run, SubjectId, TargetId};
use serde::Serialize;

/// Something that the user of some figures must know.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// The subject that it concerns; `None`: all.
    pub subject: Option<SubjectId>,
    /// The point that it concerns; `None`: all.
    pub point: Option<PointId>,
    /// The target that it concerns, if there is more than one; `None`: all.
    pub target: Option<TargetId>,
    /// The fact.
    #[serde(flatten)]
    pub fact: WarningFact,
}

/// Kinds of warnings, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WarningKind {
    /// The run was stopped.
    Interrupted,
    /// A subject failed.
    Failed,
    /// Agents or hosts were lost, or unlike the others.
    Agents,
    /// Turns were not at the steady level.
    NotSteady,
    /// Requests failed.
    Errors,
    /// The generator was the limit.
    Saturated,
    /// The generator was late.
    Late,
    /// Servers did not keep up with the rate.
    Overloaded,
    /// Some connections waited for long while others were served.
    Starved,
    /// Generator and servers share cores.
    SharedCores,
    /// The host is not fit.
    Host,
    /// Too few blocks for the level.
    FewBlocks,
    /// Percentiles without an interval.
    Tails,
    /// The control's interval excludes 1.
    NoiseFloor,
    /// Subjects are faster than the reference, which should show what the machine allows.
    ReferenceBeaten,
    /// Commands are too short to be timed.
    Short,
    /// Subjects use different versions of one library.
    Versions,
    /// The rate changes within the run.
    Stages,
    /// Blocks depend on each other.
    Dependent,
    /// Subjects did not become steady.
    NoSteadyState,
    /// Blocks were disturbed.
    Disturbed,
    /// A closed loop hides stalls.
    ClosedLoop,
}

/// The fact behind a warning, with names and numbers. Its variants are the codes of JSON reports. Times are in ns,
/// fractions are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum WarningFact {
    /// The run did not come to its end.
    Interrupted {
        /// The run's name.
        run: String,
        /// How far it came.
        state: Unfinished,
        /// `benchlab resume` can complete it.
        can_resume: bool,
    },
    /// A subject failed and is not compared there.
    SubjectFailed {
        /// Its name.
        subject: String,
        /// Where it failed.
        at: FailedAt,
        /// The first line of its message.
        message: String,
    },
    /// Agents were lost.
    AgentsLost {
        /// The agents.
        agents: Vec<LostAgent>,
        /// The load ended early, since all were lost.
        end: Option<MissingLoad>,
    },
    /// Agents are in no figure of the load, as the user asked.
    AgentsLeftOut {
        /// Their names.
        agents: Vec<String>,
    },
    /// Agents were unlike the others.
    AgentsDiffer {
        /// The agents.
        agents: Vec<UnlikeAgent>,
    },
    /// Machines of agents are not fit to measure.
    UnfitHosts {
        /// The machines.
        hosts: Vec<UnfitHost>,
    },
    /// From some block on the server's resource usage could not be read.
    ServerUnknown {
        /// Blocks in which it is known.
        known: usize,
        /// Complete blocks.
        blocks: usize,
        /// Why.
        reason: String,
    },
    /// Hosts that measured blocks were lost.
    HostsLost {
        /// The hosts.
        hosts: Vec<LostHost>,
    },
    /// Blocks of these hosts are in no figure, as the user asked.
    HostsLeftOut {
        /// Their names.
        hosts: Vec<String>,
    },
    /// Ratios differ between hosts by more than chance explains.
    HostsDiffer {
        /// The most certain first.
        ratios: Vec<RatioSpread>,
    },
    /// Ratios differ between kinds of hosts by more than between hosts of one kind.
    HostKindsDiffer {
        /// The most certain first.
        ratios: Vec<RatioSpread>,
    },
    /// Servers whose turns were not at their steady level.
    NotSteady {
        /// The servers.
        servers: Vec<UnsteadyServer>,
    },
    /// Requests were not answered as they should have been.
    Errors {
        /// Where.
        at: Vec<ErrorsAt>,
        /// Percentiles are not compared where more requests failed than lie beyond them.
        hide_percentiles: bool,
    },
    /// The load generator was the limit, not the server.
    GeneratorSaturated {
        /// Where.
        at: Vec<BusyAt>,
        /// benchlab started the servers, and compares them.
        started: bool,
    },
    /// The load generator's own latency can be more than a tenth of percentiles.
    GeneratorLate {
        /// Where.
        at: Vec<LateAt>,
        /// benchlab started the servers, and compares them.
        started: bool,
    },
    /// Responses were timed when the generator read them.
    TimedByReading {
        /// By agent, or of the only generator.
        generators: Vec<ReadBy>,
    },
    /// Servers did not serve all requests when they were due.
    Overloaded {
        /// Where.
        at: Vec<OverloadAt>,
        /// benchlab started the servers, and compares them.
        started: bool,
    },
    /// Some connections waited for their response while others were served.
    ConnectionsStarved {
        /// Where.
        at: Vec<StarvedAt>,
        /// benchlab started the servers, and compares them.
        started: bool,
    },
    /// The server and generators used nearly all cores of one machine.
    CoresFull {
        /// The agents on that machine; none: the generator is benchlab itself.
        agents: Vec<String>,
        /// Cores of the machine.
        cores: f64,
        /// Where.
        at: Vec<Place>,
    },
    /// Generator and server share the only core.
    OneCore,
    /// The host is not fit to measure.
    UnfitHost {
        /// The problem with the host.
        what: String,
        /// The advice on how to solve it.
        advice: String,
    },
    /// Comparisons have too few replicates for intervals that assume symmetry alone.
    TooFewBlocks {
        /// Replicates of the comparison with the fewest.
        replicates: u32,
        /// The number from which on intervals do not assume a normal distribution.
        needed: u32,
        /// The kind of replicates.
        unit: Replicate,
        /// The time of a run with this many, if it is known.
        time: Option<TimeBudget>,
    },
    /// Single figures have too few blocks for the requested level.
    LevelNotReached {
        /// Complete blocks.
        blocks: usize,
        /// Blocks for the level.
        needed: u32,
        /// The requested level.
        level: f64,
        /// The time of a run with this many, if it is known.
        time: Option<TimeBudget>,
    },
    /// No fraction of a server's peak was offered, since the peak is not known yet.
    PeaksUnknown {
        /// Complete blocks.
        blocks: usize,
        /// Blocks that find the peak.
        needed: u32,
    },
    /// Percentiles have no interval.
    TailsUnknown {
        /// The percentiles, ascending.
        percentiles: Vec<TailWithoutInterval>,
        /// Blocks of the run.
        blocks: u32,
        /// Blocks in which requests have to be that slow.
        seen: u32,
    },
    /// Two copies of the baseline differ.
    CopiesDiffer(CopiesDiffer),
    /// Subjects are faster than all references, which should show what the machine allows.
    ReferenceBeaten(ReferenceBeaten),
    /// A command takes so little time that starting it is a good part of it.
    ShortRun {
        /// The command and the point.
        place: Place,
        /// Time of a run, ns.
        run: Interval,
        /// Time that starting takes, ns.
        start: Interval,
        /// It is started by a shell.
        shell: bool,
    },
    /// Subjects differ from the baseline in a condition of the experiment.
    ConditionDiffers(SettingDiffers),
    /// The rate changed as planned.
    RateChanges,
    /// Neighboring blocks depend on each other.
    BlocksDepend {
        /// Where; empty: somewhere.
        at: Vec<Place>,
        /// Comparisons of the run, where `at` lists comparisons.
        comparisons: Option<usize>,
        /// They were merged; otherwise there are too few to merge them.
        merged: bool,
    },
    /// Subjects were still changing at the end of their pilot.
    NoSteadyState {
        /// The subjects.
        subjects: Vec<ChangingSubject>,
        /// The pilot had no time to show whether they were steady.
        cut_short: bool,
    },
    /// Blocks were redone because the host disturbed them.
    BlocksRedone {
        /// How many.
        blocks: usize,
        /// The greatest fraction of the cores' time that a hypervisor took.
        stolen: f64,
        /// The greatest fraction of the cores' time that other programs used.
        foreign: f64,
    },
    /// A closed loop hides stalls.
    ClosedLoop,
}

/// How far a run came that did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfinished {
    /// A user stopped it.
    Stopped,
    /// It has not ended.
    Running,
}

/// A subject at a point, by their names. `None`: there is only one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The subject.
    pub subject: Option<String>,
    /// The point.
    pub point: Option<String>,
}

/// Where a subject failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedAt {
    /// The only point of a run.
    OnlyPoint,
    /// At all points.
    Everywhere,
    /// At these.
    Points(Vec<String>),
}

/// An agent that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostAgent {
    /// Its name.
    pub name: String,
    /// How it was lost.
    pub reason: String,
    /// Requests that were due and not sent, or sent in its last slice.
    pub not_sent: u64,
}

/// An agent that was unlike the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnlikeAgent {
    /// Its name.
    pub name: String,
    /// In what.
    pub differences: Vec<AgentDifference>,
}

/// In what an agent was unlike the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AgentDifference {
    /// It began late.
    BeganLate {
        /// The most, ns.
        late_ns: u64,
    },
    /// It looked late at requests that were due.
    SentLate,
    /// It was the limit.
    Saturated {
        /// The fraction of the time in which its busiest thread had a core.
        busy: f64,
    },
    /// Its service times are longer.
    SlowPath {
        /// As a multiple of the others'.
        ratio: Interval,
    },
    /// More of its requests failed.
    Errors {
        /// The fraction of its requests.
        own: f64,
        /// The fraction of the others'.
        others: f64,
    },
}

/// A machine that is not fit to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnfitHost {
    /// The agent on it.
    pub name: String,
    /// The problem with the host.
    pub findings: Vec<String>,
}

/// A host that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostHost {
    /// Its name.
    pub name: String,
    /// How it was lost.
    pub reason: String,
    /// Its blocks that were measured elsewhere, counted from 1.
    pub moved_blocks: Vec<u32>,
}

/// A subject's ratio on the host where it is least, and where it is greatest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioSpread {
    /// The subject and the point; `None`: over all points.
    pub place: Place,
    /// The least ratio.
    pub least: RatioOn,
    /// The greatest ratio.
    pub greatest: RatioOn,
}

/// A ratio on a host, or on a kind of hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioOn {
    /// The host or the kind.
    pub host: String,
    /// The ratio.
    pub ratio: f64,
}

/// A server whose turns were not at its steady level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnsteadyServer {
    /// Its name.
    pub name: String,
    /// The case; `None`: there is one.
    pub case: Option<String>,
    /// The results of its pilot and its turns.
    pub age: ServerAge,
}

/// Failed requests of a server at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorsAt {
    /// The server and the point.
    pub place: Place,
    /// The fraction of the requests.
    pub fraction: f64,
    /// How many of each kind.
    pub kinds: Vec<(ErrorKind, u64)>,
}

/// A generator that was the limit at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyAt {
    /// The server and the point.
    pub place: Place,
    /// The fraction of the time in which the busiest thread had a core.
    pub busy: f64,
}

/// A generator that was late at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LateAt {
    /// The server and the point.
    pub place: Place,
    /// Percentiles that can be its own latency.
    pub percentiles: Vec<OwnLatency>,
    /// The 99th percentile of its send delay, ns.
    pub p99_ns: f64,
}

/// A percentile with the generator's own part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnLatency {
    /// The percentile.
    pub percentile: String,
    /// The same percentile of the generator's send delay, ns.
    pub delay_ns: f64,
}

/// Responses that were timed by a generator's reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadBy {
    /// The agent; `None`: benchlab itself.
    pub agent: Option<String>,
    /// The fraction of its responses.
    pub fraction: f64,
}

/// A server that did not keep up at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverloadAt {
    /// The server and the point.
    pub place: Place,
    /// Requests per second that were served.
    pub served: f64,
    /// Requests per second that were due.
    pub offered: f64,
    /// How long after the end of the load the last ones were served, ns.
    pub drain_ns: f64,
}

/// Connections of a server that waited at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StarvedAt {
    /// The server and the point.
    pub place: Place,
    /// The longest wait, ns.
    pub longest_ns: f64,
}

/// The unit of replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicate {
    /// A block of fresh processes.
    Block,
    /// A set of processes, which serves multiple blocks.
    ProcessSet,
}

/// A percentile without an interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TailWithoutInterval {
    /// Its name.
    pub percentile: String,
    /// The blocks that an interval takes; `None`: as many as for p99.
    pub needed: Option<u32>,
}

/// Two copies of the baseline that differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopiesDiffer {
    /// The baseline.
    pub baseline: String,
    /// Where, and in what.
    pub at: Vec<CopyDiffers>,
    /// Comparisons of the two copies.
    pub controls: usize,
    /// Those of them that are expected to differ by chance.
    pub by_chance: f64,
    /// The requested margin.
    pub margin: f64,
    /// The run has only one point.
    pub one_point: bool,
}

/// A metric at a point in which two copies differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyDiffers {
    /// The metric.
    pub metric: Metric,
    /// The point.
    pub point: String,
    /// The margin that is used there.
    pub margin: f64,
}

/// A reference that others are faster than.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceBeaten {
    /// The reference.
    pub reference: String,
    /// Subjects that are faster.
    pub faster: Vec<String>,
    /// Points at which they are; none: the run has one point.
    pub points: Vec<String>,
    /// Conditions of the experiment that differ there.
    pub settings: Vec<SettingDiffers>,
    /// Subjects that save most of their time in CPU time of their own.
    pub cheaper: Vec<CheaperSubject>,
    /// The command that counts what each of them does.
    pub explain: String,
}

/// Subjects that differ from the baseline in a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingDiffers {
    /// The key of the setting.
    pub key: String,
    /// The baseline and its value.
    pub baseline: SettingOf,
    /// The others and theirs.
    pub others: Vec<SettingOf>,
}

/// A subject with its value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SettingOf {
    /// The value; `None`: not reported.
    pub value: Option<String>,
    /// The subject.
    pub subject: String,
}

/// A subject whose CPU time of an operation explains most of what it is faster by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheaperSubject {
    /// The subject and the point.
    pub place: Place,
    /// Its own CPU time of an operation, ns.
    pub cpu_ns: f64,
    /// The reference.
    pub reference: String,
    /// The reference's CPU time of an operation, ns.
    pub reference_cpu_ns: f64,
}

/// A subject that was still changing at the end of its pilot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangingSubject {
    /// Its name.
    pub name: String,
    /// The points or cases.
    pub at: Vec<String>,
}

impl Unfinished {
    /// How far a run came that did not come to its end; `None`: it did.
    pub(crate) fn new(run: &Run) -> Option<Unfinished> {
        match run.ending {
            Some(Ending::Interrupted) => Some(Unfinished::Stopped),
            None => Some(Unfinished::Running),
            Some(_) => None,
        }
    }
}

impl Warning {
    /// A warning of the whole run.
    pub(crate) fn new(fact: WarningFact) -> Warning {
        Warning::about(fact, [])
    }

    /// A warning with the subject and the point that all of `places` have in common, if any.
    pub(crate) fn about(
        fact: WarningFact,
        places: impl IntoIterator<Item = (SubjectId, Option<PointId>)>,
    ) -> Warning {
        let places: Vec<_> = places.into_iter().collect();
        let first = places.first();
        let subject = first.map(|place| place.0);
        let point = first.and_then(|place| place.1);
        Warning {
            subject: subject.filter(|s| places.iter().all(|place| place.0 == *s)),
            point: point.filter(|p| places.iter().all(|place| place.1 == Some(*p))),
            target: None,
            fact,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> WarningKind {
        self.fact.kind()
    }
}

impl WarningFact {
    /// The kind of warning that it makes.
    pub fn kind(&self) -> WarningKind {
        match self {
            WarningFact::Interrupted { .. } => WarningKind::Interrupted,
            WarningFact::SubjectFailed { .. } => WarningKind::Failed,
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
    /// In small letters, such as `few-blocks`.
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

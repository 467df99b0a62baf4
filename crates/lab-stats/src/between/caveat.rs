// SPDX-License-Identifier: Apache-2.0
//! Caveats about comparing two runs that were not interleaved, and the items that are not compared.
//!
//! `lab-report` turns this data into sentences.

use super::facts::ProgramMatch;
use crate::analysis::ExclusionReason;
use crate::results::warning::{Replicate, Unfinished};
use serde::Serialize;

/// A caveat about the comparison of two runs, with names and numbers.
///
/// The names of the variants are codes in JSON reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Caveat {
    /// The load generator dominates some values of load runs.
    GeneratorFigures {
        /// The runs in which the generator was the bottleneck at some point.
        saturated: Vec<String>,
        /// The runs in which the generator sent requests late.
        late: Vec<String>,
    },
    /// Two load runs were not interleaved, so any change may be due to the machine.
    LoadsNotInterleaved,
    /// The two runs have different baselines, so their ratios have different reference values.
    OtherBaseline {
        /// The name of the first run's baseline.
        first: String,
        /// The name of the second run's baseline.
        second: String,
    },
    /// The subject was measured without another subject, so it has no ratio to a baseline.
    MeasuredAlone {
        /// The name of the subject.
        subject: String,
    },
    /// The baseline is, or may be, a different program in the second run.
    BaselineChanged {
        /// The name of the baseline.
        baseline: String,
        /// The comparison of the baseline's programs in the two runs.
        program: ProgramMatch,
    },
    /// Facts about the hosts of the two runs differ.
    HostsDiffer {
        /// The facts that differ.
        facts: Vec<String>,
    },
    /// The settings that subjects read back differ.
    SettingsDiffer {
        /// The settings that differ.
        facts: Vec<String>,
    },
    /// The database executes statements of the user's workload with different query plans.
    PlansDiffer {
        /// The statements whose query plans differ.
        facts: Vec<String>,
    },
    /// The runs were measured in different ways.
    MeasuringDiffers {
        /// The facts that differ.
        facts: Vec<String>,
    },
    /// A run has too few replicates for intervals that assume only a symmetric distribution.
    TooFewBlocks {
        /// The numbers of replicates of the first and the second run.
        replicates: [u32; 2],
        /// The minimum number of replicates for intervals that do not assume a normal distribution.
        needed: u32,
        /// The unit of replication of the run with fewer replicates.
        unit: Replicate,
        /// True if the runs are load runs.
        loads: bool,
    },
    /// The ratio of the baseline's second copy to the baseline changed.
    CopyChanged {
        /// The number of points at which the copy changed.
        points: usize,
        /// The total number of points.
        all: usize,
        /// The target on which the copy changed, if there is more than one target.
        target: Option<String>,
    },
    /// The ratio of subjects changed, although their programs did not.
    SameProgram {
        /// The names of the subjects.
        subjects: Vec<String>,
    },
    /// A run did not finish.
    Unfinished {
        /// The name of the run.
        run: String,
        /// The state of the run: stopped or still running.
        state: Unfinished,
        /// True if `benchlab resume` can complete the run.
        can_resume: bool,
    },
    /// The host was not suitable for measurements when a run started.
    UnfitHost {
        /// The name of the run.
        run: String,
        /// The problems with the host.
        findings: Vec<String>,
    },
}

/// The kind of a caveat, without the details of [`Caveat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaveatKind {
    /// The load generator dominates some values.
    Generator,
    /// Any change may be due to the machine.
    Machine,
    /// There is no ratio to compare.
    NothingRelative,
    /// The baseline's program differs.
    Baseline,
    /// The hosts differ.
    Host,
    /// The settings differ.
    Settings,
    /// The database's query plans differ.
    Plans,
    /// The runs were measured in different ways.
    Measuring,
    /// There are too few blocks.
    FewBlocks,
    /// The ratio of the baseline's second copy changed.
    NoiseFloor,
    /// The ratio of the same program changed.
    SameProgram,
    /// A run did not finish.
    Unfinished,
    /// A host was not suitable for measurements.
    UnfitHost,
}

/// Items that are not compared between two runs, with their names.
///
/// The names of the variants are codes in JSON reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum NotCompared {
    /// Targets that only one run has.
    Targets {
        /// The run that has these targets.
        run: WhichRun,
        /// The names of the targets.
        names: Vec<String>,
    },
    /// Subjects that only one run has.
    Subjects {
        /// The run that has these subjects.
        run: WhichRun,
        /// The names of the subjects.
        names: Vec<String>,
    },
    /// Points that only one run has.
    Points {
        /// The run that has these points.
        run: WhichRun,
        /// The labels of the points.
        names: Vec<String>,
    },
    /// Points with the same name but different work.
    OtherWork {
        /// The labels of the points.
        names: Vec<String>,
    },
    /// A subject that was not compared in one run.
    Excluded {
        /// The run whose results exclude the subject.
        run: WhichRun,
        /// The name of the subject.
        subject: String,
        /// The point. `None` means all points.
        point: Option<String>,
        /// The reason for the exclusion.
        reason: ExclusionReason,
    },
}

/// One of the two compared runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhichRun {
    /// The first run. Changes are relative to it.
    First,
    /// The second run.
    Second,
}

impl WhichRun {
    /// Both runs, in order.
    pub const BOTH: [WhichRun; 2] = [WhichRun::First, WhichRun::Second];
}

impl Caveat {
    /// Returns the kind of caveat.
    pub fn kind(&self) -> CaveatKind {
        match self {
            Caveat::GeneratorFigures { .. } => CaveatKind::Generator,
            Caveat::LoadsNotInterleaved => CaveatKind::Machine,
            Caveat::OtherBaseline { .. } | Caveat::MeasuredAlone { .. } => {
                CaveatKind::NothingRelative
            }
            Caveat::BaselineChanged { .. } => CaveatKind::Baseline,
            Caveat::HostsDiffer { .. } => CaveatKind::Host,
            Caveat::SettingsDiffer { .. } => CaveatKind::Settings,
            Caveat::PlansDiffer { .. } => CaveatKind::Plans,
            Caveat::MeasuringDiffers { .. } => CaveatKind::Measuring,
            Caveat::TooFewBlocks { .. } => CaveatKind::FewBlocks,
            Caveat::CopyChanged { .. } => CaveatKind::NoiseFloor,
            Caveat::SameProgram { .. } => CaveatKind::SameProgram,
            Caveat::Unfinished { .. } => CaveatKind::Unfinished,
            Caveat::UnfitHost { .. } => CaveatKind::UnfitHost,
        }
    }
}

impl CaveatKind {
    /// Returns the name in kebab case, such as `few-blocks`.
    pub fn name(self) -> &'static str {
        match self {
            CaveatKind::Generator => "generator",
            CaveatKind::Machine => "machine",
            CaveatKind::NothingRelative => "nothing-relative",
            CaveatKind::Baseline => "baseline",
            CaveatKind::Host => "host",
            CaveatKind::Settings => "settings",
            CaveatKind::Plans => "plans",
            CaveatKind::Measuring => "measuring",
            CaveatKind::FewBlocks => "few-blocks",
            CaveatKind::NoiseFloor => "noise-floor",
            CaveatKind::SameProgram => "same-program",
            CaveatKind::Unfinished => "unfinished",
            CaveatKind::UnfitHost => "unfit-host",
        }
    }
}

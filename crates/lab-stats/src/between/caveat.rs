// SPDX-License-Identifier: Apache-2.0
//! Caveats about two runs that were not interleaved, and the parts of them that are not compared, as data. `lab-report`
//! puts them into sentences.

use super::facts::ProgramMatch;
use crate::analysis::ExclusionReason;
use crate::results::warning::Unfinished;
use serde::Serialize;

/// Something that limits the conclusions from two runs, with names and numbers. Its variants are the codes of JSON
/// reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Caveat {
    /// Some figures of load runs are the generator's own.
    GeneratorFigures {
        /// Runs in which it was the limit somewhere.
        saturated: Vec<String>,
        /// Runs in which it was late.
        late: Vec<String>,
    },
    /// Two loads did not take turns, so that the machine's doing is in every change.
    LoadsNotInterleaved,
    /// Ratios are to two baselines.
    OtherBaseline {
        /// That of the first run.
        first: String,
        /// That of the second run.
        second: String,
    },
    /// The subject was measured alone.
    MeasuredAlone {
        /// The subject.
        subject: String,
    },
    /// The baseline is another program, or may be.
    BaselineChanged {
        /// The baseline.
        baseline: String,
        /// The match of its programs in the two runs.
        program: ProgramMatch,
    },
    /// The hosts differ.
    HostsDiffer {
        /// The facts that differ.
        facts: Vec<String>,
    },
    /// The settings that subjects read back differ.
    SettingsDiffer {
        /// The settings.
        facts: Vec<String>,
    },
    /// The runs were measured in different ways.
    MeasuringDiffers {
        /// The facts that differ.
        facts: Vec<String>,
    },
    /// A run has too few blocks for intervals that assume symmetry alone.
    TooFewBlocks {
        /// Complete blocks of the first run and of the second.
        blocks: [u32; 2],
        /// The number from which on intervals do not assume a normal distribution.
        needed: u32,
        /// They are load runs.
        loads: bool,
    },
    /// The second copy of the baseline changed.
    CopyChanged {
        /// Points at which it did.
        points: usize,
        /// All points.
        all: usize,
        /// The target, if there is more than one.
        target: Option<String>,
    },
    /// The ratio of subjects changed, although they are the same program.
    SameProgram {
        /// The subjects.
        subjects: Vec<String>,
    },
    /// A run did not come to its end.
    Unfinished {
        /// The run.
        run: String,
        /// How far it came.
        state: Unfinished,
        /// `benchlab resume` can complete it.
        can_resume: bool,
    },
    /// The host was not fit to measure when a run began.
    UnfitHost {
        /// The run.
        run: String,
        /// The problems of the host.
        findings: Vec<String>,
    },
}

/// Kinds of caveats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaveatKind {
    /// Figures of the generator.
    Generator,
    /// The machine's doing is in every change.
    Machine,
    /// There is no ratio to compare.
    NothingRelative,
    /// Another baseline program.
    Baseline,
    /// Another host.
    Host,
    /// Other settings.
    Settings,
    /// Another way of measuring.
    Measuring,
    /// Too few blocks.
    FewBlocks,
    /// The second copy of the baseline changed.
    NoiseFloor,
    /// The same program has another ratio.
    SameProgram,
    /// A run did not come to its end.
    Unfinished,
    /// A host was not fit.
    UnfitHost,
}

/// Something of two runs that is not compared, with names. Its variants are the codes of JSON reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum NotCompared {
    /// Targets of one run alone.
    Targets {
        /// The run.
        run: WhichRun,
        /// The targets.
        names: Vec<String>,
    },
    /// Subjects of one run alone.
    Subjects {
        /// The run.
        run: WhichRun,
        /// The subjects.
        names: Vec<String>,
    },
    /// Points of one run alone.
    Points {
        /// The run.
        run: WhichRun,
        /// The points.
        names: Vec<String>,
    },
    /// Points that are other work under the same name.
    OtherWork {
        /// The points.
        names: Vec<String>,
    },
    /// A subject that was not compared in one run.
    Excluded {
        /// The run.
        run: WhichRun,
        /// The subject.
        subject: String,
        /// The point; `None`: all.
        point: Option<String>,
        /// The reason.
        reason: ExclusionReason,
    },
}

/// One of two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhichRun {
    /// The first, which the other is compared with.
    First,
    /// The second.
    Second,
}

impl WhichRun {
    /// Both, in their order.
    pub const BOTH: [WhichRun; 2] = [WhichRun::First, WhichRun::Second];
}

impl Caveat {
    /// Its kind.
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
    /// In small letters, such as `few-blocks`.
    pub fn name(self) -> &'static str {
        match self {
            CaveatKind::Generator => "generator",
            CaveatKind::Machine => "machine",
            CaveatKind::NothingRelative => "nothing-relative",
            CaveatKind::Baseline => "baseline",
            CaveatKind::Host => "host",
            CaveatKind::Settings => "settings",
            CaveatKind::Measuring => "measuring",
            CaveatKind::FewBlocks => "few-blocks",
            CaveatKind::NoiseFloor => "noise-floor",
            CaveatKind::SameProgram => "same-program",
            CaveatKind::Unfinished => "unfinished",
            CaveatKind::UnfitHost => "unfit-host",
        }
    }
}

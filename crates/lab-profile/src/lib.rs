// SPDX-License-Identifier: Apache-2.0
//! Implements `benchlab profile`: runs programs under Valgrind's tools, combines the results, and checks gates.

pub mod agreement;
mod counts;
mod explain;
mod files;
mod gate;
pub mod heap;
mod layouts;
mod profile;
pub mod report;
mod runs;
mod source;
mod stored;
mod valgrind;
pub mod wording;

pub use counts::{read_counts, read_instructions};
pub use explain::{Access, Cache, Explanation, d1, explain};
pub use files::{FilesError, ProfileFiles};
pub use gate::{Found, GateCondition, GateResult, Inconclusive};
pub use lab_valgrind::CostProfile;
pub use layouts::{CountRange, EventRanges, Layouts};
pub use profile::Profile;
pub use runs::{ProgramRuns, RunRecord, RunWarning};
pub use source::{HOTTEST, Sources};
pub use stored::{Caveat, ProfiledPrograms, to_stored_profile};
pub use valgrind::{Children, Ending, Gap, Profiled, Step, Tool, ValgrindRun, runs_of, valgrind};

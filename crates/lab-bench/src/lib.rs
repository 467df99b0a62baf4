// SPDX-License-Identifier: Apache-2.0
//! Executes a plan: builds subjects, exchanges messages with them, freezes and wakes them, and
//! verifies that they do the same work.
//!
//! Every sample is written to the run file before the next sample is measured. A [`Session`]
//! determines the missing blocks, an [`Executor`] measures them, and a [`Workload`] defines the
//! contents of a block. This crate computes no confidence intervals. At an interim analysis,
//! `lab_stats::stop` decides whether the run may end.

mod batches;
pub mod build;
mod commands;
mod driver;
mod explain;
mod fixture;
mod host;
mod load;
mod servers;
mod subject;
mod targets;

pub use batches::BatchWorkload;
pub use build::commits::{CommitRange, commit_range, commit_stat, parent_count};
pub use build::fingerprint::fingerprint;
pub use build::install::install;
pub use build::merge_base::{BaseError, Head, merge_base};
pub use build::worktree::{
    Commit, Revision, WorktreeError, Worktrees, commit_of, resolve_revisions,
};
pub use build::{BuildStep, Builder, Unready, in_path};
pub use commands::starter::{Ended, StartRequest, Starter};
pub use commands::wrapper::Wrapper;
pub use commands::{CommandWorkload, layout_variables};
pub use driver::context::{BlockContext, Progress, RunContext, Stop, TurnRecord};
pub use driver::executor::{Executor, LocalExecutor, OnProgress, missing_block};
pub use driver::machine::{HostWatch, Machine, ThisMachine};
pub use driver::session::{BenchError, Session, StopRule};
pub use driver::workload::{Done, Opening, StepError, Turn, TurnResult, Workload};
pub use explain::{
    CommandExplainer, Explainer, ServerExplainer, TraceError, read_trace, tracer, unit_costs,
};
pub use fixture::process::{Checked, FixtureDirectory, check_states};
pub use fixture::record::{DIRECTORY as RECORDS_VARIABLE, undo_abandoned};
pub use host::directories::MountedDirectory;
pub use host::hardware::unavailable as hardware_counters;
pub use host::interrupt;
pub use host::scratch::Scratch;
pub use host::sys::{keep_to_part, monotonic_ns, pin, pin_to_core, unix_seconds};
pub use load::{
    Generator, Generators, LoadFault, LoadWorkload, LoadedServers, LocalGenerators, Piece, Watches,
    first_errors,
};
pub use servers::usage::{ServerWatch, Usage, Watch};
pub use servers::{ServerWorkload, finds_peaks, generator_threads};
pub use subject::fault::{Fault, SubjectResult};
pub use subject::process::SubjectProcess;
pub use subject::protocol;
pub use targets::database::{Server, Servers};
pub use targets::own_sql::study;

// SPDX-License-Identifier: Apache-2.0
//! Carries a plan out: builds subjects, talks to them, freezes and wakes them, proves that their
//! work is the same, and writes every sample into the run file before the next one is taken.
//! A [`Session`] says which blocks are missing; an [`Executor`] has them measured; a [`Workload`] is what is measured
//! in them. It computes no intervals: at a look it asks `lab_stats::stop` whether the run may end.

mod batch_subject;
mod batches;
mod block;
pub mod build;
mod commands;
mod content;
mod context;
mod effects;
mod executor;
mod expected;
mod explain;
mod fault;
mod fingerprint;
mod hardware;
pub mod host_settings;
mod injection;
mod install;
pub mod interrupt;
mod link;
mod listing;
mod load;
mod machine;
mod outputs;
mod pace;
mod participants;
mod pilot;
mod places;
mod process;
pub mod protocol;
mod random;
mod reported;
mod round_trips;
mod scratch;
mod server;
mod server_usage;
mod serving;
mod session;
mod spread;
mod sqlite;
mod sqlite_header;
mod starter;
mod statements;
mod stream;
mod sys;
mod target;
mod visit;
mod workload;
mod worktree;
mod yardstick;

pub use batches::BatchWorkload;
pub use build::{BuildStep, Builder, Unready, in_path};
pub use commands::CommandWorkload;
pub use context::{BlockContext, Progress, RunContext, Stop, TurnRecord};
pub use executor::{Executor, LocalExecutor, OnProgress, missing_block};
pub use explain::{CommandExplainer, Explainer, ServerExplainer, TraceError, read_trace, tracer};
pub use fault::{Fault, SubjectResult};
pub use fingerprint::fingerprint;
pub use hardware::unavailable as hardware_counters;
pub use install::install;
pub use link::netem_unavailable;
pub use load::{
    Generator, Generators, LoadFault, LoadShare, LoadWorkload, LoadedServer, LoadedServers, Piece,
    Watches, first_errors,
};
pub use machine::{HostWatch, Machine, ThisMachine};
pub use places::Place;
pub use process::SubjectProcess;
pub use scratch::Scratch;
pub use server::{Server, Servers};
pub use server_usage::{ServerWatch, Usage, Watch};
pub use serving::{ServerWorkload, finds_peaks, generator_threads};
pub use session::{BenchError, Session};
pub use starter::{Ended, StartRequest, Starter};
pub use sys::{keep_to_part, monotonic_ns, pin, share_core, unix_seconds};
pub use workload::{Done, Opening, StepError, Turn, TurnResult, Workload};
pub use worktree::{Commit, Revision, WorktreeError, Worktrees, commit_of};

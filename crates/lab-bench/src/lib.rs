// SPDX-License-Identifier: Apache-2.0
//! Carries a plan out: builds subjects, talks to them, freezes and wakes them, proves that their
//! work is the same, and writes every sample into the run file before the next one is taken.
//! It computes no intervals.

mod block;
pub mod build;
mod commands;
mod content;
mod expected;
mod fingerprint;
pub mod host;
mod install;
pub mod interrupt;
mod load;
mod memory;
mod outputs;
mod pilot;
mod process;
mod procfs;
pub mod protocol;
mod roster;
mod scratch;
mod server;
mod serving;
mod session;
mod sqlite;
mod starter;
mod statements;
mod stream;
mod subjects;
mod sys;
mod target;
mod visit;
mod worktree;

pub use build::{Builder, Unready};
pub use commands::CommandTurns;
pub use fingerprint::fingerprint;
pub use install::install;
pub use load::{Generator, Generators, LoadProgress, LoadRun, LoadedServer, LoadedServers};
pub use memory::give_back;
pub use process::{Answer, Fault, Process};
pub use procfs::usage;
pub use scratch::Scratch;
pub use server::{Server, Servers};
pub use serving::{Servings, generator_threads};
pub use session::{BenchError, Method, Progress, Session};
pub use starter::{Ended, Order, Starter};
pub use subjects::Subjects;
pub use sys::{allowed_cores, monotonic_ns, pin, share_core, unix_seconds};
pub use worktree::{Commit, Revision, WorktreeError, Worktrees};

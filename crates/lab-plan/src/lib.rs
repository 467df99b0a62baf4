// SPDX-License-Identifier: Apache-2.0
//! Builds a validated plan from an experiment. Reads the experiment's directory, applies the user's
//! selection, and defines the order of all steps.

mod case;
mod comparison;
mod effects;
mod error;
mod experiment;
mod extent;
mod file;
mod fixtures;
mod load;
mod metrics;
mod name;
mod own_cases;
pub mod own_sql;
mod program_name;
mod project;
mod schedule;
mod select;
mod serving;
mod shell;
mod toolchains;

pub use case::{Case, Extent, Factor};
pub use comparison::{CommandWords, Comparison, GivenCommand, filled};
pub use error::{PlanError, nearest};
pub use experiment::{Experiment, Fixture, Recipe, Subject};
pub use load::Loading;
pub use own_cases::with_workload;
pub use project::{EXPERIMENT_FILE, Project};
pub use schedule::Schedule;
pub use select::{Selection, SubjectDirectory};
pub use serving::visit_ns;
pub use toolchains::{Toolchain, Toolchains};

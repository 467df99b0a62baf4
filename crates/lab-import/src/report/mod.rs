// SPDX-License-Identifier: Apache-2.0
//! Documents about imported results: one run, two runs, and a history.

mod between;
mod history;
mod run;
mod series;
mod table;

pub use between::{BetweenImports, compare};
pub use history::{ImportSummary, history};
pub use run::{ImportReport, document};

// SPDX-License-Identifier: Apache-2.0
//! The report on logs: the few pages and queries that cost the most, the times at which they were
//! slow, changes, and the headroom.

mod changed;
mod comparison;
mod document;
mod input;
mod pages;
mod when;
mod within;

pub use comparison::{ComparisonReport, document as comparison};
pub use document::document;
pub use input::{Capacity, LogsReport};

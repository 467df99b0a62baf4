// SPDX-License-Identifier: Apache-2.0
//! Audits: probes observe objects, rules evaluate them, and findings state the cost of each problem
//! and how to fix the problem.
//!
//! An audit changes nothing. A probe describes an object as named values. A rule is a TOML file that says which values
//! are good, so a new rule about existing values needs no code.

pub mod condition;
pub mod cookies;
mod date;
mod extra;
pub mod gate;
mod har;
pub mod host;
pub mod hot;
pub mod input_text;
pub mod judge;
mod mounts;
pub mod net;
mod page_choice;
pub mod report;
pub mod rule;
pub mod site;
pub mod smart;
pub mod storage;
mod timed;
pub mod user_rules;
pub mod value;
pub mod waivers;
pub mod wording;

pub use date::ClockDoubt;
pub use extra::Extra;
pub use judge::judge;
pub use lab_host::Root;
pub use page_choice::PageChoice;
pub use rule::{Measuring, Rule, RuleError};
pub use value::{AuditObject, Class, Value};

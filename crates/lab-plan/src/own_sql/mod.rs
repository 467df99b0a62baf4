// SPDX-License-Identifier: Apache-2.0
//! Workloads of the user's own SQL: a TOML or a `.sql` file with a schema, data, and statements with parameters
//! (docs/guides/own-sql.md).

mod csv;
mod in_sql;
mod in_toml;
mod inputs;
mod point;
mod reading;
mod rows;
mod source;
mod sql_text;
mod table;
mod workload;

pub use inputs::{bound_as, column_of, inputs, kind_of};
pub(crate) use point::describe_point;
pub(crate) use reading::OwnCase;
pub use reading::ReadFile;
pub use rows::literal;
pub use workload::Workload;

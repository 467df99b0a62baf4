// SPDX-License-Identifier: Apache-2.0
//! What a report of a load run says, before it takes the form of a format.

mod answer;
mod asked;
pub mod between;
mod tables;
mod times;
mod trouble;

pub use answer::{answer, metric_name, said};
pub use asked::{asked, method, request_table};
pub use tables::{comparison_table, cost_table, error_table, errors, rate_table};
pub use times::{Moment, merged, moments, time_table};
pub use trouble::{alarms, failed};

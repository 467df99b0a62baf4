// SPDX-License-Identifier: Apache-2.0
//! One program: each more would be compiled and linked with the whole library again.

mod judged;
#[path = "../../../lab-report/tests/report/support/outline.rs"]
mod outline;
mod report;
mod wording;

// SPDX-License-Identifier: Apache-2.0
//! A single test program, because each additional one would be compiled and linked with the whole library again.

mod judged;
#[path = "../../../lab-report/tests/report/support/outline.rs"]
mod outline;
mod report;
mod wording;

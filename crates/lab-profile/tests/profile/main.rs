// SPDX-License-Identifier: Apache-2.0
//! One test program for all tests, because each additional program would be compiled and linked
//! with the whole library.

mod judged;
#[path = "../../../lab-report/tests/report/support/outline.rs"]
mod outline;
mod processes;
mod report;
mod wording;

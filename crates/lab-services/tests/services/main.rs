// SPDX-License-Identifier: Apache-2.0
//! Tests servers. All tests are in one program, because each additional program would compile and
//! link the whole library again.

mod any_daemon;
mod closed_port;
mod common;
mod counters;
mod faults;
mod lifecycle;
mod with_services;

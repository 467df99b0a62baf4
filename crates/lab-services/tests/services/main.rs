// SPDX-License-Identifier: Apache-2.0
//! One program, because each further one would be compiled and linked with the whole library again.

mod any_daemon;
mod common;
mod counters;
mod faults;
mod lifecycle;
mod with_services;

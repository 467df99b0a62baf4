// SPDX-License-Identifier: Apache-2.0
//! A single program, because each additional one would have to be compiled and linked with the whole library.

mod any_daemon;
mod common;
mod counters;
mod faults;
mod lifecycle;
mod with_services;

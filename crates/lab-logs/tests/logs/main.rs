// SPDX-License-Identifier: Apache-2.0
//! A single test program, because each additional program would have to be compiled and linked with
//! the library.

mod configured;
mod databases;
mod durations;
mod fields;
mod joins;
mod postgresql;
mod reading;
mod records;
mod rotated;
mod support;
mod times;
mod truth;
mod unread;
mod wording;

// SPDX-License-Identifier: Apache-2.0
//! One program: each more would be compiled and linked with the whole library again.

mod joins;
mod reading;
mod records;
mod support;
mod truth;
mod wording;

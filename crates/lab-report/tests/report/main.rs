// SPDX-License-Identifier: Apache-2.0
//! One program: each more would be compiled and linked with the whole library again.

mod documents;
mod exchange;
mod reports;
mod support;
mod wording;

// SPDX-License-Identifier: Apache-2.0
//! One program: each more would be compiled and linked with the whole library again.

mod audits;
mod charts;
mod data_formats;
mod documents;
mod exchange;
mod formats;
mod quantities;
mod reports;
mod support;
mod texts;

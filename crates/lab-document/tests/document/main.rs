// SPDX-License-Identifier: Apache-2.0
//! All tests are one program, because each additional test program would link the whole library again.

mod charts;
mod ci_formats;
mod data_formats;
mod formats;
mod quantities;
mod support;
mod texts;

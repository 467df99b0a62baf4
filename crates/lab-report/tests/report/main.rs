// SPDX-License-Identifier: Apache-2.0
//! All tests are one program, because each additional test program would link the whole library
//! again.

mod documents;
mod exchange;
mod reports;
mod support;
mod wording;

// SPDX-License-Identifier: Apache-2.0
//! All tests are in one program, since each further program would compile and link the whole library again.

mod documents;
mod exchange;
mod reports;
mod support;
mod wording;

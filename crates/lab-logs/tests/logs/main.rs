// SPDX-License-Identifier: Apache-2.0
//! All tests are one program, because each additional program would have to be compiled and linked
//! with the library.

mod joins;
mod reading;
mod records;
mod support;
mod truth;
mod wording;

// SPDX-License-Identifier: Apache-2.0
//! A single test program, because each additional one would be compiled and linked with the whole library again.

mod formats;
mod tools;
mod versions;

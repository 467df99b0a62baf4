// SPDX-License-Identifier: Apache-2.0
//! Differences between subjects, and every sentence about them.

mod differences;
mod wording;

// SPDX-License-Identifier: Apache-2.0
//! Tests the differences between subjects, and the sentences that describe them.

mod differences;
mod wording;

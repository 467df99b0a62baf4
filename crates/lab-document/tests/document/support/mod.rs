// SPDX-License-Identifier: Apache-2.0
//! Documents made by hand.

pub mod sample_data;
pub mod sample_document;

// SPDX-License-Identifier: Apache-2.0
//! Sample documents.

pub mod sample_data;
pub mod sample_document;

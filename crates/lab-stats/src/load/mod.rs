// SPDX-License-Identifier: Apache-2.0
//! What a load run's slices say.

pub mod analysis;

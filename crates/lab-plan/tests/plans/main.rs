// SPDX-License-Identifier: Apache-2.0
//! The plans that result from selections, loads and schedules.

mod loading;
mod schedule;
mod selection;

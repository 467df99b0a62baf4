// SPDX-License-Identifier: Apache-2.0
//! Tests the plans that result from selections, loads and schedules.

mod loading;
mod schedule;
mod selection;

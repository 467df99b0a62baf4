// SPDX-License-Identifier: Apache-2.0
//! What comes of selections, loads and schedules.

mod loading;
mod schedule;
mod selection;

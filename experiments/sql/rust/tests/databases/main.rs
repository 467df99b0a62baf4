// SPDX-License-Identifier: Apache-2.0
//! The programs on each database. One program of tests: each would be optimised as a whole with the drivers.

mod common;
mod mariadb;
mod postgresql;
mod sqlite;

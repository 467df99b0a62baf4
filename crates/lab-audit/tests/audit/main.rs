// SPDX-License-Identifier: Apache-2.0
//! One program: each more would be compiled and linked with the whole library again.

mod cookies;
mod host;
mod line;
mod measured;
mod net;
mod net_lines;
mod site;

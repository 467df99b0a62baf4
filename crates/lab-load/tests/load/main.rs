// SPDX-License-Identifier: Apache-2.0
//! One program: each more would be compiled and linked with the whole library again.

mod asking;
mod authority;
mod engine;
mod http2;
mod http2_server;
mod loading;
mod response_fuzz;
mod servers;
mod tls;

// SPDX-License-Identifier: Apache-2.0
//! All tests are in one program, because each additional program would compile and link the whole library again.

mod asking;
mod authority;
#[path = "../../../lab-services/tests/services/closed_port.rs"]
mod closed_port;
mod engine;
mod http2;
mod http2_server;
mod loading;
mod response_fuzz;
mod servers;
mod tls;

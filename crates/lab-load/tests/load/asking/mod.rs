// SPDX-License-Identifier: Apache-2.0
//! Tests of requests through the public interface: URLs, request files, expectations, the guard,
//! ports, TLS.

mod expect;
mod guard;
mod ports;
mod request_file;
mod requests;
mod response;
mod target;
mod tls;

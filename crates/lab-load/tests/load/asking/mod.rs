// SPDX-License-Identifier: Apache-2.0
//! Tests requests through the public interface: URLs, request files, expected responses, the guard,
//! ports and TLS.

mod expect;
mod guard;
mod ports;
mod request_file;
mod requests;
mod response;
mod target;
mod tls;

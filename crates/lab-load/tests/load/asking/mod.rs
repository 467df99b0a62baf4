// SPDX-License-Identifier: Apache-2.0
//! What is asked of a server, through the public face: URLs, requests, files of them, expectations, who
//! may be loaded, ports, TLS.

mod expect;
mod guard;
mod ports;
mod request_file;
mod requests;
mod response;
mod target;
mod tls;
